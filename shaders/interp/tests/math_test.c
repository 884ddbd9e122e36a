/* SPDX-License-Identifier: Apache-2.0 */
/* math_test.c: the interpreter's functions of one and two floats against MPFR, over random bit
 * patterns and special values. The interpreter promises correct rounding through double: the result
 * may differ from MPFR's only where the exact value lies within double's error (1 ulp of double,
 * 2^-29 ulp of float) of the middle of two floats, which happens about once in 2^28 results; none
 * is expected here. Functions whose double versions are worse than that have their own bound. */
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

#include "shaders.h"

typedef int mpfr_function(mpfr_t, const mpfr_t, mpfr_rnd_t);

static int exact_inversesqrt(mpfr_t r, const mpfr_t x, mpfr_rnd_t rnd)
{
    return mpfr_rec_sqrt(r, x, rnd);
}

static const struct {
    const char *name;
    mpfr_function *fn;
    float low, high; /* arguments tried; others are special cases, tested by golden programs */
} functions[] = {
    {"sin", mpfr_sin, -FLT_MAX, FLT_MAX},
    {"cos", mpfr_cos, -FLT_MAX, FLT_MAX},
    {"tan", mpfr_tan, -FLT_MAX, FLT_MAX},
    {"asin", mpfr_asin, -1, 1},
    {"acos", mpfr_acos, -1, 1},
    {"atan", mpfr_atan, -FLT_MAX, FLT_MAX},
    {"sinh", mpfr_sinh, -89, 89},
    {"cosh", mpfr_cosh, -89, 89},
    {"tanh", mpfr_tanh, -FLT_MAX, FLT_MAX},
    {"exp", mpfr_exp, -110, 88},
    {"exp2", mpfr_exp2, -150, 127},
    {"expm1", mpfr_expm1, -110, 88},
    {"log", mpfr_log, FLT_MIN, FLT_MAX},
    {"log2", mpfr_log2, FLT_MIN, FLT_MAX},
    {"log10", mpfr_log10, FLT_MIN, FLT_MAX},
    {"sqrt", mpfr_sqrt, 0, FLT_MAX},
    {"inversesqrt", exact_inversesqrt, 1e-45f, FLT_MAX},
    {"cbrt", mpfr_cbrt, -FLT_MAX, FLT_MAX},
    {"erf", mpfr_erf, -FLT_MAX, FLT_MAX},
    {"erfc", mpfr_erfc, -10, 10},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, SAMPLES = 20000 };

struct runner {
    struct arena arena;
    struct asl_context *cx;
};

static void open_shader(struct runner *r, const char *source)
{
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p;
    struct asl_group *g;
    assert_int_equal(
        asl_compile(&r->arena, "math.asl", source, strlen(source), NULL, &diags, &p, &err),
        STATUS_OK);
    assert_int_equal(asl_group_new(&r->arena, "math", &g, &err), STATUS_OK);
    assert_int_equal(asl_group_layer(g, p, NULL, "math", NULL, &err), STATUS_OK);
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    assert_int_equal(asl_context_new(g, NULL, &r->cx, &err), STATUS_OK);
}

static void close_shader(struct runner *r)
{
    asl_context_free(r->cx);
    arena_free(&r->arena);
}

static const union asl_slot *run(struct runner *r, float u, float v)
{
    struct error err = {0};
    struct asl_globals g = {.u = {u, 1, 0}, .v = {v, 0, 1}};
    assert_int_equal(asl_context_run(r->cx, &g, &err), STATUS_OK);
    const union asl_slot *out = asl_context_value(r->cx, "r", NULL, NULL);
    assert_non_null(out);
    return out;
}

static uint32_t seed = 99;

static uint32_t random32(void)
{
    seed = seed * 1664525u + 1013904223u;
    uint32_t x = seed;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    return x;
}

/* Every exponent alike, kept inside [low, high]. */
static float random_float(float low, float high)
{
    for (;;) {
        uint32_t bits = random32();
        float f;
        memcpy(&f, &bits, sizeof f);
        if (isfinite(f) && f >= low && f <= high)
            return f;
        f = low < -1e30f || high > 1e30f
                ? f
                : low + (float)(bits >> 8) * (1.0f / 16777216.0f) * (high - low);
        if (isfinite(f) && f >= low && f <= high)
            return f;
    }
}

static float rounded(mpfr_t r)
{
    /* mpfr_get_flt rounds once from the exact digits, subnormal results included */
    return mpfr_get_flt(r, MPFR_RNDN);
}

static void one_argument(void **state)
{
    (void)state;
    struct runner r = {0};
    char source[4096];
    size_t n = (size_t)snprintf(source, sizeof source, "shader s(output float r[%d] = {0}) {\n",
                                FUNCTIONS);
    for (int i = 0; i < FUNCTIONS; i++)
        n += (size_t)snprintf(source + n, sizeof source - n, "r[%d] = %s(u);\n", i,
                              functions[i].name);
    (void)snprintf(source + n, sizeof source - n, "}\n");
    open_shader(&r, source);
    mpfr_t x, y;
    mpfr_inits2(160, x, y, (mpfr_ptr)0);
    unsigned wrong = 0;
    for (int i = 0; i < FUNCTIONS; i++) {
        for (int k = 0; k < SAMPLES / 10; k++) {
            float a = random_float(functions[i].low, functions[i].high);
            float have = run(&r, a, 0)[i].f;
            mpfr_set_flt(x, a, MPFR_RNDN);
            functions[i].fn(y, x, MPFR_RNDN);
            float want = rounded(y);
            if (have != want) {
                print_error("%s(%.9g) = %.9g, correctly rounded %.9g\n", functions[i].name,
                            (double)a, (double)have, (double)want);
                wrong++;
            }
        }
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
    close_shader(&r);
    assert_int_equal(wrong, 0);
}

static void two_arguments(void **state)
{
    (void)state;
    struct runner r = {0};
    open_shader(&r, "shader s(output float r[4] = {0}) { r[0] = pow(u, v); r[1] = atan2(u, v); "
                    "r[2] = fmod(u, v); r[3] = hypot(u, v); }");
    mpfr_t x, y, z;
    mpfr_inits2(400, x, y, z, (mpfr_ptr)0);
    unsigned wrong = 0;
    for (int k = 0; k < SAMPLES; k++) {
        float a = random_float(1e-20f, 1e20f), b = random_float(-30, 30);
        const union asl_slot *have = run(&r, a, b);
        mpfr_set_flt(x, a, MPFR_RNDN);
        mpfr_set_flt(y, b, MPFR_RNDN);
        float want[4];
        mpfr_pow(z, x, y, MPFR_RNDN);
        want[0] = rounded(z);
        if (b == 0)
            want[0] = 1;
        if (want[0] > FLT_MAX)
            want[0] = FLT_MAX;
        mpfr_atan2(z, x, y, MPFR_RNDN);
        want[1] = rounded(z);
        mpfr_fmod(z, x, y, MPFR_RNDN);
        want[2] = b == 0 ? 0 : rounded(z);
        mpfr_hypot(z, x, y, MPFR_RNDN);
        want[3] = rounded(z);
        for (int i = 0; i < 4; i++) {
            if (have[i].f != want[i]) {
                print_error("function %d of (%.9g, %.9g) = %.9g, correctly rounded %.9g\n", i,
                            (double)a, (double)b, (double)have[i].f, (double)want[i]);
                wrong++;
            }
        }
    }
    mpfr_clears(x, y, z, (mpfr_ptr)0);
    close_shader(&r);
    assert_int_equal(wrong, 0);
}

/* The slope that Dx gives against MPFR's derivative by a central difference at 400 bits, which is
 * exact to far below a float. */
static void slopes(void **state)
{
    (void)state;
    struct runner r = {0};
    char source[4096];
    size_t n = (size_t)snprintf(source, sizeof source, "shader s(output float r[%d] = {0}) {\n",
                                FUNCTIONS);
    for (int i = 0; i < FUNCTIONS; i++)
        n += (size_t)snprintf(source + n, sizeof source - n, "r[%d] = Dx(%s(u));\n", i,
                              functions[i].name);
    (void)snprintf(source + n, sizeof source - n, "}\n");
    open_shader(&r, source);
    mpfr_t x, h, lo, hi;
    mpfr_inits2(600, x, h, lo, hi, (mpfr_ptr)0);
    for (int i = 0; i < FUNCTIONS; i++) {
        for (int k = 0; k < 300; k++) {
            float low = functions[i].low < -20 ? -20 : functions[i].low,
                  high = functions[i].high > 20 ? 20 : functions[i].high;
            float a = low + (float)(random32() >> 8) * (1.0f / 16777216.0f) * (high - low);
            if (a <= low || a >= high || fabsf(a) < 1e-3f || fabsf(fabsf(a) - 1) < 1e-3f)
                continue;
            double have = (double)run(&r, a, 0)[i].f;
            mpfr_set_flt(x, a, MPFR_RNDN);
            mpfr_set_d(h, 1e-40, MPFR_RNDN);
            mpfr_add(lo, x, h, MPFR_RNDN);
            functions[i].fn(hi, lo, MPFR_RNDN);
            mpfr_sub(x, x, h, MPFR_RNDN);
            functions[i].fn(lo, x, MPFR_RNDN);
            mpfr_sub(hi, hi, lo, MPFR_RNDN);
            mpfr_div(hi, hi, h, MPFR_RNDN);
            double want = mpfr_get_d(hi, MPFR_RNDN) / 2;
            /* one rounding to float and a few in double; tan and tanh lose where 1 - t*t cancels */
            if (fabs(have - want) > 1e-6 * fabs(want) + 1e-15) {
                print_error("%s'(%.9g) = %.9g, expected %.9g\n", functions[i].name, (double)a, have,
                            want);
                fail();
            }
        }
    }
    mpfr_clears(x, h, lo, hi, (mpfr_ptr)0);
    close_shader(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_argument),
        cmocka_unit_test(two_arguments),
        cmocka_unit_test(slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
