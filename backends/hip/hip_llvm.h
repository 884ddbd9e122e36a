/* SPDX-License-Identifier: Apache-2.0 */
/* Code path llvm for AMD's GPUs: the kernel's bitcode to a code object, by LLVM and its linker. */
#ifndef ISOPHOTE_HIP_LLVM_H
#define ISOPHOTE_HIP_LLVM_H

#include "gpu/gpu.h"

/* Is `arch` ("gfx90a", "gfx942:sramecc+:xnack-") AMD's? */
bool hip_arch_is_amd(const char *arch);

/* What the code object depends on besides the request: LLVM and the processor it aims at.
 * UNSUPPORTED without libLLVM or bitcode, for an architecture that no LLVM here knows, and for one
 * that is not AMD's. */
enum status hip_llvm_options(const char *arch, const struct program_request *request, char *options,
                             size_t options_size, char *identity, size_t identity_size,
                             struct error *err);
/* The code object, in the arena. Needs no device. MISSING where there is no ld.lld ($ISOPHOTE_LLD,
 * else that of LLVM's version, else any). */
enum status hip_llvm_compile(const char *arch, const struct program_request *request,
                             struct arena *a, struct gpu_image *out, struct build_info *info,
                             struct error *err);

#endif
