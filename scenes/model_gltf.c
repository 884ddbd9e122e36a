/* glTF 2 from its own JSON: the child's reader. Assimp loses what extensions say, and much of what
 * the core does (texture transforms, double precision of matrices, instances, a second set of
 * texture coordinates). */
#define _GNU_SOURCE
#include "model_gltf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NODE_DEPTH_MAX = 256 };
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

const struct json *gltf_item(struct gltf *g, const struct json *object, const char *key,
                             const struct gltf_items *items)
{
    const struct json *v = gltf_get(g, object, key, JSON_NUMBER);
    if (!v)
        return NULL;
    if (!v->is_integer || v->integer < 0 || v->integer >= (int64_t)items->count)
        gltf_bad(g, v, "the index of what there is");
    return items->at[v->integer];
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

/* A non-negative integer. */
static uint64_t size_field(struct gltf *g, const struct json *object, const char *key,
                           uint64_t absent)
{
    const struct json *v = gltf_get(g, object, key, JSON_NUMBER);
    if (!v)
        return absent;
    if (!v->is_integer || v->integer < 0 || v->integer > ((int64_t)1 << 40))
        gltf_bad(g, v, "an integer from 0");
    return (uint64_t)v->integer;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* 0..63; 64 for what is no digit. */
static unsigned base64_digit(unsigned char c)
{
    return c >= 'A' && c <= 'Z'   ? c - (unsigned)'A'
           : c >= 'a' && c <= 'z' ? c - (unsigned)'a' + 26U
           : c >= '0' && c <= '9' ? c - (unsigned)'0' + 52U
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : 64;
}

struct gltf_bytes gltf_data_uri(struct gltf *g, const struct json *at, const char *uri)
{
    if (strncmp(uri, "data:", 5) != 0)
        return (struct gltf_bytes){0};
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || strncmp(comma - 7, ";base64", 7) != 0)
        gltf_bad(g, at, "a data: URI of base64");
    size_t n = strlen(comma + 1), size = 0;
    unsigned char *out = source_alloc(g->s, n / 4 * 3 + 3, 1);
    uint32_t word = 0;
    unsigned bits = 0;
    for (const char *c = comma + 1; *c && *c != '='; c++) {
        unsigned digit = base64_digit((unsigned char)*c);
        if (digit == 64)
            gltf_bad(g, at, "a data: URI of base64");
        word = word << 6 | digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[size++] = (unsigned char)(word >> bits);
        }
    }
    return (struct gltf_bytes){out, size};
}

const char *gltf_uri_path(struct gltf *g, const char *uri)
{
    char *path = source_alloc(g->s, strlen(uri) + 1, 1), *to = path;
    for (const char *c = uri; *c; c++) {
        char hex[3] = {0};
        if (*c == '%' && c[1] && c[2]) {
            memcpy(hex, c + 1, 2);
            char *end;
            long code = strtol(hex, &end, 16);
            if (*end == '\0' && code > 0) {
                *to++ = (char)code;
                c += 2;
                continue;
            }
        }
        *to++ = *c;
    }
    return path;
}

static struct gltf_bytes buffer_bytes(struct gltf *g, const struct json *buffer)
{
    struct gltf_bytes *b = &g->buffer[buffer->index];
    if (b->data)
        return *b;
    const struct json *at = json_get(buffer, "uri");
    const char *uri = gltf_text(g, buffer, "uri");
    if (!uri) {
        if (buffer->index != 0 || !g->bin.data)
            gltf_bad(g, buffer, "a \"uri\"");
        *b = g->bin;
    } else {
        *b = gltf_data_uri(g, at, uri);
    }
    if (!b->data) {
        char *data;
        struct error why;
        const char *path = path_beside(&g->s->arena, g->s->path, gltf_uri_path(g, uri));
        if (!path)
            source_refuse(g->s, STATUS_MEMORY, "out of memory for the model %s", g->s->path);
        size_t size;
        if (file_read(&g->s->arena, path, file_max, &data, &size, &why) != STATUS_OK)
            source_refuse(g->s, why.code == STATUS_MISSING ? STATUS_IO : why.code,
                          "a buffer of the model %s: %s", g->s->path, why.msg);
        *b = (struct gltf_bytes){(const unsigned char *)data, size};
    }
    if (b->size < size_field(g, buffer, "byteLength", 0))
        gltf_bad(g, buffer, "a \"byteLength\" that its bytes have");
    return *b;
}

struct gltf_bytes gltf_view(struct gltf *g, const struct json *view)
{
    const struct json *buffer = gltf_item(g, view, "buffer", &g->buffers);
    if (!buffer)
        gltf_bad(g, view, "a \"buffer\"");
    struct gltf_bytes b = buffer_bytes(g, buffer);
    uint64_t at = size_field(g, view, "byteOffset", 0), n = size_field(g, view, "byteLength", 0);
    if (at > b.size || n > b.size - at)
        gltf_bad(g, view, "a range inside its buffer");
    return (struct gltf_bytes){b.data + at, n};
}

/* ---- accessors ------------------------------------------------------------------------------ */

enum { BYTE = 5120, UBYTE, SHORT, USHORT, UINT = 5125, FLOAT };

struct accessor {
    const unsigned char *data; /* NULL: there is none */
    uint64_t stride, count;
    int type;       /* of a component */
    int components; /* 1 to 4 */
    bool normalized;
};

static uint64_t component_size(int type)
{
    return type == BYTE || type == UBYTE ? 1 : type == SHORT || type == USHORT ? 2 : 4;
}

/* Component c of element i. */
static double accessor_value(const struct accessor *a, uint64_t i, int c)
{
    const unsigned char *p = a->data + i * a->stride + (uint64_t)c * component_size(a->type);
    double v, scale;
    switch (a->type) {
    case BYTE:
        v = (int8_t)p[0];
        scale = 127;
        break;
    case UBYTE:
        v = p[0];
        scale = 255;
        break;
    case SHORT:
        v = (int16_t)(p[0] | p[1] << 8);
        scale = 32767;
        break;
    case USHORT:
        v = p[0] | p[1] << 8;
        scale = 65535;
        break;
    case UINT:
        v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        scale = 4294967295.0;
        break;
    default: {
        uint32_t bits =
            (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        float f;
        memcpy(&f, &bits, sizeof f);
        return (double)f;
    }
    }
    return a->normalized ? fmax(v / scale, -1) : v;
}

/* data and stride from the view that `at` names, for elements of `size` bytes. */
static void accessor_bytes(struct gltf *g, const struct json *at, uint64_t size, struct accessor *a)
{
    const struct json *view = gltf_item(g, at, "bufferView", &g->views);
    if (!view) { /* all zero, or what a sparse part fills in */
        if (a->count > (UINT64_C(1) << 32))
            gltf_bad(g, at, "fewer elements");
        a->data = source_alloc(g->s, a->count, size);
        a->stride = size;
        return;
    }
    struct gltf_bytes b = gltf_view(g, view);
    uint64_t first = size_field(g, at, "byteOffset", 0);
    a->stride = size_field(g, view, "byteStride", size);
    if (a->stride == 0)
        a->stride = size;
    if (first > b.size || (a->count && (b.size - first < size ||
                                        (a->count - 1) > (b.size - first - size) / a->stride)))
        gltf_bad(g, at, "elements inside the buffer view");
    a->data = b.data + first;
}

/* Elements that replace those of the accessor: a copy with them. */
static void accessor_sparse(struct gltf *g, const struct json *sparse, struct accessor *a)
{
    uint64_t size = (uint64_t)a->components * component_size(a->type);
    const struct json *where = gltf_get(g, sparse, "indices", JSON_OBJECT),
                      *what = gltf_get(g, sparse, "values", JSON_OBJECT);
    if (!where || !what)
        gltf_bad(g, sparse, "\"indices\" and \"values\"");
    struct accessor index = {.count = size_field(g, sparse, "count", 0),
                             .components = 1,
                             .type = (int)size_field(g, where, "componentType", 0)};
    struct accessor value = *a;
    if (index.type != UBYTE && index.type != USHORT && index.type != UINT)
        gltf_bad(g, where, "a \"componentType\" of 5121, 5123 or 5125");
    value.count = index.count;
    accessor_bytes(g, where, component_size(index.type), &index);
    accessor_bytes(g, what, size, &value);
    unsigned char *copy = source_alloc(g->s, a->count, size);
    for (uint64_t i = 0; i < a->count; i++)
        memcpy(copy + i * size, a->data + i * a->stride, size);
    for (uint64_t i = 0; i < index.count; i++) {
        uint64_t to = (uint64_t)accessor_value(&index, i, 0);
        if (to >= a->count)
            gltf_bad(g, where, "indices of the accessor's elements");
        memcpy(copy + to * size, value.data + i * value.stride, size);
    }
    a->data = copy;
    a->stride = size;
}

/* The accessor object[key] with this many components; data NULL when absent. */
static struct accessor accessor_of(struct gltf *g, const struct json *object, const char *key,
                                   int components)
{
    static const char *const types[] = {NULL, "SCALAR", "VEC2", "VEC3", "VEC4"};
    struct accessor a = {0};
    const struct json *at = gltf_item(g, object, key, &g->accessors);
    if (!at)
        return a;
    const char *type = gltf_text(g, at, "type");
    if (!type || strcmp(type, types[components]) != 0)
        gltf_bad(g, at, types[components]);
    a.components = components;
    a.type = (int)size_field(g, at, "componentType", 0);
    if (a.type < BYTE || a.type > FLOAT || a.type == 5124)
        gltf_bad(g, at, "a \"componentType\" that glTF has");
    a.count = size_field(g, at, "count", 0);
    a.normalized = gltf_flag(g, at, "normalized");
    accessor_bytes(g, at, (uint64_t)components * component_size(a.type), &a);
    const struct json *sparse = gltf_get(g, at, "sparse", JSON_OBJECT);
    if (sparse)
        accessor_sparse(g, sparse, &a);
    return a;
}

/* ---- meshes --------------------------------------------------------------------------------- */

enum { MODE_TRIANGLES = 4, MODE_STRIP, MODE_FAN };

struct primitive {
    struct accessor P, N, UV, colors;
    struct accessor indices; /* data NULL when the vertices stand in order */
    int mode;
};

static void primitive_vertex(const struct source_mesh *m, uint64_t i, struct source_vertex *out)
{
    const struct primitive *p = m->data;
    for (int c = 0; c < 3; c++)
        out->P[c] = (float)accessor_value(&p->P, i, c);
    for (int c = 0; c < 3 && p->N.data; c++)
        out->N[c] = (float)accessor_value(&p->N, i, c);
    if (p->UV.data) { /* v = 0 is the upper edge there */
        out->UV[0] = (float)accessor_value(&p->UV, i, 0);
        out->UV[1] = (float)(1 - accessor_value(&p->UV, i, 1));
    }
    for (int c = 0; c < 3 && p->colors.data; c++)
        out->color[c] = (float)source_clamp(accessor_value(&p->colors, i, c), 0, 1);
}

static bool primitive_triangle(const struct source_mesh *m, uint64_t i, uint64_t out[3])
{
    const struct primitive *p = m->data;
    if (p->mode == MODE_TRIANGLES)
        for (uint64_t k = 0; k < 3; k++)
            out[k] = 3 * i + k;
    else if (p->mode == MODE_STRIP)
        out[0] = i, out[1] = i + 1 + i % 2, out[2] = i + 2 - i % 2;
    else
        out[0] = i + 1, out[1] = i + 2, out[2] = 0;
    for (int k = 0; k < 3 && p->indices.data; k++)
        out[k] = (uint64_t)accessor_value(&p->indices, out[k], 0);
    return true;
}

/* COLOR_0, three or four numbers; integers always mean 0 to 1. data NULL where all is white, which
 * many writers say for nothing. */
static struct accessor read_colors(struct gltf *g, const struct json *attributes)
{
    const struct json *at = gltf_item(g, attributes, "COLOR_0", &g->accessors);
    const char *type = gltf_text(g, at, "type");
    int components = type && strcmp(type, "VEC4") == 0 ? 4 : 3;
    struct accessor a = accessor_of(g, attributes, "COLOR_0", components);
    bool white = true, solid = true;
    a.normalized = a.type != FLOAT;
    for (uint64_t i = 0; i < a.count && a.data; i++) {
        for (int c = 0; c < 3; c++)
            white = white && accessor_value(&a, i, c) == 1;
        solid = solid && (components == 3 || accessor_value(&a, i, 3) >= 1);
    }
    if (!solid)
        source_note(g->s, "the alpha of vertex colours");
    return white ? (struct accessor){0} : a;
}

/* False when it is no triangles. */
static bool read_primitive(struct gltf *g, const struct json *v, struct source_mesh *out)
{
    struct source *s = g->s;
    const struct json *attributes = gltf_get(g, v, "attributes", JSON_OBJECT);
    struct primitive *p = source_alloc(s, 1, sizeof *p);
    p->mode = (int)size_field(g, v, "mode", MODE_TRIANGLES);
    if (p->mode < MODE_TRIANGLES || p->mode > MODE_FAN) {
        source_note(s, "points and lines");
        return false;
    }
    if (!attributes)
        gltf_bad(g, v, "\"attributes\"");
    if (gltf_extension(g, v, "KHR_draco_mesh_compression") && !json_get(attributes, "POSITION"))
        gltf_bad(g, v, "positions that are not compressed");
    const struct json *material = gltf_item(g, v, "material", &g->materials);
    uint32_t number = material ? material->index : UINT32_MAX;
    char uv[24];
    snprintf(uv, sizeof uv, "TEXCOORD_%u", material ? g->uv_set[number] : 0);
    p->P = accessor_of(g, attributes, "POSITION", 3);
    p->N = accessor_of(g, attributes, "NORMAL", 3);
    p->UV = accessor_of(g, attributes, uv, 2);
    p->colors = read_colors(g, attributes);
    p->indices = accessor_of(g, v, "indices", 1);
    if (!p->P.data || (p->N.data && p->N.count < p->P.count) ||
        (p->UV.data && p->UV.count < p->P.count) ||
        (p->colors.data && p->colors.count < p->P.count))
        gltf_bad(g, attributes, "\"POSITION\", and as many of the others");
    if (p->indices.data &&
        (p->indices.type == BYTE || p->indices.type == SHORT || p->indices.type == FLOAT))
        gltf_bad(g, json_get(v, "indices"), "unsigned integers");
    uint64_t n = p->indices.data ? p->indices.count : p->P.count;
    uint64_t triangles = p->mode == MODE_TRIANGLES ? n / 3 : n >= 3 ? n - 2 : 0;
    if (json_get(attributes, "COLOR_1"))
        source_note(s, "vertex colours beyond the first set");
    if (json_get(v, "targets"))
        source_note(s, "morph targets");
    *out = (struct source_mesh){
        .data = p,
        .vertex_count = p->P.count,
        .face_count = triangles,
        .triangle_count = triangles,
        .material = number,
        .flags = (uint8_t)((p->N.data ? TRIANGLE_HAS_NORMALS : 0U) |
                           (p->UV.data ? TRIANGLE_HAS_UV : 0U) |
                           (p->colors.data ? TRIANGLE_HAS_COLORS : 0U)),
    };
    return true;
}

static void read_meshes(struct gltf *g)
{
    struct source *s = g->s;
    size_t room = 0;
    for (uint32_t i = 0; i < g->meshes.count; i++) {
        const struct json *all = gltf_get(g, g->meshes.at[i], "primitives", JSON_ARRAY);
        room += all ? all->count : 0;
    }
    s->meshes = source_alloc(s, room, sizeof *s->meshes);
    g->lists = source_alloc(s, g->meshes.count, sizeof *g->lists);
    g->list_count = source_alloc(s, g->meshes.count, sizeof *g->list_count);
    uint32_t *numbers = source_alloc(s, room, sizeof *numbers);
    for (uint32_t i = 0; i < g->meshes.count; i++) {
        const struct json *all = gltf_get(g, g->meshes.at[i], "primitives", JSON_ARRAY);
        g->lists[i] = numbers + s->mesh_count;
        for (const struct json *v = all ? all->first : NULL; v; v = v->next)
            if (read_primitive(g, v, &s->meshes[s->mesh_count])) {
                numbers[s->mesh_count] = s->mesh_count;
                s->mesh_count++;
                g->list_count[i]++;
            }
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

static struct transform node_transform(struct gltf *g, const struct json *node)
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

static void add_mesh_node(struct gltf *g, const struct json *mesh, const struct transform *at)
{
    for (int i = 0; i < 12; i++)
        if (!isfinite(at->m[i / 4][i % 4]))
            return;
    if (g->list_count[mesh->index])
        source_add_node(g->s, &(struct source_node){.meshes = g->lists[mesh->index],
                                                    .mesh_count = g->list_count[mesh->index],
                                                    .name = gltf_text(g, mesh, "name"),
                                                    .to_model = *at});
}

/* EXT_mesh_gpu_instancing: the mesh at many places of the node's space. */
static void add_instances(struct gltf *g, const struct json *extension, const struct json *mesh,
                          const struct transform *node)
{
    const struct json *attributes = gltf_get(g, extension, "attributes", JSON_OBJECT);
    struct accessor t = accessor_of(g, attributes, "TRANSLATION", 3),
                    q = accessor_of(g, attributes, "ROTATION", 4),
                    scale = accessor_of(g, attributes, "SCALE", 3);
    uint64_t count = t.data ? t.count : q.data ? q.count : scale.count;
    if ((q.data && q.count != count) || (scale.data && scale.count != count))
        gltf_bad(g, extension, "attributes of one length");
    for (uint64_t i = 0; i < count; i++) {
        double move[3] = {0}, turns[4] = {0, 0, 0, 1}, size[3] = {1, 1, 1};
        for (int c = 0; c < 3 && t.data; c++)
            move[c] = accessor_value(&t, i, c);
        for (int c = 0; c < 4 && q.data; c++)
            turns[c] = accessor_value(&q, i, c);
        for (int c = 0; c < 3 && scale.data; c++)
            size[c] = accessor_value(&scale, i, c);
        struct transform own = from_parts(move, turns, size), at = transform_after(node, &own);
        add_mesh_node(g, mesh, &at);
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
    if (depth > NODE_DEPTH_MAX)
        source_refuse(g->s, STATUS_LIMIT, "%s nests its nodes more than %d deep", g->s->path,
                      NODE_DEPTH_MAX);
    if (g->visited[node->index])
        gltf_bad(g, node, "a node with one parent");
    g->visited[node->index] = true;
    struct transform own = node_transform(g, node), at = transform_after(parent, &own);
    const struct json *mesh = gltf_item(g, node, "mesh", &g->meshes),
                      *camera = gltf_item(g, node, "camera", &g->cameras),
                      *instances = gltf_extension(g, node, "EXT_mesh_gpu_instancing"),
                      *light = gltf_item(g, gltf_extension(g, node, "KHR_lights_punctual"), "light",
                                         &g->lights);
    if (mesh && instances)
        add_instances(g, instances, mesh, &at);
    else if (mesh)
        add_mesh_node(g, mesh, &at);
    if (mesh && json_get(node, "skin"))
        source_note(g->s, "skins: the mesh is shown as it was bound");
    if (camera)
        add_camera(g, camera, gltf_text(g, node, "name"), &at);
    if (light)
        add_light(g, light, &at);
    const struct json *children = gltf_get(g, node, "children", JSON_ARRAY);
    for (const struct json *c = children ? children->first : NULL; c; c = c->next) {
        if (c->type != JSON_NUMBER || !c->is_integer || c->integer < 0 ||
            c->integer >= (int64_t)g->nodes.count)
            gltf_bad(g, c, "the index of a node");
        read_node(g, g->nodes.at[c->integer], &at, depth + 1);
    }
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
    for (const struct json *r = roots ? roots->first : NULL; r; r = r->next) {
        if (r->type != JSON_NUMBER || !r->is_integer || r->integer < 0 ||
            r->integer >= (int64_t)g->nodes.count)
            gltf_bad(g, r, "the index of a node");
        read_node(g, g->nodes.at[r->integer], &transform_identity, 0);
    }
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

static uint32_t word_at(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The JSON of the file, and a GLB's binary chunk. data NULL when it is no glTF. */
static struct gltf_bytes find_json(struct gltf *g)
{
    static const unsigned char magic[4] = {'g', 'l', 'T', 'F'};
    struct gltf_bytes f = g->file, out = {0};
    size_t n = strlen(g->s->path);
    if (f.size < 20 || memcmp(f.data, magic, 4) != 0)
        return n > 5 && strcasecmp(g->s->path + n - 5, ".gltf") == 0 ? f : out;
    if (word_at(f.data + 4) != 2)
        return out;
    uint64_t at = 12;
    while (at + 8 <= f.size) {
        uint64_t size = word_at(f.data + at), type = word_at(f.data + at + 4);
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
    size_t n = strlen(path);
    char magic[4] = {0};
    FILE *f = fopen(path, "rbe");
    size_t got = f ? fread(magic, 1, sizeof magic, f) : 0;
    if (f)
        fclose(f);
    return (got == sizeof magic && memcmp(magic, "glTF", sizeof magic) == 0) ||
           (n > 5 && strcasecmp(path + n - 5, ".gltf") == 0);
}

static void check_extensions(struct gltf *g)
{
    /* Without these the geometry is not there. */
    static const char *const geometry[] = {"KHR_draco_mesh_compression", "EXT_meshopt_compression",
                                           "KHR_meshopt_compression", NULL};
    static const char *const known[] = {"KHR_lights_punctual",
                                        "KHR_materials_anisotropy",
                                        "KHR_materials_clearcoat",
                                        "KHR_materials_emissive_strength",
                                        "KHR_materials_ior",
                                        "KHR_materials_pbrSpecularGlossiness",
                                        "KHR_materials_sheen",
                                        "KHR_materials_specular",
                                        "KHR_materials_transmission",
                                        "KHR_materials_unlit",
                                        "KHR_materials_volume",
                                        "KHR_mesh_quantization",
                                        "KHR_texture_transform",
                                        "EXT_mesh_gpu_instancing",
                                        NULL};
    const struct json *required = gltf_get(g, g->root, "extensionsRequired", JSON_ARRAY),
                      *used = gltf_get(g, g->root, "extensionsUsed", JSON_ARRAY);
    for (const struct json *e = required ? required->first : NULL; e; e = e->next)
        for (int i = 0; geometry[i]; i++)
            if (e->type == JSON_STRING && strcmp(e->string, geometry[i]) == 0)
                source_refuse(g->s, STATUS_UNSUPPORTED,
                              "the model %s needs %s, which is not read: "
                              "write it again without that compression",
                              g->s->path, e->string);
    for (const struct json *e = used ? used->first : NULL; e; e = e->next) {
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
    if (file_read(&s->arena, s->path, file_max, &data, &g.file.size, &why) != STATUS_OK)
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
    g.lights = items_of(&g, gltf_extension(&g, g.root, "KHR_lights_punctual"), "lights");
    g.buffer = source_alloc(s, g.buffers.count, sizeof *g.buffer);
    s->vertex = primitive_vertex;
    s->triangle = primitive_triangle;
    gltf_read_materials(&g);
    read_meshes(&g);
    read_nodes(&g);
    if (json_get(g.root, "animations"))
        source_note(s, "animations");
    return true;
}
