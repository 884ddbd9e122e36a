/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL back end on every device there is: strict pictures equal native's bits for any launch
 * setting, refusals carry numbers, kept binaries are used and replaced when spoilt, and without
 * OpenCL, or with a broken driver, the reason is said. Exit status 77 where there is no device. */
#include "opencl/opencl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct backend_api opencl_api;

enum { DEVICES_MAX = 16, WIDTH = 45, HEIGHT = 37, SPP = 3 };

static const char *self;
static char folder[256]; /* made for this run, removed at its end */
static struct device_info devices[DEVICES_MAX];
static size_t device_count;

/* Every kind of material, light and primitive in one room. */
static const char room[] =
    "{\"isophote\": 1,"
    "\"camera\": {\"type\": \"perspective\", \"origin\": [0, 0, 3.9], \"target\": [0, 0, 0],"
    " \"up\": [0, 1, 0], \"fov\": 50},"
    "\"render\": {\"spp\": 4, \"max_depth\": 6, \"rr_depth\": 3},"
    "\"materials\": {"
    " \"white\": {\"type\": \"diffuse\", \"reflectance\": [0.8, 0.7, 0.6]},"
    " \"mirror\": {\"type\": \"mirror\", \"reflectance\": [0.9, 0.9, 0.9]},"
    " \"glass\": {\"type\": \"dielectric\", \"ior\": 1.5},"
    " \"gold\": {\"type\": \"rough_conductor\", \"eta\": [0.143, 0.375, 1.442],"
    "  \"k\": [3.983, 2.386, 1.603], \"roughness\": 0.3},"
    " \"plastic\": {\"type\": \"principled\", \"base_color\": [0.1, 0.3, 0.7], \"roughness\": 0.4},"
    " \"lamp\": {\"type\": \"diffuse\", \"reflectance\": [0, 0, 0], \"emission\": [18, 14, 7]}},"
    "\"objects\": ["
    " {\"type\": \"rectangle\", \"material\": \"lamp\", \"transform\": [{\"scale\": [0.25, 0.25, "
    "0.25]},"
    "  {\"rotate\": {\"axis\": [1, 0, 0], \"angle\": 90}}, {\"translate\": [0, 0.99, 0]}]},"
    " {\"type\": \"rectangle\", \"material\": \"white\", \"transform\": ["
    "  {\"rotate\": {\"axis\": [1, 0, 0], \"angle\": -90}}, {\"translate\": [0, -1, 0]}]},"
    " {\"type\": \"rectangle\", \"material\": \"plastic\", \"transform\": [{\"translate\": [0, 0, "
    "-1]}]},"
    " {\"type\": \"sphere\", \"material\": \"glass\", \"center\": [-0.5, -0.6, 0.4], \"radius\": "
    "0.4},"
    " {\"type\": \"sphere\", \"material\": \"gold\", \"center\": [0.5, -0.65, 0.2], \"radius\": "
    "0.35},"
    " {\"type\": \"sphere\", \"material\": \"lamp\", \"center\": [0.8, 0.5, 0.3], \"radius\": 0.1},"
    " {\"type\": \"disk\", \"material\": \"mirror\", \"center\": [0, -0.2, -0.7],"
    "  \"normal\": [0.2, 0.1, 1], \"radius\": 0.5}],"
    "\"environment\": {\"radiance\": [0.2, 0.25, 0.3]}}";

/* ---- devices ------------------------------------------------------------------------------- */

struct gathered {
    struct device_info found[DEVICES_MAX];
    size_t count;
    struct text problems;
};

static void on_found(void *ctx, const struct device_info *info)
{
    struct gathered *g = ctx;
    if (g->count < DEVICES_MAX)
        g->found[g->count++] = *info;
}
static void on_problem(void *ctx, const char *text)
{
    struct gathered *g = ctx;
    text_printf(&g->problems, "%s\n", text);
}

static void devices_are_numbered_in_order(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) { /* the same again */
        struct gathered g = {.count = 0};
        assert_int_equal(opencl_api.enumerate(on_found, on_problem, &g, NULL), STATUS_OK);
        assert_int_equal(g.count, device_count);
        uint32_t last = 0;
        for (size_t i = 0; i < g.count; i++) {
            const struct device_info *d = &g.found[i];
            unsigned index;
            assert_int_equal(sscanf(d->id, "opencl:%u", &index), 1);
            assert_true(i == 0 || index > last);
            last = index;
            assert_string_equal(d->name, devices[i].name);
            assert_true(d->name[0] && d->vendor[0] && d->driver[0] && d->version[0]);
            assert_true(d->max_work_group >= 1 && d->compute_units >= 1);
            assert_true(d->max_work_group_axis[0] >= 1 && d->max_work_group_axis[1] >= 1);
            assert_true(d->global_bytes > 0 && d->max_alloc_bytes >= d->global_bytes / 4);
        }
        text_free(&g.problems);
    }
}

/* ---- pictures ------------------------------------------------------------------------------ */

static struct device *device_ready(const char *id, const struct scene *s, enum bvh_kind bvh,
                                   struct build_info *build)
{
    struct error err = {0};
    struct device *d = NULL;
    struct load_times times;
    struct build_info info = {0};
    if (device_open(id, &d, &err) != STATUS_OK ||
        device_load(d, s, bvh, &times, &err) != STATUS_OK ||
        device_build(d, &(struct build_settings){.mode = MODE_STRICT}, &info, &err) != STATUS_OK)
        fail_msg("%s: %s", id, err.msg);
    if (build)
        *build = info;
    return d;
}

static enum status picture(struct device *d, const struct scene *s, struct settings set,
                           char hash[33], struct render_times *times, struct error *err)
{
    struct film film = {0};
    assert_int_equal(film_init(&film, WIDTH, HEIGHT, film_exponent(s), err), STATUS_OK);
    struct render_job job = {.width = WIDTH,
                             .height = HEIGHT,
                             .sample_count = SPP,
                             .max_depth = 6,
                             .rr_depth = 3,
                             .seed = 7,
                             .set = set};
    enum status st = device_render(d, &job, &film, true, times, err);
    if (st == STATUS_OK)
        st = film_check(&film, SPP, NULL, err);
    if (st == STATUS_OK)
        film_hash(&film, hash);
    film_free(&film);
    return st;
}

static struct scene *room_load(void)
{
    struct error err = {0};
    struct scene *s = NULL;
    if (scene_load_memory("room.json", room, sizeof room - 1, &s, &err) != STATUS_OK)
        fail_msg("room.json:%u:%u: %s (at %s)", err.line, err.col, err.msg, err.path);
    return s;
}

static void native_picture(const struct scene *s, char hash[33])
{
    struct error err = {0};
    struct render_times times;
    struct device *d = device_ready("native", s, BVH_BINARY, NULL);
    if (picture(d, s, (struct settings){.load.bvh = BVH_BINARY}, hash, &times, &err) != STATUS_OK)
        fail_msg("native: %s", err.msg);
    device_close(d);
}

static void strict_bits_are_natives_for_any_launch(void **state)
{
    (void)state;
    static const struct launch_settings launches[] = {
        {.work_group = {0, 0}},
        {.work_group = {7, 3}, .batch = 1},
        {.work_group = {1, 1}, .tile = {20, 10}, .tile_order = 2},
        {.work_group = {16, 4}, .batch = 2, .tile = {17, 37}, .tile_order = 1},
    };
    struct scene *s = room_load();
    char want[33], got[33];
    native_picture(s, want);
    for (size_t i = 0; i < device_count; i++)
        for (enum bvh_kind bvh = BVH_BINARY; bvh < BVH_COUNT; bvh++) {
            struct device *d = device_ready(devices[i].id, s, bvh, NULL);
            size_t count = sizeof launches / sizeof launches[0];
            for (size_t k = 0; k < (bvh == BVH_WIDE8 ? 2 : count); k++) {
                const struct settings set = {.load.bvh = bvh, .launch = launches[k]};
                struct render_times times;
                struct error err = {0};
                if (picture(d, s, set, got, &times, &err) != STATUS_OK)
                    fail_msg("%s, launch %zu: %s", devices[i].id, k, err.msg);
                if (strcmp(got, want) != 0)
                    fail_msg("%s, launch %zu, %s: film %s; native's is %s", devices[i].id, k,
                             bvh_kind_name(bvh), got, want);
                if (launches[k].work_group[0])
                    assert_memory_equal(times.work_group, launches[k].work_group,
                                        sizeof times.work_group);
                assert_true(times.device_s > 0.0 && times.device_s <= times.render_s * 1.5);
            }
            device_close(d);
        }
    scene_free(s);
}

static void strict_bits_are_natives_on_library_scenes(void **state)
{
    (void)state;
    static const char *const names[] = {"cornell", "glass", "textured", "hdri", "veach-mis"};
    unsigned compared = 0;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        char path[512];
        struct error err = {0};
        struct scene *s = NULL;
        snprintf(path, sizeof path, "%s/scenes/library/%s.json", SOURCE_DIR, names[n]);
        if (access(path, R_OK) != 0) {
            print_message("%s is not here\n", path);
            continue;
        }
        if (scene_load(path, &s, &err) != STATUS_OK)
            fail_msg("%s: %s", path, err.msg);
        char want[33], got[33];
        native_picture(s, want);
        for (size_t i = 0; i < device_count; i++) {
            struct render_times times;
            struct device *d = device_ready(devices[i].id, s, BVH_AUTO, NULL);
            if (picture(d, s, (struct settings){.build.mode = MODE_STRICT}, got, &times, &err) !=
                STATUS_OK)
                fail_msg("%s on %s: %s", names[n], devices[i].id, err.msg);
            if (strcmp(got, want) != 0)
                fail_msg("%s on %s: film %s; native's is %s", names[n], devices[i].id, got, want);
            compared++;
            device_close(d);
        }
        scene_free(s);
    }
    if (compared == 0)
        skip();
}

/* ---- what a device refuses ----------------------------------------------------------------- */

/* Code path llvm: the bits of native on devices that take SPIR-V; a reason on the others. */
static void spirv_has_the_same_bits(void **state)
{
    (void)state;
    struct scene *s = room_load();
    char want[33], got[33];
    native_picture(s, want);
    const struct settings llvm = {.build = {.mode = MODE_STRICT, .code = CODE_LLVM}};
    for (size_t i = 0; i < device_count; i++)
        for (enum bvh_kind bvh = BVH_BINARY; bvh < BVH_COUNT; bvh++) {
            struct error err = {0};
            struct device *d = NULL;
            struct load_times loaded;
            struct render_times times;
            struct build_info info;
            assert_int_equal(device_open(devices[i].id, &d, &err), STATUS_OK);
            assert_int_equal(device_load(d, s, bvh, &loaded, &err), STATUS_OK);
            enum status st = device_build(d, &llvm.build, &info, &err);
            if (!devices[i].spirv) {
                assert_int_equal(st, STATUS_UNSUPPORTED);
                assert_non_null(strstr(err.msg, "SPIR-V"));
            } else {
                if (st == STATUS_OK)
                    st = picture(d, s, llvm, got, &times, &err);
                if (st != STATUS_OK)
                    fail_msg("%s: %s", devices[i].id, err.msg);
                assert_string_equal(got, want);
            }
            device_close(d);
        }
    scene_free(s);
}

static void refused_work_groups_carry_numbers(void **state)
{
    (void)state;
    struct scene *s = room_load();
    for (size_t i = 0; i < device_count; i++) {
        struct device *d = device_ready(devices[i].id, s, BVH_BINARY, NULL);
        struct render_times times;
        struct error err = {0};
        char hash[33], number[16];
        struct settings set = {.load.bvh = BVH_BINARY};
        uint32_t *work_group = set.launch.work_group;
        work_group[0] = devices[i].max_work_group * 2;
        work_group[1] = 1;
        assert_int_equal(picture(d, s, set, hash, &times, &err), STATUS_UNSUPPORTED);
        snprintf(number, sizeof number, "%u", work_group[0]);
        assert_non_null(strstr(err.msg, number));
        snprintf(number, sizeof number, "%u", devices[i].max_work_group);
        assert_non_null(strstr(err.msg, number));
        work_group[0] = work_group[1] = 4; /* it still works */
        if (picture(d, s, set, hash, &times, &err) != STATUS_OK)
            fail_msg("%s after a refusal: %s", devices[i].id, err.msg);
        device_close(d);
    }
    scene_free(s);
}

static void buffers_too_large_are_refused_with_both_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < device_count; i++) {
        struct backend *b = NULL;
        struct error err = {0};
        char number[32];
        assert_int_equal(opencl_api.open(&devices[i], &b, &err), STATUS_OK);
        size_t pixels = devices[i].max_alloc_bytes / 32 + 1;
        assert_int_equal(opencl_api.film_begin(b, pixels, false, &err), STATUS_LIMIT);
        snprintf(number, sizeof number, "%zu", pixels * 32);
        assert_non_null(strstr(err.msg, number));
        snprintf(number, sizeof number, "%llu", (unsigned long long)devices[i].max_alloc_bytes);
        assert_non_null(strstr(err.msg, number));
        struct scene_buffers large = {.at[0] = {.data = &large, .size = SIZE_MAX / 4}};
        uint64_t bytes = 5;
        assert_int_equal(opencl_api.upload(b, &large, &bytes, &err), STATUS_LIMIT);
        assert_int_equal(bytes, 5);
        opencl_api.close(b);
    }
    opencl_api.close(NULL);
}

/* ---- kept binaries ------------------------------------------------------------------------- */

/* The one .clbin file under `where`; how many there are. */
static unsigned kept_files(const char *where, char *path, size_t size)
{
    char command[512];
    snprintf(command, sizeof command, "find '%s' -name '*.clbin'", where);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    unsigned count = 0;
    char line[512];
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(path, size, "%s", line);
        count++;
    }
    pclose(f);
    return count;
}

static void kept_binaries_are_used_and_replaced_when_spoilt(void **state)
{
    (void)state;
    struct program_request request = program_request_make(MODE_STRICT);
    char before[64];
    snprintf(before, sizeof before, "%s", getenv("ISOPHOTE_CACHE"));
    for (size_t i = 0; i < device_count; i++) {
        char cache[300], path[512];
        snprintf(cache, sizeof cache, "%s/spoilt-%zu", folder, i);
        assert_int_equal(setenv("ISOPHOTE_CACHE", cache, 1), 0);
        struct backend *b = NULL;
        struct error err = {0};
        struct build_info info;
        assert_int_equal(opencl_api.open(&devices[i], &b, &err), STATUS_OK);
        for (int round = 0; round < 4; round++) {
            if (opencl_api.build(b, &request, &info, &err) != STATUS_OK)
                fail_msg("%s: %s", devices[i].id, err.msg);
            /* 0: nothing kept yet. 1: kept. 2: after a flipped bit. 3: after a cut. */
            assert_int_equal(info.cached, round == 1);
            assert_int_equal(kept_files(cache, path, sizeof path), 1);
            FILE *f = fopen(path, "r+b");
            assert_non_null(f);
            fseek(f, 0, SEEK_END);
            long size = ftell(f);
            assert_true(size > 200);
            if (round == 1) {
                fseek(f, size / 2, SEEK_SET);
                int c = fgetc(f);
                fseek(f, size / 2, SEEK_SET);
                fputc(c ^ 1, f);
            } else if (round == 2) {
                assert_int_equal(ftruncate(fileno(f), size - 100), 0);
            }
            fclose(f);
        }
        assert_true(strncmp(info.log, "k_render: work-groups of up to ", 31) == 0);
        opencl_api.close(b);
    }
    setenv("ISOPHOTE_CACHE", before, 1);
}

/* What one version of a driver made is not for another. */
static void kept_binaries_are_of_one_driver(void **state)
{
    (void)state;
    struct program_request request = program_request_make(MODE_STRICT);
    request.source = "__kernel void k_render(__global int *a) { a[0] = 1; }\n"
                     "__kernel void k_arithmetic(__global int *a) { a[0] = 2; }\n";
    hash_bytes(request.source, strlen(request.source), request.source_hash);
    char before[64], cache[300];
    snprintf(before, sizeof before, "%s", getenv("ISOPHOTE_CACHE"));
    snprintf(cache, sizeof cache, "%s/drivers", folder);
    assert_int_equal(setenv("ISOPHOTE_CACHE", cache, 1), 0);
    for (size_t i = 0; i < device_count; i++) {
        struct backend *b = NULL;
        struct error err = {0};
        struct build_info info;
        assert_int_equal(opencl_api.open(&devices[i], &b, &err), STATUS_OK);
        for (int round = 0; round < 3; round++) {
            if (round == 2)
                b->info.driver[0] ^= 1;
            if (opencl_api.build(b, &request, &info, &err) != STATUS_OK)
                fail_msg("%s: %s", devices[i].id, err.msg);
            assert_int_equal(info.cached, round == 1);
        }
        opencl_api.close(b);
    }
    setenv("ISOPHOTE_CACHE", before, 1);
}

/* ---- probes -------------------------------------------------------------------------------- */

static void probes_run_before_any_scene(void **state)
{
    (void)state;
    /* Philox4x32-10, docs/reference/protocol.md section 3.1: counter, key, output. */
    static const uint32_t in[2][6] = {
        {0, 0, 0, 0, 0, 0},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0}};
    static const uint32_t want[2][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (size_t i = 0; i < device_count; i++) {
        struct device *d = NULL;
        struct error err = {0};
        struct build_info info = {0};
        uint32_t out[2][4];
        memset(out, 0xA5, sizeof out);
        if (device_open(devices[i].id, &d, &err) != STATUS_OK ||
            device_build(d, &(struct build_settings){.mode = MODE_STRICT}, &info, &err) !=
                STATUS_OK ||
            device_probe(d, PROBE_RNG, in[0], 2, out[0], &err) != STATUS_OK)
            fail_msg("%s: %s", devices[i].id, err.msg);
        assert_memory_equal(out, want, sizeof out);
        device_close(d);
    }
}

/* ---- without OpenCL ------------------------------------------------------------------------ */

/* Runs this program as `--list` with OCL_ICD_VENDORS set; what it prints: problems, then the count.
 */
static void list_elsewhere(const char *vendors, char *out, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command, "OCL_ICD_VENDORS='%s' '%s' --list 2>&1", vendors, self);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    assert_int_equal(pclose(f), 0);
}

static int list_here(void)
{
    struct gathered g = {.count = 0};
    if (opencl_api.enumerate(on_found, on_problem, &g, NULL) != STATUS_OK)
        return 1;
    printf("%s%zu devices\n", g.problems.data ? g.problems.data : "", g.count);
    text_free(&g.problems);
    struct error err = {0};
    struct backend *b = NULL;
    struct device_info none = {.id = "opencl:99"};
    return opencl_api.open(&none, &b, &err) == STATUS_MISSING ? 0 : 1;
}

static void absence_is_explained(void **state)
{
    (void)state;
    char out[4096], bad[300], path[400];
    list_elsewhere("/nonexistent", out, sizeof out);
    if (!strstr(out, "0 devices"))
        fail_msg("with no platform: %s", out);
    assert_true(strstr(out, "no platform") || strstr(out, "no OpenCL loader"));
    assert_non_null(strstr(out, "apt-get install"));

    snprintf(bad, sizeof bad, "%s/vendors", folder);
    assert_int_equal(mkdir(bad, 0700), 0);
    snprintf(path, sizeof path, "%s/broken.icd", bad);
    assert_int_equal(file_write(path, "libnosuchdriver.so\n", 19, NULL), STATUS_OK);
    list_elsewhere(bad, out, sizeof out);
    if (strstr(out, "no OpenCL loader"))
        return;
    if (!strstr(out, "broken.icd") || !strstr(out, "libnosuchdriver.so") ||
        !strstr(out, "0 devices"))
        fail_msg("with a broken driver: %s", out);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return list_here();
    self = argv[0];
    /* PoCL's own cache stays where it is; ours is this run's alone. */
    char pocl[1024];
    if (cache_dir("pocl", pocl, sizeof pocl, NULL) == STATUS_OK)
        setenv("POCL_CACHE_DIR", pocl, 0);
    struct gathered g = {.count = 0};
    if (opencl_api.enumerate(on_found, on_problem, &g, NULL) != STATUS_OK)
        return 1;
    text_free(&g.problems);
    memcpy(devices, g.found, sizeof devices);
    device_count = g.count;
    for (size_t i = 0; i < device_count; i++)
        print_message("%s: %s, %s\n", devices[i].id, devices[i].name, devices[i].driver);

    snprintf(folder, sizeof folder, "/tmp/isophote-opencl-XXXXXX");
    if (!mkdtemp(folder) || setenv("ISOPHOTE_CACHE", folder, 1) != 0)
        return 1;
    const struct CMUnitTest absent[] = {cmocka_unit_test(absence_is_explained)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_numbered_in_order),
        cmocka_unit_test(probes_run_before_any_scene),
        cmocka_unit_test(strict_bits_are_natives_for_any_launch),
        cmocka_unit_test(strict_bits_are_natives_on_library_scenes),
        cmocka_unit_test(spirv_has_the_same_bits),
        cmocka_unit_test(refused_work_groups_carry_numbers),
        cmocka_unit_test(buffers_too_large_are_refused_with_both_numbers),
        cmocka_unit_test(kept_binaries_are_used_and_replaced_when_spoilt),
        cmocka_unit_test(kept_binaries_are_of_one_driver),
    };
    int failed = cmocka_run_group_tests_name("opencl absent", absent, NULL, NULL);
    if (device_count > 0)
        failed += cmocka_run_group_tests_name("opencl", tests, NULL, NULL);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        return 1;
    if (failed)
        return 1;
    if (device_count == 0) {
        print_message("SKIP: there is no OpenCL device\n");
        return 77;
    }
    return 0;
}
