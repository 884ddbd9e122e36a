/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of backends/level_zero/. */
#ifndef ISOPHOTE_LEVEL_ZERO_H
#define ISOPHOTE_LEVEL_ZERO_H

#include "api/offers.h"
#include "ze_loader.h"

enum {
    LAUNCHES_IN_FLIGHT = 2
}; /* one runs, the next waits: the host stays close to what is done */

struct backend {
    const struct ze_api *ze;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_queue_handle_t queue;
    uint32_t queue_group;
    ze_command_list_handle_t list; /* for copies and single calls */
    struct device_info info;
    char device_uuid[33];      /* a key of kept programs */
    uint64_t ticks_per_second; /* of timestamps */
    uint64_t tick_mask;        /* their valid bits */
    uint64_t largest_alloc;

    void *scene[SCENE_BUFFER_COUNT]; /* device memory; NULL: empty */
    void *nothing;                   /* stands for empty buffers */

    /* Compiled for what the scene needs, a part of the entries each; made when needed. */
    struct program {
        ze_module_handle_t module;               /* NULL: not made */
        ze_kernel_handle_t kernels[ENTRY_COUNT]; /* of the part; the others NULL */
        uint32_t private_bytes, spill_bytes;
        uint32_t group[ENTRY_COUNT]; /* most work-items of one, for those that are made */
    } programs[PART_COUNT];
    struct program_request request; /* the last one */

    void *film;
    size_t film_pixels; /* that `film` has room for */

    ze_event_pool_handle_t events;
    struct flight {
        struct k_launch *host; /* host memory of the driver's: read by a copy that is queued */
        void *launch;          /* device memory */
        ze_command_list_handle_t list;
        ze_fence_handle_t fence;
        ze_event_handle_t event; /* with the kernel's timestamps */
        bool used;
    } flights[LAUNCHES_IN_FLIGHT];
    unsigned next_flight;
    double device_s; /* since film_begin; negative: the device does not tell */
};

/* level_zero_device.c */
void level_zero_close(struct backend *b);

/* level_zero_program.c */
enum status level_zero_build(struct backend *b, const struct program_request *request,
                             struct build_info *info, struct error *err);
void level_zero_request(struct backend *b, const struct program_request *request);
/* The program with an entry for the scene's tree, compiled now if it is the first time. */
enum status level_zero_program(struct backend *b, enum kernel_entry entry,
                               const struct program **out, struct error *err);
enum status level_zero_program_group(struct backend *b, uint32_t *most, struct error *err);
/* The most work-items of a group that a kernel takes, the device's limit at most. */
uint32_t level_zero_group_most(const struct backend *b, ze_kernel_handle_t k);
void level_zero_programs_release(struct backend *b);
/* What is asked of the driver's compiler for a mode. */
const char *level_zero_flags(enum math_mode mode);
/* A module of SPIR-V, compiled now or kept. info: log, cached. */
enum status level_zero_module_make(const struct backend *b, const void *spirv, size_t size,
                                   const char *flags, ze_module_handle_t *out,
                                   struct build_info *info, struct error *err);

/* level_zero_memory.c */
enum status level_zero_upload(struct backend *b, const struct scene_buffers *buffers,
                              uint64_t *device_bytes, struct error *err);
void level_zero_scene_release(struct backend *b);
enum status level_zero_film_begin(struct backend *b, size_t pixels, bool poison, struct error *err);
enum status level_zero_film_read(struct backend *b, int64_t *sums, size_t pixels,
                                 struct error *err);
/* Device memory; LIMIT when the device does not give so much at once. `what` names it. */
enum status level_zero_alloc(struct backend *b, size_t size, const char *what, void **out,
                             struct error *err);
/* What an allocation's failed code means: LIMIT with both numbers where memory is short. */
enum status level_zero_alloc_error(const struct backend *b, ze_result_t code, const char *call,
                                   size_t size, const char *what, struct error *err);
/* Closes and runs b->list, waits, and empties it again; also after a failure. */
enum status level_zero_list_run(struct backend *b, struct error *err);

/* level_zero_launch.c */
enum status level_zero_flights_open(struct backend *b, struct error *err);
void level_zero_flights_close(struct backend *b);
enum status level_zero_launch(struct backend *b, enum kernel_entry entry,
                              const struct k_launch *launch, const uint32_t grid[2],
                              const uint32_t work_group[2], struct error *err);
enum status level_zero_finish(struct backend *b, double *device_s, struct error *err);
enum status level_zero_run_words(struct backend *b, enum kernel_entry entry,
                                 const struct k_launch *launch, const uint32_t *in, size_t in_words,
                                 uint32_t *out, size_t out_words, size_t items, struct error *err);
/* Groups of `g` work-items for the launches to come of a kernel that takes `most`; UNSUPPORTED with
 * the numbers. */
enum status level_zero_group_set(const struct backend *b, ze_kernel_handle_t k, uint32_t most,
                                 const uint32_t g[2], struct error *err);

/* level_zero_job.c */
enum status level_zero_job_build(struct backend *b, const struct job_source *source,
                                 struct job_program **out, struct build_info *info,
                                 struct error *err);
enum status level_zero_job_run(struct backend *b, struct job_program *p,
                               const struct job_buffer *buffers, size_t count, size_t items,
                               uint32_t group, uint32_t iterations, double *seconds,
                               struct error *err);
void level_zero_job_release(struct backend *b, struct job_program *p);

#endif
