/* SPDX-License-Identifier: Apache-2.0 */
/* Programs beside the kernel: SPIR-V made when they are asked for. */
#include "level_zero.h"
#include "llvm/offers.h"

#include <stdlib.h>
#include <string.h>

struct job_program {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel, once; /* once: NULL, or run by one work-item before each launch */
};

/* ---- building ------------------------------------------------------------------------------- */

void level_zero_job_release(struct backend *b, struct job_program *p)
{
    if (!p)
        return;
    if (p->kernel)
        b->ze->KernelDestroy(p->kernel);
    if (p->once)
        b->ze->KernelDestroy(p->once);
    if (p->module)
        b->ze->ModuleDestroy(p->module);
    free(p);
}

static enum status kernel_make(const struct backend *b, const struct job_program *p,
                               const char *entry, ze_kernel_handle_t *out, struct error *err)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = entry};
    ze_kernel_handle_t kernel;
    ze_result_t code = b->ze->KernelCreate(p->module, &desc, &kernel);
    if (code != ZE_RESULT_SUCCESS)
        return ze_error(err, code, "zeKernelCreate");
    *out = kernel;
    return STATUS_OK;
}

enum status level_zero_job_build(struct backend *b, const struct job_source *source,
                                 struct job_program **out, struct build_info *info,
                                 struct error *err)
{
    struct arena a = {0};
    const void *spirv;
    size_t size;
    struct job_program *p = calloc(1, sizeof *p);
    if (!p)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    enum status s = spirv_compile(&a, source, &spirv, &size, info, err);
    if (s == STATUS_OK)
        s = level_zero_module_make(b, spirv, size, level_zero_flags(source->mode), &p->module, info,
                                   err);
    if (s == STATUS_OK)
        s = kernel_make(b, p, source->entry, &p->kernel, err);
    if (s == STATUS_OK && source->once)
        s = kernel_make(b, p, source->once, &p->once, err);
    arena_free(&a);
    if (s == STATUS_OK)
        *out = p;
    else
        level_zero_job_release(b, p);
    return s;
}

/* ---- running -------------------------------------------------------------------------------- */

/* Copies in before the launches (`in`), or out after them. */
static enum status buffers_copy(struct backend *b, const struct job_buffer *buffers, size_t count,
                                void *const *at, bool in, struct error *err)
{
    ze_result_t code = ZE_RESULT_SUCCESS;
    for (size_t i = 0; code == ZE_RESULT_SUCCESS && i < count; i++) {
        const struct job_buffer *f = &buffers[i];
        if (!f->bytes || !(in ? f->in != NULL : f->out != NULL))
            continue;
        code = b->ze->CommandListAppendMemoryCopy(b->list, in ? at[i] : f->out, in ? f->in : at[i],
                                                  f->bytes, NULL, 0, NULL);
    }
    enum status ran = level_zero_list_run(b, code == ZE_RESULT_SUCCESS ? err : NULL);
    return code == ZE_RESULT_SUCCESS ? ran : ze_error(err, code, "zeCommandListAppendMemoryCopy");
}

static ze_result_t arguments_set(const struct backend *b, ze_kernel_handle_t k, void *const *at,
                                 size_t count)
{
    ze_result_t code = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; code == ZE_RESULT_SUCCESS && i < count; i++)
        code = b->ze->KernelSetArgumentValue(k, i, sizeof at[i], &at[i]);
    return code;
}

/* Behind what the list has: commands of it begin in order, but end in any. */
static ze_result_t append_behind(struct backend *b, ze_kernel_handle_t k,
                                 const ze_group_count_t *groups, bool first)
{
    ze_result_t code =
        first ? ZE_RESULT_SUCCESS : b->ze->CommandListAppendBarrier(b->list, NULL, 0, NULL);
    return code == ZE_RESULT_SUCCESS
               ? b->ze->CommandListAppendLaunchKernel(b->list, k, groups, NULL, 0, NULL)
               : code;
}

static enum status job_launch(struct backend *b, const struct job_program *p, void *const *at,
                              size_t count, size_t items, uint32_t wanted, uint32_t iterations,
                              double *seconds, struct error *err)
{
    const uint32_t most = level_zero_group_most(b, p->kernel), group[2] = {wanted      ? wanted
                                                                           : most < 64 ? most
                                                                                       : 64,
                                                                           1};
    const ze_group_count_t one = {1, 1, 1},
                           groups = {(uint32_t)((items + group[0] - 1) / group[0]), 1, 1};
    enum status s = level_zero_group_set(b, p->kernel, most, group, err);
    if (s == STATUS_OK && p->once)
        s = level_zero_group_set(b, p->once, 1, (const uint32_t[]){1, 1}, err);
    if (s != STATUS_OK)
        return s;
    const char *call = "zeKernelSetArgumentValue";
    ze_result_t code = arguments_set(b, p->kernel, at, count);
    if (code == ZE_RESULT_SUCCESS && p->once)
        code = arguments_set(b, p->once, at, count);
    for (uint32_t k = 0; code == ZE_RESULT_SUCCESS && k < iterations; k++) {
        call = "zeCommandListAppendLaunchKernel";
        if (p->once)
            code = append_behind(b, p->once, &one, k == 0);
        if (code == ZE_RESULT_SUCCESS)
            code = append_behind(b, p->kernel, &groups, k == 0 && !p->once);
    }
    double begin = clock_s();
    s = level_zero_list_run(b, code == ZE_RESULT_SUCCESS ? err : NULL);
    *seconds += clock_s() - begin;
    return code == ZE_RESULT_SUCCESS ? s : ze_error(err, code, call);
}

enum status level_zero_job_run(struct backend *b, struct job_program *p,
                               const struct job_buffer *buffers, size_t count, size_t items,
                               uint32_t group, uint32_t iterations, double *seconds,
                               struct error *err)
{
    void *at[JOB_BUFFERS_MAX] = {NULL};
    enum status s = STATUS_OK;
    assert(count <= JOB_BUFFERS_MAX);
    for (size_t i = 0; s == STATUS_OK && i < count; i++)
        s = level_zero_alloc(b, buffers[i].bytes ? buffers[i].bytes : 4, buffers[i].what, &at[i],
                             err);
    if (s == STATUS_OK)
        s = buffers_copy(b, buffers, count, at, true, err);
    if (s == STATUS_OK)
        s = job_launch(b, p, at, count, items, group, iterations, seconds, err);
    if (s == STATUS_OK)
        s = buffers_copy(b, buffers, count, at, false, err);
    for (size_t i = 0; i < count; i++)
        if (at[i])
            b->ze->MemFree(b->context, at[i]);
    return s;
}
