/* SPDX-License-Identifier: Apache-2.0 */
/* Building the kernel, and keeping what the driver's compiler made of it. */
#include "api/offers.h"
#include "opencl.h"
#include "llvm/offers.h"

#include <stdlib.h>
#include <string.h>

static void options_make(const struct backend *b, const struct program_request *r, char *buf,
                         size_t size)
{
    /* strict: FP_CONTRACT OFF stands in the source. fast: everything but finite-math-only, because
     * infinities are values here (a ray's end, an empty box). */
    static const char *const by_mode[] = {
        [MODE_STRICT] = "",
        [MODE_DEVICE] = " -cl-mad-enable",
        [MODE_FAST] = " -cl-mad-enable -cl-no-signed-zeros -cl-unsafe-math-optimizations"
                      " -cl-denorms-are-zero",
    };
    char registers[40] = "";
    if (b->nvidia) /* default: as for cuda, docs/results/h200.md */
        snprintf(registers, sizeof registers, " -cl-nv-maxrregcount=%u",
                 r->registers ? r->registers : 64);
    if (r->code == CODE_LLVM) { /* defines and the mode are in the module already */
        snprintf(buf, size, "%s",
                 r->mode == MODE_STRICT && b->rounds_divide_sqrt
                     ? "-cl-fp32-correctly-rounded-divide-sqrt"
                     : "");
        return;
    }
    char defines[256];
    if (program_defines(r, defines, sizeof defines, NULL) != STATUS_OK)
        defines[0] = '\0';
    snprintf(buf, size, "-cl-std=CL1.2 %s%s%s%s%s%s", defines,
             b->info.kind == DEVICE_CPU ? " -DK_CPU" : "", by_mode[r->mode],
             r->mode == MODE_STRICT && b->rounds_divide_sqrt
                 ? " -cl-fp32-correctly-rounded-divide-sqrt"
                 : "",
             b->nvidia ? " -cl-nv-verbose" : "", registers);
}

/* What a program is made of. */
struct input {
    struct program_request request;
    struct arena arena;
    const void *spirv; /* NULL: the request's source */
    size_t size;
};
static enum status input_find(const struct backend *b, enum program_part part, struct input *out,
                              struct error *err)
{
    const struct program_request *r = &out->request;
    out->request = program_request_of_part(&b->request, part);
    return r->code == CODE_LLVM ? spirv_kernel(&out->arena, b->info.kind == DEVICE_CPU, r,
                                               &out->spirv, &out->size, err)
                                : STATUS_OK;
}

/* ---- the build log ------------------------------------------------------------------------- */

/* All the compiler said, NUL-terminated, heap; NULL if it said nothing. */
static char *log_read(const struct backend *b, cl_program program)
{
    size_t size = 0;
    if (b->cl->GetProgramBuildInfo(program, b->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
            CL_SUCCESS ||
        size == 0)
        return NULL;
    char *log = malloc(size + 1);
    if (!log)
        return NULL;
    if (b->cl->GetProgramBuildInfo(program, b->device, CL_PROGRAM_BUILD_LOG, size, log, NULL) !=
        CL_SUCCESS) {
        free(log);
        return NULL;
    }
    log[size] = '\0';
    return log;
}

/* ---- compiling ----------------------------------------------------------------------------- */

static enum status program_compile(const struct backend *b, cl_program program, const char *options,
                                   struct build_info *info, struct kept_resources *res,
                                   struct error *err)
{
    cl_int code = b->cl->BuildProgram(program, 1, &b->device, options, NULL, NULL);
    char *log = log_read(b, program);
    if (log) {
        snprintf(info->log, sizeof info->log, "%s", log);
        *res = resources_read(log);
    }
    enum status s = STATUS_OK;
    if (code != CL_SUCCESS) {
        const char *text = log ? log : "";
        while (*text == '\n' || *text == ' ')
            text++;
        s = error_msg(err, STATUS_BUILD, "%s does not build the kernel: %s (%d)%s%.700s",
                      b->info.name, cl_code_name(code), code, *text ? "; its compiler says: " : "",
                      text);
        if (err)
            err->native = code;
    }
    free(log);
    return s;
}

/* ---- building ------------------------------------------------------------------------------ */

static void kernels_release(const struct backend *b, struct program *p)
{
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (p->kernels[i])
            b->cl->ReleaseKernel(p->kernels[i]);
        p->kernels[i] = NULL;
    }
    if (p->program)
        b->cl->ReleaseProgram(p->program);
    p->program = NULL;
}

static void program_release(const struct backend *b, struct program *p)
{
    kernels_release(b, p);
    *p = (struct program){0};
}

void opencl_programs_release(struct backend *b)
{
    for (int part = 0; part < PART_COUNT; part++)
        program_release(b, &b->programs[part]);
}

static enum status kernels_make(const struct backend *b, const struct program_request *request,
                                struct program *p, struct error *err)
{
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (!kernel_entry_in(request, (enum kernel_entry)i))
            continue;
        cl_int code;
        cl_kernel k = b->cl->CreateKernel(p->program, kernel_entries[i].name, &code);
        if (code != CL_SUCCESS)
            return cl_error(err, code, "clCreateKernel");
        p->kernels[i] = k;
        code = b->cl->GetKernelWorkGroupInfo(k, b->device, CL_KERNEL_WORK_GROUP_SIZE,
                                             sizeof p->group[i], &p->group[i], NULL);
        if (code != CL_SUCCESS)
            return cl_error(err, code, "clGetKernelWorkGroupInfo");
    }
    return STATUS_OK;
}

/* What the driver knows of the kernels that render, in front of the compiler's log. The most
 * private memory stands for all. */
static void info_fill(const struct backend *b, const struct program *p,
                      const struct kept_resources *res, struct build_info *info)
{
    char said[sizeof info->log];
    size_t at = 0;
    cl_ulong most = 0;
    memcpy(said, info->log, sizeof said);
    for (int i = 0; i < ENTRY_COUNT; i++) {
        cl_kernel k = p->kernels[i];
        cl_ulong private_bytes = 0, local_bytes = 0;
        size_t multiple = 0;
        if (!k || i == ENTRY_ARITHMETIC)
            continue;
        b->cl->GetKernelWorkGroupInfo(k, b->device, CL_KERNEL_PRIVATE_MEM_SIZE,
                                      sizeof private_bytes, &private_bytes, NULL);
        b->cl->GetKernelWorkGroupInfo(k, b->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes,
                                      &local_bytes, NULL);
        b->cl->GetKernelWorkGroupInfo(k, b->device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                      sizeof multiple, &multiple, NULL);
        most = private_bytes > most ? private_bytes : most;
        at += (size_t)snprintf(
            info->log + at, sizeof info->log - at,
            "%s: work-groups of up to %zu, best a multiple of %zu; private memory %llu, local "
            "memory %llu bytes\n",
            kernel_entries[i].name, p->group[i], multiple, (unsigned long long)private_bytes,
            (unsigned long long)local_bytes);
    }
    snprintf(info->log + at, sizeof info->log - at, "%.1200s", said);
    info->registers = res->registers;
    info->spill_bytes = res->spill_bytes;
    info->stack_bytes = res->stack_bytes ? res->stack_bytes : (uint32_t)most;
}

static enum status program_create(const struct backend *b, const struct input *in, cl_program *out,
                                  struct error *err)
{
    if (in->spirv)
        return opencl_program_from_spirv(b, in->spirv, in->size, out, err);
    const char *source = in->request.source;
    cl_int code;
    *out = b->cl->CreateProgramWithSource(b->context, 1, &source, NULL, &code);
    if (code == CL_SUCCESS)
        return STATUS_OK;
    *out = NULL;
    return cl_error(err, code, "clCreateProgramWithSource");
}

void opencl_shapes_keep(struct backend *b)
{
    for (int part = 0; b->compiles_shapes && part < PART_COUNT; part++) {
        struct program *p = &b->programs[part];
        struct input in = {0};
        char options[512];
        if (!p->kept.bytes || input_find(b, (enum program_part)part, &in, NULL) != STATUS_OK)
            continue;
        options_make(b, &in.request, options, sizeof options);
        if (!in.spirv)
            opencl_kept_again(b, &p->kept, in.request.source, options);
        arena_free(&in.arena);
    }
}

/* The program that was kept, where the driver takes it. */
static bool program_kept(struct backend *b, const struct input *in, const char *options,
                         struct program *p)
{
    p->program = opencl_kept_take(b, &p->kept, options);
    if (p->program && kernels_make(b, &in->request, p, NULL) == STATUS_OK)
        return true;
    kernels_release(b, p);
    return false;
}

/* Compiles, or takes what was kept. */
static enum status program_from(struct backend *b, const struct input *in, struct program *out,
                                struct build_info *info, struct error *err)
{
    const enum program_part part = in->request.part;
    struct build_info made = {0};
    options_make(b, &in->request, made.options, sizeof made.options);
    struct program p = {0};
    enum status s = STATUS_OK;
    opencl_kept_key(b, &p.kept, in->request.source_hash, made.options, in->spirv, in->size);
    made.cached = program_kept(b, in, made.options, &p);
    const int lock = made.cached ? -1 : opencl_kept_lock(&p.kept);
    if (lock >= 0)
        made.cached = program_kept(b, in, made.options, &p);
    if (!made.cached) {
        s = program_create(b, in, &p.program, err);
        if (s == STATUS_OK)
            s = program_compile(b, p.program, made.options, &made, &p.kept.resources, err);
        if (s == STATUS_OK)
            s = kernels_make(b, &in->request, &p, err);
        if (s == STATUS_OK)
            opencl_kept_put(b, &p.kept, p.program);
    }
    cache_unlock(lock);
    if (s == STATUS_OK) {
        if (part == PART_RENDER)
            info_fill(b, &p, &p.kept.resources, &made);
        *out = p;
    } else {
        program_release(b, &p);
    }
    *info = made; /* on failure: the log */
    return s;
}

static enum status program_make(struct backend *b, enum program_part part, struct program *out,
                                struct build_info *info, struct error *err)
{
    struct input in = {0};
    const double begin = clock_s();
    *info = (struct build_info){0};
    enum status s = input_find(b, part, &in, err);
    if (s == STATUS_OK)
        s = program_from(b, &in, out, info, err);
    info->compile_s = clock_s() - begin;
    arena_free(&in.arena);
    return s;
}

enum status opencl_build(struct backend *b, const struct program_request *request,
                         struct build_info *info, struct error *err)
{
    if (!b->little_endian)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "%s is big-endian; scenes are laid out little-endian", b->info.name);
    if (!b->int64)
        return error_msg(err, STATUS_UNSUPPORTED, "%s has no 64-bit integers, which the film needs",
                         b->info.name);
    opencl_request(b, request);
    return program_make(b, PART_RENDER, &b->programs[PART_RENDER], info, err);
}

void opencl_request(struct backend *b, const struct program_request *request)
{
    opencl_programs_release(b);
    b->request = *request;
}

enum status opencl_group_most(struct backend *b, uint32_t *most, struct error *err)
{
    const struct program *p = NULL;
    enum status s = opencl_program(b, ENTRY_RENDER, &p, err);
    size_t least = UINT32_MAX;
    for (int i = 0; s == STATUS_OK && i < ENTRY_COUNT; i++)
        if (p->kernels[i] && i != ENTRY_ARITHMETIC && p->group[i] < least)
            least = p->group[i];
    *most = least < UINT32_MAX ? (uint32_t)least : 0;
    return s;
}

enum status opencl_program(struct backend *b, enum kernel_entry entry, const struct program **out,
                           struct error *err)
{
    enum program_part part = kernel_entries[entry].part;
    struct program *p = &b->programs[part];
    enum status s = STATUS_OK;
    if (!p->program) {
        struct build_info info;
        s = program_make(b, part, p, &info, err);
    }
    *out = p;
    return s;
}
