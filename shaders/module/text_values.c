/* SPDX-License-Identifier: Apache-2.0 */
/* text_values.c: types, constants and operands in LLVM's assembly language. */
#include "module/text.h"

#include <stdlib.h>
#include <string.h>

struct module_type *ll_type_new(struct reader *r, enum module_type_kind kind)
{
    struct module_type *t = ASL_NEW(r->c, struct module_type);
    t->kind = kind;
    return t;
}

void ll_type_push(struct reader *r, struct module_type *t, size_t *cap,
                  const struct module_type *of)
{
    t->of = asl_grow(r->c, (void *)t->of, (size_t)t->count, cap, (size_t)t->count + 1,
                     sizeof(struct module_type *));
    t->of[t->count++] = of;
}

static void fields(struct reader *r, struct module_type *t)
{
    size_t cap = 0;
    ll_want(r, "{");
    if (!ll_is_sign(r, "}"))
        do
            ll_type_push(r, t, &cap, ll_type(r));
        while (ll_take_sign(r, ","));
    ll_want(r, "}");
}

static const struct module_type *list_type(struct reader *r, bool vector)
{
    struct module_type *t = ll_type_new(r, vector ? MODULE_VECTOR : MODULE_ARRAY);
    size_t cap = 0;
    ll_next(r);
    if (vector && ll_is_sign(r, "{")) {
        t->kind = MODULE_STRUCT;
        t->packed = true;
        fields(r, t);
        ll_want(r, ">");
        return t;
    }
    if (ll_is_name(r, "vscale"))
        module_refuse(r->m, r->w.at, NULL, "vectors of unknown length are not taken");
    uint64_t count = ll_want_count(r);
    ll_want_name(r, "x");
    ll_type_push(r, t, &cap, ll_type(r));
    t->count = count;
    if (vector && (count == 0 || (t->of[0]->kind != MODULE_INT && t->of[0]->kind != MODULE_FLOAT &&
                                  t->of[0]->kind != MODULE_OTHER)))
        module_refuse(r->m, r->w.at, NULL, "vectors are of ints or floats here");
    ll_want(r, vector ? ">" : "]");
    return t;
}

static const struct {
    const char *name;
    enum module_type_kind kind;
} type_words[] = {
    {"void", MODULE_VOID},         {"float", MODULE_FLOAT},  {"ptr", MODULE_POINTER},
    {"label", MODULE_LABEL},       {"double", MODULE_OTHER}, {"half", MODULE_OTHER},
    {"metadata", MODULE_METADATA}, {"bfloat", MODULE_OTHER}, {"x86_fp80", MODULE_OTHER},
    {"fp128", MODULE_OTHER},       {"token", MODULE_OTHER},  {"ppc_fp128", MODULE_OTHER},
    {"x86_mmx", MODULE_OTHER},     {"x86_amx", MODULE_OTHER}};

static const struct module_type *plain_type(struct reader *r)
{
    struct word w = r->w;
    if (ll_is_sign(r, "[") || ll_is_sign(r, "<"))
        return list_type(r, ll_is_sign(r, "<"));
    if (ll_is_sign(r, "{")) {
        struct module_type *t = ll_type_new(r, MODULE_STRUCT);
        fields(r, t);
        return t;
    }
    if (w.kind == WORD_LOCAL) {
        struct name *n = ll_name_of(r, &r->types, w.text, w.len);
        if (!n->is) {
            struct module_type *t = ll_type_new(r, MODULE_STRUCT);
            t->opaque = true;
            n->is = t;
        }
        ll_next(r);
        return n->is;
    }
    if (w.kind != WORD_NAME)
        ll_wrong(r, "a type");
    if (w.len > 1 && w.text[0] == 'i' && ll_digit(w.text[1])) {
        struct module_type *t = ll_type_new(r, MODULE_INT);
        for (size_t i = 1; i < w.len; i++) {
            if (!ll_digit(w.text[i]) || t->bits > 100000)
                ll_wrong(r, "a type");
            t->bits = t->bits * 10 + (uint32_t)(w.text[i] - '0');
        }
        if (t->bits == 0)
            ll_wrong(r, "a type");
        ll_next(r);
        return t;
    }
    for (size_t i = 0; i < sizeof type_words / sizeof *type_words; i++)
        if (ll_is_name(r, type_words[i].name)) {
            struct module_type *t = ll_type_new(r, type_words[i].kind);
            t->name = type_words[i].name;
            ll_next(r);
            if (t->kind == MODULE_POINTER && ll_take_name(r, "addrspace"))
                ll_skip_brackets(r);
            return t;
        }
    ll_wrong(r, "a type");
}

const struct module_type *ll_type(struct reader *r)
{
    if (++r->depth > CONSTANT_NESTING)
        module_refuse(r->m, r->w.at, NULL, "nesting deeper than %d levels", (int)CONSTANT_NESTING);
    const struct module_type *t = plain_type(r);
    for (;;) {
        if (ll_is_name(r, "addrspace")) {
            ll_next(r);
            ll_skip_brackets(r);
            if (!ll_is_sign(r, "*"))
                ll_wrong(r, "'*'");
        }
        if (ll_take_sign(r, "*")) {
            t = ll_type_new(r, MODULE_POINTER);
            continue;
        }
        if (!ll_is_sign(r, "("))
            break;
        struct module_type *f = ll_type_new(r, MODULE_FUNCTION);
        size_t cap = 0;
        f->result = t;
        ll_next(r);
        while (!ll_take_sign(r, ")")) {
            if (ll_take_sign(r, "..."))
                f->variadic = true;
            else
                ll_type_push(r, f, &cap, ll_type(r));
            if (!ll_is_sign(r, ")"))
                ll_want(r, ",");
        }
        t = f;
    }
    r->depth--;
    return t;
}

bool ll_at_type(const struct reader *r)
{
    if (ll_is_sign(r, "[") || ll_is_sign(r, "{") || ll_is_sign(r, "<") || r->w.kind == WORD_LOCAL)
        return true;
    if (r->w.kind == WORD_NAME && r->w.len > 1 && r->w.text[0] == 'i' && ll_digit(r->w.text[1]))
        return true;
    for (size_t i = 0; i < sizeof type_words / sizeof *type_words; i++)
        if (ll_is_name(r, type_words[i].name))
            return true;
    return false;
}

struct module_value *ll_value_new(struct reader *r, enum module_value_kind kind,
                                  const struct module_type *t)
{
    struct module_value *v = ASL_NEW(r->c, struct module_value);
    v->kind = (uint8_t)kind;
    v->type = t;
    v->at = r->w.at;
    return v;
}

struct module_value *ll_typed_value(struct reader *r)
{
    const struct module_type *t = ll_type(r);
    return ll_value(r, t);
}

void ll_push(struct reader *r, struct module_value *v, size_t *cap, struct module_value *op)
{
    v->ops = asl_grow(r->c, v->ops, v->count, cap, v->count + 1, sizeof(struct module_value *));
    v->ops[v->count++] = op;
}

struct module_value *ll_global_named(struct reader *r, const struct module_type *t)
{
    struct name *n = ll_name_of(r, &r->globals, r->w.text, r->w.len);
    if (!n->is) {
        struct module_value *v = ll_value_new(r, VALUE_UNKNOWN, t);
        v->name = ll_shown(r, '@');
        n->is = v;
    }
    ll_next(r);
    return n->is;
}

static uint64_t int_of(struct reader *r, const struct module_type *t)
{
    const char *p = r->w.text, *end = p + r->w.len;
    bool minus = p < end && *p == '-';
    uint64_t n = 0, limit = t->bits >= 64 ? UINT64_MAX : ((uint64_t)1 << t->bits) - 1;
    for (p += minus; p < end; p++) {
        uint64_t d = (uint64_t)(*p - '0');
        if (!ll_digit(*p) || n > (UINT64_MAX - d) / 10)
            ll_wrong(r, "an int");
        n = n * 10 + d;
    }
    if (t->bits > 64)
        module_refuse(r->m, r->w.at, NULL, "ints have at most 64 bits here, and this one %u",
                      t->bits);
    uint64_t bits = (minus ? 0 - n : n) & limit;
    if (minus ? n > limit / 2 + 1 : n > limit)
        module_refuse(r->m, r->w.at, NULL, "it is no i%u", t->bits);
    ll_next(r);
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
        ll_wrong(r, "a float");
    memcpy(copy, w->text, w->len);
    copy[w->len] = 0;
    double d;
    char *end;
    if (w->len > 2 && copy[0] == '0' && copy[1] == 'x') {
        uint64_t x = strtoull(copy + 2, &end, 16);
        if (*end || w->len > 18)
            ll_wrong(r, "a float: the 16 hexadecimal digits of a double");
        memcpy(&d, &x, sizeof d);
        if (d != d) { /* a NaN keeps its sign and the upper bits of its payload */
            ll_next(r);
            return (uint32_t)(x >> 32 & 0x80000000u) | 0x7f800000u |
                   (uint32_t)(x >> 29 & 0x7fffffu) | ((x >> 29 & 0x7fffffu) ? 0 : 0x400000u);
        }
    } else {
        d = strtod(copy, &end);
        if (*end || end == copy)
            ll_wrong(r, "a float");
    }
    f = (float)d;
    if (d == d && (double)f != d)
        module_refuse(r->m, w->at, NULL, "no float has this value");
    memcpy(&bits, &f, sizeof bits);
    ll_next(r);
    return bits;
}

/* getelementptr, bitcast and addrspacecast of constants. */
static struct module_value *constant_expression(struct reader *r, const struct module_type *t)
{
    struct module_value *v = ll_value_new(r, VALUE_INSTRUCTION, t);
    size_t cap = 0;
    v->id = UINT32_MAX;
    v->op = ll_is_name(r, "getelementptr") ? OPCODE_GEP
            : ll_is_name(r, "bitcast")     ? OPCODE_BITCAST
                                           : OPCODE_ADDRSPACECAST;
    ll_next(r);
    while (r->w.kind == WORD_NAME) { /* inbounds, nuw, inrange(...) */
        bool range = ll_is_name(r, "inrange");
        ll_next(r);
        if (range)
            ll_skip_group(r);
    }
    ll_want(r, "(");
    if (v->op == OPCODE_GEP) {
        v->of = ll_type(r);
        while (ll_take_sign(r, ",")) {
            (void)ll_take_name(r, "inrange");
            ll_push(r, v, &cap, ll_typed_value(r));
        }
        if (v->count == 0 || t->kind != MODULE_POINTER)
            ll_wrong(r, "a pointer and indices");
    } else {
        ll_push(r, v, &cap, ll_typed_value(r));
        ll_want_name(r, "to");
        if (!module_same_type(ll_type(r), t))
            ll_wrong(r, "the type of the constant");
    }
    ll_want(r, ")");
    return v;
}

/* [ type value, ... ] and its like, whose parts fit the type. */
static struct module_value *parts_value(struct reader *r, const struct module_type *t,
                                        const char *close)
{
    struct module_value *v = ll_value_new(r, VALUE_AGGREGATE, t);
    size_t cap = 0;
    ll_next(r);
    if (!ll_is_sign(r, close))
        do {
            const struct module_type *of = ll_type(r), *wanted = module_element(t, v->count);
            if (!wanted || !module_same_type(of, wanted))
                ll_wrong(r, "parts as the type has them");
            ll_push(r, v, &cap, ll_value(r, of));
        } while (ll_take_sign(r, ","));
    if (v->count != t->count)
        ll_wrong(r, "as many parts as the type has");
    ll_want(r, close);
    return v;
}

static int hex(char ch)
{
    return ll_digit(ch)             ? ch - '0'
           : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
           : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                    : -1;
}

/* c"...", \xx is a byte. */
static struct module_value *bytes_value(struct reader *r, const struct module_type *t)
{
    struct module_value *v = ll_value_new(r, VALUE_AGGREGATE, t);
    size_t cap = 0;
    if (t->kind != MODULE_ARRAY || t->of[0]->kind != MODULE_INT || t->of[0]->bits != 8)
        ll_wrong(r, "a constant of another type");
    for (size_t i = 0; i < r->w.len; i++) {
        struct module_value *byte = ll_value_new(r, VALUE_INT, t->of[0]);
        const char *p = r->w.text + i;
        byte->bits = (unsigned char)*p;
        if (*p == '\\' && i + 2 < r->w.len && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
            byte->bits = (unsigned)hex(p[1]) << 4 | (unsigned)hex(p[2]);
            i += 2;
        } else if (*p == '\\' && i + 1 < r->w.len && p[1] == '\\') {
            i++;
        }
        ll_push(r, v, &cap, byte);
    }
    if (v->count != t->count)
        ll_wrong(r, "as many bytes as the type has");
    ll_next(r);
    return v;
}

static struct module_value *splat(struct reader *r, const struct module_type *t)
{
    struct module_value *v = ll_value_new(r, VALUE_AGGREGATE, t);
    size_t cap = 0;
    ll_next(r);
    ll_want(r, "(");
    struct module_value *each = ll_typed_value(r);
    if (t->kind != MODULE_VECTOR || !module_same_type(each->type, t->of[0]) || t->count > 256)
        ll_wrong(r, "an element of a vector");
    for (uint64_t k = 0; k < t->count; k++)
        ll_push(r, v, &cap, each);
    ll_want(r, ")");
    return v;
}

static struct module_value *metadata(struct reader *r, const struct module_type *t)
{
    struct module_value *v = ll_value_new(r, VALUE_METADATA, t);
    while (!ll_is_sign(r, ",") && !ll_is_sign(r, ")")) {
        if (r->w.kind == WORD_END)
            ll_wrong(r, "')'");
        if (ll_is_sign(r, "(") || ll_is_sign(r, "{") || ll_is_sign(r, "["))
            ll_skip_brackets(r);
        else
            ll_next(r);
    }
    return v;
}

static struct module_value *local(struct reader *r, const struct module_type *t)
{
    if (!r->f)
        ll_wrong(r, "a constant");
    struct name *n = ll_name_of(r, &r->values, r->w.text, r->w.len);
    struct module_value *v = n->is;
    if (!v) {
        n->is = v = ll_value_new(r, VALUE_UNKNOWN, t);
        v->name = ll_shown(r, '%');
    }
    if (!module_same_type(v->type, t))
        module_refuse(r->m, r->w.at, NULL, "%s is of type %s, and %s is expected", v->name,
                      module_type_text(r->c, v->type), module_type_text(r->c, t));
    ll_next(r);
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
            ll_wrong(r, module_type_text(r->c, t));
        return ll_global_named(r, t);
    }
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        if (ll_take_name(r, zeros[i]))
            return ll_value_new(r, VALUE_ZERO, t);
    if (ll_is_name(r, "getelementptr") || ll_is_name(r, "bitcast") ||
        ll_is_name(r, "addrspacecast"))
        return constant_expression(r, t);
    if (ll_is_name(r, "splat"))
        return splat(r, t);
    if (r->w.kind == WORD_BYTES)
        return bytes_value(r, t);
    if (t->kind == MODULE_INT && (ll_is_name(r, "true") || ll_is_name(r, "false"))) {
        struct module_value *v = ll_value_new(r, VALUE_INT, t);
        v->bits = ll_is_name(r, "true");
        if (t->bits != 1)
            ll_wrong(r, module_type_text(r->c, t));
        ll_next(r);
        return v;
    }
    if (r->w.kind == WORD_NUMBER && (t->kind == MODULE_INT || t->kind == MODULE_FLOAT)) {
        struct module_value *v =
            ll_value_new(r, t->kind == MODULE_INT ? VALUE_INT : VALUE_FLOAT, t);
        v->bits = t->kind == MODULE_INT ? int_of(r, t) : float_of(r);
        return v;
    }
    if (t->kind == MODULE_OTHER)
        module_refuse(r->m, r->w.at, NULL, "a value of type %s, which ASL does not have",
                      module_type_text(r->c, t));
    if (ll_is_sign(r, "[") && t->kind == MODULE_ARRAY)
        return parts_value(r, t, "]");
    if (ll_is_sign(r, "{") && t->kind == MODULE_STRUCT && !t->packed)
        return parts_value(r, t, "}");
    if (ll_is_sign(r, "<") && t->kind == MODULE_VECTOR)
        return parts_value(r, t, ">");
    if (ll_is_sign(r, "<") && t->kind == MODULE_STRUCT && t->packed) {
        ll_next(r);
        if (!ll_is_sign(r, "{"))
            ll_wrong(r, "'{'");
        struct module_value *v = parts_value(r, t, "}");
        ll_want(r, ">");
        return v;
    }
    if (r->w.kind == WORD_NAME)
        module_refuse(r->m, r->w.at, NULL, "'%.*s': no such constant is taken here",
                      (int)(r->w.len < 60 ? r->w.len : 60), r->w.text);
    ll_wrong(r, asl_sprintf(r->c, "a value of type %s", module_type_text(r->c, t)));
}

struct module_value *ll_value(struct reader *r, const struct module_type *t)
{
    if (++r->depth > CONSTANT_NESTING)
        module_refuse(r->m, r->w.at, NULL, "nesting deeper than %d levels", (int)CONSTANT_NESTING);
    struct module_value *v = value_of(r, t);
    r->depth--;
    return v;
}
