/* SPDX-License-Identifier: Apache-2.0 */
#include "native_llvm.h"

#include "api/offers.h"
#include "compiler.h"
#include "llvm/offers.h"

#include <stdlib.h>
#include <string.h>

const char *native_llvm_problem(char *version, size_t size)
{
    const char *problem = kernel_module_problem(KERNEL_X86_64);
    const struct llvm_api *api = problem ? NULL : llvm_load(&problem);
#if !defined(__x86_64__)
    problem = problem ? problem : "code path llvm has the kernel for x86-64 alone";
#else
    if (!problem && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
        problem = "code path llvm has the kernel for processors with AVX2 and FMA";
#endif
    if (version && !problem)
        snprintf(version, size, "LLVM %u for %s", api->version, api->host_cpu);
    return problem;
}

static enum status key_make(const struct llvm_api *api, const struct llvm_part *parts, size_t count,
                            char key[33], struct error *err)
{
    struct hash *h = hash_open();
    if (!h)
        return error_msg(err, STATUS_MEMORY, "out of memory for a hash");
    const char *const maker[] = {"native llvm", llvm_compile_sources, api->path, api->host_cpu,
                                 api->host_features};
    for (size_t i = 0; i < sizeof maker / sizeof maker[0]; i++)
        hash_add(h, maker[i], strlen(maker[i]) + 1);
    for (size_t i = 0; i < count; i++)
        hash_add(h, parts[i].data, parts[i].size);
    hash_close(h, key);
    return STATUS_OK;
}

/* A unit on its way to an object file. */
struct making {
    const struct llvm_api *api;
    const struct llvm_unit *unit;
    struct arena arena; /* of what was kept */
    char *made;
    struct llvm_object object;
    enum status status;
    struct error err;
};

static void object_make(void *ctx, size_t i, unsigned thread)
{
    struct making *m = (struct making *)ctx + i;
    const struct llvm_unit *u = m->unit;
    struct llvm_machine_choice host = llvm_host_machine(m->api);
    struct kept_resources none = {0};
    char key[33], path[4096];
    (void)thread;
    host.lanes = u->lanes;
    host.optimised = u->optimised;
    m->object = u->made;
    if (u->made.data)
        return;
    m->status = key_make(m->api, u->parts, u->count, key, &m->err);
    if (m->status != STATUS_OK)
        return;
    bool keeps = kernel_cache_path(key, ".o", path, sizeof path, NULL) == STATUS_OK;
    if (keeps && kept_read(&m->arena, path, key, &m->object.data, &m->object.size, &none))
        return;
    const int lock = keeps ? cache_lock(path, key) : -1;
    if (lock < 0 || !kept_read(&m->arena, path, key, &m->object.data, &m->object.size, &none)) {
        m->status = llvm_compile(m->api, &host, u->parts, u->count, u->keep, &m->made,
                                 &m->object.size, &m->err);
        m->object.data = m->made;
        if (m->status == STATUS_OK && keeps)
            kept_write(path, key, m->made, m->object.size, &none);
    }
    cache_unlock(lock);
}

enum { UNITS_MAX = 2 };

enum status native_llvm_program(const struct llvm_unit *units, size_t count,
                                struct llvm_program **out, struct build_info *info,
                                struct error *err)
{
    struct making making[UNITS_MAX] = {0};
    struct llvm_object objects[UNITS_MAX];
    const char *problem = native_llvm_problem(NULL, 0);
    if (problem)
        return error_msg(err, STATUS_UNSUPPORTED, "%s", problem);
    const struct llvm_api *api = llvm_load(&problem);
    double start = clock_s();
    for (size_t i = 0; i < count; i++)
        making[i] = (struct making){.api = api, .unit = &units[i]};
    parallel_for(count, 0, object_make, making);
    enum status s = STATUS_OK;
    info->cached = true;
    for (size_t i = 0; i < count; i++) {
        objects[i] = making[i].object;
        info->cached = info->cached && !making[i].made;
        if (making[i].status != STATUS_OK && s == STATUS_OK) {
            s = making[i].status;
            if (err)
                *err = making[i].err;
        }
    }
    if (s == STATUS_OK)
        s = llvm_program_load(api, objects, count, out, err);
    info->compile_s = clock_s() - start;
    for (size_t i = 0; i < count; i++) {
        free(making[i].made);
        arena_free(&making[i].arena);
    }
    return s;
}

/* Rays and lanes are optimised apart: what simplifies lanes would undo the vectors of rays. */
static enum status abreast_build(const struct program_request *request, struct llvm_program **out,
                                 struct build_info *info, struct error *err)
{
    static const char *const lanes_keep[] = {"k_slots_start", "k_slots_shade", "k_slots_shade_flat",
                                             NULL};
    const char *keep[ENTRY_COUNT + 1];
    struct kernel_parts rays = {0}, lanes = {0};
    enum status s = kernel_parts_find(ABREAST_X86_64, request, &rays, err);
    if (s == STATUS_OK)
        s = kernel_parts_find(LANES_X86_64, request, &lanes, err);
    const struct llvm_unit units[] = {
        {.parts = rays.at, .count = rays.count, .keep = keep},
        {.parts = lanes.at, .count = lanes.count, .keep = lanes_keep, .lanes = true}};
    kernel_entries_of(request, keep);
    snprintf(info->options, sizeof info->options, "bitcode, %s, default<O3>, paths abreast",
             math_mode_name(request->mode));
    if (s == STATUS_OK)
        s = native_llvm_program(units, 2, out, info, err);
    kernel_parts_free(&rays);
    kernel_parts_free(&lanes);
    return s;
}

const char *native_llvm_abreast_problem(uint32_t features, uint32_t lights)
{
    const char *problem = kernel_module_problem(LANES_X86_64);
    if (problem)
        return problem;
#if defined(__x86_64__)
    if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")))
        return "the model abreast is for processors with AVX-512 (F, VL, DQ, BW)";
#endif
    return features & ~K_FEATURES_ABREAST || lights > K_LIGHTS_ABREAST
               ? "the model abreast is for scenes of triangles with the materials diffuse, mirror, "
                 "conductor and principled, at most 8 triangles that emit and a constant "
                 "environment"
               : NULL;
}

enum status native_llvm_build(const struct program_request *request, struct llvm_program **out,
                              struct build_info *info, struct error *err)
{
    static const char *const shade_keep[] = {"k_shade", NULL};
    const char *keep[ENTRY_COUNT + 1];
    struct kernel_parts parts = {0};
    if (request->abreast && request->part == PART_RENDER)
        return abreast_build(request, out, info, err);
    struct program_request shared = *request; /* one kernel for all scenes with shaders */
    if (request->features & K_FEATURES_OF_TEXT)
        shared.features = K_FEATURE_ALL;
    enum status s = kernel_parts_find(KERNEL_X86_64, &shared, &parts, err);
    struct llvm_unit units[UNITS_MAX] = {
        {.parts = parts.at, .count = KERNEL_PARTS_PLAIN, .keep = keep},
        {.parts = parts.at + 1, .count = parts.count - 1, .keep = shade_keep}};
    if (request->shaders) /* else it is made now */
        (void)kernel_module_find(KERNEL_X86_64_CODE, request, &units[0].made.data,
                                 &units[0].made.size, NULL);
    kernel_entries_of(request, keep);
    snprintf(info->options, sizeof info->options, "bitcode, %s, default<O3>",
             math_mode_name(request->mode));
    if (s == STATUS_OK)
        s = native_llvm_program(units, parts.count > KERNEL_PARTS_PLAIN ? 2 : 1, out, info, err);
    kernel_parts_free(&parts);
    return s;
}
