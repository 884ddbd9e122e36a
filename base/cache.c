/* SPDX-License-Identifier: Apache-2.0 */
/* What took long to make, kept in files that are believed only when they are ours and whole. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base.h"
#include "files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- whose it is ---------------------------------------------------------------------------- */

void (*note_say)(const char *text);

static void note_refused(const char *path, const char *why)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char text[4400];
    if (!note_say || atomic_flag_test_and_set(&said))
        return;
    snprintf(text, sizeof text, "the cache is not used: %s %s", path, why);
    note_say(text);
}

/* NULL, or why what stands there cannot be believed. */
static const char *owner_problem(const struct stat *st)
{
    if (st->st_uid != geteuid())
        return "belongs to somebody else";
    return st->st_mode & (S_IWGRP | S_IWOTH) ? "can be written by others than its owner" : NULL;
}

enum status cache_folder_check(const char *path, struct error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return io_error(err, STATUS_IO, "look at", path, errno);
    const char *why = owner_problem(&st);
    if (!why)
        return STATUS_OK;
    note_refused(path, why);
    return error_msg(err, STATUS_IO, "%s %s; set ISOPHOTE_CACHE", path, why);
}

/* ---- files ---------------------------------------------------------------------------------- */

struct header {
    char magic[8];
    uint32_t version, unused;
    uint64_t size;
    char key[32], payload[32], all[32]; /* hashes, without the NUL; `all`: of what stands before */
};
static_assert(sizeof(struct header) == 120, "layout of a file");
static const char magic[8] = {'I', 'S', 'O', 'K', 'E', 'P', 'T', '\n'};
enum { VERSION = 1 };

static struct header header_of(const char key[33], const void *data, size_t size)
{
    struct header h = {.version = VERSION, .size = size};
    char hash[33];
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.key, key, sizeof h.key);
    hash_bytes(data, size, hash);
    memcpy(h.payload, hash, sizeof h.payload);
    hash_bytes(&h, offsetof(struct header, all), hash);
    memcpy(h.all, hash, sizeof h.all);
    return h;
}

/* The size of an open file that is ours; 0: it cannot be used. */
static size_t size_of_ours(int fd, const char *path)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0)
        return 0;
    const char *why = owner_problem(&st);
    if (why)
        note_refused(path, why);
    return why ? 0 : (size_t)st.st_size;
}

bool cache_read(struct arena *a, const char *path, const char key[33], const void **data,
                size_t *size)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const size_t whole = size_of_ours(fd, path), rest = whole - sizeof(struct header);
    struct header h, expected;
    char *payload = NULL;
    bool good = whole >= sizeof h && file_read_at(fd, &h, sizeof h, 0) == sizeof h &&
                h.size == rest && memcmp(h.key, key, sizeof h.key) == 0 &&
                (payload = arena_alloc(a, rest + 1, 1, 16)) != NULL &&
                file_read_at(fd, payload, rest, sizeof h) == (int64_t)rest;
    if (fd >= 0)
        close(fd);
    if (good) {
        expected = header_of(key, payload, rest);
        good = memcmp(&h, &expected, sizeof h) == 0;
    }
    if (!good)
        return false;
    *data = payload;
    *size = rest;
    return true;
}

void cache_write(const char *path, const char key[33], const void *data, size_t size)
{
    const struct header h = header_of(key, data, size);
    char *file = malloc(sizeof h + size);
    if (!file)
        return;
    memcpy(file, &h, sizeof h);
    if (size)
        memcpy(file + sizeof h, data, size);
    if (file_write_as(path, file, sizeof h + size, 0600, NULL) != STATUS_OK)
        (void)unlink(path); /* not room for this one: what is damaged there goes too */
    free(file);
}
