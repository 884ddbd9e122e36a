/* SPDX-License-Identifier: Apache-2.0 */
/* module_text.c: LLVM's assembly language, of the versions 9 to 19: of what shaders are made of.
 * Pointers may have types or none; metadata and attributes but a few mean nothing here. */
#include "module/module.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---------------------------------------------------------------------------------- */

enum word_kind {
    WORD_END,
    WORD_NAME,   /* define, i32, float */
    WORD_LABEL,  /* name: */
    WORD_LOCAL,  /* %name */
    WORD_GLOBAL, /* @name */
    WORD_META,   /* !name, #dbg_value */
    WORD_GROUP,  /* #0, $comdat, ^0 */
    WORD_NUMBER,
    WORD_STRING,
    WORD_BYTES, /* c"..." */
    WORD_SIGN   /* one character, or ... */
};

struct word {
    enum word_kind kind;
    const char *text; /* of a name without its sign and quotes */
    size_t len;
    struct asl_loc at;
};

enum { NAMES = 1024, CONSTANT_NESTING = 200 };

struct name {
    const char *text;
    size_t len;
    void *is;
    struct asl_loc at; /* where it was first named */
    struct name *next;
};

struct names {
    struct name *chain[NAMES];
};

/* Where the reader is. */
struct cursor {
    const char *p, *line_begin;
    uint32_t line;
    struct word w;
};

struct reader {
    struct module *m;
    struct asl_compile *c;
    const char *p, *line_begin, *end;
    uint32_t line;
    struct word w;                               /* the next one */
    uint32_t behind;                             /* the line of the one before */
    struct names types, globals, values, blocks; /* the last two: of a function */
    struct module_function *f;
    struct module_block *block;
    uint64_t unnamed; /* number of the function's next value without a name */
    unsigned depth;
};

static struct cursor cursor(const struct reader *r)
{
    return (struct cursor){r->p, r->line_begin, r->line, r->w};
}

static void go_back(struct reader *r, const struct cursor *to)
{
    r->p = to->p;
    r->line_begin = to->line_begin;
    r->line = to->line;
    r->w = to->w;
}

static bool name_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_' || ch == '.' || ch == '$' || ch == '-';
}

static bool digit(char ch) { return ch >= '0' && ch <= '9'; }

/* "...": its text, the cursor behind it. */
static void quoted(struct reader *r)
{
    const char *begin = ++r->p;
    while (r->p < r->end && *r->p != '"' && *r->p != '\n')
        r->p++;
    if (r->p == r->end || *r->p == '\n')
        module_refuse(r->m, r->w.at, NULL, "this string does not end");
    r->w.text = begin;
    r->w.len = (size_t)(r->p++ - begin);
}

static void plain(struct reader *r)
{
    const char *begin = r->p;
    while (r->p < r->end && name_char(*r->p))
        r->p++;
    r->w.text = begin;
    r->w.len = (size_t)(r->p - begin);
}

static void skip_blanks(struct reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == ';')
            while (r->p + 1 < r->end && r->p[1] != '\n')
                r->p++;
        else if (*r->p == '\n') {
            r->line++;
            r->line_begin = r->p + 1;
        } else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r')
            return;
    }
}

static void next(struct reader *r)
{
    r->behind = r->w.at.line;
    skip_blanks(r);
    struct word *w = &r->w;
    *w = (struct word){.text = r->p, .at = {r->m->src, r->line, 0, 1}};
    w->at.col = (uint32_t)(r->p - r->line_begin) + 1;
    if (r->p == r->end)
        return;
    const char *begin = r->p;
    char ch = *r->p, after = r->p + 1 < r->end ? r->p[1] : 0;
    if (ch == '%' || ch == '@' || ch == '$' || ch == '#' || ch == '^' || ch == '!') {
        w->kind = ch == '%'   ? WORD_LOCAL
                  : ch == '@' ? WORD_GLOBAL
                  : ch == '!' ? WORD_META
                              : WORD_GROUP;
        if (ch == '#' && !digit(after))
            w->kind = WORD_META;
        r->p++;
        if (after == '"' && ch != '!')
            quoted(r);
        else
            plain(r);
    } else if (ch == 'c' && after == '"') {
        r->p++;
        quoted(r);
        w->kind = WORD_BYTES;
    } else if (ch == '"') {
        quoted(r);
        w->kind = WORD_STRING;
    } else if (digit(ch) || ((ch == '-' || ch == '+') && digit(after))) {
        w->kind = WORD_NUMBER;
        r->p += ch == '+';
        plain(r);
        if (r->p < r->end && *r->p == '+' && (r->p[-1] == 'e' || r->p[-1] == 'E')) {
            const char *number = w->text;
            r->p++;
            plain(r);
            w->text = number;
            w->len = (size_t)(r->p - number);
        }
    } else if (ch == '.' && r->end - r->p >= 3 && memcmp(r->p, "...", 3) == 0) {
        w->kind = WORD_SIGN;
        w->len = 3;
        r->p += 3;
    } else if (name_char(ch)) {
        w->kind = WORD_NAME;
        plain(r);
    } else {
        w->kind = WORD_SIGN;
        w->len = 1;
        r->p++;
    }
    if (r->p < r->end && *r->p == ':' &&
        (w->kind == WORD_NAME || w->kind == WORD_STRING || w->kind == WORD_NUMBER)) {
        w->kind = WORD_LABEL;
        r->p++;
    }
    size_t shown = (size_t)(r->p - begin);
    w->at.len = shown < 200 ? (uint32_t)shown : 200;
}

_Noreturn static void wrong(struct reader *r, const char *what)
{
    if (r->w.kind == WORD_END)
        module_refuse(r->m, r->w.at, NULL, "the file ends; expected %s", what);
    size_t len = r->w.len < 60 ? r->w.len : 60;
    module_refuse(r->m, r->w.at, NULL, "'%.*s': expected %s", (int)len, r->w.text, what);
}

static bool is_sign(const struct reader *r, const char *sign)
{
    return r->w.kind == WORD_SIGN && r->w.len == strlen(sign) &&
           memcmp(r->w.text, sign, r->w.len) == 0;
}

static bool is_name(const struct reader *r, const char *name)
{
    return r->w.kind == WORD_NAME && r->w.len == strlen(name) &&
           memcmp(r->w.text, name, r->w.len) == 0;
}

static bool take_sign(struct reader *r, const char *sign)
{
    bool yes = is_sign(r, sign);
    if (yes)
        next(r);
    return yes;
}

static bool take_name(struct reader *r, const char *name)
{
    bool yes = is_name(r, name);
    if (yes)
        next(r);
    return yes;
}

static void want(struct reader *r, const char *sign)
{
    if (!take_sign(r, sign))
        wrong(r, asl_sprintf(r->c, "'%s'", sign));
}

static void want_name(struct reader *r, const char *name)
{
    if (!take_name(r, name))
        wrong(r, asl_sprintf(r->c, "'%s'", name));
}

/* A whole number without a sign. */
static uint64_t want_count(struct reader *r)
{
    uint64_t n = 0;
    if (r->w.kind != WORD_NUMBER)
        wrong(r, "a number");
    for (size_t i = 0; i < r->w.len; i++) {
        if (!digit(r->w.text[i]) || n > UINT64_MAX / 10 - 1)
            wrong(r, "a whole number");
        n = n * 10 + (uint64_t)(r->w.text[i] - '0');
    }
    next(r);
    return n;
}

/* The file's word that the name in a message is. */
static const char *shown(struct reader *r, char sign)
{
    return asl_sprintf(r->c, "%c%.*s", sign, (int)(r->w.len < 80 ? r->w.len : 80), r->w.text);
}

static struct name *name_of(struct reader *r, struct names *n, const char *text, size_t len)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    struct name **chain = &n->chain[hash % NAMES], *x = *chain;
    while (x && (x->len != len || memcmp(x->text, text, len) != 0))
        x = x->next;
    if (!x) {
        x = ASL_NEW(r->c, struct name);
        *x = (struct name){.text = text, .len = len, .at = r->w.at, .next = *chain};
        *chain = x;
    }
    return x;
}

/* Behind the bracket that is next, and all in it. */
static void skip_brackets(struct reader *r)
{
    size_t depth = 0;
    do {
        if (is_sign(r, "(") || is_sign(r, "{") || is_sign(r, "["))
            depth++;
        else if (is_sign(r, ")") || is_sign(r, "}") || is_sign(r, "]"))
            depth--;
        else if (r->w.kind == WORD_END)
            wrong(r, "a closing bracket");
        next(r);
    } while (depth);
}

static void skip_group(struct reader *r)
{
    if (is_sign(r, "(") || is_sign(r, "{"))
        skip_brackets(r);
}

/* ---- types ------------------------------------------------------------------------------------ */

static struct module_type *type_new(struct reader *r, enum module_type_kind kind)
{
    struct module_type *t = ASL_NEW(r->c, struct module_type);
    t->kind = kind;
    return t;
}

static const struct module_type *type(struct reader *r);

static void type_push(struct reader *r, struct module_type *t, size_t *cap,
                      const struct module_type *of)
{
    t->of = asl_grow(r->c, (void *)t->of, (size_t)t->count, cap, (size_t)t->count + 1,
                     sizeof(struct module_type *));
    t->of[t->count++] = of;
}

static void fields(struct reader *r, struct module_type *t)
{
    size_t cap = 0;
    want(r, "{");
    if (!is_sign(r, "}"))
        do
            type_push(r, t, &cap, type(r));
        while (take_sign(r, ","));
    want(r, "}");
}

static const struct module_type *list_type(struct reader *r, bool vector)
{
    struct module_type *t = type_new(r, vector ? MODULE_VECTOR : MODULE_ARRAY);
    size_t cap = 0;
    next(r);
    if (vector && is_sign(r, "{")) {
        t->kind = MODULE_STRUCT;
        t->packed = true;
        fields(r, t);
        want(r, ">");
        return t;
    }
    if (is_name(r, "vscale"))
        module_refuse(r->m, r->w.at, NULL, "vectors of unknown length are not taken");
    uint64_t count = want_count(r);
    want_name(r, "x");
    type_push(r, t, &cap, type(r));
    t->count = count;
    if (vector && (count == 0 || (t->of[0]->kind != MODULE_INT && t->of[0]->kind != MODULE_FLOAT &&
                                  t->of[0]->kind != MODULE_OTHER)))
        module_refuse(r->m, r->w.at, NULL, "vectors are of ints or floats here");
    want(r, vector ? ">" : "]");
    return t;
}

static const struct module_type *plain_type(struct reader *r)
{
    static const struct {
        const char *name;
        enum module_type_kind kind;
    } words[] = {
        {"void", MODULE_VOID},         {"float", MODULE_FLOAT},  {"ptr", MODULE_POINTER},
        {"label", MODULE_LABEL},       {"double", MODULE_OTHER}, {"half", MODULE_OTHER},
        {"metadata", MODULE_METADATA}, {"bfloat", MODULE_OTHER}, {"x86_fp80", MODULE_OTHER},
        {"fp128", MODULE_OTHER},       {"token", MODULE_OTHER},  {"ppc_fp128", MODULE_OTHER},
        {"x86_mmx", MODULE_OTHER},     {"x86_amx", MODULE_OTHER}};
    struct word w = r->w;
    if (is_sign(r, "[") || is_sign(r, "<"))
        return list_type(r, is_sign(r, "<"));
    if (is_sign(r, "{")) {
        struct module_type *t = type_new(r, MODULE_STRUCT);
        fields(r, t);
        return t;
    }
    if (w.kind == WORD_LOCAL) {
        struct name *n = name_of(r, &r->types, w.text, w.len);
        if (!n->is) {
            struct module_type *t = type_new(r, MODULE_STRUCT);
            t->opaque = true;
            n->is = t;
        }
        next(r);
        return n->is;
    }
    if (w.kind != WORD_NAME)
        wrong(r, "a type");
    if (w.len > 1 && w.text[0] == 'i' && digit(w.text[1])) {
        struct module_type *t = type_new(r, MODULE_INT);
        for (size_t i = 1; i < w.len; i++) {
            if (!digit(w.text[i]) || t->bits > 100000)
                wrong(r, "a type");
            t->bits = t->bits * 10 + (uint32_t)(w.text[i] - '0');
        }
        if (t->bits == 0)
            wrong(r, "a type");
        next(r);
        return t;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_name(r, words[i].name)) {
            struct module_type *t = type_new(r, words[i].kind);
            t->name = words[i].name;
            next(r);
            if (t->kind == MODULE_POINTER && take_name(r, "addrspace"))
                skip_brackets(r);
            return t;
        }
    wrong(r, "a type");
}

static const struct module_type *type(struct reader *r)
{
    if (++r->depth > CONSTANT_NESTING)
        module_refuse(r->m, r->w.at, NULL, "nesting deeper than %d levels", (int)CONSTANT_NESTING);
    const struct module_type *t = plain_type(r);
    for (;;) {
        if (is_name(r, "addrspace")) {
            next(r);
            skip_brackets(r);
            if (!is_sign(r, "*"))
                wrong(r, "'*'");
        }
        if (take_sign(r, "*")) {
            t = type_new(r, MODULE_POINTER);
            continue;
        }
        if (!is_sign(r, "("))
            break;
        struct module_type *f = type_new(r, MODULE_FUNCTION);
        size_t cap = 0;
        f->result = t;
        next(r);
        while (!take_sign(r, ")")) {
            if (take_sign(r, "..."))
                f->variadic = true;
            else
                type_push(r, f, &cap, type(r));
            if (!is_sign(r, ")"))
                want(r, ",");
        }
        t = f;
    }
    r->depth--;
    return t;
}

/* ---- constants and operands --------------------------------------------------------------------- */

static struct module_value *value_new(struct reader *r, enum module_value_kind kind,
                                      const struct module_type *t)
{
    struct module_value *v = ASL_NEW(r->c, struct module_value);
    v->kind = (uint8_t)kind;
    v->type = t;
    v->at = r->w.at;
    return v;
}

static struct module_value *value(struct reader *r, const struct module_type *t);

static struct module_value *typed_value(struct reader *r)
{
    const struct module_type *t = type(r);
    return value(r, t);
}

static void push(struct reader *r, struct module_value *v, size_t *cap, struct module_value *op)
{
    v->ops = asl_grow(r->c, v->ops, v->count, cap, v->count + 1, sizeof(struct module_value *));
    v->ops[v->count++] = op;
}

static struct module_value *global_named(struct reader *r, const struct module_type *t)
{
    struct name *n = name_of(r, &r->globals, r->w.text, r->w.len);
    if (!n->is) {
        struct module_value *v = value_new(r, VALUE_UNKNOWN, t);
        v->name = shown(r, '@');
        n->is = v;
    }
    next(r);
    return n->is;
}

static uint64_t int_of(struct reader *r, const struct module_type *t)
{
    const char *p = r->w.text, *end = p + r->w.len;
    bool minus = p < end && *p == '-';
    uint64_t n = 0, limit = t->bits >= 64 ? UINT64_MAX : ((uint64_t)1 << t->bits) - 1;
    for (p += minus; p < end; p++) {
        uint64_t d = (uint64_t)(*p - '0');
        if (!digit(*p) || n > (UINT64_MAX - d) / 10)
            wrong(r, "an int");
        n = n * 10 + d;
    }
    if (t->bits > 64)
        module_refuse(r->m, r->w.at, NULL, "ints have at most 64 bits here, and this one %u",
                      t->bits);
    uint64_t bits = (minus ? 0 - n : n) & limit;
    if (minus ? n > limit / 2 + 1 : n > limit)
        module_refuse(r->m, r->w.at, NULL, "it is no i%u", t->bits);
    next(r);
    return bits;
}

/* The bits of a float: a decimal number, or the hexadecimal bits of the double of that value. */
static uint32_t float_of(struct reader *r)
{
    char copy[64];
    float f;
    uint32_t bits;
    const struct word *w = &r->w;
    if (w->kind != WORD_NUMBER || w->len >= sizeof copy)
        wrong(r, "a float");
    memcpy(copy, w->text, w->len);
    copy[w->len] = 0;
    double d;
    char *end;
    if (w->len > 2 && copy[0] == '0' && copy[1] == 'x') {
        uint64_t x = strtoull(copy + 2, &end, 16);
        if (*end || w->len > 18)
            wrong(r, "a float: the 16 hexadecimal digits of a double");
        memcpy(&d, &x, sizeof d);
        if (d != d) { /* a NaN keeps its sign and the upper bits of its payload */
            next(r);
            return (uint32_t)(x >> 32 & 0x80000000u) | 0x7f800000u |
                   (uint32_t)(x >> 29 & 0x7fffffu) | ((x >> 29 & 0x7fffffu) ? 0 : 0x400000u);
        }
    } else {
        d = strtod(copy, &end);
        if (*end || end == copy)
            wrong(r, "a float");
    }
    f = (float)d;
    if (d == d && (double)f != d)
        module_refuse(r->m, w->at, NULL, "no float has this value");
    memcpy(&bits, &f, sizeof bits);
    next(r);
    return bits;
}

/* getelementptr, bitcast and addrspacecast of constants. */
static struct module_value *constant_expression(struct reader *r, const struct module_type *t)
{
    struct module_value *v = value_new(r, VALUE_INSTRUCTION, t);
    size_t cap = 0;
    v->id = UINT32_MAX;
    v->op = is_name(r, "getelementptr") ? OPCODE_GEP
            : is_name(r, "bitcast")     ? OPCODE_BITCAST
                                        : OPCODE_ADDRSPACECAST;
    next(r);
    while (r->w.kind == WORD_NAME) { /* inbounds, nuw, inrange(...) */
        bool range = is_name(r, "inrange");
        next(r);
        if (range)
            skip_group(r);
    }
    want(r, "(");
    if (v->op == OPCODE_GEP) {
        v->of = type(r);
        while (take_sign(r, ",")) {
            (void)take_name(r, "inrange");
            push(r, v, &cap, typed_value(r));
        }
        if (v->count == 0 || t->kind != MODULE_POINTER)
            wrong(r, "a pointer and indices");
    } else {
        push(r, v, &cap, typed_value(r));
        want_name(r, "to");
        if (!module_same_type(type(r), t))
            wrong(r, "the type of the constant");
    }
    want(r, ")");
    return v;
}

/* [ type value, ... ] and its like, whose parts fit the type. */
static struct module_value *parts_value(struct reader *r, const struct module_type *t,
                                        const char *close)
{
    struct module_value *v = value_new(r, VALUE_AGGREGATE, t);
    size_t cap = 0;
    next(r);
    if (!is_sign(r, close))
        do {
            const struct module_type *of = type(r), *wanted = module_element(t, v->count);
            if (!wanted || !module_same_type(of, wanted))
                wrong(r, "parts as the type has them");
            push(r, v, &cap, value(r, of));
        } while (take_sign(r, ","));
    if (v->count != t->count)
        wrong(r, "as many parts as the type has");
    want(r, close);
    return v;
}

static int hex(char ch)
{
    return digit(ch)                ? ch - '0'
           : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
           : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                    : -1;
}

/* c"...", \xx is a byte. */
static struct module_value *bytes_value(struct reader *r, const struct module_type *t)
{
    struct module_value *v = value_new(r, VALUE_AGGREGATE, t);
    size_t cap = 0;
    if (t->kind != MODULE_ARRAY || t->of[0]->kind != MODULE_INT || t->of[0]->bits != 8)
        wrong(r, "a constant of another type");
    for (size_t i = 0; i < r->w.len; i++) {
        struct module_value *byte = value_new(r, VALUE_INT, t->of[0]);
        const char *p = r->w.text + i;
        byte->bits = (unsigned char)*p;
        if (*p == '\\' && i + 2 < r->w.len && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
            byte->bits = (unsigned)hex(p[1]) << 4 | (unsigned)hex(p[2]);
            i += 2;
        } else if (*p == '\\' && i + 1 < r->w.len && p[1] == '\\') {
            i++;
        }
        push(r, v, &cap, byte);
    }
    if (v->count != t->count)
        wrong(r, "as many bytes as the type has");
    next(r);
    return v;
}

static struct module_value *splat(struct reader *r, const struct module_type *t)
{
    struct module_value *v = value_new(r, VALUE_AGGREGATE, t);
    size_t cap = 0;
    next(r);
    want(r, "(");
    struct module_value *each = typed_value(r);
    if (t->kind != MODULE_VECTOR || !module_same_type(each->type, t->of[0]) || t->count > 256)
        wrong(r, "an element of a vector");
    for (uint64_t k = 0; k < t->count; k++)
        push(r, v, &cap, each);
    want(r, ")");
    return v;
}

static struct module_value *metadata(struct reader *r, const struct module_type *t)
{
    struct module_value *v = value_new(r, VALUE_METADATA, t);
    while (!is_sign(r, ",") && !is_sign(r, ")")) {
        if (r->w.kind == WORD_END)
            wrong(r, "')'");
        if (is_sign(r, "(") || is_sign(r, "{") || is_sign(r, "["))
            skip_brackets(r);
        else
            next(r);
    }
    return v;
}

static struct module_value *local(struct reader *r, const struct module_type *t)
{
    if (!r->f)
        wrong(r, "a constant");
    struct name *n = name_of(r, &r->values, r->w.text, r->w.len);
    struct module_value *v = n->is;
    if (!v) {
        n->is = v = value_new(r, VALUE_UNKNOWN, t);
        v->name = shown(r, '%');
    }
    if (!module_same_type(v->type, t))
        module_refuse(r->m, r->w.at, NULL, "%s is of type %s, and %s is expected", v->name,
                      module_type_text(r->c, v->type), module_type_text(r->c, t));
    next(r);
    return v;
}

static struct module_value *value_of(struct reader *r, const struct module_type *t)
{
    static const char *const zeros[] = {"undef", "poison", "zeroinitializer", "null", "none"};
    if (t->kind == MODULE_METADATA)
        return metadata(r, t);
    if (r->w.kind == WORD_LOCAL)
        return local(r, t);
    if (r->w.kind == WORD_GLOBAL) {
        if (t->kind != MODULE_POINTER)
            wrong(r, module_type_text(r->c, t));
        return global_named(r, t);
    }
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        if (take_name(r, zeros[i]))
            return value_new(r, VALUE_ZERO, t);
    if (is_name(r, "getelementptr") || is_name(r, "bitcast") || is_name(r, "addrspacecast"))
        return constant_expression(r, t);
    if (is_name(r, "splat"))
        return splat(r, t);
    if (r->w.kind == WORD_BYTES)
        return bytes_value(r, t);
    if (t->kind == MODULE_INT && (is_name(r, "true") || is_name(r, "false"))) {
        struct module_value *v = value_new(r, VALUE_INT, t);
        v->bits = is_name(r, "true");
        if (t->bits != 1)
            wrong(r, module_type_text(r->c, t));
        next(r);
        return v;
    }
    if (r->w.kind == WORD_NUMBER && (t->kind == MODULE_INT || t->kind == MODULE_FLOAT)) {
        struct module_value *v = value_new(r, t->kind == MODULE_INT ? VALUE_INT : VALUE_FLOAT, t);
        v->bits = t->kind == MODULE_INT ? int_of(r, t) : float_of(r);
        return v;
    }
    if (t->kind == MODULE_OTHER)
        module_refuse(r->m, r->w.at, NULL, "a value of type %s, which ASL does not have",
                      module_type_text(r->c, t));
    if (is_sign(r, "[") && t->kind == MODULE_ARRAY)
        return parts_value(r, t, "]");
    if (is_sign(r, "{") && t->kind == MODULE_STRUCT && !t->packed)
        return parts_value(r, t, "}");
    if (is_sign(r, "<") && t->kind == MODULE_VECTOR)
        return parts_value(r, t, ">");
    if (is_sign(r, "<") && t->kind == MODULE_STRUCT && t->packed) {
        next(r);
        if (!is_sign(r, "{"))
            wrong(r, "'{'");
        struct module_value *v = parts_value(r, t, "}");
        want(r, ">");
        return v;
    }
    if (r->w.kind == WORD_NAME)
        module_refuse(r->m, r->w.at, NULL, "'%.*s': no such constant is taken here",
                      (int)(r->w.len < 60 ? r->w.len : 60), r->w.text);
    wrong(r, asl_sprintf(r->c, "a value of type %s", module_type_text(r->c, t)));
}

static struct module_value *value(struct reader *r, const struct module_type *t)
{
    if (++r->depth > CONSTANT_NESTING)
        module_refuse(r->m, r->w.at, NULL, "nesting deeper than %d levels", (int)CONSTANT_NESTING);
    struct module_value *v = value_of(r, t);
    r->depth--;
    return v;
}

/* ---- instructions ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum module_op op;
} words[] = {{"ret", OPCODE_RET},
             {"br", OPCODE_BR},
             {"switch", OPCODE_SWITCH},
             {"unreachable", OPCODE_UNREACHABLE},
             {"fneg", OPCODE_FNEG},
             {"add", OPCODE_ADD},
             {"sub", OPCODE_SUB},
             {"mul", OPCODE_MUL},
             {"udiv", OPCODE_UDIV},
             {"sdiv", OPCODE_SDIV},
             {"urem", OPCODE_UREM},
             {"srem", OPCODE_SREM},
             {"shl", OPCODE_SHL},
             {"lshr", OPCODE_LSHR},
             {"ashr", OPCODE_ASHR},
             {"and", OPCODE_AND},
             {"or", OPCODE_OR},
             {"xor", OPCODE_XOR},
             {"fadd", OPCODE_FADD},
             {"fsub", OPCODE_FSUB},
             {"fmul", OPCODE_FMUL},
             {"fdiv", OPCODE_FDIV},
             {"frem", OPCODE_FREM},
             {"trunc", OPCODE_TRUNC},
             {"zext", OPCODE_ZEXT},
             {"sext", OPCODE_SEXT},
             {"fptoui", OPCODE_FPTOUI},
             {"fptosi", OPCODE_FPTOSI},
             {"uitofp", OPCODE_UITOFP},
             {"sitofp", OPCODE_SITOFP},
             {"bitcast", OPCODE_BITCAST},
             {"addrspacecast", OPCODE_ADDRSPACECAST},
             {"icmp", OPCODE_ICMP},
             {"fcmp", OPCODE_FCMP},
             {"phi", OPCODE_PHI},
             {"select", OPCODE_SELECT},
             {"freeze", OPCODE_FREEZE},
             {"call", OPCODE_CALL},
             {"alloca", OPCODE_ALLOCA},
             {"load", OPCODE_LOAD},
             {"store", OPCODE_STORE},
             {"getelementptr", OPCODE_GEP},
             {"extractelement", OPCODE_EXTRACTELEMENT},
             {"insertelement", OPCODE_INSERTELEMENT},
             {"shufflevector", OPCODE_SHUFFLE},
             {"extractvalue", OPCODE_EXTRACTVALUE},
             {"insertvalue", OPCODE_INSERTVALUE}};

static bool at_type(const struct reader *r)
{
    static const char *const names[] = {"void",  "float",    "ptr",    "double",
                                        "half",  "metadata", "bfloat", "x86_fp80",
                                        "fp128", "token",    "label",  "ppc_fp128"};
    if (is_sign(r, "[") || is_sign(r, "{") || is_sign(r, "<") || r->w.kind == WORD_LOCAL)
        return true;
    if (r->w.kind == WORD_NAME && r->w.len > 1 && r->w.text[0] == 'i' && digit(r->w.text[1]))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_name(r, names[i]))
            return true;
    return false;
}

/* Attributes and the like, up to a type. */
static void skip_to_type(struct reader *r)
{
    while (!at_type(r)) {
        bool name = r->w.kind == WORD_NAME;
        if (!name && r->w.kind != WORD_NUMBER && r->w.kind != WORD_STRING && !is_sign(r, "="))
            wrong(r, "a type");
        if (is_name(r, "volatile") || is_name(r, "atomic"))
            module_refuse(r->m, r->w.at, NULL, "'%.*s': shaders have no shared memory",
                          (int)r->w.len, r->w.text);
        next(r);
        if (name && is_sign(r, "("))
            skip_brackets(r);
    }
}

static struct module_block *block_named(struct reader *r, const char *text, size_t len)
{
    struct name *n = name_of(r, &r->blocks, text, len);
    if (!n->is) {
        struct module_block *b = ASL_NEW(r->c, struct module_block);
        b->name = asl_strndup(r->c, text, len < 80 ? len : 80);
        b->at = r->w.at;
        n->is = b;
    }
    return n->is;
}

static struct module_block *block_reference(struct reader *r)
{
    if (r->w.kind != WORD_LOCAL)
        wrong(r, "the name of a block");
    struct module_block *b = block_named(r, r->w.text, r->w.len);
    next(r);
    return b;
}

static struct module_block *label(struct reader *r)
{
    want_name(r, "label");
    return block_reference(r);
}

static void target(struct reader *r, struct module_value *v, size_t *cap, struct module_block *b)
{
    v->to = asl_grow(r->c, v->to, v->to_count, cap, v->to_count + 1, sizeof *v->to);
    v->to[v->to_count++] = b;
}

static const struct module_type *int_type(struct reader *r, uint32_t bits)
{
    struct module_type *t = type_new(r, MODULE_INT);
    t->bits = bits;
    return t;
}

static void branch(struct reader *r, struct module_value *v)
{
    size_t cap = 0, to = 0;
    if (is_name(r, "label")) {
        target(r, v, &to, label(r));
        return;
    }
    push(r, v, &cap, typed_value(r));
    for (int i = 0; i < 2; i++) {
        want(r, ",");
        target(r, v, &to, label(r));
    }
}

static void switch_(struct reader *r, struct module_value *v)
{
    size_t cap = 0, to = 0;
    push(r, v, &cap, typed_value(r));
    want(r, ",");
    target(r, v, &to, label(r));
    want(r, "[");
    while (!take_sign(r, "]")) {
        push(r, v, &cap, typed_value(r));
        want(r, ",");
        target(r, v, &to, label(r));
    }
}

static void phi(struct reader *r, struct module_value *v)
{
    size_t cap = 0, to = 0;
    skip_to_type(r);
    v->type = type(r);
    do {
        want(r, "[");
        push(r, v, &cap, value(r, v->type));
        want(r, ",");
        target(r, v, &to, block_reference(r));
        want(r, "]");
    } while (take_sign(r, ","));
}

static void compare(struct reader *r, struct module_value *v)
{
    static const char *const ints[] = {"eq",  "ne",  "ugt", "uge", "ult",
                                       "ule", "sgt", "sge", "slt", "sle"};
    static const char *const floats[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                         "uno",   "ueq", "ugt", "uge", "ult", "ule", "une", "true"};
    const char *const *names = v->op == OPCODE_ICMP ? ints : floats;
    size_t count = v->op == OPCODE_ICMP ? 10 : 16, k = count, cap = 0;
    while (r->w.kind == WORD_NAME && k == count) {
        for (k = 0; k < count && !is_name(r, names[k]); k++)
            ;
        next(r); /* a flag, or the predicate */
    }
    if (k == count)
        wrong(r, "a predicate");
    v->predicate = (uint8_t)k;
    push(r, v, &cap, typed_value(r));
    want(r, ",");
    push(r, v, &cap, value(r, v->ops[0]->type));
    const struct module_type *of = v->ops[0]->type, *bit = int_type(r, 1);
    if (of->kind == MODULE_VECTOR) {
        struct module_type *t = type_new(r, MODULE_VECTOR);
        size_t none = 0;
        type_push(r, t, &none, bit);
        t->count = of->count;
        bit = t;
    }
    v->type = bit;
}

/* Is the word a value's, or an attribute's before one? */
static bool at_value(const struct reader *r)
{
    static const char *const names[] = {"true",          "false",    "null",           "undef",
                                        "poison",        "none",     "getelementptr",  "bitcast",
                                        "addrspacecast", "inttoptr", "ptrtoint",       "splat",
                                        "blockaddress",  "asm",      "zeroinitializer"};
    if (r->w.kind != WORD_NAME)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_name(r, names[i]))
            return true;
    return false;
}

/* The least that is said. */
static void align_is(struct module_value *v, uint64_t align)
{
    if (align < 4 && align && (!v->align || align < v->align))
        v->align = (uint32_t)align;
    else if (!v->align)
        v->align = 4;
}

static void call(struct reader *r, struct module_value *v)
{
    size_t cap = 0;
    skip_to_type(r);
    const struct module_type *t = type(r);
    v->of = t->kind == MODULE_FUNCTION ? t : NULL;
    v->type = v->of ? t->result : t;
    if (is_name(r, "asm"))
        module_refuse(r->m, r->w.at, NULL, "inline assembly is not taken");
    if (r->w.kind != WORD_GLOBAL)
        module_refuse(r->m, r->w.at, NULL, "a call of what is known when the shader runs");
    v->callee = global_named(r, type_new(r, MODULE_POINTER));
    struct module_type *made = type_new(r, MODULE_FUNCTION);
    size_t parameters = 0;
    made->result = v->type;
    want(r, "(");
    if (!is_sign(r, ")"))
        do {
            const struct module_type *of = type(r);
            while (!at_value(r) && of->kind != MODULE_METADATA) {
                bool aligned = is_name(r, "align");
                next(r);
                if (aligned && r->w.kind == WORD_NUMBER)
                    align_is(v, want_count(r));
                else if (is_sign(r, "("))
                    skip_brackets(r);
            }
            type_push(r, made, &parameters, of);
            push(r, v, &cap, value(r, of));
        } while (take_sign(r, ","));
    want(r, ")");
    uint32_t line = r->behind;
    if (!v->of)
        v->of = made;
    while (r->w.at.line == line && (r->w.kind == WORD_GROUP || r->w.kind == WORD_NAME ||
                                    r->w.kind == WORD_STRING || is_sign(r, "["))) {
        if (is_sign(r, "["))
            module_refuse(r->m, r->w.at, NULL, "operand bundles are not taken");
        next(r);
        skip_group(r);
    }
}

static void indices(struct reader *r, struct module_value *v)
{
    uint32_t *list = ASL_ARRAY(r->c, uint32_t, 64);
    while (is_sign(r, ",")) {
        struct cursor before = cursor(r);
        next(r);
        if (r->w.kind != WORD_NUMBER) { /* metadata behind the instruction */
            go_back(r, &before);
            break;
        }
        uint64_t k = want_count(r);
        if (v->index_count == 64 || k >= UINT32_MAX)
            wrong(r, "fewer and smaller indices");
        list[v->index_count++] = (uint32_t)k;
    }
    v->indices = list;
    if (v->index_count == 0)
        wrong(r, "an index");
}

static void shuffle_mask(struct reader *r, struct module_value *v)
{
    want(r, ",");
    struct module_value *mask = typed_value(r);
    const struct module_type *t = mask->type;
    if (t->kind != MODULE_VECTOR || t->of[0]->kind != MODULE_INT || t->of[0]->bits != 32 ||
        (mask->kind != VALUE_AGGREGATE && mask->kind != VALUE_ZERO))
        wrong(r, "a constant mask");
    module_scalars(r->m, t, r->w.at);
    uint32_t *list = ASL_ARRAY(r->c, uint32_t, t->count);
    for (size_t k = 0; k < t->count && mask->kind == VALUE_AGGREGATE; k++)
        list[k] = mask->ops[k]->kind == VALUE_INT ? (uint32_t)mask->ops[k]->bits : 0;
    v->indices = list;
    v->index_count = (size_t)t->count;
    struct module_type *made = type_new(r, MODULE_VECTOR);
    size_t none = 0;
    if (v->ops[0]->type->kind != MODULE_VECTOR)
        wrong(r, "two vectors");
    type_push(r, made, &none, v->ops[0]->type->of[0]);
    made->count = t->count;
    v->type = made;
}

/* type value, or type value, type value, as many as there are. */
static void operands(struct reader *r, struct module_value *v, size_t least, bool more)
{
    size_t cap = 0;
    push(r, v, &cap, typed_value(r));
    while (v->count < least || (more && is_sign(r, ","))) {
        struct cursor before = cursor(r);
        want(r, ",");
        if (v->count >= least && !at_type(r)) {
            go_back(r, &before);
            return;
        }
        push(r, v, &cap, typed_value(r));
    }
}

static const struct module_type *part_type(struct reader *r, const struct module_value *v)
{
    const struct module_type *t = v->ops[0]->type;
    for (size_t i = 0; i < v->index_count && t; i++)
        t = module_element(t, v->indices[i]);
    if (!t || v->ops[0]->type->kind == MODULE_VECTOR)
        wrong(r, "indices of a part");
    return t;
}

static void body_of(struct reader *r, struct module_value *v)
{
    size_t cap = 0;
    switch (v->op) {
    case OPCODE_RET:
        if (!take_name(r, "void"))
            push(r, v, &cap, typed_value(r));
        return;
    case OPCODE_BR:
        branch(r, v);
        return;
    case OPCODE_SWITCH:
        switch_(r, v);
        return;
    case OPCODE_UNREACHABLE:
        return;
    case OPCODE_ICMP:
    case OPCODE_FCMP:
        compare(r, v);
        return;
    case OPCODE_PHI:
        phi(r, v);
        return;
    case OPCODE_CALL:
        call(r, v);
        return;
    case OPCODE_SELECT:
        skip_to_type(r);
        operands(r, v, 3, false);
        v->type = v->ops[1]->type;
        return;
    case OPCODE_ALLOCA:
        skip_to_type(r);
        v->of = type(r);
        v->type = type_new(r, MODULE_POINTER);
        if (is_sign(r, ",")) {
            struct cursor before = cursor(r);
            next(r);
            if (at_type(r))
                push(r, v, &cap, typed_value(r));
            else
                go_back(r, &before);
        }
        return;
    case OPCODE_LOAD:
        skip_to_type(r);
        v->type = type(r);
        want(r, ",");
        push(r, v, &cap, typed_value(r));
        return;
    case OPCODE_STORE:
        skip_to_type(r);
        operands(r, v, 2, false);
        return;
    case OPCODE_GEP:
        skip_to_type(r);
        v->of = type(r);
        want(r, ",");
        operands(r, v, 1, true);
        v->type = v->ops[0]->type;
        return;
    case OPCODE_EXTRACTELEMENT:
        operands(r, v, 2, false);
        if (v->ops[0]->type->kind != MODULE_VECTOR)
            wrong(r, "a vector");
        v->type = v->ops[0]->type->of[0];
        return;
    case OPCODE_INSERTELEMENT:
        operands(r, v, 3, false);
        v->type = v->ops[0]->type;
        return;
    case OPCODE_SHUFFLE:
        operands(r, v, 2, false);
        shuffle_mask(r, v);
        return;
    case OPCODE_EXTRACTVALUE:
    case OPCODE_INSERTVALUE:
        operands(r, v, v->op == OPCODE_INSERTVALUE ? 2 : 1, false);
        indices(r, v);
        v->type = v->op == OPCODE_INSERTVALUE ? v->ops[0]->type : part_type(r, v);
        if (v->op == OPCODE_INSERTVALUE && !module_same_type(part_type(r, v), v->ops[1]->type))
            wrong(r, "a part of that type");
        return;
    default:
        break;
    }
    skip_to_type(r);
    push(r, v, &cap, typed_value(r));
    v->type = v->ops[0]->type;
    if (v->op >= OPCODE_TRUNC && v->op <= OPCODE_ADDRSPACECAST) {
        want_name(r, "to");
        v->type = type(r);
    } else if (v->op != OPCODE_FNEG && v->op != OPCODE_FREEZE) {
        want(r, ",");
        push(r, v, &cap, value(r, v->type));
    }
}

/* What follows an instruction and means nothing: ", align 4, !dbg !5". */
static void skip_rest(struct reader *r, struct module_value *v)
{
    while (take_sign(r, ",")) {
        if (r->w.kind == WORD_META) {
            next(r);
            if (r->w.kind == WORD_META)
                next(r);
            skip_group(r);
        } else if (take_name(r, "align")) {
            align_is(v, want_count(r));
        } else if (take_name(r, "addrspace")) {
            skip_group(r);
        } else {
            wrong(r, "the end of the instruction");
        }
    }
}

static void block_begin(struct reader *r, const char *text, size_t len)
{
    struct module_function *f = r->f;
    struct module_block *b = block_named(r, text, len);
    if (b->defined)
        module_refuse(r->m, r->w.at, NULL, "a second block of the name %s", b->name);
    b->defined = true;
    b->at = r->w.at;
    f->blocks = asl_grow(r->c, f->blocks, f->block_count, &f->block_cap, f->block_count + 1,
                         sizeof *f->blocks);
    f->blocks[f->block_count++] = b;
    r->block = b;
}

/* The number that a name is, else UINT64_MAX. */
static uint64_t number_of(const char *text, size_t len)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (!digit(text[i]) || n > UINT32_MAX)
            return UINT64_MAX;
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    return len ? n : UINT64_MAX;
}

static void count_name(struct reader *r, const char *text, size_t len)
{
    uint64_t n = number_of(text, len);
    if (n != UINT64_MAX)
        r->unnamed = n + 1;
}

/* The next number of what has no name, as text. */
static const char *unnamed(struct reader *r)
{
    return asl_sprintf(r->c, "%llu", (unsigned long long)r->unnamed++);
}

/* v takes the name; what was used before it was defined becomes it. */
static struct module_value *define_local(struct reader *r, const char *text, size_t len,
                                         const struct module_value *v)
{
    struct name *n = name_of(r, &r->values, text, len);
    struct module_value *known = n->is;
    if (known && known->kind != VALUE_UNKNOWN)
        module_refuse(r->m, v->at, NULL, "%%%.*s is defined a second time",
                      (int)(len < 80 ? len : 80), text);
    if (known && !module_same_type(known->type, v->type))
        module_refuse(r->m, v->at, NULL, "%s is of type %s, and was used as %s", known->name,
                      module_type_text(r->c, v->type), module_type_text(r->c, known->type));
    struct module_value *kept = known ? known : ASL_NEW(r->c, struct module_value);
    *kept = *v;
    kept->name = asl_sprintf(r->c, "%%%.*s", (int)(len < 80 ? len : 80), text);
    n->is = kept;
    return kept;
}

static void instruction(struct reader *r)
{
    struct word result = {0};
    if (r->w.kind == WORD_LOCAL) {
        result = r->w;
        next(r);
        want(r, "=");
    }
    while (is_name(r, "tail") || is_name(r, "musttail") || is_name(r, "notail"))
        next(r);
    size_t k = 0;
    while (k < sizeof words / sizeof *words && !is_name(r, words[k].name))
        k++;
    if (k == sizeof words / sizeof *words)
        module_refuse(r->m, r->w.at, NULL, "'%.*s': shaders do not have this instruction",
                      (int)(r->w.len < 60 ? r->w.len : 60), r->w.text);
    if (!r->block) {
        const char *text = unnamed(r);
        block_begin(r, text, strlen(text));
    }
    struct module_value v = *value_new(r, VALUE_INSTRUCTION, type_new(r, MODULE_VOID));
    v.op = (uint8_t)words[k].op;
    next(r);
    body_of(r, &v);
    skip_rest(r, &v);
    v.block = r->block;
    struct module_value *kept;
    if (v.type->kind == MODULE_VOID) {
        if (result.text)
            module_refuse(r->m, result.at, NULL, "%%%.*s names nothing", (int)result.len,
                          result.text);
        kept = ASL_NEW(r->c, struct module_value);
        *kept = v;
        kept->name = words[k].name;
    } else if (result.text) {
        count_name(r, result.text, result.len);
        kept = define_local(r, result.text, result.len, &v);
    } else {
        const char *text = unnamed(r);
        kept = define_local(r, text, strlen(text), &v);
    }
    struct module_block *b = r->block;
    kept->order = (uint32_t)b->count;
    kept->id = r->f->ids++;
    b->code = asl_grow(r->c, b->code, b->count, &b->cap, b->count + 1, sizeof *b->code);
    b->code[b->count++] = kept;
    if (v.op <= OPCODE_UNREACHABLE)
        r->block = NULL;
}

/* ---- functions ---------------------------------------------------------------------------------- */

static void body(struct reader *r)
{
    struct module_function *f = r->f;
    want(r, "{");
    while (!is_sign(r, "}")) {
        if (r->w.kind == WORD_END)
            wrong(r, "'}'");
        if (r->w.kind == WORD_META) { /* #dbg_value(...) */
            next(r);
            skip_group(r);
        } else if (is_name(r, "uselistorder") || is_name(r, "uselistorder_bb")) {
            while (!is_sign(r, "{") && r->w.kind != WORD_END)
                next(r);
            skip_brackets(r);
        } else if (r->w.kind == WORD_LABEL) {
            if (r->block)
                module_refuse(r->m, r->w.at, NULL, "the block before does not end");
            count_name(r, r->w.text, r->w.len);
            block_begin(r, r->w.text, r->w.len);
            next(r);
        } else {
            instruction(r);
        }
    }
    if (r->block || f->block_count == 0)
        wrong(r, "an instruction that ends the block");
    for (size_t i = 0; i < NAMES; i++) {
        for (const struct name *n = r->values.chain[i]; n; n = n->next)
            if (((struct module_value *)n->is)->kind == VALUE_UNKNOWN)
                module_refuse(r->m, n->at, NULL, "%%%.*s is not defined",
                              (int)(n->len < 80 ? n->len : 80), n->text);
        for (const struct name *n = r->blocks.chain[i]; n; n = n->next)
            if (!((struct module_block *)n->is)->defined)
                module_refuse(r->m, n->at, NULL, "there is no block %%%.*s",
                              (int)(n->len < 80 ? n->len : 80), n->text);
    }
    next(r);
}

static void parameter(struct reader *r, struct module_function *f, struct module_type *t,
                      size_t *types, size_t *cap)
{
    struct module_parameter x = {0};
    const struct module_type *of = type(r);
    while (r->w.kind == WORD_NAME || r->w.kind == WORD_STRING || r->w.kind == WORD_NUMBER ||
           is_sign(r, "=")) {
        bool copied = is_name(r, "byval");
        next(r);
        if (copied && take_sign(r, "(")) {
            x.by_value = type(r);
            want(r, ")");
        } else if (is_sign(r, "(")) {
            skip_brackets(r);
        }
    }
    type_push(r, t, types, of);
    struct module_value v = *value_new(r, VALUE_ARGUMENT, of);
    v.id = f->ids++;
    if (r->w.kind == WORD_LOCAL) {
        count_name(r, r->w.text, r->w.len);
        x.value = define_local(r, r->w.text, r->w.len, &v);
        next(r);
    } else {
        const char *text = unnamed(r);
        x.value = define_local(r, text, strlen(text), &v);
    }
    size_t n = (size_t)t->count - 1;
    f->parameters = asl_grow(r->c, f->parameters, n, cap, n + 1, sizeof x);
    f->parameters[n] = x;
}

static struct module_value *define_global(struct reader *r, enum module_value_kind kind)
{
    if (r->w.kind != WORD_GLOBAL)
        wrong(r, "a name: @name");
    struct asl_loc at = r->w.at;
    struct module_value *v = global_named(r, type_new(r, MODULE_POINTER));
    if (v->kind != VALUE_UNKNOWN)
        module_refuse(r->m, at, NULL, "%s is defined a second time", v->name);
    v->kind = (uint8_t)kind;
    v->at = at;
    return v;
}

static void function(struct reader *r, bool defines)
{
    struct module *m = r->m;
    struct module_function *f = ASL_NEW(r->c, struct module_function);
    struct module_type *t = type_new(r, MODULE_FUNCTION);
    size_t types = 0, cap = 0;
    f->external = true;
    next(r);
    while (!at_type(r)) {
        if (is_name(r, "internal") || is_name(r, "private"))
            f->external = false;
        bool name = r->w.kind == WORD_NAME;
        if (!name && r->w.kind != WORD_NUMBER && r->w.kind != WORD_META)
            wrong(r, "a function's type");
        next(r);
        if (name && is_sign(r, "("))
            skip_brackets(r);
    }
    /* Not type(): the parenthesis behind the name is none of the type. */
    t->result = type(r);
    struct module_value *v = define_global(r, VALUE_FUNCTION);
    v->function = f;
    f->name = v->name + 1;
    f->at = v->at;
    f->type = t;
    f->defined = defines;
    memset(&r->values, 0, sizeof r->values);
    memset(&r->blocks, 0, sizeof r->blocks);
    r->unnamed = 0;
    r->f = f;
    want(r, "(");
    while (!take_sign(r, ")")) {
        if (take_sign(r, "..."))
            t->variadic = true;
        else
            parameter(r, f, t, &types, &cap);
        if (!is_sign(r, ")"))
            want(r, ",");
    }
    uint32_t line = r->behind;
    while (defines ? !is_sign(r, "{") : r->w.at.line == line && r->w.kind != WORD_END) {
        if (r->w.kind == WORD_END)
            wrong(r, "'{'");
        next(r);
        if (is_sign(r, "("))
            skip_brackets(r);
    }
    if (defines)
        body(r);
    r->f = NULL;
    m->functions = asl_grow(r->c, m->functions, m->function_count, &m->function_cap,
                            m->function_count + 1, sizeof(struct module_function *));
    m->functions[m->function_count++] = f;
}

/* ---- the file ------------------------------------------------------------------------------------- */

static void global(struct reader *r)
{
    struct module *m = r->m;
    struct module_value *v = define_global(r, VALUE_GLOBAL);
    struct module_global *g = ASL_NEW(r->c, struct module_global);
    bool elsewhere = false;
    v->global = g;
    g->name = v->name + 1;
    g->at = v->at;
    want(r, "=");
    while (!is_name(r, "global") && !is_name(r, "constant")) {
        if (r->w.kind != WORD_NAME)
            wrong(r, "'global' or 'constant'");
        if (is_name(r, "alias") || is_name(r, "ifunc"))
            module_refuse(m, r->w.at, NULL, "'%.*s': a second name of a thing is not taken",
                          (int)r->w.len, r->w.text);
        elsewhere = elsewhere || is_name(r, "external") || is_name(r, "extern_weak");
        next(r);
        if (is_sign(r, "("))
            skip_brackets(r);
    }
    g->constant = is_name(r, "constant");
    next(r);
    g->type = type(r);
    if (!elsewhere)
        g->initial = value(r, g->type);
    m->globals = asl_grow(r->c, m->globals, m->global_count, &m->global_cap, m->global_count + 1,
                          sizeof(struct module_global *));
    m->globals[m->global_count++] = g;
    while (take_sign(r, ",")) {
        next(r);
        if (r->w.kind == WORD_STRING || r->w.kind == WORD_NUMBER || r->w.kind == WORD_META)
            next(r);
        else
            skip_group(r);
    }
}

/* The byte order, and the sizes that programs differ in. */
static void target_line(struct reader *r)
{
    next(r);
    bool layout = is_name(r, "datalayout");
    next(r);
    want(r, "=");
    if (r->w.kind != WORD_STRING)
        wrong(r, "a string");
    const char *p = r->w.text, *end = p + r->w.len;
    while (layout && p < end) {
        size_t n = 0;
        while (p + n < end && p[n] != '-')
            n++;
        if (n == 1 && *p == 'E')
            module_refuse(r->m, r->w.at, NULL, "a big-endian target is not taken");
        if (n >= 4 && memcmp(p, "p:32", 4) == 0)
            r->m->pointer_bits = 32;
        if (n >= 6 && memcmp(p, "i64:32", 6) == 0)
            r->m->long_align = 4;
        p += n + (p + n < end);
    }
    next(r);
}

static void named_type(struct reader *r)
{
    struct name *n = name_of(r, &r->types, r->w.text, r->w.len);
    struct asl_loc at = r->w.at;
    next(r);
    want(r, "=");
    want_name(r, "type");
    if (take_name(r, "opaque")) {
        if (!n->is) {
            struct module_type *t = type_new(r, MODULE_STRUCT);
            t->opaque = true;
            n->is = t;
        }
        return;
    }
    const struct module_type *t = type(r);
    struct module_type *known = n->is;
    if (!known) {
        n->is = (void *)t;
        return;
    }
    if (!known->opaque || t == known)
        module_refuse(r->m, at, NULL, "%%%.*s is defined a second time", (int)n->len, n->text);
    *known = *t;
}

/* A line at the top that means nothing here. */
static void skip_line(struct reader *r)
{
    uint32_t line;
    do {
        line = r->w.at.line;
        if (is_sign(r, "{") || is_sign(r, "("))
            skip_brackets(r);
        else
            next(r);
    } while (r->w.kind != WORD_END && r->w.at.line == line);
}

void module_text_read(struct module *m)
{
    struct reader *r = ASL_NEW(m->c, struct reader);
    *r = (struct reader){.m = m, .c = m->c, .p = m->src->text, .line = 1};
    r->end = r->p + m->src->size;
    r->line_begin = r->p;
    next(r);
    while (r->w.kind != WORD_END) {
        if (is_name(r, "define") || is_name(r, "declare"))
            function(r, is_name(r, "define"));
        else if (r->w.kind == WORD_GLOBAL)
            global(r);
        else if (r->w.kind == WORD_LOCAL)
            named_type(r);
        else if (is_name(r, "target"))
            target_line(r);
        else if (is_name(r, "module"))
            module_refuse(m, r->w.at, NULL, "assembly of the module is not taken");
        else if (is_name(r, "source_filename") || is_name(r, "attributes") ||
                 r->w.kind == WORD_META || r->w.kind == WORD_GROUP || is_name(r, "uselistorder"))
            skip_line(r);
        else
            wrong(r, "what a module of LLVM holds");
    }
    for (size_t i = 0; i < NAMES; i++)
        for (const struct name *n = r->globals.chain[i]; n; n = n->next)
            if (((struct module_value *)n->is)->kind == VALUE_UNKNOWN)
                module_refuse(m, n->at, NULL, "@%.*s is not defined",
                              (int)(n->len < 80 ? n->len : 80), n->text);
}
