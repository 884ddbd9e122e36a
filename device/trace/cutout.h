/* SPDX-License-Identifier: Apache-2.0 */
/* Hits that do not count (protocol section 26). */
#ifndef K_CUTOUT_H
#define K_CUTOUT_H
#include "scene/texture.h"
#include "trace/instance.h"

/* Is there something of the material at (u, v), met along d where the geometric normal is along G?
 */
K_FN int k_is_there(const struct k_scene *sc, K_GLOBAL const struct k_material *m, struct k_vec3 d,
                    struct k_vec3 G, float u, float v)
{
    if ((m->cutout & K_CUTOUT_SINGLE) && !(v3_dot(d, G) < 0.0f))
        return 0;
    return !(m->cutout & K_CUTOUT_MASK) || !(k_scalar_input(sc, &m->mask, u, v) < m->alpha_cutoff);
}

/* A triangle by its place among all, met at the weights b1, b2; mirrored: vertices 1 and 2 are
 * exchanged. */
K_NOINLINE int k_triangle_is_there(const struct k_scene *sc, K_GLOBAL const struct k_material *m,
                                   struct k_vec3 d, struct k_vec3 G, uint number, int mirrored,
                                   float b1, float b2)
{
    float u = b1, v = b2;
    if (k_triangle_flags(sc, number) & 2u) {
        K_GLOBAL const uint *i = sc->triangles + 3 * (size_t)number;
        K_GLOBAL const float *t0 = sc->uvs + 2 * (size_t)i[0],
                             *t1 = sc->uvs + 2 * (size_t)i[mirrored ? 2 : 1],
                             *t2 = sc->uvs + 2 * (size_t)i[mirrored ? 1 : 2];
        float b0 = (1.0f - b1) - b2;
        u = (t0[0] * b0 + t1[0] * b1) + t2[0] * b2;
        v = (t0[1] * b0 + t1[1] * b1) + t2[1] * b2;
    }
    return k_is_there(sc, m, d, G, u, v);
}

/* Spheres and disks: the first parameter whose hit counts. */
K_NOINLINE int k_round_is_there(const struct k_scene *sc, K_GLOBAL const struct k_material *m,
                                const struct k_ray *r, uint id, float t_max, float *t)
{
    uint i = id - sc->launch->triangle_count;
    float u, v;
    if (i >= sc->launch->sphere_count) {
        i -= sc->launch->sphere_count;
        struct k_vec3 c = v3_load(sc->disks[i].center), n = v3_load(sc->disks[i].normal);
        float radius = sc->disks[i].radius;
        if (!k_disk_test(r, c, n, radius, t_max, t) || !k_round_confirms(r, c, radius, *t))
            return 0;
        k_disk_uv(n, v3_sub(v3_madd(r->o, r->d, *t), c), radius, &u, &v);
        return k_is_there(sc, m, r->d, n, u, v);
    }
    struct k_vec3 c = v3_load(sc->spheres[i].center);
    float radius = sc->spheres[i].radius, both[2];
    if (!k_sphere_roots(r, c, radius, both))
        return 0;
    for (int k = 0; k < 2; k++) {
        *t = both[k];
        if (!(*t > 0.0f && *t < t_max) || !k_round_confirms(r, c, radius, *t))
            continue;
        struct k_vec3 D = v3_sub(v3_madd(r->o, r->d, *t), c);
        k_sphere_uv(v3_normalize(D), &u, &v);
        if (k_is_there(sc, m, r->d, D, u, v))
            return 1;
    }
    return 0;
}

/* k_round_test, and the hit counts. */
K_FN int k_round_solid(const struct k_scene *sc, const struct k_ray *r, uint id, float t_max,
                       float *t)
{
    K_GLOBAL const struct k_material *m = sc->materials + sc->primitive_materials[id];
    if (K_HAS(CUTOUTS) && m->cutout)
        return k_round_is_there(sc, m, r, id, t_max, t);
    return k_round_test(sc, r, id, t_max, t);
}

/* Does the hit of a triangle count, after all other tests? number, tri, v, w: as leaves hold them.
 */
K_FN int k_triangle_solid(const struct k_scene *sc, const struct k_ray *r, struct k_triangle tri,
                          uint number, float v, float w, float det)
{
    if (K_HAS(CUTOUTS) && sc->launch->cutouts) {
        K_GLOBAL const struct k_material *m = sc->materials + k_ray_material(sc, r, number);
        int mirrors = K_HAS(INSTANCES) ? (int)r->mirrors : 0;
        if (m->cutout)
            return k_triangle_is_there(
                sc, m, r->d, v3_cross(v3_sub(tri.v1, tri.v0), v3_sub(tri.v2, tri.v0)), number,
                mirrors, (mirrors ? w : v) / det, (mirrors ? v : w) / det);
    }
    return 1;
}

#endif
