/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conformance.h"
#include "steps/offers.h"

/* Against the definition, C(n - f, k) / C(n, k) by factorials. */
static double factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1); }
static double choose(unsigned n, unsigned k)
{
    return k > n ? 0 : factorial(n) / factorial(k) / factorial(n - k);
}
static void unseen_is_hypergeometric(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 12; n++)
        for (unsigned f = 0; f <= n; f++)
            for (unsigned k = 0; k <= n; k++)
                assert_float_equal(audit_unseen(n, f, k), choose(n - f, k) / choose(n, k), 1e-12);
}

/* Tiles cover each pixel once, and the sum of a tile rendered alone is that of the whole's. */
static void tiles_cover_a_film(void **state)
{
    (void)state;
    enum { W = 37, H = 19 };
    struct film whole, part;
    uint32_t place[4];
    unsigned seen[W * H] = {0}, tiles = 0;
    assert_int_equal(film_init(&whole, W, H, -3, NULL), STATUS_OK);
    for (size_t i = 0; i < (size_t)W * H * 4; i++)
        whole.sums[i] = (int64_t)i * 0x123456789 - 77;
    for (; tile_place(W, H, tiles, place); tiles++) {
        struct sum a, b, c;
        assert_int_equal(film_init(&part, place[2], place[3], -3, NULL), STATUS_OK);
        for (uint32_t y = 0; y < place[3]; y++)
            for (uint32_t x = 0; x < place[2]; x++) {
                size_t at = (size_t)(place[1] + y) * W + place[0] + x;
                seen[at]++;
                memcpy(part.sums + 4 * ((size_t)y * place[2] + x), whole.sums + 4 * at, 32);
            }
        assert_int_equal(tile_sum(&whole, place[0], place[1], place, &a, NULL), STATUS_OK);
        assert_int_equal(tile_sum(&part, 0, 0, place, &b, NULL), STATUS_OK);
        assert_memory_equal(&a, &b, sizeof a);
        part.sums[4 * (size_t)place[2] * place[3] - 1] ^= 1;
        assert_int_equal(tile_sum(&part, 0, 0, place, &c, NULL), STATUS_OK);
        assert_memory_not_equal(&a, &c, sizeof a);
        film_free(&part);
    }
    assert_int_equal(tiles, 6);
    for (size_t i = 0; i < (size_t)W * H; i++)
        assert_int_equal(seen[i], 1);
    film_free(&whole);
}

static void challenges_are_hexadecimal(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *out = NULL;
    static const char *const bad[] = {"", "0123456789abcdef0123456789abcde",
                                      "0123456789abcdef0123456789abcdeg",
                                      "0x23456789abcdef0123456789abcdef"};
    assert_int_equal(conform_challenge(&a, "0123456789ABCDEF0123456789abcdef", &out, NULL),
                     STATUS_OK);
    assert_string_equal(out, "0123456789abcdef0123456789abcdef");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(conform_challenge(&a, bad[i], &out, NULL), STATUS_ARG);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unseen_is_hypergeometric),
        cmocka_unit_test(tiles_cover_a_film),
        cmocka_unit_test(challenges_are_hexadecimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
