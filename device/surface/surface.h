/* SPDX-License-Identifier: Apache-2.0 */
/* The surface at a hit (protocol section 4). */
#ifndef K_SURFACE_H
#define K_SURFACE_H
#include "trace/traverse.h"

/* Where a ray met a primitive. Ng, Ns: as stored, not yet turned. */
struct k_surface {
    struct k_vec3 P, Ng, Ns;
    float u, v;
    float extent; /* E of the offset rule */
    uint material;
    struct k_vec3 along; /* U of section 18; 0 on triangles without texture coordinates */
    struct k_vec3 color; /* of the vertices; 1 without them */
    struct k_vec3 coat;  /* the normal of section 28's coat; set when normals are turned */
};

/* A material's base where the surface has vertex colours. */
K_FN struct k_vec3 k_colored(const struct k_surface *s, struct k_vec3 base)
{
    return K_HAS(COLORS) ? v3_mul(base, s->color) : base;
}

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

/* The largest terms that place v, by axis. */
K_FN struct k_vec3 k_reach(K_GLOBAL const float *m, struct k_vec3 v)
{
    float x = K_ABS(v.x), y = K_ABS(v.y), z = K_ABS(v.z);
    return v3(((K_ABS(m[0]) * x + K_ABS(m[1]) * y) + K_ABS(m[2]) * z) + K_ABS(m[3]),
              ((K_ABS(m[4]) * x + K_ABS(m[5]) * y) + K_ABS(m[6]) * z) + K_ABS(m[7]),
              ((K_ABS(m[8]) * x + K_ABS(m[9]) * y) + K_ABS(m[10]) * z) + K_ABS(m[11]));
}

K_FN int k_hit_is_inside(const struct k_hit *hit)
{
    return K_HAS(INSTANCES) && hit->instance != K_NONE;
}
/* Does the instance that was met, if it is one, turn triangles over? */
K_FN int k_hit_mirrors(const struct k_scene *sc, const struct k_hit *hit)
{
    return k_hit_is_inside(hit) && sc->instances[hit->instance].mirrors;
}

K_FN int k_hit_is_triangle(const struct k_scene *sc, const struct k_hit *hit)
{
    return !K_HAS(ROUND) || k_hit_is_inside(hit) || hit->primitive < sc->launch->triangle_count;
}

/* A triangle that was met, as it stands in the world: moved, and turned over where its instance
 * mirrors. */
struct k_corners {
    uint number; /* its place among `triangles` */
    uint i0, i1, i2;
    struct k_triangle tri;
};
K_FN struct k_corners k_hit_corners(const struct k_scene *sc, const struct k_hit *hit)
{
    struct k_corners at;
    at.number = hit->primitive;
    if (k_hit_is_inside(hit))
        at.number -= sc->instances[hit->instance].shift;
    K_GLOBAL const uint *i = sc->triangles + 3 * (size_t)at.number;
    at.i0 = i[0];
    at.i1 = i[1];
    at.i2 = i[2];
    if (k_hit_mirrors(sc, hit)) {
        at.i1 = i[2];
        at.i2 = i[1];
    }
#ifdef K_CPU /* where the tree's walk has just read them */
    if (hit->corners) {
        const int mirrors = k_hit_mirrors(sc, hit);
        struct k_triangle tri = k_block_triangle(hit->corners);
        at.tri.v0 = tri.v0;
        at.tri.v1 = mirrors ? tri.v2 : tri.v1;
        at.tri.v2 = mirrors ? tri.v1 : tri.v2;
    } else
#endif
    {
        at.tri.v0 = v3_load(sc->positions + 3 * (size_t)at.i0);
        at.tri.v1 = v3_load(sc->positions + 3 * (size_t)at.i1);
        at.tri.v2 = v3_load(sc->positions + 3 * (size_t)at.i2);
    }
    if (k_hit_is_inside(hit)) {
        K_GLOBAL const float *m = sc->instances[hit->instance].to_world;
        at.tri.v0 = k_place(m, at.tri.v0);
        at.tri.v1 = k_place(m, at.tri.v1);
        at.tri.v2 = k_place(m, at.tri.v2);
    }
    return at;
}

K_FN struct k_vec3 k_hit_normal(const struct k_scene *sc, const struct k_hit *hit, uint vertex)
{
    struct k_vec3 n = v3_load(sc->normals + 3 * (size_t)vertex);
    if (k_hit_is_inside(hit)) {
        n = k_unturn(sc->instances[hit->instance].to_object, n);
        if (v3_dot(n, n) != 0.0f)
            n = v3_normalize(n);
    }
    return n;
}

/* A tangent of the triangle that was met, in the world. */
K_FN struct k_vec3 k_hit_tangent(const struct k_scene *sc, const struct k_hit *hit,
                                 K_GLOBAL const float *tangent)
{
    struct k_vec3 t = v3_load(tangent);
    if (k_hit_is_inside(hit)) {
        t = k_turn(sc->instances[hit->instance].to_world, t);
        if (v3_dot(t, t) != 0.0f)
            t = v3_normalize(t);
    }
    return t;
}

/* By axis, the largest coordinate of a triangle that was met: X of section 13, of an instance that
 * of section 25. */
K_FN struct k_vec3 k_hit_reach(const struct k_scene *sc, const struct k_hit *hit,
                               const struct k_corners *at)
{
    if (k_hit_is_inside(hit)) {
        K_GLOBAL const struct k_instance *n = sc->instances + hit->instance;
        struct k_vec3 q = k_reach(n->to_world, v3_load(sc->positions + 3 * (size_t)at->i0));
        q = v3_most(q, k_reach(n->to_world, v3_load(sc->positions + 3 * (size_t)at->i1)));
        q = v3_most(q, k_reach(n->to_world, v3_load(sc->positions + 3 * (size_t)at->i2)));
        return v3_madd(q, v3_load(n->mix), v3_max(q));
    }
    return v3_most(v3_most(v3_abs(at->tri.v0), v3_abs(at->tri.v1)), v3_abs(at->tri.v2));
}

/* How exactly the ray (o, d) tells where it met a plane with the unit normal n at t, in the unit of
 * E: A + H / c of section 13 if that is less than e, else e. */
K_FN float k_plane_extent(struct k_vec3 o, struct k_vec3 d, float t, float blur, struct k_vec3 n,
                          struct k_vec3 reach, float e)
{
    float c = K_ABS(v3_dot(d, n)), H = v3_dot(v3_abs(n), reach), A = (v3_max_abs(o) + t) * blur;
    return A * c + H < e * c ? A + H / c : e;
}

K_FN uint k_hit_material(const struct k_scene *sc, const struct k_hit *hit)
{
    if (k_hit_is_inside(hit))
        return sc->primitive_materials[(hit->primitive - sc->instances[hit->instance].shift) +
                                       (sc->launch->sphere_count + sc->launch->disk_count)];
    return sc->primitive_materials[hit->primitive];
}

/* How far rays start from a surface that is known to P, E (section 13, Offset). */
K_FN float k_offset_length(struct k_vec3 P, float extent)
{
    return 0x1p-19f * k_max(v3_max_abs(P), k_max(extent, 0x1p-20f));
}

/* Moves P, which has the weights *b1 and *b2, and these to where it is twice that away from the
 * edges (section 13, Edges). normal: the product of the edges. */
K_FN void k_leave_edges(const struct k_triangle *tri, struct k_vec3 normal, struct k_surface *s,
                        float *b1, float *b2)
{
    struct k_vec3 e1 = v3_sub(tri->v1, tri->v0), e2 = v3_sub(tri->v2, tri->v0);
    struct k_vec3 e0 = v3_sub(e2, e1);
    float b0 = (1.0f - *b1) - *b2;
    float l0 = v3_dot(e0, e0), l1 = v3_dot(e2, e2), l2 = v3_dot(e1, e1);
    float margin = 2.0f * k_offset_length(s->P, s->extent), n = v3_dot(normal, normal);
    float least = k_max(k_min(b0, k_min(*b1, *b2)), 0.0f), longest = k_max(l0, k_max(l1, l2));
    if (least * least * n >= margin * margin * longest)
        return;
    float r = margin / K_SQRT(n);
    float c0 = k_max(b0, k_min(r * K_SQRT(l0), 0.25f));
    float c1 = k_max(*b1, k_min(r * K_SQRT(l1), 0.25f));
    float c2 = k_max(*b2, k_min(r * K_SQRT(l2), 0.25f));
    float k = 1.0f / ((c0 + c1) + c2);
    c1 = c1 * k;
    c2 = c2 * k;
    s->P = v3_madd(v3_madd(s->P, e1, c1 - *b1), e2, c2 - *b2);
    *b1 = c1;
    *b2 = c2;
}

/* P, its weights *b1 and *b2, and E; Ng before them. By the vertices, or where that is more exact,
 * by the ray: a triangle may be much larger than what happens near the ray's origin. */
K_FN void k_triangle_point(const struct k_scene *sc, const struct k_hit *hit,
                           const struct k_corners *at, struct k_vec3 normal, struct k_vec3 o,
                           struct k_vec3 d, struct k_surface *s, float *b1, float *b2)
{
    struct k_vec3 reach = k_hit_reach(sc, hit, at);
    float e = v3_max(reach), blur = 1.0f;
    if (k_hit_is_inside(hit))
        blur = 1.0f + v3_max(v3_load(sc->instances[hit->instance].mix));
    s->extent = k_plane_extent(o, d, hit->t, blur, s->Ng, reach, e);
    if (s->extent < e) {
        struct k_vec3 q = v3_madd(o, d, hit->t);
        s->P = v3_madd(q, d, v3_dot(v3_sub(at->tri.v0, q), s->Ng) / v3_dot(d, s->Ng));
    } else {
        float b0 = (1.0f - *b1) - *b2;
        s->P = v3_madd(v3_madd(v3_scale(at->tri.v0, b0), at->tri.v1, *b1), at->tri.v2, *b2);
    }
    k_leave_edges(&at->tri, normal, s, b1, b2);
}

/* The vertices' normal at a hit, not normalised, on the side of Ng; 0 where there is none, or where
 * it stands at right angles to Ng. */
K_FN struct k_vec3 k_vertex_normal(const struct k_scene *sc, const struct k_hit *hit,
                                   const struct k_corners *at, struct k_vec3 Ng)
{
    float b1 = hit->b1, b2 = hit->b2, b0 = (1.0f - b1) - b2;
    struct k_vec3 n = v3_madd(
        v3_madd(v3_scale(k_hit_normal(sc, hit, at->i0), b0), k_hit_normal(sc, hit, at->i1), b1),
        k_hit_normal(sc, hit, at->i2), b2);
    float c = v3_dot(n, Ng);
    if (!(c * c > 0x1p-20f * v3_dot(n, n)))
        return v3(0.0f, 0.0f, 0.0f);
    return c < 0.0f ? v3_neg(n) : n;
}

K_FN void k_triangle_surface(const struct k_scene *sc, const struct k_hit *hit, struct k_vec3 o,
                             struct k_vec3 d, struct k_surface *s)
{
    struct k_corners at = k_hit_corners(sc, hit);
    struct k_triangle tri = at.tri;
    float b1 = hit->b1, b2 = hit->b2, b0 = (1.0f - b1) - b2;
    struct k_vec3 normal = v3_cross(v3_sub(tri.v1, tri.v0), v3_sub(tri.v2, tri.v0));
    s->Ng = v3_normalize(normal);
    s->Ns = s->Ng;
    s->u = b1;
    s->v = b2;
    s->along = v3(0.0f, 0.0f, 0.0f);
    float c1 = b1, c2 = b2; /* of P */
    k_triangle_point(sc, hit, &at, normal, o, d, s, &c1, &c2);
    uint flags = k_triangle_flags(sc, at.number);
    if (flags == 0)
        return;
    if (flags & 1u) {
        struct k_vec3 n = k_vertex_normal(sc, hit, &at, s->Ng);
        if (v3_dot(n, n) > 0.0f)
            s->Ns = v3_normalize(n);
    }
    if (flags & 2u) {
        K_GLOBAL const float *t0 = sc->uvs + 2 * (size_t)at.i0, *t1 = sc->uvs + 2 * (size_t)at.i1,
                             *t2 = sc->uvs + 2 * (size_t)at.i2;
        s->u = (t0[0] * b0 + t1[0] * b1) + t2[0] * b2;
        s->v = (t0[1] * b0 + t1[1] * b1) + t2[1] * b2;
        if (K_HAS(LOBES))
            s->along = k_triangle_along(&tri, s->Ng, t0, t1, t2);
    }
    if (K_HAS(COLORS) && flags & 4u) {
        float c0 = (1.0f - c1) - c2;
        struct k_vec3 c = v3_madd(v3_madd(v3_scale(v3_load(sc->colors + 3 * (size_t)at.i0), c0),
                                          v3_load(sc->colors + 3 * (size_t)at.i1), c1),
                                  v3_load(sc->colors + 3 * (size_t)at.i2), c2);
        s->color = v3(k_clamp01(c.x), k_clamp01(c.y), k_clamp01(c.z));
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
        k_sphere_uv(n, &s->u, &s->v);
        s->extent = v3_max_abs(c) + r;
        float around = K_TWO_PI * r;
        s->along = v3(-(around * n.y), around * n.x, 0.0f);
        return;
    }
    i -= sc->launch->sphere_count;
    struct k_vec3 c = v3_load(sc->disks[i].center), n = v3_load(sc->disks[i].normal);
    float r = sc->disks[i].radius;
    struct k_vec3 q = v3_sub(v3_madd(o, d, hit->t), c);
    struct k_frame f = k_frame_about(n);
    struct k_vec3 w = v3_sub(q, v3_scale(n, v3_dot(q, n)));
    s->P = v3_add(c, w);
    s->Ng = n;
    s->Ns = n;
    k_disk_uv(n, q, r, &s->u, &s->v);
    s->extent =
        k_plane_extent(o, d, hit->t, 1.0f, n, v3_add(v3_abs(c), v3_abs(w)), v3_max_abs(c) + r);
    s->along = v3_scale(f.s, 2.0f * r);
}

K_FN struct k_surface k_surface_make(const struct k_scene *sc, const struct k_hit *hit,
                                     struct k_vec3 o, struct k_vec3 d)
{
    struct k_surface s;
    s.color = v3(1.0f, 1.0f, 1.0f);
    if (k_hit_is_triangle(sc, hit))
        k_triangle_surface(sc, hit, o, d, &s);
    else
        k_round_surface(sc, hit, o, d, &s);
    s.material = k_hit_material(sc, hit);
    return s;
}

/* Have its vertices colours? */
K_FN uint k_hit_has_colors(const struct k_scene *sc, const struct k_hit *hit)
{
    if (!K_HAS(COLORS) || !k_hit_is_triangle(sc, hit))
        return 0u;
    const uint shift = k_hit_is_inside(hit) ? sc->instances[hit->instance].shift : 0u;
    return k_triangle_flags(sc, hit->primitive - shift) >> 2 & 1u;
}

/* U and V of section 18: how P grows with u and v. Ng: as stored. */
K_FN void k_triangle_axes(const struct k_scene *sc, const struct k_hit *hit, struct k_vec3 Ng,
                          struct k_vec3 *U, struct k_vec3 *V)
{
    struct k_corners at = k_hit_corners(sc, hit);
    struct k_vec3 E1 = v3_sub(at.tri.v1, at.tri.v0), E2 = v3_sub(at.tri.v2, at.tri.v0);
    *U = E1;
    *V = E2;
    if (!(k_triangle_flags(sc, at.number) & 2u))
        return;
    K_GLOBAL const float *t0 = sc->uvs + 2 * (size_t)at.i0, *t1 = sc->uvs + 2 * (size_t)at.i1,
                         *t2 = sc->uvs + 2 * (size_t)at.i2;
    float a = t1[0] - t0[0], b = t2[0] - t0[0], c = t1[1] - t0[1], e = t2[1] - t0[1];
    float det = a * e - b * c;
    if (det == 0.0f) {
        struct k_frame f = k_frame_about(Ng);
        *U = f.s;
        *V = f.t;
        return;
    }
    float k = 1.0f / det;
    *U = v3_scale(v3_sub(v3_scale(E1, e), v3_scale(E2, c)), k);
    *V = v3_scale(v3_sub(v3_scale(E2, a), v3_scale(E1, b)), k);
}
K_FN void k_surface_axes(const struct k_scene *sc, const struct k_hit *hit, struct k_vec3 Ng,
                         struct k_vec3 *U, struct k_vec3 *V)
{
    if (k_hit_is_triangle(sc, hit)) {
        k_triangle_axes(sc, hit, Ng, U, V);
        return;
    }
    uint i = hit->primitive - sc->launch->triangle_count;
    if (i < sc->launch->sphere_count) {
        float r = sc->spheres[i].radius, g = K_SQRT(Ng.x * Ng.x + Ng.y * Ng.y);
        float p = g > 0.0f ? Ng.x / g : 1.0f, q = g > 0.0f ? Ng.y / g : 0.0f;
        *U = v3(-(K_TWO_PI * r) * Ng.y, (K_TWO_PI * r) * Ng.x, 0.0f);
        *V = v3(-((K_PI * r) * (Ng.z * p)), -((K_PI * r) * (Ng.z * q)), (K_PI * r) * g);
        return;
    }
    struct k_frame f = k_frame_about(Ng);
    float size = 2.0f * sc->disks[i - sc->launch->sphere_count].radius;
    *U = v3_scale(f.s, size);
    *V = v3_scale(f.t, size);
}

/* P moved off the surface to the side of g. */
K_FN struct k_vec3 k_offset(const struct k_surface *s, struct k_vec3 g)
{
    return v3_madd(s->P, g, FAULT_NO_OFFSET(k_offset_length(s->P, s->extent)));
}

#endif
