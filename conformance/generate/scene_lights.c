/* SPDX-License-Identifier: Apache-2.0 */
/* Lights and surroundings of scenes at random. */
#include "scene_generator.h"

#include <string.h>

void scene_put_light(struct scene_generator *g)
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
        scene_put_radiance(g, "irradiance", 0.5, 5);
    } else {
        scene_put_place(g, "position", place);
        scene_put_radiance(g, "intensity", 5 * area, 60 * area);
    }
    if (strcmp(type, "spot") == 0) {
        if (scene_chance(g, 60)) {
            const double at[3] = {scene_uniform(g, -1, 1), 0, scene_uniform(g, -1, 1)};
            scene_put_place(g, "target", at);
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

void scene_put_environment(struct scene_generator *g, bool needed)
{
    static const char *const ups[] = {"y", "z", NULL};
    if (!needed && scene_chance(g, 50))
        return;
    json_key(&g->w, "environment");
    json_begin_object(&g->w);
    if (scene_chance(g, 60)) {
        scene_put_radiance(g, "radiance", 0.05, 1.5);
    } else {
        char file[4096];
        (void)snprintf(file, sizeof file, "%s/%s", g->pictures,
                       scene_chance(g, 50) ? "tile.png" : "blocks.exr");
        json_key_string(&g->w, "file", file);
        if (scene_chance(g, 50))
            scene_put_radiance(g, "scale", 0.1, 2);
        if (scene_chance(g, 50))
            json_key_number(&g->w, "rotation", scene_uniform(g, -360, 360));
        if (scene_chance(g, 50))
            json_key_string(&g->w, "up", scene_word(g, ups));
        if (scene_chance(g, 50))
            json_key_bool(&g->w, "mirror", scene_chance(g, 80));
        if (scene_chance(g, 30))
            json_key_string(&g->w, "color_space", scene_word(g, scene_color_spaces));
    }
    json_end_object(&g->w);
}
