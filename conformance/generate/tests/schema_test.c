/* SPDX-License-Identifier: Apache-2.0 */
/* Random scenes say all that docs/reference/scene.schema.json lets a scene say: each key, each word
 * and each form of a value is in one of them, but for a list with reasons. */
#include "generate/offers.h"
#include "scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SCENES = 1000, PLACES = 1024 };

/* What no random scene says, by the place in the schema. */
static const struct {
    const char *place, *why;
} unsaid[] = {
    {"/film/crop", "a crop is the job's: invariance.film.crop"},
    {"/medium/oneOf 1", "a shader's medium is numbers once it is loaded: surface_test"},
    {"/medium_of_shader", "likewise"},
    {"/object/oneOf 2/displacement", "of spheres: image.dense.11"},
    {"/object/oneOf 3/displacement", "of disks: image.dense.11"},
    {"/object/oneOf 7", "procedures: image.dense.11"},
    {"/render/ao_distance", "the pass ao alone reads it: image.passes"},
};
enum { UNSAID = sizeof unsaid / sizeof *unsaid };

struct cover {
    const struct json *schema;
    const struct json *seen[PLACES]; /* nodes of the schema that a scene met */
    size_t count;
};

static const struct json *get(const struct json *object, const char *key)
{
    return object && object->type == JSON_OBJECT ? json_get(object, key) : NULL;
}

static bool has_seen(const struct cover *c, const struct json *node)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->seen[i] == node)
            return true;
    return false;
}

static void see(struct cover *c, const struct json *node)
{
    if (has_seen(c, node))
        return;
    assert_true(c->count < PLACES);
    c->seen[c->count++] = node;
}

static const struct json *follow(const struct cover *c, const struct json *node)
{
    const struct json *ref;
    while ((ref = get(node, "$ref")) != NULL)
        node = get(get(c->schema, "$defs"), ref->string + strlen("#/$defs/"));
    return node;
}

static bool same_value(const struct json *a, const struct json *b)
{
    if (a->type != b->type)
        return false;
    return a->type == JSON_STRING ? strcmp(a->string, b->string) == 0
           : a->type == JSON_BOOL ? a->boolean == b->boolean
                                  : a->type == JSON_NUMBER && a->number == b->number;
}

static const struct json *word_of(const struct json *words, const struct json *value)
{
    for (const struct json *w = words ? words->first : NULL; w; w = w->next)
        if (same_value(w, value))
            return w;
    return NULL;
}

static bool is_type(const struct json *value, const char *type)
{
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    return strcmp(names[value->type], type) == 0 ||
           (strcmp(type, "integer") == 0 && value->type == JSON_NUMBER);
}

/* May the value be what the node says? As far as branches of the format need it to be told. */
static bool fits(const struct cover *c, const struct json *node, const struct json *value)
{
    node = follow(c, node);
    const struct json *type = get(node, "type"), *constant = get(node, "const"),
                      *words = get(node, "enum"), *required = get(node, "required"),
                      *kind = get(get(node, "properties"), "type");
    if (type && type->type == JSON_STRING && !is_type(value, type->string))
        return false;
    if ((constant && !same_value(constant, value)) || (words && !word_of(words, value)))
        return false;
    for (const struct json *r = required ? required->first : NULL; r; r = r->next)
        if (value->type != JSON_OBJECT || !get(value, r->string))
            return false;
    if (kind && value->type == JSON_OBJECT && get(value, "type") &&
        !fits(c, kind, get(value, "type")))
        return false;
    const struct json *any = get(node, "oneOf");
    any = any ? any : get(node, "anyOf");
    bool one = !any;
    for (const struct json *b = any ? any->first : NULL; b; b = b->next)
        one = one || fits(c, b, value);
    return one;
}

/* Marks what the value says of the node. */
static void walk(struct cover *c, const struct json *node, const struct json *value)
{
    static const char *const branches[] = {"oneOf", "anyOf", "allOf"};
    node = follow(c, node);
    if (node->type != JSON_OBJECT || !fits(c, node, value))
        return;
    see(c, node);
    const struct json *word = word_of(get(node, "enum"), value), *items;
    if (word)
        see(c, word);
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
        const struct json *list = get(node, branches[i]);
        for (const struct json *b = list ? list->first : NULL; b; b = b->next)
            walk(c, b, value);
    }
    if (value->type == JSON_ARRAY && (items = get(node, "items")) != NULL)
        for (const struct json *v = value->first; v; v = v->next)
            walk(c, items, v);
    for (const struct json *v = value->first; value->type == JSON_OBJECT && v; v = v->next) {
        const struct json *named = get(get(node, "properties"), v->key);
        const struct json *other = get(node, "additionalProperties");
        const struct json *names = get(get(node, "propertyNames"), "enum");
        for (const struct json *n = names ? names->first : NULL; n; n = n->next)
            if (strcmp(n->string, v->key) == 0)
                see(c, n);
        if (named && named->type == JSON_OBJECT) {
            see(c, named);
            walk(c, named, v);
        } else if (!named && other && other->type == JSON_OBJECT) {
            walk(c, other, v);
        }
    }
}

static const char *reason_for(const char *place, bool *used)
{
    for (size_t i = 0; i < UNSAID; i++)
        if (strcmp(unsaid[i].place, place) == 0) {
            used[i] = true;
            return unsaid[i].why;
        }
    return NULL;
}

static size_t missing(const struct cover *c, const struct json *node, const char *place,
                      bool *used);

/* Of one thing that a scene may say, and of what it holds. */
static size_t missing_at(const struct cover *c, const struct json *node, const char *place,
                         bool *used)
{
    if (has_seen(c, node))
        return missing(c, node, place, used);
    if (reason_for(place, used))
        return 0;
    print_message("no random scene has %s\n", place);
    return 1;
}

/* Keys, words and forms that were not met: printed, and counted. */
static size_t missing(const struct cover *c, const struct json *node, const char *place, bool *used)
{
    static const char *const objects[] = {"properties", "$defs"};
    static const char *const lists[] = {"oneOf", "anyOf", "enum"};
    static const char *const single[] = {"items", "additionalProperties", "propertyNames"};
    char at[512];
    size_t n = 0;
    if (node->type != JSON_OBJECT)
        return 0;
    for (size_t k = 0; k < sizeof objects / sizeof *objects; k++) {
        const struct json *o = get(node, objects[k]);
        for (const struct json *m = o ? o->first : NULL; m; m = m->next) {
            (void)snprintf(at, sizeof at, "%s/%s", place, m->key);
            n += m->type == JSON_OBJECT ? missing_at(c, m, at, used) : 0;
        }
    }
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const struct json *o = get(node, lists[k]);
        for (const struct json *m = o ? o->first : NULL; m; m = m->next) {
            if (m->type == JSON_STRING)
                (void)snprintf(at, sizeof at, "%s/%s", place, m->string);
            else
                (void)snprintf(at, sizeof at, "%s/%s %u", place, lists[k], m->index);
            n += missing_at(c, follow(c, m), at, used);
        }
    }
    for (size_t k = 0; k < sizeof single / sizeof *single; k++) {
        (void)snprintf(at, sizeof at, "%s/%s", place, single[k]);
        const struct json *m = get(node, single[k]);
        n += m ? missing(c, m, at, used) : 0;
    }
    return n;
}

static const struct json *read_schema(struct arena *a)
{
    const char *path;
    char *data;
    size_t size;
    const struct json *schema = NULL;
    struct error err = {0};
    if (data_path(a, "docs/reference/scene.schema.json", &path, &err) != STATUS_OK ||
        file_read(a, path, (size_t)1 << 20, &data, &size, &err) != STATUS_OK ||
        json_parse(a, path, data, size, &schema, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    return schema;
}

static void says_all(void **state)
{
    (void)state;
    struct arena a = {0};
    struct cover c = {.schema = read_schema(&a)};
    bool used[UNSAID] = {false};
    for (uint64_t i = 0; i < SCENES; i++) {
        struct arena of_scene = {0};
        struct text t = {0};
        const struct json *scene;
        assert_int_equal(scene_generate(2026, i, NULL, &t, NULL), STATUS_OK);
        assert_int_equal(json_parse(&of_scene, "random.json", t.data, t.len, &scene, NULL),
                         STATUS_OK);
        walk(&c, c.schema, scene);
        text_free(&t);
        arena_free(&of_scene);
    }
    assert_true(c.count > 250);
    const size_t n = missing(&c, c.schema, "", used);
    for (size_t i = 0; i < UNSAID; i++)
        if (!used[i])
            fail_msg("%s has the reason \"%s\", but is said, or no place of the schema",
                     unsaid[i].place, unsaid[i].why);
    if (n)
        fail_msg("%zu places of the schema are in no random scene", n);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
