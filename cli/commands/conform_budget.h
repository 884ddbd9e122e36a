/* SPDX-License-Identifier: Apache-2.0 */
/* conform --budget S: the best S seconds of a list, by the order of worth. Cases that would not end
 * in time, as this run's own times say, are left out; what runs at the end is ended. */
#ifndef CONFORM_BUDGET_H
#define CONFORM_BUDGET_H

#include "conformance.h"

struct budget;
/* Of the devices of o, from now on; sets the deadline, and that devices take turns. */
enum status budget_open(struct arena *a, double seconds, struct conform_options *o,
                        struct budget **out, struct error *err);
/* Is there time for the case? */
bool budget_allows(const struct budget *b, const struct conform_case *c);
void budget_note(struct budget *b, const char *device, const struct conform_case *c,
                 const struct conform_result *r);
/* For each device what was asked and what share of mutants that notices; never that it conforms. As
 * lines of text, or where w is not NULL as the key "budget". */
void budget_told(const struct budget *b, struct json_writer *w);

#endif
