/* The surface at a hit (protocol section 4). */
#ifndef K_SURFACE_H
#define K_SURFACE_H
#include "traverse.h"

/* Where a ray met a primitive. Ng, Ns: as stored, not yet turned. */
struct k_surface {
    struct k_vec3 P, Ng, Ns;
    float u, v;
    float extent; /* e of the offset rule */
    uint material;
#if K_HAS(LOBES)
    struct k_vec3 along; /* U of section 18; 0 on triangles without texture coordinates */
#endif
};

#if K_HAS(LOBES)
/* U of section 18 by the uv of the vertices. */
K_FN struct k_vec3 k_triangle_along(const struct k_triangle *tri, struct k_vec3 Ng,
                                    K_GLOBAL const float *t0, K_GLOBAL const float *t1,
                                    K_GLOBAL const float *t2)
{
    float a = t1[0] - t0[0], b = t2[0] - t0[0], c = t1[1] - t0[1], e = t2[1] - t0[1];
    float det = a * e - b * c;
    if (det == 0.0f)
        return k_frame_about(Ng).s;
    struct k_vec3 e1 = v3_sub(tri->v1, tri->v0), e2 = v3_sub(tri->v2, tri->v0);
    return v3_scale(v3_sub(v3_scale(e1, e), v3_scale(e2, c)), 1.0f / det);
}
#endif

K_FN void k_triangle_surface(const struct k_scene *sc, const struct k_hit *hit, struct k_surface *s)
{
    struct k_triangle tri = k_triangle_load(sc, hit->primitive);
    float b1 = hit->b1, b2 = hit->b2, b0 = (1.0f - b1) - b2;
    s->P = v3_madd(v3_madd(v3_scale(tri.v0, b0), tri.v1, b1), tri.v2, b2);
    s->Ng = v3_normalize(v3_cross(v3_sub(tri.v1, tri.v0), v3_sub(tri.v2, tri.v0)));
    s->Ns = s->Ng;
    s->u = b1;
    s->v = b2;
#if K_HAS(LOBES)
    s->along = v3(0.0f, 0.0f, 0.0f);
#endif
    s->extent = k_max(k_max(v3_max_abs(tri.v0), v3_max_abs(tri.v1)), v3_max_abs(tri.v2));
    uint flags = k_triangle_flags(sc, hit->primitive);
    if (flags == 0)
        return;
    K_GLOBAL const uint *i = sc->triangles + 3 * (size_t)hit->primitive;
    if (flags & 1u) {
        struct k_vec3 n = v3_madd(v3_madd(v3_scale(v3_load(sc->normals + 3 * (size_t)i[0]), b0),
                                          v3_load(sc->normals + 3 * (size_t)i[1]), b1),
                                  v3_load(sc->normals + 3 * (size_t)i[2]), b2);
        if (v3_dot(n, n) > 0.0f) {
            s->Ns = v3_normalize(n);
            if (v3_dot(s->Ns, s->Ng) < 0.0f)
                s->Ns = v3_neg(s->Ns);
        }
    }
    if (flags & 2u) {
        K_GLOBAL const float *t0 = sc->uvs + 2 * (size_t)i[0], *t1 = sc->uvs + 2 * (size_t)i[1],
                             *t2 = sc->uvs + 2 * (size_t)i[2];
        s->u = (t0[0] * b0 + t1[0] * b1) + t2[0] * b2;
        s->v = (t0[1] * b0 + t1[1] * b1) + t2[1] * b2;
#if K_HAS(LOBES)
        s->along = k_triangle_along(&tri, s->Ng, t0, t1, t2);
#endif
    }
}

K_FN void k_round_surface(const struct k_scene *sc, const struct k_hit *hit, struct k_vec3 o,
                          struct k_vec3 d, struct k_surface *s)
{
    uint i = hit->primitive - sc->launch->triangle_count;
    if (i < sc->launch->sphere_count) {
        struct k_vec3 c = v3_load(sc->spheres[i].center);
        float r = sc->spheres[i].radius;
        struct k_vec3 n = v3_normalize(v3_sub(v3_madd(o, d, hit->t), c));
        s->Ng = n;
        s->Ns = n;
        s->P = v3_madd(c, n, r);
        float u = k_atan2(n.y, n.x) * K_INV_2PI;
        s->u = u < 0.0f ? u + 1.0f : u;
        s->v = 1.0f - k_acos(k_min(k_max(n.z, -1.0f), 1.0f)) * K_INV_PI;
        s->extent = v3_max_abs(c) + r;
#if K_HAS(LOBES)
        float around = K_TWO_PI * r;
        s->along = v3(-(around * n.y), around * n.x, 0.0f);
#endif
        return;
    }
    i -= sc->launch->sphere_count;
    struct k_vec3 c = v3_load(sc->disks[i].center), n = v3_load(sc->disks[i].normal);
    float r = sc->disks[i].radius;
    struct k_vec3 q = v3_sub(v3_madd(o, d, hit->t), c);
    struct k_frame f = k_frame_about(n);
    s->P = v3_add(c, v3_sub(q, v3_scale(n, v3_dot(q, n))));
    s->Ng = n;
    s->Ns = n;
    s->u = 0.5f + (0.5f * v3_dot(q, f.s)) / r;
    s->v = 0.5f + (0.5f * v3_dot(q, f.t)) / r;
    s->extent = v3_max_abs(c) + r;
#if K_HAS(LOBES)
    s->along = v3_scale(f.s, 2.0f * r);
#endif
}

K_FN struct k_surface k_surface_make(const struct k_scene *sc, const struct k_hit *hit,
                                     struct k_vec3 o, struct k_vec3 d)
{
    struct k_surface s;
    if (hit->primitive < sc->launch->triangle_count)
        k_triangle_surface(sc, hit, &s);
    else
        k_round_surface(sc, hit, o, d, &s);
    s.material = sc->primitive_materials[hit->primitive];
    return s;
}

/* P moved off the surface to the side of g. */
K_FN struct k_vec3 k_offset(const struct k_surface *s, struct k_vec3 g)
{
    float delta = 0x1p-17f * k_max(v3_max_abs(s->P), k_max(s->extent, 0x1p-20f));
    return v3_madd(s->P, g, FAULT_NO_OFFSET(delta));
}

#endif
