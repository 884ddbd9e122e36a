/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 3: random blocks and the maps from numbers in [0, 1) to directions. */
#ifndef REFERENCE_RANDOM_H
#define REFERENCE_RANDOM_H

#include "vec.h"

#include <stdint.h>

/* Blocks MORE_BLOCKS + 8 k + n, n = 0..7: what vertex k needs besides blocks 2k - 1 and 2k; n = 0:
 * media. */
#define MORE_BLOCKS 0x80000000u

/* The four numbers of one block of one sample. */
void random_block(uint64_t seed, uint32_t x, uint32_t y, uint32_t sample, uint32_t block,
                  double u[4]);

/* Unit disk, uniform in area: Shirley and Chiu, "A Low Distortion Map Between Disk and Square",
 * 1997. */
void map_disk(double u, double v, double *x, double *y);
/* About +z; density z/pi per steradian. */
struct vec3 map_cosine(double u, double v);
/* Barycentric weights, uniform in area. */
void map_triangle(double u, double v, double b[3]);
/* Unit sphere; density 1/(4 pi) per steradian. */
struct vec3 map_sphere(double u, double v);

#endif
