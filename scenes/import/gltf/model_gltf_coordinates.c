/* SPDX-License-Identifier: Apache-2.0 */
/* Several sets of texture coordinates in one material of glTF 2, where scenes have one: what goes
 * by another set moves to the material's own. */
#define _GNU_SOURCE
#include "import/source/offers.h"
#include "model_gltf.h"

#include <math.h>
#include <string.h>

static const size_t triangles_max = (size_t)1 << 21; /* 200 MB of coordinates */

/* A texture that was moved: for what names it again. */
struct moved {
    struct moved *next;
    struct source_texture from, to;
};

struct gltf_coordinates {
    struct gltf_coordinates *next;
    uint32_t from, to;
    bool all; /* the primitives have both sets, and are not too many */
    struct derived_triangle *triangles;
    size_t count;
    struct moved *moved;
};

static uint32_t material_of(struct gltf *g, const struct json *primitive)
{
    const struct json *m = gltf_item(g, primitive, "material", &g->materials);
    return m ? m->index : UINT32_MAX;
}

static struct gltf_accessor set_of(struct gltf *g, const struct json *primitive, uint32_t set)
{
    char key[24];
    snprintf(key, sizeof key, "TEXCOORD_%u", set);
    return gltf_accessor_of(g, gltf_get(g, primitive, "attributes", JSON_OBJECT), key, 2);
}

/* As scenes have them, v upwards. */
static void corner(const struct gltf_accessor *a, uint64_t i, double out[2])
{
    out[0] = gltf_value(a, i, 0);
    out[1] = 1 - gltf_value(a, i, 1);
}

/* Adds a primitive's; with triangles NULL counts them. */
static void add_primitive(struct gltf *g, const struct json *v, struct gltf_coordinates *c)
{
    struct gltf_accessor from = set_of(g, v, c->from), to = set_of(g, v, c->to),
                         indices = gltf_accessor_of(g, v, "indices", 1);
    int mode = (int)gltf_size(g, v, "mode", GLTF_TRIANGLES);
    uint64_t vertices = to.count < from.count ? to.count : from.count;
    if (mode < GLTF_TRIANGLES || mode > GLTF_FAN)
        return;
    uint64_t n = gltf_triangle_count(mode, indices.data ? indices.count : vertices);
    c->all = c->all && from.data && to.data && n <= triangles_max - c->count;
    for (uint64_t i = 0; i < n && c->all; i++) {
        uint64_t at[3];
        struct derived_triangle t;
        gltf_triangle(mode, &indices, i, at);
        if (at[0] >= vertices || at[1] >= vertices || at[2] >= vertices)
            continue; /* whoever reads the mesh refuses it */
        for (int k = 0; k < 3 && c->triangles; k++) {
            corner(&from, at[k], t.from[k]);
            corner(&to, at[k], t.to[k]);
        }
        if (c->triangles)
            c->triangles[c->count] = t;
        c->count++;
    }
}

static void add_all(struct gltf *g, uint32_t material, struct gltf_coordinates *c)
{
    c->count = 0;
    for (uint32_t i = 0; i < g->meshes.count; i++) {
        const struct json *all = gltf_get(g, g->meshes.at[i], "primitives", JSON_ARRAY);
        for (const struct json *v = all ? all->first : NULL; v; v = v->next)
            if (material_of(g, v) == material)
                add_primitive(g, v, c);
    }
}

static struct gltf_coordinates *coordinates(struct gltf *g, const struct json *material,
                                            uint32_t from, uint32_t to)
{
    struct gltf_coordinates **list = &g->coordinates[material->index], *c = *list;
    while (c && (c->from != from || c->to != to))
        c = c->next;
    if (c)
        return c;
    c = source_alloc(g->s, 1, sizeof *c);
    *c = (struct gltf_coordinates){.next = *list, .from = from, .to = to, .all = true};
    *list = c;
    add_all(g, material->index, c);
    if (c->all) {
        c->triangles = source_alloc(g->s, c->count, sizeof *c->triangles);
        add_all(g, material->index, c);
    }
    return c;
}

/* from = a to + b along each axis, everywhere. */
static bool fit(const struct gltf_coordinates *c, double a[2], double b[2])
{
    double lo[2][2] = {{INFINITY, 0}, {INFINITY, 0}},
           hi[2][2] = {{-INFINITY, 0}, {-INFINITY, 0}}; /* of `to`, and `from` there */
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < 3 * c->count; k++) {
            double at = c->triangles[k / 3].to[k % 3][i],
                   value = c->triangles[k / 3].from[k % 3][i];
            if (at < lo[i][0])
                lo[i][0] = at, lo[i][1] = value;
            if (at > hi[i][0])
                hi[i][0] = at, hi[i][1] = value;
        }
        if (!(hi[i][0] - lo[i][0] > 1e-6))
            return false;
        a[i] = (hi[i][1] - lo[i][1]) / (hi[i][0] - lo[i][0]);
        b[i] = lo[i][1] - a[i] * lo[i][0];
        for (size_t k = 0; k < 3 * c->count; k++) {
            const struct derived_triangle *t = &c->triangles[k / 3];
            if (!(fabs(a[i] * t->to[k % 3][i] + b[i] - t->from[k % 3][i]) <= 1e-4))
                return false;
        }
        if (!(fabs(a[i]) > 1e-6))
            return false;
        if (fabs(a[i] - 1) < 1e-5 && fabs(b[i]) < 1e-4)
            a[i] = 1, b[i] = 0;
    }
    return true;
}

bool gltf_can_move(struct gltf *g, const struct json *material, uint32_t from, uint32_t to)
{
    double a[2], b[2];
    struct gltf_coordinates *c = coordinates(g, material, from, to);
    return from == to ||
           (c->all && (fit(c, a, b) || derived_is_unique(g->s, c->triangles, c->count)));
}

static bool draw_again(struct gltf *g, struct gltf_coordinates *c, struct source_texture *t)
{
    struct moved *m = c->moved;
    while (m && memcmp(&m->from, t, sizeof *t) != 0)
        m = m->next;
    if (!m) {
        m = source_alloc(g->s, 1, sizeof *m);
        m->from = *t;
        if (!derive_moved(g->s, t, c->triangles, c->count, &m->to))
            return false;
        m->next = c->moved;
        c->moved = m;
    }
    *t = m->to;
    return true;
}

bool gltf_move(struct gltf *g, const struct json *material, uint32_t from, uint32_t to,
               bool directed, struct source_texture *t)
{
    double a[2], b[2];
    struct gltf_coordinates *c = coordinates(g, material, from, to);
    if (!c->all)
        return false;
    if (!fit(c, a, b))
        return !directed && draw_again(g, c, t);
    if (directed && (a[0] < 0 || a[1] < 0))
        return false;
    double s[2] = {t->scale[0] == 0 ? 1 : t->scale[0], t->scale[1] == 0 ? 1 : t->scale[1]};
    double r = t->rotation * (M_PI / 180), x = s[0] * b[0], y = s[1] * b[1];
    t->offset[0] += cos(r) * x - sin(r) * y;
    t->offset[1] += sin(r) * x + cos(r) * y;
    for (int i = 0; i < 2; i++)
        t->scale[i] = s[i] * a[i];
    if (t->scale[0] == 1 && t->scale[1] == 1)
        t->scale[0] = t->scale[1] = 0;
    return true;
}
