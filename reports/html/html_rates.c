/* SPDX-License-Identifier: Apache-2.0 */
/* Throughput: one table for each job (scene, size, samples, depth), bars with intervals, the best
 * first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"

static const double tie_threshold = 0.02; /* rates closer than this are one rate to a reader */

/* Rows with a rate first, the fastest first; then the others by verdict. */
static int rate_order(const void *a, const void *b)
{
    const struct snapshot_bench *x = *(const struct snapshot_bench *const *)a,
                                *y = *(const struct snapshot_bench *const *)b;
    if (x->record->samples_per_s != y->record->samples_per_s)
        return x->record->samples_per_s > y->record->samples_per_s ? -1 : 1;
    return (int)x->record->verdict - (int)y->record->verdict;
}

static void bar(struct text *t, const struct bench_record *b, double scale, unsigned series)
{
    markup_printf(t,
                  "<svg class=\"bar\" viewBox=\"0 0 1000 14\" preserveAspectRatio=\"none\" "
                  "aria-hidden=\"true\">"
                  "<rect class=\"track\" x=\"0\" y=\"2\" width=\"1000\" height=\"10\"/><rect "
                  "class=\"s%u\" x=\"0\" y=\"2\" "
                  "width=\"%.2f\" height=\"10\"/><line x1=\"%.2f\" y1=\"7\" x2=\"%.2f\" "
                  "y2=\"7\"/><line x1=\"%.2f\" y1=\"3\" "
                  "x2=\"%.2f\" y2=\"11\"/><line x1=\"%.2f\" y1=\"3\" x2=\"%.2f\" y2=\"11\"/></svg>",
                  series, b->samples_per_s * scale, b->interval[0] * scale, b->interval[1] * scale,
                  b->interval[0] * scale, b->interval[0] * scale, b->interval[1] * scale,
                  b->interval[1] * scale);
}

static void against_best(struct text *t, const struct bench_record *b,
                         const struct bench_record *best)
{
    char ratio[32];
    if (b == best) {
        text_puts(t, "<b>best</b>");
        return;
    }
    enum rate_relation r = rate_compare(b->interval, best->interval, tie_threshold);
    markup_printf(t, "&#215; %s", ratio_text(b->samples_per_s / best->samples_per_s, ratio));
    if (r != RATE_SLOWER)
        markup_printf(t, " <span class=\"note\">%s</span>",
                      r == RATE_SAME ? "tied" : rate_relation_name(r));
}

/* Under the table: each row's command and what was measured beside the rate. */
static void row_sources(struct page *p, const struct snapshot_bench *b)
{
    static const char *const keys[] = {"judgement", "energy", "memory",   "build",
                                       "load",      "clocks", "throttled"};
    markup_printf(p->t, "<h4>%s, ", p->s->columns[b->column].label);
    html_settings(p->t, b->record);
    text_puts(p->t, "</h4>\n");
    html_command(p->t, b->record->command);
    text_puts(p->t, "<div class=\"pieces\">\n");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct json *v = b->detail ? json_get(b->detail, keys[i]) : NULL;
        if (v && v->type == JSON_OBJECT && v->first) {
            markup_printf(p->t, "<div><h5>%s</h5>\n", keys[i]);
            html_json(p->t, v);
            text_puts(p->t, "</div>\n");
        }
    }
    text_puts(p->t, "</div>\n");
}

/* What the device chose where the setting left the work-group to it. */
static void own_choice(struct text *t, const struct snapshot_bench *b)
{
    const struct json *used = b->detail ? json_get(b->detail, "used") : NULL;
    const struct json *group =
        used && used->type == JSON_OBJECT ? json_get(used, "work_group") : NULL;
    if (b->record->work_group[0] == 0 && group && group->type == JSON_ARRAY && group->count == 2)
        markup_printf(t, " <span class=\"note\">(own choice: %.0f&#215;%.0f)</span>",
                      group->first->number, group->first->next->number);
}

/* `most`: what the bars' full length stands for. */
static void rate_row(struct page *p, const struct snapshot_bench *b,
                     const struct bench_record *best, double most)
{
    const struct bench_record *r = b->record;
    char rate[32], low[32], high[32];
    markup_printf(p->t, "<tr><th scope=\"row\">%s</th><td>", p->s->columns[b->column].label);
    html_settings(p->t, r);
    own_choice(p->t, b);
    if (r->notes)
        markup_printf(p->t, "<div class=\"note\">%s</div>", r->notes);
    text_puts(p->t, "</td>");
    if (r->verdict == VERDICT_PASS) {
        text_puts(p->t, "<td class=\"bar\">");
        bar(p->t, r, 1000 / most, html_series(b->column));
        markup_printf(
            p->t,
            "</td><td class=\"r\"><b>%s</b></td><td class=\"r\">%s to %s</td><td class=\"r\" "
            "data-sort=\"%.6f\">",
            rate_text(r->samples_per_s, rate), rate_text(r->interval[0], low),
            rate_text(r->interval[1], high), r->samples_per_s / best->samples_per_s);
        against_best(p->t, r, best);
        markup_printf(p->t, "</td><td class=\"r\">%.1f%%</td><td class=\"r\">%u", 100 * r->noise,
                      r->repetitions);
    } else {
        text_puts(p->t, "<td class=\"wrap\" colspan=\"6\">");
        html_verdict(p->t, r->verdict);
        markup_printf(p->t, " no rate: <span class=\"clip\" title=\"%s\">%s</span>", r->reason,
                      r->reason && r->reason[0] ? r->reason : "no reason was recorded");
    }
    text_puts(p->t, "</td></tr>\n");
}

static void job_write(struct page *p, const struct snapshot_bench **rows, size_t n)
{
    qsort(rows, n, sizeof(const struct snapshot_bench *), rate_order);
    const struct bench_record *best = rows[0]->record;
    double most = best->samples_per_s;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, rows[i]->record->interval[1]);
    markup_printf(p->t, "<h3>%s <span class=\"note\">", best->scene);
    html_job(p->t, best);
    text_puts(p->t,
              "</span></h3>\n<div class=\"scroll\"><table class=\"rates\"><thead><tr><th "
              "scope=\"col\">device</th><th "
              "scope=\"col\">setting</th><th scope=\"col\" class=\"bar\"></th><th scope=\"col\" "
              "class=\"r\">samples</th><th "
              "scope=\"col\" class=\"r\">interval</th><th scope=\"col\" class=\"r\">against the "
              "best</th><th "
              "scope=\"col\" class=\"r\">noise</th><th scope=\"col\" "
              "class=\"r\">runs</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < n; i++)
        rate_row(p, rows[i], best, most);
    text_puts(p->t, "</tbody></table></div>\n<details><summary>commands and "
                    "measurements</summary>\n");
    for (size_t i = 0; i < n; i++)
        row_sources(p, rows[i]);
    text_puts(p->t, "</details>\n");
}

static bool any_row(const struct snapshot_bench *b)
{
    (void)b;
    return true;
}

void section_rates(struct page *p)
{
    const struct snapshot_bench **rows;
    size_t at = 0, shown = 0;
    for (size_t n; (n = html_next_job(p, &at, any_row, &rows)) > 0;) {
        if (shown++ == 0)
            text_puts(
                p->t,
                "<section id=\"rates\"><h2>Throughput</h2>\n<p class=\"note\">Median camera "
                "samples per second of "
                "the render phase; the thin line is the interval of the median (distribution-free, "
                "95% or "
                "what the number of runs allows). Only rows whose picture was judged right carry a "
                "rate.</p>\n");
        job_write(p, rows, n);
    }
    if (shown)
        text_puts(p->t, "</section>\n");
}
