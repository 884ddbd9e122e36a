/* SPDX-License-Identifier: Apache-2.0 */
/* Binary hierarchies by the surface area heuristic over binned centroids (Wald, "On fast
 * Construction of SAH-based Bounding Volume Hierarchies", 2007), all three axes.
 *
 * The work is cut by constants, never by the number of threads, so the tree is the same for any:
 *   1. fragments: one 32-byte copy of box and id a primitive, which every later pass reads and
 * swaps in place;
 *   2. the top: nodes above SUBTREE primitives, level by level; binning runs in parallel over
 * chunks, swapping over nodes;
 *   3. subtrees: one task each, depth-first, into a part of the node array of its own;
 *   4. the parts are copied together, one task each.
 *
 * Memory beside the result: 32 bytes a primitive. First for the fragments. The node array is reserved
 * for the worst case (64 bytes a primitive) but only touched where there are nodes (about 27 bytes a
 * primitive with max_leaf 4): so not in large pages. When it is copied, the fragments are gone. */
#include "bvh.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

enum {
    BINS_MAX = 32,
    CHUNK = 16384,  /* fragments of one binning task */
    SUBTREE = 8192, /* a node of at most so many primitives is one task */
};

/* Four floats: x, y, z and a lane that means nothing. */
typedef float vec4 __attribute__((vector_size(16)));
typedef int32_t ivec4 __attribute__((vector_size(16)));

static inline vec4 vec_select(ivec4 mask, vec4 a, vec4 b)
{
    return (vec4)(((ivec4)a & mask) | ((ivec4)b & ~mask));
}
/* a < b ? a : b in each lane, which is one instruction where gcc is told so. */
#ifdef __SSE__
static inline vec4 vec_min(vec4 a, vec4 b) { return (vec4)_mm_min_ps((__m128)a, (__m128)b); }
static inline vec4 vec_max(vec4 a, vec4 b) { return (vec4)_mm_max_ps((__m128)a, (__m128)b); }
#else
static inline vec4 vec_min(vec4 a, vec4 b) { return vec_select(a < b, a, b); }
static inline vec4 vec_max(vec4 a, vec4 b) { return vec_select(a > b, a, b); }
#endif
static inline vec4 vec_splat(float v) { return (vec4){v, v, v, v}; }

struct fragment {
    vec4 lo, hi; /* lane 3 of lo: the primitive's id, as bits; of hi: 0 */
};
static_assert(sizeof(struct fragment) == 32, "the documented memory");

static uint32_t fragment_id(const struct fragment *f)
{
    ivec4 bits = (ivec4)f->lo;
    return (uint32_t)bits[3];
}

/* The middle of a box. Halves first, so that it does not overflow; what an infinite side leaves
 * behind is clamped, so that distances between centres are finite too. Comparisons are false for
 * NaN: inf - inf becomes the lower end. */
static inline vec4 fragment_center(const struct fragment *f)
{
    /* A small id is a subnormal number, which Intel's multipliers take 150 cycles for. */
    static const ivec4 numbers = {-1, -1, -1, 0};
    vec4 c = (vec4)((ivec4)f->lo & numbers) * 0.5f + f->hi * 0.5f;
    const vec4 top = vec_splat(FLT_MAX / 4.0f);
    return vec_min(vec_max(c, -top), top);
}

/* A node still to be made: its fragments, their bounds and those of their centres. */
struct range {
    uint32_t begin, end;
    uint32_t node;  /* where it goes */
    uint32_t depth; /* root 0 */
    vec4 lo, hi, center_lo, center_hi;
};

static void range_clear(struct range *r)
{
    r->lo = r->center_lo = vec_splat(INFINITY);
    r->hi = r->center_hi = vec_splat(-INFINITY);
}

static inline void range_grow(struct range *r, const struct fragment *f)
{
    vec4 c = fragment_center(f);
    r->lo = vec_min(f->lo, r->lo);
    r->hi = vec_max(f->hi, r->hi);
    r->center_lo = vec_min(c, r->center_lo);
    r->center_hi = vec_max(c, r->center_hi);
}

/* Half the surface of a box; double, because squares of large floats overflow. Infinite sides give
 * inf or NaN, which no comparison below prefers. */
static inline double half_area(vec4 lo, vec4 hi)
{
    double x = (double)hi[0] - (double)lo[0], y = (double)hi[1] - (double)lo[1],
           z = (double)hi[2] - (double)lo[2];
    return x * y + y * z + z * x;
}

/* ---- binning ------------------------------------------------------------------------------- */

struct bin {
    vec4 lo, hi;
};
struct bins {
    struct bin at[3][BINS_MAX];
    uint32_t count[3][BINS_MAX];
};

/* How centres become bin numbers in one node. An axis without extent has scale 0: everything is in
 * bin 0. */
struct binning {
    unsigned bins;
    vec4 origin, scale;
};

static struct binning binning_of(const struct range *r)
{
    uint32_t n = r->end - r->begin;
    struct binning b = {.bins = n < 16 ? 8 : n < 256 ? 16 : BINS_MAX, .origin = r->center_lo};
    vec4 extent = r->center_hi - r->center_lo;
    for (int k = 0; k < 3; k++) {
        /* 0.9999: the last centre stays below `bins` after rounding. Extents so small that the
         * scale would be infinite cannot be told apart. */
        float s = 0.9999f * (float)b.bins / extent[k];
        b.scale[k] = extent[k] > 0.0f && s < FLT_MAX ? s : 0.0f;
    }
    b.scale[3] = 0.0f;
    return b;
}

static inline ivec4 binning_index(const struct binning *b, const struct fragment *f)
{
    vec4 x = (fragment_center(f) - b->origin) * b->scale;
    x[3] = 0.0f;
    return __builtin_convertvector(x, ivec4);
}

static void bins_clear(struct bins *b, unsigned bins)
{
    for (int k = 0; k < 3; k++)
        for (unsigned i = 0; i < bins; i++) {
            b->at[k][i] = (struct bin){vec_splat(INFINITY), vec_splat(-INFINITY)};
            b->count[k][i] = 0;
        }
}

static void bins_add(struct bins *b, const struct binning *how, const struct fragment *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ivec4 at = binning_index(how, &f[i]);
        for (int k = 0; k < 3; k++) {
            struct bin *bin = &b->at[k][at[k]];
            bin->lo = vec_min(f[i].lo, bin->lo);
            bin->hi = vec_max(f[i].hi, bin->hi);
            b->count[k][at[k]]++;
        }
    }
}

static void bins_merge(struct bins *b, const struct bins *other, unsigned bins)
{
    for (int k = 0; k < 3; k++)
        for (unsigned i = 0; i < bins; i++) {
            b->at[k][i].lo = vec_min(other->at[k][i].lo, b->at[k][i].lo);
            b->at[k][i].hi = vec_max(other->at[k][i].hi, b->at[k][i].hi);
            b->count[k][i] += other->count[k][i];
        }
}

/* ---- choosing a split ---------------------------------------------------------------------- */

enum split_kind { SPLIT_LEAF, SPLIT_BINS, SPLIT_MEDIAN };
struct split {
    enum split_kind kind;
    int axis;
    int bin; /* bins below it go left */
};

/* The plane of least cost = sum of area times primitives over both sides; cost infinite when there
 * is none. Equal costs (flat boxes all have area 0) go to the more even one. */
static struct split split_by_bins(const struct bins *b, unsigned bins, uint32_t n, double *cost)
{
    struct split best = {.kind = SPLIT_MEDIAN};
    uint32_t best_larger = n;
    *cost = INFINITY;
    for (int k = 0; k < 3; k++) {
        double right_cost[BINS_MAX];
        vec4 lo = vec_splat(INFINITY), hi = vec_splat(-INFINITY);
        uint32_t count = 0;
        for (unsigned i = bins; i-- > 1;) {
            lo = vec_min(b->at[k][i].lo, lo);
            hi = vec_max(b->at[k][i].hi, hi);
            count += b->count[k][i];
            right_cost[i] = count ? half_area(lo, hi) * count : 0.0;
        }
        lo = vec_splat(INFINITY);
        hi = vec_splat(-INFINITY);
        count = 0;
        for (unsigned i = 1; i < bins; i++) {
            lo = vec_min(b->at[k][i - 1].lo, lo);
            hi = vec_max(b->at[k][i - 1].hi, hi);
            count += b->count[k][i - 1];
            if (count == 0)
                continue;
            if (count == n)
                break;
            double c = half_area(lo, hi) * count + right_cost[i];
            uint32_t larger = count > n - count ? count : n - count;
            if (c < *cost || (c == *cost && larger < best_larger)) {
                *cost = c;
                best_larger = larger;
                best = (struct split){SPLIT_BINS, k, (int)i};
            }
        }
    }
    return best;
}

static unsigned log2_ceil(uint32_t n)
{
    unsigned bits = 0;
    while (bits < 32 && ((uint64_t)1 << bits) < n)
        bits++;
    return bits;
}

static struct split split_choose(const struct range *r, const struct bins *b, unsigned bins,
                                 unsigned max_leaf)
{
    uint32_t n = r->end - r->begin;
    double cost, area = half_area(r->lo, r->hi);
    struct split s = split_by_bins(b, bins, n, &cost);
    /* One node visit costs as much as one primitive test. */
    if (n <= max_leaf && !(area + cost < area * n))
        return (struct split){.kind = SPLIT_LEAF};
    /* Halving from here on is just deep enough. */
    if (r->depth + log2_ceil(n) >= BVH_MAX_DEPTH)
        s.kind = SPLIT_MEDIAN;
    return s;
}

/* ---- splitting ----------------------------------------------------------------------------- */

static void fragment_swap(struct fragment *a, struct fragment *b)
{
    struct fragment t = *a;
    *a = *b;
    *b = t;
}

/* Half of the fragments on each side, by centre along the longest axis (ids break ties):
 * quickselect, the middle of three as pivot. */
static bool fragment_before(const struct fragment *a, const struct fragment *b, int axis)
{
    float x = fragment_center(a)[axis], y = fragment_center(b)[axis];
    return x < y || (x == y && fragment_id(a) < fragment_id(b));
}

static uint32_t median_partition(struct fragment *f, const struct range *r)
{
    vec4 extent = r->center_hi - r->center_lo;
    int axis = extent[0] >= extent[1] && extent[0] >= extent[2] ? 0
               : extent[1] >= extent[2]                         ? 1
                                                                : 2;
    int64_t lo = r->begin, hi = (int64_t)r->end - 1, middle = lo + (hi - lo + 1) / 2;
    while (lo < hi) {
        struct fragment *a = &f[lo], *b = &f[lo + (hi - lo) / 2], *c = &f[hi];
        if (fragment_before(b, a, axis))
            fragment_swap(a, b);
        if (fragment_before(c, b, axis))
            fragment_swap(b, c);
        if (fragment_before(b, a, axis))
            fragment_swap(a, b);
        struct fragment pivot = *b;
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (fragment_before(&f[i], &pivot, axis))
                i++;
            while (fragment_before(&pivot, &f[j], axis))
                j--;
            if (i <= j)
                fragment_swap(&f[i++], &f[j--]);
        }
        if (middle <= j)
            hi = j;
        else if (middle >= i)
            lo = i;
        else
            break;
    }
    return (uint32_t)middle;
}

/* Reorders the range's fragments and fills both sides' bounds; their node indices are the caller's.
 */
static void range_split(struct fragment *f, const struct range *r, const struct binning *how,
                        struct split s, struct range side[2])
{
    uint32_t middle;
    range_clear(&side[0]);
    range_clear(&side[1]);
    if (s.kind == SPLIT_MEDIAN) {
        middle = median_partition(f, r);
        for (uint32_t i = r->begin; i < r->end; i++)
            range_grow(&side[i >= middle], &f[i]);
    } else {
        uint32_t i = r->begin, j = r->end;
        while (i < j) {
            if (binning_index(how, &f[i])[s.axis] < s.bin) {
                range_grow(&side[0], &f[i++]);
            } else {
                range_grow(&side[1], &f[i]);
                fragment_swap(&f[i], &f[--j]);
            }
        }
        middle = i;
    }
    side[0].begin = r->begin;
    side[0].end = side[1].begin = middle;
    side[1].end = r->end;
    side[0].depth = side[1].depth = r->depth + 1;
}

static void node_set(struct bvh2_node *node, const struct range *r, uint32_t first, uint32_t count)
{
    for (int k = 0; k < 3; k++) {
        node->lo[k] = r->lo[k];
        node->hi[k] = r->hi[k];
    }
    node->first = first;
    node->count = count;
}

/* ---- subtrees ------------------------------------------------------------------------------ */

struct subtree {
    struct range root;
    size_t base;   /* its nodes below the root start here while building ... */
    size_t used;   /* ... and there are so many ... */
    size_t packed; /* ... that stand here in the end */
    uint32_t depth;
};

struct builder {
    const struct bvh_box *boxes;
    size_t count;
    unsigned max_leaf;
    struct fragment *fragments;
    struct bvh2_node *nodes, *packed;
    uint32_t *order;
    struct range *chunk_range; /* bounds of one chunk of fragments each */
    struct subtree *subtrees;
    size_t subtree_count;
    /* one level of the top */
    struct range *level, *next;
    size_t level_count, next_count;
    struct binning *how;
    struct split *split;
    struct level_chunk {
        size_t range;
        uint32_t begin, end;
    } * chunks;
    struct bins *bins; /* one a chunk */
};

/* Depth-first, left before right, children in pairs at t->base + t->used. The stack holds right
 * sides. */
static void subtree_build(void *ctx, size_t index, unsigned thread)
{
    (void)thread;
    struct builder *b = ctx;
    struct subtree *t = &b->subtrees[index];
    struct range stack[BVH_MAX_DEPTH + 1], r = t->root;
    unsigned waiting = 0;
    for (;;) {
        uint32_t n = r.end - r.begin;
        struct split s = {.kind = SPLIT_LEAF};
        struct binning how;
        if (n > 1) {
            struct bins bins;
            how = binning_of(&r);
            bins_clear(&bins, how.bins);
            bins_add(&bins, &how, &b->fragments[r.begin], n);
            s = split_choose(&r, &bins, how.bins, b->max_leaf);
        }
        if (s.kind == SPLIT_LEAF) {
            node_set(&b->nodes[r.node], &r, r.begin, n);
            t->depth = r.depth > t->depth ? r.depth : t->depth;
            if (waiting == 0)
                return;
            r = stack[--waiting];
            continue;
        }
        struct range side[2];
        range_split(b->fragments, &r, &how, s, side);
        uint32_t pair = (uint32_t)(t->base + t->used);
        t->used += 2;
        node_set(&b->nodes[r.node], &r, pair, 0);
        side[0].node = pair;
        side[1].node = pair + 1;
        stack[waiting++] = side[1];
        r = side[0];
    }
}

/* ---- the top ------------------------------------------------------------------------------- */

static void chunk_fragments(void *ctx, size_t index, unsigned thread)
{
    (void)thread;
    struct builder *b = ctx;
    size_t begin = index * CHUNK, end = b->count - begin < CHUNK ? b->count : begin + CHUNK;
    struct range *r = &b->chunk_range[index];
    range_clear(r);
    for (size_t i = begin; i < end; i++) {
        const struct bvh_box *box = &b->boxes[i];
        ivec4 id = {0, 0, 0, (int32_t)(uint32_t)i};
        vec4 lo = {box->lo[0], box->lo[1], box->lo[2], 0.0f};
        b->fragments[i].lo = (vec4)((ivec4)lo | id);
        b->fragments[i].hi = (vec4){box->hi[0], box->hi[1], box->hi[2], 0.0f};
        range_grow(r, &b->fragments[i]);
    }
}

static void chunk_bin(void *ctx, size_t index, unsigned thread)
{
    (void)thread;
    struct builder *b = ctx;
    const struct level_chunk *c = &b->chunks[index];
    const struct binning *how = &b->how[c->range];
    bins_clear(&b->bins[index], how->bins);
    bins_add(&b->bins[index], how, &b->fragments[c->begin], c->end - c->begin);
}

static void level_split(void *ctx, size_t index, unsigned thread)
{
    (void)thread;
    struct builder *b = ctx;
    range_split(b->fragments, &b->level[index], &b->how[index], b->split[index],
                &b->next[2 * index]);
}

/* Cuts ranges of more than SUBTREE fragments; gives the number of nodes used, the root and its
 * unused twin included. */
static size_t top_build(struct builder *b)
{
    size_t nodes = 2;
    while (b->level_count > 0) {
        /* small ones leave the level */
        size_t large = 0;
        for (size_t i = 0; i < b->level_count; i++) {
            if (b->level[i].end - b->level[i].begin > SUBTREE)
                b->level[large++] = b->level[i];
            else
                b->subtrees[b->subtree_count++] = (struct subtree){.root = b->level[i]};
        }
        b->level_count = large;
        size_t chunk_count = 0;
        for (size_t i = 0; i < large; i++) {
            const struct range *r = &b->level[i];
            b->how[i] = binning_of(r);
            for (uint32_t at = r->begin; at < r->end;) {
                uint32_t end = r->end - at < CHUNK ? r->end : at + CHUNK;
                b->chunks[chunk_count++] = (struct level_chunk){i, at, end};
                at = end;
            }
        }
        parallel_for(chunk_count, 0, chunk_bin, b);
        size_t c = 0;
        for (size_t i = 0; i < large; i++) {
            struct bins *sum = &b->bins[c];
            while (++c < chunk_count && b->chunks[c].range == i)
                bins_merge(sum, &b->bins[c], b->how[i].bins);
            b->split[i] = split_choose(&b->level[i], sum, b->how[i].bins, b->max_leaf);
        }
        parallel_for(large, 0, level_split, b);
        for (size_t i = 0; i < large; i++) {
            node_set(&b->nodes[b->level[i].node], &b->level[i], (uint32_t)nodes, 0);
            b->next[2 * i].node = (uint32_t)nodes++;
            b->next[2 * i + 1].node = (uint32_t)nodes++;
        }
        struct range *done = b->level;
        b->level = b->next;
        b->next = done;
        b->level_count = 2 * large;
    }
    return nodes;
}

static void subtree_pack(void *ctx, size_t index, unsigned thread)
{
    (void)thread;
    const struct builder *b = ctx;
    const struct subtree *t = &b->subtrees[index];
    const uint32_t shift = (uint32_t)(t->base - t->packed);
    struct bvh2_node *root = &b->packed[t->root.node], *to = &b->packed[t->packed];
    if (root->count == 0 && t->used > 0)
        root->first -= shift;
    memcpy(to, &b->nodes[t->base], t->used * sizeof *to);
    for (size_t k = 0; k < t->used; k++)
        if (to[k].count == 0)
            to[k].first -= shift;
}

/* The subtrees' parts one behind the other, behind the top: all nodes, of which there are *count. */
static enum status nodes_pack(struct builder *b, size_t top, size_t *count, struct error *err)
{
    *count = top;
    for (size_t i = 0; i < b->subtree_count; i++) {
        b->subtrees[i].packed = *count;
        *count += b->subtrees[i].used;
    }
    b->packed = memory_large(*count * sizeof *b->packed);
    if (!b->packed)
        return error_msg(err, STATUS_MEMORY, "no memory for a hierarchy of %zu nodes", *count);
    memcpy(b->packed, b->nodes, top * sizeof *b->packed);
    parallel_for(b->subtree_count, 0, subtree_pack, b);
    return STATUS_OK;
}

static double node_area(const struct bvh2_node *n)
{
    double x = (double)n->hi[0] - (double)n->lo[0], y = (double)n->hi[1] - (double)n->lo[1],
           z = (double)n->hi[2] - (double)n->lo[2];
    return x * y + y * z + z * x;
}

static double cost_part(const void *ctx, size_t begin, size_t end)
{
    const struct bvh2_node *nodes = ctx;
    double sum = 0.0;
    for (size_t i = begin; i < end; i++)
        if (i != 1)
            sum += node_area(&nodes[i]) * (nodes[i].count ? nodes[i].count : 1);
    return sum;
}

static double bvh2_cost(const struct bvh2 *b)
{
    double root = node_area(&b->nodes[0]);
    if (!(root > 0.0 && root <= DBL_MAX))
        return (double)b->primitive_count;
    return parallel_sum(b->node_count, cost_part, b->nodes) / root;
}

static void chunk_order(void *ctx, size_t index, unsigned thread)
{
    (void)thread;
    struct builder *b = ctx;
    size_t begin = index * CHUNK, end = b->count - begin < CHUNK ? b->count : begin + CHUNK;
    for (size_t i = begin; i < end; i++)
        b->order[i] = fragment_id(&b->fragments[i]);
}

static int subtree_compare(const void *x, const void *y)
{
    const struct subtree *a = x, *b = y;
    return a->root.begin < b->root.begin ? -1 : a->root.begin > b->root.begin;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static enum status bvh2_empty(struct bvh2 *out, struct error *err)
{
    struct bvh2_node *nodes = calloc(2, sizeof *nodes);
    uint32_t *order = calloc(1, sizeof *order);
    if (!nodes || !order) {
        free(nodes);
        free(order);
        return error_msg(err, STATUS_MEMORY, "no memory for an empty hierarchy");
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            nodes[i].lo[k] = INFINITY;
            nodes[i].hi[k] = -INFINITY;
        }
    *out = (struct bvh2){.nodes = nodes, .node_count = 2, .order = order};
    return STATUS_OK;
}

/* Room for all that is built and for what builds it; builder_free gives it back, after failure
 * too. */
static enum status builder_init(struct builder *b, size_t chunk_count, struct error *err)
{
    /* A level's ranges above SUBTREE are fewer than count / SUBTREE, their chunks fewer than count
     * / CHUNK + ranges. A split may leave one primitive on a side, so subtrees are counted by what
     * the top can make: it is at most 60 levels deep. */
    size_t count = b->count, ranges = count / SUBTREE + 1;
    size_t subtree_max = ranges * (BVH_MAX_DEPTH + 1) + 1, top_max = 2 * subtree_max + 2;
    size_t node_max = top_max + 2 * count;
    TRY(memory_plan(node_max * sizeof *b->nodes + count * (sizeof *b->fragments + sizeof *b->order),
                    err, "a tree over %zu primitives", count));
    b->fragments = memory_large(count * sizeof *b->fragments);
    b->nodes = malloc(node_max * sizeof *b->nodes);
    b->order = memory_large(count * sizeof *b->order);
    b->chunk_range = aligned_alloc(16, chunk_count * sizeof *b->chunk_range);
    b->subtrees = aligned_alloc(16, subtree_max * sizeof *b->subtrees);
    b->level = aligned_alloc(16, 2 * ranges * sizeof *b->level);
    b->next = aligned_alloc(16, 2 * ranges * sizeof *b->next);
    b->how = aligned_alloc(16, ranges * sizeof *b->how);
    b->split = malloc(ranges * sizeof *b->split);
    b->chunks = malloc((chunk_count + ranges) * sizeof *b->chunks);
    b->bins = aligned_alloc(16, (chunk_count + ranges) * sizeof *b->bins);
    if (!b->fragments || !b->nodes || !b->order || !b->chunk_range || !b->subtrees || !b->level ||
        !b->next || !b->how || !b->split || !b->chunks || !b->bins)
        return error_msg(
            err, STATUS_MEMORY, "no memory for a hierarchy over %zu primitives (%zu MiB)", count,
            (node_max * sizeof *b->nodes + count * (sizeof *b->fragments + sizeof *b->order)) >>
                20);
    return STATUS_OK;
}

static void builder_free(struct builder *b)
{
    free(b->fragments);
    free(b->nodes);
    free(b->packed);
    free(b->order);
    free(b->chunk_range);
    free(b->subtrees);
    free(b->level);
    free(b->next);
    free(b->how);
    free(b->split);
    free(b->chunks);
    free(b->bins);
}

/* The first level of the top: all fragments, in the bounds of the chunks' bounds. */
static void root_make(struct builder *b, size_t chunk_count)
{
    struct range *root = &b->level[0];
    b->level_count = 1;
    range_clear(root);
    root->begin = root->node = root->depth = 0;
    root->end = (uint32_t)b->count;
    for (size_t i = 0; i < chunk_count; i++) {
        root->lo = vec_min(b->chunk_range[i].lo, root->lo);
        root->hi = vec_max(b->chunk_range[i].hi, root->hi);
        root->center_lo = vec_min(b->chunk_range[i].center_lo, root->center_lo);
        root->center_hi = vec_max(b->chunk_range[i].center_hi, root->center_hi);
    }
    memset(b->nodes, 0, 2 * sizeof *b->nodes);
}

/* The nodes and the order leave the builder. */
static struct bvh2 tree_take(struct builder *b, size_t node_count)
{
    struct bvh2 tree = {.nodes = b->packed,
                        .node_count = node_count,
                        .order = b->order,
                        .primitive_count = b->count};
    b->packed = NULL;
    b->order = NULL;
    for (size_t i = 0; i < b->subtree_count; i++)
        tree.depth = b->subtrees[i].depth > tree.depth ? b->subtrees[i].depth : tree.depth;
    tree.sah_cost = bvh2_cost(&tree);
    return tree;
}

enum status bvh2_build(const struct bvh_box *boxes, size_t count, unsigned max_leaf,
                       struct bvh2 *out, struct error *err)
{
    if (max_leaf < 1 || max_leaf > 16)
        return error_msg(err, STATUS_ARG, "max_leaf is %u; it must be 1 to 16", max_leaf);
    if (count > INT32_MAX)
        return error_msg(err, STATUS_LIMIT, "%zu primitives; a hierarchy holds at most %d", count,
                         INT32_MAX);
    if (count == 0)
        return bvh2_empty(out, err);

    size_t chunk_count = (count + CHUNK - 1) / CHUNK;
    struct builder b = {.boxes = boxes, .count = count, .max_leaf = max_leaf};
    enum status status = builder_init(&b, chunk_count, err);
    if (status != STATUS_OK)
        goto done;
    parallel_for(chunk_count, 0, chunk_fragments, &b);
    root_make(&b, chunk_count);
    size_t top = top_build(&b);

    /* m primitives have at most 2 m - 2 nodes below their root, so the parts do not meet. */
    qsort(b.subtrees, b.subtree_count, sizeof *b.subtrees, subtree_compare);
    for (size_t i = 0; i < b.subtree_count; i++)
        b.subtrees[i].base = top + 2 * (size_t)b.subtrees[i].root.begin;
    parallel_for(b.subtree_count, 0, subtree_build, &b);
    parallel_for(chunk_count, 0, chunk_order, &b);
    free(b.fragments);
    b.fragments = NULL;
    size_t node_count;
    status = nodes_pack(&b, top, &node_count, err);
    if (status == STATUS_OK)
        *out = tree_take(&b, node_count);
done:
    builder_free(&b);
    return status;
}

void bvh2_free(struct bvh2 *b)
{
    if (!b)
        return;
    free(b->nodes);
    free(b->order);
    *b = (struct bvh2){0};
}
