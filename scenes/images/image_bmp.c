/* SPDX-License-Identifier: Apache-2.0 */
/* BMP of Windows and OS/2 (Microsoft, "Bitmap Storage": BITMAPCOREHEADER to BITMAPV5HEADER): 1 to 8
 * bits with a palette, plain and run-length encoded, 16 to 32 bits, with masks; rows of both
 * orders. The fourth byte of 32 bits is alpha only where a mask says so. */
#include "images.h"

#include <string.h>

enum { FILE_HEADER = 14, CORE_HEADER = 12, INFO_HEADER = 40, OS2_HEADER = 64, MASKS_AT = 40 };
enum { PLAIN = 0, RLE8 = 1, RLE4 = 2, MASKS = 3, JPEG = 4, PNG = 5, ALPHA_MASKS = 6 };

struct bmp {
    const struct image_source *s;
    uint32_t header, width, height, bits, kind;
    bool top_first;
    uint32_t mask[4];             /* R, G, B, A; 0: none */
    const unsigned char *palette; /* B, G, R */
    uint32_t colors, color_size;
    size_t at; /* of the texels */
};

bool bmp_recognise(const unsigned char *data, size_t size)
{
    return size >= 2 && data[0] == 'B' && data[1] == 'M';
}

static enum status ends_early(const struct bmp *b, const char *where)
{
    return image_fault(b->s, STATUS_PARSE, "the file ends inside %s", where);
}

/* Bits that follow each other, of those that a texel has. */
static bool is_mask(uint32_t m, uint32_t bits)
{
    uint32_t low = m & (0 - m);
    return (bits == 32 || m >> bits == 0) && ((m + low) & m) == 0;
}

static enum status read_masks(struct bmp *b, const unsigned char *p, size_t size)
{
    static const uint32_t plain16[4] = {0x7c00, 0x3e0, 0x1f, 0},
                          plain32[4] = {0xff0000, 0xff00, 0xff, 0};
    memcpy(b->mask, b->bits == 16 ? plain16 : plain32, sizeof b->mask);
    if (b->kind != MASKS && b->kind != ALPHA_MASKS)
        return STATUS_OK;
    if (b->bits != 16 && b->bits != 32)
        return image_fault(b->s, STATUS_PARSE, "it has masks for texels of %u bits", b->bits);
    bool alpha = b->header >= INFO_HEADER + 16 || b->kind == ALPHA_MASKS;
    if (size < MASKS_AT + (alpha ? 16 : 12))
        return ends_early(b, "its header");
    for (unsigned k = 0; k < (alpha ? 4 : 3); k++) {
        b->mask[k] = little32(p + MASKS_AT + (size_t)4 * k);
        if (!is_mask(b->mask[k], b->bits) || (k < 3 && b->mask[k] == 0))
            return image_fault(b->s, STATUS_PARSE, "its mask %#x is none of %u bits", b->mask[k],
                               b->bits);
    }
    return STATUS_OK;
}

static enum status check_kind(const struct bmp *b)
{
    static const char *const names[] = {"", "", "", "", "JPEG", "PNG"};
    bool core = b->header == CORE_HEADER;
    if (b->kind == JPEG || b->kind == PNG)
        return image_fault(b->s, STATUS_UNSUPPORTED, "its texels are a %s file", names[b->kind]);
    if (b->kind > ALPHA_MASKS || (b->header == OS2_HEADER && b->kind > RLE4))
        return image_fault(b->s, STATUS_UNSUPPORTED, "its compression %u is not known", b->kind);
    bool palette = b->bits == 1 || b->bits == 2 || b->bits == 4 || b->bits == 8;
    if (!palette && b->bits != 24 && (core || (b->bits != 16 && b->bits != 32)))
        return image_fault(b->s, STATUS_TYPE, "it has %u bits a texel", b->bits);
    if ((b->kind == RLE8 && b->bits != 8) || (b->kind == RLE4 && b->bits != 4))
        return image_fault(b->s, STATUS_PARSE, "run-length encoded texels of %u bits", b->bits);
    return STATUS_OK;
}

static enum status read_header(struct bmp *b)
{
    const struct image_source *s = b->s;
    if (s->size < FILE_HEADER + CORE_HEADER)
        return ends_early(b, "its header");
    const unsigned char *p = s->data + FILE_HEADER;
    size_t left = s->size - FILE_HEADER;
    bool core = (b->header = little32(p)) == CORE_HEADER;
    if (!core && (b->header < INFO_HEADER || b->header > 124))
        return image_fault(s, STATUS_PARSE, "its header has %u bytes, expected 12 or 40 to 124",
                           b->header);
    if (left < b->header)
        return ends_early(b, "its header");
    uint32_t height = core ? little16(p + 6) : little32(p + 8);
    b->top_first = height >> 31;
    b->width = core ? little16(p + 4) : little32(p + 4);
    b->height = b->top_first ? 0 - height : height;
    b->bits = little16(p + (core ? 10 : 14));
    b->kind = core ? PLAIN : little32(p + 16);
    b->at = little32(s->data + 10);
    enum status status = check_kind(b);
    if (status == STATUS_OK)
        status = read_masks(b, p, left);
    if (status != STATUS_OK || b->bits > 8)
        return status;
    b->color_size = core ? 3 : 4;
    b->colors = core ? 0 : little32(p + 32);
    if (b->colors == 0 || b->colors > 1U << b->bits)
        b->colors = 1U << b->bits;
    b->palette = p + b->header;
    return (left - b->header) / b->color_size < b->colors ? ends_early(b, "its palette")
                                                          : STATUS_OK;
}

/* ---- texels --------------------------------------------------------------------------------- */

static unsigned char masked(uint32_t texel, uint32_t mask)
{
    uint64_t low = mask & (0 - mask), most = mask / low;
    return (unsigned char)(((texel & mask) / low * 255 + most / 2) / most);
}

static unsigned char *row_of(const struct bmp *b, const struct image *im, uint32_t y)
{
    uint32_t row = b->top_first ? y : b->height - 1 - y;
    return (unsigned char *)im->texels + (size_t)row * b->width * im->channels;
}

/* False if the palette has no such colour. */
static bool put_color(const struct bmp *b, unsigned index, unsigned char *to)
{
    if (index >= b->colors)
        return false;
    const unsigned char *c = b->palette + (size_t)index * b->color_size;
    for (int k = 0; k < 3; k++)
        to[k] = c[2 - k];
    return true;
}

static enum status bad_color(const struct bmp *b)
{
    return image_fault(b->s, STATUS_PARSE, "a texel's colour is none of the palette's %u",
                       b->colors);
}

static enum status read_rows(const struct bmp *b, const struct image *im)
{
    size_t stride = ((size_t)b->width * b->bits + 31) / 32 * 4;
    for (uint32_t y = 0; y < b->height; y++) {
        const unsigned char *in = b->s->data + b->at + y * stride;
        unsigned char *to = row_of(b, im, y);
        for (uint32_t x = 0; x < b->width; x++, to += im->channels) {
            if (b->bits <= 8) {
                size_t bit = (size_t)x * b->bits;
                unsigned v = (unsigned)in[bit / 8] >> (8 - b->bits - bit % 8);
                if (!put_color(b, v & ((1U << b->bits) - 1), to))
                    return bad_color(b);
            } else if (b->bits == 24) {
                for (size_t k = 0; k < 3; k++)
                    to[k] = in[3 * (size_t)x + 2 - k];
            } else {
                uint32_t v =
                    b->bits == 16 ? little16(in + 2 * (size_t)x) : little32(in + 4 * (size_t)x);
                for (uint32_t k = 0; k < im->channels; k++)
                    to[k] = masked(v, b->mask[k]);
            }
        }
    }
    return STATUS_OK;
}

/* `count` texels from (x, y) on: of one number, or of those packed at `in`. */
static enum status put_run(const struct bmp *b, const struct image *im, uint32_t x, uint32_t y,
                           uint32_t count, const unsigned char *in, const unsigned *one)
{
    bool four = b->kind == RLE4;
    if (y >= b->height || count > b->width - x)
        return image_fault(b->s, STATUS_PARSE, "a run of texels goes beyond the image");
    for (uint32_t i = 0; i < count; i++, x++) {
        unsigned v = one ? *one : in[four ? i / 2 : i];
        v = !four ? v : i & 1 ? v & 15 : v >> 4;
        if (!put_color(b, v, row_of(b, im, y) + (size_t)x * im->channels))
            return bad_color(b);
    }
    return STATUS_OK;
}

/* Pairs of bytes: a run of so many texels; 0 and 0: the row ends, 1: the picture, 2: so far to the
 * right and up, 3 and more: so many texels, of whole words. Texels that none of it says have the
 * first colour. */
static enum status read_runs(const struct bmp *b, const struct image *im)
{
    const unsigned char *in = b->s->data + b->at, *end = b->s->data + b->s->size;
    uint32_t x = 0, y = 0;
    for (uint32_t row = 0; row < b->height; row++)
        for (uint32_t i = 0; i < b->width; i++)
            if (!put_color(b, 0, row_of(b, im, row) + (size_t)i * im->channels))
                return bad_color(b);
    while (end - in >= 2) {
        unsigned count = in[0], what = in[1];
        in += 2;
        if (count != 0) {
            TRY(put_run(b, im, x, y, count, NULL, &what));
            x += count;
        } else if (what == 0) { /* the row's end */
            x = 0;
            y++;
        } else if (what == 1) { /* the picture's end */
            return STATUS_OK;
        } else if (what == 2) { /* a step */
            if (end - in < 2)
                break;
            x += in[0];
            y += in[1];
            in += 2;
            if (x > b->width || y > b->height)
                return image_fault(b->s, STATUS_PARSE, "a run of texels goes beyond the image");
        } else {
            size_t bytes = b->kind == RLE4 ? (what + 3) / 4 * 2 : (what + 1) / 2 * 2;
            if ((size_t)(end - in) < bytes)
                break;
            TRY(put_run(b, im, x, y, what, in, NULL));
            x += what;
            in += bytes;
        }
    }
    return ends_early(b, "the texels");
}

enum status bmp_read(const struct image_source *s, struct image *out)
{
    struct bmp b = {.s = s};
    enum status status = read_header(&b);
    if (status == STATUS_OK)
        status = image_check_size(s, b.width, b.height);
    if (status != STATUS_OK)
        return status;
    bool runs = b.kind == RLE8 || b.kind == RLE4;
    /* Four bytes skip 255 x 255 texels at most: no memory for what cannot be there. */
    uint64_t stride = ((uint64_t)b.width * b.bits + 31) / 32 * 4,
             left = b.at > s->size ? 0 : s->size - b.at;
    if (runs ? (uint64_t)b.width * b.height > left * (255 * 255 / 4) : b.height * stride > left)
        return ends_early(&b, "the texels");
    struct image im;
    status = image_allocate(s, b.width, b.height, b.bits > 8 && b.mask[3] ? 4 : 3, TEXEL_U8, &im);
    if (status == STATUS_OK)
        status = runs ? read_runs(&b, &im) : read_rows(&b, &im);
    if (status != STATUS_OK)
        return status;
    im.srgb = true;
    *out = im;
    return STATUS_OK;
}
