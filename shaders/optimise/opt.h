/* SPDX-License-Identifier: Apache-2.0 */
/* opt.h: the optimiser of the IR (docs/reference/asl_ir.md, Optimiser). Every rule keeps every bit.
 */
#ifndef ASL_OPT_H
#define ASL_OPT_H

#include "ir/offers.h"
#include "prove/witness.h"

#define OPT_NONE UINT32_MAX

typedef uint64_t *slot_set; /* a bit for each slot that is followed */
static inline bool slot_has(const uint64_t *a, uint32_t slot)
{
    return a[slot / 64] >> slot % 64 & 1;
}
static inline void slot_add(slot_set a, uint32_t slot) { a[slot / 64] |= 1ull << slot % 64; }
static inline void slot_drop(slot_set a, uint32_t slot) { a[slot / 64] &= ~(1ull << slot % 64); }

struct opt_undo { /* what a slot held before */
    uint32_t slot;
    ir_value value;
};

struct opt_seen { /* an instruction whose result may stand for an equal one's */
    struct ir_inst *inst;
    uint32_t next, bucket; /* index + 1 */
};

struct opt {
    struct ir_builder b;
    struct asl_code *code;
    const struct asl_lower_options *options;
    uint32_t index; /* of the layer */
    bool changed;
    const union asl_slot *values; /* of the argument area, which become constants; NULL: none do */
    struct text *witness;
    size_t *moved; /* by layer: instructions that opt_outward moved */

    /* by value */
    uint32_t value_cap;
    struct ir_inst **defs;
    ir_value *subst; /* what stands for it now; itself at first */
    uint32_t *home;  /* number of the block that it is defined in; opt_outward: loops around it */
    uint8_t *fact;   /* of a condition, inside the branches of its `if`: 1 it is 0, 2 it is not */
    bool *used;

    bool *open; /* by number: blocks around the present place */
    uint32_t block_count, block_cap, depth;

    /* Slots of cells that are followed one by one, and one more for each layer: pulled or not. */
    uint32_t *slot_first; /* by cell; OPT_NONE: too large to follow */
    uint32_t slot_count, pulled_first;
    ir_value *known;        /* what each holds here, or OPT_NONE */
    ir_value *left, *right; /* scratch of joins */
    struct opt_undo *trail;
    uint32_t trail_count, trail_cap;

    struct opt_seen *seen;
    uint32_t seen_count, seen_cap, *buckets;

    struct arena scratch, round; /* of one pass, of one round */
    struct opt_shared *shared;

    struct ir_fold fold;
};

/* Optimises in place, as the options say. values: NULL, or those of the argument area, which become
 * constants; calls that engines may round differently are then left to the engines. */
enum status opt_run(struct asl_code *code, const struct asl_lower_options *opt,
                    const union asl_slot *values, struct error *err);

/* ---- opt_forward.c, opt_fold.c, opt_dead.c, opt_outward.c: one pass over a layer ------------- */

void opt_forward(struct opt *o);
/* The value that stands for a pure instruction's result, or OPT_NONE; may make new instructions in
 * front of it. */
ir_value opt_simplify(struct opt *o, struct ir_inst *i, const char **rule);
/* Replaces a call whose arguments are constants by constants; true when it did. */
bool opt_fold_call(struct opt *o, struct ir_inst *i);
void opt_dead(struct opt *o);
/* What layers do to each other, for opt_dead: to be made anew before each round. */
struct opt_shared {
    uint32_t *first; /* by cell: global and parameter slots, one after another; locals: OPT_NONE */
    uint32_t *readers; /* by such a slot: layers that read it */
    bool *quiet;       /* by layer: it does nothing but write its own parameters */
};
void opt_survey(struct opt *o);
/* Removes layers that nothing pulls; true when there were some. */
bool opt_dead_layers(struct opt *o);
/* Moves what is the same in each turn of a loop in front of it; how many instructions it moved. */
uint32_t opt_outward(struct opt *o);

/* Memory of one pass. */
void *opt_scratch(struct opt *o, size_t count, size_t size) __attribute__((returns_nonnull));
#define OPT_ARRAY(o, type, n) ((type *)opt_scratch((o), (n), sizeof(type)))

/* ---- shared --------------------------------------------------------------------------------- */

/* Numbers the slots of cells that the layer can reach. */
void opt_track(struct opt *o);
/* The tracked slot of a place without indices, or OPT_NONE. */
uint32_t opt_slot(const struct opt *o, const struct ir_place *p);
/* defs of all values of the block. */
void opt_find_defs(struct opt *o, struct ir_block *b);
/* Room for values made meanwhile. */
void opt_values(struct opt *o);
/* All uses of `old`, from here on, are of `now`. */
void opt_replace(struct opt *o, ir_value old, ir_value now, const char *rule);
bool opt_has_loop(const struct ir_block *b);
bool opt_breaks_to(const struct ir_block *b, const struct ir_inst *target, enum ir_op op);
/* Nothing that stands behind i is reached. */
bool opt_ends(const struct ir_inst *i);
static inline bool opt_block_ends(const struct ir_block *b) { return b->last && opt_ends(b->last); }
void opt_splice(struct ir_inst *i, struct ir_block *b);

#endif
