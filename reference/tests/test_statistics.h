/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of hypotheses and quadrature on the sphere, for tests of samplers. */
#ifndef REFERENCE_TEST_STATISTICS_H
#define REFERENCE_TEST_STATISTICS_H

#include "numbers/vec.h"

#include <stddef.h>
#include <stdint.h>

/* P(X >= x), X chi-square with k degrees of freedom (Abramowitz and Stegun 26.4.4, 6.5.29, 6.5.31).
 */
double test_chi_square_survival(double x, double k);

/* Fails the running test if Pearson's statistic of counts against what is expected has p < level.
 * Cells that expect less than 10 are pooled. `what` names it in the message. Returns p. */
double test_counts(const char *what, const double *observed, const double *expected, size_t n,
                   double level);

/* Numbers in [0, 1) like the renderer's: stream, i, dimension name one. */
void test_numbers(uint32_t stream, uint32_t i, double u[4]);

/* Something that gives directions with a density. */
struct sampler {
    const void *ctx;
    /* false: the sample fails */
    bool (*sample)(const void *ctx, const double u[4], struct vec3 *w);
    double (*pdf)(const void *ctx, struct vec3 w); /* per steradian; 0 where nothing is sampled */
};
/* The integral of s->pdf over the sphere, in polar coordinates about `axis`, where the density is
 * largest: rows at 1 - cos theta = 2 (i/n)^concentration. */
double test_pdf_integral(const struct sampler *s, struct vec3 axis, double concentration);
/* Chi-square of `n` directions over cells of the sphere against the quadrature of the density;
 * failures are a cell of their own. */
double test_sampler(const char *what, const struct sampler *s, struct vec3 axis,
                    double concentration, uint32_t n, double level);

#endif
