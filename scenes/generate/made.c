/* SPDX-License-Identifier: Apache-2.0 */
#include "made.h"

#include <math.h>

double made_random(uint32_t a, uint32_t b)
{
    uint32_t out[4];
    philox4x32((const uint32_t[4]){a, b, 0, 0}, (const uint32_t[2]){2026, 11}, out);
    return u01(out[0]);
}

static enum status picture_make(const char *folder, const char *name, made_painter *paint,
                                struct error *err)
{
    static uint8_t rgb[MADE_SIDE * MADE_SIDE * 3];
    struct arena a = {0};
    const uint8_t *png;
    size_t size;
    for (int y = 0; y < MADE_SIDE; y++)
        for (int x = 0; x < MADE_SIDE; x++) {
            double v[3];
            paint((x + 0.5) / MADE_SIDE, 1 - (y + 0.5) / MADE_SIDE, v);
            for (int c = 0; c < 3; c++)
                rgb[3 * (y * MADE_SIDE + x) + c] = (uint8_t)(fmin(fmax(v[c], 0), 1) * 255 + 0.5);
        }
    enum status s = image_encode_png(&a, MADE_SIDE, MADE_SIDE, rgb, &png, &size, err);
    char *path = arena_printf(&a, "%s/textures/%s.png", folder, name);
    if (!s)
        s = path ? file_write(path, png, size, err)
                 : error_msg(err, STATUS_MEMORY, "out of memory");
    arena_free(&a);
    return s;
}

void made_numbers(struct json_writer *w, const char *key, const double *v, size_t n)
{
    if (key)
        json_key(w, key);
    json_begin_array(w);
    for (size_t i = 0; i < n; i++)
        json_number(w, round(v[i] * 1000) / 1000 + 0.0);
    json_end_array(w);
}

void made_triple(struct json_writer *w, const char *key, double a, double b, double c)
{
    made_numbers(w, key, (const double[3]){a, b, c}, 3);
}

static enum status scene_write(struct json_writer *w, const char *folder, const char *name,
                               struct error *err)
{
    struct arena a = {0};
    char *path = arena_printf(&a, "%s/%s", folder, name);
    enum status s = !path || w->out.failed ? error_msg(err, STATUS_MEMORY, "out of memory")
                                           : file_write(path, w->out.data, w->out.len, err);
    text_free(&w->out);
    arena_free(&a);
    return s;
}

int made_main(int argc, char **argv, const char *name, const struct made_file *pictures,
              size_t count, void (*write)(struct json_writer *w))
{
    struct error err = {0};
    struct json_writer w = {.pretty = true};
    char file[64];
    enum status s = STATUS_OK;
    if (argc != 2) {
        fprintf(stderr, "usage: %s DIR\n", name);
        return 2;
    }
    for (size_t i = 0; !s && i < count; i++)
        s = picture_make(argv[1], pictures[i].name, pictures[i].paint, &err);
    write(&w);
    (void)snprintf(file, sizeof file, "%s.json", name);
    if (!s)
        s = scene_write(&w, argv[1], file, &err);
    if (s)
        fprintf(stderr, "%s: %s\n", name, err.msg);
    return s ? 1 : 0;
}
