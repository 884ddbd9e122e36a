/* SPDX-License-Identifier: Apache-2.0 */
/* The engine `grid`: the interpreter's bits, what it refuses, and how much is done once for a grid. */
#include "shaders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 37 };

struct program {
    struct arena arena;
    struct asl_group *group;
    struct asl_code *code;
};

static void layer(struct program *p, const char *name, const char *source)
{
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *x;
    if (asl_compile(&p->arena, "t.asl", source, strlen(source), NULL, &diags, &x, &err))
        fail_msg("%s: %s", source, err.msg);
    assert_int_equal(asl_group_layer(p->group, x, NULL, name, NULL, &err), STATUS_OK);
}

/* The shader, or two of them: then b.x is a.r. Their result is r. */
static void open_program(struct program *p, const char *a, const char *b)
{
    static const char *const outputs[] = {"r", NULL};
    const struct asl_lower_options o = {.level = 2, .outputs = outputs};
    struct error err = {0};
    *p = (struct program){0};
    assert_int_equal(asl_group_new(&p->arena, "g", &p->group, &err), STATUS_OK);
    layer(p, "a", a);
    if (b)
        layer(p, "b", b);
    if (b && asl_group_connect(p->group, "a", "r", "b", "x", &err))
        fail_msg("%s", err.msg);
    assert_int_equal(asl_group_finish(p->group, &err), STATUS_OK);
    if (asl_lower(&p->arena, p->group, &o, &p->code, &err))
        fail_msg("%s: %s", a, err.msg);
}

static void points_fill(struct asl_globals *g, size_t count)
{
    memset(g, 0, count * sizeof *g);
    for (size_t i = 0; i < count; i++) {
        g[i].u.v = (float)i / (float)count;
        g[i].u.dx = 0.01f;
        g[i].v.v = (float)(i * 7 % count) / (float)count;
        g[i].v.dy = 0.02f;
        for (int k = 0; k < 3; k++) {
            g[i].P.v[k] = (k == 1 ? g[i].v.v : g[i].u.v) * (float)(k + 1);
            g[i].P.dx[k] = 0.1f * (float)k;
        }
        g[i].N.v[2] = g[i].Ng[2] = 1;
        g[i].backfacing = i % 3 == 0;
    }
}

static struct asl_grid *grid_of(const struct program *p)
{
    struct error err = {0};
    struct asl_grid *g = NULL;
    if (asl_grid_new(p->code, NULL, POINTS, NULL, NULL, &g, &err))
        fail_msg("%s", err.msg);
    return g;
}

/* Each point's slots against the engine `ir`. */
static void must_agree(const struct program *p, struct asl_grid *g, const struct asl_globals *at,
                       size_t count, const char *text)
{
    struct error err = {0};
    struct asl_code_context *c = NULL;
    assert_int_equal(asl_code_context_new(p->code, NULL, &c, &err), STATUS_OK);
    if (asl_grid_run(g, at, count, &err))
        fail_msg("%s: %s", text, err.msg);
    for (size_t i = 0; i < count; i++) {
        struct asl_type type;
        union asl_slot got[3] = {{0}};
        assert_int_equal(asl_code_context_run(c, &at[i], &err), STATUS_OK);
        const union asl_slot *want = asl_code_context_value(c, "r", &type, NULL);
        const size_t n = asl_type_slots(type);
        assert_true(want && n <= 3 && asl_grid_value(g, "r", i, got, n));
        for (size_t k = 0; k < n; k++)
            if (got[k].i != want[k].i)
                fail_msg("%s: point %zu of %zu, slot %zu: %g, ir %g", text, i, count, k,
                         (double)got[k].f, (double)want[k].f);
    }
    asl_code_context_free(c);
}

static void values_are_those_of_ir(void **state)
{
    (void)state;
    static const char *const programs[][2] = {
        {"shader s(output float r = 0) { r = u > 0.5 ? sin(u) : v * backfacing(); }"},
        {"shader s(int n = 5, output float r = 0) { for (int i = 0; i < n; i++) r += i * u; }"},
        {"shader s(output float r = 0) { for (int i = 0; i < (int)(u * 9); i++) { if (i == 3) "
         "continue; if (r > 4 + v) break; r += i * v; } }"},
        {"float f(float x) { if (x > 0.7) return x * 2; for (int i = 0; i < 9; i++) { if (i * 0.1 "
         "> x) return i; } return -1; } shader s(output float r = 0) { r = f(u) + f(v); }"},
        {"shader s(output float r = 0) { int k = 0; if (u > 0.3) { while (k < 5) { k++; if (v < "
         "0.5) "
         "{ r += noise(P * k); } else if (k == 3) break; } } r = r * 2 + k; }"},
        {"shader s(output float r = 0) { do { r += 0.25; for (int i = 0; i < 3; i++) if (r > u + "
         "i) "
         "break; } while (r < v * 5); }"},
        {"shader s(output float r = 0) { if (u < 0.4) { r = 3; return; } r = u; if (v < 0.4) "
         "exit(); "
         "r = 2 * u; }"},
        {"shader s(output color r = 0) { float a[5] = {1, 2, 3, 4, 5}; int i = (int)(u * 4.9); "
         "a[i] = v; a[(i + 2) % 5] += a[i]; for (int k = 0; k < 5; k++) r = r * 2 + a[k]; }"},
        {"shader s(output color r = 0) { color k[5] = {color(0), color(1, 0, 0), color(0, 1, 0), "
         "color(u), color(v)}; r = spline(\"catmull-rom\", u, k); }"},
        {"shader s(output color r = 0) { point q = P * 8; r = Dx(noise(\"perlin\", q)) + "
         "Dy(noise(\"simplex\", q, u)) + filterwidth(q); }"},
        {"shader a(float k = 3, output float r = 0) { r = sin(k) + (k > 2 ? 0 : u); }",
         "shader b(float x = 0, output float r = 0) { if (u > 0.5) r = x * u; else r = 7; }"},
        {"shader a(output float r = 0) { if (v > 0.6) return; r = sqrt(v); }",
         "shader b(float x = 0, output float r = 0) { r = 1; if (u > 0.5) { r = x; } if (u > 0.2) "
         "r "
         "+= x * 2; }"},
        {"shader s(string n = \"cell\", output float r = 0) { string m = u > 0.5 ? n : "
         "\"perlin\"; r = m == \"cell\" ? 1 : noise(\"perlin\", u * 9); }"},
    };
    struct asl_globals at[POINTS];
    points_fill(at, POINTS);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct program p;
        open_program(&p, programs[i][0], programs[i][1]);
        struct asl_grid *g = grid_of(&p);
        must_agree(&p, g, at, POINTS, programs[i][0]); /* and again, over fewer, and one */
        must_agree(&p, g, at + 3, POINTS / 2, programs[i][0]);
        must_agree(&p, g, at + 5, 1, programs[i][0]);
        asl_grid_free(g);
        arena_free(&p.arena);
    }
}

/* By hand, of IR without constants. */
static void uniform_work_is_done_once(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t operations, uniform; /* of the program */
        uint64_t varying, once;     /* that run on a grid of POINTS */
    } rows[] = {
        /* arg k, k*k are the same; load u, product, store are not */
        {"shader s(float k = 2, output float r = 0) { float a = k * k; r = u * a; }", 5, 2,
         3 * POINTS, 2},
        /* all of it: arg, product, store */
        {"shader s(float k = 2, output float r = 0) { r = k * k; }", 3, 3, 0, 3},
    };
    struct asl_globals at[POINTS];
    points_fill(at, POINTS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct program p;
        open_program(&p, rows[i].text, NULL);
        struct asl_grid *g = grid_of(&p);
        const struct asl_grid_shape shape = asl_grid_shape(g);
        must_agree(&p, g, at, POINTS, rows[i].text);
        const struct asl_grid_work work = asl_grid_worked(g);
        assert_int_equal(shape.operations, rows[i].operations);
        assert_int_equal(shape.uniform, rows[i].uniform);
        assert_int_equal(work.varying, rows[i].varying);
        assert_int_equal(work.uniform, rows[i].once);
        assert_int_equal(work.spared, rows[i].once * (POINTS - 1));
        asl_grid_free(g);
        arena_free(&p.arena);
    }
}

static void what_it_lacks_is_named(void **state)
{
    (void)state;
    static const char *const programs[] = {
        "shader s(output float r = 0) { printf(\"%g\", u); r = u; }",
        "shader s(output float r = 0) { setmessage(\"m\", u); getmessage(\"m\", r); }",
        "shader s(float g = 1 [[int lockgeom = 0]], output float r = 0) { r = g; }",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct program p;
        struct error err = {0};
        struct asl_grid *g = NULL;
        open_program(&p, programs[i], NULL);
        assert_int_equal(asl_grid_new(p.code, NULL, POINTS, NULL, NULL, &g, &err),
                         STATUS_UNSUPPORTED);
        assert_non_null(strstr(err.msg, "grid"));
        arena_free(&p.arena);
    }
    struct program p;
    struct error err = {0};
    struct asl_grid *g = NULL;
    open_program(&p, "shader s(output float r = 0) { r = u; }", NULL);
    assert_int_equal(asl_grid_new(p.code, NULL, 0, NULL, NULL, &g, &err), STATUS_ARG);
    assert_int_equal(asl_grid_new(p.code, NULL, ASL_GRID_MOST + 1, NULL, NULL, &g, &err),
                     STATUS_ARG);
    arena_free(&p.arena);
}

/* One point of many turns for ever. */
static void endless_loops_end(void **state)
{
    (void)state;
    struct program p;
    struct error err = {0};
    struct asl_grid *g = NULL;
    struct asl_globals at[POINTS];
    const struct asl_context_options o = {.step_budget = 1000};
    points_fill(at, POINTS);
    open_program(&p, "shader s(output float r = 0) { while (u > 0.9) r += 1; }", NULL);
    assert_int_equal(asl_grid_new(p.code, &o, POINTS, NULL, NULL, &g, &err), STATUS_OK);
    assert_int_equal(asl_grid_run(g, at, POINTS, &err), STATUS_TIMEOUT);
    assert_non_null(strstr(err.msg, "does a loop not end?"));
    assert_int_equal(asl_grid_run(g, at, 3, &err), STATUS_OK);
    asl_grid_free(g);
    arena_free(&p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_ir),
        cmocka_unit_test(uniform_work_is_done_once),
        cmocka_unit_test(what_it_lacks_is_named),
        cmocka_unit_test(endless_loops_end),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
