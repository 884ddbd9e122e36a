/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen floats at once, for sixteen rays: vector types of the compilers that make bitcode
 * (K_LINKED). A mask has all bits of a lane set, or none. */
#ifndef K_VEC16_H
#define K_VEC16_H
#include "math/vec8.h"

/* Before what may be rounded less often than it is written. */
#ifdef __clang__
#define K_CONTRACT _Pragma("clang fp contract(fast)")
#else
#define K_CONTRACT
#endif

typedef float k_f16 __attribute__((vector_size(64)));
typedef int k_mask16 __attribute__((vector_size(64)));

K_FN k_f16 f16_load(const float *p) { return *(const k_f16 *)p; }
K_FN k_f16 f16_splat(float x) { return (k_f16){0} + x; }
K_FN k_mask16 i16_splat(int x) { return (k_mask16){0} + x; }
K_FN k_f16 f16_select(k_mask16 m, k_f16 a, k_f16 b)
{
    return (k_f16)((m & (k_mask16)a) | (~m & (k_mask16)b));
}
K_FN k_f16 f16_add(k_f16 a, k_f16 b) { return a + b; } /* each rounded for itself */
K_FN k_f16 f16_sub(k_f16 a, k_f16 b) { return a - b; }
K_FN k_f16 f16_mul(k_f16 a, k_f16 b) { return a * b; }
K_FN k_f16 f16_min(k_f16 a, k_f16 b) { return f16_select(a < b, a, b); }
K_FN k_f16 f16_max(k_f16 a, k_f16 b) { return f16_select(a > b, a, b); }
/* |a|, and a with its sign changed where that of b is set. */
K_FN k_f16 f16_abs(k_f16 a) { return (k_f16)((k_mask16)a & i16_splat(0x7FFFFFFF)); }
K_FN k_f16 f16_turn(k_f16 a, k_f16 b)
{
    return (k_f16)((k_mask16)a ^ ((k_mask16)b & i16_splat(-0x7FFFFFFF - 1)));
}
/* As many floats from any address on. */
typedef k_f16 k_f16_apart __attribute__((aligned(4), may_alias));
K_FN void f16_put(float *to, k_f16 a) { *(k_f16_apart *)to = a; }

/* Eight numbers of 64 bits; made of two of 32, `high` over `low`. */
typedef unsigned K_LONG k_key8 __attribute__((vector_size(64)));
typedef K_LONG k_signed8 __attribute__((vector_size(64)));
K_FN k_key8 key8_make(k_f8 high, k_u8 low)
{
    return __builtin_convertvector((k_u8)high, k_key8) << 32 | __builtin_convertvector(low, k_key8);
}
K_FN k_u8 u8_less(k_u8 a, k_u8 b)
{
    const k_u8 m = (k_u8)(a < b);
    return (m & a) | (~m & b);
}
/* The least of eight. */
K_FN uint u8_least(k_u8 a)
{
    a = u8_less(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    a = u8_less(a, __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5));
    a = u8_less(a, __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6));
    return a[0];
}
typedef k_key8 k_key8_apart __attribute__((aligned(8), may_alias));
K_FN void key8_put(k_key *to, k_key8 a) { *(k_key8_apart *)to = a; }

#ifdef __AVX512F__
/* 1 / a to 2^-14 of itself. */
K_FN k_f16 f16_reciprocal(k_f16 a)
{
    return __builtin_ia32_rcp14ps512_mask(a, a, (unsigned short)-1);
}
/* A bit of each lane. */
K_FN uint i16_bits(k_mask16 m)
{
    return __builtin_ia32_cmpd512_mask(m, (k_mask16){0}, 4, (unsigned short)-1);
}
/* The lanes whose bits are set, next to each other; what follows them is anything. */
K_FN k_f16 f16_pack(k_f16 a, uint bits)
{
    return __builtin_ia32_compresssf512_mask(a, a, (unsigned short)bits);
}
K_FN k_key8 key8_pack(k_key8 a, uint bits)
{
    return (k_key8)__builtin_ia32_compressdi512_mask((k_signed8)a, (k_signed8)a,
                                                     (unsigned char)bits);
}
/* Entry `at` of a table of 64, by lanes. */
K_FN k_f16 f16_look(const float *table, k_mask16 at)
{
    const k_f16 low = __builtin_ia32_vpermi2varps512(f16_load(table), at, f16_load(table + 16));
    const k_f16 high =
        __builtin_ia32_vpermi2varps512(f16_load(table + 32), at, f16_load(table + 48));
    return f16_select((at & 32) != 0, high, low);
}
#else
K_FN k_key8 key8_pack(k_key8 a, uint bits)
{
    k_key8 r = a;
    uint to = 0;
    for (uint i = 0; i < 8; i++)
        if (bits >> i & 1u)
            r[to++] = a[i];
    return r;
}
/* As rough as the instruction may be. */
K_FN k_f16 f16_reciprocal(k_f16 a) { return (k_f16)((k_mask16)(1.0f / a) & -512); }
K_FN uint i16_bits(k_mask16 m)
{
    uint bits = 0;
    for (uint i = 0; i < 16; i++)
        bits |= (uint)(m[i] & 1) << i;
    return bits;
}
K_FN k_f16 f16_pack(k_f16 a, uint bits)
{
    k_f16 r = a;
    uint to = 0;
    for (uint i = 0; i < 16; i++)
        if (bits >> i & 1u)
            r[to++] = a[i];
    return r;
}
K_FN k_f16 f16_look(const float *table, k_mask16 at)
{
    k_f16 r = {0};
    for (uint i = 0; i < 16; i++)
        r[i] = table[at[i] & 63];
    return r;
}
#endif
#endif
