/* Textures that a model's file does not have, computed from those that it has while the child reads
 * it: what its material model and ours name differently. 8 bits a channel, as PNG. */
#ifndef ISOPHOTE_SCENES_MODEL_DERIVED_H
#define ISOPHOTE_SCENES_MODEL_DERIVED_H

#include "model_source.h"

/* Khronos' conversion of KHR_materials_pbrSpecularGlossiness: the metallic share is the root of the
 * equation that makes diffuse and specular brightness what they are, with F0 = 0.04 for the rest.
 * Linear colours. */
double derived_metal(const double diffuse[3], const double specular[3], double base[3]);
/* Burley's (2012) gloss of a clear coat with this roughness: alpha goes from 0.1 (gloss 0) to 0.001
 * (gloss 1). */
double derived_gloss_of(double roughness);

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
/* Gloss of a clear coat in all channels, from `roughness` times the map's green. */
bool derive_coat_gloss(struct source *s, const struct source_texture *map, double roughness,
                       struct source_texture *gloss);
/* Whether what is called a bump map holds normals: colours about (0.5, 0.5, 1), as vectors of
 * length one have them, in place of gray heights. */
bool derived_has_normals(struct source *s, const struct source_texture *map);

#endif
