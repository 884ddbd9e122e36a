/* SPDX-License-Identifier: Apache-2.0 */
/* bi_rays.c: trace() and occlusion(). What is there is the renderer's to know. */
#include "interp.h"

#include <string.h>

static const float NO_END = 1e30F; /* maxdist where it is not given */

static void ray_make(const struct asl_place *P, const struct asl_place *d, struct asl_ray *out)
{
    for (int i = 0; i < 3; i++) {
        out->P[i] = P->v[i].f;
        out->d[i] = d->v[i].f;
    }
}

static float number_of(const struct asl_place *p)
{
    return p->type.base == ASL_INT ? (float)p->v[0].i : p->v[0].f;
}

/* The last of a name counts. */
static void options(const struct asl_expr *e, const struct asl_place *args, struct asl_ray *ray,
                    int32_t *samples)
{
    for (size_t i = e->overload->count; i + 1 < e->arg_count; i += 2) {
        const char *key = args[i].v[0].s;
        if (strcmp(key, "mindist") == 0)
            ray->mindist = number_of(&args[i + 1]);
        else if (strcmp(key, "maxdist") == 0)
            ray->maxdist = number_of(&args[i + 1]);
        else if (strcmp(key, "samples") == 0)
            *samples = args[i + 1].v[0].i;
    }
}

static int32_t trace(struct asl_run *r, const struct asl_expr *e, const struct asl_place *args)
{
    struct asl_context *cx = r->cx;
    struct asl_ray ray = {.maxdist = NO_END};
    int32_t unused = 0;
    if (!cx->services.trace)
        return 0;
    ray_make(&args[0], &args[1], &ray);
    options(e, args, &ray, &unused);
    bool met = cx->services.trace(cx->services.ctx, &ray, &cx->met);
    cx->traced = met ? TRACED_SURFACE : TRACED_NOTHING;
    return met;
}

static float occlusion(struct asl_run *r, const struct asl_expr *e, const struct asl_place *args)
{
    struct asl_context *cx = r->cx;
    struct asl_ray about = {.maxdist = NO_END};
    int32_t samples = 16;
    if (!cx->services.occlusion)
        return 0;
    memcpy(about.P, cx->state.P.v, sizeof about.P);
    memcpy(about.d, cx->state.N.v, sizeof about.d);
    if (e->overload->count)
        ray_make(&args[0], &args[1], &about);
    options(e, args, &about, &samples);
    if (samples < 1)
        samples = 1;
    if (samples > ASL_OCCLUSION_RAYS)
        samples = ASL_OCCLUSION_RAYS;
    return cx->services.occlusion(cx->services.ctx, &about, (uint32_t)samples);
}

void asl_bi_rays(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                 union asl_slot *out)
{
    if (e->builtin->id == BI_TRACE)
        out[0].i = trace(r, e, args);
    else
        asl_dual_put(out, 1, asl_wants(r, e), 0, d_const(occlusion(r, e, args)));
}

int32_t asl_traced_message(struct asl_run *r, const char *name, const struct asl_place *to)
{
    const struct asl_traced *met = &r->cx->met;
    const struct {
        const char *name;
        const float *from;
        uint32_t n;
    } rows[] = {{"hitdist", &met->hitdist, 1},
                {"P", met->P, 3},
                {"N", met->N, 3},
                {"Ng", met->Ng, 3},
                {"u", &met->u, 1},
                {"v", &met->v, 1}};
    union asl_slot v[3] = {{0}};
    if (!r->cx->traced)
        return 0;
    if (strcmp(name, "hit") == 0 && asl_is(to->type, ASL_INT)) {
        v[0].i = r->cx->traced == TRACED_SURFACE;
        asl_store(to, v, 0);
        return 1;
    }
    for (size_t i = 0; r->cx->traced == TRACED_SURFACE && i < sizeof rows / sizeof *rows; i++) {
        bool fits = rows[i].n == 1 ? asl_is(to->type, ASL_FLOAT) : asl_is_triple(to->type);
        if (!fits || strcmp(name, rows[i].name) != 0)
            continue;
        for (uint32_t k = 0; k < rows[i].n; k++)
            v[k].f = rows[i].from[k];
        asl_store(to, v, 0);
        return 1;
    }
    return 0;
}
