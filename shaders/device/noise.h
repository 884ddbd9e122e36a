/* noise.h: the noises of docs/asl.md (Noise): the same operations in the same order as the
 * reference's, so the same bits. The cores carry derivatives; entries that want none leave the
 * compiler nothing of them. Hash: Bob Jenkins' lookup3 (public domain). */

/* ---- hash ----------------------------------------------------------------------------------- */

K_FN au a_rot(au x, uint k) { return (x << k) | (x >> (32u - k)); }

K_FN au a_final_mix(au a, au b, au c)
{
    c = (c ^ b) - a_rot(b, 14u);
    a = (a ^ c) - a_rot(c, 11u);
    b = (b ^ a) - a_rot(a, 25u);
    c = (c ^ b) - a_rot(b, 16u);
    a = (a ^ c) - a_rot(c, 4u);
    b = (b ^ a) - a_rot(a, 14u);
    return (c ^ b) - a_rot(b, 24u);
}
#define A_SEED(count) (0xdeadbeefu + ((uint)(count) << 2) + 13u)
K_FN au a_hash1(ai x)
{
    return a_final_mix(A_UINTS(x) + A_SEED(1), A_UINTS(A_I(0)) + A_SEED(1),
                       A_UINTS(A_I(0)) + A_SEED(1));
}
K_FN au a_hash2(ai x, ai y)
{
    return a_final_mix(A_UINTS(x) + A_SEED(2), A_UINTS(y) + A_SEED(2), A_UINTS(A_I(0)) + A_SEED(2));
}
K_FN au a_hash3(ai x, ai y, ai z)
{
    return a_final_mix(A_UINTS(x) + A_SEED(3), A_UINTS(y) + A_SEED(3), A_UINTS(z) + A_SEED(3));
}
K_FN void a_mix(au *a, au *b, au *c)
{
    *a -= *c;
    *a ^= a_rot(*c, 4u);
    *c += *b;
    *b -= *a;
    *b ^= a_rot(*a, 6u);
    *a += *c;
    *c -= *b;
    *c ^= a_rot(*b, 8u);
    *b += *a;
    *a -= *c;
    *a ^= a_rot(*c, 16u);
    *c += *b;
    *b -= *a;
    *b ^= a_rot(*a, 19u);
    *a += *c;
    *c -= *b;
    *c ^= a_rot(*b, 4u);
    *b += *a;
}
K_FN au a_hash4(ai x, ai y, ai z, ai w)
{
    au a = A_UINTS(x) + A_SEED(4), b = A_UINTS(y) + A_SEED(4), c = A_UINTS(z) + A_SEED(4);
    a_mix(&a, &b, &c);
    return a_final_mix(a + A_UINTS(w), b, c);
}
K_FN au a_hash5(ai x, ai y, ai z, ai w, ai v)
{
    au a = A_UINTS(x) + A_SEED(5), b = A_UINTS(y) + A_SEED(5), c = A_UINTS(z) + A_SEED(5);
    a_mix(&a, &b, &c);
    return a_final_mix(a + A_UINTS(w), b + A_UINTS(v), c);
}
/* The first `count` of the words. */
K_FN au a_hash_words(int count, ai x, ai y, ai z, ai w, ai v)
{
    return count == 1   ? a_hash1(x)
           : count == 2 ? a_hash2(x, y)
           : count == 3 ? a_hash3(x, y, z)
           : count == 4 ? a_hash4(x, y, z, w)
                        : a_hash5(x, y, z, w, v);
}
K_FN af a_unit(au h) { return a_uint_to_float(h) * (1.0f / 4294967295.0f); }

/* ---- duals ---------------------------------------------------------------------------------- */

K_FN struct ad a_dual(af v, af dx, af dy)
{
    struct ad r;
    r.v = v;
    r.dx = dx;
    r.dy = dy;
    return r;
}
K_FN struct ad a_still(af v) { return a_dual(v, A_F(0.0f), A_F(0.0f)); }
K_FN struct ad a_dadd(struct ad a, struct ad b)
{
    return a_dual(a.v + b.v, a.dx + b.dx, a.dy + b.dy);
}
K_FN struct ad a_dsub(struct ad a, struct ad b)
{
    return a_dual(a.v - b.v, a.dx - b.dx, a.dy - b.dy);
}
K_FN struct ad a_dmul(struct ad a, struct ad b)
{
    return a_dual(a.v * b.v, a.v * b.dx + a.dx * b.v, a.v * b.dy + a.dy * b.v);
}
K_FN struct ad a_ddiv(struct ad a, struct ad b)
{
    af q = a_fdiv(a.v, b.v);
    return a_dual(q, a_fdiv(a.dx - q * b.dx, b.v), a_fdiv(a.dy - q * b.dy, b.v));
}
/* d_mul with a constant: the products with its zero derivatives are added as the reference does. */
K_FN struct ad a_dscale(af k, struct ad a)
{
    return a_dual(k * a.v, k * a.dx + 0.0f * a.v, k * a.dy + 0.0f * a.v);
}
K_FN struct ad a_dscaled(struct ad a, af k)
{
    return a_dual(a.v * k, a.v * 0.0f + a.dx * k, a.v * 0.0f + a.dy * k);
}
K_FN struct ad a_dsel(am m, struct ad a, struct ad b)
{
    return a_dual(a_sel(m, a.v, b.v), a_sel(m, a.dx, b.dx), a_sel(m, a.dy, b.dy));
}
/* -a where the bit of h is set. */
K_FN struct ad a_dsigned(au h, uint bit, struct ad a)
{
    ai sign = A_INTS((h & bit) << (bit == 1u ? 31u : bit == 2u ? 30u : 29u));
    return a_dual(A_FLOATS(A_BITS(a.v) ^ sign), A_FLOATS(A_BITS(a.dx) ^ sign),
                  A_FLOATS(A_BITS(a.dy) ^ sign));
}

/* ---- lattice -------------------------------------------------------------------------------- */

/* A period below 1 counts as 1. */
K_FN ai a_whole_period(af p)
{
    ai i = a_f2i(a_floor(p));
    return a_seli(i < 1, A_I(1), i);
}
K_FN ai a_wrap(ai i, ai period)
{
    ai m = i % period;
    return a_seli(m < 0, m + period, m);
}
/* One axis: the two corners, the offset from the first and the fade. */
struct a_axis {
    ai i0, i1;
    struct ad f, g, t; /* x - floor, that - 1, fade */
};
K_FN struct ad a_fade(struct ad t)
{
    struct ad a = a_dadd(a_dmul(t, a_dsub(a_dscaled(t, A_F(6.0f)), a_still(A_F(15.0f)))),
                         a_still(A_F(10.0f)));
    return a_dmul(a_dmul(a_dmul(t, t), t), a);
}
K_FN struct a_axis a_axis_of(struct ad x, int periodic, af period)
{
    struct a_axis r;
    af fl = a_floor(x.v);
    r.i0 = a_f2i(fl);
    r.i1 = a_iadd(r.i0, A_I(1));
    if (periodic) {
        ai p = a_whole_period(period);
        r.i0 = a_wrap(r.i0, p);
        r.i1 = a_wrap(r.i1, p);
    }
    r.f = a_dsub(x, a_still(fl));
    r.g = a_dsub(r.f, a_still(A_F(1.0f)));
    r.t = a_fade(r.f);
    return r;
}
K_FN struct ad a_lerp(struct ad a, struct ad b, struct ad t)
{
    return a_dadd(a_dmul(a_dsub(a_still(A_F(1.0f)), t), a), a_dmul(t, b));
}

/* ---- Perlin --------------------------------------------------------------------------------- */

K_FN struct ad a_grad1(au h, struct ad x)
{
    af g = 1.0f + a_to_float(A_INTS(h & 7u));
    g = A_FLOATS(A_BITS(g) | A_INTS((h & 8u) << 28u));
    return a_dscale(g, x);
}
K_FN struct ad a_grad2(au h, struct ad x, struct ad y)
{
    am m = (h & 4u) == 0u;
    struct ad u = a_dsel(m, x, y), v = a_dscale(A_F(2.0f), a_dsel(m, y, x));
    return a_dadd(a_dsigned(h, 1u, u), a_dsigned(h, 2u, v));
}
K_FN struct ad a_grad3(au h, struct ad x, struct ad y, struct ad z)
{
    h = h & 15u;
    struct ad u = a_dsel(h < 8u, x, y);
    struct ad v = a_dsel(h < 4u, y, a_dsel((h == 12u) | (h == 14u), x, z));
    return a_dadd(a_dsigned(h, 1u, u), a_dsigned(h, 2u, v));
}
K_FN struct ad a_grad4(au h, struct ad x, struct ad y, struct ad z, struct ad w)
{
    h = h & 31u;
    struct ad u = a_dsel(h < 24u, x, y), v = a_dsel(h < 16u, y, z), s = a_dsel(h < 8u, z, w);
    return a_dadd(a_dadd(a_dsigned(h, 1u, u), a_dsigned(h, 2u, v)), a_dsigned(h, 4u, s));
}
/* channels 1: the whole hash; 3: a byte of it for each. */
K_FN void a_perlin1(const struct a_axis *x, int channels, struct ad *out)
{
    au h0 = a_hash1(x->i0), h1 = a_hash1(x->i1);
    for (int c = 0; c < channels; c++) {
        uint s = 8u * (uint)c;
        out[c] = a_lerp(a_grad1(h0 >> s, x->f), a_grad1(h1 >> s, x->g), x->t);
    }
}
K_FN void a_perlin2(const struct a_axis *x, const struct a_axis *y, int channels, struct ad *out)
{
    au h0 = a_hash2(x->i0, y->i0), h1 = a_hash2(x->i1, y->i0), h2 = a_hash2(x->i0, y->i1),
       h3 = a_hash2(x->i1, y->i1);
    for (int c = 0; c < channels; c++) {
        uint s = 8u * (uint)c;
        struct ad a = a_lerp(a_grad2(h0 >> s, x->f, y->f), a_grad2(h1 >> s, x->g, y->f), x->t);
        struct ad b = a_lerp(a_grad2(h2 >> s, x->f, y->g), a_grad2(h3 >> s, x->g, y->g), x->t);
        out[c] = a_lerp(a, b, y->t);
    }
}
/* The plane z = iz: hashes of its corners, then values. */
K_FN struct ad a_plane3(const au *h, uint s, const struct a_axis *x, const struct a_axis *y,
                        struct ad z)
{
    struct ad a =
        a_lerp(a_grad3(h[0] >> s, x->f, y->f, z), a_grad3(h[1] >> s, x->g, y->f, z), x->t);
    struct ad b =
        a_lerp(a_grad3(h[2] >> s, x->f, y->g, z), a_grad3(h[3] >> s, x->g, y->g, z), x->t);
    return a_lerp(a, b, y->t);
}
K_FN void a_perlin3(const struct a_axis *x, const struct a_axis *y, const struct a_axis *z,
                    int channels, struct ad *out)
{
    au h[8];
    h[0] = a_hash3(x->i0, y->i0, z->i0);
    h[1] = a_hash3(x->i1, y->i0, z->i0);
    h[2] = a_hash3(x->i0, y->i1, z->i0);
    h[3] = a_hash3(x->i1, y->i1, z->i0);
    h[4] = a_hash3(x->i0, y->i0, z->i1);
    h[5] = a_hash3(x->i1, y->i0, z->i1);
    h[6] = a_hash3(x->i0, y->i1, z->i1);
    h[7] = a_hash3(x->i1, y->i1, z->i1);
    for (int c = 0; c < channels; c++) {
        uint s = 8u * (uint)c;
        out[c] = a_lerp(a_plane3(h, s, x, y, z->f), a_plane3(h + 4, s, x, y, z->g), z->t);
    }
}
K_FN struct ad a_plane4(const au *h, uint s, const struct a_axis *x, const struct a_axis *y,
                        struct ad z, struct ad w)
{
    struct ad a =
        a_lerp(a_grad4(h[0] >> s, x->f, y->f, z, w), a_grad4(h[1] >> s, x->g, y->f, z, w), x->t);
    struct ad b =
        a_lerp(a_grad4(h[2] >> s, x->f, y->g, z, w), a_grad4(h[3] >> s, x->g, y->g, z, w), x->t);
    return a_lerp(a, b, y->t);
}
K_FN void a_perlin4(const struct a_axis *x, const struct a_axis *y, const struct a_axis *z,
                    const struct a_axis *w, int channels, struct ad *out)
{
    au h[16];
    for (int i = 0; i < 4; i++) {
        ai k = i & 1 ? z->i1 : z->i0, l = i & 2 ? w->i1 : w->i0;
        h[4 * i] = a_hash4(x->i0, y->i0, k, l);
        h[4 * i + 1] = a_hash4(x->i1, y->i0, k, l);
        h[4 * i + 2] = a_hash4(x->i0, y->i1, k, l);
        h[4 * i + 3] = a_hash4(x->i1, y->i1, k, l);
    }
    for (int c = 0; c < channels; c++) {
        uint s = 8u * (uint)c;
        struct ad a =
            a_lerp(a_plane4(h, s, x, y, z->f, w->f), a_plane4(h + 4, s, x, y, z->g, w->f), z->t);
        struct ad b = a_lerp(a_plane4(h + 8, s, x, y, z->f, w->g),
                             a_plane4(h + 12, s, x, y, z->g, w->g), z->t);
        out[c] = a_lerp(a, b, w->t);
    }
}
K_FN void a_perlin(int dims, const struct ad *p, int periodic, const af *period, int channels,
                   struct ad *out)
{
    struct a_axis x = a_axis_of(p[0], periodic, periodic ? period[0] : A_F(1.0f)), y = x, z = x,
                  w = x;
    if (dims > 1)
        y = a_axis_of(p[1], periodic, periodic ? period[1] : A_F(1.0f));
    if (dims > 2)
        z = a_axis_of(p[2], periodic, periodic ? period[2] : A_F(1.0f));
    if (dims > 3)
        w = a_axis_of(p[3], periodic, periodic ? period[3] : A_F(1.0f));
    if (dims == 1)
        a_perlin1(&x, channels, out);
    else if (dims == 2)
        a_perlin2(&x, &y, channels, out);
    else if (dims == 3)
        a_perlin3(&x, &y, &z, channels, out);
    else
        a_perlin4(&x, &y, &z, &w, channels, out);
    float scale = dims == 1 ? 0.2500f : dims == 2 ? 0.6616f : dims == 3 ? 0.9820f : 0.8344f;
    for (int c = 0; c < channels; c++)
        out[c] = a_dscaled(out[c], A_F(scale));
}

/* ---- cell and hash -------------------------------------------------------------------------- */

K_FN void a_cell(int dims, const struct ad *p, int periodic, const af *period, int channels,
                 struct ad *out)
{
    ai w[5];
    for (int i = 0; i < 5; i++)
        w[i] = A_I(0);
    for (int i = 0; i < dims; i++) {
        w[i] = a_f2i(a_floor(p[i].v));
        if (periodic)
            w[i] = a_wrap(w[i], a_whole_period(period[i]));
    }
    for (int c = 0; c < channels; c++) {
        w[dims] = A_I(c);
        out[c] = a_still(
            a_unit(a_hash_words(channels > 1 ? dims + 1 : dims, w[0], w[1], w[2], w[3], w[4])));
    }
}
K_FN void a_hashnoise(int dims, const struct ad *p, int periodic, const af *period, int channels,
                      struct ad *out)
{
    ai w[5];
    for (int i = 0; i < 5; i++)
        w[i] = A_I(0);
    for (int i = 0; i < dims; i++) {
        af v = p[i].v;
        if (periodic) {
            af n = a_to_float(a_whole_period(period[i]));
            v = v - n * a_floor(v / n);
        }
        w[i] = A_BITS(v);
    }
    for (int c = 0; c < channels; c++) {
        w[dims] = A_I(c);
        out[c] = a_still(
            a_unit(a_hash_words(channels > 1 ? dims + 1 : dims, w[0], w[1], w[2], w[3], w[4])));
    }
}

/* ---- simplex -------------------------------------------------------------------------------- */

K_FN au a_scramble(ai a, ai b, ai c)
{
    return a_final_mix(A_UINTS(a), A_UINTS(b), A_UINTS(c) ^ 0xdeadbeefu);
}
/* Entry h of a table of numbers -1, 0, 1, kept as two bits each. */
K_FN af a_trit(uint table, au h) { return a_to_float(A_INTS((table >> (h << 1u)) & 3u) - 1); }

K_FN void a_simplex_gradient(int dims, const ai *i, int seed, af *g)
{
    au h;
    if (dims == 1) {
        h = a_scramble(i[0], A_I(seed), A_I(0)) & 15u;
        g[0] = A_FLOATS(A_BITS(1.0f + a_to_float(A_INTS(h & 7u))) | A_INTS((h & 8u) << 28u));
    } else if (dims == 2) {
        h = a_scramble(i[0], i[1], A_I(seed)) & 7u;
        g[0] = a_trit(0x9588u, h);
        g[1] = a_trit(0x2294u, h);
    } else if (dims == 3) {
        h = a_scramble(i[0], i[1], A_INTS(a_scramble(i[2], A_I(seed), A_I(0)))) & 15u;
        g[0] = a_trit(0x520A4646u, h);
        g[1] = a_trit(0x25281919u, h);
        g[2] = a_trit(0x0A5500AAu, h);
    } else {
        h = a_scramble(i[0], i[1], A_INTS(a_scramble(i[2], i[3], A_I(seed)))) & 31u;
        au zero = h >> 3u;
        for (int k = 0; k < 4; k++) {
            /* the sign's bit: 4 for the first that is not the zero, then 2, 1 */
            ai bit = a_seli(zero < (uint)k, A_I(4 >> (k > 0 ? k - 1 : 0)), A_I(4 >> k));
            g[k] = a_sel(zero == (uint)k, A_F(0.0f),
                         a_sel((h & A_UINTS(bit)) != 0u, A_F(-1.0f), A_F(1.0f)));
        }
    }
}
K_FN struct ad a_simplex_corner(int dims, const struct ad *d, const ai *i, int seed)
{
    struct ad t = a_still(A_F(dims == 1 ? 1.0f : 0.5f));
    af g[4];
    for (int k = 0; k < dims; k++)
        t = a_dsub(t, a_dmul(d[k], d[k]));
    a_simplex_gradient(dims, i, seed, g);
    struct ad dot = a_dscale(g[0], d[0]);
    for (int k = 1; k < dims; k++)
        dot = a_dadd(dot, a_dscale(g[k], d[k]));
    struct ad t2 = a_dmul(t, t), v = a_dmul(a_dmul(t2, t2), dot);
    return a_dsel(t.v > 0.0f, v, a_still(A_F(0.0f)));
}
K_FN struct ad a_simplex(int dims, const struct ad *x, int seed)
{
    float skew = dims == 2   ? 0.366025403f
                 : dims == 3 ? 1.0f / 3.0f
                 : dims == 4 ? 0.309016994f
                             : 0.0f;
    float unskew = dims == 2   ? 0.211324865f
                   : dims == 3 ? 1.0f / 6.0f
                   : dims == 4 ? 0.138196601f
                               : 0.0f;
    float scale = dims == 1 ? 0.36f : dims == 2 ? 64.0f : dims == 3 ? 68.0f : 54.0f;
    af s = x[0].v, t, cell0[4];
    ai i0[4], rank[4];
    struct ad d0[4], sum = a_still(A_F(0.0f));
    for (int k = 1; k < dims; k++)
        s = s + x[k].v;
    s = s * skew;
    for (int k = 0; k < dims; k++) {
        cell0[k] = a_floor(x[k].v + s);
        i0[k] = a_f2i(cell0[k]);
        t = k ? t + cell0[k] : cell0[k];
        rank[k] = A_I(0);
    }
    t = t * unskew;
    for (int k = 0; k < dims; k++)
        d0[k] = a_dsub(x[k], a_still(cell0[k] - t));
    for (int a = 0; a < dims; a++)
        for (int b = a + 1; b < dims; b++) {
            ai first = a_int(d0[a].v >= d0[b].v);
            rank[a] = rank[a] + first;
            rank[b] = rank[b] + (1 - first);
        }
    for (int step = 0; step <= dims; step++) {
        struct ad d[4];
        ai i[4];
        for (int k = 0; k < dims; k++) {
            ai one = a_int(rank[k] + step >= dims);
            i[k] = a_iadd(i0[k], one);
            d[k] = a_dsub(d0[k], a_still(a_to_float(one) - (float)step * unskew));
        }
        sum = a_dadd(sum, a_simplex_corner(dims, d, i, seed));
    }
    return a_dscaled(sum, A_F(scale));
}

/* ---- all ------------------------------------------------------------------------------------ */

enum a_noise { A_PERLIN, A_UPERLIN, A_SIMPLEX, A_USIMPLEX, A_CELL, A_HASH };

K_FN void a_noise_core(int kind, int dims, const struct ad *p, int periodic, const af *period,
                       int channels, struct ad *out)
{
    if (kind == A_CELL)
        a_cell(dims, p, periodic, period, channels, out);
    else if (kind == A_HASH)
        a_hashnoise(dims, p, periodic, period, channels, out);
    else if (kind == A_SIMPLEX || kind == A_USIMPLEX)
        for (int c = 0; c < channels; c++)
            out[c] = a_simplex(dims, p, c);
    else
        a_perlin(dims, p, periodic, period, channels, out);
    if (kind == A_UPERLIN || kind == A_USIMPLEX)
        for (int c = 0; c < channels; c++)
            out[c] = a_dscale(A_F(0.5f), a_dadd(out[c], a_still(A_F(1.0f))));
}
