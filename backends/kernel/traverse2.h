/* Closest hit and any hit through the binary tree. */
#ifndef K_TRAVERSE2_H
#define K_TRAVERSE2_H
#include "faults.h"
#include "intersect.h"

struct k_hit {
    uint primitive;  /* K_NONE: nothing */
    float t, b1, b2; /* b1, b2: triangles only */
};

/* Where ray and node meet; the node's words are lo, first, hi, count. */
K_FN int k_node2_test(const struct k_scene *sc, const struct k_ray *r, uint node, float t,
                      float *entry)
{
    K_GLOBAL const float *n = sc->nodes + 8 * (size_t)node;
    return k_slab(r, v3_load(n), v3_load(n + 4), t, entry);
}

K_FN struct k_triangle k_slot_triangle(K_GLOBAL const float *slot)
{
    struct k_triangle t;
    t.v0 = v3_load(slot);
    t.v1 = v3_load(slot + 3);
    t.v2 = v3_load(slot + 6);
    return t;
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
};
K_FN struct k_best k_best_none(float t_max)
{
    struct k_best b;
    b.primitive = K_NONE;
    b.t = t_max;
    b.v = 0.0f;
    b.w = 0.0f;
    b.det = 1.0f;
    return b;
}
K_FN struct k_hit k_best_finish(struct k_best b)
{
    struct k_hit h;
    h.primitive = b.primitive;
    h.t = b.t;
    h.b1 = b.v / b.det;
    h.b2 = b.w / b.det;
    return h;
}
K_FN void k_best_set(struct k_best *b, uint id, float t, float v, float w, float det)
{
    b->primitive = id;
    b->t = t;
    b->v = v;
    b->w = w;
    b->det = det;
}
/* Tests one primitive and keeps it if it comes first. */
K_FN void k_try_triangle(const struct k_ray *r, struct k_triangle tri, uint id, float t_max,
                         struct k_best *best)
{
    struct k_triangle_hit h;
    if (k_triangle_test(r, tri, t_max, &h) && k_before(h.t, id, best->t, best->primitive) &&
        k_triangle_confirms(r, tri, h.t))
        k_best_set(best, id, h.t, h.v, h.w, h.det);
}
K_FN void k_try_round(const struct k_scene *sc, const struct k_ray *r, uint id, float t_max,
                      struct k_best *best)
{
    float t;
    if (k_round_test(sc, r, id, t_max, &t) && k_before(t, id, best->t, best->primitive))
        k_best_set(best, id, t, 0.0f, 0.0f, 1.0f);
}

/* shadow: stop at the first hit found, whichever it is. */
K_INLINE struct k_best k_traverse2(const struct k_scene *sc, const struct k_ray *r, float t_max,
                                   int shadow)
{
    struct k_best best = k_best_none(t_max);
    uint triangles = sc->launch->triangle_count;
    uint stack[K_STACK2];
    int depth = 0;
    uint node = 0;
    float entry;
    if (!k_node2_test(sc, r, 0, t_max, &entry))
        return best;
    for (;;) {
        K_GLOBAL const float *n = sc->nodes + 8 * (size_t)node;
        uint first = K_AS_UINT(n[3]), count = K_AS_UINT(n[7]);
        if (count == 0) {
            float e0, e1;
            int h0 = k_node2_test(sc, r, first, best.t, &e0),
                h1 = k_node2_test(sc, r, first + 1, best.t, &e1);
            if (h0 && h1) {
                int swap = e1 < e0;
                stack[depth++] = swap ? first : first + 1;
                node = swap ? first + 1 : first;
                continue;
            }
            if (h0 || h1) {
                node = h0 ? first : first + 1;
                continue;
            }
        } else {
            for (uint i = 0; i < count; i++) {
                if (FAULT_OFF_BY_ONE_LEAF(i + 1 == count, count > 1))
                    continue;
                K_GLOBAL const float *slot = sc->leaves + K_SLOT_WORDS * (size_t)(first + i);
                uint id = K_AS_UINT(slot[9]);
                if (id < triangles)
                    k_try_triangle(r, k_slot_triangle(slot), id, t_max, &best);
                else
                    k_try_round(sc, r, id, t_max, &best);
                if (shadow && best.primitive != K_NONE)
                    return best;
            }
        }
        /* Nothing below: the next postponed node that can still hold a hit. */
        for (;;) {
            if (depth == 0)
                return best;
            node = stack[--depth];
            if (k_node2_test(sc, r, node, best.t, &entry))
                break;
        }
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
            k_try_triangle(r, k_triangle_load(sc, id), id, t_max, &best);
        else
            k_try_round(sc, r, id, t_max, &best);
    }
    return best;
}

#endif
