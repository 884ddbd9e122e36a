/* SPDX-License-Identifier: Apache-2.0 */
/* module_types.c: types of modules: sizes, parts, names. */
#include "module/module.h"

#include <string.h>

enum { TYPE_PARTS = 4096 };
#define TYPE_BYTES ((uint64_t)1 << 30)

/* Types inside one another, an array's element once: what a walk over the type costs. One that holds
 * itself has too many. */
static uint32_t parts(const struct module_type *t)
{
    struct module_type *kept = (struct module_type *)t;
    if (kept->parts)
        return kept->parts;
    kept->parts = TYPE_PARTS + 1; /* which it is inside itself */
    uint32_t n = 1;
    uint64_t each = t->kind == MODULE_ARRAY || t->kind == MODULE_VECTOR ? 1 : t->count;
    if (t->kind == MODULE_FUNCTION)
        n += parts(t->result);
    for (uint64_t k = 0; t->of && k < each && n <= TYPE_PARTS; k++)
        n += parts(t->of[k]);
    return kept->parts = n > TYPE_PARTS ? TYPE_PARTS + 1 : n;
}

static void check_parts(struct module *m, const struct module_type *t, struct asl_loc at)
{
    if (parts(t) > TYPE_PARTS)
        module_refuse(m, at, NULL, "a type of more than %d parts", (int)TYPE_PARTS);
}

bool module_same_type(const struct module_type *a, const struct module_type *b)
{
    if (a == b)
        return true;
    if (parts(a) > TYPE_PARTS || parts(b) > TYPE_PARTS)
        return false;
    if (a->kind != b->kind || a->bits != b->bits || a->count != b->count ||
        a->packed != b->packed || a->variadic != b->variadic || a->opaque || b->opaque)
        return false;
    if (a->kind == MODULE_OTHER)
        return strcmp(a->name, b->name) == 0;
    if (a->kind == MODULE_ARRAY || a->kind == MODULE_VECTOR)
        return module_same_type(a->of[0], b->of[0]);
    if (a->kind == MODULE_FUNCTION && !module_same_type(a->result, b->result))
        return false;
    for (uint64_t k = 0; a->of && k < a->count; k++)
        if (!module_same_type(a->of[k], b->of[k]))
            return false;
    return true;
}

struct layout {
    uint64_t size, align; /* size: the stride of an array */
};

static uint64_t rounded(uint64_t size, uint64_t align)
{
    return (size + align - 1) / align * align;
}

/* The natural layout, as the data layouts of all processors of 64 bits have it for these types.
 * *offset: of a struct, where that field begins. */
static struct layout layout(struct module *m, const struct module_type *t, uint64_t field,
                            uint64_t *offset, struct asl_loc at)
{
    struct layout l = {0, 1};
    switch (t->kind) {
    case MODULE_INT:
        l.align = 1;
        while (l.align * 8 < t->bits)
            l.align *= 2;
        l.size = rounded((t->bits + 7) / 8, l.align);
        if (l.align == 8 && m->long_align == 4)
            l.align = 4;
        break;
    case MODULE_FLOAT:
        l = (struct layout){4, 4};
        break;
    case MODULE_POINTER:
        l.size = l.align = m->pointer_bits == 32 ? 4 : 8;
        break;
    case MODULE_ARRAY:
    case MODULE_VECTOR: {
        struct layout e = layout(m, t->of[0], UINT64_MAX, NULL, at);
        if (t->kind == MODULE_VECTOR && t->of[0]->kind == MODULE_INT && t->of[0]->bits % 8 != 0)
            module_refuse(m, at, NULL, "%s is kept in memory", module_type_text(m->c, t));
        if (e.size && t->count > TYPE_BYTES / e.size)
            module_refuse(m, at, NULL, "%s is larger than 1 GiB", module_type_text(m->c, t));
        l.size = e.size * t->count;
        l.align = e.align;
        if (t->kind == MODULE_VECTOR) {
            while (l.align < l.size)
                l.align *= 2;
            l.size = rounded(l.size, l.align);
        }
        break;
    }
    case MODULE_STRUCT:
        if (t->opaque)
            module_refuse(m, at, NULL, "%s has no fields", module_type_text(m->c, t));
        for (uint64_t k = 0; k < t->count; k++) {
            struct layout f = layout(m, t->of[k], UINT64_MAX, NULL, at);
            if (!t->packed) {
                l.size = rounded(l.size, f.align);
                l.align = f.align > l.align ? f.align : l.align;
            }
            if (k == field)
                *offset = l.size;
            l.size += f.size;
            if (l.size > TYPE_BYTES)
                module_refuse(m, at, NULL, "a struct is larger than 1 GiB");
        }
        l.size = rounded(l.size, l.align);
        break;
    default:
        module_refuse(m, at, NULL, "%s is no type of a value in memory", module_type_text(m->c, t));
    }
    return l;
}

uint64_t module_type_size(struct module *m, const struct module_type *t, struct asl_loc at)
{
    check_parts(m, t, at);
    return layout(m, t, UINT64_MAX, NULL, at).size;
}

uint64_t module_field_offset(struct module *m, const struct module_type *t, uint64_t field,
                             struct asl_loc at)
{
    uint64_t offset = 0;
    check_parts(m, t, at);
    (void)layout(m, t, field, &offset, at);
    return offset;
}

const struct module_type *module_element(const struct module_type *t, uint64_t k)
{
    bool list = t->kind == MODULE_ARRAY || t->kind == MODULE_VECTOR;
    if ((!list && t->kind != MODULE_STRUCT) || k >= t->count)
        return NULL;
    return t->of[list ? 0 : k];
}

static size_t scalars(const struct module_type *t)
{
    if (t->kind == MODULE_ARRAY || t->kind == MODULE_VECTOR) {
        size_t each = scalars(t->of[0]);
        return each && t->count > ASL_MAX_ARRAY / each ? ASL_MAX_ARRAY + 1
                                                       : each * (size_t)t->count;
    }
    if (t->kind != MODULE_STRUCT)
        return 1;
    size_t n = 0;
    for (uint64_t k = 0; k < t->count && n <= ASL_MAX_ARRAY; k++)
        n += scalars(t->of[k]);
    return n;
}

size_t module_scalars(struct module *m, const struct module_type *t, struct asl_loc at)
{
    check_parts(m, t, at);
    size_t n = t->kind == MODULE_VOID ? 0 : scalars(t);
    if (n > 256)
        module_refuse(m, at, "keep it in memory: alloca, load and store of its parts",
                      "a value of more than 256 numbers");
    return n;
}

static void type_put(struct text *out, const struct module_type *t, unsigned depth)
{
    if (depth > 4) {
        text_puts(out, "...");
        return;
    }
    switch (t->kind) {
    case MODULE_VOID:
        text_puts(out, "void");
        return;
    case MODULE_INT:
        text_printf(out, "i%u", t->bits);
        return;
    case MODULE_FLOAT:
        text_puts(out, "float");
        return;
    case MODULE_POINTER:
        text_puts(out, "ptr");
        return;
    case MODULE_ARRAY:
    case MODULE_VECTOR:
        text_printf(out, "%c%llu x ", t->kind == MODULE_ARRAY ? '[' : '<',
                    (unsigned long long)t->count);
        type_put(out, t->of[0], depth + 1);
        text_puts(out, t->kind == MODULE_ARRAY ? "]" : ">");
        return;
    case MODULE_STRUCT:
        text_puts(out, t->packed ? "<{" : "{");
        for (uint64_t k = 0; k < t->count && k < 8; k++) {
            text_puts(out, k ? ", " : " ");
            type_put(out, t->of[k], depth + 1);
        }
        text_puts(out, t->count > 8 ? ", ..." : "");
        text_puts(out, t->packed ? " }>" : " }");
        return;
    case MODULE_FUNCTION:
        text_puts(out, "a function");
        return;
    case MODULE_LABEL:
        text_puts(out, "label");
        return;
    case MODULE_METADATA:
        text_puts(out, "metadata");
        return;
    case MODULE_OTHER:
        text_puts(out, t->name);
        return;
    }
}

const char *module_type_text(struct asl_compile *c, const struct module_type *t)
{
    struct text out = {0};
    type_put(&out, t, 0);
    const char *kept = asl_strndup(c, out.data ? out.data : "", out.len);
    text_free(&out);
    return kept;
}
