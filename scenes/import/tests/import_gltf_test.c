/* SPDX-License-Identifier: Apache-2.0 */
/* glTF files made by this test, as scenes: what each says arrives in struct scene with the values
 * that the specification gives it. */
#include "test_import.h"

#include <cmocka.h>
#include <meshoptimizer.h>
#include <webp/encode.h>

/* A triangle (0,0,0) (1,0,0) (0,1,0) with uv (0.25,0) (1,0) (0,0.5) of glTF's: 12 floats P, 6 uv.
 */
static const float triangle_floats[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25F, 0, 1, 0, 0, 0.5F};

#define BUFFERS                                                                                    \
    "\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"uri\": \"t%%20r.bin\", \"byteLength\": "  \
    "60}],"                                                                                        \
    "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}, {\"buffer\": 0, \"byteOffset\": 36, "  \
    "\"byteLength\": 24}],"                                                                        \
    "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": "        \
    "\"VEC3\"}, {\"bufferView\": 1, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC2\"}]"

/* One node, one mesh, one triangle of material 0. */
#define ONE_MESH                                                                                   \
    "\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": "   \
    "[{\"attributes\": {\"POSITION\": 0, \"TEXCOORD_0\": 1, \"TEXCOORD_1\": 1}, \"material\": "    \
    "0}]}]"

static void write_gltf(const char *name, const char *rest)
{
    write_bytes("t r.bin", triangle_floats, sizeof triangle_floats);
    write_text(name, arena_printf(&arena, "{" BUFFERS ", %s}", rest));
}

/* The one material of a file with these keys. */
static struct imported import_material(const char *material, const char *more)
{
    write_gltf("m.gltf", arena_printf(&arena, ONE_MESH ", \"materials\": [{\"name\": \"m\", %s}]%s",
                                      material, more));
    return import_file("m.gltf");
}

/* The same of a closed mesh: a triangle and its back. */
static struct imported import_closed(const char *material)
{
    write_text(
        "c.gltf",
        arena_printf(&arena,
                     "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"byteLength\": 42, "
                     "\"uri\": \"data:application/octet-stream;base64,"
                     "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAECAAIB\"}], "
                     "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}, {\"buffer\": 0, "
                     "\"byteOffset\": 36, \"byteLength\": 6}], \"accessors\": "
                     "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": "
                     "\"VEC3\"}, {\"bufferView\": 1, \"componentType\": 5121, \"count\": 6, "
                     "\"type\": \"SCALAR\"}], \"scenes\": [{\"nodes\": [0]}], \"nodes\": "
                     "[{\"mesh\": 0}], \"meshes\": [{\"primitives\": [{\"attributes\": "
                     "{\"POSITION\": 0}, \"indices\": 1, \"material\": 0}]}], \"materials\": "
                     "[{\"name\": \"m\", %s}]}",
                     material));
    return import_file("c.gltf");
}

#define TEXTURES                                                                                   \
    ", \"images\": [{\"uri\": \"a.png\"}, {\"uri\": \"none.png\"}], "                              \
    "\"samplers\": [{\"wrapS\": 33648, \"wrapT\": 33071, \"magFilter\": 9728}], "                  \
    "\"textures\": [{\"source\": 0, \"sampler\": 0}, {\"source\": 1}, {\"source\": 0}]"

static void test_metallic_roughness(void **state)
{
    (void)state;
    static const uint8_t rgb[6] = {255, 0, 0, 0, 255, 0};
    write_png("a.png", rgb);
    struct imported i = import_material(
        "\"pbrMetallicRoughness\": {\"baseColorFactor\": [0.5, 0.25, 1, 0.75], "
        "\"metallicFactor\": 0.3, \"roughnessFactor\": 0.6, \"baseColorTexture\": {\"index\": 0}, "
        "\"metallicRoughnessTexture\": {\"index\": 2}}, \"normalTexture\": {\"index\": 2, "
        "\"scale\": 0.5}, \"occlusionTexture\": {\"index\": 0}, \"alphaMode\": \"MASK\", "
        "\"alphaCutoff\": 0.25, \"doubleSided\": true",
        TEXTURES);
    const struct material *m = material_of(&i, "m");
    assert_int_equal(m->type, MATERIAL_PRINCIPLED);
    assert_true(near3(m->base.value, 0.5, 0.25, 1) && m->base.texture >= 0);
    assert_true(near((double)m->metallic.value, 0.3) && m->metallic.channel == 2);
    assert_true(near((double)m->roughness.value, 0.6) && m->roughness.channel == 1);
    assert_int_equal(m->metallic.texture, m->roughness.texture);
    const struct texture *color = &i.scene->textures[m->base.texture],
                         *data = &i.scene->textures[m->metallic.texture];
    assert_true(color->image.srgb && !data->image.srgb);
    assert_true(color->wrap_u == WRAP_MIRROR && color->wrap_v == WRAP_CLAMP &&
                color->filter == FILTER_NEAREST);
    assert_true(data->wrap_u == WRAP_REPEAT && data->filter == FILTER_BILINEAR);
    assert_true(m->normal_map.present && near((double)m->normal_map.scale, 0.5));
    assert_int_equal(m->normal_map.texture, m->metallic.texture);
    assert_int_equal(m->alpha_mode, ALPHA_MASK);
    assert_true(near((double)m->alpha_cutoff, 0.25) && near((double)m->opacity.value, 0.75) &&
                m->opacity.channel == 3 && m->opacity.texture == m->base.texture);
    assert_false(m->single_sided);
    assert_true(noted(&i, "occlusion"));
    /* v is turned over */
    assert_true(near((double)i.scene->UV[i.scene->triangles[0][2]][1], 0.5));
    assert_true(near((double)i.scene->UV[i.scene->triangles[0][0]][1], 1));
    scene_free(i.scene);
    /* one-sided, blended, no textures */
    i = import_material("\"alphaMode\": \"BLEND\", \"pbrMetallicRoughness\": "
                        "{\"baseColorFactor\": [1, 1, 1, 0.5]}",
                        "");
    m = material_of(&i, "m");
    assert_true(m->alpha_mode == ALPHA_BLEND && near((double)m->opacity.value, 0.5));
    assert_true(m->single_sided && near((double)m->metallic.value, 1));
    assert_int_equal(i.import.note_count, 0);
    scene_free(i.scene);
}

static void test_extensions(void **state)
{
    (void)state;
    struct imported i = import_material(
        "\"emissiveFactor\": [1, 0.5, 0], \"extensions\": {"
        "\"KHR_materials_emissive_strength\": {\"emissiveStrength\": 8},"
        "\"KHR_materials_ior\": {\"ior\": 1.33}, \"KHR_materials_transmission\": "
        "{\"transmissionFactor\": 0.9}, \"KHR_materials_clearcoat\": {\"clearcoatFactor\": 0.7, "
        "\"clearcoatRoughnessFactor\": 0.2}, \"KHR_materials_sheen\": {\"sheenColorFactor\": "
        "[0.5, 0.2, 0.1]}, \"KHR_materials_specular\": {\"specularFactor\": 0.5}, "
        "\"KHR_materials_anisotropy\": {\"anisotropyStrength\": 0.4, \"anisotropyRotation\": "
        "1.5707963267948966}, \"KHR_materials_iridescence\": {}}",
        "");
    const struct material *m = material_of(&i, "m");
    assert_true(near3(m->emission, 8, 4, 0));
    assert_true(near((double)m->ior.value, 1.33) && near((double)m->transmission.value, 0.9));
    assert_true(near((double)m->layers.coat.value, 0.7));
    assert_true(near((double)m->layers.coat_roughness.value, 0.2));
    assert_true(near3(m->layers.fuzz.value, 0.5, 0.2, 0.1) && m->layers.thin);
    assert_true(near((double)m->specular.value, pow(0.33 / 2.33, 2) / 0.08));
    assert_true(near((double)m->layers.specular_weight.value, 0.5));
    assert_true(near((double)m->anisotropy.value, 0.4) && near((double)m->rotation.value, 0.25));
    assert_false(m->single_sided); /* light goes in */
    assert_true(noted(&i, "KHR_materials_iridescence (material \"m\")") && noted(&i, "sheen") &&
                noted(&i, "thin rough wall"));
    scene_free(i.scene);
    i = import_material("\"doubleSided\": true, \"pbrMetallicRoughness\": {\"baseColorFactor\": "
                        "[0.2, 0.4, 0.6, 1]}, \"extensions\": {\"KHR_materials_unlit\": {}}",
                        "");
    m = material_of(&i, "m");
    assert_true(m->type == MATERIAL_DIFFUSE && near3(m->base.value, 0, 0, 0) &&
                near3(m->emission, 0.2, 0.4, 0.6) && m->emission_two_sided);
    scene_free(i.scene);
    /* gold as specular-glossiness: no diffuse part, so all of it is metal of that colour */
    i = import_material("\"extensions\": {\"KHR_materials_pbrSpecularGlossiness\": "
                        "{\"diffuseFactor\": [0, 0, 0, 1], \"specularFactor\": [1, 0.76, 0.33], "
                        "\"glossinessFactor\": 0.8}}",
                        "");
    m = material_of(&i, "m");
    assert_true(near((double)m->metallic.value, 1) && near3(m->base.value, 1, 0.76, 0.33) &&
                near((double)m->roughness.value, 0.2));
    scene_free(i.scene);
}

/* Maps that are computed: Khronos' conversion, which for a black diffuse colour is all metal of the
 * specular one, and for a specular one below 0.04 no metal with d (1 - s)/0.96. */
static void test_glossiness_maps(void **state)
{
    (void)state;
    static const uint8_t diffuse[6] = {0, 0, 0, 128, 128, 128};
    write_png("a.png", diffuse);
    /* TGA of 32 bits, blue first: gold with alpha 255; (56, 56, 56) with 127 */
    static const uint8_t tga[26] = {0, 0, 2, 0,  0,    0,  0,   0,   0,   0,  0,  0,  2,
                                    0, 1, 0, 32, 0x28, 86, 195, 255, 255, 56, 56, 56, 127};
    write_bytes("none.png", tga, sizeof tga);
    static const char material[] =
        "\"alphaMode\": \"BLEND\", \"extensions\": {\"KHR_materials_pbrSpecularGlossiness\": "
        "{\"glossinessFactor\": 0.8, \"diffuseTexture\": {\"index\": 2}, "
        "\"specularGlossinessTexture\": {\"index\": 1%s}}}";
    struct imported i = import_material(arena_printf(&arena, material, ""), TEXTURES);
    const struct material *m = material_of(&i, "m");
    const uint8_t *base = bytes_of(&i, m->base.texture), *data = bytes_of(&i, m->metallic.texture);
    assert_int_equal(i.import.note_count, 0);
    assert_true(near3(m->base.value, 1, 1, 1) && i.scene->textures[m->base.texture].image.srgb);
    assert_false(i.scene->textures[m->metallic.texture].image.srgb);
    assert_int_equal(m->roughness.texture, m->metallic.texture);
    assert_true(m->metallic.channel == 2 && m->roughness.channel == 1);
    static const uint8_t gold[3] = {255, 195, 86};
    assert_memory_equal(base, gold, 3);
    assert_true(data[2] == 255 && data[1] == 51); /* roughness 0.2 */
    double gray = srgb_encode(srgb_decode(128 / 255.0) * (1 - srgb_decode(56 / 255.0)) / 0.96);
    assert_int_equal(base[3], (int)(gray * 255 + 0.5));
    assert_true(data[5] == 0 && data[4] == (int)((1 - 0.8 * 127 / 255) * 255 + 0.5));
    assert_true(m->opacity.texture >= 0 && m->opacity.texture != m->base.texture); /* the file's */
    scene_free(i.scene);
    /* maps that lie differently cannot be joined */
    i = import_material(arena_printf(&arena, material,
                                     ", \"extensions\": {\"KHR_texture_transform\": {\"scale\": "
                                     "[2, 2]}}"),
                        TEXTURES);
    assert_true(noted(&i, "specular and glossiness"));
    scene_free(i.scene);
    unlink(path_of("none.png"));
}

static void test_layer_maps(void **state)
{
    (void)state;
    /* directions: along +x, along -y */
    static const uint8_t rgb[6] = {255, 128, 9, 128, 0, 10};
    write_png("a.png", rgb);
    struct imported i = import_material(
        "\"extensions\": {\"KHR_materials_clearcoat\": {\"clearcoatFactor\": 0.5, "
        "\"clearcoatTexture\": {\"index\": 2}, \"clearcoatRoughnessFactor\": 0.3, "
        "\"clearcoatRoughnessTexture\": {\"index\": 2}, \"clearcoatNormalTexture\": {\"index\": 2, "
        "\"scale\": 0.5}}, \"KHR_materials_anisotropy\": "
        "{\"anisotropyStrength\": 0.4, \"anisotropyRotation\": 0.7853981633974483, "
        "\"anisotropyTexture\": {\"index\": 2}}, "
        "\"KHR_materials_sheen\": {\"sheenColorFactor\": [0.1, 0.7, 0.2], \"sheenColorTexture\": "
        "{\"index\": 2}, \"sheenRoughnessFactor\": 0.8, \"sheenRoughnessTexture\": {\"index\": "
        "2}}, "
        "\"KHR_materials_ior\": {\"ior\": 3}, \"KHR_materials_specular\": {\"specularTexture\": "
        "{\"index\": 2}, \"specularColorFactor\": [2, 0.5, 0], \"specularColorTexture\": "
        "{\"index\": "
        "2}}, \"KHR_materials_transmission\": {\"transmissionFactor\": 0.6, "
        "\"transmissionTexture\": "
        "{\"index\": 2}}}",
        TEXTURES);
    const struct material *m = material_of(&i, "m");
    const struct material_layers *y = &m->layers;
    assert_true(near((double)y->coat.value, 0.5) && y->coat.texture >= 0 && y->coat.channel == 0);
    assert_true(near((double)y->coat_roughness.value, 0.3) && y->coat_roughness.channel == 1);
    assert_true(y->coat_normal_map.present && near((double)y->coat_normal_map.scale, 0.5));
    assert_true(near((double)m->anisotropy.value, 0.4) && m->anisotropy.texture >= 0 &&
                m->anisotropy.channel == 2);
    /* an eighth of a turn; a quarter back from there is three eighths on, as a line */
    const uint8_t *along = bytes_of(&i, m->rotation.texture);
    assert_true(abs(along[0] - 64) <= 1 && abs(along[3] - 191) <= 1);
    assert_true(near((double)m->rotation.value, 0.5));
    assert_true(i.scene->textures[m->rotation.texture].filter == FILTER_NEAREST);
    assert_true(near3(y->fuzz.value, 0.1, 0.7, 0.2) && y->fuzz.texture >= 0);
    assert_true(near((double)y->fuzz_roughness.value, 0.8) && y->fuzz_roughness.channel == 3);
    /* ((3 - 1)/(3 + 1))^2 = 0.25 is more than 0.08: the rest is in the colour */
    assert_true(near((double)m->specular.value, 1) && y->specular_color.texture >= 0);
    assert_true(near3(y->specular_color.value, 2 * 0.25 / 0.08, 0.5 * 0.25 / 0.08, 0));
    assert_true(y->specular_weight.texture >= 0 && y->specular_weight.channel == 3);
    assert_true(near((double)m->transmission.value, 0.6) && m->transmission.texture >= 0);
    assert_true(i.import.note_count == 1 && noted(&i, "thin rough wall"));
    scene_free(i.scene);
}

/* Light that goes the attenuation's distance has its colour; a mesh that is open has no inside. */
static void test_absorption(void **state)
{
    (void)state;
    static const char glass[] =
        "\"extensions\": {\"KHR_materials_transmission\": {\"transmissionFactor\": 1}, "
        "\"KHR_materials_volume\": {\"thicknessFactor\": 1, \"attenuationDistance\": 0.5, "
        "\"attenuationColor\": [1, 0.5, 0.25]}}";
    struct imported i = import_material(glass, "");
    const struct material *m = material_of(&i, "m");
    assert_true(!m->layers.thin && !m->medium.present); /* of one triangle */
    assert_true(noted(&i, "absorption inside (material \"m\")"));
    scene_free(i.scene);
    i = import_closed(glass);
    m = material_of(&i, "m");
    assert_true(m->medium.present && m->medium.density == 0);
    assert_true(near3(m->medium.absorption, 0, 2 * log(2), 2 * log(4)));
    assert_int_equal(i.import.note_count, 0);
    scene_free(i.scene);
}

/* The file's lookup of a texture, in its own words: T R S (u, v), v downwards, the turn
 * counter-clockwise as seen; against ours. */
static void test_texture_transform(void **state)
{
    (void)state;
    static const uint8_t rgb[6] = {255, 0, 0, 0, 255, 0};
    write_png("a.png", rgb);
    struct imported i = import_material(
        "\"pbrMetallicRoughness\": {\"baseColorTexture\": {\"index\": 2, \"extensions\": "
        "{\"KHR_texture_transform\": {\"offset\": [0.3, 0.6], \"rotation\": 0.7, \"scale\": "
        "[2, 0.5]}}}}, \"emissiveFactor\": [1, 1, 1], \"emissiveTexture\": {\"index\": 1}, "
        "\"normalTexture\": {\"index\": 2, \"texCoord\": 1}",
        TEXTURES);
    const struct material *m = material_of(&i, "m");
    const struct texture *t = &i.scene->textures[m->base.texture];
    const double c = cos(0.7), s = sin(0.7);
    for (int k = 0; k < 20; k++) {
        double u = 0.37 * k - 3, v = 1.9 - 0.21 * k; /* v downwards */
        double want_u = c * 2 * u + s * 0.5 * v + 0.3, want_v = -s * 2 * u + c * 0.5 * v + 0.6;
        double a = (double)t->scale[0] * u, b = (double)t->scale[1] * (1 - v);
        double got_u = (double)t->turn[0] * a - (double)t->turn[1] * b + (double)t->offset[0];
        double got_v = (double)t->turn[1] * a + (double)t->turn[0] * b + (double)t->offset[1];
        assert_true(fabs(got_u - want_u) < 1e-5 && fabs(1 - got_v - want_v) < 1e-5); /* floats */
    }
    /* an image that is not there: its factor alone */
    assert_true(noted(&i, "none.png") && near3(m->emission, 1, 1, 1) && m->emission_texture == 0);
    /* a second set that is the first */
    assert_true(m->normal_map.present && !noted(&i, "set of coordinates"));
    const struct texture *n = &i.scene->textures[m->normal_map.texture];
    assert_true(n->scale[0] == 1 && n->scale[1] == 1 && n->offset[0] == 0 && n->offset[1] == 0);
    scene_free(i.scene);
}

/* Images inside the file, by a data: URI and by a buffer view, are written beside the scene. */
static void test_embedded(void **state)
{
    (void)state;
    static const uint8_t rgb[6] = {9, 8, 7, 6, 5, 4};
    const uint8_t *png;
    size_t size;
    assert_int_equal(image_encode_png(&arena, 2, 1, rgb, &png, &size, NULL), STATUS_OK);
    struct text json = {0}, glb = {0}, base64 = {0};
    base64_write(&base64, png, size);
    text_printf(&json,
                "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"byteLength\": %zu}], "
                "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}, {\"buffer\": 0, "
                "\"byteOffset\": 36, \"byteLength\": 24}, {\"buffer\": 0, \"byteOffset\": 60, "
                "\"byteLength\": %zu}], \"accessors\": [{\"bufferView\": 0, \"componentType\": "
                "5126, \"count\": 3, \"type\": \"VEC3\"}, {\"bufferView\": 1, \"componentType\": "
                "5126, \"count\": 3, \"type\": \"VEC2\"}], " ONE_MESH
                ", \"images\": [{\"bufferView\": 2, \"mimeType\": \"image/png\"}, {\"uri\": "
                "\"data:image/png;base64,%s\"}], \"textures\": [{\"source\": 0}, {\"source\": "
                "1}], \"materials\": [{\"name\": \"m\", \"pbrMetallicRoughness\": "
                "{\"baseColorTexture\": {\"index\": 0}}, \"emissiveFactor\": [1, 1, 1], "
                "\"emissiveTexture\": {\"index\": 1}}]}",
                60 + size, size, base64.data);
    while (json.len % 4)
        text_puts(&json, " ");
    uint32_t padded = (uint32_t)(60 + size + 3) & ~3U;
    uint32_t head[5] = {0x46546C67, 2, 12 + 8 + (uint32_t)json.len + 8 + padded, (uint32_t)json.len,
                        0x4E4F534A};
    text_append(&glb, (const char *)head, sizeof head);
    text_append(&glb, json.data, json.len);
    uint32_t bin[2] = {padded, 0x004E4942};
    text_append(&glb, (const char *)bin, sizeof bin);
    text_append(&glb, (const char *)triangle_floats, 60);
    text_append(&glb, (const char *)png, size);
    text_append(&glb, "\0\0\0", padded - 60 - size);
    write_bytes("e.glb", glb.data, glb.len);
    struct imported i = import_file("e.glb");
    assert_int_equal(i.import.file_count, 2);
    const struct material *m = material_of(&i, "m");
    const uint8_t *a = i.scene->textures[m->base.texture].image.texels,
                  *b = i.scene->textures[m->emission_texture - 1].image.texels;
    assert_memory_equal(a, rgb, sizeof rgb);
    assert_memory_equal(b, rgb, sizeof rgb);
    scene_free(i.scene);
    /* cut anywhere: an error or a model, never a crash */
    for (size_t n = 0; n < glb.len; n += 13) {
        struct scene_import out;
        struct error err = {0};
        write_bytes("cut.glb", glb.data, n);
        scene_import(&arena, path_of("cut.glb"), path_of("scene.json"),
                     &(struct scene_import_options){0}, &out, &err);
        assert_null(strstr(err.msg, "crashed"));
    }
    text_free(&json);
    text_free(&glb);
    text_free(&base64);
}

/* ---- geometry ------------------------------------------------------------------------------- */

/* A square's corners as bytes with a stride, normalised, under indices of every size and mode. */
static void test_primitives(void **state)
{
    (void)state;
    struct {
        int8_t P[4][4];     /* stride 4 */
        uint8_t strip8[4];  /* at 16 */
        uint16_t list16[6]; /* at 20 */
        uint32_t fan32[4];  /* at 32 */
    } data = {{{0, 0, 0, 9}, {127, 0, 0, 9}, {0, 127, 0, 9}, {127, 127, 0, 9}},
              {0, 1, 2, 3},
              {0, 1, 2, 2, 1, 3},
              {0, 1, 3, 2}};
    write_bytes("p.bin", &data, sizeof data);
    static const struct {
        int indices, mode;
        double second[9]; /* the second triangle */
    } cases[] = {{1, 5, {1, 0, 0, 1, 1, 0, 0, 1, 0}},
                 {2, 4, {0, 1, 0, 1, 0, 0, 1, 1, 0}},
                 {3, 6, {1, 1, 0, 0, 1, 0, 0, 0, 0}}};
    static const double first[3][9] = {
        {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 0, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 1, 1, 0, 0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        write_text(
            "p.gltf",
            arena_printf(
                &arena,
                "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"uri\": \"p.bin\", "
                "\"byteLength\": 48}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 16, "
                "\"byteStride\": 4}, {\"buffer\": 0, \"byteOffset\": 16, \"byteLength\": 4}, "
                "{\"buffer\": 0, \"byteOffset\": 20, \"byteLength\": 12}, {\"buffer\": 0, "
                "\"byteOffset\": 32, \"byteLength\": 16}], \"accessors\": [{\"bufferView\": 0, "
                "\"componentType\": 5120, \"normalized\": true, \"count\": 4, \"type\": "
                "\"VEC3\"}, {\"bufferView\": 1, \"componentType\": 5121, \"count\": 4, \"type\": "
                "\"SCALAR\"}, {\"bufferView\": 2, \"componentType\": 5123, \"count\": 6, "
                "\"type\": \"SCALAR\"}, {\"bufferView\": 3, \"componentType\": 5125, \"count\": "
                "4, \"type\": \"SCALAR\"}], \"nodes\": [{\"mesh\": 0}], \"meshes\": "
                "[{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"indices\": %d, "
                "\"mode\": %d}, {\"attributes\": {\"POSITION\": 0}, \"mode\": 0}]}]}",
                cases[k].indices, cases[k].mode));
        struct imported i = import_file("p.gltf");
        assert_int_equal(i.import.triangles, 2);
        expect_corners(i.scene, 0, first[k]);
        expect_corners(i.scene, 1, cases[k].second);
        assert_true(noted(&i, "points and lines"));
        scene_free(i.scene);
    }
    /* a sparse accessor over nothing: its three vertices all come from the sparse part */
    struct {
        float a[3], b[3], c[3];
        uint16_t which[3], pad;
    } sparse = {{0, 0, 0}, {1, 0, 0}, {2, 2, 0.5F}, {0, 1, 2}, 0};
    write_bytes("q.bin", &sparse, sizeof sparse);
    write_text("q.gltf",
               "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"uri\": \"q.bin\", "
               "\"byteLength\": 42}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}, "
               "{\"buffer\": 0, \"byteOffset\": 36, \"byteLength\": 6}], \"accessors\": "
               "[{\"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\", \"sparse\": "
               "{\"count\": 3, \"indices\": {\"bufferView\": 1, \"componentType\": 5123}, "
               "\"values\": {\"bufferView\": 0}}}], \"nodes\": [{\"mesh\": 0}], \"meshes\": "
               "[{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}]}");
    struct imported i = import_file("q.gltf");
    expect_corners(i.scene, 0, (const double[]){0, 0, 0, 1, 0, 0, 2, 2, 0.5});
    scene_free(i.scene);
}

/* What exporters also write: vertices interleaved behind a header, a sparse accessor that moves one
 * vertex of an array, the second of two scenes, no material, colours of 16 bits, a mirrored node, a
 * texture with a fallback beside one that has none. */
static void test_layouts(void **state)
{
    (void)state;
    struct {
        uint32_t header;
        struct {
            float P[3];
            uint16_t color[4];
            float uv[2];
        } v[3];           /* 28 bytes each, from 4 on */
        float moved[3];   /* at 88 */
        uint8_t which[4]; /* at 100 */
    } data = {7,
              {{{0, 0, 0}, {65535, 0, 13107, 65535}, {0, 0}},
               {{1, 0, 0}, {0, 65535, 0, 65535}, {1, 0}},
               {{0, 1, 0}, {0, 0, 65535, 65535}, {0, 1}}},
              {0, 1, 3},
              {2, 0, 0, 0}};
    write_bytes("l.bin", &data, sizeof data);
    static const uint8_t rgb[6] = {1, 2, 3, 4, 5, 6};
    write_png("a.png", rgb);
    static const char *const textures[] = {
        "{\"source\": 0, \"extensions\": {\"KHR_texture_basisu\": {\"source\": 1}}}",
        "{\"extensions\": {\"KHR_texture_basisu\": {\"source\": 1}}}"};
    for (int k = 0; k < 2; k++) {
        write_text(
            "l.gltf",
            arena_printf(
                &arena,
                "{\"asset\": {\"version\": \"2.0\"}, \"extensionsUsed\": "
                "[\"KHR_materials_variants\"], \"buffers\": [{\"uri\": \"l.bin\", "
                "\"byteLength\": 104}], \"bufferViews\": [{\"buffer\": 0, \"byteOffset\": 4, "
                "\"byteLength\": 84, \"byteStride\": 28}, {\"buffer\": 0, \"byteOffset\": 88, "
                "\"byteLength\": 12}, {\"buffer\": 0, \"byteOffset\": 100, \"byteLength\": 1}], "
                "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, "
                "\"type\": \"VEC3\", \"sparse\": {\"count\": 1, \"indices\": {\"bufferView\": 2, "
                "\"componentType\": 5121}, \"values\": {\"bufferView\": 1}}}, {\"bufferView\": 0, "
                "\"byteOffset\": 12, \"componentType\": 5123, \"normalized\": true, \"count\": 3, "
                "\"type\": \"VEC4\"}, {\"bufferView\": 0, \"byteOffset\": 20, "
                "\"componentType\": 5126, \"count\": 3, \"type\": \"VEC2\"}], \"scene\": 1, "
                "\"scenes\": [{\"nodes\": [0]}, {\"nodes\": [1, 2]}], \"nodes\": [{\"mesh\": 0, "
                "\"translation\": [50, 0, 0]}, {\"mesh\": 0, \"scale\": [-1, 2, 1]}, {\"mesh\": "
                "1}], \"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0, "
                "\"COLOR_0\": 1, \"TEXCOORD_0\": 2}}, {\"attributes\": {\"POSITION\": 0}, "
                "\"mode\": 3}]}, {\"primitives\": [{\"attributes\": {\"POSITION\": 0, "
                "\"TEXCOORD_0\": 2}, \"material\": 0}]}], \"materials\": [{\"name\": \"m\", "
                "\"pbrMetallicRoughness\": {\"baseColorTexture\": {\"index\": 0}}}], "
                "\"textures\": [%s], \"images\": [{\"uri\": \"a.png\"}, {\"uri\": "
                "\"a.ktx2\"}]}",
                textures[k]));
        struct imported i = import_file("l.gltf");
        const struct scene *s = i.scene;
        assert_int_equal(i.import.triangles, 2); /* of the second scene */
        assert_true(noted(&i, "points and lines") && noted(&i, "KHR_materials_variants"));
        assert_true(noted(&i, "KHR_texture_basisu (material") == k);
        assert_true((material_of(&i, "m")->base.texture >= 0) != k);
        size_t mirrored = s->triangle_flags[0] & TRIANGLE_HAS_COLORS ? 0 : 1;
        expect_corners(s, 1 - mirrored, (const double[]){0, 0, 0, 1, 0, 0, 0, 1, 3});
        /* mirrored, and turned so that the same side is its front */
        double n[3], from[3][3];
        for (int c = 0; c < 3; c++)
            vertex_of(s, mirrored, c, from[c]);
        for (int c = 0; c < 3; c++) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            n[c] = (from[1][a] - from[0][a]) * (from[2][b] - from[0][b]) -
                   (from[1][b] - from[0][b]) * (from[2][a] - from[0][a]);
        }
        /* the file's normal (0, -3, 1) under the inverse transpose of (-1, 2, 1): (0, -1.5, 1) */
        assert_true(near(n[0], 0) && n[2] > 0 && near(n[1] / n[2], -1.5));
        for (int c = 0; c < 3; c++) {
            uint32_t v = s->triangles[mirrored][c];
            const float *P = s->P[v], *color = s->colors[v];
            if (P[0] < 0)
                assert_true(near3(P, -1, 0, 0) && near3(color, 0, 1, 0));
            else if (P[1] > 0)
                assert_true(near3(P, 0, 2, 3) && near3(color, 0, 0, 1));
            else
                assert_true(near3(P, 0, 0, 0) && near3(color, 1, 0, 0.2));
        }
        scene_free(i.scene);
    }
}

/* Two nodes of one mesh are a group and two instances; nested transforms multiply; a mirrored one
 * turns its triangles over. */
static void test_nodes(void **state)
{
    (void)state;
    write_gltf("n.gltf",
               "\"scene\": 0, \"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"children\": [1, 2], "
               "\"translation\": [10, 0, 0], \"rotation\": [0, 0, 0.7071067811865476, "
               "0.7071067811865476], \"scale\": [2, 2, 2]}, {\"mesh\": 0, \"matrix\": [1, 0, 0, "
               "0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1]}, {\"mesh\": 0, \"scale\": [1, 1, -1]}, "
               "{\"mesh\": 0}], \"meshes\": [{\"name\": \"tri\", \"primitives\": "
               "[{\"attributes\": {\"POSITION\": 0, \"TEXCOORD_0\": 1}}]}]");
    struct imported i = import_file("n.gltf");
    assert_int_equal(i.import.triangles, 2);
    assert_non_null(strstr(i.import.text, "\"groups\""));
    assert_non_null(strstr(i.import.text, "\"group\": \"tri\""));
    /* turned by 90 degrees about z, twice as large: x goes to 2 y, y to -2 x, z + 5 to 2 z + 10 */
    expect_corners(i.scene, 0, (const double[]){10, 0, 10, 10, 2, 10, 8, 0, 10});
    expect_corners(i.scene, 1, (const double[]){10, 0, 0, 8, 0, 0, 10, 2, 0});
    scene_free(i.scene);
    /* the whole file as one object is the same */
    struct error err = {0};
    struct scene *s;
    const char *whole = "{\"isophote\": 1, \"camera\": {\"origin\": [0,0,5], \"target\": [0,0,0]}, "
                        "\"materials\": {\"g\": {\"type\": \"diffuse\"}}, \"objects\": [{\"type\": "
                        "\"mesh\", \"file\": \"n.gltf\", \"material\": \"g\"}]}";
    assert_int_equal(scene_load_memory(path_of("w.json"), whole, strlen(whole), &s, &err),
                     STATUS_OK);
    expect_corners(s, 0, (const double[]){10, 0, 10, 10, 2, 10, 8, 0, 10});
    expect_corners(s, 1, (const double[]){10, 0, 0, 8, 0, 0, 10, 2, 0});
    scene_free(s);
    /* EXT_mesh_gpu_instancing: three places from an accessor */
    write_gltf("g.gltf", "\"nodes\": [{\"mesh\": 0, \"extensions\": {\"EXT_mesh_gpu_instancing\": "
                         "{\"attributes\": {\"TRANSLATION\": 0}}}}], \"meshes\": "
                         "[{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}]");
    i = import_file("g.gltf");
    assert_int_equal(i.import.triangles, 3);
    expect_corners(i.scene, 1, (const double[]){1, 0, 0, 2, 0, 0, 1, 1, 0});
    expect_corners(i.scene, 2, (const double[]){0, 1, 0, 1, 1, 0, 0, 2, 0});
    scene_free(i.scene);
}

static void test_cameras_and_lights(void **state)
{
    (void)state;
    write_gltf(
        "c.gltf",
        "\"scenes\": [{\"nodes\": [0, 1, 2, 3, 4, 5]}], \"nodes\": [{\"mesh\": 0}, {\"camera\": 0, "
        "\"translation\": [1, 2, 3]}, {\"camera\": 1, \"rotation\": [0, 1, 0, 0]}, "
        "{\"translation\": [0, 4, 0], \"extensions\": {\"KHR_lights_punctual\": {\"light\": 0}}}, "
        "{\"rotation\": [-0.7071067811865476, 0, 0, 0.7071067811865476], \"extensions\": "
        "{\"KHR_lights_punctual\": {\"light\": 1}}}, {\"extensions\": {\"KHR_lights_punctual\": "
        "{\"light\": 2}}}], \"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], "
        "\"cameras\": [{\"name\": \"near\", \"type\": \"perspective\", \"perspective\": {\"yfov\": "
        "0.9, \"aspectRatio\": 1.5, \"znear\": 0.1}}, {\"name\": \"flat\", \"type\": "
        "\"orthographic\", \"orthographic\": {\"xmag\": 4, \"ymag\": 2, \"znear\": 0, \"zfar\": "
        "9}}], \"extensions\": {\"KHR_lights_punctual\": {\"lights\": [{\"type\": \"point\", "
        "\"color\": [1, 0.5, 0.25], \"intensity\": 40}, {\"type\": \"spot\", \"intensity\": 10, "
        "\"spot\": {\"outerConeAngle\": 0.5, \"innerConeAngle\": 0.25}}, {\"type\": "
        "\"directional\", \"intensity\": 3}]}}");
    struct imported i = import_file("c.gltf");
    const struct scene *s = i.scene;
    assert_true(i.import.own_camera && i.import.own_lights);
    assert_int_equal(s->light_count, 3);
    assert_int_equal(s->width * 2, s->height * 3);
    assert_true(near(s->camera.tan_half_fov, tan(0.45)) && s->camera.fov_axis == FOV_Y);
    assert_true(s->camera.origin[0] == 1 && s->camera.origin[2] == 3 && s->camera.forward[2] == -1);
    assert_true(s->lights[0].type == LIGHT_POINT && near3(s->lights[0].position, 0, 4, 0) &&
                near3(s->lights[0].intensity, 40, 20, 10));
    assert_true(s->lights[1].type == LIGHT_SPOT && near3(s->lights[1].direction, 0, -1, 0) &&
                near(s->lights[1].angle, 0.5) && near(s->lights[1].inner_angle, 0.25));
    assert_true(s->lights[2].type == LIGHT_DIRECTIONAL && near3(s->lights[2].direction, 0, 0, -1) &&
                near3(s->lights[2].intensity, 3, 3, 3));
    assert_true(noted(&i, "\"flat\""));
    scene_free(i.scene);
    i = import_with("c.gltf", &(struct scene_import_options){.camera = "flat", .light_scale = 0.5});
    assert_true(i.scene->camera.type == CAMERA_ORTHOGRAPHIC && i.scene->camera.forward[2] == 1);
    assert_true(near(i.scene->camera.tan_half_fov, 2) && i.scene->width == 2 * i.scene->height);
    assert_true(near3(i.scene->lights[0].intensity, 20, 10, 5));
    scene_free(i.scene);
    struct scene_import out;
    struct error err = {0};
    assert_int_equal(scene_import(&arena, path_of("c.gltf"), path_of("scene.json"),
                                  &(struct scene_import_options){.camera = "far"}, &out, &err),
                     STATUS_ARG);
    assert_non_null(strstr(err.msg, "\"near\", \"flat\""));
}

/* A camera made here has all of the model in its film, and most of the film's height or width. */
static void test_framing(void **state)
{
    (void)state;
    static const double sizes[][3] = {{1, 1, 1}, {100, 1, 1}, {0.01, 3, 0.01}, {5, 0.001, 5}};
    for (int k = 0; k < 8; k++) {
        const double *size = sizes[k / 2];
        write_text("f.obj",
                   arena_printf(&arena,
                                "v 0 0 7\nv %g 0 7\nv 0 %g 7\nv 0 0 %g\nf 1 3 2\nf 1 2 4\nf 1 4 "
                                "3\nf 2 3 4\n",
                                size[0], size[1], 7 + size[2]));
        struct imported i = import_with("f.obj", &(struct scene_import_options){.up_z = k & 1});
        const struct camera *c = &i.scene->camera;
        double tan_x, tan_y, most = 0;
        camera_tangents(c, i.scene->width, i.scene->height, &tan_x, &tan_y);
        for (size_t t = 0; t < i.import.triangles; t++)
            for (int v = 0; v < 3; v++) {
                double p[3], x = 0, y = 0, z = 0;
                vertex_of(i.scene, t, v, p);
                for (int a = 0; a < 3; a++) {
                    x += (p[a] - c->origin[a]) * c->right[a];
                    y += (p[a] - c->origin[a]) * c->up[a];
                    z += (p[a] - c->origin[a]) * c->forward[a];
                }
                assert_true(z > 0);
                most = fmax(most, fmax(fabs(x / z) / tan_x, fabs(y / z) / tan_y));
            }
        assert_true(most < 0.95 && most > 0.8);
        assert_false(i.import.own_camera || i.import.own_lights);
        scene_free(i.scene);
    }
}

static void test_refused(void **state)
{
    (void)state;
    write_gltf("r.gltf", "\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"children\": [0]}]");
    expect_refused("r.gltf", STATUS_PARSE, "one parent");
    write_text("v.gltf", "{\"asset\": {\"version\": \"3.0\"}}");
    expect_refused("v.gltf", STATUS_UNSUPPORTED, "version 3.0");
    write_text("j.gltf", "{\"asset\": {\"version\": \"2.0\"},}");
    expect_refused("j.gltf", STATUS_PARSE, "line 1, column");
    write_gltf("i.gltf", "\"nodes\": [{\"mesh\": 1}], \"meshes\": []");
    expect_refused("i.gltf", STATUS_PARSE, "nodes[0].mesh");
    write_gltf("a.gltf", "\"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": "
                         "[{\"attributes\": {\"POSITION\": 1}}]}]");
    expect_refused("a.gltf", STATUS_PARSE, "VEC3");
    expect_refused("absent.gltf", STATUS_MISSING, "absent.gltf");
}

/* ---- arrays of the test's own --------------------------------------------------------------- */

/* A document whose accessors are counted in the order in which they are added, each with a view. */
struct document {
    struct text bytes, views, accessors;
    int count;
};

enum { TYPE_U8 = 5121, TYPE_U16 = 5123, TYPE_FLOAT = 5126 };

static void add_accessor(struct document *d, int type, const char *shape, int count,
                         const void *data, size_t size)
{
    const char *comma = d->count ? ", " : "";
    text_printf(&d->views, "%s{\"buffer\": 0, \"byteOffset\": %zu, \"byteLength\": %zu}", comma,
                d->bytes.len, size);
    text_printf(&d->accessors,
                "%s{\"bufferView\": %d, \"componentType\": %d, \"count\": %d, \"type\": "
                "\"%s\"%s}",
                comma, d->count, type, count, shape,
                type == TYPE_U8 ? ", \"normalized\": true" : "");
    text_append(&d->bytes, data, size);
    while (d->bytes.len % 4)
        text_append(&d->bytes, "", 1);
    d->count++;
}

/* With these further keys. Its texts are freed. */
static struct imported import_document(struct document *d, const char *rest)
{
    write_bytes("d.bin", d->bytes.data, d->bytes.len);
    write_text("d.gltf",
               arena_printf(&arena,
                            "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": "
                            "[{\"uri\": \"d.bin\", \"byteLength\": %zu}, {\"byteLength\": 4096}], "
                            "\"bufferViews\": [%s], \"accessors\": [%s], %s}",
                            d->bytes.len, d->views.data, d->accessors.data, rest));
    text_free(&d->bytes);
    text_free(&d->views);
    text_free(&d->accessors);
    return import_file("d.gltf");
}

/* The sum of each vertex' joints, weighted: one joint moves by 5 along x; the other, its child, is
 * bound at y = 1 and turns by 90 degrees there. The place of the mesh' own node does not count. */
static void test_skin(void **state)
{
    (void)state;
    static const float P[9] = {0, 0, 0, 0, 2, 0, 1, 1, 0}, N[9] = {1, 0, 0, 1, 0, 0, 1, 0, 0};
    static const uint8_t weights[12] = {255, 0, 0, 0, 0, 255, 0, 0, 127, 127, 0, 0},
                         joints[12] = {0, 1, 9, 9, 0, 1, 0, 0, 1, 0, 0, 0};
    static const float bound[32] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,  0, 1,
                                    1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1};
    struct document d = {0};
    add_accessor(&d, TYPE_FLOAT, "VEC3", 3, P, sizeof P);
    add_accessor(&d, TYPE_FLOAT, "VEC3", 3, N, sizeof N);
    add_accessor(&d, TYPE_U8, "VEC4", 3, weights, sizeof weights);
    uint16_t wide[12];
    for (int i = 0; i < 12; i++)
        wide[i] = joints[i];
    wide[2] = wide[3] = 0;
    add_accessor(&d, TYPE_U16, "VEC4", 3, wide, sizeof wide);
    add_accessor(&d, TYPE_FLOAT, "MAT4", 2, bound, sizeof bound);
    struct imported i = import_document(
        &d, "\"scenes\": [{\"nodes\": [0, 1]}], \"nodes\": [{\"mesh\": 0, \"skin\": 0, "
            "\"translation\": [100, 0, 0]}, {\"translation\": [5, 0, 0], \"children\": [2]}, "
            "{\"translation\": [0, 1, 0], \"rotation\": [0, 0, 0.7071067811865476, "
            "0.7071067811865476]}], \"skins\": [{\"joints\": [1, 2], \"inverseBindMatrices\": "
            "4}], \"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0, "
            "\"NORMAL\": 1, \"WEIGHTS_0\": 2, \"JOINTS_0\": 3}}]}]");
    expect_corners(i.scene, 0, (const double[]){5, 0, 0, 4, 1, 0, 5.5, 1.5, 0});
    const uint32_t *v = i.scene->triangles[0];
    assert_true(near3(i.scene->N[v[0]], 1, 0, 0) && near3(i.scene->N[v[1]], 0, 1, 0));
    assert_true(near3(i.scene->N[v[2]], sqrt(0.5), sqrt(0.5), 0));
    scene_free(i.scene);
}

/* Displacements by the mesh' weights, or the node's in their place; two nodes, two shapes. */
static void test_morph(void **state)
{
    (void)state;
    static const float P[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, a[9] = {0, 0, 2, 0, 0, 0, 0, 0, 0},
                       b[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    struct document d = {0};
    add_accessor(&d, TYPE_FLOAT, "VEC3", 3, P, sizeof P);
    add_accessor(&d, TYPE_FLOAT, "VEC3", 3, a, sizeof a);
    add_accessor(&d, TYPE_FLOAT, "VEC3", 3, b, sizeof b);
    struct imported i = import_document(
        &d, "\"nodes\": [{\"mesh\": 0}, {\"mesh\": 0, \"weights\": [0, 2], \"translation\": "
            "[0, 0, 9]}], \"meshes\": [{\"weights\": [0.5, 0], \"primitives\": "
            "[{\"attributes\": {\"POSITION\": 0}, \"targets\": [{\"POSITION\": 1}, "
            "{\"POSITION\": 2}]}]}]");
    expect_corners(i.scene, 0, (const double[]){0, 0, 1, 1, 0, 0, 0, 1, 0});
    expect_corners(i.scene, 1, (const double[]){0, 0, 9, 3, 0, 9, 0, 3, 9});
    assert_int_equal(i.import.note_count, 0);
    scene_free(i.scene);
}

/* Opacity = base alpha times that of the vertices: one for all is a factor, others go by a ramp
 * that texture coordinates count along; beside textures they are told of; opaque ones do not count.
 */
static void test_vertex_alpha(void **state)
{
    (void)state;
    static const float P[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, uv[6] = {0, 0, 1, 0, 0, 1};
    static const uint8_t same[12] = {255, 255, 255, 51, 255, 255, 255, 51, 255, 255, 255, 51},
                         ramp[12] = {255, 0, 0, 0, 255, 0, 0, 102, 255, 0, 0, 255},
                         rgb[6] = {1, 2, 3, 4, 5, 6};
    static const char *const materials[] = {
        "\"name\": \"m\", \"alphaMode\": \"BLEND\", \"pbrMetallicRoughness\": "
        "{\"baseColorFactor\": [1, 1, 1, 0.5]}",
        "\"name\": \"m\", \"alphaMode\": \"MASK\", \"occlusionTexture\": {\"index\": 0}",
        "\"name\": \"m\", \"alphaMode\": \"BLEND\", \"pbrMetallicRoughness\": "
        "{\"baseColorTexture\": {\"index\": 0}}",
        "\"name\": \"m\""};
    write_png("a.png", rgb);
    for (int k = 0; k < 4; k++) {
        struct document d = {0};
        add_accessor(&d, TYPE_FLOAT, "VEC3", 3, P, sizeof P);
        add_accessor(&d, TYPE_FLOAT, "VEC2", 3, uv, sizeof uv);
        add_accessor(&d, TYPE_U8, "VEC4", 3, k ? ramp : same, sizeof ramp);
        struct imported i = import_document(
            &d, arena_printf(&arena,
                             "\"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": "
                             "[{\"material\": 0, \"attributes\": {\"POSITION\": 0, "
                             "\"TEXCOORD_0\": 1, \"COLOR_0\": 2}}]}], \"materials\": [{%s}], "
                             "\"images\": [{\"uri\": \"a.png\"}], \"textures\": [{\"source\": "
                             "0}]",
                             materials[k]));
        const struct scene *s = i.scene;
        const struct material *m = &s->materials[s->primitive_material[0]];
        assert_int_equal(strncmp(m->name, "m", 1), 0);
        assert_true(noted(&i, "alpha of vertex colours beside textures (material \"m\")") ==
                    (k == 2));
        if (k == 0) {
            assert_true(near((double)m->opacity.value, 0.5 * 51 / 255) && m->opacity.texture < 0);
            assert_false(s->triangle_flags[0] & TRIANGLE_HAS_COLORS);
        } else if (k == 1) {
            assert_true(m->alpha_mode == ALPHA_MASK && m->opacity.texture >= 0);
            const struct texture *t = &s->textures[m->opacity.texture];
            const uint8_t *texels = t->image.texels;
            assert_true(t->wrap_u == WRAP_CLAMP && t->filter == FILTER_BILINEAR && !t->image.srgb &&
                        t->image.width == 2 && texels[0] == 0 && texels[3] == 255);
            for (int c = 0; c < 3; c++) { /* interpolation by section 17 of the protocol */
                double x = (double)s->UV[s->triangles[0][c]][0] * 2 - 0.5;
                assert_true(near(x, ramp[4 * c + 3] / 255.0));
            }
            assert_true(s->triangle_flags[0] & TRIANGLE_HAS_COLORS);
        } else {
            assert_true(near((double)m->opacity.value, 1));
            assert_true(near((double)s->UV[s->triangles[0][1]][0], 1));
        }
        scene_free(i.scene);
    }
}

/* What the file says of a texture by its second set, at the corners' mean weighted by w: against
 * the scene's texture by the mesh' coordinates there. */
static void expect_moved(const struct imported *i, const struct texture *original,
                         const struct texture *moved, const float uv[][2], const double w[3],
                         double tolerance)
{
    const struct scene *s = i->scene;
    for (size_t t = 0; t < 2; t++) {
        double from[2] = {0, 0}, to[2] = {0, 0}, want[4], got[4];
        for (int k = 0; k < 3; k++) {
            uint32_t v = s->triangles[t][k];
            size_t at = 0; /* the file's vertex: they stand at (x, y, 0) of a unit square */
            at = (size_t)(s->P[v][0] + 2 * s->P[v][1]);
            for (int c = 0; c < 2; c++) {
                to[c] += w[k] * (double)s->UV[v][c];
                from[c] += w[k] * (c ? 1 - (double)uv[at][1] : (double)uv[at][0]);
            }
        }
        texture_value(original, from, want);
        texture_value(moved, to, got);
        for (int c = 0; c < 3; c++)
            if (!(fabs(got[c] - want[c]) <= tolerance))
                fail_msg("channel %d: found %g, expected %g at (%g, %g), by (%g, %g)", c, got[c],
                         want[c], from[0], from[1], to[0], to[1]);
    }
}

/* A square in two triangles with two sets; metallic and roughness by the second. Where that is the
 * first scaled and moved, the texture is; where it lies otherwise a new image does; where only the
 * second has a place for each of the surface, the colour moves there; else it is left out. */
static void test_second_coordinates(void **state)
{
    (void)state;
    static const float P[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    static const uint16_t square[6] = {0, 1, 2, 1, 3, 2};
    static const struct {
        float uv[2][4][2];
        bool drawn, swapped, lost;
    } cases[] = {
        {{{{0, 0}, {1, 0}, {0, 1}, {1, 1}}, {{.25F, .5F}, {.75F, .5F}, {.25F, -.5F}, {.75F, -.5F}}},
         false,
         false,
         false},
        {{{{0, 0}, {1, 0}, {0, 1}, {1, 1}}, {{.1F, .1F}, {.3F, .8F}, {.8F, .2F}, {.9F, .9F}}},
         true,
         false,
         false},
        /* both triangles on one half of the square */
        {{{{.1F, .1F}, {.9F, .1F}, {.1F, .9F}, {.1F, .1F}},
          {{.1F, .1F}, {.9F, .1F}, {.1F, .9F}, {.9F, .9F}}},
         true,
         true,
         false},
        {{{{0, 0}, {1, 0}, {0, 1}, {0, 0}}, {{.1F, .1F}, {.9F, .1F}, {.1F, .9F}, {.2F, .2F}}},
         false,
         false,
         true},
    };
    enum { SIDE = 32 };
    uint8_t gradient[SIDE * SIDE * 3];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            uint8_t *to = &gradient[3 * (y * SIDE + x)];
            to[0] = (uint8_t)(8 * x), to[1] = (uint8_t)(8 * y), to[2] = (uint8_t)(4 * (x + y));
        }
    const uint8_t *png;
    size_t size;
    assert_int_equal(image_encode_png(&arena, SIDE, SIDE, gradient, &png, &size, NULL), STATUS_OK);
    write_bytes("gradient.png", png, size);
    struct texture original = {
        .wrap_u = WRAP_REPEAT, .wrap_v = WRAP_REPEAT, .filter = FILTER_BILINEAR, .scale = {1, 1}};
    struct error err;
    assert_int_equal(image_read(&arena, path_of("gradient.png"), &original.image, &err), STATUS_OK);
    original.image.srgb = false;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct document d = {0};
        add_accessor(&d, TYPE_FLOAT, "VEC3", 4, P, sizeof P);
        add_accessor(&d, TYPE_FLOAT, "VEC2", 4, cases[k].uv[0], sizeof cases[k].uv[0]);
        add_accessor(&d, TYPE_FLOAT, "VEC2", 4, cases[k].uv[1], sizeof cases[k].uv[1]);
        add_accessor(&d, TYPE_U16, "SCALAR", 6, square, sizeof square);
        struct imported i = import_document(
            &d, "\"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": [{\"material\": 0, "
                "\"indices\": 3, \"attributes\": {\"POSITION\": 0, \"TEXCOORD_0\": 1, "
                "\"TEXCOORD_1\": 2}}]}], \"materials\": [{\"name\": \"m\", "
                "\"pbrMetallicRoughness\": {\"baseColorTexture\": {\"index\": 0}, "
                "\"metallicRoughnessTexture\": {\"index\": 0, \"texCoord\": 1}}}], \"images\": "
                "[{\"uri\": \"gradient.png\"}], \"textures\": [{\"source\": 0}]");
        const struct material *m = material_of(&i, "m");
        const struct scene *s = i.scene;
        assert_true(noted(&i, "another set of coordinates") == cases[k].lost);
        assert_true((m->roughness.texture < 0) == cases[k].lost);
        if (!cases[k].lost) {
            const struct texture *moved = &s->textures[m->roughness.texture],
                                 *base = &s->textures[m->base.texture];
            bool other = cases[k].swapped;
            assert_true((moved->image.width > SIDE) == (cases[k].drawn && !other));
            assert_true((base->image.width > SIDE) == (cases[k].drawn && other));
            assert_true(base->image.srgb && !moved->image.srgb);
            /* 8 bits, and lines between texels that are not those of the original; the colour's by
             * the slope of its decoding, at most 2.28 */
            double tolerance = !cases[k].drawn ? 1e-5 : other ? 0 : 1.5 / 255;
            for (int w = 0; w < 9 && !other; w++) {
                double a = 0.1 + 0.1 * (w % 3), b = 0.2 + 0.2 * (w / 3); // NOLINT
                expect_moved(&i, &original, moved, cases[k].uv[1], (double[]){a, b, 1 - a - b},
                             tolerance);
            }
            struct texture color = original;
            color.image.srgb = true;
            for (int w = 0; w < 12 && other; w++) {                /* at an edge, too */
                double a = 0.1 * (w % 4), b = 0.2 + 0.2 * (w / 4); // NOLINT
                expect_moved(&i, &color, base, cases[k].uv[0], (double[]){a, b, 1 - a - b},
                             2.28 * 1.5 / 255);
                expect_moved(&i, &original, moved, cases[k].uv[1], (double[]){a, b, 1 - a - b},
                             1e-5);
            }
        }
        scene_free(i.scene);
    }
}

/* KHR_node_visibility hides a node and what hangs from it. */
static void test_hidden_nodes(void **state)
{
    (void)state;
    write_gltf("h.gltf",
               "\"nodes\": [{\"mesh\": 0}, {\"mesh\": 0, \"children\": [2], \"extensions\": "
               "{\"KHR_node_visibility\": {\"visible\": false}}}, {\"mesh\": 0}, {\"mesh\": 0, "
               "\"extensions\": {\"KHR_node_visibility\": {\"visible\": true}}}], \"meshes\": "
               "[{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}]");
    struct imported i = import_file("h.gltf");
    assert_int_equal(i.import.triangles, 2);
    assert_true(noted(&i, "hidden"));
    scene_free(i.scene);
}

/* ---- packed geometry and images ------------------------------------------------------------- */

/* An accessor of a view that EXT_meshopt_compression packs; its own buffer has no bytes. */
static void add_packed(struct document *d, const char *accessor, const char *mode,
                       const char *filter, int count, size_t stride, const unsigned char *packed,
                       size_t size)
{
    const char *comma = d->count ? ", " : "";
    text_printf(&d->views,
                "%s{\"buffer\": 1, \"byteLength\": %zu, \"byteStride\": %zu, \"extensions\": "
                "{\"%s_meshopt_compression\": {\"buffer\": 0, \"byteOffset\": %zu, "
                "\"byteLength\": %zu, \"byteStride\": %zu, \"count\": %d, \"mode\": \"%s\", "
                "\"filter\": \"%s\"}}}",
                comma, (size_t)count * stride, stride, d->count % 2 ? "KHR" : "EXT", d->bytes.len,
                size, stride, count, mode, filter);
    text_printf(&d->accessors, "%s{\"bufferView\": %d, \"count\": %d, %s}", comma, d->count, count,
                accessor);
    text_append(&d->bytes, (const char *)packed, size);
    d->count++;
}

enum { CORNERS = 4 };

/* A square of two triangles, turned about x and twice as large, with all codecs and filters. */
static void packed_square(struct document *d)
{
    static const float P[CORNERS][3] = {{0, 0, 0}, {1.5F, 0, 0}, {1.5F, 1, 0}, {0, 1, 0.25F}},
                       N[CORNERS][4] = {{0, 0, 1}, {0.6F, 0, 0.8F}, {0, -0.6F, -0.8F}, {1, 0, 0}},
                       turn[1][4] = {{0.5F, 0.5F, 0.5F, 0.5F}};
    static const uint16_t uv[CORNERS][2] = {{0, 0}, {65535, 0}, {65535, 65535}, {0, 13107}};
    static const uint32_t faces[6] = {0, 1, 2, 0, 2, 3}, strip[4] = {0, 1, 3, 2};
    uint8_t values[64], packed[256];
    meshopt_encodeFilterExp(values, CORNERS, 12, 15, &P[0][0]);
    add_packed(d, "\"componentType\": 5126, \"type\": \"VEC3\"", "ATTRIBUTES", "EXPONENTIAL",
               CORNERS, 12, packed,
               meshopt_encodeVertexBuffer(packed, sizeof packed, values, CORNERS, 12));
    meshopt_encodeFilterOct(values, CORNERS, 4, 8, &N[0][0]);
    add_packed(d, "\"componentType\": 5120, \"normalized\": true, \"type\": \"VEC3\"", "ATTRIBUTES",
               "OCTAHEDRAL", CORNERS, 4, packed,
               meshopt_encodeVertexBuffer(packed, sizeof packed, values, CORNERS, 4));
    add_packed(d, "\"componentType\": 5123, \"normalized\": true, \"type\": \"VEC2\"", "ATTRIBUTES",
               "NONE", CORNERS, 4, packed,
               meshopt_encodeVertexBuffer(packed, sizeof packed, uv, CORNERS, 4));
    add_packed(d, "\"componentType\": 5123, \"type\": \"SCALAR\"", "TRIANGLES", "NONE", 6, 2,
               packed, meshopt_encodeIndexBuffer(packed, sizeof packed, faces, 6));
    add_packed(d, "\"componentType\": 5125, \"type\": \"SCALAR\"", "INDICES", "NONE", 4, 4, packed,
               meshopt_encodeIndexSequence(packed, sizeof packed, strip, 4));
    meshopt_encodeFilterQuat(values, 1, 8, 16, &turn[0][0]);
    add_packed(d, "\"componentType\": 5122, \"normalized\": true, \"type\": \"VEC4\"", "ATTRIBUTES",
               "QUATERNION", 1, 8, packed,
               meshopt_encodeVertexBuffer(packed, sizeof packed, values, 1, 8));
}

static void test_meshopt(void **state)
{
    (void)state;
    struct document d = {0};
    packed_square(&d);
    struct imported i = import_document(
        &d,
        "\"extensionsRequired\": [\"EXT_meshopt_compression\", \"KHR_meshopt_compression\"], "
        "\"nodes\": [{\"mesh\": 0}, {\"mesh\": 1, \"extensions\": {\"EXT_mesh_gpu_instancing\": "
        "{\"attributes\": {\"ROTATION\": 5}}}}], \"meshes\": [{\"primitives\": "
        "[{\"attributes\": {\"POSITION\": 0, \"NORMAL\": 1, \"TEXCOORD_0\": 2}, \"indices\": "
        "3}]}, {\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"indices\": 4, \"mode\": "
        "5}]}]");
    const struct scene *s = i.scene;
    assert_int_equal(i.import.note_count, 0);
    assert_int_equal(i.import.triangles, 4);
    expect_corners(s, 0, (const double[]){0, 0, 0, 1.5, 0, 0, 1.5, 1, 0});
    expect_corners(s, 1, (const double[]){0, 0, 0, 1.5, 1, 0, 0, 1, 0.25});
    static const double N[CORNERS][3] = {{0, 0, 1}, {0.6, 0, 0.8}, {0, -0.6, -0.8}, {1, 0, 0}};
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 3; k++) {
            uint32_t v = s->triangles[t][k];
            const float *P = s->P[v];
            int corner = (double)P[1] < 0.5 ? (P[0] > 1 ? 1 : 0) : P[0] > 1 ? 2 : 3;
            for (int c = 0; c < 3; c++) /* 8 bits a coordinate of the octahedron */
                assert_true(fabs((double)s->N[v][c] - N[corner][c]) < 0.012);
            static const double up[CORNERS] = {1, 1, 0, 0.8};
            assert_true(near((double)s->UV[v][0], corner == 1 || corner == 2) &&
                        near((double)s->UV[v][1], up[corner]));
        }
    /* x to y, y to z, z to x; the quaternion's parts have 16 bits */
    static const double turned[2][9] = {{0, 0, 0, 0, 1.5, 0, 0.25, 0, 1},
                                        {0, 1.5, 0, 0, 1.5, 1, 0.25, 0, 1}};
    for (size_t t = 0; t < 2; t++)
        for (int k = 0; k < 3; k++) {
            double P[3];
            vertex_of(s, 2 + t, k, P);
            for (int c = 0; c < 3; c++)
                assert_true(fabs(P[c] - turned[t][3 * k + c]) < 3e-4);
        }
    scene_free(i.scene);
}

static void refuse_packed(const char *view, const char *bytes, size_t size, enum status status,
                          const char *words)
{
    write_bytes("p.bin", bytes, size);
    write_text(
        "p.gltf",
        arena_printf(&arena,
                     "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"uri\": \"p.bin\", "
                     "\"byteLength\": %zu}], \"bufferViews\": [{\"buffer\": 0, "
                     "\"byteLength\": 36, \"extensions\": {\"EXT_meshopt_compression\": "
                     "{\"buffer\": 0, \"byteLength\": %zu, %s}}}], \"accessors\": "
                     "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": "
                     "\"VEC3\"}], \"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": "
                     "[{\"attributes\": {\"POSITION\": 0}}]}]}",
                     size, size, view));
    expect_refused("p.gltf", status, words);
}

static void test_meshopt_refused(void **state)
{
    (void)state;
    static const float P[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    unsigned char packed[256];
    size_t size = meshopt_encodeVertexBuffer(packed, sizeof packed, P, 3, 12);
    const char *bytes = (const char *)packed;
    refuse_packed("\"byteStride\": 12, \"count\": 3, \"mode\": \"ATTRIBUTES\"", bytes, size - 1,
                  STATUS_PARSE, "codec unpacks");
    refuse_packed("\"byteStride\": 12, \"count\": 3, \"mode\": \"WORDS\"", bytes, size,
                  STATUS_PARSE, "a \"mode\" of");
    refuse_packed("\"byteStride\": 260, \"count\": 3, \"mode\": \"ATTRIBUTES\"", bytes, size,
                  STATUS_PARSE, "byteStride");
    refuse_packed("\"byteStride\": 4, \"count\": 4, \"mode\": \"TRIANGLES\"", bytes, size,
                  STATUS_PARSE, "whole triangles");
    refuse_packed("\"byteStride\": 12, \"count\": 3, \"mode\": \"ATTRIBUTES\", \"filter\": "
                  "\"OCTAHEDRAL\"",
                  bytes, size, STATUS_PARSE, "a \"filter\"");
    refuse_packed("\"byteStride\": 12, \"count\": 2, \"mode\": \"ATTRIBUTES\"", bytes, size,
                  STATUS_PARSE, ""); /* three vertices are asked for */
    packed[0] = 0xa1;
    refuse_packed("\"byteStride\": 12, \"count\": 3, \"mode\": \"ATTRIBUTES\"", bytes, size,
                  STATUS_UNSUPPORTED, "version 1");
}

/* A square as draco_encoder 1.5.5 (Debian's package draco) packs it from an OBJ file: one after the
 * other with all bits (-cl 0 -qp 0 -qt 0 -qn 0), and by edges with 14 bits a coordinate and 12 of a
 * texture's (-cl 7 -qp 14 -qt 12 -qn 10). v 0 0 0, 2 0 0, 2 1 0, 0 1 0.5, vt 0 0, 1 0, 1 1, 0 1, vn
 * 0 0 1, f 1 2 3, f 1 3 4. */
static const char *const draco_square[2] = {
    "RFJBQ08CAgEAAAACBAEAAQIAAgMBAwAJAwAAAwkCAAEBCQMAAgAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAA"
    "AEAAAIA/AAAAAAAAAAAAAIA/AAAAPwAAAAAAAAAAAACAPwAAAAAAAIA/AACAPwAAAAAAAIA/AAAAAAAAAAAAAIA/"
    "AAAAAAAAAAAAAIA/AAAAAAAAAAAAAIA/AAAAAAAAAAAAAIA/",
    "RFJBQ08CAgEBAAAABAICAgAAAR//ARH/ARH/ARED/wAAAAAAAQAAAQAJAwAAAgEDCQIAAQIBAQkDAAIDAQEBAA8D"
    "ASAvASADAPCDCAD+fwBAAAAAAEAAAAAAAP8/AAAAAAAAAAAAAAAAAAAAAABADgUBAQANAwEgJwEgAwAghAwA8AoA"
    "yQwCAAAAgAKAcAAAAAD/DwAAAAAAAAAAAAAAAIA/DAYDAQALAwEQHwEwAwAognVzUTcXJUcC/wMAAP8BAAD/AkRA"
    "Cg==",
};

static const char *draco_gltf(const char *bytes, const char *attributes)
{
    return arena_printf(
        &arena,
        "{\"asset\": {\"version\": \"2.0\"}, \"extensionsRequired\": "
        "[\"KHR_draco_mesh_compression\"], \"buffers\": [{\"uri\": "
        "\"data:application/octet-stream;base64,%s\"}], \"bufferViews\": [{\"buffer\": 0, "
        "\"byteLength\": %zu}], \"accessors\": [{\"componentType\": 5126, \"count\": 4, \"type\": "
        "\"VEC3\"}, {\"componentType\": 5126, \"count\": 4, \"type\": \"VEC2\"}, "
        "{\"componentType\": 5126, \"count\": 4, \"type\": \"VEC3\"}, {\"componentType\": 5123, "
        "\"count\": 6, \"type\": \"SCALAR\"}], \"nodes\": [{\"mesh\": 0}], \"meshes\": "
        "[{\"primitives\": [{\"attributes\": {\"POSITION\": 0, \"TEXCOORD_0\": 1, \"NORMAL\": 2}, "
        "\"indices\": 3, \"extensions\": {\"KHR_draco_mesh_compression\": {\"bufferView\": 0, "
        "\"attributes\": {%s}}}}]}]}",
        bytes, (strlen(bytes) - (strchr(bytes, '=') ? strlen(strchr(bytes, '=')) : 0)) * 3 / 4,
        attributes);
}

static void test_draco(void **state)
{
    (void)state;
    static const char ids[] = "\"POSITION\": 0, \"TEXCOORD_0\": 1, \"NORMAL\": 2";
    for (int k = 0; k < 2; k++) {
        /* half a step of 14 and 12 bits over lengths of 2 and 1 */
        double step = k ? 1.1 / 16383 : 1e-6, uv_step = k ? 0.55 / 4095 : 1e-6, area = 0;
        write_text("o.gltf", draco_gltf(draco_square[k], ids));
        struct imported i = import_file("o.gltf");
        const struct scene *s = i.scene;
        assert_int_equal(i.import.triangles, 2);
        assert_int_equal(i.import.note_count, 0);
        for (int t = 0; t < 2; t++) {
            double corner[3][3];
            for (int c = 0; c < 3; c++) {
                uint32_t v = s->triangles[t][c];
                vertex_of(s, (size_t)t, c, corner[c]);
                const double *P = corner[c];
                double x = P[0] > 1 ? 2 : 0, y = P[1] > 0.5 ? 1 : 0,
                       z = P[0] < 1 && P[1] > 0.5 ? 0.5 : 0;
                assert_true(fabs(P[0] - x) < step && fabs(P[1] - y) < step &&
                            fabs(P[2] - z) < step);
                assert_true(fabs((double)s->UV[v][0] - x / 2) < uv_step &&
                            fabs((double)s->UV[v][1] - (1 - y)) < uv_step);
                assert_true(near3(s->N[v], 0, 0, 1));
            }
            area += ((corner[1][0] - corner[0][0]) * (corner[2][1] - corner[0][1]) -
                     (corner[2][0] - corner[0][0]) * (corner[1][1] - corner[0][1])) /
                    2;
        }
        assert_true(fabs(area - 2) < 1e-3); /* both, the same way round as in the OBJ file */
        scene_free(i.scene);
        /* cut off */
        char *cut = arena_strndup(&arena, draco_square[k], strlen(draco_square[k]) / 8 * 4);
        write_text("o.gltf", draco_gltf(cut, ids));
        expect_refused("o.gltf", STATUS_PARSE, "Draco's library on buffer view 0");
    }
    write_text("o.gltf", draco_gltf(draco_square[0], "\"POSITION\": 7"));
    expect_refused("o.gltf", STATUS_PARSE, "an attribute that Draco's data have");
    write_text("o.gltf", draco_gltf(draco_square[0], "\"POSITION\": 1")); /* of two components */
    expect_refused("o.gltf", STATUS_PARSE, "an attribute that Draco's data have");
}

/* EXT_texture_webp; where there is a fallback too, that is read. */
static void test_webp(void **state)
{
    (void)state;
    static const uint8_t rgb[6] = {255, 128, 0, 1, 2, 3}, other[6] = {9, 9, 9, 9, 9, 9};
    uint8_t *out = NULL;
    size_t size = WebPEncodeLosslessRGB(rgb, 2, 1, 6, &out);
    write_bytes("a.webp", out, size);
    WebPFree(out);
    write_png("a.png", other);
    for (int k = 0; k < 2; k++) {
        struct imported i = import_material(
            "\"pbrMetallicRoughness\": {\"baseColorTexture\": {\"index\": 0}}",
            arena_printf(&arena,
                         ", \"extensionsRequired\": [\"EXT_texture_webp\"], \"images\": "
                         "[{\"uri\": \"a.webp\"}, {\"uri\": \"a.png\"}], \"textures\": [{%s"
                         "\"extensions\": {\"EXT_texture_webp\": {\"source\": 0}}}]",
                         k ? "\"source\": 1, " : ""));
        assert_int_equal(i.import.note_count, 0);
        int32_t texture = material_of(&i, "m")->base.texture;
        assert_true(texture >= 0 && i.scene->textures[texture].image.srgb);
        assert_memory_equal(bytes_of(&i, texture), k ? other : rgb, 6);
        scene_free(i.scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metallic_roughness),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_glossiness_maps),
        cmocka_unit_test(test_layer_maps),
        cmocka_unit_test(test_absorption),
        cmocka_unit_test(test_texture_transform),
        cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_primitives),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_cameras_and_lights),
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_skin),
        cmocka_unit_test(test_morph),
        cmocka_unit_test(test_vertex_alpha),
        cmocka_unit_test(test_hidden_nodes),
        cmocka_unit_test(test_second_coordinates),
        cmocka_unit_test(test_meshopt),
        cmocka_unit_test(test_meshopt_refused),
        cmocka_unit_test(test_draco),
        cmocka_unit_test(test_webp),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
