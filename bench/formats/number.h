/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of numbers that the tracer of tracer.h can compute with, beside float and double. Each type
 * N has: N(double), rounded to the nearest value, ties to even; double(n), exact but for fixed
 * points of more than 53 bits; + - * / and root(), each rounded likewise; unary - and <. */
#ifndef BENCH_NUMBER_H
#define BENCH_NUMBER_H

#include <cmath>
#include <cstdint>
#include <cstring>

inline float root(float x) { return sqrtf(x); }
inline double root(double x) { return std::sqrt(x); }

/* IEEE 754's binary formats of P significant bits and normal numbers from 2^LEAST to under
 * 2^(MOST + 1), with subnormal numbers, infinities and NaN. Emulated: operations in double, then
 * rounded, which is as good as one rounding where 53 >= 2 P + 2 (Figueroa, "When is double rounding
 * innocuous?", 1995). */
template <int P, int LEAST, int MOST> class small_float
{
    static_assert(2 * P + 2 <= 53, "rounding twice would show");
    float v; /* holds every value of the format */

    static float rounded(double x)
    {
        if (!std::isfinite(x) || x == 0)
            return (float)x;
        if (std::fabs(x) < std::ldexp(1, LEAST)) {
            const double step = 1.5 * std::ldexp(1, LEAST - P + 53);
            return (float)std::copysign((x + step) - step, x);
        }
        uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const uint64_t cut = 53 - P;
        bits += ((uint64_t)1 << (cut - 1)) - 1 + (bits >> cut & 1);
        bits &= ~(((uint64_t)1 << cut) - 1);
        std::memcpy(&x, &bits, sizeof x);
        return (float)(std::fabs(x) < std::ldexp(1, MOST + 1) ? x : std::copysign(INFINITY, x));
    }

  public:
    small_float() : v(0) {}
    explicit small_float(double x) : v(rounded(x)) {}
    explicit operator double() const { return v; }
    small_float operator-() const { return small_float(-(double)v); }
    friend small_float operator+(small_float a, small_float b)
    {
        return small_float((double)a.v + b.v);
    }
    friend small_float operator-(small_float a, small_float b)
    {
        return small_float((double)a.v - b.v);
    }
    friend small_float operator*(small_float a, small_float b)
    {
        return small_float((double)a.v * b.v);
    }
    friend small_float operator/(small_float a, small_float b)
    {
        return small_float((double)a.v / b.v);
    }
    friend bool operator<(small_float a, small_float b) { return a.v < b.v; }
    friend small_float root(small_float a) { return small_float(std::sqrt((double)a.v)); }
};
typedef small_float<11, -14, 15> float16;
typedef small_float<8, -126, 127> bfloat16;

/* Two's complement of m + n bits, m of them (with the sign's) before the point: whole numbers of
 * 2^-n. What is out of range becomes the nearest end of it, and so does x / 0; NaN, 0 / 0 and the
 * root of a negative number are 0. The widths are those of all numbers: they are set before any
 * number is made, and 1 <= m, 0 <= n, 2 <= m + n <= 64. */
class fixed
{
    int64_t v;
    struct raw {
        __int128 value;
    };
    explicit fixed(raw r)
    {
        const __int128 end = (__int128)1 << (m + n - 1);
        v = (int64_t)(r.value < -end ? -end : r.value < end ? r.value : end - 1);
    }

  public:
    static inline int m = 16, n = 16;
    fixed() : v(0) {}
    explicit fixed(double x) : v(0)
    {
        double steps = std::nearbyint(std::ldexp(x, n));
        if (steps == steps)
            *this = fixed(raw{(__int128)std::fmax(-0x1p100, std::fmin(steps, 0x1p100))});
    }
    explicit operator double() const { return std::ldexp((double)v, -n); }
    fixed operator-() const { return fixed(raw{-(__int128)v}); }
    friend fixed operator+(fixed a, fixed b) { return fixed(raw{(__int128)a.v + b.v}); }
    friend fixed operator-(fixed a, fixed b) { return fixed(raw{(__int128)a.v - b.v}); }
    friend fixed operator*(fixed a, fixed b)
    {
        __int128 p = (__int128)a.v * b.v, q = p >> n, rest = p - q * ((__int128)1 << n);
        if (n > 0 && rest + (q & 1) > (__int128)1 << (n - 1))
            q++;
        return fixed(raw{q});
    }
    friend fixed operator/(fixed a, fixed b)
    {
        if (b.v == 0)
            return fixed(a.v == 0 ? 0.0 : a.v < 0 ? -INFINITY : INFINITY);
        unsigned __int128 x = (unsigned __int128)(a.v < 0 ? -(__int128)a.v : a.v) << n,
                          y = (unsigned __int128)(b.v < 0 ? -(__int128)b.v : b.v), q = x / y;
        if (2 * (x - q * y) + (q & 1) > y)
            q++;
        return fixed(raw{(a.v < 0) == (b.v < 0) ? (__int128)q : -(__int128)q});
    }
    friend bool operator<(fixed a, fixed b) { return a.v < b.v; }
    friend fixed root(fixed a)
    {
        if (a.v <= 0)
            return fixed();
        __int128 x = (__int128)a.v << n, s = (__int128)std::sqrt((double)x);
        while (s * s > x)
            s--;
        while ((s + 1) * (s + 1) <= x)
            s++;
        return fixed(raw{x - s * s > s ? s + 1 : s}); /* half way lies no whole number */
    }
};

#endif
