/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"
#include "result_text.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 4 };

struct journal {
    struct arena arena;
    const char *path;
    struct json_lines *lines;
    struct journal_entry *entries; /* newest first */
    const struct identity **identities;
    size_t identity_count, identity_cap;
};

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

static enum status read_line(void *ctx, const struct json_line *l, struct error *err)
{
    return l->number == 1 ? read_header(ctx, l->value, err) : read_entry(ctx, l->value, err);
}

static enum status write_header(struct journal *j, struct error *err)
{
    char now[32];
    clock_utc(now);
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_integer(&w, "journal", VERSION);
    json_key_string(&w, "started", now);
    json_end_object(&w);
    return json_lines_add(j->lines, &w, true, err);
}

enum status journal_open(const char *path, bool resume, struct journal **out, struct error *err)
{
    struct journal *j = calloc(1, sizeof *j);
    if (!j || !(j->path = arena_strdup(&j->arena, path))) {
        free(j);
        return error_msg(err, STATUS_MEMORY, "out of memory for the journal");
    }
    enum status s = json_lines_open(path, resume, read_line, j, &j->lines, err);
    if (s == STATUS_OK && json_lines_none(j->lines))
        s = write_header(j, err);
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
    json_lines_close(j->lines);
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
    return json_lines_add(j->lines, &w, false, err);
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
    return json_lines_add(j->lines, &w, true, err);
}
