/* SPDX-License-Identifier: Apache-2.0 */
/* emit_rays.c: trace(), what getmessage() tells of it, and occlusion(). In texts for a grid there
 * is no scene: nothing is met. */
#include "emit.h"

#include <string.h>

bool emit_is_ray(const struct ir_inst *i)
{
    const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
    return c && (c->callee == BI_TRACE || c->callee == BI_OCCLUSION ||
                 (c->callee == BI_GETMESSAGE && c->arg_count == 3));
}

bool emit_ray_option(const struct emit *e, const struct ir_inst *i, const char *name, ir_value *out)
{
    const struct ir_call *c = i->u.call;
    bool found = false;
    for (uint32_t k = c->fixed; k + 1 < c->arg_count; k += 2) {
        const char *key = emit_constant_string(e, i->operands[c->args[k].first]);
        if (!key || strcmp(key, name) != 0)
            continue;
        *out = i->operands[c->args[k + 1].first];
        found = true;
    }
    return found;
}

struct emit_traced emit_traced_message(struct emit *e, const struct ir_inst *i)
{
    static const struct emit_traced rows[] = {
        {"hit", 1, 1, EMIT_INT}, {"hitdist", 2, 1, EMIT_FLOAT}, {"P", 3, 3, EMIT_FLOAT},
        {"N", 6, 3, EMIT_FLOAT}, {"Ng", 9, 3, EMIT_FLOAT},      {"u", 12, 1, EMIT_FLOAT},
        {"v", 13, 1, EMIT_FLOAT}};
    const struct ir_call *c = i->u.call;
    const struct asl_type t = c->args[2].type;
    const char *words[2];
    for (uint32_t k = 0; k < 2; k++) {
        words[k] = emit_constant_string(e, i->operands[c->args[k].first]);
        if (!words[k])
            emit_fail(e, STATUS_UNSUPPORTED, i->at,
                      "what getmessage() asks of a traced ray must be known when the shader is "
                      "compiled for this device");
    }
    for (size_t k = 0; strcmp(words[0], "trace") == 0 && k < sizeof rows / sizeof *rows; k++) {
        bool fits = rows[k].kind == EMIT_INT ? asl_is(t, ASL_INT)
                    : rows[k].n == 1         ? asl_is(t, ASL_FLOAT)
                                             : asl_is_triple(t);
        if (fits && strcmp(words[1], rows[k].name) == 0)
            return rows[k];
    }
    return (struct emit_traced){0};
}

static const char *number(struct emit *e, const struct ir_inst *i, const char *name,
                          const char *otherwise)
{
    ir_value v;
    if (!emit_ray_option(e, i, name, &v))
        return otherwise;
    return e->layer->types[v] == IR_I ? emit_text(e, "a_to_float(%s)", emit_int(e, v))
                                      : emit_float(e, v);
}

static const char *triple(struct emit *e, const struct ir_inst *i, uint32_t a)
{
    return emit_text(e, "k_triple(%s, %s, %s)", emit_part(e, i, a, 0, 0), emit_part(e, i, a, 1, 0),
                     emit_part(e, i, a, 2, 0));
}

/* Is it known before a point runs? */
static bool option_is_known(const struct emit *e, const struct ir_inst *i, const char *name,
                            float otherwise, struct asl_emitted_number *out)
{
    ir_value v;
    *out = (struct asl_emitted_number){.value = otherwise};
    if (!emit_ray_option(e, i, name, &v))
        return true;
    const struct ir_inst *d = e->defs[v];
    out->is_int = e->layer->types[v] == IR_I;
    out->is_arg = d && d->op == IR_ARG;
    if (out->is_arg)
        out->arg = d->u.number;
    else if (d && d->op == IR_CONST)
        out->value = out->is_int ? (float)d->u.k.i : d->u.k.f;
    return d && (d->op == IR_ARG || d->op == IR_CONST);
}

static bool same_number(const struct asl_emitted_number *a, const struct asl_emitted_number *b)
{
    return a->is_arg == b->is_arg && a->arg == b->arg && memcmp(&a->value, &b->value, 4) == 0;
}

bool emit_is_known_occlusion(struct emit *e, const struct ir_inst *i)
{
    struct asl_emitted_occlusion *kept = &e->out->occlusion, x = {.asked = true};
    if (i->u.call->fixed || !option_is_known(e, i, "maxdist", 1e30F, &x.maxdist) ||
        !option_is_known(e, i, "samples", 16, &x.samples))
        return false;
    if (!kept->asked)
        *kept = x;
    return same_number(&kept->maxdist, &x.maxdist) && same_number(&kept->samples, &x.samples);
}

static void occlusion(struct emit *e, const struct ir_inst *i)
{
    const bool here = i->u.call->fixed == 0, known = emit_is_known_occlusion(e, i);
    ir_value samples;
    const char *count = emit_ray_option(e, i, "samples", &samples) ? emit_int(e, samples) : "16";
    emit_set(e, i->result, "k_%s_occlusion(s->g, %s, %s, %s, %s)", known ? "known" : "ask",
             here ? "s->g->P" : triple(e, i, 0), here ? "s->g->N" : triple(e, i, 1),
             number(e, i, "maxdist", "1e30f"), count);
    for (uint32_t k = 1; k < i->result_count; k++)
        emit_set(e, i->result + k, "A_F(0.0f)");
}

/* As many words of the last ray as the destination takes, where there is an answer. */
static void traced_message(struct emit *e, const struct ir_inst *i)
{
    const struct emit_traced from = emit_traced_message(e, i);
    const struct ir_arg *to = &i->u.call->args[2];
    if (!from.n) {
        emit_set(e, i->result, "A_I(0)");
        return;
    }
    emit_set(e, i->result, "(int)s->traced.word[%u]", from.kind == EMIT_INT ? 0u : 1u);
    EMIT("if (v%u) {\n", i->result);
    for (uint32_t d = 0; d < (to->derivs ? 3u : 1u); d++)
        for (uint32_t k = 0; k < from.n; k++)
            emit_store(e, i, &to->at, d * to->row + k, from.kind,
                       d ? "A_F(0.0f)"
                       : from.kind == EMIT_INT
                           ? emit_text(e, "(int)s->traced.word[%u]", from.word)
                           : emit_text(e, "K_AS_FLOAT(s->traced.word[%u])", from.word + k));
    EMIT("}\n");
}

void emit_hit_needed(struct emit *e)
{
    if (!e->out->traces)
        text_puts(&e->resets, "s->traced.word[0] = s->traced.word[1] = 0u;\n");
    e->out->traces = true;
    emit_component(e, "trace");
}

bool emit_ray(struct emit *e, const struct ir_inst *i)
{
    if (!emit_is_ray(i))
        return false;
    if (!e->opt->surface) {
        for (uint32_t k = 0; k < i->result_count; k++)
            emit_set(e, i->result + k,
                     e->kinds[i->result + k] == EMIT_FLOAT ? "A_F(0.0f)" : "A_I(0)");
        return true;
    }
    emit_hit_needed(e);
    if (i->u.call->callee == BI_OCCLUSION)
        occlusion(e, i);
    else if (i->u.call->callee == BI_TRACE)
        emit_set(e, i->result, "(int)k_ask_ray(s->g, %s, %s, %s, %s, &s->traced)", triple(e, i, 0),
                 triple(e, i, 1), number(e, i, "mindist", "0.0f"),
                 number(e, i, "maxdist", "1e30f"));
    else
        traced_message(e, i);
    return true;
}
