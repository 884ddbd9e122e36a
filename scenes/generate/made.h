/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that make scenes share: pictures by a formula, and JSON of three decimals. */
#ifndef ISOPHOTE_SCENES_GENERATE_MADE_H
#define ISOPHOTE_SCENES_GENERATE_MADE_H

#include "scenes.h"

enum { MADE_SIDE = 128 }; /* texels of a picture's side */

/* A number in [0,1) that is the same on every machine. */
double made_random(uint32_t a, uint32_t b);
/* x right, y up, both in [0,1); rgb as the file has it, clamped to 0 to 1. */
typedef void made_painter(double x, double y, double rgb[3]);
/* "key": [...], or without a key (NULL) an array's next element. */
void made_numbers(struct json_writer *w, const char *key, const double *v, size_t n);
void made_triple(struct json_writer *w, const char *key, double a, double b, double c);
struct made_file {
    const char *name; /* of the picture, without .png */
    made_painter *paint;
};
/* main() of a program that makes NAME.json, and its pictures in textures/, which has to be there,
 * in the folder that is its one argument. Exit status: 0; 1 what failed is told; 2 usage. */
int made_main(int argc, char **argv, const char *name, const struct made_file *pictures,
              size_t count, void (*write)(struct json_writer *w));

#endif
