/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of type "procedure": triangles that a shader makes when the scene is loaded, as a grid of
 * vertices or one by one (docs/reference/scenes.md, Geometry by a shader). */
#include "scene_loader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELLS_MAX = 8192, TRIANGLES_MAX = 1 << 26 };
static const float place_max = 1e9F, uv_max = 1e6F;

struct procedure {
    uint32_t cells[2]; /* of a grid, along u and v */
    bool grid, closed[2], own_normals, own_uv;
    size_t points, corners; /* runs, and the vertices that each gives */
    float (*P)[3], (*N)[3], (*UV)[2];
};

/* ---- what stands in the file ---------------------------------------------------------------- */

static enum status read_cells(struct document *d, const struct json *at, struct procedure *p)
{
    double x[2];
    TRY(read_vector(d, at, 2, 1, CELLS_MAX, x));
    for (int k = 0; k < 2; k++) {
        if (x[k] != floor(x[k]))
            return expected(d, at, "two whole numbers, of cells along u and v");
        p->cells[k] = (uint32_t)x[k];
    }
    p->grid = true;
    p->corners = 1;
    p->points = (size_t)(p->cells[0] + 1) * (p->cells[1] + 1);
    return STATUS_OK;
}

static enum status read_form(struct document *d, const struct json *v, struct procedure *p)
{
    static const char *const ways[] = {"none", "u", "v", "both", NULL};
    const struct json *cells = json_get(v, "cells"), *triangles = json_get(v, "triangles");
    int closed = 0;
    int64_t count;
    if (!cells == !triangles)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "found %s of \"cells\" and \"triangles\", expected one: a grid's cells "
                          "along u and v, or how many triangles the shader is asked for",
                          cells ? "both" : "none");
    if (triangles && json_get(v, "closed"))
        return json_error(d->err, d->file, json_get(v, "closed"), STATUS_TYPE,
                          "only a grid, of \"cells\", can be closed");
    if (cells) {
        TRY(field_choice(d, v, "closed", ways, &closed));
        p->closed[0] = closed & 1;
        p->closed[1] = closed & 2;
        return read_cells(d, cells, p);
    }
    TRY(read_integer(d, triangles, 1, TRIANGLES_MAX, &count));
    p->points = (size_t)count;
    p->corners = 3;
    return STATUS_OK;
}

/* Has the last layer an output of that name: three triples? */
static bool gives_three(const struct asl_group *group, const char *name)
{
    const size_t layers = asl_group_layers(group);
    const struct asl_shader_info *s = asl_group_layer_shader(group, layers - 1);
    for (size_t i = 0; i < s->param_count; i++) {
        const struct asl_param *q = &s->params[i];
        if (strcmp(q->name, name) == 0)
            return q->output && q->type.array == 3 &&
                   asl_type_slots((struct asl_type){.base = q->type.base, .st = q->type.st}) == 3;
    }
    return false;
}

static enum status check_outputs(struct loader *l, const struct json *v,
                                 const struct asl_group *group, struct procedure *p)
{
    struct document *d = &l->d;
    struct asl_survey survey = {0};
    TRY(asl_group_survey(group, &survey, d->err));
    if (p->grid)
        return survey.moves_P ? STATUS_OK
                              : json_error(d->err, d->file, v, STATUS_TYPE,
                                           "the shader makes no vertex, expected one that sets P");
    if (!gives_three(group, "corners"))
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "the shader makes no triangle, expected \"output point corners[3]\"");
    if (p->own_normals && !gives_three(group, "normals"))
        return json_error(d->err, d->file, json_get(v, "normals"), STATUS_TYPE,
                          "the shader makes no normals, expected \"output normal normals[3]\"");
    p->own_uv = gives_three(group, "uvs");
    return STATUS_OK;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static double along(const struct procedure *p, int k, size_t i)
{
    const size_t row = p->cells[0] + (size_t)1;
    return (double)(k ? i / row : i % row) / p->cells[k];
}

static bool globals_of(const void *ctx, size_t i, struct asl_globals *out)
{
    const struct procedure *p = ctx;
    *out = (struct asl_globals){.raytype = asl_raytype_bit("displacement")};
    if (p->grid) {
        out->u.v = (float)along(p, 0, i);
        out->v.v = (float)along(p, 1, i);
    }
    out->P.v[0] = out->u.v;
    out->P.v[1] = out->v.v;
    out->N.v[2] = out->Ng[2] = 1;
    out->Ps = out->P;
    return true;
}

/* Three numbers for each of `count` vertices, `size` of which are kept. */
static enum status take_numbers(const struct asl_context *c, const char *name, const char *what,
                                size_t count, size_t size, float most, float *to, struct error *why)
{
    const union asl_slot *x = asl_context_value(c, name, NULL, NULL);
    for (size_t k = 0; k < count; k++, x += 3, to += size)
        for (size_t i = 0; i < size; i++) {
            to[i] = x[i].f;
            if (!(fabsf(to[i]) <= most))
                return error_msg(why, STATUS_RANGE,
                                 "the shader gives %s (%g, %g, %g), expected finite numbers up to "
                                 "%g",
                                 what, (double)x[0].f, (double)x[1].f, (double)x[2].f,
                                 (double)most);
        }
    return STATUS_OK;
}

static enum status take(void *ctx, size_t i, const struct asl_context *c, struct error *why)
{
    const struct procedure *p = ctx;
    const size_t n = p->corners, at = n * i;
    TRY(take_numbers(c, p->grid ? "P" : "corners", "a vertex at", n, 3, place_max, p->P[at], why));
    if (p->own_normals)
        TRY(take_numbers(c, p->grid ? "N" : "normals", "the normal", n, 3, uv_max, p->N[at], why));
    if (p->own_uv)
        return take_numbers(c, "uvs", "the coordinates", n, 2, uv_max, p->UV[at], why);
    if (p->grid) {
        p->UV[i][0] = (float)along(p, 0, i);
        p->UV[i][1] = (float)along(p, 1, i);
    }
    return STATUS_OK;
}

static enum status run(struct loader *l, const struct json *v, const struct asl_group *group,
                       struct procedure *p)
{
    struct document *d = &l->d;
    struct shader_images images = {0};
    struct point_failure first;
    TRY(shader_images_load(&d->arena, d->file, group, &images, d->err));
    const struct point_runs runs = {.group = group,
                                    .images = &images,
                                    .count = p->points,
                                    .doing = "making a procedure's triangles",
                                    .ctx = p,
                                    .globals = globals_of,
                                    .take = take};
    TRY(run_at_points(d, &runs, &first));
    if (first.at == SIZE_MAX)
        return STATUS_OK;
    if (p->grid)
        return json_error(d->err, d->file, v, first.status, "the vertex at u = %g, v = %g: %s",
                          along(p, 0, first.at), along(p, 1, first.at), first.why);
    return json_error(d->err, d->file, v, first.status, "triangle %zu: %s", first.at, first.why);
}

/* ---- triangles ------------------------------------------------------------------------------ */

/* The last column of a grid is its first one again, and the last row: there is no crack. */
static void close_grid(const struct procedure *p)
{
    const size_t row = p->cells[0] + (size_t)1, column = p->cells[1] + (size_t)1;
    for (size_t j = 0; p->closed[0] && j < column; j++) {
        memcpy(p->P[j * row + row - 1], p->P[j * row], sizeof *p->P);
        if (p->N)
            memcpy(p->N[j * row + row - 1], p->N[j * row], sizeof *p->N);
    }
    for (size_t i = 0; p->closed[1] && i < row; i++) {
        memcpy(p->P[(column - 1) * row + i], p->P[i], sizeof *p->P);
        if (p->N)
            memcpy(p->N[(column - 1) * row + i], p->N[i], sizeof *p->N);
    }
}

static bool same_place(const struct procedure *p, uint32_t a, uint32_t b)
{
    const float *x = p->P[a], *y = p->P[b];
    return x[0] == y[0] && x[1] == y[1] && x[2] == y[2];
}

/* One with two corners at one place is none: a pole's, or one that the shader leaves out. */
static void add_triangle(const struct procedure *p, uint32_t a, uint32_t b, uint32_t c,
                         uint32_t (*triangles)[3], size_t *count)
{
    if (same_place(p, a, b) || same_place(p, b, c) || same_place(p, c, a))
        return;
    uint32_t *t = triangles[(*count)++];
    t[0] = a, t[1] = b, t[2] = c;
}

static size_t list_triangles(const struct procedure *p, uint32_t (*triangles)[3])
{
    const uint32_t row = p->cells[0] + 1;
    size_t count = 0;
    for (uint32_t i = 0; !p->grid && i < p->points; i++)
        add_triangle(p, 3 * i, 3 * i + 1, 3 * i + 2, triangles, &count);
    for (uint32_t j = 0; p->grid && j < p->cells[1]; j++)
        for (uint32_t i = 0; i < p->cells[0]; i++) {
            const uint32_t a = j * row + i, b = a + 1, c = a + row + 1, d = a + row;
            add_triangle(p, a, b, c, triangles, &count);
            add_triangle(p, a, c, d, triangles, &count);
        }
    return count;
}

static enum status make_triangles(struct loader *l, const struct json *v, struct procedure *p,
                                  const struct asl_group *group, struct model *out)
{
    struct document *d = &l->d;
    const size_t vertices = p->points * p->corners;
    const size_t most = p->grid ? 2 * (size_t)p->cells[0] * p->cells[1] : p->points;
    TRY(memory_plan_at(2 * ((uint64_t)vertices * 32 + (uint64_t)most * 12) + (uint64_t)most * 64,
                       (struct src_pos){.file = d->file, .line = v->line, .col = v->col}, d->err,
                       "a procedure of %zu triangles, in the scene and its tree", most));
    uint32_t(*triangles)[3] = arena_alloc(&d->arena, most, sizeof *triangles, 0);
    p->P = arena_alloc(&d->arena, vertices, sizeof *p->P, 0);
    p->N = p->own_normals ? arena_alloc(&d->arena, vertices, sizeof *p->N, 0) : NULL;
    p->UV = p->grid || p->own_uv ? arena_alloc(&d->arena, vertices, sizeof *p->UV, 0) : NULL;
    if (!triangles || !p->P || (p->own_normals && !p->N) || ((p->grid || p->own_uv) && !p->UV))
        return document_memory(d);
    TRY(run(l, v, group, p));
    if (p->grid)
        close_grid(p);
    const size_t count = list_triangles(p, triangles);
    if (count == 0)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "each triangle that the shader makes has two corners at one place, "
                          "expected some that have not");
    *out = (struct model){.P = (const float(*)[3])p->P,
                          .N = (const float(*)[3])p->N,
                          .UV = (const float(*)[2])p->UV,
                          .vertex_count = vertices,
                          .triangles = (const uint32_t(*)[3])triangles,
                          .triangle_count = count};
    return STATUS_OK;
}

enum status load_procedure(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const keys[] = {
        "type",    SHADER_GROUP_KEYS, "cells",     "triangles",    "closed",
        "normals", "material",        "transform", "displacement", NULL};
    /* as enum normals_mode has them */
    static const char *const modes[] = {"shader", "face", "smooth", "angle", NULL};
    struct document *d = &l->d;
    struct procedure p = {0};
    struct text signature = {0}; /* the scene's hash has the vertices */
    const struct asl_group *group;
    TRY(read_object(d, v, keys));
    TRY(read_form(d, v, &p));
    int mode = p.grid ? NORMALS_SMOOTH : NORMALS_FACE;
    TRY(field_choice(d, v, "normals", modes, &mode));
    o->normals = (enum normals_mode)mode;
    p.own_normals = mode == NORMALS_FILE;
    const enum status s = load_shader_group(l, v, "procedure", &group, &signature);
    text_free(&signature);
    TRY(s);
    TRY(check_outputs(l, v, group, &p));
    o->model = add_model(l, v);
    if (!o->model)
        return document_memory(d);
    struct model *m = &o->model->model;
    TRY(make_triangles(l, v, &p, group, m));
    if (mode == NORMALS_SMOOTH)
        o->model->smooth = model_smooth_normals(&d->arena, m);
    if (mode == NORMALS_ANGLE)
        o->model->angle = model_angle_normals(&d->arena, m);
    return (mode == NORMALS_SMOOTH && !o->model->smooth) ||
                   (mode == NORMALS_ANGLE && !o->model->angle)
               ? document_memory(d)
               : STATUS_OK;
}
