/* SPDX-License-Identifier: Apache-2.0 */
/* Model files that `isophote import --check` tried: cases "import.FORMAT.file". */
#include <string.h>

#include "html.h"

bool html_is_model_case(const char *name) { return strncmp(name, "import.", 7) == 0; }

static const char *text_at(const struct json *v, const char *key)
{
    const struct json *f = v && v->type == JSON_OBJECT ? json_get(v, key) : NULL;
    return f && f->type == JSON_STRING ? f->string : "";
}

static void number_cell(struct page *p, const struct json *detail, const char *key)
{
    const struct json *f = detail && detail->type == JSON_OBJECT ? json_get(detail, key) : NULL;
    markup_printf(p->t, "<td class=\"r\">%lld</td>",
                  f && f->type == JSON_NUMBER && f->is_integer ? (long long)f->integer : 0LL);
}

static void model_row(struct page *p, const struct case_record *r)
{
    const struct json *detail = NULL;
    if (r->detail && json_parse(p->a, "detail", r->detail, strlen(r->detail), &detail, NULL))
        detail = NULL;
    bool whole = r->verdict == VERDICT_PASS;
    markup_printf(p->t, "<tr><td>%s</td><td class=\"wrap\">%s</td><td>", text_at(detail, "format"),
                  text_at(detail, "file"));
    html_case_verdict(p->t, r);
    text_puts(p->t, "</td>");
    number_cell(p, detail, "triangles");
    number_cell(p, detail, "materials");
    number_cell(p, detail, "textures");
    markup_printf(p->t, "<td class=\"wrap\">%s</td></tr>\n",
                  whole       ? text_at(detail, "not_carried_over")
                  : r->reason ? r->reason
                              : "");
}

void section_models(struct page *p)
{
    size_t count[VERDICT_COUNT] = {0}, all = 0;
    for (size_t i = 0; i < p->s->case_count; i++)
        if (html_is_model_case(p->s->cases[i].record->name)) {
            count[p->s->cases[i].record->verdict]++;
            all++;
        }
    if (all == 0)
        return;
    markup_printf(p->t,
                  "<section id=\"models\"><h2>Model files</h2>\n<p class=\"note\">%zu files: %zu "
                  "imported and rendered (PASS), %zu refused for the reason given (SKIP), %zu "
                  "neither (FAIL).</p>\n<div class=\"scroll\"><table "
                  "class=\"rates files\"><thead><tr><th>format</th><th>file</th><th></th>"
                  "<th class=\"r\">triangles</th><th class=\"r\">materials</th><th "
                  "class=\"r\">textures</th><th>not carried over, or "
                  "why not</th></tr></thead><tbody>\n",
                  all, count[VERDICT_PASS], count[VERDICT_SKIP],
                  count[VERDICT_FAIL] + count[VERDICT_ERROR]);
    for (size_t i = 0; i < p->s->case_count; i++)
        if (html_is_model_case(p->s->cases[i].record->name))
            model_row(p, p->s->cases[i].record);
    text_puts(p->t, "</tbody></table></div></section>\n");
}
