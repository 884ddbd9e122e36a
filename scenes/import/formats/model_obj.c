/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "model_obj.h"

#include "geometry/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* ---- lines ---------------------------------------------------------------------------------- */

struct span {
    const char *at, *end;
};

/* False behind the last one. */
static bool next_line(struct span *l, const char *end)
{
    if (l->end >= end)
        return false;
    l->at = l->end;
    const char *newline = memchr(l->at, '\n', (size_t)(end - l->at));
    l->end = newline ? newline + 1 : end;
    return true;
}

/* The next word of the line; false if there is none. */
static bool next_word(const char **at, const char *end, struct span *word)
{
    while (*at < end && (is_blank(**at) || **at == '\r' || **at == '\n'))
        (*at)++;
    if (*at == end || **at == '#')
        return false;
    word->at = *at;
    while (*at < end && !is_blank(**at) && **at != '\r' && **at != '\n')
        (*at)++;
    word->end = *at;
    return true;
}

static bool starts(const struct span *l, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(l->end - l->at) > n && memcmp(l->at, word, n) == 0 && is_blank(l->at[n]);
}

static bool says_smoothing(const char *data, size_t size)
{
    for (struct span l = {data, data}; next_line(&l, data + size);)
        if (starts(&l, "s"))
            return true;
    return false;
}

static int64_t whole_number(const char *at, const char *end, const char **behind)
{
    bool minus = at < end && *at == '-';
    int64_t n = 0;
    for (at += minus; at < end && *at >= '0' && *at <= '9'; at++)
        n = n < UINT32_MAX ? 10 * n + (*at - '0') : n;
    *behind = at;
    return minus ? -n : n;
}

/* ---- what the file says --------------------------------------------------------------------- */

struct face {
    uint32_t first, count; /* corners */
    uint32_t group;        /* 0: none */
    bool bare;             /* it has no normals */
    bool has_uv;           /* there are texture coordinates before it */
};

struct obj {
    float (*P)[3];
    struct face *faces;
    uint32_t *corners; /* vertices; then, of bare faces in groups, pairs */
    size_t vertex_count, normal_count, face_count, corner_count;
    bool whole; /* all corners name vertices */
};

static void count_lines(struct obj *o, const char *data, size_t size)
{
    for (struct span l = {data, data}, word; next_line(&l, data + size);) {
        o->vertex_count += starts(&l, "v");
        o->normal_count += starts(&l, "vn");
        if (!starts(&l, "f"))
            continue;
        o->face_count++;
        for (const char *at = l.at + 1; next_word(&at, l.end, &word);)
            o->corner_count++;
    }
}

static void read_vertex(const struct span *l, float P[3])
{
    struct span word;
    const char *at = l->at + 1;
    for (int c = 0; c < 3 && next_word(&at, l->end, &word); c++) {
        char text[64];
        size_t n = (size_t)(word.end - word.at);
        n = n < sizeof text ? n : sizeof text - 1;
        memcpy(text, word.at, n);
        text[n] = '\0';
        P[c] = strtof(text, NULL);
    }
}

static void read_face(struct obj *o, const struct span *l, size_t vertices, struct face *f)
{
    struct span word;
    f->bare = true;
    for (const char *at = l->at + 1, *end; next_word(&at, l->end, &word); f->count++) {
        int64_t v = whole_number(word.at, word.end, &end);
        v = v < 0 ? (int64_t)vertices + v : v - 1;
        o->whole = o->whole && v >= 0 && v < (int64_t)o->vertex_count;
        o->corners[f->first + f->count] = (uint32_t)v;
        const char *uv = end < word.end ? memchr(end + 1, '/', (size_t)(word.end - end - 1)) : NULL;
        f->bare = f->bare && !(uv && uv + 1 < word.end);
    }
}

static uint32_t read_group(const struct span *l)
{
    static const char *const off[] = {"off", "null"};
    struct span word;
    const char *at = l->at + 1, *behind;
    if (!next_word(&at, l->end, &word))
        return 0;
    size_t n = (size_t)(word.end - word.at);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (n == strlen(off[i]) && strncasecmp(word.at, off[i], n) == 0)
            return 0;
    int64_t number = whole_number(word.at, word.end, &behind);
    return behind == word.at ? 1 : (uint32_t)number;
}

static void read_lines(struct obj *o, const char *data, size_t size)
{
    size_t vertices = 0, faces = 0, corners = 0;
    uint32_t group = 0;
    bool has_uv = false;
    for (struct span l = {data, data}; next_line(&l, data + size);) {
        if (starts(&l, "v"))
            read_vertex(&l, o->P[vertices++]);
        else if (starts(&l, "s"))
            group = read_group(&l);
        else if (starts(&l, "f")) {
            struct face *f = &o->faces[faces++];
            *f = (struct face){.first = (uint32_t)corners, .group = group, .has_uv = has_uv};
            read_face(o, &l, vertices, f);
            corners += f->count;
        }
        has_uv = has_uv || starts(&l, "vt");
    }
}

/* ---- normals -------------------------------------------------------------------------------- */

/* A vertex in a group. */
struct pair {
    uint32_t vertex, group;
    double sum[3];
};

struct pairs {
    struct pair *list;
    uint32_t count;
    uint32_t *table; /* of list's index + 1, open to the next slot */
    size_t cap;
};

static uint32_t pair_of(struct pairs *p, uint32_t vertex, uint32_t group)
{
    uint64_t h = ((uint64_t)group << 32 | vertex) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)((h ^ h >> 29) * UINT64_C(0x165667B19E3779F9) >> 32) & (p->cap - 1);
    for (; p->table[at]; at = (at + 1) & (p->cap - 1)) {
        const struct pair *q = &p->list[p->table[at] - 1];
        if (q->vertex == vertex && q->group == group)
            return p->table[at] - 1;
    }
    p->list[p->count] = (struct pair){vertex, group, {0}};
    p->table[at] = ++p->count;
    return p->count - 1;
}

static void edge(const struct obj *o, const struct face *f, uint32_t from, uint32_t to,
                 double out[3])
{
    const float *a = o->P[o->corners[f->first + from % f->count]],
                *b = o->P[o->corners[f->first + to % f->count]];
    for (int c = 0; c < 3; c++)
        out[c] = (double)b[c] - (double)a[c];
}

/* Twice the area along the normal of a face, which may be a polygon: the sum of the triangles that
 * its corners make with the first one. */
static void face_normal(const struct obj *o, const struct face *f, double n[3])
{
    for (uint32_t k = 1; k + 1 < f->count; k++) {
        double a[3], b[3];
        edge(o, f, 0, k, a);
        edge(o, f, 0, k + 1, b);
        for (int c = 0; c < 3; c++)
            n[c] += a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
    }
}

/* Corners of faces in groups become pairs. */
static void add_faces(struct obj *o, struct pairs *p)
{
    for (size_t i = 0; i < o->face_count; i++) {
        const struct face *f = &o->faces[i];
        double n[3] = {0};
        if (f->group == 0)
            continue;
        face_normal(o, f, n);
        bool finite = isfinite(n[0]) && isfinite(n[1]) && isfinite(n[2]);
        for (uint32_t k = 0; k < f->count && finite; k++) {
            double before[3], behind[3];
            struct pair *q = &p->list[pair_of(p, o->corners[f->first + k], f->group)];
            edge(o, f, k, k + f->count - 1, before);
            edge(o, f, k, k + 1, behind);
            double angle = model_corner_angle(before, behind);
            for (int c = 0; c < 3; c++)
                q->sum[c] += angle * n[c];
        }
        for (uint32_t k = 0; k < f->count; k++)
            o->corners[f->first + k] = pair_of(p, o->corners[f->first + k], f->group);
    }
}

/* ---- the text ------------------------------------------------------------------------------- */

static void put_face(struct text *t, const struct obj *o, const struct face *f,
                     const struct span *l, size_t flat)
{
    struct span word;
    text_puts(t, "f");
    const char *at = l->at + 1, *end;
    for (uint32_t k = 0; next_word(&at, l->end, &word); k++) {
        whole_number(word.at, word.end, &end);
        text_puts(t, " ");
        text_append(t, word.at, (size_t)(end - word.at));
        text_puts(t, "/");
        const char *uv = end < word.end ? end + 1 : end;
        whole_number(uv, word.end, &end);
        if (f->has_uv)
            text_append(t, uv, (size_t)(end - uv));
        text_printf(t, "/%zu", f->group ? o->normal_count + 1 + o->corners[f->first + k] : flat);
    }
    text_puts(t, "\n");
}

static void put_text(struct text *t, const struct obj *o, const struct pairs *p, const char *data,
                     size_t size)
{
    size_t flat = o->normal_count + p->count + 1, face = 0;
    for (struct span l = {data, data}; next_line(&l, data + size);) {
        const struct face *f = starts(&l, "f") ? &o->faces[face++] : NULL;
        if (f && f->bare)
            put_face(t, o, f, &l, flat);
        else
            text_append(t, l.at, (size_t)(l.end - l.at));
    }
    text_puts(t, "\n");
    for (uint32_t i = 0; i < p->count; i++) {
        const double *n = p->list[i].sum;
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        bool any = length > 0 && isfinite(length);
        text_printf(t, "vn %.8f %.8f %.8f\n", any ? n[0] / length : 0, any ? n[1] / length : 0,
                    any ? n[2] / length : 0);
    }
    text_puts(t, "vn 0 0 0\n");
}

bool obj_smooth(struct source *s, char **data, size_t *size)
{
    struct obj o = {.whole = true};
    struct pairs p = {.cap = 16};
    if (!says_smoothing(*data, *size))
        return false;
    count_lines(&o, *data, *size);
    o.P = arena_alloc(&s->scratch, o.vertex_count + 1, sizeof *o.P, 0);
    o.faces = arena_alloc(&s->scratch, o.face_count + 1, sizeof *o.faces, 0);
    o.corners = arena_alloc(&s->scratch, o.corner_count + 1, sizeof *o.corners, 0);
    while (p.cap < 2 * o.corner_count)
        p.cap *= 2;
    p.list = arena_alloc(&s->scratch, o.corner_count + 1, sizeof *p.list, 0);
    p.table = arena_alloc(&s->scratch, p.cap, sizeof *p.table, 0);
    if (!o.P || !o.faces || !o.corners || !p.list || !p.table || o.corner_count > UINT32_MAX)
        source_refuse(s, STATUS_MEMORY, "out of memory for the model %s", s->path);
    read_lines(&o, *data, *size);
    bool some = false;
    for (size_t i = 0; i < o.face_count; i++)
        some = some || (o.faces[i].bare && o.faces[i].group);
    if (o.whole && some) {
        struct text t = {0};
        add_faces(&o, &p);
        put_text(&t, &o, &p, *data, *size);
        source_text(s, &t, data, size);
    }
    arena_free(&s->scratch);
    return true;
}

const bool *obj_used(struct source *s, const char *data, size_t size, size_t *count)
{
    int64_t before = 0, all = 0;
    for (struct span l = {data, data}; next_line(&l, data + size);)
        all += starts(&l, "v");
    *count = (size_t)all;
    bool *used = arena_alloc(&s->scratch, *count + 1, sizeof *used, 0);
    if (!used)
        source_refuse(s, STATUS_MEMORY, "out of memory for the model %s", s->path);
    for (struct span l = {data, data}, word; next_line(&l, data + size);) {
        before += starts(&l, "v");
        if (!starts(&l, "f"))
            continue;
        for (const char *at = l.at + 1, *end; next_word(&at, l.end, &word);) {
            int64_t v = whole_number(word.at, word.end, &end);
            v = v < 0 ? before + v : v - 1;
            if (v >= 0 && v < all)
                used[v] = true;
        }
    }
    return used;
}
