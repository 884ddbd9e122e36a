/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

void headline_count(const struct snapshot *s, struct headline *out)
{
    struct headline n = {0};
    for (size_t i = 0; i < s->column_count; i++) {
        const struct snapshot_column *c = &s->columns[i];
        for (int v = 0; v < VERDICT_COUNT; v++)
            n.cases[v] += c->count[v];
        n.waived += c->waived;
        n.asked += c->asked || c->cases;
        n.judged += c->outcomes.judged > 0;
        if (c->cases == 0)
            continue;
        if (c->conformant)
            n.conformant++;
        else if (c->outcomes.junit[JUNIT_FAILURE])
            n.bad++;
        else if (c->outcomes.findings)
            n.open++;
        else if (c->forgiven)
            n.forgiven++;
        else if (outcome_end(&c->outcomes) == RUN_GREEN)
            n.clean++;
        else
            n.open++;
    }
    for (size_t i = 0; i < s->bench_count; i++)
        n.rows[s->benches[i].record->verdict]++;
    n.row_count = s->bench_count - n.rows[VERDICT_SKIP];
    *out = n;
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

void headline_scope(struct text *t, const struct snapshot *s, const struct headline *n)
{
    bool whole = n->judged > 0;
    for (size_t i = 0; i < s->column_count; i++)
        whole = whole && (s->columns[i].whole || !(s->columns[i].asked || s->columns[i].cases));
    if (s->list && s->same_list) {
        text_printf(t, "%zu of %zu cases of %s judged on %zu of %zu device%s", s->judged_listed,
                    s->list_cases, path_name(s->list), n->judged, n->asked, plural(n->asked));
        if (!whole)
            text_puts(t, s->mixed ? "; not the whole list by one program" : "; not the whole list");
        else if (s->judged_listed < s->list_cases)
            text_printf(t, "; %zu on none", s->list_cases - s->judged_listed);
    } else {
        text_printf(t, "%zu case%s judged on %zu of %zu device%s; %s", s->judged, plural(s->judged),
                    n->judged, n->asked, plural(n->asked),
                    s->list ? "runs had several lists" : "of which list is not known");
    }
    if (s->list && s->same_list && s->judged > s->judged_listed)
        text_printf(t, ", and %zu more of scenes that were named", s->judged - s->judged_listed);
}

void headline_devices(struct text *t, const struct headline *n)
{
    const struct {
        size_t count;
        const char *one, *several;
    } rows[] = {
        {n->conformant, "is conformant", "are conformant"},
        {n->clean, "passes all that was judged", "pass all that was judged"},
        {n->forgiven, "fails what waivers forgive", "fail what waivers forgive"},
        {n->bad, "fails", "fail"},
        {n->open, "could not be judged in full", "could not be judged in full"},
    };
    size_t said = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].count)
            continue;
        text_printf(t, "%s%zu %s%s", said ? "; " : "", rows[i].count,
                    said                 ? ""
                    : rows[i].count == 1 ? "device "
                                         : "devices ",
                    rows[i].count == 1 ? rows[i].one : rows[i].several);
        said++;
    }
}
