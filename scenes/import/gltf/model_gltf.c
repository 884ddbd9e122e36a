/* SPDX-License-Identifier: Apache-2.0 */
/* glTF 2 from its own JSON: the child's reader. Assimp loses what extensions say, and much of what
 * the core does (texture transforms, double precision of matrices, instances, a second set of
 * texture coordinates). */
#define _GNU_SOURCE
#include "model_gltf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const size_t file_max = (size_t)4 << 30;

/* ---- fields --------------------------------------------------------------------------------- */

void gltf_bad(struct gltf *g, const struct json *v, const char *expected)
{
    char path[160];
    json_path(v, path, sizeof path);
    source_refuse(g->s, STATUS_PARSE,
                  "cannot read the model %s: line %u, column %u: found %s, "
                  "expected %s (at %s)",
                  g->s->path, v->line, v->col, json_type_name(v->type), expected, path);
}

const struct json *gltf_get(struct gltf *g, const struct json *object, const char *key,
                            enum json_type type)
{
    const struct json *v = object && object->type == JSON_OBJECT ? json_get(object, key) : NULL;
    if (v && v->type != type)
        gltf_bad(g, v, json_type_name(type));
    return v;
}

double gltf_number(struct gltf *g, const struct json *object, const char *key, double absent)
{
    const struct json *v = gltf_get(g, object, key, JSON_NUMBER);
    return v ? v->number : absent;
}

void gltf_numbers(struct gltf *g, const struct json *object, const char *key, int count,
                  double *out)
{
    const struct json *v = gltf_get(g, object, key, JSON_ARRAY);
    if (!v)
        return;
    if (v->count != (size_t)count)
        gltf_bad(g, v,
                 count == 2   ? "2 numbers"
                 : count == 3 ? "3 numbers"
                 : count == 4 ? "4 numbers"
                              : "16 numbers");
    int i = 0;
    for (const struct json *n = v->first; n; n = n->next) {
        if (n->type != JSON_NUMBER)
            gltf_bad(g, n, "a number");
        out[i++] = n->number;
    }
}

bool gltf_flag(struct gltf *g, const struct json *object, const char *key)
{
    const struct json *v = gltf_get(g, object, key, JSON_BOOL);
    return v && v->boolean;
}

const char *gltf_text(struct gltf *g, const struct json *object, const char *key)
{
    const struct json *v = gltf_get(g, object, key, JSON_STRING);
    return v ? v->string : NULL;
}

const struct json *gltf_index(struct gltf *g, const struct json *v, const struct gltf_items *items)
{
    if (v->type != JSON_NUMBER || !v->is_integer || v->integer < 0 ||
        v->integer >= (int64_t)items->count)
        gltf_bad(g, v, "the index of what there is");
    return items->at[v->integer];
}

const struct json *gltf_item(struct gltf *g, const struct json *object, const char *key,
                             const struct gltf_items *items)
{
    const struct json *v = gltf_get(g, object, key, JSON_NUMBER);
    return v ? gltf_index(g, v, items) : NULL;
}

const struct json *gltf_extension(struct gltf *g, const struct json *object, const char *name)
{
    return gltf_get(g, gltf_get(g, object, "extensions", JSON_OBJECT), name, JSON_OBJECT);
}

static struct gltf_items items_of(struct gltf *g, const struct json *object, const char *key)
{
    struct gltf_items items = {0};
    const struct json *v = gltf_get(g, object, key, JSON_ARRAY);
    if (!v || v->count == 0)
        return items;
    if (v->count > INT32_MAX)
        gltf_bad(g, v, "fewer than 2^31 entries");
    items.at = source_alloc(g->s, v->count, sizeof(const struct json *));
    for (const struct json *i = v->first; i; i = i->next) {
        if (i->type != JSON_OBJECT)
            gltf_bad(g, i, "an object");
        items.at[items.count++] = i;
    }
    return items;
}

uint64_t gltf_size(struct gltf *g, const struct json *object, const char *key, uint64_t absent)
{
    const struct json *v = gltf_get(g, object, key, JSON_NUMBER);
    if (!v)
        return absent;
    if (!v->is_integer || v->integer < 0 || v->integer > ((int64_t)1 << 40))
        gltf_bad(g, v, "an integer from 0");
    return (uint64_t)v->integer;
}

/* ---- meshes --------------------------------------------------------------------------------- */

struct primitive {
    struct gltf_accessor P, N, UV, colors;
    struct gltf_accessor indices; /* data NULL when the vertices stand in order */
    int mode;
    bool faded; /* alpha of its colours in place of texture coordinates: gltf_fading_material */
};

static void primitive_vertex(const struct source_mesh *m, uint64_t i, struct source_vertex *out)
{
    const struct primitive *p = m->data;
    for (int c = 0; c < 3; c++)
        out->P[c] = (float)gltf_value(&p->P, i, c);
    for (int c = 0; c < 3 && p->N.data; c++)
        out->N[c] = (float)gltf_value(&p->N, i, c);
    if (p->UV.data) { /* v = 0 is the upper edge there */
        out->UV[0] = (float)gltf_value(&p->UV, i, 0);
        out->UV[1] = (float)(1 - gltf_value(&p->UV, i, 1));
    }
    if (p->faded)
        gltf_fading_coordinates(source_clamp(gltf_value(&p->colors, i, 3), 0, 1), out->UV);
    for (int c = 0; c < 3 && m->flags & TRIANGLE_HAS_COLORS; c++)
        out->color[c] = (float)source_clamp(gltf_value(&p->colors, i, c), 0, 1);
}

uint64_t gltf_triangle_count(int mode, uint64_t n)
{
    return mode == GLTF_TRIANGLES ? n / 3 : n >= 3 ? n - 2 : 0;
}

void gltf_triangle(int mode, const struct gltf_accessor *indices, uint64_t i, uint64_t out[3])
{
    if (mode == GLTF_TRIANGLES)
        for (uint64_t k = 0; k < 3; k++)
            out[k] = 3 * i + k;
    else if (mode == GLTF_STRIP)
        out[0] = i, out[1] = i + 1 + i % 2, out[2] = i + 2 - i % 2;
    else
        out[0] = i + 1, out[1] = i + 2, out[2] = 0;
    for (int k = 0; k < 3 && indices->data; k++)
        out[k] = (uint64_t)gltf_value(indices, out[k], 0);
}

static bool primitive_triangle(const struct source_mesh *m, uint64_t i, uint64_t out[3])
{
    const struct primitive *p = m->data;
    gltf_triangle(p->mode, &p->indices, i, out);
    return true;
}

/* COLOR_0, three or four numbers; integers always mean 0 to 1. */
static void read_colors(struct gltf *g, const struct json *attributes, struct primitive *p)
{
    const struct json *at = gltf_item(g, attributes, "COLOR_0", &g->accessors);
    const char *type = gltf_text(g, at, "type");
    p->colors =
        gltf_accessor_of(g, attributes, "COLOR_0", type && strcmp(type, "VEC4") == 0 ? 4 : 3);
    p->colors.normalized = p->colors.type != GLTF_FLOAT;
}

/* All white is what many writers say for nothing. */
static bool has_colors(const struct gltf_accessor *colors)
{
    for (uint64_t i = 0; i < colors->count && colors->data; i++)
        for (int c = 0; c < 3; c++)
            if (gltf_value(colors, i, c) != 1)
                return true;
    return false;
}

/* The alpha of vertex colours, where the material takes any. One for all vertices is the factor of
 * another material; else, if no texture needs the coordinates, it goes by them. */
static uint32_t fade(struct gltf *g, const struct json *material, struct primitive *p)
{
    const char *mode = gltf_text(g, material, "alphaMode");
    double lo = 1, hi = 0;
    if (!material)
        return UINT32_MAX;
    if (!mode || strcmp(mode, "OPAQUE") == 0 || p->colors.components < 4)
        return material->index;
    for (uint64_t i = 0; i < p->colors.count; i++) {
        double alpha = source_clamp(gltf_value(&p->colors, i, 3), 0, 1);
        lo = fmin(lo, alpha);
        hi = fmax(hi, alpha);
    }
    if (lo >= hi)
        return lo == 1 ? material->index : gltf_faded_material(g, material, lo);
    uint32_t number = gltf_fading_material(g, material);
    p->faded = number != UINT32_MAX;
    if (p->faded)
        return number;
    source_note(g->s, "the alpha of vertex colours beside textures (material \"%.100s\")",
                g->s->material_name[material->index]);
    return material->index;
}

static void check_primitive(struct gltf *g, const struct json *v, const struct primitive *p)
{
    const struct json *attributes = gltf_get(g, v, "attributes", JSON_OBJECT);
    if (!p->P.data || (p->N.data && p->N.count < p->P.count) ||
        (p->UV.data && p->UV.count < p->P.count) ||
        (p->colors.data && p->colors.count < p->P.count))
        gltf_bad(g, attributes, "\"POSITION\", and as many of the others");
    if (p->indices.data && p->indices.type != GLTF_UBYTE && p->indices.type != GLTF_USHORT &&
        p->indices.type != GLTF_UINT)
        gltf_bad(g, json_get(v, "indices"), "unsigned integers");
}

/* What holds for the primitives of a mesh at one place. */
struct pose {
    const struct json *weights; /* of morph targets; NULL: none */
    const struct json *skin;    /* NULL: none */
};

/* False when it is no triangles. */
static bool read_primitive(struct gltf *g, const struct json *v, const struct pose *pose,
                           struct source_mesh *out)
{
    struct source *s = g->s;
    const struct json *attributes = gltf_get(g, v, "attributes", JSON_OBJECT);
    struct primitive *p = source_alloc(s, 1, sizeof *p);
    p->mode = (int)gltf_size(g, v, "mode", GLTF_TRIANGLES);
    if (p->mode < GLTF_TRIANGLES || p->mode > GLTF_FAN) {
        source_note(s, "points and lines");
        return false;
    }
    if (!attributes)
        gltf_bad(g, v, "\"attributes\"");
    const struct json *material = gltf_item(g, v, "material", &g->materials);
    char uv[24];
    snprintf(uv, sizeof uv, "TEXCOORD_%u", material ? g->uv_set[material->index] : 0);
    p->P = gltf_accessor_of(g, attributes, "POSITION", 3);
    p->N = gltf_accessor_of(g, attributes, "NORMAL", 3);
    p->UV = gltf_accessor_of(g, attributes, uv, 2);
    p->indices = gltf_accessor_of(g, v, "indices", 1);
    read_colors(g, attributes, p);
    check_primitive(g, v, p);
    gltf_pose(g, v, pose->weights, pose->skin, &p->P, &p->N);
    uint32_t number = fade(g, material, p);
    uint64_t n = p->indices.data ? p->indices.count : p->P.count;
    uint64_t triangles = gltf_triangle_count(p->mode, n);
    if (json_get(attributes, "COLOR_1"))
        source_note(s, "vertex colours beyond the first set");
    *out = (struct source_mesh){
        .data = p,
        .vertex_count = p->P.count,
        .face_count = triangles,
        .triangle_count = triangles,
        .material = number,
        .flags = (uint8_t)((p->N.data ? TRIANGLE_HAS_NORMALS : 0U) |
                           (p->UV.data || p->faded ? TRIANGLE_HAS_UV : 0U) |
                           (has_colors(&p->colors) ? TRIANGLE_HAS_COLORS : 0U)),
    };
    return true;
}

static struct gltf_list read_list(struct gltf *g, const struct json *mesh, const struct pose *pose)
{
    struct source *s = g->s;
    const struct json *all = gltf_get(g, mesh, "primitives", JSON_ARRAY);
    uint32_t *numbers = source_alloc(s, all ? all->count : 0, sizeof *numbers);
    struct gltf_list list = {.meshes = numbers};
    for (const struct json *v = all ? all->first : NULL; v; v = v->next)
        if (read_primitive(g, v, pose, &s->meshes[s->mesh_count]))
            numbers[list.count++] = s->mesh_count++;
    return list;
}

static size_t primitive_count(struct gltf *g, const struct json *mesh)
{
    const struct json *all = gltf_get(g, mesh, "primitives", JSON_ARRAY);
    return all ? all->count : 0;
}

static bool has_own_pose(const struct json *node)
{
    return json_get(node, "skin") || json_get(node, "weights");
}

static void read_meshes(struct gltf *g)
{
    struct source *s = g->s;
    size_t room = 0;
    for (uint32_t i = 0; i < g->meshes.count; i++)
        room += primitive_count(g, g->meshes.at[i]);
    for (uint32_t i = 0; i < g->nodes.count; i++)
        if (has_own_pose(g->nodes.at[i]))
            room += primitive_count(g, gltf_item(g, g->nodes.at[i], "mesh", &g->meshes));
    if (room > INT32_MAX)
        source_refuse(s, STATUS_LIMIT, "%s has more than 2^31 - 1 meshes", s->path);
    s->meshes = source_alloc(s, room, sizeof *s->meshes);
    g->lists = source_alloc(s, g->meshes.count, sizeof *g->lists);
    for (uint32_t i = 0; i < g->meshes.count; i++) {
        const struct json *mesh = g->meshes.at[i];
        struct pose pose = {.weights = gltf_get(g, mesh, "weights", JSON_ARRAY)};
        g->lists[i] = read_list(g, mesh, &pose);
    }
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static struct transform turn(const double q[4])
{
    double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double k = n > 0 ? 2 / n : 0, x = q[0], y = q[1], z = q[2], w = q[3];
    return (struct transform){
        {{1 - k * (y * y + z * z), k * (x * y - z * w), k * (x * z + y * w), 0},
         {k * (x * y + z * w), 1 - k * (x * x + z * z), k * (y * z - x * w), 0},
         {k * (x * z - y * w), k * (y * z + x * w), 1 - k * (x * x + y * y), 0}}};
}

static struct transform from_parts(const double t[3], const double q[4], const double scale[3])
{
    struct transform s = transform_scale(scale), r = turn(q), m = transform_translate(t);
    r = transform_after(&r, &s);
    return transform_after(&m, &r);
}

struct transform gltf_node_transform(struct gltf *g, const struct json *node)
{
    double m[16], t[3] = {0}, q[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1};
    if (json_get(node, "matrix")) { /* columns first */
        struct transform out;
        gltf_numbers(g, node, "matrix", 16, m);
        for (int i = 0; i < 12; i++)
            out.m[i % 3][i / 3] = m[i / 3 * 4 + i % 3];
        return out;
    }
    gltf_numbers(g, node, "translation", 3, t);
    gltf_numbers(g, node, "rotation", 4, q);
    gltf_numbers(g, node, "scale", 3, scale);
    return from_parts(t, q, scale);
}

static void add_mesh_node(struct gltf *g, const struct json *mesh, const struct gltf_list *list,
                          const struct transform *at)
{
    for (int i = 0; i < 12; i++)
        if (!isfinite(at->m[i / 4][i % 4]))
            return;
    if (list->count)
        source_add_node(g->s, &(struct source_node){.meshes = list->meshes,
                                                    .mesh_count = list->count,
                                                    .name = gltf_text(g, mesh, "name"),
                                                    .to_model = *at});
}

/* The meshes of a node in its own pose; those of a skin stand in the model's space already, so that
 * *at changes. */
static struct gltf_list posed_list(struct gltf *g, const struct json *node, const struct json *mesh,
                                   struct transform *at)
{
    struct pose pose = {.weights = gltf_get(g, node, "weights", JSON_ARRAY),
                        .skin = gltf_item(g, node, "skin", &g->skins)};
    if (!has_own_pose(node))
        return g->lists[mesh->index];
    if (!pose.weights)
        pose.weights = gltf_get(g, mesh, "weights", JSON_ARRAY);
    if (pose.skin && gltf_has_joints(g, mesh))
        *at = transform_identity;
    else
        pose.skin = NULL;
    return read_list(g, mesh, &pose);
}

/* EXT_mesh_gpu_instancing: the mesh at many places of the node's space. */
static void add_instances(struct gltf *g, const struct json *extension, const struct json *mesh,
                          const struct gltf_list *list, const struct transform *node)
{
    const struct json *attributes = gltf_get(g, extension, "attributes", JSON_OBJECT);
    struct gltf_accessor t = gltf_accessor_of(g, attributes, "TRANSLATION", 3),
                         q = gltf_accessor_of(g, attributes, "ROTATION", 4),
                         scale = gltf_accessor_of(g, attributes, "SCALE", 3);
    uint64_t count = t.data ? t.count : q.data ? q.count : scale.count;
    if ((q.data && q.count != count) || (scale.data && scale.count != count))
        gltf_bad(g, extension, "attributes of one length");
    for (uint64_t i = 0; i < count; i++) {
        double move[3] = {0}, turns[4] = {0, 0, 0, 1}, size[3] = {1, 1, 1};
        for (int c = 0; c < 3 && t.data; c++)
            move[c] = gltf_value(&t, i, c);
        for (int c = 0; c < 4 && q.data; c++)
            turns[c] = gltf_value(&q, i, c);
        for (int c = 0; c < 3 && scale.data; c++)
            size[c] = gltf_value(&scale, i, c);
        struct transform own = from_parts(move, turns, size), at = transform_after(node, &own);
        add_mesh_node(g, mesh, list, &at);
    }
}

static void axes(const struct transform *t, double origin[3], double forward[3], double up[3])
{
    for (int c = 0; c < 3; c++) {
        origin[c] = t->m[c][3];
        forward[c] = -t->m[c][2];
        up[c] = t->m[c][1];
    }
}

static void add_camera(struct gltf *g, const struct json *v, const char *node_name,
                       const struct transform *at)
{
    const char *name = gltf_text(g, v, "name");
    struct source_camera c = {.name = name ? name : node_name};
    axes(at, c.origin, c.forward, c.up);
    const struct json *flat = gltf_get(g, v, "orthographic", JSON_OBJECT),
                      *view = gltf_get(g, v, "perspective", JSON_OBJECT);
    if (flat) {
        c.height = 2 * gltf_number(g, flat, "ymag", 1);
        c.aspect = gltf_number(g, flat, "xmag", 1) / gltf_number(g, flat, "ymag", 1);
    } else {
        c.fov = gltf_number(g, view, "yfov", 0.8) * (180 / M_PI);
        c.aspect = gltf_number(g, view, "aspectRatio", 0);
    }
    source_camera(g->s, &c);
}

static void add_light(struct gltf *g, const struct json *v, const struct transform *at)
{
    const char *type = gltf_text(g, v, "type");
    struct source_light l = {.name = gltf_text(g, v, "name")};
    double up[3], color[3] = {1, 1, 1}, intensity = gltf_number(g, v, "intensity", 1);
    axes(at, l.position, l.direction, up);
    gltf_numbers(g, v, "color", 3, color);
    for (int c = 0; c < 3; c++)
        l.intensity[c] = color[c] * intensity;
    const struct json *spot = gltf_get(g, v, "spot", JSON_OBJECT);
    l.type = !type || strcmp(type, "point") == 0 ? SOURCE_POINT
             : strcmp(type, "directional") == 0  ? SOURCE_DIRECTIONAL
                                                 : SOURCE_SPOT;
    l.outer = gltf_number(g, spot, "outerConeAngle", M_PI / 4) * (180 / M_PI);
    l.inner = gltf_number(g, spot, "innerConeAngle", 0) * (180 / M_PI);
    if (json_get(v, "range"))
        source_note(g->s, "the range of lights");
    source_light(g->s, &l);
}

static void read_node(struct gltf *g, const struct json *node, const struct transform *parent,
                      int depth)
{
    if (depth > GLTF_DEPTH_MAX)
        source_refuse(g->s, STATUS_LIMIT, "%s nests its nodes more than %d deep", g->s->path,
                      GLTF_DEPTH_MAX);
    if (g->visited[node->index])
        gltf_bad(g, node, "a node with one parent");
    g->visited[node->index] = true;
    const struct json *shown =
        gltf_get(g, gltf_extension(g, node, "KHR_node_visibility"), "visible", JSON_BOOL);
    if (shown && !shown->boolean) {
        source_note(g->s, "nodes that are hidden");
        return;
    }
    struct transform own = gltf_node_transform(g, node), at = transform_after(parent, &own);
    const struct json *mesh = gltf_item(g, node, "mesh", &g->meshes),
                      *camera = gltf_item(g, node, "camera", &g->cameras),
                      *instances = gltf_extension(g, node, "EXT_mesh_gpu_instancing"),
                      *light = gltf_item(g, gltf_extension(g, node, "KHR_lights_punctual"), "light",
                                         &g->lights);
    if (mesh) {
        struct transform place = at;
        struct gltf_list list = posed_list(g, node, mesh, &place);
        if (instances)
            add_instances(g, instances, mesh, &list, &place);
        else
            add_mesh_node(g, mesh, &list, &place);
    }
    if (camera)
        add_camera(g, camera, gltf_text(g, node, "name"), &at);
    if (light)
        add_light(g, light, &at);
    const struct json *children = gltf_get(g, node, "children", JSON_ARRAY);
    for (const struct json *c = children ? children->first : NULL; c; c = c->next)
        read_node(g, gltf_index(g, c, &g->nodes), &at, depth + 1);
}

static void read_nodes(struct gltf *g)
{
    struct gltf_items scenes = items_of(g, g->root, "scenes");
    g->visited = source_alloc(g->s, g->nodes.count, sizeof *g->visited);
    const struct json *scene = gltf_item(g, g->root, "scene", &scenes);
    if (!scene && scenes.count)
        scene = scenes.at[0];
    if (scenes.count > 1)
        source_note(g->s, "scenes other than \"%.100s\"",
                    gltf_text(g, scene, "name") ? gltf_text(g, scene, "name") : "the default one");
    const struct json *roots = gltf_get(g, scene, "nodes", JSON_ARRAY);
    for (const struct json *r = roots ? roots->first : NULL; r; r = r->next)
        read_node(g, gltf_index(g, r, &g->nodes), &transform_identity, 0);
    if (scene)
        return;
    /* A library of things without a scene: all that is no child. */
    bool *child = source_alloc(g->s, g->nodes.count, sizeof *child);
    for (uint32_t i = 0; i < g->nodes.count; i++) {
        const struct json *children = gltf_get(g, g->nodes.at[i], "children", JSON_ARRAY);
        for (const struct json *c = children ? children->first : NULL; c; c = c->next)
            if (c->type == JSON_NUMBER && c->is_integer && c->integer >= 0 &&
                c->integer < (int64_t)g->nodes.count)
                child[c->integer] = true;
    }
    for (uint32_t i = 0; i < g->nodes.count; i++)
        if (!child[i])
            read_node(g, g->nodes.at[i], &transform_identity, 0);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* The JSON of the file, and a GLB's binary chunk. data NULL when it is no glTF. */
static struct gltf_bytes find_json(struct gltf *g)
{
    static const unsigned char magic[4] = {'g', 'l', 'T', 'F'};
    struct gltf_bytes f = g->file, out = {0};
    if (f.size < 20 || memcmp(f.data, magic, 4) != 0)
        return path_ends(g->s->path, ".gltf") ? f : out;
    if (little32(f.data + 4) != 2)
        return out;
    uint64_t at = 12;
    while (at + 8 <= f.size) {
        uint64_t size = little32(f.data + at), type = little32(f.data + at + 4);
        at += 8;
        if (size > f.size - at)
            source_refuse(g->s, STATUS_PARSE,
                          "cannot read the model %s: a chunk of the GLB file "
                          "has %llu bytes, %llu are left",
                          g->s->path, (unsigned long long)size, (unsigned long long)(f.size - at));
        if (type == 0x4E4F534A && !out.data)
            out = (struct gltf_bytes){f.data + at, size};
        else if (type == 0x004E4942 && !g->bin.data)
            g->bin = (struct gltf_bytes){f.data + at, size};
        at += (size + 3) & ~UINT64_C(3);
    }
    if (!out.data)
        source_refuse(g->s, STATUS_PARSE, "cannot read the model %s: the GLB file has no JSON",
                      g->s->path);
    return out;
}

/* By the name or the first bytes: other files are not read here. */
static bool may_be_gltf(const char *path)
{
    char magic[4] = {0};
    FILE *f = fopen(path, "rbe");
    size_t got = f ? fread(magic, 1, sizeof magic, f) : 0;
    if (f)
        fclose(f);
    return (got == sizeof magic && memcmp(magic, "glTF", sizeof magic) == 0) ||
           path_ends(path, ".gltf");
}

static void check_extensions(struct gltf *g)
{
    static const char *const known[] = {
        "KHR_lights_punctual",        "KHR_materials_anisotropy",
        "KHR_materials_clearcoat",    "KHR_materials_emissive_strength",
        "KHR_materials_ior",          "KHR_materials_pbrSpecularGlossiness",
        "KHR_materials_sheen",        "KHR_materials_specular",
        "KHR_materials_transmission", "KHR_materials_unlit",
        "KHR_materials_volume",       "KHR_mesh_quantization",
        "KHR_texture_transform",      "KHR_node_visibility",
        "EXT_mesh_gpu_instancing",    "EXT_texture_webp",
        "EXT_meshopt_compression",    "KHR_meshopt_compression",
        "KHR_draco_mesh_compression", NULL};
    const struct json *required = gltf_get(g, g->root, "extensionsRequired", JSON_ARRAY),
                      *used = gltf_get(g, g->root, "extensionsUsed", JSON_ARRAY);
    for (int k = 0; k < 2; k++)
        for (const struct json *all = k ? required : used, *e = all ? all->first : NULL; e;
             e = e->next) {
            bool is_known = e->type != JSON_STRING;
            for (int i = 0; known[i] && !is_known; i++)
                is_known = strcmp(e->string, known[i]) == 0;
            if (!is_known)
                source_note(g->s, "the extension %.100s", e->string);
        }
}

bool source_read_gltf(struct source *s)
{
    struct gltf g = {.s = s};
    struct error why;
    char *data;
    if (!may_be_gltf(s->path))
        return false;
    if (input_file_read(&s->arena, s->path, file_max, &data, &g.file.size, &why) != STATUS_OK)
        source_refuse(s, why.code, "%s", why.msg);
    g.file.data = (const unsigned char *)data;
    struct gltf_bytes text = find_json(&g);
    if (!text.data)
        return false;
    if (text.size >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0)
        text = (struct gltf_bytes){text.data + 3, text.size - 3};
    if (json_parse(&s->arena, s->path, (const char *)text.data, text.size, &g.root, &why) !=
        STATUS_OK)
        source_refuse(s, why.code, "cannot read the model %s: line %u, column %u: %s", s->path,
                      why.line, why.col, why.msg);
    const struct json *asset = gltf_get(&g, g.root, "asset", JSON_OBJECT),
                      *number = asset ? json_get(asset, "version") : NULL; /* glTF 1 has both */
    const char *version = !number                                             ? NULL
                          : number->type == JSON_STRING                       ? number->string
                          : number->type == JSON_NUMBER && number->number < 2 ? "1.0"
                                                                              : "unknown";
    if (version && version[0] == '1') {
        source_note(s, "the places of nodes that are turned and moved: Assimp 5.2.5 reads them "
                       "wrongly from glTF 1");
        return false;
    }
    if (!version || version[0] != '2')
        source_refuse(s, STATUS_UNSUPPORTED, "the model %s is of glTF version %.20s, expected 2",
                      s->path, version ? version : "none");
    check_extensions(&g);
    g.accessors = items_of(&g, g.root, "accessors");
    g.views = items_of(&g, g.root, "bufferViews");
    g.buffers = items_of(&g, g.root, "buffers");
    g.meshes = items_of(&g, g.root, "meshes");
    g.nodes = items_of(&g, g.root, "nodes");
    g.materials = items_of(&g, g.root, "materials");
    g.textures = items_of(&g, g.root, "textures");
    g.images = items_of(&g, g.root, "images");
    g.samplers = items_of(&g, g.root, "samplers");
    g.cameras = items_of(&g, g.root, "cameras");
    g.skins = items_of(&g, g.root, "skins");
    g.lights = items_of(&g, gltf_extension(&g, g.root, "KHR_lights_punctual"), "lights");
    g.buffer = source_alloc(s, g.buffers.count, sizeof *g.buffer);
    g.unpacked = source_alloc(s, g.views.count, sizeof *g.unpacked);
    gltf_unpack_primitives(&g);
    s->vertex = primitive_vertex;
    s->triangle = primitive_triangle;
    gltf_read_materials(&g);
    read_meshes(&g);
    read_nodes(&g);
    if (json_get(g.root, "animations"))
        source_note(s, "animations");
    return true;
}
