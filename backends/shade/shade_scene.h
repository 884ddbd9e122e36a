/* SPDX-License-Identifier: Apache-2.0 */
/* The shaders of a scene, joined to the kernel: text that stands behind it, and the words that the
 * text reads (scene buffer `shading`). Every group is in the text once, whatever number of
 * materials run it; parameters stand in argument areas, so that the text stays when one changes. */
#ifndef ISOPHOTE_SHADE_SCENE_H
#define ISOPHOTE_SHADE_SCENE_H

#include "backends.h"

/* A level of an image, or an image, as a kernel that counts knows it. */
struct tiled_level {
    uint32_t first; /* of the buffer's words */
    uint32_t width, height, texel_bytes;
};

/* How shaders stand in the kernel: a function for each group, parameters in argument areas; or in
 * the text; or a function for each master, which programs of materials call (shade_masters.h). */
enum shade_way { SHADE_AREAS, SHADE_BAKED, SHADE_MASTERS };

struct shade_scene {
    enum shade_way form;
    struct text source; /* kernel_source and all behind it; empty when no material runs a shader */
    char hash[33];      /* of the source */
    struct text llvm;   /* the same as LLVM IR for the kernel's bitcode (al_shade of
                           device/linked/surface_library.c), SHADE_FLAGS_MARK for the flags of floats; empty
                           where only source can have it */
    uint32_t *words;
    size_t word_count, own_words; /* own_words: less what the host replied */
    struct shade_scene_material {
        uint32_t group, args;    /* group: 1 + its number, 0: no shader; args: a word */
        uint32_t occlusion_rays; /* that a stage of its own may trace before the shader runs */
        float occlusion_distance;
        char *name;           /* NULL: no shader */
    } * materials;            /* by material */
    struct shade_scene_loop { /* by number: what k_shade names when it does not end */
        char place[160];
    } * loops;
    size_t loop_count;
    /* Materials whose shaders print, report or ask, and how many words the tables take behind the
     * film. */
    struct shade_scene_voice {
        struct arena arena;
        struct asl_code *code; /* the material's, which stands alone */
        struct asl_emitted emitted;
        struct shade_scene_image {  /* what it names, as emitted.images has it */
            const char *name, *why; /* why: it is no image */
            struct asl_image image; /* without its texels */
        } * images;
        struct asl_host *host;       /* shade_scene_host; NULL before */
        struct shade_hearing *hears; /* its services' */
        uint32_t material, args;     /* args: the word where the argument area begins */
        size_t table;                /* its group's */
    } * voices;
    bool asks; /* a voice has questions */
    struct shade_scene_replies {
        uint32_t *words; /* heap; entries as k_reply has them (device/surface/shade.h) */
        size_t word_count, word_cap, count, cap;
        struct shade_scene_entry {
            size_t at;
            uint32_t words; /* of its question */
        } * entries;
    } replies;
    size_t voice_count, message_words;
    uint32_t features; /* K_FEATURES_EXACT: of what Ci may hold */
    size_t material_count;
    struct shading_stats stats;
    struct tiled_level *levels; /* of all images; heap */
    size_t level_count;
};

/* What the kernel needs for a closure of that name (device/surface/closures.def). */
uint32_t closure_features(const char *name);

/* cache: stands behind the words then, as layout_take_words has it; NULL: none. Fails: UNSUPPORTED
 * (with the place in the shader), LIMIT, MEMORY. Materials that no primitive has are left out. */
enum status shade_scene_make(const struct scene *s, enum shade_way form,
                             const struct texture_cache *cache, struct shade_scene *out,
                             struct error *err);
void shade_scene_free(struct shade_scene *x); /* takes zeroed ones */
/* Adds what stands in tables (device/surface/shade.h, k_say). Fails: MEMORY. */
enum status shade_scene_said(struct shade_scene *x, const uint32_t *tables, struct asl_sayings *out,
                             struct error *err);
/* Answers what is asked in tables: the replies stand in the words then, and *asked tells that there
 * was something, so that the picture must be made again. Fails: LIMIT (with the place in the
 * shader), MEMORY. */
enum status shade_scene_answer(struct shade_scene *x, const uint32_t *tables, bool *asked,
                               struct error *err);
/* Sees to it that the voice has its host. */
enum status shade_scene_host(const struct shade_scene *x, struct shade_scene_voice *v,
                             struct error *err);
void shade_scene_replies_free(struct shade_scene_replies *r);
/* The error that a film with this negative sum stands for. */
enum status shade_scene_failed(const struct shade_scene *x, int64_t sum, struct error *err);

#endif
