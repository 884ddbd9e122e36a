/* SPDX-License-Identifier: Apache-2.0 */
#include "test_statistics.h"

#include "base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

double test_chi_square_survival(double x, double k)
{
    double a = k / 2, z = x / 2;
    if (!(z > 0))
        return 1;
    double head = exp(a * log(z) - z - lgamma(a));
    if (z < a + 1) { /* series of the lower function */
        double term = 1 / a, sum = term;
        for (double n = a + 1; term > sum * 1e-16; n++) {
            term *= z / n;
            sum += term;
        }
        return 1 - head * sum;
    }
    /* continued fraction of the upper function, by Lentz's method */
    double b = z + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int i = 1; i < 10000; i++) {
        double an = -i * (i - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return head * h;
}

double test_counts(const char *what, const double *observed, const double *expected, size_t n,
                   double level)
{
    double statistic = 0, pool_o = 0, pool_e = 0;
    size_t cells = 0;
    for (size_t i = 0; i < n; i++) {
        if (expected[i] < 10) {
            pool_o += observed[i];
            pool_e += expected[i];
            continue;
        }
        statistic += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
        cells++;
    }
    if (pool_e >= 10) {
        statistic += (pool_o - pool_e) * (pool_o - pool_e) / pool_e;
        cells++;
    } else if (pool_o > pool_e + 10 * sqrt(pool_e) + 10) {
        fail_msg("%s: %g in cells that expect %g", what, pool_o, pool_e);
    }
    if (cells < 2)
        fail_msg("%s: nothing to compare", what);
    double p = test_chi_square_survival(statistic, (double)cells - 1);
    if (!(p >= level))
        fail_msg("%s: chi-square %g in %zu cells, p = %g < %g", what, statistic, cells, p, level);
    return p;
}

void test_numbers(uint32_t stream, uint32_t i, double u[4])
{
    const uint32_t counter[4] = {i, stream, 0x7e57, 0}, key[2] = {20261121, 0};
    uint32_t word[4];
    philox4x32(counter, key, word);
    for (int k = 0; k < 4; k++)
        u[k] = u01(word[k]);
}

enum { ROWS = 16, COLUMNS = 24, CELLS = ROWS * COLUMNS, FINE = 2, LEAST_CUTS = 1, CUTS = 6 };

static double row_edge(double i, double concentration)
{
    return 2 * pow(i / ROWS, concentration); /* 1 - cos theta */
}

static struct vec3 direction(struct frame f, double one_minus_cos, double phi)
{
    double s = sqrt(fmax(0, one_minus_cos * (2 - one_minus_cos)));
    return to_world(f, vec3(s * cos(phi), s * sin(phi), 1 - one_minus_cos));
}

/* Four-point Gauss-Legendre on [-1, 1]. */
static const double NODES[4] = {-0.8611363115940526, -0.3399810435848563, 0.3399810435848563,
                                0.8611363115940526};
static const double WEIGHTS[4] = {0.3478548451374538, 0.6521451548625461, 0.6521451548625461,
                                  0.3478548451374538};

/* A part of the sphere: edges of 1 - cos theta and of phi, where solid angle is uniform. */
struct cell {
    double low, high, left, right;
};

/* The density over a cell by Gauss's rule, in (1 - cos theta, phi). */
static double cell_rule(const struct sampler *s, struct frame f, const struct cell *c)
{
    double sum = 0;
    for (int a = 0; a < 16; a++) {
        double m = c->low + (c->high - c->low) * (0.5 + 0.5 * NODES[a / 4]);
        double phi = c->left + (c->right - c->left) * (0.5 + 0.5 * NODES[a % 4]);
        sum += WEIGHTS[a / 4] * WEIGHTS[a % 4] / 4 * s->pdf(s->ctx, direction(f, m, phi));
    }
    return sum * (c->high - c->low) * (c->right - c->left);
}

/* Parts are cut in four until that changes them by no more than `slack`. */
static double cell_refined(const struct sampler *s, struct frame f, const struct cell *c,
                           double coarse, double slack, int depth)
{
    struct cell part[4];
    double value[4], sum = 0;
    double m = 0.5 * (c->low + c->high), phi = 0.5 * (c->left + c->right);
    for (int k = 0; k < 4; k++) {
        part[k] = (struct cell){k & 1 ? m : c->low, k & 1 ? c->high : m, k & 2 ? phi : c->left,
                                k & 2 ? c->right : phi};
        value[k] = cell_rule(s, f, &part[k]);
        sum += value[k];
    }
    if (depth == CUTS || (depth >= LEAST_CUTS && fabs(sum - coarse) <= slack))
        return sum;
    sum = 0;
    for (int k = 0; k < 4; k++)
        sum += cell_refined(s, f, &part[k], value[k], slack, depth + 1);
    return sum;
}

static double cell_integral(const struct sampler *s, struct frame f, double concentration, int row,
                            int column, double slack)
{
    /* edges in (i / ROWS): a row as wide as a steep power makes it is cut by that power first */
    double dphi = 2 * PI / COLUMNS, sum = 0;
    for (int j = 0; j < FINE; j++) {
        const struct cell c = {row_edge(row + (double)j / FINE, concentration),
                               row_edge(row + (j + 1.0) / FINE, concentration), column * dphi,
                               (column + 1) * dphi};
        sum += cell_refined(s, f, &c, cell_rule(s, f, &c), slack, 1);
    }
    return sum;
}

double test_pdf_integral(const struct sampler *s, struct vec3 axis, double concentration)
{
    struct frame f = frame_about(axis);
    double sum = 0;
    for (int i = 0; i < CELLS; i++)
        sum += cell_integral(s, f, concentration, i / COLUMNS, i % COLUMNS, 1e-6);
    return sum;
}

double test_sampler(const char *what, const struct sampler *s, struct vec3 axis,
                    double concentration, uint32_t n, double level)
{
    struct frame f = frame_about(axis);
    double observed[CELLS + 1] = {0}, expected[CELLS + 1], total = 0;
    for (int i = 0; i < CELLS; i++) {
        expected[i] = n * cell_integral(s, f, concentration, i / COLUMNS, i % COLUMNS, 0.1 / n);
        total += expected[i];
    }
    expected[CELLS] = fmax(0, n - total);
    for (uint32_t i = 0; i < n; i++) {
        double u[4];
        struct vec3 w;
        test_numbers(1, i, u);
        if (!s->sample(s->ctx, u, &w)) {
            observed[CELLS]++;
            continue;
        }
        struct vec3 l = to_local(f, w);
        /* 1 - cos theta without cancellation near the axis */
        double s2 = l.x * l.x + l.y * l.y, m = l.z > 0 ? s2 / (1 + sqrt(1 - fmin(1, s2))) : 1 - l.z;
        double phi = atan2(l.y, l.x);
        int row = (int)(ROWS * pow(m / 2, 1 / concentration));
        int column = (int)((phi < 0 ? phi + 2 * PI : phi) / (2 * PI) * COLUMNS);
        row = row < ROWS ? row : ROWS - 1;
        column = column < COLUMNS ? column : COLUMNS - 1;
        observed[row * COLUMNS + column]++;
    }
    return test_counts(what, observed, expected, CELLS + 1, level);
}
