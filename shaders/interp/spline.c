/* SPDX-License-Identifier: Apache-2.0 */
/* spline.c: cubic splines through uniform knots, and the inverse of monotone ones
 * (docs/reference/asl.md, Splines). */
#include "interp.h"

#include <math.h>
#include <string.h>

struct basis {
    const char *name;
    unsigned step;
    float m[4][4]; /* coefficients of t^3, t^2, t, 1 */
};

static const struct basis bases[] = {
    {"catmull-rom",
     1,
     {{-0.5f, 1.5f, -1.5f, 0.5f}, {1, -2.5f, 2, -0.5f}, {-0.5f, 0, 0.5f, 0}, {0, 1, 0, 0}}},
    {"bezier", 3, {{-1, 3, -3, 1}, {3, -6, 3, 0}, {-3, 3, 0, 0}, {1, 0, 0, 0}}},
    {"bspline",
     1,
     {{-1.0f / 6, 0.5f, -0.5f, 1.0f / 6},
      {0.5f, -1, 0.5f, 0},
      {-0.5f, 0, 0.5f, 0},
      {1.0f / 6, 4.0f / 6, 1.0f / 6, 0}}},
    {"hermite", 2, {{2, 1, -2, 1}, {-3, -2, 3, -1}, {0, 1, 0, 0}, {1, 0, 0, 0}}},
    {"linear", 1, {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, -1, 1, 0}, {0, 1, 0, 0}}},
    {"constant", 1, {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 0}}},
};

static const struct basis *find(const char *name, size_t n)
{
    if (n < 4)
        return NULL;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (strcmp(bases[i].name, name) == 0)
            return &bases[i];
    return NULL;
}

static size_t segments(const struct basis *b, size_t n) { return (n - 4) / b->step + 1; }

bool asl_spline_value(const char *basis, dual x, size_t n, size_t channels,
                      dual (*knot)(const void *ctx, size_t i, size_t channel), const void *ctx,
                      dual *out)
{
    const struct basis *b = find(basis, n);
    if (!b)
        return false;
    size_t count = segments(b, n);
    if (!(x.v >= 0)) /* also what is not a number */
        x = d_const(0);
    else if (x.v > 1)
        x = d_const(1);
    if (x.v == 0)
        x.v = 0; /* without a sign */
    dual t = d_mul(x, d_const((float)count));
    size_t seg = (size_t)t.v;
    if (seg >= count)
        seg = count - 1;
    t = d_sub(t, d_const((float)seg));
    size_t first = seg * b->step;
    for (size_t c = 0; c < channels; c++) {
        dual p[4];
        for (size_t i = 0; i < 4; i++)
            p[i] = knot(ctx, first + i, c);
        dual sum = d_const(0);
        for (size_t row = 0; row < 4; row++) {
            dual k = d_mul(d_const(b->m[row][0]), p[0]);
            for (size_t i = 1; i < 4; i++)
                k = d_add(k, d_mul(d_const(b->m[row][i]), p[i]));
            sum = row ? d_add(d_mul(sum, t), k) : k;
        }
        out[c] = sum;
    }
    return true;
}

static dual plain_knot(const void *ctx, size_t i, size_t channel)
{
    (void)channel;
    return d_const(((const float *)ctx)[i]);
}

/* The smallest x whose value reaches v, by halving in double: 64 times. Values outside give 0 or 1.
 */
static bool inverse_value(const char *basis, float v, size_t n, const float *y, float *out)
{
    dual lo, hi, mid;
    if (!asl_spline_value(basis, d_const(0), n, 1, plain_knot, y, &lo))
        return false;
    (void)asl_spline_value(basis, d_const(1), n, 1, plain_knot, y, &hi);
    bool rising = hi.v >= lo.v;
    if (rising ? v <= lo.v : v >= lo.v) {
        *out = 0;
        return true;
    }
    if (rising ? v >= hi.v : v <= hi.v) {
        *out = 1;
        return true;
    }
    double a = 0, b = 1;
    for (int i = 0; i < 64; i++) {
        double m = 0.5 * (a + b);
        (void)asl_spline_value(basis, d_const((float)m), n, 1, plain_knot, y, &mid);
        if (rising ? mid.v < v : mid.v > v)
            a = m;
        else
            b = m;
    }
    *out = (float)b;
    return true;
}

bool asl_spline_inverse(const char *basis, dual v, size_t n, const float *y, dual *out)
{
    dual x = {0, 1, 0}, at;
    if (!inverse_value(basis, v.v, n, y, &x.v))
        return false;
    (void)asl_spline_value(basis, x, n, 1, plain_knot, y, &at);
    bool still = at.dx == 0 || x.v <= 0 || x.v >= 1; /* beyond the ends nothing follows v */
    *out = (dual){x.v, still ? 0 : v.dx / at.dx, still ? 0 : v.dy / at.dx};
    return true;
}
