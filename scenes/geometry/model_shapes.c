/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <math.h>
#include <string.h>

struct shape {
    float P[24][3];
    float UV[24][2];
    uint32_t triangles[12][3];
};

/* Two triangles on the corners 4k .. 4k+3, counter-clockwise from uv (0,0). */
static void shape_quad(struct shape *s, uint32_t k)
{
    static const float uv[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    static const uint32_t corner[2][3] = {{0, 1, 2}, {0, 2, 3}};
    memcpy(s->UV[4 * k], uv, sizeof uv);
    for (uint32_t t = 0; t < 2; t++)
        for (uint32_t c = 0; c < 3; c++)
            s->triangles[2 * k + t][c] = 4 * k + corner[t][c];
}

static void shape_model(const struct shape *s, uint32_t quads, struct model *out)
{
    *out = (struct model){.P = s->P,
                          .UV = s->UV,
                          .vertex_count = 4 * (uint64_t)quads,
                          .triangles = s->triangles,
                          .triangle_count = 2 * (uint64_t)quads};
}

enum status model_box(struct arena *a, const double lo[3], const double hi[3], struct model *out)
{
    struct shape *s = ARENA_NEW(a, struct shape);
    if (!s)
        return STATUS_MEMORY;
    for (uint32_t k = 0; k < 6; k++) { /* faces -x +x -y +y -z +z */
        uint32_t axis = k / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        bool upper = k & 1;
        shape_quad(s, k);
        for (uint32_t c = 0; c < 4; c++) {
            bool along_u = c == 1 || c == 2, along_v = c >= 2;
            float *p = s->P[4 * k + c];
            p[axis] = (float)(upper ? hi : lo)[axis];
            /* the lower face runs its u backwards, so that both faces look outwards */
            p[u] = (float)(along_u == upper ? hi : lo)[u];
            p[v] = (float)(along_v ? hi : lo)[v];
        }
    }
    shape_model(s, 6, out);
    return STATUS_OK;
}

enum status model_rectangle(struct arena *a, struct model *out)
{
    struct shape *s = ARENA_NEW(a, struct shape);
    if (!s)
        return STATUS_MEMORY;
    static const float corners[4][3] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    memcpy(s->P, corners, sizeof corners);
    shape_quad(s, 0);
    shape_model(s, 1, out);
    return STATUS_OK;
}

/* ---- smooth normals ------------------------------------------------------------------------- */

/* One vertex for each place: vertices at equal coordinates lead to the first of them. */
bool model_weld(const struct model *m, uint32_t *first)
{
    size_t n = (size_t)m->vertex_count, cap = 16;
    while (cap < 2 * n)
        cap *= 2;
    struct arena scratch = {0};
    uint32_t *table = ARENA_ARRAY(&scratch, uint32_t, cap); /* vertex + 1, 0: free */
    if (!table)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t word[3];
        float p[3];
        for (int c = 0; c < 3; c++)
            p[c] = m->P[i][c] + 0.0F; /* -0 stands where +0 does */
        memcpy(word, p, sizeof word);
        first[i] = (uint32_t)i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            continue; /* equal to nothing, and its triangles are dropped */
        uint64_t h =
            word[0] * UINT64_C(0x9E3779B97F4A7C15) ^ word[1] * UINT64_C(0xC2B2AE3D27D4EB4F);
        h = (h ^ word[2] ^ h >> 29) * UINT64_C(0x165667B19E3779F9);
        size_t at = (size_t)(h >> 32) & (cap - 1);
        while (table[at]) {
            const float *q = m->P[table[at] - 1];
            if (q[0] == p[0] && q[1] == p[1] && q[2] == p[2])
                break;
            at = (at + 1) & (cap - 1);
        }
        if (!table[at])
            table[at] = (uint32_t)i + 1;
        first[i] = table[at] - 1;
    }
    arena_free(&scratch);
    return true;
}

/* Kahan's form: right for all angles. */
double model_corner_angle(const double a[3], const double b[3])
{
    double la = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    double lb = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]), less = 0, more = 0;
    for (int c = 0; c < 3; c++) {
        double p = a[c] * lb, q = b[c] * la;
        less += (p - q) * (p - q);
        more += (p + q) * (p + q);
    }
    return 2 * atan2(sqrt(less), sqrt(more));
}

/* Adds the triangle's part to the sums at its three places. */
static void add_normal(const struct model *m, const uint32_t *t, const uint32_t *first,
                       bool by_angle, double (*sum)[3])
{
    double e[3][3]; /* from corner k to corner k + 1 */
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            e[k][c] = (double)m->P[t[(k + 1) % 3]][c] - (double)m->P[t[k]][c];
    const double e2[3] = {-e[2][0], -e[2][1], -e[2][2]};
    const double x[3] = {e[0][1] * e2[2] - e[0][2] * e2[1], e[0][2] * e2[0] - e[0][0] * e2[2],
                         e[0][0] * e2[1] - e[0][1] * e2[0]};
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
        return;
    for (int k = 0; k < 3; k++) {
        const double *before = e[(k + 2) % 3];
        const double back[3] = {-before[0], -before[1], -before[2]};
        double weight = by_angle ? model_corner_angle(e[k], back) : 1;
        for (int c = 0; c < 3; c++)
            sum[first[t[k]]][c] += weight * x[c];
    }
}

static void put_normal(const double s[3], float N[3])
{
    double len = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    for (int c = 0; c < 3; c++)
        N[c] = len > 0 ? (float)(s[c] / len) : 0;
}

static float (*mean_normals(struct arena *a, const struct model *m, bool by_angle))[3]
{
    size_t n = (size_t)m->vertex_count;
    float(*N)[3] = arena_alloc(a, n, sizeof *N, 0);
    struct arena scratch = {0};
    uint32_t *first = ARENA_ARRAY(&scratch, uint32_t, n);
    double(*sum)[3] = arena_alloc(&scratch, n, sizeof *sum, 0);
    if (!N || !first || !sum || !model_weld(m, first)) {
        arena_free(&scratch);
        return NULL;
    }
    for (size_t i = 0; i < m->triangle_count; i++)
        add_normal(m, m->triangles[i], first, by_angle, sum);
    for (size_t i = 0; i < n; i++)
        put_normal(sum[first[i]], N[i]);
    arena_free(&scratch);
    return N;
}

float (*model_smooth_normals(struct arena *a, const struct model *m))[3]
{
    return mean_normals(a, m, false);
}

float (*model_angle_normals(struct arena *a, const struct model *m))[3]
{
    return mean_normals(a, m, true);
}

/* cos 50 degrees: between a prism of six sides, whose edges are meant, and one of eight. */
static const double crease = 0.6427876096865394;
enum { CREASE_MOST = 256 }; /* vertices at a place; of more, the tip of a cone, all count */

/* The sum over the vertices at i's place, `at`, whose own faces are near enough i's. */
static void sum_near(const double (*own)[3], size_t i, const uint32_t *at, size_t count,
                     double out[3])
{
    const double *o = own[i], oo = o[0] * o[0] + o[1] * o[1] + o[2] * o[2];
    memset(out, 0, 3 * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        const double *w = own[at[k]];
        double ww = w[0] * w[0] + w[1] * w[1] + w[2] * w[2],
               ow = o[0] * w[0] + o[1] * w[1] + o[2] * w[2];
        bool near = at[k] == i || count > CREASE_MOST || ow >= crease * sqrt(oo) * sqrt(ww);
        for (int c = 0; c < 3 && near; c++)
            out[c] += w[c];
    }
}

float (*model_crease_normals(struct arena *a, const struct model *m))[3]
{
    size_t n = (size_t)m->vertex_count;
    float(*N)[3] = arena_alloc(a, n, sizeof *N, 0);
    struct arena scratch = {0};
    uint32_t *first = ARENA_ARRAY(&scratch, uint32_t, n),
             *self = ARENA_ARRAY(&scratch, uint32_t, n),
             *order = ARENA_ARRAY(&scratch, uint32_t, n),
             *end = ARENA_ARRAY(&scratch, uint32_t, n); /* in order, of the place of its first */
    double(*own)[3] = arena_alloc(&scratch, n, sizeof *own, 0);
    if (!N || !first || !self || !order || !end || !own || !model_weld(m, first)) {
        arena_free(&scratch);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        self[i] = (uint32_t)i;
    for (size_t i = 0; i < m->triangle_count; i++)
        add_normal(m, m->triangles[i], self, true, own);
    uint32_t *count = self; /* of vertices at the place, by its first */
    memset(count, 0, n * sizeof *count);
    for (size_t i = 0; i < n; i++)
        count[first[i]]++;
    uint32_t at = 0;
    for (size_t i = 0; i < n; at += count[i++])
        end[i] = at;
    for (size_t i = 0; i < n; i++)
        order[end[first[i]]++] = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        double sum[3];
        uint32_t place = first[i];
        sum_near((const double(*)[3])own, i, order + end[place] - count[place], count[place], sum);
        put_normal(sum, N[i]);
    }
    arena_free(&scratch);
    return N;
}
