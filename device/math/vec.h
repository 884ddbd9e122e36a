/* SPDX-License-Identifier: Apache-2.0 */
/* Three floats, and the order in which Part II of the protocol adds and multiplies them. */
#ifndef K_VEC_H
#define K_VEC_H
#include "portable.h"

struct k_vec3 {
    float x, y, z;
};

#if K_FAST && defined(K_CUDA)
/* One instruction; a choice that NaN decides is two. */
K_FN float k_min(float a, float b) { return fminf(a, b); }
K_FN float k_max(float a, float b) { return fmaxf(a, b); }
#else
K_FN float k_min(float a, float b) { return a < b ? a : b; }
K_FN float k_max(float a, float b) { return a > b ? a : b; }
#endif
K_FN float k_clamp01(float x) { return k_min(k_max(x, 0.0f), 1.0f); }

/* By bits, so that fast arithmetic cannot reason it away. */
K_FN int k_finite(float x) { return (K_AS_UINT(x) & 0x7F800000u) != 0x7F800000u; }
/* A number with its sign changed when bit 31 of `sign` is set. */
K_FN float k_flip(float x, uint sign) { return K_AS_FLOAT(K_AS_UINT(x) ^ (sign & 0x80000000u)); }
/* condition ? a : b, without a branch: which way it goes is often a coin's toss. */
K_FN float k_select(int condition, float a, float b)
{
    uint mask = 0u - (uint)(condition != 0);
    return K_AS_FLOAT((K_AS_UINT(a) & mask) | (K_AS_UINT(b) & ~mask));
}
K_FN float k_copysign(float magnitude, float sign)
{
    return K_AS_FLOAT((K_AS_UINT(magnitude) & 0x7FFFFFFFu) | (K_AS_UINT(sign) & 0x80000000u));
}

K_FN struct k_vec3 v3(float x, float y, float z)
{
    struct k_vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}
K_FN struct k_vec3 v3_load(K_GLOBAL const float *p) { return v3(p[0], p[1], p[2]); }
K_FN struct k_vec3 v3_add(struct k_vec3 a, struct k_vec3 b)
{
    return v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
K_FN struct k_vec3 v3_sub(struct k_vec3 a, struct k_vec3 b)
{
    return v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
K_FN struct k_vec3 v3_mul(struct k_vec3 a, struct k_vec3 b)
{
    return v3(a.x * b.x, a.y * b.y, a.z * b.z);
}
K_FN struct k_vec3 v3_scale(struct k_vec3 a, float s) { return v3(a.x * s, a.y * s, a.z * s); }
K_FN struct k_vec3 v3_neg(struct k_vec3 a) { return v3(-a.x, -a.y, -a.z); }
K_FN struct k_vec3 v3_flip(struct k_vec3 a, uint sign)
{
    return v3(k_flip(a.x, sign), k_flip(a.y, sign), k_flip(a.z, sign));
}
/* a + b s */
K_FN struct k_vec3 v3_madd(struct k_vec3 a, struct k_vec3 b, float s)
{
    return v3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}
K_FN float v3_dot(struct k_vec3 a, struct k_vec3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
K_FN struct k_vec3 v3_cross(struct k_vec3 a, struct k_vec3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
K_FN float v3_max(struct k_vec3 a) { return k_max(k_max(a.x, a.y), a.z); }
K_FN struct k_vec3 v3_abs(struct k_vec3 a) { return v3(K_ABS(a.x), K_ABS(a.y), K_ABS(a.z)); }
K_FN struct k_vec3 v3_most(struct k_vec3 a, struct k_vec3 b)
{
    return v3(k_max(a.x, b.x), k_max(a.y, b.y), k_max(a.z, b.z));
}
K_FN float v3_max_abs(struct k_vec3 a) { return k_max(k_max(K_ABS(a.x), K_ABS(a.y)), K_ABS(a.z)); }
K_FN float v3_luminance(struct k_vec3 c) { return (0.2126f * c.x + 0.7152f * c.y) + 0.0722f * c.z; }

/* v / |v|; a vector so short that its square would lose bits is first scaled by 2^60. Not for the
 * zero vector. */
K_FN struct k_vec3 v3_normalize(struct k_vec3 v)
{
    float d = v3_dot(v, v);
    if (K_UNLIKELY(d < 0x1p-80f)) {
        v = v3_scale(v, 0x1p60f);
        d = v3_dot(v, v);
    }
    return v3_scale(v, K_RSQRT(d));
}

/* Frame about a unit n (Duff et al., JCGT 2017). */
struct k_frame {
    struct k_vec3 s, t, n;
};
K_FN struct k_frame k_frame_about(struct k_vec3 n)
{
    struct k_frame f;
    float sg = k_copysign(1.0f, n.z);
    float a = -1.0f / (sg + n.z);
    float b = (n.x * n.y) * a;
    f.s = v3(1.0f + sg * ((n.x * n.x) * a), sg * b, -sg * n.x);
    f.t = v3(b, sg + (n.y * n.y) * a, -n.y);
    f.n = n;
    return f;
}
K_FN struct k_vec3 k_to_local(struct k_frame f, struct k_vec3 w)
{
    return v3(v3_dot(w, f.s), v3_dot(w, f.t), v3_dot(w, f.n));
}
K_FN struct k_vec3 k_to_world(struct k_frame f, struct k_vec3 w)
{
    return v3_madd(v3_madd(v3_scale(f.s, w.x), f.t, w.y), f.n, w.z);
}

#endif
