/* SPDX-License-Identifier: Apache-2.0 */
#include "mutants_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct mutants_journal {
    struct arena arena;
    const char *path;
    int fd;
};

static enum status line_write(struct mutants_journal *j, const char *text, size_t size,
                              struct error *err)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(j->fd, text + done, size - done);
        if (n < 0 && errno != EINTR)
            return error_msg(err, STATUS_IO, "%s: %s", j->path, strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    return STATUS_OK;
}

/* *kept: bytes up to the end of the last good line. */
static enum status lines_read(struct mutants_journal *j, const char *data, size_t size,
                              const char *head,
                              enum status (*line)(void *, const struct json *, struct error *),
                              void *ctx, size_t *kept, struct error *err)
{
    size_t at = 0;
    for (uint32_t number = 1; at < size; number++) {
        const char *end = memchr(data + at, '\n', size - at);
        const struct json *fact = NULL;
        struct error e = {0};
        if (!end) /* torn: the end of the line is written last */
            break;
        const size_t length = (size_t)(end - (data + at));
        enum status st = json_parse(&j->arena, j->path, data + at, length, &fact, &e);
        if (st == STATUS_PARSE && number > 1 && at + length + 1 == size)
            break; /* torn with blocks out of order */
        if (st == STATUS_OK && number == 1 &&
            (length != strlen(head) || memcmp(data + at, head, length) != 0))
            st = error_set(&e, STATUS_TYPE, (struct src_pos){j->path, 1, 1},
                           "the journal of another run of mutants: program, text, seed, number or "
                           "list differ; leave --resume out to begin it anew");
        else if (st == STATUS_OK && number > 1)
            st = line(ctx, fact, &e);
        if (st != STATUS_OK) {
            e.line = number;
            if (err)
                *err = e;
            return st;
        }
        at += length + 1;
    }
    *kept = at;
    return STATUS_OK;
}

static enum status journal_begin(struct mutants_journal *j, bool resume, const char *head,
                                 enum status (*line)(void *, const struct json *, struct error *),
                                 void *ctx, struct error *err)
{
    struct stat st;
    size_t kept = 0;
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return error_msg(err, STATUS_LIMIT, "%s: another run is writing this journal", j->path);
    if (resume && fstat(j->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        char *data;
        size_t size;
        TRY(file_read(&j->arena, j->path, 0, &data, &size, err));
        TRY(lines_read(j, data, size, head, line, ctx, &kept, err));
    }
    if (ftruncate(j->fd, (off_t)kept) != 0 && errno != EINVAL)
        return error_msg(err, STATUS_IO, "%s: %s", j->path, strerror(errno));
    if (kept)
        return STATUS_OK;
    const char *first = arena_printf(&j->arena, "%s\n", head);
    return first ? line_write(j, first, strlen(first), err)
                 : error_msg(err, STATUS_MEMORY, "out of memory for %s", j->path);
}

enum status mutants_journal_open(const char *path, bool resume, const char *head,
                                 enum status (*line)(void *, const struct json *, struct error *),
                                 void *ctx, struct mutants_journal **out, struct error *err)
{
    struct mutants_journal *j = calloc(1, sizeof *j);
    if (!j || !(j->path = arena_strdup(&j->arena, path))) {
        free(j);
        return error_msg(err, STATUS_MEMORY, "out of memory for the journal");
    }
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    enum status st = j->fd < 0 ? error_msg(err, STATUS_IO, "%s: %s", path, strerror(errno))
                               : journal_begin(j, resume, head, line, ctx, err);
    if (st != STATUS_OK) {
        mutants_journal_close(j);
        return st;
    }
    *out = j;
    return STATUS_OK;
}

enum status mutants_journal_add(struct mutants_journal *j, struct json_writer *w, struct error *err)
{
    enum status st = STATUS_OK;
    text_puts(&w->out, "\n");
    if (w->out.failed)
        st = error_msg(err, STATUS_MEMORY, "out of memory for a line of the journal");
    else if (j)
        st = line_write(j, w->out.data, w->out.len, err);
    text_free(&w->out);
    return st;
}

void mutants_journal_close(struct mutants_journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    arena_free(&j->arena);
    free(j);
}
