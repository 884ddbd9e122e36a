/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of every format against MPFR. */
#include "formats/number.h"

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

/* What MPFR makes of it with the format's own precision and exponents. */
template <typename N> static void small_float_is_right(int precision, int least, int most)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_float16),
                                       cmocka_unit_test(test_bfloat16),
                                       cmocka_unit_test(test_fixed)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
