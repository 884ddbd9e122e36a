/* SPDX-License-Identifier: Apache-2.0 */
/* witness.h: what each step of translation says it did (docs/reference/asl_ir.md, Witness). */
#ifndef ASL_WITNESS_H
#define ASL_WITNESS_H

#include "ir/offers.h"

/* All take out = NULL and then do nothing. A step is: begin, for each layer its facts, the IR. */
void witness_begin(struct text *out, const char *step);
void witness_layer(struct text *out, uint32_t layer);
void witness_ir(struct text *out, const struct asl_code *code);
/* The values of all instructions of the block and those inside it are gone. */
void witness_unreachable(struct text *out, const struct ir_block *b);

#endif
