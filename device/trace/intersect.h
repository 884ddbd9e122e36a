/* SPDX-License-Identifier: Apache-2.0 */
/* One ray against one primitive (protocol section 4 and Part II). */
#ifndef K_INTERSECT_H
#define K_INTERSECT_H
#include "math/elementary.h"
#include "scene/scene.h"

/* Slack of the slab test: 1 + 2^-18. */
#define K_SLACK 1.000003814697265625f

/* A ray with what every test needs: for Woop's test the axis of the largest direction component,
 * the two others in cyclic order, and the shear; for the slab test the reciprocal direction, held
 * finite. */
struct k_ray {
    struct k_vec3 o, d;
    struct k_vec3 inv;
    int kx, ky, kz;
    float sx, sy, sz;
    uint instance; /* whose space it is in; K_NONE: the world's */
    uint shift, mirrors;
    struct k_vec3 world_o, world_inv; /* in an instance: the ray that entered */
};

K_FN float k_pick(struct k_vec3 v, int axis)
{
#ifdef K_NATIVE
    float a[3] = {v.x, v.y, v.z}; /* a load, where three choices would be branches */
    return a[axis];
#else
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
#endif
}

K_FN float k_reciprocal(float d)
{
    return K_UNLIKELY(K_ABS(d) < 0x1p-60f) ? k_copysign(0x1p60f, d) : 1.0f / d;
}

K_FN struct k_ray k_ray_make(struct k_vec3 o, struct k_vec3 d)
{
    struct k_ray r;
    float ax = K_ABS(d.x), ay = K_ABS(d.y), az = K_ABS(d.z);
    r.o = o;
    r.d = d;
    r.inv = v3(k_reciprocal(d.x), k_reciprocal(d.y), k_reciprocal(d.z));
    int y = ay > ax, z = az > k_max(ax, ay); /* of equals the first */
    r.kz = (z << 1) | (y & ~z);
    r.kx = (9 >> (2 * r.kz)) & 3;  /* 1, 2, 0 */
    r.ky = (18 >> (2 * r.kz)) & 3; /* 2, 0, 1 */
    r.sz = k_pick(r.inv, r.kz);
    r.sx = k_pick(d, r.kx) * r.sz;
    r.sy = k_pick(d, r.ky) * r.sz;
    r.instance = K_NONE;
    r.shift = 0;
    r.mirrors = 0;
    r.world_o = o;
    r.world_inv = r.inv;
    return r;
}

/* Does the ray meet the box somewhere in [0, t]? Monotone in the box and in t: rounding keeps the
 * order of what it rounds, so a larger box or a larger t never turns yes into no. Both trees and
 * the definition of a hit rest on that. *entry: where it enters, at least 0. */
K_FN int k_slab_of(struct k_vec3 o, struct k_vec3 inv, struct k_vec3 lo, struct k_vec3 hi, float t,
                   float *entry)
{
    float x0 = (lo.x - o.x) * inv.x, x1 = (hi.x - o.x) * inv.x;
    float y0 = (lo.y - o.y) * inv.y, y1 = (hi.y - o.y) * inv.y;
    float z0 = (lo.z - o.z) * inv.z, z1 = (hi.z - o.z) * inv.z;
    float in = k_max(k_max(k_min(x0, x1), k_min(y0, y1)), k_max(k_min(z0, z1), 0.0f));
    float out = k_min(k_min(k_max(x0, x1), k_max(y0, y1)), k_max(z0, z1));
    *entry = in;
    return in <= k_min(out * K_SLACK, t * K_SLACK);
}
K_FN int k_slab(const struct k_ray *r, struct k_vec3 lo, struct k_vec3 hi, float t, float *entry)
{
    return k_slab_of(r->o, r->inv, lo, hi, t, entry);
}

/* What inner nodes of the binary tree are tested against. Outside fast mode it is k_slab's ray. In
 * fast mode (plane - o) / d is one multiplication and addition, plane inv + offset: the offset -o
 * inv is rounded twice and the product at most once more, together less than 2^-22 |o inv|, by
 * which the offsets of the lower and the upper planes are moved apart; what is relative to the
 * distance K_SLACK covers, as it does in k_slab. */
struct k_node_ray {
    struct k_vec3 inv;
#if K_FAST
    struct k_vec3 lower, upper; /* offsets */
#else
    struct k_vec3 o;
#endif
};
#if K_FAST
K_FN void k_node_offsets(float o, float inv, float *lower, float *upper)
{
    float at = -(o * inv), apart = k_copysign(K_ABS(at) * 0x1p-22f, inv);
    *lower = at - apart; /* the lower plane is met first where inv is positive, last elsewhere */
    *upper = at + apart;
}
#endif
K_FN struct k_node_ray k_node_ray_make(const struct k_ray *r)
{
    struct k_node_ray n;
    n.inv = r->inv;
#if K_FAST
    k_node_offsets(r->o.x, r->inv.x, &n.lower.x, &n.upper.x);
    k_node_offsets(r->o.y, r->inv.y, &n.lower.y, &n.upper.y);
    k_node_offsets(r->o.z, r->inv.z, &n.lower.z, &n.upper.z);
#else
    n.o = r->o;
#endif
    return n;
}
K_FN int k_node_slab(const struct k_node_ray *n, struct k_vec3 lo, struct k_vec3 hi, float t,
                     float *entry)
{
#if K_FAST
    float x0 = lo.x * n->inv.x + n->lower.x, x1 = hi.x * n->inv.x + n->upper.x;
    float y0 = lo.y * n->inv.y + n->lower.y, y1 = hi.y * n->inv.y + n->upper.y;
    float z0 = lo.z * n->inv.z + n->lower.z, z1 = hi.z * n->inv.z + n->upper.z;
    float in = k_max(k_max(k_min(x0, x1), k_min(y0, y1)), k_max(k_min(z0, z1), 0.0f));
    float out = k_min(k_min(k_max(x0, x1), k_max(y0, y1)), k_max(z0, z1));
    *entry = in;
    return in <= k_min(out * K_SLACK, t * K_SLACK);
#else
    return k_slab_of(n->o, n->inv, lo, hi, t, entry);
#endif
}

/* The box of a primitive that spans lo..hi, widened: 2^-9 of its largest side and 2^-20 of its
 * largest coordinate. */
K_FN void k_box_widen(struct k_vec3 *lo, struct k_vec3 *hi)
{
    float side = v3_max(v3_sub(*hi, *lo));
    float m = side * 0x1p-9f + k_max(v3_max_abs(*lo), v3_max_abs(*hi)) * 0x1p-20f;
    *lo = v3(lo->x - m, lo->y - m, lo->z - m);
    *hi = v3(hi->x + m, hi->y + m, hi->z + m);
}
/* The second half of "hit": the ray meets the primitive's own widened box no later than at t. */
K_FN int k_box_confirms(const struct k_ray *r, struct k_vec3 lo, struct k_vec3 hi, float t)
{
#if K_FAST
    (void)r, (void)lo, (void)hi, (void)t;
    return 1;
#else
    float entry;
    k_box_widen(&lo, &hi);
    return k_slab(r, lo, hi, t, &entry);
#endif
}
K_FN int k_triangle_confirms(const struct k_ray *r, struct k_triangle v, float t)
{
    struct k_vec3 lo =
        v3(k_min(k_min(v.v0.x, v.v1.x), v.v2.x), k_min(k_min(v.v0.y, v.v1.y), v.v2.y),
           k_min(k_min(v.v0.z, v.v1.z), v.v2.z));
    struct k_vec3 hi =
        v3(k_max(k_max(v.v0.x, v.v1.x), v.v2.x), k_max(k_max(v.v0.y, v.v1.y), v.v2.y),
           k_max(k_max(v.v0.z, v.v1.z), v.v2.z));
    return k_box_confirms(r, lo, hi, t);
}
K_FN int k_round_confirms(const struct k_ray *r, struct k_vec3 c, float radius, float t)
{
    return k_box_confirms(r, v3(c.x - radius, c.y - radius, c.z - radius),
                          v3(c.x + radius, c.y + radius, c.z + radius), t);
}

struct k_triangle_hit {
    float t, v, w, det; /* b1 = v / det, b2 = w / det */
};

#if K_FAST
/* Moeller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", JGT 1997. Edges are
 * widened by 2^-20 of the triangle, some times its rounding error, so that neighbours leave no gap.
 */
K_FN int k_triangle_test(const struct k_ray *r, struct k_triangle tri, float t_max,
                         struct k_triangle_hit *hit)
{
    struct k_vec3 e1 = v3_sub(tri.v1, tri.v0), e2 = v3_sub(tri.v2, tri.v0);
    struct k_vec3 p = v3_cross(r->d, e2), s = v3_sub(r->o, tri.v0), q = v3_cross(s, e1);
    float inv = 1.0f / v3_dot(e1, p);
    float b1 = v3_dot(s, p) * inv, b2 = v3_dot(r->d, q) * inv, t = v3_dot(e2, q) * inv;
    if (!(b1 >= -0x1p-20f && b2 >= -0x1p-20f && b1 + b2 <= 1.0f + 0x1p-20f && t > 0.0f &&
          t < t_max))
        return 0;
    hit->t = t;
    hit->v = b1;
    hit->w = b2;
    hit->det = 1.0f;
    return 1;
}
#else
/* Where the ray meets the plane of a triangle that is large beside the distance; a = v0 - o. The
 * sum over vertices would be wrong by roundings of the triangle's size, and so would be the side of
 * the plane that the ray starts on; this goes with the origin's distance from the plane. Not
 * positive where the ray runs along the plane. */
K_FN float k_plane_distance(const struct k_ray *r, struct k_triangle tri, struct k_vec3 a)
{
    struct k_vec3 n = v3_cross(v3_sub(tri.v1, tri.v0), v3_sub(tri.v2, tri.v0));
    float nx = k_pick(n, r->kx), ny = k_pick(n, r->ky), nz = k_pick(n, r->kz);
    float along = (k_pick(r->d, r->kx) * nx + k_pick(r->d, r->ky) * ny) + k_pick(r->d, r->kz) * nz;
    float above = (k_pick(a, r->kx) * nx + k_pick(a, r->ky) * ny) + k_pick(a, r->kz) * nz;
    return along == 0.0f ? 0.0f : above / along;
}

/* Woop, Benthin, Wald: "Watertight Ray/Triangle Intersection", JCGT 2013, in float alone: a and c d
 * - e f seen from both sides of an edge differ in sign only, so neighbours agree. Contracted, c d -
 * e f does not: so the products decide, which contraction leaves alone; and a corner is sheared by
 * the same rounding whether it is a, b or c. Sign of the determinant does not matter here, and so
 * neither does the winding. */
K_FN int k_triangle_test(const struct k_ray *r, struct k_triangle tri, float t_max,
                         struct k_triangle_hit *hit)
{
    struct k_vec3 a = v3_sub(tri.v0, r->o), b = v3_sub(tri.v1, r->o), c = v3_sub(tri.v2, r->o);
    float az = k_pick(a, r->kz), bz = k_pick(b, r->kz), cz = k_pick(c, r->kz);
    float ax = K_LESS_PRODUCT(k_pick(a, r->kx), r->sx, az);
    float ay = K_LESS_PRODUCT(k_pick(a, r->ky), r->sy, az);
    float bx = K_LESS_PRODUCT(k_pick(b, r->kx), r->sx, bz);
    float by = K_LESS_PRODUCT(k_pick(b, r->ky), r->sy, bz);
    float cx = K_LESS_PRODUCT(k_pick(c, r->kx), r->sx, cz);
    float cy = K_LESS_PRODUCT(k_pick(c, r->ky), r->sy, cz);
    float cb = cx * by, bc = cy * bx, ac = ax * cy, ca = ay * cx, ba = bx * ay, ab = by * ax;
    if ((cb < bc || ac < ca || ba < ab) && (cb > bc || ac > ca || ba > ab))
        return 0;
    float u = cb - bc, v = ac - ca, w = ba - ab;
    float det = (u + v) + w;
    if (det == 0.0f)
        return 0;
    float za = r->sz * az, zb = r->sz * bz, zc = r->sz * cz;
    float most = k_max(k_max(za, zb), zc), range = most - k_min(k_min(za, zb), zc);
    float t = ((u * za + v * zb) + w * zc) / det;
    if (t < 0x1p-4f * range && t > -0x1p-20f * range)
        t = k_min(k_plane_distance(r, tri, a), most);
    if (!(t > 0.0f && t < t_max))
        return 0;
    hit->t = t;
    hit->v = v;
    hit->w = w;
    hit->det = det;
    return 1;
}
#endif

/* Both parameters, the lesser first. */
K_FN int k_sphere_roots(const struct k_ray *r, struct k_vec3 c, float radius, float t[2])
{
    struct k_vec3 f = v3_sub(r->o, c);
    float b = -v3_dot(f, r->d);
    struct k_vec3 l = v3_madd(f, r->d, b);
    float disc = radius * radius - v3_dot(l, l);
    if (!(disc >= 0.0f))
        return 0;
    float root = K_SQRT(disc);
    float q = b < 0.0f ? b - root : b + root;
    if (q == 0.0f)
        return 0;
    float p = (v3_dot(f, f) - radius * radius) / q;
    t[0] = k_min(p, q);
    t[1] = k_max(p, q);
    return 1;
}
K_FN int k_sphere_test(const struct k_ray *r, struct k_vec3 c, float radius, float t_max, float *t)
{
    float both[2];
    if (!k_sphere_roots(r, c, radius, both))
        return 0;
    *t = both[0] > 0.0f ? both[0] : both[1];
    return *t > 0.0f && *t < t_max;
}
/* Where on a sphere its unit normal n is. */
K_FN void k_sphere_uv(struct k_vec3 n, float *u, float *v)
{
    float turn = k_atan2(n.y, n.x) * K_INV_2PI;
    *u = turn < 0.0f ? turn + 1.0f : turn;
    *v = 1.0f - k_acos(k_min(k_max(n.z, -1.0f), 1.0f)) * K_INV_PI;
}
/* And where on a disk q from its centre is. */
K_FN void k_disk_uv(struct k_vec3 n, struct k_vec3 q, float radius, float *u, float *v)
{
    struct k_frame f = k_frame_about(n);
    *u = 0.5f + (0.5f * v3_dot(q, f.s)) / radius;
    *v = 0.5f + (0.5f * v3_dot(q, f.t)) / radius;
}

K_FN int k_disk_test(const struct k_ray *r, struct k_vec3 c, struct k_vec3 n, float radius,
                     float t_max, float *t)
{
    float den = v3_dot(r->d, n);
    if (den == 0.0f)
        return 0;
    *t = v3_dot(v3_sub(c, r->o), n) / den;
    if (!(*t > 0.0f && *t < t_max))
        return 0;
    struct k_vec3 q = v3_sub(v3_madd(r->o, r->d, *t), c);
    return v3_dot(q, q) <= radius * radius;
}

/* Spheres and disks, by primitive id. */
K_FN int k_round_test(const struct k_scene *sc, const struct k_ray *r, uint id, float t_max,
                      float *t)
{
    uint i = id - sc->launch->triangle_count;
    if (i < sc->launch->sphere_count) {
        struct k_vec3 c = v3_load(sc->spheres[i].center);
        float radius = sc->spheres[i].radius;
        return k_sphere_test(r, c, radius, t_max, t) && k_round_confirms(r, c, radius, *t);
    }
    i -= sc->launch->sphere_count;
    struct k_vec3 c = v3_load(sc->disks[i].center), n = v3_load(sc->disks[i].normal);
    float radius = sc->disks[i].radius;
    return k_disk_test(r, c, n, radius, t_max, t) && k_round_confirms(r, c, radius, *t);
}

#endif
