/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h: the noises of docs/reference/asl.md (Noise): the same operations in the same order as the
 * reference's, so the same bits. The cores carry derivatives; entries that want none leave the
 * compiler nothing of them. Hash: Bob Jenkins' lookup3 (public domain). */

/* ---- hash ----------------------------------------------------------------------------------- */

K_INLINE au a_rot(au x, uint k) { return (x << k) | (x >> (32u - k)); }

K_INLINE au a_final_mix(au a, au b, au c)
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
/* The word of a float that is hashed: its bits; of any NaN those of one. */
K_INLINE ai a_hashed(af x) { return a_seli(a_is_nan(x), A_I(0x7FC00000), A_BITS(x)); }
K_INLINE au a_hash1(ai x)
{
    return a_final_mix(A_UINTS(x) + A_SEED(1), A_UINTS(A_I(0)) + A_SEED(1),
                       A_UINTS(A_I(0)) + A_SEED(1));
}
K_INLINE au a_hash2(ai x, ai y)
{
    return a_final_mix(A_UINTS(x) + A_SEED(2), A_UINTS(y) + A_SEED(2), A_UINTS(A_I(0)) + A_SEED(2));
}
K_INLINE au a_hash3(ai x, ai y, ai z)
{
    return a_final_mix(A_UINTS(x) + A_SEED(3), A_UINTS(y) + A_SEED(3), A_UINTS(z) + A_SEED(3));
}
K_INLINE void a_mix(au *a, au *b, au *c)
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
K_INLINE au a_hash4(ai x, ai y, ai z, ai w)
{
    au a = A_UINTS(x) + A_SEED(4), b = A_UINTS(y) + A_SEED(4), c = A_UINTS(z) + A_SEED(4);
    a_mix(&a, &b, &c);
    return a_final_mix(a + A_UINTS(w), b, c);
}
K_INLINE au a_hash5(ai x, ai y, ai z, ai w, ai v)
{
    au a = A_UINTS(x) + A_SEED(5), b = A_UINTS(y) + A_SEED(5), c = A_UINTS(z) + A_SEED(5);
    a_mix(&a, &b, &c);
    return a_final_mix(a + A_UINTS(w), b + A_UINTS(v), c);
}
/* The first `count` of the words. */
K_INLINE au a_hash_words(int count, ai x, ai y, ai z, ai w, ai v)
{
    return count == 1   ? a_hash1(x)
           : count == 2 ? a_hash2(x, y)
           : count == 3 ? a_hash3(x, y, z)
           : count == 4 ? a_hash4(x, y, z, w)
                        : a_hash5(x, y, z, w, v);
}
K_INLINE af a_unit(au h) { return a_uint_to_float(h) * (1.0f / 4294967295.0f); }

/* ---- duals ---------------------------------------------------------------------------------- */

K_INLINE struct ad a_dual(af v, af dx, af dy)
{
    struct ad r;
    r.v = v;
    r.dx = dx;
    r.dy = dy;
    return r;
}
K_INLINE struct ad a_still(af v) { return a_dual(v, A_F(0.0f), A_F(0.0f)); }
K_INLINE struct ad a_dadd(struct ad a, struct ad b)
{
    return a_dual(a.v + b.v, a.dx + b.dx, a.dy + b.dy);
}
K_INLINE struct ad a_dsub(struct ad a, struct ad b)
{
    return a_dual(a.v - b.v, a.dx - b.dx, a.dy - b.dy);
}
K_INLINE struct ad a_dmul(struct ad a, struct ad b)
{
    return a_dual(a.v * b.v, a.v * b.dx + a.dx * b.v, a.v * b.dy + a.dy * b.v);
}
K_INLINE struct ad a_ddiv(struct ad a, struct ad b)
{
    af q = a_fdiv(a.v, b.v);
    return a_dual(q, a_fdiv(a.dx - q * b.dx, b.v), a_fdiv(a.dy - q * b.dy, b.v));
}
/* d_mul with a constant: the products with its zero derivatives are added as the reference does. */
K_INLINE struct ad a_dscale(af k, struct ad a)
{
    return a_dual(k * a.v, k * a.dx + 0.0f * a.v, k * a.dy + 0.0f * a.v);
}
K_INLINE struct ad a_dscaled(struct ad a, af k)
{
    return a_dual(a.v * k, a.v * 0.0f + a.dx * k, a.v * 0.0f + a.dy * k);
}
/* k * b + c for products that are exact. */
K_INLINE struct ad a_dadd_exact_product(af k, struct ad b, struct ad c)
{
    return a_dadd(c, a_dscale(k, b));
}
K_INLINE struct ad a_dsel(am m, struct ad a, struct ad b)
{
    return a_dual(a_sel(m, a.v, b.v), a_sel(m, a.dx, b.dx), a_sel(m, a.dy, b.dy));
}
/* -a where the bit of h is set. */
K_INLINE struct ad a_dsigned(au h, uint bit, struct ad a)
{
    ai sign = A_INTS((h & bit) << (bit == 1u ? 31u : bit == 2u ? 30u : 29u));
    return a_dual(A_FLOATS(A_BITS(a.v) ^ sign), A_FLOATS(A_BITS(a.dx) ^ sign),
                  A_FLOATS(A_BITS(a.dy) ^ sign));
}

/* The same without derivatives. */
K_INLINE af a_vstill(af v) { return v; }
K_INLINE af a_vadd(af a, af b) { return a + b; }
K_INLINE af a_vsub(af a, af b) { return a - b; }
K_INLINE af a_vmul(af a, af b) { return a * b; }
K_INLINE af a_vscale(af k, af a) { return k * a; }
K_INLINE af a_vscaled(af a, af k) { return a * k; }
K_INLINE af a_vadd_exact_product(af a, af b, af c)
{
#ifdef A_ROWS
    return a_add_exact_product(a, b, c);
#else
    return c + a * b;
#endif
}
K_INLINE af a_vsel(am m, af a, af b) { return a_sel(m, a, b); }
K_INLINE af a_vsigned(au h, uint bit, af a)
{
    return A_FLOATS(A_BITS(a) ^ A_INTS((h & bit) << (bit == 1u ? 31u : bit == 2u ? 30u : 29u)));
}
K_INLINE af a_vvalue(af a) { return a; }
K_INLINE struct ad a_dstill(af v) { return a_still(v); }
K_INLINE af a_dvalue(struct ad a) { return a.v; }

/* ---- lattice -------------------------------------------------------------------------------- */

/* A period below 1 counts as 1. */
K_INLINE ai a_whole_period(af p)
{
    ai i = a_f2i(a_floor(p));
    return a_seli(i < 1, A_I(1), i);
}
K_INLINE ai a_wrap(ai i, ai period)
{
    ai m = i % period;
    return a_seli(m < 0, m + period, m);
}

/* Hashes of the points of a plane of the lattice: x of x[0] and y of y[0], x of x[1] and y of y[0],
 * and with y[1]. */
K_INLINE void a_plane_hashes(au *h, int dims, const ai *x, const ai *y, ai z, ai w)
{
    h[0] = a_hash_words(dims, x[0], y[0], z, w, w);
    h[1] = a_hash_words(dims, x[1], y[0], z, w, w);
    h[2] = a_hash_words(dims, x[0], y[1], z, w, w);
    h[3] = a_hash_words(dims, x[1], y[1], z, w, w);
}
#ifdef A_ROWS
/* Lanes that are neighbours are often neighbours in the lattice. Where the cells of all lanes are
 * the same but for x, and those differ by little, the corners of all of them are few: what is
 * computed of each once, a lane each, is looked up by all.
 *
 * Not 0 where a lane's word is not the first's; the least of cells that rise or fall along the row;
 * not 0 where the cell is further from that than 2^k - 2. */
K_INLINE ai a_unlike(ai x) { return x ^ a_spread_lane(x, 0); }
K_INLINE ai a_first_cell(ai x)
{
    return a_least(a_spread_lane(x, 0), a_spread_lane(x, A_WIDTH - 1));
}
K_INLINE ai a_far(ai x, ai first, int k)
{
    ai apart = x - first;
    return (apart | (apart + 1)) & ~((1 << k) - 1);
}
/* Of 2^k cells from the first on, the one that is this lane's modulo 2^k. */
K_INLINE ai a_corner_of_lane(ai first, int k)
{
    return first + ((A_LANES - first) & ((1 << k) - 1));
}

/* The hashes of the corners of cells at most 6 (of 8 lanes 2) apart: two rows a plane. Returns 0
 * where they are not near. */
#define A_ROW_BITS (A_WIDTH == 16 ? 3 : 2)
K_INLINE int a_near_hashes(au *h, int dims, const af *cell, int periodic, const ai *period)
{
    ai i[4] = {a_truncated(cell[0])}, first = a_first_cell(i[0]), least = first;
    am off = a_far(i[0], first, A_ROW_BITS);
    A_UNROLL
    for (int k = 0; k < dims; k++) {
        if (k) {
            i[k] = a_truncated(cell[k]);
            least = a_least(least, i[k]);
            off |= a_unlike(i[k]);
        }
        if (periodic)
            off |= a_unlike(period[k]);
    }
    if (a_any_bit(off | (least == A_I((int)0x80000000u)))) /* or does not fit */
        return 0;
    ai x = a_corner_of_lane(first, A_ROW_BITS), y = i[1] + (A_LANES >> A_ROW_BITS);
    if (periodic) {
        x = a_wrap(x, period[0]);
        y = a_wrap(y, period[1]);
    }
    A_UNROLL
    for (int plane = 0; plane < 1 << (dims - 2); plane++) {
        ai z = A_I(0), w = z;
        if (dims > 2)
            z = i[2] + (plane & 1);
        if (dims > 3)
            w = i[3] + (plane >> 1);
        if (periodic && dims > 2)
            z = a_wrap(z, period[2]);
        if (periodic && dims > 3)
            w = a_wrap(w, period[3]);
        af all = A_FLOATS(a_hash_words(dims, x, y, z, w, w));
        A_UNROLL
        for (int corner = 0; corner < 4; corner++) {
            ai at = ((i[0] + (corner & 1)) & ((1 << A_ROW_BITS) - 1)) | corner >> 1 << A_ROW_BITS;
            h[4 * plane + corner] = A_UINTS(A_BITS(a_take(all, at)));
        }
    }
    return 1;
}
#endif
/* Hashes of the 2^dims corners of a cell whose first corner is given, x fastest. */
K_INLINE void a_cell_hashes(au *h, int dims, const af *cell, int periodic, const af *periods)
{
    ai i[4][2], period[4];
    if (periodic)
        A_UNROLL
    for (int k = 0; k < dims; k++)
        period[k] = a_whole_period(periods[k]);
#ifdef A_ROWS
    if (dims > 1 && a_near_hashes(h, dims, cell, periodic, period))
        return;
#endif
    A_UNROLL
    for (int k = 0; k < dims; k++) {
        i[k][0] = a_f2i(cell[k]);
        i[k][1] = a_iadd(i[k][0], A_I(1));
        if (periodic) {
            i[k][0] = a_wrap(i[k][0], period[k]);
            i[k][1] = a_wrap(i[k][1], period[k]);
        }
    }
    if (dims == 1) {
        h[0] = a_hash1(i[0][0]);
        h[1] = a_hash1(i[0][1]);
        return;
    }
    A_UNROLL
    for (int plane = 0; plane < 1 << (dims - 2); plane++)
        a_plane_hashes(h + 4 * plane, dims, i[0], i[1], dims > 2 ? i[2][plane & 1] : i[0][0],
                       dims > 3 ? i[3][plane >> 1] : i[0][0]);
}

/* ---- cell and hash: they have no derivatives ------------------------------------------------- */

/* One channel of three when `channels` is 3. p and period hold `dims` numbers and zeros. */
K_INLINE af a_words_noise(int dims, int channels, int channel, ai x, ai y, ai z, ai w)
{
    ai c = A_I(channel);
    if (channels == 1)
        return a_unit(a_hash_words(dims, x, y, z, w, c));
    return a_unit(
        a_hash_words(dims + 1, x, dims > 1 ? y : c, dims > 2 ? z : c, dims > 3 ? w : c, c));
}
K_INLINE ai a_cell_word(af x, int periodic, af period)
{
    ai i = a_f2i(a_floor(x));
    return periodic ? a_wrap(i, a_whole_period(period)) : i;
}
K_INLINE ai a_hash_word(af x, int periodic, af period)
{
    if (!periodic)
        return a_hashed(x);
    af n = a_to_float(a_whole_period(period));
    return a_hashed(x - n * a_floor(x / n));
}
K_INLINE void a_word_noise(int cells, int dims, const af *p, int periodic, const af *q,
                           int channels, af *out)
{
    ai w0 = cells ? a_cell_word(p[0], periodic, q[0]) : a_hash_word(p[0], periodic, q[0]);
    ai w1 = w0, w2 = w0, w3 = w0;
    if (dims > 1)
        w1 = cells ? a_cell_word(p[1], periodic, q[1]) : a_hash_word(p[1], periodic, q[1]);
    if (dims > 2)
        w2 = cells ? a_cell_word(p[2], periodic, q[2]) : a_hash_word(p[2], periodic, q[2]);
    if (dims > 3)
        w3 = cells ? a_cell_word(p[3], periodic, q[3]) : a_hash_word(p[3], periodic, q[3]);
    out[0] = a_words_noise(dims, channels, 0, w0, w1, w2, w3);
    if (channels > 1) {
        out[1] = a_words_noise(dims, channels, 1, w0, w1, w2, w3);
        out[2] = a_words_noise(dims, channels, 2, w0, w1, w2, w3);
    }
}

/* ---- Perlin: gradients --------------------------------------------------------------------- */

#ifdef A_LOOKUP
/* Perlin's gradients as vectors: their components are small whole numbers, so that products with
 * them are exact and sums the same as grad's, whose zero is positive as this one's is. */
#define A_TABLE(...) ((af){__VA_ARGS__})
K_INLINE af a_vdot1(au h, af x)
{
    return a_lookup(A_TABLE(1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, -8), h) * x;
}
K_INLINE af a_vdot2(au h, af x, af y)
{
    af gx = a_lookup(A_TABLE(1, -1, 1, -1, 2, 2, -2, -2, 1, -1, 1, -1, 2, 2, -2, -2), h);
    af gy = a_lookup(A_TABLE(2, 2, -2, -2, 1, -1, 1, -1, 2, 2, -2, -2, 1, -1, 1, -1), h);
    return a_add_exact_product(gx, x, gy * y);
}
#define A_GRADIENT_UNIT 1.0f
K_INLINE void a_gradient3(au h, af *g)
{
    g[0] = a_lookup(A_TABLE(1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0, 1, 0, -1, 0), h);
    g[1] = a_lookup(A_TABLE(1, 1, -1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1), h);
    g[2] = a_lookup(A_TABLE(0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 1, 0, -1), h);
}
#define A_PAIRS  1, -1, 1, -1, 1, -1, 1, -1
#define A_FOURS  1, 1, -1, -1, 1, 1, -1, -1
#define A_EIGHTS 1, 1, 1, 1, -1, -1, -1, -1
#define A_ZEROS  0, 0, 0, 0, 0, 0, 0, 0
K_INLINE af a_vdot4(au h, af x, af y, af z, af w)
{
    af gx = a_lookup2(A_TABLE(A_PAIRS, A_PAIRS), A_TABLE(A_PAIRS, A_ZEROS), h);
    af gy = a_lookup2(A_TABLE(A_FOURS, A_FOURS), A_TABLE(A_ZEROS, A_PAIRS), h);
    af gz = a_lookup2(A_TABLE(A_EIGHTS, A_ZEROS), A_TABLE(A_FOURS, A_FOURS), h);
    af gw = a_lookup2(A_TABLE(A_ZEROS, A_EIGHTS), A_TABLE(A_EIGHTS, A_EIGHTS), h);
    af sum = a_add_exact_product(gx, x, A_F(0.0f));
    sum = a_add_exact_product(gz, z, a_add_exact_product(gy, y, sum));
    return a_add_exact_product(gw, w, sum);
}
#else
#define a_vdot1 a_vgrad1
#define a_vdot2 a_vgrad2
#define a_vdot4 a_vgrad4
#ifdef A_ROWS
/* Twice Perlin's gradients, as the first bytes of 2 and -2 say all; what was summed is halved,
 * which is exact. */
#define A_GRADIENT_UNIT 0.5f
#define A_P             0x40
#define A_M             ((char)0xC0)
K_INLINE void a_gradient3(au h, af *g)
{
    const a_bytes gx =
        A_FIRST_BYTES(A_P, A_M, A_P, A_M, A_P, A_M, A_P, A_M, 0, 0, 0, 0, A_P, 0, A_M, 0);
    const a_bytes gy =
        A_FIRST_BYTES(A_P, A_P, A_M, A_M, 0, 0, 0, 0, A_P, A_M, A_P, A_M, A_P, A_M, A_P, A_M);
    const a_bytes gz =
        A_FIRST_BYTES(0, 0, 0, 0, A_P, A_P, A_M, A_M, A_P, A_P, A_M, A_M, 0, A_P, 0, A_M);
    g[0] = a_lookup_twos(gx, h);
    g[1] = a_lookup_twos(gy, h);
    g[2] = a_lookup_twos(gz, h);
}
#undef A_P
#undef A_M
#else
#define a_vdot3 a_vgrad3
#endif
#endif
#ifdef A_ROWS
/* The part that y and z have in the sum with a gradient. */
K_INLINE af a_vdot_yz3(const af *g, af y, af z)
{
    return a_add_exact_product(g[1], y, a_add_exact_product(g[2], z, A_F(0.0f)));
}
K_INLINE af a_vdot3(au h, af x, af y, af z)
{
    af g[3];
    a_gradient3(h, g);
    return a_add_exact_product(g[0], x, a_vdot_yz3(g, y, z)) * A_GRADIENT_UNIT;
}
#endif
#define a_ddot1 a_dgrad1
#define a_ddot2 a_dgrad2
#define a_ddot3 a_dgrad3
#define a_ddot4 a_dgrad4

/* ---- simplex: corners ------------------------------------------------------------------------ */

K_INLINE au a_scramble(ai a, ai b, ai c)
{
    return a_final_mix(A_UINTS(a), A_UINTS(b), A_UINTS(c) ^ 0xdeadbeefu);
}
/* Entry h mod 16 of a table of numbers -1, 0, 1, kept as two bits each. */
K_INLINE af a_trit(uint table, au h)
{
#ifdef A_LOOKUP
    af all;
    A_UNROLL
    for (uint i = 0; i < 16u; i++)
        all[i] = (float)((int)(table >> 2u * i & 3u) - 1);
    return a_lookup(all, h);
#else
    return a_to_float(A_INTS((table >> ((h & 15u) << 1u)) & 3u) - 1);
#endif
}

K_INLINE void a_simplex_gradient(int dims, const ai *i, int seed, af *g)
{
    au h;
    if (dims == 1) {
        h = a_scramble(i[0], A_I(seed), A_I(0)) & 15u;
        g[0] = A_FLOATS(A_BITS(1.0f + a_to_float(A_INTS(h & 7u))) | A_INTS((h & 8u) << 28u));
    } else if (dims == 2) {
        h = a_scramble(i[0], i[1], A_I(seed));
        g[0] = a_trit(0x94889488u, h);
        g[1] = a_trit(0x22942294u, h);
    } else if (dims == 3) {
        h = a_scramble(i[0], i[1], i[2]);
        g[0] = a_trit(0x520A4646u, h);
        g[1] = a_trit(0x25281919u, h);
        g[2] = a_trit(0x0A5500AAu, h);
    } else {
        h = a_scramble(i[0], i[1], A_INTS(a_scramble(i[2], i[3], A_I(seed)))) & 31u;
        au zero = h >> 3u;
        A_UNROLL
        for (int k = 0; k < 4; k++) {
            /* the sign's bit: 4 for the first that is not the zero, then 2, 1 */
            ai bit = a_seli(zero < (uint)k, A_I(4 >> (k > 0 ? k - 1 : 0)), A_I(4 >> k));
            g[k] = a_sel(zero == (uint)k, A_F(0.0f),
                         a_sel((h & A_UINTS(bit)) != 0u, A_F(-1.0f), A_F(1.0f)));
        }
    }
}
/* In three dimensions: hashes of the third word and of the next, with the channel's seed; all
 * corners share them. */
K_INLINE void a_third_hashes(ai i, int channels, ai third[][2])
{
#ifdef A_ROWS
    ai first = a_first_cell(i), all[16 / A_WIDTH];
    if (channels > 1 && !a_any_bit(a_far(i, first, 2))) { /* four words a seed, a lane each */
        A_UNROLL
        for (int v = 0; v < 16 / A_WIDTH; v++)
            all[v] = A_INTS(
                a_scramble(a_corner_of_lane(first, 2), (A_LANES >> 2) + v * (A_WIDTH / 4), A_I(0)));
        A_UNROLL
        for (int k = 0; k < 2 * channels; k++) {
            ai at = ((i + (k & 1)) & 3) | k >> 1 << 2;
            third[k >> 1][k & 1] = A_BITS(a_take(A_FLOATS(all[4 * (k >> 1) / A_WIDTH]), at));
        }
        return;
    }
#endif
    A_UNROLL
    for (int c = 0; c < channels; c++) {
        third[c][0] = A_INTS(a_scramble(i, A_I(c), A_I(0)));
        third[c][1] = A_INTS(a_scramble(a_iadd(i, A_I(1)), A_I(c), A_I(0)));
    }
}

/* ---- the noises that have derivatives, without and with them --------------------------------- */

#define AN     af
#define A_N(x) a_v##x
#define A_VALUES
#include "asl/gradient_noise.def"
#undef A_VALUES
#undef AN
#undef A_N
#define AN     struct ad
#define A_N(x) a_d##x
#include "asl/gradient_noise.def"
#undef AN
#undef A_N

enum a_noise { A_PERLIN, A_UPERLIN, A_SIMPLEX, A_USIMPLEX, A_CELL, A_HASH };

#include "asl/gabor.h"
