/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 7.2. */
#ifndef REFERENCE_TEXTURE_H
#define REFERENCE_TEXTURE_H

#include "numbers/offers.h"
#include "scenes.h"

/* Texel (x, y), row 0 on top, linear; one channel gives (c, c, c). */
struct vec3 image_texel(const struct image *image, uint32_t x, uint32_t y);

/* Four texels about the position (x, y), in texels from the top left corner of the image. */
struct vec3 image_bilinear(const struct image *image, enum texture_wrap wrap_u,
                           enum texture_wrap wrap_v, double x, double y);

/* The texture at (u, v); v = 0 is the bottom edge. */
struct vec3 texture_lookup(const struct texture *t, const double uv[2]);

/* A material's inputs at (u, v): value times texel; colours in [0, 1], scalars in [low, high]. */
struct vec3 color_at(const struct scene *s, const struct color_input *in, const double uv[2]);
/* The same without the upper bound. */
struct vec3 unbounded_color_at(const struct scene *s, const struct color_input *in,
                               const double uv[2]);
double scalar_at(const struct scene *s, const struct scalar_input *in, const double uv[2],
                 double low, double high);
/* One channel of it; 3 is alpha. */
double texture_channel(const struct texture *t, const double uv[2], uint32_t channel);

#endif
