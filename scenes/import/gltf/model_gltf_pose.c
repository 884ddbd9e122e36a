/* SPDX-License-Identifier: Apache-2.0 */
/* Where the vertices of glTF 2 meshes stand in the file's own pose: morph targets by their weights
 * (specification, section 3.7.2.2), then skins by their joints (3.7.3). */
#define _GNU_SOURCE
#include "model_gltf.h"

#include <math.h>
#include <string.h>

/* ---- nodes ---------------------------------------------------------------------------------- */

static void find_parents(struct gltf *g)
{
    g->parent = source_alloc(g->s, g->nodes.count, sizeof *g->parent);
    for (uint32_t i = 0; i < g->nodes.count; i++) {
        const struct json *children = gltf_get(g, g->nodes.at[i], "children", JSON_ARRAY);
        for (const struct json *c = children ? children->first : NULL; c; c = c->next)
            g->parent[gltf_index(g, c, &g->nodes)->index] = g->nodes.at[i];
    }
}

static struct transform node_to_model(struct gltf *g, const struct json *node)
{
    struct transform t = gltf_node_transform(g, node);
    if (!g->parent)
        find_parents(g);
    int depth = 0;
    for (const struct json *up = g->parent[node->index]; up; up = g->parent[up->index]) {
        if (++depth > GLTF_DEPTH_MAX)
            source_refuse(g->s, STATUS_LIMIT, "%s nests its nodes more than %d deep", g->s->path,
                          GLTF_DEPTH_MAX);
        struct transform outer = gltf_node_transform(g, up);
        t = transform_after(&outer, &t);
    }
    return t;
}

/* ---- vertices ------------------------------------------------------------------------------- */

/* A copy of three numbers each, as an accessor. */
static float (*make_writable(struct gltf *g, struct gltf_accessor *a))[3]
{
    float(*copy)[3] = source_alloc(g->s, a->count, sizeof *copy);
    for (uint64_t i = 0; i < a->count; i++)
        for (int c = 0; c < 3; c++)
            copy[i][c] = (float)gltf_value(a, i, c);
    *a = (struct gltf_accessor){.data = (const unsigned char *)copy,
                                .stride = sizeof *copy,
                                .count = a->count,
                                .type = GLTF_FLOAT,
                                .components = 3};
    return copy;
}

static void add_target(struct gltf *g, const struct json *target, const char *key, double weight,
                       float (*to)[3], uint64_t count)
{
    struct gltf_accessor by = gltf_accessor_of(g, target, key, 3);
    if (!by.data || !to)
        return;
    if (by.count < count)
        gltf_bad(g, target, "a displacement for each vertex");
    for (uint64_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            to[i][c] += (float)(weight * gltf_value(&by, i, c));
}

static void morph(struct gltf *g, const struct json *targets, const struct json *weights,
                  struct gltf_accessor *P, struct gltf_accessor *N)
{
    float(*positions)[3] = NULL, (*normals)[3] = NULL;
    const struct json *w = weights->first;
    for (const struct json *t = targets->first; t && w; t = t->next, w = w->next) {
        if (w->type != JSON_NUMBER)
            gltf_bad(g, w, "a number");
        if (t->type != JSON_OBJECT)
            gltf_bad(g, t, "an object");
        if (w->number == 0)
            continue;
        if (!positions) {
            positions = make_writable(g, P);
            normals = N->data ? make_writable(g, N) : NULL;
        }
        add_target(g, t, "POSITION", w->number, positions, P->count);
        add_target(g, t, "NORMAL", w->number, normals, P->count);
    }
}

/* What each joint of the skin does to the mesh: its place times the inverse of where it was bound.
 */
static struct transform *joint_transforms(struct gltf *g, const struct json *skin, size_t *count)
{
    const struct json *joints = gltf_get(g, skin, "joints", JSON_ARRAY);
    struct gltf_accessor bound = gltf_accessor_of(g, skin, "inverseBindMatrices", 16);
    *count = joints ? joints->count : 0;
    if (*count == 0 || (bound.data && bound.count < *count))
        gltf_bad(g, skin, "\"joints\", and as many \"inverseBindMatrices\"");
    struct transform *out = source_alloc(g->s, *count, sizeof *out), *to = out;
    for (const struct json *j = joints->first; j; j = j->next, to++) {
        *to = node_to_model(g, gltf_index(g, j, &g->nodes));
        struct transform inverse = transform_identity;
        for (int i = 0; i < 12 && bound.data; i++) /* columns first */
            inverse.m[i % 3][i / 3] = gltf_value(&bound, j->index, i / 3 * 4 + i % 3);
        *to = transform_after(to, &inverse);
    }
    return out;
}

enum { SETS_MAX = 16 }; /* of four joints each */

struct binding {
    struct gltf_accessor joints[SETS_MAX], weights[SETS_MAX];
    int sets;
    const struct transform *transforms;
    size_t count;
};

static void read_binding(struct gltf *g, const struct json *attributes, uint64_t vertices,
                         struct binding *b)
{
    for (b->sets = 0; b->sets < SETS_MAX; b->sets++) {
        char joints[24], weights[24];
        snprintf(joints, sizeof joints, "JOINTS_%d", b->sets);
        snprintf(weights, sizeof weights, "WEIGHTS_%d", b->sets);
        struct gltf_accessor *j = &b->joints[b->sets], *w = &b->weights[b->sets];
        *j = gltf_accessor_of(g, attributes, joints, 4);
        *w = gltf_accessor_of(g, attributes, weights, 4);
        if (!j->data || !w->data)
            return;
        if (j->count < vertices || w->count < vertices ||
            (j->type != GLTF_UBYTE && j->type != GLTF_USHORT))
            gltf_bad(g, attributes, "joints and weights for each vertex");
    }
}

/* The mean of its joints' transforms; without a weight the first one's. */
static struct transform vertex_transform(struct gltf *g, const struct binding *b, uint64_t vertex)
{
    struct transform t = {0};
    double sum = 0;
    const struct transform *first = NULL;
    for (int k = 0; k < 4 * b->sets; k++) {
        double w = gltf_value(&b->weights[k / 4], vertex, k % 4),
               joint = gltf_value(&b->joints[k / 4], vertex, k % 4);
        if (k > 0 && !(w > 0))
            continue;
        if (!(joint < (double)b->count))
            source_refuse(g->s, STATUS_PARSE, "%s: a vertex names joint %.0f of %zu", g->s->path,
                          joint, b->count);
        const struct transform *j = &b->transforms[(size_t)joint];
        first = first ? first : j;
        w = w > 0 ? w : 0;
        sum += w;
        for (int i = 0; i < 12; i++)
            t.m[i / 4][i % 4] += w * j->m[i / 4][i % 4];
    }
    if (!(sum > 0))
        return *first;
    for (int i = 0; i < 12; i++)
        t.m[i / 4][i % 4] /= sum;
    return t;
}

static void bend(struct gltf *g, const struct binding *b, struct gltf_accessor *P,
                 struct gltf_accessor *N)
{
    float(*positions)[3] = make_writable(g, P),
    (*normals)[3] = N->data ? make_writable(g, N) : NULL;
    for (uint64_t i = 0; i < P->count; i++) {
        struct transform t = vertex_transform(g, b, i);
        double from[3], to[3], m[3][3];
        for (int c = 0; c < 3; c++)
            from[c] = (double)positions[i][c];
        transform_point(&t, from, to);
        for (int c = 0; c < 3; c++)
            positions[i][c] = (float)to[c];
        if (!normals)
            continue;
        transform_normal_matrix(&t, m);
        double n[3], length = 0;
        for (int c = 0; c < 3; c++) {
            n[c] = m[c][0] * (double)normals[i][0] + m[c][1] * (double)normals[i][1] +
                   m[c][2] * (double)normals[i][2];
            length += n[c] * n[c];
        }
        for (int c = 0; c < 3; c++)
            normals[i][c] = length > 0 ? (float)(n[c] / sqrt(length)) : 0;
    }
}

bool gltf_has_joints(struct gltf *g, const struct json *mesh)
{
    const struct json *all = gltf_get(g, mesh, "primitives", JSON_ARRAY);
    for (const struct json *v = all ? all->first : NULL; v; v = v->next) {
        const struct json *attributes = gltf_get(g, v, "attributes", JSON_OBJECT);
        if (attributes && json_get(attributes, "JOINTS_0") && json_get(attributes, "WEIGHTS_0"))
            return true;
    }
    return false;
}

void gltf_pose(struct gltf *g, const struct json *primitive, const struct json *weights,
               const struct json *skin, struct gltf_accessor *P, struct gltf_accessor *N)
{
    const struct json *targets = gltf_get(g, primitive, "targets", JSON_ARRAY);
    if (targets && weights)
        morph(g, targets, weights, P, N);
    if (!skin)
        return;
    struct binding b;
    read_binding(g, gltf_get(g, primitive, "attributes", JSON_OBJECT), P->count, &b);
    if (b.sets == 0)
        return;
    b.transforms = joint_transforms(g, skin, &b.count);
    bend(g, &b, P, N);
}
