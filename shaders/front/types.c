/* SPDX-License-Identifier: Apache-2.0 */
/* types.c: types, their texts, and the conversions between them. */
#include "asl.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t slots;
} bases[] = {
    [ASL_UNKNOWN] = {"unknown", 0},
    [ASL_VOID] = {"void", 0},
    [ASL_INT] = {"int", 1},
    [ASL_FLOAT] = {"float", 1},
    [ASL_COLOR] = {"color", 3},
    [ASL_POINT] = {"point", 3},
    [ASL_VECTOR] = {"vector", 3},
    [ASL_NORMAL] = {"normal", 3},
    [ASL_MATRIX] = {"matrix", 16},
    [ASL_STRING] = {"string", 1},
    [ASL_CLOSURE] = {"closure color", 1},
    [ASL_STRUCT] = {"struct", 0},
};

const char *asl_type_text(struct asl_type t, char *buf, size_t size)
{
    const char *name = t.base == ASL_STRUCT && t.st ? t.st->name : bases[t.base].name;
    if (t.array > 0)
        (void)snprintf(buf, size, "%.60s[%d]", name, (int)t.array);
    else
        (void)snprintf(buf, size, "%.60s%s", name, t.array ? "[]" : "");
    return buf;
}

size_t asl_type_slots(struct asl_type t)
{
    size_t one = t.base == ASL_STRUCT ? (t.st ? t.st->slots : 0) : bases[t.base].slots;
    return t.array < 0 ? 0 : t.array > 0 ? one * (size_t)t.array : one;
}

size_t asl_struct_fields(struct asl_type t)
{
    return t.base == ASL_STRUCT && t.st ? t.st->field_count : 0;
}

struct asl_type_field asl_struct_field(struct asl_type t, size_t index)
{
    const struct asl_field *f = &t.st->fields[index];
    return (struct asl_type_field){f->name, f->type, f->offset};
}

const struct asl_symbol *asl_root_symbol(const struct asl_expr *e)
{
    while (e->kind == E_INDEX || e->kind == E_FIELD || e->kind == E_MELEM)
        e = e->a;
    return e->kind == E_SYMBOL ? e->symbol : NULL;
}

bool asl_passed_itself(const struct asl_expr *arg)
{
    while (arg->kind == E_FIELD)
        arg = arg->a;
    return arg->kind == E_SYMBOL;
}

bool asl_shows_changes(const struct asl_formal *a, const struct asl_expr *arg)
{
    return (a->output && asl_root_symbol(arg)) || (a->symbol->written && asl_passed_itself(arg));
}

struct asl_type asl_element_type(struct asl_type t)
{
    t.array = 0;
    return t;
}

enum asl_base asl_type_scalar(struct asl_type t, size_t slot)
{
    struct asl_type one = asl_element_type(t);
    size_t n = asl_type_slots(one);
    if (n)
        slot %= n;
    if (t.base != ASL_STRUCT)
        return t.base == ASL_INT || t.base == ASL_STRING || t.base == ASL_CLOSURE ? t.base
                                                                                  : ASL_FLOAT;
    for (size_t i = t.st ? t.st->field_count : 0; i-- > 0;)
        if (slot >= t.st->fields[i].offset)
            return asl_type_scalar(t.st->fields[i].type, slot - t.st->fields[i].offset);
    return ASL_FLOAT;
}

bool asl_base_from_name(const char *name, size_t len, enum asl_base *out)
{
    for (int b = ASL_VOID; b <= ASL_STRING; b++) {
        if (strlen(bases[b].name) == len && memcmp(bases[b].name, name, len) == 0) {
            *out = (enum asl_base)b;
            return true;
        }
    }
    return false;
}

enum status asl_type_parse(const char *text, struct asl_type *out, struct error *err)
{
    struct asl_type t = {0};
    size_t n = strcspn(text, "[");
    if (!asl_base_from_name(text, n, &t.base) || t.base == ASL_VOID)
        return error_msg(err, STATUS_TYPE,
                         "'%s' is no type; expected int, float, color, point, vector, normal, "
                         "matrix or string, maybe with [N]",
                         text);
    if (text[n] == '[') {
        char *end;
        long len = strtol(text + n + 1, &end, 10);
        if (strcmp(end, "]") != 0 || len < 0 || len > 1 << 24 || (len == 0 && end != text + n + 1))
            return error_msg(err, STATUS_TYPE,
                             "'%s' is no type; expected an array length such as [3]", text);
        t.array = len ? (int32_t)len : -1;
    }
    *out = t;
    return STATUS_OK;
}

bool asl_same_type(struct asl_type a, struct asl_type b)
{
    return a.base == b.base && a.array == b.array && (a.base != ASL_STRUCT || a.st == b.st);
}

bool asl_has_floats(struct asl_type t)
{
    if (t.base != ASL_STRUCT)
        return t.base >= ASL_FLOAT && t.base <= ASL_MATRIX;
    for (size_t i = 0; t.st && i < t.st->field_count; i++)
        if (asl_has_floats(t.st->fields[i].type))
            return true;
    return false;
}

/* Prices:
 *    0   the same
 *    1   point, vector and normal among themselves; to an array of open length
 *    2   between those and color
 *    4   int to float
 *    8   float to a triple
 *   12   int to a triple
 *   16   to a matrix
 * One dearer conversion never outweighs another argument's exact match by accident because prices
 * only break ties between overloads that all apply. */
bool asl_converts(struct asl_type from, struct asl_type to, unsigned *cost)
{
    unsigned price = 0;
    if (from.base == ASL_UNKNOWN || to.base == ASL_UNKNOWN) {
        price = 0;
    } else if (from.array || to.array) {
        struct asl_type a = asl_element_type(from), b = asl_element_type(to);
        bool length = from.array == to.array || (to.array == -1 && from.array != 0);
        if (!length || !asl_same_type(a, b))
            return false;
        price = from.array != to.array;
    } else if (asl_same_type(from, to)) {
        price = 0;
    } else if (asl_is_triple(from) && asl_is_triple(to)) {
        price = from.base == ASL_COLOR || to.base == ASL_COLOR ? 2 : 1;
    } else if (from.base == ASL_INT && to.base == ASL_FLOAT) {
        price = 4;
    } else if (asl_is_scalar(from) && asl_is_triple(to)) {
        price = from.base == ASL_FLOAT ? 8 : 12;
    } else if (asl_is_scalar(from) && to.base == ASL_MATRIX) {
        price = 16;
    } else {
        return false;
    }
    if (cost)
        *cost = price;
    return true;
}
