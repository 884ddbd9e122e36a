/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases of a list are worth, by a run of mutants of which many cases were asked:
 * lists/worth.json, made by tools/mutants --order. docs/explanation/detection_power.md. */
#ifndef CONFORMANCE_WORTH_H
#define CONFORMANCE_WORTH_H

#include "conformance.h"

/* The cases of all[] that are marked, in the order of worth: the file's. One that it does not know
 * stands where the first case of its group (two words of the name) does; without a group, where the
 * case before it in all[] does. *order: indices, *count of them. Fails: MEMORY. */
enum status worth_order(struct arena *a, const struct worth *w, const struct conform_case *all,
                        size_t all_count, const bool *marked, size_t **order, size_t *count,
                        struct error *err);

#endif
