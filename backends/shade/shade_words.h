/* SPDX-License-Identifier: Apache-2.0 */
/* shade_words.h: the words that shaders on devices read: argument areas, images. */
#ifndef ISOPHOTE_SHADE_WORDS_H
#define ISOPHOTE_SHADE_WORDS_H

#include "backends.h"

/* A zeroed one is empty; on the heap. */
struct shade_words {
    uint32_t *words;
    size_t count, cap;
    struct shade_placed_image {
        const struct asl_image *image;
        uint32_t at;
    } * images;
    size_t image_count;
    uint64_t texel_words;              /* of the images */
    const struct texture_cache *cache; /* that stands behind the words (texture_cache_view); NULL */
};
/* `count` zeroed words at the end; where they begin in *at. Fails: LIMIT, MEMORY. */
enum status shade_words_take(struct shade_words *w, size_t count, uint32_t *at, struct error *err);
/* Lays an image and its subimages out as device/asl/texture.h reads it; once. At 0 none may begin. */
enum status shade_words_image(struct shade_words *w, const struct asl_image *image, uint32_t *at,
                              struct error *err);
/* What the word of an argument area says of it (struct asl_emitted); lays the image out, too. */
enum status shade_words_emitted(struct shade_words *w, const struct shader_images *images,
                                const struct asl_emitted_image *emitted, uint32_t *word,
                                struct error *err);
void shade_words_free(struct shade_words *w);

#endif
