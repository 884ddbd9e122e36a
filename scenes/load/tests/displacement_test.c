/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes that a shader displaces, or makes, when a scene is loaded: against closed forms, and what a surface
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
        load("{\"type\": \"instance\", \"group\": \"g\", \"displacement\": {}}", &s, &err),
        STATUS_TYPE);
    assert_non_null(strstr(err.msg, "displacement"));
    assert_int_equal(load("{\"type\": \"sphere\", \"material\": \"a\", \"displacement\": "
                          "{\"source\": \"displacement d() { P += N; }\"}}",
                          &s, &err),
                     STATUS_TYPE);
    assert_non_null(strstr(err.msg, "edge"));
}

/* ---- spheres and disks ---------------------------------------------------------------------- */

/* Vertices of a displaced sphere are on a sphere, not on chords of one; there is no crack, edges are as
 * short as asked for, and coordinates are those that the sphere has. */
static void test_round(void **state)
{
    (void)state;
    size_t border;
    double volume;
    struct scene *s = scene_of(
        "{\"type\": \"sphere\", \"center\": [1, 2, 3], \"radius\": 2, \"material\": \"a\", "
        "\"displacement\": {\"source\": \"displacement d() { P += 0.5 * N; }\", \"edge\": 0.2}}");
    assert_int_equal(euler(s, &border), 2);
    assert_int_equal(border, 0);
    assert_int_equal(s->sphere_count, 0);
    assert_true(longest_edge(s) <= 0.2 * 2.5 / 2 + 1e-6);
    for (size_t i = 0; i < s->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            const uint32_t at = s->triangles[i][k];
            const double x = corner(s, i, k, 0) - 1, y = corner(s, i, k, 1) - 2,
                         z = corner(s, i, k, 2) - 3;
            double turned = 0;
            for (int c = 0; c < 3; c++)
                turned += (double)s->N[at][c] * (c == 0 ? x : c == 1 ? y : z) / 2.5;
            assert_true(fabs(sqrt(x * x + y * y + z * z) - 2.5) < 1e-5);
            assert_true(turned > 0.999);
            const double a = 2 * M_PI * (double)s->UV[at][0], v = (double)s->UV[at][1];
            assert_true(fabs(z / 2.5 + cos(M_PI * v)) < 1e-5);
            assert_true(fabs(x - hypot(x, y) * cos(a)) < 1e-2);
            assert_true(fabs(y - hypot(x, y) * sin(a)) < 1e-2);
        }
    scene_free(s);
    /* an ellipsoid is one now */
    s = scene_of(
        "{\"type\": \"sphere\", \"material\": \"a\", \"transform\": [{\"scale\": [1, 2, 3]}, "
        "{\"translate\": [5, 0, 0]}], \"displacement\": {\"source\": \"displacement d() { P "
        "= P; }\", \"edge\": 0.1}}");
    (void)area(s, &volume);
    assert_true(fabs(volume / (8 * M_PI) - 1) < 0.01);
    scene_free(s);
    /* a pixel's edge on it: as many triangles as pixels have room for, about */
    s = scene_of("{\"type\": \"sphere\", \"material\": \"a\", \"displacement\": {\"source\": "
                 "\"displacement d() { P = P; }\", \"edge\": 4, \"unit\": \"pixels\"}}");
    assert_int_equal(euler(s, &border), 2);
    const double pixel = 2 * 4.0 / 100; /* of 100 at distance 4, seen by 90 degrees */
    assert_true(s->triangle_count > 4 * M_PI / (sqrt(3) / 4 * pow(4 * pixel, 2)));
    assert_true(s->triangle_count < 40 * 4 * M_PI / pow(4 * pixel, 2));
    scene_free(s);
}

/* A disk's place and coordinates are those that it has, and its rim is round. */
static void test_plate(void **state)
{
    (void)state;
    size_t border;
    double volume;
    struct scene *s = scene_of(
        "{\"type\": \"disk\", \"center\": [0, 1, 0], \"normal\": [0, 0, 2], \"radius\": 3, "
        "\"material\": \"a\", \"displacement\": {\"source\": \"displacement d() { P += u * N; }\", "
        "\"edge\": 0.3}}");
    assert_int_equal(euler(s, &border), 1);
    assert_int_equal(s->disk_count, 0);
    assert_true(border >= 62);
    for (size_t i = 0; i < s->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            const uint32_t at = s->triangles[i][k];
            const double x = corner(s, i, k, 0), y = corner(s, i, k, 1) - 1;
            assert_true(fabs((double)s->UV[at][0] - (0.5 + x / 6)) < 1e-6);
            assert_true(fabs((double)s->UV[at][1] - (0.5 + y / 6)) < 1e-6);
            assert_true(fabs(corner(s, i, k, 2) - (0.5 + x / 6)) < 1e-6);
        }
    /* tilted by 1/6 along x */
    assert_true(fabs(area(s, &volume) / (9 * M_PI * sqrt(1 + 1.0 / 36)) - 1) < 0.002);
    scene_free(s);
}

/* ---- procedures ----------------------------------------------------------------------------- */

#define PROCEDURE "{\"type\": \"procedure\", \"material\": \"a\", \"source\": "
#define TORUS                                                                                      \
    "\"surface s(float R = 2, float r = 0.5) { float a = M_2PI * u, b = M_2PI * v, k = R + r * "   \
    "cos(b); P = point(k * cos(a), k * sin(a), r * sin(b)); N = normal(cos(a) * cos(b), sin(a) * " \
    "cos(b), sin(b)); }\""
#define BALL                                                                                       \
    "\"surface s() { float a = M_2PI * u, b = M_PI * v; P = v == 0 ? point(0, 0, -1) : v == 1 ? "  \
    "point(0, 0, 1) : point(sin(b) * cos(a), sin(b) * sin(a), -cos(b)); }\""

/* A torus without a crack, wound outwards, with the area and the volume of its closed form; a grid
 * that is closed along u alone is a tube with two ends, and one that is not has one border. */
static void test_torus(void **state)
{
    (void)state;
    static const struct {
        const char *closed;
        size_t border;
        long euler;
    } rows[] = {{"both", 0, 0}, {"u", 160, 0}, {"v", 48, 0}};
    struct scene *s;
    size_t border;
    double volume;
    for (size_t i = 0; i < 3; i++) {
        struct text t = {0};
        text_printf(&t, PROCEDURE TORUS ", \"cells\": [80, 24], \"closed\": \"%s\"}",
                    rows[i].closed);
        s = scene_of(t.data);
        assert_int_equal(s->triangle_count, 2 * 80 * 24);
        /* sin(2 pi) is not 0, so that the seam which is not closed is open by a hair */
        assert_int_equal(euler(s, &border), rows[i].euler);
        assert_int_equal(border, rows[i].border);
        const double whole = area(s, &volume);
        assert_true(fabs(whole / (4 * M_PI * M_PI * 2 * 0.5) - 1) < 0.01);
        assert_true(fabs(volume / (2 * M_PI * M_PI * 2 * 0.25) - 1) < 0.02);
        text_free(&t);
        scene_free(s);
    }
}

/* Where the vertices are, their texture coordinates, and the normals of each way. */
static void test_grid(void **state)
{
    (void)state;
    static const char *const ways[] = {"shader", "smooth", "angle", "face"};
    for (size_t w = 0; w < 4; w++) {
        struct text t = {0};
        text_printf(&t,
                    PROCEDURE TORUS ", \"parameters\": {\"r\": 0.25}, \"cells\": [64, 40], "
                                    "\"closed\": \"both\", \"normals\": \"%s\"}",
                    ways[w]);
        struct scene *s = scene_of(t.data);
        assert_int_equal(s->triangle_count, 2 * 64 * 40);
        assert_true((s->N != NULL) == (w < 3));
        for (size_t i = 0; i < s->triangle_count; i++)
            for (int k = 0; k < 3; k++) {
                const uint32_t at = s->triangles[i][k];
                const double u = (double)s->UV[at][0], v = (double)s->UV[at][1];
                const double a = 2 * M_PI * u, b = 2 * M_PI * v, r = 2 + 0.25 * cos(b);
                const double P[3] = {r * cos(a), r * sin(a), 0.25 * sin(b)};
                const double N[3] = {cos(a) * cos(b), sin(a) * cos(b), sin(b)};
                double turned = 0;
                for (int c = 0; c < 3; c++) {
                    assert_true(fabs(corner(s, i, k, c) - P[c]) < 1e-6);
                    turned += s->N ? (double)s->N[at][c] * N[c] : 1.0 / 3;
                }
                assert_true(turned > (w ? 0.999 : 1 - 1e-6));
                assert_true(fabs(u * 64 - round(u * 64)) < 1e-5);
                assert_true(fabs(v * 40 - round(v * 40)) < 1e-5);
            }
        text_free(&t);
        scene_free(s);
    }
}

/* What has two corners at one place is no triangle: a ball's poles. */
static void test_poles(void **state)
{
    (void)state;
    size_t border;
    double volume;
    struct scene *s = scene_of(PROCEDURE BALL ", \"cells\": [40, 20], \"closed\": \"u\", "
                                              "\"transform\": [{\"scale\": 3}]}");
    assert_int_equal(s->triangle_count, 2 * 40 * 20 - 2 * 40);
    assert_int_equal(euler(s, &border), 2);
    assert_int_equal(border, 0);
    assert_true(fabs(area(s, &volume) / (4 * M_PI * 9) - 1) < 0.02);
    assert_true(fabs(volume / (4 * M_PI * 9) - 1) < 0.02);
    scene_free(s);
}

/* One run for each triangle, told apart by its number; what stays at 0 is left out; coordinates and
 * normals of its own; and the result is displaced as any mesh is. */
static void test_triangles(void **state)
{
    (void)state;
    double volume;
    struct scene *s = scene_of(
        PROCEDURE "\"surface s(output point corners[3] = {0, 0, 0}, output vector uvs[3] = {0, 0, "
                  "0}, output normal normals[3] = {0, 0, 0}) { int i = -1; "
                  "getattribute(\\\"point:index\\\", i); if (i % 3 == 1) return; corners[0] = "
                  "point(i, 0, 0); corners[1] = point(i + 1, 0, 0); corners[2] = point(i, 1, 0); "
                  "for (int k = 0; k < 3; k++) { uvs[k] = vector(i + k, -i, 7); normals[k] = "
                  "normal(0, k, 1); } }\", \"triangles\": 3000, \"normals\": \"shader\"}");
    assert_int_equal(s->triangle_count, 2000);
    assert_true(fabs(area(s, &volume) - 1000) < 1e-9);
    for (size_t i = 0; i < 2000; i++)
        for (int k = 0; k < 3; k++) {
            const uint32_t at = s->triangles[i][k];
            const double first = (double)(3 * (i / 2) + (i % 2 ? 2 : 0));
            assert_true(corner(s, i, k, 0) == first + (k == 1));
            assert_true(corner(s, i, k, 1) == (k == 2));
            assert_true((double)s->UV[at][0] == first + k && (double)s->UV[at][1] == -first);
            assert_true(fabs((double)s->N[at][1] - k / sqrt(k * k + 1.0)) < 1e-6);
        }
    scene_free(s);
    s = scene_of(PROCEDURE "\"surface s(output point corners[3] = {0, point(1, 0, 0), point(0, 1, "
                           "0)}) { }\", \"triangles\": 1, \"displacement\": {\"source\": "
                           "\"displacement d() { P += vector(0, 0, u + 3); }\", \"edge\": 0.1}}");
    assert_true(s->triangle_count > 100 && !s->N);
    for (size_t i = 0; i < s->triangle_count; i++)
        assert_true(corner(s, i, 0, 2) == 3);
    scene_free(s);
}

static void test_bad_procedures(void **state)
{
    (void)state;
#define FLAT "\"source\": \"surface s() { P = point(u, v, 0); }\""
    static const struct {
        const char *keys, *path, *words;
        enum status status;
    } rows[] = {
        {FLAT, "", "found none of \"cells\" and \"triangles\"", STATUS_TYPE},
        {FLAT ", \"cells\": [2, 2], \"triangles\": 3", "", "found both", STATUS_TYPE},
        {FLAT ", \"cells\": [0, 2]", ".cells[0]", "", STATUS_RANGE},
        {FLAT ", \"cells\": [2, 8193]", ".cells[1]", "", STATUS_RANGE},
        {FLAT ", \"cells\": [2.5, 2]", ".cells", "whole numbers", STATUS_TYPE},
        {FLAT ", \"cells\": 4", ".cells", "", STATUS_TYPE},
        {FLAT ", \"cells\": [2, 2], \"closed\": \"w\"", ".closed", "", STATUS_TYPE},
        {FLAT ", \"triangles\": 2, \"closed\": \"u\"", ".closed", "only a grid", STATUS_TYPE},
        {FLAT ", \"triangles\": 0", ".triangles", "", STATUS_RANGE},
        {FLAT ", \"triangles\": 67108865", ".triangles", "", STATUS_RANGE},
        {FLAT ", \"triangles\": 2", "", "output point corners[3]", STATUS_TYPE},
        {FLAT ", \"cells\": [2, 2], \"normals\": \"file\"", ".normals", "", STATUS_TYPE},
        {FLAT ", \"cells\": [2, 2], \"vertices\": []", ".vertices", "", STATUS_TYPE},
        {"\"cells\": [2, 2]", "", "", STATUS_TYPE},
        {"\"source\": \"surface s(output point corners[2] = {0, 0}) { }\", \"triangles\": 1", "",
         "output point corners[3]", STATUS_TYPE},
        {"\"source\": \"surface s(output point corners[3] = {0, 0, 1}) { }\", \"triangles\": 1, "
         "\"normals\": \"shader\"",
         ".normals", "output normal normals[3]", STATUS_TYPE},
        {"\"source\": \"surface s(output point corners[3] = {0, 0, 1}) { }\", \"triangles\": 9", "",
         "two corners at one place", STATUS_TYPE},
        {"\"source\": \"surface s() { Ci = 0; }\", \"cells\": [2, 2]", "", "no vertex",
         STATUS_TYPE},
        {"\"source\": \"surface s() { P = 0; }\", \"cells\": [2, 2]", "",
         "two corners at one place", STATUS_TYPE},
        {"\"source\": \"surface s() { P = point(u, v, v > 0.4 ? 1e38 * 1e38 * v : 0); }\", "
         "\"cells\": [2, 4]",
         "", "the vertex at u = 0, v = 0.5: the shader gives a vertex at (0, 0.5, inf)",
         STATUS_RANGE},
        {"\"source\": \"surface s() { P = point(u, v, 2e9); }\", \"cells\": [1, 1]", "", "up to 1e",
         STATUS_RANGE},
        {"\"source\": \"surface s(output point corners[3] = {0, 0, 1}) { int i = 0; "
         "getattribute(\\\"point:index\\\", i); if (i == 7) error(\\\"no %d\\\", i); }\", "
         "\"triangles\": 9",
         "", "triangle 7: the shader says:", STATUS_TYPE},
        {"\"source\": \"surface s() { P = point(u, v, 0); while (v > 0.9) { } }\", \"cells\": [1, "
         "1]",
         "", "the vertex at u = 0, v = 1:", STATUS_TIMEOUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text t = {0};
        char path[64];
        struct error err = {0};
        struct scene *s = NULL;
        (void)snprintf(path, sizeof path, "objects[0]%s", rows[i].path);
        text_printf(&t, "{\"type\": \"procedure\", \"material\": \"a\", %s}", rows[i].keys);
        if (load(t.data, &s, &err) != rows[i].status || !strstr(err.msg, rows[i].words) ||
            strcmp(err.path, path) != 0 || err.line == 0)
            fail_msg("%s: %s at %s: %s", rows[i].keys, status_name(err.code), err.path, err.msg);
        assert_null(s);
        text_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane),         cmocka_unit_test(test_place),
        cmocka_unit_test(test_sphere),        cmocka_unit_test(test_seams),
        cmocka_unit_test(test_pixels),        cmocka_unit_test(test_faces),
        cmocka_unit_test(test_zero),          cmocka_unit_test(test_texture),
        cmocka_unit_test(test_instances),     cmocka_unit_test(test_errors),
        cmocka_unit_test(test_round),         cmocka_unit_test(test_plate),
        cmocka_unit_test(test_torus),         cmocka_unit_test(test_grid),
        cmocka_unit_test(test_poles),         cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_bad_procedures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
