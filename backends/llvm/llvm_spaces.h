/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory the pointers lead to that functions hand each other. */
#ifndef ISOPHOTE_LLVM_SPACES_H
#define ISOPHOTE_LLVM_SPACES_H

#include "llvm_api.h"

/* LLVM finds out within a function that a pointer leads to the stack or into a buffer, and then
 * loads without asking at run time which memory it is; what a parameter or a result points to it
 * does not look for. Where all calls of an internal function agree, this tells: by a cast to that
 * memory and back, which the code generator's own passes spread. For GPUs, whose numbers of memory
 * are NVIDIA's and AMD's; functions that are not internal are kernels, and their pointers buffers.
 * After optimising, which would undo it. */
void llvm_spaces_tell(const struct llvm_api *api, llvm_context context, llvm_module module);

#endif
