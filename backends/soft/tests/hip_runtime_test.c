/* SPDX-License-Identifier: Apache-2.0 */
/* The HIP runtime in software, as HIP programs see it: each check finds a mistake that is planted
 * in a program of a kernel and a few calls, and lets its twin without the mistake pass. And as
 * Isophote sees it: the HIP back end's pictures are the native ones, bit for bit, with all checks
 * on and without. Every program runs in a process of its own, for a finding ends the device. */
#include "soft/hip_runtime.h"
#include "tests/test_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *self;

/* ---- programs ------------------------------------------------------------------------------- */

enum { N = 64 };

static const char source[] =
    "extern \"C\" __global__ void past_end(float *out, const float *in, unsigned n)\n"
    "{ unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) out[i] = 1.0f; }\n"
    "extern \"C\" __global__ void copy(float *out, const float *in, unsigned n)\n"
    "{ unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i] + 1.0f; }\n"
    "extern \"C\" __global__ void rotate_racing(float *out, const float *in, unsigned n)\n"
    "{ __shared__ float all[64]; unsigned i = threadIdx.x; all[i] = in[i];\n"
    "  out[i] = all[(i + 1) % n]; }\n"
    "extern \"C\" __global__ void rotate(float *out, const float *in, unsigned n)\n"
    "{ __shared__ float all[64]; unsigned i = threadIdx.x; all[i] = in[i]; __syncthreads();\n"
    "  out[i] = all[(i + 1) % n]; }\n"
    "struct three { float at[3]; };\n"
    "static __device__ __noinline__ float total(three t, unsigned n) /* too long to be inlined */\n"
    "{ float sum = 0.0f;\n"
    "  _Pragma(\"unroll\") for (unsigned k = 0; k < 96; k++) sum += t.at[(k + n) % 3];\n"
    "  return sum; }\n"
    "extern \"C\" __global__ void by_value(float *out, const float *in, unsigned n)\n"
    "{ unsigned i = threadIdx.x; three t;\n"
    "  for (unsigned k = 0; k < n; k++) t.at[k] = in[i] * (k + 1.0f);\n"
    "  out[i] = total(t, n); t.at[0] = 7.0f; out[i] += total(t, i); }\n"
    "struct four { float at[4]; };\n"
    "static __device__ __noinline__ four first_of(float x, unsigned n)\n"
    "{ four f; for (unsigned k = 0; k < n; k++) f.at[k] = x; return f; }\n"
    "static __device__ __forceinline__ four passed_on(float x, unsigned n)\n"
    "{ four f = first_of(x, n), again; again = f; return again; }\n"
    "extern \"C\" __global__ void returned(float *out, const float *in, unsigned n)\n"
    "{ unsigned i = threadIdx.x; four f = passed_on(in[i], 2), g = f;\n"
    "  out[i] = g.at[0] + g.at[1] + (n == 4 ? g.at[n - 2] : 0.0f); }\n"
    "extern \"C\" __global__ void gather(float *out, const float *in, unsigned n)\n"
    "{ if (threadIdx.x < 2) out[0] = in[threadIdx.x]; }\n";

struct hip_program {
    const struct gpu_driver *hip;
    gpu_module module;
    gpu_stream streams[2];
    gpu_pointer out, in;
    float *pinned;
};

#define MUST(call)                                                                                 \
    do {                                                                                           \
        gpu_result code_ = (call);                                                                 \
        if (code_ != GPU_OK) {                                                                     \
            printf("line %d: %s: %s (%d): %s\n", __LINE__, #call, p->hip->error_name(code_),       \
                   code_, p->hip->error_text(code_));                                              \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

static void program_open(struct hip_program *p)
{
    static const char *options[] = {"--gpu-architecture=soft", "-O2", "-ffp-contract=off"};
    const char *why;
    const struct hiprtc_api *rtc = hiprtc_load(&why);
    p->hip = hip_load(&why);
    hiprtc_program program = NULL;
    size_t size = 0;
    if (!rtc || !p->hip || rtc->CreateProgram(&program, source, "test.hip", 0, NULL, NULL) != 0) {
        printf("%s\n", why ? why : "no program");
        exit(3);
    }
    if (rtc->CompileProgram(program, 3, options) != 0 || rtc->GetCodeSize(program, &size) != 0) {
        char log[16384];
        rtc->GetProgramLog(program, log);
        printf("%s\n", log);
        exit(3);
    }
    char *code = malloc(size);
    rtc->GetCode(program, code);
    MUST(p->hip->ModuleLoadData(&p->module, code));
    free(code);
    rtc->DestroyProgram(&program);
    for (int i = 0; i < 2; i++)
        MUST(p->hip->StreamCreate(&p->streams[i], GPU_STREAM_NOT_BLOCKING));
    MUST(p->hip->MemAlloc(&p->out, N * sizeof(float)));
    MUST(p->hip->MemAlloc(&p->in, N * sizeof(float)));
    void *pinned = NULL;
    MUST(p->hip->pinned_alloc(&pinned, N * sizeof(float)));
    p->pinned = pinned;
    for (int i = 0; i < N; i++)
        p->pinned[i] = (float)i;
}

static gpu_function kernel(const struct hip_program *p, const char *name)
{
    gpu_function f = NULL;
    MUST(p->hip->ModuleGetFunction(&f, p->module, name));
    return f;
}

static gpu_result launch(const struct hip_program *p, int stream, const char *name, unsigned blocks,
                         unsigned n)
{
    gpu_pointer out = p->out, in = p->in;
    void *arguments[] = {&out, &in, &n};
    return p->hip->LaunchKernel(kernel(p, name), blocks, 1, 1, N, 1, 1, 0, p->streams[stream],
                                arguments, NULL);
}
static void in_fill(const struct hip_program *p, int stream)
{
    MUST(p->hip->MemcpyHtoDAsync(p->in, p->pinned, N * sizeof(float), p->streams[stream]));
}
static gpu_result wait(const struct hip_program *p, int stream)
{
    return p->hip->StreamSynchronize(p->streams[stream]);
}

static gpu_result run_bounds(struct hip_program *p, bool planted)
{
    MUST(launch(p, 0, "past_end", 2, planted ? N : N - 1));
    return wait(p, 0);
}
static gpu_result run_freed(struct hip_program *p, bool planted)
{
    in_fill(p, 0);
    if (planted)
        MUST(p->hip->MemFree(p->in));
    MUST(launch(p, 0, "copy", 1, N));
    gpu_result code = wait(p, 0);
    if (!planted)
        MUST(p->hip->MemFree(p->in));
    return code;
}
static gpu_result run_uninitialised(struct hip_program *p, bool planted)
{
    if (!planted)
        MUST(p->hip->MemsetD8Async(p->in, 0, N * sizeof(float), p->streams[0]));
    MUST(launch(p, 0, "copy", 1, N));
    return wait(p, 0);
}
/* Did the last kernel write out[i] = scale * ((i + turn) % N) + offset? */
static gpu_result out_check(const struct hip_program *p, float scale, int turn, float offset)
{
    float out[N];
    MUST(p->hip->MemcpyDtoHAsync(out, p->out, sizeof out, p->streams[0]));
    MUST(wait(p, 0));
    for (int i = 0; i < N; i++)
        if (out[i] != scale * (float)((i + turn) % N) + offset)
            return HIP_LAUNCH_FAILURE;
    return GPU_OK;
}
/* A struct by value to a function that is called: what its caller wrote, and no more, is there. */
static gpu_result run_private(struct hip_program *p, bool planted)
{
    in_fill(p, 0);
    MUST(launch(p, 0, "by_value", 1, planted ? 2 : 3));
    gpu_result code = wait(p, 0);
    return code != GPU_OK || planted ? code : out_check(p, 32 * (6 + 5), 0, 32 * 7);
}
/* A struct of which a half is written comes back from a function, and is copied: only a read of the
 * other half is a mistake. */
static gpu_result run_returned(struct hip_program *p, bool planted)
{
    in_fill(p, 0);
    MUST(launch(p, 0, "returned", 1, planted ? 4 : 2));
    gpu_result code = wait(p, 0);
    return code != GPU_OK || planted ? code : out_check(p, 2, 0, 0);
}
static gpu_result run_races(struct hip_program *p, bool planted)
{
    in_fill(p, 0);
    MUST(launch(p, 0, planted ? "rotate_racing" : "rotate", 1, N));
    gpu_result code = wait(p, 0);
    return code != GPU_OK || planted ? code : out_check(p, 1, 1, 0);
}
static gpu_result run_global_races(struct hip_program *p, bool planted)
{
    in_fill(p, 0);
    MUST(launch(p, 0, planted ? "gather" : "copy", 1, N));
    return wait(p, 0);
}
static gpu_result run_waits(struct hip_program *p, bool planted)
{
    in_fill(p, 0);
    if (!planted)
        MUST(wait(p, 0));
    MUST(launch(p, 1, "copy", 1, N));
    return wait(p, 1);
}
/* The host writes what a queued copy still reads. */
static gpu_result run_host_waits(struct hip_program *p, bool planted)
{
    in_fill(p, 0);
    if (!planted)
        MUST(wait(p, 0));
    p->pinned[3] = 17.0f;
    return wait(p, 0);
}
static gpu_result run_arguments(struct hip_program *p, bool planted)
{
    struct {
        gpu_pointer out, in;
        unsigned n;
    } buffer = {p->out, p->in, N};
    size_t size = planted ? 16 : 20; /* two pointers, and an unsigned behind them */
    void *extra[] = {(void *)HIP_LAUNCH_BUFFER_POINTER, &buffer, (void *)HIP_LAUNCH_BUFFER_SIZE,
                     &size, (void *)HIP_LAUNCH_END};
    in_fill(p, 0);
    gpu_result code =
        p->hip->LaunchKernel(kernel(p, "copy"), 1, 1, 1, N, 1, 1, 0, p->streams[0], NULL, extra);
    return code == GPU_OK ? wait(p, 0) : code;
}
static gpu_result run_unset_argument(struct hip_program *p, bool planted)
{
    gpu_pointer out = p->out, in = p->in;
    unsigned n = N;
    void *arguments[] = {&out, &in, planted ? NULL : &n};
    in_fill(p, 0);
    gpu_result code = p->hip->LaunchKernel(kernel(p, "copy"), 1, 1, 1, N, 1, 1, 0, p->streams[0],
                                           arguments, NULL);
    return code == GPU_OK ? wait(p, 0) : code;
}

static const struct plant {
    const char *name;
    gpu_result (*run)(struct hip_program *p, bool planted);
    const char *check; /* that finds it, alone */
    gpu_result code;   /* of the call that tells */
    const char *text;  /* in what it says */
} plants[] = {
    {"bounds", run_bounds, "bounds", HIP_ILLEGAL_ADDRESS, "out of bounds: past_end"},
    {"freed", run_freed, "freed", HIP_ILLEGAL_ADDRESS, "use after free: copy"},
    {"uninitialised", run_uninitialised, "uninitialised", HIP_LAUNCH_FAILURE,
     "uninitialised read: copy"},
    {"private", run_private, "uninitialised", HIP_LAUNCH_FAILURE, "uninitialised read: by_value"},
    {"returned", run_returned, "uninitialised", HIP_LAUNCH_FAILURE, "uninitialised read: returned"},
    {"races", run_races, "races", HIP_LAUNCH_FAILURE, "race: rotate_racing"},
    {"global-races", run_global_races, "races", HIP_LAUNCH_FAILURE, "race: gather"},
    {"waits", run_waits, "waits", HIP_LAUNCH_FAILURE, "missing wait: copy"},
    {"host-waits", run_host_waits, "waits", HIP_LAUNCH_FAILURE, "missing wait: the host"},
    {"arguments", run_arguments, "arguments", GPU_INVALID_VALUE, "copy takes 20 bytes"},
    {"unset-argument", run_unset_argument, "arguments", GPU_INVALID_VALUE, "argument 2 of copy"},
};

/* "planted": exit status 0 when the mistake was told as it should be; "clean": when nothing was. */
static int plant_run(const char *name, const char *how)
{
    bool planted = strcmp(how, "planted") == 0;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        struct hip_program program = {.hip = NULL}, *p = &program;
        if (strcmp(plants[i].name, name) != 0)
            continue;
        program_open(p);
        gpu_result code = plants[i].run(p, planted), wanted = planted ? plants[i].code : GPU_OK;
        const char *text = p->hip->error_text(code);
        printf("%s, %s: %s (%d): %s\n", name, how, p->hip->error_name(code), code, text);
        /* With all checks on, another one may tell of it first. */
        const char *checks = getenv("ISOPHOTE_SOFT_CHECKS");
        bool alone = checks && strcmp(checks, plants[i].check) == 0;
        return code != wanted || (planted && alone && !strstr(text, plants[i].text));
    }
    return 3;
}

/* Output of `self --plant NAME HOW` with these checks on; fails unless it exits with 0. */
static void plant_check(const struct plant *plant, const char *how, const char *checks)
{
    char command[2048], out[8192];
    snprintf(command, sizeof command,
             "ISOPHOTE_HIP_LIBRARY=soft ISOPHOTE_SOFT_CHECKS=%s '%s' --plant %s %s 2>&1", checks,
             self, plant->name, how);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    int status = pclose(f);
    if (status != 0)
        fail_msg("%s, %s, checks %s: status %d: %s", plant->name, how, checks, status, out);
}

static void planted_mistakes_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        plant_check(&plants[i], "planted", plants[i].check);
        plant_check(&plants[i], "planted", "all");
    }
}
static void their_twins_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        plant_check(&plants[i], "clean", "all");
        plant_check(&plants[i], "clean", "''");
    }
}

/* ---- Isophote on it -------------------------------------------------------------------------- */

enum { W = 24, H = 17, SPP = 2 };

static void picture_hash(const char *id, const char *scene, enum bvh_kind bvh, enum math_mode mode,
                         const uint32_t work_group[2], char hex[33])
{
    struct error err = {0};
    struct film film;
    struct scene *s = scene_from_library(scene);
    struct render_job job = {.width = W,
                             .height = H,
                             .sample_count = SPP,
                             .max_depth = 6,
                             .rr_depth = 3,
                             .seed = 7,
                             .set = {.build.mode = mode, .launch = {.batch = 1, .tile = {16, 16}}}};
    if (work_group)
        memcpy(job.set.launch.work_group, work_group, sizeof job.set.launch.work_group);
    struct device *d = device_ready(id, s, bvh, mode);
    must(film_init(&film, W, H, film_exponent(s), &err), &err);
    must(device_render(d, &job, &film, true, NULL, &err), &err);
    must(film_check(&film, SPP, NULL, &err), &err);
    film_hash(&film, hex);
    film_free(&film);
    device_close(d);
    scene_free(s);
}

static void pictures_are_natives(void **state)
{
    (void)state;
    static const char *const scenes[] = {"cornell", "textured", "glass"};
    static const uint32_t groups[][2] = {{8, 8}, {7, 3}, {1, 1}};
    for (int i = 0; i < 3; i++) {
        char native[33], soft[33];
        enum bvh_kind bvh = (enum bvh_kind)(BVH_BINARY + i % (BVH_COUNT - BVH_BINARY));
        picture_hash("native", scenes[i], BVH_BINARY, MODE_STRICT, NULL, native);
        picture_hash("hip:0", scenes[i], bvh, MODE_STRICT, groups[i], soft);
        assert_string_equal(soft, native);
    }
}

static int checked_run(void)
{
    static const char *const scenes[] = {"cornell", "shaded-wood"};
    for (int i = 0; i < 2; i++) {
        char native[33], soft[33];
        picture_hash("native", scenes[i], BVH_BINARY, MODE_STRICT, NULL, native);
        picture_hash("hip:0", scenes[i], BVH_BINARY, MODE_STRICT, NULL, soft);
        if (strcmp(native, soft) != 0)
            return 1;
    }
    return 0;
}

static void host_code_has_no_finding(void **state)
{
    (void)state;
    char command[2048];
    snprintf(command, sizeof command, "ISOPHOTE_SOFT_CHECKS=all '%s' --checked 2>&1", self);
    assert_int_equal(system(command), 0);
}

/* ---- misbehaviour ---------------------------------------------------------------------------- */

/* What `isophote conform` would judge: the status and words of opening and rendering. */
static int fault_run(void)
{
    struct error err = {0};
    struct device *d = NULL;
    struct scene *s = scene_from_library("cornell");
    struct build_settings settings = {.mode = MODE_STRICT};
    struct render_job job = {.width = W,
                             .height = H,
                             .sample_count = 1,
                             .max_depth = 3,
                             .rr_depth = 3,
                             .set.build = settings};
    struct film film;
    enum status st = film_init(&film, W, H, film_exponent(s), &err);
    if (st == STATUS_OK)
        st = device_open("hip:0", &d, &err);
    if (st == STATUS_OK)
        st = device_load(d, s, BVH_AUTO, NULL, &err);
    if (st == STATUS_OK)
        st = device_build(d, &settings, NULL, &err);
    if (st == STATUS_OK)
        st = device_render(d, &job, &film, true, NULL, &err);
    printf("%s: %s\n", status_name(st), st == STATUS_OK ? "" : err.msg);
    device_close(d);
    film_free(&film);
    scene_free(s);
    return 0;
}

static void misbehaviour_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *environment, *status, *text;
    } faults[] = {
        {"ISOPHOTE_SOFT_HIP_FAULT=none", "MISSING: ", "finds no GPU: hipErrorNoDevice (100)"},
        {"ISOPHOTE_SOFT_HIP_FAULT=driver", "MISSING: ",
         "does not start: hipErrorInsufficientDriver (35): the kernel driver is older"},
        {"ISOPHOTE_SOFT_HIP_FAULT=version", "MISSING: ", "does not start"},
        {"ISOPHOTE_SOFT_HIP_FAULT=compiler", "BUILD: ", "hipRTC broke down (signal 6)"},
        {"ISOPHOTE_SOFT_HIP_FAULT=timeout", "DEVICE: ", "hipErrorLaunchTimeOut (702)"},
        {"ISOPHOTE_SOFT_WATCHDOG=1e-6", "DEVICE: ",
         "hipErrorLaunchTimeOut (702): launch stopped: k_arithmetic ran longer than its budget"},
        {"ISOPHOTE_SOFT_WATCHDOG=soon", "MISSING: ", "does not start"},
        {"ISOPHOTE_SOFT_FAULT=lost:2",
         "DEVICE: ", "hipErrorLaunchFailure (719): the device stopped answering"},
        {"ISOPHOTE_SOFT_MEMORY=5000", "LIMIT: ", " bytes; hip:0 has 5000"},
        {"ISOPHOTE_SOFT_MEMORY=100000", "MEMORY: ", "540672 bytes wanted; the device has "},
        {"ISOPHOTE_SOFT_CLANG=/nonexistent/clang", "BUILD: ", "/nonexistent/clang does not start"},
        {"ISOPHOTE_SOFT_WATCHDOG=600 ISOPHOTE_SOFT_CHECKS=all", "OK: ", ""},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char command[2048], out[8192], cache[64] = "", folder[] = "/tmp/isophote-hip-XXXXXX";
        assert_non_null(mkdtemp(folder));
        if (strncmp(faults[i].status, "BUILD", 5) == 0) /* the compiler must be asked */
            snprintf(cache, sizeof cache, "ISOPHOTE_CACHE=%s", folder);
        snprintf(command, sizeof command,
                 "%s ISOPHOTE_HIP_LIBRARY=soft %s '%s' --fault 2>&1; rm -rf %s", cache,
                 faults[i].environment, self, folder);
        FILE *f = popen(command, "r");
        assert_non_null(f);
        size_t n = fread(out, 1, sizeof out - 1, f);
        out[n] = '\0';
        pclose(f);
        if (!strstr(out, faults[i].status) || !strstr(out, faults[i].text))
            fail_msg("%s: %s", faults[i].environment, out);
    }
}

int main(int argc, char **argv)
{
    setenv("ISOPHOTE_HIP_LIBRARY", "soft", 1); /* before anything is loaded */
    if (argc == 4 && strcmp(argv[1], "--plant") == 0)
        return plant_run(argv[2], argv[3]);
    if (argc == 2 && strcmp(argv[1], "--fault") == 0)
        return fault_run();
    if (argc == 2 && strcmp(argv[1], "--checked") == 0)
        return checked_run();
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_mistakes_are_found), cmocka_unit_test(their_twins_pass),
        cmocka_unit_test(pictures_are_natives),       cmocka_unit_test(host_code_has_no_finding),
        cmocka_unit_test(misbehaviour_is_told),
    };
    return cmocka_run_group_tests_name("soft hip", tests, NULL, NULL);
}
