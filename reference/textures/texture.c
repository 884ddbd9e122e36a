/* SPDX-License-Identifier: Apache-2.0 */
#include "texture.h"

/* IEC 61966-2-1. */
static double decode_srgb(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

/* IEEE 754 binary16, finite: sign, five bits of exponent with bias 15, ten of significand. */
static double half_number(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31), significand = (int)(bits & 1023);
    double v = exponent == 0 ? ldexp(significand, -24) : ldexp(1024 + significand, exponent - 25);
    return bits >> 15 ? -v : v;
}

/* Value `at` of the image; color: as light. */
static double number_at(const struct image *image, size_t at, bool color)
{
    const void *t = image->texels;
    double v;
    if (image->format == TEXEL_F32)
        return (double)((const float *)t)[at];
    if (image->format == TEXEL_F16)
        return half_number(((const uint16_t *)t)[at]);
    if (image->format == TEXEL_U16)
        v = ((const uint16_t *)t)[at] / 65535.0;
    else
        v = ((const uint8_t *)t)[at] / 255.0;
    return color && image->srgb ? decode_srgb(v) : v;
}

struct vec3 image_texel(const struct image *image, uint32_t x, uint32_t y)
{
    size_t at = ((size_t)y * image->width + x) * image->channels;
    double c[3];
    for (int i = 0; i < 3; i++) {
        size_t channel = at + (image->channels == 1 ? 0 : (size_t)i);
        c[i] = number_at(image, channel, true);
    }
    return from_double(c);
}

/* Alpha of texel (x, y), for all three; 1 in an image that has none. */
static struct vec3 alpha_texel(const struct image *image, uint32_t x, uint32_t y)
{
    double a = 1;
    if (image->channels == 4)
        a = number_at(image, ((size_t)y * image->width + x) * 4 + 3, false);
    return vec3(a, a, a);
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

typedef struct vec3 (*texel_fn)(const struct image *, uint32_t x, uint32_t y);

static struct vec3 bilinear(const struct image *image, texel_fn texel, enum texture_wrap wrap_u,
                            enum texture_wrap wrap_v, double x, double y)
{
    x -= 0.5;
    y -= 0.5;
    double fx = x - floor(x), fy = y - floor(y);
    int64_t x0 = (int64_t)floor(x), y0 = (int64_t)floor(y);
    uint32_t left = wrap(wrap_u, x0, image->width), right = wrap(wrap_u, x0 + 1, image->width);
    uint32_t top = wrap(wrap_v, y0, image->height), bottom = wrap(wrap_v, y0 + 1, image->height);
    struct vec3 upper = lerp(texel(image, left, top), texel(image, right, top), fx);
    struct vec3 lower = lerp(texel(image, left, bottom), texel(image, right, bottom), fx);
    return lerp(upper, lower, fy);
}

struct vec3 image_bilinear(const struct image *image, enum texture_wrap wrap_u,
                           enum texture_wrap wrap_v, double x, double y)
{
    return bilinear(image, image_texel, wrap_u, wrap_v, x, y);
}

/* 0 for what is no place: beyond 2^20, or not finite. */
static double coordinate(double x) { return fabs(x) <= 0x1p20 ? x : 0; }

/* Where (u, v) lies, in texels from the top left corner. */
static void texture_place(const struct texture *t, const double uv[2], double *x, double *y)
{
    double u = (double)t->scale[0] * uv[0], v = (double)t->scale[1] * uv[1];
    double c = (double)t->turn[0], s = (double)t->turn[1];
    if (c != 0 || s != 0) {
        double across = c * u - s * v;
        v = s * u + c * v;
        u = across;
    }
    u += (double)t->offset[0];
    v += (double)t->offset[1];
    *x = coordinate(u * t->image.width);
    *y = coordinate((1 - v) * t->image.height);
}

static struct vec3 lookup(const struct texture *t, texel_fn texel, const double uv[2])
{
    const struct image *image = &t->image;
    double x, y;
    texture_place(t, uv, &x, &y);
    if (t->filter == FILTER_BILINEAR)
        return bilinear(image, texel, t->wrap_u, t->wrap_v, x, y);
    return texel(image, wrap(t->wrap_u, (int64_t)floor(x), image->width),
                 wrap(t->wrap_v, (int64_t)floor(y), image->height));
}

struct vec3 texture_lookup(const struct texture *t, const double uv[2])
{
    return lookup(t, image_texel, uv);
}

double texture_channel(const struct texture *t, const double uv[2], uint32_t channel)
{
    struct vec3 c = lookup(t, channel == 3 ? alpha_texel : image_texel, uv);
    return channel == 1 ? c.y : channel == 2 ? c.z : c.x;
}

struct vec3 unbounded_color_at(const struct scene *s, const struct color_input *in,
                               const double uv[2])
{
    struct vec3 c = from_float(in->value);
    if (in->texture >= 0 && !is_zero(c)) /* 0: a colour that nobody set */
        c = mul(c, texture_lookup(&s->textures[in->texture], uv));
    return vec3(fmax(c.x, 0), fmax(c.y, 0), fmax(c.z, 0));
}

struct vec3 color_at(const struct scene *s, const struct color_input *in, const double uv[2])
{
    struct vec3 c = unbounded_color_at(s, in, uv);
    return vec3(clamp(c.x, 0, 1), clamp(c.y, 0, 1), clamp(c.z, 0, 1));
}

double scalar_at(const struct scene *s, const struct scalar_input *in, const double uv[2],
                 double low, double high)
{
    double v = (double)in->value;
    if (in->texture >= 0 && v != 0) /* 0: a scalar that nobody set */
        v *= texture_channel(&s->textures[in->texture], uv, in->channel);
    return clamp(v, low, high);
}
