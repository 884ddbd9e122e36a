#include "kernel_spirv.h"

#include <string.h>

/* Made by CMake: MODULE(mode, tree, part, cpu, label, file) for each module; tree and cpu are 0
 * where a module serves all; those for one tree have no features. */
#ifdef HAVE_KERNEL_SPIRV
// clang-format off
/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define MODULE(mode, tree, part, cpu, label, file)                                                 \
    __asm__(".pushsection .rodata\n"                                                               \
            ".balign 16\n"                                                                         \
            #label ": .incbin \"" file "\"\n"                                                      \
            #label "_end: .byte 0\n"                                                               \
            ".popsection");                                                                        \
    extern const char label[], label##_end[];
/* NOLINTEND(bugprone-macro-parentheses) */
// clang-format on
#include "kernel_spirv.def"
#undef MODULE

static const struct {
    unsigned mode, tree, part, cpu;
    const char *data, *end;
} modules[] = {
#define MODULE(mode, tree, part, cpu, label, file) {mode, tree, part, cpu, label, label##_end},
#include "kernel_spirv.def"
#undef MODULE
};

const char *kernel_spirv_problem(void) { return NULL; }

static enum status module_find(unsigned mode, unsigned tree, unsigned part, unsigned cpu,
                               const void **data, size_t *size, struct error *err)
{
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        if (modules[i].mode == mode && modules[i].tree == tree && modules[i].part == part &&
            modules[i].cpu == cpu) {
            *data = modules[i].data;
            *size = (size_t)(modules[i].end - modules[i].data);
            return STATUS_OK;
        }
    return error_msg(err, STATUS_INTERNAL, "no SPIR-V for mode %u, tree %u, part %u", mode, tree,
                     part);
}
#else
const char *kernel_spirv_problem(void)
{
    return "this program was built without clang-15, llvm-spirv-15 and spirv-val, so it has no "
           "SPIR-V; on Debian: apt-get install clang-15 llvm-spirv-15 spirv-tools, and build again";
}

static enum status module_find(unsigned mode, unsigned tree, unsigned part, unsigned cpu,
                               const void **data, size_t *size, struct error *err)
{
    (void)mode, (void)tree, (void)part, (void)cpu, (void)data, (void)size;
    return error_msg(err, STATUS_UNSUPPORTED, "%s", kernel_spirv_problem());
}
#endif

enum status kernel_spirv_find(const struct program_request *request, bool cpu, const void **data,
                              size_t *size, struct error *err)
{
    if (request->fault)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "mistakes are compiled in from source; SPIR-V has none");
    if (request->features & K_FEATURES_OF_TEXT)
        return error_msg(err, STATUS_UNSUPPORTED,
                         "the scene's shaders are compiled from source; the kernel's SPIR-V was "
                         "made before they were known");
    bool all = request->part != PART_RENDER;
    unsigned tree = all || request->features ? 0 : bvh_define(request->tree);
    return module_find((unsigned)request->mode, tree, (unsigned)request->part, !all && cpu, data,
                       size, err);
}
