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
        .b = {b1, b2},
    };
}

/* Spheres and disks have one test in all modes, and the bounds of all modes (bounds.c). A sphere's t
 * goes with a root of r^2 - l^2, l being the line's distance from the centre: where l is off by e
 * that root is off by no more than sqrt(2 r e + e^2), however flat the ray. */
static struct fast_meeting meet_round(const struct arithmetic *a, const struct scene *s,
                                      uint32_t primitive, const double o[3], const double d[3])
{
    struct fast_meeting m = {.inside = -INFINITY};
    double P[3], n[3], c[3], l[3];
    struct hit_bounds b;
    if (!primitive_carrier(s, primitive, o, d, &m.t))
        return m;
    vec_madd(P, o, m.t, d);
    primitive_normal(s, primitive, P, n);
    hit_bounds(a, s, primitive, o, d, m.t, P, n, &b);
    m.inside_off = b.position;
    m.t_off = b.t;
    const uint32_t i = primitive - s->triangle_count;
    if (i < s->sphere_count) {
        const double r = (double)s->spheres[i].radius, e = b.position;
        vec_load(c, s->spheres[i].center);
        vec_madd(l, o, -1, c);
        vec_madd(l, l, -vec_dot(l, d) / vec_dot(d, d), d);
        m.inside = r - vec_length(l);
        m.t_off = fmin(b.t, sqrt(2 * r * e + e * e) + e + roundings(a, 8, 1, 1) * m.t);
    } else {
        const struct disk *disk = &s->disks[i - s->sphere_count];
        vec_load(c, disk->center);
        m.inside = ((double)disk->radius - vec_distance(P, c)) * fabs(vec_dot(n, d));
    }
    return m;
}

struct fast_meeting fast_meet(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                              const double o[3], const double d[3])
{
    return primitive_is_triangle(s, primitive) ? meet_triangle(s, primitive, o, d)
                                               : meet_round(a, s, primitive, o, d);
}

enum fast_hit fast_hit_judge(const struct arithmetic *a, const struct scene *s,
                             const struct reference *r, const double o[3], const double d[3],
                             double t_max, uint32_t primitive, double t,
                             const struct reference_hit *ref, struct reference_hit *missed)
{
    double before = t_max, last = t_max;
    bool solid = true; /* does the reference meet what the device met? */
    if (primitive != UINT32_MAX) {
        const struct fast_meeting mine = fast_meet(a, s, primitive, o, d);
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
        solid |= h.primitive == primitive;
        const struct fast_meeting there = fast_meet(a, s, h.primitive, o, d);
        if (there.inside > there.inside_off && there.t + there.t_off < before) {
            *missed = h;
            return FAST_HIT_MISSES;
        }
        if (solid && h.t >= before)
            break;
        reference_hit_next(r, o, d, &h, t_max, &next);
    }
    return solid ? FAST_HIT_STANDS : FAST_HIT_HOLLOW;
}
