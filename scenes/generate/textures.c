/* SPDX-License-Identifier: Apache-2.0 */
/* textures DIR: makes the small images of scenes/library/textures, kept in the repository:
 *
 *   tile.png     sRGB                64 x 64     no symmetry, so that every wrap and turn shows
 *   veins.jpg    sRGB                128 x 64    tiles along u
 *   blocks.exr   linear              8 x 8       a texel far above 1, clamped by no one
 *   leaf.exr     linear with alpha   64 x 64     a leaf, its tip up
 *   bumps.png    normals             128 x 128   domes and grooves, tiles both ways */
#include "scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

static bool in_box(double x, double y, double x0, double y0, double x1, double y1)
{
    return x >= x0 && x < x1 && y >= y0 && y < y1;
}

/* A letter F on a field whose corners differ in colour; x right, y up, in [0,1). */
static void tile(double x, double y, double rgb[3])
{
    bool letter = in_box(x, y, 0.28, 0.16, 0.42, 0.84) || in_box(x, y, 0.28, 0.70, 0.74, 0.84) ||
                  in_box(x, y, 0.28, 0.44, 0.62, 0.57);
    bool border = !in_box(x, y, 0.05, 0.05, 0.95, 0.95);
    double field[3] = {0.25 + 0.65 * x, 0.35 + 0.45 * y, 0.85 - 0.55 * x};
    for (int c = 0; c < 3; c++)
        rgb[c] = border ? 0.12 : letter ? 0.97 : field[c];
}

static bool write_tile(const char *path)
{
    enum { N = 64 };
    static uint8_t rgb[N * N * 3];
    struct arena a = {0};
    struct error err = {0};
    const uint8_t *png;
    size_t size;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            double v[3];
            tile((x + 0.5) / N, 1 - (y + 0.5) / N, v);
            for (int c = 0; c < 3; c++)
                rgb[3 * (y * N + x) + c] = (uint8_t)(v[c] * 255 + 0.5);
        }
    bool ok = image_encode_png(&a, N, N, rgb, &png, &size, &err) == STATUS_OK &&
              file_write(path, png, size, &err) == STATUS_OK;
    if (!ok)
        fprintf(stderr, "%s\n", err.msg);
    arena_free(&a);
    return ok;
}

/* Veins: a wave bent by waves, periodic along u. */
static void veins(double u, double v, double rgb[3])
{
    double a = 2 * M_PI * u, b = 2 * M_PI * v;
    double bend = 1.6 * sin(a + 1.3 * sin(b)) + 0.8 * sin(3 * a - 2 * b) + 0.4 * sin(7 * a + 5 * b);
    double w = pow(0.5 + 0.5 * sin(2 * a + b + 2.2 * bend), 3);
    static const double stone[3] = {0.93, 0.90, 0.84}, vein[3] = {0.18, 0.30, 0.36};
    for (int c = 0; c < 3; c++)
        rgb[c] = stone[c] + (vein[c] - stone[c]) * w;
}

static bool write_veins(const char *path)
{
    enum { W = 128, H = 64 };
    struct jpeg_compress_struct j;
    struct jpeg_error_mgr e;
    unsigned char *out = NULL;
    unsigned long size = 0;
    j.err = jpeg_std_error(&e);
    jpeg_create_compress(&j);
    jpeg_mem_dest(&j, &out, &size);
    j.image_width = W;
    j.image_height = H;
    j.input_components = 3;
    j.in_color_space = JCS_RGB;
    jpeg_set_defaults(&j);
    jpeg_set_quality(&j, 90, TRUE);
    jpeg_start_compress(&j, TRUE);
    for (int y = 0; y < H; y++) {
        uint8_t line[W * 3];
        JSAMPROW row = line;
        for (int x = 0; x < W; x++) {
            double v[3];
            veins((x + 0.5) / W, 1 - (y + 0.5) / H, v);
            for (int c = 0; c < 3; c++)
                line[3 * x + c] = (uint8_t)(v[c] * 255 + 0.5);
        }
        jpeg_write_scanlines(&j, &row, 1);
    }
    jpeg_finish_compress(&j);
    jpeg_destroy_compress(&j);
    struct error err = {0};
    bool ok = file_write(path, out, size, &err) == STATUS_OK;
    if (!ok)
        fprintf(stderr, "%s\n", err.msg);
    free(out);
    return ok;
}

static bool write_blocks(const char *path)
{
    enum { N = 8 };
    static float rgb[N * N * 3];
    struct error err = {0};
    for (int i = 0; i < N * N; i++) {
        double hue = 2 * M_PI * (i * 0.381966), level = (i / N + i % N) % 2 ? 0.75 : 0.35;
        for (int c = 0; c < 3; c++)
            rgb[3 * i + c] = (float)(level * (0.6 + 0.4 * cos(hue - c * 2 * M_PI / 3)));
    }
    rgb[0] = rgb[1] = rgb[2] = 4; /* top left: read as 1 where a reflectance is wanted */
    bool ok = image_write(path, N, N, rgb, TONE_LINEAR, 1, &err) == STATUS_OK;
    if (!ok)
        fprintf(stderr, "%s\n", err.msg);
    return ok;
}

/* A leaf about the line x = 1/2: colour and alpha. */
static void leaf(double x, double y, float out[4])
{
    double side = x - 0.5, along = (y - 0.12) / 0.83; /* 0 at the stalk's end, 1 at the tip */
    double width = along > 0 && along < 1 ? 0.34 * sqrt(along) * pow(1 - along, 0.7) * 1.7 : 0;
    double teeth = 0.02 * fabs(sin(19 * along));
    bool stalk = fabs(side) < 0.016 && y < 0.3;
    double vein = fabs(fmod(along * 7 + 5 * fabs(side) + 8, 1) - 0.5);
    bool rib = fabs(side) < 0.012 || vein > 0.46;
    static const double blade[3] = {0.10, 0.32, 0.05}, light[3] = {0.30, 0.50, 0.14};
    for (int c = 0; c < 3; c++)
        out[c] = (float)(blade[c] + (light[c] - blade[c]) * (rib ? 0.8 : 0.35 * along));
    out[3] = stalk || fabs(side) < width - teeth ? 1.0F : 0.0F;
}

static bool write_leaf(const char *path)
{
    enum { N = 64, FINE = 4 };
    static float rgba[N * N * 4];
    struct error err = {0};
    for (int i = 0; i < N * N; i++) { /* the mean over each texel: edges get alphas between */
        double sum[4] = {0};
        for (int k = 0; k < FINE * FINE; k++) {
            float v[4];
            int column = i % N, row = i / N, across = k % FINE, down = k / FINE;
            leaf((column + (across + 0.5) / FINE) / N, 1 - (row + (down + 0.5) / FINE) / N, v);
            for (int c = 0; c < 4; c++)
                sum[c] += (double)v[c] / (FINE * FINE);
        }
        for (int c = 0; c < 4; c++)
            rgba[4 * i + c] = (float)(round(sum[c] * 256) / 256); /* compresses well */
    }
    const struct image_channel channels[] = {
        {"R", rgba, 4}, {"G", rgba + 1, 4}, {"B", rgba + 2, 4}, {"A", rgba + 3, 4}};
    bool ok = image_write_exr(path, N, N, channels, 4, NULL, &err) == STATUS_OK;
    if (!ok)
        fprintf(stderr, "%s\n", err.msg);
    return ok;
}

/* Height over a tile: four domes, and grooves across the gaps between them. */
static double height(double u, double v)
{
    double x = fmod(2 * u + 2, 1) - 0.5, y = fmod(2 * v + 2, 1) - 0.5, r2 = (x * x + y * y) / 0.16;
    double dome = r2 < 1 ? 0.16 * sqrt(1 - r2) : 0;
    return dome + 0.012 * sin(2 * M_PI * 8 * (u + v)) * (r2 > 1);
}

static bool write_bumps(const char *path)
{
    enum { N = 128 };
    static uint8_t rgb[N * N * 3];
    struct arena a = {0};
    struct error err = {0};
    const uint8_t *png;
    size_t size;
    for (int i = 0; i < N * N; i++) {
        int column = i % N, row = i / N;
        double u = (column + 0.5) / N, v = 1 - (row + 0.5) / N, e = 0.5 / N;
        double n[3] = {-(height(u + e, v) - height(u - e, v)) / (2 * e),
                       -(height(u, v + e) - height(u, v - e)) / (2 * e), 1};
        double len = sqrt(n[0] * n[0] + n[1] * n[1] + 1);
        for (int c = 0; c < 3; c++)
            rgb[3 * i + c] = (uint8_t)((n[c] / len * 0.5 + 0.5) * 255 + 0.5);
    }
    bool ok = image_encode_png(&a, N, N, rgb, &png, &size, &err) == STATUS_OK &&
              file_write(path, png, size, &err) == STATUS_OK;
    if (!ok)
        fprintf(stderr, "%s\n", err.msg);
    arena_free(&a);
    return ok;
}

int main(int argc, char **argv)
{
    char path[5][4096];
    static const char *const names[] = {"tile.png", "veins.jpg", "blocks.exr", "leaf.exr",
                                        "bumps.png"};
    if (argc != 2) {
        fprintf(stderr, "usage: textures DIR\n");
        return 2;
    }
    for (int i = 0; i < 5; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", argv[1], names[i]);
    return write_tile(path[0]) && write_veins(path[1]) && write_blocks(path[2]) &&
                   write_leaf(path[3]) && write_bumps(path[4])
               ? 0
               : 1;
}
