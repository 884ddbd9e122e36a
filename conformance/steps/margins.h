/* SPDX-License-Identifier: Apache-2.0 */
/* Decision margins: how far a ray would have to move for the reference to see what the device saw,
 * in units of the rounding bound. At most 1: a benign flip. Since the moved rays meet the whole
 * scene, a leak between two triangles is not benign: the neighbour catches all of them. */
#ifndef CONFORMANCE_MARGINS_H
#define CONFORMANCE_MARGINS_H

#include "bounds.h"
#include "reference.h"

/* The sizes of shifts that are tried, in units of the bound: within it by twos, since far from the
 * origin what is met may be small beside it; beyond by fours. */
#define SHIFT_LEAST 0x1p-6
#define SHIFT_MOST  4096.0
static inline double shift_larger(double size) { return size * (size < 1 ? 2 : 4); }

/* The device's closest hit of (o, d, t_max) is `primitive` (UINT32_MAX: none), the reference's is
 * *ref, another. INFINITY when no small shift explains it. */
double margin_hit(const struct arithmetic *a, const struct scene *s, const struct reference *r,
                  const double o[3], const double d[3], double t_max, uint32_t primitive,
                  const struct reference_hit *ref);
/* The device finds something on (o, d) before t_max, or nothing (`hit`); the reference the
 * opposite, *ref. The ray has left a surface to the side of the unit normal `side`, by `rise`. */
double margin_visible(const struct arithmetic *a, const struct scene *s, const struct reference *r,
                      const double o[3], const double d[3], double t_max, const double side[3],
                      double rise, bool hit, const struct reference_hit *ref);

/* How much the environment's radiance (3) and density change when the direction moves by 64
 * roundings: map coordinates are angles over 2 pi, some eight roundings of them (a division and a
 * root among these) are fifty of a direction. Texels and rows of the density jump, and at the poles
 * every longitude is near: 32 directions around are asked, and half more is added for those
 * between. */
void environment_spread(const struct arithmetic *a, const struct reference *r, const double d[3],
                        double spread[4]);

#endif
