/* SPDX-License-Identifier: Apache-2.0 */
/* ir_text.c: IR as text (docs/reference/asl_ir.md, Text). ir_read.c reads it back. */
#include "ir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct printer {
    const struct asl_code *code;
    const struct ir_layer *layer;
    struct text *out;
    const char **files;
    uint32_t file_count, file_cap, labels;
    unsigned depth;
};

static void quoted(struct text *out, const char *s)
{
    text_puts(out, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c < 32 || c == 127)
            text_printf(out, "\\x%02x", c);
        else
            text_append(out, s, 1);
    }
    text_puts(out, "\"");
}

static void type(struct printer *p, struct asl_type t)
{
    if (t.base == ASL_STRUCT) {
        uint32_t i = 0;
        while (i < p->code->struct_count && p->code->structs[i] != t.st)
            i++;
        text_printf(p->out, "struct:%u", i);
        if (t.array)
            text_printf(p->out, "[%d]", (int)t.array);
        return;
    }
    char buf[ASL_TYPE_TEXT_SIZE];
    const char *name = asl_type_text(t, buf, sizeof buf);
    if (t.base == ASL_CLOSURE) { /* one word */
        text_puts(p->out, "closure");
        name += strlen("closure color");
    }
    text_puts(p->out, name);
}

static void slot_value(struct text *out, enum ir_type t, union asl_slot k)
{
    if (t == IR_I)
        text_printf(out, "%d", (int)k.i);
    else if (t == IR_S)
        quoted(out, k.s);
    else if (t == IR_C)
        text_puts(out, "none");
    else if (isfinite(k.f))
        text_printf(out, "%.9g", (double)k.f);
    else
        text_printf(out, "bits:%08x", (unsigned)k.i);
}

static void place(struct printer *p, const struct ir_inst *i, const struct ir_place *at)
{
    text_printf(p->out, " %u[%u", at->cell, at->base);
    for (uint32_t k = 0; k < at->index_count; k++)
        text_printf(p->out, " + %u*v%u(%u)", at->index[k].stride, i->operands[at->index[k].operand],
                    at->index[k].count);
    text_puts(p->out, "]");
}

static uint32_t file_of(struct printer *p, const char *name)
{
    uint32_t i = p->file_count;
    while (i-- > 0)
        if (p->files[i] == name || strcmp(p->files[i], name) == 0)
            return i;
    if (p->file_count == p->file_cap) {
        uint32_t cap = p->file_cap ? 2 * p->file_cap : 16;
        const char **more = realloc((void *)p->files, cap * sizeof *more);
        if (!more) {
            p->out->failed = true;
            return 0;
        }
        p->files = more;
        p->file_cap = cap;
    }
    p->files[p->file_count] = name;
    return p->file_count++;
}

static void position(struct printer *p, const struct ir_inst *i)
{
    if (i->at.line)
        text_printf(p->out, " @%u:%u:%u", file_of(p, i->at.file), i->at.line, i->at.col);
}

static void indent(struct printer *p)
{
    for (unsigned i = 0; i < p->depth && i < 40; i++)
        text_puts(p->out, "  ");
}

static void block(struct printer *p, const struct ir_block *b);

static void braces(struct printer *p, const struct ir_block *b)
{
    text_puts(p->out, " {\n");
    p->depth++;
    block(p, b);
    p->depth--;
    indent(p);
    text_puts(p->out, "}");
}

static void call(struct printer *p, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    text_printf(p->out, " %s", c->name);
    if (c->callee < BI_COUNT)
        text_printf(p->out, "#%zu", (size_t)(c->overload - asl_builtin_at(c->callee)->overloads));
    text_puts(p->out, " ");
    type(p, c->type);
    text_printf(p->out, "%s fixed %u (", c->derivs ? " derivs" : "", c->fixed);
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        text_puts(p->out, k ? ", " : "");
        text_puts(p->out, a->written ? "!" : "");
        type(p, a->type);
        text_puts(p->out, a->derivs ? "'" : "");
        if (a->is_place) {
            place(p, i, &a->at);
            if (a->derivs)
                text_printf(p->out, " row %u", a->row);
            continue;
        }
        for (uint32_t v = 0; v < a->n * (a->derivs ? 3 : 1); v++)
            text_printf(p->out, " v%u", i->operands[a->first + v]);
    }
    text_puts(p->out, ")");
}

static void details(struct printer *p, const struct ir_inst *i)
{
    struct text *out = p->out;
    switch (i->op) {
    case IR_CONST:
        text_puts(out, " ");
        slot_value(out, (enum ir_type)p->layer->types[i->result], i->u.k);
        break;
    case IR_ARG:
    case IR_PULL:
        text_printf(out, " %u", i->u.number);
        break;
    case IR_STATE:
        text_printf(out, " %s", ir_state_names[i->u.number]);
        break;
    case IR_LOAD:
        place(p, i, &i->u.mem.from);
        break;
    case IR_STORE:
        place(p, i, &i->u.mem.to);
        text_printf(out, " v%u", i->operands[i->operand_count - 1]);
        break;
    case IR_COPY:
        place(p, i, &i->u.mem.to);
        place(p, i, &i->u.mem.from);
        text_printf(out, " %u", i->u.mem.count);
        break;
    case IR_ZERO:
        place(p, i, &i->u.mem.to);
        text_printf(out, " %u", i->u.mem.count);
        break;
    case IR_INDEX:
        text_printf(out, " v%u limit %u ", i->operands[0], i->u.index.limit);
        quoted(out, i->u.index.name);
        break;
    case IR_CALL:
        call(p, i);
        break;
    case IR_USERDATA:
        text_puts(out, " ");
        quoted(out, i->u.user.name);
        text_puts(out, " ");
        type(p, i->u.user.type);
        text_puts(out, i->u.user.derivs ? " derivs" : "");
        break;
    case IR_BREAK:
    case IR_CONTINUE:
        text_printf(out, " %u", i->u.target->mark);
        break;
    default:
        for (uint32_t k = 0; k < i->operand_count; k++)
            text_printf(out, " v%u", i->operands[k]);
    }
}

static void name(struct printer *p, const struct ir_inst *i)
{
    for (uint32_t k = 0; k < i->result_count; k++)
        text_printf(p->out, "v%u:%c ", i->result + k,
                    ir_type_letter((enum ir_type)p->layer->types[i->result + k]));
    text_printf(p->out, "%s%s", i->result_count ? "= " : "", ir_ops[i->op].name);
}

void ir_print_inst(const struct asl_code *c, uint32_t layer, const struct ir_inst *i,
                   struct text *out)
{
    struct printer p = {.code = c, .layer = &c->layers[layer], .out = out};
    name(&p, i);
    if (i->op == IR_LOOP || i->op == IR_BLOCK)
        text_printf(out, " %u", i->mark);
    else
        details(&p, i);
}

static void instruction(struct printer *p, struct ir_inst *i)
{
    indent(p);
    name(p, i);
    if (i->op == IR_LOOP || i->op == IR_BLOCK) {
        i->mark = p->labels++;
        text_printf(p->out, " %u", i->mark);
    } else {
        details(p, i);
    }
    position(p, i);
    if (i->body)
        braces(p, i->body);
    if (i->other && i->other->first) {
        text_puts(p->out, i->op == IR_IF ? " else" : " then");
        braces(p, i->other);
    }
    text_puts(p->out, "\n");
}

static void block(struct printer *p, const struct ir_block *b)
{
    for (struct ir_inst *i = b->first; i; i = i->next)
        instruction(p, i);
}

static void cell(struct printer *p, uint32_t index)
{
    static const char *const scopes[] = {"global", "param", "local"};
    const struct ir_cell *c = &p->code->cells[index];
    text_printf(p->out, "cell %u %s ", index, scopes[c->scope]);
    if (c->scope == IR_GLOBAL)
        text_puts(p->out, asl_global_name((enum asl_global)c->layer));
    else
        text_printf(p->out, "%u ", c->layer);
    if (c->scope != IR_GLOBAL)
        quoted(p->out, c->name);
    text_puts(p->out, " ");
    if (c->types)
        for (uint32_t i = 0; i < c->n; i++)
            text_printf(p->out, "%c", ir_type_letter((enum ir_type)c->types[i]));
    else
        text_printf(p->out, "%c %u", ir_type_letter(c->type), c->n);
    text_puts(p->out, c->derivs ? " derivs" : "");
    text_puts(p->out, c->observed ? " observed" : "");
    if (c->asl.base != ASL_UNKNOWN) {
        text_puts(p->out, " type ");
        type(p, c->asl);
    }
    text_puts(p->out, "\n");
}

static void structs(struct printer *p)
{
    for (uint32_t i = 0; i < p->code->struct_count; i++) {
        const struct asl_struct *st = p->code->structs[i];
        text_printf(p->out, "struct %u ", i);
        quoted(p->out, st->name);
        for (size_t k = 0; k < st->field_count; k++) {
            text_puts(p->out, " ");
            type(p, st->fields[k].type);
            text_puts(p->out, " ");
            quoted(p->out, st->fields[k].name);
        }
        text_puts(p->out, "\n");
    }
}

static void layer(struct printer *p, uint32_t index)
{
    const struct ir_layer *l = &p->code->layers[index];
    p->layer = l;
    p->labels = 0;
    text_printf(p->out, "layer %u ", index);
    quoted(p->out, l->name);
    text_puts(p->out, " ");
    quoted(p->out, l->shader);
    text_puts(p->out, l->runs ? " runs\n" : " dead\n");
    for (uint32_t i = 0; i < l->param_count; i++) {
        text_puts(p->out, "  param ");
        quoted(p->out, l->params[i].name);
        text_puts(p->out, " ");
        type(p, l->params[i].type);
        text_printf(p->out, "%s cell %u\n", l->params[i].output ? " output" : "",
                    l->params[i].cell);
    }
    text_puts(p->out, "{\n");
    p->depth = 1;
    block(p, &l->body);
    text_puts(p->out, "}\n");
}

void asl_code_print(const struct asl_code *c, struct text *out)
{
    struct text body = {0};
    struct printer p = {.code = c, .out = &body};
    structs(&p);
    for (uint32_t i = 0; i < c->cell_count; i++)
        cell(&p, i);
    for (uint32_t i = 0; i < c->arg_count; i++) {
        const struct ir_arg_slot *a = &c->args[i];
        text_printf(&body, "arg %u layer %u param %u slot %u %s%c ", i, a->layer, a->param, a->slot,
                    a->is_set ? "set " : "", ir_type_letter(a->type));
        slot_value(&body, a->type, a->value);
        text_puts(&body, "\n");
    }
    text_puts(&body, "entries");
    for (uint32_t i = 0; i < c->entry_count; i++)
        text_printf(&body, " %u", c->entries[i]);
    text_puts(&body, "\n");
    for (uint32_t i = 0; i < c->layer_count; i++)
        layer(&p, i);
    text_puts(out, "isophote-ir 1\ngroup ");
    quoted(out, c->name);
    text_puts(out, "\n");
    for (uint32_t i = 0; i < p.file_count; i++) {
        text_printf(out, "file %u ", i);
        quoted(out, p.files[i]);
        text_puts(out, "\n");
    }
    text_append(out, body.data ? body.data : "", body.len);
    out->failed = out->failed || body.failed;
    text_free(&body);
    free((void *)p.files);
}
