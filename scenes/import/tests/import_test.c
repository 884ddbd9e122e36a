/* Model files of every format but glTF made by this test, as scenes: what each says arrives in
 * struct scene with the values that the formats' specifications give it. */
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

/* The normal that a triangle's corner has in the scene: its vertex' or, without one, or one of no
 * length, its face's. */
static void normal_of(const struct scene *s, size_t triangle, int corner, double out[3])
{
    double p[3][3], length = 0;
    if (s->triangle_flags[triangle] & TRIANGLE_HAS_NORMALS) {
        for (int c = 0; c < 3; c++)
            out[c] = (double)s->N[s->triangles[triangle][corner]][c];
        if (out[0] != 0 || out[1] != 0 || out[2] != 0)
            return;
    }
    for (int k = 0; k < 3; k++)
        vertex_of(s, triangle, k, p[k]);
    for (int c = 0; c < 3; c++) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        out[c] =
            (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
        length += out[c] * out[c];
    }
    for (int c = 0; c < 3; c++)
        out[c] /= sqrt(length);
}

static void expect_normal(const struct scene *s, size_t triangle, int corner, double x, double y,
                          double z)
{
    double n[3];
    normal_of(s, triangle, corner, n);
    if (fabs(n[0] - x) > 1e-6 || fabs(n[1] - y) > 1e-6 || fabs(n[2] - z) > 1e-6)
        fail_msg("triangle %zu, corner %d: (%g, %g, %g), expected (%g, %g, %g)", triangle, corner,
                 n[0], n[1], n[2], x, y, z);
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

static const float corners[4][3] = {{0, 0, 0}, {2, 0, 0}, {0, 3, 0}, {0, 0, 4}};
static const int32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

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
                    text_printf(&t, "%g%s", (double)corners[v][c], c == 2 ? "\n" : " ");
                else
                    put_float(&t, corners[v][c], k == 2);
        for (int f = 0; f < 4 && !stl; f++) {
            if (k == 0)
                text_printf(&t, "3 %d %d %d\n", faces[f][0], faces[f][1], faces[f][2]);
            else
                text_append(&t, "\3", 1);
            for (int c = 0; c < 3 && k > 0; c++)
                put_word(&t, (uint32_t)faces[f][c], k == 2);
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
                        put_float(&t, corners[faces[f][v]][c], false);
                    else
                        text_printf(&t, "%s%g%s", c == 0 ? "vertex " : " ",
                                    (double)corners[faces[f][v]][c], c == 2 ? "\n" : "");
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
                want[v] = (double)corners[faces[f][v / 3]][v % 3];
            expect_corners(i.scene, f, want);
        }
        scene_free(i.scene);
    }
}

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

/* A triangle in Collada, skinned by two joints as test_skin's; and lamps 8 from the middle of the
 * model: one as strong everywhere, one that falls with the square of the distance. */
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
            put_float(&t, 10 - 2 * corners[v][1], false);
            put_float(&t, 2 * corners[v][0], false);
            put_float(&t, 2 * corners[v][2], false);
        }
        wrap_chunk(&t, at, 0x4110);
        at = t.len;
        put_half(&t, 4);
        for (int f = 0; f < 4; f++) {
            for (int c = 0; c < 3; c++)
                put_half(&t, (unsigned)faces[f][c]);
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
                const float *p = corners[faces[f][v]];
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
        cmocka_unit_test(test_mtl),
        cmocka_unit_test(test_mtl_lines),
        cmocka_unit_test(test_mtl_glass),
        cmocka_unit_test(test_mtl_physical),
        cmocka_unit_test(test_mtl_maps),
        cmocka_unit_test(test_mtl_blender),
        cmocka_unit_test(test_fbx_maps),
        cmocka_unit_test(test_ply_strips),
        cmocka_unit_test(test_ply_names),
        cmocka_unit_test(test_ply_faces),
        cmocka_unit_test(test_obj_blanks),
        cmocka_unit_test(test_obj_lines),
        cmocka_unit_test(test_ply_others),
        cmocka_unit_test(test_obj_numbers),
        cmocka_unit_test(test_missing_normals),
        cmocka_unit_test(test_smoothing_groups),
        cmocka_unit_test(test_smooth_box),
        cmocka_unit_test(test_stl_odd),
        cmocka_unit_test(test_ply_stl),
        cmocka_unit_test(test_stl_colors),
        cmocka_unit_test(test_vertex_colors),
        cmocka_unit_test(test_polygons),
        cmocka_unit_test(test_collada),
        cmocka_unit_test(test_collada_skew),
        cmocka_unit_test(test_collada_shading),
        cmocka_unit_test(test_3ds),
        cmocka_unit_test(test_3ds_smoothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
