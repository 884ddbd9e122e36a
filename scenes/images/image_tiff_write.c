/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF ("TIFF, Revision 6.0", Adobe 1992) as it is written here: little-endian, in one strip,
 * without compression. */
#include "images.h"

#include <math.h>
#include <string.h>

enum { SHORT = 3, LONG = 4, HEADER = 8 };

static void put16(struct text *t, uint32_t v)
{
    const char b[2] = {(char)(v & 255), (char)(v >> 8)};
    text_append(t, b, 2);
}

static void put32(struct text *t, uint32_t v)
{
    put16(t, v & 0xFFFF);
    put16(t, v >> 16);
}

static void put_entry(struct text *t, uint32_t tag, uint32_t type, uint32_t count, uint32_t value)
{
    put16(t, tag);
    put16(t, type);
    put32(t, count);
    put32(t, value);
}

static void put_pixels(struct text *t, const float *values, size_t count, bool bytes)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        double v = values[i] > 0 ? fmin(values[i], 1) : 0; /* NaN: 0 */
        const char byte = (char)lround(v * 255);
        if (bytes)
            text_append(t, &byte, 1);
        else
            put32(t, word);
    }
}

/* The directory, which stands at `at`, and behind it what is too long for its entries. */
static void put_directory(struct text *t, uint32_t at, uint32_t width, uint32_t height,
                          uint32_t channels, bool bytes, uint32_t size)
{
    enum { ENTRIES = 11, LENGTH = 2 + 12 * ENTRIES + 4 };
    uint32_t bits = bytes ? 8 : 32, format = bytes ? 1 : 3, extra = channels > 3 ? channels - 3 : 0;
    uint32_t lists = channels > 2 ? 2 * channels : 0; /* longer than an entry's four bytes */
    uint32_t bits_at = at + LENGTH, format_at = bits_at + lists, extra_at = format_at + lists;
    uint32_t pair = channels == 2 ? 0x10001 : 1;
    put16(t, ENTRIES);
    put_entry(t, 256, LONG, 1, width);
    put_entry(t, 257, LONG, 1, height);
    put_entry(t, 258, SHORT, channels, lists ? bits_at : bits * pair);
    put_entry(t, 259, SHORT, 1, 1);                    /* no compression */
    put_entry(t, 262, SHORT, 1, channels < 3 ? 1 : 2); /* black is zero; RGB */
    put_entry(t, 273, LONG, 1, HEADER);
    put_entry(t, 277, SHORT, 1, channels);
    put_entry(t, 278, LONG, 1, height);
    put_entry(t, 279, LONG, 1, size);
    if (channels == 2 || extra > 0) /* of no special meaning */
        put_entry(t, 338, SHORT, channels == 2 ? 1 : extra, extra > 2 ? extra_at : 0);
    else
        put_entry(t, 284, SHORT, 1, 1); /* channels side by side; a tag that is always allowed */
    put_entry(t, 339, SHORT, channels, lists ? format_at : format * pair);
    put32(t, 0);
    for (uint32_t list = 0; lists && list < 2; list++)
        for (uint32_t c = 0; c < channels; c++)
            put16(t, list == 0 ? bits : format);
    for (uint32_t c = 0; extra > 2 && c < extra; c++)
        put16(t, 0);
}

enum status image_write_tiff(const char *path, uint32_t width, uint32_t height, const float *values,
                             uint32_t channels, bool bytes, struct error *err)
{
    uint64_t count = (uint64_t)width * height * channels, size = count * (bytes ? 1 : 4);
    if (count == 0)
        return error_msg(err, STATUS_ARG, "cannot write %s: %ux%u pixels of %u channels", path,
                         width, height, channels);
    if (size > UINT32_MAX - 4096 || channels > 256)
        return error_msg(err, STATUS_LIMIT, "cannot write %s: %llu bytes are beyond TIFF's 4 GiB",
                         path, (unsigned long long)size);
    uint32_t at = HEADER + (uint32_t)((size + 1) & ~1ULL); /* directories stand on even places */
    struct text t = {0};
    text_append(&t, "II*", 4);
    put32(&t, at);
    put_pixels(&t, values, (size_t)count, bytes);
    if (size & 1)
        text_append(&t, "", 1);
    put_directory(&t, at, width, height, channels, bytes, (uint32_t)size);
    enum status s = t.failed ? error_msg(err, STATUS_MEMORY, "out of memory writing %s", path)
                             : file_write(path, t.data, t.len, err);
    text_free(&t);
    return s;
}
