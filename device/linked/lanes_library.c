/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of paths abreast but their rays, as bitcode: each function is one loop over slots that
 * LLVM's vectoriser takes over sixteen lanes (backends/llvm/llvm_lanes.c). For that its body has no
 * loop and no call left when all is inlined, and no memory of its own; turns share nothing but what
 * they read. The stages are those of every model (path/stages.h). */
// clang-format off
#define K_LANES
#undef K_PART
#define K_PART 99 /* none: no entries */
#include "path/kernel.c"
#include "path/slots.h"
// clang-format on

#define K_LANE_LOOP                                                                                \
    _Pragma("clang loop vectorize(assume_safety) vectorize_width(16) interleave(disable)")

K_FN struct k_stream k_slots_stream(const struct k_scene *sc, const struct k_slots *s, uint i)
{
    struct k_stream stream;
    stream.x = s->x[i];
    stream.y = s->y[i];
    stream.sample = s->sample[i];
    stream.seed0 = sc->launch->seed[0];
    stream.seed1 = sc->launch->seed[1];
    return stream;
}

void k_slots_start(const struct k_scene *shared, struct k_slots *s, uint count)
{
    const struct k_scene sc = *shared;
    K_LANE_LOOP
    for (uint j = 0; j < count; j++) {
        const uint i = s->begin[j];
        struct k_stream stream = k_slots_stream(&sc, s, i);
        const struct k_walk w = k_walk_start(&sc, &stream);
        k_slots_put(&s->o, i, w.o);
        k_slots_put(&s->d, i, w.d);
        k_slots_put(&s->beta, i, w.beta);
        k_slots_put(&s->L, i, w.L);
        s->pdf_prev[i] = w.pdf_prev;
        s->k[i] = w.k;
        s->live[i] = 1;
    }
}

K_FN struct k_walk k_slots_walk(const struct k_slots *s, uint i)
{
    struct k_walk w;
    w.o = k_slots_get(&s->o, i);
    w.d = k_slots_get(&s->d, i);
    w.beta = k_slots_get(&s->beta, i);
    w.L = k_slots_get(&s->L, i);
    w.side = v3(0.0f, 0.0f, 0.0f);
    w.pdf_prev = s->pdf_prev[i];
    w.k = s->k[i] + 1;
    w.media = 0;
    w.length = 0.0f;
    w.raytype = 0;
    w.failed = 0;
    return w;
}
K_FN struct k_hit k_slots_hit(const struct k_slots *s, uint i)
{
    struct k_hit hit;
    hit.primitive = s->primitive[i];
    hit.t = s->t[i];
    hit.b1 = s->b1[i];
    hit.b2 = s->b2[i];
    hit.instance = K_NONE;
    hit.corners = s->corners[i];
    return hit;
}

K_FN void k_slots_shade_all(const struct k_scene *shared, struct k_slots *s, uint count, int flat)
{
    /* copies: what is one for all turns is loaded before them, where nothing hangs on it */
    const struct k_launch launch = *shared->launch;
    struct k_scene sc = *shared;
    float lamps[K_LAMP_WORDS * K_LIGHTS_ABREAST], cdf[K_LIGHTS_ABREAST];
    _Pragma("clang loop unroll(full)") for (uint i = 0; i < K_LAMP_WORDS * K_LIGHTS_ABREAST; i++)
        lamps[i] = s->lamps[0][i];
    _Pragma("clang loop unroll(full)") for (uint i = 0; i < K_LIGHTS_ABREAST; i++) cdf[i] =
        s->lamps_cdf[i];
    sc.launch = &launch;
    sc.flat = flat;
    sc.lamps = lamps;
    sc.lamps_cdf = cdf;
    K_GLOBAL struct k_vertex *const none = 0;
    K_LANE_LOOP
    for (uint i = 0; i < count; i++) {
        if (!s->live[i])
            continue;
        struct k_stream stream = k_slots_stream(&sc, s, i);
        struct k_walk w = k_slots_walk(s, i);
        struct k_interaction x;
        struct k_scatter scatter;
        struct k_shadow_ray ray;
        struct k_leg leg;
        int left = 0;
        ray.ok = 0;
        ray.from = ray.wi = ray.part = v3(0.0f, 0.0f, 0.0f); /* a turn leaves the next nothing */
        ray.distance = 0.0f;
        x.hit = k_slots_hit(s, i);
        x.inside = 0;
        x.wo = v3_neg(w.d);
        if (x.hit.primitive == K_NONE) {
            k_stage_environment(&sc, &w, none);
        } else {
            k_stage_arrive(&sc, &w, &leg, &x);
            if (k_walk_meet(&sc, &stream, &w, &x, &scatter, none)) {
                k_stage_light(&sc, &stream, &w, &x, &scatter, &ray, none);
                left = k_stage_scatter(&sc, &stream, &w, &x, &scatter, none);
            }
        }
        k_slots_put(&s->L, i, w.L);
        s->live[i] = (uint)left;
        s->shadow[i] = (uint)ray.ok;
        if (left) {
            s->k[i] = w.k;
            s->pdf_prev[i] = w.pdf_prev;
            k_slots_put(&s->o, i, w.o);
            k_slots_put(&s->d, i, w.d);
            k_slots_put(&s->beta, i, w.beta);
        }
        if (ray.ok) {
            k_slots_put(&s->from, i, ray.from);
            k_slots_put(&s->wi, i, ray.wi);
            k_slots_put(&s->part, i, ray.part);
            s->distance[i] = ray.distance;
        }
    }
}

void k_slots_shade(const struct k_scene *sc, struct k_slots *s, uint count)
{
    k_slots_shade_all(sc, s, count, 0);
}
void k_slots_shade_flat(const struct k_scene *sc, struct k_slots *s, uint count)
{
    k_slots_shade_all(sc, s, count, 1);
}
