/* SPDX-License-Identifier: Apache-2.0 */
/* The shaders of a scene, joined to the kernel: text that stands behind it, and the words that the
 * text reads (scene buffer `shading`). Every group is in the text once, whatever number of
 * materials run it; parameters stand in argument areas, so that the text stays when one changes. */
#ifndef ISOPHOTE_SHADE_SCENE_H
#define ISOPHOTE_SHADE_SCENE_H

#include "backends.h"

struct shade_scene {
    struct text source; /* kernel_source and all behind it; empty when no material runs a shader */
    char hash[33];      /* of the source */
    struct text llvm;   /* the same as LLVM IR for the kernel's bitcode (al_shade of
                           device/linked/surface_library.c), SHADE_FLAGS_MARK for the flags of floats; empty
                           where only source can have it */
    uint32_t *words;
    size_t word_count;
    struct shade_scene_material {
        uint32_t group, args; /* group: 1 + its number, 0: no shader; args: a word */
        char *name;           /* NULL: no shader */
    } * materials;            /* by material */
    struct shade_scene_loop { /* by number: what k_shade names when it does not end */
        char place[160];
    } * loops;
    size_t loop_count;
    /* Materials whose shaders print or report, and how many words the tables take behind the film.
     */
    struct shade_scene_voice {
        struct arena arena;
        struct asl_code *code; /* the material's, which stands alone */
        struct asl_emitted emitted;
        uint32_t material;
        size_t table; /* its group's */
    } * voices;
    size_t voice_count, message_words;
    uint32_t features; /* K_FEATURES_EXACT: of what Ci may hold */
    size_t material_count;
};

/* What the kernel needs for a closure of that name (device/surface/closures.def). */
uint32_t closure_features(const char *name);

/* bake: parameters become constants of the text. Fails: UNSUPPORTED (with the place in the shader),
 * LIMIT, MEMORY. Materials that no primitive has are left out. */
enum status shade_scene_make(const struct scene *s, bool bake, struct shade_scene *out,
                             struct error *err);
void shade_scene_free(struct shade_scene *x); /* takes zeroed ones */
/* Adds what stands in tables (device/surface/shade.h, k_say). Fails: MEMORY. */
enum status shade_scene_said(const struct shade_scene *x, const uint32_t *tables,
                             struct asl_sayings *out, struct error *err);
/* The error that a film with this negative sum stands for. */
enum status shade_scene_failed(const struct shade_scene *x, int64_t sum, struct error *err);

#endif
