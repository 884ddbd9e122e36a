/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_modules.h"

#include <string.h>

/* Made by CMake: MODULE(format, mode, tree, features, part, label, file) for each module; tree is 0
 * where a module serves all. */
// clang-format off
/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define MODULE(format, mode, tree, features, part, label, file)                                    \
    __asm__(".pushsection .rodata\n"                                                               \
            ".balign 16\n"                                                                         \
            #label ": .incbin \"" file "\"\n"                                                      \
            #label "_end: .byte 0\n"                                                               \
            ".popsection");                                                                        \
    extern const char label[], label##_end[];
/* NOLINTEND(bugprone-macro-parentheses) */
// clang-format on
#include "kernel_modules.def"
#undef MODULE

/* The part of modules that have the stages of PART_RENDER. */
enum { MODULE_STAGED = PART_COUNT };

static const struct module {
    enum kernel_format format;
    unsigned mode, tree, features, part;
    const char *data, *end;
} modules[] = {
#define MODULE(format, mode, tree, features, part, label, file)                                    \
    {format, mode, tree, features, part, label, label##_end},
#include "kernel_modules.def"
#undef MODULE
    {KERNEL_FORMAT_COUNT, 0, 0, 0, 0, NULL, NULL},
};

const char *kernel_module_problem(enum kernel_format format)
{
    for (const struct module *m = modules; m->data; m++)
        if (m->format == format)
            return NULL;
    if (format == KERNEL_SPIRV || format == KERNEL_SPIRV_CPU)
        return "this program was built without clang-15, llvm-spirv-15 and spirv-val, so it has no "
               "SPIR-V; on Debian: apt-get install clang-15 llvm-spirv-15 spirv-tools, and build "
               "again";
    return "this program was built without clang-15, so it has no bitcode; on Debian: apt-get "
           "install clang-15, and build again";
}

static bool is_library(enum kernel_format f) { return f >= SURFACES_X86_64; }

enum status kernel_module_find(enum kernel_format format, const struct program_request *request,
                               const void **data, size_t *size, struct error *err)
{
    const char *problem = kernel_module_problem(format);
    if (problem)
        return error_msg(err, STATUS_UNSUPPORTED, "%s", problem);
    if (request->fault)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "mistakes are compiled in from source; code path llvm has none");
    if (request->count_rays && request->part == PART_RENDER)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "rays are counted by a kernel from source; code path llvm has none");
    const unsigned part = request->staged ? MODULE_STAGED : (unsigned)request->part;
    const struct module *best = NULL; /* the one that has least beyond what is asked */
    for (const struct module *m = modules; m->data; m++) {
        bool serves = m->format == format && m->mode == (unsigned)request->mode &&
                      (m->part == part || is_library(format)) &&
                      (m->tree == 0 || m->tree == bvh_define(request->tree)) &&
                      (m->features & request->features) == request->features;
        if (serves && (!best || m->features < best->features ||
                       (m->features == best->features && m->tree > best->tree)))
            best = m;
    }
    if (!best)
        return error_msg(err, STATUS_INTERNAL, "no module for mode %s, part %d",
                         math_mode_name(request->mode), (int)request->part);
    *data = best->data;
    *size = (size_t)(best->end - best->data);
    return STATUS_OK;
}

/* The library that shaders beside this kernel run on. */
static enum kernel_format library_of(enum kernel_format kernel)
{
    switch (kernel) {
    case KERNEL_X86_64:
        return SURFACES_X86_64;
    case KERNEL_NVPTX:
        return SURFACES_NVPTX;
    case KERNEL_AMDGCN:
        return SURFACES_AMDGCN;
    default:
        return SURFACES_SPIR;
    }
}

static enum status parts_hash(struct kernel_parts *p, struct error *err)
{
    struct hash *h = hash_open();
    if (!h)
        return error_msg(err, STATUS_MEMORY, "out of memory for a hash");
    hash_add(h, llvm_compile_sources, strlen(llvm_compile_sources));
    for (size_t i = 0; i < p->count; i++)
        hash_add(h, p->at[i].data, p->at[i].size);
    hash_close(h, p->hash);
    return STATUS_OK;
}

/* What the kernel asks of its program (K_LINKED): a function without arguments. */
static void number_tell(struct text *to, const char *function, uint32_t number)
{
    text_printf(to, "define i32 @%s() alwaysinline nounwind {\nret i32 %u\n}\n", function, number);
}

enum status kernel_parts_find(enum kernel_format kernel, const struct program_request *request,
                              struct kernel_parts *out, struct error *err)
{
    const bool shaded = (request->features & K_FEATURES_OF_TEXT) != 0;
    struct kernel_parts p = {.at = {{.name = "the kernel"},
                                    {.name = "the request"},
                                    {.name = "the shaders' library", .library = true},
                                    {.name = "the shaders"}},
                             .count = shaded ? 4 : KERNEL_PARTS_PLAIN};
    enum status s = kernel_module_find(kernel, request, &p.at[0].data, &p.at[0].size, err);
    if (s == STATUS_OK && shaded && !request->shaders)
        s = error_msg(err, STATUS_UNSUPPORTED,
                      "a shader of the scene calls what only code path source has");
    if (s == STATUS_OK && shaded)
        s = kernel_module_find(library_of(kernel), request, &p.at[2].data, &p.at[2].size, err);
    if (s == STATUS_OK && shaded)
        s = program_shaders(request, &p.shaders, err);
    number_tell(&p.told, "k_tree", bvh_define(request->tree));
    number_tell(&p.told, "k_features", request->features);
    if (s == STATUS_OK && p.told.failed)
        s = error_msg(err, STATUS_MEMORY, "out of memory for what a kernel is told");
    p.at[1].data = p.told.data;
    p.at[1].size = p.told.len;
    p.at[3].data = p.shaders.data;
    p.at[3].size = p.shaders.len;
    if (s == STATUS_OK)
        s = parts_hash(&p, err);
    if (s == STATUS_OK)
        *out = p;
    else
        kernel_parts_free(&p);
    return s;
}

void kernel_parts_free(struct kernel_parts *parts)
{
    text_free(&parts->told);
    text_free(&parts->shaders);
    *parts = (struct kernel_parts){0};
}
