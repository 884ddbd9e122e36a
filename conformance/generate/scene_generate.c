/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes at random: materials, objects, lights, cameras, sizes. */
#include "scene_generate.h"
#include "scene_generator.h"

#include <math.h>
#include <string.h>

/* ---- dice ----------------------------------------------------------------------------------- */

uint32_t scene_roll(struct scene_generator *g, uint32_t sides)
{
    return dice_roll(&g->dice, sides);
}

bool scene_chance(struct scene_generator *g, unsigned percent)
{
    return dice_chance(&g->dice, percent);
}

/* With four digits, for those who read the scene. */
static double short_number(double x, double lo, double hi)
{
    const double step = pow(10, floor(log10(fmax(fabs(x), 1e-30))) - 3),
                 near = rint(x / step) * step;
    return near < lo ? lo : near > hi ? hi : near;
}

static double fraction(struct scene_generator *g)
{
    return dice_roll(&g->dice, 1U << 24) * 0x1p-24;
}

double scene_uniform(struct scene_generator *g, double lo, double hi)
{
    return short_number(lo + (hi - lo) * fraction(g), lo, hi);
}

double scene_decades(struct scene_generator *g, double lo, double hi)
{
    return short_number(lo * pow(hi / lo, fraction(g)), lo, hi);
}

/* In [0, 1], the ends more often than chance has them. */
double scene_unit(struct scene_generator *g)
{
    switch (scene_roll(g, 8)) {
    case 0:
        return 0;
    case 1:
        return 1;
    default:
        return scene_uniform(g, 0, 1);
    }
}

const char *scene_word(struct scene_generator *g, const char *const *words)
{
    uint32_t n = 0;
    while (words[n])
        n++;
    return words[scene_roll(g, n)];
}

/* ---- writing -------------------------------------------------------------------------------- */

void scene_put_vector(struct scene_generator *g, const char *key, const double *v, size_t n)
{
    if (key)
        json_key(&g->w, key);
    json_begin_array(&g->w);
    for (size_t i = 0; i < n; i++)
        json_number(&g->w, v[i]);
    json_end_array(&g->w);
}

static void put_vector_in(struct scene_generator *g, const char *key, double lo, double hi)
{
    const double v[3] = {scene_uniform(g, lo, hi), scene_uniform(g, lo, hi),
                         scene_uniform(g, lo, hi)};
    scene_put_vector(g, key, v, 3);
}

/* A direction, now and then along an axis. */
static void put_direction(struct scene_generator *g, const char *key)
{
    double v[3] = {0, 0, 0};
    if (scene_chance(g, 30)) {
        v[scene_roll(g, 3)] = scene_chance(g, 50) ? 1 : -1;
    } else {
        for (int i = 0; i < 3; i++)
            v[i] = scene_uniform(g, -1, 1);
        v[scene_roll(g, 3)] = scene_chance(g, 50) ? 1 : -1;
    }
    scene_put_vector(g, key, v, 3);
}

/* A place in the world, moved and scaled as all of the scene is. */
static void put_place(struct scene_generator *g, const char *key, const double v[3])
{
    const double at[3] = {v[0] * g->size + g->far[0], v[1] * g->size + g->far[1],
                          v[2] * g->size + g->far[2]};
    scene_put_vector(g, key, at, 3);
}

/* Gray or coloured, up to `most`, at least `least` or 0. */
static void put_radiance(struct scene_generator *g, const char *key, double least, double most)
{
    double v[3];
    if (scene_chance(g, 30)) {
        json_key_number(&g->w, key, scene_decades(g, least, most));
        return;
    }
    for (int i = 0; i < 3; i++)
        v[i] = scene_chance(g, 10) ? 0 : scene_decades(g, least, most);
    if (v[0] + v[1] + v[2] == 0)
        v[1] = most;
    scene_put_vector(g, key, v, 3);
}

/* ---- textures ------------------------------------------------------------------------------- */

static const char *const picture_names[] = {"blocks.exr", "leaf.exr",         "tile.png",
                                            "bumps.png",  "town-cobbles.png", "town-facade.png",
                                            "veins.jpg",  "town-gloss.png",   NULL};

static const char *const color_spaces[] = {"auto", "srgb", "linear", NULL};

static void put_texture(struct scene_generator *g, uint32_t i)
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
        json_key_string(&g->w, "color_space", scene_word(g, color_spaces));
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
        put_radiance(g, "scale", most / 10, most);
        json_end_object(&g->w);
    } else {
        put_radiance(g, "emission", most / 10, most);
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

static void put_material(struct scene_generator *g, uint32_t i)
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

/* ---- transforms ----------------------------------------------------------------------------- */

static void put_step(struct scene_generator *g, const char *key, const double *v, size_t n)
{
    json_begin_object(&g->w);
    if (n == 1)
        json_key_number(&g->w, key, v[0]);
    else
        scene_put_vector(g, key, v, n);
    json_end_object(&g->w);
}

static void put_rotation(struct scene_generator *g)
{
    json_begin_object(&g->w);
    json_key(&g->w, "rotate");
    json_begin_object(&g->w);
    put_direction(g, "axis");
    json_key_number(&g->w, "angle",
                    scene_chance(g, 30) ? 90.0 * (1 + scene_roll(g, 3))
                                        : scene_uniform(g, -180, 180));
    json_end_object(&g->w);
    json_end_object(&g->w);
}

/* Where an object stands: its own steps, then the scene's size and place unless it is in a group.
 * round: scaled alike along all axes. */
static void put_transform(struct scene_generator *g, const double place[3], double scale,
                          bool round, bool in_group)
{
    json_key(&g->w, "transform");
    json_begin_array(&g->w);
    double s[3] = {scale, scale, scale};
    if (!round && scene_chance(g, 40))
        for (int i = 0; i < 3; i++)
            s[i] *= scene_uniform(g, 0.2, 2) * (scene_chance(g, 10) ? -1 : 1);
    if (!round && scene_chance(g, 5)) /* as flat as a sheet */
        s[scene_roll(g, 3)] = 1e-4;
    put_step(g, "scale", s, round || (s[0] == s[1] && s[1] == s[2]) ? 1 : 3);
    if (!round && scene_chance(g, 10)) {
        double m[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
        m[1] = scene_uniform(g, -1, 1);
        m[6] = scene_uniform(g, -1, 1);
        put_step(g, "matrix", m, 16);
    }
    if (scene_chance(g, 70))
        put_rotation(g);
    put_step(g, "translate", place, 3);
    if (!in_group && g->size != 1)
        put_step(g, "scale", &g->size, 1);
    if (!in_group && (g->far[0] != 0 || g->far[1] != 0 || g->far[2] != 0))
        put_step(g, "translate", g->far, 3);
    json_end_array(&g->w);
}

/* ---- objects -------------------------------------------------------------------------------- */

/* A material for an object: closed ones only on what is closed; light only where it may be. */
static uint32_t choose_material(struct scene_generator *g, bool closed, bool lamp, bool light)
{
    uint32_t i = lamp ? 1 : scene_roll(g, g->material_count);
    for (uint32_t k = 0; k < 2 * g->material_count; k++) {
        const struct made_material *m = &g->materials[i];
        if ((closed || !m->closed) && (light || !m->emits))
            break;
        i = (i + 1) % g->material_count;
    }
    return i;
}

static void put_material_of(struct scene_generator *g, bool closed, bool lamp, bool light)
{
    char name[16];
    (void)snprintf(name, sizeof name, "m%u", choose_material(g, closed, lamp, light));
    json_key_string(&g->w, "material", name);
}

/* One for each triangle, by its name or number. */
static void put_face_materials(struct scene_generator *g, uint32_t faces, bool light)
{
    json_key(&g->w, "face_materials");
    json_begin_array(&g->w);
    for (uint32_t k = 0; k < faces; k++) {
        const uint32_t i = choose_material(g, false, false, light);
        char name[16];
        (void)snprintf(name, sizeof name, "m%u", i);
        if (scene_chance(g, 50))
            json_string(&g->w, name);
        else
            json_integer(&g->w, i);
    }
    json_end_array(&g->w);
}

static const double solid[4][3] = {
    {-0.7, -0.6, -0.4}, {0.8, -0.5, -0.5}, {0, -0.4, 0.9}, {0.1, 0.8, 0}};
static const int solid_faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

static void put_indices(struct scene_generator *g, const int t[3])
{
    json_begin_array(&g->w);
    for (int i = 0; i < 3; i++)
        json_integer(&g->w, t[i]);
    json_end_array(&g->w);
}

/* Extra arrays of a mesh of n vertices. */
static void put_mesh_extras(struct scene_generator *g, uint32_t n)
{
    static const char *const made[] = {"face", "smooth", "angle", NULL};
    if (scene_chance(g, 60)) {
        const bool flat = scene_chance(g, 8); /* without any area on the texture */
        json_key(&g->w, "uv");
        json_begin_array(&g->w);
        for (uint32_t i = 0; i < n; i++) {
            const double uv[2] = {flat ? 0.25 : scene_uniform(g, -1, 2),
                                  flat ? 0.75 : scene_uniform(g, -1, 2)};
            scene_put_vector(g, NULL, uv, 2);
        }
        json_end_array(&g->w);
    }
    if (scene_chance(g, 30)) {
        json_key(&g->w, "normals");
        json_begin_array(&g->w);
        for (uint32_t i = 0; i < n; i++) {
            double v[3] = {0, 0, 0};
            for (int k = 0; k < 3 && !scene_chance(g, 3); k++)
                v[k] = scene_uniform(g, -1, 1);
            scene_put_vector(g, NULL, v, 3);
        }
        json_end_array(&g->w);
    } else if (scene_chance(g, 60)) {
        json_key_string(&g->w, "normals", scene_word(g, made));
    }
    if (scene_chance(g, 25)) {
        json_key(&g->w, "colors");
        json_begin_array(&g->w);
        for (uint32_t i = 0; i < n; i++) {
            const double c[3] = {scene_unit(g), scene_unit(g), scene_unit(g)};
            scene_put_vector(g, NULL, c, 3);
        }
        json_end_array(&g->w);
    }
}

/* A closed solid of four faces, or some triangles at random, one of them perhaps without area.
 * Writes its material too, if it is not closed: one, or one for each triangle. */
static void put_mesh(struct scene_generator *g, bool closed, bool lamp, bool light)
{
    const uint32_t n = closed ? 4 : 3 + scene_roll(g, 6), faces = closed ? 4 : 1 + scene_roll(g, 8);
    json_key(&g->w, "vertices");
    json_begin_array(&g->w);
    for (uint32_t i = 0; i < n; i++) {
        double v[3];
        for (int k = 0; k < 3; k++)
            v[k] = i < 4 ? solid[i][k] : scene_uniform(g, -1, 1);
        scene_put_vector(g, NULL, v, 3);
    }
    json_end_array(&g->w);
    json_key(&g->w, "triangles");
    json_begin_array(&g->w);
    for (uint32_t i = 0; i < faces; i++) {
        int t[3];
        for (int k = 0; k < 3; k++)
            t[k] = closed ? solid_faces[i][k] : i == 0 ? k : (int)scene_roll(g, n);
        put_indices(g, t);
    }
    json_end_array(&g->w);
    put_mesh_extras(g, n);
    if (!closed && !lamp && scene_chance(g, 25))
        put_face_materials(g, faces, light);
    else
        put_material_of(g, closed, lamp, light);
}

/* A model of the library. */
static void put_model(struct scene_generator *g)
{
    static const char *const files[] = {"stone.ply", "tuft.ply", "conifer-trunk.ply", NULL};
    static const char *const normals[] = {"file", "face", "smooth", "angle", NULL};
    static const char *const colors[] = {"file", "none", NULL};
    char file[4096];
    (void)snprintf(file, sizeof file, "%s/../%s", g->pictures, scene_word(g, files));
    json_key_string(&g->w, "file", file);
    if (scene_chance(g, 30))
        json_key_integer(&g->w, "part", 0);
    if (scene_chance(g, 60))
        json_key_string(&g->w, "normals", scene_word(g, normals));
    if (scene_chance(g, 40))
        json_key_string(&g->w, "colors", scene_word(g, colors));
    put_material_of(g, false, false, false);
}

/* light: may emit. Its place is near the middle; `scale` its size. */
static void put_object(struct scene_generator *g, bool lamp, bool light, bool in_group)
{
    enum { BOX, SPHERE, SOLID, MESH, RECTANGLE, DISK, TERRAIN, MODEL, KINDS };
    static const char *const types[KINDS] = {"box",       "sphere", "mesh",    "mesh",
                                             "rectangle", "disk",   "terrain", "mesh"};
    uint32_t kind = scene_roll(g, KINDS);
    if (kind >= TERRAIN && (lamp || scene_chance(g, kind == MODEL ? 80 : 60)))
        kind = SPHERE;
    if (in_group && !g->round_groups && (kind == SPHERE || kind == DISK))
        kind = kind == SPHERE ? SOLID : RECTANGLE;
    const bool closed = kind <= SOLID, round = kind == SPHERE || kind == DISK;
    double scale = scene_chance(g, 10) ? scene_decades(g, 1e-3, 10) : scene_uniform(g, 0.2, 1.2);
    const double place[3] = {scene_uniform(g, -2, 2),
                             scene_uniform(g, lamp ? 1 : -0.5, lamp ? 4 : 2),
                             scene_uniform(g, -2, 2)};
    json_begin_object(&g->w);
    json_key_string(&g->w, "type", types[kind]);
    if (kind == SOLID || kind == MESH)
        put_mesh(g, kind == SOLID, lamp, light);
    else if (kind == MODEL)
        put_model(g);
    else
        put_material_of(g, closed, lamp, light);
    if (round && scene_chance(g, 50))
        json_key_number(&g->w, "radius", scene_uniform(g, 0.1, 1));
    if (kind == DISK && scene_chance(g, 50))
        put_direction(g, "normal");
    if (round && scene_chance(g, 30))
        put_vector_in(g, "center", -0.5, 0.5);
    if (kind == BOX && scene_chance(g, 50)) {
        put_vector_in(g, "min", -1, -0.2);
        put_vector_in(g, "max", 0.1, 1);
    }
    if (kind == TERRAIN) {
        static const char *const normals[] = {"face", "smooth", NULL};
        if (scene_chance(g, 40))
            json_key_number(&g->w, "frequency", scene_decades(g, 0.1, 20));
        json_key_integer(&g->w, "cells", 1 + scene_roll(g, 12));
        json_key_number(&g->w, "height", scene_uniform(g, 0, 0.6));
        json_key_integer(&g->w, "octaves", 1 + scene_roll(g, 5));
        json_key_integer(&g->w, "seed", scene_roll(g, 1000));
        if (scene_chance(g, 50))
            json_key_string(&g->w, "normals", scene_word(g, normals));
    }
    put_transform(g, place, scale, round, in_group);
    json_end_object(&g->w);
}

static void put_instance(struct scene_generator *g, uint32_t group, bool in_group)
{
    char name[16];
    (void)snprintf(name, sizeof name, "g%u", group);
    const double place[3] = {scene_uniform(g, -2, 2), scene_uniform(g, -0.5, 2),
                             scene_uniform(g, -2, 2)};
    json_begin_object(&g->w);
    json_key_string(&g->w, "type", "instance");
    json_key_string(&g->w, "group", name);
    put_transform(g, place, scene_uniform(g, 0.3, 1), g->round_groups, in_group);
    json_end_object(&g->w);
}

static void put_groups(struct scene_generator *g)
{
    json_key(&g->w, "groups");
    json_begin_object(&g->w);
    for (uint32_t i = 0; i < g->groups; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "g%u", i);
        json_key(&g->w, key);
        json_begin_array(&g->w);
        for (uint32_t k = 0, n = 1 + scene_roll(g, 3); k < n; k++)
            put_object(g, false, g->round_groups, true);
        if (i > 0 && scene_chance(g, 50))
            put_instance(g, i - 1, true);
        json_end_array(&g->w);
    }
    json_end_object(&g->w);
}

static void put_floor(struct scene_generator *g)
{
    json_begin_object(&g->w);
    json_key_string(&g->w, "type", "rectangle");
    put_material_of(g, false, false, false);
    json_key(&g->w, "transform");
    json_begin_array(&g->w);
    const double scale = scene_chance(g, 15) ? 1000 : scene_uniform(g, 2, 6);
    put_step(g, "scale", &scale, 1);
    json_begin_object(&g->w);
    json_key(&g->w, "rotate");
    json_begin_object(&g->w);
    scene_put_vector(g, "axis", (double[]){1, 0, 0}, 3);
    json_key_number(&g->w, "angle", scene_chance(g, 70) ? -90 : scene_uniform(g, -100, -80));
    json_end_object(&g->w);
    json_end_object(&g->w);
    put_step(g, "translate", (double[]){0, -1, 0}, 3);
    if (g->size != 1)
        put_step(g, "scale", &g->size, 1);
    if (g->far[0] != 0 || g->far[1] != 0 || g->far[2] != 0)
        put_step(g, "translate", g->far, 3);
    json_end_array(&g->w);
    json_end_object(&g->w);
}

static void put_objects(struct scene_generator *g)
{
    json_key(&g->w, "objects");
    json_begin_array(&g->w);
    if (scene_chance(g, 70))
        put_floor(g);
    for (uint32_t i = 0; i < g->lamps; i++)
        put_object(g, true, true, false);
    for (uint32_t i = 0, n = 1 + scene_roll(g, scene_chance(g, 10) ? 30 : 7); i < n; i++)
        put_object(g, false, true, false);
    for (uint32_t i = 0; i < g->groups; i++)
        for (uint32_t k = 0, n = 1 + scene_roll(g, 3); k < n; k++)
            put_instance(g, i, false);
    json_end_array(&g->w);
}

/* ---- light ---------------------------------------------------------------------------------- */

static void put_light(struct scene_generator *g)
{
    static const char *const types[] = {"point", "spot", "directional", NULL};
    const char *type = scene_word(g, types);
    const double area = g->size * g->size,
                 place[3] = {scene_uniform(g, -4, 4), scene_uniform(g, 1, 5),
                             scene_uniform(g, -4, 4)};
    json_begin_object(&g->w);
    json_key_string(&g->w, "type", type);
    if (strcmp(type, "directional") == 0) {
        const double d[3] = {scene_uniform(g, -1, 1), -1, scene_uniform(g, -1, 1)};
        scene_put_vector(g, "direction", d, 3);
        put_radiance(g, "irradiance", 0.5, 5);
    } else {
        put_place(g, "position", place);
        put_radiance(g, "intensity", 5 * area, 60 * area);
    }
    if (strcmp(type, "spot") == 0) {
        if (scene_chance(g, 60)) {
            const double at[3] = {scene_uniform(g, -1, 1), 0, scene_uniform(g, -1, 1)};
            put_place(g, "target", at);
        } else {
            const double d[3] = {-place[0], -place[1], -place[2]};
            scene_put_vector(g, "direction", d, 3);
        }
        const double angle = scene_chance(g, 10) ? 90 : scene_uniform(g, 1, 80);
        json_key_number(&g->w, "angle", angle);
        if (scene_chance(g, 60))
            json_key_number(&g->w, "inner_angle",
                            scene_chance(g, 15) ? angle : angle * scene_uniform(g, 0, 1));
    }
    json_end_object(&g->w);
}

static void put_environment(struct scene_generator *g, bool needed)
{
    static const char *const ups[] = {"y", "z", NULL};
    if (!needed && scene_chance(g, 50))
        return;
    json_key(&g->w, "environment");
    json_begin_object(&g->w);
    if (scene_chance(g, 60)) {
        put_radiance(g, "radiance", 0.05, 1.5);
    } else {
        char file[4096];
        (void)snprintf(file, sizeof file, "%s/%s", g->pictures,
                       scene_chance(g, 50) ? "tile.png" : "blocks.exr");
        json_key_string(&g->w, "file", file);
        if (scene_chance(g, 50))
            put_radiance(g, "scale", 0.1, 2);
        if (scene_chance(g, 50))
            json_key_number(&g->w, "rotation", scene_uniform(g, -360, 360));
        if (scene_chance(g, 50))
            json_key_string(&g->w, "up", scene_word(g, ups));
        if (scene_chance(g, 50))
            json_key_bool(&g->w, "mirror", scene_chance(g, 80));
        if (scene_chance(g, 30))
            json_key_string(&g->w, "color_space", scene_word(g, color_spaces));
    }
    json_end_object(&g->w);
}

/* ---- camera, film, render ------------------------------------------------------------------- */

static void put_camera(struct scene_generator *g)
{
    static const char *const types[] = {"perspective",  "perspective",     "perspective",
                                        "orthographic", "equirectangular", NULL};
    static const char *const axes[] = {"x", "y", "smaller", "larger", NULL};
    const char *type = scene_word(g, types);
    const bool inside = scene_chance(g, 10);
    const double r = inside ? 0.7 : scene_uniform(g, 4, 8), turn = scene_uniform(g, 0, 6.28),
                 origin[3] = {r * sin(turn), scene_uniform(g, -0.3, 3), r * cos(turn)},
                 target[3] = {scene_uniform(g, -0.5, 0.5), scene_uniform(g, -0.2, 0.8),
                              scene_uniform(g, -0.5, 0.5)};
    json_key(&g->w, "camera");
    json_begin_object(&g->w);
    json_key_string(&g->w, "type", type);
    put_place(g, "origin", origin);
    put_place(g, "target", target);
    if (scene_chance(g, 20)) {
        const double up[3] = {scene_uniform(g, -0.5, 0.5), 1, scene_uniform(g, -0.5, 0.5)};
        scene_put_vector(g, "up", up, 3);
    }
    if (strcmp(type, "perspective") == 0)
        json_key_number(&g->w, "fov",
                        scene_chance(g, 10) ? scene_uniform(g, 120, 179)
                                            : scene_uniform(g, 20, 80));
    if (strcmp(type, "orthographic") == 0)
        json_key_number(&g->w, "height", scene_uniform(g, 2, 6) * g->size);
    if (strcmp(type, "equirectangular") != 0) {
        if (scene_chance(g, 30))
            json_key_string(&g->w, "fov_axis", scene_word(g, axes));
        if (scene_chance(g, 25)) {
            json_key_number(&g->w, "lens_radius", scene_uniform(g, 0.01, 0.5) * g->size);
            if (scene_chance(g, 50))
                json_key_number(&g->w, "focus_distance", scene_uniform(g, 1, 9) * g->size);
            if (scene_chance(g, 50)) {
                json_key_integer(&g->w, "blades", scene_chance(g, 10) ? 0 : 3 + scene_roll(g, 9));
                json_key_number(&g->w, "blade_rotation", scene_uniform(g, -90, 90));
            }
            if (scene_chance(g, 40))
                json_key_number(&g->w, "anamorphic", scene_uniform(g, 0.3, 3));
        }
    }
    json_end_object(&g->w);
}

static void put_film(struct scene_generator *g)
{
    static const char *const filters[] = {"box", "tent", "gaussian", "blackman-harris", NULL};
    json_key(&g->w, "film");
    json_begin_object(&g->w);
    json_key_integer(&g->w, "width", 16);
    json_key_integer(&g->w, "height", scene_chance(g, 70) ? 16 : 4 + scene_roll(g, 20));
    if (scene_chance(g, 35)) {
        json_key(&g->w, "filter");
        json_begin_object(&g->w);
        json_key_string(&g->w, "type", scene_word(g, filters));
        if (scene_chance(g, 50))
            json_key_number(&g->w, "radius", scene_decades(g, 0.1, 4));
        json_end_object(&g->w);
    }
    json_end_object(&g->w);
}

static void put_render(struct scene_generator *g)
{
    json_key(&g->w, "render");
    json_begin_object(&g->w);
    json_key_integer(&g->w, "spp", 2);
    json_key_integer(&g->w, "max_depth", 1 + scene_roll(g, scene_chance(g, 10) ? 40 : 9));
    json_key_integer(&g->w, "rr_depth", 1 + scene_roll(g, 8));
    json_key_integer(&g->w, "seed", scene_roll(g, 1U << 30));
    if (scene_chance(g, 15))
        json_key_number(&g->w, "clamp", scene_decades(g, 0.1, 100));
    if (scene_chance(g, 45))
        json_key_string(&g->w, "light_choice", scene_chance(g, 75) ? "tree" : "power");
    if (scene_chance(g, 40))
        json_key_string(&g->w, "mis", scene_chance(g, 75) ? "balance" : "power");
    json_end_object(&g->w);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* What this scene is about. */
static void plan(struct scene_generator *g)
{
    static const char *const kinds[] = {"auto", "flatten", "two-level", NULL};
    g->size = scene_chance(g, 80) ? 1 : pow(10, (int)scene_roll(g, 8) - 4);
    if (scene_chance(g, 10))
        g->far[scene_roll(g, 3)] = (scene_chance(g, 50) ? 1e3 : 1e5) * g->size;
    g->textures = scene_chance(g, 55) ? 1 + scene_roll(g, 4) : 0;
    g->shaders = scene_chance(g, 40) ? 15 + scene_roll(g, 60) : 0;
    g->media = scene_chance(g, 30) ? 15 + scene_roll(g, 40) : 0;
    g->groups = scene_chance(g, 35) ? 1 + scene_roll(g, 3) : 0;
    g->round_groups = scene_chance(g, 30);
    g->lamps = scene_chance(g, 75) ? 1 + scene_roll(g, scene_chance(g, 20) ? 12 : 3) : 0;
    g->material_count = 3 + scene_roll(g, SCENE_MATERIALS - 2);
    g->instancing = scene_word(g, kinds);
}

static void put_scene(struct scene_generator *g, uint64_t seed, uint64_t number)
{
    char about[96];
    (void)snprintf(about, sizeof about, "random scene %llu of seed %llu",
                   (unsigned long long)number, (unsigned long long)seed);
    plan(g);
    json_begin_object(&g->w);
    json_key_integer(&g->w, "isophote", 1);
    json_key_string(&g->w, "about", about);
    put_camera(g);
    put_film(g);
    put_render(g);
    if (g->textures) {
        json_key(&g->w, "textures");
        json_begin_object(&g->w);
        for (uint32_t i = 0; i < g->textures; i++)
            put_texture(g, i);
        json_end_object(&g->w);
    }
    json_key(&g->w, "materials");
    json_begin_object(&g->w);
    for (uint32_t i = 0; i < g->material_count; i++)
        put_material(g, i);
    json_end_object(&g->w);
    if (g->groups) {
        put_groups(g);
        json_key_string(&g->w, "instancing", g->instancing);
    }
    put_objects(g);
    const uint32_t lights = scene_chance(g, 40) ? 1 + scene_roll(g, 3) : 0;
    if (lights) {
        json_key(&g->w, "lights");
        json_begin_array(&g->w);
        for (uint32_t i = 0; i < lights; i++)
            put_light(g);
        json_end_array(&g->w);
    }
    put_environment(g, !lights && !g->lamps);
    json_end_object(&g->w);
}

/* Two spheres and a rectangle in turn, five objects a row, before the camera. */
static void put_shelf(struct scene_generator *g, uint32_t count)
{
    enum { ROW = 5 };
    json_key(&g->w, "objects");
    json_begin_array(&g->w);
    for (uint32_t i = 0; i < count; i++) {
        const bool sphere = i % 3 != 0;
        const uint32_t row = i / ROW;
        const double scale = 0.45, place[3] = {i % ROW - 2.0, 2.0 - row, i % 2 ? 0.2 : -0.2};
        char name[16];
        (void)snprintf(name, sizeof name, "m%u", i);
        json_begin_object(&g->w);
        json_key_string(&g->w, "type", sphere ? "sphere" : "rectangle");
        json_key_string(&g->w, "material", name);
        json_key(&g->w, "transform");
        json_begin_array(&g->w);
        put_step(g, "scale", &scale, 1);
        if (!sphere)
            put_rotation(g);
        put_step(g, "translate", place, 3);
        json_end_array(&g->w);
        json_end_object(&g->w);
    }
    json_end_array(&g->w);
}

static void put_dense(struct scene_generator *g, uint32_t part)
{
    uint32_t count;
    json_begin_object(&g->w);
    json_key_integer(&g->w, "isophote", 1);
    json_key(&g->w, "camera");
    json_begin_object(&g->w);
    scene_put_vector(g, "origin", (double[]){0, 0, 9}, 3);
    scene_put_vector(g, "target", (double[]){0, 0, 0}, 3);
    json_key_string(&g->w, "type", part == 1 ? "orthographic" : "perspective");
    json_key_number(&g->w, part == 1 ? "height" : "fov", part == 1 ? 5.2 : 32);
    json_end_object(&g->w);
    json_key(&g->w, "render");
    json_begin_object(&g->w);
    json_key_integer(&g->w, "max_depth", 5);
    json_end_object(&g->w);
    scene_put_surfaces(g, part, SCENE_DENSE_PARTS, &count);
    put_shelf(g, count);
    json_key(&g->w, "lights");
    json_begin_array(&g->w);
    json_begin_object(&g->w);
    json_key_string(&g->w, "type", part == 2 ? "directional" : "point");
    scene_put_vector(g, part == 2 ? "direction" : "position",
                     part == 2 ? (double[]){-2, -4, -5} : (double[]){2, 4, 5}, 3);
    json_key_number(&g->w, part == 2 ? "irradiance" : "intensity", part == 2 ? 1 : 40);
    json_end_object(&g->w);
    json_end_array(&g->w);
    json_key(&g->w, "environment");
    json_begin_object(&g->w);
    json_key_number(&g->w, "radiance", 0.7);
    json_end_object(&g->w);
    json_end_object(&g->w);
}

/* Hands the text over; frees what g holds. */
static enum status finish(struct scene_generator *g, struct text *out, struct error *err)
{
    out->failed = out->failed || g->w.out.failed;
    if (!out->failed)
        text_append(out, g->w.out.data, g->w.out.len);
    text_free(&g->w.out);
    return out->failed ? error_msg(err, STATUS_MEMORY, "out of memory for a scene") : STATUS_OK;
}

enum status scene_dense(uint32_t part, const char *pictures, struct text *out, struct error *err)
{
    struct arena a = {0};
    struct scene_generator g = {.pictures = pictures, .size = 1};
    enum status s = STATUS_OK;
    if (!pictures)
        s = data_path(&a, "scenes/library/textures", &g.pictures, err);
    if (s == STATUS_OK) {
        dice_seed(&g.dice, part);
        put_dense(&g, part);
        s = finish(&g, out, err);
    }
    arena_free(&a);
    return s;
}

enum status scene_generate(uint64_t seed, uint64_t number, const char *pictures, struct text *out,
                           struct error *err)
{
    struct arena a = {0};
    struct scene_generator g = {.pictures = pictures, .w.pretty = false};
    enum status s = STATUS_OK;
    if (!pictures)
        s = data_path(&a, "scenes/library/textures", &g.pictures, err);
    if (s == STATUS_OK) {
        dice_seed(&g.dice, seed);
        g.dice.counter[2] = (uint32_t)number;
        g.dice.counter[3] = (uint32_t)(number >> 32);
        put_scene(&g, seed, number);
        s = finish(&g, out, err);
    }
    arena_free(&a);
    return s;
}
