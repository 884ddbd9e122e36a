/* SPDX-License-Identifier: Apache-2.0 */
/* opt_fold.c: what an instruction's operands alone tell of its result. */
#include "opt.h"

#include "ir/offers.h"

/* ---- constants ------------------------------------------------------------------------------ */

static const struct ir_inst *constant(const struct opt *o, ir_value v)
{
    return o->defs[v]->op == IR_CONST ? o->defs[v] : NULL;
}

static bool is_float(const struct opt *o, ir_value v, float x)
{
    const struct ir_inst *k = constant(o, v);
    return k && memcmp(&k->u.k.f, &x, sizeof x) == 0;
}

static bool is_int(const struct opt *o, ir_value v, int32_t x)
{
    const struct ir_inst *k = constant(o, v);
    return k && k->u.k.i == x;
}

/* Is the int 0 or 1? */
static bool is_truth(const struct opt *o, ir_value v)
{
    const struct ir_inst *d = o->defs[v];
    switch (d->op) {
    case IR_CONST:
        return d->u.k.i == 0 || d->u.k.i == 1;
    case IR_IAND:
        return is_truth(o, d->operands[0]) || is_truth(o, d->operands[1]);
    case IR_IOR:
    case IR_IXOR:
        return is_truth(o, d->operands[0]) && is_truth(o, d->operands[1]);
    case IR_STATE:
        return d->u.number == IR_BACKFACING || d->u.number == IR_FLIP_HANDEDNESS;
    default:
        return (d->op >= IR_ILT && d->op <= IR_INE) || (d->op >= IR_FLT && d->op <= IR_FISINF) ||
               d->op == IR_SEQ || d->op == IR_SBOOL || d->op == IR_CBOOL;
    }
}

static bool all_constant(const struct opt *o, const struct ir_inst *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (!constant(o, i->operands[k]))
            return false;
    return true;
}

static ir_value fold(struct opt *o, const struct ir_inst *i)
{
    union asl_slot x[3] = {{.s = NULL}, {.s = NULL}, {.s = NULL}};
    for (uint32_t k = 0; k < i->operand_count && k < 3; k++)
        x[k] = constant(o, i->operands[k])->u.k;
    union asl_slot r = ir_eval((enum ir_op)i->op, x[0], x[1], x[2]);
    return ir_const(&o->b, (enum ir_type)o->b.layer->types[i->result], r);
}

/* ---- identities ----------------------------------------------------------------------------- */

/* A new instruction in front of i. */
static ir_value insert(struct opt *o, struct ir_inst *i, enum ir_op op, ir_value a, ir_value b)
{
    bool two = b != OPT_NONE;
    enum ir_type t = ir_ops[op].results[0] == 'f' ? IR_F : IR_I;
    o->b.at = i->at;
    o->b.rule = "rewrite";
    struct ir_inst *n = ir_inst_new(&o->b, op, two ? 2 : 1, 1, t);
    n->operands[0] = a;
    if (two)
        n->operands[1] = b;
    ir_insert_before(i, n);
    opt_values(o);
    o->defs[n->result] = n;
    o->home[n->result] = o->home[i->result];
    return n->result;
}

static bool is_power_of_two(float x)
{
    int e;
    float m = frexpf(x, &e);
    return isfinite(x) && (m == 0.5f || m == -0.5f) && e > -125 && e < 126;
}

static ir_value simplify_float(struct opt *o, struct ir_inst *i, const char **rule)
{
    ir_value a = i->operands[0], b = i->operand_count > 1 ? i->operands[1] : a;
    const struct ir_inst *k;
    *rule = "identity";
    switch (i->op) {
    case IR_FADD:
        return is_float(o, b, -0.0f) ? a : is_float(o, a, -0.0f) ? b : OPT_NONE;
    case IR_FSUB:
        return is_float(o, b, 0) ? a : OPT_NONE;
    case IR_FMUL:
        return is_float(o, b, 1) ? a : is_float(o, a, 1) ? b : OPT_NONE;
    case IR_FDIV:
        if (is_float(o, b, 1))
            return a;
        if (is_float(o, b, 0) || is_float(o, b, -0.0f))
            return ir_const_f(&o->b, 0);
        k = constant(o, b);
        if (!k || !is_power_of_two(k->u.k.f))
            return OPT_NONE;
        *rule = "reciprocal"; /* exact: both are the rounded same number */
        return insert(o, i, IR_FMUL, a, ir_const_f(&o->b, 1 / k->u.k.f));
    case IR_FNEG:
        return o->defs[a]->op == IR_FNEG ? o->defs[a]->operands[0] : OPT_NONE;
    case IR_FABS:
        if (o->defs[a]->op == IR_FABS)
            return a;
        return o->defs[a]->op == IR_FNEG ? insert(o, i, IR_FABS, o->defs[a]->operands[0], OPT_NONE)
                                         : OPT_NONE;
    default:
        return OPT_NONE;
    }
}

static int log2_of(int32_t x)
{
    for (int k = 1; k < 31; k++)
        if (x == (int32_t)(1u << k))
            return k;
    return 0;
}

/* Both operands are the same value. */
static ir_value simplify_twins(struct opt *o, const struct ir_inst *i)
{
    switch (i->op) {
    case IR_ISUB:
    case IR_IXOR:
    case IR_INE:
    case IR_ILT:
    case IR_IGT:
        return ir_const_i(&o->b, 0);
    case IR_IEQ:
    case IR_ILE:
    case IR_IGE:
    case IR_SEQ:
        return ir_const_i(&o->b, 1);
    case IR_IAND:
    case IR_IOR:
        return i->operands[0];
    default:
        return OPT_NONE;
    }
}

/* Not t, for a truth t: 0 = (a < b) is a >= b, for ints. */
static ir_value negate(struct opt *o, struct ir_inst *i, ir_value t)
{
    const struct ir_inst *d = o->defs[t];
    static const uint8_t opposite[][2] = {{IR_ILT, IR_IGE}, {IR_IGE, IR_ILT}, {IR_IGT, IR_ILE},
                                          {IR_ILE, IR_IGT}, {IR_IEQ, IR_INE}, {IR_INE, IR_IEQ},
                                          {IR_FEQ, IR_FNE}, {IR_FNE, IR_FEQ}};
    for (size_t k = 0; k < sizeof opposite / sizeof *opposite; k++)
        if (d->op == opposite[k][0])
            return insert(o, i, (enum ir_op)opposite[k][1], d->operands[0], d->operands[1]);
    return OPT_NONE;
}

static ir_value simplify_int(struct opt *o, struct ir_inst *i, const char **rule)
{
    ir_value a = i->operands[0], b = i->operand_count > 1 ? i->operands[1] : a;
    *rule = "identity";
    if (i->operand_count == 2 && a == b)
        return simplify_twins(o, i);
    switch (i->op) {
    case IR_IADD:
    case IR_IOR:
    case IR_IXOR:
        return is_int(o, b, 0) ? a : is_int(o, a, 0) ? b : OPT_NONE;
    case IR_ISUB:
    case IR_ISHL:
    case IR_ISHR:
        return is_int(o, b, 0) ? a : OPT_NONE;
    case IR_IMUL: {
        const struct ir_inst *k = constant(o, b) ? constant(o, b) : constant(o, a);
        ir_value x = constant(o, b) ? a : b;
        if (!k)
            return OPT_NONE;
        if (k->u.k.i == 1)
            return x;
        if (k->u.k.i == 0)
            return k->result;
        *rule = "shift";
        int n = log2_of(k->u.k.i);
        return n ? insert(o, i, IR_ISHL, x, ir_const_i(&o->b, n)) : OPT_NONE;
    }
    case IR_IDIV:
        return is_int(o, b, 1) ? a : is_int(o, b, 0) ? b : OPT_NONE;
    case IR_IMOD:
        return is_int(o, b, 1) || is_int(o, b, 0) || is_int(o, b, -1) ? ir_const_i(&o->b, 0)
                                                                      : OPT_NONE;
    case IR_IAND:
        if (is_int(o, a, 0) || is_int(o, b, 0))
            return ir_const_i(&o->b, 0);
        return is_int(o, b, -1) || (is_int(o, b, 1) && is_truth(o, a))   ? a
               : is_int(o, a, -1) || (is_int(o, a, 1) && is_truth(o, b)) ? b
                                                                         : OPT_NONE;
    case IR_INE:
        return is_int(o, b, 0) && is_truth(o, a) ? a : OPT_NONE;
    case IR_IEQ:
        return is_int(o, b, 0) && is_truth(o, a) ? negate(o, i, a) : OPT_NONE;
    default:
        return OPT_NONE;
    }
}

/* (state raytype) & mask when those bits of rays are the same at every point. */
static ir_value known_rays(struct opt *o, const struct ir_inst *i)
{
    for (int k = 0; k < 2; k++) {
        const struct ir_inst *s = o->defs[i->operands[k]], *m = constant(o, i->operands[1 - k]);
        if (s->op != IR_STATE || s->u.number != IR_RAYTYPE || !m ||
            ((uint32_t)m->u.k.i & ~o->options->raytype_known))
            continue;
        return ir_const_i(&o->b, (int32_t)(o->options->raytype & (uint32_t)m->u.k.i));
    }
    return OPT_NONE;
}

static ir_value simplify_closure(struct opt *o, const struct ir_inst *i)
{
    ir_value a = i->operands[0], b = i->operands[1];
    if (i->op == IR_CADD)
        return constant(o, a) ? b : constant(o, b) ? a : OPT_NONE;
    bool nothing = true, all = true;
    for (uint32_t k = 1; k < 4; k++) {
        const struct ir_inst *w = constant(o, i->operands[k]);
        nothing = nothing && w && w->u.k.f == 0;
        all = all && w && w->u.k.f == 1;
    }
    return constant(o, a) || nothing ? ir_const_none(&o->b) : all ? a : OPT_NONE;
}

ir_value opt_simplify(struct opt *o, struct ir_inst *i, const char **rule)
{
    if (i->op == IR_CADD || i->op == IR_CMUL) {
        *rule = "closure";
        return simplify_closure(o, i);
    }
    if (i->op == IR_ARG && o->values) {
        *rule = "argument";
        return ir_const(&o->b, (enum ir_type)o->b.layer->types[i->result], o->values[i->u.number]);
    }
    if (i->operand_count && all_constant(o, i)) {
        *rule = "fold";
        return fold(o, i);
    }
    if (i->op == IR_SELECT) {
        const struct ir_inst *c = constant(o, i->operands[0]);
        *rule = "select";
        if (c)
            return i->operands[c->u.k.i != 0 ? 1 : 2];
        if (i->operands[1] == i->operands[2])
            return i->operands[1];
        if (o->fact[i->operands[0]]) {
            *rule = "branch";
            return i->operands[o->fact[i->operands[0]] == 2 ? 1 : 2];
        }
        return is_int(o, i->operands[1], 1) && is_int(o, i->operands[2], 0) &&
                       is_truth(o, i->operands[0])
                   ? i->operands[0]
                   : OPT_NONE;
    }
    if (i->op == IR_IAND && o->options->raytype_known) {
        ir_value v = known_rays(o, i);
        *rule = "raytype";
        if (v != OPT_NONE)
            return v;
    }
    if (i->op >= IR_FADD && i->op <= IR_FTRUNC)
        return simplify_float(o, i, rule);
    if ((i->op >= IR_IADD && i->op <= IR_INE) || i->op == IR_SEQ)
        return simplify_int(o, i, rule);
    return OPT_NONE;
}

/* ---- calls ---------------------------------------------------------------------------------- */

bool opt_fold_call(struct opt *o, struct ir_inst *i)
{
    union asl_slot out[IR_FOLD_RESULTS_MAX] = {{.s = NULL}};
    if (!ir_fold_call(&o->fold, o->defs, i, out))
        return false;
    for (uint32_t k = 0; k < i->result_count; k++) {
        enum ir_type t = (enum ir_type)o->b.layer->types[i->result + k];
        if (t == IR_S) {
            size_t n = strlen(out[k].s);
            char *copy = ir_alloc(&o->b, n + 1, 1);
            memcpy(copy, out[k].s, n);
            out[k].s = copy;
        }
        ir_value now = ir_const(&o->b, t, out[k]);
        opt_values(o);
        opt_replace(o, i->result + k, now, "foldcall");
    }
    return true;
}
