/* SPDX-License-Identifier: Apache-2.0 */
/* White furnaces: the share of light that materials which absorb nothing lose, over roughness, a
 * chart for each angle; from cases whose detail holds `furnace` (docs/reference/store.md). */
#include <math.h>
#include <string.h>

#include "html.h"

enum { WIDTH = 1100, HEIGHT = 270, LEFT = 52, GAP = 18, TOP = 26, BOTTOM = 42 };

struct furnace {
    const struct json *roughness, *degrees, *materials; /* arrays, none empty */
    double least, most;                                 /* of the losses shown; gains are below 0 */
};

static const struct json *list_at(const struct json *v, const char *key)
{
    const struct json *l = v && v->type == JSON_OBJECT ? json_get(v, key) : NULL;
    return l && l->type == JSON_ARRAY && l->first ? l : NULL;
}

static double number_of(const struct json *v) { return v->type == JSON_NUMBER ? v->number : NAN; }

static const char *name_of(const struct json *material)
{
    const struct json *n = material->type == JSON_OBJECT ? json_get(material, "name") : NULL;
    return n && n->type == JSON_STRING ? n->string : "";
}

/* One angle's shares of a material, over roughness; NULL if there are none. */
static const struct json *shares_at(const struct json *material, const char *key, size_t angle)
{
    const struct json *row = list_at(material, key);
    row = row ? row->first : NULL;
    while (row && angle--)
        row = row->next;
    return row && row->type == JSON_ARRAY ? row : NULL;
}

/* What is in the detail of a case. False if it is no furnace. */
static bool furnace_read(struct page *p, const struct case_record *r, struct furnace *f)
{
    const struct json *detail = NULL;
    if (!r->detail || !strstr(r->detail, "\"furnace\"") ||
        json_parse(p->a, "detail", r->detail, strlen(r->detail), &detail, NULL) ||
        detail->type != JSON_OBJECT)
        return false;
    const struct json *furnace = json_get(detail, "furnace");
    *f = (struct furnace){list_at(furnace, "roughness"), list_at(furnace, "degrees"),
                          list_at(furnace, "materials"), 0, 1};
    if (!f->roughness || !f->degrees || !f->materials)
        return false;
    for (const struct json *m = f->materials->first; m; m = m->next)
        for (size_t a = 0; a < f->degrees->count; a++) {
            const struct json *row = shares_at(m, "returned", a);
            for (const struct json *v = row ? row->first : NULL; v; v = v->next)
                f->least = fmin(f->least, 1 - number_of(v));
        }
    f->least = fmax(floor(f->least * 4) / 4, -4);
    return true;
}

/* ---- chart ------------------------------------------------------------------------------- */

static double panel_width(const struct furnace *f)
{
    return (double)(WIDTH - LEFT) / (double)f->degrees->count - GAP;
}

static double panel_x(const struct furnace *f, size_t angle, double roughness)
{
    double first = number_of(f->roughness->first), last = first;
    for (const struct json *v = f->roughness->first; v; v = v->next)
        last = number_of(v);
    double at = last > first ? (roughness - first) / (last - first) : 0;
    return LEFT + (double)angle * (panel_width(f) + GAP) + at * panel_width(f);
}

static double loss_y(const struct furnace *f, double loss)
{
    double at = (fmin(fmax(loss, f->least), f->most) - f->least) / (f->most - f->least);
    return HEIGHT - BOTTOM - at * (HEIGHT - BOTTOM - TOP);
}

static void panel_frame(struct text *t, const struct furnace *f, size_t angle, double degrees)
{
    double first = number_of(f->roughness->first), last = first;
    for (const struct json *v = f->roughness->first; v; v = v->next)
        last = number_of(v);
    double x0 = panel_x(f, angle, first), x1 = x0 + panel_width(f);
    for (double loss = f->least; loss <= f->most; loss += 0.25) {
        double y = loss_y(f, loss);
        markup_printf(t, "<line class=\"%!\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                      loss == 0 ? "axis" : "grid", x0, y, x1, y);
        if (angle == 0)
            markup_printf(
                t, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.0f%%</text>\n",
                x0 - 8, y + 4, 100 * loss);
    }
    for (int k = 0; k <= 2; k++) {
        double roughness = first + (last - first) * k / 2;
        markup_printf(t,
                      "<text class=\"soft\" x=\"%.1f\" y=\"%d\" text-anchor=\"%!\">%.2g</text>\n",
                      panel_x(f, angle, roughness), HEIGHT - BOTTOM + 16,
                      k == 0   ? "start"
                      : k == 1 ? "middle"
                               : "end",
                      roughness);
    }
    markup_printf(t,
                  "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.3g&#176;</text><text "
                  "class=\"soft\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">roughness</text>\n",
                  (x0 + x1) / 2, TOP - 10, degrees, (x0 + x1) / 2, HEIGHT - 8);
}

/* The line is the reference's, the points are the device's. */
static void series(struct text *t, const struct furnace *f, size_t angle,
                   const struct json *material, unsigned color)
{
    const struct json *device = shares_at(material, "returned", angle),
                      *reference = shares_at(material, "reference", angle), *at;
    const struct json *v;
    char percent[32];
    if (reference) {
        markup_printf(t, "<polyline class=\"l%u\" points=\"", color);
        for (v = reference->first, at = f->roughness->first; v && at; v = v->next, at = at->next)
            if (isfinite(number_of(v)))
                markup_printf(t, "%.1f,%.1f ", panel_x(f, angle, number_of(at)),
                              loss_y(f, 1 - number_of(v)));
        text_puts(t, "\"/>\n");
    }
    for (v = device ? device->first : NULL, at = f->roughness->first; v && at;
         v = v->next, at = at->next) {
        if (!isfinite(number_of(v)))
            continue;
        snprintf(percent, sizeof percent, "%.2f %%", 100 * (1 - number_of(v)));
        markup_printf(t,
                      "<circle class=\"s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\"><title>%s, "
                      "roughness %.3g: loses %s</title></circle>\n",
                      color, panel_x(f, angle, number_of(at)), loss_y(f, 1 - number_of(v)),
                      name_of(material), number_of(at), percent);
    }
}

static void chart(struct text *t, const struct furnace *f)
{
    markup_printf(t,
                  "<div class=\"scroll\"><svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "
                  "aria-label=\"light lost "
                  "over roughness, one chart an angle; the figures are in the table below\">\n",
                  WIDTH, HEIGHT);
    size_t angle = 0;
    for (const struct json *d = f->degrees->first; d; d = d->next, angle++) {
        panel_frame(t, f, angle, number_of(d));
        size_t i = 0;
        for (const struct json *m = f->materials->first; m; m = m->next)
            series(t, f, angle, m, html_series(i++));
    }
    text_puts(t, "</svg></div>\n");
}

static void legend(struct text *t, const struct furnace *f)
{
    size_t i = 0;
    text_puts(t, "<ul class=\"legend\">\n");
    for (const struct json *m = f->materials->first; m; m = m->next)
        markup_printf(t,
                      "<li><svg viewBox=\"0 0 14 12\" aria-hidden=\"true\"><rect class=\"s%u\" "
                      "width=\"14\" height=\"12\" rx=\"2\"/></svg>%s</li>\n",
                      html_series(i++), name_of(m));
    text_puts(t, "</ul>\n");
}

static void figures(struct text *t, const struct furnace *f)
{
    text_puts(t, "<details><summary>figures</summary><div class=\"scroll\"><table><caption>The "
                 "share of light returned, by roughness.</caption><thead><tr><th "
                 "scope=\"col\">material</th><th scope=\"col\" class=\"r\">angle</th>");
    for (const struct json *v = f->roughness->first; v; v = v->next)
        markup_printf(t, "<th scope=\"col\" class=\"r\">%.3g</th>", number_of(v));
    text_puts(t, "</tr></thead><tbody>\n");
    for (const struct json *m = f->materials->first; m; m = m->next) {
        size_t angle = 0;
        for (const struct json *d = f->degrees->first; d; d = d->next, angle++) {
            const struct json *row = shares_at(m, "returned", angle);
            markup_printf(t, "<tr><th scope=\"row\">%s</th><td class=\"r\">%.3g&#176;</td>",
                          name_of(m), number_of(d));
            for (const struct json *v = row ? row->first : NULL; v; v = v->next)
                markup_printf(t, "<td class=\"r\">%.3f</td>", number_of(v));
            text_puts(t, "</tr>\n");
        }
    }
    text_puts(t, "</tbody></table></div></details>\n");
}

/* The first device's chart is open: devices that are right look alike. */
static void furnace_write(struct page *p, const struct snapshot_case *c, const struct furnace *f,
                          bool first)
{
    if (!first)
        text_puts(p->t, "<details><summary>");
    markup_printf(p->t, "%!%s ", first ? "<h3>" : "", p->s->columns[c->column].label);
    html_case_verdict(p->t, c->record);
    text_puts(p->t, first ? "</h3>\n" : "</summary>\n");
    legend(p->t, f);
    chart(p->t, f);
    figures(p->t, f);
    if (!first)
        text_puts(p->t, "</details>\n");
}

void section_furnace(struct page *p)
{
    bool first = true;
    for (size_t i = 0; i < p->s->case_count; i++) {
        struct furnace f;
        if (!furnace_read(p, p->s->cases[i].record, &f))
            continue;
        if (first)
            text_puts(p->t,
                      "<section id=\"furnace\"><h2>White furnace</h2>\n<p class=\"note\">Materials "
                      "that absorb nothing, in white light: the share that they lose, which models "
                      "of single scattering drop as it leaves one facet for another. Below 0 a "
                      "model returns more than it gets. Lines are the reference's, points the "
                      "device's samples; each chart is one angle to the normal.</p>\n");
        furnace_write(p, &p->s->cases[i], &f, first);
        first = false;
    }
    if (!first)
        text_puts(p->t, "</section>\n");
}
