/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines out of a store and into one. docs/reference/store.md is the format's text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

static const char header_type[] = "isophote-store";

/* Room for any one record. */
union any_record {
    struct run_record run;
    struct identity_record identity;
    struct device_record device;
    struct case_record case_;
    struct bench_record bench;
    struct image_record image;
    struct film_record film;
    struct number_format_record number_format;
};

/* ---- export --------------------------------------------------------------------------------- */

static enum status field_write(struct arena *scratch, struct json_writer *w, const struct field *f,
                               const char *value, struct error *err)
{
    const char *text;
    double number;
    uint32_t word;
    bool flag;
    int choice;
    json_key(w, f->name);
    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_KEY:
        memcpy(&text, value, sizeof text);
        json_string(w, text);
        break;
    case FIELD_JSON: {
        memcpy(&text, value, sizeof text);
        const struct json *root;
        if (!text) {
            json_null(w);
            break;
        }
        enum status st = json_parse(scratch, f->name, text, strlen(text), &root, err);
        if (st)
            return st;
        json_copy(w, root);
        break;
    }
    case FIELD_VERDICT:
    case FIELD_IMAGE:
        memcpy(&choice, value, sizeof choice);
        json_string(w, f->type == FIELD_VERDICT ? verdict_name((enum verdict)choice)
                                                : image_kind_name((enum image_kind)choice));
        break;
    case FIELD_U32:
        memcpy(&word, value, sizeof word);
        json_integer(w, word);
        break;
    case FIELD_REAL:
        memcpy(&number, value, sizeof number);
        json_number(w, number);
        break;
    case FIELD_BOOL:
        memcpy(&flag, value, sizeof flag);
        json_bool(w, flag);
        break;
    case FIELD_BYTES: {
        const void *data;
        size_t size;
        memcpy(&data, value, sizeof data);
        memcpy(&size, value + sizeof data, sizeof size);
        struct text t = {0};
        base64_write(&t, data, size);
        if (t.failed)
            w->out.failed = true;
        else
            json_string(w, t.data ? t.data : "");
        text_free(&t);
        break;
    }
    }
    return STATUS_OK;
}

static enum status line_put(struct json_writer *w, FILE *out, struct error *err)
{
    text_puts(&w->out, "\n");
    enum status st = STATUS_OK;
    if (w->out.failed)
        st = error_msg(err, STATUS_MEMORY, "out of memory for a line of the export");
    else if (fwrite(w->out.data, 1, w->out.len, out) != w->out.len)
        st = error_msg(err, STATUS_IO, "writing the export: %s", strerror(errno));
    text_free(&w->out);
    return st;
}

static enum status record_write(FILE *out, enum record_kind kind, int64_t run, const char *record,
                                struct error *err)
{
    const struct record_layout *l = &record_layouts[kind];
    struct arena scratch = {0};
    struct json_writer w = {0};
    enum status st = STATUS_OK;
    json_begin_object(&w);
    json_key_string(&w, "type", l->name);
    json_key_integer(&w, "run", run);
    for (size_t i = 0; i < l->count && !st; i++)
        st = field_write(&scratch, &w, &l->fields[i], record + l->fields[i].offset, err);
    if (!st) {
        json_end_object(&w);
        st = line_put(&w, out, err);
    }
    text_free(&w.out);
    arena_free(&scratch);
    return st;
}

struct export_rows {
    char *rows;
    int64_t *runs;
    size_t count, next;
};

/* Run by run: the run's line, then what has it in the order of record_kind. */
static enum status runs_write(FILE *out, struct export_rows rows[RECORD_COUNT], struct error *err)
{
    for (size_t r = 0; r < rows[RECORD_RUN].count; r++) {
        int64_t number = (int64_t)r + 1, id = rows[RECORD_RUN].runs[r];
        enum status st =
            record_write(out, RECORD_RUN, number,
                         rows[RECORD_RUN].rows + r * record_layouts[RECORD_RUN].size, err);
        for (int k = RECORD_RUN + 1; k < RECORD_COUNT && !st; k++)
            for (size_t i = 0; i < rows[k].count && !st; i++)
                if (rows[k].runs[i] == id)
                    st = record_write(out, (enum record_kind)k, number,
                                      rows[k].rows + i * record_layouts[k].size, err);
        if (st)
            return st;
    }
    return STATUS_OK;
}

enum status store_export(struct store *s, FILE *out, struct error *err)
{
    return store_export_run(s, 0, out, err);
}

enum status store_export_run(struct store *s, int64_t run, FILE *out, struct error *err)
{
    struct arena a = {0};
    struct export_rows rows[RECORD_COUNT] = {0};
    enum status st = store_begin_read(s, err);
    if (st)
        return st;
    for (int k = 0; k < RECORD_COUNT && !st; k++) {
        void *data = NULL;
        st = store_read(s, &a, (enum record_kind)k, run, &data, &rows[k].runs, &rows[k].count, err);
        rows[k].rows = data;
    }
    store_rollback(s);
    if (!st) {
        struct json_writer w = {0};
        json_begin_object(&w);
        json_key_string(&w, "type", header_type);
        json_key_integer(&w, "schema", STORE_SCHEMA_VERSION);
        int64_t records = 0; /* by which import notices that some are missing */
        for (int k = 0; k < RECORD_COUNT; k++)
            records += (int64_t)rows[k].count;
        json_key_integer(&w, "records", records);
        json_end_object(&w);
        st = line_put(&w, out, err);
    }
    if (!st)
        st = runs_write(out, rows, err);
    if (!st && fflush(out) != 0)
        st = error_msg(err, STATUS_IO, "writing the export: %s", strerror(errno));
    arena_free(&a);
    return st;
}

static void pair_json(struct json_writer *w, const char *key, const uint32_t v[2])
{
    json_key(w, key);
    json_begin_array(w);
    json_integer(w, v[0]);
    json_integer(w, v[1]);
    json_end_array(w);
}

static void nested_json(struct json_writer *w, const char *key, const char *text)
{
    struct arena a = {0};
    const struct json *root;
    json_key(w, key);
    if (text && json_parse(&a, key, text, strlen(text), &root, NULL) == STATUS_OK)
        json_copy(w, root);
    else
        json_null(w);
    arena_free(&a);
}

void bench_record_json(struct json_writer *w, const struct bench_record *b)
{
    bool pass = b->verdict == VERDICT_PASS;
    json_begin_object(w);
    json_key_string(w, "scene", b->scene);
    json_key_string(w, "device", b->device);
    json_key_string(w, "mode", b->mode);
    json_key_string(w, "bvh", b->bvh);
    json_key_string(w, "model", b->model);
    json_key_integer(w, "width", b->width);
    json_key_integer(w, "height", b->height);
    json_key_integer(w, "spp", b->spp);
    json_key_integer(w, "max_depth", b->max_depth);
    pair_json(w, "work_group", b->work_group);
    pair_json(w, "tile", b->tile);
    json_key_integer(w, "batch", b->batch);
    json_key_string(w, "verdict", verdict_name(b->verdict));
    json_key_string(w, "reason", b->reason);
    json_key(w, "samples_per_s");
    if (pass)
        json_number(w, b->samples_per_s);
    else
        json_null(w);
    json_key(w, "interval");
    if (pass) {
        json_begin_array(w);
        json_number(w, b->interval[0]);
        json_number(w, b->interval[1]);
        json_end_array(w);
    } else {
        json_null(w);
    }
    json_key_number(w, "noise", b->noise);
    json_key_integer(w, "repetitions", b->repetitions);
    json_key_string(w, "notes", b->notes);
    nested_json(w, "phases", b->phases);
    nested_json(w, "detail", b->detail);
    json_key_string(w, "command", b->command);
    json_key_string(w, "identity", b->identity);
    json_end_object(w);
}

void number_format_record_json(struct json_writer *w, const struct number_format_record *r)
{
    json_begin_object(w);
    json_key_string(w, "scene", r->scene);
    json_key_string(w, "format", r->format);
    json_key_string(w, "how", r->how);
    json_key_integer(w, "bits", r->bits);
    json_key_integer(w, "width", r->width);
    json_key_integer(w, "height", r->height);
    json_key_integer(w, "spp", r->spp);
    json_key_integer(w, "max_depth", r->max_depth);
    json_key_string(w, "reason", r->reason);
    if (!r->reason) {
        json_key(w, "mean");
        json_begin_array(w);
        for (int c = 0; c < 3; c++)
            json_number(w, r->mean[c]);
        json_end_array(w);
        json_key_number(w, "double_g", r->double_green);
        json_key_number(w, "rmse", r->rmse);
        json_key_number(w, "relmse", r->relmse);
        json_key_number(w, "us_per_sample", r->us_per_sample);
        json_key_number(w, "times_double", r->times_double);
    }
    json_key_string(w, "command", r->command);
    json_end_object(w);
}

/* ---- import --------------------------------------------------------------------------------- */

struct import {
    struct store *store;
    const char *path;
    uint32_t line;
    bool header;
    int64_t expected, records; /* how many the first line announces (-1: it does not), and came */
    int64_t *runs;             /* id in the store of the file's run i + 1 */
    size_t run_count, run_cap;
    union any_record record;
};

static enum status json_field_parse(const struct import *im, struct arena *a, const struct json *v,
                                    char *value, struct error *err)
{
    struct json_writer w = {0};
    struct json top = *v;
    top.key = NULL;
    json_copy(&w, &top);
    const char *copy = w.out.failed ? NULL : arena_strdup(a, w.out.data);
    text_free(&w.out);
    if (!copy)
        return json_error(err, im->path, v, STATUS_LIMIT, "too deep or too large");
    memcpy(value, &copy, sizeof copy);
    return STATUS_OK;
}

/* v: NULL for null, which is 0. */
static enum status word_parse(const struct import *im, const struct json *v, char *value,
                              struct error *err)
{
    uint32_t word = 0;
    if (v &&
        (v->type != JSON_NUMBER || !v->is_integer || v->integer < 0 || v->integer > UINT32_MAX))
        return json_error(err, im->path, v, STATUS_TYPE,
                          "expected an integer from 0 to 4294967295");
    if (v)
        word = (uint32_t)v->integer;
    memcpy(value, &word, sizeof word);
    return STATUS_OK;
}

static enum status field_parse(struct import *im, struct arena *a, const struct field *f,
                               const struct json *v, char *value, struct error *err)
{
    bool string = v && v->type == JSON_STRING;
    bool null = !v || v->type == JSON_NULL;
    switch (f->type) {
    case FIELD_TEXT:
        if (!null && !string)
            return json_error(err, im->path, v, STATUS_TYPE, "expected a string or null");
        if (string)
            memcpy(value, &v->string, sizeof v->string);
        return STATUS_OK;
    case FIELD_KEY:
        if (string)
            memcpy(value, &v->string, sizeof v->string);
        else if (v)
            return json_error(err, im->path, v, STATUS_TYPE, "expected a string, found %s",
                              json_type_name(v->type));
        return STATUS_OK; /* an absent one: record_check names it */
    case FIELD_JSON:
        return null ? STATUS_OK : json_field_parse(im, a, v, value, err);
    case FIELD_VERDICT: {
        enum verdict x;
        if (!string || !verdict_parse(v->string, &x))
            return json_error(err, im->path, v, STATUS_TYPE,
                              "expected \"PASS\", \"FAIL\", \"SKIP\" or \"ERROR\"");
        memcpy(value, &x, sizeof x);
        return STATUS_OK;
    }
    case FIELD_IMAGE: {
        enum image_kind x;
        if (!string || !image_kind_parse(v->string, &x))
            return json_error(err, im->path, v, STATUS_TYPE,
                              "expected \"picture\", \"reference\", \"difference\" or "
                              "\"significance\"");
        memcpy(value, &x, sizeof x);
        return STATUS_OK;
    }
    case FIELD_U32:
        return word_parse(im, null ? NULL : v, value, err);
    case FIELD_REAL:
        if (!null && v->type != JSON_NUMBER)
            return json_error(err, im->path, v, STATUS_TYPE, "expected a number");
        if (!null)
            memcpy(value, &v->number, sizeof v->number);
        return STATUS_OK;
    case FIELD_BOOL:
        if (!null && v->type != JSON_BOOL)
            return json_error(err, im->path, v, STATUS_TYPE, "expected true or false");
        if (!null)
            memcpy(value, &v->boolean, sizeof v->boolean);
        return STATUS_OK;
    case FIELD_BYTES: {
        size_t size;
        void *data = string ? base64_read(a, v->string, false, &size) : NULL;
        if (!data)
            return json_error(err, im->path, v, STATUS_TYPE, "expected base64 text");
        memcpy(value, &data, sizeof data);
        memcpy(value + sizeof data, &size, sizeof size);
        return STATUS_OK;
    }
    }
    return STATUS_OK;
}

static const struct field *field_find(const struct record_layout *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->fields[i].name, name) == 0)
            return &l->fields[i];
    return NULL;
}

static enum status record_import(struct import *im, struct arena *a, enum record_kind kind,
                                 const struct json *v, int64_t run, struct error *err)
{
    const struct record_layout *l = &record_layouts[kind];
    memset(&im->record, 0, sizeof im->record);
    for (const struct json *c = v->first; c; c = c->next)
        if (strcmp(c->key, "type") != 0 && strcmp(c->key, "run") != 0 && !field_find(l, c->key))
            return json_error(err, im->path, c, STATUS_TYPE, "a %s record has no such key",
                              l->name);
    for (size_t i = 0; i < l->count; i++) {
        const struct field *f = &l->fields[i];
        const struct json *c = json_get(v, f->name);
        if (!c && (f->type == FIELD_VERDICT || f->type == FIELD_IMAGE || f->type == FIELD_BYTES))
            return json_error(err, im->path, v, STATUS_TYPE, "a %s record needs the key \"%s\"",
                              l->name, f->name);
        enum status st = field_parse(im, a, f, c, (char *)&im->record + f->offset, err);
        if (st)
            return st;
    }
    struct error inner = {0};
    int64_t id = 0;
    enum status st = store_insert(im->store, kind, run, &im->record, &id, &inner);
    if (st == STATUS_ARG)
        return json_error(err, im->path, v, STATUS_TYPE, "%s", inner.msg);
    if (st && err)
        *err = inner;
    if (!st && kind == RECORD_RUN)
        im->runs[im->run_count++] = id;
    return st;
}

static enum status runs_grow(struct import *im, struct error *err)
{
    if (im->run_count < im->run_cap)
        return STATUS_OK;
    size_t cap = im->run_cap ? 2 * im->run_cap : 64;
    int64_t *runs = realloc(im->runs, cap * sizeof *runs);
    if (!runs)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    im->runs = runs;
    im->run_cap = cap;
    return STATUS_OK;
}

static enum status header_import(struct import *im, const struct json *v, struct error *err)
{
    const struct json *schema = json_get(v, "schema");
    if (!schema || !schema->is_integer || schema->integer < 1)
        return json_error(err, im->path, schema ? schema : v, STATUS_TYPE,
                          "expected the key \"schema\" with a version from 1");
    if (schema->integer > STORE_SCHEMA_VERSION)
        return json_error(err, im->path, schema, STATUS_UNSUPPORTED,
                          "schema version %lld, this program knows versions up to %d",
                          (long long)schema->integer, STORE_SCHEMA_VERSION);
    const struct json *records = json_get(v, "records");
    if (records && (!records->is_integer || records->integer < 0))
        return json_error(err, im->path, records, STATUS_TYPE, "expected a count of records");
    im->expected = records ? records->integer : -1;
    im->header = true;
    return STATUS_OK;
}

static enum status line_import(struct import *im, struct arena *a, const struct json *v,
                               struct error *err)
{
    if (v->type != JSON_OBJECT)
        return json_error(err, im->path, v, STATUS_TYPE, "expected an object, found %s",
                          json_type_name(v->type));
    const struct json *type = json_get(v, "type"), *run = json_get(v, "run");
    if (!type || type->type != JSON_STRING)
        return json_error(err, im->path, type ? type : v, STATUS_TYPE,
                          "expected the key \"type\" with a string");
    if (!im->header) {
        if (strcmp(type->string, header_type) != 0)
            return json_error(err, im->path, type, STATUS_TYPE, "expected \"%s\" in the first line",
                              header_type);
        return header_import(im, v, err);
    }
    im->records++;
    int kind = 0;
    while (kind < RECORD_COUNT && strcmp(type->string, record_layouts[kind].name) != 0)
        kind++;
    if (kind == RECORD_COUNT)
        return json_error(err, im->path, type, STATUS_TYPE,
                          "expected \"run\", \"identity\", \"device\", \"case\", \"bench\", "
                          "\"image\" or \"film\"");
    if (!run || run->type != JSON_NUMBER || !run->is_integer)
        return json_error(err, im->path, run ? run : v, STATUS_TYPE,
                          "expected the key \"run\" with an integer");
    if (kind == RECORD_RUN) {
        if (run->integer != (int64_t)im->run_count + 1)
            return json_error(err, im->path, run, STATUS_TYPE, "expected run %zu, found %lld",
                              im->run_count + 1, (long long)run->integer);
        enum status st = runs_grow(im, err);
        return st ? st : record_import(im, a, RECORD_RUN, v, 0, err);
    }
    if (run->integer < 1 || run->integer > (int64_t)im->run_count)
        return json_error(err, im->path, run, STATUS_TYPE, "there is no run %lld above this line",
                          (long long)run->integer);
    return record_import(im, a, (enum record_kind)kind, v, im->runs[run->integer - 1], err);
}

static enum status lines_import(struct import *im, const char *data, size_t size, struct error *err)
{
    struct arena a = {0};
    enum status st = STATUS_OK;
    for (size_t at = 0; at < size && !st;) {
        const char *end = memchr(data + at, '\n', size - at);
        size_t n = end ? (size_t)(end - (data + at)) : size - at;
        im->line++;
        if (n > 0 && !(n == 1 && data[at] == '\r')) {
            const struct json *v;
            struct error inner = {0};
            st = json_parse(&a, im->path, data + at, n, &v, &inner);
            if (!st)
                st = line_import(im, &a, v, &inner);
            if (st && err) {
                *err = inner;
                if (inner.line) /* lines count in the file, not in the record */
                    err->line = im->line + inner.line - 1;
            }
            arena_free(&a);
        }
        at += n + 1;
        if (!st && cancel_requested)
            st = error_msg(err, STATUS_CANCELLED, "%s: import stopped", im->path);
    }
    arena_free(&a);
    if (!st && !im->header) {
        struct src_pos pos = {.file = im->path, .line = 1, .col = 1};
        st = error_set(err, STATUS_PARSE, pos, "expected a line with type \"%s\", found nothing",
                       header_type);
    }
    if (!st && im->expected >= 0 && im->records != im->expected) {
        struct src_pos pos = {.file = im->path, .line = im->line, .col = 1};
        st = error_set(err, STATUS_PARSE, pos,
                       "the file ends after %lld records, its first line says %lld: it was cut "
                       "short, or put together by hand",
                       (long long)im->records, (long long)im->expected);
    }
    return st;
}

enum status store_import(struct store *s, const char *path, const char *data, size_t size,
                         struct error *err)
{
    struct import im = {.store = s, .path = path};
    enum status st = store_begin(s, err);
    if (st)
        return st;
    st = lines_import(&im, data, size, err);
    free(im.runs);
    if (!st)
        return store_commit(s, err);
    store_rollback(s);
    return st;
}
