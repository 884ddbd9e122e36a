/* SPDX-License-Identifier: Apache-2.0 */
/* PNG through libpng. */
#include "images.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

bool png_recognise(const unsigned char *data, size_t size)
{
    return size >= 8 && png_sig_cmp(data, 0, 8) == 0;
}

struct png_session {
    const struct image_source *source; /* reading */
    size_t at;
    struct text *sink; /* writing */
    jmp_buf failed;
    char complaint[160];
};

static void on_error(png_structp png, png_const_charp message)
{
    struct png_session *p = png_get_error_ptr(png);
    snprintf(p->complaint, sizeof p->complaint, "%s", message);
    longjmp(p->failed, 1); // NOLINT(cert-err52-cpp): libpng's way out
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void on_read(png_structp png, png_bytep to, size_t n)
{
    struct png_session *p = png_get_io_ptr(png);
    if (n > p->source->size - p->at)
        png_error(png, "the file is cut off");
    memcpy(to, p->source->data + p->at, n);
    p->at += n;
}

/* Everything becomes gray (1), RGB (3) or RGBA (4) of 8 or 16 bits, but a palette's indices. */
static void ask_for_plain_pixels(png_structp png, png_infop info)
{
    png_byte type = png_get_color_type(png, info);
    bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_packing(png); /* 8 bits each */
    if (type == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png, info) < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    if (transparent && type != PNG_COLOR_TYPE_PALETTE)
        png_set_tRNS_to_alpha(png);
    if (type == PNG_COLOR_TYPE_GRAY_ALPHA || (type == PNG_COLOR_TYPE_GRAY && transparent))
        png_set_gray_to_rgb(png);
    png_set_swap(png); /* 16 bits: least byte first, as here */
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* Colours of the indices. libpng, as Pillow and Blender, takes those beyond the palette for black;
 * they are errors of the file (PNG, "PLTE"), as in BMP and TGA. */
__attribute__((noinline)) /* setjmp is in its caller */ static enum status
put_palette(const struct image_source *s, png_structp png, png_infop info, const uint8_t *index,
            struct image *im)
{
    png_colorp palette = NULL;
    png_bytep alpha = NULL;
    int colors = 0, alphas = 0;
    uint8_t rgba[256][4], *to = im->texels;
    png_get_PLTE(png, info, &palette, &colors);
    png_get_tRNS(png, info, &alpha, &alphas, NULL);
    for (int i = 0; i < colors; i++) {
        const uint8_t c[4] = {palette[i].red, palette[i].green, palette[i].blue,
                              i < alphas ? alpha[i] : 255};
        memcpy(rgba[i], c, sizeof c);
    }
    for (size_t i = 0; i < (size_t)im->width * im->height; i++, to += im->channels) {
        if (index[i] >= colors)
            return image_fault(s, STATUS_PARSE, "a texel has colour %d, none of the palette's %d",
                               index[i], colors);
        memcpy(to, rgba[index[i]], im->channels);
    }
    return STATUS_OK;
}

/* What setjmp may not lose: lives in the caller's frame. */
struct png_work {
    struct image image;
    png_bytep *rows;
    struct arena scratch;
    enum status status;
};

static void read_with(png_structp png, png_infop info, struct png_session *p, struct png_work *w)
{
    const struct image_source *s = p->source;
    png_set_read_fn(png, p, on_read);
    png_set_user_limits(png, INT32_MAX, INT32_MAX); /* ours say what was expected */
    png_set_chunk_cache_max(png, 128);
    png_set_chunk_malloc_max(png, 8 << 20);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
    png_set_option(png, PNG_IGNORE_ADLER32, PNG_OPTION_ON); /* the chunks' sums are of the same */
    png_read_info(png, info);
    uint32_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    w->status = image_check_size(s, width, height);
    if (w->status != STATUS_OK)
        return;
    ask_for_plain_pixels(png, info);
    bool indexed = png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE;
    uint32_t channels = !indexed                                  ? png_get_channels(png, info)
                        : png_get_valid(png, info, PNG_INFO_tRNS) ? 4
                                                                  : 3;
    bool deep = png_get_bit_depth(png, info) == 16;
    w->status = image_allocate(s, width, height, channels, deep ? TEXEL_U16 : TEXEL_U8, &w->image);
    if (w->status != STATUS_OK)
        return;
    size_t row = png_get_rowbytes(png, info);
    uint8_t *to = w->image.texels;
    if (indexed)
        to = ARENA_ARRAY(&w->scratch, uint8_t, row * height);
    w->rows = ARENA_ARRAY(&w->scratch, png_bytep, height);
    if (!to || !w->rows) {
        w->status = image_fault(s, STATUS_MEMORY, "out of memory");
        return;
    }
    for (uint32_t y = 0; y < height; y++)
        w->rows[y] = to + y * row;
    png_read_image(png, w->rows);
    png_read_end(png, NULL);
    if (indexed)
        w->status = put_palette(s, png, info, to, &w->image);
    w->image.srgb = true;
}

enum status png_read(const struct image_source *s, struct image *out)
{
    struct png_session p = {.source = s};
    struct png_work w = {.status = STATUS_PARSE};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &p, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info)
        w.status = image_fault(s, STATUS_MEMORY, "out of memory");
    else if (setjmp(p.failed) == 0) // NOLINT(cert-err52-cpp)
        read_with(png, info, &p, &w);
    else
        w.status = image_fault(s, STATUS_PARSE, "%s, expected a whole PNG file", p.complaint);
    png_destroy_read_struct(&png, &info, NULL);
    arena_free(&w.scratch);
    if (w.status == STATUS_OK)
        *out = w.image;
    return w.status;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void on_write(png_structp png, png_bytep from, size_t n)
{
    struct png_session *p = png_get_io_ptr(png);
    text_append(p->sink, (const char *)from, n);
    if (p->sink->failed)
        png_error(png, "out of memory");
}

static void on_flush(png_structp png) { (void)png; }

static void write_with(png_structp png, png_infop info, struct png_session *p, uint32_t width,
                       uint32_t height, const uint8_t *rgb, const char *const *attributes)
{
    png_set_write_fn(png, p, on_write, on_flush);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_RELATIVE);
    for (size_t i = 0; attributes && attributes[i]; i += 2) {
        const png_text text = {.compression = PNG_ITXT_COMPRESSION_NONE, /* UTF-8 */
                               .key = (char *)attributes[i],
                               .text = (char *)attributes[i + 1]};
        png_set_text(png, info, &text, 1);
    }
    png_write_info(png, info);
    for (uint32_t y = 0; y < height; y++)
        png_write_row(png, rgb + (size_t)y * width * 3);
    png_write_end(png, info);
}

enum status image_encode_png_with(struct arena *a, uint32_t width, uint32_t height,
                                  const uint8_t *rgb, const char *const *attributes,
                                  const uint8_t **png_out, size_t *size, struct error *err)
{
    if (width == 0 || height == 0 || width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX)
        return error_msg(err, STATUS_ARG, "a PNG of %ux%u pixels, expected 1 to %d a side", width,
                         height, IMAGE_SIDE_MAX);
    struct text sink = {0};
    struct png_session p = {.sink = &sink};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &p, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    enum status s = STATUS_MEMORY;
    if (info && setjmp(p.failed) == 0) { // NOLINT(cert-err52-cpp)
        write_with(png, info, &p, width, height, rgb, attributes);
        s = STATUS_OK;
    }
    png_destroy_write_struct(&png, &info);
    uint8_t *copy = s == STATUS_OK ? arena_alloc(a, sink.len, 1, 1) : NULL;
    if (copy) {
        memcpy(copy, sink.data, sink.len);
        *png_out = copy;
        *size = sink.len;
    } else {
        s = error_msg(err, STATUS_MEMORY, "out of memory for a PNG of %ux%u pixels", width, height);
    }
    text_free(&sink);
    return s;
}

enum status image_encode_png(struct arena *a, uint32_t width, uint32_t height, const uint8_t *rgb,
                             const uint8_t **png, size_t *size, struct error *err)
{
    return image_encode_png_with(a, width, height, rgb, NULL, png, size, err);
}
