/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 4: what a ray meets. Every test is decided in double; Embree (candidates.c) only
 * says which primitives are worth testing. */
#ifndef REFERENCE_HIT_H
#define REFERENCE_HIT_H

#include "cameras/offers.h"

#include <stdint.h>

#define NO_PRIMITIVE UINT32_MAX

/* A ray with what the watertight triangle test needs of its direction, once per ray. */
struct probe {
    struct ray ray;
    int kx, ky, kz;    /* kz: the axis along which |d| is largest */
    double sx, sy, sz; /* shear that takes d to the unit vector of kz */
};
struct probe probe_make(struct ray ray);

/* A primitive that was met: its id, where, and where on a triangle. id NO_PRIMITIVE: nothing. */
struct crossing {
    uint32_t primitive;
    double t;
    double b[3];
};

/* Does the ray hit this primitive with 0 < t < t_max? Fills *c if so. */
bool primitive_hit(const struct scene *s, uint32_t primitive, const struct probe *p, double t_max,
                   struct crossing *c);

/* A point of the surface with its stored normals (Ng not yet turned to any side). */
struct hit {
    uint32_t primitive;
    double t;
    struct vec3 P, Ng, Ns;
    double uv[2];
    double extent; /* E of section 4's offset */
    /* Interpolated from the vertices, turned to Ng's side, whether Ns goes by it or not; else 0. */
    struct vec3 of_vertices;
    /* Where the material has a normal map (section 26): T, N and the bitangent's sign. */
    struct vec3 tangent, normal;
    double handedness;
};
struct hit hit_at(const struct scene *s, const struct probe *p, const struct crossing *c);

/* Where a ray starts that leaves P to the side of g. */
struct vec3 offset_point(struct vec3 P, double extent, struct vec3 g);

/* A triangle by its primitive id, as it stands in the world (section 25): an instance's is moved,
 * and its corners 1 and 2 are exchanged where the instance mirrors. */
struct triangle {
    uint32_t stored;                 /* index into scene.triangles and triangle_flags */
    uint32_t corner[3];              /* vertices */
    const struct instance *instance; /* NULL: none */
};
struct triangle triangle_at(const struct scene *s, uint32_t id);
void triangle_vertices(const struct scene *s, uint32_t id, struct vec3 v[3]);
bool is_triangle(const struct scene *s, uint32_t id);

#endif
