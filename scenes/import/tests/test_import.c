/* SPDX-License-Identifier: Apache-2.0 */
#include "test_import.h"

#include <cmocka.h>

static char folder[] = "/tmp/isophote-import-test-XXXXXX";
struct arena arena;
const float tetrahedron[4][3] = {{0, 0, 0}, {2, 0, 0}, {0, 3, 0}, {0, 0, 4}};
const int32_t tetrahedron_faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

const char *path_of(const char *name) { return arena_printf(&arena, "%s/%s", folder, name); }

void write_bytes(const char *name, const void *data, size_t size)
{
    struct error err = {0};
    if (file_write(path_of(name), data, size, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
}

void write_text(const char *name, const char *text) { write_bytes(name, text, strlen(text)); }

void write_png(const char *name, const uint8_t rgb[6])
{
    const uint8_t *png;
    size_t size;
    assert_int_equal(image_encode_png(&arena, 2, 1, rgb, &png, &size, NULL), STATUS_OK);
    write_bytes(name, png, size);
}

void put_word(struct text *t, uint32_t w, bool big)
{
    uint8_t b[4];
    for (int k = 0; k < 4; k++)
        b[k] = (uint8_t)(w >> (big ? 24 - 8 * k : 8 * k));
    text_append(t, (const char *)b, 4);
}

void put_float(struct text *t, float f, bool big)
{
    uint32_t w;
    memcpy(&w, &f, sizeof w);
    put_word(t, w, big);
}

struct imported import_with(const char *name, const struct scene_import_options *o)
{
    struct imported i = {0};
    struct error err = {0};
    const char *scene = path_of("scene.json");
    if (scene_import(&arena, path_of(name), scene, o, &i.import, &err) != STATUS_OK)
        fail_msg("%s: %s", name, err.msg);
    if (scene_load_memory(scene, i.import.text, i.import.size, &i.scene, &err) != STATUS_OK)
        fail_msg("%s: the scene does not load: %s\n%s", name, err.msg, i.import.text);
    return i;
}

struct imported import_file(const char *name)
{
    return import_with(name, &(struct scene_import_options){0});
}

void expect_refused(const char *name, enum status status, const char *words)
{
    struct scene_import out;
    struct error err = {0};
    enum status s = scene_import(&arena, path_of(name), path_of("scene.json"),
                                 &(struct scene_import_options){0}, &out, &err);
    if (s != status || !strstr(err.msg, words))
        fail_msg("%s: found %s: %s; expected %s with \"%s\"", name, status_name(s), err.msg,
                 status_name(status), words);
}

bool noted(const struct imported *i, const char *words)
{
    for (size_t k = 0; k < i->import.note_count; k++)
        if (strstr(i->import.notes[k], words))
            return true;
    return false;
}

const struct material *material_of(const struct imported *i, const char *name)
{
    for (size_t k = 0; k < i->scene->material_count; k++)
        if (strcmp(i->scene->materials[k].name, name) == 0)
            return &i->scene->materials[k];
    fail_msg("there is no material %s in\n%s", name, i->import.text);
    abort();
}

bool near(double a, double b) { return fabs(a - b) <= 1e-6 * fmax(1, fabs(b)); }

bool near3(const float *p, double x, double y, double z)
{
    return p && near((double)p[0], x) && near((double)p[1], y) && near((double)p[2], z);
}

void vertex_of(const struct scene *s, size_t triangle, int corner, double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = (double)s->P[s->triangles[triangle][corner]][c];
}

void expect_corners(const struct scene *s, size_t triangle, const double want[9])
{
    for (int k = 0; k < 3; k++) {
        double p[3];
        vertex_of(s, triangle, k, p);
        for (int c = 0; c < 3; c++)
            if (fabs(p[c] - want[3 * k + c]) > 1e-5)
                fail_msg("triangle %zu, corner %d: (%g, %g, %g), expected (%g, %g, %g)", triangle,
                         k, p[0], p[1], p[2], want[3 * k], want[3 * k + 1], want[3 * k + 2]);
    }
}

int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    arena_free(&arena);
    return system(command); // NOLINT(cert-env33-c): a name made by mkdtemp
}

const uint8_t *bytes_of(const struct imported *i, int32_t texture)
{
    assert_true(texture >= 0);
    const struct image *im = &i->scene->textures[texture].image;
    assert_true(im->format == TEXEL_U8 && im->channels == 3 && im->width == 2 && im->height == 1);
    return im->texels;
}

void normal_of(const struct scene *s, size_t triangle, int corner, double out[3])
{
    double p[3][3], length = 0;
    if (s->triangle_flags[triangle] & TRIANGLE_HAS_NORMALS) {
        for (int c = 0; c < 3; c++)
            out[c] = (double)s->N[s->triangles[triangle][corner]][c];
        if (out[0] != 0 || out[1] != 0 || out[2] != 0)
            return;
    }
    for (int k = 0; k < 3; k++)
        vertex_of(s, triangle, k, p[k]);
    for (int c = 0; c < 3; c++) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        out[c] =
            (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
        length += out[c] * out[c];
    }
    for (int c = 0; c < 3; c++)
        out[c] /= sqrt(length);
}

void expect_normal(const struct scene *s, size_t triangle, int corner, double x, double y, double z)
{
    double n[3];
    normal_of(s, triangle, corner, n);
    if (fabs(n[0] - x) > 1e-6 || fabs(n[1] - y) > 1e-6 || fabs(n[2] - z) > 1e-6)
        fail_msg("triangle %zu, corner %d: (%g, %g, %g), expected (%g, %g, %g)", triangle, corner,
                 n[0], n[1], n[2], x, y, z);
}
