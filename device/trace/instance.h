/* SPDX-License-Identifier: Apache-2.0 */
/* Instances (protocol section 25): rays into the space of a prototype, and what stands there. */
#ifndef K_INSTANCE_H
#define K_INSTANCE_H
#include "trace/intersect.h"

/* Four columns, row by row. */
K_FN struct k_vec3 k_turn(K_GLOBAL const float *m, struct k_vec3 p)
{
    return v3((m[0] * p.x + m[1] * p.y) + m[2] * p.z, (m[4] * p.x + m[5] * p.y) + m[6] * p.z,
              (m[8] * p.x + m[9] * p.y) + m[10] * p.z);
}
K_FN struct k_vec3 k_place(K_GLOBAL const float *m, struct k_vec3 p)
{
    struct k_vec3 q = k_turn(m, p);
    return v3(q.x + m[3], q.y + m[7], q.z + m[11]);
}
/* By columns. */
K_FN struct k_vec3 k_unturn(K_GLOBAL const float *m, struct k_vec3 p)
{
    return v3((m[0] * p.x + m[4] * p.y) + m[8] * p.z, (m[1] * p.x + m[5] * p.y) + m[9] * p.z,
              (m[2] * p.x + m[6] * p.y) + m[10] * p.z);
}

/* The world's ray in the space of an instance. */
K_FN struct k_ray k_ray_in_instance(const struct k_scene *sc, const struct k_ray *world,
                                    uint instance)
{
    K_GLOBAL const struct k_instance *n = sc->instances + instance;
    struct k_ray r = k_ray_make(k_place(n->to_object, world->o), k_turn(n->to_object, world->d));
    r.instance = instance;
    r.shift = n->shift;
    r.mirrors = n->mirrors;
    r.world_o = world->o;
    r.world_inv = world->inv;
    return r;
}
/* Can a ray of the world meet anything in the instance at t or before? */
K_FN int k_instance_meets(const struct k_scene *sc, struct k_vec3 o, struct k_vec3 inv,
                          uint instance, float t)
{
    K_GLOBAL const struct k_instance *n = sc->instances + instance;
    float entry;
    return k_slab_of(o, inv, v3_load(n->lo), v3_load(n->hi), t, &entry);
}

K_FN int k_ray_is_inside(const struct k_ray *r)
{
    return K_HAS(INSTANCES) && r->instance != K_NONE;
}
/* A primitive of a tree by the number that its leaves hold: in the world its id, in an instance the
 * place of its triangle among all triangles. */
K_FN uint k_ray_id(const struct k_ray *r, uint number)
{
    return K_HAS(INSTANCES) ? number + r->shift : number;
}

/* The material of a triangle that a ray meets. */
K_FN uint k_ray_material(const struct k_scene *sc, const struct k_ray *r, uint number)
{
    uint behind = sc->launch->sphere_count + sc->launch->disk_count;
    return sc->primitive_materials[k_ray_is_inside(r) ? number + behind : number];
}

/* The second half of "hit" for a triangle; in an instance the third too. */
K_FN int k_triangle_counts(const struct k_scene *sc, const struct k_ray *r, struct k_triangle v,
                           float t)
{
    if (!k_triangle_confirms(r, v, t))
        return 0;
    if (!K_FAST && k_ray_is_inside(r))
        return k_instance_meets(sc, r->world_o, r->world_inv, r->instance, t);
    return 1;
}

#endif
