/* SPDX-License-Identifier: Apache-2.0 */
/* Tone curves for pictures of 8 bits. */
#include "scenes.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {TONE_LIST(LIST_TEXT)};

const char *tone_name(enum tone t) { return names[t]; }

/* J. Hable, "Uncharted 2: HDR Lighting", GDC 2010. */
static double hable(double x)
{
    const double A = 0.15, B = 0.50, C = 0.10, D = 0.20, E = 0.02, F = 0.30;
    return (x * (A * x + C * B) + D * E) / (x * (A * x + B) + D * F) - E / F;
}

/* T. Sobotka's AgX: primaries drawn in, 16.5 stops of light on a logarithmic scale, a sigmoid,
 * primaries let out again. Numbers and the sixth-order fit of the sigmoid: B. Wrensch, "Minimal AgX
 * Implementation", iolite-engine.com, 2023. What comes out is encoded for a display. */
static void agx(const double in[3], double out[3])
{
    static const double inset[3][3] = {{0.842479062253094, 0.0784335999999992, 0.0792237451477643},
                                       {0.0423282422610123, 0.878468636469772, 0.0791661274605434},
                                       {0.0423756549057051, 0.0784336, 0.879142973793104}};
    static const double outset[3][3] = {
        {1.19687900512017, -0.0980208811401368, -0.0990297440797205},
        {-0.0528968517574562, 1.15190312990417, -0.0989611768448433},
        {-0.0529716355144438, -0.0980434501171241, 1.15107367264116}};
    const double low = -12.47393, high = 4.026069;
    double curve[3];
    for (int i = 0; i < 3; i++) {
        double v = inset[i][0] * in[0] + inset[i][1] * in[1] + inset[i][2] * in[2];
        double x = (fmin(fmax(log2(fmax(v, 0x1p-100)), low), high) - low) / (high - low);
        curve[i] = 0.1191 * x - 0.00232 +
                   x * x * (0.4298 + x * (-6.868 + x * (31.96 + x * (-40.14 + x * 15.5))));
    }
    for (int i = 0; i < 3; i++)
        out[i] = outset[i][0] * curve[0] + outset[i][1] * curve[1] + outset[i][2] * curve[2];
}

void tone_map(enum tone t, const float rgb[3], double exposure, double encoded[3])
{
    double v[3], Y;
    for (int i = 0; i < 3; i++) {
        double light = (double)rgb[i] * exposure;
        v[i] = light > 0 ? fmin(light, 0x1p100) : 0; /* NaN too */
    }
    Y = 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
    if (t == TONE_AGX)
        agx(v, encoded);
    for (int i = 0; i < 3 && t != TONE_AGX; i++) {
        if (t == TONE_REINHARD) /* Reinhard et al., SIGGRAPH 2002, equation 3, on luminance */
            v[i] /= 1 + Y;
        else if (t == TONE_FILMIC)
            v[i] = hable(2 * v[i]) / hable(11.2);
        encoded[i] = srgb_encode(fmin(v[i], 1));
    }
    for (int i = 0; i < 3; i++)
        encoded[i] = fmin(fmax(encoded[i], 0), 1);
}
