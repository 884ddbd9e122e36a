/* SPDX-License-Identifier: Apache-2.0 */
/* emit_uniform.c: what is the same at all points by its operands alone: made of constants and
 * arguments by operations and functions that look at nothing else. A function in front of the
 * layers computes it, once for a grid, and leaves in words of its own what the rest of the text
 * reads. There it is one more argument. Both emitters write that function with what writes the
 * layers. */
#include "emit.h"

/* asl_emitted.uniform_words count from 0; of a value it is 1 more. */
enum { INSIDE = UINT32_MAX }; /* only that function needs it */

static bool operands_are(const struct emit *e, const struct ir_inst *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const struct ir_inst *d = e->defs[i->operands[k]];
        if (d->op != IR_CONST && d->op != IR_ARG && !e->uniform[d->result])
            return false;
    }
    return true;
}

static bool may_be(const struct emit *e, const struct ir_inst *i)
{
    if (i->result_count == 0 || !operands_are(e, i))
        return false;
    if (i->op != IR_CALL)
        return i->op > IR_CONST && i->op <= IR_SELECT;
    const struct ir_call *c = i->u.call;
    if (!ir_call_is_function(c))
        return false;
    /* a name of none is reported, at a point */
    return ir_call_effect(e->defs, i) == IR_EFFECT_NONE ||
           (emit_is_colour_change(c) && emit_colours_of(e, i) == EMIT_COLOURS_KNOWN);
}

/* In operations such as a sum. By and large: GPUs take some eight for a quotient or a root, and tens
 * for a function. */
static uint32_t cost(const struct ir_inst *i)
{
    const bool quotient = i->op == IR_FDIV || i->op == IR_FREM || i->op == IR_FSQRT ||
                          i->op == IR_IDIV || i->op == IR_IMOD;
    return i->op == IR_CALL ? 32 : quotient ? 8 : 1;
}

static void write_block(struct emit *e, const struct ir_block *b, const struct emit_uniform *by)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        const bool argument = i->op == IR_ARG;
        if ((argument || may_be(e, i)) && by->write(e, i) && !argument) {
            for (uint32_t k = 0; k < i->result_count; k++)
                e->uniform[i->result + k] = INSIDE;
            e->out->uniform_operations++;
            e->out->uniform_cost += cost(i);
        }
        write_block(e, i->body, by);
        write_block(e, i->other, by);
    }
}

/* Values that the layers read get their words. */
static void keep_block(struct emit *e, const struct ir_block *b, const struct emit_uniform *by)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        const bool inside = i->result_count > 0 && e->uniform[i->result];
        for (uint32_t k = 0; k < i->operand_count && !inside; k++) {
            uint32_t *word = &e->uniform[i->operands[k]];
            if (*word != INSIDE)
                continue;
            by->keep(e, i->operands[k], e->out->uniform_words++);
            *word = e->out->uniform_words;
        }
        keep_block(e, i->body, by);
        keep_block(e, i->other, by);
    }
}

void emit_uniform_layer(struct emit *e, const struct emit_uniform *by)
{
    const struct ir_layer *l = e->layer;
    e->uniforms[e->layer_index] = e->uniform =
        emit_alloc(e, l->value_count + 1u, sizeof *e->uniform);
    write_block(e, &l->body, by);
    keep_block(e, &l->body, by);
}

bool emit_is_uniform(const struct emit *e, const struct ir_inst *i)
{
    return e->uniform && i->result_count > 0 && e->uniform[i->result];
}

bool emit_uniform_word(const struct emit *e, ir_value v, uint32_t *word)
{
    *word = e->uniform[v] - 1;
    return e->uniform[v] && e->uniform[v] != INSIDE;
}
