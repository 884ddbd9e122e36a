/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a light by descending a tree of bounds (protocol section 24.1). */
#ifndef K_LIGHT_TREE_H
#define K_LIGHT_TREE_H
#include "scene/scene.h"

/* The largest of dot(w, v) over a box about the origin with half sides b. */
K_FN float k_box_reach(struct k_vec3 w, struct k_vec3 b)
{
    return (K_ABS(w.x) * b.x + K_ABS(w.y) * b.y) + K_ABS(w.z) * b.z;
}

/* The cosine that bounds what a node emits towards p, 0 where it sends nothing there. V leads from
 * p to the box, n2: the squared distance of its nearest point; cone: cos_o, sin_o. */
K_FN float k_light_emitted(struct k_vec3 V, struct k_vec3 b, float n2, struct k_vec3 axis,
                           float cos_e, float cos_o, float sin_o)
{
    float t = k_box_reach(axis, b) - v3_dot(V, axis);
    struct k_vec3 end = v3(K_ABS(V.x) + b.x, K_ABS(V.y) + b.y, K_ABS(V.z) + b.z);
    float n = K_SQRT(k_max(t > 0.0f ? n2 : v3_dot(end, end), t * t));
    if (t >= n * cos_o)
        return 1.0f;
    float x = t * cos_o + K_SQRT(k_max(0.0f, n * n - t * t)) * sin_o;
    return x > n * cos_e ? k_max(x / n, 0x1p-20f) : 0.0f;
}

/* How much of its light a node may send to p, a point offset to the side of g (0: no surface). */
K_FN float k_light_importance(const struct k_scene *sc, uint node, struct k_vec3 p, struct k_vec3 g)
{
    K_GLOBAL const float *at = (K_GLOBAL const float *)(sc->light_nodes + node);
    struct k_f4 center = k_load4(at), box = k_load4(at + 4), cone = k_load4(at + 8);
    struct k_vec3 V = v3_sub(v3(center.x, center.y, center.z), p), b = v3(box.x, box.y, box.z);
    struct k_vec3 N = v3(k_max(K_ABS(V.x) - b.x, 0.0f), k_max(K_ABS(V.y) - b.y, 0.0f),
                         k_max(K_ABS(V.z) - b.z, 0.0f));
    float phi = center.w, q = box.w, cos_o = at[12], n2 = v3_dot(N, N), d2 = v3_dot(V, V);
    float Q = k_max(K_SQRT(n2 + 0x1p-6f * q) * K_SQRT(d2 + 0.5f * q), 0x1p-80f);
    float emitted = 1.0f, facing = 1.0f;
    if (g.x != 0.0f || g.y != 0.0f || g.z != 0.0f) {
        float t = v3_dot(V, g) + k_box_reach(g, b);
        if (!(t > 0.0f))
            return 0.0f;
        facing = t / K_SQRT(k_max(Q, t * t));
    }
    if (cos_o != -1.0f)
        emitted = k_light_emitted(V, b, n2, v3(cone.x, cone.y, cone.z), cone.w, cos_o, at[13]);
    return ((phi * emitted) * facing) / Q;
}

/* The importances of both sides of an inner node. */
K_FN void k_light_sides(const struct k_scene *sc, uint node, uint left_leaves, struct k_vec3 p,
                        struct k_vec3 g, float *left, float *right)
{
    *left = k_light_importance(sc, node + 1u, p, g);
    *right = k_light_importance(sc, node + 2u * left_leaves, p, g);
}

/* The light that u chooses, K_NONE if none can send anything; *chance: of that choice. */
K_FN uint k_light_tree_choose(const struct k_scene *sc, struct k_vec3 p, struct k_vec3 g, float u,
                              float *chance)
{
    uint node = 0;
    float c = 1.0f, L, R;
    for (;;) {
        uint link = sc->light_nodes[node].link;
        if (link & K_LEAF) {
            *chance = c;
            return link & ~K_LEAF;
        }
        k_light_sides(sc, node, link, p, g, &L, &R);
        float S = L + R;
        if (!(S > 0.0f))
            return K_NONE;
        float x = u * S;
        int left = x < L || !(R > 0.0f);
        float part = left ? L : R;
        u = k_min((left ? x : x - L) / part, 0x1.fffffep-1f);
        c = c * (part / S);
        node += left ? 1u : 2u * link;
    }
}

/* With what chance it chooses the leaf that stands at `place` from the left. */
K_FN float k_light_tree_chance(const struct k_scene *sc, uint place, struct k_vec3 p,
                               struct k_vec3 g)
{
    uint node = 0;
    float c = 1.0f, L, R;
    for (;;) {
        uint link = sc->light_nodes[node].link;
        if (link & K_LEAF)
            return c;
        k_light_sides(sc, node, link, p, g, &L, &R);
        float S = L + R;
        if (!(S > 0.0f))
            return 0.0f;
        int left = place < link;
        c = c * ((left ? L : R) / S);
        place -= left ? 0u : link;
        node += left ? 1u : 2u * link;
    }
}

#endif
