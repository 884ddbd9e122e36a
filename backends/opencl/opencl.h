/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of backends/opencl/. */
#ifndef ISOPHOTE_OPENCL_H
#define ISOPHOTE_OPENCL_H

#include "api/offers.h"
#include "cl_api.h"

enum {
    LAUNCHES_IN_FLIGHT = 2
}; /* one runs, the next waits: the host stays close to what is done */

/* What is kept of a program in the cache folder. */
struct opencl_kept {
    char key[33];
    size_t bytes; /* of the driver's binary as it is kept; 0: not yet */
    struct kept_resources resources;
};

struct backend {
    const struct cl_api *cl;
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    struct device_info info;
    char platform_version[256];
    bool little_endian, int64, rounds_divide_sqrt, nvidia;
    bool compiles_shapes; /* PoCL: each shape of work-group when it is first launched */
    bool shares_memory;   /* a CPU: buffers can stay where the host made them */

    cl_mem scene[SCENE_BUFFER_COUNT]; /* NULL: empty */
    cl_mem nothing;                   /* stands for empty buffers */

    /* Compiled for what the scene needs, a part of the entries each, which saves compile time and
     * registers; made when needed. */
    struct program {
        cl_program program;             /* NULL: not made */
        cl_kernel kernels[ENTRY_COUNT]; /* of the part; the others NULL */
        size_t group[ENTRY_COUNT];      /* CL_KERNEL_WORK_GROUP_SIZE */
        struct opencl_kept kept;
    } programs[PART_COUNT];
    struct program_request request; /* the last one */

    cl_mem film;
    size_t film_pixels; /* that `film` has room for */

    struct flight {
        struct k_launch host; /* what the queued write reads */
        cl_mem launch;
        cl_event event; /* NULL: not in use */
    } flights[LAUNCHES_IN_FLIGHT];
    unsigned next_flight;
    double device_s; /* since film_begin; negative: the device does not tell */
};

/* opencl_device.c */
enum status opencl_enumerate(void (*found)(void *ctx, const struct device_info *),
                             void (*problem)(void *ctx, const char *text), void *ctx,
                             struct error *err);
enum status opencl_open(const struct device_info *info, struct backend **out, struct error *err);
void opencl_close(struct backend *b);
enum bvh_kind opencl_preferred_bvh(const struct backend *b);
void opencl_defaults(const struct backend *b, struct launch_settings *s);
/* opencl_problems.c: drivers that are installed and show no platform. */
void opencl_installed_problems(void (*problem)(void *ctx, const char *text), void *ctx);

/* opencl_program.c */
enum status opencl_build(struct backend *b, const struct program_request *request,
                         struct build_info *info, struct error *err);
void opencl_request(struct backend *b, const struct program_request *request);
/* The program with an entry, compiled now if it is the first time. */
enum status opencl_program(struct backend *b, enum kernel_entry entry, const struct program **out,
                           struct error *err);
enum status opencl_group_most(struct backend *b, uint32_t *most, struct error *err);
void opencl_programs_release(struct backend *b);
/* Keeps what launches compiled; the last request's text must still be there. */
void opencl_shapes_keep(struct backend *b);
/* Work-items of a group where nobody chose: 16, or what the kernel takes of them. PoCL keeps the
 * private memory of a whole group on a thread's stack, and would choose groups of 4096. */
size_t opencl_group_small(size_t kernel_most);

/* opencl_kept.c */
/* The key of what is compiled from a source, or from SPIR-V (else NULL), with these options. */
void opencl_kept_key(const struct backend *b, struct opencl_kept *k, const char *source_hash,
                     const char *options, const void *spirv, size_t size);
/* A built program from what is kept; NULL when there is none or the driver refuses it. */
cl_program opencl_kept_take(const struct backend *b, struct opencl_kept *k, const char *options);
/* cache_lock for what is to be kept. */
int opencl_kept_lock(const struct opencl_kept *k);
/* Keeps the driver's binary, if it is larger than what is kept. Failures cost the next start a
 * compilation, no more. */
void opencl_kept_put(const struct backend *b, struct opencl_kept *k, cl_program program);
/* Keeps also what launches compiled since. */
void opencl_kept_again(const struct backend *b, struct opencl_kept *k, const char *source,
                       const char *options);

/* opencl_spirv.c: code path llvm. */
/* A program of the kernel's SPIR-V, not yet built. UNSUPPORTED where the device takes none. */
enum status opencl_program_from_spirv(const struct backend *b, const void *spirv, size_t size,
                                      cl_program *out, struct error *err);

/* opencl_memory.c */
enum status opencl_upload(struct backend *b, const struct scene_buffers *buffers,
                          uint64_t *device_bytes, struct error *err);
void opencl_scene_release(struct backend *b);
enum status opencl_film_begin(struct backend *b, size_t pixels, bool poison, struct error *err);
enum status opencl_film_read(struct backend *b, int64_t *sums, size_t pixels, struct error *err);
/* A buffer of `size` bytes; LIMIT when the device does not take one so large. `what` names it. */
enum status opencl_buffer(struct backend *b, cl_mem_flags flags, size_t size, const void *host,
                          const char *what, cl_mem *out, struct error *err);

/* opencl_launch.c */
enum status opencl_launch(struct backend *b, enum kernel_entry entry, const struct k_launch *launch,
                          const uint32_t grid[2], const uint32_t work_group[2], struct error *err);
enum status opencl_finish(struct backend *b, double *device_s, struct error *err);
enum status opencl_run_words(struct backend *b, enum kernel_entry entry,
                             const struct k_launch *launch, const uint32_t *in, size_t in_words,
                             uint32_t *out, size_t out_words, size_t items, struct error *err);

/* opencl_job.c */
enum status opencl_job_build(struct backend *b, const struct job_source *source,
                             struct job_program **out, struct build_info *info, struct error *err);
enum status opencl_job_run(struct backend *b, struct job_program *p,
                           const struct job_buffer *buffers, size_t count, size_t items,
                           uint32_t group, uint32_t iterations, double *seconds, struct error *err);
void opencl_job_release(struct backend *b, struct job_program *p);

#endif
