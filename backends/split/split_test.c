/* Devices that render together. A member with a mistake shows which rows were whose: rows of the
 * right member have the right bits, rows of the wrong one do not. */
#include "split.h"
#include "test_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { WIDTH = 23, HEIGHT = 41, SPP = 3 };

static void picture(const char *id, const struct scene *s, struct launch_settings launch,
                    struct film *film)
{
    struct error err = {0};
    struct device *d = device_ready(id, s, BVH_AUTO, launch.mode);
    must(film_init(film, WIDTH, HEIGHT, film_exponent(s), &err), &err);
    struct render_job job = {.width = WIDTH,
                             .height = HEIGHT,
                             .sample_count = SPP,
                             .max_depth = 4,
                             .rr_depth = 3,
                             .launch = launch};
    must(device_render(d, &job, film, true, NULL, &err), &err);
    must(film_check(film, SPP, NULL, &err), &err);
    device_close(d);
}

static bool row_equal(const struct film *a, const struct film *b, uint32_t y)
{
    size_t at = 4 * (size_t)y * WIDTH;
    return memcmp(a->sums + at, b->sums + at, 4 * WIDTH * sizeof *a->sums) == 0;
}

static void rows_go_to_members_in_turn(void **state)
{
    (void)state;
    static const struct launch_settings launches[] = {
        {.mode = MODE_STRICT},
        {.mode = MODE_STRICT, .work_group = {4, 1}, .batch = 1},
        {.mode = MODE_STRICT, .work_group = {7, 3}, .tile = {9, 10}, .tile_order = 2, .batch = 2},
    };
    struct scene *s = scene_from_library("hdri");
    struct film right, wrong, split;
    picture("native", s, launches[0], &right);
    picture("faulty:stuck-seed", s, launches[0], &wrong);
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        uint32_t of_first = 0;
        picture("native+faulty:stuck-seed", s, launches[i], &split);
        for (uint32_t y = 0; y < HEIGHT; y++) {
            bool first = row_equal(&split, &right, y);
            assert_true(first || row_equal(&split, &wrong, y));
            of_first += first;
        }
        assert_int_equal(of_first, i == 0 ? 25 : 23); /* bands of 16 rows, then of 6 */
        film_free(&split);
    }
    film_free(&right);
    film_free(&wrong);
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
    for (int i = 0; i < SPLIT_MEMBERS_MAX; i++)
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
    assert_int_equal(device_build(d, &(struct launch_settings){.mode = MODE_STRICT}, NULL, &err),
                     STATUS_UNSUPPORTED);
    assert_int_equal(strncmp(err.msg, "null: ", 6), 0);
    device_close(d);
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_to_members_in_turn),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(a_members_failure_names_it),
    };
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
