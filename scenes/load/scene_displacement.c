/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes whose vertices a shader moves. On the host, by the interpreter, before anything is known of
 * devices: so all of them get the same vertices. */
#include "scene_loader.h"

#include <math.h>
#include <string.h>

enum { TRIANGLES_MAX = 1 << 26 };
static const double edge_min = 1e-9, edge_max = 1e9;

/* ---- the mesh in its parent's space --------------------------------------------------------- */

/* Where the object keeps the normals that it shades with. */
static const float (*object_normals(const struct object *o))[3]
{
    switch (o->normals) {
    case NORMALS_SMOOTH:
        return (const float(*)[3])o->model->smooth;
    case NORMALS_ANGLE:
        return (const float(*)[3])o->model->angle;
    case NORMALS_FILE:
        return o->model->model.N;
    default:
        return NULL;
    }
}

/* The object's model where the object stands, relative to an origin of its own. */
static enum status place_model(struct document *d, const struct object *o, struct arena *a,
                               struct model *out)
{
    const struct model *m = &o->model->model;
    const float(*own)[3] = object_normals(o);
    const size_t n = (size_t)m->vertex_count;
    float(*P)[3] = arena_alloc(a, n, sizeof *P, 0), (*N)[3] = arena_alloc(a, n, sizeof *N, 0);
    uint32_t(*triangles)[3] = arena_alloc(a, (size_t)m->triangle_count, sizeof *triangles, 0);
    struct box box = box_empty;
    double normal[3][3], q[3];
    if (!P || !N || !triangles)
        return document_memory(d);
    *out = *m;
    for (size_t i = 0; i < n; i++) {
        transform_point(&o->to_parent,
                        (double[]){(double)m->P[i][0], (double)m->P[i][1], (double)m->P[i][2]}, q);
        box_add(&box, q);
    }
    box_origin(&box, out->origin);
    transform_normal_matrix(&o->to_parent, normal);
    for (size_t i = 0; i < n; i++) {
        transform_point(&o->to_parent,
                        (double[]){(double)m->P[i][0], (double)m->P[i][1], (double)m->P[i][2]}, q);
        for (int c = 0; c < 3; c++) {
            P[i][c] = (float)(q[c] - out->origin[c]);
            if (own)
                N[i][c] =
                    (float)(normal[c][0] * (double)own[i][0] + normal[c][1] * (double)own[i][1] +
                            normal[c][2] * (double)own[i][2]);
        }
    }
    const bool mirrored = transform_determinant(&o->to_parent) < 0;
    for (size_t i = 0; i < m->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            triangles[i][k] = m->triangles[i][mirrored && k ? 3 - k : k];
    out->P = (const float(*)[3])P;
    out->N = own ? (const float(*)[3])N : NULL;
    out->triangles = (const uint32_t(*)[3])triangles;
    return STATUS_OK;
}

/* ---- how fine ------------------------------------------------------------------------------- */

struct unit {
    const struct scene *pixels_of; /* NULL: the world's own unit of length */
    const double *origin;          /* that points are relative to */
};

/* How long the unit is at p: what a pixel in the middle of the picture measures there. */
static double unit_at(const struct unit *u, const float p[3])
{
    double tan_x = M_PI, tan_y, sum = 0;
    if (!u->pixels_of)
        return 1;
    const struct camera *c = &u->pixels_of->camera;
    if (c->type != CAMERA_EQUIRECTANGULAR)
        camera_tangents(c, u->pixels_of->width, u->pixels_of->height, &tan_x, &tan_y);
    for (int k = 0; k < 3; k++) {
        const double d = u->origin[k] + (double)p[k] - c->origin[k];
        sum += d * d;
    }
    return 2 * tan_x / (double)u->pixels_of->width *
           (c->type == CAMERA_ORTHOGRAPHIC ? 1 : sqrt(sum));
}

static double distance(const float a[3], const float b[3])
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        const double d = (double)b[c] - (double)a[c];
        sum += d * d;
    }
    return sqrt(sum);
}

/* In the unit at the end where it is shorter. */
static double edge_length(const void *ctx, const float a[3], const float b[3])
{
    return distance(a, b) / fmin(unit_at(ctx, a), unit_at(ctx, b));
}

/* No cutting can do with fewer: let e be `most` where the unit is longest; then an edge of length L
 * ends as at least L/e of them, and the largest triangle with edges of e has an area of
 * sqrt(3)/4 e^2. */
static double least_triangles(const struct model *m, const struct unit *unit, double most)
{
    double sum = 0;
    for (size_t i = 0; i < m->triangle_count; i++) {
        double edge[3], half = 0, longest = 0, e = 0;
        for (int k = 0; k < 3; k++) {
            const float *p = m->P[m->triangles[i][k]];
            edge[k] = distance(p, m->P[m->triangles[i][(k + 1) % 3]]);
            half += edge[k] / 2;
            longest = fmax(longest, edge[k]);
            e = fmax(e, most * unit_at(unit, p));
        }
        const double area =
            sqrt(fmax(0, half * (half - edge[0]) * (half - edge[1]) * (half - edge[2])));
        const double pieces = fmax(longest, area / (sqrt(3) / 4 * e)) / e;
        sum += isfinite(pieces) ? fmax(1, pieces) : 1;
    }
    return sum;
}

/* "edge" and "unit", at most `measure` of which, in `unit`, an edge is to be. */
static enum status read_edge(struct loader *l, const struct json *v, struct edge_measure *measure,
                             struct unit *unit)
{
    static const char *const units[] = {"world", "pixels", NULL};
    struct document *d = &l->d;
    const struct json *edge;
    int in = 0;
    TRY(read_required(d, v, "edge", "the longest edge that triangles may have", &edge));
    TRY(read_number(d, edge, edge_min, edge_max, &measure->most));
    TRY(field_choice(d, v, "unit", units, &in));
    if (in == 1 && l->objects.state != GROUP_READING)
        return json_error(d->err, d->file, json_get(v, "unit"), STATUS_UNSUPPORTED,
                          "what a group holds stands at many distances, expected \"world\"");
    unit->pixels_of = in == 1 ? l->scene : NULL;
    return STATUS_OK;
}

/* How long the unit is where a sphere or disk is nearest to the camera; 0 with the camera inside. */
static double nearest_unit(const struct unit *unit, const double center[3], double reach)
{
    if (!unit->pixels_of)
        return 1;
    const double *camera = unit->pixels_of->camera.origin;
    double near[3], far = 0;
    for (int c = 0; c < 3; c++)
        far += pow(camera[c] - center[c], 2);
    far = sqrt(far);
    if (far <= reach)
        return 0;
    for (int c = 0; c < 3; c++)
        near[c] = center[c] + (camera[c] - center[c]) * (reach / far);
    const struct unit there = {unit->pixels_of, near};
    return unit_at(&there, (const float[3]){0, 0, 0});
}

/* A sphere or a disk as triangles whose edges around it need no cut: cuts would be straight. */
static enum status make_round(struct loader *l, const struct json *v, struct object *o)
{
    enum { CELLS_MIN = 16, CELLS_MAX = 8192, CELL_BYTES = 60 };
    struct document *d = &l->d;
    struct edge_measure measure = {0};
    struct unit unit = {0};
    const struct transform there = transform_translate(o->center);
    double widest = 0, center[3];
    TRY(read_edge(l, v, &measure, &unit));
    o->to_parent = transform_after(&o->to_parent, &there);
    transform_point(&o->to_parent, (const double[3]){0, 0, 0}, center);
    for (int k = 0; k < 3; k++) {
        const double(*m)[4] = (const double(*)[4])o->to_parent.m;
        widest = fmax(widest, sqrt(m[0][k] * m[0][k] + m[1][k] * m[1][k] + m[2][k] * m[2][k]));
    }
    const double reach = o->radius * widest;
    /* cells are squares, whose diagonals are edges too */
    const double around =
        2 * M_PI * M_SQRT2 * reach / (measure.most * nearest_unit(&unit, center, reach));
    const uint32_t cells =
        around < CELLS_MAX ? (uint32_t)fmax(CELLS_MIN, 2 * ceil(around / 2)) : CELLS_MAX;
    if (o->type == OBJECT_SPHERE)
        TRY(memory_plan_at((uint64_t)cells * cells * CELL_BYTES,
                           (struct src_pos){.file = d->file, .line = v->line, .col = v->col},
                           d->err, "a displaced sphere of %u cells around it", (unsigned)cells));
    o->model = add_model(l, o->json);
    if (!o->model)
        return document_memory(d);
    const enum status s =
        o->type == OBJECT_SPHERE
            ? model_ball(&d->arena, o->radius, cells, &o->model->model)
            : model_plate(&d->arena, o->normal, o->radius, cells, &o->model->model);
    return s == STATUS_OK ? s : document_memory(d);
}

static enum status subdivide(struct loader *l, const struct json *v, const struct model *placed,
                             struct model *out, uint32_t **parent)
{
    enum { TRIANGLE_BYTES = 100 }; /* at least, on the way */
    struct document *d = &l->d;
    const struct json *edge = json_get(v, "edge");
    struct unit unit = {.origin = placed->origin};
    struct edge_measure measure = {.length = edge_length, .ctx = &unit};
    struct error why;
    TRY(read_edge(l, v, &measure, &unit));
    const double least = least_triangles(placed, &unit, measure.most);
    if (least > TRIANGLES_MAX)
        return json_error(d->err, d->file, edge, STATUS_LIMIT,
                          "edges of %g make at least %.3g triangles of this mesh, expected at most "
                          "%d: let them be longer",
                          measure.most, least, TRIANGLES_MAX);
    TRY(memory_plan_at((uint64_t)least * TRIANGLE_BYTES,
                       (struct src_pos){.file = d->file, .line = edge->line, .col = edge->col},
                       d->err, "a displaced mesh of at least %.0f triangles", least));
    const enum status s =
        model_subdivide(&d->arena, placed, &measure, TRIANGLES_MAX, out, parent, &why);
    return s == STATUS_OK ? s : json_error(d->err, d->file, edge, s, "%s", why.msg);
}

/* ---- running the shader --------------------------------------------------------------------- */

struct displacing {
    const struct model *m;
    const float (*mean)[3]; /* of the triangles' normals at each place */
    float (*to)[3];
};

static float finite_or_zero(float x) { return isfinite(x) ? x : 0; }

static struct asl_globals globals_at(const struct displacing *j, size_t i)
{
    const struct model *m = j->m;
    struct asl_globals g = {.raytype = asl_raytype_bit("displacement")};
    const float *N = m->N ? m->N[i] : j->mean[i];
    double len = sqrt((double)N[0] * (double)N[0] + (double)N[1] * (double)N[1] +
                      (double)N[2] * (double)N[2]);
    if (!(len > 0)) {
        N = j->mean[i];
        len = 1;
    }
    for (int c = 0; c < 3; c++) {
        g.P.v[c] = (float)(m->origin[c] + (double)m->P[i][c]);
        g.N.v[c] = (float)((double)N[c] / len);
        g.Ng[c] = j->mean[i][c];
    }
    g.Ps = g.P;
    if (m->UV) {
        g.u.v = finite_or_zero(m->UV[i][0]);
        g.v.v = finite_or_zero(m->UV[i][1]);
    }
    return g;
}

static bool vertex_globals(const void *ctx, size_t i, struct asl_globals *out)
{
    const struct displacing *j = ctx;
    const float *P = j->m->P[i];
    if (!isfinite(P[0]) || !isfinite(P[1]) || !isfinite(P[2]))
        return false;
    *out = globals_at(j, i);
    return true;
}

static enum status take_vertex(void *ctx, size_t i, const struct asl_context *c, struct error *why)
{
    const struct displacing *j = ctx;
    const union asl_slot *P = asl_context_value(c, "P", NULL, NULL);
    if (!(isfinite(P[0].f) && isfinite(P[1].f) && isfinite(P[2].f)))
        return error_msg(why, STATUS_RANGE,
                         "the shader moves it to (%g, %g, %g), expected finite numbers",
                         (double)P[0].f, (double)P[1].f, (double)P[2].f);
    for (int k = 0; k < 3; k++)
        j->to[i][k] = P[k].f;
    return STATUS_OK;
}

/* to: where the shader moves each vertex. */
static enum status run_shader(struct document *d, const struct json *v, struct displacing *j,
                              const struct asl_group *group, const struct shader_images *images)
{
    const struct point_runs runs = {.group = group,
                                    .images = images,
                                    .count = (size_t)j->m->vertex_count,
                                    .doing = "displacing vertices",
                                    .ctx = j,
                                    .globals = vertex_globals,
                                    .take = take_vertex};
    struct point_failure first;
    TRY(run_at_points(d, &runs, &first));
    if (first.at == SIZE_MAX)
        return STATUS_OK;
    const float *P = j->m->P[first.at];
    const double *o = j->m->origin;
    return json_error(d->err, d->file, v, first.status, "vertex %zu at (%g, %g, %g): %s", first.at,
                      o[0] + (double)P[0], o[1] + (double)P[1], o[2] + (double)P[2], first.why);
}

/* ---- what comes of it ----------------------------------------------------------------------- */

/* Vertices at one place move together, by the mean of their ways: the surface does not tear where
 * its texture coordinates or normals do. */
static bool move_together(const struct displacing *j, struct arena *scratch, float (*P)[3])
{
    const struct model *m = j->m;
    const size_t n = (size_t)m->vertex_count;
    uint32_t *first = ARENA_ARRAY(scratch, uint32_t, n), *count = ARENA_ARRAY(scratch, uint32_t, n);
    double(*way)[3] = arena_alloc(scratch, n, sizeof *way, 0);
    if (!first || !count || !way || !model_weld(m, first))
        return false;
    for (size_t i = 0; i < n; i++) {
        count[first[i]]++;
        for (int c = 0; c < 3; c++) /* from where the shader saw it: in float */
            way[first[i]][c] +=
                (double)j->to[i][c] - (double)(float)(m->origin[c] + (double)m->P[i][c]);
    }
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            P[i][c] = (float)((double)m->P[i][c] + way[first[i]][c] / count[first[i]]);
    return true;
}

/* Each normal turns as the mean normal at its place does: what was smooth stays so, edges stay, and
 * what does not move keeps its normal. */
static void turn_normals(const struct displacing *j, const float (*now)[3], float (*N)[3])
{
    for (size_t i = 0; i < j->m->vertex_count; i++) {
        const struct asl_globals g = globals_at(j, i);
        for (int c = 0; c < 3; c++)
            N[i][c] = (float)((double)g.N.v[c] + (double)now[i][c] - (double)j->mean[i][c]);
    }
}

/* fine: the object's mesh, cut, before it is moved. */
static enum status displace(struct loader *l, const struct json *v, const struct asl_group *group,
                            const struct model *fine, struct arena *scratch, struct model *out)
{
    struct document *d = &l->d;
    const size_t n = (size_t)fine->vertex_count;
    struct shader_images images = {0};
    struct displacing j = {.m = fine};
    float(*P)[3] = arena_alloc(&d->arena, n, sizeof *P, 0);
    float(*N)[3] = fine->N ? arena_alloc(&d->arena, n, sizeof *N, 0) : NULL;
    j.mean = (const float(*)[3])model_smooth_normals(scratch, fine);
    j.to = arena_alloc(scratch, n, sizeof *j.to, 0);
    if (!P || (fine->N && !N) || !j.mean || !j.to)
        return document_memory(d);
    TRY(shader_images_load(&d->arena, d->file, group, &images, d->err));
    TRY(run_shader(d, v, &j, group, &images));
    if (!move_together(&j, scratch, P))
        return document_memory(d);
    *out = *fine;
    out->P = (const float(*)[3])P;
    if (!N)
        return STATUS_OK;
    const float(*now)[3] = (const float(*)[3])model_smooth_normals(scratch, out);
    if (!now)
        return document_memory(d);
    turn_normals(&j, now, N);
    out->N = (const float(*)[3])N;
    return STATUS_OK;
}

/* o's own model from here on. parent: the triangle of the one before that each is of. */
static enum status replace_model(struct loader *l, struct object *o, const struct model *made,
                                 const uint32_t *parent)
{
    const struct loaded_model *before = o->model;
    struct loaded_model *m = add_model(l, before->named_by);
    uint32_t *face = ARENA_ARRAY(&l->d.arena, uint32_t,
                                 before->face_material ? (size_t)made->triangle_count : 0);
    if (!m || !face)
        return document_memory(&l->d);
    for (size_t i = 0; before->face_material && i < made->triangle_count; i++)
        face[i] = before->face_material[parent[i]];
    m->file = before->file;
    m->part = before->part;
    m->model = *made;
    m->smooth = o->normals == NORMALS_SMOOTH ? (float(*)[3])made->N : NULL;
    m->angle = o->normals == NORMALS_ANGLE ? (float(*)[3])made->N : NULL;
    m->face_material = before->face_material ? face : NULL;
    o->model = m;
    o->to_parent = transform_translate(made->origin);
    return STATUS_OK;
}

static enum status load_group_of(struct loader *l, const struct json *v,
                                 const struct asl_group **out)
{
    struct document *d = &l->d;
    struct text signature = {0}; /* the scene's hash has the vertices */
    struct asl_survey survey = {0};
    const enum status s = load_shader_group(l, v, "displacement", out, &signature);
    text_free(&signature);
    TRY(s);
    TRY(asl_group_survey(*out, &survey, d->err));
    return survey.moves_P ? STATUS_OK
                          : json_error(d->err, d->file, v, STATUS_TYPE,
                                       "the shader moves no vertex, expected one that sets P or "
                                       "calls displace()");
}

enum status load_displacement(struct loader *l, const struct json *v, struct object *o)
{
    static const char *const keys[] = {SHADER_GROUP_KEYS, "edge", "unit", NULL};
    struct arena scratch = {0};
    const struct asl_group *group;
    struct model placed, fine, made;
    uint32_t *parent = NULL;
    TRY(read_object(&l->d, v, keys));
    TRY(load_group_of(l, v, &group));
    if (!o->model)
        TRY(make_round(l, v, o));
    enum status s = place_model(&l->d, o, &scratch, &placed);
    if (s == STATUS_OK)
        s = subdivide(l, v, &placed, &fine, &parent);
    if (s == STATUS_OK)
        s = displace(l, v, group, &fine, &scratch, &made);
    arena_free(&scratch);
    return s == STATUS_OK ? replace_model(l, o, &made, parent) : s;
}
