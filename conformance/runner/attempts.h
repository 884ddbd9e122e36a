/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of one case: a FAIL or ERROR is run again, and what all of them say is one result. */
#ifndef CONFORMANCE_ATTEMPTS_H
#define CONFORMANCE_ATTEMPTS_H

#include "conformance.h"

struct attempt {
    struct arena arena; /* of the result's strings; empty where they live elsewhere */
    struct conform_result result;
    double ended; /* clock_s */
    struct attempt *next;
};
struct attempts {
    struct attempt *first, *last;
    size_t count;
};

bool verdict_failed(enum verdict v); /* FAIL or ERROR: what is run again */
/* The attempt is owned from now on. */
void attempts_add(struct attempts *t, struct attempt *a);
/* A copy of a result that lives elsewhere at least as long. NULL: out of memory. */
struct attempt *attempt_of(const struct conform_result *r);
/* What the runs (one at least) come to, strings in the arena or the attempts': of one its result.
 * Of several the first of the gravest verdict, FAIL before ERROR, its reason with the counts; rerun
 * and runs are set. False: out of memory. */
bool attempts_result(const struct attempts *t, struct arena *a, struct conform_result *out);
void attempts_free(struct attempts *t);

#endif
