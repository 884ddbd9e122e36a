/* SPDX-License-Identifier: Apache-2.0 */
/* opt.c: the order of the optimiser's passes, and what they saved. */
#include "opt.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 12 };

/* ---- shared --------------------------------------------------------------------------------- */

void *opt_scratch(struct opt *o, size_t count, size_t size)
{
    void *p = arena_alloc(&o->scratch, count, size, 0);
    if (!p)
        ir_fail(&o->b, STATUS_MEMORY, o->b.at, "out of memory");
    return p;
}

bool opt_has_loop(const struct ir_block *b)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next)
        if (i->op == IR_LOOP || opt_has_loop(i->body) || opt_has_loop(i->other))
            return true;
    return false;
}

bool opt_breaks_to(const struct ir_block *b, const struct ir_inst *target, enum ir_op op)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next)
        if ((i->op == op && i->u.target == target) || opt_breaks_to(i->body, target, op) ||
            opt_breaks_to(i->other, target, op))
            return true;
    return false;
}

bool opt_ends(const struct ir_inst *i)
{
    switch (i->op) {
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN:
        return true;
    case IR_IF:
        return opt_block_ends(i->body) && opt_block_ends(i->other);
    case IR_LOOP:
        return !opt_breaks_to(i->body, i, IR_BREAK) && !opt_breaks_to(i->other, i, IR_BREAK);
    case IR_BLOCK:
        return opt_block_ends(i->body) && !opt_breaks_to(i->body, i, IR_BREAK);
    default:
        return false;
    }
}

void opt_splice(struct ir_inst *i, struct ir_block *b)
{
    for (struct ir_inst *k = b->first, *next; k; k = next) {
        next = k->next;
        ir_insert_before(i, k);
    }
    ir_remove(i);
}

/* ---- counts --------------------------------------------------------------------------------- */

enum { USED = 1, DERIVED = 2 }; /* a cell's slots; those of its derivatives */

/* A global has its derivatives from the host: it keeps those that are read. */
static void use_place(const struct asl_code *c, uint8_t *used, const struct ir_place *p)
{
    const struct ir_cell *cell = &c->cells[p->cell];
    const bool read = cell->scope != IR_GLOBAL || p->base >= cell->n;
    used[p->cell] |= USED | (cell->derivs && read ? DERIVED : 0);
}

static size_t count_block(const struct asl_code *c, const struct ir_block *b, uint8_t *used)
{
    size_t n = 0;
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        n += i->op != IR_CONST;
        if (i->op == IR_LOAD || i->op == IR_COPY)
            use_place(c, used, &i->u.mem.from);
        if (i->op == IR_STORE || i->op == IR_COPY || i->op == IR_ZERO)
            use_place(c, used, &i->u.mem.to);
        for (uint32_t k = 0; i->op == IR_CALL && k < i->u.call->arg_count; k++)
            if (i->u.call->args[k].is_place)
                use_place(c, used, &i->u.call->args[k].at);
        n += count_block(c, i->body, used);
        n += count_block(c, i->other, used);
    }
    return n;
}

/* Instructions but constants; cells that they touch. */
static void count(struct opt *o, struct asl_code_counts *out)
{
    const struct asl_code *c = o->code;
    uint8_t *used = OPT_ARRAY(o, uint8_t, c->cell_count);
    for (uint32_t l = 0; l < c->layer_count; l++) {
        memset(used, 0, c->cell_count);
        out[l] = (struct asl_code_counts){.ops = count_block(c, &c->layers[l].body, used)};
        for (uint32_t k = 0; k < c->cell_count; k++)
            out[l].symbols += used[k] != 0;
        for (uint32_t k = 0; k < c->cell_count; k++)
            out[l].derivs += (used[k] & DERIVED) != 0;
        out[l].runs = c->layers[l].runs;
    }
}

struct asl_code_stats asl_code_stats(const struct asl_code *c, size_t layer)
{
    struct asl_code_stats s = {0};
    if (!c->before)
        return s;
    for (uint32_t l = 0; l < c->layer_count; l++) {
        if (layer != SIZE_MAX && layer != l)
            continue;
        s.ops_before += c->before[l].ops;
        s.ops_after += c->after[l].ops;
        s.symbols_before += c->before[l].symbols;
        s.symbols_after += c->after[l].symbols;
        s.derivs_before += c->before[l].derivs;
        s.derivs_after += c->after[l].derivs;
        s.layers_before += c->before[l].runs;
        s.layers_after += c->after[l].runs;
        s.moved += c->moved[l];
    }
    return s;
}

/* ---- rounds --------------------------------------------------------------------------------- */

static void end_pass(struct opt *o)
{
    arena_free(&o->scratch);
    o->known = o->left = o->right = NULL;
    o->slot_first = NULL;
}

static void begin_layer(struct opt *o, uint32_t l)
{
    o->index = l;
    ir_builder_layer(&o->b, &o->code->layers[l]);
    witness_layer(o->witness, l);
}

static void forward_layers(struct opt *o)
{
    for (uint32_t l = 0; l < o->code->layer_count; l++) {
        if (!o->code->layers[l].runs)
            continue;
        begin_layer(o, l);
        opt_forward(o);
        end_pass(o);
    }
}

/* From the last layer to the first: what a layer no longer reads, earlier ones need not write.
 * Large groups are surveyed once a round: what that misses, later rounds find. */
static void dead_layers(struct opt *o)
{
    enum { SURVEY_EACH = 64 };
    uint32_t n = o->code->layer_count;
    for (uint32_t l = n; l-- > 0;) {
        if (!o->code->layers[l].runs)
            continue;
        if (n <= SURVEY_EACH || !o->shared)
            opt_survey(o);
        begin_layer(o, l);
        opt_dead(o);
        end_pass(o);
    }
    o->changed = opt_dead_layers(o) || o->changed;
    o->shared = NULL;
    arena_free(&o->round);
    end_pass(o);
}

static bool moves_outward(const struct opt *o)
{
    bool loops = false;
    for (uint32_t l = 0; l < o->code->layer_count; l++)
        loops = loops || (o->code->layers[l].runs && opt_has_loop(&o->code->layers[l].body));
    return loops && !o->options->stay_in_loops;
}

static void outward_layers(struct opt *o)
{
    if (!moves_outward(o))
        return;
    witness_begin(o->witness, "outward");
    for (uint32_t l = 0; l < o->code->layer_count; l++) {
        if (!o->code->layers[l].runs)
            continue;
        begin_layer(o, l);
        o->moved[l] += opt_outward(o);
        end_pass(o);
    }
    witness_ir(o->witness, o->code);
}

static void rounds(struct opt *o)
{
    int n = o->options->level <= 0 ? 0 : o->options->level == 1 ? 1 : MAX_ROUNDS;
    o->changed = true;
    for (int r = 0; r < n && o->changed; r++) {
        o->changed = false;
        witness_begin(o->witness, "forward");
        forward_layers(o);
        witness_ir(o->witness, o->code);
        witness_begin(o->witness, "dead");
        dead_layers(o);
        witness_ir(o->witness, o->code);
        outward_layers(o);
    }
}

static void free_tables(struct opt *o)
{
    free((void *)o->defs);
    free(o->subst);
    free(o->home);
    free(o->fact);
    free(o->used);
    free(o->open);
    free(o->trail);
    free(o->seen);
    free(o->buckets);
    arena_free(&o->scratch);
    arena_free(&o->round);
    ir_fold_close(&o->fold);
}

enum status opt_run(struct asl_code *code, const struct asl_lower_options *opt,
                    const union asl_slot *values, struct error *err)
{
    struct opt *o = calloc(1, sizeof *o);
    if (!o)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    o->code = code;
    o->options = opt;
    o->values = values;
    o->fold.exact = values != NULL;
    o->witness = opt->witness;
    o->b = (struct ir_builder){.arena = code->arena, .code = code, .err = err, .max_ops = 1u << 30};
    o->b.witness = opt->witness;
    enum status s = STATUS_OK;
    if (setjmp(o->b.fail)) {
        s = o->b.status;
    } else {
        if (!values) { /* else it was counted as lowered */
            code->before = IR_ARRAY(&o->b, struct asl_code_counts, code->layer_count);
            count(o, code->before);
        }
        code->after = IR_ARRAY(&o->b, struct asl_code_counts, code->layer_count);
        o->moved = IR_ARRAY(&o->b, size_t, code->layer_count);
        for (uint32_t l = 0; code->moved && l < code->layer_count; l++)
            o->moved[l] = code->moved[l]; /* before the argument area was known */
        code->moved = o->moved;
        rounds(o);
        count(o, code->after);
    }
    free_tables(o);
    free(o);
    return s;
}
