#include "texture.h"

/* IEC 61966-2-1. */
static double decode_srgb(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

struct vec3 image_texel(const struct image *image, uint32_t x, uint32_t y)
{
    size_t at = ((size_t)y * image->width + x) * image->channels;
    double c[3];
    for (int i = 0; i < 3; i++) {
        size_t channel = at + (image->channels == 1 ? 0 : (size_t)i);
        if (image->format == TEXEL_F32) {
            c[i] = (double)((const float *)image->texels)[channel];
        } else {
            c[i] = ((const uint8_t *)image->texels)[channel] / 255.0;
            if (image->srgb)
                c[i] = decode_srgb(c[i]);
        }
    }
    return from_double(c);
}

/* The texel that position i means in a row of n. */
static uint32_t wrap(enum texture_wrap how, int64_t i, int64_t n)
{
    if (how == WRAP_CLAMP)
        return (uint32_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
    int64_t period = how == WRAP_MIRROR ? 2 * n : n;
    int64_t m = i % period;
    if (m < 0)
        m += period;
    return (uint32_t)(m < n ? m : 2 * n - 1 - m);
}

struct vec3 image_bilinear(const struct image *image, enum texture_wrap wrap_u,
                           enum texture_wrap wrap_v, double x, double y)
{
    x -= 0.5;
    y -= 0.5;
    double fx = x - floor(x), fy = y - floor(y);
    int64_t x0 = (int64_t)floor(x), y0 = (int64_t)floor(y);
    uint32_t left = wrap(wrap_u, x0, image->width), right = wrap(wrap_u, x0 + 1, image->width);
    uint32_t top = wrap(wrap_v, y0, image->height), bottom = wrap(wrap_v, y0 + 1, image->height);
    struct vec3 upper = lerp(image_texel(image, left, top), image_texel(image, right, top), fx);
    struct vec3 lower =
        lerp(image_texel(image, left, bottom), image_texel(image, right, bottom), fx);
    return lerp(upper, lower, fy);
}

/* 0 for what is no place: beyond 2^20, or not finite. */
static double coordinate(double x) { return fabs(x) <= 0x1p20 ? x : 0; }

struct vec3 texture_lookup(const struct texture *t, const double uv[2])
{
    const struct image *image = &t->image;
    double u = (double)t->scale[0] * uv[0] + (double)t->offset[0];
    double v = (double)t->scale[1] * uv[1] + (double)t->offset[1];
    double x = coordinate(u * image->width), y = coordinate((1 - v) * image->height);
    if (t->filter == FILTER_BILINEAR)
        return image_bilinear(image, t->wrap_u, t->wrap_v, x, y);
    return image_texel(image, wrap(t->wrap_u, (int64_t)floor(x), image->width),
                       wrap(t->wrap_v, (int64_t)floor(y), image->height));
}
