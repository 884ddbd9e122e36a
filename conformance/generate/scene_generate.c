/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes at random: dice, what a scene is about, and the whole of it. */
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

/* A place in the world, moved and scaled as all of the scene is. */
void scene_put_place(struct scene_generator *g, const char *key, const double v[3])
{
    const double at[3] = {v[0] * g->size + g->far[0], v[1] * g->size + g->far[1],
                          v[2] * g->size + g->far[2]};
    scene_put_vector(g, key, at, 3);
}

/* Gray or coloured, up to `most`, at least `least` or 0. */
void scene_put_radiance(struct scene_generator *g, const char *key, double least, double most)
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
    g->asking = dice_chance(&g->rays, 60) ? 60 : 0;
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
    scene_put_camera(g);
    scene_put_film(g);
    scene_put_render(g);
    if (g->textures) {
        json_key(&g->w, "textures");
        json_begin_object(&g->w);
        for (uint32_t i = 0; i < g->textures; i++)
            scene_put_texture(g, i);
        json_end_object(&g->w);
    }
    json_key(&g->w, "materials");
    json_begin_object(&g->w);
    for (uint32_t i = 0; i < g->material_count; i++)
        scene_put_material(g, i);
    json_end_object(&g->w);
    if (g->groups) {
        scene_put_groups(g);
        json_key_string(&g->w, "instancing", g->instancing);
    }
    scene_put_objects(g);
    const uint32_t lights = scene_chance(g, 40) ? 1 + scene_roll(g, 3) : 0;
    if (lights) {
        json_key(&g->w, "lights");
        json_begin_array(&g->w);
        for (uint32_t i = 0; i < lights; i++)
            scene_put_light(g);
        json_end_array(&g->w);
    }
    scene_put_environment(g, !lights && !g->lamps);
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
        scene_put_step(g, "scale", &scale, 1);
        if (!sphere)
            scene_put_rotation(g);
        scene_put_step(g, "translate", place, 3);
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
        g.rays = g.dice;
        g.rays.counter[1] = 1; /* the other dice's never gets there */
        put_scene(&g, seed, number);
        s = finish(&g, out, err);
    }
    arena_free(&a);
    return s;
}
