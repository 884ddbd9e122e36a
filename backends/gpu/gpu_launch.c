/* SPDX-License-Identifier: Apache-2.0 */
/* Running kernels: renders in flight, and single calls that copy words in and out. */
#include "gpu.h"

#include <string.h>

enum { ARGUMENTS_MAX = SCENE_BUFFER_COUNT + 3 };

enum status gpu_flights_open(struct backend *b, struct error *err)
{
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        struct flight *f = &b->flights[i];
        void *host = NULL;
        gpu_result code = b->driver->pinned_alloc(&host, sizeof *f->host);
        enum gpu_call call = GPU_CALL_pinned_alloc;
        if (code == GPU_OK) {
            f->host = host;
            code = b->driver->MemAlloc(&f->launch, sizeof *f->host);
            call = GPU_CALL_MemAlloc;
        }
        if (code == GPU_OK) {
            code = b->driver->EventCreate(&f->begin, GPU_EVENT_PLAIN);
            call = GPU_CALL_EventCreate;
        }
        if (code == GPU_OK)
            code = b->driver->EventCreate(&f->end, GPU_EVENT_PLAIN);
        if (code != GPU_OK)
            return gpu_error(err, b->driver, code, call);
    }
    return STATUS_OK;
}

void gpu_flights_close(struct backend *b)
{
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        struct flight *f = &b->flights[i];
        if (f->begin)
            b->driver->EventDestroy(f->begin);
        if (f->end)
            b->driver->EventDestroy(f->end);
        if (f->launch)
            b->driver->MemFree(f->launch);
        if (f->host)
            b->driver->MemFreeHost(f->host);
    }
    memset(b->flights, 0, sizeof b->flights);
}

/* Waits for a launch and adds its time. */
static enum status flight_land(struct backend *b, struct flight *f, struct error *err)
{
    if (!f->used)
        return STATUS_OK;
    f->used = false;
    gpu_result code = b->driver->EventSynchronize(f->end);
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_EventSynchronize);
    float milliseconds = 0.0f;
    code = b->driver->EventElapsedTime(&milliseconds, f->begin, f->end);
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_EventElapsedTime);
    b->device_s += 1e-3 * (double)milliseconds;
    return STATUS_OK;
}

static enum status group_check(const struct backend *b, const struct program *p,
                               const uint32_t g[2], const uint32_t blocks[2], struct error *err)
{
    char kernel[64];
    snprintf(kernel, sizeof kernel, "this kernel (%u registers)", p->registers);
    TRY(work_group_check(&b->info, g, kernel, p->least_threads, err));
    if (blocks[0] > b->max_grid[0] || blocks[1] > b->max_grid[1])
        return error_msg(err, STATUS_UNSUPPORTED,
                         "%ux%u work-groups of %ux%u; %s takes at most %ux%u of them in one launch",
                         blocks[0], blocks[1], g[0], g[1], b->info.name, b->max_grid[0],
                         b->max_grid[1]);
    return STATUS_OK;
}

/* The scene's pointers, then `rest`, as the launch wants them: an array of addresses of arguments.
 */
static void arguments_make(struct backend *b, gpu_pointer *rest, unsigned count,
                           void *arguments[ARGUMENTS_MAX])
{
    unsigned at = 0;
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++)
        arguments[at++] = &b->scene[i];
    for (unsigned i = 0; i < count; i++)
        arguments[at++] = &rest[i];
}

/* One start of a kernel that renders, queued between its flight's events. */
static enum status render_start(struct backend *b, const struct program *p, enum kernel_entry entry,
                                const struct k_launch *launch, const uint32_t blocks[2],
                                const uint32_t work_group[2], struct error *err)
{
    struct flight *f = &b->flights[b->next_flight];
    enum status s = flight_land(b, f, err);
    if (s != STATUS_OK)
        return s;
    *f->host = *launch;
    gpu_result code = b->driver->MemcpyHtoDAsync(f->launch, f->host, sizeof *f->host, b->stream);
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_MemcpyHtoDAsync);
    gpu_pointer rest[2] = {f->launch, b->film};
    void *arguments[ARGUMENTS_MAX];
    arguments_make(b, rest, 2, arguments);
    code = b->driver->EventRecord(f->begin, b->stream);
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_EventRecord);
    code = b->driver->LaunchKernel(p->kernels[entry], blocks[0], blocks[1],
                                   launch->slices ? launch->slices : 1, work_group[0],
                                   work_group[1], 1, 0, b->stream, arguments, NULL);
    if (code != GPU_OK) {
        s = gpu_error(err, b->driver, code, GPU_CALL_LaunchKernel);
        if (code != GPU_LAUNCH_OUT_OF_RESOURCES && code != GPU_INVALID_VALUE)
            return s;
        return error_msg(err, STATUS_UNSUPPORTED,
                         "work-group %ux%u: %s refuses it (error %d; the kernel has %u registers)",
                         work_group[0], work_group[1], b->info.name, code, p->registers);
    }
    code = b->driver->EventRecord(f->end, b->stream);
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_EventRecord);
    f->used = true;
    b->next_flight = (b->next_flight + 1) % LAUNCHES_IN_FLIGHT;
    return STATUS_OK;
}

/* How many work-items share a pixel's samples: the last groups of a launch, which run while the
 * rest of the device is idle, are that much shorter. 0: none. The kernel leaves word of a shader
 * that failed in sums that only one work-item may write. */
static uint32_t slices_choose(const struct backend *b, const struct k_launch *launch)
{
    enum { LEAST = 8 }; /* samples of a slice: fewer, and lanes wait for each other too often */
    uint32_t most = launch->sample_count / LEAST;
    if (b->request.staged || b->request.count_rays || b->request.features & K_FEATURE_SHADERS)
        return 0;
    uint32_t slices = most < b->api->slices ? most : b->api->slices;
    return slices > 1 ? slices : 0;
}

enum status gpu_launch(struct backend *b, enum kernel_entry entry, const struct k_launch *launch,
                       const uint32_t grid[2], const uint32_t work_group[2], struct error *err)
{
    const uint32_t blocks[2] = {grid[0] / work_group[0], grid[1] / work_group[1]};
    const struct program *p = NULL;
    enum status s = gpu_select(b, err);
    if (s == STATUS_OK)
        s = gpu_program(b, entry, &p, err);
    if (s == STATUS_OK)
        s = group_check(b, p, work_group, blocks, err);
    struct k_launch own = *launch;
    own.slices = slices_choose(b, launch);
    if (s == STATUS_OK && own.slices && !own.accumulate) {
        /* Slices add to the film: a launch of no samples stores zeros first. */
        struct k_launch none = own;
        none.sample_count = 0;
        none.slices = 0;
        s = render_start(b, p, entry, &none, blocks, work_group, err);
    }
    return s == STATUS_OK ? render_start(b, p, entry, &own, blocks, work_group, err) : s;
}

enum status gpu_finish(struct backend *b, double *device_s, struct error *err)
{
    enum status s = gpu_select(b, err);
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        /* Oldest first; every one is waited for, whatever became of the others. */
        struct flight *f = &b->flights[(b->next_flight + (unsigned)i) % LAUNCHES_IN_FLIGHT];
        enum status landed = flight_land(b, f, s == STATUS_OK ? err : NULL);
        s = s == STATUS_OK ? landed : s;
    }
    gpu_result code = b->driver->StreamSynchronize(b->stream);
    if (s == STATUS_OK && code != GPU_OK)
        s = gpu_error(err, b->driver, code, GPU_CALL_StreamSynchronize);
    if (s == STATUS_OK && device_s)
        *device_s = b->device_s;
    return s;
}

enum status gpu_run_words(struct backend *b, enum kernel_entry entry, const struct k_launch *launch,
                          const uint32_t *in, size_t in_words, uint32_t *out, size_t out_words,
                          size_t items, struct error *err)
{
    enum { GROUP = 64 };
    const struct gpu_driver *driver = b->driver;
    size_t in_bytes = in_words * sizeof *in, out_bytes = out_words * sizeof *out;
    gpu_pointer launch_at = 0, in_at = 0, out_at = 0;
    const struct program *p = NULL;
    enum status s = gpu_select(b, err);
    if (s == STATUS_OK)
        s = gpu_program(b, entry, &p, err);
    if (s != STATUS_OK)
        return s;
    if (items == 0)
        return STATUS_OK;
    const unsigned most =
                       p->threads[entry] && p->threads[entry] < GROUP ? p->threads[entry] : GROUP,
                   group = items < most ? (unsigned)items : most;
    if ((items + group - 1) / group > b->max_grid[0])
        return error_msg(err, STATUS_LIMIT, "%zu rows at once; %s takes %zu", items, b->info.name,
                         (size_t)b->max_grid[0] * group);
    enum gpu_call call = GPU_CALL_MemAlloc;
    gpu_result code = driver->MemAlloc(&launch_at, sizeof *launch);
    if (code == GPU_OK)
        code = driver->MemAlloc(&in_at, in_bytes ? in_bytes : 4);
    if (code == GPU_OK)
        code = driver->MemAlloc(&out_at, out_bytes ? out_bytes : 4);
    if (code == GPU_OK) {
        call = GPU_CALL_MemcpyHtoDAsync;
        code = driver->MemcpyHtoDAsync(launch_at, launch, sizeof *launch, b->stream);
    }
    if (code == GPU_OK && in_bytes > 0)
        code = driver->MemcpyHtoDAsync(in_at, in, in_bytes, b->stream);
    if (code == GPU_OK && out_bytes > 0) /* what is not written shows the caller's words */
        code = driver->MemcpyHtoDAsync(out_at, out, out_bytes, b->stream);
    if (code == GPU_OK) {
        gpu_pointer probe[3] = {launch_at, in_at, out_at}, trace[2] = {launch_at, out_at};
        void *arguments[ARGUMENTS_MAX];
        if (entry == ENTRY_TRACE)
            arguments_make(b, trace, 2, arguments);
        else
            arguments_make(b, probe, 3, arguments);
        unsigned blocks = (unsigned)((items + group - 1) / group);
        call = GPU_CALL_LaunchKernel;
        code = driver->LaunchKernel(p->kernels[entry], blocks, 1, 1, group, 1, 1, 0, b->stream,
                                    arguments, NULL);
    }
    if (code == GPU_OK && out_bytes > 0) {
        call = GPU_CALL_MemcpyDtoHAsync;
        code = driver->MemcpyDtoHAsync(out, out_at, out_bytes, b->stream);
    }
    gpu_result landed = driver->StreamSynchronize(b->stream); /* copies read the caller's memory */
    if (code == GPU_OK && landed != GPU_OK) {
        call = GPU_CALL_StreamSynchronize;
        code = landed;
    }
    if (code != GPU_OK)
        s = gpu_error(err, driver, code, call);
    if (launch_at)
        driver->MemFree(launch_at);
    if (in_at)
        driver->MemFree(in_at);
    if (out_at)
        driver->MemFree(out_at);
    return s;
}
