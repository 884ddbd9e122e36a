/* Building the kernel, and keeping what the driver's compiler made of it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* environ */
#endif
#include "opencl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const entry_names[ENTRY_COUNT] = {
    [ENTRY_RENDER] = "k_render", [ENTRY_TRACE] = "k_trace", [ENTRY_PROBE] = "k_probe"};

/* What a compiler says of registers and memory; kept with the binary, because it says it only once.
 */
struct resources {
    uint32_t registers, stack_bytes, spill_bytes;
};

/* A kept binary: this, then `size` bytes. */
struct kept {
    char magic[8];
    char key[32], payload[32]; /* hashes, without the NUL */
    struct resources resources;
    uint32_t unused;
    uint64_t size;
};
static_assert(sizeof(struct kept) == 96, "layout of a file");
static const char kept_magic[8] = {'I', 'S', 'O', 'C', 'L', 'B', '1', '\n'};

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
    const char *fault = fault_define(r->fault);
    snprintf(buf, size, "-cl-std=CL1.2 -DK_MODE=%d%s%s%s%s%s", (int)r->mode, by_mode[r->mode],
             r->mode == MODE_STRICT && b->rounds_divide_sqrt
                 ? " -cl-fp32-correctly-rounded-divide-sqrt"
                 : "",
             b->nvidia ? " -cl-nv-verbose" : "", fault && fault[0] ? " " : "", fault ? fault : "");
}

/* Settings from the environment that steer a driver's compiler (Intel: CL_CONFIG_, PoCL: POCL_). */
static bool environment_matters(const char *setting)
{
    return strncmp(setting, "CL_CONFIG_", 10) == 0 ||
           (strncmp(setting, "POCL_", 5) == 0 && strncmp(setting, "POCL_CACHE_DIR=", 15) != 0);
}

static void key_make(const struct backend *b, const char *options, char key[33])
{
    struct hash *h = hash_open();
    const char *const parts[] = {"opencl program 1", kernel_source_hash, options,
                                 b->info.name,       b->info.vendor,     b->info.driver,
                                 b->info.version,    b->platform_version};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash_add(h, parts[i], strlen(parts[i]) + 1);
    for (char **setting = environ; *setting; setting++)
        if (environment_matters(*setting))
            hash_add(h, *setting, strlen(*setting) + 1);
    hash_close(h, key);
}

/* ---- the build log ----------------------------------------------------------------------------
 */

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

/* The number in front of `unit` in NVIDIA's "ptxas info" text; the largest of all kernels'. */
static uint32_t log_number(const char *log, const char *unit)
{
    uint32_t most = 0;
    for (const char *at = strstr(log, unit); at; at = strstr(at + 1, unit)) {
        const char *digit = at;
        while (digit > log && digit[-1] == ' ')
            digit--;
        while (digit > log && digit[-1] >= '0' && digit[-1] <= '9')
            digit--;
        uint32_t v = (uint32_t)strtoul(digit, NULL, 10);
        most = v > most ? v : most;
    }
    return most;
}

/* ---- kept binaries ------------------------------------------------------------------------------
 */

static enum status program_compile(const struct backend *b, cl_program program, const char *options,
                                   struct build_info *info, struct resources *res,
                                   struct error *err)
{
    cl_int code = b->cl->BuildProgram(program, 1, &b->device, options, NULL, NULL);
    char *log = log_read(b, program);
    if (log) {
        snprintf(info->log, sizeof info->log, "%s", log);
        res->registers = log_number(log, "registers");
        res->stack_bytes = log_number(log, "bytes stack frame");
        res->spill_bytes = log_number(log, "bytes spill stores");
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

/* A program from the kept binary; NULL when there is none or it is of no use, whatever the reason.
 */
static cl_program kept_load(const struct backend *b, const char *path, const char key[33],
                            const char *options, struct resources *res)
{
    struct arena a = {0};
    char *data, payload[33];
    size_t size;
    cl_program program = NULL;
    struct kept k;
    if (file_read(&a, path, (size_t)1 << 30, &data, &size, NULL) != STATUS_OK || size < sizeof k)
        goto done;
    memcpy(&k, data, sizeof k);
    if (memcmp(k.magic, kept_magic, sizeof k.magic) != 0 || memcmp(k.key, key, sizeof k.key) != 0 ||
        k.size != size - sizeof k)
        goto done;
    hash_bytes(data + sizeof k, k.size, payload);
    if (memcmp(k.payload, payload, sizeof k.payload) != 0)
        goto done;
    const unsigned char *binary = (const unsigned char *)data + sizeof k;
    size_t binary_size = k.size;
    cl_int status = CL_SUCCESS, code;
    program = b->cl->CreateProgramWithBinary(b->context, 1, &b->device, &binary_size, &binary,
                                             &status, &code);
    if (code != CL_SUCCESS || status != CL_SUCCESS ||
        b->cl->BuildProgram(program, 1, &b->device, options, NULL, NULL) != CL_SUCCESS) {
        if (program)
            b->cl->ReleaseProgram(program);
        program = NULL;
        goto done;
    }
    *res = k.resources;
done:
    arena_free(&a);
    return program;
}

/* Keeping is best effort: a full disk costs the next start a compilation, no more. */
static void kept_save(const struct backend *b, const char *path, const char key[33],
                      cl_program program, const struct resources *res)
{
    size_t size = 0;
    if (b->cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) !=
            CL_SUCCESS ||
        size == 0)
        return;
    struct kept k = {.resources = *res, .size = size};
    unsigned char *data = malloc(sizeof k + size);
    if (!data)
        return;
    unsigned char *binary = data + sizeof k;
    if (b->cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, (void *)&binary, NULL) ==
        CL_SUCCESS) {
        char payload[33];
        hash_bytes(binary, size, payload);
        memcpy(k.magic, kept_magic, sizeof k.magic);
        memcpy(k.key, key, sizeof k.key);
        memcpy(k.payload, payload, sizeof k.payload);
        memcpy(data, &k, sizeof k);
        file_write(path, data, sizeof k + size, NULL);
    }
    free(data);
}

/* ---- building
 * ------------------------------------------------------------------------------------- */

void opencl_program_release(struct backend *b)
{
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (b->kernels[i])
            b->cl->ReleaseKernel(b->kernels[i]);
        b->kernels[i] = NULL;
    }
    if (b->program)
        b->cl->ReleaseProgram(b->program);
    b->program = NULL;
}

struct built {
    cl_program program;
    cl_kernel kernels[ENTRY_COUNT];
    size_t group[ENTRY_COUNT];
};

static void built_release(const struct backend *b, struct built *x)
{
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (x->kernels[i])
            b->cl->ReleaseKernel(x->kernels[i]);
    if (x->program)
        b->cl->ReleaseProgram(x->program);
}

static enum status kernels_make(const struct backend *b, struct built *x, struct error *err)
{
    for (int i = 0; i < ENTRY_COUNT; i++) {
        cl_int code;
        cl_kernel k = b->cl->CreateKernel(x->program, entry_names[i], &code);
        if (code != CL_SUCCESS)
            return cl_error(err, code, "clCreateKernel");
        x->kernels[i] = k;
        code = b->cl->GetKernelWorkGroupInfo(k, b->device, CL_KERNEL_WORK_GROUP_SIZE,
                                             sizeof x->group[i], &x->group[i], NULL);
        if (code != CL_SUCCESS)
            return cl_error(err, code, "clGetKernelWorkGroupInfo");
    }
    return STATUS_OK;
}

/* What the driver knows of k_render, in front of the compiler's log. */
static void info_fill(const struct backend *b, const struct built *x, const struct resources *res,
                      struct build_info *info)
{
    cl_kernel k = x->kernels[ENTRY_RENDER];
    cl_ulong private_bytes = 0, local_bytes = 0;
    size_t multiple = 0;
    b->cl->GetKernelWorkGroupInfo(k, b->device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private_bytes,
                                  &private_bytes, NULL);
    b->cl->GetKernelWorkGroupInfo(k, b->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes,
                                  &local_bytes, NULL);
    b->cl->GetKernelWorkGroupInfo(k, b->device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                  sizeof multiple, &multiple, NULL);
    info->registers = res->registers;
    info->spill_bytes = res->spill_bytes;
    info->stack_bytes = res->stack_bytes ? res->stack_bytes : (uint32_t)private_bytes;
    char said[sizeof info->log];
    memcpy(said, info->log, sizeof said);
    snprintf(
        info->log, sizeof info->log,
        "k_render: work-groups of up to %zu, best a multiple of %zu; private memory %llu, local "
        "memory %llu bytes\n%.1800s",
        x->group[ENTRY_RENDER], multiple, (unsigned long long)private_bytes,
        (unsigned long long)local_bytes, said);
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
    struct build_info made = {0};
    options_make(b, request, made.options, sizeof made.options);
    char key[33], path[4096];
    key_make(b, made.options, key);
    bool keep = kernel_cache_path(key, ".clbin", path, sizeof path, NULL) == STATUS_OK;

    double begin = clock_s();
    struct built x = {0};
    struct resources res = {0};
    enum status s = STATUS_OK;
    if (keep)
        x.program = kept_load(b, path, key, made.options, &res);
    if (x.program) {
        made.cached = kernels_make(b, &x, NULL) == STATUS_OK;
        if (!made.cached) {
            built_release(b, &x);
            x = (struct built){0};
        }
    }
    if (!made.cached) {
        const char *source = kernel_source;
        cl_int code;
        x.program = b->cl->CreateProgramWithSource(b->context, 1, &source, NULL, &code);
        if (code != CL_SUCCESS) {
            x.program = NULL;
            s = cl_error(err, code, "clCreateProgramWithSource");
        }
        if (s == STATUS_OK)
            s = program_compile(b, x.program, made.options, &made, &res, err);
        if (s == STATUS_OK)
            s = kernels_make(b, &x, err);
        if (s == STATUS_OK && keep)
            kept_save(b, path, key, x.program, &res);
    }
    made.compile_s = clock_s() - begin;
    if (s != STATUS_OK) {
        built_release(b, &x);
        *info = made; /* the log */
        return s;
    }
    info_fill(b, &x, &res, &made);
    opencl_program_release(b);
    b->program = x.program;
    memcpy(b->kernels, x.kernels, sizeof b->kernels);
    memcpy(b->kernel_group, x.group, sizeof b->kernel_group);
    *info = made;
    return STATUS_OK;
}
