/* SPDX-License-Identifier: Apache-2.0 */
/* The generator, the comparison, the reducer and the finding of the statement, against mistakes
 * that are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "equivalence/shader_finding.h"
#include "generate/asl_generate.h"

static void programs_are_pure_and_well_typed(void **state)
{
    (void)state;
    struct arena a = {0};
    struct asl_coverage *coverage = NULL;
    struct error err = {0};
    size_t exact = 0;
    assert_int_equal(asl_coverage_new(&a, &coverage, &err), STATUS_OK);
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct arena one = {0};
        struct text t = {0}, again = {0};
        struct asl_generated what;
        struct shader_file f;
        assert_int_equal(asl_generate(seed, NULL, &t, coverage, &what, &err), STATUS_OK);
        assert_int_equal(asl_generate(seed, NULL, &again, NULL, NULL, &err), STATUS_OK);
        assert_string_equal(t.data, again.data);
        if (shader_file_read(&one, "g.asl", t.data, t.len, 0, &f, &err) != STATUS_OK)
            print_error("seed %u, line %u: %s\n", (unsigned)seed, err.line, err.msg);
        assert_int_equal(shader_file_read(&one, "g.asl", t.data, t.len, 0, &f, &err), STATUS_OK);
        assert_true(what.core || f.snapped == (what.discipline == ASL_SNAPPED));
        exact += what.discipline == ASL_EXACT;
        text_free(&t);
        text_free(&again);
        arena_free(&one);
    }
    assert_int_equal(asl_coverage_missing(coverage), 0);
    assert_true(exact > 300 && exact < 850); /* both disciplines */
    struct text table = {0};
    asl_coverage_print(coverage, false, &table);
    assert_non_null(strstr(table.data, "1000 programs"));
    text_free(&table);
    arena_free(&a);
}

/* Compares `text` at -O0 with a mistake in it; true when it shows. */
static bool shows(const char *text, const char *fault, unsigned level, struct shader_comparison *c)
{
    struct arena a = {0};
    struct shader_file f;
    struct asl_globals *points;
    size_t count;
    struct error err = {0};
    const struct shader_setting s = {.engine = "ir", .level = level, .fault = fault};
    assert_int_equal(shader_file_read(&a, "t.asl", text, strlen(text), 0, &f, &err), STATUS_OK);
    assert_int_equal(shader_points(&a, 4, 8, true, &points, &count, &err), STATUS_OK);
    if (shader_compare(&f, &s, points, count, c, &err) != STATUS_OK)
        print_error("%s\n", err.msg);
    assert_int_equal(shader_compare(&f, &s, points, count, c, &err), STATUS_OK);
    assert_true(c->values > 0);
    arena_free(&a);
    return c->different;
}

/* One shader for each mistake; each is silent without it, at every level. */
static void every_mistake_shows(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *text;
    } rows[] = {
        {"asl-swapped-operands", "shader t(output float r = 0) { r = u - v * 0.5; }"},
        {"asl-swapped-division", "shader t(output int r = 0) { r = int(u * 9) % 4; }"},
        {"asl-wrong-shift", "shader t(output int r = 0) { r = 1 << (16 + int(u)); }"},
        {"asl-lost-else", "shader t(output int r = 0) { if (u < 0.5) r = 1; else r = 2; }"},
        {"asl-lost-return", "shader t(output int r = 0) { if (u < 0.5) return; r = 2; }"},
        {"asl-less-or-equal", "shader t(output int r = 0) { r = u < u; }"},
        {"asl-negated-compare", "shader t(output int r = 0) { r = u >= v; }"},
        {"asl-rounded-cast", "shader t(output int r = 0) { r = int(u * 10); }"},
        {"asl-reciprocal", "shader t(output float r = 0) { r = u / 3; }"},
        {"asl-reassociated", "shader t(output float r = 0) { r = u * 0.1 + v * 0.3 + 0.7; }"},
        {"asl-minus-zero", "shader t(output float r = 0) { r = -u; }"},
        {"asl-index-limit",
         "shader t(output float r = 0) { float a[3] = {1, 2, 3}; r = a[2 * (u > 0.5)]; }"},
        {"asl-missed-derivative", "shader t(output float r = 0) { float x = u * v; r = Dy(x); }"},
        {"asl-lost-message", "shader t(output float r = 0) { warning(\"x\"); }"},
        {"asl-lost-userdata", "shader t(float ud_float = 0 [[ int lockgeom = 0 ]], output float r "
                              "= 0) { r = ud_float; }"},
        {"asl-wrong-swizzle",
         "shader t(output float r = 0) { color c = color(u, v, 0.3); r = c[1]; }"},
    };
    struct shader_comparison c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned level = 0; level < 3; level++) {
            bool silent = !shows(rows[i].text, NULL, level, &c);
            if (!silent)
                print_error("%s without it: %s\n", rows[i].fault, c.first.text);
            assert_true(silent);
        }
        if (!shows(rows[i].text, rows[i].fault, 0, &c))
            print_error("%s does not show\n", rows[i].fault);
        assert_true(c.different);
        assert_true(strlen(c.first.text) > 0);
    }
}

/* Values that bounds explain are no difference, and others are: a builtin moved by its bound, and
 * one moved by much more. Texts, ints and the bits of exact operations have no such room. */
static void bounds_explain_what_they_should(void **state)
{
    (void)state;
    struct shader_comparison c;
    static const char free_text[] =
        "shader t(output float r = 0) { r = sin(u * 3) * 10 - 0.5 * v; }";
    assert_false(shows(free_text, NULL, 2, &c));
    /* on an engine that has the interpreter's builtins there is no room at all */
    assert_true(shows(free_text, "asl-swapped-operands", 0, &c));
    assert_int_equal(c.moved, 0);
}

/* Rows of points speak statement by statement, so that a later point may be the first to say what an
 * earlier one says too: it is told of the earlier. */
static void what_is_said_again_is_told_of_the_first_point(void **state)
{
    (void)state;
    static const char text[] = "shader t(output float r = 0) { r = u + v; if (u > 0.4) "
                               "error(\"here\"); else { error(\"there\"); error(\"here\"); } }";
    static const char *const engines[] = {"ir", "native"};
    struct arena a = {0};
    struct shader_file f;
    struct asl_globals *points;
    size_t count;
    struct error err = {0};
    assert_int_equal(shader_file_read(&a, "t.asl", text, strlen(text), 0, &f, &err), STATUS_OK);
    assert_int_equal(shader_points(&a, 4, 0, false, &points, &count, &err), STATUS_OK);
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        const struct shader_setting s = {.engine = engines[i], .level = 2};
        struct shader_comparison c;
        if (shader_compare(&f, &s, points, count, &c, &err) != STATUS_OK)
            fail_msg("%s", err.msg);
        if (c.different)
            fail_msg("%s", c.first.text);
        assert_int_equal(c.messages, 2);
    }
    arena_free(&a);
}

/* Output r of the interpreter on a 4x4 grid, builtins moved by seed `perturb` (0: as they are). */
static void run_moved(const char *text, uint32_t perturb, float r[16])
{
    static const char *const outputs[] = {"r", NULL};
    struct arena a = {0};
    struct shader_file f;
    struct shade *shade;
    struct shade_result result = {0};
    struct error err = {0};
    const struct shade_options o = {.outputs = outputs, .threads = 1, .perturb = perturb};
    const struct shade_points p = {.grid = {.width = 4, .height = 4}};
    assert_int_equal(shader_file_read(&a, "t.asl", text, strlen(text), 0, &f, &err), STATUS_OK);
    assert_int_equal(shade_open("interp", f.group, &o, &shade, &err), STATUS_OK);
    assert_int_equal(shade_run(shade, &p, &result, &err), STATUS_OK);
    assert_int_equal(result.outputs[0].slots, 1);
    memcpy(r, result.outputs[0].words, 16 * sizeof *r);
    shade_result_free(&result);
    shade_close(shade);
    arena_free(&a);
}

/* exp is bounded by 3 units: all that it may give is tried, the ends, the right one and what lies
 * between, and nothing else. */
static void bounded_results_take_all_places(void **state)
{
    (void)state;
    static const char text[] = "shader t(output float r = 0) { r = exp(u); }";
    float right[16], moved[16];
    size_t ends[2] = {0}, inside = 0;
    run_moved(text, 0, right);
    for (uint32_t seed = 1; seed <= 64; seed++) {
        run_moved(text, seed, moved);
        for (int i = 0; i < 16; i++) {
            float bound = 3 * 0x1p-23F * right[i];
            assert_true(moved[i] >= right[i] - bound && moved[i] <= right[i] + bound);
            ends[0] += moved[i] == right[i] - bound;
            ends[1] += moved[i] == right[i] + bound;
            inside +=
                moved[i] > right[i] - bound && moved[i] < right[i] + bound && moved[i] != right[i];
        }
    }
    /* 1024 results: 256 at each end and 512 anywhere, of which those within half a unit of an end
     * or of the right value, a quarter at this size, round to it: 384. 5 sigma are 69 and 77. */
    assert_true(ends[0] > 187 && ends[1] > 187);
    assert_true(inside > 300);
}

/* The point's distance from the axis is turned, and cancels with the axis' place. */
static void turned_points_move_by_what_is_turned(void **state)
{
    (void)state;
    static const char text[] =
        "shader t(output float r = 0) { point q = rotate(point(u, v, 0), 1e-3, point(0, 0, 1e6), "
        "point(0, 1, 1e6)); r = q[2]; }";
    float right[16], moved[16], most = 0;
    run_moved(text, 0, right);
    for (uint32_t seed = 1; seed <= 32; seed++) {
        run_moved(text, seed, moved);
        for (int i = 0; i < 16; i++)
            most = fmaxf(most, fabsf(moved[i] - right[i]));
    }
    assert_true(most > 3.8F && most < 3.9F); /* 1e6 2^-18 = 3.81 */
}

static void reduced_programs_name_the_statement(void **state)
{
    (void)state;
    static const char text[] =
        "struct S { float a; int b; };\n"
        "float helper(float x, output int n) { n = n + 1; return x * 0.5; }\n"
        "shader t(float p = 1, output float r = 0, output int q = 0)\n{\n"
        "    S s = { u, 2 };\n    float big = 0;\n"
        "    for (int i = 0; i < 3; i++) {\n        big += helper(s.a, s.b) + i;\n"
        "        if (big > 100) break;\n    }\n"
        "    q = (s.b << 2) | int(v * 4);\n    r = big * p;\n"
        "    float wrong = 5 - u;\n    r = r + wrong;\n}\n";
    char dir[] = "/tmp/isophote-shader-XXXXXX";
    struct arena a = {0};
    struct asl_globals *points;
    size_t count;
    struct error err = {0};
    struct shader_comparison c;
    struct shader_finding f;
    const struct shader_setting s = {.engine = "ir", .fault = "asl-swapped-operands"};
    assert_non_null(mkdtemp(dir));
    assert_int_equal(setenv("ISOPHOTE_CACHE", dir, 1), 0);
    assert_true(shows(text, s.fault, 0, &c));
    assert_int_equal(shader_points(&a, 4, 8, true, &points, &count, &err), STATUS_OK);
    assert_int_equal(shader_finding_make("t.asl", text, strlen(text), 0, &s, &c.first, points,
                                         count, 30, &f, &err),
                     STATUS_OK);
    print_message("%zu tests, %zu tokens of %zu: %s\n", f.reduction.tests, f.reduction.tokens_after,
                  f.reduction.tokens_before, f.reason);
    assert_true(f.reduction.complete);
    assert_true(f.reduction.tokens_after < 30); /* shader t(output float r = 0) { r = 5 - u; } */
    assert_non_null(strstr(f.reason, "first at line"));
    assert_non_null(strstr(f.reason, "- "));
    char *small;
    size_t size;
    assert_int_equal(file_read(&a, f.file, 0, &small, &size, &err), STATUS_OK);
    assert_true(shows(small, s.fault, 0, &c)); /* what was written down shows it again */
    assert_false(shows(small, NULL, 0, &c));
    (void)unlink(f.file);
    arena_free(&a);
}

static void directives_make_networks(void **state)
{
    (void)state;
    static const char good[] = "//! param k 0.25\n//! layer A one\n//! layer B two\n"
                               "//! connect one.o two.x\n"
                               "shader A(float k = 1, output float o = 0) { o = k * u; }\n"
                               "shader B(float x = 9, output float r = 0) { r = x; }\n";
    static const char bad[] = "//! layer A one\n//! connect one.nothing one.k\n"
                              "shader A(float k = 1, output float o = 0) { o = k; }\n";
    struct arena a = {0};
    struct shader_file f;
    struct error err = {0};
    assert_int_equal(shader_file_read(&a, "n.asl", good, strlen(good), 0, &f, &err), STATUS_OK);
    assert_int_equal(f.layers, 2);
    assert_string_equal(f.all[0], "one.o");
    assert_string_equal(f.last[0], "two.r");
    assert_int_equal(shader_file_read(&a, "n.asl", good, strlen(good), 7, &f, &err), STATUS_OK);
    assert_int_not_equal(shader_file_read(&a, "n.asl", bad, strlen(bad), 0, &f, &err), STATUS_OK);
    assert_int_equal(err.line, 2);
    assert_true(shader_file_refused("shader x() {}\n//! error 1:1: bad\n"));
    assert_false(f.special);
    assert_int_equal(shader_file_read(&a, "s.asl", "shader x() {}\n//! special\n", 26, 0, &f, &err),
                     STATUS_OK);
    assert_true(f.special);
    assert_false(shader_file_refused(good));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_pure_and_well_typed),
        cmocka_unit_test(every_mistake_shows),
        cmocka_unit_test(bounds_explain_what_they_should),
        cmocka_unit_test(what_is_said_again_is_told_of_the_first_point),
        cmocka_unit_test(bounded_results_take_all_places),
        cmocka_unit_test(turned_points_move_by_what_is_turned),
        cmocka_unit_test(reduced_programs_name_the_statement),
        cmocka_unit_test(directives_make_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
