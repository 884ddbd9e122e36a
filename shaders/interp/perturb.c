/* SPDX-License-Identifier: Apache-2.0 */
/* perturb.c: results of builtins moved within their bounds, so that the interpreter shows what the
 * freedom of the ulp column may do to a program (docs/explanation/equivalence.md). */
#include "interp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bound as a share of the value; 0: these bits. */
static float bound_of(const struct asl_builtin *b)
{
    if (b->id == BI_ROTATE) /* its formula calls sin and cos */
        return 0x1p-18f;
    return (float)strtod(b->ulp, NULL) * 0x1p-23f;
}

/* Colours and turned points are bounded by parts of their largest component. */
static bool moves_together(enum asl_builtin_id id)
{
    return id == BI_TRANSFORMC || id == BI_BLACKBODY || id == BI_WAVELENGTH_COLOR ||
           id == BI_ROTATE;
}

/* In [-1, 1]: an end half of the time, since decisions fall otherwise at the ends of the bound if
 * they do anywhere; else any place between, since the roundings of what follows do not rise and
 * fall with the value: all of the ends may round to one result, and a value between to its
 * neighbour. */
static float next_step(struct asl_context *cx)
{
    cx->perturb_state = cx->perturb_state * 6364136223846793005u + 1442695040888963407u;
    uint32_t word = (uint32_t)(cx->perturb_state >> 32);
    if (word >> 31)
        return (word >> 30) & 1 ? 1.0f : -1.0f;
    return (float)(word & 0x3FFFFFFFu) * 0x1p-29f - 1;
}

/* The largest component of what is turned about an axis that does not pass through the origin: the
 * point seen from the axis, which may cancel with the axis' place in the result. */
static float turned_size(const struct asl_expr *e, const struct asl_place *args)
{
    float largest = 0;
    for (size_t i = 0; e->builtin->id == BI_ROTATE && e->arg_count == 4 && i < 3; i++)
        largest = fmaxf(largest, fabsf(args[0].v[i].f - args[2].v[i].f));
    return isfinite(largest) ? largest : 0;
}

/* `largest`: at least this, for what is bounded by parts of the largest component. */
static void move_row(struct asl_run *r, union asl_slot *v, uint32_t n, float bound, bool together,
                     float largest)
{
    for (uint32_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(v[i].f));
    for (uint32_t i = 0; i < n; i++)
        if (isfinite(v[i].f))
            v[i].f += next_step(r->cx) * bound * (together ? largest : fabsf(v[i].f));
}

static float moved_any(struct asl_context *cx, float v, float share, float size)
{
    return isfinite(v) ? v + next_step(cx) * share * size : v;
}

/* A result that may round, moved by a share of `size`; whole numbers stay, which are counts. */
static float moved(struct asl_context *cx, float v, float share, float size)
{
    return v != floorf(v) ? moved_any(cx, v, share, size) : v;
}

struct asl_dual asl_perturb_operation(struct asl_run *r, enum asl_op op, struct asl_dual a,
                                      struct asl_dual b, struct asl_dual x)
{
    double p = (double)a.v, q = (double)b.v, v = (double)x.v;
    bool exact = op == OP_ADD   ? p + q == v
                 : op == OP_SUB ? p - q == v
                 : op == OP_MUL ? p * q == v
                 : op == OP_DIV ? v * q == p
                                : true;
    if (!exact)
        x.v = moved_any(r->cx, x.v, 0x1p-23f, fabsf(x.v));
    x.dx = moved(r->cx, x.dx, 0x1p-23f, fabsf(x.dx));
    x.dy = moved(r->cx, x.dy, 0x1p-23f, fabsf(x.dy));
    return x;
}

/* A builtin that is a formula of floats (ulp column -): its own steps round. */
static void perturb_formula(struct asl_run *r, const struct asl_expr *e, union asl_slot *out)
{
    enum asl_builtin_id id = e->builtin->id;
    bool noise = id == BI_NOISE || id == BI_SNOISE || id == BI_PNOISE || id == BI_PSNOISE;
    uint32_t rows = asl_wants(r, e) ? 3 : 1;
    if (e->type.array || !(e->type.base == ASL_FLOAT || asl_is_triple(e->type)))
        return;
    for (uint32_t i = 0; i < rows * e->slots; i++) {
        float v = out[i].f;
        out[i].f = noise && i < e->slots ? moved(r->cx, v, 0x1p-19f, 1)
                                         : moved(r->cx, v, noise ? 0x1p-19f : 0x1p-21f, fabsf(v));
    }
}

void asl_perturb(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                 union asl_slot *out)
{
    float bound = bound_of(e->builtin);
    bool together = moves_together(e->builtin->id);
    if (r->cx->contract && e->builtin->ulp[0] == '-')
        perturb_formula(r, e, out);
    if (!(bound > 0))
        return;
    uint32_t rows = asl_wants(r, e) ? 3 : 1;
    if (e->type.base == ASL_FLOAT || asl_is_triple(e->type))
        for (uint32_t k = 0; k < rows; k++)
            move_row(r, out + (size_t)k * e->slots, e->slots, bound, together,
                     k ? 0 : turned_size(e, args));
    for (size_t i = 0; i < e->overload->count; i++) {
        struct asl_place *p = &args[i];
        if (!((e->overload->outputs >> i) & 1))
            continue;
        move_row(r, p->v, p->n, bound, together, 0);
        for (uint32_t k = 1; p->d && k < 3; k++)
            move_row(r, p->v + (size_t)k * p->d, p->n, bound, together, 0);
    }
}
