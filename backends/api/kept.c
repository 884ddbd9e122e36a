/* SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_RESOURCES = 16 }; /* bytes before the payload; a multiple of what payloads align to */
static_assert(sizeof(struct kept_resources) <= KEPT_RESOURCES, "layout of a file");

bool kept_read(struct arena *a, const char *path, const char key[33], const void **data,
               size_t *size, struct kept_resources *resources)
{
    const void *all;
    size_t whole;
    if (!cache_read(a, path, key, &all, &whole) || whole < KEPT_RESOURCES)
        return false;
    memcpy(resources, all, sizeof *resources);
    *data = (const char *)all + KEPT_RESOURCES;
    *size = whole - KEPT_RESOURCES;
    return true;
}

void kept_write(const char *path, const char key[33], const void *data, size_t size,
                const struct kept_resources *resources)
{
    char *all = calloc(1, KEPT_RESOURCES + size);
    if (!all)
        return;
    memcpy(all, resources, sizeof *resources);
    memcpy(all + KEPT_RESOURCES, data, size);
    cache_write(path, key, all, KEPT_RESOURCES + size);
    free(all);
}

/* The largest number that stands in front of `unit`. */
static uint32_t largest_before(const char *log, const char *unit)
{
    uint32_t most = 0;
    for (const char *at = strstr(log, unit); at; at = strstr(at + 1, unit)) {
        const char *digit = at;
        while (digit > log && digit[-1] >= '0' && digit[-1] <= '9')
            digit--;
        uint32_t v = (uint32_t)strtoul(digit, NULL, 10);
        most = v > most ? v : most;
    }
    return most;
}

struct kept_resources resources_read(const char *log)
{
    return (struct kept_resources){.registers = largest_before(log, " registers"),
                                   .stack_bytes = largest_before(log, " bytes stack frame"),
                                   .spill_bytes = largest_before(log, " bytes spill stores")};
}
