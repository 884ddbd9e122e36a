/* SPDX-License-Identifier: Apache-2.0 */
/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) and the maps of protocol section 3. */
#ifndef K_RANDOM_H
#define K_RANDOM_H
#include "faults.h"
#include "launch.h"
#include "math/elementary.h"
#include "math/vec8.h"

struct k_words {
    uint w[4];
};
K_FN struct k_words k_philox(uint c0, uint c1, uint c2, uint c3, uint k0, uint k1)
{
    for (int i = 0; i < 10; i++) {
        uint hi0 = K_MULHI(0xD2511F53u, c0), lo0 = 0xD2511F53u * c0;
        uint hi1 = K_MULHI(0xCD9E8D57u, c2), lo1 = 0xCD9E8D57u * c2;
        c0 = hi1 ^ c1 ^ k0;
        c1 = lo1;
        c2 = hi0 ^ c3 ^ k1;
        c3 = lo0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct k_words r;
    r.w[0] = c0;
    r.w[1] = c1;
    r.w[2] = c2;
    r.w[3] = c3;
    return r;
}

/* The four numbers in [0, 1) of one block. */
struct k_numbers {
    float u0, u1, u2, u3;
};

/* All blocks of one sample. CPUs make eight blocks at once, in lanes; elsewhere, and where lanes are
 * paths (K_LANES), a block is made when it is asked for. */
#if defined(K_CPU) && !defined(K_LANES)
#define K_BLOCKS_AHEAD 1
#endif
struct k_stream {
    uint x, y, sample, seed0, seed1;
#ifdef K_BLOCKS_AHEAD
    uint first; /* u holds blocks first .. first + 7 */
    float u[4][8] __attribute__((aligned(32)));
#endif
};

#ifdef K_BLOCKS_AHEAD

K_FN void k_stream_fill(struct k_stream *s, uint first)
{
    k_u8 c0 = u8_splat(s->x), c1 = u8_splat(s->y), c2 = u8_splat(FAULT_STUCK_SEED(s->sample));
    k_u8 c3 = u8_count(first);
    uint k0 = s->seed0, k1 = s->seed1;
    for (int i = 0; i < 10; i++) {
        k_u8 hi0, lo0, hi1, lo1;
        u8_multiply(c0, 0xD2511F53u, &hi0, &lo0);
        u8_multiply(c2, 0xCD9E8D57u, &hi1, &lo1);
        c0 = hi1 ^ c1 ^ u8_splat(k0);
        c1 = lo1;
        c2 = hi0 ^ c3 ^ u8_splat(k1);
        c3 = lo0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    s->first = first;
    u8_unit(c0, s->u[0]);
    u8_unit(c1, s->u[1]);
    u8_unit(c2, s->u[2]);
    u8_unit(c3, s->u[3]);
}
K_FN void k_stream_start(struct k_stream *s) { k_stream_fill(s, 0); }
K_FN struct k_numbers k_block(struct k_stream *s, uint block)
{
    if (block - s->first >= 8u)
        k_stream_fill(s, block & ~7u);
    uint lane = block - s->first;
    struct k_numbers u;
    u.u0 = s->u[0][lane];
    u.u1 = s->u[1][lane];
    u.u2 = s->u[2][lane];
    u.u3 = s->u[3][lane];
    return u;
}

#else

K_FN void k_stream_start(struct k_stream *s) { (void)s; }
K_FN struct k_numbers k_block(struct k_stream *s, uint block)
{
    struct k_words w = k_philox(s->x, s->y, FAULT_STUCK_SEED(s->sample), block, s->seed0, s->seed1);
    struct k_numbers u;
    u.u0 = (float)(w.w[0] >> 8) * 0x1p-24f;
    u.u1 = (float)(w.w[1] >> 8) * 0x1p-24f;
    u.u2 = (float)(w.w[2] >> 8) * 0x1p-24f;
    u.u3 = (float)(w.w[3] >> 8) * 0x1p-24f;
    return u;
}

#endif

/* A block by itself. */
K_FN struct k_numbers k_block_at(const struct k_stream *s, uint block)
{
    struct k_words w = k_philox(s->x, s->y, FAULT_STUCK_SEED(s->sample), block, s->seed0, s->seed1);
    struct k_numbers u;
    u.u0 = (float)(w.w[0] >> 8) * 0x1p-24f;
    u.u1 = (float)(w.w[1] >> 8) * 0x1p-24f;
    u.u2 = (float)(w.w[2] >> 8) * 0x1p-24f;
    u.u3 = (float)(w.w[3] >> 8) * 0x1p-24f;
    return u;
}

/* Block n, 0 to 7, of those that vertex k has besides 2 k - 1 and 2 k; k = 0: of the camera. */
K_FN struct k_numbers k_block_more(const struct k_stream *s, uint k, uint n)
{
    return k_block_at(s, 0x80000000u + 8u * k + n);
}

/* Concentric map of the unit square to the unit disk (Shirley and Chiu 1997): phi = q where
 * |a| > |b|, else pi/2 - q, with q in [-pi/4, pi/4]. */
K_FN void k_sample_disk(float u, float v, float *x, float *y)
{
    float a = 2.0f * u - 1.0f, b = 2.0f * v - 1.0f;
    int wide = K_ABS(a) > K_ABS(b);
    float r = k_select(wide, a, b), other = k_select(wide, b, a);
    if (K_UNLIKELY(r == 0.0f)) {
        *x = 0.0f;
        *y = 0.0f;
        return;
    }
    float s, c;
    k_sincos_reduced(K_QUART_PI * (other / r), &s, &c);
    *x = r * k_select(wide, c, s);
    *y = r * k_select(wide, s, c);
}

/* z = cos theta; density z / pi per sr. */
K_FN struct k_vec3 k_sample_cosine(float u, float v)
{
    float x, y;
    k_sample_disk(u, v, &x, &y);
    return v3(x, y, K_SQRT(k_max(0.0f, (1.0f - x * x) - y * y)));
}

/* Uniform on the unit sphere, density 1 / (4 pi) per sr. */
K_FN struct k_vec3 k_sample_sphere(float u, float v)
{
    float z = 1.0f - 2.0f * u;
    float r = K_SQRT(k_max(0.0f, 1.0f - z * z));
    float s, c;
    k_sincos(K_TWO_PI * v, &s, &c);
    return v3(r * c, r * s, z);
}

#endif
