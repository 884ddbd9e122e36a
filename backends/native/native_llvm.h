/* Code path llvm on this processor: no C compiler, no shared object. */
#ifndef ISOPHOTE_NATIVE_LLVM_H
#define ISOPHOTE_NATIVE_LLVM_H

#include "../backend_api.h"
#include "llvm_compile.h"

/* NULL, or why it cannot be had here. `version`, if not NULL, gets what compiles. */
const char *native_llvm_problem(char *version, size_t size);

/* One part of the kernel, compiled by LLVM now unless the cache holds it, linked in memory. Fails
 * as kernel_module_find and llvm_compile do. */
enum status native_llvm_build(const struct program_request *request, struct llvm_program **out,
                              struct build_info *info, struct error *err);

#endif
