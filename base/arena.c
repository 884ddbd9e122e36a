/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* madvise */
#include "base.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif
#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
enum { REDZONE = 16 }; /* between two allocations, so that AddressSanitizer sees an overrun */
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
enum { REDZONE = 0 };
#endif

enum { BLOCK_FIRST = 16 << 10, BLOCK_LARGEST = 4 << 20 };

struct arena_block {
    struct arena_block *next;
    size_t used, cap;
    _Alignas(max_align_t) unsigned char data[];
};

/* Blocks of images and meshes are touched from end to end: in large pages that costs a tenth of the
 * faults. A hint: what comes of it does not matter. */
static void ask_for_large_pages(void *at, size_t size)
{
#ifdef MADV_HUGEPAGE
    enum { WORTH = 32 << 20 };
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)at & ~(page - 1);
    if (size >= WORTH)
        madvise((void *)first, size + ((uintptr_t)at - first), MADV_HUGEPAGE);
#else
    (void)at, (void)size;
#endif
}

static struct arena_block *block_new(size_t cap)
{
    if (cap > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    /* calloc: a large block is untouched zero pages until it is used. */
    struct arena_block *b = calloc(1, sizeof *b + cap);
    if (!b)
        return NULL;
    ask_for_large_pages(b, sizeof *b + cap);
    b->cap = cap;
    ASAN_POISON_MEMORY_REGION(b->data, cap);
    return b;
}

/* Space in b at the wanted alignment, or NULL if it does not fit. */
static void *block_take(struct arena_block *b, size_t bytes, size_t align)
{
    size_t pad = (size_t)(0 - (uintptr_t)(b->data + b->used)) & (align - 1);
    size_t room = b->cap - b->used;
    if (pad > room || bytes > room - pad)
        return NULL;
    unsigned char *p = b->data + b->used + pad;
    size_t end = b->used + pad + bytes;
    b->used = end > b->cap - REDZONE ? b->cap : end + REDZONE;
    ASAN_UNPOISON_MEMORY_REGION(p, bytes);
    return p;
}

void *arena_alloc(struct arena *a, size_t count, size_t size, size_t align)
{
    if (align == 0)
        align = _Alignof(max_align_t);
    assert((align & (align - 1)) == 0);
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    if (bytes == 0)
        bytes = 1;
    size_t total;
    if (__builtin_add_overflow(a->total, bytes, &total) || (a->limit && total > a->limit))
        return NULL;
    void *p = a->head ? block_take(a->head, bytes, align) : NULL;
    if (!p) {
        size_t want = a->head ? a->head->cap : BLOCK_FIRST / 2;
        want = want < BLOCK_LARGEST / 2 ? want * 2 : BLOCK_LARGEST;
        size_t need = bytes + (align > _Alignof(max_align_t) ? align : 0) + REDZONE;
        bool alone = need > want / 2 && a->head != NULL;
        struct arena_block *b = block_new(alone || need > want ? need : want);
        if (!b)
            return NULL;
        if (alone) { /* a big one gets its own block behind the head, which keeps its room */
            b->next = a->head->next;
            a->head->next = b;
        } else {
            b->next = a->head;
            a->head = b;
        }
        p = block_take(b, bytes, align);
    }
    a->total = total;
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    n = strnlen(s, n);
    char *p = arena_alloc(a, n + 1, 1, 1);
    if (p)
        memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s) { return arena_strndup(a, s, SIZE_MAX - 1); }

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1, 1, 1);
    if (!p)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

void arena_free(struct arena *a)
{
    struct arena_block *next;
    for (struct arena_block *b = a->head; b; b = next) {
        next = b->next;
        ASAN_UNPOISON_MEMORY_REGION(b->data, b->cap);
        free(b);
    }
    a->head = NULL;
    a->total = 0;
}
