/* SPDX-License-Identifier: Apache-2.0 */
/* witness_moved.h: whether a step of a witness that moves work out of loops did only that. */
#ifndef ASL_WITNESS_MOVED_H
#define ASL_WITNESS_MOVED_H

#include "ir/offers.h"

struct witness_moved {
    const struct asl_code *before, *after;
    uint32_t layer;
    const struct ir_inst *const *defs; /* in `before`, by value */
    const bool *moved;                 /* by value: a fact says so */
    char message[160];                 /* what is wrong */
};

/* True when both texts of the layer are the same but for instructions that moved, and each of them
 * stood in a loop and now stands right in front of it or of one around it, does nothing but give its
 * values, and reads no slot that this loop writes. Loops and blocks are numbered in their marks. */
bool witness_moved_only(struct witness_moved *m);

#endif
