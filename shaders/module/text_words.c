/* SPDX-License-Identifier: Apache-2.0 */
/* text_words.c: the words of LLVM's assembly language, and names. */
#include "module/text.h"

#include <string.h>

struct cursor ll_cursor(const struct reader *r)
{
    return (struct cursor){r->p, r->line_begin, r->line, r->w};
}

void ll_go_back(struct reader *r, const struct cursor *to)
{
    r->p = to->p;
    r->line_begin = to->line_begin;
    r->line = to->line;
    r->w = to->w;
}

static bool name_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_' || ch == '.' || ch == '$' || ch == '-';
}

/* "...": its text, the cursor behind it. */
static void quoted(struct reader *r)
{
    const char *begin = ++r->p;
    while (r->p < r->end && *r->p != '"' && *r->p != '\n')
        r->p++;
    if (r->p == r->end || *r->p == '\n')
        module_refuse(r->m, r->w.at, NULL, "this string does not end");
    r->w.text = begin;
    r->w.len = (size_t)(r->p++ - begin);
}

static void plain(struct reader *r)
{
    const char *begin = r->p;
    while (r->p < r->end && name_char(*r->p))
        r->p++;
    r->w.text = begin;
    r->w.len = (size_t)(r->p - begin);
}

static void skip_blanks(struct reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == ';')
            while (r->p + 1 < r->end && r->p[1] != '\n')
                r->p++;
        else if (*r->p == '\n') {
            r->line++;
            r->line_begin = r->p + 1;
        } else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r')
            return;
    }
}

void ll_next(struct reader *r)
{
    r->behind = r->w.at.line;
    skip_blanks(r);
    struct word *w = &r->w;
    *w = (struct word){.text = r->p, .at = {r->m->src, r->line, 0, 1}};
    w->at.col = (uint32_t)(r->p - r->line_begin) + 1;
    if (r->p == r->end)
        return;
    const char *begin = r->p;
    char ch = *r->p, after = r->p + 1 < r->end ? r->p[1] : 0;
    if (ch == '%' || ch == '@' || ch == '$' || ch == '#' || ch == '^' || ch == '!') {
        w->kind = ch == '%'   ? WORD_LOCAL
                  : ch == '@' ? WORD_GLOBAL
                  : ch == '!' ? WORD_META
                              : WORD_GROUP;
        if (ch == '#' && !ll_digit(after))
            w->kind = WORD_META;
        r->p++;
        if (after == '"' && ch != '!')
            quoted(r);
        else
            plain(r);
    } else if (ch == 'c' && after == '"') {
        r->p++;
        quoted(r);
        w->kind = WORD_BYTES;
    } else if (ch == '"') {
        quoted(r);
        w->kind = WORD_STRING;
    } else if (ll_digit(ch) || ((ch == '-' || ch == '+') && ll_digit(after))) {
        w->kind = WORD_NUMBER;
        r->p += ch == '+';
        plain(r);
        if (r->p < r->end && *r->p == '+' && (r->p[-1] == 'e' || r->p[-1] == 'E')) {
            const char *number = w->text;
            r->p++;
            plain(r);
            w->text = number;
            w->len = (size_t)(r->p - number);
        }
    } else if (ch == '.' && r->end - r->p >= 3 && memcmp(r->p, "...", 3) == 0) {
        w->kind = WORD_SIGN;
        w->len = 3;
        r->p += 3;
    } else if (name_char(ch)) {
        w->kind = WORD_NAME;
        plain(r);
    } else {
        w->kind = WORD_SIGN;
        w->len = 1;
        r->p++;
    }
    if (r->p < r->end && *r->p == ':' &&
        (w->kind == WORD_NAME || w->kind == WORD_STRING || w->kind == WORD_NUMBER)) {
        w->kind = WORD_LABEL;
        r->p++;
    }
    size_t shown = (size_t)(r->p - begin);
    w->at.len = shown < 200 ? (uint32_t)shown : 200;
}

_Noreturn void ll_wrong(struct reader *r, const char *what)
{
    if (r->w.kind == WORD_END)
        module_refuse(r->m, r->w.at, NULL, "the file ends; expected %s", what);
    size_t len = r->w.len < 60 ? r->w.len : 60;
    module_refuse(r->m, r->w.at, NULL, "'%.*s': expected %s", (int)len, r->w.text, what);
}

bool ll_is_sign(const struct reader *r, const char *sign)
{
    return r->w.kind == WORD_SIGN && r->w.len == strlen(sign) &&
           memcmp(r->w.text, sign, r->w.len) == 0;
}

bool ll_is_name(const struct reader *r, const char *name)
{
    return r->w.kind == WORD_NAME && r->w.len == strlen(name) &&
           memcmp(r->w.text, name, r->w.len) == 0;
}

bool ll_take_sign(struct reader *r, const char *sign)
{
    bool yes = ll_is_sign(r, sign);
    if (yes)
        ll_next(r);
    return yes;
}

bool ll_take_name(struct reader *r, const char *name)
{
    bool yes = ll_is_name(r, name);
    if (yes)
        ll_next(r);
    return yes;
}

void ll_want(struct reader *r, const char *sign)
{
    if (!ll_take_sign(r, sign))
        ll_wrong(r, asl_sprintf(r->c, "'%s'", sign));
}

void ll_want_name(struct reader *r, const char *name)
{
    if (!ll_take_name(r, name))
        ll_wrong(r, asl_sprintf(r->c, "'%s'", name));
}

uint64_t ll_want_count(struct reader *r)
{
    uint64_t n = 0;
    if (r->w.kind != WORD_NUMBER)
        ll_wrong(r, "a number");
    for (size_t i = 0; i < r->w.len; i++) {
        if (!ll_digit(r->w.text[i]) || n > UINT64_MAX / 10 - 1)
            ll_wrong(r, "a whole number");
        n = n * 10 + (uint64_t)(r->w.text[i] - '0');
    }
    ll_next(r);
    return n;
}

const char *ll_shown(struct reader *r, char sign)
{
    return asl_sprintf(r->c, "%c%.*s", sign, (int)(r->w.len < 80 ? r->w.len : 80), r->w.text);
}

struct name *ll_name_of(struct reader *r, struct names *n, const char *text, size_t len)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    struct name **chain = &n->chain[hash % NAMES], *x = *chain;
    while (x && (x->len != len || memcmp(x->text, text, len) != 0))
        x = x->next;
    if (!x) {
        x = ASL_NEW(r->c, struct name);
        *x = (struct name){.text = text, .len = len, .at = r->w.at, .next = *chain};
        *chain = x;
    }
    return x;
}

void ll_skip_brackets(struct reader *r)
{
    size_t depth = 0;
    do {
        if (ll_is_sign(r, "(") || ll_is_sign(r, "{") || ll_is_sign(r, "["))
            depth++;
        else if (ll_is_sign(r, ")") || ll_is_sign(r, "}") || ll_is_sign(r, "]"))
            depth--;
        else if (r->w.kind == WORD_END)
            ll_wrong(r, "a closing bracket");
        ll_next(r);
    } while (depth);
}

void ll_skip_group(struct reader *r)
{
    if (ll_is_sign(r, "(") || ll_is_sign(r, "{"))
        ll_skip_brackets(r);
}
