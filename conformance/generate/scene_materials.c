/* SPDX-License-Identifier: Apache-2.0 */
/* Textures and materials of scenes at random, their media and what they emit. */
#include "scene_generator.h"

#include <string.h>

/* ---- textures ------------------------------------------------------------------------------- */

static const char *const picture_names[] = {"blocks.exr", "leaf.exr",         "tile.png",
                                            "bumps.png",  "town-cobbles.png", "town-facade.png",
                                            "veins.jpg",  "town-gloss.png",   NULL};

const char *const scene_color_spaces[] = {"auto", "srgb", "linear", NULL};

void scene_put_texture(struct scene_generator *g, uint32_t i)
{
    static const char *const wraps[] = {"repeat", "mirror", "clamp", NULL};
    static const char *const filters[] = {"bilinear", "nearest", NULL};
    char key[16];
    (void)snprintf(key, sizeof key, "t%u", i);
    json_key(&g->w, key);
    json_begin_object(&g->w);
    char file[4096];
    (void)snprintf(file, sizeof file, "%s/%s", g->pictures,
                   i == 0 ? "bumps.png" : scene_word(g, picture_names));
    json_key_string(&g->w, "file", file);
    if (i == 0) /* the one that normal maps read */
        json_key_string(&g->w, "color_space", "linear");
    else if (scene_chance(g, 40))
        json_key_string(&g->w, "color_space", scene_word(g, scene_color_spaces));
    if (scene_chance(g, 50))
        json_key_string(&g->w, "filter", scene_word(g, filters));
    if (scene_chance(g, 30)) {
        json_key_string(&g->w, "wrap", scene_word(g, wraps));
    } else if (scene_chance(g, 40)) {
        json_key(&g->w, "wrap");
        json_begin_array(&g->w);
        json_string(&g->w, scene_word(g, wraps));
        json_string(&g->w, scene_word(g, wraps));
        json_end_array(&g->w);
    }
    if (scene_chance(g, 50)) {
        const double s[2] = {scene_uniform(g, -3, 6), scene_decades(g, 0.1, 100)};
        scene_put_vector(g, "scale", s, 2);
    }
    if (scene_chance(g, 30)) {
        const double o[2] = {scene_uniform(g, -1, 1), scene_uniform(g, -4, 4)};
        scene_put_vector(g, "offset", o, 2);
    }
    if (scene_chance(g, 30))
        json_key_number(&g->w, "rotation",
                        scene_chance(g, 50) ? 90.0 * (1 + scene_roll(g, 3))
                                            : scene_uniform(g, -180, 180));
    json_end_object(&g->w);
}

static void put_texture_name(struct scene_generator *g, uint32_t i)
{
    char name[16];
    (void)snprintf(name, sizeof name, "t%u", i);
    json_key_string(&g->w, "texture", name);
}

/* ---- inputs of materials -------------------------------------------------------------------- */

static void put_textured_color(struct scene_generator *g, const char *key)
{
    json_key(&g->w, key);
    json_begin_object(&g->w);
    put_texture_name(g, scene_roll(g, g->textures));
    if (scene_chance(g, 40)) {
        const double s[3] = {scene_unit(g), scene_unit(g), scene_uniform(g, 0, 2)};
        scene_put_vector(g, "scale", s, 3);
    }
    json_end_object(&g->w);
}

void scene_put_color(struct scene_generator *g, const char *key)
{
    if (g->textures && scene_chance(g, 25)) {
        put_textured_color(g, key);
    } else if (scene_chance(g, 30)) {
        json_key_number(&g->w, key, scene_unit(g));
    } else {
        const double c[3] = {scene_unit(g), scene_unit(g), scene_unit(g)};
        scene_put_vector(g, key, c, 3);
    }
}

/* A scalar in [lo, hi]. */
void scene_put_scalar(struct scene_generator *g, const char *key, double lo, double hi)
{
    static const char *const channels[] = {"r", "g", "b", "a", NULL};
    if (g->textures && scene_chance(g, 15)) {
        json_key(&g->w, key);
        json_begin_object(&g->w);
        put_texture_name(g, scene_roll(g, g->textures));
        if (scene_chance(g, 60))
            json_key_string(&g->w, "channel", scene_word(g, channels));
        if (scene_chance(g, 40))
            json_key_number(&g->w, "scale", scene_uniform(g, 0, hi > 1 ? hi : 1.5));
        json_end_object(&g->w);
    } else {
        json_key_number(&g->w, key,
                        scene_chance(g, 15)   ? lo
                        : scene_chance(g, 10) ? hi
                                              : scene_uniform(g, lo, hi));
    }
}

/* A colour of which a channel may be above 1. */
static void put_bright(struct scene_generator *g, const char *key)
{
    const double c[3] = {scene_uniform(g, 0, 2), scene_unit(g), scene_unit(g)};
    if (g->textures && scene_chance(g, 30))
        put_textured_color(g, key);
    else if (scene_chance(g, 30))
        json_key_number(&g->w, key, c[0]);
    else
        scene_put_vector(g, key, c, 3);
}

static void maybe_scalar(struct scene_generator *g, unsigned percent, const char *key, double lo,
                         double hi)
{
    if (scene_chance(g, percent))
        scene_put_scalar(g, key, lo, hi);
}

static void put_ior(struct scene_generator *g)
{
    if (scene_chance(g, 80))
        scene_put_scalar(g, "ior", scene_chance(g, 20) ? 0.1 : 1, scene_chance(g, 20) ? 10 : 2.5);
}

static void put_conductor(struct scene_generator *g)
{
    static const char *const metals[] = {"aluminium", "chromium", "cobalt", "copper",
                                         "gold",      "iron",     "nickel", "palladium",
                                         "silver",    "titanium", NULL};
    if (scene_chance(g, 60)) {
        json_key_string(&g->w, "metal", scene_word(g, metals));
    } else {
        const double n[3] = {scene_decades(g, 0.001, 100), scene_uniform(g, 0.1, 4),
                             scene_uniform(g, 0.1, 4)};
        const double k[3] = {scene_chance(g, 20) ? 0 : scene_decades(g, 0.01, 100),
                             scene_uniform(g, 0, 8), scene_uniform(g, 0, 8)};
        scene_put_vector(g, "eta", n, 3);
        scene_put_vector(g, "k", k, 3);
    }
    maybe_scalar(g, 80, "roughness", 0, 1);
    maybe_scalar(g, 40, "anisotropy", 0, 1);
    maybe_scalar(g, 30, "rotation", 0, 1);
}

static void put_normal_map(struct scene_generator *g, const char *key)
{
    json_key(&g->w, key);
    json_begin_object(&g->w);
    put_texture_name(g, 0);
    if (scene_chance(g, 50))
        json_key_number(&g->w, "scale", scene_uniform(g, -3, 3));
    json_end_object(&g->w);
}

static void put_principled(struct scene_generator *g, bool base, bool hollow)
{
    const bool layered = !base && scene_chance(g, 40), coat = layered && scene_chance(g, 60),
               fuzz = layered && scene_chance(g, 60);
    if (scene_chance(g, 80))
        scene_put_color(g, "base_color");
    static const char *const unit[] = {"metallic",   "roughness", "specular", "specular_tint",
                                       "anisotropy", "rotation",  NULL};
    for (int i = 0; unit[i]; i++)
        maybe_scalar(g, 40, unit[i], 0, 1);
    if (!fuzz && scene_chance(g, 30)) {
        scene_put_scalar(g, "sheen", 0, 1);
        maybe_scalar(g, 50, "sheen_tint", 0, 1);
    }
    if (!coat && scene_chance(g, 30)) {
        scene_put_scalar(g, "clearcoat", 0, 1);
        maybe_scalar(g, 50, "clearcoat_gloss", 0, 1);
    }
    if (scene_chance(g, 30)) {
        scene_put_scalar(g, "transmission", 0, 1);
        put_ior(g);
    }
    if (scene_chance(g, 30))
        scene_put_scalar(g, "subsurface", 0, 1);
    if (coat) {
        scene_put_scalar(g, "coat", 0, 1);
        maybe_scalar(g, 60, "coat_roughness", 0, 1);
        if (g->textures && scene_chance(g, 30))
            put_normal_map(g, "coat_normal_map");
    }
    if (fuzz) {
        scene_put_color(g, "fuzz");
        maybe_scalar(g, 60, "fuzz_roughness", 0, 1);
    }
    if (layered && scene_chance(g, 40))
        put_bright(g, "specular_color");
    if (layered)
        maybe_scalar(g, 40, "specular_weight", 0, 1);
    if (layered && !hollow && scene_chance(g, 30))
        json_key_bool(&g->w, "thin", scene_chance(g, 80));
}

const char *const scene_types[] = {"diffuse",         "mirror",     "oren_nayar",
                                   "rough_conductor", "dielectric", "rough_dielectric",
                                   "thin_dielectric", "principled", "principled",
                                   "sheen",           NULL};

/* The inputs of a material of that type; base: of a shader's; hollow: it has a medium. */
void scene_put_inputs(struct scene_generator *g, const char *type, bool base, bool hollow)
{
    if (strcmp(type, "principled") == 0) {
        put_principled(g, base, hollow);
    } else if (strcmp(type, "rough_conductor") == 0) {
        put_conductor(g);
    } else if (strstr(type, "dielectric")) {
        put_ior(g);
        if (strcmp(type, "rough_dielectric") == 0)
            maybe_scalar(g, 80, "roughness", 0, 1);
    } else {
        if (scene_chance(g, 85))
            scene_put_color(g, "reflectance");
        if (strcmp(type, "oren_nayar") == 0)
            scene_put_scalar(g, "sigma", 0, 90);
        if (strcmp(type, "sheen") == 0)
            maybe_scalar(g, 80, "roughness", 0, 1);
    }
}

/* ---- materials ------------------------------------------------------------------------------ */

static void put_medium(struct scene_generator *g)
{
    json_key(&g->w, "medium");
    json_begin_object(&g->w);
    const bool absorbs = scene_chance(g, 40);
    if (!absorbs || scene_chance(g, 50)) {
        json_key_number(&g->w, "density", scene_decades(g, 0.01, 30) / g->size);
        if (scene_chance(g, 70)) {
            const double c[3] = {scene_unit(g), scene_unit(g), scene_uniform(g, 0.3, 1)};
            scene_put_vector(g, "albedo", c, 3);
        }
        if (scene_chance(g, 60))
            json_key_number(&g->w, "g",
                            scene_chance(g, 20) ? 0.0005 : scene_uniform(g, -0.99, 0.99));
    }
    if (absorbs) {
        const double a[3] = {scene_uniform(g, 0, 2) / g->size, 0, scene_uniform(g, 0, 9) / g->size};
        if (scene_chance(g, 25))
            json_key_number(&g->w, "absorption", a[0]);
        else
            scene_put_vector(g, "absorption", a, 3);
    }
    json_end_object(&g->w);
}

/* What is black but for its light, or reflects too. */
static void put_emission(struct scene_generator *g, bool sided)
{
    const double most = scene_chance(g, 10) ? 1e5 : scene_chance(g, 10) ? 1e-3 : 30;
    if (g->textures && scene_chance(g, 20)) {
        json_key(&g->w, "emission");
        json_begin_object(&g->w);
        put_texture_name(g, scene_roll(g, g->textures));
        scene_put_radiance(g, "scale", most / 10, most);
        json_end_object(&g->w);
    } else {
        scene_put_radiance(g, "emission", most / 10, most);
    }
    if (!sided && scene_chance(g, 30))
        json_key_bool(&g->w, "emission_two_sided", true);
}

/* Sides, cut-outs, bumps: of all but interfaces; of shaders the first alone. */
static void put_surface(struct scene_generator *g, bool shader, bool hollow, bool *single)
{
    static const char *const modes[] = {"blend", "opaque", "mask", NULL};
    *single = !hollow && scene_chance(g, 15);
    if (*single)
        json_key_string(&g->w, "sides", "single");
    else if (scene_chance(g, 5))
        json_key_string(&g->w, "sides", "double");
    if (shader)
        return;
    if (scene_chance(g, 25)) {
        const char *mode = hollow ? "blend" : scene_word(g, modes);
        scene_put_scalar(g, "opacity", 0, 1);
        if (scene_chance(g, 70) || strcmp(mode, "mask") == 0) {
            json_key_string(&g->w, "alpha_mode", mode);
            if (strcmp(mode, "mask") == 0 && scene_chance(g, 50))
                json_key_number(&g->w, "alpha_cutoff", scene_unit(g));
        }
    }
    if (g->textures && scene_chance(g, 20))
        put_normal_map(g, "normal_map");
}

void scene_put_material(struct scene_generator *g, uint32_t i)
{
    struct made_material *m = &g->materials[i];
    bool single = false;
    char key[16];
    (void)snprintf(key, sizeof key, "m%u", i);
    m->closed = i > 1 && scene_chance(g, g->media);
    json_key(&g->w, key);
    json_begin_object(&g->w);
    if (i > 1 && scene_chance(g, m->closed ? 40 : 5)) {
        json_key_string(&g->w, "type", "interface");
        if (m->closed)
            put_medium(g);
    } else if (i > 0 && scene_chance(g, g->shaders)) {
        json_key_string(&g->w, "type", "shader");
        scene_put_shader(g, i);
        if (scene_chance(g, 10))
            json_key_number(&g->w, "emission_bound", scene_decades(g, 0.1, 100));
        put_surface(g, true, m->closed, &single);
        m->emits = scene_chance(g, 10);
        if (m->emits)
            put_emission(g, single);
        if (m->closed)
            put_medium(g);
    } else { /* the first is plain, the second a lamp */
        const char *type = i == 0 || (i == 1 && scene_chance(g, 80)) ? "diffuse"
                           : m->closed && scene_chance(g, 70) ? scene_types[4 + scene_roll(g, 2)]
                                                              : scene_word(g, scene_types);
        json_key_string(&g->w, "type", type);
        scene_put_inputs(g, type, false, m->closed);
        if (i > 0)
            put_surface(g, false, m->closed, &single);
        m->emits = i == 1 || (i > 1 && scene_chance(g, 8)); /* the first is for all that is open */
        if (m->emits)
            put_emission(g, single);
        if (m->closed)
            put_medium(g);
    }
    json_end_object(&g->w);
}
