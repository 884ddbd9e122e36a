/* SPDX-License-Identifier: Apache-2.0 */
/* What llvm/ offers to the APIs that take the code path llvm.
 *   kernel_modules.h  the kernel as it was compiled with this program
 *   llvm_api.h        libLLVM's functions, found at run time
 *   llvm_compile.h    bitcode to machine code
 *   spirv_compile.h   bitcode to SPIR-V
 */
#ifndef ISOPHOTE_BACKENDS_LLVM_OFFERS_H
#define ISOPHOTE_BACKENDS_LLVM_OFFERS_H

#include "kernel_modules.h"
#include "llvm_api.h"
#include "llvm_compile.h"
#include "spirv_compile.h"

#endif
