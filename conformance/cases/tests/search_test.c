/* SPDX-License-Identifier: Apache-2.0 */
/* The search behind a list: an edit that means the same shows in no scene and no grid, one that few
 * scenes run shows in some: these are the generator's. */
#include "conformance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "backends.h"

/* The first mutant of this function and text. */
static const char *mutant_of(struct arena *a, const char *function, const char *was,
                             const char *now)
{
    size_t n;
    assert_int_equal(mutants_count(&n, NULL), STATUS_OK);
    for (size_t k = 0; k < n; k++) {
        struct mutant m;
        assert_int_equal(mutant_find(a, k, &m, NULL), STATUS_OK);
        if (strcmp(m.function, function) == 0 && strcmp(m.was, was) == 0 && strcmp(m.now, now) == 0)
            return arena_printf(a, "mutant:%zu", k);
    }
    fail_msg("no edit of %s makes %s of %s", function, now, was);
    return NULL;
}

static enum verdict verdict_of(struct arena *a, const char *device, const char *kind, int number,
                               const char **reason)
{
    struct conform_result r;
    struct error err = {0};
    const char *name = arena_printf(a, "%s.search.1-%d", kind, number);
    if (conform_run_case(a, name, NULL, device, &r, &err) != STATUS_OK)
        fail_msg("%s: %s", name, err.msg);
    *reason = r.reason ? r.reason : "";
    return r.verdict;
}

/* In how many of these does it show? */
static int shown_in(const char *kind, int from, int to, const char *function, const char *was,
                    const char *now)
{
    struct arena a = {0};
    int shown = 0;
    const char *device = mutant_of(&a, function, was, now);
    for (int i = from; i <= to; i++) {
        const char *reason;
        const enum verdict v = verdict_of(&a, device, kind, i, &reason);
        if (v == VERDICT_FAIL ? !strstr(reason, "without the edit") : v != VERDICT_PASS)
            fail_msg("%s %d: %s", device, i, reason);
        shown += v == VERDICT_FAIL;
    }
    arena_free(&a);
    return shown;
}

/* Both of camera.h: at u = 1/2 both halves of the tent give 0; and polygons are few cameras' lens.
 * Neither reads beyond its arrays, which would end this process now and then. */
static void test_scenes(void **state)
{
    (void)state;
    assert_int_equal(shown_in("image", 7, 8, "k_filter_map", "<", "<="), 0);
    assert_int_equal(shown_in("image", 7, 8, "k_sample_polygon", "0.125f", "(0.125f * 1.01f)"), 1);
}

/* Floats of 2^23 are whole, whichever way they go. */
static void test_grids(void **state)
{
    (void)state;
    assert_int_equal(shown_in("shader", 1, 1, "a_trunc", "<", "<="), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenes), cmocka_unit_test(test_grids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
