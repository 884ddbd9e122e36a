/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps on the native device, small: strategies, refused sizes, resume, and what is said at the
 * end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench.h"

static const struct bench_subject subject = {
    .scene_path = SOURCE_DIR "/scenes/library/furnace.json",
    .device = "native",
    .job = {.width = 24,
            .height = 24,
            .sample_count = 2,
            .max_depth = 3,
            .set.build.mode = MODE_STRICT},
};

struct seen {
    size_t count[VERDICT_COUNT], total;
    size_t stop_after; /* asks to stop after so many rows; 0: never */
};

static void see(void *ctx, const struct bench_record *row)
{
    struct seen *s = ctx;
    s->count[row->verdict]++;
    if (++s->total == s->stop_after)
        cancel_requested = 1;
}

static enum status sweep(struct sweep_options *o, struct seen *seen, struct arena *a,
                         const char **best)
{
    struct error err = {0};
    *seen = (struct seen){.stop_after = seen->stop_after};
    o->bench.judge = true;
    o->bench.budget_s = 0.5;
    o->bench.each = see;
    o->bench.ctx = seen;
    enum status st = sweep_run(&subject, 1, o, a, best, &err);
    cancel_requested = 0;
    if (st && st != STATUS_CANCELLED)
        fail_msg("%s", err.msg);
    return st;
}

static void refused_sizes_are_rows(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *const groups[] = {"1x1", "8x8", "70000x1", "5x3"};
    const struct sweep_axis axis = {"work-group", groups, 4};
    struct sweep_options o = {.axes = &axis, .axis_count = 1};
    struct seen seen = {0};
    const char *best = NULL;
    assert_int_equal(sweep(&o, &seen, &a, &best), STATUS_OK);
    assert_int_equal(seen.count[VERDICT_PASS], 3);
    assert_int_equal(seen.count[VERDICT_SKIP], 1);
    assert_non_null(strstr(best, "furnace on native, strict: best"));
    arena_free(&a);
}

/* Programs that a device has not are rows too, and each has its command and its name. */
static void programs_are_lanes(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *const groups[] = {"8x8"}, *const registers[] = {"auto", "64"},
                      *const caches[] = {"auto", "l1"};
    const struct sweep_axis axes[] = {
        {"work-group", groups, 1}, {"registers", registers, 2}, {"cache", caches, 2}};
    struct sweep_options o = {.axes = axes, .axis_count = 3};
    struct seen seen = {0};
    const char *best = NULL;
    assert_int_equal(sweep(&o, &seen, &a, &best), STATUS_OK);
    assert_int_equal(seen.count[VERDICT_PASS], 2); /* native ignores a limit of registers, */
    assert_int_equal(seen.count[VERDICT_SKIP], 2); /* and prefers no memory */
    arena_free(&a);
}

static void strategies(void **state)
{
    (void)state;
    struct arena a = {0};
    struct sweep_axis axis = {.name = "work-group"};
    const char *const rules[] = {"items<=64"};
    struct sweep_options o = {.axes = &axis,
                              .axis_count = 1,
                              .constraints = rules,
                              .constraint_count = 1,
                              .strategy = SWEEP_RANDOM,
                              .random_count = 5,
                              .random_seed = 3};
    struct seen seen = {0};
    const char *best;
    assert_int_equal(sweep(&o, &seen, &a, &best), STATUS_OK);
    assert_int_equal(seen.total, 5);
    /* x and y in 1, 2 ... 32 with at most 64 items: 6 + 6 + 5 + 4 + 3 + 2; odd shapes up to 64
     * items: 3x3, 5x7, 7x5, 31x1 */
    o.strategy = SWEEP_HALVING;
    assert_int_equal(sweep(&o, &seen, &a, &best), STATUS_OK);
    assert_int_equal(seen.total, 26 + 4);
    assert_int_equal(seen.count[VERDICT_PASS], 30);
    arena_free(&a);
}

static void a_sweep_goes_on(void **state)
{
    (void)state;
    char path[] = "/tmp/isophote-sweep-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct arena a = {0};
    struct error err = {0};
    struct store *store;
    struct run_record run = {.kind = "sweep"};
    assert_int_equal(store_open(path, false, &store, &err), STATUS_OK);
    assert_int_equal(store_add_run(store, &run, &err), STATUS_OK);
    const char *const groups[] = {"1x1", "2x2", "4x4", "8x8", "70000x1"}, *const bvhs[] = {"bvh2",
                                                                                           "bvh8"};
    const struct sweep_axis axes[] = {{"work-group", groups, 5}, {"bvh", bvhs, 2}};
    struct sweep_options o = {
        .axes = axes, .axis_count = 2, .bench = {.store = store, .run = run.id}};
    struct seen seen = {.stop_after = 6};
    const char *best;
    assert_int_equal(sweep(&o, &seen, &a, &best), STATUS_CANCELLED);
    size_t before = seen.total, n, device_count;
    assert_true(before >= 6 && before < 10);
    seen.stop_after = 0;
    o.resume = true;
    assert_int_equal(sweep(&o, &seen, &a, &best), STATUS_OK);
    assert_int_equal(seen.total, 10 - before);
    struct bench_record *rows;
    struct device_record *devices;
    assert_int_equal(store_bench_rows(store, &a, run.id, &rows, &n, &err), STATUS_OK);
    assert_int_equal(n, 10);
    assert_int_equal(store_devices(store, &a, run.id, &devices, &device_count, &err), STATUS_OK);
    assert_int_equal(device_count, 1);
    store_close(store);
    unlink(path);
    arena_free(&a);
}

/* A setting that could not be timed is not one that the store has. */
static void a_sweep_runs_errors_again(void **state)
{
    (void)state;
    char path[] = "/tmp/isophote-sweep-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct arena a = {0};
    struct error err = {0};
    struct store *store;
    struct run_record runs[2] = {{.kind = "sweep"}, {.kind = "sweep"}};
    const char *const groups[] = {"1x1", "2x2", "4x4"}, *best;
    const struct sweep_axis axes[] = {{"work-group", groups, 3}};
    struct seen seen = {0};
    struct bench_record *rows;
    size_t n;
    assert_int_equal(store_open(path, false, &store, &err), STATUS_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(store_add_run(store, &runs[i], &err), STATUS_OK);
    struct sweep_options o = {
        .axes = axes, .axis_count = 1, .bench = {.store = store, .run = runs[0].id}};
    assert_int_equal(sweep(&o, &seen, &a, &best), STATUS_OK);
    assert_int_equal(store_bench_rows(store, &a, runs[0].id, &rows, &n, &err), STATUS_OK);
    assert_int_equal(n, 3);
    rows[1].verdict = VERDICT_ERROR;
    rows[1].reason = "3 of 3 repetitions were throttled (too hot), and none is left: no rate";
    rows[1].samples_per_s = rows[1].interval[0] = rows[1].interval[1] = rows[1].noise = 0;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(store_add_bench(store, runs[1].id, &rows[i], &err), STATUS_OK);
    o.resume = true;
    o.bench.run = runs[1].id;
    assert_int_equal(sweep(&o, &seen, &a, &best), STATUS_OK);
    assert_int_equal(seen.total, 1);
    assert_int_equal(seen.count[VERDICT_PASS], 1);
    assert_int_equal(sweep(&o, &seen, &a, &best), STATUS_OK);
    assert_int_equal(seen.total, 0);
    store_close(store);
    unlink(path);
    arena_free(&a);
}

static void bad_scenes_stop_the_whole(void **state)
{
    (void)state;
    char path[] = "/tmp/isophote-scene-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\n  \"oops\"", 10), 10);
    close(fd);
    struct bench_subject bad = subject;
    bad.scene_path = path;
    struct bench_options o = {.judge = true};
    struct error err = {0};
    assert_int_equal(bench_run(&bad, 1, &o, &err), STATUS_PARSE);
    assert_int_equal(err.line, 2);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_sizes_are_rows),
        cmocka_unit_test(programs_are_lanes),
        cmocka_unit_test(strategies),
        cmocka_unit_test(a_sweep_goes_on),
        cmocka_unit_test(a_sweep_runs_errors_again),
        cmocka_unit_test(bad_scenes_stop_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
