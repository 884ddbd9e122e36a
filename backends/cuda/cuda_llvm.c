/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_llvm.h"

#include "llvm/offers.h"

#include <stdlib.h>
#include <string.h>

static enum status llvm_find(const struct llvm_api **out, struct error *err)
{
    const char *problem = kernel_module_problem(KERNEL_NVPTX);
    *out = problem ? NULL : llvm_load(&problem);
    return problem ? error_msg(err, STATUS_UNSUPPORTED, "%s", problem) : STATUS_OK;
}

enum status cuda_llvm_options(const struct program_request *request, int arch, char *options,
                              size_t options_size, char *identity, size_t identity_size,
                              struct error *err)
{
    const struct llvm_api *api;
    struct kernel_parts parts;
    enum status s = llvm_find(&api, err);
    if (s == STATUS_OK && request->staged && arch < CUDA_LLVM_STAGES)
        s = error_msg(err, STATUS_UNSUPPORTED,
                      "by code path llvm stages are kernels for compute capability %d.%d and later",
                      CUDA_LLVM_STAGES / 10, CUDA_LLVM_STAGES % 10);
    if (s == STATUS_OK)
        s = kernel_parts_find(KERNEL_NVPTX, request, &parts, err);
    if (s != STATUS_OK)
        return s;
    const struct llvm_machine_choice machine = llvm_nvptx_machine(api, arch);
    snprintf(options, options_size, "bitcode %.8s, %s, part %d, default<O1>, .maxnreg %u",
             parts.hash, math_mode_name(request->mode), (int)request->part, request->registers);
    kernel_parts_free(&parts);
    snprintf(identity, identity_size, "%s for %s", api->path, machine.cpu);
    return STATUS_OK;
}

/* The text with ".maxnreg N" at each kernel: behind the parameters that follow ".entry". */
static enum status registers_limit(struct arena *a, const char *ptx, uint32_t registers,
                                   struct gpu_image *out, struct error *err)
{
    struct text t = {0};
    const char *at = ptx, *entry;
    while (registers && (entry = strstr(at, ".entry ")) != NULL) {
        const char *end = strstr(entry, "\n)\n");
        if (!end)
            break;
        text_append(&t, at, (size_t)(end + 3 - at));
        text_printf(&t, ".maxnreg %u\n", registers);
        at = end + 3;
    }
    text_puts(&t, at);
    char *data = t.failed ? NULL : arena_alloc(a, t.len + 1, 1, 0);
    if (data) {
        memcpy(data, t.data, t.len);
        data[t.len] = '\0';
        out->data = data;
        out->size = t.len + 1;
    }
    text_free(&t);
    return data ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for PTX");
}

enum status cuda_llvm_compile(const struct program_request *request, int arch, struct arena *a,
                              struct gpu_image *out, struct build_info *info, struct error *err)
{
    const struct llvm_api *api;
    struct kernel_parts parts;
    const char *keep[ENTRY_COUNT + 1];
    char identity[512], *ptx = NULL;
    size_t size;
    enum status s = cuda_llvm_options(request, arch, info->options, sizeof info->options, identity,
                                      sizeof identity, err);
    if (s == STATUS_OK)
        s = llvm_find(&api, err);
    if (s == STATUS_OK)
        s = kernel_parts_find(KERNEL_NVPTX, request, &parts, err);
    if (s != STATUS_OK)
        return s;
    struct llvm_machine_choice machine = llvm_nvptx_machine(api, arch);
    /* which ptxas takes half its time for otherwise; nothing that is timed is strict */
    machine.calls_arithmetic = request->mode == MODE_STRICT;
    kernel_entries_of(request, keep);
    s = llvm_compile(api, &machine, parts.at, parts.count, keep, &ptx, &size, err);
    kernel_parts_free(&parts);
    struct gpu_image image = {0};
    if (s == STATUS_OK)
        s = registers_limit(a, ptx, request->registers, &image, err);
    free(ptx);
    if (s == STATUS_OK)
        *out = image;
    return s;
}
