/* SPDX-License-Identifier: Apache-2.0 */
/* Texture lookup (protocol section 7.2). */
#ifndef K_TEXTURE_H
#define K_TEXTURE_H
#include "faults.h"
#include "scene/scene.h"

/* A texel coordinate that is not finite, or lies beyond 2^20, counts as 0. */
K_FN float k_texel_coordinate(float x) { return k_finite(x) && K_ABS(x) <= 1048576.0f ? x : 0.0f; }

/* mode: 0 repeat, 1 mirror, 2 clamp; n >= 1. */
K_FN int k_wrap(int i, int n, uint mode)
{
    if (mode == 2)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    int period = mode == 1 ? 2 * n : n;
    int m = i % period;
    if (m < 0)
        m += period;
    return m >= n ? 2 * n - 1 - m : m;
}

/* Exact; with no number that is subnormal in float32, which some devices flush. */
K_FN float k_half_value(uint h)
{
    uint normal = ((h & 0x7FFFu) << 13) + 0x38000000u;
    uint small = K_AS_UINT((float)(h & 0x3FFu) * 5.9604644775390625e-8f); /* 2^-24 */
    return K_AS_FLOAT(((h & 0x7C00u) ? normal : small) | (h & 0x8000u) << 16);
}

/* Value `at` of a texture of 16 bits a channel. */
K_FN float k_value16(const struct k_scene *sc, K_GLOBAL const struct k_texture *tx, uint decode,
                     size_t at)
{
    uint v = sc->texels[(size_t)tx->first + at / 2] >> 16u * (uint)(at & 1) & 0xFFFFu;
    uint values = tx->kind & ~7u;
    if (values == K_TEXEL_HALF)
        return k_half_value(v);
    return values == K_TEXEL_SRGB16 && decode ? K_AS_FLOAT(sc->texels[K_TABLE_WORDS + v])
                                              : (float)v / 65535.0f;
}

K_FN struct k_vec3 k_texel16(const struct k_scene *sc, K_GLOBAL const struct k_texture *tx,
                             size_t index)
{
    uint channels = tx->kind & 7u, next = channels > 1 ? 1u : 0u;
    size_t at = channels * index;
    return v3(k_value16(sc, tx, FAULT_SRGB_NOT_DECODED(1u), at),
              k_value16(sc, tx, FAULT_SRGB_NOT_DECODED(1u), at + next),
              k_value16(sc, tx, FAULT_SRGB_NOT_DECODED(1u), at + 2 * next));
}

K_FN struct k_vec3 k_texel(const struct k_scene *sc, K_GLOBAL const struct k_texture *tx, int i,
                           int j)
{
    size_t at = (size_t)tx->first;
    size_t index = (size_t)j * tx->width + (size_t)i;
    uint kind = tx->kind;
#ifdef K_COUNT_RAYS
    k_tally_tile(sc->tally + sc->launch->tally_texels, tx->first, tx->width, (uint)i, (uint)j);
#endif
    if (K_HAS(TEXELS16) && kind > K_TEXEL_FLOAT4)
        return k_texel16(sc, tx, index);
    if (kind >= K_TEXEL_FLOAT3) {
        K_GLOBAL const uint *p = sc->texels + at + (size_t)kind * index;
        return v3(K_AS_FLOAT(p[0]), K_AS_FLOAT(p[1]), K_AS_FLOAT(p[2]));
    }
    uint w = sc->texels[at + index];
    if (kind == K_TEXEL_FLOAT1)
        return v3(K_AS_FLOAT(w), K_AS_FLOAT(w), K_AS_FLOAT(w));
    K_GLOBAL const uint *table =
        sc->texels + (kind == K_TEXEL_SRGB8 ? FAULT_SRGB_NOT_DECODED(256u) : 0u);
    return v3(K_AS_FLOAT(table[w & 0xFFu]), K_AS_FLOAT(table[(w >> 8) & 0xFFu]),
              K_AS_FLOAT(table[(w >> 16) & 0xFFu]));
}

/* a + (b - a) f */
K_FN struct k_vec3 k_lerp3(struct k_vec3 a, struct k_vec3 b, float f)
{
    return v3_madd(a, v3_sub(b, a), f);
}

/* 1 where the image has none. */
K_FN float k_texel_alpha(const struct k_scene *sc, K_GLOBAL const struct k_texture *tx, int i,
                         int j)
{
    size_t index = (size_t)j * tx->width + (size_t)i;
#ifdef K_COUNT_RAYS
    k_tally_tile(sc->tally + sc->launch->tally_texels, tx->first, tx->width, (uint)i, (uint)j);
#endif
    if (K_HAS(TEXELS16) && tx->kind > K_TEXEL_FLOAT4)
        return (tx->kind & 7u) == 4 ? k_value16(sc, tx, 0u, 4 * index + 3) : 1.0f;
    if (tx->kind == K_TEXEL_FLOAT4)
        return K_AS_FLOAT(sc->texels[(size_t)tx->first + 4 * index + 3]);
    if (tx->kind > K_TEXEL_SRGB8)
        return 1.0f;
    return K_AS_FLOAT(sc->texels[sc->texels[(size_t)tx->first + index] >> 24]);
}

#ifdef K_COUNT_RAYS
#define K_LOOKUP(sc)   k_tally_up((sc)->tally, K_TALLY_LOOKUPS)
#define K_LOOKUP_APART 0 /* which has no counts */
#else
#define K_LOOKUP(sc)   ((void)0)
#define K_LOOKUP_APART (K_HAS(LOBES) || K_HAS(SHADERS)) /* which look many inputs up */
#endif

/* The texels about a place and the fractions between them; nearest: all four are one, f is 0. */
struct k_texels {
    int i0, i1, j0, j1;
    float fx, fy;
};

K_FN struct k_texels k_texture_place(K_GLOBAL const struct k_texture *tx, float u, float v)
{
    int w = (int)tx->width, h = (int)tx->height;
    struct k_texels p;
    u = tx->scale[0] * u;
    v = tx->scale[1] * v;
    if (tx->turn[0] != 0.0f || tx->turn[1] != 0.0f) {
        float across = tx->turn[0] * u - tx->turn[1] * v;
        v = tx->turn[1] * u + tx->turn[0] * v;
        u = across;
    }
    u = u + tx->offset[0];
    v = v + tx->offset[1];
    float x = FAULT_SWAPPED_UV(u, v) * (float)w;
    float y = (1.0f - FAULT_SWAPPED_UV(v, u)) * (float)h;
    x = k_texel_coordinate(x);
    y = k_texel_coordinate(y);
    if (tx->nearest) {
        p.i0 = p.i1 = k_wrap((int)K_FLOOR(x), w, tx->wrap_u);
        p.j0 = p.j1 = k_wrap((int)K_FLOOR(y), h, tx->wrap_v);
        p.fx = p.fy = 0.0f;
        return p;
    }
    x = x - 0.5f;
    y = y - 0.5f;
    float x0 = K_FLOOR(x), y0 = K_FLOOR(y);
    p.fx = x - x0;
    p.fy = y - y0;
    p.i0 = k_wrap((int)x0, w, tx->wrap_u);
    p.i1 = k_wrap((int)x0 + 1, w, tx->wrap_u);
    p.j0 = k_wrap((int)y0, h, tx->wrap_v);
    p.j1 = k_wrap((int)y0 + 1, h, tx->wrap_v);
    return p;
}

K_FN struct k_vec3 k_texture_lookup(const struct k_scene *sc, uint texture, float u, float v)
{
    K_GLOBAL const struct k_texture *tx = sc->textures + texture;
    K_LOOKUP(sc);
    struct k_texels p = k_texture_place(tx, u, v);
    if (tx->nearest)
        return k_texel(sc, tx, p.i0, p.j0);
    struct k_vec3 top = k_lerp3(k_texel(sc, tx, p.i0, p.j0), k_texel(sc, tx, p.i1, p.j0), p.fx);
    struct k_vec3 bottom = k_lerp3(k_texel(sc, tx, p.i0, p.j1), k_texel(sc, tx, p.i1, p.j1), p.fx);
    return k_lerp3(top, bottom, p.fy);
}

K_FN float k_texture_alpha(const struct k_scene *sc, uint texture, float u, float v)
{
    K_GLOBAL const struct k_texture *tx = sc->textures + texture;
    K_LOOKUP(sc);
    struct k_texels p = k_texture_place(tx, u, v);
    float a = k_texel_alpha(sc, tx, p.i0, p.j0), b = k_texel_alpha(sc, tx, p.i1, p.j0);
    if (tx->nearest)
        return a;
    float c = k_texel_alpha(sc, tx, p.i0, p.j1), d = k_texel_alpha(sc, tx, p.i1, p.j1);
    float top = a + (b - a) * p.fx, bottom = c + (d - c) * p.fx;
    return top + (bottom - top) * p.fy;
}

/* Once in the program: lists of lobes have a dozen inputs, and copies of the lookup for each would
 * be most of the code. */
K_CALL struct k_vec3 k_texture_lookup_apart(K_GLOBAL const struct k_texture *textures,
                                            K_GLOBAL const uint *texels, uint texture, float u,
                                            float v)
{
    struct k_scene sc;
    sc.textures = textures;
    sc.texels = texels;
    return k_texture_lookup(&sc, texture, u, v);
}
K_FN struct k_vec3 k_color_lookup(const struct k_scene *sc, uint texture, float u, float v)
{
    if (K_LOOKUP_APART)
        return k_texture_lookup_apart(sc->textures, sc->texels, texture, u, v);
    return k_texture_lookup(sc, texture, u, v);
}
K_FN float k_texture_channel(const struct k_scene *sc, uint texture, uint channel, float u, float v)
{
    if (channel == 3)
        return k_texture_alpha(sc, texture, u, v);
    struct k_vec3 c = k_color_lookup(sc, texture, u, v);
    return channel == 0 ? c.x : channel == 1 ? c.y : c.z;
}
K_CALL float k_texture_channel_apart(K_GLOBAL const struct k_texture *textures,
                                     K_GLOBAL const uint *texels, uint texture, uint channel,
                                     float u, float v)
{
    struct k_scene sc;
    sc.textures = textures;
    sc.texels = texels;
    return k_texture_channel(&sc, texture, channel, u, v);
}

K_FN float k_scalar_input(const struct k_scene *sc, K_GLOBAL const struct k_scalar *s, float u,
                          float v)
{
    if (!K_HAS(TEXTURES) || s->texture < 0)
        return s->value;
    if (K_LOOKUP_APART)
        return s->value * k_texture_channel_apart(sc->textures, sc->texels, (uint)s->texture,
                                                  s->channel, u, v);
    return s->value * k_texture_channel(sc, (uint)s->texture, s->channel, u, v);
}

#endif
