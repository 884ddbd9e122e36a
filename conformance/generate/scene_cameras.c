/* SPDX-License-Identifier: Apache-2.0 */
/* Cameras of scenes at random, their film, how they are rendered. */
#include "scene_generator.h"

#include <math.h>
#include <string.h>

void scene_put_camera(struct scene_generator *g)
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
    scene_put_place(g, "origin", origin);
    scene_put_place(g, "target", target);
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

void scene_put_film(struct scene_generator *g)
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

void scene_put_render(struct scene_generator *g)
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
