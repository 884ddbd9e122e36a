/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes whose vertices a shader moves. On the host, by the interpreter, before anything is known of
 * devices: so all of them get the same vertices. */
#include "scene_loader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TRIANGLES_MAX = 1 << 26, CHUNK = 1024 };
static const double edge_min = 1e-9, edge_max = 1e9;
static const uint64_t steps_max = 1 << 24; /* of one vertex, as loops of a surface have */

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

static enum status subdivide(struct loader *l, const struct json *v, const struct model *placed,
                             struct model *out, uint32_t **parent)
{
    static const char *const units[] = {"world", "pixels", NULL};
    enum { TRIANGLE_BYTES = 100 }; /* at least, on the way */
    struct document *d = &l->d;
    const struct json *edge;
    struct unit unit = {.origin = placed->origin};
    struct edge_measure measure = {.length = edge_length, .ctx = &unit};
    struct error why;
    int in = 0;
    TRY(read_required(d, v, "edge", "the longest edge that triangles may have", &edge));
    TRY(read_number(d, edge, edge_min, edge_max, &measure.most));
    TRY(field_choice(d, v, "unit", units, &in));
    if (in == 1 && l->objects.state != GROUP_READING)
        return json_error(d->err, d->file, json_get(v, "unit"), STATUS_UNSUPPORTED,
                          "what a group holds stands at many distances, expected \"world\"");
    unit.pixels_of = in == 1 ? l->scene : NULL;
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

struct worker {
    const struct shader_images *images;
    struct asl_context *context;
    char said[256]; /* what error() said at the vertex; empty: nothing */
    /* the first vertex that failed, of those this worker had; UINT64_MAX: none */
    uint64_t failed;
    enum status status;
    char why[512];
};

struct displacing {
    const struct model *m;
    const struct asl_group *group;
    const float (*mean)[3]; /* of the triangles' normals at each place */
    float (*to)[3];
    struct worker *workers;
};

static void message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct worker *w = ctx;
    (void)to;
    if (kind == ASL_MSG_ERROR && !w->said[0])
        snprintf(w->said, sizeof w->said, "%s:%u: %s", asl_context_place(w->context).file,
                 asl_context_place(w->context).line, text);
}

static bool object_space(void *ctx, const char *space, float m[16])
{
    (void)ctx;
    for (int i = 0; i < 16; i++)
        m[i] = i % 5 == 0;
    return strcmp(space, "object") == 0 || strcmp(space, "shader") == 0;
}

static const struct asl_image *image(void *ctx, const char *name)
{
    return shader_images_find(((const struct worker *)ctx)->images, name);
}

static const char *fault_of_image(void *ctx, const char *name)
{
    return shader_images_fault(((const struct worker *)ctx)->images, name);
}

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

static void displace_vertex(struct displacing *j, struct worker *w, size_t i)
{
    const struct asl_globals g = globals_at(j, i);
    struct error why = {0};
    w->said[0] = 0;
    enum status s = asl_context_run(w->context, &g, &why);
    const union asl_slot *P =
        s == STATUS_OK ? asl_context_value(w->context, "P", NULL, NULL) : NULL;
    if (s == STATUS_OK && w->said[0])
        s = error_msg(&why, STATUS_TYPE, "the shader says: %s", w->said);
    if (s == STATUS_OK && !(isfinite(P[0].f) && isfinite(P[1].f) && isfinite(P[2].f)))
        s = error_msg(&why, STATUS_RANGE,
                      "the shader moves it to (%g, %g, %g), expected finite numbers",
                      (double)P[0].f, (double)P[1].f, (double)P[2].f);
    if (s == STATUS_OK) {
        for (int c = 0; c < 3; c++)
            j->to[i][c] = P[c].f;
        return;
    }
    w->failed = i;
    w->status = s;
    if (why.line && why.file[0])
        snprintf(w->why, sizeof w->why, "%.200s:%u: %.280s", why.file, why.line, why.msg);
    else
        snprintf(w->why, sizeof w->why, "%.500s", why.msg);
}

/* A stretch of vertices. Those before a worker's first failure are all run: the first of all does not
 * go by how many workers there are. */
static void displace_chunk(void *ctx, size_t chunk, unsigned thread)
{
    struct displacing *j = ctx;
    struct worker *w = &j->workers[thread];
    const size_t first = chunk * CHUNK, left = (size_t)j->m->vertex_count - first;
    struct error why = {0};
    if (cancel_requested)
        return;
    const struct asl_context_options options = {.services = {.ctx = w,
                                                             .message = message,
                                                             .space = object_space,
                                                             .image = image,
                                                             .image_fault = fault_of_image},
                                                .step_budget = steps_max,
                                                .error_repeats = true};
    if (!w->context && asl_context_new(j->group, &options, &w->context, &why) != STATUS_OK) {
        if (first < w->failed) {
            w->failed = first;
            w->status = why.code;
            snprintf(w->why, sizeof w->why, "%.500s", why.msg);
        }
        return;
    }
    for (size_t i = first; i < first + (left < CHUNK ? left : CHUNK) && i < w->failed; i++)
        if (isfinite(j->m->P[i][0]) && isfinite(j->m->P[i][1]) && isfinite(j->m->P[i][2]))
            displace_vertex(j, w, i);
}

/* to: where the shader moves each vertex. */
static enum status run_shader(struct document *d, const struct json *v, struct displacing *j,
                              const struct shader_images *images)
{
    const unsigned threads = parallel_threads();
    const size_t n = (size_t)j->m->vertex_count;
    j->workers = ARENA_ARRAY(&d->arena, struct worker, threads);
    if (!j->workers)
        return document_memory(d);
    for (unsigned t = 0; t < threads; t++)
        j->workers[t] = (struct worker){.images = images, .failed = UINT64_MAX};
    parallel_for((n + CHUNK - 1) / CHUNK, threads, displace_chunk, j);
    const struct worker *first = &j->workers[0];
    for (unsigned t = 0; t < threads; t++) {
        first = j->workers[t].failed < first->failed ? &j->workers[t] : first;
        asl_context_free(j->workers[t].context);
    }
    if (cancel_requested)
        return error_msg(d->err, STATUS_CANCELLED, "stopped while displacing vertices");
    if (first->failed == UINT64_MAX)
        return STATUS_OK;
    const float *P = j->m->P[first->failed];
    const double *o = j->m->origin;
    return json_error(d->err, d->file, v, first->status, "vertex %" PRIu64 " at (%g, %g, %g): %s",
                      first->failed, o[0] + (double)P[0], o[1] + (double)P[1], o[2] + (double)P[2],
                      first->why);
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
    struct displacing j = {.m = fine, .group = group};
    float(*P)[3] = arena_alloc(&d->arena, n, sizeof *P, 0);
    float(*N)[3] = fine->N ? arena_alloc(&d->arena, n, sizeof *N, 0) : NULL;
    j.mean = (const float(*)[3])model_smooth_normals(scratch, fine);
    j.to = arena_alloc(scratch, n, sizeof *j.to, 0);
    if (!P || (fine->N && !N) || !j.mean || !j.to)
        return document_memory(d);
    TRY(shader_images_load(&d->arena, d->file, group, &images, d->err));
    TRY(run_shader(d, v, &j, &images));
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
    enum status s = place_model(&l->d, o, &scratch, &placed);
    if (s == STATUS_OK)
        s = subdivide(l, v, &placed, &fine, &parent);
    if (s == STATUS_OK)
        s = displace(l, v, group, &fine, &scratch, &made);
    arena_free(&scratch);
    return s == STATUS_OK ? replace_model(l, o, &made, parent) : s;
}
