/* SPDX-License-Identifier: Apache-2.0 */
#include "mock_run.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void on_found(void *ctx, const struct device_info *info)
{
    *(struct device_info *)ctx = *info;
}
static void on_problem(void *ctx, const char *text)
{
    (void)ctx;
    printf("problem: %s\n", text);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s; %s\n", __LINE__, #condition, err.msg);                            \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* What the first kernel to run ends the device with; 0: nothing. */
static int lost_code(const char *how)
{
    return strcmp(how, "fault") == 0 ? 700 : strcmp(how, "timeout") == 0 ? GPU_LAUNCH_TIMEOUT : 0;
}

/* A program beside the kernel: compiled, kept, launched three times over one pair of buffers, and
 * before each of them what doubles the first sum. */
static int job_check(const struct backend_api *api, struct backend *b, const char *how)
{
    struct error err = {0};
    struct build_info build = {0};
    struct job_program *p = NULL;
    struct job_source source = {.text = kernel_source, .entry = "no_such", .mode = MODE_STRICT};
    hash_bytes(source.text, strlen(source.text), source.hash);
    CHECK(api->job_build(b, &source, &p, &build, &err) == STATUS_DEVICE && !p);
    CHECK(strstr(err.msg, "ModuleGetFunction"));
    source.entry = "mock_job";
    source.once = "no_such_either";
    CHECK(api->job_build(b, &source, &p, &build, &err) == STATUS_DEVICE && !p);
    source.once = "mock_once";
    CHECK(api->job_build(b, &source, &p, &build, &err) == STATUS_OK && p && build.cached);
    CHECK(build.registers == 128);
    uint32_t in[100], sum[100];
    for (uint32_t i = 0; i < 100; i++) {
        in[i] = i;
        sum[i] = 1000;
    }
    const struct job_buffer buffers[] = {{in, NULL, sizeof in, "the input"},
                                         {sum, sum, sizeof sum, "the sums"}};
    double seconds = 0.0;
    enum status s = api->job_run(b, p, buffers, 2, 100, 0, 3, &seconds, &err);
    if (lost_code(how) || strcmp(how, "refuse") == 0) {
        CHECK(s == STATUS_DEVICE && strstr(err.msg, "CUDA_ERROR_"));
    } else {
        CHECK(s == STATUS_OK && seconds > 0.0);
        CHECK(sum[0] == 8 * 1000);
        for (uint32_t i = 1; i < 100; i++)
            CHECK(sum[i] == 1000 + 3 * i);
        CHECK(api->job_run(b, p, buffers, 2, 100, 513, 1, &seconds, &err) == STATUS_UNSUPPORTED);
        CHECK(strstr(err.msg, "513") && strstr(err.msg, "512"));
    }
    api->job_release(b, p);
    api->job_release(b, NULL);
    return 0;
}

/* What the mock holds in a variable of this name; NULL where it is not loaded. */
static int *mock_number(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int *number = driver ? dlsym(driver, name) : NULL;
    if (driver)
        dlclose(driver); /* it stays: the back end has it open */
    return number;
}

/* Says whether the kernel came out of the cache. */
static int build_only(const struct backend_api *api, const struct device_info *info)
{
    struct error err = {0};
    struct backend *b = NULL;
    struct build_info build = {0};
    const struct program_request request = program_request_make(MODE_STRICT);
    CHECK(api->open(info, &b, &err) == STATUS_OK);
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK);
    printf("taken from the cache: %d\n", build.cached);
    api->close(b);
    return 0;
}

/* As build_only, in four processes at once: says how many of them compiled. */
static int build_at_once(const struct backend_api *api, const struct device_info *info)
{
    struct error err = {0};
    int compiled = 0;
    fflush(stdout);
    for (int i = 0; i < 4; i++) {
        const pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            struct backend *b = NULL;
            struct build_info build = {0};
            const struct program_request request = program_request_make(MODE_STRICT);
            if (api->open(info, &b, NULL) != STATUS_OK ||
                api->build(b, &request, &build, NULL) != STATUS_OK)
                _exit(2);
            api->close(b);
            _exit(build.cached ? 0 : 1);
        }
    }
    for (int i = 0; i < 4; i++) {
        int status = 0;
        CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) < 2);
        compiled += WEXITSTATUS(status);
    }
    printf("compiled by %d of 4\n", compiled);
    return 0;
}

enum { W = 300, H = 500 }; /* 4.8 MB of film: more than one piece of the read-back */

/* Where there is no driver, or one too old for the compiler. */
static int absent_check(const struct backend_api *api, const char *how,
                        const struct device_info *info, const struct mock_expect *expect)
{
    struct error err = {0};
    struct backend *b = NULL;
    if (strcmp(how, "driver-12") == 0) { /* older than the compiler */
        CHECK(api->open(info, &b, &err) == STATUS_MISSING && strstr(err.msg, "NVRTC"));
        return 0;
    }
    struct device_info none = {.id = ""};
    snprintf(none.id, sizeof none.id, "%s", expect->id);
    CHECK(info->id[0] == '\0');
    CHECK(api->open(&none, &b, &err) == STATUS_MISSING);
    return 0;
}

/* A kernel that the compiler refuses, one that it takes, the same out of the cache. */
static int build_check(const struct backend_api *api, struct backend *b, struct program_request *of,
                       const struct mock_expect *expect)
{
    struct error err = {0};
    struct program_request request = *of;
    request.fault = "lost-cosine";
    request.tree = BVH_BINARY;
    struct build_info build = {0};
    CHECK(api->build(b, &request, &build, &err) == STATUS_BUILD);
    CHECK(strstr(err.msg, "ptxas info") && strstr(build.options, "-DK_FAULT_LOST_COSINE"));
    request.fault = NULL;
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK && !build.cached);
    CHECK(build.registers == 128 && build.stack_bytes == 432 && build.spill_bytes == 12);
    CHECK(strstr(build.options, expect->unfused) && strstr(build.options, "-DK_BVH=2") &&
          strstr(build.options, "-DK_PART=0"));
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK && build.cached);
    CHECK(build.spill_bytes == 12); /* kept with the binary */
    if (expect->prefers) {
        const int *preferred = mock_number("mock_cache_preference");
        CHECK(preferred && *preferred == 0);
        request.cache = CACHE_L1;
        CHECK(api->build(b, &request, &build, &err) == STATUS_OK && build.cached);
        CHECK(*preferred == 2); /* CU_FUNC_CACHE_PREFER_L1 */
        request.cache = CACHE_AUTO;
    }

    *of = request;
    return 0;
}

/* Stages one by one, where their pieces are compiled by themselves: scenes share what is alike. */
static int pieces_check(const struct backend_api *api, struct backend *b,
                        const struct program_request *whole)
{
    struct error err = {0};
    struct build_info build = {0};
    struct program_request request = *whole;
    const int *compilations = mock_number("mock_compilations");
    CHECK(compilations);
    request.staged = true;
    request.features = K_FEATURE_SHADERS | K_FEATURE_LOBES;
    int before = *compilations;
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK && !build.cached);
    CHECK(*compilations - before == 4 && build.registers == 128 && build.spill_bytes == 12);
    CHECK(strstr(build.options, "-DK_PIECE=3"));
    before = *compilations;
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK && build.cached);
    CHECK(*compilations == before);
    request.source_hash[0] ^= 1; /* another shader */
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK && !build.cached);
    CHECK(*compilations == before + 1);
    request.tree = BVH_WIDE8; /* which flights and shadow rays walk */
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK && !build.cached);
    CHECK(*compilations == before + 3);
    request.fault = "lost-cosine";
    CHECK(api->build(b, &request, &build, &err) == STATUS_BUILD && strstr(err.msg, "ptxas info"));
    request.fault = NULL;
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK);
    uint32_t most = 0;
    before = *compilations;
    CHECK(api->group_most(b, &most, &err) == STATUS_OK && most == 512);
    CHECK(*compilations == before);
    CHECK(api->build(b, whole, &build, &err) == STATUS_OK && build.cached);
    return 0;
}

/* The default of a work-group: of kernels without lists of lobes and with them. */
static int defaults_check(const struct backend_api *api, struct backend *b,
                          struct program_request request, const struct mock_expect *expect)
{
    struct error err = {0};
    struct build_info build = {0};
    struct launch_settings chosen = {0}, lists = {0};
    api->defaults(b, &chosen);
    CHECK(chosen.work_group[0] == 8 && chosen.work_group[1] == 8);
    request.features |= K_FEATURE_LOBES;
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK);
    api->defaults(b, &lists);
    CHECK(lists.work_group[0] == expect->lists_group[0] &&
          lists.work_group[1] == expect->lists_group[1]);
    request.features &= ~K_FEATURE_LOBES;
    uint32_t most = 0;
    CHECK(api->group_most(b, &most, &err) == STATUS_OK && most == 512);
    int *threads = mock_number("mock_threads"); /* what the driver says of the next program */
    if (threads) {
        *threads = 33;
        api->request(b, &request); /* forgets the one before: asking makes this one */
        CHECK(api->group_most(b, &most, &err) == STATUS_OK && most == 33);
        chosen = (struct launch_settings){0};
        api->defaults(b, &chosen);
        CHECK(chosen.work_group[0] * chosen.work_group[1] <= 33);
        *threads = 512;
    }
    CHECK(api->build(b, &request, &build, &err) == STATUS_OK && build.cached);
    return 0;
}

/* Probes work before any scene. */
static int probes_check(const struct backend_api *api, struct backend *b, const char *how)
{
    struct error err = {0};
    struct k_launch launch = {.rows = 100};
    uint32_t in[100], out[100];
    for (uint32_t i = 0; i < 100; i++) {
        in[i] = 7 * i;
        out[i] = 0;
    }
    if (lost_code(how) || strcmp(how, "refuse") == 0) {
        CHECK(api->run_words(b, ENTRY_PROBE, &launch, in, 100, out, 100, 100, &err) ==
              STATUS_DEVICE);
        CHECK(err.native == (lost_code(how) ? lost_code(how) : GPU_LAUNCH_OUT_OF_RESOURCES) &&
              strstr(err.msg, "CUDA_ERROR_"));
        CHECK(lost_code(how) != GPU_LAUNCH_TIMEOUT || strstr(err.msg, "--tile"));
    } else {
        const enum kernel_entry rows[] = {ENTRY_ARITHMETIC, ENTRY_PROBE, ENTRY_HIT};
        for (int e = 0; e < 3; e++) { /* each of another program */
            memset(out, 0, sizeof out);
            CHECK(api->run_words(b, rows[e], &launch, in, 100, out, 100, 100, &err) == STATUS_OK);
            for (uint32_t i = 0; i < 100; i++)
                CHECK(out[i] == 7 * i + 1);
        }
        CHECK(api->run_words(b, ENTRY_TRACE, &launch, NULL, 0, out, 4, 1, &err) == STATUS_OK);
        CHECK(out[0] == 1 && out[3] == 4);
    }
    return 0;
}

/* Two scenes, the second with the other tree; one that the device cannot hold. */
static int scenes_check(const struct backend_api *api, struct backend *b, const char *how,
                        struct program_request request)
{
    struct error err = {0};
    static _Alignas(128) float data[1 << 19];
    struct scene_buffers buffers = {0};
    uint64_t bytes = 0;
    buffers.at[0].data = data;
    buffers.at[0].size = 1024;
    buffers.at[3].data = data;
    buffers.at[3].size = 64;
    if (!lost_code(how)) {
        const int *queued = mock_number("mock_queued");
        CHECK(api->upload(b, &buffers, &bytes, &err) == STATUS_OK && bytes == 1088);
        CHECK(queued && *queued == 0);                           /* the caller may free its copy */
        CHECK(api->film_begin(b, 64, false, &err) == STATUS_OK); /* a larger one follows */
        request.tree = BVH_WIDE8;
        api->request(b, &request);
        CHECK(api->upload(b, &buffers, &bytes, &err) == STATUS_OK);
        struct scene_buffers large = buffers;
        large.at[1].data = data;
        large.at[1].size = (size_t)2 << 30;
        CHECK(api->upload(b, &large, &bytes, &err) == STATUS_LIMIT);
        CHECK(strstr(err.msg, "2147483648") && strstr(err.msg, "1073741824"));
        large.at[1].size = sizeof data;
        CHECK(api->upload(b, &large, &bytes, &err) ==
              (strcmp(how, "oom") == 0 ? STATUS_MEMORY : STATUS_OK));
    }
    return 0;
}

/* Three batches of three tiles; *launches counts what the device ran. */
static int launches_check(const struct backend_api *api, struct backend *b, const char *how,
                          const struct mock_expect *expect, struct k_launch *last,
                          unsigned *launches)
{
    struct error err = {0};
    struct k_launch launch = {.width = W, .height = H};
    const uint32_t group[2] = {7, 3};
    *launches = 0; /* with slices the first to a tile is two: it stores zeros first */
    for (uint32_t batch = 0; batch < 3; batch++)
        for (uint32_t x = 0; x < W; x += 100) {
            /* all but the last row: it keeps the poison */
            launch.tile_x = x;
            launch.tile_w = 100;
            launch.tile_h = H - 1;
            launch.sample_begin = 40 * batch;
            launch.sample_count = 40;
            launch.accumulate = batch > 0;
            const uint32_t grid[2] = {105, 501};
            enum status s = api->launch(b, ENTRY_RENDER, &launch, grid, group, &err);
            *launches += expect->slices && !launch.accumulate ? 2 : 1;
            if (strcmp(how, "refuse") == 0) {
                CHECK(s == STATUS_UNSUPPORTED && strstr(err.msg, "7x3"));
                continue;
            }
            CHECK(s == STATUS_OK);
        }
    *last = launch;
    return 0;
}

/* The film that they made: all but its last row, which keeps the poison. */
static int drawn_check(const struct backend_api *api, struct backend *b, const char *how,
                       unsigned launches, int64_t *film)
{
    struct error err = {0};
    double seconds = 0.0;
    CHECK(api->finish(b, &seconds, &err) == STATUS_OK);
    CHECK(api->film_read(b, film, (size_t)W * H, &err) == STATUS_OK);
    bool drawn = strcmp(how, "refuse") != 0;
    CHECK(drawn ? seconds > 0.0019 * launches && seconds < 0.0021 * launches : seconds == 0.0);
    for (int64_t y = 0; y < H; y++)
        for (int64_t x = 0; x < W; x++) {
            const int64_t *p = film + 4 * (y * W + x);
            if (y < H - 1 && drawn)
                CHECK(p[0] == 3 * x && p[1] == 3 * y && p[2] == 120 && p[3] == 120);
            else
                CHECK(p[0] == -1 && p[3] == -1);
        }
    return 0;
}

/* Groups that the device, then the kernel, then the grid refuses. */
static int limits_check(const struct backend_api *api, struct backend *b, struct k_launch launch)
{
    struct error err = {0};
    const uint32_t one[2] = {1, 1}, wide[2] = {2048, 1}, many[2] = {1024, 1}, tall[2] = {8, 4096};
    CHECK(api->launch(b, ENTRY_RENDER, &launch, wide, wide, &err) == STATUS_UNSUPPORTED &&
          strstr(err.msg, "1024 in x"));
    CHECK(api->launch(b, ENTRY_RENDER, &launch, many, many, &err) == STATUS_UNSUPPORTED &&
          strstr(err.msg, "512"));
    CHECK(api->launch(b, ENTRY_RENDER, &launch, tall, one, &err) == STATUS_UNSUPPORTED &&
          strstr(err.msg, "8x4096"));
    return 0;
}

#define PASS(check)                                                                                \
    do {                                                                                           \
        if ((check) != 0)                                                                          \
            return 1;                                                                              \
    } while (0)

static int film_life(const struct backend_api *api, struct backend *b, const char *how,
                     const struct mock_expect *expect, int64_t *film)
{
    struct error err = {0};
    struct k_launch launch = {0};
    unsigned launches;
    CHECK(api->film_begin(b, SIZE_MAX / 64, false, &err) == STATUS_LIMIT);
    enum status began = api->film_begin(b, (size_t)W * H, true, &err);
    if (strcmp(how, "oom") == 0) {
        CHECK(began == STATUS_MEMORY && strstr(err.msg, "4800000"));
        return 0;
    }
    if (lost_code(how)) {
        CHECK(began == STATUS_DEVICE &&
              err.native == lost_code(how)); /* lost for good, and said so */
        return 0;
    }
    CHECK(began == STATUS_OK);
    PASS(launches_check(api, b, how, expect, &launch, &launches));
    PASS(drawn_check(api, b, how, launches, film));
    return limits_check(api, b, launch);
}

int mock_run(const struct backend_api *api, const char *how, const struct mock_expect *expect)
{
    struct error err = {0};
    struct device_info info = {.id = ""};
    if (api->enumerate(on_found, on_problem, &info, NULL) != STATUS_OK)
        return 1;
    if (strcmp(how, "none") == 0 || strcmp(how, "absent") == 0 || strcmp(how, "driver-12") == 0)
        return absent_check(api, how, &info, expect);
    if (strcmp(how, "build at-once") == 0)
        return build_at_once(api, &info);
    if (strncmp(how, "build", 5) == 0)
        return build_only(api, &info);
    CHECK(strcmp(info.id, expect->id) == 0 && strcmp(info.name, "Mock GPU") == 0);
    CHECK(strcmp(info.version, expect->version) == 0 && info.max_work_group == 1024);
    CHECK(strstr(info.driver, expect->driver) && strcmp(info.compiler, expect->compiler) == 0);
    struct backend *b = NULL;
    struct device_info no_such = {.id = ""};
    snprintf(no_such.id, sizeof no_such.id, "%s:1", api->name);
    CHECK(api->open(&no_such, &b, &err) == STATUS_MISSING);
    CHECK(api->open(&info, &b, &err) == STATUS_OK);

    struct program_request request = program_request_make(MODE_STRICT);
    PASS(build_check(api, b, &request, expect));
    if (expect->pieces)
        PASS(pieces_check(api, b, &request));
    PASS(defaults_check(api, b, request, expect));
    PASS(probes_check(api, b, how));
    PASS(job_check(api, b, how));
    PASS(scenes_check(api, b, how, request));
    int64_t *film = calloc((size_t)W * H, 4 * sizeof *film);
    CHECK(film != NULL);
    int failed = film_life(api, b, how, expect, film);
    free(film);
    PASS(failed);
    api->close(b);
    api->close(NULL);
    return 0;
}

/* mock_case with this cache. */
static void mock_case_in(const char *folder, const char *self, const char *environment,
                         const char *how, const char *expected)
{
    char command[2048], out[8192];
    bool absent = strcmp(how, "absent") == 0;
    snprintf(command, sizeof command,
             "%s ISOPHOTE_CACHE=%s CUDA_MOCK='%s' LD_LIBRARY_PATH='%s' ISOPHOTE_NVRTC='%s/%s' '%s' "
             "--mock '%s' 2>&1",
             environment, folder, how, absent ? folder : MOCK_DIR, MOCK_DIR,
             absent ? "nosuch" : "libcuda.so.1", self, how);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    int status = pclose(f);
    if (status != 0 || !strstr(out, expected) || strstr(out, "mistake"))
        fail_msg("mock \"%s\", status %d: %s", how, status, out);
}

static void folder_remove(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

void mock_case(const char *self, const char *environment, const char *how, const char *expected)
{
    char folder[] = "/tmp/isophote-mock-XXXXXX";
    assert_non_null(mkdtemp(folder));
    mock_case_in(folder, self, environment, how, expected);
    folder_remove(folder);
}

void mock_cache_case(const char *self, const char *environment)
{
    static const struct {
        const char *how, *expected;
    } runs[] = {{"build", "cache: 0"},
                {"build", "cache: 1"},
                {"build driver-13.1", "cache: 0"},
                {"build driver-13.1", "cache: 1"},
                {"build nvrtc-13.1", "cache: 0"},
                {"build", "cache: 1"}};
    mock_case(self, environment, "build at-once", "compiled by 1 of 4");
    char folder[] = "/tmp/isophote-mock-XXXXXX";
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        mock_case_in(folder, self, environment, runs[i].how, runs[i].expected);
    folder_remove(folder);
}
