/* SPDX-License-Identifier: Apache-2.0 */
/* The simple measures against values worked out by hand, and metric_z against pictures of known
 * statistics. FLIP: flip_test.c. */
#include "metrics/metrics.h"

#include "reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.12g, expected %.12g within %g", value, expected, tolerance);
}

static void test_mse(void **state)
{
    (void)state;
    const double x[6] = {1, 2, 3, 4, 5, 6}, r[6] = {1, 2, 3, 3, 3, 10};
    const struct metric_pair p = {2, 1, x, r};
    double v;
    assert_int_equal(metric_mse(&p, &v, NULL), STATUS_OK);
    near(v, (1 + 4 + 16) / 6.0, 1e-15);
    assert_int_equal(metric_relmse(&p, 1, &v, NULL), STATUS_OK);
    near(v, (1 / 10.0 + 4 / 10.0 + 16 / 101.0) / 6, 1e-15);
}

static void test_psnr(void **state)
{
    (void)state;
    /* 0 shows as 0, and the linear value 0.21404114048 as 0.5 (IEC 61966-2-1): each differs by 1/2,
     * so that the mean square is 1/4 and the ratio 10 log10 4. With twice the exposure the light
     * one shows as 1 where it was 0.5 before. */
    const double half = pow((0.5 + 0.055) / 1.055, 2.4);
    const double x[3] = {half, half, half}, black[3] = {0};
    const struct metric_pair p = {1, 1, x, black}, same = {1, 1, x, x};
    double v;
    assert_int_equal(metric_psnr(&p, 1, &v, NULL), STATUS_OK);
    near(v, 10 * log10(4), 1e-12);
    assert_int_equal(metric_psnr(&p, 1 / half, &v, NULL), STATUS_OK);
    near(v, 0, 1e-12);
    assert_int_equal(metric_psnr(&same, 1, &v, NULL), STATUS_OK);
    assert_true(isinf(v) && v > 0);
    near(metric_display(0.001, 1), 0.01292, 1e-12);
    near(metric_display(7, 1), 1, 1e-15);
    near(metric_display(-7, 1), 0, 0);
}

/* Linear value that is shown as v. */
static double undisplay(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static void fill_gray(double *rgb, size_t pixels, const double *shown)
{
    for (size_t i = 0; i < 3 * pixels; i++)
        rgb[i] = undisplay(shown[i / 3]);
}

static void test_ssim(void **state)
{
    (void)state;
    enum { N = 11 };
    static double x[N * N * 3], r[N * N * 3], shown[N * N];
    const double c1 = 1e-4, c2 = 9e-4;
    const struct metric_pair p = {N, N, x, r}, same = {N, N, x, x};
    double v;
    /* Uniform pictures have no variance: (2 a b + c1)/(a^2 + b^2 + c1). */
    for (size_t i = 0; i < N * N; i++)
        shown[i] = 0.3;
    fill_gray(x, N * N, shown);
    for (size_t i = 0; i < N * N; i++)
        shown[i] = 0.6;
    fill_gray(r, N * N, shown);
    assert_int_equal(metric_ssim(&p, 1, &v, NULL), STATUS_OK);
    near(v, (2 * 0.3 * 0.6 + c1) / (0.09 + 0.36 + c1), 1e-12);
    /* Stripes 0, 1, 0 ... against their negative. With m the weight of the odd columns (those that
     * show 1): means m and 1 - m, both variances m (1 - m), covariance minus that. */
    double sum = 0, m = 0;
    for (int i = 0; i < N; i++) {
        double w = exp(-(i - 5.0) * (i - 5.0) / 4.5);
        sum += w;
        m += i % 2 ? w : 0;
    }
    m /= sum;
    for (size_t i = 0; i < N * N; i++) {
        shown[i] = i % N % 2 ? 1 : 0;
        for (size_t c = 0; c < 3; c++) {
            x[3 * i + c] = shown[i];
            r[3 * i + c] = 1 - shown[i];
        }
    }
    double s = m * (1 - m);
    assert_int_equal(metric_ssim(&p, 1, &v, NULL), STATUS_OK);
    near(v, (2 * s + c1) * (-2 * s + c2) / ((m * m + (1 - m) * (1 - m) + c1) * (2 * s + c2)),
         1e-12);
    assert_int_equal(metric_ssim(&same, 1, &v, NULL), STATUS_OK);
    near(v, 1, 1e-12);
    const struct metric_pair small = {N, N - 1, x, r};
    assert_int_equal(metric_ssim(&small, 1, &v, NULL), STATUS_ARG);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    const double one[3] = {1, 1, 1}, bad[3] = {1, 1, INFINITY};
    const struct metric_pair good = {1, 1, one, one}, nan = {1, 1, one, bad},
                             empty = {1, 0, one, one};
    const struct metric_estimate a = {one, NULL, 1}, none = {one, NULL, 0},
                                 infinite = {bad, NULL, 1};
    double v = 42;
    struct metric_z z = {.p = 42};
    struct error err;
    assert_int_equal(metric_mse(&nan, &v, &err), STATUS_RANGE);
    assert_int_equal(metric_mse(&empty, &v, &err), STATUS_ARG);
    assert_int_equal(metric_relmse(&good, 0, &v, &err), STATUS_ARG);
    assert_int_equal(metric_relmse(&good, NAN, &v, &err), STATUS_ARG);
    assert_int_equal(metric_psnr(&good, -1, &v, &err), STATUS_ARG);
    assert_int_equal(metric_z(1, 1, &a, &none, 0, &z, &err), STATUS_ARG);
    assert_int_equal(metric_z(1, 1, &a, &a, -1, &z, &err), STATUS_ARG);
    assert_int_equal(metric_z(1, 1, &infinite, &a, 0, &z, &err), STATUS_RANGE);
    assert_true(v == 42 && z.p == 42);
}

static void test_film(void **state)
{
    (void)state;
    struct film f;
    assert_int_equal(film_init(&f, 2, 1, 34, NULL), STATUS_OK);
    f.sums[0] = (int64_t)3 << 34;
    f.sums[1] = (int64_t)1 << 33;
    f.sums[3] = ((int64_t)7 << 32) + 4; /* four samples, seven flags */
    double rgb[6];
    metric_from_film(&f, rgb);
    near(rgb[0], 0.75, 0);
    near(rgb[1], 0.125, 0);
    near(rgb[2], 0, 0);
    near(rgb[3], 0, 0); /* no samples */
    film_free(&f);
}

/* ---- metric_z ------------------------------------------------------------------------ */

enum { SIDE = 48, VALUES = SIDE * SIDE * 3, SAMPLES = 8 };
/* Comparisons whose alarms are counted, and of them with p < 0.05 at most so many: see test_level. */
enum { REPEATED = 100 / TEST_THINNING, ALARMS = TEST_THINNING > 1 ? 4 : 13 };

/* A picture of `samples` samples a pixel with mean 1 + bias in each channel. shape 0: exponential.
 * 1: a firefly of 1000 once in 1000 samples, else 0. 2: 1, without noise. 3: Pareto's law of index
 * 1.2 with mean 1, which has no variance: 1/d^2 beside a wall is such a law of index 1. */
static void synthesize(uint32_t seed, int shape, double bias, uint32_t samples, double *mean,
                       double *variance)
{
    for (uint32_t i = 0; i < VALUES; i++) {
        double sum = 0, squares = 0;
        for (uint32_t s = 0; s < samples; s++) {
            const uint32_t counter[4] = {i, s, 0, 0}, key[2] = {seed, 0};
            uint32_t word[4];
            philox4x32(counter, key, word);
            double u = u01(word[0]) + 0x1p-25;
            double v = shape == 0   ? -log(u)
                       : shape == 1 ? (u < 1e-3 ? 1000 : 0)
                       : shape == 3 ? pow(u, -1 / 1.2) / 6
                                    : 1;
            v *= 1 + bias;
            sum += v;
            squares += v * v;
        }
        mean[i] = sum / samples;
        variance[i] = fmax(0, (squares - sum * sum / samples) / (samples - 1));
    }
}

static double mean_a[VALUES], mean_b[VALUES], variance_a[VALUES], variance_b[VALUES];

static double compare(uint32_t seed, int shape, double bias, bool with_variance, struct metric_z *z)
{
    synthesize(2 * seed, shape, 0, SAMPLES, mean_a, variance_a);
    synthesize(2 * seed + 1, shape, bias, SAMPLES, mean_b, variance_b);
    const struct metric_estimate a = {mean_a, with_variance ? variance_a : NULL, SAMPLES},
                                 b = {mean_b, with_variance ? variance_b : NULL, SAMPLES};
    assert_int_equal(metric_z(SIDE, SIDE, &a, &b, 0, z, NULL), STATUS_OK);
    return z->p;
}

/* Equal renderers: of 100 comparisons each, those with p < 0.05 are at most as many as a binomial
 * of 0.05 has with probability 1 - 1e-4 (13; of 10, 4). For metric_z errs to the safe side, far
 * fewer are expected. */
static void test_level(void **state)
{
    (void)state;
    for (int shape = 0; shape < 4; shape++) {
        for (int with_variance = 0; shape != 2 && with_variance < 2; with_variance++) {
            int small = 0;
            double least = 1;
            for (uint32_t seed = 1; seed <= REPEATED; seed++) {
                struct metric_z z;
                double p = compare(seed, shape, 0, with_variance, &z);
                small += p < 0.05;
                least = fmin(least, p);
            }
            print_message("shape %d, variance %d: %d of %d below 0.05, least %g\n", shape,
                          with_variance, small, REPEATED, least);
            assert_true(small <= ALARMS);
        }
    }
}

/* What metric_power says is noticed: that much is, and two thirds of it are not. The pixels that are
 * black are other ones here, so there is room for what is in them. */
static void test_least_noticed(void **state)
{
    (void)state;
    const double level = 1e-5;
    for (int shape = 0; shape < 4;
         shape += 3) { /* the other picture has the same samples and noise of
                                                    a ten thousandth: a pair's */
        synthesize(77, shape, 0, SAMPLES, mean_b, variance_b);
        const struct metric_estimate a = {mean_a, NULL, SAMPLES}, b = {mean_b, NULL, SAMPLES};
        struct metric_power w;
        struct metric_z z;
        for (int kind = 0; kind < 2; kind++) {
            for (int part = 2; part <= 4; part++) { /* of the error: two thirds, the whole, 4/3 */
                for (uint32_t i = 0; i < VALUES; i++)
                    mean_a[i] = mean_b[i] * (i * 7 % 5 < 2 ? 1 + 1e-4 : 1 - 1e-4);
                if (part == 2 && kind == 0) {
                    assert_int_equal(metric_power(SIDE, SIDE, &a, &b, 1e-3, level, &w, NULL),
                                     STATUS_OK);
                    print_message("shape %d: radiance %g, pixels %g\n", shape, w.radiance,
                                  w.pixels);
                    assert_true(w.radiance > 1e-3 && w.radiance < 0.01);
                    assert_true(w.pixels > 1.0 / (SIDE * SIDE) && w.pixels < 0.2);
                }
                const double size = (kind ? w.pixels * (part == 4   ? 2
                                                        : part == 2 ? 0.4
                                                                    : 0)
                                          : w.radiance * part / 3.0);
                for (uint32_t i = 0; i < VALUES; i++)
                    mean_a[i] *=
                        kind == 0 ? 1 + size
                        : (uint32_t)(i / 3 * UINT32_C(0x9e3779b9) + 0x1234567) * 0x1p-32 < size ? 0
                                                                                                : 1;
                assert_int_equal(metric_z(SIDE, SIDE, &a, &b, 1e-3, &z, NULL), STATUS_OK);
                if (kind == 0 || part != 3)
                    assert_int_equal(z.p < level * (1 + 1e-6), part >= 3);
            }
        }
    }
    /* nothing shows in a black picture */
    memset(mean_a, 0, sizeof mean_a);
    const struct metric_estimate none = {mean_a, NULL, SAMPLES};
    struct metric_power w;
    assert_int_equal(metric_power(SIDE, SIDE, &none, &none, 0, level, &w, NULL), STATUS_OK);
    assert_true(isinf(w.radiance) && isinf(w.pixels));
}

/* Gray pictures: a sample's channels are one number. Coins decide whether a pixel is a thousandth
 * up or down; of 2000, a binomial of 0.001 has more than 12 below 0.001 with probability 10^-6. One
 * sum of squares over all channels, as if they were independent, has some 50. */
static void test_gray(void **state)
{
    (void)state;
    enum { COMPARISONS = 2000 / TEST_THINNING };
    int small = 0;
    for (uint32_t seed = 1; seed <= COMPARISONS; seed++) {
        for (uint32_t i = 0; i < VALUES; i++) {
            const uint32_t counter[4] = {i / 3 / 32, 0, 2, 0}, key[2] = {seed, 0};
            static uint32_t word[4];
            if (i % (3 * 32) == 0)
                philox4x32(counter, key, word);
            mean_a[i] = 1;
            mean_b[i] = word[0] >> i / 3 % 32 & 1 ? 1.001 : 0.999;
        }
        const struct metric_estimate a = {mean_a, NULL, SAMPLES}, b = {mean_b, NULL, SAMPLES};
        struct metric_z z;
        assert_int_equal(metric_z(SIDE, SIDE, &a, &b, 0, &z, NULL), STATUS_OK);
        small += z.p < 0.001;
    }
    print_message("gray: %d of %d below 0.001\n", small, COMPARISONS);
    assert_true(small <= 12);
}

/* A truth of 32 times the samples, whose variance is taken for both: the asymmetry of fireflies (in
 * most squares the short picture has none, so that it is too dark everywhere) does not count as a
 * difference. Of 20, a binomial of 0.05 has more than 7 with probability 3e-6. */
static void test_unequal_counts(void **state)
{
    (void)state;
    const uint32_t many = 32 * SAMPLES;
    for (int shape = 0; shape < 2; shape++) {
        int small = 0;
        for (uint32_t seed = 500; seed < 500 + 20 / TEST_THINNING; seed++) {
            struct metric_z z;
            synthesize(2 * seed, shape, 0, many, mean_a, variance_a);
            synthesize(2 * seed + 1, shape, 0, SAMPLES, mean_b, variance_b);
            const struct metric_estimate a = {mean_a, variance_a, many},
                                         b = {mean_b, variance_a, SAMPLES};
            assert_int_equal(metric_z(SIDE, SIDE, &a, &b, 0, &z, NULL), STATUS_OK);
            small += z.p < 0.05;
        }
        print_message("shape %d, 32 times the samples: %d of %d below 0.05\n", shape, small,
                      20 / TEST_THINNING);
        assert_true(small <= 7);
    }
}

static void test_pixel_shares(void **state)
{
    (void)state;
    struct metric_z z;
    compare(7, 0, 0, true, &z);
    /* t-like with 2 (SAMPLES - 1) degrees of freedom: somewhat beyond the normal 0.0455 */
    assert_true(z.beyond2 > 0.02 && z.beyond2 < 0.12);
    assert_true(z.beyond3 < 0.03);
    compare(7, 0, 0, false, &z);
    assert_true(isnan(z.beyond2) && isnan(z.beyond3));
}

/* Exponential samples have a relative deviation of 1. SIDE^2 pixels of 8 samples: a standard error
 * of the difference of sqrt(2 / 18432) = 1.04% a channel; a bias of 8% is 7.7 of them and must be
 * found, surely (p < 1e-6). */
static void test_power(void **state)
{
    (void)state;
    struct metric_z z;
    assert_true(compare(3, 0, 0.08, true, &z) < 1e-6);
    assert_true(compare(3, 0, 0.08, false, &z) < 1e-6);
    assert_int_equal(z.size, 0); /* everywhere: the whole picture shows it best */
    near(z.mean_difference[z.channel], -0.08, 0.04);
    /* No noise at all: any difference is one, unless it is said to be rounding. */
    assert_true(compare(3, 2, 1e-6, true, &z) < 1e-6);
    const struct metric_estimate a = {mean_a, NULL, SAMPLES}, b = {mean_b, NULL, SAMPLES};
    assert_int_equal(metric_z(SIDE, SIDE, &a, &b, 2e-6, &z, NULL), STATUS_OK);
    assert_true(z.p == 1 && z.worst_z == 0);
}

/* The same heavy-tailed samples on both sides, but for rounding (up to 2^-15 of a value, either
 * way) and decisions that fell otherwise: one value in 2000 is that of other samples. In the square
 * of `side` pixels at (16, 16), or everywhere, the second picture is times `factor`. */
static double compare_pairs(uint32_t seed, uint32_t side, double factor)
{
    struct metric_z z;
    synthesize(2 * seed, 3, 0, SAMPLES, mean_a, variance_a);
    synthesize(2 * seed + 1, 3, 0, SAMPLES, mean_b, variance_b);
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t counter[4] = {i, 0, 1, 0}, key[2] = {seed, 0};
        uint32_t word[4], x = i / 3 % SIDE, y = i / 3 / SIDE;
        philox4x32(counter, key, word);
        if (u01(word[0]) >= 1.0 / 2000)
            mean_b[i] = mean_a[i] * (1 + (2 * u01(word[1]) - 1) * 0x1p-15);
        if (side == 0 || (x - 16 < side && y - 16 < side))
            mean_b[i] *= factor;
    }
    const struct metric_estimate a = {mean_a, NULL, SAMPLES}, b = {mean_b, NULL, SAMPLES};
    assert_int_equal(metric_z(SIDE, SIDE, &a, &b, 0x1p-14, &z, NULL), STATUS_OK);
    return z.p;
}

/* As test_level, for pairs with 2^-14 allowed: fewer alarms than the level; a bias of 1%, and a
 * square of 16 pixels that is black, are found by 1e-5 each time. */
static void test_heavy_pairs(void **state)
{
    (void)state;
    int small = 0;
    double least = 1;
    for (uint32_t seed = 1; seed <= REPEATED; seed++) {
        double p = compare_pairs(seed, 0, 1);
        small += p < 0.05;
        least = fmin(least, p);
    }
    assert_true(small <= ALARMS);
    assert_true(least > 1e-5);
    for (uint32_t seed = 1; seed <= 20 / TEST_THINNING; seed++) {
        double bias = compare_pairs(seed, 0, 1.01), black = compare_pairs(seed, 16, 0);
        if (!(bias < 1e-5 && black < 1e-5))
            fail_msg("seed %u: p = %.3g with 1%% more, %.3g with a black square", seed, bias,
                     black);
    }
}

/* A wrong square in a corner of one channel is found where it is. */
static void test_place(void **state)
{
    (void)state;
    struct metric_z z;
    synthesize(21, 0, 0, SAMPLES, mean_a, variance_a);
    synthesize(22, 0, 0, SAMPLES, mean_b, variance_b);
    for (size_t y = 32; y < 40; y++)
        for (size_t x = 16; x < 24; x++)
            mean_b[(y * SIDE + x) * 3 + 1] *= 1.8;
    const struct metric_estimate a = {mean_a, variance_a, SAMPLES},
                                 b = {mean_b, variance_b, SAMPLES};
    assert_int_equal(metric_z(SIDE, SIDE, &a, &b, 0, &z, NULL), STATUS_OK);
    assert_true(z.p < 1e-4);
    assert_int_equal(z.x, 16);
    assert_int_equal(z.y, 32);
    assert_int_equal(z.size, 8);
    assert_int_equal(z.channel, 1);
}

/* ---- on real pictures ---------------------------------------------------------------- */

static struct reference_picture render(const struct scene *s, uint64_t seed, uint32_t spp)
{
    const struct reference_job job = {.width = 64,
                                      .height = 64,
                                      .sample_count = spp,
                                      .max_depth = 6,
                                      .rr_depth = 6,
                                      .seed = seed};
    struct reference *r;
    struct reference_picture p;
    struct error err = {0};
    if (reference_open(s, &r, &err) != STATUS_OK ||
        reference_render(r, &job, &p, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    reference_close(r);
    return p;
}

static struct metric_z compare_pictures(const struct reference_picture *a,
                                        const struct reference_picture *b)
{
    const struct metric_estimate ea = {a->beauty, a->variance, a->samples},
                                 eb = {b->beauty, b->variance, b->samples};
    struct metric_z z;
    assert_int_equal(metric_z(a->width, a->height, &ea, &eb, 0, &z, NULL), STATUS_OK);
    print_message("p %.3g (worst z %.2f at %u,%u size %u channel %u; chi-square %.1f of %zu)\n",
                  z.p, z.worst_z, z.x, z.y, z.size, z.channel, z.chi_square, z.cells);
    return z;
}

/* The documented power: in cornell, 64 x 64 pixels at 256 samples, white walls that reflect 1% more
 * are found at level 1e-3; of a tenth of the samples, 3.2%. */
static void test_cornell(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct scene *s;
    const char *path;
    struct error err = {0};
    if (scene_resolve(&arena, "cornell", &path, &err) != STATUS_OK ||
        scene_load(path, &s, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    const uint32_t spp = 256 / TEST_THINNING;
    struct reference_picture a = render(s, 1, spp), b = render(s, 2, spp);
    assert_true(compare_pictures(&a, &b).p > 1e-3);
    reference_picture_free(&b);

    size_t changed = 0;
    for (size_t i = 0; i < s->material_count; i++) {
        struct material *m = &s->materials[i];
        float least = fminf(m->base.value[0], fminf(m->base.value[1], m->base.value[2]));
        for (int c = 0; least > 0.5F && c < 3; c++, changed++)
            m->base.value[c] *= 1 + 0.01F * sqrtf(TEST_THINNING);
    }
    assert_true(changed > 0);
    b = render(s, 2, spp);
    assert_true(compare_pictures(&a, &b).p < 1e-3);
    reference_picture_free(&a);
    reference_picture_free(&b);
    scene_free(s);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mse),
        cmocka_unit_test(test_psnr),
        cmocka_unit_test(test_ssim),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_film),
        cmocka_unit_test(test_level),
        cmocka_unit_test(test_gray),
        cmocka_unit_test(test_least_noticed),
        cmocka_unit_test(test_pixel_shares),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_heavy_pairs),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_unequal_counts),
        cmocka_unit_test(test_cornell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
