/* SPDX-License-Identifier: Apache-2.0 */
/* What a scene asks of the kernel: that each material and each closure has its bit, and that a
 * kernel compiled for those alone renders as one that is compiled for all. */
#include "device/features.h"
#include "front/device.h"
#include "layout/layout.h"
#include "tests/test_scenes.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define F(name)       K_FEATURE_##name
#define SHADER(text)  "{\"type\": \"shader\", \"source\": \"surface s() { " text " }\"}"
#define DRIVES(input) /* principled, of which a shader drives one input */                         \
    "{\"type\": \"shader\", \"source\": \"surface s(output float x = 0) { x = u; }\", \"base\": "  \
    "{\"type\": \"principled\"}, \"drive\": {\"" input "\": \"x\"}}"
#define PRINCIPLED (F(PRINCIPLED) | F(BURLEY) | F(REFLECT))

/* A material, and what it needs of K_FEATURES_EXACT by sections 7, 21 and 28 of the protocol. */
static const struct {
    const char *material;
    uint32_t needs;
    bool rendered; /* compared below: compilers take a second for each */
} rows[] = {
    {"{\"type\": \"diffuse\"}", 0, false},
    {"{\"type\": \"mirror\"}", 0, false},
    {"{\"type\": \"dielectric\", \"ior\": 1.5}", F(DIELECTRIC), true},
    {"{\"type\": \"rough_conductor\", \"eta\": 0.2, \"k\": 3, \"roughness\": 0.3}", F(CONDUCTOR),
     false},
    {"{\"type\": \"rough_conductor\", \"eta\": 0.2, \"k\": 3, \"anisotropy\": 0.5}",
     F(CONDUCTOR) | F(REFLECT) | F(LISTED), true},
    {"{\"type\": \"principled\"}", F(PRINCIPLED), false},
    {"{\"type\": \"principled\", \"anisotropy\": 0.5}", PRINCIPLED | F(LISTED), false},
    {"{\"type\": \"principled\", \"specular_tint\": 0.5}", PRINCIPLED | F(LISTED), false},
    {"{\"type\": \"principled\", \"clearcoat\": 0.5}", PRINCIPLED | F(COAT) | F(LISTED), false},
    {"{\"type\": \"principled\", \"sheen\": 0.5}", PRINCIPLED | F(VELVET) | F(LISTED), false},
    {"{\"type\": \"principled\", \"transmission\": 0.5}", PRINCIPLED | F(REFRACT) | F(LISTED),
     false},
    {"{\"type\": \"principled\", \"subsurface\": 0.5}", PRINCIPLED | F(LISTED), true},
    {"{\"type\": \"principled\", \"coat\": 0.5}", PRINCIPLED | F(LISTED), false},
    {"{\"type\": \"principled\", \"fuzz\": 0.5}", PRINCIPLED | F(SHEEN) | F(LISTED), false},
    {"{\"type\": \"principled\", \"transmission\": 1, \"thin\": true, \"coat\": 1, \"fuzz\": 0.2}",
     PRINCIPLED | F(SHEEN) | F(REFRACT) | F(LISTED), true},
    {"{\"type\": \"oren_nayar\", \"sigma\": 0.4}", F(OREN_NAYAR) | F(LISTED), false},
    {"{\"type\": \"rough_dielectric\", \"roughness\": 0.3}", F(REFLECT) | F(REFRACT) | F(LISTED),
     true},
    {"{\"type\": \"thin_dielectric\"}", F(REFLECT) | F(LISTED), false},
    {"{\"type\": \"sheen\"}", F(SHEEN) | F(LISTED), true},
    {DRIVES("roughness"), F(PRINCIPLED), false},
    {DRIVES("clearcoat"), PRINCIPLED | F(COAT), false},
    {DRIVES("sheen"), PRINCIPLED | F(VELVET), false},
    {DRIVES("transmission"), PRINCIPLED | F(REFRACT), false},
    {DRIVES("subsurface"), PRINCIPLED, false},
    {SHADER("Ci = diffuse(N) + 0.1 * emission();"), 0, false},
    {SHADER("Ci = phong(N, 20);"), F(PHONG), false},
    {SHADER("Ci = ward(N, dPdu, 0.1, 0.3);"), F(WARD), false},
    {SHADER("Ci = principled(N, color(0.5), 0, 0.4);"), PRINCIPLED, false},
    {SHADER("Ci = principled(N, color(0.5), 0, 0.4, \\\"sheen\\\", u);"), PRINCIPLED | F(VELVET),
     false},
    {SHADER("Ci = microfacet(\\\"ggx\\\", N, 0.2, 1.5, 0);"), F(REFLECT) | F(REFRACT), false},
    {SHADER("Ci = microfacet(\\\"beckmann\\\", N, 0.2, 1.5, 2);"),
     F(REFLECT) | F(REFRACT) | F(BECKMANN), true},
};

/* A wall of it before a diffuse one, lit from both sides. */
static struct scene *scene_of(const char *material)
{
    char text[4096];
    (void)snprintf(
        text, sizeof text,
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 1, 4], \"target\": [0, 0, 0], \"fov\": 30},"
        "\"film\": {\"width\": 16, \"height\": 16}, \"environment\": {\"radiance\": 0.5},"
        "\"materials\": {\"it\": %s, \"wall\": {\"type\": \"diffuse\"},"
        "\"lamp\": {\"type\": \"diffuse\", \"reflectance\": 0, \"emission\": 4}}, \"objects\": ["
        "{\"type\": \"rectangle\", \"material\": \"it\"},"
        "{\"type\": \"rectangle\", \"material\": \"wall\", \"transform\": [{\"translate\": [0.5, "
        "0, -1]}]},"
        "{\"type\": \"rectangle\", \"material\": \"lamp\", \"transform\": [{\"translate\": [-2, 0, "
        "1]}, {\"rotate\": {\"axis\": [0, 1, 0], \"angle\": 60}}]}]}",
        material);
    return scene_from_text(text);
}

static void each_material_asks_for_its_features(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error err = {0};
        struct layout l;
        struct scene *s = scene_of(rows[i].material);
        must(layout_build(s, BVH_BINARY, SHADE_AREAS, false, &l, &err), &err);
        if ((l.features & K_FEATURES_EXACT) != rows[i].needs)
            fail_msg("%s: 0x%x, not 0x%x", rows[i].material, l.features & K_FEATURES_EXACT,
                     rows[i].needs);
        layout_free(&l);
        scene_free(s);
    }
}

/* A function of device/surface/closure.h without a row would ask for everything, unnoticed. */
static void each_closure_has_a_row(void **state)
{
    static const char mark[] = " k_closure_", takes[] = "(struct k_closures *c, struct k_vec3 w";
    size_t count = 0;
    (void)state;
    for (const char *at = kernel_source; (at = strstr(at, mark)) != NULL;) {
        char name[64];
        at += strlen(mark);
        size_t n = strcspn(at, "(");
        if (n >= sizeof name || strncmp(at + n, takes, strlen(takes)) != 0)
            continue;
        memcpy(name, at, n);
        name[n] = '\0';
        char *end = strrchr(name, '_'); /* the number of its arguments */
        if (!end || !isdigit((unsigned char)end[1]))
            continue;
        *end = '\0';
        if (closure_features(name) == K_FEATURES_EXACT)
            fail_msg("closures.def has no row for %s", name);
        count++;
    }
    assert_true(count > 40);
    assert_int_equal(closure_features("no such closure"), K_FEATURES_EXACT);
}

/* The hash of a strict film by a program that has the scene's features and `more`. */
static void film_of(const struct scene *s, enum code_path code, uint32_t more, char hash[33])
{
    struct error err = {0};
    struct device *d = NULL;
    struct film film = {0};
    const struct render_job job = {.width = 16,
                                   .height = 16,
                                   .sample_count = 8,
                                   .max_depth = 5,
                                   .rr_depth = 3,
                                   .set.build = {.mode = MODE_STRICT, .code = code}};
    must(device_open("native", &d, &err), &err);
    d->info.kind = DEVICE_GPU; /* a processor's programs have all of them */
    must(device_load(d, s, BVH_AUTO, NULL, &err), &err);
    d->layout.features |= more;
    must(device_build(d, &job.set.build, NULL, &err), &err);
    assert_int_equal(d->request.features, d->layout.features);
    must(film_init(&film, 16, 16, film_exponent(s), &err), &err);
    must(device_render(d, &job, &film, true, NULL, &err), &err);
    film_hash(&film, hash);
    film_free(&film);
    device_close(d);
}

static void exact_programs_give_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char exact[33], all[33];
        if (!rows[i].rendered)
            continue;
        struct scene *s = scene_of(rows[i].material);
        /* LLVM's kernel for scenes with shaders is made once, with all features (native_llvm.c). */
        const enum code_path code = strstr(rows[i].material, "shader") ? CODE_SOURCE : CODE_AUTO;
        if (code == CODE_SOURCE)
            setenv("ISOPHOTE_CFLAGS", QUICK_FLAGS, 1);
        film_of(s, code, 0, exact);
        film_of(s, code, K_FEATURES_EXACT | K_FEATURE_LOBES, all);
        unsetenv("ISOPHOTE_CFLAGS");
        if (strcmp(exact, all) != 0)
            fail_msg("%s: %s, with all features %s", rows[i].material, exact, all);
        scene_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_material_asks_for_its_features),
        cmocka_unit_test(each_closure_has_a_row),
        cmocka_unit_test(exact_programs_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
