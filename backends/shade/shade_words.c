/* SPDX-License-Identifier: Apache-2.0 */
/* shade_words.c: images as words. */
#include "shade_words.h"

#include <stdlib.h>
#include <string.h>

enum status shade_words_take(struct shade_words *w, size_t count, uint32_t *at, struct error *err)
{
    size_t need = w->count + count;
    if (need > UINT32_MAX)
        return error_msg(err, STATUS_LIMIT, "the images of shaders pass 2^32 words");
    if (need > w->cap) {
        size_t cap = need + need / 2 + 64;
        uint32_t *more = realloc(w->words, cap * sizeof *more);
        if (!more)
            return error_msg(err, STATUS_MEMORY, "out of memory for the images of shaders");
        w->words = more;
        w->cap = cap;
    }
    memset(w->words + w->count, 0, count * sizeof *w->words);
    *at = (uint32_t)w->count;
    w->count = need;
    return STATUS_OK;
}

/* A set of images, each of them once. */
static enum status set_place(struct shade_words *w, const struct asl_image *set, uint32_t *at,
                             struct error *err)
{
    enum status st = shade_words_take(w, 3 + ASL_TILES, at, err);
    if (st)
        return st;
    w->words[(*at)++] = set->subimage_count > 1 ? set->subimage_count - 1 : 0;
    for (uint32_t i = ASL_TILES; st == STATUS_OK && i-- > 0;) {
        uint32_t tile = 0;
        if (set->tiles[i] && (st = shade_words_image(w, set->tiles[i], &tile, err)) == STATUS_OK)
            w->words[*at + 1] = w->words[*at + 2 + i] = tile;
    }
    return st;
}

/* n of them, where the words have them. */
static enum status place_texels(struct shade_words *w, const float *texels, size_t n, uint32_t *at,
                                struct error *err)
{
    uint64_t place;
    w->texel_words += n;
    if (texture_cache_place(w->cache, texels, &place)) {
        *at = (uint32_t)(TEXTURE_CACHE_FIRST + place / 4);
        return STATUS_OK;
    }
    TRY(shade_words_take(w, n, at, err));
    memcpy(w->words + *at, texels, n * sizeof(uint32_t));
    return STATUS_OK;
}

enum status shade_words_image(struct shade_words *w, const struct asl_image *image, uint32_t *at,
                              struct error *err)
{
    for (size_t i = 0; i < w->image_count; i++)
        if (w->images[i].image == image) {
            *at = w->images[i].at;
            return STATUS_OK;
        }
    if (image->tiles)
        return set_place(w, image, at, err);
    const uint32_t more = image->subimage_count > 1 ? image->subimage_count - 1 : 0;
    void *list = realloc(w->images, (w->image_count + 1) * sizeof *w->images);
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for the images of shaders");
    w->images = list;
    uint32_t head = 0, texels = 0;
    enum status st = shade_words_take(w, more + 3 + 3 * (size_t)image->level_count, &head, err);
    if (st)
        return st;
    head += more + 1;
    w->words[head - 1] = more;
    w->words[head] = image->channels;
    w->words[head + 1] = image->level_count;
    for (uint32_t l = 0; l < image->level_count; l++) {
        const struct asl_image_level *level = &image->levels[l];
        size_t n = (size_t)level->width * level->height * image->channels;
        if ((st = place_texels(w, level->texels, n, &texels, err)) != STATUS_OK)
            return st;
        uint32_t *row = w->words + head + 2 + 3 * (size_t)l;
        row[0] = level->width;
        row[1] = level->height;
        row[2] = texels;
    }
    w->images[w->image_count++] = (struct shade_placed_image){image, head};
    for (uint32_t i = 1; i <= more && image->more; i++) {
        uint32_t one = 0;
        if (image->more[i - 1].level_count &&
            (st = shade_words_image(w, &image->more[i - 1], &one, err)) != STATUS_OK)
            return st;
        w->words[head - 1 - i] = one;
    }
    *at = head;
    return STATUS_OK;
}

enum status shade_words_emitted(struct shade_words *w, const struct shader_images *images,
                                const struct asl_emitted_image *emitted, uint32_t *word,
                                struct error *err)
{
    const struct asl_image *image = shader_images_find(images, emitted->name);
    *word = 0;
    if (image && emitted->subimage)
        *word = (uint32_t)asl_image_subimage_number(image, emitted->subimage);
    else if (image)
        return shade_words_image(w, image, word, err);
    return STATUS_OK;
}

void shade_words_free(struct shade_words *w)
{
    free(w->words);
    free(w->images);
    *w = (struct shade_words){0};
}
