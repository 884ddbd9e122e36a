/* SPDX-License-Identifier: Apache-2.0 */
/* Paths by the batch: what lies between two stages of a path stands in memory, and a kernel runs one
 * stage of all paths (the models separate and wavefront, docs/reference/models.md). The stages are
 * those of stages.h, and path.h says what belongs together.
 *
 * A launch's batch has one slot for each sample of each pixel of its tile, behind the film. Its
 * words: counts, three queues of slots, then word w of slot i at w * slots + i, so that
 * neighbouring work-items touch neighbouring words. Without queues an item finds its slot by its
 * number, and a path that has ended keeps its slot idle. With queues (Laine, Karras and Aila 2013)
 * `live` lists the paths under way, `sorted` the same by what they met, and `shadows` the light
 * samples that wait for their ray. */
#ifndef K_BATCH_H
#define K_BATCH_H
#include "path/film.h"
#include "path/path.h"

struct k_batch {
    K_GLOBAL uint *counts, *live, *sorted, *shadows, *words;
    uint slots;       /* that there is room for */
    uint used;        /* by this launch */
    uint item, items; /* of this work-item, and how many there are */
};

/* Counts. Those of odd and even rounds differ: while one round's are read, the next one's are
 * cleared (k_batch_sort). */
#define K_COUNT_LIVE(round)        ((round)&1u)
#define K_COUNT_SHADOWS            2u
#define K_COUNT_OF(round, kind)    (64u + ((round)&1u) * K_BATCH_KINDS + (kind))
#define K_COUNT_PLACE(round, kind) (64u + (2u + ((round)&1u)) * K_BATCH_KINDS + (kind))

/* Words of a slot. */
#define K_PATH_STATE    0u
#define K_PATH_O        1u
#define K_PATH_D        4u
#define K_PATH_BETA     7u
#define K_PATH_L        10u
#define K_PATH_SIDE     13u
#define K_PATH_PDF      16u
#define K_PATH_MEDIA    17u
#define K_PATH_LENGTH   18u
#define K_PATH_RAYTYPE  19u
#define K_PATH_FAILED   20u
#define K_PATH_HIT      21u /* primitive, t, b1, b2, instance */
#define K_PATH_LEG      26u /* o, t */
#define K_PATH_FROM     30u /* of the shadow ray */
#define K_PATH_WI       33u
#define K_PATH_PART     36u
#define K_PATH_DISTANCE 39u
#define K_PATH_SHARE    40u
#define K_PATH_BLOCKED  40u /* until its vertex is shaded: K_NONE, or rays of its occlusion */
#define K_PATH_AT       41u /* its media */

/* Of K_PATH_STATE. */
#define K_STATE_LIVE   1u
#define K_STATE_INSIDE 2u /* a medium: where the flight ended */
#define K_STATE_SHADOW 4u /* a shadow ray waits */

K_FN void k_put(const struct k_batch *b, uint i, uint word, uint x)
{
    b->words[(size_t)word * b->slots + i] = x;
}
K_FN uint k_get(const struct k_batch *b, uint i, uint word)
{
    return b->words[(size_t)word * b->slots + i];
}
K_FN void k_put1(const struct k_batch *b, uint i, uint word, float x)
{
    k_put(b, i, word, K_AS_UINT(x));
}
K_FN float k_get1(const struct k_batch *b, uint i, uint word)
{
    return K_AS_FLOAT(k_get(b, i, word));
}
K_FN void k_put3(const struct k_batch *b, uint i, uint word, struct k_vec3 v)
{
    k_put1(b, i, word, v.x);
    k_put1(b, i, word + 1u, v.y);
    k_put1(b, i, word + 2u, v.z);
}
K_FN struct k_vec3 k_get3(const struct k_batch *b, uint i, uint word)
{
    return v3(k_get1(b, i, word), k_get1(b, i, word + 1u), k_get1(b, i, word + 2u));
}

/* As item `i` of the work-group at (x, y), of groups of width by height, sees it. */
K_FN struct k_batch k_batch_make(const struct k_scene *sc, K_GLOBAL K_LONG *film, uint width,
                                 uint height, uint x, uint y, uint i)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    const uint across = (L->tile_w + width - 1) / width, down = (L->tile_h + height - 1) / height;
    struct k_batch b;
    b.slots = L->batch_slots;
    b.used = L->tile_w * L->tile_h * L->sample_count;
    b.item = (y * across + x) * (width * height) + i;
    b.items = across * down * (width * height);
    b.counts = (K_GLOBAL uint *)(film + 4 * ((size_t)L->width * L->height + L->batch_behind));
    b.live = b.counts + K_BATCH_COUNTS;
    b.sorted = b.live + b.slots;
    b.shadows = b.sorted + b.slots;
    b.words = b.shadows + b.slots;
    return b;
}

/* The sample of slot i. Samples of a pixel are neighbours. */
K_FN struct k_stream k_batch_stream(const struct k_scene *sc, uint i)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    const uint pixel = i / L->sample_count;
    struct k_stream s;
    s.x = L->tile_x + pixel % L->tile_w;
    s.y = K_ROW(L, L->tile_y + pixel / L->tile_w);
    s.sample = L->sample_begin + i % L->sample_count;
    s.seed0 = L->seed[0];
    s.seed1 = L->seed[1];
    return s;
}

/* The ray that goes on, and what the path is there. */
K_FN void k_put_ray(const struct k_batch *b, uint i, const struct k_walk *w)
{
    k_put3(b, i, K_PATH_O, w->o);
    k_put3(b, i, K_PATH_D, w->d);
    k_put3(b, i, K_PATH_BETA, w->beta);
    k_put3(b, i, K_PATH_SIDE, w->side);
    k_put1(b, i, K_PATH_PDF, w->pdf_prev);
    k_put(b, i, K_PATH_MEDIA, w->media);
    k_put1(b, i, K_PATH_LENGTH, w->length);
    k_put(b, i, K_PATH_RAYTYPE, w->raytype);
}
K_FN struct k_walk k_get_walk(const struct k_batch *b, uint i, uint k)
{
    struct k_walk w;
    w.o = k_get3(b, i, K_PATH_O);
    w.d = k_get3(b, i, K_PATH_D);
    w.beta = k_get3(b, i, K_PATH_BETA);
    w.L = k_get3(b, i, K_PATH_L);
    w.side = k_get3(b, i, K_PATH_SIDE);
    w.pdf_prev = k_get1(b, i, K_PATH_PDF);
    w.k = k;
    w.media = k_get(b, i, K_PATH_MEDIA);
    w.length = k_get1(b, i, K_PATH_LENGTH);
    w.raytype = k_get(b, i, K_PATH_RAYTYPE);
    w.failed = 0;
    return w;
}

K_FN void k_put_hit(const struct k_batch *b, uint i, const struct k_hit *hit)
{
    k_put(b, i, K_PATH_HIT, hit->primitive);
    k_put1(b, i, K_PATH_HIT + 1u, hit->t);
    k_put1(b, i, K_PATH_HIT + 2u, hit->b1);
    k_put1(b, i, K_PATH_HIT + 3u, hit->b2);
    k_put(b, i, K_PATH_HIT + 4u, hit->instance);
}
K_FN struct k_hit k_get_hit(const struct k_batch *b, uint i)
{
    struct k_hit hit;
    hit.primitive = k_get(b, i, K_PATH_HIT);
    hit.t = k_get1(b, i, K_PATH_HIT + 1u);
    hit.b1 = k_get1(b, i, K_PATH_HIT + 2u);
    hit.b2 = k_get1(b, i, K_PATH_HIT + 3u);
    hit.instance = k_get(b, i, K_PATH_HIT + 4u);
#ifdef K_CPU
    hit.corners = (K_GLOBAL const float *)0;
#endif
    return hit;
}

/* What paths are sorted by: the shader or kind of material that they met. */
K_FN uint k_batch_kind(const struct k_scene *sc, const struct k_hit *hit, int inside)
{
    if (inside)
        return 1u;
    if (hit->primitive == K_NONE)
        return 0u;
    K_GLOBAL const struct k_material *m = sc->materials + k_hit_material(sc, hit);
    if (K_HAS(SHADERS) && m->shader)
        return 20u + m->shader % (K_BATCH_KINDS - 20u);
    return 2u + m->type % 18u;
}

/* ---- the stages, of all items: each takes every items-th slot, or place of a queue ----------- */

K_FN void k_batch_start(const struct k_scene *sc, const struct k_batch *b)
{
    if (b->item == 0) {
        for (uint i = 0; i < K_BATCH_COUNTS; i++)
            b->counts[i] = 0;
        b->counts[K_COUNT_LIVE(1u)] = b->used;
    }
    for (uint i = b->item; i < b->used; i += b->items) {
        struct k_stream stream = k_batch_stream(sc, i);
        struct k_walk w = k_walk_start(sc, &stream);
        k_put_ray(b, i, &w);
        k_put3(b, i, K_PATH_L, w.L);
        k_put(b, i, K_PATH_FAILED, 0);
        k_put(b, i, K_PATH_STATE, K_STATE_LIVE);
        b->live[i] = i;
    }
}

K_FN void k_batch_fly_one(const struct k_scene *sc, const struct k_batch *b, uint i)
{
    const uint k = sc->launch->round;
    struct k_vec3 o = k_get3(b, i, K_PATH_O), d = k_get3(b, i, K_PATH_D);
    struct k_hit hit;
    int inside = 0;
    if (K_HAS(MEDIA)) {
        const struct k_stream stream = k_batch_stream(sc, i);
        struct k_vec3 beta = k_get3(b, i, K_PATH_BETA);
        uint media = k_get(b, i, K_PATH_MEDIA);
        struct k_leg leg;
        leg.o = o;
        leg.t = 0.0f;
        inside = k_media_fly(sc, &stream, k, o, d, &media, &hit, &leg, &beta);
        k_put3(b, i, K_PATH_BETA, beta);
        k_put(b, i, K_PATH_MEDIA, media);
        k_put3(b, i, K_PATH_LEG, leg.o);
        k_put1(b, i, K_PATH_LEG + 3u, leg.t);
        k_put(b, i, K_PATH_STATE, K_STATE_LIVE | (inside ? K_STATE_INSIDE : 0u));
    } else {
        k_closest(sc, o, d, K_INF, &hit);
    }
    k_put_hit(b, i, &hit);
#if K_MAY_HAVE(RAYS)
    if (K_HAS(RAYS)) {
        const int asked = sc->launch->occlusion_rays && !inside && hit.primitive != K_NONE &&
                          sc->materials[k_hit_material(sc, &hit)].occlusion_rays;
        k_put(b, i, K_PATH_BLOCKED, asked ? 0u : K_NONE);
    }
#endif
    if (sc->launch->queues)
        (void)K_COUNT_UP(b->counts, K_COUNT_OF(k, k_batch_kind(sc, &hit, inside)));
}

K_FN void k_batch_fly(const struct k_scene *sc, const struct k_batch *b)
{
    const int queues = sc->launch->queues != 0u;
    const uint n = queues ? b->counts[K_COUNT_LIVE(sc->launch->round)] : b->used;
    for (uint at = b->item; at < n; at += b->items) {
        uint i = queues ? b->live[at] : at;
        if (queues || k_get(b, i, K_PATH_STATE) & K_STATE_LIVE)
            k_batch_fly_one(sc, b, i);
    }
}

/* By counting: the place of a path is behind all of lower kinds. */
K_FN void k_batch_sort(const struct k_scene *sc, const struct k_batch *b)
{
    const uint k = sc->launch->round, n = b->counts[K_COUNT_LIVE(k)];
    if (b->item == 0) {
        b->counts[K_COUNT_LIVE(k + 1u)] = 0;
        b->counts[K_COUNT_SHADOWS] = 0;
        for (uint kind = 0; kind < K_BATCH_KINDS; kind++) {
            b->counts[K_COUNT_OF(k + 1u, kind)] = 0;
            b->counts[K_COUNT_PLACE(k + 1u, kind)] = 0;
        }
    }
    for (uint at = b->item; at < n; at += b->items) {
        uint i = b->live[at], before = 0;
        const struct k_hit hit = k_get_hit(b, i);
        const int inside = K_HAS(MEDIA) && k_get(b, i, K_PATH_STATE) & K_STATE_INSIDE;
        const uint kind = k_batch_kind(sc, &hit, inside);
        for (uint other = 0; other < kind; other++)
            before += b->counts[K_COUNT_OF(k, other)];
        b->sorted[before + K_COUNT_UP(b->counts, K_COUNT_PLACE(k, kind))] = i;
    }
}

K_FN void k_put_shadow(const struct k_batch *b, uint i, const struct k_shadow_ray *ray)
{
    k_put3(b, i, K_PATH_FROM, ray->from);
    k_put3(b, i, K_PATH_WI, ray->wi);
    k_put3(b, i, K_PATH_PART, ray->part);
    k_put1(b, i, K_PATH_DISTANCE, ray->distance);
    if (K_HAS(MEDIA)) {
        k_put1(b, i, K_PATH_SHARE, ray->share);
        k_put(b, i, K_PATH_AT, ray->media);
    }
}

#if K_MAY_HAVE(RAYS) && K_RUNS_SHADERS
/* Rays that an item traces of one path: GPUs spread them over items, which count what they meet in
 * the path's word; processors make the surface once. The word is the shadow ray's, which is still
 * to come. */
#ifdef K_CPU
#define K_RAYS_APART(L) 1u
#else
#define K_RAYS_APART(L) ((L)->occlusion_rays)
#endif

/* Rays `ray`, ray + apart ... of the occlusion that the shader of the surface met will ask. */
K_FN void k_batch_occlude_path(const struct k_scene *sc, const struct k_batch *b, uint i, uint ray,
                               uint apart)
{
    const struct k_stream stream = k_batch_stream(sc, i);
    struct k_walk w = k_get_walk(b, i, sc->launch->round);
    struct k_interaction x;
    struct k_leg leg;
    x.hit = k_get_hit(b, i);
    x.inside = 0;
    x.wo = v3_neg(w.d);
    K_GLOBAL const struct k_material *m = sc->materials + k_hit_material(sc, &x.hit);
    if (ray >= m->occlusion_rays)
        return;
    if (K_HAS(MEDIA)) {
        leg.o = k_get3(b, i, K_PATH_LEG);
        leg.t = k_get1(b, i, K_PATH_LEG + 3u);
    }
    k_stage_arrive(sc, &w, &leg, &x);
    k_stage_face(sc, &x, (K_GLOBAL struct k_vertex *)0);
    const struct k_vec3 P = v3_add(x.s.P, v3_load(sc->launch->frame_origin)), n = x.s.Ns;
    if (!k_is_direction(n) || !k_finite(v3_dot(P, P)))
        return;
    const struct k_vec3 side = x.s.Ng; /* and n's: these materials have no normal maps */
    const struct k_vec3 o = v3_madd(x.s.P, side, k_offset_length(x.s.P, x.s.extent));
    for (; ray < m->occlusion_rays; ray += apart)
        if (k_occlusion_ray(sc, &stream, w.k, ray, o, side, v3_normalize(n), m->occlusion_distance))
            (void)K_COUNT_UP(b->words, K_PATH_BLOCKED * b->slots + i);
}

/* The rays of all shaders' ambient occlusion, together. */
K_FN void k_batch_occlude(const struct k_scene *sc, const struct k_batch *b)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    const int queues = L->queues != 0u;
    const uint apart = K_HAS(RAYS) ? K_RAYS_APART(L) : 0u;
    const uint n = apart * (queues ? b->counts[K_COUNT_LIVE(L->round)] : b->used);
    for (uint at = b->item; at < n; at += b->items) {
        const uint i = queues ? b->sorted[at / apart] : at / apart;
        const uint state = k_get(b, i, K_PATH_STATE);
        if ((state & (K_STATE_LIVE | K_STATE_INSIDE)) == K_STATE_LIVE &&
            k_get(b, i, K_PATH_HIT) != K_NONE)
            k_batch_occlude_path(sc, b, i, at % apart, apart);
    }
}
#else
K_FN void k_batch_occlude(const struct k_scene *sc, const struct k_batch *b)
{
    (void)sc;
    (void)b;
}
#endif

/* All that a vertex does but its rays. */
K_FN uint k_batch_shade_path(const struct k_scene *sc, const struct k_batch *b, uint i, uint state)
{
    struct k_stream stream = k_batch_stream(sc, i);
    struct k_walk w = k_get_walk(b, i, sc->launch->round);
    struct k_interaction x;
    struct k_scatter scatter;
    struct k_shadow_ray ray;
    struct k_leg leg;
    uint left = 0;
    x.hit = k_get_hit(b, i);
    x.inside = K_HAS(MEDIA) && state & K_STATE_INSIDE;
    x.wo = v3_neg(w.d);
#if K_MAY_HAVE(RAYS)
    x.blocked = k_get(b, i, K_PATH_BLOCKED);
#endif
    ray.ok = 0;
#ifdef K_CPU
    stream.first = 0x80000000u; /* no numbers yet */
#endif
    if (x.hit.primitive == K_NONE && !x.inside) {
        k_stage_environment(sc, &w, (K_GLOBAL struct k_vertex *)0);
    } else {
        if (K_HAS(MEDIA)) {
            leg.o = k_get3(b, i, K_PATH_LEG);
            leg.t = k_get1(b, i, K_PATH_LEG + 3u);
        }
        k_stage_arrive(sc, &w, &leg, &x);
        if (k_walk_meet(sc, &stream, &w, &x, &scatter, (K_GLOBAL struct k_vertex *)0)) {
            k_stage_light(sc, &stream, &w, &x, &scatter, &ray, (K_GLOBAL struct k_vertex *)0);
            left = k_stage_scatter(sc, &stream, &w, &x, &scatter, (K_GLOBAL struct k_vertex *)0)
                       ? K_STATE_LIVE
                       : 0u;
        }
    }
    k_put3(b, i, K_PATH_L, w.L);
    if (K_HAS(SHADERS) && w.failed)
        k_put(b, i, K_PATH_FAILED, w.failed);
    if (left)
        k_put_ray(b, i, &w);
    if (ray.ok)
        k_put_shadow(b, i, &ray);
    return left | (ray.ok ? K_STATE_SHADOW : 0u);
}

K_FN void k_batch_shade(const struct k_scene *sc, const struct k_batch *b)
{
    const uint k = sc->launch->round;
    const int queues = sc->launch->queues != 0u;
    const uint n = queues ? b->counts[K_COUNT_LIVE(k)] : b->used;
    for (uint at = b->item; at < n; at += b->items) {
        uint i = queues ? b->sorted[at] : at, state = k_get(b, i, K_PATH_STATE);
        if (!(state & K_STATE_LIVE))
            continue;
        state = k_batch_shade_path(sc, b, i, state);
        k_put(b, i, K_PATH_STATE, state);
        if (queues && state & K_STATE_LIVE)
            b->live[K_COUNT_UP(b->counts, K_COUNT_LIVE(k + 1u))] = i;
        if (queues && state & K_STATE_SHADOW)
            b->shadows[K_COUNT_UP(b->counts, K_COUNT_SHADOWS)] = i;
    }
}

K_FN void k_batch_shadow(const struct k_scene *sc, const struct k_batch *b)
{
    const int queues = sc->launch->queues != 0u;
    const uint n = queues ? b->counts[K_COUNT_SHADOWS] : b->used;
    for (uint at = b->item; at < n; at += b->items) {
        uint i = queues ? b->shadows[at] : at;
        const uint state = queues ? K_STATE_SHADOW : k_get(b, i, K_PATH_STATE);
        if (!(state & K_STATE_SHADOW))
            continue;
        struct k_shadow_ray ray;
        ray.ok = 1;
        ray.from = k_get3(b, i, K_PATH_FROM);
        ray.wi = k_get3(b, i, K_PATH_WI);
        ray.part = k_get3(b, i, K_PATH_PART);
        ray.distance = k_get1(b, i, K_PATH_DISTANCE);
        if (K_HAS(MEDIA)) {
            ray.share = k_get1(b, i, K_PATH_SHARE);
            ray.media = k_get(b, i, K_PATH_AT);
        }
        struct k_vec3 L = k_get3(b, i, K_PATH_L);
        k_stage_shadow(sc, &L, &ray, (K_GLOBAL struct k_vertex *)0);
        k_put3(b, i, K_PATH_L, L);
        if (!queues)
            k_put(b, i, K_PATH_STATE, state & ~K_STATE_SHADOW);
    }
}

/* What the samples of a pixel add to the film. */
K_FN void k_batch_film(const struct k_scene *sc, const struct k_batch *b, K_GLOBAL K_LONG *film)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    const uint pixels = L->tile_w * L->tile_h;
    for (uint pixel = b->item; pixel < pixels; pixel += b->items) {
        struct k_sums sums = {0, 0, 0, 0};
        uint failed = 0;
        struct k_stream stream = k_batch_stream(sc, pixel * L->sample_count);
        if (FAULT_STALE_FILM(stream.y))
            continue;
        for (uint n = 0; n < L->sample_count; n++) {
            const uint i = pixel * L->sample_count + n;
            stream.sample = L->sample_begin + n;
            const uint why = K_HAS(SHADERS) ? k_get(b, i, K_PATH_FAILED) : 0u;
            failed = why ? why : failed;
            k_sums_add(L, &sums, k_path_result(sc, &stream, k_get3(b, i, K_PATH_L)));
        }
        k_sums_store(L, sums, failed, film + 4 * ((size_t)stream.y * L->width + stream.x));
    }
}

#endif
