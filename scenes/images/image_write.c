/* SPDX-License-Identifier: Apache-2.0 */
/* A linear picture into a file, by the extension of its name. */
#include "images.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static enum status write_png(const char *path, uint32_t width, uint32_t height, const float *rgb,
                             enum tone tone, double exposure, const char *const *attributes,
                             struct error *err)
{
    struct arena a = {0};
    size_t n = (size_t)width * height * 3, size;
    uint8_t *bytes = ARENA_ARRAY(&a, uint8_t, n);
    const uint8_t *png;
    enum status s =
        bytes ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory writing %s", path);
    for (size_t i = 0; s == STATUS_OK && i < n; i += 3) {
        double encoded[3];
        tone_map(tone, rgb + i, exposure, encoded);
        for (size_t c = 0; c < 3; c++)
            bytes[i + c] = (uint8_t)lround(encoded[c] * 255);
    }
    if (s == STATUS_OK)
        s = image_encode_png_with(&a, width, height, bytes, attributes, &png, &size, err);
    if (s == STATUS_OK)
        s = file_write(path, png, size, err);
    arena_free(&a);
    return s;
}

/* Debevec's portable float map: text header, then float32 rows from the bottom; -1 says
 * little-endian. */
static enum status write_pfm(const char *path, uint32_t width, uint32_t height, const float *rgb,
                             struct error *err)
{
    struct text t = {0};
    text_printf(&t, "PF\n%u %u\n-1.0\n", width, height);
    for (uint32_t y = height; y-- > 0;)
        text_append(&t, (const char *)(rgb + (size_t)y * width * 3), (size_t)width * 12);
    enum status s = t.failed ? error_msg(err, STATUS_MEMORY, "out of memory writing %s", path)
                             : file_write(path, t.data, t.len, err);
    text_free(&t);
    return s;
}

bool image_writes(const char *path)
{
    return path_ends(path, ".exr") || path_ends(path, ".pfm") || path_ends(path, ".png");
}

enum status image_write(const char *path, uint32_t width, uint32_t height, const float *rgb,
                        enum tone tone, double exposure, struct error *err)
{
    return image_write_with(path, width, height, rgb, tone, exposure, NULL, err);
}

enum status image_write_with(const char *path, uint32_t width, uint32_t height, const float *rgb,
                             enum tone tone, double exposure, const char *const *attributes,
                             struct error *err)
{
    if (width == 0 || height == 0)
        return error_msg(err, STATUS_ARG, "cannot write %s: a picture of %ux%u pixels", path, width,
                         height);
    if (path_ends(path, ".exr")) {
        const struct image_channel channels[3] = {
            {"R", rgb, 3}, {"G", rgb + 1, 3}, {"B", rgb + 2, 3}};
        return image_write_exr(path, width, height, channels, 3, attributes, err);
    }
    if (path_ends(path, ".pfm"))
        return write_pfm(path, width, height, rgb, err);
    if (path_ends(path, ".png"))
        return write_png(path, width, height, rgb, tone, exposure, attributes, err);
    return error_msg(err, STATUS_ARG,
                     "cannot write %s: expected a name ending with .exr, .pfm or .png", path);
}
