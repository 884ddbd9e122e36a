/* SPDX-License-Identifier: Apache-2.0 */
/* Rays that ask what is there (protocol section 30). */
#ifndef REFERENCE_RAYS_H
#define REFERENCE_RAYS_H

#include "candidates.h"
#include "numbers/offers.h"

enum { OCCLUSION_RAYS = 256 }; /* of one call, at most */

/* The sample and the vertex whose random numbers are meant. */
struct random_place {
    uint64_t seed;
    uint32_t x, y, sample, k;
};

/* What rounding may do to rays whose starts are computed (enum reference_motion): to the start and
 * to where a surface is met, as shares of the largest coordinate that the test of such a ray has; to
 * the direction. Of surfaces that lie no farther apart than `depth` the last is met. */
struct ray_motion {
    struct vec3 start, turn;
    double depth;
};

/* The closest surface with 0 < t < t_max that is no interface; out->t is the whole way. by: NULL: the
 * ray is not moved. */
bool surface_along(const struct scene *s, const struct candidates *c, struct ray ray, double t_max,
                   const struct ray_motion *by, struct hit *out);

/* The share of `count` rays from `origin` about n, of cosine density, that meet something before
 * t_max or do not leave to that side. moved: NULL: none is. */
double occlusion(const struct scene *s, const struct candidates *c,
                 const struct random_place *place, struct vec3 origin, struct vec3 side,
                 struct vec3 n, uint32_t count, double t_max, const struct ray_motion *moved);

#endif
