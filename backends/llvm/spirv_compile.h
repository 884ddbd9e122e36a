/* SPDX-License-Identifier: Apache-2.0 */
/* SPIR-V of the kernel and of other programs: what was made when this program was built
 * (kernel_modules.h), or is made now by the same tools. */
#ifndef ISOPHOTE_SPIRV_COMPILE_H
#define ISOPHOTE_SPIRV_COMPILE_H

#include "api/offers.h"

/* SPIR-V 1.2 of a part of the kernel; cpu: with eight lanes in one work-item. Without shaders in
 * static memory. With shaders in the arena: bitcode and shaders are linked by libLLVM 15 and
 * translated by llvm-spirv-15, unless the cache holds the module. Fails as kernel_parts_find and
 * llvm_compile do, MISSING where llvm-spirv-15 does not start. */
enum status spirv_kernel(struct arena *a, bool cpu, const struct program_request *request,
                         const void **spirv, size_t *size, struct error *err);

/* SPIR-V 1.2 of the source, in the arena; kept in the cache. info->options says what was run,
 * info->log what it said. MISSING where clang-15 or llvm-spirv-15 do not start, BUILD with
 * clang's words. */
enum status spirv_compile(struct arena *a, const struct job_source *source, const void **spirv,
                          size_t *size, struct build_info *info, struct error *err);

#endif
