/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel through NVRTC: to machine code, or to PTX that the driver finishes. */
#include "cuda_compile.h"

#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 48, OPTION_SIZE = 128 };

struct options {
    char text[OPTIONS_MAX][OPTION_SIZE];
    const char *list[OPTIONS_MAX];
    int count;
    bool failed; /* more than there is room for */
};

static void option_add(struct options *o, const char *text)
{
    if (!*text)
        return;
    if (o->count == OPTIONS_MAX || strlen(text) >= OPTION_SIZE) {
        o->failed = true;
        return;
    }
    snprintf(o->text[o->count], OPTION_SIZE, "%s", text);
    o->list[o->count] = o->text[o->count];
    o->count++;
}

/* Each word of `text`, parted by blanks. */
static void options_add(struct options *o, const char *text)
{
    char words[512], *save = NULL;
    if (strlen(text) >= sizeof words) {
        o->failed = true;
        return;
    }
    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        option_add(o, word);
}

/* What NVRTC 13 leaves undone in mode strict, whose bits do not hang on it
 * (docs/results/h200_levers.md); "": nothing. */
static const char *haste(const struct program_request *r)
{
    /* Bytes of a scene's own text and of the shaders' library, which is 140,000 of them. The
     * optimiser takes longer than in proportion: 44 s for 416,000, 3 s so. But what it gives then
     * runs a hundred times as long, so only a verdict's few samples are worth it. */
    enum { LONG_TEXT = 200 * 1024 };
    const bool is_long = strlen(r->source) > strlen(kernel_source) + LONG_TEXT;
    /* One sample's vertices, never timed: a third of the compiler's time. */
    if (r->part == PART_TRACE || (r->few_samples && is_long))
        return "--Ofast-compile=max";
    return "";
}

/* What each mode means to NVRTC (its reference manual): contraction is on unless --fmad=false,
 * division and square root are rounded correctly and subnormals kept unless --use_fast_math. */
static enum status options_make(const struct nvrtc_api *n, const struct program_request *r,
                                const char *target, struct options *o, char *joined, size_t size,
                                struct error *err)
{
    char define[OPTION_SIZE], defines[256];
    const char *extra = getenv("ISOPHOTE_NVRTC_OPTIONS");
    *o = (struct options){0};
    snprintf(define, sizeof define, "--gpu-architecture=%s", target);
    option_add(o, define);
    option_add(o, "--std=c++17");
    option_add(o, "-default-device");
    enum status s = program_defines(r, defines, sizeof defines, err);
    if (s != STATUS_OK)
        return s;
    options_add(o, defines);
    if (r->mode == MODE_FAST)
        option_add(o, "--use_fast_math");
    if (r->mode == MODE_STRICT)
        option_add(o, "--fmad=false");
    if (r->mode != MODE_FAST) {
        option_add(o, "--prec-div=true");
        option_add(o, "--prec-sqrt=true");
        option_add(o, "--ftz=false");
    }
    if (r->mode == MODE_STRICT && n->major >= 13)
        option_add(o, haste(r));
    if (r->registers) {
        snprintf(define, sizeof define, "--maxrregcount=%u", r->registers);
        option_add(o, define);
    }
    option_add(o, "--ptxas-options=-v"); /* registers, stack and spills into the log */
    options_add(o, extra ? extra : "");
    size_t used = 0;
    joined[0] = '\0';
    for (int i = 0; i < o->count && used < size; i++)
        used += (size_t)snprintf(joined + used, size - used, "%s%s", i ? " " : "", o->list[i]);
    if (o->failed || used >= size)
        return error_msg(err, STATUS_LIMIT, "ISOPHOTE_NVRTC_OPTIONS is too long");
    return STATUS_OK;
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
                              struct arena *a, struct gpu_image *out, struct error *err)
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

enum status cuda_options(const struct nvrtc_api *n, const struct program_request *request, int arch,
                         bool ptx, char *out, size_t size, struct error *err)
{
    struct options options;
    char target[32];
    enum status s = target_choose(n, arch, &ptx, target, err);
    return s == STATUS_OK ? options_make(n, request, target, &options, out, size, err) : s;
}

enum status cuda_compile(const struct nvrtc_api *n, const struct program_request *request, int arch,
                         bool ptx, struct arena *a, struct gpu_image *out, struct build_info *info,
                         struct error *err)
{
    struct options options;
    char target[32];
    enum status s = target_choose(n, arch, &ptx, target, err);
    if (s == STATUS_OK)
        s = options_make(n, request, target, &options, info->options, sizeof info->options, err);
    if (s != STATUS_OK)
        return s;
    nvrtc_program program = NULL;
    nvrtc_result code = n->CreateProgram(&program, request->source, "kernel.cu", 0, NULL, NULL);
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
    struct gpu_image image = {.resources = resources_read(log ? log : "")};
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
