/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_job.c: programs beside the kernel. */
#include "opencl.h"

#include <stdlib.h>
#include <string.h>

struct job_program {
    cl_program compiled;
    cl_kernel kernel, once; /* once: NULL, or run by one work-item before each launch */
    struct opencl_kept kept;
    char *text; /* of the source: a program's binary is asked for by way of it */
    char options[256];
    size_t group_most; /* CL_KERNEL_WORK_GROUP_SIZE; 0: the driver does not say */
};

/* ---- building ------------------------------------------------------------------------------- */

/* Intel's optimiser (CPU runtime 2026.2) makes u * k - 0.5 * k, two roundings, of (u - 0.5) * k,
 * whatever FP_CONTRACT and the build options say; without it the bits are right. */
static const char *strict_options(const struct device_info *d)
{
    return strncmp(d->vendor, "Intel(R)", 8) == 0 ? " -cl-opt-disable" : "";
}

static void options_make(const struct backend *b, enum math_mode mode, char *buf, size_t size)
{
    static const char *const by_mode[] = {[MODE_STRICT] = "",
                                          [MODE_DEVICE] = " -cl-mad-enable",
                                          [MODE_FAST] = " -cl-mad-enable -cl-no-signed-zeros"};
    snprintf(buf, size, "-cl-std=CL1.2 -w -DK_MODE=%d%s%s%s", (int)mode, by_mode[mode],
             mode == MODE_STRICT ? strict_options(&b->info) : "",
             mode == MODE_STRICT && b->rounds_divide_sqrt
                 ? " -cl-fp32-correctly-rounded-divide-sqrt"
                 : "");
}

static enum status kernel_make(const struct backend *b, cl_program compiled, const char *entry,
                               cl_kernel *out, struct error *err)
{
    cl_int code;
    cl_kernel kernel = b->cl->CreateKernel(compiled, entry, &code);
    if (code != CL_SUCCESS)
        return cl_error(err, code, "clCreateKernel");
    *out = kernel;
    return STATUS_OK;
}

static enum status job_compile(const struct backend *b, const struct job_source *source,
                               struct job_program *p, struct build_info *info, struct error *err)
{
    cl_int code;
    opencl_kept_key(b, &p->kept, source->hash, p->options, NULL, 0);
    p->compiled = opencl_kept_take(b, &p->kept, p->options);
    info->cached = p->compiled != NULL;
    if (!p->compiled) {
        p->compiled = b->cl->CreateProgramWithSource(b->context, 1, (const char *[]){source->text},
                                                     NULL, &code);
        if (code != CL_SUCCESS) {
            p->compiled = NULL;
            return cl_error(err, code, "clCreateProgramWithSource");
        }
        code = b->cl->BuildProgram(p->compiled, 1, &b->device, p->options, NULL, NULL);
        if (code != CL_SUCCESS) {
            (void)b->cl->GetProgramBuildInfo(p->compiled, b->device, CL_PROGRAM_BUILD_LOG,
                                             sizeof info->log - 1, info->log, NULL);
            return error_msg(err, STATUS_BUILD, "%s does not build the shader: %s: %.700s",
                             b->info.name, cl_code_name(code), info->log);
        }
        opencl_kept_put(b, &p->kept, p->compiled);
    }
    TRY(kernel_make(b, p->compiled, source->entry, &p->kernel, err));
    if (source->once)
        TRY(kernel_make(b, p->compiled, source->once, &p->once, err));
    if (b->cl->GetKernelWorkGroupInfo(p->kernel, b->device, CL_KERNEL_WORK_GROUP_SIZE,
                                      sizeof p->group_most, &p->group_most, NULL) != CL_SUCCESS)
        p->group_most = 0;
    return STATUS_OK;
}

void opencl_job_release(struct backend *b, struct job_program *p)
{
    if (!p)
        return;
    if (p->kernel)
        b->cl->ReleaseKernel(p->kernel);
    if (p->once)
        b->cl->ReleaseKernel(p->once);
    if (p->kernel && p->text)
        opencl_kept_again(b, &p->kept, p->text, p->options);
    if (p->compiled)
        b->cl->ReleaseProgram(p->compiled);
    free(p->text);
    free(p);
}

enum status opencl_job_build(struct backend *b, const struct job_source *source,
                             struct job_program **out, struct build_info *info, struct error *err)
{
    struct job_program *p = calloc(1, sizeof *p);
    if (!p)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    options_make(b, source->mode, p->options, sizeof p->options);
    snprintf(info->options, sizeof info->options, "%s", p->options);
    p->text = b->compiles_shapes ? strdup(source->text) : NULL;
    enum status s = job_compile(b, source, p, info, err);
    if (s == STATUS_OK)
        *out = p;
    else
        opencl_job_release(b, p);
    return s;
}

/* ---- running -------------------------------------------------------------------------------- */

static enum status job_launch(struct backend *b, const struct job_program *p, const cl_mem *at,
                              size_t count, size_t items, uint32_t group_wanted,
                              uint32_t iterations, double *seconds, struct error *err)
{
    const uint32_t wanted[2] = {group_wanted, 1};
    const size_t group = group_wanted       ? group_wanted
                         : b->shares_memory ? opencl_group_small(p->group_most)
                                            : 0,
                 all = group ? (items + group - 1) / group * group : items, one = 1;
    if (group_wanted)
        TRY(work_group_check(&b->info, wanted, "this program", p->group_most, err));
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; code == CL_SUCCESS && i < count; i++)
        code = b->cl->SetKernelArg(p->kernel, i, sizeof at[i], &at[i]);
    for (cl_uint i = 0; code == CL_SUCCESS && p->once && i < count; i++)
        code = b->cl->SetKernelArg(p->once, i, sizeof at[i], &at[i]);
    if (code != CL_SUCCESS)
        return cl_error(err, code, "clSetKernelArg");
    const char *call = NULL;
    double begin = clock_s();
    for (uint32_t k = 0; code == CL_SUCCESS && k < iterations; k++) {
        call = "clEnqueueNDRangeKernel";
        if (p->once) /* the queue is in order */
            code =
                b->cl->EnqueueNDRangeKernel(b->queue, p->once, 1, NULL, &one, &one, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            break;
        code = b->cl->EnqueueNDRangeKernel(b->queue, p->kernel, 1, NULL, &all,
                                           group ? &group : NULL, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            break;
        call = "clFinish";
        code = b->cl->Finish(b->queue);
    }
    *seconds += clock_s() - begin;
    return code == CL_SUCCESS ? STATUS_OK : cl_error(err, code, call);
}

static enum status buffers_make(struct backend *b, const struct job_buffer *buffers, size_t count,
                                cl_mem *at, struct error *err)
{
    enum status s = STATUS_OK;
    for (size_t i = 0; s == STATUS_OK && i < count; i++) {
        const struct job_buffer *f = &buffers[i];
        s = opencl_buffer(b, f->in && !f->out ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE,
                          f->bytes ? f->bytes : 4, NULL, f->what, &at[i], err);
        if (s != STATUS_OK || !f->in || !f->bytes)
            continue;
        cl_int code =
            b->cl->EnqueueWriteBuffer(b->queue, at[i], CL_TRUE, 0, f->bytes, f->in, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            s = cl_error(err, code, "clEnqueueWriteBuffer");
    }
    return s;
}

static enum status buffers_read(struct backend *b, const struct job_buffer *buffers, size_t count,
                                const cl_mem *at, struct error *err)
{
    cl_int code = CL_SUCCESS;
    for (size_t i = 0; code == CL_SUCCESS && i < count; i++)
        if (buffers[i].out && buffers[i].bytes)
            code = b->cl->EnqueueReadBuffer(b->queue, at[i], CL_TRUE, 0, buffers[i].bytes,
                                            buffers[i].out, 0, NULL, NULL);
    return code == CL_SUCCESS ? STATUS_OK : cl_error(err, code, "clEnqueueReadBuffer");
}

enum status opencl_job_run(struct backend *b, struct job_program *p,
                           const struct job_buffer *buffers, size_t count, size_t items,
                           uint32_t group, uint32_t iterations, double *seconds, struct error *err)
{
    cl_mem at[JOB_BUFFERS_MAX] = {NULL};
    assert(count <= JOB_BUFFERS_MAX);
    enum status s = buffers_make(b, buffers, count, at, err);
    if (s == STATUS_OK)
        s = job_launch(b, p, at, count, items, group, iterations, seconds, err);
    if (s == STATUS_OK)
        s = buffers_read(b, buffers, count, at, err);
    for (size_t i = 0; i < count; i++)
        if (at[i])
            b->cl->ReleaseMemObject(at[i]);
    return s;
}
