/* Choosing a light by descending a tree of bounds (protocol section 24.1). */
#ifndef K_LIGHT_TREE_H
#define K_LIGHT_TREE_H
#include "scene.h"

#if K_HAS(LIGHT_TREE)

/* How much of its light a node may send to p, a point offset to the side of g (0: no surface). */
K_FN float k_light_importance(const struct k_scene *sc, uint node, struct k_vec3 p, struct k_vec3 g)
{
    K_GLOBAL const float *at = (K_GLOBAL const float *)(sc->light_nodes + node);
    struct k_f4 ball = k_load4(at), cone = k_load4(at + 4), edge = k_load4(at + 8);
    float r = ball.w, phi = cone.w, cos_o = edge.x, sin_o = edge.y, cos_e = edge.z;
    struct k_vec3 V = v3_sub(v3(ball.x, ball.y, ball.z), p);
    float d2 = v3_dot(V, V), r2 = r * r;
    if (!(d2 > r2))
        return phi / k_max(r2, 0x1p-80f);
    float i = 1.0f / k_max(d2, 0x1p-80f), h = K_SQRT(d2 - r2);
    float emitted = 1.0f, facing = 1.0f;
    if (cos_o != -1.0f) {
        float t = -v3_dot(V, v3(cone.x, cone.y, cone.z));
        if (!(t >= K_SQRT(d2) * cos_o)) {
            float s = K_SQRT(k_max(0.0f, d2 - t * t));
            float x = t * cos_o + s * sin_o, y = s * cos_o - t * sin_o;
            emitted = x >= h ? 1.0f : (x * h + y * r) * i;
            if (!(emitted > cos_e))
                return 0.0f;
        }
    }
    if (g.x != 0.0f || g.y != 0.0f || g.z != 0.0f) {
        float t = v3_dot(V, g);
        facing = t >= h ? 1.0f : (t * h + K_SQRT(k_max(0.0f, d2 - t * t)) * r) * i;
        if (!(facing > 0.0f))
            return 0.0f;
    }
    return ((phi * emitted) * facing) * i;
}

/* The chance of going left at an inner node, negative where neither side can send anything. */
K_FN float k_light_left_chance(const struct k_scene *sc, uint node, uint left_leaves,
                               struct k_vec3 p, struct k_vec3 g)
{
    float left = k_light_importance(sc, node + 1u, p, g);
    float sum = left + k_light_importance(sc, node + 2u * left_leaves, p, g);
    return sum > 0.0f ? left / sum : -1.0f;
}

/* The light that u chooses, K_NONE if none can send anything; *chance: of that choice. */
K_FN uint k_light_tree_choose(const struct k_scene *sc, struct k_vec3 p, struct k_vec3 g, float u,
                              float *chance)
{
    uint node = 0;
    float c = 1.0f;
    for (;;) {
        uint link = sc->light_nodes[node].link;
        if (link & K_LEAF) {
            *chance = c;
            return link & ~K_LEAF;
        }
        float h = k_light_left_chance(sc, node, link, p, g);
        if (h < 0.0f)
            return K_NONE;
        int left = u < h;
        float part = left ? h : 1.0f - h;
        u = k_min((left ? u : u - h) / part, 0x1.fffffep-1f);
        c = c * part;
        node += left ? 1u : 2u * link;
    }
}

/* With what chance it chooses the leaf that stands at `place` from the left. */
K_FN float k_light_tree_chance(const struct k_scene *sc, uint place, struct k_vec3 p,
                               struct k_vec3 g)
{
    uint node = 0;
    float c = 1.0f;
    for (;;) {
        uint link = sc->light_nodes[node].link;
        if (link & K_LEAF)
            return c;
        float h = k_light_left_chance(sc, node, link, p, g);
        if (h < 0.0f)
            return 0.0f;
        int left = place < link;
        c = c * (left ? h : 1.0f - h);
        place -= left ? 0u : link;
        node += left ? 1u : 2u * link;
    }
}

#endif
#endif
