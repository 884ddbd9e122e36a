/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm_messages.c: setmessage() and getmessage() at a hit, as emit_messages.c has them. */
#include "emit_llvm.h"

void ll_messages_declare(struct llvm *l)
{
    for (uint32_t k = 0; k < l->e.message_count; k++) {
        struct emit_message *m = &l->e.messages[k];
        m->row = m->number == k ? l->rows : l->e.messages[m->number].row;
        if (m->number != k)
            continue;
        l->rows += 1 + emit_message_words(&l->e, k);
        text_printf(&l->resets, "%u ", m->row);
    }
}

/* What follows is done where the state is `id`, until ll_label of what is returned. */
static unsigned where(struct llvm *l, const char *state, uint32_t id)
{
    unsigned yes = ll_fresh_label(l), no = ll_fresh_label(l);
    ll_branch(l, ll_let(l, "icmp eq i32 %s, %u", state, id), yes, no);
    ll_label(l, yes);
    return no;
}

static void leave(struct llvm *l, unsigned out, unsigned next)
{
    ll_jump(l, out);
    ll_label(l, next);
}

static void set(struct llvm *l, const struct emit_message *m, const char *state)
{
    const struct ir_inst *i = m->inst;
    const struct ir_arg *v = emit_message_value(m);
    unsigned out = ll_fresh_label(l), no = where(l, state, 0);
    ll_store(l, "i32", TEXT("%u", m->host + 1), ll_row_at(l, "%st", m->row));
    for (uint32_t k = 0; k < v->n; k++)
        ll_store(l, "i32",
                 v->is_place ? ll_cell_load(l, i, &v->at, k, "i32")
                             : ll_int(l, i->operands[v->first + k]),
                 ll_row_at(l, "%st", m->row + 1 + k));
    leave(l, out, no);
    ll_surface_message(l, i, EMIT_NAMES, state);
    leave(l, out, out);
}

static void get(struct llvm *l, const struct emit_message *m, const char *state)
{
    const struct ir_inst *i = m->inst;
    const struct ir_arg *to = emit_message_value(m);
    const char *got = ll_slot(l, "i32", 1);
    unsigned out = ll_fresh_label(l);
    ll_store(l, "i32", "0", got);
    unsigned no = where(l, state, 0);
    ll_store(l, "i32", TEXT("%u", m->host + 1), ll_row_at(l, "%st", m->row));
    leave(l, out, no);
    for (uint32_t k = 0; k < l->e.message_count; k++) {
        const struct emit_message *by = &l->e.messages[k];
        const bool wrong = emit_message_is_error(m, by);
        if (by->number != m->number || (!wrong && !emit_message_sets(by)))
            continue;
        no = where(l, state, by->host + 1);
        if (wrong)
            ll_surface_message(l, i, EMIT_NAMES, state);
        for (uint32_t d = 0; !wrong && d < (to->derivs ? 3u : 1u); d++)
            for (uint32_t w = 0; w < to->n; w++)
                ll_cell_store(l, i, &to->at, d * to->row + w, "i32",
                              d ? "0" : ll_load(l, "i32", ll_row_at(l, "%st", m->row + 1 + w)));
        if (!wrong)
            ll_store(l, "i32", "1", got);
        leave(l, out, no);
    }
    leave(l, out, out);
    ll_set(l, i->result, ll_load(l, "i32", got));
}

bool ll_message(struct llvm *l, const struct ir_inst *i)
{
    if (i->u.call->callee == BI_GETMESSAGE && i->u.call->arg_count == 3) { /* of traced rays */
        ll_set(l, i->result, "0");
        return true;
    }
    const struct emit_message *m = emit_message_of(&l->e, i);
    if (m)
        (emit_message_sets(m) ? set : get)(l, m, ll_load(l, "i32", ll_row_at(l, "%st", m->row)));
    return m != NULL;
}
