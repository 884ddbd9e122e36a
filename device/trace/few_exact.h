/* SPDX-License-Identifier: Apache-2.0 */
/* The whole of a small scene against sixteen rays at once, with the bits of the tree's walk: for the
 * modes whose test of a triangle is watertight (K_FAST 0).
 *
 * A filter says, of each piece of the scene (few.h) and each of sixteen rays, whether the test could
 * possibly say yes, and before what distance surely not. The nearest piece is put to the test
 * itself, lane by lane with the test's own operations. If it says yes at t, and the filter says that
 * all others are met later or not at all, that is the closest hit. Else the tree is asked: for some
 * of a thousand rays.
 *
 * Why the filter misses nothing. u = 2^-24. A ray o, d with largest direction dm in 1/2 .. 2. R: the
 * largest coordinate of the scene's corners; W = max(R, |o|), so that corners lie within 2 W of o.
 * L: a piece's longest edge, all by largest coordinates; s: what its numbers are divided by.
 *
 * 1. The test shears corners into the plane across d, with an error of 4 u 2W + u W + u W at most. A
 *    hit counts only where the ray meets the triangle's own box, widened by 2^-9 L + 2^-20 R and,
 *    for the slab test's slack, 2^-17 2W. So sheared corners are no larger than 2 L', where
 *    L' = (1 + 2^-8) L + 2^-14 W. Of two of them the product c d - e f is then known to
 *    96 u W L' + 17 u W L' = D. So where the test says yes, all three products, as real numbers, are
 *    at least -D, up to one common sign; they are the weights, times the determinant, times s / dm.
 * 2. The filter's own: c x d to 6 u 2W dm, edges to 5 u, the normal to 20 u L^2 / s: its weights are
 *    known to 132 u W L dm / s, their sum to 264, the determinant to 156. A parallelogram's fourth
 *    corner is off by 7 u L (k_few_completes), which is 112. Also where the determinant's sign is
 *    wrong, all is less than 850; we allow 1024 = 2^-14: `edge`, and 2^-13 for the reciprocal, which
 *    is known to 2^-14.
 * 3. Sum u_i z_i / Sum u_i is the test's distance. With the real weights it would be the plane's; so
 *    it is off by 3 D range / determinant, where range is at most L / dm, and by 10 u 2W / dm of
 *    rounding. The filter's distance is off by 170 u W L^2 / s over the determinant, and
 *    k_plane_distance, taken near the origin, by no more. In all less than 600 u W L' L / s; we
 *    allow 1024 = `edge` L, over dm, and 2^-18 W. The largest distance of a corner, which the test
 *    takes where it is less, is later than the plane less 3 D range / determinant.
 * 4. All this wants the determinant to be above 16 `edge`; where it is not, the piece counts as met
 *    at no known distance.
 * 5. A ray starts near the surface that it leaves, and that is to be told from a hit. Behind the
 *    origin the test says yes only where its sign of (v0 - o) n is wrong: in the sum of triangles'
 *    distances range / 16 would have to be lost, of which 3 can lose a third; so k_plane_distance
 *    decides, whose (v0 - o) n is known to 8 u Sum |v0 - o|_i N_i, N_i = |p_j q_k| + |p_k q_j| of
 *    the edges. The filter knows its own to 13 u Sum |c_i| N_i; for both we allow 24: `blur`. Where
 *    v0 is not the filter's corner, |v0 - o| is more than |c|, and a parallelogram's other triangle
 *    has another plane: `apart`.
 *
 * W grows with |o| only for rays that start outside; for them the bounds are taken times W / R, so
 * that L' is one number of the piece, with R in place of W. */
#ifndef K_FEW_EXACT_H
#define K_FEW_EXACT_H
#include "trace/few.h"

#if !K_FAST

/* What the filter knows of a piece: k_few_piece, and its bounds. */
struct k_exact_piece {
    struct k_few_piece p;
    float blur[3], apart, edge, twice; /* 2 L */
};
/* Triangles are numbered as the pieces are: those of a parallelogram i are 2 i and 2 i + 1, that of
 * another piece i is whole + i. */
struct k_exact {
    float corner[9][K_FEW];      /* of triangles, x, y, z of corners 0, 1, 2 */
    float id[K_FEW];             /* bits of an integer */
    const float *corners[K_FEW]; /* as k_hit's */
    float reach, margin;         /* R; of the longest L', for products at edges */
    uint count, whole;
    struct k_exact_piece at[K_FEW];
} __attribute__((aligned(64)));

/* Two corners are the same: the test never says yes, since two of its products cancel. */
K_FN int k_exact_is_line(const float *corners)
{
    const struct k_vec3 a = k_few_corner(corners, 0), b = k_few_corner(corners, 1),
                        c = k_few_corner(corners, 2);
    return v3_max_abs(v3_sub(a, b)) == 0.0f || v3_max_abs(v3_sub(b, c)) == 0.0f ||
           v3_max_abs(v3_sub(c, a)) == 0.0f;
}

K_FN void k_exact_put_triangle(struct k_exact *f, uint to, const struct k_few_half *half)
{
    for (uint i = 0; i < 9; i++)
        f->corner[i][to] = half->corners[8 * i];
    f->id[to] = K_AS_FLOAT(half->id);
    f->corners[to] = half->corners;
}

/* How far off the plane of the piece's own triangle the plane of its other triangle is: the fourth
 * corner by one of the two edges that should end there. Times n, to 3 u of the edge. */
K_FN float k_exact_apart(struct k_vec3 n, struct k_vec3 from, struct k_vec3 to, struct k_vec3 edge)
{
    const struct k_vec3 off = v3_abs(v3_sub(v3_sub(to, from), edge));
    return v3_dot(v3_abs(n), v3_madd(off, v3_abs(edge), 0x1.8p-23f)) * 1.0625f;
}
K_FN float k_exact_pair_apart(const struct k_few_piece *p, const struct k_few_half *half)
{
    struct k_vec3 at[3]; /* the fourth corner, and the ends of the edges */
    const uint corner1 = half[1].corner1, corner2 = half[1].corner2;
    at[corner1] = k_few_corner(half[1].corners, 1);
    at[corner2] = k_few_corner(half[1].corners, 2);
    at[3u - corner1 - corner2] = k_few_corner(half[1].corners, 0);
    const struct k_vec3 v0 = v3_load(p->v0), n = v3_load(p->n);
    return k_min(k_exact_apart(n, at[1], at[0], v3_sub(at[2], v0)),
                 k_exact_apart(n, at[2], at[0], v3_sub(at[1], v0)));
}

/* The bounds of the piece. 0: it is too thin or too small for them. */
K_FN int k_exact_bound(struct k_exact *f, struct k_exact_piece *q, const struct k_few_half *half,
                       uint halves)
{
    const struct k_vec3 a = v3_abs(v3_load(q->p.a)), b = v3_abs(v3_load(q->p.b));
    const float over = q->p.over, L = (v3_max(a) + v3_max(b)) / over; /* both edges' sum */
    const float more = 1.0078125f * L + 0x1p-14f * f->reach, u24 = 0x1.8p-20f / over;
    q->twice = 2.0f * L;
    q->edge = 0x1p-14f * more * over;
    /* |p_j q_k| + |p_k q_j| over s, where a = q / s and b = -p / s */
    q->blur[0] = u24 * (a.y * b.z + a.z * b.y);
    q->blur[1] = u24 * (a.z * b.x + a.x * b.z);
    q->blur[2] = u24 * (a.x * b.y + a.y * b.x);
    struct k_vec3 off = v3(0.0f, 0.0f, 0.0f); /* of the triangles' corner 0 */
    for (uint i = 0; i < halves; i++)
        off = v3_most(off, v3_abs(v3_sub(k_few_corner(half[i].corners, 0), v3_load(q->p.v0))));
    q->apart = q->apart + v3_dot(off, v3_load(q->blur));
    f->margin = k_max(f->margin, 0x1p-14f * more / f->reach);
    return q->edge * f->reach < 0x1p-7f;
}

K_FN void k_exact_make(const struct k_scene *sc, struct k_exact *f)
{
    const uint count = sc->launch->triangle_count;
    const float *corners[K_FEW];
    struct k_few_half half[2];
    f->count = f->whole = 0;
    if (sc->launch->bvh != 8 || count > K_FEW || !k_few_find(sc, corners))
        return;
    f->reach = f->margin = 0.0f;
    for (uint id = 0; id < count; id++)
        for (uint i = 0; i < 9; i++)
            f->reach = k_max(f->reach, K_ABS(corners[id][8 * i]));
    for (uint i = 0; i < K_FEW; i++) {
        for (uint j = 0; j < 9; j++)
            f->corner[j][i] = 0.0f;
        f->id[i] = K_AS_FLOAT(K_NONE);
        f->corners[i] = 0;
    }
    int good = f->reach > 0x1p-20f && f->reach < 0x1p20f;
    for (uint pairs = 2; pairs-- > 0;) /* those that are whole first */
        for (uint id = 0; id < count; id++) {
            if (k_exact_is_line(corners[id]))
                continue;
            struct k_exact_piece *q = &f->at[f->count];
            const uint pair = (uint)k_few_pair(corners, id, count, &q->p, half);
            if (pair == pairs) {
                const uint to = f->count++ + f->whole;
                k_exact_put_triangle(f, to, &half[0]);
                if (pair)
                    k_exact_put_triangle(f, to + 1u, &half[1]);
                f->whole += pair;
                q->apart = pair ? k_exact_pair_apart(&q->p, half) : 0.0f;
                good = good && k_exact_bound(f, q, half, 1u + pair);
            }
            id += pair;
        }
    if (!good)
        f->count = 0;
}

/* ---- the filter ----------------------------------------------------------------------------- */

/* Sixteen rays, and what the filter finds of each. */
struct k_exact_rays {
    k_f16 ox, oy, oz, dx, dy, dz;
    k_f16 edge, late; /* W W / R dm, as bounds are taken times it, negative; 2^-18 W */
    k_f16 wide;       /* W W */
    k_mask16 good;    /* bounds hold */
    k_f16 t, sum;     /* of the nearest piece; its weights' sum */
    k_mask16 which;   /* its first triangle; -1: none */
};
/* Of each piece and ray: no hit that counts is before it. Not a number: there is none. */
struct k_exact_starts {
    k_f16 at[K_FEW];
};

K_FN struct k_exact_rays k_exact_rays_make(const struct k_exact *f, struct k_exact_rays r)
{
    const k_f16 o = f16_max(f16_max(f16_abs(r.ox), f16_abs(r.oy)), f16_abs(r.oz));
    const k_f16 d = f16_max(f16_max(f16_abs(r.dx), f16_abs(r.dy)), f16_abs(r.dz));
    const k_f16 all = o + f16_abs(r.ox + r.oy + r.oz) + f16_abs(r.dx + r.dy + r.dz);
    const k_f16 W = f16_max(o, f16_splat(f->reach));
    r.good = (all < 0x1p30f) & (d >= 0.5f) & (d <= 2.0f);
    r.wide = W * W;
    r.edge = r.wide * d * (-1.0f / f->reach);
    r.late = W * -0x1p-18f;
    return r;
}

/* Conditions are put so that what is not a number meets them. */
K_FN k_f16 k_exact_piece_meet(const struct k_exact_piece *f, int which, int whole,
                              struct k_exact_rays *r)
{
    K_CONTRACT
    const float *v0 = f->p.v0, *a = f->p.a, *b = f->p.b, *n = f->p.n;
    const k_f16 cx = v0[0] - r->ox, cy = v0[1] - r->oy, cz = v0[2] - r->oz;
    const k_f16 px = cy * r->dz - cz * r->dy, py = cz * r->dx - cx * r->dz,
                pz = cx * r->dy - cy * r->dx;
    const k_f16 det = r->dx * n[0] + 0.0f + r->dy * n[1] + r->dz * n[2]; /* no negative zero */
    const k_f16 inv = f16_min(f16_reciprocal(det), f16_splat(0x1p60f));
    const k_f16 size = f16_abs(inv), edge = r->edge * f->edge * size; /* negative */
    const k_f16 t = (cx * n[0] + cy * n[1] + cz * n[2]) * inv;
    const k_f16 b1 = (px * a[0] + py * a[1] + pz * a[2]) * inv;
    const k_f16 b2 = (px * b[0] + py * b[1] + pz * b[2]) * inv;
    const k_f16 sum = b1 + b2, most = whole ? f16_max(b1, b2) : sum;
    const k_f16 blur =
        f16_abs(cx) * f->blur[0] + f->apart + f16_abs(cy) * f->blur[1] + f16_abs(cz) * f->blur[2];
    const k_mask16 outside = (f16_min(b1, b2) < edge) | (most > 1.0001220703125f - edge);
    const k_mask16 flat = ~(edge >= -0x1p-4f); /* the ray, along the piece */
    const k_mask16 behind = t + blur * size < 0.0f;
    const k_f16 start = t * 0.9998779296875f + r->late + edge * f->twice;
    const k_mask16 no = outside | (behind & ~flat);
    const k_mask16 nearer = (f16_select(outside, f16_splat(-1.0f), t) > 0.0f) & (t < r->t);
    r->t = f16_select(nearer, t, r->t);
    r->sum = f16_select(nearer, sum, r->sum);
    r->which = (nearer & which) | (~nearer & r->which);
    return (k_f16)(no | (k_mask16)f16_select(flat, f16_splat(-K_INF), start));
}

K_FN void k_exact_filter(const struct k_exact *f, struct k_exact_rays *rays,
                         struct k_exact_starts *starts)
{
    struct k_exact_rays r = *rays; /* in registers */
    r.which = i16_splat(-1);
    r.sum = f16_splat(0.0f);
    for (uint i = 0; i < f->whole; i++)
        starts->at[i] = k_exact_piece_meet(&f->at[i], (int)(2u * i), 1, &r);
    for (uint i = f->whole; i < f->count; i++)
        starts->at[i] = k_exact_piece_meet(&f->at[i], (int)(f->whole + i), 0, &r);
    *rays = r;
}

/* The triangle that the nearest piece is met in. */
K_FN k_mask16 k_exact_triangle(const struct k_exact *f, const struct k_exact_rays *r)
{
    return r->which - ((r->sum > 1.0f) & (r->which < (int)(2u * f->whole))); /* a mask is -1 */
}

/* Rays for which some piece but the nearest may be met no later than at t. */
K_FN k_mask16 k_exact_others(const struct k_exact *f, const struct k_exact_starts *starts,
                             k_mask16 which, k_f16 t)
{
    k_mask16 some = i16_splat(0);
    for (uint i = 0; i < f->count; i++) {
        const int at = (int)(i < f->whole ? 2u * i : f->whole + i);
        some |= (starts->at[i] <= t) & (which != at);
    }
    return some;
}

/* ---- the test ------------------------------------------------------------------------------- */

struct k_exact_hits {
    k_f16 t, v, w, det;
    k_mask16 hit;   /* 0 < t < t_max, and the box says yes */
    k_mask16 clear; /* where the ray meets the plane is far enough from the triangle's edges */
};

/* Of three values by axis: that of an axis by its lanes. */
struct k_axes16 {
    k_mask16 y, z; /* else x */
};
K_FN k_f16 k_axes_pick(struct k_axes16 a, k_f16 x, k_f16 y, k_f16 z)
{
    return f16_select(a.z, z, f16_select(a.y, y, x));
}
struct k_xyz16 {
    k_f16 x, y, z;
};
/* In the order kx, ky, kz. */
K_FN struct k_xyz16 k_axes_order(struct k_axes16 a, struct k_xyz16 v)
{
    return (struct k_xyz16){k_axes_pick(a, v.y, v.z, v.x), k_axes_pick(a, v.z, v.x, v.y),
                            k_axes_pick(a, v.x, v.y, v.z)};
}
K_FN struct k_xyz16 k_xyz16_sub(struct k_xyz16 a, struct k_xyz16 b)
{
    return (struct k_xyz16){f16_sub(a.x, b.x), f16_sub(a.y, b.y), f16_sub(a.z, b.z)};
}
/* (a.x b.x + a.y b.y) + a.z b.z */
K_FN k_f16 k_xyz16_dot(struct k_xyz16 a, struct k_xyz16 b)
{
    return f16_add(f16_add(f16_mul(a.x, b.x), f16_mul(a.y, b.y)), f16_mul(a.z, b.z));
}
K_FN k_f16 k_xyz16_cross(k_f16 a, k_f16 b, k_f16 c, k_f16 d)
{
    return f16_sub(f16_mul(a, b), f16_mul(c, d));
}
K_FN k_f16 k_reciprocal16(k_f16 d)
{
    const k_f16 most = (k_f16)(((k_mask16)d & (-0x7FFFFFFF - 1)) | (k_mask16)f16_splat(0x1p60f));
    return f16_select(f16_abs(d) < 0x1p-60f, most, 1.0f / d);
}

/* k_plane_distance; all in the order kx, ky, kz. */
K_FN k_f16 k_exact_plane(struct k_xyz16 o, struct k_xyz16 d, const struct k_xyz16 *v)
{
    const struct k_xyz16 p = k_xyz16_sub(v[1], v[0]), q = k_xyz16_sub(v[2], v[0]);
    const struct k_xyz16 n = {k_xyz16_cross(p.y, q.z, p.z, q.y), k_xyz16_cross(p.z, q.x, p.x, q.z),
                              k_xyz16_cross(p.x, q.y, p.y, q.x)};
    const k_f16 along = k_xyz16_dot(d, n), above = k_xyz16_dot(k_xyz16_sub(v[0], o), n);
    return f16_select(along == 0.0f, f16_splat(0.0f), above / along);
}

/* k_slab's part of an axis. */
K_FN void k_exact_slab(k_f16 o, k_f16 inv, k_f16 lo, k_f16 hi, k_f16 *in, k_f16 *out)
{
    const k_f16 x0 = f16_mul(f16_sub(lo, o), inv), x1 = f16_mul(f16_sub(hi, o), inv);
    *in = f16_max(f16_min(x0, x1), *in);
    *out = f16_min(f16_max(x0, x1), *out);
}
/* k_triangle_confirms */
K_FN k_mask16 k_exact_confirms(const struct k_exact_rays *r, struct k_xyz16 inv,
                               const struct k_xyz16 *v, k_f16 t)
{
    const struct k_xyz16 lo = {f16_min(f16_min(v[0].x, v[1].x), v[2].x),
                               f16_min(f16_min(v[0].y, v[1].y), v[2].y),
                               f16_min(f16_min(v[0].z, v[1].z), v[2].z)};
    const struct k_xyz16 hi = {f16_max(f16_max(v[0].x, v[1].x), v[2].x),
                               f16_max(f16_max(v[0].y, v[1].y), v[2].y),
                               f16_max(f16_max(v[0].z, v[1].z), v[2].z)};
    const struct k_xyz16 size = k_xyz16_sub(hi, lo);
    const k_f16 side = f16_max(f16_max(size.x, size.y), size.z);
    const k_f16 low = f16_max(f16_max(f16_abs(lo.x), f16_abs(lo.y)), f16_abs(lo.z));
    const k_f16 high = f16_max(f16_max(f16_abs(hi.x), f16_abs(hi.y)), f16_abs(hi.z));
    const k_f16 m = f16_add(f16_mul(side, f16_splat(0x1p-9f)),
                            f16_mul(f16_max(low, high), f16_splat(0x1p-20f)));
    k_f16 in = f16_splat(0.0f), out = f16_splat(K_INF);
    k_exact_slab(r->ox, inv.x, f16_sub(lo.x, m), f16_add(hi.x, m), &in, &out);
    k_exact_slab(r->oy, inv.y, f16_sub(lo.y, m), f16_add(hi.y, m), &in, &out);
    k_exact_slab(r->oz, inv.z, f16_sub(lo.z, m), f16_add(hi.z, m), &in, &out);
    return in <= f16_min(f16_mul(out, f16_splat(K_SLACK)), f16_mul(t, f16_splat(K_SLACK)));
}

/* k_block_test and what follows a yes there, of each ray and its triangle. */
K_FN struct k_exact_hits k_exact_test(const struct k_exact *f, const struct k_exact_rays *r,
                                      k_mask16 triangle, k_f16 t_max)
{
    struct k_exact_hits h;
    struct k_xyz16 world[3], v[3];
    const struct k_xyz16 d = {r->dx, r->dy, r->dz}, o = {r->ox, r->oy, r->oz};
    const struct k_xyz16 inv = {k_reciprocal16(d.x), k_reciprocal16(d.y), k_reciprocal16(d.z)};
    const k_f16 ax = f16_abs(d.x), ay = f16_abs(d.y), az = f16_abs(d.z);
    const struct k_axes16 k = {ay > ax, az > f16_max(ax, ay)};
    const struct k_xyz16 dk = k_axes_order(k, d), ok = k_axes_order(k, o);
    const k_f16 sz = k_axes_pick(k, inv.x, inv.y, inv.z);
    const k_f16 sx = f16_mul(dk.x, sz), sy = f16_mul(dk.y, sz);
    struct k_xyz16 s[3]; /* sheared */
    for (uint i = 0; i < 3; i++) {
        world[i].x = f16_look(f->corner[3 * i], triangle);
        world[i].y = f16_look(f->corner[3 * i + 1], triangle);
        world[i].z = f16_look(f->corner[3 * i + 2], triangle);
        v[i] = k_axes_order(k, world[i]);
        const struct k_xyz16 c = k_xyz16_sub(v[i], ok);
        s[i].x = f16_sub(c.x, f16_mul(sx, c.z));
        s[i].y = f16_sub(c.y, f16_mul(sy, c.z));
        s[i].z = f16_mul(sz, c.z);
    }
    const k_f16 cb = f16_mul(s[2].x, s[1].y), bc = f16_mul(s[2].y, s[1].x);
    const k_f16 ac = f16_mul(s[0].x, s[2].y), ca = f16_mul(s[0].y, s[2].x);
    const k_f16 ba = f16_mul(s[1].x, s[0].y), ab = f16_mul(s[1].y, s[0].x);
    const k_mask16 one_sign =
        ((bc <= cb) & (ca <= ac) & (ab <= ba)) | ((cb <= bc) & (ac <= ca) & (ba <= ab));
    const k_f16 u = f16_sub(cb, bc);
    h.v = f16_sub(ac, ca);
    h.w = f16_sub(ba, ab);
    h.det = f16_add(f16_add(u, h.v), h.w);
    const k_f16 sum =
        f16_add(f16_add(f16_mul(u, s[0].z), f16_mul(h.v, s[1].z)), f16_mul(h.w, s[2].z));
    k_f16 t = sum / h.det;
    const k_f16 farthest = f16_max(f16_max(s[0].z, s[1].z), s[2].z);
    const k_f16 range = f16_sub(farthest, f16_min(f16_min(s[0].z, s[1].z), s[2].z));
    const k_mask16 near = one_sign & (t < f16_mul(f16_splat(0x1p-4f), range)) &
                          (f16_mul(f16_splat(-0x1p-20f), range) < t);
    if (i16_bits(near))
        t = f16_select(near, f16_min(k_exact_plane(ok, dk, v), farthest), t);
    h.t = t;
    h.hit = one_sign & (t > 0.0f) & (t < t_max) & k_exact_confirms(r, inv, world, t);
    h.clear =
        one_sign & (f16_min(f16_min(f16_abs(u), f16_abs(h.v)), f16_abs(h.w)) > r->wide * f->margin);
    return h;
}

/* ---- what rays meet ------------------------------------------------------------------------- */

/* Closest hits. Lanes that are not sure have to be asked of the tree. */
struct k_exact_found {
    k_f16 t, b1, b2;
    k_mask16 triangle, id, sure; /* id: K_NONE where nothing is met */
};
K_FN struct k_exact_found k_exact_closest(const struct k_exact *f, struct k_exact_rays rays,
                                          struct k_exact_starts *starts)
{
    struct k_exact_found found;
    struct k_exact_rays r = k_exact_rays_make(f, rays);
    r.t = f16_splat(K_INF);
    k_exact_filter(f, &r, starts);
    found.triangle = k_exact_triangle(f, &r);
    const struct k_exact_hits h = k_exact_test(f, &r, found.triangle, f16_splat(K_INF));
    found.t = f16_select(h.hit, h.t, f16_splat(K_INF));
    found.b1 = h.v / h.det;
    found.b2 = h.w / h.det;
    const k_mask16 none = r.which < 0, others = k_exact_others(f, starts, r.which, found.t);
    found.id = (k_mask16)f16_look(f->id, found.triangle) | none;
    found.sure = r.good & ~others & (none | (h.hit & h.clear));
    return found;
}

/* Is nothing met before t_max? */
struct k_exact_lit {
    k_mask16 lit, sure;
};
K_FN struct k_exact_lit k_exact_shadow(const struct k_exact *f, struct k_exact_rays rays,
                                       k_f16 t_max, struct k_exact_starts *starts)
{
    struct k_exact_lit l;
    struct k_exact_rays r = k_exact_rays_make(f, rays);
    r.t = t_max * 1.0009765625f; /* with the light itself, as far as it may seem to be before */
    k_exact_filter(f, &r, starts);
    const struct k_exact_hits h = k_exact_test(f, &r, k_exact_triangle(f, &r), t_max);
    const k_mask16 others = k_exact_others(f, starts, r.which, t_max);
    l.lit = ~others & ((r.which < 0) | (h.clear & ~h.hit));
    l.sure = r.good & (l.lit | h.hit);
    return l;
}
#endif
#endif
