/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of report_write, each from one snapshot onto a text. */
#ifndef ISOPHOTE_REPORTS_REPORT_H
#define ISOPHOTE_REPORTS_REPORT_H

#include "headline.h"
#include "markup.h"
#include "store/offers.h"

void report_markdown(struct text *t, const struct snapshot *s);
void report_csv(struct text *t, const struct snapshot *s);
/* A page of HTML to be shown in a frame. */
struct framed_page {
    const char *title, *data;
    size_t size;
};
/* struct report_extras, read. */
struct page_extras {
    const struct json *const *tables;
    size_t table_count;
    const struct framed_page *pages;
    size_t page_count;
};
enum status report_html(struct text *t, struct arena *a, const struct snapshot *s,
                        const struct page_extras *extras, struct error *err);
/* Files of tools/experiments, for report_html. In the arena. Fails: MISSING, IO, PARSE and TYPE with
 * the place, LIMIT, MEMORY. */
enum status tables_read(struct arena *a, const char *const *files, size_t count,
                        const struct json *const **out, struct error *err);
/* Pages of HTML, for report_html. In the arena. Fails: MISSING, IO, LIMIT, MEMORY; PARSE: no text, or
 * one without a title. */
enum status pages_read(struct arena *a, const char *const *files, size_t count,
                       const struct framed_page **out, struct error *err);

/* Levels of case names: the part before the first dot. */
size_t level_length(const char *case_name);

/* "8x4", or "default" for zeros. */
const char *shape_text(const uint32_t shape[2], char buf[32]);

#endif
