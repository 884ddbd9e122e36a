/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel through an API's compiler: to machine code for the device, kept on disk. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

static void program_release(struct backend *b, struct program *p)
{
    for (int i = 0; i < PIECE_COUNT; i++)
        if (p->modules[i])
            b->driver->ModuleUnload(p->modules[i]);
    *p = (struct program){0};
}

void gpu_programs_release(struct backend *b)
{
    for (int part = 0; part < PART_COUNT; part++)
        program_release(b, &b->programs[part]);
}

uint32_t gpu_kernel_attribute(const struct backend *b, int what, gpu_function f)
{
    int value = 0;
    return b->driver->FuncGetAttribute(&value, what, f) == GPU_OK && value > 0 ? (uint32_t)value
                                                                               : 0;
}

static enum status module_load(struct backend *b, const void *image, gpu_module *out,
                               struct error *err)
{
    gpu_result code = b->driver->ModuleLoadData(out, image);
    if (code == GPU_OK)
        return STATUS_OK;
    *out = NULL;
    return gpu_error(err, b->driver, code, GPU_CALL_ModuleLoadData);
}

static enum status kernels_find(struct backend *b, const struct program_request *request,
                                struct program *p, struct error *err)
{
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (!kernel_entry_in(request, (enum kernel_entry)i))
            continue;
        gpu_module whole = p->modules[PIECE_WHOLE];
        gpu_result code = b->driver->ModuleGetFunction(
            &p->kernels[i], whole ? whole : p->modules[kernel_entries[i].piece],
            kernel_entries[i].name);
        if (code != GPU_OK)
            return gpu_error(err, b->driver, code, GPU_CALL_ModuleGetFunction);
        p->threads[i] = gpu_kernel_attribute(b, GPU_KERNEL_MAX_THREADS, p->kernels[i]);
        if (request->part != PART_RENDER || i == ENTRY_ARITHMETIC)
            continue;
        if (!p->least_threads || p->threads[i] < p->least_threads)
            p->least_threads = p->threads[i];
        const uint32_t registers = gpu_kernel_attribute(b, GPU_KERNEL_REGISTERS, p->kernels[i]);
        p->registers = p->registers > registers ? p->registers : registers;
    }
    return STATUS_OK;
}

/* Asks for the fast memory that the request prefers. */
static enum status cache_prefer(const struct backend *b, const struct program *p, struct error *err)
{
    static const int preference[CACHE_COUNT] = {
        [CACHE_AUTO] = 0, [CACHE_SHARED] = 1, [CACHE_L1] = 2, [CACHE_EQUAL] = 3};
    if (b->request.cache == CACHE_AUTO || !b->driver->cache_prefer)
        return STATUS_OK;
    gpu_result code = GPU_OK;
    for (int i = 0; i < ENTRY_COUNT && code == GPU_OK; i++)
        if (p->kernels[i] && i != ENTRY_ARITHMETIC)
            code = b->driver->cache_prefer(p->kernels[i], preference[b->request.cache]);
    return code == GPU_OK ? STATUS_OK : gpu_error(err, b->driver, code, GPU_CALL_cache_prefer);
}

/* What the driver knows of the kernels that render, in front of the compiler's log. The most of
 * each number stands for all. */
static void info_fill(const struct backend *b, const struct program *p,
                      const struct kept_resources *res, struct build_info *info)
{
    char said[sizeof info->log];
    size_t n = 0;
    memcpy(said, info->log, sizeof said);
    info->registers = p->registers;
    info->stack_bytes = 0;
    info->spill_bytes = res->spill_bytes;
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (!p->kernels[i] || i == ENTRY_ARITHMETIC)
            continue;
        const uint32_t stack = gpu_kernel_attribute(b, GPU_KERNEL_LOCAL_BYTES, p->kernels[i]);
        info->stack_bytes = stack > info->stack_bytes ? stack : info->stack_bytes;
        n += (size_t)snprintf(info->log + n, sizeof info->log - n,
                              "%s: work-groups of up to %u; %u registers, %u bytes of stack\n",
                              kernel_entries[i].name, p->threads[i],
                              gpu_kernel_attribute(b, GPU_KERNEL_REGISTERS, p->kernels[i]), stack);
    }
    snprintf(info->log + n, sizeof info->log - n, "%u bytes spilt\n%.1200s", info->spill_bytes,
             said);
}

static void key_make(const struct backend *b, const char *source_hash, const char *options,
                     const char *compiler, char key[33])
{
    struct hash *h = hash_open();
    /* The driver counts too: it finishes PTX where NVRTC is older than the device. */
    const char *const parts[] = {b->api->name, "program 2", source_hash,
                                 options,      compiler,    b->info.driver};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash_add(h, parts[i], strlen(parts[i]) + 1);
    hash_close(h, key);
}

/* The module that was kept, where the driver takes it. */
static bool module_kept(struct backend *b, const char *path, const char key[33], struct arena *a,
                        struct gpu_image *image, gpu_module *out)
{
    return kept_read(a, path, key, &image->data, &image->size, &image->resources) &&
           module_load(b, image->data, out, NULL) == STATUS_OK;
}

enum status gpu_module_make(struct backend *b, const struct program_request *request,
                            gpu_module *out, struct kept_resources *resources,
                            struct build_info *info, struct error *err)
{
    struct build_info made = {0};
    char compiler[512], key[33], path[4096];
    enum status s = b->api->options(b->arch, request, made.options, sizeof made.options, compiler,
                                    sizeof compiler, err);
    if (s != STATUS_OK)
        return s;
    key_make(b, request->source_hash, made.options, compiler, key);
    bool keep = kernel_cache_path(key, b->api->kept_suffix, path, sizeof path, NULL) == STATUS_OK;

    struct arena a = {0};
    struct gpu_image image = {0};
    double begin = clock_s();
    made.cached = keep && module_kept(b, path, key, &a, &image, out);
    const int lock = keep && !made.cached ? cache_lock(path, key) : -1;
    if (lock >= 0)
        made.cached = module_kept(b, path, key, &a, &image, out);
    if (!made.cached) {
        s = b->api->compile(b->arch, request, &a, &image, &made, err);
        if (s == STATUS_OK)
            s = module_load(b, image.data, out, err);
        if (s == STATUS_OK && keep)
            kept_write(path, key, image.data, image.size, &image.resources);
    }
    cache_unlock(lock);
    made.compile_s = clock_s() - begin;
    *resources = image.resources;
    *info = made;
    arena_free(&a);
    return s;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* One of those that are made at once. */
struct piece {
    struct backend *b;
    struct program_request request;
    gpu_module module;
    struct kept_resources resources;
    struct build_info info;
    enum status status;
    struct error err;
};

static void piece_make(void *ctx, size_t i, unsigned thread)
{
    struct piece *p = (struct piece *)ctx + i;
    (void)thread;
    p->status = gpu_select(p->b, &p->err);
    if (p->status == STATUS_OK)
        p->status =
            gpu_module_make(p->b, &p->request, &p->module, &p->resources, &p->info, &p->err);
}

static uint32_t most_of(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* What they took and used as one; the first log and options, and the first failure. */
static enum status pieces_join(struct piece *pieces, size_t count, struct kept_resources *resources,
                               struct build_info *info, struct error *err)
{
    enum status s = STATUS_OK;
    *info = pieces[0].info;
    *resources = pieces[0].resources;
    for (size_t i = 0; i < count; i++) {
        const struct piece *p = &pieces[i];
        info->cached = info->cached && p->info.cached;
        resources->registers = most_of(resources->registers, p->resources.registers);
        resources->stack_bytes = most_of(resources->stack_bytes, p->resources.stack_bytes);
        resources->spill_bytes = most_of(resources->spill_bytes, p->resources.spill_bytes);
        if (s != STATUS_OK || p->status == STATUS_OK)
            continue;
        s = p->status;
        *info = p->info;
        if (err)
            *err = p->err;
    }
    return s;
}

/* The modules of what is asked for: one, or one for each piece, the longest compilation first. */
static enum status modules_make(struct backend *b, const struct program_request *request,
                                gpu_module modules[PIECE_COUNT], struct kept_resources *resources,
                                struct build_info *info, struct error *err)
{
    static const enum program_piece order[] = {PIECE_SHADE, PIECE_SHADOW, PIECE_FLY, PIECE_ENDS};
    enum { COUNT = sizeof order / sizeof *order };
    if (!request->staged || !b->api->pieces || request->code == CODE_LLVM)
        return gpu_module_make(b, request, &modules[PIECE_WHOLE], resources, info, err);
    struct piece *pieces = calloc(COUNT, sizeof *pieces);
    if (!pieces)
        return error_msg(err, STATUS_MEMORY, "no memory for a program's pieces");
    const double begin = clock_s();
    for (size_t i = 0; i < COUNT; i++) {
        pieces[i].b = b;
        pieces[i].request = program_request_of_piece(request, order[i]);
    }
    parallel_for(COUNT, 0, piece_make, pieces);
    for (size_t i = 0; i < COUNT; i++)
        modules[order[i]] = pieces[i].module;
    enum status s = pieces_join(pieces, COUNT, resources, info, err);
    info->compile_s = clock_s() - begin;
    free(pieces);
    return s;
}

static enum status program_make(struct backend *b, enum program_part part, struct program *out,
                                struct build_info *info, struct error *err)
{
    const struct program_request request = program_request_of_part(&b->request, part);
    struct kept_resources resources;
    struct program p = {0};
    enum status s = modules_make(b, &request, p.modules, &resources, info, err);
    if (s == STATUS_OK)
        s = kernels_find(b, &request, &p, err);
    if (s != STATUS_OK) {
        program_release(b, &p);
        return s;
    }
    if (part == PART_RENDER) {
        info_fill(b, &p, &resources, info);
        s = cache_prefer(b, &p, err);
        if (s != STATUS_OK) {
            program_release(b, &p);
            return s;
        }
    }
    p.made = true;
    *out = p;
    return STATUS_OK;
}

enum status gpu_build(struct backend *b, const struct program_request *request,
                      struct build_info *info, struct error *err)
{
    enum status s = gpu_select(b, err);
    if (s != STATUS_OK)
        return s;
    gpu_request(b, request);
    return program_make(b, PART_RENDER, &b->programs[PART_RENDER], info, err);
}

void gpu_request(struct backend *b, const struct program_request *request)
{
    gpu_programs_release(b);
    b->request = *request;
    if (b->request.registers == 0)
        b->request.registers = b->api->registers;
}

enum status gpu_group_most(struct backend *b, uint32_t *most, struct error *err)
{
    const struct program *p = NULL;
    enum status s = gpu_select(b, err);
    if (s == STATUS_OK)
        s = gpu_program(b, ENTRY_RENDER, &p, err);
    if (s == STATUS_OK)
        *most = p->least_threads;
    return s;
}

enum status gpu_program(struct backend *b, enum kernel_entry entry, const struct program **out,
                        struct error *err)
{
    enum program_part part = kernel_entries[entry].part;
    struct program *p = &b->programs[part];
    enum status s = STATUS_OK;
    if (!p->made) {
        struct build_info info;
        s = program_make(b, part, p, &info, err);
    }
    *out = p;
    return s;
}
