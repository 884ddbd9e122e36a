/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the environment that can change what a device, a driver or a compiler answers. */
#include "base.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* The first row that fits a name holds. */
static const struct variable_row {
    const char *pattern; /* of fnmatch(3) */
    bool decides;
    const char *reason;
} rows[] = {
    /* ours: where something lies is not what it says, and its bytes have parts of their own */
    {"ISOPHOTE_CACHE", false, "where compiled kernels are kept; each is known by its own key"},
    {"ISOPHOTE_DATA", false, "where scenes find files; these are parts by their bytes"},
    {"ISOPHOTE_DATA_DIR", false, "likewise for the program's own"},
    {"ISOPHOTE_TRUTHS", false, "where truths are kept; each is known by its own key"},
    {"ISOPHOTE_TRUTHS_MIB", false, "how much of them is kept"},
    {"ISOPHOTE_PYTHON", false, "an interpreter for tests"},
    {"ISOPHOTE_*", true, "compilers, flags, threads, limits and faults that we are told to use"},
    /* loaders and the C library: what code runs at all */
    {"LD_PRELOAD", true, "code put before every library's"},
    {"LD_LIBRARY_PATH", true, "which libraries are loaded, drivers among them"},
    {"LD_AUDIT", true, "code that changes how libraries are bound"},
    {"GLIBC_TUNABLES", true, "which variants of mathematical functions the C library takes"},
    /* compilers started for the native device */
    {"CPATH", true, "headers that the C compiler finds first"},
    {"C_INCLUDE_PATH", true, "headers that the C compiler finds"},
    {"COMPILER_PATH", true, "the parts of which gcc is made"},
    {"GCC_EXEC_PREFIX", true, "the parts of which gcc is made"},
    {"CCC_OVERRIDE_OPTIONS", true, "options that clang takes in place of ours"},
    /* OpenCL */
    {"POCL_CACHE_DIR", false, "where PoCL keeps compiled kernels"},
    {"POCL_*", true, "PoCL's devices, threads, work-group methods and compiler"},
    {"OCL_*", true, "which drivers the OpenCL loader finds"},
    {"OPENCL_*", true, "which drivers and layers the OpenCL loader finds"},
    {"CL_*", true, "Intel's processor device: limits and configuration"},
    {"OCLGRIND_*", true, "what Oclgrind checks"},
    {"RUSTICL_*", true, "Mesa's devices and their features"},
    {"CLOVER_*", true, "Mesa's older OpenCL"},
    {"LP_*", true, "llvmpipe: vector width and threads"},
    {"GALLIUM_*", true, "which of Mesa's drivers is taken"},
    {"MESA_*", true, "Mesa's versions, overrides and shader replacement"},
    {"CPU_*", true, "Intel's processor device: threads and affinity"},
    {"DPCPP_*", true, "Intel's processor device: compute units and threads"},
    {"VOLCANO_*", true, "Intel's processor compiler"},
    {"TBB_*", true, "the scheduler below Intel's device"},
    {"OMP_*", true, "threads of libraries below devices"},
    {"KMP_*", true, "threads of libraries below devices"},
    /* CUDA */
    {"CUDA_CACHE_PATH", false, "where the CUDA driver keeps compiled kernels"},
    {"CUDA_*", true, "devices, their order, just-in-time compilation"},
    {"NVRTC_*", true, "NVIDIA's run-time compiler"},
    {"NVCC_*", true, "NVIDIA's compilers"},
    {"NVIDIA_*", true, "NVIDIA's driver and containers"},
    /* HIP */
    {"HIP_*", true, "AMD's run time: devices, compilation"},
    {"HIPRTC_*", true, "AMD's run-time compiler"},
    {"HSA_*", true, "AMD's driver interface; HSA_OVERRIDE_GFX_VERSION names another chip"},
    {"ROC*", true, "AMD's libraries and visible devices"},
    {"AMD_*", true, "AMD's compiler and log"},
    {"GPU_*", true, "AMD's OpenCL and HIP: heaps, queues, devices"},
    /* Level Zero */
    {"ZE_*", true, "drivers, layers, device hierarchy and affinity of Level Zero"},
    {"ZEL_*", true, "Level Zero's loader"},
    {"ZET_*", true, "Level Zero's tools, which can change timing"},
    {"NEO*", true, "Intel's GPU driver: its debug keys change code and scheduling"},
    {"IGC_*", true, "Intel's GPU compiler"},
    {"SYCL_*", true, "devices below other run times"},
    {"ONEAPI_*", true, "which devices Intel's run times show"},
};

static bool decides(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fnmatch(rows[i].pattern, name, 0) == 0)
            return rows[i].decides;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool variable_row_at(size_t i, const char **pattern, bool *is_decisive, const char **reason)
{
    if (i >= sizeof rows / sizeof *rows)
        return false;
    *pattern = rows[i].pattern;
    *is_decisive = rows[i].decides;
    *reason = rows[i].reason;
    return true;
}

const struct identity *identity_environment(struct arena *a, struct error *err)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **set = ARENA_ARRAY(a, char *, n);
    struct identity *id = set ? identity_new(a, "environment") : NULL;
    if (!id)
        return identity_close(NULL, err);
    for (size_t i = 0; i < n; i++) {
        const char *equals = strchr(environ[i], '=');
        char *name = equals ? arena_strndup(a, environ[i], (size_t)(equals - environ[i])) : NULL;
        if (equals && !name)
            return identity_close(NULL, err);
        if (name && decides(name))
            set[kept++] = environ[i];
    }
    if (kept)
        qsort(set, kept, sizeof *set, by_name);
    for (size_t i = 0; i < kept; i++) {
        const char *equals = strchr(set[i], '=');
        identity_add(id, arena_strndup(a, set[i], (size_t)(equals - set[i])), equals + 1);
    }
    return identity_close(id, err);
}
