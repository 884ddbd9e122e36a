#include "native_llvm.h"

#include "compiler.h"
#include "kept.h"
#include "kernel_modules.h"

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
    const char *const maker[] = {"native llvm 2", api->path, api->host_cpu, api->host_features};
    for (size_t i = 0; i < sizeof maker / sizeof maker[0]; i++)
        hash_add(h, maker[i], strlen(maker[i]) + 1);
    for (size_t i = 0; i < count; i++)
        hash_add(h, parts[i].data, parts[i].size);
    hash_close(h, key);
    return STATUS_OK;
}

enum status native_llvm_program(const struct llvm_part *parts, size_t count,
                                const char *const *keep, struct llvm_program **out,
                                struct build_info *info, struct error *err)
{
    size_t size = 0;
    char key[33], path[4096], *made = NULL;
    const char *problem = native_llvm_problem(NULL, 0);
    if (problem)
        return error_msg(err, STATUS_UNSUPPORTED, "%s", problem);
    const struct llvm_api *api = llvm_load(&problem);
    const struct llvm_machine_choice host = llvm_host_machine(api);
    double start = clock_s();
    enum status s = key_make(api, parts, count, key, err);
    if (s != STATUS_OK)
        return s;
    bool keeps = kernel_cache_path(key, ".o", path, sizeof path, NULL) == STATUS_OK;
    struct arena a = {0};
    struct kept_resources none = {0};
    const void *kept = NULL;
    if (keeps && kept_read(&a, path, key, &kept, &size, &none))
        info->cached = llvm_program_load(api, kept, size, out, NULL) == STATUS_OK;
    if (!info->cached) {
        s = llvm_compile(api, &host, parts, count, keep, &made, &size, err);
        if (s == STATUS_OK)
            s = llvm_program_load(api, made, size, out, err);
        if (s == STATUS_OK && keeps)
            kept_write(path, key, made, size, &none);
    }
    info->compile_s = clock_s() - start;
    free(made);
    arena_free(&a);
    return s;
}

enum status native_llvm_build(const struct program_request *request, struct llvm_program **out,
                              struct build_info *info, struct error *err)
{
    struct llvm_part part = {.name = "the kernel"};
    const char *keep[ENTRY_COUNT + 1];
    enum status s = kernel_module_find(KERNEL_X86_64, request, &part.data, &part.size, err);
    if (s != STATUS_OK)
        return s;
    kernel_entries_of_part(request->part, keep);
    snprintf(info->options, sizeof info->options, "bitcode, %s, default<O3>",
             math_mode_name(request->mode));
    return native_llvm_program(&part, 1, keep, out, info, err);
}
