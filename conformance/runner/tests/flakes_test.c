/* SPDX-License-Identifier: Apache-2.0 */
/* Reruns, canaries and workers that do nothing, against a worker that plays a script
 * (fake_worker.c): F, E, S, P, C are what a case's runs end in, R, W, V what canaries do. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "conformance.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[256], journal[320], log_path[320], store_path[320];

struct seen {
    size_t count, shared, sick;
    enum verdict verdict;
    enum rerun rerun;
    size_t runs;
    char reason[2048], word[16];
};

static void remember(void *ctx, size_t done, size_t total, const char *device,
                     const struct conform_case *c, const struct conform_result *r)
{
    struct seen *s = ctx;
    assert_true(done <= total && device && c->name);
    s->count++;
    s->shared += r->shared != NULL;
    s->sick += r->sick;
    s->verdict = r->verdict;
    s->rerun = r->rerun;
    s->runs = r->run_count;
    snprintf(s->reason, sizeof s->reason, "%s", r->reason ? r->reason : "");
    snprintf(s->word, sizeof s->word, "%s", r->outcome.word);
}

static struct conform_options options_for(const char *const *device, struct seen *seen)
{
    *seen = (struct seen){0};
    (void)unlink(log_path);
    return (struct conform_options){.devices = device,
                                    .device_count = 1,
                                    .filter = "^kernel\\.rng", /* one case */
                                    .run_budget_s = 20,
                                    .memory_limit = (uint64_t)300 << 20,
                                    .worker = FAKE_WORKER,
                                    .each = remember,
                                    .each_ctx = seen};
}

static void log_count(size_t *cases, size_t *canaries)
{
    char line[512];
    *cases = *canaries = 0;
    FILE *f = fopen(log_path, "r");
    while (f && fgets(line, sizeof line, f))
        *(strncmp(line, "canary ", 7) == 0 ? canaries : cases) += 1;
    if (f)
        fclose(f);
}

/* ---- reruns ----------------------------------------------------------------------------- */

static const struct rerun_row {
    const char *device;
    uint32_t reruns;
    enum verdict verdict;
    enum rerun rerun;
    size_t runs;
    const char *reason, *word;
} rerun_rows[] = {
    {"script:P", 3, VERDICT_PASS, RERUN_NONE, 0, "fine", "PASS"},
    {"script:S", 3, VERDICT_SKIP, RERUN_NONE, 0, "sleeps", "SKIP"},
    {"script:F", 0, VERDICT_FAIL, RERUN_NONE, 0, "pixel (1,2)", "FAIL"},
    {"script:F", 3, VERDICT_FAIL, RERUN_AGREED, 4, "pixel (1,2) [FAIL 4 of 4 runs]", "FAIL"},
    {"script:FG", 1, VERDICT_FAIL, RERUN_AGREED, 2,
     "pixel (1,2) [FAIL 2 of 2 runs, for reasons that differ]", "FAIL"},
    {"script:FP", 3, VERDICT_FAIL, RERUN_DIFFERED, 4,
     "FAIL 1 of 4 runs, PASS 3: flaky; pixel (1,2)", "FLAKY"},
    {"script:FPF", 2, VERDICT_FAIL, RERUN_DIFFERED, 3,
     "FAIL 2 of 3 runs, PASS 1: flaky; pixel (1,2)", "FLAKY"},
    {"script:EP", 3, VERDICT_ERROR, RERUN_DIFFERED, 4, "ERROR 1 of 4 runs, PASS 3: flaky; lost",
     "FLAKY"},
    {"script:CFP", 2, VERDICT_FAIL, RERUN_DIFFERED, 3,
     "FAIL 1 of 3 runs, PASS 1, ERROR 1: flaky; pixel (1,2)", "FLAKY"},
    {"script:ES", 1, VERDICT_ERROR, RERUN_DIFFERED, 2, "ERROR 1 of 2 runs, SKIP 1: flaky; lost",
     "FLAKY"},
};

static void failures_run_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rerun_rows / sizeof *rerun_rows; i++) {
        const struct rerun_row *w = &rerun_rows[i];
        struct seen seen;
        struct conform_summary sum;
        struct error err = {0};
        struct run_record run = {.kind = "conform"};
        size_t cases, canaries;
        struct conform_options o = options_for(&w->device, &seen);
        o.reruns = w->reruns;
        (void)unlink(store_path);
        assert_int_equal(store_open(store_path, false, &o.store, &err), STATUS_OK);
        assert_int_equal(store_add_run(o.store, &run, &err), STATUS_OK);
        o.run = run.id;
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
        if (seen.verdict != w->verdict || seen.rerun != w->rerun || seen.runs != w->runs ||
            strcmp(seen.reason, w->reason) != 0 || strcmp(seen.word, w->word) != 0)
            fail_msg("row %zu: %s, %zu runs, %s: %s", i, verdict_name(seen.verdict), seen.runs,
                     seen.word, seen.reason);
        assert_int_equal(sum.total, 1);
        assert_int_equal(sum.flaky, w->rerun == RERUN_DIFFERED);
        log_count(&cases, &canaries);
        assert_int_equal(cases, w->runs ? w->runs : 1);
        assert_int_equal(canaries, 0);
        /* a flaky case is a finding, whatever most runs said */
        const bool red = w->verdict == VERDICT_FAIL || w->verdict == VERDICT_ERROR;
        assert_int_equal(conform_findings(&sum), red);
        assert_int_equal(outcome_end(&sum.outcomes) == RUN_FINDING, red);
        /* and the store has what each run said */
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);
        assert_non_null(f);
        assert_int_equal(store_export(o.store, f, &err), STATUS_OK);
        fclose(f);
        const char *at = strstr(text, "\"runs\":");
        assert_non_null(at);
        size_t stored = 0;
        for (const char *v = at; (v = strstr(v, "\\\"verdict\\\":")) != NULL; v++)
            stored++;
        if (!stored) /* nested as JSON, not as text */
            for (const char *v = at; (v = strstr(v, "\"verdict\":")) != NULL; v++)
                stored++;
        assert_int_equal(stored, w->runs);
        free(text);
        store_close(o.store);
    }
}

/* A waiver's case is known: it is run once. */
static void waived_failures_run_once(void **state)
{
    (void)state;
    char path[320];
    static const char text[] =
        "{\"waivers\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"known\", \"expires\": "
        "\"2999-01-01\"}]}";
    const char *device = "script:FP";
    struct seen seen;
    struct conform_summary sum;
    struct error err = {0};
    size_t cases, canaries;
    struct conform_options o = options_for(&device, &seen);
    snprintf(path, sizeof path, "%s/waivers.json", folder);
    assert_int_equal(file_write(path, text, strlen(text), &err), STATUS_OK);
    o.waivers = path;
    o.reruns = 3;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    log_count(&cases, &canaries);
    assert_int_equal(cases, 1);
    assert_string_equal(seen.word, "WAIVED");
}

/* Killed at any moment, and gone on with: each case has its four runs, none is lost or made twice but
 * the one that ran. */
static void killed_among_reruns(void **state)
{
    (void)state;
    const char *device = "script:f";
    struct seen seen;
    struct conform_summary sum = {0};
    struct error err = {0};
    size_t cases, canaries, kills = 0;
    struct conform_options o = options_for(&device, &seen);
    o.filter = "^kernel\\.math";
    o.reruns = 3;
    o.canary_s = 0.05;
    o.journal = journal;
    o.resume = true;
    (void)unlink(journal);
    for (bool whole = false; !whole; kills += !whole) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            _exit(conform_run(&o, &sum, &err) == STATUS_OK ? 0 : 3);
        const struct timespec t = {.tv_nsec = (60 + (long)(37 * kills) % 100) * 1000000};
        nanosleep(&t, NULL);
        int how;
        whole = kills > 40 || waitpid(pid, &how, WNOHANG) == pid;
        if (!whole)
            kill(pid, SIGKILL);
        if (!whole || kills > 40)
            assert_int_equal(waitpid(pid, &how, 0), pid);
        if (whole)
            assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    assert_true(kills >= 2);
    log_count(&cases, &canaries);
    const size_t made = cases;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    log_count(&cases, &canaries);
    assert_int_equal(cases, made); /* all of it was kept */
    assert_int_equal(sum.resumed, sum.total);
    assert_int_equal(seen.runs, 4);
    assert_non_null(strstr(seen.reason, "[FAIL 4 of 4 runs]"));
    assert_true(made >= 4 * sum.total && made <= 4 * sum.total + kills);
    /* more runs asked for: those that there are count */
    o.reruns = 4;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    log_count(&cases, &canaries);
    assert_int_equal(cases, made + sum.total);
    assert_int_equal(seen.runs, 5);
    (void)unlink(journal);
}

/* ---- canaries ----------------------------------------------------------------------------- */

static const struct canary_row {
    const char *device;
    double every_s;
    size_t passed, errors, sick, wrong;
    const char *reason; /* of the last case, part of it */
} canary_rows[] = {
    {"script:P/R", 60, 3, 0, 0, 0, "fine"},
    {"script:P/W", 60, 3, 0, 0, 1, "fine"}, /* wrong from the start: the cases judge it */
    {"script:P/RW", 60, 0, 3, 1, 0,
     "does not count: script:P/RW is sick: its canary gave \"film b\" after \"film a\"; the case "
     "said PASS: fine"},
    {"script:P/RV", 0.000001, 0, 3, 1, 0, "sick"}, /* between: the rest is not run */
    {"script:P/WV", 60, 0, 3, 1, 0, "not run: script:P/WV is sick"},
    {"script:P/WWV", 60, 0, 3, 1, 1, "does not count"},
    {"script:P/XX", 60, 0, 3, 1, 0, "not run"}, /* no answer, twice */
    {"script:P/XR", 60, 3, 0, 0, 0, "fine"},
    {"script:P/RCR", 60, 3, 0, 0, 0, "fine"}, /* one canary may be lost */
    {"script:P/RCW", 60, 0, 3, 1, 0, "does not count"},
    {"script:PEP/R", 60, 2, 1, 0, 0, "fine"},
    {"script:PEP/RW", 60, 0, 3, 1, 0, "not run"}, /* after an ERROR it is asked at once */
    {"script:S/S", 60, 0, 0, 0, 0, "sleeps"},     /* no canary for this device */
};

static void canaries_tell_sick_devices(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof canary_rows / sizeof *canary_rows; i++) {
        const struct canary_row *w = &canary_rows[i];
        struct seen seen;
        struct conform_summary sum;
        struct error err = {0};
        struct conform_options o = options_for(&w->device, &seen);
        o.filter = "^kernel\\.math"; /* three cases */
        o.canary_s = w->every_s;
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
        if (sum.total != 3 || sum.count[VERDICT_PASS] != w->passed ||
            sum.count[VERDICT_ERROR] != w->errors || sum.sick != w->sick ||
            sum.wrong_canaries != w->wrong || !strstr(seen.reason, w->reason))
            fail_msg("%s: %zu pass, %zu error, %zu sick, %zu wrong: %s", w->device,
                     sum.count[VERDICT_PASS], sum.count[VERDICT_ERROR], sum.sick,
                     sum.wrong_canaries, seen.reason);
        assert_int_equal(conform_findings(&sum), w->errors);
        assert_int_equal(seen.sick > 0, w->sick > 0);
    }
}

/* What a sick device said is asked again, and what a well one said is not. */
static void resume_after_sickness(void **state)
{
    (void)state;
    const char *device = "script:P/RWR";
    struct seen seen;
    struct conform_summary sum;
    struct error err = {0};
    size_t cases, canaries;
    struct conform_options o = options_for(&device, &seen);
    o.filter = "^kernel\\.math";
    o.canary_s = 60;
    o.journal = journal;
    o.resume = true;
    (void)unlink(journal);
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(sum.count[VERDICT_ERROR], 3);
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(sum.count[VERDICT_PASS], 3);
    assert_int_equal(sum.resumed, 0);
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(sum.resumed, 3);
    log_count(&cases, &canaries);
    assert_int_equal(cases, 6);
    assert_int_equal(canaries, 4); /* nothing was run the last time, and none asked */
    (void)unlink(journal);
}

/* ---- neighbours, and workers that do nothing ---------------------------------------------- */

static void neighbours_of_a_crash_are_marked(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        unsigned jobs;
        double canary_s;
        size_t shared;
    } rows[] = {
        {"script:cpP", 2, 0, 1},  /* beside it */
        {"script:PCP", 1, 60, 1}, /* just before it */
        {"script:PPP", 2, 60, 0},
        {"script:FEP", 1, 60, 0}, /* an ERROR is no lost worker */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen seen;
        struct conform_summary sum;
        struct error err = {0};
        struct conform_options o = options_for(&rows[i].device, &seen);
        o.filter = "^kernel\\.math";
        o.jobs = rows[i].jobs;
        o.canary_s = rows[i].canary_s;
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
        if (seen.shared != rows[i].shared)
            fail_msg("row %zu: %zu are marked", i, seen.shared);
    }
}

static void idle_workers_are_ended(void **state)
{
    (void)state;
    static const struct {
        const char *device, *reason;
        double inactive_s;
        enum verdict verdict;
    } rows[] = {
        {"fake:hang",
         "no progress: for 0.4 s it said nothing and used no processor time, in phase "
         "run",
         0.4, VERDICT_ERROR},
        {"fake:hang-compile", "in phase compile", 0.4, VERDICT_ERROR},
        {"fake:busy", "fine", 0.4, VERDICT_PASS},     /* a second of work */
        {"fake:compiles", "fine", 0.4, VERDICT_PASS}, /* so does its child */
        {"fake:slow", "fine", 0.4, VERDICT_PASS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen seen;
        struct conform_summary sum;
        struct error err = {0};
        struct conform_options o = options_for(&rows[i].device, &seen);
        const double start = clock_s();
        o.inactive_s = rows[i].inactive_s;
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
        if (seen.verdict != rows[i].verdict || !strstr(seen.reason, rows[i].reason))
            fail_msg("%s: %s", rows[i].device, seen.reason);
        assert_true(clock_s() - start < 15);
    }
}

/* A worker that is ready and gets no processor is not stuck. */
static void starved_workers_are_waited_for(void **state)
{
    (void)state;
    const pid_t other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        cpu_set_t first;
        CPU_ZERO(&first);
        CPU_SET(0, &first);
        if (sched_setaffinity(0, sizeof first, &first) != 0)
            _exit(0); /* this machine has no such processor: the worker has one for itself */
        for (const double end = clock_s() + 2; clock_s() < end;)
            ;
        _exit(0);
    }
    struct seen seen;
    struct conform_summary sum;
    struct error err = {0};
    const char *device = "fake:starved";
    struct conform_options o = options_for(&device, &seen);
    o.inactive_s = 0.4;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(waitpid(other, NULL, 0), other);
    if (seen.verdict != VERDICT_PASS)
        fail_msg("%s", seen.reason);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s/isophote-flakes-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder))
        return 99;
    snprintf(journal, sizeof journal, "%s/journal", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(store_path, sizeof store_path, "%s/s.db", folder);
    setenv("FAKE_LOG", log_path, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_run_again),
        cmocka_unit_test(waived_failures_run_once),
        cmocka_unit_test(killed_among_reruns),
        cmocka_unit_test(canaries_tell_sick_devices),
        cmocka_unit_test(resume_after_sickness),
        cmocka_unit_test(neighbours_of_a_crash_are_marked),
        cmocka_unit_test(idle_workers_are_ended),
        cmocka_unit_test(starved_workers_are_waited_for),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[320];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? failed : 99; /* NOLINT(cert-env33-c) */
}
