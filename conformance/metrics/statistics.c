/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics.h"

#include <float.h>
#include <math.h>

/* P(a, x) by its series; good for x < a + 1. */
static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int i = 1; i < 100000; i++) {
        term *= x / (a + i);
        sum += term;
        if (fabs(term) < fabs(sum) * 1e-16)
            break;
    }
    return sum * exp(-x + a * log(x) - lgamma(a));
}

/* Q(a, x) by the continued fraction, evaluated by Lentz's method; good for x > a + 1. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, h = d;
    for (int i = 1; i < 100000; i++) {
        double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        d = fabs(d) < DBL_MIN ? 1 / DBL_MIN : 1 / d;
        c = b + an / c;
        if (fabs(c) < DBL_MIN)
            c = DBL_MIN;
        double step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-16)
            break;
    }
    return h * exp(-x + a * log(x) - lgamma(a));
}

double chi_square_survival(double x, double k)
{
    if (!(x > 0))
        return 1;
    if (isinf(x))
        return 0;
    return x / 2 < k / 2 + 1 ? 1 - gamma_series(k / 2, x / 2) : gamma_fraction(k / 2, x / 2);
}

double normal_two_sided(double z) { return erfc(fabs(z) / sqrt(2)); }

double normal_two_sided_quantile(double p)
{
    double low = 0, high = 40;
    for (int i = 0; i < 200; i++) {
        double mid = 0.5 * (low + high);
        *(normal_two_sided(mid) > p ? &low : &high) = mid;
    }
    return 0.5 * (low + high);
}

void chi_square_test(const double *observed, const double *expected, size_t n, double pool,
                     struct chi_square *out)
{
    struct chi_square r = {.p = 1};
    double pooled_observed = 0, pooled_expected = 0, worst = -1;
    for (size_t i = 0; i < n; i++) {
        if (expected[i] < pool) {
            pooled_observed += observed[i];
            pooled_expected += expected[i];
            continue;
        }
        double d = observed[i] - expected[i], term = d * d / expected[i];
        r.statistic += term;
        r.cells++;
        if (term > worst) {
            worst = term;
            r.worst = i;
            r.worst_observed = observed[i];
            r.worst_expected = expected[i];
        }
    }
    if (pooled_observed > 0 && pooled_expected < 1e-6) {
        r.p = 0;
        *out = r;
        return;
    }
    if (pooled_expected >= pool || pooled_observed > 0) {
        /* a pool that expects little is tested all the same: Poisson, by a cell of its own with the
         * usual floor */
        double e = pooled_expected < pool ? pool : pooled_expected;
        double d = pooled_expected < pool && pooled_observed < pool ? 0 : pooled_observed - e;
        r.statistic += d * d / e;
        r.cells++;
    }
    if (r.cells >= 2)
        r.p = chi_square_survival(r.statistic, (double)(r.cells - 1));
    *out = r;
}

double level_share(double level, size_t tests)
{
    return -expm1(log1p(-level) / (double)(tests ? tests : 1));
}
