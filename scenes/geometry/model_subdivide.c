/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over all triangles: each long edge gets its middle, each triangle with long edges becomes
 * two, three or four. An edge that a cut makes is at most the root of L^2/2 + most^2/4, L being the
 * longest edge before (Apollonius' median), so the passes come to an end. */
#include "model_subdivide.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A mesh between two passes. */
struct mesh {
    float (*P)[3], (*N)[3], (*UV)[2], (*colors)[3]; /* NULL: as the model */
    uint32_t (*triangles)[3], *parent;
    uint64_t vertex_count, triangle_count;
};

static bool mesh_room(struct arena *a, const struct model *m, uint64_t vertices, uint64_t triangles,
                      struct mesh *out)
{
    *out = (struct mesh){.P = arena_alloc(a, vertices, sizeof *out->P, 0),
                         .triangles = arena_alloc(a, triangles, sizeof *out->triangles, 0),
                         .parent = ARENA_ARRAY(a, uint32_t, triangles)};
    if (m->N)
        out->N = arena_alloc(a, vertices, sizeof *out->N, 0);
    if (m->UV)
        out->UV = arena_alloc(a, vertices, sizeof *out->UV, 0);
    if (m->colors)
        out->colors = arena_alloc(a, vertices, sizeof *out->colors, 0);
    return out->P && out->triangles && out->parent && (out->N || !m->N) && (out->UV || !m->UV) &&
           (out->colors || !m->colors);
}

static void copy_vertices(struct mesh *to, const struct mesh *from)
{
    const size_t n = (size_t)from->vertex_count;
    memcpy(to->P, from->P, n * sizeof *to->P);
    if (to->N)
        memcpy(to->N, from->N, n * sizeof *to->N);
    if (to->UV)
        memcpy(to->UV, from->UV, n * sizeof *to->UV);
    if (to->colors)
        memcpy(to->colors, from->colors, n * sizeof *to->colors);
    to->vertex_count = n;
}

/* ---- middles -------------------------------------------------------------------------------- */

static void mean(const float *a, const float *b, int n, float *out)
{
    for (int c = 0; c < n; c++)
        out[c] = (float)(((double)a[c] + (double)b[c]) / 2);
}

static void mean_normal(const float a[3], const float b[3], float out[3])
{
    const float *of[2] = {a, b};
    double sum[3] = {0};
    for (int i = 0; i < 2; i++) {
        const double x = (double)of[i][0], y = (double)of[i][1], z = (double)of[i][2];
        const double len = sqrt(x * x + y * y + z * z);
        for (int k = 0; k < 3; k++)
            sum[k] += len > 0 ? (double)of[i][k] / len : 0;
    }
    const double len = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (int c = 0; c < 3; c++)
        out[c] = len > 0 ? (float)(sum[c] / len) : 0;
}

static void add_middle(struct mesh *m, uint32_t a, uint32_t b)
{
    const size_t at = (size_t)m->vertex_count++;
    mean(m->P[a], m->P[b], 3, m->P[at]);
    if (m->N)
        mean_normal(m->N[a], m->N[b], m->N[at]);
    if (m->UV)
        mean(m->UV[a], m->UV[b], 2, m->UV[at]);
    if (m->colors)
        mean(m->colors[a], m->colors[b], 3, m->colors[at]);
}

/* Middles by their edges: open addressing. */
struct middles {
    struct middle {
        uint32_t lo, hi, vertex; /* lo == hi: free */
    } * table;
    size_t cap;
};

static uint32_t middle_of(struct middles *t, struct mesh *m, uint32_t a, uint32_t b)
{
    const uint32_t lo = a < b ? a : b, hi = a < b ? b : a;
    const uint64_t h = (lo * UINT64_C(0x9E3779B97F4A7C15) ^ hi) * UINT64_C(0xC2B2AE3D27D4EB4F);
    size_t at = (size_t)(h >> 32) & (t->cap - 1);
    while (t->table[at].lo != t->table[at].hi) {
        if (t->table[at].lo == lo && t->table[at].hi == hi)
            return t->table[at].vertex;
        at = (at + 1) & (t->cap - 1);
    }
    t->table[at] = (struct middle){lo, hi, (uint32_t)m->vertex_count};
    add_middle(m, lo, hi);
    return t->table[at].vertex;
}

/* ---- a pass --------------------------------------------------------------------------------- */

/* An edge whose middle float32 cannot tell from an end is not. */
static bool is_long(const struct edge_measure *measure, const struct mesh *m, uint32_t a,
                    uint32_t b)
{
    const float *p = m->P[a], *q = m->P[b];
    const double length = measure->length(measure->ctx, p, q);
    float middle[3];
    if (!(length > measure->most) || !isfinite(length))
        return false;
    mean(p, q, 3, middle);
    return memcmp(middle, p, sizeof middle) != 0 && memcmp(middle, q, sizeof middle) != 0;
}

static void put(struct mesh *m, uint32_t parent, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *t = m->triangles[m->triangle_count];
    m->parent[m->triangle_count++] = parent;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

static double distance2(const struct mesh *m, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        const double d = (double)m->P[b][c] - (double)m->P[a][c];
        sum += d * d;
    }
    return sum;
}

/* cut: bit k: the edge from corner k to the next is long. */
static void put_parts(struct mesh *m, struct middles *t, const uint32_t corner[3], unsigned cut,
                      uint32_t parent)
{
    static const int starts[8] = {0, 0, 1, 0, 2, 2, 1, 0}; /* so that the long edges come first */
    const int s = starts[cut];
    const uint32_t a = corner[s], b = corner[(s + 1) % 3], c = corner[(s + 2) % 3];
    if (cut == 0) {
        put(m, parent, a, b, c);
        return;
    }
    const uint32_t ab = middle_of(t, m, a, b);
    if (cut == 1 || cut == 2 || cut == 4) {
        put(m, parent, a, ab, c);
        put(m, parent, ab, b, c);
        return;
    }
    const uint32_t bc = middle_of(t, m, b, c);
    put(m, parent, ab, b, bc);
    if (cut == 7) {
        const uint32_t ca = middle_of(t, m, c, a);
        put(m, parent, a, ab, ca);
        put(m, parent, ca, bc, c);
        put(m, parent, ab, bc, ca);
    } else if (distance2(m, a, bc) <= distance2(m, ab, c)) {
        put(m, parent, a, ab, bc);
        put(m, parent, a, bc, c);
    } else {
        put(m, parent, a, ab, c);
        put(m, parent, ab, bc, c);
    }
}

/* cut[i]: of triangle i, as put_parts has it. *edges: long edges, each counted in each triangle;
 * *triangles: what will be. */
static void find_cuts(const struct edge_measure *measure, const struct mesh *m, uint8_t *cut,
                      uint64_t *edges, uint64_t *triangles)
{
    *edges = 0;
    for (size_t i = 0; i < m->triangle_count; i++) {
        const uint32_t *t = m->triangles[i];
        cut[i] = 0;
        for (unsigned k = 0; k < 3; k++)
            if (is_long(measure, m, t[k], t[(k + 1) % 3])) {
                cut[i] |= (uint8_t)(1U << k);
                ++*edges;
            }
    }
    *triangles = m->triangle_count + *edges;
}

/* *done: nothing was long. Else *to, in `next`. */
static enum status pass(struct arena *next, const struct model *m,
                        const struct edge_measure *measure, uint64_t limit, const struct mesh *from,
                        struct mesh *to, bool *done, struct error *err)
{
    struct arena scratch = {0};
    struct middles middles = {.cap = 16};
    uint64_t edges, triangles;
    uint8_t *cut = ARENA_ARRAY(&scratch, uint8_t, from->triangle_count);
    enum status s = STATUS_OK;
    if (!cut) {
        s = error_msg(err, STATUS_MEMORY, "out of memory");
        goto end;
    }
    find_cuts(measure, from, cut, &edges, &triangles);
    *done = edges == 0;
    if (*done)
        goto end;
    if (triangles > limit || from->vertex_count + edges > UINT32_MAX) {
        s = error_msg(err, STATUS_LIMIT,
                      "more than %" PRIu64 " triangles come of cutting %" PRIu64
                      " to that length, expected at most so many: let the edges be longer",
                      limit, m->triangle_count);
        goto end;
    }
    while (middles.cap < 2 * edges)
        middles.cap *= 2;
    middles.table = ARENA_ARRAY(&scratch, struct middle, middles.cap);
    if (!middles.table || !mesh_room(next, m, from->vertex_count + edges, triangles, to)) {
        s = error_msg(err, STATUS_MEMORY, "out of memory");
        goto end;
    }
    copy_vertices(to, from);
    for (size_t i = 0; i < from->triangle_count; i++)
        put_parts(to, &middles, from->triangles[i], cut[i], from->parent[i]);
end:
    arena_free(&scratch);
    return s;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool begin(struct arena *a, const struct model *m, struct mesh *out)
{
    if (!mesh_room(a, m, m->vertex_count, m->triangle_count, out))
        return false;
    const struct mesh own = {.P = (float(*)[3])m->P,
                             .N = (float(*)[3])m->N,
                             .UV = (float(*)[2])m->UV,
                             .colors = (float(*)[3])m->colors,
                             .vertex_count = m->vertex_count};
    copy_vertices(out, &own);
    memcpy(out->triangles, m->triangles, (size_t)m->triangle_count * sizeof *out->triangles);
    for (size_t i = 0; i < m->triangle_count; i++)
        out->parent[i] = (uint32_t)i;
    out->triangle_count = m->triangle_count;
    return true;
}

static bool finish(struct arena *a, const struct model *m, const struct mesh *made,
                   struct model *out, uint32_t **parent)
{
    struct mesh kept;
    uint8_t *flags = ARENA_ARRAY(a, uint8_t, made->triangle_count);
    uint32_t *material = ARENA_ARRAY(a, uint32_t, m->material ? made->triangle_count : 0);
    if (!flags || !material || !mesh_room(a, m, made->vertex_count, made->triangle_count, &kept))
        return false;
    copy_vertices(&kept, made);
    memcpy(kept.triangles, made->triangles, (size_t)made->triangle_count * sizeof *kept.triangles);
    memcpy(kept.parent, made->parent, (size_t)made->triangle_count * sizeof *kept.parent);
    for (size_t i = 0; i < made->triangle_count; i++) {
        flags[i] = m->flags ? m->flags[made->parent[i]] : 0;
        if (m->material)
            material[i] = m->material[made->parent[i]];
    }
    *out = (struct model){.P = (const float(*)[3])kept.P,
                          .N = (const float(*)[3])kept.N,
                          .UV = (const float(*)[2])kept.UV,
                          .colors = (const float(*)[3])kept.colors,
                          .vertex_count = made->vertex_count,
                          .triangles = (const uint32_t(*)[3])kept.triangles,
                          .flags = m->flags ? flags : NULL,
                          .material = m->material ? material : NULL,
                          .triangle_count = made->triangle_count,
                          .material_count = m->material_count};
    memcpy(out->origin, m->origin, sizeof out->origin);
    *parent = kept.parent;
    return true;
}

enum status model_subdivide(struct arena *a, const struct model *m,
                            const struct edge_measure *measure, uint64_t limit, struct model *out,
                            uint32_t **parent, struct error *err)
{
    struct arena own = {0};
    struct mesh made;
    bool done = false;
    enum status s =
        begin(&own, m, &made) ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory");
    while (s == STATUS_OK && !done) {
        struct arena next = {0};
        struct mesh more;
        s = cancel_requested ? error_msg(err, STATUS_CANCELLED, "stopped while cutting triangles")
                             : pass(&next, m, measure, limit, &made, &more, &done, err);
        if (s == STATUS_OK && !done) {
            arena_free(&own);
            own = next;
            made = more;
        } else {
            arena_free(&next);
        }
    }
    if (s == STATUS_OK && !finish(a, m, &made, out, parent))
        s = error_msg(err, STATUS_MEMORY, "out of memory");
    arena_free(&own);
    return s;
}
