/* SPDX-License-Identifier: Apache-2.0 */
/* A report's first sentence: what was judged, before what came of it. */
#ifndef ISOPHOTE_REPORTS_HEADLINE_H
#define ISOPHOTE_REPORTS_HEADLINE_H

#include "store/offers.h"

struct headline {
    size_t asked, judged;                          /* devices */
    size_t conformant, clean, bad, open, forgiven; /* the same, by what came of it */
    size_t cases[VERDICT_COUNT], waived;
    size_t rows[VERDICT_COUNT], row_count; /* timed settings; those refused are not counted */
};
void headline_count(const struct snapshot *s, struct headline *out);
/* "3 of 534 cases of core judged on 1 of 2 devices; not the whole list" */
void headline_scope(struct text *t, const struct snapshot *s, const struct headline *n);
/* "1 device is conformant; 1 fails" */
void headline_devices(struct text *t, const struct headline *n);

#endif
