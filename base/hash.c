/* SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <string.h>

#include <xxhash.h>

/* The opaque stream is XXH3's own state. */
struct hash *hash_open(void)
{
    XXH3_state_t *state = XXH3_createState();
    if (state)
        XXH3_128bits_reset(state);
    return (struct hash *)state;
}

static void put_hex(XXH128_hash_t h, char hex[33])
{
    XXH128_canonical_t c; /* big-endian, so the text is the same on every machine */
    XXH128_canonicalFromHash(&c, h);
    for (size_t i = 0; i < 16; i++) {
        hex[2 * i] = "0123456789abcdef"[c.digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[c.digest[i] & 15];
    }
    hex[32] = '\0';
}

void hash_add(struct hash *h, const void *data, size_t size)
{
    if (h && size)
        XXH3_128bits_update((XXH3_state_t *)h, data, size);
}

void hash_close(struct hash *h, char hex[33])
{
    hex[0] = '\0';
    if (!h)
        return;
    put_hex(XXH3_128bits_digest((XXH3_state_t *)h), hex);
    XXH3_freeState((XXH3_state_t *)h);
}

void hash_bytes(const void *data, size_t size, char hex[33])
{
    put_hex(XXH3_128bits(data, size), hex);
}

uint32_t hash_fnv(const void *data, size_t size)
{
    const unsigned char *byte = data;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ byte[i]) * 16777619u;
    return h;
}

uint32_t hash_text(const char *text) { return hash_fnv(text, strlen(text)); }
