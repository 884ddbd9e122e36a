/* SPDX-License-Identifier: Apache-2.0 */
/* cases_search.h: what a mutant is asked that no case of the list noticed: image.search.SEED-NUMBER,
 * shader.search.SEED-NUMBER. They belong to no list. */
#ifndef CONFORMANCE_CASES_SEARCH_H
#define CONFORMANCE_CASES_SEARCH_H

#include "case.h"

/* The first `each` of both kinds of `seed`. */
enum status search_cases(struct arena *a, uint32_t each, uint64_t seed,
                         const struct conform_case **out, size_t *count, struct error *err);
bool search_is_case(const char *name);
/* The row of such a case, NULL for other names. */
const struct case_row *search_row(const char *name);

#endif
