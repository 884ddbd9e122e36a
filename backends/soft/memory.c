/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that kernels may touch: allocations and modules' variables, by address. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include "soft.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

void *pages_map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}
void pages_unmap(void *p, size_t size)
{
    if (p)
        munmap(p, size);
}

/* Number of objects that begin at or before p. */
static size_t objects_before(const struct memory *m, const void *p)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->objects[middle]->base <= (const unsigned char *)p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct object *memory_find(const struct memory *m, const void *p)
{
    size_t at = objects_before(m, p);
    if (at == 0)
        return NULL;
    struct object *o = m->objects[at - 1];
    return (size_t)((const unsigned char *)p - o->base) < o->size ? o : NULL;
}

struct object *memory_nearest(const struct memory *m, const void *p)
{
    size_t at = objects_before(m, p);
    struct object *before = at > 0 ? m->objects[at - 1] : NULL;
    struct object *after = at < m->count ? m->objects[at] : NULL;
    if (!before || !after)
        return before ? before : after;
    size_t from_end = (size_t)((uintptr_t)p - (uintptr_t)(before->base + before->size));
    size_t to_start = (size_t)((uintptr_t)after->base - (uintptr_t)p);
    return from_end <= to_start ? before : after;
}

enum status memory_insert(struct memory *m, struct object *o, struct error *err)
{
    if (m->count == m->capacity) {
        size_t capacity = m->capacity ? 2 * m->capacity : 64;
        struct object **grown = realloc(m->objects, capacity * sizeof(struct object *));
        if (!grown)
            return error_msg(err, STATUS_MEMORY, "out of memory for the table of allocations");
        m->objects = grown;
        m->capacity = capacity;
    }
    size_t at = objects_before(m, o->base);
    memmove(m->objects + at + 1, m->objects + at, (m->count - at) * sizeof(struct object *));
    m->objects[at] = o;
    m->count++;
    return STATUS_OK;
}

void memory_remove(struct memory *m, struct object *o)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->objects[i] == o) {
            memmove(m->objects + i, m->objects + i + 1,
                    (m->count - i - 1) * sizeof(struct object *));
            m->count--;
            return;
        }
}

void object_describe(const struct object *o, char *buf, size_t size)
{
    if (o->name)
        snprintf(buf, size, "the variable %s (%zu bytes)", o->name, o->size);
    else
        snprintf(buf, size, "allocation %u (%zu bytes)", o->id, o->size);
}

static size_t cells_bytes(size_t size) { return (size + 3) / 4 * sizeof(struct cell); }

static void shadows_free(struct object *o)
{
    pages_unmap(o->written, o->size);
    pages_unmap(o->cells, cells_bytes(o->size));
    o->written = NULL;
    o->cells = NULL;
}

static void object_free(struct object *o)
{
    shadows_free(o);
    munmap(o->base, o->reserved);
    free(o);
}

/* ---- the interface -------------------------------------------------------------------------- */

enum status soft_alloc(struct soft_device *d, enum soft_memory kind, size_t size, size_t align,
                       void **out, struct error *err)
{
    struct memory *m = &d->memory;
    if (size == 0 || (align & (align - 1)) != 0 || align > PAGE)
        return error_msg(err, STATUS_ARG, "an allocation of %zu bytes aligned to %zu", size, align);
    if (size > m->limit || m->used > m->limit - size)
        return error_msg(err, STATUS_LIMIT, "%zu bytes wanted; the device has %llu of %llu left",
                         size, (unsigned long long)(m->limit - m->used),
                         (unsigned long long)m->limit);
    const unsigned checks = d->options.checks;
    const size_t written = (checks & SOFT_UNINITIALISED) && kind == SOFT_DEVICE_MEMORY ? size : 0,
                 cells = checks & (SOFT_RACES | SOFT_WAITS) ? cells_bytes(size) : 0;
    TRY(memory_plan((uint64_t)size + written + cells, err,
                    "%zu bytes of the device, and what its checks note", size));
    struct object *o = calloc(1, sizeof *o);
    size_t pages = (size + PAGE - 1) / PAGE * PAGE;
    unsigned char *base = o ? pages_map(pages + PAGE) : NULL;
    if (!base) {
        free(o);
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu bytes", size);
    }
    mprotect(base + pages, PAGE, PROT_NONE); /* what runs past the end unchecked stops there */
    *o = (struct object){
        .base = base, .size = size, .reserved = pages + PAGE, .kind = kind, .id = ++m->next_id};
    if (written)
        o->written = pages_map(written);
    if (cells)
        o->cells = pages_map(cells);
    enum status s = memory_insert(m, o, err);
    if (s != STATUS_OK) {
        object_free(o);
        return s;
    }
    m->used += size;
    *out = base;
    return STATUS_OK;
}

enum status soft_free(struct soft_device *d, void *p, struct error *err)
{
    struct object *o = p ? memory_find(&d->memory, p) : NULL;
    if (!o || o->base != p || o->reserved == 0)
        return error_msg(err, STATUS_ARG, "%p is no allocation of this device", p);
    if (o->freed) {
        soft_finding_add(d, SOFT_FREED, "allocation %u (%zu bytes) is freed twice", o->id, o->size);
        return error_msg(err, STATUS_ARG, "%p was freed before", p);
    }
    if (commands_use(d, o->base, o->size)) {
        if (d->options.checks & (SOFT_FREED | SOFT_WAITS))
            soft_finding_add(d, SOFT_FREED,
                             "allocation %u (%zu bytes) is freed while queued work may use it: "
                             "missing wait",
                             o->id, o->size);
        commands_run(d, d->command_count);
    }
    d->memory.used -= o->size;
    for (unsigned i = 0; i < d->worker_count; i++)
        d->workers[i].last = NULL;
    if (d->options.checks & SOFT_FREED) {
        o->freed = true; /* its addresses stay taken */
        shadows_free(o);
        madvise(o->base, o->reserved, MADV_DONTNEED);
        mprotect(o->base, o->reserved, PROT_NONE);
        return STATUS_OK;
    }
    memory_remove(&d->memory, o);
    object_free(o);
    return STATUS_OK;
}

bool soft_allocation_find(const struct soft_device *d, const void *p, struct soft_allocation *out)
{
    const struct object *o = memory_find(&d->memory, p);
    if (!o || o->freed || o->reserved == 0)
        return false;
    *out = (struct soft_allocation){o->base, o->size, o->kind, o->id};
    return true;
}

void memory_free_all(struct memory *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->objects[i]->reserved)
            object_free(m->objects[i]);
    free(m->objects);
    *m = (struct memory){0};
}
