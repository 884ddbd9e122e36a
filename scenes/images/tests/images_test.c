/* SPDX-License-Identifier: Apache-2.0 */
/* Image readers and writers against files that this test builds byte by byte, or that libpng,
 * libjpeg and libwebp encode from known values. */
#define _GNU_SOURCE /* memmem */
#include "test_images.h"

#include <ImfCRgbaFile.h>
#include <cmocka.h>
#include <openexr.h>
#include <webp/encode.h>

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

/* A chunk of no bytes, of which OpenEXR's C++ library shows what was in its memory. */
static void test_exr_empty_chunk(void **state)
{
    (void)state;
    char *data;
    size_t size, at = 8;
    struct error err = {0};
    expect_ok(
        file_read(&arena, SOURCE_DIR "/scenes/tests/exr/piz-lines.exr", 0, &data, &size, &err),
        &err);
    const unsigned char *bytes = (const unsigned char *)data;
    while (at + 8 < size &&
           !(little32(bytes + at) == 0 && little32(bytes + at + 4) == size - at - 8))
        at++; /* its only chunk: line 0, bytes up to the end */
    assert_true(at + 8 < size);
    memset(data + at + 4, 0, 4);
    struct text t = {.data = data, .len = size};
    expect_failure(&t, STATUS_PARSE, "its pixels cannot be read");
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
/* Files that OpenEXRCore packs: three channels of this type, their values as they lie in memory.
 * (3.1.5 spoils a chunk whose packed size is just its plain one: none of these has such.) */
static void pack_exr(const char *path, exr_compression_t compression, exr_pixel_type_t type,
                     uint32_t width, uint32_t height, const uint8_t *texels)
{
    exr_context_t file;
    exr_chunk_info_t chunk;
    exr_encode_pipeline_t pipe = {0};
    int part, lines, size = type == EXR_PIXEL_HALF ? 2 : 4;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    assert_int_equal(exr_start_write(&file, path, EXR_WRITE_FILE_DIRECTLY, &init), 0);
    assert_int_equal(exr_add_part(file, "a", EXR_STORAGE_SCANLINE, &part), 0);
    assert_int_equal(
        exr_initialize_required_attr_simple(file, part, (int)width, (int)height, compression), 0);
    for (int c = 0; c < 3; c++)
        assert_int_equal(exr_add_channel(file, part, &"B\0G\0R"[2 * c], type,
                                         EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1),
                         0);
    assert_int_equal(exr_write_header(file), 0);
    assert_int_equal(exr_get_scanlines_per_chunk(file, part, &lines), 0);
    for (int y = 0; y < (int)height; y += lines) {
        assert_int_equal(exr_write_scanline_chunk_info(file, part, y, &chunk), 0);
        assert_int_equal(y ? exr_encoding_update(file, part, &chunk, &pipe)
                           : exr_encoding_initialize(file, part, &chunk, &pipe),
                         0);
        for (int c = 0; c < 3; c++) {
            pipe.channels[c].user_pixel_stride = 3 * size;
            pipe.channels[c].user_line_stride = 3 * size * (int)width;
            pipe.channels[c].user_data_type = (uint16_t)type;
            pipe.channels[c].user_bytes_per_element = (int16_t)size;
            pipe.channels[c].encode_from_ptr =
                texels + (size_t)size * (3 * (size_t)y * width + 2 - (size_t)c);
        }
        if (y == 0)
            assert_int_equal(exr_encoding_choose_default_routines(file, part, &pipe), 0);
        assert_int_equal(exr_encoding_run(file, part, &pipe), 0);
    }
    exr_encoding_destroy(file, &pipe);
    assert_int_equal(exr_finish(&file), 0);
}

/* Finite halves, or as many floats: `kind` 0 all one, 1 waves under little noise, 2 any
 * bits, 3 more than 2^14 values that still pack well. */
static uint8_t *make_texels(int kind, bool half, uint32_t width, uint32_t height)
{
    size_t n = (size_t)3 * width * height;
    uint8_t *bytes = malloc(n * 4);
    uint64_t random = 7;
    for (size_t i = 0; i < n; i++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        uint32_t dice = (uint32_t)(random >> 32);
        float v = 1;
        if (kind == 1)
            v = 2 + sinf((float)(i / 3 % width) / 9) + (float)(dice >> 29) * 0x1p-10F;
        uint32_t bits = dice & 0xbfffffff; /* an exponent that is not the largest */
        ImfHalf short_bits = (ImfHalf)(dice & 0xbfff);
        if (kind < 2) {
            memcpy(&bits, &v, sizeof bits);
            ImfFloatToHalf(v, &short_bits);
        }
        if (kind == 3) {
            bits = 0x3f800000 + (uint32_t)i * 5;
            short_bits = (ImfHalf)(i % 0x7c00);
        }
        memcpy(bytes + (half ? 2 : 4) * i, half ? (void *)&short_bits : (void *)&bits,
               half ? 2 : 4);
    }
    return bytes;
}

/* What the library packed comes back to the bit, in chunks of every shape; of damaged files there
 * is a picture or an error. */
static void test_exr_packed(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {5, 3}, {1, 40}, {40, 1}, {7, 33}, {300, 61}};
    static const exr_compression_t compressions[] = {EXR_COMPRESSION_ZIPS, EXR_COMPRESSION_ZIP,
                                                     EXR_COMPRESSION_PIZ, EXR_COMPRESSION_PXR24};
    char dir[] = "/tmp/isophote-images-XXXXXX", path[64], *data;
    struct error err = {0};
    struct image im;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.exr", dir);
    for (int k = 0; k < 6 * 4 * 2 * 4; k++) {
        const uint32_t *size = sizes[k % 6];
        exr_compression_t compression = compressions[k / 6 % 4];
        bool half = k / 24 % 2;
        if (!half && compression == EXR_COMPRESSION_PXR24)
            continue; /* loses bits */
        uint8_t *texels = make_texels(k / 48, half, size[0], size[1]);
        pack_exr(path, compression, half ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT, size[0], size[1],
                 texels);
        if (image_read(&arena, path, &im, &err) != STATUS_OK)
            fail_msg("%u x %u, compression %d, half %d, kind %d: %s", size[0], size[1],
                     (int)compression, half, k / 48, err.msg);
        assert_int_equal(im.format, half ? TEXEL_F16 : TEXEL_F32);
        size_t bytes = (size_t)3 * size[0] * size[1] * texel_size(im.format), length;
        if (memcmp(im.texels, texels, bytes) != 0)
            fail_msg("%u x %u, compression %d, half %d, kind %d: other bits", size[0], size[1],
                     (int)compression, half, k / 48);
        free(texels);
        expect_ok(file_read(&arena, path, 0, &data, &length, &err), &err);
        for (size_t at = 300; at < length; at += 1 + length / 12) {
            struct text t = {.data = data, .len = length};
            data[at] = (char)(data[at] ^ (1 << at % 8));
            err.msg[0] = '\0';
            assert_true(read_text(&t, COLOR_AUTO, &im, &err) == STATUS_OK || err.msg[0]);
        }
    }
    unlink(path);
    assert_int_equal(rmdir(dir), 0);
}

/* The same of a picture that is large enough for threads. */
static void test_exr_large(void **state)
{
    (void)state;
    enum { SIDE = 1030 };
    char dir[] = "/tmp/isophote-images-XXXXXX", path[64];
    struct error err = {0};
    struct image im;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.exr", dir);
    uint8_t *texels = make_texels(1, false, SIDE, SIDE);
    for (int k = 0; k < 3; k++) {
        pack_exr(path,
                 k == 0   ? EXR_COMPRESSION_ZIPS
                 : k == 1 ? EXR_COMPRESSION_ZIP
                          : EXR_COMPRESSION_PIZ,
                 EXR_PIXEL_FLOAT, SIDE, SIDE, texels);
        expect_ok(image_read(&arena, path, &im, &err), &err);
        assert_memory_equal(im.texels, texels, (size_t)12 * SIDE * SIDE);
    }
    free(texels);
    unlink(path);
    assert_int_equal(rmdir(dir), 0);
}

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

/* Pixels that pack to just as many bytes as they have, which a reader takes for plain ones: some of
 * these pictures of 768 bytes do. */
static void test_exr_not_smaller(void **state)
{
    (void)state;
    enum { N = 8 * 8 * 3 };
    char dir[] = "/tmp/isophote-images-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.exr", dir);
    for (uint32_t n = 0; n < 200; n++) {
        float rgb[N];
        for (uint32_t i = 0; i < N; i++) {
            uint32_t r[4];
            philox4x32((uint32_t[4]){i, n, 2, 3}, (uint32_t[2]){4, 5}, r);
            rgb[i] = (float)(r[0] >> 16) / 65535.0F;
        }
        struct error err = {0};
        struct image im;
        expect_ok(image_write(path, 8, 8, rgb, TONE_LINEAR, 1, &err), &err);
        expect_ok(image_read(&arena, path, &im, &err), &err);
        assert_memory_equal(im.texels, rgb, sizeof rgb);
    }
    unlink(path);
    rmdir(dir);
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
        /* known, but not read: Khronos' KTX 2.0, section 3.1; DDS' first letters */
        {"\xABKTX 20\xBB\r\n\x1A\n", STATUS_TYPE, "it is KTX 2, expected EXR"},
        {"DDS |", STATUS_TYPE, "it is DDS, expected EXR"},
        {"BM6", STATUS_PARSE, "the file ends inside its header"},
        {"GIF89a", STATUS_PARSE, "the file ends before its first picture does"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t = {0};
        text_puts(&t, cases[i].text);
        expect_failure(&t, cases[i].want, cases[i].words);
        text_free(&t);
    }
}

/* ---- PNG ------------------------------------------------------------------------------------ */

/* rows: packed as PNG stores them. */

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
    for (int interlace = 0; interlace < 2; interlace++) {
        static const uint8_t beyond[] = {0x03, 0x14}; /* 0 3 / 1 4, of four colours */
        t = png_file(2, 2, 4, PNG_COLOR_TYPE_PALETTE, interlace, beyond, 1, true);
        expect_failure(&t, STATUS_PARSE, "a texel has colour 4, none of the palette's 4");
        text_free(&t);
    }
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

/* Large enough to be unpacked in parts, whose ends are in the midst of rows. */
static void test_png_in_parts(void **state)
{
    (void)state;
    enum { W = 2100, H = 1700, ROW = 2 * W };
    uint8_t *bytes = malloc((size_t)ROW * H);
    uint64_t random = 3;
    for (size_t i = 0; i < (size_t)ROW * H; i++) { /* 7 bits of noise: codes are worth it */
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        bytes[i] = (uint8_t)(random >> 57);
    }
    struct text t =
        png_filtered(W, H, 16, PNG_COLOR_TYPE_GRAY, PNG_FILTER_NONE | PNG_FILTER_UP, bytes, ROW);
    assert_true(t.len > 5 << 20);
    struct image im = read_png(&t, COLOR_LINEAR);
    for (size_t i = 0; i < (size_t)W * H; i++)
        if (((const uint16_t *)im.texels)[i] != bytes[2 * i] * 256 + bytes[2 * i + 1])
            fail_msg("texel %zu", i);
    text_free(&t);
    free(bytes);
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

/* ---- WebP ----------------------------------------------------------------------------------- */

static struct text webp_file(const uint8_t *pixels, int width, int height, int channels,
                             float quality) /* below 0: lossless */
{
    uint8_t *out = NULL;
    int row = width * channels;
    size_t size = channels == 4
                      ? (quality < 0 ? WebPEncodeLosslessRGBA(pixels, width, height, row, &out)
                                     : WebPEncodeRGBA(pixels, width, height, row, quality, &out))
                      : (quality < 0 ? WebPEncodeLosslessRGB(pixels, width, height, row, &out)
                                     : WebPEncodeRGB(pixels, width, height, row, quality, &out));
    struct text t = {0};
    put(&t, out, size);
    WebPFree(out);
    return t;
}

static void test_webp(void **state)
{
    (void)state;
    enum { WIDTH = 37, HEIGHT = 23 };
    struct image im;
    struct error err = {0};
    for (int k = 0; k < 4; k++) {
        int channels = k & 1 ? 4 : 3;
        bool lossy = k & 2;
        uint8_t pixels[WIDTH * HEIGHT * 4];
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            for (int c = 0; c < channels; c++) /* transparent texels' colours are not kept */
                pixels[i * channels + c] =
                    (uint8_t)(lossy ? 200 - 60 * c : 1 + (i * 7 + c * 50 + i / WIDTH * 31) % 255);
        struct text t = webp_file(pixels, WIDTH, HEIGHT, channels, lossy ? 100 : -1);
        expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
        assert_true(im.width == WIDTH && im.height == HEIGHT && im.srgb);
        assert_int_equal(im.channels, channels);
        for (uint32_t y = 0; y < HEIGHT; y++)
            for (uint32_t x = 0; x < WIDTH; x++)
                for (uint32_t c = 0; c < (uint32_t)channels; c++)
                    /* a flat colour at quality 100: rounding of YCbCr alone */
                    assert_true(abs((int)byte(&im, x, y, c) -
                                    pixels[(y * WIDTH + x) * (uint32_t)channels + c]) <=
                                (lossy && c < 3 ? 3 : 0));
        expect_ok(read_text(&t, COLOR_LINEAR, &im, &err), &err);
        assert_false(im.srgb);
        for (size_t n = 12; n < t.len; n += 1 + t.len / 50) {
            struct text cut = {.data = t.data, .len = n};
            expect_failure(&cut, STATUS_PARSE, "it ends too early");
        }
        text_free(&t);
    }
    /* an extended file whose flags say that it moves */
    static const uint8_t animated[] = {
        'R', 'I', 'F', 'F', 36, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8', 'X', 10, 0, 0, 0, 2, 0,
        0,   0,   7,   0,   0,  7, 0, 0, 'A', 'N', 'I', 'M', 6,   0,   0,   0,   0,  0, 0, 0, 0, 0};
    struct text t = {0};
    put(&t, animated, sizeof animated);
    expect_failure(&t, STATUS_UNSUPPORTED, "animated");
    text_free(&t);
}

/* ---- BMP and GIF ---------------------------------------------------------------------------- */

/* tests/fuzz/image_fuzz, written by Pillow 13: colours (x^2 + 3 y + xy / 4) mod `count` of a
 * palette of i * 37, 255 - i, i * 91 mod 256; `count` 2: black and white. */
static void check_pillow(const char *name, uint32_t width, uint32_t height, uint32_t count,
                         uint32_t channels)
{
    struct image im, again;
    struct error err = {0};
    char path[256], *data;
    size_t size;
    snprintf(path, sizeof path, SOURCE_DIR "/tests/fuzz/image_fuzz/%s", name);
    expect_ok(image_read(&arena, path, &im, &err), &err);
    assert_true(im.width == width && im.height == height && im.srgb);
    assert_int_equal(im.channels, channels);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            uint32_t i = (x * x + 3 * y + x * y / 4) % count;
            uint32_t want[4] = {i * 37 % 256, 255 - i, i * 91 % 256, i == 5 ? 0 : 255};
            if (count == 2)
                want[0] = want[1] = want[2] = 255 * i;
            if (channels == 4 && i == 5) /* the transparent colour */
                want[0] = want[1] = want[2] = 0;
            for (uint32_t c = 0; c < channels; c++)
                assert_int_equal(byte(&im, x, y, c), want[c]);
        }
    expect_ok(file_read(&arena, path, 0, &data, &size, &err), &err);
    for (size_t n = 6; n + 10 < size; n += 1 + size / 60) {
        struct text cut = {.data = data, .len = n};
        expect_failure(&cut, STATUS_PARSE, "the file ends");
    }
    for (size_t at = 0; at < size; at += 1 + size / 300) { /* a picture or an error */
        struct text t = {.data = data, .len = size};
        data[at] = (char)(data[at] ^ (1 << at % 8));
        err.msg[0] = '\0';
        assert_true(read_text(&t, COLOR_AUTO, &again, &err) == STATUS_OK || err.msg[0]);
    }
}

static void test_pillow_bmp_gif(void **state)
{
    (void)state;
    check_pillow("bw.bmp", 61, 47, 2, 3);
    check_pillow("pal8.bmp", 61, 47, 256, 3);
    check_pillow("rgb24.bmp", 61, 47, 256, 3);
    check_pillow("rgb32.bmp", 61, 47, 256, 3);
    check_pillow("small.gif", 61, 47, 16, 3);
    check_pillow("plain.gif", 61, 47, 256, 4);
    check_pillow("interlaced.gif", 121, 89, 256, 3);
}

/* A BMP of `header` bytes of header, 3 x 2 texels and masks or a palette behind it. */
static struct text bmp_file(unsigned header, int32_t height, unsigned bits, unsigned kind,
                            const void *more, size_t more_size, const void *texels, size_t size)
{
    struct text t = {0};
    text_puts(&t, "BM");
    put_u32(&t, 0);
    put_u32(&t, 0);
    put_u32(&t, (uint32_t)(14 + header + more_size));
    put_u32(&t, header);
    put_u32(&t, 3);
    put_u32(&t, (uint32_t)height);
    put_u32(&t, 1 | bits << 16);
    put_u32(&t, kind);
    for (int k = 0; k < 5; k++)
        put_u32(&t, k == 3 ? 3 : 0); /* three colours of a palette */
    const char zeros[124] = {0};
    if (header > 40 && more_size <= header - 40) { /* masks are a part of newer headers */
        put(&t, more, more_size);
        put(&t, zeros, header - 40 - more_size);
        t.data[10] = (char)(14 + header);
    } else {
        put(&t, more, more_size);
    }
    put(&t, texels, size);
    return t;
}

static void expect_bmp(struct text *t, uint32_t channels, const uint8_t *want)
{
    struct image im;
    struct error err = {0};
    expect_ok(read_text(t, COLOR_AUTO, &im, &err), &err);
    assert_true(im.width == 3 && im.height == 2);
    assert_int_equal(im.channels, channels);
    assert_memory_equal(im.texels, want, (size_t)6 * channels);
    text_free(t);
}

/* Masks of old and new headers, both orders of rows; run lengths with every escape. */
static void test_bmp_kinds(void **state)
{
    (void)state;
    /* 5, 6, 5 bits: full red, green, blue / half of each; 16 of 31 is 131.6 of 255, 32 of 63 129.5
     */
    static const uint32_t masks565[3] = {0xf800, 0x7e0, 0x1f};
    static const uint16_t words[8] = {0xf800, 0x7e0, 0x1f, 0, 16 << 11, 32 << 5, 16, 0};
    static const uint8_t want565[18] = {255, 0, 0, 0, 255, 0, 0, 0, 255,
                                        132, 0, 0, 0, 130, 0, 0, 0, 132};
    struct text t = bmp_file(40, -2, 16, 3, masks565, 12, words, sizeof words);
    expect_bmp(&t, 3, want565);
    t = bmp_file(108, -2, 16, 3, masks565, 12, words, sizeof words);
    expect_bmp(&t, 3, want565);
    /* alpha at the bottom of a word, rows from below */
    static const uint32_t masks[4] = {0xff000000, 0xff0000, 0xff00, 0xff};
    static const uint32_t deep[6] = {0x01020304, 0x05060708, 0x090a0b0c,
                                     0xfffefdfc, 0x10203040, 0x50607080};
    static const uint8_t want_deep[24] = {0xff, 0xfe, 0xfd, 0xfc, 0x10, 0x20, 0x30, 0x40,
                                          0x50, 0x60, 0x70, 0x80, 1,    2,    3,    4,
                                          5,    6,    7,    8,    9,    10,   11,   12};
    t = bmp_file(124, 2, 32, 3, masks, 16, deep, sizeof deep);
    expect_bmp(&t, 4, want_deep);

    static const uint8_t palette[12] = {3, 2, 1, 0, 30, 20, 10, 0, 33, 22, 11, 0};
    /* below: a run of 2; one up, right 1; a run of 1; the end. Texels not named have colour 0. */
    static const uint8_t rle8[] = {2, 1, 0, 2, 0, 1, 1, 2, 0, 1};
    static const uint8_t want8[18] = {1,  2,  3,  1,  2,  3,  11, 22, 33,
                                      10, 20, 30, 10, 20, 30, 1,  2,  3};
    t = bmp_file(40, 2, 8, 1, palette, sizeof palette, rle8, sizeof rle8);
    expect_bmp(&t, 3, want8);
    /* three as they are, and a byte that fills the word; the row ends; a run of 1 and 2 by turns */
    static const uint8_t rle4[] = {0, 3, 0x21, 0x00, 0, 0, 3, 0x12, 0, 1};
    static const uint8_t want4[18] = {10, 20, 30, 11, 22, 33, 10, 20, 30,
                                      11, 22, 33, 10, 20, 30, 1,  2,  3};
    t = bmp_file(40, 2, 4, 2, palette, sizeof palette, rle4, sizeof rle4);
    expect_bmp(&t, 3, want4);

    static const uint8_t beyond[] = {4, 1, 0, 1}, no_color[] = {1, 3, 0, 1};
    t = bmp_file(40, 2, 8, 1, palette, sizeof palette, beyond, sizeof beyond);
    expect_failure(&t, STATUS_PARSE, "beyond the image");
    text_free(&t);
    t = bmp_file(40, 2, 8, 1, palette, sizeof palette, no_color, sizeof no_color);
    expect_failure(&t, STATUS_PARSE, "none of the palette's 3");
    text_free(&t);
    t = bmp_file(40, 2, 24, 4, palette, sizeof palette, rle8, sizeof rle8);
    expect_failure(&t, STATUS_UNSUPPORTED, "its texels are a JPEG file");
    text_free(&t);
    t = bmp_file(40, 2, 13, 0, palette, sizeof palette, rle8, sizeof rle8);
    expect_failure(&t, STATUS_TYPE, "13 bits");
    text_free(&t);
}

/* A picture of 2 x 1 at (1, 1) of a screen of 4 x 2: codes of 3 bits: clear, 1, 2, end. */
static void test_gif_part(void **state)
{
    (void)state;
    static const uint8_t head[] = {'G', 'I', 'F', '8', '9', 'a', 4,  0,  2,  0, 0x81, 0, 0,
                                   0,   0,   0,   10,  20,  30,  40, 50, 60, 7, 8,    9},
                         picture[] = {',', 1, 0, 1, 0, 2, 0, 1, 0, 0, 2, 2, 0x8c, 0x0a, 0, ';'};
    /* 4 | 1 << 3 | 2 << 6 | 5 << 9 = 0xa8c */
    struct text t = {0};
    put(&t, head, sizeof head);
    put(&t, picture, sizeof picture);
    struct image im;
    struct error err = {0};
    expect_ok(read_text(&t, COLOR_AUTO, &im, &err), &err);
    static const uint8_t want[32] = {[20] = 10, 20, 30, 255, 40, 50, 60, 255};
    assert_true(im.width == 4 && im.height == 2 && im.channels == 4);
    assert_memory_equal(im.texels, want, sizeof want);
    t.data[sizeof head + 1] = 3; /* one texel beside the screen */
    expect_failure(&t, STATUS_PARSE, "not on its screen of 4x2");
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
    /* EXR is read from the file itself: cut anywhere it is an error, never a picture */
    static const struct exr_channel gray[] = {{"Y", EXR_FLOAT, 1}};
    char dir[] = "/tmp/isophote-images-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.exr", dir);
    struct text t = exr_file(gray, 1, 7, 5, 0);
    expect_ok(file_write(path, t.data, t.len, &err), &err);
    expect_ok(image_read(&arena, path, &im, &err), &err);
    assert_true(texel(&im, 6, 4, 0) == exr_value(6, 4, 0));
    for (size_t n = 0; n < t.len; n += 3) {
        err.msg[0] = '\0';
        assert_int_equal(file_write(path, t.data, n, &err), STATUS_OK);
        assert_int_not_equal(image_read(&arena, path, &im, &err), STATUS_OK);
        assert_non_null(strstr(err.msg, path));
    }
    text_free(&t);
    unlink(path);
    assert_int_equal(rmdir(dir), 0);
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
        CASE(test_exr_not_smaller),
        CASE(test_hdr_orientation),
        CASE(test_hdr_runs),
        CASE(test_hdr_refused),
        CASE(test_png_types),
        CASE(test_png_16_bits),
        CASE(test_png_filters),
        CASE(test_png_in_parts),
        CASE(test_png_damaged),
        CASE(test_png_refused),
        CASE(test_png_written),
        CASE(test_jpeg),
        CASE(test_webp),
        CASE(test_pillow_bmp_gif),
        CASE(test_bmp_kinds),
        CASE(test_gif_part),
        CASE(test_tga_color),
        CASE(test_tga_others),
        CASE(test_to_rgb),
        CASE(test_files),
        CASE(test_exr_compressions),
        CASE(test_exr_empty_chunk),
        CASE(test_exr_dwa),
        CASE(test_exr_packed),
        CASE(test_exr_large),
        CASE(test_exr_unwanted_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
