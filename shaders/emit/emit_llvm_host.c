/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm_host.c: what the host does: calls that no device has, what a shader says, and indices out
 * of range. */
#include "emit_llvm.h"

static void host_run(struct llvm *l, uint32_t id, const char *mask, const char *io, uint32_t words,
                     uint32_t rows)
{
    ll_declare(l, "void", "al_host", TEXT("ptr, i32, %s, ptr, i32, i32", l->i));
    L("call void @al_host(ptr %%run, i32 %u, %s %s, ptr %s, i32 %u, i32 %u)\n", id, l->i,
      ll_mask_ints(l, mask), io, words, rows);
}

/* Copies the rows of a call's places from the cells to io, or those written back. */
static void host_rows(struct llvm *l, const struct ir_inst *i, const char *io, uint32_t at,
                      bool back)
{
    const struct ir_call *c = i->u.call;
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        if (!a->is_place)
            continue;
        for (uint32_t d = 0; d < (a->derivs ? 3u : 1u); d++)
            for (uint32_t j = 0; j < a->n; j++, at++) {
                if (back && a->written)
                    ll_cell_store(l, i, &a->at, d * a->row + j, l->i,
                                  ll_load(l, l->i, ll_row_at(l, io, at)));
                else if (!back)
                    ll_store(l, l->i, ll_cell_load(l, i, &a->at, d * a->row + j, l->i),
                             ll_row_at(l, io, at));
            }
    }
}

/* The words of a message, as words_of has them (emit_surface.c). */
static const char *said(struct llvm *l, const struct ir_inst *i, uint32_t words,
                        enum emit_words which)
{
    const char *to = ll_slot(l, "i32", words);
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const bool kept = which == EMIT_ALL || l->e.layer->types[i->operands[k]] == IR_S;
        const char *word = kept ? ll_int(l, i->operands[k])
                           : emit_is_subimage(&l->e, i, k)
                               ? ll_let(l, "select i1 %s, i32 0, i32 -1", l->there)
                               : "0";
        ll_store(l, "i32", word, ll_row_at(l, to, 1 + k));
    }
    for (uint32_t k = 1 + i->operand_count; which == EMIT_NAMES && k < words; k++)
        ll_store(l, "i32", "0", ll_row_at(l, to, k));
    if (i->op == IR_CALL && which == EMIT_ALL)
        host_rows(l, i, to, 1 + i->operand_count, false);
    return to;
}

/* A word of the scene's, where the reply has come; else 0. */
static const char *reply_word(struct llvm *l, const char *reply, uint32_t k)
{
    ll_declare(l, "i32", "al_reply_word", "ptr, i32, i32");
    return ll_let(l, "call i32 @al_reply_word(ptr %%run, i32 %s, i32 %u)", reply, k);
}

/* emit_question of emit_surface.c. */
bool ll_surface_question(struct llvm *l, const struct ir_inst *i)
{
    if (!emit_can_ask(&l->e, i))
        return false;
    const struct ir_call *c = i->u.call;
    const uint32_t number = (uint32_t)l->e.out->host_count;
    const struct asl_emitted_host h = emit_message_table(&l->e, i, EMIT_ALL);
    const char *words = said(l, i, h.words, EMIT_ALL);
    (void)emit_reply_words(&l->e, i, number);
    ll_declare(l, "i32", "al_ask", "ptr, i32, i32, i32, i32, ptr");
    const char *reply =
        ll_let(l, "call i32 @al_ask(ptr %%run, i32 %zu, i32 %zu, i32 %u, i32 %u, ptr %s)", h.table,
               l->e.opt->first_message + h.table, h.copies, h.words, words);
    for (uint32_t k = 0; k < i->result_count; k++)
        ll_set_bits(l, i->result + k, reply_word(l, reply, k));
    unsigned yes = ll_fresh_label(l), no = ll_fresh_label(l);
    ll_branch(l, ll_let(l, "icmp ne i32 %s, 0", reply), yes, no);
    ll_label(l, yes);
    for (uint32_t k = 0, at = i->result_count; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t d = 0; a->is_place && a->written && d < (a->derivs ? 3u : 1u); d++)
            for (uint32_t j = 0; j < a->n; j++, at++)
                ll_cell_store(l, i, &a->at, d * a->row + j, "i32", reply_word(l, reply, at));
    }
    ll_jump(l, no);
    ll_label(l, no);
    return true;
}

void ll_surface_message(struct llvm *l, const struct ir_inst *i, enum emit_words which,
                        const char *last)
{
    const struct asl_emitted_host h = emit_message_table(&l->e, i, which);
    const char *words = said(l, i, h.words, which);
    if (last)
        ll_store(l, "i32", last, ll_row_at(l, words, h.words - 1));
    ll_declare(l, "void", "al_say", "ptr, i32, i32, i32, ptr");
    L("call void @al_say(ptr %%run, i32 %zu, i32 %u, i32 %u, ptr %s)\n",
      l->e.opt->first_message + h.table, h.copies, h.words, words);
}

void ll_host(struct llvm *l, const struct ir_inst *i)
{
    const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
    uint32_t words = i->operand_count > i->result_count ? i->operand_count : i->result_count;
    uint32_t rows = 0;
    for (uint32_t k = 0; c && k < c->arg_count; k++)
        if (c->args[k].is_place)
            rows += c->args[k].n * (c->args[k].derivs ? 3 : 1);
    uint32_t id = emit_host_number(&l->e, i);
    const char *io = ll_slot(l, l->i, words + rows + 1);
    for (uint32_t k = 0; k < i->operand_count; k++)
        ll_store(l, l->i, ll_int(l, i->operands[k]), ll_row_at(l, io, k));
    if (c)
        host_rows(l, i, io, words, false);
    host_run(l, id, ll_mask_now(l), io, words + rows, words);
    for (uint32_t k = 0; k < i->result_count; k++)
        ll_set_bits(l, i->result + k, ll_load(l, l->i, ll_row_at(l, io, k)));
    if (c)
        host_rows(l, i, io, words, true);
}

/* The host is asked only where something is to be reported. */
void ll_index(struct llvm *l, const struct ir_inst *i)
{
    const char *a = ll_int(l, i->operands[0]);
    ll_declare(l, l->i, "al_clamp_index", TEXT("%s, i32", l->i));
    const char *v =
        ll_let(l, "call %s @al_clamp_index(%s %s, i32 %u)", l->i, l->i, a, i->u.index.limit);
    ll_set(l, i->result, v);
    unsigned yes = ll_fresh_label(l), no = ll_fresh_label(l);
    if (ll_is_surface(l)) {
        ll_branch(l, ll_let(l, "icmp ne i32 %s, %s", v, a), yes, no);
        ll_label(l, yes);
        ll_surface_message(l, i, EMIT_ALL, NULL);
        ll_jump(l, no);
        ll_label(l, no);
        return;
    }
    uint32_t id = emit_host_number(&l->e, i);
    const char *bad = ll_mask_and(l, ll_mask_now(l), ll_let(l, "icmp ne %s %s, %s", l->i, v, a));
    const char *io = ll_slot(l, l->i, 2);
    ll_branch(l, ll_mask_any(l, bad), yes, no);
    ll_label(l, yes);
    ll_store(l, l->i, a, io);
    host_run(l, id, bad, io, 1, 1);
    ll_jump(l, no);
    ll_label(l, no);
}
