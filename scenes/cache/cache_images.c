/* SPDX-License-Identifier: Apache-2.0 */
/* Which images are read on demand: those of files whose blocks can be read one by one. */
#include "cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a file's texels are known by without being read: its size, when it changed, and how it
 * begins. */
static void identify(struct cached_file *f, int file)
{
    unsigned char head[4096];
    const ssize_t n = pread(file, head, sizeof head, 0);
    struct hash *h = hash_open();
    hash_add(h, "cached", 6);
    hash_add(h, &f->as.st_size, sizeof f->as.st_size);
    hash_add(h, &f->as.st_mtim.tv_sec, sizeof f->as.st_mtim.tv_sec);
    hash_add(h, &f->as.st_mtim.tv_nsec, sizeof f->as.st_mtim.tv_nsec);
    hash_add(h, head, n > 0 ? (size_t)n : 0);
    hash_close(h, f->identity);
}

static enum status open_file(struct texture_cache **cache, const char *path,
                             const struct cached_file **out, struct error *err)
{
    if (!*cache)
        TRY(cache_open(cache, err));
    struct cached_file *f = ARENA_NEW(&(*cache)->arena, struct cached_file);
    int file = -1;
    if (!f || !(f->path = arena_strdup(&(*cache)->arena, path)))
        return error_msg(err, STATUS_MEMORY, "out of memory for a cache of textures");
    TRY(input_open(path, &file, err));
    if (fstat(file, &f->as) == 0)
        identify(f, file);
    close(file);
    *out = f;
    return STATUS_OK;
}

/* One level: its texels are *im's then. */
static enum status add_level(struct texture_cache *c, const struct cached_file *file,
                             enum color_space space, enum cached_form form, uint32_t part,
                             uint32_t level, const struct cached_level **kept, struct image *im,
                             struct error *err)
{
    struct image_rows *rows;
    const void *texels = NULL;
    TRY(image_rows_open(file->path, space, part, level, &rows, err));
    const struct image_rows_shape shape = *image_rows_shape(rows);
    image_rows_close(rows);
    struct image stored = shape.image;
    if (form == CACHED_FLOATS) {
        stored.format = TEXEL_F32;
        stored.srgb = false;
    } else if (stored.format == TEXEL_U8) {
        stored.channels = 4; /* as devices have them: the lookups are those of fewer */
    }
    const size_t row = (size_t)stored.width * stored.channels * texel_size(stored.format);
    const struct cached_level l = {.size = (uint64_t)row * stored.height,
                                   .file = file,
                                   .space = space,
                                   .form = form,
                                   .part = part,
                                   .level = level,
                                   .image = shape.image,
                                   .block_height = shape.block_height,
                                   .across = shape.across,
                                   .row_bytes = row};
    TRY(cache_add(c, &l, kept, &texels, err));
    stored.texels = (void *)texels;
    *im = stored;
    return STATUS_OK;
}

enum status cache_image(struct texture_cache **cache, const char *path, enum color_space space,
                        struct image *out, struct error *err)
{
    const struct cached_file *file;
    const struct cached_level *kept;
    struct image_file shape;
    struct arena scratch = {0};
    enum status st = image_shape_file(&scratch, path, space, false, &shape, err);
    arena_free(&scratch);
    if (st != STATUS_OK)
        return STATUS_UNSUPPORTED;
    TRY(open_file(cache, path, &file, err));
    return add_level(*cache, file, space, CACHED_WORDS, shape.first.at, 0, &kept, out, err);
}

/* The level after `above`, half as wide and high. */
static enum status add_made(struct texture_cache *c, const struct cached_level **above,
                            struct image *im, struct error *err)
{
    const struct image *over = &(*above)->image;
    struct image made = {.width = over->width > 1 ? over->width / 2 : 1,
                         .height = over->height > 1 ? over->height / 2 : 1,
                         .channels = over->channels,
                         .format = TEXEL_F32};
    const size_t row = (size_t)made.width * made.channels * sizeof(float);
    const struct cached_level l = {.size = (uint64_t)row * made.height,
                                   .file = (*above)->file,
                                   .form = CACHED_FLOATS,
                                   .above = *above,
                                   .part = (*above)->part,
                                   .level = (*above)->level + 1,
                                   .image = made,
                                   .block_height = 1,
                                   .row_bytes = row};
    const void *texels = NULL;
    TRY(cache_add(c, &l, above, &texels, err));
    made.texels = (void *)texels;
    *im = made;
    return STATUS_OK;
}

static enum status add_levels(struct texture_cache *c, const struct cached_file *file,
                              struct image_levels *l, struct error *err)
{
    const struct cached_level *kept = NULL;
    for (uint32_t i = 0; i < l->count; i++)
        TRY(add_level(c, file, COLOR_SHADER, CACHED_FLOATS, l->at, i, &kept, &l->level[i], err));
    while (kept && l->count < IMAGE_LEVELS_MAX &&
           (kept->image.width > 1 || kept->image.height > 1)) {
        TRY(add_made(c, &kept, &l->level[l->count++], err));
        l->made++;
    }
    return STATUS_OK;
}

enum status cache_file(struct arena *a, struct texture_cache **cache, const char *path, bool all,
                       struct image_file *out, struct error *err)
{
    const struct cached_file *file;
    struct image_file f;
    if (image_shape_file(a, path, COLOR_SHADER, all, &f, err) != STATUS_OK)
        return STATUS_UNSUPPORTED;
    TRY(open_file(cache, path, &file, err));
    TRY(add_levels(*cache, file, &f.first, err));
    for (uint32_t i = 0; f.more && i + 1 < f.count; i++)
        TRY(add_levels(*cache, file, &f.more[i], err));
    *out = f;
    return STATUS_OK;
}

bool cache_add_to_hash(const struct texture_cache *c, const void *texels, struct hash *h)
{
    const struct cached_level *l = cache_level_of(c, texels);
    if (!l)
        return false;
    const uint32_t at[] = {l->part, l->level, (uint32_t)l->form};
    hash_add(h, l->file->identity, sizeof l->file->identity);
    hash_add(h, at, sizeof at);
    return true;
}
