/* SPDX-License-Identifier: Apache-2.0 */
/* From a file's blocks to the store. */
#include "cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN = sizeof((struct cache_reader *)0)->open / sizeof(struct open_rows) };

static void close_rows(struct open_rows *o)
{
    image_rows_close(o->rows);
    *o = (struct open_rows){0};
}

void cache_reader_close(struct cache_reader *r)
{
    for (size_t i = 0; i < OPEN; i++)
        close_rows(&r->open[i]);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Is the file what it was when the scene was loaded? Its texels would be another picture's. */
static enum status check_file(const struct cached_file *f, struct error *err)
{
    struct stat now;
    if (stat(f->path, &now) != 0)
        return error_msg(err, STATUS_IO, "cannot read the image %s: %s, since the scene was loaded",
                         f->path, strerror(errno));
    if (now.st_dev != f->as.st_dev || now.st_ino != f->as.st_ino || now.st_size != f->as.st_size ||
        !same_time(&now.st_mtim, &f->as.st_mtim))
        return error_msg(err, STATUS_IO,
                         "cannot read the image %s: it has changed since the scene was loaded",
                         f->path);
    return STATUS_OK;
}

static bool same_image(const struct image *a, const struct image *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->format == b->format && a->srgb == b->srgb;
}

/* The level's rows, opened in the place of those that were used longest ago. */
static enum status open_level(struct cache_reader *r, const struct cached_level *level,
                              struct open_rows **out, struct error *err)
{
    struct open_rows *o = &r->open[0];
    for (size_t i = 0; i < OPEN; i++) {
        if (r->open[i].level == level) {
            *out = &r->open[i];
            (*out)->used = ++r->clock;
            return STATUS_OK;
        }
        if (r->open[i].used < o->used)
            o = &r->open[i];
    }
    close_rows(o);
    TRY(image_rows_open(level->file->path, level->space, level->part, level->level, &o->rows, err));
    const struct image_rows_shape *shape = image_rows_shape(o->rows);
    if (!same_image(&shape->image, &level->image) || shape->block_height != level->block_height ||
        shape->across != level->across) {
        close_rows(o);
        return error_msg(err, STATUS_IO,
                         "cannot read the image %s: it has changed since the scene was loaded",
                         level->file->path);
    }
    o->level = level;
    o->used = ++r->clock;
    *out = o;
    return STATUS_OK;
}

/* Room for a row of blocks, as the file has it and as the store has it. */
struct band {
    struct arena arena;
    struct image as_read;
    unsigned char *stored;
};

/* The band's texels in the store's form. */
static const unsigned char *band_convert(const struct cached_level *level, struct band *b,
                                         struct arena *scratch)
{
    if (level->form == CACHED_FLOATS)
        return (const unsigned char *)image_linear(scratch, &b->as_read);
    if (level->image.format != TEXEL_U8)
        return b->as_read.texels;
    image_pack_words(&b->as_read, (uint32_t *)(void *)b->stored);
    return b->stored;
}

static enum status band_take(struct band *b, const struct cached_level *level, struct error *err)
{
    const struct image *im = &level->image;
    b->as_read = *im;
    b->as_read.texels = arena_alloc(&b->arena, (size_t)level->block_height * im->width,
                                    im->channels * texel_size(im->format), 16);
    b->stored = arena_alloc(&b->arena, level->block_height, level->row_bytes, 16);
    return b->as_read.texels && b->stored
               ? STATUS_OK
               : error_msg(err, STATUS_MEMORY, "out of memory to read the image %s",
                           level->file->path);
}

enum status cache_store(int store, const unsigned char *from, uint64_t size, uint64_t at,
                        const struct cached_file *f, struct error *err)
{
    while (size > 0) {
        const ssize_t n = pwrite(store, from, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_msg(err, STATUS_MEMORY, "no room for texels of the image %s: %s", f->path,
                             n < 0 ? strerror(errno) : "nothing was taken");
        from += n;
        size -= (uint64_t)n;
        at += (uint64_t)n;
    }
    return STATUS_OK;
}

static void count_row(struct cached_level *level, uint32_t row, struct cache_read_counts *counts,
                      uint64_t file_bytes)
{
    const uint8_t bit = (uint8_t)(1U << row % 8);
    counts->file_bytes += file_bytes;
    counts->tiles += level->across;
    if (level->seen[row / 8] & bit)
        counts->tiles_again += level->across;
    level->seen[row / 8] |= bit;
}

static enum status fill_rows(struct cache_reader *r, int store, struct cached_level *level,
                             uint64_t from, uint64_t to, struct cache_read_counts *counts,
                             pthread_mutex_t *lock, struct band *b, struct error *err)
{
    const uint64_t row_bytes = (uint64_t)level->block_height * level->row_bytes;
    struct open_rows *o = NULL;
    TRY(open_level(r, level, &o, err));
    TRY(band_take(b, level, err));
    for (uint64_t row = from / row_bytes; row * row_bytes < to; row++) {
        const uint32_t top = (uint32_t)row * level->block_height, left = level->image.height - top;
        struct arena scratch = {0};
        uint64_t file_bytes = 0;
        b->as_read.height = left < level->block_height ? left : level->block_height;
        enum status st =
            image_rows_read(o->rows, (uint32_t)row, b->as_read.texels, &file_bytes, err);
        if (st != STATUS_OK) {
            close_rows(o); /* libraries may be out of step */
            return st;
        }
        const unsigned char *bytes = band_convert(level, b, &scratch);
        const uint64_t at = row * row_bytes, end = at + b->as_read.height * level->row_bytes;
        const uint64_t first = at > from ? at : from, last = end < to ? end : to;
        st = bytes ? cache_store(store, bytes + (first - at), last - first, level->at + first,
                                 level->file, err)
                   : error_msg(err, STATUS_MEMORY, "out of memory to read the image %s",
                               level->file->path);
        arena_free(&scratch);
        TRY(st);
        pthread_mutex_lock(lock);
        count_row(level, (uint32_t)row, counts, file_bytes);
        pthread_mutex_unlock(lock);
    }
    return STATUS_OK;
}

enum status cache_fill(struct cache_reader *r, int store, struct cached_level *level, uint64_t from,
                       uint64_t to, struct cache_read_counts *counts, pthread_mutex_t *lock,
                       struct error *err)
{
    struct band b = {0};
    TRY(check_file(level->file, err));
    enum status st = fill_rows(r, store, level, from, to, counts, lock, &b, err);
    arena_free(&b.arena);
    /* what was read from a file that has changed meanwhile is nothing, whole or not */
    const enum status changed = check_file(level->file, st == STATUS_MEMORY ? NULL : err);
    return st == STATUS_MEMORY || changed == STATUS_OK ? st : changed;
}
