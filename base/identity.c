/* SPDX-License-Identifier: Apache-2.0 */
/* What determines a result, as named parts, and the key made of them. */
#include "base.h"

#include <string.h>

struct identity *identity_new(struct arena *a, const char *kind)
{
    struct identity *id = ARENA_NEW(a, struct identity);
    if (id)
        *id = (struct identity){.arena = a, .kind = kind};
    return id;
}

static void add(struct identity *id, const char *name, const char *value, const struct identity *of)
{
    struct arena *a = id ? id->arena : NULL;
    if (id && !name)
        id->failed = true;
    if (!id || id->failed)
        return;
    if (id->count == id->cap) {
        size_t cap = id->cap ? 2 * id->cap : 8;
        struct identity_part *more = ARENA_ARRAY(a, struct identity_part, cap);
        if (more && id->count)
            memcpy(more, id->parts, id->count * sizeof *more);
        id->failed = !more;
        if (!more)
            return;
        id->parts = more;
        id->cap = cap;
    }
    struct identity_part p = {arena_strdup(a, name), arena_strdup(a, value), of};
    id->failed = !p.name || !p.value;
    if (!id->failed)
        id->parts[id->count++] = p;
}

void identity_add(struct identity *id, const char *name, const char *value)
{
    if (value && value[0])
        add(id, name, value, NULL);
}

void identity_add_of(struct identity *id, const struct identity *of)
{
    if (of)
        add(id, of->kind, of->key, of);
    else if (id)
        id->failed = true;
}

static void key_make(const struct identity *id, char key[33])
{
    struct hash *h = hash_open();
    hash_add(h, id->kind, strlen(id->kind) + 1);
    for (size_t i = 0; i < id->count; i++) {
        hash_add(h, id->parts[i].name, strlen(id->parts[i].name) + 1);
        hash_add(h, id->parts[i].value, strlen(id->parts[i].value) + 1);
    }
    hash_close(h, key);
}

const struct identity *identity_close(struct identity *id, struct error *err)
{
    if (id && !id->failed)
        key_make(id, id->key);
    if (id && id->key[0])
        return id;
    error_msg(err, STATUS_MEMORY, "out of memory for an identity");
    return NULL;
}

void identity_parts_write(struct json_writer *w, const struct identity *id)
{
    json_begin_object(w);
    for (size_t i = 0; i < id->count; i++)
        json_key_string(w, id->parts[i].name, id->parts[i].value);
    json_end_object(w);
}

void identity_write(struct json_writer *w, const struct identity *id)
{
    json_begin_object(w);
    json_key_string(w, "key", id->key);
    for (size_t i = 0; i < id->count; i++) {
        if (!id->parts[i].of) {
            json_key_string(w, id->parts[i].name, id->parts[i].value);
            continue;
        }
        json_key(w, id->parts[i].name);
        identity_write(w, id->parts[i].of);
    }
    json_end_object(w);
}

const char *identity_text(struct arena *a, const struct identity *id)
{
    struct json_writer w = {0};
    identity_write(&w, id);
    const char *text = w.out.failed ? NULL : arena_strdup(a, w.out.data);
    text_free(&w.out);
    return text;
}

const struct identity *identity_find(const struct identity *const *known, size_t count,
                                     const char *key)
{
    for (size_t i = count; key && i-- > 0;)
        if (strcmp(known[i]->key, key) == 0)
            return known[i];
    return NULL;
}

enum status identity_read(struct arena *a, const char *file, const char *kind, const char *key,
                          const struct json *parts, const struct identity *const *known,
                          size_t known_count, const struct identity **out, struct error *err)
{
    const char *own = arena_strdup(a, kind);
    struct identity *id = own ? identity_new(a, own) : NULL;
    if (!id)
        return error_msg(err, STATUS_MEMORY, "out of memory for an identity");
    if (parts->type != JSON_OBJECT)
        return json_error(err, file, parts, STATUS_TYPE, "expected the parts of an identity");
    for (const struct json *p = parts->first; p; p = p->next) {
        if (p->type != JSON_STRING)
            return json_error(err, file, p, STATUS_TYPE, "expected a string");
        const struct identity *of = identity_find(known, known_count, p->string);
        add(id, p->key, p->string, of && strcmp(of->kind, p->key) == 0 ? of : NULL);
    }
    const struct identity *closed = identity_close(id, err);
    if (!closed)
        return STATUS_MEMORY;
    if (strcmp(closed->key, key) != 0)
        return json_error(err, file, parts, STATUS_TYPE,
                          "the key %.40s is not that of these parts, which is %s", key,
                          closed->key);
    *out = closed;
    return STATUS_OK;
}

enum status identity_back(struct arena *a, const char *file, const char *kind,
                          const struct json *nested, const struct identity **out, struct error *err)
{
    const char *own = arena_strdup(a, kind);
    struct identity *id = own ? identity_new(a, own) : NULL;
    const struct json *key = nested->type == JSON_OBJECT ? nested->first : NULL;
    if (!id)
        return error_msg(err, STATUS_MEMORY, "out of memory for an identity");
    if (!key || strcmp(key->key, "key") != 0 || key->type != JSON_STRING)
        return json_error(err, file, nested, STATUS_TYPE, "expected an identity with its key");
    for (const struct json *p = key->next; p; p = p->next) {
        const struct identity *of = NULL;
        if (p->type == JSON_STRING)
            identity_add(id, p->key, p->string);
        else
            TRY(identity_back(a, file, p->key, p, &of, err));
        if (of)
            identity_add_of(id, of);
    }
    const struct identity *closed = identity_close(id, err);
    if (!closed)
        return STATUS_MEMORY;
    if (strcmp(closed->key, key->string) != 0)
        return json_error(err, file, nested, STATUS_TYPE,
                          "the key %.40s is not that of these parts, which is %s", key->string,
                          closed->key);
    *out = closed;
    return STATUS_OK;
}

/* ---- differences ---------------------------------------------------------------------------- */

static const struct identity_part *part_named(const struct identity *id, const char *name)
{
    for (size_t i = 0; id && i < id->count; i++)
        if (strcmp(id->parts[i].name, name) == 0)
            return &id->parts[i];
    return NULL;
}

/* Hashes by their first digits, and text up to a line's worth. */
static int shown(const char *value)
{
    size_t n = strlen(value);
    return n == 32 && value[strspn(value, "0123456789abcdef")] == '\0' ? 8 : n > 100 ? 100 : (int)n;
}

static void difference_put(struct text *t, size_t *found, const char *prefix, const char *name,
                           const char *old_value, const char *new_value)
{
    enum { MOST = 3 };
    if (++*found > MOST)
        return;
    if (t->len)
        text_puts(t, "; ");
    text_printf(t, "%s%s was ", prefix, name);
    if (old_value)
        text_printf(t, "%.*s", shown(old_value), old_value);
    else
        text_puts(t, "not there");
    text_puts(t, ", is ");
    if (new_value)
        text_printf(t, "%.*s", shown(new_value), new_value);
    else
        text_puts(t, "not there");
}

static void differences(struct text *t, size_t *found, const char *prefix,
                        const struct identity *before, const struct identity *after)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct identity_part *p = &before->parts[i], *q = part_named(after, p->name);
        if (q && strcmp(p->value, q->value) == 0)
            continue;
        if (q && p->of && q->of) {
            char inner[128];
            snprintf(inner, sizeof inner, "%s%s ", prefix, p->name);
            differences(t, found, inner, p->of, q->of);
        } else {
            difference_put(t, found, prefix, p->name, p->value, q ? q->value : NULL);
        }
    }
    for (size_t i = 0; i < after->count; i++)
        if (!part_named(before, after->parts[i].name))
            difference_put(t, found, prefix, after->parts[i].name, NULL, after->parts[i].value);
}

void identity_difference(const struct identity *before, const struct identity *after,
                         struct text *out)
{
    size_t found = 0;
    struct text t = {0};
    differences(&t, &found, "", before, after);
    if (found > 3)
        text_printf(&t, "; and %zu more", found - 3);
    if (t.failed)
        out->failed = true;
    else
        text_puts(out, t.len ? t.data : "nothing differs");
    text_free(&t);
}
