/* SPDX-License-Identifier: Apache-2.0 */
/* ir_grid.c: the engine `grid`: each instruction runs over all points of a grid before the next one
 * does. What is the same in all points, by what it is made of, is told from what may vary and is
 * done once. Points that an IF, a loop or a break leaves out are not in the list of those that an
 * instruction runs over. Builtins are the interpreter's, a point at a time. */
#include "ir_eval.h"
#include "ir_run.h"

#include <stdlib.h>

/* ---- the tree that runs --------------------------------------------------------------------- */

struct node {
    const struct ir_inst *inst;
    struct node *next, *body, *other, *up; /* up: the IF, LOOP or BLOCK around */
    struct node *target;                   /* BREAK, CONTINUE */
    struct asl_expr *call;
    uint32_t level;  /* of nesting */
    bool apart;      /* some points may be here without the others */
    bool left_apart; /* LOOP, BLOCK: some points may leave it without the others */
    bool may_leave;  /* points may be gone behind it */
};

struct grid_layer {
    struct node *first;
    bool *varies;           /* by value */
    union asl_slot *reg;    /* [value][point]; of what is the same for all, the first alone */
    bool apart, left_apart; /* likewise of the whole layer: it is pulled, or returned from */
    struct asl_run run;
    bool *ran;              /* by point */
    uint32_t levels, lists; /* of nesting; where its lists begin */
};

struct asl_grid {
    struct asl_context cx;
    const struct asl_code *code;
    struct grid_layer *layers;
    struct asl_layer *names;
    bool *cell_varies, *cell_read; /* by cell */
    uint32_t *cell_first;
    union asl_slot *cells; /* [slot][point] */
    uint8_t *cell_empty;   /* by slot: 1 a string, 2 a closure */
    uint32_t slots;
    union asl_slot *args, *row; /* row: all cells of one point, for the context */
    uint32_t most, count;       /* points: that there is room for, of this run */
    const struct asl_globals *globals;
    uint16_t *lists;       /* [][most], those of each layer apart: layers pull others */
    uint16_t *all;         /* every point */
    struct node **leaving; /* by point: where to, or NULL */
    bool *again;           /* by point that leaves for a loop: it continues there */
    uint64_t *turns;       /* by point: steps of the budget */
    void (*enter)(void *ctx, size_t point);
    void *enter_ctx;
    struct asl_grid_work work;
};

static struct node returned; /* where a point leaves for that returns */

struct builder {
    struct asl_grid *g;
    struct grid_layer *l;
    const struct ir_inst **defs;
    struct error *err;
    enum status status;
};

static struct node *find_target(struct node *up, const struct ir_inst *target)
{
    while (up && up->inst != target)
        up = up->up;
    return up;
}

static void refuse(struct builder *b, const struct ir_inst *i, const char *what)
{
    if (b->status == STATUS_OK)
        b->status =
            error_set(b->err, STATUS_UNSUPPORTED, i->at, "the engine grid does not run %s", what);
}

static void check_call(struct builder *b, struct node *n)
{
    const struct ir_inst *i = n->inst;
    if (ir_call_effect(b->defs, i) == IR_EFFECT_ORDER)
        refuse(b, i, "calls that print, send or write");
    n->call = ir_call_expr(&b->g->cx.arena, i->u.call, i->at);
    if (!n->call && b->status == STATUS_OK)
        b->status = error_msg(b->err, STATUS_MEMORY, "out of memory");
}

static struct node *build(struct builder *b, const struct ir_block *block, struct node *up,
                          uint32_t level)
{
    struct node *first = NULL, **end = &first;
    if (level > b->l->levels)
        b->l->levels = level;
    for (const struct ir_inst *i = block ? block->first : NULL; i && b->status == STATUS_OK;
         i = i->next) {
        struct node *n = ARENA_NEW(&b->g->cx.arena, struct node);
        if (!n) {
            b->status = error_msg(b->err, STATUS_MEMORY, "out of memory");
            return first;
        }
        *n = (struct node){.inst = i, .up = up, .level = level};
        *end = n;
        end = &n->next;
        if (i->op == IR_CALL)
            check_call(b, n);
        else if (i->op == IR_USERDATA)
            refuse(b, i, "parameters that the geometry gives");
        else if (i->op == IR_BREAK || i->op == IR_CONTINUE)
            n->target = find_target(up, i->u.target);
        else if (i->op == IR_RETURN)
            n->target = &returned;
        n->body = build(b, i->body, n, level + 1);
        n->other = build(b, i->other, n, level + 1);
        n->may_leave = n->target || i->op == IR_IF || i->op == IR_LOOP || i->op == IR_BLOCK;
    }
    return first;
}

/* Of each value the instruction that defines it. */
static void defs_fill(const struct ir_inst **defs, const struct ir_block *b)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        for (uint32_t k = 0; k < i->result_count; k++)
            defs[i->result + k] = i;
        defs_fill(defs, i->body);
        defs_fill(defs, i->other);
    }
}

/* ---- what varies ---------------------------------------------------------------------------- */

struct survey {
    struct asl_grid *g;
    struct grid_layer *l;
    bool changed;
};

static void mark(struct survey *s, bool *flag, bool value)
{
    s->changed = s->changed || (value && !*flag);
    *flag = *flag || value;
}

static bool place_varies(const struct survey *s, const struct ir_inst *i, const struct ir_place *p)
{
    for (uint32_t k = 0; k < p->index_count; k++)
        if (s->l->varies[i->operands[p->index[k].operand]])
            return true;
    return false;
}

/* Cells that the program reads, or whose value is asked for. */
static void note_reads(struct asl_grid *g, const struct ir_inst *i)
{
    if (i->op == IR_LOAD || i->op == IR_COPY)
        g->cell_read[i->u.mem.from.cell] = true;
    for (uint32_t k = 0; i->op == IR_CALL && k < i->u.call->arg_count; k++)
        if (i->u.call->args[k].is_place)
            g->cell_read[i->u.call->args[k].at.cell] = true;
}

static bool operands_vary(const struct survey *s, const struct ir_inst *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (s->l->varies[i->operands[k]])
            return true;
    for (uint32_t k = 0; i->op == IR_CALL && k < i->u.call->arg_count; k++) {
        const struct ir_arg *a = &i->u.call->args[k];
        if (a->is_place && s->g->cell_varies[a->at.cell])
            return true;
    }
    return false;
}

static void survey_block(struct survey *s, struct node *n, bool apart);

/* What is around becomes apart where some points leave without others. */
static void survey_leave(struct survey *s, const struct node *n)
{
    if (n->target == &returned)
        mark(s, &s->l->left_apart, n->apart);
    else
        mark(s, &n->target->left_apart, n->apart);
}

static void survey_node(struct survey *s, struct node *n)
{
    const struct ir_inst *i = n->inst;
    bool varies = operands_vary(s, i), *cell = NULL;
    note_reads(s->g, i);
    switch (i->op) {
    case IR_IF:
        survey_block(s, n->body, n->apart || varies);
        survey_block(s, n->other, n->apart || varies);
        return;
    case IR_LOOP:
    case IR_BLOCK:
        survey_block(s, n->body, n->apart || n->left_apart);
        survey_block(s, n->other, n->apart || n->left_apart);
        return;
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN:
        survey_leave(s, n);
        return;
    case IR_PULL:
        mark(s, &s->g->layers[i->u.number].apart, n->apart);
        return;
    case IR_STORE:
    case IR_ZERO:
        cell = &s->g->cell_varies[i->u.mem.to.cell];
        break;
    case IR_COPY:
        varies = varies || s->g->cell_varies[i->u.mem.from.cell];
        cell = &s->g->cell_varies[i->u.mem.to.cell];
        break;
    case IR_LOAD:
        varies =
            varies || s->g->cell_varies[i->u.mem.from.cell] || place_varies(s, i, &i->u.mem.from);
        break;
    case IR_STATE:
        varies = true;
        break;
    default:
        break;
    }
    if (cell)
        mark(s, cell, varies || n->apart);
    for (uint32_t k = 0; k < i->result_count; k++)
        mark(s, &s->l->varies[i->result + k], varies);
}

static void survey_block(struct survey *s, struct node *n, bool apart)
{
    for (; n; n = n->next) {
        mark(s, &n->apart, apart);
        survey_node(s, n);
    }
}

static void survey(struct asl_grid *g)
{
    struct survey s = {.g = g, .changed = true};
    for (uint32_t i = 0; i < GV_COUNT; i++) {
        const uint32_t cell = g->code->global_cell[i];
        g->cell_varies[cell] = i != GV_Ci;
        g->cell_read[cell] = g->code->cells[cell].observed;
    }
    while (s.changed) {
        s.changed = false;
        for (uint32_t i = 0; i < g->code->layer_count; i++) {
            s.l = &g->layers[i];
            survey_block(&s, s.l->first, s.l->apart || s.l->left_apart);
        }
    }
}

/* ---- running -------------------------------------------------------------------------------- */

struct machine {
    struct asl_grid *g;
    struct grid_layer *l;
};
struct list {
    uint32_t count;
    uint16_t *at;
};

static _Noreturn void run_fail(struct machine *m, enum status s, struct src_pos at,
                               const char *text)
{
    struct asl_context *cx = &m->g->cx;
    cx->status = error_set(cx->err, s, at, "%s", text);
    longjmp(cx->fail, 1);
}

static void enter_point(struct machine *m, uint32_t point)
{
    if (m->g->enter)
        m->g->enter(m->g->enter_ctx, point);
}

static union asl_slot *value_at(const struct machine *m, ir_value v, uint32_t point)
{
    return &m->l->reg[(size_t)v * m->g->most + (m->l->varies[v] ? point : 0)];
}

/* The slot, as the place's indices of that point say. */
static uint32_t slot_of(const struct machine *m, const struct ir_inst *i, const struct ir_place *p,
                        uint32_t point)
{
    uint32_t at = m->g->cell_first[p->cell] + p->base;
    for (uint32_t k = 0; k < p->index_count; k++) {
        const struct ir_index *x = &p->index[k];
        const int32_t v = value_at(m, i->operands[x->operand], point)->i;
        at += x->stride * (v < 0 ? 0 : (uint32_t)v < x->count ? (uint32_t)v : x->count - 1);
    }
    return at;
}

static union asl_slot *cell_at(const struct machine *m, uint32_t cell, uint32_t slot,
                               uint32_t point)
{
    return &m->g->cells[(size_t)slot * m->g->most + (m->g->cell_varies[cell] ? point : 0)];
}

static void zero(const struct machine *m, const struct ir_inst *i, uint32_t point)
{
    const struct ir_place *p = &i->u.mem.to;
    const uint32_t first = slot_of(m, i, p, point);
    for (uint32_t k = 0; k < i->u.mem.count; k++) {
        union asl_slot *v = cell_at(m, p->cell, first + k, point);
        v->c = NULL;
        if (m->g->cell_empty[first + k] == 1)
            v->s = "";
    }
}

static void copy(struct machine *m, const struct ir_inst *i, uint32_t point)
{
    const uint32_t n = i->u.mem.count, to = slot_of(m, i, &i->u.mem.to, point),
                   from = slot_of(m, i, &i->u.mem.from, point);
    struct asl_temp_mark mark = asl_temp_mark(&m->g->cx);
    union asl_slot *v = asl_temp(&m->l->run, n);
    for (uint32_t k = 0; k < n; k++)
        v[k] = *cell_at(m, i->u.mem.from.cell, from + k, point);
    for (uint32_t k = 0; k < n; k++)
        *cell_at(m, i->u.mem.to.cell, to + k, point) = v[k];
    asl_temp_release(&m->g->cx, mark);
}

static int32_t index_value(struct machine *m, const struct ir_inst *i, uint32_t point)
{
    const int32_t v = value_at(m, i->operands[0], point)->i;
    const uint32_t limit = i->u.index.limit;
    if (v >= 0 && (uint32_t)v < limit)
        return v;
    enter_point(m, point);
    asl_report_index(&m->l->run, v, i->u.index.name, limit, i->at);
    return v < 0 ? 0 : (int32_t)(limit - 1);
}

static const struct asl_closure *closure_op(struct machine *m, const struct ir_inst *i,
                                            uint32_t point)
{
    const struct asl_closure *a = value_at(m, i->operands[0], point)->c,
                             *b = i->op == IR_CADD ? value_at(m, i->operands[1], point)->c : NULL;
    float w[3] = {0, 0, 0};
    if (i->op == IR_CADD && (!a || !b))
        return a ? a : b;
    if (i->op == IR_CMUL) {
        for (uint32_t k = 0; k < 3; k++)
            w[k] = value_at(m, i->operands[1 + k], point)->f;
        if (!a || (w[0] == 0 && w[1] == 0 && w[2] == 0))
            return NULL;
    }
    struct asl_closure *c = asl_point_alloc(&m->l->run, 1, sizeof *c);
    c->kind = i->op == IR_CADD ? CLOSURE_ADD : CLOSURE_MUL;
    c->a = a;
    c->b = b;
    memcpy(c->weight, w, sizeof w);
    return c;
}

/* An argument's row in one piece: n slots, and as many of each change. */
static void argument_gather(const struct machine *m, const struct ir_inst *i,
                            const struct ir_arg *a, uint32_t point, struct asl_place *out)
{
    const uint32_t rows = a->derivs ? 3 : 1;
    out->v = asl_temp(&m->l->run, (size_t)rows * a->n);
    out->d = a->derivs ? a->n : 0;
    const uint32_t first = a->is_place ? slot_of(m, i, &a->at, point) : 0;
    for (uint32_t d = 0; d < rows; d++)
        for (uint32_t k = 0; k < a->n; k++)
            out->v[d * a->n + k] = a->is_place
                                       ? *cell_at(m, a->at.cell, first + d * a->row + k, point)
                                       : *value_at(m, i->operands[a->first + d * a->n + k], point);
}

static void call(struct machine *m, const struct node *n, uint32_t point)
{
    const struct ir_inst *i = n->inst;
    const struct ir_call *c = i->u.call;
    struct asl_run *r = &m->l->run;
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    struct asl_place few[20], *args = few;
    if (c->arg_count > 20)
        args = asl_point_alloc(r, c->arg_count, sizeof *args);
    for (uint32_t k = 0; k < c->arg_count; k++) {
        args[k] = (struct asl_place){.n = c->args[k].n, .type = c->args[k].type};
        argument_gather(m, i, &c->args[k], point, &args[k]);
    }
    union asl_slot *out = asl_temp(r, i->result_count + 48);
    enter_point(m, point);
    ir_call_run(r, c, n->call, args, out);
    for (uint32_t k = 0; k < i->result_count; k++)
        *value_at(m, i->result + k, point) = out[k];
    asl_temp_release(r->cx, mark);
}

/* One point of an instruction that is no pure operation. */
static void step(struct machine *m, const struct node *n, uint32_t point)
{
    const struct ir_inst *i = n->inst;
    switch (i->op) {
    case IR_CONST:
        *value_at(m, i->result, point) = i->u.k;
        break;
    case IR_LOAD:
        *value_at(m, i->result, point) =
            *cell_at(m, i->u.mem.from.cell, slot_of(m, i, &i->u.mem.from, point), point);
        break;
    case IR_STORE:
        *cell_at(m, i->u.mem.to.cell, slot_of(m, i, &i->u.mem.to, point), point) =
            *value_at(m, i->operands[i->operand_count - 1], point);
        break;
    case IR_COPY:
        copy(m, i, point);
        break;
    case IR_ZERO:
        zero(m, i, point);
        break;
    case IR_CADD:
    case IR_CMUL:
        value_at(m, i->result, point)->c = closure_op(m, i, point);
        break;
    case IR_INDEX:
        value_at(m, i->result, point)->i = index_value(m, i, point);
        break;
    case IR_CALL:
        call(m, n, point);
        break;
    case IR_ARG:
        *value_at(m, i->result, point) = m->g->args[i->u.number];
        break;
    default: /* IR_STATE */
        *value_at(m, i->result, point) = ir_state_value(&m->g->globals[point], i->u.number);
    }
}

/* A pure operation over the list: a loop for each. */
static void pure(struct machine *m, const struct ir_inst *i, const struct list *on)
{
    union asl_slot *r = value_at(m, i->result, 0), *in[3] = {r, r, r};
    size_t each[3] = {0, 0, 0};
    for (uint32_t k = 0; k < i->operand_count && k < 3; k++) {
        in[k] = value_at(m, i->operands[k], 0);
        each[k] = m->l->varies[i->operands[k]];
    }
    const union asl_slot *a = in[0], *b = in[1], *c = in[2];
    const bool all = on->count == m->g->count; /* points stand in a list in their order */
    switch (i->op) {
#define IR_PURE_ONLY
#define IR_OP(id, name, results, operands, meaning)                                                \
    case IR_##id:                                                                                  \
        if (all)                                                                                   \
            for (size_t p = 0; p < on->count; p++)                                                 \
                r[p] = ir_eval(IR_##id, a[p * each[0]], b[p * each[1]], c[p * each[2]]);           \
        else                                                                                       \
            for (uint32_t k = 0; k < on->count; k++) {                                             \
                const size_t p = on->at[k];                                                        \
                r[p] = ir_eval(IR_##id, a[p * each[0]], b[p * each[1]], c[p * each[2]]);           \
            }                                                                                      \
        break;
#include "ir_ops.def"
#undef IR_OP
    default:
        break;
    }
}

/* A slot that is the same one in all points, to a value or from one. */
static void move(struct machine *m, const struct ir_inst *i, const struct list *on)
{
    const bool load = i->op == IR_LOAD;
    const struct ir_place *p = load ? &i->u.mem.from : &i->u.mem.to;
    const ir_value v = load ? i->result : i->operands[i->operand_count - 1];
    union asl_slot *cell = cell_at(m, p->cell, m->g->cell_first[p->cell] + p->base, 0),
                   *value = value_at(m, v, 0), *to = load ? value : cell;
    const union asl_slot *from = load ? cell : value;
    const size_t each = load ? m->g->cell_varies[p->cell] : m->l->varies[v];
    for (uint32_t k = 0; k < on->count; k++)
        to[on->at[k]] = from[on->at[k] * each];
}

static void count_work(struct machine *m, bool varies, uint32_t points)
{
    if (varies) {
        m->g->work.varying += points;
    } else {
        m->g->work.uniform++;
        m->g->work.spared += points - 1;
    }
}

/* Does the instruction's doing depend on the point? */
static bool node_varies(const struct machine *m, const struct ir_inst *i)
{
    if (i->result_count > 0)
        return m->l->varies[i->result];
    return m->g->cell_varies[i->u.mem.to.cell]; /* STORE, COPY, ZERO */
}

static void plain(struct machine *m, const struct node *n, const struct list *on)
{
    const struct ir_inst *i = n->inst;
    uint16_t first = on->at[0];
    const struct list one = {1, &first};
    if (i->op != IR_CONST && i->result_count == 0 && i->op != IR_STORE && i->op != IR_COPY &&
        i->op != IR_ZERO) { /* a call without results */
        for (uint32_t k = 0; k < on->count; k++)
            step(m, n, on->at[k]);
        count_work(m, true, on->count);
        return;
    }
    const bool varies = node_varies(m, i);
    const struct list *over = varies ? on : &one;
    if (i->op != IR_CONST)
        count_work(m, varies, on->count);
    const bool pure_one = i->op > IR_CONST && i->op <= IR_SELECT,
               moved = (i->op == IR_LOAD && i->u.mem.from.index_count == 0) ||
                       (i->op == IR_STORE && i->u.mem.to.index_count == 0);
    if (!varies && (pure_one || moved))
        first = 0; /* where the only one stands */
    if (pure_one) {
        pure(m, i, over);
        return;
    }
    if (moved) {
        move(m, i, over);
        return;
    }
    for (uint32_t k = 0; k < over->count; k++)
        step(m, n, over->at[k]);
}

static void run_block(struct machine *m, const struct node *n, const struct list *on);
static void run_layer(struct asl_grid *g, uint32_t index, const struct list *on);

/* Those of the list that do not leave. */
static void stay(const struct machine *m, struct list *l)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < l->count; k++)
        if (!m->g->leaving[l->at[k]])
            l->at[kept++] = l->at[k];
    l->count = kept;
}

/* A level's own room. */
static struct list list_of(const struct machine *m, uint32_t level, const struct list *from)
{
    struct list l = {0, m->g->lists + (size_t)(m->l->lists + level) * m->g->most};
    if (from) {
        l.count = from->count;
        memcpy(l.at, from->at, from->count * sizeof *l.at);
    }
    return l;
}

static void run_if(struct machine *m, const struct node *n, const struct list *on)
{
    const ir_value test = n->inst->operands[0];
    if (!m->l->varies[test]) {
        run_block(m, value_at(m, test, 0)->i ? n->body : n->other, on);
        return;
    }
    for (int side = 0; side < 2; side++) {
        struct list l = list_of(m, 2 * n->level + 1, NULL);
        for (uint32_t k = 0; k < on->count; k++)
            if ((value_at(m, test, on->at[k])->i == 0) == (side == 1))
                l.at[l.count++] = on->at[k];
        run_block(m, side ? n->other : n->body, &l);
    }
}

/* Points that were leaving for here go on. again: those alone that continue. */
static void arrive(struct machine *m, const struct node *n, const struct list *on, bool again)
{
    for (uint32_t k = 0; k < on->count; k++)
        if (m->g->leaving[on->at[k]] == n && m->g->again[on->at[k]] == again)
            m->g->leaving[on->at[k]] = NULL;
}

static void take_turn(struct machine *m, const struct node *n, const struct list *on)
{
    for (uint32_t k = 0; k < on->count; k++)
        if (++m->g->turns[on->at[k]] > m->g->cx.budget) {
            char text[400];
            enter_point(m, on->at[k]);
            (void)snprintf(text, sizeof text,
                           "layer '%s' ran %llu steps at one point and was stopped: does a loop "
                           "not end?",
                           m->l->run.layer->name, (unsigned long long)m->g->cx.budget);
            run_fail(m, STATUS_TIMEOUT, n->inst->at, text);
        }
}

static void run_loop(struct machine *m, const struct node *n, const struct list *on)
{
    struct list l = list_of(m, 2 * n->level + 1, on);
    while (l.count) {
        take_turn(m, n, &l);
        run_block(m, n->body, &l);
        arrive(m, n, &l, true);
        stay(m, &l);
        run_block(m, n->other, &l);
        stay(m, &l);
    }
    arrive(m, n, on, false);
}

static void leave(struct machine *m, const struct node *n, const struct list *on)
{
    for (uint32_t k = 0; k < on->count; k++) {
        m->g->leaving[on->at[k]] = n->target;
        m->g->again[on->at[k]] = n->inst->op == IR_CONTINUE;
    }
}

static void run_block(struct machine *m, const struct node *n, const struct list *on)
{
    if (!n || on->count == 0)
        return;
    struct list l = list_of(m, 2 * n->level, on);
    for (; n && l.count; n = n->next) {
        switch (n->inst->op) {
        case IR_IF:
            run_if(m, n, &l);
            break;
        case IR_LOOP:
            run_loop(m, n, &l);
            break;
        case IR_BLOCK:
            run_block(m, n->body, &l);
            arrive(m, n, &l, false);
            break;
        case IR_BREAK:
        case IR_CONTINUE:
        case IR_RETURN:
            leave(m, n, &l);
            break;
        case IR_PULL:
            run_layer(m->g, n->inst->u.number, &l);
            break;
        default:
            plain(m, n, &l);
        }
        if (n->may_leave)
            stay(m, &l);
    }
}

static void run_layer(struct asl_grid *g, uint32_t index, const struct list *on)
{
    struct grid_layer *l = &g->layers[index];
    struct machine m = {g, l};
    struct list todo = list_of(&m, 2 * (l->levels + 1), NULL);
    for (uint32_t k = 0; k < on->count; k++)
        if (!l->ran[on->at[k]])
            todo.at[todo.count++] = on->at[k];
    for (uint32_t k = 0; k < todo.count; k++)
        l->ran[todo.at[k]] = true;
    asl_check_stack(&l->run, (struct asl_loc){0});
    run_block(&m, l->first, &todo);
    for (uint32_t k = 0; k < todo.count; k++)
        g->leaving[todo.at[k]] = NULL;
}

/* ---- making --------------------------------------------------------------------------------- */

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory for a grid");
}

static enum status make_cells(struct asl_grid *g, struct error *err)
{
    const struct asl_code *code = g->code;
    struct arena *a = &g->cx.arena;
    size_t slots = 0;
    g->cell_first = ARENA_ARRAY(a, uint32_t, code->cell_count);
    g->cell_varies = ARENA_ARRAY(a, bool, code->cell_count);
    g->cell_read = ARENA_ARRAY(a, bool, code->cell_count);
    if (!g->cell_first || !g->cell_varies || !g->cell_read)
        return no_memory(err);
    for (uint32_t i = 0; i < code->cell_count; i++) {
        g->cell_first[i] = (uint32_t)slots;
        slots += ir_cell_slots(&code->cells[i]);
    }
    if (slots > g->cx.max_bytes / sizeof(union asl_slot))
        return error_msg(err, STATUS_MEMORY, "the variables take more than one point may use");
    TRY(memory_plan(slots * (g->most + 1) * sizeof(union asl_slot), err,
                    "the variables of %u points", g->most));
    g->slots = (uint32_t)slots;
    g->cells = ARENA_ARRAY(a, union asl_slot, slots * g->most);
    g->row = ARENA_ARRAY(a, union asl_slot, slots);
    g->cell_empty = ARENA_ARRAY(a, uint8_t, slots);
    if (!g->cells || !g->row || !g->cell_empty)
        return no_memory(err);
    for (uint32_t i = 0; i < code->cell_count; i++)
        for (uint32_t k = 0; k < code->cells[i].n; k++) {
            const enum ir_type t = ir_cell_type(&code->cells[i], k);
            g->cell_empty[g->cell_first[i] + k] = t == IR_S ? 1 : t == IR_C ? 2 : 0;
        }
    for (uint32_t k = 0; k < GV_COUNT; k++) {
        struct asl_place *p = &g->cx.globals[k];
        p->v = g->row + g->cell_first[code->global_cell[k]];
        p->d = code->cells[code->global_cell[k]].derivs ? p->n : 0;
    }
    return STATUS_OK;
}

static enum status make_layer(struct asl_grid *g, uint32_t index, struct error *err)
{
    const struct ir_layer *from = &g->code->layers[index];
    struct grid_layer *l = &g->layers[index];
    struct arena *a = &g->cx.arena;
    const size_t values = from->value_count + 1u;
    g->names[index].name = from->name;
    g->names[index].mode = 1;
    l->run = (struct asl_run){
        .cx = &g->cx, .layer = &g->names[index], .shader = from->shader, .index = index, .mode = 1};
    TRY(memory_plan(values * g->most * sizeof(union asl_slot), err, "the values of %u points",
                    g->most));
    l->reg = ARENA_ARRAY(a, union asl_slot, values * g->most);
    l->varies = ARENA_ARRAY(a, bool, values);
    l->ran = ARENA_ARRAY(a, bool, g->most);
    const struct ir_inst **defs = ARENA_ARRAY(a, const struct ir_inst *, values);
    if (!l->reg || !l->varies || !l->ran || !defs)
        return no_memory(err);
    defs_fill(defs, &from->body);
    struct builder b = {.g = g, .l = l, .defs = defs, .err = err};
    l->first = build(&b, &from->body, NULL, 0);
    return b.status;
}

static enum status make_rest(struct asl_grid *g, struct error *err)
{
    struct arena *a = &g->cx.arena;
    size_t lists = 0;
    for (uint32_t i = 0; i < g->code->layer_count; i++) {
        g->layers[i].lists = (uint32_t)lists;
        lists += 2 * (g->layers[i].levels + 1) + 1;
    }
    g->args = ARENA_ARRAY(a, union asl_slot, g->code->arg_count + 1u);
    g->lists = ARENA_ARRAY(a, uint16_t, lists * g->most);
    g->all = ARENA_ARRAY(a, uint16_t, g->most);
    g->leaving = ARENA_ARRAY(a, struct node *, g->most);
    g->again = ARENA_ARRAY(a, bool, g->most);
    g->turns = ARENA_ARRAY(a, uint64_t, g->most);
    if (!g->args || !g->lists || !g->all || !g->leaving || !g->again || !g->turns)
        return no_memory(err);
    for (uint32_t i = 0; i < g->code->arg_count; i++)
        g->args[i] = g->code->args[i].value;
    for (uint32_t p = 0; p < g->most; p++)
        g->all[p] = (uint16_t)p;
    survey(g);
    return STATUS_OK;
}

enum status asl_grid_new(const struct asl_code *code, const struct asl_context_options *opt,
                         size_t points, void (*enter)(void *ctx, size_t point), void *enter_ctx,
                         struct asl_grid **out, struct error *err)
{
    static const struct asl_context_options none = {0};
    if (points == 0 || points > ASL_GRID_MOST)
        return error_msg(err, STATUS_ARG, "a grid of %zu points: 1 to %d", points, ASL_GRID_MOST);
    struct asl_grid *g = calloc(1, sizeof *g);
    if (!g)
        return no_memory(err);
    g->code = code;
    g->most = (uint32_t)points;
    g->enter = enter;
    g->enter_ctx = enter_ctx;
    enum status s = asl_context_open(&g->cx, opt ? opt : &none, err);
    g->cx.perturb = 0;
    g->cx.group_name = code->name;
    if (s == STATUS_OK) {
        g->layers = ARENA_ARRAY(&g->cx.arena, struct grid_layer, code->layer_count);
        g->names = ARENA_ARRAY(&g->cx.arena, struct asl_layer, code->layer_count);
        s = g->layers && g->names ? make_cells(g, err) : no_memory(err);
    }
    for (uint32_t i = 0; s == STATUS_OK && i < code->layer_count; i++)
        s = make_layer(g, i, err);
    if (s == STATUS_OK)
        s = make_rest(g, err);
    if (s != STATUS_OK) {
        asl_grid_free(g);
        return s;
    }
    *out = g;
    return STATUS_OK;
}

void asl_grid_free(struct asl_grid *g)
{
    if (!g)
        return;
    asl_context_close(&g->cx);
    free(g);
}

union asl_slot *asl_grid_args(struct asl_grid *g) { return g->args; }
struct asl_grid_work asl_grid_worked(const struct asl_grid *g) { return g->work; }

/* The globals of all points into the cells, through the context's row. */
static void start(struct asl_grid *g, struct error *err)
{
    for (uint32_t s = 0; s < g->slots; s++)
        for (uint32_t p = 0; g->cell_empty[s] && p < g->count; p++) {
            union asl_slot *v = &g->cells[(size_t)s * g->most + p];
            v->c = NULL;
            if (g->cell_empty[s] == 1)
                v->s = "";
        }
    for (uint32_t p = 0; p < g->count; p++) {
        asl_context_start(&g->cx, &g->globals[p], err);
        for (uint32_t k = 0; k < GV_COUNT; k++) {
            const uint32_t cell = g->code->global_cell[k], first = g->cell_first[cell];
            if (g->cell_varies[cell] && g->cell_read[cell])
                for (uint32_t s = 0; s < ir_cell_slots(&g->code->cells[cell]); s++)
                    g->cells[(size_t)(first + s) * g->most + p] = g->row[first + s];
        }
        g->leaving[p] = NULL;
        g->turns[p] = 0;
    }
    for (uint32_t i = 0; i < g->code->layer_count; i++)
        memset(g->layers[i].ran, 0, g->count * sizeof *g->layers[i].ran);
}

enum status asl_grid_run(struct asl_grid *g, const struct asl_globals *points, size_t count,
                         struct error *err)
{
    if (count == 0 || count > g->most)
        return error_msg(err, STATUS_ARG, "%zu points: the grid takes 1 to %u", count, g->most);
    g->globals = points;
    g->count = (uint32_t)count;
    g->work.points += count;
    start(g, err);
    if (setjmp(g->cx.fail))
        return g->cx.status;
    const struct list on = {g->count, g->all};
    for (uint32_t i = 0; i < g->code->entry_count; i++)
        run_layer(g, g->code->entries[i], &on);
    for (uint32_t p = 0; p < g->count; p++)
        g->cx.steps_total += g->turns[p];
    return STATUS_OK;
}

uint64_t asl_grid_steps(const struct asl_grid *g) { return g->cx.steps_total; }

/* The cell that a name means; UINT32_MAX: none. */
static uint32_t cell_named(const struct asl_grid *g, const char *name, size_t point)
{
    const char *dot = strchr(name, '.');
    for (uint32_t i = g->code->layer_count; i-- > 0;) { /* the last layer that has it */
        const struct ir_layer *l = &g->code->layers[i];
        const char *param = name;
        if (dot) {
            const size_t n = (size_t)(dot - name);
            if (strncmp(l->name, name, n) != 0 || l->name[n] != 0)
                continue;
            param = dot + 1;
        }
        for (uint32_t p = 0; p < l->param_count; p++)
            if (strcmp(l->params[p].name, param) == 0)
                return g->layers[i].ran[point] && g->code->cells[l->params[p].cell].observed
                           ? l->params[p].cell
                           : UINT32_MAX;
    }
    const int global = dot ? -1 : asl_global_find(name);
    return global < 0 ? UINT32_MAX : g->code->global_cell[global];
}

bool asl_grid_value(const struct asl_grid *g, const char *name, size_t point, union asl_slot *out,
                    size_t slots)
{
    const uint32_t cell = cell_named(g, name, point);
    if (cell == UINT32_MAX)
        return false;
    for (size_t s = 0; s < slots && s < ir_cell_slots(&g->code->cells[cell]); s++)
        out[s] = g->cells[(g->cell_first[cell] + s) * g->most + (g->cell_varies[cell] ? point : 0)];
    return true;
}

/* ---- what varies, in numbers ------------------------------------------------------------------ */

static void count_block(const struct grid_layer *l, const struct asl_grid *g, const struct node *n,
                        struct asl_grid_shape *out)
{
    for (; n; n = n->next) {
        const struct ir_inst *i = n->inst;
        bool varies = n->apart;
        if (i->op == IR_CONST)
            continue;
        if (i->result_count > 0)
            varies = l->varies[i->result];
        else if (i->op == IR_STORE || i->op == IR_COPY || i->op == IR_ZERO)
            varies = g->cell_varies[i->u.mem.to.cell];
        else if (i->op == IR_IF)
            varies = l->varies[i->operands[0]];
        out->operations++;
        out->uniform += !varies;
        count_block(l, g, n->body, out);
        count_block(l, g, n->other, out);
    }
}

struct asl_grid_shape asl_grid_shape(const struct asl_grid *g)
{
    struct asl_grid_shape s = {0};
    for (uint32_t i = 0; i < g->code->layer_count; i++)
        count_block(&g->layers[i], g, g->layers[i].first, &s);
    return s;
}
