/* SPDX-License-Identifier: Apache-2.0 */
/* module_bits.c: LLVM's bitcode, as its "LLVM Bitcode File Format" and the writers of the versions 9
 * to 19 have it: of what shaders are made of. Debug information and metadata are skipped. */
#include "module/module.h"

#include <string.h>

enum { /* blocks */
       BLOCK_INFO = 0,
       BLOCK_MODULE = 8,
       BLOCK_ATTRIBUTES = 9,
       BLOCK_ATTRIBUTE_GROUPS = 10,
       BLOCK_CONSTANTS = 11,
       BLOCK_FUNCTION = 12,
       BLOCK_SYMBOLS = 14,
       BLOCK_TYPES = 17,
       BLOCK_STRINGS = 23,
       TOP = 1000
};
enum {
    BLOCK_NESTING = 16,
    BLOCK_KINDS = 32,
    RECORD_MOST = 1 << 20,
    BY_VALUE = 3,
    VALUES = 1 << 20
};

struct abbreviation {
    struct field {
        uint8_t kind; /* 0: a literal; 1 fixed, 2 in parts, 3 an array, 4 a letter, 5 bytes */
        uint64_t value;
    } * fields;
    size_t count;
};

struct abbreviations {
    struct abbreviation *list;
    size_t count, cap;
};

struct copied { /* parameter `index` of calls and functions of this list is passed by value */
    uint64_t list, index;
    const struct module_type *type;
};

struct bits {
    struct module *m;
    struct asl_compile *c;
    const unsigned char *data;
    uint64_t at, end; /* in bits */
    struct abbreviations info[BLOCK_KINDS];
    struct asl_loc place;
    /* the record that was read */
    uint64_t *record;
    size_t count, record_cap;
    uint64_t code;
    const unsigned char *blob;
    size_t blob_size;
    /* the module */
    const char *strings;
    size_t strings_size;
    const struct module_type **types;
    size_t type_count, type_cap;
    struct module_value **values;
    size_t value_count, value_cap; /* those defined so far */
    size_t value_room;             /* of `values`, forward references too */
    struct copied *groups, *lists;
    size_t group_count, group_cap, list_count, list_cap, lists_read;
    const struct module_type *constant_type;
    size_t outside; /* values that are of no function */
    struct module_function **bodies;
    size_t body_count, body_cap, body_next;
    struct { /* initial values, once constants are known */
        struct module_global *g;
        uint64_t id;
    } * initials;
    size_t initial_count, initial_cap;
    /* the function */
    struct module_function *f;
    struct module_block *block;
    size_t block_at;
};

_Noreturn static void broken(struct bits *b, const char *what)
{
    module_refuse(b->m, b->place, NULL, "the bitcode is broken, or newer than is known: %s", what);
}

/* ---- bits ------------------------------------------------------------------------------------------ */

static uint64_t fixed(struct bits *b, unsigned n)
{
    uint64_t x = 0;
    if (n > 64 || b->end - b->at < n)
        broken(b, "it ends early");
    for (unsigned k = 0; k < n;) {
        unsigned shift = (unsigned)(b->at % 8), take = 8 - shift < n - k ? 8 - shift : n - k;
        x |= (uint64_t)(b->data[b->at / 8] >> shift & ((1u << take) - 1)) << k;
        k += take;
        b->at += take;
    }
    return x;
}

/* A number in parts of n bits, the upper one of which says that there are more. */
static uint64_t parts(struct bits *b, unsigned n)
{
    uint64_t x = 0;
    if (n < 2 || n > 32)
        broken(b, "a number in parts");
    for (unsigned k = 0; k < 70; k += n - 1) {
        uint64_t part = fixed(b, n), top = (uint64_t)1 << (n - 1);
        if (k < 64)
            x |= (part & (top - 1)) << k;
        if (!(part & top))
            return x;
    }
    broken(b, "a number of over 64 bits");
}

static void to_word(struct bits *b)
{
    b->at = (b->at + 31) / 32 * 32;
    if (b->at > b->end)
        broken(b, "it ends early");
}

static void put(struct bits *b, uint64_t x)
{
    if (b->count == RECORD_MOST)
        broken(b, "a record is too long");
    if (b->count == b->record_cap)
        b->record = asl_grow(b->c, b->record, b->count, &b->record_cap, b->count + 1, sizeof x);
    b->record[b->count++] = x;
}

static uint64_t scalar(struct bits *b, const struct field *f)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    switch (f->kind) {
    case 0:
        return f->value;
    case 1:
        return f->value ? fixed(b, (unsigned)f->value) : 0;
    case 2:
        return f->value ? parts(b, (unsigned)f->value) : 0;
    case 4:
        return (unsigned char)letters[fixed(b, 6)];
    default:
        broken(b, "an abbreviation");
    }
}

static void read_record(struct bits *b, const struct abbreviation *a)
{
    b->count = 0;
    b->blob = NULL;
    if (!a) {
        b->code = parts(b, 6);
        uint64_t n = parts(b, 6);
        for (uint64_t k = 0; k < n; k++)
            put(b, parts(b, 6));
        return;
    }
    for (size_t k = 0; k < a->count; k++) {
        const struct field *f = &a->fields[k];
        if (f->kind == 3) {
            uint64_t n = parts(b, 6);
            for (uint64_t e = 0; e < n; e++)
                put(b, scalar(b, &a->fields[k + 1]));
            k++;
        } else if (f->kind == 5) {
            uint64_t n = parts(b, 6);
            to_word(b);
            if (n > (b->end - b->at) / 8)
                broken(b, "it ends early");
            b->blob = b->data + b->at / 8;
            b->blob_size = (size_t)n;
            b->at += n * 8;
            to_word(b);
        } else {
            put(b, scalar(b, f));
        }
    }
    if (b->count == 0)
        broken(b, "a record without a code");
    b->code = b->record[0];
    memmove(b->record, b->record + 1, (b->count - 1) * sizeof *b->record);
    b->count--;
}

static void read_abbreviation(struct bits *b, struct abbreviations *to)
{
    uint64_t n = parts(b, 5);
    if (n == 0 || n > 1000)
        broken(b, "an abbreviation");
    struct abbreviation a = {ASL_ARRAY(b->c, struct field, n + 1), (size_t)n};
    for (size_t k = 0; k < n; k++) {
        struct field *f = &a.fields[k];
        if (fixed(b, 1)) {
            f->value = parts(b, 8);
            continue;
        }
        f->kind = (uint8_t)fixed(b, 3);
        if (f->kind == 0 || f->kind > 5)
            broken(b, "an abbreviation");
        if (f->kind <= 2)
            f->value = parts(b, 5);
        if (f->value > 64 || (f->kind == 3 && k + 2 != n) || (f->kind == 5 && k + 1 != n))
            broken(b, "an abbreviation");
    }
    if (a.count >= 2 && a.fields[a.count - 2].kind == 3 &&
        (a.fields[a.count - 1].kind == 3 || a.fields[a.count - 1].kind == 5))
        broken(b, "an abbreviation");
    to->list = asl_grow(b->c, to->list, to->count, &to->cap, to->count + 1, sizeof a);
    to->list[to->count++] = a;
}

static void record(struct bits *b, unsigned block);
static void block_begin(struct bits *b, unsigned block);
static void block_end(struct bits *b, unsigned block);

/* Names come last and are needed first: the file is read twice. */
static bool is_wanted(const struct bits *b, uint64_t inner, unsigned outer)
{
    if (!b->strings)
        return inner == BLOCK_STRINGS && outer == TOP;
    if (outer == TOP)
        return inner == BLOCK_MODULE;
    if (outer == BLOCK_FUNCTION)
        return inner == BLOCK_CONSTANTS || inner == BLOCK_SYMBOLS;
    return outer == BLOCK_MODULE &&
           (inner == BLOCK_INFO || inner == BLOCK_ATTRIBUTES || inner == BLOCK_ATTRIBUTE_GROUPS ||
            inner == BLOCK_CONSTANTS || inner == BLOCK_FUNCTION || inner == BLOCK_TYPES);
}

/* The records of a block, and the blocks in it. */
static void block(struct bits *b, unsigned id, unsigned width, unsigned depth)
{
    struct abbreviations known = {0};
    uint64_t info = UINT64_MAX;
    if (depth > BLOCK_NESTING)
        broken(b, "blocks nest too deeply");
    block_begin(b, id);
    for (size_t k = 0; id < BLOCK_KINDS && k < b->info[id].count; k++) {
        known.list = asl_grow(b->c, known.list, known.count, &known.cap, known.count + 1,
                              sizeof *known.list);
        known.list[known.count++] = b->info[id].list[k];
    }
    for (;;) {
        if (id == TOP && b->end - b->at < 32)
            return;
        uint64_t abbreviation = fixed(b, width);
        if (abbreviation == 0) {
            if (id == TOP)
                broken(b, "a block ends that did not begin");
            to_word(b);
            block_end(b, id);
            return;
        }
        if (abbreviation == 1) {
            uint64_t inner = parts(b, 8), inner_width = parts(b, 4);
            to_word(b);
            uint64_t size = fixed(b, 32) * 32;
            if (size > b->end - b->at || inner_width < 2 || inner_width > 32)
                broken(b, "a block's size");
            if (is_wanted(b, inner, id))
                block(b, (unsigned)inner, (unsigned)inner_width, depth + 1);
            else
                b->at += size;
        } else if (abbreviation == 2) {
            if (id != BLOCK_INFO)
                read_abbreviation(b, &known);
            else if (info < BLOCK_KINDS)
                read_abbreviation(b, &b->info[info]);
            else
                broken(b, "an abbreviation of no block");
        } else {
            if (abbreviation - 4 >= known.count && abbreviation != 3)
                broken(b, "an abbreviation that there is not");
            read_record(b, abbreviation == 3 ? NULL : &known.list[abbreviation - 4]);
            if (id == BLOCK_INFO && b->code == 1 && b->count)
                info = b->record[0];
            else if (id != BLOCK_INFO && id != TOP)
                record(b, id);
        }
    }
}

/* ---- types and values -------------------------------------------------------------------------------- */

static uint64_t operand(struct bits *b, size_t k)
{
    if (k >= b->count)
        broken(b, "a record is too short");
    return b->record[k];
}

static const struct module_type *type_at(struct bits *b, uint64_t id)
{
    if (id >= b->type_count)
        broken(b, "a type that there is not");
    return b->types[id];
}

static struct module_type *type_new(struct bits *b, enum module_type_kind kind)
{
    struct module_type *t = ASL_NEW(b->c, struct module_type);
    t->kind = kind;
    return t;
}

static void type_add(struct bits *b, const struct module_type *t)
{
    b->types = asl_grow(b->c, (void *)b->types, b->type_count, &b->type_cap, b->type_count + 1,
                        sizeof(struct module_type *));
    b->types[b->type_count++] = t;
}

/* Types from operand k on, which exist already: a type that holds itself does so by pointers. */
static void type_list(struct bits *b, struct module_type *t, size_t k)
{
    t->of = ASL_ARRAY(b->c, const struct module_type *, b->count - k + 1);
    for (; k < b->count; k++)
        t->of[t->count++] = type_at(b, b->record[k]);
}

static void type_record(struct bits *b)
{
    static const struct {
        uint64_t code;
        enum module_type_kind kind;
        const char *name;
    } plain[] = {{2, MODULE_VOID, "void"},          {3, MODULE_FLOAT, "float"},
                 {4, MODULE_OTHER, "double"},       {5, MODULE_LABEL, "label"},
                 {8, MODULE_POINTER, "ptr"},        {25, MODULE_POINTER, "ptr"},
                 {10, MODULE_OTHER, "half"},        {13, MODULE_OTHER, "x86_fp80"},
                 {14, MODULE_OTHER, "fp128"},       {15, MODULE_OTHER, "ppc_fp128"},
                 {16, MODULE_METADATA, "metadata"}, {17, MODULE_OTHER, "x86_mmx"},
                 {22, MODULE_OTHER, "token"},       {23, MODULE_OTHER, "bfloat"},
                 {24, MODULE_OTHER, "x86_amx"},     {26, MODULE_OTHER, "target type"}};
    struct module_type *t = NULL;
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
        if (plain[k].code == b->code) {
            t = type_new(b, plain[k].kind);
            t->name = plain[k].name;
        }
    if (b->code == 8) { /* to what: a function's record may have this type, not its own */
        t->of = ASL_ARRAY(b->c, const struct module_type *, 1);
        t->of[0] = operand(b, 0) < b->type_count ? b->types[b->record[0]] : NULL;
    }
    switch (b->code) {
    case 6: /* opaque */
        t = type_new(b, MODULE_STRUCT);
        t->opaque = true;
        break;
    case 7:
        t = type_new(b, MODULE_INT);
        t->bits = (uint32_t)operand(b, 0);
        if (operand(b, 0) == 0 || operand(b, 0) > 1u << 24)
            broken(b, "an int's size");
        break;
    case 11:
    case 12:
        t = type_new(b, b->code == 12 ? MODULE_VECTOR : MODULE_ARRAY);
        t->of = ASL_ARRAY(b->c, const struct module_type *, 1);
        t->count = operand(b, 0);
        t->of[0] = type_at(b, operand(b, 1));
        if (b->code == 12 && (t->count == 0 || b->count > 2 ||
                              (t->of[0]->kind != MODULE_INT && t->of[0]->kind != MODULE_FLOAT)))
            module_refuse(b->m, b->place, NULL, "vectors are of ints or floats here");
        break;
    case 18:
    case 20:
        t = type_new(b, MODULE_STRUCT);
        t->packed = operand(b, 0) != 0;
        type_list(b, t, 1);
        break;
    case 21:
        t = type_new(b, MODULE_FUNCTION);
        t->variadic = operand(b, 0) != 0;
        t->result = type_at(b, operand(b, 1));
        type_list(b, t, 2);
        break;
    default:
        if (!t && b->code != 1 && b->code != 19)
            broken(b, "a kind of type");
    }
    if (t)
        type_add(b, t);
}

static struct module_value *value_new(struct bits *b, enum module_value_kind kind,
                                      const struct module_type *t)
{
    struct module_value *v = ASL_NEW(b->c, struct module_value);
    v->kind = (uint8_t)kind;
    v->type = t;
    v->at = b->place;
    return v;
}

static void room_for(struct bits *b, uint64_t id)
{
    if (id >= VALUES)
        broken(b, "a value's number");
    if (id < b->value_room)
        return;
    size_t cap = b->value_cap;
    b->values = asl_grow(b->c, b->values, b->value_room, &cap, (size_t)id + 1,
                         sizeof(struct module_value *));
    memset(b->values + b->value_room, 0, (cap - b->value_room) * sizeof *b->values);
    b->value_cap = b->value_room = cap;
}

/* The value of that number, of that type; it may be defined later. */
static struct module_value *value_at(struct bits *b, uint64_t id, const struct module_type *t)
{
    if (t && t->kind == MODULE_METADATA)
        return value_new(b, VALUE_METADATA, t);
    room_for(b, id);
    if (!b->values[id]) {
        if (!t)
            broken(b, "a value that there is not");
        struct module_value *v = value_new(b, VALUE_UNKNOWN, t);
        v->name = asl_sprintf(b->c, "value %llu", (unsigned long long)id);
        b->values[id] = v;
    }
    if (t && !module_same_type(b->values[id]->type, t))
        broken(b, "a value of another type than is expected");
    return b->values[id];
}

static struct module_value *define(struct bits *b, const struct module_value *v)
{
    size_t id = b->value_count;
    room_for(b, id);
    struct module_value *kept = b->values[id];
    if (kept && (kept->kind != VALUE_UNKNOWN || !module_same_type(kept->type, v->type)))
        broken(b, "a value that is used as another");
    if (!kept)
        kept = b->values[id] = ASL_NEW(b->c, struct module_value);
    *kept = *v;
    if (!kept->name)
        kept->name = asl_sprintf(b->c, "value %zu", id);
    b->value_count++;
    return kept;
}

/* A record has no more operands than numbers. */
static void op_add(struct bits *b, struct module_value *v, struct module_value *op)
{
    if (!v->ops)
        v->ops = ASL_ARRAY(b->c, struct module_value *, b->count + 1);
    v->ops[v->count++] = op;
}

static int64_t with_sign(uint64_t x) { return x & 1 ? -(int64_t)(x >> 1) : (int64_t)(x >> 1); }

/* ---- constants ------------------------------------------------------------------------------------------ */

static void constant_bits(struct bits *b, struct module_value *v, const struct module_type *t,
                          uint64_t x)
{
    if (t->kind == MODULE_INT && t->bits <= 64)
        v->bits = t->bits == 64 ? x : x & (((uint64_t)1 << t->bits) - 1);
    else if (t->kind == MODULE_FLOAT)
        v->bits = (uint32_t)x;
    else
        module_refuse(b->m, b->place, NULL, "a constant of type %s, which ASL does not have",
                      module_type_text(b->c, t));
    v->kind = t->kind == MODULE_INT ? VALUE_INT : VALUE_FLOAT;
}

static void list_constant(struct bits *b, struct module_value *v, bool text)
{
    const struct module_type *t = v->type;
    bool zero = text && b->code == 9;
    v->kind = VALUE_AGGREGATE;
    if (b->count + zero != t->count || !t->of)
        broken(b, "a constant of parts");
    v->ops = ASL_ARRAY(b->c, struct module_value *, b->count + 1);
    v->count = b->count + zero;
    for (size_t k = 0; k < v->count; k++) {
        const struct module_type *of = module_element(t, k);
        if (!of)
            broken(b, "a constant of parts");
        if (b->code == 7) {
            v->ops[k] = value_at(b, b->record[k], of);
        } else {
            v->ops[k] = value_new(b, VALUE_INT, of);
            constant_bits(b, v->ops[k], of, k < b->count ? b->record[k] : 0);
        }
    }
}

static void gep_constant(struct bits *b, struct module_value *v)
{
    bool flags = b->code == 24 || b->code == 32;
    size_t k = flags ? 2 : b->count % 2;
    if (k == 0 || v->type->kind != MODULE_POINTER)
        broken(b, "an address");
    v->kind = VALUE_INSTRUCTION;
    v->op = OPCODE_GEP;
    v->id = UINT32_MAX;
    v->of = type_at(b, operand(b, 0));
    for (; k + 1 < b->count; k += 2)
        op_add(b, v, value_at(b, b->record[k + 1], type_at(b, b->record[k])));
    if (v->count == 0 || v->ops[0]->type->kind != MODULE_POINTER)
        broken(b, "an address");
}

static void constant_record(struct bits *b, const struct module_type **t)
{
    if (b->code == 1) {
        *t = type_at(b, operand(b, 0));
        return;
    }
    if (!*t)
        broken(b, "a constant without a type");
    struct module_value v = *value_new(b, VALUE_ZERO, *t);
    switch (b->code) {
    case 2: /* 0, undef, poison */
        if ((*t)->kind == MODULE_INT && (*t)->bits <= 64)
            v.kind = VALUE_INT;
        break;
    case 3:
    case 26:
        break;
    case 4: {
        uint64_t x = operand(b, 0); /* 1 is the smallest int of 64 bits */
        constant_bits(b, &v, *t, x == 1 ? (uint64_t)1 << 63 : (uint64_t)with_sign(x));
        break;
    }
    case 6:
        constant_bits(b, &v, *t, operand(b, 0));
        break;
    case 7:
    case 8:
    case 9:
    case 22:
        list_constant(b, &v, b->code == 8 || b->code == 9);
        break;
    case 11:
        v.op = operand(b, 0) == 12 ? OPCODE_ADDRSPACECAST : OPCODE_BITCAST;
        if (b->record[0] != 11 && b->record[0] != 12)
            module_refuse(b->m, b->place, NULL, "no such constant is taken here");
        v.kind = VALUE_INSTRUCTION;
        v.id = UINT32_MAX;
        op_add(b, &v, value_at(b, operand(b, 2), type_at(b, operand(b, 1))));
        break;
    case 12:
    case 20:
    case 24:
    case 32:
        gep_constant(b, &v);
        break;
    default:
        module_refuse(b->m, b->place, NULL, "no such constant is taken here");
    }
    (void)define(b, &v);
}

/* ---- the module's records --------------------------------------------------------------------------------- */

/* Attributes by groups and lists of them: of these, what is passed by value. */
static void attribute_group(struct bits *b)
{
    size_t k = 2;
    while (b->code == 3 && k < b->count) {
        uint64_t kind = b->record[k++];
        if (kind == 3 || kind == 4) {
            for (uint64_t texts = kind - 2; texts && k < b->count; k++)
                texts -= b->record[k] == 0;
        } else if (kind == 0 || kind == 5) {
            k++;
        } else if (kind == 1) {
            k += 2;
        } else if (kind == 6) {
            if (operand(b, k) == BY_VALUE) {
                struct copied x = {operand(b, 0), operand(b, 1), type_at(b, operand(b, k + 1))};
                b->groups = asl_grow(b->c, b->groups, b->group_count, &b->group_cap,
                                     b->group_count + 1, sizeof x);
                b->groups[b->group_count++] = x;
            }
            k += 2;
        } else {
            return; /* ranges of ints, which are never so passed */
        }
    }
}

static void attribute_list(struct bits *b)
{
    if (b->code != 2)
        return;
    b->lists_read++;
    for (size_t k = 0; k < b->count; k++)
        for (size_t g = 0; g < b->group_count; g++) {
            struct copied x = b->groups[g];
            if (x.list != b->record[k])
                continue;
            x.list = b->lists_read;
            b->lists =
                asl_grow(b->c, b->lists, b->list_count, &b->list_cap, b->list_count + 1, sizeof x);
            b->lists[b->list_count++] = x;
        }
}

static const char *name_of(struct bits *b)
{
    uint64_t at = operand(b, 0), size = operand(b, 1);
    if (at > b->strings_size || size > b->strings_size - at)
        broken(b, "a name");
    char *name = ASL_ARRAY(b->c, char, size + 2);
    name[0] = '@';
    memcpy(name + 1, b->strings + at, (size_t)size);
    return name;
}

static void global_record(struct bits *b)
{
    struct module_global *g = ASL_NEW(b->c, struct module_global);
    struct module_value v = *value_new(b, VALUE_GLOBAL, type_new(b, MODULE_POINTER));
    v.name = name_of(b);
    v.global = g;
    g->name = v.name + 1;
    g->at = b->place;
    g->type = type_at(b, operand(b, 2));
    g->constant = operand(b, 3) & 1;
    if (!(operand(b, 3) & 2))
        broken(b, "a variable without a type");
    if (operand(b, 4)) {
        b->initials = asl_grow(b->c, b->initials, b->initial_count, &b->initial_cap,
                               b->initial_count + 1, sizeof *b->initials);
        b->initials[b->initial_count].g = g;
        b->initials[b->initial_count++].id = b->record[4] - 1;
    }
    struct module *m = b->m;
    m->globals = asl_grow(b->c, m->globals, m->global_count, &m->global_cap, m->global_count + 1,
                          sizeof(struct module_global *));
    m->globals[m->global_count++] = g;
    (void)define(b, &v);
}

static void function_record(struct bits *b)
{
    struct module_function *f = ASL_NEW(b->c, struct module_function);
    struct module_value v = *value_new(b, VALUE_FUNCTION, type_new(b, MODULE_POINTER));
    const struct module_type *t = type_at(b, operand(b, 2));
    uint64_t linkage = operand(b, 5), list = operand(b, 6);
    if (t->kind == MODULE_POINTER && t->of && t->of[0])
        t = t->of[0];
    if (t->kind != MODULE_FUNCTION)
        broken(b, "a function's type");
    v.name = name_of(b);
    v.function = f;
    f->name = v.name + 1;
    f->at = b->place;
    f->type = t;
    f->defined = operand(b, 4) == 0;
    f->external = linkage != 3 && linkage != 9 && linkage != 13 && linkage != 14;
    f->parameters = ASL_ARRAY(b->c, struct module_parameter, t->count + 1);
    for (size_t k = 0; k < b->list_count; k++)
        if (b->lists[k].list == list && b->lists[k].index >= 1 && b->lists[k].index <= t->count)
            f->parameters[b->lists[k].index - 1].by_value = b->lists[k].type;
    struct module *m = b->m;
    m->functions = asl_grow(b->c, m->functions, m->function_count, &m->function_cap,
                            m->function_count + 1, sizeof(struct module_function *));
    m->functions[m->function_count++] = f;
    if (f->defined) {
        b->bodies = asl_grow(b->c, b->bodies, b->body_count, &b->body_cap, b->body_count + 1,
                             sizeof(struct module_function *));
        b->bodies[b->body_count++] = f;
    }
    (void)define(b, &v);
}

static void module_record(struct bits *b)
{
    char layout[256] = "-";
    switch (b->code) {
    case 1:
        if (operand(b, 0) < 2)
            broken(b, "it is of a version before 5");
        return;
    case 3:
        for (size_t k = 0; k < b->count && k < sizeof layout - 2; k++)
            layout[k + 1] = (char)b->record[k];
        if (strncmp(layout, "-E", 2) == 0)
            module_refuse(b->m, b->place, NULL, "a big-endian target is not taken");
        if (strstr(layout, "-p:32"))
            b->m->pointer_bits = 32;
        if (strstr(layout, "-i64:32"))
            b->m->long_align = 4;
        return;
    case 4:
        module_refuse(b->m, b->place, NULL, "assembly of the module is not taken");
    case 7:
        global_record(b);
        return;
    case 8:
        function_record(b);
        return;
    case 9:
    case 14:
    case 15:
        module_refuse(b->m, b->place, NULL, "a second name of a thing is not taken");
    default:
        return;
    }
}

/* ---- functions ---------------------------------------------------------------------------------------------- */

/* The value that operand k says how far back it stands, of that type. */
static struct module_value *back(struct bits *b, size_t k, const struct module_type *t)
{
    return value_at(b, (uint32_t)((uint32_t)b->value_count - (uint32_t)operand(b, k)), t);
}

/* The same, with its type behind it where it is defined later. */
static struct module_value *pair(struct bits *b, size_t *k)
{
    uint32_t id = (uint32_t)b->value_count - (uint32_t)operand(b, *k);
    (*k)++;
    if (id < b->value_count)
        return value_at(b, id, NULL);
    return value_at(b, id, type_at(b, operand(b, (*k)++)));
}

static struct module_block *block_at(struct bits *b, uint64_t k)
{
    if (k >= b->f->block_count)
        broken(b, "a block of a function that there is not");
    return b->f->blocks[k];
}

static void target(struct bits *b, struct module_value *v, uint64_t k)
{
    if (!v->to)
        v->to = ASL_ARRAY(b->c, struct module_block *, b->count + 1);
    v->to[v->to_count++] = block_at(b, k);
}

static void declare_blocks(struct bits *b)
{
    struct module_function *f = b->f;
    uint64_t n = operand(b, 0);
    if (f->blocks || n == 0 || n > 1u << 16)
        broken(b, "the number of blocks");
    f->blocks = ASL_ARRAY(b->c, struct module_block *, n);
    f->block_count = (size_t)n;
    for (size_t k = 0; k < n; k++) {
        f->blocks[k] = ASL_NEW(b->c, struct module_block);
        f->blocks[k]->name = asl_sprintf(b->c, "block %zu", k);
        f->blocks[k]->at = b->place;
    }
    b->block = f->blocks[0];
    b->block_at = 0;
}

static uint32_t align_of(uint64_t log2)
{
    return log2 == 0 ? 0 : log2 == 1 ? 1 : log2 == 2 ? 2 : 4;
}

static void call_record(struct bits *b, struct module_value *v)
{
    uint64_t flags = operand(b, 1);
    v->op = OPCODE_CALL;
    size_t k = flags >> 17 & 1 ? 3 : 2;
    if (!(flags >> 15 & 1))
        broken(b, "a call without a type");
    const struct module_type *t = type_at(b, operand(b, k++));
    v->callee = pair(b, &k);
    if (v->callee->kind != VALUE_FUNCTION || t->kind != MODULE_FUNCTION)
        module_refuse(b->m, b->place, NULL, "a call of what is known when the shader runs");
    v->of = t;
    v->type = t->result;
    if (t->variadic || b->count - k != t->count)
        module_refuse(b->m, b->place, NULL, "a call of any number of arguments");
    for (uint64_t p = 0; p < t->count; p++, k++)
        op_add(b, v, back(b, k, t->of[p]));
    v->align = 1; /* of memcpy: attributes tell it, which are not read */
}

static const struct module_type *part_type(struct bits *b, struct module_value *v, size_t k)
{
    const struct module_type *t = v->ops[0]->type;
    uint32_t *list = ASL_ARRAY(b->c, uint32_t, b->count + 1);
    if (t->kind == MODULE_VECTOR || k == b->count)
        broken(b, "indices of a part");
    for (; k < b->count; k++) {
        list[v->index_count++] = (uint32_t)b->record[k];
        t = b->record[k] < UINT32_MAX ? module_element(t, b->record[k]) : NULL;
        if (!t)
            broken(b, "indices of a part");
    }
    v->indices = list;
    return t;
}

static void shuffle(struct bits *b, struct module_value *v, size_t k)
{
    op_add(b, v, back(b, k++, v->ops[0]->type));
    const struct module_value *mask = pair(b, &k);
    const struct module_type *t = mask->type, *from = v->ops[0]->type;
    if (from->kind != MODULE_VECTOR || t->kind != MODULE_VECTOR || t->of[0]->kind != MODULE_INT ||
        (mask->kind != VALUE_ZERO && mask->kind != VALUE_AGGREGATE))
        broken(b, "a mask");
    (void)module_scalars(b->m, t, b->place);
    uint32_t *list = ASL_ARRAY(b->c, uint32_t, t->count + 1);
    for (size_t e = 0; e < t->count && mask->kind == VALUE_AGGREGATE; e++)
        list[e] = mask->ops[e]->kind == VALUE_INT ? (uint32_t)mask->ops[e]->bits : 0;
    v->indices = list;
    v->index_count = (size_t)t->count;
    struct module_type *made = type_new(b, MODULE_VECTOR);
    made->of = ASL_ARRAY(b->c, const struct module_type *, 1);
    made->of[0] = from->of[0];
    made->count = t->count;
    v->type = made;
}

static const struct module_type *bit_type(struct bits *b, const struct module_type *as)
{
    struct module_type *bit = type_new(b, MODULE_INT);
    bit->bits = 1;
    if (as->kind != MODULE_VECTOR)
        return bit;
    struct module_type *t = type_new(b, MODULE_VECTOR);
    t->of = ASL_ARRAY(b->c, const struct module_type *, 1);
    t->of[0] = bit;
    t->count = as->count;
    return t;
}

static void terminator(struct bits *b, struct module_value *v)
{
    size_t k = 0;
    if (b->code == 10) {
        v->op = OPCODE_RET;
        if (b->count)
            op_add(b, v, pair(b, &k));
    } else if (b->code == 11) {
        v->op = OPCODE_BR;
        target(b, v, operand(b, 0));
        if (b->count >= 3) {
            target(b, v, operand(b, 1));
            op_add(b, v, back(b, 2, bit_type(b, v->type)));
        }
    } else if (b->code == 12) {
        const struct module_type *t = type_at(b, operand(b, 0));
        v->op = OPCODE_SWITCH;
        op_add(b, v, back(b, 1, t));
        target(b, v, operand(b, 2));
        for (k = 3; k + 1 < b->count; k += 2) {
            op_add(b, v, value_at(b, b->record[k], t));
            target(b, v, b->record[k + 1]);
        }
    } else {
        v->op = OPCODE_UNREACHABLE;
    }
}

static void cast(struct bits *b, struct module_value *v, size_t k)
{
    static const uint8_t ops[] = {OPCODE_TRUNC,  OPCODE_ZEXT,   OPCODE_SEXT,  OPCODE_FPTOUI,
                                  OPCODE_FPTOSI, OPCODE_UITOFP, OPCODE_SITOFP};
    uint64_t op = operand(b, k + 1);
    v->type = type_at(b, operand(b, k));
    if (op < sizeof ops)
        v->op = ops[op];
    else if (op == 11 || op == 12)
        v->op = op == 11 ? OPCODE_BITCAST : OPCODE_ADDRSPACECAST;
    else
        module_refuse(b->m, b->place, NULL, "a conversion of doubles, or of pointers and ints");
}

static void binary(struct bits *b, struct module_value *v, size_t k)
{
    static const uint8_t ints[] = {OPCODE_ADD,  OPCODE_SUB,  OPCODE_MUL, OPCODE_UDIV, OPCODE_SDIV,
                                   OPCODE_UREM, OPCODE_SREM, OPCODE_SHL, OPCODE_LSHR, OPCODE_ASHR,
                                   OPCODE_AND,  OPCODE_OR,   OPCODE_XOR};
    static const uint8_t floats[] = {OPCODE_FADD, OPCODE_FSUB, OPCODE_FMUL, 0,
                                     OPCODE_FDIV, 0,           OPCODE_FREM};
    v->type = v->ops[0]->type;
    op_add(b, v, back(b, k, v->type));
    uint64_t op = operand(b, k + 1);
    const struct module_type *t = v->type->kind == MODULE_VECTOR ? v->type->of[0] : v->type;
    bool is_int = t->kind == MODULE_INT;
    if (op >= (is_int ? sizeof ints : sizeof floats) || (!is_int && !floats[op]))
        broken(b, "an operation");
    v->op = is_int ? ints[op] : floats[op];
}

static void compare(struct bits *b, struct module_value *v, size_t k)
{
    op_add(b, v, back(b, k, v->ops[0]->type));
    uint64_t p = operand(b, k + 1);
    v->type = bit_type(b, v->ops[0]->type);
    v->op = p >= 32 ? OPCODE_ICMP : OPCODE_FCMP;
    if (p > 41 || (p > 15 && p < 32))
        broken(b, "a predicate");
    v->predicate = (uint8_t)(p & 31);
}

static void phi(struct bits *b, struct module_value *v)
{
    v->op = OPCODE_PHI;
    v->type = type_at(b, operand(b, 0));
    for (size_t k = 1; k + 1 < b->count; k += 2) {
        uint32_t id = (uint32_t)b->value_count - (uint32_t)with_sign(b->record[k]);
        op_add(b, v, value_at(b, id, v->type));
        target(b, v, b->record[k + 1]);
    }
}

/* Those whose first operand is a value. */
static void operation(struct bits *b, struct module_value *v)
{
    size_t k = 0;
    op_add(b, v, pair(b, &k));
    const struct module_type *t = v->ops[0]->type;
    v->type = t;
    switch (b->code) {
    case 2:
        binary(b, v, k);
        return;
    case 3:
        cast(b, v, k);
        return;
    case 6:
    case 7:
        if (t->kind != MODULE_VECTOR)
            broken(b, "an element of no vector");
        v->op = b->code == 6 ? OPCODE_EXTRACTELEMENT : OPCODE_INSERTELEMENT;
        if (b->code == 7)
            op_add(b, v, back(b, k++, t->of[0]));
        else
            v->type = t->of[0];
        op_add(b, v, pair(b, &k));
        return;
    case 8:
        v->op = OPCODE_SHUFFLE;
        shuffle(b, v, k);
        return;
    case 9:
    case 28:
        compare(b, v, k);
        return;
    case 20:
        v->op = OPCODE_LOAD;
        v->type = type_at(b, operand(b, k));
        v->align = align_of(operand(b, k + 1));
        break;
    case 44:
        v->op = OPCODE_STORE;
        op_add(b, v, v->ops[0]);
        v->ops[0] = pair(b, &k);
        v->type = type_new(b, MODULE_VOID);
        v->align = align_of(operand(b, k));
        k--;
        break;
    case 26:
        v->op = OPCODE_EXTRACTVALUE;
        v->type = part_type(b, v, k);
        return;
    case 27:
        v->op = OPCODE_INSERTVALUE;
        op_add(b, v, pair(b, &k));
        if (!module_same_type(part_type(b, v, k), v->ops[1]->type))
            broken(b, "a part of another type");
        return;
    case 29:
        v->op = OPCODE_SELECT;
        op_add(b, v, back(b, k++, t));
        op_add(b, v, pair(b, &k));
        { /* the condition stands first here */
            struct module_value *condition = v->ops[2];
            v->ops[2] = v->ops[1];
            v->ops[1] = v->ops[0];
            v->ops[0] = condition;
        }
        return;
    case 56:
        v->op = OPCODE_FNEG;
        return;
    default:
        v->op = OPCODE_FREEZE;
        return;
    }
    if (operand(b, k + 2))
        module_refuse(b->m, b->place, NULL, "'volatile': shaders have no shared memory");
}

static void instruction(struct bits *b)
{
    struct module_value v = *value_new(b, VALUE_INSTRUCTION, type_new(b, MODULE_VOID));
    if (b->code == 33 || b->code == 35 || b->code == 60) /* lines of debug information */
        return;
    if (!b->block)
        broken(b, "an instruction in no block");
    switch (b->code) {
    case 10:
    case 11:
    case 12:
    case 15:
        terminator(b, &v);
        break;
    case 2:
    case 3:
    case 6:
    case 7:
    case 8:
    case 9:
    case 20:
    case 26:
    case 27:
    case 28:
    case 29:
    case 44:
    case 56:
    case 58:
        operation(b, &v);
        break;
    case 16:
        phi(b, &v);
        break;
    case 19:
        v.op = OPCODE_ALLOCA;
        v.of = type_at(b, operand(b, 0));
        v.type = type_new(b, MODULE_POINTER);
        if (!(operand(b, 3) >> 6 & 1))
            broken(b, "a variable without a type");
        op_add(b, &v, value_at(b, operand(b, 2), type_at(b, operand(b, 1))));
        if (v.ops[0]->kind == VALUE_INT && v.ops[0]->bits == 1)
            v.count = 0;
        break;
    case 34:
        call_record(b, &v);
        break;
    case 43: {
        v.op = OPCODE_GEP;
        v.of = type_at(b, operand(b, 1));
        for (size_t k = 2; k < b->count;)
            op_add(b, &v, pair(b, &k));
        if (v.count == 0)
            broken(b, "an address");
        v.type = v.ops[0]->type;
        break;
    }
    default:
        module_refuse(b->m, b->place, NULL, "@%s: shaders do not have instruction %llu of bitcode",
                      b->f->name, (unsigned long long)b->code);
    }
    v.block = b->block;
    v.order = (uint32_t)b->block->count;
    v.id = b->f->ids++;
    struct module_value *kept;
    if (v.type->kind == MODULE_VOID) {
        kept = ASL_NEW(b->c, struct module_value);
        *kept = v;
        kept->name = "an instruction";
    } else {
        kept = define(b, &v);
    }
    struct module_block *into = b->block;
    into->code = asl_grow(b->c, into->code, into->count, &into->cap, into->count + 1,
                          sizeof(struct module_value *));
    into->code[into->count++] = kept;
    if (v.op <= OPCODE_UNREACHABLE)
        b->block = ++b->block_at < b->f->block_count ? b->f->blocks[b->block_at] : NULL;
}

/* A function's table of names: those of parameters are kept. */
static void symbol_record(struct bits *b)
{
    if (b->code != 1 || !b->f)
        return;
    for (uint64_t k = 0; k < b->f->type->count; k++) {
        struct module_value *v = b->f->parameters[k].value;
        if (b->outside + k != operand(b, 0))
            continue;
        char *name = ASL_ARRAY(b->c, char, b->count + 1);
        name[0] = '%';
        for (size_t n = 1; n < b->count; n++)
            name[n] = (char)b->record[n];
        v->name = name;
    }
}

static void record(struct bits *b, unsigned id)
{
    if (id == BLOCK_STRINGS && b->code == 1 && b->blob) {
        b->strings = (const char *)b->blob;
        b->strings_size = b->blob_size;
    } else if (id == BLOCK_MODULE) {
        module_record(b);
    } else if (id == BLOCK_TYPES) {
        type_record(b);
    } else if (id == BLOCK_ATTRIBUTE_GROUPS) {
        attribute_group(b);
    } else if (id == BLOCK_ATTRIBUTES) {
        attribute_list(b);
    } else if (id == BLOCK_CONSTANTS) {
        constant_record(b, &b->constant_type);
    } else if (id == BLOCK_SYMBOLS) {
        symbol_record(b);
    } else if (id == BLOCK_FUNCTION && b->code == 1) {
        declare_blocks(b);
    } else if (id == BLOCK_FUNCTION) {
        instruction(b);
    }
}

static void block_begin(struct bits *b, unsigned id)
{
    b->constant_type = id == BLOCK_CONSTANTS ? NULL : b->constant_type;
    if (id != BLOCK_FUNCTION)
        return;
    if (b->body_next == b->body_count)
        broken(b, "a body of no function");
    struct module_function *f = b->f = b->bodies[b->body_next++];
    b->outside = b->value_count;
    for (uint64_t k = 0; k < f->type->count; k++) {
        struct module_value v = *value_new(b, VALUE_ARGUMENT, f->type->of[k]);
        v.id = f->ids++;
        v.name = asl_sprintf(b->c, "%%%llu", (unsigned long long)k);
        f->parameters[k].value = define(b, &v);
    }
}

static void block_end(struct bits *b, unsigned id)
{
    if (id != BLOCK_FUNCTION)
        return;
    if (b->block || b->f->block_count == 0)
        broken(b, "a function ends within a block");
    for (size_t k = b->outside; k < b->value_room; k++) {
        if (b->values[k] && b->values[k]->kind == VALUE_UNKNOWN)
            broken(b, "a value is not defined");
        b->values[k] = NULL;
    }
    b->value_count = b->outside;
    b->f = NULL;
}

bool module_is_bits(const char *data, size_t size)
{
    static const unsigned char raw[] = {'B', 'C', 0xc0, 0xde}, wrapped[] = {0xde, 0xc0, 0x17, 0x0b};
    return size >= 4 && (memcmp(data, raw, 4) == 0 || memcmp(data, wrapped, 4) == 0);
}

void module_bits_read(struct module *m)
{
    struct bits *b = ASL_NEW(m->c, struct bits);
    *b = (struct bits){.m = m, .c = m->c, .data = (const unsigned char *)m->src->text};
    /* Messages show no bytes of it. */
    b->place = (struct asl_loc){asl_source_new(m->c, m->src->name, "", 0), 1, 1, 1};
    uint64_t begin = 0, size = m->src->size;
    if (b->data[0] == 0xde) { /* a header around it, as macOS has */
        if (size < 20)
            broken(b, "it ends early");
        b->end = 160;
        b->at = 64;
        begin = fixed(b, 32);
        size = fixed(b, 32);
        if (begin > m->src->size || size > m->src->size - begin || size < 4)
            broken(b, "its header");
        b->data += begin;
    }
    b->end = size * 8;
    b->at = 32;
    block(b, TOP, 2, 0);
    if (!b->strings)
        broken(b, "it has no names");
    b->at = 32;
    block(b, TOP, 2, 0);
    if (b->body_next != b->body_count)
        broken(b, "a function has no body");
    for (size_t k = 0; k < b->initial_count; k++)
        b->initials[k].g->initial = value_at(b, b->initials[k].id, b->initials[k].g->type);
    for (size_t k = 0; k < b->value_room; k++)
        if (b->values[k] && b->values[k]->kind == VALUE_UNKNOWN)
            broken(b, "a value is not defined");
}
