/* SPDX-License-Identifier: Apache-2.0 */
/* A texture's value at a place of a surface (protocol section 7.2), in double. */
#include "scenes.h"

#include <math.h>

/* The texel that position i means in a row of n. */
static int64_t texel_wrap(enum texture_wrap how, int64_t i, int64_t n)
{
    if (how == WRAP_CLAMP)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    int64_t period = how == WRAP_MIRROR ? 2 * n : n, r = i % period;
    if (r < 0)
        r += period;
    return r < n ? r : 2 * n - 1 - r;
}

static void texel_load(const struct texture *t, int64_t x, int64_t y, double out[4])
{
    const struct image *im = &t->image;
    size_t column = (size_t)texel_wrap(t->wrap_u, x, im->width);
    size_t row = (size_t)texel_wrap(t->wrap_v, y, im->height);
    size_t at = (row * im->width + column) * im->channels;
    for (size_t c = 0; c < 3; c++)
        out[c] = image_value(im, at + (im->channels < 3 ? 0 : c), true);
    out[3] = im->channels == 4 ? image_value(im, at + 3, false) : 1;
}

static void row_lerp(const struct texture *t, int64_t x, int64_t y, double f, double out[4])
{
    double a[4], b[4];
    texel_load(t, x, y, a);
    texel_load(t, x + 1, y, b);
    for (int c = 0; c < 4; c++)
        out[c] = (1 - f) * a[c] + f * b[c];
}

void texture_value(const struct texture *t, const double uv[2], double out[4])
{
    double a = (double)t->scale[0] * uv[0], b = (double)t->scale[1] * uv[1];
    double cosine = (double)t->turn[0], sine = (double)t->turn[1];
    bool turned = cosine != 0 || sine != 0;
    double u = (turned ? cosine * a - sine * b : a) + (double)t->offset[0];
    double v = (turned ? sine * a + cosine * b : b) + (double)t->offset[1];
    double x = u * t->image.width, y = (1 - v) * t->image.height;
    x = fabs(x) <= 0x1p20 ? x : 0;
    y = fabs(y) <= 0x1p20 ? y : 0;
    if (t->filter == FILTER_NEAREST) {
        texel_load(t, (int64_t)floor(x), (int64_t)floor(y), out);
        return;
    }
    x -= 0.5;
    y -= 0.5;
    double x0 = floor(x), y0 = floor(y), top[4], bottom[4];
    row_lerp(t, (int64_t)x0, (int64_t)y0, x - x0, top);
    row_lerp(t, (int64_t)x0, (int64_t)y0 + 1, x - x0, bottom);
    for (int c = 0; c < 4; c++)
        out[c] = (1 - (y - y0)) * top[c] + (y - y0) * bottom[c];
}
