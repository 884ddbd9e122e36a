#include "journal.h"
#include "result_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    const char *name, *device, *scene_hash;
    struct conform_result result;
    struct entry *next;
};

struct journal {
    struct arena arena;
    const char *path;
    int fd;
    struct entry *entries; /* newest first */
};

static enum status write_line(struct journal *j, struct json_writer *w, struct error *err)
{
    text_puts(&w->out, "\n");
    enum status s = STATUS_OK;
    if (w->out.failed)
        s = error_msg(err, STATUS_MEMORY, "out of memory for a line of %s", j->path);
    for (size_t done = 0; s == STATUS_OK && done < w->out.len;) {
        ssize_t n = write(j->fd, w->out.data + done, w->out.len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            s = error_msg(err, STATUS_IO, "%s: %s", j->path, strerror(errno));
        else
            done += (size_t)n;
    }
    /* a journal on a pipe or /dev/null cannot be synced, and needs not */
    if (s == STATUS_OK && fsync(j->fd) != 0 && errno != EINVAL && errno != EROFS)
        s = error_msg(err, STATUS_IO, "%s: %s", j->path, strerror(errno));
    text_free(&w->out);
    return s;
}

static enum status string_of(struct journal *j, const struct json *o, const char *key,
                             const char **out, struct error *err)
{
    const struct json *v = json_get(o, key);
    if (!v || v->type != JSON_STRING)
        return json_error(err, j->path, v ? v : o, STATUS_TYPE,
                          "expected a line of a conformance journal with a string \"%s\"", key);
    *out = v->string;
    return STATUS_OK;
}

static enum status read_header(struct journal *j, const struct json *o, const char *program,
                               struct error *err)
{
    const char *written_by = "";
    const struct json *version = o->type == JSON_OBJECT ? json_get(o, "journal") : NULL;
    if (!version || !version->is_integer || version->integer != 1)
        return json_error(err, j->path, o, STATUS_TYPE,
                          "not a conformance journal of version 1; name another file, or leave "
                          "--resume out to start it anew");
    enum status s = string_of(j, o, "program", &written_by, err);
    if (s == STATUS_OK && strcmp(written_by, program) != 0)
        s = json_error(err, j->path, o, STATUS_TYPE,
                       "written by another build of the program (%s, this is %s); its verdicts "
                       "cannot be taken over: leave --resume out to start anew",
                       written_by, program);
    return s;
}

static enum status read_entry(struct journal *j, const struct json *o, struct error *err)
{
    struct entry *e = ARENA_NEW(&j->arena, struct entry);
    if (!e)
        return error_msg(err, STATUS_MEMORY, "out of memory while reading %s", j->path);
    enum status s;
    if (o->type != JSON_OBJECT)
        return json_error(err, j->path, o, STATUS_TYPE, "expected an object");
    if ((s = string_of(j, o, "case", &e->name, err)) != STATUS_OK ||
        (s = string_of(j, o, "device", &e->device, err)) != STATUS_OK ||
        (s = string_of(j, o, "scene_hash", &e->scene_hash, err)) != STATUS_OK ||
        (s = result_read(&j->arena, j->path, o, &e->result, err)) != STATUS_OK)
        return s;
    e->next = j->entries;
    j->entries = e;
    return STATUS_OK;
}

/* Lines of data; *kept: bytes up to the end of the last good line. */
static enum status read_lines(struct journal *j, const char *data, size_t size, const char *program,
                              size_t *kept, struct error *err)
{
    size_t at = 0;
    for (uint32_t line = 1; at < size; line++) {
        const char *end = memchr(data + at, '\n', size - at);
        if (!end) /* torn: the newline is written last */
            break;
        size_t len = (size_t)(end - (data + at));
        const struct json *o;
        struct error e = {0};
        enum status s = json_parse(&j->arena, j->path, data + at, len, &o, &e);
        if (s == STATUS_OK)
            s = line == 1 ? read_header(j, o, program, &e) : read_entry(j, o, &e);
        if (s == STATUS_PARSE && at + len + 1 == size)
            break; /* torn with blocks out of order: a full line of which a part is missing */
        if (s != STATUS_OK) {
            e.line = line;
            if (err)
                *err = e;
            return s;
        }
        at += len + 1;
    }
    *kept = at;
    return STATUS_OK;
}

static enum status journal_start(struct journal *j, const char *program, bool resume,
                                 struct error *err)
{
    size_t kept = 0;
    enum status s;
    struct stat st;
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return error_msg(err, STATUS_LIMIT, "%s: another conformance run is writing this journal",
                         j->path);
    if (resume && fstat(j->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        char *data;
        size_t size;
        if ((s = file_read(&j->arena, j->path, 0, &data, &size, err)) != STATUS_OK ||
            (s = read_lines(j, data, size, program, &kept, err)) != STATUS_OK)
            return s;
    }
    if (ftruncate(j->fd, (off_t)kept) != 0 && errno != EINVAL)
        return error_msg(err, STATUS_IO, "%s: %s", j->path, strerror(errno));
    if (kept)
        return STATUS_OK;
    char now[32];
    clock_utc(now);
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_integer(&w, "journal", 1);
    json_key_string(&w, "program", program);
    json_key_string(&w, "started", now);
    json_end_object(&w);
    return write_line(j, &w, err);
}

enum status journal_open(const char *path, const char *program, bool resume, struct journal **out,
                         struct error *err)
{
    struct journal *j = calloc(1, sizeof *j);
    if (!j || !(j->path = arena_strdup(&j->arena, path))) {
        free(j);
        return error_msg(err, STATUS_MEMORY, "out of memory for the journal");
    }
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    enum status s = j->fd < 0 ? error_msg(err, STATUS_IO, "%s: %s", path, strerror(errno))
                              : journal_start(j, program, resume, err);
    if (s != STATUS_OK) {
        journal_close(j);
        return s;
    }
    *out = j;
    return STATUS_OK;
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    arena_free(&j->arena);
    free(j);
}

const struct conform_result *journal_find(const struct journal *j, const char *name,
                                          const char *device, const char *scene_hash)
{
    for (const struct entry *e = j->entries; e; e = e->next)
        if (strcmp(e->name, name) == 0 && strcmp(e->device, device) == 0 &&
            strcmp(e->scene_hash, scene_hash) == 0)
            return &e->result;
    return NULL;
}

enum status journal_add(struct journal *j, const char *name, const char *device,
                        const char *scene_hash, const struct conform_result *r, struct error *err)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_string(&w, "case", name);
    json_key_string(&w, "device", device);
    json_key_string(&w, "scene_hash", scene_hash);
    conform_result_write(&w, r, false);
    json_end_object(&w);
    return write_line(j, &w, err);
}
