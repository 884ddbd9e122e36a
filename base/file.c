/* SPDX-License-Identifier: Apache-2.0 */
#include "base.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum status io_error(struct error *err, enum status code, const char *what, const char *path, int e)
{
    char why[128];
    if (strerror_r(e, why, sizeof why) != 0)
        snprintf(why, sizeof why, "error %d", e);
    error_msg(err, code, "cannot %s %s: %s", what, path, why);
    if (err)
        err->native = e;
    return code;
}

static enum status too_large(struct error *err, const char *path, size_t max_bytes)
{
    return error_msg(err, STATUS_LIMIT, "%s is larger than the limit of %zu bytes", path,
                     max_bytes);
}

/* Reads up to size bytes from `offset` on, or where the file stands if that is negative; -1 on
 * error, less than size only at the end of the file. */
static ssize_t read_from(int fd, char *to, size_t size, off_t offset)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = offset < 0 ? read(fd, to + got, size - got)
                               : pread(fd, to + got, size - got, offset + (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

static ssize_t read_full(int fd, char *buf, size_t size) { return read_from(fd, buf, size, -1); }

int64_t file_read_at(int fd, void *to, size_t size, size_t offset)
{
    return read_from(fd, to, size, (off_t)offset);
}

/* A large file is read in pieces by all threads: its memory is new, and one thread would spend more
 * on clearing it than on the file. */
struct pieces {
    int fd;
    char *to;
    size_t size;
    atomic_size_t end; /* where the file turned out to end, at most size */
    atomic_int failed; /* errno of a piece that could not be read */
};
enum { PIECE = 4 << 20, PIECES_WORTH = 8 };

static void read_piece(void *ctx, size_t i, unsigned thread)
{
    (void)thread;
    struct pieces *p = ctx;
    size_t at = i * PIECE, stop = p->size - at < PIECE ? p->size : at + PIECE;
    int64_t n = file_read_at(p->fd, p->to + at, stop - at, at);
    if (n < 0)
        atomic_store(&p->failed, errno);
    at += n < 0 ? 0 : (size_t)n;
    size_t end = atomic_load(&p->end);
    while (at < stop && at < end && !atomic_compare_exchange_weak(&p->end, &end, at))
        ;
}

/* Reads a regular file from its start, as file_read_at. */
static ssize_t read_regular(int fd, char *buf, size_t size)
{
    if (size < (size_t)PIECE * PIECES_WORTH)
        return (ssize_t)file_read_at(fd, buf, size, 0);
    struct pieces p = {.fd = fd, .to = buf, .size = size};
    atomic_init(&p.end, size);
    parallel_for((size - 1) / PIECE + 1, 0, read_piece, &p);
    errno = atomic_load(&p.failed);
    return errno ? -1 : (ssize_t)atomic_load(&p.end);
}

/* Files of /proc have no size beforehand: read until they end. */
static enum status read_stream(int fd, struct arena *a, const char *path, size_t max_bytes,
                               char **data, size_t *size, struct error *err)
{
    char buf[1 << 14];
    struct text t = {0};
    enum status s = STATUS_OK;
    for (;;) {
        ssize_t n = read_full(fd, buf, sizeof buf);
        if (n < 0) {
            s = io_error(err, STATUS_IO, "read", path, errno);
            break;
        }
        if ((size_t)n > max_bytes - t.len) {
            s = too_large(err, path, max_bytes);
            break;
        }
        text_append(&t, buf, (size_t)n);
        if (n < (ssize_t)sizeof buf || t.failed)
            break;
    }
    char *p = s == STATUS_OK && !t.failed ? arena_alloc(a, t.len + 1, 1, 1) : NULL;
    if (p) {
        if (t.len)
            memcpy(p, t.data, t.len);
        *data = p;
        *size = t.len;
    } else if (s == STATUS_OK) {
        s = error_msg(err, STATUS_MEMORY, "out of memory reading %s", path);
    }
    text_free(&t);
    return s;
}

enum status input_open(const char *path, int *fd, struct error *err)
{
    struct stat st;
    /* not blocking: a pipe that nobody writes would wait for ever */
    int opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (opened < 0)
        return io_error(err, errno == ENOENT || errno == ENOTDIR ? STATUS_MISSING : STATUS_IO,
                        "open", path, errno);
    int e = fstat(opened, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    if (!e && S_ISREG(st.st_mode)) {
        *fd = opened;
        return STATUS_OK;
    }
    close(opened);
    if (e)
        return io_error(err, STATUS_IO, "read", path, e);
    return error_msg(err, STATUS_IO, "cannot read %s: it is a %s, expected a file", path,
                     S_ISFIFO(st.st_mode) ? "pipe" : "device");
}

enum status file_read(struct arena *a, const char *path, size_t max_bytes, char **data,
                      size_t *size, struct error *err)
{
    if (max_bytes == 0)
        max_bytes = (size_t)4 << 30;
    int fd = -1;
    TRY(input_open(path, &fd, err));
    enum status s = STATUS_OK;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        s = io_error(err, STATUS_IO, "read", path, errno);
    } else if (st.st_size == 0) {
        s = read_stream(fd, a, path, max_bytes, data, size, err);
    } else if ((uintmax_t)st.st_size > max_bytes) {
        s = too_large(err, path, max_bytes);
    } else {
        size_t want = (size_t)st.st_size;
        s = memory_plan(want, err, "%s", path);
        char *p = s == STATUS_OK ? arena_alloc(a, want + 1, 1, 1) : NULL;
        ssize_t n = p ? read_regular(fd, p, want) : 0;
        if (!p && s == STATUS_OK) {
            s = error_msg(err, STATUS_MEMORY, "out of memory reading %s (%zu bytes)", path, want);
        } else if (n < 0) {
            s = io_error(err, STATUS_IO, "read", path, errno);
        } else if (p) {
            p[n] = '\0';
            *data = p;
            *size = (size_t)n;
        }
    }
    close(fd);
    return s;
}

static enum status dir_make_mode(const char *path, mode_t mode, struct error *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof part)
        return io_error(err, STATUS_IO, "make the folder", path, len ? ENAMETOOLONG : ENOENT);
    memcpy(part, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        part[i] = '\0';
        int e = mkdir(part, i == len ? mode : 0777) == 0 ? 0 : errno;
        struct stat st;
        /* A read-only file system answers EROFS for a folder that is there. */
        if (e && stat(part, &st) == 0)
            e = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
        if (e)
            return io_error(err, STATUS_IO, "make the folder", part, e);
        if (i < len)
            part[i] = '/';
    }
    return STATUS_OK;
}

enum status dir_make(const char *path, struct error *err) { return dir_make_mode(path, 0777, err); }

static enum status join_and_make(const char *root, const char *inner, const char *sub, char *buf,
                                 size_t size, struct error *err)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%s%s%s", root, inner, sub[0] ? "/" : "", sub);
    if (n < 0 || (size_t)n >= sizeof path || (size_t)n >= size)
        return error_msg(err, STATUS_LIMIT, "the path of the cache folder is too long");
    TRY(dir_make_mode(path, 0700, err));
    TRY(cache_folder_check(path, err));
    memcpy(buf, path, (size_t)n + 1);
    temporary_sweep(path, NULL);
    return STATUS_OK;
}

enum status cache_dir(const char *sub, char *buf, size_t size, struct error *err)
{
    const char *own = getenv("ISOPHOTE_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (own && own[0])
        return join_and_make(own, "", sub, buf, size, err);
    if (xdg && xdg[0] == '/') /* the XDG specification: a relative path is to be ignored */
        return join_and_make(xdg, "/isophote", sub, buf, size, err);
    /* A service account's HOME may be a folder that nobody can make. */
    if (home && home[0] &&
        join_and_make(home, "/.cache/isophote", sub, buf, size, NULL) == STATUS_OK)
        return STATUS_OK;

    char root[64];
    snprintf(root, sizeof root, "/tmp/isophote-%lu", (unsigned long)getuid());
    /* /tmp is everybody's: what another user placed there must not feed our cache. */
    struct stat st;
    TRY(dir_make_mode(root, 0700, err));
    if (lstat(root, &st) != 0 || !S_ISDIR(st.st_mode))
        return error_msg(err, STATUS_IO, "%s is no folder; set ISOPHOTE_CACHE", root);
    TRY(cache_folder_check(root, err));
    return join_and_make(root, "", sub, buf, size, err);
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_ending(const char *path)
{
    const char *name = path_name(path), *dot = strrchr(name, '.');
    return dot && dot != name ? dot : name + strlen(name);
}

bool path_ends(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcasecmp(path + n - m, ending) == 0;
}

char *path_stem(struct arena *a, const char *path)
{
    const char *name = path_name(path);
    return arena_strndup(a, name, (size_t)(path_ending(name) - name));
}

char *path_folder(struct arena *a, const char *path)
{
    size_t n = (size_t)(path_name(path) - path);
    return n == 0 ? arena_strdup(a, ".") : arena_strndup(a, path, n > 1 ? n - 1 : n);
}

char *path_beside(struct arena *a, const char *path, const char *rel)
{
    int n = rel[0] == '/' ? 0 : (int)(path_name(path) - path);
    return arena_printf(a, "%.*s%s", n, path, rel);
}
