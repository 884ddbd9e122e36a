/* SPDX-License-Identifier: Apache-2.0 */
/* One device by several back ends: what the same silicon gives through each. Of GPUs the UUID tells
 * that it is the same; processors are, on one host. */
#include <math.h>
#include <string.h>

#include "html.h"

static const char *uuid_of(const struct snapshot *s, const struct snapshot_column *c)
{
    const struct identity *id =
        c->device.identity ? identity_find(s->identities, s->identity_count, c->device.identity)
                           : NULL;
    for (size_t i = 0; id && i < id->count; i++)
        if (strcmp(id->parts[i].name, "uuid") == 0 && id->parts[i].value)
            return id->parts[i].value;
    return "";
}

static const char *name_of(const struct snapshot_column *c)
{
    return c->device.name && c->device.name[0] ? c->device.name : c->device.id;
}

static bool text_is(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

/* The test devices run on a processor too, and several devices in one are none of these. */
static bool is_plain(const struct snapshot_column *c)
{
    return c->device.api && !strchr(c->device.id, '+') && !text_is(c->device.api, "faulty") &&
           !text_is(c->device.api, "null") && !text_is(c->device.api, "reference");
}

static bool same_silicon(const struct snapshot *s, const struct snapshot_column *a,
                         const struct snapshot_column *b)
{
    if (!is_plain(a) || !is_plain(b) || !a->host || !text_is(a->host, b->host))
        return false;
    if (text_is(a->device.kind, "cpu") && text_is(b->device.kind, "cpu"))
        return true;
    const char *uuid = uuid_of(s, a);
    return uuid[0] && strcmp(uuid, uuid_of(s, b)) == 0;
}

/* ---- bits ----------------------------------------------------------------------------------- */

static void bits_row(struct page *p, size_t column)
{
    static const char strict[] = "image.strict.";
    const struct snapshot *s = p->s;
    size_t judged = 0, equal = 0;
    const struct case_record *first = NULL; /* that differs */
    for (size_t n = 0; n < s->name_count; n++) {
        const struct snapshot_case *c = s->matrix[n * s->column_count + column];
        if (!c || strncmp(s->names[n], strict, sizeof strict - 1) != 0)
            continue;
        judged += outcome_of_case(c->record).judged;
        equal += c->record->verdict == VERDICT_PASS;
        first = first || c->record->verdict != VERDICT_FAIL ? first : c->record;
    }
    markup_printf(p->t,
                  "<tr><th scope=\"row\">%s <span class=\"note\">%s</span></th><td "
                  "class=\"r\">%zu</td><td class=\"r\">%zu</td><td class=\"wrap\">",
                  s->columns[column].label, s->columns[column].device.id, judged, equal);
    if (first)
        markup_printf(p->t, "first: %s", first->name);
    else if (!judged)
        text_puts(p->t, "<span class=\"note\">no strict picture was judged on it</span>");
    text_puts(p->t, "</td></tr>\n");
}

static void bits_table(struct page *p, const size_t *group, size_t n)
{
    text_puts(p->t, "<div class=\"scroll\"><table class=\"rates\"><thead><tr><th>back end</th><th "
                    "class=\"r\">strict pictures judged</th><th class=\"r\">with native's "
                    "bits</th><th>differs</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < n; i++)
        bits_row(p, group[i]);
    text_puts(p->t, "</tbody></table></div>\n");
}

/* ---- times ---------------------------------------------------------------------------------- */

static void seconds_cell(struct page *p, const struct snapshot_bench *b, enum phase phase)
{
    char text[32];
    const struct json *v = b->phases && b->phases->type == JSON_OBJECT
                               ? json_get(b->phases, phase_names[phase].key)
                               : NULL;
    const double s = json_number_at(v, "median_s");
    if (isfinite(s))
        markup_printf(p->t, "<td class=\"r\">%s</td>", seconds_text(s, text));
    else
        text_puts(p->t, "<td></td>");
}

/* The fastest row of a device in a job; NULL: it has none with a rate. */
static const struct snapshot_bench *fastest(const struct snapshot_bench **rows, size_t n,
                                            size_t column)
{
    const struct snapshot_bench *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (rows[i]->column == column && rows[i]->record->verdict == VERDICT_PASS &&
            (!best || rows[i]->record->samples_per_s > best->record->samples_per_s))
            best = rows[i];
    return best;
}

static void time_row(struct page *p, const struct snapshot_bench *b, double most)
{
    char rate[32], low[32], high[32], ratio[32];
    const struct bench_record *r = b->record;
    const struct json *build = b->detail && b->detail->type == JSON_OBJECT
                                   ? json_get(b->detail, "build")
                                   : NULL,
                      *cached = build && build->type == JSON_OBJECT ? json_get(build, "from_cache")
                                                                    : NULL;
    markup_printf(p->t, "<tr><th scope=\"row\">%s</th><td>", p->s->columns[b->column].label);
    html_settings(p->t, r);
    markup_printf(p->t,
                  "</td><td class=\"r\"><b>%s</b></td><td class=\"r\">%s to %s</td><td "
                  "class=\"r\">&#215; %s</td>",
                  rate_text(r->samples_per_s, rate), rate_text(r->interval[0], low),
                  rate_text(r->interval[1], high), ratio_text(r->samples_per_s / most, ratio));
    seconds_cell(p, b, PHASE_compile);
    markup_printf(p->t, "<td>%!</td>",
                  cached && cached->type == JSON_BOOL && cached->boolean ? "kept" : "");
    seconds_cell(p, b, PHASE_first_launch);
    seconds_cell(p, b, PHASE_launch_setup);
    text_puts(p->t, "</tr>\n");
}

static bool any_row(const struct snapshot_bench *b)
{
    (void)b;
    return true;
}

static void times_tables(struct page *p, const size_t *group, size_t n)
{
    const struct snapshot_bench **rows;
    size_t at = 0;
    for (size_t count; (count = html_next_job(p, &at, any_row, &rows)) > 0;) {
        const struct bench_record *first = NULL;
        size_t with = 0;
        double most = 0;
        for (size_t i = 0; i < n; i++) {
            const struct snapshot_bench *b = fastest(rows, count, group[i]);
            if (!b)
                continue;
            first = b->record;
            with++;
            most = fmax(most, b->record->samples_per_s);
        }
        if (with < 2)
            continue;
        markup_printf(p->t, "<h4>%s <span class=\"note\">", first->scene);
        html_job(p->t, first);
        text_puts(p->t, "</span></h4>\n<div class=\"scroll\"><table class=\"rates\"><thead><tr>"
                        "<th>back end</th><th>its fastest setting</th><th class=\"r\">samples</th>"
                        "<th class=\"r\">interval</th><th class=\"r\">against the best</th><th "
                        "class=\"r\">compile</th><th></th><th class=\"r\">first launch</th><th "
                        "class=\"r\">launch set-up</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < n; i++) {
            const struct snapshot_bench *b = fastest(rows, count, group[i]);
            if (b)
                time_row(p, b, most);
        }
        text_puts(p->t, "</tbody></table></div>\n");
    }
}

/* ---- the section ---------------------------------------------------------------------------- */

void section_apis(struct page *p)
{
    const struct snapshot *s = p->s;
    size_t *group = ARENA_ARRAY(p->a, size_t, s->column_count + 1);
    bool begun = false;
    if (!group) {
        p->no_memory = true;
        return;
    }
    for (size_t i = 0; i < s->column_count; i++) {
        size_t n = 0;
        bool earlier = false;
        for (size_t k = 0; k < s->column_count; k++)
            if (k == i || same_silicon(s, &s->columns[i], &s->columns[k])) {
                earlier = earlier || k < i;
                group[n++] = k;
            }
        if (earlier || n < 2)
            continue;
        if (!begun)
            text_puts(
                p->t,
                "<section id=\"apis\"><h2>One device, several APIs</h2>\n<p class=\"note\">"
                "Back ends on the same silicon: GPUs by their UUID, processors of one host. "
                "Compile, first launch and set-up of a launch are what the API and its driver "
                "cost; a kept program was not compiled anew.</p>\n");
        begun = true;
        const struct snapshot_column *c = &s->columns[i]; /* a driver's name has more words */
        for (size_t k = 0; k < n; k++)
            if (strlen(name_of(&s->columns[group[k]])) < strlen(name_of(c)))
                c = &s->columns[group[k]];
        const bool cpu = text_is(c->device.kind, "cpu");
        markup_printf(p->t, "<h3>%s <span class=\"note\">%!%s</span></h3>\n", name_of(c),
                      cpu ? "processor of host " : "UUID ", cpu ? c->host : uuid_of(s, c));
        bits_table(p, group, n);
        times_tables(p, group, n);
    }
    if (begun)
        text_puts(p->t, "</section>\n");
}
