/* SPDX-License-Identifier: Apache-2.0 */
/* How large an error statistics would have noticed: for each device and mode the share of cases over
 * the size of the error; from cases whose detail holds `notices` (docs/reference/store.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"

enum { WIDTH = 1100, HEIGHT = 290, LEFT = 52, GAP = 40, TOP = 30, BOTTOM = 46, ERRORS = 2 };
static const double least = 1e-5; /* of an error shown; the most: 1 */

static const struct {
    const char *key, *title;
} errors[ERRORS] = {{"radiance", "all light off by"}, {"pixels", "share of the pixels black"}};

/* The cases of one mode on one device: how large each error must be, ascending. */
struct curve {
    size_t column;
    const char *mode;
    double level;
    double *sizes[ERRORS];
    size_t count[ERRORS], cases; /* those that any size shows in, and all */
};

/* The "device" of "image.device.cornell". */
static const char *mode_of(struct page *p, const char *name)
{
    const char *first = strchr(name, '.'), *end = first ? strchr(first + 1, '.') : NULL;
    return end ? arena_printf(p->a, "%.*s", (int)(end - first - 1), first + 1) : NULL;
}

static const struct json *notices_of(struct page *p, const struct case_record *r)
{
    const struct json *detail = NULL;
    if (!r->detail || !strstr(r->detail, "\"notices\"") ||
        json_parse(p->a, "detail", r->detail, strlen(r->detail), &detail, NULL) ||
        detail->type != JSON_OBJECT)
        return NULL;
    const struct json *n = json_get(detail, "notices");
    return n && n->type == JSON_OBJECT && json_number_at(n, "level") > 0 ? n : NULL;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct curve *curve_of(struct page *p, struct curve *all, size_t *count, size_t column,
                              const char *mode)
{
    for (size_t i = 0; i < *count; i++)
        if (all[i].column == column && strcmp(all[i].mode, mode) == 0)
            return &all[i];
    struct curve *c = &all[*count];
    *c = (struct curve){.column = column, .mode = mode};
    for (size_t k = 0; k < ERRORS; k++)
        if (!(c->sizes[k] = ARENA_ARRAY(p->a, double, p->s->case_count)))
            return NULL;
    ++*count;
    return c;
}

/* NULL: out of memory. */
static struct curve *curves_of(struct page *p, size_t *count)
{
    struct curve *all = ARENA_ARRAY(p->a, struct curve, p->s->case_count + 1);
    *count = 0;
    for (size_t i = 0; all && i < p->s->case_count; i++) {
        const struct json *n = notices_of(p, p->s->cases[i].record);
        const char *mode = n ? mode_of(p, p->s->cases[i].record->name) : NULL;
        if (!mode)
            continue;
        struct curve *c = curve_of(p, all, count, p->s->cases[i].column, mode);
        if (!c)
            return NULL;
        c->cases++;
        c->level = fmax(c->level, json_number_at(n, "level"));
        for (size_t k = 0; k < ERRORS; k++) {
            const double size = json_number_at(n, errors[k].key);
            if (size > 0 && size <= 1)
                c->sizes[k][c->count[k]++] = size;
        }
    }
    for (size_t i = 0; all && i < *count; i++)
        for (size_t k = 0; k < ERRORS; k++)
            qsort(all[i].sizes[k], all[i].count[k], sizeof(double), ascending);
    return all;
}

static double panel_width(void) { return (double)(WIDTH - LEFT) / ERRORS - GAP; }

static double size_x(size_t panel, double size)
{
    const double at = fmin(fmax(log(size / least) / log(1 / least), 0), 1);
    return LEFT + (double)panel * (panel_width() + GAP) + at * panel_width();
}

static double share_y(double share) { return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP); }

static void frame(struct text *t, size_t panel)
{
    static const char *const names[] = {"0.001%", "0.01%", "0.1%", "1%", "10%", "100%"};
    for (int k = 0; k <= 4; k++) {
        const double y = share_y(k / 4.0);
        markup_printf(t, "<line class=\"%!\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                      k ? "grid" : "axis", size_x(panel, least), y, size_x(panel, 1), y);
        if (panel == 0)
            markup_printf(
                t, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%d%%</text>\n",
                size_x(0, least) - 8, y + 4, 25 * k);
    }
    for (int k = 0; k <= 5; k++)
        markup_printf(t,
                      "<text class=\"soft\" x=\"%.1f\" y=\"%d\" "
                      "text-anchor=\"middle\">%s</text>\n",
                      size_x(panel, least * pow(10, k)), HEIGHT - BOTTOM + 16, names[k]);
    markup_printf(t, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                  size_x(panel, sqrt(least)), HEIGHT - 8, errors[panel].title);
}

static void chart(struct page *p, const struct curve *all, size_t count)
{
    markup_printf(p->t,
                  "<div class=\"scroll\"><svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "
                  "aria-label=\"share of cases that notice an error, over its size; the figures "
                  "are in the table below\">\n",
                  WIDTH, HEIGHT);
    for (size_t k = 0; k < ERRORS; k++) {
        frame(p->t, k);
        for (size_t i = 0; i < count; i++) {
            markup_printf(p->t, "<polyline class=\"l%u\" points=\"%.1f,%.1f ", html_series(i),
                          size_x(k, least), share_y(0));
            for (size_t n = 0; n < all[i].count[k]; n++) {
                const double x = size_x(k, all[i].sizes[k][n]), cases = (double)all[i].cases;
                markup_printf(p->t, "%.1f,%.1f %.1f,%.1f ", x, share_y((double)n / cases), x,
                              share_y((double)(n + 1) / cases));
            }
            markup_printf(p->t, "%.1f,%.1f\"/>\n", size_x(k, 1),
                          share_y((double)all[i].count[k] / (double)all[i].cases));
        }
    }
    text_puts(p->t, "</svg></div>\n");
}

/* The size that this share of the cases notices, as a cell. */
static void size_cell(struct text *t, const struct curve *c, size_t kind, double share)
{
    const size_t at = (size_t)fmax(ceil(share * (double)c->cases), 1);
    if (at > c->count[kind])
        text_puts(t, "<td class=\"r\">none</td>");
    else
        markup_printf(t, "<td class=\"r\">%.3g %%</td>", 100 * c->sizes[kind][at - 1]);
}

static void table(struct page *p, const struct curve *all, size_t count)
{
    text_puts(p->t,
              "<div class=\"scroll\"><table><caption>The error that so many of the cases "
              "notice.</caption><thead><tr><th scope=\"col\">device</th><th "
              "scope=\"col\">mode</th><th scope=\"col\" class=\"r\">cases</th><th scope=\"col\" "
              "class=\"r\">level</th>");
    for (size_t k = 0; k < ERRORS; k++)
        markup_printf(p->t,
                      "<th scope=\"col\" class=\"r\">%s: half of the cases</th><th scope=\"col\" "
                      "class=\"r\">all</th>",
                      errors[k].title);
    text_puts(p->t, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        markup_printf(p->t,
                      "<tr><th scope=\"row\"><svg width=\"14\" height=\"12\" viewBox=\"0 0 14 12\" "
                      "aria-hidden=\"true\"><rect class=\"s%u\" width=\"14\" height=\"12\" "
                      "rx=\"2\"/></svg> %s</th><td>%s</td><td class=\"r\">%zu</td><td "
                      "class=\"r\">%g</td>",
                      html_series(i), p->s->columns[all[i].column].label, all[i].mode, all[i].cases,
                      all[i].level);
        for (size_t k = 0; k < ERRORS; k++) {
            size_cell(p->t, &all[i], k, 0.5);
            size_cell(p->t, &all[i], k, 1);
        }
        text_puts(p->t, "</tr>\n");
    }
    text_puts(p->t, "</tbody></table></div>\n");
}

void section_power(struct page *p)
{
    size_t count;
    const struct curve *all = curves_of(p, &count);
    p->no_memory |= !all;
    if (!all || !count)
        return;
    text_puts(p->t,
              "<section id=\"power\"><h2>What a PASS would have noticed</h2>\n<p "
              "class=\"note\">Pictures that statistics judged: the share of their cases that an "
              "error of that size would have failed, by the very noise that they had. On the left "
              "all light is brighter or darker; on the right pixels here and there are "
              "black.</p>\n");
    chart(p, all, count);
    table(p, all, count);
    text_puts(p->t, "</section>\n");
}
