/* SPDX-License-Identifier: Apache-2.0 */
/* What a verdict comes to: the one table that exit statuses, terminals, JUnit, reports and
 * annotations ask. */
#include "reports.h"

#include <string.h>

enum { ANY = -1 };

/* The first row that fits holds. */
static const struct row {
    int verdict, waived, skip, rerun; /* ANY: whatever it is */
    struct outcome outcome;
} rows[] = {
    // clang-format off
    /*  verdict       waived skip              rerun            counts           judged  JUnit           word      class     annotation */
    {VERDICT_FAIL,    true,  ANY,              ANY,            {COUNTS_NEUTRAL, true,   JUNIT_SKIPPED,  "WAIVED", "waived", NULL}},
    {VERDICT_ERROR,   true,  ANY,              ANY,            {COUNTS_NEUTRAL, false,  JUNIT_SKIPPED,  "WAIVED", "waived", NULL}},
    {VERDICT_PASS,    true,  ANY,              RERUN_DIFFERED, {COUNTS_NEUTRAL, true,   JUNIT_SKIPPED,  "WAIVED", "waived", NULL}},
    {VERDICT_PASS,    ANY,   ANY,              RERUN_DIFFERED, {COUNTS_FINDING, true,   JUNIT_FAILURE,  "FLAKY",  "fail",   "error"}},
    {VERDICT_PASS,    true,  ANY,              ANY,            {COUNTS_PASS,    true,   JUNIT_PASSED,   "PASS",   "pass",   "notice"}},
    {VERDICT_PASS,    false, ANY,              ANY,            {COUNTS_PASS,    true,   JUNIT_PASSED,   "PASS",   "pass",   NULL}},
    {VERDICT_FAIL,    false, ANY,              RERUN_DIFFERED, {COUNTS_FINDING, true,   JUNIT_FAILURE,  "FLAKY",  "fail",   "error"}},
    {VERDICT_ERROR,   false, ANY,              RERUN_DIFFERED, {COUNTS_FINDING, false,  JUNIT_ERROR,    "FLAKY",  "error",  "error"}},
    {VERDICT_FAIL,    false, ANY,              ANY,            {COUNTS_FINDING, true,   JUNIT_FAILURE,  "FAIL",   "fail",   "error"}},
    {VERDICT_ERROR,   false, ANY,              ANY,            {COUNTS_FINDING, false,  JUNIT_ERROR,    "ERROR",  "error",  "error"}},
    {VERDICT_SKIP,    ANY,   ANY,              RERUN_DIFFERED, {COUNTS_FINDING, false,  JUNIT_FAILURE,  "FLAKY",  "fail",   "error"}},
    {VERDICT_SKIP,    ANY,   SKIP_UNEXPECTED,  ANY,            {COUNTS_FINDING, false,  JUNIT_FAILURE,  "SKIP!",  "fail",   "error"}},
    {VERDICT_SKIP,    ANY,   ANY,              ANY,            {COUNTS_NEUTRAL, false,  JUNIT_SKIPPED,  "SKIP",   "skip",   NULL}},
    // clang-format on
};

static bool fits(int wanted, int given) { return wanted == ANY || wanted == given; }

struct outcome outcome_of(enum verdict v, bool waived, enum skip_kind skip, enum rerun rerun)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fits(rows[i].verdict, (int)v) && fits(rows[i].waived, waived) &&
            fits(rows[i].skip, (int)skip) && fits(rows[i].rerun, (int)rerun))
            return rows[i].outcome;
    /* a verdict that is none of ours was not judged */
    return (struct outcome){COUNTS_FINDING, false, JUNIT_ERROR, "ERROR", "error", "error"};
}

struct outcome outcome_of_case(const struct case_record *c)
{
    enum skip_kind skip = !c->skip                           ? SKIP_UNASKED
                          : strcmp(c->skip, "expected") == 0 ? SKIP_EXPECTED
                                                             : SKIP_UNEXPECTED;
    enum rerun rerun = RERUN_NONE;
    if (c->rerun && !rerun_parse(c->rerun, &rerun))
        rerun = RERUN_DIFFERED; /* not known, and so not green */
    return outcome_of(c->verdict, c->waived, skip, rerun);
}

static const char *const rerun_names[] = {
    [RERUN_NONE] = NULL, [RERUN_AGREED] = "agreed", [RERUN_DIFFERED] = "differed"};

const char *rerun_name(enum rerun r) { return rerun_names[r]; }

bool rerun_parse(const char *name, enum rerun *out)
{
    for (int r = RERUN_AGREED; r <= RERUN_DIFFERED; r++)
        if (strcmp(name, rerun_names[r]) == 0) {
            *out = (enum rerun)r;
            return true;
        }
    return false;
}

void outcome_add(struct outcome_sum *sum, const struct outcome *o)
{
    sum->total++;
    sum->findings += o->counts == COUNTS_FINDING;
    sum->passed += o->counts == COUNTS_PASS;
    sum->judged += o->judged;
    sum->junit[o->junit]++;
}

enum run_end outcome_end(const struct outcome_sum *sum)
{
    return sum->findings ? RUN_FINDING : sum->passed ? RUN_GREEN : RUN_NOTHING;
}
