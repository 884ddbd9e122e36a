/* SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUM_SIZE = 33 };
static const char SUM_KEY[] = ",\"sum\":\"", SUM_END[] = "\"}";

struct json_lines {
    struct arena arena;
    const char *path;
    int fd;
    char sum[SUM_SIZE]; /* of the last line; "" before the first */
    off_t end;          /* of the last line, where the file is a regular one */
};

/* Of n bytes, behind the line of the sum `before`. */
static void line_sum(const char *before, const char *line, size_t n, char sum[SUM_SIZE])
{
    struct hash *h = hash_open();
    hash_add(h, before, strlen(before));
    hash_add(h, line, n);
    hash_close(h, sum);
}

/* The line's bytes before its sum; all of them where it has none. */
static size_t unsummed(const char *line, size_t n)
{
    const size_t key = sizeof SUM_KEY - 1, end = sizeof SUM_END - 1,
                 tail = key + SUM_SIZE - 1 + end;
    return n > tail && memcmp(line + n - tail, SUM_KEY, key) == 0 ? n - tail : n;
}

/* Takes the sum of a line that was read. */
static bool line_fits(struct json_lines *j, const char *line, size_t n)
{
    const size_t own = unsummed(line, n);
    char sum[SUM_SIZE];
    line_sum(j->sum, line, own, sum);
    if (own == n || !sum[0] || memcmp(line + own + sizeof SUM_KEY - 1, sum, SUM_SIZE - 1) != 0)
        return false;
    memcpy(j->sum, sum, sizeof sum);
    return true;
}

static enum status changed(const struct json_lines *j, struct error *err)
{
    return error_set(err, STATUS_TYPE, (struct src_pos){j->path, 1, 1},
                     "not what was written behind the line before: one of them was changed, left "
                     "out or moved; leave --resume out to start anew");
}

/* Told first, the first line may say that the file is of another kind. */
static enum status line_take(struct json_lines *j, struct json_line l, size_t n,
                             enum status (*line)(void *, const struct json_line *, struct error *),
                             void *ctx, struct error *err)
{
    if (l.number > 1 && !line_fits(j, l.text, n))
        return changed(j, err);
    TRY(line(ctx, &l, err));
    return l.number > 1 || line_fits(j, l.text, n) ? STATUS_OK : changed(j, err);
}

/* *kept: bytes up to the end of the last good line. */
static enum status lines_read(struct json_lines *j, const char *data, size_t size,
                              enum status (*line)(void *, const struct json_line *, struct error *),
                              void *ctx, size_t *kept, struct error *err)
{
    size_t at = 0;
    for (uint32_t number = 1; at < size; number++) {
        const char *end = memchr(data + at, '\n', size - at);
        if (!end) /* torn: the newline is written last */
            break;
        const size_t n = (size_t)(end - (data + at));
        struct json_line l = {.number = number, .text = data + at, .size = unsummed(data + at, n)};
        struct error e = {0};
        enum status s = json_parse(&j->arena, j->path, data + at, n, &l.value, &e);
        if (s == STATUS_PARSE && number > 1 && at + n + 1 == size)
            break; /* torn with blocks out of order: a full line of which a part is missing */
        if (s == STATUS_OK)
            s = line_take(j, l, n, line, ctx, &e);
        if (s != STATUS_OK) {
            e.line = number;
            if (err)
                *err = e;
            return s;
        }
        at += n + 1;
    }
    *kept = at;
    return STATUS_OK;
}

static enum status lines_begin(struct json_lines *j, bool resume,
                               enum status (*line)(void *, const struct json_line *,
                                                   struct error *),
                               void *ctx, struct error *err)
{
    size_t kept = 0;
    struct stat st;
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return error_msg(err, STATUS_LIMIT, "%s: another run is writing this journal", j->path);
    if (resume && fstat(j->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        char *data;
        size_t size;
        TRY(file_read(&j->arena, j->path, 0, &data, &size, err));
        TRY(lines_read(j, data, size, line, ctx, &kept, err));
    }
    if (ftruncate(j->fd, (off_t)kept) != 0 && errno != EINVAL) /* a pipe cannot be cut */
        return error_msg(err, STATUS_IO, "%s: %s", j->path, strerror(errno));
    j->end = (off_t)kept;
    return STATUS_OK;
}

enum status json_lines_open(const char *path, bool resume,
                            enum status (*line)(void *, const struct json_line *, struct error *),
                            void *ctx, struct json_lines **out, struct error *err)
{
    struct json_lines *j = calloc(1, sizeof *j);
    if (!j || !(j->path = arena_strdup(&j->arena, path))) {
        free(j);
        return error_msg(err, STATUS_MEMORY, "out of memory for the journal");
    }
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    enum status s = j->fd < 0 ? error_msg(err, STATUS_IO, "%s: %s", path, strerror(errno))
                              : lines_begin(j, resume, line, ctx, err);
    if (s != STATUS_OK) {
        json_lines_close(j);
        return s;
    }
    *out = j;
    return STATUS_OK;
}

void json_lines_close(struct json_lines *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    arena_free(&j->arena);
    free(j);
}

bool json_lines_none(const struct json_lines *j) { return !j->sum[0]; }

/* What there is of a line that did not fit goes: the next one stands where it would have. */
static enum status line_write(struct json_lines *j, const char *text, size_t size,
                              struct error *err)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(j->fd, text + done, size - done);
        if (n < 0 && errno != EINTR) {
            const int why = errno;
            struct stat st;
            if (fstat(j->fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(j->fd, j->end) != 0)
                j->end = st.st_size; /* it stays: reading finds it */
            return error_msg(err, STATUS_IO, "%s: %s", j->path, strerror(why));
        }
        done += n > 0 ? (size_t)n : 0;
    }
    j->end += (off_t)size;
    return STATUS_OK;
}

enum status json_lines_add(struct json_lines *j, struct json_writer *w, bool synced,
                           struct error *err)
{
    char sum[SUM_SIZE] = "";
    enum status s = STATUS_OK;
    if (!w->out.failed && w->out.len) { /* the last brace goes */
        w->out.data[--w->out.len] = '\0';
        line_sum(j->sum, w->out.data, w->out.len, sum);
        text_printf(&w->out, "%s%s%s\n", SUM_KEY, sum, SUM_END);
    }
    if (w->out.failed || !sum[0])
        s = error_msg(err, STATUS_MEMORY, "out of memory for a line of %s", j->path);
    if (s == STATUS_OK)
        s = line_write(j, w->out.data, w->out.len, err);
    if (s == STATUS_OK)
        memcpy(j->sum, sum, sizeof sum);
    /* what is no file (a pipe, /dev/null) cannot be synced, and needs not */
    if (s == STATUS_OK && synced && fsync(j->fd) != 0 && errno != EINVAL && errno != EROFS)
        s = error_msg(err, STATUS_IO, "%s: %s", j->path, strerror(errno));
    text_free(&w->out);
    return s;
}
