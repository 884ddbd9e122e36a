/* textures DIR: makes the small images of scenes/library/textures, which are kept in the
 * repository: tile.png (sRGB, 64 x 64: no symmetry, so that every wrap and turn shows), veins.jpg
 * (sRGB, 128 x 64, tiles along u) and blocks.exr (linear, 8 x 8, with a texel far above 1 clamped
 * by no one). */
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

int main(int argc, char **argv)
{
    char path[3][4096];
    static const char *const names[] = {"tile.png", "veins.jpg", "blocks.exr"};
    if (argc != 2) {
        fprintf(stderr, "usage: textures DIR\n");
        return 2;
    }
    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", argv[1], names[i]);
    return write_tile(path[0]) && write_veins(path[1]) && write_blocks(path[2]) ? 0 : 1;
}
