/* SPDX-License-Identifier: Apache-2.0 */
#include "test_images.h"

#include <ImfCRgbaFile.h>
#include <cmocka.h>
#include <jpeglib.h>

struct arena arena;

int set_up(void **state)
{
    (void)state;
    arena = (struct arena){0};
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

void put(struct text *t, const void *data, size_t n) { text_append(t, data, n); }
void put_u8(struct text *t, unsigned v) { put(t, &(uint8_t){(uint8_t)v}, 1); }
void put_u32(struct text *t, uint32_t v) { put(t, &v, 4); }
void put_u64(struct text *t, uint64_t v) { put(t, &v, 8); }
void put_name(struct text *t, const char *s) { put(t, s, strlen(s) + 1); }

enum status read_text(const struct text *t, enum color_space space, struct image *im,
                      struct error *err)
{
    return image_read_memory_as(&arena, t->data, t->len, "test", space, im, err);
}

void expect_ok(enum status s, const struct error *err)
{
    if (s != STATUS_OK)
        fail_msg("%s: %s", status_name(s), err->msg);
}

void expect_failure(const struct text *t, enum status want, const char *words)
{
    struct image im = {.width = 12345};
    struct error err = {0};
    enum status s = read_text(t, COLOR_AUTO, &im, &err);
    if (s != want || !strstr(err.msg, words))
        fail_msg("got %s \"%s\", expected %s with \"%s\"", status_name(s), err.msg,
                 status_name(want), words);
    assert_int_equal(im.width, 12345); /* untouched */
}

float texel(const struct image *im, uint32_t x, uint32_t y, uint32_t c)
{
    size_t at = ((size_t)y * im->width + x) * im->channels + c;
    if (im->format == TEXEL_F32)
        return ((const float *)im->texels)[at];
    if (im->format == TEXEL_F16)
        return ImfHalfToFloat(((const uint16_t *)im->texels)[at]);
    assert_int_equal(im->format, TEXEL_U16);
    double v = ((const uint16_t *)im->texels)[at] / 65535.0;
    return (float)(im->srgb && c < 3 ? srgb_decode(v) : v);
}

unsigned byte(const struct image *im, uint32_t x, uint32_t y, uint32_t c)
{
    assert_int_equal(im->format, TEXEL_U8);
    return ((const uint8_t *)im->texels)[((size_t)y * im->width + x) * im->channels + c];
}

struct text jpeg_file(uint32_t width, uint32_t height, int components, bool progressive,
                      const uint8_t *color)
{
    struct jpeg_compress_struct j;
    struct jpeg_error_mgr e;
    unsigned char *out = NULL;
    unsigned long size = 0;
    j.err = jpeg_std_error(&e);
    jpeg_create_compress(&j);
    jpeg_mem_dest(&j, &out, &size);
    j.image_width = width;
    j.image_height = height;
    j.input_components = components;
    j.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&j);
    jpeg_set_quality(&j, 100, TRUE);
    if (progressive)
        jpeg_simple_progression(&j);
    jpeg_start_compress(&j, TRUE);
    uint8_t *row = malloc((size_t)width * (size_t)components);
    for (uint32_t x = 0; x < width; x++)
        memcpy(row + x * (size_t)components, color, (size_t)components);
    for (uint32_t y = 0; y < height; y++)
        jpeg_write_scanlines(&j, &row, 1);
    jpeg_finish_compress(&j);
    jpeg_destroy_compress(&j);
    struct text t = {0};
    put(&t, out, size);
    free(out);
    free(row);
    return t;
}

void png_to_text(png_structp png, png_bytep data, size_t n) { put(png_get_io_ptr(png), data, n); }

struct text png_file(uint32_t width, uint32_t height, int depth, int type, int interlace,
                     const uint8_t *rows, size_t row, bool transparency)
{
    struct text t = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &t, png_to_text, NULL);
    png_set_IHDR(png, info, width, height, depth, type, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    static const png_color palette[4] = {{10, 20, 30}, {200, 100, 0}, {0, 0, 255}, {255, 255, 255}};
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 4);
    static const png_byte alpha[2] = {128, 255};
    png_color_16 key = {.gray = 1, .red = 1, .green = 2, .blue = 3};
    if (transparency)
        png_set_tRNS(png, info, type == PNG_COLOR_TYPE_PALETTE ? alpha : NULL,
                     type == PNG_COLOR_TYPE_PALETTE ? 2 : 0, &key);
    png_write_info(png, info);
    png_bytep lines[16];
    for (uint32_t y = 0; y < height; y++)
        lines[y] = (png_bytep)(uintptr_t)(rows + y * row);
    png_write_image(png, lines);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return t;
}

uint8_t *picture_bytes(size_t row, size_t height)
{
    uint8_t *bytes = malloc(row * height);
    uint32_t random = 1;
    for (size_t i = 0; i < row * height; i++) {
        random = random * 1664525U + 1013904223U;
        double wave = 100 + 90 * sin((double)(i % row) / 71) * cos((double)(i / row) / 23);
        bytes[i] = (uint8_t)(wave + (double)(random >> 28));
    }
    return bytes;
}
