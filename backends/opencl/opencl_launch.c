/* SPDX-License-Identifier: Apache-2.0 */
/* Running kernels: renders in flight, and single calls that copy words in and out. */
#include "opencl.h"

#include <string.h>

static enum status kernel_args(struct backend *b, cl_kernel k, const cl_mem *rest,
                               unsigned rest_count, struct error *err)
{
    cl_uint at = 0;
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++) {
        const cl_mem *m = b->scene[i] ? &b->scene[i] : &b->nothing;
        cl_int code = b->cl->SetKernelArg(k, at++, sizeof(cl_mem), m);
        if (code != CL_SUCCESS)
            return cl_error(err, code, "clSetKernelArg");
    }
    for (unsigned i = 0; i < rest_count; i++) {
        cl_int code = b->cl->SetKernelArg(k, at++, sizeof(cl_mem), &rest[i]);
        if (code != CL_SUCCESS)
            return cl_error(err, code, "clSetKernelArg");
    }
    return STATUS_OK;
}

/* clWaitForEvents says only that an event is bad: the event says why. */
static enum status wait_error(struct backend *b, cl_event event, cl_int code, struct error *err)
{
    cl_int ended = CL_COMPLETE;
    if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
        b->cl->GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof ended, &ended, NULL) ==
            CL_SUCCESS &&
        ended < 0)
        return cl_error(err, ended, "a launch");
    return cl_error(err, code, "clWaitForEvents");
}

/* Waits for a launch and adds its time. */
static enum status flight_land(struct backend *b, struct flight *f, struct error *err)
{
    if (!f->event)
        return STATUS_OK;
    cl_ulong start = 0, end = 0;
    cl_int code = b->cl->WaitForEvents(1, &f->event);
    if (code == CL_SUCCESS && b->device_s >= 0.0) {
        if (b->cl->GetEventProfilingInfo(f->event, CL_PROFILING_COMMAND_START, sizeof start, &start,
                                         NULL) == CL_SUCCESS &&
            b->cl->GetEventProfilingInfo(f->event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                         NULL) == CL_SUCCESS &&
            end >= start)
            b->device_s += (double)(end - start) * 1e-9;
        else
            b->device_s = -1.0;
    }
    enum status s = code == CL_SUCCESS ? STATUS_OK : wait_error(b, f->event, code, err);
    b->cl->ReleaseEvent(f->event);
    f->event = NULL;
    return s;
}

enum status opencl_launch(struct backend *b, enum kernel_entry entry, const struct k_launch *launch,
                          const uint32_t grid[2], const uint32_t work_group[2], struct error *err)
{
    const struct program *p = NULL;
    enum status s = opencl_program(b, entry, &p, err);
    if (s == STATUS_OK)
        s = work_group_check(&b->info, work_group, "this kernel", p->group[entry], err);
    if (s != STATUS_OK)
        return s;
    struct flight *f = &b->flights[b->next_flight];
    s = flight_land(b, f, err);
    if (s != STATUS_OK)
        return s;
    f->host = *launch;
    cl_int code = b->cl->EnqueueWriteBuffer(b->queue, f->launch, CL_FALSE, 0, sizeof f->host,
                                            &f->host, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return cl_error(err, code, "clEnqueueWriteBuffer");
    const cl_mem rest[] = {f->launch, b->film};
    s = kernel_args(b, p->kernels[entry], rest, 2, err);
    if (s != STATUS_OK)
        return s;
    const size_t global[2] = {grid[0], grid[1]}, local[2] = {work_group[0], work_group[1]};
    cl_event event;
    code = b->cl->EnqueueNDRangeKernel(b->queue, p->kernels[entry], 2, NULL, global, local, 0, NULL,
                                       &event);
    if (code != CL_SUCCESS) {
        bool group = code == CL_INVALID_WORK_GROUP_SIZE || code == CL_INVALID_WORK_ITEM_SIZE;
        s = cl_error(err, code, "clEnqueueNDRangeKernel");
        if (!group)
            return s;
        return error_msg(err, STATUS_UNSUPPORTED,
                         "work-group %ux%u over a grid of %ux%u: %s refuses it (%s)", work_group[0],
                         work_group[1], grid[0], grid[1], b->info.name, cl_code_name(code));
    }
    f->event = event;
    b->next_flight = (b->next_flight + 1) % LAUNCHES_IN_FLIGHT;
    code = b->cl->Flush(b->queue);
    return code == CL_SUCCESS ? STATUS_OK : cl_error(err, code, "clFlush");
}

enum status opencl_finish(struct backend *b, double *device_s, struct error *err)
{
    enum status s = STATUS_OK;
    for (int i = 0; i < LAUNCHES_IN_FLIGHT; i++) {
        /* Oldest first; every one is waited for, whatever became of the others. */
        struct flight *f = &b->flights[(b->next_flight + (unsigned)i) % LAUNCHES_IN_FLIGHT];
        enum status landed = flight_land(b, f, s == STATUS_OK ? err : NULL);
        s = s == STATUS_OK ? landed : s;
    }
    cl_int code = b->cl->Finish(b->queue);
    if (s == STATUS_OK && code != CL_SUCCESS)
        s = cl_error(err, code, "clFinish");
    if (s == STATUS_OK && device_s)
        *device_s = b->device_s;
    return s;
}

size_t opencl_group_small(size_t kernel_most)
{
    enum { SMALL = 16 };
    return kernel_most && kernel_most < SMALL ? kernel_most : SMALL;
}

enum status opencl_run_words(struct backend *b, enum kernel_entry entry,
                             const struct k_launch *launch, const uint32_t *in, size_t in_words,
                             uint32_t *out, size_t out_words, size_t items, struct error *err)
{
    const struct cl_api *cl = b->cl;
    cl_mem launch_buffer = NULL, in_buffer = NULL, out_buffer = NULL;
    size_t in_bytes = in_words * sizeof *in, out_bytes = out_words * sizeof *out;
    const struct program *p = NULL;
    enum status s = opencl_program(b, entry, &p, err);
    if (s == STATUS_OK)
        s = opencl_buffer(b, CL_MEM_READ_ONLY, sizeof *launch, NULL, "the launch settings",
                          &launch_buffer, err);
    if (s == STATUS_OK && in_bytes > 0)
        s = opencl_buffer(b, CL_MEM_READ_ONLY, in_bytes, NULL, "the input", &in_buffer, err);
    if (s == STATUS_OK)
        s = opencl_buffer(b, CL_MEM_READ_WRITE, out_bytes ? out_bytes : 4, NULL, "the output",
                          &out_buffer, err);
    cl_int code = CL_SUCCESS;
    const char *call = "clEnqueueWriteBuffer";
    if (s == STATUS_OK)
        code = cl->EnqueueWriteBuffer(b->queue, launch_buffer, CL_TRUE, 0, sizeof *launch, launch,
                                      0, NULL, NULL);
    if (s == STATUS_OK && code == CL_SUCCESS && in_buffer)
        code = cl->EnqueueWriteBuffer(b->queue, in_buffer, CL_TRUE, 0, in_bytes, in, 0, NULL, NULL);
    if (s == STATUS_OK && code == CL_SUCCESS &&
        out_bytes > 0) /* what is not written shows the caller's words */
        code =
            cl->EnqueueWriteBuffer(b->queue, out_buffer, CL_TRUE, 0, out_bytes, out, 0, NULL, NULL);
    if (s == STATUS_OK && code == CL_SUCCESS) {
        const cl_mem probe[] = {launch_buffer, in_buffer ? in_buffer : b->nothing, out_buffer};
        const cl_mem trace[] = {launch_buffer, out_buffer};
        s = entry == ENTRY_TRACE ? kernel_args(b, p->kernels[entry], trace, 2, err)
                                 : kernel_args(b, p->kernels[entry], probe, 3, err);
    }
    if (s == STATUS_OK && code == CL_SUCCESS) {
        const size_t group = opencl_group_small(p->group[entry]), /* items beyond rows do nothing */
            global = (items + group - 1) / group * group;
        call = "clEnqueueNDRangeKernel";
        code = cl->EnqueueNDRangeKernel(b->queue, p->kernels[entry], 1, NULL,
                                        b->shares_memory ? &global : &items,
                                        b->shares_memory ? &group : NULL, 0, NULL, NULL);
    }
    if (s == STATUS_OK && code == CL_SUCCESS) {
        call = "clFinish";
        code = cl->Finish(b->queue);
    }
    if (s == STATUS_OK && code == CL_SUCCESS && out_bytes > 0) {
        call = "clEnqueueReadBuffer";
        code =
            cl->EnqueueReadBuffer(b->queue, out_buffer, CL_TRUE, 0, out_bytes, out, 0, NULL, NULL);
    }
    if (s == STATUS_OK && code != CL_SUCCESS)
        s = cl_error(err, code, call);
    if (launch_buffer)
        cl->ReleaseMemObject(launch_buffer);
    if (in_buffer)
        cl->ReleaseMemObject(in_buffer);
    if (out_buffer)
        cl->ReleaseMemObject(out_buffer);
    return s;
}
