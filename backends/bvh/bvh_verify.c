/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of finished trees, written from bvh.h alone: nothing here is shared with the builders. */
#include "bvh.h"

#include <math.h>
#include <stdlib.h>

struct check {
    const struct bvh_box *boxes;
    size_t count;
    const uint32_t *order;
    bool *primitive_seen; /* by id */
    bool *node_seen;
    size_t slots_seen, nodes_seen;
    struct error *err;
};

static enum status check_open(struct check *c, size_t node_count)
{
    c->primitive_seen = calloc(c->count + 1, sizeof *c->primitive_seen);
    c->node_seen = calloc(node_count + 1, sizeof *c->node_seen);
    if (c->primitive_seen && c->node_seen)
        return STATUS_OK;
    return error_msg(c->err, STATUS_MEMORY, "no memory to check a hierarchy over %zu primitives",
                     c->count);
}

static void check_close(struct check *c)
{
    free(c->primitive_seen);
    free(c->node_seen);
}

static enum status check_node(struct check *c, size_t node, size_t node_count)
{
    if (node >= node_count)
        return error_msg(c->err, STATUS_MISMATCH, "node %zu of %zu is named as a child", node,
                         node_count);
    if (c->node_seen[node])
        return error_msg(c->err, STATUS_MISMATCH, "node %zu is reached twice", node);
    c->node_seen[node] = true;
    c->nodes_seen++;
    return STATUS_OK;
}

static void box_clear(struct bvh_box *b)
{
    *b = (struct bvh_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static void box_add(struct bvh_box *b, const struct bvh_box *x)
{
    for (int k = 0; k < 3; k++) {
        b->lo[k] = x->lo[k] < b->lo[k] ? x->lo[k] : b->lo[k];
        b->hi[k] = x->hi[k] > b->hi[k] ? x->hi[k] : b->hi[k];
    }
}

static bool box_equal(const struct bvh_box *a, const struct bvh_box *b)
{
    for (int k = 0; k < 3; k++)
        if (!(a->lo[k] == b->lo[k] && a->hi[k] == b->hi[k]))
            return false;
    return true;
}

static double box_surface(const struct bvh_box *b)
{
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = (double)b->hi[k] - (double)b->lo[k];
    return 2.0 * (d[0] * d[1] + d[0] * d[2] + d[1] * d[2]);
}

/* The leaf [first, first + count) has primitives nobody had, and `box` is the union of theirs. */
static enum status check_leaf(struct check *c, size_t most, size_t first, size_t count,
                              const struct bvh_box *box)
{
    if (count > most || first > c->count || count > c->count - first)
        return error_msg(c->err, STATUS_MISMATCH, "a leaf holds slots %zu to %zu of %zu", first,
                         first + count, c->count);
    struct bvh_box all;
    box_clear(&all);
    for (size_t i = first; i < first + count; i++) {
        uint32_t id = c->order[i];
        if (id >= c->count || c->primitive_seen[id])
            return error_msg(c->err, STATUS_MISMATCH, "slot %zu holds primitive %u, %s", i, id,
                             id >= c->count ? "which does not exist"
                                            : "which an earlier slot holds");
        c->primitive_seen[id] = true;
        box_add(&all, &c->boxes[id]);
    }
    c->slots_seen += count;
    if (!box_equal(&all, box))
        return error_msg(c->err, STATUS_MISMATCH,
                         "the box of the leaf at slot %zu is not the union of its primitives'",
                         first);
    return STATUS_OK;
}

static enum status check_totals(struct check *c, size_t nodes, uint32_t depth, uint32_t depth_said,
                                double cost, double cost_said)
{
    if (c->slots_seen != c->count)
        return error_msg(c->err, STATUS_MISMATCH, "%zu of %zu primitives are in leaves",
                         c->slots_seen, c->count);
    if (c->nodes_seen != nodes)
        return error_msg(c->err, STATUS_MISMATCH, "%zu of %zu nodes are reached", c->nodes_seen,
                         nodes);
    if (depth != depth_said || depth > BVH_MAX_DEPTH)
        return error_msg(c->err, STATUS_MISMATCH, "the depth is %u; the tree says %u", depth,
                         depth_said);
    /* Both sums have as many rounded terms as nodes. */
    double bound = 1e-16 * ((double)nodes + 8.0) * fabs(cost) * 4.0;
    if (!(fabs(cost - cost_said) <= bound))
        return error_msg(c->err, STATUS_MISMATCH, "the cost is %.17g; the tree says %.17g", cost,
                         cost_said);
    return STATUS_OK;
}

struct visit {
    size_t node;
    uint32_t depth;
};

static struct bvh_box bvh2_box(const struct bvh2_node *n)
{
    return (struct bvh_box){{n->lo[0], n->lo[1], n->lo[2]}, {n->hi[0], n->hi[1], n->hi[2]}};
}

static bool surface_counts(double s) { return s > 0.0 && isfinite(s); }

static enum status bvh2_check(struct check *c, const struct bvh2 *b)
{
    struct visit stack[BVH_MAX_DEPTH + 2];
    unsigned top = 0;
    uint32_t depth = 0;
    struct bvh_box whole = bvh2_box(&b->nodes[0]);
    double cost = 0.0, root = box_surface(&whole);
    stack[top++] = (struct visit){0, 0};
    while (top > 0) {
        struct visit v = stack[--top];
        enum status s = check_node(c, v.node, b->node_count);
        if (s != STATUS_OK)
            return s;
        const struct bvh2_node *n = &b->nodes[v.node];
        struct bvh_box box = bvh2_box(n);
        cost += box_surface(&box) / root * (n->count ? n->count : 1);
        depth = v.depth > depth ? v.depth : depth;
        if (n->count > 0) {
            s = check_leaf(c, 16, n->first, n->count, &box);
            if (s != STATUS_OK)
                return s;
            continue;
        }
        if (n->first <= v.node || n->first % 2 != 0 || (size_t)n->first + 1 >= b->node_count)
            return error_msg(c->err, STATUS_MISMATCH, "node %zu of %zu names the pair at %u",
                             v.node, b->node_count, n->first);
        struct bvh_box left = bvh2_box(&b->nodes[n->first]),
                       right = bvh2_box(&b->nodes[n->first + 1]), both = left;
        box_add(&both, &right);
        if (!box_equal(&both, &box))
            return error_msg(c->err, STATUS_MISMATCH,
                             "the box of node %zu is not the union of its children's", v.node);
        if (v.depth >= BVH_MAX_DEPTH)
            return error_msg(c->err, STATUS_MISMATCH, "the tree is deeper than %d", BVH_MAX_DEPTH);
        stack[top++] = (struct visit){n->first, v.depth + 1};
        stack[top++] = (struct visit){n->first + 1, v.depth + 1};
    }
    if (!surface_counts(root))
        cost = (double)c->count;
    return check_totals(c, b->node_count - 1, depth, b->depth, cost, b->sah_cost);
}

enum status bvh2_verify(const struct bvh2 *b, const struct bvh_box *boxes, struct error *err)
{
    if (b->primitive_count == 0) {
        struct bvh_box empty, root = bvh2_box(&b->nodes[0]);
        box_clear(&empty);
        if (b->node_count != 2 || b->nodes[0].count != 0 || !box_equal(&empty, &root))
            return error_msg(err, STATUS_MISMATCH, "a tree of nothing has %zu nodes or a box",
                             b->node_count);
        return STATUS_OK;
    }
    struct check c = {.boxes = boxes, .count = b->primitive_count, .order = b->order, .err = err};
    enum status s = check_open(&c, b->node_count);
    if (s == STATUS_OK)
        s = bvh2_check(&c, b);
    check_close(&c);
    return s;
}

static struct bvh_box bvh8_box(const struct bvh8_node *n, int i)
{
    return (struct bvh_box){{n->lo_x[i], n->lo_y[i], n->lo_z[i]},
                            {n->hi_x[i], n->hi_y[i], n->hi_z[i]}};
}

/* How many children stand in the first slots; -1 if one stands behind an empty slot. */
static int bvh8_children(const struct bvh8_node *n)
{
    struct bvh_box empty;
    box_clear(&empty);
    int count = 0;
    for (int i = 0; i < 8; i++) {
        struct bvh_box box = bvh8_box(n, i);
        if (n->count[i] == 0 && box_equal(&box, &empty))
            continue;
        if (count != i)
            return -1;
        count++;
    }
    return count;
}

static enum status bvh8_check(struct check *c, const struct bvh8 *w)
{
    struct visit stack[8 * (BVH_MAX_DEPTH + 2)];
    unsigned top = 0;
    uint32_t depth = 0;
    struct bvh_box whole;
    box_clear(&whole);
    for (size_t i = 0; i < c->count; i++)
        box_add(&whole, &c->boxes[i]);
    double cost = 1.0, root = box_surface(&whole);
    stack[top++] = (struct visit){0, 0};
    while (top > 0) {
        struct visit v = stack[--top];
        enum status s = check_node(c, v.node, w->node_count);
        if (s != STATUS_OK)
            return s;
        depth = v.depth > depth ? v.depth : depth;
        const struct bvh8_node *n = &w->nodes[v.node];
        int children = bvh8_children(n);
        if (children < 1 || (children < 2 && w->node_count > 1))
            return error_msg(c->err, STATUS_MISMATCH, "wide node %zu has %d children or a gap",
                             v.node, children);
        for (int i = 0; i < children; i++) {
            struct bvh_box box = bvh8_box(n, i);
            cost += box_surface(&box) / root; /* a leaf's primitives are tested at once */
            if (n->count[i] > 0) {
                s = check_leaf(c, 8, n->child[i], n->count[i], &box);
                if (s != STATUS_OK)
                    return s;
                continue;
            }
            if (n->child[i] <= v.node || n->child[i] >= w->node_count || v.depth >= BVH_MAX_DEPTH)
                return error_msg(c->err, STATUS_MISMATCH,
                                 "wide node %zu of %zu at depth %u names node %u", v.node,
                                 w->node_count, v.depth, n->child[i]);
            struct bvh_box all;
            box_clear(&all);
            const struct bvh8_node *inner = &w->nodes[n->child[i]];
            for (int k = 0; k < bvh8_children(inner); k++) {
                struct bvh_box part = bvh8_box(inner, k);
                box_add(&all, &part);
            }
            if (!box_equal(&all, &box))
                return error_msg(c->err, STATUS_MISMATCH,
                                 "child %d of wide node %zu is not the union of its own", i,
                                 v.node);
            stack[top++] = (struct visit){n->child[i], v.depth + 1};
        }
    }
    if (!surface_counts(root))
        cost = (double)c->count;
    return check_totals(c, w->node_count, depth, w->depth, cost, w->sah_cost);
}

enum status bvh8_verify(const struct bvh8 *b, const struct bvh_box *boxes, struct error *err)
{
    if (b->primitive_count == 0) {
        if (b->node_count != 1 || bvh8_children(&b->nodes[0]) != 0)
            return error_msg(err, STATUS_MISMATCH,
                             "a wide tree of nothing has %zu nodes or children", b->node_count);
        return STATUS_OK;
    }
    struct check c = {.boxes = boxes, .count = b->primitive_count, .order = b->order, .err = err};
    enum status s = check_open(&c, b->node_count);
    if (s == STATUS_OK)
        s = bvh8_check(&c, b);
    check_close(&c);
    return s;
}

/* Compressed node v.node and all below it; *all grows by what they hold. */
static enum status bvh8c_check(struct check *c, const struct bvh8c *b, struct visit v,
                               uint32_t *depth, struct bvh_box *all)
{
    enum status st = check_node(c, v.node, b->node_count);
    if (st == STATUS_OK && v.depth > BVH_MAX_DEPTH)
        st = error_msg(c->err, STATUS_MISMATCH, "compressed node %zu lies at depth %u", v.node,
                       v.depth);
    if (st != STATUS_OK)
        return st;
    const struct bvh8c_node *n = &b->nodes[v.node];
    uint32_t child = n->child;
    *depth = v.depth > *depth ? v.depth : *depth;
    for (unsigned s = 0; s < 8; s++) {
        struct bvh_box below, said;
        box_clear(&below);
        bool inner = n->inner >> s & 1u;
        if (inner != ((n->meta[s] & 0x18u) == 0x18u) || (inner && n->meta[s] != (0x20u | 24u | s)))
            return error_msg(c->err, STATUS_MISMATCH, "compressed node %zu: slot %u says %02x",
                             v.node, s, n->meta[s]);
        if (inner) {
            st = bvh8c_check(c, b, (struct visit){child++, v.depth + 1}, depth, &below);
        } else if (n->meta[s]) {
            size_t first = n->slot + (n->meta[s] & 0x1Fu), count = 0;
            for (unsigned ones = n->meta[s] >> 5; ones; ones >>= 1)
                count += ones & 1u;
            for (size_t i = first; i < first + count && i < c->count; i++)
                if (c->order[i] < c->count)
                    box_add(&below, &c->boxes[c->order[i]]);
            st = check_leaf(c, BVH8C_LEAF, first, count, &below);
        } else {
            continue;
        }
        if (st != STATUS_OK)
            return st;
        bvh8c_child_box(n, s, &said);
        box_add(all, &below);
        box_add(&below, &said);
        if (!box_equal(&below, &said))
            return error_msg(c->err, STATUS_MISMATCH,
                             "compressed node %zu: the box of slot %u does not hold what is below",
                             v.node, s);
    }
    return STATUS_OK;
}

enum status bvh8c_verify(const struct bvh8c *b, const struct bvh_box *boxes, struct error *err)
{
    if (b->primitive_count == 0)
        return STATUS_OK;
    struct check c = {.boxes = boxes, .count = b->primitive_count, .order = b->order, .err = err};
    struct bvh_box all;
    uint32_t depth = 0;
    box_clear(&all);
    enum status s = check_open(&c, b->node_count);
    if (s == STATUS_OK)
        s = bvh8c_check(&c, b, (struct visit){0, 0}, &depth, &all);
    if (s == STATUS_OK)
        s = check_totals(&c, b->node_count, depth, b->depth, b->sah_cost, b->sah_cost);
    check_close(&c);
    return s;
}
