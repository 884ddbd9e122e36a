/* SPDX-License-Identifier: Apache-2.0 */
/* Findings (failures first, each with its reason and its replay command) and the matrix of cases by
 * devices. */
#include <stdlib.h>
#include <string.h>

#include "html.h"

/* ---- findings --------------------------------------------------------------------------- */

static void case_finding(struct page *p, const struct snapshot_case *c)
{
    const struct case_record *r = c->record;
    const struct json *detail = NULL;
    if (r->detail && json_parse(p->a, "detail", r->detail, strlen(r->detail), &detail, NULL))
        detail = NULL;
    static const char *const classes[] = {"", " error", " waived", ""};
    markup_printf(p->t, "<article class=\"finding%!\" id=\"finding:%s@%zu\"><h4>",
                  classes[html_rank(r)], r->name, c->column + 1);
    html_case_verdict(p->t, r);
    markup_printf(p->t,
                  "<a class=\"self\" href=\"#finding:%s@%zu\">%s</a><span class=\"note\">on "
                  "%s</span></h4>\n<p>%s</p>\n",
                  r->name, c->column + 1, r->name, p->s->columns[c->column].label,
                  r->reason && r->reason[0] ? r->reason : "no reason was recorded");
    html_command(p->t, r->replay);
    if (detail && detail->type == JSON_OBJECT && detail->first) {
        text_puts(p->t, "<details><summary>what was measured</summary>\n");
        html_json(p->t, detail);
        text_puts(p->t, "</details>\n");
    }
    text_puts(p->t, "</article>\n");
}

static bool same_trouble(const struct snapshot_bench *a, const struct snapshot_bench *b)
{
    return a->column == b->column && a->record->verdict == b->record->verdict &&
           text_order(a->record->reason, b->record->reason) == 0;
}

/* One trouble with many settings is one finding. */
static bool bench_said(const struct snapshot *s, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (same_trouble(&s->benches[i], &s->benches[at]))
            return true;
    return false;
}

static void bench_finding(struct page *p, const struct snapshot_bench *b)
{
    size_t others = 0;
    for (size_t i = 0; i < p->s->bench_count; i++)
        others += &p->s->benches[i] != b && same_trouble(&p->s->benches[i], b);

    markup_printf(p->t, "<article class=\"finding%!\"><h4>",
                  b->record->verdict == VERDICT_ERROR ? " error" : "");
    html_verdict(p->t, b->record->verdict);
    markup_printf(p->t, "<span>%s, timed (", b->record->scene);
    html_settings(p->t, b->record);
    markup_printf(p->t, ")</span><span class=\"note\">on %s</span></h4>\n<p>%s</p>\n",
                  p->s->columns[b->column].label,
                  b->record->reason && b->record->reason[0] ? b->record->reason
                                                            : "no reason was recorded");
    if (others)
        markup_printf(
            p->t,
            "<p class=\"note\">%zu other timed setting%! of this device ended the same way.</p>\n",
            others, others == 1 ? "" : "s");
    html_command(p->t, b->record->command);
    text_puts(p->t, "</article>\n");
}

enum { FINDINGS_OPEN = 12 }; /* more are folded away */

void section_findings(struct page *p)
{
    const struct snapshot *s = p->s;
    size_t shown = 0;
    bool folded = false;
    for (int rank = 0; rank < 3; rank++) {
        for (size_t i = 0; i < s->case_count + s->bench_count; i++) {
            const struct snapshot_case *c = i < s->case_count ? &s->cases[i] : NULL;
            const struct snapshot_bench *b = c ? NULL : &s->benches[i - s->case_count];
            if (html_rank(c ? c->record : &(struct case_record){.verdict = b->record->verdict}) !=
                rank)
                continue;
            if (b && bench_said(s, i - s->case_count))
                continue;
            if (shown == 0)
                text_puts(
                    p->t,
                    "<section id=\"findings\"><h2>Findings</h2>\n<p class=\"note\">Everything that "
                    "failed or could not be judged, the worst first. The command shows just that "
                    "case again.</p>\n");
            if (shown == FINDINGS_OPEN) {
                text_puts(p->t, "<details><summary>more findings</summary>\n");
                folded = true;
            }
            if (c)
                case_finding(p, c);
            else
                bench_finding(p, b);
            shown++;
        }
    }
    if (folded)
        text_puts(p->t, "</details>\n");
    if (shown)
        text_puts(p->t, "</section>\n");
}

/* ---- the matrix ------------------------------------------------------------------------- */

struct level {
    const char *name; /* not terminated at length */
    size_t length;
    size_t begin, end; /* of snapshot.names */
    size_t count[VERDICT_COUNT];
};

/* Worst verdict of a case over the devices: 0 FAIL, 1 ERROR, 2 waived, 3 anything else. */
static int row_rank(const struct snapshot *s, size_t name)
{
    int worst = 3;
    for (size_t c = 0; c < s->column_count; c++) {
        const struct snapshot_case *x = s->matrix[name * s->column_count + c];
        int rank = x ? html_rank(x->record) : 3;
        worst = rank < worst ? rank : worst;
    }
    return worst;
}

static void cell(struct text *t, const struct snapshot_case *x, const char *name, size_t column)
{
    static const char *const words[] = {"pass", "FAIL", "skip", "ERROR"};
    markup_printf(t, "<td class=\"c\" id=\"case:%s@%zu\">", name, column + 1);
    if (!x) {
        text_puts(t, "<span class=\"hidden\">not run</span></td>");
        return;
    }
    const struct case_record *r = x->record;
    markup_printf(t, "<span class=\"v %!\"", html_class(r));
    if (r->reason && r->reason[0])
        markup_printf(t, " title=\"%s\"", r->reason);
    markup_printf(t, ">%!</span></td>", words[r->verdict]);
}

static void row(struct page *p, size_t name)
{
    const struct snapshot *s = p->s;
    markup_printf(p->t,
                  "<tr data-case=\"%s\" id=\"case:%s\"><th scope=\"row\"><a class=\"self\" "
                  "href=\"#case:%s\">%s</a></th>",
                  s->names[name], s->names[name], s->names[name], s->names[name]);
    for (size_t c = 0; c < s->column_count; c++)
        if (s->columns[c].cases)
            cell(p->t, s->matrix[name * s->column_count + c], s->names[name], c);
    text_puts(p->t, "</tr>\n");
}

static size_t group_length(const char *name)
{
    size_t n = level_length(name);
    return name[n] ? n + 1 + level_length(name + n + 1) : n;
}

static void level_write(struct page *p, const struct level *l)
{
    const struct snapshot *s = p->s;
    bool bad = l->count[VERDICT_FAIL] || l->count[VERDICT_ERROR];
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)l->length, l->name);
    markup_printf(p->t, "<details class=\"level\"%!><summary>%s",
                  bad || l->end - l->begin <= 24 ? " open=\"open\"" : "", text);
    static const char *const classes[] = {"pass", "fail", "skip", "error"};
    static const char *const words[] = {"passed", "failed", "skipped", "errors"};
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (l->count[v])
            markup_printf(p->t, "<span class=\"v %!\">%zu %!</span>", classes[v], l->count[v],
                          words[v]);
    text_puts(p->t, "</summary>\n<div class=\"scroll\"><table class=\"matrix\"><thead><tr><th "
                    "scope=\"col\">case</th>");
    for (size_t c = 0; c < s->column_count; c++)
        if (s->columns[c].cases)
            markup_printf(p->t, "<th scope=\"col\">%s</th>", s->columns[c].label);
    text_puts(p->t, "</tr></thead><tbody>\n");
    for (int rank = 0; rank < 3; rank++)
        for (size_t i = l->begin; i < l->end; i++)
            if (row_rank(s, i) == rank)
                row(p, i);
    size_t group = 0;
    const char *last = NULL;
    for (size_t i = l->begin; i < l->end; i++) {
        if (row_rank(s, i) != 3)
            continue;
        size_t n = group_length(s->names[i]);
        if (!last || n != group || strncmp(s->names[i], last, n) != 0) {
            snprintf(text, sizeof text, "%.*s", (int)n, s->names[i]);
            markup_printf(
                p->t, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%zu\">%s</th></tr>\n",
                s->column_count + 1, text);
        }
        last = s->names[i];
        group = n;
        row(p, i);
    }
    text_puts(p->t, "</tbody></table></div></details>\n");
}

/* ---- why cases were skipped ------------------------------------------------------------- */

static int skip_order(const void *a, const void *b)
{
    const struct snapshot_case *const *x = a, *const *y = b;
    int c = text_order((*x)->record->reason, (*y)->record->reason);
    c = c ? c : text_order((*x)->record->name, (*y)->record->name);
    return c ? c : ((*x)->column > (*y)->column) - ((*x)->column < (*y)->column);
}

/* The devices of a run of skips, in the order of the columns; how many they are. */
static size_t skip_devices(struct page *p, const struct snapshot_case *const *list, size_t n,
                           bool print)
{
    size_t devices = 0;
    for (size_t c = 0; c < p->s->column_count; c++) {
        bool has = false;
        for (size_t i = 0; i < n && !has; i++)
            has = list[i]->column == c;
        if (has && print)
            markup_printf(p->t, "%!%s", devices ? ", " : "", p->s->columns[c].label);
        devices += has;
    }
    return devices;
}

/* One reason: its devices, and each case with its own where they are fewer. */
static void skip_row(struct page *p, const struct snapshot_case *const *list, size_t n)
{
    const char *reason = list[0]->record->reason;
    size_t all = skip_devices(p, list, n, false);
    markup_printf(p->t, "<tr><td>%s</td><td>",
                  reason && reason[0] ? reason : "no reason was recorded");
    skip_devices(p, list, n, true);
    markup_printf(p->t, "</td><td class=\"r\"><details><summary>%zu</summary>", n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1;
             end < n && text_order(list[end]->record->name, list[i]->record->name) == 0;)
            end++;
        markup_printf(p->t, "<div>%s", list[i]->record->name);
        if (skip_devices(p, list + i, end - i, false) < all) {
            text_puts(p->t, ": ");
            skip_devices(p, list + i, end - i, true);
        }
        text_puts(p->t, "</div>");
    }
    text_puts(p->t, "</details></td></tr>\n");
}

static void skips(struct page *p)
{
    const struct snapshot *s = p->s;
    const struct snapshot_case **list =
        ARENA_ARRAY(p->a, const struct snapshot_case *, s->case_count);
    size_t n = 0;
    if (!list) {
        p->no_memory = true;
        return;
    }
    for (size_t i = 0; i < s->case_count; i++)
        if (s->cases[i].record->verdict == VERDICT_SKIP &&
            !html_is_model_case(s->cases[i].record->name) &&
            !case_is_code_object(s->cases[i].record->name))
            list[n++] = &s->cases[i];
    if (n == 0)
        return;
    qsort(list, n, sizeof(const struct snapshot_case *), skip_order);
    text_puts(p->t, "<h3>Why cases were skipped</h3>\n<div class=\"scroll\"><table><thead><tr><th "
                    "scope=\"col\">reason</th>"
                    "<th scope=\"col\">devices</th><th scope=\"col\" "
                    "class=\"r\">cases</th></tr></thead><tbody>\n");
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1;
             end < n && text_order(list[end]->record->reason, list[i]->record->reason) == 0;)
            end++;
        skip_row(p, list + i, end - i);
    }
    text_puts(p->t, "</tbody></table></div>\n");
}

/* Levels with failures come first, then by name. */
static int level_order(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    int bad_x = x->count[VERDICT_FAIL] ? 0 : x->count[VERDICT_ERROR] ? 1 : 2;
    int bad_y = y->count[VERDICT_FAIL] ? 0 : y->count[VERDICT_ERROR] ? 1 : 2;
    return bad_x != bad_y ? bad_x - bad_y : (x->begin > y->begin) - (x->begin < y->begin);
}

void section_cases(struct page *p)
{
    const struct snapshot *s = p->s;
    if (s->name_count == 0)
        return;
    struct level *levels = ARENA_ARRAY(p->a, struct level, s->name_count);
    size_t n = 0;
    if (!levels) {
        p->no_memory = true;
        return;
    }
    for (size_t i = 0; i < s->name_count; i++) {
        const char *name = s->names[i];
        if (html_is_model_case(name) || case_is_code_object(name))
            continue;
        size_t length = level_length(name);
        if (n == 0 || levels[n - 1].length != length ||
            strncmp(levels[n - 1].name, name, length) != 0)
            levels[n++] = (struct level){.name = name, .length = length, .begin = i};
        struct level *l = &levels[n - 1];
        l->end = i + 1;
        for (size_t c = 0; c < s->column_count; c++) {
            const struct snapshot_case *x = s->matrix[i * s->column_count + c];
            if (x)
                l->count[x->record->verdict]++;
        }
    }
    if (n == 0)
        return;
    qsort(levels, n, sizeof *levels, level_order);
    text_puts(
        p->t,
        "<section id=\"cases\"><h2>Conformance</h2>\n<p class=\"note\">Rows are cases, columns are "
        "devices; rows that failed stand first in their level. Reasons show on hovering.</p>\n<div "
        "class=\"tools\"><label class=\"hidden\" for=\"filter\">Filter cases</label><input "
        "id=\"filter\" "
        "type=\"search\" placeholder=\"filter cases\"/></div>\n");
    for (size_t i = 0; i < n; i++)
        level_write(p, &levels[i]);
    skips(p);
    text_puts(p->t, "</section>\n");
}
