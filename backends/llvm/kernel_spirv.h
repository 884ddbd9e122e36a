/* The portable kernel as SPIR-V 1.2, compiled when this program was built (clang-15, llvm-spirv-15,
 * spirv-val): what drivers take that compile no source. */
#ifndef ISOPHOTE_KERNEL_SPIRV_H
#define ISOPHOTE_KERNEL_SPIRV_H

#include "backend_api.h"

/* The module for the request's mode and part and for a tree; cpu: eight lanes of one work-item
 * (K_CPU). Only PART_RENDER is made for one tree and for CPUs, the other parts serve all. In static
 * memory, 16-byte aligned, a multiple of 4 bytes.
 * UNSUPPORTED when the program was built without the tools, naming them, and for requests with a
 * fault, which only source can have. */
enum status kernel_spirv_find(const struct program_request *request, enum bvh_kind tree, bool cpu,
                              const void **data, size_t *size, struct error *err);

/* NULL, or what was missing when the program was built, with how to get it. */
const char *kernel_spirv_problem(void);

#endif
