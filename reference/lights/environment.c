/* SPDX-License-Identifier: Apache-2.0 */
#include "environment.h"

#include "numbers/offers.h"
#include "textures/texture.h"

#include <stdlib.h>

/* Luminance of column i, averaged over row j as the bilinear lookup sees it. */
static double column_mean(const struct image *map, uint32_t i, uint32_t j)
{
    uint32_t above = j > 0 ? j - 1 : 0, below = j + 1 < map->height ? j + 1 : j;
    return light_luminance(image_texel(map, i, above)) / 8 +
           3 * light_luminance(image_texel(map, i, j)) / 4 +
           light_luminance(image_texel(map, i, below)) / 8;
}

/* Mean luminance of the bilinear lookup over texel (i, j), times the sine of its latitude. */
static double texel_weight(const struct image *map, uint32_t i, uint32_t j)
{
    uint32_t left = i > 0 ? i - 1 : map->width - 1, right = i + 1 < map->width ? i + 1 : 0;
    double mean = column_mean(map, left, j) / 8 + 3 * column_mean(map, i, j) / 4 +
                  column_mean(map, right, j) / 8;
    return mean * sin(PI * (j + 0.5) / map->height);
}

enum status environment_prepare(const struct environment *e, struct environment_table *out,
                                struct error *err)
{
    struct environment_table t = {0};
    struct vec3 factor = from_float(e->radiance);
    if (e->type == ENVIRONMENT_NONE || is_zero(factor)) {
        *out = t;
        return STATUS_OK;
    }
    if (e->type == ENVIRONMENT_CONSTANT) {
        t.is_light = true;
        *out = t;
        return STATUS_OK;
    }
    uint32_t width = e->map.width, height = e->map.height;
    t.rows = calloc((size_t)height + 1, sizeof(double));
    t.columns = calloc((size_t)height * ((size_t)width + 1), sizeof(double));
    if (!t.rows || !t.columns) {
        environment_release(&t);
        return error_msg(err, STATUS_MEMORY, "no memory to sample a %u x %u environment map", width,
                         height);
    }
    for (uint32_t j = 0; j < height; j++) {
        double *row = t.columns + (size_t)j * ((size_t)width + 1);
        for (uint32_t i = 0; i < width; i++)
            row[i + 1] = row[i] + texel_weight(&e->map, i, j);
        t.rows[j + 1] = t.rows[j] + row[width];
    }
    t.total = t.rows[height];
    t.is_light = t.total > 0;
    *out = t;
    return STATUS_OK;
}

void environment_release(struct environment_table *t)
{
    free(t->rows);
    free(t->columns);
    *t = (struct environment_table){0};
}

/* Radiance at map coordinates; v = 0 is the top row. */
static struct vec3 map_radiance(const struct environment *e, double u, double v)
{
    struct vec3 texel =
        image_bilinear(&e->map, WRAP_REPEAT, WRAP_CLAMP, u * e->map.width, v * e->map.height);
    return mul(texel, from_float(e->radiance));
}

/* Density of a direction in texel (i, j) at polar coordinate v. */
static double map_pdf(const struct environment *e, const struct environment_table *t, uint32_t i,
                      uint32_t j, double v)
{
    double sine = sin(PI * v);
    if (!(sine > 0))
        return 0;
    double p = texel_weight(&e->map, i, j) / t->total;
    return p * e->map.width * e->map.height / (2 * PI * PI * sine);
}

struct vec3 environment_radiance(const struct environment *e, const struct environment_table *t,
                                 struct vec3 d, double *pdf_w)
{
    *pdf_w = 0;
    if (!t->is_light)
        return gray(0);
    if (e->type == ENVIRONMENT_CONSTANT) {
        *pdf_w = 1 / (4 * PI);
        return from_float(e->radiance);
    }
    const float *m = e->to_local;
    struct vec3 l =
        vec3(dot(from_float(m), d), dot(from_float(m + 3), d), dot(from_float(m + 6), d));
    double u = atan2(l.x, -l.z) / (2 * PI), v = acos(clamp(l.y, -1, 1)) / PI;
    if (u < 0)
        u += 1;
    uint32_t i = (uint32_t)fmin(e->map.width - 1.0, floor(u * e->map.width));
    uint32_t j = (uint32_t)fmin(e->map.height - 1.0, floor(v * e->map.height));
    *pdf_w = map_pdf(e, t, i, j, v);
    return map_radiance(e, u, v);
}

/* The least i with sums[i + 1] / sums[n] > u, and how far into its weight u is. */
static uint32_t choose(const double *sums, uint32_t n, double u, double *rest)
{
    double target = u * sums[n];
    uint32_t low = 0, high = n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sums[middle + 1] > target)
            high = middle;
        else
            low = middle + 1;
    }
    double weight = sums[low + 1] - sums[low];
    *rest = weight > 0 ? clamp((target - sums[low]) / weight, 0, 1) : 0;
    return low;
}

bool environment_sample(const struct environment *e, const struct environment_table *t, double u,
                        double v, struct vec3 *d, double *pdf_w, struct vec3 *L)
{
    if (!t->is_light)
        return false;
    if (e->type == ENVIRONMENT_CONSTANT) {
        *d = map_sphere(u, v);
        *pdf_w = 1 / (4 * PI);
        *L = from_float(e->radiance);
        return true;
    }
    double du, dv;
    uint32_t j = choose(t->rows, e->map.height, u, &du);
    uint32_t i = choose(t->columns + (size_t)j * ((size_t)e->map.width + 1), e->map.width, v, &dv);
    double map_u = (i + dv) / e->map.width, map_v = (j + du) / e->map.height;
    double theta = PI * map_v, phi = 2 * PI * map_u;
    struct vec3 l = vec3(sin(theta) * sin(phi), cos(theta), -sin(theta) * cos(phi));
    const float *m = e->to_local; /* orthonormal: its transpose goes back */
    *d = add(add(scale(l.x, from_float(m)), scale(l.y, from_float(m + 3))),
             scale(l.z, from_float(m + 6)));
    *pdf_w = map_pdf(e, t, i, j, map_v);
    *L = map_radiance(e, map_u, map_v);
    return *pdf_w > 0;
}
