/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF against files that this test builds byte by byte, or that libtiff and libjpeg encode from
 * known values. */
#include "test_images.h"

#include <ImfCRgbaFile.h>
#include <cmocka.h>
#include <tiffio.h>

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

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_tiff_written),      CASE(test_tiff_layouts),
        CASE(test_tiff_large),        CASE(test_tiff_extra_samples),
        CASE(test_tiff_orientations), CASE(test_tiff_gray_and_palettes),
        CASE(test_tiff_color_spaces), CASE(test_tiff_compressions),
        CASE(test_tiff_damaged),      CASE(test_tiff_refused),
        CASE(test_tiff_cut_jpeg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
