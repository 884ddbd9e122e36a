/* perturb.c: results of builtins moved within their bounds, so that the interpreter shows what the
 * freedom of the ulp column may do to a program (docs/equivalence.md). */
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

/* -1, 0 or 1: decisions fall otherwise at the ends of the bound if they do anywhere. */
static float next_step(struct asl_context *cx)
{
    cx->perturb_state = cx->perturb_state * 6364136223846793005u + 1442695040888963407u;
    return (float)((int)((cx->perturb_state >> 33) % 3) - 1);
}

static void move_row(struct asl_run *r, union asl_slot *v, uint32_t n, float bound, bool together)
{
    float largest = 0;
    for (uint32_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(v[i].f));
    for (uint32_t i = 0; i < n; i++)
        if (isfinite(v[i].f))
            v[i].f += next_step(r->cx) * bound * (together ? largest : fabsf(v[i].f));
}

void asl_perturb(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                 union asl_slot *out)
{
    float bound = bound_of(e->builtin);
    bool together = moves_together(e->builtin->id);
    if (!(bound > 0))
        return;
    uint32_t rows = asl_wants(r, e) ? 3 : 1;
    if (e->type.base == ASL_FLOAT || asl_is_triple(e->type))
        for (uint32_t k = 0; k < rows; k++)
            move_row(r, out + (size_t)k * e->slots, e->slots, bound, together);
    for (size_t i = 0; i < e->overload->count; i++) {
        struct asl_place *p = &args[i];
        if (!((e->overload->outputs >> i) & 1))
            continue;
        move_row(r, p->v, p->n, bound, together);
        for (uint32_t k = 1; p->d && k < 3; k++)
            move_row(r, p->v + (size_t)k * p->d, p->n, bound, together);
    }
}
