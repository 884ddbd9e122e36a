/* SPDX-License-Identifier: Apache-2.0 */
/* Spheres and disks as triangles, with the normals and texture coordinates that the protocol gives them. */
#include "model.h"

#include <math.h>

static void put(float to[3], double x, double y, double z)
{
    to[0] = (float)x;
    to[1] = (float)y;
    to[2] = (float)z;
}

/* A grid of `cells` around and half as many from pole to pole. */
enum status model_ball(struct arena *a, double radius, uint32_t cells, struct model *out)
{
    const uint32_t rows = cells / 2, row = cells + 1;
    const size_t vertices = (size_t)row * (rows + 1);
    float(*P)[3] = arena_alloc(a, vertices, sizeof *P, 0);
    float(*N)[3] = arena_alloc(a, vertices, sizeof *N, 0);
    float(*UV)[2] = arena_alloc(a, vertices, sizeof *UV, 0);
    uint32_t(*t)[3] = arena_alloc(a, 2 * (size_t)cells * rows, sizeof *t, 0);
    size_t count = 0;
    if (!P || !N || !UV || !t)
        return STATUS_MEMORY;
    for (uint32_t j = 0; j <= rows; j++)
        for (uint32_t i = 0; i <= cells; i++) {
            const size_t at = (size_t)j * row + i;
            const double turn = 2 * M_PI * (i % cells) / cells, rise = M_PI * j / rows;
            const double flat = j == 0 || j == rows ? 0 : sin(rise); /* the poles are one place */
            const double n[3] = {flat * cos(turn), flat * sin(turn), -cos(rise)};
            put(N[at], n[0], n[1], n[2]);
            put(P[at], radius * n[0], radius * n[1], radius * n[2]);
            UV[at][0] = (float)((double)i / cells);
            UV[at][1] = (float)((double)j / rows);
        }
    for (uint32_t j = 0; j < rows; j++)
        for (uint32_t i = 0; i < cells; i++) {
            const uint32_t b = j * row + i, c = b + row;
            const uint32_t lower[3] = {b, b + 1, c + 1}, upper[3] = {b, c + 1, c};
            for (int k = 0; j > 0 && k < 3; k++)
                t[count][k] = lower[k];
            count += j > 0;
            for (int k = 0; j + 1 < rows && k < 3; k++)
                t[count][k] = upper[k];
            count += j + 1 < rows;
        }
    *out = (struct model){.P = (const float(*)[3])P,
                          .N = (const float(*)[3])N,
                          .UV = (const float(*)[2])UV,
                          .vertex_count = vertices,
                          .triangles = (const uint32_t(*)[3])t,
                          .triangle_count = count};
    return STATUS_OK;
}

/* Sectors about the middle. */
enum status model_plate(struct arena *a, const double normal[3], double radius, uint32_t cells,
                        struct model *out)
{
    const size_t vertices = (size_t)cells + 1;
    float(*P)[3] = arena_alloc(a, vertices, sizeof *P, 0);
    float(*N)[3] = arena_alloc(a, vertices, sizeof *N, 0);
    float(*UV)[2] = arena_alloc(a, vertices, sizeof *UV, 0);
    uint32_t(*triangles)[3] = arena_alloc(a, cells, sizeof *triangles, 0);
    if (!P || !N || !UV || !triangles)
        return STATUS_MEMORY;
    const double len = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    const double n[3] = {normal[0] / len, normal[1] / len, normal[2] / len};
    /* frame(n) of the protocol */
    const double sg = copysign(1, n[2]), k = -1 / (sg + n[2]), b = n[0] * n[1] * k;
    const double s[3] = {1 + sg * n[0] * n[0] * k, sg * b, -sg * n[0]};
    const double t[3] = {b, sg + n[1] * n[1] * k, -n[1]};
    for (uint32_t i = 0; i <= cells; i++) { /* the last is the middle */
        const double turn = 2 * M_PI * i / cells;
        const double x = i < cells ? cos(turn) : 0, y = i < cells ? sin(turn) : 0;
        put(N[i], n[0], n[1], n[2]);
        put(P[i], radius * (x * s[0] + y * t[0]), radius * (x * s[1] + y * t[1]),
            radius * (x * s[2] + y * t[2]));
        UV[i][0] = (float)(0.5 + 0.5 * x);
        UV[i][1] = (float)(0.5 + 0.5 * y);
    }
    for (uint32_t i = 0; i < cells; i++) {
        triangles[i][0] = cells;
        triangles[i][1] = i;
        triangles[i][2] = (i + 1) % cells;
    }
    *out = (struct model){.P = (const float(*)[3])P,
                          .N = (const float(*)[3])N,
                          .UV = (const float(*)[2])UV,
                          .vertex_count = vertices,
                          .triangles = (const uint32_t(*)[3])triangles,
                          .triangle_count = cells};
    return STATUS_OK;
}
