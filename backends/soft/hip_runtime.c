/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_runtime.h"
#include "executor.h"

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
EXPORT gpu_result hip_properties(void *out, int device) __asm__("hipGetDevicePropertiesR0600");

struct gpu_module_s {
    struct soft_module *module;
};
struct gpu_stream_s {
    struct soft_stream *stream;
};
struct gpu_event_s {
    struct soft_point point;
    bool recorded;
};

/* ---- the device ----------------------------------------------------------------------------- */

/* One call at a time: soft_device is used by one thread at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    bool tried;
    gpu_result failed; /* why there is no device, or what ended it: every call's result from then */
    struct soft_device *soft;
    struct soft_stream *null_stream;
    char why[1024];
} device;

/* Copies of pageable memory that is read when a copy is queued, freed once it has run. */
struct staged {
    struct staged *next;
    struct soft_point point;
    void *memory;
};
static struct staged *staged_list;

static const char *wish(void)
{
    const char *w = getenv("ISOPHOTE_SOFT_HIP_FAULT");
    return w ? w : "";
}

static gpu_result code_of(enum status s)
{
    switch (s) {
    case STATUS_OK:
        return GPU_OK;
    case STATUS_MEMORY:
    case STATUS_LIMIT:
        return GPU_OUT_OF_MEMORY;
    case STATUS_BUILD:
    case STATUS_PARSE:
        return HIP_INVALID_IMAGE;
    case STATUS_ARG:
    case STATUS_UNSUPPORTED:
        return GPU_INVALID_VALUE;
    case STATUS_MISSING:
        return GPU_NO_DEVICE;
    default:
        return HIP_LAUNCH_FAILURE;
    }
}

/* The code of a failure, whose text hipGetErrorString then tells. One that a wait reports ends the
 * device. */
static gpu_result fail(gpu_result code, const char *text, bool lost)
{
    snprintf(device.why, sizeof device.why, "%s", text);
    if (lost)
        device.failed = code;
    return code;
}
static gpu_result fail_status(enum status s, const struct error *err)
{
    return s == STATUS_OK ? GPU_OK : fail(code_of(s), err->msg, false);
}

static void runtime_open(void)
{
    struct soft_options options;
    struct error err = {0};
    device.tried = true;
    if (strcmp(wish(), "none") == 0) {
        fail(GPU_NO_DEVICE, "no device", true);
        return;
    }
    if (strcmp(wish(), "driver") == 0) {
        fail(HIP_INSUFFICIENT_DRIVER, "the kernel driver is older than the runtime", true);
        return;
    }
    enum status s = soft_options_environment(&options, &err);
    if (s == STATUS_OK)
        s = soft_device_open(&options, &device.soft, &err);
    if (s == STATUS_OK)
        s = soft_stream_open(device.soft, &device.null_stream, &err);
    if (s != STATUS_OK) {
        fail(s == STATUS_MISSING ? GPU_NO_DEVICE : HIP_NOT_INITIALISED, err.msg, true);
        fprintf(stderr, "libisophote_hip_soft.so: %s\n", err.msg);
    }
}

/* Begins every call: the lock is held, the device is open and alive. */
static gpu_result enter(void)
{
    pthread_mutex_lock(&lock);
    if (!device.tried)
        runtime_open();
    return device.failed;
}
static gpu_result leave(gpu_result code)
{
    pthread_mutex_unlock(&lock);
    return code;
}
#define ENTER                                                                                      \
    gpu_result entered = enter();                                                                  \
    if (entered != GPU_OK)                                                                         \
    return leave(entered)

static struct soft_stream *stream_of(gpu_stream s) { return s ? s->stream : device.null_stream; }

static void staged_free(bool all)
{
    for (struct staged **at = &staged_list; *at;) {
        struct staged *s = *at;
        if (!all && !soft_reached(device.soft, s->point)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        free(s->memory);
        free(s);
    }
}

/* What the executor found while running, as hardware would say it. */
static gpu_result waited(enum status s, const struct error *err)
{
    if (s == STATUS_OK) {
        staged_free(false);
        return GPU_OK;
    }
    size_t count = 0;
    const struct soft_finding *f = soft_findings(device.soft, &count);
    gpu_result code = s == STATUS_TIMEOUT ? GPU_LAUNCH_TIMEOUT : HIP_LAUNCH_FAILURE;
    if (count > 0 && (f[0].check == SOFT_BOUNDS || f[0].check == SOFT_FREED))
        code = HIP_ILLEGAL_ADDRESS;
    if (count > 0 && f[0].check == SOFT_OVERRUN)
        code = GPU_LAUNCH_TIMEOUT;
    return fail(code, count > 0 ? f[0].text : err->msg, true);
}

__attribute__((destructor)) static void runtime_close(void)
{
    if (!device.soft)
        return;
    staged_free(true);
    soft_stream_close(device.null_stream);
    soft_device_close(device.soft);
}

gpu_result hip_Init(unsigned flags)
{
    gpu_result code = enter();
    return leave(flags == 0 ? code : GPU_INVALID_VALUE);
}
/* ROCm 6.0's way to count. */
gpu_result hip_DriverGetVersion(int *version)
{
    ENTER;
    *version = 60000000;
    return leave(strcmp(wish(), "version") == 0 ? fail(HIP_NOT_INITIALISED, "no version", false)
                                                : GPU_OK);
}
gpu_result hip_DeviceGetCount(int *count)
{
    gpu_result code = enter();
    *count = code == GPU_OK;
    return leave(code);
}
static gpu_result device_check(int index) { return index == 0 ? GPU_OK : HIP_INVALID_DEVICE; }
gpu_result hip_DeviceGet(gpu_device *out, int index)
{
    *out = index;
    return device_check(index);
}
gpu_result hip_SetDevice(int index)
{
    ENTER;
    return leave(device_check(index));
}
gpu_result hip_DeviceGetName(char *name, int size, gpu_device index)
{
    snprintf(name, (size_t)size, "Isophote soft HIP");
    return device_check(index);
}
gpu_result hip_DeviceTotalMem(size_t *bytes, gpu_device index)
{
    ENTER;
    *bytes = soft_device_memory(device.soft, NULL);
    return leave(device_check(index));
}
gpu_result hip_DeviceGetAttribute(int *value, int what, gpu_device index)
{
    static const int values[GPU_ATTRIBUTE_COUNT] = {[GPU_MAX_THREADS] = SOFT_GROUP_MAX,
                                                    [GPU_MAX_BLOCK_X] = SOFT_GROUP_MAX,
                                                    [GPU_MAX_BLOCK_Y] = SOFT_GROUP_MAX,
                                                    [GPU_MAX_GRID_X] = INT32_MAX,
                                                    [GPU_MAX_GRID_Y] = 65535};
    for (int i = 0; i < GPU_ATTRIBUTE_COUNT; i++)
        if (hip_attributes[i] == what) {
            *value = i == GPU_MULTIPROCESSORS ? (int)parallel_threads() : values[i];
            return device_check(index);
        }
    return GPU_INVALID_VALUE;
}
gpu_result hip_properties(void *out, int index)
{
    memset(out, 0, HIP_ARCH_AT_R0600 + GPU_ARCH_SIZE);
    snprintf((char *)out + HIP_ARCH_AT_R0600, GPU_ARCH_SIZE, "soft");
    return hip_DeviceGetName(out, 256, index);
}

const char *hip_GetErrorName(gpu_result code)
{
    static const struct {
        gpu_result code;
        const char *name;
    } names[] = {{GPU_OK, "hipSuccess"},
                 {GPU_INVALID_VALUE, "hipErrorInvalidValue"},
                 {GPU_OUT_OF_MEMORY, "hipErrorOutOfMemory"},
                 {HIP_NOT_INITIALISED, "hipErrorNotInitialized"},
                 {HIP_INSUFFICIENT_DRIVER, "hipErrorInsufficientDriver"},
                 {GPU_NO_DEVICE, "hipErrorNoDevice"},
                 {HIP_INVALID_DEVICE, "hipErrorInvalidDevice"},
                 {HIP_INVALID_IMAGE, "hipErrorInvalidImage"},
                 {HIP_INVALID_HANDLE, "hipErrorInvalidHandle"},
                 {HIP_NOT_FOUND, "hipErrorNotFound"},
                 {HIP_NOT_READY, "hipErrorNotReady"},
                 {HIP_ILLEGAL_ADDRESS, "hipErrorIllegalAddress"},
                 {GPU_LAUNCH_TIMEOUT, "hipErrorLaunchTimeOut"},
                 {HIP_LAUNCH_FAILURE, "hipErrorLaunchFailure"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    return "hipErrorUnknown";
}
const char *hip_GetErrorString(gpu_result code)
{
    return code == GPU_OK ? "no error" : device.why[0] ? device.why : hip_GetErrorName(code);
}

/* ---- modules -------------------------------------------------------------------------------- */

static const char code_magic[8] = {'S', 'O', 'F', 'T', 'H', 'I', 'P', '1'};

/* Machine code of an earlier run, from the cache; or made now and kept. */
static enum status module_make(const void *bitcode, size_t size, struct soft_module **out,
                               struct error *err)
{
    char key[33], all[128], hash[33], dir[4096], path[4200] = "", log[256];
    struct arena a = {0};
    const void *kept;
    size_t kept_size;
    hash_bytes(bitcode, size, hash);
    snprintf(all, sizeof all, "soft hip %s %s %u", soft_sources, hash,
             soft_device_checks(device.soft));
    hash_bytes(all, strlen(all), key);
    if (cache_dir("soft", dir, sizeof dir, NULL) == STATUS_OK)
        snprintf(path, sizeof path, "%s/%s.o", dir, key);
    enum status s = STATUS_MISSING;
    if (path[0] && cache_read(&a, path, key, &kept, &kept_size))
        s = soft_module_load(device.soft, kept, kept_size, NULL, out, NULL, 0, NULL);
    if (s != STATUS_OK) {
        s = soft_module_load(device.soft, bitcode, size, NULL, out, log, sizeof log, err);
        if (s == STATUS_OK && path[0]) {
            const void *made;
            soft_module_native(*out, &made, &kept_size);
            cache_write(path, key, made, kept_size);
        }
    }
    arena_free(&a);
    return s;
}

gpu_result hip_ModuleLoadData(gpu_module *module, const void *image)
{
    struct soft_code head;
    struct error err = {0};
    ENTER;
    memcpy(&head, image, sizeof head);
    if (memcmp(head.magic, code_magic, sizeof code_magic) != 0)
        return leave(fail(HIP_INVALID_IMAGE, "not an image of this runtime's hipRTC", false));
    gpu_module m = calloc(1, sizeof *m);
    if (!m)
        return leave(GPU_OUT_OF_MEMORY);
    enum status s =
        module_make((const char *)image + sizeof head, (size_t)head.size, &m->module, &err);
    if (s != STATUS_OK) {
        free(m);
        return leave(fail_status(s, &err));
    }
    *module = m;
    return leave(GPU_OK);
}
gpu_result hip_ModuleUnload(gpu_module module)
{
    gpu_result code = enter(); /* also of a device that is lost */
    if (!module)
        return leave(HIP_INVALID_HANDLE);
    soft_module_free(module->module);
    free(module);
    return leave(code);
}

/* A function's handle is its kernel; the module is found again by asking all that are loaded. */
struct gpu_function_s {
    const struct soft_kernel *kernel;
    const struct soft_module *module;
    struct gpu_function_s *next;
};
static struct gpu_function_s *functions;

gpu_result hip_ModuleGetFunction(gpu_function *function, gpu_module module, const char *name)
{
    ENTER;
    const struct soft_kernel *k = module ? soft_module_find(module->module, name) : NULL;
    if (!k)
        return leave(fail(HIP_NOT_FOUND, "no kernel of this name", false));
    struct gpu_function_s *f = functions;
    while (f && (f->kernel != k || f->module != module->module))
        f = f->next;
    if (!f)
        f = calloc(1, sizeof *f);
    if (!f)
        return leave(GPU_OUT_OF_MEMORY);
    if (!f->kernel) {
        *f = (struct gpu_function_s){k, module->module, functions};
        functions = f; /* as long as the process: HIP has no call that ends a function's life */
    }
    *function = f;
    return leave(GPU_OK);
}
gpu_result hip_FuncGetAttribute(int *value, int what, gpu_function function)
{
    if (!function)
        return HIP_INVALID_HANDLE;
    *value = what == GPU_KERNEL_MAX_THREADS ? (int)soft_kernel_group(device.soft) : 0;
    return GPU_OK;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void *pointer_of(gpu_pointer p) { return (void *)(uintptr_t)p; }

gpu_result hip_MemGetInfo(size_t *free_bytes, size_t *total)
{
    uint64_t used = 0;
    ENTER;
    *total = (size_t)soft_device_memory(device.soft, &used);
    *free_bytes = *total - (size_t)used;
    return leave(GPU_OK);
}
static gpu_result memory_alloc(enum soft_memory kind, void **pointer, size_t bytes)
{
    struct error err = {0};
    ENTER;
    return leave(fail_status(soft_alloc(device.soft, kind, bytes, 256, pointer, &err), &err));
}
gpu_result hip_MemAlloc(gpu_pointer *pointer, size_t bytes)
{
    void *p = NULL;
    gpu_result code = memory_alloc(SOFT_DEVICE_MEMORY, &p, bytes);
    if (code == GPU_OK)
        *pointer = (uintptr_t)p;
    return code;
}
gpu_result hip_HostMalloc(void **pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    return memory_alloc(SOFT_HOST_MEMORY, pointer, bytes);
}
/* hipFree waits for all that is queued ("implicit synchronization"). */
static gpu_result memory_free(void *p)
{
    struct error err = {0};
    gpu_result code = enter();
    if (!p || !device.soft)
        return leave(code);
    if (code == GPU_OK)
        code = waited(soft_wait_all(device.soft, &err), &err);
    enum status s = soft_free(device.soft, p, &err);
    return leave(code != GPU_OK ? code : fail_status(s, &err));
}
gpu_result hip_MemFree(gpu_pointer pointer) { return memory_free(pointer_of(pointer)); }
gpu_result hip_MemFreeHost(void *pointer) { return memory_free(pointer); }

gpu_result hip_MemcpyHtoDAsync(gpu_pointer to, const void *from, size_t bytes, gpu_stream stream)
{
    struct error err = {0};
    struct soft_allocation there;
    ENTER;
    if (soft_allocation_find(device.soft, from, &there)) /* pinned: read when it runs */
        return leave(
            fail_status(soft_copy(stream_of(stream), pointer_of(to), from, bytes, &err), &err));
    struct staged *s = calloc(1, sizeof *s);
    void *copy = malloc(bytes ? bytes : 1);
    if (!s || !copy) {
        free(s);
        free(copy);
        return leave(GPU_OUT_OF_MEMORY);
    }
    memcpy(copy, from, bytes);
    enum status status = soft_copy(stream_of(stream), pointer_of(to), copy, bytes, &err);
    *s = (struct staged){staged_list, soft_stream_point(stream_of(stream)), copy};
    staged_list = s;
    return leave(fail_status(status, &err));
}
gpu_result hip_MemcpyDtoHAsync(void *to, gpu_pointer from, size_t bytes, gpu_stream stream)
{
    struct error err = {0};
    ENTER;
    return leave(
        fail_status(soft_copy(stream_of(stream), to, pointer_of(from), bytes, &err), &err));
}
gpu_result hip_MemsetD8Async(gpu_pointer to, unsigned char value, size_t bytes, gpu_stream stream)
{
    struct error err = {0};
    ENTER;
    return leave(
        fail_status(soft_fill(stream_of(stream), pointer_of(to), &value, 1, bytes, &err), &err));
}

/* ---- streams and events --------------------------------------------------------------------- */

gpu_result hip_StreamCreate(gpu_stream *stream, unsigned flags)
{
    struct error err = {0};
    ENTER;
    if (flags != GPU_STREAM_NOT_BLOCKING) /* the other kind waits for stream 0, and it for them */
        return leave(fail(GPU_INVALID_VALUE, "only hipStreamNonBlocking streams", false));
    gpu_stream s = calloc(1, sizeof *s);
    enum status status = s ? soft_stream_open(device.soft, &s->stream, &err) : STATUS_MEMORY;
    if (status != STATUS_OK)
        free(s);
    else
        *stream = s;
    return leave(fail_status(status, &err));
}
gpu_result hip_StreamDestroy(gpu_stream stream)
{
    gpu_result code = enter();
    if (!stream)
        return leave(HIP_INVALID_HANDLE);
    soft_stream_close(stream->stream);
    free(stream);
    return leave(code);
}
static gpu_result point_wait(struct soft_point p)
{
    struct error err = {0};
    return waited(soft_wait(device.soft, p, &err), &err);
}
gpu_result hip_StreamSynchronize(gpu_stream stream)
{
    ENTER;
    return leave(point_wait(soft_stream_point(stream_of(stream))));
}
gpu_result hip_EventCreate(gpu_event *event, unsigned flags)
{
    *event = calloc(1, sizeof **event);
    return !*event ? GPU_OUT_OF_MEMORY : flags == GPU_EVENT_PLAIN ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result hip_EventDestroy(gpu_event event)
{
    free(event);
    return event ? GPU_OK : HIP_INVALID_HANDLE;
}
gpu_result hip_EventRecord(gpu_event event, gpu_stream stream)
{
    ENTER;
    if (!event)
        return leave(HIP_INVALID_HANDLE);
    event->point = soft_stream_point(stream_of(stream));
    event->recorded = true;
    return leave(GPU_OK);
}
gpu_result hip_EventSynchronize(gpu_event event)
{
    ENTER;
    if (!event || !event->recorded)
        return leave(HIP_INVALID_HANDLE);
    return leave(point_wait(event->point));
}
gpu_result hip_EventElapsedTime(float *milliseconds, gpu_event from, gpu_event to)
{
    uint64_t begin = 0, end = 0;
    ENTER;
    if (!from || !to || !from->recorded || !to->recorded)
        return leave(HIP_INVALID_HANDLE);
    if (!soft_times(device.soft, from->point, &begin, NULL, NULL) ||
        !soft_times(device.soft, to->point, &end, NULL, NULL))
        return leave(HIP_NOT_READY);
    *milliseconds = (float)(1e-6 * ((double)end - (double)begin));
    return leave(GPU_OK);
}

/* ---- launches ------------------------------------------------------------------------------- */

enum { ARGUMENTS_MAX = 64 };

/* Values out of one buffer, laid out as a C struct of the arguments. */
static gpu_result values_unpack(const struct soft_kernel *k, void **extra,
                                struct soft_value values[ARGUMENTS_MAX])
{
    const char *buffer = NULL;
    size_t size = 0, at = 0;
    for (; (uintptr_t)extra[0] != HIP_LAUNCH_END; extra += 2) {
        if ((uintptr_t)extra[0] == HIP_LAUNCH_BUFFER_POINTER)
            buffer = extra[1];
        else if ((uintptr_t)extra[0] == HIP_LAUNCH_BUFFER_SIZE)
            size = *(const size_t *)extra[1];
        else
            return fail(GPU_INVALID_VALUE, "extra holds an unknown key", false);
    }
    for (size_t i = 0; i < k->argument_count; i++) {
        const struct soft_argument *a = &k->arguments[i];
        at = (at + a->align - 1) / a->align * a->align;
        values[i] = (struct soft_value){buffer + at, a->size};
        at += a->size;
    }
    if (buffer && at == size)
        return GPU_OK;
    char text[256];
    snprintf(text, sizeof text, "arguments: %s takes %zu bytes of them; the buffer holds %zu",
             k->name, at, buffer ? size : 0);
    soft_finding_add(device.soft, SOFT_ARGUMENTS, "%s", text);
    return fail(GPU_INVALID_VALUE, text, false);
}

gpu_result hip_LaunchKernel(gpu_function function, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, gpu_stream stream, void **parameters,
                            void **extra)
{
    struct soft_value values[ARGUMENTS_MAX];
    struct error err = {0};
    ENTER;
    const struct soft_kernel *k = function ? function->kernel : NULL;
    if (!k || k->argument_count > ARGUMENTS_MAX || !parameters == !extra)
        return leave(fail(GPU_INVALID_VALUE, "no function, or no arguments", false));
    gpu_result code = GPU_OK;
    if (extra)
        code = values_unpack(k, extra, values);
    if (code != GPU_OK)
        return leave(code);
    /* Parameters carry no sizes: each is as large as the kernel says. A NULL was never set. */
    for (size_t i = 0; parameters && i < k->argument_count; i++)
        values[i] = (struct soft_value){parameters[i], parameters[i] ? k->arguments[i].size : 0};
    const struct soft_launch launch = {
        .module = function->module,
        .kernel = k,
        .groups = {grid_x, grid_y, grid_z},
        .group = {block_x, block_y, block_z},
        .dynamic_local = shared_bytes,
        .values = values,
    };
    enum status s = soft_launch(stream_of(stream), &launch, &err);
    code = s == STATUS_DEVICE ? fail(HIP_LAUNCH_FAILURE, err.msg, true) : fail_status(s, &err);
    if (code == GPU_OK && strcmp(wish(), "timeout") == 0)
        code = fail(GPU_LAUNCH_TIMEOUT, "a launch ran into the watchdog", true);
    return leave(code);
}
