/* SPDX-License-Identifier: Apache-2.0 */
/* The Level Zero back end through the real loader, with its validation layer, on the software
 * device: strict pictures have native's bits for any launch setting, refusals carry numbers, kept
 * binaries are used, a checked device finds nothing, and what is absent or broken is said. Each
 * group runs in a process of its own, because the loader reads the environment once. Exit status 77
 * where there is no loader. */
#include "api/backend_api.h"
#include "tests/test_scenes.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct backend_api level_zero_api;

enum { WIDTH = 45, HEIGHT = 37, SPP = 3 };
static char findings_path[64];

/* ---- devices ------------------------------------------------------------------------------- */

struct gathered {
    struct device_info found[4];
    size_t count;
    struct text problems;
};
static void on_found(void *ctx, const struct device_info *info)
{
    struct gathered *g = ctx;
    if (g->count < 4)
        g->found[g->count++] = *info;
}
static void on_problem(void *ctx, const char *text)
{
    struct gathered *g = ctx;
    text_printf(&g->problems, "%s\n", text);
}
static struct gathered gather(void)
{
    struct gathered g = {.count = 0};
    assert_int_equal(level_zero_api.enumerate(on_found, on_problem, &g, NULL), STATUS_OK);
    return g;
}

static void the_device_describes_itself(void **state)
{
    (void)state;
    struct gathered g = gather();
    if (g.count != 1)
        fail_msg("%zu devices; problems: %s", g.count, g.problems.data ? g.problems.data : "none");
    const struct device_info *d = &g.found[0];
    assert_string_equal(d->id, "level_zero:0");
    assert_string_equal(d->name, "Isophote's software device");
    assert_string_equal(d->driver, "1.0.0");
    assert_string_equal(d->version, "Level Zero 1.3");
    assert_true(d->spirv && d->fp64 && !d->subgroups);
    assert_int_equal(d->max_work_group, 1024);
    assert_true(d->global_bytes > 0 && d->max_alloc_bytes > 0 && d->compute_units > 0);
    assert_null(g.problems.data);
}

/* ---- pictures ------------------------------------------------------------------------------ */

static enum status picture(struct device *d, const struct scene *s, struct settings set,
                           uint32_t spp, char hash[33], struct render_times *times,
                           struct error *err)
{
    struct film film = {0};
    assert_int_equal(film_init(&film, WIDTH, HEIGHT, film_exponent(s), err), STATUS_OK);
    struct render_job job = {.width = WIDTH,
                             .height = HEIGHT,
                             .sample_count = spp,
                             .max_depth = 6,
                             .rr_depth = 3,
                             .seed = 7,
                             .set = set};
    enum status st = device_render(d, &job, &film, true, times, err);
    if (st == STATUS_OK)
        st = film_check(&film, spp, NULL, err);
    if (st == STATUS_OK)
        film_hash(&film, hash);
    film_free(&film);
    return st;
}

static void native_picture(const struct scene *s, uint32_t spp, char hash[33])
{
    struct error err = {0};
    struct render_times times;
    struct device *d = device_ready("native", s, BVH_BINARY, MODE_STRICT);
    must(picture(d, s, (struct settings){.load.bvh = BVH_AUTO}, spp, hash, &times, &err), &err);
    device_close(d);
}

static void strict_bits_are_natives_for_any_launch(void **state)
{
    (void)state;
    static const struct launch_settings launches[] = {
        {.batch = 0},
        {.work_group = {1, 1}},
        {.work_group = {7, 3}, .tile = {13, 9}, .batch = 2, .tile_order = 2},
        {.work_group = {32, 32}, .batch = 1},
        {.work_group = {1, 64}, .tile = {45, 5}, .tile_order = 1},
    };
    struct scene *s = scene_from_library("textured");
    char want[33], got[33];
    native_picture(s, SPP, want);
    for (enum bvh_kind bvh = BVH_BINARY; bvh < BVH_COUNT; bvh++) {
        struct error err = {0};
        struct render_times times;
        struct device *d = device_ready("level_zero:0", s, bvh, MODE_STRICT);
        for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
            const struct settings set = {.launch = launches[i]};
            must(picture(d, s, set, SPP, got, &times, &err), &err);
            assert_string_equal(got, want);
            assert_true(times.device_s > 0.0 && times.device_s <= times.render_s);
        }
        device_close(d);
    }
    scene_free(s);
}

static void strict_bits_are_natives_on_library_scenes(void **state)
{
    (void)state;
    static const char *const names[] = {"cornell", "glass", "veach-mis", "hdri"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct error err = {0};
        struct render_times times;
        char want[33], got[33];
        struct scene *s = scene_from_library(names[i]);
        native_picture(s, 1, want);
        struct device *d = device_ready("level_zero:0", s, BVH_AUTO, MODE_STRICT);
        must(picture(d, s, (struct settings){.load.bvh = BVH_AUTO}, 1, got, &times, &err), &err);
        assert_string_equal(got, want);
        device_close(d);
        scene_free(s);
    }
}

/* Device and fast mode: near the strict picture (they may contract and approximate, not more). */
static void other_modes_render(void **state)
{
    (void)state;
    struct scene *s = scene_from_library("furnace");
    for (enum math_mode mode = MODE_DEVICE; mode <= MODE_FAST; mode++) {
        struct error err = {0};
        struct render_times times;
        char hash[33];
        struct device *d = device_ready("level_zero:0", s, BVH_AUTO, mode);
        must(picture(d, s, (struct settings){.build.mode = mode}, 1, hash, &times, &err), &err);
        device_close(d);
    }
    scene_free(s);
}

static void recorded_paths_are_natives(void **state)
{
    (void)state;
    struct scene *s = scene_from_library("textured");
    struct render_job job = {.width = WIDTH,
                             .height = HEIGHT,
                             .sample_count = 1,
                             .max_depth = 6,
                             .rr_depth = 3,
                             .seed = 7};
    const char *const ids[] = {"native", "level_zero:0"};
    double L[2][3];
    struct path_vertex vertices[2][8];
    size_t count[2];
    memset(vertices, 0, sizeof vertices);
    for (int i = 0; i < 2; i++) {
        struct error err = {0};
        struct device *d = device_ready(ids[i], s, BVH_BINARY, MODE_STRICT);
        must(device_trace(d, &job, 20, 18, 5, L[i], vertices[i], 8, &count[i], &err), &err);
        device_close(d);
    }
    assert_int_equal(count[0], count[1]);
    assert_true(count[0] > 0);
    assert_memory_equal(L[0], L[1], sizeof L[0]);
    assert_memory_equal(vertices[0], vertices[1], sizeof vertices[0]);
    scene_free(s);
}

/* ---- probes --------------------------------------------------------------------------------- */

/* On a device of a megabyte, of which each call takes four kilobytes and must give them back; the
 * rows are no multiple of a work-group. */
static void every_row_is_answered(void **state)
{
    (void)state;
    enum { ROWS = 100, CALLS = 600 };
    /* Philox4x32-10, docs/reference/protocol.md section 3.1: counter, key; output. */
    static const uint32_t in[2][6] = {
        {0, 0, 0, 0, 0, 0},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0}};
    static const uint32_t want[2][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    struct error err = {0};
    struct device *d = NULL;
    struct build_info info;
    uint32_t rows[ROWS][6], out[ROWS][4];
    for (int i = 0; i < ROWS; i++)
        memcpy(rows[i], in[i % 2], sizeof rows[i]);
    must(device_open("level_zero:0", &d, &err), &err);
    must(device_build(d, &(struct build_settings){.mode = MODE_STRICT}, &info, &err), &err);
    for (int call = 0; call < CALLS; call++) {
        memset(out, 0xA5, sizeof out);
        must(device_probe(d, PROBE_RNG, rows[0], ROWS, out[0], &err), &err);
        for (int i = 0; i < ROWS; i++)
            assert_memory_equal(out[i], want[i % 2], sizeof out[i]);
    }
    device_close(d);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refused_work_groups_carry_numbers(void **state)
{
    (void)state;
    struct scene *s = scene_from_library("furnace");
    struct error err = {0};
    struct render_times times;
    char hash[33];
    struct device *d = device_ready("level_zero:0", s, BVH_AUTO, MODE_STRICT);
    assert_int_equal(
        picture(d, s, (struct settings){.launch.work_group = {64, 64}}, 1, hash, &times, &err),
        STATUS_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "4096"));
    assert_non_null(strstr(err.msg, "1024"));
    must(picture(d, s, (struct settings){.load.bvh = BVH_AUTO}, 1, hash, &times, &err),
         &err); /* still works */
    device_close(d);
    scene_free(s);
}

static void kept_binaries_are_used(void **state)
{
    (void)state;
    struct scene *s = scene_from_library("furnace");
    struct error err = {0};
    char folder[] = "/tmp/isophote-test-XXXXXX", command[128];
    assert_non_null(mkdtemp(folder));
    setenv("ISOPHOTE_CACHE", folder, 1);
    bool cached[3];
    for (int i = 0; i < 3; i++) {
        if (i == 2) /* what one driver made is not for another */
            setenv("ISOPHOTE_SOFT_ZE_FAULT", "newer", 1);
        struct device *d = NULL;
        struct build_info info;
        struct load_times times;
        must(device_open("level_zero:0", &d, &err), &err);
        must(device_load(d, s, BVH_AUTO, &times, &err), &err);
        must(device_build(d, &(struct build_settings){.mode = MODE_STRICT}, &info, &err), &err);
        cached[i] = info.cached;
        device_close(d);
    }
    assert_false(cached[0]);
    assert_true(cached[1]);
    assert_false(cached[2]);
    unsetenv("ISOPHOTE_SOFT_ZE_FAULT");
    unsetenv("ISOPHOTE_CACHE");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    scene_free(s);
}

/* The environment gave the device a megabyte. */
static void scenes_too_large_are_refused_with_both_numbers(void **state)
{
    (void)state;
    struct scene *s = scene_soup(3, 20000, 0, 0, 0.0f, 10.0f);
    struct error err = {0};
    struct load_times times;
    struct device *d = NULL;
    must(device_open("level_zero:0", &d, &err), &err);
    assert_int_equal(device_load(d, s, BVH_BINARY, &times, &err), STATUS_LIMIT);
    assert_non_null(strstr(err.msg, "1048576"));
    device_close(d);
    scene_free(s);
}

/* ---- under all checks ----------------------------------------------------------------------- */

static void nothing_is_found(void **state)
{
    (void)state;
    struct gathered g = gather();
    assert_int_equal(g.count, 1);
    assert_string_equal(g.found[0].name, "Isophote's software device, checked");
    struct scene *s = scene_from_library("textured");
    char want[33], got[33];
    native_picture(s, 1, want);
    for (enum bvh_kind bvh = BVH_BINARY; bvh < BVH_COUNT; bvh++) {
        struct error err = {0};
        struct render_times times;
        struct path_vertex vertices[8];
        double L[3];
        size_t count;
        struct device *d = device_ready("level_zero:0", s, bvh, MODE_STRICT);
        const struct settings tiles = {.launch = {.tile = {16, 16}, .work_group = {4, 4}}};
        must(picture(d, s, tiles, 1, got, &times, &err), &err);
        assert_string_equal(got, want);
        struct render_job job = {.width = WIDTH, .height = HEIGHT, .max_depth = 6, .seed = 7};
        must(device_trace(d, &job, 20, 18, 5, L, vertices, 8, &count, &err), &err);
        device_close(d);
    }
    scene_free(s);
    /* and with shaders inside the kernel */
    struct error err = {0};
    struct render_times times;
    s = scene_from_library("shaded-wood");
    native_picture(s, 1, want);
    struct device *d = device_ready("level_zero:0", s, BVH_BINARY, MODE_STRICT);
    must(picture(d, s, (struct settings){.load.bvh = BVH_AUTO}, 1, got, &times, &err), &err);
    assert_string_equal(got, want);
    device_close(d);
    scene_free(s);
    struct stat st;
    assert_int_equal(stat(findings_path, &st), -1); /* nobody wrote it */
}

/* ---- what must not be left out -------------------------------------------------------------- */

/* Ends the process where something failed or was found: memory that a queued copy fills may be gone
 * by the time that it is filled. */
static void go_on(enum status s)
{
    struct stat st;
    if (s != STATUS_OK || stat(findings_path, &st) == 0)
        _exit(1);
}

enum { BATCHES = 3, LAUNCHES = 1 + BATCHES, ITERATIONS = 3 }; /* one before the render's own */

/* Three launches over one film, and a recorded path. */
static void film_and_path(void)
{
    struct error err = {0};
    struct load_times loaded;
    struct build_info info;
    struct render_times times;
    struct path_vertex vertices[8];
    struct device *d = NULL;
    double L[3];
    size_t count;
    char hash[33];
    struct scene *s = scene_from_library("furnace");
    const struct settings set = {.launch = {.batch = 1, .work_group = {8, 8}}};
    const struct render_job job = {.width = WIDTH, .height = HEIGHT, .max_depth = 6, .seed = 7};
    go_on(device_open("level_zero:0", &d, &err));
    go_on(device_load(d, s, BVH_BINARY, &loaded, &err));
    go_on(device_build(d, &set.build, &info, &err));
    go_on(picture(d, s, set, BATCHES, hash, &times, &err));
    go_on(times.launches == BATCHES ? STATUS_OK : STATUS_ARG);
    go_on(device_trace(d, &job, 20, 18, 5, L, vertices, 8, &count, &err));
    device_close(d);
    scene_free(s);
    go_on(STATUS_OK);
}

/* A program beside the kernel, whose launches add to one buffer, each behind one work-item that
 * doubles its first word. */
static void job_of_launches(void)
{
    struct error err = {0};
    struct gathered g = gather();
    struct backend *b = NULL;
    struct job_program *p = NULL;
    struct build_info info = {0};
    struct job_source source = {.text =
                                    "__kernel void bump(__global const uint *by, __global uint "
                                    "*sum) { sum[get_global_id(0)] += by[get_global_id(0)]; }"
                                    "__kernel void twice(__global const uint *by, __global uint "
                                    "*sum) { sum[get_global_id(0)] *= 2; }",
                                .entry = "bump",
                                .once = "twice",
                                .mode = MODE_STRICT};
    uint32_t by[2] = {1, 2}, sum[2] = {10, 20};
    const struct job_buffer buffers[] = {{by, NULL, sizeof by, "the steps"},
                                         {sum, sum, sizeof sum, "the sums"}};
    double seconds = 0.0;
    hash_bytes(source.text, strlen(source.text), source.hash);
    go_on(level_zero_api.open(&g.found[0], &b, &err));
    go_on(level_zero_api.job_build(b, &source, &p, &info, &err));
    go_on(level_zero_api.job_run(b, p, buffers, 2, 2, 2, ITERATIONS, &seconds, &err));
    go_on(sum[0] == ((10 * 2 + 1) * 2 + 1) * 2 + 1 && sum[1] == 26 ? STATUS_OK : STATUS_ARG);
    level_zero_api.job_release(b, p);
    level_zero_api.close(b);
    go_on(STATUS_OK);
}

/* Without its Nth barrier or wait `run` is found out, for each that it has; a driver that is asked
 * to leave out one more leaves out none. */
static void each_is_missed(void (*run)(void), const char *kind, unsigned count)
{
    for (unsigned n = 1; n <= count + 1; n++) {
        char fault[32];
        struct stat st;
        int state;
        snprintf(fault, sizeof fault, "%s:%u", kind, n);
        unlink(findings_path);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            setenv("ISOPHOTE_SOFT_ZE_FAULT", fault, 1);
            run();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &state, 0), child);
        bool found = stat(findings_path, &st) == 0;
        if (found != (n <= count) || !WIFEXITED(state) || (WEXITSTATUS(state) != 0) != found)
            fail_msg("%s of %u: %s; status %x", fault, count, found ? "found" : "nothing found",
                     (unsigned)state);
    }
    unlink(findings_path);
}

static void a_picture_needs_each_barrier(void **state)
{
    (void)state;
    /* in each launch, in the probe of strict arithmetic and in the path's */
    each_is_missed(film_and_path, "barrier", LAUNCHES + 2);
}
static void a_picture_needs_each_wait(void **state)
{
    (void)state;
    /* for the scene, the film (cleared twice, read once), each launch; twice a probe and a path */
    each_is_missed(film_and_path, "wait", 1 + 3 + LAUNCHES + 2 * 2);
}
static void a_job_needs_each_barrier(void **state)
{
    (void)state;
    each_is_missed(job_of_launches, "barrier", 2 * ITERATIONS - 1);
}
static void a_job_needs_each_wait(void **state)
{
    (void)state;
    each_is_missed(job_of_launches, "wait", 3); /* for what goes in, the launches, what comes out */
}

/* ---- absence -------------------------------------------------------------------------------- */

static void absence_is_explained(void **state)
{
    (void)state;
    struct gathered g = gather();
    assert_int_equal(g.count, 0);
    assert_non_null(g.problems.data);
    assert_non_null(strstr(g.problems.data, "level_zero: "));
    assert_non_null(strstr(g.problems.data, "driver"));
    text_free(&g.problems);
    struct device *d = NULL;
    struct error err = {0};
    assert_int_equal(device_open("level_zero:0", &d, &err), STATUS_MISSING);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Runs tests in a child whose environment has `settings` (name, value, ..., NULL). */
static int group_run(const char *name, const struct CMUnitTest *tests, size_t count,
                     const char *const *settings)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        for (; *settings; settings += 2)
            setenv(settings[0], settings[1], 1);
        _exit(_cmocka_run_group_tests(name, tests, count, NULL, NULL) != 0);
    }
    int state = 1;
    waitpid(child, &state, 0);
    if (!WIFEXITED(state))
        printf("%s: signal %d\n", name, WTERMSIG(state));
    return !WIFEXITED(state) || WEXITSTATUS(state) != 0;
}
#define GROUP(name, tests, ...)                                                                    \
    group_run(name, tests, sizeof(tests) / sizeof(tests)[0],                                       \
              (const char *const[]){__VA_ARGS__, NULL})

int main(void)
{
    void *library = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        printf("skipped: no libze_loader.so.1 (apt-get install libze1)\n");
        return 77;
    }
    dlclose(library);
    snprintf(findings_path, sizeof findings_path, "/tmp/isophote-findings-%d", (int)getpid());
    unsetenv("ISOPHOTE_SOFT_CHECKS");
    setenv("ZE_ENABLE_ALT_DRIVERS", ZE_DRIVER, 1);
    setenv("ZE_ENABLE_VALIDATION_LAYER", "1", 1);
    setenv("ZE_ENABLE_PARAMETER_VALIDATION", "1", 1);
    setenv("ZE_ENABLE_HANDLE_LIFETIME", "1", 1);
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(the_device_describes_itself),
        cmocka_unit_test(strict_bits_are_natives_for_any_launch),
        cmocka_unit_test(strict_bits_are_natives_on_library_scenes),
        cmocka_unit_test(other_modes_render),
        cmocka_unit_test(recorded_paths_are_natives),
        cmocka_unit_test(refused_work_groups_carry_numbers),
        cmocka_unit_test(kept_binaries_are_used),
    };
    const struct CMUnitTest small[] = {
        cmocka_unit_test(scenes_too_large_are_refused_with_both_numbers),
        cmocka_unit_test(every_row_is_answered)};
    const struct CMUnitTest checked[] = {cmocka_unit_test(nothing_is_found)};
    const struct CMUnitTest incomplete[] = {
        cmocka_unit_test(a_picture_needs_each_barrier), cmocka_unit_test(a_picture_needs_each_wait),
        cmocka_unit_test(a_job_needs_each_barrier), cmocka_unit_test(a_job_needs_each_wait)};
    const struct CMUnitTest absent[] = {cmocka_unit_test(absence_is_explained)};
    int failed = GROUP("validated", plain, "ISOPHOTE_UNUSED", "1");
    failed += GROUP("a megabyte", small, "ISOPHOTE_SOFT_MEMORY", "1048576");
    failed += GROUP("checked", checked, "ISOPHOTE_SOFT_CHECKS", "all", "ISOPHOTE_SOFT_FINDINGS",
                    findings_path);
    failed += GROUP("incomplete", incomplete, "ISOPHOTE_SOFT_CHECKS", "all",
                    "ISOPHOTE_SOFT_FINDINGS", findings_path);
    failed += GROUP("no driver", absent, "ZE_ENABLE_ALT_DRIVERS", "/nonexistent.so");
    failed += GROUP("a broken driver", absent, "ZE_ENABLE_ALT_DRIVERS", BROKEN_DRIVER);
    failed += GROUP("an empty variable", absent, "ZE_ENABLE_ALT_DRIVERS", "");
    unlink(findings_path);
    return failed != 0;
}
