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
#include <time.h>
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
static const char cache_magic[8] = {'I', 'S', 'O', 'K', 'E', 'P', 'T', '\n'};
enum { VERSION = 1 };

static struct header header_of(const char magic[8], const char key[32],
                               const struct file_piece *pieces, size_t count)
{
    struct header h = {.version = VERSION};
    struct hash *payload = hash_open();
    char hash[33] = "";
    for (size_t i = 0; i < count; i++) {
        hash_add(payload, pieces[i].data, pieces[i].size);
        h.size += pieces[i].size;
    }
    hash_close(payload, hash);
    memcpy(h.magic, magic, sizeof h.magic);
    memcpy(h.key, key, sizeof h.key);
    memcpy(h.payload, hash, sizeof h.payload);
    hash_bytes(&h, offsetof(struct header, all), hash);
    memcpy(h.all, hash, sizeof h.all);
    return h;
}

static enum status bad(struct error *err, const char *path, const char *why)
{
    return error_msg(err, STATUS_PARSE, "%s %s", path, why);
}

/* Of an open file of this size, which is ours. */
static enum status whole_read(struct arena *a, int fd, const char *path, size_t whole,
                              const char magic[8], char key[33], const void **data, size_t *size,
                              struct error *err)
{
    struct header h, expected;
    char hash[33];
    if (file_read_at(fd, &h, sizeof h, 0) != sizeof h ||
        memcmp(h.magic, magic, sizeof h.magic) != 0)
        return bad(err, path, "is not of the kind that is expected");
    hash_bytes(&h, offsetof(struct header, all), hash);
    if (memcmp(h.all, hash, sizeof h.all) != 0)
        return bad(err, path, "is damaged");
    if (h.version != VERSION)
        return bad(err, path, "was written by another version of the program");
    if (h.size != whole - sizeof h)
        return bad(err, path, h.size > whole - sizeof h ? "was cut short" : "is damaged");
    char *payload = arena_alloc(a, (size_t)h.size + 1, 1, 16);
    if (!payload)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", path);
    if (file_read_at(fd, payload, (size_t)h.size, sizeof h) != (int64_t)h.size)
        return bad(err, path, "cannot be read to its end");
    const struct file_piece piece = {payload, (size_t)h.size};
    expected = header_of(magic, h.key, &piece, 1);
    if (memcmp(&h, &expected, sizeof h) != 0)
        return bad(err, path, "is damaged");
    memcpy(key, h.key, sizeof h.key);
    key[sizeof h.key] = '\0';
    *data = payload;
    *size = (size_t)h.size;
    return STATUS_OK;
}

enum status sealed_read(struct arena *a, const char *path, const char magic[8], char key[33],
                        const void **data, size_t *size, struct error *err)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return errno == ELOOP ? error_msg(err, STATUS_IO, "%s is a link", path)
                              : io_error(err, errno == ENOENT ? STATUS_MISSING : STATUS_IO, "read",
                                         path, errno);
    enum status s = STATUS_OK;
    const char *why = NULL;
    if (fstat(fd, &st) != 0)
        s = io_error(err, STATUS_IO, "look at", path, errno);
    else if (!S_ISREG(st.st_mode))
        why = "is not a file";
    else
        why = owner_problem(&st);
    if (why)
        s = error_msg(err, STATUS_IO, "%s %s", path, why);
    if (s == STATUS_OK && st.st_size < (off_t)sizeof(struct header))
        s = bad(err, path, st.st_size ? "was cut short" : "is empty");
    if (s == STATUS_OK)
        s = whole_read(a, fd, path, (size_t)st.st_size, magic, key, data, size, err);
    close(fd);
    return s;
}

enum status sealed_write(const char *path, const char magic[8], const char key[33],
                         const struct file_piece *pieces, size_t count, bool synced,
                         struct error *err)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return error_msg(err, STATUS_IO, "%s is a link", path);
    const struct header h = header_of(magic, key, pieces, count);
    struct file_piece *all = malloc((count + 1) * sizeof *all);
    if (!all)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", path);
    all[0] = (struct file_piece){&h, sizeof h};
    for (size_t i = 0; i < count; i++)
        all[i + 1] = pieces[i];
    enum status s = file_write_as(path, all, count + 1, 0600, synced, err);
    free(all);
    return s;
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
    const size_t whole = size_of_ours(fd, path);
    struct header h;
    char own[33];
    bool good = whole >= sizeof h && file_read_at(fd, &h, sizeof h, 0) == sizeof h &&
                memcmp(h.key, key, sizeof h.key) == 0 &&
                whole_read(a, fd, path, whole, cache_magic, own, data, size, NULL) == STATUS_OK;
    if (fd >= 0)
        close(fd);
    return good;
}

void cache_write(const char *path, const char key[33], const void *data, size_t size)
{
    const struct file_piece piece = {data, size};
    const struct header h = header_of(cache_magic, key, &piece, 1);
    const struct file_piece all[2] = {{&h, sizeof h}, piece};
    if (file_write_as(path, all, 2, 0600, true, NULL) != STATUS_OK)
        (void)unlink(path); /* not room for this one: what is damaged there goes too */
}

/* ---- one maker at a time --------------------------------------------------------------------- */

/* Longer than a program takes to make, and less than a process that hangs may hold others up. */
static const double LOCK_WAIT_S = 120;

/* A key's place in the folder's one file of locks, of which nothing is ever written. */
static struct flock place_of(const char key[33])
{
    return (struct flock){.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)strtoull(key + 17, NULL, 16), /* 60 of its bits */
                          .l_len = 1};
}

int cache_lock(const char *path, const char key[33])
{
    char locks[4096];
    const int n = snprintf(locks, sizeof locks, "%.*slock", (int)(path_name(path) - path), path);
    if (n < 0 || (size_t)n >= sizeof locks)
        return -1;
    const int fd = open(locks, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    struct flock place = place_of(key);
    const struct timespec nap = {.tv_nsec = 5000000};
    const double end = clock_s() + LOCK_WAIT_S;
    /* of the open file, not of the process: its threads wait for each other too */
    while (fd >= 0 && fcntl(fd, F_OFD_SETLK, &place) != 0) {
        if ((errno != EAGAIN && errno != EACCES) || clock_s() > end || cancel_requested) {
            close(fd);
            return -1;
        }
        nanosleep(&nap, NULL);
    }
    return fd;
}

void cache_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
