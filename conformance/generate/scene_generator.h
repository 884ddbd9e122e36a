/* SPDX-License-Identifier: Apache-2.0 */
/* scene_generator.h: the inside of the generator of scenes: dice, and what a scene has so far. */
#ifndef CONFORMANCE_SCENE_GENERATOR_H
#define CONFORMANCE_SCENE_GENERATOR_H

#include "asl_generator.h"

enum { SCENE_MATERIALS = 8 };

struct made_material {
    bool closed; /* has a medium: for closed surfaces alone */
    bool emits;
};

struct scene_generator {
    struct dice dice, rays; /* rays: of what shaders ask around them */
    struct json_writer w;
    const char *pictures;
    double size, far[3]; /* lengths are times size, places moved by far */
    uint32_t textures, groups, lamps, material_count;
    unsigned shaders, media; /* percent of materials */
    unsigned asking;         /* percent of shaders that send rays */
    bool round_groups;       /* with spheres, disks and lamps: they are flattened */
    const char *instancing;
    struct made_material materials[SCENE_MATERIALS];
};

uint32_t scene_roll(struct scene_generator *g, uint32_t sides); /* 0 .. sides-1 */
bool scene_chance(struct scene_generator *g, unsigned percent);
double scene_uniform(struct scene_generator *g, double lo, double hi);
double scene_decades(struct scene_generator *g, double lo, double hi); /* lo > 0 */
double scene_unit(struct scene_generator *g);
const char *scene_word(struct scene_generator *g, const char *const *words); /* ends with NULL */
void scene_put_vector(struct scene_generator *g, const char *key, const double *v, size_t n);
/* A place in the world, moved and scaled as all of the scene is. */
void scene_put_place(struct scene_generator *g, const char *key, const double v[3]);
/* Gray or coloured, up to `most`, at least `least` or 0. */
void scene_put_radiance(struct scene_generator *g, const char *key, double least, double most);

/* ---- scene_materials.c: texture and material i of the scene ---------------------------------- */

extern const char *const scene_color_spaces[]; /* ends with NULL */
void scene_put_texture(struct scene_generator *g, uint32_t i);
void scene_put_material(struct scene_generator *g, uint32_t i);

/* Types that have inputs, ending with NULL; and the inputs of one. base: of a shader's material,
 * without layers; hollow: with a medium. */
extern const char *const scene_types[];
void scene_put_inputs(struct scene_generator *g, const char *type, bool base, bool hollow);
void scene_put_color(struct scene_generator *g, const char *key);
void scene_put_scalar(struct scene_generator *g, const char *key, double lo, double hi);

/* ---- scene_objects.c: a step of a transform; "groups"; "objects" ----------------------------- */

void scene_put_step(struct scene_generator *g, const char *key, const double *v, size_t n);
void scene_put_rotation(struct scene_generator *g);
void scene_put_groups(struct scene_generator *g);
void scene_put_objects(struct scene_generator *g);

/* ---- scene_lights.c: needed: there is no other light ------------------------------------------ */

void scene_put_light(struct scene_generator *g);
void scene_put_environment(struct scene_generator *g, bool needed);

/* ---- scene_cameras.c -------------------------------------------------------------------------- */

void scene_put_camera(struct scene_generator *g);
void scene_put_film(struct scene_generator *g);
void scene_put_render(struct scene_generator *g);

/* ---- scene_shaders.c -------------------------------------------------------------------------- */

/* Source or layers, base and drive of material i, whose "type" is written. */
void scene_put_shader(struct scene_generator *g, uint32_t i);
/* "materials" m0 ... that between all parts say every closure, number and colour that scenes at
 * random are made of; *count of them. */
bool scene_put_surfaces(struct scene_generator *g, uint32_t part, uint32_t parts, uint32_t *count);

#endif
