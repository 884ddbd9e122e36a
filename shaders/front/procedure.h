/* SPDX-License-Identifier: Apache-2.0 */
/* procedure.h: C99 as a second front end (docs/reference/procedures.md). */
#ifndef ASL_PROCEDURE_H
#define ASL_PROCEDURE_H

#include "asl.h"

/* Is the file a procedure in C, by its name? */
bool asl_procedure_is(const char *file);
/* Rewrites the tokens of a procedure as those of the same shader in ASL; places stay. What is no
 * procedure is told in c's diagnostics; then *out may hold less. */
void asl_procedure_read(struct asl_compile *c, const struct asl_tokens *in, struct asl_tokens *out);

#endif
