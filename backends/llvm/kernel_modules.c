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
    const struct module *best = NULL; /* the one that has least beyond what is asked */
    for (const struct module *m = modules; m->data; m++) {
        bool serves = m->format == format && m->mode == (unsigned)request->mode &&
                      (m->part == (unsigned)request->part || is_library(format)) &&
                      (m->tree == 0 || m->tree == bvh_define(request->tree)) &&
                      (m->features & request->features) == request->features;
        if (serves && (!best || m->features < best->features ||
                       (m->features == best->features && m->tree > best->tree)))
            best = m;
    }
    if (!best && request->features & K_FEATURES_OF_TEXT)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "the scene's shaders are compiled from source; code path llvm's kernel "
                         "was made before they were known");
    if (!best)
        return error_msg(err, STATUS_INTERNAL, "no module for mode %s, part %d",
                         math_mode_name(request->mode), (int)request->part);
    *data = best->data;
    *size = (size_t)(best->end - best->data);
    return STATUS_OK;
}
