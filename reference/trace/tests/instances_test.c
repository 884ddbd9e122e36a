/* SPDX-License-Identifier: Apache-2.0 */
/* Instances (section 25): through Embree's trees of two levels against brute force, bit by bit; and
 * against the same scene flattened by the reader, which shares no code with the placing here. */
#include "numbers/random.h"
#include "path/path.h"
#include "tests/test_scene.h"
#include "tests/test_statistics.h"
#include "trace/candidates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A bent sheet with normals and texture coordinates; a box beside a turned copy of the sheet. */
static const char groups[] =
    "\"groups\": {\"sheet\": [{\"type\": \"mesh\", \"material\": \"clay\", \"vertices\": "
    "[[-1,-1,0],[1,-1,0.3],[1,1,0],[-1,1,0.3],[0,0,0.8]], \"triangles\": "
    "[[0,1,4],[1,2,4],[2,3,4],[3,0,4]], \"uv\": [[0,0],[1,0],[1,1],[0,1],[0.4,0.6]], \"normals\": "
    "[[-0.3,-0.2,1],[0.4,-0.3,1],[0.2,0.3,1],[-0.3,0.4,1],[0,0.1,1]]}],"
    "\"pair\": [{\"type\": \"box\", \"material\": \"shiny\", \"min\": [-0.5,-0.4,-0.3], \"max\": "
    "[0.5,0.4,0.3]}, {\"type\": \"instance\", \"group\": \"sheet\", \"transform\": [{\"scale\": "
    "[0.6,0.6,-0.8]}, {\"rotate\": {\"axis\": [1,2,3], \"angle\": 50}}, {\"translate\": "
    "[0.2,0.1,0.4]}]}],"
    "\"lamp\": [{\"type\": \"rectangle\", \"material\": \"light\"}],"
    "\"round\": [{\"type\": \"sphere\", \"material\": \"clay\", \"radius\": 0.3}]},";

static struct scene *scene_loaded(const char *instancing)
{
    static const char *const transforms[] = {
        "{\"translate\": [0,0,1]}",
        "{\"rotate\": {\"axis\": [1,1,0.2], \"angle\": 77}}, {\"translate\": [2,0.5,1]}",
        "{\"scale\": [-1,1,1]}, {\"translate\": [-2,0,1]}",
        "{\"scale\": [0.2,1.5,0.7]}, {\"rotate\": {\"axis\": [0,1,1], \"angle\": 33}}, "
        "{\"translate\": [0,2,1]}",
        "{\"scale\": 0.003}, {\"rotate\": {\"axis\": [2,1,1], \"angle\": 12}}, {\"translate\": "
        "[0,-1.5,2]}",
        "{\"scale\": [3,-2,0.5]}, {\"translate\": [1,1,-1]}",
        "{\"matrix\": [1,0.7,0,0, 0,1,0.4,-2, 0.3,0,1,1.5, 0,0,0,1]}",
        "{\"translate\": [0,0,1]}", /* as the first: each hit has its twin */
    };
    static char text[16384];
    struct scene *s;
    struct error err = {0};
    int n = snprintf(text, sizeof text,
                     "{\"isophote\": 1, \"instancing\": \"%s\", \"camera\": {\"origin\": [1,-9,5], "
                     "\"target\": [0,0,0.8], \"fov\": 40}, \"film\": {\"width\": 48, \"height\": "
                     "36}, \"environment\": {\"radiance\": 0.4}, \"materials\": {\"clay\": "
                     "{\"type\": \"diffuse\", \"reflectance\": [0.7,0.5,0.4]}, \"shiny\": "
                     "{\"type\": \"principled\", \"metallic\": 0.6, \"roughness\": 0.4}, "
                     "\"light\": {\"type\": \"diffuse\", \"emission\": 6}}, %s \"objects\": "
                     "[{\"type\": \"instance\", \"group\": \"lamp\", \"transform\": [{\"rotate\": "
                     "{\"axis\": [1,0,0], \"angle\": 180}}, {\"translate\": [0,0,6]}]}",
                     instancing, groups);
    for (size_t i = 0; i < sizeof transforms / sizeof *transforms; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      ",{\"type\": \"instance\", \"group\": \"%s\", \"transform\": [%s]}",
                      i % 3 == 1 ? "pair" : "sheet", transforms[i]);
    n += snprintf(text + n, sizeof text - (size_t)n,
                  ",{\"type\": \"instance\", \"group\": \"round\"},{\"type\": \"rectangle\", "
                  "\"material\": \"clay\", \"transform\": [{\"scale\": 5}, {\"translate\": "
                  "[0,0,-1.2]}]}]}");
    assert_true(n < (int)sizeof text);
    if (scene_load_memory("instances.json", text, (size_t)n, &s, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    return s;
}

static struct vec3 in_cube(uint32_t stream, uint32_t i, double half)
{
    double u[4];
    test_numbers(stream, i, u);
    return vec3(half * (2 * u[0] - 1), half * (2 * u[1] - 1), half * (2 * u[2] - 1));
}

/* Ray i at a point of the scene, at a corner of a triangle, or along an axis. */
static void ray_make(const struct scene *s, uint32_t i, double o[3], double d[3])
{
    struct vec3 v[3], target = in_cube(1, i, 2.5), from = in_cube(2, i, i % 4 == 3 ? 1e4 : 6);
    if (i % 3 == 1) {
        uint32_t id = (i * 7) % (uint32_t)scene_effective_count(s);
        if (is_triangle(s, id)) {
            triangle_vertices(s, id, v);
            target = v[i % 3];
        }
    }
    struct vec3 along = normalize(sub(target, from));
    if (i % 5 == 4) {
        along = vec3(i % 2 ? 1 : 0, 0, i % 2 ? 0 : -1);
        from = sub(target, scale(7, along));
    }
    to_double(from, o), to_double(along, d);
}

static void test_layout(void **state)
{
    (void)state;
    struct scene *two = scene_loaded("two-level"), *flat = scene_loaded("flatten");
    assert_int_equal(flat->instance_count, 0);
    assert_int_equal(two->prototype_count, 2); /* no lamp, nothing round */
    assert_int_equal(two->instance_count, 8);
    assert_int_equal(two->triangle_count, 4); /* lamp and floor */
    assert_int_equal(two->prototype_triangle_count, 4 + 12 + 4);
    assert_int_equal(two->sphere_count, 1);
    assert_int_equal(scene_effective_count(two), scene_primitive_count(flat));
    assert_int_equal(scene_effective_triangles(two), flat->triangle_count);
    uint32_t id = (uint32_t)scene_primitive_count(two);
    for (size_t i = 0; i < two->instance_count; i++) {
        const struct instance *n = &two->instances[i];
        assert_int_equal(n->first_id, id);
        for (uint32_t k = 0; k < two->prototypes[n->prototype].count; k++, id++)
            assert_ptr_equal(scene_instance_of(two, id), n);
    }
    for (int c = 0; c < 3; c++) { /* boxes of boxes: not smaller */
        assert_true(two->bounds_min[c] <= flat->bounds_min[c] + 1e-6);
        assert_true(two->bounds_max[c] >= flat->bounds_max[c] - 1e-6);
    }
    scene_free(two);
    scene_free(flat);
}

static void test_brute_force(void **state)
{
    (void)state;
    enum { RAYS = 20000 };
    struct scene *s = scene_loaded("two-level");
    struct reference *r = test_open(s);
    uint32_t hits = 0, inside = 0;
    for (uint32_t i = 0; i < RAYS; i++) {
        struct reference_hit brute, embree;
        double o[3], d[3], t_max = i % 7 == 0 ? 6 : INFINITY;
        ray_make(s, i, o, d);
        reference_hit_brute(r, o, d, t_max, &brute);
        reference_hit_closest(r, o, d, t_max, &embree);
        if (memcmp(&brute, &embree, sizeof brute) != 0)
            fail_msg("ray %u: brute force %u at %.17g, Embree %u at %.17g", i, brute.primitive,
                     brute.t, embree.primitive, embree.t);
        struct probe p = probe_make((struct ray){from_double(o), from_double(d)});
        assert_int_equal(candidates_any(r->candidates, &p, t_max), brute.primitive != NO_PRIMITIVE);
        hits += brute.primitive != NO_PRIMITIVE;
        inside += brute.primitive != NO_PRIMITIVE && scene_instance_of(s, brute.primitive);
    }
    print_message("%u hits, %u of them in instances\n", hits, inside);
    assert_true(inside > RAYS / 10);
    reference_close(r);
    scene_free(s);
}

/* The flattened scene has each vertex rounded to float32, at coordinates below 8 (the floor's
 * apart): 2^-22 each, so hits that both find away from edges agree within that over the cosine and
 * times the stretch of weights; 1e-4 is generous for cosines over 0.05. Ids follow the same order,
 * but for what stands in the world. */
static void test_flattened(void **state)
{
    (void)state;
    enum { RAYS = 20000 };
    struct scene *two = scene_loaded("two-level"), *flat = scene_loaded("flatten");
    struct reference *a = test_open(two), *b = test_open(flat);
    uint32_t compared = 0, hits = 0, others = 0;
    for (uint32_t i = 0; i < RAYS; i++) {
        struct reference_hit x, y;
        double o[3], d[3];
        if (i % 3 == 1) /* at corners anything may be met */
            continue;
        ray_make(two, i, o, d);
        reference_hit_closest(a, o, d, INFINITY, &x);
        reference_hit_closest(b, o, d, INFINITY, &y);
        hits += x.primitive != NO_PRIMITIVE;
        if (x.primitive == NO_PRIMITIVE || y.primitive == NO_PRIMITIVE) {
            others += x.primitive != y.primitive;
            continue;
        }
        struct vec3 n = from_double(x.Ng);
        const struct instance *in = scene_instance_of(two, x.primitive);
        if (!in || fabs(dot(n, from_double(d))) < 0.05)
            continue;
        double scale_of = in->to_world[0][0] < 0.01F && in->to_world[0][0] > -0.01F ? 1e-2 : 1;
        if (fabs(x.t - y.t) > 1e-3 * fmax(1, x.t * 1e-4)) { /* an edge */
            others++;
            continue;
        }
        double loose = 1e-4 * fmax(1, x.t * 1e-3) / (scale_of * scale_of);
        compared++;
        assert_true(fabs(x.t - y.t) < 1e-5 * fmax(1, x.t));
        for (int c = 0; c < 3; c++) {
            assert_true(fabs(x.P[c] - y.P[c]) < 1e-5 * fmax(1, x.t));
            assert_true(fabs(x.Ng[c] - y.Ng[c]) < loose);
            assert_true(fabs(x.Ns[c] - y.Ns[c]) < loose);
        }
        assert_true(fabs(x.uv[0] - y.uv[0]) < loose && fabs(x.uv[1] - y.uv[1]) < loose);
        assert_string_equal(two->materials[scene_material_of(two, x.primitive)].name,
                            flat->materials[flat->primitive_material[y.primitive]].name);
    }
    print_message("%u hits, %u compared, %u at edges\n", hits, compared, others);
    assert_true(compared > RAYS / 20 && others < hits / 200);
    reference_close(a);
    reference_close(b);
    scene_free(two);
    scene_free(flat);
}

/* With the same random numbers, paths part only where rounding decides. */
/* Both scenes, freed here, give one picture but for rounding at edges: instances are walked in
 * their own space. Returns the mean of its values. */
static double same_pictures(struct scene *const s[2])
{
    struct reference_picture p[2];
    struct error err = {0};
    for (int i = 0; i < 2; i++) {
        struct reference *r = test_open(s[i]);
        const struct reference_job job = {.width = s[i]->width,
                                          .height = s[i]->height,
                                          .sample_count = 4,
                                          .max_depth = 5,
                                          .rr_depth = 4};
        assert_int_equal(reference_render(r, &job, &p[i], &err), STATUS_OK);
        reference_close(r);
        scene_free(s[i]);
    }
    size_t values = (size_t)p[0].width * p[0].height * 3, parted = 0;
    double sum = 0;
    for (size_t i = 0; i < values; i++) {
        sum += p[0].beauty[i];
        parted += fabs(p[0].beauty[i] - p[1].beauty[i]) > 1e-3 * fmax(1, p[1].beauty[i]);
    }
    print_message("mean %g, %zu of %zu values part\n", sum / (double)values, parted, values);
    assert_true(parted < values / 50);
    reference_picture_free(&p[0]);
    reference_picture_free(&p[1]);
    return sum / (double)values;
}

static void test_pictures(void **state)
{
    (void)state;
    assert_true(same_pictures((struct scene *const[]){scene_loaded("two-level"),
                                                      scene_loaded("flatten")}) > 0.1);
}

/* What goes by places on the surface: normal maps, vertex colours, media, in instances that turn,
 * mirror and scale alike along all axes (tangents made in the world are the same then), and the
 * camera in the fog of one of them. */
static struct scene *mapped_loaded(const char *instancing)
{
    static const char *const transforms[] = {
        "{\"translate\": [-1.4,0,0]}",
        "{\"scale\": [-0.8,0.8,0.8]}, {\"rotate\": {\"axis\": [1,2,0.3], \"angle\": 40}}, "
        "{\"translate\": [1.2,0.4,0.2]}",
        "{\"rotate\": {\"axis\": [0.2,1,0.5], \"angle\": 205}}, {\"translate\": [0,1.6,0.1]}",
    };
    struct text t = {0};
    struct scene *s = NULL;
    struct error err = {0};
    text_printf(
        &t,
        "{\"isophote\": 1, \"instancing\": \"%s\", \"camera\": {\"origin\": [0,-4,2.5], "
        "\"target\": [0,0.3,0], \"fov\": 50}, \"film\": {\"width\": 48, \"height\": 36}, "
        "\"environment\": {\"radiance\": 0.8}, \"textures\": {\"bumps\": {\"file\": "
        "\"textures/bumps.png\", \"color_space\": \"linear\"}}, \"materials\": {\"paint\": "
        "{\"type\": \"diffuse\", \"reflectance\": 0.9, \"normal_map\": {\"texture\": \"bumps\"}}, "
        "\"fog\": {\"type\": \"interface\", \"medium\": {\"density\": 0.2}}}, \"groups\": "
        "{\"leaf\": [{\"type\": \"mesh\", \"material\": \"paint\", \"vertices\": "
        "[[-1,-1,0],[1,-1,0.2],[1,1,0],[-1,1,0.2]], \"triangles\": [[0,1,2],[0,2,3]], \"normals\": "
        "\"smooth\", \"uv\": [[0,0],[1,0.1],[0.9,1],[0,1]], \"colors\": "
        "[[1,0,0],[0,1,0],[0,0,1],[1,1,0.2]]}], \"cloud\": [{\"type\": \"box\", \"material\": "
        "\"fog\"}]}, \"objects\": [{\"type\": \"instance\", \"group\": \"cloud\", \"transform\": "
        "[{\"rotate\": {\"axis\": [1,1,1], \"angle\": 20}}, {\"scale\": -1.5}, {\"translate\": "
        "[0,-3.5,2]}]}",
        instancing);
    for (size_t i = 0; i < sizeof transforms / sizeof *transforms; i++)
        text_printf(&t, ",{\"type\": \"instance\", \"group\": \"leaf\", \"transform\": [%s]}",
                    transforms[i]);
    text_puts(&t, "]}");
    if (scene_load_memory(SOURCE_DIR "/scenes/library/mapped.json", t.data, t.len, &s, &err) !=
        STATUS_OK)
        fail_msg("%s", err.msg);
    text_free(&t);
    return s;
}

static void test_mapped(void **state)
{
    (void)state;
    struct scene *s[2] = {mapped_loaded("two-level"), mapped_loaded("flatten")};
    assert_int_equal(s[0]->instance_count, 4);
    assert_int_equal(s[0]->tangent_count, 2); /* once, whatever number of instances */
    assert_int_equal(s[1]->instance_count, 0);
    assert_true(same_pictures(s) > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),    cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_flattened), cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_mapped),
    };
    return cmocka_run_group_tests_name("instances", tests, NULL, NULL);
}
