/* SPDX-License-Identifier: Apache-2.0 */
/* Textures, area lights and the environment's tables. Sums run in double precision in index order
 * and are rounded to float32 once. */
#include "layout_buffers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Luminance; for a colour that has none, the largest channel over three. */
static double luminance_of(const double c[3])
{
    double y = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
    return y > 0 ? y : fmax(fmax(c[0], c[1]), c[2]) / 3;
}
static double light_luminance(const float c[3])
{
    return luminance_of((double[3]){(double)c[0], (double)c[1], (double)c[2]});
}

/* ---- textures ------------------------------------------------------------------------------- */

static uint32_t texel_kind(const struct image *im)
{
    if (im->format == TEXEL_U8)
        return im->srgb ? K_TEXEL_SRGB8 : K_TEXEL_LINEAR8;
    if (im->format == TEXEL_F16)
        return K_TEXEL_HALF + im->channels;
    if (im->format == TEXEL_U16)
        return (im->srgb ? K_TEXEL_SRGB16 : K_TEXEL_LINEAR16) + im->channels;
    return im->channels == 1 ? K_TEXEL_FLOAT1 : im->channels == 3 ? K_TEXEL_FLOAT3 : K_TEXEL_FLOAT4;
}

static uint64_t texels_words(const struct image *im)
{
    uint64_t texels = (uint64_t)im->width * im->height;
    size_t value = texel_size(im->format);
    return value == 1 ? texels : (texels * im->channels * value + 3) / 4;
}

static void texels_pack(const struct image *im, uint32_t *to)
{
    const size_t values = (size_t)im->width * im->height * im->channels;
    if (im->format == TEXEL_U8)
        image_pack_words(im, to);
    else
        memcpy(to, im->texels,
               values * texel_size(im->format)); /* halves of words: little endian */
}

/* Where the images lie, for kernels that count. */
static enum status images_list(struct layout *l, const struct scene *s,
                               const struct k_texture *textures, struct error *err)
{
    l->images = calloc(s->texture_count + 1, sizeof *l->images);
    if (!l->images)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu textures", s->texture_count);
    for (size_t i = 0; i < s->texture_count; i++) {
        const struct image *im = &s->textures[i].image;
        const size_t value = texel_size(im->format);
        l->images[i] =
            (struct tiled_level){textures[i].first, textures[i].width, textures[i].height,
                                 value == 1 ? 4 : (uint32_t)(im->channels * value)};
    }
    return STATUS_OK;
}

enum status layout_textures(struct layout *l, const struct scene *s, struct error *err)
{
    void *data;
    uint64_t words = K_TABLE_WORDS;
    bool decoded16 = false;
    for (size_t i = 0; i < s->texture_count; i++) {
        uint32_t kind = texel_kind(&s->textures[i].image);
        l->features |= kind >= K_TEXEL_HALF ? K_FEATURE_TEXELS16 : 0;
        decoded16 |= kind >= K_TEXEL_SRGB16;
    }
    if (decoded16)
        words += K_TABLE16_WORDS;
    enum status st =
        layout_take(l, BUFFER_textures, s->texture_count, sizeof(struct k_texture), &data, err);
    if (st)
        return st;
    struct k_texture *out = data;
    uint32_t place;
    for (size_t i = 0; i < s->texture_count; i++) {
        const struct texture *t = &s->textures[i];
        const bool cached = layout_cached(l, t->image.texels, &place);
        out[i] = (struct k_texture){
            .width = t->image.width,
            .height = t->image.height,
            .kind = texel_kind(&t->image),
            .wrap_u = t->wrap_u,
            .wrap_v = t->wrap_v,
            .nearest = t->filter == FILTER_NEAREST,
            .first = cached ? place : (uint32_t)words,
            .scale = {t->scale[0], t->scale[1]},
            .offset = {t->offset[0], t->offset[1]},
            .turn = {t->turn[0], t->turn[1]},
        };
        words += cached ? 0 : texels_words(&t->image);
        if (words > UINT32_MAX)
            return error_msg(err, STATUS_LIMIT,
                             "the textures need %llu words; the kernel addresses 2^32",
                             (unsigned long long)words);
    }
    l->texture_count = (uint32_t)s->texture_count;
    if ((st = images_list(l, s, out, err)) != STATUS_OK)
        return st;
    st = layout_take_words(l, BUFFER_texels, words, &data, err);
    if (st)
        return st;
    float *tables = data;
    for (int i = 0; i < 256; i++) {
        tables[i] = (float)(i / 255.0);
        tables[256 + i] = (float)srgb_decode(i / 255.0);
    }
    for (unsigned i = 0; decoded16 && i < K_TABLE16_WORDS; i++)
        tables[K_TABLE_WORDS + i] = (float)srgb_decode(i / 65535.0);
    for (size_t i = 0; i < s->texture_count; i++)
        if (!layout_cached(l, s->textures[i].image.texels, &place))
            texels_pack(&s->textures[i].image, (uint32_t *)data + out[i].first);
    return STATUS_OK;
}

/* ---- area lights ---------------------------------------------------------------------------- */

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

/* ---- environment ---------------------------------------------------------------------------- */

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

/* ---- the table ------------------------------------------------------------------------------ */

/* Being made: every light but the environment, area lights first. */
struct light_list {
    const struct scene *scene;
    struct k_material *materials;
    uint32_t area_count, count;
    uint32_t *primitives;      /* of area lights */
    double *weights, *mean;    /* w_i; luminance of an area light's mean emission */
    struct light_leaf *leaves; /* of the tree */
    size_t leaf_count;
    bool tree;
    double power; /* sum of the weights that are chosen by power */
};

static void list_free(struct light_list *x)
{
    free(x->primitives);
    free(x->weights);
    free(x->mean);
    free(x->leaves);
}

static double delta_weight(const struct scene *s, const struct light *l)
{
    double Y = light_luminance(l->intensity), R = scene_radius(s);
    switch (l->type) {
    case LIGHT_POINT:
        return 4 * Y;
    case LIGHT_SPOT:
        return Y * ((1 - cos(l->angle)) + (1 - cos(l->inner_angle)));
    default:
        return Y * R * R;
    }
}

static const struct light *list_delta(const struct light_list *x, uint32_t i)
{
    return i < x->area_count ? NULL : &x->scene->lights[i - x->area_count];
}

/* Is the light chosen by the tree? */
static bool list_in_tree(const struct light_list *x, uint32_t i)
{
    const struct light *delta = list_delta(x, i);
    return x->tree && !(delta && delta->type == LIGHT_DIRECTIONAL);
}

static enum status list_make(struct light_list *x, const struct scene *s,
                             struct k_material *materials, struct error *err)
{
    size_t primitives = scene_primitive_count(s), count = s->light_count;
    for (size_t id = 0; id < primitives; id++)
        count += materials[s->primitive_material[id]].emits != 0;
    *x = (struct light_list){.scene = s,
                             .materials = materials,
                             .primitives = malloc((count + 1) * sizeof *x->primitives),
                             .weights = malloc((count + 1) * sizeof *x->weights),
                             .mean = malloc((count + 1) * sizeof *x->mean),
                             .tree = s->light_choice == LIGHT_CHOICE_TREE};
    if (x->tree)
        x->leaves = malloc((count + 1) * sizeof *x->leaves);
    if (!x->primitives || !x->weights || !x->mean || (x->tree && !x->leaves))
        return error_msg(err, STATUS_MEMORY, "out of memory for a table of %zu lights", count);
    for (size_t id = 0; id < primitives; id++) {
        const struct k_material *m = &materials[s->primitive_material[id]];
        double rgb[3];
        if (!m->emits)
            continue;
        layout_mean_emission(s, id, rgb);
        /* a mask's light is found by hits alone (protocol section 26) */
        x->mean[x->area_count] = m->cutout & K_CUTOUT_MASK ? 0 : luminance_of(rgb);
        x->weights[x->area_count] =
            x->mean[x->area_count] * primitive_area(s, id) * (m->two_sided ? 2 : 1);
        x->primitives[x->area_count++] = (uint32_t)id;
    }
    x->count = x->area_count;
    for (size_t i = 0; i < s->light_count; i++)
        x->weights[x->count++] = delta_weight(s, &s->lights[i]);
    for (uint32_t i = 0; i < x->count; i++)
        x->power += list_in_tree(x, i) ? 0 : x->weights[i];
    return STATUS_OK;
}

static void leaf_of_triangle(const struct scene *s, size_t id, struct light_leaf *f)
{
    const float *v[3];
    double a[3], b[3];
    for (int i = 0; i < 3; i++)
        v[i] = s->P[s->triangles[id][i]];
    for (int k = 0; k < 3; k++) {
        f->lo[k] = (double)fminf(fminf(v[0][k], v[1][k]), v[2][k]);
        f->hi[k] = (double)fmaxf(fmaxf(v[0][k], v[1][k]), v[2][k]);
        a[k] = (double)v[1][k] - (double)v[0][k];
        b[k] = (double)v[2][k] - (double)v[0][k];
    }
    double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    double scale = 1 / sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++)
        f->axis[k] = n[k] * scale;
}

static void leaf_of_round(const float center[3], float radius, const float *normal,
                          struct light_leaf *f)
{
    for (int k = 0; k < 3; k++) {
        f->lo[k] = (double)center[k] - (double)radius;
        f->hi[k] = (double)center[k] + (double)radius;
        f->axis[k] = normal ? (double)normal[k] : 0;
    }
}

static void leaf_make(const struct light_list *x, uint32_t i, struct light_leaf *f)
{
    const struct scene *s = x->scene;
    const struct light *delta = list_delta(x, i);
    *f = (struct light_leaf){.weight = x->weights[i], .light = i, .cos_o = -1};
    if (delta) {
        for (int k = 0; k < 3; k++)
            f->lo[k] = f->hi[k] = (double)delta->position[k];
        if (delta->type == LIGHT_SPOT) {
            for (int k = 0; k < 3; k++)
                f->axis[k] = (double)delta->direction[k];
            f->cos_o = cos(delta->inner_angle);
            f->cos_e = cos(delta->angle - delta->inner_angle) - 0x1p-16;
        }
        return;
    }
    size_t id = x->primitives[i], round = id - s->triangle_count;
    bool sphere = false;
    if (id < s->triangle_count) {
        leaf_of_triangle(s, id, f);
    } else if (round < s->sphere_count) {
        leaf_of_round(s->spheres[round].center, s->spheres[round].radius, NULL, f);
        sphere = true;
    } else {
        const struct disk *d = &s->disks[round - s->sphere_count];
        leaf_of_round(d->center, d->radius, d->normal, f);
    }
    if (sphere || x->materials[s->primitive_material[id]].two_sided)
        f->axis[0] = f->axis[1] = f->axis[2] = 0;
    else
        f->cos_o = 1;
}

/* Choice by power: C_i, and what only textured emission, deltas and the tree have. */
static enum status list_lay(struct light_list *x, struct layout *l, struct k_light_extra **extras,
                            struct error *err)
{
    void *lights, *more, *deltas;
    bool extra = x->tree || (l->features & K_FEATURE_TEXTURED_LIGHTS);
    enum status st;
    if ((st = layout_take(l, BUFFER_lights, x->count, sizeof(struct k_light), &lights, err)) ||
        (st = layout_take(l, BUFFER_light_extras, extra ? x->area_count : 0,
                          sizeof(struct k_light_extra), &more, err)) ||
        (st = layout_take(l, BUFFER_delta_lights, x->count - x->area_count,
                          sizeof(struct k_delta_light), &deltas, err)))
        return st;
    const struct scene *s = x->scene;
    double running = 0, share = (1 - (double)l->launch.p_env) * (double)l->launch.p_direct;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct light *delta = list_delta(x, i);
        double w = list_in_tree(x, i) ? 0 : x->weights[i];
        running += w;
        if (w > 0)
            l->launch.light_last = i;
        ((struct k_light *)lights)[i] = (struct k_light){
            .primitive = delta ? K_DELTA_LIGHT | (i - x->area_count) : x->primitives[i],
            .cdf = x->power > 0 ? (float)(running / x->power) : 1.0f};
        if (delta) {
            double outer = cos(delta->angle);
            struct k_delta_light *d = (struct k_delta_light *)deltas + (i - x->area_count);
            *d = (struct k_delta_light){
                .type = (uint32_t)delta->type,
                .cos_outer = (float)outer,
                .falloff = (float)(1 / fmax(cos(delta->inner_angle) - outer, 1e-6)),
                .chance = w > 0 ? (float)(share * w / x->power) : 0.0f,
            };
            memcpy(d->position, delta->position, 12);
            memcpy(d->direction, delta->direction, 12);
            memcpy(d->intensity, delta->intensity, 12);
        } else if (extra) {
            double area = primitive_area(s, x->primitives[i]);
            int sides = x->materials[s->primitive_material[x->primitives[i]]].two_sided ? 2 : 1;
            ((struct k_light_extra *)more)[i] = (struct k_light_extra){
                .density =
                    w > 0 ? (float)((1 - (double)l->launch.p_env) * x->mean[i] * sides / x->power)
                          : 0.0f,
                .per_area = area > 0 ? (float)(1 / area) : 0.0f,
                .place = UINT32_MAX,
            };
        }
    }
    *extras = more;
    return STATUS_OK;
}

static void find_features(struct layout *l, const struct scene *s)
{
    for (size_t i = 0, n = scene_primitive_count(s); i < n; i++)
        if (s->materials[s->primitive_material[i]].emission_texture)
            l->features |= K_FEATURE_TEXTURED_LIGHTS;
    if (s->light_count > 0)
        l->features |= K_FEATURE_LIGHTS;
    if (s->light_choice == LIGHT_CHOICE_TREE)
        l->features |= K_FEATURE_LIGHT_TREE;
    if (s->mis == MIS_BALANCE)
        l->features |= K_FEATURE_BALANCE;
}

/* p_env, and how the others share what is left. */
static void set_chances(struct layout *l, const struct light_list *x, bool env_is_light)
{
    struct k_launch *out = &l->launch;
    bool some = x->power > 0, tree = x->leaf_count > 0;
    out->p_env = !env_is_light ? 0.0f : some || tree ? 0.5f : 1.0f;
    out->p_direct = !tree ? 1.0f : some ? 0.5f : 0.0f;
    out->tree_chance = (1 - out->p_env) * (1 - out->p_direct);
    out->light_count = x->count;
    out->area_light_count = x->area_count;
    out->light_last = UINT32_MAX;
    out->light_tree = x->tree;
    out->balance = x->scene->mis == MIS_BALANCE;
}

static enum status list_finish(struct light_list *x, struct layout *l, bool env_is_light,
                               struct error *err)
{
    struct k_light_extra *extras = NULL;
    for (uint32_t i = 0; i < x->count; i++)
        if (list_in_tree(x, i) && x->weights[i] > 0)
            leaf_make(x, i, &x->leaves[x->leaf_count++]);
    set_chances(l, x, env_is_light);
    enum status st = list_lay(x, l, &extras, err);
    if (st == STATUS_OK && x->tree)
        st = layout_light_tree(l, x->leaves, x->leaf_count, extras, err);
    for (size_t i = 0; i < x->scene->material_count; i++) {
        struct k_material *m = &x->materials[i];
        if (m->emits && x->power > 0 && !(m->cutout & K_CUTOUT_MASK))
            m->light_density =
                (float)((1 - (double)l->launch.p_env) * light_luminance(m->emission) *
                        (m->two_sided ? 2 : 1) / x->power);
    }
    return st;
}

enum status layout_lights(struct layout *l, const struct scene *s, struct error *err)
{
    /* Ours to finish: the buffer was made by layout_materials. */
    struct k_material *materials = (struct k_material *)l->buffers.at[BUFFER_materials].data;
    struct light_list x = {0};
    bool env_is_light;
    find_features(l, s);
    enum status st = layout_environment(l, &s->environment, &env_is_light, err);
    if (st == STATUS_OK)
        st = list_make(&x, s, materials, err);
    if (st == STATUS_OK)
        st = list_finish(&x, l, env_is_light, err);
    list_free(&x);
    return st;
}
