/* SPDX-License-Identifier: Apache-2.0 */
/* Levels that no file has, made of those above them as shaders/ makes them of whole images. */
#include "cache.h"

static enum status make_rows(struct texture_cache *c, unsigned worker,
                             const struct cached_level *level, uint64_t from, uint64_t to,
                             struct arena *a, struct error *err)
{
    const struct cached_level *above = level->above;
    const struct image *im = &level->image, *over = &above->image;
    const uint64_t row = level->row_bytes;
    enum { COVERED = 3 }; /* rows, of a level with an odd number of them; of one row or two, that */
    float *made = arena_alloc(a, 1, row, 16);
    float *covered = arena_alloc(a, COVERED, above->row_bytes, 16);
    if (!made || !covered)
        return error_msg(err, STATUS_MEMORY, "out of memory for levels of the image %s",
                         level->file->path);
    for (uint64_t y = from / row; y * row < to; y++) {
        uint32_t first, end;
        asl_image_rows_above(over->height, im->height, (uint32_t)y, &first, &end);
        TRY(cache_read_level(c, worker, above, first * above->row_bytes, end * above->row_bytes,
                             covered, err));
        asl_image_halve_row(covered, over->width, end - first, im->channels, im->width, made);
        const uint64_t at = y * row, begin = at > from ? at : from,
                       stop = at + row < to ? at + row : to;
        TRY(cache_store(c->store, (const unsigned char *)made + (begin - at), stop - begin,
                        level->at + begin, level->file, err));
    }
    return STATUS_OK;
}

enum status cache_make(struct texture_cache *c, unsigned worker, const struct cached_level *level,
                       uint64_t from, uint64_t to, struct error *err)
{
    struct arena a = {0};
    const enum status st = make_rows(c, worker, level, from, to, &a, err);
    arena_free(&a);
    return st;
}
