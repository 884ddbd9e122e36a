/* SPDX-License-Identifier: Apache-2.0 */
/* Texels on demand, looked at by several threads at random places, with far less memory than they
 * take: each is what was written, by the formula it was written by. */
#include "cache/offers.h"

#include <atomic>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfOutputFile.h>
#include <ImfTiledOutputFile.h>
#include <tiffio.h>

extern "C" {
#include <cmocka.h>
}

namespace
{

std::string scratch(const char *name)
{
    return "/tmp/isophote-cache-" + std::to_string(getpid()) + "-" + name;
}

/* How a file is laid out. */
struct form {
    const char *name;
    uint32_t width, height, channels, bits;
    uint32_t tile; /* 0: strips of `rows` */
    uint32_t rows;
    bool separate, pyramid;
};

/* Sample c of texel (x, y) of a level, as a whole number of that many bits, or a float. */
uint32_t sample(uint32_t level, uint32_t x, uint32_t y, uint32_t c, uint32_t bits)
{
    uint32_t h = (x * 2654435761U) ^ (y * 40503U + 12345U * c) ^ (level * 77777U);
    h ^= h >> 13;
    h *= 0x5bd1e995U;
    h ^= h >> 15;
    return bits == 8 ? h & 255 : h & 65535;
}

void put(std::vector<unsigned char> &to, uint32_t v, uint32_t bits)
{
    const float f = float(v) / 65536;
    const uint16_t half = uint16_t(v);
    const unsigned char byte = uint8_t(v);
    const void *from = bits == 32   ? static_cast<const void *>(&f)
                       : bits == 16 ? static_cast<const void *>(&half)
                                    : &byte;
    const auto *bytes = static_cast<const unsigned char *>(from);
    to.insert(to.end(), bytes, bytes + bits / 8);
}

void write_level(TIFF *t, const form &f, uint32_t level, uint32_t w, uint32_t h)
{
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, w);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, h);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, f.channels);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, f.bits);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, f.bits == 32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC,
                 f.channels >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    if (f.channels == 4) {
        uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
        TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    }
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, f.separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_COMPRESSION,
                 f.bits == 32 ? COMPRESSION_NONE : COMPRESSION_ADOBE_DEFLATE);
    if (f.tile) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, f.tile);
        TIFFSetField(t, TIFFTAG_TILELENGTH, f.tile);
    } else {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, f.rows);
    }
    const uint32_t bw = f.tile ? f.tile : w, bh = f.tile ? f.tile : f.rows;
    for (uint32_t plane = 0; plane < (f.separate ? f.channels : 1); plane++)
        for (uint32_t y = 0; y < h; y += bh)
            for (uint32_t x = 0; x < w; x += bw) {
                std::vector<unsigned char> block;
                for (uint32_t j = y; j < y + bh && (f.tile || j < h); j++)
                    for (uint32_t i = x; i < x + bw; i++)
                        for (uint32_t c = 0; c < (f.separate ? 1 : f.channels); c++)
                            put(block, sample(level, i, j, f.separate ? plane : c, f.bits), f.bits);
                const auto size = tmsize_t(block.size());
                if (f.tile)
                    assert_int_equal(
                        TIFFWriteEncodedTile(t, TIFFComputeTile(t, x, y, 0, uint16_t(plane)),
                                             block.data(), size),
                        size);
                else
                    assert_int_equal(TIFFWriteEncodedStrip(t,
                                                           TIFFComputeStrip(t, y, uint16_t(plane)),
                                                           block.data(), size),
                                     size);
            }
    assert_int_equal(TIFFWriteDirectory(t), 1);
}

std::string write_file(const form &f)
{
    const std::string path = scratch(f.name);
    TIFF *t = TIFFOpen(path.c_str(), "w");
    assert_non_null(t);
    uint32_t w = f.width, h = f.height;
    for (uint32_t level = 0;; level++) {
        write_level(t, f, level, w, h);
        if (!f.pyramid || (w == 1 && h == 1))
            break;
        w = w > 1 ? w / 2 : 1;
        h = h > 1 ? h / 2 : 1;
    }
    TIFFClose(t);
    return path;
}

void must(enum status st, const struct error &err)
{
    if (st != STATUS_OK)
        fail_msg("%s", err.msg);
}

/* Sample c of the texel, as the cache has it, against what was written. */
bool as_written(const struct image &im, const form &f, uint32_t level, uint32_t x, uint32_t y)
{
    for (uint32_t c = 0; c < im.channels; c++) {
        const size_t at = (size_t(y) * im.width + x) * im.channels + c;
        const bool alpha = c == 3 && f.channels < 4;
        const uint32_t v = alpha ? 255 : sample(level, x, y, f.channels == 1 ? 0 : c, f.bits);
        if (im.format == TEXEL_U8 && static_cast<const uint8_t *>(im.texels)[at] != v)
            return false;
        if (im.format == TEXEL_U16 && static_cast<const uint16_t *>(im.texels)[at] != v)
            return false;
        const float want =
            f.bits == 32 ? float(v) / 65536 : float(v / (f.bits == 8 ? 255.0 : 65535.0));
        if (im.format == TEXEL_F32 && static_cast<const float *>(im.texels)[at] != want)
            return false;
    }
    return true;
}

/* Looks at a texel, whatever it is. */
volatile uint8_t seen;
void touch(const struct image &im, uint32_t x, uint32_t y)
{
    seen = static_cast<const volatile uint8_t *>(
        im.texels)[(size_t(y) * im.width + x) * im.channels * texel_size(im.format)];
}

struct looking {
    const struct image *images;
    size_t count;
    const form *f;
};

/* How many of `looks` texels at random were not as written, by `threads` threads. */
size_t look(const struct looking &l, unsigned threads, unsigned looks)
{
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> all;
    for (unsigned t = 0; t < threads; t++)
        all.emplace_back([&, t] {
            uint32_t s = 1 + t;
            for (unsigned i = 0; i < looks; i++) {
                s = s * 1664525U + 1013904223U;
                const uint32_t level = (s >> 9) % uint32_t(l.count);
                s = s * 1664525U + 1013904223U;
                const struct image &im = l.images[level];
                const uint32_t x = (s >> 8) % im.width;
                s = s * 1664525U + 1013904223U;
                wrong += !as_written(im, *l.f, level, x, (s >> 8) % im.height);
            }
        });
    for (auto &t : all)
        t.join();
    return wrong;
}

const form forms[] = {{"tiles8", 1000, 700, 3, 8, 64, 0, false, false},
                      {"tiles8a", 512, 512, 4, 8, 64, 0, false, false},
                      {"gray16", 777, 300, 1, 16, 32, 0, false, false},
                      {"strips16", 300, 900, 3, 16, 0, 7, false, false},
                      {"floats", 640, 480, 3, 32, 64, 0, true, false},
                      {"lines", 511, 257, 4, 32, 0, 1, false, false}};

void images_are_as_written(void **)
{
    texture_memory_allow(1 << 20);
    for (const form &f : forms) {
        const std::string path = write_file(f);
        struct texture_cache *cache = nullptr;
        struct texture_cache_counts counts;
        struct image im;
        struct error err = {};
        must(cache_image(&cache, path.c_str(), COLOR_LINEAR, &im, &err), err);
        assert_int_equal(im.width, f.width);
        assert_int_equal(im.height, f.height);
        assert_int_equal(look({&im, 1, &f}, 4, 500), 0);
        must(texture_cache_fault(cache, &err), err);
        texture_cache_count(cache, &counts);
        assert_true(counts.peak_bytes <= 1 << 20);
        assert_true(counts.texel_bytes > counts.peak_bytes || f.bits == 8 || f.channels == 1);
        texture_cache_release(cache);
        remove(path.c_str());
    }
}

/* A pyramid, of which all levels together take 40 times what is allowed. */
void levels_are_as_written(void **)
{
    const form f = {"pyramid", 1024, 1024, 3, 8, 64, 0, false, true};
    const std::string path = write_file(f);
    struct arena a = {};
    struct texture_cache *cache = nullptr;
    struct texture_cache_counts counts;
    struct image_file file;
    struct error err = {};
    texture_memory_allow(7 << 20);
    must(cache_file(&a, &cache, path.c_str(), false, &file, &err), err);
    assert_int_equal(file.first.count, 11);
    assert_int_equal(look({file.first.level, 11, &f}, 4, 1000), 0);
    must(texture_cache_check(cache, &err), err);
    texture_cache_count(cache, &counts);
    assert_true(counts.peak_bytes <= 7 << 20);
    assert_true(counts.texel_bytes > 16 << 20);
    assert_true(counts.tiles_again > 0);
    assert_true(counts.file_bytes > 0);
    /* as many as there are, when all are looked at */
    for (uint32_t l = 0; l < 11; l++)
        for (uint32_t y = 0; y < file.first.level[l].height; y++)
            assert_true(as_written(file.first.level[l], f, l, 0, y));
    texture_cache_count(cache, &counts);
    assert_int_equal(counts.tiles, 16 * 16 + 8 * 8 + 4 * 4 + 2 * 2 + 7);
    texture_cache_release(cache);
    arena_free(&a);
    remove(path.c_str());
}

/* Resident bytes of this process grow by no more than is allowed, and by what reading takes: for
 * each of the threads that read a row of blocks as the file has it and as the cache has it, and what
 * libtiff, code and stacks take. */
void memory_is_bounded(void **)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their own memory is more */
#endif
    const form f = {"large", 2048, 2048, 4, 32, 64, 0, false, false};
    const uint64_t limit = 16 << 20, band = 2048 * 64 * 16, slack = 2 * 2 * band + (8 << 20);
    const std::string path = write_file(f);
    const int pid = fork(); /* a process of its own: VmHWM never falls */
    if (pid == 0) {
        struct texture_cache *cache = nullptr;
        struct image im;
        struct error err = {};
        texture_memory_allow(limit);
        const size_t before = memory_peak();
        bool good = cache_image(&cache, path.c_str(), COLOR_LINEAR, &im, &err) == STATUS_OK;
        for (uint32_t y = 0; good && y < f.height; y++)
            for (uint32_t x = 0; good && x < f.width; x += 128)
                good = as_written(im, f, 0, x, y);
        const size_t after = memory_peak();
        if (after - before > limit + slack)
            fprintf(stderr, "%zu bytes more, expected %zu at most\n", after - before,
                    size_t(limit + slack));
        _exit(good && after - before <= limit + slack && 64 << 20 > limit + slack ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    remove(path.c_str());
}

/* Channel c of a level of an EXR file. */
float exr_value(uint32_t level, uint32_t x, uint32_t y, uint32_t c)
{
    return float(sample(level, x, y, c, 8)) / 256;
}

/* Scanlines, or tiles with all their levels. */
std::string write_exr(const char *name, int w, int h, Imf::Compression compression, bool tiled)
{
    static const char *const names[] = {"R", "G", "B"};
    const std::string path = scratch(name);
    Imf::Header header(w, h);
    header.compression() = compression;
    header.dataWindow() = Imath::Box2i({7, -5}, {w + 6, h - 6}); /* begins somewhere */
    header.displayWindow() = header.dataWindow();
    for (const char *channel : names)
        header.channels().insert(channel, Imf::Channel(Imf::FLOAT));
    std::vector<float> texels(size_t(w) * size_t(h) * 3);
    const auto frame = [&](uint32_t level, int lw, int lh) {
        Imf::FrameBuffer from;
        for (int y = 0; y < lh; y++)
            for (int x = 0; x < lw; x++)
                for (uint32_t c = 0; c < 3; c++)
                    texels[(size_t(y) * size_t(lw) + size_t(x)) * 3 + c] =
                        exr_value(level, uint32_t(x), uint32_t(y), c);
        for (size_t c = 0; c < 3; c++)
            from.insert(names[c], Imf::Slice::Make(Imf::FLOAT, &texels[c],
                                                   Imath::Box2i({7, -5}, {lw + 6, lh - 6}), 12,
                                                   12 * size_t(lw)));
        return from;
    };
    if (tiled) {
        header.setTileDescription(Imf::TileDescription(48, 32, Imf::MIPMAP_LEVELS));
        Imf::TiledOutputFile file(path.c_str(), header);
        for (int l = 0; l < file.numLevels(); l++) {
            file.setFrameBuffer(frame(uint32_t(l), file.levelWidth(l), file.levelHeight(l)));
            file.writeTiles(0, file.numXTiles(l) - 1, 0, file.numYTiles(l) - 1, l);
        }
    } else {
        Imf::OutputFile file(path.c_str(), header);
        Imf::FrameBuffer from = frame(0, w, h);
        file.setFrameBuffer(from);
        file.writePixels(h);
    }
    return path;
}

void exr_is_as_written(void **)
{
    static const Imf::Compression packed[] = {Imf::NO_COMPRESSION, Imf::RLE_COMPRESSION,
                                              Imf::ZIP_COMPRESSION, Imf::PIZ_COMPRESSION};
    for (const Imf::Compression k : packed)
        for (const bool tiled : {false, true}) {
            const std::string path = write_exr("a.exr", 301, 207, k, tiled);
            struct arena a = {};
            struct texture_cache *cache = nullptr;
            struct texture_cache_counts counts;
            struct image_file file;
            struct error err = {};
            texture_memory_allow(1 << 19);
            must(cache_file(&a, &cache, path.c_str(), false, &file, &err), err);
            assert_int_equal(file.first.count, 9);
            assert_int_equal(file.first.made, tiled ? 0 : 8);
            for (uint32_t l = 0; l < (tiled ? 9 : 1); l++) {
                const struct image &im = file.first.level[l];
                for (uint32_t y = 0; y < im.height; y++)
                    for (uint32_t x = y % 7; x < im.width; x += 7)
                        for (uint32_t c = 0; c < 3; c++)
                            assert_true(static_cast<const float *>(
                                            im.texels)[(size_t(y) * im.width + x) * 3 + c] ==
                                        exr_value(l, x, y, c));
            }
            must(texture_cache_fault(cache, &err), err);
            texture_cache_count(cache, &counts);
            assert_true(counts.peak_bytes <= 1 << 19 && counts.texel_bytes > 1 << 19);
            assert_true(counts.file_bytes > 1000);
            texture_cache_release(cache);
            arena_free(&a);
            remove(path.c_str());
        }
    const std::string path = write_exr("b.exr", 301, 207, Imf::DWAA_COMPRESSION, true);
    struct arena a = {};
    struct texture_cache *cache = nullptr;
    struct image_file file;
    struct error err = {};
    assert_int_equal(cache_file(&a, &cache, path.c_str(), false, &file, &err), STATUS_UNSUPPORTED);
    arena_free(&a);
    remove(path.c_str());
}

/* Levels that are in no file are those that shaders/ makes of the whole image, whatever order they
 * are looked at in and by however many threads. */
void made_levels_are_those_of_whole_images(void **)
{
    static const form odd[] = {{"made", 1000, 701, 3, 8, 64, 0, false, false},
                               {"made1", 777, 1030, 1, 16, 0, 9, false, false},
                               {"narrow", 3000, 2, 4, 8, 64, 0, false, false}};
    for (const form &f : odd) {
        const std::string path = write_file(f);
        struct arena a = {};
        struct texture_cache *cache = nullptr;
        struct texture_cache_counts counts;
        struct image whole;
        struct asl_image want;
        struct image_file file;
        struct error err = {};
        texture_memory_allow(6 << 20);
        must(image_read_as(&a, path.c_str(), COLOR_SHADER, &whole, &err), err);
        must(asl_image_build(&a, f.width, f.height, whole.channels, image_linear(&a, &whole), &want,
                             &err),
             err);
        must(cache_file(&a, &cache, path.c_str(), false, &file, &err), err);
        must(texture_cache_check(cache, &err), err);
        assert_int_equal(file.first.count, want.level_count);
        assert_int_equal(file.first.made, want.level_count - 1);
        std::atomic<size_t> wrong{0};
        std::vector<std::thread> all;
        for (unsigned t = 0; t < 4; t++)
            all.emplace_back([&, t] { /* the smallest first, or last */
                                      for (uint32_t i = 0; i < want.level_count; i++) {
                                          const uint32_t l = t % 2 ? i : want.level_count - 1 - i;
                                          const struct asl_image_level &level = want.levels[l];
                                          for (uint32_t y = t % 3; y < level.height; y += 3) {
                                              const size_t n = size_t(level.width) * want.channels;
                                              wrong += memcmp(level.texels + y * n,
                                                              static_cast<const float *>(
                                                                  file.first.level[l].texels) +
                                                                  y * n,
                                                              n * sizeof(float)) != 0;
                                          }
                                      }
            });
        for (auto &t : all)
            t.join();
        assert_int_equal(wrong, 0);
        must(texture_cache_fault(cache, &err), err);
        texture_cache_count(cache, &counts);
        assert_true(counts.peak_bytes <= 6 << 20);
        texture_cache_release(cache);
        arena_free(&a);
        remove(path.c_str());
    }
}

void damage(const std::string &path, long at, int bytes)
{
    FILE *file = fopen(path.c_str(), "r+b");
    assert_non_null(file);
    for (int i = 0; i < bytes; i++) {
        fseek(file, at + i, SEEK_SET);
        const int was = fgetc(file);
        fseek(file, at + i, SEEK_SET);
        fputc(was ^ 0x5a, file);
    }
    fclose(file);
}

void damage_is_told(void **)
{
    const form f = {"damaged", 1024, 1024, 3, 8, 64, 0, false, false};
    const std::string path = write_file(f);
    TIFF *t = TIFFOpen(path.c_str(), "r");
    const uint32_t tile = TIFFComputeTile(t, 128, 192, 0, 0);
    const auto at = long(TIFFGetStrileOffset(t, tile));
    TIFFClose(t);
    damage(path, at + 100, 200);
    struct texture_cache *cache = nullptr;
    struct image im;
    struct error err = {};
    texture_memory_allow(8 << 20);
    must(cache_image(&cache, path.c_str(), COLOR_LINEAR, &im, &err), err);
    assert_true(as_written(im, f, 0, 500, 100));
    must(texture_cache_fault(cache, &err), err);
    assert_false(as_written(im, f, 0, 130, 200)); /* zeros; and the thread goes on */
    assert_int_equal(texture_cache_fault(cache, &err), STATUS_PARSE);
    assert_non_null(strstr(err.msg, path.c_str()));
    assert_non_null(strstr(err.msg, "column 128, row 192"));
    assert_true(as_written(im, f, 0, 500, 300));
    texture_cache_release(cache);
    remove(path.c_str());
}

void changes_are_told(void **)
{
    const form f = {"changing", 1024, 1024, 3, 8, 64, 0, false, false};
    const std::string path = write_file(f), away = path + ".away";
    for (int how = 0; how < 3; how++) {
        struct texture_cache *cache = nullptr;
        struct image im;
        struct error err = {};
        must(cache_image(&cache, path.c_str(), COLOR_LINEAR, &im, &err), err);
        assert_true(as_written(im, f, 0, 5, 5));
        if (how == 0) { /* written to */
            const struct timespec times[2] = {{1, 0}, {1, 0}};
            assert_int_equal(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
        } else {
            assert_int_equal(rename(path.c_str(), away.c_str()), 0);
        }
        if (how == 2) /* another file by that name: a link to one that is just as long */
            assert_int_equal(symlink("/etc/passwd", path.c_str()), 0);
        touch(im, 5, 900);
        assert_int_equal(texture_cache_fault(cache, &err), STATUS_IO);
        assert_non_null(strstr(err.msg, path.c_str()));
        assert_non_null(strstr(err.msg, "since the scene was loaded"));
        texture_cache_release(cache);
        if (how == 2)
            remove(path.c_str());
        if (how > 0)
            assert_int_equal(rename(away.c_str(), path.c_str()), 0);
    }
    remove(path.c_str());
}

void small_limits_are_told(void **)
{
    const form f = {"small", 1024, 512, 3, 8, 64, 0, false, false};
    const std::string path = write_file(f);
    struct texture_cache *cache = nullptr;
    struct image im;
    struct error err = {};
    char least[64];
    texture_memory_allow(100000);
    must(cache_image(&cache, path.c_str(), COLOR_LINEAR, &im, &err), err);
    assert_int_equal(texture_cache_check(cache, &err), STATUS_LIMIT);
    snprintf(least, sizeof least, "at least --texture-memory %u,",
             2 * (parallel_threads() + 1) * 64 * 1024 * 4);
    assert_non_null(strstr(err.msg, least));
    /* who looks all the same is not held for ever */
    touch(im, 0, 0);
    assert_int_equal(texture_cache_fault(cache, &err), STATUS_LIMIT);
    texture_cache_release(cache);
    remove(path.c_str());
}

/* Views show the same, each at its own pace; own words stand before. */
void views_show_the_same(void **)
{
    const form f = {"viewed", 1024, 1024, 4, 8, 64, 0, false, false};
    const std::string path = write_file(f);
    struct texture_cache *cache = nullptr;
    struct image im;
    struct error err = {};
    void *views[2];
    uint64_t at;
    texture_memory_allow(2 << 20);
    must(cache_image(&cache, path.c_str(), COLOR_LINEAR, &im, &err), err);
    for (auto &v : views)
        must(texture_cache_view(cache, 1000, &v, &err), err);
    assert_true(texture_cache_place(cache, im.texels, &at));
    assert_false(texture_cache_place(cache, views, &at));
    assert_false(texture_cache_place(nullptr, im.texels, &at));
    memset(views[0], 1, 1000);
    for (uint32_t y = 0; y < 1024; y += 5)
        for (void *v : views) {
            struct image seen = im;
            seen.texels = static_cast<uint32_t *>(v) + TEXTURE_CACHE_FIRST + at / 4;
            assert_true(as_written(seen, f, 0, y, y));
            assert_true(as_written(im, f, 0, 1023 - y, y));
        }
    texture_cache_view_close(cache, views[0]);
    texture_cache_release(cache); /* a view holds it */
    struct image seen = im;
    seen.texels = static_cast<uint32_t *>(views[1]) + TEXTURE_CACHE_FIRST + at / 4;
    assert_true(as_written(seen, f, 0, 7, 1000));
    texture_cache_view_close(cache, views[1]);
    remove(path.c_str());
}

/* A fault that is nobody's ends the process as it always did. */
void other_faults_end_the_process(void **)
{
    const form f = {"faults", 256, 256, 3, 8, 64, 0, false, false};
    const std::string path = write_file(f);
    const int pid = fork();
    if (pid == 0) {
        struct texture_cache *cache = nullptr;
        struct image im;
        struct error err = {};
        texture_memory_allow(8 << 20);
        (void)signal(SIGSEGV, SIG_DFL); /* cmocka's goes on with the next test */
        if (cache_image(&cache, path.c_str(), COLOR_LINEAR, &im, &err) != STATUS_OK ||
            !as_written(im, f, 0, 9, 9))
            _exit(1);
        void *page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        _exit(*static_cast<volatile char *>(page) == 0 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    remove(path.c_str());
}

void others_are_read_whole(void **)
{
    const char *const whole = SOURCE_DIR "/scenes/library/textures/tile.png";
    struct arena a = {};
    struct texture_cache *cache = nullptr;
    struct image im;
    struct image_file file;
    struct error err = {};
    texture_memory_allow(1 << 20);
    assert_int_equal(cache_image(&cache, whole, COLOR_AUTO, &im, &err), STATUS_UNSUPPORTED);
    assert_int_equal(cache_file(&a, &cache, "/none.tx", false, &file, &err), STATUS_UNSUPPORTED);
    assert_null(cache);
    texture_cache_release(nullptr);
    arena_free(&a);
}

} // namespace

int main()
{
    (void)setenv("ISOPHOTE_THREADS", "2", 1); /* the least limit depends on it */
    const struct CMUnitTest tests[] = {
        /* first: a fork of who has a cache has none */
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(other_faults_end_the_process),
        cmocka_unit_test(images_are_as_written),
        cmocka_unit_test(levels_are_as_written),
        cmocka_unit_test(exr_is_as_written),
        cmocka_unit_test(made_levels_are_those_of_whole_images),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(changes_are_told),
        cmocka_unit_test(small_limits_are_told),
        cmocka_unit_test(views_show_the_same),
        cmocka_unit_test(others_are_read_whole),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
