#include "model_derived.h"

#include <math.h>
#include <string.h>

#include "image_format.h"

static const uint64_t texels_max = UINT64_C(1) << 26; /* of one file: time is limited */

static double clamp01(double x) { return source_clamp(x, 0, 1); }

/* ---- formulas ------------------------------------------------------------------------------- */

static double brightness(const double c[3])
{
    return sqrt(0.299 * c[0] * c[0] + 0.587 * c[1] * c[1] + 0.114 * c[2] * c[2]);
}

double derived_metal(const double diffuse[3], const double specular[3], double base[3])
{
    static const double F0 = 0.04;
    double rest = 1 - fmax(specular[0], fmax(specular[1], specular[2]));
    double d = brightness(diffuse), s = brightness(specular), metallic = 0;
    if (s >= F0) {
        double b = d * rest / (1 - F0) + s - 2 * F0, c = F0 - s;
        metallic = clamp01((-b + sqrt(fmax(0, b * b - 4 * F0 * c))) / (2 * F0));
    }
    double m2 = metallic * metallic;
    for (int c = 0; c < 3; c++) {
        double matt = diffuse[c] * rest / (1 - F0) / fmax(1 - metallic, 1e-6);
        double metal = (specular[c] - F0 * (1 - metallic)) / fmax(metallic, 1e-6);
        base[c] = clamp01(matt + (metal - matt) * m2);
    }
    return metallic;
}

/* ---- texels --------------------------------------------------------------------------------- */

/* Texels in `a`. */
static bool read_map(struct source *s, const struct source_texture *t, struct arena *a,
                     struct image *out)
{
    enum color_space space = t->data ? COLOR_LINEAR : COLOR_AUTO;
    struct error why;
    if (t->image != SOURCE_NO_IMAGE) {
        const struct source_image *i = &s->images[t->image];
        return image_read_memory_as(a, i->data, i->size, "inside", space, out, &why) == STATUS_OK;
    }
    const char *path = path_beside(&s->arena, s->path, t->file);
    return path && image_read_as(a, path, space, out, &why) == STATUS_OK;
}

/* Linear red, green, blue and alpha of the texel at the share (x + 0.5)/width, (y + 0.5)/height. */
static void texel_of(const struct image *im, double u, double v, double rgba[4])
{
    size_t x = (size_t)(u * im->width), y = (size_t)(v * im->height);
    size_t at = (y * im->width + x) * im->channels;
    for (size_t c = 0; c < 3; c++)
        rgba[c] = image_value(im, at + (im->channels == 1 ? 0 : c), true);
    rgba[3] = im->channels == 4 ? image_value(im, at + 3, false) : 1;
}

static uint8_t byte_of(double x) { return (uint8_t)(clamp01(x) * 255 + 0.5); }

/* Whether there is time for a picture of this size. */
static bool take_texels(struct source *s, uint32_t width, uint32_t height)
{
    uint64_t n = (uint64_t)width * height;
    if (n > texels_max - s->derived_texels)
        return false;
    s->derived_texels += n;
    return true;
}

/* A texture that lies where `like` does. */
static bool make_texture(struct source *s, const struct source_texture *like, bool data,
                         uint32_t width, uint32_t height, const uint8_t *rgb,
                         struct source_texture *out)
{
    const uint8_t *png;
    size_t size;
    if (image_encode_png(&s->arena, width, height, rgb, &png, &size, NULL) != STATUS_OK)
        return false;
    *out = *like;
    memset(out->file, 0, sizeof out->file);
    out->image = source_image(s, png, size);
    out->data = data;
    return true;
}

static bool lie_alike(const struct source_texture *a, const struct source_texture *b)
{
    struct source_texture c = *a;
    memcpy(c.file, b->file, sizeof c.file);
    c.image = b->image;
    c.data = b->data;
    return memcmp(&c, b, sizeof c) == 0;
}

/* ---- textures ------------------------------------------------------------------------------- */

bool derive_from_glossiness(struct source *s, const struct derived_gloss *from,
                            struct source_texture *base, struct source_texture *data)
{
    static const uint8_t white[4] = {255, 255, 255, 255};
    struct image none = {
        .width = 1, .height = 1, .channels = 4, .texels = (void *)(uintptr_t)white};
    struct image diffuse = none, gloss = none;
    const struct source_texture *like = from->gloss_map ? from->gloss_map : from->diffuse_map;
    if (!like || (from->diffuse_map && !lie_alike(like, from->diffuse_map)) ||
        (from->diffuse_map && !read_map(s, from->diffuse_map, &s->arena, &diffuse)) ||
        (from->gloss_map && !read_map(s, from->gloss_map, &s->arena, &gloss)))
        return false;
    uint32_t w = diffuse.width > gloss.width ? diffuse.width : gloss.width;
    uint32_t h = diffuse.height > gloss.height ? diffuse.height : gloss.height;
    if (!take_texels(s, w, h))
        return false;
    uint8_t *color = source_alloc(s, (size_t)w * h, 3), *rest = source_alloc(s, (size_t)w * h, 3);
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            double u = (x + 0.5) / w, v = (y + 0.5) / h, d[4], g[4], rgb[3];
            texel_of(&diffuse, u, v, d);
            texel_of(&gloss, u, v, g);
            for (int c = 0; c < 3; c++) {
                d[c] *= from->diffuse[c];
                g[c] *= from->specular[c];
            }
            size_t at = 3 * ((size_t)y * w + x);
            rest[at + 2] = byte_of(derived_metal(d, g, rgb));
            rest[at + 1] = byte_of(1 - g[3] * from->glossiness);
            for (size_t c = 0; c < 3; c++)
                color[at + c] = byte_of(srgb_encode(rgb[c]));
        }
    return make_texture(s, like, false, w, h, color, base) &&
           make_texture(s, like, true, w, h, rest, data);
}

bool derive_directions(struct source *s, const struct source_texture *map, double turns,
                       struct source_texture *directions)
{
    struct arena scratch = {0};
    struct image im;
    if (!read_map(s, map, &scratch, &im) || !take_texels(s, im.width, im.height)) {
        arena_free(&scratch);
        return false;
    }
    uint8_t *out = source_alloc(s, (size_t)im.width * im.height, 3), *to = out;
    for (uint32_t y = 0; y < im.height; y++)
        for (uint32_t x = 0; x < im.width; x++, to += 3) {
            double rgba[4];
            texel_of(&im, (x + 0.5) / im.width, (y + 0.5) / im.height, rgba);
            double angle = atan2(2 * rgba[1] - 1, 2 * rgba[0] - 1) / (2 * M_PI) + turns;
            memset(to, byte_of(2 * angle - floor(2 * angle)), 3);
        }
    arena_free(&scratch);
    if (!make_texture(s, map, true, im.width, im.height, out, directions))
        return false;
    directions->nearest = 1;
    return true;
}

bool derive_roughness(struct source *s, const struct source_texture *map, double exponent,
                      struct source_texture *out)
{
    struct arena scratch = {0};
    struct image im;
    if (!read_map(s, map, &scratch, &im) || !take_texels(s, im.width, im.height)) {
        arena_free(&scratch);
        return false;
    }
    uint8_t *rgb = source_alloc(s, (size_t)im.width * im.height, 3), *to = rgb;
    for (uint32_t y = 0; y < im.height; y++)
        for (uint32_t x = 0; x < im.width; x++, to += 3) {
            double rgba[4];
            texel_of(&im, (x + 0.5) / im.width, (y + 0.5) / im.height, rgba);
            for (int c = 0; c < 3; c++)
                to[c] = byte_of(1 - sqrt(fmin(fmax(exponent * rgba[c], 0), 900)) / 30);
        }
    arena_free(&scratch);
    return make_texture(s, map, true, im.width, im.height, rgb, out);
}

bool derived_has_alpha(struct source *s, const struct source_texture *map)
{
    struct arena scratch = {0};
    struct image im;
    bool found = false;
    if (read_map(s, map, &scratch, &im) && im.channels == 4)
        for (size_t i = 0; i < (size_t)im.width * im.height && !found; i++)
            found = image_value(&im, 4 * i + 3, false) < 1;
    arena_free(&scratch);
    return found;
}

bool derived_has_normals(struct source *s, const struct source_texture *map)
{
    enum { SIDE = 64 }; /* a grid of samples is enough */
    struct arena scratch = {0};
    struct image im;
    int normals = 0;
    bool colored = read_map(s, map, &scratch, &im) && im.channels >= 3;
    for (int y = 0; y < SIDE && colored; y++)
        for (int x = 0; x < SIDE; x++) {
            double rgba[4], length = 0;
            texel_of(&im, (x + 0.5) / SIDE, (y + 0.5) / SIDE, rgba);
            for (int c = 0; c < 3; c++)
                length += (2 * rgba[c] - 1) * (2 * rgba[c] - 1);
            normals += rgba[2] > 0.5 && fabs(sqrt(length) - 1) < 0.1; /* 8 bits, and compression */
        }
    arena_free(&scratch);
    return normals > SIDE * SIDE * 9 / 10;
}
