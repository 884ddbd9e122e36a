/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a result depends on: told as they are read, with the hash of the very bytes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "base.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_int watch = -1;

void inputs_watch(int fd) { atomic_store(&watch, fd); }

/* One write a line: lines of several threads and processes stay whole. */
static void tell(const char *path, const char *hash)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_string(&w, "input", path);
    json_key_string(&w, "hash", hash);
    json_end_object(&w);
    text_puts(&w.out, "\n");
    if (!w.out.failed) /* if that fails, whoever listened is gone */
        write_full(atomic_load(&watch), w.out.data, w.out.len);
    text_free(&w.out);
}

enum status input_file_read(struct arena *a, const char *path, size_t max_bytes, char **data,
                            size_t *size, struct error *err)
{
    enum status s = file_read(a, path, max_bytes, data, size, err);
    if (atomic_load(&watch) < 0)
        return s;
    char hex[33] = "";
    if (s == STATUS_OK)
        hash_bytes(*data, *size, hex);
    if (s == STATUS_OK || s == STATUS_MISSING || s == STATUS_IO)
        tell(path, hex);
    return s;
}

bool input_file_there(const char *path)
{
    bool there = access(path, F_OK) == 0;
    if (!there && atomic_load(&watch) >= 0)
        tell(path, "");
    return there;
}

/* "" for a file that cannot be read. */
static void hash_open_file(int fd, char hex[33])
{
    enum { BLOCK = 1 << 20 };
    char *block = malloc(BLOCK);
    struct hash *h = block ? hash_open() : NULL;
    int64_t n = -1;
    for (size_t at = 0; h && (n = file_read_at(fd, block, BLOCK, at)) > 0; at += (size_t)n)
        hash_add(h, block, (size_t)n);
    if (h)
        hash_close(h, hex);
    if (!h || n < 0)
        hex[0] = '\0';
    free(block);
}

void input_file_note(const char *path, int fd)
{
    char hex[33] = "";
    if (atomic_load(&watch) < 0)
        return;
    hash_open_file(fd, hex);
    tell(path, hex);
}

void input_file_hash(const char *path, char hex[33])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has no writer to wait for */
    hex[0] = '\0';
    if (fd < 0)
        return;
    hash_open_file(fd, hex);
    close(fd);
}

int inputs_open(void)
{
    int fd = memfd_create("isophote-inputs", MFD_CLOEXEC);
    if (fd >= 0 && fcntl(fd, F_SETFL, O_APPEND) != 0) {
        close(fd);
        fd = -1;
    }
    inputs_watch(fd);
    return fd;
}

const char *inputs_told(struct arena *a, int fd)
{
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    char *data = arena_alloc(a, size < 0 ? 1 : (size_t)size + 1, 1, 1);
    return data && size > 0 && file_read_at(fd, data, (size_t)size, 0) != size ? NULL : data;
}

void inputs_close(int fd)
{
    inputs_watch(-1);
    if (fd >= 0)
        close(fd);
}

static int by_path(const void *a, const void *b)
{
    const struct input_file *x = a, *y = b;
    int c = strcmp(x->path, y->path);
    return c ? c : strcmp(x->hash, y->hash);
}

enum status inputs_list(struct arena *a, const char *lines, size_t size, struct input_file **out,
                        size_t *count, struct error *err)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < size; i++)
        n += lines[i] == '\n';
    struct input_file *list = ARENA_ARRAY(a, struct input_file, n);
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu inputs", n);
    n = 0;
    for (const char *at = lines, *stop = lines + size, *end;
         at < stop && (end = memchr(at, '\n', (size_t)(stop - at))); at = end + 1) {
        const struct json *o;
        TRY(json_parse(a, "inputs", at, (size_t)(end - at), &o, err));
        const struct json *path = o->type == JSON_OBJECT ? json_get(o, "input") : NULL,
                          *hash = path ? json_get(o, "hash") : NULL;
        if (!hash || path->type != JSON_STRING || hash->type != JSON_STRING ||
            strlen(hash->string) >= sizeof list->hash)
            return json_error(err, "inputs", o, STATUS_TYPE, "expected an input and its hash");
        list[n].path = path->string;
        memcpy(list[n++].hash, hash->string, strlen(hash->string) + 1);
    }
    if (n)
        qsort(list, n, sizeof *list, by_path);
    for (size_t i = 0; i < n; i++) {
        if (kept && strcmp(list[kept - 1].path, list[i].path) == 0) {
            if (strcmp(list[kept - 1].hash, list[i].hash) != 0) /* nothing is ever equal to it */
                snprintf(list[kept - 1].hash, sizeof list->hash, "changed while it was read");
            continue;
        }
        list[kept++] = list[i];
    }
    *out = list;
    *count = kept;
    return STATUS_OK;
}
