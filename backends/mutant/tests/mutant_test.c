/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on small texts, and the fate of mutants whose fate is known. */
#include "backends.h"
#include "edits/edits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Is there an edit of this rule that makes `made` of text? */
static bool makes(const char *text, const char *rule, const char *made)
{
    struct arena a = {0};
    struct edit *e;
    size_t n;
    bool found = false;
    assert_int_equal(edits_list(&a, text, &e, &n, NULL), STATUS_OK);
    for (size_t i = 0; i < n && !found; i++)
        found = strcmp(e[i].rule, rule) == 0 && strcmp(edit_apply(&a, text, &e[i]), made) == 0;
    arena_free(&a);
    return found;
}

static size_t edits_of(const char *text)
{
    struct arena a = {0};
    struct edit *e;
    size_t n;
    assert_int_equal(edits_list(&a, text, &e, &n, NULL), STATUS_OK);
    arena_free(&a);
    return n;
}

/* What a function is, of texts whose answer is plain; and what is left where only one matters. */
static void test_bodies(void **state)
{
    (void)state;
    static const char text[] = "struct A(axis) { int x; };\nint A(f)(int y) { return y + 1; }\n"
                               "static struct A(axis) A(g)(int z) { return h(z - 2); }\n";
    struct arena a = {0};
    struct body *bodies;
    struct edit *edits;
    size_t count, n;
    assert_int_equal(bodies_list(&a, text, &bodies, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    assert_memory_equal(text + bodies[0].at, "{ return y + 1; }", bodies[0].length);
    assert_memory_equal(text + bodies[1].at, "{ return h(z - 2); }", bodies[1].length);
    assert_int_equal(edits_list(&a, text, &edits, &n, NULL), STATUS_OK);
    size_t minus = n;
    for (size_t i = 0; i < n; i++)
        minus = text[edits[i].offset] == '-' ? i : minus;
    assert_true(minus < n);
    assert_string_equal(edits[minus].function, "g");
    assert_string_equal(edit_alone(&a, text, bodies, count, &edits[minus], true),
                        "struct A(axis) { int x; };\nint A(f)(int y) ;\n"
                        "static struct A(axis) A(g)(int z) { return h(z + 2); }\n");
    assert_string_equal(edit_alone(&a, text, bodies, count, &edits[minus], false),
                        "struct A(axis) { int x; };\nint A(f)(int y) ;\n"
                        "static struct A(axis) A(g)(int z) { return h(z - 2); }\n");
    assert_string_equal(text_behind(&a, text, bodies, count, bodies[0].at + bodies[0].length),
                        "struct A(axis) { int x; };\nint A(f)(int y) ;\n"
                        "static struct A(axis) A(g)(int z) { return h(z - 2); }\n");
    struct marks marks;
    assert_int_equal(marks_list(&a, text, &marks, NULL), STATUS_OK);
    const char *marked = text_marked(&a, text, 0, &marks);
    assert_non_null(strstr(marked, "struct A(axis) { int x; }"));
    assert_non_null(strstr(marked, "int A(f)(int y) {isophote_reached[0]=1; return y + 1; }"));
    assert_non_null(strstr(marked, "A(g)(int z) {isophote_reached[1]=1; return h(z - 2); }"));
    const char *rest = text_marked(&a, text, bodies[0].at + bodies[0].length, &marks);
    assert_null(strstr(rest, "isophote_reached[0]=1;"));
    assert_null(strstr(rest, "A(f)(int y)"));
    assert_non_null(strstr(rest, "isophote_reached_count = 2;"));
    assert_non_null(strstr(rest, "A(g)(int z) {isophote_reached[1]=1; return h(z - 2); }"));
    arena_free(&a);
}

/* Of helpers those of a line or two carry no mark; each is still a body that edits find. */
static void test_helpers(void **state)
{
    (void)state;
    char text[600];
    snprintf(text, sizeof text,
             "#line 1 \"math/m.h\"\nint few(int y) { return y + 1; }\n"
             "int many(int y) { %0200d; return y - 2; }\n"
             "#line 1 \"path/p.h\"\nint other(int y) { return y * 3; }\n",
             0);
    static const bool helper[] = {true, true, false};
    static const uint32_t mark[] = {MARK_NONE, 0, 1};
    struct arena a = {0};
    struct body *bodies;
    struct edit *edits;
    size_t count, n;
    assert_int_equal(bodies_list(&a, text, &bodies, &count, NULL), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(edits_list(&a, text, &edits, &n, NULL), STATUS_OK);
    struct marks marks;
    assert_int_equal(marks_list(&a, text, &marks, NULL), STATUS_OK);
    assert_int_equal(marks.mark_count, 2);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(bodies[i].helper, helper[i]);
        assert_int_equal(marks_at(&marks, bodies[i].at + 3), mark[i]);
        assert_int_equal(marks_at(&marks, bodies[i].at + bodies[i].length), MARK_NONE);
        size_t found = 0;
        for (size_t k = 0; k < n; k++)
            found += edit_body(bodies, count, &edits[k]) == &bodies[i];
        assert_true(found > 0);
    }
    const struct edit outside = {.offset = 0};
    assert_null(edit_body(bodies, count, &outside));
    arena_free(&a);
}

/* "@" is where a mark stands. What a place belongs to is the mark that was passed when it runs. */
static void test_marks(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "f() {@ a = 1;@ b = 2; }",
        "f() {@ if (x) {@ a; } else {@ b; }@ c; }",
        "f() {@ if (x) a; else b;@ c; }",
        "f() {@ for (i = 0; i < 9; i++) {@ a; }@ b; }",
        "f() {@ do {@ a; } while (x);@ b; }",
        "f() {@ const int t[2] = {1, 2};@ g((struct s){1, 2}); }",
        "f() {@ struct {int y; } v;@ v.y = 1; }",
        "f() {@ switch (x) {case 1:@ a;@ return 1; case 2: case 3:@ b; default:@ c; }@ d; }",
        "f() {@ if (x) {@ goto end; } a; end: b; }",
        "f() {@ a;\n#ifdef X\n@b;\n#else\n@c;\n#endif\n@d;@ e; }",
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200], expected[900] = "", found[900] = "";
        size_t n = 0, marks_seen = 0, used = 0;
        const bool once = strstr(rows[i], "goto") != NULL;
        for (const char *p = rows[i]; *p; p++)
            if (*p != '@')
                text[n++] = *p;
            else if (!once || !marks_seen++)
                used += (size_t)snprintf(expected + used, sizeof expected - used, "%zu ", n);
        text[n] = '\0';
        struct marks m;
        assert_int_equal(marks_list(&a, text, &m, NULL), STATUS_OK);
        used = 0;
        for (size_t k = 0; k < m.count; k++)
            if (m.list[k].begins)
                used += (size_t)snprintf(found + used, sizeof found - used, "%zu ", m.list[k].at);
        assert_string_equal(found, expected);
    }
    static const struct {
        const char *text, *place;
        uint32_t mark;
    } places[] = {
        {"f() { if (x) { a; } else b; c; }", "a;", 1},
        {"f() { if (x) { a; } else b; c; }", "b;", 0}, /* not the other branch's */
        {"f() { if (x) { a; } else b; c; }", "c;", 2},
        {"f() { do { a; } while (x); b; }", "x)", 0}, /* no round may have ended */
        {"f() { switch (x) { case 1: a; return; case 2: b; } }", "1:", 0},
        {"f() { switch (x) { case 1: a; return; case 2: b; } }", "2:", 0},
        {"f() { switch (x) { case 1: a; return; case 2: b; } }", "b;", 3},
        {"f() { if (x) { return; } a; }", "a;", 2},
        {"f() { a; } int t = 7;", "7;", MARK_NONE},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct marks m;
        const char *at = strstr(places[i].text, places[i].place);
        assert_int_equal(marks_list(&a, places[i].text, &m, NULL), STATUS_OK);
        assert_non_null(at);
        if (marks_at(&m, (size_t)(at - places[i].text)) != places[i].mark)
            fail_msg("%s at %s", places[i].text, places[i].place);
    }
    arena_free(&a);
}

static void test_each_rule(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *text, *made;
    } rows[] = {
        {"operator", "f() { return a + b; }", "f() { return a - b; }"},
        {"operator", "f() { return a[i] * b; }", "f() { return a[i] / b; }"},
        {"operator", "f() { return g(a) << b; }", "f() { return g(a) >> b; }"},
        {"comparison", "f() { return a < b; }", "f() { return a <= b; }"},
        {"comparison", "f() { return a < b; }", "f() { return a >= b; }"},
        {"comparison", "f() { return a == b; }", "f() { return a != b; }"},
        {"condition", "f() { return a && b; }", "f() { return a || b; }"},
        {"condition", "f() { return !a; }", "f() { return a; }"},
        {"condition", "f() { if (a) b(); }", "f() { if (!(a)) b(); }"},
        {"condition", "f() { if (a) b(); }", "f() { if (1) b(); }"},
        {"sign", "f() { return -a; }", "f() { return a; }"},
        {"constant", "f() { return 0.0f; }", "f() { return 1.0f; }"},
        {"constant", "f() { return 1e-3f; }", "f() { return (1e-3f * 1.01f); }"},
        {"constant", "f() { return 0x1Eu; }", "f() { return (0x1Eu + 1); }"},
        {"index", "f() { return v->a[i]; }", "f() { return v->a[(i) + 1]; }"},
        {"component", "f() { return v.z; }", "f() { return v.x; }"},
        {"factor", "f() { return a * b; }", "f() { return a ; }"},
        {"arguments", "f() { return g(a, h(b, c), d); }", "f() { return g(h(b, c), a, d); }"},
        {"assignment", "f() { a += b; }", "f() { a -= b; }"},
        {"assignment", "f() { i++; }", "f() { i--; }"},
        {"statement", "f() { a = b; c(); }", "f() { ; c(); }"},
        {"statement", "f() { a = b; c(); }", "f() { a = b; ; }"},
        {"statement", "f() { if (a) break; }", "f() { if (a) ; }"},
        {"function", "f() { return k_min(a, b); }", "f() { return k_max(a, b); }"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!makes(rows[i].text, rows[i].rule, rows[i].made))
            fail_msg("%s does not make \"%s\"", rows[i].rule, rows[i].made);
}

static void test_what_is_left_alone(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "int a = 1 + 2;",
        "struct s { float a[3]; };",
        "#define F(a, b) ((a) + \\\n (b))\n",
        "f() { /* a + b */ // c < d\n }",
        "f() { #if 1 + 1\n }",
        "f() { float a; }",
        "f() { case 3: }",
        "f() { \"a + 1",
        "} ) ] ;",
        "f() { ( [ {",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (edits_of(texts[i]))
            fail_msg("something is changed in \"%s\"", texts[i]);
    assert_false(makes("f() { float a[3]; }", "index", "f() { float a[(3) + 1]; }"));
    assert_false(makes("f() { for (;; i = j) g(); }", "statement", "f() { for (;; ;"));
}

static void test_places(void **state)
{
    (void)state;
    struct arena a = {0};
    struct edit *e;
    size_t n;
    assert_int_equal(edits_list(&a,
                                "#line 7 \"one.h\"\nf()\n{\n return -a;\n}\n#line 1 \"two.h\"\n"
                                "g() { /*\n*/ return -b; }",
                                &e, &n, NULL),
                     STATUS_OK);
    assert_int_equal(n, 2);
    assert_string_equal(e[0].file, "one.h");
    assert_int_equal(e[0].line, 9);
    assert_string_equal(e[1].file, "two.h");
    assert_int_equal(e[1].line, 2);
    arena_free(&a);
}

/* The first mutant of this rule and text, in this function; "": in any. */
static size_t mutant_in(const char *function, const char *rule, const char *was)
{
    struct arena a = {0};
    size_t n, k = 0;
    struct mutant m = {0};
    assert_int_equal(mutants_count(&n, NULL), STATUS_OK);
    for (; k < n; k++) {
        assert_int_equal(mutant_find(&a, k, &m, NULL), STATUS_OK);
        if (strcmp(m.rule, rule) == 0 && strcmp(m.was, was) == 0 &&
            (!*function || strcmp(m.function, function) == 0))
            break;
    }
    arena_free(&a);
    assert_true(k < n);
    return k;
}

static void test_names(void **state)
{
    (void)state;
    static const char *const wrong[] = {"mutant:12x", "mutant:", "mutant", "mutant:-1",
                                        "mutant:99999999999999999999"};
    struct device_info info;
    struct arena a = {0};
    struct mutant m;
    struct error err = {0};
    size_t n;
    assert_int_equal(mutants_count(&n, NULL), STATUS_OK);
    assert_true(n > 5000);
    assert_int_equal(mutant_find(&a, n, &m, &err), STATUS_ARG);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(device_find(wrong[i], &info, &err), STATUS_MISSING);
    arena_free(&a);
}

/* Philox' first words on a device. */
static void random_words(const char *id, uint32_t out[4])
{
    static const uint32_t in[6] = {1, 2, 3, 4, 5, 6};
    struct device *d = NULL;
    struct error err = {0};
    assert_int_equal(device_open(id, &d, &err), STATUS_OK);
    assert_int_equal(device_build(d, &(struct build_settings){.mode = MODE_STRICT}, NULL, &err),
                     STATUS_OK);
    assert_int_equal(device_probe(d, PROBE_RNG, in, 1, out, &err), STATUS_OK);
    device_close(d);
}

/* One word more of each row: its own are right, and the row behind them is not what it was. */
static void test_behind_rows(void **state)
{
    (void)state;
    static const uint32_t in[6] = {1, 2, 3, 4, 5, 6};
    uint32_t out[5] = {0, 0, 0, 0, 77};
    char id[64];
    struct device *d = NULL;
    struct error err = {0};
    snprintf(id, sizeof id, "mutant:%zu", mutant_in("k_arithmetic_item", "comparison", "<"));
    assert_int_equal(device_open(id, &d, &err), STATUS_OK);
    assert_int_equal(device_build(d, &(struct build_settings){.mode = MODE_STRICT}, NULL, &err),
                     STATUS_OK);
    assert_int_equal(device_probe(d, PROBE_RNG, in, 1, out, &err), STATUS_MISMATCH);
    assert_non_null(strstr(err.msg, "1 rows of probe rng, and wrote word 0 of the row behind"));
    assert_int_equal(out[4], 77);
    device_close(d);
}

/* A mistake in the text is a mistake of the device; without one it is right; C's types hold. */
static void test_fates(void **state)
{
    (void)state;
    static const uint32_t counter[4] = {1, 2, 3, 4}, key[2] = {5, 6};
    uint32_t right[4], plain[4], wrong[4];
    char id[64];
    struct mutant_code code = {0};
    struct error err = {0};
    size_t k = mutant_in("", "constant", "0xD2511F53u");
    philox4x32(counter, key, right);
    random_words("mutant:none", plain);
    assert_memory_equal(plain, right, sizeof right);
    const unsigned char *passed;
    assert_int_equal(mutants_reached(&passed), 0);
    random_words("mutant:marked", plain);
    assert_memory_equal(plain, right, sizeof right);
    struct mutant m;
    struct arena a = {0};
    assert_int_equal(mutant_find(&a, k, &m, &err), STATUS_OK);
    const size_t marks = mutants_reached(&passed);
    assert_true(m.marked && m.mark < marks && passed[m.mark]);
    size_t sum = 0;
    for (size_t i = 0; i < marks; i++)
        sum += passed[i];
    assert_true(sum < marks / 10); /* numbers are made by a few functions */
    arena_free(&a);
    snprintf(id, sizeof id, "mutant:%zu", k);
    random_words(id, wrong);
    assert_memory_not_equal(wrong, right, sizeof right);
    assert_int_equal(mutant_look(k, &code, &err), STATUS_OK);
    assert_true(code.compiles && code.built && !code.same[MODE_STRICT]);
    k = mutant_in("", "arguments", "v, 0x1p60f"); /* a vector and a number */
    assert_int_equal(mutant_look(k, &code, &err), STATUS_OK);
    assert_false(code.compiles);
    assert_int_equal(err.code, STATUS_OK);
}

/* What a grid of the shader gives; fault: NULL or a mutant. */
static void grid_words(const char *fault, uint32_t out[64])
{
    static const char source[] =
        "shader t(output float r = 0) { r = atan(u) + cellnoise(40 * u, 9 * v); }";
    static const char *const outputs[] = {"r", NULL};
    static const struct shade_points grid = {.grid = {.width = 32, .height = 2}};
    const struct shade_options o = {.outputs = outputs, .mode = MODE_STRICT, .fault = fault};
    struct arena a = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p;
    struct asl_group *g = NULL;
    struct shade *shade = NULL;
    struct shade_result result = {0};
    struct error err = {0};
    assert_int_equal(asl_compile(&a, "test.asl", source, sizeof source - 1, NULL, &diags, &p, &err),
                     STATUS_OK);
    assert_int_equal(asl_group_new(&a, "g", &g, &err), STATUS_OK);
    assert_int_equal(asl_group_layer(g, p, NULL, "l", NULL, &err), STATUS_OK);
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    if (shade_open("native", g, &o, &shade, &err) != STATUS_OK)
        fail_msg("%s: %s", fault ? fault : "no fault", err.msg);
    assert_int_equal(shade_run(shade, &grid, &result, &err), STATUS_OK);
    memcpy(out, result.outputs[0].words, 64 * sizeof *out);
    shade_result_free(&result);
    shade_close(shade);
    arena_free(&a);
}

/* The same in grids of shaders: of a function that the kernel calls, too, of one of the library alone,
 * and of the kernel's alone, which changes nothing there. */
static void test_fates_in_grids(void **state)
{
    (void)state;
    static const struct {
        const char *function, *rule, *was;
        bool differs;
    } rows[] = {{"a_atan_reduced", "constant", "0.333333164f", true},
                {"a_final_mix", "operator", "-", true},
                {"k_philox", "constant", "0xD2511F53u", false}};
    uint32_t right[64], found[64];
    grid_words(NULL, right);
    grid_words("mutant:none", found);
    assert_memory_equal(found, right, sizeof right);
    grid_words("mutant:marked", found);
    assert_memory_equal(found, right, sizeof right);
    const unsigned char *passed;
    const size_t marks = mutants_reached(&passed);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char id[64];
        const size_t k = mutant_in(rows[i].function, rows[i].rule, rows[i].was);
        snprintf(id, sizeof id, "mutant:%zu", k);
        grid_words(id, found);
        if ((memcmp(found, right, sizeof right) != 0) != rows[i].differs)
            fail_msg("%s, %s of %s", id, rows[i].rule, rows[i].function);
        struct arena a = {0};
        struct mutant m;
        assert_int_equal(mutant_find(&a, k, &m, NULL), STATUS_OK);
        if (m.marked && m.of_library)
            assert_true(m.twin_mark < marks && passed[m.twin_mark]);
        arena_free(&a);
    }
}

/* Arguments exchanged: a sum of products is the same; in a cross product the sign is not; nor is the
 * larger of two the same, where one is no number. What takes pointers is not judged. */
static void test_what_commutes(void **state)
{
    (void)state;
    static const struct {
        const char *was;
        bool commutes;
    } rows[] = {{"w, f.s", true}, {"x, 0.0f", false}, {"n, t", false}};
    struct mutant_code code = {0};
    struct error err = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(mutant_look(mutant_in("", "arguments", rows[i].was), &code, &err),
                         STATUS_OK);
        if (!code.compiles || code.commutes != rows[i].commutes)
            fail_msg("%s", rows[i].was);
    }
    struct arena a = {0};
    struct body *bodies;
    size_t count;
    static const char text[] = "int f(int a, int b) { return a * b; }\n"
                               "int g(int *a, int *b) { return *a + *b; }\n"
                               "int h(int a, float b) { return a + b; }\n";
    assert_int_equal(bodies_list(&a, text, &bodies, &count, NULL), STATUS_OK);
    assert_string_equal(
        text_called_twice(&a, text, bodies, count, "f", SECOND_CALL_EXCHANGED),
        "int f(int a, int b) { return a * b; }\n"
        "__attribute__((used)) void isophote_pair(int a, int b, void *isophote_to)\n"
        "{\n"
        "    ((__typeof__(f(a, b)) *)isophote_to)[0] = f(a, b);\n"
        "    ((__typeof__(f(b, a)) *)isophote_to)[1] = f(b, a);\n"
        "}\n\n"
        "int g(int *a, int *b) ;\nint h(int a, float b) ;\n");
    for (int i = 0; i < 2; i++)
        assert_null(
            strstr(text_called_twice(&a, text, bodies, count, i ? "h" : "g", SECOND_CALL_EXCHANGED),
                   "isophote_pair"));
    arena_free(&a);
}

/* asl/gradient_noise.def stands in the library twice, and its rows are compiled for values alone:
 * an edit of the first is other code in grids, where the processor has rows of points, and never in
 * the kernel; one of the second is in no code at all. */
static void test_what_grids_compile(void **state)
{
    (void)state;
    struct arena a = {0};
    struct mutant_code first, second;
    struct error err = {0};
    size_t count, at[2] = {SIZE_MAX, SIZE_MAX};
    assert_int_equal(mutants_count(&count, NULL), STATUS_OK);
    for (size_t k = 0; k < count; k++) {
        struct mutant m;
        assert_int_equal(mutant_find(&a, k, &m, NULL), STATUS_OK);
        if (strcmp(m.function, "a_vrow_perlin") == 0 && strcmp(m.rule, "statement") == 0) {
            at[0] = at[0] == SIZE_MAX ? k : at[0];
            at[1] = k;
        }
    }
    arena_free(&a);
    assert_true(at[0] < at[1] && at[1] < count);
    assert_int_equal(mutant_look(at[0], &first, &err), STATUS_OK);
    assert_int_equal(mutant_look(at[1], &second, &err), STATUS_OK);
    assert_true(first.compiles && second.compiles);
    for (int mode = 0; mode < MODE_COUNT; mode++)
        assert_true(first.same[mode] && second.same[mode]);
    assert_int_equal(first.built, !first.same_in_grids);
    assert_true(second.same_in_grids && !second.built);
}

/* One program has all entries: who renders can be asked for a path, too. */
static void test_all_entries(void **state)
{
    (void)state;
    struct scene *s = NULL;
    struct device *d = NULL;
    struct error err = {0};
    struct path_vertex vertices[8];
    const struct render_job job = {.width = 8,
                                   .height = 8,
                                   .sample_count = 1,
                                   .max_depth = 2,
                                   .rr_depth = 2,
                                   .set.build.mode = MODE_STRICT};
    double L[3];
    size_t count = 0;
    assert_int_equal(scene_load(SOURCE_DIR "/scenes/library/direct-sphere.json", &s, &err),
                     STATUS_OK);
    assert_int_equal(device_open("mutant:none", &d, &err), STATUS_OK);
    assert_int_equal(device_load(d, s, BVH_AUTO, NULL, &err), STATUS_OK);
    assert_int_equal(device_build(d, &job.set.build, NULL, &err), STATUS_OK);
    assert_int_equal(device_trace(d, &job, 4, 4, 0, L, vertices, 8, &count, &err), STATUS_OK);
    assert_true(count > 0);
    device_close(d);
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_entries),
                                       cmocka_unit_test(test_bodies),
                                       cmocka_unit_test(test_helpers),
                                       cmocka_unit_test(test_marks),
                                       cmocka_unit_test(test_each_rule),
                                       cmocka_unit_test(test_what_is_left_alone),
                                       cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_behind_rows),
                                       cmocka_unit_test(test_fates),
                                       cmocka_unit_test(test_fates_in_grids),
                                       cmocka_unit_test(test_what_commutes),
                                       cmocka_unit_test(test_what_grids_compile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
