/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a glTF 2 document: buffers, views of them, packed or not, accessors of any layout.
 */
#define _GNU_SOURCE
#include "model_gltf.h"

#include <math.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

static const size_t file_max = (size_t)4 << 30;

struct gltf_bytes gltf_data_uri(struct gltf *g, const struct json *at, const char *uri)
{
    if (strncmp(uri, "data:", 5) != 0)
        return (struct gltf_bytes){0};
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || strncmp(comma - 7, ";base64", 7) != 0)
        gltf_bad(g, at, "a data: URI of base64");
    size_t size;
    uint8_t *out = base64_read(&g->s->arena, comma + 1, true, &size);
    if (!out)
        gltf_bad(g, at, "a data: URI of base64");
    return (struct gltf_bytes){out, size};
}

const char *gltf_uri_path(struct gltf *g, const char *uri)
{
    char *path = source_alloc(g->s, strlen(uri) + 1, 1), *to = path;
    for (const char *c = uri; *c; c++) {
        int high = *c == '%' ? hex_digit(c[1]) : -1, low = high >= 0 ? hex_digit(c[2]) : -1;
        if (low >= 0 && high + low > 0) {
            *to++ = (char)(16 * high + low);
            c += 2;
        } else {
            *to++ = *c;
        }
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
        if (input_file_read(&g->s->arena, path, file_max, &data, &size, &why) != STATUS_OK)
            source_refuse(g->s, why.code == STATUS_MISSING ? STATUS_IO : why.code,
                          "a buffer of the model %s: %s", g->s->path, why.msg);
        *b = (struct gltf_bytes){(const unsigned char *)data, size};
    }
    if (b->size < gltf_size(g, buffer, "byteLength", 0))
        gltf_bad(g, buffer, "a \"byteLength\" that its bytes have");
    return *b;
}

/* The range of a buffer that `at` names: a buffer view, or what it is packed as. */
static struct gltf_bytes range_of(struct gltf *g, const struct json *at)
{
    const struct json *buffer = gltf_item(g, at, "buffer", &g->buffers);
    if (!buffer)
        gltf_bad(g, at, "a \"buffer\"");
    struct gltf_bytes b = buffer_bytes(g, buffer);
    uint64_t from = gltf_size(g, at, "byteOffset", 0), n = gltf_size(g, at, "byteLength", 0);
    if (from > b.size || n > b.size - from)
        gltf_bad(g, at, "a range inside its buffer");
    return (struct gltf_bytes){b.data + from, n};
}

/* Turns what was packed by a filter into what the accessors say. False: there is no such filter for
 * such elements. */
static bool unfilter(const char *filter, void *data, uint64_t count, uint64_t stride)
{
    if (!filter || strcmp(filter, "NONE") == 0)
        return true;
    if (strcmp(filter, "OCTAHEDRAL") == 0 && (stride == 4 || stride == 8))
        meshopt_decodeFilterOct(data, count, stride);
    else if (strcmp(filter, "QUATERNION") == 0 && stride == 8)
        meshopt_decodeFilterQuat(data, count, stride);
    else if (strcmp(filter, "EXPONENTIAL") == 0 && stride % 4 == 0)
        meshopt_decodeFilterExp(data, count, stride);
    else
        return false;
    return true;
}

/* EXT_meshopt_compression, and what of KHR_meshopt_compression is the same. */
static struct gltf_bytes unpack_view(struct gltf *g, const struct json *packed)
{
    struct gltf_bytes from = range_of(g, packed);
    uint64_t count = gltf_size(g, packed, "count", 0),
             stride = gltf_size(g, packed, "byteStride", 0);
    const char *mode = gltf_text(g, packed, "mode"), *filter = gltf_text(g, packed, "filter");
    bool vertices = mode && strcmp(mode, "ATTRIBUTES") == 0,
         triangles = mode && strcmp(mode, "TRIANGLES") == 0,
         sequence = mode && strcmp(mode, "INDICES") == 0;
    if (!vertices && !triangles && !sequence)
        gltf_bad(g, packed, "a \"mode\" of \"ATTRIBUTES\", \"TRIANGLES\" or \"INDICES\"");
    if (vertices ? stride == 0 || stride > 256 || stride % 4 != 0 : stride != 2 && stride != 4)
        gltf_bad(g, packed, "a \"byteStride\" that its mode allows");
    if (count > UINT32_MAX || (triangles && count % 3 != 0))
        gltf_bad(g, packed, "a \"count\" of whole triangles below 2^32");
    unsigned char *to = source_alloc(g->s, count, stride);
    int failed = vertices    ? meshopt_decodeVertexBuffer(to, count, stride, from.data, from.size)
                 : triangles ? meshopt_decodeIndexBuffer(to, count, stride, from.data, from.size)
                             : meshopt_decodeIndexSequence(to, count, stride, from.data, from.size);
    if (failed && vertices && from.size && from.data[0] == 0xa1)
        source_refuse(g->s, STATUS_UNSUPPORTED,
                      "the model %s packs its vertices by version 1 of meshoptimizer's codec, "
                      "version 0 (EXT_meshopt_compression) is read: write it again with that",
                      g->s->path);
    if (failed)
        gltf_bad(g, packed, "data that meshoptimizer's codec unpacks");
    if (vertices && !unfilter(filter, to, count, stride))
        gltf_bad(g, packed, "a \"filter\" of EXT_meshopt_compression that its byteStride allows");
    return (struct gltf_bytes){to, count * stride};
}

struct gltf_bytes gltf_view(struct gltf *g, const struct json *view)
{
    const struct json *packed = gltf_extension(g, view, "EXT_meshopt_compression");
    struct gltf_bytes *unpacked = &g->unpacked[view->index];
    if (!packed)
        packed = gltf_extension(g, view, "KHR_meshopt_compression");
    if (!packed)
        return range_of(g, view);
    if (!unpacked->data)
        *unpacked = unpack_view(g, packed);
    return *unpacked;
}

/* ---- accessors ------------------------------------------------------------------------------ */

static uint64_t component_size(int type)
{
    return type == GLTF_BYTE || type == GLTF_UBYTE     ? 1
           : type == GLTF_SHORT || type == GLTF_USHORT ? 2
                                                       : 4;
}

double gltf_value(const struct gltf_accessor *a, uint64_t i, int c)
{
    const unsigned char *p = a->data + i * a->stride + (uint64_t)c * component_size(a->type);
    double v, scale;
    switch (a->type) {
    case GLTF_BYTE:
        v = (int8_t)p[0];
        scale = 127;
        break;
    case GLTF_UBYTE:
        v = p[0];
        scale = 255;
        break;
    case GLTF_SHORT:
        v = (int16_t)little16(p);
        scale = 32767;
        break;
    case GLTF_USHORT:
        v = little16(p);
        scale = 65535;
        break;
    case GLTF_UINT:
        v = little32(p);
        scale = 4294967295.0;
        break;
    default: {
        uint32_t bits = little32(p);
        float f;
        memcpy(&f, &bits, sizeof f);
        return (double)f;
    }
    }
    return a->normalized ? fmax(v / scale, -1) : v;
}

/* data and stride from the view that `at` names, for elements of `size` bytes. */
static void accessor_bytes(struct gltf *g, const struct json *at, uint64_t size,
                           struct gltf_accessor *a)
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
    uint64_t first = gltf_size(g, at, "byteOffset", 0);
    a->stride = gltf_size(g, view, "byteStride", size);
    if (a->stride == 0)
        a->stride = size > 0 ? size : 1;
    if (first > b.size || (a->count && (b.size - first < size ||
                                        (a->count - 1) > (b.size - first - size) / a->stride)))
        gltf_bad(g, at, "elements inside the buffer view");
    a->data = b.data + first;
}

/* Elements that replace those of the accessor: a copy with them. */
static void accessor_sparse(struct gltf *g, const struct json *sparse, struct gltf_accessor *a)
{
    uint64_t size = (uint64_t)a->components * component_size(a->type);
    const struct json *where = gltf_get(g, sparse, "indices", JSON_OBJECT),
                      *what = gltf_get(g, sparse, "values", JSON_OBJECT);
    if (!where || !what)
        gltf_bad(g, sparse, "\"indices\" and \"values\"");
    struct gltf_accessor index = {.count = gltf_size(g, sparse, "count", 0),
                                  .components = 1,
                                  .type = (int)gltf_size(g, where, "componentType", 0)};
    struct gltf_accessor value = *a;
    if (index.type != GLTF_UBYTE && index.type != GLTF_USHORT && index.type != GLTF_UINT)
        gltf_bad(g, where, "a \"componentType\" of 5121, 5123 or 5125");
    value.count = index.count;
    accessor_bytes(g, where, component_size(index.type), &index);
    accessor_bytes(g, what, size, &value);
    unsigned char *copy = source_alloc(g->s, a->count, size);
    for (uint64_t i = 0; i < a->count; i++)
        memcpy(copy + i * size, a->data + i * a->stride, size);
    for (uint64_t i = 0; i < index.count; i++) {
        uint64_t to = (uint64_t)gltf_value(&index, i, 0);
        if (to >= a->count)
            gltf_bad(g, where, "indices of the accessor's elements");
        memcpy(copy + to * size, value.data + i * value.stride, size);
    }
    a->data = copy;
    a->stride = size;
}

struct gltf_accessor gltf_accessor_of(struct gltf *g, const struct json *object, const char *key,
                                      int components)
{
    static const char *const types[] = {NULL, "SCALAR", "VEC2", "VEC3", "VEC4"};
    const char *wanted = components == 16 ? "MAT4" : types[components];
    struct gltf_accessor a = {0};
    const struct json *at = gltf_item(g, object, key, &g->accessors);
    if (!at)
        return a;
    const char *type = gltf_text(g, at, "type");
    if (!type || strcmp(type, wanted) != 0)
        gltf_bad(g, at, wanted);
    a.components = components;
    a.type = (int)gltf_size(g, at, "componentType", 0);
    if (a.type < GLTF_BYTE || a.type > GLTF_FLOAT || a.type == 5124)
        gltf_bad(g, at, "a \"componentType\" that glTF has");
    a.count = gltf_size(g, at, "count", 0);
    a.normalized = gltf_flag(g, at, "normalized");
    const struct gltf_packed *packed = &g->packed[at->index];
    if (packed->data) {
        a.data = packed->data;
        a.type = packed->type;
        a.count = packed->count;
        a.stride = (uint64_t)components * component_size(a.type);
        return a;
    }
    accessor_bytes(g, at, (uint64_t)components * component_size(a.type), &a);
    const struct json *sparse = gltf_get(g, at, "sparse", JSON_OBJECT);
    if (sparse)
        accessor_sparse(g, sparse, &a);
    return a;
}
