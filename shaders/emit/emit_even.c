/* SPDX-License-Identifier: Apache-2.0 */
/* emit_even.c: loops that all lanes leave in the same turn: `for (int i = 0; i < octaves; i++)`
 * where octaves is a constant or a parameter and nothing else leaves the loop. Rows of points need
 * no mask of the lanes that are still in them.
 *
 * What is looked for: one test at the top of the body's instructions that leaves the loop, by a
 * value that counts: one made of constants, parameters' values and a counter. The counter is a cell
 * of one int that the loop's block sets to such a value before the loop, and that the loop changes
 * only where all of its lanes come by: then it is the same in all of them. */
#include "emit.h"

struct even {
    const struct emit *e;
    const struct ir_inst *loop;
    uint32_t counter;
    bool has_counter;
};

static bool at_top(const struct even *v, const struct ir_inst *i)
{
    return i->in == v->loop->body || i->in == v->loop->other;
}

static bool is_counter(const struct even *v, const struct ir_place *p)
{
    return v->has_counter && p->cell == v->counter;
}

/* Does the value count? The first cell that is met becomes the counter. */
static bool counts(struct even *v, ir_value value)
{
    const struct ir_inst *i = v->e->defs[value];
    if (!i)
        return false;
    if (i->op == IR_CONST || i->op == IR_ARG)
        return true;
    if (i->op == IR_LOAD) {
        const struct ir_cell *c = &v->e->code->cells[i->u.mem.from.cell];
        if (!at_top(v, i) || c->scope != IR_LOCAL || ir_cell_slots(c) != 1 ||
            ir_cell_type(c, 0) != IR_I)
            return false;
        if (!v->has_counter)
            v->counter = i->u.mem.from.cell;
        v->has_counter = true;
        return is_counter(v, &i->u.mem.from);
    }
    if (i->op < IR_IADD || i->op > IR_INE) /* operations on ints */
        return false;
    for (uint32_t k = 0; k < i->operand_count; k++)
        if (!counts(v, i->operands[k]))
            return false;
    return true;
}

static bool is_break(const struct ir_block *b, const struct ir_inst *loop)
{
    return b && b->first && b->first == b->last && b->first->op == IR_BREAK &&
           b->first->u.target == loop;
}

static bool is_empty(const struct ir_block *b) { return !b || !b->first; }

/* Does the instruction write the counter, other than by a value that counts, where all lanes are?
 */
static bool disturbs(struct even *v, const struct ir_inst *i)
{
    if (i->op == IR_STORE && is_counter(v, &i->u.mem.to))
        return !at_top(v, i) || !counts(v, i->operands[i->operand_count - 1]);
    if (i->op == IR_COPY || i->op == IR_ZERO)
        return is_counter(v, &i->u.mem.to);
    for (uint32_t k = 0; i->op == IR_CALL && k < i->u.call->arg_count; k++)
        if (i->u.call->args[k].is_place && is_counter(v, &i->u.call->args[k].at))
            return true;
    return false;
}

/* Do lanes stay together in the block, but for `test`? */
static bool together(struct even *v, const struct ir_block *b, const struct ir_inst *test)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i == test)
            continue;
        if ((i->op == IR_BREAK || i->op == IR_CONTINUE) && i->u.target == v->loop)
            return false;
        if (disturbs(v, i) || !together(v, i->body, test) || !together(v, i->other, test))
            return false;
    }
    return true;
}

static bool touched(struct even *v, const struct ir_block *b)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next)
        if (disturbs(v, i) || touched(v, i->body) || touched(v, i->other))
            return true;
    return false;
}

/* Does the loop's block set the counter before the loop, the same in all lanes? */
static bool starts(struct even *v)
{
    for (const struct ir_inst *i = v->loop->prev; i; i = i->prev) {
        if (i->op == IR_STORE && is_counter(v, &i->u.mem.to)) {
            const struct ir_inst *d = v->e->defs[i->operands[i->operand_count - 1]];
            return d && (d->op == IR_CONST || d->op == IR_ARG);
        }
        if (disturbs(v, i) || touched(v, i->body) || touched(v, i->other))
            return false;
    }
    return false;
}

const struct ir_inst *emit_even_test(const struct emit *e, const struct ir_inst *loop)
{
    if (emit_leaves(loop->body, loop) || emit_leaves(loop->other, loop))
        return NULL;
    const struct ir_inst *test = loop->body ? loop->body->first : NULL;
    while (test &&
           !(test->op == IR_IF && (is_break(test->body, loop) || is_break(test->other, loop))))
        test = test->next;
    if (!test || !(is_empty(test->body) || is_empty(test->other)))
        return NULL;
    struct even v = {.e = e, .loop = loop};
    bool even = counts(&v, test->operands[0]) && v.has_counter && starts(&v) &&
                together(&v, loop->body, test) && together(&v, loop->other, test);
    return even ? test : NULL;
}

bool emit_even_stays(const struct ir_inst *test) { return is_empty(test->body); }
