/* SPDX-License-Identifier: Apache-2.0 */
/* The film against sums in 128-bit integers and against its definition in
 * docs/reference/protocol.md section 9. */
#include "scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct film film_of(uint32_t w, uint32_t h, int32_t exponent)
{
    struct film f;
    struct error err;
    assert_int_equal(film_init(&f, w, h, exponent, &err), STATUS_OK);
    return f;
}

static void test_exponent(void **state)
{
    (void)state;
    static const struct {
        float emission;
        int32_t want; /* 36 - k, emission = m 2^k with 0.5 <= m < 1 */
    } cases[] = {{0, 36},  {1, 35},  {0.5F, 36}, {0.99F, 36},
                 {12, 32}, {16, 31}, {0.3F, 37}, {1e-12F, 75}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct material m[2] = {{.emission = {0, cases[i].emission, 0}},
                                {.emission = {1e6F, 0, 0}}};
        uint32_t id = 0;
        struct scene s = {
            .materials = m, .material_count = 2, .sphere_count = 1, .primitive_material = &id};
        assert_int_equal(film_exponent(&s), cases[i].want); /* materials on nothing do not count */
        s.sphere_count = 0;
        s.environment = (struct environment){.type = ENVIRONMENT_CONSTANT,
                                             .radiance = {0, 0, cases[i].emission}};
        assert_int_equal(film_exponent(&s), cases[i].want);
        float texels[6] = {0, 0, 0, 0, 0.25F, 0};
        s.environment = (struct environment){
            .type = ENVIRONMENT_MAP,
            .radiance = {1e9F, 4 * cases[i].emission, 1e9F},
            .map = {.width = 2, .height = 1, .channels = 3, .format = TEXEL_F32, .texels = texels}};
        assert_int_equal(film_exponent(&s), cases[i].want);
    }
    /* a texture's brightest texel, 0.25, times the factor on its channel; not the factor alone */
    float texels[6] = {0, 0, 0, 0, 0.25F, -1};
    struct texture t = {
        .image = {.width = 2, .height = 1, .channels = 3, .format = TEXEL_F32, .texels = texels}};
    struct material m[2] = {{.emission = {1e3F, 4, 1e3F}, .emission_texture = 1},
                            {.emission = {0, 64, 0}, .emission_texture = 1}};
    uint32_t id = 0;
    struct scene s = {.textures = &t,
                      .texture_count = 1,
                      .materials = m,
                      .material_count = 2,
                      .sphere_count = 1,
                      .primitive_material = &id};
    assert_int_equal(film_exponent(&s), 35);
}

static void test_rounding(void **state)
{
    (void)state;
    struct film f = film_of(2, 1, 0); /* units of 1 */
    static const struct {
        double L;
        int64_t units;
    } cases[] = {{0.5, 0},
                 {1.5, 2},
                 {2.5, 2},
                 {3.5, 4},
                 {0.49999, 0},
                 {0.50001, 1},
                 {0x1p45 + 0.5, INT64_C(1) << 45},
                 {0x1p45 + 1.5, (INT64_C(1) << 45) + 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        film_clear(&f);
        film_add_sample(&f, 1, 0, (double[3]){cases[i].L, 0, 0});
        assert_int_equal(f.sums[4], cases[i].units);
        assert_int_equal(f.sums[7], 1);
        assert_int_equal(f.sums[0] | f.sums[3], 0); /* the other pixel */
    }
    film_free(&f);
    f = film_of(1, 1, 35); /* half a unit is 2^-36 */
    film_add_sample(&f, 0, 0, (double[3]){0x1p-36, 0x3p-36, 0x5p-36});
    assert_int_equal(f.sums[0], 0);
    assert_int_equal(f.sums[1], 2);
    assert_int_equal(f.sums[2], 2);
    film_free(&f);
}

static void test_flags(void **state)
{
    (void)state;
    struct film f = film_of(1, 1, 36);
    const double most = 0x1p10; /* 2^(46 - 36) */
    struct error err = {0};
    uint64_t flagged;
    film_add_sample(&f, 0, 0, (double[3]){most, 0, 1}); /* the largest that is not clamped */
    assert_int_equal(film_check(&f, 1, &flagged, &err), STATUS_OK);
    assert_int_equal(flagged, 0);
    film_add_sample(&f, 0, 0, (double[3]){2 * most, -1, 1});
    film_add_sample(&f, 0, 0, (double[3]){1, NAN, 1}); /* counts, adds nothing */
    film_add_sample(&f, 0, 0, (double[3]){1, 1, INFINITY});
    assert_int_equal(film_check(&f, 4, &flagged, &err), STATUS_OK);
    assert_int_equal(flagged, 3);
    assert_int_equal(f.sums[0], INT64_C(2) << 46);
    assert_int_equal(f.sums[1], 0);
    assert_int_equal(f.sums[2], INT64_C(2) << 36);
    float rgb[3];
    film_rgb(&f, rgb);
    assert_true(rgb[0] == (float)(most / 2) && rgb[1] == 0 && rgb[2] == 0.5F);
    film_free(&f);
}

static void test_one_flaw_each(void **state)
{
    (void)state;
    struct error err = {0};
    uint64_t flagged;
    const double flaws[][3] = {{-1e-3, 0, 0}, {0, 0x1p20, 0}, {0, 0, NAN}};
    for (size_t i = 0; i < sizeof flaws / sizeof flaws[0]; i++) {
        struct film f = film_of(1, 1, 36);
        film_add_sample(&f, 0, 0, flaws[i]);
        assert_int_equal(film_check(&f, 1, &flagged, &err), STATUS_OK);
        assert_int_equal(flagged, 1);
        film_free(&f);
    }
    /* a pixel without samples is black; one that would hold too many is named, x first */
    struct film f = film_of(3, 2, 36), g = film_of(3, 2, 36);
    float rgb[3 * 6];
    film_rgb(&f, rgb);
    for (int i = 0; i < 18; i++)
        assert_true(rgb[i] == 0);
    f.sums[4 * (1 * 3 + 2) + 3] = g.sums[4 * (1 * 3 + 2) + 3] = FILM_SAMPLES_MAX;
    assert_int_equal(film_add(&f, &g, &err), STATUS_RANGE);
    assert_non_null(strstr(err.msg, "pixel (2, 1)"));
    film_free(&f);
    film_free(&g);
}

/* Values over many orders of magnitude, the same for every order of adding them. */
static void sample_value(uint32_t i, double L[3])
{
    uint32_t r[4];
    philox4x32((uint32_t[4]){i, 0, 0, 7}, (uint32_t[2]){1, 2}, r);
    for (int c = 0; c < 3; c++)
        L[c] = ldexp(u01(r[c]), (int)(r[3] >> (8 * c) & 15) - 12);
}

static void test_merging(void **state)
{
    (void)state;
    enum { W = 5, H = 3, N = 4000 };
    struct film whole = film_of(W, H, 33), part[4];
    __int128 sums[W * H * 3] = {0}; /* the oracle */
    struct error err = {0};
    for (int k = 0; k < 4; k++)
        part[k] = film_of(W, H, 33);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t pixel = i % (W * H), j = N - 1 - i;
        double L[3];
        sample_value(i, L);
        film_add_sample(&whole, pixel % W, pixel / W, L);
        for (int c = 0; c < 3; c++)
            sums[3 * pixel + (uint32_t)c] += (__int128)nearbyintl((long double)L[c] * 0x1p33L);
        pixel = j % (W * H); /* backwards, over four films */
        sample_value(j, L);
        film_add_sample(&part[j / 7 % 4], pixel % W, pixel / W, L);
    }
    for (int k = 1; k < 4; k++)
        assert_int_equal(film_add(&part[0], &part[k], &err), STATUS_OK);
    assert_memory_equal(part[0].sums, whole.sums, sizeof(int64_t) * W * H * 4);
    char a[33], b[33];
    film_hash(&part[0], a);
    film_hash(&whole, b);
    assert_string_equal(a, b);
    float rgb[W * H * 3];
    film_rgb(&whole, rgb);
    for (uint32_t i = 0; i < W * H; i++)
        for (uint32_t c = 0; c < 3; c++) {
            assert_true((__int128)whole.sums[4 * i + c] == sums[3 * i + c]);
            double mean = (double)((long double)sums[3 * i + c] / whole.sums[4 * i + 3] * 0x1p-33L);
            /* a quotient rounded to double, then to float: within an ulp of float */
            assert_true(fabs((double)rgb[3 * i + c] - mean) <= mean * 0x1p-23);
        }
    whole.sums[0] ^= 1;
    film_hash(&whole, b);
    assert_string_not_equal(a, b);
    film_free(&whole);
    for (int k = 0; k < 4; k++)
        film_free(&part[k]);
}

static void test_largest_sums(void **state)
{
    (void)state;
    struct film a = film_of(1, 1, 36), b = film_of(1, 1, 36);
    struct error err = {0};
    /* as many of the largest samples as are allowed fit; one more would make 2^63 */
    const double most[3] = {0x1p10, 0x1p10, 0x1p10};
    for (uint32_t i = 0; i < FILM_SAMPLES_MAX / 2 + 1; i++)
        film_add_sample(&a, 0, 0, most);
    for (uint32_t i = 0; i < FILM_SAMPLES_MAX / 2; i++)
        film_add_sample(&b, 0, 0, most);
    assert_int_equal(film_add(&a, &b, &err), STATUS_OK);
    assert_int_equal(a.sums[0], INT64_MAX - ((INT64_C(1) << 46) - 1));
    assert_int_equal(film_check(&a, FILM_SAMPLES_MAX, NULL, &err), STATUS_OK);
    float rgb[3];
    film_rgb(&a, rgb);
    assert_true(rgb[0] == 1024);
    struct film one = film_of(1, 1, 36);
    film_add_sample(&one, 0, 0, most);
    int64_t before[4];
    memcpy(before, a.sums, sizeof before);
    assert_int_equal(film_add(&a, &one, &err), STATUS_RANGE);
    assert_memory_equal(before, a.sums, sizeof before);
    film_clear(&one);
    one.sums[3] = 2;
    assert_int_equal(film_add(&a, &one, &err), STATUS_RANGE); /* too many samples */
    film_free(&a);
    film_free(&b);
    film_free(&one);
}

static void test_checks_of_parts(void **state)
{
    (void)state;
    struct film f = film_of(3, 2, 36);
    struct error err = {0};
    uint64_t samples = 7;
    assert_int_equal(film_check_part(&f, 0, &samples, &err), STATUS_OK);
    assert_int_equal(samples, 0);
    for (uint32_t i = 0; i < 4; i++)
        film_add_sample(&f, i % 3, i / 3, (double[3]){1, 1, 1});
    film_add_sample(&f, 0, 1, (double[3]){1, NAN, 1});
    assert_int_equal(film_check_part(&f, 2, &samples, &err), STATUS_OK);
    assert_int_equal(samples, 5);
    assert_int_equal(film_check_part(&f, 1, &samples, &err), STATUS_RANGE);
    assert_non_null(strstr(err.msg, "(0, 1) holds 2 samples, which are more than 1"));
    f.sums[4 * 5 + 2] = 1; /* light without a sample */
    assert_int_equal(film_check_part(&f, 2, &samples, &err), STATUS_MISMATCH);
    f.sums[4 * 5 + 2] = -1;
    assert_int_equal(film_check_part(&f, 2, &samples, &err), STATUS_MISMATCH);
    f.sums[4 * 5 + 2] = 0;
    f.sums[4 * 5 + 3] = INT64_C(1) << 32; /* a flag without one */
    assert_int_equal(film_check_part(&f, 2, &samples, &err), STATUS_MISMATCH);
    film_poison(&f);
    assert_int_equal(film_check_part(&f, FILM_SAMPLES_MAX, &samples, &err), STATUS_RANGE);
    assert_int_equal(samples, 5);
    film_free(&f);
}

static void test_checks(void **state)
{
    (void)state;
    struct film f = film_of(3, 2, 36), g;
    struct error err = {0};
    assert_int_equal(film_check(&f, 0, NULL, &err), STATUS_OK);
    assert_int_equal(film_check(&f, 1, NULL, &err), STATUS_MISMATCH);
    film_poison(&f);
    assert_int_equal(film_check(&f, 1, NULL, &err), STATUS_MISMATCH);
    assert_int_equal(film_check(&f, UINT32_MAX, NULL, &err), STATUS_MISMATCH);
    film_clear(&f);
    for (uint32_t i = 0; i < 6; i++)
        film_add_sample(&f, i % 3, i / 3, (double[3]){1, 1, 1});
    assert_int_equal(film_check(&f, 1, NULL, &err), STATUS_OK);
    film_add_sample(&f, 2, 1, (double[3]){1, 1, 1});
    assert_int_equal(film_check(&f, 1, NULL, &err), STATUS_MISMATCH);
    assert_non_null(strstr(err.msg, "(2, 1) holds 2 samples, expected 1"));
    f.sums[4 * 5 + 3] = 1;
    f.sums[4 * 5] = -1; /* no sample is negative */
    assert_int_equal(film_check(&f, 1, NULL, &err), STATUS_MISMATCH);
    f.sums[4 * 5] = (INT64_C(1) << 46) + 1; /* nor as large as this */
    assert_int_equal(film_check(&f, 1, NULL, &err), STATUS_MISMATCH);
    f.sums[4 * 5] = 0;
    f.sums[4 * 5 + 3] |= INT64_C(2) << 32; /* more flags than samples */
    assert_int_equal(film_check(&f, 1, NULL, &err), STATUS_MISMATCH);

    g = film_of(2, 3, 36);
    assert_int_equal(film_add(&f, &g, &err), STATUS_ARG);
    film_free(&g);
    g = film_of(3, 2, 35);
    assert_int_equal(film_add(&f, &g, &err), STATUS_ARG);
    film_free(&g);
    assert_int_equal(film_init(&g, 0, 3, 36, &err), STATUS_ARG);
    assert_int_equal(film_init(&g, UINT32_MAX, UINT32_MAX, 36, &err), STATUS_ARG);
    film_free(&f);
    film_free(&f); /* a freed film is an empty one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exponent), cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_flags),    cmocka_unit_test(test_one_flaw_each),
        cmocka_unit_test(test_merging),  cmocka_unit_test(test_largest_sums),
        cmocka_unit_test(test_checks),   cmocka_unit_test(test_checks_of_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
