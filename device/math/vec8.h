/* SPDX-License-Identifier: Apache-2.0 */
/* Eight floats at once, for the eight-wide tree: vector types where the compiler has them, loops
 * elsewhere. A comparison gives eight bits. */
#ifndef K_VEC8_H
#define K_VEC8_H
#include "math/vec.h"

#if defined(K_NATIVE) || defined(K_OPENCL)

K_FN k_f8 f8_load(K_GLOBAL const float *p) { return *(K_GLOBAL const k_f8 *)p; }
#ifdef K_OPENCL
K_FN k_f8 f8_splat(float x) { return (k_f8)(x); }
K_FN k_f8 f8_min(k_f8 a, k_f8 b) { return a < b ? a : b; }
K_FN k_f8 f8_max(k_f8 a, k_f8 b) { return a > b ? a : b; }
#else
K_FN k_f8 f8_splat(float x) { return (k_f8){x, x, x, x, x, x, x, x}; }
#ifdef __AVX__
K_FN k_f8 f8_min(k_f8 a, k_f8 b) { return __builtin_ia32_minps256(a, b); }
K_FN k_f8 f8_max(k_f8 a, k_f8 b) { return __builtin_ia32_maxps256(a, b); }
#else
K_FN k_f8 f8_choose(k_i8 m, k_f8 a, k_f8 b) { return (k_f8)((m & (k_i8)a) | (~m & (k_i8)b)); }
K_FN k_f8 f8_min(k_f8 a, k_f8 b) { return f8_choose(a < b, a, b); }
K_FN k_f8 f8_max(k_f8 a, k_f8 b) { return f8_choose(a > b, a, b); }
#endif
#endif
K_FN k_f8 f8_sub(k_f8 a, k_f8 b) { return a - b; }
K_FN k_f8 f8_add(k_f8 a, k_f8 b) { return a + b; }
K_FN k_f8 f8_mul(k_f8 a, k_f8 b) { return a * b; }
K_FN k_f8 f8_div(k_f8 a, k_f8 b) { return a / b; }
/* K_LESS_PRODUCT. */
#if defined(K_NATIVE) && defined(__FMA__) && !K_STRICT
K_FN k_f8 f8_less_product(k_f8 c, k_f8 a, k_f8 b) { return __builtin_ia32_vfmaddps256(-a, b, c); }
#elif defined(K_NATIVE) && !K_STRICT
K_FN k_f8 f8_less_product(k_f8 c, k_f8 a, k_f8 b)
{
    for (int i = 0; i < 8; i++)
        c[i] = K_LESS_PRODUCT(c[i], a[i], b[i]);
    return c;
}
#else
K_FN k_f8 f8_less_product(k_f8 c, k_f8 a, k_f8 b) { return K_LESS_PRODUCT(c, a, b); }
#endif
K_FN void f8_store(k_f8 a, float *p) { *(k_f8 *)p = a; }
typedef k_i8 k_mask8;
#ifdef K_NATIVE
K_FN k_f8 f8_abs(k_f8 a) { return (k_f8)((k_i8)a & ((k_i8){0} + 0x7FFFFFFF)); }
/* 1 / sqrt(a) to 2^-11 of itself; a from 2^-126 on. */
#ifdef __AVX__
K_FN k_f8 f8_rsqrt_rough(k_f8 a) { return __builtin_ia32_rsqrtps256(a); }
#else
K_FN k_f8 f8_rsqrt_rough(k_f8 a)
{
    for (int i = 0; i < 8; i++)
        a[i] = K_RSQRT(a[i]);
    return a;
}
#endif
#endif
#ifdef K_OPENCL
K_FN k_f8 f8_select(k_mask8 m, k_f8 a, k_f8 b) { return m ? a : b; }
#else
K_FN k_f8 f8_select(k_mask8 m, k_f8 a, k_f8 b) { return (k_f8)((m & (k_i8)a) | (~m & (k_i8)b)); }
#endif
/* a with its sign changed where that of b is set. */
#ifdef K_OPENCL
K_FN k_f8 f8_turn(k_f8 a, k_f8 b) { return as_float8(as_int8(a) ^ (as_int8(b) & (int8)(1 << 31))); }
#else
K_FN k_f8 f8_turn(k_f8 a, k_f8 b)
{
    return (k_f8)((k_i8)a ^ ((k_i8)b & ((k_i8){0} - 0x7FFFFFFF - 1)));
}
#endif
K_FN k_mask8 f8_le(k_f8 a, k_f8 b) { return a <= b; }
K_FN k_mask8 f8_lt(k_f8 a, k_f8 b) { return a < b; }
K_FN k_mask8 f8_and(k_mask8 a, k_mask8 b) { return a & b; }
K_FN k_mask8 f8_or(k_mask8 a, k_mask8 b) { return a | b; }
#if defined(K_NATIVE) && defined(__AVX__)
typedef uint k_bits;
K_FN k_bits f8_bits(k_mask8 m) { return (uint)__builtin_ia32_movmskps256((k_f8)m); }
#elif defined(K_NATIVE)
typedef uint k_bits;
K_FN k_bits f8_bits(k_mask8 m)
{
    uint bits = 0;
    for (int i = 0; i < 8; i++)
        bits |= (uint)(m[i] & 1) << i;
    return bits;
}
#elif defined(K_CPU)
/* A byte a lane: narrowing is one instruction, adding bits up across lanes would be seven. */
#define K_BITS_SHIFT 3
typedef ulong k_bits;
K_FN k_bits f8_bits(k_mask8 m) { return as_ulong(convert_char8(m)) & 0x8080808080808080ul; }
#else
#define K_BITS_SHIFT 0
typedef uint k_bits;
K_FN k_bits f8_bits(k_mask8 m)
{
    int8 b = m & (int8)(1, 2, 4, 8, 16, 32, 64, 128);
    int4 c = b.lo | b.hi;
    int2 d = c.lo | c.hi;
    return (uint)(d.x | d.y);
}
#endif

#else /* CUDA, HIP */

struct k_f8 {
    float v[8];
};
typedef struct k_f8 k_f8;
typedef uint k_mask8;
typedef uint k_bits;
#define K_EACH8(result, expression)                                                                \
    {                                                                                              \
        k_f8 result;                                                                               \
        for (int i = 0; i < 8; i++)                                                                \
            result.v[i] = (expression);                                                            \
        return result;                                                                             \
    }
#define K_LANE_BITS(condition)                                                                     \
    {                                                                                              \
        uint bits = 0;                                                                             \
        for (int i = 0; i < 8; i++)                                                                \
            bits |= (condition) ? 1u << i : 0u;                                                    \
        return bits;                                                                               \
    }
K_FN k_f8 f8_load(K_GLOBAL const float *p) K_EACH8(r, p[i]) K_FN k_f8 f8_splat(float x)
    K_EACH8(r, x) K_FN k_f8 f8_min(k_f8 a, k_f8 b) K_EACH8(r, k_min(a.v[i], b.v[i])) K_FN k_f8
    f8_max(k_f8 a, k_f8 b) K_EACH8(r, k_max(a.v[i], b.v[i])) K_FN k_f8 f8_sub(k_f8 a, k_f8 b)
        K_EACH8(r, a.v[i] - b.v[i]) K_FN k_f8 f8_add(k_f8 a, k_f8 b)
            K_EACH8(r, a.v[i] + b.v[i]) K_FN k_f8 f8_mul(k_f8 a, k_f8 b)
                K_EACH8(r, a.v[i] * b.v[i]) K_FN k_f8 f8_div(k_f8 a, k_f8 b)
                    K_EACH8(r, a.v[i] / b.v[i]) K_FN void f8_store(k_f8 a, float *p)
{
    for (int i = 0; i < 8; i++)
        p[i] = a.v[i];
}
K_FN k_mask8 f8_le(k_f8 a, k_f8 b) K_LANE_BITS(a.v[i] <= b.v[i]) K_FN k_mask8 f8_lt(k_f8 a, k_f8 b)
    K_LANE_BITS(a.v[i] < b.v[i]) K_FN k_mask8 f8_and(k_mask8 a, k_mask8 b)
{
    return a & b;
}
K_FN k_mask8 f8_or(k_mask8 a, k_mask8 b) { return a | b; }
K_FN k_bits f8_bits(k_mask8 m) { return m; }
K_FN k_f8 f8_select(k_mask8 m, k_f8 a, k_f8 b)
    K_EACH8(r, (m >> i & 1u) != 0 ? a.v[i] : b.v[i]) K_FN k_f8
    f8_less_product(k_f8 c, k_f8 a, k_f8 b) K_EACH8(r, K_LESS_PRODUCT(c.v[i], a.v[i], b.v[i]))
#endif

#ifdef K_CPU
/* An entry over a node, and the like. */
typedef unsigned K_LONG k_key;
/* Eight unsigned integers, for eight blocks of random numbers. */
#ifdef K_OPENCL
typedef uint8 k_u8;
K_FN k_u8 u8_splat(uint x) { return (k_u8)(x); }
K_FN k_u8 u8_count(uint first) { return (k_u8)(first) + (k_u8)(0, 1, 2, 3, 4, 5, 6, 7); }
K_FN void u8_multiply(k_u8 a, uint b, k_u8 *hi, k_u8 *lo)
{
    const ulong low = 0xFFFFFFFFul;
    ulong4 even = (as_ulong4(a) & low) * (ulong)b, odd = (as_ulong4(a) >> 32) * (ulong)b;
    *lo = as_uint8((even & low) | (odd << 32));
    *hi = as_uint8((even >> 32) | (odd & ~low));
}
K_FN void u8_unit(k_u8 a, float *out) { *(k_f8 *)out = convert_float8(a >> 8) * 0x1p-24f; }
#else
typedef uint k_u8 __attribute__((vector_size(32)));
K_FN k_u8 u8_splat(uint x) { return (k_u8){x, x, x, x, x, x, x, x}; }
K_FN k_u8 u8_count(uint first) { return u8_splat(first) + (k_u8){0, 1, 2, 3, 4, 5, 6, 7}; }
#ifdef __AVX2__
typedef unsigned long long k_ul4 __attribute__((vector_size(32)));
K_FN void u8_multiply(k_u8 a, uint b, k_u8 *hi, k_u8 *lo)
{
    const k_ul4 low = (k_ul4)u8_splat(0) + 0xFFFFFFFFull;
    k_i8 m = (k_i8)u8_splat(b);
    k_ul4 even = (k_ul4)__builtin_ia32_pmuludq256((k_i8)a, m);
    k_ul4 odd = (k_ul4)__builtin_ia32_pmuludq256((k_i8)((k_ul4)a >> 32), m);
    *lo = (k_u8)((even & low) | (odd << 32));
    *hi = (k_u8)((even >> 32) | (odd & ~low));
}
#else
typedef unsigned long long k_ul8 __attribute__((vector_size(64)));
K_FN void u8_multiply(k_u8 a, uint b, k_u8 *hi, k_u8 *lo)
{
    k_ul8 p = __builtin_convertvector(a, k_ul8) * (unsigned long long)b;
    *lo = __builtin_convertvector(p, k_u8);
    *hi = __builtin_convertvector(p >> 32, k_u8);
}
#endif
K_FN void u8_unit(k_u8 a, float *out)
{
    *(k_f8 *)out = __builtin_convertvector((k_i8)(a >> 8), k_f8) * 0x1p-24f;
}
#endif
#endif

/* Lane of the lowest set bit; bits is not 0. bits & (bits - 1) is without it. */
K_FN uint k_lowest_lane(k_bits bits)
{
#if defined(K_NATIVE)
    return (uint)__builtin_ctz(bits);
#elif defined(K_CUDA)
    return (uint)(__ffs((int)bits) - 1);
#else /* not by clz: Intel's compiler calls a function for it, and saves all registers around the  \
         call */
    return (uint)popcount(~bits & (bits - 1)) >> K_BITS_SHIFT;
#endif
}

#endif
