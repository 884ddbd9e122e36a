/* SPDX-License-Identifier: Apache-2.0 */
/* Tangents and mapped normals (protocol section 26). */
#ifndef K_NORMAL_MAP_H
#define K_NORMAL_MAP_H
#include "scene/texture.h"
#include "surface/surface.h"

/* T, N and the bitangent's sign at a hit whose normals are as stored. */
struct k_tangents {
    struct k_vec3 T, N;
    float sign;
};
K_FN struct k_tangents k_triangle_tangents(const struct k_scene *sc, const struct k_hit *hit,
                                           const struct k_surface *s)
{
    struct k_tangents r;
    struct k_corners at = k_hit_corners(sc, hit);
    K_GLOBAL const float *t = sc->tangents + 12 * (size_t)sc->tangent_of[at.number];
    int mirrors = k_hit_mirrors(sc, hit);
    float b1 = hit->b1, b2 = hit->b2, b0 = (1.0f - b1) - b2;
    r.T = v3_madd(v3_madd(v3_scale(k_hit_tangent(sc, hit, t), b0),
                          k_hit_tangent(sc, hit, t + (mirrors ? 8 : 4)), b1),
                  k_hit_tangent(sc, hit, t + (mirrors ? 4 : 8)), b2);
    r.sign = mirrors ? -t[3] : t[3];
    r.N = s->Ng;
    if (k_triangle_flags(sc, at.number) & 1u) {
        struct k_vec3 n = k_vertex_normal(sc, hit, &at, s->Ng);
        if (v3_dot(n, n) > 0.0f)
            r.N = n;
    }
    return r;
}
K_FN struct k_tangents k_tangents_at(const struct k_scene *sc, const struct k_hit *hit,
                                     const struct k_surface *s)
{
    struct k_tangents r;
    if (k_hit_is_triangle(sc, hit))
        return k_triangle_tangents(sc, hit, s);
    r.N = s->Ng;
    r.sign = 1.0f;
    if (hit->primitive - sc->launch->triangle_count >= sc->launch->sphere_count) {
        r.T = k_frame_about(s->Ng).s;
        return r;
    }
    float g = K_SQRT(s->Ng.x * s->Ng.x + s->Ng.y * s->Ng.y);
    r.T = v3(0.0f, 1.0f, 0.0f);
    if (g > 0.0f)
        r.T = v3(-(s->Ng.y / g), s->Ng.x / g, 0.0f);
    return r;
}

/* M by the texture `map`, while normals are as stored. */
K_FN struct k_vec3 k_mapped_normal(const struct k_scene *sc, const struct k_hit *hit,
                                   const struct k_surface *s, k_index map, float scale)
{
    struct k_tangents t = k_tangents_at(sc, hit, s);
    struct k_vec3 texel = k_color_lookup(sc, (uint)map, s->u, s->v);
    float x = (2.0f * texel.x - 1.0f) * scale;
    float y = (2.0f * texel.y - 1.0f) * scale;
    struct k_vec3 B = v3_scale(v3_cross(t.N, t.T), t.sign);
    struct k_vec3 M = v3_madd(v3_madd(v3_scale(t.T, x), B, y), t.N, 2.0f * texel.z - 1.0f);
    return v3_dot(M, M) > 0.0f ? v3_normalize(M) : s->Ns;
}

/* M, turned as Ng is, bent until what it mirrors clears the surface. */
K_FN struct k_vec3 k_valid_normal(struct k_vec3 M, struct k_vec3 Ng, struct k_vec3 wo)
{
    float h = k_min(0.9f * v3_dot(Ng, wo), 0.01f), m = v3_dot(M, wo);
    struct k_vec3 R = v3_sub(v3_scale(M, 2.0f * m), wo);
    float a = v3_dot(R, Ng);
    if (m > 0.0f && a >= h)
        return M;
    struct k_vec3 H = v3_add(wo, v3_normalize(v3_madd(R, Ng, k_max(0.0f, h - a))));
    return v3_dot(H, H) > 0.0f ? v3_normalize(H) : Ng;
}

#endif
