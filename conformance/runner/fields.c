/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <string.h>

static enum status field_take(const char *path, const struct json *m, const struct field *f,
                              struct error *err)
{
    if (f->count) {
        if (m->type != JSON_NUMBER || !m->is_integer || m->integer < 0)
            return json_error(err, path, m, STATUS_TYPE, "expected a whole number from 0 up");
        *f->count = m->integer;
        return STATUS_OK;
    }
    if (m->type != JSON_STRING || !m->string[0])
        return json_error(err, path, m, STATUS_TYPE,
                          "expected a string that is not empty, found %s", json_type_name(m->type));
    *f->text = m->string;
    return STATUS_OK;
}

static void keys_list(const struct field *fields, size_t n, char *out, size_t size)
{
    out[0] = 0;
    for (size_t i = 0, at = 0; i < n && at < size; i++) {
        const char *before = i == 0 ? "" : i + 1 < n ? ", " : " or ";
        at += (size_t)snprintf(out + at, size - at, "%s%s", before, fields[i].key);
    }
}

enum status fields_read(const char *path, const struct json *v, const char *what,
                        const struct field *fields, size_t n, struct error *err)
{
    if (v->type != JSON_OBJECT)
        return json_error(err, path, v, STATUS_TYPE, "expected an object, found %s",
                          json_type_name(v->type));
    for (const struct json *m = v->first; m; m = m->next) {
        size_t i = 0;
        while (i < n && strcmp(fields[i].key, m->key) != 0)
            i++;
        if (i == n) {
            char keys[200];
            keys_list(fields, n, keys, sizeof keys);
            return json_error(err, path, m, STATUS_TYPE, "unknown key; expected %s", keys);
        }
        enum status s = field_take(path, m, &fields[i], err);
        if (s != STATUS_OK)
            return s;
    }
    for (size_t i = 0; i < n; i++)
        if (fields[i].required && !json_get(v, fields[i].key))
            return json_error(err, path, v, STATUS_TYPE, "%s needs \"%s\"", what, fields[i].key);
    return STATUS_OK;
}

enum status fields_list(struct arena *a, const char *path, const char *key, const struct json **out,
                        struct error *err)
{
    char *data;
    size_t size;
    const struct json *root;
    enum status s = file_read(a, path, (size_t)16 << 20, &data, &size, err);
    if (s != STATUS_OK || (s = json_parse(a, path, data, size, &root, err)) != STATUS_OK)
        return s;
    const struct json *list = root->type == JSON_OBJECT ? json_get(root, key) : NULL;
    if (!list || list->type != JSON_ARRAY || root->count != 1)
        return json_error(err, path, root, STATUS_TYPE,
                          "expected an object with one key, \"%s\", holding an array", key);
    *out = list;
    return STATUS_OK;
}
