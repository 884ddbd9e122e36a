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

/* A parameter of a procedure: a pointer is an output, or the point. */
struct asl_procedure_input {
    const char *name;
    enum asl_base type; /* of a pointer: what it points to */
    bool pointer, point;
};
/* The head alone, "rings(const procedure_point *at, float scale DEFAULT(6.0f))", as the macro
 * PROCEDURE of procedure.h keeps it in a compiled file: its tokens become "shader rings(...)". Gives
 * the name; NULL: c's diagnostics tell what is wrong. */
const char *asl_procedure_head(struct asl_compile *c, const struct asl_tokens *in,
                               struct asl_tokens *out, struct asl_procedure_input **inputs,
                               size_t *count);
/* The builtin that a function of C's mathematics is (sqrtf is sqrt; the name may lack the f), and in
 * *count its arguments; NULL: none. */
const char *asl_procedure_math(const char *name, size_t *count);

#endif
