/* Any bytes as an image: a picture of finite texels or an error. Seeds: scenes/library/textures and
 * scenes/tests/crashes/image-*. What begins as zlib's streams do is unpacked as one, in parts and
 * at once: what is taken is what libdeflate makes of it. */
#include "inflate.h"
#include "scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void unpack(const uint8_t *data, size_t size)
{
    enum { ROOM = 1 << 20, PARTS = 4 };
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    struct inflater *f = inflater_new();
    unsigned char *packed = malloc(size + INFLATE_BEHIND), *right = malloc(ROOM);
    if (!d || !f || !packed || !right)
        abort();
    memcpy(packed, data, size);
    memset(packed + size, 255, INFLATE_BEHIND);
    size_t n = ROOM;
    bool ok = libdeflate_zlib_decompress(d, packed, size, right, ROOM, &n) == LIBDEFLATE_SUCCESS;
    struct inflate_job j = {.packed = packed, .packed_size = size, .size = n};
    j.out = malloc(n);
    inflate_together(f, &j, 1);
    if (j.ok && (!ok || memcmp(j.out, right, n) != 0))
        __builtin_trap();
    struct arena a = {0};
    struct inflate_piece pieces[PARTS];
    size_t count = inflate_in_parts(&a, &j, PARTS, 1, pieces), at = 0;
    for (size_t i = 0; i < count; at += pieces[i++].size)
        if (!ok || pieces[i].size > n - at ||
            memcmp(pieces[i].bytes, right + at, pieces[i].size) != 0)
            __builtin_trap();
    arena_free(&a);
    free(j.out);
    free(right);
    free(packed);
    inflater_free(f);
    libdeflate_free_decompressor(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 && data[0] == 0x78)
        unpack(data, size);
    struct arena a = {.limit = (size_t)64 << 20};
    struct image im = {0};
    struct error err = {0};
    if (image_read_memory(&a, data, size, "fuzz", &im, &err) == STATUS_OK) {
        size_t n = (size_t)im.width * im.height * im.channels;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += image_value(&im, i, false);
        if (n == 0 || !isfinite(sum))
            __builtin_trap();
    } else if (err.code == STATUS_OK || err.code == STATUS_INTERNAL || !err.msg[0] || im.texels) {
        __builtin_trap();
    }
    arena_free(&a);
    return 0;
}
