/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA driver and an NVRTC in one library, for tests of this back end's host code where there is
 * no GPU. "Device memory" is heap memory behind addresses that are not host pointers; every copy,
 * fill and argument is checked against what was allocated. Work on a stream is done when something
 * waits for it, as late as a real device may, so a missing wait or a buffer reused too early shows.
 * k_render stores (x, y, first sample, samples) in each pixel of its tile, or adds.
 *
 * CUDA_MOCK:
 *   ""                        works
 *   none                      no device
 *   oom                       allocations over 1 MiB fail
 *   refuse                    launches fail with 701
 *   fault, timeout            kernels end with 700, with 702
 *   exclusive                 one process at a time has the device, by a lock on the file
 *                             CUDA_MOCK_LOCK
 *   driver-12, driver-13.1    the driver is of that version, not 13.0
 *   nvrtc-13.1                and the compiler
 *   at-once                   the compiler takes 0.3 s
 *
 * At the last release of the context it prints "mock: clean" or what is wrong on stderr. */
#include "cuda/cuda_api.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { ALLOCATIONS_MAX = 256, QUEUE_MAX = 64, ARGUMENTS_MAX = SCENE_BUFFER_COUNT + 3 };
enum { ILLEGAL_ADDRESS = 700, INVALID_HANDLE = 400, DEVICE_UNAVAILABLE = 46 };

static struct allocation {
    gpu_pointer at; /* 0: free slot */
    size_t size;
    unsigned char *memory;
} allocations[ALLOCATIONS_MAX];
static struct {
    void *at;
    size_t size;
} pinned[ALLOCATIONS_MAX];
static gpu_pointer next_address = 0x7000000000000000ULL;
static int objects, contexts, mistakes, broken;

/* Modules are made by several threads at once. */
static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;

struct gpu_module_s {
    enum program_part part; /* "MOCK 2 0": as the image says */
    enum program_piece piece;
};
struct gpu_function_s {
    enum kernel_entry entry;
};
struct gpu_event_s {
    unsigned long recorded, done; /* times of record calls; of those that were reached */
    unsigned long reached;        /* when: the events of all are counted */
};
enum {
    MOCK_JOB = ENTRY_COUNT,
    MOCK_ONCE,
    JOB_ARGUMENTS = 2,
    JOB_WORDS = 100
}; /* a program beside the kernel */
static struct gpu_function_s functions[] = {{ENTRY_RENDER},
                                            {ENTRY_TRACE},
                                            {ENTRY_ARITHMETIC},
                                            {ENTRY_PROBE},
                                            {ENTRY_PASSES},
                                            {ENTRY_HIT},
                                            {ENTRY_START},
                                            {ENTRY_FLY},
                                            {ENTRY_SORT},
                                            {ENTRY_OCCLUDE},
                                            {ENTRY_SHADE},
                                            {ENTRY_SHADOW},
                                            {ENTRY_FILM},
                                            {(enum kernel_entry)MOCK_JOB},
                                            {(enum kernel_entry)MOCK_ONCE}};

enum kind { COPY_IN, COPY_OUT, FILL, KERNEL, EVENT };
static struct work {
    enum kind kind;
    gpu_pointer device;
    void *host;
    size_t size;
    unsigned char value;
    void *staged; /* pageable memory is read at once, as the real driver does */
    struct gpu_function_s *function;
    gpu_pointer arguments[ARGUMENTS_MAX];
    unsigned grid[2], grid_z, block[2];
    gpu_event event;
} queue[QUEUE_MAX];
EXPORT int mock_queued; /* work that nothing has waited for */
static unsigned long events_reached;

static const char *wish(void)
{
    const char *w = getenv("CUDA_MOCK");
    return w ? w : "";
}

static void mistake(const char *text)
{
    fprintf(stderr, "mock: %s\n", text);
    mistakes++;
}

/* Host memory for [at, at + size), which must lie in one allocation. */
static unsigned char *resolve(gpu_pointer at, size_t size)
{
    for (int i = 0; i < ALLOCATIONS_MAX; i++) {
        struct allocation *a = &allocations[i];
        if (a->at && at >= a->at && at - a->at <= a->size && size <= a->size - (at - a->at))
            return a->memory + (at - a->at);
    }
    mistake("device memory that is not allocated");
    return NULL;
}

static bool is_pinned(const void *p, size_t size)
{
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        if (pinned[i].at && (const char *)p >= (char *)pinned[i].at &&
            (const char *)p + size <= (char *)pinned[i].at + pinned[i].size)
            return true;
    return false;
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void render_run(const struct work *w)
{
    const struct k_launch *l =
        (const void *)resolve(w->arguments[SCENE_BUFFER_COUNT], sizeof(struct k_launch));
    if (!l)
        return;
    if (w->grid_z != (l->slices ? l->slices : 1))
        mistake("the grid's third side is not the number of slices");
    int64_t *film =
        (void *)resolve(w->arguments[SCENE_BUFFER_COUNT + 1], (size_t)l->width * l->height * 32);
    for (unsigned y = 0; film && y < w->grid[1] * w->block[1]; y++)
        for (unsigned x = 0; x < w->grid[0] * w->block[0]; x++) {
            if (x >= l->tile_w || y >= l->tile_h)
                continue;
            int64_t *p = film + 4 * ((size_t)(l->tile_y + y) * l->width + l->tile_x + x);
            int64_t v[4] = {l->tile_x + x, l->tile_y + y, l->sample_begin, l->sample_count};
            for (int k = 0; k < 4; k++) /* a launch of no samples stores zeros */
                p[k] = (l->accumulate || l->slices ? p[k] : 0) + (l->sample_count ? v[k] : 0);
        }
}

/* k_probe: each row's first word plus one. k_trace: 1, 2, 3, 4. */
static void words_run(const struct work *w)
{
    const gpu_pointer *rest = &w->arguments[SCENE_BUFFER_COUNT];
    const struct k_launch *l = (const void *)resolve(rest[0], sizeof(struct k_launch));
    if (!l)
        return;
    if (w->function->entry == ENTRY_TRACE) {
        uint32_t *out = (void *)resolve(rest[1], 16);
        for (uint32_t i = 0; out && i < 4; i++)
            out[i] = i + 1;
        return;
    }
    if (w->grid[0] * w->block[0] < l->rows)
        mistake("fewer work-items than rows");
    const uint32_t *in = (const void *)resolve(rest[1], (size_t)l->rows * 4);
    uint32_t *out = (void *)resolve(rest[2], (size_t)l->rows * 4);
    for (uint32_t i = 0; in && out && i < l->rows; i++)
        out[i] = in[i] + 1;
}

/* mock_job: the first buffer's words added to the second's. */
static void job_run(const struct work *w)
{
    const uint32_t *in = (const void *)resolve(w->arguments[0], JOB_WORDS * sizeof *in);
    uint32_t *sum = (void *)resolve(w->arguments[1], JOB_WORDS * sizeof *sum);
    if (w->grid[0] * w->block[0] < JOB_WORDS)
        mistake("fewer work-items than points");
    for (int i = 0; in && sum && i < JOB_WORDS; i++)
        sum[i] += in[i];
}

/* mock_once: the second's first word doubled. */
static void once_run(const struct work *w)
{
    uint32_t *sum = (void *)resolve(w->arguments[1], sizeof *sum);
    if (w->grid[0] * w->block[0] != 1)
        mistake("more than one work-item");
    if (sum)
        *sum *= 2;
}

static void queue_run(void)
{
    for (int i = 0; i < mock_queued; i++) {
        struct work *w = &queue[i];
        unsigned char *at = NULL;
        if (w->kind <= FILL)
            at = resolve(w->device, w->size);
        if (at && w->kind == COPY_IN)
            memcpy(at, w->staged ? w->staged : w->host, w->size);
        if (at && w->kind == COPY_OUT)
            memcpy(w->host, at, w->size);
        if (at && w->kind == FILL)
            memset(at, w->value, w->size);
        free(w->staged);
        if (w->kind == EVENT) {
            w->event->done++;
            w->event->reached = ++events_reached;
        }
        if (w->kind == KERNEL && strcmp(wish(), "fault") == 0)
            broken = ILLEGAL_ADDRESS;
        else if (w->kind == KERNEL && strcmp(wish(), "timeout") == 0)
            broken = GPU_LAUNCH_TIMEOUT;
        else if (w->kind == KERNEL && w->function->entry == ENTRY_RENDER)
            render_run(w);
        else if (w->kind == KERNEL && w->function == &functions[MOCK_JOB])
            job_run(w);
        else if (w->kind == KERNEL && w->function == &functions[MOCK_ONCE])
            once_run(w);
        else if (w->kind == KERNEL)
            words_run(w);
    }
    mock_queued = 0;
}

static struct work *queue_add(enum kind kind)
{
    if (mock_queued == QUEUE_MAX)
        queue_run();
    struct work *w = &queue[mock_queued++];
    *w = (struct work){.kind = kind};
    return w;
}

/* ---- the driver ---------------------------------------------------------------------------- */

/* One declaration of each exported function, with the types that this back end calls it by. */
#define X(member, name, hip, parameters) EXPORT gpu_result mock_##member parameters __asm__(name);
GPU_FUNCTIONS(X)
#undef X
#define X(member, name, parameters) EXPORT gpu_result mock_##member parameters __asm__(name);
CU_FUNCTIONS(X)
#undef X

EXPORT int mock_cache_preference; /* the last one */
gpu_result mock_FuncSetCacheConfig(gpu_function function, int preference)
{
    if (function->entry != ENTRY_RENDER || preference < 0 || preference > 3)
        return GPU_INVALID_VALUE;
    mock_cache_preference = preference;
    return GPU_OK;
}

gpu_result mock_Init(unsigned flags) { return flags == 0 ? GPU_OK : GPU_INVALID_VALUE; }
gpu_result mock_DriverGetVersion(int *version)
{
    *version = strstr(wish(), "driver-12") ? 12080 : strstr(wish(), "driver-13.1") ? 13010 : 13000;
    return GPU_OK;
}
gpu_result mock_GetErrorName(gpu_result code, const char **text)
{
    *text = code == GPU_OUT_OF_MEMORY             ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == GPU_NO_DEVICE               ? "CUDA_ERROR_NO_DEVICE"
            : code == ILLEGAL_ADDRESS             ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : code == GPU_LAUNCH_TIMEOUT          ? "CUDA_ERROR_LAUNCH_TIMEOUT"
            : code == DEVICE_UNAVAILABLE          ? "CUDA_ERROR_DEVICE_UNAVAILABLE"
            : code == GPU_LAUNCH_OUT_OF_RESOURCES ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                                                  : NULL;
    return *text ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_GetErrorString(gpu_result code, const char **text)
{
    return mock_GetErrorName(code, text);
}
gpu_result mock_DeviceGetCount(int *count)
{
    *count = strcmp(wish(), "none") != 0;
    return GPU_OK;
}
gpu_result mock_DeviceGet(gpu_device *device, int index)
{
    *device = 7;
    return index == 0 ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_DeviceGetName(char *name, int size, gpu_device device)
{
    snprintf(name, (size_t)size, "Mock GPU");
    return device == 7 ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_DeviceTotalMem(size_t *bytes, gpu_device device)
{
    *bytes = (size_t)1 << 30;
    return device == 7 ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_DeviceGetAttribute(int *value, int what, gpu_device device)
{
    static const int values[][2] = {                          /* CUdevice_attribute */
                                    {1, 1024},                /* threads a block */
                                    {2, 1024},     {3, 512},  /* block x, y */
                                    {5, 1 << 20},  {6, 1000}, /* grid x, y */
                                    {13, 1980000}, {16, 4},   /* kHz, multiprocessors */
                                    {75, 9},       {76, 0}};  /* compute capability */
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (values[i][0] == what && device == 7) {
            *value = values[i][1];
            return GPU_OK;
        }
    return GPU_INVALID_VALUE;
}
/* Of the device, in compute mode "exclusive process". */
static int lock_file = -1;
static bool device_locked(void)
{
    const char *path = getenv("CUDA_MOCK_LOCK");
    if (lock_file >= 0 || !path || strcmp(wish(), "exclusive") != 0)
        return true;
    lock_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock_file >= 0 && flock(lock_file, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (lock_file >= 0)
        close(lock_file);
    lock_file = -1;
    return false;
}

gpu_result mock_DevicePrimaryCtxRetain(gpu_context *context, gpu_device device)
{
    if (!device_locked())
        return DEVICE_UNAVAILABLE;
    contexts++;
    *context = (gpu_context)&contexts;
    return device == 7 ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_DevicePrimaryCtxRelease(gpu_device device)
{
    if (--contexts > 0)
        return GPU_OK;
    if (lock_file >= 0)
        close(lock_file);
    lock_file = -1;
    int left = 0;
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        left += (allocations[i].at != 0) + (pinned[i].at != NULL);
    if (left)
        mistake("memory is left");
    if (objects)
        mistake("modules, streams or events are left");
    if (mock_queued && !broken)
        mistake("work is left that nothing waited for");
    fprintf(stderr, mistakes ? "mock: %d mistakes\n" : "mock: clean\n", mistakes);
    return device == 7 ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_CtxSetCurrent(gpu_context context)
{
    return !context || contexts > 0 ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_ModuleLoadData(gpu_module *module, const void *image)
{
    if (memcmp(image, "MOCK", 4) != 0)
        return 200;
    *module = calloc(1, sizeof **module);
    (*module)->part = (enum program_part)(((const char *)image)[5] - '0');
    (*module)->piece = (enum program_piece)(((const char *)image)[7] - '0');
    pthread_mutex_lock(&objects_lock);
    objects++;
    pthread_mutex_unlock(&objects_lock);
    return GPU_OK;
}
gpu_result mock_ModuleUnload(gpu_module module)
{
    free(module);
    pthread_mutex_lock(&objects_lock);
    objects--;
    pthread_mutex_unlock(&objects_lock);
    return GPU_OK;
}
gpu_result mock_ModuleGetFunction(gpu_function *function, gpu_module module, const char *name)
{
    static const struct {
        const char *name;
        enum kernel_entry entry;
        enum program_part part;
        enum program_piece piece;
    } entries[] = {{"k_render", ENTRY_RENDER, PART_RENDER, PIECE_WHOLE},
                   {"k_trace", ENTRY_TRACE, PART_TRACE, PIECE_WHOLE},
                   {"k_arithmetic", ENTRY_ARITHMETIC, PART_RENDER, PIECE_ENDS},
                   {"k_probe", ENTRY_PROBE, PART_PROBE, PIECE_WHOLE},
                   {"k_passes", ENTRY_PASSES, PART_PASSES, PIECE_WHOLE},
                   {"k_hit", ENTRY_HIT, PART_HIT, PIECE_WHOLE},
                   {"k_start_all", ENTRY_START, PART_RENDER, PIECE_ENDS},
                   {"k_fly_all", ENTRY_FLY, PART_RENDER, PIECE_FLY},
                   {"k_sort_all", ENTRY_SORT, PART_RENDER, PIECE_ENDS},
                   {"k_occlude_all", ENTRY_OCCLUDE, PART_RENDER, PIECE_SHADE},
                   {"k_shade_all", ENTRY_SHADE, PART_RENDER, PIECE_SHADE},
                   {"k_shadow_all", ENTRY_SHADOW, PART_RENDER, PIECE_SHADOW},
                   {"k_film_all", ENTRY_FILM, PART_RENDER, PIECE_ENDS}};
    *function = &functions[module && strcmp(name, "mock_once") == 0 ? MOCK_ONCE : MOCK_JOB];
    if (module && (strcmp(name, "mock_job") == 0 || strcmp(name, "mock_once") == 0))
        return GPU_OK;
    for (size_t i = 0; module && i < sizeof entries / sizeof *entries; i++)
        if (strcmp(name, entries[i].name) == 0 && entries[i].part == module->part &&
            (module->piece == PIECE_WHOLE || module->piece == entries[i].piece)) {
            *function = &functions[entries[i].entry];
            return GPU_OK;
        }
    return 500;
}
EXPORT int mock_threads = 512; /* in a block of any kernel */
gpu_result mock_FuncGetAttribute(int *value, int what, gpu_function function)
{
    *value = what == GPU_KERNEL_MAX_THREADS ? mock_threads
             : what == GPU_KERNEL_REGISTERS ? 128
                                            : 432;
    return function ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_MemGetInfo(size_t *free_bytes, size_t *total)
{
    *total = (size_t)1 << 30;
    *free_bytes = *total;
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        *free_bytes -= allocations[i].at ? allocations[i].size : 0;
    return GPU_OK;
}
gpu_result mock_MemAlloc(gpu_pointer *pointer, size_t bytes)
{
    if (bytes == 0)
        return GPU_INVALID_VALUE;
    if (strcmp(wish(), "oom") == 0 && bytes > 1 << 20)
        return GPU_OUT_OF_MEMORY;
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        if (!allocations[i].at) {
            allocations[i] = (struct allocation){next_address, bytes, malloc(bytes)};
            next_address += (bytes + 511) / 256 * 256; /* a gap: overruns hit nothing */
            if (allocations[i].memory)
                memset(allocations[i].memory, 0xDB, bytes);
            *pointer = allocations[i].at;
            return allocations[i].memory ? GPU_OK : GPU_OUT_OF_MEMORY;
        }
    return GPU_OUT_OF_MEMORY;
}
gpu_result mock_MemFree(gpu_pointer pointer)
{
    queue_run(); /* the real one waits too */
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        if (allocations[i].at == pointer && pointer) {
            free(allocations[i].memory);
            allocations[i] = (struct allocation){0};
            return GPU_OK;
        }
    mistake("memory freed that was not allocated");
    return GPU_INVALID_VALUE;
}
gpu_result mock_MemAllocHost(void **pointer, size_t bytes)
{
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        if (!pinned[i].at) {
            *pointer = pinned[i].at = calloc(1, bytes);
            pinned[i].size = bytes;
            return *pointer ? GPU_OK : GPU_OUT_OF_MEMORY;
        }
    return GPU_OUT_OF_MEMORY;
}
gpu_result mock_MemFreeHost(void *pointer)
{
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        if (pinned[i].at == pointer && pointer) {
            free(pointer);
            pinned[i].at = NULL;
            return GPU_OK;
        }
    mistake("pinned memory freed that was not allocated");
    return GPU_INVALID_VALUE;
}
gpu_result mock_MemcpyHtoDAsync(gpu_pointer to, const void *from, size_t bytes, gpu_stream stream)
{
    struct work *w = queue_add(COPY_IN);
    w->device = to;
    w->host = (void *)(uintptr_t)from;
    w->size = bytes;
    if (!is_pinned(from, bytes)) {
        w->staged = malloc(bytes);
        memcpy(w->staged, from, bytes);
    }
    return stream ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_MemcpyDtoHAsync(void *to, gpu_pointer from, size_t bytes, gpu_stream stream)
{
    struct work *w = queue_add(COPY_OUT);
    w->device = from;
    w->host = to;
    w->size = bytes;
    return stream ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_MemsetD8Async(gpu_pointer to, unsigned char value, size_t bytes, gpu_stream stream)
{
    struct work *w = queue_add(FILL);
    w->device = to;
    w->value = value;
    w->size = bytes;
    return stream ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_StreamCreate(gpu_stream *stream, unsigned flags)
{
    objects++;
    *stream = (gpu_stream)&mock_queued;
    return flags == GPU_STREAM_NOT_BLOCKING ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_StreamDestroy(gpu_stream stream)
{
    objects--;
    return stream ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_StreamSynchronize(gpu_stream stream)
{
    queue_run();
    return broken ? broken : stream ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_EventCreate(gpu_event *event, unsigned flags)
{
    objects++;
    *event = calloc(1, sizeof **event);
    return flags == GPU_EVENT_PLAIN ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_EventDestroy(gpu_event event)
{
    free(event);
    objects--;
    return GPU_OK;
}
gpu_result mock_EventRecord(gpu_event event, gpu_stream stream)
{
    event->recorded++;
    queue_add(EVENT)->event = event;
    return stream ? GPU_OK : GPU_INVALID_VALUE;
}
gpu_result mock_EventSynchronize(gpu_event event)
{
    queue_run();
    if (event->recorded == 0)
        mistake("a wait for an event that was never recorded");
    return broken;
}
gpu_result mock_EventElapsedTime(float *milliseconds, gpu_event from, gpu_event to)
{
    if (from->done == 0 || to->done == 0 || from->done != from->recorded ||
        to->done != to->recorded)
        return INVALID_HANDLE;
    *milliseconds = from->reached < to->reached ? 2.0f : -2.0f;
    return GPU_OK;
}
gpu_result mock_LaunchKernel(gpu_function function, unsigned grid_x, unsigned grid_y,
                             unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, gpu_stream stream, void **parameters,
                             void **extra)
{
    if (strcmp(wish(), "refuse") == 0)
        return GPU_LAUNCH_OUT_OF_RESOURCES;
    if (grid_x * grid_y * grid_z == 0 || block_x * block_y * block_z == 0 ||
        block_x * block_y > 512 || grid_y > 1000 || shared_bytes || extra || !stream)
        return GPU_INVALID_VALUE;
    struct work *w = queue_add(KERNEL);
    w->function = function;
    w->grid[0] = grid_x;
    w->grid[1] = grid_y;
    w->grid_z = grid_z;
    w->block[0] = block_x;
    w->block[1] = block_y;
    int count = SCENE_BUFFER_COUNT +
                (function->entry == ENTRY_RENDER || function->entry == ENTRY_TRACE ||
                         (function->entry >= ENTRY_START && function->entry <= ENTRY_FILM)
                     ? 2
                     : 3);
    if (function == &functions[MOCK_JOB] || function == &functions[MOCK_ONCE])
        count = JOB_ARGUMENTS;
    for (int i = 0; i < count; i++) {
        memcpy(&w->arguments[i], parameters[i], sizeof w->arguments[i]);
        if (w->arguments[i])
            resolve(w->arguments[i], 1);
    }
    return GPU_OK;
}

/* ---- NVRTC --------------------------------------------------------------------------------- */

#define X(member, name, result, parameters)                                                        \
    EXPORT result mock_nvrtc_##member parameters __asm__(name);
NVRTC_FUNCTIONS(X)
#undef X

struct nvrtc_program_s {
    char image[64];
};
static const char compiler_says[] =
    "ptxas info    : Used 96 registers, used 0 barriers\n"
    "    432 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n";

nvrtc_result mock_nvrtc_Version(int *major, int *minor)
{
    *major = 13;
    *minor = strstr(wish(), "nvrtc-13.1") != NULL;
    return 0;
}
const char *mock_nvrtc_GetErrorString(nvrtc_result code)
{
    return code ? "NVRTC_ERROR" : "NVRTC_SUCCESS";
}
nvrtc_result mock_nvrtc_GetNumSupportedArchs(int *count)
{
    *count = 3;
    return 0;
}
nvrtc_result mock_nvrtc_GetSupportedArchs(int *archs)
{
    archs[0] = 75;
    archs[1] = 90;
    archs[2] = 120;
    return 0;
}
nvrtc_result mock_nvrtc_CreateProgram(nvrtc_program *program, const char *source, const char *name,
                                      int headers, const char *const *header_sources,
                                      const char *const *header_names)
{
    *program = calloc(1, sizeof **program);
    return *program && strstr(source, "k_render") && name && !headers && !header_sources &&
                   !header_names
               ? 0
               : 3;
}
nvrtc_result mock_nvrtc_DestroyProgram(nvrtc_program *program)
{
    free(*program);
    *program = NULL;
    return 0;
}
EXPORT int mock_compilations; /* so far */
/* Fails, as the real one does, on what it takes for a mistake: here the fault "lost-cosine". Takes
 * a while where several processes are to need it at once. */
nvrtc_result mock_nvrtc_CompileProgram(nvrtc_program program, int options,
                                       const char *const *option)
{
    if (strstr(wish(), "at-once"))
        usleep(300000);
    const char *part = "", *piece = "0";
    for (int i = 0; i < options; i++) {
        if (strncmp(option[i], "-DK_PART=", 9) == 0)
            part = option[i] + 9;
        if (strncmp(option[i], "-DK_PIECE=", 10) == 0)
            piece = option[i] + 10;
    }
    snprintf(program->image, sizeof program->image, "MOCK %s %s", part, piece);
    pthread_mutex_lock(&objects_lock);
    mock_compilations++;
    pthread_mutex_unlock(&objects_lock);
    for (int i = 0; i < options; i++)
        if (strcmp(option[i], "-DK_FAULT_LOST_COSINE") == 0)
            return 6;
    return 0;
}
nvrtc_result mock_nvrtc_GetProgramLogSize(nvrtc_program program, size_t *size)
{
    (void)program;
    *size = sizeof compiler_says;
    return 0;
}
nvrtc_result mock_nvrtc_GetProgramLog(nvrtc_program program, char *log)
{
    (void)program;
    memcpy(log, compiler_says, sizeof compiler_says);
    return 0;
}
nvrtc_result mock_nvrtc_GetCUBINSize(nvrtc_program program, size_t *size)
{
    *size = sizeof program->image;
    return 0;
}
nvrtc_result mock_nvrtc_GetCUBIN(nvrtc_program program, char *cubin)
{
    memcpy(cubin, program->image, sizeof program->image);
    return 0;
}
nvrtc_result mock_nvrtc_GetPTXSize(nvrtc_program program, size_t *size)
{
    return mock_nvrtc_GetCUBINSize(program, size);
}
nvrtc_result mock_nvrtc_GetPTX(nvrtc_program program, char *ptx)
{
    return mock_nvrtc_GetCUBIN(program, ptx);
}
