/* The few functions of NVIDIA's driver API and of NVRTC that this back end calls, found at run
 * time. The names, types and numbers are facts of their documentation (CUDA Driver API and NVRTC
 * reference manuals, 12 and 13); cuda_test.c compares them with NVIDIA's headers where those are
 * installed. */
#ifndef ISOPHOTE_CUDA_API_H
#define ISOPHOTE_CUDA_API_H

#include "base.h"

/* ---- driver API ---------------------------------------------------------------------------- */

typedef int cu_result;
typedef int cu_device;
typedef struct cu_context_s *cu_context;
typedef struct cu_module_s *cu_module;
typedef struct cu_function_s *cu_function;
typedef struct cu_stream_s *cu_stream;
typedef struct cu_event_s *cu_event;
typedef unsigned long long cu_pointer; /* an address on the device; 0: none */

enum {
    CU_OK = 0,
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NO_DEVICE = 100,
    CU_LAUNCH_OUT_OF_RESOURCES = 701,
    CU_LAUNCH_TIMEOUT = 702,

    CU_DEVICE_MAX_THREADS = 1,
    CU_DEVICE_MAX_BLOCK_X = 2,
    CU_DEVICE_MAX_BLOCK_Y = 3,
    CU_DEVICE_MAX_GRID_X = 5,
    CU_DEVICE_MAX_GRID_Y = 6,
    CU_DEVICE_CLOCK_KHZ = 13,
    CU_DEVICE_MULTIPROCESSORS = 16,
    CU_DEVICE_MAJOR = 75,
    CU_DEVICE_MINOR = 76,

    CU_KERNEL_MAX_THREADS = 0,
    CU_KERNEL_LOCAL_BYTES = 3, /* a thread's stack, spills included */
    CU_KERNEL_REGISTERS = 4,

    CU_STREAM_NOT_BLOCKING = 1, /* does not wait for stream 0 */
    CU_EVENT_PLAIN = 0,
};

/* X(member, exported name, parameters) */
#define CU_FUNCTIONS(X)                                                                            \
    X(Init, "cuInit", (unsigned flags))                                                            \
    X(DriverGetVersion, "cuDriverGetVersion", (int *version))                                      \
    X(GetErrorName, "cuGetErrorName", (cu_result code, const char **text))                         \
    X(GetErrorString, "cuGetErrorString", (cu_result code, const char **text))                     \
    X(DeviceGetCount, "cuDeviceGetCount", (int *count))                                            \
    X(DeviceGet, "cuDeviceGet", (cu_device * device, int index))                                   \
    X(DeviceGetName, "cuDeviceGetName", (char *name, int size, cu_device device))                  \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, cu_device device))                   \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *value, int what, cu_device device))        \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                                          \
      (cu_context * context, cu_device device))                                                    \
    X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (cu_device device))                 \
    X(CtxSetCurrent, "cuCtxSetCurrent", (cu_context context))                                      \
    X(ModuleLoadData, "cuModuleLoadData", (cu_module * module, const void *image))                 \
    X(ModuleUnload, "cuModuleUnload", (cu_module module))                                          \
    X(ModuleGetFunction, "cuModuleGetFunction",                                                    \
      (cu_function * function, cu_module module, const char *name))                                \
    X(FuncGetAttribute, "cuFuncGetAttribute", (int *value, int what, cu_function function))        \
    X(MemGetInfo, "cuMemGetInfo_v2", (size_t * free, size_t * total))                              \
    X(MemAlloc, "cuMemAlloc_v2", (cu_pointer * pointer, size_t bytes))                             \
    X(MemFree, "cuMemFree_v2", (cu_pointer pointer))                                               \
    X(MemAllocHost, "cuMemAllocHost_v2", (void **pointer, size_t bytes))                           \
    X(MemFreeHost, "cuMemFreeHost", (void *pointer))                                               \
    X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                     \
      (cu_pointer to, const void *from, size_t bytes, cu_stream stream))                           \
    X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                     \
      (void *to, cu_pointer from, size_t bytes, cu_stream stream))                                 \
    X(MemsetD8Async, "cuMemsetD8Async",                                                            \
      (cu_pointer to, unsigned char value, size_t bytes, cu_stream stream))                        \
    X(StreamCreate, "cuStreamCreate", (cu_stream * stream, unsigned flags))                        \
    X(StreamDestroy, "cuStreamDestroy_v2", (cu_stream stream))                                     \
    X(StreamSynchronize, "cuStreamSynchronize", (cu_stream stream))                                \
    X(EventCreate, "cuEventCreate", (cu_event * event, unsigned flags))                            \
    X(EventDestroy, "cuEventDestroy_v2", (cu_event event))                                         \
    X(EventRecord, "cuEventRecord", (cu_event event, cu_stream stream))                            \
    X(EventSynchronize, "cuEventSynchronize", (cu_event event))                                    \
    X(EventElapsedTime, "cuEventElapsedTime", (float *milliseconds, cu_event from, cu_event to))   \
    X(LaunchKernel, "cuLaunchKernel",                                                              \
      (cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, cu_stream stream,                \
       void **parameters, void **extra))

struct cu_api { /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(member, name, parameters) cu_result(*member) parameters;
    CU_FUNCTIONS(X)
#undef X
    /* NOLINTEND(bugprone-macro-parentheses) */
    int version; /* of CUDA that the driver knows: 13000 is 13.0 */
};

/* libcuda.so.1, opened and initialised at the first call and kept; NULL if it is not here, does not
 * work or finds no device, with *problem saying so. Thread-safe. */
const struct cu_api *cu_load(const char **problem);

/* error_msg for a call that failed: MEMORY for CUDA_ERROR_OUT_OF_MEMORY, else DEVICE; err->native =
 * code. */
enum status cu_error(struct error *err, const struct cu_api *cu, cu_result code, const char *call);

/* ---- NVRTC -------------------------------------------------------------------------------------
 */

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
