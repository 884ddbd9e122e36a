/* SPDX-License-Identifier: Apache-2.0 */
/* rings.c: growth rings as a procedure in C99 (docs/reference/procedures.md). Any compiler of C
 * takes it with -I shaders/headers; scenes name it where they name a shader in ASL. */
#include "procedure.h"

/* A whole number to [0, 1). */
static float scatter(int n)
{
    int h = n * 7919 & 0xffff;
    h = (h ^ h >> 7) * 271 & 0xffff;
    return (float)(h ^ h >> 9) / 65536.0f;
}

/* Smooth noise of one variable, and the cell that it is in. */
static float wave(float x, int *cell)
{
    float low = floorf(x), t = x - low;
    *cell = (int)low;
    t = t * t * (3.0f - 2.0f * t);
    return scatter(*cell) * (1.0f - t) + scatter(*cell + 1) * t;
}

static void blend(const color *a, color b, float t, color *out)
{
    out->r = a->r * (1.0f - t) + b.r * t;
    out->g = a->g * (1.0f - t) + b.g * t;
    out->b = a->b * (1.0f - t) + b.b * t;
}

void rings(const procedure_point *at, float scale DEFAULT(6.0f), float wobble DEFAULT(0.3f),
           color early DEFAULT(0.75f, 0.5f, 0.28f), color late DEFAULT(0.35f, 0.17f, 0.07f),
           color *Cout, float *roughness)
{
    int cell;
    float x = at->P.x, z = at->P.z, bend = 0.0f, size = wobble;
    for (int octave = 0; octave < 3; octave++) {
        bend += size * wave(at->P.y * (float)(1 << octave) + x, &cell);
        size *= 0.5f;
    }
    float r = (sqrtf(x * x + z * z) + bend) * scale;
    float t = r - floorf(r);
    t = t < 0.8f ? t / 0.8f : (1.0f - t) / 0.2f;
    blend(&early, late, t, Cout);
    *roughness = fmaxf(0.2f, 0.6f - 0.3f * t);
}
