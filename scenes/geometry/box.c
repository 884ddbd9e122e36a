/* SPDX-License-Identifier: Apache-2.0 */
#include "box.h"

#include <math.h>
#include <string.h>

/* Four of float32's 24 bits. */
static const double far_ratio = 16;

const struct box box_empty = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

void box_add(struct box *b, const double p[3])
{
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
        return;
    for (int c = 0; c < 3; c++) {
        b->lo[c] = fmin(b->lo[c], p[c]);
        b->hi[c] = fmax(b->hi[c], p[c]);
    }
}

static double half_side(const struct box *b)
{
    double half = 0;
    for (int c = 0; c < 3; c++)
        half = fmax(half, (b->hi[c] - b->lo[c]) / 2);
    return half;
}

/* Around a far box all points are beyond far_ratio - 1 of its half sides along some axis. */
bool box_may_be_far(const struct box *b)
{
    double half = half_side(b);
    bool may = b->lo[0] > b->hi[0];
    for (int c = 0; c < 3; c++)
        may = may || fmax(b->lo[c], -b->hi[c]) > (far_ratio - 1) * half;
    return may;
}

void box_origin(const struct box *b, double origin[3])
{
    double half = half_side(b), away = 0;
    int k;
    memset(origin, 0, 3 * sizeof *origin);
    for (int c = 0; c < 3; c++)
        away = fmax(away, fabs(b->hi[c] + b->lo[c]) / 2);
    if (!(half > 0 && away > far_ratio * half && isfinite(away)))
        return;
    frexp(half, &k);
    for (int c = 0; c < 3; c++)
        origin[c] = (double)(float)ldexp(rint(ldexp((b->hi[c] + b->lo[c]) / 2, -k)), k);
}
