/* SPDX-License-Identifier: Apache-2.0 */
#include "scene_tree.h"

#include <string.h>

static struct scene_node *from_json(struct arena *a, const struct json *v)
{
    struct scene_node *n = ARENA_NEW(a, struct scene_node), **at;
    if (!n)
        return NULL;
    *n = (struct scene_node){.type = v->type,
                             .key = v->key ? arena_strdup(a, v->key) : NULL,
                             .string = v->string ? arena_strdup(a, v->string) : NULL,
                             .number = v->number,
                             .boolean = v->boolean};
    at = &n->first;
    for (const struct json *c = v->first; c; c = c->next) {
        if (!(*at = from_json(a, c)))
            return NULL;
        at = &(*at)->next;
    }
    return (v->key && !n->key) || (v->string && !n->string) ? NULL : n;
}

enum status scene_tree_read(struct arena *a, const char *data, size_t size, struct scene_node **out,
                            struct error *err)
{
    const struct json *root;
    TRY(json_parse(a, "scene", data, size, &root, err));
    struct scene_node *n = from_json(a, root);
    if (!n)
        return error_msg(err, STATUS_MEMORY, "out of memory for a scene's text");
    *out = n;
    return STATUS_OK;
}

struct scene_node *scene_tree_copy(struct arena *a, const struct scene_node *n)
{
    struct scene_node *copy = ARENA_NEW(a, struct scene_node), **at;
    if (!copy)
        return NULL;
    *copy = *n;
    copy->first = copy->next = NULL;
    at = &copy->first;
    for (const struct scene_node *c = n->first; c; c = c->next) {
        if (!(*at = scene_tree_copy(a, c)))
            return NULL;
        at = &(*at)->next;
    }
    return copy;
}

/* Does it stand on one line? Entries of the upper levels do. */
static bool is_flat(const struct scene_node *n, unsigned depth)
{
    return depth >= 2 || !n->first || (n->type == JSON_ARRAY && n->first->type == JSON_NUMBER) ||
           (depth == 1 && n->type == JSON_OBJECT && n->first->type != JSON_OBJECT &&
            n->first->type != JSON_ARRAY);
}

static void put_value(const struct scene_node *n, struct text *out)
{
    struct json_writer w = {0};
    if (n->type == JSON_NUMBER)
        json_number(&w, n->number);
    else if (n->type == JSON_STRING)
        json_string(&w, n->string);
    else
        text_puts(&w.out, n->type == JSON_NULL ? "null" : n->boolean ? "true" : "false");
    out->failed = out->failed || w.out.failed;
    if (w.out.data)
        text_append(out, w.out.data, w.out.len);
    text_free(&w.out);
}

static void put_key(const char *key, struct text *out)
{
    struct json_writer w = {0};
    json_string(&w, key);
    out->failed = out->failed || w.out.failed;
    text_printf(out, "%s: ", w.out.data ? w.out.data : "\"\"");
    text_free(&w.out);
}

static void put_node(const struct scene_node *n, struct text *out, unsigned depth)
{
    if (n->key)
        put_key(n->key, out);
    if (n->type != JSON_ARRAY && n->type != JSON_OBJECT) {
        put_value(n, out);
        return;
    }
    const bool array = n->type == JSON_ARRAY, flat = is_flat(n, depth);
    text_puts(out, array ? "[" : "{");
    for (const struct scene_node *c = n->first; c; c = c->next) {
        if (!flat)
            text_printf(out, "\n%*s", (int)(2 * depth + 2), "");
        put_node(c, out, depth + 1);
        if (c->next)
            text_puts(out, flat ? ", " : ",");
    }
    if (!flat)
        text_printf(out, "\n%*s", (int)(2 * depth), "");
    text_puts(out, array ? "]" : "}");
}

void scene_tree_write(const struct scene_node *n, struct text *out)
{
    put_node(n, out, 0);
    text_puts(out, "\n");
}

struct scene_node *scene_tree_get(const struct scene_node *n, const char *key)
{
    struct scene_node *c = n && n->type == JSON_OBJECT ? n->first : NULL;
    while (c && strcmp(c->key, key) != 0)
        c = c->next;
    return c;
}

const char *scene_tree_string(const struct scene_node *n, const char *key)
{
    const struct scene_node *v = scene_tree_get(n, key);
    return v && v->type == JSON_STRING ? v->string : "";
}

size_t scene_tree_count(const struct scene_node *n)
{
    size_t count = 0;
    for (const struct scene_node *c = n ? n->first : NULL; c; c = c->next)
        count++;
    return count;
}

struct scene_node *scene_tree_add(struct arena *a, struct scene_node *to, const char *key,
                                  enum json_type type)
{
    struct scene_node *n = ARENA_NEW(a, struct scene_node), **at = &to->first;
    if (!n || (key && !(key = arena_strdup(a, key))))
        return NULL;
    *n = (struct scene_node){.type = type, .key = key};
    while (*at)
        at = &(*at)->next;
    return *at = n;
}

bool scene_tree_add_number(struct arena *a, struct scene_node *to, const char *key, double v)
{
    struct scene_node *n = to ? scene_tree_add(a, to, key, JSON_NUMBER) : NULL;
    if (n)
        n->number = v;
    return n != NULL;
}

bool scene_tree_add_string(struct arena *a, struct scene_node *to, const char *key, const char *s)
{
    struct scene_node *n = to ? scene_tree_add(a, to, key, JSON_STRING) : NULL;
    if (n)
        n->string = arena_strdup(a, s);
    return n && n->string;
}

bool scene_tree_add_numbers(struct arena *a, struct scene_node *to, const char *key,
                            const double *v, size_t n)
{
    struct scene_node *list = to ? scene_tree_add(a, to, key, JSON_ARRAY) : NULL;
    bool added = list != NULL;
    for (size_t i = 0; added && i < n; i++)
        added = scene_tree_add_number(a, list, NULL, v[i]);
    return added;
}

void scene_tree_remove(struct scene_node *from, struct scene_node *child)
{
    struct scene_node **at = &from->first;
    while (*at && *at != child)
        at = &(*at)->next;
    if (*at)
        *at = child->next;
}

size_t scene_tree_numbers(const struct scene_node *n, double *out, size_t count)
{
    if (n && n->type == JSON_NUMBER) {
        for (size_t i = 0; i < count; i++)
            out[i] = n->number;
        return count;
    }
    size_t i = 0;
    for (const struct scene_node *c = n && n->type == JSON_ARRAY ? n->first : NULL;
         c && i < count && c->type == JSON_NUMBER; c = c->next)
        out[i++] = c->number;
    return i;
}

void scene_tree_scale(struct scene_node *n, double factor)
{
    if (n->type == JSON_NUMBER)
        n->number *= factor;
    for (struct scene_node *c = n->first; c; c = c->next)
        scene_tree_scale(c, factor);
}
