/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes, the tree over them, and its leaves in the order and shape that the kernel walks. */
#include "layout_buffers.h"

#include "kept_tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINARY_LEAF = 4, CHUNK = 4096, LISTED = 0 };

static size_t chunks_of(size_t n) { return (n + CHUNK - 1) / CHUNK; }

/* Where the chunk ends of which `begin` is the first of n. */
static size_t chunk_end(size_t begin, size_t n) { return n - begin < CHUNK ? n : begin + CHUNK; }

/* ---- boxes ---------------------------------------------------------------------------------- */

static float largest(float a, float b) { return a > b ? a : b; }

/* The same float32 steps as the kernel's k_box_widen, so the same box (Part II, section 12). */
void box_widen(struct bvh_box *b)
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

static struct bvh_box triangle_box(const struct scene *s, const uint32_t v[3])
{
    struct bvh_box b;
    for (int i = 0; i < 3; i++) {
        float x = s->P[v[0]][i], y = s->P[v[1]][i], z = s->P[v[2]][i];
        float lo = x < y ? x : y, hi = x > y ? x : y;
        b.lo[i] = lo < z ? lo : z;
        b.hi[i] = hi > z ? hi : z;
    }
    return b;
}

static struct bvh_box round_box(const struct scene *s, size_t i)
{
    struct bvh_box b;
    const float *c =
        i < s->sphere_count ? s->spheres[i].center : s->disks[i - s->sphere_count].center;
    float r = i < s->sphere_count ? s->spheres[i].radius : s->disks[i - s->sphere_count].radius;
    for (int k = 0; k < 3; k++) {
        b.lo[k] = c[k] - r;
        b.hi[k] = c[k] + r;
    }
    return b;
}

/* What one tree is over: the world's own primitives and then the instances, or the triangles of a
 * prototype. */
struct region {
    const struct scene *s;
    const struct prototype *prototype; /* NULL: the world */
    size_t primitives;                 /* without instances */
    struct bvh_box *boxes;
};
static void boxes_fill(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct region *r = ctx;
    size_t triangles = r->prototype ? r->primitives : r->s->triangle_count;
    size_t first = r->prototype ? r->prototype->first : 0;
    for (size_t i = chunk * CHUNK, end = chunk_end(i, r->primitives); i < end; i++) {
        r->boxes[i] = i < triangles ? triangle_box(r->s, r->s->triangles[first + i])
                                    : round_box(r->s, i - triangles);
        box_widen(&r->boxes[i]);
    }
}

/* No tree: one leaf, all boxes in their order. */
static enum status list_make(const struct bvh_box *boxes, size_t count, struct bvh2 *out,
                             struct error *err)
{
    struct bvh2 b = {.nodes = calloc(1, sizeof *b.nodes),
                     .order = malloc((count ? count : 1) * sizeof *b.order),
                     .node_count = 1,
                     .primitive_count = count,
                     .sah_cost = (double)count};
    if (!b.nodes || !b.order) {
        bvh2_free(&b);
        return error_msg(err, STATUS_MEMORY, "out of memory for a list of %zu primitives", count);
    }
    for (int i = 0; i < 3; i++) {
        b.nodes[0].lo[i] = INFINITY;
        b.nodes[0].hi[i] = -INFINITY;
    }
    for (size_t k = 0; k < count; k++) {
        b.order[k] = (uint32_t)k;
        for (int i = 0; i < 3; i++) {
            b.nodes[0].lo[i] = fminf(b.nodes[0].lo[i], boxes[k].lo[i]);
            b.nodes[0].hi[i] = fmaxf(b.nodes[0].hi[i], boxes[k].hi[i]);
        }
    }
    *out = b;
    return STATUS_OK;
}

/* max_leaf: LISTED for a list. `order` of a prototype's tree holds places in scene.triangles, that
 * of the world's ids, then instances. instances: their boxes, in the world. */
static enum status region_tree(const struct scene *s, const struct prototype *prototype,
                               const struct bvh_box *instances, unsigned max_leaf, struct bvh2 *out,
                               struct error *err)
{
    struct region r = {.s = s, .prototype = prototype};
    r.primitives = prototype ? prototype->count : scene_primitive_count(s);
    size_t count = r.primitives + (prototype ? 0 : s->instance_count);
    r.boxes = memory_large((count ? count : 1) * sizeof *r.boxes);
    if (!r.boxes)
        return error_msg(err, STATUS_MEMORY, "out of memory for the boxes of %zu primitives",
                         count);
    parallel_for(chunks_of(r.primitives), 0, boxes_fill, &r);
    if (instances && count > r.primitives)
        memcpy(r.boxes + r.primitives, instances, s->instance_count * sizeof *instances);
    enum status st = max_leaf == LISTED ? list_make(r.boxes, count, out, err)
                                        : kept_tree(r.boxes, count, max_leaf, out, err);
    free(r.boxes);
    for (size_t i = 0; st == STATUS_OK && prototype && i < count; i++)
        out->order[i] += prototype->first;
    return st;
}

/* ---- all trees of a scene ------------------------------------------------------------------- */

/* The world's tree, then those of prototypes, which stand behind it in the same buffers. */
struct forest {
    struct bvh2 *tree;
    uint32_t *root; /* the node that each starts with */
    double *cost;   /* of each */
    size_t count;
    double area; /* of the world's box */
};

static void forest_free(struct forest *f)
{
    for (size_t i = 0; f->tree && i < f->count; i++)
        bvh2_free(&f->tree[i]);
    free(f->tree);
    free(f->root);
    free(f->cost);
}

static double box_area(const float lo[3], const float hi[3])
{
    double x = (double)hi[0] - (double)lo[0], y = (double)hi[1] - (double)lo[1],
           z = (double)hi[2] - (double)lo[2];
    return x * y + y * z + z * x;
}

/* Expected node visits and primitive tests of a ray that meets the world's root: an instance that
 * is met costs what its prototype's tree does. */
static double forest_cost(const struct forest *f, const struct scene *s,
                          const struct bvh_box *boxes)
{
    double cost = f->cost[0];
    for (size_t i = 0; i < s->instance_count && f->area > 0; i++)
        cost +=
            box_area(boxes[i].lo, boxes[i].hi) / f->area * f->cost[1 + s->instances[i].prototype];
    return cost;
}

static enum status forest_build(struct layout *l, const struct scene *s, unsigned max_leaf,
                                struct bvh_box *boxes, struct forest *f, struct error *err)
{
    struct bvh_box *roots = malloc((s->prototype_count + 1) * sizeof *roots);
    f->count = 1 + s->prototype_count;
    f->tree = calloc(f->count, sizeof *f->tree);
    f->root = calloc(f->count, sizeof *f->root);
    f->cost = calloc(f->count, sizeof *f->cost);
    enum status st = STATUS_OK;
    if (!roots || !f->tree || !f->root || !f->cost)
        st = error_msg(err, STATUS_MEMORY, "out of memory for %zu trees", f->count);
    for (size_t i = 0; st == STATUS_OK && i < s->prototype_count; i++) {
        struct bvh2 *tree = &f->tree[1 + i];
        st = cancel_requested ? error_msg(err, STATUS_CANCELLED, "stopped while building the trees")
                              : region_tree(s, &s->prototypes[i], NULL, max_leaf, tree, err);
        if (st == STATUS_OK) {
            memcpy(roots[i].lo, tree->nodes[0].lo, 12);
            memcpy(roots[i].hi, tree->nodes[0].hi, 12);
        }
    }
    if (st == STATUS_OK)
        st = layout_instances(l, s, roots, boxes, err);
    if (st == STATUS_OK)
        st = region_tree(s, NULL, boxes, max_leaf, &f->tree[0], err);
    for (size_t i = 0; st == STATUS_OK && i < f->count; i++)
        f->cost[i] = f->tree[i].sah_cost;
    if (st == STATUS_OK)
        f->area = box_area(f->tree[0].nodes[0].lo, f->tree[0].nodes[0].hi);
    free(roots);
    return st;
}

/* ---- binary --------------------------------------------------------------------------------- */

static void triangle_vertices(const struct scene *s, uint32_t number, float out[9])
{
    for (int v = 0; v < 3; v++)
        memcpy(out + 3 * v, s->P[s->triangles[number][v]], 12);
}

/* Slots of one tree. triangles: entries of order below this are triangles. */
struct slots {
    const struct scene *s;
    const uint32_t *order;
    size_t count, triangles;
    float *to;
};

static void slots_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct slots *t = ctx;
    for (size_t i = chunk * CHUNK, end = chunk_end(i, t->count); i < end; i++) {
        float *slot = t->to + K_SLOT_WORDS * i;
        memset(slot, 0, K_SLOT_WORDS * 4);
        if (t->order[i] < t->triangles)
            triangle_vertices(t->s, t->order[i], slot);
        memcpy(slot + 9, &t->order[i], 4);
    }
}

static void slots_fill(const struct scene *s, const uint32_t *order, size_t count, size_t triangles,
                       float *to)
{
    parallel_for(chunks_of(count), 0, slots_chunk, &(struct slots){s, order, count, triangles, to});
}

/* In tree number `tree`, entries of order below this are triangles. */
static size_t triangles_below(const struct scene *s, size_t tree)
{
    return tree ? SIZE_MAX : s->triangle_count;
}

/* Nodes of one tree behind those of others: the numbers of the first node and slot are added. */
struct binary_nodes {
    const struct bvh2 *tree;
    struct bvh2_node *to;
    uint32_t node, slot;
};

static void binary_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct binary_nodes *n = ctx;
    for (size_t i = chunk * CHUNK, end = chunk_end(i, n->tree->node_count); i < end; i++) {
        n->to[i] = n->tree->nodes[i];
        n->to[i].first += n->to[i].count ? n->slot : n->node;
    }
}

static enum status binary_lay(struct layout *l, const struct scene *s, struct forest *f,
                              struct error *err)
{
    size_t nodes = 0, slots = 0;
    void *node_data, *slot_data;
    for (size_t i = 0; i < f->count; i++) {
        nodes += f->tree[i].node_count;
        slots += f->tree[i].primitive_count;
    }
    if (nodes > K_REF_FIRST_MAX || slots > K_REF_FIRST_MAX)
        return error_msg(err, STATUS_LIMIT,
                         "a binary tree of %zu nodes over %zu primitives; the most is %u", nodes,
                         slots, K_REF_FIRST_MAX);
    enum status st = layout_take(l, BUFFER_nodes, nodes, sizeof(struct bvh2_node), &node_data, err);
    if (st)
        return st;
    uint32_t node = 0, slot = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct bvh2 *tree = &f->tree[i];
        struct binary_nodes n = {tree, (struct bvh2_node *)node_data + node, node, slot};
        parallel_for(chunks_of(tree->node_count), 0, binary_chunk, &n);
        f->root[i] = node;
        node += (uint32_t)tree->node_count;
        slot += (uint32_t)tree->primitive_count;
        free(tree->nodes);
        tree->nodes = NULL;
    }
    st = layout_take(l, BUFFER_leaves, slots, K_SLOT_WORDS * 4, &slot_data, err);
    if (st)
        return st;
    float *to = slot_data;
    for (size_t i = 0; i < f->count; i++) {
        const struct bvh2 *tree = &f->tree[i];
        slots_fill(s, tree->order, tree->primitive_count, triangles_below(s, i), to);
        to += K_SLOT_WORDS * tree->primitive_count;
    }
    l->launch.bvh = f->tree[0].primitive_count ? bvh_define(BVH_BINARY) : 0;
    l->bvh = BVH_BINARY;
    return STATUS_OK;
}

/* ---- eight-wide ----------------------------------------------------------------------------- */

/* The disks among the world's primitives. */
static struct bvh8_quick disks_of(const struct scene *s)
{
    size_t first = s->triangle_count + s->sphere_count;
    return (struct bvh8_quick){first, first + s->disk_count};
}

/* Primitives order[0 .. count) as a block: what K_LEAF says of it besides. */
static uint32_t block_fill(const struct scene *s, const uint32_t *order, uint32_t count,
                           size_t triangles, struct bvh8_quick disks, float *block)
{
    bool mixed = false, only_disks = true;
    uint32_t ids[8];
    for (uint32_t lane = 0; lane < count; lane++) {
        mixed = mixed || order[lane] >= triangles;
        only_disks = only_disks && order[lane] >= disks.first && order[lane] < disks.end;
    }
    for (uint32_t lane = 0; lane < 8; lane++) {
        float v[9] = {0};
        ids[lane] = lane < count ? order[lane] : mixed ? UINT32_MAX : order[0];
        if (ids[lane] != UINT32_MAX && ids[lane] < triangles)
            triangle_vertices(s, ids[lane], v);
        if (only_disks && lane < count) {
            const struct disk *d = &s->disks[ids[lane] - disks.first];
            memcpy(v, d->center, sizeof d->center);
            memcpy(v + 3, d->normal, sizeof d->normal);
            v[6] = d->radius;
        }
        for (int i = 0; i < 9; i++)
            block[8 * i + (int)lane] = v[i];
    }
    memcpy(block + 72, ids, sizeof ids);
    return (mixed ? K_LEAF_MIXED : 0) | (only_disks ? K_LEAF_DISKS : 0);
}

static bool child_present(const struct bvh8_node *n, int k) { return n->lo_x[k] <= n->hi_x[k]; }

/* The nodes of one tree, their children recoded, behind those of others. */
struct wide_nodes {
    const struct scene *s;
    const struct bvh8 *tree;
    size_t triangles;
    struct bvh8_quick disks;
    struct bvh8_node *to;
    float *blocks;
    uint32_t node;   /* which `to` is */
    uint32_t *block; /* of each chunk of nodes: how many leaves; then the block of the first */
};

static void wide_count(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct wide_nodes *n = ctx;
    uint32_t leaves = 0;
    for (size_t i = chunk * CHUNK, end = chunk_end(i, n->tree->node_count); i < end; i++)
        for (int k = 0; k < 8; k++)
            leaves += n->tree->nodes[i].count[k] > 0;
    n->block[chunk] = leaves;
}

static void wide_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct wide_nodes *n = ctx;
    uint32_t block = n->block[chunk];
    for (size_t i = chunk * CHUNK, end = chunk_end(i, n->tree->node_count); i < end; i++) {
        struct bvh8_node *w = &n->to[i];
        *w = n->tree->nodes[i];
        for (int k = 0; k < 8; k++) {
            if (w->count[k] == 0) {
                w->child[k] += child_present(w, k) ? n->node : 0;
                continue;
            }
            float *to = n->blocks + (size_t)K_BLOCK_WORDS * block;
            uint32_t kind = block_fill(n->s, n->tree->order + w->child[k], w->count[k],
                                       n->triangles, n->disks, to);
            w->child[k] = K_LEAF | kind | block++;
        }
    }
}

/* Fills n->block of chunks behind one another, the first from `block` on; gives the block behind the
 * last. */
static size_t wide_blocks(struct wide_nodes *n, size_t block)
{
    const size_t chunks = chunks_of(n->tree->node_count);
    parallel_for(chunks, 0, wide_count, n);
    for (size_t i = 0; i < chunks; i++) {
        const uint32_t leaves = n->block[i];
        n->block[i] = (uint32_t)block;
        block += leaves;
    }
    return block;
}

static enum status wide_lay(struct layout *l, const struct scene *s, struct forest *f,
                            const struct bvh8 *wide, struct error *err)
{
    size_t blocks = 0, nodes = 0, chunks = 0;
    void *node_data = NULL, *leaf_data = NULL;
    for (size_t i = 0; i < f->count; i++) {
        nodes += wide[i].node_count;
        chunks += chunks_of(wide[i].node_count);
    }
    struct wide_nodes *trees = calloc(f->count, sizeof *trees);
    uint32_t *block = malloc(chunks * sizeof *block);
    enum status st = trees && block ? STATUS_OK
                                    : error_msg(err, STATUS_MEMORY,
                                                "out of memory for %zu pieces of trees", chunks);
    for (size_t i = 0, chunk = 0, node = 0; st == STATUS_OK && i < f->count; i++) {
        trees[i] = (struct wide_nodes){.s = s,
                                       .tree = &wide[i],
                                       .triangles = triangles_below(s, i),
                                       .disks = i == 0 ? disks_of(s) : (struct bvh8_quick){0},
                                       .node = (uint32_t)node,
                                       .block = block + chunk};
        blocks = wide_blocks(&trees[i], blocks);
        chunk += chunks_of(wide[i].node_count);
        node += wide[i].node_count;
    }
    if (st == STATUS_OK && (blocks > K_LEAF_INDEX || nodes > K_LEAF_INDEX))
        st = error_msg(err, STATUS_LIMIT, "the eight-wide tree has %zu leaves; the most is %u",
                       blocks, K_LEAF_INDEX);
    if (st == STATUS_OK)
        st = layout_take(l, BUFFER_leaves, blocks, K_BLOCK_WORDS * 4, &leaf_data, err);
    if (st == STATUS_OK)
        st = layout_take(l, BUFFER_nodes, nodes, sizeof(struct bvh8_node), &node_data, err);
    for (size_t i = 0; st == STATUS_OK && i < f->count; i++) {
        trees[i].to = (struct bvh8_node *)node_data + trees[i].node;
        trees[i].blocks = leaf_data;
        parallel_for(chunks_of(wide[i].node_count), 0, wide_chunk, &trees[i]);
        f->root[i] = trees[i].node;
        f->cost[i] = wide[i].sah_cost;
    }
    free(trees);
    free(block);
    if (st != STATUS_OK)
        return st;
    l->launch.bvh = wide[0].primitive_count ? bvh_define(BVH_WIDE8) : 0;
    l->bvh = BVH_WIDE8;
    return STATUS_OK;
}

/* Room on the kernel's stack: a node postpones seven at most. */
static bool stack_suffices(const struct forest *f, const struct bvh8 *wide)
{
    uint32_t deepest = 0;
    for (size_t i = 1; i < f->count; i++)
        deepest = wide[i].depth + 1 > deepest ? wide[i].depth + 1 : deepest;
    return 7 * (wide[0].depth + 1 + deepest) + 1 <= K_STACK8;
}

/* *laid: false if the trees are too deep for the kernel's stack; nothing was laid then. */
static enum status wide_try(struct layout *l, const struct scene *s, struct forest *f, bool *laid,
                            struct error *err)
{
    struct bvh8 *wide = calloc(f->count, sizeof *wide);
    enum status st = STATUS_OK;
    if (!wide)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu trees", f->count);
    for (size_t i = 0; st == STATUS_OK && i < f->count; i++)
        st = bvh8_collapse(&f->tree[i], i == 0 ? disks_of(s) : (struct bvh8_quick){0}, &wide[i],
                           err);
    *laid = st == STATUS_OK && stack_suffices(f, wide);
    if (*laid) {
        for (size_t i = 1; i < f->count; i++)
            bvh2_free(&f->tree[i]);
        st = wide_lay(l, s, f, wide, err);
    }
    for (size_t i = 0; i < f->count; i++)
        bvh8_free(&wide[i]);
    free(wide);
    return st;
}

/* ---- compressed eight-wide ------------------------------------------------------------------ */

static enum status compressed_lay(struct layout *l, const struct scene *s, struct forest *f,
                                  struct error *err)
{
    struct bvh8c *c = calloc(f->count, sizeof *c);
    size_t nodes = 0, slots = 0;
    void *node_data = NULL, *slot_data = NULL;
    enum status st = STATUS_OK;
    if (!c)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu trees", f->count);
    for (size_t i = 0; st == STATUS_OK && i < f->count; i++) {
        st = bvh8_compress(&f->tree[i], &c[i], err);
        nodes += c[i].node_count;
        slots += c[i].primitive_count;
    }
    if (st == STATUS_OK)
        st = layout_take(l, BUFFER_leaves, slots, K_SLOT_WORDS * 4, &slot_data, err);
    if (st == STATUS_OK)
        st = layout_take(l, BUFFER_nodes, nodes, sizeof(struct bvh8c_node), &node_data, err);
    uint32_t node = 0, slot = 0;
    for (size_t i = 0; st == STATUS_OK && i < f->count; i++) {
        struct bvh8c_node *to = (struct bvh8c_node *)node_data + node;
        memcpy(to, c[i].nodes, c[i].node_count * sizeof *to);
        for (size_t k = 0; k < c[i].node_count; k++) {
            to[k].child += node;
            to[k].slot += slot;
        }
        slots_fill(s, c[i].order, c[i].primitive_count, triangles_below(s, i),
                   (float *)slot_data + (size_t)K_SLOT_WORDS * slot);
        f->root[i] = node;
        f->cost[i] = c[i].sah_cost;
        node += (uint32_t)c[i].node_count;
        slot += (uint32_t)c[i].primitive_count;
    }
    if (st == STATUS_OK) {
        l->launch.bvh = c[0].primitive_count ? bvh_define(BVH_COMPRESSED8) : 0;
        l->bvh = BVH_COMPRESSED8;
    }
    for (size_t i = 0; i < f->count; i++)
        bvh8c_free(&c[i]);
    free(c);
    return st;
}

/* ---- none ----------------------------------------------------------------------------------- */

static enum status linear_lay(struct layout *l, const struct scene *s, struct forest *f,
                              struct error *err)
{
    size_t slots = 0;
    void *slot_data;
    for (size_t i = 0; i < f->count; i++) {
        f->root[i] = (uint32_t)slots;
        slots += f->tree[i].primitive_count;
    }
    TRY(layout_take(l, BUFFER_leaves, slots, K_SLOT_WORDS * 4, &slot_data, err));
    for (size_t i = 0; i < f->count; i++)
        slots_fill(s, f->tree[i].order, f->tree[i].primitive_count, triangles_below(s, i),
                   (float *)slot_data + (size_t)K_SLOT_WORDS * f->root[i]);
    l->launch.bvh = f->tree[0].primitive_count ? bvh_define(BVH_LINEAR) : 0;
    l->bvh = BVH_LINEAR;
    return STATUS_OK;
}

/* Primitives that a ray which misses nothing is tested against. */
static enum status linear_check(const struct scene *s, struct error *err)
{
    uint64_t tests = scene_primitive_count(s);
    for (size_t i = 0; i < s->instance_count; i++)
        tests += s->prototypes[s->instances[i].prototype].count;
    if (tests > LAYOUT_LINEAR_MAX)
        return error_msg(err, STATUS_LIMIT,
                         "without a tree each ray is tested against all %" PRIu64
                         " primitives; the most is %u: choose bvh2, bvh8 or bvh8c",
                         tests, LAYOUT_LINEAR_MAX);
    return STATUS_OK;
}

/* ---- any of them ---------------------------------------------------------------------------- */

enum status layout_tree(struct layout *l, const struct scene *s, enum bvh_kind kind,
                        struct error *err)
{
    double start = clock_s();
    struct forest f = {0};
    if (kind == BVH_LINEAR)
        TRY(linear_check(s, err));
    struct bvh_box *boxes = malloc((s->instance_count + 1) * sizeof *boxes);
    if (!boxes)
        return error_msg(err, STATUS_MEMORY, "out of memory for the boxes of instances");
    const unsigned leaf = kind == BVH_COMPRESSED8 ? BVH8C_LEAF
                          : kind == BVH_LINEAR    ? LISTED
                                                  : BINARY_LEAF;
    enum status st = forest_build(l, s, leaf, boxes, &f, err);
    bool laid = false;
    if (st == STATUS_OK && cancel_requested)
        st = error_msg(err, STATUS_CANCELLED, "stopped while building the tree");
    if (st == STATUS_OK && kind == BVH_WIDE8)
        st = wide_try(l, s, &f, &laid, err); /* if too deep, the binary tree: it is bounded */
    if (st == STATUS_OK && kind == BVH_COMPRESSED8)
        st = compressed_lay(l, s, &f, err);
    else if (st == STATUS_OK && kind == BVH_LINEAR)
        st = linear_lay(l, s, &f, err);
    else if (st == STATUS_OK && !laid)
        st = binary_lay(l, s, &f, err);
    if (st == STATUS_OK)
        l->sah_cost = forest_cost(&f, s, boxes);
    struct k_instance *n = (struct k_instance *)l->buffers.at[BUFFER_instances].data;
    for (size_t i = 0; st == STATUS_OK && i < s->instance_count; i++)
        n[i].root = f.root[1 + s->instances[i].prototype];
    forest_free(&f);
    free(boxes);
    l->build_s = clock_s() - start;
    return st;
}
