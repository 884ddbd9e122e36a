/* The portable kernel as SPIR-V 1.2, compiled when this program was built (clang-15, llvm-spirv-15,
 * spirv-val): what drivers take that compile no source. */
#ifndef ISOPHOTE_KERNEL_SPIRV_H
#define ISOPHOTE_KERNEL_SPIRV_H

#include "backend_api.h"

/* The module for the request; cpu: eight lanes of one work-item (K_CPU). PART_RENDER is made for
 * each tree without features, and for any tree with all of them; the other parts serve all. In
 * static memory, 16-byte aligned, a multiple of 4 bytes. UNSUPPORTED when the program was built
 * without the tools, naming them, and for what only source can have: a fault, a scene's own
 * shaders. */
enum status kernel_spirv_find(const struct program_request *request, bool cpu, const void **data,
                              size_t *size, struct error *err);

/* NULL, or what was missing when the program was built, with how to get it. */
const char *kernel_spirv_problem(void);

#endif
