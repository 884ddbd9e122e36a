/* SPDX-License-Identifier: Apache-2.0 */
/* Many rays in flight on one thread of a processor: each goes a step at a time through the
 * eight-wide tree, all of them in turns. What a ray needs next is fetched while the others take
 * their steps, and a step's branches do not wait for each other. The steps are those of
 * k_traverse8. */
#ifndef K_FLIGHTS_H
#define K_FLIGHTS_H
#include "math/vec16.h"
#include "trace/traverse.h"

#ifndef K_FLIGHTS
#define K_FLIGHTS 32
#endif

struct k_flight {
    struct k_vec3 o, d, inv;
    struct k_ray1 one;
    struct k_best best;
    uint node;
    int depth;
    int far;   /* bits of the distance beyond which no node matters */
    uint slot; /* whose ray it is */
    struct k_stack8 stack;
    /* Stacks begin in different sets of the cache: an odd number of lines apart. */
    char apart[64];
};

/* Where nodes and leaves are. */
struct k_flight_map {
    struct {
        const float *begin;
        size_t words;
    } of[2];
};
/* Memory that the next step reads; no branch, since what comes next is often a coin's toss. */
K_FN void k_flight_fetch(const struct k_flight_map *map, uint node)
{
    const uint leaf = node >> 31;
    const size_t words = map->of[leaf].words;
    const float *p = map->of[leaf].begin + words * (node & K_LEAF_INDEX);
    K_SOON(p);
    K_SOON(p + 16);
    K_SOON(p + 32);
    K_SOON(p + 48);
    K_SOON(p + words - 16);
}

/* Under all of a stack: no node, entered before any distance. */
#define K_ARRIVED ((k_key)0xFF800000u << 32 | K_NONE)

/* The next node that waits, or what was just found to be nearest. 0: none does. */
K_FN int k_flight_next(struct k_flight *f, k_key key, int depth)
{
    while (K_UNLIKELY((int)(key >> 32) > f->far))
        key = f->stack.key[--depth];
    f->node = (uint)key;
    f->depth = depth;
    return (uint)key != K_NONE;
}

/* yes ? a : b, of which compilers would make a branch: a coin's toss. */
K_FN uint k_toss(uint yes, uint a, uint b)
{
    uint r = yes ? a : b;
    __asm__("" : "+r"(r));
    return r;
}

/* 0: the ray has arrived. Children that are met go on the stack, in any order but the nearest,
 * which is next: entries are compared as integers whose last three bits are the child's number. No
 * entry is negative, and without these bits it is no farther than it was. */
K_FN int k_flight_node(const struct k_scene *sc, struct k_flight *f)
{
    const float *n = sc->nodes + K_NODE8_WORDS * (size_t)f->node;
    const struct k_ray8 e = k_ray8_of(&f->one);
    k_f8 entries;
    const k_mask8 met = k_node8_meet(n, &e, f->best.t, &entries);
    const uint bits = f8_bits(met);
    const k_u8 lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint least = u8_least(((k_u8)entries & ~7u) | lanes | ~(k_u8)met), lane = least & 7u;
    const uint *const children = (const uint *)(n + 48);
    k_key *const top = f->stack.key + f->depth;
    const k_key below = top[-1];
    key8_put(top, key8_pack(key8_make(entries, *(const k_u8 *)children), bits & ~(1u << lane)));
    const uint node = k_toss(bits, children[lane], (uint)below);
    const uint entry = k_toss(bits, least & ~7u, (uint)(below >> 32));
    return k_flight_next(f, (k_key)entry << 32 | node, f->depth + __builtin_popcount(bits) - 1);
}

/* Its ray, without what `one` has of it. */
K_FN struct k_ray k_flight_ray(const struct k_flight *f)
{
    struct k_ray r = {0};
    r.o = f->o;
    r.d = f->d;
    r.inv = f->inv;
    r.instance = K_NONE;
    return r;
}
K_FN int k_flight_leaf(const struct k_scene *sc, struct k_flight *f, float t_max, int shadow)
{
    if (K_UNLIKELY(f->node & K_LEAF_MIXED)) {
        (void)k_leaf8_mixed(sc, f->o, f->d, f->node, 0, t_max, &f->best);
    } else {
        const struct k_ray8 e = k_ray8_of(&f->one);
        const struct k_ray ray = k_flight_ray(f);
        k_leaf8(sc, &ray, &e, f->node, t_max, shadow, &f->best);
    }
    if (shadow && f->best.primitive != K_NONE)
        return 0;
    f->far = (int)K_AS_UINT(f->best.t * K_SLACK);
    return k_flight_next(f, f->stack.key[f->depth - 1], f->depth - 1);
}

/* The rays from o along d of the slots that `go` names; `arrived` gets what k_traverse8 gives. */
struct k_rays {
    const float *ox, *oy, *oz, *dx, *dy, *dz;
    const float *t_max; /* 0: no end */
    const uint *go;
    uint count;
};
struct k_answers { /* closest hits, or whether there is one */
    uint *primitive;
    float *t, *b1, *b2;
    const float **corners;
};

K_FN int k_flight_start(struct k_flight *f, const struct k_rays *rays, uint *next)
{
    while (*next < rays->count && !rays->go[*next])
        ++*next;
    if (*next >= rays->count)
        return 0;
    const uint i = (*next)++;
    f->slot = i;
    f->o = v3(rays->ox[i], rays->oy[i], rays->oz[i]);
    f->d = v3(rays->dx[i], rays->dy[i], rays->dz[i]);
    const struct k_ray ray = k_ray_make(f->o, f->d);
    f->inv = ray.inv;
    f->one = k_ray1_make(&ray);
    f->best = k_best_none(rays->t_max ? FAULT_MISSED_SHADOW(rays->t_max[i] * 0.9999f) : K_INF);
    f->far = (int)K_AS_UINT(f->best.t * K_SLACK);
    f->node = 0;
    f->stack.key[0] = K_ARRIVED;
    f->depth = 1;
    return 1;
}

K_FN void k_flight_end(const struct k_scene *sc, const struct k_flight *f,
                       const struct k_answers *a, int shadow)
{
    const uint i = f->slot;
    a->primitive[i] = f->best.primitive;
    if (shadow)
        return;
    if (f->best.primitive != K_NONE)
        k_triangle_fetch(sc, f->best.primitive);
    const struct k_hit hit = k_best_finish(f->best);
    a->t[i] = hit.t;
    a->b1[i] = hit.b1;
    a->b2[i] = hit.b2;
    a->corners[i] = hit.corners;
}

K_FN void k_fly(const struct k_scene *sc, const struct k_rays *rays, const struct k_answers *a,
                int shadow)
{
    struct k_flight flights[K_FLIGHTS];
    struct k_flight *nodes[K_FLIGHTS + 1], *leaves[K_FLIGHTS + 1];
    const struct k_flight_map map = {
        {{sc->nodes, K_NODE8_WORDS}, {sc->leaves, K_BLOCK_WORDS}},
    };
    uint at_node = 0, at_leaf = 0, next = 0;
    while (at_node < K_FLIGHTS && k_flight_start(&flights[at_node], rays, &next)) {
        nodes[at_node] = &flights[at_node];
        at_node++;
    }
    while (at_node + at_leaf) {
        uint n = at_node;
        at_node = 0;
        for (uint j = 0; j < n; j++) {
            struct k_flight *f = nodes[j];
            if (!k_flight_node(sc, f)) {
                k_flight_end(sc, f, a, shadow);
                if (!k_flight_start(f, rays, &next))
                    continue;
            }
            k_flight_fetch(&map, f->node);
            const uint leaf = f->node >> 31;
            nodes[at_node] = f;
            leaves[at_leaf] = f;
            at_node += 1u - leaf;
            at_leaf += leaf;
        }
        n = at_leaf;
        at_leaf = 0;
        for (uint j = 0; j < n; j++) {
            struct k_flight *f = leaves[j];
            const float t_max =
                rays->t_max ? FAULT_MISSED_SHADOW(rays->t_max[f->slot] * 0.9999f) : K_INF;
            if (!k_flight_leaf(sc, f, t_max, shadow)) {
                k_flight_end(sc, f, a, shadow);
                if (!k_flight_start(f, rays, &next))
                    continue;
            }
            k_flight_fetch(&map, f->node);
            const uint leaf = f->node >> 31;
            nodes[at_node] = f;
            leaves[at_leaf] = f;
            at_node += 1u - leaf;
            at_leaf += leaf;
        }
    }
}

#endif
