/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the HTML report. Each section_* writes one <section>, or nothing when there is
 * nothing to show. */
#ifndef ISOPHOTE_REPORTS_HTML_H
#define ISOPHOTE_REPORTS_HTML_H

#include "report/offers.h"

struct page {
    struct text *t;
    struct arena *a;
    const struct snapshot *s;
    const struct page_extras *extras;
    bool no_memory;
};

void section_findings(struct page *p);
void section_cases(struct page *p);
void section_furnace(struct page *p);
void section_power(struct page *p);
void section_models(struct page *p);
void section_rates(struct page *p);
void section_apis(struct page *p);
void section_blocks(struct page *p);
void section_phases(struct page *p);
void section_shading(struct page *p);
void section_statistics(struct page *p);
void section_kernels(struct page *p);
void section_formats(struct page *p);
void section_tables(struct page *p);
void section_pages(struct page *p);
void section_images(struct page *p);
void section_environment(struct page *p);

bool html_is_model_case(const char *name); /* shown by section_models alone */

/* ---- shared pieces ---------------------------------------------------------------------- */

void html_verdict(struct text *t, enum verdict v); /* a badge */
void html_case_verdict(struct text *t, const struct case_record *r);
const char *html_class(const struct case_record *r); /* of its badge */
/* What must be looked at, the worst first: 0 wrong, 1 could not be judged, 2 waived, 3 nothing. */
int html_rank(const struct case_record *r);
void html_command(struct text *t,
                  const char *command); /* code with a copy button; nothing for NULL */
void html_json(struct text *t, const struct json *v); /* a two-column table, nested */
/* "picture 512x512, 64 spp, depth 6" */
void html_job(struct text *t, const struct bench_record *b);
/* mode, and what else was set: ", bvh8, work-group 8x4, tile 64x64, batch 4" */
void html_settings(struct text *t, const struct bench_record *b);
/* Class number of a series' colour. */
unsigned html_series(size_t column);
/* Same scene, picture size, samples, depth: rows whose rates can stand in one chart. */
bool bench_same_job(const struct bench_record *a, const struct bench_record *b);
/* The rows of bench (not of sweeps) for which `shown` is true, job by job: those of the next job
 * into *rows (in the page's arena) and their number; 0 at the end. *at begins at 0. */
size_t html_next_job(struct page *p, size_t *at, bool (*shown)(const struct snapshot_bench *),
                     const struct snapshot_bench ***rows);
/* A table of JSON rows under headers, of which those are shown that some row has something for. */
void html_rows(struct page *p, const struct json *headers, const struct json *rows);
/* {"x", "y", "series": [{"name", "points": [[x, y]]}]}: lines over two logarithmic axes; nothing
 * without a point. */
void html_plot(struct page *p, const struct json *plot);
/* v[key] as a number; NaN if it is none. */
double json_number_at(const struct json *v, const char *key);

#endif
