/* SPDX-License-Identifier: Apache-2.0 */
/* witness_moved.c: what a step that moves work out of loops has to show. It asks the texts before
 * and after the step alone, and shares no code with the optimiser. */
#include "witness_moved.h"

#include <string.h>

static bool wrong(struct witness_moved *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool wrong(struct witness_moved *m, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(m->message, sizeof m->message, fmt, ap);
    va_end(ap);
    return false;
}

/* ---- what a loop may write --------------------------------------------------------------------- */

/* Cells alone are looked at, and their slots where both places say which. */
static bool meets(const struct ir_place *a, uint32_t n, const struct ir_place *b, uint32_t count)
{
    if (a->cell != b->cell)
        return false;
    return a->index_count || b->index_count || (a->base < b->base + count && b->base < a->base + n);
}

static bool call_writes(const struct ir_call *c, const struct ir_place *p, uint32_t n)
{
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t row = 0; a->written && row < (a->derivs ? 3u : 1u); row++) {
            struct ir_place to = a->at;
            to.base += row * a->row;
            if (meets(&to, a->n, p, n))
                return true;
        }
    }
    return false;
}

static bool writes(const struct witness_moved *m, const struct ir_block *b,
                   const struct ir_place *p, uint32_t n)
{
    const struct ir_cell *cell = &m->before->cells[p->cell];
    const bool others =
        cell->scope == IR_GLOBAL || (cell->scope == IR_PARAM && cell->layer != m->layer);
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        bool found = false;
        if (i->op == IR_STORE)
            found = meets(&i->u.mem.to, 1, p, n);
        else if (i->op == IR_COPY || i->op == IR_ZERO)
            found = meets(&i->u.mem.to, i->u.mem.count, p, n);
        else if (i->op == IR_PULL)
            found = others;
        else if (i->op == IR_CALL)
            found = call_writes(i->u.call, p, n);
        if (found || writes(m, i->body, p, n) || writes(m, i->other, p, n))
            return true;
    }
    return false;
}

static bool loop_writes(const struct witness_moved *m, const struct ir_inst *loop,
                        const struct ir_place *p, uint32_t n)
{
    return writes(m, loop->body, p, n) || writes(m, loop->other, p, n);
}

/* ---- one that moved ---------------------------------------------------------------------------- */

static bool is_inside(const struct ir_inst *i, const struct ir_inst *loop)
{
    const struct ir_block *b = i->in;
    while (b && b->owner && b->owner != loop)
        b = b->owner->in;
    return b && b->owner == loop;
}

static bool call_may(struct witness_moved *m, const struct ir_inst *i, const struct ir_inst *loop)
{
    const struct ir_call *c = i->u.call;
    if (ir_call_effect(m->defs, i) != IR_EFFECT_NONE)
        return wrong(m, "v%u moved, and its call does more than give a value", i->result);
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t row = 0; a->is_place && row < (a->derivs ? 3u : 1u); row++) {
            struct ir_place p = a->at;
            p.base += row * a->row;
            if (loop_writes(m, loop, &p, a->n))
                return wrong(m, "v%u moved out of a loop that writes what it reads", i->result);
        }
    }
    return true;
}

/* i, as it stood before, to the front of the loop. */
static bool may_move(struct witness_moved *m, const struct ir_inst *i, const struct ir_inst *loop)
{
    if (!is_inside(i, loop))
        return wrong(m, "v%u moved, and not out of the loop that it stands before", i->result);
    if (i->op == IR_CALL)
        return call_may(m, i, loop);
    if (i->op == IR_LOAD && loop_writes(m, loop, &i->u.mem.from, 1))
        return wrong(m, "v%u moved out of a loop that writes what it reads", i->result);
    if (i->op != IR_LOAD && i->op != IR_ARG && i->op != IR_STATE &&
        (i->op <= IR_CONST || i->op > IR_SELECT))
        return wrong(m, "v%u moved, and %s may not", i->result, ir_ops[i->op].name);
    return true;
}

/* ---- the rest ---------------------------------------------------------------------------------- */

static bool has_moved(const struct witness_moved *m, const struct ir_inst *i)
{
    return i->result_count > 0 && m->moved[i->result];
}

static bool same_text(const struct witness_moved *m, const struct ir_inst *a,
                      const struct ir_inst *b)
{
    struct text before = {0}, after = {0};
    ir_print_inst(m->before, m->layer, a, &before);
    ir_print_inst(m->after, m->layer, b, &after);
    const bool same = before.len == after.len && !before.failed && !after.failed &&
                      memcmp(before.data, after.data, before.len) == 0;
    text_free(&before);
    text_free(&after);
    return same;
}

/* The first from i on that stays where it was. */
static struct ir_inst *staying(const struct witness_moved *m, struct ir_inst *i)
{
    while (i && has_moved(m, i))
        i = i->next;
    return i;
}

static bool compare(struct witness_moved *m, const struct ir_block *a, const struct ir_block *b,
                    uint32_t *labels)
{
    struct ir_inst *x = a ? staying(m, a->first) : NULL, *from = b ? b->first : NULL;
    while (x || from) {
        struct ir_inst *y = staying(m, from);
        if (!x != !y)
            return wrong(m, "an instruction came or went");
        for (const struct ir_inst *i = from; i && i != y; i = i->next) {
            if (!x || x->op != IR_LOOP)
                return wrong(m, "v%u moved, and not to the front of a loop", i->result);
            if (!same_text(m, m->defs[i->result], i))
                return wrong(m, "v%u moved and is another operation", i->result);
            if (!may_move(m, m->defs[i->result], x))
                return false;
        }
        if (!x)
            return true;
        if (x->op == IR_LOOP || x->op == IR_BLOCK)
            x->mark = y->mark = (*labels)++;
        if (!same_text(m, x, y))
            return wrong(m, "an instruction changed: %s", ir_ops[x->op].name);
        if (!compare(m, x->body, y->body, labels) || !compare(m, x->other, y->other, labels))
            return false;
        x = staying(m, x->next);
        from = y->next;
    }
    return true;
}

bool witness_moved_only(struct witness_moved *m)
{
    uint32_t labels = 0;
    return compare(m, &m->before->layers[m->layer].body, &m->after->layers[m->layer].body, &labels);
}
