/* SPDX-License-Identifier: Apache-2.0 */
/* What the three files of the export to Mitsuba 3 share: mitsuba_scene.c (camera, film, lights,
 * shapes), mitsuba_materials.c (BSDFs and their textures), mitsuba_files.c (PLY and EXR).
 *
 * Facts about Mitsuba are those of its documentation and sources, version 3.9.1; each is checked by
 * tests/mitsuba, which renders what is written here. */
#ifndef SCENES_MITSUBA_H
#define SCENES_MITSUBA_H

#include "scenes.h"

struct exporter {
    struct arena *arena;
    const struct scene *scene;
    struct mitsuba_export *options;
    struct mitsuba_note **last; /* where the next note goes */
    const char *folder, *stem;  /* files are folder/stem-NAME */
    bool dry;                   /* finding notes: no file is written */
    struct text xml;
    unsigned texture_files;
    unsigned open_bsdfs; /* elements to close */
    bool fronted;        /* the next one is the front of a single-sided one */
    float cutoff;        /* of the opacity that is being written; 0: none */
    bool colored;        /* the material's colour is multiplied by that of vertices */
    bool *used;          /* by material: some primitive has it */
    bool volumetric;     /* rays pass surfaces without scattering: media, cut-outs, single sides */
    enum status status;
    struct error *err;
};

/* Records a difference. */
void mitsuba_differs(struct exporter *x, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "material \"NAME\"" for notes; in the arena. */
const char *mitsuba_material_title(struct exporter *x, const struct material *m);
/* A name as an attribute of XML may hold it; in the arena. */
const char *mitsuba_escape(struct exporter *x, const char *name);
/* The identifier of a material's BSDF; in the arena. */
const char *mitsuba_bsdf_id(struct exporter *x, uint32_t material);

/* The BSDF of a material, as an element of the scene. */
void mitsuba_write_bsdf(struct exporter *x, uint32_t material);
/* Does a ray pass a surface of the material, somewhere, as if it were not there? */
bool mitsuba_is_passed(const struct material *m);
/* The radiance of an area light, as an element of it. */
void mitsuba_write_emission(struct exporter *x, const struct material *m);
/* The normal map of a material, and its scale. */
void mitsuba_write_normal_map(struct exporter *x, const struct material *m);
/* Whether the look of the material depends on texture coordinates. */
bool mitsuba_needs_uv(const struct material *m);
/* Whether it depends on the direction in which u grows. */
bool mitsuba_is_brushed(const struct material *m);

/* The triangles of the world (prototype NULL) or of a prototype that have this material and these
 * flags, as a binary PLY file; v is turned over: Mitsuba's runs down the picture. `name` gets the
 * file's, without folder; "" if there are none. */
void mitsuba_write_ply(struct exporter *x, const struct prototype *prototype, uint32_t material,
                       uint8_t flags, const char **name);
/* The material of a triangle, by its place in the scene's array. */
uint32_t mitsuba_triangle_material(const struct scene *s, size_t triangle);
/* A picture as float32 EXR: 1 channel (Y) or 3. */
void mitsuba_write_exr(struct exporter *x, const char *name, uint32_t width, uint32_t height,
                       uint32_t channels, const float *texels);
/* Linear value of one channel of a texel; a gray picture has it in all channels; 3 is alpha, 1 in a
 * picture without. */
double mitsuba_texel(const struct image *image, uint32_t x, uint32_t y, uint32_t channel);
/* The environment map with rows at the places where Mitsuba interpolates. */
void mitsuba_write_environment(struct exporter *x, const char *name);

#endif
