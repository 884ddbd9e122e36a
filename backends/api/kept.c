#include "kept.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct header {
    char magic[8];
    char key[32], payload[32]; /* hashes, without the NUL */
    struct kept_resources resources;
    uint32_t unused;
    uint64_t size;
};
static_assert(sizeof(struct header) == 96, "layout of a file");
static const char magic[8] = {'I', 'S', 'O', 'B', 'I', 'N', '1', '\n'};

bool kept_read(struct arena *a, const char *path, const char key[33], const void **data,
               size_t *size, struct kept_resources *resources)
{
    char *file, payload[33];
    size_t file_size;
    struct header h;
    if (file_read(a, path, (size_t)1 << 30, &file, &file_size, NULL) != STATUS_OK ||
        file_size < sizeof h)
        return false;
    memcpy(&h, file, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0 || memcmp(h.key, key, sizeof h.key) != 0 ||
        h.size != file_size - sizeof h)
        return false;
    hash_bytes(file + sizeof h, h.size, payload);
    if (memcmp(h.payload, payload, sizeof h.payload) != 0)
        return false;
    *data = file + sizeof h;
    *size = h.size;
    *resources = h.resources;
    return true;
}

void kept_write(const char *path, const char key[33], const void *data, size_t size,
                const struct kept_resources *resources)
{
    struct header h = {.resources = *resources, .size = size};
    char payload[33];
    char *file = malloc(sizeof h + size);
    if (!file)
        return;
    hash_bytes(data, size, payload);
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.key, key, sizeof h.key);
    memcpy(h.payload, payload, sizeof h.payload);
    memcpy(file, &h, sizeof h);
    memcpy(file + sizeof h, data, size);
    file_write(path, file, sizeof h + size, NULL);
    free(file);
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
