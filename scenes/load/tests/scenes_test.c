/* SPDX-License-Identifier: Apache-2.0 */
/* The scene reader on scenes that are right: geometry, transforms, materials, environment, models,
 * the library. What is wrong is in scenes_bad_test.c. */
#include "scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CAMERA "\"camera\": {\"origin\": [0,0,5], \"target\": [0,0,0]}"
#define GREY   "\"materials\": {\"grey\": {\"type\": \"diffuse\"}}"

/* A scene whose top level is CAMERA, GREY and `rest`; relative files stand beside this test's
 * source. */
static struct scene *scene_of(const char *rest)
{
    struct text t = {0};
    struct scene *s = NULL;
    struct error err = {0};
    text_printf(&t, "{\"isophote\": 1, " CAMERA ", %s}", rest);
    enum status status =
        scene_load_memory(SOURCE_DIR "/scenes/tests/inline.json", t.data, t.len, &s, &err);
    text_free(&t);
    if (status != STATUS_OK) {
        char buf[2000];
        error_format(&err, buf, sizeof buf);
        fail_msg("%s", buf);
    }
    return s;
}

static struct scene *objects_of(const char *objects)
{
    struct text t = {0};
    text_printf(&t, GREY ", \"objects\": [%s]", objects);
    struct scene *s = scene_of(t.data);
    text_free(&t);
    return s;
}

static struct scene *library_scene(const char *name)
{
    char path[512];
    struct scene *s = NULL;
    struct error err = {0};
    snprintf(path, sizeof path, SOURCE_DIR "/scenes/library/%s.json", name);
    if (scene_load(path, &s, &err) != STATUS_OK)
        fail_msg("%s: %s", name, err.msg);
    return s;
}

static bool near3(const float *p, double x, double y, double z, double eps)
{
    return fabs((double)p[0] - x) <= eps && fabs((double)p[1] - y) <= eps &&
           fabs((double)p[2] - z) <= eps;
}

/* Geometric normal times twice the area. */
static void area_vector(const struct scene *s, size_t t, double out[3])
{
    const float *a = s->P[s->triangles[t][0]], *b = s->P[s->triangles[t][1]],
                *c = s->P[s->triangles[t][2]];
    double e[3], f[3];
    for (int i = 0; i < 3; i++) {
        e[i] = (double)b[i] - (double)a[i];
        f[i] = (double)c[i] - (double)a[i];
    }
    for (int i = 0; i < 3; i++)
        out[i] = e[(i + 1) % 3] * f[(i + 2) % 3] - e[(i + 2) % 3] * f[(i + 1) % 3];
}

/* Volume inside by the divergence theorem: positive when every triangle looks outwards. */
static double volume(const struct scene *s)
{
    double sum = 0;
    for (size_t t = 0; t < s->triangle_count; t++) {
        double n[3];
        area_vector(s, t, n);
        const float *p = s->P[s->triangles[t][0]];
        sum += ((double)p[0] * n[0] + (double)p[1] * n[1] + (double)p[2] * n[2]) / 6;
    }
    return sum;
}

/* ---- camera, settings ----------------------------------------------------------------------- */

static void test_defaults(void **state)
{
    (void)state;
    struct scene *s = objects_of("");
    assert_int_equal(s->width, 512);
    assert_int_equal(s->height, 512);
    assert_int_equal(s->spp, 64);
    assert_int_equal(s->max_depth, 8);
    assert_int_equal(s->rr_depth, 5);
    assert_int_equal(s->seed, 0);
    assert_string_equal(s->name, "inline");
    assert_int_equal(scene_primitive_count(s), 0);
    assert_true(s->bounds_min[0] > s->bounds_max[0]);
    assert_int_equal(s->environment.type, ENVIRONMENT_NONE);
    assert_true(fabs(s->camera.tan_half_fov - tan(22.5 * M_PI / 180)) < 1e-15);
    assert_true(s->camera.focus_distance == 5 && s->camera.lens_radius == 0);
    scene_free(s);
    scene_free(NULL);
}

static void test_camera(void **state)
{
    (void)state;
    struct scene *s = NULL;
    static const char text[] =
        "{\"isophote\": 1, \"objects\": [], \"film\": {\"width\": 300, \"height\": 200},"
        "\"render\": {\"spp\": 7, \"max_depth\": 3, \"rr_depth\": 1000, \"seed\": "
        "9007199254740993},"
        "\"camera\": {\"type\": \"perspective\", \"origin\": [1,2,3], \"target\": [1,2,-7],"
        " \"up\": [0,5,1], \"fov\": 90, \"fov_axis\": \"y\", \"lens_radius\": 0.5,"
        " \"focus_distance\": 4}}";
    struct error err = {0};
    assert_int_equal(scene_load_memory("a/b/c.d.json", text, strlen(text), &s, &err), STATUS_OK);
    const struct camera *c = &s->camera;
    assert_string_equal(s->name, "c.d");
    assert_true(s->seed == UINT64_C(9007199254740993)); /* 2^53 + 1: no double in between */
    assert_true(c->forward[2] == -1 && fabs(c->right[0] - 1) < 1e-15 && fabs(c->up[1] - 1) < 1e-15);
    assert_true(fabs(c->up[2]) < 1e-15);
    assert_true(c->lens_radius == 0.5 && c->focus_distance == 4);
    double x, y;
    camera_tangents(c, s->width, s->height, &x, &y);
    assert_true(fabs(y - 1) < 1e-15 && fabs(x - 1.5) < 1e-15);
    scene_free(s);
}

static struct scene *camera_scene(const char *camera, const char *rest)
{
    char text[1024];
    struct scene *s = NULL;
    struct error err = {0};
    int n = snprintf(text, sizeof text,
                     "{\"isophote\": 1, \"objects\": [], \"camera\": {\"origin\": [0,0,5], "
                     "\"target\": [0,0,0]%s}%s}",
                     camera, rest);
    if (scene_load_memory("inline.json", text, (size_t)n, &s, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    return s;
}

static void test_cameras_and_film(void **state)
{
    (void)state;
    struct scene *plain = camera_scene("", "");
    assert_true(plain->camera.type == CAMERA_PERSPECTIVE && plain->camera.blades == 0);
    assert_true(scene_default_filter(plain) && plain->clamp == 0 && plain->crop[2] == 0);

    struct scene *s =
        camera_scene(", \"type\": \"orthographic\", \"height\": 3, \"lens_radius\": 1, "
                     "\"blades\": 6, \"blade_rotation\": 90, \"anamorphic\": 2",
                     ", \"film\": {\"width\": 100, \"height\": 60, \"filter\": {\"type\": "
                     "\"tent\"}, \"crop\": [10, 20, 31, 7]}, \"render\": {\"clamp\": 4}");
    const struct camera *c = &s->camera;
    assert_true(c->type == CAMERA_ORTHOGRAPHIC && c->tan_half_fov == 1.5 && c->blades == 6);
    assert_true(fabs(c->blade_rotation - M_PI / 2) < 1e-15 && c->anamorphic == 2);
    assert_true(s->filter == PIXEL_TENT && s->filter_radius == 1 && s->clamp == 4);
    uint32_t crop[4];
    scene_crop(s, 100, 60, crop);
    assert_true(crop[0] == 10 && crop[1] == 20 && crop[2] == 31 && crop[3] == 7);
    scene_crop(s, 50, 30, crop); /* columns 10 to 40 of 100 touch 5 to 20 of 50 */
    assert_true(crop[0] == 5 && crop[1] == 10 && crop[2] == 16 && crop[3] == 4);
    scene_crop(plain, 50, 30, crop);
    assert_true(crop[0] == 0 && crop[1] == 0 && crop[2] == 50 && crop[3] == 30);
    scene_free(s);

    /* what changes a picture changes the hash; a default written out, and a crop, do not */
    static const struct {
        const char *camera, *rest;
        bool same;
    } rows[] = {
        {", \"blades\": 0, \"anamorphic\": 1", "", true},
        {"", ", \"film\": {\"filter\": {\"type\": \"box\"}}", true},
        {"", ", \"film\": {\"crop\": [1, 2, 3, 4]}", true},
        {", \"blades\": 5", "", false},
        {", \"anamorphic\": 1.5", "", false},
        {", \"type\": \"equirectangular\"", "", false},
        {"", ", \"film\": {\"filter\": {\"type\": \"box\", \"radius\": 1}}", false},
        {"", ", \"film\": {\"filter\": {\"type\": \"gaussian\"}}", false},
        {"", ", \"render\": {\"clamp\": 10}", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s = camera_scene(rows[i].camera, rows[i].rest);
        assert_int_equal(strcmp(s->hash, plain->hash) == 0, rows[i].same);
        scene_free(s);
    }
    scene_free(plain);
}

/* ---- shapes and transforms ------------------------------------------------------------------ */

static void test_box_and_rectangle(void **state)
{
    (void)state;
    struct scene *s = objects_of("{\"type\": \"box\", \"material\": \"grey\", \"min\": [0,0,0],"
                                 " \"max\": [1,2,3]}");
    assert_int_equal(s->triangle_count, 12);
    assert_true(fabs(volume(s) - 6) < 1e-12);
    double area = 0;
    for (size_t t = 0; t < 12; t++) {
        double n[3];
        area_vector(s, t, n);
        area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
        assert_int_equal(s->triangle_flags[t], TRIANGLE_HAS_UV);
    }
    assert_true(fabs(area - 22) < 1e-12);
    assert_true(s->bounds_max[1] == 2 && s->bounds_min[2] == 0);
    scene_free(s);
    s = objects_of("{\"type\": \"rectangle\", \"material\": \"grey\"}");
    assert_int_equal(s->triangle_count, 2);
    for (size_t t = 0; t < 2; t++) {
        double n[3];
        area_vector(s, t, n);
        assert_true(n[0] == 0 && n[1] == 0 && n[2] == 4);
    }
    for (size_t v = 0; v < 4; v++) /* u along x, v along y */
        assert_true(s->UV[v][0] == (s->P[v][0] + 1) / 2 && s->UV[v][1] == (s->P[v][1] + 1) / 2);
    scene_free(s);
}

static void test_transforms(void **state)
{
    (void)state;
    /* (1,0,0) -> scale (2,0,0) -> turn about z (0,2,0) -> move (0,2,5): in the order written */
    struct scene *s = objects_of(
        "{\"type\": \"mesh\", \"material\": \"grey\", \"vertices\": [[1,0,0],[0,1,0],[0,0,1]],"
        " \"triangles\": [[0,1,2]], \"transform\": [{\"scale\": 2},"
        " {\"rotate\": {\"axis\": [0,0,3], \"angle\": 90}}, {\"translate\": [0,0,5]}]},"
        "{\"type\": \"mesh\", \"material\": \"grey\", \"vertices\": [[1,0,0],[0,1,0],[0,0,1]],"
        " \"triangles\": [[0,1,2]], \"transform\": [{\"matrix\": [0,-2,0,0, 2,0,0,0, 0,0,2,5,"
        " 0,0,0,1]}]}");
    for (size_t k = 0; k < 2; k++) {
        assert_true(near3(s->P[3 * k], 0, 2, 5, 0));
        assert_true(near3(s->P[3 * k + 1], -2, 0, 5, 0));
        assert_true(near3(s->P[3 * k + 2], 0, 0, 7, 0));
    }
    scene_free(s);
    /* Rodrigues against the known turn that sends x to y to z to x */
    s = objects_of("{\"type\": \"sphere\", \"material\": \"grey\", \"center\": [1,2,3],"
                   " \"transform\": [{\"rotate\": {\"axis\": [1,1,1], \"angle\": 120}}]}");
    assert_true(near3(s->spheres[0].center, 3, 1, 2, 1e-6));
    scene_free(s);
}

static void test_mirrored(void **state)
{
    (void)state;
    /* outsides stay outside under a mirror, alone and twice */
    static const char box[] = "{\"type\": \"box\", \"material\": \"grey\", \"transform\": [%s"
                              "{\"translate\": [7,1,2]}]}";
    static const char *const steps[] = {"", "{\"scale\": [-1,1,1]},", "{\"scale\": [-1,-2,1]},",
                                        "{\"scale\": -1},"};
    for (size_t i = 0; i < 4; i++) {
        struct text t = {0};
        text_printf(&t, box, steps[i]); // NOLINT(clang-diagnostic-format-nonliteral)
        struct scene *s = objects_of(t.data);
        assert_true(fabs(volume(s) - (i == 2 ? 16 : 8)) < 1e-4);
        scene_free(s);
        text_free(&t);
    }
    struct scene *s = objects_of(
        "{\"type\": \"mesh\", \"material\": \"grey\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0]],"
        " \"normals\": [[0,0,1],[0.6,0,0.8],[0,0,1]], \"triangles\": [[0,1,2]],"
        " \"transform\": [{\"scale\": [1,1,-2]}]}");
    double n[3];
    area_vector(s, 0, n);
    assert_true(n[2] == -1);
    assert_true(near3(s->N[0], 0, 0, -1, 1e-7));
    /* inverse transpose of the stretch: (0.6, 0, -0.8/2), normalised */
    double len = sqrt(0.36 + 0.16);
    assert_true(near3(s->N[1], 0.6 / len, 0, -0.4 / len, 1e-7));
    scene_free(s);
}

static void test_round_things(void **state)
{
    (void)state;
    struct scene *s = objects_of(
        "{\"type\": \"disk\", \"material\": \"grey\", \"center\": [1,0,0], \"normal\": [0,0,4],"
        " \"radius\": 2, \"transform\": [{\"scale\": [1,1,-1]}, {\"scale\": 3}]},"
        "{\"type\": \"sphere\", \"material\": \"grey\", \"center\": [0,1,0], \"radius\": 0.5,"
        " \"transform\": [{\"rotate\": {\"axis\": [1,0,0], \"angle\": 90}}, {\"scale\": -2}]},"
        "{\"type\": \"rectangle\", \"material\": \"grey\"}");
    assert_int_equal(s->disk_count, 1);
    assert_int_equal(s->sphere_count, 1);
    assert_true(near3(s->disks[0].center, 3, 0, 0, 0) && s->disks[0].radius == 6);
    assert_true(near3(s->disks[0].normal, 0, 0, -1, 0)); /* mirrored with the space about it */
    assert_true(near3(s->spheres[0].center, 0, 0, -2, 0) && s->spheres[0].radius == 1);
    assert_true(s->bounds_min[0] == -3 && s->bounds_max[0] == 9 && s->bounds_min[1] == -6);
    assert_true(s->bounds_min[2] == -3 && s->bounds_max[2] == 0);
    scene_free(s);
}

static void test_groups(void **state)
{
    (void)state;
    struct scene *s =
        scene_of(GREY ", \"groups\": {\"row\": [{\"type\": \"instance\", \"group\": \"pair\"},"
                      " {\"type\": \"instance\", \"group\": \"pair\", \"transform\": "
                      "[{\"translate\": [0,10,0]}]}],"
                      " \"pair\": [{\"type\": \"sphere\", \"material\": \"grey\"},"
                      " {\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": "
                      "[{\"translate\": [1,0,0]}]}]},"
                      "\"objects\": [{\"type\": \"instance\", \"group\": \"row\", \"transform\": "
                      "[{\"scale\": 2}]}]");
    assert_int_equal(s->sphere_count, 2);
    assert_int_equal(s->triangle_count, 4);
    assert_true(near3(s->spheres[1].center, 0, 20, 0, 0) && s->spheres[1].radius == 2);
    assert_true(near3(s->P[4], 0, 18, 0, 0)); /* ((-1,-1,0) + (1,0,0) + (0,10,0)) * 2 */
    scene_free(s);
}

static void test_smooth_normals(void **state)
{
    (void)state;
    /* Two walls of an edge, with their own vertices: welded by place, weighted by area 1 : 3. */
    struct scene *s =
        objects_of("{\"type\": \"mesh\", \"material\": \"grey\", \"normals\": \"smooth\","
                   " \"vertices\": [[0,0,0],[1,0,0],[0,1,0], [0,0,0],[0,1,0],[0,0,3]],"
                   " \"triangles\": [[0,1,2],[3,4,5]]}");
    double len = sqrt(10);
    assert_true(near3(s->N[0], 3 / len, 0, 1 / len, 1e-7)); /* normals (0,0,1) and (3,0,0) */
    assert_true(near3(s->N[4], 3 / len, 0, 1 / len, 1e-7));
    assert_true(near3(s->N[1], 0, 0, 1, 0) && near3(s->N[5], 1, 0, 0, 0));
    assert_int_equal(s->triangle_flags[0], TRIANGLE_HAS_NORMALS);
    scene_free(s);
}

static void test_degenerate(void **state)
{
    (void)state;
    struct scene *s =
        objects_of("{\"type\": \"mesh\", \"material\": \"grey\","
                   " \"vertices\": [[0,0,0],[1,0,0],[0,1,0],[2,0,0],[1e-25,0,0],[0,1e-25,0]],"
                   " \"triangles\": [[0,1,1],[0,1,2],[0,1,3],[0,4,5]]},"
                   "{\"type\": \"sphere\", \"material\": \"grey\"}");
    assert_int_equal(s->triangle_count, 1);
    assert_int_equal(s->dropped_degenerate, 3);
    assert_int_equal(scene_primitive_count(s), 2);
    assert_int_equal(s->primitive_material[1], 0);
    assert_true(near3(s->P[s->triangles[0][2]], 0, 1, 0, 0));
    scene_free(s);
}

/* ---- materials, environment ----------------------------------------------------------------- */

static void test_materials(void **state)
{
    (void)state;
    struct scene *s =
        scene_of("\"textures\": {\"t\": {\"file\": \"../library/textures/tile.png\", \"wrap\": "
                 "[\"mirror\", \"clamp\"],"
                 " \"filter\": \"nearest\", \"scale\": [2,3], \"offset\": [0.5,-1], "
                 "\"color_space\": \"linear\"},"
                 " \"e\": {\"file\": \"../library/textures/blocks.exr\"}},"
                 "\"materials\": {\"a\": {\"type\": \"diffuse\", \"reflectance\": {\"texture\": "
                 "\"e\", \"scale\": [1,2,3]},"
                 " \"emission\": [1e-12,0,2], \"emission_two_sided\": true},"
                 " \"b\": {\"type\": \"mirror\"},"
                 " \"c\": {\"type\": \"rough_conductor\", \"eta\": [0.2,0.9,1.1], \"k\": 3, "
                 "\"roughness\": 0.25},"
                 " \"d\": {\"type\": \"dielectric\", \"ior\": 1.33},"
                 " \"f\": {\"type\": \"principled\", \"base_color\": 0.25, \"metallic\": 1,"
                 " \"roughness\": {\"texture\": \"t\", \"channel\": \"g\", \"scale\": 0.5}, "
                 "\"specular\": 0.1}},"
                 "\"objects\": [{\"type\": \"sphere\", \"material\": \"f\"}]");
    const struct material *m = s->materials;
    assert_int_equal(s->material_count, 5);
    assert_int_equal(s->primitive_material[0], 4);
    assert_string_equal(m[0].name, "a");
    assert_int_equal(m[0].base.texture, 1);
    assert_true(near3(m[0].base.value, 1, 2, 3, 0) &&
                near3(m[0].emission, (double)1e-12F, 0, 2, 0));
    assert_true(m[0].emission_two_sided && !m[1].emission_two_sided);
    assert_true(m[1].type == MATERIAL_MIRROR && near3(m[1].base.value, 1, 1, 1, 0));
    assert_true(m[2].type == MATERIAL_ROUGH_CONDUCTOR && near3(m[2].k, 3, 3, 3, 0));
    assert_true(m[2].eta[0] == 0.2F && m[2].roughness.value == 0.25F &&
                m[2].roughness.texture == -1);
    assert_true(m[3].type == MATERIAL_DIELECTRIC && m[3].ior.value == 1.33F);
    assert_true(m[4].type == MATERIAL_PRINCIPLED && m[4].specular.value == 0.1F);
    assert_true(m[4].roughness.texture == 0 && m[4].roughness.channel == 1);
    assert_true(m[4].roughness.value == 0.5F && m[4].metallic.value == 1);
    const struct texture *t = s->textures;
    assert_true(t[0].wrap_u == WRAP_MIRROR && t[0].wrap_v == WRAP_CLAMP);
    assert_true(t[0].filter == FILTER_NEAREST && t[0].scale[1] == 3 && t[0].offset[1] == -1);
    assert_true(t[0].image.format == TEXEL_U8 && !t[0].image.srgb);
    assert_true(t[1].image.format == TEXEL_F32 && t[1].image.width == 8);
    assert_true(((const float *)t[1].image.texels)[0] == 4);
    scene_free(s);
}

static void check_turn(const char *turn, const double world[3], const double local[3])
{
    struct text t = {0};
    text_printf(&t,
                GREY ", \"objects\": [], \"environment\": {\"file\": \"../library/sky.hdr\", %s}",
                turn);
    struct scene *s = scene_of(t.data);
    text_free(&t);
    const float *m = s->environment.to_local;
    for (int i = 0; i < 3; i++)
        assert_true(fabs((double)m[3 * i] * world[0] + (double)m[3 * i + 1] * world[1] +
                         (double)m[3 * i + 2] * world[2] - local[i]) < 1e-6);
    assert_int_equal(s->environment.type, ENVIRONMENT_MAP);
    assert_true(s->environment.map.width == 256 && s->environment.map.channels == 3);
    scene_free(s);
}

static void test_environment(void **state)
{
    (void)state;
    struct scene *s = scene_of(GREY ", \"objects\": [], \"environment\": {\"radiance\": [1,2,3]}");
    assert_int_equal(s->environment.type, ENVIRONMENT_CONSTANT);
    assert_true(near3(s->environment.radiance, 1, 2, 3, 0));
    scene_free(s);
    /* Turned by 90 degrees about +y, counter-clockwise seen from its tip, what stood at +z in the
     * map stands at +x in the world. */
    check_turn("\"rotation\": 0", (double[3]){1, 2, 3}, (double[3]){1, 2, 3});
    check_turn("\"rotation\": 90", (double[3]){1, 0, 0}, (double[3]){0, 0, 1});
    check_turn("\"up\": \"z\"", (double[3]){0, 0, 1}, (double[3]){0, 1, 0});
    check_turn("\"up\": \"z\"", (double[3]){0, 1, 0}, (double[3]){0, 0, -1});
    /* z up: what stood at the map's -z (world +y) is seen at -x after a turn of 90 degrees */
    check_turn("\"up\": \"z\", \"rotation\": 90", (double[3]){-1, 0, 0}, (double[3]){0, 0, -1});
    /* the middle of the picture stays, what was left of it is right */
    check_turn("\"mirror\": true", (double[3]){1, 2, 3}, (double[3]){-1, 2, 3});
    check_turn("\"mirror\": false", (double[3]){1, 2, 3}, (double[3]){1, 2, 3});
    check_turn("\"mirror\": true, \"rotation\": 90", (double[3]){1, 0, 0}, (double[3]){0, 0, 1});
    check_turn("\"mirror\": true, \"rotation\": 90", (double[3]){0, 0, 1}, (double[3]){1, 0, 0});
    check_turn("\"mirror\": true, \"up\": \"z\"", (double[3]){3, 2, 1}, (double[3]){-3, 1, -2});
}

/* Filters leave negative texels in real environment maps; light is not negative. */
static void test_negative_texels(void **state)
{
    (void)state;
    char folder[] = "/tmp/isophote-environment-XXXXXX", path[64], text[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/sky.exr", folder);
    const float rgb[12] = {-1, 2, 3, 4, -0.5F, 6, 7, 8, 9, 0, 0, 0};
    const struct image_channel channels[3] = {{"R", rgb, 3}, {"G", rgb + 1, 3}, {"B", rgb + 2, 3}};
    assert_int_equal(image_write_exr(path, 2, 2, channels, 3, NULL, NULL), STATUS_OK);
    snprintf(text, sizeof text, GREY ", \"objects\": [], \"environment\": {\"file\": \"%s\"}",
             path);
    struct scene *s = scene_of(text);
    const float *texels = s->environment.map.texels;
    for (int i = 0; i < 12; i++)
        assert_true(texels[i] == (rgb[i] < 0 ? 0 : rgb[i]));
    scene_free(s);
    unlink(path);
    rmdir(folder);
}

/* ---- shaders -------------------------------------------------------------------------------- */

static struct scene *shaded(const char *first, const char *second, const char *objects)
{
    struct text t = {0};
    text_printf(&t, "\"materials\": {\"a\": %s, \"b\": %s}, \"objects\": [%s]", first, second,
                objects);
    struct scene *s = scene_of(t.data);
    text_free(&t);
    return s;
}

#define WOOD(parameters)                                                                           \
    "{\"type\": \"shader\", \"shader\": \"../../shaders/library/wood.asl\", \"parameters\": "      \
    "{" parameters                                                                                 \
    "}, \"base\": {\"type\": \"principled\", \"roughness\": 0.25}, \"drive\": {\"base_color\": "   \
    "\"Cout\"}}"
#define TEXT(code) "{\"type\": \"shader\", \"source\": \"" code "\"}"

/* Materials of one file share its program; areas are those of a material's own primitives. */
static void test_shaders(void **state)
{
    (void)state;
    struct scene *s =
        shaded(WOOD("\"tilt\": 1"), WOOD(""),
               "{\"type\": \"rectangle\", \"material\": \"a\"}, {\"type\": "
               "\"rectangle\", \"material\": \"a\", \"transform\": [{\"scale\": 2}]}, "
               "{\"type\": \"sphere\", \"material\": \"b\", \"radius\": 3}");
    const struct material *a = &s->materials[0], *b = &s->materials[1];
    assert_ptr_equal(asl_group_layer_shader(a->shading->group, 0),
                     asl_group_layer_shader(b->shading->group, 0));
    assert_int_equal(a->type, MATERIAL_PRINCIPLED);
    assert_true(a->roughness.value == 0.25F && a->shading->has_base);
    assert_string_equal(a->shading->drive[DRIVE_BASE_COLOR], "a.Cout");
    assert_null(a->shading->drive[DRIVE_ROUGHNESS]);
    assert_true(fabsf(a->shading->surface_area - 20) < 1e-5F);
    assert_true(fabs((double)b->shading->surface_area - 4 * M_PI * 9) < 1e-4);
    assert_string_not_equal(a->shading->hash, b->shading->hash);
    scene_free(s);
}

/* The hash follows what is computed, not how it is written. */
static void test_shader_hash(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool same;
    } rows[] = {
        {TEXT("surface s(float k = 0.5) { Ci = k * diffuse(N); }"), true},
        {TEXT("surface s(float k = 0.5) { /* a comment */ Ci = k*diffuse( N ) ; }"), true},
        {TEXT("surface s(float k = 0.25) { Ci = k * diffuse(N); }"), false},
        {TEXT("surface s(float k = 0.5) { Ci = k * diffuse(Ng); }"), false},
        {"{\"type\": \"shader\", \"parameters\": {\"k\": 0.75}, \"source\": \"surface s(float k = "
         "0.5) { Ci = k * diffuse(N); }\"}",
         false},
        {"{\"type\": \"shader\", \"emission_bound\": 2, \"source\": \"surface s(float k = 0.5) { "
         "Ci "
         "= k * diffuse(N); }\"}",
         false},
    };
    char first[33] = "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = shaded(rows[i].text, "{\"type\": \"diffuse\"}",
                                 "{\"type\": \"sphere\", \"material\": \"a\"}");
        if (i == 0)
            memcpy(first, s->hash, sizeof first);
        if ((strcmp(first, s->hash) == 0) != rows[i].same)
            fail_msg("row %zu: %s", i, rows[i].text);
        scene_free(s);
    }
}

/* Strings that are image files beside the scene, and only those, where a shader looks at images. */
static void test_shader_images(void **state)
{
    (void)state;
    static const char sphere[] = "{\"type\": \"sphere\", \"material\": \"a\"}";
    struct scene *s =
        shaded(TEXT("surface s(string f = \\\"../library/textures/tile.png\\\") { string g = "
                    "\\\"cube.ply\\\"; Ci = (color) texture(f, u, v, \\\"wrap\\\", \\\"clamp\\\") "
                    "* diffuse(N); "
                    "}"),
               "{\"type\": \"diffuse\"}", sphere);
    const struct asl_image *image =
        shader_images_find(&s->shader_images, "../library/textures/tile.png");
    assert_non_null(image);
    assert_null(s->shader_images.first->next);
    assert_int_equal(image->levels[image->level_count - 1].width, 1);
    struct image file;
    struct arena a = {0};
    assert_int_equal(image_read(&a, SOURCE_DIR "/scenes/library/textures/tile.png", &file, NULL),
                     STATUS_OK);
    assert_int_equal(image->levels[0].width, file.width);
    double byte = ((const uint8_t *)file.texels)[0] / 255.0;
    assert_true(fabs((double)image->levels[0].texels[0] - srgb_decode(byte)) < 1e-6);
    arena_free(&a);
    scene_free(s);
    s = shaded(TEXT("surface s(string f = \\\"../library/textures/tile.png\\\") { Ci = strlen(f) * "
                    "diffuse(N); }"),
               "{\"type\": \"diffuse\"}", sphere);
    assert_null(s->shader_images.first);
    scene_free(s);
}

/* ---- lights --------------------------------------------------------------------------------- */

static void test_lights(void **state)
{
    (void)state;
    static const char head[] = GREY ", \"objects\": [{\"type\": \"sphere\", \"material\": "
                                    "\"grey\", \"radius\": 256}], \"lights\": [";
    struct text t = {0};
    text_printf(&t,
                "%s{\"type\": \"spot\", \"position\": [1, 2, 3], \"target\": [1, 0, 3], "
                "\"intensity\": [8, 2, 1], \"angle\": 60},"
                "{\"type\": \"directional\", \"direction\": [3, 0, 4], \"irradiance\": 5}, "
                "{\"type\": \"point\", \"position\": [4, 5, 6], \"intensity\": 7}], "
                "\"render\": {\"light_choice\": \"tree\", \"mis\": \"balance\"}",
                head);
    struct scene *s = scene_of(t.data);
    assert_int_equal(s->light_count, 3);
    assert_int_equal(s->light_choice, LIGHT_CHOICE_TREE);
    assert_int_equal(s->mis, MIS_BALANCE);
    assert_int_equal(s->lights[0].type, LIGHT_SPOT);
    assert_true(near3(s->lights[0].direction, 0, -1, 0, 0));
    assert_true(near3(s->lights[0].intensity, 8, 2, 1, 0));
    assert_true(fabs(s->lights[0].angle - M_PI / 3) < 1e-15 && s->lights[0].inner_angle == 0);
    assert_int_equal(s->lights[1].type, LIGHT_DIRECTIONAL);
    assert_true(near3(s->lights[1].direction, 0.6, 0, 0.8, 1e-7));
    assert_int_equal(s->lights[2].type, LIGHT_POINT);
    assert_true(near3(s->lights[2].position, 4, 5, 6, 0));
    /* the sphere's box has half the diagonal 256 sqrt(3): 15/3 + 5 = 10 in red, 0.5 <= 10/2^4 */
    assert_true(fabs(scene_radius(s) - 256 * sqrt(3)) < 1e-9);
    assert_int_equal(film_exponent(s), 36 - 4);
    scene_free(s);
    text_free(&t);
}

/* ---- hash ----------------------------------------------------------------------------------- */

static void test_hash(void **state)
{
    (void)state;
    static const char *const variants[] = {
        GREY ", \"objects\": [{\"type\": \"sphere\", \"material\": \"grey\"}]",
        GREY
        ", \"objects\": [{\"type\": \"sphere\", \"material\": \"grey\", \"radius\": 1.0000001}]",
        GREY ", \"objects\": [{\"type\": \"disk\", \"material\": \"grey\"}]",
        GREY ", \"objects\": [{\"type\": \"sphere\", \"material\": \"grey\"}], \"environment\": "
             "{\"radiance\": 1}",
        "\"materials\": {\"grey\": {\"type\": \"diffuse\", \"emission\": 1}}, \"objects\": "
        "[{\"type\": \"sphere\", \"material\": \"grey\"}]",
        "\"materials\": {\"grey\": {\"type\": \"mirror\"}}, \"objects\": [{\"type\": \"sphere\", "
        "\"material\": \"grey\"}]",
        GREY ", \"objects\": [{\"type\": \"sphere\", \"material\": \"grey\"}], \"lights\": "
             "[{\"type\": \"point\", \"position\": [0, 0, 3], \"intensity\": 1}]",
        GREY ", \"objects\": [{\"type\": \"sphere\", \"material\": \"grey\"}], \"lights\": "
             "[{\"type\": \"point\", \"position\": [0, 0, 3], \"intensity\": 2}]",
        GREY ", \"objects\": [{\"type\": \"sphere\", \"material\": \"grey\"}], \"render\": "
             "{\"light_choice\": \"tree\"}",
        GREY ", \"objects\": [{\"type\": \"sphere\", \"material\": \"grey\"}], \"render\": "
             "{\"mis\": \"balance\"}",
        "\"textures\": {\"t\": {\"file\": \"../library/textures/tile.png\"}}, \"materials\": "
        "{\"grey\": "
        "{\"type\": \"diffuse\", \"emission\": 1}}, \"objects\": [{\"type\": \"sphere\", "
        "\"material\": \"grey\"}]",
        "\"textures\": {\"t\": {\"file\": \"../library/textures/tile.png\"}}, \"materials\": "
        "{\"grey\": "
        "{\"type\": \"diffuse\", \"emission\": {\"texture\": \"t\"}}}, \"objects\": [{\"type\": "
        "\"sphere\", \"material\": \"grey\"}]",
    };
    enum { N = sizeof variants / sizeof *variants };
    char hash[N][33];
    for (size_t i = 0; i < N; i++) {
        struct scene *s = scene_of(variants[i]);
        memcpy(hash[i], s->hash, 33);
        scene_free(s);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(hash[i], hash[k]);
    }
    /* names, settings and layout of the text do not change a picture */
    struct scene *s =
        scene_of("\"render\": {\"spp\": 3}, \"materials\": {\"other\": {\"type\":\"diffuse\"}},"
                 "\"objects\": [{\"material\": \"other\", \"type\": \"sphere\"}]");
    assert_string_equal(s->hash, hash[0]);
    scene_free(s);
}

/* ---- the frame ------------------------------------------------------------------------------ */

/* The origin of the frame is 0 until all of the scene is far, then near its middle, and everything
 * is relative to it. */
static void test_frame(void **state)
{
    (void)state;
#define BALL(x, r)                                                                                 \
    "{\"type\": \"sphere\", \"material\": \"grey\", \"center\": [" x "], \"radius\": " r "}"
    static const struct {
        const char *objects;
        double origin[3], center[3]; /* of the first sphere, in the frame */
    } rows[] = {{BALL("16, 0, 0", "1"), {0, 0, 0}, {16, 0, 0}},
                {BALL("16.5, 1, -1", "1"),
                 {16, 0, 0},
                 {0.5, 1, -1}}, /* halves of multiples of 2 go to even */
                {BALL("3e5, -7e6, 1.25", "0.5"), {3e5, -7e6, 1}, {0, 0, 0.25}},
                {BALL("1e4, 0, 0", "1") ", " BALL("0, 0, 0", "1"), {0, 0, 0}, {1e4, 0, 0}},
                {BALL("1e4, 0, 0", "1") ", " BALL("9990, 0, 0", "1"), {9992, 0, 0}, {8, 0, 0}},
                {"{\"type\": \"mesh\", \"material\": \"grey\", \"vertices\": [[-1, 0, 0], [1, 0, "
                 "0], [0, 1, "
                 "0]], \"triangles\": [[0, 1, 2]], \"transform\": [{\"translate\": [0, 0, 1e8]}]}",
                 {0, 0, 1e8},
                 {0, 0, 0}},
                {"{\"type\": \"box\", \"material\": \"grey\", \"min\": [5e6, 0, 0], \"max\": "
                 "[5000001.125, 1.125, 1.125]}",
                 {5000001, 1, 1},
                 {0, 0, 0}},
                {"{\"type\": \"mesh\", \"material\": \"grey\", \"vertices\": [[5e6, 0, 0], "
                 "[5000001.125, 0, 0], [5e6, 1.125, 1.125]], \"triangles\": [[0, 1, 2]]}",
                 {5000001, 1, 1},
                 {0, 0, 0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = objects_of(rows[i].objects);
        for (int c = 0; c < 3; c++) {
            if (s->frame_origin[c] != rows[i].origin[c])
                fail_msg("row %zu: frame_origin[%d] is %.17g, expected %.17g", i, c,
                         s->frame_origin[c], rows[i].origin[c]);
            static const double camera[3] = {0, 0, 5};
            assert_true(s->camera.origin[c] == camera[c] - rows[i].origin[c]);
            if (s->sphere_count > 0)
                assert_true((double)s->spheres[0].center[c] == rows[i].center[c]);
            double lo = INFINITY, hi = -INFINITY; /* float32 has steps of 0.5 where these were */
            for (size_t v = 0; v < s->vertex_count; v++) {
                lo = fmin(lo, (double)s->P[v][c]);
                hi = fmax(hi, (double)s->P[v][c]);
            }
            assert_true(i < 6 || (lo == -1 && hi == 0.125));
        }
        scene_free(s);
    }
    /* instances of instances, and lights */
    struct scene *s = scene_of(GREY ", \"groups\": {\"a\": [" BALL(
        "1, 0, 0",
        "1") "], \"b\": [{\"type\": \"instance\", "
             "\"group\": \"a\", \"transform\": [{\"translate\": [0, 4096, 0]}]}]}, \"objects\": "
             "[{\"type\": \"instance\", \"group\": \"b\", \"transform\": [{\"scale\": 2}]}], "
             "\"lights\": [{\"type\": \"point\", \"position\": [2, 8193.5, 0], \"intensity\": 1}]");
    assert_true(s->frame_origin[0] == 0 && s->frame_origin[1] == 8192 && s->frame_origin[2] == 0);
    assert_true(near3(s->spheres[0].center, 2, 0, 0, 0) && s->spheres[0].radius == 2);
    assert_true(near3(s->lights[0].position, 2, 1.5, 0, 0));
    scene_free(s);
}

/* ---- models --------------------------------------------------------------------------------- */

static void test_model_formats(void **state)
{
    (void)state;
    /* the same cube, 2 x 2 x 2, from each format; in the glTF file nodes mirror, turn and move it
     */
    static const char *const files[] = {"cube.ply", "cube.obj", "cube.gltf", "cube-ascii.stl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct text t = {0};
        text_printf(&t, "{\"type\": \"mesh\", \"file\": \"%s\", \"material\": \"grey\"}", files[i]);
        struct scene *s = objects_of(t.data);
        text_free(&t);
        if (s->triangle_count != 12 || fabs(volume(s) - 8) > 1e-5)
            fail_msg("%s: %zu triangles, volume %g", files[i], s->triangle_count, volume(s));
        static const double centers[4][3] = {[2] = {6, 2, 3}};
        for (int c = 0; c < 3; c++)
            assert_true(fabs((s->bounds_min[c] + s->bounds_max[c]) / 2 - centers[i][c]) < 1e-6);
        scene_free(s);
    }
}

static void test_model_materials(void **state)
{
    (void)state;
    struct scene *s = objects_of("{\"type\": \"mesh\", \"file\": \"cube.obj\"}");
    /* grey, and the two that cube.mtl has and cube.obj uses */
    assert_int_equal(s->material_count, 3);
    const struct material *a = &s->materials[s->primitive_material[0]];
    const struct material *b = &s->materials[s->primitive_material[11]];
    assert_string_equal(a->name, "cube.obj:paint");
    assert_true(a->type == MATERIAL_DIFFUSE && near3(a->base.value, 0.8, 0.2, 0.1, 1e-6));
    assert_int_equal(a->base.texture, 0);
    assert_int_equal(s->textures[0].image.width, 64);
    assert_string_equal(b->name, "cube.obj:lamp");
    assert_true(near3(b->emission, 3, 2, 1, 1e-6) && b->base.texture == -1);
    assert_int_equal(s->triangle_flags[0], TRIANGLE_HAS_UV);
    assert_int_equal(s->vertex_count, 20); /* OBJ's 36 corners, welded where place and map agree */
    scene_free(s);
    s = objects_of("{\"type\": \"mesh\", \"file\": \"cube.gltf\"}");
    const struct material *g = &s->materials[s->primitive_material[0]];
    assert_true(g->type == MATERIAL_PRINCIPLED && near3(g->base.value, 0.9, 0.6, 0.3, 1e-6));
    assert_true(fabsf(g->metallic.value - 0.75F) < 1e-6F &&
                fabsf(g->roughness.value - 0.4F) < 1e-6F);
    /* the image inside the file: 2 x 1 texels, red and green */
    assert_int_equal(g->base.texture, 0);
    assert_true(s->textures[0].image.width == 2 && s->textures[0].image.srgb);
    assert_true(s->textures[0].wrap_u == WRAP_CLAMP && s->textures[0].wrap_v == WRAP_MIRROR);
    scene_free(s);
    s = objects_of("{\"type\": \"mesh\", \"file\": \"cube.obj\", \"material\": \"grey\"}");
    assert_int_equal(s->material_count, 1); /* and no texture was read */
    assert_int_equal(s->texture_count, 0);
    scene_free(s);
}

static void test_nan_vertices(void **state)
{
    (void)state;
    struct scene *s =
        objects_of("{\"type\": \"mesh\", \"file\": \"nan.ply\", \"material\": \"grey\"}");
    assert_int_equal(s->triangle_count, 1);
    assert_int_equal(s->dropped_degenerate, 2);
    for (size_t i = 0; i < s->vertex_count; i++)
        for (int c = 0; c < 3; c++)
            assert_true(isfinite(s->P[i][c]));
    assert_true(s->bounds_max[0] == 1);
    scene_free(s);
}

/* ---- the library ---------------------------------------------------------------------------- */

static bool has_vertex(const struct scene *s, double x, double y, double z)
{
    for (size_t i = 0; i < s->vertex_count; i++)
        if (near3(s->P[i], x, y, z, 1e-6))
            return true;
    return false;
}

/* Corners as Mitsuba 3.9.1 reports them for mi.cornell_box(). */
static void test_cornell(void **state)
{
    (void)state;
    static const double corners[][3] = {{0.7096030, -1.0, 0.1808200},
                                        {0.5341800, -1.0, 0.7546030},
                                        {-0.0396030, -0.4, 0.5791799},
                                        {0.1358201, -0.4, 0.0053970},
                                        {-0.1390394, 0.21, -0.6588589},
                                        {0.0488589, -1.01, -0.0890394},
                                        {-0.5209606, 0.21, 0.0988589},
                                        {-0.7088589, -1.01, -0.4709606},
                                        {-0.23, 0.99, -0.18},
                                        {0.23, 0.99, 0.2},
                                        {1, 1, 1},
                                        {-1, -1, -1}};
    struct scene *s = library_scene("cornell");
    assert_int_equal(s->triangle_count, 36);
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++)
        assert_true(has_vertex(s, corners[i][0], corners[i][1], corners[i][2]));
    double n[3];
    area_vector(s, 0, n); /* the light looks down; its area is 0.1748 */
    assert_true(fabs(n[1] + 0.1748) < 1e-6 && n[0] == 0 && n[2] == 0);
    assert_true(
        near3(s->materials[s->primitive_material[0]].emission, 18.387, 13.9873, 6.75357, 1e-6));
    for (size_t t = 0; t < 36; t++) { /* the wall at x = 1 is green, the one at -1 red */
        area_vector(s, t, n);
        const char *name = s->materials[s->primitive_material[t]].name;
        if (fabs(n[0]) > 3.9)
            assert_string_equal(name, n[0] < 0 ? "green" : "red");
    }
    assert_true(fabs(s->camera.tan_half_fov - tan(39.3077 / 2 * M_PI / 180)) < 1e-12);
    assert_int_equal(s->max_depth, 6);
    assert_int_equal(s->rr_depth, 1000);
    assert_int_equal(film_exponent(s), 31);
    scene_free(s);
}

static void test_blob(void **state)
{
    (void)state;
    struct scene *s = library_scene("blob");
    assert_int_equal(s->triangle_count, 1048352 + 4);
    assert_int_equal(s->vertex_count, 725 * 725 + 8);
    assert_int_equal(s->dropped_degenerate, 0);
    assert_true(s->N == NULL);
    /* the first vertex by hand: u = 0, v = 0.0005 */
    double v = 0.0005, x = sin(v), z = cos(v);
    double r = 0.55; /* both products have a sine of 0: y = 0 */
    assert_true(near3(s->P[0], r * x, 0, r * z, 1e-7));
    /* ring 181 of 724 is u = pi/2; its middle vertex, v = pi/2, looks along y */
    double y = 0.55 + 0.06 * sin(3) * sin(8) * sin(1);
    assert_true(near3(s->P[181 * 725 + 362], 0, y, 0, 1e-6));
    assert_true(fabs(volume(s)) >
                0.5); /* the closed part: (4/3) pi 0.55^3 = 0.697 and small change */
    scene_free(s);
}

/* Which groups are kept, by the rule of docs/reference/scenes.md. A tree of 20,000 triangles stands
 * 20 times in a wood, which stands three times: 1.2 million. */
static void test_instancing(void **state)
{
    (void)state;
    static const struct {
        const char *how;
        size_t prototypes, instances, stored, world;
    } wanted[] = {
        {"auto", 1, 60, 20000, 2}, /* 200 bytes a triangle: the tree pays, then the wood does not */
        {"two-level", 1, 3, 400000, 2}, /* the outermost that can be */
        {"flatten", 0, 0, 0, 1200002},
    };
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
        struct text t = {0};
        text_printf(&t, GREY ", \"instancing\": \"%s\", \"groups\": {\"wood\": [", wanted[w].how);
        for (int i = 0; i < 20; i++)
            text_printf(&t,
                        "%s{\"type\": \"instance\", \"group\": \"tree\", \"transform\": "
                        "[{\"scale\": %s}, {\"translate\": [%d,0,0]}]}",
                        i ? "," : "", i % 2 ? "-1" : "0.5", 3 * i);
        text_puts(&t, "], \"tree\": [{\"type\": \"terrain\", \"cells\": 100, \"material\": "
                      "\"grey\"}]}, \"objects\": [{\"type\": \"rectangle\", \"material\": "
                      "\"grey\"}");
        for (int i = 0; i < 3; i++)
            text_printf(&t,
                        ", {\"type\": \"instance\", \"group\": \"wood\", \"transform\": "
                        "[{\"translate\": [0,%d,0]}]}",
                        4 * i);
        text_puts(&t, "]");
        struct scene *s = scene_of(t.data);
        text_free(&t);
        assert_int_equal(s->prototype_count, wanted[w].prototypes);
        assert_int_equal(s->instance_count, wanted[w].instances);
        assert_int_equal(s->prototype_triangle_count, wanted[w].stored);
        assert_int_equal(s->triangle_count, wanted[w].world);
        assert_int_equal(scene_effective_triangles(s), 1200002);
        if (s->instance_count == 60) { /* a parent's transform after the group's own */
            const struct instance *n = &s->instances[20 + 3];
            assert_true(instance_mirrors(n) && n->to_world[0][0] == -1);
            assert_true(n->to_world[0][3] == 9 && n->to_world[1][3] == 4);
            const struct instance *of;
            assert_int_equal(scene_triangle_of(s, n->first_id + 7, &of), 2 + 7);
            assert_ptr_equal(of, n);
        }
        scene_free(s);
    }
}

/* Small scenes are flattened, and so is what cannot be kept. */
static void test_flattening(void **state)
{
    (void)state;
    static const char *const groups[] = {
        "{\"type\": \"box\", \"material\": \"grey\"}",
        "{\"type\": \"box\", \"material\": \"grey\"}, {\"type\": \"sphere\", \"material\": "
        "\"grey\"}",
        "{\"type\": \"box\", \"material\": \"lamp\"}",
        "{\"type\": \"box\", \"material\": \"fog\"}",
    };
    for (int how = 0; how < 2; how++)
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
            struct text t = {0};
            text_printf(&t,
                        "\"materials\": {\"grey\": {\"type\": \"diffuse\"}, \"lamp\": {\"type\": "
                        "\"diffuse\", \"emission\": 1}, \"fog\": {\"type\": \"interface\", "
                        "\"medium\": {\"density\": 1}}}, %s\"groups\": {\"g\": [%s]}, "
                        "\"objects\": [{\"type\": \"instance\", \"group\": \"g\"}, {\"type\": "
                        "\"instance\", \"group\": \"g\", \"transform\": [{\"translate\": "
                        "[5,0,0]}]}]",
                        how ? "\"instancing\": \"two-level\", " : "", groups[i]);
            struct scene *s = scene_of(t.data);
            text_free(&t);
            assert_int_equal(s->instance_count, how && (i == 0 || i == 3) ? 2 : 0);
            assert_int_equal(scene_effective_triangles(s), 24);
            scene_free(s);
        }
}

static struct scene *terrain_of(const char *keys)
{
    struct text t = {0};
    text_printf(&t, "{\"type\": \"terrain\", \"material\": \"grey\"%s}", keys);
    struct scene *s = objects_of(t.data);
    text_free(&t);
    return s;
}

static void test_terrain(void **state)
{
    (void)state;
    struct scene *s = terrain_of(", \"cells\": 16, \"seed\": 5"),
                 *fine = terrain_of(", \"cells\": 32, \"seed\": 5"),
                 *other = terrain_of(", \"cells\": 16, \"seed\": 6, \"normals\": \"face\"");
    assert_int_equal(s->triangle_count, 512);
    assert_int_equal(s->vertex_count, 289);
    assert_null(other->N);
    size_t differ = 0;
    uint32_t fnv = 2166136261U;
    for (size_t j = 0; j <= 16; j++)
        for (size_t i = 0; i <= 16; i++) {
            const float *p = s->P[17 * j + i], *n = s->N[17 * j + i];
            /* a finer grid is the same land */
            assert_memory_equal(p, fine->P[33 * 2 * j + 2 * i], 12);
            assert_true(fabsf(p[2]) <= 0.25F * 2);
            assert_true(n[2] > 0 && fabsf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) < 1e-6F);
            differ += p[2] != other->P[17 * j + i][2];
            uint32_t bits;
            memcpy(&bits, &p[2], 4);
            fnv = (fnv ^ bits) * 16777619U;
        }
    assert_true(differ > 280);
    assert_int_equal(fnv, 0x17A03FBFU);              /* the same on every machine */
    for (size_t i = 0; i < s->triangle_count; i++) { /* all face up */
        const uint32_t *t = s->triangles[i];
        float ax = s->P[t[1]][0] - s->P[t[0]][0], ay = s->P[t[1]][1] - s->P[t[0]][1];
        float bx = s->P[t[2]][0] - s->P[t[0]][0], by = s->P[t[2]][1] - s->P[t[0]][1];
        assert_true(ax * by - ay * bx > 0);
    }
    scene_free(s);
    scene_free(fine);
    scene_free(other);
}

static void test_library_loads(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *const *paths;
    size_t count;
    struct error err = {0};
    assert_int_equal(scene_library(&a, false, &paths, &count, &err), STATUS_OK);
    assert_true(count >= 13);
    for (size_t i = 0; i < count; i++) {
        struct scene *s;
        if (scene_load(paths[i], &s, &err) != STATUS_OK)
            fail_msg("%s: %s", paths[i], err.msg);
        assert_true(scene_primitive_count(s) > 0);
        for (size_t p = 0; p < scene_primitive_count(s); p++)
            assert_true(s->primitive_material[p] < s->material_count);
        scene_free(s);
    }
    const char *path;
    assert_int_equal(scene_resolve(&a, "cornell", &path, &err), STATUS_OK);
    assert_int_equal(scene_resolve(&a, "corenll", &path, &err), STATUS_MISSING);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_camera),
        cmocka_unit_test(test_cameras_and_film),
        cmocka_unit_test(test_box_and_rectangle),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_mirrored),
        cmocka_unit_test(test_round_things),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_smooth_normals),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_negative_texels),
        cmocka_unit_test(test_shaders),
        cmocka_unit_test(test_shader_hash),
        cmocka_unit_test(test_shader_images),
        cmocka_unit_test(test_lights),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_model_formats),
        cmocka_unit_test(test_model_materials),
        cmocka_unit_test(test_nan_vertices),
        cmocka_unit_test(test_cornell),
        cmocka_unit_test(test_blob),
        cmocka_unit_test(test_instancing),
        cmocka_unit_test(test_flattening),
        cmocka_unit_test(test_terrain),
        cmocka_unit_test(test_library_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
