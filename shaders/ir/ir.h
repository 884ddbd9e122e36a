/* SPDX-License-Identifier: Apache-2.0 */
/* ir.h: the intermediate representation of a finished shader group, between lowering (lower_*.c),
 * the optimiser (opt_*.c), the text form (ir_text.c, ir_read.c), the engine `ir` (ir_run.c) and the
 * emitters. docs/reference/asl_ir.md is its specification.
 *
 * Everything is scalar: triples, matrices and structs are rows of scalars; derivatives are explicit
 * floats and explicit operations, in the reference interpreter's order, so that bits agree. A value
 * is defined once, by one instruction, before its uses in the same block or a block around; what
 * changes lives in cells. Control flow is structured. Functions are gone: calls are inlined. */
#ifndef ASL_IR_H
#define ASL_IR_H

#include "front/offers.h"

/* ---- values and cells ------------------------------------------------------------------------ */

enum ir_type { IR_I, IR_F, IR_S, IR_C }; /* int, float, string, closure: letters i f s c */

typedef uint32_t ir_value; /* index into ir_layer.types */

enum ir_scope {
    IR_GLOBAL, /* of the point, shared by all layers: P, N, Ci ... Starts as the point gives it */
    IR_PARAM,  /* a parameter of a layer; later layers read outputs, callers the results */
    IR_LOCAL   /* of one run of a layer; nothing is known of it before the first store */
};

/* A row of slots. n slots of the value; with derivatives n floats of its change in x, then n of y.
 */
struct ir_cell {
    const char *name;
    enum ir_scope scope;
    uint32_t layer;        /* PARAM, LOCAL: whose; GLOBAL: enum asl_global */
    uint32_t n;            /* slots of the value */
    bool derivs;           /* then 3 n slots in all */
    bool observed;         /* its value is a result of the group: stores matter */
    bool observed_changes; /* its derivatives are, too */
    enum ir_type type;     /* of all n slots, when types is NULL */
    const uint8_t *types;  /* enum ir_type of each slot when they differ; derivatives are floats */
    struct asl_type asl;   /* for messages and results; UNKNOWN for temporaries */
};
static inline uint32_t ir_cell_slots(const struct ir_cell *c)
{
    return c->derivs ? 3 * c->n : c->n;
}
static inline enum ir_type ir_cell_type(const struct ir_cell *c, uint32_t slot)
{
    return slot >= c->n ? IR_F : c->types ? (enum ir_type)c->types[slot] : c->type;
}

/* base + sum of stride * (operand clamped to 0..count-1): slots of a cell. */
struct ir_index {
    uint32_t operand; /* position among the instruction's operands */
    uint32_t stride, count;
};
struct ir_place {
    uint32_t cell, base, index_count;
    const struct ir_index *index;
};

/* ---- instructions --------------------------------------------------------------------------- */

enum ir_op {
#define IR_OP(id, name, results, operands, meaning) IR_##id,
#include "ir_ops.def"
#undef IR_OP
    IR_OP_COUNT
};

enum ir_state {                     /* of struct asl_globals */
                IR_RAYTYPE,         /* i, bits */
                IR_BACKFACING,      /* i */
                IR_FLIP_HANDEDNESS, /* i */
                IR_SURFACEAREA,     /* f */
                IR_DPDZ_X,          /* f */
                IR_DPDZ_Y,
                IR_DPDZ_Z,
                IR_STATE_COUNT
};

enum { /* what IR_CALL calls: enum asl_builtin_id, or one of these */
       IR_CALL_FIRST = BI_COUNT,
       IR_CALL_BEFORE = BI_COUNT - 1,
#define IR_CALL(id, name, sigs, meaning) IRC_##id,
#include "ir_calls.def"
#undef IR_CALL
       IR_CALL_END
};

/* An argument: a row of values, or (arrays, structs, and all that is written) a place. */
struct ir_arg {
    struct asl_type type; /* arrays have their length */
    uint32_t n;           /* slots */
    bool is_place, written;
    bool derivs; /* value: 3 n operands, the value's row, the x row, the y row. Place: the x row is
                    `row` slots on, the y row 2 `row` */
    uint32_t first; /* value: position of its first operand */
    struct ir_place at;
    uint32_t row;
};

struct ir_call {
    uint32_t callee; /* enum asl_builtin_id or IRC_* */
    const char *name;
    const struct asl_overload *overload; /* NULL for IRC_* */
    struct asl_type type;                /* of the result; VOID: none */
    bool derivs;                         /* results are 3 rows */
    uint32_t fixed;                      /* arguments before the tail of pairs or of anything */
    uint32_t arg_count;
    struct ir_arg *args;
};

struct ir_block {
    struct ir_inst *first, *last;
    struct ir_inst *owner; /* the IF, LOOP or BLOCK that it is part of; NULL: a layer's body */
};

struct ir_inst {
    struct ir_inst *next, *prev;
    struct ir_block *in;
    uint8_t op;                    /* enum ir_op */
    uint32_t result, result_count; /* values result .. result + result_count - 1 */
    uint32_t operand_count;
    ir_value *operands;
    struct src_pos at;
    struct ir_block *body, *other; /* IF, LOOP: both; BLOCK: body */
    union {
        union asl_slot k; /* CONST */
        struct {
            struct ir_place to, from; /* LOAD: from; STORE, ZERO: to; COPY: both */
            uint32_t count;           /* COPY, ZERO */
        } mem;
        struct ir_call *call; /* CALL */
        struct {
            const char *name; /* INDEX: of what is indexed, in the message */
            uint32_t limit;
        } index;
        struct {
            const char *name; /* USERDATA */
            struct asl_type type;
            bool derivs;
        } user;
        uint32_t number;        /* ARG: offset; STATE: enum ir_state; PULL: layer */
        struct ir_inst *target; /* BREAK, CONTINUE */
    } u;
    uint32_t mark; /* scratch of passes and emitters */
};

/* ---- layers and groups ---------------------------------------------------------------------- */

struct ir_param {
    const char *name;
    struct asl_type type;
    uint32_t cell;
    bool output;
};

struct ir_layer {
    const char *name, *shader;
    bool runs; /* false: dead, nothing pulls it; then its body is empty */
    struct ir_param *params;
    uint32_t param_count;
    struct ir_block body;
    uint8_t *types; /* enum ir_type by value */
    uint32_t value_count, value_cap;
};

/* A slot of the argument area. When a parameter's default is a computation, one slot of type int
 * (`is_set`) says whether the area gives the value (1) or the computation does (0). A layer lowered
 * alone has the value's derivatives there too: slots as in a cell. */
struct ir_arg_slot {
    uint32_t layer, param, slot;
    enum ir_type type;
    bool is_set;
    union asl_slot value; /* what the group gave when it was lowered */
};

struct asl_code_counts { /* of a layer */
    size_t ops, symbols, derivs;
    bool runs;
};

struct asl_code {
    struct arena *arena;
    const char *name;
    struct ir_cell *cells;
    uint32_t cell_count, cell_cap;
    struct ir_layer *layers;
    uint32_t layer_count;
    const uint32_t *entries; /* layers to run at each point, in order */
    uint32_t entry_count;
    struct ir_arg_slot *args; /* the argument area */
    uint32_t arg_count, arg_cap;
    uint32_t global_cell[GV_COUNT]; /* cell of each global variable */
    const struct asl_struct *const *structs;
    uint32_t struct_count;
    struct asl_code_counts *before, *after; /* by layer: as lowered, and optimised; may be NULL */
    size_t *moved; /* by layer: instructions moved out of loops; NULL when after is */
};

/* ---- tables --------------------------------------------------------------------------------- */

struct ir_op_info {
    const char *name, *results, *operands;
};
extern const struct ir_op_info ir_ops[IR_OP_COUNT];
extern const char *const ir_state_names[IR_STATE_COUNT];
enum ir_type ir_state_type(enum ir_state s);
/* The type letter of a slot of an ASL type. */
enum ir_type ir_slot_type(struct asl_type t, uint32_t slot);
static inline char ir_type_letter(enum ir_type t) { return "ifsc"[t]; }
/* "noise.csp." : the callee's name, a point, then the result's and the arguments' types in the
 * letters of builtins.def ("x" void; "f[4]"; "!" before what is written); one name for each variant
 * that a runtime library must have apart. */
void ir_call_text(const struct ir_call *c, struct text *out);
/* An instruction without its position and what is inside it; labels are the marks of their targets.
 */
void ir_print_inst(const struct asl_code *c, uint32_t layer, const struct ir_inst *i,
                   struct text *out);
/* What a call may do besides giving its results. */
enum ir_effect {
    IR_EFFECT_NONE,   /* a function of its operands: may fold, merge, vanish */
    IR_EFFECT_REPORT, /* may report an error that comes once a text: may merge, not vanish */
    IR_EFFECT_ORDER   /* prints, sends or receives, or writes places: stays where it is */
};
/* defs: the instruction that defines each value, or NULL when that is not known. */
enum ir_effect ir_call_effect(const struct ir_inst *const *defs, const struct ir_inst *at);
/* Does the callee look at its arguments' derivatives even when its own are not wanted? */
bool ir_call_takes_derivs(const struct ir_call *c);

/* An option of Gabor noise, by its name (NULL: not known) and the type of its value. */
enum ir_gabor_option {
    IR_GABOR_NONE,
    IR_GABOR_ANISOTROPIC,
    IR_GABOR_DIRECTION,
    IR_GABOR_BANDWIDTH,
    IR_GABOR_IMPULSES,
    IR_GABOR_FILTER,
};
enum ir_gabor_option ir_gabor_option(const char *name, struct asl_type t);

/* Mistakes of the device library (emit/device_faults.c). */
const struct asl_fault *asl_device_fault_at(size_t index);

#endif
