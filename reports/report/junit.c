/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit XML as CI systems read it (the schema of Jenkins' xUnit plug-in): a test suite for each
 * device. */
#include <stdint.h>
#include <string.h>

#include "markup.h"
#include "store/offers.h"

/* The last run of kind "conform" that has cases, or the wanted one. */
static enum status run_pick(struct store *s, struct arena *a, int64_t wanted,
                            struct run_record *out, struct error *err)
{
    struct run_record *runs;
    size_t n;
    enum status st = store_runs(s, a, &runs, &n, err);
    if (st)
        return st;
    size_t last = SIZE_MAX;
    for (size_t i = n; i-- > 0;) {
        void *cases;
        size_t count = 0;
        if (wanted ? runs[i].id != wanted : strcmp(runs[i].kind, "conform") != 0)
            continue;
        if (!wanted)
            TRY(store_read(s, a, RECORD_CASE, runs[i].id, &cases, NULL, &count, err));
        if (last == SIZE_MAX || count)
            last = i;
        if (wanted || count) /* one without cases, ended before its first, hides no other */
            break;
    }
    if (last != SIZE_MAX) {
        *out = runs[last];
        return STATUS_OK;
    }
    if (wanted)
        return error_msg(err, STATUS_ARG, "%s: there is no run %lld", store_path(s),
                         (long long)wanted);
    return error_msg(err, STATUS_MISSING, "%s: there is no run of kind conform", store_path(s));
}

static const char *const junit_elements[JUNIT_COUNT] = {"", "skipped", "failure", "error"};

static void case_write(struct text *t, const struct case_record *c)
{
    const char *dot = strrchr(c->name, '.');
    int group = dot ? (int)(dot - c->name) : 0;
    char class_name[512];
    snprintf(class_name, sizeof class_name, "%s%s%.*s", c->device, group ? "." : "", group,
             c->name);
    markup_printf(t, "    <testcase classname=\"%s\" name=\"%s\" time=\"%.6f\"", class_name,
                  c->name, c->compile_s + c->run_s);
    const char *reason = c->reason ? c->reason : "";
    const struct outcome o = outcome_of_case(c);
    const char *note = c->waived && o.junit == JUNIT_PASSED
                           ? "passes although a waiver is listed: remove the waiver. "
                       : c->waived && o.junit == JUNIT_SKIPPED ? "waived: "
                                                               : "";
    bool says = o.junit != JUNIT_PASSED || note[0] || reason[0];
    text_puts(t, says || c->identity ? ">\n" : "/>\n");
    if (c->identity)
        markup_printf(t,
                      "      <properties>\n        <property name=\"identity\" value=\"%s\"/>\n"
                      "      </properties>\n",
                      c->identity);
    if (o.junit == JUNIT_PASSED && says)
        markup_printf(t, "      <system-out>%s%s</system-out>\n", note, reason);
    if (o.junit == JUNIT_SKIPPED)
        markup_printf(t, "      <skipped message=\"%s%s\"/>\n", note, reason);
    if (o.junit == JUNIT_FAILURE || o.junit == JUNIT_ERROR)
        markup_printf(t, "      <%! message=\"%s\" type=\"%s\">%s%s%s</%!>\n",
                      junit_elements[o.junit], reason, verdict_name(c->verdict), reason,
                      c->replay ? "\nreplay: " : "", c->replay, junit_elements[o.junit]);
    if (says || c->identity)
        text_puts(t, "    </testcase>\n");
}

struct tally {
    struct outcome_sum sum;
    double seconds;
};

static void tally_add(struct tally *n, const struct case_record *c)
{
    const struct outcome o = outcome_of_case(c);
    outcome_add(&n->sum, &o);
    n->seconds += c->compile_s + c->run_s;
}

static void tally_write(struct text *t, const char *element, const char *name,
                        const struct tally *n)
{
    markup_printf(t,
                  "<%! name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
                  "time=\"%.6f\"",
                  element, name, n->sum.total, n->sum.junit[JUNIT_FAILURE],
                  n->sum.junit[JUNIT_ERROR], n->sum.junit[JUNIT_SKIPPED], n->seconds);
}

static void suite_write(struct text *t, const struct run_record *run,
                        const struct case_record *cases, size_t count, const char *device)
{
    struct tally n = {0};
    for (size_t i = 0; i < count; i++)
        if (strcmp(cases[i].device, device) == 0)
            tally_add(&n, &cases[i]);
    text_puts(t, "  ");
    tally_write(t, "testsuite", device, &n);
    size_t whole = run->started_utc ? strlen(run->started_utc) : 0;
    if (whole > 0 && run->started_utc[whole - 1] == 'Z')
        whole--; /* the schema's timestamp has no zone */
    if (whole > 0) {
        char when[64];
        snprintf(when, sizeof when, "%.*s", (int)whole, run->started_utc);
        markup_printf(t, " timestamp=\"%s\"", when);
    }
    text_puts(t, ">\n");
    if (run->command)
        markup_printf(t,
                      "    <properties>\n      <property name=\"command\" value=\"%s\"/>\n    "
                      "</properties>\n",
                      run->command);
    for (size_t i = 0; i < count; i++)
        if (strcmp(cases[i].device, device) == 0)
            case_write(t, &cases[i]);
    text_puts(t, "  </testsuite>\n");
}

/* A run that judged nothing is not green: tools that read this count elements. */
static void nothing_write(struct text *t)
{
    text_puts(t, "  <testsuite name=\"isophote conform\" tests=\"1\" failures=\"0\" errors=\"1\" "
                 "skipped=\"0\" time=\"0.000000\">\n"
                 "    <testcase classname=\"isophote\" name=\"something passes\" "
                 "time=\"0.000000\">\n"
                 "      <error message=\"no case of this run passed\" type=\"NOTHING\"/>\n"
                 "    </testcase>\n  </testsuite>\n");
}

enum status store_junit(struct store *s, int64_t run, const char *path, struct error *err)
{
    struct arena a = {0};
    struct run_record picked = {0};
    void *data = NULL;
    size_t n = 0;
    enum status st = run_pick(s, &a, run, &picked, err);
    if (!st)
        st = store_read(s, &a, RECORD_CASE, picked.id, &data, NULL, &n, err);
    if (st) {
        arena_free(&a);
        return st;
    }
    const struct case_record *cases = data;
    struct tally all = {0};
    for (size_t i = 0; i < n; i++)
        tally_add(&all, &cases[i]);
    const bool nothing = outcome_end(&all.sum) == RUN_NOTHING;
    if (nothing) {
        all.sum.total++;
        all.sum.junit[JUNIT_ERROR]++;
    }
    struct text t = {0};
    text_puts(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    tally_write(&t, "testsuites", "isophote conform", &all);
    text_puts(&t, ">\n");
    for (size_t i = 0; i < n; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(cases[k].device, cases[i].device) != 0;
        if (first)
            suite_write(&t, &picked, cases, n, cases[i].device);
    }
    if (nothing)
        nothing_write(&t);
    text_puts(&t, "</testsuites>\n");
    st = t.failed ? error_msg(err, STATUS_MEMORY, "out of memory for %s", path)
                  : file_write(path, t.data, t.len, err);
    text_free(&t);
    arena_free(&a);
    return st;
}
