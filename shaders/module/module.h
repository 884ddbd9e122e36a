/* SPDX-License-Identifier: Apache-2.0 */
/* module.h: a module of LLVM's intermediate representation, as its two readers make it
 * (module_text.c of .ll, module_bits.c of .bc) and module_write.c writes it as a shader in ASL
 * (docs/reference/modules.md). No part of LLVM sees the file: what is not read here is refused. */
#ifndef ASL_MODULE_H
#define ASL_MODULE_H

#include "front/offers.h"

/* ---- types ---------------------------------------------------------------------------------- */

enum module_type_kind {
    MODULE_VOID,
    MODULE_INT,
    MODULE_FLOAT,
    MODULE_POINTER,
    MODULE_ARRAY,
    MODULE_VECTOR,
    MODULE_STRUCT,
    MODULE_FUNCTION,
    MODULE_LABEL,
    MODULE_METADATA,
    MODULE_OTHER /* of which no value may be: `name` is LLVM's */
};

struct module_type {
    enum module_type_kind kind;
    bool packed, opaque, variadic; /* opaque: a struct that is named and has no fields yet */
    uint32_t bits;                 /* of an int */
    uint64_t count;                /* of an array's or a vector's elements, of fields, parameters */
    const struct module_type **of; /* the element; the fields; the parameters */
    const struct module_type *result;
    const char *name;
    uint32_t parts; /* module_types.c; 0: not counted yet */
};

/* ---- values --------------------------------------------------------------------------------- */

enum module_value_kind {
    VALUE_UNKNOWN, /* named, and not defined yet */
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_ZERO,      /* of any type: also undef, poison and null, which are 0 here */
    VALUE_AGGREGATE, /* a constant: its parts are `ops` */
    VALUE_GLOBAL,
    VALUE_FUNCTION,
    VALUE_ARGUMENT,
    VALUE_INSTRUCTION, /* also a constant expression, which has no block */
    VALUE_METADATA
};

enum module_op {
    OPCODE_RET,
    OPCODE_BR,
    OPCODE_SWITCH,
    OPCODE_UNREACHABLE,
    OPCODE_FNEG,
    OPCODE_ADD, /* first of the binary operations on ints */
    OPCODE_SUB,
    OPCODE_MUL,
    OPCODE_UDIV,
    OPCODE_SDIV,
    OPCODE_UREM,
    OPCODE_SREM,
    OPCODE_SHL,
    OPCODE_LSHR,
    OPCODE_ASHR,
    OPCODE_AND,
    OPCODE_OR,
    OPCODE_XOR,
    OPCODE_FADD, /* first of those on floats */
    OPCODE_FSUB,
    OPCODE_FMUL,
    OPCODE_FDIV,
    OPCODE_FREM,
    OPCODE_TRUNC, /* first of the conversions */
    OPCODE_ZEXT,
    OPCODE_SEXT,
    OPCODE_FPTOUI,
    OPCODE_FPTOSI,
    OPCODE_UITOFP,
    OPCODE_SITOFP,
    OPCODE_BITCAST,
    OPCODE_ADDRSPACECAST,
    OPCODE_ICMP,
    OPCODE_FCMP,
    OPCODE_PHI,
    OPCODE_SELECT,
    OPCODE_FREEZE,
    OPCODE_CALL,
    OPCODE_ALLOCA,
    OPCODE_LOAD,
    OPCODE_STORE,
    OPCODE_GEP,
    OPCODE_EXTRACTELEMENT,
    OPCODE_INSERTELEMENT,
    OPCODE_SHUFFLE,
    OPCODE_EXTRACTVALUE,
    OPCODE_INSERTVALUE
};

/* Predicates of icmp; those of fcmp are numbers of four bits: 1 equal, 2 greater, 4 less, 8
 * unordered, as LLVM has them. */
enum module_predicate {
    ICMP_EQ,
    ICMP_NE,
    ICMP_UGT,
    ICMP_UGE,
    ICMP_ULT,
    ICMP_ULE,
    ICMP_SGT,
    ICMP_SGE,
    ICMP_SLT,
    ICMP_SLE
};

struct module_value {
    uint8_t kind, op, predicate;
    const struct module_type *type;
    const char *name; /* as messages have it: "%5", "@table" */
    struct asl_loc at;
    uint64_t bits; /* VALUE_INT: the low `type->bits`; VALUE_FLOAT: the 32 of the float */
    struct module_value **ops;
    size_t count;
    struct module_block **to; /* a terminator's targets (of a switch: the default first), or
                                     the blocks that a phi's values come from */
    size_t to_count;
    const uint32_t *indices; /* of *value; shufflevector's mask, UINT32_MAX: undef */
    size_t index_count;
    const struct module_type *of; /* of alloca, getelementptr; of a call: the function's type */
    struct module_value *callee;
    struct module_block *block;
    uint32_t id;    /* in its function: arguments, then instructions */
    uint32_t order; /* in its block */
    uint32_t align; /* of load, store, and arguments of memcpy; 0: natural */
    struct module_global *global;
    struct module_function *function;
    /* module_verify.c: an alloca of a pointer that only loads and stores of pointers name is a slot;
     * its stores are a list. */
    bool slot;
    const struct module_value *stores;
};

struct module_global {
    const char *name;
    const struct module_type *type;
    struct module_value *initial; /* NULL: elsewhere */
    bool constant;
    struct asl_loc at;
};

struct module_block {
    const char *name;
    struct asl_loc at;
    bool defined;
    struct module_value **code;
    size_t count, cap;
    /* module_verify.c: */
    uint32_t order; /* in reverse postorder; UINT32_MAX: not reached */
    struct module_block **from;
    size_t from_count, from_cap;
    struct module_block *dominator;
    struct module_block *loop; /* the head of the innermost loop around it (of a head: around its
                                  own loop), or NULL */
    bool head;                 /* of a loop */
    bool joined;               /* more than one edge leads here, those of its loop aside */
};

struct module_parameter {
    struct module_value *value;
    const struct module_type *by_value; /* what a pointer's copy holds, or NULL */
};

struct module_function {
    const char *name;
    struct asl_loc at;
    const struct module_type *type;
    struct module_parameter *parameters;
    bool defined, external;
    struct module_block **blocks; /* as they stand; the first is the entry */
    size_t block_count, block_cap;
    uint32_t ids;
    /* module_verify.c: */
    bool verified, irreducible;
    struct module_block **order; /* those reached, in reverse postorder */
    size_t order_count;
    bool busy; /* being written: a call of it is recursion */
};

struct module {
    struct asl_compile *c;
    const struct asl_source *src;
    struct module_function **functions;
    size_t function_count, function_cap;
    struct module_global **globals;
    size_t global_count, global_cap;
    uint32_t pointer_bits, long_align; /* of the data layout: 64, 8 */
    jmp_buf stop;
};

/* Tells what is wrong there, and leaves the reader. */
_Noreturn void module_refuse(struct module *m, struct asl_loc at, const char *hint, const char *fmt,
                             ...) __attribute__((format(printf, 4, 5)));

/* ---- module_text.c, module_bits.c: the readers ---------------------------------------------- */

void module_text_read(struct module *m);
void module_bits_read(struct module *m);
/* Are these bytes bitcode? */
bool module_is_bits(const char *data, size_t size);

/* ---- module_types.c -------------------------------------------------------------------------- */

bool module_same_type(const struct module_type *a, const struct module_type *b);
/* Bytes that an element of an array takes, and where a field begins; past 1 GiB they are refused. */
uint64_t module_type_size(struct module *m, const struct module_type *t, struct asl_loc at);
uint64_t module_field_offset(struct module *m, const struct module_type *t, uint64_t field,
                             struct asl_loc at);
/* "float", "<2 x i32>" */
const char *module_type_text(struct asl_compile *c, const struct module_type *t);
/* The element that index k of an aggregate names; NULL: there is none. */
const struct module_type *module_element(const struct module_type *t, uint64_t k);
/* Scalars of a value of that type: its vectors' elements, fields and so on, in order. */
size_t module_scalars(struct module *m, const struct module_type *t, struct asl_loc at);

/* ---- module_verify.c ------------------------------------------------------------------------- */

/* Types, terminators, phis, dominance; and finds loops. */
void module_verify(struct module *m, struct module_function *f);
bool module_dominates(const struct module_block *a, const struct module_block *b);

/* ---- module_write.c: as ASL ------------------------------------------------------------------ */

void module_write(struct module *m, struct asl_tokens *out);

#endif
