/* SPDX-License-Identifier: Apache-2.0 */
/* shade_math_test.c: the functions of device/math/math.h against MPFR, and rows of lanes against
 * one lane. Bounds are the ulp column of shaders/front/builtins.def; an ulp is that of the correctly
 * rounded result, at least the smallest subnormal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <mpfr.h>

#include "shade_math.h"
#include "shaders.h"

typedef int mpfr_function(mpfr_t, const mpfr_t, mpfr_rnd_t);

static const struct {
    const char *name;
    mpfr_function *oracle;
    float low, high; /* arguments tried; what lies outside are special cases (below) */
    double ulp;      /* builtins.def */
} functions[] = {
    {"sin", mpfr_sin, -FLT_MAX, FLT_MAX, 4},
    {"cos", mpfr_cos, -FLT_MAX, FLT_MAX, 4},
    {"tan", mpfr_tan, -FLT_MAX, FLT_MAX, 5},
    {"asin", mpfr_asin, -1, 1, 4},
    {"acos", mpfr_acos, -1, 1, 4},
    {"atan", mpfr_atan, -FLT_MAX, FLT_MAX, 5},
    {"sinh", mpfr_sinh, -89.4f, 89.4f, 4},
    {"cosh", mpfr_cosh, -89.4f, 89.4f, 4},
    {"tanh", mpfr_tanh, -FLT_MAX, FLT_MAX, 5},
    {"exp", mpfr_exp, -110, 88.7f, 3},
    {"exp2", mpfr_exp2, -151, 127.9f, 3},
    {"expm1", mpfr_expm1, -110, 88.7f, 3},
    {"log", mpfr_log, FLT_MIN, FLT_MAX, 3},
    {"log2", mpfr_log2, FLT_MIN, FLT_MAX, 3},
    {"log10", mpfr_log10, FLT_MIN, FLT_MAX, 3},
    {"inversesqrt", mpfr_rec_sqrt, 1e-45f, FLT_MAX, 2},
    {"cbrt", mpfr_cbrt, -FLT_MAX, FLT_MAX, 2},
    {"erf", mpfr_erf, -FLT_MAX, FLT_MAX, 16},
    {"erfc", mpfr_erfc, -FLT_MAX, FLT_MAX, 16},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static double ulps(float have, mpfr_t want)
{
    mpfr_t d;
    float rounded = mpfr_get_flt(want, MPFR_RNDN);
    if (have == rounded)
        return 0;
    if (!isfinite(have) || !isfinite(rounded))
        return INFINITY;
    int e;
    (void)frexpf(rounded, &e);
    mpfr_init2(d, 200);
    mpfr_set_flt(d, have, MPFR_RNDN);
    mpfr_sub(d, d, want, MPFR_RNDN);
    double r = fabs(mpfr_get_d(d, MPFR_RNDN)) / ldexp(1, (e < -125 ? -125 : e) - 24);
    mpfr_clear(d);
    return r;
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Every 131101st float of the whole range (a prime: all low bits occur), each twice as near to
 * where the function changes: around 1 and around multiples of pi/2. */
static void one_argument(void **state)
{
    (void)state;
    mpfr_t x, y;
    mpfr_init2(x, 200);
    mpfr_init2(y, 200);
    unsigned tried = 0;
    for (size_t k = 0; k < FUNCTIONS; k++) {
        float (*f)(float) = shade_math_find(functions[k].name);
        assert_non_null(f);
        double worst = 0;
        float at = 0;
        for (uint64_t i = 0; i < (uint64_t)1 << 32; i += 131101) {
            const float around[3] = {float_of((uint32_t)i),
                                     float_of(0x3F800000u + (uint32_t)(i >> 12) - 0x80000u),
                                     (float)((double)(int32_t)(i >> 8) * 1.5707963267948966)};
            for (int n = 0; n < 3; n++) {
                float a = around[n];
                if (!(a >= functions[k].low && a <= functions[k].high))
                    continue;
                mpfr_set_flt(x, a, MPFR_RNDN);
                functions[k].oracle(y, x, MPFR_RNDN);
                double u = ulps(f(a), y);
                tried++;
                if (u > worst) {
                    worst = u;
                    at = a;
                }
            }
        }
        print_message("%-12s %.3f ulp of %g, at %a\n", functions[k].name, worst, functions[k].ulp,
                      (double)at);
        assert_true(worst <= functions[k].ulp);
    }
    assert_true(tried > 100000);
    mpfr_clear(x);
    mpfr_clear(y);
}

static uint32_t seed = 7;
static uint32_t random32(void)
{
    seed = seed * 1664525u + 1013904223u;
    uint32_t x = seed ^ seed >> 16;
    return x * 0x7feb352du;
}

static void two_arguments(void **state)
{
    (void)state;
    mpfr_t x, y, z;
    mpfr_init2(x, 200);
    mpfr_init2(y, 200);
    mpfr_init2(z, 400);
    double worst[3] = {0, 0, 0};
    for (int i = 0; i < 60000; i++) {
        float a = float_of(random32()), b = float_of(random32());
        if (!isfinite(a) || !isfinite(b))
            continue;
        mpfr_set_flt(x, a, MPFR_RNDN);
        mpfr_set_flt(y, b, MPFR_RNDN);
        mpfr_atan2(z, x, y, MPFR_RNDN);
        worst[0] = fmax(worst[0], ulps(shade_math_atan2(a, b), z));
        mpfr_hypot(z, x, y, MPFR_RNDN);
        if (mpfr_get_flt(z, MPFR_RNDN) <= FLT_MAX)
            worst[1] = fmax(worst[1], ulps(shade_math_hypot(a, b), z));
        mpfr_fmod(z, x, y, MPFR_RNDN);
        float rest = b == 0 ? 0 : mpfr_get_flt(z, MPFR_RNDN), have = shade_math_fmod(a, b);
        assert_true(have == rest);
        /* powers that are floats: exponents that bring the logarithm inside +-149 */
        float base = 1 + (float)(random32() >> 8) * 0x1p-22f,
              up = (float)(int)random32() * 0x1p-24f;
        if (i & 1)
            base = float_of(0x3F800000u + (random32() & 0xFFFFu) - 0x8000u), up *= 300;
        mpfr_set_flt(x, base, MPFR_RNDN);
        mpfr_set_flt(y, up, MPFR_RNDN);
        mpfr_pow(z, x, y, MPFR_RNDN);
        if (mpfr_get_flt(z, MPFR_RNDN) <= FLT_MAX)
            worst[2] = fmax(worst[2], ulps(shade_math_pow(base, up), z));
    }
    print_message("atan2 %.3f ulp of 6, hypot %.3f of 4, pow %.3f of 16\n", worst[0], worst[1],
                  worst[2]);
    assert_true(worst[0] <= 6 && worst[1] <= 4 && worst[2] <= 16);
    mpfr_clear(x);
    mpfr_clear(y);
    mpfr_clear(z);
}

/* builtins.def: "meaning". */
static void special_cases(void **state)
{
    (void)state;
    const float inf = INFINITY, none = NAN;
    assert_true(shade_math_find("sin")(inf) == 0 && shade_math_find("sin")(none) == 0);
    assert_true(shade_math_find("cos")(inf) == 1 && shade_math_find("tan")(-inf) == 0);
    assert_true(shade_math_find("asin")(2) == asinf(1) && shade_math_find("acos")(-3) == acosf(-1));
    assert_true(shade_math_find("log")(0) == logf(FLT_MIN));
    assert_true(shade_math_find("log")(-5) == shade_math_find("log")(none));
    assert_true(shade_math_find("inversesqrt")(0) == 0 && shade_math_find("inversesqrt")(-1) == 0);
    assert_true(shade_math_pow(-2, 0.5f) == 0 && shade_math_pow(0, -1) == 0);
    assert_true(shade_math_pow(none, 0) == 1 && shade_math_pow(1e30f, 9) == FLT_MAX);
    assert_true(shade_math_pow(-1e30f, 9) == -FLT_MAX && shade_math_pow(-2, 3) == -8);
    assert_true(shade_math_fmod(5, 0) == 0 && shade_math_fmod(-7, 4) == -3);
    assert_true(shade_math_atan2(0, 0) == 0 && shade_math_atan2(0, -1) > 3.14f);
    assert_true(shade_math_atan2(inf, inf) == 0.785398185f);
}

/* The same bits from a row of lanes as from one, for every function. */
static void lanes(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t k = 0; k < FUNCTIONS; k++) {
        float (*one)(float) = shade_math_find(functions[k].name);
        void (*row)(const float *, float *) = shade_math_find_row(functions[k].name);
        assert_non_null(row);
        for (int i = 0; i < 4000; i++) {
            float in[SHADE_MATH_LANES], out[SHADE_MATH_LANES];
            for (int l = 0; l < SHADE_MATH_LANES; l++)
                in[l] = l & 1 ? float_of(random32()) : (float)(int32_t)random32() * 0x1p-27f;
            row(in, out);
            for (int l = 0; l < SHADE_MATH_LANES; l++) {
                float want = one(in[l]);
                if (memcmp(&want, &out[l], sizeof want) != 0 && !(isnan(want) && isnan(out[l])))
                    fail_msg("%s(%a): one lane %a, a row %a", functions[k].name, (double)in[l],
                             (double)want, (double)out[l]);
                n++;
            }
        }
    }
    assert_true(n > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_argument),
        cmocka_unit_test(two_arguments),
        cmocka_unit_test(special_cases),
        cmocka_unit_test(lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
