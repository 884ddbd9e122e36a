/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes that a shader displaces when a scene is loaded: against closed forms, and what a surface
 * without cracks has in common with itself. */
#include "scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD                                                                                       \
    "{\"isophote\": 1, \"camera\": {\"origin\": [0,0,5], \"target\": [0,0,0], \"fov\": 90}, "      \
    "\"film\": {\"width\": 100, \"height\": 100}, \"materials\": {\"a\": {\"type\": "              \
    "\"diffuse\"}, "                                                                               \
    "\"b\": {\"type\": \"mirror\"}}, \"objects\": ["
#define RECTANGLE "{\"type\": \"rectangle\", \"material\": \"a\""
#define TETRAHEDRON                                                                                \
    "\"vertices\": [[1,1,1],[1,-1,-1],[-1,1,-1],[-1,-1,1]], \"triangles\": "                       \
    "[[0,1,2],[0,2,3],[0,3,1],[1,3,2]]"

static enum status load(const char *objects, struct scene **out, struct error *err)
{
    struct text t = {0};
    text_printf(&t, "%s%s]}", HEAD, objects);
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

/* ---- measures ------------------------------------------------------------------------------- */

static double corner(const struct scene *s, size_t triangle, int k, int c)
{
    return (double)s->P[s->triangles[triangle][k]][c];
}

static double longest_edge(const struct scene *s)
{
    double most = 0;
    for (size_t i = 0; i < s->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            double sum = 0;
            for (int c = 0; c < 3; c++)
                sum += pow(corner(s, i, (k + 1) % 3, c) - corner(s, i, k, c), 2);
            most = fmax(most, sqrt(sum));
        }
    return most;
}

/* Area, and the volume inside by the divergence theorem. */
static double area(const struct scene *s, double *volume)
{
    double sum = 0;
    *volume = 0;
    for (size_t i = 0; i < s->triangle_count; i++) {
        double e[2][3], x[3], inside = 0;
        for (int k = 0; k < 2; k++)
            for (int c = 0; c < 3; c++)
                e[k][c] = corner(s, i, k + 1, c) - corner(s, i, 0, c);
        for (int c = 0; c < 3; c++) {
            x[c] = e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3];
            inside += corner(s, i, 0, c) * x[c];
        }
        sum += sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / 2;
        *volume += inside / 6;
    }
    return sum;
}

struct place {
    float P[3];
};

static int by_place(const void *a, const void *b) { return memcmp(a, b, sizeof(struct place)); }

struct edge {
    size_t from, to;
};

static int by_edge(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

/* V - E + F of a surface whose vertices are places; every edge must have one triangle on each side,
 * wound against each other, but for *border edges, which have one triangle. */
static long euler(const struct scene *s, size_t *border)
{
    const size_t n = 3 * s->triangle_count;
    struct place *places = calloc(n, sizeof *places);
    struct edge *edges = calloc(n, sizeof *edges);
    size_t used = 0, both = 0;
    assert_true(places && edges);
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            places[i].P[c] = s->P[s->triangles[i / 3][i % 3]][c] + 0.0F;
    qsort(places, n, sizeof *places, by_place);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_place(&places[i], &places[used - 1]) != 0)
            places[used++] = places[i];
    for (size_t i = 0; i < n; i++) {
        size_t at[2];
        for (int k = 0; k < 2; k++) {
            const size_t turn = (i % 3 + (size_t)k) % 3;
            struct place p;
            for (int c = 0; c < 3; c++)
                p.P[c] = s->P[s->triangles[i / 3][turn]][c] + 0.0F;
            const struct place *found = bsearch(&p, places, used, sizeof p, by_place);
            assert_non_null(found);
            at[k] = (size_t)(found - places);
        }
        edges[i] = (struct edge){at[0], at[1]};
    }
    qsort(edges, n, sizeof *edges, by_edge);
    for (size_t i = 0; i < n; i++) {
        const struct edge back = {edges[i].to, edges[i].from};
        if (i > 0 && by_edge(&edges[i], &edges[i - 1]) == 0)
            fail_msg("an edge has two triangles on one side");
        both += bsearch(&back, edges, n, sizeof back, by_edge) != NULL;
    }
    *border = n - both;
    free(places);
    free(edges);
    return (long)used - (long)(both / 2 + *border) + (long)s->triangle_count;
}

static void expect_closed(const struct scene *s, long characteristic)
{
    size_t border;
    assert_int_equal(euler(s, &border), characteristic);
    assert_int_equal(border, 0);
}

/* ---- closed forms --------------------------------------------------------------------------- */

static void test_plane(void **state)
{
    (void)state;
    size_t border;
    struct scene *s = scene_of(
        RECTANGLE
        ", \"displacement\": {\"source\": \"displacement d(float a = 0) { P += a * N; }\", "
        "\"parameters\": {\"a\": 0.3}, \"edge\": 0.25}}");
    assert_true(s->triangle_count >= 2 * 8 * 8);
    for (size_t i = 0; i < s->vertex_count; i++) {
        assert_true(s->P[i][2] == 0.3F);
        for (int c = 0; c < 2; c++) { /* u and v are (x + 1)/2 and (y + 1)/2 */
            assert_true(fabsf(s->UV[i][c] - (s->P[i][c] + 1) / 2) < 1e-6F);
            assert_true(fabsf(s->P[i][c]) <= 1);
        }
        if (s->N)
            assert_true(s->N[i][2] == 1 && s->N[i][0] == 0);
    }
    assert_true(longest_edge(s) <= 0.25 && longest_edge(s) > 0.12);
    assert_int_equal(euler(s, &border), 1); /* a disk */
    assert_true(border >= 32);
    scene_free(s);
}

/* Placed, turned, mirrored, far away: the shader works where the object stands. */
static void test_place(void **state)
{
    (void)state;
    struct scene *s =
        scene_of(RECTANGLE
                 ", \"transform\": [{\"scale\": [2, 2, -1]}, {\"rotate\": {\"axis\": [1,0,0], "
                 "\"angle\": -90}}, {\"translate\": [1000, 5, 0]}], \"displacement\": {\"source\": "
                 "\"displacement d() { P += 0.5 * N; if (P[0] > 1000) P[1] += 0.25; }\", \"edge\": "
                 "1}}");
    assert_true(longest_edge(s) < 1.04); /* before the step of 0.25 */
    for (size_t i = 0; i < s->vertex_count; i++) {
        double x = s->frame_origin[0] + (double)s->P[i][0],
               y = s->frame_origin[1] + (double)s->P[i][1];
        /* mirrored, -z is outside, which turns to -y */
        assert_true(fabs(y - (x > 1000 ? 4.75 : 4.5)) < 1e-4);
    }
    scene_free(s);
}

/* A tetrahedron onto a sphere of 1, then out by 0.5: its area and volume are those of the sphere of
 * 1.5, less what chords of that length lack. */
static void test_sphere(void **state)
{
    (void)state;
    static const double r = 1.5, edge = 0.05;
    struct scene *s = scene_of(
        "{\"type\": \"mesh\", \"material\": \"a\", \"normals\": \"smooth\", " TETRAHEDRON
        ", \"displacement\": {\"source\": \"displacement d() { P = 1.5 * normalize(P); }\", "
        "\"edge\": 0.05}}");
    double volume, all = area(s, &volume);
    expect_closed(s, 2);
    assert_int_equal(s->vertex_count, s->triangle_count / 2 + 2); /* all are shared */
    /* The tetrahedron's faces are 1/sqrt(3) from the middle: edges are stretched at most by
     * sqrt(3) r. A flat triangle with edges of e in a sphere lacks at most e^2/(3 r^2) of its cap's
     * area, and stands e^2/(6 r) below it. */
    const double e = longest_edge(s), lack = e * e / (3 * r * r);
    assert_true(e <= edge * sqrt(3) * r * 1.001);
    assert_true(all < 4 * M_PI * r * r && all > 4 * M_PI * r * r * (1 - lack));
    assert_true(volume < 4 * M_PI / 3 * pow(r, 3) &&
                volume > 4 * M_PI / 3 * pow(r, 3) * (1 - 2 * lack));
    for (size_t i = 0; i < s->vertex_count; i++) {
        double len2 = 0, cosine = 0;
        for (int c = 0; c < 3; c++) {
            len2 += pow((double)s->P[i][c], 2);
            cosine += (double)s->P[i][c] / r * (double)s->N[i][c];
        }
        assert_true(fabs(sqrt(len2) - r) < 1e-6);
        assert_true(cosine > 0.7); /* outwards, also at the corners, which were no sphere's */
    }
    scene_free(s);
}

/* ---- no cracks ------------------------------------------------------------------------------ */

/* A box has 24 vertices, its corners three of their own normals and coordinates each. */
static void test_seams(void **state)
{
    (void)state;
    struct scene *s = scene_of(
        "{\"type\": \"box\", \"material\": \"a\", \"transform\": [{\"rotate\": {\"axis\": [1,2,3], "
        "\"angle\": 40}}], \"displacement\": {\"source\": \"displacement d() { P += 0.1 * u * "
        "noise(3 * P) * N; }\", \"edge\": 0.2}}");
    expect_closed(s, 2);
    scene_free(s);
    s = scene_of(
        "{\"type\": \"box\", \"material\": \"a\", \"min\": [-20,-3,-2], \"max\": [3,1,2.5], "
        "\"displacement\": {\"source\": \"displacement d() { P += 0.01 * noise(P) * N; }\", "
        "\"unit\": \"pixels\", \"edge\": 15}}");
    expect_closed(s, 2);
    scene_free(s);
}

/* Edges near the camera are cut finer: to what a pixel measures there, 2 tan(45)/100 of the
 * distance. */
static void test_pixels(void **state)
{
    (void)state;
    struct scene *s =
        scene_of(RECTANGLE
                 ", \"transform\": [{\"scale\": 20}, {\"rotate\": {\"axis\": [1,0,0], \"angle\": "
                 "-90}}, {\"translate\": [0,-2,0]}], \"displacement\": {\"source\": \"displacement "
                 "d() { P += 0; }\", \"unit\": \"pixels\", \"edge\": 8}}");
    double finest = 1e9, coarsest = 0;
    for (size_t i = 0; i < s->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            double length = 0, to[2] = {0, 0};
            for (int c = 0; c < 3; c++) {
                const double a = corner(s, i, k, c), b = corner(s, i, (k + 1) % 3, c),
                             eye = c == 2 ? 5 : 0;
                length += (b - a) * (b - a);
                to[0] += (a - eye) * (a - eye);
                to[1] += (b - eye) * (b - eye);
            }
            assert_true(sqrt(length) <= 8 * 0.02 * sqrt(fmin(to[0], to[1])) * 1.000001);
            finest = fmin(finest, sqrt(length));
            coarsest = fmax(coarsest, sqrt(length));
        }
    assert_true(finest < 0.5 && coarsest > 1.2);
    scene_free(s);
}

/* ---- what else a mesh has ------------------------------------------------------------------- */

/* Materials of faces go to their parts; so does the picture's share of area. */
static void test_faces(void **state)
{
    (void)state;
    struct scene *s = scene_of(
        "{\"type\": \"mesh\", \"face_materials\": [\"b\", \"a\"], \"vertices\": "
        "[[0,0,0],[1,0,0],[1,1,0],[0,3,0]], \"triangles\": [[0,1,2],[0,2,3]], \"colors\": "
        "[[0,0,0],[1,0,0],[1,1,0],[0,1,1]], \"displacement\": {\"source\": \"displacement d() { "
        "displace(2); }\", \"edge\": 0.3}}");
    double of[2] = {0, 0};
    assert_null(s->N); /* flat as it was */
    for (size_t i = 0; i < s->triangle_count; i++) {
        double e[2][2];
        for (int k = 0; k < 2; k++)
            for (int c = 0; c < 2; c++)
                e[k][c] = corner(s, i, k + 1, c) - corner(s, i, 0, c);
        of[s->primitive_material[i]] += (e[0][0] * e[1][1] - e[0][1] * e[1][0]) / 2;
    }
    assert_true(fabs(of[1] - 0.5) < 1e-6 && fabs(of[0] - 1.5) < 1e-6);
    for (size_t i = 0; i < s->vertex_count; i++) {
        assert_true(s->P[i][2] == 2);
        assert_true(fabsf(s->colors[i][0] - s->P[i][0]) < 1e-6F); /* red is x at every corner */
    }
    scene_free(s);
}

/* Without a move all stays: places, normals that are smooth over flat faces, the surface. */
static void test_zero(void **state)
{
    (void)state;
    double volume, before;
    struct scene *flat = scene_of("{\"type\": \"mesh\", \"material\": \"a\", \"normals\": "
                                  "\"smooth\", " TETRAHEDRON "}");
    struct scene *s =
        scene_of("{\"type\": \"mesh\", \"material\": \"a\", \"normals\": \"smooth\", " TETRAHEDRON
                 ", \"displacement\": {\"source\": \"displacement d() { P += 0 * N; }\", \"edge\": "
                 "0.3}}");
    assert_true(fabs(area(flat, &before) - area(s, &volume)) < 1e-5);
    assert_true(fabs(before - volume) < 1e-5);
    for (size_t i = 0; i < 4; i++) {
        assert_memory_equal(s->P[i], flat->P[i], sizeof s->P[i]);
        for (int c = 0; c < 3; c++)
            assert_true(fabsf(s->N[i][c] - flat->N[i][c]) < 1e-6F);
    }
    scene_free(flat);
    scene_free(s);
}

/* A picture of heights: 0 to 1, and not flat. */
static void test_texture(void **state)
{
    (void)state;
    float lowest = 1, highest = 0;
    struct scene *s = scene_of(
        RECTANGLE ", \"displacement\": {\"source\": \"displacement d(string file = "
                  "\\\"\\\") { P[2] += texture(file, u, v); }\", \"parameters\": {\"file\": "
                  "\"../library/textures/bumps.png\"}, \"edge\": 0.1}}");
    for (size_t i = 0; i < s->vertex_count; i++) {
        lowest = fminf(lowest, s->P[i][2]);
        highest = fmaxf(highest, s->P[i][2]);
    }
    assert_true(lowest >= 0 && highest <= 1 && highest - lowest > 0.1F);
    assert_null(s->shader_images.first); /* nothing of it goes to devices */
    scene_free(s);
}

/* Instances show one displaced mesh. */
static void test_instances(void **state)
{
    (void)state;
    static const char text[] =
        "{\"isophote\": 1, \"camera\": {\"origin\": [0,0,5], \"target\": [0,0,0]}, \"materials\": "
        "{\"a\": {\"type\": \"diffuse\"}}, \"instancing\": \"two-level\", \"groups\": {\"g\": "
        "[%s]}, "
        "\"objects\": [{\"type\": \"instance\", \"group\": \"g\"}, {\"type\": \"instance\", "
        "\"group\": \"g\", \"transform\": [{\"translate\": [3,0,0]}]}]}";
    struct text t = {0};
    struct scene *s;
    struct error err = {0};
    text_printf(&t, text,
                RECTANGLE ", \"displacement\": {\"source\": \"displacement d() { P += "
                          "0.25 * N; }\", \"edge\": 0.5}}");
    assert_int_equal(scene_load_memory("a.json", t.data, t.len, &s, &err), STATUS_OK);
    assert_int_equal(s->instance_count, 2);
    assert_int_equal(s->triangle_count, 0);
    assert_true(s->prototype_triangle_count >= 32);
    assert_true(s->P[s->triangles[0][0]][2] == 0.25F);
    scene_free(s);
    t.len = 0;
    text_printf(&t, text,
                RECTANGLE ", \"displacement\": {\"source\": \"displacement d() { P += N; "
                          "}\", \"edge\": 5, \"unit\": \"pixels\"}}");
    assert_int_equal(scene_load_memory("a.json", t.data, t.len, &s, &err), STATUS_UNSUPPORTED);
    assert_string_equal(err.path, "groups.g[0].displacement.unit");
    text_free(&t);
}

/* ---- errors --------------------------------------------------------------------------------- */

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *displacement;
        enum status status;
        const char *path, *words;
    } rows[] = {
        {"\"source\": \"displacement d() { P /= P[0] - P[0]; P = P / 0 + 1e38 * 1e38; }\", "
         "\"edge\": 1",
         STATUS_RANGE, "", "expected finite numbers"},
        {"\"source\": \"displacement d() { P += N; error(\\\"no\\\"); }\", \"edge\": 1",
         STATUS_TYPE, "", "the shader says"},
        {"\"source\": \"displacement d() { P[2] += texture(\\\"absent.png\\\", u, v); }\", "
         "\"edge\": 1",
         STATUS_TYPE, "", "absent.png"},
        {"\"source\": \"displacement d() { while (u < 9) P += N; }\", \"edge\": 1", STATUS_TIMEOUT,
         "", "vertex 0 at (-1, -1, 0)"},
        {"\"source\": \"surface d() { Ci = diffuse(N); }\", \"edge\": 1", STATUS_TYPE, "",
         "moves no vertex"},
        {"\"edge\": 1", STATUS_TYPE, "", "neither \"shader\" and \"source\""},
        {"\"shader\": \"absent.osl\", \"edge\": 1", STATUS_IO, ".shader", "absent.osl"},
        {"\"source\": \"displacement d() { P += N; }\"", STATUS_TYPE, "", "\"edge\" is missing"},
        {"\"source\": \"displacement d() { P += N; }\", \"edge\": 0", STATUS_RANGE, ".edge",
         "from"},
        {"\"source\": \"displacement d() { P += N; }\", \"edge\": 1e-6", STATUS_LIMIT, ".edge",
         "let them be longer"},
        {"\"source\": \"displacement d() { P += N; }\", \"edge\": 1e-5, \"unit\": \"pixels\"",
         STATUS_LIMIT, ".edge", "let them be longer"},
        {"\"source\": \"displacement d() { P += N; }\", \"edge\": 1, \"unit\": \"inch\"",
         STATUS_TYPE, ".unit", "\"pixels\""},
        {"\"source\": \"displacement d() { P += N; }\", \"edge\": 1, \"parameters\": {\"x\": 1}",
         STATUS_TYPE, ".parameters.x", "has no parameter \"x\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text t = {0};
        char path[64];
        struct error err = {0};
        struct scene *s = NULL;
        (void)snprintf(path, sizeof path, "objects[0].displacement%s", rows[i].path);
        text_printf(&t, RECTANGLE ", \"displacement\": {%s}}", rows[i].displacement);
        if (load(t.data, &s, &err) != rows[i].status || !strstr(err.msg, rows[i].words) ||
            strcmp(err.path, path) != 0 || err.line == 0)
            fail_msg("%s: %s at %s: %s", rows[i].displacement, status_name(err.code), err.path,
                     err.msg);
        assert_null(s);
        text_free(&t);
    }
    struct scene *s;
    struct error err = {0};
    assert_int_equal(
        load("{\"type\": \"sphere\", \"material\": \"a\", \"displacement\": {}}", &s, &err),
        STATUS_TYPE);
    assert_non_null(strstr(err.msg, "displacement"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane),     cmocka_unit_test(test_place),
        cmocka_unit_test(test_sphere),    cmocka_unit_test(test_seams),
        cmocka_unit_test(test_pixels),    cmocka_unit_test(test_faces),
        cmocka_unit_test(test_zero),      cmocka_unit_test(test_texture),
        cmocka_unit_test(test_instances), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
