/* SPDX-License-Identifier: Apache-2.0 */
/* emit_c.c: IR to C. Two texts from one walk: for one point (OpenCL, CUDA, plain C), where control
 * flow is C's own; and for a row of points (vectors of gcc and clang), where every region has a
 * mask of the points that are in it. Values are C variables, cells are arrays. */
#include "emit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory, failing ------------------------------------------------------------------------ */

_Noreturn void emit_fail(struct emit *e, enum status s, struct src_pos at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    e->status = error_setv(e->err, s, at, fmt, ap);
    va_end(ap);
    longjmp(e->fail, 1);
}

void *emit_alloc(struct emit *e, size_t count, size_t size)
{
    void *p = arena_alloc(e->arena, count, size, 0);
    if (!p)
        emit_fail(e, STATUS_MEMORY, (struct src_pos){0}, "out of memory");
    return p;
}

const char *emit_vtext(struct emit *e, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        emit_fail(e, STATUS_LIMIT, (struct src_pos){0}, "an expression of the text is too long");
    char *s = emit_alloc(e, (size_t)n + 1, 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

const char *emit_text(struct emit *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = emit_vtext(e, fmt, ap);
    va_end(ap);
    return s;
}

void *emit_grow(struct emit *e, const void *old, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return (void *)old;
    size_t more = *cap ? 2 * *cap : 16;
    void *p = emit_alloc(e, more, size);
    if (count)
        memcpy(p, old, count * size);
    *cap = more;
    return p;
}

uint32_t emit_string_id(struct emit *e, const char *s)
{
    struct asl_emitted *o = e->out;
    for (uint32_t i = 0; i < o->string_count; i++)
        if (strcmp(o->strings[i], s) == 0)
            return i;
    const char **list = emit_grow(e, o->strings, o->string_count, &e->strings_cap, sizeof *list);
    list[o->string_count] = s;
    o->strings = list;
    return (uint32_t)o->string_count++;
}

uint32_t emit_image_number(struct emit *e, const char *name, const char *subimage)
{
    struct asl_emitted *o = e->out;
    for (uint32_t i = 0; i < o->image_count; i++) {
        const struct asl_emitted_image *had = &o->images[i];
        if (strcmp(had->name, name) == 0 && !had->subimage == !subimage &&
            (!subimage || strcmp(had->subimage, subimage) == 0))
            return i;
    }
    struct asl_emitted_image *list =
        emit_grow(e, o->images, o->image_count, &e->images_cap, sizeof *list);
    list[o->image_count] = (struct asl_emitted_image){name, subimage};
    o->images = list;
    return (uint32_t)o->image_count++;
}

void emit_component(struct emit *e, const char *name)
{
    struct asl_emitted *o = e->out;
    for (size_t i = 0; i < o->component_count; i++)
        if (strcmp(o->components[i], name) == 0)
            return;
    const char **list =
        emit_grow(e, o->components, o->component_count, &e->components_cap, sizeof *list);
    list[o->component_count++] = name;
    o->components = list;
}

/* ---- operands ------------------------------------------------------------------------------- */

static const struct ir_inst *constant(const struct emit *e, ir_value v)
{
    const struct ir_inst *d = e->defs[v];
    return d && d->op == IR_CONST ? d : NULL;
}

const char *emit_constant_string(const struct emit *e, ir_value v)
{
    const struct ir_inst *d = constant(e, v);
    return d && e->layer->types[v] == IR_S ? d->u.k.s : NULL;
}

bool emit_constant_int(const struct emit *e, ir_value v, int32_t *out)
{
    const struct ir_inst *d = constant(e, v);
    if (!d || e->layer->types[v] != IR_I)
        return false;
    *out = d->u.k.i;
    return true;
}

static const char *float_text(struct emit *e, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (!isfinite(x))
        return emit_text(e, "A_FLOATS(A_I((int)0x%08Xu))", bits);
    char s[40];
    (void)snprintf(s, sizeof s, "%.9g", (double)x);
    if (!strpbrk(s, ".e"))
        strcat(s, ".0");
    return emit_text(e, "A_F(%sf)", s);
}

static const char *int_text(struct emit *e, int32_t x)
{
    if (x == INT32_MIN)
        return "A_I((int)0x80000000u)";
    return emit_text(e, "A_I(%d)", x);
}

const char *emit_float(struct emit *e, ir_value v)
{
    const struct ir_inst *d = constant(e, v);
    if (d && e->layer->types[v] == IR_F)
        return float_text(e, d->u.k.f);
    if (e->kinds[v] != EMIT_FLOAT)
        return emit_text(e, "A_FLOATS(%s)", emit_int(e, v));
    return emit_text(e, "v%u", v);
}

const char *emit_int(struct emit *e, ir_value v)
{
    const struct ir_inst *d = constant(e, v);
    if (d && e->layer->types[v] == IR_I)
        return int_text(e, d->u.k.i);
    if (d && e->layer->types[v] == IR_S)
        return int_text(e, (int32_t)emit_string_id(e, d->u.k.s));
    if (d && e->layer->types[v] == IR_C)
        return int_text(e, 0);
    if (e->kinds[v] == EMIT_CONDITION)
        return emit_text(e, "a_int(v%u)", v);
    if (e->kinds[v] == EMIT_FLOAT)
        return emit_text(e, "A_BITS(v%u)", v);
    return emit_text(e, "v%u", v);
}

const char *emit_bits(struct emit *e, ir_value v)
{
    if (e->layer->types[v] == IR_F)
        return emit_text(e, "A_BITS(%s)", emit_float(e, v));
    return emit_int(e, v);
}

const char *emit_condition(struct emit *e, ir_value v)
{
    const struct ir_inst *d = constant(e, v);
    if (d)
        return d->u.k.i != 0 ? "A_ALL" : "A_NONE";
    if (e->kinds[v] == EMIT_CONDITION)
        return emit_text(e, "v%u", v);
    return emit_text(e, "a_true(v%u)", v);
}

void emit_set(struct emit *e, ir_value v, const char *fmt, ...)
{
    static const char *const types[] = {"af", "ai", "am"};
    va_list ap;
    va_start(ap, fmt);
    const char *x = emit_vtext(e, fmt, ap);
    va_end(ap);
    EMIT("const %s v%u = %s;\n", types[e->kinds[v]], v, x);
}

/* ---- cells ---------------------------------------------------------------------------------- */

bool emit_cell_is_int(const struct emit *e, uint32_t cell)
{
    const struct ir_cell *c = &e->code->cells[cell];
    return !c->types && !c->derivs && c->type != IR_F;
}

const char *emit_cell(struct emit *e, uint32_t cell)
{
    bool local = e->code->cells[cell].scope == IR_LOCAL;
    return emit_text(e, local ? "c%u" : "s->c%u", cell);
}

const char *emit_slot(struct emit *e, const struct ir_inst *i, const struct ir_place *p,
                      uint32_t more, bool *dynamic)
{
    uint32_t base = p->base + more;
    const char *sum = NULL;
    for (uint32_t k = 0; k < p->index_count; k++) {
        const struct ir_index *x = &p->index[k];
        ir_value v = i->operands[x->operand];
        int32_t fixed;
        if (emit_constant_int(e, v, &fixed)) {
            uint32_t at = fixed < 0 ? 0 : (uint32_t)fixed;
            base += x->stride * (at >= x->count ? x->count - 1 : at);
            continue;
        }
        const char *term = emit_text(e, "a_clamp_index(%s, %u)", emit_int(e, v), x->count);
        if (x->stride != 1)
            term = emit_text(e, "%s * %u", term, x->stride);
        sum = sum ? emit_text(e, "%s + %s", sum, term) : term;
    }
    *dynamic = sum != NULL;
    return !sum ? emit_text(e, "%u", base) : base ? emit_text(e, "%s + %u", sum, base) : sum;
}

const char *emit_load(struct emit *e, const struct ir_inst *i, const struct ir_place *p,
                      uint32_t more)
{
    bool dynamic, ints = emit_cell_is_int(e, p->cell);
    const char *slot = emit_slot(e, i, p, more, &dynamic), *cell = emit_cell(e, p->cell);
    if (dynamic)
        return emit_text(e, "a_gather%s(%s, %s)", ints ? "i" : "", cell, slot);
    return emit_text(e, "%s[%s]", cell, slot);
}

const char *emit_mask(struct emit *e)
{
    return e->opt->wide ? emit_text(e, "m%u", e->region->mask) : NULL;
}

/* May this store write all lanes? Lanes outside the mask must not be able to read the cell later
 * before they store to it: its accesses lie in the block that is being written, or one around that
 * has the same lanes, and no lane has left that block yet. */
bool emit_stores_freely(const struct emit *e, uint32_t cell)
{
    const struct ir_cell *c = &e->code->cells[cell];
    for (const struct emit_region *r = e->region; r && !r->shrunk; r = r->test ? r->up : NULL)
        if (c->scope == IR_LOCAL ? e->homes[cell] == r->block
                                 : !r->up && e->pulls[e->layer_index] == 0)
            return true;
    return false;
}

/* To a slot that is known. */
static void store_at(struct emit *e, uint32_t number, const char *slot, const char *value)
{
    const char *cell = emit_cell(e, number);
    if (!e->opt->wide || emit_stores_freely(e, number))
        EMIT("%s[%s] = %s;\n", cell, slot, value);
    else
        EMIT("%s[%s] = a_sel%s(%s, %s, %s[%s]);\n", cell, slot,
             emit_cell_is_int(e, number) ? "i" : "", emit_mask(e), value, cell, slot);
}

void emit_store(struct emit *e, const struct ir_inst *i, const struct ir_place *p, uint32_t more,
                enum emit_kind kind, const char *value)
{
    bool dynamic, ints = emit_cell_is_int(e, p->cell);
    const char *slot = emit_slot(e, i, p, more, &dynamic), *cell = emit_cell(e, p->cell);
    if (ints && kind == EMIT_FLOAT)
        value = emit_text(e, "A_BITS(%s)", value);
    else if (!ints && kind != EMIT_FLOAT)
        value = emit_text(e, "A_FLOATS(%s)", value);
    if (dynamic)
        EMIT("a_scatter%s(%s, %s, %s, %s);\n", ints ? "i" : "", cell, slot, value,
             e->opt->wide ? emit_mask(e) : "1");
    else
        store_at(e, p->cell, slot, value);
}

/* ---- what is known of a layer before its text ----------------------------------------------- */

static unsigned block_depth(const struct ir_block *b)
{
    unsigned n = 0;
    for (; b->owner; b = b->owner->in)
        n++;
    return n;
}

static const struct ir_block *common_block(const struct ir_block *a, const struct ir_block *b)
{
    unsigned da = block_depth(a), db = block_depth(b);
    for (; da > db; da--)
        a = a->owner->in;
    for (; db > da; db--)
        b = b->owner->in;
    while (a != b) {
        a = a->owner->in;
        b = b->owner->in;
    }
    return a;
}

static void see_cell(struct emit *e, uint32_t cell, const struct ir_block *b)
{
    const struct ir_block *h = e->homes[cell];
    e->used[cell] = true;
    e->homes[cell] = h ? common_block(h, b) : b;
}

static enum emit_kind kind_of(const struct emit *e, const struct ir_inst *i)
{
    if (e->layer->types[i->result] == IR_F)
        return EMIT_FLOAT;
    bool two = i->operand_count == 2 && e->kinds[i->operands[0]] == EMIT_CONDITION &&
               e->kinds[i->operands[1]] == EMIT_CONDITION;
    switch (i->op) {
    case IR_ILT:
    case IR_ILE:
    case IR_IGT:
    case IR_IGE:
    case IR_IEQ:
    case IR_INE:
    case IR_FLT:
    case IR_FLE:
    case IR_FGT:
    case IR_FGE:
    case IR_FEQ:
    case IR_FNE:
    case IR_FISNAN:
    case IR_FISINF:
    case IR_SEQ:
    case IR_SBOOL:
    case IR_CBOOL:
        return EMIT_CONDITION;
    case IR_IAND:
    case IR_IOR:
    case IR_IXOR:
        return two ? EMIT_CONDITION : EMIT_INT;
    default:
        return EMIT_INT;
    }
}

/* Cells of a place that a call reads or writes, of loads, stores, copies. */
static void survey(struct emit *e, const struct ir_block *b)
{
    for (const struct ir_inst *i = b->first; i; i = i->next) {
        for (uint32_t k = 0; k < i->result_count; k++) {
            e->defs[i->result + k] = i;
            e->kinds[i->result + k] =
                (uint8_t)(i->op == IR_CALL || i->op == IR_USERDATA
                              ? (e->layer->types[i->result + k] == IR_F ? EMIT_FLOAT : EMIT_INT)
                              : kind_of(e, i));
        }
        if (i->op == IR_LOAD || i->op == IR_COPY)
            see_cell(e, i->u.mem.from.cell, b);
        if (i->op == IR_STORE || i->op == IR_COPY || i->op == IR_ZERO)
            see_cell(e, i->u.mem.to.cell, b);
        if (i->op == IR_CALL)
            for (uint32_t k = 0; k < i->u.call->arg_count; k++)
                if (i->u.call->args[k].is_place)
                    see_cell(e, i->u.call->args[k].at.cell, b);
        if (i->body)
            survey(e, i->body);
        if (i->other)
            survey(e, i->other);
    }
}

/* Does anything in the block leave it for somewhere outside `i`? */
bool emit_leaves(const struct ir_block *b, const struct ir_inst *within)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_RETURN)
            return true;
        if (i->op == IR_BREAK || i->op == IR_CONTINUE) {
            bool inside = false;
            for (const struct ir_block *x = i->in; x && x->owner && !inside; x = x->owner->in) {
                inside = x->owner == i->u.target;
                if (x->owner == within)
                    break;
            }
            if (!inside)
                return true;
        }
        if (emit_leaves(i->body, within) || emit_leaves(i->other, within))
            return true;
    }
    return false;
}

/* ---- control flow --------------------------------------------------------------------------- */

static void block(struct emit *e, const struct ir_block *b);

/* The region's instructions with a mask of that name, declared before. */
static void region(struct emit *e, const struct ir_block *b, unsigned mask)
{
    struct emit_region r = {.up = e->region, .block = b, .mask = mask};
    e->region = &r;
    block(e, b);
    e->region = r.up;
}

static void shrink(struct emit *e)
{
    if (!e->opt->wide)
        return;
    EMIT("m%u = m%u & a_not(off);\n", e->region->mask, e->region->mask);
    e->region->shrunk = true;
}

/* A branch for the lanes of that mask. */
static void branch(struct emit *e, const struct ir_block *b, unsigned mask)
{
    EMIT("if (a_any(m%u)) {\n", mask);
    if (e->opt->copies && e->masked == 0) {
        const unsigned whole = ++e->depth;
        EMIT("if (!a_any(a_not(m%u))) {\nam m%u = A_ALL;\n", mask, whole);
        region(e, b, whole);
        EMIT("} else {\n");
        e->masked++;
        region(e, b, mask);
        e->masked--;
        EMIT("}\n");
    } else {
        region(e, b, mask);
    }
    EMIT("}\n");
}

static void if_(struct emit *e, const struct ir_inst *i)
{
    const char *c = emit_condition(e, i->operands[0]);
    if (e->region->test == i) {
        EMIT(emit_even_stays(i) ? "if (!a_any(%s & %s)) break;\n"
                                : "if (!a_any(%s & a_not(%s))) break;\n",
             emit_mask(e), c);
        return;
    }
    bool has_body = i->body && i->body->first, has_other = i->other && i->other->first;
    if (!e->opt->wide) {
        EMIT("if (%s) {\n", c);
        if (has_body)
            region(e, i->body, 0);
        EMIT("}\n");
        if (has_other) {
            EMIT("else {\n");
            region(e, i->other, 0);
            EMIT("}\n");
        }
        return;
    }
    unsigned up = e->region->mask, yes = ++e->depth, no = ++e->depth;
    EMIT("{ am m%u = m%u & %s, m%u = m%u & a_not(%s);\n", yes, up, c, no, up, c);
    if (has_body)
        branch(e, i->body, yes);
    if (has_other)
        branch(e, i->other, no);
    EMIT("}\n");
    if (emit_leaves(i->body, i) || emit_leaves(i->other, i))
        shrink(e);
}

uint32_t emit_loop_number(struct emit *e, const struct ir_inst *i)
{
    struct asl_emitted *o = e->out;
    if (i->mark < o->loop_count) /* a copy of a branch: the first one's */
        return i->mark;
    struct asl_emitted_loop *list =
        emit_grow(e, o->loops, o->loop_count, &e->loops_cap, sizeof *list);
    o->loops = list;
    list[o->loop_count] = (struct asl_emitted_loop){i->at, e->layer->name};
    return (uint32_t)o->loop_count++;
}

/* A loop that all lanes leave together. */
static void even_loop(struct emit *e, const struct ir_inst *i, const struct ir_inst *test,
                      uint32_t id)
{
    struct emit_region r = {.up = e->region, .mask = e->region->mask, .test = test};
    e->region = &r;
    EMIT("for (;;) {\n");
    for (int k = 0; k < 2; k++) {
        r.block = k ? i->other : i->body;
        EMIT("{\n");
        if (r.block)
            block(e, r.block);
        EMIT("}\n");
    }
    EMIT("if (a_turn%s(s, %u)) return;\n}\n", e->suffix, id);
    e->region = r.up;
}

static void loop(struct emit *e, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(e, i);
    const struct ir_inst *test = e->opt->wide ? emit_even_test(e, i) : NULL;
    if (test) {
        even_loop(e, i, test, id);
        return;
    }
    if (!e->opt->wide) {
        e->loop_depth++;
        EMIT("for (;;) {\n{\n");
        region(e, i->body, 0);
        EMIT("}\ncont_%u: ;\n{\n", id);
        if (i->other)
            region(e, i->other, 0);
        e->loop_depth--;
        EMIT("}\nif (a_turn%s(s, %u)) return;\n}\nout_%u: ;\n", e->suffix, id, id);
        return;
    }
    unsigned in = ++e->depth, body = ++e->depth, other = ++e->depth;
    EMIT("{ am m%u = m%u, out_%u = A_NONE, cont_%u = A_NONE;\nfor (;;) {\nam m%u = m%u;\n", in,
         e->region->mask, id, id, body, in);
    region(e, i->body, body);
    EMIT("off = off & a_not(cont_%u); cont_%u = A_NONE;\nm%u = m%u & a_not(off);\n", id, id, in,
         in);
    if (i->other && i->other->first) {
        EMIT("{ am m%u = m%u;\n", other, in);
        region(e, i->other, other);
        EMIT("}\nm%u = m%u & a_not(off);\n", in, in);
    }
    EMIT(
        "if (!a_any(m%u)) break;\nif (a_turn%s(s, %u)) return;\n}\noff = off & a_not(out_%u);\n}\n",
        in, e->suffix, id, id);
    if (emit_leaves(i->body, i) || emit_leaves(i->other, i))
        shrink(e);
}

static void block_(struct emit *e, const struct ir_inst *i)
{
    uint32_t id = emit_loop_number(e, i);
    if (!e->opt->wide) {
        EMIT("{\n");
        region(e, i->body, 0);
        EMIT("}\nout_%u: ;\n", id);
        return;
    }
    unsigned in = ++e->depth;
    EMIT("{ am m%u = m%u, out_%u = A_NONE;\n", in, e->region->mask, id);
    region(e, i->body, in);
    EMIT("off = off & a_not(out_%u);\n}\n", id);
    if (emit_leaves(i->body, i))
        shrink(e);
}

/* The number that loop() or block_() gave the target: those around are being written now, and the
 * place in the source with the innermost match names it. */
static void leave(struct emit *e, const struct ir_inst *i)
{
    if (i->op == IR_RETURN) {
        if (e->opt->wide)
            EMIT("off = off | %s; %s = A_NONE;\n", emit_mask(e), emit_mask(e));
        else
            EMIT("return;\n");
    } else {
        const char *what = i->op == IR_BREAK ? "out" : "cont";
        uint32_t id = i->u.target->mark;
        if (e->opt->wide)
            EMIT("off = off | %s; %s_%u = %s_%u | %s; %s = A_NONE;\n", emit_mask(e), what, id, what,
                 id, emit_mask(e), emit_mask(e));
        else
            EMIT("goto %s_%u;\n", what, id);
    }
    e->region->shrunk = true;
}

/* ---- instructions --------------------------------------------------------------------------- */

static void pure2(struct emit *e, const struct ir_inst *i, const char *fmt, bool floats)
{
    const char *a = floats ? emit_float(e, i->operands[0]) : emit_int(e, i->operands[0]);
    const char *b = floats ? emit_float(e, i->operands[1]) : emit_int(e, i->operands[1]);
    struct text t = {0};
    for (const char *p = fmt; *p; p++) {
        if (*p == 'A')
            text_puts(&t, a);
        else if (*p == 'B')
            text_puts(&t, b);
        else
            text_append(&t, p, 1);
    }
    emit_set(e, i->result, "%s", t.data ? t.data : "");
    text_free(&t);
}

/* IAND, IOR, IXOR of conditions, INE and IEQ of a condition with 0. */
static bool logic(struct emit *e, const struct ir_inst *i)
{
    ir_value a = i->operands[0], b = i->operands[1];
    int32_t k;
    if (i->op == IR_IAND || i->op == IR_IOR || i->op == IR_IXOR) {
        if (e->kinds[i->result] != EMIT_CONDITION)
            return false;
        emit_set(e, i->result, "%s %c %s", emit_condition(e, a),
                 i->op == IR_IAND  ? '&'
                 : i->op == IR_IOR ? '|'
                                   : '^',
                 emit_condition(e, b));
        return true;
    }
    if (e->kinds[a] == EMIT_CONDITION && emit_constant_int(e, b, &k) && k == 0) {
        emit_set(e, i->result, i->op == IR_INE ? "%s" : "a_not(%s)", emit_condition(e, a));
        return true;
    }
    if (e->kinds[a] == EMIT_CONDITION && e->kinds[b] == EMIT_CONDITION) {
        emit_set(e, i->result, i->op == IR_INE ? "%s ^ %s" : "a_not(%s ^ %s)", emit_condition(e, a),
                 emit_condition(e, b));
        return true;
    }
    return false;
}

struct op_text {
    uint8_t op;
    bool floats;
    const char *text; /* A and B stand for the operands */
};
static const struct op_text op_texts[] = {
    {IR_IADD, 0, "a_iadd(A, B)"}, {IR_ISUB, 0, "a_isub(A, B)"},  {IR_IMUL, 0, "a_imul(A, B)"},
    {IR_IDIV, 0, "a_idiv(A, B)"}, {IR_IMOD, 0, "a_imod(A, B)"},  {IR_ISHL, 0, "a_ishl(A, B)"},
    {IR_ISHR, 0, "a_ishr(A, B)"}, {IR_IAND, 0, "A & B"},         {IR_IXOR, 0, "A ^ B"},
    {IR_IOR, 0, "A | B"},         {IR_ILT, 0, "A < B"},          {IR_ILE, 0, "A <= B"},
    {IR_IGT, 0, "A > B"},         {IR_IGE, 0, "A >= B"},         {IR_IEQ, 0, "A == B"},
    {IR_INE, 0, "A != B"},        {IR_SEQ, 0, "A == B"},         {IR_FADD, 1, "A + B"},
    {IR_FSUB, 1, "A - B"},        {IR_FMUL, 1, "A * B"},         {IR_FDIV, 1, "a_fdiv(A, B)"},
    {IR_FREM, 1, "a_fmod(A, B)"}, {IR_FLT, 1, "A < B"},          {IR_FLE, 1, "A <= B"},
    {IR_FGT, 1, "A > B"},         {IR_FGE, 1, "A >= B"},         {IR_FEQ, 1, "A == B"},
    {IR_FNE, 1, "A != B"},        {IR_INEG, 0, "a_ineg(A)"},     {IR_ICOMPL, 0, "~A"},
    {IR_FNEG, 1, "-A"},           {IR_FABS, 1, "a_abs(A)"},      {IR_FSQRT, 1, "a_fsqrt(A)"},
    {IR_FFLOOR, 1, "a_floor(A)"}, {IR_FCEIL, 1, "a_ceil(A)"},    {IR_FROUND, 1, "a_round(A)"},
    {IR_FTRUNC, 1, "a_trunc(A)"}, {IR_FISNAN, 1, "a_is_nan(A)"}, {IR_FISINF, 1, "a_is_inf(A)"},
    {IR_I2F, 0, "a_to_float(A)"}, {IR_F2I, 1, "a_f2i(A)"},       {IR_CBOOL, 0, "A != 0"},
};

static bool pure(struct emit *e, const struct ir_inst *i)
{
    if ((i->op == IR_IAND || i->op == IR_IOR || i->op == IR_IXOR || i->op == IR_INE ||
         i->op == IR_IEQ) &&
        logic(e, i))
        return true;
    for (size_t k = 0; k < sizeof op_texts / sizeof *op_texts; k++) {
        if (op_texts[k].op != i->op)
            continue;
        if (i->operand_count == 2)
            pure2(e, i, op_texts[k].text, op_texts[k].floats);
        else {
            const char *a =
                op_texts[k].floats ? emit_float(e, i->operands[0]) : emit_int(e, i->operands[0]);
            const char *at = strchr(op_texts[k].text, 'A');
            emit_set(e, i->result, "%.*s%s%s", (int)(at - op_texts[k].text), op_texts[k].text, a,
                     at + 1);
        }
        return true;
    }
    return false;
}

static void select_(struct emit *e, const struct ir_inst *i)
{
    const char *c = emit_condition(e, i->operands[0]);
    if (e->kinds[i->result] == EMIT_FLOAT)
        emit_set(e, i->result, "a_sel(%s, %s, %s)", c, emit_float(e, i->operands[1]),
                 emit_float(e, i->operands[2]));
    else
        emit_set(e, i->result, "a_seli(%s, %s, %s)", c, emit_int(e, i->operands[1]),
                 emit_int(e, i->operands[2]));
}

const char *emit_point_word(struct emit *e, uint32_t w)
{
    e->point_words[w] = true;
    return emit_text(e, "s->p%u", w);
}

static void state(struct emit *e, const struct ir_inst *i)
{
    static const uint8_t words[IR_STATE_COUNT] = {62, 60, 61, 59, 48, 49, 50};
    const char *w = emit_point_word(e, words[i->u.number]);
    if (e->kinds[i->result] == EMIT_FLOAT)
        emit_set(e, i->result, "%s", w);
    else
        emit_set(e, i->result, "A_BITS(%s)", w);
}

/* Arrays are written by loops: compilers take long, by the square, over stores in a row. */
enum { LOOP_WORTH = 32 };

static bool copy_looped(struct emit *e, const struct ir_inst *i)
{
    bool from_dynamic, to_dynamic;
    const struct ir_place *from = &i->u.mem.from, *to = &i->u.mem.to;
    const char *source = emit_slot(e, i, from, 0, &from_dynamic);
    const char *target = emit_slot(e, i, to, 0, &to_dynamic);
    const bool ints = emit_cell_is_int(e, from->cell);
    if (i->u.mem.count < LOOP_WORTH || from_dynamic || to_dynamic || from->cell == to->cell)
        return false;
    const char *v = emit_text(e, "%s[%s + k]", emit_cell(e, from->cell), source);
    if (ints != emit_cell_is_int(e, to->cell))
        v = emit_text(e, ints ? "A_FLOATS(%s)" : "A_BITS(%s)", v);
    EMIT("for (int k = 0; k < %u; k++)\n", i->u.mem.count);
    store_at(e, to->cell, emit_text(e, "%s + k", target), v);
    return true;
}

static bool zero_looped(struct emit *e, const struct ir_inst *i)
{
    bool dynamic;
    const struct ir_place *to = &i->u.mem.to;
    const char *target = emit_slot(e, i, to, 0, &dynamic);
    const struct ir_cell *c = &e->code->cells[to->cell];
    if (i->u.mem.count < LOOP_WORTH || dynamic || c->types || c->type == IR_S)
        return false;
    EMIT("for (int k = 0; k < %u; k++)\n", i->u.mem.count);
    store_at(e, to->cell, emit_text(e, "%s + k", target),
             emit_cell_is_int(e, to->cell) ? "A_I(0)" : "A_F(0.0f)");
    return true;
}

static void copy(struct emit *e, const struct ir_inst *i)
{
    if (copy_looped(e, i))
        return;
    for (uint32_t k = 0; k < i->u.mem.count; k++) {
        const char *v = emit_load(e, i, &i->u.mem.from, k);
        emit_store(e, i, &i->u.mem.to, k,
                   emit_cell_is_int(e, i->u.mem.from.cell) ? EMIT_INT : EMIT_FLOAT, v);
    }
}

static void zero(struct emit *e, const struct ir_inst *i)
{
    const struct ir_place *to = &i->u.mem.to;
    if (zero_looped(e, i))
        return;
    for (uint32_t k = 0; k < i->u.mem.count; k++) {
        bool dynamic;
        const char *slot = emit_slot(e, i, to, k, &dynamic);
        enum ir_type t = ir_cell_type(&e->code->cells[to->cell],
                                      dynamic ? to->base + k : (uint32_t)strtoul(slot, NULL, 10));
        const char *v = t == IR_F   ? "A_F(0.0f)"
                        : t == IR_S ? int_text(e, (int32_t)emit_string_id(e, ""))
                                    : "A_I(0)";
        emit_store(e, i, to, k, t == IR_F ? EMIT_FLOAT : EMIT_INT, v);
    }
}

/* ---- calls of the host ---------------------------------------------------------------------- */

uint32_t emit_host_number(struct emit *e, const struct ir_inst *i)
{
    struct asl_emitted *o = e->out;
    struct asl_emitted_host *list =
        emit_grow(e, o->hosts, o->host_count, &e->hosts_cap, sizeof *list);
    o->hosts = list;
    list[o->host_count] = (struct asl_emitted_host){.inst = i,
                                                    .at = i->at,
                                                    .callee = emit_call_name(i),
                                                    .layer = e->layer_index,
                                                    .operands = i->operand_count};
    return (uint32_t)o->host_count++;
}

const char *emit_call_name(const struct ir_inst *i)
{
    return i->op == IR_CALL ? i->u.call->name : ir_ops[i->op].name;
}

bool emit_is_message(const struct ir_inst *i)
{
    if (i->op != IR_CALL)
        return i->op == IR_INDEX;
    switch (i->u.call->callee) {
    case BI_PRINTF:
    case BI_FPRINTF:
    case BI_ERROR:
    case BI_WARNING:
        return true;
    default:
        return false;
    }
}

/* Words of an argument that is a place: value and changes. */
static uint32_t row_words(const struct ir_arg *a)
{
    return a->is_place ? a->n * (a->derivs ? 3 : 1) : 0;
}

uint32_t emit_message_row(struct emit *e, const struct ir_inst *i, const struct ir_arg *a,
                          const char *to, uint32_t at)
{
    for (uint32_t d = 0; a->is_place && d < (a->derivs ? 3u : 1u); d++, at += a->n) {
        bool dynamic;
        const char *slot = emit_slot(e, i, &a->at, d * a->row, &dynamic);
        EMIT("for (int k = 0; k < %u; k++) %s[%u + k] = a_get%s(&%s[%s + k], 0);\n", a->n, to, at,
             emit_cell_is_int(e, a->at.cell) ? "i" : "", emit_cell(e, a->at.cell), slot);
    }
    return at;
}

struct asl_emitted_host emit_message_table(struct emit *e, const struct ir_inst *i,
                                           enum emit_words which)
{
    enum { COPIES = 64, COPIES_NAMES = 8, COPIES_LONG = 4, LONG = 256 };
    uint32_t number = emit_host_number(e, i), rows = 0;
    struct asl_emitted_host *h = (struct asl_emitted_host *)e->out->hosts + number;
    for (uint32_t k = 0; i->op == IR_CALL && k < i->u.call->arg_count; k++)
        rows += row_words(&i->u.call->args[k]);
    h->follows = i->op == IR_CALL &&
                 (i->u.call->callee == BI_SETMESSAGE || i->u.call->callee == BI_GETMESSAGE);
    h->words = 1 + i->operand_count + rows + h->follows;
    if (h->follows)
        h->name = i->u.call->args[0].first;
    h->copies = h->words >= LONG ? COPIES_LONG : which == EMIT_ALL ? COPIES : COPIES_NAMES;
    h->table = e->out->message_words;
    e->out->message_words += 1 + h->copies * (size_t)(1 + h->words);
    return *h;
}

void emit_record_as(struct emit *e, const struct ir_inst *i, uint32_t call)
{
    const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
    uint32_t rows = 0, at = 3 + i->operand_count;
    for (uint32_t k = 0; c && k < c->arg_count; k++)
        rows += row_words(&c->args[k]);
    EMIT("{ K_GLOBAL uint *r = a_record(s, %uu, %uu);\nif (r) {\n", call, at + rows);
    for (uint32_t k = 0; k < i->operand_count; k++)
        EMIT("r[%u] = (uint)%s;\n", 3 + k, emit_bits(e, i->operands[k]));
    for (uint32_t k = 0; c && k < c->arg_count; k++)
        at = emit_message_row(e, i, &c->args[k], "r", at);
    EMIT("} }\n");
}

void emit_record(struct emit *e, const struct ir_inst *i)
{
    emit_record_as(e, i, emit_host_number(e, i));
}

/* On a device: prints and reports are written down; the host says them afterwards. */
static bool deferred(struct emit *e, const struct ir_inst *i)
{
    bool is = emit_is_message(i);
    if (is)
        emit_record(e, i);
    return is;
}

/* Places of a call's arguments go into the words of its lane from io[at] on, or come back. */
static void host_places(struct emit *e, const struct ir_inst *i, const struct ir_call *c,
                        uint32_t at, bool back)
{
    for (uint32_t k = 0; c && k < c->arg_count; k++) {
        const struct ir_arg *a = &c->args[k];
        for (uint32_t d = 0; a->is_place && d < (a->derivs ? 3u : 1u); d++, at += a->n) {
            bool dynamic;
            const char *slot = emit_slot(e, i, &a->at, d * a->row, &dynamic);
            const char *cell = emit_cell(e, a->at.cell);
            const char *ints = emit_cell_is_int(e, a->at.cell) ? "i" : "";
            if (back && !a->written)
                continue;
            EMIT("{ const ai w = %s%s%s;\n", dynamic ? "" : "A_I((int)", slot, dynamic ? "" : ")");
            EMIT("for (int k = 0; k < %u; k++) ", a->n);
            if (back)
                EMIT("a_put%s(&%s[A_AT(w, lane) + k], lane, io[%u + k]); }\n", ints, cell, at);
            else
                EMIT("io[%u + k] = a_get%s(&%s[A_AT(w, lane) + k], lane); }\n", at, ints, cell);
        }
    }
}

/* Words: the operands, then the rows of places; back come the results, then the rows that were
 * written. One lane after another. */
static void host(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
    if (!e->opt->host &&
        (deferred(e, i) || emit_spectrum(e, i) || emit_ask(e, i) || emit_question(e, i)))
        return;
    if (!e->opt->host)
        emit_fail(e, STATUS_UNSUPPORTED, i->at, "%s() cannot run on this device%s",
                  emit_call_name(i), i->op == IR_CALL ? "" : " (it needs the host)");
    uint32_t words = i->operand_count > i->result_count ? i->operand_count : i->result_count;
    uint32_t rows = 0, id = emit_host_number(e, i);
    for (uint32_t k = 0; c && k < c->arg_count; k++)
        if (c->args[k].is_place)
            rows += c->args[k].n * (c->args[k].derivs ? 3 : 1);
    for (uint32_t k = 0; k < i->result_count; k++)
        EMIT("%s v%u = %s;\n", e->kinds[i->result + k] == EMIT_FLOAT ? "af" : "ai", i->result + k,
             e->kinds[i->result + k] == EMIT_FLOAT ? "A_F(0.0f)" : "A_I(0)");
    EMIT("{ uint io[%u];\nfor (int lane = 0; lane < A_WIDTH; lane++)\n", words + rows + 1);
    if (e->opt->wide)
        EMIT("if (A_AT(%s, lane)) {\n", emit_mask(e));
    else
        EMIT("{\n");
    for (uint32_t k = 0; k < i->operand_count; k++)
        EMIT("{ const ai w = %s; io[%u] = (uint)A_AT(w, lane); }\n", emit_bits(e, i->operands[k]),
             k);
    host_places(e, i, c, words, false);
    EMIT("s->host->call(s->host->ctx, %uu, s->index + (uint)lane, io, io + %u);\n", id, words);
    for (uint32_t k = 0; k < i->result_count; k++)
        EMIT("a_put%s(&v%u, lane, io[%u]);\n", e->kinds[i->result + k] == EMIT_FLOAT ? "" : "i",
             i->result + k, k);
    host_places(e, i, c, words, true);
    EMIT("} }\n");
}

static void load(struct emit *e, const struct ir_inst *i)
{
    const char *v = emit_load(e, i, &i->u.mem.from, 0);
    bool ints = emit_cell_is_int(e, i->u.mem.from.cell);
    bool wants_float = e->kinds[i->result] == EMIT_FLOAT;
    emit_set(e, i->result, ints == !wants_float ? "%s" : ints ? "A_FLOATS(%s)" : "A_BITS(%s)", v);
}

static void store(struct emit *e, const struct ir_inst *i)
{
    ir_value v = i->operands[i->operand_count - 1];
    bool is_float = e->layer->types[v] == IR_F;
    emit_store(e, i, &i->u.mem.to, 0, is_float ? EMIT_FLOAT : EMIT_INT,
               is_float ? emit_float(e, v) : emit_int(e, v));
}

/* An index is clamped. Devices record that it was; the host is asked only where something is to be
 * reported. */
static void clamped_index(struct emit *e, const struct ir_inst *i)
{
    const char *a = emit_int(e, i->operands[0]);
    if (!e->opt->host) {
        emit_set(e, i->result, "a_clamp_index(%s, %u)", a, i->u.index.limit);
        EMIT("if (v%u != %s)\n", i->result, a);
        emit_record(e, i);
        return;
    }
    EMIT("const ai v%u = a_clamp_index(%s, %u);\n", i->result, a, i->u.index.limit);
    uint32_t id = emit_host_number(e, i);
    EMIT("{ am bad = %s(v%u != %s);\nif (a_any(bad)) for (int lane = 0; lane < A_WIDTH; "
         "lane++) if (A_AT(bad, lane)) {\n",
         e->opt->wide ? emit_text(e, "%s & ", emit_mask(e)) : "", i->result, a);
    EMIT("uint io[2]; { const ai w = %s; io[0] = (uint)A_AT(w, lane); }\n"
         "s->host->call(s->host->ctx, %uu, s->index + (uint)lane, io, io); } }\n",
         a, id);
}

/* Builtins, and what is asked of the host. */
static void call(struct emit *e, const struct ir_inst *i)
{
    if (pure(e, i) || emit_ray(e, i) || (i->op == IR_CALL && emit_device_call(e, i)))
        return;
    if (e->opt->surface && (emit_closure(e, i) || emit_surface_call(e, i)))
        return;
    if (emit_grid_call(e, i))
        return;
    if (i->op == IR_INDEX)
        clamped_index(e, i);
    else
        host(e, i);
}

/* Word k of the argument area. */
/* A value from word x. */
static void set_word(struct emit *e, ir_value v, const char *x)
{
    emit_set(e, v,
             e->kinds[v] == EMIT_FLOAT ? "A_F(K_AS_FLOAT(%s))"
             : e->kinds[v] == EMIT_INT ? "A_I((int)%s)"
                                       : "a_true(A_I((int)%s))",
             x);
}

static void argument(struct emit *e, ir_value v, uint32_t k)
{
    set_word(e, v, emit_text(e, e->opt->called ? "A_ARGUMENT(s, %u)" : "s->args[%u]", k));
}

/* What a_uniform left of it. */
static void uniform_take(struct emit *e, const struct ir_inst *i)
{
    uint32_t word;
    for (ir_value v = i->result; v < i->result + i->result_count; v++)
        if (!emit_uniform_word(e, v, &word))
            continue;
        else if (e->opt->host)
            argument(e, v, e->out->uniform_first + word);
        else
            set_word(e, v, emit_text(e, "s->uniform[%u]", word));
}

static void inst(struct emit *e, const struct ir_inst *i)
{
    if (emit_is_uniform(e, i)) {
        uniform_take(e, i);
        return;
    }
    switch (i->op) {
    case IR_CONST:
        return;
    case IR_SELECT:
        select_(e, i);
        return;
    case IR_SBOOL:
        emit_set(e, i->result, "%s != %s", emit_int(e, i->operands[0]),
                 int_text(e, (int32_t)emit_string_id(e, "")));
        return;
    case IR_ARG:
        ((bool *)e->out->reads)[i->u.number] = true;
        argument(e, i->result, i->u.number);
        return;
    case IR_STATE:
        state(e, i);
        return;
    case IR_LOAD:
        load(e, i);
        return;
    case IR_STORE:
        store(e, i);
        return;
    case IR_COPY:
        copy(e, i);
        return;
    case IR_ZERO:
        zero(e, i);
        return;
    case IR_PULL:
        if (e->opt->wide)
            EMIT("layer_%u%s(s, %s);\n", i->u.number, e->suffix, emit_mask(e));
        else
            EMIT("layer_%u%s(s);\n", i->u.number, e->suffix);
        return;
    case IR_IF:
        if_(e, i);
        return;
    case IR_LOOP:
        loop(e, i);
        return;
    case IR_BLOCK:
        block_(e, i);
        return;
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN:
        leave(e, i);
        return;
    default:
        call(e, i);
        return;
    }
}

static void mark_line(struct emit *e, struct src_pos at)
{
    if (!at.line || !at.file || (e->line.line == at.line && e->line.file == at.file))
        return;
    e->line = at;
    EMIT("#line %u \"", at.line);
    for (const char *p = at.file; *p; p++) {
        if (*p == '\\' || *p == '"')
            text_append(&e->body, "\\", 1);
        if (*p != '\n')
            text_append(&e->body, p, 1);
    }
    EMIT("\"\n");
}

static void block(struct emit *e, const struct ir_block *b)
{
    for (const struct ir_inst *i = b->first; i; i = i->next) {
        mark_line(e, i->at);
        inst(e, i);
    }
}

/* ---- layers --------------------------------------------------------------------------------- */

/* Numbers loops and blocks as loop() and block_() will: in the order of the text. */
static void number_targets(const struct ir_block *b, uint32_t *next)
{
    for (struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_LOOP || i->op == IR_BLOCK)
            i->mark = (*next)++;
        number_targets(i->body, next);
        number_targets(i->other, next);
    }
}

static void declare_cell(struct emit *e, struct text *to, uint32_t cell)
{
    const struct ir_cell *c = &e->code->cells[cell];
    uint32_t n = ir_cell_slots(c);
    text_printf(to, "%s c%u[%u];\n", emit_cell_is_int(e, cell) ? "ai" : "af", cell, n ? n : 1);
}

struct ir_layer *emit_layer_begin(struct emit *e, uint32_t index)
{
    struct ir_layer *l = &e->code->layers[index];
    e->layer = l;
    e->layer_index = index;
    e->defs = emit_alloc(e, l->value_count + 1, sizeof *e->defs);
    e->kinds = emit_alloc(e, l->value_count + 1, 1);
    memset(e->homes, 0, e->code->cell_count * sizeof *e->homes);
    survey(e, &l->body);
    uint32_t next = (uint32_t)e->out->loop_count;
    number_targets(&l->body, &next);
    e->line = (struct src_pos){0};
    e->depth = 0;
    e->uniform = e->uniforms ? e->uniforms[index] : NULL;
    return l;
}

static void layer(struct emit *e, uint32_t index)
{
    struct ir_layer *l = emit_layer_begin(e, index);
    EMIT("#line 1 \"layer %u\"\n", index);
    if (e->opt->wide)
        EMIT("A_CALL void layer_%u%s(struct a_state%s *s, am m0)\n{\nm0 = m0 & a_not(s->ran_%u);\n"
             "if (!a_any(m0)) return;\ns->ran_%u = s->ran_%u | m0;\nam off = A_NONE;\n",
             index, e->suffix, e->suffix, index, index, index);
    else
        EMIT("A_CALL void layer_%u%s(struct a_state%s *s)\n{\nif (s->ran_%u) return;\n"
             "s->ran_%u = 1;\n",
             index, e->suffix, e->suffix, index, index);
    for (uint32_t c = 0; c < e->code->cell_count; c++)
        if (e->code->cells[c].scope == IR_LOCAL && e->code->cells[c].layer == index && e->homes[c])
            declare_cell(e, &e->body, c);
    region(e, &l->body, 0);
    EMIT("#line 1 \"end of layer %u\"\n%s}\n", index, e->opt->wide ? "(void)off;\n" : "");
}

static bool uniform_write(struct emit *e, const struct ir_inst *i)
{
    const size_t begin = e->body.len;
    if (i->op != IR_CALL)
        inst(e, i);
    else if (!emit_device_call(e, i)) {
        e->body.len = begin;
        return false;
    }
    return true;
}

static void uniform_keep(struct emit *e, ir_value v, uint32_t k)
{
    EMIT("out[%u] = (uint)A_AT(%s, 0);\n", k, emit_bits(e, v));
}

/* What runs once, layer by layer: values are numbered in each of them. */
static void uniform(struct emit *e)
{
    static const struct emit_uniform by = {uniform_write, uniform_keep};
    EMIT("#line 1 \"uniform\"\nK_FN void a_uniform%s(struct a_state%s *s, K_GLOBAL uint *out)\n{\n",
         e->suffix, e->suffix);
    e->uniforms = emit_alloc(e, e->code->layer_count + 1u, sizeof *e->uniforms);
    for (uint32_t l = 0; l < e->code->layer_count; l++) {
        EMIT("{\n");
        emit_layer_begin(e, l);
        emit_uniform_layer(e, &by);
        EMIT("}\n");
    }
    EMIT("}\n#define A_UNIFORM%s %u\n", e->suffix, e->out->uniform_words);
}

void emit_count_pulls(uint32_t *pulls, const struct ir_block *b)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_PULL)
            pulls[i->u.number]++;
        emit_count_pulls(pulls, i->body);
        emit_count_pulls(pulls, i->other);
    }
}

/* Constant strings get their numbers in the code's order, whoever emits it and from whatever else:
 * messages carry them from the device. */
static void number_strings(struct emit *e, const struct ir_layer *l, const struct ir_block *b)
{
    for (const struct ir_inst *i = b ? b->first : NULL; i; i = i->next) {
        if (i->op == IR_CONST && l->types[i->result] == IR_S)
            (void)emit_string_id(e, i->u.k.s);
        number_strings(e, l, i->body);
        number_strings(e, l, i->other);
    }
}

void emit_begin(struct emit *e)
{
    const struct asl_code *code = e->code;
    uint32_t *pulls = emit_alloc(e, code->layer_count + 1, sizeof *pulls);
    e->homes = emit_alloc(e, code->cell_count + 1, sizeof *e->homes);
    e->used = emit_alloc(e, code->cell_count + 1, sizeof *e->used);
    e->out->uniform_first = code->arg_count; /* with a host nothing else stands there */
    e->out->reads = emit_alloc(e, code->arg_count + 1, sizeof *e->out->reads);
    (void)emit_string_id(e, ""); /* 0 */
    for (uint32_t c = 0; c < code->cell_count; c++)
        e->out->cell_words += ir_cell_slots(&code->cells[c]);
    for (uint32_t l = 0; l < code->layer_count; l++) {
        emit_count_pulls(pulls, &code->layers[l].body);
        number_strings(e, &code->layers[l], &code->layers[l].body);
    }
    for (uint32_t l = 0; emit_is_grid(e) && l < code->layer_count; l++)
        e->makes_strings |= emit_makes_strings(&code->layers[l], &code->layers[l].body);
    if (emit_is_grid(e)) { /* what lookups of images may write */
        (void)emit_string_id(e, EMIT_PLAIN_TEXTURE);
        (void)emit_string_id(e, EMIT_NO_SUCH_IMAGE);
        e->program_strings = (uint32_t)e->out->string_count;
    }
    if (!e->opt->host)
        emit_messages_begin(e);
    e->out->sends = e->opt->surface && e->message_count > 0;
    e->pulls = pulls;
    for (size_t k = 0; e->opt->outputs && e->opt->outputs[k]; k++) {
        uint32_t cell = 0;
        (void)emit_output_cell(e, e->opt->outputs[k], &cell);
        e->used[cell] = true;
    }
}

const struct ir_cell *emit_output_cell(struct emit *e, const char *name, uint32_t *cell)
{
    const char *dot = strchr(name, '.'), *param = dot ? dot + 1 : name;
    for (uint32_t l = e->code->layer_count; l-- > 0;) {
        const struct ir_layer *x = &e->code->layers[l];
        size_t n = dot ? (size_t)(dot - name) : 0;
        if (dot && (strncmp(x->name, name, n) != 0 || x->name[n]))
            continue;
        for (uint32_t k = 0; k < x->param_count; k++) {
            if (strcmp(x->params[k].name, param) == 0) {
                *cell = x->params[k].cell;
                return &e->code->cells[*cell];
            }
        }
    }
    if (!dot && strcmp(name, "Ci") == 0) {
        *cell = e->code->global_cell[GV_Ci];
        return &e->code->cells[*cell];
    }
    emit_fail(e, STATUS_MISSING, (struct src_pos){0}, "no layer has an output '%s'", name);
}

/* Points start with their globals; Ci with nothing. */
static void write_globals(struct emit *e, struct text *t)
{
    static const struct {
        uint8_t word, dual; /* where device/asl/point.h has it, and whether derivatives follow */
    } from[GV_COUNT] = {
        [GV_P] = {0, 1},   [GV_I] = {9, 1},     [GV_N] = {18, 1},    [GV_Ps] = {27, 1},
        [GV_Ng] = {36, 0}, [GV_dPdu] = {39, 0}, [GV_dPdv] = {42, 0}, [GV_dPdtime] = {45, 0},
        [GV_u] = {51, 1},  [GV_v] = {54, 1},    [GV_time] = {57, 0}, [GV_dtime] = {58, 0}};
    for (int g = 0; g < GV_COUNT; g++) {
        uint32_t cell = e->code->global_cell[g];
        if (cell >= e->code->cell_count || !e->used[cell])
            continue;
        const struct ir_cell *c = &e->code->cells[cell];
        for (uint32_t k = 0; k < ir_cell_slots(c); k++) {
            const char *v = g == GV_Ci                 ? "A_I(0)"
                            : k < c->n || from[g].dual ? emit_point_word(e, from[g].word + k)
                                                       : "A_F(0.0f)";
            text_printf(t, "s->c%u[%u] = %s;\n", cell, k, v);
        }
    }
}

static uint32_t output_words(const struct emit *e, const struct ir_cell *c)
{
    return e->opt->called ? ir_cell_slots(c) : c->n;
}

/* What one group of points does: globals, layers, outputs. `out` has a row of words a point. */
static void write_group(struct emit *e, struct text *t)
{
    text_printf(t, "A_CALL void a_shade%s(struct a_state%s *s, am m)\n{\n(void)m;\n", e->suffix,
                e->suffix);
    write_globals(e, t);
    for (uint32_t l = 0; l < e->code->layer_count; l++)
        text_printf(t, "s->ran_%u = A_NONE;\n", l);
    text_printf(t, "s->turns = 0u;\n");
    if (e->asks)
        text_puts(t, "a_replies(s);\n");
    if (e->resets.data)
        text_append(t, e->resets.data, e->resets.len);
    for (uint32_t k = 0; k < e->code->entry_count; k++)
        text_printf(t, "layer_%u%s(s%s);\n", e->code->entries[k], e->suffix,
                    e->opt->wide ? ", m" : "");
    text_printf(t,
                "}\nA_CALL void a_outputs%s(const struct a_state%s *s, uint n, %suint *out)\n{\n",
                e->suffix, e->suffix, e->opt->surface ? "" : "K_GLOBAL ");
    size_t words = 0, count = 0;
    for (; e->opt->outputs && e->opt->outputs[count]; count++) {
        uint32_t cell = 0;
        words += output_words(e, emit_output_cell(e, e->opt->outputs[count], &cell));
    }
    struct asl_emitted_output *list = emit_alloc(e, count + 1, sizeof *list);
    e->out->outputs = list;
    uint32_t at = 0;
    for (size_t k = 0; e->opt->outputs && e->opt->outputs[k]; k++) {
        uint32_t cell = 0;
        const struct ir_cell *c = emit_output_cell(e, e->opt->outputs[k], &cell);
        list[k] = (struct asl_emitted_output){at, c->n, output_words(e, c) > c->n};
        if (c->n == 3 && words == 3) /* a colour alone, of a whole row */
            text_printf(t,
                        "#ifdef A_PUT_TRIPLES\nif (n == A_WIDTH) { a_put_triples(out, "
                        "A_BITS(s->c%u[0]), A_BITS(s->c%u[1]), A_BITS(s->c%u[2])); return; }\n"
                        "#endif\n",
                        cell, cell, cell);
        for (uint32_t j = 0; j < output_words(e, c); j++)
            text_printf(t,
                        "for (uint lane = 0u; lane < n; lane++) out[lane * %zuu + %uu] = "
                        "a_get%s(&s->c%u[%u], (int)lane);\n",
                        words, at + j, emit_cell_is_int(e, cell) ? "i" : "", cell, j);
        at += output_words(e, c);
    }
    text_printf(t, "(void)s; (void)n; (void)out;\n}\n#define A_OUT_WORDS%s %uu\n", e->suffix, at);
    e->out->out_words = at;
}

/* A point that waits runs on to its end with zeros, writes nothing down and turns no more loops:
 * the launch is repeated with the reply. */
static void write_asking(const struct emit *e, struct text *t)
{
    text_printf(t,
                "/* Before a point: its replies. */\n"
                "K_FN void a_replies(struct a_state *s)\n{\n"
                "uint at = s->args[A_ANSWERS + %zuu];\ns->waits = s->replies = s->reply = 0u;\n"
                "if (at && (at = s->args[at + s->index]) != 0u) {\n"
                "s->replies = s->args[at];\ns->reply = at + 1u;\n}\n}\n"
                "/* Where the next reply begins, of so many words; 0: it must be asked for. */\n"
                "K_FN uint a_reply(struct a_state *s, uint words)\n{\n"
                "uint at = s->reply;\nif (!s->replies) return 0u;\n"
                "s->replies--;\ns->reply += words;\nreturn at;\n}\n"
                "K_FN void a_wait(struct a_state *s) { s->waits = 1u; s->turns = 0xfffffffeu; }\n",
                e->out->answer_words + 1);
}

static void write_state(struct emit *e, struct text *t)
{
    text_printf(t, "struct a_state%s {\nK_GLOBAL const uint *args;\nuint turns, budget, failed;\n",
                e->suffix);
    text_puts(t, e->opt->surface ? "K_GLOBAL const uint *words;\nK_GLOBAL uint *messages;\n"
                                   "#ifdef K_COUNT_RAYS\nconst struct k_scene *counting;\n#endif\n"
                 : e->opt->host  ? "uint index;\nconst struct a_host *host;\n"
                                 : "uint index;\nK_GLOBAL uint *log;\nuint log_words;\n");
    if (e->out->uniform_words && !e->opt->host)
        text_puts(t, "K_GLOBAL const uint *uniform;\n");
    if (e->asks)
        text_puts(t, "uint waits, replies, reply;\n");
    if (e->opt->called)
        text_puts(t, "const uint *stack;\n");
    if (e->out->traces)
        text_puts(t, "const struct k_globals *g;\nstruct k_traced traced;\n");
    if (e->nodes.data)
        text_append(t, e->nodes.data, e->nodes.len);
    text_printf(t, "#define A_POINT_USED%s(X)", e->suffix);
    for (uint32_t w = 0; w < EMIT_POINT_WORDS; w++)
        if (e->point_words[w])
            text_printf(t, " X(%u)", w);
    text_printf(t, "\n");
    for (uint32_t w = 0; w < EMIT_POINT_WORDS; w++)
        if (e->point_words[w])
            text_printf(t, "af p%u;\n", w);
    for (uint32_t l = 0; l < e->code->layer_count; l++)
        text_printf(t, "am ran_%u;\n", l);
    for (uint32_t c = 0; c < e->code->cell_count; c++)
        if (e->code->cells[c].scope != IR_LOCAL && e->used[c])
            declare_cell(e, t, c);
    text_printf(t,
                "};\n"
                "/* A turn of a loop; 1: the budget is spent. */\n"
                "K_FN int a_turn%s(struct a_state%s *s, uint loop)\n{\n"
                "if (++s->turns <= s->budget) return 0;\ns->failed = loop + 1u;\nreturn 1;\n}\n",
                e->suffix, e->suffix);
    if (emit_is_grid(e)) {
        text_printf(
            t,
            "#define A_ANSWERS %zuu\n#define A_POINT_ROW (s->args[A_ANSWERS + %zuu] + s->index * "
            "%zuu)\n/* Room for a record: its length, the point, the call; NULL "
            "when there is none. */\n"
            "K_FN K_GLOBAL uint *a_record(struct a_state *s, uint call, uint words)\n{\n%s"
            "uint at = A_ATOMIC_ADD(s->log, words) + 1u;\n"
            "if (at + words > s->log_words) return 0;\ns->log[at] = words;\n"
            "s->log[at + 1u] = s->index;\ns->log[at + 2u] = call;\nreturn s->log + at;\n}\n",
            e->code->arg_count + e->out->image_count, e->out->answer_words, e->out->row_words,
            e->asks ? "if (s->waits) return 0;\n" : "");
        if (e->asks)
            write_asking(e, t);
    }
}

static void write_all(struct emit *e, struct text *out)
{
    emit_begin(e);
    emit_messages_declare(e);
    if (e->opt->uniform)
        uniform(e);
    for (uint32_t l = 0; l < e->code->layer_count; l++)
        layer(e, l); /* a layer is pulled by later ones only */
    struct text group = {0}, st = {0};
    write_group(e, &group);
    if (e->opt->surface)
        emit_closure_walk(e, &group);
    write_state(e, &st);
    text_append(out, st.data, st.len);
    if (e->variants.data)
        text_append(out, e->variants.data, e->variants.len);
    if (e->body.data)
        text_append(out, e->body.data, e->body.len);
    text_append(out, group.data, group.len);

    bool failed = st.failed || group.failed || e->body.failed || e->variants.failed || out->failed;
    text_free(&st);
    text_free(&group);
    if (failed)
        emit_fail(e, STATUS_MEMORY, (struct src_pos){0}, "out of memory");
}

enum status asl_emit_c(struct arena *a, const struct asl_code *code,
                       const struct asl_emit_options *opt, struct text *text,
                       struct asl_emitted *out, struct error *err)
{
    struct emit e = {
        .code = code, .opt = opt, .arena = a, .err = err, .suffix = opt->suffix ? opt->suffix : ""};
    struct asl_emitted emitted = {0};
    e.out = &emitted;
    if (!setjmp(e.fail)) {
        write_all(&e, text);
        *out = emitted;
    }
    text_free(&e.body);
    text_free(&e.variants);
    text_free(&e.nodes);
    text_free(&e.resets);
    text_free(&e.visits);
    return e.status;
}
