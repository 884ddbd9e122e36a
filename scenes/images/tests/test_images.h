/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of image readers share: files built in a text, and what is read of them. */
#ifndef ISOPHOTE_SCENES_TEST_IMAGES_H
#define ISOPHOTE_SCENES_TEST_IMAGES_H

#include "images/images.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

extern struct arena arena; /* of one test case: set_up empties it, tear_down frees it */
int set_up(void **state);
int tear_down(void **state);

/* Appended as they lie in memory; a name with its NUL. */
void put(struct text *t, const void *data, size_t n);
void put_u8(struct text *t, unsigned v);
void put_u32(struct text *t, uint32_t v);
void put_u64(struct text *t, uint64_t v);
void put_name(struct text *t, const char *s);

enum status read_text(const struct text *t, enum color_space space, struct image *im,
                      struct error *err);
void expect_ok(enum status s, const struct error *err);
/* Reading *t fails so, with these words in the message, and leaves the image as it was. */
void expect_failure(const struct text *t, enum status want, const char *words);

/* Channel c of the texel at (x, y), row 0 at the top: linear, of floats and 16 bits; the stored one
 * of 8 bits. */
float texel(const struct image *im, uint32_t x, uint32_t y, uint32_t c);
unsigned byte(const struct image *im, uint32_t x, uint32_t y, uint32_t c);

/* All pixels of one colour: `components` bytes, 1 gray, 3 RGB, 4 CMYK. */
struct text jpeg_file(uint32_t width, uint32_t height, int components, bool progressive,
                      const uint8_t *color);
/* `rows` of `row` bytes each, packed as PNG has them; `transparency` adds a tRNS: two entries of a
 * palette, else the colour (1, 2, 3) or gray 1. At most 16 rows. */
struct text png_file(uint32_t width, uint32_t height, int depth, int type, int interlace,
                     const uint8_t *rows, size_t row, bool transparency);
void png_to_text(png_structp png, png_bytep data, size_t n); /* libpng's output, to a struct text */

/* Noise over waves, so that every filter has something to do; from a multiplicative generator. The
 * caller frees it. */
uint8_t *picture_bytes(size_t row, size_t height);

#endif
