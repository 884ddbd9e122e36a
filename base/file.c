#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* "cannot <what> <path>: <reason of errno e>" */
static enum status io_error(struct error *err, enum status code, const char *what, const char *path,
                            int e)
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

static bool write_full(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size < (1u << 30) ? size : 1u << 30);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* Pipes and /proc files have no size beforehand: read until they end. */
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

enum status file_read(struct arena *a, const char *path, size_t max_bytes, char **data,
                      size_t *size, struct error *err)
{
    if (max_bytes == 0)
        max_bytes = (size_t)4 << 30;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io_error(err, errno == ENOENT || errno == ENOTDIR ? STATUS_MISSING : STATUS_IO,
                        "open", path, errno);
    enum status s = STATUS_OK;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        s = io_error(err, STATUS_IO, "read", path, errno);
    } else if (S_ISDIR(st.st_mode)) {
        s = io_error(err, STATUS_IO, "read", path, EISDIR);
    } else if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        s = read_stream(fd, a, path, max_bytes, data, size, err);
    } else if ((uintmax_t)st.st_size > max_bytes) {
        s = too_large(err, path, max_bytes);
    } else {
        size_t want = (size_t)st.st_size;
        char *p = arena_alloc(a, want + 1, 1, 1);
        ssize_t n = p ? read_regular(fd, p, want) : 0;
        if (!p) {
            s = error_msg(err, STATUS_MEMORY, "out of memory reading %s (%zu bytes)", path, want);
        } else if (n < 0) {
            s = io_error(err, STATUS_IO, "read", path, errno);
        } else {
            p[n] = '\0';
            *data = p;
            *size = (size_t)n;
        }
    }
    close(fd);
    return s;
}

/* What `path` names in the end: a symbolic link is followed, so that renaming replaces the file and
 * not the link. True when something that is no regular file stands there (a device, a pipe). */
static bool resolve(const char *path, char out[PATH_MAX])
{
    struct stat st;
    if (!realpath(path, out))
        snprintf(out, PATH_MAX, "%s", path);
    return stat(out, &st) == 0 && !S_ISREG(st.st_mode);
}

enum status file_temp_name(const char *path, char *tmp, size_t tmp_size, struct error *err)
{
    static atomic_uint serial;
    char target[PATH_MAX];
    bool special = resolve(path, target);
    struct stat st;
    if (special && stat(target, &st) == 0 && S_ISDIR(st.st_mode))
        return io_error(err, STATUS_IO, "write", path, EISDIR);

    /* A device takes bytes but not a rename: its temporary file stands elsewhere and is copied. */
    const char *base = path_name(target);
    const char *folder = getenv("TMPDIR");
    int folder_len;
    if (special) {
        folder = folder && folder[0] ? folder : "/tmp";
        folder_len = (int)strlen(folder);
    } else {
        folder = base > target ? target : ".";
        folder_len = base > target ? (int)(base - target) - 1 : 1;
    }
    if (base[0] == '\0')
        return io_error(err, STATUS_IO, "write", path, path[0] ? EISDIR : ENOENT);

    /* The end of the name is kept: writers may look at the suffix. */
    size_t len = strlen(base), keep = 200;
    const char *tail = len > keep ? base + (len - keep) : base;
    for (int attempt = 0; attempt < 100; attempt++) {
        int n = snprintf(tmp, tmp_size, "%.*s/.isophote-%ld-%u-%s", folder_len, folder,
                         (long)getpid(), atomic_fetch_add(&serial, 1), tail);
        if (n < 0 || (size_t)n >= tmp_size)
            return error_msg(err, STATUS_LIMIT, "the path %.80s... is too long", path);
        int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            close(fd);
            return STATUS_OK;
        }
        if (errno != EEXIST)
            break;
    }
    int e = errno;
    tmp[0] = '\0';
    return io_error(err, e == ENOENT ? STATUS_MISSING : STATUS_IO, "write", path, e);
}

static enum status copy_to_special(const char *tmp, const char *target, struct error *err)
{
    static const size_t chunk = 1 << 16;
    int in = open(tmp, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(target, O_WRONLY | O_CLOEXEC);
    char *buf = malloc(chunk);
    enum status s = STATUS_OK;
    if (!buf) {
        s = error_msg(err, STATUS_MEMORY, "out of memory writing %s", target);
    } else if (out < 0) {
        s = io_error(err, STATUS_IO, "write", target, errno);
    } else {
        ssize_t n;
        while ((n = read_full(in, buf, chunk)) > 0 && write_full(out, buf, (size_t)n)) {
        }
        if (n != 0)
            s = io_error(err, STATUS_IO, "write", target, errno);
    }
    free(buf);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && s == STATUS_OK)
        s = io_error(err, STATUS_IO, "write", target, errno);
    unlink(tmp);
    return s;
}

enum status file_commit(const char *tmp, const char *path, struct error *err)
{
    char target[PATH_MAX];
    if (resolve(path, target))
        return copy_to_special(tmp, target, err);
    int e = 0, fd = open(tmp, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL) || rename(tmp, target) != 0)
        e = errno;
    if (fd >= 0)
        close(fd);
    if (e) {
        unlink(tmp);
        return io_error(err, STATUS_IO, "write", path, e);
    }
    return STATUS_OK;
}

void file_discard(const char *tmp)
{
    if (tmp[0])
        unlink(tmp);
}

enum status file_write(const char *path, const void *data, size_t size, struct error *err)
{
    char tmp[PATH_MAX];
    enum status s = file_temp_name(path, tmp, sizeof tmp, err);
    if (s != STATUS_OK)
        return s;
    int fd = open(tmp, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_full(fd, data, size);
    int e = ok ? 0 : errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        e = errno;
    }
    if (!ok) {
        file_discard(tmp);
        return io_error(err, STATUS_IO, "write", path, e);
    }
    return file_commit(tmp, path, err);
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
    enum status s = dir_make(path, err);
    if (s == STATUS_OK)
        memcpy(buf, path, (size_t)n + 1);
    return s;
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
    struct stat st;
    snprintf(root, sizeof root, "/tmp/isophote-%lu", (unsigned long)getuid());
    enum status s = dir_make_mode(root, 0700, err);
    if (s != STATUS_OK)
        return s;
    /* /tmp is everybody's: what another user placed there must not feed our cache. */
    if (lstat(root, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != getuid())
        return error_msg(err, STATUS_IO, "%s belongs to somebody else; set ISOPHOTE_CACHE", root);
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
