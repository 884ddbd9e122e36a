/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that the optimiser takes away, those that it must leave, what it moves out of loops, and
 * that all keep their values. */
#include "shaders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 5 };

struct program {
    struct arena arena;
    struct asl_group *group;
    struct asl_code *code;
};

/* A shader, its last name in its group. */
static void add_layer(struct program *p, const char *source)
{
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *x;
    if (asl_compile(&p->arena, "t.asl", source, strlen(source), NULL, &diags, &x, &err))
        fail_msg("%s: %s", source, err.msg);
    assert_int_equal(asl_group_layer(p->group, x, NULL, asl_program_shader(x, 0)->name, NULL, &err),
                     STATUS_OK);
}

/* The shaders, `below` (NULL: none) connected to the other: its r to x. */
static void open_layers(struct program *p, const char *source, const char *below,
                        const struct asl_lower_options *o)
{
    struct error err = {0};
    *p = (struct program){0};
    assert_int_equal(asl_group_new(&p->arena, "g", &p->group, &err), STATUS_OK);
    if (below)
        add_layer(p, below);
    add_layer(p, source);
    if (below && asl_group_connect(p->group, "below", "r", "s", "x", &err))
        fail_msg("%s", err.msg);
    assert_int_equal(asl_group_finish(p->group, &err), STATUS_OK);
    if (asl_lower(&p->arena, p->group, o, &p->code, &err))
        fail_msg("%s: %s", source, err.msg);
}

static void open_program(struct program *p, const char *body, int level)
{
    static const char *const outputs[] = {"r", NULL};
    const struct asl_lower_options o = {.level = level, .bake = true, .outputs = outputs};
    struct text source = {0};
    text_printf(&source,
                "shader s(int n = 0, int m = 3, float k = 1, output float r = 0) { r = u; %s }",
                body);
    open_layers(p, source.data, NULL, &o);
    text_free(&source);
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

/* ---- what is the same in each turn -------------------------------------------------------------- */

static const char *const r_alone[] = {"r", NULL};

static void points_fill(struct asl_globals *at)
{
    memset(at, 0, POINTS * sizeof *at);
    for (int i = 0; i < POINTS; i++) {
        at[i].u = (struct asl_dual){(float)i / 7, 0.03f, 0.01f};
        at[i].v = (struct asl_dual){1 - (float)i / 9, -0.02f, 0.04f};
        for (int k = 0; k < 3; k++) {
            at[i].P.v[k] = (float)(i * (k + 2)) / 5 - 1;
            at[i].P.dx[k] = 0.02f * (float)(k - 1);
            at[i].P.dy[k] = 0.05f * (float)k;
        }
    }
}

/* Bits of r at all points: by the interpreter, which knows no IR; else of the code. */
static void results(const struct program *p, bool interp, const struct asl_globals *at,
                    union asl_slot *out)
{
    struct error err = {0};
    struct asl_context *c = NULL;
    struct asl_code_context *k = NULL;
    assert_int_equal(interp ? asl_context_new(p->group, NULL, &c, &err)
                            : asl_code_context_new(p->code, NULL, &k, &err),
                     STATUS_OK);
    for (int i = 0; i < POINTS; i++) {
        if (interp ? asl_context_run(c, &at[i], &err) : asl_code_context_run(k, &at[i], &err))
            fail_msg("%s", err.msg);
        const union asl_slot *v = interp ? asl_context_value(c, "r", NULL, NULL)
                                         : asl_code_context_value(k, "r", NULL, NULL);
        assert_non_null(v);
        out[i] = *v;
    }
    asl_context_free(c);
    asl_code_context_free(k);
}

/* Lines of the IR with that word, in loops and elsewhere. */
struct seen {
    size_t inside, outside;
};
static struct seen look_for(const struct asl_code *code, const char *word)
{
    struct seen n = {0};
    struct text t = {0};
    bool is_loop[64] = {false};
    size_t depth = 0, loops = 0;
    asl_code_print(code, &t);
    for (char *p = t.data, *end; p && (end = strchr(p, '\n')) != NULL; p = end + 1) {
        *end = 0;
        const size_t length = (size_t)(end - p);
        if (strstr(p, word))
            *(loops ? &n.inside : &n.outside) += 1;
        const bool closes = strchr(p, '}') && strchr(p, '}') - p == (ptrdiff_t)strspn(p, " "),
                   opens = length && p[length - 1] == '{';
        bool again = false;
        if (closes && depth) {
            again = is_loop[--depth];
            loops -= again;
        }
        if (opens) {
            assert_true(depth < 64);
            is_loop[depth] = closes ? again : strstr(p, "loop ") != NULL;
            loops += is_loop[depth++];
        }
    }
    text_free(&t);
    return n;
}

/* The same bits by the interpreter, by code as lowered, with and without moving, baked or not. */
static void must_keep_bits(const char *source, const char *below)
{
    struct asl_globals at[POINTS];
    union asl_slot want[POINTS], got[POINTS];
    points_fill(at);
    for (int way = 0; way < 6; way++) {
        const struct asl_lower_options o = {.level = way < 2 ? 0 : 2,
                                            .bake = way % 2 != 0,
                                            .stay_in_loops = way >= 4,
                                            .outputs = r_alone};
        struct program p;
        open_layers(&p, source, below, &o);
        if (way == 0)
            results(&p, true, at, want);
        results(&p, false, at, got);
        for (int i = 0; i < POINTS; i++)
            if (got[i].i != want[i].i)
                fail_msg("%s: way %d, point %d: %a, not %a", source, way, i, (double)got[i].f,
                         (double)want[i].f);
        arena_free(&p.arena);
    }
}

static const char turns[] = "for (int i = 0; i < m; i++) ";

static void like_work_leaves_loops(void **state)
{
    (void)state;
    static const struct {
        const char *before, *body, *word;
        size_t inside, outside; /* lines with the word, once all that can has moved */
    } rows[] = {
        /* calls: of what the loop does not change; of what it does */
        {"", "r += sin(u) * i;", " = call sin", 0, 1},
        {"", "r += sin(u * i);", " = call sin", 1, 0},
        {"float a = 0;", "{ a += u; r += sin(a); }", " = call sin", 1, 0},
        {"float a = 0;", "{ r += sin(a); a += u; }", " = call sin", 1, 0},
        {"", "r += noise(\"perlin\", P * 3) * i;", " = call noise", 0, 1},
        /* out of both loops, out of the inner one, out of none */
        {"", "for (int j = 0; j < 4; j++) r += cos(v) * j * i;", " = call cos", 0, 1},
        {"", "for (int j = 0; j < 4; j++) r += cos(v + i) * j;", " = call cos", 1, 0},
        {"", "for (int j = 0; j < 4; j++) r += cos(v + i + j);", " = call cos", 1, 0},
        /* derivatives go with their values: of sin(u) there are three */
        {"", "r += Dx(sin(u)) * i;", " = call sin", 0, 1},
        /* a variable that is stored before, perhaps in one branch alone */
        {"float a = 1; if (u > 0.3) a = v;", "r += sqrt(a) * i;", " = fsqrt", 0, 1},
        {"float a = 1; if (u > 0.3) a = v;", "{ r += sqrt(a) * i; if (r > 3) a = 2; }", " = fsqrt",
         1, 0},
        /* operations leave branches; calls stay where not all turns come by */
        {"", "if (i > 1) r += sqrt(u) * i;", " = fsqrt", 0, 1},
        {"", "if (i > 1) r += sin(u) * i;", " = call sin", 1, 0},
        {"", "{ if (i == 1) continue; r += sin(u) * i; }", " = call sin", 0, 1},
        {"", "{ if (r > 2) break; r += sin(u) * i; }", " = call sin", 0, 1},
        /* an array that is only read, and one that is not; an index may be out of range */
        {"float a[3] = {u, v, 2};", "r += a[(int)(u * 2)] * i;", " = index", 1, 0},
        {"color a[4] = {color(0), color(u), color(v), color(1)};",
         "r += luminance(spline(\"linear\", u, a)) * i;", " = call spline", 0, 1},
        {"color a[4] = {color(0), color(u), color(v), color(1)};",
         "{ r += luminance(spline(\"linear\", u, a)) * i; a[2] += 0.1; }", " = call spline", 1, 0},
        /* who speaks, or may, keeps its place */
        {"string n = u > 0.5 ? \"perlin\" : \"cell\";", "r += noise(n, P) * i;", " = call noise", 1,
         0},
        {"float a = 0;", "{ getattribute(\"x\", a); r += a; }", " = call getattribute", 1, 0},
        {"", "r += fmod(u, 0.3) * i;", " = frem", 0, 1},
        {"", "if (i > 1) r += fmod(u, 0.3) * i;", " = frem", 1, 0},
        /* a function that is left early, a loop that turns once at least */
        {"", "r += f(u) * i;", " = call cos", 1, 0},
        {"int i = 0;", "; do { r += exp(u) * i; i++; } while (i < m);", " = call exp", 0, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct program p;
        struct text source = {0};
        const struct asl_lower_options o = {.level = 2, .outputs = r_alone};
        text_printf(&source,
                    "float f(float x) { if (x > 0.4) return cos(x); return x; }\n"
                    "shader s(int m = 3, output float r = 0) { r = u; %s %s %s }",
                    rows[i].before, turns, rows[i].body);
        open_layers(&p, source.data, NULL, &o);
        const struct seen n = look_for(p.code, rows[i].word);
        if (n.inside != rows[i].inside || n.outside != rows[i].outside) {
            struct text t = {0};
            asl_code_print(p.code, &t);
            fail_msg("%s: '%s' %zu times in loops, not %zu, and %zu elsewhere, not %zu\n%s",
                     source.data, rows[i].word, n.inside, rows[i].inside, n.outside,
                     rows[i].outside, t.data);
        }
        must_keep_bits(source.data, NULL);
        arena_free(&p.arena);
        text_free(&source);
    }
}

/* A layer that is pulled in the loop changes globals, so their reads stay; it runs once. */
static void pulled_layers_change_globals(void **state)
{
    (void)state;
    static const char below[] = "shader below(output float r = 0) { P = P * 2 + 1; r = P[0] + v; }";
    static const char source[] =
        "shader s(float x = 0, int m = 3, output float r = 0) { float k "
        "= u + 1; r = 0; for (int i = 0; i < m; i++) { r += sqrt(P[1] + 3) * (i + 1); "
        "if (i == 1) r += x; r += sqrt(k) * i; } }";
    struct program p;
    const struct asl_lower_options o = {.level = 2, .outputs = r_alone};
    open_layers(&p, source, below, &o);
    const struct seen n = look_for(p.code, " = fsqrt");
    assert_int_equal(n.inside, 1);
    assert_int_equal(n.outside, 1);
    arena_free(&p.arena);
    must_keep_bits(source, below);
}

/* By hand: what a point runs. */
static void fewer_operations_run(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        uint64_t stay, moved; /* operations of all points: in loops, moved */
        size_t instructions;  /* that moved */
    } rows[] = {
        /* In front: m, r and its store, the store of i. A turn: i, its test; i as a float, u, u * u,
         * the product, r, the sum, its store; i, the sum, its store. The last test: two. u and
         * u * u move. */
        {"shader s(int m = 3, output float r = 0) { for (int i = 0; i < m; i++) r += u * u * i; }",
         POINTS * (4 + 3 * 12 + 2), POINTS * (4 + 2 + 3 * 10 + 2), 2},
        /* The same of m alone, so that a grid does it once: sin(k) moves, and k stood in front. */
        {"shader s(int m = 3, float k = 2, output float r = 0) { for (int i = 0; i < m; i++) r += "
         "sin(k) * i; }",
         POINTS * (5 + 3 * 11 + 2), POINTS * (5 + 1 + 3 * 10 + 2), 1},
    };
    struct asl_globals at[POINTS];
    points_fill(at);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t ran[2];
        size_t moved[2];
        for (int stays = 0; stays < 2; stays++) {
            struct program p;
            struct error err = {0};
            struct asl_grid *g = NULL;
            const struct asl_lower_options o = {
                .level = 2, .outputs = r_alone, .stay_in_loops = stays};
            open_layers(&p, rows[i].source, NULL, &o);
            assert_int_equal(asl_grid_new(p.code, NULL, POINTS, NULL, NULL, &g, &err), STATUS_OK);
            assert_int_equal(asl_grid_run(g, at, POINTS, &err), STATUS_OK);
            const struct asl_grid_work w = asl_grid_worked(g);
            assert_int_equal(w.points, POINTS);
            ran[stays] = w.varying + w.uniform + w.spared;
            moved[stays] = asl_code_stats(p.code, SIZE_MAX).moved;
            asl_grid_free(g);
            arena_free(&p.arena);
        }
        assert_int_equal(moved[1], 0);
        assert_int_equal(moved[0], rows[i].instructions);
        assert_int_equal(ran[1], rows[i].stay);
        assert_int_equal(ran[0], rows[i].moved);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_loops_go),          cmocka_unit_test(others_stay),
        cmocka_unit_test(like_work_leaves_loops), cmocka_unit_test(pulled_layers_change_globals),
        cmocka_unit_test(fewer_operations_run),
    };
    return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
