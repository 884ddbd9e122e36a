/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm.h: what the files of the LLVM emitter share. A surface's values are numbers, all others
 * rows of lanes; conditions and masks are i1 or rows of them. */
#ifndef ASL_EMIT_LLVM_H
#define ASL_EMIT_LLVM_H

#include "emit.h"

enum { /* struct al_run of shade_code.c */
       RUN_ARGS = 0,
       RUN_BUDGET = 16,
       RUN_TURNS = 20,
       RUN_FAILED = 24,
       RUN_POINT = 64
};

struct llvm {
    struct emit e;
    unsigned lanes, temps;
    const char *f, *i, *b, *flags;       /* types of rows; flags of float operations */
    struct text slots;                   /* stack slots of the layer being written */
    uint32_t *cell_at;                   /* by cell: its place among the module's cells, in rows */
    uint32_t rows;                       /* of all cells, flags and nodes */
    struct text *declared, own_declared; /* "declare ..." lines, each once */
    /* The walk of Ci: each node's block, its number, rows that are 0 before the layers. */
    struct text visits, cases, resets;
    const char
        *there; /* the image and the subimage of the look-up being written; NULL: not asked */
};

#define L(...)    text_printf(&l->e.body, __VA_ARGS__)
#define TEXT(...) emit_text(&l->e, __VA_ARGS__)

/* ---- emit_llvm_values.c --------------------------------------------------------------------- */

/* Surfaces have one lane and no masks: control flow is LLVM's own. */
bool ll_is_surface(const struct llvm *l);
int ll_row_align(const struct llvm *l);
const char *ll_float_splat(struct llvm *l, float x);
const char *ll_int_splat(struct llvm *l, int32_t x);
/* "%t3 = ...": its name. */
const char *ll_let(struct llvm *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
unsigned ll_fresh_label(struct llvm *l);
void ll_label(struct llvm *l, unsigned n);
void ll_jump(struct llvm *l, unsigned to);
void ll_branch(struct llvm *l, const char *c, unsigned yes, unsigned no);
const char *ll_load(struct llvm *l, const char *type, const char *at);
void ll_store(struct llvm *l, const char *type, const char *x, const char *at);
/* A stack slot for `rows` rows; row k of an array of rows. */
const char *ll_slot(struct llvm *l, const char *type, uint32_t rows);
const char *ll_row_at(struct llvm *l, const char *base, uint32_t k);
/* A function of the library: declared when it is first called. types: of the parameters. */
void ll_declare(struct llvm *l, const char *result, const char *name, const char *types);

/* Operands; value v becomes x, which is of the kind its uses expect. */
const char *ll_float(struct llvm *l, ir_value v);
const char *ll_int(struct llvm *l, ir_value v);
const char *ll_condition(struct llvm *l, ir_value v);
void ll_set(struct llvm *l, ir_value v, const char *x);
void ll_set_bits(struct llvm *l, ir_value v, const char *x); /* x: ints, whatever v is */
const char *ll_float_bits(struct llvm *l, const char *x);
/* Masks are stack slots of conditions: "%m3" is the third. _now: of the region; _ints: as the library
 * has it, 0 or -1; _drop: name &= ~what. */
const char *ll_mask_load(struct llvm *l, const char *name);
const char *ll_mask_name(struct llvm *l, unsigned n);
const char *ll_mask_now(struct llvm *l);
const char *ll_mask_not(struct llvm *l, const char *m);
const char *ll_mask_and(struct llvm *l, const char *a, const char *b);
const char *ll_mask_or(struct llvm *l, const char *a, const char *b);
const char *ll_mask_any(struct llvm *l, const char *m); /* an i1 */
const char *ll_mask_ints(struct llvm *l, const char *m);
unsigned ll_mask_new(struct llvm *l);
void ll_mask_drop(struct llvm *l, const char *name, const char *what);
/* A place's cell; x, of that type, to slot `more` of the place. */
const char *ll_cell_base(struct llvm *l, uint32_t cell);
/* A slot's bits as ints, or as floats. */
const char *ll_cell_load(struct llvm *l, const struct ir_inst *i, const struct ir_place *p,
                         uint32_t more, const char *type);
void ll_cell_store(struct llvm *l, const struct ir_inst *i, const struct ir_place *p, uint32_t more,
                   const char *type, const char *x);
/* The slot of a place: a number at *base, plus what is returned (a row of ints), if not NULL. */
const char *ll_slot_of(struct llvm *l, const struct ir_inst *i, const struct ir_place *p,
                       uint32_t more, uint32_t *base);

/* ---- emit_llvm.c: instructions, and emit_llvm_flow.c: those that branch --------------------- */

void ll_block(struct llvm *l, const struct ir_block *b);
void ll_region(struct llvm *l, const struct ir_block *b, unsigned mask);
void ll_control(struct llvm *l, const struct ir_inst *i);

/* ---- emit_llvm_arrays.c ---------------------------------------------------------------------- */

void ll_copy(struct llvm *l, const struct ir_inst *i);
void ll_zero(struct llvm *l, const struct ir_inst *i);

/* ---- emit_llvm_call.c ------------------------------------------------------------------------ */

struct ll_args {
    struct llvm *l;
    const struct ir_inst *i;
    const struct ir_call *c;
};
/* Slot k of argument a: its value (d 0), its change in x (1) or y (2). */
const char *ll_part(const struct ll_args *x, uint32_t a, uint32_t k, uint32_t d);
/* A function of the library whose parameters and result are all of that type. */
const char *ll_call(struct llvm *l, const char *type, const char *name, size_t count,
                    const char *const *operands);
bool ll_device_call(struct llvm *l, const struct ir_inst *i); /* false: the library has it not */

/* ---- emit_llvm_host.c ------------------------------------------------------------------------ */

void ll_host(struct llvm *l, const struct ir_inst *i);
void ll_index(struct llvm *l, const struct ir_inst *i); /* one that may be out of range */
bool ll_surface_question(struct llvm *l, const struct ir_inst *i); /* as emit_question has it */
/* Keeps what a call prints or reports, or an index out of range, at a hit. */
void ll_surface_message(struct llvm *l, const struct ir_inst *i, enum emit_words which,
                        const char *last); /* as emit_say has it */

/* ---- emit_llvm_surface.c: for a hit in a renderer's kernel ---------------------------------- */

/* Turn of the loop; leaves the layer when there are too many. */
void ll_surface_turn(struct llvm *l, uint32_t loop);
/* Word w of the point; word k of the argument area; of that type. */
const char *ll_surface_point(struct llvm *l, uint32_t w, const char *type);
const char *ll_surface_argument(struct llvm *l, uint32_t k, const char *type);
/* emit_llvm_messages.c: rows of the state; messages between layers, false for other calls. */
void ll_messages_declare(struct llvm *l);
bool ll_message(struct llvm *l, const struct ir_inst *i);
/* Closures, sums of them, images, geometry data, spaces and what has no effect; false for other
 * instructions. */
bool ll_surface_inst(struct llvm *l, const struct ir_inst *i);
/* Before the layers: no node is in use. After them: the walk of Ci, where anything touches it. */
void ll_surface_start(struct llvm *l);
void ll_surface_walk(struct llvm *l);

#endif
