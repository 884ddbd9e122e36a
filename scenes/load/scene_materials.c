/* SPDX-License-Identifier: Apache-2.0 */
/* Textures, materials and the environment of a scene file, and the materials that models bring. */
#include "scene_loader.h"

#include <math.h>
#include <string.h>

static const double emission_max = 1e12, emission_min = 1e-12;

/* ---- lists that grow ------------------------------------------------------------------------ */

static void *grown(struct arena *a, void *items, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return items;
    size_t more = *cap ? *cap * 2 : 16;
    void *p = arena_alloc(a, more, size, 0);
    if (p && count)
        memcpy(p, items, count * size);
    if (p)
        *cap = more;
    return p;
}

static enum status add_texture(struct loader *l, const struct texture *t)
{
    struct texture *all =
        grown(&l->d.arena, l->textures, l->texture_count, &l->texture_cap, sizeof *all);
    char *name = arena_strdup(&l->scene->arena, t->name);
    if (!all || !name)
        return document_memory(&l->d);
    l->textures = all;
    all[l->texture_count] = *t;
    all[l->texture_count++].name = name;
    return STATUS_OK;
}

static enum status add_material(struct loader *l, const struct material *m)
{
    struct material *all =
        grown(&l->d.arena, l->materials, l->material_count, &l->material_cap, sizeof *all);
    char *name = arena_strdup(&l->scene->arena, m->name);
    if (!all || !name)
        return document_memory(&l->d);
    l->materials = all;
    all[l->material_count] = *m;
    all[l->material_count++].name = name;
    return STATUS_OK;
}

enum status keep_materials(struct loader *l)
{
    struct scene *s = l->scene;
    s->textures = ARENA_ARRAY(&s->arena, struct texture, l->texture_count);
    s->materials = ARENA_ARRAY(&s->arena, struct material, l->material_count);
    if (!s->textures || !s->materials)
        return document_memory(&l->d);
    s->texture_count = l->texture_count;
    s->material_count = l->material_count;
    if (l->texture_count)
        memcpy(s->textures, l->textures, l->texture_count * sizeof *s->textures);
    if (l->material_count)
        memcpy(s->materials, l->materials, l->material_count * sizeof *s->materials);
    return STATUS_OK;
}

/* ---- textures ------------------------------------------------------------------------------- */

static const char *const color_spaces[] = {"auto", "srgb", "linear", NULL};
static const char *const wraps[] = {TEXTURE_WRAP_LIST(LIST_TEXT) NULL};

static enum status read_wrap(struct document *d, const struct json *v, struct texture *t)
{
    int u = WRAP_REPEAT, w;
    if (v->type == JSON_ARRAY && v->count == 2) {
        TRY(read_choice(d, v->first, wraps, &u));
        TRY(read_choice(d, v->first->next, wraps, &w));
    } else {
        TRY(read_choice(d, v, wraps, &u));
        w = u;
    }
    t->wrap_u = (enum texture_wrap)u;
    t->wrap_v = (enum texture_wrap)w;
    return STATUS_OK;
}

static enum status read_image(struct loader *l, struct arena *a, const struct json *file,
                              enum color_space space, struct image *out)
{
    const char *path;
    struct error why;
    TRY(read_path(&l->d, file, &path));
    if (image_read_as(a, path, space, out, &why) != STATUS_OK)
        return file_failed(&l->d, file, &why);
    return STATUS_OK;
}

/* The same on demand, where that is wanted and possible. */
static enum status read_texture_image(struct loader *l, const struct json *file,
                                      enum color_space space, struct image *out)
{
    const char *path;
    struct error why;
    if (texture_memory_allowed()) {
        TRY(read_path(&l->d, file, &path));
        const enum status st = cache_image(&l->scene->cache, path, space, out, &why);
        if (st != STATUS_UNSUPPORTED)
            return st == STATUS_OK ? st : file_failed(&l->d, file, &why);
        shader_images_note_whole(&l->scene->shader_images, path);
    }
    return read_image(l, &l->scene->arena, file, space, out);
}

/* Right angles are exact. */
static void turn_texture(struct texture *t, double degrees)
{
    double d = remainder(degrees, 360);
    if (d == 0)
        return;
    double r = d * (M_PI / 180);
    t->turn[0] = fabs(d) == 90 ? 0 : (float)cos(r);
    t->turn[1] = fabs(d) == 180 ? 0 : (float)sin(r);
}

enum status load_texture(struct loader *l, const struct json *v, const char *name)
{
    static const char *const keys[] = {"image", "file",   "color_space", "wrap", "filter",
                                       "scale", "offset", "rotation",    NULL};
    static const char *const filters[] = {TEXTURE_FILTER_LIST(LIST_TEXT) NULL};
    struct document *d = &l->d;
    struct texture t = {.name = name};
    int space = COLOR_AUTO, filter = FILTER_BILINEAR;
    double scale[2] = {1, 1}, offset[2] = {0, 0}, degrees = 0;
    const struct json *file, *wrap;
    /* what models bring may be inside them */
    const struct json *image = l->bringing ? json_get(v, "image") : NULL;
    TRY(read_object(d, v, l->bringing ? keys : keys + 1));
    if (!image)
        TRY(read_required(d, v, "file", "the path of an image", &file));
    TRY(field_choice(d, v, "color_space", color_spaces, &space));
    TRY(field_choice(d, v, "filter", filters, &filter));
    TRY(field_vector(d, v, "scale", 2, -1e6, 1e6, scale));
    TRY(field_vector(d, v, "offset", 2, -1e6, 1e6, offset));
    TRY(field_number(d, v, "rotation", -36000, 36000, &degrees));
    if ((wrap = json_get(v, "wrap")))
        TRY(read_wrap(d, wrap, &t));
    t.filter = (enum texture_filter)filter;
    for (int i = 0; i < 2; i++) {
        t.scale[i] = (float)scale[i];
        t.offset[i] = (float)offset[i];
    }
    turn_texture(&t, degrees);
    if (image)
        TRY(bring_image(l, image, (enum color_space)space, &t.image));
    else
        TRY(read_texture_image(l, file, (enum color_space)space, &t.image));
    return add_texture(l, &t);
}

enum status load_textures(struct loader *l, const struct json *v)
{
    if (!v)
        return STATUS_OK;
    if (v->type != JSON_OBJECT)
        return expected(&l->d, v, "an object of textures by name");
    for (const struct json *t = v->first; t; t = t->next) {
        if (cancel_requested)
            return error_msg(l->d.err, STATUS_CANCELLED, "stopped while loading textures");
        TRY(load_texture(l, t, t->key));
    }
    return STATUS_OK;
}

/* v names an entry of the top-level object `list`: its position there. */
static enum status find_named(struct loader *l, const struct json *v, const char *list,
                              const char *kind, uint32_t *out)
{
    struct document *d = &l->d;
    const char *name;
    TRY(read_string(d, v, &name));
    const struct json *all = json_get(l->root, list);
    const struct json *found = all && all->type == JSON_OBJECT ? json_get(all, name) : NULL;
    if (found) {
        *out = found->index;
        return STATUS_OK;
    }
    const char *near = NULL;
    if (all && all->type == JSON_OBJECT && all->count) {
        const char **names = ARENA_ARRAY(&d->arena, const char *, all->count);
        size_t n = 0;
        if (!names)
            return document_memory(d);
        for (const struct json *m = all->first; m; m = m->next)
            names[n++] = m->key;
        near = nearest_name(name, names, n);
    }
    if (near)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "no %s \"%.60s\" in \"%s\"; did you mean \"%s\"?", kind, name, list,
                          near);
    return json_error(d->err, d->file, v, STATUS_TYPE,
                      "no %s \"%.60s\", expected the name of an entry in \"%s\"", kind, name, list);
}

enum status find_texture(struct loader *l, const struct json *name, uint32_t *out)
{
    if (l->bringing)
        return bring_texture(l, name, out);
    return find_named(l, name, "textures", "texture", out);
}

/* ---- materials ------------------------------------------------------------------------------ */

/* A number, [r, g, b], up to `most`, or {"texture": name, "scale": number or [r, g, b]}. */
static enum status field_color_to(struct loader *l, const struct json *object, const char *key,
                                  double most, struct color_input *out)
{
    static const char *const keys[] = {"texture", "scale", NULL};
    struct document *d = &l->d;
    const struct json *v = json_get(object, key), *name;
    if (!v)
        return STATUS_OK;
    if (v->type != JSON_OBJECT) {
        if (v->type != JSON_NUMBER && v->type != JSON_ARRAY)
            return expected(d, v, "a number, [r, g, b] or {\"texture\": ...}");
        return read_rgb(d, v, 0, most, out->value);
    }
    struct color_input c = {{1, 1, 1}, -1};
    uint32_t index = 0;
    TRY(read_object(d, v, keys));
    TRY(read_required(d, v, "texture", "the name of a texture", &name));
    TRY(find_texture(l, name, &index));
    TRY(field_rgb(d, v, "scale", 0, 1e6, c.value));
    c.texture = (int32_t)index;
    *out = c;
    return STATUS_OK;
}

static enum status field_color(struct loader *l, const struct json *object, const char *key,
                               struct color_input *out)
{
    return field_color_to(l, object, key, 1, out);
}

/* A number in [lo, hi], or {"texture": name, "channel": "r", "scale": number}. */
static enum status field_scalar_in(struct loader *l, const struct json *object, const char *key,
                                   double lo, double hi, struct scalar_input *out)
{
    static const char *const keys[] = {"texture", "channel", "scale", NULL};
    static const char *const channels[] = {"r", "g", "b", "a", NULL};
    struct document *d = &l->d;
    const struct json *v = json_get(object, key), *name;
    if (!v)
        return STATUS_OK;
    if (v->type != JSON_OBJECT) {
        if (v->type != JSON_NUMBER)
            return expected(d, v, "a number or {\"texture\": ...}");
        return field_float(d, object, key, lo, hi, &out->value);
    }
    struct scalar_input c = {.value = 1, .texture = -1};
    int channel = 0;
    uint32_t index = 0;
    TRY(read_object(d, v, keys));
    TRY(read_required(d, v, "texture", "the name of a texture", &name));
    TRY(find_texture(l, name, &index));
    TRY(field_choice(d, v, "channel", channels, &channel));
    TRY(field_float(d, v, "scale", 0, 1e6, &c.value));
    c.texture = (int32_t)index;
    c.channel = (uint32_t)channel;
    *out = c;
    return STATUS_OK;
}

static enum status field_scalar(struct loader *l, const struct json *object, const char *key,
                                struct scalar_input *out)
{
    return field_scalar_in(l, object, key, 0, 1, out);
}

static enum status field_ior(struct loader *l, const struct json *object, struct scalar_input *out)
{
    return field_scalar_in(l, object, "ior", 0.1, 10, out);
}

/* Radiance, or {"texture": name, "scale": radiance}: the texture's texels times it. */
static enum status load_emission(struct loader *l, const struct json *v, struct material *m)
{
    static const char *const keys[] = {"texture", "scale", NULL};
    struct document *d = &l->d;
    const struct json *name, *scale;
    uint32_t index = 0;
    if (v->type != JSON_OBJECT) {
        if (v->type != JSON_NUMBER && v->type != JSON_ARRAY)
            return expected(d, v, "a number, [r, g, b] or {\"texture\": ...}");
        return read_emission(d, v, m->emission);
    }
    TRY(read_object(d, v, keys));
    TRY(read_required(d, v, "texture", "the name of a texture", &name));
    TRY(find_texture(l, name, &index));
    for (int c = 0; c < 3; c++)
        m->emission[c] = 1;
    if ((scale = json_get(v, "scale")))
        TRY(read_emission(d, scale, m->emission));
    double largest[3];
    image_largest(&l->textures[index].image, largest);
    for (int c = 0; c < 3; c++)
        if ((double)m->emission[c] * largest[c] > emission_max)
            return json_error(d->err, d->file, v, STATUS_RANGE,
                              "the brightest texel gives a radiance of %.9g, expected at most %g",
                              (double)m->emission[c] * largest[c], emission_max);
    m->emission_texture = index + 1;
    return STATUS_OK;
}

static struct scalar_input scalar(float value)
{
    return (struct scalar_input){.value = value, .texture = -1};
}

static struct material material_default(enum material_type type)
{
    struct material m = {.type = type, .base = {{0.5F, 0.5F, 0.5F}, -1}, .eta = {1.5F, 1.5F, 1.5F}};
#define NONE(name) m.name = scalar(0);
    MATERIAL_LIST_SCALARS(NONE)
#undef NONE
    m.roughness = scalar(0.5F);
    m.metallic = scalar(0);
    m.specular = scalar(0.5F);
    m.ior = scalar(1.5F);
    m.sheen_tint = scalar(0.5F);
    m.clearcoat_gloss = scalar(1);
    m.opacity = scalar(1);
    m.layers = (struct material_layers){.specular_color = {{1, 1, 1}, -1},
                                        .fuzz = {{0, 0, 0}, -1},
                                        .specular_weight = scalar(1),
                                        .coat = scalar(0),
                                        .coat_roughness = scalar(0),
                                        .fuzz_roughness = scalar(0.5F)};
    return m;
}

static bool is_number(const struct scalar_input *in, float value)
{
    return in->texture < 0 && in->value == value;
}

/* Zeroed scalars count as absent: what is 0 stays 0, textured or not. */
static bool is_used(const struct scalar_input *in) { return in->value != 0; }

bool material_is_list(const struct material *m)
{
    return !m->shading && material_inputs_are_list(m);
}

bool material_inputs_are_list(const struct material *m)
{
    if (m->alpha_mode == ALPHA_BLEND && !is_number(&m->opacity, 1))
        return true;
    switch (m->type) {
    case MATERIAL_DIFFUSE:
    case MATERIAL_MIRROR:
        return false;
    case MATERIAL_DIELECTRIC:
        return m->ior.texture >= 0;
    case MATERIAL_ROUGH_CONDUCTOR:
        return is_used(&m->anisotropy);
    case MATERIAL_PRINCIPLED:
        return m->specular.texture >= 0 || is_used(&m->specular_tint) || is_used(&m->anisotropy) ||
               is_used(&m->sheen) || is_used(&m->clearcoat) || is_used(&m->transmission) ||
               is_used(&m->subsurface) || m->layers.present;
    default:
        return true;
    }
}

/* ---- metals --------------------------------------------------------------------------------- */

static const struct metal {
    const char *name;
    float eta[3], k[3];
} metals[] = {
#define METAL(name, nr, ng, nb, kr, kg, kb, source) {#name, {nr, ng, nb}, {kr, kg, kb}},
#include "metals.def"
#undef METAL
};
static const char *const metal_names[] = {
#define METAL(name, nr, ng, nb, kr, kg, kb, source) #name,
#include "metals.def"
#undef METAL
    NULL};

static enum status load_index(struct loader *l, const struct json *v, struct material *m)
{
    struct document *d = &l->d;
    const struct json *named = json_get(v, "metal"), *at;
    if (named) {
        int i;
        if ((at = json_get(v, "eta")) || (at = json_get(v, "k")))
            return json_error(d->err, d->file, at, STATUS_TYPE,
                              "\"metal\" stands for \"eta\" and \"k\": expected one or the others");
        TRY(read_choice(d, named, metal_names, &i));
        memcpy(m->eta, metals[i].eta, sizeof m->eta);
        memcpy(m->k, metals[i].k, sizeof m->k);
        return STATUS_OK;
    }
    TRY(read_required(d, v, "eta",
                      "the real part of the index of refraction (or \"metal\": a name)", &at));
    TRY(read_rgb(d, at, 1e-3, 100, m->eta));
    TRY(read_required(d, v, "k", "the imaginary part of the index of refraction", &at));
    return read_rgb(d, at, 0, 100, m->k);
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* What the base of a shader's material does not take first, then "type" and what it does. */
#define COMMON_KEYS                                                                                \
    "emission", "emission_two_sided", "opacity", "alpha_mode", "alpha_cutoff", SURFACE_KEYS,       \
        "normal_map"
enum { COMMON_COUNT = 8 };

static const char *const material_types[] = {MATERIAL_TYPE_LIST(LIST_TEXT) "shader", "interface",
                                             NULL};
enum { TYPE_SHADER = MATERIAL_TYPE_COUNT, TYPE_INTERFACE };
const char *material_type_name(enum material_type t) { return material_types[t]; }
static const char *const interface_keys[] = {"type", "medium", NULL};
static const char *const diffuse_keys[] = {COMMON_KEYS, "type", "reflectance", NULL};
static const char *const conductor_keys[] = {COMMON_KEYS, "type",  "anisotropy", "rotation", "eta",
                                             "k",         "metal", "roughness",  NULL};
static const char *const ior_keys[] = {COMMON_KEYS, "type", "ior", NULL};
#define LAYER_KEYS                                                                                 \
    "specular_color", "specular_weight", "coat", "coat_roughness", "coat_normal_map", "fuzz",      \
        "fuzz_roughness", "thin"
static const char *const layer_keys[] = {LAYER_KEYS, NULL};
static const char *const principled_keys[] = {
    COMMON_KEYS,  "type",      "specular_tint",   "anisotropy",   "rotation", "sheen",
    "sheen_tint", "clearcoat", "clearcoat_gloss", "transmission", "ior",      "base_color",
    "metallic",   "roughness", "specular",        "subsurface",   LAYER_KEYS, NULL};
static const char *const oren_nayar_keys[] = {COMMON_KEYS, "type", "reflectance", "sigma", NULL};
static const char *const rough_dielectric_keys[] = {COMMON_KEYS, "type", "ior", "roughness", NULL};
static const char *const sheen_keys[] = {COMMON_KEYS, "type", "reflectance", "roughness", NULL};
static const char *const *const material_keys[MATERIAL_TYPE_COUNT] = {
    [MATERIAL_DIFFUSE] = diffuse_keys,
    [MATERIAL_MIRROR] = diffuse_keys,
    [MATERIAL_ROUGH_CONDUCTOR] = conductor_keys,
    [MATERIAL_DIELECTRIC] = ior_keys,
    [MATERIAL_PRINCIPLED] = principled_keys,
    [MATERIAL_OREN_NAYAR] = oren_nayar_keys,
    [MATERIAL_ROUGH_DIELECTRIC] = rough_dielectric_keys,
    [MATERIAL_THIN_DIELECTRIC] = ior_keys,
    [MATERIAL_SHEEN] = sheen_keys,
};

/* Section 28, Layers. */
static enum status load_layers(struct loader *l, const struct json *v, struct material *m)
{
    static const char *const rivals[][2] = {{"coat", "clearcoat"}, {"fuzz", "sheen"}};
    struct document *d = &l->d;
    struct material_layers *y = &m->layers;
    const struct json *map = json_get(v, "coat_normal_map"), *at;
    for (int i = 0; layer_keys[i]; i++)
        y->present = y->present || json_get(v, layer_keys[i]);
    for (int i = 0; i < 2; i++)
        if (json_get(v, rivals[i][0]) && (at = json_get(v, rivals[i][1])))
            return json_error(d->err, d->file, at, STATUS_TYPE,
                              "\"%s\" and \"%s\" are two models of one layer: expected one of them",
                              rivals[i][0], rivals[i][1]);
    TRY(field_color_to(l, v, "specular_color", 100, &y->specular_color));
    TRY(field_scalar(l, v, "specular_weight", &y->specular_weight));
    TRY(field_scalar(l, v, "coat", &y->coat));
    TRY(field_scalar(l, v, "coat_roughness", &y->coat_roughness));
    TRY(field_color(l, v, "fuzz", &y->fuzz));
    TRY(field_scalar(l, v, "fuzz_roughness", &y->fuzz_roughness));
    TRY(field_bool(d, v, "thin", &y->thin));
    return map ? load_normal_map(l, map, &y->coat_normal_map) : STATUS_OK;
}

static enum status load_principled(struct loader *l, const struct json *v, struct material *m)
{
    TRY(field_color(l, v, "base_color", &m->base));
    TRY(field_scalar(l, v, "metallic", &m->metallic));
    TRY(field_scalar(l, v, "roughness", &m->roughness));
    TRY(field_scalar(l, v, "specular", &m->specular));
    TRY(field_scalar(l, v, "specular_tint", &m->specular_tint));
    TRY(field_scalar(l, v, "anisotropy", &m->anisotropy));
    TRY(field_scalar(l, v, "rotation", &m->rotation));
    TRY(field_scalar(l, v, "sheen", &m->sheen));
    TRY(field_scalar(l, v, "sheen_tint", &m->sheen_tint));
    TRY(field_scalar(l, v, "clearcoat", &m->clearcoat));
    TRY(field_scalar(l, v, "clearcoat_gloss", &m->clearcoat_gloss));
    TRY(field_scalar(l, v, "transmission", &m->transmission));
    TRY(field_scalar(l, v, "subsurface", &m->subsurface));
    TRY(load_layers(l, v, m));
    return field_ior(l, v, &m->ior);
}

/* The inputs of a material, or of the base of a shader's. */
static enum status load_inputs(struct loader *l, const struct json *v, struct material *m)
{
    switch (m->type) {
    case MATERIAL_MIRROR:
        for (int c = 0; c < 3; c++)
            m->base.value[c] = 1;
        return field_color(l, v, "reflectance", &m->base);
    case MATERIAL_ROUGH_CONDUCTOR:
        TRY(load_index(l, v, m));
        TRY(field_scalar(l, v, "anisotropy", &m->anisotropy));
        TRY(field_scalar(l, v, "rotation", &m->rotation));
        return field_scalar(l, v, "roughness", &m->roughness);
    case MATERIAL_DIELECTRIC:
    case MATERIAL_THIN_DIELECTRIC:
        return field_ior(l, v, &m->ior);
    case MATERIAL_ROUGH_DIELECTRIC:
        TRY(field_ior(l, v, &m->ior));
        return field_scalar(l, v, "roughness", &m->roughness);
    case MATERIAL_PRINCIPLED:
        return load_principled(l, v, m);
    case MATERIAL_OREN_NAYAR:
        TRY(field_scalar_in(l, v, "sigma", 0, 90, &m->sigma));
        m->sigma.value = (float)((double)m->sigma.value * (M_PI / 180));
        return field_color(l, v, "reflectance", &m->base);
    case MATERIAL_SHEEN:
        TRY(field_scalar(l, v, "roughness", &m->roughness));
        return field_color(l, v, "reflectance", &m->base);
    default:
        return field_color(l, v, "reflectance", &m->base);
    }
}

static enum status load_base(struct loader *l, const struct json *v, struct material *m)
{
    struct document *d = &l->d;
    const struct json *type_at;
    int type;
    if (v->type != JSON_OBJECT)
        return expected(d, v, "an object");
    TRY(read_required(d, v, "type", "the type of the material", &type_at));
    TRY(read_choice(d, type_at, material_types, &type));
    if (type >= MATERIAL_TYPE_COUNT)
        return expected(d, type_at,
                        "a material without a shader, of type \"diffuse\", "
                        "\"principled\" ...");
    TRY(read_object(d, v, material_keys[type] + COMMON_COUNT));
    *m = material_default((enum material_type)type);
    TRY(load_inputs(l, v, m));
    for (int i = 0; m->layers.present && layer_keys[i]; i++)
        if (json_get(v, layer_keys[i]))
            return json_error(d->err, d->file, json_get(v, layer_keys[i]), STATUS_TYPE,
                              "the base of a shader's material has no layers, expected no \"%s\"",
                              layer_keys[i]);
    return STATUS_OK;
}

static enum status load_opacity(struct loader *l, const struct json *v, struct material *m)
{
    static const char *const modes[] = {ALPHA_MODE_LIST(LIST_TEXT) NULL};
    int mode = ALPHA_BLEND;
    TRY(field_scalar(l, v, "opacity", &m->opacity));
    TRY(field_choice(&l->d, v, "alpha_mode", modes, &mode));
    m->alpha_mode = (enum alpha_mode)mode;
    const struct json *cutoff = json_get(v, "alpha_cutoff");
    if (cutoff && m->alpha_mode != ALPHA_MASK)
        return json_error(l->d.err, l->d.file, cutoff, STATUS_TYPE,
                          "a cutoff is for masks, expected \"alpha_mode\": \"mask\"");
    m->alpha_cutoff = 0.5F;
    return field_float(&l->d, v, "alpha_cutoff", 0, 1, &m->alpha_cutoff);
}

enum status load_material(struct loader *l, const struct json *v, const char *name)
{
    struct document *d = &l->d;
    const struct json *type_at, *base;
    struct material m;
    int type;
    if (v->type != JSON_OBJECT)
        return expected(d, v, "an object");
    TRY(read_required(d, v, "type", "the type of the material", &type_at));
    TRY(read_choice(d, type_at, material_types, &type));
    if (type == TYPE_INTERFACE) {
        TRY(read_object(d, v, interface_keys));
        m = material_default(MATERIAL_DIFFUSE);
        m.interface = true;
    } else if (type == TYPE_SHADER) {
        m = material_default(MATERIAL_DIFFUSE);
        if ((base = json_get(v, "base")))
            TRY(load_base(l, base, &m));
        TRY(load_shading(l, v, &m));
    } else {
        TRY(read_object(d, v, material_keys[type]));
        m = material_default((enum material_type)type);
        TRY(load_inputs(l, v, &m));
        TRY(load_opacity(l, v, &m));
    }
    m.name = name;
    const struct json *emission = json_get(v, "emission");
    if (emission)
        TRY(load_emission(l, emission, &m));
    TRY(field_bool(d, v, "emission_two_sided", &m.emission_two_sided));
    TRY(load_surface(l, v, &m));
    return add_material(l, &m);
}

enum status load_materials(struct loader *l, const struct json *v)
{
    if (!v)
        return STATUS_OK;
    if (v->type != JSON_OBJECT)
        return expected(&l->d, v, "an object of materials by name");
    for (const struct json *m = v->first; m; m = m->next)
        TRY(load_material(l, m, m->key));
    return STATUS_OK;
}

enum status find_material(struct loader *l, const struct json *name, uint32_t *out)
{
    return find_named(l, name, "materials", "material", out);
}

/* ---- environment ---------------------------------------------------------------------------- */

/* World directions to the map's: the environment turned by `degrees` about the up axis, and that
 * axis to +y; then left and right exchanged, if it is mirrored. */
static void environment_frame(struct environment *e, double degrees, bool up_is_z, bool mirrored)
{
    static const struct transform z_to_y = {{{1, 0, 0, 0}, {0, 0, 1, 0}, {0, -1, 0, 0}}};
    struct transform turn = transform_rotate((double[3]){0, 1, 0}, -degrees * (M_PI / 180));
    if (up_is_z)
        turn = transform_after(&turn, &z_to_y);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            e->to_local[3 * i + j] = (float)(mirrored && i == 0 ? -turn.m[i][j] : turn.m[i][j]);
}

enum status load_environment(struct loader *l, const struct json *v)
{
    static const char *const keys[] = {"radiance", "file",   "scale",       "rotation",
                                       "up",       "mirror", "color_space", NULL};
    static const char *const ups[] = {"y", "z", NULL};
    struct document *d = &l->d;
    struct environment e = {.type = ENVIRONMENT_NONE};
    double degrees = 0;
    int up = 0, space = COLOR_AUTO;
    bool mirrored = false;
    environment_frame(&e, 0, false, false);
    if (!v) {
        l->scene->environment = e;
        return STATUS_OK;
    }
    TRY(read_object(d, v, keys));
    const struct json *radiance = json_get(v, "radiance"), *file = json_get(v, "file");
    if (!radiance == !file)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "found %s \"radiance\" and \"file\", expected one of them",
                          radiance ? "both" : "neither");
    if (radiance) {
        const struct json *m = v->first->next ? v->first->next : NULL;
        if (m || v->first != radiance)
            return json_error(d->err, d->file, v->first == radiance ? m : v->first, STATUS_TYPE,
                              "only \"radiance\" is expected in a constant environment");
        TRY(read_emission(d, radiance, e.radiance));
        e.type = ENVIRONMENT_CONSTANT;
        l->scene->environment = e;
        return STATUS_OK;
    }
    for (int c = 0; c < 3; c++)
        e.radiance[c] = 1;
    TRY(field_rgb(d, v, "scale", 0, 1e6, e.radiance));
    TRY(field_number(d, v, "rotation", -36000, 36000, &degrees));
    TRY(field_choice(d, v, "up", ups, &up));
    TRY(field_bool(d, v, "mirror", &mirrored));
    TRY(field_choice(d, v, "color_space", color_spaces, &space));
    environment_frame(&e, degrees, up == 1, mirrored);
    struct image raw;
    struct arena scratch = {0};
    enum status s = read_image(l, &scratch, file, (enum color_space)space, &raw);
    if (s == STATUS_OK && image_to_rgb32f(&l->scene->arena, &raw, &e.map) != STATUS_OK)
        s = document_memory(d);
    arena_free(&scratch);
    TRY(s);
    double largest = 0;
    const float *texels = e.map.texels;
    for (size_t i = 0, n = (size_t)e.map.width * e.map.height * 3; i < n; i++)
        largest = fmax(largest, (double)texels[i] * (double)e.radiance[i % 3]);
    if (largest > emission_max || (largest > 0 && largest < emission_min))
        return json_error(d->err, d->file, file, STATUS_RANGE,
                          "the brightest texel gives a radiance of %.9g, expected 0 or %g to %g",
                          largest, emission_min, emission_max);
    e.type = ENVIRONMENT_MAP;
    l->scene->environment = e;
    return STATUS_OK;
}
