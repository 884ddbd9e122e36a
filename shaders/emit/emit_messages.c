/* SPDX-License-Identifier: Apache-2.0 */
/* emit_messages.c: setmessage() and getmessage() where no host is at hand. The state holds for each
 * name who set it or asked for it in vain first: 1 + the host's number of the call, and the value.
 * Whether types agree, and layers' order, is known of any two calls. */
#include "emit.h"

#include <string.h>

const struct ir_arg *emit_message_value(const struct emit_message *m)
{
    return &m->inst->u.call->args[1];
}
bool emit_message_sets(const struct emit_message *m)
{
    return m->inst->u.call->callee == BI_SETMESSAGE;
}

bool emit_message_is_error(const struct emit_message *m, const struct emit_message *by)
{
    const bool same = asl_same_type(emit_message_value(by)->type, emit_message_value(m)->type);
    return !same || (emit_message_sets(by) && by->layer > m->layer);
}

static void message_add(struct emit *e, const struct ir_inst *i, const struct ir_inst **defs)
{
    const struct ir_call *c = i->u.call;
    const struct ir_inst *d = defs[i->operands[c->args[0].first]];
    if (!d || d->op != IR_CONST)
        emit_fail(e, STATUS_UNSUPPORTED, i->at,
                  "the name of %s() must be known when the shader is compiled for this device",
                  c->name);
    struct emit_message m = {.inst = i,
                             .name = d->u.k.s,
                             .layer = e->layer_index,
                             .host = emit_host_number(e, i),
                             .number = e->message_count};
    struct emit_message *list =
        emit_grow(e, e->messages, e->message_count, &e->messages_cap, sizeof *list);
    for (uint32_t k = e->message_count; k-- > 0;)
        m.number = strcmp(list[k].name, m.name) == 0 ? list[k].number : m.number;
    e->messages = list;
    list[e->message_count++] = m;
}

static void messages_collect(struct emit *e, const struct ir_block *b, const struct ir_inst **defs)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_CONST)
            defs[i->result] = i;
        if (i->op == IR_CALL && (i->u.call->callee == BI_SETMESSAGE ||
                                 (i->u.call->callee == BI_GETMESSAGE && i->u.call->arg_count == 2)))
            message_add(e, i, defs);
        messages_collect(e, i->body, defs);
        messages_collect(e, i->other, defs);
    }
}

/* The host must know of the message before it can complain of the next: its record. */
static void message_tell(struct emit *e, uint32_t number)
{
    struct text *t = &e->variants;
    text_printf(t,
                "K_FN void a_tell_%u(struct a_state *s)\n{\nif (s->told_%u) return;\ns->told_%u = "
                "1;\nswitch (s->message_%u) {\n",
                number, number, number, number);
    for (uint32_t k = 0; k < e->message_count; k++) {
        const struct emit_message *m = &e->messages[k];
        const struct ir_call *c = m->inst->u.call;
        const struct ir_arg *v = emit_message_value(m);
        if (m->number != number)
            continue;
        uint32_t words =
            3 + m->inst->operand_count + (v->is_place ? v->n * (v->derivs ? 3 : 1) : 0);
        text_printf(t,
                    "case %u: { K_GLOBAL uint *r = a_record(s, %uu, %uu);\nif (r) { for (uint k = "
                    "3u; k < %uu; k++) r[k] = 0u;\nr[%u] = %uu; } break; }\n",
                    m->host + 1, m->host, words, words, 3 + c->args[0].first,
                    emit_string_id(e, m->name));
    }
    text_puts(t, "default: break;\n}\n}\n");
}

uint32_t emit_message_words(const struct emit *e, uint32_t number)
{
    uint32_t n = 1;
    for (uint32_t j = number; j < e->message_count; j++)
        if (e->messages[j].number == number && emit_message_value(&e->messages[j])->n > n)
            n = emit_message_value(&e->messages[j])->n;
    return n;
}

void emit_messages_begin(struct emit *e)
{
    for (uint32_t l = 0; l < e->code->layer_count; l++) {
        const struct ir_layer *x = &e->code->layers[l];
        e->layer_index = l;
        messages_collect(e, &x->body,
                         emit_alloc(e, x->value_count + 1, sizeof(const struct ir_inst *)));
    }
}

void emit_messages_declare(struct emit *e)
{
    for (uint32_t k = 0; k < e->message_count; k++) {
        if (e->messages[k].number != k)
            continue;
        text_printf(&e->nodes, "uint message_%u, told_%u;\nai value_%u[%u];\n", k, k, k,
                    emit_message_words(e, k));
        text_printf(&e->resets, "s->message_%u = 0u;\ns->told_%u = 0u;\n", k, k);
        if (emit_is_grid(e))
            message_tell(e, k);
    }
}

static void message_error(struct emit *e, const struct emit_message *m)
{
    if (e->opt->surface) {
        emit_say(e, m->inst, EMIT_NAMES, emit_text(e, "s->message_%u", m->number));
        return;
    }
    EMIT("a_tell_%u(s);\n", m->number);
    emit_record(e, m->inst);
}

static void message_set(struct emit *e, const struct emit_message *m)
{
    const uint32_t id = m->host + 1;
    const struct ir_inst *i = m->inst;
    const struct ir_arg *v = emit_message_value(m);
    EMIT("if (s->message_%u == 0u) {\ns->message_%u = %uu;\n", m->number, m->number, id);
    for (uint32_t k = 0; k < v->n; k++) {
        const char *x =
            !v->is_place ? emit_bits(e, i->operands[v->first + k]) : emit_load(e, i, &v->at, k);
        bool bits = !v->is_place || emit_cell_is_int(e, v->at.cell);
        EMIT("s->value_%u[%u] = %s;\n", m->number, k, bits ? x : emit_text(e, "A_BITS(%s)", x));
    }
    EMIT("} else {\n");
    message_error(e, m);
    EMIT("}\n");
}

static void message_take(struct emit *e, const struct emit_message *m)
{
    const struct ir_arg *to = emit_message_value(m);
    for (uint32_t d = 0; d < (to->derivs ? 3u : 1u); d++)
        for (uint32_t k = 0; k < to->n; k++)
            emit_store(e, m->inst, &to->at, d * to->row + k, EMIT_INT,
                       d ? "A_I(0)" : emit_text(e, "s->value_%u[%u]", m->number, k));
    EMIT("got_%u = 1;\n", m->inst->result);
}

static void message_get(struct emit *e, const struct emit_message *m)
{
    uint32_t r = m->inst->result, id = m->host + 1;
    EMIT("int got_%u = 0;\nswitch (s->message_%u) {\ncase 0: s->message_%u = %uu; break;\n", r,
         m->number, m->number, id);
    for (uint32_t k = 0; k < e->message_count; k++) {
        const struct emit_message *by = &e->messages[k];
        const bool wrong = emit_message_is_error(m, by);
        if (by->number != m->number || (!wrong && !emit_message_sets(by)))
            continue;
        EMIT("case %u:\n", by->host + 1);
        if (wrong)
            message_error(e, m);
        else
            message_take(e, m);
        EMIT("break;\n");
    }
    EMIT("default: break;\n}\n");
    emit_set(e, r, "got_%u", r);
}

const struct emit_message *emit_message_of(const struct emit *e, const struct ir_inst *i)
{
    for (uint32_t k = 0; k < e->message_count; k++)
        if (e->messages[k].inst == i)
            return &e->messages[k];
    return NULL;
}

bool emit_message(struct emit *e, const struct ir_inst *i)
{
    const struct emit_message *m = emit_message_of(e, i);
    if (m)
        (emit_message_sets(m) ? message_set : message_get)(e, m);
    return m != NULL;
}
