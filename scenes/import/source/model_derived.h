/* SPDX-License-Identifier: Apache-2.0 */
/* Textures that a model's file does not have, computed from those that it has while the child reads
 * it: what its material model and ours name differently. 8 bits a channel, as PNG. */
#ifndef ISOPHOTE_SCENES_MODEL_DERIVED_H
#define ISOPHOTE_SCENES_MODEL_DERIVED_H

#include "model_source.h"

/* Khronos' conversion of KHR_materials_pbrSpecularGlossiness: the metallic share is the root of the
 * equation that makes diffuse and specular brightness what they are, with F0 = 0.04 for the rest.
 * Linear colours. */
double derived_metal(const double diffuse[3], const double specular[3], double base[3]);
/* Factors and maps: sRGB colours, in alpha of gloss_map the glossiness. */
struct derived_gloss {
    const struct source_texture *diffuse_map, *gloss_map; /* NULL: none */
    double diffuse[3], specular[3], glossiness;
};
/* The base colour's texture; and a texture with roughness (g) and metallic (b). All of these: false
 * if an image cannot be read, if two lie differently on the surface, or if it would be more than
 * 2^26 texels in one file. */
bool derive_from_glossiness(struct source *s, const struct derived_gloss *from,
                            struct source_texture *base, struct source_texture *data);
/* glTF's directions of anisotropy (red, green: a vector from -1 to 1), turned by `turns`, as twice
 * the turns from 0 to a half (a direction and its opposite are one) in all channels. Not filtered:
 * there is no mean of 0 and 1. */
bool derive_directions(struct source *s, const struct source_texture *map, double turns,
                       struct source_texture *out);
/* Roughness of a highlight with Phong's exponent as Blender (3.1 and later) writes and reads MTL:
 * the exponent is 1000 (1 - roughness)^2. */
double phong_roughness(double exponent);
double phong_exponent(double roughness);
/* The exponent, times the map, as roughness in all channels. */
bool derive_roughness(struct source *s, const struct source_texture *map, double exponent,
                      struct source_texture *out);
/* Whether the image has an alpha that is not 1 everywhere. */
bool derived_has_alpha(struct source *s, const struct source_texture *map);
/* A triangle of the surface in two sets of texture coordinates, v upwards. */
struct derived_triangle {
    double from[3][2], to[3][2];
};
/* Whether no two places of the surface have the same coordinates `to`, those beyond 0 to 1 taken
 * back into it: but for a fiftieth of it, and places that have the same `from`. */
bool derived_is_unique(struct source *s, const struct derived_triangle *triangles, size_t count);
/* map, which lies on the surface by `from`, as a new image that lies there by `to`, with 2 texels
 * for each of its own along a side where the two differ in scale, at most 4096. */
bool derive_moved(struct source *s, const struct source_texture *map,
                  const struct derived_triangle *triangles, size_t count,
                  struct source_texture *out);
/* An image inside the model from texels of blue, green, red, alpha, the first row on top. */
int32_t derived_image(struct source *s, uint32_t width, uint32_t height, const uint8_t *bgra);
/* Whether what is called a bump map holds normals: colours about (0.5, 0.5, 1), as vectors of
 * length one have them, in place of gray heights. */
bool derived_has_normals(struct source *s, const struct source_texture *map);

#endif
