/* SPDX-License-Identifier: Apache-2.0 */
/* The child's work that is the same for every reader: what it found becomes flat arrays and a
 * description in shared memory. Runs with limits, may die. */
#define _GNU_SOURCE
#include "model_source.h"
#include "geometry/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NOTES_MAX = 256, NAME_MAX_BYTES = 100 };
enum { NAMES_MATERIALS, NAMES_TEXTURES, NAMES_GROUPS };

void source_refuse(struct source *s, enum status status, const char *fmt, ...)
{
    struct import_result r = {.magic = IMPORT_MAGIC, .status = status, .total = sizeof r};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r.message, sizeof r.message, fmt, ap);
    va_end(ap);
    for (char *c = r.message; *c; c++) /* one line, whatever the importer said */
        if ((unsigned char)*c < ' ')
            *c = ' ';
    for (size_t n = strlen(r.message); n && r.message[n - 1] == ' '; n--)
        r.message[n - 1] = '\0';
    if (s->refused)
        s->refused(s);
    bool ok = ftruncate(s->fd, sizeof r) == 0 && pwrite(s->fd, &r, sizeof r, 0) == sizeof r;
    _exit(ok ? CHILD_DONE : CHILD_FAILED);
}

static void __attribute__((noreturn)) no_memory(struct source *s)
{
    source_refuse(s, STATUS_MEMORY, "out of memory for the model %s", s->path);
}

void *source_alloc(struct source *s, size_t count, size_t size)
{
    void *p = arena_alloc(&s->arena, count, size, 0);
    if (!p)
        no_memory(s);
    return p;
}

void source_text(struct source *s, struct text *t, char **data, size_t *size)
{
    char *copy = t->failed ? NULL : arena_alloc(&s->arena, t->len + 1, 1, 1);
    if (copy && t->len)
        memcpy(copy, t->data, t->len);
    *data = copy;
    *size = t->len;
    text_free(t);
    if (!copy)
        no_memory(s);
}

void *source_grown(struct source *s, void *items, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return items;
    size_t more = *cap ? *cap * 2 : 64;
    void *p = source_alloc(s, more, size);
    if (count)
        memcpy(p, items, count * size);
    *cap = more;
    return p;
}

/* ---- names ---------------------------------------------------------------------------------- */

struct source_names {
    const char **slots; /* a table open to the next slot, at most half full */
    size_t cap, count;
};

static uint64_t text_hash(const char *s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return h ^ (h >> 32);
}

/* False if it is there already. */
static bool names_add(struct source *s, struct source_names *n, const char *name)
{
    if (2 * (n->count + 1) > n->cap) {
        struct source_names more = {.cap = n->cap ? 2 * n->cap : 64};
        more.slots = source_alloc(s, more.cap, sizeof *more.slots);
        for (size_t i = 0; i < n->cap; i++)
            if (n->slots[i])
                names_add(s, &more, n->slots[i]);
        *n = more;
    }
    size_t at = (size_t)text_hash(name) & (n->cap - 1);
    for (; n->slots[at]; at = (at + 1) & (n->cap - 1))
        if (strcmp(n->slots[at], name) == 0)
            return false;
    n->slots[at] = name;
    n->count++;
    return true;
}

/* As a JSON document spells it: two names that are not UTF-8 may be spelled alike. */
static const char *spelling(struct source *s, const char *name)
{
    struct json_writer w = {0};
    json_string(&w, name);
    const char *copy = w.out.failed ? NULL : arena_strndup(&s->arena, w.out.data, w.out.len);
    text_free(&w.out);
    if (!copy)
        no_memory(s);
    return copy;
}

/* `wanted`, or `none` when it is empty, with a number behind it when it is taken. */
static const char *unique_name(struct source *s, int kind, const char *wanted, const char *none)
{
    if (!s->names[kind])
        s->names[kind] = source_alloc(s, 1, sizeof *s->names[kind]);
    if (!wanted || !*wanted)
        wanted = none;
    size_t n = strnlen(wanted, NAME_MAX_BYTES + 1);
    if (n > NAME_MAX_BYTES)
        n = utf8_whole(wanted, NAME_MAX_BYTES);
    const char *stem = arena_strndup(&s->arena, wanted, n), *name = stem;
    for (unsigned k = 2; name && !names_add(s, s->names[kind], spelling(s, name)); k++)
        name = arena_printf(&s->arena, "%s %u", stem, k);
    if (!name)
        no_memory(s);
    return name;
}

/* ---- what readers say ----------------------------------------------------------------------- */

void source_note(struct source *s, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < s->noted_count; i++)
        if (strcmp(s->noted[i], text) == 0)
            return;
    if (s->noted_count == NOTES_MAX)
        return;
    s->noted = source_grown(s, s->noted, s->noted_count, &s->noted_cap, sizeof *s->noted);
    s->noted[s->noted_count] = arena_strdup(&s->arena, text);
    if (!s->noted[s->noted_count])
        no_memory(s);
    s->noted_count++;
    json_string(&s->notes,
                s->noted_count == NOTES_MAX ? "there is more that is not carried over" : text);
}

void source_add_node(struct source *s, const struct source_node *node)
{
    s->nodes = source_grown(s, s->nodes, s->node_count, &s->node_cap, sizeof *s->nodes);
    s->nodes[s->node_count++] = *node;
}

static bool stands_beside(struct source *s, const char *file)
{
    const char *path = path_beside(&s->arena, s->path, file);
    return path && input_file_there(path);
}

void source_texture_file(struct source *s, struct source_texture *t, const char *path)
{
    size_t n = strlen(path);
    if (n >= sizeof t->file)
        source_refuse(s, STATUS_LIMIT, "%s names a texture with a path of %zu bytes", s->path, n);
    for (size_t i = 0; i < n; i++)
        t->file[i] = path[i] == '\\' ? '/' : path[i];
    const char *name = path_name(t->file);
    if (name != t->file && *name && !stands_beside(s, t->file) && stands_beside(s, name)) {
        size_t rest = strlen(name);
        memmove(t->file, name, rest);
        memset(t->file + rest, 0, sizeof t->file - rest);
    }
    t->image = SOURCE_NO_IMAGE;
}

int32_t source_image(struct source *s, const void *data, uint64_t size)
{
    for (size_t i = 0; i < s->image_count; i++)
        if (s->images[i].data == data && s->images[i].size == size)
            return (int32_t)i;
    if (s->image_count == INT32_MAX)
        source_refuse(s, STATUS_LIMIT, "%s has more than 2^31 - 1 images", s->path);
    s->images = source_grown(s, s->images, s->image_count, &s->image_cap, sizeof *s->images);
    s->images[s->image_count] = (struct source_image){data, size};
    return (int32_t)s->image_count++;
}

const char *source_texture(struct source *s, const struct source_texture *t)
{
    for (size_t i = 0; i < s->texture_count; i++)
        if (memcmp(&s->textures[i], t, sizeof *t) == 0)
            return s->texture_names[i];
    size_t cap = s->texture_cap;
    s->textures = source_grown(s, s->textures, s->texture_count, &cap, sizeof *s->textures);
    s->texture_names = source_grown(s, s->texture_names, s->texture_count, &s->texture_cap,
                                    sizeof *s->texture_names);
    s->textures[s->texture_count] = *t;
    const char *base =
        t->file[0] ? path_stem(&s->arena, t->file) : arena_printf(&s->arena, "image %d", t->image);
    if (!base)
        no_memory(s);
    return s->texture_names[s->texture_count++] = unique_name(s, NAMES_TEXTURES, base, "texture");
}

void source_material_begin(struct source *s, const char *name)
{
    size_t cap = s->material_cap;
    s->material_name =
        source_grown(s, s->material_name, s->material_count, &cap, sizeof *s->material_name);
    s->material_cap = (uint32_t)cap;
    name = unique_name(s, NAMES_MATERIALS, name, "material");
    s->material_name[s->material_count++] = name;
    json_key(&s->materials, name);
    json_begin_object(&s->materials);
}

void source_material_end(struct source *s) { json_end_object(&s->materials); }

double source_float(float x)
{
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        double y = strtod(text, NULL);
        if ((float)y == x)
            return y;
    }
    return (double)x;
}

double source_clamp(double x, double lo, double hi) { return x >= lo ? x <= hi ? x : hi : lo; }

static void put_rgb(struct json_writer *w, const double rgb[3])
{
    if (rgb[0] == rgb[1] && rgb[1] == rgb[2]) {
        json_number(w, rgb[0]);
        return;
    }
    json_begin_array(w);
    for (int c = 0; c < 3; c++)
        json_number(w, rgb[c]);
    json_end_array(w);
}

void source_color(struct json_writer *w, const char *key, const double rgb[3], const char *texture)
{
    json_key(w, key);
    if (!texture) {
        put_rgb(w, rgb);
        return;
    }
    json_begin_object(w);
    json_key_string(w, "texture", texture);
    if (rgb[0] != 1 || rgb[1] != 1 || rgb[2] != 1) {
        json_key(w, "scale");
        put_rgb(w, rgb);
    }
    json_end_object(w);
}

void source_scalar(struct json_writer *w, const char *key, double value, const char *texture,
                   const char *channel)
{
    if (!texture) {
        json_key_number(w, key, value);
        return;
    }
    json_key(w, key);
    json_begin_object(w);
    json_key_string(w, "texture", texture);
    json_key_string(w, "channel", channel);
    if (value != 1)
        json_key_number(w, "scale", value);
    json_end_object(w);
}

/* ---- cameras and lights --------------------------------------------------------------------- */

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* False when it has none. */
static bool normalize(double v[3])
{
    double len = length(v);
    if (!(len > 1e-12 && len < 1e12))
        return false;
    for (int c = 0; c < 3; c++)
        v[c] /= len;
    return true;
}

static bool is_place(const double v[3])
{
    return fabs(v[0]) <= 1e9 && fabs(v[1]) <= 1e9 && fabs(v[2]) <= 1e9;
}

static void put_vector(struct json_writer *w, const char *key, const double v[3])
{
    json_key(w, key);
    json_begin_array(w);
    for (int c = 0; c < 3; c++)
        json_number(w, v[c]);
    json_end_array(w);
}

void source_camera(struct source *s, const struct source_camera *c)
{
    double forward[3], up[3], target[3], cross[3];
    memcpy(forward, c->forward, sizeof forward);
    memcpy(up, c->up, sizeof up);
    bool good = is_place(c->origin) && normalize(forward) && normalize(up);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        cross[i] = forward[j] * up[k] - forward[k] * up[j];
        target[i] = c->origin[i] + forward[i];
    }
    bool flat = c->height > 0;
    if (!good || length(cross) < 1e-6 ||
        (flat ? c->height > 1e9 : !(c->fov >= 0.1 && c->fov < 179))) {
        source_note(s, "the camera \"%.100s\": it has no view", c->name ? c->name : "");
        return;
    }
    struct json_writer *w = &s->cameras;
    json_begin_object(w);
    json_key_string(w, "name", c->name ? c->name : "");
    if (c->aspect > 0.01 && c->aspect < 100)
        json_key_number(w, "aspect", c->aspect);
    json_key(w, "camera");
    json_begin_object(w);
    json_key_string(w, "type", flat ? "orthographic" : "perspective");
    put_vector(w, "origin", c->origin);
    put_vector(w, "target", target);
    put_vector(w, "up", up);
    json_key_number(w, flat ? "height" : "fov", flat ? c->height : c->fov);
    json_key_string(w, "fov_axis", c->fov_along_x ? "x" : "y");
    json_end_object(w);
    json_end_object(w);
}

void source_light(struct source *s, const struct source_light *l)
{
    static const char *const types[] = {"point", "spot", "directional"};
    double direction[3] = {0, 0, -1}, I[3];
    memcpy(direction, l->direction, sizeof direction);
    double outer = source_clamp(l->outer, 0.1, 90), inner = source_clamp(l->inner, 0, outer);
    for (int c = 0; c < 3; c++)
        I[c] = l->intensity[c] >= 1e-12 ? fmin(l->intensity[c], 1e9) : 0;
    if (I[0] + I[1] + I[2] < 1e-12 || (l->type != SOURCE_DIRECTIONAL && !is_place(l->position)) ||
        (l->type != SOURCE_POINT && !normalize(direction))) {
        source_note(s, "the light \"%.100s\": it gives no light", l->name ? l->name : "");
        return;
    }
    struct json_writer *w = &s->lights;
    json_begin_object(w);
    json_key_string(w, "type", types[l->type]);
    if (l->type != SOURCE_DIRECTIONAL)
        put_vector(w, "position", l->position);
    if (l->type != SOURCE_POINT)
        put_vector(w, "direction", direction);
    source_color(w, l->type == SOURCE_DIRECTIONAL ? "irradiance" : "intensity", I, NULL);
    if (l->type == SOURCE_SPOT) {
        json_key_number(w, "angle", outer);
        json_key_number(w, "inner_angle", inner);
    }
    json_end_object(w);
}

/* ---- writing geometry ----------------------------------------------------------------------- */

struct writing {
    struct source *s;
    struct import_result r;
    unsigned char *map;
    uint64_t vertices_at, triangles_at;
};

/* A mesh at its place. */
struct placed_mesh {
    const struct source_mesh *mesh;
    const struct transform *to_model; /* NULL: where it is */
    double normals[3][3];
};

static void place_vertex(const struct source *s, const struct transform *to_model,
                         const struct source_vertex *v, double out[3])
{
    double in[3];
    for (int c = 0; c < 3; c++)
        in[c] = s->origin[c] + (double)v->P[c];
    transform_point(to_model, in, out);
}

static void put_vertex(struct writing *w, const struct placed_mesh *p,
                       const struct source_vertex *v, uint64_t at)
{
    float *P = (float *)(w->map + w->r.P) + 3 * at;
    if (p->to_model) {
        double out[3];
        place_vertex(w->s, p->to_model, v, out);
        for (int c = 0; c < 3; c++)
            P[c] = (float)(out[c] - w->r.origin[c]);
    } else {
        memcpy(P, v->P, sizeof v->P);
    }
    if (p->mesh->flags & TRIANGLE_HAS_NORMALS) {
        float *N = (float *)(w->map + w->r.N) + 3 * at;
        double n[3] = {(double)v->N[0], (double)v->N[1], (double)v->N[2]}, out[3];
        for (int c = 0; c < 3; c++)
            out[c] = p->to_model ? p->normals[c][0] * n[0] + p->normals[c][1] * n[1] +
                                       p->normals[c][2] * n[2]
                                 : n[c];
        double len = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
        for (int c = 0; c < 3; c++)
            N[c] = len > 0 && isfinite(len) ? (float)(out[c] / len) : 0;
    }
    if (p->mesh->flags & TRIANGLE_HAS_UV)
        memcpy((float *)(w->map + w->r.UV) + 2 * at, v->UV, sizeof v->UV);
    if (p->mesh->flags & TRIANGLE_HAS_COLORS)
        memcpy((float *)(w->map + w->r.colors) + 3 * at, v->color, sizeof v->color);
}

static uint64_t vertex_hash(const struct source_vertex *v)
{
    uint32_t words[sizeof *v / sizeof(uint32_t)];
    memcpy(words, v, sizeof words);
    uint64_t h = 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        h = (h ^ words[k]) * UINT64_C(0x9E3779B97F4A7C15), h ^= h >> 31;
    return h;
}

static void read_vertex(const struct source *s, const struct source_mesh *m, uint64_t i,
                        struct source_vertex *out)
{
    *out = (struct source_vertex){0};
    s->vertex(m, i, out);
    if (m->made)
        memcpy(out->N, m->made[i], sizeof out->N);
}

/* Of each vertex of the mesh whether a triangle uses it; NULL: all, or no memory. */
static bool *used_vertices(const struct source *s, const struct source_mesh *m)
{
    uint64_t unused = m->vertex_count;
    bool *used = calloc(m->vertex_count + 1, sizeof *used);
    for (uint64_t i = 0; i < m->face_count && used; i++) {
        uint64_t v[3];
        for (int k = 0; k < 3 && s->triangle(m, i, v); k++)
            if (v[k] < m->vertex_count && !used[v[k]]) {
                used[v[k]] = true;
                unused--;
            }
    }
    if (unused)
        return used;
    free(used);
    return NULL;
}

/* For each used vertex of the mesh its index among the distinct ones; writes those. Readers such as
 * the OBJ one give three vertices for each triangle. NULL: no memory, nothing was written. */
static uint32_t *put_distinct(struct writing *w, const struct placed_mesh *p, const bool *used)
{
    size_t n = p->mesh->vertex_count, cap = 16;
    while (cap < 2 * n)
        cap *= 2;
    uint32_t *table = calloc(cap, sizeof *table), *index = malloc(n * sizeof *index);
    if (!table || !index) {
        free(table);
        free(index);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        struct source_vertex v, other;
        if (used && !used[i])
            continue;
        read_vertex(w->s, p->mesh, i, &v);
        size_t at = (size_t)vertex_hash(&v) & (cap - 1);
        for (; table[at]; at = (at + 1) & (cap - 1)) {
            read_vertex(w->s, p->mesh, table[at] - 1, &other);
            if (memcmp(&other, &v, sizeof v) == 0)
                break;
        }
        if (table[at]) {
            index[i] = index[table[at] - 1];
            continue;
        }
        table[at] = (uint32_t)i + 1;
        index[i] = (uint32_t)w->vertices_at;
        put_vertex(w, p, &v, w->vertices_at++);
    }
    free(table);
    return index;
}

/* first: what the triangles' vertices are counted from. */
static void put_mesh(struct writing *w, const struct placed_mesh *p, uint64_t from)
{
    const struct source_mesh *mesh = p->mesh;
    struct source *s = w->s;
    uint64_t first = w->vertices_at;
    if (mesh->triangle_count == 0)
        return;
    bool *used = used_vertices(s, mesh);
    uint32_t *index =
        used || mesh->vertex_count > mesh->triangle_count ? put_distinct(w, p, used) : NULL;
    free(used);
    for (uint64_t i = 0; !index && i < mesh->vertex_count; i++) {
        struct source_vertex v;
        read_vertex(s, mesh, i, &v);
        put_vertex(w, p, &v, w->vertices_at++);
    }
    bool mirrored = p->to_model && transform_determinant(p->to_model) < 0;
    uint32_t(*T)[3] = (uint32_t(*)[3])(w->map + w->r.triangles);
    uint64_t at = w->triangles_at;
    for (uint64_t i = 0; i < mesh->face_count; i++) {
        uint64_t v[3];
        if (!s->triangle(mesh, i, v))
            continue;
        for (int k = 0; k < 3; k++) {
            uint64_t corner = v[mirrored && k ? 3 - k : k];
            if (corner >= mesh->vertex_count) {
                free(index);
                source_refuse(s, STATUS_PARSE, "%s: triangle %llu names vertex %llu of %llu",
                              s->path, (unsigned long long)i, (unsigned long long)corner,
                              (unsigned long long)mesh->vertex_count);
            }
            T[at][k] = (uint32_t)((index ? index[corner] : first + corner) - from);
        }
        at++;
    }
    if (w->r.flags)
        memset(w->map + w->r.flags + w->triangles_at, mesh->flags, at - w->triangles_at);
    if (w->r.material)
        for (uint64_t i = w->triangles_at; i < at; i++)
            ((uint32_t *)(w->map + w->r.material))[i] = mesh->material;
    w->triangles_at = at;
    free(index);
}

static void put_whole(struct writing *w)
{
    const struct source *s = w->s;
    for (size_t i = 0; i < s->node_count; i++) {
        struct placed_mesh p = {.to_model = &s->nodes[i].to_model};
        transform_normal_matrix(p.to_model, p.normals);
        for (uint32_t k = 0; k < s->nodes[i].mesh_count; k++) {
            p.mesh = &s->meshes[s->nodes[i].meshes[k]];
            put_mesh(w, &p, 0);
        }
    }
}

static void put_parts(struct writing *w)
{
    const struct source *s = w->s;
    struct model_part *parts = (struct model_part *)(w->map + w->r.parts);
    for (uint32_t i = 0; i < s->mesh_count; i++) {
        uint64_t v = w->vertices_at, t = w->triangles_at;
        const struct source_mesh *m = &s->meshes[i];
        put_mesh(w, &(struct placed_mesh){.mesh = m}, v);
        parts[i] = (struct model_part){.first_vertex = v,
                                       .vertex_count = w->vertices_at - v,
                                       .first_triangle = t,
                                       .triangle_count = w->triangles_at - t,
                                       .material = m->material,
                                       /* an empty part has no arrays to promise */
                                       .flags = m->triangle_count ? m->flags : 0};
    }
}

/* ---- meshes without a surface --------------------------------------------------------------- */

static bool has_area(const struct source *s, const struct source_mesh *m, const uint64_t corner[3])
{
    double p[3][3], e[2][3], len2 = 0;
    for (int k = 0; k < 3; k++) {
        struct source_vertex v;
        if (corner[k] >= m->vertex_count)
            return true; /* put_mesh refuses it */
        read_vertex(s, m, corner[k], &v);
        for (int c = 0; c < 3; c++)
            p[k][c] = (double)v.P[c];
    }
    for (int c = 0; c < 3; c++) {
        e[0][c] = p[1][c] - p[0][c];
        e[1][c] = p[2][c] - p[0][c];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double x = e[0][j] * e[1][k] - e[0][k] * e[1][j];
        len2 += x * x;
    }
    return len2 >= 1e-36 && len2 <= 1e37; /* NaN fails; scene_flatten.c judges in the world */
}

/* A part that cannot be seen would be an error of the scene that places it. */
static void drop_flat_meshes(struct source *s)
{
    unsigned dropped = 0;
    for (uint32_t i = 0; i < s->mesh_count; i++) {
        struct source_mesh *m = &s->meshes[i];
        bool seen = m->triangle_count == 0;
        for (uint64_t k = 0; k < m->face_count && !seen; k++) {
            uint64_t corner[3];
            seen = s->triangle(m, k, corner) && has_area(s, m, corner);
        }
        if (!seen) {
            m->triangle_count = m->face_count = 0;
            dropped++;
        }
    }
    if (dropped)
        source_note(s, "%u meshes whose triangles have no area or vertices that are not finite",
                    dropped);
}

/* ---- meshes without normals ----------------------------------------------------------------- */

/* Do smooth normals suit a mesh? Not a box whose faces share their vertices: they would be bent by
 * 55 degrees. Where more than a quarter of the surface (at its corners) gets one that stands more
 * than 45 degrees from it, its edges are meant. */
static bool suits(const struct model *model, const float (*N)[3])
{
    double bent = 0, all = 0;
    for (uint64_t i = 0; i < model->triangle_count; i++) {
        const uint32_t *t = model->triangles[i];
        double e[2][3], x[3];
        for (int c = 0; c < 3; c++) {
            e[0][c] = (double)model->P[t[1]][c] - (double)model->P[t[0]][c];
            e[1][c] = (double)model->P[t[2]][c] - (double)model->P[t[0]][c];
        }
        for (int c = 0; c < 3; c++)
            x[c] = e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3];
        double area = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        if (!isfinite(area))
            continue;
        all += 3 * area;
        for (int k = 0; k < 3; k++) {
            const float *n = N[t[k]];
            double along = x[0] * (double)n[0] + x[1] * (double)n[1] + x[2] * (double)n[2];
            bent += along < M_SQRT1_2 * area ? area : 0;
        }
    }
    return bent <= all / 4;
}

static void make_normals(struct source *s, struct source_mesh *m)
{
    if (m->flags & TRIANGLE_HAS_NORMALS || m->triangle_count == 0)
        return;
    struct model model = {.vertex_count = m->vertex_count};
    float(*P)[3] = arena_alloc(&s->scratch, (size_t)m->vertex_count, sizeof *P, 0);
    uint32_t(*t)[3] = arena_alloc(&s->scratch, (size_t)m->face_count, sizeof *t, 0);
    for (uint64_t i = 0; i < m->vertex_count && P; i++) {
        struct source_vertex v;
        read_vertex(s, m, i, &v);
        memcpy(P[i], v.P, sizeof *P);
    }
    for (uint64_t i = 0; i < m->face_count && t; i++) {
        uint64_t v[3];
        if (!s->triangle(m, i, v) || v[0] >= m->vertex_count || v[1] >= m->vertex_count ||
            v[2] >= m->vertex_count)
            continue; /* put_mesh refuses it */
        for (int k = 0; k < 3; k++)
            t[model.triangle_count][k] = (uint32_t)v[k];
        model.triangle_count++;
    }
    model.P = (const float(*)[3])P;
    model.triangles = (const uint32_t(*)[3])t;
    const float(*N)[3] = P && t ? (const float(*)[3])model_crease_normals(&s->arena, &model) : NULL;
    bool smooth = N && suits(&model, N);
    arena_free(&s->scratch);
    if (!N)
        no_memory(s);
    if (!smooth)
        return;
    m->made = N;
    m->flags |= TRIANGLE_HAS_NORMALS;
}

/* ---- counting ------------------------------------------------------------------------------- */

struct totals {
    uint64_t vertices, triangles;
    uint8_t flags_any;
    bool flags_differ, material, no_material;
    uint8_t flags_first;
};

static void count_mesh(struct source *s, struct totals *t, const struct source_mesh *m)
{
    if (m->triangle_count == 0)
        return;
    if (t->triangles == 0)
        t->flags_first = m->flags;
    t->flags_differ |= m->flags != t->flags_first;
    t->flags_any |= m->flags;
    *(m->material == UINT32_MAX ? &t->no_material : &t->material) = true;
    t->triangles += m->triangle_count;
    t->vertices += m->vertex_count;
    if (t->triangles > INT32_MAX || t->vertices > UINT32_MAX)
        source_refuse(s, STATUS_LIMIT,
                      "%s has more than 2^31 - 1 triangles or 2^32 - 1 vertices, the limits",
                      s->path);
}

static struct totals count_all(struct source *s)
{
    struct totals t = {0};
    if (s->layout == MODEL_PARTS)
        for (uint32_t i = 0; i < s->mesh_count; i++)
            count_mesh(s, &t, &s->meshes[i]);
    else
        for (size_t i = 0; i < s->node_count; i++)
            for (uint32_t k = 0; k < s->nodes[i].mesh_count; k++)
                count_mesh(s, &t, &s->meshes[s->nodes[i].meshes[k]]);
    return t;
}

/* Where some meshes have a material, the others get one too. */
static void give_materials(struct source *s, const struct totals *t)
{
    if (!t->material || !t->no_material)
        return;
    uint32_t number = s->material_count;
    source_material_begin(s, "default");
    json_key_string(&s->materials, "type", "diffuse");
    source_material_end(s);
    for (uint32_t i = 0; i < s->mesh_count; i++)
        if (s->meshes[i].material == UINT32_MAX)
            s->meshes[i].material = number;
}

/* ---- the description ------------------------------------------------------------------------ */

static void put_textures(struct source *s, struct json_writer *w)
{
    static const char *const wraps[] = {TEXTURE_WRAP_LIST(LIST_TEXT)};
    json_key(w, "textures");
    json_begin_object(w);
    for (size_t i = 0; i < s->texture_count; i++) {
        const struct source_texture *t = &s->textures[i];
        json_key(w, s->texture_names[i]);
        json_begin_object(w);
        if (t->image == SOURCE_NO_IMAGE)
            json_key_string(w, "file", t->file);
        else
            json_key_integer(w, "image", t->image);
        if (t->data)
            json_key_string(w, "color_space", "linear");
        if (t->wrap_u || t->wrap_v) {
            json_key(w, "wrap");
            if (t->wrap_u != t->wrap_v)
                json_begin_array(w);
            json_string(w, wraps[t->wrap_u]);
            if (t->wrap_u != t->wrap_v) {
                json_string(w, wraps[t->wrap_v]);
                json_end_array(w);
            }
        }
        if (t->nearest)
            json_key_string(w, "filter", "nearest");
        if (t->scale[0] != 0 || t->scale[1] != 0)
            json_key_pair(w, "scale", t->scale[0], t->scale[1]);
        if (t->rotation != 0)
            json_key_number(w, "rotation", t->rotation);
        if (t->offset[0] != 0 || t->offset[1] != 0)
            json_key_pair(w, "offset", t->offset[0], t->offset[1]);
        json_end_object(w);
    }
    json_end_object(w);
}

static bool is_identity(const struct transform *t)
{
    return memcmp(t, &transform_identity, sizeof *t) == 0;
}

static void put_transform(struct json_writer *w, const struct transform *t)
{
    if (is_identity(t))
        return;
    json_key(w, "transform");
    json_begin_array(w);
    json_begin_object(w);
    json_key(w, "matrix");
    json_begin_array(w);
    for (int i = 0; i < 12; i++)
        json_number(w, t->m[i / 4][i % 4]);
    for (int i = 0; i < 4; i++)
        json_integer(w, i == 3);
    json_end_array(w);
    json_end_object(w);
    json_end_array(w);
}

/* The objects of a node's meshes; to_model NULL: where they are. */
static void put_meshes(const struct source *s, struct json_writer *w, const struct source_node *n,
                       const struct transform *to_model)
{
    for (uint32_t k = 0; k < n->mesh_count; k++) {
        const struct source_mesh *m = &s->meshes[n->meshes[k]];
        if (m->triangle_count == 0)
            continue;
        json_begin_object(w);
        json_key_string(w, "type", "mesh");
        json_key_integer(w, "part", n->meshes[k]);
        if (m->material != UINT32_MAX)
            json_key_string(w, "material", s->material_name[m->material]);
        if (to_model)
            put_transform(w, to_model);
        json_end_object(w);
    }
}

static uint64_t node_triangles(const struct source *s, const struct source_node *n)
{
    uint64_t count = 0;
    for (uint32_t k = 0; k < n->mesh_count; k++)
        count += s->meshes[n->meshes[k]].triangle_count;
    return count;
}

/* A list of meshes and the nodes that have it. */
struct shared_list {
    const uint32_t *meshes;
    size_t node; /* the first */
    size_t uses;
    const char *group;
};

static int by_list(const void *a, const void *b)
{
    const struct shared_list *x = a, *y = b;
    if (x->meshes != y->meshes)
        return x->meshes < y->meshes ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int by_node(const void *a, const void *b)
{
    const struct shared_list *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int find_list(const void *key, const void *item)
{
    const struct shared_list *x = item;
    return key == (const void *)x->meshes ? 0 : (const uint32_t *)key < x->meshes ? -1 : 1;
}

/* A list that several nodes have becomes a group. */
static void put_objects(struct source *s, struct json_writer *w)
{
    struct shared_list *lists = source_alloc(s, s->node_count + 1, sizeof *lists);
    size_t count = 0, all = 0;
    for (size_t i = 0; i < s->node_count; i++)
        if (node_triangles(s, &s->nodes[i]))
            lists[all++] = (struct shared_list){.meshes = s->nodes[i].meshes, .node = i, .uses = 1};
    qsort(lists, all, sizeof *lists, by_list);
    for (size_t i = 0; i < all; i++)
        if (count && lists[count - 1].meshes == lists[i].meshes)
            lists[count - 1].uses++;
        else
            lists[count++] = lists[i];
    qsort(lists, count, sizeof *lists, by_node);
    json_key(w, "groups");
    json_begin_object(w);
    for (size_t i = 0; i < count; i++) {
        if (lists[i].uses == 1)
            continue;
        const struct source_node *n = &s->nodes[lists[i].node];
        lists[i].group = unique_name(s, NAMES_GROUPS, n->name, "mesh");
        json_key(w, lists[i].group);
        json_begin_array(w);
        put_meshes(s, w, n, NULL);
        json_end_array(w);
    }
    json_end_object(w);
    qsort(lists, count, sizeof *lists, by_list);
    json_key(w, "objects");
    json_begin_array(w);
    size_t flat = 0;
    for (size_t i = 0; i < s->node_count; i++) {
        const struct source_node *n = &s->nodes[i];
        if (node_triangles(s, n) == 0)
            continue;
        double det = fabs(transform_determinant(&n->to_model));
        if (!(det >= 1e-30 && det <= 1e30)) {
            flat++;
            continue;
        }
        const struct shared_list *l = bsearch(n->meshes, lists, count, sizeof *lists, find_list);
        if (l && l->group) {
            json_begin_object(w);
            json_key_string(w, "type", "instance");
            json_key_string(w, "group", l->group);
            put_transform(w, &n->to_model);
            json_end_object(w);
        } else {
            put_meshes(s, w, n, &n->to_model);
        }
    }
    json_end_array(w);
    if (flat)
        source_note(s, "%zu nodes whose scale is 0 along an axis", flat);
}

/* A value that another writer has finished. */
static void put_written(struct json_writer *w, const char *key, const struct json_writer *value)
{
    json_key(w, key);
    json_null(w);
    if (w->out.failed || value->out.failed || !value->out.data) {
        w->out.failed = true;
        return;
    }
    w->out.len -= strlen("null");
    text_append(&w->out, value->out.data, value->out.len);
}

static void describe(struct source *s)
{
    struct json_writer *w = &s->description;
    json_begin_object(w);
    put_textures(s, w);
    json_end_object(&s->materials);
    put_written(w, "materials", &s->materials);
    if (s->layout == MODEL_PARTS)
        put_objects(s, w);
    if (s->up_z)
        json_key_string(w, "up", "z");
    struct json_writer *const lists[] = {&s->cameras, &s->lights, &s->notes};
    static const char *const keys[] = {"cameras", "lights", "notes"};
    for (int i = 0; i < 3; i++) {
        json_end_array(lists[i]);
        put_written(w, keys[i], lists[i]);
    }
    json_end_object(w);
    if (w->out.failed)
        no_memory(s);
}

/* ---- places far from 0 ---------------------------------------------------------------------- */

static void add_places(const struct source *s, const struct source_mesh *m,
                       const struct transform *to_model, struct box *b)
{
    for (uint64_t i = 0; i < m->vertex_count && m->triangle_count && box_may_be_far(b); i++) {
        struct source_vertex v;
        double p[3];
        read_vertex(s, m, i, &v);
        place_vertex(s, to_model, &v, p);
        box_add(b, p);
    }
}

/* Of all that nodes place, unless it is not far. */
static struct box placed_box(const struct source *s)
{
    struct box b = box_empty;
    for (size_t i = 0; i < s->node_count && box_may_be_far(&b); i++)
        for (uint32_t k = 0; k < s->nodes[i].mesh_count; k++)
            add_places(s, &s->meshes[s->nodes[i].meshes[k]], &s->nodes[i].to_model, &b);
    return b;
}

/* Steps of float32 at e. */
static double float_step(double e) { return ldexp(1, ilogb(e) - 23); }

/* Where float32 coordinates that far from 0 show: in steps of more than a 8192nd of the size. */
static void note_steps(struct source *s, const struct box *b)
{
    double origin[3], away = 0, size = 0;
    box_origin(b, origin);
    for (int c = 0; c < 3; c++) {
        away = fmax(away, fabs(origin[c]));
        size = fmax(size, b->hi[c] - b->lo[c]);
    }
    if (away > 0 && float_step(away) > size / 8192)
        source_note(s,
                    "digits of coordinates: %.3g from 0 they are float32, in steps of %g, where "
                    "the model is %.3g across",
                    away, float_step(away), size);
}

/* What is read relative to an origin has all its digits. */
static void note_all_steps(struct source *s)
{
    static const double none[3] = {0, 0, 0};
    if (memcmp(s->origin, none, sizeof none) != 0)
        return;
    struct box all = s->float_places ? placed_box(s) : box_empty;
    if (s->float_places)
        note_steps(s, &all);
    for (uint32_t i = 0; i < s->mesh_count && !s->float_places; i++) {
        struct box b = box_empty;
        add_places(s, &s->meshes[i], &transform_identity, &b);
        note_steps(s, &b);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Room for count objects in the shared memory. */
static uint64_t place(struct import_result *r, uint64_t count, uint64_t size)
{
    uint64_t at = r->total;
    r->total += (count * size + 63) & ~UINT64_C(63);
    return at;
}

/* Lays the arrays out for as many vertices as there can be: what stays untouched takes no memory.
 */
static void map_result(struct writing *w, const struct totals *t, const struct text *description)
{
    struct source *s = w->s;
    struct import_result *r = &w->r;
    r->vertex_count = t->vertices;
    r->triangle_count = t->triangles;
    r->material_count = s->material_count;
    r->image_count = s->image_count;
    r->part_count = s->layout == MODEL_PARTS ? s->mesh_count : 0;
    r->description_size = description->len;
    r->total = (sizeof *r + 63) & ~UINT64_C(63);
    r->P = place(r, t->vertices, 12);
    r->N = t->flags_any & TRIANGLE_HAS_NORMALS ? place(r, t->vertices, 12) : 0;
    r->UV = t->flags_any & TRIANGLE_HAS_UV ? place(r, t->vertices, 8) : 0;
    r->colors = t->flags_any & TRIANGLE_HAS_COLORS ? place(r, t->vertices, 12) : 0;
    r->triangles = place(r, t->triangles, 12);
    r->flags = t->flags_differ ? place(r, t->triangles, 1) : 0;
    r->material = t->material ? place(r, t->triangles, 4) : 0;
    r->parts = place(r, r->part_count, sizeof(struct model_part));
    r->images = place(r, r->image_count, sizeof(struct model_image));
    r->description = place(r, r->description_size, 1);
    uint64_t bytes_at = r->total;
    for (size_t i = 0; i < s->image_count; i++)
        place(r, s->images[i].size, 1);
    w->map = ftruncate(s->fd, (off_t)r->total) == 0
                 ? mmap(NULL, r->total, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0)
                 : MAP_FAILED;
    if (w->map == MAP_FAILED)
        source_refuse(s, STATUS_MEMORY, "out of memory for the %llu bytes of %s",
                      (unsigned long long)r->total, s->path);
    s->map = w->map;
    s->map_size = r->total;
    memcpy(w->map + r->description, description->data, description->len);
    struct model_image *images = (struct model_image *)(w->map + r->images);
    for (size_t i = 0; i < s->image_count; i++) {
        memcpy(w->map + bytes_at, s->images[i].data, s->images[i].size);
        images[i] = (struct model_image){bytes_at, s->images[i].size};
        bytes_at += (s->images[i].size + 63) & ~UINT64_C(63);
    }
}

void source_write(struct source *s)
{
    if (s->layout == MODEL_PARTS)
        drop_flat_meshes(s);
    for (uint32_t i = 0; i < s->mesh_count && s->layout == MODEL_PARTS && s->makes_normals; i++)
        make_normals(s, &s->meshes[i]);
    struct totals t = count_all(s);
    uint64_t placed = 0;
    for (size_t i = 0; i < s->node_count && !placed; i++)
        placed = node_triangles(s, &s->nodes[i]);
    if (t.triangles == 0 || !placed)
        source_refuse(s, STATUS_TYPE, "the model %s has no triangles%s%s", s->path,
                      s->noted_count ? " that can be seen; without " : "",
                      s->noted_count ? s->noted[0] : "");
    give_materials(s, &t);
    note_all_steps(s);
    describe(s);
    struct writing w = {.s = s};
    if (s->layout == MODEL_PARTS) {
        memcpy(w.r.origin, s->origin, sizeof w.r.origin);
    } else {
        struct box b = placed_box(s);
        box_origin(&b, w.r.origin);
    }
    map_result(&w, &t, &s->description.out);
    if (s->layout == MODEL_PARTS)
        put_parts(&w);
    else
        put_whole(&w);
    w.r.vertex_count = w.vertices_at;
    w.r.status = STATUS_OK;
    memcpy(w.map, &w.r, sizeof w.r);
    ((struct import_result *)w.map)->magic = IMPORT_MAGIC;
}

void source_begin(struct source *s)
{
    json_begin_object(&s->materials);
    json_begin_array(&s->lights);
    json_begin_array(&s->cameras);
    json_begin_array(&s->notes);
}

void source_end(struct source *s)
{
    struct json_writer *const writers[] = {&s->materials, &s->lights, &s->cameras, &s->notes,
                                           &s->description};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        text_free(&writers[i]->out);
    if (s->map)
        munmap(s->map, s->map_size);
    if (s->held)
        s->held_free(s->held);
    arena_free(&s->scratch);
    arena_free(&s->arena);
}
