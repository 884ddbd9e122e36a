/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of pyramids in files that libtiff and OpenEXR write: every level has a colour of its own,
 * which no filter makes of another's. */
#include "images/images.h"

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfMultiPartOutputFile.h>
#include <ImfOutputPart.h>
#include <ImfPartType.h>
#include <ImfTiledOutputFile.h>
#include <ImfTiledOutputPart.h>
#include <tiffio.h>

extern "C" {
#include <cmocka.h>
}

namespace
{

typedef std::vector<std::pair<uint32_t, uint32_t>> sizes;

/* Channel c of all texels of a level; every file here has three. */
float value(uint32_t level, uint32_t c) { return float(1 + level) + float(c) / 4; }

std::string scratch(const char *name)
{
    return "/tmp/isophote-levels-" + std::to_string(getpid()) + "-" + name;
}

/* A directory a level, in tiles of 16 x 16 floats; `strips`: levels from that one on are in strips;
 * `gray`: that level has one channel. */
void write_tiff(const std::string &path, const sizes &levels, uint32_t strips, uint32_t gray)
{
    TIFF *t = TIFFOpen(path.c_str(), "w");
    assert_non_null(t);
    for (uint32_t l = 0; l < levels.size(); l++) {
        uint32_t w = levels[l].first, h = levels[l].second, n = l == gray ? 1 : 3;
        TIFFSetField(t, TIFFTAG_IMAGEWIDTH, w);
        TIFFSetField(t, TIFFTAG_IMAGELENGTH, h);
        TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, n);
        TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32);
        TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
        TIFFSetField(t, TIFFTAG_PHOTOMETRIC, n == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
        TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
        TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
        uint32_t across = l < strips ? 16 : w, down = l < strips ? 16 : h;
        std::vector<float> block(size_t(across) * down * n);
        for (size_t i = 0; i < block.size(); i++)
            block[i] = value(l, uint32_t(i % n));
        tmsize_t bytes = tmsize_t(block.size() * sizeof(float));
        if (l < strips) {
            TIFFSetField(t, TIFFTAG_TILEWIDTH, across);
            TIFFSetField(t, TIFFTAG_TILELENGTH, down);
            for (uint32_t i = 0; i < TIFFNumberOfTiles(t); i++)
                assert_int_equal(TIFFWriteEncodedTile(t, i, block.data(), bytes), bytes);
        } else {
            TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, down);
            assert_int_equal(TIFFWriteEncodedStrip(t, 0, block.data(), bytes), bytes);
        }
        assert_int_equal(TIFFWriteDirectory(t), 1);
    }
    TIFFClose(t);
}

void write_exr(const std::string &path, int width, int height, Imf::Compression compression,
               Imf::LevelMode mode, Imf::LevelRoundingMode rounding)
{
    static const char *const names[] = {"R", "G", "B"};
    Imf::Header header(width, height);
    header.compression() = compression;
    header.setTileDescription(Imf::TileDescription(16, 16, mode, rounding));
    for (const char *name : names)
        header.channels().insert(name, Imf::Channel(Imf::FLOAT));
    Imf::TiledOutputFile file(path.c_str(), header);
    std::vector<float> texels(size_t(width) * size_t(height) * 3);
    for (int y = 0; y < file.numYLevels(); y++)
        for (int x = 0; x < file.numXLevels(); x++) {
            if (!file.isValidLevel(x, y))
                continue;
            Imf::FrameBuffer from;
            for (size_t i = 0; i < texels.size(); i++)
                texels[i] = value(uint32_t(x), uint32_t(i % 3));
            for (size_t c = 0; c < 3; c++)
                from.insert(names[c], Imf::Slice(Imf::FLOAT, reinterpret_cast<char *>(&texels[c]),
                                                 12, 12 * size_t(file.levelWidth(x))));
            file.setFrameBuffer(from);
            file.writeTiles(0, file.numXTiles(x) - 1, 0, file.numYTiles(y) - 1, x, y);
        }
}

/* `tolerance`: of DWA, which loses; `ended`: what is said of the level that is not used. */
void expect_levels(const std::string &path, const sizes &want, double tolerance = 0,
                   const char *ended = "")
{
    struct arena a = {};
    struct error err = {};
    struct image_levels l;
    if (image_read_levels(&a, path.c_str(), COLOR_SHADER, &l, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(l.count, want.size());
    for (uint32_t k = 0; k < l.count; k++) {
        const struct image *im = &l.level[k];
        assert_int_equal(im->width, want[k].first);
        assert_int_equal(im->height, want[k].second);
        assert_int_equal(im->channels, 3);
        for (size_t i = 0; i < size_t(im->width) * im->height * 3; i++)
            assert_true(fabs(image_value(im, i, true) - double(value(k, uint32_t(i % 3)))) <=
                        tolerance);
    }
    assert_string_equal(l.ended, ended);
    struct image one; /* as textures of scenes read it */
    assert_int_equal(image_read_as(&a, path.c_str(), COLOR_AUTO, &one, &err), STATUS_OK);
    assert_int_equal(one.width, want[0].first);
    assert_true(fabs(image_value(&one, 0, true) - double(value(0, 0))) <= tolerance);
    arena_free(&a);
}

/* Reading fails so, with these words, and leaves the levels as they were. */
void expect_failure(const std::string &path, const char *words)
{
    struct arena a = {};
    struct error err = {};
    struct image_levels l;
    l.count = 77;
    assert_int_not_equal(image_read_levels(&a, path.c_str(), COLOR_SHADER, &l, &err), STATUS_OK);
    assert_int_equal(l.count, 77);
    if (!strstr(err.msg, words) || !strstr(err.msg, path.c_str()))
        fail_msg("'%s' is not in: %s", words, err.msg);
    arena_free(&a);
}

const uint32_t NONE = UINT32_MAX;
const sizes down = {{37, 18}, {18, 9}, {9, 4}, {4, 2}, {2, 1}, {1, 1}};
const sizes up = {{37, 18}, {19, 9}, {10, 5}, {5, 3}, {3, 2}, {2, 1}, {1, 1}};

void test_tiff(void **state)
{
    (void)state;
    const std::string path = scratch("a.tx");
    for (const sizes &s : {down, up}) {
        write_tiff(path, s, NONE, NONE);
        expect_levels(path, s);
    }
    for (size_t n = 1; n < down.size(); n++) { /* a pyramid that ends early */
        const sizes first(down.begin(), down.begin() + long(n));
        write_tiff(path, first, NONE, NONE);
        expect_levels(path, first);
        write_tiff(path, down, uint32_t(n), NONE); /* pages in strips are no levels */
        expect_levels(path, first);
    }
    write_tiff(path, down, 0, NONE);
    expect_levels(path, {{37, 18}});
    write_tiff(path, {{37, 18}, {37, 18}}, NONE, NONE); /* pages */
    expect_levels(path, {{37, 18}});
    write_tiff(path, {{37, 18}, {37, 9}}, NONE, NONE);
    expect_levels(
        path, {{37, 18}}, 0,
        "level 1 has 37x9 pixels, expected half of 37x18: the file's levels end before it");
    write_tiff(path, {{37, 18}, {18, 9}, {9, 3}}, NONE, NONE);
    expect_levels(path, {{37, 18}, {18, 9}}, 0,
                  "level 2 has 9x3 pixels, expected half of 18x9: the file's levels end before it");
    write_tiff(path, {{1, 1}, {1, 1}}, NONE, NONE);
    expect_levels(path, {{1, 1}});
    unlink(path.c_str());
}

void test_exr(void **state)
{
    (void)state;
    const std::string path = scratch("a.exr");
    for (Imf::Compression c : {Imf::NO_COMPRESSION, Imf::ZIP_COMPRESSION, Imf::PIZ_COMPRESSION}) {
        write_exr(path, 37, 18, c, Imf::MIPMAP_LEVELS, Imf::ROUND_DOWN);
        expect_levels(path, down);
        write_exr(path, 37, 18, c, Imf::MIPMAP_LEVELS, Imf::ROUND_UP);
        expect_levels(path, up);
        write_exr(path, 37, 18, c, Imf::ONE_LEVEL, Imf::ROUND_DOWN);
        expect_levels(path, {{37, 18}});
        write_exr(path, 37, 18, c, Imf::RIPMAP_LEVELS, Imf::ROUND_DOWN);
        expect_levels(path, {{37, 18}});
    }
    for (Imf::Compression c : {Imf::DWAA_COMPRESSION, Imf::DWAB_COMPRESSION}) {
        write_exr(path, 37, 18, c, Imf::MIPMAP_LEVELS, Imf::ROUND_DOWN);
        expect_levels(path, down, 0.02); /* levels are 1 apart, channels 0.25 */
    }
    unlink(path.c_str());
}

std::string contents(const std::string &path)
{
    std::string s;
    FILE *f = fopen(path.c_str(), "rb");
    for (int c; f && (c = fgetc(f)) != EOF;)
        s += char(c);
    assert_non_null(f);
    fclose(f);
    return s;
}

void put(const std::string &path, const std::string &s)
{
    FILE *f = fopen(path.c_str(), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(s.data(), 1, s.size(), f), s.size());
    assert_int_equal(fclose(f), 0);
}

void test_damaged(void **state)
{
    (void)state;
    const std::string path = scratch("bad.tx"), exr = scratch("bad.exr");
    write_tiff(path, down, NONE, 2);
    expect_failure(path, "level 2: it has 1 channels, expected the image's 3");

    write_tiff(path, down, NONE, NONE);
    TIFF *t = TIFFOpen(path.c_str(), "r");
    assert_non_null(t);
    assert_int_equal(TIFFSetDirectory(t, 1), 1);
    uint64_t at = TIFFGetStrileOffset(t, 1), next = TIFFCurrentDirOffset(t);
    TIFFClose(t);
    std::string whole = contents(path), file = whole;
    file.replace(size_t(at), 8, 8, '\xff'); /* the tile of its columns 16 and 17 */
    put(path, file);
    expect_failure(path, "level 1: its pixels at column 16, row 0");
    file = whole;
    file.resize(size_t(next) + 10); /* within its directory */
    put(path, file);
    expect_failure(path, "level 1: its directory cannot be read");

    for (Imf::Compression c : {Imf::ZIP_COMPRESSION, Imf::PIZ_COMPRESSION}) {
        write_exr(exr, 37, 18, c, Imf::MIPMAP_LEVELS, Imf::ROUND_DOWN);
        file = contents(exr);
        file.resize(file.size() - 2); /* the last level's */
        put(exr, file);
        expect_failure(exr, "level 5: its pixels cannot be read");
    }
    unlink(path.c_str());
    unlink(exr.c_str());
}

struct expected {
    const char *name;
    sizes levels;   /* none: it cannot be read */
    uint32_t first; /* the value that its first level has: of `value` */
    uint32_t channels;
};

/* The subimages of a file, each texel of each level of theirs. */
void expect_parts(const std::string &path, const std::vector<expected> &want)
{
    struct arena a = {};
    struct error err = {};
    struct image_file f;
    if (image_read_file(&a, path.c_str(), COLOR_SHADER, true, &f, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(f.count, want.size());
    for (uint32_t p = 0; p < f.count; p++) {
        const struct image_levels &l = p ? f.more[p - 1] : f.first;
        const expected &e = want[p];
        assert_string_equal(l.name, e.name);
        assert_int_equal(l.count, e.levels.size());
        assert_true(l.count > 0 || l.ended[0]);
        for (uint32_t k = 0; k < l.count; k++) {
            const struct image &im = l.level[k];
            assert_int_equal(im.width, e.levels[k].first);
            assert_int_equal(im.height, e.levels[k].second);
            assert_int_equal(im.channels, e.channels);
            for (size_t i = 0; i < size_t(im.width) * im.height * im.channels; i++)
                assert_true(image_value(&im, i, true) ==
                            double(value(e.first + k, uint32_t(i % e.channels))));
        }
    }
    image_read_file(&a, path.c_str(), COLOR_SHADER, false, &f, &err); /* only counted */
    assert_int_equal(f.count, want.size());
    assert_null(f.more);
    arena_free(&a);
}

/* A part: its name, its channels' names, its size, whether it is of tiles with levels. */
struct exr_part {
    const char *name;
    std::vector<const char *> channels;
    int width, height;
    bool tiled;
};
/* Channel c of level l of part p has the value (first + l, c), first as `firsts` says. */
void write_parts(const std::string &path, const std::vector<exr_part> &parts,
                 const std::vector<uint32_t> &firsts, Imf::Compression compression)
{
    std::vector<Imf::Header> headers;
    for (const exr_part &p : parts) {
        Imf::Header h(parts[0].width, parts[0].height);
        h.dataWindow() = Imath::Box2i(Imath::V2i(0, 0), Imath::V2i(p.width - 1, p.height - 1));
        h.setName(p.name);
        h.setType(p.tiled ? Imf::TILEDIMAGE : Imf::SCANLINEIMAGE);
        h.compression() = compression;
        if (p.tiled)
            h.setTileDescription(Imf::TileDescription(16, 16, Imf::MIPMAP_LEVELS, Imf::ROUND_DOWN));
        for (const char *c : p.channels)
            h.channels().insert(c, Imf::Channel(Imf::FLOAT));
        headers.push_back(h);
    }
    Imf::MultiPartOutputFile file(path.c_str(), headers.data(), int(headers.size()));
    for (size_t n = 0; n < parts.size(); n++) {
        const exr_part &p = parts[n];
        size_t count = p.channels.size(), pixel = count * sizeof(float);
        std::vector<float> texels(size_t(p.width) * size_t(p.height) * count);
        auto frame = [&](uint32_t level, size_t width) {
            Imf::FrameBuffer from;
            for (size_t i = 0; i < texels.size(); i++)
                texels[i] = value(firsts[n] + level, uint32_t(i % count));
            for (size_t c = 0; c < count; c++)
                from.insert(p.channels[c],
                            Imf::Slice(Imf::FLOAT, reinterpret_cast<char *>(&texels[c]), pixel,
                                       pixel * width));
            return from;
        };
        if (p.tiled) {
            Imf::TiledOutputPart out(file, int(n));
            for (int l = 0; l < out.numLevels(); l++) {
                out.setFrameBuffer(frame(uint32_t(l), size_t(out.levelWidth(l))));
                out.writeTiles(0, out.numXTiles(l) - 1, 0, out.numYTiles(l) - 1, l);
            }
        } else {
            Imf::OutputPart out(file, int(n));
            out.setFrameBuffer(frame(0, size_t(p.width)));
            out.writePixels(p.height);
        }
    }
}

void test_parts_of_exr(void **state)
{
    (void)state;
    const std::string path = scratch("parts.exr");
    const sizes small = {{5, 7}};
    for (Imf::Compression c : {Imf::NO_COMPRESSION, Imf::ZIP_COMPRESSION, Imf::PIZ_COMPRESSION}) {
        write_parts(path,
                    {{"left", {"R", "G", "B"}, 37, 18, true},
                     {"right", {"right.R", "right.G", "right.B"}, 37, 18, true},
                     {"depth", {"Z"}, 5, 7, false},
                     {"odd", {"a.R", "b.G", "B"}, 5, 7, false},
                     {"last", {"R", "G", "B", "A"}, 5, 7, false}},
                    {0, 10, 20, 30, 40}, c);
        expect_parts(path, {{"left", down, 0, 3},
                            {"right", down, 10, 3},
                            {"depth", small, 20, 1},
                            {"odd", {}, 0, 0},
                            {"last", small, 40, 4}});
    }
    write_exr(path, 37, 18, Imf::ZIP_COMPRESSION, Imf::MIPMAP_LEVELS, Imf::ROUND_DOWN);
    expect_parts(path, {{"", down, 0, 3}});
    unlink(path.c_str());
}

void test_parts_of_tiff(void **state)
{
    (void)state;
    const std::string path = scratch("pages.tif");
    sizes two = down;
    two.insert(two.end(), {{37, 18}, {18, 9}, {64, 9}});
    write_tiff(path, two, NONE, NONE); /* two pyramids, the second of which ends early */
    expect_parts(path, {{"", down, 0, 3}, {"", {{37, 18}, {18, 9}}, 6, 3}, {"", {{64, 9}}, 8, 3}});
    write_tiff(path, {{37, 18}, {18, 9}, {9, 4}}, 0, NONE); /* in strips: no levels */
    expect_parts(path, {{"", {{37, 18}}, 0, 3}, {"", {{18, 9}}, 1, 3}, {"", {{9, 4}}, 2, 3}});
    write_tiff(path, {{37, 18}, {40, 40}}, NONE, 1); /* of other channels */
    expect_parts(path, {{"", {{37, 18}}, 0, 3}, {"", {{40, 40}}, 1, 1}});
    std::string file = contents(path);
    TIFF *t = TIFFOpen(path.c_str(), "r");
    assert_non_null(t);
    assert_int_equal(TIFFSetDirectory(t, 1), 1);
    uint64_t at = TIFFGetStrileOffset(t, 0), next = TIFFCurrentDirOffset(t);
    TIFFClose(t);
    file.replace(size_t(at), 8, 8, '\xff'); /* a corrupt tile of the second: only that is lost */
    put(path, file);
    expect_parts(path, {{"", {{37, 18}}, 0, 3}, {"", {}, 0, 0}});
    file.resize(size_t(next) + 10);
    put(path, file);
    struct arena a = {};
    struct error err = {};
    struct image_file f;
    if (image_read_file(&a, path.c_str(), COLOR_SHADER, true, &f, &err) == STATUS_OK) {
        assert_int_equal(f.count, 1);
        assert_non_null(strstr(f.ended, "the directory after its subimage 0 cannot be read"));
    } else {
        assert_non_null(strstr(err.msg, "level 1: its directory cannot be read"));
    }
    arena_free(&a);
    unlink(path.c_str());
}

} // namespace

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiff), cmocka_unit_test(test_exr), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_parts_of_exr), cmocka_unit_test(test_parts_of_tiff)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
