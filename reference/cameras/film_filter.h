/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 23: where in the film a sample of a pixel lies. */
#ifndef REFERENCE_FILM_FILTER_H
#define REFERENCE_FILM_FILTER_H

#include "scenes.h"

enum { FILTER_CELLS = 1024 };

struct film_filter {
    bool standard; /* a box of radius 0.5: section 2 */
    enum pixel_filter type;
    double radius;
    double T[FILTER_CELLS + 1]; /* q(i/1024) of filters without a closed inverse */
};

void film_filter_make(const struct scene *s, struct film_filter *out);
/* q(u): a position in [-1, 1] from a number in [0, 1). */
double film_filter_map(const struct film_filter *f, double u);
/* (px, py) of section 23; u: two numbers of block 0. */
void film_position(const struct film_filter *f, uint32_t x, uint32_t y, const double u[2],
                   double position[2]);

#endif
