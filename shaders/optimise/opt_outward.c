/* SPDX-License-Identifier: Apache-2.0 */
/* opt_outward.c: what is the same in each turn of a loop is done once, in front of it. What moves
 * are operations that nothing but their operands decides, and reads of slots that the loop does
 * not write: so each value keeps its bits. Calls move only from where each turn comes by, for they
 * are worth more than the turns that may not need them. */
#include "opt.h"

#include <string.h>

struct frame { /* a loop around the present place */
    struct ir_inst *loop;
    slot_set written; /* in it, by anything */
    slot_set stored;  /* for certain, in front of it */
    uint32_t ifs;     /* between it and the present place, or the next loop inside */
};

struct outward {
    struct opt *o;
    size_t words;
    slot_set stored; /* for certain, where the walk is */
    struct frame *frames;
    uint32_t depth, cap, moved;
};

static slot_set set_copy(struct outward *w, const uint64_t *from)
{
    slot_set r = OPT_ARRAY(w->o, uint64_t, w->words);
    if (from)
        memcpy(r, from, w->words * sizeof *r);
    return r;
}

/* ---- what a loop writes ----------------------------------------------------------------------- */

struct range {
    uint32_t from, to; /* tracked slots */
};

/* What a place may be; false: it is not followed. */
static bool range_of(const struct opt *o, const struct ir_place *p, uint32_t n, struct range *out)
{
    const uint32_t first = o->slot_first[p->cell];
    if (first == OPT_NONE)
        return false;
    out->from = p->index_count ? first : first + p->base;
    out->to = p->index_count ? first + ir_cell_slots(&o->code->cells[p->cell]) : out->from + n;
    return true;
}

static void add_range(const struct opt *o, slot_set set, const struct ir_place *p, uint32_t n)
{
    struct range r;
    for (uint32_t k = range_of(o, p, n, &r) ? r.from : OPT_NONE; k != OPT_NONE && k < r.to; k++)
        slot_add(set, k);
}

static void add_cell(const struct opt *o, slot_set set, uint32_t cell)
{
    const struct ir_place whole = {.cell = cell};
    add_range(o, set, &whole, ir_cell_slots(&o->code->cells[cell]));
}

/* Another layer may change globals, and parameters but this layer's. */
static void add_pulled(const struct opt *o, slot_set set)
{
    for (uint32_t k = 0; k < o->code->cell_count; k++) {
        const struct ir_cell *c = &o->code->cells[k];
        if (c->scope == IR_GLOBAL || (c->scope == IR_PARAM && c->layer != o->index))
            add_cell(o, set, k);
    }
}

static void add_written(const struct opt *o, slot_set set, const struct ir_call *c)
{
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t row = 0; a->written && row < (a->derivs ? 3u : 1u); row++) {
            struct ir_place p = a->at;
            p.base += row * a->row;
            add_range(o, set, &p, a->n);
        }
    }
}

static void writes_of(const struct opt *o, slot_set set, const struct ir_block *b)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_STORE)
            add_range(o, set, &i->u.mem.to, 1);
        else if (i->op == IR_COPY || i->op == IR_ZERO)
            add_range(o, set, &i->u.mem.to, i->u.mem.count);
        else if (i->op == IR_PULL)
            add_pulled(o, set);
        else if (i->op == IR_CALL)
            add_written(o, set, i->u.call);
        writes_of(o, set, i->body);
        writes_of(o, set, i->other);
    }
}

/* ---- how far out an instruction may go --------------------------------------------------------- */

/* Levels count the loops around. The value is there from its level on. */
static uint32_t operands_level(const struct opt *o, const struct ir_inst *i)
{
    uint32_t level = 0;
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (o->home[i->operands[k]] > level)
            level = o->home[i->operands[k]];
    return level;
}

static bool may_leave(const struct outward *w, const struct frame *f, const struct range *r,
                      bool given)
{
    for (uint32_t k = r->from; k < r->to; k++)
        if (slot_has(f->written, k) || (!given && !slot_has(f->stored, k)))
            return false;
    return w->depth > 0;
}

/* The level, `least` at best, at which the place holds what it holds here. */
static uint32_t read_level(const struct outward *w, const struct ir_place *p, uint32_t n,
                           uint32_t least)
{
    struct range r;
    const bool given = w->o->code->cells[p->cell].scope == IR_GLOBAL;
    uint32_t level = w->depth;
    if (!range_of(w->o, p, n, &r))
        return level;
    while (level > least && may_leave(w, &w->frames[level - 1], &r, given))
        level--;
    return level;
}

/* Each turn comes by here, but for breaks: the level up to which that is so. */
static uint32_t certain_level(const struct outward *w, uint32_t least)
{
    uint32_t level = w->depth;
    while (level > least && w->frames[level - 1].ifs == 0)
        level--;
    return level;
}

static uint32_t call_level(const struct outward *w, const struct ir_inst *i, uint32_t least)
{
    const struct ir_call *c = i->u.call;
    if (i->result_count == 0 ||
        ir_call_effect((const struct ir_inst *const *)w->o->defs, i) != IR_EFFECT_NONE)
        return w->depth;
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t row = 0; a->is_place && row < (a->derivs ? 3u : 1u); row++) {
            struct ir_place p = a->at;
            p.base += row * a->row;
            const uint32_t level = read_level(w, &p, a->n, least);
            least = level > least ? level : least;
        }
    }
    return certain_level(w, least);
}

static uint32_t best_level(const struct outward *w, const struct ir_inst *i)
{
    const uint32_t least = operands_level(w->o, i);
    switch (i->op) {
    case IR_CALL:
        return call_level(w, i, least);
    case IR_LOAD:
        return read_level(w, &i->u.mem.from, 1, least);
    case IR_FREM: /* dear */
        return certain_level(w, least);
    case IR_ARG:
    case IR_STATE:
        return least;
    default:
        return i->op > IR_CONST && i->op <= IR_SELECT ? least : w->depth;
    }
}

/* ---- the walk ---------------------------------------------------------------------------------- */

static void walk(struct outward *w, struct ir_block *b);

static void walk_loop(struct outward *w, struct ir_inst *i)
{
    if (w->depth == w->cap) {
        const uint32_t cap = w->cap ? 2 * w->cap : 16;
        struct frame *more = OPT_ARRAY(w->o, struct frame, cap);
        if (w->cap)
            memcpy(more, w->frames, w->cap * sizeof *more);
        w->frames = more;
        w->cap = cap;
    }
    struct frame f = {.loop = i, .written = set_copy(w, NULL), .stored = set_copy(w, w->stored)};
    writes_of(w->o, f.written, i->body);
    writes_of(w->o, f.written, i->other);
    w->frames[w->depth++] = f;
    walk(w, i->body);
    memcpy(w->stored, f.stored, w->words * sizeof *w->stored);
    walk(w, i->other);
    memcpy(w->stored, f.stored, w->words * sizeof *w->stored);
    w->depth--;
}

static void walk_if(struct outward *w, const struct ir_inst *i)
{
    slot_set before = set_copy(w, w->stored);
    uint32_t *ifs = w->depth ? &w->frames[w->depth - 1].ifs : NULL;
    if (ifs)
        ++*ifs;
    walk(w, i->body);
    const uint64_t *yes = w->stored;
    w->stored = before;
    walk(w, i->other);
    if (ifs) /* frames may have moved */
        w->frames[w->depth - 1].ifs--;
    const bool yes_ends = opt_block_ends(i->body), no_ends = opt_block_ends(i->other);
    for (size_t k = 0; k < w->words; k++)
        w->stored[k] = no_ends ? yes[k] : yes_ends ? w->stored[k] : w->stored[k] & yes[k];
}

static void walk_block(struct outward *w, const struct ir_inst *i)
{
    slot_set before = set_copy(w, w->stored); /* it may be left before its end */
    walk(w, i->body);
    w->stored = before;
}

static void note_stores(const struct outward *w, const struct ir_inst *i)
{
    const struct ir_place *p = &i->u.mem.to;
    if ((i->op == IR_STORE || i->op == IR_COPY || i->op == IR_ZERO) && !p->index_count)
        add_range(w->o, w->stored, p, i->op == IR_STORE ? 1 : i->u.mem.count);
}

static void move(struct outward *w, struct ir_inst *i, uint32_t level)
{
    struct opt *o = w->o;
    ir_remove(i);
    ir_insert_before(w->frames[level].loop, i);
    for (uint32_t k = 0; k < i->result_count; k++) {
        o->home[i->result + k] = level;
        if (o->witness)
            text_printf(o->witness, "move v%u outward\n", i->result + k);
    }
    o->changed = true;
    w->moved++;
}

static void walk(struct outward *w, struct ir_block *b)
{
    for (struct ir_inst *i = b ? b->first : NULL, *next; i; i = next) {
        next = i->next;
        for (uint32_t k = 0; k < i->result_count; k++)
            w->o->home[i->result + k] = i->op == IR_CONST ? 0 : w->depth;
        if (i->op == IR_LOOP) {
            walk_loop(w, i);
        } else if (i->op == IR_IF) {
            walk_if(w, i);
        } else if (i->op == IR_BLOCK) {
            walk_block(w, i);
        } else if (w->depth && i->op != IR_CONST) {
            const uint32_t level = best_level(w, i);
            if (level < w->depth)
                move(w, i, level);
        }
        note_stores(w, i);
    }
}

uint32_t opt_outward(struct opt *o)
{
    if (!opt_has_loop(&o->b.layer->body))
        return 0;
    opt_track(o);
    opt_values(o);
    opt_find_defs(o, &o->b.layer->body);
    struct outward w = {.o = o, .words = o->slot_count / 64 + 1};
    w.stored = set_copy(&w, NULL);
    walk(&w, &o->b.layer->body);
    return w.moved;
}
