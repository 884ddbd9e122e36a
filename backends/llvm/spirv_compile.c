/* SPDX-License-Identifier: Apache-2.0 */
#include "spirv_compile.h"

#include "api/offers.h"
#include "kernel_modules.h"

#include <stdlib.h>
#include <string.h>

/* As backends/llvm/CMakeLists.txt compiles the kernel, for the reasons told there. */
#define CLANG                                                                                      \
    "clang-15", "-c", "-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-w", "-Xclang",           \
        "-finclude-default-header", "-emit-llvm", "-O0", "-Xclang", "-disable-O0-optnone",         \
        "-Xclang", "-disable-llvm-passes", "-Dinline=inline __attribute__((always_inline))"
#define TRANSLATOR "llvm-spirv-15", "--spirv-max-version=1.2"

static const struct mode_words {
    const char *const clang[5];
    const char *contraction;
} modes[] = {
    [MODE_STRICT] = {{"-DK_MODE=0"}, "--spirv-fp-contract=off"},
    [MODE_DEVICE] = {{"-DK_MODE=1", "-cl-mad-enable"}, "--spirv-fp-contract=fast"},
    [MODE_FAST] = {{"-DK_MODE=2", "-cl-mad-enable", "-cl-no-signed-zeros",
                    "-cl-unsafe-math-optimizations"},
                   "--spirv-fp-contract=fast"},
};

static enum status tool_run(const char *const argv[], const char *folder, char *log,
                            size_t log_size, struct error *err)
{
    int code = 0;
    /* exec takes what it does not change as not const */
    enum status s = child_run((char *const *)(uintptr_t)argv, folder, log, log_size, &code, err);
    if (s == STATUS_MISSING)
        return error_msg(err, s,
                         "%s does not start; shaders come to this device through it: on Debian, "
                         "apt-get install clang-15 llvm-spirv-15",
                         argv[0]);
    if (s == STATUS_OK && code != 0)
        s = error_msg(err, STATUS_BUILD, "%s does not compile the shader: %.700s", argv[0],
                      log[0] ? log : "it says nothing");
    return s;
}

/* A file of bitcode to a module, by way of the file `module`. */
static enum status translate(struct arena *a, const struct mode_words *m, const char *folder,
                             const char *bitcode, const char *module, const void **spirv,
                             size_t *size, struct error *err)
{
    const char *const argv[] = {TRANSLATOR, m->contraction, bitcode, "-o", module, NULL};
    char log[2048] = "", *data = NULL;
    enum status s = tool_run(argv, folder, log, sizeof log, err);
    if (s == STATUS_OK)
        s = file_read(a, module, (size_t)1 << 30, &data, size, err);
    *spirv = data;
    return s;
}

static enum status tools_run(struct arena *a, const struct job_source *source, const void **spirv,
                             size_t *size, struct build_info *info, struct error *err)
{
    const struct mode_words *m = &modes[source->mode];
    char folder[3072], module[3200], text[3200], bitcode[3200];
    TRY(scratch_make(folder, sizeof folder, err));
    snprintf(module, sizeof module, "%s/shader.spv", folder);
    snprintf(text, sizeof text, "%s/shader.cl", folder);
    snprintf(bitcode, sizeof bitcode, "%s/shader.bc", folder);
    const char *const clang[] = {CLANG,       m->clang[0], text,        "-o", bitcode,
                                 m->clang[1], m->clang[2], m->clang[3], NULL};
    enum status s = file_write(text, source->text, strlen(source->text), err);
    if (s == STATUS_OK)
        s = tool_run(clang, folder, info->log, sizeof info->log, err);
    if (s == STATUS_OK)
        s = translate(a, m, folder, bitcode, module, spirv, size, err);
    scratch_remove(folder);
    return s;
}

enum status spirv_compile(struct arena *a, const struct job_source *source, const void **spirv,
                          size_t *size, struct build_info *info, struct error *err)
{
    char key[33], path[4096];
    struct kept_resources none = {0};
    struct hash *h = hash_open();
    snprintf(info->options, sizeof info->options, "clang-15 -cl-std=CL1.2 %s, llvm-spirv-15 %s",
             modes[source->mode].clang[0], modes[source->mode].contraction);
    hash_add(h, "spirv 1", 8);
    hash_add(h, info->options, strlen(info->options) + 1);
    hash_add(h, source->hash, strlen(source->hash) + 1);
    hash_close(h, key);
    bool keeps = kernel_cache_path(key, ".spv", path, sizeof path, NULL) == STATUS_OK;
    if (keeps && kept_read(a, path, key, spirv, size, &none))
        return STATUS_OK;
    enum status s = tools_run(a, source, spirv, size, info, err);
    if (s == STATUS_OK && keeps)
        kept_write(path, key, *spirv, *size, &none);
    return s;
}

/* ---- the kernel with a scene's shaders ------------------------------------------------------ */

static enum status kernel_link(struct arena *a, const struct program_request *request,
                               const struct kernel_parts *parts, const void **spirv, size_t *size,
                               struct error *err)
{
    const struct llvm_machine_choice machine = llvm_spir_machine();
    const char *problem, *keep[ENTRY_COUNT + 1];
    char folder[3072], module[3200], bitcode[3200], *linked = NULL;
    size_t linked_size;
    const struct llvm_api *api = llvm_load_version(15, &problem); /* whose bitcode it reads */
    if (!api)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "shaders come to SPIR-V through LLVM 15, which is not here: %s", problem);
    TRY(scratch_make(folder, sizeof folder, err));
    snprintf(module, sizeof module, "%s/kernel.spv", folder);
    snprintf(bitcode, sizeof bitcode, "%s/kernel.bc", folder);
    kernel_entries_of(request, keep);
    enum status s =
        llvm_compile(api, &machine, parts->at, parts->count, keep, &linked, &linked_size, err);
    if (s == STATUS_OK)
        s = file_write(bitcode, linked, linked_size, err);
    free(linked);
    if (s == STATUS_OK)
        s = translate(a, &modes[request->mode], folder, bitcode, module, spirv, size, err);
    scratch_remove(folder);
    return s;
}

static void kernel_key(const struct kernel_parts *parts, const struct mode_words *m, char key[33])
{
    struct hash *h = hash_open();
    const char *const words[] = {"spirv kernel", parts->hash, m->contraction};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash_add(h, words[i], strlen(words[i]) + 1);
    hash_close(h, key);
}

enum status spirv_kernel(struct arena *a, bool cpu, const struct program_request *request,
                         const void **spirv, size_t *size, struct error *err)
{
    char key[33], path[4096];
    struct kept_resources none = {0};
    struct kernel_parts parts;
    if (!(request->features & K_FEATURES_OF_TEXT))
        return kernel_module_find(cpu ? KERNEL_SPIRV_CPU : KERNEL_SPIRV, request, spirv, size, err);
    enum status s = kernel_parts_find(cpu ? KERNEL_SPIR_CPU : KERNEL_SPIR, request, &parts, err);
    if (s != STATUS_OK)
        return s;
    kernel_key(&parts, &modes[request->mode], key);
    bool keeps = kernel_cache_path(key, ".spv", path, sizeof path, NULL) == STATUS_OK;
    if (!keeps || !kept_read(a, path, key, spirv, size, &none)) {
        s = kernel_link(a, request, &parts, spirv, size, err);
        if (s == STATUS_OK && keeps)
            kept_write(path, key, *spirv, *size, &none);
    }
    kernel_parts_free(&parts);
    return s;
}
