/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps of space in double precision, row-major 3x4. */
#ifndef ISOPHOTE_SCENES_TRANSFORM_H
#define ISOPHOTE_SCENES_TRANSFORM_H

#include <stdbool.h>

struct transform {
    double m[3][4]; /* p' = m[.][0..2] p + m[.][3] */
};

extern const struct transform transform_identity;

/* b after a: (b a)(p) = b(a(p)). */
struct transform transform_after(const struct transform *b, const struct transform *a);
struct transform transform_translate(const double v[3]);
/* About `axis` (any length but 0) through the origin, counter-clockwise seen from its tip. */
struct transform transform_rotate(const double axis[3], double radians);
struct transform transform_scale(const double v[3]);

/* By cofactors over the determinant, which must not be 0. */
struct transform transform_inverse(const struct transform *t);
double transform_determinant(const struct transform *t);
void transform_point(const struct transform *t, const double p[3], double out[3]);
/* The linear part alone. */
void transform_direction(const struct transform *t, const double v[3], double out[3]);
/* What turns a normal of the surface into one of the transformed surface, up to its length: the
 * matrix of cofactors times the determinant's sign (Turkowski, "Properties of Surface-Normal
 * Transformations", 1990), so that a mirrored outside stays outside. */
void transform_normal_matrix(const struct transform *t, double out[3][3]);
/* True if lengths in all directions scale by the same factor (within 1e-5 of it), mirrored or not.
 */
bool transform_is_uniform(const struct transform *t, double *factor);

#endif
