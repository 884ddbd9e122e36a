/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed eight-wide nodes out of a binary tree (Ylitie, Karras and Laine, "Efficient Incoherent
 * Ray Traversal on GPUs Through Compressed Wide BVHs", HPG 2017): 80 bytes hold the boxes of eight
 * children, one byte a side. */
#include "bvh.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8, EXPONENT_BIAS = 127 };

static double node_area(const struct bvh2_node *n)
{
    double x = (double)n->hi[0] - (double)n->lo[0], y = (double)n->hi[1] - (double)n->lo[1],
           z = (double)n->hi[2] - (double)n->lo[2];
    double area = x * y + y * z + z * x;
    return area <= DBL_MAX ? area : DBL_MAX; /* also for NaN */
}

/* The children of the wide node over binary node `root`: binary nodes, the inner one with the
 * largest surface opened while there is room. */
static unsigned children_gather(const struct bvh2_node *nodes, uint32_t root, uint32_t child[LANES])
{
    unsigned count = 1;
    child[0] = root;
    while (count < LANES) {
        unsigned widest = count;
        double area = -1.0;
        for (unsigned i = 0; i < count; i++) {
            if (nodes[child[i]].count == 0 && node_area(&nodes[child[i]]) > area) {
                widest = i;
                area = node_area(&nodes[child[i]]);
            }
        }
        if (widest == count)
            break;
        uint32_t first = nodes[child[widest]].first;
        child[widest] = first;
        child[count++] = first + 1;
    }
    return count;
}

/* Children to slots, so that a ray meets them nearly front to back in an order that its signs alone
 * give: slot bit i is set for those that lie to the positive side of axis i. Greedy: always the
 * pair that gains most. slot[s]: the child there, or LANES. */
static void slots_choose(const struct bvh2_node *nodes, const struct bvh2_node *parent,
                         const uint32_t *child, unsigned count, unsigned slot[LANES])
{
    double gain[LANES][LANES];
    bool placed[LANES] = {false};
    for (unsigned s = 0; s < LANES; s++)
        slot[s] = LANES;
    for (unsigned c = 0; c < count; c++) {
        for (unsigned s = 0; s < LANES; s++) {
            gain[c][s] = 0.0;
            for (unsigned i = 0; i < 3; i++) {
                double off = ((double)nodes[child[c]].lo[i] + (double)nodes[child[c]].hi[i]) -
                             ((double)parent->lo[i] + (double)parent->hi[i]);
                gain[c][s] += s >> i & 1u ? off : -off;
            }
        }
    }
    for (unsigned n = 0; n < count; n++) {
        unsigned best_c = LANES, best_s = 0;
        for (unsigned c = 0; c < count; c++) {
            if (placed[c])
                continue;
            for (unsigned s = 0; s < LANES; s++) {
                if (slot[s] == LANES && (best_c == LANES || gain[c][s] > gain[best_c][best_s])) {
                    best_c = c;
                    best_s = s;
                }
            }
        }
        slot[best_s] = best_c;
        placed[best_c] = true;
    }
}

static float power_of_two(uint8_t biased) { return ldexpf(1.0f, (int)biased - EXPONENT_BIAS); }

/* The side that byte q stands for, in the two roundings that the kernel makes. */
static float side(float origin, float step, unsigned q)
{
    float away = (float)q * step;
    return origin + away;
}

/* The largest q with side(q) <= x; x >= origin. */
static unsigned byte_below(float origin, float step, float x)
{
    double q = floor(((double)x - (double)origin) / (double)step);
    unsigned b = q > 255.0 ? 255 : q > 0.0 ? (unsigned)q : 0;
    while (b > 0 && side(origin, step, b) > x)
        b--;
    return b;
}
/* The least q with side(q) >= x, 256 if no byte reaches it. */
static unsigned byte_above(float origin, float step, float x)
{
    double q = ceil(((double)x - (double)origin) / (double)step);
    unsigned b = q > 256.0 ? 256 : q > 0.0 ? (unsigned)q : 0;
    while (b < 256 && side(origin, step, b) < x)
        b++;
    return b;
}

/* The least step with which 255 of them reach from lo to hi. */
static uint8_t exponent_choose(float lo, float hi)
{
    int e = -126;
    double reach = (double)hi - (double)lo;
    if (reach > 0.0)
        (void)frexp(reach / 255.0, &e);
    e = e < -126 ? -126 : e > 127 ? 127 : e;
    while (e < 127 && byte_above(lo, ldexpf(1.0f, e), hi) > 255)
        e++;
    return (uint8_t)(e + EXPONENT_BIAS);
}

static void boxes_compress(const struct bvh2_node *nodes, const struct bvh2_node *parent,
                           const uint32_t *child, const unsigned slot[LANES],
                           struct bvh8c_node *out)
{
    for (int i = 0; i < 3; i++) {
        out->origin[i] = parent->lo[i];
        out->exponent[i] = exponent_choose(parent->lo[i], parent->hi[i]);
        float step = power_of_two(out->exponent[i]);
        for (unsigned s = 0; s < LANES; s++) {
            out->lo[i][s] = 255; /* an empty slot: no bits in meta say that it is there */
            out->hi[i][s] = 0;
            if (slot[s] == LANES)
                continue;
            const struct bvh2_node *c = &nodes[child[slot[s]]];
            out->lo[i][s] = (uint8_t)byte_below(out->origin[i], step, c->lo[i]);
            out->hi[i][s] = (uint8_t)byte_above(out->origin[i], step, c->hi[i]);
        }
    }
}

struct waiting {
    uint32_t binary, wide, depth;
};

struct walk {
    const struct bvh2 *b;
    struct bvh8c *out;
    size_t nodes, slots; /* used so far */
    double area_sum;
};

/* Fills wide node w over its binary node; its inner children go onto the stack. */
static unsigned node_make(struct walk *k, struct waiting w, struct waiting *push)
{
    const struct bvh2_node *nodes = k->b->nodes, *parent = &nodes[w.binary];
    struct bvh8c_node *n = &k->out->nodes[w.wide];
    uint32_t child[LANES];
    unsigned slot[LANES], pushed = 0, leaf_slots = 0;
    unsigned count = children_gather(nodes, w.binary, child);
    memset(n, 0, sizeof *n);
    slots_choose(nodes, parent, child, count, slot);
    boxes_compress(nodes, parent, child, slot, n);
    n->child = (uint32_t)k->nodes;
    n->slot = (uint32_t)k->slots;
    for (unsigned s = 0; s < LANES; s++) {
        if (slot[s] == LANES)
            continue;
        const struct bvh2_node *c = &nodes[child[slot[s]]];
        k->area_sum += node_area(c);
        if (c->count == 0) {
            n->inner |= (uint8_t)(1u << s);
            n->meta[s] = (uint8_t)(0x20u | (24u + s));
            push[pushed++] = (struct waiting){child[slot[s]], (uint32_t)k->nodes++, w.depth + 1};
            continue;
        }
        n->meta[s] = (uint8_t)(((1u << c->count) - 1u) << 5 | leaf_slots);
        memcpy(k->out->order + k->slots, k->b->order + c->first, c->count * sizeof(uint32_t));
        k->slots += c->count;
        leaf_slots += c->count;
    }
    return pushed;
}

enum status bvh8_compress(const struct bvh2 *b, struct bvh8c *out, struct error *err)
{
    size_t inner = 0;
    for (size_t i = 0; i < b->node_count; i++) {
        inner += b->nodes[i].count == 0;
        if (b->nodes[i].count > BVH8C_LEAF)
            return error_msg(err, STATUS_ARG,
                             "a leaf holds %u primitives; compressed trees need at most %d",
                             b->nodes[i].count, BVH8C_LEAF);
    }
    for (int i = 0; i < 3 && b->primitive_count > 0; i++)
        if (!isfinite(b->nodes[0].lo[i]) || !isfinite(b->nodes[0].hi[i]))
            return error_msg(err, STATUS_RANGE, "a box without end cannot be compressed");
    struct bvh8c c = {.primitive_count = b->primitive_count};
    /* Each wide node opens the root of its own at least, so there are no more than inner ones. */
    c.nodes = aligned_alloc(16, (inner + 1) * sizeof *c.nodes);
    c.order = malloc((c.primitive_count ? c.primitive_count : 1) * sizeof *c.order);
    if (!c.nodes || !c.order) {
        free(c.nodes);
        free(c.order);
        return error_msg(err, STATUS_MEMORY, "no memory for %zu compressed nodes", inner + 1);
    }
    struct walk k = {.b = b, .out = &c, .nodes = 1};
    if (b->primitive_count > 0) {
        struct waiting stack[(LANES - 1) * (BVH_MAX_DEPTH + 1) + 1];
        unsigned top = 0;
        stack[top++] = (struct waiting){0, 0, 0};
        while (top > 0) {
            struct waiting w = stack[--top];
            c.depth = w.depth > c.depth ? w.depth : c.depth;
            top += node_make(&k, w, stack + top);
        }
    } else {
        memset(c.nodes, 0, sizeof *c.nodes);
    }
    c.node_count = k.nodes;
    double total = node_area(&b->nodes[0]);
    c.sah_cost =
        total > 0.0 && total < DBL_MAX ? 1.0 + k.area_sum / total : (double)c.primitive_count;
    *out = c;
    return STATUS_OK;
}

void bvh8c_free(struct bvh8c *b)
{
    if (!b)
        return;
    free(b->nodes);
    free(b->order);
    *b = (struct bvh8c){0};
}

void bvh8c_child_box(const struct bvh8c_node *n, unsigned s, struct bvh_box *out)
{
    for (int i = 0; i < 3; i++) {
        float step = power_of_two(n->exponent[i]);
        out->lo[i] = side(n->origin[i], step, n->lo[i][s]);
        out->hi[i] = side(n->origin[i], step, n->hi[i][s]);
    }
}
