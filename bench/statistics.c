/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics: no shape of the noise is assumed. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int double_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantile p of sorted x, linear between order statistics: position (n - 1) p (Hyndman and Fan
 * 1996, type 7). */
static double quantile(const double *x, size_t n, double p)
{
    double at = (double)(n - 1) * p;
    size_t i = (size_t)at;
    return i + 1 < n ? x[i] + (at - (double)i) * (x[i + 1] - x[i]) : x[n - 1];
}

/* The median lies between the l-th and the (n + 1 - l)-th of n sorted values (from 1) unless fewer
 * than l values fall on one side of it: with B ~ binomial(n, 1/2) that is 1 - 2 P(B < l) (David and
 * Nagaraja, Order Statistics, section 7.1). The largest l that still holds 95%. */
static size_t interval_rank(size_t n, double *confidence)
{
    double term = exp2(-(double)n); /* P(B = k) */
    double tail = term;             /* P(B < l), l = 1 */
    size_t l = 1;
    *confidence = 1 - 2 * tail;
    for (size_t k = 1; 2 * (k + 1) <= n; k++) {
        term *= (double)(n - k + 1) / (double)k;
        if (1 - 2 * (tail + term) < 0.95)
            break;
        tail += term;
        l = k + 1;
        *confidence = 1 - 2 * tail;
    }
    return l;
}

enum status bench_statistics(const double *x, size_t n, struct bench_stats *out, struct error *err)
{
    if (n == 0 || n > 1000)
        return error_msg(err, STATUS_ARG, "statistics of %zu values: expected 1 to 1000", n);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return error_msg(err, STATUS_ARG, "value %zu is not finite", i);
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    memcpy(sorted, x, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, double_order);
    struct bench_stats s = {.median = quantile(sorted, n, 0.5),
                            .iqr = quantile(sorted, n, 0.75) - quantile(sorted, n, 0.25)};
    size_t l = interval_rank(n, &s.confidence);
    s.low = sorted[l - 1];
    s.high = sorted[n - l];
    free(sorted);
    *out = s;
    return STATUS_OK;
}

enum bench_relation bench_compare(const struct bench_stats *a, const struct bench_stats *b,
                                  double threshold)
{
    _Static_assert((int)BENCH_FASTER == (int)RATE_FASTER &&
                       (int)BENCH_AMBIGUOUS == (int)RATE_AMBIGUOUS,
                   "one order of relations");
    const double x[2] = {a->low, a->high}, y[2] = {b->low, b->high};
    return (enum bench_relation)rate_compare(x, y, threshold);
}
