/* SPDX-License-Identifier: Apache-2.0 */
/* Against tables (Abramowitz and Stegun, tables 26.1, 26.8) and closed forms. */
#include "metrics/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.17g, expected %.17g", got, want);
}

static void survival_of_chi_square(void **state)
{
    (void)state;
    /* two degrees of freedom: exp(-x/2); four: exp(-x/2) (1 + x/2) */
    for (double x = 0.01; x < 600; x *= 1.7) {
        near(chi_square_survival(x, 2), exp(-x / 2), 1e-10);
        near(chi_square_survival(x, 4), exp(-x / 2) * (1 + x / 2), 1e-10);
        near(chi_square_survival(x, 1), erfc(sqrt(x / 2)), 1e-10);
    }
    /* upper 5% and 0.1% points */
    near(chi_square_survival(18.3070, 10), 0.05, 1e-4);
    near(chi_square_survival(124.342, 100), 0.05, 1e-4);
    near(chi_square_survival(29.5883, 10), 0.001, 1e-4);
    assert_true(chi_square_survival(0, 3) == 1 && chi_square_survival(-1, 3) == 1);
}

static void normal(void **state)
{
    (void)state;
    near(normal_two_sided(1.959963984540054), 0.05, 1e-12);
    near(normal_two_sided_quantile(0.05), 1.959963984540054, 1e-12);
    near(normal_two_sided_quantile(1e-6), 4.891638475698923, 1e-9);
    near(level_share(0.01, 1), 0.01, 1e-12);
    near(1 - pow(1 - level_share(0.01, 500), 500), 0.01, 1e-9);
}

static void pearson(void **state)
{
    (void)state;
    const double expected[] = {25, 25, 25, 25}, observed[] = {30, 20, 26, 24};
    struct chi_square t;
    chi_square_test(observed, expected, 4, 5, &t);
    near(t.statistic, 1 + 1 + 0.04 + 0.04, 1e-12);
    assert_int_equal(t.cells, 4);
    near(t.p, chi_square_survival(2.08, 3), 1e-12);
    assert_int_equal(t.worst, 0);
    /* small cells are pooled */
    const double sparse_e[] = {50, 44, 2, 2, 2}, sparse_o[] = {50, 44, 6, 0, 0};
    chi_square_test(sparse_o, sparse_e, 5, 5, &t);
    assert_int_equal(t.cells, 3);
    near(t.statistic, 0, 1e-12);
    /* something where nothing can be */
    const double zero_e[] = {50, 50, 0}, zero_o[] = {50, 49, 1};
    chi_square_test(zero_o, zero_e, 3, 5, &t);
    assert_true(t.p == 0);
    /* much where little can be */
    const double few_e[] = {500, 499, 1}, few_o[] = {480, 470, 50};
    chi_square_test(few_o, few_e, 3, 5, &t);
    assert_true(t.p < 1e-20);
}

/* The test has the size it says: uniform counts are refused at level p about p of the time. */
static void size_is_right(void **state)
{
    (void)state;
    enum { RUNS = 2000, CELLS = 20, N = 1000 };
    int refused = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        double observed[CELLS] = {0}, expected[CELLS];
        for (uint32_t i = 0; i < N; i += 4) {
            const uint32_t counter[4] = {i, run, 0, 0}, key[2] = {77, 0};
            uint32_t out[4];
            philox4x32(counter, key, out);
            for (int k = 0; k < 4; k++)
                observed[(int)(u01(out[k]) * CELLS)]++;
        }
        for (int i = 0; i < CELLS; i++)
            expected[i] = (double)N / CELLS;
        struct chi_square t;
        chi_square_test(observed, expected, CELLS, 5, &t);
        refused += t.p < 0.05;
    }
    /* binomial: 100 expected, standard deviation 9.7 */
    assert_in_range(refused, 60, 140);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survival_of_chi_square),
        cmocka_unit_test(normal),
        cmocka_unit_test(pearson),
        cmocka_unit_test(size_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
