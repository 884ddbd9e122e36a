/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench.h"

static struct bench_stats stats_of(const double *x, size_t n)
{
    struct bench_stats s;
    assert_int_equal(bench_statistics(x, n, &s, NULL), STATUS_OK);
    return s;
}

/* Ranks and coverage against counting: of the 2^n ways that n values fall below or above the
 * median, how many leave it inside. */
static void interval_is_the_binomial_one(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 18; n++) {
        double x[18];
        for (size_t i = 0; i < n; i++)
            x[i] = (double)(i + 1);
        struct bench_stats s = stats_of(x, n);
        size_t l = (size_t)s.low;
        assert_true(s.high == (double)(n + 1 - l));
        size_t inside = 0, inside_next = 0;
        for (uint32_t ways = 0; ways < 1u << n; ways++) {
            size_t below = (size_t)__builtin_popcount(ways);
            inside += below >= l && n - below >= l;
            inside_next += below >= l + 1 && n - below >= l + 1;
        }
        double all = (double)(1u << n);
        assert_true(fabs(s.confidence - (double)inside / all) < 1e-12);
        /* the narrowest that holds 95%, or all values when none does */
        assert_true(l == 1 || s.confidence >= 0.95);
        assert_true((double)inside_next / all < 0.95 || 2 * (l + 1) > n + 1);
    }
}

/* Tabulated ranks for 95%: (n, lower rank); e.g. Conover, Practical Nonparametric Statistics. */
static void ranks_of_larger_samples(void **state)
{
    (void)state;
    static const struct {
        size_t n, rank;
    } rows[] = {{6, 1},  {9, 2},   {12, 3},  {15, 4},  {17, 5},  {20, 6},
                {25, 8}, {30, 10}, {40, 14}, {50, 18}, {100, 40}};
    double x[100];
    for (size_t i = 0; i < 100; i++)
        x[i] = (double)(i + 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(stats_of(x, rows[i].n).low == (double)rows[i].rank);
}

static void medians_and_quartiles(void **state)
{
    (void)state;
    const double odd[] = {5, 1, 3, 2, 4}, even[] = {4, 1, 3, 2}, one[] = {7};
    struct bench_stats s = stats_of(odd, 5);
    assert_true(s.median == 3 && s.iqr == 2 && s.low == 1 && s.high == 5 && s.confidence == 0.9375);
    s = stats_of(even, 4);
    assert_true(s.median == 2.5 && s.iqr == 1.5);
    s = stats_of(one, 1);
    assert_true(s.median == 7 && s.low == 7 && s.high == 7 && s.confidence == 0 && s.iqr == 0);
    assert_true(odd[0] == 5); /* a copy was sorted */
    const double bad[] = {1, NAN};
    assert_int_equal(bench_statistics(bad, 2, &s, NULL), STATUS_ARG);
    assert_int_equal(bench_statistics(odd, 0, &s, NULL), STATUS_ARG);
}

/* On skewed noise (exponential, median ln 2) the interval holds the median as often as it says: 4
 * standard errors of the count. */
static void coverage_does_not_need_a_shape(void **state)
{
    (void)state;
    enum { TRIALS = 4000, N = 9 };
    size_t held = 0;
    double confidence = 0;
    for (uint32_t t = 0; t < TRIALS; t++) {
        double x[N];
        for (uint32_t i = 0; i < N; i++) {
            uint32_t counter[4] = {t, i, 0, 0}, key[2] = {2026, 11}, word[4];
            philox4x32(counter, key, word);
            x[i] = -log(1 - u01(word[0]));
        }
        struct bench_stats s = stats_of(x, N);
        held += s.low <= log(2) && log(2) <= s.high;
        confidence = s.confidence;
    }
    double sigma = sqrt(TRIALS * confidence * (1 - confidence));
    assert_true(fabs((double)held - TRIALS * confidence) < 4 * sigma);
}

static void relations(void **state)
{
    (void)state;
    const struct bench_stats a = {.median = 100, .low = 98, .high = 102},
                             b = {.median = 130, .low = 128, .high = 132},
                             c = {.median = 101, .low = 99, .high = 103},
                             wide = {.median = 105, .low = 80, .high = 130};
    assert_int_equal(bench_compare(&b, &a, 0.05), BENCH_FASTER);
    assert_int_equal(bench_compare(&a, &b, 0.05), BENCH_SLOWER);
    assert_int_equal(bench_compare(&a, &c, 0.06), BENCH_SAME);
    assert_int_equal(bench_compare(&a, &wide, 0.05), BENCH_AMBIGUOUS);
}

static void environment_is_json(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *text = environment_json(&a);
    const struct json *root;
    assert_non_null(text);
    assert_int_equal(json_parse(&a, "environment", text, strlen(text), &root, NULL), STATUS_OK);
    static const char *const keys[] = {"host",   "utc",   "cpu",       "memory_bytes", "os",
                                       "kernel", "build", "libraries", "load_average"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_non_null(json_get(root, keys[i]));
    assert_true(json_get(json_get(root, "cpu"), "processors_online")->integer >= 1);
    assert_int_equal(strlen(json_get(root, "host")->string), 8);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interval_is_the_binomial_one),
        cmocka_unit_test(ranks_of_larger_samples),
        cmocka_unit_test(medians_and_quartiles),
        cmocka_unit_test(coverage_does_not_need_a_shape),
        cmocka_unit_test(relations),
        cmocka_unit_test(environment_is_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
