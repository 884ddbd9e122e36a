/* SPDX-License-Identifier: Apache-2.0 */
/* Truevision TGA ("Truevision TGA File Format Specification", version 2.0, 1991): colour-mapped,
 * true colour and gray, plain and run-length encoded, all four origins. The extension area of
 * version 2 is not read. */
#include "images.h"

#include <string.h>

enum { HEADER_SIZE = 18 };
enum { KIND_MAPPED = 1, KIND_COLOR = 2, KIND_GRAY = 3, KIND_RLE = 8 };

struct tga {
    unsigned kind; /* without KIND_RLE */
    bool rle, right_to_left, top_first, has_map;
    unsigned id_size, map_first, map_count, map_bits, width, height, bits, alpha_bits;
};

/* The format has no magic number: false when the header cannot be one. */
static bool read_header(const unsigned char *p, size_t size, struct tga *t)
{
    if (size < HEADER_SIZE)
        return false;
    *t = (struct tga){.kind = p[2] & ~(unsigned)KIND_RLE,
                      .rle = (p[2] & KIND_RLE) != 0,
                      .id_size = p[0],
                      .has_map = p[1] == 1,
                      .map_first = little16(p + 3),
                      .map_count = little16(p + 5),
                      .map_bits = p[7],
                      .width = little16(p + 12),
                      .height = little16(p + 14),
                      .bits = p[16],
                      .alpha_bits = p[17] & 15,
                      .right_to_left = (p[17] & 16) != 0,
                      .top_first = (p[17] & 32) != 0};
    bool color_bits = t->bits == 15 || t->bits == 16 || t->bits == 24 || t->bits == 32;
    bool map_bits =
        t->map_bits == 15 || t->map_bits == 16 || t->map_bits == 24 || t->map_bits == 32;
    if (p[1] > 1 || p[17] >> 6 || (t->has_map && !map_bits))
        return false;
    if (t->kind == KIND_MAPPED)
        return t->has_map && (t->bits == 8 || t->bits == 16);
    return t->kind == KIND_COLOR ? color_bits
                                 : t->kind == KIND_GRAY && (t->bits == 8 || t->bits == 16);
}

bool tga_recognise(const unsigned char *data, size_t size)
{
    struct tga t;
    return read_header(data, size, &t);
}

/* Five bits to eight, rounded. */
static unsigned char widened(unsigned v) { return (unsigned char)((v * 255 + 15) / 31); }

/* One colour of 15, 16, 24 or 32 bits as R, G, B, A. */
static void read_color(const unsigned char *p, unsigned bits, unsigned char out[4])
{
    if (bits <= 16) {
        unsigned w = little16(p);
        out[0] = widened(w >> 10 & 31);
        out[1] = widened(w >> 5 & 31);
        out[2] = widened(w & 31);
        out[3] = w >> 15 ? 255 : 0;
        return;
    }
    out[0] = p[2];
    out[1] = p[1];
    out[2] = p[0];
    out[3] = bits == 32 ? p[3] : 255;
}

struct decoding {
    const struct image_source *s;
    const struct tga *t;
    const unsigned char *map; /* its entries */
    size_t at;                /* next byte */
    unsigned channels;
};

/* The texel at the next bytes into `channels` bytes. */
static enum status read_texel(struct decoding *d, unsigned char *to)
{
    const struct tga *t = d->t;
    size_t bytes = (t->bits + 7) / 8;
    if (d->s->size - d->at < bytes)
        return image_fault(d->s, STATUS_PARSE, "the file ends inside the texels");
    const unsigned char *p = d->s->data + d->at;
    d->at += bytes;
    unsigned char rgba[4];
    if (t->kind == KIND_GRAY) {
        rgba[0] = rgba[1] = rgba[2] = p[0];
        rgba[3] = t->bits == 16 ? p[1] : 255;
    } else if (t->kind == KIND_COLOR) {
        read_color(p, t->bits, rgba);
    } else {
        unsigned i = t->bits == 8 ? p[0] : little16(p);
        if (i < t->map_first || i - t->map_first >= t->map_count)
            return image_fault(d->s, STATUS_PARSE,
                               "a texel has colour %u, expected one of the map's, %u to %u", i,
                               t->map_first, t->map_first + t->map_count - 1);
        read_color(d->map + (size_t)(i - t->map_first) * ((t->map_bits + 7) / 8), t->map_bits,
                   rgba);
    }
    memcpy(to, rgba, d->channels);
    return STATUS_OK;
}

/* `count` texels of 24 or 32 bits that are there. */
static void read_bytes(struct decoding *d, unsigned char *to, size_t count)
{
    const unsigned char *p = d->s->data + d->at;
    size_t from = d->t->bits / 8, n = d->channels;
    for (size_t i = 0; i < count; i++, p += from, to += n) {
        to[0] = p[2];
        to[1] = p[1];
        to[2] = p[0];
        if (n == 4)
            to[3] = p[3];
    }
    d->at += count * from;
}

/* Texels in the file's order; packets may run over the ends of rows. */
static enum status read_texels(struct decoding *d, unsigned char *to)
{
    size_t count = (size_t)d->t->width * d->t->height, n = d->channels;
    enum status s = STATUS_OK;
    bool plain = d->t->kind == KIND_COLOR && d->t->bits >= 24;
    if (!d->t->rle && plain && count <= (d->s->size - d->at) / (d->t->bits / 8)) {
        read_bytes(d, to, count);
        return STATUS_OK;
    }
    if (!d->t->rle) {
        for (size_t i = 0; i < count && s == STATUS_OK; i++)
            s = read_texel(d, to + i * n);
        return s;
    }
    for (size_t i = 0; i < count;) {
        if (d->at >= d->s->size)
            return image_fault(d->s, STATUS_PARSE, "the file ends inside the texels");
        unsigned packet = d->s->data[d->at++];
        size_t run = (packet & 127) + 1;
        if (run > count - i)
            return image_fault(d->s, STATUS_PARSE, "a run of texels goes beyond the image");
        if ((s = read_texel(d, to + i * n)) != STATUS_OK)
            return s;
        for (size_t k = 1; k < run; k++)
            if (packet & 128)
                memcpy(to + (i + k) * n, to + i * n, n);
            else if ((s = read_texel(d, to + (i + k) * n)) != STATUS_OK)
                return s;
        i += run;
    }
    return s;
}

static void turn_rows(unsigned char *texels, size_t width, size_t height, size_t n,
                      bool right_to_left, bool top_first)
{
    unsigned char keep[4];
    for (size_t y = 0; y < height / 2 && !top_first; y++) {
        unsigned char *a = texels + y * width * n, *b = texels + (height - 1 - y) * width * n;
        for (size_t i = 0; i < width * n; i++) {
            keep[0] = a[i];
            a[i] = b[i];
            b[i] = keep[0];
        }
    }
    for (size_t y = 0; y < height && right_to_left; y++)
        for (size_t x = 0; x < width / 2; x++) {
            unsigned char *a = texels + (y * width + x) * n,
                          *b = texels + (y * width + width - 1 - x) * n;
            memcpy(keep, a, n);
            memcpy(a, b, n);
            memcpy(b, keep, n);
        }
}

/* Bits of alpha that count: those that the header says are there. */
static bool has_alpha(const struct tga *t)
{
    unsigned bits = t->kind == KIND_MAPPED ? t->map_bits : t->bits;
    if (t->kind == KIND_GRAY)
        return bits == 16 && t->alpha_bits;
    return (bits == 16 || bits == 32) && t->alpha_bits;
}

enum status tga_read(const struct image_source *s, struct image *out)
{
    struct tga t;
    if (!read_header(s->data, s->size, &t))
        return image_fault(s, STATUS_PARSE, "its header is damaged, expected that of a TGA file");
    size_t map_at = HEADER_SIZE + t.id_size,
           texels_at = map_at + (t.has_map ? (size_t)t.map_count * ((t.map_bits + 7) / 8) : 0);
    if (texels_at > s->size)
        return image_fault(s, STATUS_PARSE, "the file ends inside its header");
    unsigned channels = has_alpha(&t) ? 4 : t.kind == KIND_GRAY ? 1 : 3;
    /* A run of 128 texels takes two bytes at least: no memory for what cannot be there. */
    uint64_t most = (uint64_t)(s->size - texels_at) * (t.rle ? 64 : 1);
    enum status st = image_check_size(s, t.width, t.height);
    if (st == STATUS_OK && (uint64_t)t.width * t.height > most)
        st = image_fault(s, STATUS_PARSE, "the file ends inside the texels");
    if (st != STATUS_OK)
        return st;
    struct image im;
    if ((st = image_allocate(s, t.width, t.height, channels, TEXEL_U8, &im)) != STATUS_OK)
        return st;
    struct decoding d = {
        .s = s, .t = &t, .map = s->data + map_at, .at = texels_at, .channels = channels};
    if ((st = read_texels(&d, im.texels)) != STATUS_OK)
        return st;
    turn_rows(im.texels, t.width, t.height, channels, t.right_to_left, t.top_first);
    im.srgb = true;
    *out = im;
    return STATUS_OK;
}
