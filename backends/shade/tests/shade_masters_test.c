/* SPDX-License-Identifier: Apache-2.0 */
/* The model restricted: materials as programs that call masters have the bits of the megakernel,
 * and another network of the same masters is no other text. */
#include "shade/shade_scene.h"
#include "tests/test_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIZE = 12, SPP = 2 };

/* A plate before the camera, of a material with these layers and connections; more: its keys. */
static struct scene *plate(const char *layers, const char *connections, const char *more)
{
    struct text t = {0};
    text_printf(
        &t,
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0.4, 4], \"target\": [0, 0, 0], \"fov\": "
        "30}, \"film\": {\"width\": %d, \"height\": %d}, \"environment\": {\"radiance\": 0.5}, "
        "\"materials\": {\"m\": {\"type\": \"shader\", \"layers\": [%s], \"connections\": [%s]%s}},"
        "\"objects\": [{\"type\": \"rectangle\", \"material\": \"m\", \"transform\": [{\"rotate\": "
        "{\"axis\": [0, 1, 0], \"angle\": 20}}]}]}",
        SIZE, SIZE, layers, connections, more);
    assert_false(t.failed);
    struct scene *s = scene_from_text(t.data);
    text_free(&t);
    return s;
}

/* ---- networks ------------------------------------------------------------------------------- */

#define LAYER(name, parameters, source)                                                            \
    "{\"name\": \"" name "\", \"parameters\": {" parameters "}, \"source\": \"" source "\"}"
/* Outputs of every type that connects, with loops, and with a default that is computed. */
#define GRAIN                                                                                      \
    "shader grain(float f = 3, color tint = color(0.2, 0.6, 0.9), point at = P, "                  \
    "output color c = 0, output float x = 0, output int k = 0, output vector w = 0) "              \
    "{ x = noise(at * f); c = tint * x; k = int(8 * x); for (int i = 0; i < k; i++) "              \
    "w += snoise(at * (f + i)); }"
/* Asks for the changes of what is connected. */
#define BLEND                                                                                      \
    "shader blend(color a = 0.1, color b = color(0.9, 0.5, 0.3), float t = 0.5, "                  \
    "output color c = 0, output float edge = 0) "                                                  \
    "{ c = mix(a, b, t); edge = 3 * fabs(Dx(t)) + fabs(Dy(a[1])) + filterwidth(b[2]); }"
#define ROOT                                                                                       \
    "surface root(color c = 0.5, float e = 0, float s = 0.25 * u, vector bend = 0) "               \
    "{ Ci = c * diffuse(normalize(N + 0.2 * bend)) + (e + s) * emission(); }"
#define LAYERS(f, t, e)                                                                            \
    LAYER("one", "\"f\": " f, GRAIN)                                                               \
    ", " LAYER("two", "\"tint\": [1, 0.5, 0.25]", GRAIN) ", " LAYER(                               \
        "mix", "\"t\": " t, BLEND) ", " LAYER("mixed", "", BLEND) ", " LAYER("end", "\"e\": " e,   \
                                                                             ROOT)

static const char *const networks[] = {
    "",
    "[\"one.c\", \"mix.a\"], [\"two.x\", \"mix.t\"], [\"mix.c\", \"end.c\"], "
    "[\"mix.edge\", \"end.e\"]",
    /* a float to a color, an int to a float, a default that is computed is not asked for */
    "[\"one.x\", \"end.c\"], [\"one.k\", \"mix.t\"], [\"mix.edge\", \"end.s\"], [\"two.w\", "
    "\"end.bend\"]",
    /* components on either side; one layer twice; a chain of one master's instances */
    "[\"one.c[1]\", \"mix.t\"], [\"one.x\", \"mix.b[2]\"], [\"one.w\", \"two.at\"], "
    "[\"two.c\", \"mixed.a\"], [\"mix.c\", \"mixed.b\"], [\"two.x\", \"mixed.t\"], "
    "[\"mixed.c\", \"end.c\"], [\"mix.edge\", \"end.e\"], [\"mixed.edge\", \"end.s\"]",
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static struct device *opened(const char *id)
{
    struct error err = {0};
    struct device *d = NULL;
    must(device_open(id, &d, &err), &err);
    return d;
}

static void film_of(struct device *d, const struct scene *s, enum exec_model model,
                    struct build_info *info, struct film *out)
{
    struct error err = {0};
    const struct build_settings set = {.mode = MODE_STRICT, .model = model, .code = CODE_SOURCE};
    const struct render_job job = {.width = SIZE,
                                   .height = SIZE,
                                   .sample_count = SPP,
                                   .max_depth = 3,
                                   .rr_depth = 3,
                                   .set = {.build = set}};
    device_model(d, model);
    must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
    must(device_build(d, &set, info, &err), &err);
    must(film_init(out, SIZE, SIZE, film_exponent(s), &err), &err);
    must(device_render(d, &job, out, true, NULL, &err), &err);
}

static void models_agree(const char *id, const struct scene *s, const char *what)
{
    struct film film[2] = {0};
    struct build_info info;
    struct device *d = opened(id);
    film_of(d, s, MODEL_MEGAKERNEL, &info, &film[0]);
    assert_int_equal(info.model, MODEL_MEGAKERNEL);
    film_of(d, s, MODEL_RESTRICTED, &info, &film[1]);
    assert_int_equal(info.model, MODEL_RESTRICTED);
    size_t lit = 0;
    for (uint32_t p = 0; p < SIZE * SIZE; p++) {
        if (memcmp(film[0].sums + 4 * p, film[1].sums + 4 * p, 4 * sizeof *film[0].sums) != 0)
            fail_msg("%s, %s: pixel %u, %u has other bits", id, what, p % SIZE, p / SIZE);
        lit += memcmp(film[0].sums + 4 * p, film[0].sums, 4 * sizeof *film[0].sums) != 0;
    }
    assert_true(lit > SIZE); /* the plate is seen */
    film_free(&film[0]);
    film_free(&film[1]);
    device_close(d);
}

/* Of the networks those from the first on, and the last one once more, as what drives a base. */
static void networks_agree(const char *id, size_t first)
{
    for (size_t i = first; i < NETWORKS; i++) {
        struct scene *s = plate(LAYERS("5.5", "0.3", "0.125"), networks[i], "");
        models_agree(id, s, networks[i]);
        scene_free(s);
    }
    /* a base that is driven, by layers that are not the last */
    struct scene *s = plate(LAYERS("5.5", "0.3", "0.125"), networks[3],
                            ", \"base\": {\"type\": \"principled\"}, \"drive\": {\"base_color\": "
                            "\"mixed.c\", \"roughness\": \"one.x\", \"metallic\": \"mix.edge\"}");
    models_agree(id, s, "driven");
    scene_free(s);
}

static void native_agrees(void **state)
{
    (void)state;
    networks_agree("native", 0);
}

static void opencl_agrees(void **state)
{
    struct error err = {0};
    struct arena a = {0};
    struct device_info *infos = NULL;
    size_t count = 0, done = 0;
    (void)state;
    must(devices_list(&a, false, &infos, &count, NULL, NULL, &err), &err);
    /* One driver has all, and a dozen seconds each are enough of the others. */
    for (size_t i = count; i-- > 0;)
        if (strncmp(infos[i].id, "opencl", 6) == 0)
            networks_agree(infos[i].id, done++ ? NETWORKS : 0);
    arena_free(&a);
    if (!done) {
        print_message("there is no OpenCL device\n");
        skip();
    }
}

/* ---- compiling ------------------------------------------------------------------------------ */

static void hash_of(const struct scene *s, enum shade_way way, char hash[33])
{
    struct error err = {0};
    struct shade_scene x;
    must(shade_scene_make(s, way, NULL, &x, &err), &err);
    memcpy(hash, x.hash, 33);
    shade_scene_free(&x);
}

/* Parameters and connections are no part of the text; of a group's, connections are. */
static void networks_stay_out_of_the_text(void **state)
{
    char first[33], areas[33];
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        char hash[33], other[33];
        struct scene *s = plate(LAYERS("5.5", "0.3", "0.125"), networks[i], "");
        struct scene *t = plate(LAYERS("2", "0.75", "0"), networks[i], "");
        hash_of(s, SHADE_MASTERS, hash);
        hash_of(t, SHADE_MASTERS, other);
        assert_string_equal(hash, other);
        if (i == 0)
            memcpy(first, hash, sizeof first);
        assert_string_equal(hash, first);
        hash_of(s, SHADE_AREAS, other);
        if (i == 0)
            memcpy(areas, other, sizeof areas);
        else
            assert_string_not_equal(other, areas);
        scene_free(s);
        scene_free(t);
    }
}

/* Nor are images' names; other strings are. */
static void images_stay_out_of_the_text(void **state)
{
#define PICTURE(file, wrap)                                                                        \
    LAYER(                                                                                         \
        "p", "\"file\": \"" file "\", \"wrap\": \"" wrap "\"",                                     \
        "surface p(string file = \\\"\\\", string wrap = \\\"\\\") { Ci = (color) texture(file, "  \
        "u, v, \\\"wrap\\\", wrap) * emission(); }")
    static const char *const layers[] = {PICTURE("one.exr", "clamp"), PICTURE("two.exr", "clamp"),
                                         PICTURE("one.exr", "mirror")};
    char hash[3][33];
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct scene *s = plate(layers[i], "", "");
        hash_of(s, SHADE_MASTERS, hash[i]);
        scene_free(s);
    }
    assert_string_equal(hash[0], hash[1]);
    assert_string_not_equal(hash[0], hash[2]);
}

/* One program from a compiler, and the same for all that follows. */
static void one_compile_is_enough(void **state)
{
    char layers[4096];
    struct device *d = opened("native");
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        struct build_info info;
        struct film film = {0};
        (void)snprintf(layers, sizeof layers, "%s", LAYERS("5.5", "0.3", "0.125"));
        /* a master that no other process has */
        (void)snprintf(layers + strlen(layers), sizeof layers - strlen(layers),
                       ", {\"name\": \"own\", \"parameters\": {\"k\": %zu}, \"source\": \"surface "
                       "own(float k = 0, color c = 0) { Ci = (c + k * %ld) * emission(); }\"}",
                       i, (long)getpid());
        char links[1024];
        (void)snprintf(links, sizeof links, "%s%s[\"one.c\", \"own.c\"]", networks[i],
                       *networks[i] ? ", " : "");
        struct scene *s = plate(layers, links, ", \"emission_bound\": 1e8");
        film_of(d, s, MODEL_RESTRICTED, &info, &film);
        assert_int_equal(info.cached, i > 0);
        film_free(&film);
        scene_free(s);
    }
    device_close(d);
}

/* ---- what it does not take, and what shaders say -------------------------------------------- */

static void refusals_are_told(void **state)
{
    static const struct {
        const char *layers, *links, *why;
    } rows[] = {
        {LAYER("a", "", "shader a(output string s = \\\"x\\\") { s = \\\"y\\\"; }") ", " LAYER(
             "b", "", "surface b(string s = \\\"\\\") { Ci = (s == \\\"y\\\") * emission(); }"),
         "[\"a.s\", \"b.s\"]", "strings"},
        {LAYER(
             "a", "",
             "shader a(output float x = 0) { setmessage(\\\"m\\\", u); x = u; }") ", " LAYER("b",
                                                                                             "",
                                                                                             "surfa"
                                                                                             "ce "
                                                                                             "b("
                                                                                             "float"
                                                                                             " x = "
                                                                                             "0) { "
                                                                                             "float"
                                                                                             " y = "
                                                                                             "0; "
                                                                                             "getme"
                                                                                             "ssage"
                                                                                             "(\\\""
                                                                                             "m\\\""
                                                                                             ", "
                                                                                             "y); "
                                                                                             "Ci = "
                                                                                             "(x + "
                                                                                             "y) "
                                                                                             "* "
                                                                                             "emiss"
                                                                                             "ion()"
                                                                                             "; }"),
         "[\"a.x\", \"b.x\"]", "messages"},
        {LAYER(
             "a", "",
             "shader a(output float x = 0) { N = normalize(N + 0.2); x = u; }") ", " LAYER("b", "",
                                                                                           "surface"
                                                                                           " b("
                                                                                           "float "
                                                                                           "x = 0) "
                                                                                           "{ Ci = "
                                                                                           "x * "
                                                                                           "diffuse"
                                                                                           "(N); "
                                                                                           "}"),
         "[\"a.x\", \"b.x\"]", "global variable"},
        {LAYER("a", "", "shader a(output closure color c = 0) { c = diffuse(N); }") ", " LAYER(
             "b", "", "surface b(closure color c = 0) { Ci = c; }"),
         "[\"a.c\", \"b.c\"]", "closures"},
    };
    struct device *d = opened("native");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error err = {0};
        struct scene *s = plate(rows[i].layers, rows[i].links, "");
        device_model(d, MODEL_RESTRICTED);
        assert_int_equal(device_load(d, s, BVH_AUTO, NULL, &err), STATUS_UNSUPPORTED);
        if (!strstr(err.msg, rows[i].why) || !strstr(err.msg, "material 'm'"))
            fail_msg("row %zu: %s", i, err.msg);
        device_model(d, MODEL_AUTO); /* others take it */
        must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
        scene_free(s);
    }
    struct error err = {0};
    struct scene *plain = scene_from_library("cornell");
    const struct build_settings set = {.mode = MODE_STRICT, .model = MODEL_RESTRICTED};
    device_model(d, MODEL_RESTRICTED);
    must(device_load(d, plain, BVH_AUTO, NULL, &err), &err);
    assert_int_equal(device_build(d, &set, NULL, &err), STATUS_UNSUPPORTED);
    scene_free(plain);
    /* a scene that was loaded for another model */
    struct scene *s = plate(LAYER("b", "", ROOT), "", "");
    device_model(d, MODEL_MEGAKERNEL);
    must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
    assert_int_equal(device_build(d, &set, NULL, &err), STATUS_ARG);
    scene_free(s);
    device_close(d);
}

/* Layers of one master speak for themselves. */
static void layers_speak(void **state)
{
#define TALK "shader talk(float k = 0, output float x = 0) { warning(\\\"k is %g\\\", k); x = k; }"
    struct scene *s = plate(LAYER("a", "\"k\": 0.25", TALK) ", " LAYER("b", "", TALK) ", " LAYER(
                                "end", "", "surface end(float x = 0) { Ci = x * emission(); }"),
                            "[\"a.x\", \"b.k\"], [\"b.x\", \"end.x\"]", "");
    struct build_info info;
    struct film film = {0};
    struct text said = {0};
    struct device *d = opened("native");
    (void)state;
    film_of(d, s, MODEL_RESTRICTED, &info, &film);
    device_messages(d, &said);
    assert_non_null(said.data);
    assert_non_null(strstr(said.data, "layer 'a', test.json:source:1: warning: k is 0.25"));
    assert_non_null(strstr(said.data, "layer 'b', test.json:source:1: warning: k is 0.25"));
    text_free(&said);
    film_free(&film);
    device_close(d);
    scene_free(s);
}

/* Turns count for the point, whichever layers make them: two layers that are below the limit
 * together pass it. */
static void turns_are_counted_together(void **state)
{
#define SPIN                                                                                       \
    "shader spin(float y = 0, output float x = 0) { x = y; for (int i = 0; i < 10000000; i++) x "  \
    "+= 1; }"
    struct scene *s =
        plate(LAYER("a", "", SPIN) ", " LAYER("b", "", SPIN) ", " LAYER(
                  "end", "", "surface end(float x = 0) { Ci = (x > 0) * emission(); }"),
              "[\"a.x\", \"b.y\"], [\"b.x\", \"end.x\"]", "");
    struct error err = {0};
    const struct build_settings set = {
        .mode = MODE_STRICT, .model = MODEL_RESTRICTED, .code = CODE_SOURCE};
    const struct render_job job = {.width = 1,
                                   .height = 1,
                                   .sample_count = 1,
                                   .max_depth = 1,
                                   .rr_depth = 1,
                                   .set.build = set};
    struct film film = {0};
    struct device *d = opened("native");
    (void)state;
    device_model(d, MODEL_RESTRICTED);
    must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
    must(device_build(d, &set, NULL, &err), &err);
    must(film_init(&film, 1, 1, film_exponent(s), &err), &err);
    assert_int_equal(device_render(d, &job, &film, true, NULL, &err), STATUS_TIMEOUT);
    assert_non_null(strstr(err.msg, "test.json:source:1"));
    film_free(&film);
    device_close(d);
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_agrees),
        cmocka_unit_test(opencl_agrees),
        cmocka_unit_test(networks_stay_out_of_the_text),
        cmocka_unit_test(images_stay_out_of_the_text),
        cmocka_unit_test(one_compile_is_enough),
        cmocka_unit_test(refusals_are_told),
        cmocka_unit_test(layers_speak),
        cmocka_unit_test(turns_are_counted_together),
    };
    setenv("ISOPHOTE_CFLAGS", QUICK_FLAGS, 1); /* native's two models of a dozen scenes */
    return cmocka_run_group_tests_name("shade_masters", tests, NULL, NULL);
}
