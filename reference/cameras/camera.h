/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol sections 2 and 23. */
#ifndef REFERENCE_CAMERA_H
#define REFERENCE_CAMERA_H

#include "numbers/offers.h"
#include "scenes.h"

struct ray {
    struct vec3 o, d; /* |d| = 1 */
};

/* The ray through the point (px, py) of a width x height picture, in pixels; lens: u2, u3 of
 * block 0. */
struct ray camera_ray(const struct camera *c, uint32_t width, uint32_t height,
                      const double position[2], const double lens[2]);

/* A pixel's height at a path's length T: base + T slope (the footprint of section 18). */
struct camera_footprint {
    double base, slope;
};
struct camera_footprint camera_footprint(const struct camera *c, uint32_t width, uint32_t height);

/* Uniform on the regular polygon of n corners on the unit circle, the first at `rotation`. */
void map_polygon(double u, double v, uint32_t n, double rotation, double *x, double *y);

#endif
