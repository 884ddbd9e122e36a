/* Image readers and writers against files that this test builds byte by byte, or that libpng,
 * libjpeg and libtiff encode from known values. */
#define _GNU_SOURCE /* memmem */
#include "image_format.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ImfCRgbaFile.h>
#include <cmocka.h>
#include <jpeglib.h>
#include <png.h>
#include <tiffio.h>

/* ---- helpers -------------------------------------------------------------------------------- */

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena = (struct arena){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void put(struct text *t, const void *data, size_t n) { text_append(t, data, n); }
static void put_u8(struct text *t, unsigned v) { put(t, &(uint8_t){(uint8_t)v}, 1); }
static void put_u32(struct text *t, uint32_t v) { put(t, &v, 4); }
static void put_u64(struct text *t, uint64_t v) { put(t, &v, 8); }
static void put_name(struct text *t, const char *s) { put(t, s, strlen(s) + 1); }

static enum status read_text(const struct text *t, enum color_space space, struct image *im,
                             struct error *err)
{
    return image_read_memory_as(&arena, t->data, t->len, "test", space, im, err);
}

static void expect_ok(enum status s, const struct error *err)
{
    if (s != STATUS_OK)
        fail_msg("%s: %s", status_name(s), err->msg);
}

static void expect_failure(const struct text *t, enum status want, const char *words)
{
    struct image im = {.width = 12345};
    struct error err = {0};
    enum status s = read_text(t, COLOR_AUTO, &im, &err);
    if (s != want || !strstr(err.msg, words))
        fail_msg("got %s \"%s\", expected %s with \"%s\"", status_name(s), err.msg,
                 status_name(want), words);
    assert_int_equal(im.width, 12345); /* untouched */
}

static float texel(const struct image *im, uint32_t x, uint32_t y, uint32_t c)
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

static unsigned byte(const struct image *im, uint32_t x, uint32_t y, uint32_t c)
{
    assert_int_equal(im->format, TEXEL_U8);
    return ((const uint8_t *)im->texels)[((size_t)y * im->width + x) * im->channels + c];
}

/* ---- sRGB ----------------------------------------------------------------------------------- */

static void test_srgb(void **state)
{
    (void)state;
    /* IEC 61966-2-1, computed by hand at 30 digits */
    assert_true(fabs(srgb_decode(0.5) - 0.214041140482232) < 1e-14);
    assert_true(fabs(srgb_decode(0.04) - 0.04 / 12.92) < 1e-16);
    assert_true(fabs(srgb_encode(0.18) - 0.461356129500442) < 1e-14);
    assert_true(srgb_encode(0) == 0 && srgb_decode(0) == 0);
    assert_true(fabs(srgb_encode(1) - 1) <= 0x1p-52 && fabs(srgb_decode(1) - 1) <= 0x1p-52);
    for (int i = 0; i <= 255; i++)
        assert_int_equal((int)(srgb_encode(srgb_decode(i / 255.0)) * 255 + 0.5), i);
}

/* ---- EXR ------------------------------------------------------------------------------------ */

enum { EXR_UINT, EXR_HALF, EXR_FLOAT };

struct exr_channel {
    const char *name;
    int type, sampling;
};

/* Half floats used below, exact: 0, 0.5, 1, 1.5, 2, 3, 65504. */
static uint16_t half_of(float v)
{
    static const struct {
        float v;
        uint16_t h;
    } table[] = {{0, 0},      {0.5F, 0x3800},  {1, 0x3c00},  {1.5F, 0x3e00},         {2, 0x4000},
                 {3, 0x4200}, {65504, 0x7bff}, {-1, 0xbc00}, {0.000000059604645F, 1}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].v == v)
            return table[i].h;
    fail_msg("no half for %g", (double)v);
    return 0;
}

static void exr_attribute(struct text *t, const char *name, const char *type, uint32_t size)
{
    put_name(t, name);
    put_name(t, type);
    put_u32(t, size);
}

static void exr_head(struct text *t, const struct exr_channel *ch, size_t n,
                     const int32_t window[4], uint32_t tile)
{
    put_u32(t, 20000630);
    put_u32(t, tile ? 0x202 : 2);
    uint32_t size = 1;
    for (size_t i = 0; i < n; i++)
        size += (uint32_t)strlen(ch[i].name) + 17;
    exr_attribute(t, "channels", "chlist", size);
    for (size_t i = 0; i < n; i++) {
        put_name(t, ch[i].name);
        put_u32(t, (uint32_t)ch[i].type);
        put_u32(t, 0);
        put_u32(t, (uint32_t)ch[i].sampling);
        put_u32(t, (uint32_t)ch[i].sampling);
    }
    put_u8(t, 0);
    exr_attribute(t, "compression", "compression", 1);
    put_u8(t, 0);
    exr_attribute(t, "dataWindow", "box2i", 16);
    put(t, window, 16);
    exr_attribute(t, "displayWindow", "box2i", 16);
    put(t, window, 16);
    exr_attribute(t, "lineOrder", "lineOrder", 1);
    put_u8(t, 0);
    exr_attribute(t, "pixelAspectRatio", "float", 4);
    put(t, &(float){1}, 4);
    exr_attribute(t, "screenWindowCenter", "v2f", 8);
    put_u64(t, 0);
    exr_attribute(t, "screenWindowWidth", "float", 4);
    put(t, &(float){1}, 4);
    if (tile) {
        exr_attribute(t, "tiles", "tiledesc", 9);
        put_u32(t, tile);
        put_u32(t, tile);
        put_u8(t, 0);
    }
    put_u8(t, 0);
}

/* Value of channel c at (x, y) of the pictures below: exact in half. */
static float exr_value(uint32_t x, uint32_t y, size_t c)
{
    static const float values[] = {0, 0.5F, 1, 1.5F, 2, 3, 65504};
    return values[(x + 2 * y + 3 * c) % 7];
}

static void exr_row(struct text *t, const struct exr_channel *ch, size_t n, uint32_t x0,
                    uint32_t x1, uint32_t y)
{
    for (size_t c = 0; c < n; c++)
        for (uint32_t x = x0; x < x1; x++) {
            float v = exr_value(x, y, c);
            uint16_t h;
            if (ch[c].type == EXR_HALF)
                h = half_of(v), put(t, &h, 2);
            else if (ch[c].type == EXR_FLOAT)
                put(t, &v, 4);
            else
                put_u32(t, (uint32_t)v);
        }
}

static size_t exr_pixel_size(const struct exr_channel *ch, size_t n)
{
    size_t size = 0;
    for (size_t c = 0; c < n; c++)
        size += ch[c].type == EXR_HALF ? 2 : 4;
    return size;
}

/* Uncompressed, by the file layout document; window origin (-4, 6). */
static struct text exr_file(const struct exr_channel *ch, size_t n, uint32_t width, uint32_t height,
                            uint32_t tile)
{
    struct text t = {0};
    int32_t window[4] = {-4, 6, -4 + (int32_t)width - 1, 6 + (int32_t)height - 1};
    exr_head(&t, ch, n, window, tile);
    uint32_t across = tile ? (width + tile - 1) / tile : 1;
    uint32_t down = tile ? (height + tile - 1) / tile : height;
    uint64_t at = t.len + 8ull * across * down, pixel = exr_pixel_size(ch, n);
    for (uint32_t i = 0; i < across * down; i++) {
        uint32_t w = width, h = 1, head = 8;
        if (tile) {
            uint32_t x = i % across * tile, y = i / across * tile;
            w = width - x < tile ? width - x : tile;
            h = height - y < tile ? height - y : tile;
            head = 20;
        }
        put_u64(&t, at);
        at += head + pixel * w * h;
    }
    for (uint32_t i = 0; i < across * down; i++) {
        uint32_t x = 0, y = i, w = width, h = 1;
        if (tile) {
            x = i % across * tile, y = i / across * tile;
            w = width - x < tile ? width - x : tile;
            h = height - y < tile ? height - y : tile;
            put_u32(&t, i % across);
            put_u32(&t, i / across);
            put_u64(&t, 0);
        } else {
            put_u32(&t, i + 6);
        }
        put_u32(&t, (uint32_t)(pixel * w * h));
        for (uint32_t k = 0; k < h; k++)
            exr_row(&t, ch, n, x, x + w, y + k);
    }
    return t;
}

static void check_exr(const struct exr_channel *ch, size_t n, uint32_t tile, const int *order,
                      uint32_t channels)
{
    struct text t = exr_file(ch, n, 7, 5, tile);
    struct image im;
    struct error err = {0};
    expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
    assert_int_equal(im.width, 7);
    assert_int_equal(im.height, 5);
    assert_int_equal(im.channels, channels);
    for (uint32_t y = 0; y < 5; y++)
        for (uint32_t x = 0; x < 7; x++)
            for (uint32_t c = 0; c < channels; c++)
                assert_true(texel(&im, x, y, c) == exr_value(x, y, (size_t)order[c]));
    text_free(&t);
}

static void test_exr_layouts(void **state)
{
    (void)state;
    static const struct exr_channel rgb_half[] = {
        {"B", EXR_HALF, 1}, {"G", EXR_HALF, 1}, {"R", EXR_HALF, 1}};
    static const struct exr_channel rgba[] = {{"A", EXR_HALF, 1},
                                              {"B", EXR_FLOAT, 1},
                                              {"G", EXR_HALF, 1},
                                              {"R", EXR_FLOAT, 1},
                                              {"Z", EXR_FLOAT, 1}};
    static const struct exr_channel luminance[] = {{"Y", EXR_HALF, 1}};
    static const struct exr_channel depth[] = {{"Z", EXR_FLOAT, 1}};
    static const struct exr_channel count[] = {{"id", EXR_UINT, 1}};
    static const struct exr_channel gray_alpha[] = {{"A", EXR_HALF, 1}, {"Y", EXR_HALF, 1}};
    static const struct exr_channel mixed[] = {{"A", EXR_FLOAT, 1}, {"Y", EXR_HALF, 1}};
    static const int bgr[] = {2, 1, 0}, abgr[] = {3, 2, 1, 0}, one[] = {0}, yyya[] = {1, 1, 1, 0};
    for (uint32_t tile = 0; tile <= 8; tile += 4) {
        check_exr(rgb_half, 3, tile, bgr, 3);
        check_exr(rgba, 5, tile, abgr, 4);
        check_exr(luminance, 1, tile, one, 1);
        check_exr(depth, 1, tile, one, 1);
        check_exr(gray_alpha, 2, tile, yyya, 4);
        check_exr(mixed, 2, tile, yyya, 4);
    }
    struct text t = exr_file(count, 1, 7, 5, 0); /* integers, of which 0.5 and 1.5 became 0 and 1 */
    struct image im;
    struct error err = {0};
    expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
    assert_true(texel(&im, 6, 0, 0) == 65504 && texel(&im, 3, 0, 0) == 1);
    text_free(&t);
}

static void test_exr_refused(void **state)
{
    (void)state;
    static const struct exr_channel rgb[] = {
        {"B", EXR_FLOAT, 1}, {"G", EXR_FLOAT, 1}, {"R", EXR_FLOAT, 1}};
    static const struct exr_channel two[] = {{"U", EXR_FLOAT, 1}, {"V", EXR_FLOAT, 1}};
    static const struct exr_channel chroma[] = {{"RY", EXR_FLOAT, 2}, {"Y", EXR_FLOAT, 2}};
    struct text t = exr_file(rgb, 3, 7, 5, 0);
    struct image im;
    for (size_t n = 4; n < t.len; n++) { /* cut anywhere: an error, never a picture */
        struct text cut = {.data = t.data, .len = n};
        struct error err = {0};
        assert_int_not_equal(read_text(&cut, COLOR_AUTO, &im, &err), STATUS_OK);
        assert_true(err.msg[0]);
    }
    float nan = NAN;
    memcpy(t.data + t.len - 4, &nan, 4);
    expect_failure(&t, STATUS_TYPE, "column 6, row 4 is not a finite number");
    text_free(&t);
    t = exr_file(two, 2, 7, 5, 0);
    expect_failure(&t, STATUS_TYPE, "not R, G, B");
    text_free(&t);
    t = exr_file(chroma, 2, 8, 4, 0);
    expect_failure(&t, STATUS_UNSUPPORTED, "subsampled");
    text_free(&t);
    static const struct exr_channel colours[] = {
        {"BY", EXR_FLOAT, 1}, {"RY", EXR_FLOAT, 1}, {"Y", EXR_FLOAT, 1}};
    t = exr_file(colours, 3, 8, 4, 0); /* not gray */
    expect_failure(&t, STATUS_UNSUPPORTED, "chroma");
    text_free(&t);
    static const int32_t windows[][4] = {{0, 0, -1, -1},
                                         {0, 0, 999999999, 0},
                                         {0, 0, 0, 999999999},
                                         {0, 0, 30000, 30000},
                                         {INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX}};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        struct text w = {0};
        struct error err = {0};
        exr_head(&w, rgb, 3, windows[i], 0);
        put_u64(&w, w.len + 8);
        put_u64(&w, 0);
        assert_int_not_equal(read_text(&w, COLOR_AUTO, &im, &err), STATUS_OK);
        text_free(&w);
    }
}

/* Files that OpenEXR's own C++ library wrote (its Python package 3), in every compression,
 * scanlines of float and tiles of half: texel (x, y, c) is ((x + 2y + 3c) mod 17)/8. */
static void test_exr_compressions(void **state)
{
    (void)state;
    /* b44 keeps six bits of a block's differences: 2/8 is what the library's own reading shows.
     * pxr24 cuts floats to 24 bits: these need fewer. */
    static const struct {
        const char *name;
        double eps;
    } files[] = {{"rle-lines", 0},   {"zips-lines", 0},   {"zip-lines", 0},
                 {"piz-lines", 0},   {"pxr24-lines", 0},  {"rle-tiles", 0},
                 {"zips-tiles", 0},  {"zip-tiles", 0},    {"piz-tiles", 0},
                 {"pxr24-tiles", 0}, {"b44-lines", 0.25}, {"b44-float-lines", 0}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        struct image im;
        struct error err = {0};
        snprintf(path, sizeof path, SOURCE_DIR "/scenes/tests/exr/%s.exr", files[i].name);
        expect_ok(image_read(&arena, path, &im, &err), &err);
        assert_int_equal(im.width, 13);
        assert_int_equal(im.height, 11);
        assert_int_equal(im.channels, 3);
        for (uint32_t y = 0; y < 11; y++)
            for (uint32_t x = 0; x < 13; x++)
                for (uint32_t c = 0; c < 3; c++) {
                    double want = (x + 2 * y + 3 * c) % 17 / 8.0, got = (double)texel(&im, x, y, c);
                    if (!(fabs(got - want) <= files[i].eps))
                        fail_msg("%s (%u, %u, %u): %g, expected %g", files[i].name, x, y, c, got,
                                 want);
                }
    }
}

/* DWA, by the same library: 0.5 + 0.4 sin(x/9 + c) cos(y/7), which its own reading gives within
 * 0.0084. */
static void test_exr_dwa(void **state)
{
    (void)state;
    static const char *const files[] = {"dwaa-lines", "dwab-tiles"};
    for (size_t i = 0; i < 2; i++) {
        char path[512], *data;
        struct image im;
        struct error err = {0};
        size_t size;
        snprintf(path, sizeof path, SOURCE_DIR "/scenes/tests/exr/%s.exr", files[i]);
        expect_ok(image_read(&arena, path, &im, &err), &err);
        assert_int_equal(im.width, 64);
        assert_int_equal(im.height, 40);
        assert_int_equal(im.channels, 3);
        for (uint32_t y = 0; y < 40; y++)
            for (uint32_t x = 0; x < 64; x++)
                for (uint32_t c = 0; c < 3; c++)
                    assert_true(fabs((double)texel(&im, x, y, c) - 0.5 -
                                     0.4 * sin(x / 9.0 + c) * cos(y / 7.0)) < 0.0085);
        expect_ok(file_read(&arena, path, 0, &data, &size, &err), &err);
        for (size_t n = 8; n < size; n += 97) {
            struct text cut = {.data = data, .len = n};
            assert_int_not_equal(read_text(&cut, COLOR_AUTO, &im, &err), STATUS_OK);
        }
    }
}

/* Channels B, G and Y in tiles of two sizes, the last of them damaged: the library wrote through
 * the NULL that stands for a channel nobody wants. Found by image_fuzz. */
static void test_exr_unwanted_channels(void **state)
{
    (void)state;
    struct image im;
    struct error err = {0};
    char *data;
    size_t size;
    expect_ok(file_read(&arena, SOURCE_DIR "/tests/fuzz/image_fuzz/exr-unwanted-channels", 0, &data,
                        &size, &err),
              &err);
    struct text text = {.data = data, .len = size};
    assert_int_equal(read_text(&text, COLOR_AUTO, &im, &err), STATUS_PARSE);
    assert_non_null(strstr(err.msg, "cannot be read"));
}

static void test_exr_round_trip(void **state)
{
    (void)state;
    enum { W = 37, H = 29 };
    static float rgb[W * H * 3], depth[W * H];
    for (uint32_t i = 0; i < W * H; i++) {
        uint32_t r[4];
        philox4x32((uint32_t[4]){i, 1, 2, 3}, (uint32_t[2]){4, 5}, r);
        for (int c = 0; c < 4; c++) {
            r[c] &= 0xbfffffff; /* finite, of any size and sign */
            memcpy(c < 3 ? &rgb[3 * i + (uint32_t)c] : &depth[i], &r[c], 4);
        }
    }
    char dir[] = "/tmp/isophote-images-XXXXXX", path[64], none[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.exr", dir);
    const struct image_channel channels[] = {
        {"R", rgb, 3}, {"G", rgb + 1, 3}, {"B", rgb + 2, 3}, {"Z", depth, 1}};
    const char *const attributes[] = {"isophote.scene", "cornell", "isophote.seed", "7", NULL};
    struct error err = {0};
    expect_ok(image_write_exr(path, W, H, channels, 4, attributes, &err), &err);
    struct image im;
    expect_ok(image_read(&arena, path, &im, &err), &err);
    assert_int_equal(im.channels, 3);
    assert_memory_equal(im.texels, rgb, sizeof rgb);
    char *data;
    size_t size;
    expect_ok(file_read(&arena, path, 0, &data, &size, &err), &err);
    assert_non_null(memmem(data, size, "isophote.scene", 14));
    assert_non_null(memmem(data, size, "cornell", 7));
    expect_ok(image_write_exr(path, W, H, channels + 3, 1, NULL, &err), &err);
    expect_ok(image_read(&arena, path, &im, &err), &err);
    assert_int_equal(im.channels, 1);
    assert_memory_equal(im.texels, depth, sizeof depth);
    snprintf(none, sizeof none, "%s/none/a.exr", dir);
    assert_int_not_equal(image_write_exr(none, W, H, channels, 4, NULL, &err), STATUS_OK);
    assert_int_equal(image_write_exr(path, 0, H, channels, 4, NULL, &err), STATUS_ARG);
    unlink(path);
    assert_int_equal(rmdir(dir), 0); /* nothing else was left */
}

/* ---- Radiance HDR --------------------------------------------------------------------------- */

static const unsigned char hdr_pixels[6][4] = {{128, 0, 255, 129}, {10, 20, 30, 128},
                                               {0, 0, 0, 0},       {255, 255, 255, 140},
                                               {1, 2, 3, 100},     {200, 100, 50, 136}};

/* (m + 0.5) 2^(e - 136) */
static double hdr_value(int i, int c)
{
    return hdr_pixels[i][3] ? (hdr_pixels[i][c] + 0.5) * pow(2, hdr_pixels[i][3] - 136) : 0;
}

static void test_hdr_orientation(void **state)
{
    (void)state;
    /* A picture of 3 x 2; each file lists its pixels in its own order. */
    static const struct {
        const char *line;
        int order[6]; /* picture's row-major index of each pixel in the file */
    } cases[] = {
        {"-Y 2 +X 3", {0, 1, 2, 3, 4, 5}}, {"-Y 2 -X 3", {2, 1, 0, 5, 4, 3}},
        {"+Y 2 +X 3", {3, 4, 5, 0, 1, 2}}, {"+Y 2 -X 3", {5, 4, 3, 2, 1, 0}},
        {"+X 3 -Y 2", {0, 3, 1, 4, 2, 5}}, {"-X 3 -Y 2", {2, 5, 1, 4, 0, 3}},
        {"+X 3 +Y 2", {3, 0, 4, 1, 5, 2}}, {"-X 3 +Y 2", {5, 2, 4, 1, 3, 0}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct text t = {0};
        text_printf(&t, "#?RADIANCE\n# made by hand\nFORMAT=32-bit_rle_rgbe\nEXPOSURE=2\n\n%s\n",
                    cases[k].line);
        for (int i = 0; i < 6; i++)
            put(&t, hdr_pixels[cases[k].order[i]], 4);
        struct image im;
        struct error err = {0};
        expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
        assert_int_equal(im.width, 3);
        assert_int_equal(im.height, 2);
        for (int i = 0; i < 6; i++)
            for (int c = 0; c < 3; c++)
                assert_true(texel(&im, (uint32_t)i % 3, (uint32_t)i / 3, (uint32_t)c) ==
                            (float)(hdr_value(i, c) / 2));
        for (size_t n = 12; n < t.len; n++) {
            struct text cut = {.data = t.data, .len = n};
            assert_int_equal(read_text(&cut, COLOR_AUTO, &im, &err), STATUS_PARSE);
        }
        text_free(&t);
    }
}

static void test_hdr_runs(void **state)
{
    (void)state;
    struct text t = {0};
    struct image im;
    struct error err = {0};
    /* new: 10 pixels; red a run of 10, green literal, blue a run and literals, exponent a run */
    text_puts(&t, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 10\n");
    static const unsigned char packed[] = {2, 2, 0,  10,  138, 77, 10, 1, 2, 3, 4, 5, 6,   7,
                                           8, 9, 10, 132, 9,   6,  1,  2, 3, 4, 5, 6, 138, 136};
    put(&t, packed, sizeof packed);
    expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
    for (uint32_t x = 0; x < 10; x++) {
        assert_true(texel(&im, x, 0, 0) == 77.5F);
        assert_true(texel(&im, x, 0, 1) == (float)(x + 1) + 0.5F);
        assert_true(texel(&im, x, 0, 2) == (x < 4 ? 9.5F : (float)(x - 3) + 0.5F));
    }
    t.data[t.len - 2] = (char)139; /* a run past the end */
    expect_failure(&t, STATUS_PARSE, "scan line 1 of 1");
    text_free(&t);
    /* old: one pixel repeated 3 + 1 * 256 times */
    text_puts(&t, "#?RGBE\n\n-Y 1 +X 260\n");
    static const unsigned char old[] = {50, 60, 70, 136, 1, 1, 1, 3, 1, 1, 1, 1};
    put(&t, old, sizeof old);
    expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
    for (uint32_t x = 0; x < 260; x++)
        assert_true(texel(&im, x, 0, 0) == 50.5F && texel(&im, x, 0, 2) == 70.5F);
    t.data[t.len - 1] = 9;
    expect_failure(&t, STATUS_PARSE, "scan line 1 of 1");
    text_free(&t);
}

static void test_hdr_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status want;
        const char *words;
    } cases[] = {
        {"#?RADIANCE\n\n-Y 0 +X 10\n", STATUS_TYPE, "0 pixels"},
        {"#?RADIANCE\n\n-Y 1000000000 +X 1000000000\n", STATUS_LIMIT, "expected at most"},
        {"#?RADIANCE\n\n-Y 99999999999999999999 +X 2\n", STATUS_LIMIT, "expected at most"},
        {"#?RADIANCE\n\n-Y 2 +Y 2\n", STATUS_PARSE, "resolution"},
        {"#?RADIANCE\n\n2 2\n", STATUS_PARSE, "resolution"},
        {"#?RADIANCE\nFORMAT=16-bit\n\n-Y 1 +X 1\nabcd", STATUS_UNSUPPORTED, "32-bit_rle_rgbe"},
        {"#?RADIANCE\nEXPOSURE=0\n\n-Y 1 +X 1\nabcd", STATUS_PARSE, "exposure"},
        {"#?RADIANCE\nEXPOSURE=nan\n\n-Y 1 +X 1\nabcd", STATUS_PARSE, "exposure"},
        {"#?RADIANCE\n", STATUS_PARSE, "does not end"},
        {"hello", STATUS_TYPE, "not known"},
        {"", STATUS_TYPE, "empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t = {0};
        text_puts(&t, cases[i].text);
        expect_failure(&t, cases[i].want, cases[i].words);
        text_free(&t);
    }
}

/* ---- PNG ------------------------------------------------------------------------------------ */

static void png_to_text(png_structp png, png_bytep data, size_t n)
{
    put(png_get_io_ptr(png), data, n);
}

/* rows: packed as PNG stores them. */
static struct text png_file(uint32_t width, uint32_t height, int depth, int type, int interlace,
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

static struct image read_png(const struct text *t, enum color_space space)
{
    struct image im;
    struct error err = {0};
    expect_ok(read_text(t, space, &im, &err), &err);
    return im;
}

static void test_png_types(void **state)
{
    (void)state;
    static const uint8_t bits[] = {0xa0, 0x40}; /* 1 0 1 / 0 1 0 */
    struct text t = png_file(3, 2, 1, PNG_COLOR_TYPE_GRAY, 0, bits, 1, false);
    struct image im = read_png(&t, COLOR_AUTO);
    assert_int_equal(im.channels, 1);
    assert_true(im.srgb);
    assert_int_equal(byte(&im, 0, 0, 0), 255);
    assert_int_equal(byte(&im, 1, 0, 0), 0);
    assert_int_equal(byte(&im, 1, 1, 0), 255);
    text_free(&t);

    static const uint8_t nibbles[] = {0x0f, 0x80};
    t = png_file(3, 1, 4, PNG_COLOR_TYPE_GRAY, 0, nibbles, 2, false);
    im = read_png(&t, COLOR_LINEAR);
    assert_false(im.srgb);
    assert_int_equal(byte(&im, 0, 0, 0), 0);
    assert_int_equal(byte(&im, 1, 0, 0), 255);
    assert_int_equal(byte(&im, 2, 0, 0), 136); /* 8 * 17 */
    text_free(&t);

    static const uint8_t pairs[] = {50, 100, 60, 200};
    t = png_file(2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, 0, pairs, 4, false);
    im = read_png(&t, COLOR_AUTO);
    assert_int_equal(im.channels, 4);
    for (uint32_t c = 0; c < 3; c++)
        assert_int_equal(byte(&im, 1, 0, c), 60);
    assert_int_equal(byte(&im, 1, 0, 3), 200);
    text_free(&t);

    static const uint8_t rgb[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    for (int interlace = 0; interlace < 2; interlace++) {
        t = png_file(2, 2, 8, PNG_COLOR_TYPE_RGB, interlace, rgb, 6, false);
        im = read_png(&t, COLOR_AUTO);
        assert_int_equal(im.channels, 3);
        assert_memory_equal(im.texels, rgb, sizeof rgb);
        text_free(&t);
    }
    t = png_file(2, 2, 8, PNG_COLOR_TYPE_RGB, 0, rgb, 6, true);
    im = read_png(&t, COLOR_AUTO);
    assert_int_equal(im.channels, 4);
    assert_int_equal(byte(&im, 0, 0, 3), 0); /* the transparent colour */
    assert_int_equal(byte(&im, 1, 0, 3), 255);
    text_free(&t);

    static const uint8_t index[] = {0x1b}; /* 0 1 2 3 */
    t = png_file(4, 1, 2, PNG_COLOR_TYPE_PALETTE, 0, index, 1, true);
    im = read_png(&t, COLOR_AUTO);
    assert_int_equal(im.channels, 4);
    static const uint8_t want[] = {10, 20, 30,  128, 200, 100, 0,   255,
                                   0,  0,  255, 255, 255, 255, 255, 255};
    assert_memory_equal(im.texels, want, sizeof want);
    text_free(&t);
}

static void test_png_16_bits(void **state)
{
    (void)state;
    static const uint8_t deep[] = {0x80, 0x00, 0xff, 0xff, 0x00, 0x01, 0x40, 0x00};
    struct text t = png_file(1, 1, 16, PNG_COLOR_TYPE_RGB_ALPHA, 0, deep, 8, false);
    struct image im = read_png(&t, COLOR_AUTO);
    assert_int_equal(im.channels, 4);
    assert_true(texel(&im, 0, 0, 0) == (float)srgb_decode(32768.0 / 65535));
    assert_true(texel(&im, 0, 0, 1) == 1);
    assert_true(texel(&im, 0, 0, 3) == (float)(16384.0 / 65535)); /* alpha is linear */
    im = read_png(&t, COLOR_LINEAR);
    assert_true(texel(&im, 0, 0, 0) == (float)(32768.0 / 65535));
    text_free(&t);
}

/* Noise over waves, so that every filter has something to do; from a multiplicative generator. */
static uint8_t *picture_bytes(size_t row, size_t height)
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

static struct text png_filtered(uint32_t width, uint32_t height, int depth, int type, int filters,
                                const uint8_t *rows, size_t row)
{
    struct text t = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &t, png_to_text, NULL);
    png_set_compression_level(png, 1);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, filters);
    png_set_IHDR(png, info, width, height, depth, type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (uint32_t y = 0; y < height; y++)
        png_write_row(png, rows + y * row);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return t;
}

/* Every plain type with every filter of rows, and all of them in turns: what libpng wrote comes
 * back. The sizes: tiles of threads in both directions, and the least. */
static void test_png_filters(void **state)
{
    (void)state;
    static const int filters[] = {PNG_FILTER_NONE, PNG_FILTER_SUB,   PNG_FILTER_UP,
                                  PNG_FILTER_AVG,  PNG_FILTER_PAETH, PNG_ALL_FILTERS};
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    static const uint32_t sizes[][2] = {{1101, 301}, {1, 1}, {1, 9}, {7, 1}};
    for (size_t k = 0; k < 6 * 3 * 2 * 4; k++) {
        uint32_t channels = (uint32_t[]){1, 3, 4}[k / 6 % 3], depth = k / 18 % 2 ? 16 : 8;
        uint32_t w = sizes[k / 36][0], h = sizes[k / 36][1];
        size_t row = (size_t)w * channels * depth / 8;
        uint8_t *bytes = picture_bytes(row, h);
        struct text t =
            png_filtered(w, h, (int)depth, types[k / 6 % 3], filters[k % 6], bytes, row);
        struct image im = read_png(&t, COLOR_LINEAR);
        assert_true(im.width == w && im.height == h && im.channels == channels);
        if (depth == 8)
            assert_memory_equal(im.texels, bytes, row * h);
        for (size_t i = 0; depth == 16 && i < row * h / 2; i++)
            assert_int_equal(((const uint16_t *)im.texels)[i],
                             bytes[2 * i] * 256 + bytes[2 * i + 1]);
        text_free(&t);
        free(bytes);
        arena_free(&arena);
    }
}

/* One bit turned anywhere behind the signature: checksums find it. */
static void test_png_damaged(void **state)
{
    (void)state;
    uint8_t *bytes = picture_bytes(12, 5);
    struct text t = png_filtered(4, 5, 8, PNG_COLOR_TYPE_RGB, PNG_ALL_FILTERS, bytes, 12);
    for (size_t bit = 64; bit < 8 * t.len; bit++) {
        struct image im;
        struct error err = {0};
        t.data[bit / 8] ^= (char)(1 << bit % 8);
        if (read_text(&t, COLOR_AUTO, &im, &err) == STATUS_OK)
            fail_msg("bit %zu of %zu", bit, 8 * t.len);
        t.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    text_append(&t, "and more", 8); /* behind the end: nobody's business */
    read_png(&t, COLOR_AUTO);
    text_free(&t);
    free(bytes);
}

static void test_png_refused(void **state)
{
    (void)state;
    static const uint8_t rgb[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct text t = png_file(2, 2, 8, PNG_COLOR_TYPE_RGB, 0, rgb, 6, false);
    struct image im;
    struct error err = {0};
    for (size_t n = 8; n < t.len; n++) {
        struct text cut = {.data = t.data, .len = n};
        assert_int_not_equal(read_text(&cut, COLOR_AUTO, &im, &err), STATUS_OK);
    }
    t.data[t.len - 20] ^= 1; /* in the pixels' checksum */
    expect_failure(&t, STATUS_PARSE, "expected a whole PNG file");
    text_free(&t);
    /* IHDR of other sizes, with the right checksums, computed by zlib elsewhere */
    static const struct {
        uint8_t ihdr[17];
        enum status want;
    } sizes[] = {
        {{0x00, 0x00, 0x9c, 0x40, 0x00, 0x00, 0x00, 0x01, 8, 2, 0, 0, 0, 0x32, 0x02, 0x5c, 0xd3},
         STATUS_LIMIT}, /* 40000 x 1: libpng refuses it */
        {{0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 8, 2, 0, 0, 0, 0x7f, 0xb5, 0x38, 0xe0},
         STATUS_PARSE}, /* 0 x 1: libpng refuses it */
        {{0x3b, 0x9a, 0xca, 0x00, 0x3b, 0x9a, 0xca, 0x00, 8, 2, 0, 0, 0, 0xeb, 0xfe, 0x91, 0xb3},
         STATUS_LIMIT}, /* 10^9 x 10^9 */
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct text h = {0};
        put(&h, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
        put(&h, sizes[i].ihdr, 17);
        put(&h, "\0\0\0\0IDAT\x35\xaf\x06\x1e", 12);
        enum status s = read_text(&h, COLOR_AUTO, &im, &err);
        if (s != sizes[i].want)
            fail_msg("size %zu: %s: %s", i, status_name(s), err.msg);
        text_free(&h);
    }
}

/* A TIFF's tags, read as "TIFF, Revision 6.0" says: the first value of `tag`, 0 when there is none.
 */
static uint32_t tiff_tag(const uint8_t *data, uint32_t tag)
{
    uint32_t at = (uint32_t)data[4] | (uint32_t)data[5] << 8 | (uint32_t)data[6] << 16;
    uint32_t count = (uint32_t)data[at] | (uint32_t)data[at + 1] << 8, before = 0, found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *e = data + at + 2 + (size_t)12 * i;
        uint32_t id = (uint32_t)e[0] | (uint32_t)e[1] << 8, type = e[2], n = e[4];
        uint32_t value = (uint32_t)e[8] | (uint32_t)e[9] << 8;
        assert_true(id > before); /* in ascending order */
        before = id;
        if (type == 3 && n > 2)
            value = (uint32_t)data[value] | (uint32_t)data[value + 1] << 8;
        if (id == tag)
            found = value;
    }
    return found;
}

static void test_tiff_written(void **state)
{
    (void)state;
    char dir[] = "/tmp/isophote-images-XXXXXX", path[64], *file;
    size_t size;
    struct error err = {0};
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.tif", dir);
    const float v[] = {0, 0.5F, 1, NAN, -3, INFINITY, 0.25F, 2, 0.001F};
    static const uint8_t want[] = {0, 128, 255, 0, 0, 255, 64, 255, 0};
    for (uint32_t channels = 1; channels <= 3; channels++) {
        for (int bytes = 0; bytes < 2; bytes++) {
            uint32_t width = 9 / channels, n = width * channels;
            expect_ok(image_write_tiff(path, width, 1, v, channels, bytes, &err), &err);
            expect_ok(file_read(&arena, path, 0, &file, &size, &err), &err);
            const uint8_t *data = (const uint8_t *)file;
            assert_memory_equal(data, "II*", 4);
            assert_int_equal(tiff_tag(data, 256), width);
            assert_int_equal(tiff_tag(data, 257), 1);
            assert_int_equal(tiff_tag(data, 258), bytes ? 8 : 32);
            assert_int_equal(tiff_tag(data, 259), 1);
            assert_int_equal(tiff_tag(data, 262), channels < 3 ? 1 : 2);
            assert_int_equal(tiff_tag(data, 277), channels);
            assert_int_equal(tiff_tag(data, 339), bytes ? 1 : 3);
            assert_int_equal(tiff_tag(data, 279), n * (bytes ? 1 : 4));
            assert_memory_equal(data + tiff_tag(data, 273), bytes ? (const void *)want : v,
                                n * (bytes ? 1 : 4));
        }
    }
    /* and read back */
    static const uint32_t from[][4] = {{0}, {0}, {0, 0, 0, 1}, {0, 1, 2}, {0, 1, 2, 3}};
    const float numbers[] = {0, 0.5F, 1, -3, 1e30F, 0.25F, 2, 0.001F};
    static const uint8_t shares[] = {0, 128, 255, 0, 255, 64, 255, 0};
    for (uint32_t n = 1; n <= 4; n++)
        for (int bytes = 0; bytes < 2; bytes++) {
            struct image im;
            expect_ok(image_write_tiff(path, 2, 1, numbers, n, bytes, &err), &err);
            expect_ok(image_read_as(&arena, path, COLOR_LINEAR, &im, &err), &err);
            assert_true(im.width == 2 && im.height == 1 && !im.srgb);
            assert_int_equal(im.channels, n == 2 ? 4 : n);
            for (uint32_t i = 0; i < 2 * im.channels; i++) {
                uint32_t at = i / im.channels * n + from[n][i % im.channels];
                double value = bytes ? shares[at] / 255.0 : (double)numbers[at];
                assert_true(image_value(&im, i, true) == value);
            }
        }
    assert_int_equal(image_write_tiff(path, 0, 1, v, 1, false, &err), STATUS_ARG);
    assert_int_equal(image_write_tiff(path, 32768, 32768, v, 4, false, &err), STATUS_LIMIT);
    unlink(path);
    assert_int_equal(rmdir(dir), 0);
}

static void test_png_written(void **state)
{
    (void)state;
    char dir[] = "/tmp/isophote-images-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.png", dir);
    const float rgb[] = {0, 0.18F, 1, NAN, -3, INFINITY};
    struct error err = {0};
    struct image im;
    expect_ok(image_write(path, 2, 1, rgb, TONE_LINEAR, 1, &err), &err);
    expect_ok(image_read(&arena, path, &im, &err), &err);
    static const uint8_t want[] = {0, 118, 255, 0, 0, 255}; /* 0.461356 * 255 = 117.6 */
    assert_memory_equal(im.texels, want, sizeof want);
    expect_ok(image_write(path, 2, 1, rgb, TONE_LINEAR, 0.5, &err), &err);
    expect_ok(image_read(&arena, path, &im, &err), &err);
    assert_int_equal(byte(&im, 0, 0, 2), 188); /* sRGB of 0.5 is 0.735 */
    unlink(path);
    snprintf(path, sizeof path, "%s/a.pfm", dir);
    const float two[] = {1, 2, 3, 4, 5, 6};
    expect_ok(image_write(path, 1, 2, two, TONE_LINEAR, 1, &err), &err);
    char *data;
    size_t size;
    expect_ok(file_read(&arena, path, 0, &data, &size, &err), &err);
    static const char head[] = "PF\n1 2\n-1.0\n";
    assert_int_equal(size, sizeof head - 1 + 24);
    assert_memory_equal(data, head, sizeof head - 1);
    assert_memory_equal(data + sizeof head - 1, two + 3, 12); /* the bottom row first */
    unlink(path);
    snprintf(path, sizeof path, "%s/a.gif", dir);
    assert_int_equal(image_write(path, 1, 2, two, TONE_LINEAR, 1, &err), STATUS_ARG);
    assert_int_equal(rmdir(dir), 0);
}

/* ---- JPEG ----------------------------------------------------------------------------------- */

static struct text jpeg_file(uint32_t width, uint32_t height, int components, bool progressive,
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

static void test_jpeg(void **state)
{
    (void)state;
    static const uint8_t color[4] = {200, 60, 20, 0};
    struct image im;
    struct error err = {0};
    for (int k = 0; k < 4; k++) {
        int components = k & 1 ? 3 : 1;
        struct text t = jpeg_file(19, 11, components, k & 2, color);
        expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
        assert_int_equal(im.width, 19);
        assert_int_equal(im.height, 11);
        assert_int_equal(im.channels, components);
        assert_true(im.srgb);
        for (uint32_t y = 0; y < 11; y++)
            for (uint32_t x = 0; x < 19; x++)
                for (uint32_t c = 0; c < (uint32_t)components; c++)
                    /* flat colour at quality 100: rounding of YCbCr alone, 2 steps at most */
                    assert_true(abs((int)byte(&im, x, y, c) - color[c]) <= 2);
        for (size_t n = 4; n < t.len; n += 7) {
            struct text cut = {.data = t.data, .len = n};
            assert_int_not_equal(read_text(&cut, COLOR_AUTO, &im, &err), STATUS_OK);
        }
        text_free(&t);
    }
    struct text t = jpeg_file(8, 8, 4, false, color);
    expect_failure(&t, STATUS_UNSUPPORTED, "4 components");
    text_free(&t);
}

/* ---- TGA ------------------------------------------------------------------------------------ */

/* A file of width x height texels whose bytes in the file's order are `texels`. */
static struct text tga_file(int kind, int bits, int descriptor, uint32_t width, uint32_t height,
                            const uint8_t *texels, size_t size)
{
    struct text t = {0};
    uint8_t header[18] = {3, 0, (uint8_t)kind}; /* three bytes of an id */
    header[12] = (uint8_t)width;
    header[13] = (uint8_t)(width >> 8);
    header[14] = (uint8_t)height;
    header[16] = (uint8_t)bits;
    header[17] = (uint8_t)descriptor;
    text_append(&t, (const char *)header, sizeof header);
    text_append(&t, "id.", 3);
    text_append(&t, (const char *)texels, size);
    return t;
}

/* Texel (x, y) of the picture that all files below hold, row 0 on top. */
static void tga_texel(uint32_t x, uint32_t y, uint8_t rgba[4])
{
    rgba[0] = (uint8_t)(x < 2 ? 255 : 0);
    rgba[1] = (uint8_t)(y == 0 ? 255 : 0);
    rgba[2] = (uint8_t)(x == 4 ? 255 : 0);
    rgba[3] = (uint8_t)(x == 1 ? 0 : 255);
}

enum { TGA_W = 5, TGA_H = 3 };

static void check_tga(struct text *t, uint32_t channels)
{
    struct image im;
    struct error err = {0};
    expect_ok(read_text(t, COLOR_AUTO, &im, &err), &err);
    assert_int_equal(im.width, TGA_W);
    assert_int_equal(im.height, TGA_H);
    assert_int_equal(im.channels, channels);
    assert_true(im.srgb && im.format == TEXEL_U8);
    for (uint32_t y = 0; y < TGA_H; y++)
        for (uint32_t x = 0; x < TGA_W; x++) {
            uint8_t want[4];
            tga_texel(x, y, want);
            for (uint32_t c = 0; c < channels; c++)
                assert_int_equal(byte(&im, x, y, c), want[c]);
        }
    for (size_t n = 0; n < t->len; n++) { /* cut short anywhere */
        struct text cut = {.data = t->data, .len = n};
        assert_int_not_equal(read_text(&cut, COLOR_AUTO, &im, &err), STATUS_OK);
    }
    text_free(t);
}

/* Every depth of true colour and every origin, plain and in packets. */
static void test_tga_color(void **state)
{
    (void)state;
    static const int depths[] = {15, 16, 24, 32};
    for (int k = 0; k < 4 * 4 * 2; k++) {
        int bits = depths[k & 3], origin = k >> 2 & 3, rle = k >> 4;
        uint8_t bytes[TGA_W * TGA_H * 5];
        size_t n = 0;
        for (uint32_t j = 0; j < TGA_H; j++)
            for (uint32_t i = 0; i < TGA_W; i++) {
                uint8_t c[4];
                tga_texel(origin & 1 ? TGA_W - 1 - i : i, origin & 2 ? j : TGA_H - 1 - j, c);
                unsigned w = (unsigned)(c[0] >> 3) << 10 | (unsigned)(c[1] >> 3) << 5 |
                             (unsigned)c[2] >> 3 | (c[3] ? 0x8000U : 0);
                if (rle &&
                    (j * TGA_W + i) % 4 == 0) /* packets of four, across rows; 3 at the end */
                    bytes[n++] = (uint8_t)(j * TGA_W + i < 12 ? 3 : 2);
                if (bits <= 16) {
                    bytes[n++] = (uint8_t)w;
                    bytes[n++] = (uint8_t)(w >> 8);
                    continue;
                }
                for (int b = 2; b >= 0; b--)
                    bytes[n++] = c[b];
                if (bits == 32)
                    bytes[n++] = c[3];
            }
        int alpha = bits == 16 ? 1 : bits == 32 ? 8 : 0;
        struct text t = tga_file(rle ? 10 : 2, bits, origin << 4 | alpha, TGA_W, TGA_H, bytes, n);
        check_tga(&t, alpha ? 4 : 3);
        if (alpha) { /* no bits of it, no alpha */
            t = tga_file(rle ? 10 : 2, bits, origin << 4, TGA_W, TGA_H, bytes, n);
            check_tga(&t, 3);
        }
    }
}

static void test_tga_others(void **state)
{
    (void)state;
    struct image im;
    struct error err = {0};
    /* gray in runs: 300 texels in a row, 128 + 128 + 44 */
    static const uint8_t runs[] = {0xFF, 10, 0xFF, 20, 0x80 + 43, 30};
    struct text t = tga_file(11, 8, 32, 300, 1, runs, sizeof runs);
    expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
    assert_true(im.channels == 1 && byte(&im, 127, 0, 0) == 10 && byte(&im, 128, 0, 0) == 20 &&
                byte(&im, 256, 0, 0) == 30 && byte(&im, 299, 0, 0) == 30);
    text_free(&t);
    static const uint8_t beyond[] = {0xFF, 10, 0xFF, 20, 0xFF, 30};
    t = tga_file(11, 8, 32, 300, 1, beyond, sizeof beyond);
    expect_failure(&t, STATUS_PARSE, "beyond the image");
    text_free(&t);
    /* gray and alpha */
    static const uint8_t gray_alpha[] = {10, 200, 20, 100};
    t = tga_file(3, 16, 32 + 8, 2, 1, gray_alpha, sizeof gray_alpha);
    expect_ok(read_text(&t, COLOR_LINEAR, &im, &err), &err);
    assert_true(im.channels == 4 && !im.srgb && byte(&im, 1, 0, 1) == 20 &&
                byte(&im, 1, 0, 3) == 100);
    text_free(&t);
    /* a map of three colours of 24 bits that starts at 7; 16 bits: five of them a channel */
    uint8_t mapped[18 + 3 * 3 + 4] = {0, 1,  1, 7, 0, 3, 0, 24, 0, 0, 0, 0, 4, 0, 1, 0,
                                      8, 32, 1, 2, 3, 4, 5, 6,  7, 8, 9, 9, 7, 8, 7};
    t = (struct text){.data = (char *)mapped, .len = sizeof mapped};
    expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
    assert_true(im.channels == 3 && byte(&im, 0, 0, 0) == 9 && byte(&im, 0, 0, 2) == 7 &&
                byte(&im, 1, 0, 0) == 3 && byte(&im, 2, 0, 1) == 5);
    mapped[sizeof mapped - 1] = 10;
    expect_failure(&t, STATUS_PARSE, "expected one of the map's, 7 to 9");
    mapped[sizeof mapped - 1] = 6;
    expect_failure(&t, STATUS_PARSE, "expected one of the map's, 7 to 9");
    static const uint8_t five[] = {0x10, 0x02}; /* green and blue 16 of 31: 131.6 */
    t = tga_file(2, 15, 32, 1, 1, five, sizeof five);
    expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
    assert_true(byte(&im, 0, 0, 0) == 0 && byte(&im, 0, 0, 1) == 132 && byte(&im, 0, 0, 2) == 132);
    text_free(&t);
    /* a size that the bytes cannot be: no memory is taken for it */
    t = tga_file(10, 32, 40, 65535, 200, runs, sizeof runs);
    expect_failure(&t, STATUS_LIMIT, "65535");
    text_free(&t);
    t = tga_file(10, 32, 40, 30000, 200, runs, sizeof runs);
    expect_failure(&t, STATUS_PARSE, "ends inside the texels");
    text_free(&t);
}

/* ---- TIFF ----------------------------------------------------------------------------------- */

/* A file of uncompressed texels; what is 0 is left out of it or, for sizes, everything. */
struct tiff_file {
    bool motorola, big; /* the order of bytes; BigTIFF */
    uint32_t width, height, samples, bits, format, photometric, compression;
    uint32_t tile_width, tile_height, rows; /* tiles, or rows of a strip */
    uint32_t extras[3], orientation;        /* extras: 1 and the kind; ends with 0 */
    bool separate;
    const uint16_t *map; /* 3 << bits */
};

/* What sample s of the stored pixel (x, y) is: bits of finite numbers. */
static uint32_t tiff_sample(const struct tiff_file *f, uint32_t x, uint32_t y, uint32_t s)
{
    uint32_t v = (x * 2654435761U) ^ (y * 2246822519U + 77) ^ (s * 3266489917U);
    v ^= v >> 15;
    v = v * 668265263U;
    v ^= v >> 13;
    if (f->format == 3)
        return f->bits == 16 ? v & 0xbbff : v & 0xbfffffff;
    return f->bits < 32 ? v & ((1U << f->bits) - 1) : v;
}

static void tiff_put(struct text *t, const struct tiff_file *f, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        put_u8(t, (unsigned)(v >> 8 * (f->motorola ? bytes - 1 - i : i)) & 255);
}

static void tiff_row(struct text *t, const struct tiff_file *f, uint32_t plane, uint32_t x,
                     uint32_t y, uint32_t n)
{
    uint32_t samples = f->separate ? 1 : f->samples, byte = 0, have = 0;
    for (uint32_t i = 0; i < n * samples; i++) {
        uint32_t px = x + i / samples; /* what hangs over the edge is there, and nothing */
        uint32_t v = px < f->width && y < f->height
                         ? tiff_sample(f, px, y, f->separate ? plane : i % samples)
                         : 0;
        if (f->bits >= 8) {
            tiff_put(t, f, v, f->bits / 8);
            continue;
        }
        byte = byte << f->bits | v;
        have += f->bits;
        if (have == 8 || i + 1 == n * samples) {
            put_u8(t, byte << (8 - have) & 255);
            byte = have = 0;
        }
    }
}

/* A directory's entries, and values that are too long for them. */
struct tiff_directory {
    const struct tiff_file *f;
    struct text entries, values;
    uint64_t values_at;
    unsigned count;
};

static void tiff_entry(struct tiff_directory *d, uint32_t tag, uint32_t type, size_t count,
                       const uint64_t *values)
{
    unsigned bytes = type == 3 ? 2 : type == 4 ? 4 : 8, room = d->f->big ? 8 : 4;
    struct text *to = &d->entries;
    tiff_put(to, d->f, tag, 2);
    tiff_put(to, d->f, type, 2);
    tiff_put(to, d->f, count, room);
    size_t used = 0;
    if (count * bytes > room) {
        tiff_put(to, d->f, d->values_at + d->values.len, room);
        to = &d->values;
        used = room;
    }
    for (size_t i = 0; i < count; i++)
        tiff_put(to, d->f, values[i], bytes);
    for (used += count * bytes; used < room; used++)
        put_u8(to, 0);
    d->count++;
}

static void tiff_number(struct tiff_directory *d, uint32_t tag, uint32_t type, uint64_t value)
{
    if (value)
        tiff_entry(d, tag, type, 1, &value);
}

static void tiff_list(struct tiff_directory *d, uint32_t tag, const uint32_t *list, size_t count,
                      uint32_t same)
{
    uint64_t values[16];
    for (size_t i = 0; i < count; i++)
        values[i] = list ? list[i] - 1 : same;
    if (count)
        tiff_entry(d, tag, 3, count, values);
}

/* Header and directory, the texels' blocks beginning at `data_at`; the text is the head alone. */
static struct text tiff_head(const struct tiff_file *f, uint64_t data_at, uint64_t values_at,
                             const uint64_t *sizes, size_t blocks)
{
    struct tiff_directory d = {.f = f, .values_at = values_at};
    uint64_t *offsets = calloc(blocks, sizeof *offsets), map[3 * 256], at = data_at;
    size_t extras = 0;
    for (size_t i = 0; i < blocks; at += sizes[i++])
        offsets[i] = at;
    while (extras < 3 && f->extras[extras])
        extras++;
    uint32_t where = f->big ? 16 : 4;
    tiff_number(&d, 256, 4, f->width);
    tiff_number(&d, 257, 3, f->height);
    tiff_list(&d, 258, NULL, f->samples, f->bits);
    tiff_number(&d, 259, 3, f->compression ? f->compression : 1);
    if (f->photometric != 99)
        tiff_entry(&d, 262, 3, 1, &(uint64_t){f->photometric});
    if (!f->tile_width)
        tiff_entry(&d, 273, where, blocks, offsets);
    tiff_number(&d, 274, 3, f->orientation);
    tiff_number(&d, 277, 3, f->samples);
    if (!f->tile_width) {
        tiff_number(&d, 278, 4, f->rows);
        tiff_entry(&d, 279, where, blocks, sizes);
    }
    tiff_number(&d, 284, 3, f->separate ? 2 : 1);
    for (size_t i = 0; f->map && i < (size_t)3 << f->bits; i++)
        map[i] = f->map[i];
    if (f->map)
        tiff_entry(&d, 320, 3, (size_t)3 << f->bits, map);
    if (f->tile_width) {
        tiff_number(&d, 322, 4, f->tile_width);
        tiff_number(&d, 323, 4, f->tile_height);
        tiff_entry(&d, 324, where, blocks, offsets);
        tiff_entry(&d, 325, where, blocks, sizes);
    }
    tiff_list(&d, 338, f->extras, extras, 0);
    if (f->format)
        tiff_list(&d, 339, NULL, f->samples, f->format);
    struct text t = {0};
    put(&t, f->motorola ? "MM" : "II", 2);
    tiff_put(&t, f, f->big ? 43 : 42, 2);
    if (f->big) {
        tiff_put(&t, f, 8, 2);
        tiff_put(&t, f, 0, 2);
    }
    tiff_put(&t, f, f->big ? 16 : 8, f->big ? 8 : 4);
    tiff_put(&t, f, d.count, f->big ? 8 : 2);
    put(&t, d.entries.data, d.entries.len);
    tiff_put(&t, f, 0, f->big ? 8 : 4);
    if (values_at)
        assert_int_equal(t.len, values_at);
    else
        d.values_at = t.len;
    if (d.values.len)
        put(&t, d.values.data, d.values.len);
    text_free(&d.entries);
    text_free(&d.values);
    free(offsets);
    struct text whole = t;
    if (!values_at) { /* now that the sizes are known */
        whole = tiff_head(f, t.len, d.values_at, sizes, blocks);
        text_free(&t);
    }
    return whole;
}

/* By "TIFF, Revision 6.0", sections 2, 3, 8, 14, 15 and 19, and the page on BigTIFF; texels last,
 * so that a file that is cut off lacks some. */
static struct text tiff_make(const struct tiff_file *f)
{
    uint32_t w = f->tile_width ? f->tile_width : f->width;
    uint32_t h = f->tile_width ? f->tile_height : f->rows ? f->rows : f->height;
    struct text data = {0};
    uint64_t sizes[512];
    size_t blocks = 0;
    for (uint32_t plane = 0; plane < (f->separate ? f->samples : 1); plane++)
        for (uint32_t y = 0; y < f->height; y += h)
            for (uint32_t x = 0; x < f->width; x += w) {
                size_t before = data.len;
                for (uint32_t k = 0; k < h && (f->tile_width || y + k < f->height); k++)
                    tiff_row(&data, f, plane, x, y + k, w);
                assert_true(blocks < 512);
                sizes[blocks++] = data.len - before;
            }
    struct text t = tiff_head(f, 0, 0, sizes, blocks);
    put(&t, data.data, data.len);
    text_free(&data);
    return t;
}

/* The bits of a channel of a texel, whatever its format. */
static uint32_t texel_bits(const struct image *im, uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t v = 0; /* this machine's order: little-endian */
    size_t size = texel_size(im->format);
    memcpy(&v, (const char *)im->texels + (((size_t)y * im->width + x) * im->channels + c) * size,
           size);
    return v;
}

static struct image read_tiff(const struct tiff_file *f)
{
    struct image im;
    struct error err = {0};
    struct text t = tiff_make(f);
    expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
    text_free(&t);
    return im;
}

/* Each channel is the sample that `from` says, at the same place. */
static void check_tiff(const struct tiff_file *f, uint32_t channels, const uint32_t *from,
                       enum texel_format format)
{
    struct image im = read_tiff(f);
    assert_true(im.width == f->width && im.height == f->height && im.channels == channels);
    assert_int_equal(im.format, format);
    assert_int_equal(im.srgb, format == TEXEL_U8 || format == TEXEL_U16);
    for (uint32_t y = 0; y < im.height; y++)
        for (uint32_t x = 0; x < im.width; x++)
            for (uint32_t c = 0; c < channels; c++)
                if (texel_bits(&im, x, y, c) != tiff_sample(f, x, y, from[c]))
                    fail_msg("%u samples of %u bits, texel %u, %u, channel %u", f->samples, f->bits,
                             x, y, c);
}

/* Both orders of bytes, both sizes of offsets, strips and tiles, samples together and apart, all
 * formats, one to five samples. */
static void test_tiff_layouts(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits, format;
        enum texel_format want;
    } formats[] = {{8, 0, TEXEL_U8}, {16, 1, TEXEL_U16}, {16, 3, TEXEL_F16}, {32, 3, TEXEL_F32}};
    static const uint32_t channels[] = {0, 1, 4, 3, 4, 4};
    static const uint32_t from[][4] = {{0},       {0},          {0, 0, 0, 1},
                                       {0, 1, 2}, {0, 1, 2, 3}, {0, 1, 2, 4}};
    for (uint32_t k = 0; k < 4 * 5 * 16; k++) {
        uint32_t n = 1 + k / 4 % 5, way = k / 20;
        struct tiff_file f = {.width = 37,
                              .height = 21,
                              .samples = n,
                              .bits = formats[k % 4].bits,
                              .format = formats[k % 4].format,
                              .photometric = n < 3 ? 1 : 2,
                              .motorola = way & 1,
                              .big = way & 2,
                              .separate = way & 4,
                              .rows = 4,
                              .tile_width = way & 8 ? 16 : 0,
                              .tile_height = 32};
        if (n == 2 || n == 4)
            f.extras[0] = n == 2 ? 3 : 2; /* alpha, unassociated or associated */
        if (n == 5) {                     /* the second is alpha */
            f.extras[0] = 1;
            f.extras[1] = 3;
        }
        check_tiff(&f, channels[n], from[n], formats[k % 4].want);
        arena_free(&arena);
    }
}

/* So large that threads share the work; cut off, the first block that lacks bytes is named. */
static void test_tiff_large(void **state)
{
    (void)state;
    static const uint32_t from[] = {0, 1, 2};
    for (uint32_t k = 0; k < 3; k++) {
        struct tiff_file f = {.width = 1101,
                              .height = 1001,
                              .samples = 3,
                              .bits = 8,
                              .photometric = 2,
                              .separate = k == 1,
                              .rows = 20,
                              .tile_width = k == 2 ? 64 : 0,
                              .tile_height = 64};
        check_tiff(&f, 3, from, TEXEL_U8);
        struct text t = tiff_make(&f);
        t.len -= 10; /* of the last row of blocks */
        expect_failure(&t, STATUS_PARSE,
                       k == 2 ? "its pixels at column 1088, row 960: "
                              : "its pixels at column 0, row 1000: ");
        text_free(&t);
        arena_free(&arena);
    }
}

/* Samples beside the colours, together and apart: alpha is what is called so, else the first. */
static void test_tiff_extra_samples(void **state)
{
    (void)state;
    static const struct {
        uint32_t photometric, samples, extras[3], channels, from[4];
    } files[] = {
        {1, 4, {2, 1, 1}, 4, {0, 0, 0, 1}}, /* gray, alpha, others */
        {1, 4, {1, 1, 3}, 4, {0, 0, 0, 3}}, {1, 2, {1}, 4, {0, 0, 0, 1}},
        {1, 2, {0}, 4, {0, 0, 0, 1}},       {1, 3, {1, 1}, 3, {0, 1, 2}}, /* gray by name only */
        {1, 4, {1, 1, 1}, 4, {0, 1, 2, 3}}, {2, 4, {1}, 4, {0, 1, 2, 3}},
        {2, 4, {0}, 4, {0, 1, 2, 3}},       {2, 6, {1, 1, 2}, 4, {0, 1, 2, 5}},
    };
    for (size_t k = 0; k < 2 * sizeof files / sizeof *files; k++) {
        struct tiff_file f = {.width = 5,
                              .height = 3,
                              .samples = files[k / 2].samples,
                              .bits = 8,
                              .photometric = files[k / 2].photometric,
                              .separate = k & 1};
        memcpy(f.extras, files[k / 2].extras, sizeof f.extras);
        check_tiff(&f, files[k / 2].channels, files[k / 2].from, TEXEL_U8);
    }
}

/* Where the specification says that the file's row 0 and column 0 are in the picture. */
static void test_tiff_orientations(void **state)
{
    (void)state;
    enum { W = 19, H = 7 }; /* as stored */
    for (uint32_t k = 0; k < 16; k++) {
        uint32_t o = 1 + k % 8;
        struct tiff_file f = {.width = W,
                              .height = H,
                              .samples = 3,
                              .bits = 16,
                              .photometric = 2,
                              .orientation = o,
                              .rows = 2,
                              .tile_width = k / 8 ? 16 : 0,
                              .tile_height = 16};
        struct image im = read_tiff(&f);
        assert_int_equal(im.width, o < 5 ? W : H);
        assert_int_equal(im.height, o < 5 ? H : W);
        for (uint32_t row = 0; row < H; row++)
            for (uint32_t column = 0; column < W; column++) {
                const uint32_t x[] = {0,      column, W - 1 - column, W - 1 - column,
                                      column, row,    H - 1 - row,    H - 1 - row,
                                      row};
                const uint32_t y[] = {0,
                                      row,
                                      row,
                                      H - 1 - row,
                                      H - 1 - row,
                                      column,
                                      column,
                                      W - 1 - column,
                                      W - 1 - column};
                for (uint32_t c = 0; c < 3; c++)
                    assert_int_equal(texel_bits(&im, x[o], y[o], c),
                                     tiff_sample(&f, column, row, c));
            }
    }
}

/* Few bits, white at 0, palettes. */
static void test_tiff_gray_and_palettes(void **state)
{
    (void)state;
    static const uint32_t depths[] = {1, 2, 4, 8, 16};
    static uint16_t wide[3 * 256], old[3 * 256];
    for (uint32_t i = 0; i < 3 * 256; i++) {
        old[i] = (uint16_t)(i * 37 % 256);
        wide[i] = (uint16_t)(old[i] * 257);
    }
    for (uint32_t k = 0; k < 5 * 4 * 2; k++) {
        uint32_t bits = depths[k % 5], kind = k / 5 % 4; /* white, black, old map, wide map */
        if (kind >= 2 && bits == 16)
            continue;
        struct tiff_file f = {.width = 37,
                              .height = 5,
                              .samples = 1,
                              .bits = bits,
                              .photometric = kind < 2 ? kind : 3,
                              .rows = 2,
                              .tile_width = k / 20 ? 16 : 0,
                              .tile_height = 16,
                              .map = kind < 2    ? NULL
                                     : kind == 2 ? old
                                                 : wide};
        struct image im = read_tiff(&f);
        assert_int_equal(im.channels, kind < 2 ? 1 : 3);
        assert_int_equal(im.format, bits == 16 ? TEXEL_U16 : TEXEL_U8);
        uint32_t most = bits == 16 ? 65535 : 255;
        for (uint32_t y = 0; y < f.height; y++)
            for (uint32_t x = 0; x < f.width; x++) {
                uint32_t v = tiff_sample(&f, x, y, 0), share = most / ((1U << bits) - 1) * v;
                for (uint32_t c = 0; c < im.channels; c++) {
                    uint32_t want = kind == 0   ? most - share
                                    : kind == 1 ? share
                                                : old[(c << bits) + v];
                    assert_int_equal(texel_bits(&im, x, y, c), want);
                }
            }
    }
    /* alpha stays when white is 0 */
    struct tiff_file f = {.width = 3, .height = 2, .samples = 2, .bits = 8, .extras = {3}};
    struct image im = read_tiff(&f);
    assert_int_equal(byte(&im, 2, 1, 1), 255 - tiff_sample(&f, 2, 1, 0));
    assert_int_equal(byte(&im, 2, 1, 3), tiff_sample(&f, 2, 1, 1));
}

/* What whole numbers mean: sRGB in scenes, themselves in shaders; halves are decoded on demand. */
static void test_tiff_color_spaces(void **state)
{
    (void)state;
    struct tiff_file f = {.width = 5, .height = 4, .samples = 1, .bits = 16, .photometric = 1};
    struct text t = tiff_make(&f);
    struct image im;
    static const bool srgb[] = {
        [COLOR_AUTO] = true, [COLOR_SRGB] = true, [COLOR_LINEAR] = false, [COLOR_SHADER] = false};
    for (enum color_space s = COLOR_AUTO; s <= COLOR_SHADER; s++) {
        expect_ok(read_text(&t, s, &im, NULL), NULL);
        assert_int_equal(im.srgb, srgb[s]);
    }
    text_free(&t);
    f.format = 3;
    t = tiff_make(&f);
    expect_ok(read_text(&t, COLOR_SRGB, &im, NULL), NULL);
    assert_int_equal(im.format, TEXEL_F32);
    for (uint32_t x = 0; x < f.width; x++) {
        double v = (double)ImfHalfToFloat((uint16_t)tiff_sample(&f, x, 3, 0));
        assert_true(texel(&im, x, 3, 0) == (float)srgb_decode(v));
    }
    text_free(&t);
    static const uint8_t gray[] = {1, 2}; /* other formats are not touched by it */
    t = png_file(2, 1, 8, PNG_COLOR_TYPE_GRAY, 0, gray, 2, false);
    expect_ok(read_text(&t, COLOR_SHADER, &im, NULL), NULL);
    assert_true(im.srgb);
    text_free(&t);
}

/* A file in memory that libtiff writes. */
struct tiff_output {
    struct text t;
    size_t at;
};

static tmsize_t tiff_out_read(thandle_t h, void *to, tmsize_t n)
{
    struct tiff_output *o = h;
    size_t left = o->t.len - o->at, take = (size_t)n < left ? (size_t)n : left;
    memcpy(to, o->t.data + o->at, take);
    o->at += take;
    return (tmsize_t)take;
}

static tmsize_t tiff_out_write(thandle_t h, void *from, tmsize_t n)
{
    struct tiff_output *o = h;
    while (o->t.len < o->at + (size_t)n)
        put_u8(&o->t, 0);
    memcpy(o->t.data + o->at, from, (size_t)n);
    o->at += (size_t)n;
    return n;
}

static toff_t tiff_out_seek(thandle_t h, toff_t offset, int whence)
{
    struct tiff_output *o = h;
    return o->at = offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? o->at : o->t.len);
}

static int tiff_out_close(thandle_t h) { return h ? 0 : 1; }
static toff_t tiff_out_size(thandle_t h) { return ((struct tiff_output *)h)->t.len; }

struct tiff_packing {
    const char *name;
    uint16_t compression, predictor, bits, format, photometric, tile;
};

/* A directory of w x h texels of three samples, which are values[]. */
static void tiff_pack_level(TIFF *tif, const struct tiff_packing *p, uint32_t w, uint32_t h,
                            const uint8_t *values)
{
    size_t pixel = (size_t)3 * p->bits / 8;
    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, w);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, h);
    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, p->bits);
    TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, p->format);
    TIFFSetField(tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tif, TIFFTAG_COMPRESSION, p->compression);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, p->photometric);
    if (p->photometric == PHOTOMETRIC_YCBCR)
        TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    if (p->compression == COMPRESSION_JPEG)
        TIFFSetField(tif, TIFFTAG_JPEGQUALITY, 100);
    if (p->predictor)
        TIFFSetField(tif, TIFFTAG_PREDICTOR, p->predictor);
    if (!p->tile) {
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, 16);
        uint8_t *row = malloc(w * pixel); /* predictors work in place */
        for (uint32_t y = 0; y < h; y++) {
            memcpy(row, values + y * w * pixel, w * pixel);
            assert_int_equal(TIFFWriteScanline(tif, row, y, 0), 1);
        }
        free(row);
    } else {
        TIFFSetField(tif, TIFFTAG_TILEWIDTH, p->tile);
        TIFFSetField(tif, TIFFTAG_TILELENGTH, p->tile);
        uint8_t *tile = calloc((size_t)p->tile * p->tile, pixel);
        for (uint32_t y = 0; y < h; y += p->tile)
            for (uint32_t x = 0; x < w; x += p->tile) {
                for (uint32_t k = 0; k < p->tile; k++)
                    for (uint32_t i = 0; i < p->tile; i++) { /* the edge goes on */
                        uint32_t px = x + i < w ? x + i : w - 1, py = y + k < h ? y + k : h - 1;
                        memcpy(tile + ((size_t)k * p->tile + i) * pixel,
                               values + ((size_t)py * w + px) * pixel, pixel);
                    }
                assert_true(TIFFWriteTile(tif, tile, x, y, 0, 0) > 0);
            }
        free(tile);
    }
    assert_int_equal(TIFFWriteDirectory(tif), 1);
}

/* Two levels as a texture has them, the smaller one second. */
static struct text tiff_pack(const struct tiff_packing *p, uint32_t w, uint32_t h,
                             const uint8_t *values)
{
    struct tiff_output o = {0};
    TIFF *tif = TIFFClientOpen("test", "w", &o, tiff_out_read, tiff_out_write, tiff_out_seek,
                               tiff_out_close, tiff_out_size, NULL, NULL);
    TIFFErrorHandler warn = TIFFSetWarningHandler(NULL); /* of old numbers */
    assert_non_null(tif);
    tiff_pack_level(tif, p, w, h, values);
    TIFFSetField(tif, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    tiff_pack_level(tif, p, w / 2, h / 2, values);
    TIFFClose(tif);
    TIFFSetWarningHandler(warn);
    return o.t;
}

static const struct tiff_packing tiff_packings[] = {
    {"LZW", COMPRESSION_LZW, 2, 8, 1, 2, 0},
    {"LZW, tiles", COMPRESSION_LZW, 0, 16, 3, 2, 16},
    {"deflate", COMPRESSION_ADOBE_DEFLATE, 2, 16, 1, 2, 16},
    {"deflate, floats' predictor", COMPRESSION_ADOBE_DEFLATE, 3, 32, 3, 2, 16},
    {"deflate, old number", COMPRESSION_DEFLATE, 0, 8, 1, 2, 0},
    {"PackBits", COMPRESSION_PACKBITS, 0, 8, 1, 2, 16},
    {"zstd", COMPRESSION_ZSTD, 2, 8, 1, 2, 16},
    {"LZMA", COMPRESSION_LZMA, 0, 16, 1, 2, 0},
    {"JPEG", COMPRESSION_JPEG, 0, 8, 1, 2, 16},
    {"JPEG, YCbCr", COMPRESSION_JPEG, 0, 8, 1, 6, 16},
    {"JPEG, YCbCr, strips", COMPRESSION_JPEG, 0, 8, 1, 6, 0},
};

enum { PACKED_W = 45, PACKED_H = 27, PACKED_VALUES = PACKED_W * PACKED_H * 3 };

/* Waves with noise, or one colour for what loses some of them. */
static struct text tiff_packed(const struct tiff_packing *p, uint8_t *values)
{
    uint8_t *noise = picture_bytes(PACKED_W * 3, PACKED_H);
    for (size_t i = 0; i < PACKED_VALUES; i++) {
        uint8_t v = p->compression == COMPRESSION_JPEG ? (uint8_t)(60 + 50 * (i % 3)) : noise[i];
        uint16_t half = (uint16_t)(v * 41 % 0x7c00), word = (uint16_t)(v * 257 ^ i);
        float real = (float)v / 7;
        if (p->bits == 8)
            values[i] = v;
        else if (p->bits == 16)
            memcpy(values + 2 * i, p->format == 3 ? &half : &word, 2);
        else
            memcpy(values + 4 * i, &real, 4);
    }
    free(noise);
    return tiff_pack(p, PACKED_W, PACKED_H, values);
}

/* What libtiff packs comes back. */
static void test_tiff_compressions(void **state)
{
    (void)state;
    static uint8_t values[PACKED_VALUES * 4];
    for (size_t k = 0; k < sizeof tiff_packings / sizeof *tiff_packings; k++) {
        const struct tiff_packing *p = &tiff_packings[k];
        if (!TIFFIsCODECConfigured(p->compression)) {
            print_message("no %s in this libtiff\n", p->name);
            continue;
        }
        struct text t = tiff_packed(p, values);
        struct image im;
        struct error err = {0};
        expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
        assert_true(im.width == PACKED_W && im.height == PACKED_H && im.channels == 3);
        size_t size = PACKED_VALUES * texel_size(im.format);
        if (p->compression != COMPRESSION_JPEG)
            assert_memory_equal(im.texels, values, size);
        for (size_t i = 0; i < size && p->compression == COMPRESSION_JPEG; i++)
            /* flat colour at quality 100: rounding of YCbCr alone, 2 steps at most */
            assert_true(abs(((uint8_t *)im.texels)[i] - values[i]) <= 2);
        text_free(&t);
    }
}

/* Reads a file with one byte after another turned, or cut off before it. How many of these were
 * refused; -1 if a refusal says nothing. Nothing may come on stderr: what does is in *printed. */
static int count_refused(struct text *t, size_t step, bool cut, long *printed)
{
    FILE *f = tmpfile();
    int before = dup(STDERR_FILENO), refused = 0;
    assert_true(f && before >= 0);
    fflush(stderr);
    dup2(fileno(f), STDERR_FILENO); /* no assertions until it is back */
    for (size_t at = 4; at < t->len && refused >= 0; at += step) {
        struct image im;
        struct error err = {0};
        struct text all = {.data = t->data, .len = cut ? at : t->len};
        t->data[at] = (char)(t->data[at] ^ 0x55);
        if (read_text(&all, COLOR_AUTO, &im, &err) != STATUS_OK)
            refused = strncmp(err.msg, "cannot read the image test: ", 28) == 0 && err.msg[28]
                          ? refused + 1
                          : -1;
        t->data[at] = (char)(t->data[at] ^ 0x55);
        arena_free(&arena);
    }
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    *printed = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    fclose(f);
    return refused;
}

static void test_tiff_damaged(void **state)
{
    (void)state;
    static uint8_t values[PACKED_VALUES * 4];
    long printed;
    struct tiff_file f = {
        .width = 9, .height = 5, .samples = 3, .bits = 16, .photometric = 2, .rows = 2};
    struct text t = tiff_make(&f);
    assert_int_equal(count_refused(&t, 1, true, &printed), t.len - 4); /* every one */
    assert_int_equal(printed, 0);
    text_free(&t);
    for (size_t k = 0; k < sizeof tiff_packings / sizeof *tiff_packings; k++) {
        if (!TIFFIsCODECConfigured(tiff_packings[k].compression))
            continue;
        t = tiff_packed(&tiff_packings[k], values);
        assert_true(count_refused(&t, t.len / 200 + 1, false, &printed) > 0);
        assert_int_equal(printed, 0);
        text_free(&t);
    }
}

static void test_tiff_refused(void **state)
{
    (void)state;
    static const struct {
        struct tiff_file f;
        enum status want;
        const char *words;
    } files[] = {
        {{.samples = 4, .bits = 8, .photometric = 5}, STATUS_UNSUPPORTED, "are inks (CMYK)"},
        {{.samples = 3, .bits = 8, .photometric = 6}, STATUS_UNSUPPORTED, "expected gray, RGB"},
        {{.samples = 3, .bits = 8, .photometric = 8}, STATUS_UNSUPPORTED, "CIE L*a*b*"},
        {{.samples = 1, .bits = 8, .photometric = 51177}, STATUS_UNSUPPORTED, "of an unknown kind"},
        {{.samples = 3, .bits = 8, .photometric = 99}, STATUS_TYPE, "PhotometricInterpretation"},
        {{.samples = 1, .bits = 4, .photometric = 3}, STATUS_PARSE, "Colormap"},
        {{.samples = 2, .bits = 8, .photometric = 2}, STATUS_PARSE, "2 samples a pixel"},
        {{.samples = 1, .bits = 16, .format = 2, .photometric = 1},
         STATUS_UNSUPPORTED,
         "signed whole numbers of 16 bits"},
        {{.samples = 1, .bits = 32, .format = 1, .photometric = 1},
         STATUS_UNSUPPORTED,
         "unsigned whole numbers of 32 bits"},
        {{.samples = 1, .bits = 64, .format = 3, .photometric = 1},
         STATUS_UNSUPPORTED,
         "floats of 64 bits"},
        {{.samples = 1, .bits = 32, .format = 3}, STATUS_UNSUPPORTED, "0 for white"},
        {{.samples = 1, .bits = 8, .photometric = 1, .compression = 6},
         STATUS_UNSUPPORTED,
         "compression is 6"},
        {{.samples = 1, .bits = 8, .photometric = 1, .compression = 4242},
         STATUS_UNSUPPORTED,
         "compression is 4242"},
        {{.samples = 1, .bits = 8, .photometric = 1, .tile_width = 65536, .tile_height = 16},
         STATUS_LIMIT,
         "tiles have 65536x16 pixels"},
        {{.width = 40000, .samples = 1, .bits = 8, .photometric = 1}, STATUS_LIMIT, "40000x3"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct tiff_file f = files[i].f;
        f.width = f.width ? f.width : 4;
        f.height = 3;
        struct text t = tiff_make(&f);
        expect_failure(&t, files[i].want, files[i].words);
        text_free(&t);
    }
    /* 2048 tiles of 16 x 32768 pixels for one row of the image */
    struct tiff_file f = {.width = 32768,
                          .height = 1,
                          .samples = 16,
                          .bits = 8,
                          .photometric = 2,
                          .tile_width = 16,
                          .tile_height = 32768};
    uint64_t sizes[2048];
    for (size_t i = 0; i < 2048; i++)
        sizes[i] = 1;
    struct text t = tiff_head(&f, 0, 0, sizes, 2048);
    expect_failure(&t, STATUS_LIMIT, "at most 2^33 bytes");
    text_free(&t);
    f = (struct tiff_file){
        .width = 2, .height = 2, .samples = 1, .bits = 32, .format = 3, .photometric = 1};
    t = tiff_make(&f);
    memcpy(t.data + t.len - 4, &(float){NAN}, 4);
    expect_failure(&t, STATUS_TYPE, "column 1, row 1 is not a finite number");
    text_free(&t);
}

/* A strip of JPEG that ends early: libtiff would make up the rest, with a warning. */
static void test_tiff_cut_jpeg(void **state)
{
    (void)state;
    static const uint8_t color[] = {200, 60, 20};
    struct tiff_file f = {.width = 64,
                          .height = 64,
                          .samples = 3,
                          .bits = 8,
                          .photometric = 6,
                          .compression = COMPRESSION_JPEG};
    struct text jpeg = jpeg_file(64, 64, 3, false, color);
    for (size_t cut = 0; cut <= 20; cut += 20) {
        uint64_t size = jpeg.len - cut;
        struct text t = tiff_head(&f, 0, 0, &size, 1);
        put(&t, jpeg.data, (size_t)size);
        struct image im;
        struct error err = {0};
        if (cut)
            expect_failure(&t, STATUS_PARSE, "its pixels at column 0, row 0: ");
        else
            expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
        text_free(&t);
    }
    text_free(&jpeg);
}

/* ---- conversions, files --------------------------------------------------------------------- */

static void test_to_rgb(void **state)
{
    (void)state;
    uint8_t gray[2] = {0, 188};
    float rgba[4] = {-1, 2, 3, 0.5F};
    struct image im = {.width = 2, .height = 1, .channels = 1, .texels = gray, .srgb = true}, out;
    expect_ok(image_to_rgb32f(&arena, &im, &out), NULL);
    assert_true(texel(&out, 1, 0, 2) == (float)srgb_decode(188 / 255.0));
    im =
        (struct image){.width = 1, .height = 1, .channels = 4, .format = TEXEL_F32, .texels = rgba};
    expect_ok(image_to_rgb32f(&arena, &im, &out), NULL);
    assert_true(texel(&out, 0, 0, 0) == 0 && texel(&out, 0, 0, 2) == 3);
}

static void test_files(void **state)
{
    (void)state;
    struct image im;
    struct error err = {0};
    assert_int_equal(image_read(&arena, "/nonexistent/a.png", &im, &err), STATUS_MISSING);
    assert_non_null(strstr(err.msg, "/nonexistent/a.png"));
    assert_int_equal(image_read(&arena, "/tmp", &im, &err), STATUS_IO);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_srgb),
        CASE(test_exr_layouts),
        CASE(test_exr_refused),
        CASE(test_exr_round_trip),
        CASE(test_hdr_orientation),
        CASE(test_hdr_runs),
        CASE(test_hdr_refused),
        CASE(test_png_types),
        CASE(test_png_16_bits),
        CASE(test_png_filters),
        CASE(test_png_damaged),
        CASE(test_png_refused),
        CASE(test_png_written),
        CASE(test_tiff_written),
        CASE(test_tiff_layouts),
        CASE(test_tiff_large),
        CASE(test_tiff_extra_samples),
        CASE(test_tiff_orientations),
        CASE(test_tiff_gray_and_palettes),
        CASE(test_tiff_color_spaces),
        CASE(test_tiff_compressions),
        CASE(test_tiff_damaged),
        CASE(test_tiff_refused),
        CASE(test_jpeg),
        CASE(test_tiff_cut_jpeg),
        CASE(test_tga_color),
        CASE(test_tga_others),
        CASE(test_to_rgb),
        CASE(test_files),
        CASE(test_exr_compressions),
        CASE(test_exr_dwa),
        CASE(test_exr_unwanted_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
