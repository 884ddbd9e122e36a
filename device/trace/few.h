/* SPDX-License-Identifier: Apache-2.0 */
/* The whole of a small scene against sixteen rays at once, on processors that have so many lanes:
 * nothing is looked up, and no ray waits for what it met before. For mode fast; few_exact.h has the
 * other modes. */
#ifndef K_FEW_H
#define K_FEW_H
#include "math/vec16.h"
#include "trace/traverse.h"

/* To so many triangles that is faster than their tree. */
#define K_FEW 64u

/* A triangle of a piece. Of its corners 1 and 2: 0 stands for the piece's own corner, or that across
 * from it; 1 and 2 for the ends of the piece's edges. */
struct k_few_half {
    uint id, corner1, corner2;
    const float *corners; /* as k_hit's */
};
/* A triangle with the corner v0 and the edges e1 and e2, or the parallelogram of which it is half.
 * With n = e1 x e2 / s, where s makes the largest component of n 1: a = e2 / s and b = -e1 / s. No
 * area: all 0. */
struct k_few_piece {
    float v0[3], a[3], b[3], n[3], over; /* 1 / s */
};
K_FN struct k_vec3 k_few_corner(const float *corners, uint i)
{
    return v3(corners[24 * i], corners[24 * i + 8], corners[24 * i + 16]);
}
K_FN void k_few_put(float *to, struct k_vec3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

/* A triangle that begins at the piece's own corner with its corner `first`. */
K_FN struct k_few_half k_few_half_make(const float *corners, uint id, uint first)
{
    struct k_few_half h; /* first, second, third are 0, 1, 2 of the piece */
    h.id = id;
    h.corner1 = (4u - first) % 3u;
    h.corner2 = (5u - first) % 3u;
    h.corners = corners;
    return h;
}
/* Of a triangle, from its corner `first` on. */
K_FN struct k_few_piece k_few_piece_make(const float *corners, uint first)
{
    const uint second = first == 2u ? 0u : first + 1u, third = second == 2u ? 0u : second + 1u;
    const struct k_vec3 v0 = k_few_corner(corners, first);
    const struct k_vec3 e1 = v3_sub(k_few_corner(corners, second), v0);
    const struct k_vec3 e2 = v3_sub(k_few_corner(corners, third), v0);
    /* of edges near 1, whose product neither overflows nor vanishes */
    const float side = k_max(v3_max_abs(e1), v3_max_abs(e2));
    const float near1 = side > 0.0f ? 1.0f / side : 0.0f;
    const struct k_vec3 n = v3_cross(v3_scale(e1, near1), v3_scale(e2, near1));
    const float most = v3_max_abs(n), unit = most > 0.0f ? 1.0f / most : 0.0f;
    const float shorter = near1 * near1 * unit;
    struct k_few_piece p;
    k_few_put(p.v0, v0);
    k_few_put(p.a, v3_scale(e2, shorter));
    k_few_put(p.b, v3_scale(e1, -shorter));
    k_few_put(p.n, v3_scale(n, unit));
    p.over = shorter;
    return p;
}

/* Is the triangle, from its corner `first` on, the rest of the parallelogram that the triangle c has
 * half of, from its corner `c_first` on? To within a quarter of what edges are widened by. */
K_FN int k_few_completes(const float *c, uint c_first, const float *corners, uint first)
{
    const struct k_vec3 v0 = k_few_corner(c, c_first), v1 = k_few_corner(c, (c_first + 1u) % 3u),
                        v2 = k_few_corner(c, (c_first + 2u) % 3u);
    const struct k_vec3 across = k_few_corner(corners, first),
                        x = k_few_corner(corners, (first + 1u) % 3u),
                        y = k_few_corner(corners, (first + 2u) % 3u);
    const struct k_vec3 e1 = v3_sub(v1, v0), e2 = v3_sub(v2, v0);
    const struct k_vec3 off = v3_sub(v3_sub(across, v0), v3_add(e1, e2));
    /* it has the edge from v1 to v2, either way round */
    const float same = v3_max_abs(v3_sub(x, v2)) + v3_max_abs(v3_sub(y, v1)),
                turned = v3_max_abs(v3_sub(x, v1)) + v3_max_abs(v3_sub(y, v2));
    return k_min(same, turned) == 0.0f &&
           v3_max_abs(off) <= 0x1p-22f * k_min(v3_max_abs(e1), v3_max_abs(e2));
}

/* A piece with the triangle `id`, and with the next if that is its other half. Is it? */
K_FN int k_few_pair(const float *const *corners, uint id, uint count, struct k_few_piece *p,
                    struct k_few_half *half)
{
    if (id + 1u < count)
        for (uint i = 0; i < 9u; i++) {
            const uint first = i / 3u, other = i % 3u;
            if (!k_few_completes(corners[id], first, corners[id + 1u], other))
                continue;
            *p = k_few_piece_make(corners[id], first);
            half[0] = k_few_half_make(corners[id], id, first);
            const struct k_vec3 v1 = k_few_corner(corners[id], (first + 1u) % 3u);
            const int turned =
                v3_max_abs(v3_sub(k_few_corner(corners[id + 1u], (other + 1u) % 3u), v1)) == 0.0f;
            uint of[3]; /* of its corners */
            of[other] = 0;
            of[(other + 1u) % 3u] = turned ? 1u : 2u;
            of[(other + 2u) % 3u] = turned ? 2u : 1u;
            half[1].id = id + 1u;
            half[1].corner1 = of[1];
            half[1].corner2 = of[2];
            half[1].corners = corners[id + 1u];
            return 1;
        }
    *p = k_few_piece_make(corners[id], 0);
    half[0] = half[1] = k_few_half_make(corners[id], id, 0);
    return 0;
}

/* The corners of all triangles of the eight-wide tree, by id. Are there such, for each? */
K_FN int k_few_find(const struct k_scene *sc, const float **corners)
{
    const uint count = sc->launch->triangle_count;
    uint waiting[K_STACK8], depth = 0, found = 0;
    for (uint i = 0; i < count; i++)
        corners[i] = 0;
    for (waiting[depth++] = 0; depth;) {
        const uint node = waiting[--depth];
        if (node & K_LEAF) {
            const float *b = sc->leaves + K_BLOCK_WORDS * (size_t)(node & K_LEAF_INDEX);
            const uint *ids = (const uint *)(b + 72);
            for (uint lane = 0; lane < 8; lane++) { /* lanes left over repeat the first */
                found += corners[ids[lane]] == 0;
                corners[ids[lane]] = b + lane;
            }
            continue;
        }
        const float *n = sc->nodes + K_NODE8_WORDS * (size_t)node;
        for (uint lane = 0; lane < 8; lane++)
            if (n[lane] <= n[24 + lane] && depth < K_STACK8) /* a child that is there */
                waiting[depth++] = ((const uint *)(n + 48))[lane];
    }
    return found == count;
}

#if K_FAST
struct k_few {
    uint count, whole; /* pieces; the first are parallelograms. No piece: there are too many */
    struct k_few_piece at[K_FEW];
    struct k_few_half half[1u + 2u * K_FEW]; /* none, and of piece i from 1 + 2 i on */
};

K_FN void k_few_make(const struct k_scene *sc, struct k_few *f)
{
    const uint count = sc->launch->triangle_count;
    const float *corners[K_FEW];
    struct k_few_piece p;
    struct k_few_half half[2];
    f->count = f->whole = 0;
    f->half[0] = (struct k_few_half){K_NONE, 0, 0, 0};
    if (sc->launch->bvh != 8 || count > K_FEW || !k_few_find(sc, corners))
        return;
    for (uint pairs = 2; pairs-- > 0;) /* those that are whole first */
        for (uint id = 0; id < count; id++) {
            const uint pair = (uint)k_few_pair(corners, id, count, &p, half);
            if (pair == pairs) {
                f->half[1u + 2u * f->count] = half[0];
                f->half[2u + 2u * f->count] = half[1];
                f->at[f->count++] = p;
                f->whole += pair;
            }
            id += pair;
        }
}

/* Sixteen rays, and what each has met. Distance and weights are still to be divided by `size`. */
struct k_rays16 {
    k_f16 ox, oy, oz, dx, dy, dz;
    k_f16 t, b1, b2, size;
    k_mask16 which; /* 0: none, else 1 + 2 times the piece */
};

K_FN k_f16 k_dot16(const float *a, k_f16 x, k_f16 y, k_f16 z)
{
    return x * a[0] + y * a[1] + z * a[2];
}

/* From c + b1 e1 + b2 e2 = t d with c = v0 - o, multiplied by d x e1, d x e2 and n; see Moeller and
 * Trumbore in intersect.h, whose edges are widened alike. */
K_FN void k_few_piece_meet(const struct k_few_piece *f, int which, int whole, int shadow,
                           struct k_rays16 *r)
{
    const k_f16 cx = f->v0[0] - r->ox, cy = f->v0[1] - r->oy, cz = f->v0[2] - r->oz;
    const k_f16 px = cy * r->dz - cz * r->dy, py = cz * r->dx - cx * r->dz,
                pz = cx * r->dy - cy * r->dx;
    const k_f16 det = k_dot16(f->n, r->dx, r->dy, r->dz), size = f16_abs(det);
    const k_f16 t = f16_turn(k_dot16(f->n, cx, cy, cz), det);
    const k_f16 b1 = f16_turn(k_dot16(f->a, px, py, pz), det);
    const k_f16 b2 = f16_turn(k_dot16(f->b, px, py, pz), det);
    const k_f16 edge = size * 0x1p-20f;
    const k_mask16 inside = (-f16_min(b1, b2) <= edge) &
                            ((whole ? f16_max(b1, b2) : b1 + b2) <= size + edge) & (t > 0.0f);
    /* a choice and no fourth condition: the piece before this one is waited for last */
    const k_f16 near = f16_select(inside, t, f16_splat(K_INF));
    const k_mask16 met = near * r->size < r->t * size;
    r->which = (met & which) | (~met & r->which);
    if (shadow)
        return; /* any will do */
    r->t = f16_select(met, t, r->t);
    r->size = f16_select(met, size, r->size);
    r->b1 = f16_select(met, b1, r->b1);
    r->b2 = f16_select(met, b2, r->b2);
}

K_FN void k_few_meet(const struct k_few *f, int shadow, struct k_rays16 *r)
{
    struct k_rays16 rays = *r; /* in registers */
    rays.size = f16_splat(1.0f);
    rays.b1 = rays.b2 = f16_splat(0.0f);
    rays.which = i16_splat(0);
    for (uint i = 0; i < f->whole; i++)
        k_few_piece_meet(&f->at[i], (int)(1u + 2u * i), 1, shadow, &rays);
    for (uint i = f->whole; i < f->count; i++)
        k_few_piece_meet(&f->at[i], (int)(1u + 2u * i), 0, shadow, &rays);
    *r = rays;
}

/* What sixteen rays met. */
struct k_hits16 {
    k_f16 t, weights[3]; /* of the piece's own corner or that across from it, and its edges' ends */
    k_mask16 half;       /* place in k_few */
};
K_FN struct k_hits16 k_few_hits(const struct k_few *f, const struct k_rays16 *r)
{
    struct k_hits16 h;
    const k_f16 over = 1.0f / r->size, b1 = r->b1 * over, b2 = r->b2 * over, both = b1 + b2;
    const k_mask16 far = (both > 1.0f) & (r->which < (int)(1u + 2u * f->whole));
    h.t = r->t * over;
    h.half = r->which - far; /* a mask is -1 */
    h.weights[0] = f16_abs(1.0f - both);
    h.weights[1] = f16_select(far, 1.0f - b2, b1);
    h.weights[2] = f16_select(far, 1.0f - b1, b2);
    return h;
}
#endif

#endif
