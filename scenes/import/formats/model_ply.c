/* SPDX-License-Identifier: Apache-2.0 */
/* PLY files far from 0 whose coordinates have more digits than float32, and those with what
 * Assimp 5.2.5 passes over or misreads: strips of triangles, colours and texture coordinates of
 * faces, colours named diffuse_red, textures (MeshLab's "comment TextureFile"), vertices and faces
 * behind elements that it does not know. All other PLY is Assimp's. Turk, "The PLY Polygon File
 * Format", 1994. */
#define _GNU_SOURCE
#include "formats.h"
#include "geometry/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 16, PROPERTIES = 64, TEXTURES = 16, HEAD_MAX = 1 << 16, WORDS = 6 };
enum format { ASCII, LITTLE, BIG };

static const struct {
    const char *name[2];
    unsigned size;
    bool real, has_sign;
} types[] = {{{"char", "int8"}, 1, false, true},    {{"uchar", "uint8"}, 1, false, false},
             {{"short", "int16"}, 2, false, true},  {{"ushort", "uint16"}, 2, false, false},
             {{"int", "int32"}, 4, false, true},    {{"uint", "uint32"}, 4, false, false},
             {{"float", "float32"}, 4, true, true}, {{"double", "float64"}, 8, true, true}};
enum { TYPES = sizeof types / sizeof *types, NO_TYPE = -1 };

/* What a property says; of vertices those before COLOR_END, in this order. */
enum role { X, Y, Z, NX, NY, NZ, U, V, RED, GREEN, BLUE, COLOR_END, CORNERS, UVS, TEXTURE, OTHER };

struct property {
    int type, count; /* count: the type of a list's length, else NO_TYPE */
    enum role role;
};
enum kind { VERTICES, FACES, STRIPS, REST };
struct element {
    enum kind kind;
    uint64_t count;
    struct property properties[PROPERTIES];
    int property_count;
};

struct corner {
    uint32_t vertex;
    float uv[2];
};
struct triangle {
    struct corner corners[3];
    float color[3];
    uint32_t texture;
};

struct ply {
    struct source *s;
    enum format format;
    const char *data, *at, *end;
    struct element elements[ELEMENTS];
    int element_count;
    const char *textures[TEXTURES];
    uint32_t texture_count;
    bool has[COLOR_END], face_uv, face_color, strips;
    bool tinted;                /* some vertex is not white, which many writers say for nothing */
    bool unheard;               /* Assimp passes over some of its vertices' properties */
    bool others, behind_others; /* elements that Assimp does not know, and what it needs behind */
    struct box box;             /* of the vertices that faces use */
    double (*places)[3];        /* of vertices, till the box is known */
    float (*vertices)[COLOR_END];
    uint64_t vertex_count;
    struct triangle *triangles; /* NULL: they are counted */
    uint64_t triangle_count;
    uint64_t room; /* of these */
    uint32_t *ring;
    float (*uv)[2], (*P)[3];
    struct polygon_room cutting;
    uint32_t (*cut)[3];
};

/* ---- the head ------------------------------------------------------------------------------- */

static int type_of(const char *word)
{
    for (int i = 0; i < TYPES; i++)
        if (strcmp(word, types[i].name[0]) == 0 || strcmp(word, types[i].name[1]) == 0)
            return i;
    return NO_TYPE;
}

static enum role role_of(enum kind kind, const char *name, bool list)
{
    static const struct {
        const char *name;
        enum role role;
    } plain[] = {{"x", X},
                 {"y", Y},
                 {"z", Z},
                 {"nx", NX},
                 {"ny", NY},
                 {"nz", NZ},
                 {"s", U},
                 {"t", V},
                 {"u", U},
                 {"v", V},
                 {"texture_u", U},
                 {"texture_v", V},
                 {"texture_s", U},
                 {"texture_t", V},
                 {"red", RED},
                 {"green", GREEN},
                 {"blue", BLUE},
                 {"r", RED},
                 {"g", GREEN},
                 {"b", BLUE},
                 {"diffuse_red", RED},
                 {"diffuse_green", GREEN},
                 {"diffuse_blue", BLUE},
                 {"texnumber", TEXTURE}};
    if (list)
        return strcmp(name, "vertex_indices") == 0 || strcmp(name, "vertex_index") == 0 ? CORNERS
               : kind == FACES && strcmp(name, "texcoord") == 0                         ? UVS
                                                                                        : OTHER;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcasecmp(name, plain[i].name) == 0)
            return kind == VERTICES ? (plain[i].role < COLOR_END ? plain[i].role : OTHER)
                   : plain[i].role >= RED && kind == FACES ? plain[i].role
                                                           : OTHER;
    return OTHER;
}

static bool add_element(struct ply *p, char *const *words)
{
    if (p->element_count == ELEMENTS)
        return false;
    struct element *e = &p->elements[p->element_count++];
    double count = strtod(words[2], NULL);
    e->kind = strcmp(words[1], "vertex") == 0      ? VERTICES
              : strcmp(words[1], "face") == 0      ? FACES
              : strcmp(words[1], "tristrips") == 0 ? STRIPS
                                                   : REST;
    e->count = count >= 0 && count < 0x1p40 ? (uint64_t)count : 0;
    p->strips = p->strips || e->kind == STRIPS;
    p->others = p->others || (e->kind == REST && strcmp(words[1], "material") != 0);
    p->behind_others = p->behind_others || (p->others && e->kind != REST);
    for (int i = 0; i + 1 < p->element_count; i++)
        if (e->kind == VERTICES && p->elements[i].kind == VERTICES)
            source_refuse(p->s, STATUS_PARSE,
                          "cannot read the model %s: it has two elements \"vertex\"", p->s->path);
    return count >= 0 && count < 0x1p40;
}

static bool add_property(struct ply *p, char *const *words, int n)
{
    struct element *e = p->element_count ? &p->elements[p->element_count - 1] : NULL;
    bool list = n >= 5 && strcmp(words[1], "list") == 0;
    if (!e || e->property_count == PROPERTIES || n < 3)
        return false;
    const char *name = words[list ? 4 : 2];
    struct property *q = &e->properties[e->property_count++];
    *q = (struct property){type_of(words[list ? 3 : 1]), list ? type_of(words[2]) : NO_TYPE,
                           role_of(e->kind, name, list)};
    if (e->kind == VERTICES && q->role < COLOR_END) {
        p->has[q->role] = true;
        p->unheard = p->unheard || strncmp(name, "diffuse_", 8) == 0 ||
                     strcmp(name, "texture_s") == 0 || strcmp(name, "texture_t") == 0 ||
                     name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")]; /* a capital */
    }
    p->face_color = p->face_color || (e->kind == FACES && q->role == RED);
    p->face_uv = p->face_uv || q->role == UVS;
    return q->type != NO_TYPE && (!list || (q->count != NO_TYPE && !types[q->count].real));
}

/* One line, which is cut into words. False: it is none that this reader knows. */
static bool read_line(struct ply *p, char *line)
{
    static const char texture[] = "comment TextureFile ";
    char *words[WORDS] = {0}, *rest = line;
    int n = 0;
    if (strncmp(line, texture, sizeof texture - 1) == 0 && p->texture_count < TEXTURES) {
        p->textures[p->texture_count++] = line + sizeof texture - 1;
        return true;
    }
    for (char *w; n < WORDS && (w = strtok_r(rest, " \t", &rest)); n++)
        words[n] = w;
    if (n == 0 || strcmp(words[0], "comment") == 0 || strcmp(words[0], "obj_info") == 0)
        return true;
    if (strcmp(words[0], "format") == 0 && n >= 2) {
        p->format = strcmp(words[1], "binary_little_endian") == 0 ? LITTLE
                    : strcmp(words[1], "binary_big_endian") == 0  ? BIG
                                                                  : ASCII;
        return true;
    }
    if (strcmp(words[0], "element") == 0 && n >= 3)
        return add_element(p, words);
    return strcmp(words[0], "property") == 0 && add_property(p, words, n);
}

/* Bytes of the head, or 0: it is none, or none that this reader knows. */
static size_t read_head(struct ply *p, char *head, size_t size)
{
    if (size < 4 || strncmp(head, "ply", 3) != 0 || (head[3] != '\n' && head[3] != '\r'))
        return 0;
    for (char *line = head + 3, *end; (end = memchr(line, '\n', (size_t)(head + size - line)));
         line = end + 1) {
        *end = '\0';
        if (end > line && end[-1] == '\r')
            end[-1] = '\0';
        if (strncmp(line, "end_header", 10) == 0)
            return (size_t)(end + 1 - head);
        if (!read_line(p, line))
            return 0;
    }
    return 0;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) bad(struct ply *p, const char *what)
{
    source_refuse(p->s, STATUS_PARSE, "cannot read the model %s: %s (byte %llu)", p->s->path, what,
                  (unsigned long long)(p->at - p->data));
}

static double number(struct ply *p, int type)
{
    unsigned size = types[type].size;
    if (p->format == ASCII) {
        char *after;
        double x = strtod(p->at, &after);
        if (after == p->at || after > p->end)
            bad(p, "found no number where one is expected");
        p->at = after;
        return x;
    }
    if ((size_t)(p->end - p->at) < size)
        bad(p, "it ends too early");
    uint64_t bits = 0;
    for (unsigned i = 0; i < size; i++)
        bits |= (uint64_t)(unsigned char)p->at[p->format == BIG ? size - 1 - i : i] << 8 * i;
    p->at += size;
    if (types[type].real && size == 8) {
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    if (types[type].real) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof f);
        return (double)f;
    }
    double limit = ldexp(1, (int)(8 * size)), x = (double)bits;
    return types[type].has_sign && x >= limit / 2 ? x - limit : x;
}

/* A list's length; each of its numbers takes a byte at least. */
static uint64_t length(struct ply *p, int type)
{
    double n = number(p, type);
    if (!(n >= 0) || n > (double)(p->end - p->at))
        bad(p, "found a list longer than the file");
    return (uint64_t)n;
}

static void make_room(struct ply *p, uint64_t n)
{
    if (n <= p->room)
        return;
    p->room = 2 * n + 16;
    p->ring = source_alloc(p->s, p->room, sizeof *p->ring);
    p->uv = source_alloc(p->s, p->room, sizeof *p->uv);
    p->P = source_alloc(p->s, p->room, sizeof *p->P);
    p->cut = source_alloc(p->s, p->room, sizeof *p->cut);
    p->cutting.at = source_alloc(p->s, p->room, sizeof *p->cutting.at);
    p->cutting.ring = source_alloc(p->s, p->room, sizeof *p->cutting.ring);
}

/* 8 bits and 16 of an integer are 0 to 1, sRGB. */
static float color(const struct property *q, double x)
{
    double largest = types[q->type].real ? 1 : ldexp(1, (int)(8 * types[q->type].size)) - 1;
    return (float)source_clamp(srgb_decode(source_clamp(x / largest, 0, 1)), 0, 1);
}

/* ---- elements ------------------------------------------------------------------------------- */

static void read_vertices(struct ply *p, const struct element *e)
{
    if (e->count > UINT32_MAX || e->count > (uint64_t)(p->end - p->at) ||
        !(p->has[X] && p->has[Y] && p->has[Z]))
        bad(p, "found more vertices than it can hold, or without x, y and z");
    if (!p->vertices)
        p->vertices = source_alloc(p->s, e->count, sizeof *p->vertices);
    if (!p->places)
        p->places = source_alloc(p->s, e->count, sizeof *p->places);
    p->vertex_count = e->count;
    for (uint64_t i = 0; i < e->count; i++) {
        for (int k = 0; k < e->property_count; k++) {
            const struct property *q = &e->properties[k];
            for (uint64_t n = q->count != NO_TYPE ? length(p, q->count) : 1; n > 0; n--) {
                double x = number(p, q->type);
                if (q->count != NO_TYPE || q->role >= COLOR_END)
                    continue;
                if (q->role <= Z)
                    p->places[i][q->role] = x;
                p->vertices[i][q->role] = q->role >= RED ? color(q, x)
                                          : q->role <= Z ? (float)(x - p->s->origin[q->role])
                                                         : (float)x;
            }
        }
        const float *v = p->vertices[i];
        p->tinted = p->tinted || v[RED] < 1 || v[GREEN] < 1 || v[BLUE] < 1;
    }
}

/* What a face or strip says beside its corners. */
struct face {
    uint64_t corners, uvs;
    float color[3];
    uint32_t texture;
};

static void read_face(struct ply *p, const struct element *e, struct face *f)
{
    *f = (struct face){.color = {1, 1, 1}};
    for (int k = 0; k < e->property_count; k++) {
        const struct property *q = &e->properties[k];
        uint64_t n = q->count != NO_TYPE ? length(p, q->count) : 1;
        if (q->role == CORNERS || q->role == UVS) {
            if (q->role == UVS && f->corners && n > 2 * p->room)
                bad(p, "found more texture coordinates than a face has corners");
            if (q->role == CORNERS || !f->corners)
                make_room(p, n);
        }
        for (uint64_t i = 0; i < n; i++) {
            double x = number(p, q->type);
            if (q->role == CORNERS)
                p->ring[i] = x >= 0 && x < (double)UINT32_MAX ? (uint32_t)x : UINT32_MAX;
            else if (q->role == UVS)
                p->uv[i / 2][i % 2] = (float)x;
            else if (q->role >= RED && q->role < COLOR_END)
                f->color[q->role - RED] = color(q, x);
            else if (q->role == TEXTURE)
                f->texture = x >= 0 && x < p->texture_count ? (uint32_t)x : 0;
        }
        f->corners = q->role == CORNERS ? n : f->corners;
        f->uvs = q->role == UVS ? n : f->uvs;
    }
}

static void put_triangle(struct ply *p, const struct face *f, const uint64_t at[3])
{
    struct triangle *t = p->triangles ? &p->triangles[p->triangle_count] : NULL;
    p->triangle_count++;
    for (int k = 0; k < 3 && t; k++) {
        uint32_t v = p->ring[at[k]];
        t->corners[k].vertex = v;
        if (f->uvs >= 2 * f->corners)
            memcpy(t->corners[k].uv, p->uv[at[k]], sizeof t->corners[k].uv);
        else
            memcpy(t->corners[k].uv, &p->vertices[v][U], sizeof t->corners[k].uv);
        t->color[k] = f->color[k];
        t->texture = f->texture;
    }
}

static void check_corner(struct ply *p, uint64_t i)
{
    if (p->ring[i] >= p->vertex_count)
        bad(p, "found a face of a vertex that there is not");
    if (!p->triangles)
        box_add(&p->box, p->places[p->ring[i]]);
}

static void put_polygon(struct ply *p, const struct face *f)
{
    for (uint64_t i = 0; i < f->corners; i++) {
        check_corner(p, i);
        memcpy(p->P[i], p->vertices[p->ring[i]], sizeof p->P[i]);
    }
    if (f->corners < 3)
        return;
    if (p->triangles)
        polygon_cut((const float(*)[3])p->P, f->corners, &p->cutting, p->cut);
    for (uint64_t i = 0; i + 2 < f->corners; i++)
        put_triangle(p, f, (uint64_t[3]){p->cut[i][0], p->cut[i][1], p->cut[i][2]});
}

/* -1 begins another strip. */
static void put_strip(struct ply *p, const struct face *f)
{
    uint64_t first = 0;
    for (uint64_t i = 0; i < f->corners; i++) {
        if (p->ring[i] == UINT32_MAX) {
            first = i + 1;
            continue;
        }
        check_corner(p, i);
        bool odd = (i - first) % 2;
        if (i >= first + 2)
            put_triangle(p, f, (uint64_t[3]){i - 2, odd ? i : i - 1, odd ? i - 1 : i});
    }
}

static void read_elements(struct ply *p, const char *from)
{
    p->at = from;
    p->triangle_count = 0;
    for (int k = 0; k < p->element_count; k++) {
        const struct element *e = &p->elements[k];
        if (e->kind == VERTICES) {
            read_vertices(p, e);
            continue;
        }
        for (uint64_t i = 0; i < e->count && e->property_count; i++) {
            struct face f;
            read_face(p, e, &f);
            if (e->kind == FACES)
                put_polygon(p, &f);
            else if (e->kind == STRIPS)
                put_strip(p, &f);
        }
    }
}

/* ---- the model ------------------------------------------------------------------------------ */

/* The triangles with one texture. */
struct mesh {
    const struct ply *ply;
    uint64_t *triangles;
};

/* One of the file's, where triangles say nothing of their own. */
static void shared_vertex(const struct source_mesh *m, uint64_t i, struct source_vertex *out)
{
    const struct mesh *mesh = m->data;
    const float *v = mesh->ply->vertices[i];
    memcpy(out->P, &v[X], sizeof out->P);
    if (m->flags & TRIANGLE_HAS_NORMALS)
        memcpy(out->N, &v[NX], sizeof out->N);
    if (m->flags & TRIANGLE_HAS_UV)
        memcpy(out->UV, &v[U], sizeof out->UV);
    if (m->flags & TRIANGLE_HAS_COLORS)
        memcpy(out->color, &v[RED], sizeof out->color);
}

static bool shared_triangle(const struct source_mesh *m, uint64_t i, uint64_t out[3])
{
    const struct mesh *mesh = m->data;
    for (int k = 0; k < 3; k++)
        out[k] = mesh->ply->triangles[mesh->triangles[i]].corners[k].vertex;
    return true;
}

/* One for each corner. */
static void mesh_vertex(const struct source_mesh *m, uint64_t i, struct source_vertex *out)
{
    const struct mesh *mesh = m->data;
    const struct ply *p = mesh->ply;
    const struct triangle *t = &p->triangles[mesh->triangles[i / 3]];
    const struct corner *c = &t->corners[i % 3];
    shared_vertex(m, c->vertex, out);
    if (m->flags & TRIANGLE_HAS_UV)
        memcpy(out->UV, c->uv, sizeof out->UV);
    if (m->flags & TRIANGLE_HAS_COLORS && p->face_color)
        memcpy(out->color, t->color, sizeof out->color);
}

static bool mesh_triangle(const struct source_mesh *m, uint64_t i, uint64_t out[3])
{
    (void)m;
    for (uint64_t k = 0; k < 3; k++)
        out[k] = 3 * i + k;
    return true;
}

static void write_material(struct ply *p, uint32_t number)
{
    struct source *s = p->s;
    struct source_texture t = {.image = SOURCE_NO_IMAGE};
    source_texture_file(s, &t, p->textures[number]);
    source_material_begin(s, NULL);
    json_key_string(&s->materials, "type", "diffuse");
    source_color(&s->materials, "reflectance", (double[]){1, 1, 1}, source_texture(s, &t));
    source_material_end(s);
}

static void make_meshes(struct ply *p)
{
    struct source *s = p->s;
    uint32_t count = p->texture_count ? p->texture_count : 1;
    uint32_t *numbers = source_alloc(s, count, sizeof *numbers);
    s->meshes = source_alloc(s, count, sizeof *s->meshes);
    for (uint32_t k = 0; k < count; k++) {
        struct mesh *m = source_alloc(s, 1, sizeof *m);
        uint64_t n = 0, at = 0;
        for (uint64_t i = 0; i < p->triangle_count; i++)
            n += p->triangles[i].texture == k;
        *m = (struct mesh){p, source_alloc(s, n, sizeof *m->triangles)};
        for (uint64_t i = 0; i < p->triangle_count; i++)
            if (p->triangles[i].texture == k)
                m->triangles[at++] = i;
        if (p->texture_count)
            write_material(p, k);
        bool uv = p->face_uv || (p->has[U] && p->has[V]),
             colors = p->face_color || (p->has[RED] && p->has[GREEN] && p->has[BLUE] && p->tinted);
        s->meshes[k] = (struct source_mesh){
            .data = m,
            .vertex_count = s->vertex == shared_vertex ? p->vertex_count : 3 * n,
            .face_count = n,
            .triangle_count = n,
            .material = p->texture_count ? k : UINT32_MAX,
            .flags =
                (uint8_t)((p->has[NX] && p->has[NY] && p->has[NZ] ? TRIANGLE_HAS_NORMALS : 0U) |
                          (uv ? TRIANGLE_HAS_UV : 0U) | (colors ? TRIANGLE_HAS_COLORS : 0U)),
        };
        numbers[k] = k;
    }
    s->mesh_count = count;
    source_add_node(s, &(struct source_node){
                           .meshes = numbers, .mesh_count = count, .to_model = transform_identity});
}

/* Whether the vertices that begin behind the head may be far, with more digits than float32, but
 * for a few that may be nobody's: behind one that is not far by those before it others may be. */
static bool may_be_far(struct ply *p, const char *head, size_t body, size_t size)
{
    enum { LONGEST = 1 << 12, STRAYS = 8 }; /* a vertex in a file that goes on behind `size` */
    const struct element *e = &p->elements[0];
    bool finer = p->format == ASCII, plain = p->element_count > 0 && e->kind == VERTICES;
    for (int k = 0; k < e->property_count; k++) {
        plain = plain && e->properties[k].count == NO_TYPE;
        finer = finer || (e->properties[k].role <= Z && types[e->properties[k].type].size == 8);
    }
    if (!plain || !finer || !(p->has[X] && p->has[Y] && p->has[Z]))
        return false;
    struct box b = box_empty;
    p->data = head;
    p->at = head + body;
    p->end = head + size;
    int strays = 0;
    for (uint64_t i = 0; i < e->count && strays <= STRAYS; i++) {
        double at[3] = {0};
        if (size == HEAD_MAX && p->end - p->at < LONGEST)
            break;
        for (int k = 0; k < e->property_count; k++) {
            double x = number(p, e->properties[k].type);
            if (e->properties[k].role <= Z)
                at[e->properties[k].role] = x;
        }
        box_add(&b, at);
        if (!box_may_be_far(&b)) {
            strays++;
            b = box_empty;
            box_add(&b, at);
        }
    }
    return strays <= STRAYS;
}

bool source_read_ply(struct source *s)
{
    struct ply *p = source_alloc(s, 1, sizeof *p);
    char *head = source_alloc(s, HEAD_MAX + 1, 1), *data;
    struct error why;
    size_t size;
    p->s = s;
    FILE *f = fopen(s->path, "rbe");
    size_t n = f ? fread(head, 1, HEAD_MAX, f) : 0, body;
    if (f)
        fclose(f);
    /* Assimp looks for it without end */
    if (n > 4 && n < HEAD_MAX && memcmp(head, "ply", 3) == 0 && !memmem(head, n, "end_header", 10))
        source_refuse(s, STATUS_PARSE, "cannot read the model %s: its head has no end_header",
                      s->path);
    body = read_head(p, head, n);
    if (p->has[RED] && p->has[GREEN] && p->has[BLUE] && p->face_color) {
        source_note(s, "colours of faces beside those of vertices");
        p->face_color = false;
    }
    bool special = p->strips || p->face_color || p->face_uv || p->texture_count ||
                   p->behind_others || p->unheard;
    if (!body || !(special || may_be_far(p, head, body, n)))
        return false;
    if (input_file_read(&s->arena, s->path, 0, &data, &size, &why) != STATUS_OK)
        source_refuse(s, why.code, "%s", why.msg);
    p->data = data;
    p->end = data + size;
    p->box = box_empty;
    read_elements(p, data + body);
    box_origin(&p->box, s->origin);
    if (!special && s->origin[0] == 0 && s->origin[1] == 0 && s->origin[2] == 0)
        return false;
    p->triangles = source_alloc(s, p->triangle_count, sizeof *p->triangles);
    read_elements(p, data + body);
    s->vertex = special ? mesh_vertex : shared_vertex;
    s->triangle = special ? mesh_triangle : shared_triangle;
    s->makes_normals = true;
    make_meshes(p);
    return true;
}
