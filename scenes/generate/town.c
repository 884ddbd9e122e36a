/* SPDX-License-Identifier: Apache-2.0 */
/* town DIR: makes the library's textured town: DIR/town.json and its pictures
 * DIR/textures/town-*.png, which are kept in the repository. Streets on a grid, houses of a few
 * kinds, each with its own height, turn and colour; every surface has a picture: facades (colour
 * and gloss), tiles, cobbles. */
#include "made.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void gray(double v, double rgb[3]) { rgb[0] = rgb[1] = rgb[2] = v; }

static double mortar(double x, double y)
{
    return made_random((uint32_t)(x * MADE_SIDE), 100 + (uint32_t)(y * MADE_SIDE));
}

static bool in_window(double x, double y) { return fabs(x - 0.5) < 0.22 && fabs(y - 0.52) < 0.3; }

/* One storey's bay: plaster, a frame, a window with a cross. x right, y up, both in [0,1). */
static void facade(double x, double y, double rgb[3])
{
    static const double pane[3] = {0.16, 0.2, 0.26}, frame[3] = {0.85, 0.83, 0.78};
    double plaster = 0.72 + 0.06 * mortar(x, y) - (y < 0.06 ? 0.2 : 0);
    bool cross = fabs(x - 0.5) < 0.025 || fabs(y - 0.62) < 0.02;
    bool edge = fabs(x - 0.5) < 0.27 && fabs(y - 0.52) < 0.35;
    for (int c = 0; c < 3; c++)
        rgb[c] = in_window(x, y) ? cross ? frame[c] : pane[c] : edge ? frame[c] : plaster;
}

/* What is smooth is dark: roughness. */
static void gloss(double x, double y, double rgb[3])
{
    bool cross = fabs(x - 0.5) < 0.025 || fabs(y - 0.62) < 0.02;
    gray(in_window(x, y) && !cross ? 0.12 : 0.9, rgb);
}

/* Rows of round tiles, every other one half a tile along. */
static void tiles(double x, double y, double rgb[3])
{
    double row = floor(8 * y), u = 4 * x + 0.5 * fmod(row, 2), v = 8 * y - row;
    double in = u - floor(u) - 0.5, shade = 0.55 + 0.45 * sqrt(fmax(0, 1 - 4 * in * in));
    double own = 0.85 + 0.15 * made_random((uint32_t)fmod(floor(u), 4), 7 + (uint32_t)row);
    shade *= own * (v < 0.12 ? 0.55 : 1);
    rgb[0] = 0.78 * shade;
    rgb[1] = 0.42 * shade;
    rgb[2] = 0.3 * shade;
}

/* Cobbles: the nearest of a jittered grid's points, periodic. */
static void cobbles(double x, double y, double rgb[3])
{
    enum { N = 8 };
    double best = 9, second = 9;
    uint32_t stone = 0;
    for (int j = -1; j <= N; j++)
        for (int i = -1; i <= N; i++) {
            uint32_t a = (uint32_t)((i + N) % N), b = (uint32_t)((j + N) % N);
            double px = (i + 0.2 + 0.6 * made_random(a, 200 + b)) / N;
            double py = (j + 0.2 + 0.6 * made_random(a, 300 + b)) / N;
            double d = hypot(x - px, y - py);
            if (d < best) {
                second = best;
                best = d;
                stone = b * N + a;
            } else if (d < second) {
                second = d;
            }
        }
    double v = (0.4 + 0.25 * made_random(stone, 400)) * (second - best < 0.02 ? 0.45 : 1);
    rgb[0] = v;
    rgb[1] = 0.97 * v;
    rgb[2] = 0.9 * v;
}

/* ---- the scene ------------------------------------------------------------------------------ */

static void texture(struct json_writer *w, const char *name, const char *file, double su, double sv,
                    bool linear)
{
    char path[64];
    snprintf(path, sizeof path, "textures/town-%s.png", file);
    json_key(w, name);
    json_begin_object(w);
    json_key_string(w, "file", path);
    if (linear)
        json_key_string(w, "color_space", "linear");
    json_key_string(w, "filter", "nearest"); /* fine pictures far away: interpolated, they would
                                                turn rounding into noise of 1e-4 */
    json_key_pair(w, "scale", su, sv);
    json_end_object(w);
}

static void lookup(struct json_writer *w, const char *key, const char *name, const double tint[3])
{
    json_key(w, key);
    json_begin_object(w);
    json_key_string(w, "texture", name);
    if (tint)
        made_numbers(w, "scale", tint, 3);
    else
        json_key_string(w, "channel", "r");
    json_end_object(w);
}

/* Kinds of houses: storeys, bays along x and z, a tint. */
static const struct kind {
    int storeys, bays_x, bays_z;
    double tint[3];
} kinds[] = {{2, 3, 3, {1, 0.93, 0.78}},
             {3, 3, 4, {0.95, 0.78, 0.66}},
             {3, 4, 3, {0.8, 0.9, 0.95}},
             {4, 3, 3, {0.98, 0.98, 0.92}},
             {2, 4, 4, {0.86, 0.92, 0.74}}};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const double storey = 0.5, bay = 0.45;

static void write_materials(struct json_writer *w)
{
    char name[32];
    json_key(w, "textures");
    json_begin_object(w);
    for (int k = 0; k < KINDS; k++)
        for (int gloss_map = 0; gloss_map < 2; gloss_map++) {
            snprintf(name, sizeof name, "%s%d", gloss_map ? "gloss" : "facade", k);
            texture(w, name, gloss_map ? "gloss" : "facade", kinds[k].bays_x, kinds[k].storeys,
                    gloss_map);
        }
    texture(w, "tiles", "tiles", 1, 1, false);
    texture(w, "cobbles", "cobbles", 6, 6, false);
    json_end_object(w);
    json_key(w, "materials");
    json_begin_object(w);
    for (int k = 0; k < KINDS; k++) {
        char map[32];
        snprintf(name, sizeof name, "facade%d", k);
        snprintf(map, sizeof map, "gloss%d", k);
        json_key(w, name);
        json_begin_object(w);
        json_key_string(w, "type", "principled");
        lookup(w, "base_color", name, kinds[k].tint);
        lookup(w, "roughness", map, NULL);
        json_end_object(w);
    }
    json_key(w, "roof");
    json_begin_object(w);
    json_key_string(w, "type", "principled");
    lookup(w, "base_color", "tiles", (const double[3]){1, 1, 1});
    json_key_number(w, "roughness", 0.7);
    json_end_object(w);
    json_key(w, "ground");
    json_begin_object(w);
    json_key_string(w, "type", "diffuse");
    lookup(w, "reflectance", "cobbles", (const double[3]){0.9, 0.9, 0.9});
    json_end_object(w);
    json_end_object(w);
}

/* A saddle roof over [-x, x] and [-z, z], its ridge along x, 0.15 over the walls. */
static void write_roof(struct json_writer *w, double x, double y, double z)
{
    double o = 0.15, rise = 0.75 * z, ex = x + o, ez = z + o, ey = y - rise * o / z;
    const double corner[10][3] = {{-ex, ey, ez},      {ex, ey, ez},     {ex, y + rise, 0},
                                  {-ex, y + rise, 0}, {ex, ey, -ez},    {-ex, ey, -ez},
                                  {-ex, y + rise, 0}, {ex, y + rise, 0}};
    double along = 1.2 * ex, up = 1.2 * hypot(ez, rise + y - ey);
    const double uv[8][2] = {{0, 0}, {along, 0}, {along, up}, {0, up},
                             {0, 0}, {along, 0}, {along, up}, {0, up}};
    static const int faces[][3] = {{0, 1, 2}, {0, 2, 3}, {4, 5, 6},
                                   {4, 6, 7}, {1, 4, 2}, {5, 0, 3}};
    json_begin_object(w);
    json_key_string(w, "type", "mesh");
    json_key_string(w, "material", "roof");
    json_key(w, "vertices");
    json_begin_array(w);
    for (int i = 0; i < 8; i++) {
        json_begin_array(w);
        for (int c = 0; c < 3; c++)
            json_number(w, round(corner[i][c] * 1000) / 1000);
        json_end_array(w);
    }
    json_end_array(w);
    json_key(w, "uv");
    json_begin_array(w);
    for (int i = 0; i < 8; i++) {
        json_begin_array(w);
        for (int c = 0; c < 2; c++)
            json_number(w, round(uv[i][c] * 1000) / 1000);
        json_end_array(w);
    }
    json_end_array(w);
    json_key(w, "triangles");
    json_begin_array(w);
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++) {
        json_begin_array(w);
        for (int c = 0; c < 3; c++)
            json_integer(w, faces[i][c]);
        json_end_array(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void write_houses(struct json_writer *w)
{
    json_key(w, "groups");
    json_begin_object(w);
    for (int k = 0; k < KINDS; k++) {
        char name[32], facade_name[32];
        double x = 0.5 * bay * kinds[k].bays_x, z = 0.5 * bay * kinds[k].bays_z;
        double y = storey * kinds[k].storeys;
        snprintf(name, sizeof name, "house%d", k);
        snprintf(facade_name, sizeof facade_name, "facade%d", k);
        json_key(w, name);
        json_begin_array(w);
        json_begin_object(w);
        json_key_string(w, "type", "box");
        json_key_string(w, "material", facade_name);
        made_triple(w, "min", -x, 0, -z);
        made_triple(w, "max", x, y, z);
        json_end_object(w);
        write_roof(w, x, y, z);
        json_end_array(w);
    }
    json_end_object(w);
}

static void write_placing(struct json_writer *w, uint32_t i, uint32_t j)
{
    char name[32];
    snprintf(name, sizeof name, "house%u", (unsigned)(made_random(i, 500 + j) * KINDS));
    double angle = 90 * floor(4 * made_random(i, 600 + j)) + 6 * (made_random(i, 700 + j) - 0.5);
    double x = 2.15 * (i - 4.5) + (i >= 5 ? 0.9 : -0.9), z = -2.2 * j + (j >= 4 ? -1.2 : 0);
    json_begin_object(w);
    json_key_string(w, "type", "instance");
    json_key_string(w, "group", name);
    json_key(w, "transform");
    json_begin_array(w);
    json_begin_object(w);
    made_triple(w, "scale", 1, 0.85 + 0.4 * made_random(i, 800 + j), 1);
    json_end_object(w);
    json_begin_object(w);
    json_key(w, "rotate");
    json_begin_object(w);
    made_triple(w, "axis", 0, 1, 0);
    json_key_number(w, "angle", round(angle * 10) / 10);
    json_end_object(w);
    json_end_object(w);
    json_begin_object(w);
    made_triple(w, "translate", x + 0.2 * made_random(i, 900 + j), 0,
                z + 0.2 * made_random(i, 1000 + j));
    json_end_object(w);
    json_end_array(w);
    json_end_object(w);
}

/* The ground in squares of 6: their texture coordinates stay small, and so does what rounding makes
 * of them. */
static void write_square(struct json_writer *w, int i)
{
    json_begin_object(w);
    json_key_string(w, "type", "rectangle");
    json_key_string(w, "material", "ground");
    json_key(w, "transform");
    json_begin_array(w);
    json_begin_object(w);
    json_key_number(w, "scale", 3);
    json_end_object(w);
    json_begin_object(w);
    json_key(w, "rotate");
    json_begin_object(w);
    made_triple(w, "axis", 1, 0, 0);
    json_key_number(w, "angle", -90);
    json_end_object(w);
    json_end_object(w);
    json_begin_object(w);
    int row = i / 8, column = i % 8;
    made_triple(w, "translate", 6 * column - 21, 0, 13 - 6 * row);
    json_end_object(w);
    json_end_array(w);
    json_end_object(w);
}

static void write_town(struct json_writer *w)
{
    json_begin_object(w);
    json_key_integer(w, "isophote", 1);
    json_key_string(w, "about",
                    "A town in the sun: facades, gloss, tiles and cobbles are pictures, tinted, "
                    "turned and repeated; houses are groups that stand many times. Made by "
                    "scenes/generate/town.c.");
    json_key(w, "camera");
    json_begin_object(w);
    made_triple(w, "origin", 0.6, 5.6, 8.2);
    made_triple(w, "target", -0.1, 0.5, -3.4);
    json_key_number(w, "fov", 42);
    json_end_object(w);
    json_key(w, "film");
    json_begin_object(w);
    json_key_integer(w, "width", 640);
    json_key_integer(w, "height", 432);
    json_end_object(w);
    json_key(w, "render");
    json_begin_object(w);
    json_key_integer(w, "spp", 64);
    json_key_integer(w, "max_depth", 5);
    json_key_integer(w, "rr_depth", 1000);
    json_end_object(w);
    write_materials(w);
    write_houses(w);
    json_key(w, "objects");
    json_begin_array(w);
    for (int i = 0; i < 64; i++)
        write_square(w, i);
    for (uint32_t j = 0; j < 9; j++)
        for (uint32_t i = 0; i < 10; i++)
            write_placing(w, i, j);
    json_end_array(w);
    json_key(w, "environment");
    json_begin_object(w);
    json_key_string(w, "file", "sky.hdr");
    json_key_number(w, "rotation", 200);
    json_end_object(w);
    json_end_object(w);
}

int main(int argc, char **argv)
{
    static const struct made_file pictures[] = {{"town-facade", facade},
                                                {"town-gloss", gloss},
                                                {"town-tiles", tiles},
                                                {"town-cobbles", cobbles}};
    return made_main(argc, argv, "town", pictures, sizeof pictures / sizeof *pictures, write_town);
}
