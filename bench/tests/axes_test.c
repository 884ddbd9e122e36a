/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "axes.h"
#include "trial.h"

static const struct axis_context context = {
    .device = {.max_work_group = 256, .max_work_group_axis = {256, 256}},
    .job = {.width = 100, .height = 64, .sample_count = 8},
};

static size_t settings(struct arena *a, const struct sweep_options *o, struct settings **out,
                       size_t *left_out)
{
    struct error err = {0};
    size_t n = 0;
    assert_int_equal(axes_check(o, &err), STATUS_OK);
    assert_int_equal(axes_settings(a, o, &context, out, &n, left_out, &err), STATUS_OK);
    return n;
}

static bool has(const struct settings *s, size_t n, uint32_t x, uint32_t y)
{
    for (size_t i = 0; i < n; i++)
        if (s[i].launch.work_group[0] == x && s[i].launch.work_group[1] == y)
            return true;
    return false;
}

static void default_work_groups(void **state)
{
    (void)state;
    struct arena a = {0};
    const struct sweep_axis axis = {.name = "work-group"};
    const struct sweep_options o = {.axes = &axis, .axis_count = 1};
    struct settings *s;
    size_t left_out, n = settings(&a, &o, &s, &left_out);
    /* x: 1 .. 128 covers 100 pixels (8 values), y: 1 .. 64 (7); eight odd shapes; one over the
     * limit */
    assert_int_equal(n, 8 * 7 + 8 + 1);
    assert_true(has(s, n, 1, 1) && has(s, n, 128, 64) && has(s, n, 3, 3) && has(s, n, 257, 1));
    assert_false(has(s, n, 256, 1));
    assert_int_equal(left_out, 0);
    arena_free(&a);
}

static void products_and_constraints(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *const groups[] = {"4x4", "8x2", "4x4", "16x16", "10x1"},
                      *const batches[] = {"1", "all", "100"}, *const tiles[] = {"all", "20x10"};
    const struct sweep_axis axes[] = {
        {"work-group", groups, 5}, {"batch", batches, 3}, {"tile", tiles, 2}};
    const char *const rules[] = {"items<=64", "divides-tile"};
    struct sweep_options o = {.axes = axes, .axis_count = 3};
    struct settings *s;
    size_t left_out, n = settings(&a, &o, &s, &left_out);
    assert_int_equal(n, 4 * 2 * 2); /* 4x4 twice is once; 100 samples are all of the 8 */
    o.constraints = rules;
    o.constraint_count = 2;
    n = settings(&a, &o, &s, &left_out);
    /* whole picture 100x64: 4x4, 10x1; tile 20x10: 10x1 alone (4x4 and 8x2 do not divide it); twice
     * for the batches */
    assert_int_equal(n, 2 * (2 + 1));
    assert_int_equal(left_out, 16 - 6);
    for (size_t i = 0; i < n; i++)
        assert_true(s[i].launch.batch == 1 || s[i].launch.batch == 8);
    arena_free(&a);
}

static void each_constraint(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        size_t kept;
    } rows[] = {{"items<=16", 3}, {"items>=17", 1}, {"x>=y", 3},
                {"y>=x", 2},      {"square", 1},    {"divides-picture", 3}};
    const char *const groups[] = {"4x4", "2x8", "16x1", "50x2"}; /* in a picture of 100x64 */
    const struct sweep_axis axis = {"work-group", groups, 4};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a = {0};
        const struct sweep_options o = {
            .axes = &axis, .axis_count = 1, .constraints = &rows[i].rule, .constraint_count = 1};
        struct settings *s;
        size_t left_out;
        assert_int_equal(settings(&a, &o, &s, &left_out), rows[i].kept);
        arena_free(&a);
    }
}

static void lanes(void **state)
{
    (void)state;
    const char *const modes[] = {"fast", "strict", "fast"};
    const struct sweep_axis axes[] = {{"mode", modes, 3}, {"bvh", NULL, 0}};
    struct sweep_options o = {.axes = axes, .axis_count = 2};
    const struct settings own = {.build = {.mode = MODE_DEVICE, .registers = 40},
                                 .launch.batch = 3};
    struct arena a = {0};
    struct settings *l;
    size_t n;
    assert_int_equal(axes_check(&o, NULL), STATUS_OK);
    assert_int_equal(axes_lanes(&a, &o, &own, &l, &n, NULL), STATUS_OK);
    assert_int_equal(n, 2 * (BVH_COUNT - 2)); /* fast once; all trees but auto and none */
    assert_true(l[0].build.mode == MODE_FAST && l[0].load.bvh == BVH_BINARY &&
                l[1].load.bvh == BVH_WIDE8);
    assert_true(l[n - 1].build.mode == MODE_STRICT && l[n - 1].load.bvh == BVH_COMPRESSED8);
    for (size_t i = 0; i < n; i++) /* the rest stays */
        assert_true(l[i].build.registers == 40 && l[i].launch.batch == 3 &&
                    l[i].build.code == CODE_AUTO);
    const char *const every[] = {"auto", "bvh2", "bvh8", "bvh8c", "none"};
    const struct sweep_axis all[] = {{"bvh", every, 5}};
    o.axes = all;
    o.axis_count = 1;
    assert_int_equal(axes_lanes(&a, &o, &own, &l, &n, NULL), STATUS_OK);
    assert_int_equal(n, BVH_COUNT);
    assert_true(l[0].load.bvh == BVH_AUTO && l[BVH_COUNT - 1].load.bvh == BVH_LINEAR);
    o.axis_count = 0;
    assert_int_equal(axes_lanes(&a, &o, &own, &l, &n, NULL), STATUS_OK);
    assert_int_equal(n, 1);
    assert_int_equal(l[0].build.mode, MODE_DEVICE);
    arena_free(&a);
}

/* What a program is compiled for: code path, registers, preferred memory. */
static void programs(void **state)
{
    (void)state;
    const char *const registers[] = {"auto", "48", "48", "200"}, *const codes[] = {"llvm"};
    const struct sweep_axis axes[] = {
        {"cache", NULL, 0}, {"registers", registers, 4}, {"code-path", codes, 1}};
    const struct sweep_options o = {.axes = axes, .axis_count = 3};
    const struct settings own = {.build.registers = 40};
    struct arena a = {0};
    struct settings *l;
    size_t n;
    assert_int_equal(axes_check(&o, NULL), STATUS_OK);
    assert_int_equal(axes_lanes(&a, &o, &own, &l, &n, NULL), STATUS_OK);
    assert_int_equal(n, 3 * CACHE_COUNT);
    const uint32_t limits[] = {0, 48, 200};
    for (size_t i = 0; i < n; i++)
        assert_true(l[i].build.code == CODE_LLVM &&
                    l[i].build.registers == limits[i / CACHE_COUNT] &&
                    l[i].build.cache == (enum cache_preference)(i % CACHE_COUNT));
    char name[PROGRAM_NAME_SIZE];
    program_name(&l[n - 1], MODEL_MEGAKERNEL, name);
    assert_string_equal(name, "megakernel, code path llvm, registers 200, cache equal");
    program_name(&(struct settings){.build.mode = MODE_FAST}, MODEL_WAVEFRONT, name);
    assert_string_equal(name, "wavefront");
    program_name(&(struct settings){0}, MODEL_AUTO, name);
    assert_string_equal(name, "auto");
    arena_free(&a);
}

static void bad_axes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *axis, *value, *rule, *says;
    } rows[] = {
        {"colour", "1", NULL, "axis 'colour'"},
        {"work-group", "8", NULL, "value '8'"},
        {"work-group", "0x4", NULL, "value '0x4'"},
        {"work-group", "8x8x1", NULL, "8x8x1"},
        {"work-group", "all", NULL, "value 'all'"},
        {"registers", "0", NULL, "value '0'"},
        {"registers", "64k", NULL, "expected a number from 1, or auto"},
        {"code-path", "spirv", NULL, "expected source, llvm or auto"},
        {"cache", "L1", NULL, "expected l1, shared, equal or auto"},
        {"work-group", "99999999999x1", NULL, "99999"},
        {"tile", "none", NULL, "XxY or all"},
        {"batch", "-1", NULL, "a number from 1"},
        {"bvh", "kd", NULL, "bvh2"},
        {"mode", "quick", NULL, "strict"},
        {"batch", "1", "items<64", "items<=N"},
        {"batch", "1", "items<=", "items<=N"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct sweep_axis axis = {rows[i].axis, &rows[i].value, 1};
        const struct sweep_options o = {.axes = &axis,
                                        .axis_count = 1,
                                        .constraints = &rows[i].rule,
                                        .constraint_count = rows[i].rule ? 1 : 0};
        struct error err = {0};
        assert_int_equal(axes_check(&o, &err), STATUS_TYPE);
        assert_non_null(strstr(err.msg, rows[i].says));
    }
    const struct sweep_axis twice[] = {{.name = "batch"}, {.name = "batch"}};
    const struct sweep_options o = {.axes = twice, .axis_count = 2};
    assert_int_equal(axes_check(&o, NULL), STATUS_TYPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_work_groups),
        cmocka_unit_test(products_and_constraints),
        cmocka_unit_test(each_constraint),
        cmocka_unit_test(lanes),
        cmocka_unit_test(programs),
        cmocka_unit_test(bad_axes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
