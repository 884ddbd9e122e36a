/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of number.h that this processor has instructions for, with the bits of the emulated
 * ones. Which there are the compiler's flags say: the tool is built for the machine that it is
 * built on. */
#ifndef BENCH_HARDWARE_H
#define BENCH_HARDWARE_H

#include "number.h"

#if defined(__F16C__) || defined(__AVX512FP16__) || defined(__AVX512BF16__)
#include <immintrin.h>
#endif

/* x cut to a float whose last bit is set when something was cut off: "rounding to odd", so that one
 * more rounding, to 22 bits or fewer, gives what rounding x itself would (Boldo and Melquiond,
 * "Emulation of a FMA and correctly rounded sums", 2008). */
inline float odd_float(double x)
{
    const float f = (float)x;
    if (!((double)f < x) && !(x < (double)f))
        return f;
    uint32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    bits -= std::fabs((double)f) > std::fabs(x); /* infinity becomes the largest float */
    bits |= 1;
    float odd;
    std::memcpy(&odd, &bits, sizeof odd);
    return odd;
}

/* Arithmetic of float, each result rounded by R to a format of at most 11 bits: as good as one
 * rounding, as 24 >= 2 11 + 2. */
template <class R> class rounded_float
{
    float v; /* holds every value of the format */
    struct raw {
        float value;
    };
    explicit rounded_float(raw r) : v(R::rounded(r.value)) {}

  public:
    rounded_float() : v(0) {}
    explicit rounded_float(double x) : v(R::rounded(odd_float(x))) {}
    explicit operator double() const { return v; }
    rounded_float operator-() const { return rounded_float(raw{-v}); }
    friend rounded_float operator+(rounded_float a, rounded_float b)
    {
        return rounded_float(raw{a.v + b.v});
    }
    friend rounded_float operator-(rounded_float a, rounded_float b)
    {
        return rounded_float(raw{a.v - b.v});
    }
    friend rounded_float operator*(rounded_float a, rounded_float b)
    {
        return rounded_float(raw{a.v * b.v});
    }
    friend rounded_float operator/(rounded_float a, rounded_float b)
    {
        return rounded_float(raw{a.v / b.v});
    }
    friend bool operator<(rounded_float a, rounded_float b) { return a.v < b.v; }
    friend rounded_float root(rounded_float a) { return rounded_float(raw{sqrtf(a.v)}); }
};

#ifdef __F16C__
/* vcvtps2ph and back. */
struct round_f16c {
    static float rounded(float x)
    {
        return _cvtsh_ss(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
};
typedef rounded_float<round_f16c> float16_f16c;
#endif

#if defined(__AVX512BF16__) && defined(__AVX512VL__)
/* vcvtneps2bf16, which has no subnormal numbers: they become 0. */
struct round_bf16 {
    static float rounded(float x)
    {
        const __m128i packed = (__m128i)_mm_cvtneps_pbh(_mm_set_ss(x));
        const uint32_t bits = (uint32_t)_mm_cvtsi128_si32(packed) << 16;
        float y;
        std::memcpy(&y, &bits, sizeof y);
        return y;
    }
};
typedef rounded_float<round_bf16> bfloat16_avx512bf16;
#endif

#ifdef __AVX512FP16__
/* Arithmetic of the format itself. */
class float16_avx512fp16
{
    _Float16 v;
    struct raw {
        _Float16 value;
    };
    explicit float16_avx512fp16(raw r) : v(r.value) {}

  public:
    float16_avx512fp16() : v(0) {}
    explicit float16_avx512fp16(double x) : v((_Float16)x) {}
    explicit operator double() const { return (double)v; }
    float16_avx512fp16 operator-() const { return float16_avx512fp16(raw{-v}); }
    friend float16_avx512fp16 operator+(float16_avx512fp16 a, float16_avx512fp16 b)
    {
        return float16_avx512fp16(raw{a.v + b.v});
    }
    friend float16_avx512fp16 operator-(float16_avx512fp16 a, float16_avx512fp16 b)
    {
        return float16_avx512fp16(raw{a.v - b.v});
    }
    friend float16_avx512fp16 operator*(float16_avx512fp16 a, float16_avx512fp16 b)
    {
        return float16_avx512fp16(raw{a.v * b.v});
    }
    friend float16_avx512fp16 operator/(float16_avx512fp16 a, float16_avx512fp16 b)
    {
        return float16_avx512fp16(raw{a.v / b.v});
    }
    friend bool operator<(float16_avx512fp16 a, float16_avx512fp16 b) { return a.v < b.v; }
    friend float16_avx512fp16 root(float16_avx512fp16 a)
    {
        const __m128h x = _mm_set_sh(a.v);
        return float16_avx512fp16(raw{_mm_cvtsh_h(_mm_sqrt_sh(x, x))});
    }
};
#endif

#endif
