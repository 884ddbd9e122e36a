/* SPDX-License-Identifier: Apache-2.0 */
/* Our own bounding volume hierarchies: binned SAH, built in parallel on the CPU, laid out for the
 * kernel.
 *
 * Input is one box a primitive, already widened so that a ray which the float32 primitive test hits
 * always meets the box (the argument and the margin: docs/reference/protocol.md Part II). The tree
 * never decides a hit: it only must not lose one. */
#ifndef ISOPHOTE_BVH_H
#define ISOPHOTE_BVH_H

#include "base.h"

#include <assert.h>

struct bvh_box {
    float lo[3], hi[3];
};

/* Binary tree, 32 bytes a node: children of an inner node are stored as a pair, behind their
 * parent. The top levels stand first, level by level, then each subtree depth-first. Bounds are
 * exact unions of the primitives' boxes. */
struct bvh2_node {
    float lo[3];
    uint32_t first; /* inner: index of the left child (right is first + 1); leaf: first slot in
                       `order` */
    float hi[3];
    uint32_t count; /* 0: inner; else primitives in the leaf */
};
static_assert(sizeof(struct bvh2_node) == 32, "layout");

struct bvh2 {
    struct bvh2_node *nodes; /* nodes[0] is the root; [1] is unused so that pairs are aligned */
    size_t node_count;
    uint32_t *order; /* leaf slots -> primitive ids */
    size_t primitive_count;
    uint32_t depth; /* of the deepest leaf, root 0; at most BVH_MAX_DEPTH */
    double sah_cost;
};
#define BVH_MAX_DEPTH 60

/* Same tree for any number of threads. max_leaf: 1..16 primitives in a leaf. Boxes must not hold
 * NaN and need lo <= hi; infinite sides are kept. count 0 gives a root with an empty box (lo =
 * +inf, hi = -inf) that no ray meets, as is node 1. sah_cost: expected node visits plus primitive
 * tests of a ray that meets the root (surface areas over the root's; one visit counts as one test);
 * the primitive count if the root has no finite surface. Memory beside the result: 32 bytes a
 * primitive, see bvh2_build.c. Fails: ARG (max_leaf), LIMIT (2^31 primitives), MEMORY. */
enum status bvh2_build(const struct bvh_box *boxes, size_t count, unsigned max_leaf,
                       struct bvh2 *out, struct error *err);
void bvh2_free(struct bvh2 *b);
extern const char bvh_sources[33]; /* a hash of what bvh2_build is compiled from */

/* Eight-wide tree collapsed from a binary one (Wald et al. 2008; greedy by surface area). Structure
 * of arrays, full float bounds: made for eight-lane CPUs. Empty children have lo = +inf, hi = -inf.
 * 256 bytes a node. */
struct bvh8_node {
    float lo_x[8], lo_y[8], lo_z[8], hi_x[8], hi_y[8], hi_z[8];
    uint32_t child[8]; /* inner: node index; leaf: first slot */
    uint32_t count[8]; /* 0: inner (or empty), else primitives in the leaf */
};
static_assert(sizeof(struct bvh8_node) == 256, "layout");
struct bvh8 {
    struct bvh8_node *nodes;
    size_t node_count;
    uint32_t *order;
    size_t primitive_count;
    uint32_t depth;  /* of the deepest node, root 0 */
    double sah_cost; /* as above, but a wide node and a whole leaf cost one each */
};
/* Primitives [first, end) of whom eight take no longer to test than eight boxes. */
struct bvh8_quick {
    size_t first, end;
};
/* Child slots are filled from 0 without gaps. Subtrees of at most 8 primitives become one leaf
 * where that is expected to cost less than keeping their parts, or where all are quick and their
 * parent has no room for parts (its slots are consecutive in `order`); no leaf holds more. A root
 * that is itself a leaf becomes one node with one child.
 * Fails: ARG (`b` was built with max_leaf over 8 and has such a leaf), MEMORY. */
enum status bvh8_collapse(const struct bvh2 *b, struct bvh8_quick quick, struct bvh8 *out,
                          struct error *err);
void bvh8_free(struct bvh8 *b);

/* Compressed eight-wide tree for GPUs (Ylitie et al. 2017): 80 bytes a node. Side q of a child's
 * box on axis i stands at origin[i] + q 2^(exponent[i] - 127), each of the two operations rounded
 * to float32: at or outside the binary node's side.
 *
 *   meta[s]    upper three bits                            lower five
 *   empty      000                                         0
 *   inner      001                                         24 + s; it is node `child` + the number
 *                                                          of inner children below s
 *   leaf       a one for each of its 1 to 3 primitives     where they start behind `slot` */
struct bvh8c_node {
    float origin[3];
    uint8_t exponent[3], inner; /* bit s: slot s holds an inner node */
    uint32_t child, slot;
    uint8_t meta[8];
    uint8_t lo[3][8], hi[3][8];
};
static_assert(sizeof(struct bvh8c_node) == 80, "layout");
struct bvh8c {
    struct bvh8c_node *nodes;
    size_t node_count;
    uint32_t *order; /* slots -> primitive ids */
    size_t primitive_count;
    uint32_t depth;  /* of the deepest node, root 0; at most BVH_MAX_DEPTH */
    double sah_cost; /* as above, of the boxes before compression */
};
#define BVH8C_LEAF 3
/* Fails: ARG (a leaf with more than BVH8C_LEAF primitives), RANGE (infinite sides), MEMORY. */
enum status bvh8_compress(const struct bvh2 *b, struct bvh8c *out, struct error *err);
void bvh8c_free(struct bvh8c *b);
/* The box of slot s as the kernel finds it. */
void bvh8c_child_box(const struct bvh8c_node *n, unsigned s, struct bvh_box *out);

/* Checks every invariant (each node reached once, each primitive in exactly one leaf, bounds are
 * the unions of what they hold, depth, cost); for tests. Fails: MISMATCH (says where), MEMORY. */
enum status bvh2_verify(const struct bvh2 *b, const struct bvh_box *boxes, struct error *err);
enum status bvh8_verify(const struct bvh8 *b, const struct bvh_box *boxes, struct error *err);
/* Boxes of compressed nodes hold what is below them (how tightly is not asked, nor is the cost). */
enum status bvh8c_verify(const struct bvh8c *b, const struct bvh_box *boxes, struct error *err);

#endif
