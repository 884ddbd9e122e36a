/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm_flow.c: branches and loops. A surface's are LLVM's own; those of rows have masks. */
#include "emit_llvm.h"

/* ---- control flow --------------------------------------------------------------------------- */

void ll_region(struct llvm *l, const struct ir_block *b, unsigned mask)
{
    struct emit_region r = {.up = l->e.region, .block = b, .mask = mask};
    l->e.region = &r;
    if (b)
        ll_block(l, b);
    l->e.region = r.up;
}

static void shrink(struct llvm *l)
{
    ll_mask_drop(l, ll_mask_name(l, l->e.region->mask), "%off");
    l->e.region->shrunk = true;
}

/* The block, where any lane of the mask is left. */
static void region_if_any(struct llvm *l, const struct ir_block *b, unsigned mask)
{
    if (!b || !b->first)
        return;
    unsigned in = ll_fresh_label(l), out = ll_fresh_label(l);
    ll_branch(l, ll_mask_any(l, ll_mask_load(l, ll_mask_name(l, mask))), in, out);
    ll_label(l, in);
    ll_region(l, b, mask);
    ll_jump(l, out);
    ll_label(l, out);
}

/* ---- control flow of one lane: labels ------------------------------------------------------- */

static void if_one(struct llvm *l, const struct ir_inst *i)
{
    unsigned yes = ll_fresh_label(l), no = ll_fresh_label(l), out = ll_fresh_label(l);
    ll_branch(l, ll_condition(l, i->operands[0]), yes, no);
    ll_label(l, yes);
    ll_region(l, i->body, 0);
    ll_jump(l, out);
    ll_label(l, no);
    ll_region(l, i->other, 0);
    ll_jump(l, out);
    ll_label(l, out);
}

static void loop_one(struct llvm *l, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(&l->e, i);
    unsigned head = ll_fresh_label(l);
    l->e.loop_depth++;
    ll_jump(l, head);
    ll_label(l, head);
    ll_region(l, i->body, 0);
    L("br label %%cont%u\ncont%u:\n", id, id);
    ll_region(l, i->other, 0);
    l->e.loop_depth--;
    ll_surface_turn(l, id);
    ll_jump(l, head);
    L("out%u:\n", id);
}

static void block_one(struct llvm *l, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(&l->e, i);
    ll_region(l, i->body, 0);
    L("br label %%out%u\nout%u:\n", id, id);
}

/* What stands behind it in its block is not reached. */
static void leave_one(struct llvm *l, const struct ir_inst *i)
{
    if (i->op == IR_RETURN)
        L("ret void\n");
    else
        L("br label %%%s%u\n", i->op == IR_BREAK ? "out" : "cont", i->u.target->mark);
    ll_label(l, ll_fresh_label(l));
}

static void control_one(struct llvm *l, const struct ir_inst *i)
{
    switch (i->op) {
    case IR_IF:
        if_one(l, i);
        return;
    case IR_LOOP:
        loop_one(l, i);
        return;
    case IR_BLOCK:
        block_one(l, i);
        return;
    default:
        leave_one(l, i);
    }
}

/* ---- control flow of rows: masks ------------------------------------------------------------ */

static void if_(struct llvm *l, const struct ir_inst *i)
{
    const char *c = ll_condition(l, i->operands[0]), *up = ll_mask_now(l);
    if (l->e.region->test == i) {
        unsigned on = ll_fresh_label(l);
        const char *stays = emit_even_stays(i) ? c : ll_mask_not(l, c);
        ll_branch(l, ll_mask_any(l, ll_mask_and(l, up, stays)), on, l->e.region->out);
        ll_label(l, on);
        return;
    }
    unsigned yes = ll_mask_new(l), no = ll_mask_new(l);
    ll_store(l, l->b, ll_mask_and(l, up, c), ll_mask_name(l, yes));
    ll_store(l, l->b, ll_mask_and(l, up, ll_mask_not(l, c)), ll_mask_name(l, no));
    region_if_any(l, i->body, yes);
    region_if_any(l, i->other, no);
    if (emit_leaves(i->body, i) || emit_leaves(i->other, i))
        shrink(l);
}

/* Slots for the lanes that left by `break` and by `continue`. */
static void targets_new(struct llvm *l, uint32_t id)
{
    static const char *const names[] = {"out", "cont"};
    for (int k = 0; k < 2; k++) {
        text_printf(&l->slots, "%%%s%u = alloca %s, align 4\n", names[k], id, l->b);
        ll_store(l, l->b, "zeroinitializer", TEXT("%%%s%u", names[k], id));
    }
}

/* A turn of a loop: the layer returns when the budget is spent. */
static void turn(struct llvm *l, uint32_t id)
{
    const char *at = ll_let(l, "getelementptr i8, ptr %%run, i64 %d", RUN_TURNS);
    const char *n = ll_let(l, "add i32 %s, 1", ll_load(l, "i32", at));
    ll_store(l, "i32", n, at);
    const char *budget =
        ll_load(l, "i32", ll_let(l, "getelementptr i8, ptr %%run, i64 %d", RUN_BUDGET));
    unsigned spent = ll_fresh_label(l), on = ll_fresh_label(l);
    ll_branch(l, ll_let(l, "icmp ugt i32 %s, %s", n, budget), spent, on);
    ll_label(l, spent);
    ll_store(l, "i32", TEXT("%u", id + 1),
             ll_let(l, "getelementptr i8, ptr %%run, i64 %d", RUN_FAILED));
    L("ret void\n");
    ll_label(l, on);
}

/* A loop that all lanes leave together. */
static void even_loop(struct llvm *l, const struct ir_inst *i, const struct ir_inst *test,
                      uint32_t id)
{
    unsigned head = ll_fresh_label(l);
    struct emit_region r = {
        .up = l->e.region, .mask = l->e.region->mask, .test = test, .out = ll_fresh_label(l)};
    l->e.region = &r;
    ll_jump(l, head);
    ll_label(l, head);
    for (int k = 0; k < 2; k++) {
        r.block = k ? i->other : i->body;
        if (r.block)
            ll_block(l, r.block);
    }
    turn(l, id);
    ll_jump(l, head);
    ll_label(l, r.out);
    l->e.region = r.up;
}

static void loop(struct llvm *l, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(&l->e, i);
    const struct ir_inst *test = emit_even_test(&l->e, i);
    if (test) {
        even_loop(l, i, test, id);
        return;
    }
    unsigned in = ll_mask_new(l), body = ll_mask_new(l), other = ll_mask_new(l);
    const char *in_name = ll_mask_name(l, in), *cont = TEXT("%%cont%u", id);
    targets_new(l, id);
    ll_store(l, l->b, ll_mask_now(l), in_name);
    unsigned head = ll_fresh_label(l), again = ll_fresh_label(l), out = ll_fresh_label(l);
    ll_jump(l, head);
    ll_label(l, head);
    ll_store(l, l->b, ll_mask_load(l, in_name), ll_mask_name(l, body));
    ll_region(l, i->body, body);
    ll_mask_drop(l, "%off", cont);
    ll_store(l, l->b, "zeroinitializer", cont);
    ll_mask_drop(l, in_name, "%off");
    if (i->other && i->other->first) {
        ll_store(l, l->b, ll_mask_load(l, in_name), ll_mask_name(l, other));
        ll_region(l, i->other, other);
        ll_mask_drop(l, in_name, "%off");
    }
    ll_branch(l, ll_mask_any(l, ll_mask_load(l, in_name)), again, out);
    ll_label(l, again);
    turn(l, id);
    ll_jump(l, head);
    ll_label(l, out);
    ll_mask_drop(l, "%off", TEXT("%%out%u", id));
    if (emit_leaves(i->body, i) || emit_leaves(i->other, i))
        shrink(l);
}

static void block_(struct llvm *l, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(&l->e, i);
    unsigned in = ll_mask_new(l);
    targets_new(l, id);
    ll_store(l, l->b, ll_mask_now(l), ll_mask_name(l, in));
    ll_region(l, i->body, in);
    ll_mask_drop(l, "%off", TEXT("%%out%u", id));
    if (emit_leaves(i->body, i))
        shrink(l);
}

static void leave(struct llvm *l, const struct ir_inst *i)
{
    const char *m = ll_mask_now(l);
    ll_store(l, l->b, ll_mask_or(l, ll_mask_load(l, "%off"), m), "%off");
    if (i->op != IR_RETURN) {
        const char *to = TEXT("%%%s%u", i->op == IR_BREAK ? "out" : "cont", i->u.target->mark);
        ll_store(l, l->b, ll_mask_or(l, ll_mask_load(l, to), m), to);
    }
    ll_store(l, l->b, "zeroinitializer", ll_mask_name(l, l->e.region->mask));
    l->e.region->shrunk = true;
}

static void control(struct llvm *l, const struct ir_inst *i)
{
    switch (i->op) {
    case IR_IF:
        if_(l, i);
        return;
    case IR_LOOP:
        loop(l, i);
        return;
    case IR_BLOCK:
        block_(l, i);
        return;
    default:
        leave(l, i);
    }
}

void ll_control(struct llvm *l, const struct ir_inst *i)
{
    (ll_is_surface(l) ? control_one : control)(l, i);
}
