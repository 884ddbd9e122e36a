/* SPDX-License-Identifier: Apache-2.0 */
/* ir_run.h: calling the interpreter's builtins from IR: the engine and the optimiser's folding. */
#ifndef ASL_IR_RUN_H
#define ASL_IR_RUN_H

#include "interp/interp.h"
#include "ir.h"

/* What the interpreter's builtins want to know of a call, made of an IR call. NULL: out of memory.
 */
struct asl_expr *ir_call_expr(struct arena *a, const struct ir_call *c, struct src_pos at);
/* Runs the call; args and out as asl_run_builtin takes them. r->mode must be 1. */
void ir_call_run(struct asl_run *r, const struct ir_call *c, const struct asl_expr *e,
                 struct asl_place *args, union asl_slot *out);
/* A word of the point's state that is no variable: from IR_RAYTYPE on. */
union asl_slot ir_state_value(const struct asl_globals *g, uint32_t which);

#endif
