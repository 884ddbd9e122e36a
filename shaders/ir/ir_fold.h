/* SPDX-License-Identifier: Apache-2.0 */
/* ir_fold.h: what a call of constants gives, by the interpreter's own code: for the optimiser, which
 * puts it in the call's place, and for the checker of witnesses, which runs it again. */
#ifndef ASL_IR_FOLD_H
#define ASL_IR_FOLD_H

#include "interp/interp.h"
#include "ir.h"

enum { IR_FOLD_RESULTS_MAX = 48 };

/* Zeroed is valid. Stays where it is while it is in use. */
struct ir_fold {
    bool exact; /* calls that engines may round differently are left to the engines */
    bool ready, said;
    struct asl_context cx;
    struct asl_run run;
    struct asl_layer layer;
};

/* A function of its operands alone: nothing of the renderer, no memory. */
bool ir_call_is_function(const struct ir_call *c);
/* defs: by value, the instructions that the operands are of; out: one a result. False when the call
 * is not of constants alone, needs a renderer or memory, fails, or would say something. */
bool ir_fold_call(struct ir_fold *f, struct ir_inst *const *defs, const struct ir_inst *i,
                  union asl_slot *out);
void ir_fold_close(struct ir_fold *f);

#endif
