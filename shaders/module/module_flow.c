/* SPDX-License-Identifier: Apache-2.0 */
/* module_flow.c: blocks as statements. A block stands in the branch that leads to it where no other
 * does; else behind the block that dominates it, for those paths that chose it as the next one
 * (Ramsey, "Beyond Relooper", 2022, with a variable in place of exits of many levels). Loops become
 * loops. Where the graph has loops of two entries, or would nest too deeply, all blocks stand in one
 * loop, each for its number. */
#include "module/writer.h"

#include <string.h>

enum { FLOW_NESTING = 400, FLOW_DEPTH = 1500 };

struct flow {
    struct writer *w;
    struct instance *i;
    size_t words; /* of a set of blocks */
    struct module_block **parent;
    struct module_block **child, **sibling; /* by order: the first behind it, the next one */
    bool *after, *written;                  /* behind the parent's loop */
    bool dry, failed; /* dry: only the nesting is found, and whether it is too deep */
    unsigned nest, depth;
};

static struct module_block *loop_of(struct module_block *b) { return b->head ? b : b->loop; }

static bool is_in(const struct module_block *loop, struct module_block *b)
{
    struct module_block *l = loop_of(b);
    while (l && l != loop)
        l = l->loop;
    return l != NULL;
}

static void find_parents(struct flow *s, const struct module_function *f)
{
    for (size_t k = f->order_count; k-- > 1;) {
        struct module_block *b = f->order[k], *p = b->dominator;
        for (struct module_block *l = loop_of(p); l; l = l->loop)
            if (!is_in(l, b))
                p = l;
        s->parent[k] = p;
        s->after[k] = p->head && !is_in(p, b);
        s->sibling[k] = s->child[p->order];
        s->child[p->order] = b;
    }
}

/* ---- sets of blocks that may be next; the last number is none ------------------------------------------ */

static uint64_t *set_new(struct flow *s) { return ASL_ARRAY(s->w->c, uint64_t, s->words); }
static void set_add(uint64_t *set, size_t k) { set[k / 64] |= (uint64_t)1 << (k % 64); }
static void set_drop(uint64_t *set, size_t k) { set[k / 64] &= ~((uint64_t)1 << (k % 64)); }

static void set_join(const struct flow *s, uint64_t *set, const uint64_t *other)
{
    for (size_t k = 0; k < s->words; k++)
        set[k] |= other[k];
}

static bool set_is(const struct flow *s, const uint64_t *set, size_t only)
{
    for (size_t k = 0; k < s->words; k++)
        if (set[k] != (k == only / 64 ? (uint64_t)1 << (only % 64) : 0))
            return false;
    return true;
}

/* ---- edges and blocks -------------------------------------------------------------------------------------- */

/* The phis of the target take their values: all at once. */
static void edge(struct flow *s, const struct module_block *from, const struct module_block *to)
{
    struct writer *w = s->w;
    struct instance *i = s->i;
    struct move {
        struct part to, from;
    } *moves = NULL;
    size_t count = 0, cap = 0;
    for (size_t k = 0; k < to->count && to->code[k]->op == OPCODE_PHI; k++) {
        const struct module_value *v = to->code[k];
        size_t n, e = 0;
        while (v->to[e] != from)
            e++;
        w->at = v->at;
        const struct part *parts = value_parts(w, i, v, &n);
        const struct part *values = value_parts(w, i, v->ops[e], &n);
        for (size_t p = 0; p < n; p++) {
            struct move m = {parts[p], values[p]};
            if (m.to.kind == PART_POINTER) {
                if (!m.to.moving)
                    continue;
                m.to = (struct part){.kind = PART_INT, .bits = 32, .lo = m.to.moving};
                m.from = m.to;
                m.from.lo = pointer_moves(w, &values[p]);
            }
            moves = asl_grow(w->c, moves, count, &cap, count + 1, sizeof *moves);
            moves[count++] = m;
        }
    }
    for (size_t k = 0; k < count && count > 1; k++) {
        struct part held = moves[k].to;
        if (moves[k].from.constant)
            continue;
        part_variable(w, &held);
        part_assign(w, &held, &moves[k].from);
        moves[k].from = held;
    }
    for (size_t k = 0; k < count; k++)
        part_assign(w, &moves[k].to, &moves[k].from);
}

static void code(struct flow *s, const struct module_block *b)
{
    for (size_t k = 0; !s->dry && k + 1 < b->count; k++) {
        s->w->at = b->code[k]->at;
        value_write(s->w, s->i, b->code[k]);
    }
    s->w->at = b->code[b->count - 1]->at;
}

static void next_is(struct flow *s, int64_t number)
{
    if (!s->dry && s->i->next)
        write_line(s->w, "%s = %lld;", s->i->next, (long long)number);
}

static void leave(struct flow *s, const struct module_value *end)
{
    size_t n = 0;
    if (!s->dry && end->op == OPCODE_RET && end->count) {
        const struct part *x = value_parts(s->w, s->i, end->ops[0], &n);
        for (size_t k = 0; k < n; k++)
            part_assign(s->w, &s->i->result[k], &x[k]);
    }
    next_is(s, -1);
}

/* `if (a == b)` of a switch. */
static const char *case_text(struct writer *w, const struct part *value, const struct part *of)
{
    return of->hi ? asl_sprintf(w->c, "%s == %s && %s == %s", value->lo, of->lo, value->hi, of->hi)
                  : asl_sprintf(w->c, "%s == %s", value->lo, of->lo);
}

static void open(struct flow *s, const char *text)
{
    if (++s->nest > FLOW_NESTING && s->dry)
        s->failed = true;
    s->w->nest++;
    if (!s->dry)
        write_line(s->w, "%s", text);
}

static void close(struct flow *s, const char *text)
{
    s->nest--;
    s->w->nest--;
    if (!s->dry)
        write_line(s->w, "%s", text);
}

static void write_switch(struct flow *s, const struct module_block *b, uint64_t *set)
{
    const struct module_value *end = b->code[b->count - 1];
    size_t n;
    struct part value = {0};
    if (!s->dry) { /* a copy: an edge may change a phi that it is */
        const struct part *x = value_parts(s->w, s->i, end->ops[0], &n);
        value = *x;
        part_variable(s->w, &value);
        part_assign(s->w, &value, x);
    }
    next_is(s, -2);
    for (size_t k = 1; k <= end->to_count; k++) {
        const struct module_block *to = end->to[k % end->to_count];
        if (!s->dry && k < end->to_count)
            write_line(s->w, "if (%s) {",
                       case_text(s->w, &value, value_parts(s->w, s->i, end->ops[k], &n)));
        else if (!s->dry)
            write_line(s->w, "if (%s == -2) {", s->i->next);
        if (!s->dry)
            edge(s, b, to);
        next_is(s, to->order);
        if (!s->dry)
            write_line(s->w, "}");
        set_add(set, to->order);
    }
}

static uint64_t *tree(struct flow *s, struct module_block *b);

/* To a block: it stands here, or is next. */
static uint64_t *go(struct flow *s, struct module_block *from, struct module_block *to)
{
    if (!s->dry)
        edge(s, from, to);
    if (to->order > from->order && !to->joined && s->parent[to->order] == from &&
        !s->after[to->order]) {
        s->written[to->order] = true;
        return tree(s, to);
    }
    uint64_t *set = set_new(s);
    next_is(s, to->order);
    set_add(set, to->order);
    return set;
}

static uint64_t *block_end(struct flow *s, struct module_block *b)
{
    const struct module_value *end = b->code[b->count - 1];
    if (end->op == OPCODE_BR && (end->to_count == 1 || end->to[0] == end->to[1]))
        return go(s, b, end->to[0]);
    uint64_t *set = set_new(s);
    if (end->op == OPCODE_BR) {
        size_t n;
        open(s, s->dry ? ""
                       : asl_sprintf(s->w->c, "if (%s) {",
                                     value_parts(s->w, s->i, end->ops[0], &n)->lo));
        set_join(s, set, go(s, b, end->to[0]));
        s->w->at = end->at;
        if (!s->dry)
            write_line(s->w, "} else {");
        set_join(s, set, go(s, b, end->to[1]));
        close(s, "}");
    } else if (end->op == OPCODE_SWITCH) {
        write_switch(s, b, set);
    } else {
        leave(s, end);
        set_add(set, s->i->f->order_count);
    }
    return set;
}

/* The blocks behind b: of its loop, or those behind that. */
static void behind(struct flow *s, struct module_block *b, bool after, uint64_t *set)
{
    for (struct module_block *c = s->child[b->order]; c && !s->failed; c = s->sibling[c->order]) {
        if (s->written[c->order] || s->after[c->order] != after)
            continue;
        bool only = set_is(s, set, c->order);
        s->w->at = c->at;
        if (!only)
            open(s, s->dry ? "" : asl_sprintf(s->w->c, "if (%s == %u) {", s->i->next, c->order));
        set_drop(set, c->order);
        set_join(s, set, tree(s, c));
        if (!only)
            close(s, "}");
    }
}

/* b, and all that it dominates; gives the blocks that may be next. */
static uint64_t *tree(struct flow *s, struct module_block *b)
{
    if (++s->depth > FLOW_DEPTH) {
        s->failed = true;
        s->depth--;
        return set_new(s);
    }
    s->w->at = b->at;
    if (b->head)
        open(s, "do {");
    code(s, b);
    uint64_t *set = block_end(s, b);
    behind(s, b, false, set);
    if (b->head) {
        close(s, s->dry ? "" : asl_sprintf(s->w->c, "} while (%s == %u);", s->i->next, b->order));
        set_drop(set, b->order);
    }
    behind(s, b, true, set);
    s->depth--;
    return set;
}

/* ---- one loop of all blocks ---------------------------------------------------------------------------------- */

static void jump(struct flow *s, const struct module_block *from, const struct module_block *to)
{
    edge(s, from, to);
    next_is(s, to->order);
}

static void machine(struct flow *s)
{
    struct writer *w = s->w;
    const struct module_function *f = s->i->f;
    size_t n;
    next_is(s, 0);
    open(s, "do {");
    for (size_t k = 0; k < f->order_count; k++) {
        struct module_block *b = f->order[k];
        const struct module_value *end = b->code[b->count - 1];
        w->at = b->at;
        open(s, asl_sprintf(w->c, "if (%s == %zu) {", s->i->next, k));
        code(s, b);
        if (end->op == OPCODE_BR && end->to_count == 1) {
            jump(s, b, end->to[0]);
        } else if (end->op == OPCODE_BR) {
            write_line(w, "if (%s) {", value_parts(w, s->i, end->ops[0], &n)->lo);
            jump(s, b, end->to[0]);
            write_line(w, "} else {");
            jump(s, b, end->to[1]);
            write_line(w, "}");
        } else if (end->op == OPCODE_SWITCH) {
            write_switch(s, b, set_new(s));
        } else {
            leave(s, end);
        }
        close(s, "}");
    }
    close(s, asl_sprintf(w->c, "} while (%s >= 0);", s->i->next));
}

void flow_write(struct writer *w, struct instance *i)
{
    const struct module_function *f = i->f;
    size_t n = f->order_count;
    struct flow s = {.w = w, .i = i, .words = n / 64 + 1, .dry = true};
    s.parent = ASL_ARRAY(w->c, struct module_block *, n);
    s.child = ASL_ARRAY(w->c, struct module_block *, n);
    s.sibling = ASL_ARRAY(w->c, struct module_block *, n);
    s.after = ASL_ARRAY(w->c, bool, n);
    s.written = ASL_ARRAY(w->c, bool, n);
    i->next = n > 1 ? write_variable(w, false) : NULL;
    if (!f->irreducible) {
        find_parents(&s, f);
        s.nest = w->nest;
        unsigned nest = w->nest;
        (void)tree(&s, f->order[0]);
        w->nest = nest;
        memset(s.written, 0, n * sizeof *s.written);
    }
    s.dry = false;
    s.depth = 0;
    if (f->irreducible || s.failed)
        machine(&s);
    else
        (void)tree(&s, f->order[0]);
}
