/* SPDX-License-Identifier: Apache-2.0 */
/* ir.c: the tables of the IR, and what makes instructions. */
#include "ir_build.h"

#include <string.h>

const struct ir_op_info ir_ops[IR_OP_COUNT] = {
#define IR_OP(id, name, results, operands, meaning) [IR_##id] = {name, results, operands},
#include "ir_ops.def"
#undef IR_OP
};

const char *const ir_state_names[IR_STATE_COUNT] = {
    [IR_RAYTYPE] = "raytype",
    [IR_BACKFACING] = "backfacing",
    [IR_FLIP_HANDEDNESS] = "flip_handedness",
    [IR_SURFACEAREA] = "surfacearea",
    [IR_DPDZ_X] = "dPdz.x",
    [IR_DPDZ_Y] = "dPdz.y",
    [IR_DPDZ_Z] = "dPdz.z",
};

enum ir_type ir_state_type(enum ir_state s) { return s < IR_SURFACEAREA ? IR_I : IR_F; }

enum ir_type ir_slot_type(struct asl_type t, uint32_t slot)
{
    switch (asl_type_scalar(t, slot)) {
    case ASL_INT:
        return IR_I;
    case ASL_STRING:
        return IR_S;
    case ASL_CLOSURE:
        return IR_C;
    default:
        return IR_F;
    }
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void type_letter(struct asl_type t, struct text *out)
{
    static const char letters[] = "?xifcpvnmsC{";
    text_append(out, &letters[t.base], 1);
    if (t.base == ASL_STRUCT)
        text_printf(out, "%s}", t.st ? t.st->name : "");
    if (t.array)
        text_printf(out, "[%d]", (int)t.array);
}

void ir_call_text(const struct ir_call *c, struct text *out)
{
    text_printf(out, "%s.", c->name);
    type_letter(c->type, out);
    for (uint32_t i = 0; i < c->arg_count; i++) {
        if (i == c->fixed)
            text_puts(out, "*");
        if (c->args[i].written)
            text_puts(out, "!");
        type_letter(c->args[i].type, out);
    }
}

static const char *constant_string(const struct ir_inst *const *defs, ir_value v)
{
    const struct ir_inst *d = defs ? defs[v] : NULL;
    return d && d->op == IR_CONST ? d->u.k.s : NULL;
}

enum ir_gabor_option ir_gabor_option(const char *name, struct asl_type t)
{
    bool scalar = !t.array && (t.base == ASL_INT || t.base == ASL_FLOAT);
    bool whole = !t.array && t.base == ASL_INT;
    if (!name)
        return IR_GABOR_NONE;
    if (strcmp(name, "anisotropic") == 0 && whole)
        return IR_GABOR_ANISOTROPIC;
    if (strcmp(name, "do_filter") == 0 && whole)
        return IR_GABOR_FILTER;
    if (strcmp(name, "direction") == 0 && asl_is_triple(t))
        return IR_GABOR_DIRECTION;
    if (strcmp(name, "bandwidth") == 0 && scalar)
        return IR_GABOR_BANDWIDTH;
    if (strcmp(name, "impulses") == 0 && scalar)
        return IR_GABOR_IMPULSES;
    return IR_GABOR_NONE;
}

static bool gabor_options_are_known(const struct ir_inst *const *defs, const struct ir_inst *at)
{
    const struct ir_call *c = at->u.call;
    for (uint32_t a = c->fixed; a + 1 < c->arg_count; a += 2) {
        const char *name = c->args[a].type.base == ASL_STRING && !c->args[a].is_place
                               ? constant_string(defs, at->operands[c->args[a].first])
                               : NULL;
        if (ir_gabor_option(name, c->args[a + 1].type) == IR_GABOR_NONE)
            return false;
    }
    return true;
}

static bool noise_is_known(const struct ir_inst *const *defs, const struct ir_inst *at)
{
    const struct ir_call *c = at->u.call;
    static const char *const names[] = {"perlin", "snoise", "uperlin", "noise",
                                        "cell",   "hash",   "simplex", "usimplex"};
    if (c->args[0].type.base != ASL_STRING)
        return true;
    const char *name = constant_string(defs, at->operands[c->args[0].first]);
    bool periodic = c->callee == BI_PNOISE;
    if (name && strcmp(name, "gabor") == 0)
        return gabor_options_are_known(defs, at);
    for (size_t i = 0; name && i < (periodic ? 6 : 8); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool spline_is_known(const struct ir_inst *const *defs, const struct ir_inst *at)
{
    static const char *const names[] = {"catmull-rom", "bezier", "bspline",
                                        "hermite",     "linear", "constant"};
    const struct ir_call *c = at->u.call;
    const struct ir_arg *last = &c->args[c->arg_count - 1];
    const char *name = constant_string(defs, at->operands[c->args[0].first]);
    uint32_t channels = (uint32_t)asl_type_slots(asl_element_type(last->type));
    uint32_t knots = last->type.array ? last->n / channels : c->arg_count - 2;
    if (!name || knots < 4 || (last->type.array && c->arg_count == 4))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

enum ir_effect ir_call_effect(const struct ir_inst *const *defs, const struct ir_inst *at)
{
    const struct ir_call *c = at->u.call;
    for (uint32_t i = 0; i < c->arg_count; i++)
        if (c->args[i].written)
            return IR_EFFECT_ORDER;
    switch (c->callee) {
    case BI_NOISE:
    case BI_PNOISE:
        return noise_is_known(defs, at) ? IR_EFFECT_NONE : IR_EFFECT_REPORT;
    case BI_SPLINE:
    case BI_SPLINEINVERSE:
        return spline_is_known(defs, at) ? IR_EFFECT_NONE : IR_EFFECT_REPORT;
    case BI_TRANSFORM:
        return c->args[0].type.base == ASL_MATRIX ? IR_EFFECT_NONE : IR_EFFECT_REPORT;
    case BI_TRANSFORMU:
    case BI_TRANSFORMC:
    case BI_REGEX_SEARCH:
    case BI_REGEX_MATCH:
    case IRC_CONSTRUCT:
    case IRC_CONSTRUCT2:
    case BI_FORMAT:
        return IR_EFFECT_REPORT;
    case BI_PRINTF:
    case BI_ERROR:
    case BI_WARNING:
    case BI_FPRINTF:
    case BI_GETATTRIBUTE:
    case BI_TEXTURE:
    case BI_ENVIRONMENT:
    case BI_GETTEXTUREINFO:
    case BI_SETMESSAGE:
    case BI_GETMESSAGE:
    case BI_TRACE:     /* getmessage() hears of it */
    case BI_DICT_FIND: /* numbers the nodes that it finds */
    case BI_DICT_NEXT:
        return IR_EFFECT_ORDER;
    default:
        return IR_EFFECT_NONE;
    }
}

bool ir_call_takes_derivs(const struct ir_call *c)
{
    if (c->callee < BI_COUNT && asl_takes_derivs(asl_builtin_at(c->callee)))
        return true;
    if ((c->callee == BI_NOISE || c->callee == BI_PNOISE) &&
        c->args[0].type.base == ASL_STRING) /* gabor filters by them */
        return true;
    for (uint32_t i = 0; i < c->arg_count; i++)
        if (c->args[i].written && c->args[i].derivs)
            return true;
    return false;
}

/* ---- memory --------------------------------------------------------------------------------- */

void ir_fail(struct ir_builder *b, enum status s, struct src_pos at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    b->status = error_setv(b->err, s, at, fmt, ap);
    va_end(ap);
    longjmp(b->fail, 1);
}

void *ir_alloc(struct ir_builder *b, size_t count, size_t size)
{
    void *p = arena_alloc(b->arena, count, size, 0);
    if (!p)
        ir_fail(b, STATUS_MEMORY, b->at, "out of memory");
    return p;
}

static void *grown(struct ir_builder *b, const void *old, uint32_t count, uint32_t *cap,
                   size_t size)
{
    if (count < *cap)
        return (void *)(uintptr_t)old;
    uint32_t more = *cap ? 2 * *cap : 64;
    void *p = ir_alloc(b, more, size);
    if (count)
        memcpy(p, old, count * size);
    *cap = more;
    return p;
}

/* ---- instructions --------------------------------------------------------------------------- */

ir_value ir_value_new(struct ir_builder *b, enum ir_type type)
{
    struct ir_layer *l = b->layer;
    l->types = grown(b, l->types, l->value_count, &l->value_cap, sizeof *l->types);
    l->types[l->value_count] = (uint8_t)type;
    return l->value_count++;
}

struct ir_inst *ir_inst_new(struct ir_builder *b, enum ir_op op, uint32_t operands,
                            uint32_t results, enum ir_type type)
{
    if (++b->ops > b->max_ops)
        ir_fail(b, STATUS_LIMIT, b->at,
                "layer '%s' has more than %zu operations once its functions are inlined",
                b->layer->name, b->max_ops);
    struct ir_inst *i = ir_alloc(b, 1, sizeof *i);
    i->op = (uint8_t)op;
    i->at = b->at;
    i->operand_count = operands;
    i->operands = operands ? IR_ARRAY(b, ir_value, operands) : NULL;
    i->result_count = results;
    i->result = b->layer->value_count;
    for (uint32_t k = 0; k < results; k++) {
        ir_value v = ir_value_new(b, type);
        if (b->witness)
            text_printf(b->witness, "def v%u %s%s%s\n", v, op == IR_CONST ? "constant" : b->rule,
                        b->detail && op != IR_CONST ? " " : "",
                        b->detail && op != IR_CONST ? b->detail : "");
    }
    return i;
}

struct ir_block *ir_block_new(struct ir_builder *b, struct ir_inst *owner)
{
    struct ir_block *k = ir_alloc(b, 1, sizeof *k);
    k->owner = owner;
    return k;
}

void ir_append(struct ir_block *block, struct ir_inst *i)
{
    i->in = block;
    i->prev = block->last;
    i->next = NULL;
    *(block->last ? &block->last->next : &block->first) = i;
    block->last = i;
}

void ir_insert_before(struct ir_inst *place, struct ir_inst *i)
{
    i->in = place->in;
    i->prev = place->prev;
    i->next = place;
    *(place->prev ? &place->prev->next : &place->in->first) = i;
    place->prev = i;
}

void ir_remove(struct ir_inst *i)
{
    *(i->prev ? &i->prev->next : &i->in->first) = i->next;
    *(i->next ? &i->next->prev : &i->in->last) = i->prev;
    i->next = i->prev = NULL;
}

static enum ir_type result_type(const struct ir_builder *b, enum ir_op op, ir_value like)
{
    switch (ir_ops[op].results[0]) {
    case 'i':
        return IR_I;
    case 'f':
        return IR_F;
    case 's':
        return IR_S;
    case 'c':
        return IR_C;
    default:
        return (enum ir_type)b->layer->types[like];
    }
}

ir_value ir_op0(struct ir_builder *b, enum ir_op op, enum ir_type type)
{
    struct ir_inst *i = ir_inst_new(b, op, 0, 1, type);
    ir_append(b->block, i);
    return i->result;
}

ir_value ir_op1(struct ir_builder *b, enum ir_op op, ir_value x)
{
    struct ir_inst *i = ir_inst_new(b, op, 1, 1, result_type(b, op, x));
    i->operands[0] = x;
    ir_append(b->block, i);
    return i->result;
}

ir_value ir_op2(struct ir_builder *b, enum ir_op op, ir_value x, ir_value y)
{
    struct ir_inst *i = ir_inst_new(b, op, 2, 1, result_type(b, op, x));
    i->operands[0] = x;
    i->operands[1] = y;
    ir_append(b->block, i);
    return i->result;
}

ir_value ir_op3(struct ir_builder *b, enum ir_op op, ir_value x, ir_value y, ir_value z)
{
    struct ir_inst *i = ir_inst_new(b, op, 3, 1, result_type(b, op, y));
    i->operands[0] = x;
    i->operands[1] = y;
    i->operands[2] = z;
    ir_append(b->block, i);
    return i->result;
}

/* ---- constants ------------------------------------------------------------------------------ */

bool ir_same_slot(enum ir_type t, union asl_slot a, union asl_slot b)
{
    return t == IR_S ? strcmp(a.s, b.s) == 0 : t == IR_C ? a.c == b.c : a.i == b.i;
}

static uint32_t slot_hash(enum ir_type t, union asl_slot k)
{
    uint32_t h = (uint32_t)t;
    if (t == IR_S)
        h += hash_text(k.s);
    else if (t != IR_C)
        h = (h ^ (uint32_t)k.i) * 2654435761u;
    return h ^ h >> 15;
}

static struct ir_inst **const_slot(struct ir_builder *b, enum ir_type t, union asl_slot k)
{
    uint32_t i = slot_hash(t, k) & (b->const_cap - 1);
    while (b->consts[i] &&
           (b->layer->types[b->consts[i]->result] != t || !ir_same_slot(t, b->consts[i]->u.k, k)))
        i = (i + 1) & (b->const_cap - 1);
    return &b->consts[i];
}

static void const_room(struct ir_builder *b)
{
    if (b->const_cap && b->const_count * 2 < b->const_cap)
        return;
    struct ir_inst **old = b->consts;
    uint32_t cap = b->const_cap;
    b->const_cap = cap ? 2 * cap : 128;
    b->consts = ir_alloc(b, b->const_cap, sizeof(struct ir_inst *));
    for (uint32_t i = 0; i < cap; i++)
        if (old[i])
            *const_slot(b, (enum ir_type)b->layer->types[old[i]->result], old[i]->u.k) = old[i];
}

ir_value ir_const(struct ir_builder *b, enum ir_type type, union asl_slot k)
{
    const_room(b);
    struct ir_inst **slot = const_slot(b, type, k);
    if (!*slot) {
        struct ir_inst *i = ir_inst_new(b, IR_CONST, 0, 1, type);
        i->at = (struct src_pos){0};
        i->u.k = k;
        struct ir_inst *next = b->last_const ? b->last_const->next
                                             : b->layer->body.first; /* the constants stand first */
        if (next)
            ir_insert_before(next, i);
        else
            ir_append(&b->layer->body, i);
        *slot = b->last_const = i;
        b->const_count++;
    }
    return (*slot)->result;
}

ir_value ir_const_i(struct ir_builder *b, int32_t x)
{
    return ir_const(b, IR_I, (union asl_slot){.i = x});
}

ir_value ir_const_f(struct ir_builder *b, float x)
{
    return ir_const(b, IR_F, (union asl_slot){.f = x});
}

ir_value ir_const_s(struct ir_builder *b, const char *s)
{
    return ir_const(b, IR_S, (union asl_slot){.s = s});
}

ir_value ir_const_none(struct ir_builder *b)
{
    return ir_const(b, IR_C, (union asl_slot){.c = NULL});
}

/* ---- cells, arguments, layers ---------------------------------------------------------------- */

uint32_t ir_cell_new(struct ir_builder *b, struct ir_cell cell)
{
    struct asl_code *c = b->code;
    c->cells = grown(b, c->cells, c->cell_count, &c->cell_cap, sizeof *c->cells);
    c->cells[c->cell_count] = cell;
    return c->cell_count++;
}

uint32_t ir_arg_new(struct ir_builder *b, struct ir_arg_slot slot)
{
    struct asl_code *c = b->code;
    c->args = grown(b, c->args, c->arg_count, &c->arg_cap, sizeof *c->args);
    c->args[c->arg_count] = slot;
    return c->arg_count++;
}

void ir_builder_layer(struct ir_builder *b, struct ir_layer *layer)
{
    b->layer = layer;
    b->block = &layer->body;
    b->consts = NULL;
    b->last_const = NULL;
    b->const_count = b->const_cap = 0;
    b->ops = 0;
    for (struct ir_inst *i = layer->body.first; i && i->op == IR_CONST; i = i->next) {
        const_room(b);
        struct ir_inst **slot = const_slot(b, (enum ir_type)layer->types[i->result], i->u.k);
        b->const_count += *slot == NULL;
        *slot = b->last_const = i;
    }
}
