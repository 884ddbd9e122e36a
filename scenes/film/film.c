/* SPDX-License-Identifier: Apache-2.0 */
/* The order-free film of docs/reference/protocol.md section 9. */
#include "images/images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double scene_radius(const struct scene *s)
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double side = s->bounds_max[c] - s->bounds_min[c];
        sum += side > 0 ? side * side : 0;
    }
    return 0.5 * sqrt(sum);
}

/* What all lights without a surface give together at 1/256 of the scene's radius (section 24). */
static double largest_irradiance(const struct scene *s)
{
    double near = scene_radius(s) / 256, sum[3] = {0};
    for (size_t i = 0; i < s->light_count && near > 0; i++)
        for (int c = 0; c < 3; c++)
            sum[c] += (double)s->lights[i].intensity[c] /
                      (s->lights[i].type == LIGHT_DIRECTIONAL ? 1 : near * near);
    return fmax(fmax(sum[0], sum[1]), sum[2]);
}

static bool material_is_used(const struct scene *s, size_t material)
{
    for (size_t i = 0, n = scene_primitive_count(s); i < n; i++)
        if (s->primitive_material[i] == material)
            return true;
    return false;
}

static double largest_textured(const struct scene *s)
{
    double largest = 0;
    for (size_t i = 0; i < s->material_count; i++) {
        const struct material *m = &s->materials[i];
        double texel[3];
        if (!m->emission_texture || !material_is_used(s, i))
            continue;
        image_largest(&s->textures[m->emission_texture - 1].image, texel);
        for (int c = 0; c < 3; c++)
            largest = fmax(largest, (double)m->emission[c] * texel[c]);
    }
    return largest;
}

static double largest_emission(const struct scene *s)
{
    double largest = fmax(largest_irradiance(s), largest_textured(s));
    for (size_t i = 0, n = scene_primitive_count(s) + s->prototype_triangle_count; i < n; i++) {
        const struct material *m = &s->materials[s->primitive_material[i]];
        for (int c = 0; c < 3 && !m->emission_texture; c++)
            largest = fmax(largest, (double)m->emission[c]);
        if (m->shading)
            largest = fmax(largest, (double)m->shading->emission_bound);
    }
    const struct environment *e = &s->environment;
    if (e->type == ENVIRONMENT_CONSTANT)
        for (int c = 0; c < 3; c++)
            largest = fmax(largest, (double)e->radiance[c]);
    if (e->type == ENVIRONMENT_MAP) {
        const float *texels = e->map.texels;
        for (size_t i = 0, n = (size_t)e->map.width * e->map.height; i < n; i++)
            for (int c = 0; c < 3; c++)
                largest = fmax(largest, (double)texels[3 * i + c] * (double)e->radiance[c]);
    }
    return largest;
}

int32_t film_exponent(const struct scene *s)
{
    double largest = largest_emission(s);
    if (largest <= 0)
        return 36;
    int k;
    frexp(largest, &k);
    return 36 - k;
}

static uint32_t in_proportion(uint32_t side, uint32_t to, uint32_t from)
{
    uint64_t n = from ? ((uint64_t)side * to + from / 2) / from : to;
    return n < 1 ? 1 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

void scene_picture_size(const struct scene *s, uint32_t *width, uint32_t *height)
{
    if (*width == 0 && *height == 0) {
        *width = s->width;
        *height = s->height;
    } else if (*width == 0)
        *width = in_proportion(*height, s->width, s->height);
    else if (*height == 0)
        *height = in_proportion(*width, s->height, s->width);
}

void scene_crop(const struct scene *s, uint32_t width, uint32_t height, uint32_t crop[4])
{
    const uint32_t size[2] = {width, height}, own[2] = {s->width, s->height};
    for (int i = 0; i < 2; i++) {
        uint64_t from = s->crop[i], to = from + s->crop[2 + i];
        bool whole = s->crop[2] == 0 || own[i] == 0;
        crop[i] = whole ? 0 : (uint32_t)(from * size[i] / own[i]);
        crop[2 + i] = whole ? size[i] : (uint32_t)((to * size[i] + own[i] - 1) / own[i]) - crop[i];
    }
}

/* Words of a film, or 0 if there is none of this size. */
static size_t film_words(uint32_t width, uint32_t height)
{
    uint64_t pixels = (uint64_t)width * height;
    return pixels <= SIZE_MAX / (4 * sizeof(int64_t)) ? (size_t)pixels * 4 : 0;
}

enum status film_init(struct film *f, uint32_t width, uint32_t height, int32_t exponent,
                      struct error *err)
{
    size_t words = film_words(width, height);
    if (words == 0)
        return error_msg(
            err, STATUS_ARG,
            "a film of %ux%u pixels, expected at least one and no more than memory holds", width,
            height);
    TRY(memory_plan(words * sizeof(int64_t), err, "a film of %ux%u pixels", width, height));
    int64_t *sums = calloc(words, sizeof *sums);
    if (!sums)
        return error_msg(err, STATUS_MEMORY, "out of memory for a film of %ux%u pixels", width,
                         height);
    *f = (struct film){.width = width, .height = height, .exponent = exponent, .sums = sums};
    return STATUS_OK;
}

void film_clear(struct film *f)
{
    if (f->sums)
        memset(f->sums, 0, film_words(f->width, f->height) * sizeof *f->sums);
}

void film_poison(struct film *f)
{
    for (size_t i = 0, n = film_words(f->width, f->height); i < n; i++)
        f->sums[i] = (i & 3) == 3 ? (int64_t)UINT32_MAX : INT64_C(0x5a5a5a5a5a5a5a5a);
}

void film_free(struct film *f)
{
    free(f->sums);
    *f = (struct film){0};
}

void film_add_sample(struct film *f, uint32_t x, uint32_t y, const double L[3])
{
    static const double most = 0x1p46; /* units of one sample */
    int64_t *p = f->sums + 4 * ((size_t)y * f->width + x);
    bool finite = isfinite(L[0]) && isfinite(L[1]) && isfinite(L[2]), flagged = !finite;
    for (int c = 0; finite && c < 3; c++) {
        double units = ldexp(L[c], f->exponent);
        flagged |= units < 0 || units > most;
        units = units < 0 ? 0 : units > most ? most : units;
        p[c] += (int64_t)rint(units); /* to even, in the default rounding mode */
    }
    p[3] += flagged ? INT64_C(0x100000001) : 1;
}

enum status film_add(struct film *dst, const struct film *src, struct error *err)
{
    if (dst->width != src->width || dst->height != src->height)
        return error_msg(err, STATUS_ARG, "a film of %ux%u pixels cannot be added to one of %ux%u",
                         src->width, src->height, dst->width, dst->height);
    if (dst->exponent != src->exponent)
        return error_msg(err, STATUS_ARG,
                         "a film in units of 2^-%d cannot be added to one in 2^-%d", src->exponent,
                         dst->exponent);
    size_t words = film_words(dst->width, dst->height);
    for (size_t i = 0; i < words; i += 4) {
        int64_t ignored;
        uint64_t count = (uint64_t)(uint32_t)dst->sums[i + 3] + (uint32_t)src->sums[i + 3];
        bool overflow = count > FILM_SAMPLES_MAX;
        for (size_t c = 0; c < 3; c++)
            overflow |= __builtin_add_overflow(dst->sums[i + c], src->sums[i + c], &ignored);
        if (overflow)
            return error_msg(err, STATUS_RANGE,
                             "pixel (%zu, %zu) would hold %llu samples, expected at most %u",
                             i / 4 % dst->width, i / 4 / dst->width, (unsigned long long)count,
                             FILM_SAMPLES_MAX);
    }
    for (size_t i = 0; i < words; i++)
        dst->sums[i] += src->sums[i];
    return STATUS_OK;
}

void film_rgb(const struct film *f, float *rgb)
{
    for (size_t i = 0, n = (size_t)f->width * f->height; i < n; i++) {
        const int64_t *p = f->sums + 4 * i;
        double samples = (double)(uint32_t)p[3];
        for (int c = 0; c < 3; c++)
            rgb[3 * i + c] = samples > 0 ? (float)ldexp((double)p[c] / samples, -f->exponent) : 0;
    }
}

/* A pixel's count of samples aside: are its words what that many can add up to? */
static enum status pixel_check(const struct film *f, size_t i, struct error *err)
{
    const int64_t *sums = f->sums + 4 * i;
    const uint32_t count = (uint32_t)sums[3], bad = (uint32_t)((uint64_t)sums[3] >> 32);
    const unsigned x = (unsigned)(i % f->width), y = (unsigned)(i / f->width);
    if (bad > count)
        return error_msg(err, STATUS_MISMATCH, "pixel (%u, %u) flags %u samples of only %u", x, y,
                         bad, count);
    for (int c = 0; c < 3; c++)
        if (sums[c] < 0 || (uint64_t)sums[c] > (uint64_t)count << 46)
            return error_msg(err, STATUS_MISMATCH,
                             "pixel (%u, %u) channel %d sums to %lld units, which %u samples "
                             "of at most 2^46 cannot",
                             x, y, c, (long long)sums[c], count);
    return STATUS_OK;
}

enum status film_check(const struct film *f, uint32_t spp, uint64_t *flagged, struct error *err)
{
    uint64_t total = 0;
    for (size_t i = 0, n = (size_t)f->width * f->height; i < n; i++) {
        uint64_t word = (uint64_t)f->sums[4 * i + 3];
        uint32_t count = (uint32_t)word;
        unsigned x = (unsigned)(i % f->width), y = (unsigned)(i / f->width);
        if (count == UINT32_MAX)
            return error_msg(err, STATUS_MISMATCH, "pixel (%u, %u) was never written", x, y);
        if (count != spp)
            return error_msg(err, STATUS_MISMATCH, "pixel (%u, %u) holds %u samples, expected %u",
                             x, y, count, spp);
        TRY(pixel_check(f, i, err));
        total += word >> 32;
    }
    if (flagged)
        *flagged = total;
    return STATUS_OK;
}

enum status film_check_part(const struct film *f, uint32_t spp, uint64_t *samples,
                            struct error *err)
{
    uint64_t total = 0;
    for (size_t i = 0, n = (size_t)f->width * f->height; i < n; i++) {
        const uint32_t count = (uint32_t)f->sums[4 * i + 3];
        if (count > spp)
            return error_msg(err, STATUS_RANGE,
                             "pixel (%zu, %zu) holds %u samples, which are more than %u",
                             i % f->width, i / f->width, count, spp);
        TRY(pixel_check(f, i, err));
        total += count;
    }
    *samples = total;
    return STATUS_OK;
}

void film_hash(const struct film *f, char hex[33])
{
    struct hash *h = hash_open();
    int64_t head[3] = {f->width, f->height, f->exponent};
    hash_add(h, head, sizeof head);
    hash_add(h, f->sums, film_words(f->width, f->height) * sizeof *f->sums);
    hash_close(h, hex);
}
