/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif
#include "base.h"

#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "json_number.h"

/* ---- numbers ------------------------------------------------------------------------------- */

static locale_t c_locale;

static void c_locale_make(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

static locale_t c_locale_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, c_locale_make);
    return c_locale;
}

double json_strtod(const char *s, char **end) { return strtod_l(s, end, c_locale_get()); }

void json_print_double(double v, char buf[32])
{
    locale_t old = uselocale(c_locale_get());
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, 32, "%.*g", digits, v);
        if (json_strtod(buf, NULL) == v)
            break;
    }
    uselocale(old);
}

/* ---- structure ------------------------------------------------------------------------------ */

/* One byte of state per open container. */
enum {
    IN_OBJECT = 1,  /* else an array */
    HAS_ITEMS = 2,  /* a comma is due before the next */
    WANT_VALUE = 4, /* a key was written */
    MULTILINE = 8,  /* its closing bracket stands on a line of its own */
};

static void newline(struct json_writer *w)
{
    text_append(&w->out, "\n", 1);
    for (unsigned i = 0; i < w->depth; i++)
        text_append(&w->out, "  ", 2);
}

/* What stands before a value: a comma, a new line. Arrays of plain values stay on one line. */
static void before_value(struct json_writer *w, bool container)
{
    if (w->depth == 0)
        return;
    uint8_t *s = &w->state[w->depth - 1];
    if (*s & IN_OBJECT) {
        assert(*s & WANT_VALUE);
        *s &= (uint8_t)~WANT_VALUE;
        return;
    }
    if (*s & HAS_ITEMS)
        text_append(&w->out, ",", 1);
    if (w->pretty && (container || (*s & MULTILINE))) {
        newline(w);
        *s |= MULTILINE;
    } else if (w->pretty && (*s & HAS_ITEMS)) {
        text_append(&w->out, " ", 1);
    }
    *s |= HAS_ITEMS;
}

static void begin(struct json_writer *w, const char *bracket, uint8_t state)
{
    if (w->depth == sizeof w->state)
        w->out.failed = true; /* deeper than this writer can; nothing is written from here on */
    if (w->out.failed)
        return;
    before_value(w, true);
    text_append(&w->out, bracket, 1);
    w->state[w->depth++] = state;
}

static void end(struct json_writer *w, const char *bracket, uint8_t kind)
{
    if (w->out.failed)
        return;
    assert(w->depth > 0);
    uint8_t s = w->state[--w->depth];
    assert((s & IN_OBJECT) == kind && !(s & WANT_VALUE));
    (void)kind;
    if (w->pretty && (s & MULTILINE))
        newline(w);
    text_append(&w->out, bracket, 1);
}

void json_begin_object(struct json_writer *w) { begin(w, "{", IN_OBJECT); }

void json_end_object(struct json_writer *w) { end(w, "}", IN_OBJECT); }

void json_begin_array(struct json_writer *w) { begin(w, "[", 0); }

void json_end_array(struct json_writer *w) { end(w, "]", 0); }

static void put_string(struct text *t, const char *s)
{
    size_t n = strlen(s);
    text_append(t, "\"", 1);
    while (n) {
        unsigned char c = (unsigned char)*s;
        size_t len = utf8_read(s, n, NULL);
        const char *plain = c == '"'    ? "\\\""
                            : c == '\\' ? "\\\\"
                            : c == '\n' ? "\\n"
                            : c == '\t' ? "\\t"
                            : c == '\r' ? "\\r"
                            : len == 0  ? "\xef\xbf\xbd" /* U+FFFD */
                                        : NULL;
        if (plain)
            text_puts(t, plain);
        else if (c < 0x20)
            text_printf(t, "\\u%04x", c);
        else
            text_append(t, s, len);
        s += len ? len : 1;
        n -= len ? len : 1;
    }
    text_append(t, "\"", 1);
}

void json_key(struct json_writer *w, const char *key)
{
    if (w->out.failed)
        return;
    assert(w->depth > 0);
    uint8_t *s = &w->state[w->depth - 1];
    assert((*s & IN_OBJECT) && !(*s & WANT_VALUE));
    if (*s & HAS_ITEMS)
        text_append(&w->out, ",", 1);
    if (w->pretty)
        newline(w);
    put_string(&w->out, key);
    text_puts(&w->out, w->pretty ? ": " : ":");
    *s |= HAS_ITEMS | WANT_VALUE | MULTILINE;
}

/* ---- values --------------------------------------------------------------------------------- */

static void scalar(struct json_writer *w, const char *s)
{
    if (w->out.failed)
        return;
    before_value(w, false);
    text_puts(&w->out, s);
}

void json_string(struct json_writer *w, const char *s)
{
    if (!s) {
        json_null(w);
        return;
    }
    if (w->out.failed)
        return;
    before_value(w, false);
    put_string(&w->out, s);
}

void json_number(struct json_writer *w, double v)
{
    char buf[32] = "null";
    if (isfinite(v))
        json_print_double(v, buf);
    scalar(w, buf);
}

void json_integer(struct json_writer *w, int64_t v)
{
    char buf[32];
    snprintf(buf, sizeof buf, "%" PRId64, v);
    scalar(w, buf);
}

void json_bool(struct json_writer *w, bool v) { scalar(w, v ? "true" : "false"); }

void json_null(struct json_writer *w) { scalar(w, "null"); }

void json_key_string(struct json_writer *w, const char *key, const char *s)
{
    json_key(w, key);
    json_string(w, s);
}

void json_key_number(struct json_writer *w, const char *key, double v)
{
    json_key(w, key);
    json_number(w, v);
}

void json_key_integer(struct json_writer *w, const char *key, int64_t v)
{
    json_key(w, key);
    json_integer(w, v);
}

void json_key_bool(struct json_writer *w, const char *key, bool v)
{
    json_key(w, key);
    json_bool(w, v);
}

void json_key_pair(struct json_writer *w, const char *key, double a, double b)
{
    json_key(w, key);
    json_begin_array(w);
    json_number(w, a);
    json_number(w, b);
    json_end_array(w);
}

void json_copy(struct json_writer *w, const struct json *v)
{
    if (v->key)
        json_key(w, v->key);
    switch (v->type) {
    case JSON_NULL:
        json_null(w);
        break;
    case JSON_BOOL:
        json_bool(w, v->boolean);
        break;
    case JSON_NUMBER:
        if (v->is_integer && v->integer != 0) /* -0 is an integer and a double */
            json_integer(w, v->integer);
        else
            json_number(w, v->number);
        break;
    case JSON_STRING:
        json_string(w, v->string);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        (v->type == JSON_ARRAY ? json_begin_array : json_begin_object)(w);
        for (const struct json *c = v->first; c; c = c->next)
            json_copy(w, c);
        (v->type == JSON_ARRAY ? json_end_array : json_end_object)(w);
        break;
    }
}
