/* SPDX-License-Identifier: Apache-2.0 */
/* The store, its blocks and views: what is there, what is shown, and what goes when room is short.
 *
 * A view shows a block by giving its pages the right to be read, so nothing tells how often that
 * happens. Blocks are therefore kept in two queues, as in VMS (Levy and Lipman, "Virtual Memory
 * Management in the VAX/VMS Operating System", Computer 15(3), 1982): from the active ones the
 * oldest go to the inactive ones, whose texels stay but are hidden. Who looks at one of these brings
 * it back for the price of a fault; the one that nobody brought back for longest is dropped. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create, fallocate */
#endif
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of the store: what words of 32 bits reach behind what stands before it in a buffer. */
#define STORE_MOST ((((uint64_t)1 << 32) - TEXTURE_CACHE_FIRST) * 4)
/* Of 65530 mappings that a process may have (vm.max_map_count), two a block. */
enum { SHOWN_MOST = 16384 };
enum { NO_VIEW = CACHE_VIEWS };

/* ---- the limit ------------------------------------------------------------------------------ */

void texture_memory_allow(uint64_t bytes)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    (void)setenv("ISOPHOTE_TEXTURE_MEMORY", text, 1); /* for workers, too */
}

uint64_t texture_memory_allowed(void)
{
    const char *wish = getenv("ISOPHOTE_TEXTURE_MEMORY");
    uint64_t bytes;
    return wish && memory_read(wish, &bytes) ? bytes : 0;
}

/* Every thread that looks needs two blocks at once, where what it reads lies across their border,
 * and one more thread's worth is on its way; so is a block of each level that is made of others. */
static uint64_t least_limit(const struct texture_cache *c)
{
    return 2 * ((uint64_t)parallel_threads() + 1) * c->largest_block + c->made_bytes;
}

enum status texture_cache_check(struct texture_cache *c, struct error *err)
{
    char texts[2][32];
    if (!c)
        return STATUS_OK;
    TRY(texture_cache_fault(c, err));
    const uint64_t least = least_limit(c);
    if (c->limit >= least)
        return STATUS_OK;
    return error_msg(err, STATUS_LIMIT,
                     "the textures of the scene are read %s at a time by %u threads: expected at "
                     "least --texture-memory %llu, given %llu",
                     memory_text(c->largest_block, texts[0]), parallel_threads(),
                     (unsigned long long)least, (unsigned long long)c->limit);
}

/* ---- opening and closing -------------------------------------------------------------------- */

static uint64_t round_up(uint64_t n, uint64_t page) { return (n + page - 1) / page * page; }

static void cache_free(struct texture_cache *c)
{
    for (unsigned v = 0; v < CACHE_VIEWS; v++)
        if (c->views[v])
            cache_unwatch(c->views[v]);
    if (c->views[0])
        munmap(c->views[0], c->view_sizes[0]);
    for (unsigned i = 0; i < CACHE_WORKERS; i++)
        if (c->readers[i]) {
            cache_reader_close(c->readers[i]);
            free(c->readers[i]);
        }
    if (c->store >= 0)
        close(c->store);
    arena_free(&c->arena);
    free(c->levels);
    free(c->blocks);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->filled);
    free(c);
}

enum status cache_open(struct texture_cache **out, struct error *err)
{
    struct texture_cache *c = calloc(1, sizeof *c);
    if (!c)
        return error_msg(err, STATUS_MEMORY, "out of memory for a cache of textures");
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->filled, NULL);
    c->references = 1;
    c->limit = texture_memory_allowed();
    c->page = (uint64_t)sysconf(_SC_PAGESIZE);
    c->store = memfd_create("isophote-textures", MFD_CLOEXEC);
    void *view = c->store < 0
                     ? MAP_FAILED
                     : mmap(NULL, STORE_MOST, PROT_NONE, MAP_SHARED | MAP_NORESERVE, c->store, 0);
    if (view == MAP_FAILED) {
        enum status st = error_msg(err, STATUS_MEMORY, "no addresses for a cache of textures: %s",
                                   strerror(errno));
        cache_free(c);
        return st;
    }
    c->views[0] = view;
    c->view_sizes[0] = STORE_MOST;
    if (!cache_watch(c, 0, view, STORE_MOST)) {
        cache_free(c);
        return error_msg(err, STATUS_LIMIT, "no more caches of textures in this process");
    }
    *out = c;
    return STATUS_OK;
}

void texture_cache_hold(struct texture_cache *c)
{
    pthread_mutex_lock(&c->lock);
    c->references++;
    pthread_mutex_unlock(&c->lock);
}

void texture_cache_release(struct texture_cache *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    const bool last = --c->references == 0;
    pthread_mutex_unlock(&c->lock);
    if (last)
        cache_free(c);
}

/* ---- levels --------------------------------------------------------------------------------- */

/* Room in a list for `more` items; false: there is none. */
static bool list_reserve(void **list, size_t count, size_t more, size_t *cap, size_t size)
{
    if (count + more <= *cap)
        return true;
    const size_t wanted = (count + more) * 2;
    void *p = realloc(*list, wanted * size);
    if (!p)
        return false;
    *list = p;
    *cap = wanted;
    return true;
}

/* A limit of the size of files (ulimit -f) holds for the store, too; its signal is not for this. */
static enum status grow_store(const struct texture_cache *c, uint64_t size, struct error *err)
{
    const struct timespec none = {0};
    sigset_t file_size, was;
    sigemptyset(&file_size);
    sigaddset(&file_size, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &file_size, &was);
    const int why = ftruncate(c->store, (off_t)size) == 0 ? 0 : errno;
    if (why == EFBIG)
        (void)sigtimedwait(&file_size, NULL, &none);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return why == 0 ? STATUS_OK
                    : error_msg(err, STATUS_LIMIT, "a cache of textures cannot have %llu bytes: %s",
                                (unsigned long long)size, strerror(why));
}

static enum status add_level(struct texture_cache *c, struct cached_level *l, struct error *err)
{
    enum { WORTH = 1 << 16 }; /* bytes: a block of less costs more faults than reading it */
    const uint64_t rows = (uint64_t)l->block_height * l->row_bytes;
    const bool even = rows % c->page == 0 || l->above; /* made ones are read from memory */
    const uint64_t whole = round_up(l->size, c->page), unit = even ? WORTH : 4 * WORTH;
    uint64_t bytes = round_up(rows < unit ? (unit + rows - 1) / rows * rows : rows, c->page);
    bytes = bytes < whole ? bytes : whole;
    const uint64_t count = (whole + bytes - 1) / bytes;
    if (whole > STORE_MOST - c->used)
        return error_msg(err, STATUS_LIMIT,
                         "the textures that are read on demand need more than %llu bytes",
                         (unsigned long long)STORE_MOST);
    l->at = c->used;
    l->block_bytes = bytes;
    l->first_block = (uint32_t)c->block_count;
    l->seen = ARENA_ARRAY(&c->arena, uint8_t, l->image.height / l->block_height / 8 + 1);
    if (!l->seen ||
        !list_reserve((void **)&c->levels, c->level_count, 1, &c->level_cap, sizeof *c->levels) ||
        !list_reserve((void **)&c->blocks, c->block_count, count, &c->block_cap, sizeof *c->blocks))
        return error_msg(err, STATUS_MEMORY, "out of memory for a cache of textures");
    TRY(grow_store(c, c->used + whole, err));
    for (uint64_t i = 0; i < count; i++)
        c->blocks[c->block_count++] = (struct cached_block){.level = (uint32_t)c->level_count};
    c->levels[c->level_count++] = l;
    c->used += whole;
    c->largest_block = bytes > c->largest_block ? bytes : c->largest_block;
    uint64_t chain = 0;
    for (const struct cached_level *made = l; made->above; made = made->above)
        chain += made->block_bytes;
    c->made_bytes = chain > c->made_bytes ? chain : c->made_bytes;
    return STATUS_OK;
}

enum status cache_add(struct texture_cache *c, const struct cached_level *level,
                      const struct cached_level **kept, const void **texels, struct error *err)
{
    struct cached_level *l = ARENA_NEW(&c->arena, struct cached_level);
    if (!l)
        return error_msg(err, STATUS_MEMORY, "out of memory for a cache of textures");
    *l = *level;
    pthread_mutex_lock(&c->lock);
    enum status st = add_level(c, l, err);
    pthread_mutex_unlock(&c->lock);
    if (st == STATUS_OK) {
        *texels = c->views[0] + l->at;
        *kept = l;
    }
    return st;
}

static struct cached_level *level_at(const struct texture_cache *c, uint64_t at)
{
    size_t low = 0, high = c->level_count;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (c->levels[middle]->at <= at)
            low = middle;
        else
            high = middle;
    }
    return c->levels[low];
}

bool texture_cache_place(const struct texture_cache *c, const void *texels, uint64_t *at)
{
    if (!c || (const char *)texels < c->views[0] ||
        (uint64_t)((const char *)texels - c->views[0]) >= c->used)
        return false;
    *at = (uint64_t)((const char *)texels - c->views[0]);
    return true;
}

const struct cached_level *cache_level_of(const struct texture_cache *c, const void *texels)
{
    uint64_t at;
    return texture_cache_place(c, texels, &at) ? level_at(c, at) : NULL;
}

/* ---- views ---------------------------------------------------------------------------------- */

static unsigned free_view(const struct texture_cache *c)
{
    unsigned v = 1;
    while (v < CACHE_VIEWS && c->views[v])
        v++;
    return v;
}

enum status texture_cache_view(struct texture_cache *c, uint64_t own_bytes, void **words,
                               struct error *err)
{
    const uint64_t before = (uint64_t)TEXTURE_CACHE_FIRST * 4, own = round_up(own_bytes, c->page);
    if (own > before)
        return error_msg(err, STATUS_LIMIT,
                         "images that are not read on demand need %llu bytes beside those that "
                         "are: expected at most %llu",
                         (unsigned long long)own_bytes, (unsigned long long)before);
    pthread_mutex_lock(&c->lock);
    const unsigned v = free_view(c);
    char *base = v == CACHE_VIEWS ? MAP_FAILED
                                  : mmap(NULL, before + c->used, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool done = base != MAP_FAILED && mprotect(base, own, PROT_READ | PROT_WRITE) == 0 &&
                mmap(base + before, c->used, PROT_NONE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
                     c->store, 0) != MAP_FAILED;
    done = done && cache_watch(c, v, base + before, c->used);
    if (done) {
        c->views[v] = base + before;
        c->view_sizes[v] = c->used;
        c->references++;
    } else if (base != MAP_FAILED) {
        munmap(base, before + c->used);
    }
    pthread_mutex_unlock(&c->lock);
    if (!done)
        return error_msg(err, STATUS_LIMIT, "no addresses for a view of the textures");
    *words = base;
    return STATUS_OK;
}

void texture_cache_view_close(struct texture_cache *c, const void *words)
{
    const uint64_t before = (uint64_t)TEXTURE_CACHE_FIRST * 4;
    pthread_mutex_lock(&c->lock);
    for (unsigned v = 1; v < CACHE_VIEWS; v++)
        if (c->views[v] && c->views[v] - before == (const char *)words) {
            cache_unwatch(c->views[v]);
            munmap(c->views[v] - before, before + c->view_sizes[v]);
            c->views[v] = NULL;
            for (size_t i = 0; i < c->block_count; i++) {
                c->shown_count -= c->blocks[i].shown >> v & 1U;
                c->blocks[i].shown &= (uint8_t) ~(1U << v);
            }
        }
    pthread_mutex_unlock(&c->lock);
    texture_cache_release(c);
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* In the store. */
static uint64_t block_at(const struct texture_cache *c, uint32_t block)
{
    const struct cached_level *l = c->levels[c->blocks[block].level];
    return l->at + (uint64_t)(block - l->first_block) * l->block_bytes;
}

static uint64_t block_bytes(const struct texture_cache *c, uint32_t block)
{
    const struct cached_level *l = c->levels[c->blocks[block].level];
    const uint64_t from = (uint64_t)(block - l->first_block) * l->block_bytes;
    const uint64_t left = round_up(l->size, c->page) - from;
    return left < l->block_bytes ? left : l->block_bytes;
}

static struct block_queue *queue_of(struct texture_cache *c, uint32_t block)
{
    return c->blocks[block].state == BLOCK_ACTIVE ? &c->active : &c->inactive;
}

static void queue_leave(struct texture_cache *c, uint32_t block)
{
    struct block_queue *q = queue_of(c, block);
    const struct cached_block *b = &c->blocks[block];
    *(b->before ? &c->blocks[b->before - 1].next : &q->head) = b->next;
    *(b->next ? &c->blocks[b->next - 1].before : &q->tail) = b->before;
    q->bytes -= block_bytes(c, block);
}

static void queue_enter(struct texture_cache *c, uint32_t block, enum block_state state)
{
    struct cached_block *b = &c->blocks[block];
    b->state = (uint8_t)state;
    struct block_queue *q = queue_of(c, block);
    b->next = 0;
    b->before = q->tail;
    *(q->tail ? &c->blocks[q->tail - 1].next : &q->head) = block + 1;
    q->tail = block + 1;
    q->bytes += block_bytes(c, block);
}

static void block_hide(struct texture_cache *c, uint32_t block)
{
    struct cached_block *b = &c->blocks[block];
    for (unsigned v = 0; v < CACHE_VIEWS; v++)
        if (b->shown >> v & 1U) {
            (void)mprotect(c->views[v] + block_at(c, block), block_bytes(c, block), PROT_NONE);
            c->shown_count--;
        }
    b->shown = 0;
}

/* False: the system has no mappings left. */
static bool block_show(struct texture_cache *c, uint32_t block, unsigned view)
{
    struct cached_block *b = &c->blocks[block];
    char *at = c->views[view] + block_at(c, block);
    if (b->shown >> view & 1U)
        return true;
    if (mprotect(at, block_bytes(c, block), PROT_READ) != 0)
        return false;
    b->shown |= (uint8_t)(1U << view);
    c->shown_count++;
    return true;
}

static void block_drop(struct texture_cache *c, uint32_t block)
{
    queue_leave(c, block);
    block_hide(c, block);
    (void)fallocate(c->store, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)block_at(c, block),
                    (off_t)block_bytes(c, block));
    c->resident -= block_bytes(c, block);
    c->blocks[block].state = BLOCK_ABSENT;
}

/* The oldest of the inactive, else of the active ones; false: there are none. */
static bool drop_oldest(struct texture_cache *c)
{
    const uint32_t head = c->inactive.head ? c->inactive.head : c->active.head;
    if (head)
        block_drop(c, head - 1);
    return head != 0;
}

/* A quarter of what is there is asked whether it is still looked at; not the block that somebody
 * waits for. */
static void hide_oldest(struct texture_cache *c, uint32_t wanted)
{
    while (c->active.head && c->active.head - 1 != wanted &&
           (c->inactive.bytes < c->resident / 4 || c->shown_count > SHOWN_MOST)) {
        const uint32_t block = c->active.head - 1;
        queue_leave(c, block);
        block_hide(c, block);
        queue_enter(c, block, BLOCK_INACTIVE);
    }
}

/* False: all the rest is being filled. */
static bool make_room(struct texture_cache *c, uint64_t bytes)
{
    bool dropped = true;
    while (c->resident + bytes > c->limit && dropped)
        dropped = drop_oldest(c);
    return dropped;
}

static void block_fail(struct texture_cache *c, uint32_t block, const struct error *err)
{
    c->blocks[block].state = BLOCK_FAILED;
    if (c->fault.code == STATUS_OK)
        c->fault = *err;
}

/* Under the lock, which it lets go while the file is read. */
static void block_fill(struct texture_cache *c, unsigned worker, uint32_t block)
{
    struct cached_level *l = c->levels[c->blocks[block].level];
    const uint64_t bytes = block_bytes(c, block), from = block_at(c, block) - l->at;
    const uint64_t to = from + bytes < l->size ? from + bytes : l->size;
    struct error why = {0};
    c->blocks[block].state = BLOCK_FILLING;
    c->resident += bytes;
    c->peak = c->resident > c->peak ? c->resident : c->peak;
    if (!c->readers[worker])
        c->readers[worker] = calloc(1, sizeof *c->readers[worker]);
    struct cache_reader *r = c->readers[worker];
    pthread_mutex_unlock(&c->lock);
    enum status st = !r         ? error_msg(&why, STATUS_MEMORY, "out of memory to read textures")
                     : l->above ? cache_make(c, worker, l, from, to, &why)
                                : cache_fill(r, c->store, l, from, to, &c->counts, &c->lock, &why);
    pthread_mutex_lock(&c->lock);
    if (st == STATUS_OK) {
        queue_enter(c, block, BLOCK_ACTIVE);
    } else {
        c->resident -= bytes;
        (void)fallocate(c->store, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(l->at + from),
                        (off_t)bytes);
        block_fail(c, block, &why);
    }
    pthread_cond_broadcast(&c->filled);
}

/* The same of a block that is made: by one thread at a time, so that none waits for another that
 * waits for it. */
static void block_make(struct texture_cache *c, unsigned worker, uint32_t block)
{
    c->maker = worker + 1;
    c->making++;
    block_fill(c, worker, block);
    if (--c->making == 0)
        c->maker = 0; /* block_fill has waked who waits */
}

/* Zeros that take no memory: whoever looks goes on, and the picture is not used. */
static void show_zeros(struct texture_cache *c, uint32_t block, unsigned view)
{
    char *at = c->views[view] + block_at(c, block);
    if (mmap(at, block_bytes(c, block), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED)
        (void)mprotect(at, block_bytes(c, block), PROT_READ);
}

/* Under the lock. view NO_VIEW: to be there is enough. True: it is shown, and nobody need look at it
 * again. */
static bool block_bring(struct texture_cache *c, unsigned worker, uint32_t block, unsigned view)
{
    struct cached_block *b = &c->blocks[block];
    const bool made = c->levels[b->level]->above != NULL;
    switch ((enum block_state)b->state) {
    case BLOCK_FILLING:
        pthread_cond_wait(&c->filled, &c->lock);
        return false;
    case BLOCK_INACTIVE:
        queue_leave(c, block);
        queue_enter(c, block, BLOCK_ACTIVE);
        return false;
    case BLOCK_ACTIVE:
        if (c->resident + c->largest_block > c->limit || c->shown_count > SHOWN_MOST)
            hide_oldest(c, block);
        if (view == NO_VIEW || block_show(c, block, view))
            return true;
        (void)drop_oldest(c); /* and its mappings */
        return false;
    case BLOCK_FAILED:
        if (view != NO_VIEW)
            show_zeros(c, block, view);
        return true;
    case BLOCK_ABSENT:
        break;
    }
    if (block_bytes(c, block) > c->limit) {
        struct error why = {0};
        (void)error_msg(&why, STATUS_LIMIT,
                        "--texture-memory %llu: %llu bytes of the image %s are read at a time",
                        (unsigned long long)c->limit, (unsigned long long)block_bytes(c, block),
                        c->levels[b->level]->file->path);
        block_fail(c, block, &why);
    } else if (!(made && c->maker != 0 && c->maker != worker + 1) &&
               make_room(c, block_bytes(c, block))) {
        if (made)
            block_make(c, worker, block);
        else
            block_fill(c, worker, block);
    } else {
        pthread_cond_wait(&c->filled, &c->lock);
    }
    return false;
}

void cache_bring(struct texture_cache *c, unsigned worker, unsigned view, uint64_t at)
{
    pthread_mutex_lock(&c->lock);
    const struct cached_level *l = level_at(c, at);
    const uint32_t block = l->first_block + (uint32_t)((at - l->at) / l->block_bytes);
    while (!block_bring(c, worker, block, view))
        ;
    pthread_mutex_unlock(&c->lock);
}

enum status cache_read_level(struct texture_cache *c, unsigned worker,
                             const struct cached_level *level, uint64_t from, uint64_t to,
                             void *out, struct error *err)
{
    enum status st = STATUS_OK;
    pthread_mutex_lock(&c->lock);
    while (from < to && st == STATUS_OK) {
        const uint32_t block = level->first_block + (uint32_t)(from / level->block_bytes);
        const uint64_t end = (from / level->block_bytes + 1) * level->block_bytes;
        const uint64_t n = (end < to ? end : to) - from;
        while (!block_bring(c, worker, block, NO_VIEW))
            ;
        if (c->blocks[block].state == BLOCK_FAILED)
            *err = c->fault, st = c->fault.code;
        else if (file_read_at(c->store, out, n, level->at + from) != (int64_t)n)
            st = error_msg(err, STATUS_IO, "the cache of textures cannot be read");
        out = (char *)out + n;
        from += n;
    }
    pthread_mutex_unlock(&c->lock);
    return st;
}

/* ---- what happened -------------------------------------------------------------------------- */

enum status texture_cache_fault(struct texture_cache *c, struct error *err)
{
    if (!c)
        return STATUS_OK;
    pthread_mutex_lock(&c->lock);
    const enum status st = c->fault.code;
    if (st != STATUS_OK && err)
        *err = c->fault;
    pthread_mutex_unlock(&c->lock);
    return st;
}

void texture_cache_count(struct texture_cache *c, struct texture_cache_counts *out)
{
    *out = (struct texture_cache_counts){0};
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    *out = (struct texture_cache_counts){.limit = c->limit,
                                         .texel_bytes = c->used,
                                         .peak_bytes = c->peak,
                                         .file_bytes = c->counts.file_bytes,
                                         .tiles = c->counts.tiles - c->counts.tiles_again,
                                         .tiles_again = c->counts.tiles_again};
    pthread_mutex_unlock(&c->lock);
}
