/* SPDX-License-Identifier: Apache-2.0 */
/* noise.c: the noises of ASL, as docs/reference/asl.md (Noise) defines them. All arithmetic is
 * float, in the order written; numbers carry their derivatives. The hash is Bob Jenkins' lookup3
 * (public domain); gradient noise after Perlin 2002, simplex noise after Gustavson 2005 (public
 * domain). */
#include "interp.h"

#include <math.h>
#include <string.h>

/* ---- hash ----------------------------------------------------------------------------------- */

static uint32_t rot(uint32_t x, unsigned k) { return x << k | x >> (32 - k); }

static uint32_t final_mix(uint32_t a, uint32_t b, uint32_t c)
{
    c ^= b;
    c -= rot(b, 14);
    a ^= c;
    a -= rot(c, 11);
    b ^= a;
    b -= rot(a, 25);
    c ^= b;
    c -= rot(b, 16);
    a ^= c;
    a -= rot(c, 4);
    b ^= a;
    b -= rot(a, 14);
    c ^= b;
    c -= rot(b, 24);
    return c;
}

static uint32_t bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

uint32_t asl_hashed_bits(float x) { return isnan(x) ? 0x7fc00000u : bits(x); }

uint32_t asl_hash_words(const uint32_t *words, unsigned count)
{
    uint32_t a = 0xdeadbeefu + (count << 2) + 13, b = a, c = a;
    unsigned i = 0;
    for (; count - i > 3; i += 3) {
        a += words[i];
        b += words[i + 1];
        c += words[i + 2];
        a -= c;
        a ^= rot(c, 4);
        c += b;
        b -= a;
        b ^= rot(a, 6);
        a += c;
        c -= b;
        c ^= rot(b, 8);
        b += a;
        a -= c;
        a ^= rot(c, 16);
        c += b;
        b -= a;
        b ^= rot(a, 19);
        a += c;
        c -= b;
        c ^= rot(b, 4);
        b += a;
    }
    if (count - i >= 3)
        c += words[i + 2];
    if (count - i >= 2)
        b += words[i + 1];
    if (count - i >= 1)
        a += words[i];
    return final_mix(a, b, c);
}

static float unit(uint32_t h) { return (float)h * (1.0f / 4294967295.0f); }

/* ---- lattice -------------------------------------------------------------------------------- */

/* A period below 1 counts as 1. */
static int32_t whole_period(float p)
{
    int32_t i = asl_float_to_int(floorf(p));
    return i < 1 ? 1 : i;
}

static uint32_t wrap(int32_t i, const float *period, unsigned axis)
{
    if (!period)
        return (uint32_t)i;
    int32_t p = whole_period(period[axis]), m = i % p;
    return (uint32_t)(m < 0 ? m + p : m);
}

/* ---- cell and hash -------------------------------------------------------------------------- */

static void cell(unsigned dims, const dual *x, const float *period, unsigned channels, dual *out)
{
    uint32_t w[5];
    for (unsigned i = 0; i < dims; i++)
        w[i] = wrap(asl_float_to_int(floorf(x[i].v)), period, i);
    for (unsigned c = 0; c < channels; c++) {
        w[dims] = c;
        out[c] = d_const(unit(asl_hash_words(w, channels > 1 ? dims + 1 : dims)));
    }
}

static void hash(unsigned dims, const dual *x, const float *period, unsigned channels, dual *out)
{
    uint32_t w[5];
    for (unsigned i = 0; i < dims; i++) {
        float v = x[i].v;
        if (period) {
            float p = (float)whole_period(period[i]);
            v = v - p * floorf(v / p);
        }
        w[i] = asl_hashed_bits(v);
    }
    for (unsigned c = 0; c < channels; c++) {
        w[dims] = c;
        out[c] = d_const(unit(asl_hash_words(w, channels > 1 ? dims + 1 : dims)));
    }
}

/* ---- Perlin --------------------------------------------------------------------------------- */

static dual signed_by(uint32_t bit, dual x) { return bit ? d_neg(x) : x; }

/* The dot product of the hashed gradient and the offset from the corner. */
static dual gradient(unsigned dims, uint32_t h, const dual *f)
{
    dual u, v, s;
    switch (dims) {
    case 1: {
        float g = 1.0f + (float)(h & 7);
        return d_mul(d_const(h & 8 ? -g : g), f[0]);
    }
    case 2:
        h &= 7;
        u = h < 4 ? f[0] : f[1];
        v = d_mul(d_const(2), h < 4 ? f[1] : f[0]);
        return d_add(signed_by(h & 1, u), signed_by(h & 2, v));
    case 3:
        h &= 15;
        u = h < 8 ? f[0] : f[1];
        v = h < 4 ? f[1] : h == 12 || h == 14 ? f[0] : f[2];
        return d_add(d_add(signed_by(h & 1, u), signed_by(h & 2, v)), d_const(0));
    default:
        h &= 31;
        u = h < 24 ? f[0] : f[1];
        v = h < 16 ? f[1] : f[2];
        s = h < 8 ? f[2] : f[3];
        s = d_add(d_add(signed_by(h & 1, u), signed_by(h & 2, v)), signed_by(h & 4, s));
        return d_add(s, d_const(0));
    }
}

static dual fade(dual t)
{
    dual a = d_add(d_mul(t, d_sub(d_mul(t, d_const(6)), d_const(15))), d_const(10));
    return d_mul(d_mul(d_mul(t, t), t), a);
}

static dual lerp(dual a, dual b, dual t)
{
    return d_add(d_mul(d_sub(d_const(1), t), a), d_mul(t, b));
}

static void perlin(unsigned dims, const dual *x, const float *period, unsigned channels, dual *out)
{
    static const float scale[] = {0, 0.2500f, 0.6616f, 0.9820f, 0.8344f};
    int32_t cell0[4];
    dual f[4], t[4], value[3][16];
    for (unsigned i = 0; i < dims; i++) {
        float fl = floorf(x[i].v);
        cell0[i] = asl_float_to_int(fl);
        f[i] = d_sub(x[i], d_const(fl));
        t[i] = fade(f[i]);
    }
    for (unsigned corner = 0; corner < 1u << dims; corner++) {
        uint32_t w[4];
        dual d[4];
        for (unsigned i = 0; i < dims; i++) {
            uint32_t far = (corner >> i) & 1;
            w[i] = wrap((int32_t)((uint32_t)cell0[i] + far), period, i);
            d[i] = far ? d_sub(f[i], d_const(1)) : f[i];
        }
        uint32_t h = asl_hash_words(w, dims);
        for (unsigned c = 0; c < channels; c++)
            value[c][corner] = gradient(dims, channels > 1 ? (h >> (8 * c)) & 255 : h, d);
    }
    for (unsigned c = 0; c < channels; c++) {
        for (unsigned i = 0; i < dims; i++) /* x first, then y ... */
            for (unsigned k = 0; k < 1u << (dims - 1 - i); k++)
                value[c][k] = lerp(value[c][2 * k], value[c][2 * k + 1], t[i]);
        out[c] = d_mul(value[c][0], d_const(scale[dims]));
    }
}

/* ---- simplex -------------------------------------------------------------------------------- */

static uint32_t scramble(uint32_t a, uint32_t b, uint32_t c)
{
    return final_mix(a, b, c ^ 0xdeadbeefu);
}

static const int8_t simplex2[8][2] = {{-1, -1}, {1, 0},  {-1, 0}, {1, 1},
                                      {-1, 1},  {0, -1}, {0, 1},  {1, -1}};
static const int8_t simplex3[16][3] = {{1, 0, 1},  {0, 1, 1},  {-1, 0, 1},  {0, -1, 1},
                                       {1, 0, -1}, {0, 1, -1}, {-1, 0, -1}, {0, -1, -1},
                                       {1, -1, 0}, {1, 1, 0},  {-1, 1, 0},  {-1, -1, 0},
                                       {1, 0, 1},  {-1, 0, 1}, {0, 1, -1},  {0, -1, -1}};

/* The gradient of a corner: zero stands in one place for eight entries in turn, the signs of the
 * others count down. */
static void simplex_gradient(unsigned dims, const uint32_t *i, uint32_t seed, float *g)
{
    uint32_t h;
    switch (dims) {
    case 1:
        h = scramble(i[0], seed, 0) & 15;
        g[0] = 1.0f + (float)(h & 7);
        if (h & 8)
            g[0] = -g[0];
        break;
    case 2:
        h = scramble(i[0], i[1], seed) & 7;
        g[0] = simplex2[h][0];
        g[1] = simplex2[h][1];
        break;
    case 3:
        h = scramble(i[0], i[1], scramble(i[2], seed, 0)) & 15;
        for (unsigned k = 0; k < 3; k++)
            g[k] = simplex3[h][k];
        break;
    default: {
        h = scramble(i[0], i[1], scramble(i[2], i[3], seed)) & 31;
        unsigned zero = h / 8, bit = 4;
        for (unsigned k = 0; k < 4; k++) {
            g[k] = k == zero ? 0.0f : (h & bit) ? -1.0f : 1.0f;
            bit >>= k != zero;
        }
    }
    }
}

static dual corner_value(unsigned dims, const dual *d, const uint32_t *i, uint32_t seed)
{
    dual t = d_const(dims == 1 ? 1.0f : 0.5f);
    for (unsigned k = 0; k < dims; k++)
        t = d_sub(t, d_mul(d[k], d[k]));
    if (!(t.v > 0))
        return d_const(0);
    float g[4];
    simplex_gradient(dims, i, seed, g);
    dual dot = d_mul(d_const(g[0]), d[0]);
    for (unsigned k = 1; k < dims; k++)
        dot = d_add(dot, d_mul(d_const(g[k]), d[k]));
    dual t2 = d_mul(t, t);
    return d_mul(d_mul(t2, t2), dot);
}

static dual simplex(unsigned dims, const dual *x, uint32_t seed)
{
    static const float skew[] = {0, 0, 0.366025403f, 1.0f / 3.0f, 0.309016994f};
    static const float unskew[] = {0, 0, 0.211324865f, 1.0f / 6.0f, 0.138196601f};
    static const float scale[] = {0, 0.36f, 64.0f, 68.0f, 54.0f};
    float s = 0, t = 0, cell0[4];
    dual d0[4];
    uint32_t i0[4] = {0}, rank[4] = {0};
    for (unsigned k = 0; k < dims; k++)
        s = k ? s + x[k].v : x[k].v;
    s = s * skew[dims];
    for (unsigned k = 0; k < dims; k++) {
        cell0[k] = floorf(x[k].v + s);
        i0[k] = (uint32_t)asl_float_to_int(cell0[k]);
        t = k ? t + cell0[k] : cell0[k];
    }
    t = t * unskew[dims];
    for (unsigned k = 0; k < dims; k++)
        d0[k] = d_sub(x[k], d_const(cell0[k] - t));
    /* The larger a coordinate, the earlier the path along the simplex steps along it; of equal ones
     * the first does. */
    for (unsigned a = 0; a < dims; a++)
        for (unsigned b = a + 1; b < dims; b++)
            rank[d0[a].v >= d0[b].v ? a : b]++;
    dual sum = d_const(0);
    for (unsigned step = 0; step <= dims; step++) {
        dual d[4];
        uint32_t i[4] = {0};
        for (unsigned k = 0; k < dims; k++) {
            uint32_t one = rank[k] + step >= dims;
            i[k] = i0[k] + one;
            d[k] = d_sub(d0[k], d_const((float)one - (float)step * unskew[dims]));
        }
        sum = d_add(sum, corner_value(dims, d, i, seed));
    }
    return d_mul(sum, d_const(scale[dims]));
}

/* ---- all ------------------------------------------------------------------------------------ */

void asl_noise_eval(enum asl_noise kind, unsigned dims, const struct asl_dual *x,
                    const float *period, bool triple, struct asl_dual *out)
{
    unsigned channels = triple ? 3 : 1;
    switch (kind) {
    case ASL_NOISE_CELL:
        cell(dims, x, period, channels, out);
        break;
    case ASL_NOISE_HASH:
        hash(dims, x, period, channels, out);
        break;
    case ASL_NOISE_SIMPLEX:
    case ASL_NOISE_USIMPLEX:
        for (unsigned c = 0; c < channels; c++)
            out[c] = simplex(dims, x, c);
        break;
    default:
        perlin(dims, x, period, channels, out);
        break;
    }
    if (kind == ASL_NOISE_UPERLIN || kind == ASL_NOISE_USIMPLEX)
        for (unsigned c = 0; c < channels; c++)
            out[c] = d_mul(d_const(0.5f), d_add(out[c], d_const(1)));
}
