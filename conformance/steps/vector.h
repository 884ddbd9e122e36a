/* SPDX-License-Identifier: Apache-2.0 */
/* Three-vectors of doubles, for looking over a device's shoulder. Written for conformance/ alone.
 */
#ifndef CONFORMANCE_VECTOR_H
#define CONFORMANCE_VECTOR_H

#include <math.h>

static inline double vec_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double vec_length(const double a[3]) { return sqrt(vec_dot(a, a)); }
static inline double vec_max_abs(const double a[3])
{
    return fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
}
static inline double vec_max(const double a[3]) { return fmax(a[0], fmax(a[1], a[2])); }
static inline void vec_copy(double out[3], const double a[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i];
}
/* out = a + s b; out may be a or b */
static inline void vec_madd(double out[3], const double a[3], double s, const double b[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] + s * b[i];
}
static inline double vec_distance(const double a[3], const double b[3])
{
    double way[3];
    vec_madd(way, a, -1, b);
    return vec_length(way);
}
static inline void vec_scale(double out[3], double s, const double a[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = s * a[i];
}
static inline void vec_cross(double out[3], const double a[3], const double b[3])
{
    const double r[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                         a[0] * b[1] - a[1] * b[0]};
    vec_copy(out, r);
}
static inline void vec_normalize(double a[3]) { vec_scale(a, 1 / vec_length(a), a); }
static inline void vec_load(double out[3], const float a[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = (double)a[i];
}
/* The protocol's frame about n (section 6): rows s, t, n. */
static inline void vec_frame(const double n[3], double f[3][3])
{
    double sg = copysign(1, n[2]), a = -1 / (sg + n[2]), b = n[0] * n[1] * a;
    const double s[3] = {1 + sg * n[0] * n[0] * a, sg * b, -sg * n[0]};
    const double t[3] = {b, sg + n[1] * n[1] * a, -n[1]};
    vec_copy(f[0], s);
    vec_copy(f[1], t);
    vec_copy(f[2], n);
}
static inline void vec_to_local(double out[3], double f[3][3], const double w[3])
{
    const double r[3] = {vec_dot(w, f[0]), vec_dot(w, f[1]), vec_dot(w, f[2])};
    vec_copy(out, r);
}
static inline void vec_to_world(double out[3], double f[3][3], const double w[3])
{
    double r[3];
    for (int i = 0; i < 3; i++)
        r[i] = w[0] * f[0][i] + w[1] * f[1][i] + w[2] * f[2][i];
    vec_copy(out, r);
}

#endif
