/* SPDX-License-Identifier: Apache-2.0 */
/* bi_state.c: what the renderer knows, what layers tell each other. */
#include "interp.h"

#include <string.h>

uint32_t asl_raytype_bit(const char *name)
{
    static const char *const names[] = {"camera",  "shadow", "reflection", "refraction",
                                        "diffuse", "glossy", "subsurface", "displacement"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return 1u << i;
    return 0;
}

/* A parameter handed to a function is itself there: the same place. */
static int32_t isconnected(const struct asl_run *r, const struct asl_symbol *s)
{
    const union asl_slot *at = r->places[s->index].v;
    size_t i = 0;
    for (const struct asl_formal *a = r->layer->shader->fn->formals; a; a = a->next, i++) {
        const struct asl_place *p = &r->places[a->symbol->index];
        if (at >= p->v && at < p->v + p->n)
            return asl_layer_isconnected(r->cx->group, r->layer, i);
    }
    return 0;
}

static int32_t isconstant(const struct asl_run *r, const struct asl_expr *e)
{
    while (e->kind == E_CONVERT || e->kind == E_UNARY)
        e = e->a;
    if (e->kind == E_BINARY)
        return isconstant(r, e->a) && isconstant(r, e->b);
    if (e->kind == E_INT || e->kind == E_FLOAT || e->kind == E_STRING)
        return 1;
    if (e->kind == E_CONSTRUCT || e->kind == E_LIST) {
        for (size_t i = 0; i < e->arg_count; i++)
            if (!isconstant(r, e->args[i]))
                return 0;
        return 1;
    }
    if (e->kind != E_SYMBOL || e->symbol->kind != SYM_PARAM || e->symbol->output ||
        e->symbol->written)
        return 0;
    size_t i = 0;
    for (const struct asl_formal *a = r->layer->shader->fn->formals; a; a = a->next, i++)
        if (a->symbol == e->symbol)
            return !r->layer->connected[i] && r->layer->lockgeom[i] &&
                   (r->layer->values[i] || r->layer->shader->info.params[i].constant);
    return 0;
}

static int32_t getattribute(struct asl_run *r, const struct asl_expr *e, struct asl_place *args)
{
    const struct asl_services *s = &r->cx->services;
    const char *object = "", *name = args[0].v[0].s;
    int index = -1;
    if (e->arg_count == 4) {
        object = name;
        name = args[1].v[0].s;
        index = args[2].v[0].i;
    } else if (e->arg_count == 3 && args[1].type.base == ASL_INT) {
        index = args[1].v[0].i;
    } else if (e->arg_count == 3) {
        object = name;
        name = args[1].v[0].s;
    }
    const struct asl_place *to = &args[e->arg_count - 1];
    union asl_slot *v = asl_temp(r, to->n);
    asl_zero_value(to->type, v);
    const char *known = r->cx->group ? asl_group_attribute(r->cx->group, r->layer, e) : NULL;
    if (known) {
        v[0].s = known;
        asl_store(to, v, 0);
        return 1;
    }
    if (!s->attribute || !s->attribute(s->ctx, object, name, index, to->type, v))
        return 0;
    for (size_t i = 0; i < to->n; i++)
        if (asl_type_scalar(to->type, i) == ASL_STRING)
            v[i].s = asl_point_string(r, v[i].s, strlen(v[i].s));
    asl_store(to, v, 0);
    return 1;
}

static struct asl_message_value *find_message(const struct asl_run *r, const char *name)
{
    struct asl_message_value *m = r->cx->messages;
    while (m && strcmp(m->name, name) != 0)
        m = m->next;
    return m;
}

/* A message that was asked for in vain is kept, without a value: it can no longer be set. */
static struct asl_message_value *add_message(struct asl_run *r, const char *name,
                                             struct asl_type type, struct src_pos at)
{
    struct asl_message_value *m = asl_point_alloc(r, 1, sizeof *m);
    m->name = asl_point_string(r, name, strlen(name));
    m->value.type = type;
    m->at = at;
    m->layer = r->index;
    m->next = r->cx->messages;
    r->cx->messages = m;
    return m;
}

static void setmessage(struct asl_run *r, const struct asl_expr *e, struct asl_place *args)
{
    const char *name = args[0].v[0].s;
    struct src_pos at = asl_pos(e->at);
    struct asl_message_value *m = find_message(r, name);
    if (m && m->value.v) {
        asl_report(
            r, ASL_MSG_ERROR,
            "message \"%s\" already exists (created here: %s:%u) cannot set again from %s:%u", name,
            m->at.file, m->at.line, at.file, at.line);
    } else if (m) {
        asl_report(
            r, ASL_MSG_ERROR,
            "message \"%s\" was queried before being set (queried here: %s:%u) setting it now "
            "(%s:%u) would lead to inconsistent results",
            name, m->at.file, m->at.line, at.file, at.line);
    } else {
        m = add_message(r, name, args[1].type, at);
        m->value.n = args[1].n;
        m->value.v = asl_point_alloc(r, args[1].n, sizeof(union asl_slot));
        memcpy(m->value.v, args[1].v, args[1].n * sizeof(union asl_slot));
    }
}

static int32_t getmessage(struct asl_run *r, const struct asl_expr *e, struct asl_place *args)
{
    const struct asl_place *to = &args[e->arg_count - 1];
    if (e->arg_count == 3)
        return strcmp(args[0].v[0].s, "trace") == 0 ? asl_traced_message(r, args[1].v[0].s, to) : 0;
    const char *name = args[0].v[0].s;
    const struct asl_message_value *m = find_message(r, name);
    struct src_pos at = asl_pos(e->at);
    char a[ASL_TYPE_TEXT_SIZE], b[ASL_TYPE_TEXT_SIZE];
    if (!m) {
        (void)add_message(r, name, to->type, at);
        return 0;
    }
    if (!asl_same_type(m->value.type, to->type)) {
        asl_report(
            r, ASL_MSG_ERROR,
            "type mismatch for message \"%s\" (%s as %s here: %s:%u) cannot fetch as %s from "
            "%s:%u",
            name, m->value.v ? "created" : "queried", asl_type_text(m->value.type, a, sizeof a),
            m->at.file, m->at.line, asl_type_text(to->type, b, sizeof b), at.file, at.line);
        return 0;
    }
    if (!m->value.v)
        return 0;
    if (m->layer > r->index) {
        asl_report(
            r, ASL_MSG_ERROR,
            "message \"%s\" was set by layer #%zu (%s:%u) but is being queried by layer #%zu "
            "(%s:%u) - messages may only be transfered from nodes that appear earlier in "
            "the shading network",
            name, m->layer, m->at.file, m->at.line, r->index, at.file, at.line);
        return 0;
    }
    asl_store(to, m->value.v, 0);
    return 1;
}

void asl_bi_state(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                  union asl_slot *out)
{
    switch (e->builtin->id) {
    case BI_RAYTYPE:
        out[0].i = (r->cx->state.raytype & asl_raytype_bit(args[0].v[0].s)) != 0;
        break;
    case BI_ISCAMERARAY:
        out[0].i = (r->cx->state.raytype & asl_raytype_bit("camera")) != 0;
        break;
    case BI_ISDIFFUSERAY:
        out[0].i = (r->cx->state.raytype & asl_raytype_bit("diffuse")) != 0;
        break;
    case BI_ISGLOSSYRAY:
        out[0].i = (r->cx->state.raytype & asl_raytype_bit("glossy")) != 0;
        break;
    case BI_ISSHADOWRAY:
        out[0].i = (r->cx->state.raytype & asl_raytype_bit("shadow")) != 0;
        break;
    case BI_BACKFACING:
        out[0].i = r->cx->state.backfacing;
        break;
    case BI_SURFACEAREA:
        asl_dual_put(out, 1, asl_wants(r, e), 0, d_const(r->cx->state.surfacearea));
        break;
    case BI_ISCONNECTED:
        out[0].i = isconnected(r, asl_root_symbol(e->args[0]));
        break;
    case BI_ISCONSTANT:
        out[0].i = isconstant(r, e->args[0]);
        break;
    case BI_ARRAYLENGTH: {
        size_t one = asl_type_slots(asl_element_type(args[0].type));
        out[0].i = one ? (int32_t)(args[0].n / one) : 0;
        break;
    }
    case BI_GETATTRIBUTE:
        out[0].i = getattribute(r, e, args);
        break;
    case BI_SETMESSAGE:
        setmessage(r, e, args);
        break;
    case BI_GETMESSAGE:
        out[0].i = getmessage(r, e, args);
        break;
    default: /* BI_EXIT */
        longjmp(r->exit, 1);
    }
}
