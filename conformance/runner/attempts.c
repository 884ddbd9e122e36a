/* SPDX-License-Identifier: Apache-2.0 */
#include "attempts.h"

#include <stdlib.h>
#include <string.h>

bool verdict_failed(enum verdict v) { return v == VERDICT_FAIL || v == VERDICT_ERROR; }

void attempts_add(struct attempts *t, struct attempt *a)
{
    a->next = NULL;
    *(t->last ? &t->last->next : &t->first) = a;
    t->last = a;
    t->count++;
}

struct attempt *attempt_of(const struct conform_result *r)
{
    struct attempt *a = calloc(1, sizeof *a);
    if (a)
        a->result = *r;
    return a;
}

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

/* "PASS 2, ERROR 1": the verdicts other than `shown`. */
static void others_say(const size_t *count, enum verdict shown, struct text *out)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (v != (int)shown && count[v])
            text_printf(out, ", %s %zu", verdict_name((enum verdict)v), count[v]);
}

bool attempts_result(const struct attempts *t, struct arena *a, struct conform_result *out)
{
    *out = t->first->result;
    if (t->count == 1)
        return true;
    size_t count[VERDICT_COUNT] = {0}, n = 0;
    for (const struct attempt *i = t->first; i; i = i->next)
        count[i->result.verdict]++;
    const enum verdict shown = count[VERDICT_FAIL]    ? VERDICT_FAIL
                               : count[VERDICT_ERROR] ? VERDICT_ERROR
                                                      : t->first->result.verdict;
    const struct attempt *at = t->first;
    while (at->next && at->result.verdict != shown)
        at = at->next;
    const struct conform_result *first = &at->result;
    bool alike = true;
    struct conform_result *runs = ARENA_ARRAY(a, struct conform_result, t->count);
    if (!runs)
        return false;
    for (const struct attempt *i = t->first; i; i = i->next) {
        runs[n++] = i->result;
        alike = alike && (i->result.verdict != shown || same_text(first->reason, i->result.reason));
    }
    *out = *first;
    out->runs = runs;
    out->run_count = n;
    out->rerun = count[shown] == n ? RERUN_AGREED : RERUN_DIFFERED;
    struct text others = {0};
    others_say(count, shown, &others);
    const char *reason = first->reason ? first->reason : "";
    out->reason = others.failed ? NULL
                  : out->rerun == RERUN_DIFFERED
                      ? arena_printf(a, "%s %zu of %zu runs%s: flaky; %s", verdict_name(shown),
                                     count[shown], n, others.data, reason)
                      : arena_printf(a, "%s [%s %zu of %zu runs%s]", reason, verdict_name(shown), n,
                                     n, alike ? "" : ", for reasons that differ");
    text_free(&others);
    return out->reason != NULL;
}

void attempts_free(struct attempts *t)
{
    for (struct attempt *i = t->first, *next; i; i = next) {
        next = i->next;
        arena_free(&i->arena);
        free(i);
    }
    *t = (struct attempts){0};
}
