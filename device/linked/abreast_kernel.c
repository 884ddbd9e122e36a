/* SPDX-License-Identifier: Apache-2.0 */
/* The film's kernel with paths abreast, as bitcode for processors: a thread carries a batch of
 * paths from vertex to vertex. Rays are traced here; all else is lanes_library.c's. */
// clang-format off
#define K_ABREAST
#include "path/kernel.c"
#include "path/slots.h"
#include "trace/few_exact.h"
#include "trace/flights.h"
// clang-format on

/* From so many triangles on rays wait for the tree, or for branches that were guessed wrong. */
#define K_FLIGHTS_FROM 4096u

/* Are rays better in flight together than one by one? */
K_FN int k_flies(const struct k_scene *sc)
{
    return sc->launch->bvh == 8 && sc->launch->triangle_count >= K_FLIGHTS_FROM;
}

K_FN void k_slots_met(struct k_slots *s, uint i, struct k_hit hit)
{
    s->primitive[i] = hit.primitive;
    s->t[i] = hit.t;
    s->b1[i] = hit.b1;
    s->b2[i] = hit.b2;
    s->corners[i] = hit.corners;
}

K_FN void k_slots_closest_one(const struct k_scene *sc, struct k_slots *s, uint i)
{
    struct k_hit hit;
    k_closest(sc, k_slots_get(&s->o, i), k_slots_get(&s->d, i), K_INF, &hit);
    k_slots_met(s, i, hit);
}
/* What a light sample whose ray arrived adds. */
K_FN void k_slots_lit(struct k_slots *s, uint i)
{
    k_slots_put(&s->L, i, v3_add(k_slots_get(&s->L, i), k_slots_get(&s->part, i)));
}
K_FN void k_slots_shadow_one(const struct k_scene *sc, struct k_slots *s, uint i)
{
    struct k_shadow_ray ray;
    ray.ok = 1;
    ray.from = k_slots_get(&s->from, i);
    ray.wi = k_slots_get(&s->wi, i);
    ray.part = k_slots_get(&s->part, i);
    ray.distance = s->distance[i];
    struct k_vec3 L = k_slots_get(&s->L, i);
    k_stage_shadow(sc, &L, &ray, (K_GLOBAL struct k_vertex *)0);
    k_slots_put(&s->L, i, L);
}

K_NOINLINE void k_slots_closest(const struct k_scene *sc, struct k_slots *s, uint count)
{
    if (k_flies(sc)) {
        const struct k_rays rays = {s->o.x, s->o.y, s->o.z,  s->d.x, s->d.y,
                                    s->d.z, 0,      s->live, count};
        const struct k_answers a = {s->primitive, s->t, s->b1, s->b2, s->corners};
        k_fly(sc, &rays, &a, 0);
        return;
    }
    for (uint i = 0; i < count; i++)
        if (s->live[i])
            k_slots_closest_one(sc, s, i);
}

/* Shadow rays that wait, next to each other. */
struct k_waiting_rays {
    float ox[K_SLOTS_ROOM], oy[K_SLOTS_ROOM], oz[K_SLOTS_ROOM];
    float dx[K_SLOTS_ROOM], dy[K_SLOTS_ROOM], dz[K_SLOTS_ROOM];
    float t_max[K_SLOTS_ROOM];
    float slot[K_SLOTS_ROOM]; /* bits of an integer */
    uint lit[K_SLOTS];        /* of slots, all bits: the ray arrives */
} __attribute__((aligned(64)));
K_FN uint k_slots_waiting(const struct k_slots *s, uint count, struct k_waiting_rays *w)
{
    k_mask16 slot = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    uint n = 0;
    for (uint i = 0; i < count; i += K_SLOT_LANES) {
        const uint bits = i16_bits(*(const k_mask16 *)(s->shadow + i) != 0);
        f16_put(w->ox + n, f16_pack(f16_load(s->from.x + i), bits));
        f16_put(w->oy + n, f16_pack(f16_load(s->from.y + i), bits));
        f16_put(w->oz + n, f16_pack(f16_load(s->from.z + i), bits));
        f16_put(w->dx + n, f16_pack(f16_load(s->wi.x + i), bits));
        f16_put(w->dy + n, f16_pack(f16_load(s->wi.y + i), bits));
        f16_put(w->dz + n, f16_pack(f16_load(s->wi.z + i), bits));
        f16_put(w->t_max + n, f16_pack(f16_load(s->distance + i) * 0.9999f, bits));
        f16_put(w->slot + n, f16_pack((k_f16)slot, bits));
        *(k_mask16 *)(w->lit + i) = i16_splat(0);
        slot = slot + (int)K_SLOT_LANES;
        n += (uint)__builtin_popcount(bits);
    }
    /* lanes left over: no rays */
    for (uint i = n; i % K_SLOT_LANES; i++) {
        w->ox[i] = w->oy[i] = w->oz[i] = w->dx[i] = w->dy[i] = w->dz[i] = w->t_max[i] = 0.0f;
        w->slot[i] = 0.0f;
    }
    return n;
}
K_FN uint k_waiting_slot(const struct k_waiting_rays *w, uint i) { return K_AS_UINT(w->slot[i]); }
/* The rays from the i-th on arrive, or not. */
K_FN void k_waiting_lit(struct k_waiting_rays *w, uint i, uint n, k_mask16 lit)
{
    for (uint j = 0; j < K_SLOT_LANES && i + j < n; j++)
        w->lit[k_waiting_slot(w, i + j)] = (uint)lit[j];
}
K_FN void k_slots_add_lit(struct k_slots *s, uint count, const struct k_waiting_rays *w)
{
    for (uint i = 0; i < count; i += K_SLOT_LANES) {
        const k_mask16 lit = *(const k_mask16 *)(w->lit + i);
        float *const L[3] = {s->L.x + i, s->L.y + i, s->L.z + i};
        const float *const part[3] = {s->part.x + i, s->part.y + i, s->part.z + i};
        for (uint c = 0; c < 3; c++) {
            const k_f16 before = f16_load(L[c]);
            *(k_f16 *)L[c] = f16_select(lit, before + f16_load(part[c]), before);
        }
    }
}

#if K_FAST
typedef struct k_few k_few_all;

K_NOINLINE void k_slots_closest_few(const struct k_scene *sc, const struct k_few *f,
                                    struct k_slots *s, uint count)
{
    (void)sc;
    for (uint i = 0; i < count; i += K_SLOT_LANES) {
        struct k_rays16 r = {
            f16_load(s->o.x + i), f16_load(s->o.y + i), f16_load(s->o.z + i),
            f16_load(s->d.x + i), f16_load(s->d.y + i), f16_load(s->d.z + i),
        };
        r.t = f16_splat(K_INF);
        k_few_meet(f, 0, &r);
        const struct k_hits16 h = k_few_hits(f, &r);
        *(k_f16 *)(s->t + i) = h.t;
        const float *weights = (const float *)h.weights;
        const int *which = (const int *)&h.half;
        for (uint j = 0; j < K_SLOT_LANES; j++) {
            const struct k_few_half *half = &f->half[which[j]];
            s->primitive[i + j] = half->id;
            s->corners[i + j] = half->corners;
            s->b1[i + j] = weights[K_SLOT_LANES * half->corner1 + j];
            s->b2[i + j] = weights[K_SLOT_LANES * half->corner2 + j];
        }
    }
}

K_NOINLINE void k_slots_shadow_few(const struct k_scene *sc, const struct k_few *f,
                                   struct k_slots *s, uint count)
{
    struct k_waiting_rays w;
    const uint n = k_slots_waiting(s, count, &w);
    (void)sc;
    for (uint i = 0; i < n; i += K_SLOT_LANES) {
        struct k_rays16 r = {
            f16_load(w.ox + i), f16_load(w.oy + i), f16_load(w.oz + i),
            f16_load(w.dx + i), f16_load(w.dy + i), f16_load(w.dz + i),
        };
        r.t = f16_load(w.t_max + i);
        k_few_meet(f, 1, &r);
        k_waiting_lit(&w, i, n, r.which == 0);
    }
    k_slots_add_lit(s, count, &w);
}
#else
typedef struct k_exact k_few_all;

K_NOINLINE void k_slots_closest_few(const struct k_scene *sc, const struct k_exact *f,
                                    struct k_slots *s, uint count)
{
    struct k_exact_starts starts;
    for (uint i = 0; i < count; i += K_SLOT_LANES) {
        const struct k_exact_rays r = {
            f16_load(s->o.x + i), f16_load(s->o.y + i), f16_load(s->o.z + i),
            f16_load(s->d.x + i), f16_load(s->d.y + i), f16_load(s->d.z + i),
        };
        const struct k_exact_found h = k_exact_closest(f, r, &starts);
        *(k_f16 *)(s->t + i) = h.t;
        *(k_f16 *)(s->b1 + i) = h.b1;
        *(k_f16 *)(s->b2 + i) = h.b2;
        *(k_mask16 *)(s->primitive + i) = h.id;
        const k_mask16 triangle = h.triangle & (int)(K_FEW - 1u);
        for (uint j = 0; j < K_SLOT_LANES; j++)
            s->corners[i + j] = f->corners[((const uint *)&triangle)[j]];
        uint ask = i16_bits((*(const k_mask16 *)(s->live + i) != 0) & ~h.sure);
        for (; ask; ask &= ask - 1u)
            k_slots_closest_one(sc, s, i + k_lowest_lane(ask));
    }
}

K_NOINLINE void k_slots_shadow_few(const struct k_scene *sc, const struct k_exact *f,
                                   struct k_slots *s, uint count)
{
    struct k_waiting_rays w;
    struct k_exact_starts starts;
    const uint n = k_slots_waiting(s, count, &w);
    for (uint i = 0; i < n; i += K_SLOT_LANES) {
        const struct k_exact_rays r = {
            f16_load(w.ox + i), f16_load(w.oy + i), f16_load(w.oz + i),
            f16_load(w.dx + i), f16_load(w.dy + i), f16_load(w.dz + i),
        };
        const struct k_exact_lit l = k_exact_shadow(f, r, f16_load(w.t_max + i), &starts);
        k_waiting_lit(&w, i, n, l.lit & l.sure);
        uint ask = i16_bits(~l.sure);
        for (; ask; ask &= ask - 1u)
            if (i + k_lowest_lane(ask) < n)
                k_slots_shadow_one(sc, s, k_waiting_slot(&w, i + k_lowest_lane(ask)));
    }
    k_slots_add_lit(s, count, &w);
}
#endif

/* Shadow rays, and what light samples that reach add. */
K_NOINLINE void k_slots_shadow(const struct k_scene *sc, struct k_slots *s, uint count)
{
    if (k_flies(sc)) {
        uint met[K_SLOTS];
        const struct k_rays rays = {s->from.x, s->from.y,   s->from.z, s->wi.x, s->wi.y,
                                    s->wi.z,   s->distance, s->shadow, count};
        const struct k_answers a = {met, 0, 0, 0, 0};
        k_fly(sc, &rays, &a, 1);
        for (uint i = 0; i < count; i++)
            if (s->shadow[i] && met[i] == K_NONE)
                k_slots_lit(s, i);
        return;
    }
    for (uint i = 0; i < count; i++)
        if (s->shadow[i])
            k_slots_shadow_one(sc, s, i);
}

K_FN void k_slots_lamps(const struct k_scene *sc, struct k_slots *s)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    for (uint i = 0; L->light_last != K_NONE && i < K_LIGHTS_ABREAST; i++) {
        const uint at = i < L->light_last ? i : L->light_last, id = sc->lights[at].primitive;
        K_GLOBAL const struct k_material *m = sc->materials + sc->primitive_materials[id];
        const struct k_lamp a = k_lamp_load(sc, m, id, m->light_density);
        const struct k_vec3 of[] = {a.t.v0, a.t.v1, a.t.v2, a.ng, a.Le};
        for (uint j = 0; j < 5u; j++) {
            s->lamps[3u * j][i] = of[j].x;
            s->lamps[3u * j + 1u][i] = of[j].y;
            s->lamps[3u * j + 2u][i] = of[j].z;
        }
        s->lamps[15][i] = a.two_sided ? 1.0f : 0.0f;
        s->lamps[16][i] = a.density;
        s->lamps_cdf[i] = i < L->light_last ? sc->lights[i].cdf : K_INF;
    }
}

/* A work-group's samples, those of a pixel in turn: where it stands in the tile, and the next. */
struct k_samples {
    uint left, top, width, height; /* as much of the group as the tile has */
    uint x, y, n;
};

K_FN K_GLOBAL K_LONG *k_film_pixel(const struct k_scene *sc, K_GLOBAL K_LONG *film, uint x, uint y)
{
    return film + 4 * ((size_t)y * sc->launch->width + x);
}

/* Samples take free slots, as many as there are of both; the slots are then in s->begin. How many
 * that are. */
K_FN uint k_samples_take(const struct k_scene *sc, struct k_samples *g, struct k_slots *s,
                         const uint *unused, uint count)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    uint taken = 0;
    while (taken < count && g->y < g->height) {
        const uint i = unused[count - 1 - taken];
        s->begin[taken++] = i;
        s->x[i] = L->tile_x + g->left + g->x;
        s->y[i] = K_ROW(L, L->tile_y + g->top + g->y);
        s->sample[i] = L->sample_begin + g->n;
        if (++g->n < L->sample_count)
            continue;
        g->n = 0;
        if (++g->x < g->width)
            continue;
        g->x = 0;
        g->y++;
    }
    return taken;
}

/* The paths of the slots s->begin[0 .. count) begin. */
K_FN void k_samples_start(const struct k_scene *sc, struct k_slots *s, uint count)
{
    uint at = count;
    while (at % K_SLOT_LANES) {
        const uint spare = K_SLOTS + at % K_SLOT_LANES;
        s->begin[at++] = spare;
        s->x[spare] = s->y[spare] = s->sample[spare] = 0;
    }
    k_slots_start(sc, s, at);
}

/* Paths that were under way and have ended go to the film. How many slots are
 * unused then. */
K_FN uint k_slots_film(const struct k_scene *sc, const struct k_slots *s, const uint *before,
                       uint *unused, uint count, K_GLOBAL K_LONG *film)
{
    for (uint i = 0; i < K_SLOTS; i++) {
        if (!before[i] || s->live[i])
            continue;
        unused[count++] = i;
        struct k_stream stream;
        struct k_sums sums = {0, 0, 0, 0};
        stream.x = s->x[i];
        stream.y = s->y[i];
        stream.sample = s->sample[i];
        k_sums_add(sc->launch, &sums, k_path_result(sc, &stream, k_slots_get(&s->L, i)));
        K_GLOBAL K_LONG *to = k_film_pixel(sc, film, s->x[i], s->y[i]);
        to[0] += sums.r;
        to[1] += sums.g;
        to[2] += sums.b;
        to[3] += sums.count;
    }
    return count;
}

K_EXPORT void k_render(const void *const *buffers, const struct k_launch *launch, long long *film,
                       const uint *group, const uint *size);
void k_render(const void *const *buffers, const struct k_launch *launch, long long *film,
              const uint *group, const uint *size)
{
    K_SCENE_FROM_BUFFERS
#define SCENE_BUFFER(name, type, text) sc.name = (const type *)buffers[at++];
#include "buffers.def"
#undef SCENE_BUFFER
    sc.launch = launch;
    K_HEAR_NOTHING(sc);
    struct k_slots s;
    struct k_samples g = {group[0] * size[0], group[1] * size[1], 0, 0, 0, 0, 0};
    if (g.left >= launch->tile_w || g.top >= launch->tile_h)
        return;
    g.width = launch->tile_w - g.left < size[0] ? launch->tile_w - g.left : size[0];
    g.height = launch->tile_h - g.top < size[1] ? launch->tile_h - g.top : size[1];
    const struct k_sums none = {0, 0, 0, 0};
    for (uint y = 0; y < g.height; y++)
        for (uint x = 0; x < g.width; x++)
            k_sums_store(launch, none, 0,
                         k_film_pixel(&sc, film, launch->tile_x + g.left + x,
                                      K_ROW(launch, launch->tile_y + g.top + y)));
    k_few_all few;
#if K_FAST
    k_few_make(&sc, &few);
#else
    k_exact_make(&sc, &few);
#endif
    k_slots_lamps(&sc, &s);
    uint unused[K_SLOTS], before[K_SLOTS], count = K_SLOTS;
    for (uint i = 0; i < K_SLOTS; i++) {
        unused[i] = i;
        s.live[i] = 0;
    }
    for (;;) {
        const uint taken = k_samples_take(&sc, &g, &s, unused, count);
        count -= taken;
        if (count == K_SLOTS)
            return;
        k_samples_start(&sc, &s, taken);
        for (uint i = 0; i < K_SLOTS; i++) {
            before[i] = s.live[i];
            s.shadow[i] = 0;
        }
        if (few.count)
            k_slots_closest_few(&sc, &few, &s, K_SLOTS);
        else
            k_slots_closest(&sc, &s, K_SLOTS);
        if (launch->normals)
            k_slots_shade(&sc, &s, K_SLOTS);
        else
            k_slots_shade_flat(&sc, &s, K_SLOTS);
        if (few.count)
            k_slots_shadow_few(&sc, &few, &s, K_SLOTS);
        else
            k_slots_shadow(&sc, &s, K_SLOTS);
        count = k_slots_film(&sc, &s, before, unused, count, film);
    }
}
