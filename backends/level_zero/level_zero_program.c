/* SPDX-License-Identifier: Apache-2.0 */
/* Building the kernel from its SPIR-V, and keeping what the driver's compiler made of it. */
#include "level_zero.h"
#include "llvm/offers.h"

#include <stdlib.h>
#include <string.h>

/* The arithmetic itself is in the module (no contraction, or fast-math decorations). */
const char *level_zero_flags(enum math_mode mode)
{
    return mode == MODE_STRICT ? "-ze-fp32-correctly-rounded-divide-sqrt" : "";
}

static void key_make(const struct backend *b, const void *spirv, size_t size, const char *flags,
                     char key[33])
{
    struct hash *h = hash_open();
    const char *const parts[] = {"level_zero program 1", flags,           b->info.name,
                                 b->info.driver,         b->info.version, b->device_uuid};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash_add(h, parts[i], strlen(parts[i]) + 1);
    hash_add(h, spirv, size);
    hash_close(h, key);
}

/* ---- modules -------------------------------------------------------------------------------- */

static void log_take(const struct backend *b, ze_module_build_log_handle_t log, char *buf,
                     size_t size)
{
    size_t length = 0;
    if (!log)
        return;
    if (b->ze->ModuleBuildLogGetString(log, &length, NULL) == ZE_RESULT_SUCCESS && length > 0) {
        char *text = calloc(1, length + 1);
        if (text && b->ze->ModuleBuildLogGetString(log, &length, text) == ZE_RESULT_SUCCESS)
            snprintf(buf, size, "%s", text);
        free(text);
    }
    b->ze->ModuleBuildLogDestroy(log);
}

static ze_result_t module_create(const struct backend *b, ze_module_format_t format,
                                 const void *data, size_t size, const char *flags,
                                 ze_module_handle_t *out, char *log, size_t log_size)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = format,
                             .inputSize = size,
                             .pInputModule = data,
                             .pBuildFlags = flags};
    ze_module_build_log_handle_t said = NULL;
    ze_result_t code = b->ze->ModuleCreate(b->context, b->device, &desc, out, &said);
    log_take(b, said, log, log_size);
    if (code != ZE_RESULT_SUCCESS)
        *out = NULL;
    return code;
}

static enum status module_compile(const struct backend *b, const void *spirv, size_t size,
                                  const char *flags, ze_module_handle_t *out,
                                  struct build_info *info, struct error *err)
{
    ze_result_t code = module_create(b, ZE_MODULE_FORMAT_IL_SPIRV, spirv, size, flags, out,
                                     info->log, sizeof info->log);
    if (code == ZE_RESULT_SUCCESS)
        return STATUS_OK;
    const char *text = info->log;
    while (*text == '\n' || *text == ' ')
        text++;
    error_msg(err, STATUS_BUILD, "%s does not build the kernel: %s (0x%x)%s%.700s", b->info.name,
              ze_code_name(code), (unsigned)code, *text ? "; its compiler says: " : "", text);
    if (err)
        err->native = (int)code;
    return STATUS_BUILD;
}

/* A module from what was kept; NULL when there is none or the driver refuses it. */
static ze_module_handle_t module_kept(const struct backend *b, const char *path, const char key[33],
                                      const char *flags)
{
    struct arena a = {0};
    const void *data;
    size_t size;
    ze_module_handle_t module = NULL;
    struct kept_resources unused;
    char log[64];
    if (kept_read(&a, path, key, &data, &size, &unused))
        module_create(b, ZE_MODULE_FORMAT_NATIVE, data, size, flags, &module, log, sizeof log);
    arena_free(&a);
    return module;
}

static void module_keep(const struct backend *b, const char *path, const char key[33],
                        ze_module_handle_t module)
{
    size_t size = 0;
    if (b->ze->ModuleGetNativeBinary(module, &size, NULL) != ZE_RESULT_SUCCESS || size == 0)
        return;
    uint8_t *binary = malloc(size);
    if (binary && b->ze->ModuleGetNativeBinary(module, &size, binary) == ZE_RESULT_SUCCESS)
        kept_write(path, key, binary, size, &(struct kept_resources){0});
    free(binary);
}

enum status level_zero_module_make(const struct backend *b, const void *spirv, size_t size,
                                   const char *flags, ze_module_handle_t *out,
                                   struct build_info *info, struct error *err)
{
    char key[33], path[4096];
    key_make(b, spirv, size, flags, key);
    bool keep = kernel_cache_path(key, ".zebin", path, sizeof path, NULL) == STATUS_OK;
    *out = keep ? module_kept(b, path, key, flags) : NULL;
    const int lock = keep && !*out ? cache_lock(path, key) : -1;
    if (lock >= 0)
        *out = module_kept(b, path, key, flags);
    info->cached = *out != NULL;
    enum status s = STATUS_OK;
    if (!info->cached)
        s = module_compile(b, spirv, size, flags, out, info, err);
    if (s == STATUS_OK && !info->cached && keep)
        module_keep(b, path, key, *out);
    cache_unlock(lock);
    return s;
}

uint32_t level_zero_group_most(const struct backend *b, ze_kernel_handle_t k)
{
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    if (!k || b->ze->KernelGetProperties(k, &p) != ZE_RESULT_SUCCESS)
        return b->info.max_work_group;
    const uint64_t most = (uint64_t)p.maxSubgroupSize * p.maxNumSubgroups;
    return most && most < b->info.max_work_group ? (uint32_t)most : b->info.max_work_group;
}

/* ---- programs ------------------------------------------------------------------------------- */

static void program_release(const struct backend *b, struct program *p)
{
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (p->kernels[i])
            b->ze->KernelDestroy(p->kernels[i]);
    if (p->module)
        b->ze->ModuleDestroy(p->module);
    *p = (struct program){0};
}

void level_zero_programs_release(struct backend *b)
{
    for (int part = 0; part < PART_COUNT; part++)
        program_release(b, &b->programs[part]);
}

/* Is entry i one of those that make the film? */
static bool is_films(const struct program *p, int i)
{
    return p->kernels[i] && i != ENTRY_ARITHMETIC && kernel_entries[i].part == PART_RENDER;
}

/* Memory is that of the kernel of the film that takes most. */
static enum status kernels_make(const struct backend *b, const struct program_request *request,
                                struct program *p, struct error *err)
{
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (!kernel_entry_in(request, (enum kernel_entry)i))
            continue;
        ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                 .pKernelName = kernel_entries[i].name};
        ze_result_t code = b->ze->KernelCreate(p->module, &desc, &p->kernels[i]);
        if (code != ZE_RESULT_SUCCESS) {
            p->kernels[i] = NULL;
            return ze_error(err, code, "zeKernelCreate");
        }
    }
    for (int i = 0; i < ENTRY_COUNT; i++) {
        ze_kernel_properties_t k = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
        p->group[i] = level_zero_group_most(b, p->kernels[i]);
        if (!is_films(p, i) || b->ze->KernelGetProperties(p->kernels[i], &k) != ZE_RESULT_SUCCESS)
            continue;
        p->private_bytes =
            k.privateMemSize > p->private_bytes ? k.privateMemSize : p->private_bytes;
        p->spill_bytes = k.spillMemSize > p->spill_bytes ? k.spillMemSize : p->spill_bytes;
    }
    return STATUS_OK;
}

static enum status program_from(struct backend *b, const struct program_request *request,
                                const void *spirv, size_t size, struct program *out,
                                struct build_info *info, struct error *err)
{
    struct program p = {0};
    const char *flags = level_zero_flags(request->mode);
    snprintf(info->options, sizeof info->options, "SPIR-V, %s, K_BVH=%u%s%s",
             math_mode_name(request->mode), bvh_define(request->tree), *flags ? ", " : "", flags);
    enum status s = level_zero_module_make(b, spirv, size, flags, &p.module, info, err);
    if (s == STATUS_OK)
        s = kernels_make(b, request, &p, err);
    info->stack_bytes = p.private_bytes;
    info->spill_bytes = p.spill_bytes;
    if (s == STATUS_OK)
        *out = p;
    else
        program_release(b, &p);
    return s;
}

static enum status program_make(struct backend *b, enum program_part part, struct program *out,
                                struct build_info *info, struct error *err)
{
    const struct program_request request = program_request_of_part(&b->request, part);
    struct arena a = {0};
    const void *spirv;
    size_t size;
    const double begin = clock_s();
    *info = (struct build_info){0};
    enum status s = spirv_kernel(&a, b->info.kind == DEVICE_CPU, &request, &spirv, &size, err);
    if (s == STATUS_OK)
        s = program_from(b, &request, spirv, size, out, info, err);
    info->compile_s = clock_s() - begin;
    arena_free(&a);
    return s;
}

enum status level_zero_build(struct backend *b, const struct program_request *request,
                             struct build_info *info, struct error *err)
{
    level_zero_request(b, request);
    return program_make(b, PART_RENDER, &b->programs[PART_RENDER], info, err);
}

void level_zero_request(struct backend *b, const struct program_request *request)
{
    level_zero_programs_release(b);
    b->request = *request;
}

enum status level_zero_program_group(struct backend *b, uint32_t *most, struct error *err)
{
    const struct program *p = NULL;
    enum status s = level_zero_program(b, ENTRY_RENDER, &p, err);
    *most = 0;
    for (int i = 0; s == STATUS_OK && i < ENTRY_COUNT; i++)
        if (is_films(p, i) && (*most == 0 || p->group[i] < *most))
            *most = p->group[i];
    return s;
}

enum status level_zero_program(struct backend *b, enum kernel_entry entry,
                               const struct program **out, struct error *err)
{
    enum program_part part = kernel_entries[entry].part;
    struct program *p = &b->programs[part];
    enum status s = STATUS_OK;
    if (!p->module) {
        struct build_info info;
        s = program_make(b, part, p, &info, err);
    }
    *out = p;
    return s;
}
