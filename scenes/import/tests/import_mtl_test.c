/* SPDX-License-Identifier: Apache-2.0 */
/* Materials of MTL and FBX files made by this test: what each says arrives in struct scene with the
 * values that the formats' specifications give it. */
#include "test_import.h"

#include <cmocka.h>

static void test_mtl(void **state)
{
    (void)state;
    static const uint8_t rgb[6] = {255, 0, 0, 0, 255, 0};
    write_png("a.png", rgb);
    write_text("o.mtl", "newmtl matte\nKd 0.2 0.4 0.6\nillum 1\n"
                        "newmtl shiny\nKd 1 1 1\nKs 0.5 0.25 0.5\nNs 250\nmap_Kd textures\\a.png\n"
                        "newmtl glow\nKd 0 0 0\nKe 3 2 1\nd 0.5\n");
    write_text("o.obj", "mtllib o.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\n"
                        "o body\nusemtl matte\nf 1/1 2/2 3/3\nusemtl shiny\nf 1/1 3/2 4/3\nusemtl "
                        "glow\nf 1/1 4/2 2/3\n");
    struct imported i = import_file("o.obj");
    const struct material *m = material_of(&i, "matte");
    assert_true(m->type == MATERIAL_DIFFUSE && near3(m->base.value, 0.2, 0.4, 0.6));
    m = material_of(&i, "shiny");
    assert_int_equal(m->type, MATERIAL_PRINCIPLED);
    assert_true(near((double)m->roughness.value, 0.5)); /* 1 - sqrt(250/1000) */
    assert_true(near((double)m->specular.value, 0.5) &&
                m->base.texture >= 0); /* beside, no folder */
    m = material_of(&i, "glow");
    assert_true(near3(m->emission, 3, 2, 1) && near((double)m->opacity.value, 0.5));
    /* each triangle kept its own */
    const struct scene *s = i.scene;
    for (size_t t = 0; t < 3; t++)
        for (size_t k = 0; k < t; k++)
            assert_int_not_equal(s->primitive_material[t], s->primitive_material[k]);
    scene_free(i.scene);
}

/* Colours of one number, lines that go on, a comment that ends as those do; what the specification
 * has and nobody writes: told of. */
static void test_mtl_lines(void **state)
{
    (void)state;
    write_text("l.mtl", "# of C:\\models\\\nnewmtl gray\nKd 0.7\nillum 1\n"
                        "newmtl long\n\tKd 0.1 \\\r\n 0.2 0.3 # and on\nillum 1\n"
                        "newmtl halo\nKd 1 0 0\nd -halo 0.25\n"
                        "newmtl other\nKd xyz 0.4 0.4 0.4\nKs spectral a.rfl 0.5\nd 0.5");
    write_text("l.obj", "# C:\\models\\\nmtllib l.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                        "usemtl gray\nf 1 2 3\nusemtl long\nf 1 2 4\nusemtl halo\nf 1 3 4\n"
                        "usemtl other\nf 2 3 4\n");
    struct imported i = import_file("l.obj");
    assert_true(near3(material_of(&i, "gray")->base.value, 0.7, 0.7, 0.7));
    assert_true(near3(material_of(&i, "long")->base.value, 0.1, 0.2, 0.3));
    const struct material *m = material_of(&i, "halo");
    assert_true(near3(m->base.value, 1, 0, 0) && near((double)m->opacity.value, 0.25));
    assert_true(near((double)material_of(&i, "other")->opacity.value, 0.5));
    assert_true(noted(&i, "d -halo") && noted(&i, "spectra"));
    assert_int_equal(i.import.note_count, 2);
    scene_free(i.scene);
}

/* MTL's models 6 and 7 are glass; Maya writes 4 for what is opaque. */
static void test_mtl_glass(void **state)
{
    (void)state;
    write_text("g.mtl",
               "newmtl clear\nillum 7\nKd 0 0 0\nKs 1 1 1\nNs 1000\nTf 0.5 1 0.25\nNi 1.33\n"
               "newmtl faint\nillum 6\nKd 0.5 0.25 1\nd 0.25\nNi 1.6\n"
               "newmtl blend\nillum 2\nKd 1 1 1\nTf 1 1 1\nd 0.5\n"
               "newmtl amber\nillum 4\nKd 1 1 1\nTf 1 0.5 0\nNi 1.55\n"
               "newmtl maya\nillum 4\nKd 0.5 0.5 0.5\nTf 1.00 1.00 1.00\nNi 1.00\n");
    write_text("g.obj", "mtllib g.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl clear\nf 1 2 3\n"
                        "usemtl faint\nf 1 2 3\nusemtl blend\nf 1 2 3\nusemtl maya\nf 1 2 3\n"
                        "usemtl amber\nf 1 2 3\n");
    struct imported i = import_file("g.obj");
    const struct material *m = material_of(&i, "clear");
    assert_true(m->type == MATERIAL_PRINCIPLED && near((double)m->transmission.value, 1));
    assert_true(near((double)m->ior.value, 1.33) && near((double)m->roughness.value, 0));
    assert_true(near3(m->base.value, 0.5, 1, 0.25) && near((double)m->opacity.value, 1));
    m = material_of(&i, "faint");
    assert_true(near((double)m->transmission.value, 0.75) && near((double)m->ior.value, 1.6));
    assert_true(near3(m->base.value, 0.5, 0.25, 1) && near((double)m->opacity.value, 1));
    m = material_of(&i, "blend");
    assert_true(m->transmission.value == 0 && near((double)m->opacity.value, 0.5));
    m = material_of(&i, "maya");
    assert_true(m->type == MATERIAL_DIFFUSE && m->transmission.value == 0 &&
                near((double)m->opacity.value, 1));
    assert_true(noted(&i, "Ni 1.55 of the material amber") &&
                noted(&i, "Tf of the material amber"));
    assert_int_equal(i.import.note_count, 2);
    scene_free(i.scene);
}

/* The same tetrahedron, written in every way that PLY and STL have. */
/* MTL's extension for physically based materials as Blender writes it, with words that Assimp 5.2.5
 * refuses; bump maps that hold normals and such that hold heights; maps of Ks; names with spaces.
 */
static void test_mtl_physical(void **state)
{
    (void)state;
    static const uint8_t normals[6] = {128, 128, 255, 218, 128, 218},
                         gray[6] = {9, 9, 9, 200, 200, 200};
    write_png("n.png", normals);
    write_png("my map.png", gray);
    write_text("p.mtl", "newmtl first one \nPr 0.3\nPm 0.7\nPs 0.4\nPc 0.5\nPcr 0.2\n  aniso 0.6\n"
                        "anisor 0.25\nmap_Bump -bm 1.0 n.png\n"
                        "newmtl second\nKd 1 1 1\nKs 0.5 0.5 0.5\nNs 250\nmap_Ks my map.png\n"
                        "aniso 0.5\nmap_Bump my map.png\nmap_Kd sub folder\\my map.png\n");
    write_text("p.obj",
               "mtllib p.mtl\nv 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0\nvt 0 0\nvt 1 0\n"
               "vt 1 1\nusemtl first one\nf -5/-3 -4/-2 -3/-1 -2/-3 -1/-2\n"
               "usemtl second\nf 1/1 2/2 3/3\n");
    struct imported i = import_file("p.obj");
    const struct material *m = material_of(&i, "first one");
    assert_int_equal(m->type, MATERIAL_PRINCIPLED);
    assert_true(near((double)m->roughness.value, 0.3) && near((double)m->metallic.value, 0.7) &&
                near((double)m->sheen.value, 0.4) && near((double)m->layers.coat.value, 0.5));
    assert_true(near((double)m->layers.coat_roughness.value, 0.2));
    assert_true(near((double)m->anisotropy.value, 0.6) && near((double)m->rotation.value, 0.25));
    assert_true(m->normal_map.present);
    m = material_of(&i, "second");
    assert_true(near((double)m->roughness.value, 0.5) && near((double)m->specular.value, 0.5) &&
                m->specular.texture >= 0 && m->base.texture >= 0);
    assert_true(!m->normal_map.present && noted(&i, "bump maps of heights"));
    /* the arrow's area, 8 + 2: its fourth corner is turned in; cut as a fan it would overlap */
    double area = 0;
    const struct scene *s = i.scene;
    assert_int_equal(s->triangle_count, 4 + 2); /* and the lamp that is made */
    for (size_t t = 0; t < 3; t++) {
        double v[3][3];
        for (int k = 0; k < 3; k++)
            vertex_of(s, t, k, v[k]);
        double twice =
            (v[1][0] - v[0][0]) * (v[2][1] - v[0][1]) - (v[1][1] - v[0][1]) * (v[2][0] - v[0][0]);
        assert_true(twice > 0);
        area += twice / 2;
    }
    /* by the corners in turn (Gauss): half of 0 + 16 - 4 + 8 + 0 */
    assert_true(near(area, 10));
    scene_free(i.scene);
}

/* FBX in text: a card of one triangle; %s: the program that wrote it. */
static const char fbx_card[] =
    "; FBX 7.3.0 project file\nFBXHeaderExtension:  {\nFBXHeaderVersion: 1003\n"
    "FBXVersion: 7300\nCreator: \"%s\"\n}\nGlobalSettings:  {\nVersion: 1000\n"
    "Properties70:  {\nP: \"UpAxis\", \"int\", \"Integer\", \"\",2\n"
    "P: \"UpAxisSign\", \"int\", \"Integer\", \"\",1\n"
    "P: \"FrontAxis\", \"int\", \"Integer\", \"\",1\n"
    "P: \"FrontAxisSign\", \"int\", \"Integer\", \"\",-1\n"
    "P: \"CoordAxis\", \"int\", \"Integer\", \"\",0\n"
    "P: \"CoordAxisSign\", \"int\", \"Integer\", \"\",1\n"
    "P: \"UnitScaleFactor\", \"double\", \"Number\", \"\",1\n}\n}\nObjects:  {\n"
    "Geometry: 10, \"Geometry::g\", \"Mesh\" {\nVertices: *9 {\na: 0,0,0,1,0,0,0,1,0\n}\n"
    "PolygonVertexIndex: *3 {\na: 0,1,-3\n}\nLayerElementUV: 0 {\nVersion: 101\n"
    "Name: \"UVMap\"\nMappingInformationType: \"ByPolygonVertex\"\n"
    "ReferenceInformationType: \"IndexToDirect\"\nUV: *6 {\na: 0,0,1,0,0,1\n}\n"
    "UVIndex: *3 {\na: 0,1,2\n}\n}\nLayerElementMaterial: 0 {\nVersion: 101\nName: \"\"\n"
    "MappingInformationType: \"AllSame\"\nReferenceInformationType: \"IndexToDirect\"\n"
    "Materials: *1 {\na: 0\n}\n}\nLayer: 0 {\nVersion: 100\nLayerElement:  {\n"
    "Type: \"LayerElementUV\"\nTypedIndex: 0\n}\nLayerElement:  {\n"
    "Type: \"LayerElementMaterial\"\nTypedIndex: 0\n}\n}\n}\n"
    "Model: 20, \"Model::m\", \"Mesh\" {\nVersion: 232\n}\n"
    "Material: 30, \"Material::a\", \"\" {\nVersion: 102\nShadingModel: \"phong\"\n"
    "Properties70:  {\nP: \"DiffuseColor\", \"Color\", \"\", \"A\",0.8,0.8,0.8\n"
    "P: \"EmissiveColor\", \"Color\", \"\", \"A\",1,1,1\n"
    "P: \"EmissiveFactor\", \"Number\", \"\", \"A\",2\n"
    "P: \"SpecularColor\", \"Color\", \"\", \"A\",1,1,1\n"
    "P: \"SpecularFactor\", \"Number\", \"\", \"A\",0.25\n"
    "P: \"Shininess\", \"Number\", \"\", \"A\",25\n"
    "P: \"ShininessExponent\", \"Number\", \"\", \"A\",25\n"
    "P: \"ReflectionFactor\", \"Number\", \"\", \"A\",0\n}\n}\n"
    "Texture: 40, \"Texture::t\", \"\" {\nType: \"TextureVideoClip\"\nVersion: 202\n"
    "TextureName: \"Texture::t\"\nFileName: \"map.png\"\nRelativeFilename: \"map.png\"\n"
    "}\n}\nConnections:  {\nC: \"OO\",20,0\nC: \"OO\",10,20\nC: \"OO\",30,20\n"
    "C: \"OP\",40,30, \"DiffuseColor\"\nC: \"OP\",40,30, \"EmissiveColor\"\n"
    "C: \"OP\",40,30, \"ShininessExponent\"\nC: \"OP\",40,30, \"ReflectionFactor\"\n}\n";

/* A map of ShininessExponent: where Blender wrote the file it is the roughness, and the map of
 * ReflectionFactor is metallic; colours do not count beside maps, the strength of emission does.
 * Else exponents in the share that the file's own roughness means: 25 of 100, which is 0.5. */
static void test_fbx_maps(void **state)
{
    (void)state;
    static const uint8_t gray[6] = {0, 64, 255, 255, 128, 0};
    write_png("map.png", gray);
    write_text("c.fbx", arena_printf(&arena, fbx_card, "Blender (stable FBX IO) - 4.1.0"));
    struct imported i = import_file("c.fbx");
    assert_int_equal(i.import.triangles, 1);
    const struct material *m = material_of(&i, "a");
    assert_int_equal(m->type, MATERIAL_PRINCIPLED);
    assert_memory_equal(bytes_of(&i, m->roughness.texture), gray, sizeof gray);
    assert_true(near((double)m->roughness.value, 1) && near((double)m->metallic.value, 1));
    assert_true(m->metallic.texture >= 0 && m->base.texture >= 0 && m->emission_texture > 0);
    assert_true(near3(m->base.value, 1, 1, 1) && near3(m->emission, 2, 2, 2));
    assert_true(near((double)m->specular.value, 0.5)); /* twice the file's factor */
    assert_false(noted(&i, "shininess"));
    scene_free(i.scene);
    write_text("c.fbx", arena_printf(&arena, fbx_card, "FBX SDK 2020"));
    i = import_file("c.fbx");
    m = material_of(&i, "a");
    const uint8_t *rough = bytes_of(&i, m->roughness.texture);
    assert_true(rough[0] == 255 && rough[2] == 128 && rough[5] == 255);
    assert_int_equal(rough[1], (int)((1 - 0.5 * sqrt(64 / 255.0)) * 255 + 0.5));
    assert_true(near3(m->base.value, 0.8, 0.8, 0.8) && near3(m->emission, 2, 2, 2));
    assert_true(near((double)m->specular.value, 0.25)); /* its colour times its factor */
    scene_free(i.scene);
}

/* What Blender 5.0 writes of four materials when its physical lines are off, which is its default,
 * and the metallic, roughness and specular that they had in it. */
static void test_mtl_blender(void **state)
{
    (void)state;
    static const struct {
        const char *name, *lines;
        double metallic, roughness, specular;
    } rows[] = {
        {"gold", "Ns 490.000000\nKa 1 1 1\nKs 0.5 0.5 0.5\nNi 1.5\nd 1\nillum 3\n", 1, 0.3, 0.5},
        {"half", "Ns 250.000000\nKa 0.4 0.4 0.4\nKs 0.5 0.5 0.5\nNi 1.5\nd 1\nillum 3\n", 0.4, 0.5,
         0.5},
        {"plastic", "Ns 562.500000\nKa 1 1 1\nKs 0.3 0.3 0.3\nNi 1.6\nd 1\nillum 2\n", 0, 0.25,
         0.3},
        {"rough", "Ns 10.000000\nKa 1 1 1\nKs 0.5 0.5 0.5\nNi 1.5\nd 1\nillum 2\n", 0, 0.9, 0.5},
    };
    struct text mtl = {0}, obj = {0};
    text_puts(&mtl, "# Blender 5.0.1 MTL File: 'None'\n# www.blender.org\n\n");
    text_puts(&obj, "mtllib four.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        text_printf(&mtl, "newmtl %s\nKd 0.8 0.8 0.8\n%s", rows[k].name, rows[k].lines);
        text_printf(&obj, "usemtl %s\nf 1 2 3\n", rows[k].name);
    }
    write_text("four.mtl", mtl.data);
    write_text("four.obj", obj.data);
    text_free(&mtl);
    text_free(&obj);
    struct imported i = import_file("four.obj");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct material *m = material_of(&i, rows[k].name);
        assert_int_equal(m->type, MATERIAL_PRINCIPLED);
        assert_true(near((double)m->metallic.value, rows[k].metallic));
        assert_true(near((double)m->roughness.value, rows[k].roughness));
        assert_true(near((double)m->specular.value, rows[k].specular));
    }
    scene_free(i.scene);
}

/* Options of maps, with which the file's name is not the whole line; several libraries on a line;
 * names with spaces; lines that go on; numbers as writers for Windows end them. */
static void test_mtl_maps(void **state)
{
    (void)state;
    static const uint8_t gray[6] = {0, 64, 255, 255, 128, 0};
    /* TGA of 32 bits: alpha 255 and 0 */
    static const uint8_t tga[26] = {0, 0, 2, 0,  0,    0, 0, 0, 0,   0, 0, 0, 2,
                                    0, 1, 0, 32, 0x28, 9, 9, 9, 255, 9, 9, 9, 0};
    write_png("my map.png", gray);
    write_bytes("leaf.tga", tga, sizeof tga);
    write_text("one.mtl", "newmtl a\r\nKd 1 1 1\r\nKs 1 1 1\r\nNs 250\r\n"
                          "map_Kd -s 2 3 1 -o 0.25 0.5 -clamp on -blendu off -mm 0 1 my map.png\r\n"
                          "map_Ks -imfchan b my map.png\r\nmap_Ns my map.png\r\nmap_d leaf.tga\r\n"
                          "map_Bump -bm 0.5 my map.png\r\n");
    write_text("two.mtl",
               "newmtl b\nPm 0\nPr 1\nmap_Pr \"my map.png\"\nmap_Pm -mm 0.5 1 my map.png\n"
               "map_Pc my map.png\nPs 0.5\nmap_Ps my map.png\nmap_Ke my map.png\n"
               "map_d -imfchan g leaf.tga\nnorm -bm 2 my map.png\ndisp my map.png\n");
    write_text("o.obj", "mtllib one.mtl two.mtl\nv 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 \\\n0 0 0 1\n"
                        "vt 0 0\nvt 1 0\nvt 0 1\nusemtl a\nf 1/1 2/2 \\\n3/3\nusemtl b\n"
                        "f -3/-3 -2/-2 -1/-1\n");
    struct imported i = import_file("o.obj");
    assert_int_equal(i.import.triangles, 2);
    const struct material *m = material_of(&i, "a");
    const struct texture *t = &i.scene->textures[m->base.texture];
    assert_true(near((double)t->scale[0], 2) && near((double)t->scale[1], 3) &&
                near((double)t->offset[0], 0.25) && near((double)t->offset[1], 0.5));
    assert_true(t->wrap_u == WRAP_CLAMP && t->wrap_v == WRAP_CLAMP && t->image.srgb);
    assert_true(m->specular.channel == 2 && m->opacity.channel == 3);
    /* exponents 250 t: 0.5 at 1, 1 at 0, and of t = 64/255 in between */
    const uint8_t *rough = bytes_of(&i, m->roughness.texture);
    assert_true(rough[0] == 255 && rough[2] == 128 && rough[3] == 128 && rough[5] == 255);
    assert_int_equal(rough[1], (int)((1 - sqrt(0.25 * 64 / 255.0)) * 255 + 0.5));
    assert_false(m->normal_map.present);
    m = material_of(&i, "b");
    assert_true(m->metallic.texture >= 0 && near((double)m->metallic.value, 1));
    assert_true(m->roughness.texture >= 0 && near((double)m->roughness.value, 1));
    assert_true(m->layers.coat.texture >= 0 && near((double)m->layers.coat.value, 1));
    assert_true(m->sheen.texture >= 0 && near((double)m->sheen.value, 0.5));
    assert_true(m->emission_texture > 0 && near3(m->emission, 1, 1, 1));
    assert_true(m->opacity.channel == 1);
    assert_true(m->normal_map.present && near((double)m->normal_map.scale, 2));
    assert_true(noted(&i, "base and gain of maps (material \"b\")") && noted(&i, "displacement") &&
                noted(&i, "bump maps of heights"));
    assert_true(i.scene->colors != NULL);
    scene_free(i.scene);
    /* what Blender writes as map_Ns is the roughness, and factors do not count beside maps */
    write_text(
        "one.mtl",
        "# Blender 4.1.0 MTL File\nnewmtl a\nKd 0.8 0.8 0.8\nKs 1 1 1\nNs 250\nmap_Ns my map.png\n"
        "map_Kd my map.png\n");
    i = import_file("o.obj");
    rough = bytes_of(&i, material_of(&i, "a")->roughness.texture);
    assert_memory_equal(rough, gray, sizeof gray);
    assert_true(near3(material_of(&i, "a")->base.value, 1, 1, 1));
    scene_free(i.scene);
    /* where it writes no physical lines: no exponent beside its map, metallic called a reflection;
     * and any bump map of its is one of normals */
    write_text("one.mtl", "# Blender 4.1.0 MTL File\nnewmtl a\nKs 1 1 1\nmap_Ns my map.png\n"
                          "newmtl b\nKs 1 1 1\nNs 250\nmap_refl my map.png\n"
                          "map_Bump -bm 1.0 my map.png\n");
    static const char corners[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n";
    write_text("q.obj", arena_printf(&arena,
                                     "mtllib one.mtl\n%susemtl a\nf 1/1 2/2 3/3\n"
                                     "usemtl b\nf 1/1 2/2 3/3\n",
                                     corners));
    i = import_file("q.obj");
    m = material_of(&i, "a");
    assert_true(m->type == MATERIAL_PRINCIPLED && near((double)m->roughness.value, 1));
    assert_memory_equal(bytes_of(&i, m->roughness.texture), gray, sizeof gray);
    m = material_of(&i, "b");
    assert_true(m->metallic.texture >= 0 && near((double)m->metallic.value, 1));
    assert_true(m->roughness.texture < 0 && near((double)m->roughness.value, 0.5));
    assert_true(m->normal_map.present && !noted(&i, "bump maps of heights"));
    scene_free(i.scene);
    write_text("two.mtl", "newmtl c\nPr 1\nPc 0.5\nPcr 0.25\nmap_Pcr -imfchan g my map.png\n"
                          "Pm 0.5\nmap_refl my map.png\n");
    write_text("q.obj",
               arena_printf(&arena, "mtllib two.mtl\n%susemtl c\nf 1/1 2/2 3/3\n", corners));
    i = import_file("q.obj");
    m = material_of(&i, "c");
    assert_true(m->layers.coat_roughness.texture >= 0 && m->layers.coat_roughness.channel == 1 &&
                near((double)m->layers.coat_roughness.value, 0.25));
    assert_true(m->metallic.texture < 0 && near((double)m->metallic.value, 0.5));
    assert_true(noted(&i, "reflection maps"));
    scene_free(i.scene);
    /* free-form surfaces beside a face, and alone */
    static const char surface[] = "cstype bezier\ndeg 1 1\nsurf 0 1 0 1 1 2 3 4\nend\n";
    write_text("f.obj",
               arena_printf(&arena, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\n%s", surface));
    i = import_file("f.obj");
    assert_true(i.import.triangles == 1 && noted(&i, "free-form"));
    scene_free(i.scene);
    write_text("f.obj", arena_printf(&arena, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n%s", surface));
    expect_refused("f.obj", STATUS_TYPE, "free-form curves and surfaces");
    /* a library that is not there; text of 16 bits a character */
    static const char text[] = "mtllib gone.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    uint8_t wide[2 * sizeof text] = {0xFE, 0xFF};
    for (size_t k = 0; k + 1 < sizeof text; k++)
        wide[2 * k + 3] = (uint8_t)text[k];
    write_bytes("w.obj", wide, sizeof wide);
    i = import_file("w.obj");
    assert_int_equal(i.import.triangles, 1);
    assert_true(noted(&i, "the materials of gone.mtl"));
    scene_free(i.scene);
    /* names that no library has */
    write_text("k.mtl", "newmtl shiny red \t\r\nKd 1 0 0\n");
    write_text("k.obj", "mtllib k.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl  shiny red\r\nf 1 2 3\n"
                        "usemtl blue\nf 1 3 2\n");
    i = import_file("k.obj");
    assert_true(i.import.note_count == 1 && noted(&i, "the material blue, which no library"));
    scene_free(i.scene);
    write_text("k.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\nusemtl b\nf 1 3 2\n");
    i = import_file("k.obj");
    assert_true(i.import.note_count == 1 && noted(&i, "no library (mtllib) is named"));
    scene_free(i.scene);
    /* colours of 255 levels, as some scanners write them, are none of OBJ's */
    write_text("l.obj", "v 0 0 0 255 1 0\nv 1 0 0 0 0 1\nv 0 1 0 0 1 1\nf 1 2 3\n");
    i = import_file("l.obj");
    assert_true(i.import.note_count == 1 && noted(&i, "vertex colours above 1"));
    scene_free(i.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mtl),       cmocka_unit_test(test_mtl_lines),
        cmocka_unit_test(test_mtl_glass), cmocka_unit_test(test_mtl_physical),
        cmocka_unit_test(test_mtl_maps),  cmocka_unit_test(test_mtl_blender),
        cmocka_unit_test(test_fbx_maps),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
