/* Protocol section 2. */
#ifndef REFERENCE_CAMERA_H
#define REFERENCE_CAMERA_H

#include "scenes.h"
#include "vec.h"

struct ray {
    struct vec3 o, d; /* |d| = 1 */
};

/* The ray of one sample; u: block 0. */
struct ray camera_ray(const struct camera *c, uint32_t width, uint32_t height, uint32_t x,
                      uint32_t y, const double u[4]);

/* 2 tan_y / H: a pixel's height at distance 1. */
double camera_pixel(const struct camera *c, uint32_t width, uint32_t height);

#endif
