/* SPDX-License-Identifier: Apache-2.0 */
#include "model_derived.h"

#include <math.h>
#include <string.h>

#include "images/images.h"

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

/* A texture of the map's size: each texel is what `make` says of the map's, by k. */
static bool derive_texels(struct source *s, const struct source_texture *map, double k,
                          void (*make)(const double rgba[4], double k, uint8_t to[3]),
                          struct source_texture *out)
{
    struct image im;
    if (!read_map(s, map, &s->scratch, &im) || !take_texels(s, im.width, im.height)) {
        arena_free(&s->scratch);
        return false;
    }
    uint8_t *rgb = source_alloc(s, (size_t)im.width * im.height, 3), *to = rgb;
    for (uint32_t y = 0; y < im.height; y++)
        for (uint32_t x = 0; x < im.width; x++, to += 3) {
            double rgba[4];
            texel_of(&im, (x + 0.5) / im.width, (y + 0.5) / im.height, rgba);
            make(rgba, k, to);
        }
    arena_free(&s->scratch);
    return make_texture(s, map, true, im.width, im.height, rgb, out);
}

static void direction_texel(const double rgba[4], double turns, uint8_t to[3])
{
    double angle = atan2(2 * rgba[1] - 1, 2 * rgba[0] - 1) / (2 * M_PI) + turns;
    memset(to, byte_of(2 * angle - floor(2 * angle)), 3);
}

bool derive_directions(struct source *s, const struct source_texture *map, double turns,
                       struct source_texture *directions)
{
    if (!derive_texels(s, map, turns, direction_texel, directions))
        return false;
    directions->nearest = 1;
    return true;
}

static const double phong_most = 1000;

double phong_roughness(double exponent)
{
    return 1 - sqrt(fmin(fmax(exponent, 0), phong_most) / phong_most);
}

double phong_exponent(double roughness) { return phong_most * pow(1 - roughness, 2); }

static void roughness_texel(const double rgba[4], double exponent, uint8_t to[3])
{
    for (int c = 0; c < 3; c++)
        to[c] = byte_of(phong_roughness(exponent * rgba[c]));
}

bool derive_roughness(struct source *s, const struct source_texture *map, double exponent,
                      struct source_texture *out)
{
    return derive_texels(s, map, exponent, roughness_texel, out);
}

bool derived_has_alpha(struct source *s, const struct source_texture *map)
{
    struct image im;
    bool found = false;
    if (read_map(s, map, &s->scratch, &im) && im.channels == 4)
        for (size_t i = 0; i < (size_t)im.width * im.height && !found; i++)
            found = image_value(&im, 4 * i + 3, false) < 1;
    arena_free(&s->scratch);
    return found;
}

bool derived_has_normals(struct source *s, const struct source_texture *map)
{
    enum { SIDE = 64 }; /* a grid of samples is enough */
    struct image im;
    int normals = 0;
    bool colored = read_map(s, map, &s->scratch, &im) && im.channels >= 3;
    for (int y = 0; y < SIDE && colored; y++)
        for (int x = 0; x < SIDE; x++) {
            double rgba[4], length = 0;
            texel_of(&im, (x + 0.5) / SIDE, (y + 0.5) / SIDE, rgba);
            for (int c = 0; c < 3; c++)
                length += (2 * rgba[c] - 1) * (2 * rgba[c] - 1);
            normals += rgba[2] > 0.5 && fabs(sqrt(length) - 1) < 0.1; /* 8 bits, and compression */
        }
    arena_free(&s->scratch);
    return normals > SIDE * SIDE * 9 / 10;
}

/* ---- other coordinates ---------------------------------------------------------------------- */

int32_t derived_image(struct source *s, uint32_t width, uint32_t height, const uint8_t *bgra)
{
    enum { HEADER = 18 };
    uint64_t size = HEADER + (uint64_t)width * height * 4;
    unsigned char *file = source_alloc(s, size, 1); /* TGA: it holds them as they are */
    file[2] = 2;                                    /* true colour */
    file[12] = (unsigned char)width;
    file[13] = (unsigned char)(width >> 8);
    file[14] = (unsigned char)height;
    file[15] = (unsigned char)(height >> 8);
    file[16] = 32;
    file[17] = 0x28; /* 8 bits of alpha, the first row on top */
    memcpy(file + HEADER, bgra, size - HEADER);
    return source_image(s, file, size);
}

/* Which `from` each texel of a square over `to` has. */
struct canvas {
    uint32_t side;
    float (*from)[2];
    uint8_t *taken;        /* by how many passes */
    double tolerance[2];   /* up to which two `from` are the same */
    uint64_t left;         /* texels that may still be looked at */
    uint64_t drawn, twice; /* in the first pass */
};

enum { MARGIN = 2 }; /* texels around what is drawn: what interpolation reads at its edges */

static bool canvas_make(struct source *s, struct arena *a, uint32_t side, struct canvas *c)
{
    c->side = side;
    c->left = 4 * texels_max;
    if (!take_texels(s, side, side))
        return false;
    c->from = arena_alloc(a, (size_t)side * side, sizeof *c->from, 0);
    c->taken = arena_alloc(a, (size_t)side * side, 1, 0);
    return c->from && c->taken;
}

static void canvas_put(struct canvas *c, int64_t x, int64_t y, const double from[2], bool margin)
{
    int64_t n = c->side;
    size_t at = (size_t)((y % n + n) % n * n + (x % n + n) % n);
    if (c->taken[at]) {
        c->twice += !margin && (fabs((double)c->from[at][0] - from[0]) > c->tolerance[0] ||
                                fabs((double)c->from[at][1] - from[1]) > c->tolerance[1]);
        return;
    }
    c->taken[at] = 1;
    c->drawn += !margin;
    c->from[at][0] = (float)from[0];
    c->from[at][1] = (float)from[1];
}

/* The texels whose middle is inside, or within the margin about it; false if it is too large. */
static bool canvas_draw(struct canvas *c, const struct derived_triangle *t, bool margin)
{
    double p[3][2], lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY}, n = c->side;
    for (int k = 0; k < 3; k++) {
        p[k][0] = t->to[k][0] * n - 0.5;
        p[k][1] = (1 - t->to[k][1]) * n - 0.5;
        for (int i = 0; i < 2; i++) {
            lo[i] = fmin(lo[i], p[k][i]);
            hi[i] = fmax(hi[i], p[k][i]);
        }
    }
    double twice =
        (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    double grow = margin ? MARGIN : 0, slack[3];
    if (!(fabs(lo[0]) < 1e9 && fabs(lo[1]) < 1e9 && fabs(hi[0]) < 1e9 && fabs(hi[1]) < 1e9))
        return false;
    if (!(fabs(twice) > 1e-9))
        return true;
    double area = (hi[0] - lo[0] + 2 * grow + 1) * (hi[1] - lo[1] + 2 * grow + 1);
    if (area > (double)c->left)
        return false;
    c->left -= (uint64_t)area;
    for (int k = 0; k < 3; k++) { /* the share of corner k falls by 1 over the height */
        const double *a = p[(k + 1) % 3], *b = p[(k + 2) % 3];
        slack[k] = margin ? -grow * hypot(b[0] - a[0], b[1] - a[1]) / fabs(twice) : -1e-12;
    }
    for (int64_t y = (int64_t)floor(lo[1] - grow); (double)y <= hi[1] + grow; y++)
        for (int64_t x = (int64_t)floor(lo[0] - grow); (double)x <= hi[0] + grow; x++) {
            double w[3], from[2];
            for (int k = 0; k < 3; k++) {
                const double *a = p[(k + 1) % 3], *b = p[(k + 2) % 3];
                w[k] = ((a[0] - (double)x) * (b[1] - (double)y) -
                        (b[0] - (double)x) * (a[1] - (double)y)) /
                       twice;
            }
            if (w[0] < slack[0] || w[1] < slack[1] || w[2] < slack[2])
                continue;
            for (int i = 0; i < 2; i++)
                from[i] = w[0] * t->from[0][i] + w[1] * t->from[1][i] + w[2] * t->from[2][i];
            canvas_put(c, x, y, from, margin);
        }
    return true;
}

/* False where two places meet. */
static bool canvas_fill(struct canvas *c, const struct derived_triangle *triangles, size_t count,
                        bool margin)
{
    for (int pass = 0; pass <= margin; pass++)
        for (size_t i = 0; i < count; i++)
            if (!canvas_draw(c, &triangles[i], pass == 1) || c->twice > 64 + c->drawn / 50)
                return false;
    return c->twice <= c->drawn / 50;
}

bool derived_is_unique(struct source *s, const struct derived_triangle *triangles, size_t count)
{
    struct canvas c = {.tolerance = {1.0 / 256, 1.0 / 256}};
    bool ok = canvas_make(s, &s->scratch, 512, &c) && canvas_fill(&c, triangles, count, false);
    arena_free(&s->scratch);
    return ok;
}

/* Texels along a side that keep what the image shows, where it is larger than before. */
static uint32_t moved_side(const struct texture *t, const struct derived_triangle *triangles,
                           size_t count)
{
    double area[2] = {0, 0};
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            const double(*p)[2] = k ? triangles[i].to : triangles[i].from;
            area[k] += fabs((p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) -
                            (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]));
        }
    double texels = fabs((double)t->scale[0] * (double)t->scale[1]) * t->image.width *
                    t->image.height * area[0];
    return (uint32_t)source_clamp(ceil(2 * sqrt(texels / fmax(area[1], 1e-12))), 64, 4096);
}

static void moved_texels(const struct canvas *c, const struct texture *t, uint8_t *bgra)
{
    for (size_t i = 0; i < (size_t)c->side * c->side; i++, bgra += 4) {
        double rgba[4], uv[2] = {(double)c->from[i][0], (double)c->from[i][1]};
        if (!c->taken[i])
            continue;
        texture_value(t, uv, rgba);
        for (int k = 0; k < 3; k++)
            bgra[2 - k] = byte_of(t->image.srgb ? srgb_encode(rgba[k]) : rgba[k]);
        bgra[3] = byte_of(rgba[3]);
    }
}

bool derive_moved(struct source *s, const struct source_texture *map,
                  const struct derived_triangle *triangles, size_t count,
                  struct source_texture *out)
{
    struct texture t = {.wrap_u = map->wrap_u,
                        .wrap_v = map->wrap_v,
                        .filter = map->nearest ? FILTER_NEAREST : FILTER_BILINEAR};
    struct canvas c = {0};
    double r = map->rotation * (M_PI / 180);
    for (int i = 0; i < 2; i++) {
        t.scale[i] = map->scale[i] == 0 ? 1 : (float)map->scale[i];
        t.offset[i] = (float)map->offset[i];
    }
    t.turn[0] = r == 0 ? 0 : (float)cos(r);
    t.turn[1] = r == 0 ? 0 : (float)sin(r);
    bool ok = read_map(s, map, &s->scratch, &t.image);
    c.tolerance[0] = ok ? 2 / (fabs((double)t.scale[0]) * t.image.width) : 0;
    c.tolerance[1] = ok ? 2 / (fabs((double)t.scale[1]) * t.image.height) : 0;
    ok = ok && canvas_make(s, &s->scratch, moved_side(&t, triangles, count), &c) &&
         canvas_fill(&c, triangles, count, true);
    if (ok) {
        uint8_t *bgra = source_alloc(s, (size_t)c.side * c.side, 4);
        moved_texels(&c, &t, bgra);
        memset(out, 0, sizeof *out);
        out->image = derived_image(s, c.side, c.side, bgra);
        out->data = !t.image.srgb;
    }
    arena_free(&s->scratch);
    return ok;
}
