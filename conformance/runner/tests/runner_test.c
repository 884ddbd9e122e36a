/* SPDX-License-Identifier: Apache-2.0 */
/* The runner against a worker that misbehaves in every way we know; the journal; selection;
 * waivers. */
#include "conformance.h"
#include "runner/journal.h"
#include "runner/result_text.h"
#include "runner/waivers.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[256];

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_text(const char *path, const char *text)
{
    struct error err = {0};
    assert_int_equal(file_write(path, text, strlen(text), &err), STATUS_OK);
}

static char *read_text(struct arena *a, const char *path)
{
    char *data;
    size_t size;
    struct error err = {0};
    assert_int_equal(file_read(a, path, 0, &data, &size, &err), STATUS_OK);
    return data;
}

/* ---- one case, one device ------------------------------------------------------------------- */

struct seen {
    size_t count;
    enum verdict verdict;
    char reason[512], name[128], why[512];
    double compile_s, run_s;
    size_t images;
};

static void remember(void *ctx, size_t done, size_t total, const char *device,
                     const struct conform_case *c, const struct conform_result *r)
{
    struct seen *s = ctx;
    assert_true(done <= total && device);
    s->count++;
    s->verdict = r->verdict;
    s->images = r->image_count;
    s->compile_s = r->compile_s;
    s->run_s = r->run_s;
    snprintf(s->reason, sizeof s->reason, "%s", r->reason ? r->reason : "");
    snprintf(s->name, sizeof s->name, "%s", c->name);
}

static struct conform_options options_for(const char *const *device, struct seen *seen)
{
    return (struct conform_options){.devices = device,
                                    .device_count = 1,
                                    .filter = "^kernel\\.rng",
                                    .compile_budget_s = 5,
                                    .run_budget_s = 0.4,
                                    .memory_limit = (uint64_t)300 << 20,
                                    .worker = FAKE_WORKER,
                                    .each = remember,
                                    .each_ctx = seen};
}

static void misbehaviour_costs_one_case(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        enum verdict verdict;
        const char *reason; /* part of it */
    } rows[] = {
        {"fake:pass", VERDICT_PASS, "fine"},
        {"fake:fail", VERDICT_FAIL, "pixel (1,2)"},
        {"fake:segv", VERDICT_ERROR, "SIGSEGV (segmentation fault) in phase run"},
        {"fake:abort", VERDICT_ERROR,
         "SIGABRT (abort) in phase run; it said: driver: internal error 42"},
        {"fake:hang", VERDICT_ERROR, "the run budget of 0.4 s ran out"},
        {"fake:slow-compile", VERDICT_PASS, "fine"},
        {"fake:memory", VERDICT_ERROR, "memory blow-up"},
        {"fake:junk", VERDICT_ERROR, "not a report: \"Segmentation fault? no: hello\""},
        {"fake:torn", VERDICT_ERROR, "without a result"},
        {"fake:twice", VERDICT_ERROR, "not a report"},
        {"fake:bad-verdict", VERDICT_ERROR, "expected a verdict"},
        {"fake:flood", VERDICT_ERROR, "longer than 64 MiB"},
        {"fake:status", VERDICT_ERROR, "status 3 in phase run; it said: last words"},
        {"fake:crash-after", VERDICT_ERROR, "SIGSEGV"},
        {"fake:grandchild", VERDICT_PASS, "fine"},
        {"fake:silent", VERDICT_ERROR, "without a result"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen seen = {0};
        struct conform_summary sum;
        struct error err = {0};
        struct conform_options o = options_for(&rows[i].device, &seen);
        double start = clock_s();
        if (strcmp(rows[i].device, "fake:memory") == 0 || strcmp(rows[i].device, "fake:flood") == 0)
            o.run_budget_s = 60;
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
        if (seen.verdict != rows[i].verdict || !strstr(seen.reason, rows[i].reason))
            fail_msg("%s: %s, %s", rows[i].device, verdict_name(seen.verdict), seen.reason);
        assert_int_equal(sum.total, 1);
        assert_int_equal(sum.count[rows[i].verdict], 1);
        assert_int_equal(conform_findings(&sum), rows[i].verdict != VERDICT_PASS);
        assert_true(clock_s() - start < 60);
        if (rows[i].verdict == VERDICT_FAIL)
            assert_int_equal(seen.images, 1);
    }
}

static void find_long(void *ctx, size_t done, size_t total, const char *device,
                      const struct conform_case *c, const struct conform_result *r)
{
    (void)total, (void)device, (void)r;
    if (strcmp(c->name, "invariance.launch.bvh") == 0)
        *(size_t *)ctx = done;
}

/* Where two cases run side by side, one that compiles much is among the first two; alone, and where
 * seconds are counted, cases come by worth. */
static bool all_wanted(void *ctx, const char *device, const struct conform_case *c)
{
    (void)ctx, (void)device, (void)c;
    return true;
}
static void long_cases_begin_first(void **state)
{
    (void)state;
    static const struct {
        unsigned jobs;
        bool counted, first;
    } rows[] = {{2, false, true}, {1, false, false}, {2, true, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *device = "fake:pass";
        size_t place = 0;
        struct conform_summary sum;
        struct error err = {0};
        struct conform_options o = options_for(&device, NULL);
        o.filter = "^(kernel[.](math|rng|bsdf-step)|invariance[.]launch[.]bvh)";
        o.jobs = rows[i].jobs;
        o.run_budget_s = 60;
        o.each = find_long;
        o.each_ctx = &place;
        o.wanted = rows[i].counted ? all_wanted : NULL;
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
        assert_true(sum.total > 8 && place > 0);
        assert_int_equal(place <= 2, rows[i].first);
    }
}

/* Cases begin by their turns, and those of one turn as they would without: here those of the second
 * device come first, and of the first all but the odd ones of its list. */
struct turns {
    size_t count[2];
    const char *names[2][64];
};
static double turn_of(void *ctx, const char *device, const struct conform_case *c)
{
    (void)ctx;
    return strcmp(device, "fake:good") == 0 ? -1 : strlen(c->name) % 2 ? 2 : 0.5;
}
static void note_turn(void *ctx, size_t done, size_t total, const char *device,
                      const struct conform_case *c, const struct conform_result *r)
{
    (void)done, (void)total, (void)r;
    struct turns *t = ctx;
    const int second = strcmp(device, "fake:good") == 0;
    assert_true(second ? t->count[0] == 0 : t->count[1] > 0); /* all of the second came before */
    t->names[second][t->count[second]++] = c->name;
}
static void cases_begin_by_their_turns(void **state)
{
    (void)state;
    const char *devices[] = {"fake:pass", "fake:good"};
    struct turns t = {0};
    struct conform_summary sum;
    struct error err = {0};
    struct conform_options o = options_for(devices, NULL);
    o.device_count = 2;
    o.filter = "^kernel[.](math|rng|bsdf-step)";
    o.jobs = 1;
    o.each = note_turn;
    o.turn = turn_of;
    o.each_ctx = &t;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(t.count[0], t.count[1]);
    assert_int_equal(t.count[0] + t.count[1], sum.total);
    size_t even = 0, at[2] = {0};
    while (even < t.count[0] && strlen(t.names[0][even]) % 2 == 0)
        even++;
    assert_true(even > 0 && even < t.count[0]);
    at[1] = even;
    for (size_t i = 0; i < t.count[1]; i++) /* the second's order is that without turns */
        assert_string_equal(t.names[1][i], t.names[0][at[strlen(t.names[1][i]) % 2]++]);
}

/* Of cases that follow one another in a worker, how many workers there were, and the verdicts. */
static void workers_stay(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        unsigned worker_cases;
        size_t workers, pass, fail, error; /* of nine cases */
        const char *reason;                /* part of the last one that is no PASS */
    } rows[] = {
        {"fake:good", 4, 3, 9, 0, 0, ""},
        {"fake:good", 100, 1, 9, 0, 0, ""},
        {"fake:third-crashes", 100, 3, 6, 0, 3, "SIGSEGV"},
        {"fake:third-fails", 100, 3, 6, 3, 0, "pixel"},
        {"fake:third-hangs", 100, 3, 6, 0, 3, "the run budget of 0.4 s ran out"},
        {"fake:says-more", 100, 9, 0, 0, 9, "not a report"},
        /* only that of a worker's last case can be looked at */
        {"fake:crashes-at-its-end", 3, 3, 6, 0, 3, "SIGSEGV"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct error err = {0};
        struct seen seen = {0};
        struct conform_summary sum;
        char log[64] = "/tmp/isophote-workers-XXXXXX", reason[512] = "";
        const int fd = mkstemp(log);
        assert_true(fd >= 0);
        close(fd);
        setenv("FAKE_LOG", log, 1);
        struct conform_options o = options_for(&rows[i].device, &seen);
        o.filter = "^kernel\\.bsdf-step\\.";
        o.worker_cases = rows[i].worker_cases;
        o.jobs = 1;
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
        unsetenv("FAKE_LOG");
        long last = 0;
        size_t workers = 0;
        const char *text = read_text(&a, log);
        for (const char *at = text; (at = strchr(at, ' ')) != NULL; at = strchr(at + 1, '\n')) {
            const long pid = strtol(at, NULL, 10);
            workers += pid != last;
            last = pid;
        }
        snprintf(reason, sizeof reason, "%s", seen.reason);
        if (workers != rows[i].workers || sum.count[VERDICT_PASS] != rows[i].pass ||
            sum.count[VERDICT_FAIL] != rows[i].fail || sum.count[VERDICT_ERROR] != rows[i].error)
            fail_msg("%s by %u: %zu workers, %zu pass, %zu fail, %zu error, %s", rows[i].device,
                     rows[i].worker_cases, workers, sum.count[VERDICT_PASS],
                     sum.count[VERDICT_FAIL], sum.count[VERDICT_ERROR], seen.reason);
        if (seen.verdict != VERDICT_PASS)
            assert_non_null(strstr(reason, rows[i].reason));
        unlink(log);
        arena_free(&a);
    }
}

/* Until exec a worker is a copy of this process, which may be larger than the worker may be. */
static void memory_of_the_runner_is_not_the_workers(void **state)
{
    (void)state;
    const char *device = "fake:pass";
    struct seen seen = {0};
    struct conform_summary sum;
    struct error err = {0};
    struct conform_options o = options_for(&device, &seen);
    size_t size = o.memory_limit + o.memory_limit / 4;
    char *large = malloc(size);
    assert_non_null(large);
    memset(large, 1, size);
    o.filter = "^kernel[.]hit"; /* each start copies the tables of all that memory */
    o.jobs = 8;
    o.run_budget_s = 60;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_true(sum.total > 20 && large[size / 2] == 1);
    assert_int_equal(sum.count[VERDICT_PASS], sum.total);
    free(large);
}

static void compile_has_a_budget_of_its_own(void **state)
{
    (void)state;
    const char *device = "fake:hang-compile";
    struct seen seen = {0};
    struct conform_summary sum;
    struct error err = {0};
    struct conform_options o = options_for(&device, &seen);
    o.compile_budget_s = 0.3;
    o.run_budget_s = 60;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_non_null(strstr(seen.reason, "the compile budget of 0.3 s ran out"));
    assert_true(seen.compile_s >= 0.3 && seen.compile_s < 30);
    assert_true(seen.run_s < seen.compile_s);
}

static void worker_program_is_missing(void **state)
{
    (void)state;
    const char *device = "fake:pass";
    struct seen seen = {0};
    struct conform_summary sum;
    struct error err = {0};
    struct conform_options o = options_for(&device, &seen);
    o.worker = "/nonexistent/worker";
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_MISSING);
    assert_non_null(strstr(err.msg, "/nonexistent/worker"));
}

/* ---- selection ----------------------------------------------------------------------- */

static size_t select_count(const struct conform_options *o, struct arena *a,
                           const struct conform_case **out)
{
    size_t n = 0;
    struct error err = {0};
    if (conform_select(a, o, out, &n, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    return n;
}

static void shards_partition(void **state)
{
    (void)state;
    struct arena a = {0};
    const struct conform_case *all, *part;
    struct conform_options o = {0};
    size_t total = select_count(&o, &a, &all);
    assert_true(total > 20);
    for (uint32_t n = 1; n <= 7; n += 3) {
        size_t sum = 0;
        unsigned char *hit = ARENA_ARRAY(&a, unsigned char, total);
        for (uint32_t i = 1; i <= n; i++) {
            struct conform_options s = {.shard = i, .shards = n};
            size_t count = select_count(&s, &a, &part);
            sum += count;
            for (size_t k = 0; k < count; k++)
                for (size_t j = 0; j < total; j++)
                    hit[j] += strcmp(all[j].name, part[k].name) == 0;
        }
        assert_int_equal(sum, total);
        for (size_t j = 0; j < total; j++)
            assert_int_equal(hit[j], 1);
    }
    /* the shard of a case does not depend on the filter */
    struct conform_options plain = {.shard = 2, .shards = 3};
    struct conform_options filtered = {.shard = 2, .shards = 3, .filter = "^kernel"};
    size_t n = select_count(&plain, &a, &all), m = select_count(&filtered, &a, &part), kernel = 0;
    for (size_t i = 0; i < n; i++)
        kernel += strcmp(all[i].level, "kernel") == 0;
    assert_int_equal(kernel, m);
    arena_free(&a);
}

static void bad_selections_are_refused(void **state)
{
    (void)state;
    struct arena a = {0};
    const struct conform_case *out = NULL;
    size_t n = 7;
    struct error err = {0};
    const char *level = "pixel";
    const struct conform_options bad[] = {{.filter = "image.(strict"},
                                          {.shard = 4, .shards = 3},
                                          {.shards = 3},
                                          {.levels = &level, .level_count = 1}};
    static const char *const words[] = {"regular expression", "shard", "shard", "pixel"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(conform_select(&a, &bad[i], &out, &n, &err), STATUS_TYPE);
        assert_non_null(strstr(err.msg, words[i]));
        assert_int_equal(n, 7);
    }
    const char *list = in_folder("list.txt");
    write_text(list, "# a list\nkernel.rng.philox # with a remark\n\n  kernel.rnd\n");
    struct conform_options o = {.list = list};
    assert_int_equal(conform_select(&a, &o, &out, &n, &err), STATUS_TYPE);
    assert_int_equal(err.line, 4);
    assert_non_null(strstr(err.msg, "kernel.rnd"));
    write_text(list, "kernel.rng.philox\n");
    assert_int_equal(select_count(&o, &a, &out), 1);
    struct conform_options absent = {.list = "nolist"};
    assert_int_equal(conform_select(&a, &absent, &out, &n, &err), STATUS_MISSING);
    arena_free(&a);
}

/* Every case of the tables and the library is in core.txt: a case that nobody runs finds nothing.
 * Of the level shader's generated and built-in programs core holds a choice; --suite all runs them.
 */
/* What runs is ended without a result; what has failed is told. */
static void the_deadline_ends_a_run(void **state)
{
    (void)state;
    static const char *const devices[] = {"fake:fail", "fake:hang"};
    struct seen seen = {0};
    struct conform_summary sum;
    struct error err = {0};
    struct conform_options o = options_for(devices, &seen);
    const double begin = clock_s();
    o.device_count = 2;
    o.by_case = true;
    o.jobs = 2;
    o.run_budget_s = 60;
    o.reruns = 100000; /* it is at one of them then */
    o.deadline = begin + 2;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_true(clock_s() - begin < 30);
    assert_int_equal(sum.total, 1);
    assert_int_equal(sum.count[VERDICT_FAIL], 1);
    assert_int_equal(seen.count, 1);
    o.deadline = begin; /* it is over already */
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(sum.total, 0);
}

static void core_list_is_whole(void **state)
{
    (void)state;
    struct arena a = {0};
    const struct conform_case *all, *core;
    size_t count;
    struct error err = {0};
    if (conform_cases(&a, NULL, 0, &all, &count, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    struct conform_options o = {0};
    size_t listed = select_count(&o, &a, &core), found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < listed && strcmp(core[k].name, all[i].name) != 0)
            k++;
        if (k < listed)
            found++;
        else if (strcmp(all[i].level, "shader") != 0 &&
                 strncmp(all[i].name, "image.relations.", 16) != 0) /* with --suite all alone */
            fail_msg("%s is not in lists/core.txt", all[i].name);
        if (strncmp(all[i].name, "shader.golden.", 14) == 0) /* C beside them is tests' own */
            assert_true(path_ends(all[i].scene, ".asl"));
    }
    assert_int_equal(found, listed);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(all[i].name, all[j].name);
    arena_free(&a);
}

static void user_scenes_get_cases_of_their_own(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const struct conform_case *out;
    assert_int_equal(dir_make(in_folder("mine"), &err), STATUS_OK);
    write_text(in_folder("mine/cornell.json"), "{}");
    write_text(in_folder("mine/my room.json"), "{}");
    const char *scenes[] = {arena_strdup(&a, in_folder("mine/cornell.json")),
                            arena_strdup(&a, in_folder("mine/my room.json"))};
    struct conform_options o = {.scenes = scenes, .scene_count = 2, .filter = "^image\\.strict\\."};
    size_t n = select_count(&o, &a, &out);
    const char *first = NULL, *second = NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(out[i].name, "image.strict.cornell-2") == 0)
            first = out[i].scene;
        if (strcmp(out[i].name, "image.strict.my_room") == 0)
            second = out[i].scene;
    }
    assert_non_null(first);
    assert_string_equal(first, scenes[0]);
    assert_non_null(second);
    arena_free(&a);
}

/* ---- journal and resume -------------------------------------------------------------- */

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        n++;
    return n;
}

static size_t count_results(const char *text)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, "\n{\"case\":")); p++)
        n++;
    return n;
}

static void resume_after_kill(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *journal = arena_strdup(&a, in_folder("kill.journal"));
    const char *log = arena_strdup(&a, in_folder("kill.log"));
    const char *device = "fake:slow";
    struct seen seen = {0};
    struct conform_options o = options_for(&device, &seen);
    const struct conform_case *cases;
    o.filter = NULL;
    o.journal = journal;
    o.run_budget_s = 60;
    o.jobs = 2;
    size_t total = select_count(&o, &a, &cases);
    setenv("FAKE_LOG", log, 1);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct conform_summary sum;
        conform_run(&o, &sum, NULL);
        _exit(0);
    }
    /* the journal grows while the run goes on; kill it in the middle */
    struct stat st;
    for (int i = 0; i < 2000 && (stat(journal, &st) != 0 || st.st_size < 6000); i++)
        usleep(5000);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    while (wait(NULL) > 0) /* its workers die with it; orphans come to us */
        ;
    size_t finished = count_results(read_text(&a, journal));
    assert_true(finished > 0 && finished < total);
    struct conform_summary sum;
    struct error err = {0};
    o.resume = true;
    unlink(log);
    if (conform_run(&o, &sum, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(sum.total, total);
    assert_int_equal(sum.count[VERDICT_PASS], total);
    assert_int_equal(sum.resumed, finished);
    assert_int_equal(count_lines(read_text(&a, log)), total - finished);
    assert_int_equal(count_results(read_text(&a, journal)), total);
    /* all is done: nothing runs */
    unlink(log);
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(sum.resumed, total);
    assert_int_not_equal(access(log, F_OK), 0);
    unsetenv("FAKE_LOG");
    arena_free(&a);
}

/* A result of a device with a compiler. */
static struct conform_result made_by(struct arena *a, const char *compiler)
{
    struct identity *device = identity_new(a, "device"), *id = identity_new(a, "case");
    identity_add(device, "compiler", compiler);
    identity_add_of(id, identity_close(device, NULL));
    return (struct conform_result){.verdict = VERDICT_FAIL,
                                   .reason = "a \"quoted\"\nreason",
                                   .replay = "isophote replay",
                                   .compile_s = 1,
                                   .run_s = 2.5,
                                   .identity = identity_close(id, NULL)};
}

/* What a forger does: the sums of all lines, reckoned anew. */
static char *summed(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text), before[33] = "";
    for (char *line = copy, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        struct hash *h = hash_open();
        hash_add(h, before, strlen(before));
        hash_add(h, line, (size_t)(end - line) - strlen(",\"sum\":\"\"}") - 32);
        hash_close(h, before);
        memcpy(end - 2 - 32, before, 32);
    }
    return copy;
}

static void torn_journals(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const char *path = arena_strdup(&a, in_folder("torn.journal"));
    struct journal *j;
    const struct conform_result r = made_by(&a, "gcc"), other_r = made_by(&a, "clang");
    assert_int_equal(journal_open(path, false, &j, &err), STATUS_OK);
    assert_int_equal(journal_add(j, "image.a", "native", 0, &r, &err), STATUS_OK);
    assert_int_equal(journal_add(j, "image.b", "native", 0, &r, &err), STATUS_OK);
    /* a second run on the same journal is refused */
    struct journal *other;
    assert_int_equal(journal_open(path, true, &other, &err), STATUS_LIMIT);
    journal_close(j);
    const char *whole = read_text(&a, path), *line = whole;
    size_t size = strlen(whole), lines[5] = {0}; /* a header, two identities, two results */
    assert_int_equal(count_lines(whole), 5);
    for (size_t i = 0; i < 5; i++) {
        line = strchr(line, '\n') + 1;
        lines[i] = (size_t)(line - whole);
    }
    assert_int_equal(lines[4], size);
    for (size_t cut = 0; cut <= size; cut++) { /* torn at every byte */
        char *part = arena_strndup(&a, whole, cut);
        write_text(path, part);
        if (journal_open(path, true, &j, &err) != STATUS_OK)
            fail_msg("cut at %zu: %s", cut, err.msg);
        const struct journal_entry *found = journal_find(j, "image.a", "native", NULL);
        assert_int_equal(found != NULL, cut >= lines[3]);
        assert_int_equal(journal_find(j, "image.b", "native", NULL) != NULL, cut >= size);
        assert_null(journal_find(j, "image.b", "opencl:0", NULL));
        if (found) {
            assert_int_equal(found->result.verdict, VERDICT_FAIL);
            assert_string_equal(found->result.reason, r.reason);
            assert_true(found->result.run_s == 2.5);
            assert_string_equal(found->result.identity->key, r.identity->key);
            assert_string_equal(found->result.identity->parts[0].of->parts[0].value, "gcc");
        }
        assert_int_equal(journal_add(j, "image.c", "native", 0, &r, &err), STATUS_OK);
        assert_int_equal(journal_add(j, "image.c", "native", 0, &other_r, &err), STATUS_OK);
        journal_close(j);
        assert_int_equal(journal_open(path, true, &j, &err), STATUS_OK);
        const struct journal_entry *newest = journal_find(j, "image.c", "native", NULL);
        assert_string_equal(newest->result.identity->key, other_r.identity->key);
        const struct journal_entry *older = journal_find(j, "image.c", "native", newest);
        assert_string_equal(older->result.identity->key, r.identity->key);
        assert_null(journal_find(j, "image.c", "native", older));
        journal_close(j);
    }
    write_text(path, arena_printf(&a, "%.*sjunk\n%s", (int)lines[0], whole, whole + lines[0]));
    assert_int_equal(journal_open(path, true, &j, &err), STATUS_PARSE);
    assert_int_equal(err.line, 2);
    /* a verdict, a key, a line less, twice, at another place */
    char *forged = arena_strdup(&a, whole);
    char *verdict = strstr(forged, "FAIL");
    for (size_t i = 0; i < 4; i++)
        verdict[i] = "PASS"[i];
    const struct {
        const char *text;
        uint32_t line;
    } edits[] = {
        {forged, 4},
        {arena_printf(&a, "%.*s%s", (int)lines[2], whole, whole + lines[3]), 4},
        {arena_printf(&a, "%s%s", whole, whole + lines[3]), 6},
        {arena_printf(&a, "%.*s%s%.*s", (int)lines[2], whole, whole + lines[3],
                      (int)(lines[3] - lines[2]), whole + lines[2]),
         4},
        {arena_printf(&a, "{\"journal\":4}\n%s", whole + lines[0]), 1},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        write_text(path, edits[i].text);
        assert_int_equal(journal_open(path, true, &j, &err), STATUS_TYPE);
        assert_non_null(strstr(err.msg, "not what was written behind the line before"));
        assert_int_equal(err.line, edits[i].line);
        assert_string_equal(read_text(&a, path), edits[i].text);
    }
    /* a key that is not of its parts; a result whose identity is nowhere; by who knows of sums */
    forged = arena_strdup(&a, whole);
    *strstr(forged, "gcc") = 'i';
    write_text(path, summed(&a, forged));
    assert_int_equal(journal_open(path, true, &j, &err), STATUS_TYPE);
    assert_non_null(strstr(err.msg, "is not that of these parts"));
    write_text(path,
               summed(&a, arena_printf(&a, "%.*s%s", (int)lines[0], whole, whole + lines[2])));
    assert_int_equal(journal_open(path, true, &j, &err), STATUS_TYPE);
    assert_non_null(strstr(err.msg, "no line above has the identity"));
    static const char *const foreign[] = {"{\"answer\": 42}\n",
                                          "{\"journal\":1,\"program\":\"p\"}\n"};
    for (size_t i = 0; i < 2; i++) {
        write_text(path, foreign[i]);
        assert_int_equal(journal_open(path, true, &j, &err), STATUS_TYPE);
        assert_non_null(strstr(err.msg, "not a conformance journal of version 4"));
    }
    assert_int_equal(journal_open(in_folder("no/such/folder"), true, &j, &err), STATUS_IO);
    arena_free(&a);
}

/* The last reason for which a case was run again, in seen. */
static void note_again(void *ctx, const char *device, const struct conform_case *c, const char *why)
{
    struct seen *s = ctx;
    assert_true(device && c);
    snprintf(s->why, sizeof s->why, "%s", why);
}

/* Every part of an identity, changed by itself between two runs. */
static void resume_goes_by_the_identity(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const char *device = "fake:reads", *scene = arena_strdup(&a, in_folder("resumed.json")),
               *texture = arena_strdup(&a, in_folder("resumed.png"));
    write_text(scene, "{}");
    write_text(texture, "wood");
    struct seen seen = {0};
    struct conform_options o = options_for(&device, &seen);
    struct conform_summary sum;
    o.filter = "^image\\.strict\\.resumed$";
    o.scenes = &scene;
    o.scene_count = 1;
    o.run_budget_s = 60;
    o.journal = arena_strdup(&a, in_folder("resumed.journal"));
    o.resume = true;
    o.again = note_again;
    const struct {
        const char *file, *text, *variable, *why; /* why NULL: taken from the journal */
    } rows[] = {
        {NULL, NULL, NULL, NULL},
        {texture, "steel", NULL, "inputs resumed.png was "},
        {NULL, NULL, NULL, NULL},
        {scene, "{ }", NULL, "inputs resumed.json was "},
        {NULL, NULL, "ISOPHOTE_CC", "environment ISOPHOTE_CC was not there, is other"},
        {NULL, NULL, "ISOPHOTE_CC", NULL},
        {NULL, NULL, NULL, NULL}, /* what was before is in the journal still */
        {texture, "wood", NULL,
         "environment ISOPHOTE_CC was other, is not there; inputs resumed.png was "},
        {texture, NULL, NULL, "inputs resumed.png was "}, /* away */
    };
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(sum.total, 1);
    assert_int_equal(sum.count[VERDICT_PASS], 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].file && rows[i].text)
            write_text(rows[i].file, rows[i].text);
        else if (rows[i].file)
            unlink(rows[i].file);
        if (rows[i].variable)
            setenv(rows[i].variable, "other", 1);
        seen.why[0] = '\0';
        if (conform_run(&o, &sum, &err) != STATUS_OK)
            fail_msg("row %zu: %s", i, err.msg);
        if (rows[i].variable)
            unsetenv(rows[i].variable);
        if (sum.resumed != (rows[i].why == NULL) || sum.again != (rows[i].why != NULL) ||
            strncmp(seen.why, rows[i].why ? rows[i].why : "",
                    strlen(rows[i].why ? rows[i].why : "")) != 0)
            fail_msg("row %zu: %zu resumed, '%s'", i, sum.resumed, seen.why);
    }
    arena_free(&a);
}

/* What a crash had read by then is known too. */
static void resume_knows_what_a_crash_had_read(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const char *device = "fake:reads-and-dies", *scene = arena_strdup(&a, in_folder("dying.json")),
               *texture = arena_strdup(&a, in_folder("resumed.png"));
    write_text(scene, "{}");
    write_text(texture, "wood");
    struct seen seen = {0};
    struct conform_options o = options_for(&device, &seen);
    struct conform_summary sum;
    o.filter = "^image\\.strict\\.dying$";
    o.scenes = &scene;
    o.scene_count = 1;
    o.run_budget_s = 60;
    o.journal = arena_strdup(&a, in_folder("dying.journal"));
    o.resume = true;
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            write_text(texture, "steel");
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
        assert_int_equal(sum.count[VERDICT_ERROR], 1);
        assert_int_equal(sum.resumed, i == 1);
    }
    arena_free(&a);
}

static void interrupt_now(void *ctx, size_t done, size_t total, const char *device,
                          const struct conform_case *c, const struct conform_result *r)
{
    (void)ctx, (void)total, (void)device, (void)c, (void)r;
    if (done == 3)
        cancel_requested = 1;
}

static void interrupt_keeps_the_journal(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *device = "fake:slow";
    struct seen seen = {0};
    struct conform_options o = options_for(&device, &seen);
    struct conform_summary sum = {0};
    struct error err = {0};
    o.filter = NULL;
    o.journal = arena_strdup(&a, in_folder("interrupt.journal"));
    o.each = interrupt_now;
    o.run_budget_s = 60;
    enum status s = conform_run(&o, &sum, &err);
    cancel_requested = 0;
    assert_int_equal(s, STATUS_CANCELLED);
    assert_int_equal(sum.total, 3);
    assert_int_equal(count_results(read_text(&a, o.journal)), 3);
    arena_free(&a);
}

/* ---- waivers ------------------------------------------------------------------------- */

static void waivers_apply(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *path = arena_strdup(&a, in_folder("waivers.json"));
    struct seen seen = {0};
    struct conform_summary sum;
    struct error err = {0};
    const char *failing = "fake:fail", *passing = "fake:pass";
    write_text(path, "{\"waivers\": [{\"device\": \"fake:*\", \"case\": \"kernel.*\", \"reason\": "
                     "\"known\", \"expires\": \"2999-01-01\"},\n {\"device\": \"*\", \"case\": "
                     "\"*\", \"reason\": \"old\", \"expires\": \"2020-01-01\"}]}");
    struct conform_options o = options_for(&failing, &seen);
    o.waivers = path;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(sum.waived, 1);
    assert_int_equal(sum.expired_waivers, 1);
    assert_int_equal(conform_findings(&sum), 0);
    assert_int_equal(seen.verdict, VERDICT_FAIL);
    assert_non_null(strstr(seen.reason, "waived until 2999-01-01: known"));
    o.devices = &passing;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(sum.unexpected_pass, 1);
    assert_non_null(strstr(seen.reason, "unexpected pass"));
    /* expired only: the failure is a finding again */
    write_text(path, "{\"waivers\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"old\", "
                     "\"expires\": \"2020-01-01\"}]}");
    o.devices = &failing;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(conform_findings(&sum), 1);
    static const char *const bad[] = {
        "[]",
        "{\"waivers\": 3}",
        "{\"waivers\": [{}]}",
        "{\"waivers\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"\", \"expires\": "
        "\"2020-01-01\"}]}",
        "{\"waivers\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"x\", \"expires\": "
        "\"soon\"}]}",
        "{\"waivers\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"x\", \"expires\": "
        "\"2020-13-01\"}]}",
        "{\"waivers\": [{\"device\": \"*\", \"test\": \"*\"}]}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text(path, bad[i]);
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_TYPE);
        assert_true(err.line > 0);
    }
    arena_free(&a);
}

/* lists/waivers.json: that driver and those before it, of that device, in those modes. */
static void known_defects_are_waived(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct waivers w;
    const char *path, *intel = "AMD EPYC, Intel(R) OpenCL", *known = "2026.22.10.0.01_160000",
                      *julia = "shader.library.julia.mode-device";
    assert_int_equal(data_path(&a, "conformance/lists/waivers.json", &path, &err), STATUS_OK);
    assert_int_equal(waivers_read(&a, path, "2026-11-28", &w, &err), STATUS_OK);
    assert_int_equal(w.expired, 0);
    assert_non_null(waiver_find(&w, "opencl:1", intel, known, julia));
    assert_null(waiver_find(&w, "opencl:1", intel, "2026.22.11.0.01_160000", julia));
    assert_null(waiver_find(&w, "opencl:1", intel, known, "shader.library.julia.device"));
    assert_null(waiver_find(&w, "opencl:0", "AMD EPYC, Portable Computing Language", known, julia));
    assert_int_equal(waivers_read(&a, path, "2099-01-01", &w, &err), STATUS_OK);
    assert_int_equal(w.expired, w.count);
    arena_free(&a);
}

struct reasons {
    const char *part;
    size_t count; /* of results with that part in their reason */
};
static void count_reasons(void *ctx, size_t done, size_t total, const char *device,
                          const struct conform_case *c, const struct conform_result *r)
{
    (void)done, (void)total, (void)device, (void)c;
    struct reasons *n = ctx;
    n->count += r->reason && strstr(r->reason, n->part);
}

/* What is not in the list, or too often, is a finding; what is expected and passes is none. */
static void skips_expected(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *path = arena_strdup(&a, in_folder("skips.json"));
    struct reasons reasons = {0};
    struct conform_summary sum;
    struct error err = {0};
    static const char one[] = "fake:skip", two[] = "fake:skip"; /* told apart by their place */
    const char *devices[] = {one, two, "fake:pass"};
    struct conform_options o = options_for(devices, NULL);
    o.filter = "^kernel\\.math"; /* three cases, on each of two devices */
    o.skips = path;
    o.each = count_reasons;
    o.each_ctx = &reasons;
    static const struct {
        const char *text;
        size_t findings;
        const char *reason;
    } rows[] = {
        {"{\"skips\": []}", 6, "the device sleeps [unexpected: not in "},
        {"{\"skips\": [{\"device\": \"fake:*\", \"case\": \"kernel.*\", \"reason\": \"*sleeps\"}]}",
         0, "unexpected"},
        {"{\"skips\": [{\"device\": \"*\", \"case\": \"kernel.math.exact\", \"reason\": \"*\"}]}",
         4, "[unexpected: not in "},
        {"{\"skips\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"the scene*\"}]}", 6,
         "[unexpected: not in "},
        {"{\"skips\": [{\"device\": \"opencl:*\", \"case\": \"*\", \"reason\": \"*\"}]}", 6,
         "[unexpected: not in "},
        {"{\"skips\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"*\", \"at_most\": 2}]}",
         2, "has at most 2]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_text(path, rows[i].text);
        o.device_count = 2;
        reasons = (struct reasons){.part = rows[i].reason};
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
        assert_int_equal(sum.count[VERDICT_SKIP], 6);
        assert_int_equal(sum.unexpected_skip, rows[i].findings);
        assert_int_equal(conform_findings(&sum), rows[i].findings);
        assert_int_equal(reasons.count, rows[i].findings);
    }
    o.devices = &devices[2];
    o.device_count = 1;
    assert_int_equal(conform_run(&o, &sum, &err), STATUS_OK);
    assert_int_equal(conform_findings(&sum), 0);
    static const char *const bad[] = {
        "[]",
        "{\"skips\": [{\"device\": \"*\", \"case\": \"*\"}]}",
        "{\"skips\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": 3}]}",
        "{\"skips\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"*\", \"at_most\": -1}]}",
        "{\"skips\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"*\", \"at_most\": 1.5}]}",
        "{\"skips\": [{\"device\": \"*\", \"case\": \"*\", \"reason\": \"*\", \"most\": 1}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text(path, bad[i]);
        assert_int_equal(conform_run(&o, &sum, &err), STATUS_TYPE);
        assert_true(err.line > 0);
    }
    arena_free(&a);
}

static void driver_ranges(void **state)
{
    (void)state;
    assert_true(version_compare("3.9", "3.10") < 0);
    assert_true(version_compare("3.10", "3.9") > 0);
    assert_int_equal(version_compare("1.02", "1.2"), 0);
    assert_true(version_compare("1.2", "1.2.1") < 0);
    assert_true(version_compare("1.2-a", "1.2-b") < 0);
    assert_true(version_compare("99999999999999999999", "100000000000000000000") < 0);
    struct waiver v = {.device = "opencl:*",
                       .test = "image.*",
                       .driver_min = "3.0",
                       .driver_max = "3.1",
                       .reason = "r",
                       .expires = "2999-01-01"};
    struct waivers w = {&v, 1, 0};
    assert_non_null(waiver_find(&w, "opencl:0", "pocl", "3.1", "image.strict.cornell"));
    assert_null(waiver_find(&w, "opencl:0", "pocl", "3.2", "image.strict.cornell"));
    assert_null(waiver_find(&w, "opencl:0", "pocl", "2.9", "image.strict.cornell"));
    assert_null(waiver_find(&w, "native", "cpu", "3.1", "image.strict.cornell"));
    assert_null(waiver_find(&w, "opencl:0", "pocl", "3.1", "kernel.rng"));
    v.device = "Intel*";
    assert_non_null(waiver_find(&w, "opencl:1", "Intel(R) Xeon", "3.0.5", "image.x"));
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s/isophote-runner-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder))
        return 99;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driver_ranges),
        cmocka_unit_test(long_cases_begin_first),
        cmocka_unit_test(cases_begin_by_their_turns),
        cmocka_unit_test(misbehaviour_costs_one_case),
        cmocka_unit_test(workers_stay),
        cmocka_unit_test(memory_of_the_runner_is_not_the_workers),
        cmocka_unit_test(compile_has_a_budget_of_its_own),
        cmocka_unit_test(worker_program_is_missing),
        cmocka_unit_test(shards_partition),
        cmocka_unit_test(bad_selections_are_refused),
        cmocka_unit_test(core_list_is_whole),
        cmocka_unit_test(the_deadline_ends_a_run),
        cmocka_unit_test(user_scenes_get_cases_of_their_own),
        cmocka_unit_test(torn_journals),
        cmocka_unit_test(resume_goes_by_the_identity),
        cmocka_unit_test(resume_knows_what_a_crash_had_read),
        cmocka_unit_test(resume_after_kill),
        cmocka_unit_test(interrupt_keeps_the_journal),
        cmocka_unit_test(waivers_apply),
        cmocka_unit_test(known_defects_are_waived),
        cmocka_unit_test(skips_expected),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? failed : 98;
}
