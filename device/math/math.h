/* SPDX-License-Identifier: Apache-2.0 */
/* math.h: the functions of builtins.def that are no operations, from + - * / sqrt and integers
 * alone, so that every device gives the same bits. Domains, special cases and ulp bounds are those
 * of builtins.def; device/tests/shade_math_test.c measures them against MPFR. Polynomials are our own
 * minimax fits (Lawson's iteration on Chebyshev nodes, coefficients rounded one after another). */
#ifndef A_MATH_H /* a kernel may hold it already */
#define A_MATH_H

#define A_FLT_MIN 1.17549435e-38f
#define A_FLT_MAX 3.40282347e+38f

/* 2^n for -126 <= n <= 127. */
K_FN af a_power_of_two(ai n) { return A_FLOATS((n + 127) << 23); }
/* x 2^n for |n| <= 252, rounded once or, below FLT_MIN, twice. */
K_FN af a_scale(af x, ai n)
{
    ai part = n >> 1;
    return x * a_power_of_two(part) * a_power_of_two(n - part);
}
/* a + b = *sum + *rest, exactly (Knuth). */
K_FN void a_two_sum(af a, af b, af *sum, af *rest)
{
    af s = a + b, bb = s - a;
    *rest = (a - (s - bb)) + (b - bb);
    *sum = s;
}
/* The upper 12 bits of the significand: products of two such parts are exact. */
K_FN af a_upper(af x) { return A_FLOATS(A_BITS(x) & (int)0xFFFFF000u); }
/* a b = *product + *rest, exactly but for underflow (Dekker). */
K_FN void a_two_product(af a, af b, af *product, af *rest)
{
    af ah = a_upper(a), al = a - ah, bh = a_upper(b), bl = b - bh, p = a * b;
    *rest = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
    *product = p;
}

/* ---- circular functions --------------------------------------------------------------------- */

/* 2/pi, after 32 zeros. */
K_CONST uint a_two_over_pi[10] = {0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                  0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au};

/* x - q pi/2 in [-pi/4, pi/4] for finite |x| >= 2^13, and q mod 4: Payne and Hanek. x = M 2^e is
 * multiplied by 96 bits of 2/pi, from the first on that does not make a multiple of 4. */
K_FN float a_reduce_one(float x, int *q)
{
    uint bits = K_AS_UINT(x) & 0x7FFFFFFFu, M = (bits & 0x7FFFFFu) | 0x800000u, w[3];
    int at = (int)(bits >> 23) - 150 + 30; /* 32 + e - 2 */
    int word = at >> 5;
    uint shift = (uint)at & 31u;
    for (int i = 0; i < 3; i++) {
        uint a = a_two_over_pi[word + i], b = a_two_over_pi[word + i + 1];
        w[i] = shift ? (a << shift) | (b >> (32u - shift)) : a;
    }
    uint low = K_MULHI(M, w[2]), mid = M * w[1], lo = mid + low;
    uint hi = M * w[0] + K_MULHI(M, w[1]) + (lo < mid ? 1u : 0u); /* 2.30 and 32 bits more */
    uint n = (hi + 0x20000000u) >> 30;
    hi -= n << 30;
    int negative = (hi >> 31) != 0u;
    if (negative) {
        lo = 0u - lo; /* carries nothing: it is 0 for no x */
        hi = ~hi;
    }
    float f = (float)(hi & 0xFFFFFFC0u) * 9.31322575e-10f; /* 2^-30, exact */
    float rest = (float)(hi & 63u) * 9.31322575e-10f + (float)lo * 2.16840434e-19f; /* 2^-62 */
    f = f * 1.57079637f + (rest * 1.57079637f + f * -4.37113883e-08f);
    int down = (K_AS_UINT(x) >> 31) != 0u;
    *q = (int)((down ? 0u - n : n) & 3u);
    return negative != down ? -f : f;
}

/* r in [-pi/4, pi/4] and q mod 4 with x = r + q pi/2; what is not finite counts as 0. pi/2 in parts
 * of 11 bits, whose products with q are exact. */
K_FN void a_reduce(af x, af *r, ai *q)
{
    am large = a_not(a_abs(x) < 8192.0f);
    af y = a_sel(large, A_F(0.0f), x), n = a_floor(y * 0.636619747f + 0.5f);
    af p = ((y - n * 1.5703125f) - n * 0.000483751297f) - n * 7.54953362e-08f;
    p = (p - n * 2.56328292e-12f) - n * 6.12323426e-17f;
    ai k = a_to_int(n);
    large = large & a_is_finite(x);
#if A_WIDTH == 1
    if (large)
        p = a_reduce_one(x, &k);
#else
    if (a_any(large))
        for (int i = 0; i < A_WIDTH; i++)
            if (large[i]) {
                int one;
                p[i] = a_reduce_one(x[i], &one);
                k[i] = one;
            }
#endif
    *r = p;
    *q = k;
}

K_FN af a_sin_reduced(af r)
{
    af z = r * r;
    return r + (r * z) * (((2.83739519e-06f * z + -0.000198535054f) * z + 0.00833338033f) * z +
                          -0.166666672f);
}
K_FN af a_cos_reduced(af r)
{
    af z = r * r;
    return (1.0f - 0.5f * z) +
           (z * z) * ((2.44306684e-05f * z + -0.00138873013f) * z + 0.0416666456f);
}
K_FN void a_sincos(af x, af *sine, af *cosine)
{
    af r;
    ai q;
    a_reduce(x, &r, &q);
    af s = a_sin_reduced(r), c = a_cos_reduced(r);
    am odd = (q & 1) != 0;
    *sine = A_FLOATS(A_BITS(a_sel(odd, c, s)) ^ ((q & 2) << 30));
    *cosine = A_FLOATS(A_BITS(a_sel(odd, s, c)) ^ (((q + 1) & 2) << 30));
}
A_OFTEN af a_sin(af x)
{
    af s, c;
    a_sincos(x, &s, &c);
    return a_sel(a_is_finite(x), s, A_F(0.0f));
}
A_OFTEN af a_cos(af x)
{
    af s, c;
    a_sincos(x, &s, &c);
    return c;
}
A_OFTEN af a_tan(af x)
{
    af s, c;
    a_sincos(x, &s, &c);
    return a_sel(a_is_finite(x), s / c, A_F(0.0f));
}

/* ---- their inverses ------------------------------------------------------------------------- */

K_FN af a_asin_reduced(af r, af z) /* |r| <= 1/2, z = r r */
{
    return r +
           (r * z) *
               ((((0.0422196984f * z + 0.024148168f) * z + 0.0454766564f) * z + 0.0749524906f) * z +
                0.166667536f);
}
A_OFTEN af a_asin(af x)
{
    af ax = a_min(a_abs(x), A_F(1.0f));
    am far = ax > 0.5f;
    af z = a_sel(far, (1.0f - ax) * 0.5f, ax * ax), r = a_sel(far, a_root(z), ax);
    af a = a_asin_reduced(r, z);
    a = a_sel(far, 1.57079637f - 2.0f * a, a);
    return a_sel(a_is_nan(x), A_F(0.0f), a_with_sign(a, x));
}
A_OFTEN af a_acos(af x)
{
    af ax = a_min(a_abs(x), A_F(1.0f));
    am far = ax > 0.5f, down = x < 0.0f;
    af z = a_sel(far, (1.0f - ax) * 0.5f, ax * ax), r = a_sel(far, a_root(z), a_with_sign(ax, x));
    af a = a_asin_reduced(r, z);
    af b = 2.0f * a;
    b = a_sel(down, 3.14159274f - (b + 8.74227766e-08f), b);
    a = a_sel(far, b, 1.57079637f - (a + 4.37113883e-08f));
    return a_sel(a_is_nan(x), A_F(1.57079637f), a);
}
/* least / most of 0 <= least <= most, 0 < most, finite or not. */
K_FN af a_atan_reduced(af least, af most)
{
    am far = least > 0.414213562f * most; /* tan(pi/8) */
    af t = a_sel(far, least - most, least) / a_sel(far, least + most, most), z = t * t;
    af a = t +
           (t * z) *
               ((((-0.0609278902f * z + 0.106001876f) * z + -0.142445117f) * z + 0.199985325f) * z +
                -0.333333164f);
    return a_sel(far, 0.785398185f + (a + -2.18556941e-08f), a);
}
A_OFTEN af a_atan(af x)
{
    af ax = a_abs(x);
    am over = ax > 1.0f, inf = a_is_inf(x);
    af a = a_atan_reduced(a_sel(inf, A_F(0.0f), a_sel(over, A_F(1.0f), ax)),
                          a_sel(inf, A_F(1.0f), a_sel(over, ax, A_F(1.0f))));
    a = a_sel(over, 1.57079637f - (a + 4.37113883e-08f), a);
    return a_sel(a_is_nan(x), x, a_with_sign(a, x));
}
A_OFTEN af a_atan2(af y, af x)
{
    af ax = a_abs(x), ay = a_abs(y);
    am both = a_is_inf(x) & a_is_inf(y), either = a_is_inf(x) | a_is_inf(y);
    am large = (ax > 1e37f) | (ay > 1e37f), tiny = (ax < 1e-30f) & (ay < 1e-30f);
    ax = a_sel(both, A_F(1.0f), a_sel(either, a_sel(a_is_inf(x), A_F(1.0f), A_F(0.0f)), ax));
    ay = a_sel(both, A_F(1.0f), a_sel(either, a_sel(a_is_inf(y), A_F(1.0f), A_F(0.0f)), ay));
    af scale = a_sel(a_not(either) & large, A_F(0.125f), a_sel(tiny, A_F(16777216.0f), A_F(1.0f)));
    ax = ax * scale;
    ay = ay * scale;
    am steep = ay > ax;
    af most = a_sel(steep, ay, ax), least = a_sel(steep, ax, ay);
    am none = most == 0.0f;
    af a = a_atan_reduced(least, a_sel(none, A_F(1.0f), most));
    a = a_sel(steep, 1.57079637f - (a + 4.37113883e-08f), a);
    a = a_sel(A_BITS(x) < 0, 3.14159274f - (a + 8.74227766e-08f), a);
    a = a_sel(none, A_F(0.0f), a_with_sign(a, y));
    return a_sel(a_is_nan(x) | a_is_nan(y), x + y, a);
}

/* ---- exponentials --------------------------------------------------------------------------- */

/* exp(x) 2^shift = 2^n (1 + r + r^2 P(r)), x = n ln 2 + r. */
K_FN af a_exp_scaled(af x, int shift)
{
    am nan = a_is_nan(x);
    af y = a_min(a_max(a_sel(nan, A_F(0.0f), x), A_F(-150.0f)), A_F(130.0f));
    af n = a_floor(y * 1.44269502f + 0.5f);
    af r = (y - n * 0.693145752f) - n * 1.42860677e-06f;
    af p =
        (((0.0013941878f * r + 0.00836867932f) * r + 0.0416663885f) * r + 0.166665211f) * r + 0.5f;
    af e = 1.0f + (r + (r * r) * p);
    return a_sel(nan, x, a_scale(e, a_to_int(n) + shift));
}
A_OFTEN af a_exp(af x) { return a_exp_scaled(x, 0); }
A_OFTEN af a_exp2(af x)
{
    am nan = a_is_nan(x);
    af y = a_min(a_max(a_sel(nan, A_F(0.0f), x), A_F(-160.0f)), A_F(130.0f));
    af n = a_floor(y + 0.5f), f = y - n;
    af p = ((((0.00015462884f * f + 0.0013390989f) * f + 0.00961806253f) * f + 0.0555035956f) * f +
            0.240226507f) *
               f +
           0.693147182f;
    return a_sel(nan, x, a_scale(1.0f + f * p, a_to_int(n)));
}
/* 2^n (e^r - 1) + (2^n - 1). */
A_OFTEN af a_expm1(af x)
{
    am nan = a_is_nan(x);
    af y = a_min(a_max(a_sel(nan, A_F(0.0f), x), A_F(-30.0f)), A_F(89.0f)); /* n <= 128 */
    af n = a_floor(y * 1.44269502f + 0.5f);
    af r = (y - n * 0.693145752f) - n * 1.42860677e-06f;
    af p =
        ((((0.000199451024f * r + 0.00139326649f) * r + 0.00833320711f) * r + 0.0416664891f) * r +
         0.166666672f) *
            r +
        0.5f;
    af e = r + (r * r) * p;
    ai k = a_to_int(n);
    ai less = a_seli(k > 0, k - 1, k); /* 2^128 is no float */
    af s = a_power_of_two(less), t = s * e + (s - a_sel(k > 0, A_F(0.5f), A_F(1.0f)));
    t = a_sel(k > 0, t + t, t);
    t = a_sel(k == 0, e, t);
    return a_sel(nan | (x == 0.0f), x, t);
}
A_OFTEN af a_sinh(af x)
{
    af ax = a_abs(x), z = ax * ax;
    af small = ax + (ax * z) * ((0.000203768825f * z + 0.00833022129f) * z + 0.166667178f);
    af h = a_exp_scaled(ax, -1);
    af far = h - 0.25f / h;
    return a_with_sign(a_sel(ax < 1.0f, small, far), x);
}
A_OFTEN af a_cosh(af x)
{
    af h = a_exp_scaled(a_abs(x), -1);
    return h + 0.25f / h;
}
A_OFTEN af a_tanh(af x)
{
    af e = a_expm1(2.0f * a_min(a_abs(x), A_F(20.0f)));
    return a_sel(a_is_nan(x), x, a_with_sign(e / (e + 2.0f), x));
}

/* ---- logarithms ----------------------------------------------------------------------------- */

/* x = m 2^n with m in [sqrt(1/2), sqrt(2)); f = m - 1. x > 0 and finite. */
K_FN void a_log_split(af x, af *f, af *n)
{
    am sub = x < A_FLT_MIN;
    ai bits = A_BITS(a_sel(sub, x * 8388608.0f, x));
    ai e = (bits - 0x3F3504F3) >> 23;
    *f = A_FLOATS(bits - (e << 23)) - 1.0f;
    *n = a_to_float(e - (a_int(sub) * 23));
}
/* log(1 + f) - f. */
K_FN af a_log_rest(af f)
{
    af z = f * f;
    af p = 0.0691556782f * f + -0.117898889f;
    p = ((p * f + 0.118729092f) * f + -0.123843417f) * f + 0.142186746f;
    p = (((p * f + -0.16669251f) * f + 0.20002225f) * f + -0.249999866f) * f + 0.333333105f;
    return (z * f) * p - 0.5f * z;
}
K_FN af a_log_domain(af x) { return a_sel(x >= A_FLT_MIN, x, A_F(A_FLT_MIN)); }
A_OFTEN af a_log(af x)
{
    af y = a_log_domain(x), f, n;
    am inf = a_is_inf(y);
    a_log_split(a_sel(inf, A_F(1.0f), y), &f, &n);
    af t = n * 0.693145752f + (f + (a_log_rest(f) + n * 1.42860677e-06f));
    return a_sel(inf, y, t);
}
A_OFTEN af a_log2(af x)
{
    af y = a_log_domain(x), f, n;
    am inf = a_is_inf(y);
    a_log_split(a_sel(inf, A_F(1.0f), y), &f, &n);
    af r = a_log_rest(f), fh = a_upper(f), fl = f - fh;
    af low = (fl * 1.44269502f + r * 1.44269502f) + fh * 0.000312228396f;
    return a_sel(inf, y, n + (fh * 1.44238281f + low));
}
A_OFTEN af a_log10(af x)
{
    af y = a_log_domain(x), f, n;
    am inf = a_is_inf(y);
    a_log_split(a_sel(inf, A_F(1.0f), y), &f, &n);
    af r = a_log_rest(f), fh = a_upper(f), fl = f - fh;
    af low = ((fl * 0.434294492f + r * 0.434294492f) + fh * 9.03803375e-05f) + n * 4.60503907e-06f;
    return a_sel(inf, y, n * 0.301025391f + (fh * 0.434204102f + low));
}
K_FN af a_logb(af x)
{
    af y = a_abs(x);
    y = a_sel(y >= A_FLT_MIN, y, A_F(A_FLT_MIN));
    return a_sel(a_is_inf(y), y, a_to_float((A_BITS(y) >> 23) - 127));
}

/* ---- powers and roots ----------------------------------------------------------------------- */

K_FN af a_inversesqrt(af x)
{
    am above = x > 0.0f;
    return a_sel(above, 1.0f / a_root(a_sel(above, x, A_F(1.0f))), A_F(0.0f));
}
A_OFTEN af a_cbrt(af x)
{
    af ax = a_abs(x);
    am plain = (ax > 0.0f) & a_is_finite(x), sub = ax<A_FLT_MIN, large = ax> 1e37f;
    af scaled = a_sel(sub, ax * 16777216.0f, a_sel(large, ax * 5.96046448e-08f, ax));
    af y = a_sel(plain, scaled, A_F(1.0f));
    /* a third of the exponent, then Halley's step twice, then Newton's */
    ai third = a_to_int(a_to_float(A_BITS(y)) * 0.333333343f);
    af t = A_FLOATS(third + 0x2A5137A0);
    for (int i = 0; i < 2; i++) {
        af c = t * t * t;
        t = t * ((c + (y + y)) / ((c + c) + y));
    }
    t = t - (t - y / (t * t)) * 0.333333343f;
    t = a_sel(sub, t * 0.00390625f, a_sel(large, t * 256.0f, t));
    return a_sel(plain, a_with_sign(t, x), x);
}
/* log2(x) = *hi + *lo to about 2^-31 of it; x > 0, finite. With s = f / (2 + f): log(1 + f) = 2
 * atanh(s). */
K_FN void a_log2_pair(af x, af *hi, af *lo)
{
    af f, n, d, dl, p, pl, q, ql;
    a_log_split(x, &f, &n);
    a_two_sum(A_F(2.0f), f, &d, &dl);
    af s = f / d;
    a_two_product(s, d, &p, &pl);
    af sl = (((f - p) - pl) - s * dl) / d; /* s + sl is the quotient */
    af z = s * s;
    af r = (s * z) * ((0.149354026f * z + 0.199887916f) * z + 0.33333388f);
    /* 2/ln 2 = 2.885390043 + 3.85192605e-8 */
    a_two_product(s, A_F(2.88539004f), &q, &ql);
    ql = ql + (s * 3.85192605e-08f + (sl + r) * 2.88539004f);
    a_two_sum(q, ql, &q, &ql);
    a_two_sum(n, q, hi, &p);
    *lo = p + ql;
}
A_OFTEN af a_pow(af x, af y)
{
    af ax = a_abs(x);
    am y_zero = y == 0.0f, x_zero = x == 0.0f, y_nan = a_is_nan(y), x_inf = a_is_inf(x);
    af whole = a_trunc(y);
    am is_whole = whole == y;
    am odd = is_whole & (a_abs(y) < 16777216.0f) &
             ((a_to_int(a_sel(a_abs(y) < 16777216.0f, whole, A_F(0.0f))) & 1) != 0);
    am bad = a_is_nan(x) | (y_nan & (x != 1.0f)) | ((x < 0.0f) & a_not(is_whole));
    am plain = a_not(x_zero | x_inf | a_is_nan(x));
    af hi, lo, p, pl, b = a_sel(y_nan, A_F(0.0f), a_min(a_max(y, A_F(-4.0e9f)), A_F(4.0e9f)));
    a_log2_pair(a_sel(plain, ax, A_F(1.0f)), &hi, &lo);
    a_two_product(b, hi, &p, &pl);
    pl = pl + b * lo;
    am over = p > 140.0f, under = p < -160.0f;
    p = a_sel(over | under, A_F(0.0f), p);
    pl = a_sel(over | under, A_F(0.0f), pl);
    af n = a_floor(p + 0.5f), f = (p - n) + pl;
    af q = ((((0.00015462884f * f + 0.0013390989f) * f + 0.00961806253f) * f + 0.0555035956f) * f +
            0.240226507f) *
               f +
           0.693147182f;
    af v = a_scale(1.0f + f * q, a_to_int(n));
    v = a_min(a_sel(over, A_F(A_FLT_MAX), v), A_F(A_FLT_MAX));
    v = a_sel(under, A_F(0.0f), v);
    v = a_sel(x_inf, a_sel(y > 0.0f, A_F(A_FLT_MAX), A_F(0.0f)), v);
    v = A_FLOATS(A_BITS(v) ^ a_seli(odd & (x < 0.0f), A_I((int)0x80000000u), A_I(0)));
    v = a_sel(bad | x_zero, A_F(0.0f), v);
    return a_sel(y_zero, A_F(1.0f), v);
}
/* Exponent of the largest, as a power of two near 1 over it: products with it are exact. */
K_FN af a_hypot(af x, af y, af z)
{
    af a = a_max(a_max(a_abs(x), a_abs(y)), a_abs(z));
    am large = a > 1e18f, tiny = a < 1e-15f;
    af down = a_sel(large, A_F(5.42101086e-20f), a_sel(tiny, A_F(3.77789319e+22f), A_F(1.0f)));
    af up = a_sel(large, A_F(1.84467441e+19f), a_sel(tiny, A_F(2.64697796e-23f), A_F(1.0f)));
    af p = x * down, q = y * down, r = z * down;
    return a_root((p * p + q * q) + r * r) * up;
}

/* ---- remainder ------------------------------------------------------------------------------ */

/* |a| mod |b|, exactly, by long division of the significands. Finite, 0 < |b| <= |a|. */
K_FN float a_fmod_one(float a, float b)
{
    uint ua = K_AS_UINT(a) & 0x7FFFFFFFu, ub = K_AS_UINT(b) & 0x7FFFFFFFu;
    int ea = (int)(ua >> 23), eb = (int)(ub >> 23);
    uint ma = ea ? (ua & 0x7FFFFFu) | 0x800000u : ua, mb = eb ? (ub & 0x7FFFFFu) | 0x800000u : ub;
    ea = ea ? ea : 1;
    eb = eb ? eb : 1;
    int left = ea - eb;
    ma = ma % mb;
    while (left > 0 && ma) {
        int k = left < 8 ? left : 8; /* ma < 2^24, so 8 bits fit */
        ma = (ma << k) % mb;
        left -= k;
    }
    if (ma == 0u)
        return 0.0f;
    while (ma < 0x800000u && eb > 1) {
        ma <<= 1;
        eb--;
    }
    return K_AS_FLOAT(ma < 0x800000u ? ma : (ma & 0x7FFFFFu) | ((uint)eb << 23));
}
/* 0 when b = 0. */
A_OFTEN af a_fmod(af a, af b)
{
    af x = a_abs(a), y = a_abs(b);
    am zero = b == 0.0f, bad = a_is_nan(a) | a_is_nan(b) | a_is_inf(a);
    am whole = a_not(zero | bad) & (x < y); /* also b infinite */
    am quick = a_not(zero | bad | whole) & (x < y * 4194304.0f) & (y > 1e-20f) & (y < 1e30f);
    af d = a_sel(quick, y, A_F(1.0f)), n = a_sel(quick, x, A_F(0.0f)), p, pl;
    af q = a_trunc(n / d);
    a_two_product(q, d, &p, &pl);
    af r = (n - p) - pl; /* exact: q is at most one off */
    r = a_sel(r < 0.0f, r + d, r);
    r = a_sel(r >= d, r - d, r);
    r = a_sel(whole, x, r);
    am slow = a_not(quick | whole | zero | bad);
#if A_WIDTH == 1
    if (slow)
        r = a_fmod_one(x, y);
#else
    if (a_any(slow))
        for (int i = 0; i < A_WIDTH; i++)
            if (slow[i])
                r[i] = a_fmod_one(x[i], y[i]);
#endif
    r = a_sel(bad, A_FLOATS(A_I(0x7FC00000)), a_with_sign(r, a));
    return a_sel(zero, A_F(0.0f), r);
}

/* ---- error function ------------------------------------------------------------------------- */

/* exp(-x x) for 0 <= x < 11: the square in two parts. */
K_FN af a_exp_minus_square(af x)
{
    af p, pl;
    a_two_product(x, x, &p, &pl);
    af e = a_exp(-p);
    return e - e * pl;
}
K_FN af a_erfc_far(af x) /* x >= 0.9 */
{
    af y = a_min(x, A_F(10.3f)), t = 1.0f / (1.0f + 0.5f * y);
    af p = ((-0.0455181748f * t + 0.120522738f) * t + -0.0156799145f) * t + -0.21187152f;
    p = ((p * t + 0.129047096f) * t + 0.0203180965f) * t + 0.195337743f;
    p = (((p * t + 0.243136644f) * t + 0.282546818f) * t + 0.282063127f) * t + 9.68870381e-07f;
    return a_sel(x > 10.3f, A_F(0.0f), a_exp_minus_square(y) * p);
}
K_FN af a_erf_near(af x) /* |x| <= 1 */
{
    af z = x * x;
    af p = (-4.4650249e-05f * z + -0.000431705907f) * z + 0.00477329409f;
    p = ((p * z + -0.0266389549f) * z + 0.112785615f) * z + -0.376121968f;
    return x * (p * z + 1.12837911f);
}
A_OFTEN af a_erf(af x)
{
    af ax = a_abs(x);
    am near = ax < 1.0f;
    af v = a_sel(near, a_erf_near(a_sel(near, ax, A_F(0.0f))),
                 1.0f - a_erfc_far(a_sel(near, A_F(1.0f), ax)));
    return a_sel(a_is_nan(x), x, a_with_sign(v, x));
}
A_OFTEN af a_erfc(af x)
{
    af ax = a_abs(x);
    am near = ax < 0.9f;
    af far = a_erfc_far(a_sel(near, A_F(1.0f), ax));
    af v =
        a_sel(near, 1.0f - a_erf_near(a_sel(near, x, A_F(0.0f))), a_sel(x < 0.0f, 2.0f - far, far));
    return a_sel(a_is_nan(x), x, v);
}

/* ---- slopes: the derivative at x, of which v is the value ------------------------------------ */

K_FN af a_slope_sin(af x, af v)
{
    (void)v;
    return a_sel(a_is_finite(x), a_cos(x), A_F(0.0f));
}
K_FN af a_slope_cos(af x, af v)
{
    (void)v;
    return -a_sin(x);
}
K_FN af a_slope_tan(af x, af v) { return a_sel(a_is_finite(x), 1.0f + v * v, A_F(0.0f)); }
K_FN af a_slope_asin(af x, af v)
{
    am inside = a_abs(x) < 1.0f;
    af y = a_sel(inside, x, A_F(0.0f));
    (void)v;
    return a_sel(inside, 1.0f / a_root((1.0f - y) * (1.0f + y)), A_F(0.0f));
}
K_FN af a_slope_acos(af x, af v) { return -a_slope_asin(x, v); }
K_FN af a_slope_atan(af x, af v)
{
    (void)v;
    return 1.0f / (1.0f + x * x);
}
K_FN af a_slope_sinh(af x, af v)
{
    (void)v;
    return a_cosh(x);
}
K_FN af a_slope_cosh(af x, af v)
{
    (void)v;
    return a_sinh(x);
}
K_FN af a_slope_tanh(af x, af v)
{
    af c = a_cosh(a_min(a_abs(x), A_F(60.0f))); /* 1 - v v cancels */
    (void)v;
    return a_sel(a_is_nan(x), x, 1.0f / (c * c));
}
K_FN af a_slope_exp(af x, af v)
{
    (void)x;
    return v;
}
K_FN af a_slope_exp2(af x, af v)
{
    (void)x;
    return v * 0.693147182f;
}
K_FN af a_slope_expm1(af x, af v)
{
    (void)v;
    return a_exp(x);
}
K_FN af a_slope_log(af x, af v)
{
    am in = x >= A_FLT_MIN;
    (void)v;
    return a_sel(in, 1.0f / a_sel(in, x, A_F(1.0f)), A_F(0.0f));
}
K_FN af a_slope_logb(af x, af v)
{
    (void)x;
    (void)v;
    return A_F(0.0f);
}
K_FN af a_slope_log2(af x, af v) { return a_slope_log(x, v) * 1.44269502f; }
K_FN af a_slope_log10(af x, af v) { return a_slope_log(x, v) * 0.434294492f; }
K_FN af a_slope_inversesqrt(af x, af v)
{
    am above = x > 0.0f;
    return a_sel(above, (-0.5f * v) / a_sel(above, x, A_F(1.0f)), A_F(0.0f));
}
K_FN af a_slope_cbrt(af x, af v)
{
    am zero = x == 0.0f;
    return a_sel(zero, A_F(0.0f), 1.0f / ((3.0f * a_sel(zero, A_F(1.0f), v)) * v));
}
K_FN af a_slope_erf(af x, af v)
{
    af y = a_abs(x);
    (void)v;
    return a_sel(y < 11.0f, 1.12837917f * a_exp_minus_square(a_sel(y < 11.0f, y, A_F(0.0f))),
                 A_F(0.0f));
}
K_FN af a_slope_erfc(af x, af v) { return -a_slope_erf(x, v); }
/* slope times change; an infinite slope does not make 0 what is not a number (slopes are larger
 * than floats in the reference). */
K_FN af a_chain(af slope, af d) { return a_min(a_max(slope, A_F(-A_FLT_MAX)), A_F(A_FLT_MAX)) * d; }

K_FN struct ad a_pow_d(struct ad x, struct ad y)
{
    struct ad r;
    r.v = a_pow(x.v, y.v);
    am special = (y.v == 0.0f) | ((x.v == 0.0f) & (y.v != 1.0f)) |
                 ((x.v < 0.0f) & (a_trunc(y.v) != y.v)) | a_is_nan(x.v) | a_is_nan(y.v) |
                 (a_abs(r.v) >= A_FLT_MAX);
    af p = a_pow(x.v, y.v - 1.0f);
    af ex = y.v * a_sel(y.v == 1.0f, A_F(1.0f), p);
    am above = x.v > 0.0f;
    af ey = a_sel(above, r.v * a_log(a_sel(above, x.v, A_F(1.0f))), A_F(0.0f));
    r.dx = a_sel(special, A_F(0.0f), a_chain(ex, x.dx) + a_chain(ey, y.dx));
    r.dy = a_sel(special, A_F(0.0f), a_chain(ex, x.dy) + a_chain(ey, y.dy));
    return r;
}
K_FN struct ad a_atan2_d(struct ad y, struct ad x)
{
    struct ad r;
    r.v = a_atan2(y.v, x.v);
    af h = a_hypot(x.v, y.v, A_F(0.0f));
    am none = h == 0.0f;
    h = a_sel(none, A_F(1.0f), h);
    af c = x.v / h, s = y.v / h;
    r.dx = a_sel(none, A_F(0.0f), (c * y.dx - s * x.dx) / h);
    r.dy = a_sel(none, A_F(0.0f), (c * y.dy - s * x.dy) / h);
    return r;
}
K_FN struct ad a_hypot_d(struct ad x, struct ad y, struct ad z)
{
    struct ad r;
    r.v = a_hypot(x.v, y.v, z.v);
    am none = r.v == 0.0f;
    af h = a_sel(none, A_F(1.0f), r.v);
    af a = x.v / h, b = y.v / h, c = z.v / h;
    r.dx = a_sel(none, A_F(0.0f), (a * x.dx + b * y.dx) + c * z.dx);
    r.dy = a_sel(none, A_F(0.0f), (a * x.dy + b * y.dy) + c * z.dy);
    return r;
}
/* log(x) / log(b) with ASL's division. */
K_FN af a_log_base(af x, af b) { return a_fdiv(a_log(x), a_log(b)); }
K_FN struct ad a_log_base_d(struct ad x, struct ad b)
{
    struct ad r;
    af p = a_log(x.v), q = a_log(b.v), sp = a_slope_log(x.v, p), sq = a_slope_log(b.v, q);
    r.v = a_fdiv(p, q);
    r.dx = a_fdiv(a_chain(sp, x.dx) - r.v * a_chain(sq, b.dx), q);
    r.dy = a_fdiv(a_chain(sp, x.dy) - r.v * a_chain(sq, b.dy), q);
    return r;
}

#endif
