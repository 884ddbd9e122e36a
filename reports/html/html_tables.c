/* SPDX-License-Identifier: Apache-2.0 */
/* Published tables that were made again, as files of tools/experiments say them: our rows, and the
 * published ones marked. */
#include <math.h>
#include <string.h>

#include "html.h"

enum {
    MOST_BYTES = 16 << 20,
    WIDTH = 1000,
    HEIGHT = 340,
    LEFT = 74,
    TOP = 14,
    BOTTOM = 40,
    RIGHT = 8
};

static enum status member(const char *file, const struct json *v, const char *key,
                          enum json_type type, const struct json **out, struct error *err)
{
    *out = json_get(v, key);
    if (*out && (*out)->type == type)
        return STATUS_OK;
    return json_error(err, file, *out ? *out : v, STATUS_TYPE, "expected %s '%s'",
                      json_type_name(type), key);
}

/* A plot's lines: names, and pairs of numbers, above 0 where axes are logarithmic. */
static enum status plot_check(const char *file, const struct json *v, struct error *err)
{
    const struct json *plot = json_get(v, "plot"), *text, *series, *points;
    if (!plot)
        return STATUS_OK;
    if (plot->type != JSON_OBJECT)
        return json_error(err, file, plot, STATUS_TYPE, "expected a plot, an object");
    TRY(member(file, plot, "x", JSON_STRING, &text, err));
    TRY(member(file, plot, "y", JSON_STRING, &text, err));
    TRY(member(file, plot, "series", JSON_ARRAY, &series, err));
    for (const struct json *s = series->first; s; s = s->next) {
        if (s->type != JSON_OBJECT)
            return json_error(err, file, s, STATUS_TYPE, "expected a line, an object");
        TRY(member(file, s, "name", JSON_STRING, &text, err));
        TRY(member(file, s, "points", JSON_ARRAY, &points, err));
        for (const struct json *p = points->first; p; p = p->next)
            if (p->type != JSON_ARRAY || p->count != 2 || p->first->type != JSON_NUMBER ||
                p->first->next->type != JSON_NUMBER || !(p->first->number > 0) ||
                !(p->first->next->number > 0))
                return json_error(err, file, p, STATUS_TYPE,
                                  "expected a point, two numbers above 0");
    }
    return STATUS_OK;
}

/* Is the file what section_tables reads? */
static enum status table_check(const char *file, const struct json *v, struct error *err)
{
    const struct json *text, *headers, *rows;
    enum status st = STATUS_OK;
    if (v->type != JSON_OBJECT)
        return json_error(err, file, v, STATUS_TYPE, "expected an object of tools/experiments");
    static const char *const texts[] = {"title", "of", "differs"};
    for (size_t i = 0; i < 3 && !st; i++)
        st = member(file, v, texts[i], JSON_STRING, &text, err);
    if (!st)
        st = member(file, v, "headers", JSON_ARRAY, &headers, err);
    if (!st)
        st = member(file, v, "rows", JSON_ARRAY, &rows, err);
    for (const struct json *h = st ? NULL : headers->first; h && !st; h = h->next)
        if (h->type != JSON_STRING)
            st = json_error(err, file, h, STATUS_TYPE, "expected a column's name");
    for (const struct json *r = st ? NULL : rows->first; r && !st; r = r->next)
        if (r->type != JSON_OBJECT)
            st = json_error(err, file, r, STATUS_TYPE, "expected a row, an object");
    return st ? st : plot_check(file, v, err);
}

enum status tables_read(struct arena *a, const char *const *files, size_t count,
                        const struct json *const **out, struct error *err)
{
    const struct json **tables = ARENA_ARRAY(a, const struct json *, count + 1);
    if (!tables)
        return error_msg(err, STATUS_MEMORY, "out of memory for tables");
    for (size_t i = 0; i < count; i++) {
        char *data;
        size_t size;
        enum status st = file_read(a, files[i], MOST_BYTES, &data, &size, err);
        if (!st)
            st = json_parse(a, files[i], data, size, &tables[i], err);
        if (!st)
            st = table_check(files[i], tables[i], err);
        if (st)
            return st;
    }
    *out = tables;
    return STATUS_OK;
}

static void put_value(struct page *p, const struct json *v)
{
    if (v && v->type == JSON_STRING)
        markup_printf(p->t, "%s", v->string);
    else if (v && v->type == JSON_NUMBER && v->is_integer)
        markup_printf(p->t, "%lld", (long long)v->integer);
    else if (v && v->type == JSON_NUMBER)
        markup_printf(p->t, "%.6g", v->number);
}

/* Does a row have something in that column? */
static bool column_used(const struct json *rows, const char *header)
{
    for (const struct json *r = rows->first; r; r = r->next) {
        const struct json *v = json_get(r, header);
        if (v && (v->type == JSON_NUMBER || (v->type == JSON_STRING && v->string[0])))
            return true;
    }
    return false;
}

static void put_row(struct page *p, const struct json *row, const struct json *rows,
                    const struct json *headers)
{
    const struct json *first = row->first;
    const bool published =
        first && first->type == JSON_STRING && strncmp(first->string, "published", 9) == 0;
    markup_printf(p->t, "<tr%!>", published ? " class=\"published\"" : "");
    for (const struct json *h = headers->first; h; h = h->next) {
        const struct json *v = json_get(row, h->string);
        if (!column_used(rows, h->string))
            continue;
        markup_printf(p->t, "<td%!>", h == headers->first ? "" : " class=\"r\"");
        put_value(p, v);
        text_puts(p->t, "</td>");
    }
    text_puts(p->t, "</tr>\n");
}

/* ---- plots ---------------------------------------------------------------------------------- */

struct range {
    double low, high; /* logarithms to base 10 */
};

static void range_take(struct range *r, double value)
{
    const double at = log10(value);
    r->low = fmin(r->low, at);
    r->high = fmax(r->high, at);
}

static double place(const struct range *r, double value, double from, double to)
{
    return from + (to - from) * (log10(value) - r->low) / fmax(r->high - r->low, 1e-9);
}
static double plot_x(const struct range *r, double v) { return place(r, v, LEFT, WIDTH - RIGHT); }
static double plot_y(const struct range *r, double v) { return place(r, v, HEIGHT - BOTTOM, TOP); }

/* Powers of ten, or where there is none but one, its multiples by 2 and 5. */
static void put_ticks(struct page *p, const struct range *r, bool across)
{
    static const double steps[] = {1, 2, 5};
    const bool dense = r->high - r->low < 2;
    const int each = r->high - r->low > 8 ? 4 : 1;
    for (int e = (int)floor(r->low) - 1; e <= (int)ceil(r->high); e++)
        for (size_t k = 0; k < (dense ? 3u : 1u); k++) {
            const double v = steps[k] * pow(10, e), at = log10(v);
            if (at < r->low - 1e-9 || at > r->high + 1e-9 || e % each != 0)
                continue;
            if (across)
                markup_printf(p->t, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.3g</text>",
                              plot_x(r, v), HEIGHT - BOTTOM + 16, v);
            else
                markup_printf(p->t,
                              "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                              "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>",
                              LEFT, WIDTH - RIGHT, plot_y(r, v), plot_y(r, v), LEFT - 6,
                              plot_y(r, v) + 4, v);
        }
}

static bool is_published(const struct json *series)
{
    return strncmp(json_get(series, "name")->string, "published", 9) == 0;
}

static void put_line(struct page *p, const struct json *s, unsigned color, const struct range *rx,
                     const struct range *ry)
{
    const struct json *points = json_get(s, "points");
    markup_printf(p->t, "<polyline class=\"l%u\"%! points=\"", color,
                  is_published(s) ? " stroke-dasharray=\"5 4\"" : "");
    for (const struct json *q = points->first; q; q = q->next)
        markup_printf(p->t, "%!%.1f,%.1f", q == points->first ? "" : " ",
                      plot_x(rx, q->first->number), plot_y(ry, q->first->next->number));
    text_puts(p->t, "\"/>");
    for (const struct json *q = points->first; q; q = q->next)
        markup_printf(p->t, "<circle class=\"s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", color,
                      plot_x(rx, q->first->number), plot_y(ry, q->first->next->number));
    text_puts(p->t, "\n");
}

static void put_legend(struct page *p, const struct json *series)
{
    unsigned color = 0;
    text_puts(p->t, "<ul class=\"legend\">");
    for (const struct json *s = series->first; s; s = s->next, color++)
        markup_printf(p->t,
                      "<li><svg viewBox=\"0 0 14 12\" aria-hidden=\"true\"><rect class=\"s%u\" "
                      "x=\"1\" y=\"4\" width=\"12\" height=\"4\"/></svg>%s</li>",
                      html_series(color), json_get(s, "name")->string);
    text_puts(p->t, "</ul>\n");
}

/* Lines over two logarithmic axes; published ones are dashed. */
void html_plot(struct page *p, const struct json *plot)
{
    const struct json *series = json_get(plot, "series");
    struct range rx = {INFINITY, -INFINITY}, ry = rx;
    for (const struct json *s = series->first; s; s = s->next)
        for (const struct json *q = json_get(s, "points")->first; q; q = q->next) {
            range_take(&rx, q->first->number);
            range_take(&ry, q->first->next->number);
        }
    if (!isfinite(rx.low))
        return;
    markup_printf(p->t,
                  "<div class=\"scroll\"><svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "
                  "aria-label=\"%s over %s\">",
                  WIDTH, HEIGHT, json_get(plot, "y")->string, json_get(plot, "x")->string);
    put_ticks(p, &ry, false);
    put_ticks(p, &rx, true);
    markup_printf(p->t,
                  "<text class=\"soft\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>"
                  "<text class=\"soft\" transform=\"translate(14,%d) rotate(-90)\" "
                  "text-anchor=\"middle\">%s</text>\n",
                  (LEFT + WIDTH) / 2, HEIGHT - 6, json_get(plot, "x")->string, HEIGHT / 2,
                  json_get(plot, "y")->string);
    unsigned color = 0;
    for (const struct json *s = series->first; s; s = s->next, color++)
        put_line(p, s, html_series(color), &rx, &ry);
    text_puts(p->t, "</svg></div>\n");
    put_legend(p, series);
}

void html_rows(struct page *p, const struct json *headers, const struct json *rows)
{
    text_puts(p->t, "<div class=\"scroll\"><table class=\"matrix\"><thead><tr>");
    for (const struct json *h = headers->first; h; h = h->next)
        if (column_used(rows, h->string))
            markup_printf(p->t, "<th>%s</th>", h->string);
    text_puts(p->t, "</tr></thead><tbody>\n");
    for (const struct json *r = rows->first; r; r = r->next)
        put_row(p, r, rows, headers);
    text_puts(p->t, "</tbody></table></div>\n");
}

static void put_table(struct page *p, const struct json *v)
{
    markup_printf(p->t, "<h3>%s</h3>\n<p class=\"note\">After %s. What differs: %s</p>\n",
                  json_get(v, "title")->string, json_get(v, "of")->string,
                  json_get(v, "differs")->string);
    html_rows(p, json_get(v, "headers"), json_get(v, "rows"));
    if (json_get(v, "plot"))
        html_plot(p, json_get(v, "plot"));
}

void section_tables(struct page *p)
{
    if (!p->extras->table_count)
        return;
    text_puts(p->t, "<section id=\"tables\"><h2>Published tables</h2>\n<p class=\"note\">Tables "
                    "of papers, made again by tools/experiments. Italic rows are the published "
                    "numbers, of other machines, scenes and programs; all others were measured "
                    "here. Dashed lines are published.</p>\n");
    for (size_t i = 0; i < p->extras->table_count; i++)
        put_table(p, p->extras->tables[i]);
    text_puts(p->t, "</section>\n");
}
