/* SPDX-License-Identifier: Apache-2.0 */
/* Shaders joined to the kernel: what they emit arrives, parameters are no part of the text, and
 * what cannot run says where it stands. */
#include "api/backend_api.h"
#include "device/features.h"
#include "shade/shade_scene.h"
#include "tests/test_scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A wall before the camera; %s: its materials "left" and "right". */
static struct scene *wall(const char *left, const char *right)
{
    char text[16384];
    (void)snprintf(
        text, sizeof text,
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 20},"
        "\"film\": {\"width\": 8, \"height\": 8}, \"render\": {\"spp\": 1, \"max_depth\": 2},"
        "\"environment\": {\"radiance\": 0.5}, \"materials\": {\"left\": %s, \"right\": %s},"
        "\"objects\": ["
        "{\"type\": \"rectangle\", \"material\": \"left\", \"transform\": [{\"translate\": [-1, 0, "
        "0]}]},"
        "{\"type\": \"rectangle\", \"material\": \"right\", \"transform\": [{\"translate\": [1, 0, "
        "0]}]}]}",
        left, right);
    return scene_from_text(text);
}

#define GLOW(parameter)                                                                            \
    "{\"type\": \"shader\", \"emission_bound\": 8, \"parameters\": {\"k\": " parameter "},"        \
    "\"source\": \"surface glow(float k = 1) { Ci = k * emission(); }\"}"

static enum status render(struct device *d, struct scene *s, struct film *film, struct error *err)
{
    const struct render_job job = {
        .width = 8, .height = 8, .sample_count = 1, .max_depth = 2, .rr_depth = 2};
    must(film_init(film, 8, 8, film_exponent(s), err), err);
    return device_render(d, &job, film, true, NULL, err);
}

/* A device built for the scene by that code path. */
static struct device *built(const char *id, const struct scene *s, enum code_path code)
{
    struct error err = {0};
    struct device *d = NULL;
    must(device_open(id, &d, &err), &err);
    must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
    const struct build_settings settings = {.mode = MODE_STRICT, .code = code};
    enum status st = device_build(d, &settings, NULL, &err);
    if (st == STATUS_UNSUPPORTED || st == STATUS_MISSING) {
        print_message("%s, %s: %s\n", id, code_path_name(code), err.msg);
        device_close(d);
        skip();
    }
    must(st, &err);
    return d;
}
static struct device *native_ready(const struct scene *s, enum code_path code)
{
    return built("native", s, code);
}

/* Halves and doubles are exact: each half of the film holds its own parameter. */
static void emission_arrives(void **state)
{
    const enum code_path *code = *state;
    struct error err = {0};
    struct scene *s = wall(GLOW("0.25"), GLOW("4"));
    struct device *d = native_ready(s, *code);
    struct film film = {0};
    must(render(d, s, &film, &err), &err);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            const double k = x < 4 ? 0.25 : 4;
            const int64_t *sum = film.sums + 4 * (8 * y + x);
            for (int c = 0; c < 3; c++)
                assert_true(ldexp((double)sum[c], -film.exponent) == k);
            assert_int_equal(sum[3], 1);
        }
    film_free(&film);
    device_close(d);
    scene_free(s);
}

#define SLOPES(pairs)                                                                              \
    "surface slopes(string file = \\\"\\\") {"                                                     \
    "float s = 0.3 + 0.4 * u, t = 0.3 + 0.4 * v, a = 0, h = texture(file, s, t, " pairs            \
    "\\\"wrap\\\", \\\"clamp\\\", \\\"alpha\\\", a);"                                              \
    "float x = Dx(h) - (48 * Dx(s) - 16 * Dx(t)), y = Dy(h) - (48 * Dy(s) - 16 * Dy(t));"          \
    "Ci = (fabs(x) + fabs(y) + fabs(Dx(a)) < 1e-4 && Dx(h) != 0) * emission(); }"

/* Shaders whose emission is 1 where what they ask of the image `file` is right; it has the texels
 * 3x - 2y, 16 columns and 8 rows, and is called `asked` behind its name by them. */
static void all_glow(const char *id, enum code_path code, const char *left, const char *right,
                     const char *ending, const char *asked)
{
    struct error err = {0};
    char name[64], named[64], a[4096], b[4096];
    float texels[16 * 8];
    for (int i = 0; i < 16 * 8; i++)
        texels[i] = 3 * (float)(i % 16) - 2 * (float)(i / 16);
    (void)snprintf(name, sizeof name, "shade_scene_test.%ld%s", (long)getpid(), ending);
    (void)snprintf(named, sizeof named, "shade_scene_test.%ld%s", (long)getpid(), asked);
    const struct image_channel y = {"Y", texels, 1};
    must(image_write_exr(name, 16, 8, &y, 1, NULL, &err), &err);
    static const char form[] =
        "{\"type\": \"shader\", \"parameters\": {\"file\": \"%s\"}, \"source\": \"%s\"}";
    (void)snprintf(a, sizeof a, form, named, left);
    (void)snprintf(b, sizeof b, form, named, right);
    struct scene *s = wall(a, b);
    (void)remove(name);
    struct device *d = built(id, s, code);
    struct film film = {0};
    must(render(d, s, &film, &err), &err);
    for (int p = 0; p < 8 * 8; p++)
        if (ldexp((double)film.sums[4 * p], -film.exponent) != 1)
            fail_msg("%s, pixel %d, %d does not glow: %s", id, p % 8, p / 8, p % 8 < 4 ? a : b);
    film_free(&film);
    device_close(d);
    scene_free(s);
}

#define FACTS                                                                                      \
    "surface facts(string file = \\\"\\\", string none = "                                         \
    "\\\"none.exr\\\") { int r[3], w[4], n = 5, e = 5, m = 5; float a = 5, b = u; color c = 0; "   \
    "string t = \\\"\\\"; vector d = v; int i = int(2 * u) / 2;"                                   \
    "int ok = gettextureinfo(file, \\\"resolution\\\", r) + gettextureinfo(file, "                 \
    "\\\"datawindow\\\", w) + gettextureinfo(file, 0.5, 0.5, \\\"channels\\\", n) + "              \
    "gettextureinfo(none, \\\"exists\\\", e) + gettextureinfo(file, \\\"averagecolor\\\", c) + "   \
    "gettextureinfo(file, \\\"averagealpha\\\", a) + gettextureinfo(file, \\\"type\\\", t);"       \
    "int no = gettextureinfo(none, \\\"channels\\\", m) + gettextureinfo(none, "                   \
    "\\\"averagealpha\\\", "                                                                       \
    "b) + gettextureinfo(none, \\\"averagecolor\\\", d) + gettextureinfo(file, \\\"weight\\\", "   \
    "m) + "                                                                                        \
    "gettextureinfo(file, \\\"datawindow\\\", r);"                                                 \
    "string said = t, unsaid = t; c += texture(none, u, v, \\\"errormessage\\\", said);"           \
    "float f = 0; f = texture(file, u, v, \\\"errormessage\\\", unsaid);"                          \
    "Ci = (said == \\\"there is no such image\\\" && unsaid == \\\"\\\" && f != 0 && ok == 7 && "  \
    "no == 0 && r[i] == 16 && r[1 + i] == 8 && r[2] == 1 && w[0] == 0 && w[1] "                    \
    "== 0 && w[2] == 15 && w[3] == 7 && n == 1 && e == 0 && m == 5 && b == u && Dx(b) == Dx(u) "   \
    "&& d == v && c == 15.5 && a == 1 && t == \\\"Plain Texture\\\") * emission(); }"

/* A set of images whose only one is number 1012: column 1, row 1. */
#define TILES(pairs)                                                                               \
    "surface tiles(string file = \\\"\\\") {"                                                      \
    "float s = 0.3 + 0.4 * u, t = 0.3 + 0.4 * v, h = texture(file, s + 1, t + 1, " pairs           \
    "\\\"wrap\\\", \\\"clamp\\\");"                                                                \
    "float value = h - (3 * (16 * s - 0.5) - 2 * (8 * t - 0.5));"                                  \
    "float x = Dx(h) - (48 * Dx(s) - 16 * Dx(t)), a = 0; color m = color(3, 4, 5);"                \
    "color c = texture(file, s, t + 1, \\\"missingcolor\\\", m, \\\"missingalpha\\\", 7, "         \
    "\\\"alpha\\\", a);"                                                                           \
    "color d = texture(file, s + 10, t + 1, \\\"missingcolor\\\", m), e = texture(file, s - 3, "   \
    "t + 1, \\\"missingcolor\\\", m);"                                                             \
    "int r[2] = {0, 0}, n = 0, ok = gettextureinfo(file, \\\"resolution\\\", r) + "                \
    "gettextureinfo(file, \\\"exists\\\", n);"                                                     \
    "Ci = (fabs(value) < 1e-4 && fabs(x) < 1e-4 && c == m && a == 7 && d == m && e == m && "       \
    "Dx(c) == 0 && r[0] == 16 && r[1] == 8 && n == 1 && ok == 2) * emission(); }"

/* All spaces of a scene are common; others are unknown, and what they are asked for stays. */
#define SPACES                                                                                     \
    "surface spaces(string file = \\\"\\\", string from = \\\"object\\\") {"                       \
    "matrix m = 3, n = u, k = 5; int a = getmatrix(\\\"object\\\", m), b = getmatrix(from, "       \
    "\\\"shader\\\", n), c = getmatrix(\\\"camera\\\", k) + getmatrix(\\\"common\\\", "            \
    "\\\"nowhere\\\", k); point p = transform(matrix(from, \\\"world\\\"), P);"                    \
    "Ci = (a == 1 && b == 1 && c == 0 && m == 1 && n == 1 && k == 5 && p == P && "                 \
    "matrix(\\\"nowhere\\\", from) == 1) * emission(); }"

/* What a scene knows of a hit, and of the camera that looks at the wall; what it does not stays. */
#define ATTRIBUTES                                                                                 \
    "surface attributes(string file = \\\"\\\") { int k = 5, n = 5, at = 0, r[2], x = 0, q = 5; "  \
    "float w[4], f = 0, a = 0, s = u / 2, t = 0; string p = file; color c = v; int ok = "          \
    "getattribute(\\\"path:ray_depth\\\", k) + getattribute(\\\"object:index\\\", n) + "           \
    "getattribute(\\\"shading:index\\\", at) + getattribute(\\\"camera:resolution\\\", r) + "      \
    "getattribute(\\\"camera:screen_window\\\", w) + getattribute(\\\"camera:fov\\\", f) + "       \
    "getattribute(\\\"camera:pixelaspect\\\", a) + getattribute(\\\"camera:projection\\\", p) + "  \
    "getattribute(\\\"osl:version\\\", x) + getattribute(\\\"s\\\", s) + getattribute(\\\"\\\", "  \
    "\\\"t\\\", -1, t); int no = getattribute(\\\"Cd\\\", c) + getattribute(\\\"s\\\", 0, q) + "   \
    "getattribute(\\\"camera\\\", \\\"osl:version\\\", q) + getattribute(\\\"osl:version\\\", f);" \
    "int column = at % 8, row = at / 8; Ci = (ok == 11 && no == 0 && k == 0 && n == 0 && q == 5 "  \
    "&& column == int(4 + 5.66 * P[0]) && row == int(4 - 5.66 * P[1]) && r[0] == 8 && r[1] == 8 "  \
    "&& w[0] == -1 && w[1] == -1 && w[2] == 1 && w[3] == 1 && f == 20 && a == 1 && x == 11300 && " \
    "p == \\\"perspective\\\" && s == u && t == v && Dx(s) == 0 && c == v) * emission(); }"

/* What a lookup of a linear function changes by, with the spline on its finest level and between
 * two others, is its slope; what gettextureinfo() says, of an image that is there and one that is
 * not. */
static void images_answer(const char *id, enum code_path code)
{
    all_glow(id, code, SLOPES(""), SLOPES("\\\"blur\\\", 0.15, "), ".exr", ".exr");
    all_glow(id, code, SLOPES("\\\"anisotropic\\\", 9, \\\"swidth\\\", 4, "),
             SLOPES("\\\"tblur\\\", 0.24, \\\"anisotropic\\\", int(2 + u), "), ".exr", ".exr");
    all_glow(id, code, FACTS, SPACES, ".exr", ".exr");
    all_glow(id, code, ATTRIBUTES, FACTS, ".exr", ".exr");
    all_glow(id, code, TILES(""), TILES("\\\"blur\\\", 0.15, "), ".1012.exr", ".<UDIM>.exr");
}
static void native_images_answer(void **state)
{
    images_answer("native", *(const enum code_path *)*state);
}

static void parameters_stay_out_of_the_text(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = wall(GLOW("0.25"), GLOW("4")), *t = wall(GLOW("0.5"), GLOW("3"));
    struct shade_scene a, b, baked;
    must(shade_scene_make(s, SHADE_AREAS, NULL, &a, &err), &err);
    must(shade_scene_make(t, SHADE_AREAS, NULL, &b, &err), &err);
    must(shade_scene_make(s, SHADE_BAKED, NULL, &baked, &err), &err);
    assert_int_equal(a.materials[0].group, a.materials[1].group);
    assert_int_not_equal(a.materials[0].args, a.materials[1].args);
    assert_string_equal(a.hash, b.hash); /* nothing is compiled again */
    assert_string_not_equal(a.hash, baked.hash);
    assert_int_not_equal(baked.materials[0].group, baked.materials[1].group);
    shade_scene_free(&a);
    shade_scene_free(&b);
    shade_scene_free(&baked);
    scene_free(s);
    scene_free(t);
}

/* A chain of which one layer is asked for by nothing, and one is asked for in vain. */
#define CHAIN(k)                                                                                   \
    "{\"type\": \"shader\", \"layers\": ["                                                         \
    "{\"name\": \"idle\", \"source\": \"shader idle(output float x = 0) { x = noise(P); }\"},"     \
    "{\"name\": \"vain\", \"source\": \"shader vain(output float x = 0) { x = noise(2 * P); }\"}," \
    "{\"name\": \"one\", \"source\": \"shader one(output float x = 0) { x = noise(3 * P); }\"},"   \
    "{\"name\": \"end\", \"parameters\": {\"k\": " k "}, \"source\": \"surface end(float k = 1, "  \
    "float a = 0, float b = 0) { float c = 0; if (0) c = a; Ci = (k * b + c) * emission(); }\"}]," \
    "\"connections\": [[\"vain.x\", \"end.a\"], [\"one.x\", \"end.b\"]], \"emission_bound\": 4}"

static void statistics_are_counted(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = wall(CHAIN("0.25"), CHAIN("2")), *none = scene_from_library("cornell");
    struct shade_scene x, plain;
    must(shade_scene_make(s, SHADE_AREAS, NULL, &x, &err), &err);
    must(shade_scene_make(none, SHADE_AREAS, NULL, &plain, &err), &err);
    assert_int_equal(x.stats.groups, 2);
    assert_int_equal(x.stats.programs, 1);
    assert_int_equal(x.stats.masters, 8); /* texts in the scene are one each */
    assert_int_equal(x.stats.instances, 8);
    assert_int_equal(x.stats.instances_run, 4);
    assert_true(x.stats.ops_after > 0 && x.stats.ops_after < x.stats.ops_before);
    assert_true(x.stats.symbols_after < x.stats.symbols_before);
    assert_int_equal(x.stats.images, 0);
    assert_true(x.stats.optimise_s > 0 && x.stats.emit_s > 0);
    assert_int_equal(plain.stats.groups + plain.stats.masters + plain.stats.instances, 0);
    shade_scene_free(&x);
    shade_scene_free(&plain);
    scene_free(s);
    scene_free(none);
}

/* A file is one master and its image one, however many materials have them. */
static void masters_and_images_are_counted_once(void **state)
{
    (void)state;
    struct error err = {0};
    char shader[64], image[64], one[256], two[256];
    float texels[16 * 8] = {0};
    (void)snprintf(shader, sizeof shader, "shade_scene_test.%ld.asl", (long)getpid());
    (void)snprintf(image, sizeof image, "shade_scene_test.%ld.one.exr", (long)getpid());
    const struct image_channel y = {"Y", texels, 1};
    must(image_write_exr(image, 16, 8, &y, 1, NULL, &err), &err);
    FILE *f = fopen(shader, "w");
    assert_non_null(f);
    (void)fputs("surface s(string file = \"\", float k = 1) "
                "{ float x = texture(file, u, v); Ci = (k * x) * emission(); }\n",
                f);
    assert_int_equal(fclose(f), 0);
    static const char form[] = "{\"type\": \"shader\", \"shader\": \"%s\", \"parameters\": "
                               "{\"file\": \"%s\", \"k\": %d}, \"emission_bound\": 4}";
    (void)snprintf(one, sizeof one, form, shader, image, 1);
    (void)snprintf(two, sizeof two, form, shader, image, 2);
    struct scene *s = wall(one, two);
    (void)remove(shader);
    (void)remove(image);
    struct shade_scene x;
    must(shade_scene_make(s, SHADE_AREAS, NULL, &x, &err), &err);
    assert_int_equal(x.stats.groups, 2);
    assert_int_equal(x.stats.masters, 1);
    assert_int_equal(x.stats.instances, 2);
    assert_int_equal(x.stats.images, 1);
    assert_int_equal(x.stats.image_levels_given, 1);
    assert_int_equal(x.stats.image_levels, 5); /* 16x8, 8x4, 4x2, 2x1, 1x1 */
    size_t most = 0;                           /* 16x8 and its levels down to one texel */
    for (size_t w = 16, h = 8;; w = w > 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1) {
        most += w * h * sizeof(float);
        if (w == 1 && h == 1)
            break;
    }
    assert_in_range(x.stats.image_bytes, 16 * 8 * sizeof(float), most);
    shade_scene_free(&x);
    scene_free(s);
}

/* A shader is run by all parts of the kernel but the probes: those are compiled once for all scenes
 * that differ in their shaders only, and rays once for all scenes whose trees are of one kind. */
static void probes_are_compiled_without_shaders(void **state)
{
    const struct program_request plain = program_request_make(MODE_STRICT);
    struct program_request shaded = plain, other = plain, rays = plain;
    (void)state;
    shaded.features = K_FEATURE_MEDIA | K_FEATURE_SHADERS;
    shaded.source = "the kernel with a scene's shaders";
    snprintf(shaded.source_hash, sizeof shaded.source_hash, "the hash of that");
    shaded.shaders = "the shaders";
    shaded.tree = BVH_WIDE8;
    other.features = K_FEATURE_MEDIA | K_FEATURES_EXACT;
    rays.features = K_FEATURE_ALL & ~(K_FEATURE_SHADERS | K_FEATURE_RAYS);
    rays.tree = BVH_WIDE8;
    for (int part = 0; part < PART_COUNT; part++) {
        const bool probes = part == PART_PROBE || part == PART_HIT;
        const struct program_request r = program_request_of_part(&shaded, (enum program_part)part);
        assert_int_equal(r.part, part);
        assert_true(program_request_equal(&r, part == PART_HIT     ? &rays
                                              : part == PART_PROBE ? &other
                                                                   : &shaded));
        assert_ptr_equal(r.source, probes ? kernel_source : shaded.source);
        assert_ptr_equal(r.shaders, probes ? NULL : shaded.shaders);
    }
}

/* Parameters that decide what runs, and that functions with a bound take: read from a buffer and
 * made constants, the same bits. */
static void baked_parameters_give_the_same_bits(void **state)
{
    (void)state;
    static const char pattern[] =
        "{\"type\": \"shader\", \"parameters\": {\"k\": 3, \"tint\": [0.3, 0.6, 0.9]}, \"source\": "
        "\"surface p(int k = 1, color tint = 1) { color c = 0; for (int i = 0; i < k; i++) "
        "c += tint * noise(P * (7.3 + i)); if (k > 2) c = sqrt(c); for (int i = 0; i < 9; i++) "
        "c *= sin(tint * k) + exp(tint) + pow(tint, 0.3 * k) + log2(tint * (k + 4)); "
        "Ci = c * 0.001 * diffuse(N) + 0.1 * sin(0.1 * k) * emission(); }\"}";
    struct error err = {0};
    struct scene *s = wall(pattern, GLOW("0.3"));
    struct film film[2] = {0};
    struct device *d = NULL;
    must(device_open("native", &d, &err), &err);
    for (int bake = 0; bake < 2; bake++) { /* of one device: the program changes with the scene */
        const struct build_settings set = {.mode = MODE_STRICT};
        device_bake(d, bake);
        must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
        if (!bake)
            must(device_build(d, &set, NULL, &err), &err);
        must(render(d, s, &film[bake], &err), &err);
    }
    assert_memory_equal(film[0].sums, film[1].sums, 8 * 8 * 4 * sizeof *film[0].sums);
    film_free(&film[0]);
    film_free(&film[1]);
    device_close(d);
    scene_free(s);
}

static void endless_loops_are_named(void **state)
{
    const enum code_path *code = *state;
    struct error err = {0};
    struct scene *s = wall(
        "{\"type\": \"shader\", \"source\": \"surface spin() { float x = u;\\nwhile (x < 2) x = x "
        "* 0.5;\\nCi = x * emission(); }\"}",
        "{\"type\": \"diffuse\"}");
    struct device *d = native_ready(s, *code);
    struct film film = {0};
    assert_int_equal(render(d, s, &film, &err), STATUS_TIMEOUT);
    assert_non_null(strstr(err.msg, ":source:2:"));
    film_free(&film);
    device_close(d);
    scene_free(s);
}

/* More closures of one kind in a loop than there is room for. */
static void too_many_closures_are_said(void **state)
{
    const enum code_path *code = *state;
    struct error err = {0};
    struct scene *s = wall(
        "{\"type\": \"shader\", \"source\": \"surface many(int n = 20) { Ci = 0; for (int i = 0; "
        "i < n; i++) Ci += 0.01 * diffuse(N); }\"}",
        "{\"type\": \"diffuse\"}");
    struct device *d = native_ready(s, *code);
    struct film film = {0};
    assert_int_equal(render(d, s, &film, &err), STATUS_LIMIT);
    assert_non_null(strstr(err.msg, "closures"));
    film_free(&film);
    device_close(d);
    scene_free(s);
}

/* What surfaces say in their own ways on the two code paths: control flow with every way out,
 * arrays at places known late, closures in loops, pairs, layers, strings, options of images (there
 * is none: what is missing is asked for), geometry data, noise, metals, spectra. */
enum { RICH = 6 };
static const char *const rich[RICH] = {
    "surface flow(float k = 3) { float a[4] = {0.1, 0.2, 0.4, 0.8}; float x = 0; int turns = 0;"
    "for (int i = 0; i < 9; i++) { if (i == 2) continue; if (x > k) break; int j = 0;"
    "while (1) { j++; if (j > i) break; a[(i + j) % 4] += u * 0.25; } x += a[i % 4]; turns += j; }"
    "do { x *= 0.75; turns--; } while (turns > 3 && x > 0.1);"
    "Ci = color(x, turns * 0.1, mod(x, 0.3)) * emission(); }",
    "surface sums() { Ci = 0; for (int i = 0; i < 5; i++) { closure color c = i * 0.1 * diffuse(N);"
    "if (i == 3) c = 0; Ci += c + v * 0.1 * emission(); }"
    "Ci = layer(0.5 * reflection(N, 1.5), Ci) + 0 * emission(); }",
    "surface gloss(string kind = \\\"beckmann\\\") { vector t = normalize(dPdu);"
    "Ci = 0.4 * microfacet(kind, N, t, 0.2, 0.4, 1.5, 0) + 0.3 * microfacet(\\\"ggx\\\", N, 0.3, "
    "1.5, 2)"
    " + 0.3 * principled(N, color(u, v, 0.5), 0.2, 0.3, \\\"sheen\\\", 0.5, \\\"clearcoat\\\", 1); "
    "}",
    "surface image() { float alpha = 0; color c = texture(\\\"none.exr\\\", u * 2, v, "
    "\\\"wrap\\\", "
    "\\\"mirror\\\", \\\"missingcolor\\\", color(0.2, u, 0.6), \\\"missingalpha\\\", 0.5, "
    "\\\"alpha\\\", alpha); Ci = (c + alpha) * emission() + c * diffuse(N); }",
    "surface metal() { vector n, k; artistic_ior(color(0.9, 0.6, 0.3), color(1, 0.8, 0.6), n, k);"
    "Ci = conductor_bsdf(N, normalize(dPdu), 0.2, 0.1, color(n), color(k), \\\"ggx\\\"); }",
    "surface mix(float s = 0 [[int lockgeom = 0]]) { color b = blackbody(3000 + 2000 * noise(5 * "
    "P));"
    "point q = rotate(P, 0.5, point(0), point(0, 1, 1)); float d = spline(\\\"catmull-rom\\\", "
    "fabs(sin(q[0])), 0.0, 0.1, 0.7, 0.9, 1.0); Ci = s * d * b * 0.001 * emission() + "
    "d * diffuse(normalize(N + 0.2 * (vector) snoise(q))); }"};

/* A rectangle for each of them, side by side before the camera. */
static struct scene *gallery(void)
{
    struct text t = {0};
    text_puts(&t, "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], "
                  "\"fov\": 20}, \"environment\": {\"radiance\": 0.5}, "
                  "\"film\": {\"width\": 8, \"height\": 8}, \"materials\": {");
    for (size_t i = 0; i < RICH; i++)
        text_printf(&t, "%s\"m%zu\": {\"type\": \"shader\", \"source\": \"%s\"}", i ? ", " : "", i,
                    rich[i]);
    text_puts(&t, "}, \"objects\": [");
    for (size_t i = 0; i < RICH; i++)
        text_printf(
            &t,
            "%s{\"type\": \"rectangle\", \"material\": \"m%zu\", \"transform\": [{\"scale\": "
            "0.24}, {\"translate\": [%g, %g, 0]}]}",
            i ? ", " : "", i, 0.5 * (double)(i % 3) - 0.5, i < 3 ? -0.3 : 0.3);
    text_puts(&t, "]}");
    struct scene *s = scene_from_text(t.data);
    text_free(&t);
    return s;
}

static struct film gallery_film(const char *id, struct scene *s, enum code_path code)
{
    struct error err = {0};
    struct film film = {0};
    struct device *d = built(id, s, code);
    must(render(d, s, &film, &err), &err);
    device_close(d);
    return film;
}
static void films_equal(const char *id, const struct film *a, const struct film *b)
{
    for (uint32_t p = 0; p < 8 * 8; p++)
        if (memcmp(a->sums + 4 * p, b->sums + 4 * p, 4 * sizeof *a->sums) != 0)
            fail_msg("%s: pixel %u, %u has other bits", id, p % 8, p / 8);
}

static void code_paths_agree(void **state)
{
    (void)state;
    struct scene *s = gallery();
    struct film source = gallery_film("native", s, CODE_SOURCE),
                llvm = gallery_film("native", s, CODE_LLVM);
    int seen = 0;
    films_equal("code path llvm", &source, &llvm);
    for (size_t p = 0; p < 8 * 8; p++) /* a corner sees none */
        seen += source.sums[4 * p] != source.sums[0];
    assert_in_range(seen, 20, 60);
    film_free(&source);
    film_free(&llvm);
    scene_free(s);
}

/* Shaders that come to a device as SPIR-V, or as its own path has them: native's bits. The devices
 * are those of the command line; "opencl": all of OpenCL that take SPIR-V. */
static char **asked;

/* ---- what shaders say ------------------------------------------------------------------------ */

#define TALK(k)                                                                                    \
    "{\"type\": \"shader\", \"parameters\": {\"k\": " k                                            \
    "}, \"source\": \"surface talk(int k = 1) {"                                                   \
    " int a[4] = {1, 2, 3, 4}; string names[2] = {\\\"one\\\", \\\"two\\\"}; int h = v < 0.5;"     \
    " float f[3] = {0.5, 1.5, k}; printf(\\\"%d of %s\\\\n\\\", k, names[h]);"                     \
    " if (h) warning(\\\"%g %s\\\", 2.5, \\\"txt\\\"); else error(\\\"array %g\\\", f);"           \
    " fprintf(\\\"x.log\\\", \\\"filed\\\"); int i = a[k + 1]; Ci = i * 0.1 * diffuse(N); }\"}"
#define SAYS(m) "material '" m "', layer '" m "', test.json:source:1: "
#define SAID(m, k)                                                                                 \
    SAYS(m)                                                                                        \
    "error: array 0.5 1.5 " k "\n" SAYS(m) "fprintf to 'x.log': filed\n" SAYS(                     \
        m) "printf: " k " of one\n" SAYS(m) "printf: " k " of two\n" SAYS(m) "warning: 2.5 txt\n"

/* Each text once, from all pixels and samples, on poisoned memory; two materials of one group. */
static void messages_arrive(const char *id, enum code_path code)
{
    static const char out[] = "error: Index [4] out of range a[0..3]: ";
    struct error err = {0};
    struct scene *s = wall(TALK("2"), TALK("3"));
    struct device *d = built(id, s, code);
    struct film film = {0};
    struct text said = {0}, rest = {0};
    must(render(d, s, &film, &err), &err);
    device_messages(d, &said);
    const char *first = strstr(said.data ? said.data : "", out), *end = NULL;
    if (!first || !(end = strchr(first, '\n')) || strncmp(end - 12, "shader talk)", 12) != 0 ||
        strstr(end, "Index"))
        fail_msg("%s: no index out of range, or two: %s", id, said.data);
    while (first > said.data && first[-1] != '\n')
        first--;
    text_append(&rest, said.data, (size_t)(first - said.data));
    text_puts(&rest, end + 1);
    assert_string_equal(rest.data, SAID("left", "2") SAID("right", "3"));
    text_free(&said);
    must(device_load(d, s, BVH_AUTO, NULL, &err), &err); /* a scene's messages go with it */
    device_messages(d, &said);
    assert_int_equal(said.len, 0);
    text_free(&rest);
    film_free(&film);
    device_close(d);
    scene_free(s);
}
static void messages_reach_the_user(void **state)
{
    const enum code_path code = *(const enum code_path *)*state;
    messages_arrive("native", code);
    if (code == CODE_SOURCE) /* two films, each with its own tables */
        messages_arrive("native+faulty:stuck-seed", code);
}

/* More texts than a table holds: as many as it holds, and word of the others. */
static void floods_are_bounded(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s =
        wall("{\"type\": \"shader\", \"source\": \"surface s() { error(\\\"%g %g\\\", u, "
             "v); Ci = diffuse(N); }\"}",
             "{\"type\": \"diffuse\"}");
    struct device *d = native_ready(s, CODE_AUTO);
    struct film film = {0};
    struct text said = {0};
    const struct render_job job = {
        .width = 64, .height = 64, .sample_count = 1, .max_depth = 2, .rr_depth = 2};
    must(film_init(&film, 64, 64, film_exponent(s), &err), &err);
    must(device_render(d, &job, &film, false, NULL, &err), &err);
    device_messages(d, &said);
    size_t lines = 0;
    const char *text = said.data ? said.data : "";
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    assert_int_equal(lines, 64 + 1);
    assert_non_null(strstr(text, "\n(and more"));
    text_free(&said);
    film_free(&film);
    device_close(d);
    scene_free(s);
}

static void gallery_agrees(const char *id, struct scene *s, const struct film *native,
                           enum code_path code)
{
    struct film film = gallery_film(id, s, code);
    films_equal(id, native, &film);
    film_free(&film);
}

static size_t opencl_agrees(struct scene *s, const struct film *native)
{
    struct error err = {0};
    struct arena a = {0};
    struct device_info *infos = NULL;
    size_t count = 0, done = 0;
    must(devices_list(&a, false, &infos, &count, NULL, NULL, &err), &err);
    for (size_t i = 0; i < count; i++)
        if (infos[i].spirv && strncmp(infos[i].id, "opencl", 6) == 0) {
            gallery_agrees(infos[i].id, s, native, CODE_LLVM);
            images_answer(infos[i].id, CODE_LLVM);
            messages_arrive(infos[i].id, CODE_SOURCE);
            messages_arrive(infos[i].id, CODE_LLVM);
            done++;
        }
    arena_free(&a);
    return done;
}

static void devices_agree(void **state)
{
    (void)state;
    size_t done = 0;
    struct scene *s = gallery();
    struct film native = gallery_film("native", s, CODE_AUTO);
    for (char **id = asked; *id; id++) {
        if (strcmp(*id, "opencl") == 0) {
            done += opencl_agrees(s, &native);
            continue;
        }
        gallery_agrees(*id, s, &native, CODE_AUTO);
        images_answer(*id, CODE_AUTO);
        messages_arrive(*id, CODE_AUTO);
        done++;
    }
    film_free(&native);
    scene_free(s);
    if (!done) {
        print_message("no OpenCL device takes SPIR-V\n");
        skip();
    }
}

/* Layers that may speak, more of them than the reader of IR first has room for. */
static void many_layers_run(void **state)
{
    (void)state;
    enum { LAYERS = 40 };
    struct error err = {0};
    struct film film = {0};
    struct text t = {0};
    text_puts(&t, "{\"type\": \"shader\", \"layers\": [");
    for (int l = 0; l < LAYERS; l++)
        text_printf(&t,
                    "{\"name\": \"l%d\", \"source\": \"surface lay(float i = 0, output float o = "
                    "0) { if (u > 2) printf(\\\"%%g\\\", i); o = i + 1; }\"}, ",
                    l);
    text_printf(&t,
                "{\"name\": \"last\", \"source\": \"surface last(float i = 0) { Ci = (i == %d) * "
                "emission(); }\"}], \"connections\": [",
                LAYERS);
    for (int l = 1; l < LAYERS; l++)
        text_printf(&t, "[\"l%d.o\", \"l%d.i\"], ", l - 1, l);
    text_printf(&t, "[\"l%d.o\", \"last.i\"]]}", LAYERS - 1);
    assert_false(t.failed);
    struct scene *s = wall(t.data, GLOW("1"));
    struct device *d = native_ready(s, CODE_AUTO);
    must(render(d, s, &film, &err), &err);
    for (int p = 0; p < 8 * 8; p++)
        assert_true(ldexp((double)film.sums[4 * p], -film.exponent) == 1);
    film_free(&film);
    device_close(d);
    scene_free(s);
    text_free(&t);
}

static void what_cannot_run_is_named(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = wall(
        "{\"type\": \"shader\", \"source\": \"surface talk() {\\n setmessage(u < 0.5 ? \\\"m\\\" "
        ": \\\"n\\\", u); Ci = emission(); }\"}",
        "{\"type\": \"diffuse\"}");
    struct device *d = NULL;
    must(device_open("native", &d, &err), &err);
    assert_int_equal(device_load(d, s, BVH_AUTO, NULL, &err), STATUS_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "setmessage"));
    assert_int_equal(err.line, 2);
    device_close(d);
    scene_free(s);
}

/* Balls with the materials m0, m1 ... in a row, lit by a lamp and the sky, as native renders them.
 */
static struct film balls(const struct text *materials, size_t count)
{
    enum { H = 12 };
    const uint32_t W = 7 * (uint32_t)count; /* the row fills the picture */
    struct text text = {0};
    struct error err = {0};
    struct film film = {0};
    text_printf(&text,
                "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 60], \"target\": [0, 0, 0], "
                "\"fov\": 3.3}, \"film\": {\"width\": %u, \"height\": %d}, "
                "\"environment\": {\"radiance\": [0.5, 0.25, 1]}, \"materials\": {%s "
                "\"lamp\": {\"type\": \"diffuse\", \"emission\": 8}}, \"objects\": [",
                W, H, materials->data);
    for (size_t i = 0; i < count; i++)
        text_printf(&text,
                    "{\"type\": \"sphere\", \"material\": \"m%zu\", \"radius\": 0.9, "
                    "\"center\": [%zu, 0, 0], \"transform\": [{\"translate\": [%g, 0, 0]}]}, ",
                    i, 2 * i, 1.0 - (double)count);
    text_puts(&text, "{\"type\": \"sphere\", \"center\": [2, 9, 9], \"radius\": 2, "
                     "\"material\": \"lamp\"}]}");
    assert_false(text.failed);
    struct scene *s = scene_from_text(text.data);
    struct device *d = device_ready("native", s, BVH_AUTO, MODE_STRICT);
    const struct render_job job = {
        .width = W, .height = H, .sample_count = 8, .max_depth = 6, .rr_depth = 3};
    must(film_init(&film, W, H, film_exponent(s), &err), &err);
    must(device_render(d, &job, &film, true, NULL, &err), &err);
    device_close(d);
    scene_free(s);
    text_free(&text);
    return film;
}

/* Two ways to write each of the materials. In which of the two lists a material stands changes no
 * bit of its column. */
static void must_look_the_same(const char *const (*materials)[2], size_t count)
{
    struct film film[2];
    for (int k = 0; k < 2; k++) {
        struct text text = {0};
        for (size_t i = 0; i < count; i++)
            text_printf(&text, "\"m%zu\": %s, ", i, materials[i][k]);
        film[k] = balls(&text, count);
        text_free(&text);
    }
    const uint32_t width = film[0].width;
    for (uint32_t i = 0; i < width * film[0].height; i++)
        if (memcmp(film[0].sums + 4 * i, film[1].sums + 4 * i, 4 * sizeof *film[0].sums) != 0)
            fail_msg("column %u of %u: another material than %s", i % width, width,
                     materials[i % width * count / width][1]);
    film_free(&film[0]);
    film_free(&film[1]);
}

/* Outputs that hold a material's own inputs change no bit. */
static void driven_bases_are_the_materials(void **state)
{
    (void)state;
    static const char *const materials[][2] = {
#define BASE(material, outputs, base, drive)                                                       \
    {"{\"type\": " material "}",                                                                   \
     "{\"type\": \"shader\", \"source\": \"shader s(" outputs ") {}\", \"base\": {\"type\": " base \
     "}, \"drive\": {" drive "}}"},
#include "driven_bases.def"
#undef BASE
    };
    must_look_the_same(materials, sizeof materials / sizeof *materials);
}

/* A component that a prototype declares is made of the same lobes: the same bits. */
static void declared_components_are_lobes(void **state)
{
    (void)state;
#define BODY(prototype, closure)                                                                   \
    "{\"type\": \"shader\", \"source\": \"" prototype                                              \
    "surface s() { vector X = vector(0.6, 0.8, 0); float r = sqrt(0.5), "                          \
    "ior = (1 + r) / (1 - r), eta = backfacing() ? 1 / ior : ior; Ci = " closure "; }\"}"
    static const char *const materials[][2] = {
#define DECLARED(prototype, closure, same)                                                         \
    {BODY("closure color " prototype " [[int builtin = 1]];\\n", closure), BODY("", same)},
#include "declared_closures.def"
#undef DECLARED
#undef BODY
    };
    must_look_the_same(materials, sizeof materials / sizeof *materials);
}

int main(int argc, char **argv)
{
    static enum code_path source = CODE_SOURCE, llvm = CODE_LLVM;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(emission_arrives, &source),
        cmocka_unit_test_prestate(emission_arrives, &llvm),
        cmocka_unit_test_prestate(native_images_answer, &source),
        cmocka_unit_test_prestate(native_images_answer, &llvm),
        cmocka_unit_test(parameters_stay_out_of_the_text),
        cmocka_unit_test(statistics_are_counted),
        cmocka_unit_test(masters_and_images_are_counted_once),
        cmocka_unit_test(probes_are_compiled_without_shaders),
        cmocka_unit_test(baked_parameters_give_the_same_bits),
        cmocka_unit_test_prestate(endless_loops_are_named, &source),
        cmocka_unit_test_prestate(endless_loops_are_named, &llvm),
        cmocka_unit_test_prestate(too_many_closures_are_said, &llvm),
        cmocka_unit_test(code_paths_agree),
        cmocka_unit_test_prestate(messages_reach_the_user, &source),
        cmocka_unit_test_prestate(messages_reach_the_user, &llvm),
        cmocka_unit_test(floods_are_bounded),
        cmocka_unit_test(many_layers_run),
        cmocka_unit_test(what_cannot_run_is_named),
        cmocka_unit_test(driven_bases_are_the_materials),
        cmocka_unit_test(declared_components_are_lobes),
    };
    const struct CMUnitTest of_devices[] = {cmocka_unit_test(devices_agree)};
    asked = argv + 1;
    return argc > 1 ? cmocka_run_group_tests_name("devices", of_devices, NULL, NULL)
                    : cmocka_run_group_tests_name("shade_scene", tests, NULL, NULL);
}
