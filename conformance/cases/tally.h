/* SPDX-License-Identifier: Apache-2.0 */
/* Many comparisons of one kind in a case: the worst ratio of error to bound, and the first that is
 * over. */
#ifndef CONFORMANCE_TALLY_H
#define CONFORMANCE_TALLY_H

#include "case.h"

struct tally {
    uint64_t compared;
    double worst; /* largest error over bound among the good ones */
    size_t failures;
    char text[768]; /* of the first failure */
};
/* True when |got - want| <= bound; else counts a failure and describes it: row and what as printf
 * text. NaN never passes. */
bool tally_near(struct tally *t, double got, double want, double bound, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* The same for a discrete answer. */
bool tally_equal(struct tally *t, int64_t got, int64_t want, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets the case's verdict. */
enum status tally_verdict(struct tally *t, struct run_context *c);

/* Words and floats. */
uint32_t word_of(float f);
float float_of(uint32_t w);

/* Numbers for tests: u01 words of Philox under a key of the case's own, row by row. */
struct dice {
    uint32_t key, row, used, words[4];
};
double dice_u(struct dice *d);                      /* [0, 1), 24 bits */
void dice_direction(struct dice *d, double out[3]); /* uniform on the sphere */

/* Runs a probe of rows; *out in the case's arena. */
enum status case_probe(struct run_context *c, enum probe probe, const uint32_t *in, size_t rows,
                       uint32_t **out, struct error *err);

#endif
