/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's driver API beyond what gpu.h has of it, and NVRTC, found at run time. The names, types
 * and numbers are facts of their documentation (CUDA Driver API and NVRTC reference manuals, 12 and
 * 13); cuda_test.c compares them with NVIDIA's headers where those are installed. */
#ifndef ISOPHOTE_CUDA_API_H
#define ISOPHOTE_CUDA_API_H

#include "gpu/gpu.h"

/* ---- driver API ---------------------------------------------------------------------------- */

/* Numbers of CUdevice_attribute, as gpu_driver.attributes. */
extern const int cu_attributes[GPU_ATTRIBUTE_COUNT];

/* What CUDA spells otherwise than HIP: X(member, exported name, parameters) */
#define CU_FUNCTIONS(X)                                                                            \
    X(GetErrorName, "cuGetErrorName", (gpu_result code, const char **text))                        \
    X(GetErrorString, "cuGetErrorString", (gpu_result code, const char **text))                    \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                                          \
      (gpu_context * context, gpu_device device))                                                  \
    X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (gpu_device device))                \
    X(CtxSetCurrent, "cuCtxSetCurrent", (gpu_context context))                                     \
    X(MemAllocHost, "cuMemAllocHost_v2", (void **pointer, size_t bytes))                           \
    X(FuncSetCacheConfig, "cuFuncSetCacheConfig", (gpu_function function, int preference))

/* libcuda.so.1, opened and initialised at the first call and kept; NULL if it is not here, does not
 * work or finds no device, with *problem saying so. Thread-safe. */
const struct gpu_driver *cu_load(const char **problem);

/* ---- NVRTC ---------------------------------------------------------------------------------- */

typedef int nvrtc_result;
typedef struct nvrtc_program_s *nvrtc_program;

#define NVRTC_FUNCTIONS(X)                                                                         \
    X(Version, "nvrtcVersion", nvrtc_result, (int *major, int *minor))                             \
    X(GetErrorString, "nvrtcGetErrorString", const char *, (nvrtc_result code))                    \
    X(GetNumSupportedArchs, "nvrtcGetNumSupportedArchs", nvrtc_result, (int *count))               \
    X(GetSupportedArchs, "nvrtcGetSupportedArchs", nvrtc_result, (int *archs))                     \
    X(CreateProgram, "nvrtcCreateProgram", nvrtc_result,                                           \
      (nvrtc_program * program, const char *source, const char *name, int headers,                 \
       const char *const *header_sources, const char *const *header_names))                        \
    X(DestroyProgram, "nvrtcDestroyProgram", nvrtc_result, (nvrtc_program * program))              \
    X(CompileProgram, "nvrtcCompileProgram", nvrtc_result,                                         \
      (nvrtc_program program, int options, const char *const *option))                             \
    X(GetProgramLogSize, "nvrtcGetProgramLogSize", nvrtc_result,                                   \
      (nvrtc_program program, size_t * size))                                                      \
    X(GetProgramLog, "nvrtcGetProgramLog", nvrtc_result, (nvrtc_program program, char *log))       \
    X(GetCUBINSize, "nvrtcGetCUBINSize", nvrtc_result, (nvrtc_program program, size_t * size))     \
    X(GetCUBIN, "nvrtcGetCUBIN", nvrtc_result, (nvrtc_program program, char *cubin))               \
    X(GetPTXSize, "nvrtcGetPTXSize", nvrtc_result, (nvrtc_program program, size_t * size))         \
    X(GetPTX, "nvrtcGetPTX", nvrtc_result, (nvrtc_program program, char *ptx))

struct nvrtc_api { /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(member, name, result, parameters) result(*member) parameters;
    NVRTC_FUNCTIONS(X)
#undef X
    /* NOLINTEND(bugprone-macro-parentheses) */
    int major, minor;
};

/* The newest NVRTC here whose major version is at most `driver_major` (0: any): $ISOPHOTE_NVRTC,
 * else the usual names on the library path, in $CUDA_PATH, $CUDA_HOME and /usr/local/cuda*. Found
 * at the first call and kept. NULL with *problem when there is none. Thread-safe. */
const struct nvrtc_api *nvrtc_load(int driver_major, const char **problem);

#endif
