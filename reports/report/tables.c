/* SPDX-License-Identifier: Apache-2.0 */
/* The plain formats: CSV (RFC 4180, one table) and Markdown (GitHub's tables). */
#include <string.h>

#include "report.h"

/* ---- CSV -------------------------------------------------------------------------------- */

/* A cell that begins as a formula does gets an apostrophe, so that no spreadsheet runs it (OWASP,
 * CSV Injection). */
static void csv_text(struct text *t, const char *s)
{
    bool formula = s && s[0] && strchr("=+-@\t\r", s[0]);
    if (!s || (!formula && !strpbrk(s, ",\"\r\n"))) {
        text_puts(t, s ? s : "");
        return;
    }
    text_puts(t, formula ? "\"'" : "\"");
    for (const char *quote; (quote = strchr(s, '"')); s = quote + 1) {
        text_append(t, s, (size_t)(quote - s));
        text_puts(t, "\"\"");
    }
    text_puts(t, s);
    text_puts(t, "\"");
}

static void csv_number(struct text *t, double v) { text_printf(t, ",%.17g", v); }

static void csv_start(struct text *t, const struct snapshot *s, const char *record, size_t run,
                      size_t column)
{
    const struct snapshot_column *c = &s->columns[column];
    const char *fields[] = {record,
                            s->runs[run].record.started_utc,
                            c->host,
                            c->device.id,
                            c->device.name,
                            c->device.driver,
                            c->device.version,
                            c->device.compiler};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        csv_text(t, fields[i]);
        text_puts(t, ",");
    }
}

void report_csv(struct text *t, const struct snapshot *s)
{
    text_puts(t, "record,started_utc,host,device,device_name,driver,version,compiler,name,mode,bvh,"
                 "model,width,height,spp,max_depth,work_group_x,work_group_y,tile_x,tile_y,batch,"
                 "verdict,waived,samples_per_s,interval_low,interval_high,noise,repetitions,"
                 "compile_s,run_s,reason,command,notes\r\n");
    for (size_t i = 0; i < s->case_count; i++) {
        const struct case_record *c = s->cases[i].record;
        csv_start(t, s, "case", s->cases[i].run, s->cases[i].column);
        csv_text(t, c->name);
        text_printf(t, ",,,,,,,,,,,,,%s,%d,,,,,", verdict_name(c->verdict), c->waived);
        csv_number(t, c->compile_s);
        csv_number(t, c->run_s);
        text_puts(t, ",");
        csv_text(t, c->reason);
        text_puts(t, ",");
        csv_text(t, c->replay);
        text_puts(t, ",\r\n");
    }
    for (size_t i = 0; i < s->bench_count; i++) {
        const struct bench_record *b = s->benches[i].record;
        csv_start(t, s, s->benches[i].sweep ? "sweep" : "bench", s->benches[i].run,
                  s->benches[i].column);
        csv_text(t, b->scene);
        text_puts(t, ",");
        csv_text(t, b->mode);
        text_puts(t, ",");
        csv_text(t, b->bvh);
        text_puts(t, ",");
        csv_text(t, b->model);
        text_printf(t, ",%u,%u,%u,%u,%u,%u,%u,%u,%u,%s,", b->width, b->height, b->spp, b->max_depth,
                    b->work_group[0], b->work_group[1], b->tile[0], b->tile[1], b->batch,
                    verdict_name(b->verdict));
        if (b->verdict == VERDICT_PASS) {
            csv_number(t, b->samples_per_s);
            csv_number(t, b->interval[0]);
            csv_number(t, b->interval[1]);
            csv_number(t, b->noise);
        } else {
            text_puts(t, ",,,,");
        }
        text_printf(t, ",%u,,,", b->repetitions);
        csv_text(t, b->reason);
        text_puts(t, ",");
        csv_text(t, b->command);
        text_puts(t, ",");
        csv_text(t, b->notes);
        text_puts(t, "\r\n");
    }
}

/* ---- Markdown --------------------------------------------------------------------------- */

/* Text inside a table cell: what Markdown or HTML would read is escaped, lines become one. */
static void md_text(struct text *t, const char *s)
{
    for (; s && *s; s++) {
        if (*s == '\n' || *s == '\r')
            text_puts(t, " ");
        else if (*s == '<')
            text_puts(t, "&lt;");
        else if (*s == '&')
            text_puts(t, "&amp;");
        else {
            if (strchr("\\`*_{}[]|~#", *s))
                text_puts(t, "\\");
            text_append(t, s, 1);
        }
    }
}

/* A code span in a cell: as many backticks around it as it needs, pipes escaped, lines become one.
 */
static void md_code(struct text *t, const char *s)
{
    if (!s || !s[0])
        return;
    size_t run = 0, longest = 0;
    for (const char *p = s; *p; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (size_t i = 0; i <= longest; i++)
        text_puts(t, "`");
    text_puts(t, longest ? " " : "");
    for (; *s; s++) {
        if (*s == '|')
            text_puts(t, "\\");
        text_append(t, *s == '\n' || *s == '\r' ? " " : s, 1);
    }
    text_puts(t, longest ? " " : "");
    for (size_t i = 0; i <= longest; i++)
        text_puts(t, "`");
}

static void md_devices(struct text *t, const struct snapshot *s)
{
    text_puts(t,
              "## Devices\n\n| device | name | vendor | driver | version | compiler | pass | fail "
              "| skip | error |\n|---|---|---|---|---|---|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < s->column_count; i++) {
        const struct snapshot_column *c = &s->columns[i];
        const char *fields[] = {c->label,         c->device.name,    c->device.vendor,
                                c->device.driver, c->device.version, c->device.compiler};
        for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
            text_puts(t, "| ");
            md_text(t, fields[k]);
            text_puts(t, " ");
        }
        text_printf(t, "| %zu | %zu | %zu | %zu |\n", c->count[VERDICT_PASS],
                    c->count[VERDICT_FAIL], c->count[VERDICT_SKIP], c->count[VERDICT_ERROR]);
    }
    text_puts(t, "\n");
}

static void md_findings(struct text *t, const struct snapshot *s)
{
    size_t shown = 0;
    for (size_t i = 0; i < s->case_count; i++) {
        const struct case_record *c = s->cases[i].record;
        if (c->verdict != VERDICT_FAIL && c->verdict != VERDICT_ERROR)
            continue;
        if (shown++ == 0)
            text_puts(t, "## Findings\n\n| case | device | verdict | reason | replay "
                         "|\n|---|---|---|---|---|\n");
        text_puts(t, "| ");
        md_text(t, c->name);
        text_puts(t, " | ");
        md_text(t, s->columns[s->cases[i].column].label);
        text_printf(t, " | %s%s | ", verdict_name(c->verdict), c->waived ? " (waived)" : "");
        md_text(t, c->reason);
        text_puts(t, " | ");
        md_code(t, c->replay);
        text_puts(t, " |\n");
    }
    if (shown)
        text_puts(t, "\n");
}

static void md_rates(struct text *t, const struct snapshot *s, bool sweep)
{
    size_t shown = 0;
    for (size_t i = 0; i < s->bench_count; i++) {
        const struct bench_record *b = s->benches[i].record;
        char rate[32], low[32], high[32], group[32];
        if (s->benches[i].sweep != sweep)
            continue;
        if (shown++ == 0)
            text_printf(t,
                        "## %s\n\n| scene | device | mode | work-group | verdict | rate | interval "
                        "| noise | command | notes |\n|---|---|---|---|---|--:|--:|--:|---|---|\n",
                        sweep ? "Sweeps" : "Rates");
        text_puts(t, "| ");
        md_text(t, b->scene);
        text_puts(t, " | ");
        md_text(t, s->columns[s->benches[i].column].label);
        text_puts(t, " | ");
        md_text(t, b->mode);
        text_printf(t, " | %s | %s", shape_text(b->work_group, group), verdict_name(b->verdict));
        if (b->verdict == VERDICT_PASS) {
            text_printf(t, " | %s | %s to %s | %.1f%% | ", rate_text(b->samples_per_s, rate),
                        rate_text(b->interval[0], low), rate_text(b->interval[1], high),
                        100 * b->noise);
        } else {
            text_puts(t, ": ");
            md_text(t, b->reason);
            text_puts(t, " | | | | ");
        }
        md_code(t, b->command);
        text_puts(t, " | ");
        md_text(t, b->notes);
        text_puts(t, " |\n");
    }
    if (shown)
        text_puts(t, "\n");
}

static void md_formats(struct text *t, const struct snapshot *s)
{
    if (s->format_count)
        text_puts(t, "## Number formats\n\n| scene | picture | format | how | RMSE | relMSE | time "
                     "over double's | command |\n|---|---|---|---|--:|--:|--:|---|\n");
    for (size_t i = 0; i < s->format_count; i++) {
        const struct number_format_record *r = s->formats[i].record;
        text_puts(t, "| ");
        md_text(t, r->scene);
        text_printf(t, " | %ux%u, %u spp | ", r->width, r->height, r->spp);
        md_text(t, r->format);
        text_puts(t, " | ");
        md_text(t, r->how);
        if (r->reason) {
            text_puts(t, ": ");
            md_text(t, r->reason);
            text_puts(t, " | | | | ");
        } else {
            text_printf(t, " | %.2g | %.2g | %.3g | ", r->rmse, r->relmse, r->times_double);
        }
        md_code(t, r->command);
        text_puts(t, " |\n");
    }
    if (s->format_count)
        text_puts(t, "\n");
}

void report_markdown(struct text *t, const struct snapshot *s)
{
    struct headline n;
    text_puts(t, "# Isophote report\n\n");
    headline_count(s, &n);
    if (n.conformant + n.clean + n.bad + n.open + n.forgiven > 0) {
        struct text said = {0};
        headline_scope(&said, s, &n);
        text_puts(&said, ". ");
        headline_devices(&said, &n);
        md_text(t, said.data);
        text_puts(t, ".\n\n");
        text_free(&said);
    }
    md_devices(t, s);
    md_findings(t, s);
    md_rates(t, s, false);
    md_rates(t, s, true);
    md_formats(t, s);
    text_puts(t, "## Commands\n\n");
    for (size_t i = 0; i < s->run_count; i++)
        if (s->runs[i].shown) {
            text_printf(t, "- run %lld, %s, ", (long long)s->runs[i].record.id,
                        s->runs[i].record.kind);
            md_text(t, s->runs[i].record.started_utc);
            text_puts(t, ": ");
            md_code(t, s->runs[i].record.command);
            text_puts(t, "\n");
        }
}
