/* SPDX-License-Identifier: Apache-2.0 */
/* PLY and STL files made by this test, as text and as bytes of both orders. */
#include "test_import.h"

#include <cmocka.h>

static void test_ply_stl(void **state)
{
    (void)state;
    static const char *const kinds[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    for (int k = 0; k < 5; k++) {
        struct text t = {0};
        bool stl = k >= 3;
        if (!stl)
            text_printf(&t,
                        "ply\nformat %s 1.0\nelement vertex 4\nproperty float x\nproperty float "
                        "y\nproperty float z\nelement face 4\nproperty list uchar int "
                        "vertex_indices\nend_header\n",
                        kinds[k]);
        for (int v = 0; v < 4 && !stl; v++)
            for (int c = 0; c < 3; c++)
                if (k == 0)
                    text_printf(&t, "%g%s", (double)tetrahedron[v][c], c == 2 ? "\n" : " ");
                else
                    put_float(&t, tetrahedron[v][c], k == 2);
        for (int f = 0; f < 4 && !stl; f++) {
            if (k == 0)
                text_printf(&t, "3 %d %d %d\n", tetrahedron_faces[f][0], tetrahedron_faces[f][1],
                            tetrahedron_faces[f][2]);
            else
                text_append(&t, "\3", 1);
            for (int c = 0; c < 3 && k > 0; c++)
                put_word(&t, (uint32_t)tetrahedron_faces[f][c], k == 2);
        }
        if (k == 3)
            text_puts(&t, "solid s\n");
        char header[80] = "binary";
        if (k == 4) {
            text_append(&t, header, sizeof header);
            put_word(&t, 4, false);
        }
        for (int f = 0; f < 4 && stl; f++) {
            if (k == 3)
                text_puts(&t, "facet normal 0 0 0\nouter loop\n");
            for (int c = 0; c < 3 && k == 4; c++)
                put_float(&t, 0, false);
            for (int v = 0; v < 3; v++)
                for (int c = 0; c < 3; c++)
                    if (k == 4)
                        put_float(&t, tetrahedron[tetrahedron_faces[f][v]][c], false);
                    else
                        text_printf(&t, "%s%g%s", c == 0 ? "vertex " : " ",
                                    (double)tetrahedron[tetrahedron_faces[f][v]][c],
                                    c == 2 ? "\n" : "");
            if (k == 3)
                text_puts(&t, "endloop\nendfacet\n");
            else
                text_append(&t, "\0\0", 2);
        }
        if (k == 3)
            text_puts(&t, "endsolid s\n");
        const char *name = stl ? "t.stl" : "t.ply";
        write_bytes(name, t.data, t.len);
        text_free(&t);
        struct imported i = import_file(name);
        assert_int_equal(i.import.triangles, 4);
        for (size_t f = 0; f < 4; f++) {
            double want[9];
            for (int v = 0; v < 9; v++)
                want[v] = (double)tetrahedron[tetrahedron_faces[f][v / 3]][v % 3];
            expect_corners(i.scene, f, want);
        }
        scene_free(i.scene);
    }
}

#define PLY_SQUARE "element vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
static const float ply_corners[5][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {2, 0.5F, 3}};

/* Two strips, the second of which begins behind -1, in text and in both orders of bytes. */
static void test_ply_strips(void **state)
{
    (void)state;
    static const int32_t strip[9] = {8, 0, 1, 3, 2, -1, 1, 4, 2};
    static const char *const formats[3] = {"ascii", "binary_little_endian", "binary_big_endian"};
    for (int k = 0; k < 3; k++) {
        struct text t = {0};
        text_printf(&t,
                    "ply\nformat %s 1.0\n" PLY_SQUARE
                    "element tristrips 1\nproperty list int int vertex_indices\nend_header\n",
                    formats[k]);
        for (int i = 0; i < 15 + 9; i++) {
            unsigned char b[4];
            float x = i < 15 ? ply_corners[i / 3][i % 3] : (float)strip[i - 15];
            memcpy(b, i < 15 ? (const void *)&x : &strip[i - 15], 4);
            const unsigned char turned[4] = {b[3], b[2], b[1], b[0]};
            if (k == 0)
                text_printf(&t, "%g%s", (double)x, i % 3 == 2 ? "\n" : " ");
            else
                text_append(&t, (const char *)(k == 1 ? b : turned), 4);
        }
        write_bytes("s.ply", t.data, t.len);
        struct imported i = import_file("s.ply");
        assert_int_equal(i.import.triangles, 3);
        expect_corners(i.scene, 0, (const double[]){0, 0, 0, 1, 0, 0, 0, 1, 0});
        expect_corners(i.scene, 1, (const double[]){1, 0, 0, 1, 1, 0, 0, 1, 0});
        expect_corners(i.scene, 2, (const double[]){1, 0, 0, 2, 0.5, 3, 1, 1, 0});
        scene_free(i.scene);
        write_bytes("s.ply", t.data, t.len - 5);
        expect_refused("s.ply", STATUS_PARSE, k ? "it ends too early" : "found no number");
        text_free(&t);
    }
}

/* Names of vertices' colours and texture coordinates that MeshLab reads, and capitals; 188 is
 * 0.5028865 of sRGB. */
static void test_ply_names(void **state)
{
    (void)state;
    write_text("n.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float X\n"
                        "property float Y\nproperty float Z\nproperty uchar diffuse_red\n"
                        "property uchar diffuse_green\nproperty uchar diffuse_blue\n"
                        "property float texture_s\nproperty float texture_t\nelement face 1\n"
                        "property list uchar int vertex_indices\nend_header\n0 0 0 255 0 188 0 0\n"
                        "1 0 0 0 255 0 0.5 0\n0 2 0 0 0 255 0 0.25\n3 0 1 2\n");
    struct imported i = import_file("n.ply");
    const struct scene *s = i.scene;
    expect_corners(s, 0, (const double[]){0, 0, 0, 1, 0, 0, 0, 2, 0});
    assert_true(s->colors && s->UV);
    const uint32_t *at = s->triangles[0];
    assert_true(near3(s->colors[at[0]], 1, 0, 0.5028865) && near3(s->colors[at[1]], 0, 1, 0));
    assert_true(near((double)s->UV[at[1]][0], 0.5) && near((double)s->UV[at[2]][1], 0.25));
    scene_free(i.scene);
}

/* Elements before the vertices that are nobody's: numbers and lists. */
static void test_ply_others(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        static const char *const formats[3] = {"ascii", "binary_little_endian",
                                               "binary_big_endian"};
        struct text t = {0};
        text_printf(&t,
                    "ply\nformat %s 1.0\nelement camera 2\nproperty float view\n"
                    "property list uint int views\nelement vertex 3\nproperty float x\n"
                    "property float y\nproperty float z\nelement face 1\n"
                    "property list uint int vertex_indices\nend_header\n",
                    formats[k]);
        static const double numbers[] = {7, 2, 4, 5, 8, 0, 1, 0, 0, 1, 2, 0, 0, 2, 3, 3, 2, 1, 0};
        for (int i = 0; i < 19; i++) {
            bool real = i == 0 || i == 4 || (i >= 6 && i < 15);
            if (k == 0)
                text_printf(&t, "%g%s", numbers[i], strchr("\3\5\10\13\16", i) ? "\n" : " ");
            else if (real)
                put_float(&t, (float)numbers[i], k == 2);
            else
                put_word(&t, (uint32_t)numbers[i], k == 2);
        }
        write_bytes("o.ply", t.data, t.len);
        text_free(&t);
        struct imported i = import_file("o.ply");
        assert_int_equal(i.import.triangles, 1);
        expect_corners(i.scene, 0, (const double[]){0, 2, 3, 1, 2, 0, 1, 0, 0});
        scene_free(i.scene);
    }
}

/* A square and a triangle with colours, texture coordinates and textures of their own. */
static void test_ply_faces(void **state)
{
    (void)state;
    static const uint8_t first[6] = {1, 2, 3, 4, 5, 6}, second[6] = {9, 8, 7, 6, 5, 4};
    write_png("one a.png", first);
    write_png("two.png", second);
    struct text t = {0};
    for (int i = 0; i < 5; i++)
        text_printf(&t, "%g %g %g\n", (double)ply_corners[i][0], (double)ply_corners[i][1],
                    (double)ply_corners[i][2]);
    write_text("f.ply", arena_printf(&arena,
                                     "ply\r\nformat ascii 1.0\r\n" PLY_SQUARE
                                     "element face 2\nproperty list uchar int vertex_indices\n"
                                     "property uchar red\nproperty uchar green\n"
                                     "property uchar blue\nend_header\n%s4 0 1 2 3 255 0 0\n"
                                     "3 1 4 2 0 0 255\n",
                                     t.data));
    struct imported i = import_file("f.ply");
    assert_int_equal(i.import.triangles, 3);
    assert_int_equal(i.import.note_count, 0);
    for (size_t k = 0; k < 9; k++)
        assert_true(near3(i.scene->colors[i.scene->triangles[k / 3][k % 3]], k < 6, 0, k >= 6));
    scene_free(i.scene);
    write_text("f.ply",
               arena_printf(
                   &arena,
                   "ply\nformat ascii 1.0\ncomment TextureFile one a.png\ncomment TextureFile "
                   "two.png\n" PLY_SQUARE "element face 3\nproperty list uchar int vertex_indices\n"
                   "property int flags\nproperty list uchar float texcoord\nproperty int "
                   "texnumber\nend_header\n%s4 0 1 2 3 7 8 0 0 0.5 0 0.5 1 0 1 0\n3 1 4 2 7 6 "
                   "0.25 0.5 0.75 0.5 1 1 1\n2 0 1 7 4 0 0 1 1 0\n",
                   t.data));
    i = import_file("f.ply");
    assert_int_equal(i.import.triangles, 3);
    for (size_t k = 0; k < 9; k++) {
        const struct scene *s = i.scene;
        const float *uv = s->UV[s->triangles[k / 3][k % 3]];
        double P[3];
        vertex_of(s, k / 3, (int)(k % 3), P);
        if (k < 6)
            assert_true(near((double)uv[0], P[0] / 2) && near((double)uv[1], P[1]));
        else
            assert_true(near((double)uv[0], (double[]){0.25, 0.75, 1}[k - 6]));
        const struct material *m = &s->materials[scene_material_of(s, (uint32_t)(k / 3))];
        assert_memory_equal(bytes_of(&i, m->base.texture), k < 6 ? first : second, 6);
    }
    scene_free(i.scene);
    write_text("f.ply", arena_printf(&arena,
                                     "ply\nformat ascii 1.0\n" PLY_SQUARE
                                     "element tristrips 1\nproperty list int int vertex_indices\n"
                                     "end_header\n%s3 0 1 5\n",
                                     t.data));
    expect_refused("f.ply", STATUS_PARSE, "a vertex that there is not");
    write_text("f.ply", "ply\nformat ascii 1.0\n" PLY_SQUARE "end_head\n0 0 0\n");
    expect_refused("f.ply", STATUS_PARSE, "no end_header");
    write_text("f.ply", arena_printf(&arena,
                                     "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n"
                                     "property float y\nproperty float z\n" PLY_SQUARE
                                     "element tristrips 1\nproperty list int int vertex_indices\n"
                                     "end_header\n0 0 0 %s3 0 1 2\n",
                                     t.data));
    expect_refused("f.ply", STATUS_PARSE, "two elements \"vertex\"");
    text_free(&t);
}

/* Capitals, behind empty lines; normals that are no numbers, as C's libraries print them; binary
 * files that begin with "solid", go on behind their last facet or end before it. */
static void test_stl_odd(void **state)
{
    (void)state;
    write_text("o.stl",
               " \n\n\t\nSOLID X\nFACET NORMAL 0 0 1\nOUTER LOOP\nVERTEX 0 0 0\nVERTEX 1E0 0 0\n"
               "VERTEX 0 2 0\nENDLOOP\nENDFACET\nENDSOLID X\n");
    struct imported i = import_file("o.stl");
    assert_int_equal(i.import.triangles, 1);
    expect_corners(i.scene, 0, (const double[]){0, 0, 0, 1, 0, 0, 0, 2, 0});
    scene_free(i.scene);
    write_text("o.stl", "solid normal (1)\nfacet normal -nan(ind) 1.#QNAN0 -1.#IND\nouter loop\n"
                        "vertex 0 0 0\nvertex 1 0 0\nvertex 0 2 0\nendloop\nendfacet\n"
                        "facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 2 0\n"
                        "vertex 1 0 0\nendloop\nendfacet\nendsolid\n");
    i = import_file("o.stl");
    assert_int_equal(i.import.triangles, 2);
    expect_corners(i.scene, 0, (const double[]){0, 0, 0, 1, 0, 0, 0, 2, 0});
    for (int k = 0; k < 3; k++) {
        expect_normal(i.scene, 0, k, 0, 0, 1);
        expect_normal(i.scene, 1, k, 0, 0, -1);
    }
    scene_free(i.scene);
    /* text all the same */
    write_text("o.stl", arena_printf(&arena, "solid %0*d\nfacet normal 0 0 1\n", 3000, 7));
    expect_refused("o.stl", STATUS_PARSE, "name too long");
    static const float facet[12] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0};
    char file[84 + 3 * 50] = "solid facets"; /* two of 50 bytes */
    file[80] = 2;
    memcpy(file + 84, facet, sizeof facet);
    memcpy(file + 134, facet, sizeof facet);
    for (size_t size = 184; size <= sizeof file; size += 25) {
        write_bytes("o.stl", file, size);
        i = import_file("o.stl");
        assert_int_equal(i.import.triangles, 2);
        expect_corners(i.scene, 1, (const double[]){0, 0, 0, 1, 0, 0, 0, 2, 0});
        scene_free(i.scene);
    }
    write_bytes("o.stl", file, 183);
    expect_refused("o.stl", STATUS_PARSE, "it ends after 1 of 2 triangles");
}

/* Words of facets: bit 15 says that there is a colour, red above, green, blue; after Magics' COLOR=
 * that there is none but the head's, and red is below. 31 of 31 is 1. */
static void test_stl_colors(void **state)
{
    (void)state;
    static const float facet[12] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0};
    static const unsigned char color[10] = {'C', 'O', 'L', 'O', 'R', '=', 0, 255, 255, 255};
    static const uint16_t words[2][3] = {{0xfc00, 0x83e0, 0x801f}, {0x001f, 0x03e0, 0x8000}};
    static const float want[2][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                        {{1, 0, 0}, {0, 1, 0}, {0, 1, 1}}};
    for (int magics = 0; magics < 2; magics++) {
        char file[84 + 3 * 50] = "a part ";
        if (magics)
            memcpy(file + 7, color, sizeof color);
        file[80] = 3;
        for (int f = 0; f < 3; f++) {
            memcpy(file + 84 + (size_t)50 * f, facet, sizeof facet);
            memcpy(file + 132 + (size_t)50 * f, &words[magics][f], 2);
        }
        write_bytes("c.stl", file, sizeof file);
        struct imported i = import_file("c.stl");
        assert_int_equal(i.import.triangles, 3);
        assert_non_null(i.scene->colors);
        for (size_t t = 0; t < 3; t++)
            for (size_t k = 0; k < 3; k++)
                assert_true(near3(i.scene->colors[i.scene->triangles[t][k]],
                                  (double)want[magics][t][0], (double)want[magics][t][1],
                                  (double)want[magics][t][2]));
        scene_free(i.scene);
        /* facets that have none but the head's: one bit each, or nothing at all */
        for (int bit = 0; bit < 2 * magics; bit++) {
            for (int f = 0; f < 3; f++)
                file[132 + 50 * f] = 0, file[133 + 50 * f] = bit ? '\x80' : 0;
            write_bytes("c.stl", file, sizeof file);
            i = import_file("c.stl");
            assert_non_null(i.scene->colors);
            for (size_t t = 0; t < 3; t++)
                assert_true(near3(i.scene->colors[i.scene->triangles[t][0]], 0, 1, 1));
            scene_free(i.scene);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ply_strips), cmocka_unit_test(test_ply_names),
        cmocka_unit_test(test_ply_faces),  cmocka_unit_test(test_ply_others),
        cmocka_unit_test(test_stl_odd),    cmocka_unit_test(test_ply_stl),
        cmocka_unit_test(test_stl_colors),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
