/* SPDX-License-Identifier: Apache-2.0 */
/* The film's unit (protocol section 9). */
#ifndef K_FILM_H
#define K_FILM_H
#include "math/random.h"

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

#endif
