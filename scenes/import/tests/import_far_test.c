/* SPDX-License-Identifier: Apache-2.0 */
/* Model files in coordinates of the Earth, made by this test in every format that has digits for
 * them: imported, as a scene's own mesh and as instances they keep their shape. */
#include "test_import.h"

#include <cmocka.h>

enum {
    BALL_ROWS = 8,
    BALL_COLUMNS = 16,
    BALL_POINTS = (BALL_ROWS - 1) * BALL_COLUMNS,
    BALL_QUADS = BALL_POINTS - BALL_COLUMNS
};
static const double ball_center[3] = {432187.123456, 5412345.654321, -312.4};

static void ball_point(int i, double p[3])
{
    int row = i / BALL_COLUMNS + 1, column = i % BALL_COLUMNS;
    double theta = M_PI * row / BALL_ROWS, phi = 2 * M_PI * column / BALL_COLUMNS;
    p[0] = ball_center[0] + sin(theta) * cos(phi);
    p[1] = ball_center[1] + sin(theta) * sin(phi);
    p[2] = ball_center[2] + cos(theta);
}

/* The corners of a quad between two rings of points. */
static void ball_quad(int i, int corner[4])
{
    int next = i % BALL_COLUMNS == BALL_COLUMNS - 1 ? i + 1 - BALL_COLUMNS : i + 1;
    memcpy(corner, (int[4]){i, i + BALL_COLUMNS, next + BALL_COLUMNS, next}, 4 * sizeof *corner);
}

/* A file in text: points between `before` and `behind`, then quads, in OBJ as triangles unless they
 * shall be whole. */
static void write_ball_text(const char *name, const char *head, const char *before,
                            const char *behind, bool obj, bool whole)
{
    struct text t = {0};
    text_puts(&t, head);
    for (int i = 0; i < BALL_POINTS; i++) {
        double p[3];
        ball_point(i, p);
        text_printf(&t, "%s%.6f %.6f %.6f%s\n", before, p[0], p[1], p[2], behind);
    }
    for (int i = 0; i < BALL_QUADS; i++) {
        int q[4], from = obj ? 1 : 0;
        ball_quad(i, q);
        if (whole)
            text_printf(&t, "%s %d %d %d %d\n", obj ? "f" : "4", q[0] + from, q[1] + from,
                        q[2] + from, q[3] + from);
        else
            text_printf(&t, "f %d %d %d\nf %d %d %d\n", q[0] + 1, q[1] + 1, q[2] + 1, q[0] + 1,
                        q[2] + 1, q[3] + 1);
    }
    write_bytes(name, t.data, t.len);
    text_free(&t);
}

#define BALL_PLY(format, type, more)                                                               \
    "ply\nformat " format " 1.0\nelement vertex 112\nproperty " type " x\nproperty " type          \
    " y\nproperty " type " z\n" more                                                               \
    "element face 96\nproperty list uchar int vertex_indices\nend_header\n"

static void write_ball_ply(const char *name, bool big)
{
    struct text t = {0};
    text_puts(&t,
              big ? BALL_PLY("binary_big_endian", "double",
                             "property uchar red\nproperty uchar green\nproperty uchar blue\n")
                  : BALL_PLY("binary_little_endian", "double",
                             "property uchar red\nproperty uchar green\nproperty uchar blue\n"));
    for (int i = 0; i < BALL_POINTS; i++) {
        double p[3];
        ball_point(i, p);
        for (int c = 0; c < 3; c++) {
            uint64_t bits;
            memcpy(&bits, &p[c], sizeof bits);
            put_word(&t, (uint32_t)(big ? bits >> 32 : bits), big);
            put_word(&t, (uint32_t)(big ? bits : bits >> 32), big);
        }
        text_append(&t, "\377\0\0", 3);
    }
    for (int i = 0; i < BALL_QUADS; i++) {
        int corner[4];
        ball_quad(i, corner);
        text_append(&t, "\4", 1);
        for (int k = 0; k < 4; k++)
            put_word(&t, (uint32_t)corner[k], big);
    }
    write_bytes(name, t.data, t.len);
    text_free(&t);
}

static void write_ball_stl(const char *name)
{
    struct text t = {0};
    text_puts(&t, "solid s\n");
    for (int i = 0; i < BALL_QUADS; i++) {
        int q[4];
        ball_quad(i, q);
        const int corner[6] = {q[0], q[1], q[2], q[0], q[2], q[3]};
        int row = i / BALL_COLUMNS + 1, column = i % BALL_COLUMNS;
        double theta = M_PI * (row + 0.5) / BALL_ROWS,
               phi = 2 * M_PI * (column + 0.5) / BALL_COLUMNS;
        for (int k = 0; k < 6; k++) {
            double p[3];
            ball_point(corner[k], p);
            if (k % 3 == 0)
                text_printf(&t, "facet normal %f %f %f\n outer loop\n", sin(theta) * cos(phi),
                            sin(theta) * sin(phi), cos(theta));
            text_printf(&t, "  vertex %.6f %.6f %.6f\n%s", p[0], p[1], p[2],
                        k % 3 == 2 ? " endloop\nendfacet\n" : "");
        }
    }
    text_puts(&t, "endsolid s\n");
    write_bytes(name, t.data, t.len);
    text_free(&t);
}

/* Points stand on the unit sphere about `center`. Six digits behind the point round a coordinate by
 * 5e-7 at most; relative to the frame's origin, within 2 of the middle, float32 rounds it by 2^-23
 * twice. A triangle
 * with corners on a sphere has its normal at asin(circumradius) from the radii to them, at most
 * sqrt(2) sin(11.25 degrees) for half a quad of 22.5 degrees by 22.5, and so has a mean of such. */
static void expect_ball(const struct scene *s, const double center[3], const char *what)
{
    const double chord = sin(11.25 * M_PI / 180), least = sqrt(1 - 2 * chord * chord);
    size_t all = (size_t)2 * BALL_QUADS; /* before the lamp that import makes */
    if (s->triangle_count < all)
        fail_msg("%s: %zu triangles", what, s->triangle_count);
    for (size_t t = 0; t < all; t++)
        for (int k = 0; k < 3; k++) {
            double p[3], len2 = 0, along = 0;
            vertex_of(s, t, k, p);
            for (int c = 0; c < 3; c++) {
                double r = p[c] + (s->frame_origin[c] - center[c]);
                len2 += r * r;
                along += s->N ? r * (double)s->N[s->triangles[t][k]][c] : 1;
            }
            double off = fabs(sqrt(len2) - 1);
            if (!(off < sqrt(3) * (5e-7 + 2 * 0x1p-23)) || !(along > least))
                fail_msg("%s: triangle %zu, corner %d: %g off the sphere, normal %g along it", what,
                         t, k, off, along);
        }
}

/* Scans in coordinates of the Earth: what the file says is not rounded to the half metres that
 * float32 has there. */
static void test_far_models(void **state)
{
    (void)state;
    static const char *const names[] = {"far.obj",     "far-colors.obj", "far-quads.obj", "far.ply",
                                        "far-big.ply", "far-text.ply",   "far.stl"};
    write_ball_text(names[0], "# scan\n", "v  ", "", true, false);
    write_ball_text(names[1], "", "v ", " 1 0 0", true, false);
    write_ball_text(names[2], "s 1\n", "\tv ", " 1\r", true, true);
    write_ball_ply(names[3], false);
    write_ball_ply(names[4], true);
    write_ball_text(names[5], BALL_PLY("ascii", "float", ""), "", "", false, true);
    write_ball_stl(names[6]);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct imported i = import_file(names[k]);
        expect_ball(i.scene, ball_center, names[k]);
        assert_true(i.scene->N != NULL);
        bool colors = k == 1 || k == 3 || k == 4;
        assert_true((i.scene->colors != NULL) == colors);
        assert_true(!colors || near3(i.scene->colors[5], 1, 0, 0));
        assert_false(noted(&i, "digits"));
        scene_free(i.scene);
        /* as one model; as instances, one near 0, of a group that holds it where it stands */
        struct error err = {0};
        struct scene *s;
        for (int way = 0; way < 2; way++) {
            const char *json = arena_printf(
                &arena,
                "{\"isophote\": 1, \"instancing\": \"two-level\", \"camera\": {\"origin\": [0, 0, "
                "5], \"target\": [0, 0, 0], \"fov\": 40}, "
                "\"materials\": "
                "{\"m\": {\"type\": \"diffuse\"}}, \"groups\": {\"g\": [{\"type\": \"mesh\", "
                "\"file\": "
                "\"%s\", \"material\": \"m\"}]}, \"objects\": [{\"type\": \"%s}]}",
                names[k],
                way ? "instance\", \"group\": \"g\", \"transform\": [{\"translate\": "
                      "[-432187.123456, -5412345.654321, 312.4]}]}, {\"type\": "
                      "\"instance\", \"group\": \"g\", \"transform\": [{\"translate\": "
                      "[-432180.123456, -5412345.654321, 312.4]}]"
                    : arena_printf(&arena, "mesh\", \"file\": \"%s\", \"material\": \"m\"",
                                   names[k]));
            if (scene_load_memory(path_of("own.json"), json, strlen(json), &s, &err) != STATUS_OK)
                fail_msg("%s: %s", names[k], err.msg);
            if (way) {
                double at[3];
                assert_int_equal(s->instance_count, 2);
                for (int c = 0; c < 3; c++)
                    at[c] = -(double)s->instances[0].to_world[c][3];
                s->triangle_count = s->prototype_triangle_count;
                expect_ball(s, at, names[k]);
            } else {
                expect_ball(s, ball_center, names[k]);
            }
            scene_free(s);
        }
    }
    /* vertices near 0 and elsewhere that no face uses; faces that count from the end, on two lines
     */
    static const char *const strays[] = {"stray.obj", "stray.ply"};
    write_text(strays[0], "v 0 0 0\nv 1000000.125 2000000.25 7\nv 1000002.125 2000000.25 7\n"
                          "v 1000000.125 2000001.375 7\nv -5e5 1 1 3\nf -4 -3 \\\n 4\n");
    write_text(strays[1], "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\n"
                          "property float y\nproperty float z\nelement face 1\n"
                          "property list uchar int vertex_indices\nend_header\n0 0 0\n"
                          "1000000.125 2000000.25 7\n1000002.125 2000000.25 7\n"
                          "1000000.125 2000001.375 7\n-5e5 1 1\n3 1 2 3\n");
    for (int k = 0; k < 2; k++) {
        struct imported i = import_file(strays[k]);
        static const double want[3][3] = {{1000000.125, 2000000.25, 7},
                                          {1000002.125, 2000000.25, 7},
                                          {1000000.125, 2000001.375, 7}};
        for (int v = 0; v < 3; v++) {
            double at[3];
            vertex_of(i.scene, 0, v, at);
            for (int c = 0; c < 3; c++)
                assert_true(at[c] + i.scene->frame_origin[c] == want[v][c] &&
                            fabs(i.scene->camera.origin[c] - at[c]) < 20); /* it is framed */
        }
        assert_int_equal(i.import.note_count, 0);
        scene_free(i.scene);
    }
    /* what divides coordinates, and what the file itself has in float32 */
    write_text("far-w.obj", "v 2e6 0 0 2\nv 2000002 0 0 2\nv 2e6 2 0 2\nf 1 2 3\n");
    struct imported i = import_file("far-w.obj");
    double p[3];
    vertex_of(i.scene, 0, 1, p);
    assert_true(p[0] + i.scene->frame_origin[0] == 1000001);
    scene_free(i.scene);
    struct text t = {0};
    text_puts(&t, "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\n"
                  "property float y\nproperty float z\nelement face 1\nproperty list uchar int "
                  "vertex_indices\nend_header\n");
    for (int v = 0; v < 9; v++)
        put_float(&t, v == 3 || v == 7 ? 5000002 : 5000000, false);
    text_append(&t, "\3", 1);
    for (uint32_t v = 0; v < 3; v++)
        put_word(&t, v, false);
    write_bytes("far-float.ply", t.data, t.len);
    text_free(&t);
    i = import_file("far-float.ply");
    assert_true(noted(&i, "digits of coordinates: 5e+06 from 0 they are float32, in steps of 0.5, "
                          "where the model is 2 across"));
    scene_free(i.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far_models),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
