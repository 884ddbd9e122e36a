/* SPDX-License-Identifier: Apache-2.0 */
/* emit_llvm.c: IR to the text of LLVM IR, in what versions 15 and 19 share (opaque pointers). It is
 * the wide text of emit_c.c again: values are rows of lanes, every region has a mask of the lanes
 * that are in it. Calls go to device/linked/shade_library.c, which is linked to it; masks and cells
 * that change are stack slots, which LLVM makes registers of. */
#include "emit_llvm.h"

#include <stdlib.h>
#include <string.h>

enum { /* struct al_run of shade_library.c */
       RUN_ARGS = 0,
       RUN_BUDGET = 16,
       RUN_TURNS = 20,
       RUN_FAILED = 24,
       RUN_POINT = 64
};

/* ---- names and constants -------------------------------------------------------------------- */

static const char *fresh(struct llvm *l) { return TEXT("%%t%u", l->temps++); }
unsigned ll_fresh_label(struct llvm *l) { return l->temps++; }
void ll_label(struct llvm *l, unsigned n) { L("L%u:\n", n); }
void ll_jump(struct llvm *l, unsigned to) { L("br label %%L%u\n", to); }
void ll_branch(struct llvm *l, const char *c, unsigned yes, unsigned no)
{
    L("br i1 %s, label %%L%u, label %%L%u\n", c, yes, no);
}

/* Surfaces have one lane and no masks: control flow is LLVM's own. */
static bool surface(const struct llvm *l) { return l->e.opt->surface; }

static int row_align(const struct llvm *l) { return surface(l) ? 4 : 64; }

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
static const char *float_splat(struct llvm *l, float x)
{
    double d = (double)x;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return splat(l, "float", TEXT("0x%016llX", (unsigned long long)bits));
}
static const char *int_splat(struct llvm *l, int32_t x) { return splat(l, "i32", TEXT("%d", x)); }

/* A stack slot for `rows` rows. */
const char *ll_slot(struct llvm *l, const char *type, uint32_t rows)
{
    const char *name = fresh(l);
    text_printf(&l->slots, "%s = alloca [%u x %s], align %d\n", name, rows ? rows : 1, type,
                row_align(l));
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
            return ll_let(l, "bitcast %s %s to %s", l->i, int_splat(l, (int32_t)bits), l->f);
        return float_splat(l, d->u.k.f);
    }
    return TEXT("%%v%u", v);
}
const char *ll_int(struct llvm *l, ir_value v)
{
    const struct ir_inst *d = l->e.defs[v];
    enum ir_type t = (enum ir_type)l->e.layer->types[v];
    if (d && d->op == IR_CONST && t != IR_F)
        return int_splat(l, t == IR_I   ? d->u.k.i
                            : t == IR_S ? (int32_t)emit_string_id(&l->e, d->u.k.s)
                                        : 0);
    if (t == IR_F)
        return ll_let(l, "bitcast %s %s to %s", l->f, ll_float(l, v), l->i);
    if (l->e.kinds[v] == EMIT_CONDITION)
        return ll_let(l, "zext %s %%v%u to %s", l->b, v, l->i);
    return TEXT("%%v%u", v);
}
static const char *as_condition(struct llvm *l, ir_value v)
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
static const char *float_bits(struct llvm *l, const char *x)
{
    return ll_let(l, "bitcast %s %s to %s", l->f, x, l->i);
}
static const char *bits_float(struct llvm *l, const char *x)
{
    return ll_let(l, "bitcast %s %s to %s", l->i, x, l->f);
}
static void set_bits(struct llvm *l, ir_value v, const char *x)
{
    ll_set(l, v, l->e.kinds[v] == EMIT_FLOAT ? bits_float(l, x) : x);
}

/* ---- masks ---------------------------------------------------------------------------------- */

/* Masks are stack slots of conditions: "%m3". */
static const char *mask_load(struct llvm *l, const char *name) { return ll_load(l, l->b, name); }
static const char *mask_name(struct llvm *l, unsigned n) { return TEXT("%%m%u", n); }
static const char *mask_now(struct llvm *l)
{
    return mask_load(l, mask_name(l, l->e.region->mask));
}
static const char *mask_not(struct llvm *l, const char *m)
{
    return ll_let(l, "xor %s %s, %s", l->b, m, splat(l, "i1", "true"));
}
static const char *mask_and(struct llvm *l, const char *a, const char *b)
{
    return ll_let(l, "and %s %s, %s", l->b, a, b);
}
static const char *mask_or(struct llvm *l, const char *a, const char *b)
{
    return ll_let(l, "or %s %s, %s", l->b, a, b);
}
static const char *mask_any(struct llvm *l, const char *m)
{
    const char *x = ll_let(l, "bitcast %s %s to i%u", l->b, m, l->lanes);
    return ll_let(l, "icmp ne i%u %s, 0", l->lanes, x);
}
/* As the library has it: 0 or -1. */
static const char *mask_ints(struct llvm *l, const char *m)
{
    return ll_let(l, "sext %s %s to %s", l->b, m, l->i);
}
static unsigned mask_new(struct llvm *l)
{
    unsigned n = ++l->e.depth;
    text_printf(&l->slots, "%%m%u = alloca %s, align 4\n", n, l->b);
    return n;
}
static void mask_drop(struct llvm *l, const char *name, const char *what) /* name &= ~what */
{
    ll_store(l, l->b, mask_and(l, mask_load(l, name), mask_not(l, mask_load(l, what))), name);
}

/* ---- cells ---------------------------------------------------------------------------------- */

const char *ll_cell_base(struct llvm *l, uint32_t cell)
{
    if (l->e.code->cells[cell].scope == IR_LOCAL)
        return TEXT("%%c%u", cell);
    return ll_let(l, "getelementptr %s, ptr %%st, i64 %u", l->i, l->cell_at[cell]);
}

/* The slot of a place: a number at *base, plus what is returned (a row of ints), if not NULL. */
static const char *slot_of(struct llvm *l, const struct ir_inst *i, const struct ir_place *p,
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
            term = ll_let(l, "mul %s %s, %s", l->i, term, int_splat(l, (int32_t)x->stride));
        sum = sum ? ll_let(l, "add %s %s, %s", l->i, sum, term) : term;
    }
    return sum && *base ? ll_let(l, "add %s %s, %s", l->i, sum, int_splat(l, (int32_t)*base)) : sum;
}

const char *ll_cell_load(struct llvm *l, const struct ir_inst *i, const struct ir_place *p,
                         uint32_t more, const char *type)
{
    uint32_t base;
    const char *at = slot_of(l, i, p, more, &base), *cell = ll_cell_base(l, p->cell);
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
    const char *at = slot_of(l, i, p, more, &base), *cell = ll_cell_base(l, p->cell);
    if (at) {
        const char *name = type == l->f ? "al_scatter" : "al_scatteri";
        ll_declare(l, "void", name, TEXT("ptr, %s, %s, %s", l->i, type, l->i));
        L("call void @%s(ptr %s, %s %s, %s %s, %s %s)\n", name, cell, l->i, at, type, x, l->i,
          surface(l) ? "-1" : mask_ints(l, mask_now(l)));
        return;
    }
    const char *where = ll_row_at(l, cell, base);
    if (!surface(l) && !emit_stores_freely(&l->e, p->cell))
        x = ll_let(l, "select %s %s, %s %s, %s %s", l->b, mask_now(l), type, x, type,
                   ll_load(l, type, where));
    ll_store(l, type, x, where);
}

/* ---- control flow --------------------------------------------------------------------------- */

static void block(struct llvm *l, const struct ir_block *b);

static void region(struct llvm *l, const struct ir_block *b, unsigned mask)
{
    struct emit_region r = {.up = l->e.region, .block = b, .mask = mask};
    l->e.region = &r;
    if (b)
        block(l, b);
    l->e.region = r.up;
}

static void shrink(struct llvm *l)
{
    mask_drop(l, mask_name(l, l->e.region->mask), "%off");
    l->e.region->shrunk = true;
}

/* The block, where any lane of the mask is left. */
static void region_if_any(struct llvm *l, const struct ir_block *b, unsigned mask)
{
    if (!b || !b->first)
        return;
    unsigned in = ll_fresh_label(l), out = ll_fresh_label(l);
    ll_branch(l, mask_any(l, mask_load(l, mask_name(l, mask))), in, out);
    ll_label(l, in);
    region(l, b, mask);
    ll_jump(l, out);
    ll_label(l, out);
}

/* ---- control flow of one lane: labels ------------------------------------------------------- */

static void if_one(struct llvm *l, const struct ir_inst *i)
{
    unsigned yes = ll_fresh_label(l), no = ll_fresh_label(l), out = ll_fresh_label(l);
    ll_branch(l, as_condition(l, i->operands[0]), yes, no);
    ll_label(l, yes);
    region(l, i->body, 0);
    ll_jump(l, out);
    ll_label(l, no);
    region(l, i->other, 0);
    ll_jump(l, out);
    ll_label(l, out);
}

static void loop_one(struct llvm *l, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(&l->e, i);
    unsigned head = ll_fresh_label(l);
    l->e.loop_depth++;
    ll_jump(l, head);
    ll_label(l, head);
    region(l, i->body, 0);
    L("br label %%cont%u\ncont%u:\n", id, id);
    region(l, i->other, 0);
    l->e.loop_depth--;
    ll_surface_turn(l, id);
    ll_jump(l, head);
    L("out%u:\n", id);
}

static void block_one(struct llvm *l, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(&l->e, i);
    region(l, i->body, 0);
    L("br label %%out%u\nout%u:\n", id, id);
}

/* What stands behind it in its block is not reached. */
static void leave_one(struct llvm *l, const struct ir_inst *i)
{
    if (i->op == IR_RETURN)
        L("ret void\n");
    else
        L("br label %%%s%u\n", i->op == IR_BREAK ? "out" : "cont", i->u.target->mark);
    ll_label(l, ll_fresh_label(l));
}

static void control_one(struct llvm *l, const struct ir_inst *i)
{
    switch (i->op) {
    case IR_IF:
        if_one(l, i);
        return;
    case IR_LOOP:
        loop_one(l, i);
        return;
    case IR_BLOCK:
        block_one(l, i);
        return;
    default:
        leave_one(l, i);
    }
}

/* ---- control flow of rows: masks ------------------------------------------------------------ */

static void if_(struct llvm *l, const struct ir_inst *i)
{
    const char *c = as_condition(l, i->operands[0]), *up = mask_now(l);
    if (l->e.region->test == i) {
        unsigned on = ll_fresh_label(l);
        const char *stays = emit_even_stays(i) ? c : mask_not(l, c);
        ll_branch(l, mask_any(l, mask_and(l, up, stays)), on, l->e.region->out);
        ll_label(l, on);
        return;
    }
    unsigned yes = mask_new(l), no = mask_new(l);
    ll_store(l, l->b, mask_and(l, up, c), mask_name(l, yes));
    ll_store(l, l->b, mask_and(l, up, mask_not(l, c)), mask_name(l, no));
    region_if_any(l, i->body, yes);
    region_if_any(l, i->other, no);
    if (emit_leaves(i->body, i) || emit_leaves(i->other, i))
        shrink(l);
}

/* Slots for the lanes that left by `break` and by `continue`. */
static void targets_new(struct llvm *l, uint32_t id)
{
    static const char *const names[] = {"out", "cont"};
    for (int k = 0; k < 2; k++) {
        text_printf(&l->slots, "%%%s%u = alloca %s, align 4\n", names[k], id, l->b);
        ll_store(l, l->b, "zeroinitializer", TEXT("%%%s%u", names[k], id));
    }
}

/* A turn of a loop: the layer returns when the budget is spent. */
static void turn(struct llvm *l, uint32_t id)
{
    const char *at = ll_let(l, "getelementptr i8, ptr %%run, i64 %d", RUN_TURNS);
    const char *n = ll_let(l, "add i32 %s, 1", ll_load(l, "i32", at));
    ll_store(l, "i32", n, at);
    const char *budget =
        ll_load(l, "i32", ll_let(l, "getelementptr i8, ptr %%run, i64 %d", RUN_BUDGET));
    unsigned spent = ll_fresh_label(l), on = ll_fresh_label(l);
    ll_branch(l, ll_let(l, "icmp ugt i32 %s, %s", n, budget), spent, on);
    ll_label(l, spent);
    ll_store(l, "i32", TEXT("%u", id + 1),
             ll_let(l, "getelementptr i8, ptr %%run, i64 %d", RUN_FAILED));
    L("ret void\n");
    ll_label(l, on);
}

/* A loop that all lanes leave together. */
static void even_loop(struct llvm *l, const struct ir_inst *i, const struct ir_inst *test,
                      uint32_t id)
{
    unsigned head = ll_fresh_label(l);
    struct emit_region r = {
        .up = l->e.region, .mask = l->e.region->mask, .test = test, .out = ll_fresh_label(l)};
    l->e.region = &r;
    ll_jump(l, head);
    ll_label(l, head);
    for (int k = 0; k < 2; k++) {
        r.block = k ? i->other : i->body;
        if (r.block)
            block(l, r.block);
    }
    turn(l, id);
    ll_jump(l, head);
    ll_label(l, r.out);
    l->e.region = r.up;
}

static void loop(struct llvm *l, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(&l->e, i);
    const struct ir_inst *test = emit_even_test(&l->e, i);
    if (test) {
        even_loop(l, i, test, id);
        return;
    }
    unsigned in = mask_new(l), body = mask_new(l), other = mask_new(l);
    const char *in_name = mask_name(l, in), *cont = TEXT("%%cont%u", id);
    targets_new(l, id);
    ll_store(l, l->b, mask_now(l), in_name);
    unsigned head = ll_fresh_label(l), again = ll_fresh_label(l), out = ll_fresh_label(l);
    ll_jump(l, head);
    ll_label(l, head);
    ll_store(l, l->b, mask_load(l, in_name), mask_name(l, body));
    region(l, i->body, body);
    mask_drop(l, "%off", cont);
    ll_store(l, l->b, "zeroinitializer", cont);
    mask_drop(l, in_name, "%off");
    if (i->other && i->other->first) {
        ll_store(l, l->b, mask_load(l, in_name), mask_name(l, other));
        region(l, i->other, other);
        mask_drop(l, in_name, "%off");
    }
    ll_branch(l, mask_any(l, mask_load(l, in_name)), again, out);
    ll_label(l, again);
    turn(l, id);
    ll_jump(l, head);
    ll_label(l, out);
    mask_drop(l, "%off", TEXT("%%out%u", id));
    if (emit_leaves(i->body, i) || emit_leaves(i->other, i))
        shrink(l);
}

static void block_(struct llvm *l, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(&l->e, i);
    unsigned in = mask_new(l);
    targets_new(l, id);
    ll_store(l, l->b, mask_now(l), mask_name(l, in));
    region(l, i->body, in);
    mask_drop(l, "%off", TEXT("%%out%u", id));
    if (emit_leaves(i->body, i))
        shrink(l);
}

static void leave(struct llvm *l, const struct ir_inst *i)
{
    const char *m = mask_now(l);
    ll_store(l, l->b, mask_or(l, mask_load(l, "%off"), m), "%off");
    if (i->op != IR_RETURN) {
        const char *to = TEXT("%%%s%u", i->op == IR_BREAK ? "out" : "cont", i->u.target->mark);
        ll_store(l, l->b, mask_or(l, mask_load(l, to), m), to);
    }
    ll_store(l, l->b, "zeroinitializer", mask_name(l, l->e.region->mask));
    l->e.region->shrunk = true;
}

static void control(struct llvm *l, const struct ir_inst *i)
{
    switch (i->op) {
    case IR_IF:
        if_(l, i);
        return;
    case IR_LOOP:
        loop(l, i);
        return;
    case IR_BLOCK:
        block_(l, i);
        return;
    default:
        leave(l, i);
    }
}

/* ---- operations ----------------------------------------------------------------------------- */

/* kind: f, i: one instruction of that name; F, I: a function of the library on floats, ints; c, d:
 * a comparison of floats, ints. */
static const struct {
    uint8_t op;
    char kind;
    const char *name;
} ops[] = {
    {IR_IADD, 'i', "add"},        {IR_ISUB, 'i', "sub"},      {IR_IMUL, 'i', "mul"},
    {IR_IAND, 'i', "and"},        {IR_IXOR, 'i', "xor"},      {IR_IOR, 'i', "or"},
    {IR_IDIV, 'I', "al_idiv"},    {IR_IMOD, 'I', "al_imod"},  {IR_ISHL, 'I', "al_ishl"},
    {IR_ISHR, 'I', "al_ishr"},    {IR_ILT, 'd', "slt"},       {IR_ILE, 'd', "sle"},
    {IR_IGT, 'd', "sgt"},         {IR_IGE, 'd', "sge"},       {IR_IEQ, 'd', "eq"},
    {IR_INE, 'd', "ne"},          {IR_SEQ, 'd', "eq"},        {IR_FADD, 'f', "fadd"},
    {IR_FSUB, 'f', "fsub"},       {IR_FMUL, 'f', "fmul"},     {IR_FDIV, 'F', "al_fdiv"},
    {IR_FREM, 'F', "al_fmod"},    {IR_FLT, 'c', "olt"},       {IR_FLE, 'c', "ole"},
    {IR_FGT, 'c', "ogt"},         {IR_FGE, 'c', "oge"},       {IR_FEQ, 'c', "oeq"},
    {IR_FNE, 'c', "une"},         {IR_FABS, 'F', "al_abs"},   {IR_FSQRT, 'F', "al_fsqrt"},
    {IR_FFLOOR, 'F', "al_floor"}, {IR_FCEIL, 'F', "al_ceil"}, {IR_FROUND, 'F', "al_round"},
    {IR_FTRUNC, 'F', "al_trunc"},
};

static const char *ll_call(struct llvm *l, const char *type, const char *name, size_t count,
                           const char *const *operands)
{
    struct text types = {0}, list = {0};
    for (size_t k = 0; k < count; k++) {
        text_printf(&types, "%s%s", k ? ", " : "", type);
        text_printf(&list, "%s%s %s", k ? ", " : "", type, operands[k]);
    }
    ll_declare(l, type, name, types.data ? types.data : "");
    const char *r = ll_let(l, "call %s @%s(%s)", type, name, list.data ? list.data : "");
    text_free(&types);
    text_free(&list);
    return r;
}

static bool operation(struct llvm *l, const struct ir_inst *i)
{
    size_t n = 0;
    while (n < sizeof ops / sizeof *ops && ops[n].op != i->op)
        n++;
    if (n == sizeof ops / sizeof *ops)
        return false;
    char kind = ops[n].kind;
    bool floats = strchr("fFc", kind) != NULL;
    if (kind == 'i' && l->e.kinds[i->result] == EMIT_CONDITION) {
        ll_set(l, i->result,
               ll_let(l, "%s %s %s, %s", ops[n].name, l->b, as_condition(l, i->operands[0]),
                      as_condition(l, i->operands[1])));
        return true;
    }
    const char *x[2] = {0};
    for (uint32_t k = 0; k < i->operand_count && k < 2; k++)
        x[k] = floats ? ll_float(l, i->operands[k]) : ll_int(l, i->operands[k]);
    const char *type = floats ? l->f : l->i, *r;
    if (kind == 'F' || kind == 'I')
        r = ll_call(l, type, ops[n].name, i->operand_count, x);
    else if (kind == 'c' || kind == 'd')
        r = ll_let(l, "%s %s %s %s, %s", floats ? "fcmp" : "icmp", ops[n].name, type, x[0], x[1]);
    else
        r = ll_let(l, "%s%s %s %s, %s", ops[n].name, floats ? l->flags : "", type, x[0], x[1]);
    ll_set(l, i->result, r);
    return true;
}

static bool operation_of_one(struct llvm *l, const struct ir_inst *i)
{
    const char *magnitude;
    switch (i->op) {
    case IR_INEG:
        ll_set(l, i->result,
               ll_let(l, "sub %s zeroinitializer, %s", l->i, ll_int(l, i->operands[0])));
        return true;
    case IR_ICOMPL:
        ll_set(l, i->result,
               ll_let(l, "xor %s %s, %s", l->i, ll_int(l, i->operands[0]), int_splat(l, -1)));
        return true;
    case IR_FNEG:
        ll_set(l, i->result, ll_let(l, "fneg %s %s", l->f, ll_float(l, i->operands[0])));
        return true;
    case IR_FISNAN: /* by bits: modes that assume there is none do not decide it */
    case IR_FISINF:
        magnitude = ll_let(l, "and %s %s, %s", l->i, float_bits(l, ll_float(l, i->operands[0])),
                           int_splat(l, 0x7FFFFFFF));
        ll_set(l, i->result,
               ll_let(l, "icmp %s %s %s, %s", i->op == IR_FISNAN ? "ugt" : "eq", l->i, magnitude,
                      int_splat(l, 0x7F800000)));
        return true;
    case IR_I2F:
        ll_set(l, i->result,
               ll_let(l, "sitofp %s %s to %s", l->i, ll_int(l, i->operands[0]), l->f));
        return true;
    case IR_F2I:
        ll_declare(l, l->i, "al_f2i", l->f);
        ll_set(l, i->result,
               ll_let(l, "call %s @al_f2i(%s %s)", l->i, l->f, ll_float(l, i->operands[0])));
        return true;
    case IR_SBOOL:
    case IR_CBOOL:
        ll_set(l, i->result,
               ll_let(l, "icmp ne %s %s, %s", l->i, ll_int(l, i->operands[0]),
                      int_splat(l, i->op == IR_SBOOL ? (int32_t)emit_string_id(&l->e, "") : 0)));
        return true;
    case IR_SELECT: {
        const char *c = as_condition(l, i->operands[0]);
        bool floats = l->e.kinds[i->result] == EMIT_FLOAT;
        const char *t = floats ? l->f : l->i;
        const char *a = floats ? ll_float(l, i->operands[1]) : ll_int(l, i->operands[1]);
        const char *b = floats ? ll_float(l, i->operands[2]) : ll_int(l, i->operands[2]);
        ll_set(l, i->result, ll_let(l, "select %s %s, %s %s, %s %s", l->b, c, t, a, t, b));
        return true;
    }
    default:
        return false;
    }
}

/* ---- calls of the library ------------------------------------------------------------------- */

const char *ll_part(const struct ll_args *x, uint32_t a, uint32_t k, uint32_t d)
{
    const struct ir_arg *g = &x->c->args[a];
    if (g->n == 1)
        k = 0;
    if (d && !g->derivs)
        return "zeroinitializer";
    return ll_float(x->l, x->i->operands[g->first + d * g->n + k]);
}
static uint32_t slots(const struct ll_args *x)
{
    return x->i->result_count / (x->c->derivs ? 3 : 1);
}

/* A row of floats for the library to read. */
struct rows {
    const char *at;
    uint32_t count;
};
static struct rows rows_new(struct llvm *l, uint32_t most)
{
    return (struct rows){ll_slot(l, l->f, most), 0};
}
static void rows_add(struct llvm *l, struct rows *r, const char *x)
{
    ll_store(l, l->f, x, ll_row_at(l, r->at, r->count++));
}
static void rows_add_dual(const struct ll_args *x, struct rows *r, uint32_t a, uint32_t k)
{
    for (uint32_t d = 0; d < 3; d++)
        rows_add(x->l, r, ll_part(x, a, k, d));
}
static void rows_add_triple(const struct ll_args *x, struct rows *r, uint32_t a)
{
    for (uint32_t k = 0; k < 3; k++)
        rows_add_dual(x, r, a, k);
}
/* Result k (of n) is the dual at out + 3 k. */
static void set_duals(const struct ll_args *x, const char *out, uint32_t n)
{
    struct llvm *l = x->l;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t d = 0; d < (x->c->derivs ? 3u : 1u); d++)
            ll_set(l, x->i->result + d * n + k, ll_load(l, l->f, ll_row_at(l, out, 3 * k + d)));
}
static void call_rows(struct llvm *l, const char *name, const char *out, const char *before,
                      const struct rows *in)
{
    ll_declare(l, "void", name, TEXT("ptr, %sptr", before[0] ? "i32, " : ""));
    L("call void @%s(ptr %s, %sptr %s)\n", name, out, before, in->at);
}

static bool all_values(const struct ir_call *c)
{
    for (uint32_t k = 0; k < c->arg_count; k++)
        if (c->args[k].is_place)
            return false;
    return true;
}

static bool function_one(const struct ll_args *x)
{
    struct llvm *l = x->l;
    const char *name = emit_functions_of_one[x->c->callee];
    if (!name || x->c->arg_count != 1)
        return false;
    uint32_t n = slots(x), r = x->i->result;
    for (uint32_t k = 0; k < n; k++) {
        const char *v = ll_part(x, 0, k, 0);
        const char *value = ll_call(l, l->f, TEXT("al_%s", name), 1, &v);
        ll_set(l, r + k, value);
        if (!x->c->derivs)
            continue;
        const char *both[2] = {v, value};
        const char *slope = ll_call(l, l->f, TEXT("al_slope_%s", name), 2, both);
        for (uint32_t d = 1; d < 3; d++) {
            const char *chain[2] = {slope, ll_part(x, 0, k, d)};
            ll_set(l, r + d * n + k, ll_call(l, l->f, "al_chain", 2, chain));
        }
    }
    return true;
}

static bool function_many(const struct ll_args *x)
{
    struct llvm *l = x->l;
    const char *name = x->c->callee == BI_POW     ? "al_pow"
                       : x->c->callee == BI_ATAN2 ? "al_atan2"
                       : x->c->callee == BI_HYPOT ? "al_hypot"
                       : x->c->callee == BI_LOG   ? "al_log_base"
                                                  : NULL;
    if (!name)
        return false;
    uint32_t n = slots(x), r = x->i->result, count = x->c->callee == BI_HYPOT ? 3 : 2;
    for (uint32_t k = 0; k < n; k++) {
        if (!x->c->derivs) {
            const char *v[3] = {"zeroinitializer", "zeroinitializer", "zeroinitializer"};
            for (uint32_t a = 0; a < x->c->arg_count && a < count; a++)
                v[a] = ll_part(x, a, k, 0);
            ll_set(l, r + k, ll_call(l, l->f, name, count, v));
            continue;
        }
        struct rows in = rows_new(l, 9);
        const char *out = ll_slot(l, l->f, 3);
        for (uint32_t a = 0; a < count; a++)
            for (uint32_t d = 0; d < 3; d++)
                rows_add(l, &in, a < x->c->arg_count ? ll_part(x, a, k, d) : "zeroinitializer");
        call_rows(l, TEXT("%s_d", name), out, "", &in);
        for (uint32_t d = 0; d < 3; d++)
            ll_set(l, r + d * n + k, ll_load(l, l->f, ll_row_at(l, out, d)));
    }
    return true;
}

static bool noise(const struct ll_args *x)
{
    struct llvm *l = x->l;
    struct emit_noise call;
    if (!emit_noise_call(&l->e, x->i, &call))
        return false;
    const uint32_t first = call.first, count = call.count, dims = call.dims, n = slots(x);
    const bool periodic = call.periodic;
    const int kind = call.kind;
    struct rows in = rows_new(l, 16);
    const char *out = ll_slot(l, l->f, 9);
    for (uint32_t a = 0; a < (periodic ? 2 * count : count); a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n; k++)
            for (uint32_t d = 0; d < (a < count ? 3u : 1u); d++)
                rows_add(l, &in, ll_part(x, first + a, k, d));
    const char *name =
        TEXT("al_noise_%d_%u_%d_%u_%d", kind, dims, periodic, n > 1 ? 3u : 1u, x->c->derivs);
    call_rows(l, name, out, "", &in);
    for (uint32_t k = 0; k < x->i->result_count; k++)
        ll_set(l, x->i->result + k, ll_load(l, l->f, ll_row_at(l, out, k)));
    return true;
}

/* Rows for al_gabor: three coordinates with their changes, three periods, the options. */
static bool gabor(const struct ll_args *x)
{
    struct llvm *l = x->l;
    struct emit_gabor g;
    if (!emit_gabor_call(&l->e, x->i, &g))
        return false;
    const uint32_t first = g.noise.first, count = g.noise.count, n = slots(x);
    struct rows in = rows_new(l, 22);
    const char *out = ll_slot(l, l->f, 9);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n && in.count < 9; k++)
            rows_add_dual(x, &in, first + a, k);
    while (in.count < 9)
        rows_add(l, &in, "zeroinitializer");
    for (uint32_t a = count; g.noise.periodic && a < 2 * count; a++)
        for (uint32_t k = 0; k < x->c->args[first + a].n && in.count < 12; k++)
            rows_add(l, &in, ll_part(x, first + a, k, 0));
    while (in.count < 12)
        rows_add(l, &in, float_splat(l, 1));
    for (uint32_t k = 0; k < EMIT_GABOR_OPTIONS; k++) {
        ir_value v = g.option[k].value;
        rows_add(l, &in,
                 !g.option[k].given ? float_splat(l, g.option[k].otherwise)
                 : l->e.layer->types[v] == IR_I
                     ? ll_let(l, "sitofp %s %s to %s", l->i, ll_int(l, v), l->f)
                     : ll_float(l, v));
    }
    const char *name = TEXT("al_gabor_%d_%u_%d", g.noise.periodic, n, x->c->derivs);
    call_rows(l, name, out, "", &in);
    set_duals(x, out, n);
    return true;
}

static bool hash(const struct ll_args *x)
{
    struct llvm *l = x->l;
    const char *w[4] = {0};
    size_t n = 0;
    if (x->c->callee != BI_HASH || x->c->args[0].type.base == ASL_STRING)
        return false;
    for (uint32_t a = 0; a < x->c->arg_count; a++)
        for (uint32_t k = 0; k < x->c->args[a].n && n < 4; k++)
            w[n++] = ll_int(l, x->i->operands[x->c->args[a].first + k]);
    ll_set(l, x->i->result, ll_call(l, l->i, TEXT("al_hash%zu", n), n, w));
    return true;
}

/* The knots as a pointer; *row: rows from a knot to its change, 0 for none. NULL when the host must
 * see to it. */
static const char *spline_knots(const struct ll_args *x, uint32_t channels, bool derivs,
                                uint32_t *count, uint32_t *row)
{
    struct llvm *l = x->l;
    const struct ir_arg *last = &x->c->args[x->c->arg_count - 1];
    *row = 0;
    if (last->is_place) {
        int32_t want = (int32_t)(last->n / channels);
        *count = (uint32_t)want;
        for (uint32_t k = 0; k < last->at.index_count; k++) {
            int32_t fixed;
            if (!emit_constant_int(&l->e, x->i->operands[last->at.index[k].operand], &fixed))
                return NULL;
        }
        if (x->c->arg_count == 4 &&
            !emit_constant_int(&l->e, x->i->operands[x->c->args[2].first], &want))
            return NULL;
        if (want < 4 || (uint32_t)want > *count)
            return NULL;
        uint32_t base;
        (void)slot_of(l, x->i, &last->at, 0, &base);
        *count = (uint32_t)want;
        *row = derivs && last->derivs ? last->row : 0;
        return ll_row_at(l, ll_cell_base(l, last->at.cell), base);
    }
    *count = x->c->arg_count - 2;
    if (*count < 4)
        return NULL;
    bool any = false;
    for (uint32_t a = 2; a < x->c->arg_count; a++)
        any = any || (derivs && x->c->args[a].derivs);
    *row = any ? *count * channels : 0;
    struct rows in = rows_new(l, *count * channels * (any ? 3 : 1));
    for (uint32_t d = 0; d < (any ? 3u : 1u); d++)
        for (uint32_t k = 0; k < *count * channels; k++)
            rows_add(l, &in, ll_part(x, 2 + k / channels, k % channels, d));
    return in.at;
}

static bool spline(const struct ll_args *x)
{
    struct llvm *l = x->l;
    bool inverse = x->c->callee == BI_SPLINEINVERSE;
    if ((x->c->callee != BI_SPLINE && !inverse) || x->c->args[0].is_place || x->c->args[1].is_place)
        return false;
    int basis = emit_spline_basis(emit_constant_string(&l->e, x->i->operands[x->c->args[0].first]));
    uint32_t n = slots(x), r = x->i->result, count, row;
    if (basis < 0)
        return false;
    const char *knots = spline_knots(x, n, x->c->derivs && !inverse, &count, &row);
    if (!knots)
        return false;
    if (inverse) {
        const char *out = ll_slot(l, l->f, 3);
        struct rows at = rows_new(l, 3);
        for (uint32_t d = 0; d < 3; d++)
            rows_add(l, &at, d && !x->c->derivs ? "zeroinitializer" : ll_part(x, 1, 0, d));
        ll_declare(l, "void", "al_spline_inverse", "ptr, i32, ptr, i32, ptr");
        L("call void @al_spline_inverse(ptr %s, i32 %d, ptr %s, i32 %u, ptr %s)\n", out, basis,
          at.at, count, knots);
        for (uint32_t d = 0; d < (x->c->derivs ? 3u : 1u); d++)
            ll_set(l, r + d, ll_load(l, l->f, ll_row_at(l, out, d)));
        return true;
    }
    ll_declare(l, "void", "al_spline", "ptr, i32, ptr, i32, ptr, i32, i32, i32");
    for (uint32_t k = 0; k < n; k++) {
        struct rows at = rows_new(l, 3);
        const char *out = ll_slot(l, l->f, 3);
        for (uint32_t d = 0; d < 3; d++)
            rows_add(l, &at, d && !x->c->derivs ? "zeroinitializer" : ll_part(x, 1, 0, d));
        L("call void @al_spline(ptr %s, i32 %d, ptr %s, i32 %u, ptr %s, i32 %u, i32 %u, i32 %u)\n",
          out, basis, at.at, count, knots, n, k, row);
        for (uint32_t d = 0; d < (x->c->derivs ? 3u : 1u); d++)
            ll_set(l, r + d * n + k, ll_load(l, l->f, ll_row_at(l, out, d)));
    }
    return true;
}

static bool colour(const struct ll_args *x)
{
    struct llvm *l = x->l;
    uint32_t last = x->c->arg_count - 1;
    bool construct = x->c->callee == IRC_CONSTRUCT && x->c->type.base == ASL_COLOR;
    if (x->c->callee != BI_TRANSFORMC && !construct)
        return false;
    int space[2] = {0, 0};
    for (uint32_t k = 0; k < 2; k++) {
        bool named = k == 0 ? construct || last == 2 : !construct;
        uint32_t a = k == 0 ? 0 : last - 1;
        if (named)
            space[k] =
                emit_colour_space(emit_constant_string(&l->e, x->i->operands[x->c->args[a].first]));
    }
    if (space[0] < 0 || space[1] < 0)
        return false;
    struct rows in = rows_new(l, 9);
    const char *out = ll_slot(l, l->f, 9);
    rows_add_triple(x, &in, last);
    ll_declare(l, "void", "al_colour_transform", "ptr, i32, i32, ptr");
    L("call void @al_colour_transform(ptr %s, i32 %d, i32 %d, ptr %s)\n", out, space[0], space[1],
      in.at);
    set_duals(x, out, 3);
    return true;
}

static bool geometry(const struct ll_args *x)
{
    struct llvm *l = x->l;
    uint32_t n = x->c->arg_count;
    const char *out;
    struct rows in;
    if (x->c->callee == BI_ROTATE) {
        in = rows_new(l, 30);
        out = ll_slot(l, l->f, 9);
        rows_add_triple(x, &in, 0);
        rows_add_triple(x, &in, n == 3 ? 2 : 3);
        rows_add_dual(x, &in, 1, 0);
        if (n != 3)
            rows_add_triple(x, &in, 2);
        call_rows(l, n == 3 ? "al_rotate" : "al_rotate_about", out, "", &in);
        set_duals(x, out, 3);
        return true;
    }
    if (x->c->callee == BI_DISTANCE && n == 3) {
        in = rows_new(l, 27);
        out = ll_slot(l, l->f, 3);
        for (uint32_t a = 0; a < 3; a++)
            rows_add_triple(x, &in, a);
        call_rows(l, "al_segment_distance", out, "", &in);
        set_duals(x, out, 1);
        return true;
    }
    if (x->c->callee == BI_TRANSFORM && x->c->args[0].type.base == ASL_MATRIX &&
        x->c->type.base != ASL_NORMAL) {
        in = rows_new(l, 25);
        out = ll_slot(l, l->f, 9);
        rows_add_triple(x, &in, 1);
        for (uint32_t k = 0; k < 16; k++)
            rows_add(l, &in, ll_part(x, 0, k, 0));
        call_rows(l, "al_transform", out, x->c->type.base == ASL_POINT ? "i32 1, " : "i32 0, ",
                  &in);
        set_duals(x, out, 3);
        return true;
    }
    return false;
}

/* Index and extinction of a metal, by its colours at two angles. */
static bool metal(const struct ll_args *x)
{
    struct llvm *l = x->l;
    if (x->c->callee != BI_ARTISTIC_IOR || x->c->args[0].is_place || x->c->args[1].is_place)
        return false;
    ll_declare(l, "void", "al_artistic_ior", TEXT("ptr, %s, %s", l->f, l->f));
    for (uint32_t k = 0; k < 3; k++) {
        const char *out = ll_slot(l, l->f, 2);
        L("call void @al_artistic_ior(ptr %s, %s %s, %s %s)\n", out, l->f, ll_part(x, 0, k, 0),
          l->f, ll_part(x, 1, k, 0));
        for (uint32_t a = 2; a < 4; a++) {
            const struct ir_arg *to = &x->c->args[a];
            ll_cell_store(l, x->i, &to->at, k, l->f, ll_load(l, l->f, ll_row_at(l, out, a - 2)));
            for (uint32_t d = 1; to->derivs && d < 3; d++)
                ll_cell_store(l, x->i, &to->at, d * to->row + k, l->f, "zeroinitializer");
        }
    }
    return true;
}

static bool device_call(struct llvm *l, const struct ir_inst *i)
{
    struct ll_args x = {l, i, i->u.call};
    if (x.c->callee < BI_COUNT && (spline(&x) || metal(&x)))
        return true;
    if (!all_values(x.c))
        return false;
    if (x.c->callee >= BI_COUNT)
        return colour(&x);
    return function_one(&x) || function_many(&x) || noise(&x) || gabor(&x) || hash(&x) ||
           colour(&x) || geometry(&x);
}

/* ---- calls of the host ---------------------------------------------------------------------- */

static void host_run(struct llvm *l, uint32_t id, const char *mask, const char *io, uint32_t words,
                     uint32_t rows)
{
    ll_declare(l, "void", "al_host", TEXT("ptr, i32, %s, ptr, i32, i32", l->i));
    L("call void @al_host(ptr %%run, i32 %u, %s %s, ptr %s, i32 %u, i32 %u)\n", id, l->i,
      mask_ints(l, mask), io, words, rows);
}

/* Copies the rows of a call's places from the cells to io, or those written back. */
static void host_rows(struct llvm *l, const struct ir_inst *i, const char *io, uint32_t at,
                      bool back)
{
    const struct ir_call *c = i->u.call;
    for (uint32_t k = 0; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        if (!a->is_place)
            continue;
        for (uint32_t d = 0; d < (a->derivs ? 3u : 1u); d++)
            for (uint32_t j = 0; j < a->n; j++, at++) {
                if (back && a->written)
                    ll_cell_store(l, i, &a->at, d * a->row + j, l->i,
                                  ll_load(l, l->i, ll_row_at(l, io, at)));
                else if (!back)
                    ll_store(l, l->i, ll_cell_load(l, i, &a->at, d * a->row + j, l->i),
                             ll_row_at(l, io, at));
            }
    }
}

/* The words of a message, as words_of has them (emit_surface.c). */
static const char *said(struct llvm *l, const struct ir_inst *i, uint32_t words,
                        enum emit_words which)
{
    const char *to = ll_slot(l, "i32", words);
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const bool kept = which == EMIT_ALL || l->e.layer->types[i->operands[k]] == IR_S;
        ll_store(l, "i32", kept ? ll_int(l, i->operands[k]) : "0", ll_row_at(l, to, 1 + k));
    }
    for (uint32_t k = 1 + i->operand_count; which == EMIT_NAMES && k < words; k++)
        ll_store(l, "i32", "0", ll_row_at(l, to, k));
    if (i->op == IR_CALL && which == EMIT_ALL)
        host_rows(l, i, to, 1 + i->operand_count, false);
    return to;
}

/* A word of the scene's, where the reply has come; else 0. */
static const char *reply_word(struct llvm *l, const char *reply, uint32_t k)
{
    ll_declare(l, "i32", "al_reply_word", "ptr, i32, i32");
    return ll_let(l, "call i32 @al_reply_word(ptr %%run, i32 %s, i32 %u)", reply, k);
}

/* emit_question of emit_surface.c. */
static bool surface_question(struct llvm *l, const struct ir_inst *i)
{
    if (!emit_can_ask(&l->e, i))
        return false;
    const struct ir_call *c = i->u.call;
    const uint32_t number = (uint32_t)l->e.out->host_count;
    const struct asl_emitted_host h = emit_message_table(&l->e, i, EMIT_ALL);
    const char *words = said(l, i, h.words, EMIT_ALL);
    (void)emit_reply_words(&l->e, i, number);
    ll_declare(l, "i32", "al_ask", "ptr, i32, i32, i32, i32, ptr");
    const char *reply =
        ll_let(l, "call i32 @al_ask(ptr %%run, i32 %zu, i32 %zu, i32 %u, i32 %u, ptr %s)", h.table,
               l->e.opt->first_message + h.table, h.copies, h.words, words);
    for (uint32_t k = 0; k < i->result_count; k++)
        set_bits(l, i->result + k, reply_word(l, reply, k));
    unsigned yes = ll_fresh_label(l), no = ll_fresh_label(l);
    ll_branch(l, ll_let(l, "icmp ne i32 %s, 0", reply), yes, no);
    ll_label(l, yes);
    for (uint32_t k = 0, at = i->result_count; k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t d = 0; a->is_place && a->written && d < (a->derivs ? 3u : 1u); d++)
            for (uint32_t j = 0; j < a->n; j++, at++)
                ll_cell_store(l, i, &a->at, d * a->row + j, "i32", reply_word(l, reply, at));
    }
    ll_jump(l, no);
    ll_label(l, no);
    return true;
}

void ll_surface_message(struct llvm *l, const struct ir_inst *i, enum emit_words which,
                        const char *last)
{
    const struct asl_emitted_host h = emit_message_table(&l->e, i, which);
    const char *words = said(l, i, h.words, which);
    if (last)
        ll_store(l, "i32", last, ll_row_at(l, words, h.words - 1));
    ll_declare(l, "void", "al_say", "ptr, i32, i32, i32, ptr");
    L("call void @al_say(ptr %%run, i32 %zu, i32 %u, i32 %u, ptr %s)\n",
      l->e.opt->first_message + h.table, h.copies, h.words, words);
}

static void host(struct llvm *l, const struct ir_inst *i)
{
    const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
    uint32_t words = i->operand_count > i->result_count ? i->operand_count : i->result_count;
    uint32_t rows = 0;
    for (uint32_t k = 0; c && k < c->arg_count; k++)
        if (c->args[k].is_place)
            rows += c->args[k].n * (c->args[k].derivs ? 3 : 1);
    uint32_t id = emit_host_number(&l->e, i);
    const char *io = ll_slot(l, l->i, words + rows + 1);
    for (uint32_t k = 0; k < i->operand_count; k++)
        ll_store(l, l->i, ll_int(l, i->operands[k]), ll_row_at(l, io, k));
    if (c)
        host_rows(l, i, io, words, false);
    host_run(l, id, mask_now(l), io, words + rows, words);
    for (uint32_t k = 0; k < i->result_count; k++)
        set_bits(l, i->result + k, ll_load(l, l->i, ll_row_at(l, io, k)));
    if (c)
        host_rows(l, i, io, words, true);
}

/* The host is asked only where something is to be reported. */
static void index_(struct llvm *l, const struct ir_inst *i)
{
    const char *a = ll_int(l, i->operands[0]);
    ll_declare(l, l->i, "al_clamp_index", TEXT("%s, i32", l->i));
    const char *v =
        ll_let(l, "call %s @al_clamp_index(%s %s, i32 %u)", l->i, l->i, a, i->u.index.limit);
    ll_set(l, i->result, v);
    unsigned yes = ll_fresh_label(l), no = ll_fresh_label(l);
    if (surface(l)) {
        ll_branch(l, ll_let(l, "icmp ne i32 %s, %s", v, a), yes, no);
        ll_label(l, yes);
        ll_surface_message(l, i, EMIT_ALL, NULL);
        ll_jump(l, no);
        ll_label(l, no);
        return;
    }
    uint32_t id = emit_host_number(&l->e, i);
    const char *bad = mask_and(l, mask_now(l), ll_let(l, "icmp ne %s %s, %s", l->i, v, a));
    const char *io = ll_slot(l, l->i, 2);
    ll_branch(l, mask_any(l, bad), yes, no);
    ll_label(l, yes);
    ll_store(l, l->i, a, io);
    host_run(l, id, bad, io, 1, 1);
    ll_jump(l, no);
    ll_label(l, no);
}

/* ---- instructions --------------------------------------------------------------------------- */

static const char *point_word(struct llvm *l, uint32_t w, const char *type)
{
    l->e.point_words[w] = true;
    if (surface(l))
        return ll_surface_point(l, w, type);
    return ll_load(l, type,
                   ll_let(l, "getelementptr i8, ptr %%run, i64 %u", RUN_POINT + w * 4 * l->lanes));
}

static const char *argument_word(struct llvm *l, uint32_t k)
{
    if (surface(l))
        return ll_surface_argument(l, k, l->i);
    const char *args =
        ll_load(l, "ptr", ll_let(l, "getelementptr i8, ptr %%run, i64 %d", RUN_ARGS));
    const char *x = ll_load(l, "i32", ll_let(l, "getelementptr i32, ptr %s, i64 %u", args, k));
    const char *one = ll_let(l, "insertelement %s poison, i32 %s, i32 0", l->i, x);
    return ll_let(l, "shufflevector %s %s, %s poison, <%u x i32> zeroinitializer", l->i, one, l->i,
                  l->lanes);
}

/* Arrays are written as a whole: LLVM takes long, by more than the square, over stores in a row.
 * NULL: where one lies that is not known. */
enum { WHOLE_WORTH = 32, SURFACE_ROWS_MOST = 1024 };
static const char *whole_at(struct llvm *l, const struct ir_inst *i, const struct ir_place *p)
{
    for (uint32_t k = 0; k < p->index_count; k++) {
        int32_t fixed;
        if (!emit_constant_int(&l->e, i->operands[p->index[k].operand], &fixed))
            return NULL;
    }
    uint32_t base;
    (void)slot_of(l, i, p, 0, &base);
    return ll_row_at(l, ll_cell_base(l, p->cell), base);
}

/* Materials' code has neither memcpy nor calls of its own: other code paths take what is large. */
static bool written_whole(struct llvm *l, const struct ir_inst *i)
{
    if (surface(l) && i->u.mem.count > SURFACE_ROWS_MOST)
        emit_fail(&l->e, STATUS_UNSUPPORTED, i->at,
                  "code path llvm copies arrays of up to %d numbers in materials; this is %u",
                  SURFACE_ROWS_MOST, i->u.mem.count);
    return i->u.mem.count >= WHOLE_WORTH && !surface(l);
}

/* A function of the module that writes n rows in the lanes of m: those at %from, else zeros. */
static const char *rows_function(struct llvm *l, bool copies)
{
    const char *name = copies ? "rows_copy" : "rows_zero";
    const char *head = TEXT("define internal void @%s(ptr %%to, %si64 %%n, %s %%m) {\n", name,
                            copies ? "ptr %from, " : "", l->b);
    if (l->declared->data && strstr(l->declared->data, head))
        return name;
    const char *from =
        copies
            ? TEXT("%%f = getelementptr %s, ptr %%from, i64 %%k\n%%x = load %s, ptr %%f, align 4\n",
                   l->i, l->i)
            : "";
    text_printf(l->declared,
                "%sentry: br label %%head\n"
                "head: %%k = phi i64 [ 0, %%entry ], [ %%next, %%head ]\n"
                "%%t = getelementptr %s, ptr %%to, i64 %%k\n"
                "%%old = load %s, ptr %%t, align 4\n%s"
                "%%new = select %s %%m, %s %s, %s %%old\n"
                "store %s %%new, ptr %%t, align 4\n"
                "%%next = add i64 %%k, 1\n"
                "%%more = icmp ult i64 %%next, %%n\n"
                "br i1 %%more, label %%head, label %%out\n"
                "out: ret void\n}\n",
                head, l->i, l->i, from, l->b, l->i, copies ? "%x" : "zeroinitializer", l->i, l->i);
    return name;
}

static bool copy_whole(struct llvm *l, const struct ir_inst *i)
{
    const char *from, *to;
    if (!written_whole(l, i) || i->u.mem.to.cell == i->u.mem.from.cell ||
        !(from = whole_at(l, i, &i->u.mem.from)) || !(to = whole_at(l, i, &i->u.mem.to)))
        return false;
    if (!emit_stores_freely(&l->e, i->u.mem.to.cell)) {
        const char *m = mask_now(l), *name = rows_function(l, true);
        L("call void @%s(ptr %s, ptr %s, i64 %u, %s %s)\n", name, to, from, i->u.mem.count, l->b,
          m);
        return true;
    }
    ll_declare(l, "void", "llvm.memcpy.p0.p0.i64", "ptr, ptr, i64, i1");
    L("call void @llvm.memcpy.p0.p0.i64(ptr %s, ptr %s, i64 %u, i1 false)\n", to, from,
      i->u.mem.count * 4 * l->lanes);
    return true;
}

static bool zero_whole(struct llvm *l, const struct ir_inst *i)
{
    const char *to;
    if (!written_whole(l, i) || !(to = whole_at(l, i, &i->u.mem.to)))
        return false;
    if (!emit_stores_freely(&l->e, i->u.mem.to.cell)) {
        const char *m = mask_now(l), *name = rows_function(l, false);
        L("call void @%s(ptr %s, i64 %u, %s %s)\n", name, to, i->u.mem.count, l->b, m);
        return true;
    }
    ll_declare(l, "void", "llvm.memset.p0.i64", "ptr, i8, i64, i1");
    L("call void @llvm.memset.p0.i64(ptr %s, i8 0, i64 %u, i1 false)\n", to,
      i->u.mem.count * 4 * l->lanes);
    return true;
}

static void copy(struct llvm *l, const struct ir_inst *i)
{
    if (copy_whole(l, i))
        return;
    for (uint32_t k = 0; k < i->u.mem.count; k++)
        ll_cell_store(l, i, &i->u.mem.to, k, l->i, ll_cell_load(l, i, &i->u.mem.from, k, l->i));
}

/* The number of "" is 0, as is the empty closure's. */
static void zero(struct llvm *l, const struct ir_inst *i)
{
    if (zero_whole(l, i))
        return;
    for (uint32_t k = 0; k < i->u.mem.count; k++)
        ll_cell_store(l, i, &i->u.mem.to, k, l->i, "zeroinitializer");
}

static void inst(struct llvm *l, const struct ir_inst *i)
{
    static const uint8_t state_words[IR_STATE_COUNT] = {62, 60, 61, 59, 48, 49, 50};
    switch (i->op) {
    case IR_CONST:
        return;
    case IR_ARG:
        set_bits(l, i->result, argument_word(l, i->u.number));
        return;
    case IR_STATE:
        ll_set(l, i->result,
               point_word(l, state_words[i->u.number],
                          l->e.kinds[i->result] == EMIT_FLOAT ? l->f : l->i));
        return;
    case IR_LOAD:
        ll_set(l, i->result,
               ll_cell_load(l, i, &i->u.mem.from, 0,
                            l->e.kinds[i->result] == EMIT_FLOAT ? l->f : l->i));
        return;
    case IR_STORE: {
        ir_value v = i->operands[i->operand_count - 1];
        bool is_float = l->e.layer->types[v] == IR_F;
        ll_cell_store(l, i, &i->u.mem.to, 0, is_float ? l->f : l->i,
                      is_float ? ll_float(l, v) : ll_int(l, v));
        return;
    }
    case IR_COPY:
        copy(l, i);
        return;
    case IR_ZERO:
        zero(l, i);
        return;
    case IR_PULL:
        if (surface(l)) {
            L("call void @layer_%u%s(ptr %%run, ptr %%st)\n", i->u.number, l->e.suffix);
            return;
        }
        L("call void @layer_%u(ptr %%run, ptr %%st, %s %s)\n", i->u.number, l->b, mask_now(l));
        return;
    case IR_IF:
    case IR_LOOP:
    case IR_BLOCK:
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN:
        if (surface(l))
            control_one(l, i);
        else
            control(l, i);
        return;
    case IR_INDEX:
        index_(l, i);
        return;
    default:
        break;
    }
    if (operation(l, i) || operation_of_one(l, i) || (i->op == IR_CALL && device_call(l, i)) ||
        (surface(l) && (ll_surface_inst(l, i) || surface_question(l, i))))
        return;
    if (surface(l))
        emit_fail(&l->e, STATUS_UNSUPPORTED, i->at, "%s() cannot run on this device",
                  emit_call_name(i));
    host(l, i);
}

static void block(struct llvm *l, const struct ir_block *b)
{
    for (const struct ir_inst *i = b->first; i; i = i->next)
        inst(l, i);
}

/* ---- layers --------------------------------------------------------------------------------- */

/* The text of a function whose body stands in e.body: its stack slots come first. */
static void function_close(struct llvm *l, struct text *to, const char *head)
{
    text_printf(to, "%s {\nentry:\n", head);
    if (l->slots.data)
        text_append(to, l->slots.data, l->slots.len);
    if (l->e.body.data)
        text_append(to, l->e.body.data, l->e.body.len);
    text_puts(to, "}\n");
    if (l->slots.failed || l->e.body.failed)
        to->failed = true;
    text_free(&l->slots);
    text_free(&l->e.body);
    l->slots = l->e.body = (struct text){0};
}

static uint32_t ran_row(uint32_t layer) { return layer; } /* flags stand before the cells */

static void cells_declare(struct llvm *l, uint32_t layer)
{
    for (uint32_t c = 0; c < l->e.code->cell_count; c++) {
        const struct ir_cell *cell = &l->e.code->cells[c];
        if (cell->scope == IR_LOCAL && cell->layer == layer && l->e.homes[c])
            text_printf(&l->slots, "%%c%u = alloca [%u x %s], align %d\n", c,
                        ir_cell_slots(cell) ? ir_cell_slots(cell) : 1, l->i, row_align(l));
    }
}

/* Runs once a point. */
static void layer_one(struct llvm *l, uint32_t index, struct text *to)
{
    struct emit *e = &l->e;
    struct ir_layer *y = emit_layer_begin(e, index);
    cells_declare(l, index);
    const char *flag = ll_row_at(l, "%st", ran_row(index));
    unsigned run = ll_fresh_label(l), none = ll_fresh_label(l);
    ll_branch(l, ll_let(l, "icmp eq i32 %s, 0", ll_load(l, "i32", flag)), run, none);
    ll_label(l, none);
    L("ret void\n");
    ll_label(l, run);
    ll_store(l, "i32", "1", flag);
    region(l, &y->body, 0);
    L("ret void\n");
    function_close(
        l, to,
        TEXT("define internal void @layer_%u%s(ptr %%run, ptr noalias %%st)", index, e->suffix));
}

static void layer(struct llvm *l, uint32_t index, struct text *to)
{
    struct emit *e = &l->e;
    struct ir_layer *y = emit_layer_begin(e, index);
    text_printf(&l->slots, "%%m0 = alloca %s, align 4\n%%off = alloca %s, align 4\n", l->b, l->b);
    cells_declare(l, index);
    /* Lanes in which it ran already stay out. */
    const char *flag = ll_let(l, "getelementptr %s, ptr %%st, i64 %u", l->i, ran_row(index));
    const char *ran = ll_let(l, "trunc %s %s to %s", l->i, ll_load(l, l->i, flag), l->b);
    const char *m = mask_and(l, "%mask", mask_not(l, ran));
    ll_store(l, l->b, m, "%m0");
    ll_store(l, l->b, "zeroinitializer", "%off");
    unsigned run = ll_fresh_label(l), none = ll_fresh_label(l);
    ll_branch(l, mask_any(l, m), run, none);
    ll_label(l, none);
    L("ret void\n");
    ll_label(l, run);
    ll_store(l, l->i, ll_let(l, "sext %s %s to %s", l->b, mask_or(l, ran, m), l->i), flag);
    region(l, &y->body, 0);
    L("ret void\n");
    function_close(l, to,
                   TEXT("define internal void @layer_%u(ptr %%run, ptr noalias %%st, %s %%mask)",
                        index, l->b));
}

/* Points start with their globals; Ci with nothing. */
static void globals_write(struct llvm *l)
{
    static const struct {
        uint8_t word, dual;
    } from[GV_COUNT] = {
        [GV_P] = {0, 1},   [GV_I] = {9, 1},     [GV_N] = {18, 1},    [GV_Ps] = {27, 1},
        [GV_Ng] = {36, 0}, [GV_dPdu] = {39, 0}, [GV_dPdv] = {42, 0}, [GV_dPdtime] = {45, 0},
        [GV_u] = {51, 1},  [GV_v] = {54, 1},    [GV_time] = {57, 0}, [GV_dtime] = {58, 0}};
    for (int g = 0; g < GV_COUNT; g++) {
        uint32_t cell = l->e.code->global_cell[g];
        if (cell >= l->e.code->cell_count || !l->e.used[cell])
            continue;
        const struct ir_cell *c = &l->e.code->cells[cell];
        for (uint32_t k = 0; k < ir_cell_slots(c); k++) {
            bool given = g != GV_Ci && (k < c->n || from[g].dual);
            ll_store(l, l->i, given ? point_word(l, from[g].word + k, l->i) : "zeroinitializer",
                     ll_row_at(l, ll_cell_base(l, cell), k));
        }
    }
}

static void shade_write(struct llvm *l, struct text *to)
{
    struct emit *e = &l->e;
    text_printf(&l->slots, "%%st = alloca [%u x %s], align 64\n", l->rows ? l->rows : 1, l->i);
    for (uint32_t k = 0; k < e->code->layer_count; k++)
        ll_store(l, l->i, "zeroinitializer",
                 ll_let(l, "getelementptr %s, ptr %%st, i64 %u", l->i, ran_row(k)));
    globals_write(l);
    const char *mask = ll_let(l, "trunc %s %%ints to %s", l->i, l->b);
    for (uint32_t k = 0; k < e->code->entry_count; k++)
        L("call void @layer_%u(ptr %%run, ptr %%st, %s %s)\n", e->code->entries[k], l->b, mask);
    uint32_t words = 0, at = 0;
    for (size_t k = 0; e->opt->outputs && e->opt->outputs[k]; k++) {
        uint32_t cell = 0;
        words += emit_output_cell(e, e->opt->outputs[k], &cell)->n;
    }
    ll_declare(l, "void", "al_put_row", TEXT("ptr, i32, i32, i32, %s", l->i));
    for (size_t k = 0; e->opt->outputs && e->opt->outputs[k]; k++) {
        uint32_t cell = 0;
        const struct ir_cell *c = emit_output_cell(e, e->opt->outputs[k], &cell);
        for (uint32_t j = 0; j < c->n; j++)
            L("call void @al_put_row(ptr %%out, i32 %%n, i32 %u, i32 %u, %s %s)\n", words, at + j,
              l->i, ll_load(l, l->i, ll_row_at(l, ll_cell_base(l, cell), j)));
        at += c->n;
    }
    L("ret void\n");
    e->out->out_words = words;
    function_close(l, to,
                   TEXT("define void @al_shade(ptr %%run, %s %%ints, i32 %%n, ptr %%out)", l->i));
}

/* Globals and layers, then what the renderer asks for: words of outputs, or Ci walked. */
static void surface_write(struct llvm *l, struct text *to)
{
    struct emit *e = &l->e;
    for (uint32_t k = 0; k < e->code->layer_count; k++)
        ll_store(l, "i32", "0", ll_row_at(l, "%st", ran_row(k)));
    globals_write(l);
    ll_surface_start(l);
    for (uint32_t k = 0; k < e->code->entry_count; k++)
        L("call void @layer_%u%s(ptr %%run, ptr %%st)\n", e->code->entries[k], e->suffix);
    uint32_t at = 0;
    for (size_t k = 0; e->opt->outputs && e->opt->outputs[k]; k++) {
        uint32_t cell = 0;
        const struct ir_cell *c = emit_output_cell(e, e->opt->outputs[k], &cell);
        for (uint32_t j = 0; j < c->n; j++)
            ll_store(l, "i32", ll_load(l, "i32", ll_row_at(l, ll_cell_base(l, cell), j)),
                     ll_row_at(l, "%out", at++));
    }
    e->out->out_words = at;
    if (!at)
        ll_surface_walk(l);
    L("ret void\n");
    text_printf(&l->slots, "%%st = alloca [%u x i32], align 4\n", l->rows ? l->rows : 1);
    function_close(l, to, TEXT("define internal void @surface%s(ptr %%run, ptr %%out)", e->suffix));
}

/* What device/linked/shade_library.c asks of a group. */
static void entries_write(const struct llvm *l, struct text *out)
{
    uint64_t used = 0;
    for (uint32_t w = 0; w < EMIT_POINT_WORDS; w++)
        used |= (uint64_t)l->e.point_words[w] << w;
    text_printf(out, "@al_point_used = constant i64 %llu\n", (unsigned long long)used);
    text_printf(out, "define i32 @al_out_words() {\nret i32 %zu\n}\n", l->e.out->out_words);
}

static void module_write(struct llvm *l, struct text *out)
{
    struct emit *e = &l->e;
    struct text functions = {0};
    emit_begin(e);
    l->cell_at = emit_alloc(e, e->code->cell_count + 1, sizeof *l->cell_at);
    l->rows = e->code->layer_count;
    for (uint32_t c = 0; c < e->code->cell_count; c++)
        if (e->code->cells[c].scope != IR_LOCAL) {
            l->cell_at[c] = l->rows;
            l->rows += ir_cell_slots(&e->code->cells[c]);
        }
    ll_messages_declare(l);
    for (uint32_t k = 0; k < e->code->layer_count; k++)
        (surface(l) ? layer_one : layer)(l, k, &functions);
    (surface(l) ? surface_write : shade_write)(l, &functions);
    if (!surface(l))
        entries_write(l, out);
    if (l->declared == &l->own_declared && l->declared->data)
        text_append(out, l->declared->data, l->declared->len);
    if (functions.data)
        text_append(out, functions.data, functions.len);
    bool failed = functions.failed || l->declared->failed || out->failed;
    text_free(&functions);
    if (failed)
        emit_fail(e, STATUS_MEMORY, (struct src_pos){0}, "out of memory");
}

enum status asl_emit_llvm(struct arena *a, const struct asl_code *code,
                          const struct asl_emit_options *opt, struct text *text,
                          struct asl_emitted *out, struct error *err)
{
    struct asl_emitted emitted = {0};
    struct llvm l = {
        .e = {.code = code,
              .opt = opt,
              .arena = a,
              .err = err,
              .out = &emitted,
              .suffix = opt->suffix ? opt->suffix : ""},
        .lanes = opt->surface ? 1 : opt->lanes,
        .flags = opt->float_flags ? opt->float_flags : "",
    };
    l.declared = opt->declared ? opt->declared : &l.own_declared;
    if (!setjmp(l.e.fail)) {
        bool one = l.lanes == 1;
        l.f = one ? "float" : emit_text(&l.e, "<%u x float>", l.lanes);
        l.i = one ? "i32" : emit_text(&l.e, "<%u x i32>", l.lanes);
        l.b = one ? "i1" : emit_text(&l.e, "<%u x i1>", l.lanes);
        module_write(&l, text);
        *out = emitted;
    }
    text_free(&l.slots);
    text_free(&l.own_declared);
    text_free(&l.visits);
    text_free(&l.cases);
    text_free(&l.resets);
    text_free(&l.e.body);
    return l.e.status;
}
