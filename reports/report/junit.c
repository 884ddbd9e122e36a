/* JUnit XML as CI systems read it (the schema of Jenkins' xUnit plug-in): a test suite for each
 * device. */
#include <string.h>

#include "markup.h"
#include "store/offers.h"

/* The last run of kind "conform", or the wanted one. */
static enum status run_pick(struct store *s, struct arena *a, int64_t wanted,
                            struct run_record *out, struct error *err)
{
    struct run_record *runs;
    size_t n;
    enum status st = store_runs(s, a, &runs, &n, err);
    if (st)
        return st;
    for (size_t i = n; i-- > 0;)
        if (wanted ? runs[i].id == wanted : strcmp(runs[i].kind, "conform") == 0) {
            *out = runs[i];
            return STATUS_OK;
        }
    if (wanted)
        return error_msg(err, STATUS_ARG, "%s: there is no run %lld", store_path(s),
                         (long long)wanted);
    return error_msg(err, STATUS_MISSING, "%s: there is no run of kind conform", store_path(s));
}

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
    switch (c->verdict) {
    case VERDICT_PASS:
        if (c->waived || reason[0])
            markup_printf(
                t, ">\n      <system-out>%s%s</system-out>\n    </testcase>\n",
                c->waived ? "passes although a waiver is listed: remove the waiver. " : "", reason);
        else
            text_puts(t, "/>\n");
        return;
    case VERDICT_SKIP:
        markup_printf(t, ">\n      <skipped message=\"%s\"/>\n", reason);
        break;
    case VERDICT_FAIL:
        if (c->waived)
            markup_printf(t, ">\n      <skipped message=\"waived failure: %s\"/>\n", reason);
        else
            markup_printf(t, ">\n      <failure message=\"%s\" type=\"FAIL\">%s%s%s</failure>\n",
                          reason, reason, c->replay ? "\nreplay: " : "", c->replay);
        break;
    default:
        markup_printf(t, ">\n      <error message=\"%s\" type=\"ERROR\">%s%s%s</error>\n", reason,
                      reason, c->replay ? "\nreplay: " : "", c->replay);
        break;
    }
    text_puts(t, "    </testcase>\n");
}

struct tally {
    size_t tests, failures, errors, skipped;
    double seconds;
};

static void tally_add(struct tally *n, const struct case_record *c)
{
    n->tests++;
    n->failures += c->verdict == VERDICT_FAIL && !c->waived;
    n->errors += c->verdict == VERDICT_ERROR;
    n->skipped += c->verdict == VERDICT_SKIP || (c->verdict == VERDICT_FAIL && c->waived);
    n->seconds += c->compile_s + c->run_s;
}

static void tally_write(struct text *t, const char *element, const char *name,
                        const struct tally *n)
{
    markup_printf(t,
                  "<%! name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
                  "time=\"%.6f\"",
                  element, name, n->tests, n->failures, n->errors, n->skipped, n->seconds);
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
    text_puts(&t, "</testsuites>\n");
    st = t.failed ? error_msg(err, STATUS_MEMORY, "out of memory for %s", path)
                  : file_write(path, t.data, t.len, err);
    text_free(&t);
    arena_free(&a);
    return st;
}
