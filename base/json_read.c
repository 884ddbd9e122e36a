/* SPDX-License-Identifier: Apache-2.0 */
/* YAJL splits the text into tokens; this builds the tree, knows every value's place, and is
 * stricter than YAJL where it lets things pass: duplicate keys, NULs, lone surrogates, malformed
 * UTF-8, numbers that no double holds. */
#include "base.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <yajl/yajl_parse.h>

#include "json_number.h"

enum { DEPTH_MAX = 256 };
static const size_t size_max = (size_t)1 << 30; /* YAJL's buffers count in 32 bits in places */

struct parser {
    struct arena *arena;
    const char *file, *data;
    size_t size;
    yajl_handle yajl;
    struct error *err;
    enum status status; /* of the first failure in a callback */

    size_t token_end; /* where the token before this one ended */
    size_t place;     /* line and col belong to this offset */
    uint32_t line, col;

    struct json *root, *open; /* the innermost open container */
    const char *key;
    unsigned depth;
    struct json *last[DEPTH_MAX + 1]; /* the last child at each depth */

    /* All members of all objects by (object, key), open addressing: finds duplicates in O(1). */
    struct member {
        const struct json *object;
        const char *key;
    } * members;
    size_t member_count, member_cap;
};

/* ---- places --------------------------------------------------------------------------------- */

/* Line and column of a byte offset, which never goes back. A column is a character; \n, \r\n and \r
 * end lines. */
static struct src_pos place_of(struct parser *p, size_t offset)
{
    if (offset > p->size)
        offset = p->size;
    for (; p->place < offset; p->place++) {
        unsigned char c = (unsigned char)p->data[p->place];
        bool crlf = c == '\r' && p->place + 1 < p->size && p->data[p->place + 1] == '\n';
        if (c == '\n' || (c == '\r' && !crlf)) {
            p->line++;
            p->col = 1;
        } else if ((c & 0xc0) != 0x80) {
            p->col++;
        }
    }
    return (struct src_pos){p->file, p->line, p->col};
}

/* Between two tokens with callbacks there are only spaces, commas and colons. */
static size_t token_start(const struct parser *p)
{
    size_t i = p->token_end;
    while (i < p->size && p->data[i] && strchr(" \t\r\n,:", p->data[i]))
        i++;
    return i;
}

static int stop(struct parser *p, enum status status)
{
    p->status = status;
    return 0; /* YAJL: cancel */
}

static int stop_memory(struct parser *p)
{
    return stop(p, error_msg(p->err, STATUS_MEMORY, "out of memory reading %s", p->file));
}

/* ---- the tree ------------------------------------------------------------------------------- */

/* Appends a value that starts at the next token and ends `length` bytes on. NULL: stopped. */
static struct json *add_value(struct parser *p, enum json_type type, size_t length)
{
    struct json *v = ARENA_NEW(p->arena, struct json);
    if (!v) {
        stop_memory(p);
        return NULL;
    }
    size_t start = token_start(p);
    struct src_pos pos = place_of(p, start);
    p->token_end = start + length;
    v->type = type;
    v->line = pos.line;
    v->col = pos.col;
    v->key = p->key;
    p->key = NULL;
    v->parent = p->open;
    if (!p->open) {
        p->root = v;
    } else {
        if (p->open->count)
            p->last[p->depth]->next = v;
        else
            p->open->first = v;
        v->index = (uint32_t)p->open->count++;
        p->last[p->depth] = v;
    }
    return v;
}

static int on_null(void *ctx) { return add_value(ctx, JSON_NULL, 4) != NULL; }

static int on_bool(void *ctx, int value)
{
    struct json *v = add_value(ctx, JSON_BOOL, value ? 4 : 5);
    if (v)
        v->boolean = value != 0;
    return v != NULL;
}

static int on_number(void *ctx, const char *s, size_t n)
{
    struct parser *p = ctx;
    struct json *v = add_value(p, JSON_NUMBER, n);
    if (!v)
        return 0;
    char small[64], *copy = n < sizeof small ? small : malloc(n + 1);
    if (!copy)
        return stop_memory(p);
    memcpy(copy, s, n);
    copy[n] = '\0';
    v->number = json_strtod(copy, NULL);
    if (!memchr(s, '.', n) && !memchr(s, 'e', n) && !memchr(s, 'E', n)) {
        errno = 0;
        intmax_t i = strtoimax(copy, NULL, 10);
        v->is_integer = errno == 0 && i >= INT64_MIN && i <= INT64_MAX;
        v->integer = v->is_integer ? i : 0;
    }
    if (copy != small)
        free(copy);
    if (isfinite(v->number))
        return 1;
    return stop(p, json_error(p->err, p->file, v, STATUS_PARSE,
                              "the number %.*s%s is larger than a double can hold",
                              n < 40 ? (int)n : 40, s, n < 40 ? "" : "..."));
}

/* Of four digits, which the tokenizer has seen. */
static unsigned hex4(const char *s)
{
    unsigned v = 0;
    for (int i = 0; i < 4; i++)
        v = v * 16 + (unsigned)hex_digit(s[i]);
    return v;
}

/* Checks the source [start, end) of a string, quotes included. Offset of the first fault, or end.
 */
static size_t string_fault(const struct parser *p, size_t start, size_t end, const char **what)
{
    for (size_t i = start; i < end;) {
        const char *s = p->data + i;
        if (*s != '\\') {
            size_t len = (unsigned char)*s < 0x80 ? 1 : utf8_read(s, end - i, NULL);
            *what = "the string is not valid UTF-8";
            if (!len)
                return i;
            i += len;
            continue;
        }
        if (s[1] != 'u') {
            i += 2;
            continue;
        }
        unsigned unit = hex4(s + 2);
        *what = "a string cannot hold U+0000";
        if (unit == 0)
            return i;
        bool high = unit >= 0xd800 && unit < 0xdc00, low = unit >= 0xdc00 && unit < 0xe000;
        bool paired = high && end - i >= 12 && s[6] == '\\' && s[7] == 'u' &&
                      hex4(s + 8) >= 0xdc00 && hex4(s + 8) < 0xe000;
        *what = "half of a surrogate pair: characters above U+FFFF take two \\u escapes";
        if (low || (high && !paired))
            return i;
        i += paired ? 12 : 6;
    }
    return end;
}

/* Copies a string token that ends where YAJL stands now. *length: of its source. */
static char *take_string(struct parser *p, const unsigned char *s, size_t n, size_t *length)
{
    size_t start = token_start(p), end = yajl_get_bytes_consumed(p->yajl);
    const char *what = NULL;
    size_t fault = string_fault(p, start, end, &what);
    if (fault < end) {
        stop(p, error_set(p->err, STATUS_PARSE, place_of(p, fault), "%s", what));
        return NULL;
    }
    char *copy = arena_alloc(p->arena, n + 1, 1, 1);
    if (!copy) {
        stop_memory(p);
        return NULL;
    }
    if (n)
        memcpy(copy, s, n);
    *length = end - start;
    return copy;
}

static int on_string(void *ctx, const unsigned char *s, size_t n)
{
    struct parser *p = ctx;
    size_t length;
    const char *copy = take_string(p, s, n, &length);
    struct json *v = copy ? add_value(p, JSON_STRING, length) : NULL;
    if (v)
        v->string = copy;
    return v != NULL;
}

/* ---- members -------------------------------------------------------------------------------- */

static struct member *member_slot(struct member *table, size_t cap, const struct json *object,
                                  const char *key)
{
    size_t i = XXH3_64bits_withSeed(key, strlen(key), (uintptr_t)object) & (cap - 1);
    while (table[i].key && !(table[i].object == object && strcmp(table[i].key, key) == 0))
        i = (i + 1) & (cap - 1);
    return &table[i];
}

static bool members_grow(struct parser *p)
{
    size_t cap = p->member_cap ? p->member_cap * 2 : 64;
    struct member *table = calloc(cap, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < p->member_cap; i++)
        if (p->members[i].key)
            *member_slot(table, cap, p->members[i].object, p->members[i].key) = p->members[i];
    free(p->members);
    p->members = table;
    p->member_cap = cap;
    return true;
}

static int on_key(void *ctx, const unsigned char *s, size_t n)
{
    struct parser *p = ctx;
    size_t start = token_start(p), length;
    struct src_pos pos = place_of(p, start);
    char *key = take_string(p, s, n, &length);
    if (!key)
        return 0;
    p->token_end = start + length;
    if (2 * (p->member_count + 1) > p->member_cap && !members_grow(p))
        return stop_memory(p);
    struct member *m = member_slot(p->members, p->member_cap, p->open, key);
    if (m->key) {
        stop(p, json_error(p->err, p->file, p->open, STATUS_PARSE,
                           "the key \"%s\" stands twice in this object", key));
        if (p->err) { /* the object's path, the key's place */
            p->err->line = pos.line;
            p->err->col = pos.col;
        }
        return 0;
    }
    *m = (struct member){p->open, key};
    p->member_count++;
    p->key = key;
    return 1;
}

static int on_begin(struct parser *p, enum json_type type)
{
    struct json *v = add_value(p, type, 1);
    if (!v)
        return 0;
    if (p->depth == DEPTH_MAX)
        return stop(p, error_set(p->err, STATUS_LIMIT, (struct src_pos){p->file, v->line, v->col},
                                 "nested deeper than %d levels", DEPTH_MAX));
    p->depth++;
    p->open = v;
    return 1;
}

static int on_end(void *ctx)
{
    struct parser *p = ctx;
    p->token_end = token_start(p) + 1;
    p->depth--;
    p->open = (struct json *)p->open->parent;
    return 1;
}

static int on_begin_object(void *ctx) { return on_begin(ctx, JSON_OBJECT); }

static int on_begin_array(void *ctx) { return on_begin(ctx, JSON_ARRAY); }

/* ---- one document --------------------------------------------------------------------------- */

/* YAJL's own complaint, at the token it stumbled over. */
static enum status syntax_error(struct parser *p, size_t offset)
{
    unsigned char *why = yajl_get_error(p->yajl, 0, NULL, 0);
    const char *text = why ? (const char *)why : "parse error: out of memory";
    const char *colon = strstr(text, ": ");
    text = colon ? colon + 2 : text;
    int len = (int)strcspn(text, "\n");
    if (len > 0 && text[len - 1] == '.')
        len--;
    enum status s =
        error_set(p->err, STATUS_PARSE, place_of(p, offset), "not JSON: %.*s", len, text);
    yajl_free_error(p->yajl, why);
    return s;
}

static enum status parse(struct parser *p)
{
    size_t skip = p->size >= 3 && memcmp(p->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a mark */
    p->data += skip;
    p->size -= skip;
    for (const char *c = "\v\f"; *c; c++) { /* YAJL takes these two for spaces */
        const char *at = p->size ? memchr(p->data, *c, p->size) : NULL;
        if (at)
            return error_set(p->err, STATUS_PARSE, place_of(p, (size_t)(at - p->data)),
                             "not JSON: the control character U+%04X", (unsigned)*c);
    }
    yajl_status y = yajl_parse(p->yajl, (const unsigned char *)p->data, p->size);
    size_t offset = yajl_get_bytes_consumed(p->yajl);
    bool ended = y == yajl_status_ok;
    if (ended) {
        y = yajl_complete_parse(p->yajl);
        offset = p->size;
    }
    if (p->status != STATUS_OK)
        return p->status;
    if (y == yajl_status_ok)
        return STATUS_OK;
    /* YAJL stands behind the bad token or the bad byte in it: point where the token starts, unless
     * the text simply ended. */
    size_t start = token_start(p);
    if (start < offset)
        return syntax_error(p, start);
    if (ended)
        return syntax_error(p, offset);
    size_t last = offset; /* a comma or colon too many? */
    while (last > p->token_end && p->data[last - 1] && strchr(" \t\r\n", p->data[last - 1]))
        last--;
    return syntax_error(p, last > p->token_end ? last - 1 : start);
}

enum status json_parse(struct arena *a, const char *file, const char *data, size_t size,
                       const struct json **root, struct error *err)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_bool,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_begin_object,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end,
        .yajl_start_array = on_begin_array,
        .yajl_end_array = on_end,
    };
    if (size > size_max)
        return error_set(err, STATUS_LIMIT, (struct src_pos){.file = file},
                         "a JSON document of %zu bytes; the limit is %zu", size, size_max);
    struct parser *p = calloc(1, sizeof *p);
    if (!p)
        return error_msg(err, STATUS_MEMORY, "out of memory reading %s", file);
    *p = (struct parser){
        .arena = a, .file = file, .data = data, .size = size, .err = err, .line = 1, .col = 1};
    p->yajl = yajl_alloc(&callbacks, NULL, p);
    enum status s = STATUS_MEMORY;
    if (p->yajl) {
        yajl_config(p->yajl, yajl_dont_validate_strings, 1); /* string_fault is stricter */
        s = parse(p);
    } else {
        error_msg(err, s, "out of memory reading %s", file);
    }
    if (s == STATUS_OK)
        *root = p->root;
    if (p->yajl)
        yajl_free(p->yajl);
    free(p->members);
    free(p);
    return s;
}

/* ---- looking -------------------------------------------------------------------------------- */

const struct json *json_get(const struct json *object, const char *key)
{
    if (object->type == JSON_OBJECT)
        for (const struct json *v = object->first; v; v = v->next)
            if (strcmp(v->key, key) == 0)
                return v;
    return NULL;
}

void json_path(const struct json *v, char *buf, size_t size)
{
    const struct json *chain[DEPTH_MAX + 1];
    size_t n = 0, used = 0;
    for (; v && v->parent; v = v->parent)
        chain[n++] = v;
    if (size)
        buf[0] = '\0';
    while (n-- && used < size) {
        const struct json *c = chain[n];
        int w = c->key ? snprintf(buf + used, size - used, "%s%s", used ? "." : "", c->key)
                       : snprintf(buf + used, size - used, "[%u]", c->index);
        used += (size_t)w;
    }
    if (used >= size && size)
        buf[utf8_whole(buf, size - 1)] = '\0';
}

enum status json_error(struct error *err, const char *file, const struct json *v, enum status code,
                       const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_setv(err, code, (struct src_pos){file, v->line, v->col}, fmt, ap);
    va_end(ap);
    if (err)
        json_path(v, err->path, sizeof err->path);
    return code;
}

const char *json_type_name(enum json_type t)
{
    static const char *const names[] = {"null",     "true or false", "a number",
                                        "a string", "an array",      "an object"};
    return (unsigned)t < sizeof names / sizeof names[0] ? names[t] : "?";
}
