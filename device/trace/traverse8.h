/* SPDX-License-Identifier: Apache-2.0 */
/* Closest hit and any hit through the eight-wide tree: eight children, or eight triangles of a
 * leaf, at once. */
#ifndef K_TRAVERSE8_H
#define K_TRAVERSE8_H
#include "math/vec8.h"
#include "trace/traverse2.h"

/* Are blocks tested as fast mode tests a triangle? Where lanes are cheap: there is no shear to be
 * made of each ray, nor axes to be looked up. */
#if K_FAST && defined(K_CPU)
#define K_BARYCENTRIC_BLOCKS 1
#else
#define K_BARYCENTRIC_BLOCKS 0
#endif

/* What blocks and nodes are tested against. */
struct k_ray1 {
    float ox, oy, oz, ix, iy, iz; /* fast: o is the origin times the inverse direction */
    uint nx, ny, nz, fx, fy, fz;  /* word offsets in a node of the planes met first, and last */
#if K_BARYCENTRIC_BLOCKS
    float px, py, pz, dx, dy, dz; /* origin, direction */
#else
    float okx, oky, okz, sx, sy, sz; /* origin in the triangle test's axis order; shear */
    float dkx, dky, dkz;             /* direction in that order */
    uint ax, ay, az;                 /* word offsets of the axes kx, ky, kz in a block */
#endif
};
K_FN struct k_ray1 k_ray1_make(const struct k_ray *r)
{
    struct k_ray1 e;
#if K_FAST
    e.ox = r->o.x * r->inv.x;
    e.oy = r->o.y * r->inv.y;
    e.oz = r->o.z * r->inv.z;
#else
    e.ox = r->o.x;
    e.oy = r->o.y;
    e.oz = r->o.z;
#endif
    e.ix = r->inv.x;
    e.iy = r->inv.y;
    e.iz = r->inv.z;
    e.nx = r->inv.x < 0.0f ? 24 : 0;
    e.ny = r->inv.y < 0.0f ? 32 : 8;
    e.nz = r->inv.z < 0.0f ? 40 : 16;
    e.fx = 24 - e.nx;
    e.fy = 40 - e.ny;
    e.fz = 56 - e.nz;
#if K_BARYCENTRIC_BLOCKS
    e.px = r->o.x;
    e.py = r->o.y;
    e.pz = r->o.z;
    e.dx = r->d.x;
    e.dy = r->d.y;
    e.dz = r->d.z;
#else
    e.okx = k_pick(r->o, r->kx);
    e.oky = k_pick(r->o, r->ky);
    e.okz = k_pick(r->o, r->kz);
    e.sx = r->sx;
    e.sy = r->sy;
    e.sz = r->sz;
    e.dkx = k_pick(r->d, r->kx);
    e.dky = k_pick(r->d, r->ky);
    e.dkz = k_pick(r->d, r->kz);
    e.ax = 8 * (uint)r->kx;
    e.ay = 8 * (uint)r->ky;
    e.az = 8 * (uint)r->kz;
#endif
    return e;
}

/* The same spread over lanes. */
struct k_ray8 {
    k_f8 ox, oy, oz, ix, iy, iz;
    size_t nx, ny, nz, fx, fy, fz;
#if K_BARYCENTRIC_BLOCKS
    k_f8 px, py, pz, dx, dy, dz;
#else
    k_f8 okx, oky, okz, sx, sy, sz;
    float dkx, dky, dkz;
    size_t ax, ay, az;
#endif
};
K_FN struct k_ray8 k_ray8_of(const struct k_ray1 *r)
{
    struct k_ray8 e;
    e.ox = f8_splat(r->ox);
    e.oy = f8_splat(r->oy);
    e.oz = f8_splat(r->oz);
    e.ix = f8_splat(r->ix);
    e.iy = f8_splat(r->iy);
    e.iz = f8_splat(r->iz);
    e.nx = r->nx;
    e.ny = r->ny;
    e.nz = r->nz;
    e.fx = r->fx;
    e.fy = r->fy;
    e.fz = r->fz;
#if K_BARYCENTRIC_BLOCKS
    e.px = f8_splat(r->px);
    e.py = f8_splat(r->py);
    e.pz = f8_splat(r->pz);
    e.dx = f8_splat(r->dx);
    e.dy = f8_splat(r->dy);
    e.dz = f8_splat(r->dz);
#else
    e.okx = f8_splat(r->okx);
    e.oky = f8_splat(r->oky);
    e.okz = f8_splat(r->okz);
    e.sx = f8_splat(r->sx);
    e.sy = f8_splat(r->sy);
    e.sz = f8_splat(r->sz);
    e.dkx = r->dkx;
    e.dky = r->dky;
    e.dkz = r->dkz;
    e.ax = r->ax;
    e.ay = r->ay;
    e.az = r->az;
#endif
    return e;
}
K_FN struct k_ray8 k_ray8_make(const struct k_ray *r)
{
    const struct k_ray1 one = k_ray1_make(r);
    return k_ray8_of(&one);
}

/* Bits of the children that k_slab would say yes to; where the ray enters them. Which of a box's
 * two planes is met first, k_slab finds by comparing; here the direction's sign tells. The numbers
 * are the same, since rounding keeps order: of the products too, so that the slack is taken once.
 * A child that is not there has lo = inf and hi = -inf: no ray meets those in this order. fast: one
 * fused operation a plane; what that loses, 2^-24 of the origin's coordinate where the box is near
 * and of the distance where it is not, is less than what boxes are widened by (2^-20) and the
 * slack. */
K_FN k_mask8 k_node8_meet(K_GLOBAL const float *n, const struct k_ray8 *e, float t, k_f8 *entries)
{
#if K_FAST
    k_f8 x0 = f8_sub(f8_mul(f8_load(n + e->nx), e->ix), e->ox);
    k_f8 y0 = f8_sub(f8_mul(f8_load(n + e->ny), e->iy), e->oy);
    k_f8 z0 = f8_sub(f8_mul(f8_load(n + e->nz), e->iz), e->oz);
    k_f8 x1 = f8_sub(f8_mul(f8_load(n + e->fx), e->ix), e->ox);
    k_f8 y1 = f8_sub(f8_mul(f8_load(n + e->fy), e->iy), e->oy);
    k_f8 z1 = f8_sub(f8_mul(f8_load(n + e->fz), e->iz), e->oz);
#else
    k_f8 x0 = f8_mul(f8_sub(f8_load(n + e->nx), e->ox), e->ix);
    k_f8 y0 = f8_mul(f8_sub(f8_load(n + e->ny), e->oy), e->iy);
    k_f8 z0 = f8_mul(f8_sub(f8_load(n + e->nz), e->oz), e->iz);
    k_f8 x1 = f8_mul(f8_sub(f8_load(n + e->fx), e->ox), e->ix);
    k_f8 y1 = f8_mul(f8_sub(f8_load(n + e->fy), e->oy), e->iy);
    k_f8 z1 = f8_mul(f8_sub(f8_load(n + e->fz), e->oz), e->iz);
#endif
    k_f8 out = f8_mul(f8_min(f8_min(x1, y1), f8_min(z1, f8_splat(t))), f8_splat(K_SLACK));
    k_f8 in = f8_max(f8_max(x0, y0), f8_max(z0, f8_splat(0.0f)));
    *entries = in;
    return f8_le(in, out);
}
K_FN k_bits k_node8_test(K_GLOBAL const float *n, const struct k_ray8 *e, float t, float *entries)
{
    k_f8 in;
    const k_mask8 met = k_node8_meet(n, e, t, &in);
    f8_store(in, entries);
    return f8_bits(met);
}

#if !K_BARYCENTRIC_BLOCKS
/* k_plane_distance of eight triangles. */
K_FN k_f8 k_block_plane_distance(K_GLOBAL const float *b, const struct k_ray8 *e)
{
    k_f8 x = f8_load(b + e->ax), y = f8_load(b + e->ay), z = f8_load(b + e->az);
    k_f8 px = f8_sub(f8_load(b + 24 + e->ax), x), py = f8_sub(f8_load(b + 24 + e->ay), y),
         pz = f8_sub(f8_load(b + 24 + e->az), z);
    k_f8 qx = f8_sub(f8_load(b + 48 + e->ax), x), qy = f8_sub(f8_load(b + 48 + e->ay), y),
         qz = f8_sub(f8_load(b + 48 + e->az), z);
    k_f8 nx = f8_sub(f8_mul(py, qz), f8_mul(pz, qy)); /* kx, ky, kz are in cyclic order */
    k_f8 ny = f8_sub(f8_mul(pz, qx), f8_mul(px, qz));
    k_f8 nz = f8_sub(f8_mul(px, qy), f8_mul(py, qx));
    k_f8 along = f8_add(f8_add(f8_mul(f8_splat(e->dkx), nx), f8_mul(f8_splat(e->dky), ny)),
                        f8_mul(f8_splat(e->dkz), nz));
    k_f8 above = f8_add(f8_add(f8_mul(f8_sub(x, e->okx), nx), f8_mul(f8_sub(y, e->oky), ny)),
                        f8_mul(f8_sub(z, e->okz), nz));
    k_f8 zero = f8_splat(0.0f);
    k_mask8 parallel = f8_and(f8_le(along, zero), f8_le(zero, along));
    return f8_select(parallel, zero, f8_div(above, along));
}
#endif

/* k_triangle_test on eight triangles: bits of those with 0 < t < t_max and t <= best. */
struct k_lanes {
    float t[8], v[8], w[8], det[8];
} __attribute__((aligned(32)));
#if K_BARYCENTRIC_BLOCKS
/* k_triangle_test of fast mode, compared before anything is divided; det is 1 then. */
K_FN k_bits k_block_test(K_GLOBAL const float *b, const struct k_ray8 *e, float t_max, float best,
                         struct k_lanes *out)
{
    k_f8 ax = f8_load(b), ay = f8_load(b + 8), az = f8_load(b + 16);
    k_f8 e1x = f8_sub(f8_load(b + 24), ax), e1y = f8_sub(f8_load(b + 32), ay),
         e1z = f8_sub(f8_load(b + 40), az);
    k_f8 e2x = f8_sub(f8_load(b + 48), ax), e2y = f8_sub(f8_load(b + 56), ay),
         e2z = f8_sub(f8_load(b + 64), az);
    k_f8 px = f8_sub(f8_mul(e->dy, e2z), f8_mul(e->dz, e2y));
    k_f8 py = f8_sub(f8_mul(e->dz, e2x), f8_mul(e->dx, e2z));
    k_f8 pz = f8_sub(f8_mul(e->dx, e2y), f8_mul(e->dy, e2x));
    k_f8 sx = f8_sub(e->px, ax), sy = f8_sub(e->py, ay), sz = f8_sub(e->pz, az);
    k_f8 qx = f8_sub(f8_mul(sy, e1z), f8_mul(sz, e1y));
    k_f8 qy = f8_sub(f8_mul(sz, e1x), f8_mul(sx, e1z));
    k_f8 qz = f8_sub(f8_mul(sx, e1y), f8_mul(sy, e1x));
    k_f8 det = f8_add(f8_add(f8_mul(e1x, px), f8_mul(e1y, py)), f8_mul(e1z, pz));
    k_f8 v = f8_add(f8_add(f8_mul(sx, px), f8_mul(sy, py)), f8_mul(sz, pz));
    k_f8 w = f8_add(f8_add(f8_mul(e->dx, qx), f8_mul(e->dy, qy)), f8_mul(e->dz, qz));
    k_f8 t = f8_add(f8_add(f8_mul(e2x, qx), f8_mul(e2y, qy)), f8_mul(e2z, qz));
    k_f8 size = f8_turn(det, det), edge = f8_mul(size, f8_splat(-0x1p-20f));
    v = f8_turn(v, det);
    w = f8_turn(w, det);
    t = f8_turn(t, det);
    k_mask8 inside = f8_and(f8_le(edge, f8_min(v, w)), f8_le(f8_add(v, w), f8_sub(size, edge)));
    k_mask8 between = f8_and(f8_lt(f8_splat(0.0f), t), f8_le(t, f8_mul(size, f8_splat(best))));
    k_bits bits = f8_bits(f8_and(inside, between));
    (void)t_max; /* best is no more */
    if (bits) {
        k_f8 inv = f8_div(f8_splat(1.0f), size);
        f8_store(f8_mul(t, inv), out->t);
        f8_store(f8_mul(v, inv), out->v);
        f8_store(f8_mul(w, inv), out->w);
        f8_store(f8_splat(1.0f), out->det);
    }
    return bits;
}
#else
K_FN k_bits k_block_test(K_GLOBAL const float *b, const struct k_ray8 *e, float t_max, float best,
                         struct k_lanes *out)
{
    k_f8 az = f8_sub(f8_load(b + e->az), e->okz);
    k_f8 bz = f8_sub(f8_load(b + 24 + e->az), e->okz);
    k_f8 cz = f8_sub(f8_load(b + 48 + e->az), e->okz);
    k_f8 ax = f8_less_product(f8_sub(f8_load(b + e->ax), e->okx), e->sx, az);
    k_f8 ay = f8_less_product(f8_sub(f8_load(b + e->ay), e->oky), e->sy, az);
    k_f8 bx = f8_less_product(f8_sub(f8_load(b + 24 + e->ax), e->okx), e->sx, bz);
    k_f8 by = f8_less_product(f8_sub(f8_load(b + 24 + e->ay), e->oky), e->sy, bz);
    k_f8 cx = f8_less_product(f8_sub(f8_load(b + 48 + e->ax), e->okx), e->sx, cz);
    k_f8 cy = f8_less_product(f8_sub(f8_load(b + 48 + e->ay), e->oky), e->sy, cz);
    k_f8 cb = f8_mul(cx, by), bc = f8_mul(cy, bx), ac = f8_mul(ax, cy), ca = f8_mul(ay, cx),
         ba = f8_mul(bx, ay), ab = f8_mul(by, ax);
    k_mask8 above = f8_and(f8_and(f8_le(bc, cb), f8_le(ca, ac)), f8_le(ab, ba));
    k_mask8 below = f8_and(f8_and(f8_le(cb, bc), f8_le(ac, ca)), f8_le(ba, ab));
    k_mask8 one_sign = f8_or(above, below);
#ifndef K_CPU
    if (f8_bits(one_sign) == 0)
        return 0;
#endif
    k_f8 zero = f8_splat(0.0f), u = f8_sub(cb, bc), v = f8_sub(ac, ca), w = f8_sub(ba, ab);
    k_f8 det = f8_add(f8_add(u, v), w);
    k_f8 za = f8_mul(e->sz, az), zb = f8_mul(e->sz, bz), zc = f8_mul(e->sz, cz);
    k_f8 sum = f8_add(f8_add(f8_mul(u, za), f8_mul(v, zb)), f8_mul(w, zc));
    k_f8 farthest = f8_max(f8_max(za, zb), zc);
    k_f8 range = f8_sub(farthest, f8_min(f8_min(za, zb), zc));
#ifdef K_CPU
    /* One branch, which waits for no division: leaves that pass below pass here, where the bounds
     * of t = sum / det are 2^-20 of themselves wider. */
    k_f8 size = f8_turn(det, det), turned = f8_turn(sum, det);
    k_f8 last = f8_max(f8_splat(best * 0x1.00001p0f), f8_mul(f8_splat(0x1.00001p-4f), range));
    k_f8 first = f8_mul(f8_splat(-0x1.00001p-20f), range);
    k_mask8 perhaps = f8_and(f8_le(f8_mul(size, first), turned), f8_le(turned, f8_mul(size, last)));
    if (f8_bits(f8_and(one_sign, perhaps)) == 0)
        return 0;
#endif
    k_f8 t = f8_div(sum, det); /* det 0: all are 0, t is NaN, no hit below */
    k_mask8 near = f8_and(f8_and(one_sign, f8_lt(t, f8_mul(f8_splat(0x1p-4f), range))),
                          f8_lt(f8_mul(f8_splat(-0x1p-20f), range), t));
    if (f8_bits(near))
        t = f8_select(near, f8_min(k_block_plane_distance(b, e), farthest), t);
    k_bits bits = f8_bits(f8_and(f8_and(one_sign, f8_lt(zero, t)),
                                 f8_and(f8_lt(t, f8_splat(t_max)), f8_le(t, f8_splat(best)))));
    if (bits) {
        f8_store(t, out->t);
        f8_store(v, out->v);
        f8_store(w, out->w);
        f8_store(det, out->det);
    }
    return bits;
}
#endif

/* b: the block's words from the triangle's lane on. */
K_FN struct k_triangle k_block_triangle(K_GLOBAL const float *b)
{
    struct k_triangle t;
    t.v0 = v3(b[0], b[8], b[16]);
    t.v1 = v3(b[24], b[32], b[40]);
    t.v2 = v3(b[48], b[56], b[64]);
    return t;
}

#ifdef K_CPU
/* What shading reads of a triangle that is met, but its corners. */
K_FN void k_triangle_fetch(const struct k_scene *sc, uint id)
{
    if (sc->launch->normals)
        K_SOON(sc->triangles + 3 * (size_t)id);
    K_SOON(sc->primitive_materials + id);
}
#endif

/* All primitives of one leaf block. Lanes beyond the last triangle repeat the first. */
K_FN void k_leaf8(const struct k_scene *sc, const struct k_ray *r, const struct k_ray8 *e,
                  uint leaf, float t_max, int shadow, struct k_best *best)
{
    K_GLOBAL const float *b = sc->leaves + K_BLOCK_WORDS * (size_t)(leaf & K_LEAF_INDEX);
    K_GLOBAL const uint *ids = (K_GLOBAL const uint *)(b + 72);
    struct k_lanes h;
    k_bits bits = k_block_test(b, e, t_max, best->t, &h);
    while (bits) {
        uint lane = k_lowest_lane(bits);
        bits &= bits - 1;
        if (FAULT_OFF_BY_ONE_LEAF(lane == 7 || ids[lane + 1] == ids[0], lane > 0))
            continue;
#if K_BARYCENTRIC_BLOCKS
        if (!K_HAS(CUTOUTS) && shadow) { /* any will do */
            best->primitive = ids[lane];
            return;
        }
#endif
        if (!k_offer_triangle(sc, r, k_block_triangle(b + lane), ids[lane], h.t[lane], h.v[lane],
                              h.w[lane], h.det[lane], best))
            continue;
#ifdef K_CPU
        best->corners = b + lane;
#ifndef K_ABREAST /* there it is known to be the closest before it is fetched */
        k_triangle_fetch(sc, ids[lane]);
#endif
#endif
    }
}

/* A leaf that holds spheres, disks or instances, one primitive after the other from lane `lane` on;
 * unused lanes have no id. Gives the lane of an instance to enter, or 8. */
K_NOINLINE uint k_leaf8_mixed(const struct k_scene *sc, struct k_vec3 o, struct k_vec3 d, uint leaf,
                              uint lane, float t_max, struct k_best *best)
{
    K_GLOBAL const float *b = sc->leaves + K_BLOCK_WORDS * (size_t)(leaf & K_LEAF_INDEX);
    K_GLOBAL const uint *ids = (K_GLOBAL const uint *)(b + 72);
    struct k_ray r = k_ray_make(o, d); /* made again: such leaves are few */
    uint triangles = sc->launch->triangle_count;
    const uint own = triangles + sc->launch->sphere_count + sc->launch->disk_count;
    for (; lane < 8 && ids[lane] != K_NONE; lane++) {
        if (FAULT_OFF_BY_ONE_LEAF(lane == 7 || ids[lane + 1] == K_NONE, lane > 0))
            continue;
        if (K_HAS(INSTANCES) && ids[lane] >= own) {
            if (k_instance_meets(sc, o, r.inv, ids[lane] - own, best->t))
                return lane;
            continue;
        }
        if (ids[lane] < triangles)
            k_try_triangle(sc, &r, k_block_triangle(b + lane), ids[lane], t_max, best);
        else
            k_try_round(sc, &r, ids[lane], t_max, best);
    }
    return 8;
}

#ifdef K_CPU

/* Disks of a block that k_disk_test may say yes to, by the same operations. */
K_FN k_bits k_disks_test(K_GLOBAL const float *b, struct k_vec3 o, struct k_vec3 d, float best)
{
    k_f8 dx = f8_splat(d.x), dy = f8_splat(d.y), dz = f8_splat(d.z);
    k_f8 ox = f8_splat(o.x), oy = f8_splat(o.y), oz = f8_splat(o.z);
    k_f8 cx = f8_load(b), cy = f8_load(b + 8), cz = f8_load(b + 16);
    k_f8 nx = f8_load(b + 24), ny = f8_load(b + 32), nz = f8_load(b + 40), r = f8_load(b + 48);
    k_f8 den = f8_add(f8_add(f8_mul(dx, nx), f8_mul(dy, ny)), f8_mul(dz, nz));
    k_f8 above = f8_add(f8_add(f8_mul(f8_sub(cx, ox), nx), f8_mul(f8_sub(cy, oy), ny)),
                        f8_mul(f8_sub(cz, oz), nz));
    k_f8 t = f8_div(above, den); /* den 0: infinite or NaN, which no comparison below takes */
    k_f8 x = f8_sub(f8_add(ox, f8_mul(dx, t)), cx);
    k_f8 y = f8_sub(f8_add(oy, f8_mul(dy, t)), cy);
    k_f8 z = f8_sub(f8_add(oz, f8_mul(dz, t)), cz);
    k_f8 q2 = f8_add(f8_add(f8_mul(x, x), f8_mul(y, y)), f8_mul(z, z));
    return f8_bits(f8_and(f8_and(f8_lt(f8_splat(0.0f), t), f8_le(t, f8_splat(best))),
                          f8_le(q2, f8_mul(r, r))));
}

/* What is left to visit, nearest on top: where the ray enters it, as bits, over its node. Entries
 * are not negative, so that the order of these numbers is that of entries. */
struct k_stack8 {
    k_key key[K_STACK8 + 8]; /* and room for a node's eight */
};
K_FN uint k_stack8_node(const struct k_stack8 *s, int at) { return (uint)s->key[at]; }
K_FN float k_stack8_entry(const struct k_stack8 *s, int at)
{
    return K_AS_FLOAT((uint)(s->key[at] >> 32));
}
K_FN k_key k_key_make(K_GLOBAL const uint *child, const float *entries, k_bits bits)
{
    uint lane = k_lowest_lane(bits);
    return (k_key)K_AS_UINT(entries[lane]) << 32 | child[lane];
}
K_FN k_key k_key_less(k_key a, k_key b) { return a < b ? a : b; }
K_FN k_key k_key_more(k_key a, k_key b) { return a < b ? b : a; }

/* Children `bits` of a node: gives the nearest, postpones the others in order. */
K_INLINE uint k_order8(K_GLOBAL const uint *child, const float *entries, k_bits bits, int shadow,
                       struct k_stack8 *stack, int *depth)
{
    k_key a = k_key_make(child, entries, bits);
    bits &= bits - 1;
    if (bits == 0)
        return (uint)a;
    k_key b = k_key_make(child, entries, bits);
    k_key nearest = k_key_less(a, b);
    const int base = *depth;
    int top = base;
    stack->key[top++] = k_key_more(a, b);
    while (bits &= bits - 1) {
        k_key next = k_key_make(child, entries, bits);
        b = k_key_more(nearest, next);
        nearest = k_key_less(nearest, next);
        int at = top++;
        while (!shadow && at > base && stack->key[at - 1] < b) {
            stack->key[at] = stack->key[at - 1];
            at--;
        }
        stack->key[at] = b;
    }
    *depth = top;
    return (uint)nearest;
}

#else

/* What is left to visit, nearest on top. */
struct k_stack8 {
    uint node[K_STACK8];
    float entry[K_STACK8];
};

K_FN uint k_stack8_node(const struct k_stack8 *s, int at) { return s->node[at]; }
K_FN float k_stack8_entry(const struct k_stack8 *s, int at) { return s->entry[at]; }

/* Children `bits` of a node: gives the nearest, postpones the others in order. */
K_INLINE uint k_order8(K_GLOBAL const uint *child, const float *entries, k_bits bits, int shadow,
                       struct k_stack8 *stack, int *depth)
{
    uint lane = k_lowest_lane(bits);
    bits &= bits - 1;
    uint nearest = child[lane];
    if (bits == 0)
        return nearest;
    float entry = entries[lane];
    int base = *depth, top = base;
    do {
        lane = k_lowest_lane(bits);
        bits &= bits - 1;
        uint next = child[lane];
        float next_entry = entries[lane];
        int closer = next_entry < entry;
        uint swap = closer ? nearest : next;
        float swap_entry = k_select(closer, entry, next_entry);
        nearest = closer ? next : nearest;
        entry = k_select(closer, next_entry, entry);
        int at = top++;
        while (!shadow && at > base && stack->entry[at - 1] < swap_entry) {
            stack->entry[at] = stack->entry[at - 1];
            stack->node[at] = stack->node[at - 1];
            at--;
        }
        stack->node[at] = swap;
        stack->entry[at] = swap_entry;
    } while (bits);
    *depth = top;
    return nearest;
}

#endif

/* Two levels: traverse2.h says how. */
K_INLINE struct k_best k_traverse8(const struct k_scene *sc, const struct k_ray *world, float t_max,
                                   int shadow)
{
    struct k_best best = k_best_none(t_max);
    struct k_ray8 e = k_ray8_make(world);
    struct k_stack8 stack;
    int depth = 0;
    uint node = 0;
    struct k_ray here = *world;
    struct k_entered entered;
    uint lane = 0;
    entered.floor = -1;
    entered.first = 0;
    entered.count = 0;
    for (;;) {
        while (!(node & K_LEAF)) {
            K_COUNT(sc, K_COUNT_NODES);
            K_GLOBAL const float *n = sc->nodes + K_NODE8_WORDS * (size_t)node;
            float entries[8] __attribute__((aligned(32)));
            k_bits bits = k_node8_test(n, &e, best.t, entries);
            if (bits == 0)
                goto next;
            node = k_order8((K_GLOBAL const uint *)(n + 48), entries, bits, shadow, &stack, &depth);
        }
        if (K_UNLIKELY(node & K_LEAF_MIXED)) {
#ifdef K_CPU
            if (node & K_LEAF_DISKS) {
                K_GLOBAL const float *b =
                    sc->leaves + K_BLOCK_WORDS * (size_t)(node & K_LEAF_INDEX);
                k_bits bits = k_disks_test(b, world->o, world->d, best.t);
                if (bits == 0)
                    goto next;
                lane = k_lowest_lane(bits);
            }
            struct k_best found = best; /* a copy: `best` itself stays in registers */
            uint at = k_leaf8_mixed(sc, here.o, here.d, node, lane, t_max, &found);
            best = found;
#else
            uint at = k_leaf8_mixed(sc, here.o, here.d, node, lane, t_max, &best);
#endif
            lane = 0;
            if (K_HAS(INSTANCES) && at < 8 && !(shadow && best.primitive != K_NONE)) {
                K_GLOBAL const uint *ids =
                    (K_GLOBAL const uint *)(sc->leaves +
                                            K_BLOCK_WORDS * (size_t)(node & K_LEAF_INDEX) + 72);
                uint instance = ids[at] - (sc->launch->triangle_count + sc->launch->sphere_count +
                                           sc->launch->disk_count);
                here = k_ray_in_instance(sc, world, instance);
                e = k_ray8_make(&here);
                entered.floor = depth;
                entered.first = node;
                entered.count = at + 1;
                node = sc->instances[instance].root;
                continue;
            }
        } else {
            k_leaf8(sc, &here, &e, node, t_max, shadow, &best);
        }
        if (shadow && best.primitive != K_NONE)
            return best;
    next:
        for (;;) {
            if (K_HAS(INSTANCES) && depth == entered.floor) {
                here = *world;
                e = k_ray8_make(&here);
                entered.floor = -1;
                node = entered.first;
                lane = entered.count;
                break;
            }
            if (depth == 0)
                return best;
            node = k_stack8_node(&stack, --depth);
            if (!(k_stack8_entry(&stack, depth) > best.t * K_SLACK))
                break;
        }
    }
}

#endif
