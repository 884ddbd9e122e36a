/* SPDX-License-Identifier: Apache-2.0 */
/* Closest hits of mode fast, whose test of triangles leaves edges open (docs/reference/conformance.md,
 * "Rounding of mode fast's triangles"): what is there, and what rounding may have missed. */
#ifndef CONFORMANCE_FAST_HITS_H
#define CONFORMANCE_FAST_HITS_H

#include "bounds.h"
#include "reference.h"

/* Where the ray (o, d) meets a primitive's plane or sphere, in double, and how far off mode fast may
 * have it. */
struct fast_meeting {
    /* How far inside: of a triangle the least of its three barycentric coordinates; of a sphere and
     * a disk the distance to the rim, seen along the ray. Negative outside. */
    double inside, inside_off;
    double t, t_off;
    double other_t; /* spheres: of the other side; else INFINITY */
    double b[2];    /* triangles: barycentric coordinates of vertices 1 and 2, off by inside_off */
};
/* d: of unit length. near: of a sphere's two sides the one whose t is nearer to it; not looked at
 * elsewhere. -INFINITY inside where the ray does not meet what carries the primitive. */
struct fast_meeting fast_meet(const struct arithmetic *a, const struct scene *s, uint32_t primitive,
                              const double o[3], const double d[3], double near);

/* Of what a device in mode fast says that it met first with 0 < t < t_max. */
enum fast_hit {
    FAST_HIT_STANDS,
    FAST_HIT_ABSENT, /* the primitive is not met, or not there, within the bounds */
    FAST_HIT_HOLLOW, /* it is met inside, where the reference looks through it: a cut-out's hole */
    FAST_HIT_MISSES, /* before it is one whose rim is farther away than rounding reaches: *missed */
};
/* primitive: UINT32_MAX for nothing, and then t is not looked at; else one of the scene's. A cut-out's
 * rim is where its texture has it: there rounding leaves open what the reference decides otherwise on
 * a ray that is shifted by the bound of positions (bounds.h). *ref: the reference's closest hit of the
 * same ray. missed: the reference's hit that the device had to have. */
enum fast_hit fast_hit_judge(const struct arithmetic *a, const struct scene *s,
                             const struct reference *r, const double o[3], const double d[3],
                             double t_max, uint32_t primitive, double t,
                             const struct reference_hit *ref, struct reference_hit *missed);

#endif
