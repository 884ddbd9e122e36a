/* SPDX-License-Identifier: Apache-2.0 */
/* A HIP runtime over NVIDIA's driver: the hip* and hiprtc* functions that Isophote calls, answered
 * by CUDA's driver API and NVRTC (both found at run time), so that the HIP back end's host code
 * runs on NVIDIA's hardware. Not a general HIP: no default context is made for threads that never
 * called hipSetDevice but the first device's, and one stream order is CUDA's.
 *
 * Options of hipRTC are translated; what has no translation is refused. */
#include "cuda/cuda_api.h"
#include "hip_api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* One declaration of each exported function, with the types that the back end calls it by. */
#define X(member, cuda, name, parameters) EXPORT gpu_result hip_##member parameters __asm__(name);
GPU_FUNCTIONS(X)
#undef X
#define X(member, name, result, parameters) EXPORT result hip_##member parameters __asm__(name);
HIP_FUNCTIONS(X)
#undef X
#define X(member, name, result, parameters) EXPORT result hiprtc_##member parameters __asm__(name);
HIPRTC_FUNCTIONS(X)
#undef X
EXPORT gpu_result hip_properties(void *out, int device) __asm__("hipGetDevicePropertiesR0600");

/* ---- the device of this thread -------------------------------------------------------------- */

enum { DEVICES_MAX = 64, NOT_SUPPORTED = 801 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gpu_context contexts[DEVICES_MAX]; /* kept until the process ends, as HIP does */
static _Thread_local int current = -1;

static gpu_result device_select(int device)
{
    const struct gpu_driver *cu = cu_load(NULL);
    gpu_device d;
    if (!cu)
        return GPU_NO_DEVICE;
    if (device < 0 || device >= DEVICES_MAX || cu->DeviceGet(&d, device) != GPU_OK)
        return HIP_INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    gpu_result code = GPU_OK;
    if (!contexts[device])
        code = cu->retain(d, &contexts[device]);
    if (code == GPU_OK)
        code = cu->select(d, contexts[device]);
    pthread_mutex_unlock(&lock);
    current = code == GPU_OK ? device : current;
    return code;
}

/* At the end of the process, or when the library is unloaded. */
__attribute__((destructor)) static void contexts_release(void)
{
    const struct gpu_driver *cu = cu_load(NULL);
    gpu_device d;
    for (int i = 0; cu && i < DEVICES_MAX; i++)
        if (contexts[i] && cu->DeviceGet(&d, i) == GPU_OK)
            cu->release(d);
}

/* The driver with a context current on this thread: HIP's calls mean device 0 when none was set. */
#define DRIVER_OR_RETURN                                                                           \
    const struct gpu_driver *cu = cu_load(NULL);                                                   \
    if (!cu)                                                                                       \
        return GPU_NO_DEVICE;                                                                      \
    if (current < 0) {                                                                             \
        gpu_result selected = device_select(0);                                                    \
        if (selected != GPU_OK)                                                                    \
            return selected;                                                                       \
    }

/* ---- the runtime ---------------------------------------------------------------------------- */

gpu_result hip_Init(unsigned flags)
{
    const char *why = NULL;
    if (flags != 0)
        return GPU_INVALID_VALUE;
    if (cu_load(&why))
        return GPU_OK;
    fprintf(stderr, "libisophote_hip_nvidia.so: %s\n", why);
    return GPU_NO_DEVICE;
}
/* HIP's way to write CUDA's version: 13000 is 13.0. */
gpu_result hip_DriverGetVersion(int *version)
{
    const struct gpu_driver *cu = cu_load(NULL);
    if (!cu)
        return GPU_NO_DEVICE;
    *version = cu->version / 1000 * 10000000 + cu->version % 1000 / 10 * 100000;
    return GPU_OK;
}
gpu_result hip_SetDevice(int device) { return device_select(device); }
/* CUDA's names: HIP's error numbers are the same, and so are their meanings. */
const char *hip_GetErrorName(gpu_result code)
{
    const struct gpu_driver *cu = cu_load(NULL);
    return cu ? cu->error_name(code) : code == GPU_NO_DEVICE ? "hipErrorNoDevice" : "unknown";
}
const char *hip_GetErrorString(gpu_result code)
{
    const struct gpu_driver *cu = cu_load(NULL);
    return cu ? cu->error_text(code) : "no NVIDIA driver";
}
gpu_result hip_DeviceGetCount(int *count)
{
    const struct gpu_driver *cu = cu_load(NULL);
    return cu ? cu->DeviceGetCount(count) : GPU_NO_DEVICE;
}
gpu_result hip_DeviceGet(gpu_device *device, int index)
{
    int count = 0;
    gpu_result code = hip_DeviceGetCount(&count);
    if (code != GPU_OK)
        return code;
    *device = index; /* HIP's handle is the index; CUDA's need not be */
    return index >= 0 && index < count ? GPU_OK : HIP_INVALID_DEVICE;
}
gpu_result hip_DeviceGetName(char *name, int size, gpu_device device)
{
    const struct gpu_driver *cu = cu_load(NULL);
    gpu_device d;
    gpu_result code = cu ? cu->DeviceGet(&d, device) : GPU_NO_DEVICE;
    return code == GPU_OK ? cu->DeviceGetName(name, size, d) : code;
}
gpu_result hip_DeviceTotalMem(size_t *bytes, gpu_device device)
{
    const struct gpu_driver *cu = cu_load(NULL);
    gpu_device d;
    gpu_result code = cu ? cu->DeviceGet(&d, device) : GPU_NO_DEVICE;
    return code == GPU_OK ? cu->DeviceTotalMem(bytes, d) : code;
}
gpu_result hip_DeviceGetAttribute(int *value, int what, gpu_device device)
{
    const struct gpu_driver *cu = cu_load(NULL);
    gpu_device d;
    gpu_result code = cu ? cu->DeviceGet(&d, device) : GPU_NO_DEVICE;
    for (int i = 0; code == GPU_OK && i < GPU_ATTRIBUTE_COUNT; i++)
        if (hip_attributes[i] == what)
            return cu->DeviceGetAttribute(value, cu_attributes[i], d);
    return code == GPU_OK ? GPU_INVALID_VALUE : code;
}
/* Name and architecture ("sm_90"); the rest stays 0. */
gpu_result hip_properties(void *out, int device)
{
    const struct gpu_driver *cu = cu_load(NULL);
    gpu_device d;
    gpu_result code = cu ? cu->DeviceGet(&d, device) : GPU_NO_DEVICE;
    if (code != GPU_OK)
        return code;
    memset(out, 0, HIP_ARCH_AT_R0600 + GPU_ARCH_SIZE);
    snprintf((char *)out + HIP_ARCH_AT_R0600, GPU_ARCH_SIZE, "sm_%u",
             10 * gpu_attribute_get(cu, d, GPU_MAJOR) + gpu_attribute_get(cu, d, GPU_MINOR));
    return cu->DeviceGetName(out, 256, d);
}
gpu_result hip_ModuleLoadData(gpu_module *module, const void *image)
{
    DRIVER_OR_RETURN
    return cu->ModuleLoadData(module, image);
}
gpu_result hip_ModuleUnload(gpu_module module)
{
    DRIVER_OR_RETURN
    return cu->ModuleUnload(module);
}
gpu_result hip_ModuleGetFunction(gpu_function *function, gpu_module module, const char *name)
{
    DRIVER_OR_RETURN
    return cu->ModuleGetFunction(function, module, name);
}
gpu_result hip_FuncGetAttribute(int *value, int what, gpu_function function)
{
    DRIVER_OR_RETURN
    return cu->FuncGetAttribute(value, what, function);
}
gpu_result hip_MemGetInfo(size_t *free_bytes, size_t *total)
{
    DRIVER_OR_RETURN
    return cu->MemGetInfo(free_bytes, total);
}
gpu_result hip_MemAlloc(gpu_pointer *pointer, size_t bytes)
{
    DRIVER_OR_RETURN
    return cu->MemAlloc(pointer, bytes);
}
gpu_result hip_MemFree(gpu_pointer pointer)
{
    DRIVER_OR_RETURN
    return pointer ? cu->MemFree(pointer) : GPU_OK; /* hipFree(NULL) is allowed */
}
gpu_result hip_HostMalloc(void **pointer, size_t bytes, unsigned flags)
{
    DRIVER_OR_RETURN
    return flags == 0 ? cu->pinned_alloc(pointer, bytes) : NOT_SUPPORTED;
}
gpu_result hip_MemFreeHost(void *pointer)
{
    DRIVER_OR_RETURN
    return cu->MemFreeHost(pointer);
}
gpu_result hip_MemcpyHtoDAsync(gpu_pointer to, const void *from, size_t bytes, gpu_stream stream)
{
    DRIVER_OR_RETURN
    return cu->MemcpyHtoDAsync(to, from, bytes, stream);
}
gpu_result hip_MemcpyDtoHAsync(void *to, gpu_pointer from, size_t bytes, gpu_stream stream)
{
    DRIVER_OR_RETURN
    return cu->MemcpyDtoHAsync(to, from, bytes, stream);
}
gpu_result hip_MemsetD8Async(gpu_pointer to, unsigned char value, size_t bytes, gpu_stream stream)
{
    DRIVER_OR_RETURN
    return cu->MemsetD8Async(to, value, bytes, stream);
}
gpu_result hip_StreamCreate(gpu_stream *stream, unsigned flags)
{
    DRIVER_OR_RETURN
    return cu->StreamCreate(stream, flags);
}
gpu_result hip_StreamDestroy(gpu_stream stream)
{
    DRIVER_OR_RETURN
    return cu->StreamDestroy(stream);
}
gpu_result hip_StreamSynchronize(gpu_stream stream)
{
    DRIVER_OR_RETURN
    return cu->StreamSynchronize(stream);
}
gpu_result hip_EventCreate(gpu_event *event, unsigned flags)
{
    DRIVER_OR_RETURN
    return cu->EventCreate(event, flags);
}
gpu_result hip_EventDestroy(gpu_event event)
{
    DRIVER_OR_RETURN
    return cu->EventDestroy(event);
}
gpu_result hip_EventRecord(gpu_event event, gpu_stream stream)
{
    DRIVER_OR_RETURN
    return cu->EventRecord(event, stream);
}
gpu_result hip_EventSynchronize(gpu_event event)
{
    DRIVER_OR_RETURN
    return cu->EventSynchronize(event);
}
gpu_result hip_EventElapsedTime(float *milliseconds, gpu_event from, gpu_event to)
{
    DRIVER_OR_RETURN
    return cu->EventElapsedTime(milliseconds, from, to);
}
gpu_result hip_LaunchKernel(gpu_function function, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, gpu_stream stream, void **parameters,
                            void **extra)
{
    DRIVER_OR_RETURN
    return cu->LaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                            shared_bytes, stream, parameters, extra);
}

/* ---- hipRTC --------------------------------------------------------------------------------- */

enum { RTC_OUT_OF_MEMORY = 1, RTC_INVALID_OPTION = 5, RTC_INTERNAL = 11 };
enum { OPTIONS_MAX = 32, OPTION_SIZE = 128 };

struct hiprtc_program_s {
    nvrtc_program program;
    bool ptx;
    char refused[OPTION_SIZE + 64]; /* what the log says of an option that has no translation */
};

/* NVRTC's results have hipRTC's numbers and meanings. */
static const struct nvrtc_api *nvrtc(void)
{
    const struct gpu_driver *cu = cu_load(NULL); /* compiling needs no driver, but must suit it */
    return nvrtc_load(cu ? cu->version / 1000 : 0, NULL);
}

hiprtc_result hiprtc_Version(int *major, int *minor)
{
    const struct nvrtc_api *n = nvrtc();
    return n ? n->Version(major, minor) : RTC_INTERNAL;
}
const char *hiprtc_GetErrorString(hiprtc_result code)
{
    const struct nvrtc_api *n = nvrtc();
    return n ? n->GetErrorString(code) : "there is no NVRTC";
}
hiprtc_result hiprtc_CreateProgram(hiprtc_program *program, const char *source, const char *name,
                                   int headers, const char **header_sources,
                                   const char **header_names)
{
    const struct nvrtc_api *n = nvrtc();
    if (!n)
        return RTC_INTERNAL;
    struct hiprtc_program_s *p = calloc(1, sizeof *p);
    if (!p)
        return RTC_OUT_OF_MEMORY;
    hiprtc_result code =
        n->CreateProgram(&p->program, source, name, headers, header_sources, header_names);
    if (code != 0) {
        free(p);
        return code;
    }
    *program = p;
    return 0;
}
hiprtc_result hiprtc_DestroyProgram(hiprtc_program *program)
{
    hiprtc_result code = nvrtc()->DestroyProgram(&(*program)->program);
    free(*program);
    *program = NULL;
    return code;
}

/* clang's spelling and NVRTC's ("": its default). */
static const char *const translations[][2] = {
    {"-O3", ""},
    {"-std=c++17", "--std=c++17"},
    {"-ffp-contract=off", "--fmad=false"},
    {"-ffp-contract=on", "--fmad=true"},
    {"-ffp-contract=fast", "--fmad=true"},
    {"-fhip-fp32-correctly-rounded-divide-sqrt", "--prec-div=true --prec-sqrt=true"},
    {"-fno-hip-fp32-correctly-rounded-divide-sqrt", "--prec-div=false --prec-sqrt=false"},
    {"-fgpu-flush-denormals-to-zero", "--ftz=true"},
    {"-fno-gpu-flush-denormals-to-zero", "--ftz=false"},
    {"-freciprocal-math", ""},
    {"-fno-signed-zeros", ""},
    {"--gpu-max-threads-per-block=256", ""},
};

struct words {
    char text[OPTIONS_MAX][OPTION_SIZE];
    const char *list[OPTIONS_MAX];
    int count;
};

static bool word_add(struct words *w, const char *text, size_t length)
{
    if (w->count == OPTIONS_MAX || length >= OPTION_SIZE)
        return false;
    snprintf(w->text[w->count], OPTION_SIZE, "%.*s", (int)length, text);
    w->list[w->count] = w->text[w->count];
    w->count++;
    return true;
}

/* sm_90 where NVRTC makes machine code for it, else PTX of the newest below (cuda_compile.c does
 * the same). */
static bool architecture_add(struct words *w, const char *arch, bool *ptx)
{
    const struct nvrtc_api *n = nvrtc();
    char text[OPTION_SIZE];
    int count = 0, archs[256], below = 0, wanted = 0;
    if (strncmp(arch, "sm_", 3) == 0)
        wanted = (int)strtol(arch + 3, NULL, 10);
    if (n->GetNumSupportedArchs(&count) != 0 || count > 256 || n->GetSupportedArchs(archs) != 0)
        return false;
    for (int i = 0; i < count; i++)
        below = archs[i] <= wanted && archs[i] > below ? archs[i] : below;
    *ptx = below != wanted;
    snprintf(text, sizeof text, "--gpu-architecture=%s_%d", *ptx ? "compute" : "sm", below);
    return below > 0 && word_add(w, text, strlen(text));
}

static bool option_translate(struct words *w, const char *option, bool *ptx)
{
    static const char architecture[] = "--gpu-architecture=", registers[] = "-DK_REGISTERS=";
    if (strncmp(option, architecture, sizeof architecture - 1) == 0)
        return architecture_add(w, option + sizeof architecture - 1, ptx);
    if (strncmp(option, registers, sizeof registers - 1) == 0) {
        char text[OPTION_SIZE];
        snprintf(text, sizeof text, "--maxrregcount=%.32s", option + sizeof registers - 1);
        return word_add(w, text, strlen(text));
    }
    if (strncmp(option, "-D", 2) == 0)
        return word_add(w, option, strlen(option));
    for (size_t i = 0; i < sizeof translations / sizeof *translations; i++) {
        const char *to = translations[i][1];
        if (strcmp(option, translations[i][0]) != 0)
            continue;
        for (; *to; to += strspn(to, " ")) {
            size_t length = strcspn(to, " ");
            if (!word_add(w, to, length))
                return false;
            to += length;
        }
        return true;
    }
    return false;
}

hiprtc_result hiprtc_CompileProgram(hiprtc_program p, int options, const char **option)
{
    static const char device[] = "-default-device", verbose[] = "--ptxas-options=-v";
    struct words w = {.count = 0};
    for (int i = 0; i < options; i++)
        if (!option_translate(&w, option[i], &p->ptx)) {
            snprintf(p->refused, sizeof p->refused, "HIP on NVIDIA has no translation of %s",
                     option[i]);
            return RTC_INVALID_OPTION;
        }
    if (!word_add(&w, device, sizeof device - 1) || !word_add(&w, verbose, sizeof verbose - 1))
        return RTC_INVALID_OPTION;
    return nvrtc()->CompileProgram(p->program, w.count, w.list);
}
hiprtc_result hiprtc_GetProgramLogSize(hiprtc_program p, size_t *size)
{
    *size = strlen(p->refused) + 1;
    return p->refused[0] ? 0 : nvrtc()->GetProgramLogSize(p->program, size);
}
hiprtc_result hiprtc_GetProgramLog(hiprtc_program p, char *log)
{
    if (!p->refused[0])
        return nvrtc()->GetProgramLog(p->program, log);
    memcpy(log, p->refused, strlen(p->refused) + 1);
    return 0;
}
hiprtc_result hiprtc_GetCodeSize(hiprtc_program p, size_t *size)
{
    const struct nvrtc_api *n = nvrtc();
    return p->ptx ? n->GetPTXSize(p->program, size) : n->GetCUBINSize(p->program, size);
}
hiprtc_result hiprtc_GetCode(hiprtc_program p, char *code)
{
    const struct nvrtc_api *n = nvrtc();
    return p->ptx ? n->GetPTX(p->program, code) : n->GetCUBIN(p->program, code);
}
