/* SPDX-License-Identifier: Apache-2.0 */
/* lower_dual.c: arithmetic of values with derivatives, operation for operation as the duals of
 * interp.h. */
#include "lower.h"

#define V(op, x, y) ir_op2(&m.l->b, IR_##op, x, y)

struct ldual ld_const(struct lower_math m, float x)
{
    struct ldual r = {.v = ir_const_f(&m.l->b, x)};
    if (m.d)
        r.dx = r.dy = ir_const_f(&m.l->b, 0);
    return r;
}

struct ldual ld_at(struct lower_math m, const struct lrow *r, uint32_t i)
{
    if (r->n == 1)
        i = 0;
    struct ldual x = {.v = r->v[i]};
    if (m.d) {
        x.dx = r->d ? r->v[r->n + i] : ir_const_f(&m.l->b, 0);
        x.dy = r->d ? r->v[2 * r->n + i] : ir_const_f(&m.l->b, 0);
    }
    return x;
}

void ld_put(struct lower_math m, struct lrow *r, uint32_t i, struct ldual x)
{
    r->v[i] = x.v;
    if (m.d) {
        r->v[r->n + i] = x.dx;
        r->v[2 * r->n + i] = x.dy;
    }
}

struct ldual ld_add(struct lower_math m, struct ldual a, struct ldual b)
{
    struct ldual r = {.v = V(FADD, a.v, b.v)};
    if (m.d) {
        r.dx = V(FADD, a.dx, b.dx);
        r.dy = V(FADD, a.dy, b.dy);
    }
    return r;
}

struct ldual ld_sub(struct lower_math m, struct ldual a, struct ldual b)
{
    struct ldual r = {.v = V(FSUB, a.v, b.v)};
    if (m.d) {
        r.dx = V(FSUB, a.dx, b.dx);
        r.dy = V(FSUB, a.dy, b.dy);
    }
    return r;
}

struct ldual ld_mul(struct lower_math m, struct ldual a, struct ldual b)
{
    struct ldual r = {.v = V(FMUL, a.v, b.v)};
    if (m.d) {
        r.dx = V(FADD, V(FMUL, a.v, b.dx), V(FMUL, a.dx, b.v));
        r.dy = V(FADD, V(FMUL, a.v, b.dy), V(FMUL, a.dy, b.v));
    }
    return r;
}

/* FDIV is 0 where b.v = 0: so are the derivatives. */
struct ldual ld_div(struct lower_math m, struct ldual a, struct ldual b)
{
    struct ldual r = {.v = V(FDIV, a.v, b.v)};
    if (m.d) {
        r.dx = V(FDIV, V(FSUB, a.dx, V(FMUL, r.v, b.dx)), b.v);
        r.dy = V(FDIV, V(FSUB, a.dy, V(FMUL, r.v, b.dy)), b.v);
    }
    return r;
}

struct ldual ld_rem(struct lower_math m, struct ldual a, struct ldual b)
{
    struct ldual r = {.v = V(FREM, a.v, b.v)};
    if (m.d) {
        ir_value zero = ir_const_f(&m.l->b, 0), none = V(FEQ, b.v, zero);
        r.dx = ir_op3(&m.l->b, IR_SELECT, none, zero, a.dx);
        r.dy = ir_op3(&m.l->b, IR_SELECT, none, zero, a.dy);
    }
    return r;
}

struct ldual ld_neg(struct lower_math m, struct ldual a)
{
    struct ldual r = {.v = ir_op1(&m.l->b, IR_FNEG, a.v)};
    if (m.d) {
        r.dx = ir_op1(&m.l->b, IR_FNEG, a.dx);
        r.dy = ir_op1(&m.l->b, IR_FNEG, a.dy);
    }
    return r;
}

/* d_sqrt: dx / (2 s). FDIV makes it 0 where s is. */
struct ldual ld_sqrt(struct lower_math m, struct ldual a)
{
    struct ldual r = {.v = ir_op1(&m.l->b, IR_FSQRT, a.v)};
    if (m.d) {
        ir_value twice = V(FMUL, ir_const_f(&m.l->b, 2), r.v);
        r.dx = V(FDIV, a.dx, twice);
        r.dy = V(FDIV, a.dy, twice);
    }
    return r;
}

struct ldual ld_select(struct lower_math m, ir_value c, struct ldual a, struct ldual b)
{
    struct ldual r = {.v = ir_op3(&m.l->b, IR_SELECT, c, a.v, b.v)};
    if (m.d) {
        r.dx = ir_op3(&m.l->b, IR_SELECT, c, a.dx, b.dx);
        r.dy = ir_op3(&m.l->b, IR_SELECT, c, a.dy, b.dy);
    }
    return r;
}
