/* SPDX-License-Identifier: Apache-2.0 */
#include "scene_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status document_memory(struct document *d)
{
    return error_set(d->err, STATUS_MEMORY, (struct src_pos){.file = d->file},
                     "out of memory while loading the scene");
}

/* What was found, for messages: short values themselves, else their type. */
static const char *found(const struct json *v, char *buf, size_t size)
{
    if (v->type == JSON_NUMBER)
        snprintf(buf, size, "%.9g", v->number);
    else if (v->type == JSON_STRING && strlen(v->string) <= 60)
        snprintf(buf, size, "\"%s\"", v->string);
    else if (v->type == JSON_BOOL)
        snprintf(buf, size, "%s", v->boolean ? "true" : "false");
    else if (v->type == JSON_ARRAY)
        snprintf(buf, size, "an array of %zu", v->count);
    else
        snprintf(buf, size, "%s", json_type_name(v->type));
    return buf;
}

enum status expected(struct document *d, const struct json *v, const char *expected)
{
    char buf[96];
    return json_error(d->err, d->file, v, STATUS_TYPE, "found %s, expected %s",
                      found(v, buf, sizeof buf), expected);
}

/* ---- names that are nearly right ------------------------------------------------------------ */

/* Levenshtein's distance; words longer than the table are far from everything. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t n = strlen(a), m = strlen(b), row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

const char *nearest_name(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(word, names[i]);
        if (distance < least) {
            least = distance;
            best = names[i];
        }
    }
    return best;
}

static size_t names_count(const char *const *names)
{
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

static void names_join(const char *const *names, char *buf, size_t size)
{
    size_t at = 0;
    buf[0] = '\0';
    for (size_t i = 0; names[i] && at < size; i++) {
        int n = snprintf(buf + at, size - at, "%s\"%s\"", i ? ", " : "", names[i]);
        at += n > 0 ? (size_t)n : 0;
    }
}

/* ---- values --------------------------------------------------------------------------------- */

enum status read_object(struct document *d, const struct json *v, const char *const *keys)
{
    if (v->type != JSON_OBJECT)
        return expected(d, v, "an object");
    for (const struct json *m = v->first; m; m = m->next) {
        size_t i = 0;
        while (keys[i] && strcmp(keys[i], m->key) != 0)
            i++;
        if (keys[i])
            continue;
        const char *near = nearest_name(m->key, keys, names_count(keys));
        if (near)
            return json_error(d->err, d->file, m, STATUS_TYPE,
                              "unknown key \"%.60s\"; did you mean \"%s\"?", m->key, near);
        char all[512];
        names_join(keys, all, sizeof all);
        return json_error(d->err, d->file, m, STATUS_TYPE,
                          "unknown key \"%.60s\"; expected one of %s", m->key, all);
    }
    return STATUS_OK;
}

enum status read_required(struct document *d, const struct json *object, const char *key,
                          const char *what, const struct json **out)
{
    const struct json *v = json_get(object, key);
    if (!v)
        return json_error(d->err, d->file, object, STATUS_TYPE, "\"%s\" is missing, expected %s",
                          key, what);
    *out = v;
    return STATUS_OK;
}

static enum status out_of_range(struct document *d, const struct json *v, double lo, double hi)
{
    return json_error(d->err, d->file, v, STATUS_RANGE,
                      "found %.9g, expected a number from %.9g to %.9g", v->number, lo, hi);
}

enum status read_number(struct document *d, const struct json *v, double lo, double hi, double *out)
{
    if (v->type != JSON_NUMBER)
        return expected(d, v, "a number");
    if (!(v->number >= lo && v->number <= hi)) /* not a number fails too */
        return out_of_range(d, v, lo, hi);
    *out = v->number;
    return STATUS_OK;
}

enum status read_integer(struct document *d, const struct json *v, int64_t lo, int64_t hi,
                         int64_t *out)
{
    if (v->type != JSON_NUMBER)
        return expected(d, v, "an integer");
    if (!v->is_integer)
        return json_error(d->err, d->file, v, STATUS_RANGE,
                          "found %.17g, expected an integer from %lld to %lld", v->number,
                          (long long)lo, (long long)hi);
    if (v->integer < lo || v->integer > hi)
        return json_error(d->err, d->file, v, STATUS_RANGE,
                          "found %lld, expected an integer from %lld to %lld",
                          (long long)v->integer, (long long)lo, (long long)hi);
    *out = v->integer;
    return STATUS_OK;
}

enum status read_vector(struct document *d, const struct json *v, size_t n, double lo, double hi,
                        double *out)
{
    if (v->type != JSON_ARRAY || v->count != n) {
        char want[64];
        snprintf(want, sizeof want, "an array of %zu numbers", n);
        return expected(d, v, want);
    }
    double values[16];
    size_t i = 0;
    for (const struct json *e = v->first; e; e = e->next)
        TRY(read_number(d, e, lo, hi, &values[i++]));
    memcpy(out, values, n * sizeof *out);
    return STATUS_OK;
}

enum status read_string(struct document *d, const struct json *v, const char **out)
{
    if (v->type != JSON_STRING)
        return expected(d, v, "a string");
    if (v->string[0] == '\0')
        return expected(d, v, "a string that is not empty");
    *out = v->string;
    return STATUS_OK;
}

enum status read_choice(struct document *d, const struct json *v, const char *const *names,
                        int *out)
{
    char all[400], want[420];
    names_join(names, all, sizeof all);
    snprintf(want, sizeof want, "one of %s", all);
    if (v->type != JSON_STRING)
        return expected(d, v, want);
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], v->string) == 0) {
            *out = i;
            return STATUS_OK;
        }
    const char *near = nearest_name(v->string, names, names_count(names));
    if (near)
        return json_error(d->err, d->file, v, STATUS_TYPE,
                          "found \"%.60s\", expected %s; did you mean \"%s\"?", v->string, want,
                          near);
    return expected(d, v, want);
}

enum status read_rgb(struct document *d, const struct json *v, double lo, double hi, float out[3])
{
    double rgb[3] = {0};
    if (v->type == JSON_NUMBER) {
        TRY(read_number(d, v, lo, hi, &rgb[0]));
        rgb[1] = rgb[2] = rgb[0];
    } else if (v->type == JSON_ARRAY && v->count == 3) {
        TRY(read_vector(d, v, 3, lo, hi, rgb));
    } else {
        return expected(d, v, "a number or [r, g, b]");
    }
    for (int c = 0; c < 3; c++)
        out[c] = (float)rgb[c];
    return STATUS_OK;
}

/* ---- fields --------------------------------------------------------------------------------- */

enum status field_number(struct document *d, const struct json *object, const char *key, double lo,
                         double hi, double *out)
{
    const struct json *v = json_get(object, key);
    return v ? read_number(d, v, lo, hi, out) : STATUS_OK;
}

enum status field_float(struct document *d, const struct json *object, const char *key, double lo,
                        double hi, float *out)
{
    double x = (double)*out;
    TRY(field_number(d, object, key, lo, hi, &x));
    *out = (float)x;
    return STATUS_OK;
}

enum status field_integer(struct document *d, const struct json *object, const char *key,
                          int64_t lo, int64_t hi, int64_t *out)
{
    const struct json *v = json_get(object, key);
    return v ? read_integer(d, v, lo, hi, out) : STATUS_OK;
}

enum status field_vector(struct document *d, const struct json *object, const char *key, size_t n,
                         double lo, double hi, double *out)
{
    const struct json *v = json_get(object, key);
    return v ? read_vector(d, v, n, lo, hi, out) : STATUS_OK;
}

enum status field_choice(struct document *d, const struct json *object, const char *key,
                         const char *const *names, int *out)
{
    const struct json *v = json_get(object, key);
    return v ? read_choice(d, v, names, out) : STATUS_OK;
}

enum status field_rgb(struct document *d, const struct json *object, const char *key, double lo,
                      double hi, float out[3])
{
    const struct json *v = json_get(object, key);
    return v ? read_rgb(d, v, lo, hi, out) : STATUS_OK;
}

enum status field_bool(struct document *d, const struct json *object, const char *key, bool *out)
{
    const struct json *v = json_get(object, key);
    if (v && v->type != JSON_BOOL)
        return expected(d, v, "true or false");
    if (v)
        *out = v->boolean;
    return STATUS_OK;
}

/* ---- files that the document names ---------------------------------------------------------- */

static const char data_prefix[] = "data:";

enum status scene_data_dir(char *buf, size_t size, struct error *err)
{
    const char *dir = getenv("ISOPHOTE_DATA");
    if (!dir || !*dir)
        return cache_dir("data", buf, size, err);
    int n = snprintf(buf, size, "%s", dir);
    if (n < 0 || (size_t)n >= size)
        return error_msg(err, STATUS_LIMIT, "ISOPHOTE_DATA is too long");
    return STATUS_OK;
}

enum status read_path(struct document *d, const struct json *v, const char **out)
{
    const char *name = "";
    TRY(read_string(d, v, &name));
    if (strncmp(name, data_prefix, sizeof data_prefix - 1) == 0) {
        char dir[2048];
        TRY(scene_data_dir(dir, sizeof dir, d->err));
        *out = arena_printf(&d->arena, "%s/%s", dir, name + sizeof data_prefix - 1);
    } else {
        *out = path_beside(&d->arena, d->file, name);
    }
    return *out ? STATUS_OK : document_memory(d);
}

enum status file_failed(struct document *d, const struct json *v, const struct error *why)
{
    if (why->code != STATUS_MISSING)
        return json_error(d->err, d->file, v, why->code, "%s%s%s", why->file,
                          why->file[0] ? ": " : "", why->msg);
    const char *name = v->type == JSON_STRING ? v->string : "";
    if (strncmp(name, data_prefix, sizeof data_prefix - 1) != 0)
        return json_error(d->err, d->file, v, STATUS_IO, "%s", why->msg);
    name += sizeof data_prefix - 1;
    const char *fetch = "scenes/real/fetch";
    (void)data_path(&d->arena, fetch, &fetch, NULL);
    return json_error(d->err, d->file, v, STATUS_MISSING, "%s; get it with: '%s' %.*s", why->msg,
                      fetch, (int)strcspn(name, "/"), name);
}
