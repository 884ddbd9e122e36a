/* Closest hit and any hit through the binary tree. */
#ifndef K_TRAVERSE2_H
#define K_TRAVERSE2_H
#include "faults.h"
#include "intersect.h"

struct k_hit {
    uint primitive;  /* K_NONE: nothing */
    float t, b1, b2; /* b1, b2: triangles only */
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

/* A node that waits: `ref` is its first and count, `entry` where the ray enters it. */
struct k_waiting {
    uint ref;
    float entry;
};
#define K_REF(first, count) ((first) | (count) << 29)
#define K_REF_FIRST(ref)    ((ref)&K_REF_FIRST_MAX)
#define K_REF_COUNT(ref)    ((ref) >> 29)

/* shadow: stop at the first hit found, whichever it is. */
K_INLINE struct k_best k_traverse2(const struct k_scene *sc, const struct k_ray *r, float t_max,
                                   int shadow)
{
    struct k_best best = k_best_none(t_max);
    uint triangles = sc->launch->triangle_count;
    struct k_waiting stack[K_STACK2];
    int depth = 0;
    float entry;
    struct k_f4 lo = k_load4(sc->nodes), hi = k_load4(sc->nodes + 4);
    if (!k_slab(r, v3(lo.x, lo.y, lo.z), v3(hi.x, hi.y, hi.z), t_max, &entry))
        return best;
    uint ref = K_REF(K_AS_UINT(lo.w), K_AS_UINT(hi.w));
    for (;;) {
        uint first = K_REF_FIRST(ref), count = K_REF_COUNT(ref);
        if (count == 0) {
            K_GLOBAL const float *pair = sc->nodes + 8 * (size_t)first;
            struct k_f4 lo0 = k_load4(pair), hi0 = k_load4(pair + 4), lo1 = k_load4(pair + 8),
                        hi1 = k_load4(pair + 12);
            uint ref0 = K_REF(K_AS_UINT(lo0.w), K_AS_UINT(hi0.w)),
                 ref1 = K_REF(K_AS_UINT(lo1.w), K_AS_UINT(hi1.w));
            float e0, e1;
            int h0 = k_slab(r, v3(lo0.x, lo0.y, lo0.z), v3(hi0.x, hi0.y, hi0.z), best.t, &e0),
                h1 = k_slab(r, v3(lo1.x, lo1.y, lo1.z), v3(hi1.x, hi1.y, hi1.z), best.t, &e1);
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
                if (s.id < triangles)
                    k_try_triangle(r, s.triangle, s.id, t_max, &best);
                else
                    k_try_round(sc, r, s.id, t_max, &best);
                if (shadow && best.primitive != K_NONE)
                    return best;
            }
        }
        /* Nothing below: the next postponed node that can still hold a hit. */
        do {
            if (depth == 0)
                return best;
            depth--;
        } while (!(stack[depth].entry <= best.t * K_SLACK));
        ref = stack[depth].ref;
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
