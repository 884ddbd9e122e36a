/* SPDX-License-Identifier: Apache-2.0 */
/* Programs beside the kernel. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

struct job_program {
    gpu_module module;
    gpu_function function, once; /* once: NULL, or run by one work-item before each launch */
    uint32_t threads;            /* most in a block */
};

/* ---- building ------------------------------------------------------------------------------- */

void gpu_job_release(struct backend *b, struct job_program *p)
{
    if (!p)
        return;
    if (p->module && gpu_select(b, NULL) == STATUS_OK)
        b->driver->ModuleUnload(p->module);
    free(p);
}

enum status gpu_job_build(struct backend *b, const struct job_source *source,
                          struct job_program **out, struct build_info *info, struct error *err)
{
    struct program_request request = program_request_make(source->mode);
    struct kept_resources resources;
    request.code = CODE_SOURCE;
    request.source = source->text;
    memcpy(request.source_hash, source->hash, sizeof request.source_hash);
    struct job_program *p = calloc(1, sizeof *p);
    if (!p)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    enum status s = gpu_select(b, err);
    if (s == STATUS_OK)
        s = gpu_module_make(b, &request, &p->module, &resources, info, err);
    if (s == STATUS_OK) {
        gpu_result code = b->driver->ModuleGetFunction(&p->function, p->module, source->entry);
        if (code == GPU_OK && source->once)
            code = b->driver->ModuleGetFunction(&p->once, p->module, source->once);
        if (code != GPU_OK)
            s = gpu_error(err, b->driver, code, GPU_CALL_ModuleGetFunction);
    }
    if (s != STATUS_OK) {
        gpu_job_release(b, p);
        return s;
    }
    p->threads = gpu_kernel_attribute(b, GPU_KERNEL_MAX_THREADS, p->function);
    info->registers = gpu_kernel_attribute(b, GPU_KERNEL_REGISTERS, p->function);
    info->stack_bytes = gpu_kernel_attribute(b, GPU_KERNEL_LOCAL_BYTES, p->function);
    info->spill_bytes = resources.spill_bytes;
    *out = p;
    return STATUS_OK;
}

/* ---- running -------------------------------------------------------------------------------- */

static enum status buffers_make(struct backend *b, const struct job_buffer *buffers, size_t count,
                                gpu_pointer *at, struct error *err)
{
    enum status s = STATUS_OK;
    for (size_t i = 0; s == STATUS_OK && i < count; i++) {
        const struct job_buffer *f = &buffers[i];
        s = gpu_alloc(b, f->bytes ? f->bytes : 4, f->what, &at[i], err);
        if (s != STATUS_OK || !f->in || !f->bytes)
            continue;
        gpu_result code = b->driver->MemcpyHtoDAsync(at[i], f->in, f->bytes, b->stream);
        if (code != GPU_OK)
            s = gpu_error(err, b->driver, code, GPU_CALL_MemcpyHtoDAsync);
    }
    return s;
}

static enum status group_choose(const struct backend *b, const struct job_program *p, size_t items,
                                uint32_t wanted, unsigned *group, struct error *err)
{
    const uint32_t most = p->threads ? p->threads : b->info.max_work_group;
    *group = wanted ? wanted : most < 64 ? most : 64; /* two warps, a wavefront */
    if (*group > most)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "a work-group of %u; %s takes at most %u of this program", *group,
                         b->info.name, most);
    if ((items + *group - 1) / *group > b->max_grid[0])
        return error_msg(err, STATUS_LIMIT, "%zu points at once; %s takes %zu", items, b->info.name,
                         (size_t)b->max_grid[0] * *group);
    return STATUS_OK;
}

static enum status job_launch(struct backend *b, const struct job_program *p, gpu_pointer *at,
                              size_t count, size_t items, unsigned group, uint32_t iterations,
                              double *seconds, struct error *err)
{
    void *arguments[JOB_BUFFERS_MAX];
    for (size_t i = 0; i < count; i++)
        arguments[i] = &at[i];
    gpu_result code = b->driver->StreamSynchronize(b->stream); /* copies are no part of the time */
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_StreamSynchronize);
    double begin = clock_s();
    const unsigned blocks = (unsigned)((items + group - 1) / group);
    for (uint32_t k = 0; code == GPU_OK && k < iterations; k++) {
        if (p->once)
            code =
                b->driver->LaunchKernel(p->once, 1, 1, 1, 1, 1, 1, 0, b->stream, arguments, NULL);
        if (code == GPU_OK)
            code = b->driver->LaunchKernel(p->function, blocks, 1, 1, group, 1, 1, 0, b->stream,
                                           arguments, NULL);
    }
    if (code != GPU_OK)
        return gpu_error(err, b->driver, code, GPU_CALL_LaunchKernel);
    code = b->driver->StreamSynchronize(b->stream);
    *seconds += clock_s() - begin;
    return code == GPU_OK ? STATUS_OK : gpu_error(err, b->driver, code, GPU_CALL_StreamSynchronize);
}

static enum status buffers_read(struct backend *b, const struct job_buffer *buffers, size_t count,
                                const gpu_pointer *at, struct error *err)
{
    gpu_result code = GPU_OK;
    for (size_t i = 0; code == GPU_OK && i < count; i++)
        if (buffers[i].out && buffers[i].bytes)
            code = b->driver->MemcpyDtoHAsync(buffers[i].out, at[i], buffers[i].bytes, b->stream);
    return code == GPU_OK ? STATUS_OK : gpu_error(err, b->driver, code, GPU_CALL_MemcpyDtoHAsync);
}

enum status gpu_job_run(struct backend *b, struct job_program *p, const struct job_buffer *buffers,
                        size_t count, size_t items, uint32_t group, uint32_t iterations,
                        double *seconds, struct error *err)
{
    gpu_pointer at[JOB_BUFFERS_MAX] = {0};
    unsigned block = 0;
    assert(count <= JOB_BUFFERS_MAX);
    enum status s = gpu_select(b, err);
    if (s == STATUS_OK)
        s = group_choose(b, p, items, group, &block, err);
    if (s == STATUS_OK)
        s = buffers_make(b, buffers, count, at, err);
    if (s == STATUS_OK)
        s = job_launch(b, p, at, count, items, block, iterations, seconds, err);
    if (s == STATUS_OK)
        s = buffers_read(b, buffers, count, at, err);
    /* also after a failure: queued copies read and write the caller's memory */
    gpu_result landed = b->driver->StreamSynchronize(b->stream);
    if (s == STATUS_OK && landed != GPU_OK)
        s = gpu_error(err, b->driver, landed, GPU_CALL_StreamSynchronize);
    for (size_t i = 0; i < count; i++)
        if (at[i])
            b->driver->MemFree(at[i]);
    return s;
}
