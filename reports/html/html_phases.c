/* SPDX-License-Identifier: Apache-2.0 */
/* Phase timelines: what a session spends, and what it spends before the first sample. */
#include <math.h>
#include <string.h>

#include "html.h"

/* Neighbours differ in hue and lightness; dark text is readable on all. */
static const char *const phase_colors[PHASE_COUNT] = {
    "#9aa5b1", "#f2a65a", "#f6d55c", "#a3c76d", "#5fb49c", "#4aa3df",
    "#8f9fe8", "#c490d1", "#d8d35f", "#e88aa8", "#7dc4f0", "#c9a27e",
};

static double phase_seconds(const struct snapshot_bench *b, enum phase phase)
{
    const struct json *v = b->phases ? json_get(b->phases, phase_names[phase].key) : NULL;
    return json_number_at(v, "median_s");
}

/* Sum of the phases told, with or without the render itself. */
static double total_seconds(const struct snapshot_bench *b, bool render)
{
    double sum = 0;
    for (int k = 0; k < PHASE_COUNT; k++) {
        double s = phase_seconds(b, (enum phase)k);
        if (s > 0 && (render || (k != PHASE_render && k != PHASE_readback)))
            sum += s;
    }
    return sum;
}

enum { LABEL_WIDTH = 250, BAR_WIDTH = 760, ROW_HEIGHT = 30, CHART_WIDTH = 1100 };

/* As many characters as fit beside the bars; the whole stands in the table of figures. */
static void label_clip(struct text *t, const char *label)
{
    enum { LABEL_CHARS = 38 };
    size_t n = 0;
    for (size_t shown = 0, all = strlen(label); n < all && shown < LABEL_CHARS; shown++) {
        size_t len = utf8_read(label + n, all - n, NULL);
        n += len ? len : 1;
    }
    char cut[256];
    snprintf(cut, sizeof cut, "%.*s%s", (int)n, label, label[n] ? "\xe2\x80\xa6" : "");
    markup_escape(t, cut);
}

static void bar_row(struct page *p, const struct snapshot_bench *b, double longest, bool render,
                    int y)
{
    char buf[32];
    double x = LABEL_WIDTH;
    char label[128];
    snprintf(label, sizeof label, "%s, %s", p->s->columns[b->column].label, b->record->mode);
    markup_printf(p->t, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LABEL_WIDTH - 10, y + 19);
    label_clip(p->t, label);
    text_puts(p->t, "</text>\n");
    for (int k = 0; k < PHASE_COUNT; k++) {
        double s = phase_seconds(b, (enum phase)k);
        if (!(s > 0) || (!render && (k == PHASE_render || k == PHASE_readback)))
            continue;
        double width = BAR_WIDTH * s / longest;
        markup_printf(p->t,
                      "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" "
                      "fill=\"%!\"><title>%s: %s</title></rect>\n",
                      x, y + 4, width, ROW_HEIGHT - 8, phase_colors[k], phase_names[k].text,
                      seconds_text(s, buf));
        if (width > 7.5 * (double)strlen(phase_names[k].text))
            markup_printf(
                p->t, "<text class=\"over\" x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                x + width / 2, y + 19, phase_names[k].text);
        x += width;
    }
    markup_printf(p->t, "<text x=\"%.2f\" y=\"%d\">%s</text>\n", x + 8, y + 19,
                  seconds_text(total_seconds(b, render), buf));
}

static void timeline(struct page *p, const struct snapshot_bench **rows, size_t n, bool render,
                     const char *title)
{
    double longest = 0;
    for (size_t i = 0; i < n; i++) {
        double t = total_seconds(rows[i], render);
        longest = t > longest ? t : longest;
    }
    if (!(longest > 0))
        return;
    markup_printf(p->t,
                  "<h4>%!</h4>\n<div class=\"scroll\"><svg class=\"chart\" viewBox=\"0 0 %d %d\" "
                  "role=\"img\" "
                  "aria-label=\"%!, figures in the table below\">\n",
                  title, CHART_WIDTH, (int)n * ROW_HEIGHT + 4, title);
    for (size_t i = 0; i < n; i++)
        bar_row(p, rows[i], longest, render, (int)i * ROW_HEIGHT);
    text_puts(p->t, "</svg></div>\n");
}

static void legend(struct text *t)
{
    text_puts(t, "<ul class=\"legend\">\n");
    for (int k = 0; k < PHASE_COUNT; k++)
        markup_printf(t,
                      "<li><svg viewBox=\"0 0 14 12\" aria-hidden=\"true\"><rect width=\"14\" "
                      "height=\"12\" rx=\"2\" fill=\"%!\"/></svg>%s</li>\n",
                      phase_colors[k], phase_names[k].text);
    text_puts(t, "</ul>\n");
}

static void figures(struct page *p, const struct snapshot_bench **rows, size_t n)
{
    char buf[32];
    text_puts(
        p->t,
        "<details><summary>figures</summary><div class=\"scroll\"><table><caption>Medians by the "
        "host's clock; in brackets the "
        "device's own events, where it has them.</caption><thead><tr><th scope=\"col\">phase</th>");
    for (size_t i = 0; i < n; i++)
        markup_printf(p->t, "<th scope=\"col\" class=\"r\">%s, %s</th>",
                      p->s->columns[rows[i]->column].label, rows[i]->record->mode);
    text_puts(p->t, "</tr></thead><tbody>\n");
    for (int k = 0; k < PHASE_COUNT; k++) {
        markup_printf(p->t, "<tr><th scope=\"row\">%s</th>", phase_names[k].text);
        for (size_t i = 0; i < n; i++) {
            double s = phase_seconds(rows[i], (enum phase)k);
            const struct json *v =
                rows[i]->phases ? json_get(rows[i]->phases, phase_names[k].key) : NULL;
            double device = json_number_at(v, "device_s");
            markup_printf(p->t, "<td class=\"r\">%!", isfinite(s) ? seconds_text(s, buf) : "");
            if (device >= 0)
                markup_printf(p->t, " (%!)", seconds_text(device, buf));
            text_puts(p->t, "</td>");
        }
        text_puts(p->t, "</tr>\n");
    }
    text_puts(p->t, "<tr><th scope=\"row\">all</th>");
    for (size_t i = 0; i < n; i++)
        markup_printf(p->t, "<td class=\"r\"><b>%!</b></td>",
                      seconds_text(total_seconds(rows[i], true), buf));
    text_puts(p->t, "</tr></tbody></table></div></details>\n");
}

static bool has_phases(const struct snapshot_bench *b) { return total_seconds(b, true) > 0; }

void section_phases(struct page *p)
{
    const struct snapshot_bench **rows;
    size_t at = 0, shown = 0;
    for (size_t n; (n = html_next_job(p, &at, has_phases, &rows)) > 0;) {
        if (shown++ == 0) {
            text_puts(p->t, "<section id=\"phases\"><h2>Phases</h2>\n<p class=\"note\">Where the "
                            "time of a session goes, from the scene "
                            "file to the picture.</p>\n");
            legend(p->t);
        }
        markup_printf(p->t, "<h3>%s <span class=\"note\">", rows[0]->record->scene);
        html_job(p->t, rows[0]->record);
        text_puts(p->t, "</span></h3>\n");
        timeline(p, rows, n, true, "whole session");
        timeline(p, rows, n, false, "before the first sample");
        figures(p, rows, n);
    }
    if (shown)
        text_puts(p->t, "</section>\n");
}
