/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_api.h"

#include "api/offers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const int hip_attributes[GPU_ATTRIBUTE_COUNT] = {
    [GPU_MAX_THREADS] = 56,     [GPU_MAX_BLOCK_X] = 26, [GPU_MAX_BLOCK_Y] = 27,
    [GPU_MAX_GRID_X] = 29,      [GPU_MAX_GRID_Y] = 30,  [GPU_CLOCK_KHZ] = 5,
    [GPU_MULTIPROCESSORS] = 63, [GPU_MAJOR] = 23,       [GPU_MINOR] = 61,
};
static const char *const call_names[GPU_CALL_COUNT] = {
#define X(member, cuda, hip, parameters) [GPU_CALL_##member] = (hip),
    GPU_FUNCTIONS(X)
#undef X
        [GPU_CALL_retain] = "hipSetDevice",
    [GPU_CALL_select] = "hipSetDevice",
    [GPU_CALL_pinned_alloc] = "hipHostMalloc",
};

/* ---- the library ---------------------------------------------------------------------------- */

static struct {
    pthread_once_t once;
    void *handle; /* NULL: none */
    char name[4096];
    char problem[768];
} library = {.once = PTHREAD_ONCE_INIT};

/* True when it opened. A file that is there and does not open is a problem worth telling. */
static bool library_try(const char *path)
{
    library.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library.handle) {
        snprintf(library.name, sizeof library.name, "%s", path);
        return true;
    }
    const char *why = dlerror();
    if (why && !strstr(why, "No such file"))
        snprintf(library.problem, sizeof library.problem, "hip: %.200s is there but broken: %.400s",
                 path, why);
    return false;
}

/* `nvidia` and `soft` are Isophote's own runtimes, its helpers (helper_path). */
static void library_given(const char *given)
{
    char path[4096], file[64];
    struct error err = {0};
    if (strcmp(given, "nvidia") == 0 || strcmp(given, "soft") == 0) {
        snprintf(file, sizeof file, "libisophote_hip_%s.so", given);
        if (helper_path(file, path, sizeof path, &err) != STATUS_OK) {
            snprintf(library.problem, sizeof library.problem,
                     "hip: ISOPHOTE_HIP_LIBRARY=%s: %.500s", given, err.msg);
            return;
        }
        given = path;
    }
    if (!library_try(given) && !library.problem[0])
        snprintf(library.problem, sizeof library.problem,
                 "hip: ISOPHOTE_HIP_LIBRARY names %.500s, which is not there", given);
}

static void library_open(void)
{
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
    const char *given = getenv("ISOPHOTE_HIP_LIBRARY"), *rocm = getenv("ROCM_PATH");
    const char *const roots[] = {"", rocm ? rocm : "/opt/rocm", "/opt/rocm"};
    if (given && given[0]) {
        library_given(given);
        return;
    }
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            char path[1024];
            int length = roots[r][0] ? snprintf(path, sizeof path, "%s/lib/%s", roots[r], names[n])
                                     : snprintf(path, sizeof path, "%s", names[n]);
            if (length > 0 && (size_t)length < sizeof path && library_try(path))
                return;
        }
    if (!library.problem[0])
        snprintf(library.problem, sizeof library.problem,
                 "hip: no AMD runtime (libamdhip64.so.7, .6 or .5); on Debian: apt-get install "
                 "libamdhip64-5; elsewhere ROCm. ISOPHOTE_HIP_LIBRARY=nvidia runs HIP on NVIDIA's "
                 "driver, =soft on this processor");
}

/* ---- the runtime ---------------------------------------------------------------------------- */

static struct {
    pthread_once_t once;
    struct gpu_driver api;
    /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(member, name, result, parameters) result(*member) parameters;
    HIP_FUNCTIONS(X)
#undef X
    /* NOLINTEND(bugprone-macro-parentheses) */
    gpu_result (*properties)(void *out, int device);
    size_t arch_at;
    bool loaded;
    char problem[1024];
} runtime = {.once = PTHREAD_ONCE_INIT};

static const char *hip_error_name(gpu_result code)
{
    const char *name = runtime.GetErrorName(code);
    return name ? name : "unknown";
}
static const char *hip_error_text(gpu_result code)
{
    const char *text = runtime.GetErrorString(code);
    return text ? text : "no text";
}
static gpu_result hip_retain(gpu_device device, gpu_context *context)
{
    *context = NULL;
    return runtime.SetDevice(device);
}
static gpu_result hip_select(gpu_device device, gpu_context context)
{
    (void)context;
    return runtime.SetDevice(device);
}
static void hip_unselect(void) {}
static void hip_release(gpu_device device) { (void)device; }
static gpu_result hip_pinned_alloc(void **pointer, size_t bytes)
{
    return runtime.HostMalloc(pointer, bytes, 0);
}

/* The first name that the library lacks, or NULL. */
static const char *runtime_bind(void)
{
    const char *lacks = gpu_driver_bind(&runtime.api, library.handle, 1);
#define X(member, name, result, parameters)                                                        \
    *(void **)&runtime.member = dlsym(library.handle, name);                                       \
    if (!runtime.member && !lacks)                                                                 \
        lacks = name;
    HIP_FUNCTIONS(X)
#undef X
    runtime.arch_at = HIP_ARCH_AT_R0600;
    *(void **)&runtime.properties = dlsym(library.handle, "hipGetDevicePropertiesR0600");
    if (!runtime.properties) {
        runtime.arch_at = HIP_ARCH_AT_R0000;
        *(void **)&runtime.properties = dlsym(library.handle, "hipGetDeviceProperties");
    }
    if (!runtime.properties && !lacks)
        lacks = "hipGetDeviceProperties";
    runtime.api.retain = hip_retain;
    runtime.api.select = hip_select;
    runtime.api.unselect = hip_unselect;
    runtime.api.release = hip_release;
    runtime.api.pinned_alloc = hip_pinned_alloc;
    runtime.api.error_name = hip_error_name;
    runtime.api.error_text = hip_error_text;
    runtime.api.call_names = call_names;
    runtime.api.attributes = hip_attributes;
    return lacks;
}

static void runtime_open(void)
{
    pthread_once(&library.once, library_open);
    if (!library.handle) {
        snprintf(runtime.problem, sizeof runtime.problem, "%s", library.problem);
        return;
    }
    const char *lacks = runtime_bind();
    if (lacks) {
        snprintf(runtime.problem, sizeof runtime.problem,
                 "hip: %.500s is there but has no %s: not a HIP runtime of ROCm 5 to 7",
                 library.name, lacks);
        return;
    }
    int count = 0;
    gpu_result code = runtime.api.Init(0);
    if (code == GPU_OK)
        code = runtime.api.DriverGetVersion(&runtime.api.version);
    if (code == GPU_OK)
        code = runtime.api.DeviceGetCount(&count);
    if (code == GPU_OK && count == 0)
        code = GPU_NO_DEVICE;
    if (code != GPU_OK) { /* hipInit says 101, hipErrorInvalidDevice, where there is no GPU */
        bool absent = code == GPU_NO_DEVICE || code == HIP_INVALID_DEVICE;
        const char *name = hip_error_name(code), *text = hip_error_text(code);
        bool more = strcmp(name, text) != 0; /* AMD's text is the name */
        snprintf(runtime.problem, sizeof runtime.problem,
                 "hip: %.400s is there but %s: %s (%d)%s%.300s", library.name,
                 absent ? "finds no GPU" : "does not start", name, code, more ? ": " : "",
                 more ? text : "");
        return; /* kept open: it may have started threads */
    }
    runtime.loaded = true;
}

const struct gpu_driver *hip_load(const char **problem)
{
    pthread_once(&runtime.once, runtime_open);
    if (problem)
        *problem = runtime.loaded ? NULL : runtime.problem;
    return runtime.loaded ? &runtime.api : NULL;
}

const char *hip_library_name(void) { return library.name; }

void hip_arch(gpu_device device, char arch[GPU_ARCH_SIZE])
{
    char properties[HIP_PROPERTIES_SIZE] = {0};
    arch[0] = '\0';
    if (runtime.properties(properties, device) == GPU_OK)
        snprintf(arch, GPU_ARCH_SIZE, "%.*s", GPU_ARCH_SIZE - 1, properties + runtime.arch_at);
}

/* ---- hipRTC --------------------------------------------------------------------------------- */

static struct {
    pthread_once_t once;
    struct hiprtc_api api;
    bool loaded;
    char problem[1024];
} compiler = {.once = PTHREAD_ONCE_INIT};

static bool compiler_bind(void *from)
{
#define X(member, name, result, parameters)                                                        \
    *(void **)&compiler.api.member = dlsym(from, name);                                            \
    if (!compiler.api.member)                                                                      \
        return false;
    HIPRTC_FUNCTIONS(X)
#undef X
    return compiler.api.Version(&compiler.api.major, &compiler.api.minor) == 0;
}

/* libhiprtc.so.N for the libamdhip64.so.N that is loaded, in the same folder. */
static bool compiler_beside(void)
{
    char path[4200];
    const char *slash = strrchr(library.name, '/'), *version = strstr(library.name, ".so");
    snprintf(path, sizeof path, "%.*slibhiprtc%s", slash ? (int)(slash - library.name + 1) : 0,
             library.name, version ? version : ".so");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return handle && compiler_bind(handle);
}

static void compiler_open(void)
{
    pthread_once(&library.once, library_open);
    if (!library.handle) {
        snprintf(compiler.problem, sizeof compiler.problem, "%s", library.problem);
        return;
    }
    compiler.loaded = compiler_bind(library.handle) || compiler_beside();
    if (!compiler.loaded)
        snprintf(compiler.problem, sizeof compiler.problem,
                 "hip: no hipRTC, the kernel's compiler: neither %.500s nor a libhiprtc.so beside "
                 "it has it",
                 library.name);
}

const struct hiprtc_api *hiprtc_load(const char **problem)
{
    pthread_once(&compiler.once, compiler_open);
    if (problem)
        *problem = compiler.loaded ? NULL : compiler.problem;
    return compiler.loaded ? &compiler.api : NULL;
}
