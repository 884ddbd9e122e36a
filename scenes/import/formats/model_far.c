/* SPDX-License-Identifier: Apache-2.0 */
#include "model_far.h"

#include "geometry/offers.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64 };

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* A number and what is behind it; false: there is none in the line. */
static bool read_number(const char **at, const char *end, double *x)
{
    char text[NUMBER_MAX], *behind;
    size_t n = 0;
    while (*at < end && is_blank(**at))
        (*at)++;
    while (*at + n < end && n + 1 < sizeof text && (unsigned char)(*at)[n] > ' ')
        n++;
    memcpy(text, *at, n);
    text[n] = '\0';
    *x = strtod(text, &behind);
    *at += n;
    bool whole = *at == end || (unsigned char)**at <= ' ';
    return n > 0 && whole && *behind == '\0';
}

/* The three numbers of a line that begins with the word, and what is behind them. */
enum line { LINE_OTHER, LINE_POINT, LINE_BAD };
static enum line read_line(const char *at, const char *end, const char *word, double p[3],
                           const char **rest)
{
    size_t n = strlen(word);
    while (at < end && is_blank(*at))
        at++;
    if ((size_t)(end - at) <= n || memcmp(at, word, n) != 0 || !is_blank(at[n]))
        return LINE_OTHER;
    at += n;
    for (int c = 0; c < 3; c++)
        if (!read_number(&at, end, &p[c]))
            return LINE_BAD;
    *rest = at;
    double w, more;
    /* one number behind them divides them */
    bool weighted = read_number(&at, end, &w) && !read_number(&at, end, &more);
    return weighted && w != 1 ? LINE_BAD : LINE_POINT;
}

static const char *line_end(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline + 1 : end;
}

void bring_near(struct source *s, const char *word, const bool *used, size_t count, char **data,
                size_t *size)
{
    const char *end = *data + *size, *rest;
    struct box b = box_empty;
    double p[3];
    size_t points = 0;
    for (const char *at = *data, *next; at < end && box_may_be_far(&b); at = next) {
        next = line_end(at, end);
        enum line kind = read_line(at, next, word, p, &rest);
        if (kind == LINE_OTHER || (points++ < count && !used[points - 1]))
            continue;
        if (kind == LINE_BAD)
            return;
        box_add(&b, p);
    }
    box_origin(&b, s->origin);
    if (s->origin[0] == 0 && s->origin[1] == 0 && s->origin[2] == 0)
        return;
    struct text t = {0};
    for (const char *at = *data, *next; at < end; at = next) {
        next = line_end(at, end);
        if (read_line(at, next, word, p, &rest) == LINE_POINT)
            text_printf(&t, "%s %.9g %.9g %.9g", word, p[0] - s->origin[0], p[1] - s->origin[1],
                        p[2] - s->origin[2]);
        else
            rest = at;
        text_append(&t, rest, (size_t)(next - rest));
    }
    source_text(s, &t, data, size);
}
