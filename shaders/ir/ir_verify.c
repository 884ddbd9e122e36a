/* SPDX-License-Identifier: Apache-2.0 */
/* ir_verify.c: is IR what docs/reference/asl_ir.md says? After this an engine may run it: nothing
 * is used before it is there, no place lies outside its cell, every call fits its function. */
#include "ir_build.h"

#include <stdlib.h>
#include <string.h>

struct verifier {
    const struct asl_code *code;
    const struct ir_layer *layer;
    uint32_t index;
    const char
        *file; /* of the text form, whose lines are in `mark`; NULL: places are the source's */
    bool *defined, *visible; /* by value */
    unsigned nest;
    struct error *err;
    enum status status;
};

static bool fail(struct verifier *v, const struct ir_inst *i, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(struct verifier *v, const struct ir_inst *i, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct src_pos at = {0};
    if (i)
        at = v->file ? (struct src_pos){v->file, i->mark, 1} : i->at;
    else if (v->file)
        at.file = v->file;
    v->status = error_set(v->err, STATUS_TYPE, at, "%s%s%s", i ? ir_ops[i->op].name : "IR",
                          i ? ": " : ": ", text);
    return false;
}

#define CHECK(condition, i, ...)                                                                   \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return fail(v, i, __VA_ARGS__);                                                        \
    } while (0)

/* ---- places --------------------------------------------------------------------------------- */

/* The last slot that the place reaches, as a whole number that does not wrap. */
static uint64_t reach(const struct ir_place *p)
{
    uint64_t last = p->base;
    for (uint32_t k = 0; k < p->index_count && last <= UINT32_MAX; k++)
        last += (uint64_t)p->index[k].stride * (p->index[k].count - 1u);
    return last;
}

enum { MAX_COMBINATIONS = 1 << 16 };

/* Calls `each` for every base that the indices can make. */
static bool same_types(struct verifier *v, const struct ir_inst *i, const struct ir_place *p,
                       uint32_t n)
{
    const struct ir_cell *c = &v->code->cells[p->cell];
    uint64_t last = reach(p) + n - 1;
    if (!c->types && (c->type == IR_F || last < c->n || p->base >= c->n))
        return true;
    uint64_t ways = 1;
    for (uint32_t k = 0; k < p->index_count; k++) {
        ways *= p->index[k].count;
        CHECK(ways * n <= MAX_COMBINATIONS, i, "too many places in a cell of several types");
    }
    for (uint64_t w = 0; w < ways; w++) {
        uint64_t rest = w;
        uint32_t at = p->base;
        for (uint32_t k = 0; k < p->index_count; k++) {
            at += (uint32_t)(rest % p->index[k].count) * p->index[k].stride;
            rest /= p->index[k].count;
        }
        for (uint32_t s = 0; s < n; s++)
            CHECK(ir_cell_type(c, at + s) == ir_cell_type(c, p->base + s), i,
                  "an index reaches slots of other types");
    }
    return true;
}

static bool check_place(struct verifier *v, const struct ir_inst *i, const struct ir_place *p,
                        uint32_t n)
{
    CHECK(p->cell < v->code->cell_count, i, "there is no cell %u", p->cell);
    const struct ir_cell *c = &v->code->cells[p->cell];
    CHECK(c->scope != IR_LOCAL || c->layer == v->index, i, "cell %u is of another layer", p->cell);
    for (uint32_t k = 0; k < p->index_count; k++) {
        const struct ir_index *x = &p->index[k];
        CHECK(x->operand < i->operand_count && x->count >= 1, i, "a malformed index");
        CHECK(v->layer->types[i->operands[x->operand]] == IR_I, i, "an index is an int, v%u is not",
              i->operands[x->operand]);
    }
    CHECK(n >= 1 && reach(p) + n <= ir_cell_slots(c), i, "reaches past the %u slots of cell %u",
          ir_cell_slots(c), p->cell);
    return same_types(v, i, p, n);
}

static bool check_types(struct verifier *v, const struct ir_inst *i, const struct ir_place *p,
                        struct asl_type t, uint32_t n)
{
    for (uint32_t s = 0; s < n; s++)
        CHECK(ir_cell_type(&v->code->cells[p->cell], p->base + s) == ir_slot_type(t, s), i,
              "cell %u does not hold that type", p->cell);
    return true;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static bool fits(struct asl_type have, struct asl_type want)
{
    if (want.base == ASL_UNKNOWN)
        return true;
    bool base =
        have.base == want.base || (asl_is_triple_base(have.base) && asl_is_triple_base(want.base));
    return base && (want.array < 0 ? have.array > 0 : have.array == want.array);
}

static bool check_argument(struct verifier *v, const struct ir_inst *i, const struct ir_arg *a)
{
    CHECK(a->n == asl_type_slots(a->type) && a->n > 0, i, "an argument has %u slots", a->n);
    CHECK(a->is_place == (a->written || a->type.array != 0 || a->type.base == ASL_STRUCT), i,
          "arrays, structs and what is written are places, all else are values");
    if (a->is_place) {
        if (!check_place(v, i, &a->at, a->n) || !check_types(v, i, &a->at, a->type, a->n))
            return false;
        CHECK(!a->derivs || (a->row >= a->n && a->row <= UINT32_MAX / 4), i,
              "rows of derivatives overlap");
        for (uint32_t row = 1; row < (a->derivs ? 3u : 1u); row++) {
            struct ir_place p = a->at;
            p.base += row * a->row;
            if (!check_place(v, i, &p, a->n))
                return false;
            CHECK(ir_cell_type(&v->code->cells[p.cell], p.base) == IR_F, i,
                  "derivatives are floats");
        }
        return true;
    }
    for (uint32_t s = 0; s < a->n * (a->derivs ? 3 : 1); s++) {
        CHECK(a->first + s < i->operand_count, i, "an argument lacks values");
        enum ir_type want = s < a->n ? ir_slot_type(a->type, s) : IR_F;
        CHECK(v->layer->types[i->operands[a->first + s]] == want, i,
              "v%u is not of its argument's type", i->operands[a->first + s]);
    }
    return true;
}

static bool check_support(struct verifier *v, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    struct asl_type s = asl_type_of(ASL_STRING), m = asl_type_of(ASL_MATRIX);
    bool ok = false;
    if (c->callee == IRC_INVERSE)
        ok = c->arg_count == 1 && asl_same_type(c->args[0].type, m) && asl_same_type(c->type, m);
    else if (c->callee == IRC_CONSTRUCT)
        ok = c->arg_count == 2 && asl_same_type(c->args[0].type, s) &&
             asl_same_type(c->args[1].type, c->type) &&
             (asl_is_triple(c->type) || asl_same_type(c->type, m));
    else if (c->callee == IRC_CONSTRUCT2)
        ok = c->arg_count == 2 && asl_same_type(c->args[0].type, s) &&
             asl_same_type(c->args[1].type, s) && asl_same_type(c->type, m);
    CHECK(ok && !c->args[0].written, i, "the arguments do not fit '%s'", c->name);
    return true;
}

static bool never_called(uint32_t callee)
{
    return callee == BI_EXIT || callee == BI_ISCONNECTED || callee == BI_ISCONSTANT ||
           callee == BI_DZ || callee == BI_ARRAYLENGTH || callee == BI_DISPLACE ||
           callee == BI_BUMP || strcmp(asl_builtin_at(callee)->deriv, "refused") == 0;
}

static bool check_builtin(struct verifier *v, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const struct asl_overload *o = c->overload;
    CHECK(!never_called(c->callee), i, "'%s' is not called: it is expanded", c->name);
    CHECK(o && asl_same_type(c->type, o->ret), i, "the result is not that of '%s'", c->name);
    const uint32_t count = c->arg_count;
    CHECK(count >= o->count && c->fixed == o->count, i, "'%s' takes %u arguments", c->name,
          o->count);
    for (uint32_t k = 0; k < o->count; k++) {
        CHECK(fits(c->args[k].type, o->args[k]), i, "argument %u does not fit '%s'", k + 1,
              c->name);
        CHECK(c->args[k].written == ((o->outputs >> k) & 1), i,
              "argument %u: written or not, against '%s'", k + 1, c->name);
    }
    CHECK(count == o->count || o->tail, i, "too many arguments for '%s'", c->name);
    CHECK(o->tail != '.' || (count - o->count) % 2 == 0, i, "pairs of a key and a value expected");
    for (uint32_t k = o->count; k < count; k++) {
        const struct ir_arg *a = &c->args[k];
        bool key = o->tail == '.' && (k - o->count) % 2 == 0;
        bool images = c->callee == BI_TEXTURE || c->callee == BI_ENVIRONMENT; /* "alpha" */
        CHECK(!a->written || (images && !key), i, "argument %u cannot be written", k + 1);
        CHECK(!key || asl_is(a->type, ASL_STRING), i, "argument %u is a key: a string", k + 1);
        CHECK(o->tail != 'A' || (o->count && fits(a->type, o->args[o->count - 1])), i,
              "argument %u does not fit '%s'", k + 1, c->name);
    }
    return true;
}

static bool check_call(struct verifier *v, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    uint32_t n = (uint32_t)asl_type_slots(c->type);
    CHECK(c->type.array == 0 && c->type.base != ASL_STRUCT && n <= 16, i, "a result of that type");
    CHECK(!c->derivs || asl_has_floats(c->type), i, "derivatives of what is no number");
    CHECK(i->result_count == n * (c->derivs ? 3 : 1), i, "%u results", i->result_count);
    for (uint32_t k = 0; k < i->result_count; k++)
        CHECK(v->layer->types[i->result + k] == (k < n ? ir_slot_type(c->type, k) : IR_F), i,
              "v%u is not of the result's type", i->result + k);
    for (uint32_t k = 0; k < c->arg_count; k++)
        if (!check_argument(v, i, &c->args[k]))
            return false;
    return c->callee < BI_COUNT ? check_builtin(v, i) : check_support(v, i);
}

/* ---- instructions --------------------------------------------------------------------------- */

static bool check_letters(struct verifier *v, const struct ir_inst *i)
{
    const struct ir_op_info *op = &ir_ops[i->op];
    int any = -1;
    if (op->results[0] == '*' || op->operands[0] == '*')
        return true;
    CHECK(i->result_count == strlen(op->results) && i->operand_count == strlen(op->operands), i,
          "takes %zu values and gives %zu", strlen(op->operands), strlen(op->results));
    for (uint32_t k = 0; k < i->result_count + i->operand_count; k++) {
        bool result = k < i->result_count;
        char letter = result ? op->results[k] : op->operands[k - i->result_count];
        ir_value x = result ? i->result + k : i->operands[k - i->result_count];
        enum ir_type have = (enum ir_type)v->layer->types[x];
        if (letter == 't' && any < 0)
            any = (int)have;
        enum ir_type want = letter == 't'   ? (enum ir_type)any
                            : letter == 'i' ? IR_I
                            : letter == 'f' ? IR_F
                            : letter == 's' ? IR_S
                                            : IR_C;
        CHECK(have == want, i, "v%u has type %c, %c is needed", x, ir_type_letter(have),
              ir_type_letter(want));
    }
    return true;
}

static bool check_memory(struct verifier *v, const struct ir_inst *i)
{
    const struct ir_place *to = &i->u.mem.to, *from = &i->u.mem.from;
    uint32_t n = i->op == IR_LOAD || i->op == IR_STORE ? 1 : i->u.mem.count;
    if (i->op != IR_LOAD && !check_place(v, i, to, n))
        return false;
    if ((i->op == IR_LOAD || i->op == IR_COPY) && !check_place(v, i, from, n))
        return false;
    if (i->op == IR_LOAD) {
        CHECK(i->result_count == 1 && i->operand_count == from->index_count, i, "malformed");
        CHECK(v->layer->types[i->result] == ir_cell_type(&v->code->cells[from->cell], from->base),
              i, "cell %u does not hold that type", from->cell);
    } else if (i->op == IR_STORE) {
        CHECK(i->operand_count == to->index_count + 1, i, "malformed");
        CHECK(v->layer->types[i->operands[i->operand_count - 1]] ==
                  ir_cell_type(&v->code->cells[to->cell], to->base),
              i, "cell %u does not hold that type", to->cell);
    } else if (i->op == IR_COPY) {
        for (uint32_t s = 0; s < n; s++)
            CHECK(ir_cell_type(&v->code->cells[to->cell], to->base + s) ==
                      ir_cell_type(&v->code->cells[from->cell], from->base + s),
                  i, "the places hold different types");
    }
    return true;
}

static bool check_userdata(struct verifier *v, const struct ir_inst *i)
{
    size_t n = asl_type_slots(i->u.user.type), rows = i->u.user.derivs ? 3 : 1;
    CHECK(n > 0 && n < 1u << 24 && i->u.user.type.base != ASL_CLOSURE && i->u.user.name, i,
          "of that type");
    CHECK(i->result_count == 1 + rows * n && i->operand_count == 0, i, "%u results",
          i->result_count);
    for (uint32_t k = 0; k < i->result_count; k++) {
        enum ir_type want = k == 0 ? IR_I : k <= n ? ir_slot_type(i->u.user.type, k - 1) : IR_F;
        CHECK(v->layer->types[i->result + k] == want, i, "v%u has another type", i->result + k);
    }
    return true;
}

static bool check_target(struct verifier *v, const struct ir_inst *i)
{
    const struct ir_inst *t = i->u.target, *owner = NULL;
    const struct ir_block *b = i->in;
    CHECK(!i->next, i, "something stands behind it");
    while (b && (owner = b->owner) && owner != t)
        b = owner->in;
    CHECK(t && owner == t && b, i, "its target is not around it");
    if (i->op == IR_BREAK)
        CHECK(t->op == IR_LOOP || t->op == IR_BLOCK, i, "its target is no loop or block");
    else
        CHECK(t->op == IR_LOOP && b == t->body, i, "its target is no loop whose body this is in");
    return true;
}

static bool check_block(struct verifier *v, const struct ir_block *b, const struct ir_inst *owner);

static bool check_inst(struct verifier *v, const struct ir_inst *i)
{
    CHECK(i->op < IR_OP_COUNT, NULL, "an operation that does not exist");
    for (uint32_t k = 0; k < i->operand_count; k++)
        CHECK(i->operands[k] < v->layer->value_count && v->visible[i->operands[k]], i,
              "v%u is not defined here", i->operands[k]);
    CHECK((uint64_t)i->result + i->result_count <= v->layer->value_count, i,
          "results without types");
    for (uint32_t k = 0; k < i->result_count; k++) {
        CHECK(!v->defined[i->result + k], i, "v%u is defined twice", i->result + k);
        v->defined[i->result + k] = v->visible[i->result + k] = true;
    }
    bool blocks = i->op == IR_IF || i->op == IR_LOOP || i->op == IR_BLOCK;
    CHECK((i->body != NULL) == blocks && (i->other != NULL) == (blocks && i->op != IR_BLOCK), i,
          "its blocks");
    if (!check_letters(v, i))
        return false;
    switch (i->op) {
    case IR_CONST:
        CHECK(v->layer->types[i->result] != IR_C || i->u.k.c == NULL, i, "closures: only none");
        CHECK(v->layer->types[i->result] != IR_S || i->u.k.s, i, "no text");
        return true;
    case IR_ARG:
        CHECK(i->u.number < v->code->arg_count &&
                  v->code->args[i->u.number].type == v->layer->types[i->result],
              i, "there is no argument %u of that type", i->u.number);
        return true;
    case IR_STATE:
        CHECK(i->u.number < IR_STATE_COUNT &&
                  ir_state_type((enum ir_state)i->u.number) == v->layer->types[i->result],
              i, "no such state, or of another type");
        return true;
    case IR_LOAD:
    case IR_STORE:
    case IR_COPY:
    case IR_ZERO:
        return check_memory(v, i);
    case IR_INDEX:
        CHECK(i->u.index.limit >= 1 && i->u.index.limit <= INT32_MAX && i->u.index.name, i,
              "limit %u", i->u.index.limit);
        return true;
    case IR_CALL:
        return check_call(v, i);
    case IR_USERDATA:
        return check_userdata(v, i);
    case IR_PULL:
        CHECK(i->u.number < v->index && v->code->layers[i->u.number].runs, i,
              "layer %u does not run before this one", i->u.number);
        return true;
    case IR_IF:
    case IR_LOOP:
        return check_block(v, i->body, i) && check_block(v, i->other, i);
    case IR_BLOCK:
        return check_block(v, i->body, i);
    case IR_BREAK:
    case IR_CONTINUE:
        return check_target(v, i);
    case IR_RETURN:
        CHECK(!i->next, i, "something stands behind it");
        return true;
    default:
        return true;
    }
}

static bool check_block(struct verifier *v, const struct ir_block *b, const struct ir_inst *owner)
{
    CHECK(b->owner == owner, owner, "a block of another instruction");
    CHECK(++v->nest <= IR_MAX_NEST + 500, owner, "nests too deeply");
    for (const struct ir_inst *i = b->first; i; i = i->next) {
        CHECK(i->in == b, i, "it stands in another block");
        if (!check_inst(v, i))
            return false;
    }
    for (const struct ir_inst *i = b->first; i; i = i->next)
        for (uint32_t k = 0; k < i->result_count; k++)
            v->visible[i->result + k] = false;
    v->nest--;
    return true;
}

/* ---- tables --------------------------------------------------------------------------------- */

static bool check_cells(struct verifier *v)
{
    const struct asl_code *c = v->code;
    for (uint32_t i = 0; i < c->cell_count; i++) {
        const struct ir_cell *cell = &c->cells[i];
        CHECK(cell->n <= UINT32_MAX / 3 && cell->name, NULL, "cell %u is malformed", i);
        CHECK(cell->layer < (cell->scope == IR_GLOBAL ? (uint32_t)GV_COUNT : c->layer_count), NULL,
              "cell %u belongs to nothing", i);
        CHECK(cell->asl.base == ASL_UNKNOWN || asl_type_slots(cell->asl) == cell->n, NULL,
              "cell %u has %u slots, its type %zu", i, cell->n, asl_type_slots(cell->asl));
        for (uint32_t s = 0; cell->asl.base != ASL_UNKNOWN && s < cell->n; s++)
            CHECK(ir_cell_type(cell, s) == ir_slot_type(cell->asl, s), NULL,
                  "cell %u does not hold its type", i);
    }
    for (uint32_t g = 0; g < GV_COUNT; g++) {
        CHECK(c->global_cell[g] < c->cell_count, NULL, "no cell for %s",
              asl_global_name((enum asl_global)g));
        const struct ir_cell *cell = &c->cells[c->global_cell[g]];
        CHECK(cell->scope == IR_GLOBAL && cell->layer == g &&
                  asl_same_type(cell->asl, asl_global_type((enum asl_global)g)) &&
                  cell->derivs == (g != GV_Ci),
              NULL, "the cell of %s is of another kind", asl_global_name((enum asl_global)g));
    }
    return true;
}

static bool check_tables(struct verifier *v)
{
    const struct asl_code *c = v->code;
    CHECK(c->layer_count > 0, NULL, "no layers");
    for (uint32_t i = 0; i < c->entry_count; i++)
        CHECK(c->entries[i] < c->layer_count && c->layers[c->entries[i]].runs, NULL,
              "layer %u is an entry and does not run", c->entries[i]);
    for (uint32_t l = 0; l < c->layer_count; l++) {
        const struct ir_layer *layer = &c->layers[l];
        CHECK(layer->name && layer->shader, NULL, "layer %u has no name", l);
        for (uint32_t p = 0; p < layer->param_count; p++) {
            const struct ir_param *q = &layer->params[p];
            CHECK(q->cell < c->cell_count && c->cells[q->cell].scope == IR_PARAM &&
                      c->cells[q->cell].layer == l && asl_same_type(c->cells[q->cell].asl, q->type),
                  NULL, "parameter '%s' of layer %u has no cell of its type", q->name, l);
        }
    }
    for (uint32_t i = 0; i < c->arg_count; i++) {
        const struct ir_arg_slot *a = &c->args[i];
        CHECK(a->layer < c->layer_count && a->param < c->layers[a->layer].param_count, NULL,
              "argument %u belongs to no parameter", i);
        struct asl_type t = c->layers[a->layer].params[a->param].type;
        const size_t n = asl_type_slots(t);
        CHECK(a->is_set ? a->type == IR_I
              : a->slot < n
                  ? a->type == ir_slot_type(t, a->slot) && a->type != IR_C
                  : a->slot < 3 * n && c->cells[c->layers[a->layer].params[a->param].cell].derivs &&
                        a->type == IR_F,
              NULL, "argument %u is of another type than its parameter", i);
        CHECK(a->type != IR_S || a->value.s, NULL, "argument %u has no text", i);
    }
    return true;
}

static bool check_layer(struct verifier *v, uint32_t index)
{
    const struct ir_layer *l = &v->code->layers[index];
    v->layer = l;
    v->index = index;
    v->nest = 0;
    v->defined = calloc(l->value_count + 1u, 1);
    v->visible = calloc(l->value_count + 1u, 1);
    bool ok = v->defined && v->visible;
    if (!ok)
        v->status = error_msg(v->err, STATUS_MEMORY, "out of memory");
    ok = ok && check_block(v, &l->body, NULL);
    free(v->defined);
    free(v->visible);
    return ok;
}

enum status ir_verify_text(const struct asl_code *c, const char *file, struct error *err)
{
    struct verifier v = {.code = c, .file = file, .err = err};
    bool ok = check_cells(&v) && check_tables(&v);
    for (uint32_t l = 0; ok && l < c->layer_count; l++)
        ok = check_layer(&v, l);
    return ok ? STATUS_OK : v.status;
}

enum status asl_code_verify(const struct asl_code *c, struct error *err)
{
    return ir_verify_text(c, NULL, err);
}
