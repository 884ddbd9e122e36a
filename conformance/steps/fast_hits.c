/* SPDX-License-Identifier: Apache-2.0 */
#include "fast_hits.h"
#include "vector.h"

/* What Moeller and Trumbore's test computes of a triangle, in double, and how far off mode fast may
 * have it (trace/intersect.h). In units u = 2^-24, of a number's absolute terms:
 *
 *   s = o - v0, and each edge      1
 *   a cross product                3    two products and their difference
 *   a dot product of three         3
 *   both edges of the products     1
 *
 * Eight, and sums of absolute values over three components are at most twice the lengths' product: 16.
 * So the coordinates, quotients by det = e1 . (d x e2), are off by 16 u of what they are made of and
 * of what det is made of; and the test widens edges by 2^-20. In an instance the ray is rounded as it
 * is taken there, which distortion brings back to the world. */
static struct fast_meeting meet_triangle(const struct scene *s, uint32_t primitive,
                                         const double o[3], const double d[3])
{
    double v[3][3], e1[3], e2[3], from[3], p[3], q[3];
    const double bend = primitive_distortion(s, primitive);
    triangle_in_world(s, primitive, v);
    vec_madd(e1, v[1], -1, v[0]);
    vec_madd(e2, v[2], -1, v[0]);
    vec_madd(from, o, -1, v[0]);
    vec_cross(p, d, e2);
    vec_cross(q, from, e1);
    const double det = vec_dot(e1, p), b1 = vec_dot(from, p) / det, b2 = vec_dot(d, q) / det,
                 t = vec_dot(e2, q) / det, d1 = vec_length(e1), d2 = vec_length(e2),
                 far = vec_length(from) + (bend > 1 ? vec_length(o) + vec_length(v[0]) : 0),
                 unit = 16 * ULP * bend * vec_length(d) / fabs(det);
    return (struct fast_meeting){
        .inside = fmin(fmin(b1, b2), 1 - b1 - b2),
        .inside_off = 0x1p-20 + unit * (d2 * (far + fabs(b1) * d1) + d1 * (far + fabs(b2) * d2)),
        .t = t,
        .t_off = unit * d1 * d2 * (far / vec_length(d) + fabs(t)) + 4 * ULP * fabs(t),
        .other_t = INFINITY,
        .b = {b1, b2},
    };
}

/* Spheres and disks have one test in all modes, and the bounds of all modes (bounds.c). */
static struct fast_meeting meet_disk(const struct arithmetic *a, const struct scene *s,
                                     uint32_t primitive, const double o[3], const double d[3])
{
    const struct disk *disk = &s->disks[primitive - s->triangle_count - s->sphere_count];
    struct fast_meeting m = {.inside = -INFINITY, .other_t = INFINITY};
    double P[3], n[3], c[3];
    struct hit_bounds b;
    if (!primitive_carrier(s, primitive, o, d, &m.t))
        return m;
    vec_madd(P, o, m.t, d);
    primitive_normal(s, primitive, P, n);
    hit_bounds(a, s, primitive, o, d, m.t, P, n, &b);
    vec_load(c, disk->center);
    m.inside = ((double)disk->radius - vec_distance(P, c)) * fabs(vec_dot(n, d));
    m.inside_off = b.position;
    m.t_off = b.t;
    return m;
}

/* t goes with a root of r^2 - l^2, l being the line's distance from the centre: where l is off by e
 * that root is off by no more than sqrt(2 r e + e^2), however flat the ray. A near miss counts as
 * touching. */
static struct fast_meeting meet_sphere(const struct arithmetic *a, const struct scene *s,
                                       uint32_t primitive, const double o[3], const double d[3],
                                       double near)
{
    const struct sphere *sphere = &s->spheres[primitive - s->triangle_count];
    const double r = (double)sphere->radius;
    double c[3], f[3], l[3], P[3], n[3];
    struct hit_bounds b;
    vec_load(c, sphere->center);
    vec_madd(f, o, -1, c);
    const double middle = -vec_dot(f, d) / vec_dot(d, d);
    vec_madd(l, f, middle, d);
    const double half = sqrt(fmax(r * r - vec_dot(l, l), 0) / vec_dot(d, d)),
                 side = near < middle ? -half : half;
    struct fast_meeting m = {
        .inside = r - vec_length(l), .t = middle + side, .other_t = middle - side};
    vec_madd(P, o, m.t, d);
    primitive_normal(s, primitive, P, n);
    hit_bounds(a, s, primitive, o, d, fabs(m.t), P, n, &b);
    const double e = b.position;
    m.inside_off = e;
    m.t_off = fmin(b.t, sqrt(2 * r * e + e * e) + e + roundings(a, 8, 1, 1) * fabs(m.t));
    return m;
}

struct fast_meeting fast_meet(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                              const double o[3], const double d[3], double near)
{
    return primitive_is_triangle(s, primitive) ? meet_triangle(s, primitive, o, d)
           : primitive - s->triangle_count < s->sphere_count
               ? meet_sphere(a, s, primitive, o, d, near)
               : meet_disk(a, s, primitive, o, d);
}

/* ---- the judge --------------------------------------------------------------------------------- */

struct asked {
    const struct arithmetic *a;
    const struct scene *scene;
    const struct reference *reference;
    const double *o, *d;
    double t_max;
};

/* Does the reference meet the primitive on a ray from `from`, on the side that m is of? */
static bool is_met(const struct asked *q, const double from[3], uint32_t primitive,
                   const struct fast_meeting *m)
{
    struct reference_hit h, next;
    reference_hit_closest(q->reference, from, q->d, q->t_max, &h);
    for (; h.primitive != UINT32_MAX; h = next) {
        if (h.primitive == primitive && fabs(h.t - m->t) <= fabs(h.t - m->other_t))
            return true;
        reference_hit_next(q->reference, from, q->d, &h, q->t_max, &next);
    }
    return false;
}

/* Does a ray that is shifted by no more than the bound of positions meet it (or, not `met`, pass)? */
static bool shift_decides(const struct asked *q, uint32_t primitive, const struct fast_meeting *m,
                          bool met)
{
    double P[3], n[3], f[3][3], from[3];
    struct hit_bounds b;
    vec_madd(P, q->o, m->t, q->d);
    primitive_normal(q->scene, primitive, P, n);
    hit_bounds(q->a, q->scene, primitive, q->o, q->d, m->t, P, n, &b);
    vec_frame(q->d, f);
    for (int i = 0; i < 32; i++) {
        const double phi = i * 0.39269908169872414, size = b.position / (i < 16 ? 1 : 4);
        vec_madd(from, q->o, size * cos(phi), f[0]);
        vec_madd(from, from, size * sin(phi), f[1]);
        if (is_met(q, from, primitive, m) == met)
            return true;
    }
    return false;
}

static bool may_be_cut_out(const struct scene *s, uint32_t primitive)
{
    const struct material *m = &s->materials[scene_material_of(s, primitive)];
    return m->alpha_mode == ALPHA_MASK || m->single_sided;
}

enum fast_hit fast_hit_judge(const struct arithmetic *a, const struct scene *s,
                             const struct reference *r, const double o[3], const double d[3],
                             double t_max, uint32_t primitive, double t,
                             const struct reference_hit *ref, struct reference_hit *missed)
{
    const struct asked q = {a, s, r, o, d, t_max};
    struct fast_meeting mine = {0};
    double before = t_max, last = t_max;
    bool solid = true; /* does the reference meet what the device met? */
    if (primitive != UINT32_MAX) {
        mine = fast_meet(a, s, primitive, o, d, t);
        if (!(t > 0 && t < t_max && mine.inside >= -mine.inside_off &&
              fabs(t - mine.t) <= mine.t_off))
            return FAST_HIT_ABSENT;
        before = mine.t - mine.t_off;
        last = mine.t + mine.t_off;
        solid = mine.inside <= mine.inside_off || last >= t_max;
    }
    /* All that the reference meets on the way, not its first hit alone: a gap at one edge is no
     * excuse for the wall behind. */
    for (struct reference_hit h = *ref, next; h.primitive != UINT32_MAX && h.t <= last; h = next) {
        const struct fast_meeting there = fast_meet(a, s, h.primitive, o, d, h.t);
        solid |= h.primitive == primitive && h.t >= before;
        if (there.inside > there.inside_off && there.t + there.t_off < before &&
            !(may_be_cut_out(s, h.primitive) && shift_decides(&q, h.primitive, &there, false))) {
            *missed = h;
            return FAST_HIT_MISSES;
        }
        if (solid && h.t >= before)
            break;
        reference_hit_next(r, o, d, &h, t_max, &next);
    }
    return solid || shift_decides(&q, primitive, &mine, true) ? FAST_HIT_STANDS : FAST_HIT_HOLLOW;
}
