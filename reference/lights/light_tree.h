/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 24.1: a binary tree over the finite lights, and the choice by descending it. */
#ifndef REFERENCE_LIGHT_TREE_H
#define REFERENCE_LIGHT_TREE_H

#include "base.h"
#include "numbers/offers.h"

#include <stdint.h>

/* What bounds a light, or several. */
struct light_bounds {
    struct vec3 lo, hi; /* box */
    double weight;
    struct vec3 axis;    /* leaf: unit or 0; node: 0 where it emits everywhere */
    double cos_o, cos_e; /* of the angle about the axis that axes lie in, and of what lies beyond */
};

struct light_node {
    struct light_bounds bounds;
    struct vec3 center, half; /* of the box, and half its sides */
    double phi;
    uint32_t left_leaves; /* 0: a leaf */
    uint32_t light;       /* of a leaf */
};

struct light_tree {
    struct light_node *nodes; /* node, left subtree, right subtree; heap */
    size_t node_count;        /* 2 leaves - 1, or 0 */
    uint32_t *places;         /* [lights]: which leaf it is, from the left; heap */
};

/* Leaves in order with the lights that they stand for, all of weight > 0; light_count bounds the
 * indices. Fails: MEMORY. */
enum status light_tree_build(const struct light_bounds *leaves, const uint32_t *lights,
                             size_t count, size_t light_count, struct light_tree *out,
                             struct error *err);
void light_tree_free(struct light_tree *t);

/* g: the side of the surface at P, 0 for none. Returns false when no light can send anything. */
bool light_tree_choose(const struct light_tree *t, struct vec3 P, struct vec3 g, double u,
                       uint32_t *light, double *chance);
/* With what probability light_tree_choose chooses `light`, which is in the tree. */
double light_tree_chance(const struct light_tree *t, struct vec3 P, struct vec3 g, uint32_t light);

/* The same where it is a choice of `width` nodes at a time, of at most 16: the node with most leaves is
 * opened until there are as many. slack: how far off cosines, and quotients relatively, may be; the
 * least and the greatest chance that leaves open. */
void light_tree_chance_wide(const struct light_tree *t, struct vec3 P, struct vec3 g,
                            uint32_t light, unsigned width, double slack, double chance[2]);

#endif
