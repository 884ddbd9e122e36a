/* SPDX-License-Identifier: Apache-2.0 */
/* The two questions that rendering asks of a scene's geometry. Results do not depend on which tree
 * answers. */
#ifndef K_TRAVERSE_H
#define K_TRAVERSE_H
#include "trace/linear.h"
#include "trace/traverse8.h"
#include "trace/traverse8c.h"

/* 1 (none), 2, 8 or 80 (compressed): the only tree that this program will be given; 0: either, as each launch
 * says. Bitcode (K_LINKED) is linked with a function that gives the number. */
#ifdef K_LINKED
K_EXTERN uint k_tree(void);
#define K_BVH k_tree()
#elif !defined(K_BVH)
#define K_BVH 0
#endif
#define K_IS_TREE(sc, kind) (K_BVH == kind || (K_BVH == 0 && (sc)->launch->bvh == kind))

K_FN int k_scene_empty(const struct k_scene *sc) { return sc->launch->bvh == 0; }

/* The closest hit with 0 < t < t_max. */
K_NOINLINE void k_closest(const struct k_scene *sc, struct k_vec3 o, struct k_vec3 d, float t_max,
                          struct k_hit *hit)
{
    struct k_ray r = k_ray_make(o, d);
    K_COUNT(sc, K_COUNT_CLOSEST);
    if (k_scene_empty(sc))
        *hit = k_best_finish(k_best_none(t_max));
    else if (K_IS_TREE(sc, 8))
        *hit = k_best_finish(k_traverse8(sc, &r, t_max, 0));
    else if (K_IS_TREE(sc, 80))
        *hit = k_best_finish(k_traverse8c(sc, &r, t_max, 0));
    else if (K_IS_TREE(sc, 1))
        *hit = k_best_finish(k_linear(sc, &r, t_max, 0));
    else
        *hit = k_best_finish(k_traverse2(sc, &r, t_max, 0));
}

/* Is anything hit with 0 < t < t_max? */
K_NOINLINE int k_occluded(const struct k_scene *sc, struct k_vec3 o, struct k_vec3 d, float t_max)
{
    struct k_ray r = k_ray_make(o, d);
    K_COUNT(sc, K_COUNT_ANY);
    if (k_scene_empty(sc))
        return 0;
    if (K_IS_TREE(sc, 8))
        return k_traverse8(sc, &r, t_max, 1).primitive != K_NONE;
    if (K_IS_TREE(sc, 80))
        return k_traverse8c(sc, &r, t_max, 1).primitive != K_NONE;
    if (K_IS_TREE(sc, 1))
        return k_linear(sc, &r, t_max, 1).primitive != K_NONE;
    return k_traverse2(sc, &r, t_max, 1).primitive != K_NONE;
}

#endif
