/* SPDX-License-Identifier: Apache-2.0 */
/* lower.h: what the files of lowering share. It walks the typed tree as the reference interpreter
 * does, in the same order, and writes down what that would do. */
#ifndef ASL_LOWER_H
#define ASL_LOWER_H

#include "interp/interp.h"
#include "ir/offers.h"
#include "prove/witness.h"

enum { LOWER_MAX_INDEX = 8 };

/* Where a value lies, as struct asl_place: n slots of a cell, and when d is not 0 derivatives d and
 * 2 d slots on. */
struct lplace {
    uint32_t cell, base, index_count;
    struct {
        ir_value v;
        uint32_t stride, count;
    } index[LOWER_MAX_INDEX];
    uint32_t n, d;
    struct asl_type type;
};

/* A value of n slots, with derivatives two rows more: what asl_eval writes. */
struct lrow {
    ir_value *v;
    uint32_t n;
    bool d;
};

struct lower {
    struct ir_builder b;
    const struct asl_group *group;
    const struct asl_lower_options *opt;
    const struct asl_layer *layer;
    uint32_t index;       /* of the layer */
    struct lplace *bound; /* by symbol index: where it lies now */
    uint32_t *pending;    /* by parameter: cell of "connected, not brought yet" */
    const struct lplace *held;
    const struct lplace *ret; /* where `return` puts its value; NULL: nowhere */
    struct ir_inst *function; /* the block that `return` leaves; NULL: the layer */
    struct ir_inst *loop;     /* what `break` leaves */
    uint32_t temps;
    unsigned nest;
    const char *stack;
};

/* Derivatives on or off decides whether dx and dy are there. */
struct ldual {
    ir_value v, dx, dy;
};
struct ldual3 {
    struct ldual c[3];
};

/* ---- lower_expr.c --------------------------------------------------------------------------- */

static inline bool lower_wants(const struct lower *l, const struct asl_expr *e)
{
    return (e->derivs & l->layer->mode) != 0;
}
void lower_at(struct lower *l, struct asl_loc at);
struct lrow lower_row(struct lower *l, uint32_t n, bool d);
struct lrow lower_expr(struct lower *l, const struct asl_expr *e);
struct lplace lower_place(struct lower *l, const struct asl_expr *e);
/* The value of any expression as a place: its own when it has one, else a temporary. */
struct lplace lower_any(struct lower *l, const struct asl_expr *e);
ir_value lower_truth(struct lower *l, struct asl_type t, const struct lrow *v);
struct lplace lower_temp(struct lower *l, struct asl_type t, bool derivs, const char *name);
/* A structured value (array, struct) from one place to another. */
void lower_copy(struct lower *l, const struct lplace *to, const struct lplace *from);
void lower_zero(struct lower *l, const struct lplace *to);
struct lrow lower_load(struct lower *l, const struct lplace *p, bool derivs);
void lower_store(struct lower *l, const struct lplace *p, const struct lrow *v);
/* Evaluates e into a new variable's place (nothing in e can see it). */
void lower_into(struct lower *l, const struct lplace *to, const struct asl_expr *e);
/* Evaluates e and forgets its value. */
void lower_effect(struct lower *l, const struct asl_expr *e);
static inline bool lower_is_aggregate(struct asl_type t)
{
    return t.array != 0 || t.base == ASL_STRUCT;
}
struct lrow lower_convert(struct lower *l, struct asl_type from, struct asl_type to,
                          const struct lrow *in, bool out_derivs);

/* Opens the body (or the other block) of a new IF, LOOP or BLOCK; lower_close goes back. */
struct ir_inst *lower_open(struct lower *l, enum ir_op op, ir_value condition);
void lower_other(struct lower *l, struct ir_inst *i);
void lower_close(struct lower *l, struct ir_inst *i);
void lower_break(struct lower *l, enum ir_op op, struct ir_inst *target);
/* True when nothing can follow in this block. */
bool lower_ended(const struct lower *l);

/* ---- lower_dual.c --------------------------------------------------------------------------- */

struct lower_math { /* arithmetic with derivatives, or without */
    struct lower *l;
    bool d;
};
struct ldual ld_const(struct lower_math m, float x);
struct ldual ld_at(struct lower_math m, const struct lrow *r, uint32_t i);
struct ldual ld_add(struct lower_math m, struct ldual a, struct ldual b);
struct ldual ld_sub(struct lower_math m, struct ldual a, struct ldual b);
struct ldual ld_mul(struct lower_math m, struct ldual a, struct ldual b);
struct ldual ld_div(struct lower_math m, struct ldual a, struct ldual b);
struct ldual ld_rem(struct lower_math m, struct ldual a, struct ldual b);
struct ldual ld_neg(struct lower_math m, struct ldual a);
struct ldual ld_sqrt(struct lower_math m, struct ldual a);
struct ldual ld_select(struct lower_math m, ir_value c, struct ldual a, struct ldual b);
void ld_put(struct lower_math m, struct lrow *r, uint32_t i, struct ldual x);

/* ---- lower_call.c --------------------------------------------------------------------------- */

struct lrow lower_builtin(struct lower *l, const struct asl_expr *e);
/* A call of one of ir_calls.def. */
struct lrow lower_support(struct lower *l, uint32_t callee, struct asl_type type, bool derivs,
                          const struct lrow *args, const struct asl_type *types, uint32_t count);

/* ---- lower.c -------------------------------------------------------------------------------- */

/* Code that brings a connected parameter's value here. */
void lower_bring(struct lower *l, const struct asl_symbol *param);
void lower_body(struct lower *l, const struct asl_function *f);

#endif
