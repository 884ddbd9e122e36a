/* SPDX-License-Identifier: Apache-2.0 */
/* One host code for CUDA and HIP. The two driver interfaces are the same calls with the same
 * parameters and error numbers under other names, so what drives a device is here, over one table
 * of functions (struct gpu_driver); cuda/ and hip/ find their libraries, describe their devices and
 * compile the kernel (struct gpu_api). */
#ifndef ISOPHOTE_GPU_H
#define ISOPHOTE_GPU_H

#include "api/offers.h"

/* ---- what both drivers offer ---------------------------------------------------------------- */

typedef int gpu_result; /* CUresult, hipError_t */
typedef int gpu_device;
typedef void *gpu_context; /* CUDA's; HIP has none */
typedef struct gpu_module_s *gpu_module;
typedef struct gpu_function_s *gpu_function;
typedef struct gpu_stream_s *gpu_stream;
typedef struct gpu_event_s *gpu_event;
typedef unsigned long long gpu_pointer; /* an address on the device; 0: none */

/* Numbers that CUDA and HIP share (CUDA Driver API reference, HIP's hip_runtime_api.h). */
enum {
    GPU_OK = 0,
    GPU_INVALID_VALUE = 1,
    GPU_OUT_OF_MEMORY = 2,
    GPU_NO_DEVICE = 100,
    GPU_LAUNCH_OUT_OF_RESOURCES = 701,
    GPU_LAUNCH_TIMEOUT = 702,

    GPU_KERNEL_MAX_THREADS = 0,
    GPU_KERNEL_LOCAL_BYTES = 3, /* a thread's stack, spills included */
    GPU_KERNEL_REGISTERS = 4,

    GPU_STREAM_NOT_BLOCKING = 1, /* does not wait for stream 0 */
    GPU_EVENT_PLAIN = 0,
};

/* Properties of a device; each API has its own number for each. */
enum gpu_attribute {
    GPU_MAX_THREADS,
    GPU_MAX_BLOCK_X,
    GPU_MAX_BLOCK_Y,
    GPU_MAX_GRID_X,
    GPU_MAX_GRID_Y,
    GPU_CLOCK_KHZ,
    GPU_MULTIPROCESSORS,
    GPU_MAJOR,
    GPU_MINOR,
    GPU_ATTRIBUTE_COUNT
};

/* X(member, CUDA's name, HIP's name, parameters). Where CUDA says CUdeviceptr, HIP says void *: one
 * register either way. */
#define GPU_FUNCTIONS(X)                                                                           \
    X(Init, "cuInit", "hipInit", (unsigned flags))                                                 \
    X(DriverGetVersion, "cuDriverGetVersion", "hipDriverGetVersion", (int *version))               \
    X(DeviceGetCount, "cuDeviceGetCount", "hipGetDeviceCount", (int *count))                       \
    X(DeviceGet, "cuDeviceGet", "hipDeviceGet", (gpu_device * device, int index))                  \
    X(DeviceGetName, "cuDeviceGetName", "hipDeviceGetName",                                        \
      (char *name, int size, gpu_device device))                                                   \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2", "hipDeviceTotalMem",                                  \
      (size_t * bytes, gpu_device device))                                                         \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute",                         \
      (int *value, int what, gpu_device device))                                                   \
    X(ModuleLoadData, "cuModuleLoadData", "hipModuleLoadData",                                     \
      (gpu_module * module, const void *image))                                                    \
    X(ModuleUnload, "cuModuleUnload", "hipModuleUnload", (gpu_module module))                      \
    X(ModuleGetFunction, "cuModuleGetFunction", "hipModuleGetFunction",                            \
      (gpu_function * function, gpu_module module, const char *name))                              \
    X(FuncGetAttribute, "cuFuncGetAttribute", "hipFuncGetAttribute",                               \
      (int *value, int what, gpu_function function))                                               \
    X(MemGetInfo, "cuMemGetInfo_v2", "hipMemGetInfo", (size_t * free, size_t * total))             \
    X(MemAlloc, "cuMemAlloc_v2", "hipMalloc", (gpu_pointer * pointer, size_t bytes))               \
    X(MemFree, "cuMemFree_v2", "hipFree", (gpu_pointer pointer))                                   \
    X(MemFreeHost, "cuMemFreeHost", "hipHostFree", (void *pointer))                                \
    X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync",                               \
      (gpu_pointer to, const void *from, size_t bytes, gpu_stream stream))                         \
    X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync",                               \
      (void *to, gpu_pointer from, size_t bytes, gpu_stream stream))                               \
    X(MemsetD8Async, "cuMemsetD8Async", "hipMemsetD8Async",                                        \
      (gpu_pointer to, unsigned char value, size_t bytes, gpu_stream stream))                      \
    X(StreamCreate, "cuStreamCreate", "hipStreamCreateWithFlags",                                  \
      (gpu_stream * stream, unsigned flags))                                                       \
    X(StreamDestroy, "cuStreamDestroy_v2", "hipStreamDestroy", (gpu_stream stream))                \
    X(StreamSynchronize, "cuStreamSynchronize", "hipStreamSynchronize", (gpu_stream stream))       \
    X(EventCreate, "cuEventCreate", "hipEventCreateWithFlags",                                     \
      (gpu_event * event, unsigned flags))                                                         \
    X(EventDestroy, "cuEventDestroy_v2", "hipEventDestroy", (gpu_event event))                     \
    X(EventRecord, "cuEventRecord", "hipEventRecord", (gpu_event event, gpu_stream stream))        \
    X(EventSynchronize, "cuEventSynchronize", "hipEventSynchronize", (gpu_event event))            \
    X(EventElapsedTime, "cuEventElapsedTime", "hipEventElapsedTime",                               \
      (float *milliseconds, gpu_event from, gpu_event to))                                         \
    X(LaunchKernel, "cuLaunchKernel", "hipModuleLaunchKernel",                                     \
      (gpu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, gpu_stream stream,               \
       void **parameters, void **extra))

enum gpu_call {
#define X(member, cuda, hip, parameters) GPU_CALL_##member,
    GPU_FUNCTIONS(X)
#undef X
    /* and what the two spell differently */
    GPU_CALL_retain,
    GPU_CALL_select,
    GPU_CALL_pinned_alloc,
    GPU_CALL_cache_prefer,
    GPU_CALL_COUNT
};

struct gpu_driver { /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(member, cuda, hip, parameters) gpu_result(*member) parameters;
    GPU_FUNCTIONS(X)
#undef X
    /* NOLINTEND(bugprone-macro-parentheses) */
    /* A device's use begins, is chosen for the calls of this thread (and unchosen), and ends. */
    gpu_result (*retain)(gpu_device device, gpu_context *context);
    gpu_result (*select)(gpu_device device, gpu_context context);
    void (*unselect)(void);
    void (*release)(gpu_device device);
    gpu_result (*pinned_alloc)(void **pointer, size_t bytes); /* freed by MemFreeHost */
    /* NULL where there is none; numbers of CUfunc_cache: 0 none, 1 shared memory, 2 L1, 3 equal. */
    gpu_result (*cache_prefer)(gpu_function function, int preference);
    gpu_result (*device_uuid)(unsigned char id[16],
                              gpu_device device); /* NULL where there is none */
    const char *(*error_name)(gpu_result code);   /* "unknown", never NULL */
    const char *(*error_text)(gpu_result code);
    const char *const *call_names; /* [GPU_CALL_COUNT] */
    const int *attributes;         /* [GPU_ATTRIBUTE_COUNT]: the API's numbers */
    int version;                   /* DriverGetVersion's */
};

/* The members of GPU_FUNCTIONS out of `library` (dlopen) by column 0 (CUDA) or 1 (HIP). Returns the
 * first name that is not there, or NULL. */
const char *gpu_driver_bind(struct gpu_driver *driver, void *library, int column);

/* error_msg for a call that failed: MEMORY for out of memory, else DEVICE; err->native = code. */
enum status gpu_error(struct error *err, const struct gpu_driver *driver, gpu_result code,
                      enum gpu_call call);

/* A device property; 0 if the driver does not know it. */
uint32_t gpu_attribute_get(const struct gpu_driver *driver, gpu_device device,
                           enum gpu_attribute what);

/* ---- what cuda/ and hip/ add ---------------------------------------------------------------- */

enum { GPU_ARCH_SIZE = 256 };

struct gpu_image {
    const void *data; /* in the arena */
    size_t size;
    struct kept_resources resources;
};

struct gpu_api {
    const char *name;        /* "cuda": ids begin with it */
    const char *kept_suffix; /* of compiled kernels in the cache */
    uint32_t registers; /* most a work-item where none are asked for; 0: the compiler's choice */
    bool pieces;        /* compiles a staged program's pieces beside each other */
    uint32_t slices; /* most work-items that share a pixel's samples (k_launch.slices); 0: none */
    /* The default work-group of kernels whose items go from vertex to vertex together
     * (k_group_goes_on); {0,0}: that of all. */
    uint32_t step_group[2];
    uint64_t launch_samples; /* by default, of one launch and multiprocessor; 0: the front's rule */
    /* The driver, opened and started at the first call and kept; NULL with *problem where there is
     * none. */
    const struct gpu_driver *(*load)(const char **problem);
    /* The kernel's compiler, likewise. */
    bool (*compiler_load)(const struct gpu_driver *driver, const char **problem);
    /* vendor, driver, version and compiler of *info, and the architecture as `options` wants it. */
    void (*describe)(const struct gpu_driver *driver, gpu_device device, struct device_info *info,
                     char arch[GPU_ARCH_SIZE]);
    /* All that the image depends on besides the source and the device's driver: the compiler's
     * options, joined by blanks, and its name and version. */
    enum status (*options)(const char *arch, const struct program_request *request, char *options,
                           size_t options_size, char *identity, size_t identity_size,
                           struct error *err);
    /* *info gets options and log, also on failure. */
    enum status (*compile)(const char *arch, const struct program_request *request, struct arena *a,
                           struct gpu_image *out, struct build_info *info, struct error *err);
};

/* The entries of a backend_api but for name, enumerate and open; those two call these. */
enum status gpu_enumerate(const struct gpu_api *api,
                          void (*found)(void *ctx, const struct device_info *),
                          void (*problem)(void *ctx, const char *text), void *ctx);
enum status gpu_open(const struct gpu_api *api, const struct device_info *info,
                     struct backend **out, struct error *err);
#define GPU_ENTRIES                                                                                \
    .close = gpu_close, .preferred_bvh = gpu_preferred_bvh, .upload = gpu_upload,                  \
    .build = gpu_build, .request = gpu_request, .film_begin = gpu_film_begin,                      \
    .launch = gpu_launch, .finish = gpu_finish, .film_read = gpu_film_read,                        \
    .run_words = gpu_run_words, .group_most = gpu_group_most, .defaults = gpu_defaults,            \
    .launch_samples = gpu_launch_samples, .job_build = gpu_job_build, .job_run = gpu_job_run,      \
    .job_release = gpu_job_release

/* ---- a device ------------------------------------------------------------------------------- */

enum { LAUNCHES_IN_FLIGHT = 4, STAGING_BYTES = 4 << 20 };

struct backend {
    const struct gpu_api *api;
    const struct gpu_driver *driver;
    gpu_device device;
    gpu_context context;
    gpu_stream stream;
    struct device_info info;
    char arch[GPU_ARCH_SIZE];
    uint32_t max_grid[2];

    gpu_pointer scene[SCENE_BUFFER_COUNT]; /* 0: empty */

    /* Compiled for what the scene needs, a part of the entries each, which saves compile time and
     * registers; made when needed. */
    struct program {
        bool made;
        gpu_module modules[PIECE_COUNT];   /* the whole, or its pieces */
        gpu_function kernels[ENTRY_COUNT]; /* of the part; the others NULL */
        uint32_t threads[ENTRY_COUNT];     /* most in a block of each; 0: not known */
        uint32_t least_threads;            /* of the kernels that render */
        uint32_t registers;                /* most of these */
    } programs[PART_COUNT];
    struct program_request request; /* the last one */

    gpu_pointer film;
    size_t film_pixels; /* that `film` has room for */
    void *staging[2];   /* pinned, STAGING_BYTES each; made at the first read */

    struct flight {
        struct k_launch *host; /* pinned: read by a copy that is queued */
        gpu_pointer launch;
        gpu_event begin, end;
        bool used;
    } flights[LAUNCHES_IN_FLIGHT];
    unsigned next_flight;
    double device_s; /* since film_begin */
};

/* gpu_device.c. Every entry of the table first selects the device: the caller's thread may change.
 */
enum status gpu_select(const struct backend *b, struct error *err);
void gpu_close(struct backend *b);
enum bvh_kind gpu_preferred_bvh(const struct backend *b);
void gpu_defaults(const struct backend *b, struct launch_settings *s);
uint64_t gpu_launch_samples(const struct backend *b);

/* gpu_program.c */
enum status gpu_build(struct backend *b, const struct program_request *request,
                      struct build_info *info, struct error *err);
void gpu_request(struct backend *b, const struct program_request *request);
/* The program with an entry, compiled now if it is the first time. */
enum status gpu_group_most(struct backend *b, uint32_t *most, struct error *err);
enum status gpu_program(struct backend *b, enum kernel_entry entry, const struct program **out,
                        struct error *err);
void gpu_programs_release(struct backend *b);
/* Compiles what the request asks for, or takes what was kept. *info gets options, log and times,
 * also on failure. */
enum status gpu_module_make(struct backend *b, const struct program_request *request,
                            gpu_module *out, struct kept_resources *resources,
                            struct build_info *info, struct error *err);
/* 0 if the driver does not know it. */
uint32_t gpu_kernel_attribute(const struct backend *b, int what, gpu_function f);

/* gpu_memory.c */
enum status gpu_upload(struct backend *b, const struct scene_buffers *buffers,
                       uint64_t *device_bytes, struct error *err);
void gpu_scene_release(struct backend *b);
enum status gpu_film_begin(struct backend *b, size_t pixels, bool poison, struct error *err);
enum status gpu_film_read(struct backend *b, int64_t *sums, size_t pixels, struct error *err);

/* Device memory; LIMIT and MEMORY carry both numbers. `what` names it. */
enum status gpu_alloc(struct backend *b, size_t bytes, const char *what, gpu_pointer *out,
                      struct error *err);

/* gpu_job.c */
enum status gpu_job_build(struct backend *b, const struct job_source *source,
                          struct job_program **out, struct build_info *info, struct error *err);
enum status gpu_job_run(struct backend *b, struct job_program *p, const struct job_buffer *buffers,
                        size_t count, size_t items, uint32_t group, uint32_t iterations,
                        double *seconds, struct error *err);
void gpu_job_release(struct backend *b, struct job_program *p);

/* gpu_launch.c */
enum status gpu_flights_open(struct backend *b, struct error *err);
void gpu_flights_close(struct backend *b);
enum status gpu_launch(struct backend *b, enum kernel_entry entry, const struct k_launch *launch,
                       const uint32_t grid[2], const uint32_t work_group[2], struct error *err);
enum status gpu_finish(struct backend *b, double *device_s, struct error *err);
enum status gpu_run_words(struct backend *b, enum kernel_entry entry, const struct k_launch *launch,
                          const uint32_t *in, size_t in_words, uint32_t *out, size_t out_words,
                          size_t items, struct error *err);

#endif
