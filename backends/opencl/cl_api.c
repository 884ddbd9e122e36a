/* SPDX-License-Identifier: Apache-2.0 */
#include "cl_api.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static struct {
    pthread_once_t once;
    struct cl_api api;
    void *library;
    bool loaded;
    char problem[512];
} loader = {.once = PTHREAD_ONCE_INIT};

/* Counts the .icd files of a folder that `other` has too; *all: how many there are. */
static unsigned icd_count(const char *folder, const char *other, unsigned *all)
{
    unsigned both = 0;
    *all = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char file[4096];
        size_t n = strlen(e->d_name);
        if (n <= 4 || strcmp(e->d_name + n - 4, ".icd") != 0)
            continue;
        ++*all;
        if ((size_t)snprintf(file, sizeof file, "%s/%s", other, e->d_name) < sizeof file &&
            access(file, R_OK) == 0)
            both++;
    }
    if (d)
        closedir(d);
    return both;
}

/* ./test puts a driver from PyPI beside the system's into a folder of the cache. Unless the user
 * says which drivers to use, that folder is used, if it still has all of the system's. */
static void loader_vendors(void)
{
    static const char system_folder[] = "/etc/OpenCL/vendors";
    char cache[1024], ours[1100];
    unsigned system_all, ours_all;
    if (getenv("OCL_ICD_VENDORS") || getenv("OCL_ICD_FILENAMES") ||
        cache_dir("", cache, sizeof cache, NULL) != STATUS_OK)
        return;
    snprintf(ours, sizeof ours, "%s/opencl-icd", cache);
    unsigned both = icd_count(system_folder, ours, &system_all);
    icd_count(ours, system_folder, &ours_all);
    if (ours_all > 0 && both == system_all)
        setenv("OCL_ICD_VENDORS", ours, 1);
}

static char scratch[3072];
static void scratch_end(void) { scratch_remove(scratch); }

/* PoCL compiles by way of files where this says, else in a place of its own under $HOME, and loads
 * again what it finds there, without a checksum. So it gets an empty folder that only this run and
 * the processes that it starts write to; what it compiled is kept in files of ours
 * (opencl_program.c). It builds nothing when it cannot write there. */
static void loader_files(void)
{
    enum { ROOM = 64 << 20 };
    char folder[3072];
    struct statvfs disk;
    if (getenv("POCL_CACHE_DIR"))
        return;
    const bool room = cache_dir("pocl", folder, sizeof folder, NULL) == STATUS_OK &&
                      access(folder, W_OK | X_OK) == 0 && statvfs(folder, &disk) == 0 &&
                      (uint64_t)disk.f_bavail * disk.f_frsize >= ROOM;
    if ((!room || scratch_make_in(folder, scratch, sizeof scratch, NULL) != STATUS_OK) &&
        scratch_make(scratch, sizeof scratch, NULL) != STATUS_OK)
        return;
    atexit(scratch_end);
    setenv("POCL_CACHE_DIR", scratch, 1);
}

static void loader_open(void)
{
    loader_vendors();
    loader_files();

    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(loader.problem, sizeof loader.problem,
                 "opencl: no OpenCL loader (%s); on Debian: apt-get install ocl-icd-libopencl1",
                 why ? why : "libOpenCL.so.1 does not load");
        return;
    }
    loader.library = library;
#define X(name)                                                                                    \
    *(void **)&loader.api.name = dlsym(library, "cl" #name);                                       \
    if (!loader.api.name) {                                                                        \
        snprintf(loader.problem, sizeof loader.problem,                                            \
                 "opencl: libOpenCL.so.1 has no cl" #name ": it is older than OpenCL 1.2; on "     \
                 "Debian: apt-get install ocl-icd-libopencl1");                                    \
        dlclose(library);                                                                          \
        return;                                                                                    \
    }
    CL_FUNCTIONS(X)
#undef X
    loader.loaded = true;
}

const struct cl_api *cl_load(const char **problem)
{
    pthread_once(&loader.once, loader_open);
    if (problem)
        *problem = loader.loaded ? NULL : loader.problem;
    return loader.loaded ? &loader.api : NULL;
}

/* clang-format off */
#define CL_CODES(X) \
    X(CL_SUCCESS) X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE) \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY) \
    X(CL_PROFILING_INFO_NOT_AVAILABLE) X(CL_MEM_COPY_OVERLAP) X(CL_IMAGE_FORMAT_MISMATCH) \
    X(CL_IMAGE_FORMAT_NOT_SUPPORTED) X(CL_BUILD_PROGRAM_FAILURE) X(CL_MAP_FAILURE) \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET) X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) \
    X(CL_COMPILE_PROGRAM_FAILURE) X(CL_LINKER_NOT_AVAILABLE) X(CL_LINK_PROGRAM_FAILURE) \
    X(CL_DEVICE_PARTITION_FAILED) X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE) X(CL_INVALID_VALUE) \
    X(CL_INVALID_DEVICE_TYPE) X(CL_INVALID_PLATFORM) X(CL_INVALID_DEVICE) X(CL_INVALID_CONTEXT) \
    X(CL_INVALID_QUEUE_PROPERTIES) X(CL_INVALID_COMMAND_QUEUE) X(CL_INVALID_HOST_PTR) \
    X(CL_INVALID_MEM_OBJECT) X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR) X(CL_INVALID_IMAGE_SIZE) \
    X(CL_INVALID_SAMPLER) X(CL_INVALID_BINARY) X(CL_INVALID_BUILD_OPTIONS) X(CL_INVALID_PROGRAM) \
    X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME) X(CL_INVALID_KERNEL_DEFINITION) \
    X(CL_INVALID_KERNEL) X(CL_INVALID_ARG_INDEX) X(CL_INVALID_ARG_VALUE) X(CL_INVALID_ARG_SIZE) \
    X(CL_INVALID_KERNEL_ARGS) X(CL_INVALID_WORK_DIMENSION) X(CL_INVALID_WORK_GROUP_SIZE) \
    X(CL_INVALID_WORK_ITEM_SIZE) X(CL_INVALID_GLOBAL_OFFSET) X(CL_INVALID_EVENT_WAIT_LIST) \
    X(CL_INVALID_EVENT) X(CL_INVALID_OPERATION) X(CL_INVALID_GL_OBJECT) X(CL_INVALID_BUFFER_SIZE) \
    X(CL_INVALID_MIP_LEVEL) X(CL_INVALID_GLOBAL_WORK_SIZE) X(CL_INVALID_PROPERTY) \
    X(CL_INVALID_IMAGE_DESCRIPTOR) X(CL_INVALID_COMPILER_OPTIONS) X(CL_INVALID_LINKER_OPTIONS) \
    X(CL_INVALID_DEVICE_PARTITION_COUNT)
/* clang-format on */

void *cl_symbol(const char *name) { return loader.library ? dlsym(loader.library, name) : NULL; }

const char *cl_code_name(cl_int code)
{
    switch (code) {
#define X(name)                                                                                    \
    case name:                                                                                     \
        return #name;
        CL_CODES(X)
#undef X
    case -1001:
        return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
        return "unknown";
    }
}

/* What to make of an error that a user may well meet: OpenCL has no codes of their own for a launch
 * that was stopped, a fault and a lost device. */
static const char *hint_of(cl_int code)
{
    switch (code) {
    case CL_OUT_OF_RESOURCES:
        return "; drivers say so of a launch that the system's watchdog ended (smaller ones, "
               "--tile or --batch, may pass), of a kernel that faulted, and of a lost device";
    case CL_INVALID_COMMAND_QUEUE:
        return "; the device is lost to this process, as after an earlier launch that faulted or "
               "that the system's watchdog ended (smaller ones, --tile or --batch, may pass)";
    default:
        return "";
    }
}

enum status cl_error(struct error *err, cl_int code, const char *call)
{
    bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
    enum status s = error_msg(err, memory ? STATUS_MEMORY : STATUS_DEVICE, "%s failed: %s (%d)%s",
                              call, cl_code_name(code), code, hint_of(code));
    if (err)
        err->native = code;
    return s;
}
