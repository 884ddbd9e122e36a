/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of scenes at random: where they are, shapes, models, groups and instances. */
#include "scene_generator.h"

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

/* ---- transforms ----------------------------------------------------------------------------- */

void scene_put_step(struct scene_generator *g, const char *key, const double *v, size_t n)
{
    json_begin_object(&g->w);
    if (n == 1)
        json_key_number(&g->w, key, v[0]);
    else
        scene_put_vector(g, key, v, n);
    json_end_object(&g->w);
}

void scene_put_rotation(struct scene_generator *g)
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
    scene_put_step(g, "scale", s, round || (s[0] == s[1] && s[1] == s[2]) ? 1 : 3);
    if (!round && scene_chance(g, 10)) {
        double m[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
        m[1] = scene_uniform(g, -1, 1);
        m[6] = scene_uniform(g, -1, 1);
        scene_put_step(g, "matrix", m, 16);
    }
    if (scene_chance(g, 70))
        scene_put_rotation(g);
    scene_put_step(g, "translate", place, 3);
    if (!in_group && g->size != 1)
        scene_put_step(g, "scale", &g->size, 1);
    if (!in_group && (g->far[0] != 0 || g->far[1] != 0 || g->far[2] != 0))
        scene_put_step(g, "translate", g->far, 3);
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

/* Of an object about `size` large. Small triangles are many. */
static void put_displacement(struct scene_generator *g, double size, bool in_group)
{
    static const char *const sources[] = {
        "displacement d(float a = 0.1) { P += a * N * (0.5 + noise(\"perlin\", 2 * P)); }",
        "displacement d(float a = 0.1) { displace(a * u * (1 - v)); }",
        "surface d(float a = 0.1) { P[1] += a * abs(P[0] - N[2]); Ci = diffuse(N); }", NULL};
    const uint32_t form = scene_roll(g, 3);
    json_key(&g->w, "displacement");
    json_begin_object(&g->w);
    if (form == 0) {
        char file[4096];
        (void)snprintf(file, sizeof file, "%s/../raise.asl", g->pictures);
        json_key_string(&g->w, "shader", file);
    } else if (form == 1) {
        json_key_string(&g->w, "source", scene_word(g, sources));
    } else {
        json_key(&g->w, "layers");
        json_begin_array(&g->w);
        json_begin_object(&g->w);
        json_key_string(&g->w, "name", "a");
        json_key_string(&g->w, "source",
                        "shader h(output float h = 0) { h = cellnoise(9 * u, v); }");
        json_end_object(&g->w);
        json_begin_object(&g->w);
        json_key_string(&g->w, "name", "b");
        json_key_string(&g->w, "source", sources[scene_roll(g, 2)]);
        json_end_object(&g->w);
        json_end_array(&g->w);
        json_key(&g->w, "connections");
        json_begin_array(&g->w);
        json_begin_array(&g->w);
        json_string(&g->w, "a.h");
        json_string(&g->w, "b.a");
        json_end_array(&g->w);
        json_end_array(&g->w);
    }
    if (form != 2 && scene_chance(g, 70)) {
        json_key(&g->w, "parameters");
        json_begin_object(&g->w);
        json_key_number(&g->w, form ? "a" : "strength", size * scene_uniform(g, -0.3, 0.3));
        json_end_object(&g->w);
    }
    if (!in_group && scene_chance(g, 30)) {
        json_key_number(&g->w, "edge", scene_decades(g, 4, 40));
        json_key_string(&g->w, "unit", "pixels");
    } else {
        json_key_number(&g->w, "edge", size * scene_decades(g, 0.2, 4));
        if (scene_chance(g, 50))
            json_key_string(&g->w, "unit", "world");
    }
    json_end_object(&g->w);
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
    if (!round && scene_chance(g, 15))
        put_displacement(g, in_group ? scale : scale * g->size, in_group);
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

void scene_put_groups(struct scene_generator *g)
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
    scene_put_step(g, "scale", &scale, 1);
    json_begin_object(&g->w);
    json_key(&g->w, "rotate");
    json_begin_object(&g->w);
    scene_put_vector(g, "axis", (double[]){1, 0, 0}, 3);
    json_key_number(&g->w, "angle", scene_chance(g, 70) ? -90 : scene_uniform(g, -100, -80));
    json_end_object(&g->w);
    json_end_object(&g->w);
    scene_put_step(g, "translate", (double[]){0, -1, 0}, 3);
    if (g->size != 1)
        scene_put_step(g, "scale", &g->size, 1);
    if (g->far[0] != 0 || g->far[1] != 0 || g->far[2] != 0)
        scene_put_step(g, "translate", g->far, 3);
    json_end_array(&g->w);
    json_end_object(&g->w);
}

void scene_put_objects(struct scene_generator *g)
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
