/* SPDX-License-Identifier: Apache-2.0 */
/* A landscape on a square grid, the same on every machine: integer hashes, sums, products and
 * floors in double, nothing of the mathematics library. */
#include "model.h"

#include <math.h>

/* A number in [-1, 1) for a lattice point: Wellons' "lowbias32" mixer over both coordinates. */
static double lattice(int64_t x, int64_t y, uint32_t seed)
{
    uint32_t h = seed * 0x9E3779B9U + (uint32_t)x;
    for (int round = 0; round < 2; round++) {
        h ^= h >> 16;
        h *= 0x7FEB352DU;
        h ^= h >> 15;
        h *= 0x846CA68BU;
        h ^= h >> 16;
        h += round == 0 ? (uint32_t)y * 0x85EBCA6BU : 0;
    }
    return (double)h * 0x1p-31 - 1;
}

/* Value noise with its gradient: lattice values joined by 6 t^5 - 15 t^4 + 10 t^3. */
static double noise(double x, double y, uint32_t seed, double gradient[2])
{
    double fx = floor(x), fy = floor(y), u = x - fx, v = y - fy;
    int64_t i = (int64_t)fx, j = (int64_t)fy;
    double a = lattice(i, j, seed), b = lattice(i + 1, j, seed), c = lattice(i, j + 1, seed),
           d = lattice(i + 1, j + 1, seed);
    double s = u * u * u * (u * (u * 6 - 15) + 10), t = v * v * v * (v * (v * 6 - 15) + 10);
    double ds = 30 * u * u * (u * (u - 2) + 1), dt = 30 * v * v * (v * (v - 2) + 1);
    double e = a - b - c + d;
    gradient[0] = ds * ((b - a) + e * t);
    gradient[1] = dt * ((c - a) + e * s);
    return a + (b - a) * s + (c - a) * t + e * s * t;
}

/* Octaves of noise, each twice as fine, 0.46 as high and turned (3-4-5), and lower where those
 * before are steep: valleys stay smooth and ridges get rough, as erosion leaves them (after Quilez,
 * "Value noise derivatives"). */
static double height_at(const struct terrain *t, double x, double y)
{
    double sum = 0, steep[2] = {0, 0}, size = 1;
    x *= t->frequency / 2;
    y *= t->frequency / 2;
    for (uint32_t k = 0; k < t->octaves; k++) {
        double g[2], n = noise(x, y, t->seed + k, g);
        steep[0] += g[0];
        steep[1] += g[1];
        sum += size * n / (1 + steep[0] * steep[0] + steep[1] * steep[1]);
        double turned = 2 * (0.8 * x - 0.6 * y);
        y = 2 * (0.6 * x + 0.8 * y);
        x = turned;
        size *= 0.46;
    }
    return t->height * sum;
}

struct grid {
    const struct terrain *t;
    float (*P)[3], (*N)[3], (*UV)[2];
    uint32_t (*triangles)[3];
};

/* Row j of the vertices, and of the triangles above it. */
static void row_make(void *ctx, size_t j, unsigned thread)
{
    (void)thread;
    const struct grid *g = ctx;
    const uint32_t n = g->t->cells;
    const double step = 2.0 / n, y = step * (double)j - 1;
    for (uint32_t i = 0; i <= n; i++) {
        size_t at = j * ((size_t)n + 1) + i;
        double x = step * i - 1;
        g->P[at][0] = (float)x;
        g->P[at][1] = (float)y;
        g->P[at][2] = (float)height_at(g->t, x, y);
        g->UV[at][0] = (float)(i / (double)n);
        g->UV[at][1] = (float)((double)j / (double)n);
    }
    for (uint32_t i = 0; i < n && j < n; i++) {
        uint32_t a = (uint32_t)(j * (n + 1)) + i, b = a + 1, c = a + n + 1, d = c + 1;
        uint32_t(*to)[3] = g->triangles + 2 * (j * n + i);
        to[0][0] = a, to[0][1] = b, to[0][2] = d;
        to[1][0] = a, to[1][1] = d, to[1][2] = c;
    }
}

/* Normals of row j, of the slopes to its neighbours. */
static void row_normals(void *ctx, size_t j, unsigned thread)
{
    (void)thread;
    const struct grid *g = ctx;
    const size_t n = g->t->cells, w = n + 1;
    for (size_t i = 0; i <= n; i++) {
        size_t at = j * w + i, left = at - (i > 0), right = at + (i < n);
        size_t below = at - (j > 0 ? w : 0), above = at + (j < n ? w : 0);
        double dx = ((double)g->P[right][2] - (double)g->P[left][2]) /
                    ((double)g->P[right][0] - (double)g->P[left][0]);
        double dy = ((double)g->P[above][2] - (double)g->P[below][2]) /
                    ((double)g->P[above][1] - (double)g->P[below][1]);
        double k = 1 / sqrt(dx * dx + dy * dy + 1);
        g->N[at][0] = (float)(-dx * k);
        g->N[at][1] = (float)(-dy * k);
        g->N[at][2] = (float)k;
    }
}

enum status model_terrain(struct arena *a, const struct terrain *t, struct model *out)
{
    size_t n = t->cells, vertices = (n + 1) * (n + 1), triangles = 2 * n * n;
    struct grid g = {.t = t};
    g.P = arena_alloc(a, vertices, sizeof *g.P, 0);
    g.N = t->flat ? NULL : arena_alloc(a, vertices, sizeof *g.N, 0);
    g.UV = arena_alloc(a, vertices, sizeof *g.UV, 0);
    g.triangles = arena_alloc(a, triangles, sizeof *g.triangles, 0);
    if (!g.P || (!t->flat && !g.N) || !g.UV || !g.triangles)
        return STATUS_MEMORY;
    parallel_for(n + 1, 0, row_make, &g);
    if (g.N)
        parallel_for(n + 1, 0, row_normals, &g);
    *out = (struct model){.P = (const float(*)[3])g.P,
                          .N = (const float(*)[3])g.N,
                          .UV = (const float(*)[2])g.UV,
                          .vertex_count = vertices,
                          .triangles = (const uint32_t(*)[3])g.triangles,
                          .triangle_count = triangles};
    return STATUS_OK;
}
