/* SPDX-License-Identifier: Apache-2.0 */
/* ir_faults.c: makes one mistake everywhere in finished code. */
#include "ir_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct breaker {
    struct ir_builder b;
    struct ir_inst **defs; /* of the layer's values */
};
typedef void break_function(struct breaker *k, struct ir_inst *i);

/* ---- walking --------------------------------------------------------------------------------- */

static void walk(struct breaker *k, struct ir_block *block, break_function *fn)
{
    for (struct ir_inst *i = block->first, *next; i; i = next) {
        next = i->next;
        if (i->body)
            walk(k, i->body, fn);
        if (i->other)
            walk(k, i->other, fn);
        fn(k, i);
    }
}

static void define(struct breaker *k, struct ir_inst *i)
{
    for (uint32_t r = 0; r < i->result_count; r++)
        k->defs[i->result + r] = i;
}

static void replace_in(struct ir_block *block, ir_value old, ir_value by)
{
    for (struct ir_inst *i = block->first; i; i = i->next) {
        for (uint32_t o = 0; o < i->operand_count; o++)
            if (i->operands[o] == old)
                i->operands[o] = by;
        if (i->body)
            replace_in(i->body, old, by);
        if (i->other)
            replace_in(i->other, old, by);
    }
}

static void replace(struct breaker *k, ir_value old, ir_value by)
{
    replace_in(&k->b.layer->body, old, by);
}

/* A new operation just before i. */
static ir_value before(struct breaker *k, struct ir_inst *i, enum ir_op op, enum ir_type type,
                       ir_value x, ir_value y, uint32_t operands)
{
    struct ir_inst *n = ir_inst_new(&k->b, op, operands, 1, type);
    n->at = i->at;
    n->operands[0] = x;
    if (operands > 1)
        n->operands[1] = y;
    ir_insert_before(i, n);
    return n->result;
}

static void swap(ir_value *a, ir_value *b)
{
    ir_value t = *a;
    *a = *b;
    *b = t;
}

static bool is_op(const struct ir_inst *i, enum ir_op op) { return i && i->op == op; }

/* The constant that a value is, NULL for others. */
static const union asl_slot *constant(const struct breaker *k, ir_value v)
{
    const struct ir_inst *d = k->defs[v];
    return is_op(d, IR_CONST) ? &d->u.k : NULL;
}

static bool same_place(const struct ir_place *a, const struct ir_place *b)
{
    return a->cell == b->cell && a->base == b->base && !a->index_count && !b->index_count;
}

/* ---- the mistakes ---------------------------------------------------------------------------- */

static void swapped_operands(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_FSUB || i->op == IR_ISUB)
        swap(&i->operands[0], &i->operands[1]);
}

static void swapped_division(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_IMOD)
        swap(&i->operands[0], &i->operands[1]);
}

static void swapped_choice(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_SELECT)
        swap(&i->operands[1], &i->operands[2]);
}

static void wrong_shift(struct breaker *k, struct ir_inst *i)
{
    if (i->op == IR_ISHL || i->op == IR_ISHR)
        i->operands[1] = before(k, i, IR_IAND, IR_I, i->operands[1], ir_const_i(&k->b, 15), 2);
}

static void lost_else(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_IF && i->other)
        i->other->first = i->other->last = NULL;
}

/* Is it the break of the loop's own condition: the first `if` of its body, or one in its second
 * block? Those stay, so that programs still end. */
static bool is_condition(const struct ir_inst *i)
{
    const struct ir_inst *loop = i->u.target, *f = i->in->owner;
    const struct ir_inst *first = loop->body ? loop->body->first : NULL;
    while (first && first->op != IR_IF)
        first = first->next;
    return f == first || (f && f->in == loop->other) || i->in == loop->other;
}

static void lost_break(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_BREAK && i->u.target->op == IR_LOOP && !is_condition(i))
        ir_remove(i);
}

static void continue_leaves(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_CONTINUE)
        i->op = IR_BREAK;
}

static void lost_return(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_RETURN)
        ir_remove(i);
}

static void less_or_equal(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_ILT || i->op == IR_FLT)
        i->op = i->op == IR_ILT ? IR_ILE : IR_FLE;
}

static void negated_compare(struct breaker *k, struct ir_inst *i)
{
    if (i->op != IR_FGE)
        return;
    ir_value less = before(k, i, IR_FLT, IR_I, i->operands[0], i->operands[1], 2);
    i->op = IR_IEQ;
    i->operands[0] = less;
    i->operands[1] = ir_const_i(&k->b, 0);
}

/* The load of `at` that stands before a store to it, when `store_hits` says so. */
static struct ir_inst *stale_load(struct ir_inst *at, bool indexed)
{
    bool stored = false;
    for (struct ir_inst *i = at->prev; i; i = i->prev) {
        if (i->op == IR_STORE && i->u.mem.to.cell == at->u.mem.from.cell)
            stored = stored || (indexed ? i->u.mem.to.index_count > 0
                                        : same_place(&i->u.mem.to, &at->u.mem.from));
        if (stored && i->op == IR_LOAD && same_place(&i->u.mem.from, &at->u.mem.from))
            return i;
    }
    return NULL;
}

static void stale_temporary(struct breaker *k, struct ir_inst *i)
{
    struct ir_inst *old = i->op == IR_LOAD ? stale_load(i, false) : NULL;
    if (old)
        replace(k, i->result, old->result);
}

static void missed_alias(struct breaker *k, struct ir_inst *i)
{
    struct ir_inst *old = i->op == IR_LOAD ? stale_load(i, true) : NULL;
    if (old)
        replace(k, i->result, old->result);
}

static void dead_store(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    bool read = false;
    if (i->op != IR_STORE || i->u.mem.to.index_count)
        return;
    for (struct ir_inst *n = i->next; n; n = n->next) {
        read = read || (n->op == IR_LOAD && same_place(&n->u.mem.from, &i->u.mem.to));
        if (n->op == IR_STORE && same_place(&n->u.mem.to, &i->u.mem.to)) {
            if (read)
                ir_remove(i);
            return;
        }
    }
}

static bool stores_to(const struct ir_block *b, const struct ir_place *p)
{
    for (const struct ir_inst *i = b->first; i; i = i->next)
        if ((i->op == IR_STORE && same_place(&i->u.mem.to, p)) ||
            (i->body && stores_to(i->body, p)) || (i->other && stores_to(i->other, p)))
            return true;
    return false;
}

static void hoisted_load(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    struct ir_inst *loop = i->in->owner;
    /* counters are left alone, so that programs still end: the second block writes them */
    if (i->op != IR_LOAD || i->u.mem.from.index_count || !is_op(loop, IR_LOOP) ||
        i->in != loop->body || !stores_to(loop->body, &i->u.mem.from) ||
        (loop->other && stores_to(loop->other, &i->u.mem.from)))
        return;
    ir_remove(i);
    ir_insert_before(loop, i);
}

static void lost_copy(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_COPY && i->u.mem.count > 1)
        i->u.mem.count--;
}

static void wrong_swizzle(struct breaker *k, struct ir_inst *i)
{
    struct ir_place *p = &i->u.mem.from;
    if (i->op == IR_LOAD && k->b.code->cells[p->cell].n == 3 && !p->index_count &&
        (p->base == 1 || p->base == 2))
        p->base = 3 - p->base;
}

static void wrong_fold(struct breaker *k, struct ir_inst *i)
{
    if (i->op != IR_FADD && i->op != IR_FSUB && i->op != IR_FMUL)
        return;
    const union asl_slot *a = constant(k, i->operands[0]), *b = constant(k, i->operands[1]);
    if (!a || !b)
        return;
    double x = (double)a->f, y = (double)b->f;
    double exact = i->op == IR_FADD ? x + y : i->op == IR_FSUB ? x - y : x * y;
    float r = (float)exact;
    if (fabs((double)r) > fabs(exact))
        r = nextafterf(r, 0);
    replace(k, i->result, ir_const_f(&k->b, r));
}

static void folded_product(struct breaker *k, struct ir_inst *i)
{
    if (i->op != IR_FMUL)
        return;
    for (int o = 0; o < 2; o++) {
        const union asl_slot *c = constant(k, i->operands[o]);
        if (c && c->f == 0)
            replace(k, i->result, ir_const_f(&k->b, 0));
    }
}

static void minus_zero(struct breaker *k, struct ir_inst *i)
{
    if (i->op == IR_FNEG)
        replace(k, i->result, before(k, i, IR_FSUB, IR_F, ir_const_f(&k->b, 0), i->operands[0], 2));
}

static void reciprocal(struct breaker *k, struct ir_inst *i)
{
    if (i->op != IR_FDIV)
        return;
    i->operands[1] = before(k, i, IR_FDIV, IR_F, ir_const_f(&k->b, 1), i->operands[1], 2);
    i->op = IR_FMUL;
    k->defs[i->operands[1]] = NULL;
}

static void reassociated(struct breaker *k, struct ir_inst *i)
{
    const struct ir_inst *first = i->op == IR_FADD ? k->defs[i->operands[0]] : NULL;
    if (!is_op(first, IR_FADD))
        return;
    ir_value right = before(k, i, IR_FADD, IR_F, first->operands[1], i->operands[1], 2);
    i->operands[0] = first->operands[0];
    i->operands[1] = right;
}

static void rounded_cast(struct breaker *k, struct ir_inst *i)
{
    if (i->op == IR_F2I)
        i->operands[0] = before(k, i, IR_FROUND, IR_F, i->operands[0], 0, 1);
}

static void missed_derivative(struct breaker *k, struct ir_inst *i)
{
    const struct ir_place *p = &i->u.mem.from;
    if (i->op != IR_LOAD || !k->b.code->cells[p->cell].derivs)
        return;
    if (p->base >= 2 * k->b.code->cells[p->cell].n)
        replace(k, i->result, ir_const_f(&k->b, 0));
}

static void swapped_derivative(struct breaker *k, struct ir_inst *i)
{
    struct ir_place *p = &i->u.mem.to;
    if (i->op != IR_STORE || !k->b.code->cells[p->cell].derivs)
        return;
    uint32_t n = k->b.code->cells[p->cell].n;
    if (p->base >= n)
        p->base = p->base >= 2 * n ? p->base - n : p->base + n;
}

static void index_limit(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_INDEX && i->u.index.limit > 1)
        i->u.index.limit--;
}

static void dropped_pull(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_PULL)
        ir_remove(i);
}

/* Called for the group's last layer only: pulls of its body move to the beginning. */
static void eager_pull(struct breaker *k, struct ir_inst *i)
{
    struct ir_block *body = &k->b.layer->body;
    if (i->op != IR_PULL || i->in == body)
        return;
    ir_remove(i);
    if (body->first)
        ir_insert_before(body->first, i);
    else
        ir_append(body, i);
}

static void argument_offset(struct breaker *k, struct ir_inst *i)
{
    const struct asl_code *c = k->b.code;
    if (i->op != IR_ARG || c->args[i->u.number].is_set)
        return;
    for (uint32_t n = i->u.number + 1; n < c->arg_count; n++)
        if (c->args[n].type == c->args[i->u.number].type && !c->args[n].is_set) {
            i->u.number = n;
            return;
        }
}

static void lost_userdata(struct breaker *k, struct ir_inst *i)
{
    if (i->op == IR_USERDATA)
        replace(k, i->result, ir_const_i(&k->b, 0));
}

static void merged_calls(struct breaker *k, struct ir_inst *i)
{
    if (i->op != IR_CALL || !i->operand_count || !i->result_count)
        return;
    for (struct ir_inst *p = i->prev; p; p = p->prev)
        if (p->op == IR_CALL && p->u.call->callee == i->u.call->callee &&
            p->operand_count == i->operand_count && p->result_count == i->result_count &&
            p->operands[0] == i->operands[0] && p->u.call->type.base == i->u.call->type.base) {
            for (uint32_t r = 0; r < i->result_count; r++)
                replace(k, i->result + r, p->result + r);
            return;
        }
}

static void lost_message(struct breaker *k, struct ir_inst *i)
{
    (void)k;
    if (i->op == IR_CALL && i->u.call->callee == BI_WARNING)
        ir_remove(i);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    struct asl_fault shown;
    break_function *fn;
} faults[] = {
#define IR_FAULT(function, name, text) {{name, text, NULL}, function},
#include "ir_faults.def"
#undef IR_FAULT
};
enum { FAULTS = sizeof faults / sizeof *faults };

const struct asl_fault *asl_fault_at(size_t index)
{
    return index < FAULTS ? &faults[index].shown : asl_device_fault_at(index - FAULTS);
}

const struct asl_fault *asl_fault_find(const char *name)
{
    const struct asl_fault *f;
    for (size_t i = 0; (f = asl_fault_at(i)) != NULL; i++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

static void break_layer(struct breaker *k, struct ir_layer *layer, break_function *fn)
{
    ir_builder_layer(&k->b, layer);
    k->defs = IR_ARRAY(&k->b, struct ir_inst *, layer->value_count + 1);
    walk(k, &layer->body, define);
    struct ir_inst **defs = k->defs;
    uint32_t known = layer->value_count;
    /* new values come while the mistake is made: those have no definition in the table */
    k->defs = IR_ARRAY(&k->b, struct ir_inst *, 4 * (size_t)known + 1024);
    memcpy(k->defs, defs, known * sizeof *defs);
    walk(k, &layer->body, fn);
}

enum status asl_code_break(struct asl_code *code, const char *fault, struct error *err)
{
    struct breaker k = {.b = {.arena = code->arena, .code = code, .err = err}};
    size_t f = 0;
    while (f < FAULTS && strcmp(faults[f].shown.name, fault) != 0)
        f++;
    if (f == FAULTS)
        return error_msg(err, STATUS_TYPE, "there is no mistake '%s'", fault);
    k.b.max_ops = 1u << 30;
    if (setjmp(k.b.fail))
        return k.b.status;
    for (uint32_t l = 0; l < code->layer_count; l++)
        if (code->layers[l].runs)
            break_layer(&k, &code->layers[l], faults[f].fn);
    return STATUS_OK;
}
