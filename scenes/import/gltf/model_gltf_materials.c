/* SPDX-License-Identifier: Apache-2.0 */
/* Materials of glTF 2 in the words of scene files (docs/reference/scenes.md, Model files, says
 * which becomes what). What has no counterpart is noted. */
#define _GNU_SOURCE
#include "import/source/offers.h"
#include "model_gltf.h"

#include <math.h>
#include <string.h>

static double clamp01(double x) { return source_clamp(x, 0, 1); }
static double largest(const double c[3]) { return fmax(c[0], fmax(c[1], c[2])); }

/* What the material that is being read loses. */
static void note_loss(struct gltf *g, const char *what)
{
    source_note(g->s, "%s (material \"%.100s\")", what,
                g->s->material_name[g->s->material_count - 1]);
}

/* ---- textures ------------------------------------------------------------------------------- */

/* Which TEXCOORD_ a textureInfo goes by. */
static uint32_t coordinates_of(struct gltf *g, const struct json *info)
{
    double set = gltf_number(g, info, "texCoord", 0);
    set = gltf_number(g, gltf_extension(g, info, "KHR_texture_transform"), "texCoord", set);
    return set >= 0 && set < 1000 ? (uint32_t)set : 0;
}

static uint32_t wrap_of(struct gltf *g, const struct json *sampler, const char *key)
{
    double mode = gltf_number(g, sampler, key, 10497);
    return mode == 33071 ? WRAP_CLAMP : mode == 33648 ? WRAP_MIRROR : WRAP_REPEAT;
}

/* Its v is downwards and it turns counter-clockwise as seen: with v_up = 1 - v the same scale and
 * rotation, and an offset that makes up for the other origin. */
static void read_transform(struct gltf *g, const struct json *info, struct source_texture *t)
{
    const struct json *e = gltf_extension(g, info, "KHR_texture_transform");
    if (!e)
        return;
    double offset[2] = {0, 0}, scale[2] = {1, 1}, r = gltf_number(g, e, "rotation", 0);
    gltf_numbers(g, e, "offset", 2, offset);
    gltf_numbers(g, e, "scale", 2, scale);
    for (int i = 0; i < 2; i++) {
        scale[i] = source_clamp(scale[i], -1e6, 1e6);
        offset[i] = source_clamp(offset[i], -1e5, 1e5);
    }
    if (!isfinite(r))
        r = 0;
    double c = cos(r), s = sin(r);
    t->scale[0] = scale[0] == 1 && scale[1] == 1 ? 0 : scale[0];
    t->scale[1] = scale[0] == 1 && scale[1] == 1 ? 0 : scale[1];
    t->rotation = remainder(r * (180 / M_PI), 360);
    t->offset[0] = offset[0] + s * scale[1];
    t->offset[1] = 1 - offset[1] - c * scale[1];
}

/* The image of a texture; false when it has none that can be read. */
static bool read_image(struct gltf *g, const struct json *texture, struct source_texture *t)
{
    const struct json *image = gltf_item(g, texture, "source", &g->images);
    if (!image)
        image = gltf_item(g, gltf_extension(g, texture, "EXT_texture_webp"), "source", &g->images);
    if (!image) {
        const struct json *other = gltf_get(g, texture, "extensions", JSON_OBJECT);
        char text[140];
        snprintf(text, sizeof text, "a texture in a format of %.80s",
                 other && other->first ? other->first->key : "an extension");
        note_loss(g, text);
        return false;
    }
    const struct json *view = gltf_item(g, image, "bufferView", &g->views);
    const char *uri = gltf_text(g, image, "uri");
    if (view) {
        struct gltf_bytes b = gltf_view(g, view);
        t->image = source_image(g->s, b.data, b.size);
        return true;
    }
    if (!uri)
        gltf_bad(g, image, "a \"uri\" or a \"bufferView\"");
    /* One copy of the bytes for each image: their address is what tells images apart. */
    struct gltf_bytes *kept = &g->image_bytes[image->index];
    if (!kept->data)
        *kept = gltf_data_uri(g, json_get(image, "uri"), uri);
    if (kept->data)
        t->image = source_image(g->s, kept->data, kept->size);
    else
        source_texture_file(g->s, t, gltf_uri_path(g, uri));
    return true;
}

/* The texture that object[key] says; false when there is none. */
static bool find_texture(struct gltf *g, const struct json *object, const char *key, uint32_t set,
                         bool data, struct source_texture *t)
{
    const struct json *info = gltf_get(g, object, key, JSON_OBJECT);
    const struct json *texture = info ? gltf_item(g, info, "index", &g->textures) : NULL;
    if (!texture)
        return false;
    const struct json *sampler = gltf_item(g, texture, "sampler", &g->samplers);
    memset(t, 0, sizeof *t);
    if (!read_image(g, texture, t))
        return false;
    t->wrap_u = wrap_of(g, sampler, "wrapS");
    t->wrap_v = wrap_of(g, sampler, "wrapT");
    t->nearest = gltf_number(g, sampler, "magFilter", 9729) == 9728;
    t->data = data;
    read_transform(g, info, t);
    uint32_t own = coordinates_of(g, info);
    bool directed = strcmp(key, "normalTexture") == 0 ||
                    strcmp(key, "clearcoatNormalTexture") == 0 ||
                    strcmp(key, "anisotropyTexture") == 0;
    if (own == set || gltf_move(g, g->material, own, set, directed, t))
        return true;
    char text[100];
    snprintf(text, sizeof text, "%.40s, by another set of coordinates than the base colour's", key);
    note_loss(g, text);
    return false;
}

/* Its name; NULL when there is none. */
static const char *texture_of(struct gltf *g, const struct json *object, const char *key,
                              uint32_t set, bool data)
{
    struct source_texture t;
    return find_texture(g, object, key, set, data, &t) ? source_texture(g->s, &t) : NULL;
}

/* All textureInfos of a material, those that show most first. */
enum { INFOS = 16 };
static int texture_infos(struct gltf *g, const struct json *material, const struct json *out[INFOS])
{
    static const struct {
        const char *extension, *key; /* NULL: of the material itself */
    } places[INFOS] = {{"KHR_materials_pbrSpecularGlossiness", "diffuseTexture"},
                       {NULL, "normalTexture"},
                       {NULL, "emissiveTexture"},
                       {"KHR_materials_pbrSpecularGlossiness", "specularGlossinessTexture"},
                       {"KHR_materials_transmission", "transmissionTexture"},
                       {"KHR_materials_clearcoat", "clearcoatTexture"},
                       {"KHR_materials_clearcoat", "clearcoatRoughnessTexture"},
                       {"KHR_materials_clearcoat", "clearcoatNormalTexture"},
                       {"KHR_materials_sheen", "sheenColorTexture"},
                       {"KHR_materials_sheen", "sheenRoughnessTexture"},
                       {"KHR_materials_specular", "specularColorTexture"},
                       {"KHR_materials_specular", "specularTexture"},
                       {"KHR_materials_anisotropy", "anisotropyTexture"}};
    const struct json *pbr = gltf_get(g, material, "pbrMetallicRoughness", JSON_OBJECT);
    int n = 0;
    out[n] = gltf_get(g, pbr, "baseColorTexture", JSON_OBJECT);
    n += out[n] != NULL;
    out[n] = gltf_get(g, pbr, "metallicRoughnessTexture", JSON_OBJECT);
    n += out[n] != NULL;
    for (int i = 0; i < INFOS && places[i].key && n < INFOS; i++) {
        const char *extension = places[i].extension;
        const struct json *at = extension ? gltf_extension(g, material, extension) : material;
        out[n] = gltf_get(g, at, places[i].key, JSON_OBJECT);
        n += out[n] != NULL;
    }
    return n;
}

/* The set that a material's textures go by: that of its base colour, or another one if all can move
 * to that one only. */
static uint32_t uv_set_of(struct gltf *g, const struct json *material)
{
    const struct json *infos[INFOS];
    int n = texture_infos(g, material, infos);
    for (int i = 0; i < n; i++) {
        uint32_t to = coordinates_of(g, infos[i]);
        bool all = true;
        for (int k = 0; k < n && all; k++)
            all = coordinates_of(g, infos[k]) == to ||
                  gltf_can_move(g, material, coordinates_of(g, infos[k]), to);
        if (all)
            return to;
    }
    return n ? coordinates_of(g, infos[0]) : 0;
}

/* ---- one material --------------------------------------------------------------------------- */

struct surface {
    struct gltf *g;
    const struct json *material;
    uint32_t set;
    struct json_writer *w;
    double base[4];
    const char *base_map;
    const char *fade; /* the opacity's texture in place of the base colour's; or NULL */
};

static void read_color(struct gltf *g, const struct json *object, const char *key, double out[3])
{
    gltf_numbers(g, object, key, 3, out);
    for (int c = 0; c < 3; c++)
        out[c] = clamp01(out[c]);
}

static void write_metallic_roughness(struct surface *u, const struct json *pbr)
{
    struct gltf *g = u->g;
    const char *map = texture_of(g, pbr, "metallicRoughnessTexture", u->set, true);
    source_color(u->w, "base_color", u->base, u->base_map);
    source_scalar(u->w, "metallic", clamp01(gltf_number(g, pbr, "metallicFactor", 1)), map, "b");
    source_scalar(u->w, "roughness", clamp01(gltf_number(g, pbr, "roughnessFactor", 1)), map, "g");
}

/* The maps, texel by texel. False if there are none that can be read together. */
static bool write_glossiness_maps(struct surface *u, const struct json *old)
{
    struct gltf *g = u->g;
    struct source_texture diffuse, gloss, base, data;
    struct derived_gloss d = {.glossiness = clamp01(gltf_number(g, old, "glossinessFactor", 1)),
                              .specular = {1, 1, 1}};
    read_color(g, old, "specularFactor", d.specular);
    memcpy(d.diffuse, u->base, sizeof d.diffuse);
    if (find_texture(g, old, "diffuseTexture", u->set, false, &diffuse))
        d.diffuse_map = &diffuse;
    if (find_texture(g, old, "specularGlossinessTexture", u->set, false, &gloss))
        d.gloss_map = &gloss;
    if (!derive_from_glossiness(g->s, &d, &base, &data))
        return false;
    const char *map = source_texture(g->s, &data);
    source_color(u->w, "base_color", (double[]){1, 1, 1}, source_texture(g->s, &base));
    source_scalar(u->w, "metallic", 1, map, "b");
    source_scalar(u->w, "roughness", 1, map, "g");
    return true;
}

static void write_specular_glossiness(struct surface *u, const struct json *old)
{
    struct gltf *g = u->g;
    double specular[3] = {1, 1, 1}, color[3];
    bool mapped = gltf_get(g, old, "specularGlossinessTexture", JSON_OBJECT) != NULL;
    if ((mapped || u->base_map) && write_glossiness_maps(u, old))
        return;
    if (mapped)
        note_loss(g, "maps of specular and glossiness that cannot be read, or lie differently from "
                     "those of the colour");
    read_color(g, old, "specularFactor", specular);
    double metallic = derived_metal(u->base, specular, color);
    bool plain = mapped || u->base_map;
    source_color(u->w, "base_color", plain ? u->base : color, u->base_map);
    json_key_number(u->w, "metallic", plain ? 0 : metallic);
    json_key_number(u->w, "roughness",
                    mapped ? 0.5 : 1 - clamp01(gltf_number(g, old, "glossinessFactor", 1)));
    if (u->base_map && !mapped)
        json_key_number(u->w, "specular", fmin(1, largest(specular) / 0.08));
}

/* F0 = min(((ior - 1)/(ior + 1))^2 color, 1) weight there; here 0.08 specular in its place. */
static void write_specular(struct surface *u)
{
    struct gltf *g = u->g;
    const struct json *specular = gltf_extension(g, u->material, "KHR_materials_specular"),
                      *ior = gltf_extension(g, u->material, "KHR_materials_ior");
    if (!specular && !ior)
        return;
    double n = gltf_number(g, ior, "ior", 1.5), color[3] = {1, 1, 1};
    double F0 = (n - 1) / (n + 1), value = F0 * F0 / 0.08;
    double beyond = value > 1 ? value : 1, weight = 1;
    const char *map = texture_of(g, specular, "specularColorTexture", u->set, false),
               *share = texture_of(g, specular, "specularTexture", u->set, true);
    gltf_numbers(g, specular, "specularColorFactor", 3, color);
    for (int c = 0; c < 3; c++)
        color[c] = source_clamp(color[c] * beyond, 0, 100);
    weight = clamp01(gltf_number(g, specular, "specularFactor", 1));
    if (value != 0.5)
        json_key_number(u->w, "specular", clamp01(value));
    if (map || color[0] != 1 || color[1] != 1 || color[2] != 1)
        source_color(u->w, "specular_color", color, map);
    if (share || weight != 1)
        source_scalar(u->w, "specular_weight", weight, share, "a");
}

/* "key": {"texture", "scale"} of a normalTextureInfo. */
static void put_normal_map(struct surface *u, const struct json *object, const char *from,
                           const char *key)
{
    const char *map = texture_of(u->g, object, from, u->set, true);
    if (!map)
        return;
    double scale = gltf_number(u->g, gltf_get(u->g, object, from, JSON_OBJECT), "scale", 1);
    json_key(u->w, key);
    json_begin_object(u->w);
    json_key_string(u->w, "texture", map);
    if (scale != 1)
        json_key_number(u->w, "scale", source_clamp(scale, -100, 100));
    json_end_object(u->w);
}

static void write_coat(struct surface *u)
{
    struct gltf *g = u->g;
    const struct json *e = gltf_extension(g, u->material, "KHR_materials_clearcoat");
    double coat = clamp01(gltf_number(g, e, "clearcoatFactor", 0));
    if (coat == 0)
        return;
    source_scalar(u->w, "coat", coat, texture_of(g, e, "clearcoatTexture", u->set, true), "r");
    source_scalar(u->w, "coat_roughness", clamp01(gltf_number(g, e, "clearcoatRoughnessFactor", 0)),
                  texture_of(g, e, "clearcoatRoughnessTexture", u->set, true), "g");
    put_normal_map(u, e, "clearcoatNormalTexture", "coat_normal_map");
}

static void write_sheen(struct surface *u)
{
    struct gltf *g = u->g;
    const struct json *e = gltf_extension(g, u->material, "KHR_materials_sheen");
    double color[3] = {0, 0, 0}, roughness = clamp01(gltf_number(g, e, "sheenRoughnessFactor", 0));
    read_color(g, e, "sheenColorFactor", color);
    if (largest(color) == 0)
        return;
    source_color(u->w, "fuzz", color, texture_of(g, e, "sheenColorTexture", u->set, false));
    source_scalar(u->w, "fuzz_roughness", roughness,
                  texture_of(g, e, "sheenRoughnessTexture", u->set, true), "a");
    if (roughness < 0.5)
        note_loss(g, "a roughness of sheen below 0.5: it counts as 0.5");
}

static void write_anisotropy(struct surface *u)
{
    struct gltf *g = u->g;
    const struct json *e = gltf_extension(g, u->material, "KHR_materials_anisotropy");
    double strength = clamp01(gltf_number(g, e, "anisotropyStrength", 0));
    if (strength == 0)
        return;
    double turns = gltf_number(g, e, "anisotropyRotation", 0) / (2 * M_PI);
    turns = isfinite(turns) ? turns - floor(turns) : 0;
    struct source_texture map, along;
    bool mapped = find_texture(g, e, "anisotropyTexture", u->set, true, &map);
    source_scalar(u->w, "anisotropy", strength, mapped ? source_texture(g->s, &map) : NULL, "b");
    if (mapped && derive_directions(g->s, &map, turns, &along)) {
        source_scalar(u->w, "rotation", 0.5, source_texture(g->s, &along), "r");
        return;
    }
    if (mapped)
        note_loss(g, "the directions in a map of anisotropy that cannot be read");
    json_key_number(u->w, "rotation", turns);
}

/* exp(-a distance) = color. */
static void write_absorption(struct surface *u, const struct json *volume)
{
    double color[3] = {1, 1, 1}, a[3];
    double distance = gltf_number(u->g, volume, "attenuationDistance", 0);
    read_color(u->g, volume, "attenuationColor", color);
    for (int c = 0; c < 3; c++)
        a[c] = distance > 0 ? fmin(-log(fmax(color[c], 1e-6)) / distance, 1e9) : 0;
    if (!(largest(a) > 0))
        return;
    json_key(u->w, "medium");
    json_begin_object(u->w);
    source_color(u->w, "absorption", a, NULL);
    json_end_object(u->w);
}

/* True if light goes through. */
static bool write_transmission(struct surface *u)
{
    struct gltf *g = u->g;
    const struct json *e = gltf_extension(g, u->material, "KHR_materials_transmission"),
                      *volume = gltf_extension(g, u->material, "KHR_materials_volume"),
                      *ior = gltf_extension(g, u->material, "KHR_materials_ior"),
                      *pbr = gltf_get(g, u->material, "pbrMetallicRoughness", JSON_OBJECT);
    double factor = clamp01(gltf_number(g, e, "transmissionFactor", 0));
    if (factor == 0)
        return false;
    source_scalar(u->w, "transmission", factor,
                  texture_of(g, e, "transmissionTexture", u->set, true), "r");
    json_key_number(u->w, "ior", source_clamp(gltf_number(g, ior, "ior", 1.5), 0.1, 10));
    if (gltf_number(g, volume, "thicknessFactor", 0) > 0) {
        const char *mode = gltf_text(g, u->material, "alphaMode");
        if (!mode || strcmp(mode, "MASK") != 0)
            write_absorption(u, volume);
        return true;
    }
    json_key_bool(u->w, "thin", true);
    if (gltf_number(g, pbr, "roughnessFactor", 1) > 0.1)
        note_loss(g, "the blur of what is seen through a thin rough wall");
    return true;
}

static void write_emission(struct surface *u)
{
    struct gltf *g = u->g;
    double emission[3] = {0, 0, 0};
    gltf_numbers(g, u->material, "emissiveFactor", 3, emission);
    double strength =
        gltf_number(g, gltf_extension(g, u->material, "KHR_materials_emissive_strength"),
                    "emissiveStrength", 1);
    for (int c = 0; c < 3; c++) {
        emission[c] = source_clamp(emission[c] * strength, 0, 1e9);
        emission[c] = emission[c] < 1e-12 ? 0 : emission[c];
    }
    const char *map = texture_of(g, u->material, "emissiveTexture", u->set, false);
    if (largest(emission) > 0)
        source_color(u->w, "emission", emission, map);
}

static void write_alpha(struct surface *u)
{
    struct gltf *g = u->g;
    const char *mode = gltf_text(g, u->material, "alphaMode");
    if (!mode || strcmp(mode, "OPAQUE") == 0)
        return;
    bool mask = strcmp(mode, "MASK") == 0;
    const char *map = u->fade ? u->fade : u->base_map;
    if (u->base[3] == 1 && !map)
        return;
    source_scalar(u->w, "opacity", u->base[3], map, u->fade ? "r" : "a");
    if (mask) {
        json_key_string(u->w, "alpha_mode", "mask");
        json_key_number(u->w, "alpha_cutoff",
                        clamp01(gltf_number(g, u->material, "alphaCutoff", 0.5)));
    }
}

/* Shown as it is: it gives off its colour and reflects nothing. */
static void write_unlit(struct surface *u, bool double_sided)
{
    json_key_string(u->w, "type", "diffuse");
    json_key_number(u->w, "reflectance", 0);
    if (largest(u->base) >= 1e-12)
        source_color(u->w, "emission", u->base, u->base_map);
    if (double_sided)
        json_key_bool(u->w, "emission_two_sided", true);
    else
        json_key_string(u->w, "sides", "single");
    write_alpha(u);
}

/* What has no light of its own but vertex colours: they tint what is reflected. */
static void write_unlit_colored(struct surface *u, bool double_sided)
{
    note_loss(u->g, "unlit with vertex colours: they are lit");
    json_key_string(u->w, "type", "diffuse");
    source_color(u->w, "reflectance", u->base, u->base_map);
    if (!double_sided)
        json_key_string(u->w, "sides", "single");
    write_alpha(u);
}

static void note_extension(struct gltf *g, const char *name)
{
    char text[140];
    snprintf(text, sizeof text, "the extension %.100s", name);
    note_loss(g, text);
}

static void note_unknown(struct surface *u)
{
    static const char *const known[] = {"KHR_materials_anisotropy",
                                        "KHR_materials_clearcoat",
                                        "KHR_materials_emissive_strength",
                                        "KHR_materials_ior",
                                        "KHR_materials_pbrSpecularGlossiness",
                                        "KHR_materials_sheen",
                                        "KHR_materials_specular",
                                        "KHR_materials_transmission",
                                        "KHR_materials_unlit",
                                        "KHR_materials_volume",
                                        NULL};
    const struct json *all = gltf_get(u->g, u->material, "extensions", JSON_OBJECT);
    for (const struct json *e = all ? all->first : NULL; e; e = e->next) {
        int i = 0;
        while (known[i] && strcmp(known[i], e->key) != 0)
            i++;
        if (!known[i])
            note_extension(u->g, e->key);
    }
    if (gltf_get(u->g, u->material, "occlusionTexture", JSON_OBJECT))
        source_note(u->g->s, "occlusion maps: light that is traced has its own");
}

/* Its opacity times alpha, and times the texture `fade`, or NULL. */
static void write_material(struct gltf *g, const struct json *material, double alpha,
                           const char *fade)
{
    struct surface u = {.g = g,
                        .material = material,
                        .set = g->uv_set[material->index],
                        .w = &g->s->materials,
                        .fade = fade,
                        .base = {1, 1, 1, 1}};
    const struct json *pbr = gltf_get(g, material, "pbrMetallicRoughness", JSON_OBJECT),
                      *old = gltf_extension(g, material, "KHR_materials_pbrSpecularGlossiness");
    g->material = material;
    gltf_numbers(g, old ? old : pbr, old ? "diffuseFactor" : "baseColorFactor", 4, u.base);
    for (int c = 0; c < 4; c++)
        u.base[c] = clamp01(u.base[c]);
    u.base[3] *= alpha;
    u.base_map =
        texture_of(g, old ? old : pbr, old ? "diffuseTexture" : "baseColorTexture", u.set, false);
    bool double_sided = gltf_flag(g, material, "doubleSided");
    note_unknown(&u);
    if (gltf_extension(g, material, "KHR_materials_unlit")) {
        if (g->colored[material->index])
            write_unlit_colored(&u, double_sided);
        else
            write_unlit(&u, double_sided);
        return;
    }
    json_key_string(u.w, "type", "principled");
    if (old)
        write_specular_glossiness(&u, old);
    else
        write_metallic_roughness(&u, pbr);
    write_specular(&u);
    write_anisotropy(&u);
    write_coat(&u);
    write_sheen(&u);
    bool clear = write_transmission(&u);
    write_emission(&u);
    write_alpha(&u);
    put_normal_map(&u, material, "normalTexture", "normal_map");
    if (!double_sided && !clear)
        json_key_string(u.w, "sides", "single");
}

static void find_colored(struct gltf *g)
{
    g->colored = source_alloc(g->s, g->materials.count, sizeof *g->colored);
    for (uint32_t i = 0; i < g->meshes.count; i++) {
        const struct json *all = gltf_get(g, g->meshes.at[i], "primitives", JSON_ARRAY);
        for (const struct json *v = all ? all->first : NULL; v; v = v->next) {
            const struct json *attributes = gltf_get(g, v, "attributes", JSON_OBJECT),
                              *material = gltf_item(g, v, "material", &g->materials);
            if (material && attributes && json_get(attributes, "COLOR_0"))
                g->colored[material->index] = true;
        }
    }
}

void gltf_read_materials(struct gltf *g)
{
    find_colored(g);
    g->variants = source_alloc(g->s, g->materials.count, sizeof *g->variants);
    g->coordinates = source_alloc(g->s, g->materials.count, sizeof *g->coordinates);
    g->uv_set = source_alloc(g->s, g->materials.count, sizeof *g->uv_set);
    g->image_bytes = source_alloc(g->s, g->images.count, sizeof *g->image_bytes);
    for (uint32_t i = 0; i < g->materials.count; i++) {
        const struct json *m = g->materials.at[i];
        g->uv_set[i] = uv_set_of(g, m);
        source_material_begin(g->s, gltf_text(g, m, "name"));
        write_material(g, m, 1, NULL);
        source_material_end(g->s);
    }
}

/* ---- the alpha of vertices ------------------------------------------------------------------ */

struct gltf_variant {
    struct gltf_variant *next;
    uint32_t number; /* of the material that is made */
    double alpha;
    bool fading;
};

static uint32_t variant_of(struct gltf *g, const struct json *material, double alpha,
                           const char *fade)
{
    struct gltf_variant **first = &g->variants[material->index], *v = *first;
    while (v && (v->alpha != alpha || v->fading != (fade != NULL)))
        v = v->next;
    if (v)
        return v->number;
    v = source_alloc(g->s, 1, sizeof *v);
    *v = (struct gltf_variant){*first, g->s->material_count, alpha, fade != NULL};
    *first = v;
    source_material_begin(g->s, gltf_text(g, material, "name"));
    write_material(g, material, alpha, fade);
    source_material_end(g->s);
    return v->number;
}

uint32_t gltf_faded_material(struct gltf *g, const struct json *material, double alpha)
{
    return variant_of(g, material, alpha, NULL);
}

/* Whether something in v goes by texture coordinates: an object with an index, or the directions of
 * u. */
static bool needs_coordinates(const struct json *v)
{
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY)
        return false;
    if (v->key && (strcmp(v->key, "KHR_materials_anisotropy") == 0 ||
                   (v->type == JSON_OBJECT && json_get(v, "index"))))
        return strcmp(v->key, "occlusionTexture") != 0;
    for (const struct json *c = v->first; c; c = c->next)
        if (needs_coordinates(c))
            return true;
    return false;
}

uint32_t gltf_fading_material(struct gltf *g, const struct json *material)
{
    static const uint8_t rgb[6] = {0, 0, 0, 255, 255, 255};
    struct source_texture ramp;
    const uint8_t *png;
    size_t size;
    if (needs_coordinates(material))
        return UINT32_MAX;
    if (!g->ramp.data) {
        if (image_encode_png(&g->s->arena, 2, 1, rgb, &png, &size, NULL) != STATUS_OK)
            return UINT32_MAX;
        g->ramp = (struct gltf_bytes){png, size};
    }
    memset(&ramp, 0, sizeof ramp);
    ramp.image = source_image(g->s, g->ramp.data, g->ramp.size);
    ramp.wrap_u = ramp.wrap_v = WRAP_CLAMP;
    ramp.data = 1;
    return variant_of(g, material, 1, source_texture(g->s, &ramp));
}

/* Between the middles of two texels, black and white, what is interpolated is alpha itself. */
void gltf_fading_coordinates(double alpha, float uv[2])
{
    uv[0] = (float)(0.25 + 0.5 * alpha);
    uv[1] = 0.5F;
}
