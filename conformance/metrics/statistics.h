/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of hypotheses. Everything in double; p-values are survival probabilities of the null
 * hypothesis. */
#ifndef CONFORMANCE_STATISTICS_H
#define CONFORMANCE_STATISTICS_H

#include "base.h"

/* P(X >= x) for chi-square with k > 0 degrees of freedom: Q(k/2, x/2), by the series 6.5.29 and the
 * continued fraction 6.5.31 of Abramowitz and Stegun, relative error below 1e-10. */
double chi_square_survival(double x, double k);
/* P(|Z| >= |z|), Z standard normal. */
double normal_two_sided(double z);
/* |z| that a standard normal passes with probability p, two-sided; p in (0, 1). */
double normal_two_sided_quantile(double p);

struct chi_square {
    double statistic, p;
    size_t cells; /* after pooling */
    size_t worst; /* cell with the largest (observed - expected)^2 / expected */
    double worst_observed, worst_expected;
};
/* Pearson's test of counts against expected counts (both n long, both summing to about the same).
 * Cells that expect fewer than `pool` are pooled together (5 is usual). An observation in a cell
 * that expects nothing at all (below 1e-6 in sum) gives p = 0. With fewer than two cells p is 1. */
void chi_square_test(const double *observed, const double *expected, size_t n, double pool,
                     struct chi_square *out);
/* The level for one test of `tests` so that all together stay at `level`: Sidak's 1 - (1 -
 * level)^(1/tests). */
double level_share(double level, size_t tests);

#endif
