/* SPDX-License-Identifier: Apache-2.0 */
/* scene_relations.h: what of a scene may be said otherwise without changing its picture. No oracle is
 * needed: a renderer that makes two pictures of a scene and its other self is wrong. */
#ifndef CONFORMANCE_SCENE_RELATIONS_H
#define CONFORMANCE_SCENE_RELATIONS_H

#include "scene_tree.h"

enum relation_kind {
    RELATION_EXACT, /* the same bits in mode strict, but for a factor that is a power of two */
    RELATION_PAIRS, /* the same samples, rounded otherwise: statistics on pairs */
    /* samples of the same distribution, not the same ones: so the other picture has another seed,
     * and the difference of two samples is symmetric about zero */
    RELATION_ALIKE
};

struct scene_relation {
    const char *name, *text;
    enum relation_kind kind;
    bool mirrored; /* the other picture is: left is right */
    int gain;      /* it is 2^gain times as bright */
    bool bake;     /* the scene stays: its shaders' parameters become constants of the program */
    /* Changes the scene; false: the relation does not hold for it, or there is nothing to change.
     * NULL: the scene stays. */
    bool (*apply)(struct arena *a, struct scene_node *scene);
};
/* NULL from the first index on that has none. */
const struct scene_relation *scene_relation_at(size_t index);

#endif
