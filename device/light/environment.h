/* SPDX-License-Identifier: Apache-2.0 */
/* The environment light (protocol section 5.1). */
#ifndef K_ENVIRONMENT_H
#define K_ENVIRONMENT_H
#include "math/random.h"
#include "scene/texture.h"

/* Least i in [0, n) with c[i] > u, where c does not fall and c[n-1] = 1. */
K_FN uint k_search(K_GLOBAL const float *c, uint n, float u)
{
    uint at = 0;
    while (n > 1) { /* as many steps whatever u is */
        uint half_n = n >> 1;
        at += c[at + half_n - 1] > u ? 0u : half_n;
        n -= half_n;
    }
    return at;
}

K_FN struct k_vec3 k_env_texel(const struct k_scene *sc, int i, int j)
{
    return v3_load(sc->env_texels + 3 * ((size_t)j * sc->launch->env_width + (size_t)i));
}

/* Radiance at map coordinates: bilinear, repeating in u, clamped in v. */
K_FN struct k_vec3 k_env_lookup(const struct k_scene *sc, float u, float v)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    int w = (int)L->env_width, h = (int)L->env_height;
    float x = u * (float)w - 0.5f, y = v * (float)h - 0.5f;
    float x0 = K_FLOOR(x), y0 = K_FLOOR(y);
    float fx = x - x0, fy = y - y0;
    int i0 = k_wrap((int)x0, w, 0), i1 = k_wrap((int)x0 + 1, w, 0);
    int j0 = k_wrap((int)y0, h, 2), j1 = k_wrap((int)y0 + 1, h, 2);
    struct k_vec3 top = k_lerp3(k_env_texel(sc, i0, j0), k_env_texel(sc, i1, j0), fx);
    struct k_vec3 bottom = k_lerp3(k_env_texel(sc, i0, j1), k_env_texel(sc, i1, j1), fx);
    return v3_mul(k_lerp3(top, bottom, fy),
                  v3(L->env_radiance[0], L->env_radiance[1], L->env_radiance[2]));
}

/* Density of the texel that holds map coordinates (u, v), per sr, choice included. */
K_FN float k_env_density(const struct k_scene *sc, uint i, uint j, float v)
{
    float s, c;
    k_sincos(K_PI * v, &s, &c);
    if (!(s > 0.0f))
        return 0.0f;
    return (sc->env_density[(size_t)j * sc->launch->env_width + i] / s) * sc->launch->p_env;
}

/* Radiance that arrives along d from infinity, and the density with which light sampling finds d.
 */
K_FN struct k_vec3 k_env_eval(const struct k_scene *sc, struct k_vec3 d, float *pdf_w)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    *pdf_w = 0.0f;
    if (L->env_type == 0)
        return v3(0.0f, 0.0f, 0.0f);
    if (!K_HAS(ENV_MAPS) || L->env_type == 1) {
        *pdf_w = (0.25f * K_INV_PI) * L->p_env;
        return v3(L->env_radiance[0], L->env_radiance[1], L->env_radiance[2]);
    }
    K_GLOBAL const float *m = L->env_to_local;
    struct k_vec3 l =
        v3(v3_dot(v3_load(m), d), v3_dot(v3_load(m + 3), d), v3_dot(v3_load(m + 6), d));
    float u = k_atan2(FAULT_ROTATED_ENVIRONMENT(l.x), -l.z) * K_INV_2PI;
    if (u < 0.0f)
        u = u + 1.0f;
    float v = k_acos(k_min(k_max(l.y, -1.0f), 1.0f)) * K_INV_PI;
    int w = (int)L->env_width, h = (int)L->env_height;
    int i = (int)K_FLOOR(u * (float)w), j = (int)K_FLOOR(v * (float)h);
    i = i > w - 1 ? w - 1 : i;
    j = j > h - 1 ? h - 1 : j;
    *pdf_w = k_env_density(sc, (uint)i, (uint)j, v);
    return k_env_lookup(sc, u, v);
}

/* Direction sampled by (u, v), its radiance and density (0: no sample). */
K_FN struct k_vec3 k_env_sample(const struct k_scene *sc, float u, float v, struct k_vec3 *wi,
                                float *pdf_w)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    if (!K_HAS(ENV_MAPS) || L->env_type == 1) {
        *wi = k_sample_sphere(u, v);
        *pdf_w = (0.25f * K_INV_PI) * L->p_env;
        return v3(L->env_radiance[0], L->env_radiance[1], L->env_radiance[2]);
    }
    uint w = L->env_width, h = L->env_height;
    uint j = k_search(sc->env_rows, h, u);
    float g0 = j ? sc->env_rows[j - 1] : 0.0f;
    float du = k_min((u - g0) / (sc->env_rows[j] - g0), 1.0f);
    K_GLOBAL const float *row = sc->env_columns + (size_t)j * w;
    uint i = k_search(row, w, v);
    float f0 = i ? row[i - 1] : 0.0f;
    float dv = k_min((v - f0) / (row[i] - f0), 1.0f);
    float mu = ((float)i + dv) / (float)w, mv = ((float)j + du) / (float)h;
    float st, ct, sp, cp;
    k_sincos(K_PI * mv, &st, &ct);
    k_sincos(K_TWO_PI * mu, &sp, &cp);
    struct k_vec3 l = v3(st * sp, ct, -(st * cp));
    K_GLOBAL const float *m = L->env_to_local;
    struct k_vec3 d =
        v3_madd(v3_madd(v3_scale(v3_load(m), l.x), v3_load(m + 3), l.y), v3_load(m + 6), l.z);
    *wi = d;
    *pdf_w = k_env_density(sc, i, j, mv);
    return k_env_lookup(sc, mu, mv);
}

#endif
