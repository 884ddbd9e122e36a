/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and groups of a scene file, and the models that they name. */
#include "scene_loader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double coordinate_max = 1e9;

/* ---- transforms ----------------------------------------------------------------------------- */

static enum status read_scale(struct document *d, const struct json *at, struct transform *out)
{
    double x[3];
    if (at->type == JSON_NUMBER) {
        TRY(read_number(d, at, -1e6, 1e6, &x[0]));
        x[1] = x[2] = x[0];
    } else if (at->type == JSON_ARRAY) {
        TRY(read_vector(d, at, 3, -1e6, 1e6, x));
    } else {
        return expected(d, at, "a number or [x, y, z]");
    }
    *out = transform_scale(x);
    return STATUS_OK;
}

static enum status read_rotate(struct document *d, const struct json *at, struct transform *out)
{
    static const char *const keys[] = {"axis", "angle", NULL};
    const struct json *axis, *angle;
    double x[3], degrees;
    TRY(read_object(d, at, keys));
    TRY(read_required(d, at, "axis", "an array of 3 numbers", &axis));
    TRY(read_required(d, at, "angle", "degrees", &angle));
    TRY(read_vector(d, axis, 3, -1e6, 1e6, x));
    TRY(read_number(d, angle, -36000, 36000, &degrees));
    if (!(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > 1e-24))
        return json_error(d->err, d->file, axis, STATUS_RANGE,
                          "the axis has no length, expected a direction");
    *out = transform_rotate(x, degrees * (M_PI / 180));
    return STATUS_OK;
}

static enum status read_matrix(struct document *d, const struct json *at, struct transform *out)
{
    double x[16];
    TRY(read_vector(d, at, 16, -coordinate_max, coordinate_max, x));
    if (x[12] != 0 || x[13] != 0 || x[14] != 0 || x[15] != 1)
        return json_error(d->err, d->file, at, STATUS_RANGE,
                          "the last row is [%g, %g, %g, %g], expected [0, 0, 0, 1]", x[12], x[13],
                          x[14], x[15]);
    memcpy(out->m, x, sizeof out->m);
    return STATUS_OK;
}

static enum status read_step(struct document *d, const struct json *v, struct transform *out)
{
    static const char *const keys[] = {"translate", "rotate", "scale", "matrix", NULL};
    double x[3];
    TRY(read_object(d, v, keys));
    if (v->count != 1)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "found %zu keys in a step of a transform, expected one of \"translate\", "
                          "\"rotate\", \"scale\", \"matrix\"",
                          v->count);
    const struct json *at = v->first;
    if (strcmp(at->key, "scale") == 0)
        return read_scale(d, at, out);
    if (strcmp(at->key, "rotate") == 0)
        return read_rotate(d, at, out);
    if (strcmp(at->key, "matrix") == 0)
        return read_matrix(d, at, out);
    TRY(read_vector(d, at, 3, -coordinate_max, coordinate_max, x));
    *out = transform_translate(x);
    return STATUS_OK;
}

static enum status field_transform(struct document *d, const struct json *object,
                                   struct transform *out)
{
    const struct json *v = json_get(object, "transform");
    struct transform all = transform_identity;
    if (v && v->type != JSON_ARRAY)
        return expected(d, v, "an array of steps like {\"translate\": [x, y, z]}");
    for (const struct json *step = v ? v->first : NULL; step; step = step->next) {
        struct transform one;
        TRY(read_step(d, step, &one));
        all = transform_after(&one, &all);
        double det = transform_determinant(&all);
        if (!(fabs(det) >= 1e-30 && fabs(det) <= 1e30))
            return json_error(d->err, d->file, step, STATUS_RANGE,
                              "the transform up to here has determinant %g, expected one that can "
                              "be undone (1e-30 to 1e30)",
                              det);
    }
    *out = all;
    return STATUS_OK;
}

/* ---- meshes in place ------------------------------------------------------------------------ */

/* [[x, y, z], ...] into the document's arena; of points far from 0: less `origin`, which is set
 * then (NULL: they are no places). */
static enum status read_points(struct document *d, const struct json *v, size_t n, double lo,
                               double hi, double *origin, float **out)
{
    if (v->type != JSON_ARRAY)
        return expected(d, v, "an array of arrays of numbers");
    float *all = ARENA_ARRAY(&d->arena, float, n * v->count);
    if (!all)
        return document_memory(d);
    float *at = all;
    struct box box = box_empty;
    for (const struct json *e = origin ? v->first : NULL; e && box_may_be_far(&box); e = e->next) {
        double x[3];
        TRY(read_vector(d, e, n, lo, hi, x));
        box_add(&box, x);
    }
    if (origin)
        box_origin(&box, origin);
    for (const struct json *e = v->first; e; e = e->next) {
        double x[3];
        TRY(read_vector(d, e, n, lo, hi, x));
        for (size_t i = 0; i < n; i++)
            *at++ = (float)(origin ? x[i] - origin[i] : x[i]);
    }
    *out = all;
    return STATUS_OK;
}

/* A material for each triangle, by its name or its place among "materials". */
static enum status read_face_materials(struct loader *l, const struct json *v, size_t triangles,
                                       const uint32_t **out)
{
    struct document *d = &l->d;
    if (v->type != JSON_ARRAY)
        return expected(d, v, "an array of materials, one for each triangle");
    if (v->count != triangles)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "found %zu entries, expected one for each of the %zu triangles", v->count,
                          triangles);
    uint32_t *all = ARENA_ARRAY(&d->arena, uint32_t, triangles);
    const struct json *materials = json_get(l->root, "materials");
    if (!all)
        return document_memory(d);
    for (const struct json *m = v->first; m; m = m->next) {
        int64_t index;
        if (m->type == JSON_STRING) {
            TRY(find_material(l, m, &all[m->index]));
            continue;
        }
        if (m->type != JSON_NUMBER || !materials || materials->count == 0)
            return expected(d, m, "the name or the number of an entry in \"materials\"");
        TRY(read_integer(d, m, 0, (int64_t)materials->count - 1, &index));
        all[m->index] = (uint32_t)index;
    }
    *out = all;
    return STATUS_OK;
}

static enum status inline_model(struct loader *l, const struct json *v, struct loaded_model **out)
{
    struct document *d = &l->d;
    const struct json *vertices, *triangles, *uv = json_get(v, "uv"), *n = json_get(v, "normals"),
                                             *colors = json_get(v, "colors"),
                                             *faces = json_get(v, "face_materials");
    struct loaded_model *m = add_model(l, v);
    if (!m)
        return document_memory(d);
    float *P, *UV = NULL, *N = NULL, *C = NULL;
    double origin[3];
    TRY(read_required(d, v, "vertices", "an array of [x, y, z]", &vertices));
    TRY(read_required(d, v, "triangles", "an array of [a, b, c]", &triangles));
    TRY(read_points(d, vertices, 3, -coordinate_max, coordinate_max, origin, &P));
    if (uv)
        TRY(read_points(d, uv, 2, -1e6, 1e6, NULL, &UV));
    if (n && n->type == JSON_ARRAY)
        TRY(read_points(d, n, 3, -1e6, 1e6, NULL, &N));
    if (colors)
        TRY(read_points(d, colors, 3, 0, 1, NULL, &C));
    for (int k = 0; k < 3; k++) {
        const struct json *list = k == 0 ? n : k == 1 ? uv : colors;
        if (list && list->type == JSON_ARRAY && list->count != vertices->count)
            return json_error(d->err, d->file, list, STATUS_TYPE,
                              "found %zu entries, expected one for each of the %zu vertices",
                              list->count, vertices->count);
    }
    if (triangles->type != JSON_ARRAY)
        return expected(d, triangles, "an array of [a, b, c]");
    uint32_t(*T)[3] = arena_alloc(&d->arena, triangles->count, sizeof *T, 0);
    if (!T)
        return document_memory(d);
    for (const struct json *t = triangles->first; t; t = t->next) {
        if (t->type != JSON_ARRAY || t->count != 3)
            return expected(d, t, "an array of 3 indices of vertices");
        int k = 0;
        for (const struct json *i = t->first; i; i = i->next) {
            int64_t index;
            TRY(read_integer(d, i, 0, (int64_t)vertices->count - 1, &index));
            T[t->index][k++] = (uint32_t)index;
        }
    }
    if (triangles->count == 0)
        return json_error(d->err, d->file, triangles, STATUS_TYPE,
                          "the mesh has no triangles, expected at least one");
    m->model = (struct model){.P = (const float(*)[3])P,
                              .N = (const float(*)[3])N,
                              .UV = (const float(*)[2])UV,
                              .colors = (const float(*)[3])C,
                              .vertex_count = vertices->count,
                              .origin = {origin[0], origin[1], origin[2]},
                              .triangles = (const uint32_t(*)[3])T,
                              .triangle_count = triangles->count};
    if (faces && json_get(v, "material"))
        return json_error(d->err, d->file, faces, STATUS_TYPE,
                          "found \"material\" and \"face_materials\", expected one of them");
    if (faces)
        TRY(read_face_materials(l, faces, triangles->count, &m->face_material));
    *out = m;
    return STATUS_OK;
}

/* ---- objects of each type ------------------------------------------------------------------- */

static enum status load_group(struct loader *l, const struct json *v, struct object_group *g);

static void add_model_totals(const struct object *o, struct object_totals *t)
{
    const struct model *m = &o->model->model;
    t->vertices = m->vertex_count;
    t->triangles = m->triangle_count;
    t->normals = o->normals >= NORMALS_SMOOTH || (o->normals == NORMALS_FILE && m->N);
    t->uv = m->UV != NULL;
    t->colors = m->colors && !o->colorless;
}

static enum status load_mesh(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const file_keys[] = {
        "type", "file", "part", "material", "transform", "normals", "colors", "displacement", NULL};
    static const char *const inline_keys[] = {
        "type",           "vertices", "triangles", "uv",           "normals", "material",
        "face_materials", "colors",   "transform", "displacement", NULL};
    static const char *const modes[] = {"file", "face", "smooth", "angle", NULL};
    static const char *const of_colors[] = {"file", "none", NULL};
    const struct json *file = json_get(v, "file"), *normals = json_get(v, "normals");
    int colorless = 0;
    TRY(read_object(&l->d, v, file ? file_keys : inline_keys));
    if (file)
        TRY(field_choice(&l->d, v, "colors", of_colors, &colorless));
    o->colorless = colorless;
    int mode = NORMALS_FILE;
    if (normals && (file || normals->type != JSON_ARRAY))
        TRY(read_choice(&l->d, normals, file ? modes : modes + 1, &mode));
    if (!file && normals && normals->type != JSON_ARRAY)
        mode++; /* an inline mesh has no "file" */
    o->normals = (enum normals_mode)mode;
    TRY(file ? open_model(l, file, json_get(v, "part"), &o->model) : inline_model(l, v, &o->model));
    if (mode == NORMALS_SMOOTH && !o->model->smooth) {
        o->model->smooth = model_smooth_normals(&l->d.arena, &o->model->model);
        if (!o->model->smooth)
            return document_memory(&l->d);
    }
    if (mode == NORMALS_ANGLE && !o->model->angle) {
        o->model->angle = model_angle_normals(&l->d.arena, &o->model->model);
        if (!o->model->angle)
            return document_memory(&l->d);
    }
    return STATUS_OK;
}

static enum status load_box(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const keys[] = {"type",      "min",          "max", "material",
                                       "transform", "displacement", NULL};
    double lo[3] = {-1, -1, -1}, hi[3] = {1, 1, 1};
    TRY(read_object(&l->d, v, keys));
    TRY(field_vector(&l->d, v, "min", 3, -coordinate_max, coordinate_max, lo));
    TRY(field_vector(&l->d, v, "max", 3, -coordinate_max, coordinate_max, hi));
    for (int i = 0; i < 3; i++)
        if (!(lo[i] < hi[i]))
            return json_error(l->d.err, l->d.file, v, STATUS_RANGE,
                              "\"min\" is %g and \"max\" %g along %c, expected min < max", lo[i],
                              hi[i], "xyz"[i]);
    o->model = add_model(l, v);
    if (!o->model)
        return document_memory(&l->d);
    double origin[3];
    box_origin(&(struct box){{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}}, origin);
    for (int i = 0; i < 3; i++) {
        lo[i] -= origin[i];
        hi[i] -= origin[i];
    }
    if (model_box(&l->d.arena, lo, hi, &o->model->model) != STATUS_OK)
        return document_memory(&l->d);
    memcpy(o->model->model.origin, origin, sizeof origin);
    return STATUS_OK;
}

static enum status load_rectangle(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const keys[] = {"type", "material", "transform", "displacement", NULL};
    TRY(read_object(&l->d, v, keys));
    o->model = add_model(l, v);
    if (!o->model || model_rectangle(&l->d.arena, &o->model->model) != STATUS_OK)
        return document_memory(&l->d);
    return STATUS_OK;
}

static enum status load_terrain(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const keys[] = {"type",      "cells",        "octaves", "seed",
                                       "height",    "frequency",    "normals", "material",
                                       "transform", "displacement", NULL};
    static const char *const modes[] = {"smooth", "face", NULL};
    struct document *d = &l->d;
    struct terrain t = {.height = 0.25, .frequency = 4};
    int64_t cells = 256, octaves = 10, seed = 0;
    int flat = 0;
    const struct json *at;
    TRY(read_object(d, v, keys));
    if ((at = json_get(v, "cells")))
        TRY(read_integer(d, at, 1, 8192, &cells));
    if ((at = json_get(v, "octaves")))
        TRY(read_integer(d, at, 1, 24, &octaves));
    if ((at = json_get(v, "seed")))
        TRY(read_integer(d, at, 0, UINT32_MAX, &seed));
    if ((at = json_get(v, "normals")))
        TRY(read_choice(d, at, modes, &flat));
    TRY(field_number(d, v, "height", -1e3, 1e3, &t.height));
    TRY(field_number(d, v, "frequency", 1e-3, 1e3, &t.frequency));
    t.cells = (uint32_t)cells;
    t.octaves = (uint32_t)octaves;
    t.seed = (uint32_t)seed;
    t.flat = flat;
    o->normals = NORMALS_FILE;
    /* What the scene makes of it is asked for at once: this takes long to make. */
    const uint64_t vertices = (uint64_t)(cells + 1) * (uint64_t)(cells + 1),
                   triangles = 2 * (uint64_t)cells * (uint64_t)cells;
    TRY(memory_plan_at(2 * (vertices * (flat ? 20 : 32) + triangles * 12) + triangles * 64,
                       (struct src_pos){.file = d->file, .line = v->line, .col = v->col}, d->err,
                       "a terrain of %" PRId64 "x%" PRId64 " cells, in the scene and its tree",
                       cells, cells));
    o->model = add_model(l, v);
    if (!o->model || model_terrain(&d->arena, &t, &o->model->model) != STATUS_OK)
        return document_memory(d);
    return STATUS_OK;
}

static enum status load_sphere(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const keys[] = {"type",      "center",       "radius", "material",
                                       "transform", "displacement", NULL};
    o->radius = 1;
    TRY(read_object(&l->d, v, keys));
    TRY(field_vector(&l->d, v, "center", 3, -coordinate_max, coordinate_max, o->center));
    return field_number(&l->d, v, "radius", 1e-9, coordinate_max, &o->radius);
}

static enum status load_disk(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const keys[] = {"type",     "center",    "normal",       "radius",
                                       "material", "transform", "displacement", NULL};
    o->radius = 1;
    o->normal[2] = 1;
    TRY(read_object(&l->d, v, keys));
    TRY(field_vector(&l->d, v, "center", 3, -coordinate_max, coordinate_max, o->center));
    TRY(field_vector(&l->d, v, "normal", 3, -coordinate_max, coordinate_max, o->normal));
    const double *n = o->normal;
    if (!(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] > 1e-24))
        return json_error(l->d.err, l->d.file, json_get(v, "normal"), STATUS_RANGE,
                          "the normal has no length, expected a direction");
    return field_number(&l->d, v, "radius", 1e-9, coordinate_max, &o->radius);
}

static enum status load_instance(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const keys[] = {"type", "group", "transform", NULL};
    struct document *d = &l->d;
    const struct json *name_at, *groups = json_get(l->root, "groups");
    const char *name;
    TRY(read_object(d, v, keys));
    TRY(read_required(d, v, "group", "the name of a group", &name_at));
    TRY(read_string(d, name_at, &name));
    const struct json *g = groups ? json_get(groups, name) : NULL;
    if (!g)
        return json_error(d->err, d->file, name_at, STATUS_TYPE,
                          "no group \"%.60s\", expected the name of an entry in \"groups\"", name);
    o->group = &l->groups[g->index];
    if (o->group->state == GROUP_READING)
        return json_error(d->err, d->file, name_at, STATUS_TYPE,
                          "the group \"%.60s\" contains itself, expected no cycles", name);
    return load_group(l, g, o->group);
}

static enum status load_object(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const types[] = {"mesh",    "sphere",    "box",      "rectangle", "disk",
                                        "terrain", "procedure", "instance", NULL};
    static enum status (*const load[])(struct loader *, const struct json *, struct object *) = {
        load_mesh, load_sphere,  load_box,       load_rectangle,
        load_disk, load_terrain, load_procedure, load_instance};
    struct document *d = &l->d;
    const struct json *type_at, *material, *displacement = json_get(v, "displacement");
    int type;
    if (cancel_requested)
        return error_msg(d->err, STATUS_CANCELLED, "stopped while loading objects");
    if (v->type != JSON_OBJECT)
        return expected(d, v, "an object");
    TRY(read_required(d, v, "type", "the type of the object", &type_at));
    TRY(read_choice(d, type_at, types, &type));
    *o = (struct object){.type = (enum object_type)type, .json = v, .material = UINT32_MAX};
    TRY(field_transform(d, v, &o->to_parent));
    if ((material = json_get(v, "material")))
        TRY(find_material(l, material, &o->material));
    TRY(load[type](l, v, o));
    if (o->model) {
        double at[3];
        transform_point(&o->to_parent, o->model->model.origin, at);
        for (int c = 0; c < 3; c++)
            o->to_parent.m[c][3] = at[c];
    }
    if (displacement)
        TRY(load_displacement(l, displacement, o));
    bool own = o->model && (o->model->model.material || o->model->face_material);
    if (type != OBJECT_INSTANCE && !material && !own)
        return json_error(
            d->err, d->file, v, STATUS_TYPE,
            "\"material\" is missing, expected the name of an entry in \"materials\"%s",
            type == OBJECT_MESH ? " (the model brings none of its own)" : "");
    return STATUS_OK;
}

void totals_add(struct object_totals *t, const struct object_totals *more)
{
    static const uint64_t most = UINT64_C(1) << 60;
    uint64_t *const to[] = {&t->vertices, &t->triangles, &t->spheres, &t->disks, &t->instances};
    const uint64_t from[] = {more->vertices, more->triangles, more->spheres, more->disks,
                             more->instances};
    for (int i = 0; i < 5; i++)
        *to[i] = *to[i] + from[i] < most ? *to[i] + from[i] : most;
    t->normals |= more->normals;
    t->uv |= more->uv;
    t->colors |= more->colors;
}

struct object_totals object_own_totals(const struct object *o)
{
    struct object_totals t = {0};
    if (o->model)
        add_model_totals(o, &t);
    else if (o->type == OBJECT_SPHERE)
        t.spheres = 1;
    else
        t.disks = 1;
    return t;
}

static enum status load_group(struct loader *l, const struct json *v, struct object_group *g)
{
    if (g->state == GROUP_READ)
        return STATUS_OK;
    if (l->group_depth == GROUP_DEPTH_MAX)
        return json_error(l->d.err, l->d.file, v, STATUS_LIMIT,
                          "groups are nested more than %d deep, the limit", GROUP_DEPTH_MAX);
    l->group_depth++;
    if (v->type != JSON_ARRAY)
        return expected(&l->d, v, "an array of objects");
    g->state = GROUP_READING;
    g->count = v->count;
    g->objects = ARENA_ARRAY(&l->d.arena, struct object, v->count);
    if (!g->objects)
        return document_memory(&l->d);
    for (const struct json *o = v->first; o; o = o->next) {
        struct object *at = &g->objects[o->index];
        TRY(load_object(l, o, at));
        struct object_totals more = at->group ? at->group->totals : object_own_totals(at);
        totals_add(&g->totals, &more);
    }
    g->state = GROUP_READ;
    g->name = v->key;
    l->read[l->read_count++] = g;
    l->group_depth--;
    return STATUS_OK;
}

enum status load_objects(struct loader *l, const struct json *groups, const struct json *objects)
{
    struct document *d = &l->d;
    if (groups && groups->type != JSON_OBJECT)
        return expected(d, groups, "an object of groups by name");
    size_t count = groups ? groups->count : 0;
    l->groups = ARENA_ARRAY(&d->arena, struct object_group, count);
    l->read = ARENA_ARRAY(&d->arena, struct object_group *, count + 1);
    if (!l->groups || !l->read)
        return document_memory(d);
    for (const struct json *g = groups ? groups->first : NULL; g; g = g->next) {
        if (g->type == JSON_ARRAY &&
            g->count == 0) /* nested ones would be many visits for nothing */
            return json_error(d->err, d->file, g, STATUS_TYPE,
                              "the group is empty, expected at least one object");
        TRY(load_group(l, g, &l->groups[g->index]));
    }
    TRY(load_group(l, objects, &l->objects));
    l->objects.name = NULL;
    return STATUS_OK;
}
