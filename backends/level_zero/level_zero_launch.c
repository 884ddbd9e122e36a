/* SPDX-License-Identifier: Apache-2.0 */
/* Running kernels: renders in flight, and single calls that copy words in and out. */
#include "level_zero.h"

#include <string.h>

/* ---- flights -------------------------------------------------------------------------------- */

static enum status flight_open(struct backend *b, unsigned index, struct error *err)
{
    const struct ze_api *ze = b->ze;
    struct flight *f = &b->flights[index];
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                   .commandQueueGroupOrdinal = b->queue_group};
    ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_event_desc_t event = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = index, .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    void *p = NULL;
    ze_result_t code = ze->MemAllocHost(b->context, &host, sizeof *f->host, 64, &p);
    if (code != ZE_RESULT_SUCCESS)
        return level_zero_alloc_error(b, code, "zeMemAllocHost", sizeof *f->host,
                                      "the launch settings' copy on the host", err);
    f->host = p;
    const char *call = "zeCommandListCreate";
    code = ze->CommandListCreate(b->context, b->device, &list, &f->list);
    if (code == ZE_RESULT_SUCCESS) {
        call = "zeFenceCreate";
        code = ze->FenceCreate(b->queue, &fence, &f->fence);
    }
    if (code == ZE_RESULT_SUCCESS) {
        call = "zeEventCreate";
        code = ze->EventCreate(b->events, &event, &f->event);
    }
    if (code != ZE_RESULT_SUCCESS)
        return ze_error(err, code, call);
    return level_zero_alloc(b, sizeof *f->host, "the launch settings", &f->launch, err);
}

enum status level_zero_flights_open(struct backend *b, struct error *err)
{
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                          ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                 .count = LAUNCHES_IN_FLIGHT};
    ze_result_t code = b->ze->EventPoolCreate(b->context, &pool, 1, &b->device, &b->events);
    enum status s =
        code == ZE_RESULT_SUCCESS ? STATUS_OK : ze_error(err, code, "zeEventPoolCreate");
    for (unsigned i = 0; s == STATUS_OK && i < LAUNCHES_IN_FLIGHT; i++)
        s = flight_open(b, i, err);
    return s;
}

void level_zero_flights_close(struct backend *b)
{
    const struct ze_api *ze = b->ze;
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        struct flight *f = &b->flights[i];
        if (f->event)
            ze->EventDestroy(f->event);
        if (f->fence)
            ze->FenceDestroy(f->fence);
        if (f->list)
            ze->CommandListDestroy(f->list);
        if (f->launch)
            ze->MemFree(b->context, f->launch);
        if (f->host)
            ze->MemFree(b->context, f->host);
    }
    if (b->events)
        ze->EventPoolDestroy(b->events);
    memset(b->flights, 0, sizeof b->flights);
    b->events = NULL;
}

static void flight_time(struct backend *b, const struct flight *f)
{
    ze_kernel_timestamp_result_t t;
    if (b->device_s < 0.0)
        return;
    if (b->ze->EventQueryKernelTimestamp(f->event, &t) != ZE_RESULT_SUCCESS) {
        b->device_s = -1.0;
        return;
    }
    uint64_t ticks = (t.global.kernelEnd - t.global.kernelStart) & b->tick_mask; /* may wrap */
    b->device_s += (double)ticks / (double)b->ticks_per_second;
}

/* Waits for a launch and adds its time. */
static enum status flight_land(struct backend *b, struct flight *f, struct error *err)
{
    if (!f->used)
        return STATUS_OK;
    f->used = false;
    const char *call = "zeFenceHostSynchronize";
    ze_result_t code = b->ze->FenceHostSynchronize(f->fence, UINT64_MAX);
    if (code == ZE_RESULT_SUCCESS) {
        flight_time(b, f);
        call = "zeFenceReset";
        code = b->ze->FenceReset(f->fence);
    }
    if (code == ZE_RESULT_SUCCESS) {
        call = "zeEventHostReset";
        code = b->ze->EventHostReset(f->event);
    }
    if (code == ZE_RESULT_SUCCESS) {
        call = "zeCommandListReset";
        code = b->ze->CommandListReset(f->list);
    }
    return code == ZE_RESULT_SUCCESS ? STATUS_OK : ze_error(err, code, call);
}

/* ---- arguments and shapes ------------------------------------------------------------------- */

/* The scene's buffers, then `rest`. */
static enum status arguments_set(struct backend *b, ze_kernel_handle_t k, void *const *rest,
                                 unsigned count, struct error *err)
{
    uint32_t at = 0;
    for (unsigned i = 0; i < SCENE_BUFFER_COUNT + count; i++) {
        void *const *p = i >= SCENE_BUFFER_COUNT ? &rest[i - SCENE_BUFFER_COUNT]
                         : b->scene[i]           ? &b->scene[i]
                                                 : &b->nothing;
        ze_result_t code = b->ze->KernelSetArgumentValue(k, at++, sizeof *p, p);
        if (code != ZE_RESULT_SUCCESS)
            return ze_error(err, code, "zeKernelSetArgumentValue");
    }
    return STATUS_OK;
}

enum status level_zero_group_set(const struct backend *b, ze_kernel_handle_t k, uint32_t most,
                                 const uint32_t g[2], struct error *err)
{
    TRY(work_group_check(&b->info, g, "this kernel", most, err));
    ze_result_t code = b->ze->KernelSetGroupSize(k, g[0], g[1], 1);
    if (code == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION)
        return error_msg(err, STATUS_UNSUPPORTED, "work-group %ux%u: %s refuses it", g[0], g[1],
                         b->info.name);
    return code == ZE_RESULT_SUCCESS ? STATUS_OK : ze_error(err, code, "zeKernelSetGroupSize");
}

/* ---- launches ------------------------------------------------------------------------------- */

/* Commands of a queue start in order, but end in any: the barrier holds the kernel back until the
 * settings are there and earlier launches have left the film alone (it waits for all of the queue).
 */
static ze_result_t launch_append(const struct backend *b, const struct flight *f,
                                 ze_kernel_handle_t k, const ze_group_count_t *groups,
                                 const char **call)
{
    const struct ze_api *ze = b->ze;
    *call = "zeCommandListAppendMemoryCopy";
    ze_result_t code = ze->CommandListAppendMemoryCopy(f->list, f->launch, f->host, sizeof *f->host,
                                                       NULL, 0, NULL);
    if (code == ZE_RESULT_SUCCESS) {
        *call = "zeCommandListAppendBarrier";
        code = ze->CommandListAppendBarrier(f->list, NULL, 0, NULL);
    }
    if (code == ZE_RESULT_SUCCESS) {
        *call = "zeCommandListAppendLaunchKernel";
        code = ze->CommandListAppendLaunchKernel(f->list, k, groups, f->event, 0, NULL);
    }
    if (code == ZE_RESULT_SUCCESS) {
        *call = "zeCommandListClose";
        code = ze->CommandListClose(f->list);
    }
    if (code == ZE_RESULT_SUCCESS) {
        *call = "zeCommandQueueExecuteCommandLists";
        ze_command_list_handle_t list = f->list;
        code = ze->CommandQueueExecuteCommandLists(b->queue, 1, &list, f->fence);
    }
    return code;
}

enum status level_zero_launch(struct backend *b, enum kernel_entry entry,
                              const struct k_launch *launch, const uint32_t grid[2],
                              const uint32_t work_group[2], struct error *err)
{
    const struct program *p = NULL;
    enum status s = level_zero_program(b, entry, &p, err);
    if (s != STATUS_OK)
        return s;
    ze_kernel_handle_t k = p->kernels[entry];
    struct flight *f = &b->flights[b->next_flight];
    s = flight_land(b, f, err);
    if (s == STATUS_OK)
        s = level_zero_group_set(b, k, p->group[entry], work_group, err);
    if (s == STATUS_OK) {
        *f->host = *launch;
        void *const rest[] = {f->launch, b->film};
        s = arguments_set(b, k, rest, 2, err);
    }
    if (s != STATUS_OK)
        return s;
    const ze_group_count_t groups = {grid[0] / work_group[0], grid[1] / work_group[1], 1};
    const char *call;
    ze_result_t code = launch_append(b, f, k, &groups, &call);
    if (code != ZE_RESULT_SUCCESS) {
        b->ze->CommandListReset(f->list);
        return ze_error(err, code, call);
    }
    f->used = true;
    b->next_flight = (b->next_flight + 1) % LAUNCHES_IN_FLIGHT;
    return STATUS_OK;
}

enum status level_zero_finish(struct backend *b, double *device_s, struct error *err)
{
    enum status s = STATUS_OK;
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        /* Oldest first; every one is waited for, whatever became of the others. */
        struct flight *f = &b->flights[(b->next_flight + (unsigned)i) % LAUNCHES_IN_FLIGHT];
        enum status landed = flight_land(b, f, s == STATUS_OK ? err : NULL);
        s = s == STATUS_OK ? landed : s;
    }
    if (s == STATUS_OK && device_s)
        *device_s = b->device_s;
    return s;
}

/* ---- single calls --------------------------------------------------------------------------- */

struct words { /* of one call, on the device */
    void *launch, *in, *out;
};

static enum status words_run(struct backend *b, ze_kernel_handle_t k, const struct words *w,
                             const struct k_launch *launch, const uint32_t *in, size_t in_bytes,
                             uint32_t *out, size_t out_bytes, const ze_group_count_t *groups,
                             struct error *err)
{
    const struct ze_api *ze = b->ze;
    const char *call = "zeCommandListAppendMemoryCopy";
    ze_result_t code =
        ze->CommandListAppendMemoryCopy(b->list, w->launch, launch, sizeof *launch, NULL, 0, NULL);
    if (code == ZE_RESULT_SUCCESS && in_bytes)
        code = ze->CommandListAppendMemoryCopy(b->list, w->in, in, in_bytes, NULL, 0, NULL);
    if (code == ZE_RESULT_SUCCESS && out_bytes) /* what is not written shows the caller's words */
        code = ze->CommandListAppendMemoryCopy(b->list, w->out, out, out_bytes, NULL, 0, NULL);
    enum status s = level_zero_list_run(b, code == ZE_RESULT_SUCCESS ? err : NULL);
    if (code != ZE_RESULT_SUCCESS)
        return ze_error(err, code, call);
    if (s != STATUS_OK)
        return s;
    call = "zeCommandListAppendLaunchKernel";
    code = ze->CommandListAppendLaunchKernel(b->list, k, groups, NULL, 0, NULL);
    if (code == ZE_RESULT_SUCCESS) {
        call = "zeCommandListAppendBarrier";
        code = ze->CommandListAppendBarrier(b->list, NULL, 0, NULL);
    }
    if (code == ZE_RESULT_SUCCESS && out_bytes) {
        call = "zeCommandListAppendMemoryCopy";
        code = ze->CommandListAppendMemoryCopy(b->list, out, w->out, out_bytes, NULL, 0, NULL);
    }
    s = level_zero_list_run(b, code == ZE_RESULT_SUCCESS ? err : NULL);
    return code == ZE_RESULT_SUCCESS ? s : ze_error(err, code, call);
}

enum status level_zero_run_words(struct backend *b, enum kernel_entry entry,
                                 const struct k_launch *launch, const uint32_t *in, size_t in_words,
                                 uint32_t *out, size_t out_words, size_t items, struct error *err)
{
    enum { GROUP = 64 };
    size_t in_bytes = in_words * sizeof *in, out_bytes = out_words * sizeof *out;
    const struct program *p = NULL;
    enum status s = level_zero_program(b, entry, &p, err);
    if (s != STATUS_OK || items == 0)
        return s;
    ze_kernel_handle_t k = p->kernels[entry];
    uint32_t most = p->group[entry] < GROUP ? p->group[entry] : GROUP;
    uint32_t group[2] = {items < most ? (uint32_t)items : most, 1};
    const ze_group_count_t groups = {(uint32_t)((items + group[0] - 1) / group[0]), 1, 1};
    struct words w = {0};
    s = level_zero_alloc(b, sizeof *launch, "the launch settings", &w.launch, err);
    if (s == STATUS_OK)
        s = level_zero_alloc(b, in_bytes ? in_bytes : 4, "the input", &w.in, err);
    if (s == STATUS_OK)
        s = level_zero_alloc(b, out_bytes ? out_bytes : 4, "the output", &w.out, err);
    if (s == STATUS_OK)
        s = level_zero_group_set(b, k, p->group[entry], group, err);
    if (s == STATUS_OK) {
        void *const probe[] = {w.launch, w.in, w.out}, *const trace[] = {w.launch, w.out};
        s = entry == ENTRY_TRACE ? arguments_set(b, k, trace, 2, err)
                                 : arguments_set(b, k, probe, 3, err);
    }
    if (s == STATUS_OK)
        s = words_run(b, k, &w, launch, in, in_bytes, out, out_bytes, &groups, err);
    void *const all[] = {w.launch, w.in, w.out};
    for (int i = 0; i < 3; i++)
        if (all[i])
            b->ze->MemFree(b->context, all[i]);
    return s;
}
