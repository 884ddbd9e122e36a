/* SPDX-License-Identifier: Apache-2.0 */
/* modules.h: what the front asks of shaders/module/: shaders that a compiler made, as modules of
 * LLVM (docs/reference/modules.md). */
#ifndef ASL_MODULES_H
#define ASL_MODULES_H

#include "asl.h"

/* Is the file such a module, by its name? */
bool asl_module_is(const char *file);
/* Writes the tokens of the same shader in ASL, whose places are those of the file. What is no such
 * module is told in c's diagnostics; then *out holds nothing. */
void asl_module_read(struct asl_compile *c, const struct asl_source *src, struct asl_tokens *out);

#endif
