/* SPDX-License-Identifier: Apache-2.0 */
/* Media fill closed surfaces: a ray that goes in comes out. */
#include "scene_loader.h"

#include <math.h>
#include <string.h>

/* Edges between places, each with how often triangles run it up less how often down. */
struct edges {
    uint32_t (*ends)[2];
    int32_t *balance;
    size_t cap; /* a power of two; ends {0, 0}: free */
};

static void add_edge(struct edges *e, uint32_t a, uint32_t b)
{
    uint32_t lo = a < b ? a : b, hi = a < b ? b : a;
    uint64_t h = (lo * UINT64_C(0x9E3779B97F4A7C15)) ^ (hi * UINT64_C(0xC2B2AE3D27D4EB4F));
    size_t at = (size_t)(h >> 24) & (e->cap - 1);
    while (e->ends[at][1] && (e->ends[at][0] != lo || e->ends[at][1] != hi))
        at = (at + 1) & (e->cap - 1);
    e->ends[at][0] = lo;
    e->ends[at][1] = hi; /* > 0: a triangle's places differ */
    e->balance[at] += a < b ? 1 : -1;
}

static enum status not_closed(struct loader *l, const struct material *m, const float *at)
{
    const struct json *materials = json_get(l->root, "materials");
    const struct json *v = json_get(json_get(materials, m->name), "medium");
    return json_error(l->d.err, l->d.file, v, STATUS_TYPE,
                      "the triangles of material \"%.60s\" leave an opening at (%g, %g, %g), "
                      "expected closed meshes and spheres around the medium",
                      m->name, (double)at[0], (double)at[1], (double)at[2]);
}

/* Every edge of the triangles of media, among those in one space, [first, end), is run as often one
 * way as the other, by triangles of the same material. place: the first vertex at each vertex's
 * coordinates. */
static enum status check_triangles(struct loader *l, uint32_t material, const uint32_t *place,
                                   size_t first, size_t end)
{
    const struct scene *s = l->scene;
    struct arena scratch = {0};
    size_t count = 0, round = first < s->triangle_count ? 0 : s->sphere_count + s->disk_count;
    for (size_t i = first; i < end; i++)
        count += s->primitive_material[i + round] == material;
    struct edges e = {.cap = 16};
    while (e.cap < 6 * count)
        e.cap *= 2;
    e.ends = arena_alloc(&scratch, e.cap, sizeof *e.ends, 0);
    e.balance = ARENA_ARRAY(&scratch, int32_t, e.cap);
    if (!e.ends || !e.balance) {
        arena_free(&scratch);
        return document_memory(&l->d);
    }
    for (size_t i = first; i < end; i++) {
        const uint32_t *t = s->triangles[i];
        for (int k = 0; s->primitive_material[i + round] == material && k < 3; k++)
            add_edge(&e, place[t[k]], place[t[(k + 1) % 3]]);
    }
    const float *open = NULL;
    for (size_t i = 0; i < e.cap && !open; i++)
        if (e.balance[i])
            open = s->P[e.ends[i][0]];
    arena_free(&scratch);
    return open ? not_closed(l, &s->materials[material], open) : STATUS_OK;
}

enum status check_media(struct loader *l)
{
    const struct scene *s = l->scene;
    size_t media = 0, disks = s->triangle_count + s->sphere_count;
    for (size_t i = 0; i < s->material_count; i++)
        media += s->materials[i].medium.present;
    if (media > MEDIA_MAX)
        return error_set(l->d.err, STATUS_LIMIT, (struct src_pos){.file = l->d.file},
                         "%zu materials have a medium, expected at most %d", media, MEDIA_MAX);
    if (media == 0)
        return STATUS_OK;
    for (size_t i = 0; i < s->disk_count; i++) {
        const struct material *m = &s->materials[s->primitive_material[disks + i]];
        if (m->medium.present)
            return not_closed(l, m, s->disks[i].center);
    }
    const struct model all = {.P = (const float(*)[3])s->P, .vertex_count = s->vertex_count};
    uint32_t *place = ARENA_ARRAY(&l->d.arena, uint32_t, s->vertex_count);
    if (!place || !model_weld(&all, place))
        return document_memory(&l->d);
    for (size_t i = 0; i < s->material_count; i++) {
        if (!s->materials[i].medium.present)
            continue;
        TRY(check_triangles(l, (uint32_t)i, place, 0, s->triangle_count));
        for (size_t k = 0; k < s->prototype_count; k++)
            TRY(check_triangles(l, (uint32_t)i, place, s->prototypes[k].first,
                                s->prototypes[k].first + s->prototypes[k].count));
    }
    return STATUS_OK;
}
