/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers say of the kernels that they made: of those that were timed (detail.build of bench
 * records), and of code objects that no device ran (cases "code-object.KIND.ARCH.MODE.ENTRY" of
 * tools/code-objects). */
#include <string.h>

#include "html.h"

/* A cell with a whole number; empty where the compiler did not tell. */
static void number_cell(struct page *p, const struct json *v, const char *key)
{
    const struct json *f = v && v->type == JSON_OBJECT ? json_get(v, key) : NULL;
    if (f && f->type == JSON_NUMBER && f->is_integer)
        markup_printf(p->t, "<td class=\"r\">%lld</td>", (long long)f->integer);
    else
        text_puts(p->t, "<td></td>");
}

static const struct json *build_of(const struct snapshot_bench *b)
{
    const struct json *build =
        b->detail && b->detail->type == JSON_OBJECT ? json_get(b->detail, "build") : NULL;
    return !b->sweep && build && build->type == JSON_OBJECT && json_get(build, "registers") ? build
                                                                                            : NULL;
}

static void timed_table(struct page *p)
{
    text_puts(p->t, "<h3>Kernels that were timed</h3>\n<p class=\"note\">Of the film's kernel, as "
                    "the driver or the code object says; stack and spills in bytes of a work-item."
                    "</p>\n<div class=\"scroll\"><table class=\"matrix\"><thead><tr><th>device</th>"
                    "<th>scene</th><th>mode</th><th>program</th><th>registers</th><th>stack</th>"
                    "<th>spills</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < p->s->bench_count; i++) {
        const struct snapshot_bench *b = &p->s->benches[i];
        const struct json *build = build_of(b);
        if (!build)
            continue;
        markup_printf(p->t, "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s, %s</td>",
                      p->s->columns[b->column].label, b->record->scene, b->record->mode,
                      b->record->model ? b->record->model : "",
                      b->record->bvh ? b->record->bvh : "");
        number_cell(p, build, "registers");
        number_cell(p, build, "stack_bytes");
        number_cell(p, build, "spill_bytes");
        text_puts(p->t, "</tr>\n");
    }
    text_puts(p->t, "</tbody></table></div>\n");
}

static void code_object_row(struct page *p, const struct snapshot_case *c)
{
    static const char *const keys[] = {"vgprs",         "agprs",     "sgprs",
                                       "scratch_bytes", "lds_bytes", "vgpr_spills",
                                       "sgpr_spills",   "wavefront", "instructions"};
    const struct json *detail = NULL;
    if (!c->record->detail ||
        json_parse(p->a, "detail", c->record->detail, strlen(c->record->detail), &detail, NULL))
        detail = NULL;
    markup_printf(p->t, "<tr><td>%s</td><td>", strchr(c->record->name, '.') + 1);
    html_case_verdict(p->t, c->record);
    text_puts(p->t, "</td>");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        number_cell(p, detail, keys[i]);
    text_puts(p->t, "</tr>\n");
}

static void code_object_table(struct page *p, const struct snapshot_case *first)
{
    const struct run_record *run = &p->s->runs[first->run].record;
    markup_printf(
        p->t,
        "<h3>Code objects that no device ran</h3>\n<p class=\"note\">By %s, %s: what their "
        "metadata "
        "declares. Scratch is of a work-item and LDS of a work-group, in bytes; spills are "
        "registers. PASS: it compiles, and disassembles whole.</p>\n<div class=\"scroll\"><table "
        "class=\"matrix\"><thead><tr><th>kernel, architecture, mode, entry</th><th></th>"
        "<th>VGPR</th><th>AGPR</th><th>SGPR</th><th>scratch</th><th>LDS</th><th>VGPR spills</th>"
        "<th>SGPR spills</th><th>wavefront</th><th>instructions</th></tr></thead><tbody>\n",
        run->command ? run->command : "an unknown command", run->started_utc);
    for (size_t i = 0; i < p->s->case_count; i++)
        if (case_is_code_object(p->s->cases[i].record->name))
            code_object_row(p, &p->s->cases[i]);
    text_puts(p->t, "</tbody></table></div>\n");
}

void section_kernels(struct page *p)
{
    const struct snapshot_case *object = NULL;
    bool timed = false;
    for (size_t i = 0; i < p->s->case_count && !object; i++)
        if (case_is_code_object(p->s->cases[i].record->name))
            object = &p->s->cases[i];
    for (size_t i = 0; i < p->s->bench_count; i++)
        timed = timed || build_of(&p->s->benches[i]);
    if (!timed && !object)
        return;
    text_puts(p->t, "<section id=\"kernels\"><h2>Kernels</h2>\n");
    if (timed)
        timed_table(p);
    if (object)
        code_object_table(p, object);
    text_puts(p->t, "</section>\n");
}
