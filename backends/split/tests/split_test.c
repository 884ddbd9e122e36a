/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that render together. A member with a mistake shows which rows were whose: rows of the
 * right member have the right bits, rows of the wrong one do not. */
#include "api/offers.h"
#include "tests/test_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WIDTH = 23, HEIGHT = 41, SPP = 3 };

static void picture(const char *id, const struct scene *s, enum math_mode mode,
                    struct launch_settings launch, struct film *film)
{
    struct error err = {0};
    struct device *d = device_ready(id, s, BVH_AUTO, mode);
    must(film_init(film, WIDTH, HEIGHT, film_exponent(s), &err), &err);
    struct render_job job = {.width = WIDTH,
                             .height = HEIGHT,
                             .sample_count = SPP,
                             .max_depth = 4,
                             .rr_depth = 3,
                             .set = {.build.mode = mode, .launch = launch}};
    must(device_render(d, &job, film, true, NULL, &err), &err);
    must(film_check(film, SPP, NULL, &err), &err);
    device_close(d);
}

static bool row_equal(const struct film *a, const struct film *b, uint32_t y)
{
    size_t at = 4 * (size_t)y * WIDTH;
    return memcmp(a->sums + at, b->sums + at, 4 * WIDTH * sizeof *a->sums) == 0;
}

/* Which rows of a split picture are the right member's; the others must be the wrong one's. */
static void rows_of_first(const struct film *split, const struct film *right,
                          const struct film *wrong, bool first[HEIGHT])
{
    for (uint32_t y = 0; y < HEIGHT; y++) {
        first[y] = row_equal(split, right, y);
        assert_true(first[y] || row_equal(split, wrong, y));
    }
}

/* Who made a row is said, and traces its pixels: as that
 * device does alone. Bands of three rows go to the two in turn. */
static void owners_are_named_and_trace(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = scene_from_library("hdri");
    struct film film;
    struct device *d = device_ready("native+faulty:stuck-seed", s, BVH_AUTO, MODE_STRICT);
    struct device *alone[2] = {device_ready("native", s, BVH_AUTO, MODE_STRICT),
                               device_ready("faulty:stuck-seed", s, BVH_AUTO, MODE_STRICT)};
    static const char *const ids[] = {"native", "faulty:stuck-seed"};
    const struct render_job job = {.width = WIDTH,
                                   .height = HEIGHT,
                                   .sample_count = SPP,
                                   .max_depth = 4,
                                   .rr_depth = 3,
                                   .set = {.build.mode = MODE_STRICT, .launch.work_group = {7, 3}}};
    assert_string_equal(device_row_owner(d, 4), "native+faulty:stuck-seed");
    assert_string_equal(device_row_owner(alone[1], 4), "faulty:stuck-seed");
    must(film_init(&film, WIDTH, HEIGHT, film_exponent(s), &err), &err);
    must(device_render(d, &job, &film, true, NULL, &err), &err);
    size_t apart = 0;
    for (uint32_t y = 0; y < HEIGHT; y++) {
        const uint32_t owner = y / 3 % 2;
        double L[3], expected[2][3];
        assert_string_equal(device_row_owner(d, y), ids[owner]);
        must(device_trace(d, &job, 5, y, 1, L, NULL, 0, NULL, &err), &err);
        for (int i = 0; i < 2; i++)
            must(device_trace(alone[i], &job, 5, y, 1, expected[i], NULL, 0, NULL, &err), &err);
        assert_memory_equal(L, expected[owner], sizeof L);
        apart += memcmp(expected[0], expected[1], sizeof L) != 0;
    }
    assert_true(apart > 0);
    film_free(&film);
    for (int i = 0; i < 2; i++)
        device_close(alone[i]);
    device_close(d);
    scene_free(s);
}

static void rows_go_to_members_in_turn(void **state)
{
    (void)state;
    static const struct launch_settings launches[] = {
        {.batch = 0},
        {.work_group = {4, 1}, .batch = 1},
        {.work_group = {7, 3}, .tile = {9, 10}, .tile_order = 2, .batch = 2},
    };
    static const uint32_t band[] = {16, 1, 3}; /* as high as a work-group */
    struct scene *s = scene_from_library("hdri");
    struct film right, wrong, split;
    picture("native", s, MODE_STRICT, launches[0], &right);
    picture("faulty:stuck-seed", s, MODE_STRICT, launches[0], &wrong);
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        bool first[HEIGHT];
        picture("native+faulty:stuck-seed", s, MODE_STRICT, launches[i], &split);
        rows_of_first(&split, &right, &wrong, first);
        for (uint32_t y = 0; y < HEIGHT; y++)
            assert_int_equal(first[y], y / band[i] % 2 == 0);
        film_free(&split);
    }
    film_free(&right);
    film_free(&wrong);
    scene_free(s);
}

/* From the third picture on a member that takes longer has fewer rows: null takes no
 * time. */
static void shares_follow_rates(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = scene_from_library("cornell");
    struct device *d = device_ready("native+null", s, BVH_AUTO, MODE_FAST);
    struct film nothing; /* what is not null's is native's */
    picture("null", s, MODE_FAST, (struct launch_settings){.batch = 0}, &nothing);
    uint32_t rows[3];
    for (int k = 0; k < 3; k++) {
        struct film f;
        must(film_init(&f, WIDTH, HEIGHT, film_exponent(s), &err), &err);
        struct render_job job = {.width = WIDTH,
                                 .height = HEIGHT,
                                 .sample_count = SPP,
                                 .max_depth = 4,
                                 .rr_depth = 3,
                                 .set = {.build.mode = MODE_FAST, .launch.work_group = {8, 1}}};
        must(device_render(d, &job, &f, true, NULL, &err), &err);
        must(film_check(&f, SPP, NULL, &err), &err); /* every row has an owner */
        rows[k] = 0;
        for (uint32_t y = 0; y < HEIGHT; y++)
            rows[k] += !row_equal(&f, &nothing, y);
        film_free(&f);
    }
    assert_int_equal(rows[0], (HEIGHT + 1) / 2);
    assert_int_equal(rows[1], rows[0]);
    assert_true(rows[2] < rows[0] / 2);
    film_free(&nothing);
    device_close(d);
    scene_free(s);
}

static void names_are_checked(void **state)
{
    (void)state;
    struct error err = {0};
    struct device_info info;
    char many[400] = "native";
    must(device_find("native+null", &info, &err), &err);
    assert_string_equal(info.id, "native+null");
    assert_string_equal(info.api, "split");
    assert_int_equal(info.max_work_group, 1024); /* null's: the lesser */
    assert_int_equal(device_find("native+native", &info, &err), STATUS_ARG);
    assert_non_null(strstr(err.msg, "twice"));
    assert_int_equal(device_find("native+nothing:0", &info, &err), STATUS_MISSING);
    assert_int_equal(device_find("native+", &info, &err), STATUS_ARG);
    for (int i = 0; i < 16; i++)
        strcat(many, "+null");
    assert_int_equal(device_find(many, &info, &err), STATUS_ARG);
}

static void a_members_failure_names_it(void **state)
{
    (void)state;
    struct error err = {0};
    struct device *d;
    struct scene *s = scene_from_library("cornell");
    must(device_open("native+null", &d, &err), &err);
    must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
    assert_int_equal(device_build(d, &(struct build_settings){.mode = MODE_STRICT}, NULL, &err),
                     STATUS_UNSUPPORTED);
    assert_int_equal(strncmp(err.msg, "null: ", 6), 0);
    device_close(d);
    scene_free(s);
}

/* Native compiles with contraction, against strict's rules; software HIP, which the environment of
 * this test asks for, does not. */
static void members_that_disagree_in_strict_are_named(void **state)
{
    (void)state;
    struct error err = {0};
    struct device *d;
    setenv("ISOPHOTE_CFLAGS", "-ffp-contract=fast", 1);
    if (device_open("native+hip:0", &d, &err) != STATUS_OK) {
        print_message("%s\n", err.msg);
        unsetenv("ISOPHOTE_CFLAGS");
        skip();
    }
    struct scene *s = scene_from_library("cornell");
    must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
    assert_int_equal(device_build(d, &(struct build_settings){.mode = MODE_STRICT}, NULL, &err),
                     STATUS_UNSUPPORTED);
    unsetenv("ISOPHOTE_CFLAGS");
    assert_non_null(strstr(err.msg, "native and hip:0 give different bits in strict"));
    device_close(d);
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_to_members_in_turn),
        cmocka_unit_test(owners_are_named_and_trace),
        cmocka_unit_test(shares_follow_rates),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(a_members_failure_names_it),
        cmocka_unit_test(members_that_disagree_in_strict_are_named),
    };
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
