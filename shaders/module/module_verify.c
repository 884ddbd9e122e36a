/* SPDX-License-Identifier: Apache-2.0 */
/* module_verify.c: what LLVM asks of a function before anything may be made of it, and its loops.
 * Dominators as in Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001). */
#include "module/module.h"

#include <string.h>

enum { FUNCTION_BLOCKS = 4096 };

static void edge(struct module *m, struct module_block *from, struct module_block *to)
{
    to->from = asl_grow(m->c, to->from, to->from_count, &to->from_cap, to->from_count + 1,
                        sizeof *to->from);
    to->from[to->from_count++] = from;
}

static const struct module_value *terminator(const struct module_block *b)
{
    return b->code[b->count - 1];
}

/* Blocks that are reached, in reverse postorder, and the edges between them. */
static void order_blocks(struct module *m, struct module_function *f)
{
    struct step {
        struct module_block *b;
        size_t next;
    } *stack = ASL_ARRAY(m->c, struct step, f->block_count);
    struct module_block **post = ASL_ARRAY(m->c, struct module_block *, f->block_count);
    size_t depth = 0, count = 0;
    for (size_t i = 0; i < f->block_count; i++)
        f->blocks[i]->order = UINT32_MAX;
    f->blocks[0]->order = 0;
    stack[depth++] = (struct step){f->blocks[0], 0};
    while (depth) {
        struct step *s = &stack[depth - 1];
        const struct module_value *end = terminator(s->b);
        if (s->next == end->to_count) {
            post[count++] = s->b;
            depth--;
            continue;
        }
        struct module_block *to = end->to[s->next++];
        edge(m, s->b, to);
        if (to->order == UINT32_MAX) {
            to->order = 0;
            stack[depth++] = (struct step){to, 0};
        }
    }
    f->order = ASL_ARRAY(m->c, struct module_block *, count);
    f->order_count = count;
    for (size_t i = 0; i < count; i++) {
        f->order[i] = post[count - 1 - i];
        f->order[i]->order = (uint32_t)i;
    }
}

static struct module_block *common(struct module_block *a, struct module_block *b)
{
    while (a != b) {
        while (a->order > b->order)
            a = a->dominator;
        while (b->order > a->order)
            b = b->dominator;
    }
    return a;
}

static void find_dominators(struct module_function *f)
{
    f->order[0]->dominator = f->order[0];
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 1; i < f->order_count; i++) {
            struct module_block *b = f->order[i], *d = NULL;
            for (size_t k = 0; k < b->from_count; k++)
                if (b->from[k]->dominator)
                    d = d ? common(d, b->from[k]) : b->from[k];
            changed = changed || b->dominator != d;
            b->dominator = d;
        }
    }
}

bool module_dominates(const struct module_block *a, const struct module_block *b)
{
    while (b && b->order > a->order) /* what is reached has one */
        b = b->dominator;
    return a == b;
}

/* The outermost loop that b is known to be in, or NULL. */
static struct module_block *outermost(struct module_block *b)
{
    struct module_block *l = b->head ? b : b->loop;
    while (l && l->loop)
        l = l->loop;
    return l;
}

/* Natural loops, from the innermost. */
static void find_loops(struct module *m, struct module_function *f)
{
    struct module_block **work = ASL_ARRAY(m->c, struct module_block *, f->order_count + 1);
    bool *seen = ASL_ARRAY(m->c, bool, f->order_count);
    for (size_t i = f->order_count; i-- > 0;) {
        struct module_block *head = f->order[i];
        size_t forward = 0, count = 0;
        memset(seen, 0, f->order_count * sizeof *seen);
        seen[head->order] = true;
        for (size_t k = 0; k < head->from_count; k++) {
            struct module_block *b = head->from[k];
            bool back = b->order >= head->order;
            forward += !back;
            if (back && !module_dominates(head, b))
                f->irreducible = true;
            else if (back)
                head->head = true;
            if (back && !seen[b->order]) {
                seen[b->order] = true;
                work[count++] = b;
            }
        }
        head->joined = forward > 1;
        if (!head->head || f->irreducible)
            continue;
        while (count) {
            struct module_block *b = work[--count], *l = outermost(b);
            if (l == head)
                continue; /* it is known to be in */
            if (!l)
                l = b;
            l->loop = head;
            for (size_t k = 0; k < l->from_count; k++) {
                struct module_block *p = l->from[k];
                if (!seen[p->order]) {
                    seen[p->order] = true;
                    work[count++] = p;
                }
            }
        }
    }
    for (size_t i = 0; i < f->order_count; i++) { /* a switch does not nest its targets */
        const struct module_value *end = terminator(f->order[i]);
        for (size_t k = 0; end->op == OPCODE_SWITCH && k < end->to_count; k++)
            end->to[k]->joined = true;
    }
}

/* ---- values -------------------------------------------------------------------------------------- */

static bool is_list(const struct module_type *t, enum module_type_kind of)
{
    return t->kind == of || (t->kind == MODULE_VECTOR && t->of[0]->kind == of);
}

static bool as_long(const struct module_type *a, const struct module_type *b)
{
    return a->kind == MODULE_VECTOR ? b->kind == MODULE_VECTOR && a->count == b->count
                                    : b->kind != MODULE_VECTOR;
}

static uint32_t bits_of(const struct module_type *t)
{
    const struct module_type *e = t->kind == MODULE_VECTOR ? t->of[0] : t;
    return e->kind == MODULE_FLOAT ? 32 : e->kind == MODULE_INT ? e->bits : 0;
}

/* Types that values may have: floats, ints of at most 64 bits, pointers, and what is made of them. */
static void check_type(struct module *m, const struct module_value *v, const struct module_type *t,
                       unsigned depth)
{
    if (t->kind == MODULE_OTHER)
        module_refuse(m, v->at, t->name[0] == 'd' ? "write float constants: 1.0f" : NULL,
                      "%s is of type %s, which ASL does not have", v->name ? v->name : "a value",
                      t->name);
    if (t->kind == MODULE_INT && t->bits > 64)
        module_refuse(m, v->at, NULL, "%s is of type i%u: ints have at most 64 bits here",
                      v->name ? v->name : "a value", t->bits);
    if (t->kind == MODULE_ARRAY || t->kind == MODULE_VECTOR)
        check_type(m, v, t->of[0], depth + 1);
    for (uint64_t k = 0; t->kind == MODULE_STRUCT && depth < 4 && k < t->count; k++)
        check_type(m, v, t->of[k], depth + 1);
}

static void types_differ(struct module *m, const struct module_value *v)
{
    module_refuse(m, v->at, NULL, "the types of this instruction's operands do not fit it");
}

static bool conversion_fits(const struct module_type *from, const struct module_type *to,
                            enum module_op op)
{
    uint32_t a = bits_of(from), b = bits_of(to);
    bool ints = is_list(from, MODULE_INT) && is_list(to, MODULE_INT) && as_long(from, to);
    switch (op) {
    case OPCODE_TRUNC:
        return ints && a > b;
    case OPCODE_ZEXT:
    case OPCODE_SEXT:
        return ints && a < b;
    case OPCODE_FPTOUI:
    case OPCODE_FPTOSI:
        return is_list(from, MODULE_FLOAT) && is_list(to, MODULE_INT) && as_long(from, to);
    case OPCODE_UITOFP:
    case OPCODE_SITOFP:
        return is_list(from, MODULE_INT) && is_list(to, MODULE_FLOAT) && as_long(from, to);
    case OPCODE_ADDRSPACECAST:
        return from->kind == MODULE_POINTER && to->kind == MODULE_POINTER;
    default: /* bitcast */
        if (from->kind == MODULE_POINTER || to->kind == MODULE_POINTER)
            return from->kind == to->kind;
        return a && b &&
               a * (from->kind == MODULE_VECTOR ? from->count : 1) ==
                   b * (to->kind == MODULE_VECTOR ? to->count : 1);
    }
}

static bool is_pointer(const struct module_value *v) { return v->type->kind == MODULE_POINTER; }
static bool is_int(const struct module_value *v) { return v->type->kind == MODULE_INT; }

static bool fits(const struct module_function *f, const struct module_value *v)
{
    struct module_value *const *o = v->ops;
    size_t n = v->count;
    if (v->op >= OPCODE_ADD && v->op <= OPCODE_FREM)
        return n == 2 && module_same_type(o[0]->type, o[1]->type) &&
               module_same_type(v->type, o[0]->type) &&
               is_list(v->type, v->op >= OPCODE_FADD ? MODULE_FLOAT : MODULE_INT);
    if (v->op >= OPCODE_TRUNC && v->op <= OPCODE_ADDRSPACECAST)
        return n == 1 && conversion_fits(o[0]->type, v->type, v->op);
    switch (v->op) {
    case OPCODE_RET:
        return f->type->result->kind == MODULE_VOID
                   ? n == 0
                   : n == 1 && module_same_type(o[0]->type, f->type->result);
    case OPCODE_BR:
        return n == 0 ? v->to_count == 1
                      : n == 1 && is_int(o[0]) && o[0]->type->bits == 1 && v->to_count == 2;
    case OPCODE_SWITCH:
        for (size_t i = 1; i < n; i++)
            if (o[i]->kind != VALUE_INT || !module_same_type(o[i]->type, o[0]->type))
                return false;
        return is_int(o[0]) && v->to_count == n;
    case OPCODE_FNEG:
        return n == 1 && is_list(v->type, MODULE_FLOAT) && module_same_type(v->type, o[0]->type);
    case OPCODE_ICMP:
        return module_same_type(o[0]->type, o[1]->type) &&
               (is_list(o[0]->type, MODULE_INT) || is_pointer(o[0]));
    case OPCODE_FCMP:
        return module_same_type(o[0]->type, o[1]->type) && is_list(o[0]->type, MODULE_FLOAT);
    case OPCODE_PHI:
        for (size_t i = 0; i < n; i++)
            if (!module_same_type(o[i]->type, v->type))
                return false;
        return n == v->to_count && v->type->kind != MODULE_VOID;
    case OPCODE_SELECT:
        return n == 3 && is_list(o[0]->type, MODULE_INT) && bits_of(o[0]->type) == 1 &&
               module_same_type(o[1]->type, o[2]->type) &&
               (o[0]->type->kind != MODULE_VECTOR || as_long(o[0]->type, o[1]->type));
    case OPCODE_FREEZE:
        return n == 1 && module_same_type(v->type, o[0]->type);
    case OPCODE_ALLOCA:
        return n == 0 || is_int(o[0]);
    case OPCODE_LOAD:
        return n == 1 && is_pointer(o[0]);
    case OPCODE_STORE:
        return n == 2 && is_pointer(o[1]);
    case OPCODE_GEP:
        for (size_t i = 1; i < n; i++)
            if (!is_int(o[i]))
                return false;
        return is_pointer(o[0]);
    case OPCODE_EXTRACTELEMENT:
        return n == 2 && is_int(o[1]) && o[0]->type->kind == MODULE_VECTOR;
    case OPCODE_INSERTELEMENT:
        return n == 3 && is_int(o[2]) && o[0]->type->kind == MODULE_VECTOR &&
               module_same_type(o[0]->type->of[0], o[1]->type);
    case OPCODE_SHUFFLE:
        return n == 2 && o[0]->type->kind == MODULE_VECTOR &&
               module_same_type(o[0]->type, o[1]->type);
    default:
        return true;
    }
}

/* A function's type as its definition has it, and as a call of it has it. */
static bool call_fits(const struct module_value *v)
{
    const struct module_type *t =
        v->callee->kind == VALUE_FUNCTION ? v->callee->function->type : NULL;
    if (!t || t->variadic || t->count != v->count || !module_same_type(t->result, v->type))
        return false;
    for (size_t i = 0; i < v->count; i++)
        if (!module_same_type(t->of[i], v->ops[i]->type))
            return false;
    return true;
}

static void check_use(struct module *m, const struct module_value *v, const struct module_value *op,
                      const struct module_block *at)
{
    if (op->kind != VALUE_INSTRUCTION || op->id == UINT32_MAX)
        return;
    bool before = op->block == v->block && v->op != OPCODE_PHI ? op->order < v->order
                  : op->block->order == UINT32_MAX             ? at->order == UINT32_MAX
                                                               : module_dominates(op->block, at);
    if (!before)
        module_refuse(m, v->at, NULL, "%s is used where it may have no value yet", op->name);
}

static void check_phi(struct module *m, const struct module_block *b, const struct module_value *v)
{
    if (v->order && b->code[v->order - 1]->op != OPCODE_PHI)
        module_refuse(m, v->at, NULL, "a phi stands behind another instruction");
    for (size_t k = 0; k < b->from_count; k++) {
        size_t found = 0;
        for (size_t i = 0; i < v->to_count; i++)
            found += v->to[i] == b->from[k];
        if (!found)
            module_refuse(m, v->at, NULL, "%s has no value for block %%%s, which comes here",
                          v->name, b->from[k]->name);
    }
    for (size_t i = 0; i < v->count; i++) {
        bool comes = v->to[i]->order == UINT32_MAX;
        for (size_t k = 0; k < b->from_count && !comes; k++)
            comes = v->to[i] == b->from[k];
        if (!comes)
            module_refuse(m, v->at, NULL, "%s has a value for block %%%s, which does not come here",
                          v->name, v->to[i]->name);
        for (size_t k = 0; k < i; k++)
            if (v->to[k] == v->to[i] && v->ops[k] != v->ops[i] &&
                (v->ops[k]->kind != v->ops[i]->kind || v->ops[k]->bits != v->ops[i]->bits ||
                 v->ops[k]->kind == VALUE_INSTRUCTION || v->ops[k]->kind == VALUE_ARGUMENT))
                module_refuse(m, v->at, NULL, "%s has two values for block %%%s", v->name,
                              v->to[i]->name);
        if (v->to[i]->order != UINT32_MAX)
            check_use(m, v, v->ops[i], v->to[i]);
    }
}

static void check_block(struct module *m, const struct module_function *f,
                        const struct module_block *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct module_value *v = b->code[i];
        if (v->type->kind != MODULE_VOID)
            check_type(m, v, v->type, 0);
        for (size_t k = 0; k < v->count; k++)
            check_type(m, v, v->ops[k]->type, 0);
        if (v->op == OPCODE_CALL ? !call_fits(v) : !fits(f, v))
            types_differ(m, v);
        if (v->op == OPCODE_PHI)
            check_phi(m, b, v);
        for (size_t k = 0; k < v->count && v->op != OPCODE_PHI; k++)
            check_use(m, v, v->ops[k], b);
    }
}

/* Allocas of pointers that hold nothing else and that nothing else names, and what is stored there. */
static void find_slots(struct module_function *f)
{
    for (size_t i = 0; i < f->order_count; i++)
        for (size_t k = 0; k < f->order[i]->count; k++) {
            struct module_value *v = f->order[i]->code[k];
            v->slot = v->op == OPCODE_ALLOCA && v->of->kind == MODULE_POINTER && v->count == 0;
        }
    for (size_t i = 0; i < f->order_count; i++)
        for (size_t k = 0; k < f->order[i]->count; k++) {
            struct module_value *v = f->order[i]->code[k];
            bool loads = v->op == OPCODE_LOAD && is_pointer(v);
            bool stores = v->op == OPCODE_STORE && is_pointer(v->ops[0]);
            bool silent = v->op == OPCODE_CALL && v->type->kind == MODULE_VOID &&
                          (strncmp(v->callee->function->name, "llvm.lifetime.", 14) == 0 ||
                           strncmp(v->callee->function->name, "llvm.var.", 9) == 0);
            for (size_t o = 0; o < v->count && !silent; o++)
                if (v->ops[o]->kind == VALUE_INSTRUCTION && v->ops[o]->op == OPCODE_ALLOCA &&
                    !(loads && o == 0) && !(stores && o == 1))
                    v->ops[o]->slot = false;
            if (stores && v->ops[1]->kind == VALUE_INSTRUCTION) {
                v->stores = v->ops[1]->stores;
                v->ops[1]->stores = v;
            }
        }
}

void module_verify(struct module *m, struct module_function *f)
{
    if (f->verified)
        return;
    if (f->block_count > FUNCTION_BLOCKS)
        module_refuse(m, f->at, NULL, "@%s has more than %d blocks", f->name, (int)FUNCTION_BLOCKS);
    order_blocks(m, f);
    if (f->order[0]->from_count)
        module_refuse(m, f->order[0]->at, NULL, "the first block of @%s is a branch's target",
                      f->name);
    find_dominators(f);
    for (size_t i = 0; i < f->order_count; i++)
        check_block(m, f, f->order[i]);
    find_slots(f);
    find_loops(m, f);
    f->verified = true;
}
