/* SPDX-License-Identifier: Apache-2.0 */
/* ir_run.c: the engine `ir`: blocks become a flat list of instructions with jumps; a loop runs it.
 * Builtins are the interpreter's. */
#include "ir_run.h"

#include "ir_eval.h"

#include <stdlib.h>

/* ---- calls ---------------------------------------------------------------------------------- */

struct asl_expr *ir_call_expr(struct arena *a, const struct ir_call *c, struct src_pos at)
{
    struct asl_expr *e = ARENA_NEW(a, struct asl_expr);
    struct asl_source *src = ARENA_NEW(a, struct asl_source);
    if (!e || !src)
        return NULL;
    src->name = at.file;
    e->at = (struct asl_loc){.src = at.file ? src : NULL, .line = at.line, .col = at.col};
    e->kind = E_CALL;
    e->type = c->type;
    e->slots = (uint32_t)asl_type_slots(c->type);
    e->derivs = c->derivs;
    e->name = c->name;
    e->builtin = c->callee < BI_COUNT ? asl_builtin_at(c->callee) : NULL;
    e->overload = c->overload;
    e->arg_count = c->arg_count;
    for (uint32_t i = 0; i < c->arg_count && i < 32; i++)
        e->writes |= (uint32_t)c->args[i].written << i;
    return e;
}

void ir_call_run(struct asl_run *r, const struct ir_call *c, const struct asl_expr *e,
                 struct asl_place *args, union asl_slot *out)
{
    if (c->callee < BI_COUNT) {
        asl_run_builtin(r, e, args, out);
        return;
    }
    size_t n = e->slots;
    r->cx->call_at = e->at;
    if (c->callee == IRC_CONSTRUCT2) {
        asl_construct_between(r, args[0].v[0].s, args[1].v[0].s, out);
        for (size_t i = 0; c->derivs && i < 2 * n; i++)
            out[n + i].f = 0;
    } else if (c->callee == IRC_CONSTRUCT) {
        memset(out, 0, (c->derivs ? 3 : 1) * n * sizeof *out);
        memcpy(out, args[1].v, (c->derivs && args[1].d ? 3 : 1) * n * sizeof *out);
        asl_construct_in_space(r, e, args[0].v[0].s, out);
    } else { /* IRC_INVERSE */
        float m[16], inv[16];
        for (size_t i = 0; i < 16; i++)
            m[i] = args[0].v[i].f;
        asl_matrix_divisor(m, inv);
        for (size_t i = 0; i < 16; i++)
            out[i].f = inv[i];
    }
}

/* ---- the flat form -------------------------------------------------------------------------- */

enum flat_op {
    FLAT_JUMP = IR_OP_COUNT,
    FLAT_UNLESS, /* to `b` when register a is 0 */
    FLAT_TURN,   /* a step of the budget */
    FLAT_LOAD,   /* register r = cell slot a */
    FLAT_STORE,  /* cell slot a = register b */
    FLAT_END
};

struct flat {
    uint32_t op, r, a, b, c;
    const struct ir_inst *inst;
    struct asl_expr *call;
};

struct flat_layer {
    struct flat *code;
    uint32_t count, cap;
    union asl_slot *reg;
    struct asl_run run; /* for builtins */
    bool ran;
};

struct asl_code_context {
    struct asl_context cx; /* for builtins: memory, services, messages */
    const struct asl_code *code;
    struct flat_layer *layers;
    struct asl_layer *names; /* what builtins may ask of a layer: its name */
    union asl_slot *cells;
    uint32_t *cell_first; /* slot of each cell */
    union asl_slot *args;
    uint32_t *pointers; /* slots of strings and closures, emptied before each point */
    uint32_t pointer_count;
};

struct flattener {
    struct asl_code_context *c;
    struct flat_layer *l;
    bool failed;
};

static uint32_t put(struct flattener *f, struct flat x)
{
    struct flat_layer *l = f->l;
    if (l->count == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 256;
        struct flat *more = realloc(l->code, cap * sizeof *more);
        if (!more) {
            f->failed = true;
            return 0;
        }
        l->code = more;
        l->cap = cap;
    }
    l->code[l->count] = x;
    return l->count++;
}

static void flatten(struct flattener *f, const struct ir_block *b);

/* Jumps to places that are not known yet: breaks and continues keep their target instruction in
 * `inst` until `resolve` finds them between first and last. */
static void resolve(struct flattener *f, uint32_t first, enum ir_op op,
                    const struct ir_inst *target, uint32_t to)
{
    for (uint32_t i = first; i < f->l->count; i++) {
        struct flat *x = &f->l->code[i];
        if (x->op == FLAT_JUMP && x->inst && x->inst->u.target == target && x->inst->op == op) {
            x->a = to;
            x->inst = NULL;
        }
    }
}

static void flatten_if(struct flattener *f, const struct ir_inst *i)
{
    uint32_t test = put(f, (struct flat){.op = FLAT_UNLESS, .a = i->operands[0]});
    flatten(f, i->body);
    if (i->other->first) {
        uint32_t over = put(f, (struct flat){.op = FLAT_JUMP});
        if (f->failed)
            return;
        f->l->code[test].b = f->l->count;
        flatten(f, i->other);
        f->l->code[over].a = f->l->count;
    } else if (!f->failed) {
        f->l->code[test].b = f->l->count;
    }
}

static void flatten_inst(struct flattener *f, const struct ir_inst *i)
{
    struct flat x = {.op = i->op, .r = i->result, .inst = i};
    uint32_t begin = f->l->count;
    switch (i->op) {
    case IR_CONST:
        f->l->reg[i->result] = i->u.k;
        return;
    case IR_IF:
        flatten_if(f, i);
        return;
    case IR_LOOP:
        x.op = FLAT_TURN;
        (void)put(f, x);
        flatten(f, i->body);
        resolve(f, begin, IR_CONTINUE, i, f->l->count);
        flatten(f, i->other);
        (void)put(f, (struct flat){.op = FLAT_JUMP, .a = begin});
        resolve(f, begin, IR_BREAK, i, f->l->count);
        return;
    case IR_BLOCK:
        flatten(f, i->body);
        resolve(f, begin, IR_BREAK, i, f->l->count);
        return;
    case IR_BREAK:
    case IR_CONTINUE:
        x.op = FLAT_JUMP;
        break;
    case IR_RETURN:
        x.op = FLAT_END;
        break;
    case IR_LOAD:
        if (i->u.mem.from.index_count == 0) {
            x.op = FLAT_LOAD;
            x.a = f->c->cell_first[i->u.mem.from.cell] + i->u.mem.from.base;
        }
        break;
    case IR_STORE:
        if (i->u.mem.to.index_count == 0) {
            x.op = FLAT_STORE;
            x.a = f->c->cell_first[i->u.mem.to.cell] + i->u.mem.to.base;
            x.b = i->operands[0];
        }
        break;
    case IR_CALL:
        x.call = ir_call_expr(&f->c->cx.arena, i->u.call, i->at);
        f->failed = f->failed || !x.call;
        break;
    default:
        if (i->operand_count > 0)
            x.a = i->operands[0];
        if (i->operand_count > 1)
            x.b = i->operands[1];
        if (i->operand_count > 2)
            x.c = i->operands[2];
    }
    (void)put(f, x);
}

static void flatten(struct flattener *f, const struct ir_block *b)
{
    for (const struct ir_inst *i = b->first; i && !f->failed; i = i->next)
        flatten_inst(f, i);
}

/* ---- running -------------------------------------------------------------------------------- */

struct machine {
    struct asl_code_context *c;
    struct flat_layer *l;
    union asl_slot *reg;
};

static _Noreturn void run_fail(struct machine *m, enum status s, struct src_pos at,
                               const char *text)
{
    struct asl_context *cx = &m->c->cx;
    cx->status = error_set(cx->err, s, at, "%s", text);
    longjmp(cx->fail, 1);
}

static _Noreturn void out_of_steps(struct machine *m, struct src_pos at)
{
    char text[400];
    (void)snprintf(text, sizeof text,
                   "layer '%s' ran %llu steps at one point and was stopped: does a loop not end?",
                   m->l->run.layer->name, (unsigned long long)m->c->cx.budget);
    run_fail(m, STATUS_TIMEOUT, at, text);
}

static union asl_slot *address(const struct machine *m, const struct ir_inst *i,
                               const struct ir_place *p)
{
    uint32_t at = p->base;
    for (uint32_t k = 0; k < p->index_count; k++) {
        const struct ir_index *x = &p->index[k];
        int32_t v = m->reg[i->operands[x->operand]].i;
        at += x->stride * (v < 0 ? 0 : (uint32_t)v < x->count ? (uint32_t)v : x->count - 1);
    }
    return m->c->cells + m->c->cell_first[p->cell] + at;
}

static void zero(const struct machine *m, const struct ir_inst *i)
{
    const struct ir_place *p = &i->u.mem.to;
    union asl_slot *v = address(m, i, p);
    const struct ir_cell *cell = &m->c->code->cells[p->cell];
    uint32_t first = (uint32_t)(v - (m->c->cells + m->c->cell_first[p->cell]));
    for (uint32_t k = 0; k < i->u.mem.count; k++) {
        v[k].c = NULL;
        if (ir_cell_type(cell, first + k) == IR_S)
            v[k].s = "";
    }
}

static int32_t index_value(struct machine *m, const struct ir_inst *i)
{
    int32_t v = m->reg[i->operands[0]].i;
    uint32_t limit = i->u.index.limit;
    if (v >= 0 && (uint32_t)v < limit)
        return v;
    asl_report_index(&m->l->run, v, i->u.index.name, limit, i->at);
    return v < 0 ? 0 : (int32_t)(limit - 1);
}

static const struct asl_closure *closure_op(struct machine *m, const struct flat *x)
{
    const struct asl_closure *a = m->reg[x->a].c, *b = m->reg[x->b].c;
    float w[3] = {0, 0, 0};
    if (x->op == IR_CADD && (!a || !b))
        return a ? a : b;
    if (x->op == IR_CMUL) {
        for (uint32_t i = 0; i < 3; i++)
            w[i] = m->reg[x->inst->operands[1 + i]].f;
        if (!a || (w[0] == 0 && w[1] == 0 && w[2] == 0))
            return NULL;
    }
    struct asl_closure *c = asl_point_alloc(&m->l->run, 1, sizeof *c);
    c->kind = x->op == IR_CADD ? CLOSURE_ADD : CLOSURE_MUL;
    c->a = a;
    c->b = x->op == IR_CADD ? b : NULL;
    memcpy(c->weight, w, sizeof w);
    return c;
}

static void call(struct machine *m, const struct flat *x)
{
    const struct ir_inst *i = x->inst;
    const struct ir_call *c = i->u.call;
    struct asl_run *r = &m->l->run;
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    struct asl_place few[20], *args = few;
    if (c->arg_count > 20)
        args = asl_point_alloc(r, c->arg_count, sizeof *args);
    union asl_slot *v = asl_temp(r, i->operand_count + 48), *out = v + i->operand_count;
    for (uint32_t k = 0; k < i->operand_count; k++)
        v[k] = m->reg[i->operands[k]];
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        args[k] = (struct asl_place){.n = a->n, .type = a->type};
        if (a->is_place) {
            args[k].v = address(m, i, &a->at);
            args[k].d = a->derivs ? a->row : 0;
        } else {
            args[k].v = v + a->first;
            args[k].d = a->derivs ? a->n : 0;
        }
    }
    ir_call_run(r, c, x->call, args, out);
    memcpy(m->reg + i->result, out, i->result_count * sizeof *out);
    asl_temp_release(r->cx, mark);
}

static void userdata(struct machine *m, const struct ir_inst *i)
{
    struct asl_run *r = &m->l->run;
    const struct asl_services *s = &r->cx->services;
    uint32_t n = (uint32_t)asl_type_slots(i->u.user.type);
    struct asl_temp_mark mark = asl_temp_mark(r->cx);
    union asl_slot *v = asl_temp(r, 3 * (size_t)n);
    asl_zero_value(i->u.user.type, v);
    memset(v + n, 0, 2 * (size_t)n * sizeof *v);
    m->reg[i->result].i = s->userdata && s->userdata(s->ctx, i->u.user.name, i->u.user.type, v);
    memcpy(m->reg + i->result + 1, v, (i->result_count - 1) * sizeof *v);
    asl_temp_release(r->cx, mark);
}

union asl_slot ir_state_value(const struct asl_globals *g, uint32_t which)
{
    union asl_slot r = {.s = NULL};
    switch (which) {
    case IR_RAYTYPE:
        r.i = (int32_t)g->raytype;
        break;
    case IR_BACKFACING:
        r.i = g->backfacing;
        break;
    case IR_FLIP_HANDEDNESS:
        r.i = g->flip_handedness;
        break;
    case IR_SURFACEAREA:
        r.f = g->surfacearea;
        break;
    default:
        r.f = g->dPdz[which - IR_DPDZ_X];
    }
    return r;
}

static void run_layer(struct asl_code_context *c, uint32_t index);

/* What is neither an operation on registers nor a jump. */
static void other(struct machine *m, const struct flat *x)
{
    const struct ir_inst *i = x->inst;
    switch (x->op) {
    case IR_LOAD:
        m->reg[x->r] = *address(m, i, &i->u.mem.from);
        break;
    case IR_STORE:
        *address(m, i, &i->u.mem.to) = m->reg[i->operands[i->operand_count - 1]];
        break;
    case IR_COPY:
        memmove(address(m, i, &i->u.mem.to), address(m, i, &i->u.mem.from),
                i->u.mem.count * sizeof(union asl_slot));
        break;
    case IR_ZERO:
        zero(m, i);
        break;
    case IR_CADD:
    case IR_CMUL:
        m->reg[x->r].c = closure_op(m, x);
        break;
    case IR_INDEX:
        m->reg[x->r].i = index_value(m, i);
        break;
    case IR_CALL:
        call(m, x);
        break;
    case IR_USERDATA:
        userdata(m, i);
        break;
    case IR_PULL:
        run_layer(m->c, i->u.number);
        break;
    case IR_ARG:
        m->reg[x->r] = m->c->args[i->u.number];
        break;
    default: /* IR_STATE */
        m->reg[x->r] = ir_state_value(&m->c->cx.state, i->u.number);
    }
}

static void run(struct machine *m)
{
    const struct flat *code = m->l->code;
    union asl_slot *reg = m->reg, *cells = m->c->cells;
    struct asl_context *cx = &m->c->cx;
    for (const struct flat *x = code;; x++) {
        switch (x->op) {
#define IR_PURE_ONLY
#define IR_OP(id, name, results, operands, meaning)                                                \
    case IR_##id:                                                                                  \
        reg[x->r] = ir_eval(IR_##id, reg[x->a], reg[x->b], reg[x->c]);                             \
        break;
#include "ir_ops.def"
#undef IR_OP
        case FLAT_LOAD:
            reg[x->r] = cells[x->a];
            break;
        case FLAT_STORE:
            cells[x->a] = reg[x->b];
            break;
        case FLAT_UNLESS:
            if (reg[x->a].i == 0)
                x = code + x->b - 1;
            break;
        case FLAT_JUMP:
            x = code + x->a - 1;
            break;
        case FLAT_TURN:
            if (++cx->steps > cx->budget)
                out_of_steps(m, x->inst->at);
            break;
        case FLAT_END:
            return;
        default:
            other(m, x);
        }
    }
}

static void run_layer(struct asl_code_context *c, uint32_t index)
{
    struct flat_layer *l = &c->layers[index];
    if (l->ran)
        return;
    l->ran = true;
    asl_check_stack(&l->run, (struct asl_loc){0});
    struct machine m = {c, l, l->reg};
    run(&m);
}

/* ---- contexts ------------------------------------------------------------------------------- */

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory");
}

static enum status make_cells(struct asl_code_context *c, struct error *err)
{
    const struct asl_code *code = c->code;
    size_t slots = 0, pointers = 0;
    c->cell_first = ARENA_ARRAY(&c->cx.arena, uint32_t, code->cell_count);
    if (!c->cell_first)
        return no_memory(err);
    for (uint32_t i = 0; i < code->cell_count; i++) {
        const struct ir_cell *cell = &code->cells[i];
        c->cell_first[i] = (uint32_t)slots;
        slots += ir_cell_slots(cell);
        for (uint32_t k = 0; k < cell->n; k++)
            pointers += ir_cell_type(cell, k) >= IR_S;
    }
    TRY(memory_plan(slots * sizeof(union asl_slot) + pointers * sizeof(uint32_t), err,
                    "the variables of %u cells", code->cell_count));
    if (slots > c->cx.max_bytes / sizeof(union asl_slot))
        return error_msg(err, STATUS_MEMORY, "the variables take more than one point may use");
    c->cells = ARENA_ARRAY(&c->cx.arena, union asl_slot, slots);
    c->pointers = ARENA_ARRAY(&c->cx.arena, uint32_t, pointers);
    if (!c->cells || !c->pointers)
        return no_memory(err);
    for (uint32_t i = 0; i < code->cell_count; i++)
        for (uint32_t k = 0; k < code->cells[i].n; k++)
            if (ir_cell_type(&code->cells[i], k) >= IR_S)
                c->pointers[c->pointer_count++] =
                    (c->cell_first[i] + k) |
                    (ir_cell_type(&code->cells[i], k) == IR_S ? 1u << 31 : 0);
    for (uint32_t g = 0; g < GV_COUNT; g++) {
        struct asl_place *p = &c->cx.globals[g];
        p->v = c->cells + c->cell_first[code->global_cell[g]];
        p->d = code->cells[code->global_cell[g]].derivs ? p->n : 0;
    }
    return STATUS_OK;
}

static enum status make_layer(struct asl_code_context *c, uint32_t index, struct error *err)
{
    const struct ir_layer *from = &c->code->layers[index];
    struct flat_layer *l = &c->layers[index];
    c->names[index].name = from->name;
    c->names[index].mode = 1;
    l->run = (struct asl_run){
        .cx = &c->cx, .layer = &c->names[index], .shader = from->shader, .index = index, .mode = 1};
    l->reg = ARENA_ARRAY(&c->cx.arena, union asl_slot, from->value_count + 1);
    if (!l->reg)
        return no_memory(err);
    struct flattener f = {.c = c, .l = l};
    flatten(&f, &from->body);
    (void)put(&f, (struct flat){.op = FLAT_END});
    return f.failed ? no_memory(err) : STATUS_OK;
}

static enum status make_args(struct asl_code_context *c, struct error *err)
{
    c->args = ARENA_ARRAY(&c->cx.arena, union asl_slot, c->code->arg_count);
    if (!c->args)
        return no_memory(err);
    for (uint32_t i = 0; i < c->code->arg_count; i++)
        c->args[i] = c->code->args[i].value;
    return STATUS_OK;
}

enum status asl_code_context_new(const struct asl_code *code, const struct asl_context_options *opt,
                                 struct asl_code_context **out, struct error *err)
{
    static const struct asl_context_options none = {0};
    struct asl_code_context *c = calloc(1, sizeof *c);
    if (!c)
        return no_memory(err);
    c->code = code;
    enum status s = asl_context_open(&c->cx, opt ? opt : &none, err);
    c->cx.perturb = 0;
    c->cx.group_name = code->name;
    if (s == STATUS_OK) {
        c->layers = ARENA_ARRAY(&c->cx.arena, struct flat_layer, code->layer_count);
        c->names = ARENA_ARRAY(&c->cx.arena, struct asl_layer, code->layer_count);
        s = c->layers && c->names ? make_cells(c, err) : no_memory(err);
    }
    for (uint32_t i = 0; s == STATUS_OK && i < code->layer_count; i++)
        s = make_layer(c, i, err);
    if (s == STATUS_OK)
        s = make_args(c, err);
    if (s != STATUS_OK) {
        asl_code_context_free(c);
        return s;
    }
    *out = c;
    return STATUS_OK;
}

void asl_code_context_free(struct asl_code_context *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; c->layers && i < c->code->layer_count; i++)
        free(c->layers[i].code);
    asl_context_close(&c->cx);
    free(c);
}

union asl_slot *asl_code_context_args(struct asl_code_context *c) { return c->args; }

enum status asl_code_context_run(struct asl_code_context *c, const struct asl_globals *g,
                                 struct error *err)
{
    for (uint32_t i = 0; i < c->pointer_count; i++) {
        union asl_slot *v = &c->cells[c->pointers[i] & ~(1u << 31)];
        v->c = NULL;
        if (c->pointers[i] >> 31)
            v->s = "";
    }
    asl_context_start(&c->cx, g, err);
    for (uint32_t i = 0; i < c->code->layer_count; i++)
        c->layers[i].ran = false;
    if (setjmp(c->cx.fail))
        return c->cx.status;
    for (uint32_t i = 0; i < c->code->entry_count; i++)
        run_layer(c, c->code->entries[i]);
    return STATUS_OK;
}

uint64_t asl_code_context_steps(const struct asl_code_context *c)
{
    return c->cx.steps_total + c->cx.steps;
}

const union asl_slot *asl_code_context_value(const struct asl_code_context *c, const char *name,
                                             struct asl_type *type, bool *ran)
{
    const struct asl_code *code = c->code;
    const char *dot = strchr(name, '.');
    if (ran)
        *ran = true;
    for (uint32_t i = code->layer_count; i-- > 0;) { /* the last layer that has it */
        const struct ir_layer *l = &code->layers[i];
        const char *param = name;
        if (dot) {
            size_t n = (size_t)(dot - name);
            if (strncmp(l->name, name, n) != 0 || l->name[n] != 0)
                continue;
            param = dot + 1;
        }
        for (uint32_t p = 0; p < l->param_count; p++) {
            if (strcmp(l->params[p].name, param) != 0)
                continue;
            if (type)
                *type = l->params[p].type;
            if (ran)
                *ran = c->layers[i].ran;
            bool kept = code->cells[l->params[p].cell].observed;
            return c->layers[i].ran && kept ? c->cells + c->cell_first[l->params[p].cell] : NULL;
        }
    }
    int g = dot ? -1 : asl_global_find(name);
    if (g < 0)
        return NULL;
    if (type)
        *type = asl_global_type((enum asl_global)g);
    return c->cells + c->cell_first[code->global_cell[g]];
}

/* ---- the argument area ---------------------------------------------------------------------- */

size_t asl_code_args(const struct asl_code *c) { return c->arg_count; }

struct asl_code_arg asl_code_arg_at(const struct asl_code *c, size_t i)
{
    const struct ir_arg_slot *a = &c->args[i];
    const struct ir_layer *l = &c->layers[a->layer];
    return (struct asl_code_arg){.layer = l->name,
                                 .param = l->params[a->param].name,
                                 .type = l->params[a->param].type,
                                 .slot = a->slot,
                                 .is_set = a->is_set};
}

void asl_code_args_fill(const struct asl_code *c, const struct asl_group *g, union asl_slot *area)
{
    for (uint32_t i = 0; i < c->arg_count; i++) {
        const struct ir_arg_slot *a = &c->args[i];
        const union asl_slot *v = g->layers[a->layer]->values[a->param];
        const struct asl_param *p = &g->layers[a->layer]->shader->info.params[a->param];
        if (!v && p->constant)
            v = p->default_value;
        if (a->is_set)
            area[i].i = v != NULL;
        else if (a->slot >= asl_type_slots(p->type))
            area[i].f = 0;
        else
            area[i] = v ? v[a->slot] : a->value;
    }
}
