/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

/* ---- driver API ---------------------------------------------------------------------------- */

const int cu_attributes[GPU_ATTRIBUTE_COUNT] = {
    [GPU_MAX_THREADS] = 1,      [GPU_MAX_BLOCK_X] = 2, [GPU_MAX_BLOCK_Y] = 3,
    [GPU_MAX_GRID_X] = 5,       [GPU_MAX_GRID_Y] = 6,  [GPU_CLOCK_KHZ] = 13,
    [GPU_MULTIPROCESSORS] = 16, [GPU_MAJOR] = 75,      [GPU_MINOR] = 76,
};
static const char *const call_names[GPU_CALL_COUNT] = {
#define X(member, cuda, hip, parameters) [GPU_CALL_##member] = (cuda),
    GPU_FUNCTIONS(X)
#undef X
        [GPU_CALL_retain] = "cuDevicePrimaryCtxRetain",
    [GPU_CALL_select] = "cuCtxSetCurrent",
    [GPU_CALL_pinned_alloc] = "cuMemAllocHost",
    [GPU_CALL_cache_prefer] = "cuFuncSetCacheConfig",
};

static struct {
    pthread_once_t once;
    struct gpu_driver api;
    /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(member, name, parameters) gpu_result(*member) parameters;
    CU_FUNCTIONS(X)
#undef X
    /* NOLINTEND(bugprone-macro-parentheses) */
    bool loaded;
    char problem[512];
} driver = {.once = PTHREAD_ONCE_INIT};

static const char *cu_error_name(gpu_result code)
{
    const char *name = NULL;
    driver.GetErrorName(code, &name);
    return name ? name : "unknown";
}
static const char *cu_error_text(gpu_result code)
{
    const char *text = NULL;
    driver.GetErrorString(code, &text);
    return text ? text : "no text";
}
static gpu_result cu_retain(gpu_device device, gpu_context *context)
{
    return driver.DevicePrimaryCtxRetain(context, device);
}
static gpu_result cu_select(gpu_device device, gpu_context context)
{
    (void)device;
    return driver.CtxSetCurrent(context);
}
static void cu_unselect(void) { driver.CtxSetCurrent(NULL); }
static void cu_release(gpu_device device) { driver.DevicePrimaryCtxRelease(device); }

/* The first name that the library lacks, or NULL. */
static const char *driver_bind(void *library)
{
    const char *lacks = gpu_driver_bind(&driver.api, library, 0);
#define X(member, name, parameters)                                                                \
    *(void **)&driver.member = dlsym(library, name);                                               \
    if (!driver.member && !lacks)                                                                  \
        lacks = name;
    CU_FUNCTIONS(X)
#undef X
    driver.api.retain = cu_retain;
    driver.api.select = cu_select;
    driver.api.unselect = cu_unselect;
    driver.api.release = cu_release;
    driver.api.pinned_alloc = driver.MemAllocHost;
    driver.api.cache_prefer = driver.FuncSetCacheConfig;
    driver.api.error_name = cu_error_name;
    driver.api.error_text = cu_error_text;
    driver.api.call_names = call_names;
    driver.api.attributes = cu_attributes;
    return lacks;
}

static void driver_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(driver.problem, sizeof driver.problem,
                 "cuda: no NVIDIA driver (%s); it comes with the GPU's kernel driver, on Debian: "
                 "apt-get install libcuda1 nvidia-driver",
                 why ? why : "libcuda.so.1 does not load");
        return;
    }
    const char *lacks = driver_bind(library);
    if (lacks) {
        snprintf(driver.problem, sizeof driver.problem,
                 "cuda: libcuda.so.1 is there but has no %s: not a driver of CUDA 12 or 13", lacks);
        dlclose(library);
        return;
    }
    gpu_result code = driver.api.Init(0);
    int count = 0;
    if (code == GPU_OK)
        code = driver.api.DriverGetVersion(&driver.api.version);
    if (code == GPU_OK)
        code = driver.api.DeviceGetCount(&count);
    if (code == GPU_OK && count == 0)
        code = GPU_NO_DEVICE;
    if (code != GPU_OK) {
        snprintf(driver.problem, sizeof driver.problem, "cuda: the driver is there but %s: %s (%d)",
                 code == GPU_NO_DEVICE ? "finds no GPU" : "does not start", cu_error_name(code),
                 code);
        return; /* kept open: it may have started threads */
    }
    driver.loaded = true;
}

const struct gpu_driver *cu_load(const char **problem)
{
    pthread_once(&driver.once, driver_open);
    if (problem)
        *problem = driver.loaded ? NULL : driver.problem;
    return driver.loaded ? &driver.api : NULL;
}

/* ---- NVRTC ---------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    struct nvrtc_api api;
    bool tried, loaded;
    char problem[512];
} compiler = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Takes the library if it has all functions and suits the driver. */
static bool compiler_try(const char *path, int driver_major)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    struct nvrtc_api api = {.major = 0};
#define X(member, name, result, parameters)                                                        \
    *(void **)&api.member = dlsym(library, name);                                                  \
    if (!api.member)                                                                               \
        goto refuse;
    NVRTC_FUNCTIONS(X)
#undef X
    if (api.Version(&api.major, &api.minor) != 0 || (driver_major && api.major > driver_major))
        goto refuse;
    compiler.api = api;
    return true;
refuse:
    snprintf(compiler.problem, sizeof compiler.problem,
             "cuda: %.200s is NVRTC %d.%d; the driver needs one of CUDA 12 to %d", path, api.major,
             api.minor, driver_major ? driver_major : 13);
    dlclose(library);
    return false;
}

static bool compiler_open(int driver_major)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    const char *const roots[] = {"",
                                 getenv("CUDA_PATH"),
                                 getenv("CUDA_HOME"),
                                 "/usr/local/cuda",
                                 "/usr/local/cuda-13",
                                 "/usr/local/cuda-12"};
    const char *given = getenv("ISOPHOTE_NVRTC");
    if (given && given[0])
        return compiler_try(given, driver_major);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (size_t r = 0; r < sizeof roots / sizeof roots[0]; r++) {
            static const char *const folders[] = {"lib64", "lib"};
            char path[1024];
            if (!roots[r])
                continue;
            if (!roots[r][0] && compiler_try(names[n], driver_major))
                return true;
            for (size_t f = 0; roots[r][0] && f < sizeof folders / sizeof folders[0]; f++) {
                int length =
                    snprintf(path, sizeof path, "%s/%s/%s", roots[r], folders[f], names[n]);
                if (length > 0 && (size_t)length < sizeof path && compiler_try(path, driver_major))
                    return true;
            }
        }
    return false;
}

const struct nvrtc_api *nvrtc_load(int driver_major, const char **problem)
{
    pthread_mutex_lock(&compiler.lock);
    if (!compiler.tried) {
        compiler.tried = true;
        compiler.loaded = compiler_open(driver_major);
        if (!compiler.loaded && !compiler.problem[0])
            snprintf(compiler.problem, sizeof compiler.problem,
                     "cuda: no NVRTC, the kernel's compiler (libnvrtc.so.13 or .12); for example "
                     "pip install nvidia-cuda-nvrtc, then set ISOPHOTE_NVRTC to its libnvrtc.so.*");
    }
    pthread_mutex_unlock(&compiler.lock);
    if (problem)
        *problem = compiler.loaded ? NULL : compiler.problem;
    return compiler.loaded ? &compiler.api : NULL;
}
