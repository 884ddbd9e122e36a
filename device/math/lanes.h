/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h: what shaders compute with: rows of A_WIDTH points side by side. One source for both:
 * with A_WIDTH 1 plain floats and ints (C, OpenCL C, CUDA), else vectors of gcc and clang, where
 * every operation below is done for all lanes and am tells which of them count.
 * device/portable.h stands before this file.
 *
 *   af  floats          ai  ints, two's complement          au  the same, unsigned
 *   am  conditions: of one point 0 or 1, of a row 0 or -1; comparisons give them, & and | join them
 */
#ifndef A_LANES_H /* a kernel may hold it already */
#define A_LANES_H
#ifndef A_WIDTH
#define A_WIDTH 1
#endif

/* Before loops whose arrays must become registers. */
#if defined(K_NATIVE) && defined(__clang__)
#define A_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(K_NATIVE)
#define A_UNROLL _Pragma("GCC unroll 16")
#else
#define A_UNROLL
#endif

/* Functions that the compiler may leave apart. */
#ifdef K_CUDA
#define A_CALL static __device__
#else
#define A_CALL static
#endif
/* A kind of noise. NVRTC would put hundreds of instructions into each place, and its time grows
 * faster than its functions do (docs/results/h200_levers.md). */
#ifdef __CUDACC_RTC__
#define A_NOISE_CALL K_CALL
#else
#define A_NOISE_CALL A_CALL
#endif

/* Functions that emitted code may call in many places. Of a row they are hundreds of instructions:
 * gcc compiles a shader with 65 sines four times as long when each place has its own. */
#if A_WIDTH == 1
#define A_OFTEN K_FN
#else
#define A_OFTEN static inline
#endif

#if A_WIDTH == 1
typedef float af;
typedef int ai;
typedef uint au;
typedef int am;
#define A_F(x)        (x)
#define A_I(x)        (x)
#define A_ALL         1
#define A_NONE        0
#define A_BITS(x)     ((int)K_AS_UINT(x))
#define A_FLOATS(x)   K_AS_FLOAT((uint)(x))
#define A_UINTS(x)    ((uint)(x))
#define A_INTS(x)     ((int)(x))
#define A_AT(v, lane) (v)
K_INLINE af a_sel(am m, af a, af b) { return m ? a : b; }
K_INLINE ai a_seli(am m, ai a, ai b) { return m ? a : b; }
K_INLINE am a_not(am m) { return !m; }
K_INLINE int a_any(am m) { return m; }
K_INLINE ai a_int(am m) { return m; }
K_INLINE am a_true(ai x) { return x != 0; }
K_INLINE af a_to_float(ai x) { return (float)x; }
K_INLINE af a_uint_to_float(au x) { return (float)x; }
K_INLINE ai a_to_int(af x) { return (int)x; }
/* The floor of PoCL 3.1 of what its compiler knows to be NaN is whatever a register holds. */
K_INLINE af a_floor(af x) { return (K_AS_UINT(x) & 0x7FFFFFFFu) <= 0x7F800000u ? K_FLOOR(x) : x; }
K_INLINE af a_root(af x) { return K_SQRT(x); }
/* There is one lane. */
K_INLINE uint a_get(const af *x, int lane)
{
    (void)lane;
    return K_AS_UINT(*x);
}
K_INLINE uint a_geti(const ai *x, int lane)
{
    (void)lane;
    return (uint)*x;
}
K_INLINE void a_put(af *x, int lane, uint word)
{
    (void)lane;
    *x = K_AS_FLOAT(word);
}
K_INLINE void a_puti(ai *x, int lane, uint word)
{
    (void)lane;
    *x = (int)word;
}
#else
typedef float af __attribute__((vector_size(4 * A_WIDTH)));
typedef int ai __attribute__((vector_size(4 * A_WIDTH)));
typedef uint au __attribute__((vector_size(4 * A_WIDTH)));
typedef ai am;
#define A_F(x)        ((x) - (af){0})
#define A_I(x)        ((x) + (ai){0})
#define A_ALL         (~(ai){0})
#define A_NONE        ((ai){0})
#define A_BITS(x)     ((ai)(x))
#define A_FLOATS(x)   ((af)(x))
#define A_UINTS(x)    ((au)(x))
#define A_INTS(x)     ((ai)(x))
#define A_AT(v, lane) ((v)[lane])
#if defined(__AVX512F__) && A_WIDTH == 16 && !defined(__clang__)
/* What gcc makes one blend under a mask of; of bits joined it makes three operations, and does
 * twice what a and b have in common. */
K_INLINE af a_sel(am m, af a, af b)
{
    af r;
    for (int i = 0; i < A_WIDTH; i++)
        r[i] = m[i] ? a[i] : b[i];
    return r;
}
K_INLINE ai a_seli(am m, ai a, ai b)
{
    ai r;
    for (int i = 0; i < A_WIDTH; i++)
        r[i] = m[i] ? a[i] : b[i];
    return r;
}
#elif defined(__AVX2__) && A_WIDTH == 8
K_INLINE af a_sel(am m, af a, af b) { return __builtin_ia32_blendvps256(b, a, (af)m); }
/* Not of floats: where zeros have no sign, -2^31 and 0 would be the same. */
typedef char a_bytes __attribute__((vector_size(32)));
K_INLINE ai a_seli(am m, ai a, ai b)
{
    return (ai)__builtin_ia32_pblendvb256((a_bytes)b, (a_bytes)a, (a_bytes)m);
}
#else
K_INLINE af a_sel(am m, af a, af b) { return (af)(((ai)a & m) | ((ai)b & ~m)); }
K_INLINE ai a_seli(am m, ai a, ai b) { return (a & m) | (b & ~m); }
#endif
K_INLINE am a_not(am m) { return ~m; }
K_INLINE int a_any(am m)
{
#if defined(__AVX512F__) && A_WIDTH == 16
    return __builtin_ia32_cmpd512_mask(m, (ai){0}, 4, (unsigned short)-1) != 0;
#elif defined(__AVX__) && A_WIDTH == 8
    return __builtin_ia32_movmskps256((af)m) != 0;
#else
    int any = 0;
    for (int i = 0; i < A_WIDTH; i++)
        any |= m[i];
    return any != 0;
#endif
}
/* One lane's word of a row's slot, and back. */
K_INLINE uint a_get(const af *x, int lane) { return (uint)(*(const ai *)x)[lane]; }
K_INLINE uint a_geti(const ai *x, int lane) { return (uint)(*x)[lane]; }
K_INLINE void a_put(af *x, int lane, uint word) { (*(ai *)x)[lane] = (int)word; }
K_INLINE void a_puti(ai *x, int lane, uint word) { (*x)[lane] = (int)word; }
#if defined(__AVX512F__) && A_WIDTH == 16
/* A_ROWS: lanes can take others' values, and a product and a sum can be rounded once. A_LOOKUP, of
 * 16 lanes: entry x mod 16 of a table, by lane; entry x mod 32 of one in two halves. */
#define A_ROWS
#define A_LOOKUP
#ifdef __clang__
K_INLINE af a_lookup(af table, au x) { return __builtin_ia32_permvarsf512(table, (ai)x); }
K_INLINE af a_lookup2(af low, af high, au x)
{
    return __builtin_ia32_vpermi2varps512(low, (ai)x, high);
}
#else
K_INLINE af a_lookup(af table, au x) { return __builtin_shuffle(table, (ai)x); }
K_INLINE af a_lookup2(af low, af high, au x) { return __builtin_shuffle(low, high, (ai)x); }
#endif
/* -2^31 of all that does not fit. */
K_INLINE ai a_truncated(af x)
{
    return __builtin_ia32_cvttps2dq512_mask(x, (ai){0}, (unsigned short)-1, 4);
}
K_INLINE ai a_least(ai a, ai b)
{
#ifdef __clang__
    return __builtin_elementwise_min(a, b);
#else
    return __builtin_ia32_pminsd512_mask(a, b, a, (unsigned short)-1);
#endif
}
#define A_LANES ((ai){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
K_INLINE int a_any_bit(ai x) { return a_any(x); }
/* Of each lane the value of another one, that number modulo the lanes. */
K_INLINE af a_take(af x, ai lane) { return a_lookup(x, A_UINTS(lane)); }
/* Writes the lanes of x, y, z side by side: x0 y0 z0 x1 ... */
#ifndef __clang__
#define A_PUT_TRIPLES
K_INLINE void a_put_triples(uint *out, ai x, ai y, ai z)
{
    const ai first = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    A_UNROLL
    for (int k = 0; k < 3; k++) {
        ai word = first + 16 * k, lane = word / 3, of = word - 3 * lane;
        ai xy = __builtin_shuffle(x, y, lane + (16 & (of == 1)));
        ai r = __builtin_shuffle(xy, z, first + ((lane + 16 - first) & (of == 2)));
        __builtin_memcpy(out + 16 * k, &r, sizeof r);
    }
}
#endif
/* a * b + c rounded once: for products that are exact, so that it is the sum in every mode. */
K_INLINE af a_add_exact_product(af a, af b, af c)
{
    return __builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, 4);
}
#elif defined(__AVX2__) && defined(__FMA__) && A_WIDTH == 8
#define A_ROWS
#define A_LANES            ((ai){0, 1, 2, 3, 4, 5, 6, 7})
typedef long long a_quads __attribute__((vector_size(32)));
K_INLINE int a_any_bit(ai x) { return !__builtin_ia32_ptestz256((a_quads)x, (a_quads)x); }
K_INLINE af a_take(af x, ai lane) { return __builtin_ia32_permvarsf256(x, lane); }
K_INLINE ai a_truncated(af x) { return __builtin_ia32_cvttps2dq256(x); }
K_INLINE ai a_least(ai a, ai b) { return a_seli(a < b, a, b); }
K_INLINE af a_add_exact_product(af a, af b, af c) { return __builtin_ia32_vfmaddps256(a, b, c); }
/* Entry h mod 16 of a table of 0, 2 and -2, kept as the first byte of each. */
#define A_FIRST_BYTES(...) ((a_bytes){__VA_ARGS__, __VA_ARGS__})
K_INLINE af a_lookup_twos(a_bytes table, au h)
{
    au at = (h << 24u & 0x0F000000u) | 0x00808080u; /* 0x80: a byte 0 */
    return (af)__builtin_ia32_pshufb256(table, (a_bytes)at);
}
#endif
#ifdef A_ROWS
/* All lanes as this one. */
K_INLINE ai a_spread_lane(ai x, int lane) { return A_BITS(a_take(A_FLOATS(x), A_I(lane))); }
#endif
K_INLINE ai a_int(am m) { return m & 1; }
K_INLINE am a_true(ai x) { return x != 0; }
K_INLINE af a_to_float(ai x) { return __builtin_convertvector(x, af); }
K_INLINE af a_uint_to_float(au x) { return __builtin_convertvector(x, af); }
K_INLINE ai a_to_int(af x) { return __builtin_convertvector(x, ai); }
K_INLINE af a_floor(af x)
{
#if defined(__AVX512F__) && A_WIDTH == 16
    return __builtin_ia32_rndscaleps_mask(x, 1, x, (unsigned short)-1, 4);
#elif defined(__AVX__) && A_WIDTH == 8
    return __builtin_ia32_roundps256(x, 1);
#else
    for (int i = 0; i < A_WIDTH; i++)
        x[i] = K_FLOOR(x[i]);
    return x;
#endif
}
K_INLINE af a_root(af x)
{
#if defined(__AVX512F__) && A_WIDTH == 16 && !defined(__clang__)
    return __builtin_ia32_sqrtps512_mask(x, x, (unsigned short)-1, 4);
#elif defined(__AVX__) && A_WIDTH == 8
    return __builtin_ia32_sqrtps256(x);
#else
    for (int i = 0; i < A_WIDTH; i++)
        x[i] = K_SQRT(x[i]);
    return x;
#endif
}
#endif

/* A value and its changes over one step in x and y. */
struct ad {
    af v, dx, dy;
};

/* ---- the operations of shaders/ir/ir_ops.def that C does not have as they are ----
 */

K_INLINE af a_abs(af x) { return A_FLOATS(A_BITS(x) & 0x7FFFFFFF); }
K_INLINE af a_min(af a, af b) { return a_sel(b < a, b, a); } /* a when either is not a number */
K_INLINE af a_max(af a, af b) { return a_sel(a < b, b, a); }
/* The magnitude of a with the sign of b. */
K_INLINE af a_with_sign(af a, af b)
{
    return A_FLOATS((A_BITS(a) & 0x7FFFFFFF) | (A_BITS(b) & (int)0x80000000u));
}
K_INLINE am a_is_nan(af x) { return (A_BITS(x) & 0x7FFFFFFF) > 0x7F800000; }
K_INLINE am a_is_inf(af x) { return (A_BITS(x) & 0x7FFFFFFF) == 0x7F800000; }
K_INLINE am a_is_finite(af x) { return (A_BITS(x) & 0x7FFFFFFF) < 0x7F800000; }

K_INLINE af a_fdiv(af a, af b)
{
    am zero = b == 0.0f;
    return a_sel(zero, A_F(0.0f), a / a_sel(zero, A_F(1.0f), b));
}
K_INLINE af a_fsqrt(af x)
{
    am above = x > 0.0f;
    return a_sel(above, a_root(a_sel(above, x, A_F(1.0f))), A_F(0.0f));
}
/* Floats of 2^23 and more are whole. The sign stays, also of zero. */
K_INLINE af a_trunc(af x)
{
    am small = a_abs(x) < 8388608.0f;
    af t = a_to_float(a_to_int(a_sel(small, x, A_F(0.0f))));
    return a_sel(small, a_with_sign(t, x), x);
}
K_INLINE af a_ceil(af x) { return -a_floor(-x); }
K_INLINE af a_round(af x)
{
    af t = a_trunc(x), rest = a_abs(x - t); /* exact */
    am small = a_abs(x) < 8388608.0f;
    return a_sel(small & (rest >= 0.5f), a_with_sign(a_abs(t) + 1.0f, x), t);
}
K_INLINE ai a_f2i(af x)
{
#ifdef A_ROWS
    ai i = a_truncated(x);
    i = a_seli(x >= 2147483648.0f, A_I(0x7FFFFFFF), i);
    return a_seli(a_is_nan(x), A_I(0), i);
#else
    am big = x >= 2147483648.0f, low = x < -2147483648.0f, bad = a_is_nan(x);
    ai i = a_to_int(a_sel(big | low | bad, A_F(0.0f), x));
    i = a_seli(big, A_I(0x7FFFFFFF), i);
    return a_seli(low, A_I((int)0x80000000u), i);
#endif
}
K_INLINE ai a_iadd(ai a, ai b) { return A_INTS(A_UINTS(a) + A_UINTS(b)); }
K_INLINE ai a_isub(ai a, ai b) { return A_INTS(A_UINTS(a) - A_UINTS(b)); }
K_INLINE ai a_imul(ai a, ai b) { return A_INTS(A_UINTS(a) * A_UINTS(b)); }
K_INLINE ai a_ineg(ai a) { return A_INTS(0u - A_UINTS(a)); }
K_INLINE ai a_ishl(ai a, ai b) { return A_INTS(A_UINTS(a) << (A_UINTS(b) & 31u)); }
K_INLINE ai a_ishr(ai a, ai b) { return a >> (b & 31); }
K_INLINE ai a_idiv(ai a, ai b)
{
    am zero = b == 0, minus = b == -1;
    ai q = a / a_seli(zero | minus, A_I(1), b);
    return a_seli(zero, A_I(0), a_seli(minus, a_ineg(a), q));
}
K_INLINE ai a_imod(ai a, ai b)
{
    am one = (b == 0) | (b == -1);
    return a_seli(one, A_I(0), a % a_seli(one, A_I(1), b));
}
K_INLINE ai a_clamp_index(ai i, int count)
{
    i = a_seli(i < 0, A_I(0), i);
    return a_seli(i >= count, A_I(count - 1), i);
}

/* Slots of a row that differ from lane to lane; `step` is the number of points side by side. */
#if A_WIDTH == 1
K_INLINE af a_gather(const af *row, ai at) { return row[at]; }
K_INLINE ai a_gatheri(const ai *row, ai at) { return row[at]; }
/* A single point is where it writes. */
K_INLINE void a_scatter(af *row, ai at, af x, am m)
{
    (void)m;
    row[at] = x;
}
K_INLINE void a_scatteri(ai *row, ai at, ai x, am m)
{
    (void)m;
    row[at] = x;
}
#else
#ifdef A_LOOKUP
K_INLINE ai a_slots(ai at)
{
    return at * A_WIDTH + (ai){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
}
K_INLINE af a_gather(const af *row, ai at)
{
    return __builtin_ia32_gathersiv16sf((af){0}, row, a_slots(at), (unsigned short)-1, 4);
}
K_INLINE ai a_gatheri(const ai *row, ai at)
{
    return __builtin_ia32_gathersiv16si((ai){0}, row, a_slots(at), (unsigned short)-1, 4);
}
#else
K_INLINE af a_gather(const af *row, ai at)
{
    af r = {0};
    for (int i = 0; i < A_WIDTH; i++)
        r[i] = ((const float *)row)[at[i] * A_WIDTH + i];
    return r;
}
K_INLINE ai a_gatheri(const ai *row, ai at)
{
    ai r = {0};
    for (int i = 0; i < A_WIDTH; i++)
        r[i] = ((const int *)row)[at[i] * A_WIDTH + i];
    return r;
}
#endif
K_INLINE void a_scatter(af *row, ai at, af x, am m)
{
    for (int i = 0; i < A_WIDTH; i++)
        if (m[i])
            ((float *)row)[at[i] * A_WIDTH + i] = x[i];
}
K_INLINE void a_scatteri(ai *row, ai at, ai x, am m)
{
    for (int i = 0; i < A_WIDTH; i++)
        if (m[i])
            ((int *)row)[at[i] * A_WIDTH + i] = x[i];
}
#endif

#endif
