/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm_values.c: what instructions read and write: constants, operands, masks, cells. */
#include "emit_llvm.h"

#include <string.h>

/* ---- names and constants -------------------------------------------------------------------- */

static const char *fresh(struct llvm *l) { return TEXT("%%t%u", l->temps++); }
unsigned ll_fresh_label(struct llvm *l) { return l->temps++; }
void ll_label(struct llvm *l, unsigned n) { L("L%u:\n", n); }
void ll_jump(struct llvm *l, unsigned to) { L("br label %%L%u\n", to); }
void ll_branch(struct llvm *l, const char *c, unsigned yes, unsigned no)
{
    L("br i1 %s, label %%L%u, label %%L%u\n", c, yes, no);
}

bool ll_is_surface(const struct llvm *l) { return l->e.opt->surface; }
int ll_row_align(const struct llvm *l) { return ll_is_surface(l) ? 4 : 64; }

static const char *splat(struct llvm *l, const char *type, const char *x)
{
    struct text t = {0};
    if (l->lanes == 1)
        return x;
    for (unsigned i = 0; i < l->lanes; i++)
        text_printf(&t, "%s%s %s", i ? ", " : "<", type, x);
    const char *s = TEXT("%s>", t.data ? t.data : "");
    text_free(&t);
    return s;
}

/* LLVM writes a float as the double of its value, in hexadecimal where that need not be decimal. */
const char *ll_float_splat(struct llvm *l, float x)
{
    double d = (double)x;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return splat(l, "float", TEXT("0x%016llX", (unsigned long long)bits));
}
const char *ll_int_splat(struct llvm *l, int32_t x) { return splat(l, "i32", TEXT("%d", x)); }

/* A stack slot for `rows` rows. */
const char *ll_slot(struct llvm *l, const char *type, uint32_t rows)
{
    const char *name = fresh(l);
    text_printf(&l->slots, "%s = alloca [%u x %s], align %d\n", name, rows ? rows : 1, type,
                ll_row_align(l));
    return name;
}

/* %t = text */
const char *ll_let(struct llvm *l, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *instruction = emit_vtext(&l->e, fmt, ap);
    va_end(ap);
    const char *name = fresh(l);
    L("%s = %s\n", name, instruction);
    return name;
}

const char *ll_load(struct llvm *l, const char *type, const char *at)
{
    return ll_let(l, "load %s, ptr %s, align 4", type, at);
}
void ll_store(struct llvm *l, const char *type, const char *x, const char *at)
{
    L("store %s %s, ptr %s, align 4\n", type, x, at);
}
/* Row k of an array of rows. */
const char *ll_row_at(struct llvm *l, const char *base, uint32_t k)
{
    return k ? ll_let(l, "getelementptr %s, ptr %s, i64 %u", l->i, base, k) : base;
}

/* A function of the library: declared when it is first called. types: of the parameters. */
void ll_declare(struct llvm *l, const char *result, const char *name, const char *types)
{
    const char *line = TEXT("declare %s @%s(%s)\n", result, name, types);
    if (!l->declared->data || !strstr(l->declared->data, line))
        text_puts(l->declared, line);
}

/* ---- operands ------------------------------------------------------------------------------- */

const char *ll_float(struct llvm *l, ir_value v)
{
    const struct ir_inst *d = l->e.defs[v];
    if (d && d->op == IR_CONST && l->e.layer->types[v] == IR_F) {
        uint32_t bits;
        memcpy(&bits, &d->u.k.f, sizeof bits);
        if ((bits & 0x7FFFFFFFu) > 0x7F800000u) /* not a number: its own bits */
            return ll_let(l, "bitcast %s %s to %s", l->i, ll_int_splat(l, (int32_t)bits), l->f);
        return ll_float_splat(l, d->u.k.f);
    }
    return TEXT("%%v%u", v);
}
const char *ll_int(struct llvm *l, ir_value v)
{
    const struct ir_inst *d = l->e.defs[v];
    enum ir_type t = (enum ir_type)l->e.layer->types[v];
    if (d && d->op == IR_CONST && t != IR_F)
        return ll_int_splat(l, t == IR_I   ? d->u.k.i
                               : t == IR_S ? (int32_t)emit_string_id(&l->e, d->u.k.s)
                                           : 0);
    if (t == IR_F)
        return ll_let(l, "bitcast %s %s to %s", l->f, ll_float(l, v), l->i);
    if (l->e.kinds[v] == EMIT_CONDITION)
        return ll_let(l, "zext %s %%v%u to %s", l->b, v, l->i);
    return TEXT("%%v%u", v);
}
const char *ll_condition(struct llvm *l, ir_value v)
{
    const struct ir_inst *d = l->e.defs[v];
    if (d && d->op == IR_CONST)
        return splat(l, "i1", d->u.k.i ? "true" : "false");
    if (l->e.kinds[v] == EMIT_CONDITION)
        return TEXT("%%v%u", v);
    return ll_let(l, "icmp ne %s %s, zeroinitializer", l->i, ll_int(l, v));
}

/* Value v is that operand of the kind its uses expect. */
void ll_set(struct llvm *l, ir_value v, const char *x)
{
    const char *type = l->e.kinds[v] == EMIT_FLOAT ? l->f : l->e.kinds[v] == EMIT_INT ? l->i : l->b;
    L("%%v%u = select i1 true, %s %s, %s %s\n", v, type, x, type, x);
}
const char *ll_float_bits(struct llvm *l, const char *x)
{
    return ll_let(l, "bitcast %s %s to %s", l->f, x, l->i);
}
static const char *bits_float(struct llvm *l, const char *x)
{
    return ll_let(l, "bitcast %s %s to %s", l->i, x, l->f);
}
void ll_set_bits(struct llvm *l, ir_value v, const char *x)
{
    ll_set(l, v, l->e.kinds[v] == EMIT_FLOAT ? bits_float(l, x) : x);
}

/* ---- masks ---------------------------------------------------------------------------------- */

/* Masks are stack slots of conditions: "%m3". */
const char *ll_mask_load(struct llvm *l, const char *name) { return ll_load(l, l->b, name); }
const char *ll_mask_name(struct llvm *l, unsigned n) { return TEXT("%%m%u", n); }
const char *ll_mask_now(struct llvm *l)
{
    return ll_mask_load(l, ll_mask_name(l, l->e.region->mask));
}
const char *ll_mask_not(struct llvm *l, const char *m)
{
    return ll_let(l, "xor %s %s, %s", l->b, m, splat(l, "i1", "true"));
}
const char *ll_mask_and(struct llvm *l, const char *a, const char *b)
{
    return ll_let(l, "and %s %s, %s", l->b, a, b);
}
const char *ll_mask_or(struct llvm *l, const char *a, const char *b)
{
    return ll_let(l, "or %s %s, %s", l->b, a, b);
}
const char *ll_mask_any(struct llvm *l, const char *m)
{
    const char *x = ll_let(l, "bitcast %s %s to i%u", l->b, m, l->lanes);
    return ll_let(l, "icmp ne i%u %s, 0", l->lanes, x);
}
/* As the library has it: 0 or -1. */
const char *ll_mask_ints(struct llvm *l, const char *m)
{
    return ll_let(l, "sext %s %s to %s", l->b, m, l->i);
}
unsigned ll_mask_new(struct llvm *l)
{
    unsigned n = ++l->e.depth;
    text_printf(&l->slots, "%%m%u = alloca %s, align 4\n", n, l->b);
    return n;
}
void ll_mask_drop(struct llvm *l, const char *name, const char *what) /* name &= ~what */
{
    ll_store(l, l->b, ll_mask_and(l, ll_mask_load(l, name), ll_mask_not(l, ll_mask_load(l, what))),
             name);
}

/* ---- cells ---------------------------------------------------------------------------------- */

const char *ll_cell_base(struct llvm *l, uint32_t cell)
{
    if (l->e.code->cells[cell].scope == IR_LOCAL)
        return TEXT("%%c%u", cell);
    return ll_let(l, "getelementptr %s, ptr %%st, i64 %u", l->i, l->cell_at[cell]);
}

/* The slot of a place: a number at *base, plus what is returned (a row of ints), if not NULL. */
const char *ll_slot_of(struct llvm *l, const struct ir_inst *i, const struct ir_place *p,
                       uint32_t more, uint32_t *base)
{
    const char *sum = NULL;
    *base = p->base + more;
    for (uint32_t k = 0; k < p->index_count; k++) {
        const struct ir_index *x = &p->index[k];
        ir_value v = i->operands[x->operand];
        int32_t fixed;
        if (emit_constant_int(&l->e, v, &fixed)) {
            uint32_t at = fixed < 0 ? 0 : (uint32_t)fixed;
            *base += x->stride * (at >= x->count ? x->count - 1 : at);
            continue;
        }
        ll_declare(l, l->i, "al_clamp_index", TEXT("%s, i32", l->i));
        const char *term =
            ll_let(l, "call %s @al_clamp_index(%s %s, i32 %u)", l->i, l->i, ll_int(l, v), x->count);
        if (x->stride != 1)
            term = ll_let(l, "mul %s %s, %s", l->i, term, ll_int_splat(l, (int32_t)x->stride));
        sum = sum ? ll_let(l, "add %s %s, %s", l->i, sum, term) : term;
    }
    return sum && *base ? ll_let(l, "add %s %s, %s", l->i, sum, ll_int_splat(l, (int32_t)*base))
                        : sum;
}

const char *ll_cell_load(struct llvm *l, const struct ir_inst *i, const struct ir_place *p,
                         uint32_t more, const char *type)
{
    uint32_t base;
    const char *at = ll_slot_of(l, i, p, more, &base), *cell = ll_cell_base(l, p->cell);
    if (!at)
        return ll_load(l, type, ll_row_at(l, cell, base));
    bool floats = type == l->f;
    const char *name = floats ? "al_gather" : "al_gatheri";
    ll_declare(l, type, name, TEXT("ptr, %s", l->i));
    return ll_let(l, "call %s @%s(ptr %s, %s %s)", type, name, cell, l->i, at);
}

void ll_cell_store(struct llvm *l, const struct ir_inst *i, const struct ir_place *p, uint32_t more,
                   const char *type, const char *x)
{
    uint32_t base;
    const char *at = ll_slot_of(l, i, p, more, &base), *cell = ll_cell_base(l, p->cell);
    if (at) {
        const char *name = type == l->f ? "al_scatter" : "al_scatteri";
        ll_declare(l, "void", name, TEXT("ptr, %s, %s, %s", l->i, type, l->i));
        L("call void @%s(ptr %s, %s %s, %s %s, %s %s)\n", name, cell, l->i, at, type, x, l->i,
          ll_is_surface(l) ? "-1" : ll_mask_ints(l, ll_mask_now(l)));
        return;
    }
    const char *where = ll_row_at(l, cell, base);
    if (!ll_is_surface(l) && !emit_stores_freely(&l->e, p->cell))
        x = ll_let(l, "select %s %s, %s %s, %s %s", l->b, ll_mask_now(l), type, x, type,
                   ll_load(l, type, where));
    ll_store(l, type, x, where);
}
