/* SPDX-License-Identifier: Apache-2.0 */
/* The export to Mitsuba 3: what it writes, and what it refuses. That Mitsuba makes the same picture
 * of it is tests/mitsuba's to say. */
#include "scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CAMERA "\"camera\": {\"origin\": [0,0,5], \"target\": [0,0,0]}"

struct sample {
    struct arena arena;
    struct scene *scene;
    char folder[64];
    struct mitsuba_export options;
    struct error err;
    enum status status;
};

static struct sample export_text(const char *rest, struct mitsuba_export options)
{
    struct sample t = {.options = options, .folder = "/tmp/isophote-mitsuba-XXXXXX"};
    struct text json = {0};
    text_printf(&json, "{\"isophote\": 1, " CAMERA ", %s}", rest);
    enum status loaded = scene_load_memory(SOURCE_DIR "/scenes/tests/inline.json", json.data,
                                           json.len, &t.scene, &t.err);
    text_free(&json);
    if (loaded != STATUS_OK)
        fail_msg("%s", t.err.msg);
    assert_non_null(mkdtemp(t.folder));
    char out[128];
    snprintf(out, sizeof out, "%s/out", t.folder);
    t.status = scene_export_mitsuba(&t.arena, t.scene, out, &t.options, &t.err);
    return t;
}

static void close_sample(struct sample *t)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", t->folder);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): a folder of this test's
    scene_free(t->scene);
    arena_free(&t->arena);
}

static const char *file_text(struct sample *t, const char *name, size_t *size)
{
    char path[192], *data;
    snprintf(path, sizeof path, "%s/out/%s", t->folder, name);
    if (file_read(&t->arena, path, 0, &data, size, &t->err) != STATUS_OK)
        fail_msg("%s", t->err.msg);
    return data;
}

/* Attributes named, in this order. */
static void assert_in_order(const char *text, const char *const *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(text, wanted[i]);
        if (!at) {
            fail_msg("not found, or out of order: %s", wanted[i]);
            return;
        }
        text = at + strlen(wanted[i]);
    }
}

static void settings_camera_and_materials_are_written(void **state)
{
    (void)state;
    struct sample t = export_text(
        "\"render\": {\"spp\": 3, \"max_depth\": 7, \"rr_depth\": 4, \"seed\": 9},"
        "\"film\": {\"width\": 20, \"height\": 10},"
        "\"materials\": {\"a<\\\"b\": {\"type\": \"diffuse\", \"reflectance\": [0.25, 0.5, 0.75]},"
        "\"m\": {\"type\": \"mirror\"}, \"d\": {\"type\": \"dielectric\", \"ior\": 1.25},"
        "\"unused\": {\"type\": \"principled\"}, \"lamp\": {\"type\": \"diffuse\", "
        "\"reflectance\": 0, "
        "\"emission\": [1, 2, 4]}},"
        "\"environment\": {\"radiance\": 0.125},"
        "\"objects\": [{\"type\": \"sphere\", \"material\": \"a<\\\"b\"}, {\"type\": \"sphere\", "
        "\"radius\": 2, \"material\": \"m\"}, {\"type\": \"sphere\", \"material\": \"d\"},"
        "{\"type\": \"rectangle\", \"material\": \"lamp\"}]",
        (struct mitsuba_export){0});
    if (t.status != STATUS_OK)
        fail_msg("%s: %s", t.options.notes ? t.options.notes->why : "", t.err.msg);
    assert_null(t.options.notes);
    size_t size;
    const char *xml = file_text(&t, "scene.xml", &size);
    static const char *const wanted[] = {"name=\"width\" value=\"20\"",
                                         "name=\"height\" value=\"10\"",
                                         "name=\"spp\" value=\"3\"",
                                         "name=\"seed\" value=\"9\"",
                                         "name=\"max_depth\" value=\"7\"",
                                         "name=\"rr_depth\" value=\"4\"",
                                         "type=\"perspective\"",
                                         "name=\"fov\" value=\"45\"",
                                         "name=\"fov_axis\" value=\"smaller\"",
                                         "lookat origin=\"0, 0, 5\" target=\"0, 0, 4\"",
                                         "rfilter type=\"box\"",
                                         "type=\"twosided\" id=\"material0-a&#60;&#34;b\"",
                                         "type=\"diffuse\"",
                                         "name=\"reflectance\" value=\"0.25, 0.5, 0.75\"",
                                         "type=\"conductor\"",
                                         "type=\"dielectric\"",
                                         "name=\"int_ior\" value=\"1.25\"",
                                         "emitter type=\"constant\"",
                                         "value=\"0.125, 0.125, 0.125\"",
                                         "shape type=\"sphere\"",
                                         "name=\"radius\" value=\"2\"",
                                         "shape type=\"ply\"",
                                         "emitter type=\"area\"",
                                         "value=\"1, 2, 4\""};
    assert_in_order(xml, wanted, sizeof wanted / sizeof *wanted);
    assert_null(strstr(xml, "principled"));
    close_sample(&t);
}

/* Two triangles: one flat, one with normals that look away from the side its winding names, and uv.
 */
static void meshes_keep_places_and_turn_normals_and_v(void **state)
{
    (void)state;
    struct sample t = export_text(
        "\"materials\": {\"g\": {\"type\": \"diffuse\"}}, \"objects\": [{\"type\": \"mesh\", "
        "\"material\": \"g\", \"vertices\": [[0,0,0],[1,0,0],[0,2,0]], \"triangles\": [[0,1,2]]},"
        "{\"type\": \"mesh\", \"material\": \"g\", \"vertices\": [[0,0,1],[1,0,1],[0,2,1]], "
        "\"triangles\": [[0,1,2]], \"uv\": [[0,0.25],[1,0],[0,1]], \"normals\": [[0,0,-1],[0,0,-1],"
        "[0,0,-1]]}]",
        (struct mitsuba_export){0});
    assert_int_equal(t.status, STATUS_OK);
    size_t size;
    const char *flat = file_text(&t, "scene-mesh0-0.ply", &size);
    assert_non_null(strstr(flat, "element vertex 3\n"));
    assert_null(strstr(flat, "property float nx"));
    float p[9];
    memcpy(p, strstr(flat, "end_header\n") + 11, sizeof p);
    static const float places[9] = {0, 0, 0, 1, 0, 0, 0, 2, 0};
    assert_memory_equal(p, places, sizeof p);
    const char *smooth = file_text(&t, "scene-mesh0-3.ply", &size);
    float v[8];
    memcpy(v, strstr(smooth, "end_header\n") + 11, sizeof v);
    static const float first[8] = {0, 0, 1, 0, 0, 1, 0, 0.75F};
    for (int i = 0; i < 8; i++)
        assert_true(v[i] == first[i]);
    const char *xml = file_text(&t, "scene.xml", &size);
    static const char *const wanted[] = {"scene-mesh0-0.ply", "\"face_normals\" value=\"true\"",
                                         "scene-mesh0-3.ply", "\"face_normals\" value=\"false\""};
    assert_in_order(xml, wanted, 4);
    close_sample(&t);
}

/* Normals of length 0, as scanners write them: the protocol takes the geometric one. */
static void meshes_without_length_of_normals_get_geometric_ones(void **state)
{
    (void)state;
    struct sample t = export_text(
        "\"materials\": {\"g\": {\"type\": \"diffuse\"}}, \"objects\": [{\"type\": \"mesh\", "
        "\"material\": \"g\", \"vertices\": [[0,0,0],[0,3,0],[0,0,2]], \"triangles\": [[0,1,2]], "
        "\"normals\": [[0,0,0],[0,0,0],[0,0,0]]}]",
        (struct mitsuba_export){0});
    assert_int_equal(t.status, STATUS_OK);
    size_t size;
    const char *ply = file_text(&t, "scene-mesh0-1.ply", &size);
    float v[18];
    memcpy(v, strstr(ply, "end_header\n") + 11, sizeof v);
    static const float x[3] = {1, 0, 0};
    for (int i = 0; i < 3; i++)
        assert_memory_equal(v + 6 * i + 3, x, sizeof x);
    close_sample(&t);
}

static bool noted(const struct sample *t, const char *what, const char *why)
{
    for (const struct mitsuba_note *n = t->options.notes; n; n = n->next)
        if (strcmp(n->what, what) == 0 && strstr(n->why, why))
            return true;
    return false;
}

/* One vertex normal 60 degrees off its face, then 30. The plugin goes by the face. */
static void strongly_bent_normals_are_refused_without_plugins(void **state)
{
    (void)state;
    static const char mesh[] =
        "\"materials\": {\"g\": {\"type\": \"diffuse\"}}, \"objects\": [{\"type\": \"mesh\", "
        "\"material\": \"g\", \"vertices\": [[0,0,0],[1,0,0],[0,2,0]], \"triangles\": [[0,1,2]], "
        "\"normals\": [[0,0,1],[0,0,1],[%s]]}]";
    static const char *const normals[] = {"0.866025,0,0.5", "0.5,0,0.866025"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text, mesh, normals[i]);
        struct sample t = export_text(text, (struct mitsuba_export){0});
        assert_int_equal(t.status, i == 0 ? STATUS_UNSUPPORTED : STATUS_OK);
        assert_int_equal(noted(&t, "material \"g\"", "45 degrees from the faces on 100 %"), i == 0);
        close_sample(&t);
        t = export_text(text, (struct mitsuba_export){.plugins = true});
        assert_int_equal(t.status, STATUS_OK);
        size_t size;
        assert_non_null(
            strstr(file_text(&t, "scene.xml", &size), "bsdf type=\"isophote_surface\""));
        close_sample(&t);
    }
}

static double wrapped(const struct image *m, int64_t i, int64_t j, int c)
{
    i = ((i % m->width) + m->width) % m->width;
    j = j < 0 ? 0 : j >= (int64_t)m->height ? (int64_t)m->height - 1 : j;
    return ((const float *)m->texels)[((size_t)j * m->width + (size_t)i) * 3 + (size_t)c];
}

static double bilinear(const struct image *m, double x, double y, int c)
{
    int64_t i = (int64_t)floor(x), j = (int64_t)floor(y);
    double fx = x - (double)i, fy = y - (double)j;
    return (1 - fy) * ((1 - fx) * wrapped(m, i, j, c) + fx * wrapped(m, i + 1, j, c)) +
           fy * ((1 - fx) * wrapped(m, i, j + 1, c) + fx * wrapped(m, i + 1, j + 1, c));
}

/* Mitsuba looks up at (u W - 1/2, v (H - 1)) with the poles on the first and the last row. */
static void environment_means_the_same_at_mitsubas_places(void **state)
{
    (void)state;
    struct sample t =
        export_text("\"materials\": {}, \"objects\": [], \"environment\": {\"file\": "
                    "\"../library/textures/blocks.exr\", \"scale\": [1, 2, 0.5], \"rotation\": 30}",
                    (struct mitsuba_export){0});
    assert_int_equal(t.status, STATUS_OK);
    struct image written;
    char path[128];
    snprintf(path, sizeof path, "%s/out/scene-environment.exr", t.folder);
    assert_int_equal(image_read(&t.arena, path, &written, &t.err), STATUS_OK);
    const struct image *map = &t.scene->environment.map;
    assert_int_equal(written.height, 2 * map->height + 1);
    static const double scale[3] = {1, 2, 0.5};
    for (unsigned n = 0; n < 5000; n++) {
        uint32_t word[4];
        philox4x32((const uint32_t[4]){n, 0, 0, 0}, (const uint32_t[2]){1, 2}, word);
        double u = u01(word[0]), v = u01(word[1]);
        for (int c = 0; c < 3; c++) {
            double ours = scale[c] * bilinear(map, u * map->width - 0.5, v * map->height - 0.5, c);
            double theirs =
                bilinear(&written, u * written.width - 0.5, v * (written.height - 1), c);
            /* float32 texels: a few times 2^-24 of the largest, 4 times 2 */
            assert_true(fabs(ours - theirs) <= 2e-6 * fmax(1, ours));
        }
    }
    close_sample(&t);
}

#define ODD                                                                                        \
    "\"textures\": {\"t\": {\"file\": \"../library/textures/tile.png\", \"wrap\": [\"mirror\", "   \
    "\"clamp\"]}}, \"materials\": {\"gold\": {\"type\": \"rough_conductor\", \"eta\": 0.2, "       \
    "\"k\": 3, \"roughness\": 0.4}, \"p\": {\"type\": \"principled\"}, \"t\": {\"type\": "         \
    "\"diffuse\", \"reflectance\": {\"texture\": \"t\"}}, \"both\": {\"type\": \"diffuse\", "      \
    "\"emission\": 1, \"emission_two_sided\": true}, \"asl\": {\"type\": \"shader\", \"source\": " \
    "\"surface s() { Ci = diffuse(N); }\"}}, \"objects\": [{\"type\": \"rectangle\", "             \
    "\"material\": \"gold\"}, {\"type\": \"rectangle\", \"material\": \"p\"}, {\"type\": "         \
    "\"rectangle\", \"material\": \"t\"}, {\"type\": \"rectangle\", \"material\": \"both\"}, "     \
    "{\"type\": \"rectangle\", \"material\": \"asl\"}]"

static void what_has_no_counterpart_is_refused_by_name(void **state)
{
    (void)state;
    struct sample t = export_text(ODD, (struct mitsuba_export){0});
    assert_int_equal(t.status, STATUS_UNSUPPORTED);
    assert_true(noted(&t, "material \"gold\"", "masks"));
    assert_true(noted(&t, "material \"p\"", "masks"));
    assert_true(noted(&t, "material \"p\"", "Fresnel"));
    assert_true(noted(&t, "material \"t\"", "wraps"));
    assert_true(noted(&t, "material \"both\"", "one side"));
    assert_true(noted(&t, "material \"asl\"", "ASL"));
    char out[128];
    snprintf(out, sizeof out, "%s/out", t.folder);
    assert_int_not_equal(access(out, F_OK), 0);
    close_sample(&t);
}

static void lossy_writes_the_nearest_and_lists_the_same(void **state)
{
    (void)state;
    struct sample t = export_text(ODD, (struct mitsuba_export){.lossy = true});
    assert_int_equal(t.status, STATUS_OK);
    assert_true(noted(&t, "material \"gold\"", "masks"));
    size_t size;
    const char *xml = file_text(&t, "scene.xml", &size);
    assert_non_null(strstr(xml, "type=\"roughconductor\""));
    assert_non_null(strstr(xml, "name=\"alpha\" value=\"0.16"));
    assert_non_null(strstr(xml, "type=\"principled\""));
    assert_null(strstr(xml, "isophote_"));
    close_sample(&t);
}

static void plugins_leave_only_what_they_cannot_do(void **state)
{
    (void)state;
    struct sample t = export_text(ODD, (struct mitsuba_export){.lossy = true, .plugins = true});
    assert_int_equal(t.status, STATUS_OK);
    assert_false(noted(&t, "material \"gold\"", ""));
    assert_false(noted(&t, "material \"p\"", ""));
    assert_false(noted(&t, "material \"t\"", ""));
    assert_false(noted(&t, "material \"both\"", ""));
    assert_true(noted(&t, "material \"asl\"", "ASL"));
    size_t size;
    const char *xml = file_text(&t, "scene.xml", &size);
    assert_non_null(strstr(xml, "emitter type=\"isophote_area\""));
    assert_non_null(strstr(xml, "type=\"isophote_conductor\""));
    assert_non_null(strstr(xml, "type=\"isophote_texture\""));
    file_text(&t, "isophote_bsdfs.py", &size);
    assert_true(size > 1000);
    close_sample(&t);
}

static void cameras_lights_and_new_materials_are_written(void **state)
{
    (void)state;
    char path[256];
    struct scene *scene = NULL;
    struct sample t = {.folder = "/tmp/isophote-mitsuba-XXXXXX", .options = {.plugins = true}};
    assert_non_null(mkdtemp(t.folder));
    static const char *const names[] = {"materials",  "lights", "instances",
                                        "principled", "camera", "surfaces"};
    static const char *const wanted[][6] = {
        {"type=\"isophote_oren_nayar\"", "type=\"isophote_correlated\"",
         "name=\"masking_alpha\" value=\"0.25\"", "type=\"roughdielectric\"",
         "type=\"thindielectric\"", "type=\"mask\""},
        {"sensor type=\"orthographic\"", "name=\"sample_border\" value=\"true\"",
         "rfilter type=\"tent\"", "emitter type=\"point\"", "emitter type=\"isophote_spot\"",
         "emitter type=\"directional\""},
        {"shape type=\"shapegroup\" id=\"group0\"", "scene-group0-mesh1-2.ply",
         "scene-group0-mesh2-0.ply", "shape type=\"instance\"", "ref id=\"group0\"",
         "shape type=\"instance\""},
        {"type=\"isophote_principled_lobes\"", "name=\"ior\" value=\"1.5\"",
         "name=\"rotation\" value=\"0.15", "name=\"anisotropic\" value=\"0.89999",
         "name=\"spec_trans\" value=\"1\"", "type=\"isophote_conductor\""},
        {"sensor type=\"thinlens\"", "name=\"crop_offset_x\" value=\"8\"",
         "name=\"crop_width\" value=\"48\"", "emitter type=\"envmap\"", "shape type=\"sphere\"",
         "shape type=\"disk\""},
        {"type=\"isophote_surface\"", "name=\"disk\" value=\"true\"",
         "name=\"own_frame\" value=\"true\"", "emitter type=\"isophote_area\"",
         "name=\"two_sided\" value=\"true\"", "name=\"unbounded\" value=\"true\""}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        snprintf(path, sizeof path, SOURCE_DIR "/tests/mitsuba_scenes/%s.json", names[i]);
        if (scene_load(path, &scene, &t.err) != STATUS_OK)
            fail_msg("%s: %s", path, t.err.msg);
        snprintf(path, sizeof path, "%s/out", t.folder);
        t.status = scene_export_mitsuba(&t.arena, scene, path, &t.options, &t.err);
        if (t.status != STATUS_OK)
            fail_msg("%s: %s", t.options.notes ? t.options.notes->why : "", t.err.msg);
        size_t size;
        assert_in_order(file_text(&t, "scene.xml", &size), wanted[i], 6);
        scene_free(scene);
    }
    close_sample(&t);
}

/* One triangle whose u runs along x and v along y: the tangent is x, the bitangent's sign +. */
static void normal_maps_and_colors_go_with_the_vertices(void **state)
{
    (void)state;
    struct sample t = export_text(
        "\"textures\": {\"n\": {\"file\": \"../library/textures/bumps.png\", \"color_space\": "
        "\"linear\"}}, \"materials\": {\"g\": {\"type\": \"diffuse\", \"normal_map\": "
        "{\"texture\": \"n\", \"scale\": 2}}}, \"objects\": [{\"type\": \"mesh\", "
        "\"material\": \"g\", \"vertices\": [[0,0,0],[1,0,0],[0,2,0]], \"triangles\": [[0,1,2]], "
        "\"uv\": [[0,0],[1,0],[0,1]], \"colors\": [[0.25,0.5,1],[1,1,1],[1,1,1]], \"normals\": "
        "[[0,0,1],[0,0,1],[0,0,1]]}]",
        (struct mitsuba_export){.plugins = true});
    if (t.status != STATUS_OK)
        fail_msg("%s: %s", t.options.notes ? t.options.notes->why : "", t.err.msg);
    size_t size;
    const char *ply = file_text(&t, "scene-mesh0-7.ply", &size);
    static const char *const properties[] = {"nz",      "u",         "v",         "color_0",
                                             "color_2", "tangent_0", "tangent_2", "sign_0",
                                             "total_0", "total_2",   "end_header"};
    assert_in_order(ply, properties, sizeof properties / sizeof *properties);
    float v[18];
    memcpy(v, strstr(ply, "end_header\n") + 11, sizeof v);
    static const float first[18] = {0, 0, 0, 0, 0, 1, 0, 1, 0.25F, 0.5F, 1, 1, 0, 0, 1, 0, 0, 1};
    for (int i = 0; i < 18; i++)
        assert_true(v[i] == first[i]);
    static const char *const wanted[] = {"type=\"isophote_colored\"", "type=\"isophote_surface\"",
                                         "name=\"normal_map\"", "name=\"map_scale\" value=\"2\""};
    assert_in_order(file_text(&t, "scene.xml", &size), wanted, 4);
    close_sample(&t);
}

/* bumps.png is never black: its roughness becomes alpha; with a small factor some of it is smooth.
 */
static void textured_roughness_of_glass_is_squared(void **state)
{
    (void)state;
    static const char glass[] =
        "\"textures\": {\"t\": {\"file\": \"../library/textures/bumps.png\", \"color_space\": "
        "\"linear\"}}, \"materials\": {\"g\": {\"type\": \"rough_dielectric\", \"roughness\": "
        "{\"texture\": \"t\", \"channel\": \"b\", \"scale\": %s}}}, \"objects\": [{\"type\": "
        "\"sphere\", \"material\": \"g\"}]";
    static const char *const scales[] = {"1", "0.01"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text, glass, scales[i]);
        struct sample t = export_text(text, (struct mitsuba_export){.plugins = true});
        assert_int_equal(t.status, i == 0 ? STATUS_OK : STATUS_UNSUPPORTED);
        assert_int_equal(noted(&t, "material \"g\"", "smooth below 0.032"), i == 1);
        size_t size;
        static const char *const wanted[] = {"name=\"masking_alpha\" type=\"isophote_alpha\"",
                                             "name=\"alpha\" type=\"isophote_alpha\""};
        if (i == 0)
            assert_in_order(file_text(&t, "scene.xml", &size), wanted, 2);
        close_sample(&t);
    }
}

/* Colours in Mitsuba end at 1. */
static void absorption_above_1_is_a_factor(void **state)
{
    (void)state;
    struct sample t = export_text(
        "\"materials\": {\"ink\": {\"type\": \"interface\", \"medium\": {\"density\": 1, "
        "\"albedo\": 0.5, \"absorption\": [0, 1, 3]}}}, \"objects\": [{\"type\": \"sphere\", "
        "\"material\": \"ink\"}]",
        (struct mitsuba_export){0});
    assert_int_equal(t.status, STATUS_OK);
    size_t size;
    static const char *const wanted[] = {"name=\"sigma_t\" value=\"0.25, 0.5, 1\"",
                                         "name=\"scale\" value=\"4\"",
                                         "name=\"albedo\" value=\"0.5, 0.25, 0.125\""};
    assert_in_order(file_text(&t, "scene.xml", &size), wanted, 3);
    close_sample(&t);
}

/* Mitsuba's frames are others there. */
static void brushed_disks_and_meshes_without_uv_are_refused_without_plugins(void **state)
{
    (void)state;
    struct sample t = export_text(
        "\"materials\": {\"d\": {\"type\": \"rough_conductor\", \"metal\": \"iron\", "
        "\"anisotropy\": 0.5}, \"m\": "
        "{\"type\": \"principled\", \"anisotropy\": 0.5}, \"fine\": {\"type\": \"principled\", "
        "\"anisotropy\": 0.5}}, \"objects\": [{\"type\": \"disk\", \"material\": \"d\", "
        "\"center\": [0, 0, 0], \"normal\": [0, 0, 1], \"radius\": 1}, {\"type\": \"mesh\", "
        "\"material\": \"m\", \"vertices\": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], \"triangles\": [[0, "
        "1, 2]]}, {\"type\": \"rectangle\", \"material\": \"fine\"}]",
        (struct mitsuba_export){0});
    assert_int_equal(t.status, STATUS_UNSUPPORTED);
    assert_true(noted(&t, "material \"d\"", "disk"));
    assert_true(noted(&t, "material \"m\"", "without texture coordinates"));
    assert_false(noted(&t, "material \"fine\"", "without texture coordinates"));
    close_sample(&t);
}

static void cameras_without_counterpart_are_refused(void **state)
{
    (void)state;
    struct mitsuba_export options = {0};
    struct arena a = {0};
    struct scene *scene = NULL;
    struct error err = {0};
    static const char text[] =
        "{\"isophote\": 1, \"camera\": {\"type\": \"equirectangular\", \"origin\": [0,0,5], "
        "\"target\": [0,0,0]}, \"film\": {\"filter\": {\"type\": \"blackman-harris\", \"radius\": "
        "2}}, \"render\": {\"clamp\": 4}, \"objects\": []}";
    assert_int_equal(scene_load_memory("inline.json", text, sizeof text - 1, &scene, &err),
                     STATUS_OK);
    assert_int_equal(scene_export_mitsuba(&a, scene, "/nonexistent/x.xml", &options, &err),
                     STATUS_UNSUPPORTED);
    struct sample t = {.options = options};
    assert_true(noted(&t, "camera", "equirectangular"));
    assert_true(noted(&t, "film", "Blackman-Harris"));
    assert_true(noted(&t, "render", "clamp"));
    scene_free(scene);
    arena_free(&a);
}

static void wide_boxes_are_refused(void **state)
{
    (void)state;
    struct sample t = export_text("\"film\": {\"filter\": {\"type\": \"box\", \"radius\": 0.75}}, "
                                  "\"materials\": {}, \"objects\": []",
                                  (struct mitsuba_export){.plugins = true});
    assert_int_equal(t.status, STATUS_UNSUPPORTED);
    assert_true(noted(&t, "film", "one pixel wide"));
    close_sample(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_camera_and_materials_are_written),
        cmocka_unit_test(meshes_keep_places_and_turn_normals_and_v),
        cmocka_unit_test(meshes_without_length_of_normals_get_geometric_ones),
        cmocka_unit_test(strongly_bent_normals_are_refused_without_plugins),
        cmocka_unit_test(environment_means_the_same_at_mitsubas_places),
        cmocka_unit_test(what_has_no_counterpart_is_refused_by_name),
        cmocka_unit_test(lossy_writes_the_nearest_and_lists_the_same),
        cmocka_unit_test(plugins_leave_only_what_they_cannot_do),
        cmocka_unit_test(normal_maps_and_colors_go_with_the_vertices),
        cmocka_unit_test(textured_roughness_of_glass_is_squared),
        cmocka_unit_test(absorption_above_1_is_a_factor),
        cmocka_unit_test(brushed_disks_and_meshes_without_uv_are_refused_without_plugins),
        cmocka_unit_test(wide_boxes_are_refused),
        cmocka_unit_test(cameras_lights_and_new_materials_are_written),
        cmocka_unit_test(cameras_without_counterpart_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
