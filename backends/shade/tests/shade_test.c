/* SPDX-License-Identifier: Apache-2.0 */
/* shade_test.c: the engines of shade_open through their public door. Compiled engines give the
 * interpreter's bits wherever no function with an ulp bound is called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tiffio.h>

#include <cmocka.h>

#include "backends.h"

struct fixture {
    struct arena arena;
    struct asl_group *group;
    struct shade *shade;
    struct shade_result result;
};

static void open_text(struct fixture *f, const char *engine, const char *source,
                      const struct shade_options *opt)
{
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p;
    assert_int_equal(
        asl_compile(&f->arena, "test.asl", source, strlen(source), NULL, &diags, &p, &err), 0);
    assert_int_equal(asl_group_new(&f->arena, "g", &f->group, &err), 0);
    assert_int_equal(asl_group_layer(f->group, p, NULL, "l", NULL, &err), 0);
    assert_int_equal(asl_group_finish(f->group, &err), 0);
    enum status st = shade_open(engine, f->group, opt, &f->shade, &err);
    if (st != STATUS_OK)
        fail_msg("%s, %s: %s", engine, math_mode_name(opt ? opt->mode : MODE_STRICT), err.msg);
}

static void close_all(struct fixture *f)
{
    shade_result_free(&f->result);
    shade_close(f->shade);
    arena_free(&f->arena);
    *f = (struct fixture){0};
}

static const char *const outputs[] = {"r", NULL};
static const struct shade_points grid = {.grid = {.width = 37, .height = 5}};

static void run(struct fixture *f, const char *engine, const char *source,
                const struct shade_options *opt, const struct shade_points *points)
{
    struct error err = {0};
    struct shade_options o = opt ? *opt : (struct shade_options){0};
    o.outputs = outputs;
    open_text(f, engine, source, &o);
    assert_int_equal(shade_run(f->shade, points, &f->result, &err), STATUS_OK);
}

static bool has_llvm(void)
{
    struct device_info d;
    struct error err = {0};
    return device_find("native", &d, &err) == STATUS_OK && strstr(d.compiler, "LLVM 15");
}

static char *
    *wanted; /* engines of APIs to test alone, ending with NULL; empty: all that are here */

static bool is_wanted(const char *api)
{
    for (char **w = wanted; *w; w++)
        if (strcmp(*w, api) == 0)
            return true;
    return !*wanted;
}

static bool is_engine(const char *api)
{
    const struct shade_engine_info *e;
    for (size_t i = 0; (e = shade_engine_at(i)) != NULL; i++)
        if (e->indexed && strcmp(e->name, api) == 0)
            return true;
    return false;
}

/* Drivers of one API are handed the same by the same code of ours: where a sanitizer looks at that,
 * the last of them is enough. Its compiler there takes minutes; opencl_test asks each. */
static bool is_spare(const struct device_info *d, size_t i, size_t count)
{
    const int drivers = TEST_THINNING;
    return drivers > 1 && i + 1 < count && strcmp(d[i].api, d[i + 1].api) == 0;
}

/* "ir", "native", "llvm" and each device that runs shaders; or the devices of what is wanted. */
static size_t engines(char list[8][16])
{
    struct arena a = {0};
    struct device_info *d;
    const char *const *problems;
    size_t count, problem_count, n = 0;
    struct error err = {0};
    static const char *const processors[] = {"ir", "native", "llvm"};
    for (size_t i = 0; !*wanted && i < (has_llvm() ? 3 : 2); i++)
        (void)snprintf(list[n++], 16, "%s", processors[i]);
    assert_int_equal(devices_list(&a, false, &d, &count, &problems, &problem_count, &err), 0);
    for (size_t i = 0; i < count && n < 8; i++)
        if (is_engine(d[i].api) && is_wanted(d[i].api) && !is_spare(d, i, count))
            (void)snprintf(list[n++], 16, "%.15s", d[i].id);
    arena_free(&a);
    for (char **w = wanted; *w; w++) { /* what is asked for must be there */
        bool here = false;
        for (size_t i = 0; i < n; i++)
            here = here || strncmp(list[i], *w, strlen(*w)) == 0;
        assert_true(here);
    }
    return n;
}

/* No function with an ulp bound: the bits of the interpreter everywhere. */
static const char *const exact[] = {
    "shader s(output float r = 0) { r = Dx(sqrt(u * 3 + v)) + Dy(sqrt(u * v)); }",
    "shader s(output float r = 0) { r = u * 3 - v / (u - v) + u % 0.3; }",
    "shader s(output int r = 0) { int a = (int)(u * 1000) - 300, b = (int)(v * 7) - 3; "
    "r = a / b + a % b * 3 - (a << b) + (a >> 2) ^ (b & 5) | ~a; }",
    "shader s(output color r = 0) { if (u > 0.5) { r = color(u, v, 1); if (v > 0.5) r *= 2; } "
    "else if (v < 0.3) r = mix(color(0), color(u), v); else r[1] = u; }",
    "shader s(output float r = 0) { for (int i = 0; i < (int)(u * 20); i++) { "
    "if (i == 3) continue; if (r > 4 + v) break; r += i * v; } }",
    /* loops that all lanes leave together, within each other and where some lanes are not */
    "shader s(int n = 5, output color r = 0) { for (int i = 0; i < n; i++) { float t = u * i; "
    "for (int k = 4; k > 0; k -= 3) { if (u > v) t += k; r[1] = r[1] * 0.5 + t; } "
    "if (t > 2) r += t; else r[2] -= i; } int j = -2; "
    "if (v > 0.3) { do { r[0] = r[0] * 0.7 + j; j += 2; } while (j != 6); r[1] += j; } r += j; }",
    /* and that look so: a counter that lanes change, or begin with, or that keeps its value from a
       turn that some lanes had not; other ways out */
    "shader s(output color r = 0) { for (int i = 0; i < 9; i++) { if (u > 0.4 && i == 2) i = 6; "
    "r[0] += i; } "
    "int j = u > v ? 1 : 3; for (; j < 8; j++) r[1] += j * u; "
    "for (int i = 0; i < 6; i++) { if (i * 0.2 > u) break; r[2] += 1; } "
    "for (int i = 0; i < 7; i++) { if (r[2] > i) continue; r[0] += i * v; } int k = 0; "
    "for (int i = 0; i < 4; i++) { if (i * 0.3 > v) { if (i == 3) k = 1; else k = 0; "
    "for (; k < 5; k++) r[1] = r[1] * 0.9 + k; k = 2; } r[2] += k; } int l = 0; if (u < v) l = 2; "
    "for (; l < 5; l++) r[2] += l; }",
    "float f(float x) { if (x > 0.7) return x * 2; for (int i = 0; i < 9; i++) "
    "{ if (i * 0.1 > x) return i; } return -1; } shader s(output float r = 0) { r = f(u) + f(v); }",
    "shader s(output float r = 0) { float a[5] = {1, 2, 3, 4, 5}; int i = (int)(u * 4.9); "
    "a[i] = v; a[(i + 2) % 5] += a[i]; for (int k = 0; k < 5; k++) r = r * 2 + a[k]; }",
    "struct p { float x; color c; int n; }; shader s(output color r = 0) { p q = {u, color(v), 3}; "
    "p w = q; w.c[1] = q.x; w.n += 2; r = w.c * w.n + w.x; }",
    "shader s(output color r = 0) { r = noise(\"perlin\", P * 9) + noise(\"cell\", P * 9) "
    "+ snoise(u * 9) + noise(u * 7, v * 5) + hashnoise(P); }",
    "shader s(output color r = 0) { r = noise(\"simplex\", P * 9) + noise(\"usimplex\", u * 9, v) "
    "+ noise(\"simplex\", P * 4, u) + pnoise(P * 9, point(3, 4, 5)) + psnoise(u * 5, 2); }",
    /* rows whose cells lie near each other, far apart, anywhere, down as well as up */
    "shader s(output color r = 0) { float x = u > v ? u * -40 : u * 9; "
    "r = noise(\"perlin\", P * 60) + noise(\"perlin\", P * -12) + snoise(point(x, v, 0.3)) "
    "+ noise(\"perlin\", point(u * 4e9, v, 3)) + noise(\"simplex\", P * 60) "
    "- noise(\"simplex\", P * -9) + noise(\"simplex\", point(x, 0, x)); }",
    "shader s(output color r = 0) { point q = P * 8; r = Dx(noise(\"perlin\", q)) "
    "+ Dy(noise(\"simplex\", q, u)) + Dx(u * v * v) + filterwidth(q); }",
    "shader s(output color r = 0) { point q = P * 8; int k = (int)(u * 3.1); "
    "r = noise(\"gabor\", q, \"anisotropic\", k, \"direction\", vector(v, u, 2), \"bandwidth\", u "
    "+ 1, "
    "\"impulses\", k * 5) + Dx(noise(\"gabor\", q * v, \"do_filter\", k)); }",
    "shader s(output float r = 0) { r = pnoise(\"gabor\", P * 9, point(3, 4, 5)) "
    "+ noise(\"gabor\", u * 7) + noise(\"gabor\", u * 7, v * 5) + Dy(pnoise(\"gabor\", u * 8, 2)); "
    "}",
    "shader s(output vector r = 0) { vector a = vector(u, v, 1), b = vector(v, 1, u); "
    "r = cross(a, b) / dot(a, b) + normalize(a) * length(b) + reflect(a, b) + faceforward(a, b); }",
    /* light of the spectrum, cold, hot and beyond what a float holds of it */
    "shader s(output color r = 0, output color w = 0) { float k = floor(4096 * u), big = 1e38; r = "
    "blackbody(v < 0.2 ? k / 32 : v < 0.5 ? 20 + 4 * k : v < 0.8 ? 1e5 * k : big * k) + "
    "blackbody(1 / (u - u)); w = wavelength_color(370 + k / 9 + v); }",
    "shader s(output int r = 0) { r = hash(u) ^ hash(P) ^ hash((int)(u * 9)) ^ hash(u, v); }",
    "shader s(output float r = 0) { while (1) { r += 1; if (r > u * 30) exit(); } }",
    "shader s(output float r = 0) { r = round(u * 5 - 2) + floor(v * 5 - 2) + ceil(u * 3) "
    "+ trunc(v * 9) + fmod(u * 9, 0.7) + mod(u * 9 - 4, 0.7) + sqrt(u) + abs(u - v) + sign(u - v); "
    "}",
    "shader s(output color r = 0) { color k[5] = {color(0), color(1, 0, 0), color(0, 1, 0), "
    "color(u), color(v)}; r = spline(\"catmull-rom\", u, k) + spline(\"bspline\", v, 0, u, v, 1); "
    "}",
    "shader s(output color r = 0) { r = transformc(\"hsv\", color(u, v, 0.5)) "
    "+ transformc(\"hsl\", \"YIQ\", color(u, v, 1)) + color(\"XYZ\", u, v, 0.2); }",
    "shader s(output float r = 0) { float a = (u - 0.5) * 2.8, b = (v - 0.5) * 2.8; "
    "r = a * a - b * b; }", /* Intel's optimiser multiplies out */
    "shader s(output color r = 0) { float big = 1e38 * 1e38, bad = big - big; "
    "r = color(splineinverse(\"linear\", u, 0, 0, 1, 1), "
    "splineinverse(\"linear\", u * u * 1e-25, 0, 0, 1, 1), "
    "splineinverse(\"linear\", v, bad, u, big, 0)); }", /* crossings below 2^-64, and none */
    "shader s(output color r = 0) { float big = 1e38 * 1e38, bad = (big - big) + u; "
    "r = color(floor(bad), ceil(bad), floor(bad * u)); }", /* PoCL's floor of what it knows */
    "shader s(output float r = 0) { do { r += 0.25; for (int i = 0; i < 3; i++) "
    "if (r > u + i) break; } while (r < v * 5); }",
    /* neighbours in one cell of noise and in many, up and down, where rows of lanes share corners
     * and where they do not; cells past an int's range */
    "shader s(output color r = 0) { float f = 1; for (int k = 0; k < 9; k++) { f *= -1.7; "
    "point q = point(u * f, v * 3, k); r = r * 0.5 + snoise(q) + (float)noise(q + u) "
    "+ snoise(u * f, v) + (color)snoise(q, v); } "
    "r += snoise(point(u * 6e9 - 3e9, 0.5, v)) + snoise(point(u, -3e9 * v, 1e12)); }",
    "shader s(output color r = 0) { float f = 1; for (int k = 0; k < 9; k++) { f *= -1.7; "
    "point q = point(u * f, v * 3, k); r = r * 0.5 + pnoise(q, point(4, 3, 2)) "
    "+ psnoise(u * f, v, 1 + 3 * u, 2) + Dx((color)noise(q)) + Dy((color)snoise(q + u)); } }",
    /* splines of 12 segments, whose knots rows blend, and of 13, whose they look up; neighbours in
     * one segment and in others */
    "shader s(output color r = 0) { color k[16]; float w[40]; for (int i = 0; i < 40; i++) "
    "{ w[i] = i * v - i % 7 * u; if (i < 16) k[i] = color(u * i, i * 7 % 5 - v, i); } "
    "float x = mod(u * 7 + v, 1); r = spline(\"catmull-rom\", x, 15, k) "
    "+ spline(\"catmull-rom\", x, 16, k) + spline(\"hermite\", u, 16, k) "
    "+ Dx(spline(\"bspline\", x * x, 15, k)) + Dy(spline(\"linear\", x, 16, k)) "
    "+ spline(\"bezier\", x, 37, w) + spline(\"bezier\", v, 40, w) "
    "+ Dx(spline(\"constant\", u, 16, w)); r[1] += splineinverse(\"linear\", x, 15, w) "
    "+ splineinverse(\"linear\", x, 16, w); }",
};

/* Nothing defines the bits of a NaN. */
static bool same_word(struct asl_type t, size_t slot, uint32_t a, uint32_t b)
{
    const uint32_t infinity = 0x7f800000;
    bool nan = (a & 0x7fffffff) > infinity && (b & 0x7fffffff) > infinity;
    return a == b || (nan && asl_type_scalar(t, slot) == ASL_FLOAT);
}

/* The forms of the engine native, and each instruction over a grid. */
static void forms_have_the_same_bits(void **state)
{
    (void)state;
    static const struct {
        const char *engine;
        enum shade_form form;
    } rows[] = {{"native", SHADE_COPIES}, {"native", SHADE_POINT}, {"grid", SHADE_ROWS}};
    for (size_t k = 0; !*wanted && k < sizeof exact / sizeof *exact; k++) {
        struct fixture want = {0};
        run(&want, "interp", exact[k], NULL, &grid);
        for (size_t e = 0; e < sizeof rows / sizeof *rows; e++) {
            struct fixture f = {0};
            const struct shade_options o = {.level = 2, .form = rows[e].form};
            run(&f, rows[e].engine, exact[k], &o, &grid);
            const struct shade_output *a = want.result.outputs, *b = f.result.outputs;
            for (size_t i = 0; i < want.result.count * a->slots; i++)
                if (!same_word(a->type, i % a->slots, a->words[i], b->words[i]))
                    fail_msg("%s, %s: %s: point %zu slot %zu: %08x, interp %08x", rows[e].engine,
                             shade_form_names[rows[e].form], exact[k], i / a->slots, i % a->slots,
                             b->words[i], a->words[i]);
            close_all(&f);
        }
        close_all(&want);
    }
}

static void exact_bits(void **state)
{
    (void)state;
    char list[8][16];
    size_t n = engines(list), compared = 0;
    /* the same text for each API: every fourth shows an API's own arithmetic */
    for (size_t k = 0; k < sizeof exact / sizeof *exact; k += *wanted ? 4 : 1) {
        struct fixture want = {0};
        run(&want, "interp", exact[k], NULL, &grid);
        for (size_t e = 0; e < n; e++) {
            struct fixture f = {0};
            run(&f, list[e], exact[k], NULL, &grid);
            const struct shade_output *a = want.result.outputs, *b = f.result.outputs;
            assert_int_equal(f.result.count, 37 * 5);
            for (size_t i = 0; i < want.result.count * a->slots; i++)
                if (!same_word(a->type, i % a->slots, a->words[i], b->words[i]))
                    fail_msg("%s: %s: point %zu slot %zu: %08x, interp %08x", list[e], exact[k],
                             i / a->slots, i % a->slots, b->words[i], a->words[i]);
            compared += want.result.count * a->slots;
            close_all(&f);
        }
        close_all(&want);
    }
    assert_true(compared > 1000);
}

/* Layers of a network by their sources, all with the output r; the last one's is looked at. */
static void open_layers(struct fixture *f, const char *engine, const char *const *sources,
                        const struct shade_options *opt)
{
    struct error err = {0};
    struct asl_diags diags = {0};
    assert_int_equal(asl_group_new(&f->arena, "g", &f->group, &err), 0);
    for (int k = 0; sources[k]; k++) {
        const struct asl_program *p;
        const char name[2] = {(char)('a' + k), 0};
        enum status st = asl_compile(&f->arena, "test.asl", sources[k], strlen(sources[k]), NULL,
                                     &diags, &p, &err);
        if (st != STATUS_OK)
            fail_msg("%s: %s", sources[k], err.msg);
        assert_int_equal(asl_group_layer(f->group, p, NULL, name, NULL, &err), 0);
        if (k)
            assert_int_equal(asl_group_connect(f->group, (char[2]){(char)('a' + k - 1), 0}, "r",
                                               name, "i", &err),
                             0);
    }
    assert_int_equal(asl_group_finish(f->group, &err), 0);
    enum status st = shade_open(engine, f->group, opt, &f->shade, &err);
    if (st != STATUS_OK)
        fail_msg("%s: %s", engine, err.msg);
    assert_int_equal(shade_run(f->shade, &grid, &f->result, &err), STATUS_OK);
}

/* What shaders ask of the world around them: every engine finds what the interpreter does, and says
 * what it says. The names of all strings that are chosen at run time stand in the text. */
static const char *const worldly[][4] = {
    {"shader s(string img = \"a\", output color r = 0) { float al = 0; string m = \"\"; "
     "r = texture(img, u * 3 - 1, v, \"wrap\", \"periodic\", \"alpha\", al) + al; "
     "r += texture(\"a\", u, v, \"interp\", u > 0.5 ? \"cubic\" : \"closest\", \"wrap\", v > "
     "0.5 ? \"mirror\" : \"clamp\", \"width\", 3 * u, \"firstchannel\", 1); "
     "r += texture(u > v ? \"a\" : v > 0.7 ? \"gray\" : \"none\", u, v, \"missingcolor\", "
     "color(1, 2, 3)); "
     "color b = texture(\"gray\", u * 2, v, \"interp\", \"linear\", \"blur\", 0.01); r += Dx(b) + "
     "Dy(b); r += (color)texture(\"nothing\", u, v, \"errormessage\", m); "
     "if (m == \"there is no such image\") r[0] += strlen(m); }"},
    /* footprints of all lengths and directions, none, and beyond all numbers; a subimage that is
     * none in some places */
    {"shader s(string img = \"a\", output color r = 0) { float al = 0, k = 4 * u, x = k * (v - "
     "0.4), "
     "y = k * (u - 0.3), z = v > 0.6 ? -0.1 * y : 0.3 * k * u; "
     "color c = texture(img, u, v, x, y, z, 0.1 * x, \"wrap\", \"mirror\", \"anisotropic\", 20, "
     "\"alpha\", al); r = c + al + Dx(c) + 0.1 * Dy(al); "
     "r += texture(\"a\", u, v, x, y, z, y, \"anisotropic\", int(80 * v) - 5, \"blur\", 0.2 * u, "
     "\"swidth\", 3 * v, \"interp\", u > 0.5 ? \"cubic\" : v > 0.5 ? \"closest\" : \"linear\"); "
     "float huge = 3e38 * (1 + u), odd = u > 0.8 ? huge * 10 : v > 0.8 ? 0 * (huge * 10) : huge; "
     "r += texture(\"a\", u, v, odd, v, u, v, \"anisotropic\", 32) + texture(\"a\", 9 * u, v, 0, "
     "0.7, 0, 0, \"anisotropic\", 32, \"wrap\", \"periodic\", \"subimage\", int(3 * u)); "
     "r += environment(\"a\", vector(u - 0.3, v, 0.7), \"subimage\", int(2 * v), "
     "\"interp\", \"closest\"); }"},
    /* subimages by number and by name, known and not, there and not, of files and of a set */
    {"shader s(string img = \"a\", string part = \"second\", output color r = 0) { float al = 0; "
     "string m = \"\"; r = texture(img, u, v, \"subimage\", int(5 * u) - 1, \"wrap\", \"clamp\", "
     "\"alpha\", al, \"missingalpha\", 5) + al; "
     "color c = texture(\"a\", 2 * u, v, \"subimage\", part, \"wrap\", \"mirror\"); "
     "r += c + Dx(c) + (color)texture(u > 0.5 ? \"a\" : \"gray\", u, v, \"subimage\", v > 0.5 ? "
     "\"third\" "
     ": \"second\"); r += texture(\"a\", u, v, \"subimage\", int(9 * v), \"errormessage\", m) + "
     "strlen(m) + (color)texture(\"gray\", u, v, \"subimage\", \"third\"); "
     "r += texture(\"both\", 2.3 * u, v, \"subimage\", int(4 * v), \"missingcolor\", color(4)) + "
     "(color)texture(\"both\", 1.9 * u, v, \"subimage\", \"second\", \"wrap\", \"clamp\") + "
     "(color)texture(\"both\", u, v, \"subimage\", 3 + int(3 * u)); "
     "int n = 0, k = 0; gettextureinfo(\"a\", \"subimages\", n); gettextureinfo(\"both\", "
     "\"subimages\", k); r += n + 10 * k + (color)environment(\"a\", vector(u - 0.3, v, 0.7), "
     "\"subimage\", \"third\", \"interp\", \"closest\"); }"},
    {"shader s(output color r = 0) { int w[2], x[4], n = 7; float al = 3; color c = 5; "
     "string t = \"\", k = u > 0.5 ? \"a\" : v > 0.5 ? \"gray\" : \"none\"; "
     "int ok = gettextureinfo(k, \"resolution\", w) + 2 * gettextureinfo(k, \"datawindow\", x) + 4 "
     "* "
     "gettextureinfo(\"a\", \"averagecolor\", c) + 8 * gettextureinfo(k, \"exists\", n) + 16 * "
     "gettextureinfo(k, \"averagealpha\", al) + 32 * gettextureinfo(k, \"type\", t); "
     "r = color(w[0] + 10 * w[1], x[3], ok) + c + n + al + strlen(t); "
     "r += environment(k, vector(u - 0.31, v - 0.43, 0.7), \"interp\", \"closest\"); }"},
    {"shader s(output color r = 0) { matrix m = matrix(1, u, 0, 2, 0, 1, v, 0, 3, 0, u - v, 0, 0, "
     "0.1, 0, 1); matrix q = m / matrix(u, 2, 3, 4, 5, 7, 7, 8, 9, 1, 2, 4, 5, 6, 9, 9); "
     "matrix i = 1 / m, z = 1 / matrix(u, u, 0, 0, u, u, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1); "
     "r = color(determinant(m), i[0][1], q[1][2]) + transpose(m)[1][0] + determinant(z); "
     "r += (color)transform(m, normal(u, v, 1)) + (color)transform(z, N) + Dx((color)transform(i, "
     "P)) "
     "+ (color)transform(matrix(u, u, 0, 0, u, u, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1), normal(u, 1, v)) "
     "+ "
     "Dy((color)transform(m, vector(u * v, v, 1))); }"},
    {"shader s(string to = \"tilted\", output color r = 0) { matrix m = 7; "
     "int ok = getmatrix(to, \"flat\", m) + 2 * getmatrix(\"nowhere\", m) + 4 * "
     "getmatrix(\"common\", "
     "m); matrix k = matrix(\"flat\", to), l = matrix(to, u), n = matrix(\"tilted\", \"nowhere\"); "
     "r = color(m[0][1], k[1][2], l[2][0]) + ok + n[0][0]; "
     "r += (color)transform(\"flat\", P) + (color)transform(to, \"world\", vector(u, v, 1)) "
     "+ (color)transform(to, normal(u, v, 1)) + (color)transform(\"common\", \"nowhere\", P); "
     "r += (color)point(to, u, v, 2) + (color)vector(\"flat\", u, v, 2) + (color)normal(to, u, v, "
     "2) "
     "+ (color)normal(\"flat\", u, v, 2) + (color)point(\"nowhere\", u, v, 2); "
     "r += Dx((color)transform(to, P)) + Dy((color)point(to, u, v, u)); }"},
    {"shader s(output color r = 0) { string k = u > 0.6 ? \"perlin\" : u > 0.3 ? \"cell\" : v > "
     "0.5 ? "
     "\"simplex\" : \"wood\"; r = noise(k, P * 4); r += Dx((color)noise(k, u * 4, v * 3)); "
     "r += pnoise(k, u * 9, 3); string c = v > 0.6 ? \"hsv\" : v > 0.3 ? \"rgb\" : v > 0.2 ? "
     "\"YIQ\" : "
     "\"mud\"; r += transformc(c, color(u, v, 0.5)) + transformc(c, \"rgb\", color(u, 0.5, v)) "
     "+ color(c, u, v, 0.3); string b = u > 0.5 ? \"linear\" : v > 0.4 ? \"bspline\" : \"ruler\"; "
     "r += spline(b, v, color(0), color(u), color(1), color(v), color(1, 0, 1)) + splineinverse(b, "
     "u, 0, 0, 1, 1); string q = v > 0.4 ? \"camera\" : u > 0.5 ? \"shadow\" : c; "
     "r += raytype(q) + 2 * raytype(\"camera\"); }"},
    {"shader s(string p = \"x1.png\", output color r = 0) { string k = u > 0.6 ? \"12\" : u > 0.3 "
     "? "
     "\"-3.5e1 m\" : v > 0.5 ? p : \"\"; if (k == \"12\") r = 1; if (k) r += 2; "
     "r += color(strlen(k), stoi(k), stof(k)) + startswith(k, \"-\") + 2 * endswith(k, \".png\") + "
     "endswith(p, k) + getchar(k, 1) + (hash(k) & 255); string f = concat(substr(p, 0, 1), "
     "format(\"%d\", 3)); r += strlen(f) + hash(f) % 9; printf(\"%s %s %d\\n\", k, f, strlen(k)); "
     "}"},
    {"shader a(output float r = 0) { int z[3] = {1, 2, 3}; z[1] = (int)(u * 9); setmessage(\"c\", "
     "color(u, v, 1)); setmessage(\"z\", z); if (u > 0.5) setmessage(\"s\", v > 0.5 ? \"hi\" : "
     "\"ho\"); setmessage(\"m\", 1); r = u; }",
     "shader b(float i = 0, output color r = 0) { color c = 0, d = 9; int z[3] = {7, 7, 7}; string "
     "s = "
     "\"none\"; float f = 3; matrix q = 4; int ok = getmessage(\"c\", c) + 2 * getmessage(\"z\", "
     "z) + 4 "
     "* getmessage(\"s\", s) + 8 * getmessage(\"m\", f) + 16 * getmessage(\"c\", q) + 32 * "
     "getmessage(\"trace\", \"c\", d) + 64 * getmessage(\"late\", d); "
     "if (v > 0.5) { setmessage(\"c\", color(3)); setmessage(\"s\", \"again\"); } "
     "setmessage(\"late\", 5); for (int k = 0; k < 3; k++) ok += 128 * getmessage(\"late\", z); "
     "setmessage(\"more\", P); point p; ok += getmessage(\"more\", p); "
     "r = c + z[1] + ok + i + f + d + (s == \"hi\" ? 10 : s == \"ho\" ? 20 : 0) + (color)p + "
     "Dx(c); }"},
    /* data of the geometry, of each point and of all, and attributes */
    {"shader s(float s = 0.5 [[int lockgeom=0]], float red = 3 [[int lockgeom=0]], float green = 4 "
     "[[int lockgeom=0]], float blue = 5 [[int lockgeom=0]], color mine = 0.25 [[int lockgeom=0]], "
     "int number = 7 [[int lockgeom=0]], string name = \"x\" [[int lockgeom=0]], float arr[3] = "
     "{1, 2, 3} [[int lockgeom=0]], float absent = 2 [[int lockgeom=0]], output color r = 0) { "
     "int size[2], index = -1; float none = 9, pi = 0, more = 2, window[4] = {0, 0, 0, 0}; int ok "
     "= "
     "getattribute(\"camera:resolution\", size) + 2 * getattribute(\"shading:index\", index) + 4 * "
     "getattribute(\"no:such\", none) + 8 * getattribute(\"options\", \"blahblah\", pi) + 16 * "
     "getattribute(\"camera:screen_window\", window); if (u > 0.3) ok += 32 * getattribute(\"t\", "
     "more); r = color(s, red, green) + mine * number + arr[2] + absent + (name == \"x\"); "
     "r += blue * (Dx(s) + Dy(more) + Dx(green)) + index + window[0] + none + pi + size[0] + ok; "
     "}"},
    /* what the host is asked while points run: strings that are made, and what hangs on them */
    {"struct named { string name; int n; }; "
     "shader s(string path = \"/a/b.0001.exr\", output color r = 0) { "
     "string k = format(\"%.2f\", u), part[4] = {\"w\", \"x\", \"y\", \"z\"}; "
     "int n = split(concat(k, path), part, \"/\", 2 + (int)(v * 2)), m[4] = {9, 9, 9, 9}; "
     "n += 10 * regex_search(concat(k, path), m, \"([a-z])\\\\.([0-9]+)\"); "
     "printf(\"%s|%s|%s|%s %d %d %d\\n\", part[0], part[1], part[2], substr(k, 1, 2), n, m[2], "
     "m[3]); named q; q.name = concat(\"n\", k); q.n = strlen(q.name); string t = q.name; "
     "for (int i = 0; i < (int)(u * 4); i++) { t = concat(t, format(\"%d\", i)); "
     "part[i % 3] = t; } if (t == \"n1.000123\") q.n += 100; "
     "r = color(n, stof(k), endswith(t, \"12\")) + q.n + getchar(t, 2) + (hash(t) & 7) + "
     "stoi(part[1]) + regex_match(part[2], \"[0-9.]+n.*\"); if (u > v) error(\"at %s\", t); }"},
    {"shader s(output color r = 0) { int w[2] = {3, 4}, d = 0, x = 5; string p = \"none\"; "
     "int ok = getattribute(\"camera:projection\", p) + 2 * getattribute(format(\"camera:%s\", u > "
     "0.5 ? \"resolution\" : \"none\"), w) + 4 * getattribute(\"shader:layername\", p); "
     "printf(\"%s %d\\n\", p, ok); "
     "r = (color)transform(format(\"%sted\", u > 0.3 ? \"til\" : \"was\"), P); "
     "string to = v > 0.5 ? \"cm\" : \"furlongs\"; r += transformu(\"m\", to, u); "
     "r += noise(concat(u > 0.5 ? \"per\" : \"sim\", u > 0.5 ? \"lin\" : \"plex\"), P * 3); "
     "r += transformc(concat(\"h\", v > 0.5 ? \"sv\" : \"zz\"), color(u, v, 0.3)); "
     "r += (float)spline(format(\"lin%s\", v > 0.2 ? \"ear\" : \"en\"), u, 0, 1, 2, 3); "
     "displace(0.1 * u); r += (color)P + (color)N; bump(0.2 * v * u); r += (color)N; "
     "int at = dict_find(\"<a><b x='3'/><b x='7'/></a>\", format(\"//b[%d]\", 1 + (u > 0.5))); "
     "if (dict_value(at, \"x\", x)) r += x; "
     "r += gettextureinfo(\"a\", concat(\"reso\", u > 0.7 ? \"lution\" : \"rt\"), w) + w[0]; "
     "r += texture(concat(\"\", u > 0.4 ? \"a\" : \"zzz\"), u, v, \"wrap\", format(\"%s\", u > 0.6 "
     "? \"mirror\" : \"clamp\"), \"missingcolor\", color(3, 2, 1)) + raytype(concat(\"cam\", v > "
     "0.5 ? \"era\" : \"eo\")); }"},
    {"shader a(output float r = 0) { setmessage(\"t\", format(\"%g\", u)); r = u; }",
     "shader b(float i = 0, output color r = 0) { string t = \"\"; if (getmessage(\"t\", t)) "
     "r = strlen(t) + i; printf(\"%s\\n\", t); }"},
};

static void same_as_interp(const char *engine, const struct fixture *want, const struct fixture *f,
                           const char *text)
{
    const struct shade_output *a = want->result.outputs, *b = f->result.outputs;
    for (size_t i = 0; i < want->result.count * a->slots; i++)
        if (!same_word(a->type, i % a->slots, a->words[i], b->words[i]))
            fail_msg("%s: %s: point %zu slot %zu: %08x, interp %08x", engine, text, i / a->slots,
                     i % a->slots, b->words[i], a->words[i]);
    for (size_t i = 0; i < want->result.message_count && i < f->result.message_count; i++) {
        const struct shade_message *x = &want->result.messages[i], *y = &f->result.messages[i];
        if (x->point != y->point || x->kind != y->kind || strcmp(x->text, y->text) != 0)
            fail_msg("%s: %s: point %zu says '%s', interp at %zu '%s'", engine, text, y->point,
                     y->text, x->point, x->text);
    }
    assert_int_equal(f->result.message_count, want->result.message_count);
}

static void the_world(void **state)
{
    (void)state;
    enum { W = 7, H = 5 };
    static float rgba[W * H * 4], gray[3 * 2];
    struct shader_image images[3] = {
        {.name = "a", .next = &images[1]}, {.name = "gray", .next = &images[2]}, {.name = "both"}};
    const struct shader_images all = {.first = images};
    /* tilted: with a projective part; flat: without an inverse */
    const struct shade_space spaces[] = {
        {"tilted", {1, 0.5f, 0, 0.125f, 0, 2, 0.25f, 0, 0.75f, 0, 1, 0, 1, 2, 3, 1}},
        {"flat", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4, 5, 6, 1}}};
    struct shade_options o = {
        .outputs = outputs, .images = &all, .spaces = spaces, .space_count = 2};
    const struct shade_userdata data[] = {{"mine", 3, {0.5f, 0.25f, 1}}, {"number", 1, {11}}};
    o.userdata = data;
    o.userdata_count = 2;
    struct arena a = {0};
    struct error err = {0};
    for (int i = 0; i < W * H * 4; i++)
        rgba[i] = (float)((i * 37 + 11) % 64) / 64;
    for (int i = 0; i < 6; i++)
        gray[i] = (float)((i * 5 + 1) % 7) / 8;
    assert_int_equal(asl_image_build(&a, W, H, 4, rgba, &images[0].image, &err), 0);
    assert_int_equal(asl_image_build(&a, 3, 2, 1, gray, &images[1].image, &err), 0);
    /* "a" has four subimages, one of which cannot be read; "both" is a set of "gray" and "a" */
    struct asl_image more[3] = {{.subimage_name = "broken"}};
    const struct asl_image *tiles[ASL_TILES] = {&images[1].image, &images[0].image};
    assert_int_equal(asl_image_build(&a, 3, 2, 1, gray, &more[1], &err), 0);
    assert_int_equal(asl_image_build(&a, 4, 3, 3, rgba + 5, &more[2], &err), 0);
    more[1].subimage_name = "second";
    more[2].subimage_name = "third";
    images[0].image.subimage_count = 4;
    images[0].image.more = more;
    images[2].image = images[1].image;
    images[2].image.subimage_count = 4;
    images[2].image.tiles = tiles;
    char list[8][16];
    size_t n = engines(list);
    for (size_t k = 0; k < sizeof worldly / sizeof *worldly; k++) {
        struct fixture want = {0};
        o.level = 2 * (k % 2); /* with parameters that are known early, and not */
        open_layers(&want, "interp", worldly[k], &o);
        for (size_t e = 0; e < n; e++) {
            struct fixture f = {0};
            open_layers(&f, list[e], worldly[k], &o);
            same_as_interp(list[e], &want, &f, worldly[k][0]);
            close_all(&f);
        }
        close_all(&want);
    }
    arena_free(&a);
}

/* A pyramid of floats, a directory a level: channel c of level l is level_color(l, c) throughout,
 * which no filter makes of another level's. */
static float level_color(uint32_t level, uint32_t c)
{
    return (float)(1 + level * level) + (float)c / 4;
}

static void write_pyramid(const char *path, const uint32_t (*sizes)[2], uint32_t count)
{
    enum { TILE = 16 };
    float tile[TILE * TILE * 3];
    TIFF *t = TIFFOpen(path, "w");
    assert_non_null(t);
    for (uint32_t l = 0; l < count; l++) {
        for (uint32_t i = 0; i < TILE * TILE * 3; i++)
            tile[i] = level_color(l, i % 3);
        TIFFSetField(t, TIFFTAG_IMAGEWIDTH, sizes[l][0]);
        TIFFSetField(t, TIFFTAG_IMAGELENGTH, sizes[l][1]);
        TIFFSetField(t, TIFFTAG_TILEWIDTH, TILE);
        TIFFSetField(t, TIFFTAG_TILELENGTH, TILE);
        TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 3);
        TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32);
        TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
        TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
        TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
        assert_int_equal(TIFFWriteEncodedTile(t, 0, tile, sizeof tile), sizeof tile);
        assert_int_equal(TIFFWriteDirectory(t), 1);
    }
    TIFFClose(t);
}

/* Every engine, the interpreter too, finds the levels that a file holds: their colours as they
 * stand, and between two levels the blend. All numbers here are exact in binary32. The footprint is
 * given as changes of s, of t, and as a blur. */
static void levels_of_files(void **state)
{
    (void)state;
    static const uint32_t down[][2] = {{8, 8}, {4, 4}, {2, 2}, {1, 1}},
                          up[][2] = {{8, 3}, {4, 2}, {2, 1}, {1, 1}};
    static const struct {
        const uint32_t (*sizes)[2];
        uint32_t count, given; /* of its levels; those after `given` are made of the last */
        bool tall;             /* its height is a power of two as well */
    } files[] = {{down, 4, 4, true},
                 {down, 4, 2, true},
                 {down, 4, 1, true},
                 {up, 4, 4, false},
                 {up, 4, 3, false}};
    /* in texels, and what they show: 1 - share of a level, and share of the next one */
    static const struct {
        float rho;
        uint32_t level;
        float share;
    } steps[9] = {{0.5f, 0, 0}, {1, 0, 0},     {1.25f, 0, 0.25f}, {2, 1, 0}, {3, 1, 0.5f},
                  {4, 2, 0},    {7, 2, 0.75f}, {8, 3, 0},         {99, 3, 0}};
    const struct shade_points points = {.grid = {.width = 9, .height = 5}}; /* u = x/8, v = y/4 */
    char path[64], source[1024], list[8][16];
    (void)snprintf(path, sizeof path, "/tmp/isophote-shade-%d.tx", (int)getpid());
    size_t n = engines(list);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        struct fixture group = {0};
        struct shader_images images = {0};
        struct error err = {0};
        write_pyramid(path, files[k].sizes, files[k].given);
        (void)snprintf(
            source, sizeof source,
            "shader s(output color r = 0) { float rho[9] = {0.5, 1, 1.25, 2, 3, 4, 7, 8, 99}; "
            "float d = rho[(int)(u * 8)] / 8; string wrap = \"clamp\"; "
            "if (v < 0.25) r = texture(\"%s\", u, v, d, 0, 0, 0, \"interp\", \"linear\", "
            "\"wrap\", \"clamp\"); "
            "else if (v < 0.5) r = texture(\"%s\", u, v, 0, 0, d, 0, \"interp\", \"linear\", "
            "\"wrap\", \"clamp\"); "
            "else if (v < 0.75) r = texture(\"%s\", u, v, 0, 0, %s, \"interp\", \"linear\", "
            "\"wrap\", \"clamp\"); "
            "else r = texture(\"%s\", u, v, 0, 0, 0, 0, \"sblur\", d, \"interp\", \"linear\", "
            "\"wrap\", wrap); }",
            path, path, path, files[k].tall ? "0, -d" : "-d, 0", path);
        open_text(&group, "interp", source, NULL);
        assert_int_equal(shader_images_load(&group.arena, "", group.group, &images, &err), 0);
        assert_int_equal(unlink(path), 0);
        for (size_t e = 0; e <= n; e++) {
            const char *engine = e < n ? list[e] : "interp";
            struct fixture f = {0};
            run(&f, engine, source, &(struct shade_options){.images = &images}, &points);
            assert_int_equal(f.result.message_count, 0);
            for (size_t i = 0; i < f.result.count * 3; i++) {
                size_t step = i / 3 % 9;
                uint32_t last = files[k].given - 1, c = (uint32_t)(i % 3);
                uint32_t level = steps[step].level, next = level < 3 ? level + 1 : level;
                float a = level_color(level < last ? level : last, c),
                      b = level_color(next < last ? next : last, c), share = steps[step].share,
                      want = (1 - share) * a + share * b;
                if (memcmp(&want, &f.result.outputs->words[i], sizeof want) != 0)
                    fail_msg("%s, file %zu: point %zu: %08x, expected %g", engine, k, i / 3,
                             f.result.outputs->words[i], (double)want);
            }
            close_all(&f);
        }
        close_all(&group);
    }
}

/* A part of a grid has the numbers that it has in the whole: positions, data and messages. */
static void part_of_a_grid(void **state)
{
    (void)state;
    enum { FIRST = 50, COUNT = 70 };
    static const char source[] =
        "shader s(float green = 4 [[int lockgeom=0]], output color r = 0) { int index = -1; "
        "getattribute(\"shading:index\", index); r = color(u + v, green, index); "
        "if (index % 16 == 3) printf(\"%d\\n\", index); }";
    const struct shade_points part = {.grid = grid.grid, .first = FIRST, .count = COUNT};
    char list[8][16];
    size_t n = engines(list);
    struct fixture whole = {0};
    run(&whole, "interp", source, NULL, &grid);
    for (size_t e = 0; e <= n; e++) {
        struct fixture f = {0};
        size_t said = 0;
        run(&f, e < n ? list[e] : "interp", source, NULL, &part);
        assert_int_equal(f.result.count, COUNT);
        assert_memory_equal(f.result.outputs->words,
                            whole.result.outputs->words + (size_t)3 * FIRST,
                            sizeof(uint32_t) * 3 * COUNT);
        for (size_t i = 0; i < whole.result.message_count; i++) {
            const struct shade_message *m = &whole.result.messages[i];
            if (m->point < FIRST || m->point >= FIRST + COUNT)
                continue;
            assert_true(said < f.result.message_count);
            assert_int_equal(f.result.messages[said].point, m->point);
            assert_string_equal(f.result.messages[said++].text, m->text);
        }
        assert_int_equal(f.result.message_count, said);
        close_all(&f);
    }
    close_all(&whole);
}

/* Modes other than strict may contract, and fast blends the corners of a row in another order.
 * Noise is then off by what rounds, u being 2^-24:
 *
 *   a fade                  17 u   its polynomial's steps reach 15 and 10
 *   fades of a value       408 u   in three dimensions, on both sides, times 4, what two corners
 *                                  differ by at most
 *   products and blends    100 u   of numbers up to 2
 * Products with powers of two are exact, so that both sides see one point. */
static void loose_noise(void **state)
{
    (void)state;
    static const char text[] =
        "shader s(output color r = 0) { float f = 0.25; for (int i = 0; i < (int)(v * 12.5); i++) "
        "f *= -2; r = snoise(point(u * f + 0.25, v * 4, 0.625)); r[2] = snoise(P * f); }";
    static const char *const by_processor[] = {"native", "llvm"};
    const struct shade_points rows = {.grid = {.width = 37, .height = 13}};
    const float bound = 0x1p-15f;
    struct fixture want = {0};
    run(&want, "interp", text, NULL, &rows);
    for (size_t e = 0; e < (*wanted ? 0u : has_llvm() ? 2u : 1u); e++)
        for (enum math_mode mode = MODE_DEVICE; mode <= MODE_FAST; mode++) {
            struct fixture f = {0};
            run(&f, by_processor[e], text, &(struct shade_options){.mode = mode}, &rows);
            for (size_t i = 0; i < f.result.count * 3; i++) {
                float a, b;
                memcpy(&a, &want.result.outputs->words[i], sizeof a);
                memcpy(&b, &f.result.outputs->words[i], sizeof b);
                if (!(a - b <= bound && b - a <= bound))
                    fail_msg("%s, %s: point %zu: %g, interp %g", by_processor[e],
                             math_mode_name(mode), i / 3, (double)b, (double)a);
            }
            close_all(&f);
        }
    close_all(&want);
}

/* Texts and their order; strings as outputs; what a device cannot do is refused with its place. */
static void messages(void **state)
{
    (void)state;
    static const char source[] =
        "shader s(output float r = 0) {\n"
        "int i = (int)(u * 3.5); printf(\"%d %g\\n\", i, v);\n"
        "if (i == 2) warning(\"two\"); if (v > 0.5) error(\"high %d\", i); r = i; }";
    struct shade_points p = {.grid = {.width = 4, .height = 3}};
    char list[8][16];
    size_t n = engines(list);
    struct fixture want = {0};
    run(&want, "interp", source, NULL, &p);
    assert_int_equal(want.result.message_count, 12 + 1 + 4);
    for (size_t e = 0; e < n; e++) {
        struct fixture f = {0};
        run(&f, list[e], source, NULL, &p);
        assert_int_equal(f.result.message_count, want.result.message_count);
        for (size_t i = 0; i < want.result.message_count; i++) {
            const struct shade_message *a = &want.result.messages[i], *b = &f.result.messages[i];
            assert_int_equal(a->point, b->point);
            assert_int_equal(a->kind, b->kind);
            assert_string_equal(a->text, b->text);
        }
        close_all(&f);
    }
    close_all(&want);
}

static void strings(void **state)
{
    (void)state;
    static const char source[] = "shader s(string who = \"you\", output string r = \"\") {\n"
                                 "r = format(\"%s%d\", who, (int)(u * 2)); }";
    static const char refused[] = "shader s(output string r = \"\") {\n"
                                  "setmessage(r = format(\"%g\", u), 1); }";
    struct fixture f = {0}, g = {0};
    struct error err = {0};
    struct shade_points p = {.grid = {.width = 4, .height = 1}};
    run(&f, "native", source, NULL, &p);
    static const uint32_t want[] = {0, 0, 1, 2};
    assert_memory_equal(f.result.outputs[0].words, want, sizeof want);
    assert_string_equal(f.result.strings[1], "you1");
    shade_result_free(&f.result);
    assert_int_equal(asl_group_reparam(f.group, "l", NULL, "who", "me", &err), STATUS_OK);
    assert_int_equal(shade_run(f.shade, &p, &f.result, &err), STATUS_OK);
    assert_string_equal(f.result.strings[2], "me2");
    close_all(&f);
    char list[8][16];
    size_t n = engines(list);
    for (size_t e = 0; e < n; e++) {
        run(&f, list[e], source, NULL, &p);
        assert_memory_equal(f.result.outputs[0].words, want, sizeof want);
        assert_string_equal(f.result.strings[1], "you1");
        close_all(&f);
        if (!strchr(list[e], ':')) /* the processor's engines lack nothing */
            continue;
        run(&g, "interp", refused, NULL, &p);
        struct shade *s = NULL;
        struct shade_options o = {.outputs = outputs};
        assert_int_equal(shade_open(list[e], g.group, &o, &s, &err), STATUS_UNSUPPORTED);
        assert_int_equal(err.line, 2);
        assert_null(s);
        close_all(&g);
    }
}

/* A point asks the host as often as its loops turn; one that would never end is told so. */
static void questions(void **state)
{
    (void)state;
    static const char source[] =
        "shader s(output string r = \"\") {\n"
        "for (int i = 0; i <= 20 * (int)(u * 3.5); i++) r = concat(r, format(\"%d\", i % 10)); }";
    static const char endless_one[] = "shader s(output float r = 0) {\n"
                                      "string t = \"\"; for (int i = 0; i >= 0; i++)\n"
                                      "{ t = format(\"%d\", i); r = strlen(t); } }";
    struct shade_points p = {.grid = {.width = 4, .height = 2}};
    char list[8][16];
    size_t n = engines(list);
    struct fixture want = {0}, f = {0};
    run(&want, "interp", source, NULL, &p);
    assert_string_equal(want.result.strings[want.result.outputs[0].words[1]],
                        "012345678901234567890");
    for (size_t e = 0; e < n; e++) {
        run(&f, list[e], source, NULL, &p);
        for (size_t i = 0; i < want.result.count; i++)
            assert_string_equal(f.result.strings[f.result.outputs[0].words[i]],
                                want.result.strings[want.result.outputs[0].words[i]]);
        close_all(&f);
        if (!strchr(list[e], ':'))
            continue;
        struct shade_options few = {.step_budget = 100};
        run(&f, list[e], endless_one, &few, &p);
        assert_int_equal(f.result.failure_count, 1);
        assert_int_equal(f.result.failures[0].error.line, 2);
        close_all(&f);
    }
    close_all(&want);
}

/* A changed parameter is seen without compiling; baked ones by compiling again. */
static void parameters(void **state)
{
    (void)state;
    static const char source[] = "shader s(float k = 2, output float r = 0) { r = k * (1 + u); }";
    char list[8][16];
    size_t n = engines(list);
    assert_true(n > 0);
    for (size_t e = 0; n && e < 2 * n; e++) {
        struct fixture f = {0};
        struct error err = {0};
        struct shade_options o = {.bake = e >= n};
        struct shade_points one = {.grid = {.width = 1, .height = 1}};
        float v;
        run(&f, list[e % n], source, &o, &one);
        memcpy(&v, f.result.outputs[0].words, sizeof v);
        assert_true(v == 3);
        shade_result_free(&f.result);
        assert_int_equal(asl_group_reparam(f.group, "l", NULL, "k", "5.0", &err), STATUS_OK);
        assert_int_equal(shade_run(f.shade, &one, &f.result, &err), STATUS_OK);
        memcpy(&v, f.result.outputs[0].words, sizeof v);
        assert_true(v == 7.5f);
        close_all(&f);
    }
}

/* One point of many loops for ever: it fails, with its place; the others have their values. */
static void endless(void **state)
{
    (void)state;
    static const char source[] = "shader s(output float r = 1) {\nif (u == 0.5 && v == 0)\n"
                                 "while (u > 0) r += 1;\nr = 2 * u; }";
    char list[8][16];
    size_t n = engines(list);
    struct shade_options o = {.step_budget = 10000, .keep_going = true};
    struct shade_points p = {.grid = {.width = 33, .height = 2}};
    for (size_t e = 0; e < n; e++) {
        struct fixture f = {0};
        run(&f, list[e], source, &o, &p);
        assert_int_equal(f.result.failure_count, 1);
        assert_int_equal(f.result.failures[0].point, 16);
        assert_int_equal(f.result.failures[0].error.code, STATUS_TIMEOUT);
        assert_int_equal(f.result.failures[0].error.line, 3);
        for (size_t i = 0; i < 66; i++) {
            float want = 2 * ((float)(i % 33) / 32), v;
            memcpy(&v, &f.result.outputs[0].words[i], sizeof v);
            if (i != 16)
                assert_true(v == want);
        }
        close_all(&f);
    }
}

/* An array of points gives what the same grid gives. */
static void listed(void **state)
{
    (void)state;
    static const char source[] = "shader s(output color r = 0) { r = color(u, v, Dx(u)) + P + N "
                                 "+ Dy(P) + surfacearea() + raytype(\"shadow\"); }";
    char list[8][16];
    size_t n = engines(list);
    struct shade_grid g = {.width = 19, .height = 3, .vary_p = true, .vary_v = true, .raytype = 2};
    struct shade_points p = {.grid = g}, q = {.count = 57};
    struct asl_globals *all = calloc(57, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < 57; i++)
        shade_grid_globals(&g, i, &all[i]);
    q.globals = all;
    struct fixture want = {0};
    run(&want, "interp", source, NULL, &p);
    for (size_t e = 0; e < n; e++) {
        for (int k = 0; k < 2; k++) {
            struct fixture f = {0};
            run(&f, list[e], source, NULL, k ? &q : &p);
            assert_memory_equal(f.result.outputs[0].words, want.result.outputs[0].words,
                                57 * 3 * sizeof(uint32_t));
            close_all(&f);
        }
    }
    close_all(&want);
    free(all);
}

/* Every engine has the interpreter's slopes of P, u and v, whatever of them varies over the grid.
 * Those of P are of a grid from edge to edge, its points being centres or not. */
static void slopes_of_grids(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "shader s(output color r = 0) { r = Dx(P); }",
        "shader s(output color r = 0) { r = Dy(P); }",
        "shader s(output color r = 0) { r = color(Dx(u), Dy(v), 2 * Dy(u) + Dx(v)); }",
        "shader s(output color r = 0) { r = noise(\"gabor\", v, P[0]); }"};
    static const struct shade_grid grids[] = {
        {.width = 27, .height = 5, .scale = {-31, 7}, .center = true},
        {.width = 27, .height = 5, .scale = {-31, 7}, .vary_u = true},
        {.width = 27, .height = 5, .scale = {-31, 7}, .vary_v = true},
        {.width = 27, .height = 5, .vary_p = true, .center = true},
        {.width = 1, .height = 4, .offset = {0.25, -3}}};
    char list[8][16];
    size_t n = engines(list);
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
        for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
            const struct shade_points points = {.grid = grids[g]};
            struct fixture want = {0};
            run(&want, "interp", sources[s], NULL, &points);
            for (size_t i = 0; g < 3 && s < 2 && i < want.result.count; i++) {
                float slope[3] = {0};
                slope[s] = s ? 7.0f / 4 : -31.0f / 26;
                assert_memory_equal(want.result.outputs->words + 3 * i, slope, sizeof slope);
            }
            for (size_t e = 0; e < n; e++) {
                struct fixture f = {0};
                run(&f, list[e], sources[s], NULL, &points);
                same_as_interp(list[e], &want, &f, sources[s]);
                close_all(&f);
            }
            close_all(&want);
        }
}

static void bad_use(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct error err = {0};
    struct shade *s = NULL;
    static const char *const none[] = {"nothing", NULL};
    struct shade_options o = {.outputs = none};
    open_text(&f, "interp", "shader s(output float r = 0) { r = u; }", NULL);
    assert_int_equal(shade_open("abacus", f.group, NULL, &s, &err), STATUS_ARG);
    assert_non_null(strstr(err.msg, "native"));
    assert_int_equal(shade_open("native:1", f.group, NULL, &s, &err), STATUS_ARG);
    assert_int_equal(shade_open("native", f.group, &o, &s, &err), STATUS_ARG);
    assert_int_equal(shade_open("opencl:99", f.group, NULL, &s, &err), STATUS_MISSING);
    assert_null(s);
    close_all(&f);
}

int main(int argc, char **argv)
{
    wanted = argv + (argc > 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_bits),
        cmocka_unit_test(the_world),
        cmocka_unit_test(forms_have_the_same_bits),
        cmocka_unit_test(part_of_a_grid),
        cmocka_unit_test(loose_noise),
        cmocka_unit_test(messages),
        cmocka_unit_test(strings),
        cmocka_unit_test(questions),
        cmocka_unit_test(parameters),
        cmocka_unit_test(endless),
        cmocka_unit_test(listed),
        cmocka_unit_test(slopes_of_grids),
        cmocka_unit_test(levels_of_files),
        cmocka_unit_test(bad_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
