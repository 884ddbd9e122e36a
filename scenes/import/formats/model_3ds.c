/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "model_3ds.h"

#include <string.h>
#include <strings.h>

enum {
    MAIN = 0x4D4D,
    EDITOR = 0x3D3D,
    OBJECT = 0x4000,
    MESH = 0x4100,
    FACES = 0x4120,
    FACE_MATERIAL = 0x4130,
    SMOOTHING = 0x4150,
    MATERIAL = 0xAFFF,
    MATERIAL_NAME = 0xA000,
    CHUNK_HEAD = 6
};

struct bytes {
    unsigned char *at, *end;
};

static size_t left(const struct bytes *b) { return (size_t)(b->end - b->at); }

static uint32_t word(const unsigned char *p, int n)
{
    uint32_t w = 0;
    for (int i = 0; i < n; i++)
        w |= (uint32_t)p[i] << 8 * i;
    return w;
}

/* 0 at the end. */
static unsigned take_half(struct bytes *b)
{
    if (left(b) < 2)
        return 0;
    b->at += 2;
    return word(b->at - 2, 2);
}

/* NULL: it does not end. */
static const char *take_name(struct bytes *b)
{
    unsigned char *end = left(b) ? memchr(b->at, 0, left(b)) : NULL;
    const char *name = (const char *)b->at;
    if (!end)
        return NULL;
    b->at = end + 1;
    return name;
}

/* The next chunk within b; false if there is none. */
static bool take_chunk(struct bytes *b, unsigned *kind, struct bytes *inner)
{
    if (left(b) < CHUNK_HEAD)
        return false;
    uint32_t size = word(b->at + 2, 4);
    if (size < CHUNK_HEAD || size > left(b))
        return false;
    *kind = word(b->at, 2);
    *inner = (struct bytes){b->at + CHUNK_HEAD, b->at + size};
    b->at += size;
    return true;
}

/* Of one mesh. */
struct faces {
    uint32_t count;
    uint32_t *material; /* position among the file's; UINT32_MAX: none of them */
    bool *flat, says;
};

struct file {
    struct source *s;
    const char **materials;
    size_t material_count, material_cap;
    struct smoothing_3ds *lists;
    size_t list_count, list_cap;
};

static uint32_t find_material(const struct file *f, const char *name)
{
    for (size_t i = 0; i < f->material_count; i++)
        if (strcasecmp(f->materials[i], name) == 0)
            return (uint32_t)i;
    return UINT32_MAX;
}

/* Faces of no group get a group of their own, if one of the 32 is free: Assimp takes 0 for all. */
static void read_groups(struct bytes b, struct faces *out)
{
    uint32_t used = 0, count = left(&b) / 4 < out->count ? (uint32_t)(left(&b) / 4) : out->count;
    for (uint32_t i = 0; i < count; i++)
        used |= word(b.at + (size_t)4 * i, 4);
    uint32_t own = ~used & (used + 1);
    out->says = true;
    for (uint32_t i = 0; i < out->count; i++) {
        unsigned char *group = b.at + (size_t)4 * i;
        out->flat[i] = i >= count || word(group, 4) == 0;
        for (int k = 0; k < 4 && i < count && out->flat[i]; k++)
            group[k] = (unsigned char)(own >> 8 * k);
    }
}

static void read_face_chunk(const struct file *f, unsigned kind, struct bytes b, struct faces *out)
{
    if (kind == SMOOTHING) {
        read_groups(b, out);
    } else if (kind == FACE_MATERIAL) {
        const char *name = take_name(&b);
        uint32_t material = name ? find_material(f, name) : UINT32_MAX;
        for (unsigned n = name ? take_half(&b) : 0; n > 0; n--) {
            unsigned face = take_half(&b);
            if (face < out->count)
                out->material[face] = material;
        }
    }
}

/* The faces of one material. */
static void add_list(struct file *f, const struct faces *faces, uint32_t material)
{
    struct smoothing_3ds list = {.says = faces->says};
    for (uint32_t i = 0; i < faces->count; i++)
        list.faces += faces->material[i] == material;
    if (!list.faces)
        return;
    list.flat = source_alloc(f->s, list.faces, sizeof *list.flat);
    uint32_t n = 0;
    for (uint32_t i = 0; i < faces->count; i++)
        if (faces->material[i] == material)
            list.flat[n++] = faces->flat[i];
    f->lists = source_grown(f->s, f->lists, f->list_count, &f->list_cap, sizeof *f->lists);
    f->lists[f->list_count++] = list;
}

static void read_faces(struct file *f, struct bytes b)
{
    unsigned kind;
    struct bytes inner;
    struct faces faces = {.count = take_half(&b)};
    if (left(&b) < (size_t)8 * faces.count)
        return;
    b.at += (size_t)8 * faces.count;
    faces.material = source_alloc(f->s, faces.count, sizeof *faces.material);
    faces.flat = source_alloc(f->s, faces.count, sizeof *faces.flat);
    memset(faces.material, 0xFF, faces.count * sizeof *faces.material);
    while (take_chunk(&b, &kind, &inner))
        read_face_chunk(f, kind, inner, &faces);
    for (size_t i = 0; i < f->material_count; i++)
        add_list(f, &faces, (uint32_t)i);
    add_list(f, &faces, UINT32_MAX);
}

enum { DEPTH = 8 }; /* more than a good file needs */

static void read_chunks(struct file *f, struct bytes b, int depth)
{
    unsigned kind;
    struct bytes inner;
    while (depth < DEPTH && take_chunk(&b, &kind, &inner)) {
        if (kind == MAIN || kind == EDITOR || kind == MESH || kind == MATERIAL)
            read_chunks(f, inner, depth + 1);
        else if (kind == OBJECT && take_name(&inner))
            read_chunks(f, inner, depth + 1);
        else if (kind == FACES)
            read_faces(f, inner);
        else if (kind == MATERIAL_NAME) {
            const char *name = take_name(&inner);
            f->materials = source_grown(f->s, f->materials, f->material_count, &f->material_cap,
                                        sizeof *f->materials);
            f->materials[f->material_count++] = name ? name : "";
        }
    }
}

const struct smoothing_3ds *read_smoothing_3ds(struct source *s, char *data, size_t size,
                                               size_t *count)
{
    struct file f = {.s = s};
    unsigned char *at = (unsigned char *)data;
    read_chunks(&f, (struct bytes){at, at + size}, 0);
    *count = f.list_count;
    return f.lists;
}
