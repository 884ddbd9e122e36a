/* SPDX-License-Identifier: Apache-2.0 */
/* What materials and meshes say of surfaces: normals made here, a material for each face, tangents
 * of normal maps, media in closed meshes. */
#include "scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD                                                                                       \
    "{\"isophote\": 1, \"camera\": {\"origin\": [0,0,5], \"target\": [0,0,0]}, \"textures\": "     \
    "{\"bumps\": {\"file\": \"../library/textures/veins.jpg\", \"color_space\": \"linear\"}}, "
#define MATERIALS                                                                                  \
    "\"materials\": {\"a\": {\"type\": \"diffuse\"}, \"b\": {\"type\": \"mirror\"}, \"mapped\": "  \
    "{\"type\": \"diffuse\", \"normal_map\": {\"texture\": \"bumps\", \"scale\": 0.5}}, \"fog\": " \
    "{\"type\": \"interface\", \"medium\": {\"density\": 2, \"albedo\": [0.1, 0.5, 0.9], "         \
    "\"g\": 0.0005}}},"

static enum status load(const char *objects, struct scene **out, struct error *err)
{
    struct text t = {0};
    text_printf(&t, HEAD MATERIALS "\"objects\": [%s]}", objects);
    enum status status =
        scene_load_memory(SOURCE_DIR "/scenes/tests/inline.json", t.data, t.len, out, err);
    text_free(&t);
    return status;
}

static struct scene *scene_of(const char *objects)
{
    struct scene *s = NULL;
    struct error err = {0};
    if (load(objects, &s, &err) != STATUS_OK)
        fail_msg("%s: %s", err.path, err.msg);
    return s;
}

/* A cube whose faces are cut along whichever diagonal: by area alone its corners lean towards the
 * faces that have two triangles there; weighted by angles too they do not. */
static void test_angle_normals(void **state)
{
    (void)state;
    struct scene *s = scene_of(
        "{\"type\": \"mesh\", \"material\": \"a\", \"normals\": \"angle\", \"vertices\": "
        "[[-1,-1,-1],[1,-1,-1],[1,1,-1],[-1,1,-1],[-1,-1,1],[1,-1,1],[1,1,1],[-1,1,1]],"
        "\"triangles\": [[0,2,1],[0,3,2],[4,5,6],[4,6,7],[0,1,5],[0,5,4],[2,3,7],[2,7,6],[1,2,6],"
        "[1,6,5],[0,4,7],[0,7,3]]}");
    for (size_t i = 0; i < 8; i++)
        for (int c = 0; c < 3; c++)
            assert_true(fabs((double)s->N[i][c] - (double)s->P[i][c] / sqrt(3)) < 1e-7);
    scene_free(s);
    /* Two walls on an edge, areas 1 : 3, angles 90 and 45 degrees at the corner they share. */
    s = scene_of("{\"type\": \"mesh\", \"material\": \"a\", \"normals\": \"angle\", \"vertices\": "
                 "[[0,0,0],[1,0,0],[0,1,0],[0,0,0],[0,1,0],[0,3,3]],"
                 "\"triangles\": [[0,1,2],[3,4,5]]}");
    double len = sqrt(1.5 * 1.5 + 1); /* 3 (45) e_x and 1 (90) e_z */
    assert_true(fabs((double)s->N[0][0] - 1.5 / len) < 1e-7);
    assert_true(fabs((double)s->N[0][2] - 1 / len) < 1e-7);
    scene_free(s);
}

static void test_face_materials(void **state)
{
    (void)state;
    static const char mesh[] =
        "{\"type\": \"mesh\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0],[1,1,0]], \"triangles\": "
        "[[0,1,2],[0,1,1],[1,3,2]], \"face_materials\": %s}";
    struct text t = {0};
    text_printf(&t, mesh, "[\"b\", \"a\", 0]");
    struct scene *s = scene_of(t.data);
    assert_int_equal(s->triangle_count, 2); /* the second has no area */
    assert_int_equal(s->primitive_material[0], 1);
    assert_int_equal(s->primitive_material[1], 0);
    scene_free(s);
    static const struct {
        const char *list, *path, *words;
    } bad[] = {
        {"[0, 1]", "objects[0].face_materials", "one for each of the 3 triangles"},
        {"[0, 1, 4]", "objects[0].face_materials[2]", "from 0 to 3"},
        {"[0, \"c\", 1]", "objects[0].face_materials[1]", "no material \"c\""},
        {"[0, true, 1]", "objects[0].face_materials[1]", "the name or the number"},
        {"[0, 0, 0], \"material\": \"a\"", "objects[0].face_materials", "expected one of them"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        t.len = 0;
        text_printf(&t, mesh, bad[i].list);
        assert_int_not_equal(load(t.data, &s, &err), STATUS_OK);
        if (!strstr(err.msg, bad[i].words) || strcmp(err.path, bad[i].path) != 0)
            fail_msg("%s", err.msg);
    }
    text_free(&t);
}

static void expect_tangent(const struct scene *s, size_t triangle, int corner, double x, double y,
                           double z, double sign)
{
    const float *t = s->tangents[s->tangent_of[triangle]][corner];
    const double want[4] = {x, y, z, sign};
    for (int c = 0; c < 4; c++)
        if (!(fabs((double)t[c] - want[c]) < 1e-6))
            fail_msg("triangle %zu corner %d: (%g, %g, %g; %g), expected (%g, %g, %g; %g)",
                     triangle, corner, (double)t[0], (double)t[1], (double)t[2], (double)t[3], x, y,
                     z, sign);
}

static void test_tangents(void **state)
{
    (void)state;
    /* A strip of three squares in z = 0: uv as it is, mirrored at x = 1, turned by 90 degrees. */
    struct scene *s = scene_of(
        "{\"type\": \"sphere\", \"material\": \"mapped\"}, {\"type\": \"rectangle\", \"material\": "
        "\"a\"}, {\"type\": \"mesh\", \"material\": \"mapped\", \"vertices\": [[0,0,0],[1,0,0],"
        "[0,1,0],[1,1,0],[2,0,0],[2,1,0],[2,0,0],[3,0,0],[2,1,0],[3,1,0]], \"normals\": "
        "[[0,0,1],[0,0,1],[0,0,1],[0,0,1],[0,0,1],[0,0,1],[0,0,1],[0,0,1],[0,0,1],[0,0,1]], "
        "\"uv\": [[0,0],[1,0],[0,1],[1,1],[0,0],[0,1],[0,0],[0,1],[-1,0],[-1,1]], "
        "\"triangles\": [[0,1,2],[1,3,2],[1,4,3],[4,5,3],[6,7,8],[7,9,8]]}");
    assert_int_equal(s->tangent_count, 6);
    assert_int_equal(s->tangent_of[0], UINT32_MAX);
    for (int k = 0; k < 3; k++) {
        expect_tangent(s, 2, k, 1, 0, 0, 1);
        expect_tangent(s, 3, k, 1, 0, 0, 1);
        expect_tangent(s, 4, k, -1, 0, 0, -1); /* the seam's vertices have both */
        expect_tangent(s, 5, k, -1, 0, 0, -1);
        expect_tangent(s, 6, k, 0, -1, 0, 1);
        expect_tangent(s, 7, k, 0, -1, 0, 1);
    }
    scene_free(s);
}

/* Corners that share a vertex share the mean of their triangles' directions, weighted by the
 * angles: two triangles about the z axis with angles 90 and 45 degrees, u along x in one and
 * turned by 30 degrees in the other. */
static void test_tangent_weights(void **state)
{
    (void)state;
    double c = cos(M_PI / 6), q = sin(M_PI / 6); /* u along (c, q), v along (-q, c): the uv of p */
    struct text t = {0};
    text_printf(&t,
                "{\"type\": \"mesh\", \"material\": \"mapped\", \"vertices\": [[0,0,0],[1,0,0],"
                "[0,1,0],[0,1,0],[-1,1,0]], \"normals\": [[0,0,1],[0,0,1],[0,0,1],[0,0,1],[0,0,1]],"
                "\"uv\": [[0,0],[1,0],[0,1],[%.17g,%.17g],[%.17g,%.17g]], \"triangles\": "
                "[[0,1,2],[0,3,4]]}",
                q, c, -c + q, q + c);
    struct scene *s = scene_of(t.data);
    double x = 2 + c, y = q, len = hypot(x, y); /* angles 90 and 45: weights 2 and 1 */
    expect_tangent(s, 0, 0, x / len, y / len, 0, 1);
    expect_tangent(s, 1, 0, x / len, y / len, 0, 1);
    expect_tangent(s, 0, 1, 1, 0, 0, 1);
    expect_tangent(s, 1, 2, c, q, 0, 1);
    text_free(&t);
    scene_free(s);
}

/* Without uv the map is spread over each triangle by itself; uv without an area take the tangent
 * of their vertex, or any. */
static void test_tangents_without_uv(void **state)
{
    (void)state;
    struct scene *s =
        scene_of("{\"type\": \"mesh\", \"material\": \"mapped\", \"vertices\": "
                 "[[0,0,0],[0,2,0],[-1,0,0]], \"triangles\": [[0,1,2]]},"
                 "{\"type\": \"mesh\", \"material\": \"mapped\", \"vertices\": [[0,0,0],[1,0,0],"
                 "[0,1,0],[1,1,0]], \"normals\": [[0,0,1],[0,0,1],[0,0,1],[0,0,1]], \"uv\": "
                 "[[0,0],[0,1],[1,0],[0,1]], \"triangles\": [[0,1,2],[1,3,1],[1,3,2]]}");
    expect_tangent(s, 0, 0, 0, 1, 0, 1);
    expect_tangent(s, 1, 0, 0, 1, 0, -1);
    expect_tangent(s, 2, 0, 0, 1, 0, -1); /* shares vertex 1, but has no area in uv */
    expect_tangent(s, 2, 1, 1, 0, 0, 1);  /* nobody's: a frame's first axis */
    scene_free(s);
}

static void test_media(void **state)
{
    (void)state;
    struct scene *s = scene_of("{\"type\": \"box\", \"material\": \"fog\"}, {\"type\": \"sphere\", "
                               "\"material\": \"fog\", \"center\": [5,0,0]}");
    const struct material *fog = &s->materials[s->primitive_material[0]];
    assert_true(fog->interface && fog->medium.present && fog->medium.density == 2);
    assert_true(fog->medium.g == 0 && fog->medium.albedo[2] == 0.9F);
    scene_free(s);
    struct error err = {0};
    static const char *const open[] = {
        "{\"type\": \"rectangle\", \"material\": \"fog\"}",
        "{\"type\": \"disk\", \"material\": \"fog\"}",
        "{\"type\": \"mesh\", \"material\": \"fog\", \"vertices\": "
        "[[0,0,0],[1,0,0],[0,1,0],[0,0,1]],"
        "\"triangles\": [[0,2,1],[0,1,3],[0,3,2],[1,3,2]]}" /* one face looks inwards */};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        assert_int_equal(load(open[i], &s, &err), STATUS_TYPE);
        if (!strstr(err.msg, "leave an opening at (") ||
            strcmp(err.path, "materials.fog.medium") != 0)
            fail_msg("%s", err.msg);
    }
}

/* A sphere in an interface whose medium a shader tells. */
static enum status load_volume(const char *source, const char *more, struct scene **out,
                               struct error *err)
{
    struct text t = {0};
    text_printf(&t,
                HEAD "\"materials\": {\"fog\": {\"type\": \"interface\", \"medium\": {\"source\": "
                     "\"%s\"%s}}}, \"objects\": [{\"type\": \"sphere\", \"material\": \"fog\", "
                     "\"center\": [0,0,0]}]}",
                source, more);
    enum status status =
        scene_load_memory(SOURCE_DIR "/scenes/tests/inline.json", t.data, t.len, out, err);
    text_free(&t);
    return status;
}

static void test_media_of_shaders(void **state)
{
    (void)state;
    static const struct {
        const char *source, *more;
        struct medium want;
    } rows[] = {
        {"volume fog() { Ci = anisotropic_vdf(color(0.1, 0.5, 0.9), color(2), 0.25); }",
         "",
         {true, 2, {0.1F, 0.5F, 0.9F}, 0.25F, {0}}},
        {"shader fog(float thick = 1) { Ci = anisotropic_vdf(0.5, thick * color(1), 0.0005); }",
         ", \"parameters\": {\"thick\": 3}",
         {true, 3, {0.5F, 0.5F, 0.5F}, 0, {0}}},
        /* extinctions of 2, 4, 2, of which 1, 2, 0.5 scatter: 2 is the density, the rest is taken */
        {"volume fog() { Ci = anisotropic_vdf(color(0.5, 0.5, 0.25), color(2, 4, 2), 0); }",
         "",
         {true, 2, {0.5F, 1, 0.25F}, 0, {0, 2, 0}}},
        /* nothing scatters: no density, and so no noise */
        {"volume fog() { Ci = anisotropic_vdf(0, color(1, 2, 3), 0.5); }",
         "",
         {true, 0, {0}, 0.5F, {1, 2, 3}}},
        /* exp(-rate 2) is 1/e in each channel */
        {"volume fog() { Ci = medium_vdf(0.75, 2, color(exp(-1.0)), -0.5, 1.5, 3); }",
         "",
         {true, 0.5F, {0.75F, 0.75F, 0.75F}, -0.5F, {0}}},
        {"volume fog() { Ci = medium_vdf(0, 4, color(exp(-1.0), exp(-2.0), 1), 0, 1, 0); }",
         "",
         {true, 0, {0}, 0, {0.25F, 0.5F, 0}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = NULL;
        struct error err = {0};
        const struct medium *want = &rows[i].want;
        if (load_volume(rows[i].source, rows[i].more, &s, &err) != STATUS_OK)
            fail_msg("%s: %s: %s", rows[i].source, err.path, err.msg);
        const struct medium *m = &s->materials[s->primitive_material[0]].medium;
        assert_true(m->present && fabs((double)(m->g - want->g)) < 1e-7);
        assert_true(fabs((double)(m->density - want->density)) < 1e-6);
        for (int c = 0; c < 3; c++)
            if (fabs((double)(m->albedo[c] - want->albedo[c])) > 1e-6 ||
                fabs((double)(m->absorption[c] - want->absorption[c])) > 1e-6)
                fail_msg("%s: channel %d: albedo %g, absorption %g", rows[i].source, c,
                         (double)m->albedo[c], (double)m->absorption[c]);
        scene_free(s);
    }
}

/* By a shader or by numbers: the scene is the same one, so every device has the same picture of it. */
static void test_shaders_medium_is_the_scenes(void **state)
{
    (void)state;
    static const char form[] =
        HEAD "\"materials\": {\"fog\": {\"type\": \"interface\", \"medium\": {%s}}}, \"objects\": "
             "[{\"type\": \"sphere\", \"material\": \"fog\", \"center\": [0,0,0]}]}";
    static const char *const media[] = {
        "\"density\": 0.5, \"albedo\": [0.25, 0.5, 0.75], \"g\": 0.5, \"absorption\": [0, 0.5, 0]",
        "\"source\": \"volume s() { Ci = anisotropic_vdf(color(0.25, 0.25, 0.75), color(0.5, 1, "
        "0.5), "
        "0.5); }\"",
        "\"source\": \"volume s(float g = 0) { Ci = anisotropic_vdf(color(0.25, 0.25, 0.75), "
        "color(0.5, 1, 0.5), g); }\", \"parameters\": {\"g\": 0.5}",
        "\"source\": \"volume s() { Ci = anisotropic_vdf(color(0.25, 0.25, 0.75), color(0.5, 1, "
        "0.5), "
        "0.25); }\""};
    char hash[4][33];
    for (int i = 0; i < 4; i++) {
        struct text t = {0};
        struct scene *s = NULL;
        struct error err = {0};
        text_printf(&t, form, media[i]);
        if (scene_load_memory(SOURCE_DIR "/scenes/tests/inline.json", t.data, t.len, &s, &err))
            fail_msg("%s: %s", err.path, err.msg);
        memcpy(hash[i], s->hash, sizeof hash[i]);
        scene_free(s);
        text_free(&t);
    }
    assert_string_equal(hash[0], hash[1]);
    assert_string_equal(hash[0], hash[2]);
    assert_string_not_equal(hash[0], hash[3]);
}

static void test_bad_volumes(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        enum status status;
        const char *message;
    } rows[] = {
        {"volume s() { }", STATUS_TYPE, "Ci has 0 closures"},
        {"volume s() { Ci = diffuse(N); }", STATUS_TYPE, "diffuse() is no volume"},
        {"volume s() { Ci = anisotropic_vdf(0.5, color(1), 0) + anisotropic_vdf(0.5, color(2), 0); "
         "}",
         STATUS_TYPE, "Ci has 2 closures"},
        {"volume s() { Ci = 2 * anisotropic_vdf(0.5, color(1), 0); }", STATUS_UNSUPPORTED,
         "has the weight (2, 2, 2)"},
        {"volume s() { float x = 1e38 * (10 + u); Ci = (x - x) * anisotropic_vdf(0.5, color(1), "
         "0); }",
         STATUS_UNSUPPORTED, "has the weight ("},
        {"volume s() { Ci = anisotropic_vdf(0.1, color(1, 2, 1 + noise(P)), 0); }",
         STATUS_UNSUPPORTED, "differs from place to place"},
        {"volume s() { Ci = anisotropic_vdf(1.5, color(1), 0); }", STATUS_RANGE, "the albedo is"},
        {"volume s() { Ci = anisotropic_vdf(0.5, color(1, -1, 1), 0); }", STATUS_RANGE,
         "the extinction is (1, -1, 1)"},
        {"volume s() { Ci = anisotropic_vdf(0.5, color(1), 1); }", STATUS_RANGE, "anisotropy is 1"},
        {"volume s() { Ci = anisotropic_vdf(0.9, color(1, 3, 1), 0); }", STATUS_UNSUPPORTED,
         "media have one density"},
        {"volume s() { Ci = medium_vdf(0.5, 0, color(0.5), 0, 1, 0); }", STATUS_RANGE,
         "transmission depth is 0"},
        {"volume s() { Ci = medium_vdf(0.5, 1, color(0.5, 0, 1), 0, 1, 0); }", STATUS_RANGE,
         "transmission colour is (0.5, 0, 1)"},
        {"volume s() { while (u >= 0) { } Ci = anisotropic_vdf(0.5, color(1), 0); }",
         STATUS_TIMEOUT, "does a loop not end?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = NULL;
        struct error err = {0};
        const enum status got = load_volume(rows[i].source, "", &s, &err);
        if (got != rows[i].status || !strstr(err.msg, rows[i].message) ||
            strcmp(err.path, "materials.fog.medium") != 0)
            fail_msg("%s: %s: %s: %s", rows[i].source, status_name(got), err.path, err.msg);
    }
    struct scene *s = NULL;
    struct error err = {0};
    assert_int_equal(load_volume("volume s() { Ci = 0; }", ", \"density\": 1", &s, &err),
                     STATUS_TYPE);
    assert_non_null(strstr(err.msg, "unknown key"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_angle_normals),
        cmocka_unit_test(test_face_materials),
        cmocka_unit_test(test_tangents),
        cmocka_unit_test(test_tangent_weights),
        cmocka_unit_test(test_tangents_without_uv),
        cmocka_unit_test(test_media),
        cmocka_unit_test(test_media_of_shaders),
        cmocka_unit_test(test_shaders_medium_is_the_scenes),
        cmocka_unit_test(test_bad_volumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
