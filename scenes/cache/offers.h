/* SPDX-License-Identifier: Apache-2.0 */
/* What the texture cache offers those who load scenes; scenes.h has what it offers the others. */
#ifndef ISOPHOTE_SCENES_CACHE_OFFERS_H
#define ISOPHOTE_SCENES_CACHE_OFFERS_H

#include "images/images.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An image of whose file any part can be read: its texels, in *out, are read when they are looked
 * at; those of bytes as four channels. *cache is opened where it is NULL. Fails: UNSUPPORTED (it is
 * to be read whole, or cannot be read, as that will tell), MEMORY, LIMIT, IO. */
enum status cache_image(struct texture_cache **cache, const char *path, enum color_space space,
                        struct image *out, struct error *err);
/* The same of a file with levels and (all) subimages, as linear float32: what shaders look at. */
enum status cache_file(struct arena *a, struct texture_cache **cache, const char *path, bool all,
                       struct image_file *out, struct error *err);
/* Counts an image that is read whole though textures are to be read on demand; the path stays. */
void shader_images_note_whole(struct shader_images *s, const char *path);
/* Adds to a hash what stands for these texels, none of which is read; false: the cache has none of
 * them. c: NULL means none. */
bool cache_add_to_hash(const struct texture_cache *c, const void *texels, struct hash *h);

#ifdef __cplusplus
}
#endif

#endif
