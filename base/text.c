/* SPDX-License-Identifier: Apache-2.0 */
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

void text_shell(struct text *t, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,%@";
    bool control = false;
    for (const char *s = word; *s; s++)
        control = control || (unsigned char)*s < ' ' || *s == 0x7f;
    if (word[0] && word[strspn(word, plain)] == '\0') {
        text_puts(t, word);
        return;
    }
    text_puts(t, control ? "$'" : "'");
    for (const char *s = word; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            text_printf(t, "\\%03o", (unsigned)*s); /* octal ends after three digits */
        else if (control && (*s == '\'' || *s == '\\'))
            text_printf(t, "\\%c", *s);
        else if (*s == '\'')
            text_puts(t, "'\\''");
        else
            text_append(t, s, 1);
    text_puts(t, "'");
}

const char *shell_word(struct arena *a, const char *word)
{
    struct text t = {0};
    text_shell(&t, word);
    const char *s = t.failed ? NULL : arena_strdup(a, t.data);
    text_free(&t);
    return s;
}

/* Characters that a terminal acts on, or that make a line read otherwise than it is: controls
 * (Unicode's Cc) and those of Trojan Source (Boucher and Anderson, 2021). */
static bool is_hidden(uint32_t c, bool lines)
{
    return (c < ' ' && !(lines && (c == '\n' || c == '\t'))) || (c >= 0x7f && c < 0xa0) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
           c == 0x200f;
}

void text_shown(struct text *t, const char *s, size_t n, bool lines)
{
    for (size_t i = 0, size; i < n; i += size) {
        uint32_t c = (unsigned char)s[i];
        size = c < 0x80 ? 1 : utf8_read(s + i, n - i, &c);
        if (size == 0) {
            size = 1;
            text_printf(t, "\\x%02x", (unsigned)(unsigned char)s[i]);
        } else if (is_hidden(c, lines)) {
            text_printf(t, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
        } else {
            text_append(t, s + i, size);
        }
    }
}

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){0};
}
