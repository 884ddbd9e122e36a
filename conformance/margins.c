#include "margins.h"
#include "bounds.h"
#include "vector.h"

struct line {
    const struct scene *scene;
    const struct reference *reference;
    const double *o, *d;
    double t_max;
};

static void across(const double d[3], double a[3], double b[3])
{
    double f[3][3];
    vec_frame(d, f);
    vec_copy(a, f[0]);
    vec_copy(b, f[1]);
}

/* What the device claims: this closest primitive, or (any) something / nothing. */
struct claim {
    bool any, hit;
    uint32_t primitive;
};

/* The least shift in units of `position`, of 1/4, 1, 4 ... 4096, with which the reference agrees; INFINITY if none. */
static double shift_that_agrees(const struct line *l, double position, struct claim c)
{
    double a[3], b[3];
    across(l->d, a, b);
    for (double size = 0.25; size <= 4096; size *= 4)
        for (int i = 0; i < 18; i++) {
            double from[3], phi = i * 0.39269908169872414, reach = l->t_max;
            struct reference_hit h;
            vec_copy(from, l->o);
            if (i < 16) {
                vec_madd(from, from, size * position * cos(phi), a);
                vec_madd(from, from, size * position * sin(phi), b);
            } else { /* along the ray: where it starts and ends */
                double shift = (i == 16 ? 1 : -1) * size * position;
                vec_madd(from, from, shift, l->d);
                reach = l->t_max - 2 * shift;
            }
            reference_hit_closest(l->reference, from, l->d, reach, &h);
            if (c.any ? (h.primitive != UINT32_MAX) == c.hit : h.primitive == c.primitive)
                return size;
        }
    return INFINITY;
}

/* Two primitives at the same distance within rounding: coplanar faces, a shared edge. The device's must then really be there: seen by a ray that starts
 * behind the other one. */
static double depth_margin(const struct line *l, uint32_t primitive, const struct reference_hit *ref)
{
    double t, a[3], b[3];
    struct hit_bounds bounds;
    if (primitive == UINT32_MAX || ref->primitive == UINT32_MAX ||
        !primitive_carrier(l->scene, primitive, l->o, l->d, &t))
        return INFINITY;
    hit_bounds(l->scene, ref->primitive, l->o, l->d, ref->t, ref->P, ref->Ng, &bounds);
    double depth = fabs(t - ref->t) / (2 * bounds.t), first = fmax(0, fmin(t, ref->t) - 64 * bounds.t);
    if (depth > 1)
        return INFINITY;
    across(l->d, a, b);
    for (int i = 0; i < 9; i++) {
        double from[3], at[3], phi = i * 0.7853981633974483;
        vec_madd(from, l->o, first, l->d);
        if (i) {
            vec_madd(from, from, bounds.position * cos(phi), a);
            vec_madd(from, from, bounds.position * sin(phi), b);
        }
        for (double start = 0; start <= 128 * bounds.t; start += 4 * bounds.t) {
            struct reference_hit h;
            vec_madd(at, from, start, l->d);
            reference_hit_closest(l->reference, at, l->d, INFINITY, &h);
            if (h.primitive == primitive)
                return depth;
            if (h.primitive == UINT32_MAX || h.t > 128 * bounds.t)
                break;
        }
    }
    return INFINITY;
}

/* Bound of the shift: sixteen roundings of the largest coordinate involved (bounds.c). */
static double position_bound(const struct line *l, uint32_t primitive, const struct reference_hit *ref)
{
    double S = vec_max_abs(l->o);
    if (ref->primitive != UINT32_MAX)
        S = fmax(S, fmax(vec_max_abs(ref->P), primitive_extent(l->scene, ref->primitive)));
    if (primitive != UINT32_MAX)
        S = fmax(S, primitive_extent(l->scene, primitive));
    if (isfinite(l->t_max))
        S = fmax(S, l->t_max);
    return 16 * ULP * S;
}

double margin_hit(const struct scene *s, const struct reference *r, const double o[3],
                  const double d[3], double t_max, uint32_t primitive,
                  const struct reference_hit *ref)
{
    const struct line l = {s, r, o, d, t_max};
    double depth = depth_margin(&l, primitive, ref);
    return depth <= 1 ? depth
                      : shift_that_agrees(&l, position_bound(&l, primitive, ref),
                                          (struct claim){false, false, primitive});
}

double margin_visible(const struct scene *s, const struct reference *r, const double o[3],
                      const double d[3], double t_max, bool hit, const struct reference_hit *ref)
{
    const struct line l = {s, r, o, d, t_max};
    return shift_that_agrees(&l, position_bound(&l, UINT32_MAX, ref), (struct claim){true, hit, 0});
}
