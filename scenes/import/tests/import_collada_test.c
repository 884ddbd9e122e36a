/* SPDX-License-Identifier: Apache-2.0 */
/* COLLADA and 3DS files made by this test: trees of nodes, shading, smoothing, key frames. */
#include "test_import.h"

#include <cmocka.h>

/* A <source> of `count` numbers, and what its accessor says. */
static const char *collada_source(const char *id, int count, const char *numbers,
                                  const char *accessor)
{
    return arena_printf(&arena,
                        "<source id=\"%s\"><float_array id=\"%s-a\" count=\"%d\">%s</float_array>"
                        "<technique_common><accessor source=\"#%s-a\" %s</accessor>"
                        "</technique_common></source>",
                        id, id, count, numbers, id, accessor);
}

static const char *collada_light(const char *id, const char *constant, const char *quadratic)
{
    return arena_printf(&arena,
                        "<light id=\"%s\"><technique_common><point><color>3 2 1</color>"
                        "<constant_attenuation>%s</constant_attenuation><linear_attenuation>0"
                        "</linear_attenuation><quadratic_attenuation>%s</quadratic_attenuation>"
                        "</point></technique_common></light>",
                        id, constant, quadratic);
}

/* Collada: lambert has no highlight, phong one of its exponent: 1 - sqrt(250/1000). */
static void test_collada_shading(void **state)
{
    (void)state;
    static const char *const name[2] = {"lambert", "phong"};
    struct text t = {0};
    text_puts(&t, "<?xml version=\"1.0\"?><COLLADA version=\"1.4.1\" "
                  "xmlns=\"http://www.collada.org/2005/11/COLLADASchema\"><asset/>"
                  "<library_effects>");
    for (int k = 0; k < 2; k++)
        text_printf(&t,
                    "<effect id=\"e-%s\"><profile_COMMON><technique sid=\"t\"><%s><diffuse><color>"
                    "0.2 0.4 0.6 1</color></diffuse>%s</%s></technique></profile_COMMON></effect>",
                    name[k], name[k],
                    k ? "<specular><color>0.5 0.5 0.5 1</color></specular><shininess><float>250"
                        "</float></shininess>"
                      : "",
                    name[k]);
    text_puts(&t, "</library_effects><library_materials>");
    for (int k = 0; k < 2; k++)
        text_printf(&t,
                    "<material id=\"%s\" name=\"%s\"><instance_effect url=\"#e-%s\"/></material>",
                    name[k], name[k], name[k]);
    text_puts(&t, "</library_materials><library_geometries><geometry id=\"g\"><mesh>");
    text_puts(&t,
              collada_source("p", 9, "0 0 0 0 2 0 1 1 0",
                             "count=\"3\" stride=\"3\"><param name=\"X\" type=\"float\"/><param "
                             "name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/>"));
    text_puts(&t, "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"
                  "<triangles count=\"1\" material=\"sym\"><input semantic=\"VERTEX\" "
                  "source=\"#v\" offset=\"0\"/><p>0 1 2</p></triangles></mesh></geometry>"
                  "</library_geometries><library_visual_scenes><visual_scene id=\"s\">");
    for (int k = 0; k < 2; k++)
        text_printf(&t,
                    "<node id=\"n%d\"><instance_geometry url=\"#g\"><bind_material>"
                    "<technique_common><instance_material symbol=\"sym\" target=\"#%s\"/>"
                    "</technique_common></bind_material></instance_geometry></node>",
                    k, name[k]);
    text_puts(&t, "</visual_scene></library_visual_scenes><scene><instance_visual_scene "
                  "url=\"#s\"/></scene></COLLADA>");
    /* blanks before the text of elements, as XML's lists may have them */
    struct text loose = {0};
    for (const char *at = t.data; *at; at++)
        if (*at == '>' && at[1] && at[1] != '<')
            text_puts(&loose, ">\n\t ");
        else
            text_append(&loose, at, 1);
    write_text("m.dae", loose.data);
    text_free(&loose);
    text_free(&t);
    struct imported i = import_file("m.dae");
    const struct material *m = material_of(&i, "lambert");
    assert_true(m->type == MATERIAL_DIFFUSE && near3(m->base.value, 0.2, 0.4, 0.6));
    m = material_of(&i, "phong");
    assert_true(m->type == MATERIAL_PRINCIPLED && near((double)m->roughness.value, 0.5));
    scene_free(i.scene);
}

/* A triangle under <skew>s, by hand: along x by 45 degrees, x + y; in units of their own and after
 * a move, z + 2 x tan(30); of axes 45 degrees apart, (1, 1, 0) turned by 15 lies 30 from x, so that
 * x + y (cot(30) - cot(45)). */
static void test_collada_skew(void **state)
{
    (void)state;
    static const struct {
        const char *skew;
        double want[9]; /* of (0, 0, 0), (0, 2, 0), (1, 1, 0) */
    } cases[] = {
        {"<skew sid=\"a\">45 0 1 0 1 0 0</skew>", {0, 0, 0, 2, 2, 0, 2, 1, 0}},
        {"<translate>0 0 5</translate><skew>\n 30 2 0 0\t0 0 3 </skew>",
         {0, 0, 5, 0, 2, 5, 1, 1, 5.577350269}},
        {"<skew>15 1 1 0 1 0 0</skew >", {0, 0, 0, 1.464101615, 2, 0, 1.732050808, 1, 0}},
        {"<skew>-45 0 1 0 1 0 0</skew><scale>1 2 1</scale>", {0, 0, 0, -4, 4, 0, -1, 2, 0}},
    };
    static const char *const bad[] = {"<skew>45 0 1 0 1 0</skew>",
                                      "<skew>45 0 1 0 1 0 0 1</skew>",
                                      "<skew/>",
                                      "<skew>45 0 0 0 1 0 0</skew>",
                                      "<skew>45 0 1 0 0 2 0</skew>",
                                      "<skew>45 1 1 0 1 0 0</skew>",
                                      "<skew>nan 0 1 0 1 0 0</skew>"};
    enum { GOOD = sizeof cases / sizeof *cases, ALL = GOOD + sizeof bad / sizeof *bad };
    for (size_t k = 0; k < ALL; k++) {
        struct text t = {0};
        text_puts(&t, "<?xml version=\"1.0\"?><COLLADA version=\"1.4.1\" "
                      "xmlns=\"http://www.collada.org/2005/11/COLLADASchema\">\n<asset/>"
                      "<library_geometries><geometry id=\"g\"><mesh>");
        text_puts(
            &t, collada_source("p", 9, "0 0 0 0 2 0 1 1 0",
                               "count=\"3\" stride=\"3\"><param name=\"X\" type=\"float\"/><param "
                               "name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/>"));
        text_printf(&t,
                    "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"
                    "<triangles count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" "
                    "offset=\"0\"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>"
                    "<library_visual_scenes><visual_scene id=\"s\"><node id=\"n\">\n%s"
                    "<instance_geometry url=\"#g\"/></node></visual_scene></library_visual_scenes>"
                    "<scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>",
                    k < GOOD ? cases[k].skew : bad[k - GOOD]);
        write_text("k.dae", t.data);
        text_free(&t);
        if (k >= GOOD) {
            expect_refused("k.dae", STATUS_PARSE, "k.dae: line 3: <skew> wants");
            continue;
        }
        struct imported i = import_file("k.dae");
        expect_corners(i.scene, 0, cases[k].want);
        scene_free(i.scene);
    }
}

/* A triangle in Collada, skinned by two joints as test_skin's; and lamps 8 from the middle of the
 * model: one as strong everywhere, one that falls with the square of the distance. */
static void test_collada(void **state)
{
    (void)state;
    struct text t = {0};
    text_puts(&t,
              "<?xml version=\"1.0\"?><COLLADA version=\"1.4.1\" "
              "xmlns=\"http://www.collada.org/2005/11/COLLADASchema\"><asset/><library_lights>");
    text_puts(&t, collada_light("even", "1", "0"));
    text_puts(&t, collada_light("square", "0", "0.5"));
    text_puts(&t, "</library_lights><library_geometries><geometry id=\"g\"><mesh>");
    text_puts(&t,
              collada_source("p", 9, "0 0 0 0 2 0 1 1 0",
                             "count=\"3\" stride=\"3\"><param name=\"X\" type=\"float\"/><param "
                             "name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/>"));
    text_puts(&t, "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"
                  "<triangles count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>"
                  "<p>0 1 2</p></triangles></mesh></geometry></library_geometries>"
                  "<library_controllers><controller id=\"c\"><skin source=\"#g\">");
    text_puts(&t, "<bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>");
    text_puts(&t, "<source id=\"j\"><Name_array id=\"j-a\" count=\"2\">one two</Name_array>"
                  "<technique_common><accessor source=\"#j-a\" count=\"2\" stride=\"1\"><param "
                  "name=\"JOINT\" type=\"name\"/></accessor></technique_common></source>");
    text_puts(&t, collada_source(
                      "b", 32, "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 1 0 0 0 0 1 0 -1 0 0 1 0 0 0 0 1",
                      "count=\"2\" stride=\"16\"><param name=\"TRANSFORM\" type=\"float4x4\"/>"));
    text_puts(&t,
              collada_source("w", 2, "1 0.5",
                             "count=\"2\" stride=\"1\"><param name=\"WEIGHT\" type=\"float\"/>"));
    text_puts(&t,
              "<joints><input semantic=\"JOINT\" source=\"#j\"/><input "
              "semantic=\"INV_BIND_MATRIX\" source=\"#b\"/></joints><vertex_weights count=\"3\">"
              "<input semantic=\"JOINT\" source=\"#j\" offset=\"0\"/><input "
              "semantic=\"WEIGHT\" source=\"#w\" offset=\"1\"/><vcount>1 1 2</vcount>"
              "<v>0 0 1 0 0 1 1 1</v></vertex_weights></skin></controller></library_controllers>");
    text_puts(&t,
              "<library_visual_scenes><visual_scene id=\"s\"><node id=\"n1\" sid=\"one\" "
              "type=\"JOINT\"><translate>5 0 0</translate><node id=\"n2\" sid=\"two\" "
              "type=\"JOINT\"><translate>0 1 0</translate><rotate>0 0 1 90</rotate></node></node>"
              "<node id=\"m\"><translate>100 0 0</translate><instance_controller url=\"#c\">"
              "<skeleton>#n1</skeleton></instance_controller></node>");
    for (int k = 0; k < 2; k++)
        text_printf(&t,
                    "<node id=\"l%d\"><translate>4.75 0.75 8</translate><instance_light "
                    "url=\"#%s\"/></node>",
                    k, k ? "square" : "even");
    text_puts(&t, "</visual_scene></library_visual_scenes><scene><instance_visual_scene "
                  "url=\"#s\"/></scene></COLLADA>");
    write_text("s.dae", t.data);
    text_free(&t);
    struct imported i = import_with("s.dae", &(struct scene_import_options){.light_scale = 1});
    expect_corners(i.scene, 0, (const double[]){5, 0, 0, 4, 1, 0, 5.5, 1.5, 0});
    assert_int_equal(i.scene->light_count, 2);
    assert_true(near3(i.scene->lights[0].intensity, 3 * 64, 2 * 64, 64));
    assert_true(near3(i.scene->lights[1].intensity, 6, 4, 2));
    scene_free(i.scene);
}

/* A chunk of 3DS around what t holds from `first` on. */
static void wrap_chunk(struct text *t, size_t first, uint16_t kind)
{
    uint32_t size = (uint32_t)(t->len - first) + 6;
    uint8_t head[6] = {(uint8_t)kind,        (uint8_t)(kind >> 8),  (uint8_t)size,
                       (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24)};
    struct text inner = {0};
    text_append(&inner, (const char *)head, sizeof head);
    text_append(&inner, t->data + first, t->len - first);
    t->len = first;
    text_append(t, inner.data, inner.len);
    text_free(&inner);
}

static void put_half(struct text *t, unsigned w)
{
    uint8_t b[2] = {(uint8_t)w, (uint8_t)(w >> 8)};
    text_append(t, (const char *)b, 2);
}

/* A track with one key of n floats. */
static void put_track(struct text *t, uint16_t kind, int n, const float *value)
{
    size_t first = t->len;
    text_append(t, "\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0", 20);
    for (int i = 0; i < n; i++)
        put_float(t, value[i], false);
    wrap_chunk(t, first, kind);
}

/* The tetrahedron in 3DS, which has its vertices in the world and z up: twice as large, turned by
 * 90 degrees about z, at (10, 0, 0), as the mesh' matrix says, and key frames too. */
static void test_3ds(void **state)
{
    (void)state;
    static const float matrix[12] = {0, 2, 0, -2, 0, 0, 0, 0, 2, 10, 0, 0}, pivot[3] = {0, 0, 0},
                       place[3] = {10, 0, 0}, scale[3] = {2, 2, 2},
                       turn[4] = {-1.57079633F, 0, 0, 1};
    for (int k = 0; k < 3; k++) { /* without a matrix; with one; with key frames */
        struct text t = {0};
        text_append(&t, "tet", 4);
        size_t mesh = t.len, at = mesh;
        put_half(&t, 4);
        for (int v = 0; v < 4; v++) {
            put_float(&t, 10 - 2 * tetrahedron[v][1], false);
            put_float(&t, 2 * tetrahedron[v][0], false);
            put_float(&t, 2 * tetrahedron[v][2], false);
        }
        wrap_chunk(&t, at, 0x4110);
        at = t.len;
        put_half(&t, 4);
        for (int f = 0; f < 4; f++) {
            for (int c = 0; c < 3; c++)
                put_half(&t, (unsigned)tetrahedron_faces[f][c]);
            put_half(&t, 7);
        }
        wrap_chunk(&t, at, 0x4120);
        at = t.len;
        for (int i = 0; i < 12 && k > 0; i++)
            put_float(&t, matrix[i], false);
        if (k > 0)
            wrap_chunk(&t, at, 0x4160);
        wrap_chunk(&t, mesh, 0x4100);
        wrap_chunk(&t, 0, 0x4000);
        wrap_chunk(&t, 0, 0x3d3d);
        size_t keys = t.len;
        if (k == 2) {
            text_append(&t, "tet\0\0\0\0\0\377\377", 10);
            wrap_chunk(&t, keys, 0xb010);
            at = t.len;
            for (int i = 0; i < 3; i++)
                put_float(&t, pivot[i], false);
            wrap_chunk(&t, at, 0xb013);
            put_track(&t, 0xb020, 3, place);
            put_track(&t, 0xb021, 4, turn);
            put_track(&t, 0xb022, 3, scale);
            wrap_chunk(&t, keys, 0xb002);
            wrap_chunk(&t, keys, 0xb000);
        }
        wrap_chunk(&t, 0, 0x4d4d);
        write_bytes("t.3ds", t.data, t.len);
        text_free(&t);
        struct imported i = import_file("t.3ds");
        assert_int_equal(i.import.triangles, 4);
        for (size_t f = 0; f < 4; f++) {
            double want[9]; /* (x, y, z) is (x, z, -y) where y is up */
            for (int v = 0; v < 3; v++) {
                const float *p = tetrahedron[tetrahedron_faces[f][v]];
                want[3 * v] = 10 - 2 * (double)p[1];
                want[3 * v + 1] = 2 * (double)p[2];
                want[3 * v + 2] = -2 * (double)p[0];
            }
            expect_corners(i.scene, f, want);
        }
        scene_free(i.scene);
    }
}

/* A box of eight vertices in 3DS: without smoothing groups it has its edges, as in other formats;
 * in one group its normals are its diagonals; faces of no group are flat beside others that are
 * smooth, here those of one material, which Assimp takes apart from the others. */
static void test_3ds_smoothing(void **state)
{
    (void)state;
    static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    static const struct {
        const char *name;
        bool says;
        unsigned smooth; /* bit q: quad q is in group 3 */
    } cases[] = {{"none.3ds", false, 0},
                 {"off.3ds", true, 0},
                 {"all.3ds", true, 0x3F},
                 {"ends.3ds", true, 0x03}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct text t = {0};
        text_append(&t, "end", 4);
        wrap_chunk(&t, 0, 0xA000);
        wrap_chunk(&t, 0, 0xAFFF);
        size_t object = t.len;
        text_append(&t, "box", 4);
        size_t mesh = t.len;
        put_half(&t, 8);
        for (int v = 0; v < 8; v++)
            for (int c = 0; c < 3; c++)
                put_float(&t, v >> c & 1 ? 1.0F : -1.0F, false);
        wrap_chunk(&t, mesh, 0x4110);
        size_t list = t.len;
        put_half(&t, 12);
        for (int f = 0; f < 12; f++) {
            const int *q = quads[f / 2];
            put_half(&t, (unsigned)q[0]);
            put_half(&t, (unsigned)q[f % 2 ? 2 : 1]);
            put_half(&t, (unsigned)q[f % 2 ? 3 : 2]);
            put_half(&t, 7);
        }
        size_t at = t.len;
        text_append(&t, "END", 4);
        put_half(&t, 2);
        put_half(&t, 9);
        put_half(&t, 1);
        wrap_chunk(&t, at, 0x4130);
        at = t.len;
        for (int f = 0; f < 12 && cases[n].says; f++)
            put_word(&t, cases[n].smooth >> f / 2 & 1 ? 4 : 0, false);
        if (cases[n].says)
            wrap_chunk(&t, at, 0x4150);
        wrap_chunk(&t, list, 0x4120);
        wrap_chunk(&t, mesh, 0x4100);
        wrap_chunk(&t, object, 0x4000);
        wrap_chunk(&t, 0, 0x3d3d);
        wrap_chunk(&t, 0, 0x4d4d);
        write_bytes(cases[n].name, t.data, t.len);
        text_free(&t);
        struct imported i = import_file(cases[n].name);
        assert_int_equal(i.import.triangles, 12);
        unsigned seen = 0;
        for (size_t f = 0; f < 12; f++) {
            double p[3][3], sum[3] = {0};
            for (int k = 0; k < 3; k++) {
                vertex_of(i.scene, f, k, p[k]);
                for (int c = 0; c < 3; c++)
                    sum[c] += p[k][c] / 3;
            }
            /* (x, y, z) is (x, z, -y) where y is up: the ends, across z, are across y here */
            int axis = fabs(sum[0]) > 0.9 ? 0 : fabs(sum[1]) > 0.9 ? 1 : 2;
            bool smooth = axis == 1 ? cases[n].smooth & 1 : cases[n].smooth & 4;
            seen |= 1U << (2 * axis + (sum[axis] > 0));
            for (int k = 0; k < 3; k++) {
                double want[3] = {0}, length = 0, normal[3], got = 0;
                normal_of(i.scene, f, k, normal);
                for (int c = 0; c < 3; c++)
                    want[c] = c == axis || (smooth && cases[n].smooth == 0x3F) ? p[k][c] : 0;
                for (int c = 0; c < 3; c++) {
                    length += want[c] * want[c];
                    got += want[c] * normal[c];
                }
                /* Assimp weighs a face's two triangles as two: 19 degrees off a box' diagonal */
                double least = smooth && cases[n].smooth == 0x3F ? 0.94 : 1 - 1e-6;
                if (got < least * sqrt(length))
                    fail_msg("%s: triangle %zu, corner %d: (%g, %g, %g)", cases[n].name, f, k,
                             normal[0], normal[1], normal[2]);
            }
        }
        assert_int_equal(seen, 0x3F);
        scene_free(i.scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collada),         cmocka_unit_test(test_collada_skew),
        cmocka_unit_test(test_collada_shading), cmocka_unit_test(test_3ds),
        cmocka_unit_test(test_3ds_smoothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
