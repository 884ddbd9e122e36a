/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an archive, by what the first one says:
 *   - as they are;
 *   - as members: packed, they are read again as they were; with one byte changed they are refused;
 *   - as tar members whose checksums are made right, behind a true manifest: only what archive_write
 *     writes is taken.
 * What was taken is what is written again, byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "reports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCK = 512 };

static bool taken(const char *data, size_t size)
{
    struct arena a = {0};
    struct archive got;
    struct error err = {0};
    struct text again = {0};
    const bool good = archive_read(&a, "fuzz", data, size, &got, &err) == STATUS_OK;
    if (!good && !err.msg[0])
        abort(); /* refused, and nobody knows why */
    if (good && (archive_write(&got, &again, NULL) || again.len != size ||
                 memcmp(again.data, data, size) != 0))
        abort();
    text_free(&again);
    arena_free(&a);
    return good;
}

/* Members of lengths that the bytes say; then one byte of the archive is changed. */
static void try_members(const uint8_t *data, size_t size)
{
    struct archive in = {0};
    struct text packed = {0};
    size_t at = ARCHIVE_COUNT + 4;
    if (size < at)
        return;
    for (int m = 0; m < ARCHIVE_COUNT; m++) {
        const size_t n = data[m] < size - at ? data[m] : size - at;
        in.members[m].data = data[m] != 255 ? (const char *)data + at : NULL;
        in.members[m].size = in.members[m].data ? n : 0;
        at += in.members[m].size;
    }
    if (archive_write(&in, &packed, NULL))
        abort();
    if (taken(packed.data, packed.len) != (in.members[ARCHIVE_RESULTS].data != NULL))
        abort();
    const size_t place = (data[ARCHIVE_COUNT] | (size_t)data[ARCHIVE_COUNT + 1] << 8 |
                          (size_t)data[ARCHIVE_COUNT + 2] << 16) %
                         packed.len;
    packed.data[place] = (char)(packed.data[place] ^ (data[ARCHIVE_COUNT + 3] | 1));
    if (taken(packed.data, packed.len))
        abort();
    text_free(&packed);
}

/* The sum of a header's bytes, its own field taken as blanks (POSIX, ustar). */
static void checksum_make(char *head)
{
    unsigned sum = 0;
    memset(head + 148, ' ', 8);
    for (int i = 0; i < BLOCK; i++)
        sum += (unsigned char)head[i];
    (void)snprintf(head + 148, 8, "%06o", sum);
}

static void try_headers(const uint8_t *data, size_t size)
{
    struct archive in = {0};
    struct text t = {0};
    in.members[ARCHIVE_RESULTS].data = in.members[ARCHIVE_LIST].data = "";
    if (archive_write(&in, &t, NULL))
        abort();
    t.len = size && data[0] % 2 ? 2 * BLOCK : t.len - 2 * BLOCK; /* the manifest; or all members */
    for (size_t i = 1; i < size; i += BLOCK) {
        char head[BLOCK] = {0};
        memcpy(head, data + i, size - i < BLOCK ? size - i : BLOCK);
        checksum_make(head);
        text_append(&t, head, BLOCK);
    }
    if (!t.failed)
        (void)taken(t.data, t.len);
    text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t way = size ? data[0] % 3 : 0;
    if (way == 1)
        try_members(data + 1, size - 1);
    else if (way == 2)
        try_headers(data + 1, size - 1);
    else
        (void)taken((const char *)data + (size != 0), size - (size != 0));
    return 0;
}
