/* SPDX-License-Identifier: Apache-2.0 */
/* Eight-wide nodes out of a binary tree: each takes the two children of a binary node and opens,
 * while there is room, the inner one with the largest surface (Wald, Benthin and Boulos, "Getting
 * Rid of Packets", 2008). Eight primitives are tested at once, so a subtree of at most eight
 * becomes a leaf where its parts' boxes cover most of its own. */
#include "bvh.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8 };

static double node_area(const struct bvh2_node *n)
{
    double x = (double)n->hi[0] - (double)n->lo[0], y = (double)n->hi[1] - (double)n->lo[1],
           z = (double)n->hi[2] - (double)n->lo[2];
    double area = x * y + y * z + z * x;
    return area <= DBL_MAX ? area : DBL_MAX; /* also for NaN */
}

/* The slots under a binary node, which are consecutive: how many, or 0 for more than eight. */
static uint32_t node_slots(const struct bvh2_node *nodes, uint32_t root, uint32_t *first)
{
    uint32_t stack[LANES], top = 0, count = 0, leaves = 0;
    *first = UINT32_MAX;
    stack[top++] = root;
    while (top > 0) {
        const struct bvh2_node *n = &nodes[stack[--top]];
        if (n->count == 0) {
            if (top + leaves + 2 > LANES) /* each of these holds a primitive at least */
                return 0;
            stack[top++] = n->first;
            stack[top++] = n->first + 1;
            continue;
        }
        leaves++;
        count += n->count;
        if (count > LANES)
            return 0;
        *first = n->first < *first ? n->first : *first;
    }
    return count;
}

/* Does one leaf for the whole of a small subtree cost less than leaves for its parts? Expected
 * block tests: area(parent) against the sum over the children, plus the share of a wide node (0.3
 * of a block test) that keeping them apart takes. Two walls of a room share no box; two halves of a
 * patch do. */
static bool merging_pays(const struct bvh2_node *nodes, uint32_t root)
{
    const struct bvh2_node *n = &nodes[root], *a = &nodes[n->first];
    if (n->count > 0)
        return true;
    return merging_pays(nodes, n->first) && merging_pays(nodes, n->first + 1) &&
           0.7 * node_area(n) <= node_area(a) + node_area(a + 1);
}

struct child {
    uint32_t binary;
    uint32_t first, count; /* of a leaf; count 0: inner */
    bool loose;            /* a leaf whose parts are better kept apart where there is room */
};
struct source {
    const struct bvh2 *tree;
    struct bvh8_quick quick;
};

static bool all_quick(const struct source *s, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (s->tree->order[i] < s->quick.first || s->tree->order[i] >= s->quick.end)
            return false;
    return true;
}

static struct child child_of(const struct source *s, uint32_t binary)
{
    struct child c = {.binary = binary};
    c.count = node_slots(s->tree->nodes, binary, &c.first);
    if (c.count > 0 && !merging_pays(s->tree->nodes, binary)) {
        c.loose = all_quick(s, c.first, c.count);
        c.count = c.loose ? c.count : 0;
    }
    return c;
}

/* The inner child with the largest surface, or if there is none the loose leaf; `count`: neither.
 */
static unsigned widest_child(const struct bvh2_node *nodes, const struct child *child,
                             unsigned count)
{
    unsigned widest = count;
    double area = -1.0;
    for (int leaves = 0; leaves < 2 && widest == count; leaves++) {
        for (unsigned i = 0; i < count; i++) {
            bool opens = leaves ? child[i].loose : child[i].count == 0;
            if (opens && node_area(&nodes[child[i].binary]) > area) {
                widest = i;
                area = node_area(&nodes[child[i].binary]);
            }
        }
    }
    return widest;
}

/* The children of the wide node over binary node `root`; how many. */
static unsigned children_gather(const struct source *s, uint32_t root, struct child child[8])
{
    const struct bvh2_node *nodes = s->tree->nodes;
    unsigned count = 1;
    child[0] = child_of(s, root);
    while (count < LANES) {
        unsigned widest = widest_child(nodes, child, count);
        if (widest == count)
            break;
        uint32_t first = nodes[child[widest].binary].first;
        child[widest] = child_of(s, first);
        child[count++] = child_of(s, first + 1);
    }
    return count;
}

static void node_clear(struct bvh8_node *n)
{
    memset(n, 0, sizeof *n);
    for (int i = 0; i < 8; i++) {
        n->lo_x[i] = n->lo_y[i] = n->lo_z[i] = INFINITY;
        n->hi_x[i] = n->hi_y[i] = n->hi_z[i] = -INFINITY;
    }
}

struct waiting {
    uint32_t binary, wide, depth;
};

/* What is below a wide node far from the root: its nodes' numbers follow one another, so that one
 * task can write them. */
struct part {
    struct waiting root;
    size_t used;  /* so many nodes are below it ... */
    size_t first; /* ... from this one on */
    uint32_t depth;
};

enum { PART_DEPTH = 4, PARTS_MOST = 4096 }; /* 8^4 */

/* Walks the tree that the wide nodes form, depth-first, from a node on; nodes below it get the
 * numbers from `used` on. */
struct walk {
    const struct source *s;
    struct bvh8_node *out; /* NULL: nodes are counted only */
    size_t used;
    uint32_t depth;     /* of the deepest one */
    struct part *parts; /* not NULL: nodes at PART_DEPTH are these, in order, and not walked */
    size_t part_count;
};

static void child_set(struct bvh8_node *node, unsigned i, const struct child *child,
                      const struct bvh2_node *c, uint32_t wide)
{
    node->lo_x[i] = c->lo[0];
    node->lo_y[i] = c->lo[1];
    node->lo_z[i] = c->lo[2];
    node->hi_x[i] = c->hi[0];
    node->hi_y[i] = c->hi[1];
    node->hi_z[i] = c->hi[2];
    node->child[i] = child->count ? child->first : wide;
    node->count[i] = child->count;
}

/* A node on the stack has at most seven siblings, and every level adds them once. */
static void tree_walk(struct walk *t, struct waiting root)
{
    struct waiting stack[7 * (BVH_MAX_DEPTH + 1) + 1];
    unsigned top = 0;
    stack[top++] = root;
    while (top > 0) {
        struct waiting w = stack[--top];
        if (t->parts && w.depth == PART_DEPTH) {
            struct part *p = &t->parts[t->part_count++];
            p->root = w;
            p->first = t->used;
            t->used += p->used;
            continue;
        }
        t->depth = w.depth > t->depth ? w.depth : t->depth;
        struct child child[8];
        unsigned count = children_gather(t->s, w.binary, child);
        struct bvh8_node *node = t->out ? &t->out[w.wide] : NULL;
        if (node)
            node_clear(node);
        for (unsigned i = 0; i < count; i++) {
            if (node)
                child_set(node, i, &child[i], &t->s->tree->nodes[child[i].binary],
                          (uint32_t)t->used);
            t->used += child[i].count == 0;
        }
        /* the first child on top of the stack; indices as given above */
        uint32_t wide = (uint32_t)t->used;
        for (unsigned i = count; i-- > 0;)
            if (child[i].count == 0)
                stack[top++] = (struct waiting){child[i].binary, --wide, w.depth + 1};
    }
}

struct collapsing {
    struct source s;
    struct bvh8_node *out; /* NULL: parts are counted only */
    struct part *parts;
};

static void part_walk(void *ctx, size_t index, unsigned thread)
{
    (void)thread;
    const struct collapsing *c = ctx;
    struct part *p = &c->parts[index];
    struct walk t = {.s = &c->s, .out = c->out, .used = p->first, .depth = p->root.depth};
    tree_walk(&t, p->root);
    p->used = t.used - p->first;
    p->depth = t.depth;
}

/* The top, then the parts below it. out NULL: how many nodes there are. */
static struct walk whole_walk(struct collapsing *c, struct bvh8_node *out)
{
    struct walk t = {.s = &c->s, .out = out, .used = 1, .parts = c->parts};
    c->out = out;
    tree_walk(&t, (struct waiting){0, 0, 0});
    parallel_for(t.part_count, 0, part_walk, c);
    for (size_t i = 0; i < t.part_count; i++) {
        const struct part *p = &c->parts[i];
        t.used += out ? 0 : p->used; /* which the top did not know then */
        t.depth = p->depth > t.depth ? p->depth : t.depth;
    }
    return t;
}

static double cost_part(const void *ctx, size_t begin, size_t end)
{
    const struct bvh8_node *nodes = ctx;
    double sum = 0.0;
    for (size_t i = begin; i < end; i++) {
        const struct bvh8_node *n = &nodes[i];
        for (int k = 0; k < 8; k++) {
            double x = (double)n->hi_x[k] - (double)n->lo_x[k],
                   y = (double)n->hi_y[k] - (double)n->lo_y[k],
                   z = (double)n->hi_z[k] - (double)n->lo_z[k];
            if (x >= 0.0)
                sum += x * y + y * z + z * x;
        }
    }
    return sum;
}

static double bvh8_cost(const struct bvh8 *w, const struct bvh2_node *root)
{
    double total = node_area(root);
    if (!(total > 0.0 && total < DBL_MAX))
        return (double)w->primitive_count;
    /* the root itself is always visited */
    return 1.0 + parallel_sum(w->node_count, cost_part, w->nodes) / total;
}

/* Leaves that are too large. */
static double large_part(const void *ctx, size_t begin, size_t end)
{
    const struct bvh2_node *nodes = ctx;
    size_t large = 0;
    for (size_t i = begin; i < end; i++)
        large += nodes[i].count > LANES;
    return (double)large;
}

static enum status collapse(struct collapsing *c, const struct bvh2 *b, struct bvh8 *w,
                            struct error *err)
{
    const double large = parallel_sum(b->node_count, large_part, b->nodes);
    if (large > 0)
        return error_msg(err, STATUS_ARG,
                         "%.0f leaves hold more primitives than wide trees take; the most is %d",
                         large, LANES);
    const struct walk counted = whole_walk(c, NULL);
    w->node_count = counted.used;
    w->depth = counted.depth;
    w->nodes = memory_large(w->node_count * sizeof *w->nodes);
    w->order = memory_large(w->primitive_count * sizeof *w->order);
    if (!w->nodes || !w->order)
        return error_msg(err, STATUS_MEMORY, "no memory for %zu wide nodes", w->node_count);
    (void)whole_walk(c, w->nodes);
    memcpy(w->order, b->order, w->primitive_count * sizeof *w->order);
    return STATUS_OK;
}

static enum status empty_make(struct bvh8 *w, struct error *err)
{
    w->nodes = aligned_alloc(64, sizeof *w->nodes);
    w->order = malloc(sizeof *w->order);
    if (!w->nodes || !w->order)
        return error_msg(err, STATUS_MEMORY, "no memory for an empty hierarchy");
    node_clear(w->nodes);
    return STATUS_OK;
}

enum status bvh8_collapse(const struct bvh2 *b, struct bvh8_quick quick, struct bvh8 *out,
                          struct error *err)
{
    struct bvh8 w = {.node_count = 1, .primitive_count = b->primitive_count};
    struct collapsing c = {.s = {b, quick}, .parts = calloc(PARTS_MOST, sizeof *c.parts)};
    enum status st = !c.parts ? error_msg(err, STATUS_MEMORY, "no memory for parts of a hierarchy")
                     : w.primitive_count > 0 ? collapse(&c, b, &w, err)
                                             : empty_make(&w, err);
    free(c.parts);
    if (st != STATUS_OK) {
        bvh8_free(&w);
        return st;
    }
    w.sah_cost = bvh8_cost(&w, &b->nodes[0]);
    *out = w;
    return STATUS_OK;
}

void bvh8_free(struct bvh8 *b)
{
    if (!b)
        return;
    free(b->nodes);
    free(b->order);
    *b = (struct bvh8){0};
}
