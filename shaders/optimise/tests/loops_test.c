/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that the optimiser takes away, those that it must leave, and that both keep their values. */
#include "shaders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct program {
    struct arena arena;
    struct asl_group *group;
    struct asl_code *code;
};

static void open_program(struct program *p, const char *body, int level)
{
    static const char *const outputs[] = {"r", NULL};
    const struct asl_lower_options o = {.level = level, .bake = true, .outputs = outputs};
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *x;
    struct text source = {0};
    *p = (struct program){0};
    text_printf(&source,
                "shader s(int n = 0, int m = 3, float k = 1, output float r = 0) { r = u; %s }",
                body);
    if (asl_compile(&p->arena, "t.asl", source.data, source.len, NULL, &diags, &x, &err))
        fail_msg("%s: %s", body, err.msg);
    text_free(&source);
    assert_int_equal(asl_group_new(&p->arena, "g", &p->group, &err), STATUS_OK);
    assert_int_equal(asl_group_layer(p->group, x, NULL, "a", NULL, &err), STATUS_OK);
    assert_int_equal(asl_group_finish(p->group, &err), STATUS_OK);
    if (asl_lower(&p->arena, p->group, &o, &p->code, &err))
        fail_msg("%s: %s", body, err.msg);
}

static size_t operations(const char *body)
{
    struct program p;
    open_program(&p, body, 2);
    const size_t n = asl_code_stats(p.code, SIZE_MAX).ops_after;
    arena_free(&p.arena);
    return n;
}

static float value(const char *body, int level)
{
    struct program p;
    struct error err = {0};
    struct asl_code_context *c;
    const struct asl_globals at = {.u = {.v = 0.25f}, .v = {.v = 0.75f}};
    open_program(&p, body, level);
    assert_int_equal(asl_code_context_new(p.code, NULL, &c, &err), STATUS_OK);
    if (asl_code_context_run(c, &at, &err))
        fail_msg("%s: %s", body, err.msg);
    const float r = asl_code_context_value(c, "r", NULL, NULL)->f;
    asl_code_context_free(c);
    arena_free(&p.arena);
    return r;
}

static void idle_loops_go(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        /* of no turn */
        "for (int i = 0; i < n; i++) r += sin(u * i);",
        "while (n > 2) { r += 1; }",
        "for (int i = m; i > 5; i--) r += noise(P);",
        "for (int i = 0; i * 2 + 1 < n; i++) r = 7;",
        /* whose values nobody reads */
        "float a = 0; for (int i = 0; i < m; i++) a += sin(u * i);",
        "float a = 1; for (int i = 9; i > 0; i -= 2) a *= u;",
        "float a = 0; for (int i = 0; i <= m; i++) { if (a > 3) break; if (v < 1) continue; a++; }",
        "float a = 0; for (int i = 0; i < m; i++) for (int j = 5; j >= 1; j--) a += i * j * u;",
    };
    const size_t nothing = operations("");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (operations(bodies[i]) != nothing)
            fail_msg("%s: %zu operations are left, not %zu", bodies[i], operations(bodies[i]),
                     nothing);
        assert_true(value(bodies[i], 2) == 0.25f);
    }
}

static void others_stay(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        /* which have turns and are read */
        "for (int i = 0; i < m; i++) r += u;",
        "int i = 0; for (; i < m; i++) ; r += i;",
        "do { r += 1; } while (n > 2);",
        "for (int i = 0; i <= n; i++) r += 2;",
        /* which say something, or end the layer */
        "float a[3] = {1, 2, 3}, b = 0; for (int i = 0; i < 5; i++) b += a[i + m];",
        "float a = 0; for (int i = 0; i < m; i++) { a += u; if (a > 0.5) return; } r = 3;",
        "for (int i = 0; i < m; i++) printf(\"%d\", i);",
        /* which may not end, or not before an int's end */
        "float a = 0; for (int i = 0; i < m; i++) { a += u; if (a > 100) i = 0; }",
        "float a = 0; for (int i = 0; i < 2147483647; i += 2) { a += u; if (a > 1) break; }",
        "float a = 0; for (float i = 0; i < m; i += 1) a += u;",
        "float a = 0; for (int i = 0; i < 4; i -= 1) { a += u; if (a > 1) break; }",
        "float a = 0; while (a < 2) a += 0.5;",
        "float a = 0; for (int i = 0; i < m;) { a += u; i += (u > 0.1); }",
    };
    const size_t nothing = operations("");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (operations(bodies[i]) == nothing)
            fail_msg("%s: it is gone", bodies[i]);
        const float plain = value(bodies[i], 0), optimised = value(bodies[i], 2);
        if (plain != optimised)
            fail_msg("%s: %g, unoptimised %g", bodies[i], (double)optimised, (double)plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_loops_go),
        cmocka_unit_test(others_stay),
    };
    return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
