/* SPDX-License-Identifier: Apache-2.0 */
/* shade_uniform_test.c: what is the same at all points runs once for a grid of a compiled engine:
 * the interpreter's bits, also after parameters changed; as many operations as are counted by hand;
 * and time that goes down with them. Engines are arguments; without one all of the processor's, and
 * OpenCL's first device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "backends.h"

struct fixture {
    struct arena arena;
    struct asl_group *group;
    struct shade *shade;
    struct shade_result result;
};

static const char *const r_alone[] = {"r", NULL};

/* The sources are layers; each one's r goes into the next one's `from`. */
static void group_make(struct fixture *f, const char *const *sources)
{
    struct error err = {0};
    char name[2] = "a", before[2] = "";
    assert_int_equal(asl_group_new(&f->arena, "g", &f->group, &err), STATUS_OK);
    for (size_t k = 0; k < 2 && sources[k]; k++, name[0]++) {
        struct asl_diags diags = {0};
        const struct asl_program *p;
        assert_int_equal(asl_compile(&f->arena, "test.asl", sources[k], strlen(sources[k]), NULL,
                                     &diags, &p, &err),
                         STATUS_OK);
        assert_int_equal(asl_group_layer(f->group, p, NULL, name, NULL, &err), STATUS_OK);
        if (k)
            assert_int_equal(asl_group_connect(f->group, before, "r", name, "from", &err),
                             STATUS_OK);
        memcpy(before, name, sizeof before);
    }
    assert_int_equal(asl_group_finish(f->group, &err), STATUS_OK);
}

static void fixture_open(struct fixture *f, const char *engine, const char *const *sources,
                         struct shade_options opt)
{
    struct error err = {0};
    opt.outputs = r_alone;
    group_make(f, sources);
    enum status st = shade_open(engine, f->group, &opt, &f->shade, &err);
    if (st != STATUS_OK)
        fail_msg("%s: %s", engine, err.msg);
}

static void grid_run(struct fixture *f, const struct shade_points *points)
{
    struct error err = {0};
    shade_result_free(&f->result);
    assert_int_equal(shade_run(f->shade, points, &f->result, &err), STATUS_OK);
    assert_int_equal(f->result.failure_count, 0);
}

static void fixture_close(struct fixture *f)
{
    shade_result_free(&f->result);
    shade_close(f->shade);
    arena_free(&f->arena);
    *f = (struct fixture){0};
}

/* Engines that do such work once, and the forms that they have. */
static const struct way {
    const char *engine;
    enum shade_form form;
} here[] = {{"native", SHADE_ROWS},
            {"native", SHADE_COPIES},
            {"native", SHADE_POINT},
            {"llvm", SHADE_ROWS},
            {"opencl:0", SHADE_POINT}};
enum { WAYS = sizeof here / sizeof *here };
static struct way ways[WAYS];
static size_t way_number;

static bool is_here(const struct way *w)
{
    struct device_info d;
    struct error err = {0};
    const bool llvm = strcmp(w->engine, "llvm") == 0;
    return device_find(llvm ? "native" : w->engine, &d, &err) == STATUS_OK &&
           (!llvm || strstr(d.compiler, "LLVM 15"));
}

static void way_add(const struct way *w)
{
    if (is_here(w) && way_number < WAYS)
        ways[way_number++] = *w;
    else
        print_message("SKIP %s: it is not here\n", w->engine);
}

static bool is_device(const struct way *w) { return strchr(w->engine, ':') != NULL; }

static void assert_same_words(const struct fixture *a, const struct fixture *b)
{
    const size_t words = a->result.count * a->result.outputs[0].slots;
    assert_int_equal(a->result.count, b->result.count);
    assert_memory_equal(a->result.outputs[0].words, b->result.outputs[0].words, 4 * words);
}

/* On one thread; stays: what is the same at all points is done at each of them. */
static void way_open(struct fixture *f, const struct way *w, const char *const *source, bool stays)
{
    fixture_open(f, w->engine, source,
                 (struct shade_options){.form = w->form,
                                        .level = 2,
                                        .threads = 1,
                                        .uniform_least = 1,
                                        .stay_at_points = stays});
}

/* ---- the interpreter's bits -------------------------------------------------------------------- */

/* k, n: parameters that the test changes. No function with an ulp bound is called. */
static const char *const exact[][3] = {
    /* floats, ints, conditions, choices; a value that only uniform work reads */
    {"shader s(float k = 0.3, int n = 3, output color r = 0) { float a = sqrt(k + 2) / n; "
     "int b = (n << 3) % 5 - (int)(k * 10), big = k > 0.5 && n != 4; "
     "r = color(a * u + b, big ? v : u, floor(k * 7) - v * (k / n)); }"},
    /* in branches that some points take, and loops that points leave one by one */
    {"shader s(float k = 0.3, int n = 3, output color r = 0) { if (u > k) { "
     "r[0] = v * (k * k - 1); if (n > 3) r[1] = u / (n + k); } else r[2] = fmod(k * 9, 2); "
     "for (int i = 0; i < n; i++) { if (v * i > k + 1) break; r += u * (k - n) + i; } }"},
    /* calls of uniform numbers alone, with three results and their changes */
    {"shader s(float k = 0.3, int n = 3, output color r = 0) { color c = noise(\"cell\", "
     "point(k, n, k * n)), h = hashnoise(k * 31, n); r = c * u + h * v + cellnoise(k, u); }"},
    {"shader s(color k = color(0.3, 0.8, 0.1), int n = 3, output color r = 0) { "
     "r = transformc(\"rgb\", \"YIQ\", k) * u + transformc(\"YIQ\", \"rgb\", k + n) * v; }"},
    /* unknown spaces are reported, once each */
    {"shader s(color k = color(0.3, 0.8, 0.1), int n = 3, output color r = 0) { "
     "r = transformc(\"klingon\", k) * u + transformc(\"hsv\", \"nowhere\", k + n) * v + "
     "color(\"no space\", k[0], k[1], k[2]); }"},
    /* strings are numbers of a table */
    {"shader s(float k = 0.3, int n = 3, string t = \"b\", output color r = 0) { "
     "string which = n > 3 ? t : \"a\"; r = (which == \"b\") * u + (which != \"\") * v * k; }"},
    /* indices and what is reported stay at the points; division by 0 */
    {"shader s(float k = 0.3, int n = 3, output color r = 0) { float a[3] = {k * 2, u, v}; "
     "r = color(a[n - 3], k / (n - 4), 1 / (n - 3)) + u * (k % 0); }"},
    /* two layers: numbers of values are each layer's own */
    {"shader a(float k = 0.3, int n = 3, output color r = 0) { r = u * (k * 2 + n); }",
     "shader b(color from = 0, float k = 0.7, int n = 5, output color r = 0) { "
     "r = from * (k * k) + v * (n - k); if (n > 5) r *= k - 2; }"},
    /* nothing is uniform; nothing varies */
    {"shader s(float k = 0.3, int n = 3, output color r = 0) { r = color(u, v, u * v); }"},
    {"shader s(float k = 0.3, int n = 3, output color r = 0) { r = color(k * n, k + n, n); }"},
};
enum { EXACT = sizeof exact / sizeof *exact };

/* The last layer's parameters, between runs. */
static void reparam(struct fixture *f, bool colour, float k, int n)
{
    struct error err = {0};
    char values[2][64];
    const char *layer = asl_group_layer_name(f->group, asl_group_layers(f->group) - 1);
    (void)snprintf(values[0], 64, colour ? "%.9g %.9g 0.25" : "%.9g", (double)k, (double)k * 2);
    (void)snprintf(values[1], 64, "%d", n);
    assert_int_equal(asl_group_reparam(f->group, layer, NULL, "k", values[0], &err), STATUS_OK);
    assert_int_equal(asl_group_reparam(f->group, layer, NULL, "n", values[1], &err), STATUS_OK);
}

static void values_are_the_interpreters(void **state)
{
    (void)state;
    const struct shade_points points = {.grid = {.width = 37, .height = 5}};
    static const float ks[] = {0.3F, 0.75F, -2.5F};
    static const int ns[] = {3, 4, -1};
    for (size_t c = 0; c < EXACT; c++) {
        const bool colour = strstr(exact[c][0], "color k") != NULL;
        struct fixture want = {0}, got = {0};
        for (size_t w = 0; w < way_number; w++) {
            fixture_open(&want, "interp", exact[c], (struct shade_options){.threads = 1});
            fixture_open(&got, ways[w].engine, exact[c],
                         (struct shade_options){
                             .form = ways[w].form, .level = 2, .threads = 2, .uniform_least = 1});
            for (size_t k = 0; k < sizeof ks / sizeof *ks; k++) {
                reparam(&want, colour, ks[k], ns[k]);
                reparam(&got, colour, ks[k], ns[k]);
                grid_run(&want, &points);
                grid_run(&got, &points);
                assert_same_words(&want, &got);
                assert_int_equal(want.result.message_count, got.result.message_count);
            }
            fixture_close(&want);
            fixture_close(&got);
        }
    }
}

/* Functions with an ulp bound keep the engine's own bits: it is its own text that runs once. */
static void bounded_functions_keep_their_bits(void **state)
{
    (void)state;
    static const char *const source[] = {
        "shader s(float k = 0.3, int n = 3, output color r = 0) { r = color(sin(k * n), pow(k, n), "
        "exp(k) * cos(k)) * u + spline(\"catmull-rom\", v, k, log(k + 3), tan(k), k); "
        "r += noise(\"simplex\", k * 9, n * 1.7) * v + atan2(k, n); }",
        NULL};
    const struct shade_points points = {.grid = {.width = 37, .height = 5}};
    for (size_t w = 0; w < way_number; w++) {
        struct fixture at[2] = {0};
        for (int stays = 0; stays < 2; stays++) {
            way_open(&at[stays], &ways[w], source, stays);
            grid_run(&at[stays], &points);
        }
        assert_true(shade_describe(at[0].shade)->uniform_operations >= 12);
        assert_int_equal(shade_describe(at[1].shade)->uniform_operations, 0);
        assert_same_words(&at[0], &at[1]);
        fixture_close(&at[0]);
        fixture_close(&at[1]);
    }
}

/* ---- how much -------------------------------------------------------------------------------- */

/* Counted by hand: instructions of the text that need no point; those of their values that others
 * read. */
static const struct {
    const char *const source[2];
    size_t operations, words;
} counted[] = {
    {{"shader s(output color r = 0) { r = color(u, v, u * 2); }"}, 0, 0},
    /* sqrt, +, a * a: a and a * a are read */
    {{"shader s(float k = 0.3, output color r = 0) { float a = sqrt(k) + 2; "
      "r = color(a * u, a * a * v, 0); }"},
     3,
     2},
    /* what points decide moves too: it cannot fail */
    {{"shader s(float k = 0.3, output color r = 0) { if (u > v) r[0] = k * 3; else r[1] = k - 4; "
      "}"},
     2,
     2},
    /* an argument is no work, and a call with three results is one operation */
    {{"shader s(float k = 0.3, output color r = 0) { r = noise(\"cell\", k) * u + k; "
      "float f = cellnoise(k + 1); r *= f; }"},
     3,
     4},
    /* what a loop counts is no value of the grid */
    {{"shader s(int n = 3, output color r = 0) { for (int i = 0; i < n; i++) r += u * i; }"}, 0, 0},
};

static void work_is_counted(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof counted / sizeof *counted; c++)
        for (size_t w = 0; w < way_number; w++) {
            struct fixture f = {0};
            fixture_open(
                &f, ways[w].engine, counted[c].source,
                (struct shade_options){.form = ways[w].form, .level = 2, .uniform_least = 1});
            const struct shade_info *info = shade_describe(f.shade);
            assert_int_equal(info->uniform_operations, counted[c].operations);
            assert_int_equal(info->uniform_words, counted[c].words);
            fixture_close(&f);
        }
}

/* A launch more is worth nothing for little work: each point of a device does that. */
static void devices_leave_little_work(void **state)
{
    (void)state;
    static const char *const heavy[] = {
        "shader s(float k = 0.3, output color r = 0) { r = noise(k, 1.5) * u + noise(k, 2.5) * v + "
        "sin(k) * cos(k * 3) * u; }",
        NULL};
    for (size_t w = 0; w < way_number; w++)
        for (int is_heavy = 0; is_heavy < 2; is_heavy++) {
            struct fixture f = {0};
            fixture_open(&f, ways[w].engine, is_heavy ? heavy : counted[3].source,
                         (struct shade_options){.form = ways[w].form, .level = 2});
            const size_t once = shade_describe(f.shade)->uniform_operations;
            if (is_heavy || !is_device(&ways[w]))
                assert_true(once > 0);
            else
                assert_int_equal(once, 0);
            fixture_close(&f);
        }
}

static double cpu_s(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A hundred noises that need no point: with them once, the grid costs a small part. */
static void a_heavy_uniform_part_costs_nothing(void **state)
{
    (void)state;
    struct text t = {0};
    text_puts(&t, "shader s(float k = 0.3, int n = 3, output color r = 0) { float x = 0;\n");
    for (int i = 0; i < 100; i++)
        text_printf(&t, "x += noise(k * %d.5, k + %d);\n", i, i);
    text_puts(&t, "r = x * u + v; }");
    assert_false(t.failed);
    const char *const source[] = {t.data, NULL};
    const struct shade_points points = {.grid = {.width = 256, .height = 128}, .iterations = 5};
    for (size_t w = 0; w < way_number; w++) {
        if (is_device(&ways[w])) /* a driver's threads and compilers are not to be timed */
            continue;
        struct fixture at[2] = {0};
        double took[2];
        for (int stays = 0; stays < 2; stays++) {
            way_open(&at[stays], &ways[w], source, stays);
            const double begin = cpu_s();
            grid_run(&at[stays], &points);
            took[stays] = cpu_s() - begin;
        }
        print_message("%s, %s: %.4f s once, %.4f s at each point\n", ways[w].engine,
                      shade_form_names[ways[w].form], took[0], took[1]);
        assert_true(took[0] * 3 < took[1]);
        assert_same_words(&at[0], &at[1]);
        fixture_close(&at[0]);
        fixture_close(&at[1]);
    }
    text_free(&t);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        way_add(&(struct way){argv[i], SHADE_POINT});
    for (size_t i = 0; argc == 1 && i < WAYS; i++)
        way_add(&here[i]);
    if (way_number == 0)
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_interpreters),
        cmocka_unit_test(bounded_functions_keep_their_bits),
        cmocka_unit_test(work_is_counted),
        cmocka_unit_test(devices_leave_little_work),
        cmocka_unit_test(a_heavy_uniform_part_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
