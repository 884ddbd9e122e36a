#include "base.h"

#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and the NUL. */
static bool text_reserve(struct text *t, size_t n)
{
    if (t->failed)
        return false;
    if (n < t->cap - t->len) /* cap 0: never true */
        return true;
    size_t cap;
    if (__builtin_add_overflow(t->len, n, &cap) || cap > PTRDIFF_MAX / 2) {
        t->failed = true;
        return false;
    }
    cap = cap + cap / 2 + 64;
    char *p = realloc(t->data, cap);
    if (!p) {
        t->failed = true;
        return false;
    }
    t->data = p;
    t->cap = cap;
    return true;
}

void text_append(struct text *t, const char *s, size_t n)
{
    if (!text_reserve(t, n))
        return;
    if (n)
        memcpy(t->data + t->len, s, n);
    t->len += n;
    t->data[t->len] = '\0';
}

void text_puts(struct text *t, const char *s) { text_append(t, s, strlen(s)); }

void text_printf(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) {
        t->failed = true;
        return;
    }
    if (!text_reserve(t, (size_t)n))
        return;
    va_start(ap, fmt);
    vsnprintf(t->data + t->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    t->len += (size_t)n;
}

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){0};
}
