/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of imported models share: files in a folder of the test's own, the scenes that
 * they become, and what is asked of those. */
#ifndef ISOPHOTE_SCENES_TEST_IMPORT_H
#define ISOPHOTE_SCENES_TEST_IMPORT_H

#include "scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern struct arena arena; /* of the whole program: remove_folder frees it */
/* A shape that every format can say. */
extern const float tetrahedron[4][3];
extern const int32_t tetrahedron_faces[4][3];
/* For cmocka_run_group_tests. */
int make_folder(void **state);
int remove_folder(void **state);

const char *path_of(const char *name); /* in the folder */
void write_bytes(const char *name, const void *data, size_t size);
void write_text(const char *name, const char *text);
void write_png(const char *name, const uint8_t rgb[6]); /* 2 x 1, RGB of 8 bits */
/* A number's four bytes, in the order of big- or little-endian files. */
void put_word(struct text *t, uint32_t w, bool big);
void put_float(struct text *t, float f, bool big);

/* What scene_import makes of a file; its scene is the caller's to free. */
struct imported {
    struct scene_import import;
    struct scene *scene;
};

struct imported import_with(const char *name, const struct scene_import_options *o);
struct imported import_file(const char *name);
void expect_refused(const char *name, enum status status, const char *words);

bool noted(const struct imported *i, const char *words); /* in one of the import's notes */
const struct material *material_of(const struct imported *i, const char *name);
bool near(double a, double b); /* within 1e-6 of the larger of 1 and b */
bool near3(const float *p, double x, double y, double z);
void vertex_of(const struct scene *s, size_t triangle, int corner, double out[3]);
/* The triangle's corners are at these three points, in this order, within 1e-5. */
void expect_corners(const struct scene *s, size_t triangle, const double want[9]);
/* The normal that a triangle's corner has in the scene: its vertex' or, without one, or one of no
 * length, its face's. */
void normal_of(const struct scene *s, size_t triangle, int corner, double out[3]);
void expect_normal(const struct scene *s, size_t triangle, int corner, double x, double y,
                   double z); /* within 1e-6 */
/* The texels of a texture as write_png makes them: 2 x 1, RGB of 8 bits. */
const uint8_t *bytes_of(const struct imported *i, int32_t texture);

#endif
