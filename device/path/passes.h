/* SPDX-License-Identifier: Apache-2.0 */
/* Passes beside the film (protocol section 29): one work-item a pixel of a run of pixels. */
#ifndef K_PASSES_H
#define K_PASSES_H
#include "path/film.h"
#include "path/path.h"

/* v 2^e as an integer, scale = 2^e. */
K_FN K_LONG k_pass_units(float v, float scale)
{
    float y = v * scale;
    if (!(y == y))
        return 0;
    y = K_RINT(k_min(k_max(y, -0x1p46f), 0x1p46f));
    float high = K_FLOOR(y * 0x1p-24f);
    return (K_LONG)(int)high * 16777216 + (int)(y - high * 0x1p24f);
}

struct k_passes {
    K_LONG sums[K_PASS_SUMS];
};

K_FN void k_pass_add3(struct k_passes *p, uint at, struct k_vec3 v, float scale)
{
    p->sums[at] += k_pass_units(v.x, scale);
    p->sums[at + 1] += k_pass_units(v.y, scale);
    p->sums[at + 2] += k_pass_units(v.z, scale);
}

K_FN void k_pass_square(struct k_passes *p, uint at, K_LONG y)
{
    K_LONG high = y >> 23, low = y & 0x7FFFFF;
    p->sums[at] += high * high;
    p->sums[at + 1] += high * low;
    p->sums[at + 2] += low * low;
}

/* Ambient occlusion there: 1 where the sample's ray is free. */
K_FN float k_pass_open(const struct k_scene *sc, const struct k_stream *stream,
                       K_GLOBAL const struct k_vertex *v)
{
    const struct k_vec3 Ng = v3_load(v->Ng), P = v3_load(v->P);
    const struct k_vec3 o = v3_madd(P, Ng, k_offset_length(P, v->extent));
    return k_occlusion_ray(sc, stream, 1u, 0u, o, Ng, v3_load(v->normal), sc->launch->ao_distance)
               ? 0.0f
               : 1.0f;
}

/* The first vertex of a sample. */
K_FN void k_pass_vertex(const struct k_scene *sc, const struct k_stream *stream,
                        K_GLOBAL const struct k_vertex *v, struct k_passes *p)
{
    float position = sc->launch->pass_scale;
    if (v->material == K_NONE)
        return;
    k_pass_add3(p, K_PASS_ALBEDO, v3_load(v->albedo), 0x1p30f);
    k_pass_add3(p, K_PASS_POSITION, v3_add(v3_load(v->P), v3_load(sc->launch->frame_origin)),
                position);
    p->sums[K_PASS_DEPTH] += k_pass_units(v->t, position);
    if (v->primitive == K_NONE) /* in a medium */
        return;
    struct k_vec3 n = v3_load(v->normal), U = v3_load(v->dPdu), V = v3_load(v->dPdv);
    struct k_vec3 t = v3_madd(U, n, -v3_dot(U, n)), b;
    if (v3_dot(t, t) > 0.0f) {
        t = v3_normalize(t);
        b = v3_cross(n, t);
        b = v3_flip(b, v3_dot(b, V) < 0.0f ? 0x80000000u : 0u);
    } else {
        struct k_frame f = k_frame_about(n);
        t = f.s;
        b = f.t;
    }
    k_pass_add3(p, K_PASS_NORMAL, n, 0x1p30f);
    k_pass_add3(p, K_PASS_TANGENT, t, 0x1p30f);
    k_pass_add3(p, K_PASS_BITANGENT, b, 0x1p30f);
    p->sums[K_PASS_UV] += k_pass_units(v->uv[0], 0x1p24f);
    p->sums[K_PASS_UV + 1] += k_pass_units(v->uv[1], 0x1p24f);
    if (sc->launch->ao_distance > 0.0f)
        p->sums[K_PASS_AO] += k_pass_units(k_pass_open(sc, stream, v), 0x1p30f);
}

K_FN void k_pass_radiance(const struct k_scene *sc, struct k_vec3 L, struct k_vec3 direct,
                          struct k_passes *p)
{
    K_GLOBAL const struct k_launch *launch = sc->launch;
    if (!k_finite(L.x) || !k_finite(L.y) || !k_finite(L.z))
        return;
    int flag = 0;
    const float parts[6] = {L.x, L.y, L.z, direct.x, direct.y, direct.z};
    for (uint i = 0; i < 6u; i++) {
        K_LONG y = k_film_value(launch, parts[i], &flag);
        p->sums[K_PASS_BEAUTY + i] += y;
        if (i < 3u)
            k_pass_square(p, K_PASS_SQUARES + 3u * i, y);
    }
}

/* One sample; records: two vertices. */
K_FN void k_pass_sample(const struct k_scene *sc, struct k_stream *stream,
                        K_GLOBAL struct k_vertex *records, struct k_passes *p)
{
    struct k_walk w = k_walk_start(sc, stream);
    struct k_vec3 direct = v3(0.0f, 0.0f, 0.0f);
    int more = 1;
    while (more) {
        const uint k = w.k;
        more = k_walk_step(sc, stream, &w, k < 2u ? records + k : (K_GLOBAL struct k_vertex *)0);
        if (k == 0u) {
            direct = w.L;
            k_pass_vertex(sc, stream, records, p);
            if (sc->launch->pass_paths == 0u)
                return;
        }
        if (k == 1u)
            direct = v3_add(direct, v3_load(records[1].emitted));
    }
    float factor = k_clamp_factor(sc, w.L);
    k_pass_radiance(sc, k_path_result(sc, stream, w.L), v3_scale(direct, factor), p);
}

/* Pixel `item` of the tile, row by row. out: K_PASS_WORDS words a pixel, then two records each. */
K_FN void k_passes_item(const struct k_scene *sc, K_GLOBAL uint *out, uint item)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    K_GLOBAL uint *to = out + (size_t)K_PASS_WORDS * item;
    K_GLOBAL struct k_vertex *records =
        (K_GLOBAL struct k_vertex *)(out + (size_t)K_PASS_WORDS * L->rows) + 2 * (size_t)item;
    struct k_stream stream;
    struct k_passes p;
    for (uint i = 0; i < K_PASS_SUMS; i++)
        p.sums[i] = 0;
    stream.x = L->tile_x + item % L->tile_w;
    stream.y = L->tile_y + item / L->tile_w;
    stream.seed0 = L->seed[0];
    stream.seed1 = L->seed[1];
    for (uint i = K_FIRST_SAMPLE(L, item); i < L->sample_count; i++) {
        stream.sample = L->sample_begin + i;
        k_pass_sample(sc, &stream, records, &p);
        if (i == 0u)
            to[K_PASS_MATERIAL] = records[0].material;
    }
    for (uint i = 0; i < K_PASS_SUMS; i++) {
        to[2u * i] = (uint)p.sums[i];
        to[2u * i + 1u] = (uint)(p.sums[i] >> 32);
    }
}

#endif
