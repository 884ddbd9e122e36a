/* SPDX-License-Identifier: Apache-2.0 */
/* The film's unit, and sums of samples in it (protocol section 9). */
#ifndef K_FILM_H
#define K_FILM_H
#include "math/random.h"
#include "scene/scene.h"

/* L in units of the film: clamped to [0, 2^46]. *flag is set when it had to be. */
K_FN K_LONG k_film_value(K_GLOBAL const struct k_launch *L, float x, int *flag)
{
    float y = (x * L->film_scale[0]) * L->film_scale[1];
    if (!(y >= 0.0f)) {
        *flag = 1;
        return 0;
    }
    if (y > 0x1p46f) {
        *flag = 1;
        return (K_LONG)1 << 46;
    }
    /* In two halves of at most 24 bits: CPUs and GPUs convert to 32-bit integers in one
     * instruction, Intel's OpenCL calls a function for 64. */
    y = K_RINT(y);
    float high = K_FLOOR(y * 0x1p-24f);
    return ((K_LONG)(int)high << 24) + (int)(y - high * 0x1p24f);
}

/* What a work-item adds to its pixel of the film (section 9). */
struct k_sums {
    K_LONG r, g, b, count;
};

K_FN void k_sums_add(K_GLOBAL const struct k_launch *L, struct k_sums *sums, struct k_vec3 v)
{
    int flag = 0;
    if (k_finite(v.x) && k_finite(v.y) && k_finite(v.z)) {
        sums->r += k_film_value(L, v.x, &flag);
        sums->g += k_film_value(L, v.y, &flag);
        sums->b += k_film_value(L, v.z, &flag);
    } else {
        flag = 1;
    }
    sums->count += flag ? ((K_LONG)1 << 32) + 1 : 1;
}

/* failed: not 0: what a shader that did not end returned. */
K_FN void k_sums_store(K_GLOBAL const struct k_launch *L, struct k_sums sums, uint failed,
                       K_GLOBAL K_LONG *to)
{
#if K_SLICED
    if (L->slices) {
        K_ADD_LONG(to, sums.r);
        K_ADD_LONG(to + 1, sums.g);
        K_ADD_LONG(to + 2, sums.b);
        K_ADD_LONG(to + 3, sums.count);
        return;
    }
#endif
    if (L->accumulate) {
        sums.r += to[0];
        sums.g += to[1];
        sums.b += to[2];
        sums.count += to[3];
    }
    /* No sum is negative: what a shader that did not end leaves. Memory that nobody wrote is -1. */
    if (K_HAS(SHADERS) && L->accumulate && to[0] < -1)
        sums.r = to[0];
    if (K_HAS(SHADERS) && failed)
        sums.r = -1 - (K_LONG)failed;
    to[0] = sums.r;
    to[1] = sums.g;
    to[2] = sums.b;
    to[3] = sums.count;
}

#endif
