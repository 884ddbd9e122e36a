/* SPDX-License-Identifier: Apache-2.0 */
/* The texture cache: texels of images that are read when somebody looks at them, within a limit of
 * bytes.
 *
 * All levels of all such images lie one behind the other in one long row of bytes, the store, as
 * devices read them. It is seen through views, ranges of addresses where nothing may be read at
 * first. Who reads there is held by the processor's fault (cache_faults.c) until a thread of the
 * cache has brought the block that holds the address: some rows of blocks of the image's file
 * (cache_fill.c). What does not fit takes the place of what was looked at longest ago (cache.c). */
#ifndef ISOPHOTE_SCENES_CACHE_H
#define ISOPHOTE_SCENES_CACHE_H

#include "images/images.h"
#include "offers.h"

#include <pthread.h>
#include <sys/stat.h>

/* ---- what is stored ------------------------------------------------------------------------- */

/* A file, and how it was when the scene was loaded. */
struct cached_file {
    const char *path;
    struct stat as;    /* device, inode, size and time of change count */
    char identity[33]; /* stands for its texels in a scene's hash, without reading them */
};

/* Texels of the store: as images have them but for bytes, four of which make a texel (so a word);
 * or all as linear float32. */
enum cached_form { CACHED_WORDS, CACHED_FLOATS };

/* A level of an image, as its file has it, or made of the level above. */
struct cached_level {
    uint64_t at, size;    /* in the store, in bytes; `at` is a page's */
    uint64_t block_bytes; /* a number of pages */
    uint32_t first_block;
    const struct cached_file *file;
    enum color_space space;
    enum cached_form form;
    const struct cached_level *above; /* NULL: it is in the file */
    uint32_t part, level;             /* as image_rows_open takes them */
    struct image image;               /* as the file has it, or is made; texels NULL */
    uint32_t block_height, across;
    size_t row_bytes; /* of the store */
    uint8_t *seen;    /* a bit for each row of the file's blocks: it was read */
};

/* ABSENT: nothing stands there. FILLING: a thread reads it. ACTIVE and INACTIVE: it is there; of
 * the latter no view shows it, so that it is known whether anybody still looks. FAILED: views show
 * zeros, and the cache has a fault. */
enum block_state { BLOCK_ABSENT, BLOCK_FILLING, BLOCK_ACTIVE, BLOCK_INACTIVE, BLOCK_FAILED };
struct cached_block {
    uint32_t level;
    uint32_t next, before; /* in its queue: block + 1, 0: none */
    uint8_t state, shown;  /* shown: by which views */
};
struct block_queue {
    uint32_t head, tail; /* block + 1; the head is the oldest */
    uint64_t bytes;
};

/* Files that a thread has open. Zeroed: none. */
struct cache_reader {
    struct open_rows {
        const struct cached_level *level; /* NULL: none */
        struct image_rows *rows;
        uint64_t used;
    } open[8];
    uint64_t clock;
};
struct cache_read_counts {
    uint64_t file_bytes, tiles, tiles_again;
};

enum { CACHE_VIEWS = 8, CACHE_WORKERS = 16 };

struct texture_cache {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int references;
    int store; /* memfd */
    uint64_t limit, page, used, resident, peak, largest_block;
    uint64_t made_bytes; /* what of levels that are made stands half done, at most */
    unsigned maker;  /* 1 + the thread that makes one, which makes what that needs, too; 0: none */
    unsigned making; /* of blocks that it has begun */
    struct arena arena; /* of files and levels */
    struct cached_level **levels;
    size_t level_count, level_cap;
    struct cached_block *blocks;
    size_t block_count, block_cap;
    struct block_queue active, inactive;
    uint32_t shown_count;     /* of blocks in views: each may take two of the process' mappings */
    char *views[CACHE_VIEWS]; /* where the store begins in each; NULL: none */
    uint64_t view_sizes[CACHE_VIEWS];
    struct cache_reader *readers[CACHE_WORKERS];
    struct error fault; /* the first one; code OK: none */
    struct cache_read_counts counts;
};

/* ---- cache_faults.c ------------------------------------------------------------------------- */

/* Addresses from base on are the cache's, in its view of that number. False: too many are. */
bool cache_watch(struct texture_cache *c, unsigned view, char *base, uint64_t size);
void cache_unwatch(const char *base);
/* ---- cache_fill.c --------------------------------------------------------------------------- */

void cache_reader_close(struct cache_reader *r);
/* Bytes [from, to) of the level into the store, whatever is there. Fails: what reading the file
 * does, with the place in it; IO (it has changed or is gone), MEMORY (the store has no room). */
enum status cache_fill(struct cache_reader *r, int store, struct cached_level *level, uint64_t from,
                       uint64_t to, struct cache_read_counts *counts, pthread_mutex_t *lock,
                       struct error *err);

/* Writes to the store. Fails: MEMORY. */
enum status cache_store(int store, const unsigned char *from, uint64_t size, uint64_t at,
                        const struct cached_file *f, struct error *err);

/* ---- cache_made.c --------------------------------------------------------------------------- */

/* Bytes [from, to) of a level that is made, into the store. Fails: as cache_fill does, of the level
 * above. */
enum status cache_make(struct texture_cache *c, unsigned worker, const struct cached_level *level,
                       uint64_t from, uint64_t to, struct error *err);

/* ---- cache.c -------------------------------------------------------------------------------- */

enum status cache_open(struct texture_cache **out, struct error *err);
/* Brings the block that holds the byte `at` of the store and shows it in the view; where it cannot
 * be read it shows zeros, and the cache has a fault. Of thread `worker`. */
void cache_bring(struct texture_cache *c, unsigned worker, unsigned view, uint64_t at);
/* Bytes [from, to) of a level, from the store, when they are there. Of thread `worker`. Fails: with
 * the cache's fault. */
enum status cache_read_level(struct texture_cache *c, unsigned worker,
                             const struct cached_level *level, uint64_t from, uint64_t to,
                             void *out, struct error *err);
/* Room for a level, whose other fields are filled in; it is kept. */
enum status cache_add(struct texture_cache *c, const struct cached_level *level,
                      const struct cached_level **kept, const void **texels, struct error *err);
/* The level that has these texels; NULL: none has. */
const struct cached_level *cache_level_of(const struct texture_cache *c, const void *texels);

#endif
