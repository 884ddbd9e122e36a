/* Boxes, the tree over them, and its leaves in the order and shape that the kernel walks. */
#include "layout_buffers.h"

#include "bvh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINARY_LEAF = 4, BOX_CHUNK = 4096 };

/* ---- boxes -------------------------------------------------------------------------------------
 */

static float largest(float a, float b) { return a > b ? a : b; }

/* The same float32 steps as the kernel's k_box_widen, so the same box (Part II, section 12). */
static void box_widen(struct bvh_box *b)
{
    float side = largest(largest(b->hi[0] - b->lo[0], b->hi[1] - b->lo[1]), b->hi[2] - b->lo[2]);
    float lo = largest(largest(fabsf(b->lo[0]), fabsf(b->lo[1])), fabsf(b->lo[2]));
    float hi = largest(largest(fabsf(b->hi[0]), fabsf(b->hi[1])), fabsf(b->hi[2]));
    float m = side * 0x1p-9f + largest(lo, hi) * 0x1p-20f;
    for (int i = 0; i < 3; i++) {
        b->lo[i] -= m;
        b->hi[i] += m;
    }
}

static struct bvh_box primitive_box(const struct scene *s, size_t id)
{
    struct bvh_box b;
    if (id < s->triangle_count) {
        const uint32_t *v = s->triangles[id];
        for (int i = 0; i < 3; i++) {
            float x = s->P[v[0]][i], y = s->P[v[1]][i], z = s->P[v[2]][i];
            float lo = x < y ? x : y, hi = x > y ? x : y;
            b.lo[i] = lo < z ? lo : z;
            b.hi[i] = hi > z ? hi : z;
        }
    } else {
        id -= s->triangle_count;
        const float *c =
            id < s->sphere_count ? s->spheres[id].center : s->disks[id - s->sphere_count].center;
        float r =
            id < s->sphere_count ? s->spheres[id].radius : s->disks[id - s->sphere_count].radius;
        for (int i = 0; i < 3; i++) {
            b.lo[i] = c[i] - r;
            b.hi[i] = c[i] + r;
        }
    }
    box_widen(&b);
    return b;
}

struct boxes {
    const struct scene *s;
    struct bvh_box *at;
    size_t count;
};
static void boxes_fill(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct boxes *b = ctx;
    for (size_t i = chunk * BOX_CHUNK, end = i + BOX_CHUNK; i < end && i < b->count; i++)
        b->at[i] = primitive_box(b->s, i);
}

/* ---- binary
 * ------------------------------------------------------------------------------------------ */

static void triangle_vertices(const struct scene *s, uint32_t id, float out[9])
{
    for (int v = 0; v < 3; v++)
        memcpy(out + 3 * v, s->P[s->triangles[id][v]], 12);
}

static enum status slots_lay(struct layout *l, const struct scene *s, const uint32_t *order,
                             size_t count, struct error *err)
{
    void *data;
    enum status st = layout_take(l, BUFFER_leaves, count, K_SLOT_WORDS * 4, &data, err);
    if (st)
        return st;
    float *slots = data;
    for (size_t i = 0; i < count; i++) {
        float *slot = slots + K_SLOT_WORDS * i;
        uint32_t id = order[i];
        memset(slot, 0, K_SLOT_WORDS * 4);
        if (id < s->triangle_count)
            triangle_vertices(s, id, slot);
        memcpy(slot + 9, &id, 4);
    }
    return STATUS_OK;
}

static enum status binary_lay(struct layout *l, const struct scene *s, struct bvh2 *tree,
                              struct error *err)
{
    void *nodes;
    if (tree->node_count > K_REF_FIRST_MAX || tree->primitive_count > K_REF_FIRST_MAX)
        return error_msg(err, STATUS_LIMIT,
                         "a binary tree of %zu nodes over %zu primitives; the most is %u",
                         tree->node_count, tree->primitive_count, K_REF_FIRST_MAX);
    enum status st =
        layout_take(l, BUFFER_nodes, tree->node_count, sizeof *tree->nodes, &nodes, err);
    if (st)
        return st;
    memcpy(nodes, tree->nodes, tree->node_count * sizeof *tree->nodes);
    free(tree->nodes);
    tree->nodes = NULL;
    st = slots_lay(l, s, tree->order, tree->primitive_count, err);
    if (st)
        return st;
    l->launch.bvh = tree->primitive_count ? bvh_define(BVH_BINARY) : 0;
    l->bvh = BVH_BINARY;
    l->sah_cost = tree->sah_cost;
    return STATUS_OK;
}

/* ---- eight-wide
 * ------------------------------------------------------------------------------------------ */

/* Block number `index`: primitives order[0 .. count). True if it holds anything but triangles. */
static bool block_fill(const struct scene *s, const uint32_t *order, uint32_t count, float *block)
{
    bool mixed = false;
    uint32_t ids[8];
    for (uint32_t lane = 0; lane < count; lane++)
        mixed = mixed || order[lane] >= s->triangle_count;
    for (uint32_t lane = 0; lane < 8; lane++) {
        float v[9] = {0};
        ids[lane] = lane < count ? order[lane] : mixed ? UINT32_MAX : order[0];
        if (ids[lane] < s->triangle_count)
            triangle_vertices(s, ids[lane], v);
        for (int i = 0; i < 9; i++)
            block[8 * i + (int)lane] = v[i];
    }
    memcpy(block + 72, ids, sizeof ids);
    return mixed;
}

static enum status wide_lay(struct layout *l, const struct scene *s, struct bvh8 *tree,
                            struct error *err)
{
    size_t blocks = 0;
    for (size_t i = 0; i < tree->node_count; i++)
        for (int k = 0; k < 8; k++)
            blocks += tree->nodes[i].count[k] > 0;
    if (blocks > K_LEAF_INDEX || tree->node_count > K_LEAF_INDEX)
        return error_msg(err, STATUS_LIMIT, "the eight-wide tree has %zu leaves; the most is %u",
                         blocks, K_LEAF_INDEX);
    void *nodes, *leaves;
    enum status st = layout_take(l, BUFFER_leaves, blocks, K_BLOCK_WORDS * 4, &leaves, err);
    if (st)
        return st;
    uint32_t block = 0;
    for (size_t i = 0; i < tree->node_count; i++) {
        struct bvh8_node *n = &tree->nodes[i];
        for (int k = 0; k < 8; k++) {
            if (n->count[k] == 0)
                continue;
            float *to = (float *)leaves + (size_t)K_BLOCK_WORDS * block;
            bool mixed = block_fill(s, tree->order + n->child[k], n->count[k], to);
            n->child[k] = K_LEAF | (mixed ? K_LEAF_MIXED : 0) | block++;
        }
    }
    st = layout_take(l, BUFFER_nodes, tree->node_count, sizeof *tree->nodes, &nodes, err);
    if (st)
        return st;
    memcpy(nodes, tree->nodes, tree->node_count * sizeof *tree->nodes);
    l->launch.bvh = tree->primitive_count ? bvh_define(BVH_WIDE8) : 0;
    l->bvh = BVH_WIDE8;
    l->sah_cost = tree->sah_cost;
    return STATUS_OK;
}

/* ---- compressed eight-wide
 * ------------------------------------------------------------------------------------------ */

static enum status compressed_lay(struct layout *l, const struct scene *s, const struct bvh2 *tree,
                                  struct error *err)
{
    struct bvh8c c;
    void *nodes;
    enum status st = bvh8_compress(tree, &c, err);
    if (st)
        return st;
    st = slots_lay(l, s, c.order, c.primitive_count, err);
    if (st == STATUS_OK)
        st = layout_take(l, BUFFER_nodes, c.node_count, sizeof *c.nodes, &nodes, err);
    if (st == STATUS_OK) {
        memcpy(nodes, c.nodes, c.node_count * sizeof *c.nodes);
        l->launch.bvh = c.primitive_count ? bvh_define(BVH_COMPRESSED8) : 0;
        l->bvh = BVH_COMPRESSED8;
        l->sah_cost = c.sah_cost;
    }
    bvh8c_free(&c);
    return st;
}

enum status layout_tree(struct layout *l, const struct scene *s, enum bvh_kind kind,
                        struct error *err)
{
    double start = clock_s();
    struct boxes boxes = {.s = s, .count = scene_primitive_count(s)};
    boxes.at = malloc((boxes.count ? boxes.count : 1) * sizeof *boxes.at);
    if (!boxes.at)
        return error_msg(err, STATUS_MEMORY, "out of memory for the boxes of %zu primitives",
                         boxes.count);
    parallel_for((boxes.count + BOX_CHUNK - 1) / BOX_CHUNK, 0, boxes_fill, &boxes);
    struct bvh2 tree;
    enum status st = bvh2_build(boxes.at, boxes.count,
                                kind == BVH_COMPRESSED8 ? BVH8C_LEAF : BINARY_LEAF, &tree, err);
    free(boxes.at);
    if (st)
        return st;
    if (cancel_requested) {
        bvh2_free(&tree);
        return error_msg(err, STATUS_CANCELLED, "stopped while building the tree");
    }
    if (kind == BVH_WIDE8) {
        struct bvh8 wide;
        st = bvh8_collapse(&tree, &wide, err);
        if (st == STATUS_OK && 7 * (wide.depth + 1) + 1 <= K_STACK8) {
            bvh2_free(&tree);
            st = wide_lay(l, s, &wide, err);
            bvh8_free(&wide);
            l->build_s = clock_s() - start;
            return st;
        }
        if (st == STATUS_OK)
            bvh8_free(&wide); /* too deep for the kernel's stack: the binary tree is bounded */
    }
    if (st == STATUS_OK && kind == BVH_COMPRESSED8)
        st = compressed_lay(l, s, &tree, err);
    else if (st == STATUS_OK)
        st = binary_lay(l, s, &tree, err);
    bvh2_free(&tree);
    l->build_s = clock_s() - start;
    return st;
}
