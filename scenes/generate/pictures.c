/* SPDX-License-Identifier: Apache-2.0 */
/* pictures_generator FOLDER [SIDE]: the EXR and PNG files whose loading tools/image_figures.py
 * times, for machines without Python's packages: RGB, waves under noise of 1/512, 8192 pixels a
 * side. Files that are there stay. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ImfCRgbaFile.h>
#include <openexr.h>
#include <png.h>

/* Row y, linear, 0.1 to 0.9; its noise depends on y alone, so that rows come in any order. */
static void make_row(uint32_t side, uint32_t y, float *rgb)
{
    uint64_t random = y * 0x9e3779b97f4a7c15ULL + 1;
    for (uint32_t x = 0; x < side; x++)
        for (int c = 0; c < 3; c++) {
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            float noise = (float)(random >> 40) * 0x1p-24F - 0.5F;
            float at = (float)x / (float)side, down = (float)y / (float)side, k = (float)c;
            *rgb++ = 0.5F + 0.39F * sinf(40 * at + k) * cosf(31 * down - k) + noise / 256;
        }
}

/* Room for `side` pixels of up to four channels of `size` bytes each; on the heap. */
static void *row_of(uint32_t side, size_t size)
{
    void *row = calloc(side, 4 * size);
    if (!row) {
        fputs("pictures_generator: out of memory\n", stderr);
        exit(1);
    }
    return row;
}

static bool write_exr(const char *path, uint32_t side, exr_compression_t compression, bool half)
{
    exr_context_t file = NULL;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_encode_pipeline_t pipe = {0};
    exr_chunk_info_t chunk;
    exr_pixel_type_t type = half ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    int part = 0, lines = 1, size = half ? 2 : 4;
    exr_result_t e = exr_start_write(&file, path, EXR_WRITE_FILE_DIRECTLY, &init);
    if (e == 0)
        e = exr_add_part(file, "picture", EXR_STORAGE_SCANLINE, &part);
    if (e == 0)
        e = exr_initialize_required_attr_simple(file, part, (int)side, (int)side, compression);
    for (int c = 0; e == 0 && c < 3; c++)
        e = exr_add_channel(file, part, &"B\0G\0R"[2 * c], type, EXR_PERCEPTUALLY_LOGARITHMIC, 1,
                            1);
    if (e == 0)
        e = exr_write_header(file);
    if (e == 0)
        e = exr_get_scanlines_per_chunk(file, part, &lines);
    float *row = row_of(side, sizeof *row);
    unsigned char *rows = row_of(side, (size_t)size * (size_t)lines);
    for (int y = 0; e == 0 && y < (int)side; y += lines) {
        for (int k = 0; k < lines && y + k < (int)side; k++) {
            unsigned char *to = rows + (size_t)k * side * 3 * (size_t)size;
            make_row(side, (uint32_t)(y + k), row);
            if (half)
                ImfFloatToHalfArray((int)side * 3, row, (ImfHalf *)(void *)to);
            else
                memcpy(to, row, (size_t)side * 3 * sizeof *row);
        }
        e = exr_write_scanline_chunk_info(file, part, y, &chunk);
        if (e == 0)
            e = y ? exr_encoding_update(file, part, &chunk, &pipe)
                  : exr_encoding_initialize(file, part, &chunk, &pipe);
        for (int c = 0; e == 0 && c < 3; c++) { /* in the order of their names: B, G, R */
            exr_coding_channel_info_t *from = &pipe.channels[c];
            from->user_pixel_stride = 3 * size;
            from->user_line_stride = 3 * size * (int)side;
            from->user_data_type = (uint16_t)type;
            from->user_bytes_per_element = (int16_t)size;
            from->encode_from_ptr = rows + (size_t)size * (size_t)(2 - c);
        }
        if (e == 0 && y == 0)
            e = exr_encoding_choose_default_routines(file, part, &pipe);
        if (e == 0)
            e = exr_encoding_run(file, part, &pipe);
    }
    exr_encoding_destroy(file, &pipe);
    exr_result_t end = exr_finish(&file);
    free(rows);
    free(row);
    return e == 0 && end == 0;
}

/* DWAA, which OpenEXRCore cannot write before 3.2. */
static bool write_dwaa(const char *path, uint32_t side)
{
    enum { DWAA = 8 };
    ImfHeader *header = ImfNewHeader();
    ImfHeaderSetDisplayWindow(header, 0, 0, (int)side - 1, (int)side - 1);
    ImfHeaderSetDataWindow(header, 0, 0, (int)side - 1, (int)side - 1);
    ImfHeaderSetCompression(header, DWAA);
    ImfOutputFile *file = ImfOpenOutputFile(path, header, IMF_WRITE_RGB);
    float *row = row_of(side, sizeof *row);
    ImfRgba *pixels = row_of(side, 2);
    bool ok = file != NULL;
    for (uint32_t y = 0; ok && y < side; y++) {
        make_row(side, y, row);
        for (uint32_t x = 0; x < side; x++) {
            ImfHalf rgb[3];
            ImfFloatToHalfArray(3, row + (size_t)3 * x, rgb);
            pixels[x] = (ImfRgba){rgb[0], rgb[1], rgb[2], 0};
        }
        /* the library adds x + y * width to the base */
        ImfRgba *base = (ImfRgba *)((uintptr_t)pixels - (uintptr_t)y * side * sizeof *pixels);
        ok = ImfOutputSetFrameBuffer(file, base, 1, side) && ImfOutputWritePixels(file, 1);
    }
    ok = file && ImfCloseOutputFile(file) && ok;
    ImfDeleteHeader(header);
    free(pixels);
    free(row);
    return ok;
}

static bool write_png(const char *path, uint32_t side, int bits)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return false;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, f);
    png_set_IHDR(png, info, side, side, bits, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_filter(png, 0, PNG_FILTER_NONE | PNG_FILTER_SUB | PNG_FILTER_UP);
    png_write_info(png, info);
    float *row = row_of(side, sizeof *row);
    unsigned char *bytes = row_of(side, 2), *to;
    for (uint32_t y = 0; y < side; y++) {
        make_row(side, y, row);
        to = bytes;
        for (uint32_t i = 0; i < 3 * side; i++) {
            unsigned v = (unsigned)lrintf(row[i] * (float)((1 << bits) - 1));
            if (bits == 16)
                *to++ = (unsigned char)(v >> 8);
            *to++ = (unsigned char)v;
        }
        png_write_row(png, bytes);
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    free(bytes);
    free(row);
    return fclose(f) == 0;
}

static bool write_picture(const char *path, const char *name, uint32_t side)
{
    static const struct {
        const char *name;
        exr_compression_t compression;
    } kinds[] = {{"none", EXR_COMPRESSION_NONE}, {"rle", EXR_COMPRESSION_RLE},
                 {"zips", EXR_COMPRESSION_ZIPS}, {"zip", EXR_COMPRESSION_ZIP},
                 {"piz", EXR_COMPRESSION_PIZ},   {"pxr24", EXR_COMPRESSION_PXR24},
                 {"b44", EXR_COMPRESSION_B44}};
    if (strcmp(name, "rgb8.png") == 0 || strcmp(name, "rgb16.png") == 0)
        return write_png(path, side, name[3] == '8' ? 8 : 16);
    if (strcmp(name, "half-dwaa.exr") == 0)
        return write_dwaa(path, side);
    const char *kind = strchr(name, '-') + 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(kind, kinds[i].name, strlen(kind) - 4) == 0 &&
            strlen(kinds[i].name) == strlen(kind) - 4)
            return write_exr(path, side, kinds[i].compression, name[0] == 'h');
    return false;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {
        "rgb8.png",       "rgb16.png",     "half-none.exr",  "half-rle.exr",
        "half-zips.exr",  "half-zip.exr",  "half-piz.exr",   "half-pxr24.exr",
        "half-b44.exr",   "half-dwaa.exr", "float-none.exr", "float-rle.exr",
        "float-zips.exr", "float-zip.exr", "float-piz.exr",  "float-pxr24.exr"};
    uint32_t side = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 8192;
    if (argc < 2 || argc > 3 || side < 1 || side > 32768) {
        fprintf(stderr, "usage: pictures_generator FOLDER [SIDE]\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096], part[4096 + 8];
        snprintf(path, sizeof path, "%s/%s", argv[1], names[i]);
        snprintf(part, sizeof part, "%s.part", path);
        if (access(path, F_OK) == 0)
            continue;
        if (!write_picture(part, names[i], side) || rename(part, path) != 0) {
            fprintf(stderr, "pictures_generator: cannot write %s\n", path);
            return 1;
        }
    }
    return 0;
}
