/* SPDX-License-Identifier: Apache-2.0 */
/* noise_test.c: the noises against programs of their own written from docs/reference/asl.md in
 * double, finite differences, and what must hold of any noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "shaders.h"

static uint32_t seed = 12345;

static double random01(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) * (1.0 / 16777216.0);
}

/* lookup3's finaliser with the third word changed, as simplex noise hashes its corners */
static uint32_t rotate_left(uint32_t x, unsigned k) { return (x << k) | (x >> (32 - k)); }

static uint32_t scramble(uint32_t a, uint32_t b, uint32_t c)
{
    static const uint8_t shifts[] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t w[3] = {a, b, c ^ 0xdeadbeefu};
    for (unsigned i = 0; i < 7; i++) { /* c from b, a from c, b from a, and round again */
        uint32_t *to = &w[(i + 2) % 3];
        uint32_t from = w[(i + 1) % 3];
        *to ^= from;
        *to -= rotate_left(from, shifts[i]);
    }
    return w[2];
}

/* ---- an independent Perlin noise: recursive over dimensions, gradients as vectors ----------- */

static void gradient(unsigned d, uint32_t h, double g[4])
{
    static const uint8_t axis3[16][2] = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 2}, {0, 2},
                                         {0, 2}, {0, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2},
                                         {1, 0}, {1, 2}, {1, 0}, {1, 2}};
    double su = h & 1 ? -1 : 1, sv = h & 2 ? -1 : 1, ss = h & 4 ? -1 : 1;
    g[0] = g[1] = g[2] = g[3] = 0;
    if (d == 1) {
        g[0] = (1 + (h & 7)) * (h & 8 ? -1.0 : 1.0);
    } else if (d == 2) {
        g[(h & 4) != 0] += su;
        g[(h & 4) == 0] += 2 * sv;
    } else if (d == 3) {
        g[axis3[h & 15][0]] += su;
        g[axis3[h & 15][1]] += sv;
    } else {
        h &= 31;
        g[h < 24 ? 0 : 1] += su;
        g[h < 16 ? 1 : 2] += sv;
        g[h < 8 ? 2 : 3] += ss;
    }
}

static double blend(unsigned d, unsigned axis, const double *x, const double *period,
                    int64_t *corner, int channel)
{
    if (axis == d) {
        uint32_t w[4];
        double g[4], dot = 0;
        for (unsigned i = 0; i < d; i++) {
            int64_t c = corner[i];
            if (period) {
                int64_t p = (int64_t)floor(period[i]);
                p = p < 1 ? 1 : p;
                c = ((c % p) + p) % p;
            }
            w[i] = (uint32_t)c;
        }
        uint32_t h = asl_hash_words(w, d);
        if (channel >= 0)
            h = (h >> (8 * channel)) & 255;
        gradient(d, h, g);
        for (unsigned i = 0; i < d; i++)
            dot += g[i] * (x[i] - (double)corner[i]);
        return dot;
    }
    double t = x[axis] - floor(x[axis]);
    t = t * t * t * (t * (t * 6 - 15) + 10);
    int64_t base = (int64_t)floor(x[axis]);
    corner[axis] = base;
    double a = blend(d, axis + 1, x, period, corner, channel);
    corner[axis] = base + 1;
    double b = blend(d, axis + 1, x, period, corner, channel);
    return a + t * (b - a);
}

static double perlin(unsigned d, const double *x, const double *period, int channel)
{
    static const double scale[] = {0, 0.25, 0.6616, 0.982, 0.8344};
    int64_t corner[4];
    return scale[d] * blend(d, 0, x, period, corner, channel);
}

static void point(unsigned d, double range, struct asl_dual *x, double *y)
{
    for (unsigned i = 0; i < d; i++) {
        x[i] = (struct asl_dual){(float)((random01() - 0.5) * range), (float)random01(),
                                 (float)random01()};
        y[i] = (double)x[i].v;
    }
}

static void perlin_agrees(void **state)
{
    (void)state;
    for (unsigned d = 1; d <= 4; d++) {
        for (int i = 0; i < 4000; i++) {
            struct asl_dual x[4], out[3];
            double y[4], period[4];
            float fperiod[4];
            point(d, 40, x, y);
            for (unsigned k = 0; k < d; k++) {
                fperiod[k] = (float)(random01() * 8);
                period[k] = (double)fperiod[k];
            }
            /* Values are below 16 before the scale; about 30 roundings of at most 2^-24 relative
             * each. */
            double tolerance = 16 * 30 * 6e-8;
            asl_noise_eval(ASL_NOISE_PERLIN, d, x, NULL, false, out);
            assert_true(fabs((double)out[0].v - perlin(d, y, NULL, -1)) < tolerance);
            asl_noise_eval(ASL_NOISE_PERLIN, d, x, NULL, true, out);
            for (int c = 0; c < 3; c++)
                assert_true(fabs((double)out[c].v - perlin(d, y, NULL, c)) < tolerance);
            asl_noise_eval(ASL_NOISE_UPERLIN, d, x, fperiod, false, out);
            assert_true(fabs((double)out[0].v - (perlin(d, y, period, -1) + 1) / 2) < tolerance);
        }
    }
}

/* The derivative carried along against a central difference of the independent noise. */
static void perlin_derivatives(void **state)
{
    (void)state;
    const double h = 1e-5;
    for (unsigned d = 1; d <= 4; d++) {
        for (int i = 0; i < 1000; i++) {
            struct asl_dual x[4], out[1];
            double y[4], a[4], b[4];
            point(d, 20, x, y);
            bool near = false; /* the second derivative jumps nowhere, but floors must not change
                                  inside the step */
            for (unsigned k = 0; k < d; k++) {
                double f = y[k] - floor(y[k]);
                near = near || f < 2 * h || f > 1 - 2 * h;
                a[k] = y[k] - h * (double)x[k].dx;
                b[k] = y[k] + h * (double)x[k].dx;
            }
            if (near)
                continue;
            asl_noise_eval(ASL_NOISE_PERLIN, d, x, NULL, false, out);
            double want = (perlin(d, b, NULL, -1) - perlin(d, a, NULL, -1)) / (2 * h);
            assert_true(fabs((double)out[0].dx - want) < 2e-4 * (1 + fabs(want)));
        }
    }
}

/* ---- an independent simplex noise: the path through the simplex by sorting ------------------ */

static double simplex(unsigned d, const double *x, uint32_t channel)
{
    static const double range[] = {0, 0.36, 64, 68, 54};
    static const char *const g2[] = {"--", "+0", "-0", "++", "-+", "0-", "0+", "+-"};
    static const char *const g3[] = {"+0+", "0++", "-0+", "0-+", "+0-", "0+-", "-0-", "0--",
                                     "+-0", "++0", "-+0", "--0", "+0+", "-0+", "0+-", "0--"};
    double s = 0, t = 0, f[4], sum = 0;
    double skew = d > 1 ? (sqrt(d + 1.0) - 1) / d : 0,
           unskew = d > 1 ? (1 - 1 / sqrt(d + 1.0)) / d : 0;
    int64_t i[4];
    unsigned order[4];
    for (unsigned k = 0; k < d; k++)
        s += x[k];
    for (unsigned k = 0; k < d; k++) {
        i[k] = (int64_t)floor(x[k] + s * skew);
        t += (double)i[k];
    }
    for (unsigned k = 0; k < d; k++) {
        f[k] = x[k] - ((double)i[k] - t * unskew);
        order[k] = k;
    }
    for (unsigned a = 0; a < d; a++)
        for (unsigned b = 0; b + 1 < d; b++)
            if (f[order[b]] < f[order[b + 1]]) {
                unsigned swap = order[b];
                order[b] = order[b + 1];
                order[b + 1] = swap;
            }
    for (unsigned corner = 0; corner <= d; corner++) {
        if (corner)
            i[order[corner - 1]]++;
        double q = d == 1 ? 1 : 0.5, dot = 0, g[4];
        uint32_t j[4] = {0}, h;
        for (unsigned k = 0; k < d; k++) {
            double step = 0;
            for (unsigned n = 0; n < corner; n++)
                step += order[n] == k;
            g[k] = f[k] - step + corner * unskew;
            q -= g[k] * g[k];
            j[k] = (uint32_t)i[k];
        }
        if (q <= 0)
            continue;
        if (d == 1) {
            h = scramble(j[0], channel, 0);
            dot = g[0] * (1 + (h & 7)) * (h & 8 ? -1 : 1);
        } else if (d < 4) {
            h = d == 2 ? scramble(j[0], j[1], channel) & 7
                       : scramble(j[0], j[1], scramble(j[2], channel, 0)) & 15;
            for (unsigned k = 0; k < d; k++) {
                char c = d == 2 ? g2[h][k] : g3[h][k];
                dot += g[k] * (c == '+' ? 1 : c == '-' ? -1 : 0);
            }
        } else {
            h = scramble(j[0], j[1], scramble(j[2], j[3], channel)) & 31;
            unsigned bit = 2;
            for (unsigned k = 0; k < 4; k++)
                if (k != h / 8)
                    dot += g[k] * ((h >> bit--) & 1 ? -1 : 1);
        }
        sum += q * q * q * q * dot;
    }
    return range[d] * sum;
}

static void simplex_agrees(void **state)
{
    (void)state;
    for (unsigned d = 1; d <= 4; d++) {
        for (int i = 0; i < 3000; i++) {
            struct asl_dual x[4], out[3];
            double y[4];
            point(d, 20, x, y);
            asl_noise_eval(ASL_NOISE_SIMPLEX, d, x, NULL, true, out);
            /* offsets carry the rounding of coordinates up to 30 (2^-20 each); q^4 * gradient bends
             * by less than 20 per unit, the scale is at most 68 over kernels of at most 0.0625:
             * 2^-20 * 4 * 20 */
            for (uint32_t c = 0; c < 3; c++)
                assert_true(fabs((double)out[c].v - simplex(d, y, c)) < 2e-4);
            asl_noise_eval(ASL_NOISE_USIMPLEX, d, x, NULL, false, out);
            assert_true(fabs((double)out[0].v - (simplex(d, y, 0) + 1) / 2) < 1e-4);
        }
    }
}

/* Simplex: against a difference of itself, and continuous across cell borders. */
static void simplex_derivatives(void **state)
{
    (void)state;
    for (unsigned d = 1; d <= 4; d++) {
        unsigned compared = 0;
        for (int i = 0; i < 2000; i++) {
            struct asl_dual x[4], a[4], b[4], out[3], lo[3], hi[3];
            double y[4];
            const float h = 1e-3f;
            point(d, 6, x, y);
            for (unsigned k = 0; k < d; k++) {
                a[k] = b[k] = x[k];
                a[k].v = x[k].v - h * x[k].dx;
                b[k].v = x[k].v + h * x[k].dx;
            }
            asl_noise_eval(ASL_NOISE_SIMPLEX, d, x, NULL, true, out);
            asl_noise_eval(ASL_NOISE_SIMPLEX, d, a, NULL, true, lo);
            asl_noise_eval(ASL_NOISE_SIMPLEX, d, b, NULL, true, hi);
            for (int c = 0; c < 3; c++) {
                double want = ((double)hi[c].v - (double)lo[c].v) / (2 * (double)h);
                /* difference quotient: truncation of order h^2 times the third derivative (some
                   hundreds), and float cancellation of 1e-6 / 2e-3 */
                assert_true(fabs((double)out[c].dx - want) < 0.02 * (1 + fabs(want)));
                assert_true(fabs((double)hi[c].v - (double)lo[c].v) < 0.2);
                compared++;
            }
        }
        assert_true(compared == 6000);
    }
}

static void lattice_points_are_zero(void **state)
{
    (void)state;
    for (unsigned d = 1; d <= 4; d++) {
        for (int i = 0; i < 200; i++) {
            struct asl_dual x[4], out[3];
            double y[4];
            point(d, 100, x, y);
            for (unsigned k = 0; k < d; k++)
                x[k].v = floorf(x[k].v);
            asl_noise_eval(ASL_NOISE_PERLIN, d, x, NULL, true, out);
            for (int c = 0; c < 3; c++)
                assert_true(out[c].v == 0);
            asl_noise_eval(ASL_NOISE_UPERLIN, d, x, NULL, false, out);
            assert_true(out[0].v == 0.5f);
        }
    }
}

static void periods_repeat(void **state)
{
    (void)state;
    static const enum asl_noise kinds[] = {ASL_NOISE_PERLIN, ASL_NOISE_UPERLIN, ASL_NOISE_CELL,
                                           ASL_NOISE_HASH};
    for (unsigned d = 1; d <= 4; d++) {
        for (size_t k = 0; k < 4; k++) {
            for (int i = 0; i < 300; i++) {
                struct asl_dual x[4], a[3], b[3];
                double y[4];
                float period[4];
                point(d, 8, x, y);
                for (unsigned n = 0; n < d; n++) {
                    period[n] = (float)(1 + (int)(random01() * 7)) + 0.25f;
                    x[n].v = floorf(x[n].v * 64) / 64; /* so that adding the period is exact */
                }
                asl_noise_eval(kinds[k], d, x, period, true, a);
                x[i % d].v += floorf(period[i % d]) * (i % 2 ? 1.0f : -3.0f);
                asl_noise_eval(kinds[k], d, x, period, true, b);
                for (int c = 0; c < 3; c++)
                    assert_true(a[c].v == b[c].v);
            }
        }
    }
}

/* Ranges, means and the spread of cell and hash noise: 40000 independent uniform numbers have a
 * mean within 5 sigma, sigma = 1 / sqrt(12 * 40000) = 0.00144, and each of 20 bins 2000 +- 5
 * * 43.6. */
static void distributions(void **state)
{
    (void)state;
    for (unsigned d = 1; d <= 4; d++) {
        for (int kind = ASL_NOISE_PERLIN; kind < ASL_NOISE_COUNT; kind++) {
            double sum = 0, low = 1e9, high = -1e9;
            unsigned bins[20] = {0};
            const int n = 40000;
            for (int i = 0; i < n; i++) {
                struct asl_dual x[4], out[1];
                double y[4];
                point(d, 2e6, x, y);
                asl_noise_eval((enum asl_noise)kind, d, x, NULL, false, out);
                double v = (double)out[0].v;
                sum += v;
                low = v < low ? v : low;
                high = v > high ? v : high;
                bins[v < 0 ? 0 : v >= 1 ? 19 : (int)(v * 20)]++;
            }
            bool is_signed = kind == ASL_NOISE_PERLIN || kind == ASL_NOISE_SIMPLEX;
            assert_true(low >= (is_signed ? -1.001 : -0.0005) && high <= 1.001);
            if (kind == ASL_NOISE_CELL || kind == ASL_NOISE_HASH) {
                if (d == 1 && kind == ASL_NOISE_CELL)
                    continue; /* floats of 2e6 in one dimension repeat cells: not independent */
                assert_true(fabs(sum / n - 0.5) < 5 * 0.00144);
                for (int b = 0; b < 20; b++)
                    assert_true(abs((int)bins[b] - n / 20) < 5 * 44);
            } else {
                assert_true(fabs(sum / n - (is_signed ? 0 : 0.5)) < 0.02);
            }
        }
    }
}

static void far_coordinates_stay_finite(void **state)
{
    (void)state;
    static const float values[] = {3e9f, -3e9f, 1e38f, -1e38f, 2147483648.0f, -0.0f, 1e-40f};
    for (unsigned d = 1; d <= 4; d++) {
        for (int kind = ASL_NOISE_PERLIN; kind < ASL_NOISE_COUNT; kind++) {
            for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
                struct asl_dual x[4], out[3];
                for (unsigned k = 0; k < d; k++)
                    x[k] = (struct asl_dual){values[(i + k) % 7], 1, 1};
                asl_noise_eval((enum asl_noise)kind, d, x, NULL, true, out);
                if (kind == ASL_NOISE_CELL || kind == ASL_NOISE_HASH)
                    assert_true(out[0].v >= 0 && out[0].v <= 1);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perlin_agrees),           cmocka_unit_test(perlin_derivatives),
        cmocka_unit_test(simplex_agrees),          cmocka_unit_test(simplex_derivatives),
        cmocka_unit_test(lattice_points_are_zero), cmocka_unit_test(periods_repeat),
        cmocka_unit_test(distributions),           cmocka_unit_test(far_coordinates_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
