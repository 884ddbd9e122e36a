/* SPDX-License-Identifier: Apache-2.0 */
/* Closest hit and any hit through the binary tree. */
#ifndef K_TRAVERSE2_H
#define K_TRAVERSE2_H
#include "faults.h"
#include "trace/cutout.h"
#include "trace/instance.h"

struct k_hit {
    uint primitive;  /* K_NONE: nothing */
    float t, b1, b2; /* b1, b2: triangles only */
    uint instance;   /* K_NONE: the world's own */
#ifdef K_CPU
    K_GLOBAL const float *corners; /* k_block_triangle's, in the tree's space; 0: of no block */
#endif
};

/* A primitive of a binary or compressed leaf: three loads. */
struct k_slot {
    struct k_triangle triangle; /* meaningless for spheres and disks */
    uint id;
};
K_FN struct k_slot k_slot_load(K_GLOBAL const float *words)
{
    struct k_f4 a = k_load4(words), b = k_load4(words + 4), c = k_load4(words + 8);
    struct k_slot s;
    s.triangle.v0 = v3(a.x, a.y, a.z);
    s.triangle.v1 = v3(a.w, b.x, b.y);
    s.triangle.v2 = v3(b.z, b.w, c.x);
    s.id = K_AS_UINT(c.y);
    return s;
}

/* Is (t, id) before the hit found so far? The order that defines the closest hit: least t, then
 * least id. */
K_FN int k_before(float t, uint id, float best_t, uint best_id)
{
    return t < best_t || (t == best_t && id < best_id);
}

/* The hit found so far, divisions by the determinant still to come. */
struct k_best {
    uint primitive;
    float t, v, w, det;
    uint instance;
#ifdef K_CPU
    K_GLOBAL const float *corners; /* as k_hit's */
#endif
};
K_FN struct k_best k_best_none(float t_max)
{
    struct k_best b;
    b.primitive = K_NONE;
    b.t = t_max;
    b.v = 0.0f;
    b.w = 0.0f;
    b.det = 1.0f;
    b.instance = K_NONE;
#ifdef K_CPU
    b.corners = 0;
#endif
    return b;
}
K_FN struct k_hit k_best_finish(struct k_best b)
{
    struct k_hit h;
    h.primitive = b.primitive;
    h.t = b.t;
#if K_FAST && defined(K_CPU) /* all tests divide */
    h.b1 = b.v;
    h.b2 = b.w;
#else
    h.b1 = b.v / b.det;
    h.b2 = b.w / b.det;
#endif
    h.instance = b.instance;
#ifdef K_CPU
    h.corners = b.corners;
#endif
    return h;
}
K_FN void k_best_set(struct k_best *b, uint id, float t, float v, float w, float det)
{
    b->primitive = id;
    b->t = t;
    b->v = v;
    b->w = w;
    b->det = det;
#ifdef K_CPU
    b->corners = 0;
#endif
}
/* A triangle that the ray meets, by the number that leaves hold: kept if it counts and comes first.
 * Was it kept? */
K_FN int k_offer_triangle(const struct k_scene *sc, const struct k_ray *r, struct k_triangle tri,
                          uint number, float t, float v, float w, float det, struct k_best *best)
{
    uint id = k_ray_id(r, number);
    if (!k_before(t, id, best->t, best->primitive) || !k_triangle_counts(sc, r, tri, t) ||
        !k_triangle_solid(sc, r, tri, number, v, w, det))
        return 0;
    best->instance = r->instance;
    if (K_HAS(INSTANCES) && r->mirrors)
        k_best_set(best, id, t, w, v, det);
    else
        k_best_set(best, id, t, v, w, det);
    return 1;
}
/* Tests one primitive and keeps it if it comes first. */
K_FN void k_try_triangle(const struct k_scene *sc, const struct k_ray *r, struct k_triangle tri,
                         uint number, float t_max, struct k_best *best)
{
    struct k_triangle_hit h;
    if (k_triangle_test(r, tri, t_max, &h))
        k_offer_triangle(sc, r, tri, number, h.t, h.v, h.w, h.det, best);
}
K_FN void k_try_round(const struct k_scene *sc, const struct k_ray *r, uint id, float t_max,
                      struct k_best *best)
{
    float t;
    if (k_round_solid(sc, r, id, t_max, &t) && k_before(t, id, best->t, best->primitive)) {
        k_best_set(best, id, t, 0.0f, 0.0f, 1.0f);
        best->instance = K_NONE;
    }
}

/* A node that waits: `ref` is its first and count, `entry` where the ray enters it. */
struct k_waiting {
    uint ref;
    float entry;
};
#define K_REF(first, count) ((first) | (count) << 29)
#define K_REF_FIRST(ref)    ((ref)&K_REF_FIRST_MAX)
#define K_REF_COUNT(ref)    ((ref) >> 29)

/* The walk of a tree of two levels is one loop with one stack: entering an instance replaces the
 * ray by that in its space and remembers how deep the stack then was; when it is back at that
 * depth, the world's ray returns, and what was left of the leaf that held the instance. */
struct k_entered {
    int floor;         /* depth of the stack; -1: in the world */
    uint first, count; /* what waits of the world's leaf */
};
#define K_IN_INSTANCE(entered) (K_HAS(INSTANCES) && (entered).floor >= 0)
/* `name`: room for `size` of them, or for two levels. Where a program's features are no constant of
 * the text an array cannot have its size of them: the one that it does not use falls away. */
#ifdef K_LINKED
#define K_STACK(type, name, size)                                                                  \
    type name##_one[size], name##_two[2 * (size)], *name;                                          \
    if (K_HAS(INSTANCES))                                                                          \
        name = name##_two;                                                                         \
    else                                                                                           \
        name = name##_one
#else
#define K_STACK(type, name, size) type name[K_HAS(INSTANCES) ? 2 * (size) : (size)]
#endif

/* shadow: stop at the first hit found, whichever it is. One function as a whole: cut into steps that
 * hand each other its state, it costs GPUs 10 to 13 % (docs/results/h200_levers.md). */
K_INLINE struct k_best k_traverse2(const struct k_scene *sc, const struct k_ray *world, float t_max,
                                   int shadow)
{
    struct k_best best = k_best_none(t_max);
    uint triangles = sc->launch->triangle_count;
    K_STACK(struct k_waiting, stack, K_STACK2);
    int depth = 0;
    float entry;
    struct k_f4 lo = k_load4(sc->nodes), hi = k_load4(sc->nodes + 4);
    if (!k_slab(world, v3(lo.x, lo.y, lo.z), v3(hi.x, hi.y, hi.z), t_max, &entry))
        return best;
    uint ref = K_REF(K_AS_UINT(lo.w), K_AS_UINT(hi.w));
    const uint own = triangles + sc->launch->sphere_count + sc->launch->disk_count;
    struct k_ray here = *world;
    struct k_entered entered;
    entered.floor = -1;
    entered.first = 0;
    entered.count = 0;
    int entering = 0;
    struct k_node_ray node = k_node_ray_make(world);
    for (;;) {
        uint first = K_REF_FIRST(ref), count = K_REF_COUNT(ref);
        if (count == 0) {
            K_COUNT(sc, K_COUNT_NODES);
            K_GLOBAL const float *pair = sc->nodes + 8 * (size_t)first;
            struct k_f4 lo0 = k_load4(pair), hi0 = k_load4(pair + 4), lo1 = k_load4(pair + 8),
                        hi1 = k_load4(pair + 12);
            uint ref0 = K_REF(K_AS_UINT(lo0.w), K_AS_UINT(hi0.w)),
                 ref1 = K_REF(K_AS_UINT(lo1.w), K_AS_UINT(hi1.w));
            float e0, e1;
            int h0 = k_node_slab(&node, v3(lo0.x, lo0.y, lo0.z), v3(hi0.x, hi0.y, hi0.z), best.t,
                                 &e0),
                h1 = k_node_slab(&node, v3(lo1.x, lo1.y, lo1.z), v3(hi1.x, hi1.y, hi1.z), best.t,
                                 &e1);
            if (h0 && h1) {
                int swap = e1 < e0;
                struct k_waiting far;
                far.ref = swap ? ref0 : ref1;
                far.entry = swap ? e0 : e1;
                stack[depth++] = far;
                ref = swap ? ref1 : ref0;
                continue;
            }
            if (h0 || h1) {
                ref = h0 ? ref0 : ref1;
                continue;
            }
        } else {
            for (uint i = 0; i < count; i++) {
                if (FAULT_OFF_BY_ONE_LEAF(i + 1 == count, count > 1))
                    continue;
                struct k_slot s = k_slot_load(sc->leaves + K_SLOT_WORDS * (size_t)(first + i));
                if (K_HAS(INSTANCES) && entered.floor < 0 && s.id >= own) {
                    if (!k_instance_meets(sc, world->o, world->inv, s.id - own, best.t))
                        continue;
                    K_GLOBAL const float *root =
                        sc->nodes + 8 * (size_t)sc->instances[s.id - own].root;
                    here = k_ray_in_instance(sc, world, s.id - own);
                    node = k_node_ray_make(&here);
                    entered.floor = depth;
                    entered.first = first + i + 1;
                    entered.count = count - i - 1;
                    ref = K_REF(K_AS_UINT(root[3]), K_AS_UINT(root[7]));
                    entering = 1;
                    break;
                }
                if (K_IN_INSTANCE(entered) || s.id < triangles)
                    k_try_triangle(sc, &here, s.triangle, s.id, t_max, &best);
                else
                    k_try_round(sc, &here, s.id, t_max, &best);
                if (shadow && best.primitive != K_NONE)
                    return best;
            }
            if (entering) {
                entering = 0;
                continue;
            }
        }
        /* Nothing below: the next postponed node that can still hold a hit. */
        uint back = 0;
        for (;;) {
            if (K_HAS(INSTANCES) && depth == entered.floor) {
                here = *world;
                node = k_node_ray_make(world);
                entered.floor = -1;
                back = entered.count;
                if (back)
                    break;
            }
            if (depth == 0)
                return best;
            depth--;
            if (stack[depth].entry <= best.t * K_SLACK)
                break;
        }
        ref = back ? K_REF(entered.first, back) : stack[depth].ref;
    }
}

/* Every primitive in turn, by the same definition of a hit; what the trees are checked against. */
K_FN struct k_best k_brute_force(const struct k_scene *sc, const struct k_ray *r, float t_max)
{
    struct k_best best = k_best_none(t_max);
    uint triangles = sc->launch->triangle_count;
    uint all = triangles + sc->launch->sphere_count + sc->launch->disk_count;
    for (uint id = 0; id < all; id++) {
        if (id < triangles)
            k_try_triangle(sc, r, k_triangle_load(sc, id), id, t_max, &best);
        else
            k_try_round(sc, r, id, t_max, &best);
    }
    for (uint i = 0; K_HAS(INSTANCES) && i < sc->launch->instance_count; i++) {
        struct k_ray in = k_ray_in_instance(sc, r, i);
        uint end = i + 1 < sc->launch->instance_count ? sc->instances[i + 1].first_id
                                                      : sc->launch->effective_count;
        for (uint id = sc->instances[i].first_id; id < end; id++)
            k_try_triangle(sc, &in, k_triangle_load(sc, id - in.shift), id - in.shift, t_max,
                           &best);
    }
    return best;
}

#endif
