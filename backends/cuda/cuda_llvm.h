/* SPDX-License-Identifier: Apache-2.0 */
/* Code path llvm: the kernel's bitcode to PTX, which the driver finishes. */
#ifndef ISOPHOTE_CUDA_LLVM_H
#define ISOPHOTE_CUDA_LLVM_H

#include "gpu/gpu.h"

/* 10 * major + minor of the least compute capability for the stages of staged requests: lanes that
 * count in step (device/portable.h). */
enum { CUDA_LLVM_STAGES = 70 };

/* What the PTX depends on besides the request: LLVM and the architecture it aims at. UNSUPPORTED
 * without libLLVM or bitcode, and for stages below CUDA_LLVM_STAGES. */
enum status cuda_llvm_options(const struct program_request *request, int arch, char *options,
                              size_t options_size, char *identity, size_t identity_size,
                              struct error *err);
/* PTX in the arena, ending with a NUL that counts. Needs no device. */
enum status cuda_llvm_compile(const struct program_request *request, int arch, struct arena *a,
                              struct gpu_image *out, struct build_info *info, struct error *err);

#endif
