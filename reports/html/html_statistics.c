/* SPDX-License-Identifier: Apache-2.0 */
/* What renders were made of (detail.statistics of bench records): rays, hits of shaders, texture
 * queries, and seconds of tracing and of shading. */
#include "html.h"

#include <math.h>

enum kind { COUNT_OF, NUMBER, SECONDS, BYTES };
static const struct {
    const char *object, *key, *text; /* object: NULL: the whole */
    enum kind kind;
} columns[] = {
    {"rays", "closest", "rays to the closest hit", COUNT_OF},
    {"rays", "any", "to any", COUNT_OF},
    {"rays", "per_sample", "rays a sample", NUMBER},
    {"hits", "hits", "hits of shaders", COUNT_OF},
    {"hits", "combined", "combined", COUNT_OF},
    {"hits", "first", "first", COUNT_OF},
    {"hits", "other_shader", "other shader", COUNT_OF},
    {"hits", "other_parameters", "other parameters", COUNT_OF},
    {"hits", "mean_run", "in a run", NUMBER},
    {NULL, "texture_queries", "texture queries", COUNT_OF},
    {NULL, "image_lookups", "lookups of materials", COUNT_OF},
    {"shader_images", "tiles_read", "tiles read", COUNT_OF},
    {"shader_images", "tiles", "of", COUNT_OF},
    {"shader_images", "bytes_read", "bytes read", BYTES},
    {"texture_cache", "tiles", "tiles from files", COUNT_OF},
    {"texture_cache", "tiles_again", "again", COUNT_OF},
    {"texture_cache", "file_bytes", "bytes of files", BYTES},
    {"texture_cache", "peak_bytes", "most bytes of texels", BYTES},
    {"stages", "tracing_s", "tracing", SECONDS},
    {"stages", "shading_s", "shading", SECONDS},
    {"stages", "other_s", "else", SECONDS},
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct json *object_at(const struct json *v, const char *key)
{
    const struct json *o = v && v->type == JSON_OBJECT ? json_get(v, key) : NULL;
    return o && o->type == JSON_OBJECT ? o : NULL;
}

static void cell(struct page *p, const struct json *v, const char *key, enum kind kind)
{
    char buf[32];
    const struct json *n = v ? json_get(v, key) : NULL;
    text_puts(p->t, "<td class=\"r\">");
    if (n && n->type == JSON_NUMBER && kind != SECONDS && n->is_integer)
        markup_printf(p->t, "%lld", (long long)n->integer);
    else if (n && n->type == JSON_NUMBER && isfinite(json_number_at(v, key)))
        markup_printf(p->t, "%!",
                      kind == SECONDS
                          ? seconds_text(json_number_at(v, key), buf)
                          : (snprintf(buf, sizeof buf, "%.3g", json_number_at(v, key)), buf));
    text_puts(p->t, "</td>");
}

static void row(struct page *p, const struct snapshot_bench *b, const struct json *v)
{
    markup_printf(p->t, "<tr><td>%s</td><td>%s</td><td>%s</td>", b->record->scene,
                  p->s->columns[b->column].label, b->record->mode);
    for (size_t i = 0; i < COUNT(columns); i++)
        cell(p, columns[i].object ? object_at(v, columns[i].object) : v, columns[i].key,
             columns[i].kind);
    const struct json *stages = object_at(v, "stages");
    const double tracing = stages ? json_number_at(stages, "tracing_s") : 0;
    text_puts(p->t, "<td class=\"r\">");
    if (tracing > 0)
        markup_printf(p->t, "%.3g", json_number_at(stages, "shading_s") / tracing);
    text_puts(p->t, "</td></tr>\n");
}

static void head(struct page *p)
{
    text_puts(p->t,
              "<section id=\"statistics\"><h2>Rays, hits, textures</h2>\n<p class=\"note\">What "
              "renders were made of, counted and timed in programs of their own. A hit is combined "
              "where the pixel's last sample that met a shader at the same vertex of its path met "
              "that of the same material: both could have run together. Tiles have 64 x 64 texels "
              "of one level of an image of a shader; those from files are what the texture cache "
              "read, and read again, of its limit. Seconds are those of stages, each waited for: "
              "shading is surfaces, shaders, and the choice of lights and directions.</p>\n"
              "<div class=\"scroll\"><table class=\"matrix\"><thead><tr><th>scene</th>"
              "<th>device</th><th>mode</th>");
    for (size_t k = 0; k < COUNT(columns); k++)
        markup_printf(p->t, "<th>%!</th>", columns[k].text);
    text_puts(p->t, "<th>shading over tracing</th></tr></thead><tbody>\n");
}

void section_statistics(struct page *p)
{
    size_t shown = 0;
    for (size_t i = 0; i < p->s->bench_count; i++) {
        const struct snapshot_bench *b = &p->s->benches[i];
        const struct json *v = object_at(b->detail, "statistics");
        if (b->sweep || !v)
            continue;
        if (shown++ == 0)
            head(p);
        row(p, b, v);
    }
    if (shown)
        text_puts(p->t, "</tbody></table></div></section>\n");
}
