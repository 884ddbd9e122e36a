/* SPDX-License-Identifier: Apache-2.0 */
/* Code path llvm on this processor: no C compiler, no shared object. */
#ifndef ISOPHOTE_NATIVE_LLVM_H
#define ISOPHOTE_NATIVE_LLVM_H

#include "api/offers.h"
#include "llvm/offers.h"

/* NULL, or why it cannot be had here. `version`, if not NULL, gets what compiles. */
const char *native_llvm_problem(char *version, size_t size);

/* What becomes one object file. */
struct llvm_unit {
    const struct llvm_part *parts;
    size_t count;
    const char *const *keep; /* names, ends with NULL */
    bool lanes, optimised;   /* as of llvm_machine_choice */
    struct llvm_object made; /* the object file, if it is there already; else its data is NULL */
};
/* The units compiled for this processor now, each unless the cache holds it, at the same time, and
 * linked in memory. Fills info->compile_s and info->cached (all were). Fails as llvm_compile does.
 */
enum status native_llvm_program(const struct llvm_unit *units, size_t count,
                                struct llvm_program **out, struct build_info *info,
                                struct error *err);
/* NULL, or why paths cannot go abreast here (MODEL_ABREAST) in a scene with these K_FEATURE_* and so
 * many lights. */
const char *native_llvm_abreast_problem(uint32_t features, uint32_t lights);
/* One part of the kernel and the scene's shaders, compiled by LLVM now unless the cache holds them,
 * linked in memory. Fails as kernel_module_find and llvm_compile do. */
enum status native_llvm_build(const struct program_request *request, struct llvm_program **out,
                              struct build_info *info, struct error *err);

#endif
