/* SPDX-License-Identifier: Apache-2.0 */
/* Many rays in flight on one thread of a processor: each goes a step at a time through the
 * eight-wide tree, all of them in turns. What a ray needs next is fetched while the others take
 * their steps, and a step's branches do not wait for each other. The steps are those of
 * k_traverse8. */
#ifndef K_FLIGHTS_H
#define K_FLIGHTS_H
#include "trace/traverse.h"

#ifndef K_FLIGHTS
#define K_FLIGHTS 32
#endif

struct k_flight {
    struct k_ray ray;
    struct k_ray1 one;
    struct k_best best;
    uint node;
    int depth;
    uint slot; /* whose ray it is */
    struct k_stack8 stack;
    /* Stacks begin in different sets of the cache: an odd number of lines apart. */
    char apart[64];
};

/* Memory that the next step reads. */
K_FN void k_flight_fetch(const struct k_scene *sc, uint node)
{
    if (node & K_LEAF) {
        const float *b = sc->leaves + K_BLOCK_WORDS * (size_t)(node & K_LEAF_INDEX);
        K_SOON(b);
        K_SOON(b + 16);
        K_SOON(b + 32);
        K_SOON(b + 48);
        K_SOON(b + 64);
    } else {
        const float *n = sc->nodes + K_NODE8_WORDS * (size_t)node;
        K_SOON(n);
        K_SOON(n + 16);
        K_SOON(n + 32);
        K_SOON(n + 48);
    }
}

/* The next node that waits; 0: none does. */
K_FN int k_flight_pop(struct k_flight *f)
{
    int depth = f->depth;
    const float far = f->best.t * K_SLACK;
    while (depth > 0) {
        depth--;
        if (!(k_stack8_entry(&f->stack, depth) > far)) {
            f->node = k_stack8_node(&f->stack, depth);
            f->depth = depth;
            return 1;
        }
    }
    return 0;
}

/* 0: the ray has arrived. */
K_FN int k_flight_node(const struct k_scene *sc, struct k_flight *f, int shadow)
{
    const float *n = sc->nodes + K_NODE8_WORDS * (size_t)f->node;
    const struct k_ray8 e = k_ray8_of(&f->one);
    float entries[8] __attribute__((aligned(32)));
    k_bits bits = k_node8_test(n, &e, f->best.t, entries);
    if (bits == 0)
        return k_flight_pop(f);
    f->node = k_order8((const uint *)(n + 48), entries, bits, shadow, &f->stack, &f->depth);
    return 1;
}
K_FN int k_flight_leaf(const struct k_scene *sc, struct k_flight *f, float t_max, int shadow)
{
    if (K_UNLIKELY(f->node & K_LEAF_MIXED)) {
        (void)k_leaf8_mixed(sc, f->ray.o, f->ray.d, f->node, 0, t_max, &f->best);
    } else {
        const struct k_ray8 e = k_ray8_of(&f->one);
        k_leaf8(sc, &f->ray, &e, f->node, t_max, shadow, &f->best);
    }
    if (shadow && f->best.primitive != K_NONE)
        return 0;
    return k_flight_pop(f);
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
    f->ray = k_ray_make(v3(rays->ox[i], rays->oy[i], rays->oz[i]),
                        v3(rays->dx[i], rays->dy[i], rays->dz[i]));
    f->one = k_ray1_make(&f->ray);
    f->best = k_best_none(rays->t_max ? FAULT_MISSED_SHADOW(rays->t_max[i] * 0.9999f) : K_INF);
    f->node = 0;
    f->depth = 0;
    return 1;
}

K_FN void k_flight_end(const struct k_flight *f, const struct k_answers *a, int shadow)
{
    const uint i = f->slot;
    a->primitive[i] = f->best.primitive;
    if (shadow)
        return;
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
    uint nodes[K_FLIGHTS + 1], leaves[K_FLIGHTS + 1], at_node = 0, at_leaf = 0, next = 0;
    while (at_node < K_FLIGHTS && k_flight_start(&flights[at_node], rays, &next)) {
        nodes[at_node] = at_node;
        at_node++;
    }
    while (at_node + at_leaf) {
        uint n = at_node;
        at_node = 0;
        for (uint j = 0; j < n; j++) {
            const uint i = nodes[j];
            struct k_flight *f = &flights[i];
            if (!k_flight_node(sc, f, shadow)) {
                k_flight_end(f, a, shadow);
                if (!k_flight_start(f, rays, &next))
                    continue;
            }
            k_flight_fetch(sc, f->node);
            const uint leaf = f->node >> 31;
            nodes[at_node] = i;
            leaves[at_leaf] = i;
            at_node += 1u - leaf;
            at_leaf += leaf;
        }
        n = at_leaf;
        at_leaf = 0;
        for (uint j = 0; j < n; j++) {
            const uint i = leaves[j];
            struct k_flight *f = &flights[i];
            const float t_max =
                rays->t_max ? FAULT_MISSED_SHADOW(rays->t_max[f->slot] * 0.9999f) : K_INF;
            if (!k_flight_leaf(sc, f, t_max, shadow)) {
                k_flight_end(f, a, shadow);
                if (!k_flight_start(f, rays, &next))
                    continue;
            }
            k_flight_fetch(sc, f->node);
            const uint leaf = f->node >> 31;
            nodes[at_node] = i;
            leaves[at_leaf] = i;
            at_node += 1u - leaf;
            at_leaf += leaf;
        }
    }
}

#endif
