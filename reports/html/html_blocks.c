/* SPDX-License-Identifier: Apache-2.0 */
/* Work-group sizes: heat maps of x by y, the rate against the size of the group, and the best
 * settings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "report/offers.h"

/* The sweep rows of the snapshot, as tuning.h wants them. */
struct blocks {
    const struct snapshot_bench **rows;
    const struct bench_record **records;
    size_t *columns;
    size_t count;
    struct tuning tuning;
};

static bool is_power_of_two(uint32_t v) { return v != 0 && (v & (v - 1)) == 0; }

/* ---- colour ----------------------------------------------------------------------------- */

/* Dark is slow, bright is fast; lightness rises evenly, so that it reads without colour too (the
 * idea of viridis). */
static const unsigned char ramp[][3] = {
    {58, 16, 92},   {68, 45, 128},  {62, 76, 138},  {49, 104, 142}, {38, 130, 142},
    {31, 158, 137}, {74, 184, 112}, {138, 208, 72}, {208, 222, 40}, {250, 231, 70}};
enum { RAMP_COUNT = sizeof ramp / sizeof ramp[0] };

/* share in [0, 1] -> "background:#rrggbb;color:#..." */
static void ramp_style(double share, char buf[64])
{
    double at = fmin(fmax(share, 0), 1) * (RAMP_COUNT - 1);
    size_t i = (size_t)at < RAMP_COUNT - 1 ? (size_t)at : RAMP_COUNT - 2;
    double f = at - (double)i;
    unsigned c[3];
    for (int k = 0; k < 3; k++)
        c[k] = (unsigned)lround(ramp[i][k] + f * (ramp[i + 1][k] - ramp[i][k]));
    double light = 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2];
    snprintf(buf, 64, "background:#%02x%02x%02x;color:%s", c[0], c[1], c[2],
             light > 120 ? "#101317" : "#ffffff");
}

static void ramp_legend(struct text *t)
{
    text_puts(t, "<p class=\"note\">Numbers are per cent of the best rate of that scene and "
                 "device: slow<span class=\"ramp\" "
                 "style=\"background:linear-gradient(90deg");
    for (int i = 0; i < RAMP_COUNT; i++)
        markup_printf(
            t, ",#%!",
            (char[7]){"0123456789abcdef"[ramp[i][0] >> 4], "0123456789abcdef"[ramp[i][0] & 15],
                      "0123456789abcdef"[ramp[i][1] >> 4], "0123456789abcdef"[ramp[i][1] & 15],
                      "0123456789abcdef"[ramp[i][2] >> 4], "0123456789abcdef"[ramp[i][2] & 15], 0});
    text_puts(t, ")\"></span>fast. A ring marks the settings tied with the best within noise, "
                 "&#9733; the best; hatched sizes are refused by the "
                 "device (the reason shows on hovering).</p>\n");
}

/* ---- heat maps -------------------------------------------------------------------------- */

/* What besides the work-group tells two settings of a group apart. */
static bool same_slice(const struct bench_record *a, const struct bench_record *b)
{
    return a->tile[0] == b->tile[0] && a->tile[1] == b->tile[1] && a->batch == b->batch &&
           text_order(a->bvh, b->bvh) == 0 && text_order(a->model, b->model) == 0;
}

static int u32_sort(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorted, each once, in place; the new count. */
static size_t u32_unique(uint32_t *v, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(v, n, sizeof *v, u32_sort);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || v[kept - 1] != v[i])
            v[kept++] = v[i];
    return kept;
}

static void heat_cell(struct text *t, const struct blocks *b, const struct tuning_group *g,
                      size_t at)
{
    const struct bench_record *r = b->records[g->rows[at]];
    char style[64], rate[32], low[32], high[32], shape[32];
    shape_text(r->work_group, shape);
    if (r->verdict == VERDICT_PASS) {
        double share = r->samples_per_s / b->records[g->best]->samples_per_s;
        ramp_style(share, style);
        markup_printf(t, "<td%! style=\"%!\" title=\"%s: %s (%s to %s)\">%!%.0f</td>",
                      g->tied[at] ? " class=\"tied\"" : "", style, shape,
                      rate_text(r->samples_per_s, rate), rate_text(r->interval[0], low),
                      rate_text(r->interval[1], high), g->rows[at] == g->best ? "&#9733;" : "",
                      100 * share);
    } else {
        static const char *const classes[] = {"", "fail", "invalid", "error"};
        static const char *const signs[] = {"", "F", "&#8211;", "E"};
        markup_printf(
            t, "<td class=\"%!\" title=\"%s: %!: %s\">%!<span class=\"hidden\">%!</span></td>",
            classes[r->verdict], shape, verdict_name(r->verdict), r->reason, signs[r->verdict],
            verdict_name(r->verdict));
    }
}

/* Sizes that are not powers of two in both directions stand below the map. */
static bool in_map(const struct bench_record *r)
{
    return is_power_of_two(r->work_group[0]) && is_power_of_two(r->work_group[1]);
}

static void odd_sizes(struct text *t, const struct blocks *b, const struct tuning_group *g,
                      const struct bench_record *slice)
{
    size_t shown = 0;
    for (size_t i = 0; i < g->count; i++) {
        const struct bench_record *r = b->records[g->rows[i]];
        char shape[32];
        if (!same_slice(r, slice) || in_map(r))
            continue;
        if (shown++ % 8 == 0)
            markup_printf(t, "%!<tr>", shown == 1 ? "<table class=\"heat\"><tbody>\n" : "</tr>\n");
        markup_printf(t, "<th scope=\"row\">%s</th>", shape_text(r->work_group, shape));
        heat_cell(t, b, g, i);
    }
    if (shown)
        text_puts(t, "</tr></tbody></table>\n");
}

static void heat_grid(struct page *p, const struct blocks *b, const struct tuning_group *g,
                      const struct bench_record *slice)
{
    uint32_t *xs = ARENA_ARRAY(p->a, uint32_t, g->count),
             *ys = ARENA_ARRAY(p->a, uint32_t, g->count);
    size_t nx = 0, ny = 0;
    if (!xs || !ys) {
        p->no_memory = true;
        return;
    }
    for (size_t i = 0; i < g->count; i++) {
        const struct bench_record *r = b->records[g->rows[i]];
        if (same_slice(r, slice) && in_map(r)) {
            xs[nx++] = r->work_group[0];
            ys[ny++] = r->work_group[1];
        }
    }
    nx = u32_unique(xs, nx);
    ny = u32_unique(ys, ny);
    if (nx == 0)
        return;
    text_puts(p->t, "<table class=\"heat\"><thead><tr><th scope=\"col\">y \\ x</th>");
    for (size_t x = 0; x < nx; x++)
        markup_printf(p->t, "<th scope=\"col\">%u</th>", xs[x]);
    text_puts(p->t, "</tr></thead><tbody>\n");
    for (size_t y = 0; y < ny; y++) {
        markup_printf(p->t, "<tr><th scope=\"row\">%u</th>", ys[y]);
        for (size_t x = 0; x < nx; x++) {
            size_t at = g->count;
            for (size_t i = 0; i < g->count && at == g->count; i++) {
                const struct bench_record *r = b->records[g->rows[i]];
                if (same_slice(r, slice) && r->work_group[0] == xs[x] && r->work_group[1] == ys[y])
                    at = i;
            }
            if (at < g->count)
                heat_cell(p->t, b, g, at);
            else
                text_puts(p->t, "<td class=\"blank\"></td>");
        }
        text_puts(p->t, "</tr>\n");
    }
    text_puts(p->t, "</tbody></table>\n");
}

static void heat_map(struct page *p, const struct blocks *b, const struct tuning_group *g,
                     const struct bench_record *slice)
{
    char buf[32];
    markup_printf(p->t, "<figure><figcaption><b>%s</b>, %s%!%s",
                  p->s->columns[b->columns[g->rows[0]]].label, slice->mode, slice->bvh ? ", " : "",
                  slice->bvh);
    if (slice->tile[0])
        markup_printf(p->t, ", tile %s", shape_text(slice->tile, buf));
    if (slice->batch)
        markup_printf(p->t, ", batch %u", slice->batch);
    if (g->best == SIZE_MAX)
        text_puts(p->t, "<small>no size gave a judged rate</small>");
    else
        markup_printf(p->t, "<small>best %s at %s, %zu setting%! tied with it%!</small>",
                      rate_text(b->records[g->best]->samples_per_s, buf),
                      shape_text(b->records[g->best]->work_group, (char[32]){0}), g->tied_count - 1,
                      g->tied_count == 2 ? "" : "s",
                      2 * g->tied_count > g->count && g->tied_count > 4
                          ? ": noise hides most differences"
                          : "");
    text_puts(p->t, "</figcaption>\n");
    heat_grid(p, b, g, slice);
    odd_sizes(p->t, b, g, slice);
    text_puts(p->t, "</figure>\n");
}

/* ---- the curve -------------------------------------------------------------------------- */

enum {
    CURVE_WIDTH = 900,
    CURVE_HEIGHT = 300,
    CURVE_LEFT = 56,
    CURVE_RIGHT = 20,
    CURVE_TOP = 14,
    CURVE_BOTTOM = 44
};

struct curve {
    double log_max; /* of the work-items in a group */
};

static double curve_x(const struct curve *c, const struct bench_record *r)
{
    double size = log2((double)r->work_group[0] * r->work_group[1]);
    return CURVE_LEFT + (CURVE_WIDTH - CURVE_LEFT - CURVE_RIGHT) * size / c->log_max;
}

static double curve_y(double share)
{
    return CURVE_TOP + (CURVE_HEIGHT - CURVE_TOP - CURVE_BOTTOM) * (1 - fmin(share, 1.08) / 1.08);
}

static void curve_frame(struct text *t, const struct curve *c)
{
    markup_printf(t,
                  "<div class=\"scroll\"><svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "
                  "aria-label=\"rate "
                  "against work-group size; the figures are in the "
                  "maps above\">\n",
                  CURVE_WIDTH, CURVE_HEIGHT);
    for (int k = 0; k <= 4; k++)
        markup_printf(t,
                      "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text "
                      "class=\"soft\" x=\"%d\" y=\"%.1f\" "
                      "text-anchor=\"end\">%d%%</text>\n",
                      CURVE_LEFT, curve_y(0.25 * k), CURVE_WIDTH - CURVE_RIGHT, curve_y(0.25 * k),
                      CURVE_LEFT - 8, curve_y(0.25 * k) + 4, 25 * k);
    for (int k = 0; k <= (int)c->log_max; k++) {
        double x = CURVE_LEFT + (CURVE_WIDTH - CURVE_LEFT - CURVE_RIGHT) * k / c->log_max;
        markup_printf(t,
                      "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/><text "
                      "class=\"soft\" x=\"%.1f\" y=\"%d\" "
                      "text-anchor=\"middle\">%d</text>\n",
                      x, CURVE_TOP, x, CURVE_HEIGHT - CURVE_BOTTOM, x,
                      CURVE_HEIGHT - CURVE_BOTTOM + 18, 1 << k);
    }
    markup_printf(t,
                  "<text class=\"soft\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">work-items in a "
                  "group</text>\n",
                  (CURVE_LEFT + CURVE_WIDTH - CURVE_RIGHT) / 2, CURVE_HEIGHT - 6);
}

/* How far from a square: the longer side over the shorter; of two alike, the wider one is the
 * squarer. */
static double oblongness(const struct bench_record *r)
{
    double x = r->work_group[0], y = r->work_group[1];
    return x >= y ? x / y : y / x * 1.0001;
}

/* Orders rows of one group by size, then the squarest first. */
static const struct bench_record **sort_rows;
static int size_order(const void *a, const void *b)
{
    const struct bench_record *x = sort_rows[*(const size_t *)a],
                              *y = sort_rows[*(const size_t *)b];
    uint64_t nx = (uint64_t)x->work_group[0] * x->work_group[1],
             ny = (uint64_t)y->work_group[0] * y->work_group[1];
    if (nx != ny)
        return nx < ny ? -1 : 1;
    return (oblongness(x) > oblongness(y)) - (oblongness(x) < oblongness(y));
}

/* The line joins the squarest shape of each power of two (choosing the fastest would choose noise);
 * other shapes are hollow points. */
static void curve_series(struct page *p, struct blocks *b, const struct tuning_group *g,
                         const struct curve *c, unsigned series)
{
    size_t *order = ARENA_ARRAY(p->a, size_t, g->count), n = 0;
    if (!order) {
        p->no_memory = true;
        return;
    }
    for (size_t i = 0; i < g->count; i++)
        if (b->records[g->rows[i]]->verdict == VERDICT_PASS &&
            b->records[g->rows[i]]->work_group[0])
            order[n++] = g->rows[i];
    sort_rows = b->records;
    if (n)
        qsort(order, n, sizeof *order, size_order);
    double best = b->records[g->best]->samples_per_s;
    struct text line = {0}, points = {0};
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        const struct bench_record *r = b->records[order[i]];
        uint64_t size = (uint64_t)r->work_group[0] * r->work_group[1];
        double x = curve_x(c, r), y = curve_y(r->samples_per_s / best);
        char rate[32], shape[32];
        bool first = size != last && (size & (size - 1)) == 0;
        last = size;
        if (first) {
            markup_printf(&line, "%.1f,%.1f ", x, y);
            markup_printf(
                &points,
                "<line class=\"whisker l%u\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                series, x, curve_y(r->interval[0] / best), x, curve_y(r->interval[1] / best));
        }
        markup_printf(&points,
                      "<circle class=\"%!%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%!\"><title>%s, %s: "
                      "%s</title></circle>\n",
                      first ? "s" : "hollow l", series, x, y, first ? "4" : "2.5",
                      p->s->columns[b->columns[order[i]]].label, shape_text(r->work_group, shape),
                      rate_text(r->samples_per_s, rate));
    }
    markup_printf(p->t, "<polyline class=\"l%u\" points=\"%!\"/>\n%!", series, line.data,
                  points.data);
    p->t->failed |= line.failed | points.failed;
    text_free(&line);
    text_free(&points);
}

static bool curve_has(const struct blocks *b, const struct tuning_group *g,
                      const struct bench_record *job)
{
    return g->best != SIZE_MAX && bench_same_job(b->records[g->best], job) &&
           b->records[g->best]->work_group[0];
}

static void curve_write(struct page *p, struct blocks *b, const struct bench_record *job)
{
    struct curve c = {1};
    unsigned series = 0;
    for (size_t k = 0; k < b->tuning.group_count; k++) {
        const struct tuning_group *g = &b->tuning.groups[k];
        for (size_t i = 0; i < g->count && curve_has(b, g, job); i++) {
            const struct bench_record *r = b->records[g->rows[i]];
            if (r->verdict == VERDICT_PASS && r->work_group[0])
                c.log_max = fmax(c.log_max, log2((double)r->work_group[0] * r->work_group[1]));
        }
    }
    text_puts(p->t, "<h4>rate against the size of a work-group, as a share of each device's "
                    "best; the line joins the squarest shapes, rings are the others</h4>\n");
    curve_frame(p->t, &c);
    for (size_t k = 0; k < b->tuning.group_count; k++)
        if (curve_has(b, &b->tuning.groups[k], job))
            curve_series(p, b, &b->tuning.groups[k], &c, series++ % 8);
    text_puts(p->t, "</svg></div>\n<ul class=\"legend\">\n");
    series = 0;
    for (size_t k = 0; k < b->tuning.group_count; k++) {
        const struct tuning_group *g = &b->tuning.groups[k];
        char rate[32];
        if (!curve_has(b, g, job))
            continue;
        markup_printf(p->t,
                      "<li><svg viewBox=\"0 0 14 12\" aria-hidden=\"true\"><circle class=\"s%u\" "
                      "cx=\"7\" cy=\"6\" r=\"5\"/></svg>%s, %s "
                      "<span class=\"note\">(100%% is %s)</span></li>\n",
                      series++ % 8, p->s->columns[b->columns[g->best]].label,
                      b->records[g->best]->mode,
                      rate_text(b->records[g->best]->samples_per_s, rate));
    }
    text_puts(p->t, "</ul>\n");
}

/* ---- tables --------------------------------------------------------------------------------- */

static void best_table(struct page *p, const struct blocks *b)
{
    char rate[32];
    text_puts(p->t, "<h3>Best settings</h3>\n<div class=\"scroll\"><table><thead><tr><th "
                    "scope=\"col\">scene</th><th scope=\"col\">device</th><th "
                    "scope=\"col\">best setting</th><th scope=\"col\" class=\"r\">rate</th><th "
                    "scope=\"col\" class=\"r\">tied with it</th><th "
                    "scope=\"col\" class=\"r\">refused</th></tr></thead><tbody>\n");
    for (size_t k = 0; k < b->tuning.group_count; k++) {
        const struct tuning_group *g = &b->tuning.groups[k];
        size_t refused = 0;
        for (size_t i = 0; i < g->count; i++)
            refused += b->records[g->rows[i]]->verdict == VERDICT_SKIP;
        const struct bench_record *r = b->records[g->best != SIZE_MAX ? g->best : g->rows[0]];
        markup_printf(p->t, "<tr><th scope=\"row\">%s</th><td>%s</td><td>", r->scene,
                      p->s->columns[b->columns[g->rows[0]]].label);
        if (g->best == SIZE_MAX) {
            markup_printf(p->t,
                          "none: no setting gave a judged rate</td><td></td><td></td><td "
                          "class=\"r\">%zu</td></tr>\n",
                          refused);
            continue;
        }
        html_settings(p->t, r);
        markup_printf(p->t,
                      "</td><td class=\"r\">%s</td><td class=\"r\">%zu of %zu</td><td "
                      "class=\"r\">%zu",
                      rate_text(r->samples_per_s, rate), g->tied_count - 1, g->count - 1, refused);
        text_puts(p->t, "</td></tr>\n");
    }
    text_puts(p->t, "</tbody></table></div>\n");
}

/* Every setting of a scene with its figures and its command: where the maps' numbers come from. */
static void all_settings(struct page *p, const struct blocks *b, const struct bench_record *job)
{
    text_puts(p->t,
              "<details class=\"bulk\"><summary>all settings, figures and commands</summary><div "
              "class=\"scroll\"><table><thead><tr><th scope=\"col\">device</th><th "
              "scope=\"col\">setting</th><th scope=\"col\">verdict</th><th scope=\"col\" "
              "class=\"r\">rate</th><th scope=\"col\" class=\"r\">interval</th><th "
              "scope=\"col\" class=\"r\">noise</th><th scope=\"col\" class=\"r\">runs</th><th "
              "scope=\"col\">command</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < b->count; i++) {
        const struct bench_record *r = b->records[i];
        char rate[32], low[32], high[32];
        if (!bench_same_job(r, job))
            continue;
        markup_printf(p->t, "<tr><td>%s</td><td>", p->s->columns[b->columns[i]].label);
        html_settings(p->t, r);
        text_puts(p->t, "</td><td>");
        html_verdict(p->t, r->verdict);
        if (r->verdict == VERDICT_PASS)
            markup_printf(
                p->t,
                "</td><td class=\"r\">%s</td><td class=\"r\">%s to %s</td><td class=\"r\">%.1f%%",
                rate_text(r->samples_per_s, rate), rate_text(r->interval[0], low),
                rate_text(r->interval[1], high), 100 * r->noise);
        else
            markup_printf(p->t, " %s</td><td></td><td></td><td>", r->reason);
        markup_printf(p->t, "</td><td class=\"r\">%u</td><td><code>%s</code>%s%s</td></tr>\n",
                      r->repetitions, r->command, r->notes ? " " : "", r->notes ? r->notes : "");
    }
    text_puts(p->t, "</tbody></table></div></details>\n");
}

static void choice_table(struct page *p, const struct blocks *b)
{
    if (b->tuning.choice_count == 0)
        return;
    text_puts(p->t, "<h3>One setting for all scenes</h3>\n<p class=\"note\">The setting with the "
                    "largest geometric mean over the scenes, and what "
                    "each scene loses by it against its own best.</p>\n<div "
                    "class=\"scroll\"><table><thead><tr><th scope=\"col\">device</th><th "
                    "scope=\"col\">setting</th><th scope=\"col\">loss by scene</th><th "
                    "scope=\"col\" class=\"r\">mean loss</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < b->tuning.choice_count; i++) {
        const struct tuning_choice *c = &b->tuning.choices[i];
        markup_printf(p->t, "<tr><th scope=\"row\">%s</th><td>", p->s->columns[c->device].label);
        html_settings(p->t, b->records[c->row]);
        text_puts(p->t, "</td><td>");
        for (size_t k = 0; k < c->group_count; k++)
            markup_printf(p->t, "%!%s %.1f%%", k ? ", " : "",
                          b->records[b->tuning.groups[c->groups[k]].best]->scene,
                          100 * (1 - c->shares[k]));
        markup_printf(p->t, "</td><td class=\"r\">%.1f%%</td></tr>\n", 100 * (1 - c->mean_share));
    }
    text_puts(p->t, "</tbody></table></div>\n");
}

/* ---- the section ------------------------------------------------------------------------ */

static bool blocks_collect(struct page *p, struct blocks *b)
{
    const struct snapshot *s = p->s;
    b->rows = ARENA_ARRAY(p->a, const struct snapshot_bench *, s->bench_count);
    b->records = ARENA_ARRAY(p->a, const struct bench_record *, s->bench_count);
    b->columns = ARENA_ARRAY(p->a, size_t, s->bench_count);
    if (!b->rows || !b->records || !b->columns)
        return false;
    for (size_t i = 0; i < s->bench_count; i++)
        if (s->benches[i].sweep) {
            b->rows[b->count] = &s->benches[i];
            b->records[b->count] = s->benches[i].record;
            b->columns[b->count++] = s->benches[i].column;
        }
    return tuning_find(p->a, b->records, b->columns, b->count, &b->tuning, NULL) == STATUS_OK;
}

static void job_maps(struct page *p, struct blocks *b, size_t first)
{
    const struct bench_record *job = b->records[b->tuning.groups[first].rows[0]];
    bool curve = false;
    markup_printf(p->t, "<h3>%s <span class=\"note\">", job->scene);
    html_job(p->t, job);
    text_puts(p->t, "</span></h3>\n<div class=\"heats\">\n");
    for (size_t k = first; k < b->tuning.group_count; k++) {
        const struct tuning_group *g = &b->tuning.groups[k];
        if (!bench_same_job(b->records[g->rows[0]], job))
            continue;
        curve = curve || curve_has(b, g, job);
        for (size_t i = 0; i < g->count; i++) {
            bool seen = false;
            for (size_t e = 0; e < i && !seen; e++)
                seen = same_slice(b->records[g->rows[e]], b->records[g->rows[i]]);
            if (!seen)
                heat_map(p, b, g, b->records[g->rows[i]]);
        }
    }
    text_puts(p->t, "</div>\n");
    if (curve)
        curve_write(p, b, job);
    all_settings(p, b, job);
}

void section_blocks(struct page *p)
{
    struct blocks b = {0};
    if (!blocks_collect(p, &b)) {
        p->no_memory = true;
        return;
    }
    if (b.count == 0)
        return;
    text_puts(p->t, "<section id=\"blocks\"><h2>Work-group sizes</h2>\n");
    ramp_legend(p->t);
    for (size_t k = 0; k < b.tuning.group_count; k++) {
        bool seen = false;
        for (size_t e = 0; e < k && !seen; e++)
            seen = bench_same_job(b.records[b.tuning.groups[e].rows[0]],
                                  b.records[b.tuning.groups[k].rows[0]]);
        if (!seen)
            job_maps(p, &b, k);
    }
    best_table(p, &b);
    choice_table(p, &b);
    text_puts(p->t, "</section>\n");
}
