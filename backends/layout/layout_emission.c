/* SPDX-License-Identifier: Apache-2.0 */
/* The mean of a textured emission over a primitive, in double (protocol section 24). */
#include "layout_buffers.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* A sum of emissions at places of a primitive. */
struct emission_sum {
    const struct material *material;
    const struct texture *texture;
    double rgb[3], count;
};

static void sum_add(struct emission_sum *s, double u, double v)
{
    double texel[4];
    texture_value(s->texture, (double[2]){u, v}, texel);
    for (int c = 0; c < 3; c++)
        s->rgb[c] += fmax((double)s->material->emission[c] * texel[c], 0);
    s->count += 1;
}

static void sum_triangle(const struct scene *s, size_t id, struct emission_sum *sum)
{
    double uv[3][2] = {{0, 0}, {1, 0}, {0, 1}}, longest = 0;
    for (int k = 0; k < 3 && s->triangle_flags[id] & TRIANGLE_HAS_UV; k++)
        for (int i = 0; i < 2; i++)
            uv[k][i] = (double)s->UV[s->triangles[id][k]][i];
    const struct texture *t = sum->texture;
    for (int k = 0; k < 3; k++) {
        const double *a = uv[k], *b = uv[(k + 1) % 3];
        longest = fmax(longest, fabs(t->image.width * (double)t->scale[0] * (b[0] - a[0])));
        longest = fmax(longest, fabs(t->image.height * (double)t->scale[1] * (b[1] - a[1])));
    }
    int n = (int)fmin(32, fmax(1, ceil(longest)));
    for (int j = 0; j < n; j++) {
        for (int i = 0; i + j < n; i++) {
            for (int down = 0; down < 2 && i + j + down < n; down++) {
                double third = (1 + down) / 3.0;
                double b1 = (i + third) / n, b2 = (j + third) / n, b0 = 1 - b1 - b2;
                sum_add(sum, b0 * uv[0][0] + b1 * uv[1][0] + b2 * uv[2][0],
                        b0 * uv[0][1] + b1 * uv[1][1] + b2 * uv[2][1]);
            }
        }
    }
}

static void sum_sphere(struct emission_sum *sum)
{
    for (int j = 0; j < 32; j++)
        for (int i = 0; i < 64; i++)
            sum_add(sum, (i + 0.5) / 64, 1 - acos(1 - (j + 0.5) / 16) / pi);
}

static void sum_disk(struct emission_sum *sum)
{
    for (int j = 0; j < 32; j++) {
        for (int i = 0; i < 32; i++) {
            double a = 2 * ((i + 0.5) / 32) - 1, b = 2 * ((j + 0.5) / 32) - 1;
            bool wide = fabs(a) > fabs(b); /* neither is 0 */
            double r = wide ? a : b, phi = pi / 4 * (wide ? b / a : a / b);
            double x = r * cos(phi), y = r * sin(phi);
            sum_add(sum, 0.5 + 0.5 * (wide ? x : y), 0.5 + 0.5 * (wide ? y : x));
        }
    }
}

void layout_mean_emission(const struct scene *s, size_t primitive, double rgb[3])
{
    const struct material *m = &s->materials[s->primitive_material[primitive]];
    for (int c = 0; c < 3; c++)
        rgb[c] = (double)m->emission[c];
    if (!m->emission_texture)
        return;
    struct emission_sum sum = {.material = m, .texture = &s->textures[m->emission_texture - 1]};
    if (primitive < s->triangle_count)
        sum_triangle(s, primitive, &sum);
    else if (primitive - s->triangle_count < s->sphere_count)
        sum_sphere(&sum);
    else
        sum_disk(&sum);
    for (int c = 0; c < 3; c++)
        rgb[c] = sum.rgb[c] / sum.count;
}
