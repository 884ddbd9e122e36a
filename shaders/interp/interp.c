/* SPDX-License-Identifier: Apache-2.0 */
/* interp.c: contexts, layers and statements of the reference interpreter. It walks the typed tree
 * and does exactly what docs/reference/asl.md says, one point at a time. */
#include "interp.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory, budgets, messages -------------------------------------------------------------- */

enum { TEMP_BLOCK = 16384 };

static struct asl_temp_block *temp_block_new(size_t n)
{
    size_t cap = n > TEMP_BLOCK ? n : TEMP_BLOCK;
    struct asl_temp_block *b = malloc(sizeof *b + cap * sizeof(union asl_slot));
    if (b)
        *b = (struct asl_temp_block){.cap = cap};
    return b;
}

union asl_slot *asl_temp(struct asl_run *r, size_t n)
{
    struct asl_context *cx = r->cx;
    struct asl_temp_block *b = cx->temps;
    if (n == 0)
        n = 1;
    if (b->cap - b->used < n) {
        if (n > cx->max_bytes / sizeof(union asl_slot))
            asl_run_fail(r, STATUS_MEMORY, (struct asl_loc){0},
                         "a value needs more memory than one point may use");
        struct asl_temp_block *next = b->next;
        if (next && next->cap < n) {
            free(next);
            next = b->next = NULL;
        }
        if (!next) {
            next = temp_block_new(n);
            if (!next)
                asl_run_fail(r, STATUS_MEMORY, (struct asl_loc){0}, "out of memory");
            b->next = next;
            next->prev = b;
        }
        next->used = 0;
        cx->temps = b = next;
    }
    union asl_slot *p = b->slots + b->used;
    b->used += n;
    return p;
}

struct asl_temp_mark asl_temp_mark(struct asl_context *cx)
{
    return (struct asl_temp_mark){cx->temps, cx->temps->used};
}

void asl_temp_release(struct asl_context *cx, struct asl_temp_mark m)
{
    cx->temps = m.block;
    m.block->used = m.used;
}

void *asl_point_alloc(struct asl_run *r, size_t count, size_t size)
{
    void *p = arena_alloc(&r->cx->point, count, size, 0);
    if (!p)
        asl_run_fail(r, STATUS_MEMORY, r->cx->at,
                     "one point needs more than %zu bytes of memory (--memory)",
                     r->cx->point.limit);
    return p;
}

const char *asl_point_string(struct asl_run *r, const char *s, size_t n)
{
    char *d = asl_point_alloc(r, n + 1, 1);
    if (n)
        memcpy(d, s, n);
    return d;
}

void asl_run_fail(struct asl_run *r, enum status s, struct asl_loc at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    r->cx->status = error_setv(r->cx->err, s, asl_pos(at), fmt, ap);
    va_end(ap);
    longjmp(r->cx->fail, 1);
}

static bool said_before(struct asl_run *r, enum asl_message kind, const char *shader,
                        const char *text)
{
    struct asl_said **bucket = &r->cx->said[(hash_text(text) + (uint32_t)kind) % 256];
    for (const struct asl_said *s = *bucket; s; s = s->next)
        if (strcmp(s->text, text) == 0 && strcmp(s->shader, shader) == 0)
            return true;
    struct asl_said *s = ARENA_NEW(&r->cx->arena, struct asl_said);
    char *copy = arena_strdup(&r->cx->arena, text);
    if (!s || !copy)
        asl_run_fail(r, STATUS_MEMORY, (struct asl_loc){0}, "out of memory");
    s->shader = shader;
    s->text = copy;
    s->next = *bucket;
    *bucket = s;
    return false;
}

void asl_report_text(struct asl_run *r, enum asl_message kind, const char *shader, const char *text)
{
    if (!r->cx->error_repeats && said_before(r, kind, shader, text))
        return;
    asl_message(r, kind, shader, text);
}

void asl_message(struct asl_run *r, enum asl_message kind, const char *to, const char *text)
{
    r->cx->speaker = r->layer->name;
    r->cx->said_at = asl_pos(r->cx->call_at);
    if (r->cx->services.message)
        r->cx->services.message(r->cx->services.ctx, kind, to, text);
}

const char *asl_context_layer(const struct asl_context *c) { return c->speaker; }
struct src_pos asl_context_place(const struct asl_context *c) { return c->said_at; }

void asl_report(struct asl_run *r, enum asl_message kind, const char *fmt, ...)
{
    char buf[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    asl_report_text(r, kind, "", buf);
}

void asl_report_index(struct asl_run *r, int32_t index, const char *name, size_t limit,
                      struct src_pos at)
{
    struct asl_source here = {.name = at.file};
    r->cx->call_at = (struct asl_loc){.src = at.file ? &here : NULL, .line = at.line};
    asl_report(r, ASL_MSG_ERROR,
               "Index [%d] out of range %s[0..%zu]: %s:%u (group %s, layer %zu %s, shader %s)",
               index, name, limit - 1, at.file ? at.file : "", at.line, r->cx->group_name, r->index,
               r->layer->name, r->shader);
    r->cx->call_at = (struct asl_loc){0};
}

void asl_step(struct asl_run *r, struct asl_loc at)
{
    r->cx->at = at;
    if (++r->cx->steps > r->cx->budget)
        asl_run_fail(r, STATUS_TIMEOUT, at,
                     "layer '%s' ran %llu steps at one point and was stopped: does a loop not end?",
                     r->layer->name, (unsigned long long)r->cx->budget);
}

/* Threads have 8 MiB; one expression of the greatest depth takes less than half of that. */
enum { STACK_LIMIT = 3 << 20 };

void asl_check_stack(struct asl_run *r, struct asl_loc at)
{
    const char *here = __builtin_frame_address(0);
    ptrdiff_t used = r->cx->stack > here ? r->cx->stack - here : here - r->cx->stack;
    if (used > STACK_LIMIT)
        asl_run_fail(r, STATUS_LIMIT, at, "calls or layers nest too deeply");
}

/* ---- statements ----------------------------------------------------------------------------- */

static void exec_decl(struct asl_run *r, const struct asl_decl *d)
{
    const struct asl_place *p = &r->places[d->symbol->index];
    struct asl_temp_mark m = asl_temp_mark(r->cx);
    if (d->init) {
        union asl_slot *v = asl_temp(r, asl_room(r, d->init));
        asl_eval(r, d->init, v);
        asl_store(p, v, asl_wants(r, d->init) ? d->init->slots : 0);
    } else { /* a declaration without a value gives zero, or "" or the empty closure */
        union asl_slot *v = asl_temp(r, p->n);
        asl_zero_value(p->type, v);
        asl_store(p, v, 0);
    }
    asl_temp_release(r->cx, m);
}

static bool condition(struct asl_run *r, const struct asl_expr *e)
{
    struct asl_temp_mark m = asl_temp_mark(r->cx);
    union asl_slot *v = asl_temp(r, asl_room(r, e));
    asl_eval(r, e, v);
    bool yes = asl_truth(e->type, v);
    asl_temp_release(r->cx, m);
    return yes;
}

static void effect(struct asl_run *r, const struct asl_expr *e)
{
    struct asl_temp_mark m = asl_temp_mark(r->cx);
    asl_eval(r, e, asl_temp(r, asl_room(r, e)));
    asl_temp_release(r->cx, m);
}

static enum asl_flow exec_loop(struct asl_run *r, const struct asl_stmt *s)
{
    if (s->kind == S_FOR && s->init)
        (void)asl_exec(r, s->init);
    for (bool first = true;; first = false) {
        asl_step(r, s->at);
        if (!(s->kind == S_DO && first) && s->e && !condition(r, s->e))
            return FLOW_NEXT;
        enum asl_flow f = asl_exec(r, s->body);
        if (f == FLOW_BREAK)
            return FLOW_NEXT;
        if (f == FLOW_RETURN)
            return f;
        if (s->kind == S_FOR && s->step)
            effect(r, s->step);
    }
}

enum asl_flow asl_exec(struct asl_run *r, const struct asl_stmt *s)
{
    if (!s)
        return FLOW_NEXT;
    asl_step(r, s->at);
    switch (s->kind) {
    case S_EXPR:
        effect(r, s->e);
        return FLOW_NEXT;
    case S_BLOCK:
        for (const struct asl_stmt *i = s->body; i; i = i->next) {
            enum asl_flow f = asl_exec(r, i);
            if (f != FLOW_NEXT)
                return f;
        }
        return FLOW_NEXT;
    case S_DECL:
        for (const struct asl_decl *d = s->decls; d; d = d->next)
            exec_decl(r, d);
        return FLOW_NEXT;
    case S_IF:
        while (s && s->kind == S_IF) {
            if (condition(r, s->e))
                return asl_exec(r, s->body);
            s = s->other;
        }
        return asl_exec(r, s);
    case S_WHILE:
    case S_DO:
    case S_FOR:
        return exec_loop(r, s);
    case S_BREAK:
        return FLOW_BREAK;
    case S_CONTINUE:
        return FLOW_CONTINUE;
    case S_RETURN:
        if (s->e && r->ret) {
            struct asl_temp_mark m = asl_temp_mark(r->cx);
            union asl_slot *v = asl_temp(r, asl_room(r, s->e));
            asl_eval(r, s->e, v);
            asl_store(r->ret, v, asl_wants(r, s->e) ? s->e->slots : 0);
            asl_temp_release(r->cx, m);
        } else if (s->e) {
            effect(r, s->e);
        }
        return FLOW_RETURN;
    default:
        return FLOW_NEXT;
    }
}

/* ---- layers --------------------------------------------------------------------------------- */

static void run_layer(struct asl_context *cx, size_t index);

static void copy_connection(struct asl_run *r, const struct asl_connection *k)
{
    const struct asl_run *from = &r->cx->runs[k->from_layer];
    const struct asl_formal *f = from->layer->shader->fn->formals,
                            *t = r->layer->shader->fn->formals;
    for (size_t i = 0; i < k->from_param; i++)
        f = f->next;
    for (size_t i = 0; i < k->to_param; i++)
        t = t->next;
    struct asl_place a = from->places[f->symbol->index], b = r->places[t->symbol->index];
    size_t an = asl_type_slots(k->from_type), bn = asl_type_slots(k->to_type);
    a.v += k->from_slot;
    b.v += k->to_slot;
    a.n = (uint32_t)an;
    b.n = (uint32_t)bn;
    struct asl_temp_mark m = asl_temp_mark(r->cx);
    union asl_slot *in = asl_temp(r, 3 * an), *out = asl_temp(r, 3 * bn);
    for (size_t i = 0; i < an; i++) {
        in[i] = a.v[i];
        if (a.d) {
            in[an + i] = a.v[a.d + i];
            in[2 * an + i] = a.v[2 * (size_t)a.d + i];
        }
    }
    asl_convert_value(k->from_type, k->to_type, in, out, a.d != 0, true);
    asl_store(&b, out, (uint32_t)bn);
    asl_temp_release(r->cx, m);
}

static size_t param_index(const struct asl_run *r, const struct asl_symbol *param)
{
    size_t i = 0;
    for (const struct asl_formal *a = r->layer->shader->fn->formals; a; a = a->next, i++)
        if (a->symbol == param)
            return i;
    return i;
}

void asl_pull(struct asl_run *r, const struct asl_symbol *param)
{
    size_t p = param_index(r, param);
    if (p >= r->layer->shader->info.param_count || !r->pending[p])
        return;
    r->pending[p] = false;
    asl_check_stack(r, param->at);
    for (const struct asl_connection *k = r->layer->connections; k; k = k->next) {
        if (k->to_param != p)
            continue;
        run_layer(r->cx, k->from_layer);
        copy_connection(r, k);
    }
}

static void init_params(struct asl_run *r)
{
    size_t i = 0;
    for (const struct asl_formal *a = r->layer->shader->fn->formals; a; a = a->next, i++) {
        const struct asl_place *p = &r->places[a->symbol->index];
        struct asl_temp_mark m = asl_temp_mark(r->cx);
        r->pending[i] = r->layer->connected[i];
        bool whole = false;
        for (const struct asl_connection *k = r->layer->connections; k; k = k->next)
            whole = whole || (k->to_param == i && k->to_whole);
        if (whole) {
            ; /* pulled when it is read */
        } else if (!r->layer->lockgeom[i] && r->cx->services.userdata) {
            union asl_slot *v = asl_temp(r, 3 * (size_t)p->n);
            asl_zero_value(p->type, v);
            memset(v + p->n, 0, 2 * (size_t)p->n * sizeof *v);
            if (r->cx->services.userdata(r->cx->services.ctx, a->name, p->type, v)) {
                asl_store(p, v, p->n);
                asl_temp_release(r->cx, m);
                continue;
            }
        }
        if (whole) {
            ;
        } else if (r->layer->values[i]) {
            asl_store(p, r->layer->values[i], 0);
        } else if (a->init) {
            union asl_slot *v = asl_temp(r, asl_room(r, a->init));
            asl_eval(r, a->init, v);
            asl_store(p, v, asl_wants(r, a->init) ? a->init->slots : 0);
        } else {
            union asl_slot *v = asl_temp(r, p->n);
            asl_zero_value(p->type, v);
            asl_store(p, v, 0);
        }
        asl_temp_release(r->cx, m);
    }
}

static void run_layer(struct asl_context *cx, size_t index)
{
    struct asl_run *r = &cx->runs[index];
    if (r->ran)
        return;
    r->ran = true;
    struct asl_temp_mark m = asl_temp_mark(cx);
    if (!setjmp(r->exit)) {
        r->ret = NULL;
        r->held = NULL;
        init_params(r);
        if (r->layer->shader->fn->body)
            (void)asl_exec(r, r->layer->shader->fn->body);
    }
    asl_temp_release(cx, m);
}

/* ---- contexts ------------------------------------------------------------------------------- */

static size_t variable_bytes(const struct asl_run *r, const struct asl_symbol *s)
{
    if (s->kind == SYM_GLOBAL || s->kind == SYM_FORMAL)
        return 0;
    return asl_type_slots(s->type) * sizeof(union asl_slot) * ((s->derivs & r->mode) != 0 ? 3 : 1);
}

static enum status run_new(struct asl_context *cx, size_t index, struct error *err)
{
    struct asl_run *r = &cx->runs[index];
    const struct asl_layer *layer = cx->group->layers[index];
    const struct asl_program *p = layer->program;
    r->cx = cx;
    r->layer = layer;
    r->index = index;
    r->shader = r->layer->shader->info.name;
    r->mode = layer->mode;
    r->pending = ARENA_ARRAY(&cx->arena, bool, layer->shader->info.param_count);
    r->places = ARENA_ARRAY(&cx->arena, struct asl_place, p->symbol_count);
    if (!r->pending || !r->places)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    uint64_t bytes = 0;
    for (size_t i = 0; i < p->symbol_count; i++)
        bytes += variable_bytes(r, p->symbols[i]);
    TRY(memory_plan_at(bytes, asl_pos(layer->shader->fn->at), err, "the variables of shader %s",
                       r->shader));
    for (size_t i = 0; i < p->symbol_count; i++) {
        const struct asl_symbol *s = p->symbols[i];
        struct asl_place *place = &r->places[s->index];
        place->type = s->type;
        if (s->kind == SYM_GLOBAL) {
            *place = cx->globals[s->global];
            continue;
        }
        if (s->kind == SYM_FORMAL)
            continue;
        size_t n = asl_type_slots(s->type);
        bool derivs = (s->derivs & r->mode) != 0;
        if (n > cx->max_bytes / sizeof(union asl_slot) / 3)
            return error_set(err, STATUS_MEMORY, asl_pos(s->at), "'%s' is too large", s->name);
        place->n = (uint32_t)n;
        place->d = derivs ? (uint32_t)n : 0;
        place->v = ARENA_ARRAY(&cx->arena, union asl_slot, n * (derivs ? 3 : 1));
        if (!place->v)
            return error_msg(err, STATUS_MEMORY, "out of memory");
        asl_zero_value(s->type, place->v);
    }
    return STATUS_OK;
}

enum status asl_context_open(struct asl_context *cx, const struct asl_context_options *opt,
                             struct error *err)
{
    cx->services = opt->services;
    cx->budget = opt->step_budget ? opt->step_budget : 100000000;
    cx->perturb = opt->perturb;
    cx->error_repeats = opt->error_repeats;
    cx->max_bytes = opt->max_bytes ? opt->max_bytes : (size_t)256 << 20;
    cx->arena.limit = cx->max_bytes * 4;
    const uint64_t room = memory_room() / 2 / parallel_threads(); /* each has a context */
    cx->point.limit = room < cx->max_bytes ? (size_t)room + 1 : cx->max_bytes;
    cx->temps = temp_block_new(TEMP_BLOCK);
    if (!cx->temps)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (int i = 0; i < GV_COUNT; i++) {
        struct asl_place *p = &cx->globals[i];
        p->type = asl_global_type((enum asl_global)i);
        p->n = (uint32_t)asl_type_slots(p->type);
        p->d = p->n;
        p->v = ARENA_ARRAY(&cx->arena, union asl_slot, 3 * (size_t)p->n);
        if (!p->v)
            return error_msg(err, STATUS_MEMORY, "out of memory");
    }
    return STATUS_OK;
}

void asl_context_close(struct asl_context *cx)
{
    struct asl_temp_block *b = cx->temps;
    while (b && b->prev)
        b = b->prev;
    while (b) {
        struct asl_temp_block *next = b->next;
        free(b);
        b = next;
    }
    asl_dictionary_free(cx->dictionary);
    arena_free(&cx->arena);
    arena_free(&cx->point);
}

static enum status find_entries(struct asl_context *cx, const char *const *names, struct error *err)
{
    for (const char *const *e = names; e && *e; e++) {
        long i = asl_group_find(cx->group, *e);
        if (i < 0)
            return error_msg(err, STATUS_MISSING, "there is no layer '%s'", *e);
        cx->entry[i] = true;
    }
    return STATUS_OK;
}

enum status asl_context_new(const struct asl_group *g, const struct asl_context_options *opt,
                            struct asl_context **out, struct error *err)
{
    static const struct asl_context_options none = {0};
    if (!g->finished)
        return error_msg(err, STATUS_ARG, "the group is not finished");
    if (!opt)
        opt = &none;
    struct asl_context *cx = calloc(1, sizeof *cx);
    if (!cx)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    cx->group = g;
    cx->group_name = g->name;
    enum status s = asl_context_open(cx, opt, err);
    if (s == STATUS_OK) {
        cx->runs = ARENA_ARRAY(&cx->arena, struct asl_run, g->layer_count);
        cx->entry = ARENA_ARRAY(&cx->arena, bool, g->layer_count);
        if (!cx->runs || !cx->entry)
            s = error_msg(err, STATUS_MEMORY, "out of memory");
    }
    for (size_t i = 0; s == STATUS_OK && i < g->layer_count; i++)
        s = run_new(cx, i, err);
    if (s == STATUS_OK)
        s = find_entries(cx, opt->entry_layers, err);
    if (s != STATUS_OK) {
        asl_context_free(cx);
        return s;
    }
    *out = cx;
    return STATUS_OK;
}

void asl_context_contract(struct asl_context *c, uint32_t seed)
{
    c->perturb = seed;
    c->contract = seed != 0;
}

void asl_context_free(struct asl_context *c)
{
    if (!c)
        return;
    asl_context_close(c);
    free(c);
}

static void set_dual3(struct asl_place *p, const struct asl_dual3 *x)
{
    for (size_t i = 0; i < 3; i++) {
        p->v[i].f = x->v[i];
        p->v[3 + i].f = x->dx[i];
        p->v[6 + i].f = x->dy[i];
    }
}

static void set_plain(struct asl_place *p, const float *x)
{
    for (size_t i = 0; i < p->n; i++) {
        p->v[i].f = x[i];
        p->v[p->n + i].f = p->v[2 * p->n + i].f = 0;
    }
}

static void set_dual(struct asl_place *p, struct asl_dual x)
{
    p->v[0].f = x.v;
    p->v[1].f = x.dx;
    p->v[2].f = x.dy;
}

static void set_globals(struct asl_context *cx, const struct asl_globals *g)
{
    cx->state = *g;
    set_dual3(&cx->globals[GV_P], &g->P);
    set_dual3(&cx->globals[GV_I], &g->I);
    set_dual3(&cx->globals[GV_N], &g->N);
    set_dual3(&cx->globals[GV_Ps], &g->Ps);
    set_plain(&cx->globals[GV_Ng], g->Ng);
    set_plain(&cx->globals[GV_dPdu], g->dPdu);
    set_plain(&cx->globals[GV_dPdv], g->dPdv);
    set_plain(&cx->globals[GV_dPdtime], g->dPdtime);
    set_plain(&cx->globals[GV_time], &g->time);
    set_plain(&cx->globals[GV_dtime], &g->dtime);
    set_dual(&cx->globals[GV_u], g->u);
    set_dual(&cx->globals[GV_v], g->v);
    cx->globals[GV_Ci].v[0].c = NULL;
}

void asl_context_start(struct asl_context *cx, const struct asl_globals *g, struct error *err)
{
    if (cx->point.total)
        arena_free(&cx->point);
    cx->messages = NULL;
    cx->traced = TRACED_NO_RAY;
    cx->err = err;
    cx->status = STATUS_OK;
    cx->steps_total += cx->steps;
    cx->steps = 0;
    cx->perturb_state = cx->perturb;
    while (cx->temps->prev)
        cx->temps = cx->temps->prev;
    cx->temps->used = 0;
    cx->stack = __builtin_frame_address(0);
    set_globals(cx, g);
}

enum status asl_context_run(struct asl_context *cx, const struct asl_globals *g, struct error *err)
{
    asl_context_start(cx, g, err);
    for (size_t i = 0; i < cx->group->layer_count; i++)
        cx->runs[i].ran = false;
    if (setjmp(cx->fail))
        return cx->status;
    const struct asl_group *group = cx->group;
    for (size_t i = 0; i < group->entry_count; i++)
        run_layer(cx, group->entries[i]);
    for (size_t i = 0; group->entry_count == 0 && i < group->layer_count; i++)
        if (cx->entry[i] || i == group->layer_count - 1)
            run_layer(cx, i);
    return STATUS_OK;
}

uint64_t asl_context_steps(const struct asl_context *c) { return c->steps_total + c->steps; }

static const union asl_slot *layer_value(const struct asl_run *r, const char *name,
                                         struct asl_type *type, bool *ran)
{
    for (const struct asl_formal *a = r->layer->shader->fn->formals; a; a = a->next) {
        if (strcmp(a->name, name) != 0)
            continue;
        if (type)
            *type = a->symbol->type;
        if (ran)
            *ran = r->ran;
        return r->ran ? r->places[a->symbol->index].v : NULL;
    }
    return NULL;
}

const union asl_slot *asl_context_value(const struct asl_context *c, const char *name,
                                        struct asl_type *type, bool *ran)
{
    if (ran)
        *ran = true;
    const char *dot = strchr(name, '.');
    for (size_t i = c->group->layer_count; i-- > 0;) { /* the last layer that has it */
        const struct asl_run *r = &c->runs[i];
        const char *param = name;
        if (dot) {
            size_t n = (size_t)(dot - name);
            if (strncmp(r->layer->name, name, n) != 0 || r->layer->name[n] != 0)
                continue;
            param = dot + 1;
        }
        bool did = true;
        const union asl_slot *v = layer_value(r, param, type, &did);
        if (v || !did) {
            if (ran)
                *ran = did;
            return v;
        }
    }
    int g = dot ? -1 : asl_global_find(name);
    if (g < 0)
        return NULL;
    if (type)
        *type = c->globals[g].type;
    return c->globals[g].v;
}
