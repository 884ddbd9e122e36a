#include "cuda_llvm.h"

#include "kernel_modules.h"
#include "llvm_compile.h"

#include <stdlib.h>
#include <string.h>

static enum status llvm_find(const struct llvm_api **out, struct error *err)
{
    const char *problem = kernel_module_problem(KERNEL_NVPTX);
    *out = problem ? NULL : llvm_load(&problem);
    return problem ? error_msg(err, STATUS_UNSUPPORTED, "%s", problem) : STATUS_OK;
}

/* The kernel, and where the scene has shaders their library and text (to be freed). */
struct linked {
    struct llvm_part parts[3];
    size_t count;
    struct text text;
};

static enum status parts_find(const struct program_request *request, struct linked *out,
                              struct error *err)
{
    struct linked l = {.parts = {{.name = "the kernel"},
                                 {.name = "the shaders' library"},
                                 {.name = "the shaders"}},
                       .count = request->shaders ? 3 : 1};
    enum status s =
        kernel_module_find(KERNEL_NVPTX, request, &l.parts[0].data, &l.parts[0].size, err);
    if (s == STATUS_OK && request->shaders) {
        s = kernel_module_find(SURFACES_NVPTX, request, &l.parts[1].data, &l.parts[1].size, err);
        if (s == STATUS_OK)
            s = program_shaders(request, &l.text, err);
        l.parts[2].data = l.text.data;
        l.parts[2].size = l.text.len;
    }
    if (s == STATUS_OK)
        *out = l;
    else
        text_free(&l.text);
    return s;
}

static enum status parts_hash(const struct linked *l, char out[33], struct error *err)
{
    struct hash *h = hash_open();
    if (!h)
        return error_msg(err, STATUS_MEMORY, "out of memory for a hash");
    for (size_t i = 0; i < l->count; i++)
        hash_add(h, l->parts[i].data, l->parts[i].size);
    hash_close(h, out);
    return STATUS_OK;
}

enum status cuda_llvm_options(const struct program_request *request, int arch, char *options,
                              size_t options_size, char *identity, size_t identity_size,
                              struct error *err)
{
    const struct llvm_api *api;
    struct linked linked = {0};
    char hash[33];
    enum status s = llvm_find(&api, err);
    if (s == STATUS_OK)
        s = parts_find(request, &linked, err);
    if (s == STATUS_OK)
        s = parts_hash(&linked, hash, err);
    text_free(&linked.text);
    if (s != STATUS_OK)
        return s;
    const struct llvm_machine_choice machine = llvm_nvptx_machine(api, arch);
    snprintf(options, options_size, "bitcode %.8s, %s, part %d, default<O3>, .maxnreg %u", hash,
             math_mode_name(request->mode), (int)request->part, request->registers);
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
    struct linked linked = {0};
    const char *keep[ENTRY_COUNT + 1];
    char identity[512], *ptx = NULL;
    size_t size;
    enum status s = cuda_llvm_options(request, arch, info->options, sizeof info->options, identity,
                                      sizeof identity, err);
    if (s == STATUS_OK)
        s = llvm_find(&api, err);
    if (s == STATUS_OK)
        s = parts_find(request, &linked, err);
    if (s != STATUS_OK)
        return s;
    const struct llvm_machine_choice machine = llvm_nvptx_machine(api, arch);
    kernel_entries_of_part(request->part, keep);
    s = llvm_compile(api, &machine, linked.parts, linked.count, keep, &ptx, &size, err);
    text_free(&linked.text);
    struct gpu_image image = {0};
    if (s == STATUS_OK)
        s = registers_limit(a, ptx, request->registers, &image, err);
    free(ptx);
    if (s == STATUS_OK)
        *out = image;
    return s;
}
