/* SPDX-License-Identifier: Apache-2.0 */
/* derivs_test.c: random well-typed programs. For each: Dx and Dy of the result against differences
 * of the program itself, and the result's bits with and without the derivative being asked for. A
 * symbol or expression that derivs.c forgets to mark gives a derivative that is too small by a
 * whole term; the differences are good to about 1%. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "shaders.h"

static const char prelude[] =
    "struct S { float x; color y; float w[2]; };\n"
    "float g1(float a, float b) { float t = a * b; if (b > 100) return 7; t += sin(a); return t; "
    "}\n"
    "void g2(float a, output float b, output color c) { b = cos(a) + 0.5 * b; c.g = b * a; }\n"
    "S g3(float a, color k) { S s; s.x = a; s.y = k * sin(a); s.w[1] = a * 0.25; return s; }\n"
    "float g4(float a[]) { float t = 0; for (int i = 0; i < arraylength(a); i++) t += a[i] * (i + "
    "1); return t; }\n"
    "color g5(color a, float b) { color inner(float q) { return a * q; } return inner(b) + 0.1; "
    "}\n";

struct generator {
    uint32_t seed;
    struct text out;
};

static uint32_t pick(struct generator *g, uint32_t n)
{
    g->seed = g->seed * 1664525u + 1013904223u;
    return (g->seed >> 8) % n;
}

static void put(struct generator *g, const char *s) { text_puts(&g->out, s); }

static void scalar(struct generator *g, int depth);
static void triple(struct generator *g, int depth);
static void statement(struct generator *g, int depth);

/* A form with its places filled: %s a float, %t a triple of that depth, %S a statement if any may
 * be nested. */
static void fill(struct generator *g, const char *form, int depth, int statements)
{
    for (const char *p = form; *p; p++) {
        if (*p != '%' || !strchr("stS", p[1])) {
            text_append(&g->out, p, 1);
            continue;
        }
        p++;
        if (*p == 's')
            scalar(g, depth);
        else if (*p == 't')
            triple(g, depth);
        else if (statements > 0)
            statement(g, statements - 1);
    }
}

static void scalar(struct generator *g, int depth)
{
    static const char *const leaves[] = {"u",      "v",       "f0",    "f1",      "f2",    "0.7",
                                         "1.3",    "c0.r",    "c1[1]", "a0[2]",   "a0[0]", "s0.x",
                                         "s0.y.b", "s0.w[1]", "P.x",   "(float)n"};
    if (depth <= 0) {
        put(g, leaves[pick(g, 16)]);
        return;
    }
    static const char *const forms[] = {"(%s + %s)",
                                        "(%s - %s)",
                                        "(0.5 * %s * %s)",
                                        "sin(%s)",
                                        "cos(%s)",
                                        "(%s / (2.5 + sin(%s)))",
                                        "(-(%s))",
                                        "mix(%s, %s, 0.3)",
                                        "sqrt(1.5 + sin(%s))",
                                        "exp(0.5 * sin(%s))",
                                        "atan2(sin(%s), 2.0)",
                                        "pow(1.5 + 0.4 * sin(%s), 1.7)",
                                        "(n % 2 == 0 ? %s : %s)",
                                        "dot((vector)(%t), vector(0.3, 0.4, 0.5))",
                                        "length((vector)(%t) + vector(2, 3, 4))",
                                        "(%t)[1]",
                                        "g1(%s, sin(%s))",
                                        "(float)snoise(sin(%s), 0.3)",
                                        "luminance(%t)",
                                        "distance((point)(%t), point(5, 5, 5))",
                                        "g4(a0)",
                                        "smoothstep(-3, 3, %s)",
                                        "log(3 + sin(%s))",
                                        "hypot(2.0, %s)",
                                        "tanh(0.3 * %s)",
                                        "spline(\"bspline\", 0.5 + 0.3 * sin(%s), a1)",
                                        "max(%s, -50)",
                                        "abs(3 + sin(%s))",
                                        "(f2 = sin(%s))",
                                        "fmod(100 + sin(%s), 1000)",
                                        "transform(m0, (point)(%t)).x"};
    fill(g, forms[pick(g, sizeof forms / sizeof *forms)], depth - 1, 0);
}

static void triple(struct generator *g, int depth)
{
    static const char *const leaves[] = {"c0", "c1", "s0.y", "color(u, v, 0.5)", "color(0.4)"};
    if (depth <= 0) {
        put(g, leaves[pick(g, 5)]);
        return;
    }
    static const char *const forms[] = {"color(%s, %s, %s)",
                                        "(%t + %t)",
                                        "(%t * sin(%s))",
                                        "(%t - %t)",
                                        "sin(%t)",
                                        "mix(%t, %t, 0.4)",
                                        "g5(%t, sin(%s))",
                                        "(color)cross((vector)(%t), vector(0.2, 0.3, 0.4))",
                                        "(g3(%s, %t).y)",
                                        "(n > 1 ? %t : %t)",
                                        "(color)normalize((vector)(%t) + vector(3, 4, 5))",
                                        "cos(%t)",
                                        "(%t / 1.7)"};
    fill(g, forms[pick(g, sizeof forms / sizeof *forms)], depth - 1, 0);
}

static void statement(struct generator *g, int depth)
{
    static const char *const forms[] = {
        "f0 = sin(%s);",
        "f1 = 0.5 * sin(%s) + 0.3 * f1;",
        "f2 += 0.2 * sin(%s);",
        "f1 *= cos(%s);",
        "c0 = sin(%t);",
        "c1.g = sin(%s);",
        "c0[2] += 0.1 * cos(%s);",
        "a0[1] = sin(%s);",
        "a0[n] = cos(%s);",
        "s0.x = sin(%s);",
        "s0.y = cos(%t);",
        "s0.y.r = sin(%s);",
        "s0 = g3(sin(%s), cos(%t));",
        "g2(sin(%s), f1, c1);",
        "g2(sin(%s), a0[0], s0.y);",
        "if (n == 1) { %S } else { %S }",
        "for (int i = 0; i < 2; i++) { %S f0 = 0.5 * f0 + 0.2 * sin(i + %s); }",
        "{ float f0 = sin(%s); f1 = 0.5 * f0 + 0.5 * f1; }",
        "sincos(%s, f0, f2);",
        "s1 = s0; s1.x += sin(%s); s0.x = s1.x * 0.5;",
        "c1 = { sin(%s), cos(%s), 0.3 };",
        "n = (n + 1) % 3;",
        "f0 = f1 = sin(%s);",
        "a0 = a2; a0[2] = sin(%s);",
        "do { f1 = 0.4 * f1 + 0.3 * cos(%s); n++; } while (n < 2); n = 1;"};
    fill(g, forms[pick(g, sizeof forms / sizeof *forms)], 2, depth);
    put(g, "\n");
}

/* The program's text; `derivs`: it also asks for Dx and Dy. */
static void generate(struct generator *g, uint32_t seed, bool derivs)
{
    g->seed = seed;
    text_free(&g->out);
    g->out = (struct text){0};
    put(g, prelude);
    put(g, "shader t(output float o = 0, output float dx = 0, output float dy = 0) {\n"
           "float f0 = sin(u), f1 = v * u, f2 = 0.3; color c0 = color(u, v, 0.2), c1 = 0.5; float "
           "a0[3] = { 0.1, u, v };\n"
           "float a1[5] = { 0, 0.5, 1, 0.4, 0.2 }; float a2[3] = { sin(v), 0.2, u }; S s0 = { u, "
           "color(v, u, 0.1), { 0.1, u } }, s1; int n = 1;\n"
           "matrix m0 = matrix(1, 0.2, 0, 0, 0, 1, 0.3, 0, 0.1, 0, 1, 0, 0.5, 0.6, 0.7, 1);\n");
    for (uint32_t i = 3 + pick(g, 7); i > 0; i--)
        statement(g, 2);
    put(g, "o = sin(");
    scalar(g, 3);
    put(g, ") + 0.3 * f0 + 0.2 * f1 + 0.2 * f2 + 0.1 * (c0.r + c1.g + s0.x + s0.y.b + g4(a0));\n");
    put(g, derivs ? "dx = Dx(o); dy = Dy(o);\n}\n" : "}\n");
}

struct machine {
    struct arena arena;
    struct asl_context *cx;
};

static void start(struct machine *m, const struct text *source)
{
    struct asl_diags diags = {0};
    struct error err = {0};
    const struct asl_program *p = NULL;
    struct asl_group *g = NULL;
    enum status s =
        asl_compile(&m->arena, "random.asl", source->data, source->len, NULL, &diags, &p, &err);
    if (s != STATUS_OK) {
        struct text t = {0};
        asl_diags_print(&diags, &t);
        (void)fprintf(stderr, "%s\n%s\n", source->data, t.data ? t.data : err.msg);
        text_free(&t);
    }
    assert_int_equal(s, STATUS_OK);
    assert_int_equal(asl_group_new(&m->arena, "random", &g, &err), STATUS_OK);
    assert_int_equal(asl_group_layer(g, p, NULL, "random", NULL, &err), STATUS_OK);
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    assert_int_equal(asl_context_new(g, NULL, &m->cx, &err), STATUS_OK);
}

static void stop(struct machine *m)
{
    asl_context_free(m->cx);
    arena_free(&m->arena);
    *m = (struct machine){0};
}

static float value(struct machine *m, const char *name, float u, float v)
{
    struct error err = {0};
    struct asl_globals g = {.u = {u, 1, 0}, .v = {v, 0, 1}};
    g.P = (struct asl_dual3){{u, v, 1}, {1, 0, 0}, {0, 1, 0}};
    g.N.v[2] = 1;
    assert_int_equal(asl_context_run(m->cx, &g, &err), STATUS_OK);
    return asl_context_value(m->cx, name, NULL, NULL)[0].f;
}

static void random_programs(void **state)
{
    (void)state;
    unsigned compared = 0, skipped = 0, wrong = 0;
    struct generator g = {0};
    for (uint32_t seed = 1; seed <= 400; seed++) {
        struct machine with = {0}, without = {0};
        generate(&g, seed, true);
        start(&with, &g.out);
        struct generator plain = {0};
        generate(&plain, seed, false);
        start(&without, &plain.out);
        for (int k = 0; k < 3; k++) {
            float u = 0.2f + 0.25f * (float)k, v = 0.7f - 0.2f * (float)k;
            float o = value(&with, "o", u, v), dx = value(&with, "dx", u, v),
                  dy = value(&with, "dy", u, v);
            float bare = value(&without, "o", u, v);
            if (memcmp(&o, &bare, sizeof o) != 0) {
                (void)fprintf(stderr, "seed %u: %.9g with derivatives, %.9g without\n%s\n", seed,
                              (double)o, (double)bare, g.out.data);
                wrong++;
            }
            for (int axis = 0; axis < 2; axis++) {
                /* Two steps: where they disagree the program bends too much for a difference to
                 * judge. */
                double q[2];
                for (int i = 0; i < 2; i++) {
                    float h = i ? 0.00390625f : 0.0078125f, hu = axis ? 0 : h, hv = axis ? h : 0;
                    q[i] = ((double)value(&without, "o", u + hu, v + hv) -
                            (double)value(&without, "o", u - hu, v - hv)) /
                           (2 * (double)h);
                }
                double have = (double)(axis ? dy : dx);
                if (fabs(q[0] - q[1]) > 0.01 * (1 + fabs(q[1]))) {
                    skipped++;
                    continue;
                }
                compared++;
                if (fabs(have - q[1]) > 0.02 * (1 + fabs(q[1]))) {
                    (void)fprintf(stderr, "seed %u at %g %g: D%c = %g, difference %g\n%s\n", seed,
                                  (double)u, (double)v, axis ? 'y' : 'x', have, q[1], g.out.data);
                    wrong++;
                }
            }
        }
        stop(&with);
        stop(&without);
        text_free(&plain.out);
        if (wrong > 3)
            break;
    }
    text_free(&g.out);
    print_message("%u derivatives compared, %u left out where the program bends too much\n",
                  compared, skipped);
    assert_int_equal(wrong, 0);
    assert_true(compared > 1500 && skipped < compared / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
