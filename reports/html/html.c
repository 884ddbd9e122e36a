/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"

#include <math.h>
#include <string.h>

#include "report_css.h"
#include "report_js.h"

/* ---- shared pieces ---------------------------------------------------------------------- */

static const char *const verdict_class[VERDICT_COUNT] = {"pass", "fail", "skip", "error"};

const char *html_class(const struct case_record *r)
{
    static const char *const waived[VERDICT_COUNT] = {"pass waived", "fail waived", "skip waived",
                                                      "error waived"};
    const struct outcome o = outcome_of_case(r);
    return strcmp(o.html, "waived") == 0 ? waived[r->verdict] : o.html;
}

void html_case_verdict(struct text *t, const struct case_record *r)
{
    const struct outcome o = outcome_of_case(r);
    markup_printf(t, "<span class=\"v %!\">%!%!</span>", html_class(r), verdict_name(r->verdict),
                  strcmp(o.word, "FLAKY") == 0                               ? ", flaky"
                  : strcmp(o.html, "waived") == 0                            ? ", waived"
                  : r->verdict == VERDICT_SKIP && o.counts == COUNTS_FINDING ? ", not expected"
                                                                             : "");
}

void html_verdict(struct text *t, enum verdict v)
{
    html_case_verdict(t, &(struct case_record){.verdict = v});
}

int html_rank(const struct case_record *r)
{
    const struct outcome o = outcome_of_case(r);
    if (o.counts == COUNTS_FINDING)
        return o.junit == JUNIT_ERROR ? 1 : 0;
    return strcmp(o.html, "waived") == 0 ? 2 : 3;
}

/* A link to itself for each cell that has none: what stands in it can be sent. */
static void cells_number(struct text *out, const char *body, const char *section)
{
    size_t n = 0;
    for (const char *at = body, *cell; *at;) {
        cell = strstr(at, "<td");
        if (!cell) {
            text_puts(out, at);
            return;
        }
        const size_t tag = strcspn(cell, ">");
        const char *id = strstr(cell, " id=\"");
        text_append(out, at, (size_t)(cell - at) + 3);
        if (!id || (size_t)(id - cell) > tag)
            markup_printf(out, " id=\"%!.%zu\"", section, ++n);
        at = cell + 3;
    }
}

void html_command(struct text *t, const char *command)
{
    if (command && command[0])
        markup_printf(
            t, "<div class=\"cmd\"><code>%s</code><button type=\"button\">copy</button></div>\n",
            command);
}

/* "max_work_group" as people write it. */
static const char *key_words(const char *key, char *buf, size_t size)
{
    snprintf(buf, size, "%s", key);
    for (char *c = buf; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    return buf;
}

/* A number whose name says its unit. False if it does not. */
static bool number_with_unit(const struct json *v, char buf[32])
{
    const char *unit = v->key && v->type == JSON_NUMBER ? strrchr(v->key, '_') : NULL;
    if (unit && strcmp(unit, "_bytes") == 0)
        bytes_text(v->number, buf);
    else if (unit && strcmp(unit, "_s") == 0)
        seconds_text(v->number, buf);
    else if (unit && strcmp(unit, "_j") == 0)
        snprintf(buf, 32, "%.4g J", v->number);
    else
        return false;
    return true;
}

static void json_value(struct text *t, const struct json *v)
{
    char buf[32];
    switch (v->type) {
    case JSON_NULL:
        text_puts(t, "<span class=\"note\">not known</span>");
        break;
    case JSON_BOOL:
        text_puts(t, v->boolean ? "yes" : "no");
        break;
    case JSON_NUMBER:
        if (number_with_unit(v, buf))
            ; /* it is in buf */
        else if (v->is_integer)
            snprintf(buf, sizeof buf, "%lld", (long long)v->integer);
        else
            snprintf(buf, sizeof buf, "%.6g", v->number);
        text_puts(t, buf);
        break;
    case JSON_STRING:
        markup_escape(t, v->string);
        break;
    case JSON_ARRAY:
        for (const struct json *c = v->first; c; c = c->next) {
            if (c->type == JSON_OBJECT)
                html_json(t, c);
            else
                json_value(t, c);
            if (c->next)
                text_puts(t, c->type == JSON_OBJECT ? " " : ", ");
        }
        break;
    case JSON_OBJECT:
        html_json(t, v);
        break;
    }
}

/* What bench writes in place of what could not be measured. */
static const char *absent_reason(const struct json *v)
{
    const struct json *why = v->count == 1 ? json_get(v, "absent") : NULL;
    return why && why->type == JSON_STRING ? why->string : NULL;
}

void html_json(struct text *t, const struct json *v)
{
    if (v->type == JSON_OBJECT && absent_reason(v)) {
        markup_printf(t, "<span class=\"note\">absent: %s</span>", absent_reason(v));
        return;
    }
    if (v->type != JSON_OBJECT) {
        json_value(t, v);
        return;
    }
    if (!v->first) {
        text_puts(t, "<span class=\"note\">empty</span>");
        return;
    }
    text_puts(t, "<table class=\"kv\"><tbody>\n");
    for (const struct json *c = v->first; c; c = c->next) {
        char name[96];
        text_puts(t, "<tr><th scope=\"row\">");
        markup_escape(t, key_words(c->key, name, sizeof name));
        text_puts(t, "</th><td>");
        json_value(t, c);
        text_puts(t, "</td></tr>\n");
    }
    text_puts(t, "</tbody></table>\n");
}

void html_job(struct text *t, const struct bench_record *b)
{
    markup_printf(t, "%u&#215;%u pixels, %u samples a pixel, depth %u", b->width, b->height, b->spp,
                  b->max_depth);
}

void html_settings(struct text *t, const struct bench_record *b)
{
    char shape[32];
    markup_printf(t, "%s", b->mode);
    if (b->bvh)
        markup_printf(t, ", %s", b->bvh);
    if (b->work_group[0])
        markup_printf(t, ", work-group %s", shape_text(b->work_group, shape));
    if (b->tile[0])
        markup_printf(t, ", tile %s", shape_text(b->tile, shape));
    if (b->batch)
        markup_printf(t, ", batch %u", b->batch);
}

unsigned html_series(size_t column) { return (unsigned)(column % 8); }

bool bench_same_job(const struct bench_record *a, const struct bench_record *b)
{
    return text_order(a->scene, b->scene) == 0 && a->width == b->width && a->height == b->height &&
           a->spp == b->spp && a->max_depth == b->max_depth;
}

size_t html_next_job(struct page *p, size_t *at, bool (*shown)(const struct snapshot_bench *),
                     const struct snapshot_bench ***rows)
{
    const struct snapshot *s = p->s;
    const struct snapshot_bench **list =
        ARENA_ARRAY(p->a, const struct snapshot_bench *, s->bench_count);
    if (!list) {
        p->no_memory = true;
        return 0;
    }
    while (*at < s->bench_count) {
        size_t begin = (*at)++, n = 0;
        for (size_t k = 0; k < s->bench_count; k++)
            if (!s->benches[k].sweep && shown(&s->benches[k]) &&
                bench_same_job(s->benches[begin].record, s->benches[k].record))
                list[n++] = &s->benches[k];
        if (n == 0 || list[0] != &s->benches[begin]) /* an earlier row began this job */
            continue;
        *rows = list;
        return n;
    }
    return 0;
}

double json_number_at(const struct json *v, const char *key)
{
    const struct json *n = v && v->type == JSON_OBJECT ? json_get(v, key) : NULL;
    return n && n->type == JSON_NUMBER ? n->number : NAN;
}

/* ---- the summary ------------------------------------------------------------------------ */

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static void headline(struct page *p, const struct headline *n)
{
    struct text *t = p->t;
    bool bad = n->bad || n->rows[VERDICT_FAIL];
    bool cases = n->conformant + n->clean + n->bad + n->open + n->forgiven > 0;
    bool open =
        n->open || n->forgiven || n->rows[VERDICT_ERROR] || (n->judged == 0 && n->row_count == 0);
    markup_printf(t, "<div class=\"headline %!\" role=\"status\">",
                  bad    ? "bad"
                  : open ? "open"
                         : "good");
    if (cases) {
        struct text scope = {0}, devices = {0};
        headline_scope(&scope, p->s, n);
        headline_devices(&devices, n);
        markup_printf(t, "<b>%s</b>. <b>%s</b>", scope.data ? scope.data : "",
                      devices.data ? devices.data : "");
        text_free(&scope);
        text_free(&devices);
        if (n->rows[VERDICT_FAIL])
            markup_printf(t, "; <b>%zu timed setting%! gave a wrong picture</b>",
                          n->rows[VERDICT_FAIL], plural(n->rows[VERDICT_FAIL]));
        markup_printf(t,
                      ".<small>%zu cases passed, %zu failed, %zu could not be judged, %zu skipped "
                      "with a reason",
                      n->cases[VERDICT_PASS], n->cases[VERDICT_FAIL], n->cases[VERDICT_ERROR],
                      n->cases[VERDICT_SKIP]);
        if (n->waived)
            markup_printf(t, ", %zu with a waiver", n->waived);
    } else if (n->row_count) {
        markup_printf(t,
                      "<b>%zu of %zu timed setting%! gave the right picture.</b><small>No "
                      "conformance run is in this store",
                      n->rows[VERDICT_PASS], n->row_count, plural(n->row_count));
    } else {
        text_puts(t, "<b>Nothing was judged and nothing was timed.</b><small>The store holds no "
                     "case and no benchmark row");
    }
    if (cases && n->row_count)
        markup_printf(t, "; %zu of %zu timed settings gave the right picture",
                      n->rows[VERDICT_PASS], n->row_count);
    if (n->rows[VERDICT_SKIP])
        markup_printf(t, "; %zu setting%! refused by the device", n->rows[VERDICT_SKIP],
                      n->rows[VERDICT_SKIP] == 1 ? " was" : "s were");
    text_puts(t, ".</small>");
    if (p->s->hidden)
        markup_printf(t,
                      "<small>%zu result%! with an older driver, version or compiler %! not "
                      "shown; report --all-runs shows them.</small>",
                      p->s->hidden, plural(p->s->hidden), p->s->hidden == 1 ? "is" : "are");
    text_puts(t, "</div>\n");
}

static void card_bar(struct text *t, const struct snapshot_column *c)
{
    static const enum verdict order[] = {VERDICT_PASS, VERDICT_FAIL, VERDICT_ERROR, VERDICT_SKIP};
    text_puts(t, "<div class=\"stack\" aria-hidden=\"true\">");
    for (size_t i = 0; i < 4; i++)
        if (c->count[order[i]])
            markup_printf(t, "<i class=\"%!\" style=\"width:%.3f%%\"></i>", verdict_class[order[i]],
                          100.0 * (double)c->count[order[i]] / (double)c->cases);
    markup_printf(t, "</div>\n<p class=\"note\">%zu passed, %zu failed, %zu errors, %zu skipped%!",
                  c->count[VERDICT_PASS], c->count[VERDICT_FAIL], c->count[VERDICT_ERROR],
                  c->count[VERDICT_SKIP], c->waived ? " " : "");
    if (c->waived)
        markup_printf(t, "(%zu waived)", c->waived);
    text_puts(t, "</p>\n");
}

/* The fastest judged row of each scene on a device, three scenes at most. */
static void card_rates(struct page *p, size_t column)
{
    const struct snapshot *s = p->s;
    size_t shown = 0;
    for (size_t i = 0; i < s->bench_count && shown < 3; i++) {
        const struct bench_record *first = s->benches[i].record, *best = NULL;
        bool seen = false;
        for (size_t k = 0; k < s->bench_count; k++) {
            const struct bench_record *b = s->benches[k].record;
            if (s->benches[k].column != column || strcmp(b->scene, first->scene) != 0)
                continue;
            seen = seen || k < i;
            if (b->verdict == VERDICT_PASS && (!best || b->samples_per_s > best->samples_per_s))
                best = b;
        }
        if (s->benches[i].column != column || seen || !best)
            continue;
        char rate[32], shape[32];
        markup_printf(p->t, "%!%s <b>%s</b> (%s%!%s)", shown ? " &#183; " : "<p class=\"note\">",
                      best->scene, rate_text(best->samples_per_s, rate), best->mode,
                      best->work_group[0] ? ", " : "",
                      best->work_group[0] ? shape_text(best->work_group, shape) : "");
        shown++;
    }
    if (shown)
        text_puts(p->t, "</p>\n");
}

/* Timed rows of a device, and those that were right. */
static size_t rows_of(const struct snapshot *s, size_t column, size_t count[VERDICT_COUNT])
{
    size_t all = 0; /* less those refused */
    memset(count, 0, VERDICT_COUNT * sizeof *count);
    for (size_t i = 0; i < s->bench_count; i++)
        if (s->benches[i].column == column) {
            count[s->benches[i].record->verdict]++;
            all += s->benches[i].record->verdict != VERDICT_SKIP;
        }
    return all;
}

static void card(struct page *p, size_t i)
{
    size_t rows[VERDICT_COUNT], all = rows_of(p->s, i, rows);
    const struct snapshot_column *c = &p->s->columns[i];
    size_t failures = c->outcomes.junit[JUNIT_FAILURE], errors = c->outcomes.junit[JUNIT_ERROR];
    failures += rows[VERDICT_FAIL]; /* a wrong picture is one, timed or not */
    errors += rows[VERDICT_ERROR];
    markup_printf(p->t, "<div class=\"card%!\"><h3><span>%s</span>", failures ? " bad" : "",
                  c->label);
    if (failures)
        html_verdict(p->t, VERDICT_FAIL);
    else if (errors)
        html_verdict(p->t, VERDICT_ERROR);
    else if (c->conformant)
        text_puts(p->t, "<span class=\"v pass\">conformant</span>");
    else if (c->forgiven)
        text_puts(p->t, "<span class=\"v waived\">WAIVED</span>");
    else if (c->outcomes.judged)
        html_verdict(p->t, VERDICT_PASS);
    else if (rows[VERDICT_PASS]) /* right where it was timed, and nowhere else was looked */
        text_puts(p->t, "<span class=\"v skip\">timed only</span>");
    else if (c->cases || rows[VERDICT_SKIP])
        html_verdict(p->t, VERDICT_SKIP);
    markup_printf(p->t, "</h3>\n<p>%s%!%s</p>\n<p class=\"note\">%s%!%s</p>\n", c->device.id,
                  c->device.vendor ? ", " : "", c->device.vendor, c->device.version,
                  c->device.compiler ? ", " : "", c->device.compiler);
    if (c->cases)
        card_bar(p->t, c);
    else
        text_puts(p->t, "<p class=\"note\">no conformance case was run on it</p>\n");
    if (all || rows[VERDICT_SKIP])
        markup_printf(p->t, "<p class=\"note\">%zu of %zu timed setting%! right",
                      rows[VERDICT_PASS], all, plural(all));
    if (rows[VERDICT_SKIP])
        markup_printf(p->t, ", %zu refused by the device", rows[VERDICT_SKIP]);
    if (all || rows[VERDICT_SKIP])
        text_puts(p->t, "</p>\n");
    card_rates(p, i);
    text_puts(p->t, "</div>\n");
}

/* ---- devices side by side --------------------------------------------------------------- */

static void side_row(struct page *p, const char *name,
                     const char *(*get)(const struct snapshot_column *))
{
    bool any = false, differs = false;
    for (size_t i = 0; i < p->s->column_count; i++) {
        const char *v = get(&p->s->columns[i]);
        any = any || (v && v[0]);
        differs = differs || text_order(v, get(&p->s->columns[0])) != 0;
    }
    if (!any)
        return;
    markup_printf(p->t, "<tr%!><th scope=\"row\">%s</th>", differs ? "" : " class=\"equal\"", name);
    for (size_t i = 0; i < p->s->column_count; i++)
        markup_printf(p->t, "<td>%s</td>", get(&p->s->columns[i]));
    text_puts(p->t, "</tr>\n");
}

#define GET(member)                                                                                \
    static const char *get_##member(const struct snapshot_column *c) { return c->device.member; }
GET(id)
GET(name)
GET(vendor)
GET(api)
GET(kind)
GET(driver)
GET(version)
GET(compiler)

static const char *get_host(const struct snapshot_column *c) { return c->host; }

/* Limits and features: every key of any device's detail, in the order met. */
static void side_details(struct page *p)
{
    const struct snapshot *s = p->s;
    for (size_t i = 0; i < s->column_count; i++) {
        if (!s->columns[i].detail || s->columns[i].detail->type != JSON_OBJECT)
            continue;
        for (const struct json *k = s->columns[i].detail->first; k; k = k->next) {
            bool seen = false;
            for (size_t e = 0; e < i && !seen; e++) {
                const struct json *d = s->columns[e].detail;
                seen = d && d->type == JSON_OBJECT && json_get(d, k->key);
            }
            if (seen)
                continue;
            char name[96];
            markup_printf(p->t, "<tr><th scope=\"row\">%s</th>",
                          key_words(k->key, name, sizeof name));
            for (size_t c = 0; c < s->column_count; c++) {
                const struct json *d = s->columns[c].detail;
                const struct json *v = d && d->type == JSON_OBJECT ? json_get(d, k->key) : NULL;
                text_puts(p->t, "<td>");
                if (v)
                    json_value(p->t, v);
                text_puts(p->t, "</td>");
            }
            text_puts(p->t, "</tr>\n");
        }
    }
}

static void section_devices(struct page *p)
{
    if (p->s->column_count == 0)
        return;
    text_puts(p->t, "<section id=\"devices\"><h2>Devices</h2>\n<div class=\"scroll\"><table "
                    "class=\"side\"><thead><tr><td></td>");
    for (size_t i = 0; i < p->s->column_count; i++)
        markup_printf(p->t, "<th scope=\"col\">%s</th>", p->s->columns[i].label);
    text_puts(p->t, "</tr></thead><tbody>\n");
    side_row(p, "id", get_id);
    side_row(p, "name", get_name);
    side_row(p, "vendor", get_vendor);
    side_row(p, "api", get_api);
    side_row(p, "kind", get_kind);
    side_row(p, "driver", get_driver);
    side_row(p, "version", get_version);
    side_row(p, "compiler", get_compiler);
    side_row(p, "host", get_host);
    side_details(p);
    text_puts(p->t, "</tbody></table></div>\n</section>\n");
}

/* ---- the document ----------------------------------------------------------------------- */

/* Lines of equal brightness about a light. */
static const char logo[] = "<svg viewBox=\"0 0 48 48\" aria-hidden=\"true\"><rect width=\"48\" "
                           "height=\"48\" rx=\"10\" fill=\"#1b2233\"/>"
                           "<g fill=\"none\" stroke-width=\"2\"><ellipse cx=\"24\" cy=\"25\" "
                           "rx=\"19\" ry=\"16\" stroke=\"#3b5bdb\"/>"
                           "<ellipse cx=\"22\" cy=\"23.5\" rx=\"13\" ry=\"10.5\" "
                           "stroke=\"#4dabf7\"/><ellipse cx=\"20\" cy=\"22\" rx=\"7.5\" "
                           "ry=\"6\" stroke=\"#ffd43b\"/></g><circle cx=\"19\" cy=\"21.3\" "
                           "r=\"2.6\" fill=\"#fff3bf\"/></svg>";

static void header(struct page *p)
{
    const char *first = NULL, *last = NULL;
    size_t runs = 0;
    for (size_t i = 0; i < p->s->run_count; i++)
        if (p->s->runs[i].shown) {
            const char *when = p->s->runs[i].record.started_utc;
            runs++;
            if (when && (!first || strcmp(when, first) < 0))
                first = when;
            if (when && (!last || strcmp(when, last) > 0))
                last = when;
        }
    markup_printf(p->t,
                  "<header class=\"top\"><div><div class=\"brand\">%!<div><h1>Isophote "
                  "report</h1><p>Does each "
                  "device give the right picture, how fast, and with which work-group size? ",
                  logo);
    markup_printf(p->t, "%zu run%!", runs, plural(runs));
    if (first && strcmp(first, last) == 0)
        markup_printf(p->t, ", %s", first);
    else if (first)
        markup_printf(p->t, ", %s to %s", first, last);
    text_puts(p->t, ".</p></div></div></div></header>\n");
}

struct part {
    const char *id, *title;
    void (*write)(struct page *);
};
static const struct part parts[] = {
    {"findings", "Findings", section_findings},
    {"devices", "Devices", section_devices},
    {"cases", "Conformance", section_cases},
    {"furnace", "White furnace", section_furnace},
    {"power", "Power", section_power},
    {"models", "Model files", section_models},
    {"rates", "Throughput", section_rates},
    {"apis", "APIs", section_apis},
    {"blocks", "Work-group sizes", section_blocks},
    {"phases", "Phases", section_phases},
    {"shading", "Shaders", section_shading},
    {"statistics", "Rays, hits, textures", section_statistics},
    {"kernels", "Kernels", section_kernels},
    {"formats", "Number formats", section_formats},
    {"tables", "Published tables", section_tables},
    {"images", "Images", section_images},
    {"environment", "Environment", section_environment},
    {"pages", "For developers of the suite", section_pages},
};
enum { PART_COUNT = sizeof parts / sizeof parts[0] };

enum status report_html(struct text *t, struct arena *a, const struct snapshot *s,
                        const struct page_extras *extras, struct error *err)
{
    struct text body[PART_COUNT] = {0};
    struct page p = {.t = t, .a = a, .s = s, .extras = extras};
    struct headline n;
    text_puts(t, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n<meta "
                 "name=\"viewport\" "
                 "content=\"width=device-width, initial-scale=1\"/>\n<title>Isophote "
                 "report</title>\n<style>\n");
    text_puts(t, report_css);
    text_puts(t, "</style></head>\n<body>\n");
    header(&p);
    for (size_t i = 0; i < PART_COUNT; i++) {
        p.t = &body[i];
        parts[i].write(&p);
    }
    p.t = t;
    text_puts(t, "<nav aria-label=\"sections\"><div>");
    for (size_t i = 0; i < PART_COUNT; i++)
        if (body[i].len)
            markup_printf(t, "<a href=\"#%!\">%!</a>\n", parts[i].id, parts[i].title);
    text_puts(t, "</div></nav>\n<main>\n");
    headline_count(s, &n);
    headline(&p, &n);
    text_puts(t, "<div class=\"cards\">\n");
    for (size_t i = 0; i < s->column_count; i++)
        card(&p, i);
    text_puts(t, "</div>\n");
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (body[i].len)
            cells_number(t, body[i].data, parts[i].id);
        t->failed |= body[i].failed;
        text_free(&body[i]);
    }
    text_puts(t, "<footer>Written by isophote. A rate is camera samples per second of the render "
                 "phase: pixels times samples a "
                 "pixel over seconds. A row without the verdict PASS carries no "
                 "rate.</footer>\n</main>\n<script>\n");
    text_puts(t, report_js);
    text_puts(t, "</script>\n</body></html>\n");
    return t->failed || p.no_memory ? error_msg(err, STATUS_MEMORY, "out of memory for a report")
                                    : STATUS_OK;
}
