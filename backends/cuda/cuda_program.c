/* The kernel through NVRTC: to machine code for the device, kept on disk. */
#include "cuda_backend.h"

#include <stdlib.h>
#include <string.h>

static const char *const entry_names[ENTRY_COUNT] = {
    [ENTRY_RENDER] = "k_render", [ENTRY_TRACE] = "k_trace", [ENTRY_PROBE] = "k_probe"};

enum { OPTIONS_MAX = 16, OPTION_SIZE = 64 };

struct options {
    char text[OPTIONS_MAX][OPTION_SIZE];
    const char *list[OPTIONS_MAX];
    int count;
};

static void option_add(struct options *o, const char *text)
{
    snprintf(o->text[o->count], OPTION_SIZE, "%s", text);
    o->list[o->count] = o->text[o->count];
    o->count++;
}

/* What each mode means to NVRTC (its reference manual): contraction is on unless --fmad=false,
 * division and square root are rounded correctly and subnormals kept unless --use_fast_math. */
static void options_make(const struct program_request *r, enum bvh_kind tree, const char *target,
                         struct options *o, char *joined, size_t size)
{
    char define[OPTION_SIZE];
    const char *fault = fault_define(r->fault);
    o->count = 0;
    snprintf(define, sizeof define, "--gpu-architecture=%s", target);
    option_add(o, define);
    option_add(o, "--std=c++17");
    option_add(o, "-default-device");
    snprintf(define, sizeof define, "-DK_MODE=%d", (int)r->mode);
    option_add(o, define);
    option_add(o, tree == BVH_WIDE8         ? "-DK_BVH=8"
                  : tree == BVH_COMPRESSED8 ? "-DK_BVH=80"
                                            : "-DK_BVH=2");
    if (r->mode == MODE_FAST)
        option_add(o, "--use_fast_math");
    if (r->mode == MODE_STRICT)
        option_add(o, "--fmad=false");
    if (r->mode != MODE_FAST) {
        option_add(o, "--prec-div=true");
        option_add(o, "--prec-sqrt=true");
        option_add(o, "--ftz=false");
    }
    if (fault && fault[0])
        option_add(o, fault);
    option_add(o, "--ptxas-options=-v"); /* registers, stack and spills into the log */
    size_t used = 0;
    joined[0] = '\0';
    for (int i = 0; i < o->count && used < size; i++)
        used += (size_t)snprintf(joined + used, size - used, "%s%s", i ? " " : "", o->list[i]);
}

/* "sm_90" when NVRTC makes machine code for it, else "compute_XX" of the newest it knows below. */
static enum status target_choose(const struct nvrtc_api *n, int arch, bool *ptx, char target[32],
                                 struct error *err)
{
    int count = 0, archs[256], below = 0, least = 0, most = 0;
    if (n->GetNumSupportedArchs(&count) != 0 || count < 1 || count > 256 ||
        n->GetSupportedArchs(archs) != 0)
        return error_msg(err, STATUS_DEVICE, "NVRTC %d.%d does not tell what it compiles for",
                         n->major, n->minor);
    bool exact = false;
    least = most = archs[0];
    for (int i = 0; i < count; i++) {
        exact = exact || archs[i] == arch;
        below = archs[i] <= arch && archs[i] > below ? archs[i] : below;
        least = archs[i] < least ? archs[i] : least;
        most = archs[i] > most ? archs[i] : most;
    }
    if (below == 0)
        return error_msg(
            err, STATUS_UNSUPPORTED,
            "NVRTC %d.%d compiles for compute capability %d.%d to %d.%d; the device has "
            "%d.%d: an older NVRTC is needed (ISOPHOTE_NVRTC)",
            n->major, n->minor, least / 10, least % 10, most / 10, most % 10, arch / 10, arch % 10);
    *ptx = *ptx || !exact;
    snprintf(target, 32, "%s_%d", *ptx ? "compute" : "sm", below);
    return STATUS_OK;
}

static enum status nvrtc_error(struct error *err, const struct nvrtc_api *n, nvrtc_result code,
                               const char *call)
{
    enum status s =
        error_msg(err, STATUS_DEVICE, "%s failed: %s (%d)", call, n->GetErrorString(code), code);
    if (err)
        err->native = code;
    return s;
}

static enum status image_take(const struct nvrtc_api *n, nvrtc_program program, bool ptx,
                              struct arena *a, struct cuda_image *out, struct error *err)
{
    size_t size = 0;
    nvrtc_result code = ptx ? n->GetPTXSize(program, &size) : n->GetCUBINSize(program, &size);
    if (code != 0 || size == 0)
        return nvrtc_error(err, n, code, ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize");
    char *data = arena_alloc(a, size, 1, 0);
    if (!data)
        return error_msg(err, STATUS_MEMORY, "no memory for a compiled kernel of %zu bytes", size);
    code = ptx ? n->GetPTX(program, data) : n->GetCUBIN(program, data);
    if (code != 0)
        return nvrtc_error(err, n, code, ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN");
    out->data = data;
    out->size = size;
    return STATUS_OK;
}

enum status cuda_compile(const struct nvrtc_api *n, const struct program_request *request,
                         enum bvh_kind tree, int arch, bool ptx, struct arena *a,
                         struct cuda_image *out, struct build_info *info, struct error *err)
{
    struct options options;
    char target[32];
    enum status s = target_choose(n, arch, &ptx, target, err);
    if (s != STATUS_OK)
        return s;
    options_make(request, tree, target, &options, info->options, sizeof info->options);
    nvrtc_program program = NULL;
    const char *source = kernel_source;
    if (getenv("ISOPHOTE_KERNEL_FILE")) {
        FILE *f = fopen(getenv("ISOPHOTE_KERNEL_FILE"), "rb");
        char *t = calloc(1, 1 << 20);
        if (f && fread(t, 1, (1 << 20) - 1, f) > 0)
            source = t;
    }
    if (getenv("ISOPHOTE_KERNEL_OPTIONS")) {
        char *t = strdup(getenv("ISOPHOTE_KERNEL_OPTIONS"));
        for (char *q = strtok(t, " "); q; q = strtok(NULL, " "))
            option_add(&options, q);
    }
    nvrtc_result code = n->CreateProgram(&program, source, "kernel.cu", 0, NULL, NULL);
    if (code != 0)
        return nvrtc_error(err, n, code, "nvrtcCreateProgram");
    code = n->CompileProgram(program, options.count, options.list);
    size_t log_size = 0;
    char *log = NULL;
    if (n->GetProgramLogSize(program, &log_size) == 0 && log_size > 0)
        log = arena_alloc(a, log_size + 1, 1, 1);
    if (log && n->GetProgramLog(program, log) != 0)
        log[0] = '\0';
    if (log)
        snprintf(info->log, sizeof info->log, "%s", log);
    struct cuda_image image = {.resources = resources_read(log ? log : "")};
    if (code != 0) {
        s = error_msg(err, STATUS_BUILD,
                      "NVRTC %d.%d does not compile the kernel: %s (%d); it says: %.700s", n->major,
                      n->minor, n->GetErrorString(code), code, log ? log : "nothing");
        if (err)
            err->native = code;
    } else {
        s = image_take(n, program, ptx, a, &image, err);
    }
    n->DestroyProgram(&program);
    if (s == STATUS_OK)
        *out = image;
    return s;
}

/* ---- on a device -------------------------------------------------------------------------------
 */

static void program_release(struct backend *b, struct program *p)
{
    if (p->module)
        b->cu->ModuleUnload(p->module);
    *p = (struct program){0};
}

void cuda_programs_release(struct backend *b)
{
    for (int i = 0; i <= BVH_COMPRESSED8; i++)
        program_release(b, &b->programs[i]);
}

static uint32_t kernel_attribute(const struct backend *b, int what, cu_function f)
{
    int value = 0;
    return b->cu->FuncGetAttribute(&value, what, f) == CU_OK && value > 0 ? (uint32_t)value : 0;
}

static enum status module_load(struct backend *b, const void *image, struct program *out,
                               struct error *err)
{
    struct program p = {0};
    cu_result code = b->cu->ModuleLoadData(&p.module, image);
    if (code != CU_OK)
        return cu_error(err, b->cu, code, "cuModuleLoadData");
    for (int i = 0; i < ENTRY_COUNT; i++) {
        code = b->cu->ModuleGetFunction(&p.kernels[i], p.module, entry_names[i]);
        if (code != CU_OK) {
            program_release(b, &p);
            return cu_error(err, b->cu, code, "cuModuleGetFunction");
        }
    }
    p.threads = kernel_attribute(b, CU_KERNEL_MAX_THREADS, p.kernels[ENTRY_RENDER]);
    p.registers = kernel_attribute(b, CU_KERNEL_REGISTERS, p.kernels[ENTRY_RENDER]);
    *out = p;
    return STATUS_OK;
}

/* What the driver knows of k_render, in front of the compiler's log. */
static void info_fill(const struct backend *b, const struct program *p,
                      const struct kept_resources *res, struct build_info *info)
{
    info->registers = p->registers;
    info->stack_bytes = kernel_attribute(b, CU_KERNEL_LOCAL_BYTES, p->kernels[ENTRY_RENDER]);
    info->spill_bytes = res->spill_bytes;
    char said[sizeof info->log];
    memcpy(said, info->log, sizeof said);
    snprintf(
        info->log, sizeof info->log,
        "k_render: work-groups of up to %u; %u registers, %u bytes of stack, %u spilt\n%.1800s",
        p->threads, info->registers, info->stack_bytes, info->spill_bytes, said);
}

static void key_make(const struct backend *b, const char *options, char key[33])
{
    struct hash *h = hash_open();
    char compiler[64];
    /* The driver counts too: it finishes PTX where NVRTC is older than the device. */
    snprintf(compiler, sizeof compiler, "NVRTC %d.%d arch %d", b->nvrtc->major, b->nvrtc->minor,
             b->arch);
    const char *const parts[] = {"cuda program 1", kernel_source_hash, options, compiler,
                                 b->info.driver};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash_add(h, parts[i], strlen(parts[i]) + 1);
    hash_close(h, key);
}

/* Compiles, or takes what was kept, for the tree that the device holds. */
static enum status program_make(struct backend *b, struct program *out, struct build_info *info,
                                struct error *err)
{
    struct build_info made = {0};
    struct options options;
    char target[32], key[33], path[4096];
    bool ptx = false;
    enum status s = target_choose(b->nvrtc, b->arch, &ptx, target, err);
    if (s != STATUS_OK)
        return s;
    options_make(&b->request, b->tree, target, &options, made.options, sizeof made.options);
    key_make(b, made.options, key);
    bool keep = !getenv("ISOPHOTE_KERNEL_OPTIONS") && kernel_cache_path(key, ".cubin", path, sizeof path, NULL) == STATUS_OK;

    struct arena a = {0};
    struct cuda_image image = {0};
    struct program p = {0};
    double begin = clock_s();
    if (keep && kept_read(&a, path, key, &image.data, &image.size, &image.resources))
        made.cached = module_load(b, image.data, &p, NULL) == STATUS_OK;
    if (!made.cached) {
        s = cuda_compile(b->nvrtc, &b->request, b->tree, b->arch, false, &a, &image, &made, err);
        if (s == STATUS_OK)
            s = module_load(b, image.data, &p, err);
        if (s == STATUS_OK && keep)
            kept_write(path, key, image.data, image.size, &image.resources);
    }
    made.compile_s = clock_s() - begin;
    if (s == STATUS_OK) {
        info_fill(b, &p, &image.resources, &made);
        *out = p;
    }
    *info = made; /* on failure: the log */
    arena_free(&a);
    return s;
}

enum status cuda_build(struct backend *b, const struct program_request *request,
                       struct build_info *info, struct error *err)
{
    enum status s = cuda_current(b, err);
    if (s != STATUS_OK)
        return s;
    cuda_programs_release(b);
    b->request = *request;
    return program_make(b, &b->programs[b->tree], info, err);
}

enum status cuda_program(struct backend *b, const struct program **out, struct error *err)
{
    struct program *p = &b->programs[b->tree];
    enum status s = STATUS_OK;
    if (!p->module) {
        struct build_info info;
        s = program_make(b, p, &info, err);
    }
    *out = p;
    return s;
}
