/* SPDX-License-Identifier: Apache-2.0 */
/* HIP beyond what gpu.h has of it, and hipRTC, found at run time. The names, types and numbers are
 * facts of AMD's hip_runtime_api.h and hiprtc.h (ROCm 5 to 7); hip_test.c compares them with the
 * headers where those are installed. */
#ifndef ISOPHOTE_HIP_API_H
#define ISOPHOTE_HIP_API_H

#include "gpu/gpu.h"

/* Numbers of hipDeviceAttribute_t, as gpu_driver.attributes. */
extern const int hip_attributes[GPU_ATTRIBUTE_COUNT];

/* hipDeviceProp_t changed with ROCm 6, where the new function is another symbol; all that is wanted
 * of it is a text at a known place. */
enum {
    HIP_INVALID_DEVICE = 101,   /* what hipInit says without a GPU */
    HIP_PROPERTIES_SIZE = 4096, /* more than any version's */
    HIP_ARCH_AT_R0000 = 396,    /* gcnArchName, hipGetDeviceProperties */
    HIP_ARCH_AT_R0600 = 1160,   /* gcnArchName, hipGetDevicePropertiesR0600 */
};

/* What HIP spells otherwise than CUDA: X(member, exported name, result, parameters) */
#define HIP_FUNCTIONS(X)                                                                           \
    X(GetErrorName, "hipGetErrorName", const char *, (gpu_result code))                            \
    X(GetErrorString, "hipGetErrorString", const char *, (gpu_result code))                        \
    X(SetDevice, "hipSetDevice", gpu_result, (int device))                                         \
    X(HostMalloc, "hipHostMalloc", gpu_result, (void **pointer, size_t bytes, unsigned flags))

/* The HIP runtime, opened and started at the first call and kept: $ISOPHOTE_HIP_LIBRARY (a path, or
 * `nvidia` or `soft` for Isophote's own: docs/contributor/hip.md), else libamdhip64.so.7, .6 or .5
 * on the library path, in $ROCM_PATH and in /opt/rocm. NULL if it is not here, does not work or
 * finds no device, with *problem saying so. Thread-safe. */
const struct gpu_driver *hip_load(const char **problem);
/* Its path or name. After hip_load gave a driver. */
const char *hip_library_name(void);
/* "gfx90a:sramecc+:xnack-"; "" if the device does not tell. */
void hip_arch(gpu_device device, char arch[GPU_ARCH_SIZE]);

/* ---- hipRTC --------------------------------------------------------------------------------- */

typedef int hiprtc_result;
typedef struct hiprtc_program_s *hiprtc_program;

#define HIPRTC_FUNCTIONS(X)                                                                        \
    X(Version, "hiprtcVersion", hiprtc_result, (int *major, int *minor))                           \
    X(GetErrorString, "hiprtcGetErrorString", const char *, (hiprtc_result code))                  \
    X(CreateProgram, "hiprtcCreateProgram", hiprtc_result,                                         \
      (hiprtc_program * program, const char *source, const char *name, int headers,                \
       const char **header_sources, const char **header_names))                                    \
    X(DestroyProgram, "hiprtcDestroyProgram", hiprtc_result, (hiprtc_program * program))           \
    X(CompileProgram, "hiprtcCompileProgram", hiprtc_result,                                       \
      (hiprtc_program program, int options, const char **option))                                  \
    X(GetProgramLogSize, "hiprtcGetProgramLogSize", hiprtc_result,                                 \
      (hiprtc_program program, size_t * size))                                                     \
    X(GetProgramLog, "hiprtcGetProgramLog", hiprtc_result, (hiprtc_program program, char *log))    \
    X(GetCodeSize, "hiprtcGetCodeSize", hiprtc_result, (hiprtc_program program, size_t * size))    \
    X(GetCode, "hiprtcGetCode", hiprtc_result, (hiprtc_program program, char *code))

struct hiprtc_api { /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(member, name, result, parameters) result(*member) parameters;
    HIPRTC_FUNCTIONS(X)
#undef X
    /* NOLINTEND(bugprone-macro-parentheses) */
    int major, minor;
};

/* hipRTC: in the HIP library itself (ROCm 5 and 6, Isophote's own), else libhiprtc.so beside it.
 * Needs no device. NULL with *problem when there is none. Thread-safe. */
const struct hiprtc_api *hiprtc_load(const char **problem);

#endif
