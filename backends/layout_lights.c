/* Textures, area lights and the environment's tables. Sums run in double precision in index order
 * and are rounded to float32 once. */
#include "layout_buffers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Luminance; for a colour that has none, the largest channel over three. */
static double light_luminance(const float c[3])
{
    double y = 0.2126 * (double)c[0] + 0.7152 * (double)c[1] + 0.0722 * (double)c[2];
    return y > 0 ? y : fmax(fmax((double)c[0], (double)c[1]), (double)c[2]) / 3;
}

/* ---- textures
 * ------------------------------------------------------------------------------------------ */

static uint32_t texel_kind(const struct image *im)
{
    if (im->format == TEXEL_U8)
        return im->srgb ? K_TEXEL_SRGB8 : K_TEXEL_LINEAR8;
    return im->channels == 1 ? K_TEXEL_FLOAT1 : im->channels == 3 ? K_TEXEL_FLOAT3 : K_TEXEL_FLOAT4;
}

static uint32_t texel_words(uint32_t kind) { return kind >= K_TEXEL_FLOAT3 ? kind : 1; }

static void texels_pack(const struct image *im, uint32_t *to)
{
    size_t count = (size_t)im->width * im->height, n = im->channels;
    if (im->format == TEXEL_U8) {
        const uint8_t *from = im->texels;
        for (size_t i = 0; i < count; i++, from += n) {
            uint32_t r = from[0], g = n == 1 ? r : from[1], b = n == 1 ? r : from[2];
            uint32_t a = n == 4 ? from[3] : 255;
            to[i] = r | g << 8 | b << 16 | a << 24;
        }
        return;
    }
    memcpy(to, im->texels, 4 * n * count);
}

enum status layout_textures(struct layout *l, const struct scene *s, struct error *err)
{
    void *data;
    uint64_t words = K_TABLE_WORDS;
    enum status st =
        layout_take(l, BUFFER_textures, s->texture_count, sizeof(struct k_texture), &data, err);
    if (st)
        return st;
    struct k_texture *out = data;
    for (size_t i = 0; i < s->texture_count; i++) {
        const struct texture *t = &s->textures[i];
        out[i] = (struct k_texture){
            .width = t->image.width,
            .height = t->image.height,
            .kind = texel_kind(&t->image),
            .wrap_u = t->wrap_u,
            .wrap_v = t->wrap_v,
            .nearest = t->filter == FILTER_NEAREST,
            .first = (uint32_t)words,
            .scale = {t->scale[0], t->scale[1]},
            .offset = {t->offset[0], t->offset[1]},
            .turn = {t->turn[0], t->turn[1]},
        };
        words += (uint64_t)t->image.width * t->image.height * texel_words(out[i].kind);
        if (words > UINT32_MAX)
            return error_msg(err, STATUS_LIMIT,
                             "the textures need %llu words; the kernel addresses 2^32",
                             (unsigned long long)words);
    }
    l->texture_count = (uint32_t)s->texture_count;
    st = layout_take(l, BUFFER_texels, words, 4, &data, err);
    if (st)
        return st;
    float *tables = data;
    for (int i = 0; i < 256; i++) {
        tables[i] = (float)(i / 255.0);
        tables[256 + i] = (float)srgb_decode(i / 255.0);
    }
    for (size_t i = 0; i < s->texture_count; i++)
        texels_pack(&s->textures[i].image, (uint32_t *)data + out[i].first);
    return STATUS_OK;
}

/* ---- area lights
 * ------------------------------------------------------------------------------------------ */

static double primitive_area(const struct scene *s, size_t id)
{
    if (id < s->triangle_count) {
        const uint32_t *v = s->triangles[id];
        double a[3], b[3];
        for (int i = 0; i < 3; i++) {
            a[i] = (double)s->P[v[1]][i] - (double)s->P[v[0]][i];
            b[i] = (double)s->P[v[2]][i] - (double)s->P[v[0]][i];
        }
        double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
               z = a[0] * b[1] - a[1] * b[0];
        return 0.5 * sqrt(x * x + y * y + z * z);
    }
    id -= s->triangle_count;
    if (id < s->sphere_count)
        return 4 * pi * (double)s->spheres[id].radius * (double)s->spheres[id].radius;
    id -= s->sphere_count;
    return pi * (double)s->disks[id].radius * (double)s->disks[id].radius;
}

static double light_weight(const struct scene *s, const struct k_material *materials, size_t id)
{
    const struct k_material *m = &materials[s->primitive_material[id]];
    return light_luminance(m->emission) * primitive_area(s, id) * (m->two_sided ? 2 : 1);
}

/* ---- environment
 * -------------------------------------------------------------------------------------------- */

/* Weight of each texel of row j into `row`: the mean luminance of the bilinear lookup over the
 * texel, times the sine of its latitude. columns: w scratch values. Returns their sum. */
static double row_weights(const struct image *map, uint32_t j, double *columns, double *row)
{
    uint32_t w = map->width, above = j > 0 ? j - 1 : 0, below = j + 1 < map->height ? j + 1 : j;
    const float *texels = map->texels;
    for (uint32_t i = 0; i < w; i++)
        columns[i] = light_luminance(texels + 3 * ((size_t)w * above + i)) / 8 +
                     3 * light_luminance(texels + 3 * ((size_t)w * j + i)) / 4 +
                     light_luminance(texels + 3 * ((size_t)w * below + i)) / 8;
    double sine = sin(pi * (j + 0.5) / map->height), sum = 0;
    for (uint32_t i = 0; i < w; i++) {
        double left = columns[i > 0 ? i - 1 : w - 1], right = columns[i + 1 < w ? i + 1 : 0];
        row[i] = (left / 8 + 3 * columns[i] / 4 + right / 8) * sine;
        sum += row[i];
    }
    return sum;
}

static enum status environment_tables(struct layout *l, const struct image *map, bool *is_light,
                                      struct error *err)
{
    uint32_t w = map->width, h = map->height;
    size_t texels = (size_t)w * h;
    void *rgb, *rows, *columns, *density;
    enum status st;
    if ((st = layout_take(l, BUFFER_env_texels, texels, 12, &rgb, err)) ||
        (st = layout_take(l, BUFFER_env_rows, h, 4, &rows, err)) ||
        (st = layout_take(l, BUFFER_env_columns, texels, 4, &columns, err)) ||
        (st = layout_take(l, BUFFER_env_density, texels, 4, &density, err)))
        return st;
    memcpy(rgb, map->texels, texels * 12);
    double *row = malloc(2 * (size_t)w * sizeof *row), *sums = malloc(h * sizeof *sums);
    if (!row || !sums) {
        free(row);
        free(sums);
        return error_msg(err, STATUS_MEMORY, "out of memory for the environment's tables");
    }
    double total = 0, running = 0;
    for (uint32_t j = 0; j < h; j++) {
        sums[j] = row_weights(map, j, row + w, row);
        total += sums[j];
    }
    *is_light = total > 0;
    for (uint32_t j = 0; j < h && total > 0; j++) {
        double in_row = 0;
        row_weights(map, j, row + w, row);
        running += sums[j];
        ((float *)rows)[j] = (float)(running / total);
        for (uint32_t i = 0; i < w; i++) {
            in_row += row[i];
            ((float *)columns)[(size_t)j * w + i] = sums[j] > 0 ? (float)(in_row / sums[j]) : 1.0f;
            ((float *)density)[(size_t)j * w + i] = (float)(row[i] / total * w * h / (2 * pi * pi));
        }
    }
    free(row);
    free(sums);
    return STATUS_OK;
}

static enum status layout_environment(struct layout *l, const struct environment *e, bool *is_light,
                                      struct error *err)
{
    *is_light = false;
    bool black = !(e->radiance[0] > 0 || e->radiance[1] > 0 || e->radiance[2] > 0);
    if (e->type == ENVIRONMENT_NONE || black)
        return STATUS_OK;
    *is_light = true;
    if (e->type == ENVIRONMENT_MAP) {
        enum status st = environment_tables(l, &e->map, is_light, err);
        if (st || !*is_light)
            return st;
        l->launch.env_width = e->map.width;
        l->launch.env_height = e->map.height;
    }
    l->launch.env_type = e->type == ENVIRONMENT_MAP ? 2 : 1;
    memcpy(l->launch.env_radiance, e->radiance, 12);
    memcpy(l->launch.env_to_local, e->to_local, 36);
    return STATUS_OK;
}

enum status layout_lights(struct layout *l, const struct scene *s, struct error *err)
{
    /* Ours to finish: the buffer was made by layout_materials. */
    struct k_material *materials = (struct k_material *)l->buffers.at[BUFFER_materials].data;
    size_t primitives = scene_primitive_count(s), count = 0;
    double total = 0, running = 0;
    bool env_is_light;
    enum status st = layout_environment(l, &s->environment, &env_is_light, err);
    if (st)
        return st;
    for (size_t id = 0; id < primitives; id++) {
        if (materials[s->primitive_material[id]].emits) {
            count++;
            total += light_weight(s, materials, id);
        }
    }
    l->launch.p_env = !env_is_light ? 0.0f : total > 0 ? 0.5f : 1.0f;
    l->launch.light_count = (uint32_t)count;
    l->launch.light_last = UINT32_MAX;
    void *data;
    st = layout_take(l, BUFFER_lights, count, sizeof(struct k_light), &data, err);
    if (st || count == 0)
        return st;
    struct k_light *lights = data;
    size_t at = 0;
    for (size_t id = 0; id < primitives; id++) {
        if (!materials[s->primitive_material[id]].emits)
            continue;
        double w = light_weight(s, materials, id);
        running += w;
        if (w > 0)
            l->launch.light_last = (uint32_t)at;
        lights[at++] = (struct k_light){.primitive = (uint32_t)id,
                                        .cdf = total > 0 ? (float)(running / total) : 1.0f};
    }
    for (size_t i = 0; i < s->material_count; i++) {
        struct k_material *m = &materials[i];
        if (m->emits && total > 0)
            m->light_density =
                (float)((1 - (double)l->launch.p_env) * light_luminance(m->emission) *
                        (m->two_sided ? 2 : 1) / total);
    }
    return STATUS_OK;
}
