/* SPDX-License-Identifier: Apache-2.0 */
/* sin, cos, atan2, acos from + - * / sqrt floor fabs alone, so that every device rounds them alike.
 * Coefficients: our own minimax fits (Remez exchange on the reduced ranges below). Measured against
 * MPFR in elementary_test.c. */
#ifndef K_ELEMENTARY_H
#define K_ELEMENTARY_H
#include "math/vec.h"

#define K_PI       3.14159265358979f
#define K_TWO_PI   6.28318530717959f
#define K_HALF_PI  1.57079632679490f
#define K_QUART_PI 0.785398163397448f
#define K_INV_PI   0.318309886183791f
#define K_INV_2PI  0.159154943091895f

/* |r| <= pi/4 (1 + 2^-20). */
K_FN void k_sincos_reduced(float r, float *sine, float *cosine)
{
    float z = r * r;
    *sine = r + (r * z) * ((-0.00019516977555653368f * z + 0.008332175846967554f) * z +
                           -0.16666654908642523f);
    *cosine =
        (1.0f - 0.5f * z) + (z * z) * ((2.4438091022545057e-05f * z + -0.0013887364485969055f) * z +
                                       0.04166664680719791f);
}

/* Domain |x| <= 8192: outside, and for NaN, x counts as 0. pi/2 = 201/128 + 2029/2^22 + rest: the
 * products with n are exact. */
K_FN void k_sincos(float x, float *sine, float *cosine)
{
    if (!(K_ABS(x) <= 8192.0f))
        x = 0.0f;
    float n = K_FLOOR(x * 0.636619772367581f + 0.5f);
    float r = ((x - n * 1.5703125f) - n * 4.837512969970703e-4f) - n * 7.549789954891882e-8f;
    float s, c;
    k_sincos_reduced(r, &s, &c);
    uint q = (uint)(int)n;
    int odd = (int)(q & 1u);
    *sine = k_flip(k_select(odd, c, s), q << 30);
    *cosine = k_flip(k_select(odd, s, c), (q + 1u) << 30);
}

/* In [-pi, pi]. atan2(0, x >= 0) = 0. */
K_FN float k_atan2(float y, float x)
{
    float ax = K_ABS(x), ay = K_ABS(y);
    float most = k_max(ax, ay), least = k_min(ax, ay);
    if (most == 0.0f)
        return 0.0f;
    int far = least > 0.414213562373095f * most; /* tan(pi/8) */
    float t = far ? (least - most) / (least + most) : least / most;
    float z = t * t;
    float p = ((0.08055447258337052f * z + -0.1387845342524195f) * z + 0.19977807690018626f) * z +
              -0.333329524877204f;
    float a = t + (t * z) * p;
    a = far ? K_QUART_PI + a : a;
    a = ay > ax ? K_HALF_PI - a : a;
    a = x < 0.0f ? K_PI - a : a;
    return y < 0.0f ? -a : a;
}

/* x in [-1, 1]. */
K_FN float k_acos(float x)
{
    float ax = K_ABS(x);
    int far = ax > 0.5f;
    float z = far ? (1.0f - ax) * 0.5f : x * x;
    float r = far ? K_SQRT(z) : x;
    float p = (((0.04227853472523652f * z + 0.02411447742971499f) * z + 0.045483337261767134f) * z +
               0.07495196094019634f) *
                  z +
              0.16666754949374957f;
    float a = r + (r * z) * p;
    if (!far)
        return K_HALF_PI - a;
    a = 2.0f * a;
    return x < 0.0f ? K_PI - a : a;
}

#endif
