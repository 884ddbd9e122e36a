/* SPDX-License-Identifier: Apache-2.0 */
#include "ze_loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static struct {
    pthread_once_t once;
    struct ze_api api;
    bool loaded;
    char problem[512];
} loader = {.once = PTHREAD_ONCE_INIT};

static void drivers_start(void)
{
    ze_result_t code = loader.api.Init(0);
    loader.loaded = code == ZE_RESULT_SUCCESS;
    if (code == ZE_RESULT_ERROR_UNINITIALIZED)
        snprintf(loader.problem, sizeof loader.problem,
                 "level_zero: the loader finds no driver that works; for Intel's GPUs it is the "
                 "package intel-level-zero-gpu of Intel's repository");
    else if (code != ZE_RESULT_SUCCESS)
        snprintf(loader.problem, sizeof loader.problem, "level_zero: zeInit fails with %s (0x%x)",
                 ze_code_name(code), (unsigned)code);
}

static void loader_open(void)
{
    /* The loader (1.8) crashes when the variable is there and empty. */
    const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
    if (drivers && !*drivers)
        unsetenv("ZE_ENABLE_ALT_DRIVERS");
    void *library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(loader.problem, sizeof loader.problem,
                 "level_zero: no loader (%s); on Debian: apt-get install libze1",
                 why ? why : "libze_loader.so.1 does not load");
        return;
    }
#define X(name)                                                                                    \
    *(void **)&loader.api.name = dlsym(library, "ze" #name);                                       \
    if (!loader.api.name) {                                                                        \
        snprintf(loader.problem, sizeof loader.problem, "level_zero: the loader lacks ze" #name);  \
        return;                                                                                    \
    }
    ZE_FUNCTIONS(X)
#undef X
    drivers_start();
}

const struct ze_api *ze_load(const char **problem)
{
    pthread_once(&loader.once, loader_open);
    *problem = loader.loaded ? NULL : loader.problem;
    return loader.loaded ? &loader.api : NULL;
}

const char *ze_code_name(ze_result_t code)
{
    switch (code) {
#define CODE(name)                                                                                 \
    case name:                                                                                     \
        return #name;
        CODE(ZE_RESULT_SUCCESS)
        CODE(ZE_RESULT_NOT_READY)
        CODE(ZE_RESULT_ERROR_DEVICE_LOST)
        CODE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        CODE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
        CODE(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE)
        CODE(ZE_RESULT_ERROR_MODULE_LINK_FAILURE)
        CODE(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS)
        CODE(ZE_RESULT_ERROR_NOT_AVAILABLE)
        CODE(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
        CODE(ZE_RESULT_ERROR_UNINITIALIZED)
        CODE(ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
        CODE(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
        CODE(ZE_RESULT_ERROR_INVALID_ARGUMENT)
        CODE(ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
        CODE(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
        CODE(ZE_RESULT_ERROR_INVALID_NULL_POINTER)
        CODE(ZE_RESULT_ERROR_INVALID_SIZE)
        CODE(ZE_RESULT_ERROR_UNSUPPORTED_SIZE)
        CODE(ZE_RESULT_ERROR_INVALID_ENUMERATION)
        CODE(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY)
        CODE(ZE_RESULT_ERROR_INVALID_KERNEL_NAME)
        CODE(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION)
        CODE(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX)
        CODE(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE)
        CODE(ZE_RESULT_ERROR_UNKNOWN)
#undef CODE
    default:
        return "unknown";
    }
}

enum status ze_error(struct error *err, ze_result_t code, const char *call)
{
    enum status s =
        code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY || code == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
            ? STATUS_MEMORY
            : STATUS_DEVICE;
    error_msg(err, s, "%s: %s (0x%x)", call, ze_code_name(code), (unsigned)code);
    if (err)
        err->native = (int)code;
    return s;
}
