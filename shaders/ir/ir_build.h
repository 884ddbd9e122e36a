/* SPDX-License-Identifier: Apache-2.0 */
/* ir_build.h: making IR. Shared by lowering, the optimiser and the reader. */
#ifndef ASL_IR_BUILD_H
#define ASL_IR_BUILD_H

#include "ir.h"

/* Blocks nest no deeper: every pass walks them by recursion. */
#define IR_MAX_NEST 2000

struct ir_builder {
    struct arena *arena;
    struct asl_code *code;
    struct ir_layer *layer;
    struct ir_block *block; /* instructions are added at its end */
    struct src_pos at;      /* where they come from */
    size_t ops, max_ops;
    struct text
        *witness; /* may be NULL; else each new value is noted, with the rule that makes it */
    const char *rule, *detail; /* detail may be NULL; the rule is "constant" for constants */
    struct ir_inst *
        *consts; /* hash table of the layer's constants, which stand first in its body */
    uint32_t const_count, const_cap;
    struct ir_inst *last_const;
    struct error *err;
    enum status status;
    jmp_buf fail;
};

_Noreturn void ir_fail(struct ir_builder *b, enum status s, struct src_pos at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void *ir_alloc(struct ir_builder *b, size_t count, size_t size) __attribute__((returns_nonnull));
#define IR_ARRAY(b, type, n) ((type *)ir_alloc((b), (n), sizeof(type)))

/* An instruction that stands nowhere yet: `results` new values of the type. */
struct ir_inst *ir_inst_new(struct ir_builder *b, enum ir_op op, uint32_t operands,
                            uint32_t results, enum ir_type type);
ir_value ir_value_new(struct ir_builder *b, enum ir_type type);
struct ir_block *ir_block_new(struct ir_builder *b, struct ir_inst *owner);
void ir_append(struct ir_block *block, struct ir_inst *i);
void ir_insert_before(struct ir_inst *place, struct ir_inst *i);
void ir_remove(struct ir_inst *i);
/* At the end of b->block. */
ir_value ir_op0(struct ir_builder *b, enum ir_op op, enum ir_type type);
ir_value ir_op1(struct ir_builder *b, enum ir_op op, ir_value x);
ir_value ir_op2(struct ir_builder *b, enum ir_op op, ir_value x, ir_value y);
ir_value ir_op3(struct ir_builder *b, enum ir_op op, ir_value x, ir_value y, ir_value z);
/* Constants: one value for each in a layer. */
ir_value ir_const(struct ir_builder *b, enum ir_type type, union asl_slot k);
ir_value ir_const_i(struct ir_builder *b, int32_t x);
ir_value ir_const_f(struct ir_builder *b, float x);
ir_value ir_const_s(struct ir_builder *b, const char *s);
ir_value ir_const_none(struct ir_builder *b); /* the empty closure */
uint32_t ir_cell_new(struct ir_builder *b, struct ir_cell cell);
uint32_t ir_arg_new(struct ir_builder *b, struct ir_arg_slot slot);
/* Starts a layer, or goes on with one: finds its constants. */
void ir_builder_layer(struct ir_builder *b, struct ir_layer *layer);

/* ir_faults.c: makes a mistake of asl_fault_at everywhere. Fails: TYPE when there is none of that
 * name. */
enum status asl_code_break(struct asl_code *code, const char *fault, struct error *err);

/* asl_code_verify; with `file`, places are lines of that text, which the instructions' marks hold.
 */
enum status ir_verify_text(const struct asl_code *c, const char *file, struct error *err);

/* asl_code_read of a text that begins at a line of its file. */
enum status ir_read_lines(struct arena *a, const char *file, const char *text, size_t size,
                          uint32_t line, struct asl_code **out, struct error *err);

/* Equal constants have equal bits (and strings equal bytes). */
bool ir_same_slot(enum ir_type t, union asl_slot a, union asl_slot b);

#endif
