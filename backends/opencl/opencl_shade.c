/* opencl_shade.c: the engine `opencl:n`: emitted shaders, one work-item a point. */
#include "opencl.h"
#include "shade_program.h"

#include <stdlib.h>
#include <string.h>

struct state {
    struct backend *backend;
    struct shade_program program;
    cl_program compiled;
    cl_kernel kernel;
    uint32_t work_group;
};

/* ---- building ------------------------------------------------------------------------------- */

static void release(struct state *t)
{
    if (t->kernel)
        t->backend->cl->ReleaseKernel(t->kernel);
    if (t->compiled)
        t->backend->cl->ReleaseProgram(t->compiled);
    t->kernel = NULL;
    t->compiled = NULL;
}

/* "FILE:12:5: error: text" of a driver's log as the error's place. */
static void log_place(const char *log, struct error *err)
{
    const char *at = strstr(log, ": error:"), *line = at;
    while (line && line > log && line[-1] != '\n')
        line--;
    if (!at)
        return;
    const char *colon = strchr(line, ':');
    char *end;
    unsigned long row = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end != ':')
        return;
    unsigned long col = strtoul(end + 1, &end, 10);
    if (end != at)
        return;
    snprintf(err->file, sizeof err->file, "%.*s", (int)(colon - line), line);
    err->line = (uint32_t)row;
    err->col = (uint32_t)col;
}

static enum status compile(struct state *t, const char *options, struct error *err)
{
    const struct backend *b = t->backend;
    const char *source = t->program.source.data;
    cl_int code;
    t->compiled = b->cl->CreateProgramWithSource(b->context, 1, &source, NULL, &code);
    if (code != CL_SUCCESS) {
        t->compiled = NULL;
        return cl_error(err, code, "clCreateProgramWithSource");
    }
    code = b->cl->BuildProgram(t->compiled, 1, &b->device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        char log[8192] = "";
        (void)b->cl->GetProgramBuildInfo(t->compiled, b->device, CL_PROGRAM_BUILD_LOG,
                                         sizeof log - 1, log, NULL);
        enum status st = error_msg(err, STATUS_BUILD, "%s does not build the shader: %s: %.700s",
                                   b->info.name, cl_code_name(code), log);
        if (err)
            log_place(log, err);
        return st;
    }
    t->kernel = b->cl->CreateKernel(t->compiled, "asl_points", &code);
    if (code != CL_SUCCESS) {
        t->kernel = NULL;
        return cl_error(err, code, "clCreateKernel");
    }
    return STATUS_OK;
}

/* Intel's optimiser (CPU runtime 2026.2) makes u * k - 0.5 * k, two roundings, of (u - 0.5) * k,
 * whatever FP_CONTRACT and the build options say; without it the bits are right. */
static const char *strict_options(const struct device_info *d)
{
    return strncmp(d->vendor, "Intel(R)", 8) == 0 ? " -cl-opt-disable" : "";
}

static enum status build(struct shade *s, struct state *t, struct error *err)
{
    static const char *const by_mode[] = {[MODE_STRICT] = "",
                                          [MODE_DEVICE] = " -cl-mad-enable",
                                          [MODE_FAST] = " -cl-mad-enable -cl-no-signed-zeros"};
    char options[256];
    snprintf(options, sizeof options, "-cl-std=CL1.2 -w -DK_MODE=%d%s%s%s", (int)s->opt.mode,
             by_mode[s->opt.mode],
             s->opt.mode == MODE_STRICT ? strict_options(&t->backend->info) : "",
             s->opt.mode == MODE_STRICT && t->backend->rounds_divide_sqrt
                 ? " -cl-fp32-correctly-rounded-divide-sqrt"
                 : "");
    double begin = clock_s();
    release(t);
    enum status st = compile(t, options, err);
    s->info.compile_s = clock_s() - begin;
    return st;
}

static enum status translate(struct shade *s, struct state *t, struct error *err)
{
    struct shade_program p;
    double begin = clock_s();
    enum status st = shade_program_make(s, false, false, &p, err);
    if (st != STATUS_OK)
        return st;
    s->info.translate_s = clock_s() - begin;
    bool same = t->kernel && strcmp(p.hash, t->program.hash) == 0;
    shade_program_free(&t->program);
    t->program = p;
    return same ? STATUS_OK : build(s, t, err);
}

static enum status opencl_shade_open(struct shade *s, unsigned index, struct error *err)
{
    char id[32];
    struct device_info info;
    struct state *t = calloc(1, sizeof *t);
    if (!t)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    s->state = t;
    snprintf(id, sizeof id, "opencl:%u", index);
    enum status st = s->find_device(id, &info, err);
    if (st == STATUS_OK)
        st = opencl_open(&info, &t->backend, err);
    if (st != STATUS_OK)
        return st;
    snprintf(s->info.device, sizeof s->info.device, "%s", info.name);
    t->work_group = s->opt.work_group;
    return translate(s, t, err);
}

static void opencl_shade_close(struct shade *s)
{
    struct state *t = s->state;
    if (!t)
        return;
    if (t->backend) {
        release(t);
        opencl_close(t->backend);
    }
    shade_program_free(&t->program);
    free(t);
}

/* ---- running -------------------------------------------------------------------------------- */

enum { LAUNCH, ARGS, GRID, POINTS, OUT, FAILED, LOG, BUFFERS };

static enum status write(const struct backend *b, cl_mem to, const void *from, size_t bytes,
                         struct error *err)
{
    cl_int code =
        bytes ? b->cl->EnqueueWriteBuffer(b->queue, to, CL_TRUE, 0, bytes, from, 0, NULL, NULL)
              : CL_SUCCESS;
    return code == CL_SUCCESS ? STATUS_OK : cl_error(err, code, "clEnqueueWriteBuffer");
}

static enum status read_back(const struct backend *b, cl_mem from, void *to, size_t bytes,
                             struct error *err)
{
    cl_int code =
        bytes ? b->cl->EnqueueReadBuffer(b->queue, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL)
              : CL_SUCCESS;
    return code == CL_SUCCESS ? STATUS_OK : cl_error(err, code, "clEnqueueReadBuffer");
}

static enum status run_kernel(struct state *t, const cl_mem *buffers, size_t items,
                              uint32_t iterations, double *seconds, struct error *err)
{
    const struct backend *b = t->backend;
    size_t group = t->work_group, all = group ? (items + group - 1) / group * group : items;
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; code == CL_SUCCESS && i < BUFFERS; i++)
        code = b->cl->SetKernelArg(t->kernel, i, sizeof buffers[i], &buffers[i]);
    if (code != CL_SUCCESS)
        return cl_error(err, code, "clSetKernelArg");
    double begin = clock_s();
    for (uint32_t k = 0; code == CL_SUCCESS && k < iterations; k++) {
        code = b->cl->EnqueueNDRangeKernel(b->queue, t->kernel, 1, NULL, &all,
                                           group ? &group : NULL, 0, NULL, NULL);
        if (code == CL_SUCCESS)
            code = b->cl->Finish(b->queue);
    }
    *seconds += clock_s() - begin;
    return code == CL_SUCCESS ? STATUS_OK : cl_error(err, code, "clEnqueueNDRangeKernel");
}

static enum status launch(void *ctx, const struct shade_device_launch *l, struct error *err)
{
    struct state *t = ctx;
    struct backend *b = t->backend;
    const struct {
        const void *in;
        size_t bytes;
        const char *what;
    } at[BUFFERS] = {[LAUNCH] = {l->k, sizeof *l->k, "the launch settings"},
                     [ARGS] = {l->args, l->arg_words * 4, "the argument area"},
                     [GRID] = {l->grid, l->grid_floats * 4, "the grid"},
                     [POINTS] = {l->points, l->point_words * 4, "the points"},
                     [OUT] = {NULL, l->out_words * 4, "the outputs"},
                     [FAILED] = {l->failed, 8, "the failures"},
                     [LOG] = {l->log, l->k->log_words * (size_t)4, "the messages"}};
    cl_mem buffers[BUFFERS] = {NULL};
    enum status st = STATUS_OK;
    for (int i = 0; st == STATUS_OK && i < BUFFERS; i++) {
        st = opencl_buffer(b, i < OUT ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE,
                           at[i].bytes ? at[i].bytes : 4, NULL, at[i].what, &buffers[i], err);
        if (st == STATUS_OK && at[i].in)
            st = write(b, buffers[i], at[i].in, at[i].bytes, err);
    }
    if (st == STATUS_OK)
        st = run_kernel(t, buffers, l->k->count, l->iterations, l->seconds, err);
    if (st == STATUS_OK)
        st = read_back(b, buffers[OUT], l->out, at[OUT].bytes, err);
    if (st == STATUS_OK)
        st = read_back(b, buffers[FAILED], l->failed, at[FAILED].bytes, err);
    if (st == STATUS_OK)
        st = read_back(b, buffers[LOG], l->log, at[LOG].bytes, err);
    for (int i = 0; i < BUFFERS; i++)
        if (buffers[i])
            b->cl->ReleaseMemObject(buffers[i]);
    return st;
}

static enum status opencl_shade_run(struct shade *s, const struct shade_points *points,
                                    struct shade_result *out, struct error *err)
{
    struct state *t = s->state;
    enum status st = shade_program_bakes(s) ? translate(s, t, err) : STATUS_OK;
    return st == STATUS_OK ? shade_device_run(s, &t->program, points, launch, t, out, err) : st;
}

const struct shade_engine shade_opencl = {
    .info = {"opencl", "emitted OpenCL C, one work-item a point", true},
    .open = opencl_shade_open,
    .run = opencl_shade_run,
    .close = opencl_shade_close,
};
