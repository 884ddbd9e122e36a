/* Running kernels: renders in flight, and single calls that copy words in and out. */
#include "cuda_backend.h"

#include <string.h>

enum { ARGUMENTS_MAX = SCENE_BUFFER_COUNT + 3 };

enum status cuda_flights_open(struct backend *b, struct error *err)
{
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        struct flight *f = &b->flights[i];
        void *host = NULL;
        cu_result code = b->cu->MemAllocHost(&host, sizeof *f->host);
        const char *call = "cuMemAllocHost";
        if (code == CU_OK) {
            f->host = host;
            code = b->cu->MemAlloc(&f->launch, sizeof *f->host);
            call = "cuMemAlloc";
        }
        if (code == CU_OK) {
            code = b->cu->EventCreate(&f->begin, CU_EVENT_PLAIN);
            call = "cuEventCreate";
        }
        if (code == CU_OK)
            code = b->cu->EventCreate(&f->end, CU_EVENT_PLAIN);
        if (code != CU_OK)
            return cu_error(err, b->cu, code, call);
    }
    return STATUS_OK;
}

void cuda_flights_close(struct backend *b)
{
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        struct flight *f = &b->flights[i];
        if (f->begin)
            b->cu->EventDestroy(f->begin);
        if (f->end)
            b->cu->EventDestroy(f->end);
        if (f->launch)
            b->cu->MemFree(f->launch);
        if (f->host)
            b->cu->MemFreeHost(f->host);
    }
    memset(b->flights, 0, sizeof b->flights);
}

/* Waits for a launch and adds its time. */
static enum status flight_land(struct backend *b, struct flight *f, struct error *err)
{
    if (!f->used)
        return STATUS_OK;
    f->used = false;
    cu_result code = b->cu->EventSynchronize(f->end);
    if (code != CU_OK)
        return cu_error(err, b->cu, code, "a launch");
    float milliseconds = 0.0f;
    code = b->cu->EventElapsedTime(&milliseconds, f->begin, f->end);
    if (code != CU_OK)
        return cu_error(err, b->cu, code, "cuEventElapsedTime");
    b->device_s += 1e-3 * (double)milliseconds;
    return STATUS_OK;
}

static enum status group_check(const struct backend *b, const struct program *p,
                               const uint32_t g[2], const uint32_t blocks[2], struct error *err)
{
    const struct device_info *d = &b->info;
    uint64_t items = (uint64_t)g[0] * g[1];
    if (g[0] > d->max_work_group_axis[0] || g[1] > d->max_work_group_axis[1])
        return error_msg(err, STATUS_UNSUPPORTED,
                         "work-group %ux%u: %s takes at most %u in x and %u in y", g[0], g[1],
                         d->name, d->max_work_group_axis[0], d->max_work_group_axis[1]);
    if (items > d->max_work_group || items > p->threads)
        return error_msg(
            err, STATUS_UNSUPPORTED,
            "work-group %ux%u has %llu work-items; %s takes at most %u, this kernel (%u "
            "registers) %u",
            g[0], g[1], (unsigned long long)items, d->name, d->max_work_group, p->registers,
            p->threads);
    if (blocks[0] > b->max_grid[0] || blocks[1] > b->max_grid[1])
        return error_msg(err, STATUS_UNSUPPORTED,
                         "%ux%u work-groups of %ux%u; %s takes at most %ux%u of them in one launch",
                         blocks[0], blocks[1], g[0], g[1], d->name, b->max_grid[0], b->max_grid[1]);
    return STATUS_OK;
}

/* The scene's pointers, then `rest`, as the launch wants them: an array of addresses of arguments.
 */
static void arguments_make(struct backend *b, cu_pointer *rest, unsigned count,
                           void *arguments[ARGUMENTS_MAX])
{
    unsigned at = 0;
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++)
        arguments[at++] = &b->scene[i];
    for (unsigned i = 0; i < count; i++)
        arguments[at++] = &rest[i];
}

enum status cuda_launch(struct backend *b, const struct k_launch *launch, const uint32_t grid[2],
                        const uint32_t work_group[2], struct error *err)
{
    const uint32_t blocks[2] = {grid[0] / work_group[0], grid[1] / work_group[1]};
    const struct program *p = NULL;
    enum status s = cuda_current(b, err);
    if (s == STATUS_OK)
        s = cuda_program(b, &p, err);
    if (s == STATUS_OK)
        s = group_check(b, p, work_group, blocks, err);
    if (s != STATUS_OK)
        return s;
    struct flight *f = &b->flights[b->next_flight];
    s = flight_land(b, f, err);
    if (s != STATUS_OK)
        return s;
    *f->host = *launch;
    cu_result code = b->cu->MemcpyHtoDAsync(f->launch, f->host, sizeof *f->host, b->stream);
    if (code != CU_OK)
        return cu_error(err, b->cu, code, "cuMemcpyHtoDAsync");
    cu_pointer rest[2] = {f->launch, b->film};
    void *arguments[ARGUMENTS_MAX];
    arguments_make(b, rest, 2, arguments);
    code = b->cu->EventRecord(f->begin, b->stream);
    if (code != CU_OK)
        return cu_error(err, b->cu, code, "cuEventRecord");
    code = b->cu->LaunchKernel(p->kernels[ENTRY_RENDER], blocks[0], blocks[1], 1, work_group[0],
                               work_group[1], 1, 0, b->stream, arguments, NULL);
    if (code != CU_OK) {
        s = cu_error(err, b->cu, code, "cuLaunchKernel");
        if (code != CU_LAUNCH_OUT_OF_RESOURCES && code != CU_INVALID_VALUE)
            return s;
        return error_msg(err, STATUS_UNSUPPORTED,
                         "work-group %ux%u: %s refuses it (error %d; the kernel has %u registers)",
                         work_group[0], work_group[1], b->info.name, code, p->registers);
    }
    code = b->cu->EventRecord(f->end, b->stream);
    if (code != CU_OK)
        return cu_error(err, b->cu, code, "cuEventRecord");
    f->used = true;
    b->next_flight = (b->next_flight + 1) % LAUNCHES_IN_FLIGHT;
    return STATUS_OK;
}

enum status cuda_finish(struct backend *b, double *device_s, struct error *err)
{
    enum status s = cuda_current(b, err);
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        /* Oldest first; every one is waited for, whatever became of the others. */
        struct flight *f = &b->flights[(b->next_flight + (unsigned)i) % LAUNCHES_IN_FLIGHT];
        enum status landed = flight_land(b, f, s == STATUS_OK ? err : NULL);
        s = s == STATUS_OK ? landed : s;
    }
    cu_result code = b->cu->StreamSynchronize(b->stream);
    if (s == STATUS_OK && code != CU_OK)
        s = cu_error(err, b->cu, code, "cuStreamSynchronize");
    if (s == STATUS_OK && device_s)
        *device_s = b->device_s;
    return s;
}

enum status cuda_run_words(struct backend *b, enum kernel_entry entry,
                           const struct k_launch *launch, const uint32_t *in, size_t in_words,
                           uint32_t *out, size_t out_words, size_t items, struct error *err)
{
    enum { GROUP = 64 };
    const struct cu_api *cu = b->cu;
    size_t in_bytes = in_words * sizeof *in, out_bytes = out_words * sizeof *out;
    cu_pointer launch_at = 0, in_at = 0, out_at = 0;
    const struct program *p = NULL;
    enum status s = cuda_current(b, err);
    if (s == STATUS_OK)
        s = cuda_program(b, &p, err);
    if (s != STATUS_OK)
        return s;
    if (items == 0)
        return STATUS_OK;
    if ((items + GROUP - 1) / GROUP > b->max_grid[0])
        return error_msg(err, STATUS_LIMIT, "%zu rows at once; %s takes %zu", items, b->info.name,
                         (size_t)b->max_grid[0] * GROUP);
    const char *call = "cuMemAlloc";
    cu_result code = cu->MemAlloc(&launch_at, sizeof *launch);
    if (code == CU_OK)
        code = cu->MemAlloc(&in_at, in_bytes ? in_bytes : 4);
    if (code == CU_OK)
        code = cu->MemAlloc(&out_at, out_bytes ? out_bytes : 4);
    if (code == CU_OK) {
        call = "cuMemcpyHtoDAsync";
        code = cu->MemcpyHtoDAsync(launch_at, launch, sizeof *launch, b->stream);
    }
    if (code == CU_OK && in_bytes > 0)
        code = cu->MemcpyHtoDAsync(in_at, in, in_bytes, b->stream);
    if (code == CU_OK && out_bytes > 0) /* what is not written shows the caller's words */
        code = cu->MemcpyHtoDAsync(out_at, out, out_bytes, b->stream);
    if (code == CU_OK) {
        cu_pointer probe[3] = {launch_at, in_at, out_at}, trace[2] = {launch_at, out_at};
        void *arguments[ARGUMENTS_MAX];
        if (entry == ENTRY_PROBE)
            arguments_make(b, probe, 3, arguments);
        else
            arguments_make(b, trace, 2, arguments);
        unsigned group = items < GROUP ? (unsigned)items : GROUP;
        unsigned blocks = (unsigned)((items + group - 1) / group);
        call = "cuLaunchKernel";
        code = cu->LaunchKernel(p->kernels[entry], blocks, 1, 1, group, 1, 1, 0, b->stream,
                                arguments, NULL);
    }
    if (code == CU_OK && out_bytes > 0) {
        call = "cuMemcpyDtoHAsync";
        code = cu->MemcpyDtoHAsync(out, out_at, out_bytes, b->stream);
    }
    cu_result landed = cu->StreamSynchronize(b->stream); /* copies read the caller's memory */
    if (code == CU_OK && landed != CU_OK) {
        call = "cuStreamSynchronize";
        code = landed;
    }
    if (code != CU_OK)
        s = cu_error(err, cu, code, call);
    if (launch_at)
        cu->MemFree(launch_at);
    if (in_at)
        cu->MemFree(in_at);
    if (out_at)
        cu->MemFree(out_at);
    return s;
}
