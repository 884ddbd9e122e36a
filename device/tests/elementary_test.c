/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's sin, cos, atan2 and acos against MPFR, in ulp; its random words and its arithmetic
 * against known answers. */
#include "test_scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

enum { ROWS = 200000 };

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static float float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* Distance of got from the exact value in units of the exact value's last place (of 2^-126 at
 * least). */
static double ulp_error(float got, mpfr_t exact)
{
    mpfr_t diff;
    mpfr_init2(diff, 120);
    mpfr_sub_d(diff, exact, (double)got, MPFR_RNDN);
    long e = mpfr_zero_p(exact) ? -126 : mpfr_get_exp(exact) - 1;
    double ulp = ldexp(1.0, (int)(e < -126 ? -126 : e) - 23),
           d = fabs(mpfr_get_d(diff, MPFR_RNDN)) / ulp;
    mpfr_clear(diff);
    return d;
}

struct function {
    enum probe_function probe;
    const char *name;
    double lo, hi;
    int (*oracle)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
    double bound; /* ulp, what docs/reference/protocol.md section 11 promises */
};
static const struct function functions[] = {
    {PROBE_SIN, "sin", -6.2831855, 6.2831855, mpfr_sin, 2},
    {PROBE_COS, "cos", -6.2831855, 6.2831855, mpfr_cos, 2},
    {PROBE_ACOS, "acos", -1, 1, mpfr_acos, 4},
};

static void functions_keep_their_bounds(void **state)
{
    (void)state;
    struct error err = {0};
    struct device *d = device_ready("native", NULL, BVH_AUTO, MODE_STRICT);
    uint32_t *in = malloc((size_t)ROWS * 12), *out = malloc((size_t)ROWS * 4);
    mpfr_t x, y;
    mpfr_inits2(120, x, y, (mpfr_ptr)0);
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        const struct function *fn = &functions[f];
        double worst = 0;
        for (size_t i = 0; i < ROWS; i++) {
            in[3 * i] = fn->probe;
            in[3 * i + 1] = bits_of((float)(fn->lo + (fn->hi - fn->lo) * (double)i / (ROWS - 1)));
            in[3 * i + 2] = 0;
        }
        must(device_probe(d, PROBE_MATH, in, ROWS, out, &err), &err);
        for (size_t i = 0; i < ROWS; i++) {
            mpfr_set_d(x, (double)float_of(in[3 * i + 1]), MPFR_RNDN);
            fn->oracle(y, x, MPFR_RNDN);
            worst = fmax(worst, ulp_error(float_of(out[i]), y));
        }
        print_message("%s: %.3f ulp\n", fn->name, worst);
        assert_true(worst < fn->bound);
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
    free(in);
    free(out);
    device_close(d);
}

static void atan2_keeps_its_bound(void **state)
{
    (void)state;
    struct error err = {0};
    struct device *d = device_ready("native", NULL, BVH_AUTO, MODE_STRICT);
    uint32_t *in = malloc((size_t)ROWS * 12), *out = malloc((size_t)ROWS * 4), n = 0;
    double worst = 0;
    mpfr_t x, y, r;
    mpfr_inits2(120, x, y, r, (mpfr_ptr)0);
    for (size_t i = 0; i < ROWS; i++) {
        double size = ldexp(1.0, (int)(i % 40) - 20);
        in[3 * i] = PROBE_ATAN2;
        in[3 * i + 1] = bits_of((float)(2 * test_random(1, &n) - 1));
        in[3 * i + 2] = bits_of((float)(size * (2 * test_random(1, &n) - 1)));
    }
    must(device_probe(d, PROBE_MATH, in, ROWS, out, &err), &err);
    for (size_t i = 0; i < ROWS; i++) {
        mpfr_set_d(y, (double)float_of(in[3 * i + 1]), MPFR_RNDN);
        mpfr_set_d(x, (double)float_of(in[3 * i + 2]), MPFR_RNDN);
        mpfr_atan2(r, y, x, MPFR_RNDN);
        worst = fmax(worst, ulp_error(float_of(out[i]), r));
    }
    print_message("atan2: %.3f ulp\n", worst);
    assert_true(worst < 4);
    mpfr_clears(x, y, r, (mpfr_ptr)0);
    free(in);
    free(out);
    device_close(d);
}

static void special_arguments(void **state)
{
    (void)state;
    struct error err = {0};
    struct device *d = device_ready("native", NULL, BVH_AUTO, MODE_STRICT);
    static const struct {
        uint32_t function;
        float x, y, right;
    } known[] = {
        {PROBE_SIN, 0, 0, 0},
        {PROBE_COS, 0, 0, 1},
        {PROBE_SIN, 1e9f, 0, 0},
        {PROBE_COS, NAN, 0, 1},
        {PROBE_ATAN2, 0, 0, 0},
        {PROBE_ATAN2, 0, 2, 0},
        {PROBE_ACOS, 1, 0, 0},
        {PROBE_FLOOR, -0.5f, 0, -1},
        {PROBE_ATAN2, 0, -1, 0x1.921fb6p+1f},
        {PROBE_ACOS, -1, 0, 0x1.921fb6p+1f},
        {PROBE_ATAN2, 1, 0, 0x1.921fb6p+0f},
    };
    enum { N = sizeof known / sizeof *known };
    uint32_t in[3 * N], out[N];
    for (int i = 0; i < N; i++) {
        in[3 * i] = known[i].function;
        in[3 * i + 1] = bits_of(known[i].x);
        in[3 * i + 2] = bits_of(known[i].y);
    }
    must(device_probe(d, PROBE_MATH, in, N, out, &err), &err);
    for (int i = 0; i < N; i++)
        if (float_of(out[i]) != known[i].right)
            fail_msg("row %d: %a, not %a", i, (double)float_of(out[i]), (double)known[i].right);
    device_close(d);
}

/* The three vectors of the protocol's table, and the host's own generator. */
static void random_words(void **state)
{
    (void)state;
    struct error err = {0};
    struct device *d = device_ready("native", NULL, BVH_AUTO, MODE_STRICT);
    static const uint32_t table[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    uint32_t in[6 * 500], out[4 * 500], n = 0;
    for (uint32_t i = 0; i < 500; i++)
        for (uint32_t k = 0; k < 6; k++)
            in[6 * i + k] = i < 3 ? table[i][k] : (uint32_t)(4294967296.0 * test_random(9, &n)) + i;
    must(device_probe(d, PROBE_RNG, in, 500, out, &err), &err);
    for (uint32_t i = 0; i < 500; i++) {
        uint32_t right[4];
        philox4x32(in + 6 * i, in + 6 * i + 4, right);
        assert_memory_equal(out + 4 * i, i < 3 ? table[i] + 6 : right, 16);
    }
    device_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_keep_their_bounds),
        cmocka_unit_test(atan2_keeps_its_bound),
        cmocka_unit_test(special_arguments),
        cmocka_unit_test(random_words),
    };
    return cmocka_run_group_tests_name("elementary", tests, NULL, NULL);
}
