/* SPDX-License-Identifier: Apache-2.0 */
/* cases_shader.h: the level `shader`: translators of ASL against the interpreter. Its cases come
 * from files and from seeds, not from a table of names. */
#ifndef CONFORMANCE_CASES_SHADER_H
#define CONFORMANCE_CASES_SHADER_H

#include "case.h"
#include "equivalence/offers.h"

/* Shaders end with .asl, .osl or .c. */
bool shader_path(const char *path);
/* All cases of the level: generated programs (at least the first `programs`), builtins, the
 * library, the tests, and the shaders among `paths`. */
enum status shader_cases(struct arena *a, const char *const *paths, size_t count, uint32_t programs,
                         const struct conform_case **out, size_t *case_count, struct error *err);
/* Is it one of the cases that hold the first `programs` generated programs? */
bool shader_is_program(const char *name, uint32_t programs);
/* The row of a case of this level, NULL for other names. */
const struct case_row *shader_row(const char *name);

/* "shader.library.wood.ir" on a device: what runs it, and with which mistake. UNSUPPORTED when the
 * case does not concern the device. */
enum status shader_case_setting(const struct run_context *c, struct shader_setting *out,
                                struct error *err);
/* shader_builtin.c: one builtin on special values and values at random. */
enum status shader_builtin_case(struct run_context *c, const char *builtin, struct error *err);
/* All builtins, many in one shader: a part of them, from 0. */
enum { SHADER_BUILTIN_PARTS = 20 };
enum status shader_builtins_case(struct run_context *c, unsigned part, struct error *err);
/* The shaders of a part, at points of the same kinds by other dice, until *enough is no longer "". */
typedef enum status shader_asked(void *ctx, const struct shader_file *f,
                                 const struct asl_globals *points, size_t count, struct error *err);
enum status shader_builtins_elsewhere(struct arena *a, unsigned part, uint64_t salt,
                                      const char *enough, shader_asked *asked, void *ctx,
                                      struct error *err);
/* Does the builtin compute anything? */
bool shader_builtin_computes(const struct asl_builtin_row *row);
/* shader_programs.c: generated programs themselves. */
enum status shader_generator_case(struct run_context *c, struct error *err);

#endif
