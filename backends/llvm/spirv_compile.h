/* OpenCL C to SPIR-V when the program runs, by the tools that made the kernel's modules when it was
 * built (kernel_modules.h). */
#ifndef ISOPHOTE_SPIRV_COMPILE_H
#define ISOPHOTE_SPIRV_COMPILE_H

#include "backend_api.h"

/* SPIR-V 1.2 of the source, in the arena; kept in the cache. info->options says what was run,
 * info->log what it said. MISSING where clang-15 or llvm-spirv-15 do not start, BUILD with
 * clang's words. */
enum status spirv_compile(struct arena *a, const struct job_source *source, const void **spirv,
                          size_t *size, struct build_info *info, struct error *err);

#endif
