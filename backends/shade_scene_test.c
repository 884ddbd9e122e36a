/* Shaders joined to the kernel: what they emit arrives, parameters are no part of the text, and
 * what cannot run says where it stands. */
#include "shade_scene.h"
#include "test_scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A wall before the camera; %s: its materials "left" and "right". */
static struct scene *wall(const char *left, const char *right)
{
    char text[4096];
    (void)snprintf(
        text, sizeof text,
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 20},"
        "\"film\": {\"width\": 8, \"height\": 8}, \"render\": {\"spp\": 1, \"max_depth\": 2},"
        "\"materials\": {\"left\": %s, \"right\": %s}, \"objects\": ["
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

/* Halves and doubles are exact: each half of the film holds its own parameter. */
static void emission_arrives(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = wall(GLOW("0.25"), GLOW("4"));
    struct device *d = device_ready("native", s, BVH_AUTO, MODE_STRICT);
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

static void parameters_stay_out_of_the_text(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = wall(GLOW("0.25"), GLOW("4")), *t = wall(GLOW("0.5"), GLOW("3"));
    struct shade_scene a, b, baked;
    must(shade_scene_make(s, false, &a, &err), &err);
    must(shade_scene_make(t, false, &b, &err), &err);
    must(shade_scene_make(s, true, &baked, &err), &err);
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

/* A parameter that decides what runs: read from a buffer and folded by the compiler, the same bits.
 */
static void baked_parameters_give_the_same_bits(void **state)
{
    (void)state;
    static const char pattern[] =
        "{\"type\": \"shader\", \"parameters\": {\"k\": 3, \"tint\": [0.3, 0.6, 0.9]}, \"source\": "
        "\"surface p(int k = 1, color tint = 1) { color c = 0; for (int i = 0; i < k; i++) "
        "c += tint * noise(P * (7.3 + i)); if (k > 2) c = sqrt(c); Ci = c * diffuse(N) "
        "+ 0.1 * emission(); }\"}";
    struct error err = {0};
    struct scene *s = wall(pattern, GLOW("0.3"));
    struct film film[2] = {0};
    struct device *d = NULL;
    must(device_open("native", &d, &err), &err);
    for (int bake = 0; bake < 2; bake++) { /* of one device: the program changes with the scene */
        const struct launch_settings set = {.mode = MODE_STRICT};
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
    (void)state;
    struct error err = {0};
    struct scene *s = wall(
        "{\"type\": \"shader\", \"source\": \"surface spin() { float x = u;\\nwhile (x < 2) x = x "
        "* 0.5;\\nCi = x * emission(); }\"}",
        "{\"type\": \"diffuse\"}");
    struct device *d = device_ready("native", s, BVH_AUTO, MODE_STRICT);
    struct film film = {0};
    assert_int_equal(render(d, s, &film, &err), STATUS_TIMEOUT);
    assert_non_null(strstr(err.msg, ":source:2:"));
    film_free(&film);
    device_close(d);
    scene_free(s);
}

static void what_cannot_run_is_named(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s =
        wall("{\"type\": \"shader\", \"source\": \"surface talk() {\\n setmessage(\\\"m\\\", "
             "u); Ci = emission(); }\"}",
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
    enum { W = 48, H = 12 };
    struct text text = {0};
    struct error err = {0};
    struct film film = {0};
    text_printf(&text,
                "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 20], \"target\": [0, 0, 0], "
                "\"fov\": 10}, \"film\": {\"width\": %d, \"height\": %d}, "
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
    enum { COUNT = sizeof materials / sizeof *materials };
    struct film film[2];
    for (int k = 0; k < 2; k++) {
        struct text text = {0};
        for (size_t i = 0; i < COUNT; i++)
            text_printf(&text, "\"m%zu\": %s, ", i, materials[i][k]);
        film[k] = balls(&text, COUNT);
        text_free(&text);
    }
    for (uint32_t i = 0; i < film[0].width * film[0].height; i++)
        if (memcmp(film[0].sums + 4 * i, film[1].sums + 4 * i, 4 * sizeof *film[0].sums) != 0)
            fail_msg("column %u of %u: driven, it is another material", i % film[0].width,
                     film[0].width);
    film_free(&film[0]);
    film_free(&film[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emission_arrives),
        cmocka_unit_test(parameters_stay_out_of_the_text),
        cmocka_unit_test(baked_parameters_give_the_same_bits),
        cmocka_unit_test(endless_loops_are_named),
        cmocka_unit_test(what_cannot_run_is_named),
        cmocka_unit_test(driven_bases_are_the_materials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
