/* SPDX-License-Identifier: Apache-2.0 */
/* The generator against its published vectors, the maps against chi-square at level 0.01 shared
 * over four tests. */
#include "numbers/random.h"

#include "base.h"
#include "tests/test_statistics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double LEVEL = 0.01 / 4;
enum { SAMPLES = 200000 };

/* docs/reference/protocol.md section 3.1 (Random123's kat_vectors). */
static void test_philox(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } vectors[3] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        philox4x32(vectors[i].counter, vectors[i].key, out);
        assert_memory_equal(out, vectors[i].out, sizeof out);
    }
    /* A block is counter (x, y, sample, block) under key (seed mod 2^32, seed / 2^32), 24 bits of
     * each word. */
    double u[4];
    random_block(0x299f31d0a4093822, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, u);
    for (int i = 0; i < 4; i++)
        assert_true(u[i] == (vectors[2].out[i] >> 8) / 16777216.0);
}

static void test_disk(void **state)
{
    (void)state;
    /* 8 rings of equal area by 16 sectors */
    double observed[128] = {0}, expected[128];
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double u[4], x, y;
        test_numbers(2, i, u);
        map_disk(u[0], u[1], &x, &y);
        assert_true(x * x + y * y <= 1 + 1e-15);
        int ring = (int)fmin(7, 8 * (x * x + y * y));
        int sector = (int)fmin(15, (atan2(y, x) + PI) / (2 * PI) * 16);
        observed[ring * 16 + sector]++;
    }
    for (int i = 0; i < 128; i++)
        expected[i] = SAMPLES / 128.0;
    test_counts("disk", observed, expected, 128, LEVEL);
    /* Shirley and Chiu: squares about the centre become circles, so the middle of an edge maps to
     * the rim on its axis. */
    const double edge[4][4] = {{1, .5, 1, 0}, {0, .5, -1, 0}, {.5, 1, 0, 1}, {.5, 0, 0, -1}};
    for (int i = 0; i < 4; i++) {
        double x, y;
        map_disk(edge[i][0], edge[i][1], &x, &y);
        assert_true(fabs(x - edge[i][2]) < 1e-15 && fabs(y - edge[i][3]) < 1e-15);
    }
    double x = 1, y = 1;
    map_disk(0.5, 0.5, &x, &y);
    assert_true(x == 0 && y == 0);
}

static bool sample_cosine(const void *ctx, const double u[4], struct vec3 *w)
{
    (void)ctx;
    *w = map_cosine(u[0], u[1]);
    return true;
}

static double pdf_cosine(const void *ctx, struct vec3 w)
{
    (void)ctx;
    return fmax(0, w.z) / PI;
}

static bool sample_sphere(const void *ctx, const double u[4], struct vec3 *w)
{
    (void)ctx;
    *w = map_sphere(u[0], u[1]);
    return true;
}

static double pdf_sphere(const void *ctx, struct vec3 w)
{
    (void)ctx, (void)w;
    return 1 / (4 * PI);
}

static void test_directions(void **state)
{
    (void)state;
    const struct sampler cosine = {NULL, sample_cosine, pdf_cosine},
                         sphere = {NULL, sample_sphere, pdf_sphere};
    assert_true(fabs(test_pdf_integral(&cosine, vec3(0, 0, 1), 1) - 1) < 1e-12);
    assert_true(fabs(test_pdf_integral(&sphere, vec3(0, 0, 1), 1) - 1) < 1e-12);
    test_sampler("cosine", &cosine, vec3(0, 0, 1), 1, SAMPLES, LEVEL);
    test_sampler("sphere", &sphere, vec3(0, 0, 1), 1, SAMPLES, LEVEL);
}

static void test_triangle_map(void **state)
{
    (void)state;
    /* The triangle split into 64 congruent ones: rows of b0, and two kinds in each row. */
    enum { N = 8 };
    double observed[2 * N * N] = {0}, expected[2 * N * N] = {0};
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double u[4], b[3];
        test_numbers(3, i, u);
        map_triangle(u[0], u[1], b);
        assert_true(b[0] >= -1e-15 && b[1] >= 0 && b[2] >= 0);
        assert_true(fabs(b[0] + b[1] + b[2] - 1) < 1e-15);
        int x = (int)fmin(N - 1, N * b[1]), y = (int)fmin(N - 1, N * b[2]);
        bool upper = N * b[1] - x + N * b[2] - y > 1;
        observed[(y * N + x) * 2 + upper]++;
    }
    for (int y = 0; y < N; y++) {
        for (int x = 0; x + y < N; x++) {
            expected[(y * N + x) * 2] = (double)SAMPLES / (N * N);
            if (x + y < N - 1)
                expected[(y * N + x) * 2 + 1] = (double)SAMPLES / (N * N);
        }
    }
    test_counts("triangle", observed, expected, sizeof observed / sizeof *observed, LEVEL);
}

/* The chi-square tail itself, against exact values: k = 2 gives exp(-x/2), k = 4 (1 + x/2)
 * exp(-x/2), and k = 1 erfc. */
static void test_tail(void **state)
{
    (void)state;
    for (double x = 0.25; x < 60; x *= 1.7) {
        assert_true(fabs(test_chi_square_survival(x, 2) / exp(-x / 2) - 1) < 1e-10);
        assert_true(fabs(test_chi_square_survival(x, 4) / ((1 + x / 2) * exp(-x / 2)) - 1) < 1e-10);
        assert_true(fabs(test_chi_square_survival(x, 1) / erfc(sqrt(x / 2)) - 1) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tail),         cmocka_unit_test(test_philox),
        cmocka_unit_test(test_disk),         cmocka_unit_test(test_directions),
        cmocka_unit_test(test_triangle_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
