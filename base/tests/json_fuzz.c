/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: json_parse either refuses them with a place inside them, or gives a tree whose places
 * hold and that survives writing and reading. */
#include "base.h"

#include <stdlib.h>
#include <string.h>

static void require(bool ok)
{
    if (!ok)
        abort();
}

static bool same(const struct json *a, const struct json *b)
{
    if (a->type != b->type || a->count != b->count || !a->key != !b->key ||
        (a->key && strcmp(a->key, b->key) != 0))
        return false;
    if (a->type == JSON_BOOL && a->boolean != b->boolean)
        return false;
    if (a->type == JSON_NUMBER && /* 1.0 is written as 1 */
        (memcmp(&a->number, &b->number, sizeof a->number) != 0 ||
         (a->is_integer && a->integer != b->integer)))
        return false;
    if (a->type == JSON_STRING && strcmp(a->string, b->string) != 0)
        return false;
    const struct json *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next)
        if (!same(x, y))
            return false;
    return !x && !y;
}

/* The byte at a value's place starts a value of its type; children lie behind their parent. */
static void check_places(const struct json *v, const char *data, size_t size)
{
    static const char *const starts[] = {"n", "tf", "-0123456789", "\"", "[", "{"};
    size_t i = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    uint32_t line = 1, col = 1;
    for (; i < size && (line < v->line || (line == v->line && col < v->col)); i++) {
        unsigned char c = (unsigned char)data[i];
        if (c == '\n' || (c == '\r' && !(i + 1 < size && data[i + 1] == '\n'))) {
            line++;
            col = 1;
        } else if ((c & 0xc0) != 0x80) {
            col++;
        }
        while (i + 1 < size && ((unsigned char)data[i + 1] & 0xc0) == 0x80)
            i++;
    }
    require(i < size && line == v->line && col == v->col);
    require(strchr(starts[v->type], data[i]) != NULL);
    char path[64];
    json_path(v, path, sizeof path);
    for (const struct json *c = v->first; c; c = c->next) {
        require(c->parent == v && (c->key != NULL) == (v->type == JSON_OBJECT));
        require(!c->key || json_get(v, c->key) == c);
        check_places(c, data, size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct arena a = {0};
    struct error err = {0};
    const struct json *root = NULL, *again = NULL;
    const char *data = (const char *)bytes;
    if (json_parse(&a, "fuzz", data, size, &root, &err) != STATUS_OK) {
        require(root == NULL && err.line >= 1 && err.col >= 1 && err.msg[0]);
    } else {
        if (size < 4096) /* check_places is quadratic */
            check_places(root, data, size);
        struct json_writer w = {.pretty = size % 2 == 0};
        json_copy(&w, root);
        if (!w.out.failed) { /* deeper than the writer goes */
            require(json_parse(&a, "again", w.out.data, w.out.len, &again, &err) == STATUS_OK);
            require(same(root, again));
        }
        text_free(&w.out);
    }
    arena_free(&a);
    return 0;
}
