/* SPDX-License-Identifier: Apache-2.0 */
/* Closest hit and any hit with no tree: every hittable in turn. */
#ifndef K_LINEAR_H
#define K_LINEAR_H
#include "trace/traverse2.h"

/* The world's slots stand first, by id: its own primitives, then its instances; those of each
 * prototype behind them. shadow: stop at the first hit found, whichever it is. */
K_INLINE struct k_best k_linear(const struct k_scene *sc, const struct k_ray *world, float t_max,
                                int shadow)
{
    struct k_best best = k_best_none(t_max);
    const uint triangles = sc->launch->triangle_count;
    const uint own = triangles + sc->launch->sphere_count + sc->launch->disk_count;
    const uint instances = K_HAS(INSTANCES) ? sc->launch->instance_count : 0;
    for (uint i = 0; i < own; i++) {
        if (i < triangles) {
            struct k_slot s = k_slot_load(sc->leaves + K_SLOT_WORDS * (size_t)i);
            k_try_triangle(sc, world, s.triangle, s.id, t_max, &best);
        } else {
            k_try_round(sc, world, i, t_max, &best);
        }
        if (shadow && best.primitive != K_NONE)
            return best;
    }
    for (uint i = 0; i < instances; i++) {
        if (!k_instance_meets(sc, world->o, world->inv, i, best.t))
            continue;
        const struct k_ray here = k_ray_in_instance(sc, world, i);
        K_GLOBAL const float *slot = sc->leaves + K_SLOT_WORDS * (size_t)sc->instances[i].root;
        const uint end =
            i + 1 < instances ? sc->instances[i + 1].first_id : sc->launch->effective_count;
        for (uint id = sc->instances[i].first_id; id < end; id++, slot += K_SLOT_WORDS) {
            struct k_slot s = k_slot_load(slot);
            k_try_triangle(sc, &here, s.triangle, s.id, t_max, &best);
            if (shadow && best.primitive != K_NONE)
                return best;
        }
    }
    return best;
}

#endif
