/* SPDX-License-Identifier: Apache-2.0 */
#include "margins.h"
#include "bounds.h"
#include "vector.h"

struct line {
    const struct arithmetic *arithmetic;
    const struct scene *scene;
    const struct reference *reference;
    const double *o, *d;
    double t_max;
    const double *side; /* of the surface that the ray leaves, or NULL */
    double rise;        /* how far to that side o is */
};

/* Rounding is no excuse for ending up below the surface that a ray leaves: the offset is made to
 * stand above it, and more than half of it must remain. */
static bool stays_above(const struct line *l, const double from[3])
{
    double moved[3];
    if (!l->side)
        return true;
    vec_madd(moved, from, -1, l->o);
    return vec_dot(moved, l->side) > -l->rise / 2;
}

static void across(const double d[3], double a[3], double b[3])
{
    double f[3][3];
    vec_frame(d, f);
    vec_copy(a, f[0]);
    vec_copy(b, f[1]);
}

/* Is the way to `primitive` free for a ray from `from`: does it meet nothing sooner, but what lies
 * so near that rounding may swap them (coplanar faces, shared edges and corners)? Depths are
 * compared within twice the bound of t. A ray that passes well inside, where the reference meets
 * nothing, looks through a cut-out; one that ends before it does not see it either. */
static bool sees(const struct line *l, const double from[3], double reach, uint32_t primitive)
{
    struct reference_hit h;
    struct hit_bounds bounds;
    double t, P[3], n[3];
    reference_hit_closest(l->reference, from, l->d, reach, &h);
    if (h.primitive == primitive)
        return true;
    if (primitive == UINT32_MAX || !primitive_carrier(l->scene, primitive, from, l->d, &t))
        return false;
    vec_madd(P, from, t, l->d);
    primitive_normal(l->scene, primitive, P, n);
    hit_bounds(l->arithmetic, l->scene, primitive, from, l->d, t, P, n, &bounds);
    if (t > reach + 2 * bounds.t)
        return false;
    const double behind = h.primitive == UINT32_MAX ? reach : h.t;
    if (t + 2 * bounds.t < behind && primitive_miss(l->scene, primitive, from, l->d) == 0)
        return false;
    if (h.primitive == UINT32_MAX)
        return true;
    hit_bounds(l->arithmetic, l->scene, h.primitive, from, l->d, h.t, h.P, h.Ng, &bounds);
    return t <= h.t + 2 * bounds.t;
}

/* What the device claims: this closest primitive, or (any) something / nothing. */
struct claim {
    bool any, hit;
    uint32_t primitive;
};

static bool agrees(const struct line *l, const double from[3], double reach, struct claim c)
{
    struct reference_hit h;
    if (!c.any)
        return sees(l, from, reach, c.primitive);
    reference_hit_closest(l->reference, from, l->d, reach, &h);
    return (h.primitive != UINT32_MAX) == c.hit;
}

/* The least shift in units of `position`, of 0 and those of margins.h, with which the reference
 * agrees; INFINITY if none. A primitive must itself be met within that shift. */
static double shift_that_agrees(const struct line *l, double position, struct claim c)
{
    double a[3], b[3];
    double miss = c.any || c.primitive == UINT32_MAX
                      ? 0
                      : primitive_miss(l->scene, c.primitive, l->o, l->d) / position;
    across(l->d, a, b);
    if (agrees(l, l->o, l->t_max, c))
        return miss;
    for (double size = SHIFT_LEAST; size <= SHIFT_MOST; size = shift_larger(size))
        for (int i = 0; i < 18; i++) {
            double from[3], phi = i * 0.39269908169872414, reach = l->t_max;
            vec_copy(from, l->o);
            if (i < 16) {
                vec_madd(from, from, size * position * cos(phi), a);
                vec_madd(from, from, size * position * sin(phi), b);
            } else { /* along the ray: where it starts and ends */
                double shift = (i == 16 ? 1 : -1) * size * position;
                vec_madd(from, from, shift, l->d);
                reach = l->t_max - 2 * shift;
            }
            if (stays_above(l, from) && agrees(l, from, reach, c))
                return fmax(size, miss);
        }
    return INFINITY;
}

/* Bound of the shift: sixteen roundings of the largest coordinate involved, more in an instance
 * (bounds.c). */
static double position_bound(const struct line *l, uint32_t primitive,
                             const struct reference_hit *ref)
{
    double S = vec_max_abs(l->o);
    if (ref->primitive != UINT32_MAX)
        S = fmax(S, fmax(vec_max_abs(ref->P), primitive_extent(l->scene, ref->primitive)));
    if (primitive != UINT32_MAX)
        S = fmax(S, primitive_extent(l->scene, primitive));
    if (isfinite(l->t_max))
        S = fmax(S, l->t_max);
    double factor = primitive == UINT32_MAX ? 1 : primitive_distortion(l->scene, primitive);
    if (ref->primitive != UINT32_MAX)
        factor = fmax(factor, primitive_distortion(l->scene, ref->primitive));
    return 16 * ULP * S * factor;
}

double margin_hit(const struct arithmetic *a, const struct scene *s, const struct reference *r,
                  const double o[3], const double d[3], double t_max, uint32_t primitive,
                  const struct reference_hit *ref)
{
    const struct line l = {a, s, r, o, d, t_max, NULL, 0};
    return shift_that_agrees(&l, position_bound(&l, primitive, ref),
                             (struct claim){false, false, primitive});
}

double margin_visible(const struct arithmetic *a, const struct scene *s, const struct reference *r,
                      const double o[3], const double d[3], double t_max, const double side[3],
                      double rise, bool hit, const struct reference_hit *ref)
{
    const struct line l = {a, s, r, o, d, t_max, side, rise};
    return shift_that_agrees(&l, position_bound(&l, UINT32_MAX, ref), (struct claim){true, hit, 0});
}

void environment_spread(const struct arithmetic *arithmetic, const struct reference *r,
                        const double d[3], double spread[4])
{
    const double size = 8 * roundings(arithmetic, 8, 1, 1);
    double a[3], b[3], at[3], L[4], moved[4], most[4] = {0};
    across(d, a, b);
    reference_environment(r, d, L, &L[3]);
    for (int i = 0; i < 32; i++) {
        double phi = i * 0.19634954084936207;
        vec_madd(at, d, size * cos(phi), a);
        vec_madd(at, at, size * sin(phi), b);
        vec_normalize(at);
        reference_environment(r, at, moved, &moved[3]);
        for (int k = 0; k < 4; k++)
            most[k] = fmax(most[k], fabs(moved[k] - L[k]));
    }
    for (int k = 0; k < 4; k++)
        spread[k] = 1.5 * most[k];
}
