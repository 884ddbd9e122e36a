/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of shaders through LLVM: emitted IR, linked with the bitcode of the library
 * (device/linked/shade_library.c), compiled for this processor. */
#ifndef ISOPHOTE_NATIVE_SHADE_LLVM_H
#define ISOPHOTE_NATIVE_SHADE_LLVM_H

#include "native_llvm.h"
#include "shade/offers.h"

/* Lowers the group as it is now and emits it. */
enum status shade_llvm_program(const struct shade *s, struct shade_program *out, struct error *err);
/* Its code, compiled now unless the cache holds it. Fails as llvm_compile does. */
enum status shade_llvm_build(const struct shade *s, const struct shade_program *p,
                             struct llvm_program **out, struct build_info *info, struct error *err);

#endif
