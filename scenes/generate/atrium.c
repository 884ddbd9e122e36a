/* SPDX-License-Identifier: Apache-2.0 */
/* atrium DIR: makes a hall in Sponza's place, which no package ships: DIR/atrium.json and its
 * pictures DIR/textures/atrium-*.png, which are kept in the repository. Two storeys of columns and
 * round arches about a nave that is open to the sky, aisles behind them, balustrades, curtains,
 * pots of grass, and on a plinth a model of a million triangles, gray: the material "model" is the
 * one that experiments change. */
#include "made.h"

#include <math.h>
#include <stdio.h>

/* Measures: a bay is a column and an arch; the nave lies along x. */
static const double bay = 2.4, nave = 3.2, aisle = 2.8, spring = 2.8, radius = 1, rise = 1.5;
static const double upper = 4.6, roof = 8.1;
enum { BAYS = 10 };

/* ---- pictures ------------------------------------------------------------------------------- */

/* Ashlar: four courses of two blocks, each with its own shade. */
static void stone(double x, double y, double rgb[3])
{
    const double row = floor(4 * y), u = 2 * x + 0.5 * fmod(row, 2), v = 4 * y - row;
    const double in = u - floor(u), edge = fmin(fmin(in, 1 - in) * 2, fmin(v, 1 - v));
    const uint32_t block = (uint32_t)(fmod(floor(u), 2) + 2 * row);
    const double grain = made_random((uint32_t)(x * MADE_SIDE), 20 + (uint32_t)(y * MADE_SIDE));
    double shade = 0.74 + 0.14 * made_random(block, 11) + 0.05 * (grain - 0.5);
    shade *= edge < 0.045 ? 0.72 : 1;
    rgb[0] = shade;
    rgb[1] = 0.93 * shade;
    rgb[2] = 0.8 * shade;
}

/* Squares of marble, light and dark by turns, a small one at their corners. */
static void paving(double x, double y, double rgb[3])
{
    const double u = 2 * x - floor(2 * x), v = 2 * y - floor(2 * y);
    const bool dark = fmod(floor(2 * x) + floor(2 * y), 2) != 0;
    const bool corner = fmin(u, 1 - u) + fmin(v, 1 - v) < 0.16;
    const double vein = sin(9 * u + 3 * sin(6 * v + 2 * floor(2 * x)) + 5 * v);
    const double shade = (corner ? 0.35 : dark ? 0.5 : 0.82) - 0.05 * vein * vein;
    const double joint = fmin(fmin(u, 1 - u), fmin(v, 1 - v)) < 0.012 ? 0.7 : 1;
    rgb[0] = joint * shade;
    rgb[1] = joint * shade * (dark && !corner ? 0.86 : 0.95);
    rgb[2] = joint * shade * (dark && !corner ? 0.76 : 0.88);
}

/* A damask: pale ovals and stars between them, over the thread. */
static void damask(double x, double y, double rgb[3])
{
    const double u = 4 * x - floor(4 * x) - 0.5, v = 2 * y - floor(2 * y) - 0.5;
    const double oval = hypot(1.6 * u, 0.9 * v), star = fabs(fabs(u) - 0.5) + fabs(fabs(v) - 0.5);
    const double thread = 0.04 * ((int)(x * MADE_SIDE) % 2) + 0.03 * ((int)(y * MADE_SIDE) % 2);
    const double v0 =
        (fabs(oval - 0.34) < 0.05 || oval < 0.12 || star < 0.12 ? 0.95 : 0.66) - thread;
    rgb[0] = rgb[1] = rgb[2] = v0;
}

/* ---- meshes --------------------------------------------------------------------------------- */

enum { POINTS = 4096, TRIANGLES = 8192 };
static struct mesh {
    double p[POINTS][3], uv[POINTS][2];
    int t[TRIANGLES][3];
    int points, triangles;
} mesh;

typedef void surface(const void *shape, double u, double v, double p[3], double uv[2]);

/* (nu + 1)(nv + 1) points of a surface; outside is where du x dv points, or with `turn` the other. */
static void add_grid(surface *f, const void *shape, int nu, int nv, bool turn)
{
    const int first = mesh.points;
    for (int j = 0; j <= nv; j++)
        for (int i = 0; i <= nu; i++, mesh.points++)
            f(shape, (double)i / nu, (double)j / nv, mesh.p[mesh.points], mesh.uv[mesh.points]);
    for (int j = 0; j < nv; j++)
        for (int i = 0; i < nu; i++) {
            const int a = first + j * (nu + 1) + i, b = a + 1, c = a + nu + 2, d = a + nu + 1;
            const int two[2][3] = {{a, turn ? c : b, turn ? b : c},
                                   {a, turn ? d : c, turn ? c : d}};
            for (int k = 0; k < 6; k++)
                mesh.t[mesh.triangles + k / 3][k % 3] = two[k / 3][k % 3];
            mesh.triangles += 2;
        }
}

/* A profile turned about y: pairs of radius and height, from below. */
struct profile {
    int count;
    double at[24][2];
};

static void turned(const void *shape, double u, double v, double p[3], double uv[2])
{
    const struct profile *f = shape;
    const double *at = f->at[(int)(v * (f->count - 1) + 0.5)], phi = 2 * M_PI * u;
    p[0] = at[0] * cos(phi);
    p[1] = at[1];
    p[2] = -at[0] * sin(phi);
    uv[0] = u;
    uv[1] = at[1] / 1.2;
}

/* Base, shaft with its swelling, and capital. */
static struct profile column_profile(void)
{
    struct profile f = {0};
    static const double base[][2] = {{0.29, 0.12}, {0.31, 0.17}, {0.29, 0.22},
                                     {0.24, 0.25}, {0.25, 0.29}, {0.22, 0.33}};
    static const double capital[][2] = {{0.2, 2.36}, {0.2, 2.4},   {0.175, 2.42}, {0.19, 2.5},
                                        {0.25, 2.6}, {0.31, 2.66}, {0.3, 2.68}};
    for (size_t i = 0; i < sizeof base / sizeof *base; i++, f.count++)
        for (int k = 0; k < 2; k++)
            f.at[f.count][k] = base[i][k];
    for (int i = 0; i <= 8; i++, f.count++) {
        const double s = i / 8.0;
        f.at[f.count][0] = 0.205 - 0.04 * s * s + 0.008 * sin(M_PI * s);
        f.at[f.count][1] = 0.36 + 1.98 * s;
    }
    for (size_t i = 0; i < sizeof capital / sizeof *capital; i++, f.count++)
        for (int k = 0; k < 2; k++)
            f.at[f.count][k] = capital[i][k];
    return f;
}

/* The wall about a round arch: u along the arch, v from its edge to that of the rectangle of a bay
 * by `rise`; z of the face. */
static void spandrel(const void *shape, double u, double v, double p[3], double uv[2])
{
    const double z = *(const double *)shape, phi = M_PI * (1 - u), c = cos(phi), s = sin(phi);
    const double across = fabs(c) > 1e-9 ? bay / 2 / fabs(c) : 1e9, up = s > 1e-9 ? rise / s : 1e9;
    const double far = fmin(across, up), r = radius + v * (far - radius);
    p[0] = r * c;
    p[1] = r * s;
    p[2] = z;
    uv[0] = p[0] / 1.2;
    uv[1] = p[1] / 1.2;
}

/* Its inner side: v through the wall's thickness. */
static void soffit(const void *shape, double u, double v, double p[3], double uv[2])
{
    const double z = *(const double *)shape, phi = M_PI * (1 - u);
    p[0] = radius * cos(phi);
    p[1] = radius * sin(phi);
    p[2] = z * (2 * v - 1);
    uv[0] = M_PI * radius * u / 1.2;
    uv[1] = p[2] / 1.2;
}

/* Cloth of width 1 and height 1 that hangs from y = 0: folds grow downwards; tied to the left at
 * two thirds (0: not tied). */
struct cloth {
    double folds, phase, depth, tied;
};

static void cloth(const void *shape, double u, double v, double p[3], double uv[2])
{
    const struct cloth *c = shape;
    const double at = v < 0.66 ? v / 0.66 : 1 - 0.5 * (v - 0.66) / 0.34;
    const double narrow = 1 - c->tied * at * at * (3 - 2 * at);
    const double wave = sin(2 * M_PI * c->folds * u + c->phase + 0.6 * sin(3 * v + c->phase));
    p[0] = -0.5 + u * narrow;
    p[1] = -v - 0.03 * c->tied * sin(M_PI * u) * v;
    p[2] = c->depth * (0.35 + 0.65 * v) * wave * (1 + 0.3 * sin(5 * u + 2 * c->phase));
    uv[0] = 2 * u;
    uv[1] = 1 - v;
}

static void write_mesh(struct json_writer *w, const char *material, const char *normals)
{
    json_begin_object(w);
    json_key_string(w, "type", "mesh");
    json_key_string(w, "material", material);
    json_key_string(w, "normals", normals);
    json_key(w, "vertices");
    json_begin_array(w);
    for (int i = 0; i < mesh.points; i++)
        made_numbers(w, NULL, mesh.p[i], 3);
    json_end_array(w);
    json_key(w, "uv");
    json_begin_array(w);
    for (int i = 0; i < mesh.points; i++)
        made_numbers(w, NULL, mesh.uv[i], 2);
    json_end_array(w);
    json_key(w, "triangles");
    json_begin_array(w);
    for (int i = 0; i < mesh.triangles; i++) {
        json_begin_array(w);
        for (int k = 0; k < 3; k++)
            json_integer(w, mesh.t[i][k]);
        json_end_array(w);
    }
    json_end_array(w);
    json_end_object(w);
    mesh.points = mesh.triangles = 0;
}

/* ---- objects -------------------------------------------------------------------------------- */

static void write_box(struct json_writer *w, const char *material, double x0, double y0, double z0,
                      double x1, double y1, double z1)
{
    json_begin_object(w);
    json_key_string(w, "type", "box");
    json_key_string(w, "material", material);
    made_triple(w, "min", x0, y0, z0);
    made_triple(w, "max", x1, y1, z1);
    json_end_object(w);
}

struct place {
    double scale[3], axis[3], angle, at[3];
};

static void write_transform(struct json_writer *w, const struct place *p)
{
    json_key(w, "transform");
    json_begin_array(w);
    if (p->scale[0] != 0) {
        json_begin_object(w);
        made_numbers(w, "scale", p->scale, 3);
        json_end_object(w);
    }
    if (p->angle != 0) {
        json_begin_object(w);
        json_key(w, "rotate");
        json_begin_object(w);
        made_numbers(w, "axis", p->axis, 3);
        json_key_number(w, "angle", p->angle);
        json_end_object(w);
        json_end_object(w);
    }
    json_begin_object(w);
    made_numbers(w, "translate", p->at, 3);
    json_end_object(w);
    json_end_array(w);
}

static void write_instance(struct json_writer *w, const char *group, struct place p)
{
    json_begin_object(w);
    json_key_string(w, "type", "instance");
    json_key_string(w, "group", group);
    write_transform(w, &p);
    json_end_object(w);
}

static void write_rectangle(struct json_writer *w, const char *material, struct place p)
{
    json_begin_object(w);
    json_key_string(w, "type", "rectangle");
    json_key_string(w, "material", material);
    write_transform(w, &p);
    json_end_object(w);
}

static void write_file(struct json_writer *w, const char *file, const char *material,
                       const char *normals, struct place p)
{
    json_begin_object(w);
    json_key_string(w, "type", "mesh");
    json_key_string(w, "file", file);
    json_key_string(w, "material", material);
    json_key_string(w, "normals", normals);
    write_transform(w, &p);
    json_end_object(w);
}

/* ---- groups --------------------------------------------------------------------------------- */

static void begin_group(struct json_writer *w, const char *name)
{
    json_key(w, name);
    json_begin_array(w);
}

static void write_parts(struct json_writer *w)
{
    static const struct profile baluster = {9,
                                            {{0.07, 0},
                                             {0.07, 0.05},
                                             {0.035, 0.08},
                                             {0.06, 0.2},
                                             {0.065, 0.28},
                                             {0.03, 0.44},
                                             {0.03, 0.52},
                                             {0.055, 0.56},
                                             {0.055, 0.6}}};
    static const struct profile pot = {9,
                                       {{0.16, 0},
                                        {0.2, 0.03},
                                        {0.29, 0.25},
                                        {0.32, 0.45},
                                        {0.3, 0.55},
                                        {0.34, 0.58},
                                        {0.34, 0.64},
                                        {0.29, 0.64},
                                        {0.27, 0.5}}};
    const struct profile column = column_profile();
    const double front = 0.25, back = -0.25;
    begin_group(w, "column");
    add_grid(turned, &column, 24, column.count - 1, false);
    write_mesh(w, "trim", "smooth");
    write_box(w, "trim", -0.32, 0, -0.32, 0.32, 0.12, 0.32);
    write_box(w, "trim", -0.33, 2.68, -0.33, 0.33, spring, 0.33);
    json_end_array(w);
    begin_group(w, "arch");
    add_grid(spandrel, &front, 48, 2, true);
    add_grid(spandrel, &back, 48, 2, false);
    write_mesh(w, "stone", "face");
    add_grid(soffit, &front, 48, 1, false); /* a mesh of its own: its edges are sharp */
    write_mesh(w, "stone", "smooth");
    json_end_array(w);
    begin_group(w, "baluster");
    add_grid(turned, &baluster, 12, baluster.count - 1, false);
    write_mesh(w, "trim", "smooth");
    json_end_array(w);
    begin_group(w, "pot");
    add_grid(turned, &pot, 24, pot.count - 1, false);
    write_mesh(w, "clay", "smooth");
    write_file(w, "../library/tuft.ply", "leaf", "face",
               (struct place){{1.7, 1.7, 1.7}, {1, 0, 0}, -90, {0, 0.5, 0}});
    json_end_array(w);
}

enum { COLORS = 3 };
static const char *const colors[COLORS] = {"red", "green", "blue"};

static void write_curtains(struct json_writer *w)
{
    for (int k = 0; k < COLORS; k++) {
        char name[32];
        const struct cloth tied = {6, 1.3 * k, 0.055, 0.62}, banner = {3, 0.7 + k, 0.05, 0};
        snprintf(name, sizeof name, "curtain-%s", colors[k]);
        begin_group(w, name);
        add_grid(cloth, &tied, 64, 28, true);
        write_mesh(w, colors[k], "smooth");
        json_end_array(w);
        snprintf(name, sizeof name, "banner-%s", colors[k]);
        begin_group(w, name);
        add_grid(cloth, &banner, 28, 16, true);
        write_mesh(w, colors[k], "smooth");
        json_end_array(w);
    }
}

/* A bay of one side: the arcade's plane is z = 0, the nave towards +z, the aisle behind. */
static void write_bay(struct json_writer *w)
{
    const double half = bay / 2;
    begin_group(w, "bay");
    write_instance(w, "column", (struct place){.at = {-half, 0, 0}});
    write_instance(w, "arch", (struct place){.at = {0, spring, 0}});
    write_box(w, "trim", -half, spring + rise - 0.1, -0.29, half, spring + rise, 0.29);
    write_box(w, "trim", -half, spring + rise, -aisle, half, upper, 0.38);
    for (int i = 0; i < 5; i++)
        write_instance(w, "baluster", (struct place){.at = {bay * (i - 2) / 5.5, upper, 0.12}});
    write_box(w, "trim", -half, upper + 0.6, 0.02, half, upper + 0.7, 0.22);
    write_instance(w, "column",
                   (struct place){{0.75, 2.0 / spring, 0.75}, .at = {-half, upper, -0.05}});
    write_instance(w, "arch", (struct place){.at = {0, upper + 2, -0.05}});
    write_box(w, "trim", -half, roof, -aisle, half, roof + 0.15, 0.42);
    write_box(w, "trim", -half, roof + 0.15, -aisle, half, roof + 0.3, 0.52);
    write_box(w, "stone", -half - 0.18, 0, -aisle, -half + 0.18, roof, -aisle + 0.18);
    write_rectangle(w, "wall", (struct place){{half, roof / 2, 1}, .at = {0, roof / 2, -aisle}});
    write_rectangle(
        w, "floor",
        (struct place){{half, (aisle + nave) / 2, 1}, {1, 0, 0}, -90, {0, 0, (nave - aisle) / 2}});
    json_end_array(w);
}

/* An end of the nave, at x = 0 towards +x: a portal with a curtain in it. */
static void write_end(struct json_writer *w)
{
    static const double up[3] = {0, 1, 0};
    const double half = nave + aisle;
    begin_group(w, "end");
    write_rectangle(
        w, "end",
        (struct place){
            {half, (roof + 0.3) / 2, 1}, {up[0], up[1], up[2]}, 90, {0, (roof + 0.3) / 2, 0}});
    write_instance(w, "arch", (struct place){{2, 1.4, 1}, {0, 1, 0}, 90, {0.3, spring, 0}});
    for (int side = -1; side <= 1; side += 2)
        write_instance(w, "column", (struct place){.at = {0.3, 0, 2.2 * side}});
    write_instance(w, "curtain-red", (struct place){{3.9, 4.1, 3}, {0, 1, 0}, 90, {0.2, 4.15, 0}});
    json_end_array(w);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void write_texture(struct json_writer *w, const char *name, const char *picture, double su,
                          double sv)
{
    char path[64];
    snprintf(path, sizeof path, "textures/atrium-%s.png", picture);
    json_key(w, name);
    json_begin_object(w);
    json_key_string(w, "file", path);
    json_key_pair(w, "scale", su, sv);
    json_end_object(w);
}

static void write_material(struct json_writer *w, const char *name, const char *picture,
                           const double tint[3], double roughness, double sheen)
{
    const bool plain = roughness == 0; /* diffuse */
    json_key(w, name);
    json_begin_object(w);
    json_key_string(w, "type", plain ? "diffuse" : "principled");
    if (picture) {
        json_key(w, plain ? "reflectance" : "base_color");
        json_begin_object(w);
        json_key_string(w, "texture", picture);
        made_numbers(w, "scale", tint, 3);
        json_end_object(w);
    } else {
        made_numbers(w, plain ? "reflectance" : "base_color", tint, 3);
    }
    if (!plain)
        json_key_number(w, "roughness", roughness);
    if (sheen > 0)
        json_key_number(w, "sheen", sheen);
    json_end_object(w);
}

static void write_materials(struct json_writer *w)
{
    static const struct {
        const char *name, *picture;
        double tint[3], roughness, sheen;
    } list[] = {{"stone", "stone", {0.9, 0.9, 0.9}, 0, 0},
                {"wall", "wall", {0.82, 0.8, 0.76}, 0, 0},
                {"end", "end", {0.82, 0.8, 0.76}, 0, 0},
                {"trim", NULL, {0.62, 0.57, 0.48}, 0, 0},
                {"floor", "paving", {0.8, 0.8, 0.8}, 0.3, 0},
                {"red", "damask", {0.75, 0.07, 0.06}, 0.8, 0.6},
                {"green", "damask", {0.1, 0.42, 0.14}, 0.8, 0.6},
                {"blue", "damask", {0.08, 0.16, 0.6}, 0.8, 0.6},
                {"clay", NULL, {0.5, 0.24, 0.14}, 0.7, 0},
                {"leaf", NULL, {0.12, 0.3, 0.06}, 0, 0},
                {"model", NULL, {0.5, 0.5, 0.5}, 0, 0}};
    json_key(w, "textures");
    json_begin_object(w);
    write_texture(w, "stone", "stone", 1, 1);
    write_texture(w, "wall", "stone", 2, 6);
    write_texture(w, "end", "stone", 10, 6);
    write_texture(w, "paving", "paving", 2, 5);
    write_texture(w, "damask", "damask", 1, 1);
    json_end_object(w);
    json_key(w, "materials");
    json_begin_object(w);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        write_material(w, list[i].name, list[i].picture, list[i].tint, list[i].roughness,
                       list[i].sheen);
    json_end_object(w);
}

/* Side 0 at z = -nave, side 1 across, turned by half. */
static void write_side(struct json_writer *w, int side)
{
    const double turn = side ? 180 : 0, z = side ? nave : -nave, to = side ? -1 : 1;
    for (int i = 0; i < BAYS; i++) {
        const double x = bay * (i - (BAYS - 1) / 2.0);
        const uint32_t dice = (uint32_t)(2 * i + side);
        char name[32];
        write_instance(w, "bay", (struct place){{0}, {0, 1, 0}, turn, {x, 0, z}});
        snprintf(name, sizeof name, "curtain-%s", colors[(i + side) % COLORS]);
        if (i % 3 != 1)
            write_instance(w, name,
                           (struct place){{made_random(dice, 1) < 0.5 ? -1.92 : 1.92, 2.45, 1.6},
                                          .at = {x, spring - 0.02, z}});
        snprintf(name, sizeof name, "banner-%s", colors[(i + 2 * side) % COLORS]);
        if (i % 3 == 1)
            write_instance(w, name,
                           (struct place){{1.1, 1.7, 1}, .at = {x, upper + 0.68, z + 0.46 * to}});
        if (i % 2 == side)
            write_instance(w, "pot",
                           (struct place){{0},
                                          {0, 1, 0},
                                          floor(360 * made_random(dice, 2)) + 1,
                                          {x + 0.1 * made_random(dice, 3), 0, z + 0.7 * to}});
    }
    /* the column that the last bay lacks */
    write_instance(w, "column", (struct place){.at = {-to * -bay * BAYS / 2, 0, z}});
}

static void write_hall(struct json_writer *w)
{
    const double end = bay * BAYS / 2;
    json_key(w, "objects");
    json_begin_array(w);
    write_side(w, 0);
    write_side(w, 1);
    write_instance(w, "end", (struct place){.at = {-end, 0, 0}});
    write_instance(w, "end", (struct place){{0}, {0, 1, 0}, 180, {end, 0, 0}});
    write_box(w, "trim", -2.9, 0, -1.7, -1.1, 0.15, 0.1);
    write_box(w, "stone", -2.7, 0.15, -1.5, -1.3, 0.85, -0.1);
    write_box(w, "trim", -2.8, 0.85, -1.6, -1.2, 0.95, 0);
    write_file(w, "../library/blob.ply", "model", "smooth",
               (struct place){{1.2, 1.2, 1.2}, .at = {-2, 1.66, -0.8}});
    json_end_array(w);
}

static void write_atrium(struct json_writer *w)
{
    json_begin_object(w);
    json_key_integer(w, "isophote", 1);
    json_key_string(w, "about",
                    "A hall of two storeys of columns and arches about a nave that is open to the "
                    "sky, with curtains, and on a plinth a model of a million triangles: in "
                    "Sponza's place. Made by scenes/generate/atrium.c.");
    json_key(w, "camera");
    json_begin_object(w);
    made_triple(w, "origin", -10.4, 2.1, 1.1);
    made_triple(w, "target", 0.5, 2.9, -0.6);
    json_key_number(w, "fov", 66);
    json_key_string(w, "fov_axis", "x");
    json_end_object(w);
    json_key(w, "film");
    json_begin_object(w);
    json_key_integer(w, "width", 640);
    json_key_integer(w, "height", 400);
    json_end_object(w);
    json_key(w, "render");
    json_begin_object(w);
    json_key_integer(w, "spp", 64);
    json_key_integer(w, "max_depth", 6);
    json_key_integer(w, "rr_depth", 5);
    json_end_object(w);
    write_materials(w);
    json_key(w, "groups");
    json_begin_object(w);
    write_parts(w);
    write_curtains(w);
    write_bay(w);
    write_end(w);
    json_end_object(w);
    write_hall(w);
    json_key(w, "lights");
    json_begin_array(w);
    json_begin_object(w);
    json_key_string(w, "type", "directional");
    made_triple(w, "direction", 0.3, -1, -0.45);
    made_triple(w, "irradiance", 10, 9.2, 7.8);
    json_end_object(w);
    json_end_array(w);
    json_key(w, "environment");
    json_begin_object(w);
    made_triple(w, "radiance", 0.62, 0.8, 1.06);
    json_end_object(w);
    json_end_object(w);
}

int main(int argc, char **argv)
{
    static const struct made_file pictures[] = {
        {"atrium-stone", stone}, {"atrium-paving", paving}, {"atrium-damask", damask}};
    return made_main(argc, argv, "atrium", pictures, sizeof pictures / sizeof *pictures,
                     write_atrium);
}
