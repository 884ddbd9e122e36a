/* SPDX-License-Identifier: Apache-2.0 */
/* lower_expr.c: the value of every expression, as interp_expr.c finds it. */
#include "lower.h"

#include <string.h>

/* Larger values move as a block instead of slot by slot. */
enum { SCALAR_COPY = 16, STACK_LIMIT = 3 << 20 };

void lower_at(struct lower *l, struct asl_loc at)
{
    struct src_pos p = asl_pos(at);
    if (p.line)
        l->b.at = p;
}

static void check_stack(struct lower *l)
{
    const char *here = __builtin_frame_address(0);
    ptrdiff_t used = l->stack > here ? l->stack - here : here - l->stack;
    if (used > STACK_LIMIT || l->nest > IR_MAX_NEST)
        ir_fail(&l->b, STATUS_LIMIT, l->b.at, "calls or layers nest too deeply");
}

struct lrow lower_row(struct lower *l, uint32_t n, bool d)
{
    return (struct lrow){IR_ARRAY(&l->b, ir_value, (d ? 3 : 1) * (size_t)(n ? n : 1)), n, d};
}

static struct lrow row_of(struct lower *l, ir_value v)
{
    struct lrow r = lower_row(l, 1, false);
    r.v[0] = v;
    return r;
}

static void zero_derivs(struct lower *l, struct lrow *r)
{
    for (uint32_t i = 0; r->d && i < 2 * r->n; i++)
        r->v[r->n + i] = ir_const_f(&l->b, 0);
}

/* ---- blocks --------------------------------------------------------------------------------- */

struct ir_inst *lower_open(struct lower *l, enum ir_op op, ir_value condition)
{
    struct ir_inst *i = ir_inst_new(&l->b, op, op == IR_IF, 0, IR_I);
    if (op == IR_IF)
        i->operands[0] = condition;
    i->body = ir_block_new(&l->b, i);
    if (op != IR_BLOCK)
        i->other = ir_block_new(&l->b, i);
    ir_append(l->b.block, i);
    l->b.block = i->body;
    l->nest++;
    check_stack(l);
    return i;
}

void lower_other(struct lower *l, struct ir_inst *i) { l->b.block = i->other; }

void lower_close(struct lower *l, struct ir_inst *i)
{
    l->b.block = i->in;
    l->nest--;
}

void lower_break(struct lower *l, enum ir_op op, struct ir_inst *target)
{
    struct ir_inst *i = ir_inst_new(&l->b, op, 0, 0, IR_I);
    i->u.target = target;
    ir_append(l->b.block, i);
}

bool lower_ended(const struct lower *l)
{
    const struct ir_inst *last = l->b.block->last;
    return last && (last->op == IR_BREAK || last->op == IR_CONTINUE || last->op == IR_RETURN);
}

/* ---- memory --------------------------------------------------------------------------------- */

static struct ir_place place_at(struct lower *l, const struct lplace *p, uint32_t offset,
                                ir_value *operands, uint32_t first)
{
    struct ir_place r = {.cell = p->cell, .base = p->base + offset, .index_count = p->index_count};
    struct ir_index *x = IR_ARRAY(&l->b, struct ir_index, p->index_count);
    for (uint32_t i = 0; i < p->index_count; i++) {
        x[i] = (struct ir_index){first + i, p->index[i].stride, p->index[i].count};
        operands[first + i] = p->index[i].v;
    }
    r.index = x;
    return r;
}

static ir_value load_slot(struct lower *l, const struct lplace *p, uint32_t offset)
{
    enum ir_type t = ir_cell_type(&l->b.code->cells[p->cell], p->base + offset);
    struct ir_inst *i = ir_inst_new(&l->b, IR_LOAD, p->index_count, 1, t);
    i->u.mem.from = place_at(l, p, offset, i->operands, 0);
    ir_append(l->b.block, i);
    return i->result;
}

static void store_slot(struct lower *l, const struct lplace *p, uint32_t offset, ir_value v)
{
    struct ir_inst *i = ir_inst_new(&l->b, IR_STORE, p->index_count + 1, 0, IR_I);
    i->u.mem.to = place_at(l, p, offset, i->operands, 0);
    i->operands[p->index_count] = v;
    ir_append(l->b.block, i);
}

static void copy_slots(struct lower *l, const struct lplace *to, uint32_t to_offset,
                       const struct lplace *from, uint32_t from_offset, uint32_t n)
{
    if (n <= SCALAR_COPY) {
        for (uint32_t i = 0; i < n; i++)
            store_slot(l, to, to_offset + i, load_slot(l, from, from_offset + i));
        return;
    }
    struct ir_inst *i = ir_inst_new(&l->b, IR_COPY, to->index_count + from->index_count, 0, IR_I);
    i->u.mem.to = place_at(l, to, to_offset, i->operands, 0);
    i->u.mem.from = place_at(l, from, from_offset, i->operands, to->index_count);
    i->u.mem.count = n;
    ir_append(l->b.block, i);
}

static ir_value zero_of(struct lower *l, enum ir_type t)
{
    return t == IR_S ? ir_const_s(&l->b, "") : ir_const(&l->b, t, (union asl_slot){.c = NULL});
}

static void zero_slots(struct lower *l, const struct lplace *to, uint32_t offset, uint32_t n)
{
    if (n <= SCALAR_COPY) {
        for (uint32_t i = 0; i < n; i++) {
            enum ir_type t = ir_cell_type(&l->b.code->cells[to->cell], to->base + offset + i);
            store_slot(l, to, offset + i, zero_of(l, t));
        }
        return;
    }
    struct ir_inst *i = ir_inst_new(&l->b, IR_ZERO, to->index_count, 0, IR_I);
    i->u.mem.to = place_at(l, to, offset, i->operands, 0);
    i->u.mem.count = n;
    ir_append(l->b.block, i);
}

void lower_zero(struct lower *l, const struct lplace *to)
{
    for (uint32_t row = 0; row < (to->d ? 3u : 1u); row++)
        zero_slots(l, to, row * to->d, to->n);
}

void lower_copy(struct lower *l, const struct lplace *to, const struct lplace *from)
{
    uint32_t n = to->n < from->n ? to->n : from->n;
    for (uint32_t row = 0; row < (to->d ? 3u : 1u); row++) {
        if (row && !from->d)
            zero_slots(l, to, row * to->d, n);
        else
            copy_slots(l, to, row * to->d, from, row * from->d, n);
    }
}

struct lrow lower_load(struct lower *l, const struct lplace *p, bool derivs)
{
    struct lrow r = lower_row(l, p->n, derivs);
    for (uint32_t i = 0; i < p->n; i++)
        r.v[i] = load_slot(l, p, i);
    zero_derivs(l, &r);
    for (uint32_t i = 0; derivs && p->d && i < 2 * p->n; i++)
        r.v[p->n + i] = load_slot(l, p, (1 + i / p->n) * p->d + i % p->n);
    return r;
}

void lower_store(struct lower *l, const struct lplace *p, const struct lrow *v)
{
    for (uint32_t i = 0; i < p->n; i++)
        store_slot(l, p, i, v->v[i]);
    for (uint32_t i = 0; p->d && i < 2 * p->n; i++)
        store_slot(l, p, (1 + i / p->n) * p->d + i % p->n,
                   v->d ? v->v[(1 + i / p->n) * v->n + i % p->n] : ir_const_f(&l->b, 0));
}

struct lplace lower_temp(struct lower *l, struct asl_type t, bool derivs, const char *name)
{
    size_t slots = asl_type_slots(t);
    if (slots > (256u << 20) / sizeof(union asl_slot) / 3)
        ir_fail(&l->b, STATUS_MEMORY, l->b.at, "'%s' is too large", name);
    uint32_t n = (uint32_t)slots;
    struct ir_cell c = {.name = name,
                        .scope = IR_LOCAL,
                        .layer = l->index,
                        .n = n,
                        .derivs = derivs,
                        .asl = t,
                        .type = n ? ir_slot_type(t, 0) : IR_I};
    if (t.base == ASL_STRUCT && n) {
        uint8_t *types = IR_ARRAY(&l->b, uint8_t, n);
        bool mixed = false;
        for (uint32_t i = 0; i < n; i++) {
            types[i] = (uint8_t)ir_slot_type(t, i);
            mixed = mixed || types[i] != types[0];
        }
        c.types = mixed ? types : NULL;
    }
    return (struct lplace){.cell = ir_cell_new(&l->b, c), .n = n, .d = derivs ? n : 0, .type = t};
}

/* ---- places --------------------------------------------------------------------------------- */

static bool has_place(const struct asl_expr *e)
{
    while (e->kind == E_INDEX || e->kind == E_FIELD || e->kind == E_MELEM)
        e = e->a;
    return e->kind == E_SYMBOL;
}

/* Adds an index of `count` steps of `stride` slots; a constant inside needs no code. */
static void add_index(struct lower *l, struct lplace *p, const struct asl_expr *e, uint32_t stride,
                      uint32_t count, const struct asl_expr *whole)
{
    if (e->kind == E_INT && e->u.i >= 0 && (uint32_t)e->u.i < count) {
        p->base += (uint32_t)e->u.i * stride;
        return;
    }
    struct lrow v = lower_expr(l, e);
    lower_at(l, whole->at);
    const struct asl_expr *a = whole->a;
    struct ir_inst *i = ir_inst_new(&l->b, IR_INDEX, 1, 1, IR_I);
    i->operands[0] = v.v[0];
    i->u.index.limit = count;
    i->u.index.name = a->kind == E_SYMBOL  ? a->symbol->name
                      : a->kind == E_FIELD ? a->name
                                           : "value";
    ir_append(l->b.block, i);
    if (p->index_count == LOWER_MAX_INDEX)
        ir_fail(&l->b, STATUS_LIMIT, l->b.at, "more than %d indices one in another",
                LOWER_MAX_INDEX);
    p->index[p->index_count].v = i->result;
    p->index[p->index_count].stride = stride;
    p->index[p->index_count++].count = count;
}

struct lplace lower_any(struct lower *l, const struct asl_expr *e)
{
    if (has_place(e))
        return lower_place(l, e);
    bool d = lower_wants(l, e);
    if (!lower_is_aggregate(e->type)) {
        struct lrow v = lower_expr(l, e);
        struct lplace p = lower_temp(l, e->type, d, "");
        lower_store(l, &p, &v);
        return p;
    }
    struct lplace p = lower_temp(l, e->type, d, "");
    lower_into(l, &p, e);
    return p;
}

struct lplace lower_place(struct lower *l, const struct asl_expr *e)
{
    check_stack(l);
    if (e->kind == E_SYMBOL) {
        if (e->symbol->kind == SYM_PARAM)
            lower_bring(l, e->symbol);
        return l->bound[e->symbol->index];
    }
    struct lplace p = lower_any(l, e->a);
    if (e->kind == E_FIELD) {
        const struct asl_field *f = &e->a->type.st->fields[e->u.field];
        p.base += f->offset;
        p.type = f->type;
    } else if (e->kind == E_MELEM) {
        add_index(l, &p, e->b, 4, 4, e);
        add_index(l, &p, e->c, 1, 4, e);
        p.type = e->type;
    } else if (p.type.array) {
        struct asl_type one = asl_element_type(p.type);
        uint32_t n = (uint32_t)asl_type_slots(one);
        add_index(l, &p, e->b, n, n && p.n >= n ? p.n / n : 1, e);
        p.type = one;
    } else {
        add_index(l, &p, e->b, 1, 3, e);
        p.type = e->type;
    }
    p.n = (uint32_t)asl_type_slots(p.type);
    return p;
}

/* ---- structured values ---------------------------------------------------------------------- */

static void into_list(struct lower *l, const struct lplace *to, const struct asl_expr *e)
{
    uint32_t k = 0;
    struct lplace part = *to;
    for (size_t i = 0; i < e->arg_count; i++) {
        const struct asl_expr *a = e->args[i];
        part.base = to->base + k;
        part.type = a->type;
        part.n = a->slots;
        lower_into(l, &part, a);
        k += a->slots;
    }
    part.base = to->base + k;
    part.n = to->n - k;
    if (part.n)
        lower_zero(l, &part);
}

static struct lplace structured(struct lower *l, const struct asl_expr *e)
{
    switch (e->kind) {
    case E_ASSIGN: {
        struct lplace p = lower_place(l, e->a);
        const struct lplace *held = l->held;
        if (e->op != OP_NONE)
            l->held = &p;
        const struct asl_expr *value = e->op == OP_NONE ? e->b : e->c;
        struct lplace v = has_place(value) ? lower_place(l, value) : lower_any(l, value);
        l->held = held;
        lower_copy(l, &p, &v);
        return v;
    }
    case E_HELD:
        return *l->held;
    case E_COMMA:
        lower_effect(l, e->a);
        return lower_any(l, e->b);
    case E_CONVERT:
        return lower_any(l, e->a);
    default:
        ir_fail(&l->b, STATUS_INTERNAL, asl_pos(e->at),
                "an expression of kind %d has no structured value", e->kind);
    }
}

static void inline_call(struct lower *l, const struct asl_expr *e, const struct lplace *ret);

void lower_into(struct lower *l, const struct lplace *to, const struct asl_expr *e)
{
    if (!lower_is_aggregate(e->type)) {
        struct lrow v = lower_expr(l, e);
        lower_store(l, to, &v);
        return;
    }
    lower_at(l, e->at);
    if (has_place(e)) {
        struct lplace from = lower_place(l, e);
        lower_copy(l, to, &from);
    } else if (e->kind == E_LIST) {
        into_list(l, to, e);
    } else if (e->kind == E_CALL && e->function) {
        inline_call(l, e, to);
    } else if (e->kind == E_TERNARY) {
        struct lrow c = lower_expr(l, e->a);
        struct ir_inst *i = lower_open(l, IR_IF, lower_truth(l, e->a->type, &c));
        lower_into(l, to, e->b);
        lower_other(l, i);
        lower_into(l, to, e->c);
        lower_close(l, i);
    } else {
        struct lplace from = structured(l, e);
        lower_copy(l, to, &from);
    }
}

void lower_effect(struct lower *l, const struct asl_expr *e)
{
    if (!lower_is_aggregate(e->type))
        (void)lower_expr(l, e);
    else if (e->kind == E_ASSIGN)
        (void)structured(l, e);
    else
        (void)lower_any(l, e);
}

/* ---- conversions ---------------------------------------------------------------------------- */

static void convert_row(struct lower *l, struct asl_type to, const ir_value *in, uint32_t n,
                        ir_value *out, uint32_t m)
{
    for (uint32_t i = 0; i < m; i++)
        out[i] = n == m && n > 1                       ? in[i]
                 : to.base == ASL_MATRIX && i % 5 != 0 ? ir_const_f(&l->b, 0)
                                                       : in[0];
}

struct lrow lower_convert(struct lower *l, struct asl_type from, struct asl_type to,
                          const struct lrow *in, bool out_derivs)
{
    uint32_t m = (uint32_t)asl_type_slots(to);
    if (to.base == ASL_CLOSURE && from.base != ASL_CLOSURE)
        return row_of(l, ir_const_none(&l->b));
    if (to.base == ASL_INT && from.base == ASL_FLOAT)
        return row_of(l, ir_op1(&l->b, IR_F2I, in->v[0]));
    struct lrow r = lower_row(l, m, out_derivs);
    zero_derivs(l, &r);
    if (from.base == ASL_STRING || from.base == ASL_CLOSURE ||
        (from.base == ASL_INT && to.base == ASL_INT)) {
        r.v[0] = in->v[0];
    } else if (from.base == ASL_INT) {
        ir_value x = ir_op1(&l->b, IR_I2F, in->v[0]);
        convert_row(l, to, &x, 1, r.v, m);
    } else {
        for (uint32_t row = 0; row < (out_derivs && in->d ? 3u : 1u); row++)
            convert_row(l, to, in->v + (size_t)row * in->n, in->n, r.v + (size_t)row * m, m);
    }
    return r;
}

/* ---- operators ------------------------------------------------------------------------------ */

ir_value lower_truth(struct lower *l, struct asl_type t, const struct lrow *v)
{
    if (t.base == ASL_INT)
        return v->v[0];
    if (t.base == ASL_STRING)
        return ir_op1(&l->b, IR_SBOOL, v->v[0]);
    if (t.base == ASL_CLOSURE)
        return ir_op1(&l->b, IR_CBOOL, v->v[0]);
    ir_value zero = ir_const_f(&l->b, 0), any = ir_op2(&l->b, IR_FNE, v->v[0], zero);
    for (uint32_t i = 1; i < v->n; i++)
        any = ir_op2(&l->b, IR_IOR, any, ir_op2(&l->b, IR_FNE, v->v[i], zero));
    return any;
}

/* The truth as 0 or 1. */
static ir_value truth01(struct lower *l, struct asl_type t, const struct lrow *v)
{
    ir_value x = lower_truth(l, t, v);
    return t.base == ASL_INT ? ir_op2(&l->b, IR_INE, x, ir_const_i(&l->b, 0)) : x;
}

static const uint8_t int_ops[] = {
    [OP_ADD] = IR_IADD, [OP_SUB] = IR_ISUB,    [OP_MUL] = IR_IMUL, [OP_DIV] = IR_IDIV,
    [OP_MOD] = IR_IMOD, [OP_SHL] = IR_ISHL,    [OP_SHR] = IR_ISHR, [OP_LT] = IR_ILT,
    [OP_LE] = IR_ILE,   [OP_GT] = IR_IGT,      [OP_GE] = IR_IGE,   [OP_EQ] = IR_IEQ,
    [OP_NE] = IR_INE,   [OP_BITAND] = IR_IAND, [OP_XOR] = IR_IXOR, [OP_BITOR] = IR_IOR};
static const uint8_t float_ops[] = {[OP_LT] = IR_FLT, [OP_LE] = IR_FLE, [OP_GT] = IR_FGT,
                                    [OP_GE] = IR_FGE, [OP_EQ] = IR_FEQ, [OP_NE] = IR_FNE};

static ir_value negated(struct lower *l, ir_value truth)
{
    return ir_op2(&l->b, IR_IEQ, truth, ir_const_i(&l->b, 0));
}

static ir_value compare(struct lower *l, const struct asl_expr *e, const struct lrow *a,
                        const struct lrow *b)
{
    enum asl_op op = (enum asl_op)e->op;
    if (e->a->type.base == ASL_INT)
        return ir_op2(&l->b, (enum ir_op)int_ops[op], a->v[0], b->v[0]);
    if (e->a->type.base == ASL_STRING) {
        ir_value same = ir_op2(&l->b, IR_SEQ, a->v[0], b->v[0]);
        return op == OP_EQ ? same : negated(l, same);
    }
    if (a->n == 1)
        return ir_op2(&l->b, (enum ir_op)float_ops[op], a->v[0], b->v[0]);
    ir_value same = ir_op2(&l->b, IR_FEQ, a->v[0], b->v[0]);
    for (uint32_t i = 1; i < a->n; i++)
        same = ir_op2(&l->b, IR_IAND, same, ir_op2(&l->b, IR_FEQ, a->v[i], b->v[i]));
    return op == OP_EQ ? same : negated(l, same);
}

static void matrix_multiply(struct lower *l, const ir_value *a, const ir_value *b, ir_value *out)
{
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t j = 0; j < 4; j++) {
            ir_value s = ir_op2(&l->b, IR_FMUL, a[4 * i], b[j]);
            for (uint32_t k = 1; k < 4; k++)
                s = ir_op2(&l->b, IR_FADD, s, ir_op2(&l->b, IR_FMUL, a[4 * i + k], b[4 * k + j]));
            out[4 * i + j] = s;
        }
    }
}

static struct lrow matrix_op(struct lower *l, const struct asl_expr *e, const struct lrow *a,
                             const struct lrow *b)
{
    struct asl_type m = asl_type_of(ASL_MATRIX);
    bool number_a = e->a->type.base != ASL_MATRIX, number_b = e->b->type.base != ASL_MATRIX;
    struct lrow r = lower_row(l, 16, lower_wants(l, e)), y = *b;
    zero_derivs(l, &r);
    if (e->op == OP_DIV && !number_b)
        y = lower_support(l, IRC_INVERSE, m, false, b, &m, 1);
    if (number_a || number_b) {
        enum ir_op op = number_a || e->op == OP_MUL ? IR_FMUL : IR_FDIV;
        const ir_value *x = number_a ? y.v : a->v;
        for (uint32_t i = 0; i < 16; i++)
            r.v[i] = ir_op2(&l->b, op, x[i], number_a ? a->v[0] : b->v[0]);
    } else {
        matrix_multiply(l, a->v, y.v, r.v);
    }
    return r;
}

static struct lrow short_circuit(struct lower *l, const struct asl_expr *e)
{
    struct lplace t = lower_temp(l, asl_type_of(ASL_INT), false, "");
    struct lrow a = lower_expr(l, e->a);
    struct lrow first = row_of(l, truth01(l, e->a->type, &a));
    lower_store(l, &t, &first);
    struct ir_inst *i = lower_open(l, IR_IF, first.v[0]);
    if (e->op == OP_OR)
        lower_other(l, i);
    struct lrow b = lower_expr(l, e->b);
    struct lrow second = row_of(l, truth01(l, e->b->type, &b));
    lower_store(l, &t, &second);
    lower_close(l, i);
    return lower_load(l, &t, false);
}

static struct lrow closure_op(struct lower *l, const struct asl_expr *e, const struct lrow *a,
                              const struct lrow *b)
{
    if (e->op == OP_ADD)
        return row_of(l, ir_op2(&l->b, IR_CADD, a->v[0], b->v[0]));
    bool left = e->a->type.base == ASL_CLOSURE;
    const struct lrow *c = left ? a : b, *w = left ? b : a;
    struct ir_inst *i = ir_inst_new(&l->b, IR_CMUL, 4, 1, IR_C);
    i->operands[0] = c->v[0];
    memcpy(i->operands + 1, w->v, 3 * sizeof(ir_value));
    ir_append(l->b.block, i);
    return row_of(l, i->result);
}

static struct lrow binary(struct lower *l, const struct asl_expr *e)
{
    enum asl_op op = (enum asl_op)e->op;
    if (op == OP_AND || op == OP_OR)
        return short_circuit(l, e);
    struct lrow a = lower_expr(l, e->a), b = lower_expr(l, e->b);
    lower_at(l, e->at);
    if (op >= OP_LT && op <= OP_NE)
        return row_of(l, compare(l, e, &a, &b));
    if (e->type.base == ASL_INT)
        return row_of(l, ir_op2(&l->b, (enum ir_op)int_ops[op], a.v[0], b.v[0]));
    if (e->type.base == ASL_CLOSURE)
        return closure_op(l, e, &a, &b);
    if (e->type.base == ASL_MATRIX)
        return matrix_op(l, e, &a, &b);
    struct lower_math m = {l, lower_wants(l, e)};
    struct lrow r = lower_row(l, e->slots, m.d);
    for (uint32_t i = 0; i < e->slots; i++) {
        struct ldual x = ld_at(m, &a, i), y = ld_at(m, &b, i);
        ld_put(m, &r, i,
               op == OP_ADD   ? ld_add(m, x, y)
               : op == OP_SUB ? ld_sub(m, x, y)
               : op == OP_MUL ? ld_mul(m, x, y)
               : op == OP_DIV ? ld_div(m, x, y)
                              : ld_rem(m, x, y));
    }
    return r;
}

static struct lrow unary(struct lower *l, const struct asl_expr *e)
{
    struct lrow a = lower_expr(l, e->a);
    lower_at(l, e->at);
    if (e->op == OP_NOT)
        return row_of(l, negated(l, lower_truth(l, e->a->type, &a)));
    if (e->type.base == ASL_INT)
        return row_of(l, ir_op1(&l->b, e->op == OP_NEG ? IR_INEG : IR_ICOMPL, a.v[0]));
    struct lrow r = lower_row(l, e->slots, lower_wants(l, e));
    zero_derivs(l, &r);
    for (uint32_t i = 0; i < (r.d && a.d ? 3 : 1) * r.n; i++)
        r.v[i] = ir_op1(&l->b, IR_FNEG, a.v[i]);
    return r;
}

/* ---- assignments ---------------------------------------------------------------------------- */

/* The row as the expression's own: derivatives added as zeros, or dropped. */
static struct lrow as_wanted(struct lower *l, const struct asl_expr *e, const struct lrow *v)
{
    bool d = lower_wants(l, e);
    if (d == v->d)
        return *v;
    struct lrow r = lower_row(l, v->n, d);
    memcpy(r.v, v->v, v->n * sizeof(ir_value));
    zero_derivs(l, &r);
    return r;
}

static struct lrow assign(struct lower *l, const struct asl_expr *e)
{
    const struct asl_expr *value = e->op == OP_NONE ? e->b : e->c;
    struct lplace p = lower_place(l, e->a);
    const struct lplace *held = l->held;
    if (e->op != OP_NONE)
        l->held = &p;
    struct lrow v = lower_expr(l, value);
    l->held = held;
    lower_at(l, e->at);
    if (p.n > v.n) /* arrays of other lengths */
        p.n = v.n;
    lower_store(l, &p, &v);
    return as_wanted(l, e, &v);
}

static struct lrow incdec(struct lower *l, const struct asl_expr *e)
{
    struct lplace p = lower_place(l, e->a);
    lower_at(l, e->at);
    struct lrow before = lower_load(l, &p, lower_wants(l, e));
    bool whole = e->type.base == ASL_INT;
    for (uint32_t i = 0; i < p.n; i++) {
        ir_value one = whole ? ir_const_i(&l->b, e->u.value) : ir_const_f(&l->b, (float)e->u.value);
        store_slot(l, &p, i, ir_op2(&l->b, whole ? IR_IADD : IR_FADD, before.v[i], one));
    }
    return e->prefix ? lower_load(l, &p, lower_wants(l, e)) : before;
}

/* ---- calls ---------------------------------------------------------------------------------- */

struct passed { /* an argument; `back` is where a copy returns to */
    struct lplace given, back;
    bool copied_back;
};

static struct passed pass(struct lower *l, const struct asl_formal *a, const struct asl_expr *arg)
{
    bool derivs = (a->symbol->derivs & l->layer->mode) != 0;
    struct lplace p = (a->output && has_place(arg)) || asl_passed_itself(arg) ? lower_place(l, arg)
                                                                              : lower_any(l, arg);
    struct passed r = {.given = p, .back = p};
    bool reference = asl_passed_itself(arg) && !(derivs && !p.d);
    if (!reference && has_place(arg)) {
        r.given = lower_temp(l, p.type, derivs, a->name);
        r.given.n = p.n;
        lower_copy(l, &r.given, &p);
        r.copied_back = asl_shows_changes(a, arg);
    }
    if (a->type.array >= 0 && a->type.base != ASL_UNKNOWN)
        r.given.type = a->type;
    return r;
}

/* Takes a block apart that nothing breaks out of, or only at its very end. */
static void splice(struct ir_inst *block)
{
    struct ir_block *body = block->body;
    for (struct ir_inst *i = body->first, *next; i; i = next) {
        next = i->next;
        ir_insert_before(block, i);
    }
    ir_remove(block);
}

static bool breaks_to(const struct ir_block *b, const struct ir_inst *target)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next)
        if ((i->op == IR_BREAK && i->u.target == target) || breaks_to(i->body, target) ||
            breaks_to(i->other, target))
            return true;
    return false;
}

static void inline_call(struct lower *l, const struct asl_expr *e, const struct lplace *ret)
{
    const struct asl_function *f = e->function;
    check_stack(l);
    struct passed *given = IR_ARRAY(&l->b, struct passed, e->arg_count + 1);
    size_t i = 0;
    for (const struct asl_formal *a = f->formals; a; a = a->next, i++)
        given[i] = pass(l, a, e->args[i]);
    i = 0;
    for (const struct asl_formal *a = f->formals; a; a = a->next, i++)
        l->bound[a->symbol->index] = given[i].given;
    if (ret)
        lower_zero(l, ret);
    const struct lplace *old = l->ret;
    struct ir_inst *function = l->function, *loop = l->loop;
    struct ir_inst *block = lower_open(l, IR_BLOCK, 0);
    l->ret = ret;
    l->function = block;
    lower_body(l, f);
    l->ret = old;
    l->function = function;
    l->loop = loop;
    lower_close(l, block);
    struct ir_inst *last = block->body->last;
    if (last && last->op == IR_BREAK && last->u.target == block)
        ir_remove(last);
    if (!breaks_to(block->body, block) &&
        !(block->body->last && block->body->last->op == IR_RETURN))
        splice(block);
    lower_at(l, e->at);
    i = 0;
    for (const struct asl_formal *a = f->formals; a; a = a->next, i++)
        if (given[i].copied_back)
            lower_copy(l, &given[i].back, &given[i].given);
}

static struct lrow call(struct lower *l, const struct asl_expr *e)
{
    if (!asl_type_slots(e->function->type)) {
        inline_call(l, e, NULL);
        return lower_row(l, 0, false);
    }
    struct lplace ret = lower_temp(l, e->function->type, lower_wants(l, e), e->function->name);
    inline_call(l, e, &ret);
    return lower_load(l, &ret, lower_wants(l, e));
}

/* ---- constructors --------------------------------------------------------------------------- */

static struct lrow list(struct lower *l, const struct asl_expr *e)
{
    struct lrow r = lower_row(l, e->slots, lower_wants(l, e));
    for (uint32_t i = 0; i < e->slots; i++)
        r.v[i] = zero_of(l, ir_slot_type(e->type, i));
    zero_derivs(l, &r);
    uint32_t k = 0;
    for (size_t i = 0; i < e->arg_count; i++) {
        const struct asl_expr *a = e->args[i];
        struct lrow v = lower_expr(l, a);
        for (uint32_t s = 0; s < v.n; s++, k++)
            for (uint32_t row = 0; row < (r.d && v.d ? 3u : 1u); row++)
                r.v[row * r.n + k] = v.v[row * v.n + s];
    }
    return r;
}

static struct lrow construct(struct lower *l, const struct asl_expr *e)
{
    struct lower_math m = {l, lower_wants(l, e)};
    bool space = e->args[0]->type.base == ASL_STRING;
    struct asl_type types[2] = {asl_type_of(ASL_STRING), e->type};
    struct lrow args[2];
    if (space)
        args[0] = lower_expr(l, e->args[0]);
    if (space && e->type.base == ASL_MATRIX && e->arg_count == 2 &&
        e->args[1]->type.base == ASL_STRING) {
        args[1] = lower_expr(l, e->args[1]);
        types[1] = types[0];
        lower_at(l, e->at);
        return lower_support(l, IRC_CONSTRUCT2, e->type, m.d, args, types, 2);
    }
    size_t first = space;
    bool one = e->arg_count - first == 1;
    struct lrow r = lower_row(l, e->slots, m.d);
    for (uint32_t i = 0; i < (one ? 1 : e->slots); i++) {
        struct lrow v = lower_expr(l, e->args[first + i]);
        struct ldual x = ld_at(m, &v, 0);
        for (uint32_t k = one ? 0 : i; k < (one ? e->slots : i + 1); k++)
            ld_put(m, &r, k, one && e->type.base == ASL_MATRIX && k % 5 != 0 ? ld_const(m, 0) : x);
    }
    if (!space)
        return r;
    args[1] = r;
    lower_at(l, e->at);
    return lower_support(l, IRC_CONSTRUCT, e->type, m.d, args, types, 2);
}

static struct lrow ternary(struct lower *l, const struct asl_expr *e)
{
    struct lplace t = lower_temp(l, e->type, lower_wants(l, e), "");
    struct lrow c = lower_expr(l, e->a);
    struct ir_inst *i = lower_open(l, IR_IF, lower_truth(l, e->a->type, &c));
    lower_into(l, &t, e->b);
    lower_other(l, i);
    lower_into(l, &t, e->c);
    lower_close(l, i);
    return e->slots ? lower_load(l, &t, lower_wants(l, e)) : lower_row(l, 0, false);
}

/* ---- all ------------------------------------------------------------------------------------ */

static struct lrow expr_value(struct lower *l, const struct asl_expr *e)
{
    switch (e->kind) {
    case E_INT:
        return row_of(l, ir_const_i(&l->b, e->u.i));
    case E_FLOAT: {
        struct lrow r = row_of(l, ir_const_f(&l->b, e->u.f));
        return as_wanted(l, e, &r);
    }
    case E_STRING:
        return row_of(l, ir_const_s(&l->b, e->u.s));
    case E_SYMBOL:
    case E_INDEX:
    case E_FIELD:
    case E_MELEM: {
        struct lplace p = lower_place(l, e);
        lower_at(l, e->at);
        return lower_load(l, &p, lower_wants(l, e));
    }
    case E_HELD:
        return lower_load(l, l->held, lower_wants(l, e));
    case E_UNARY:
        return unary(l, e);
    case E_BINARY:
        return binary(l, e);
    case E_TERNARY:
        return ternary(l, e);
    case E_ASSIGN:
        return assign(l, e);
    case E_INCDEC:
        return incdec(l, e);
    case E_CALL:
        return e->function ? call(l, e) : lower_builtin(l, e);
    case E_CONSTRUCT:
        return construct(l, e);
    case E_LIST:
        return list(l, e);
    case E_CONVERT: {
        struct lrow a = lower_expr(l, e->a);
        lower_at(l, e->at);
        return lower_convert(l, e->a->type, e->type, &a, lower_wants(l, e));
    }
    case E_COMMA:
        lower_effect(l, e->a);
        return lower_expr(l, e->b);
    default:
        ir_fail(&l->b, STATUS_INTERNAL, asl_pos(e->at),
                "an expression of kind %d cannot be lowered", e->kind);
    }
}

/* For the witness: what the values of e are made by. */
static const char *rule_of(const struct asl_expr *e)
{
    static const char *const names[] = {
        [E_INT] = "literal",     [E_FLOAT] = "literal",       [E_STRING] = "literal",
        [E_SYMBOL] = "variable", [E_INDEX] = "variable",      [E_MELEM] = "variable",
        [E_FIELD] = "variable",  [E_UNARY] = "unary",         [E_BINARY] = "binary",
        [E_TERNARY] = "choice",  [E_ASSIGN] = "assignment",   [E_INCDEC] = "assignment",
        [E_CALL] = "call",       [E_CONSTRUCT] = "construct", [E_CONVERT] = "convert",
        [E_LIST] = "construct",  [E_COMMA] = "sequence",      [E_HELD] = "held"};
    const char *n = e->kind < sizeof names / sizeof *names ? names[e->kind] : NULL;
    return e->kind == E_CALL && !e->function ? "builtin" : n ? n : "statement";
}

struct lrow lower_expr(struct lower *l, const struct asl_expr *e)
{
    const char *rule = l->b.rule, *detail = l->b.detail;
    check_stack(l);
    lower_at(l, e->at);
    l->b.rule = rule_of(e);
    l->b.detail = e->kind == E_CALL                           ? e->name
                  : e->kind == E_SYMBOL                       ? e->symbol->name
                  : e->kind == E_BINARY || e->kind == E_UNARY ? asl_op_text((enum asl_op)e->op)
                                                              : NULL;
    struct lrow r = expr_value(l, e);
    l->b.rule = rule;
    l->b.detail = detail;
    return r;
}
