/* SPDX-License-Identifier: Apache-2.0 */
/* Every object, instances resolved, as world-space arrays. Sizes are known and checked before
 * memory is taken. */
#include "scene_loader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double coordinate_max = 1e9;
enum { TREE_BYTES = 64 }; /* at least, of a primitive: who builds the tree asks once more */

struct flattening {
    struct loader *l;
    struct scene *s;
    size_t vertices, triangles, spheres, disks, instances; /* written so far */
    uint32_t *triangle_material;                           /* of the next triangle */
    uint32_t *sphere_material, *disk_material;
    const struct json **instance_json;
    const double *frame; /* what has been taken off coordinates: the group's origin */
    bool inside;         /* a prototype, where nothing is an instance */
};

/* ---- room ----------------------------------------------------------------------------------- */

/* t: what the world holds, prototypes all of what they hold together. */
static enum status take_room(struct loader *l, const struct object_totals *t,
                             const struct object_totals *prototypes)
{
    struct scene *s = l->scene;
    struct src_pos at = {.file = l->d.file};
    const struct object_totals *all = &l->objects.totals;
    uint64_t effective = all->triangles + all->spheres + all->disks;
    uint64_t vertices = t->vertices + prototypes->vertices;
    uint64_t triangles = t->triangles + prototypes->triangles;
    if (effective > INT32_MAX || vertices > UINT32_MAX || triangles > INT32_MAX)
        return error_set(l->d.err, STATUS_LIMIT, at,
                         "the scene has %" PRIu64 " primitives and %" PRIu64
                         " vertices, expected at most 2^31 - 1 and 2^32 - 1",
                         effective, vertices);
    bool normals = t->normals || prototypes->normals, uv = t->uv || prototypes->uv,
         colors = t->colors || prototypes->colors;
    uint64_t primitives = triangles + t->spheres + t->disks;
    uint64_t bytes = vertices * (12 + (normals ? 12U : 0U) + (uv ? 8U : 0U) + (colors ? 12U : 0U)) +
                     triangles * 13 + t->spheres * 16 + t->disks * 28 + primitives * 4 +
                     t->instances * (sizeof *s->instances + sizeof(struct json *));
    TRY(memory_plan_at(bytes + primitives * TREE_BYTES, at, l->d.err,
                       "the scene's %" PRIu64 " primitives and their tree", primitives));
    struct arena *a = &s->arena;
    s->P = arena_alloc(a, (size_t)vertices, sizeof *s->P, 0);
    s->N = normals ? arena_alloc(a, (size_t)vertices, sizeof *s->N, 0) : NULL;
    s->UV = uv ? arena_alloc(a, (size_t)vertices, sizeof *s->UV, 0) : NULL;
    s->colors = colors ? arena_alloc(a, (size_t)vertices, sizeof *s->colors, 0) : NULL;
    s->triangles = arena_alloc(a, (size_t)triangles, sizeof *s->triangles, 0);
    s->triangle_flags = ARENA_ARRAY(a, uint8_t, (size_t)triangles);
    s->spheres = ARENA_ARRAY(a, struct sphere, (size_t)t->spheres);
    s->disks = ARENA_ARRAY(a, struct disk, (size_t)t->disks);
    s->primitive_material = ARENA_ARRAY(a, uint32_t, (size_t)primitives);
    s->instances = ARENA_ARRAY(a, struct instance, (size_t)t->instances);
    if (!s->P || (normals && !s->N) || (uv && !s->UV) || (colors && !s->colors) || !s->triangles ||
        !s->triangle_flags || !s->spheres || !s->disks || !s->primitive_material || !s->instances)
        return document_memory(&l->d);
    return STATUS_OK;
}

/* ---- triangles ------------------------------------------------------------------------------ */

/* True if the triangle has an area that float32 can work with: the cross product of its edges, in
 * float32 as in double, has a squared length that is neither 0 nor subnormal nor infinite. */
static bool has_area(const float *a, const float *b, const float *c)
{
    static const double least = 1e-36, most = 1e37;
    float e1[3], e2[3], x[3];
    double f1[3], f2[3], y[3], len2 = 0, flen2 = 0;
    for (int i = 0; i < 3; i++) {
        e1[i] = b[i] - a[i];
        e2[i] = c[i] - a[i];
        f1[i] = (double)b[i] - (double)a[i];
        f2[i] = (double)c[i] - (double)a[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        x[i] = e1[j] * e2[k] - e1[k] * e2[j];
        y[i] = f1[j] * f2[k] - f1[k] * f2[j];
        flen2 += (double)x[i] * (double)x[i];
        len2 += y[i] * y[i];
    }
    return len2 >= least && len2 <= most && flen2 >= least && flen2 <= most; /* NaN fails */
}

static enum status put_vertices(struct flattening *f, const struct object *o,
                                const struct transform *to_world)
{
    const struct model *m = &o->model->model;
    struct scene *s = f->s;
    double normal[3][3];
    transform_normal_matrix(to_world, normal);
    const float(*N)[3] = o->normals == NORMALS_SMOOTH  ? (const float(*)[3])o->model->smooth
                         : o->normals == NORMALS_ANGLE ? (const float(*)[3])o->model->angle
                         : o->normals == NORMALS_FILE  ? m->N
                                                       : NULL;
    for (uint64_t i = 0; i < m->vertex_count; i++) {
        size_t at = f->vertices + i;
        double p[3] = {(double)m->P[i][0], (double)m->P[i][1], (double)m->P[i][2]}, q[3];
        transform_point(to_world, p, q);
        for (int c = 0; c < 3; c++) {
            const double *away = f->frame;
            if (fabs(q[c] + away[c]) > coordinate_max && isfinite(p[0]) && isfinite(p[1]) &&
                isfinite(p[2]))
                return json_error(f->l->d.err, f->l->d.file, o->json, STATUS_RANGE,
                                  "vertex %" PRIu64 " lies at (%g, %g, %g), expected coordinates "
                                  "up to %g: scale the scene",
                                  i, q[0] + away[0], q[1] + away[1], q[2] + away[2],
                                  coordinate_max);
            s->P[at][c] = (float)q[c];
        }
        if (m->UV) {
            s->UV[at][0] = m->UV[i][0];
            s->UV[at][1] = m->UV[i][1];
        }
        if (m->colors && !o->colorless)
            memcpy(s->colors[at], m->colors[i], sizeof s->colors[at]);
        if (!N)
            continue;
        double n[3];
        for (int c = 0; c < 3; c++)
            n[c] = normal[c][0] * (double)N[i][0] + normal[c][1] * (double)N[i][1] +
                   normal[c][2] * (double)N[i][2];
        double len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int c = 0; c < 3; c++)
            s->N[at][c] = len > 0 && isfinite(len) ? (float)(n[c] / len) : 0;
    }
    return STATUS_OK;
}

/* Vertices that are not finite belong to no triangle now; nobody shall trip over them. */
static void settle_vertices(struct scene *s, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (!isfinite(s->P[i][0]) || !isfinite(s->P[i][1]) || !isfinite(s->P[i][2]))
            memset(s->P[i], 0, sizeof s->P[i]);
        if (s->UV && (!isfinite(s->UV[i][0]) || !isfinite(s->UV[i][1])))
            memset(s->UV[i], 0, sizeof s->UV[i]);
    }
}

static enum status put_triangles(struct flattening *f, const struct object *o,
                                 const struct transform *to_world)
{
    const struct model *m = &o->model->model;
    struct scene *s = f->s;
    size_t before = f->triangles;
    TRY(put_vertices(f, o, to_world));
    bool mirrored = transform_determinant(to_world) < 0;
    uint8_t all = (m->N ? TRIANGLE_HAS_NORMALS : 0U) | (m->UV ? TRIANGLE_HAS_UV : 0U) |
                  (m->colors ? TRIANGLE_HAS_COLORS : 0U);
    for (uint64_t i = 0; i < m->triangle_count; i++) {
        uint32_t v[3];
        for (int k = 0; k < 3; k++)
            v[k] = m->triangles[i][mirrored && k ? 3 - k : k] + (uint32_t)f->vertices;
        if (!has_area(s->P[v[0]], s->P[v[1]], s->P[v[2]])) {
            s->dropped_degenerate++;
            continue;
        }
        uint8_t flags = m->flags ? m->flags[i] : all;
        if (o->normals >= NORMALS_SMOOTH)
            flags |= TRIANGLE_HAS_NORMALS;
        else if (o->normals == NORMALS_FACE)
            flags &= (uint8_t)~TRIANGLE_HAS_NORMALS;
        if (o->colorless)
            flags &= (uint8_t)~TRIANGLE_HAS_COLORS;
        uint32_t material = o->material;
        if (o->model->face_material)
            material = o->model->face_material[i];
        else if (material == UINT32_MAX)
            TRY(adopt_material(f->l, o->model, m->material[i], &material));
        memcpy(s->triangles[f->triangles], v, sizeof v);
        s->triangle_flags[f->triangles++] = flags;
        *f->triangle_material++ = material;
    }
    if (f->triangles == before)
        return json_error(f->l->d.err, f->l->d.file, o->json, STATUS_TYPE,
                          "none of the %" PRIu64
                          " triangles has an area and finite vertices, expected a mesh that can be "
                          "seen",
                          m->triangle_count);
    settle_vertices(s, f->vertices, f->vertices + (size_t)m->vertex_count);
    f->vertices += (size_t)m->vertex_count;
    return STATUS_OK;
}

/* ---- spheres and disks ---------------------------------------------------------------------- */

static enum status put_round(struct flattening *f, const struct object *o,
                             const struct transform *to_world)
{
    const char *kind = o->type == OBJECT_SPHERE ? "sphere" : "disk";
    double factor, c[3];
    struct document *d = &f->l->d;
    if (!transform_is_uniform(to_world, &factor))
        return json_error(
            d->err, d->file, o->json, STATUS_UNSUPPORTED,
            "the %s is scaled differently along different axes (its own transform and "
            "its instances'), expected the same scale: a mesh could be stretched",
            kind);
    transform_point(to_world, o->center, c);
    double radius = o->radius * factor;
    for (int i = 0; i < 3; i++)
        if (!(fabs(c[i] + f->frame[i]) + radius <= coordinate_max) || radius < 1e-9)
            return json_error(d->err, d->file, o->json, STATUS_RANGE,
                              "the %s lies at (%g, %g, %g) with radius %g, expected coordinates up "
                              "to %g and a radius of at least 1e-9",
                              kind, c[0] + f->frame[0], c[1] + f->frame[1], c[2] + f->frame[2],
                              radius, coordinate_max);
    if (o->type == OBJECT_SPHERE) {
        struct sphere *s = &f->s->spheres[f->spheres];
        for (int i = 0; i < 3; i++)
            s->center[i] = (float)c[i];
        s->radius = (float)radius;
        f->sphere_material[f->spheres++] = o->material;
        return STATUS_OK;
    }
    struct disk *s = &f->s->disks[f->disks];
    double n[3];
    transform_direction(to_world, o->normal, n);
    double len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++) {
        s->center[i] = (float)c[i];
        s->normal[i] = (float)(n[i] / len);
    }
    s->radius = (float)radius;
    f->disk_material[f->disks++] = o->material;
    return STATUS_OK;
}

/* ---- instances ------------------------------------------------------------------------------ */

static enum status put_instance(struct flattening *f, const struct object *o,
                                const struct transform *to_world)
{
    struct instance *n = &f->s->instances[f->instances];
    double at[3]; /* where the prototype's origin comes to */
    transform_point(to_world, o->group->origin, at);
    n->prototype = o->group->prototype;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            n->to_world[i][j] = (float)(j < 3 ? to_world->m[i][j] : at[i]);
    f->instance_json[f->instances++] = o->json;
    return STATUS_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static enum status put_group(struct flattening *f, const struct object_group *g,
                             const struct transform *parent)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct object *o = &g->objects[i];
        if (cancel_requested)
            return error_msg(f->l->d.err, STATUS_CANCELLED, "stopped while placing objects");
        struct transform t = transform_after(parent, &o->to_parent);
        double det = transform_determinant(&t);
        if (!(fabs(det) >= 1e-30 && fabs(det) <= 1e30))
            return json_error(
                f->l->d.err, f->l->d.file, o->json, STATUS_RANGE,
                "with its instances' transforms the determinant is %g, expected 1e-30 "
                "to 1e30",
                det);
        if (o->group && o->group->prototype != UINT32_MAX && !f->inside)
            TRY(put_instance(f, o, &t));
        else if (o->group)
            TRY(put_group(f, o->group, &t));
        else if (o->model)
            TRY(put_triangles(f, o, &t));
        else
            TRY(put_round(f, o, &t));
    }
    return STATUS_OK;
}

static void bounds_add(struct scene *s, const float *p, const double extent[3])
{
    for (int c = 0; c < 3; c++) {
        s->bounds_min[c] = fmin(s->bounds_min[c], (double)p[c] - extent[c]);
        s->bounds_max[c] = fmax(s->bounds_max[c], (double)p[c] + extent[c]);
    }
}

/* The box of a prototype in its own space. */
static void prototype_box(const struct scene *s, const struct prototype *p, double box[2][3])
{
    for (int c = 0; c < 3; c++) {
        box[0][c] = INFINITY;
        box[1][c] = -INFINITY;
    }
    for (size_t i = p->first; i < (size_t)p->first + p->count; i++)
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++) {
                double x = (double)s->P[s->triangles[i][k]][c];
                box[0][c] = fmin(box[0][c], x);
                box[1][c] = fmax(box[1][c], x);
            }
}

/* Boxes of instances are those of their prototypes' boxes. */
static enum status bounds_add_instances(struct loader *l)
{
    struct scene *s = l->scene;
    double(*boxes)[2][3] = arena_alloc(&l->d.arena, s->prototype_count, sizeof *boxes, 0);
    if (!boxes)
        return document_memory(&l->d);
    for (size_t i = 0; i < s->prototype_count; i++)
        prototype_box(s, &s->prototypes[i], boxes[i]);
    for (size_t i = 0; i < s->instance_count; i++) {
        const struct instance *n = &s->instances[i];
        for (int c = 0; c < 3; c++) {
            double lo = (double)n->to_world[c][3], hi = lo;
            for (int k = 0; k < 3; k++) {
                double a = (double)n->to_world[c][k] * boxes[n->prototype][0][k];
                double b = (double)n->to_world[c][k] * boxes[n->prototype][1][k];
                lo += fmin(a, b);
                hi += fmax(a, b);
            }
            s->bounds_min[c] = fmin(s->bounds_min[c], lo);
            s->bounds_max[c] = fmax(s->bounds_max[c], hi);
        }
    }
    return STATUS_OK;
}

static void find_bounds(struct scene *s)
{
    static const double none[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++) {
        s->bounds_min[c] = INFINITY;
        s->bounds_max[c] = -INFINITY;
    }
    for (size_t i = 0; i < s->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            bounds_add(s, s->P[s->triangles[i][k]], none);
    for (size_t i = 0; i < s->sphere_count; i++) {
        double r = (double)s->spheres[i].radius;
        bounds_add(s, s->spheres[i].center, (double[3]){r, r, r});
    }
    for (size_t i = 0; i < s->disk_count; i++) {
        const struct disk *d = &s->disks[i];
        double extent[3]; /* of a circle of radius r about n: r sqrt(1 - n_c^2) along axis c */
        for (int c = 0; c < 3; c++)
            extent[c] =
                (double)d->radius * sqrt(fmax(0, 1 - (double)d->normal[c] * (double)d->normal[c]));
        bounds_add(s, d->center, extent);
    }
}

/* The largest row sum of absolute values. */
static double matrix_norm(const struct transform *t)
{
    double most = 0;
    for (int i = 0; i < 3; i++)
        most = fmax(most, fabs(t->m[i][0]) + fabs(t->m[i][1]) + fabs(t->m[i][2]));
    return most;
}

/* Can float32 work with rays in the space of the instance? reach: the largest coordinate in the
 * world that a ray has. The largest product in the triangle test is that of three coordinates in
 * object space and of the reciprocal of a direction, which is at most the transform's norm. */
static bool instance_workable(const struct instance *n, double reach)
{
    struct transform t, inverse;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            t.m[i][j] = (double)n->to_world[i][j];
    double det = transform_determinant(&t);
    if (!(fabs(det) >= 1e-30 && fabs(det) <= 1e30))
        return false;
    inverse = transform_inverse(&t);
    double far = matrix_norm(&inverse) * reach, size = matrix_norm(&t);
    for (int i = 0; i < 3; i++)
        far = fmax(far, matrix_norm(&inverse) * reach + fabs(inverse.m[i][3]));
    return far * far * far * size <= 0x1p116 && matrix_norm(&inverse) <= 0x1p60;
}

/* What needs all of the world: bounds, ids, ranges. */
static enum status finish_instances(struct flattening *f)
{
    struct scene *s = f->s;
    size_t id = scene_primitive_count(s);
    double reach = 0;
    TRY(bounds_add_instances(f->l));
    for (int c = 0; c < 3 && s->instance_count > 0; c++) {
        reach = fmax(reach, fmax(fabs(s->bounds_min[c]), fabs(s->bounds_max[c])));
        reach = fmax(reach, fabs(s->camera.origin[c]));
    }
    for (size_t i = 0; i < s->instance_count; i++) {
        struct instance *n = &s->instances[i];
        n->first_id = (uint32_t)id;
        id += s->prototypes[n->prototype].count;
        if (reach > coordinate_max || !instance_workable(n, reach))
            return json_error(
                f->l->d.err, f->l->d.file, f->instance_json[i], STATUS_RANGE,
                "the instance's transform and a scene that reaches to %g are too much "
                "for float32, expected coordinates up to %g and scales nearer to 1, "
                "or \"instancing\": \"flatten\"",
                reach, coordinate_max);
    }
    return STATUS_OK;
}

static enum status put_prototypes(struct flattening *f)
{
    struct loader *l = f->l;
    struct scene *s = f->s;
    f->inside = true;
    for (size_t i = 0; i < l->read_count; i++) {
        const struct object_group *g = l->read[i];
        if (g->prototype == UINT32_MAX)
            continue;
        struct prototype *p = &s->prototypes[g->prototype];
        *p = (struct prototype){.first = (uint32_t)f->triangles};
        struct transform moved = transform_identity;
        for (int c = 0; c < 3; c++)
            moved.m[c][3] -= g->origin[c];
        f->frame = g->origin;
        TRY(put_group(f, g, &moved));
        p->count = (uint32_t)(f->triangles - p->first);
        p->name = arena_strdup(&s->arena, g->name);
        if (!p->name)
            return document_memory(&l->d);
    }
    s->prototype_triangle_count = f->triangles - s->triangle_count;
    return STATUS_OK;
}

enum status flatten_objects(struct loader *l)
{
    struct scene *s = l->scene;
    struct object_totals prototypes = {0};
    TRY(choose_prototypes(l));
    const struct object_totals *t = &l->objects.placed;
    for (size_t i = 0; i < l->read_count; i++)
        if (l->read[i]->prototype != UINT32_MAX)
            totals_add(&prototypes, &l->read[i]->totals);
    TRY(take_room(l, t, &prototypes));
    struct flattening f = {
        .l = l, .s = s, .triangle_material = s->primitive_material, .frame = s->frame_origin};
    f.sphere_material = s->primitive_material + t->triangles;
    f.disk_material = f.sphere_material + t->spheres;
    f.instance_json = ARENA_ARRAY(&l->d.arena, const struct json *, (size_t)t->instances);
    if (!f.instance_json)
        return document_memory(&l->d);
    struct transform moved = transform_identity;
    for (int c = 0; c < 3; c++) {
        moved.m[c][3] = -s->frame_origin[c];
        s->camera.origin[c] -= s->frame_origin[c];
    }
    TRY(put_group(&f, &l->objects, &moved));
    s->triangle_count = f.triangles;
    s->sphere_count = f.spheres;
    s->disk_count = f.disks;
    s->instance_count = f.instances;
    if (s->dropped_degenerate) /* close the gap that they left */
        memmove(s->primitive_material + s->triangle_count, s->primitive_material + t->triangles,
                (s->sphere_count + s->disk_count) * sizeof *s->primitive_material);
    f.triangle_material = s->primitive_material + scene_primitive_count(s);
    TRY(put_prototypes(&f));
    s->vertex_count = f.vertices;
    if (!t->normals && !prototypes.normals)
        s->N = NULL;
    find_bounds(s);
    return finish_instances(&f);
}
