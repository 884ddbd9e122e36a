/* SPDX-License-Identifier: Apache-2.0 */
/* Fast mode's choice of a light on processors: three levels of the tree at once. Its chances are
 * not those of the protocol, section 24.1, but what chooses and what is asked for a chance agree,
 * and no light that may send something has the chance 0. */
#ifndef K_LIGHT_WIDE_H
#define K_LIGHT_WIDE_H
#include "light/light_tree.h"
#include "math/vec8.h"

#if K_FAST && defined(K_NATIVE)
#define K_HAS_WIDE_LIGHTS 1

/* Words of struct k_light_node, of eight nodes each. */
K_FN k_f8 k_wide_word(K_GLOBAL const float *n, uint word) { return f8_load(n + 8u * word); }

struct k_wide_vec3 {
    k_f8 x, y, z;
};
K_FN k_f8 k_wide_dot(struct k_wide_vec3 a, struct k_wide_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
K_FN struct k_wide_vec3 k_wide_abs(struct k_wide_vec3 a)
{
    a.x = f8_abs(a.x);
    a.y = f8_abs(a.y);
    a.z = f8_abs(a.z);
    return a;
}
K_FN struct k_wide_vec3 k_wide_splat(struct k_vec3 a)
{
    struct k_wide_vec3 r;
    r.x = f8_splat(a.x);
    r.y = f8_splat(a.y);
    r.z = f8_splat(a.z);
    return r;
}

/* k_light_emitted. Roots decide no sign of a cosine; cos_e has 2^-9 to spare for them. */
K_FN k_f8 k_wide_emitted(K_GLOBAL const float *n, struct k_wide_vec3 V, struct k_wide_vec3 b,
                         k_f8 n2)
{
    const k_f8 zero = f8_splat(0.0f), tiny = f8_splat(0x1p-126f), one = f8_splat(1.0f);
    struct k_wide_vec3 axis, end = k_wide_abs(V);
    k_f8 cos_e = k_wide_word(n, 11), cos_o = k_wide_word(n, 12), sin_o = k_wide_word(n, 13);
    axis.x = k_wide_word(n, 8);
    axis.y = k_wide_word(n, 9);
    axis.z = k_wide_word(n, 10);
    k_f8 t = k_wide_dot(k_wide_abs(axis), b) - k_wide_dot(V, axis);
    end.x += b.x;
    end.y += b.y;
    end.z += b.z;
    k_f8 m2 = f8_select(f8_lt(zero, t), n2, k_wide_dot(end, end));
    k_f8 c = f8_min(f8_max(t * f8_rsqrt_rough(f8_max(m2, tiny)), -one), one);
    k_f8 s2 = f8_max(one - c * c, tiny);
    k_f8 x = c * cos_o + s2 * f8_rsqrt_rough(s2) * sin_o;
    k_f8 e = f8_select(f8_lt(cos_e - f8_splat(0x1p-9f), x), f8_max(x, f8_splat(0x1p-20f)), zero);
    return f8_select(f8_le(cos_o, c), one, e);
}

/* k_light_importance of a wide node's eight. */
K_FN k_f8 k_wide_importance(K_GLOBAL const float *n, struct k_vec3 p, struct k_vec3 g)
{
    const k_f8 zero = f8_splat(0.0f), tiny = f8_splat(0x1p-126f);
    struct k_wide_vec3 V, b, N;
    V.x = k_wide_word(n, 0) - f8_splat(p.x);
    V.y = k_wide_word(n, 1) - f8_splat(p.y);
    V.z = k_wide_word(n, 2) - f8_splat(p.z);
    b.x = k_wide_word(n, 4);
    b.y = k_wide_word(n, 5);
    b.z = k_wide_word(n, 6);
    N.x = f8_max(f8_abs(V.x) - b.x, zero);
    N.y = f8_max(f8_abs(V.y) - b.y, zero);
    N.z = f8_max(f8_abs(V.z) - b.z, zero);
    k_f8 q = k_wide_word(n, 7), n2 = k_wide_dot(N, N), d2 = k_wide_dot(V, V);
    k_f8 near2 = f8_max(n2 + f8_splat(0x1p-6f) * q, tiny);
    k_f8 far2 = f8_max(d2 + f8_splat(0.5f) * q, tiny);
    k_f8 near = f8_rsqrt_rough(near2), far = f8_rsqrt_rough(far2);
    k_f8 importance = k_wide_word(n, 3) * f8_min(near * far, f8_splat(0x1p80f));
    if (g.x != 0.0f || g.y != 0.0f || g.z != 0.0f) {
        struct k_wide_vec3 w = k_wide_splat(g);
        k_f8 t = k_wide_dot(V, w) + k_wide_dot(k_wide_abs(w), b);
        k_f8 Q = f8_max((near2 * near) * (far2 * far), tiny);
        importance *= f8_min(f8_max(t, zero) * f8_rsqrt_rough(Q), f8_splat(1.0f));
    }
    if (f8_bits(f8_lt(f8_splat(-1.0f), k_wide_word(n, 12)))) {
        k_f8 cos_o = k_wide_word(n, 12);
        importance *=
            f8_select(f8_le(cos_o, f8_splat(-1.0f)), f8_splat(1.0f), k_wide_emitted(n, V, b, n2));
    }
    return importance;
}

struct k_wide_shares {
    float own[8], below[8], sum; /* of each lane; of the lanes before it; of all */
};
K_FN struct k_wide_shares k_wide_shares(const struct k_scene *sc, uint node, struct k_vec3 p,
                                        struct k_vec3 g)
{
    struct k_wide_shares s __attribute__((aligned(32)));
    f8_store(k_wide_importance((K_GLOBAL const float *)(sc->light_nodes + node), p, g), s.own);
    float low = s.own[0] + s.own[1], mid = s.own[2] + s.own[3], high = s.own[4] + s.own[5];
    s.below[0] = 0.0f;
    s.below[1] = s.own[0];
    s.below[2] = low;
    s.below[3] = low + s.own[2];
    s.below[4] = low + mid;
    s.below[5] = s.below[4] + s.own[4];
    s.below[6] = s.below[4] + high;
    s.below[7] = s.below[6] + s.own[6];
    s.sum = s.below[7] + s.own[7];
    return s;
}

K_FN uint k_wide_link(const struct k_scene *sc, uint node, uint lane)
{
    return ((K_GLOBAL const uint *)(sc->light_nodes + node))[8u * 14u + lane];
}

/* k_light_tree_choose */
K_FN uint k_light_wide_choose(const struct k_scene *sc, struct k_vec3 p, struct k_vec3 g, float u,
                              float *chance)
{
    uint node = sc->launch->light_tree - 1u;
    float c = 1.0f;
    for (;;) {
        struct k_wide_shares s = k_wide_shares(sc, node, p, g);
        float x = u * s.sum;
        uint lane = 0;
        for (uint i = 1; i < 8; i++)
            lane += x >= s.below[i];
        float own = s.own[lane];
        if (!(own > 0.0f)) /* all are 0, or rounding */
            return K_NONE;
        u = k_min(k_max((x - s.below[lane]) / own, 0.0f), 0x1.fffffep-1f);
        c = c * (own / s.sum);
        uint link = k_wide_link(sc, node, lane);
        if (link & K_LEAF) {
            *chance = c;
            return link & ~K_LEAF;
        }
        node = link;
    }
}

/* k_light_tree_chance */
K_FN float k_light_wide_chance(const struct k_scene *sc, uint place, struct k_vec3 p,
                               struct k_vec3 g)
{
    uint node = sc->launch->light_tree - 1u;
    float c = 1.0f;
    for (;;) {
        struct k_wide_shares s = k_wide_shares(sc, node, p, g);
        K_GLOBAL const uint *first = (K_GLOBAL const uint *)(sc->light_nodes + node) + 8u * 15u;
        uint lane = 0;
        for (uint i = 1; i < 8; i++)
            lane += first[i] <= place;
        if (!(s.own[lane] > 0.0f))
            return 0.0f;
        c = c * (s.own[lane] / s.sum);
        uint link = k_wide_link(sc, node, lane);
        if (link & K_LEAF)
            return c;
        node = link;
    }
}
#else
#define K_HAS_WIDE_LIGHTS 0
#endif

#endif
