/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of report_write, each from one snapshot onto a text. */
#ifndef ISOPHOTE_REPORTS_REPORT_H
#define ISOPHOTE_REPORTS_REPORT_H

#include "headline.h"
#include "markup.h"
#include "store/offers.h"

void report_markdown(struct text *t, const struct snapshot *s);
void report_csv(struct text *t, const struct snapshot *s);
enum status report_html(struct text *t, struct arena *a, const struct snapshot *s,
                        const struct json *const *tables, size_t table_count, struct error *err);
/* Files of tools/experiments, for report_html. In the arena. Fails: MISSING, IO, PARSE and TYPE with
 * the place, LIMIT, MEMORY. */
enum status tables_read(struct arena *a, const char *const *files, size_t count,
                        const struct json ***out, struct error *err);

/* Levels of case names: the part before the first dot. */
size_t level_length(const char *case_name);

/* "8x4", or "default" for zeros. */
const char *shape_text(const uint32_t shape[2], char buf[32]);

#endif
