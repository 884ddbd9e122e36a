/* SPDX-License-Identifier: Apache-2.0 */
/* Closest hit and any hit through the compressed eight-wide tree (Ylitie, Karras and Laine, HPG
 * 2017): one work-item walks alone; what is postponed is a whole group of siblings, as a mask. */
#ifndef K_TRAVERSE8C_H
#define K_TRAVERSE8C_H
#include "trace/traverse2.h"

/* A node's 20 words are struct bvh8c_node of bvh.h, in little-endian order. */
#define K_NODE8C_WORDS 20u
#define K_STACK8C      64 /* groups; one a level at most */

/* Nodes still to visit among siblings: bit 24 + (slot ^ octant) of `hits`, and which slots hold
 * inner nodes in its lowest byte. */
struct k_group {
    uint base, hits;
};

K_FN float k_byte(uint word, uint byte) { return (float)((word >> (8u * byte)) & 0xFFu); }

/* What of the ray is the same for all nodes. Octant: bit i set where d goes up axis i, so that the
 * slots that come first get the highest bits. */
K_FN uint k_octant(const struct k_ray *r)
{
    return (r->inv.x > 0.0f ? 1u : 0u) | (r->inv.y > 0.0f ? 2u : 0u) | (r->inv.z > 0.0f ? 4u : 0u);
}

/* Bits of the children that the ray meets in [0, t]: inner ones from 24 up, primitives of leaves
 * below. */
K_FN uint k_node8c_test(K_GLOBAL const float *n, const struct k_ray *r, uint octant, float t,
                        struct k_group *children, uint *slots)
{
    struct k_f4 a = k_load4(n), b = k_load4(n + 4), c = k_load4(n + 8), d = k_load4(n + 12),
                e = k_load4(n + 16);
    uint w3 = K_AS_UINT(a.w);
    float sx = K_AS_FLOAT((w3 & 0xFFu) << 23), sy = K_AS_FLOAT((w3 >> 8 & 0xFFu) << 23),
          sz = K_AS_FLOAT((w3 >> 16 & 0xFFu) << 23);
    uint hits = 0;
    children->base = K_AS_UINT(b.x);
    *slots = K_AS_UINT(b.y);
#if K_FAST
    float ax = sx * r->inv.x, ay = sy * r->inv.y, az = sz * r->inv.z;
    float ox = (a.x - r->o.x) * r->inv.x, oy = (a.y - r->o.y) * r->inv.y,
          oz = (a.z - r->o.z) * r->inv.z;
    int up_x = r->inv.x > 0.0f, up_y = r->inv.y > 0.0f, up_z = r->inv.z > 0.0f;
#endif
    K_UNROLL
    for (uint four = 0; four < 2; four++) {
        uint meta = K_AS_UINT(four ? b.w : b.z);
        uint lo_x = K_AS_UINT(four ? c.y : c.x), lo_y = K_AS_UINT(four ? c.w : c.z),
             lo_z = K_AS_UINT(four ? d.y : d.x), hi_x = K_AS_UINT(four ? d.w : d.z),
             hi_y = K_AS_UINT(four ? e.y : e.x), hi_z = K_AS_UINT(four ? e.w : e.z);
#if K_FAST
        uint near_x = up_x ? lo_x : hi_x, near_y = up_y ? lo_y : hi_y, near_z = up_z ? lo_z : hi_z;
        uint far_x = up_x ? hi_x : lo_x, far_y = up_y ? hi_y : lo_y, far_z = up_z ? hi_z : lo_z;
#endif
        K_UNROLL
        for (uint i = 0; i < 4; i++) {
            uint m = meta >> (8u * i) & 0xFFu;
#if K_FAST
            float in = k_max(k_max(k_byte(near_x, i) * ax + ox, k_byte(near_y, i) * ay + oy),
                             k_max(k_byte(near_z, i) * az + oz, 0.0f));
            float out = k_min(k_min(k_byte(far_x, i) * ax + ox, k_byte(far_y, i) * ay + oy),
                              k_min(k_byte(far_z, i) * az + oz, t));
            int met = in <= out * K_SLACK;
#else
            float entry;
            int met = k_slab(r,
                             v3(a.x + k_byte(lo_x, i) * sx, a.y + k_byte(lo_y, i) * sy,
                                a.z + k_byte(lo_z, i) * sz),
                             v3(a.x + k_byte(hi_x, i) * sx, a.y + k_byte(hi_y, i) * sy,
                                a.z + k_byte(hi_z, i) * sz),
                             t, &entry);
#endif
            if (met) {
                uint inner = (m & 0x18u) == 0x18u;
                hits |= (m >> 5) << ((m ^ (inner ? octant : 0u)) & 0x1Fu);
            }
        }
    }
    children->hits = (hits & 0xFF000000u) | w3 >> 24;
    return hits & 0x00FFFFFFu;
}

/* shadow: stop at the first hit found, whichever it is. Two levels: traverse2.h says how. */
K_INLINE struct k_best k_traverse8c(const struct k_scene *sc, const struct k_ray *world,
                                    float t_max, int shadow)
{
    struct k_best best = k_best_none(t_max);
    uint triangles = sc->launch->triangle_count, octant = k_octant(world);
    K_STACK(struct k_group, stack, K_STACK8C);
    int depth = 0;
    struct k_group group;
    group.base = 0;
    group.hits = 0x80000000u; /* the root: the only slot of a group without siblings */
    uint root = 1;
    const uint own = triangles + sc->launch->sphere_count + sc->launch->disk_count;
    struct k_ray here = *world;
    struct k_entered entered; /* its first slot, and which of them wait as bits */
    entered.floor = -1;
    entered.first = 0;
    entered.count = 0;
    for (;;) {
        uint bit = 31u - K_CLZ(group.hits);
        uint slot = root ? 0u : (bit - 24u) ^ octant;
        uint node = group.base + K_POPCOUNT(group.hits & ((1u << slot) - 1u) & 0xFFu);
        root = 0;
        group.hits &= ~(1u << bit);
        if (group.hits >= 0x01000000u)
            stack[depth++] = group;
        K_COUNT(sc, K_COUNT_NODES);
        uint first, hits = k_node8c_test(sc->nodes + K_NODE8C_WORDS * (size_t)node, &here, octant,
                                         best.t, &group, &first);
    leaf:
        while (hits) {
            uint i = 31u - K_CLZ(hits);
            hits &= ~(1u << i);
            if (FAULT_OFF_BY_ONE_LEAF(hits == 0, i > 0))
                continue;
            K_GLOBAL const float *slot_words = sc->leaves + K_SLOT_WORDS * (size_t)(first + i);
            struct k_slot s = k_slot_load(slot_words);
            if (K_HAS(INSTANCES) && entered.floor < 0 && s.id >= own) {
                if (!k_instance_meets(sc, world->o, world->inv, s.id - own, best.t))
                    continue;
                if (group.hits >= 0x01000000u)
                    stack[depth++] = group;
                here = k_ray_in_instance(sc, world, s.id - own);
                octant = k_octant(&here);
                entered.floor = depth;
                entered.first = first;
                entered.count = hits;
                group.base = sc->instances[s.id - own].root;
                group.hits = 0x80000000u;
                root = 1;
                break;
            }
            if (K_IN_INSTANCE(entered) || s.id < triangles)
                k_try_triangle(sc, &here, s.triangle, s.id, t_max, &best);
            else
                k_try_round(sc, &here, s.id, t_max, &best);
            if (shadow && best.primitive != K_NONE)
                return best;
        }
        if (group.hits < 0x01000000u) {
            if (K_HAS(INSTANCES) && depth == entered.floor) {
                here = *world;
                octant = k_octant(world);
                entered.floor = -1;
                first = entered.first;
                hits = entered.count;
                if (hits)
                    goto leaf;
            }
            if (depth == 0)
                return best;
            group = stack[--depth];
        }
    }
}

#endif
