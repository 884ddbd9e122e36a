/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of every format against MPFR. */
#include "formats/hardware.h"
#include "formats/posit.h"

#include "base.h"

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <setjmp.h>

extern "C" {
#include <cmocka.h>
}
#include <mpfr.h>

/* Exact enough for products, quotients and roots of 64 bits to be rounded once more. */
#define PRECISION 400

/* x after one of the operations on exact operands; false: no number. */
static void operate(mpfr_t x, int op, const mpfr_t a, const mpfr_t b, int *inexact)
{
    *inexact = op == 0   ? mpfr_add(x, a, b, MPFR_RNDN)
               : op == 1 ? mpfr_sub(x, a, b, MPFR_RNDN)
               : op == 2 ? mpfr_mul(x, a, b, MPFR_RNDN)
               : op == 3 ? mpfr_div(x, a, b, MPFR_RNDN)
                         : mpfr_sqrt(x, a, MPFR_RNDN);
}

template <typename N> static N computed(int op, N a, N b)
{
    return op == 0 ? a + b : op == 1 ? a - b : op == 2 ? a * b : op == 3 ? a / b : root(a);
}

static uint64_t state = 1;
static uint64_t bits(void)
{
    const uint32_t counter[4] = {(uint32_t)state++, 0, 0, 0}, key[2] = {5, 6};
    uint32_t w[4];
    philox4x32(counter, key, w);
    return (uint64_t)w[0] << 32 | w[1];
}

/* What MPFR makes of it with the format's own precision and exponents. flushes: subnormal numbers
 * are 0. */
template <typename N>
static void small_float_is_right(int precision, int least, int most, bool flushes = false)
{
    mpfr_set_emin(least - precision + 2);
    mpfr_set_emax(most + 1);
    mpfr_t a, b, x;
    mpfr_init2(a, 60);
    mpfr_init2(b, 60);
    mpfr_init2(x, precision);
    for (int i = 0; i < 400000; i++) {
        /* all exponents, subnormal ones too, or operands near each other */
        int range = most - least + precision, op = i % 5;
        double d[2];
        for (int k = 0; k < 2; k++) {
            int e = i % 2 ? (int)(bits() % 3) : least - precision + (int)(bits() % (unsigned)range);
            d[k] =
                (double)N(std::ldexp((double)(bits() >> 11) * 0x1p-53, e) * (bits() & 1 ? 1 : -1));
        }
        if (op == 4)
            d[0] = std::fabs(d[0]);
        int inexact;
        mpfr_set_d(a, d[0], MPFR_RNDN);
        mpfr_set_d(b, d[1], MPFR_RNDN);
        operate(x, op, a, b, &inexact);
        mpfr_subnormalize(x, inexact, MPFR_RNDN);
        double expected = mpfr_get_d(x, MPFR_RNDN), got = (double)computed(op, N(d[0]), N(d[1]));
        if (flushes && std::fabs(expected) < std::ldexp(1, least))
            expected = 0; /* nor is anything else made of it */
        if (flushes && got == 0 && std::fabs(expected) == std::ldexp(1, least))
            continue; /* it may have been less before it was rounded */
        if (got != expected && !(std::isnan(got) && std::isnan(expected)))
            fail_msg("operation %d of %a and %a is %a, not %a", op, d[0], d[1], got, expected);
        /* and from double */
        double raw = std::ldexp((double)(bits() >> 11), (int)(bits() % 60) - 85);
        int ternary = mpfr_set_d(x, raw, MPFR_RNDN);
        mpfr_subnormalize(x, ternary, MPFR_RNDN);
        if ((double)N(raw) != mpfr_get_d(x, MPFR_RNDN))
            fail_msg("%a becomes %a", raw, (double)N(raw));
    }
    mpfr_clears(a, b, x, (mpfr_ptr)0);
}

static void test_float16(void **unused)
{
    (void)unused;
    small_float_is_right<float16>(11, -14, 15);
    assert_true((double)float16(65519.0) == 65504 && std::isinf((double)float16(65520.0)));
    assert_true((double)float16(0x1p-25) == 0 && (double)float16(0x1.8p-25) == 0x1p-24);
}

static void test_bfloat16(void **unused)
{
    (void)unused;
    small_float_is_right<bfloat16>(8, -126, 127);
    assert_true((double)bfloat16(257.0) == 256 && (double)bfloat16(259.0) == 260);
}

/* Those that the processor has instructions for, where this was built. */
static void test_hardware(void **unused)
{
    (void)unused;
    bool any = false;
#ifdef __F16C__
    small_float_is_right<float16_f16c>(11, -14, 15);
    assert_true(std::isinf((double)float16_f16c(65520.0)));
    any = true;
#endif
#ifdef __AVX512FP16__
    small_float_is_right<float16_avx512fp16>(11, -14, 15);
    any = true;
#endif
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
    small_float_is_right<bfloat16_avx512bf16>(8, -126, 127, true);
    any = true;
#endif
    if (!any)
        skip();
}

/* What one rounding to odd and another to the nearest make of a double is what one rounding does. */
static void test_odd_float(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200000; i++) {
        const double x = std::ldexp((double)(bits() >> (bits() % 40)), (int)(bits() % 80) - 90) *
                         (bits() & 1 ? 1 : -1);
        assert_true((double)float16((double)odd_float(x)) == (double)float16(x));
        assert_true((double)bfloat16((double)odd_float(x)) == (double)bfloat16(x));
    }
    assert_true(odd_float(1e300) == 0x1.fffffep127f && odd_float(-0.5) == -0.5f);
}

/* A posit's value as its definition has it: sign, regime, es bits of exponent, fraction. */
static double posit_value(uint64_t word, int width, int es)
{
    const uint64_t sign = (uint64_t)1 << (width - 1);
    word &= 2 * sign - 1;
    if (word == 0 || word == sign)
        return word ? NAN : 0;
    const bool negative = word & sign;
    if (negative)
        word = (2 * sign - word) & (2 * sign - 1);
    int at = width - 2, run = 0;
    const bool first = word >> at & 1;
    while (at >= 0 && (word >> at & 1) == first) {
        at--;
        run++;
    }
    at--; /* the bit that ends the run */
    int exponent = 0;
    for (int k = 0; k < es; k++, at--)
        exponent = 2 * exponent + (at >= 0 ? (int)(word >> at & 1) : 0);
    double fraction = 1;
    for (double step = 0.5; at >= 0; at--, step /= 2)
        fraction += word >> at & 1 ? step : 0;
    const int regime = first ? run - 1 : -run;
    return (negative ? -1 : 1) * std::ldexp(fraction, regime * (1 << es) + exponent);
}

template <typename W> static posit<W> posit_of(W word)
{
    posit<W> p;
    static_assert(sizeof p == sizeof word, "a posit is its word");
    std::memcpy((void *)&p, &word, sizeof word);
    return p;
}
template <typename W> static W word_of(posit<W> p)
{
    W word;
    std::memcpy(&word, (const void *)&p, sizeof word);
    return word;
}

/* Words become what they mean, and a result is the posit next to the exact one, above or below. */
template <typename W> static void posit_is_right(int es)
{
    typedef typename std::make_signed<W>::type order; /* words are in the order of their values */
    const int width = 8 * sizeof(W);
    const W nar = (W)((W)1 << (width - 1)), most = (W)(nar - 1);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_t a, b, x;
    mpfr_inits2(PRECISION, a, b, x, (mpfr_ptr)0);
    for (int i = 0; i < 60000; i++) {
        const W u = (W)(width == 8 ? i : bits()), v = (W)bits();
        const double p = posit_value(u, width, es), q = posit_value(v, width, es);
        int op = i % 5, inexact;
        if (u == nar || v == nar)
            continue;
        assert_true((double)posit_of<W>(u) == p && word_of(posit<W>(p)) == u);
        assert_true((posit_of<W>(u) < posit_of<W>(v)) == (p < q));
        assert_true((double)-posit_of<W>(u) == -p);
        if ((op == 3 && q == 0) || (op == 4 && p < 0)) {
            assert_true(word_of(computed(op, posit_of<W>(u), posit_of<W>(v))) == nar);
            continue;
        }
        mpfr_set_d(a, p, MPFR_RNDN);
        mpfr_set_d(b, q, MPFR_RNDN);
        operate(x, op, a, b, &inexact);
        const W got = word_of(computed(op, posit_of<W>(u), posit_of<W>(v)));
        const bool low = (order)got == (order)(nar + 1), high = got == most;
        const double below = posit_value((W)(got - 1), width, es),
                     above = posit_value((W)(got + 1), width, es);
        if (got == nar || (!low && mpfr_cmp_d(x, below) <= 0) ||
            (!high && mpfr_cmp_d(x, above) >= 0))
            fail_msg("posit%d: operation %d of %a and %a is %a", width, op, p, q,
                     posit_value(got, width, es));
    }
    mpfr_clears(a, b, x, (mpfr_ptr)0);
}

static void test_posit(void **unused)
{
    (void)unused;
    if (!posit_load().empty()) {
        print_message("%s\n", posit_load().c_str());
        skip();
    }
    posit_is_right<uint8_t>(0);
    posit_is_right<uint16_t>(1);
    posit_is_right<uint32_t>(2);
}

static void fixed_is_right(int m, int n)
{
    fixed::m = m;
    fixed::n = n;
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_t a, b, x, low, high;
    mpfr_inits2(PRECISION, a, b, x, low, high, (mpfr_ptr)0);
    mpfr_set_si_2exp(low, -1, m + n - 1, MPFR_RNDN);
    mpfr_set_si_2exp(high, 1, m + n - 1, MPFR_RNDN);
    mpfr_sub_ui(high, high, 1, MPFR_RNDN);
    for (int i = 0; i < 20000; i++) {
        double d[2];
        for (int k = 0; k < 2; k++) {
            int width = 1 + (int)(bits() % (unsigned)std::min(m + n - 1, 52));
            d[k] = std::ldexp((double)(bits() >> (64 - width)),
                              (int)(bits() % 3 ? 0 : m + n - 1 - width) - n) *
                   (bits() & 1 ? 1 : -1);
        }
        int op = i % 5, inexact;
        if (op == 4)
            d[0] = std::fabs(d[0]);
        mpfr_set_d(a, d[0], MPFR_RNDN);
        mpfr_set_d(b, d[1], MPFR_RNDN);
        operate(x, op, a, b, &inexact);
        if (mpfr_nan_p(x))
            mpfr_set_zero(x, 1);
        mpfr_mul_2si(x, x, n, MPFR_RNDN);
        mpfr_rint(x, x, MPFR_RNDN); /* halves to even */
        if (op == 3 && d[1] == 0 && d[0] != 0)
            mpfr_set_inf(x, d[0] < 0 ? -1 : 1);
        if (mpfr_cmp(x, low) < 0)
            mpfr_set(x, low, MPFR_RNDN);
        if (mpfr_cmp(x, high) > 0)
            mpfr_set(x, high, MPFR_RNDN);
        mpfr_mul_2si(x, x, -n, MPFR_RNDN);
        double expected = mpfr_get_d(x, MPFR_RNDN),
               got = (double)computed(op, fixed(d[0]), fixed(d[1]));
        if ((double)fixed(d[0]) != d[0] || got != expected)
            fail_msg("Q%d.%d: operation %d of %a and %a is %a, not %a", m, n, op, d[0], d[1], got,
                     expected);
    }
    mpfr_clears(a, b, x, low, high, (mpfr_ptr)0);
}

static void test_fixed(void **unused)
{
    (void)unused;
    const int widths[][2] = {{16, 16}, {1, 1}, {2, 0}, {8, 8}, {1, 63}, {64, 0}, {32, 32}, {3, 20}};
    for (const auto &w : widths)
        fixed_is_right(w[0], w[1]);
    fixed::m = 4;
    fixed::n = 4;
    assert_true((double)fixed(100) == 8 - 0x1p-4 && (double)fixed(-100) == -8);
    assert_true((double)fixed(NAN) == 0 && (double)root(fixed(-1)) == 0);
    assert_true((double)fixed(0x1p-5) == 0 && (double)fixed(0x3p-5) == 0x2p-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float16),  cmocka_unit_test(test_bfloat16),
        cmocka_unit_test(test_hardware), cmocka_unit_test(test_odd_float),
        cmocka_unit_test(test_posit),    cmocka_unit_test(test_fixed)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
