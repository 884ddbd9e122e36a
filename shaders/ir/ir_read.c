/* SPDX-License-Identifier: Apache-2.0 */
/* ir_read.c: the text form of IR, read back. The first mistake ends it, with file, line, column. */
#include "ir_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 1 << 23, MAX_LIST = 1 << 20 };

struct reader {
    struct ir_builder b;
    const char *file, *text, *p, *end, *line_start;
    uint32_t line;
    const char **files;
    uint32_t file_count, file_cap;
    struct asl_struct **structs;
    uint32_t struct_cap, layer_cap;
    struct ir_inst *targets[IR_MAX_NEST + 600]; /* loops and blocks around, with their labels */
    uint32_t labels[IR_MAX_NEST + 600];
    unsigned nest;
};

/* ---- words ---------------------------------------------------------------------------------- */

static struct src_pos here(const struct reader *r)
{
    return (struct src_pos){r->file, r->line, (uint32_t)(r->p - r->line_start) + 1};
}

static _Noreturn void expected(struct reader *r, const char *what)
{
    size_t n = 0;
    while (n < 40 && r->p + n < r->end && !strchr(" \t\r\n", r->p[n]))
        n++;
    if (n == 0)
        ir_fail(&r->b, STATUS_PARSE, here(r), "expected %s, found the end of the %s", what,
                r->p < r->end ? "line" : "text");
    ir_fail(&r->b, STATUS_PARSE, here(r), "expected %s, found '%.*s'", what, (int)n, r->p);
}

static void blanks(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r'))
        r->p++;
}

static void lines(struct reader *r)
{
    for (blanks(r); r->p < r->end && *r->p == '\n'; blanks(r)) {
        r->p++;
        r->line++;
        r->line_start = r->p;
    }
}

static void line_end(struct reader *r)
{
    blanks(r);
    if (r->p < r->end && *r->p != '\n')
        expected(r, "the end of the line");
    lines(r);
}

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

static size_t word_length(struct reader *r)
{
    blanks(r);
    size_t n = 0;
    while (r->p + n < r->end && letter(r->p[n]))
        n++;
    return n;
}

/* Takes the word if it is next. */
static bool take(struct reader *r, const char *word)
{
    size_t n = word_length(r);
    if (n != strlen(word) || strncmp(r->p, word, n) != 0)
        return false;
    r->p += n;
    return true;
}

static void need(struct reader *r, const char *word)
{
    if (!take(r, word))
        expected(r, word);
}

static bool take_char(struct reader *r, char c)
{
    blanks(r);
    if (r->p >= r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static void need_char(struct reader *r, char c)
{
    char what[] = {'\'', c, '\'', 0};
    if (!take_char(r, c))
        expected(r, what);
}

static uint32_t number(struct reader *r, const char *what)
{
    blanks(r);
    uint64_t x = 0;
    const char *p = r->p;
    for (; p < r->end && *p >= '0' && *p <= '9' && x <= UINT32_MAX; p++)
        x = 10 * x + (uint64_t)(*p - '0');
    if (p == r->p || x > UINT32_MAX)
        expected(r, what);
    r->p = p;
    return (uint32_t)x;
}

static uint32_t number_below(struct reader *r, uint32_t limit, const char *what)
{
    const char *at = r->p;
    uint32_t x = number(r, what);
    if (x >= limit) {
        r->p = at;
        blanks(r);
        expected(r, what);
    }
    return x;
}

static char *string(struct reader *r)
{
    blanks(r);
    if (r->p >= r->end || *r->p != '"')
        expected(r, "a text in quotes");
    const char *s = ++r->p;
    while (s < r->end && *s != '"' && *s != '\n')
        s += *s == '\\' && s + 1 < r->end ? 2 : 1;
    if (s >= r->end || *s != '"')
        expected(r, "a quote at the end of the text");
    char *out = IR_ARRAY(&r->b, char, (size_t)(s - r->p) + 1);
    size_t n = 0;
    for (; r->p < s; r->p++) {
        if (*r->p != '\\') {
            out[n++] = *r->p;
            continue;
        }
        r->p++;
        if (*r->p != 'x') {
            out[n++] = *r->p;
            continue;
        }
        int hi = r->p + 2 < s ? hex_digit(r->p[1]) : -1, lo = hi >= 0 ? hex_digit(r->p[2]) : -1;
        if (lo < 0 || hi * 16 + lo == 0)
            expected(r, "two hexadecimal digits after \\x, not 00");
        out[n++] = (char)(hi * 16 + lo);
        r->p += 2;
    }
    r->p++;
    return out;
}

static enum ir_type type_letter(struct reader *r)
{
    blanks(r);
    for (uint32_t t = IR_I; t <= IR_C && r->p < r->end; t++) {
        if (*r->p == ir_type_letter((enum ir_type)t)) {
            r->p++;
            return (enum ir_type)t;
        }
    }
    expected(r, "a type: i, f, s or c");
}

static void grow(struct reader *r, void *array, uint32_t count, uint32_t *cap, size_t size)
{
    void **p = array;
    if (count < *cap)
        return;
    uint32_t more = *cap ? 2 * *cap : 16;
    void *q = ir_alloc(&r->b, more, size);
    if (*p)
        memcpy(q, *p, count * size);
    *p = q;
    *cap = more;
}

/* ---- types and constants -------------------------------------------------------------------- */

static struct asl_type type(struct reader *r)
{
    static const struct {
        const char *name;
        enum asl_base base;
    } names[] = {{"void", ASL_VOID},      {"int", ASL_INT},       {"float", ASL_FLOAT},
                 {"color", ASL_COLOR},    {"point", ASL_POINT},   {"vector", ASL_VECTOR},
                 {"normal", ASL_NORMAL},  {"matrix", ASL_MATRIX}, {"string", ASL_STRING},
                 {"closure", ASL_CLOSURE}};
    struct asl_type t = {0};
    if (take(r, "struct")) {
        need_char(r, ':');
        t.base = ASL_STRUCT;
        t.st = r->structs[number_below(r, r->b.code->struct_count, "the number of a struct")];
    }
    for (size_t i = 0; !t.base && i < sizeof names / sizeof *names; i++)
        if (take(r, names[i].name))
            t.base = names[i].base;
    if (!t.base)
        expected(r, "a type");
    if (r->p < r->end && *r->p == '[') {
        r->p++;
        t.array = (int32_t)number_below(r, 1 << 24, "the length of an array");
        if (t.array == 0)
            expected(r, "the length of an array");
        need_char(r, ']');
    }
    size_t one = asl_type_slots(asl_element_type(t));
    if (t.array && one > UINT32_MAX / 4 / (size_t)t.array)
        expected(r, "a smaller type");
    return t;
}

static union asl_slot constant(struct reader *r, enum ir_type t)
{
    union asl_slot k = {.s = NULL};
    blanks(r);
    if (t == IR_S) {
        k.s = string(r);
        return k;
    }
    if (t == IR_C) {
        need(r, "none");
        return k;
    }
    char buf[64];
    size_t n = word_length(r);
    bool bits = t == IR_F && n == 4 && r->p + 4 < r->end && strncmp(r->p, "bits:", 5) == 0;
    if (bits) {
        r->p += 5;
        uint32_t w = 0;
        for (int i = 0; i < 8; i++, r->p++) {
            int d = r->p < r->end ? hex_digit(*r->p) : -1;
            if (d < 0)
                expected(r, "eight hexadecimal digits");
            w = w * 16 + (uint32_t)d;
        }
        memcpy(&k.f, &w, sizeof w);
        return k;
    }
    if (r->p + n < r->end && r->p[n] == '+') /* an exponent's */
        for (n++; r->p + n < r->end && letter(r->p[n]);)
            n++;
    if (n == 0 || n >= sizeof buf)
        expected(r, "a number");
    memcpy(buf, r->p, n);
    buf[n] = 0;
    char *end;
    errno = 0;
    if (t == IR_I) {
        long x = strtol(buf, &end, 10);
        if (*end || errno || x < INT32_MIN || x > INT32_MAX)
            expected(r, "a whole number of 32 bits");
        k.i = (int32_t)x;
    } else {
        k.f = strtof(buf, &end);
        if (*end || strpbrk(buf, "xXnNiI"))
            expected(r, "a number");
    }
    r->p += n;
    return k;
}

/* ---- instructions --------------------------------------------------------------------------- */

struct operands {
    ir_value *v;
    uint32_t count, cap;
};

static uint32_t add_operand(struct reader *r, struct operands *o)
{
    need_char(r, 'v');
    ir_value v = number_below(r, r->b.layer->value_count, "a value that was defined");
    grow(r, &o->v, o->count, &o->cap, sizeof *o->v);
    o->v[o->count] = v;
    return o->count++;
}

static struct ir_place place(struct reader *r, struct operands *o)
{
    struct ir_place p = {0};
    struct ir_index *list = NULL;
    uint32_t cap = 0;
    p.cell = number_below(r, r->b.code->cell_count, "a cell");
    need_char(r, '[');
    p.base = number(r, "a slot");
    while (take_char(r, '+')) {
        struct ir_index x = {.stride = number(r, "a stride")};
        need_char(r, '*');
        x.operand = add_operand(r, o);
        need_char(r, '(');
        x.count = number(r, "the number of steps");
        need_char(r, ')');
        grow(r, &list, p.index_count, &cap, sizeof *list);
        list[p.index_count++] = x;
    }
    need_char(r, ']');
    p.index = list;
    return p;
}

static uint32_t callee(struct reader *r, struct ir_call *c)
{
    char name[64];
    size_t n = word_length(r);
    if (n == 0 || n >= sizeof name)
        expected(r, "the name of a function");
    memcpy(name, r->p, n);
    name[n] = 0;
#define IR_CALL(id, text, sigs, meaning)                                                           \
    if (strcmp(name, text) == 0) {                                                                 \
        c->name = text;                                                                            \
        r->p += n;                                                                                 \
        return IRC_##id;                                                                           \
    }
#include "ir_calls.def"
#undef IR_CALL
    const struct asl_builtin *b = asl_builtin_row_of(name);
    if (!b)
        expected(r, "the name of a function");
    r->p += n;
    need_char(r, '#');
    c->overload = &b->overloads[number_below(r, (uint32_t)b->overload_count, "an overload")];
    c->name = b->name;
    return b->id;
}

static void argument(struct reader *r, struct ir_arg *a, struct operands *o)
{
    a->written = take_char(r, '!');
    a->type = type(r);
    a->derivs = take_char(r, '\'');
    a->n = (uint32_t)asl_type_slots(a->type);
    blanks(r);
    a->is_place = r->p < r->end && *r->p >= '0' && *r->p <= '9';
    if (a->is_place) {
        a->at = place(r, o);
        if (a->derivs) {
            need(r, "row");
            a->row = number(r, "the distance of rows");
        }
        return;
    }
    a->first = o->count;
    if (a->n > 64)
        expected(r, "a place");
    for (uint32_t k = 0; k < a->n * (a->derivs ? 3 : 1); k++)
        (void)add_operand(r, o);
}

static void call(struct reader *r, struct ir_inst *i, struct operands *o)
{
    struct ir_call *c = IR_ARRAY(&r->b, struct ir_call, 1);
    uint32_t cap = 0;
    c->callee = callee(r, c);
    c->type = type(r);
    c->derivs = take(r, "derivs");
    need(r, "fixed");
    c->fixed = number(r, "the number of fixed arguments");
    need_char(r, '(');
    while (!take_char(r, ')')) {
        if (c->arg_count)
            need_char(r, ',');
        grow(r, &c->args, c->arg_count, &cap, sizeof *c->args);
        argument(r, &c->args[c->arg_count++], o);
    }
    i->u.call = c;
}

static struct ir_inst *target(struct reader *r)
{
    uint32_t label = number(r, "the number of a loop or block");
    for (unsigned k = r->nest; k-- > 0;)
        if (r->targets[k] && r->labels[k] == label)
            return r->targets[k];
    expected(r, "the number of a loop or block around");
}

static uint32_t state(struct reader *r)
{
    for (uint32_t s = 0; s < IR_STATE_COUNT; s++)
        if (take(r, ir_state_names[s]))
            return s;
    expected(r, "the name of a state");
}

static void details(struct reader *r, struct ir_inst *i, struct operands *o)
{
    switch (i->op) {
    case IR_CONST:
        if (i->result_count != 1)
            expected(r, "one result");
        i->u.k = constant(r, (enum ir_type)r->b.layer->types[i->result]);
        break;
    case IR_ARG:
    case IR_PULL:
        i->u.number = number(r, "a number");
        break;
    case IR_STATE:
        i->u.number = state(r);
        break;
    case IR_LOAD:
        i->u.mem.from = place(r, o);
        break;
    case IR_STORE:
        i->u.mem.to = place(r, o);
        (void)add_operand(r, o);
        break;
    case IR_COPY:
        i->u.mem.to = place(r, o);
        i->u.mem.from = place(r, o);
        i->u.mem.count = number(r, "the number of slots");
        break;
    case IR_ZERO:
        i->u.mem.to = place(r, o);
        i->u.mem.count = number(r, "the number of slots");
        break;
    case IR_INDEX:
        (void)add_operand(r, o);
        need(r, "limit");
        i->u.index.limit = number(r, "the limit");
        i->u.index.name = string(r);
        break;
    case IR_CALL:
        call(r, i, o);
        break;
    case IR_USERDATA:
        i->u.user.name = string(r);
        i->u.user.type = type(r);
        i->u.user.derivs = take(r, "derivs");
        break;
    case IR_BREAK:
    case IR_CONTINUE:
        i->u.target = target(r);
        break;
    default:
        for (size_t k = strlen(ir_ops[i->op].operands); k > 0; k--)
            (void)add_operand(r, o);
    }
}

static void position(struct reader *r, struct ir_inst *i)
{
    if (!take_char(r, '@'))
        return;
    i->at.file = r->files[number_below(r, r->file_count, "the number of a file")];
    need_char(r, ':');
    i->at.line = number(r, "a line");
    need_char(r, ':');
    i->at.col = number(r, "a column");
}

static void block(struct reader *r, struct ir_block *b);

static void braces(struct reader *r, struct ir_block *b)
{
    need_char(r, '{');
    line_end(r);
    block(r, b);
    need_char(r, '}');
}

static void nested(struct reader *r, struct ir_inst *i, uint32_t label)
{
    if (r->nest >= sizeof r->labels / sizeof *r->labels)
        ir_fail(&r->b, STATUS_LIMIT, here(r), "blocks nest more than %zu deep",
                sizeof r->labels / sizeof *r->labels);
    r->targets[r->nest] = i->op == IR_IF ? NULL : i;
    r->labels[r->nest++] = label;
    i->body = ir_block_new(&r->b, i);
    if (i->op != IR_BLOCK)
        i->other = ir_block_new(&r->b, i);
    braces(r, i->body);
    if (i->other && take(r, i->op == IR_IF ? "else" : "then"))
        braces(r, i->other);
    r->nest--;
}

/* "v3:f v4:f =" */
static void results(struct reader *r, struct ir_inst *i)
{
    struct ir_layer *l = r->b.layer;
    for (; take_char(r, 'v'); i->result_count++) {
        uint32_t v = number_below(r, MAX_VALUES, "a value");
        if (i->result_count == 0)
            i->result = v;
        else if (v != i->result + i->result_count)
            expected(r, "the next value");
        need_char(r, ':');
        enum ir_type t = type_letter(r);
        while (l->value_count <= v)
            (void)ir_value_new(&r->b, t);
        l->types[v] = (uint8_t)t;
        if (i->result_count >= MAX_LIST)
            expected(r, "fewer results");
    }
    if (i->result_count)
        need_char(r, '=');
}

static void instruction(struct reader *r, struct ir_block *b)
{
    struct ir_inst *i = IR_ARRAY(&r->b, struct ir_inst, 1);
    struct operands o = {0};
    i->mark = r->line;
    uint32_t label = 0;
    results(r, i);
    i->op = IR_OP_COUNT;
    for (uint32_t k = 0; k < IR_OP_COUNT && i->op == IR_OP_COUNT; k++)
        if (take(r, ir_ops[k].name))
            i->op = (uint8_t)k;
    if (i->op == IR_OP_COUNT)
        expected(r, "an operation");
    bool labelled = i->op == IR_LOOP || i->op == IR_BLOCK;
    if (labelled)
        label = number(r, "a label");
    else
        details(r, i, &o);
    i->operands = o.v;
    i->operand_count = o.count;
    position(r, i);
    ir_append(b, i);
    if (labelled || i->op == IR_IF)
        nested(r, i, label);
    line_end(r);
}

static void block(struct reader *r, struct ir_block *b)
{
    for (lines(r); r->p < r->end && *r->p != '}'; blanks(r))
        instruction(r, b);
}

/* ---- tables --------------------------------------------------------------------------------- */

static void read_file_name(struct reader *r)
{
    if (number(r, "the file's number") != r->file_count)
        expected(r, "files in order");
    grow(r, &r->files, r->file_count, &r->file_cap, sizeof *r->files);
    r->files[r->file_count] = string(r);
    r->file_count++;
    line_end(r);
}

static void read_struct(struct reader *r)
{
    struct asl_code *c = r->b.code;
    struct asl_struct *st = IR_ARRAY(&r->b, struct asl_struct, 1);
    uint32_t cap = 0, count = 0;
    if (number(r, "the struct's number") != c->struct_count)
        expected(r, "structs in order");
    st->name = string(r);
    for (blanks(r); r->p < r->end && *r->p != '\n'; blanks(r)) {
        grow(r, &st->fields, count, &cap, sizeof *st->fields);
        struct asl_field *f = &st->fields[count++];
        f->type = type(r);
        f->name = string(r);
        f->offset = (uint32_t)st->slots;
        st->slots += asl_type_slots(f->type);
        if (asl_type_slots(f->type) == 0 || st->slots > 1u << 28)
            expected(r, "a field with slots, and not too many");
    }
    if (count == 0)
        expected(r, "a type and a name for each field");
    st->field_count = count;
    grow(r, &r->structs, c->struct_count, &r->struct_cap, sizeof *r->structs);
    r->structs[c->struct_count++] = st;
    c->structs = (const struct asl_struct *const *)r->structs;
    line_end(r);
}

/* "f 3", or a letter for each slot. */
static void cell_types(struct reader *r, struct ir_cell *c)
{
    blanks(r);
    const char *first = r->p;
    size_t n = word_length(r);
    c->type = type_letter(r);
    if (n == 1) {
        c->n = number(r, "the number of slots");
        return;
    }
    uint8_t *types = IR_ARRAY(&r->b, uint8_t, n);
    r->p = first;
    for (size_t k = 0; k < n; k++)
        types[k] = (uint8_t)type_letter(r);
    c->types = types;
    c->n = (uint32_t)n;
}

static void read_cell(struct reader *r)
{
    struct ir_cell c = {0};
    if (number(r, "the cell's number") != r->b.code->cell_count)
        expected(r, "cells in order");
    if (take(r, "global")) {
        for (uint32_t g = 0; g < GV_COUNT && !c.name; g++) {
            if (take(r, asl_global_name((enum asl_global)g))) {
                c.name = asl_global_name((enum asl_global)g);
                c.layer = g;
                r->b.code->global_cell[g] = r->b.code->cell_count;
            }
        }
        if (!c.name)
            expected(r, "the name of a global variable");
    } else {
        c.scope = take(r, "param") ? IR_PARAM : IR_LOCAL;
        if (c.scope == IR_LOCAL)
            need(r, "local");
        c.layer = number(r, "a layer");
        c.name = string(r);
    }
    cell_types(r, &c);
    c.derivs = take(r, "derivs");
    c.observed = take(r, "observed");
    if (take(r, "type"))
        c.asl = type(r);
    (void)ir_cell_new(&r->b, c);
    line_end(r);
}

static void read_arg(struct reader *r)
{
    struct ir_arg_slot a = {0};
    if (number(r, "the argument's number") != r->b.code->arg_count)
        expected(r, "arguments in order");
    need(r, "layer");
    a.layer = number(r, "a layer");
    need(r, "param");
    a.param = number(r, "a parameter");
    need(r, "slot");
    a.slot = number(r, "a slot");
    a.is_set = take(r, "set");
    a.type = type_letter(r);
    a.value = constant(r, a.type);
    (void)ir_arg_new(&r->b, a);
    line_end(r);
}

static void read_entries(struct reader *r)
{
    struct asl_code *c = r->b.code;
    uint32_t *list = NULL, cap = 0;
    for (blanks(r); r->p < r->end && *r->p != '\n'; blanks(r)) {
        grow(r, &list, c->entry_count, &cap, sizeof *list);
        list[c->entry_count++] = number(r, "a layer");
    }
    c->entries = list;
    line_end(r);
}

/* The list may lie elsewhere now, and each layer's block in it. */
static void layers_moved(struct asl_code *c)
{
    for (uint32_t k = 0; k < c->layer_count; k++)
        for (struct ir_inst *i = c->layers[k].body.first; i; i = i->next)
            i->in = &c->layers[k].body;
}

static void read_layer(struct reader *r)
{
    struct asl_code *c = r->b.code;
    const struct ir_layer *before = c->layers;
    if (number(r, "the layer's number") != c->layer_count)
        expected(r, "layers in order");
    grow(r, &c->layers, c->layer_count, &r->layer_cap, sizeof *c->layers);
    if (c->layers != before)
        layers_moved(c);
    struct ir_layer *l = &c->layers[c->layer_count++];
    uint32_t cap = 0;
    l->name = string(r);
    l->shader = string(r);
    l->runs = take(r, "runs");
    if (!l->runs)
        need(r, "dead");
    line_end(r);
    while (take(r, "param")) {
        grow(r, &l->params, l->param_count, &cap, sizeof *l->params);
        struct ir_param *p = &l->params[l->param_count++];
        p->name = string(r);
        p->type = type(r);
        p->output = take(r, "output");
        need(r, "cell");
        p->cell = number(r, "a cell");
        line_end(r);
    }
    r->b.layer = l;
    braces(r, &l->body);
    line_end(r);
}

static void read_all(struct reader *r)
{
    lines(r);
    need(r, "isophote-ir");
    if (number(r, "version 1") != 1)
        expected(r, "version 1");
    line_end(r);
    need(r, "group");
    r->b.code->name = string(r);
    line_end(r);
    while (r->p < r->end) {
        if (take(r, "file"))
            read_file_name(r);
        else if (take(r, "struct"))
            read_struct(r);
        else if (take(r, "cell"))
            read_cell(r);
        else if (take(r, "arg"))
            read_arg(r);
        else if (take(r, "entries"))
            read_entries(r);
        else if (take(r, "layer"))
            read_layer(r);
        else
            expected(r, "file, struct, cell, arg, entries or layer");
    }
}

enum status asl_code_read(struct arena *a, const char *file, const char *text, size_t size,
                          struct asl_code **out, struct error *err)
{
    return ir_read_lines(a, file, text, size, 1, out, err);
}

enum status ir_read_lines(struct arena *a, const char *file, const char *text, size_t size,
                          uint32_t line, struct asl_code **out, struct error *err)
{
    struct reader *r = calloc(1, sizeof *r);
    struct asl_code *code = ARENA_NEW(a, struct asl_code);
    char *name = arena_strdup(a, file);
    if (!r || !code || !name) {
        free(r);
        return error_msg(err, STATUS_MEMORY, "out of memory");
    }
    code->arena = a;
    for (uint32_t g = 0; g < GV_COUNT; g++)
        code->global_cell[g] = UINT32_MAX;
    r->file = name;
    r->p = r->line_start = r->text = text;
    r->end = text + size;
    r->line = line;
    r->b = (struct ir_builder){.arena = a, .code = code, .err = err, .max_ops = SIZE_MAX};
    enum status s = STATUS_OK;
    if (setjmp(r->b.fail))
        s = r->b.status;
    else
        read_all(r);
    free(r);
    if (s == STATUS_OK)
        s = ir_verify_text(code, name, err);
    if (s == STATUS_OK)
        *out = code;
    return s;
}
