/* Texture lookup (protocol section 7.2). */
#ifndef K_TEXTURE_H
#define K_TEXTURE_H
#include "faults.h"
#include "scene.h"

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

K_FN struct k_vec3 k_texel(const struct k_scene *sc, K_GLOBAL const struct k_texture *tx, int i,
                           int j)
{
    size_t at = (size_t)tx->first;
    size_t index = (size_t)j * tx->width + (size_t)i;
    uint kind = tx->kind;
    if (kind == K_TEXEL_FLOAT3) {
        K_GLOBAL const uint *p = sc->texels + at + 3 * index;
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

K_FN struct k_vec3 k_texture_lookup(const struct k_scene *sc, uint texture, float u, float v)
{
    K_GLOBAL const struct k_texture *tx = sc->textures + texture;
    int w = (int)tx->width, h = (int)tx->height;
    u = tx->scale[0] * u + tx->offset[0];
    v = tx->scale[1] * v + tx->offset[1];
    float x = FAULT_SWAPPED_UV(u, v) * (float)w;
    float y = (1.0f - FAULT_SWAPPED_UV(v, u)) * (float)h;
    x = k_texel_coordinate(x);
    y = k_texel_coordinate(y);
    if (tx->nearest)
        return k_texel(sc, tx, k_wrap((int)K_FLOOR(x), w, tx->wrap_u),
                       k_wrap((int)K_FLOOR(y), h, tx->wrap_v));
    x = x - 0.5f;
    y = y - 0.5f;
    float x0 = K_FLOOR(x), y0 = K_FLOOR(y);
    float fx = x - x0, fy = y - y0;
    int i0 = k_wrap((int)x0, w, tx->wrap_u), i1 = k_wrap((int)x0 + 1, w, tx->wrap_u);
    int j0 = k_wrap((int)y0, h, tx->wrap_v), j1 = k_wrap((int)y0 + 1, h, tx->wrap_v);
    struct k_vec3 top = k_lerp3(k_texel(sc, tx, i0, j0), k_texel(sc, tx, i1, j0), fx);
    struct k_vec3 bottom = k_lerp3(k_texel(sc, tx, i0, j1), k_texel(sc, tx, i1, j1), fx);
    return k_lerp3(top, bottom, fy);
}

#endif
