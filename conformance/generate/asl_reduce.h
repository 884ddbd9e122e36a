/* SPDX-License-Identifier: Apache-2.0 */
/* asl_reduce.h: makes a program that shows something smaller for as long as it shows it (delta
 * debugging, Zeller and Hildebrandt 2002, on the bracket structure of the text). It knows no types:
 * what does not compile any more does not show anything either. */
#ifndef CONFORMANCE_ASL_REDUCE_H
#define CONFORMANCE_ASL_REDUCE_H

#include "base.h"

/* Does the program still show it? */
typedef bool asl_reduce_test(void *ctx, const char *text, size_t size);

struct asl_reduction {
    size_t tests, tokens_before, tokens_after;
    bool complete; /* nothing more can go; else the time was over */
};
/* Writes the smallest program found to *out, a statement a line, comments dropped except //! ones.
 * Fails: MEMORY; MISMATCH when the program does not show it to begin with. */
enum status asl_reduce(const char *text, size_t size, asl_reduce_test *test, void *ctx,
                       double seconds, struct text *out, struct asl_reduction *what,
                       struct error *err);

#endif
