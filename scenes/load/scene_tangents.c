/* SPDX-License-Identifier: Apache-2.0 */
/* Tangents of triangles that have a normal map, as docs/reference/protocol.md section 26 defines
 * them: the convention of MikkTSpace (mikktspace.com), which tools that bake normal maps follow. */
#include "scene_loader.h"

#include <math.h>
#include <string.h>

struct corner {
    double P[3], N[3];
    float key[8]; /* what corners that share a tangent have in common: P, N, uv */
    double uv[2];
    double along[3]; /* the triangle's change of P along u, in the plane of N, unit; or 0 */
    double angle;
    int sign;      /* of the triangle's area in uv; 0: it has none */
    bool alone;    /* shared with no other corner */
    uint32_t head; /* the first corner that this one shares with */
};

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* v less its part along the unit vector n, to unit length; 0 where nothing is left. */
static void flatten(const double v[3], const double n[3], double out[3])
{
    double along = dot3(v, n), w[3];
    for (int c = 0; c < 3; c++)
        w[c] = v[c] - n[c] * along;
    double len = sqrt(dot3(w, w));
    for (int c = 0; c < 3; c++)
        out[c] = len > 0 ? w[c] / len : 0;
}

static void read_corners(const struct scene *s, size_t triangle, struct corner out[3])
{
    static const float own_uv[3][2] = {{0, 0}, {1, 0}, {0, 1}};
    const uint32_t *t = s->triangles[triangle];
    uint8_t flags = s->triangle_flags[triangle];
    bool has_n = (flags & TRIANGLE_HAS_NORMALS) && s->N,
         has_uv = (flags & TRIANGLE_HAS_UV) && s->UV;
    for (int k = 0; k < 3; k++) {
        struct corner *c = &out[k];
        const float *uv = has_uv ? s->UV[t[k]] : own_uv[k];
        *c = (struct corner){.alone = !has_n || !has_uv};
        for (int i = 0; i < 3; i++) {
            c->P[i] = (double)s->P[t[k]][i];
            c->N[i] = has_n ? (double)s->N[t[k]][i] : 0;
            c->key[i] = s->P[t[k]][i] + 0.0F; /* -0 stands where +0 does */
            c->key[3 + i] = has_n ? s->N[t[k]][i] + 0.0F : 0;
        }
        for (int i = 0; i < 2; i++) {
            c->uv[i] = (double)uv[i];
            c->key[6 + i] = uv[i] + 0.0F;
        }
    }
}

/* Unit normals, uv signs, directions and angles of a triangle's corners. */
static void measure_corners(struct corner c[3])
{
    double e1[3], e2[3], ng[3], along[3];
    for (int i = 0; i < 3; i++) {
        e1[i] = c[1].P[i] - c[0].P[i];
        e2[i] = c[2].P[i] - c[0].P[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        ng[i] = e1[j] * e2[k] - e1[k] * e2[j];
    }
    double a = c[1].uv[0] - c[0].uv[0], b = c[2].uv[0] - c[0].uv[0];
    double d = c[1].uv[1] - c[0].uv[1], e = c[2].uv[1] - c[0].uv[1], area = a * e - b * d;
    int sign = area > 0 ? 1 : area < 0 ? -1 : 0;
    for (int i = 0; i < 3; i++)
        along[i] = sign * (e1[i] * e - e2[i] * d);
    for (int k = 0; k < 3; k++) {
        static const double none[3] = {0, 0, 0};
        double next[3], before[3];
        if (!(dot3(c[k].N, c[k].N) > 0))
            memcpy(c[k].N, ng, sizeof ng);
        flatten(c[k].N, none, c[k].N);
        for (int i = 0; i < 3; i++) {
            next[i] = c[(k + 1) % 3].P[i] - c[k].P[i];
            before[i] = c[(k + 2) % 3].P[i] - c[k].P[i];
        }
        flatten(next, c[k].N, next);
        flatten(before, c[k].N, before);
        flatten(along, c[k].N, c[k].along);
        c[k].angle = acos(fmin(1, fmax(-1, dot3(next, before))));
        c[k].sign = sign;
    }
}

/* head of every corner: the first with the same place, normal and uv. False: out of memory. */
static bool join_corners(struct corner *c, size_t count)
{
    struct arena scratch = {0};
    size_t cap = 16;
    while (cap < 2 * count)
        cap *= 2;
    uint32_t *table = ARENA_ARRAY(&scratch, uint32_t, cap); /* corner + 1, 0: free */
    for (size_t i = 0; table && i < count; i++) {
        uint32_t word[8];
        uint64_t h = UINT64_C(0x9E3779B97F4A7C15);
        c[i].head = (uint32_t)i;
        if (c[i].alone)
            continue;
        memcpy(word, c[i].key, sizeof word);
        for (int k = 0; k < 8; k++)
            h = (h ^ word[k]) * UINT64_C(0xC2B2AE3D27D4EB4F), h ^= h >> 29;
        size_t at = (size_t)h & (cap - 1);
        while (table[at] && memcmp(c[table[at] - 1].key, c[i].key, sizeof c[i].key) != 0)
            at = (at + 1) & (cap - 1);
        if (!table[at])
            table[at] = (uint32_t)i + 1;
        c[i].head = table[at] - 1;
    }
    arena_free(&scratch);
    return table != NULL;
}

/* Any unit vector across n: the first of the frame of section 6. */
static void any_across(const double n[3], double out[3])
{
    double sg = copysign(1, n[2]), a = -1 / (sg + n[2]);
    out[0] = 1 + sg * n[0] * n[0] * a;
    out[1] = sg * n[0] * n[1] * a;
    out[2] = -sg * n[0];
}

/* The tangent and the sign of corner i; sums: [head][sign > 0] of the parts of each group. */
static void corner_tangent(const struct corner *c, const double (*sums)[2][3], size_t i,
                           float out[4])
{
    const double(*sum)[3] = sums[c[i].head];
    int positive =
        c[i].sign ? c[i].sign > 0 : dot3(sum[1], sum[1]) > 0 || !(dot3(sum[0], sum[0]) > 0);
    double t[3], len = sqrt(dot3(sum[positive], sum[positive]));
    if (len > 0)
        for (int k = 0; k < 3; k++)
            t[k] = sum[positive][k] / len;
    else
        any_across(c[i].N, t);
    for (int k = 0; k < 3; k++)
        out[k] = (float)t[k];
    out[3] = positive ? 1 : -1;
}

/* Of triangles in one space; tangents: where they go. */
static bool make_tangents(struct scene *s, const uint32_t *triangles, size_t triangle_count,
                          float (*tangents)[3][4], struct arena *scratch)
{
    size_t count = 3 * triangle_count;
    struct corner *c = ARENA_ARRAY(scratch, struct corner, count);
    double(*sums)[2][3] = arena_alloc(scratch, count, sizeof *sums, 0);
    if (!c || !sums)
        return false;
    for (size_t i = 0; i < triangle_count; i++) {
        read_corners(s, triangles[i], c + 3 * i);
        measure_corners(c + 3 * i);
    }
    if (!join_corners(c, count))
        return false;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; c[i].sign && k < 3; k++)
            sums[c[i].head][c[i].sign > 0][k] += c[i].angle * c[i].along[k];
    for (size_t i = 0; i < count; i++)
        corner_tangent(c, (const double(*)[2][3])sums, i, tangents[i / 3][i % 3]);
    return true;
}

static bool has_map(const struct scene *s, size_t triangle)
{
    size_t round = triangle < s->triangle_count ? 0 : s->sphere_count + s->disk_count;
    const struct material *m = &s->materials[s->primitive_material[triangle + round]];
    return m->normal_map.present || m->layers.coat_normal_map.present;
}

/* Triangles [first, first + count), which lie in one space; *at: tangents made before. */
static bool make_range(struct scene *s, size_t first, size_t count, uint32_t *at)
{
    struct arena scratch = {0};
    size_t mapped = 0;
    uint32_t *triangles = ARENA_ARRAY(&scratch, uint32_t, count);
    for (size_t i = first; triangles && i < first + count; i++) {
        s->tangent_of[i] = has_map(s, i) ? *at + (uint32_t)mapped : UINT32_MAX;
        if (has_map(s, i))
            triangles[mapped++] = (uint32_t)i;
    }
    bool ok = triangles && make_tangents(s, triangles, mapped, s->tangents + *at, &scratch);
    *at += (uint32_t)mapped;
    arena_free(&scratch);
    return ok;
}

enum status load_tangents(struct loader *l)
{
    struct scene *s = l->scene;
    size_t all = s->triangle_count + s->prototype_triangle_count;
    uint32_t at = 0;
    for (size_t i = 0; i < all; i++)
        s->tangent_count += has_map(s, i);
    if (s->tangent_count == 0)
        return STATUS_OK;
    s->tangent_of = ARENA_ARRAY(&s->arena, uint32_t, all);
    s->tangents = arena_alloc(&s->arena, s->tangent_count, sizeof *s->tangents, 0);
    bool ok = s->tangent_of && s->tangents && make_range(s, 0, s->triangle_count, &at);
    for (size_t i = 0; ok && i < s->prototype_count; i++)
        ok = make_range(s, s->prototypes[i].first, s->prototypes[i].count, &at);
    return ok ? STATUS_OK : document_memory(&l->d);
}
