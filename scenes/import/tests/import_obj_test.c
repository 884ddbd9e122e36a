/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of OBJ files made by this test, and what all formats share of them: normals where there are
 * none, smoothing, colours of vertices, polygons. */
#include "test_import.h"

#include <cmocka.h>

/* Numbers that begin with their point, in all lines of vertices; an alpha behind the colours. */
static void test_obj_numbers(void **state)
{
    (void)state;
    write_text("n.obj", "v .5 -.25 +.125 .2 .4 .6 .5\nv\t1 .0 0 1 1 1 1\nv 0 1. .75 0 0 0 1\n"
                        "vt .5 .25\nvt 1 .5\nvt .125 1\nvn .0 .6 .8\nf 1/1/1 2/2/1 3/3/1\n");
    struct imported i = import_file("n.obj");
    const struct scene *s = i.scene;
    expect_corners(s, 0, (double[9]){0.5, -0.25, 0.125, 1, 0, 0, 0, 1, 0.75});
    static const float uv[3][2] = {{0.5F, 0.25F}, {1, 0.5F}, {0.125F, 1}};
    for (int k = 0; k < 3; k++) {
        const uint32_t v = s->triangles[0][k];
        assert_memory_equal(s->UV[v], uv[k], sizeof uv[k]);
        assert_true(near3(s->N[v], 0, 0.6, 0.8));
    }
    assert_true(near((double)s->colors[s->triangles[0][0]][1], pow((0.4 + 0.055) / 1.055, 2.4)));
    scene_free(i.scene);
}

/* The two triangles of each of six faces have the normal of the axis that they stand across. */
static void expect_flat_box(const char *name)
{
    static const double axes[6][3] = {{0, 0, -1}, {0, 0, 1},  {0, -1, 0},
                                      {0, 1, 0},  {-1, 0, 0}, {1, 0, 0}};
    struct imported i = import_file(name);
    assert_int_equal(i.import.triangles, 12);
    for (size_t t = 0; t < 12; t++)
        for (int k = 0; k < 3; k++)
            expect_normal(i.scene, t, k, axes[t / 2][0], axes[t / 2][1], axes[t / 2][2]);
    scene_free(i.scene);
}

/* Files without normals: edges stay on a box (the OBJ of it is flat in Blender too), whether its
 * faces share their vertices or not; a prism of eight sides is round between its ends, whose
 * normals are the axis; two sheets back to back keep a side each. */
static void test_missing_normals(void **state)
{
    (void)state;
    static const char places[] = "0 0 0\n3 0 0\n3 2 0\n0 2 0\n0 0 1\n3 0 1\n3 2 1\n0 2 1\n";
    static const int quads[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                    {2, 3, 7, 6}, {0, 4, 7, 3}, {1, 2, 6, 5}};
    struct text obj = {0}, ply = {0};
    text_puts(&ply, "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\n"
                    "property float y\nproperty float z\nelement face 6\n"
                    "property list uchar int vertex_indices\nend_header\n");
    text_puts(&ply, places);
    for (const char *at = places; *at; at = strchr(at, '\n') + 1)
        text_printf(&obj, "v %.*s\n", (int)(strchr(at, '\n') - at), at);
    for (int i = 0; i < 6; i++) {
        const int *q = quads[i];
        text_printf(&obj, "f %d %d %d %d\n", q[0] + 1, q[1] + 1, q[2] + 1, q[3] + 1);
        text_printf(&ply, "4 %d %d %d %d\n", q[0], q[1], q[2], q[3]);
    }
    write_text("box.obj", obj.data);
    write_text("box.ply", ply.data);
    text_free(&ply);
    expect_flat_box("box.obj");
    expect_flat_box("box.ply");
    obj.len = 0;
    for (int k = 0; k < 8; k++) {
        double a = k * (M_PI / 4);
        text_printf(&obj, "v %.9f %.9f 0\nv %.9f %.9f 1\n", cos(a), sin(a), cos(a), sin(a));
    }
    for (int k = 0; k < 8; k++) {
        int a = 2 * k + 1, b = 2 * ((k + 1) % 8) + 1;
        text_printf(&obj, "f %d %d %d %d\n", a, b, b + 1, a + 1);
    }
    text_puts(&obj, "f 2 4 6 8 10 12 14 16\n");
    write_text("prism.obj", obj.data);
    struct imported i = import_file("prism.obj");
    for (size_t t = 0; t < i.import.triangles; t++)
        for (int k = 0; k < 3; k++) {
            double p[3];
            vertex_of(i.scene, t, k, p);
            if (t < 16)
                expect_normal(i.scene, t, k, p[0], p[1], 0);
            else
                expect_normal(i.scene, t, k, 0, 0, 1);
        }
    scene_free(i.scene);
    obj.len = 0;
    text_puts(&obj, "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nf 4 3 2 1\n");
    write_text("sheets.obj", obj.data);
    text_free(&obj);
    i = import_file("sheets.obj");
    for (size_t t = 0; t < 4; t++)
        for (int k = 0; k < 3; k++)
            expect_normal(i.scene, t, k, 0, 0, t < 2 ? 1 : -1);
    scene_free(i.scene);
}

/* The normals of every triangle's corners are those of want, [triangles][3][3]. */
static void expect_normals(const char *name, size_t triangles, const double (*want)[3][3])
{
    struct imported i = import_file(name);
    assert_int_equal(i.import.triangles, triangles);
    for (size_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++)
            expect_normal(i.scene, t, k, want[t][k][0], want[t][k][1], want[t][k][2]);
    scene_free(i.scene);
}

/* OBJ without normals but with smoothing groups: two triangles of equal size and shape, at 90
 * degrees, share the edge 1 3. In one group the edge's normals lie between theirs, whatever the
 * materials, lines and indices are; in two groups, or with smoothing off, it stays, though 2 and 4
 * be 10 degrees apart. Normals that a face has are its own. */
static void test_smoothing_groups(void **state)
{
    (void)state;
    static const char places[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    static const char *const smooth[] = {
        "s 1\nf 1 2 3\nf 1 3 4\n",
        "s 1\nusemtl a\nf 1 2 3\nusemtl b\ng other\no one\nf -4 -2 -1\n",
        "s 07 # seven\nf 1 2 \\\n3\nf 1/2 3/1 4/1\nvt 0 1\nvt 1 1\n",
        "vn 1 0 0\ns 1\r\nf 1// 2// 3//\r\nf 1// \\\r\n3// 4// # a comment\r\n",
        "vt 0 0\nvt 1 0\nvn 1 0 0\nvn 0 1 0\ns\ton\nf 1/1 2/2 3/1\nf 1/1/ 3/-2/ 4/2\n",
    };
    static const char *const flat[] = {
        "s 1\nf 1 2 3\ns 2\nf 1 3 4\n",
        "s off\nf 1 2 3\nf 1 3 4\n",
        "f 1 2 3\ns 1\nf 1 3 4\n",
        "s 3\nf 1 2 3\ns 0\nf 1 3 4\n",
    };
    const double r = M_SQRT1_2;
    const double bent[2][3][3] = {{{r, 0, r}, {0, 0, 1}, {r, 0, r}},
                                  {{r, 0, r}, {r, 0, r}, {1, 0, 0}}},
                 kept[2][3][3] = {{{0, 0, 1}, {0, 0, 1}, {0, 0, 1}},
                                  {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}};
    for (size_t k = 0; k < sizeof smooth / sizeof *smooth; k++) {
        write_text("groups.obj", arena_printf(&arena, "%s%s", places, smooth[k]));
        expect_normals("groups.obj", 2, bent);
    }
    for (size_t k = 0; k < sizeof flat / sizeof *flat; k++) {
        write_text("groups.obj", arena_printf(&arena, "%s%s", places, flat[k]));
        expect_normals("groups.obj", 2, kept);
    }
    const double a = 10 * (M_PI / 180);
    const double slight[2][3][3] = {
        {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}},
        {{-sin(a), 0, cos(a)}, {-sin(a), 0, cos(a)}, {-sin(a), 0, cos(a)}}};
    write_text("groups.obj", arena_printf(&arena,
                                          "v 0 0 0\nv -1 0 0\nv 0 -1 0\nv %.9f 0 %.9f\n"
                                          "s off\nf 1 2 3\nf 1 3 4\n",
                                          cos(a), sin(a)));
    expect_normals("groups.obj", 2, slight);
    const double own[2][3][3] = {{{0, 0, 1}, {0, 0, 1}, {0, 0, 1}},
                                 {{0, 0.6, 0.8}, {0, 0.6, 0.8}, {0, 0.6, 0.8}}};
    write_text("groups.obj",
               arena_printf(&arena, "%svn 0 3 4\ns off\nf 1 2 3\nf 1//-1 3//1 4//1\n", places));
    expect_normals("groups.obj", 2, own);
}

/* A box of eight vertices in one group: normals along its diagonals. A polygon of 3000 corners
 * beside it is whole. */
static void test_smooth_box(void **state)
{
    (void)state;
    static const int quads[6][4] = {{1, 4, 3, 2}, {5, 6, 7, 8}, {1, 2, 6, 5},
                                    {3, 4, 8, 7}, {1, 5, 8, 4}, {2, 3, 7, 6}};
    struct text obj = {0};
    for (int z = -1; z <= 1; z += 2)
        text_printf(&obj, "v -1 -1 %d\nv 1 -1 %d\nv 1 1 %d\nv -1 1 %d\n", z, z, z, z);
    text_puts(&obj, "s 1\n");
    for (int i = 0; i < 6; i++)
        text_printf(&obj, "f %d %d %d %d\n", quads[i][0], quads[i][1], quads[i][2], quads[i][3]);
    for (int i = 0; i < 3000; i++)
        text_printf(&obj, "v %.9f %.9f 5\n", cos(i * M_PI / 1500), sin(i * M_PI / 1500));
    text_puts(&obj, "f");
    for (int i = -3000; i < 0; i++)
        text_printf(&obj, " %d", i);
    text_puts(&obj, "\n");
    write_text("box.obj", obj.data);
    text_free(&obj);
    struct imported i = import_file("box.obj");
    assert_int_equal(i.import.triangles, 12 + 2998);
    for (size_t t = 0; t < 12 + 2998; t++)
        for (int k = 0; k < 3; k++) {
            double p[3];
            const double r = 0.57735026918962576;
            vertex_of(i.scene, t, k, p);
            if (t < 12)
                expect_normal(i.scene, t, k, p[0] * r, p[1] * r, p[2] * r);
            else
                expect_normal(i.scene, t, k, 0, 0, 1);
        }
    scene_free(i.scene);
}

/* COLOR_0 as bytes that are not said to be normalised, by four with alpha; white is no colour;
 * PLY's are sRGB. */
static void test_vertex_colors(void **state)
{
    (void)state;
    static const float P[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    static const uint8_t rgba[12] = {255, 0, 51, 255, 0, 255, 0, 128, 102, 102, 102, 255};
    struct text bytes = {0};
    text_append(&bytes, (const char *)P, sizeof P);
    text_append(&bytes, (const char *)rgba, sizeof rgba);
    write_bytes("c.bin", bytes.data, bytes.len);
    text_free(&bytes);
    for (int unlit = 0; unlit < 2; unlit++) {
        write_text(
            "c.gltf",
            arena_printf(
                &arena,
                "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"mesh\": 0}], \"meshes\": "
                "[{\"primitives\": [{\"attributes\": "
                "{\"POSITION\": 0, \"COLOR_0\": 1}, \"material\": 0}]}], \"materials\": "
                "[{\"name\": \"m\"%s}], \"buffers\": [{\"uri\": \"c.bin\", \"byteLength\": "
                "48}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}, {\"buffer\": 0, "
                "\"byteOffset\": 36, \"byteLength\": 12}], \"accessors\": [{\"bufferView\": 0, "
                "\"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}, {\"bufferView\": 1, "
                "\"componentType\": 5121, \"count\": 3, \"type\": \"VEC4\"}]}",
                unlit ? ", \"extensions\": {\"KHR_materials_unlit\": {}}" : ""));
        struct imported i = import_file("c.gltf");
        assert_true(i.scene->colors && i.scene->triangle_flags[0] & TRIANGLE_HAS_COLORS);
        assert_true(near3(i.scene->colors[0], 1, 0, 0.2) && near3(i.scene->colors[1], 0, 1, 0) &&
                    near3(i.scene->colors[2], 0.4, 0.4, 0.4));
        assert_false(noted(&i, "alpha")); /* it does not count: the material is opaque */
        assert_true(noted(&i, "they are lit") == unlit);
        assert_true(near3(material_of(&i, "m")->base.value, 1, 1, 1));
        assert_false(material_emits(material_of(&i, "m")));
        scene_free(i.scene);
    }
    /* OBJ: colours of some vertices alone; the others are of their material's colour */
    write_text("c.obj", "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nv 0 0 1\nv 1 0 1\nv 0 1 1\n"
                        "o a\nf 1 2 3\no b\nf 4 5 6\n");
    struct imported some = import_file("c.obj");
    const struct scene *s = some.scene;
    bool plain = s->P[s->triangles[0][0]][2] == 1;
    assert_true(s->triangle_flags[plain ? 1 : 0] & TRIANGLE_HAS_COLORS);
    assert_false(s->triangle_flags[plain ? 0 : 1] & TRIANGLE_HAS_COLORS);
    scene_free(some.scene);
    for (int white = 0; white < 2; white++) {
        write_text("c.ply", arena_printf(&arena,
                                         "ply\nformat ascii 1.0\nelement vertex 3\nproperty float "
                                         "x\nproperty float y\nproperty float z\nproperty uchar "
                                         "red\nproperty uchar green\nproperty uchar blue\nelement "
                                         "face 1\nproperty list uchar int vertex_indices\n"
                                         "end_header\n0 0 0 255 255 255\n1 0 0 255 255 255\n0 1 0 "
                                         "%s\n3 0 1 2\n",
                                         white ? "255 255 255" : "188 0 255"));
        struct imported i = import_file("c.ply");
        assert_true((i.scene->colors != NULL) != white);
        if (!white)
            assert_true(near3(i.scene->colors[0], 1, 1, 1) &&
                        near3(i.scene->colors[2], srgb_decode(188 / 255.0), 0, 1));
        scene_free(i.scene);
    }
}

/* Polygons in many planes and both ways around: their triangles cover what Newell's sum says. The L
 * has an inner corner on the line between two others; the comb's teeth face each other. */
static void test_polygons(void **state)
{
    (void)state;
    static const struct {
        int n;
        double at[16][2];
    } shapes[] = {
        {6, {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}},
        {4, {{0, 0}, {2, 0}, {0.4, 0.4}, {0, 2}}},
        {12,
         {{0, 0},
          {5, 0},
          {5, 3},
          {4, 3},
          {4, 1},
          {3, 1},
          {3, 3},
          {2, 3},
          {2, 1},
          {1, 1},
          {1, 3},
          {0, 3}}},
        {7, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 2}, {1.5, 0.2}, {0, 2}}},
        {10, {{0, 0}, {4, 0}, {4, 4}, {1, 4}, {1, 2}, {2, 2}, {2, 3}, {3, 3}, {3, 1}, {0, 1}}},
    };
    for (size_t k = 0; k < 6 * sizeof shapes / sizeof *shapes; k++) {
        const double(*at)[2] = shapes[k / 6].at;
        int n = shapes[k / 6].n, first = (int)(k % 6) * 5 % n;
        bool back = k % 2;
        double newell[3] = {0}, sum[3] = {0}, all = 0, P[16][3];
        struct text t = {0};
        for (int i = 0; i < n; i++) { /* a plane that leans, from another corner on */
            const double *p = at[(first + (back ? n - i : i)) % n];
            P[i][k % 3] = p[0];
            P[i][(k + 1) % 3] = p[1];
            P[i][(k + 2) % 3] = 0.25 * p[0] - 0.5 * p[1];
            text_printf(&t, "v %.17g %.17g %.17g\n", P[i][0], P[i][1], P[i][2]);
        }
        text_puts(&t, "f");
        for (int i = 0; i < n; i++) {
            const double *p = P[i], *q = P[(i + 1) % n];
            text_printf(&t, " %d", k % 2 ? i - n : i + 1); /* also counted from the end */
            for (int c = 0; c < 3; c++)
                newell[c] +=
                    (p[(c + 1) % 3] * q[(c + 2) % 3] - p[(c + 2) % 3] * q[(c + 1) % 3]) / 2;
        }
        text_puts(&t, "\n");
        write_text("p.obj", t.data);
        text_free(&t);
        struct imported i = import_file("p.obj");
        size_t triangles = 0;
        for (size_t j = 0; j < i.scene->triangle_count; j++) {
            const uint32_t *v = i.scene->triangles[j];
            double e[2][3], x[3];
            if (material_emits(&i.scene->materials[i.scene->primitive_material[j]]))
                continue;
            triangles++;
            for (int c = 0; c < 3; c++)
                for (int m = 0; m < 2; m++)
                    e[m][c] = (double)i.scene->P[v[m + 1]][c] - (double)i.scene->P[v[0]][c];
            for (int c = 0; c < 3; c++) {
                x[c] = (e[0][(c + 1) % 3] * e[1][(c + 2) % 3] -
                        e[0][(c + 2) % 3] * e[1][(c + 1) % 3]) /
                       2;
                sum[c] += x[c];
            }
            all += sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        }
        double area = sqrt(newell[0] * newell[0] + newell[1] * newell[1] + newell[2] * newell[2]);
        if (!(triangles <= (size_t)n - 2 && fabs(all - area) < 1e-5 * area))
            fail_msg("shape %zu: %zu triangles of area %g, expected at most %d of area %g", k,
                     triangles, all, n - 2, area);
        for (int c = 0; c < 3; c++)
            assert_true(fabs(sum[c] - newell[c]) < 1e-5 * area);
        scene_free(i.scene);
    }
}

/* Lines that begin with blanks, one that goes on behind its end, tabs. */
static void test_obj_blanks(void **state)
{
    (void)state;
    write_text("b.obj", "# a comment\n  v 0 0 0\n\tv\t1 0 0\r\n v 0 \\\n 2 0\nv 0 0 3\n   f 1 2 3\n"
                        "\tf\t1 3 \\\n\t 4\n");
    struct imported i = import_file("b.obj");
    assert_int_equal(i.import.triangles, 2);
    assert_int_equal(i.import.note_count, 0);
    expect_corners(i.scene, 0, (const double[]){0, 0, 0, 1, 0, 0, 0, 2, 0});
    expect_corners(i.scene, 1, (const double[]){0, 0, 0, 0, 2, 0, 0, 0, 3});
    scene_free(i.scene);
}

/* A byte order mark, comments behind faces, words that begin as lines and points do, texture
 * coordinates of one number; the same with the line ends of old Macs and of DOS. */
static void test_obj_lines(void **state)
{
    (void)state;
    static const char *const ends[] = {"\n", "\r", "\r\n"};
    static const char *const lines[] = {"\xEF\xBB\xBFv 0 0 0",
                                        "v 1 0 0",
                                        "v 0 2 0",
                                        "vt 0.5",
                                        "vt 0.25 ",
                                        "lod 2",
                                        "parm u 0 1",
                                        "g a b",
                                        "f 1/1 2/2 3/1 # a/b 3",
                                        "  f 2/-1 1/1 3/1\t#4"};
    for (int k = 0; k < 3; k++) {
        struct text t = {0};
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
            text_printf(&t, "%s%s", lines[i], ends[k]);
        write_text("l.obj", t.data);
        text_free(&t);
        struct imported i = import_file("l.obj");
        assert_int_equal(i.import.triangles, 2);
        assert_int_equal(i.import.note_count, 0);
        expect_corners(i.scene, 0, (const double[]){0, 0, 0, 1, 0, 0, 0, 2, 0});
        expect_corners(i.scene, 1, (const double[]){1, 0, 0, 0, 0, 0, 0, 2, 0});
        static const double u[2][3] = {{0.5, 0.25, 0.5}, {0.25, 0.5, 0.5}};
        for (size_t f = 0; f < 2; f++)
            for (int c = 0; c < 3; c++)
                assert_true(near((double)i.scene->UV[i.scene->triangles[f][c]][0], u[f][c]));
        scene_free(i.scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_obj_blanks),       cmocka_unit_test(test_obj_lines),
        cmocka_unit_test(test_obj_numbers),      cmocka_unit_test(test_missing_normals),
        cmocka_unit_test(test_smoothing_groups), cmocka_unit_test(test_smooth_box),
        cmocka_unit_test(test_vertex_colors),    cmocka_unit_test(test_polygons),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
