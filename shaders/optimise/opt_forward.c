/* SPDX-License-Identifier: Apache-2.0 */
/* opt_forward.c: one walk in the order of execution. It knows what cells hold (copies and constants
 * find their way through memory), which results exist already, and which branch of a condition it
 * is in; it folds, merges, and takes apart what a constant condition decides. */
#include "opt.h"

#include <stdlib.h>
#include <string.h>

/* ---- room ----------------------------------------------------------------------------------- */

static void grow(struct opt *o, void *array, uint32_t old, uint32_t cap, size_t size)
{
    void **p = array, *more = realloc(*p, cap * size);
    if (!more)
        ir_fail(&o->b, STATUS_MEMORY, o->b.at, "out of memory");
    memset((char *)more + old * size, 0, (cap - old) * size);
    *p = more;
}

void opt_values(struct opt *o)
{
    uint32_t n = o->b.layer->value_count, old = o->value_cap;
    if (n <= old)
        return;
    uint32_t cap = n + n / 2 + 256;
    grow(o, &o->defs, old, cap, sizeof *o->defs);
    grow(o, &o->subst, old, cap, sizeof *o->subst);
    grow(o, &o->home, old, cap, sizeof *o->home);
    grow(o, &o->fact, old, cap, sizeof *o->fact);
    grow(o, &o->used, old, cap, sizeof *o->used);
    o->value_cap = cap;
    for (uint32_t v = old; v < cap; v++)
        o->subst[v] = v;
}

/* ---- values --------------------------------------------------------------------------------- */

static ir_value resolve(struct opt *o, ir_value v)
{
    while (o->subst[v] != v)
        v = o->subst[v] = o->subst[o->subst[v]];
    return v;
}

void opt_replace(struct opt *o, ir_value old, ir_value now, const char *rule)
{
    o->subst[old] = now;
    o->changed = true;
    if (o->witness)
        text_printf(o->witness, "put v%u v%u %s\n", old, now, rule);
}

static bool is_open(const struct opt *o, ir_value v) { return o->open[o->home[v]]; }

/* Makes sure that defs holds constants made by ir_const_*. */
static void note_constants(struct opt *o)
{
    opt_values(o);
    for (struct ir_inst *i = o->b.last_const; i && !o->defs[i->result]; i = i->prev)
        o->defs[i->result] = i;
}

static ir_value constant_int(struct opt *o, int32_t x)
{
    ir_value v = ir_const_i(&o->b, x);
    note_constants(o);
    return v;
}

/* ---- what slots hold ------------------------------------------------------------------------ */

static void set_known(struct opt *o, uint32_t slot, ir_value v)
{
    if (o->known[slot] == v)
        return;
    if (o->trail_count == o->trail_cap) {
        uint32_t cap = o->trail_cap ? 2 * o->trail_cap : 256;
        grow(o, &o->trail, o->trail_cap, cap, sizeof *o->trail);
        o->trail_cap = cap;
    }
    o->trail[o->trail_count++] = (struct opt_undo){slot, o->known[slot]};
    o->known[slot] = v;
}

static void undo(struct opt *o, uint32_t mark)
{
    while (o->trail_count > mark) {
        const struct opt_undo *u = &o->trail[--o->trail_count];
        o->known[u->slot] = u->value;
    }
}

/* The tracked slot of a place without indices, or OPT_NONE. */
uint32_t opt_slot(const struct opt *o, const struct ir_place *p)
{
    uint32_t first = o->slot_first[p->cell];
    return p->index_count || first == OPT_NONE ? OPT_NONE : first + p->base;
}

static void kill_cell(struct opt *o, uint32_t cell)
{
    uint32_t first = o->slot_first[cell];
    for (uint32_t k = 0; first != OPT_NONE && k < ir_cell_slots(&o->code->cells[cell]); k++)
        set_known(o, first + k, OPT_NONE);
}

static void kill_range(struct opt *o, const struct ir_place *p, uint32_t n)
{
    uint32_t first = opt_slot(o, p);
    if (p->index_count)
        kill_cell(o, p->cell);
    for (uint32_t k = 0; first != OPT_NONE && k < n; k++)
        set_known(o, first + k, OPT_NONE);
}

/* Another layer may change globals, and its own and others' parameters. */
static void kill_pulled(struct opt *o)
{
    for (uint32_t i = 0; i < o->code->cell_count; i++) {
        const struct ir_cell *c = &o->code->cells[i];
        if (c->scope == IR_GLOBAL || (c->scope == IR_PARAM && c->layer != o->index))
            kill_cell(o, i);
    }
}

static void kill_written(struct opt *o, const struct ir_call *c)
{
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        if (!a->written)
            continue;
        for (uint32_t row = 0; row < (a->derivs ? 3u : 1u); row++) {
            struct ir_place p = a->at;
            p.base += row * a->row;
            kill_range(o, &p, a->n);
        }
    }
}

/* All that the block may write. */
static void kill_block(struct opt *o, const struct ir_block *b)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_STORE)
            kill_range(o, &i->u.mem.to, 1);
        else if (i->op == IR_COPY || i->op == IR_ZERO)
            kill_range(o, &i->u.mem.to, i->u.mem.count);
        else if (i->op == IR_PULL)
            kill_pulled(o);
        else if (i->op == IR_CALL)
            kill_written(o, i->u.call);
        kill_block(o, i->body);
        kill_block(o, i->other);
    }
}

/* ---- results that exist already -------------------------------------------------------------- */

static bool mergeable(const struct opt *o, const struct ir_inst *i)
{
    if (i->op == IR_ARG || i->op == IR_STATE || i->op == IR_INDEX)
        return true;
    if (i->op == IR_CALL) {
        for (uint32_t k = 0; k < i->u.call->arg_count; k++)
            if (i->u.call->args[k].is_place)
                return false;
        return i->result_count &&
               ir_call_effect((const struct ir_inst *const *)o->defs, i) != IR_EFFECT_ORDER;
    }
    return i->op > IR_CONST && i->op < IR_ARG;
}

static bool same_call(const struct ir_call *a, const struct ir_call *b)
{
    if (a->callee != b->callee || a->overload != b->overload || a->derivs != b->derivs ||
        a->arg_count != b->arg_count || !asl_same_type(a->type, b->type))
        return false;
    for (uint32_t k = 0; k < a->arg_count; k++)
        if (!asl_same_type(a->args[k].type, b->args[k].type) ||
            a->args[k].derivs != b->args[k].derivs)
            return false;
    return true;
}

static bool same(const struct ir_inst *a, const struct ir_inst *b)
{
    if (a->op != b->op || a->operand_count != b->operand_count ||
        a->result_count != b->result_count)
        return false;
    if (a->operand_count &&
        memcmp(a->operands, b->operands, a->operand_count * sizeof *a->operands) != 0)
        return false;
    if (a->op == IR_ARG || a->op == IR_STATE)
        return a->u.number == b->u.number;
    if (a->op == IR_INDEX)
        return a->u.index.limit == b->u.index.limit && a->at.line == b->at.line &&
               a->at.file == b->at.file && strcmp(a->u.index.name, b->u.index.name) == 0;
    return a->op != IR_CALL || same_call(a->u.call, b->u.call);
}

enum { BUCKETS = 4096, MAX_MOVED = 200 };

static uint32_t hash(const struct ir_inst *i)
{
    uint32_t h = 2166136261u + i->op * 97u;
    for (uint32_t k = 0; k < i->operand_count; k++)
        h = (h ^ i->operands[k]) * 16777619u;
    if (i->op == IR_ARG || i->op == IR_STATE)
        h = (h ^ i->u.number) * 16777619u;
    return (h ^ h >> 13) % BUCKETS;
}

static bool merge(struct opt *o, struct ir_inst *i)
{
    uint32_t h = hash(i);
    for (uint32_t k = o->buckets[h]; k; k = o->seen[k - 1].next) {
        const struct ir_inst *old = o->seen[k - 1].inst;
        if (!same(old, i))
            continue;
        for (uint32_t r = 0; r < i->result_count; r++)
            opt_replace(o, i->result + r, old->result + r, "common");
        return true;
    }
    if (o->seen_count == o->seen_cap) {
        uint32_t cap = o->seen_cap ? 2 * o->seen_cap : 1024;
        grow(o, &o->seen, o->seen_cap, cap, sizeof *o->seen);
        o->seen_cap = cap;
    }
    o->seen[o->seen_count] = (struct opt_seen){i, o->buckets[h], h};
    o->buckets[h] = ++o->seen_count;
    return false;
}

static void forget(struct opt *o, uint32_t mark)
{
    while (o->seen_count > mark) {
        const struct opt_seen *s = &o->seen[--o->seen_count];
        o->buckets[s->bucket] = s->next;
    }
}

/* ---- places --------------------------------------------------------------------------------- */

/* Constant indices become part of the base. `first`: of the place's operands. */
static void fix_place(struct opt *o, struct ir_inst *i, struct ir_place *p)
{
    struct ir_index *kept =
        p->index_count ? IR_ARRAY(&o->b, struct ir_index, p->index_count) : NULL;
    uint32_t count = 0;
    for (uint32_t k = 0; k < p->index_count; k++) {
        const struct ir_inst *d = o->defs[i->operands[p->index[k].operand]];
        if (d->op != IR_CONST) {
            kept[count++] = p->index[k];
            continue;
        }
        int32_t v = d->u.k.i;
        uint32_t last = p->index[k].count - 1;
        p->base += p->index[k].stride * (v < 0 ? 0 : (uint32_t)v < last ? (uint32_t)v : last);
        o->changed = true;
    }
    p->index = kept;
    p->index_count = count;
}

static void number_operands(struct ir_inst *i, struct ir_place *p, const ir_value *old, uint32_t *n)
{
    for (uint32_t k = 0; k < p->index_count; k++) {
        struct ir_index *x = (struct ir_index *)(uintptr_t)&p->index[k];
        i->operands[*n] = old[x->operand];
        x->operand = (*n)++;
    }
}

static bool has_constant_index(const struct opt *o, const struct ir_inst *i,
                               const struct ir_place *p)
{
    for (uint32_t k = 0; k < p->index_count; k++)
        if (o->defs[i->operands[p->index[k].operand]]->op == IR_CONST)
            return true;
    return false;
}

static void fix_places(struct opt *o, struct ir_inst *i)
{
    struct ir_place *to = &i->u.mem.to, *from = &i->u.mem.from;
    if (!has_constant_index(o, i, to) && !has_constant_index(o, i, from))
        return;
    ir_value *old = i->operands;
    ir_value stored = i->operand_count ? old[i->operand_count - 1] : 0;
    fix_place(o, i, to);
    fix_place(o, i, from);
    i->operands = IR_ARRAY(&o->b, ir_value, i->operand_count);
    uint32_t n = 0;
    number_operands(i, to, old, &n);
    number_operands(i, from, old, &n);
    if (i->op == IR_STORE)
        i->operands[n++] = stored;
    i->operand_count = n;
}

/* ---- instructions --------------------------------------------------------------------------- */

static void forward_block(struct opt *o, struct ir_block *b);

static bool load(struct opt *o, struct ir_inst *i)
{
    uint32_t slot = opt_slot(o, &i->u.mem.from);
    if (slot == OPT_NONE)
        return false;
    if (o->known[slot] == OPT_NONE) {
        set_known(o, slot, i->result);
        return false;
    }
    opt_replace(o, i->result, o->known[slot], "forward");
    return true;
}

/* True when the slot holds that value already. */
static bool store(struct opt *o, const struct ir_inst *i)
{
    uint32_t slot = opt_slot(o, &i->u.mem.to);
    ir_value v = i->operands[i->operand_count - 1];
    if (slot == OPT_NONE) {
        kill_range(o, &i->u.mem.to, 1);
        return false;
    }
    if (o->known[slot] == v)
        return true;
    set_known(o, slot, v);
    return false;
}

static void copy(struct opt *o, const struct ir_inst *i)
{
    uint32_t to = opt_slot(o, &i->u.mem.to), from = opt_slot(o, &i->u.mem.from);
    if (to == OPT_NONE || from == OPT_NONE) {
        kill_range(o, &i->u.mem.to, i->u.mem.count);
        return;
    }
    for (uint32_t k = 0; k < i->u.mem.count; k++)
        set_known(o, to + k, o->known[from + k]);
}

static void zero(struct opt *o, const struct ir_inst *i)
{
    const struct ir_place *p = &i->u.mem.to;
    uint32_t to = opt_slot(o, p);
    if (to == OPT_NONE) {
        kill_range(o, p, i->u.mem.count);
        return;
    }
    for (uint32_t k = 0; k < i->u.mem.count; k++) {
        enum ir_type t = ir_cell_type(&o->code->cells[p->cell], p->base + k);
        union asl_slot z = {.c = NULL};
        if (t == IR_S)
            z.s = "";
        ir_value v = ir_const(&o->b, t, z);
        note_constants(o);
        set_known(o, to + k, v);
    }
}

static bool pull(struct opt *o, const struct ir_inst *i)
{
    uint32_t slot = o->pulled_first + i->u.number;
    if (o->known[slot] != OPT_NONE)
        return true;
    kill_pulled(o);
    set_known(o, slot, constant_int(o, 1));
    return false;
}

static bool index_inside(struct opt *o, struct ir_inst *i)
{
    const struct ir_inst *d = o->defs[i->operands[0]];
    bool inside = d->op == IR_CONST && d->u.k.i >= 0 && (uint32_t)d->u.k.i < i->u.index.limit;
    inside = inside || (d->op == IR_INDEX && d->u.index.limit <= i->u.index.limit);
    if (inside)
        opt_replace(o, i->result, i->operands[0], "inside");
    return inside;
}

/* ---- branches ------------------------------------------------------------------------------- */

struct changes {
    uint32_t *slot;
    ir_value *value;
    uint32_t count;
    bool ended;
};

/* Walks one branch and goes back to what was known before it. */
static struct changes branch(struct opt *o, struct ir_block *b, ir_value condition, bool yes,
                             uint32_t slot)
{
    uint32_t mark = o->trail_count;
    uint8_t fact = o->fact[condition];
    o->fact[condition] = yes ? 2 : 1;
    if (slot != OPT_NONE && !yes)
        set_known(o, slot, constant_int(o, 0)); /* the slot that the condition was loaded from */
    forward_block(o, b);
    o->fact[condition] = fact;
    struct changes c = {.ended = opt_block_ends(b), .count = o->trail_count - mark};
    c.slot = OPT_ARRAY(o, uint32_t, c.count);
    c.value = OPT_ARRAY(o, ir_value, c.count);
    for (uint32_t k = 0; k < c.count; k++) {
        c.slot[k] = o->trail[mark + k].slot;
        c.value[k] = o->known[c.slot[k]];
        if (c.value[k] != OPT_NONE && !is_open(o, c.value[k]))
            c.value[k] = OPT_NONE;
    }
    undo(o, mark);
    return c;
}

static void apply(struct opt *o, const struct changes *c)
{
    for (uint32_t k = 0; k < c->count; k++)
        set_known(o, c->slot[k], c->value[k]);
}

static void join(struct opt *o, const struct changes *a, const struct changes *b)
{
    if (a->ended || b->ended) {
        if (!a->ended || !b->ended)
            apply(o, a->ended ? b : a);
        return;
    }
    const struct changes *both[2] = {a, b};
    for (int s = 0; s < 2; s++)
        for (uint32_t k = 0; k < both[s]->count; k++)
            o->left[both[s]->slot[k]] = o->right[both[s]->slot[k]] = o->known[both[s]->slot[k]];
    for (uint32_t k = 0; k < a->count; k++)
        o->left[a->slot[k]] = a->value[k];
    for (uint32_t k = 0; k < b->count; k++)
        o->right[b->slot[k]] = b->value[k];
    for (int s = 0; s < 2; s++)
        for (uint32_t k = 0; k < both[s]->count; k++) {
            uint32_t slot = both[s]->slot[k];
            set_known(o, slot, o->left[slot] == o->right[slot] ? o->left[slot] : OPT_NONE);
        }
}

/* 0, 1, or -1 when it is not known. */
static int decided(const struct opt *o, ir_value condition)
{
    const struct ir_inst *d = o->defs[condition];
    if (d->op == IR_CONST)
        return d->u.k.i != 0;
    return o->fact[condition] ? o->fact[condition] - 1 : -1;
}

static void forward_if(struct opt *o, struct ir_inst *i)
{
    ir_value c = i->operands[0];
    const struct ir_inst *d = o->defs[c];
    uint32_t slot = d->op == IR_LOAD ? opt_slot(o, &d->u.mem.from) : OPT_NONE;
    if (slot != OPT_NONE && o->known[slot] != c)
        slot = OPT_NONE;
    struct changes a = branch(o, i->body, c, true, slot);
    struct changes b = branch(o, i->other, c, false, slot);
    join(o, &a, &b);
}

/* What is computed in front of a loop's first test, from what is known where the loop begins. */
struct entry {
    struct opt *o;
    struct entry_value {
        ir_value value;
        union asl_slot k;
    } list[16];
    uint32_t count;
};

static bool entry_find(struct entry *e, ir_value v, union asl_slot *k)
{
    v = resolve(e->o, v);
    for (uint32_t n = 0; n < e->count; n++)
        if (e->list[n].value == v) {
            *k = e->list[n].k;
            return true;
        }
    const struct ir_inst *def = e->o->defs[v];
    if (!def || def->op != IR_CONST)
        return false;
    *k = def->u.k;
    return true;
}

static bool entry_value(struct entry *e, const struct ir_inst *i, union asl_slot *out)
{
    union asl_slot in[3] = {{0}};
    if (i->op == IR_LOAD) {
        const uint32_t slot = opt_slot(e->o, &i->u.mem.from);
        return slot != OPT_NONE && e->o->known[slot] != OPT_NONE &&
               entry_find(e, e->o->known[slot], out);
    }
    if (i->op <= IR_CONST || i->op > IR_SELECT)
        return false;
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (!entry_find(e, i->operands[k], &in[k]))
            return false;
    *out = ir_eval((enum ir_op)i->op, in[0], in[1], in[2]);
    return true;
}

/* Does the first test of the first turn leave the loop? Asked before what the loop changes is
 * forgotten. */
static bool never_turns(struct opt *o, const struct ir_inst *loop)
{
    struct entry e = {.o = o};
    union asl_slot k;
    for (const struct ir_inst *i = loop->body->first; i; i = i->next) {
        if (i->op == IR_IF) {
            if (!entry_find(&e, i->operands[0], &k))
                return false;
            const struct ir_block *b = k.i ? i->body : i->other;
            const struct ir_inst *first = b ? b->first : NULL;
            return first && first->op == IR_BREAK && first->u.target == loop;
        }
        if (i->op == IR_CONST)
            continue;
        if (e.count == sizeof e.list / sizeof *e.list || !entry_value(&e, i, &k))
            return false;
        e.list[e.count++] = (struct entry_value){i->result, k};
    }
    return false;
}

static void forward_loop(struct opt *o, struct ir_inst *i)
{
    kill_block(o, i->body);
    kill_block(o, i->other);
    uint32_t mark = o->trail_count;
    forward_block(o, i->body);
    undo(o, mark);
    forward_block(o, i->other);
    undo(o, mark);
}

static void forward_nested(struct opt *o, struct ir_inst *i)
{
    uint32_t mark = o->trail_count;
    forward_block(o, i->body);
    undo(o, mark);
    kill_block(o, i->body);
}

/* A loop whose body always breaks at its end runs once. */
static bool runs_once(const struct ir_inst *i)
{
    const struct ir_inst *last = i->body->last;
    return last && last->op == IR_BREAK && last->u.target == i &&
           !opt_breaks_to(i->body, i, IR_CONTINUE);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* A `break` at the very end of the block that it leaves does nothing. */
static void drop_tail_breaks(struct opt *o, struct ir_block *b, const struct ir_inst *target)
{
    struct ir_inst *last = b ? b->last : NULL;
    if (!last)
        return;
    if (last->op == IR_BREAK && last->u.target == target) {
        ir_remove(last);
        o->changed = true;
    } else if (last->op == IR_IF || last->op == IR_BLOCK) {
        drop_tail_breaks(o, last->body, target);
        drop_tail_breaks(o, last->other, target);
    }
}

static bool returns(const struct ir_block *b)
{
    return b->last && b->last->op == IR_BREAK && b->last->u.target->op == IR_BLOCK;
}

/* if c { ...; return } rest: becomes if c { ...; return } else { rest }. */
static void move_rest(struct opt *o, struct ir_inst *i)
{
    struct ir_block *to = returns(i->body) ? i->other : returns(i->other) ? i->body : NULL;
    if (!to || !i->next || opt_block_ends(to) || o->depth > MAX_MOVED)
        return;
    for (struct ir_inst *k = i->next, *next; k; k = next) {
        next = k->next;
        ir_remove(k);
        ir_append(to, k);
    }
    o->changed = true;
}

/* True when i is gone and *next says where to go on. */
static bool take_apart(struct opt *o, struct ir_inst *i, struct ir_inst **next)
{
    struct ir_block *b = NULL;
    int yes = i->op == IR_IF ? decided(o, i->operands[0]) : -1;
    if (i->op == IR_LOOP && runs_once(i)) {
        witness_unreachable(o->witness, i->other);
        i->op = IR_BLOCK;
        i->other = NULL;
        o->changed = true;
    }
    if (i->op == IR_BLOCK) {
        drop_tail_breaks(o, i->body, i);
        if (!opt_breaks_to(i->body, i, IR_BREAK))
            b = i->body;
    } else if (yes >= 0) {
        b = yes ? i->body : i->other;
        witness_unreachable(o->witness, yes ? i->other : i->body);
    } else if (i->op == IR_IF) {
        move_rest(o, i);
        *next = i->next;
    }
    if (!b)
        return false;
    *next = b->first ? b->first : i->next;
    opt_splice(i, b);
    o->changed = true;
    return true;
}

static bool is_gone(struct opt *o, struct ir_inst *i)
{
    const char *rule = "";
    switch (i->op) {
    case IR_LOAD:
        fix_places(o, i);
        return load(o, i);
    case IR_STORE:
        fix_places(o, i);
        return store(o, i);
    case IR_COPY:
        fix_places(o, i);
        copy(o, i);
        return false;
    case IR_ZERO:
        fix_places(o, i);
        zero(o, i);
        return false;
    case IR_PULL:
        return pull(o, i);
    case IR_INDEX:
        return index_inside(o, i) || merge(o, i);
    case IR_CALL:
        kill_written(o, i->u.call);
        return opt_fold_call(o, i) || (mergeable(o, i) && merge(o, i));
    case IR_IF:
        forward_if(o, i);
        return false;
    case IR_LOOP:
        if (never_turns(o, i)) {
            witness_unreachable(o->witness, i->body);
            witness_unreachable(o->witness, i->other);
            o->changed = true;
            return true;
        }
        forward_loop(o, i);
        return false;
    case IR_BLOCK:
        forward_nested(o, i);
        return false;
    default:
        break;
    }
    if (i->op == IR_CONST || i->result_count != 1)
        return false;
    ir_value now = opt_simplify(o, i, &rule);
    note_constants(o);
    if (now != OPT_NONE) {
        opt_replace(o, i->result, now, rule);
        return true;
    }
    return mergeable(o, i) && merge(o, i);
}

static void cut_after(struct opt *o, struct ir_inst *i)
{
    struct ir_block rest = {.first = i->next};
    witness_unreachable(o->witness, &rest);
    while (i->next) {
        ir_remove(i->next);
        o->changed = true;
    }
}

static void forward_block(struct opt *o, struct ir_block *b)
{
    uint32_t number = o->block_count++, seen = o->seen_count;
    o->depth++;
    if (o->block_count > o->block_cap) {
        uint32_t cap = o->block_cap ? 2 * o->block_cap : 256;
        grow(o, &o->open, o->block_cap, cap, sizeof *o->open);
        o->block_cap = cap;
    }
    o->open[number] = true;
    for (struct ir_inst *i = b->first, *next; i; i = next) {
        next = i->next;
        for (uint32_t k = 0; k < i->operand_count; k++)
            i->operands[k] = resolve(o, i->operands[k]);
        if (take_apart(o, i, &next))
            continue;
        for (uint32_t k = 0; k < i->result_count; k++) {
            o->defs[i->result + k] = i;
            o->home[i->result + k] = number;
        }
        bool gone = is_gone(o, i);
        note_constants(o);
        next = i->next;
        if (gone) {
            ir_remove(i);
        } else if (opt_ends(i)) {
            cut_after(o, i);
            next = NULL;
        }
    }
    forget(o, seen);
    o->depth--;
    o->open[number] = false;
}

void opt_track(struct opt *o)
{
    enum { MAX_CELL = 192, MAX_SLOTS = 1 << 17 };
    const struct asl_code *c = o->code;
    o->slot_first = OPT_ARRAY(o, uint32_t, c->cell_count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->cell_count; i++) {
        uint32_t slots = ir_cell_slots(&c->cells[i]);
        bool other = c->cells[i].scope == IR_LOCAL && c->cells[i].layer != o->index;
        bool track = slots <= MAX_CELL && n + slots <= MAX_SLOTS && !other;
        o->slot_first[i] = track ? n : OPT_NONE;
        n += track ? slots : 0;
    }
    o->pulled_first = n;
    o->slot_count = n + c->layer_count;
    o->known = OPT_ARRAY(o, ir_value, o->slot_count);
    o->left = OPT_ARRAY(o, ir_value, o->slot_count);
    o->right = OPT_ARRAY(o, ir_value, o->slot_count);
    memset(o->known, 0xff, o->slot_count * sizeof *o->known);
}

void opt_forward(struct opt *o)
{
    opt_track(o);
    o->trail_count = o->seen_count = o->block_count = o->depth = 0;
    if (!o->buckets)
        grow(o, &o->buckets, 0, BUCKETS, sizeof *o->buckets);
    memset(o->buckets, 0, BUCKETS * sizeof *o->buckets);
    opt_values(o);
    for (uint32_t v = 0; v < o->value_cap; v++) {
        o->subst[v] = v;
        o->defs[v] = NULL;
        o->home[v] = 0;
        o->fact[v] = 0;
    }
    forward_block(o, &o->b.layer->body);
}
