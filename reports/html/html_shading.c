/* SPDX-License-Identifier: Apache-2.0 */
/* What scenes' shaders came to (detail.shading of bench records). */
#include "html.h"

#include <math.h>

static const struct {
    const char *key, *then, *text; /* then: the same after optimisation; NULL: there is none */
} columns[] = {
    {"masters", NULL, "masters"},
    {"groups", NULL, "groups"},
    {"programs", NULL, "programs"},
    {"instances_run", NULL, "instances run"},
    {"instances_skipped", NULL, "skipped"},
    {"operations_before", "operations_after", "operations"},
    {"symbols_before", "symbols_after", "symbols"},
    {"derivatives_before", "derivatives_after", "with derivatives"},
    {"images", NULL, "images"},
    {"image_bytes", NULL, "bytes"},
};
static const struct {
    const char *key, *text;
} seconds[] = {{"optimise_s", "optimise"}, {"emit_s", "emit"}};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct json *shading_of(const struct snapshot_bench *b)
{
    const struct json *v =
        b->detail && b->detail->type == JSON_OBJECT ? json_get(b->detail, "shading") : NULL;
    return !b->sweep && v && v->type == JSON_OBJECT ? v : NULL;
}

static void put_count(struct page *p, const struct json *n, const char *before)
{
    if (n && n->type == JSON_NUMBER && n->is_integer)
        markup_printf(p->t, "%!%lld", before, (long long)n->integer);
}

static void row(struct page *p, const struct snapshot_bench *b, const struct json *v)
{
    char buf[32];
    markup_printf(p->t, "<tr><td>%s</td><td>%s</td><td>%s</td>", b->record->scene,
                  p->s->columns[b->column].label, b->record->mode);
    for (size_t i = 0; i < COUNT(columns); i++) {
        text_puts(p->t, "<td class=\"r\">");
        put_count(p, json_get(v, columns[i].key), "");
        if (columns[i].then)
            put_count(p, json_get(v, columns[i].then), " \xe2\x86\x92\xc2\xa0");
        text_puts(p->t, "</td>");
    }
    for (size_t i = 0; i < COUNT(seconds); i++) {
        const double s = json_number_at(v, seconds[i].key);
        markup_printf(p->t, "<td class=\"r\">%!</td>",
                      isfinite(s) && s >= 0 ? seconds_text(s, buf) : "");
    }
    const struct json *build = json_get(b->detail, "build");
    const struct json *cached =
        build && build->type == JSON_OBJECT ? json_get(build, "from_cache") : NULL;
    const struct json *phase =
        b->phases ? json_get(b->phases, phase_names[PHASE_compile].key) : NULL;
    const double s = json_number_at(phase, "median_s");
    markup_printf(p->t, "<td class=\"r\">%!%!</td></tr>\n",
                  isfinite(s) && s >= 0 ? seconds_text(s, buf) : "",
                  cached && cached->type == JSON_BOOL && cached->boolean ? " (cache)" : "");
}

void section_shading(struct page *p)
{
    size_t shown = 0;
    for (size_t i = 0; i < p->s->bench_count; i++) {
        const struct json *v = shading_of(&p->s->benches[i]);
        if (!v)
            continue;
        if (shown++ == 0) {
            text_puts(p->t,
                      "<section id=\"shading\"><h2>Shaders</h2>\n<p class=\"note\">What the "
                      "scenes' shaders came to, before and after optimisation: a group is a "
                      "material, an instance one of its layers, a program what groups alike but "
                      "for parameters share. Operations are instructions of the IR. Compiling is "
                      "of the whole kernel.</p>\n<div class=\"scroll\"><table "
                      "class=\"matrix\"><thead><tr>"
                      "<th>scene</th><th>device</th><th>mode</th>");
            for (size_t k = 0; k < COUNT(columns); k++)
                markup_printf(p->t, "<th>%!</th>", columns[k].text);
            for (size_t k = 0; k < COUNT(seconds); k++)
                markup_printf(p->t, "<th>%!</th>", seconds[k].text);
            text_puts(p->t, "<th>compile</th></tr></thead><tbody>\n");
        }
        row(p, &p->s->benches[i], v);
    }
    if (shown)
        text_puts(p->t, "</tbody></table></div></section>\n");
}
