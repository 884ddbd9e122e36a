/* SPDX-License-Identifier: Apache-2.0 */
/* lower_call.c: calls of builtins. Those that basic operations define are expanded, in the order in
 * which bi_*.c computes them; the rest become calls. */
#include "lower.h"

#include <string.h>

#define V(op, x, y)  ir_op2(&l->b, IR_##op, x, y)
#define SEL(c, x, y) ir_op3(&l->b, IR_SELECT, c, x, y)
#define FLOAT(x)     ir_const_f(&l->b, x)
#define INT(x)       ir_const_i(&l->b, x)

struct argument {
    struct lrow row;
    struct lplace place;
    bool is_place, written;
    struct asl_type type;
};

struct builtin { /* one call being lowered */
    struct lower *l;
    const struct asl_expr *e;
    struct argument *args;
    struct lower_math m; /* with derivatives when the result wants them */
};

/* ---- the call itself ------------------------------------------------------------------------ */

static uint32_t callee_slots(const struct ir_call *c) { return (uint32_t)asl_type_slots(c->type); }

static struct lrow emit_call(struct lower *l, struct ir_call *c, const struct argument *args)
{
    uint32_t operands = 0;
    for (uint32_t i = 0; i < c->arg_count; i++)
        operands +=
            args[i].is_place ? args[i].place.index_count : args[i].row.n * (args[i].row.d ? 3 : 1);
    uint32_t n = callee_slots(c), results = n * (c->derivs ? 3 : 1);
    enum ir_type t = n ? ir_slot_type(c->type, 0) : IR_I;
    struct ir_inst *i = ir_inst_new(&l->b, IR_CALL, operands, results, t);
    c->args = IR_ARRAY(&l->b, struct ir_arg, c->arg_count);
    uint32_t k = 0;
    for (uint32_t a = 0; a < c->arg_count; a++) {
        const struct argument *x = &args[a];
        struct ir_arg *to = &c->args[a];
        *to = (struct ir_arg){.type = x->type, .is_place = x->is_place, .written = x->written};
        if (x->is_place) {
            const struct lplace *p = &x->place;
            struct ir_index *index = IR_ARRAY(&l->b, struct ir_index, p->index_count);
            for (uint32_t j = 0; j < p->index_count; j++) {
                index[j] = (struct ir_index){k, p->index[j].stride, p->index[j].count};
                i->operands[k++] = p->index[j].v;
            }
            to->n = p->n;
            to->derivs = p->d != 0;
            to->row = p->d;
            to->at = (struct ir_place){p->cell, p->base, p->index_count, index};
        } else {
            uint32_t count = x->row.n * (x->row.d ? 3 : 1);
            to->n = x->row.n;
            to->derivs = x->row.d;
            to->first = k;
            if (count)
                memcpy(i->operands + k, x->row.v, count * sizeof(ir_value));
            k += count;
        }
    }
    i->u.call = c;
    ir_append(l->b.block, i);
    struct lrow r = lower_row(l, n, c->derivs);
    for (uint32_t s = 0; s < results; s++)
        r.v[s] = i->result + s;
    return r;
}

static struct argument row_argument(struct asl_type t, struct lrow v)
{
    return (struct argument){.row = v, .type = t};
}

struct lrow lower_support(struct lower *l, uint32_t callee, struct asl_type type, bool derivs,
                          const struct lrow *args, const struct asl_type *types, uint32_t count)
{
    static const char *const names[] = {
#define IR_CALL(id, name, sigs, meaning) name,
#include "ir/ir_calls.def"
#undef IR_CALL
    };
    struct argument a[4];
    for (uint32_t i = 0; i < count; i++)
        a[i] = row_argument(types[i], args[i]);
    struct ir_call *c = ir_alloc(&l->b, 1, sizeof *c);
    *c = (struct ir_call){.callee = callee,
                          .name = names[callee - IR_CALL_FIRST],
                          .type = type,
                          .derivs = derivs,
                          .fixed = count,
                          .arg_count = count};
    return emit_call(l, c, a);
}

/* A builtin by its id, of values. */
static struct lrow call_builtin(struct lower *l, enum asl_builtin_id id, struct asl_type type,
                                bool derivs, struct argument *args, uint32_t count)
{
    const struct asl_builtin *b = asl_builtin_at(id);
    struct ir_call *c = ir_alloc(&l->b, 1, sizeof *c);
    *c = (struct ir_call){.callee = id,
                          .name = b->name,
                          .type = type,
                          .derivs = derivs,
                          .fixed = count,
                          .arg_count = count};
    for (size_t i = 0; i < b->overload_count; i++) {
        bool same = b->overloads[i].count == count && asl_same_type(b->overloads[i].ret, type);
        for (uint32_t k = 0; same && k < count; k++)
            same = asl_same_type(b->overloads[i].args[k], args[k].type);
        if (same)
            c->overload = &b->overloads[i];
    }
    return emit_call(l, c, args);
}

/* A builtin by its id, for one float: sin of sincos. */
static struct ldual call_float(struct lower_math m, enum asl_builtin_id id, struct ldual x)
{
    const struct asl_type number = asl_type_of(ASL_FLOAT);
    struct lrow in = lower_row(m.l, 1, m.d);
    ld_put(m, &in, 0, x);
    struct argument a = row_argument(number, in);
    struct lrow r = call_builtin(m.l, id, number, m.d, &a, 1);
    return ld_at(m, &r, 0);
}

static struct lrow whole_call(struct builtin *k)
{
    const struct asl_expr *e = k->e;
    struct ir_call *c = ir_alloc(&k->l->b, 1, sizeof *c);
    *c = (struct ir_call){.callee = e->builtin->id,
                          .name = e->builtin->name,
                          .overload = e->overload,
                          .type = e->type,
                          .derivs = lower_wants(k->l, e),
                          .fixed = e->overload->count,
                          .arg_count = (uint32_t)e->arg_count};
    return emit_call(k->l, c, k->args);
}

/* ---- what the group knows ------------------------------------------------------------------- */

static long param_of(const struct lower *l, const struct asl_symbol *s)
{
    long i = 0;
    for (const struct asl_formal *a = l->layer->shader->fn->formals; a; a = a->next, i++)
        if (a->symbol == s)
            return i;
    return -1;
}

static bool is_constant(const struct lower *l, const struct asl_expr *e)
{
    while (e->kind == E_CONVERT || e->kind == E_UNARY)
        e = e->a;
    if (e->kind == E_BINARY)
        return is_constant(l, e->a) && is_constant(l, e->b);
    if (e->kind == E_INT || e->kind == E_FLOAT || e->kind == E_STRING)
        return true;
    if (e->kind == E_CONSTRUCT || e->kind == E_LIST) {
        for (size_t i = 0; i < e->arg_count; i++)
            if (!is_constant(l, e->args[i]))
                return false;
        return true;
    }
    if (e->kind != E_SYMBOL || e->symbol->kind != SYM_PARAM || e->symbol->output ||
        e->symbol->written)
        return false;
    long i = param_of(l, e->symbol);
    return i >= 0 && !l->layer->connected[i] && l->layer->lockgeom[i] &&
           (l->layer->values[i] || l->layer->shader->info.params[i].constant);
}

/* A parameter handed to a function is itself there: the same cell. */
static int32_t connections(const struct lower *l, const struct asl_symbol *s)
{
    size_t i = 0;
    for (const struct asl_formal *a = l->layer->shader->fn->formals; a; a = a->next, i++)
        if (l->bound[a->symbol->index].cell == l->bound[s->index].cell)
            return asl_layer_isconnected(l->group, l->layer, i);
    return 0;
}

static ir_value state(struct lower *l, enum ir_state s)
{
    struct ir_inst *i = ir_inst_new(&l->b, IR_STATE, 0, 1, ir_state_type(s));
    i->u.number = s;
    ir_append(l->b.block, i);
    return i->result;
}

static ir_value ray_is(struct lower *l, uint32_t bit)
{
    ir_value rays = V(IAND, state(l, IR_RAYTYPE), INT((int32_t)bit));
    return V(INE, rays, INT(0));
}

/* ---- numbers, component by component -------------------------------------------------------- */

static struct ldual d_min(struct lower_math m, struct ldual a, struct ldual b)
{
    return ld_select(m, ir_op2(&m.l->b, IR_FLT, b.v, a.v), b, a);
}
static struct ldual d_max(struct lower_math m, struct ldual a, struct ldual b)
{
    return ld_select(m, ir_op2(&m.l->b, IR_FLT, a.v, b.v), b, a);
}
static struct ldual d_clamp(struct lower_math m, struct ldual x, struct ldual lo, struct ldual hi)
{
    return d_max(m, d_min(m, x, hi), lo);
}
static struct ldual d_step(struct lower_math m, struct ldual edge, struct ldual x)
{
    return ld_select(m, ir_op2(&m.l->b, IR_FLT, x.v, edge.v), ld_const(m, 0), ld_const(m, 1));
}

static struct ldual linearstep(struct lower_math m, struct ldual lo, struct ldual hi,
                               struct ldual x)
{
    struct ldual r = ld_div(m, ld_sub(m, d_clamp(m, x, lo, hi), lo), ld_sub(m, hi, lo));
    return ld_select(m, ir_op2(&m.l->b, IR_FEQ, lo.v, hi.v), d_step(m, lo, x), r);
}

static struct ldual smoothstep(struct lower_math m, struct ldual lo, struct ldual hi,
                               struct ldual x)
{
    struct ldual t = ld_div(m, ld_sub(m, x, lo), ld_sub(m, hi, lo));
    struct ldual r =
        ld_mul(m, ld_mul(m, t, t), ld_sub(m, ld_const(m, 3), ld_mul(m, ld_const(m, 2), t)));
    r = ld_select(m, ir_op2(&m.l->b, IR_FGE, x.v, hi.v), ld_const(m, 1), r);
    return ld_select(m, ir_op2(&m.l->b, IR_FLT, x.v, lo.v), ld_const(m, 0), r);
}

static struct ldual ramp(struct lower_math m, struct ldual q, struct ldual r)
{
    return ld_mul(m, ld_mul(m, ld_div(m, ld_const(m, 0.5f), r), q), q);
}

static struct ldual smooth_linearstep(struct lower_math m, const struct ldual *a)
{
    struct lower *l = m.l;
    struct ldual lo = a[0], hi = a[1], x = a[2], one = ld_const(m, 1);
    struct ldual w = ld_div(m, one, ld_sub(m, hi, lo));
    struct ldual e = ld_mul(m, a[3], w), y = ld_mul(m, ld_sub(m, x, lo), w),
                 twice = ld_mul(m, ld_const(m, 2), e);
    struct ldual r = ld_sub(m, one, ramp(m, ld_sub(m, ld_add(m, one, e), y), twice));
    r = ld_select(m, V(FLT, y.v, e.v), ramp(m, ld_add(m, y, e), twice), r);
    r = ld_select(m, V(FGE, y.v, V(FADD, FLOAT(1), e.v)), one, r);
    ir_value middle = V(IAND, V(FGE, y.v, e.v), V(FLE, y.v, V(FSUB, FLOAT(1), e.v)));
    r = ld_select(m, middle, y, r);
    r = ld_select(m, V(FLE, y.v, ir_op1(&l->b, IR_FNEG, e.v)), ld_const(m, 0), r);
    return ld_select(m, V(FEQ, lo.v, hi.v), d_step(m, lo, x), r);
}

static struct ldual modulo(struct lower_math m, struct ldual a, struct ldual b)
{
    struct lower *l = m.l;
    struct ldual r = a;
    ir_value q = ir_op1(&l->b, IR_FFLOOR, V(FDIV, a.v, b.v));
    r.v = V(FSUB, a.v, V(FMUL, b.v, q));
    return r;
}

/* A function whose slope is a number: the derivative is slope * dx. */
static struct ldual with_slope(struct lower_math m, ir_value v, ir_value slope, struct ldual x)
{
    struct ldual r = {.v = v};
    if (m.d) {
        r.dx = ir_op2(&m.l->b, IR_FMUL, slope, x.dx);
        r.dy = ir_op2(&m.l->b, IR_FMUL, slope, x.dy);
    }
    return r;
}

static struct ldual absolute(struct lower_math m, struct ldual x)
{
    struct lower *l = m.l;
    ir_value slope = SEL(V(FGE, x.v, FLOAT(0)), FLOAT(1), FLOAT(-1));
    return with_slope(m, ir_op1(&l->b, IR_FABS, x.v), slope, x);
}

static struct ldual sign(struct lower_math m, struct ldual x)
{
    struct lower *l = m.l;
    ir_value v = SEL(V(FLT, x.v, FLOAT(0)), FLOAT(-1), FLOAT(0));
    v = SEL(V(FGT, x.v, FLOAT(0)), FLOAT(1), v);
    return with_slope(m, v, FLOAT(0), x);
}

static bool is_expanded(enum asl_builtin_id id)
{
    switch (id) {
    case BI_RADIANS:
    case BI_DEGREES:
    case BI_MIN:
    case BI_MAX:
    case BI_CLAMP:
    case BI_MIX:
    case BI_SELECT:
    case BI_STEP:
    case BI_LINEARSTEP:
    case BI_SMOOTHSTEP:
    case BI_SMOOTH_LINEARSTEP:
    case BI_ABS:
    case BI_FABS:
    case BI_SIGN:
    case BI_FLOOR:
    case BI_CEIL:
    case BI_ROUND:
    case BI_TRUNC:
    case BI_FMOD:
    case BI_MOD:
    case BI_SQRT:
        return true;
    default:
        return false;
    }
}

static struct ldual component(struct builtin *k, struct ldual *a)
{
    struct lower_math m = k->m;
    struct lower *l = k->l;
    ir_value zero = FLOAT(0);
    switch (k->e->builtin->id) {
    case BI_RADIANS:
        return ld_mul(m, a[0], ld_const(m, 0.017453292519943295f));
    case BI_DEGREES:
        return ld_mul(m, a[0], ld_const(m, 57.29577951308232f));
    case BI_MIN:
        return d_min(m, a[0], a[1]);
    case BI_MAX:
        return d_max(m, a[0], a[1]);
    case BI_CLAMP:
        return d_clamp(m, a[0], a[1], a[2]);
    case BI_MIX:
        return ld_add(m, ld_mul(m, a[0], ld_sub(m, ld_const(m, 1), a[2])), ld_mul(m, a[1], a[2]));
    case BI_SELECT:
        return ld_select(m, V(FNE, a[2].v, zero), a[1], a[0]);
    case BI_STEP:
        return d_step(m, a[0], a[1]);
    case BI_LINEARSTEP:
        return linearstep(m, a[0], a[1], a[2]);
    case BI_SMOOTHSTEP:
        return smoothstep(m, a[0], a[1], a[2]);
    case BI_SMOOTH_LINEARSTEP:
        return smooth_linearstep(m, a);
    case BI_ABS:
    case BI_FABS:
        return absolute(m, a[0]);
    case BI_SIGN:
        return sign(m, a[0]);
    case BI_FLOOR:
        return with_slope(m, ir_op1(&l->b, IR_FFLOOR, a[0].v), zero, a[0]);
    case BI_CEIL:
        return with_slope(m, ir_op1(&l->b, IR_FCEIL, a[0].v), zero, a[0]);
    case BI_ROUND:
        return with_slope(m, ir_op1(&l->b, IR_FROUND, a[0].v), zero, a[0]);
    case BI_TRUNC:
        return with_slope(m, ir_op1(&l->b, IR_FTRUNC, a[0].v), zero, a[0]);
    case BI_FMOD:
        return ld_rem(m, a[0], a[1]);
    case BI_MOD:
        return modulo(m, a[0], a[1]);
    default: /* BI_SQRT */
        return ld_sqrt(m, a[0]);
    }
}

static struct lrow components(struct builtin *k)
{
    struct lower *l = k->l;
    struct lrow r = lower_row(l, k->e->slots, k->m.d);
    for (uint32_t i = 0; i < r.n; i++) {
        struct ldual a[4] = {{0}};
        for (size_t n = 0; n < k->e->arg_count && n < 4; n++) {
            if (k->args[n].type.base == ASL_INT) { /* select's condition */
                ir_value c = V(INE, k->args[n].row.v[0], INT(0));
                a[n] = ld_const(k->m, 0);
                a[n].v = ir_op1(&l->b, IR_I2F, c);
            } else {
                a[n] = ld_at(k->m, &k->args[n].row, i);
            }
        }
        ld_put(k->m, &r, i, component(k, a));
    }
    return r;
}

static ir_value integer(struct builtin *k)
{
    struct lower *l = k->l;
    ir_value a = k->args[0].row.v[0], b = k->e->arg_count > 1 ? k->args[1].row.v[0] : a;
    switch (k->e->builtin->id) {
    case BI_ABS:
    case BI_FABS:
        return SEL(V(ILT, a, INT(0)), ir_op1(&l->b, IR_INEG, a), a);
    case BI_MOD: {
        ir_value m = V(IMOD, a, b), differ = V(INE, V(ILT, m, INT(0)), V(ILT, b, INT(0)));
        ir_value turn = V(IAND, V(INE, m, INT(0)), differ);
        return SEL(V(IEQ, b, INT(0)), a, SEL(turn, V(IADD, m, b), m));
    }
    case BI_MIN:
        return SEL(V(ILT, b, a), b, a);
    case BI_MAX:
        return SEL(V(ILT, a, b), b, a);
    default: { /* BI_CLAMP */
        ir_value hi = k->args[2].row.v[0], m = SEL(V(ILT, hi, a), hi, a);
        return SEL(V(ILT, m, b), b, m);
    }
    }
}

/* ---- geometry ------------------------------------------------------------------------------- */

static struct ldual3 triple(struct lower_math m, const struct lrow *r)
{
    return (struct ldual3){{ld_at(m, r, 0), ld_at(m, r, 1), ld_at(m, r, 2)}};
}

static struct lrow triple_row(struct lower_math m, struct ldual3 a)
{
    struct lrow r = lower_row(m.l, 3, m.d);
    for (uint32_t i = 0; i < 3; i++)
        ld_put(m, &r, i, a.c[i]);
    return r;
}

static struct lrow float_row(struct lower_math m, struct ldual a)
{
    struct lrow r = lower_row(m.l, 1, m.d);
    ld_put(m, &r, 0, a);
    return r;
}

static struct ldual dot(struct lower_math m, struct ldual3 a, struct ldual3 b)
{
    struct ldual s = ld_add(m, ld_mul(m, a.c[0], b.c[0]), ld_mul(m, a.c[1], b.c[1]));
    return ld_add(m, s, ld_mul(m, a.c[2], b.c[2]));
}

static struct ldual3 cross(struct lower_math m, struct ldual3 a, struct ldual3 b)
{
    struct ldual3 r;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r.c[i] = ld_sub(m, ld_mul(m, a.c[j], b.c[k]), ld_mul(m, a.c[k], b.c[j]));
    }
    return r;
}

typedef struct ldual dual_op(struct lower_math m, struct ldual a, struct ldual b);

static struct ldual3 each(struct lower_math m, dual_op *op, struct ldual3 a, struct ldual3 b)
{
    return (struct ldual3){{op(m, a.c[0], b.c[0]), op(m, a.c[1], b.c[1]), op(m, a.c[2], b.c[2])}};
}

static struct ldual3 scale(struct lower_math m, struct ldual3 a, struct ldual s)
{
    return each(m, ld_mul, a, (struct ldual3){{s, s, s}});
}

static struct ldual length(struct lower_math m, struct ldual3 a)
{
    return ld_sqrt(m, dot(m, a, a));
}

static struct ldual3 negate(struct lower_math m, struct ldual3 a)
{
    return (struct ldual3){{ld_neg(m, a.c[0]), ld_neg(m, a.c[1]), ld_neg(m, a.c[2])}};
}

static struct ldual3 select3(struct lower_math m, ir_value c, struct ldual3 a, struct ldual3 b)
{
    struct ldual3 r;
    for (int i = 0; i < 3; i++)
        r.c[i] = ld_select(m, c, a.c[i], b.c[i]);
    return r;
}

static struct ldual3 normalize(struct lower_math m, struct ldual3 a)
{
    struct ldual n = length(m, a);
    return each(m, ld_div, a, (struct ldual3){{n, n, n}});
}

static struct ldual3 reflect(struct lower_math m, struct ldual3 i, struct ldual3 n)
{
    struct ldual s = ld_mul(m, ld_const(m, 2), dot(m, n, i));
    return each(m, ld_sub, i, scale(m, n, s));
}

static struct ldual3 refract(struct lower_math m, struct ldual3 i, struct ldual3 n,
                             struct ldual eta)
{
    struct lower *l = m.l;
    struct ldual c = dot(m, i, n), one = ld_const(m, 1);
    struct ldual k =
        ld_sub(m, one, ld_mul(m, ld_mul(m, eta, eta), ld_sub(m, one, ld_mul(m, c, c))));
    struct ldual s = ld_add(m, ld_mul(m, eta, c), ld_sqrt(m, k));
    struct ldual3 r = each(m, ld_sub, scale(m, i, eta), scale(m, n, s));
    struct ldual zero = ld_const(m, 0);
    return select3(m, V(FLT, k.v, FLOAT(0)), (struct ldual3){{zero, zero, zero}}, r);
}

static struct ldual3 faceforward(struct builtin *k, struct ldual3 n, struct ldual3 i)
{
    struct lower *l = k->l;
    struct lower_math plain = {l, false};
    struct lrow ref;
    if (k->e->arg_count == 3) {
        ref = k->args[2].row;
    } else {
        struct lplace ng = {.cell = l->b.code->global_cell[GV_Ng], .n = 3, .d = 3};
        ref = lower_load(l, &ng, false);
    }
    ir_value behind = V(FGT, dot(plain, i, triple(plain, &ref)).v, FLOAT(0));
    return select3(k->m, behind, negate(k->m, n), n);
}

static bool geometry(struct builtin *k, struct lrow *out)
{
    struct lower_math m = k->m;
    enum asl_builtin_id id = k->e->builtin->id;
    if ((id < BI_DOT || id > BI_REFRACT || id == BI_TRANSFORM) ||
        (id == BI_DISTANCE && k->e->arg_count == 3))
        return false;
    struct ldual3 a = triple(m, &k->args[0].row), b = a;
    if (k->e->arg_count > 1)
        b = triple(m, &k->args[1].row);
    switch (id) {
    case BI_DOT:
        *out = float_row(m, dot(m, a, b));
        return true;
    case BI_CROSS:
        *out = triple_row(m, cross(m, a, b));
        return true;
    case BI_LENGTH:
        *out = float_row(m, length(m, a));
        return true;
    case BI_DISTANCE:
        *out = float_row(m, length(m, each(m, ld_sub, b, a)));
        return true;
    case BI_NORMALIZE:
        *out = triple_row(m, normalize(m, a));
        return true;
    case BI_FACEFORWARD:
        *out = triple_row(m, faceforward(k, a, b));
        return true;
    case BI_REFLECT:
        *out = triple_row(m, reflect(m, a, b));
        return true;
    case BI_REFRACT:
        *out = triple_row(m, refract(m, a, b, ld_at(m, &k->args[2].row, 0)));
        return true;
    default:
        return false;
    }
}

/* ---- derivatives ---------------------------------------------------------------------------- */

static ir_value width(struct lower *l, ir_value dx, ir_value dy)
{
    return ir_op1(&l->b, IR_FSQRT, V(FADD, V(FMUL, dx, dx), V(FMUL, dy, dy)));
}

static struct ldual constant_dual(struct lower_math m, ir_value v)
{
    struct ldual r = ld_const(m, 0);
    r.v = v;
    return r;
}

/* cross(Dx(p), Dy(p)), toward the side that the surface faces. */
static struct ldual3 surface_normal(struct lower_math m, const struct lrow *p)
{
    struct lower *l = m.l;
    struct lower_math full = {l, true};
    struct ldual3 x, y, at = triple(full, p);
    for (int i = 0; i < 3; i++) {
        x.c[i] = constant_dual(m, at.c[i].dx);
        y.c[i] = constant_dual(m, at.c[i].dy);
    }
    struct ldual3 n = cross(m, x, y);
    return select3(m, state(l, IR_FLIP_HANDEDNESS), negate(m, n), n);
}

static struct lplace global_place(const struct lower *l, enum asl_global g)
{
    return (struct lplace){
        .cell = l->b.code->global_cell[g], .n = 3, .d = 3, .type = asl_global_type(g)};
}

/* A triple through the matrix between common space and the one that argument 0 names. */
static struct ldual3 across(struct builtin *k, struct ldual3 x, enum asl_base kind, bool to_common)
{
    const struct lower_math m = {k->l, true};
    const struct asl_type type = asl_type_of(kind), text = asl_type_of(ASL_STRING);
    struct argument a[3] = {k->args[0]};
    uint32_t n = 1;
    if (to_common) {
        struct lrow common = lower_row(k->l, 1, false);
        common.v[0] = ir_const_s(&k->l->b, "common");
        a[n++] = row_argument(text, common);
    }
    a[n++] = row_argument(type, triple_row(m, x));
    struct lrow r = call_builtin(k->l, BI_TRANSFORM, type, true, a, n);
    return triple(m, &r);
}

/* displace and bump: P + offset, and its normal. */
static bool moved(struct builtin *k, struct lrow *out)
{
    struct lower *l = k->l;
    const struct lower_math m = {l, true};
    const enum asl_builtin_id id = k->e->builtin->id;
    if (id != BI_DISPLACE && id != BI_BUMP)
        return false;
    const size_t last = k->e->arg_count - 1;
    const bool amount = k->e->args[last]->type.base == ASL_FLOAT;
    const struct lplace P = global_place(l, GV_P), N = global_place(l, GV_N);
    struct lrow p = lower_load(l, &P, true), n = lower_load(l, &N, true);
    struct ldual3 normal = triple(m, &n), offset;
    if (amount) {
        struct ldual s = ld_at(m, &k->args[last].row, 0);
        if (last)
            s = ld_mul(m, s, length(m, across(k, normal, ASL_NORMAL, false)));
        offset = scale(m, normal, s);
    } else {
        offset = triple(m, &k->args[last].row);
        if (last)
            offset = across(k, offset, ASL_VECTOR, true);
    }
    p = triple_row(m, each(m, ld_add, triple(m, &p), offset));
    if (id == BI_DISPLACE)
        lower_store(l, &P, &p);
    n = triple_row(m, normalize(m, surface_normal(m, &p)));
    lower_store(l, &N, &n);
    *out = lower_row(l, 0, false);
    return true;
}

static ir_value filtered_step(struct builtin *k)
{
    struct lower *l = k->l;
    struct lower_math full = {l, true};
    struct ldual edge = ld_at(full, &k->args[0].row, 0), s = ld_at(full, &k->args[1].row, 0);
    size_t n = k->e->arg_count;
    ir_value dedge = n == 4 ? k->args[2].row.v[0] : width(l, edge.dx, edge.dy);
    ir_value ds = n > 2 ? k->args[n - 1].row.v[0] : width(l, s.dx, s.dy);
    ir_value w = V(FADD, ir_op1(&l->b, IR_FABS, dedge), ir_op1(&l->b, IR_FABS, ds));
    ir_value half = V(FMUL, FLOAT(0.5f), w), low = V(FSUB, edge.v, half);
    ir_value up = V(FSUB, s.v, low);
    ir_value r = V(FDIV, up, w);
    r = SEL(V(FGE, s.v, V(FADD, edge.v, half)), FLOAT(1), r);
    return SEL(V(FLE, s.v, low), FLOAT(0), r);
}

static ir_value derivative(struct builtin *k, uint32_t i)
{
    struct lower *l = k->l;
    struct lower_math full = {l, true};
    const struct asl_expr *a = k->e->args[0];
    struct ldual x = ld_at(full, &k->args[0].row, i);
    switch (k->e->builtin->id) {
    case BI_DX:
        return x.dx;
    case BI_DY:
        return x.dy;
    case BI_FILTERWIDTH:
        return width(l, x.dx, x.dy);
    default: /* BI_DZ */
        return a->kind == E_SYMBOL && a->symbol->kind == SYM_GLOBAL && a->symbol->global == GV_P
                   ? state(l, (enum ir_state)(IR_DPDZ_X + i))
                   : FLOAT(0);
    }
}

static bool derivatives(struct builtin *k, struct lrow *out)
{
    struct lower *l = k->l;
    switch (k->e->builtin->id) {
    case BI_DX:
    case BI_DY:
    case BI_DZ:
    case BI_FILTERWIDTH:
        *out = lower_row(l, k->e->slots, k->m.d);
        for (uint32_t i = 0; i < out->n; i++)
            ld_put(k->m, out, i, constant_dual(k->m, derivative(k, i)));
        return true;
    case BI_AREA: {
        struct lower_math plain = {l, false};
        struct ldual a = length(plain, surface_normal(plain, &k->args[0].row));
        *out = float_row(k->m, constant_dual(k->m, a.v));
        return true;
    }
    case BI_CALCULATENORMAL:
        *out = triple_row(k->m, surface_normal(k->m, &k->args[0].row));
        return true;
    case BI_AASTEP:
        *out = float_row(k->m, constant_dual(k->m, filtered_step(k)));
        return true;
    default:
        return false;
    }
}

/* ---- state and the rest --------------------------------------------------------------------- */

static struct lrow int_row(struct lower *l, ir_value v)
{
    struct lrow r = lower_row(l, 1, false);
    r.v[0] = v;
    return r;
}

static bool of_state(struct builtin *k, struct lrow *out)
{
    struct lower *l = k->l;
    const struct asl_expr *a = k->e->arg_count ? k->e->args[0] : k->e;
    switch (k->e->builtin->id) {
    case BI_RAYTYPE:
        if (a->kind != E_STRING)
            return false;
        *out = int_row(l, ray_is(l, asl_raytype_bit(a->u.s)));
        return true;
    case BI_ISCAMERARAY:
        *out = int_row(l, ray_is(l, asl_raytype_bit("camera")));
        return true;
    case BI_ISDIFFUSERAY:
        *out = int_row(l, ray_is(l, asl_raytype_bit("diffuse")));
        return true;
    case BI_ISGLOSSYRAY:
        *out = int_row(l, ray_is(l, asl_raytype_bit("glossy")));
        return true;
    case BI_ISSHADOWRAY:
        *out = int_row(l, ray_is(l, asl_raytype_bit("shadow")));
        return true;
    case BI_BACKFACING:
        *out = int_row(l, state(l, IR_BACKFACING));
        return true;
    case BI_SURFACEAREA:
        *out = float_row(k->m, constant_dual(k->m, state(l, IR_SURFACEAREA)));
        return true;
    case BI_ISCONNECTED:
        *out = int_row(l, INT(connections(l, asl_root_symbol(a))));
        return true;
    case BI_ISCONSTANT:
        *out = int_row(l, INT(is_constant(l, a)));
        return true;
    case BI_GETATTRIBUTE: {
        const char *known = asl_group_attribute(l->group, l->layer, k->e);
        if (!known)
            return false;
        struct lrow text = lower_row(l, 1, false);
        text.v[0] = ir_const_s(&l->b, known);
        lower_store(l, &k->args[1].place, &text);
        *out = int_row(l, INT(1));
        return true;
    }
    case BI_ARRAYLENGTH: {
        uint32_t one = (uint32_t)asl_type_slots(asl_element_type(k->args[0].type));
        *out = int_row(l, INT(one ? (int32_t)(k->args[0].place.n / one) : 0));
        return true;
    }
    case BI_EXIT: {
        struct ir_inst *i = lower_open(l, IR_IF, INT(1));
        ir_append(l->b.block, ir_inst_new(&l->b, IR_RETURN, 0, 0, IR_I));
        lower_close(l, i);
        *out = lower_row(l, 0, false);
        return true;
    }
    default:
        return false;
    }
}

/* sin and cos of each component, stored one after another. */
static void sincos_(struct builtin *k)
{
    struct lower *l = k->l;
    for (uint32_t i = 0; i < k->args[0].row.n; i++) {
        for (uint32_t f = 0; f < 2; f++) {
            struct lplace to = k->args[1 + f].place;
            struct lower_math m = {l, to.d != 0};
            struct lrow v =
                float_row(m, call_float(m, f ? BI_COS : BI_SIN, ld_at(m, &k->args[0].row, i)));
            to.base += i;
            to.n = 1;
            lower_store(l, &to, &v);
        }
    }
}

static void fresnel(struct builtin *k)
{
    struct lower *l = k->l;
    size_t n = k->e->arg_count;
    bool derivs = false;
    for (size_t i = 3; i < n; i++)
        derivs = derivs || k->args[i].place.d;
    struct lower_math m = {l, derivs};
    struct ldual3 i = triple(m, &k->args[0].row), normal = triple(m, &k->args[1].row);
    struct ldual eta = ld_at(m, &k->args[2].row, 0), one = ld_const(m, 1), zero = ld_const(m, 0);
    struct ldual c = dot(m, i, normal);
    c = ld_select(m, V(FLT, c.v, FLOAT(0)), ld_neg(m, c), c);
    struct ldual g2 =
        ld_add(m, ld_sub(m, ld_div(m, one, ld_mul(m, eta, eta)), one), ld_mul(m, c, c));
    struct ldual g = ld_sqrt(m, g2), beta = ld_sub(m, g, c), sum = ld_add(m, g, c);
    struct ldual f =
        ld_div(m, ld_sub(m, ld_mul(m, c, sum), one), ld_add(m, ld_mul(m, c, beta), one));
    struct ldual q = ld_div(m, beta, sum), half = ld_const(m, 0.5f);
    struct ldual kr = ld_mul(m, ld_mul(m, half, ld_add(m, one, ld_mul(m, f, f))), ld_mul(m, q, q));
    struct ldual kt = ld_mul(m, ld_mul(m, ld_sub(m, one, kr), eta), eta);
    ir_value passes = V(FGE, g2.v, FLOAT(0));
    struct lrow to[] = {float_row(m, ld_select(m, passes, kr, one)),
                        float_row(m, ld_select(m, passes, kt, zero)),
                        triple_row(m, reflect(m, i, normal)),
                        triple_row(m, select3(m, passes, refract(m, i, normal, eta),
                                              (struct ldual3){{zero, zero, zero}}))};
    for (size_t j = 3; j < n; j++)
        lower_store(l, &k->args[j].place, &to[j - 3]);
}

static bool number_test(struct builtin *k, struct lrow *out)
{
    struct lower *l = k->l;
    enum asl_builtin_id id = k->e->builtin->id;
    if (id != BI_ISNAN && id != BI_ISINF && id != BI_ISFINITE)
        return false;
    ir_value x = k->args[0].row.v[0];
    ir_value nan = id == BI_ISINF ? 0 : ir_op1(&l->b, IR_FISNAN, x);
    ir_value inf = id == BI_ISNAN ? 0 : ir_op1(&l->b, IR_FISINF, x);
    *out = int_row(l, id == BI_ISNAN   ? nan
                      : id == BI_ISINF ? inf
                                       : V(IEQ, V(IOR, nan, inf), INT(0)));
    return true;
}

/* transformu between units that are named in the text. */
static bool units(struct builtin *k, struct lrow *out)
{
    size_t n = k->e->arg_count;
    float ratio;
    if (k->e->builtin->id != BI_TRANSFORMU)
        return false;
    for (size_t i = 0; i + 1 < n; i++)
        if (k->e->args[i]->kind != E_STRING)
            return false;
    if (!asl_unit_ratio(n == 3 ? k->e->args[0]->u.s : "common", k->e->args[n - 2]->u.s, &ratio))
        return false;
    struct ldual x = ld_at(k->m, &k->args[n - 1].row, 0);
    *out = float_row(k->m, ld_mul(k->m, x, ld_const(k->m, ratio)));
    return true;
}

static bool expand(struct builtin *k, struct lrow *out)
{
    enum asl_builtin_id id = k->e->builtin->id;
    struct lower *l = k->l;
    if (is_expanded(id) && k->e->type.base == ASL_INT)
        *out = int_row(l, integer(k));
    else if (is_expanded(id) && k->e->type.base != ASL_CLOSURE)
        *out = components(k);
    else if (id == BI_LUMINANCE) {
        struct lower_math m = k->m;
        struct ldual3 w = {
            {ld_const(m, 0.212507276f), ld_const(m, 0.715350005f), ld_const(m, 0.0721427185f)}};
        *out = float_row(m, dot(m, w, triple(m, &k->args[0].row)));
    } else if (id == BI_TRANSPOSE) {
        *out = lower_row(l, 16, k->m.d);
        for (uint32_t i = 0; i < 16; i++)
            ld_put(k->m, out, i, constant_dual(k->m, k->args[0].row.v[i % 4 * 4 + i / 4]));
    } else if (id == BI_SINCOS || id == BI_FRESNEL) {
        if (id == BI_FRESNEL)
            fresnel(k);
        else
            sincos_(k);
        *out = lower_row(l, 0, false);
    } else {
        return number_test(k, out) || units(k, out) || geometry(k, out) || derivatives(k, out) ||
               moved(k, out) || of_state(k, out);
    }
    return true;
}

struct lrow lower_builtin(struct lower *l, const struct asl_expr *e)
{
    struct builtin k = {.l = l, .e = e, .m = {l, lower_wants(l, e)}};
    k.args = IR_ARRAY(&l->b, struct argument, e->arg_count + 1);
    for (size_t i = 0; i < e->arg_count; i++) {
        const struct asl_expr *a = e->args[i];
        struct argument *x = &k.args[i];
        x->written = asl_writes(e, i);
        x->is_place = x->written || lower_is_aggregate(a->type);
        x->type = a->type;
        if (x->is_place) {
            x->place = lower_any(l, a);
            x->type = x->place.type;
        } else {
            x->row = lower_expr(l, a);
        }
    }
    lower_at(l, e->at);
    struct lrow out;
    return expand(&k, &out) ? out : whole_call(&k);
}
