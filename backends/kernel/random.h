/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) and the maps of protocol section 3. */
#ifndef K_RANDOM_H
#define K_RANDOM_H
#include "elementary.h"
#include "faults.h"
#include "launch.h"

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
struct k_stream {
    uint x, y, sample, seed0, seed1;
};
K_FN struct k_numbers k_block(struct k_stream s, uint block)
{
    struct k_words w = k_philox(s.x, s.y, FAULT_STUCK_SEED(s.sample), block, s.seed0, s.seed1);
    struct k_numbers u;
    u.u0 = (float)(w.w[0] >> 8) * 0x1p-24f;
    u.u1 = (float)(w.w[1] >> 8) * 0x1p-24f;
    u.u2 = (float)(w.w[2] >> 8) * 0x1p-24f;
    u.u3 = (float)(w.w[3] >> 8) * 0x1p-24f;
    return u;
}

/* Concentric map of the unit square to the unit disk (Shirley and Chiu 1997). */
K_FN void k_sample_disk(float u, float v, float *x, float *y)
{
    float a = 2.0f * u - 1.0f, b = 2.0f * v - 1.0f;
    int wide = K_ABS(a) > K_ABS(b);
    float r = wide ? a : b;
    if (r == 0.0f) {
        *x = 0.0f;
        *y = 0.0f;
        return;
    }
    float q = K_QUART_PI * ((wide ? b : a) / r);
    float phi = wide ? q : K_HALF_PI - q;
    float s, c;
    k_sincos(phi, &s, &c);
    *x = r * c;
    *y = r * s;
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
