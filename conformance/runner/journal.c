/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"
#include "result_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 4, SUM_SIZE = 33 };
/* A line ends with the hash of the one before, and of itself up to here: none can be changed, left out
 * or moved without its sum. Whoever reckons it anew can write any line; so could who makes one up. */
static const char SUM_KEY[] = ",\"sum\":\"", SUM_END[] = "\"}";

struct journal {
    struct arena arena;
    const char *path;
    int fd;
    char sum[SUM_SIZE];            /* of the last line; "" before the first */
    struct journal_entry *entries; /* newest first */
    const struct identity **identities;
    size_t identity_count, identity_cap;
};

/* Of n bytes, behind the line of the sum `before`. */
static void line_sum(const char *before, const char *line, size_t n, char sum[SUM_SIZE])
{
    struct hash *h = hash_open();
    hash_add(h, before, strlen(before));
    hash_add(h, line, n);
    hash_close(h, sum);
}

/* Takes the sum of a line that was read. */
static bool line_fits(struct journal *j, const char *line, size_t n)
{
    const size_t key = sizeof SUM_KEY - 1, end = sizeof SUM_END - 1,
                 tail = key + SUM_SIZE - 1 + end;
    char sum[SUM_SIZE];
    if (n <= tail || memcmp(line + n - tail, SUM_KEY, key) != 0)
        return false;
    line_sum(j->sum, line, n - tail, sum);
    if (!sum[0] || memcmp(line + n - tail + key, sum, SUM_SIZE - 1) != 0)
        return false;
    memcpy(j->sum, sum, sizeof sum);
    return true;
}

/* sync: nothing that is written yet is lost any more. */
static enum status write_line(struct journal *j, struct json_writer *w, bool sync,
                              struct error *err)
{
    char sum[SUM_SIZE] = "";
    enum status s = STATUS_OK;
    if (!w->out.failed) { /* an object: its last brace goes */
        w->out.data[--w->out.len] = '\0';
        line_sum(j->sum, w->out.data, w->out.len, sum);
        text_printf(&w->out, "%s%s%s\n", SUM_KEY, sum, SUM_END);
    }
    if (w->out.failed || !sum[0])
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
    if (s == STATUS_OK)
        memcpy(j->sum, sum, sizeof sum);
    if (s == STATUS_OK && sync && fsync(j->fd) != 0 && errno != EINVAL && errno != EROFS)
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

static enum status read_header(struct journal *j, const struct json *o, struct error *err)
{
    const struct json *version = o->type == JSON_OBJECT ? json_get(o, "journal") : NULL;
    if (!version || !version->is_integer || version->integer != VERSION)
        return json_error(err, j->path, o, STATUS_TYPE,
                          "not a conformance journal of version %d; name another file, or leave "
                          "--resume out to start it anew",
                          VERSION);
    return STATUS_OK;
}

static enum status identity_keep(struct journal *j, const struct identity *id, struct error *err)
{
    if (j->identity_count == j->identity_cap) {
        size_t cap = j->identity_cap ? 2 * j->identity_cap : 64;
        const struct identity **more = ARENA_ARRAY(&j->arena, const struct identity *, cap);
        if (!more)
            return error_msg(err, STATUS_MEMORY, "out of memory for %s", j->path);
        if (j->identity_count)
            memcpy((void *)more, (void *)j->identities, j->identity_count * sizeof *more);
        j->identities = more;
        j->identity_cap = cap;
    }
    j->identities[j->identity_count++] = id;
    return STATUS_OK;
}

static enum status read_identity(struct journal *j, const struct json *o, struct error *err)
{
    const char *key = NULL, *kind = NULL;
    const struct identity *id = NULL;
    const struct json *parts = json_get(o, "parts");
    TRY(string_of(j, o, "identity", &key, err));
    TRY(string_of(j, o, "kind", &kind, err));
    TRY(identity_read(&j->arena, j->path, kind, key, parts ? parts : o, j->identities,
                      j->identity_count, &id, err));
    return identity_keep(j, id, err);
}

static enum status read_entry(struct journal *j, const struct json *o, struct error *err)
{
    if (o->type != JSON_OBJECT)
        return json_error(err, j->path, o, STATUS_TYPE, "expected an object");
    if (json_get(o, "identity"))
        return read_identity(j, o, err);
    struct journal_entry *e = ARENA_NEW(&j->arena, struct journal_entry);
    const char *key = NULL;
    if (!e)
        return error_msg(err, STATUS_MEMORY, "out of memory while reading %s", j->path);
    TRY(string_of(j, o, "case", &e->name, err));
    TRY(string_of(j, o, "device", &e->device, err));
    TRY(string_of(j, o, "key", &key, err));
    TRY(result_read(&j->arena, j->path, o, &e->result, err));
    const struct json *run = json_get(o, "run");
    if (run && (!run->is_integer || run->integer < 1 || run->integer > UINT32_MAX))
        return json_error(err, j->path, run, STATUS_TYPE,
                          "expected the number of a run, from 1 up");
    e->run = run ? (uint32_t)run->integer : 0;
    e->result.identity = identity_find(j->identities, j->identity_count, key);
    if (!e->result.identity)
        return json_error(err, j->path, o, STATUS_TYPE, "no line above has the identity %.40s",
                          key);
    e->next = j->entries;
    j->entries = e;
    return STATUS_OK;
}

/* Lines of data; *kept: bytes up to the end of the last good line. */
static enum status read_lines(struct journal *j, const char *data, size_t size, size_t *kept,
                              struct error *err)
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
        if (s == STATUS_OK && line == 1)
            s = read_header(j, o, &e);
        if (s == STATUS_OK && !line_fits(j, data + at, len))
            s = error_set(&e, STATUS_TYPE, (struct src_pos){j->path, line, 1},
                          "not what was written behind the line before: one of them was changed, "
                          "left out or moved; leave --resume out to start anew");
        if (s == STATUS_OK && line > 1)
            s = read_entry(j, o, &e);
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

static enum status journal_start(struct journal *j, bool resume, struct error *err)
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
            (s = read_lines(j, data, size, &kept, err)) != STATUS_OK)
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
    json_key_integer(&w, "journal", VERSION);
    json_key_string(&w, "started", now);
    json_end_object(&w);
    return write_line(j, &w, true, err);
}

enum status journal_open(const char *path, bool resume, struct journal **out, struct error *err)
{
    struct journal *j = calloc(1, sizeof *j);
    if (!j || !(j->path = arena_strdup(&j->arena, path))) {
        free(j);
        return error_msg(err, STATUS_MEMORY, "out of memory for the journal");
    }
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    enum status s = j->fd < 0 ? error_msg(err, STATUS_IO, "%s: %s", path, strerror(errno))
                              : journal_start(j, resume, err);
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

const struct journal_entry *journal_find(const struct journal *j, const char *name,
                                         const char *device, const struct journal_entry *after)
{
    for (const struct journal_entry *e = after ? after->next : j->entries; e; e = e->next)
        if (strcmp(e->name, name) == 0 && strcmp(e->device, device) == 0)
            return e;
    return NULL;
}

/* Inner ones first. */
static enum status identity_put(struct journal *j, const struct identity *id, struct error *err)
{
    struct arena a = {0}; /* of the parts' text, for a copy that lives as long as the journal */
    const struct json *parts = NULL;
    const struct identity *copy = NULL;
    struct json_writer w = {0};
    if (identity_find(j->identities, j->identity_count, id->key))
        return STATUS_OK;
    for (size_t i = 0; i < id->count; i++)
        if (id->parts[i].of)
            TRY(identity_put(j, id->parts[i].of, err));
    identity_parts_write(&w, id);
    enum status s = w.out.failed
                        ? error_msg(err, STATUS_MEMORY, "out of memory for a line of %s", j->path)
                        : json_parse(&a, j->path, w.out.data, w.out.len, &parts, err);
    text_free(&w.out);
    if (s == STATUS_OK)
        s = identity_read(&j->arena, j->path, id->kind, id->key, parts, j->identities,
                          j->identity_count, &copy, err);
    arena_free(&a);
    if (s == STATUS_OK)
        s = identity_keep(j, copy, err);
    if (s != STATUS_OK)
        return s;
    w = (struct json_writer){0};
    json_begin_object(&w);
    json_key_string(&w, "identity", id->key);
    json_key_string(&w, "kind", id->kind);
    json_key(&w, "parts");
    identity_parts_write(&w, id);
    json_end_object(&w);
    return write_line(j, &w, false, err);
}

enum status journal_add(struct journal *j, const char *name, const char *device, uint32_t run,
                        const struct conform_result *r, struct error *err)
{
    struct json_writer w = {0};
    TRY(identity_put(j, r->identity, err));
    json_begin_object(&w);
    json_key_string(&w, "case", name);
    json_key_string(&w, "device", device);
    json_key_string(&w, "key", r->identity->key);
    if (run)
        json_key_integer(&w, "run", run);
    conform_result_write(&w, r, false);
    result_films_write(&w, r);
    json_end_object(&w);
    return write_line(j, &w, true, err);
}
