/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "model_collada.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* n: an angle in degrees, the axis that turns by it, the axis along which points move (Collada
 * 1.4.1, "skew", which is RenderMan's RiSkew): what is k across the second axis moves by k times
 * the slope that the first gains. False: an axis is 0, both are one, or the first would turn to the
 * second and beyond. */
static bool skew_matrix(const double n[7], double m[3][3])
{
    double across[3], along[3], length = sqrt(dot(n + 4, n + 4)), a = n[0] * (M_PI / 180);
    for (int c = 0; c < 3; c++)
        along[c] = n[4 + c] / length;
    double y = dot(n + 1, along);
    for (int c = 0; c < 3; c++)
        across[c] = n[1 + c] - y * along[c];
    double x = sqrt(dot(across, across)), turned = x * cos(a) - y * sin(a);
    double slope = (x * sin(a) + y * cos(a)) / turned - y / x;
    if (!(x > 1e-6 * sqrt(dot(n + 1, n + 1)) && turned > 1e-9 * x && isfinite(slope)))
        return false;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            m[i][k] = (i == k) + slope * along[i] * across[k] / x;
    return true;
}

/* Seven numbers, and behind them the next tag. */
static bool read_skew(const char *at, double n[7])
{
    for (int i = 0; i < 7; i++) {
        char *end;
        n[i] = strtod(at, &end);
        if (end == at || !(fabs(n[i]) < 1e9))
            return false;
        at = end;
    }
    return strncmp(at + strspn(at, " \t\r\n"), "</skew", 6) == 0;
}

void collada_mend(struct source *s, char **data, size_t *size)
{
    static const char open[] = "<skew", close[] = "</skew";
    struct text t = {0};
    const char *from = *data, *end = from + *size, *at = from, *text;
    while ((at = memmem(at, (size_t)(end - at), open, sizeof open - 1))) {
        const char *rest = at + sizeof open - 1;
        double n[7], m[3][3];
        if (!strchr(" \t\r\n/>", *rest)) {
            at = rest;
            continue;
        }
        text = memchr(rest, '>', (size_t)(end - rest));
        if (!text || !read_skew(text + 1, n) || !skew_matrix(n, m)) {
            size_t line = 1;
            for (const char *c = *data; c < at; c++)
                line += *c == '\n';
            text_free(&t);
            source_refuse(s, STATUS_PARSE,
                          "cannot read the model %s: line %zu: <skew> wants an angle and two axes "
                          "that are further apart than it",
                          s->path, line);
        }
        text_append(&t, from, (size_t)(at - from));
        text_puts(&t, "<matrix");
        text_append(&t, rest, (size_t)(text + 1 - rest));
        for (int i = 0; i < 3; i++)
            text_printf(&t, "%.9g %.9g %.9g 0 ", m[i][0], m[i][1], m[i][2]);
        text_puts(&t, "0 0 0 1</matrix");
        at = from = strstr(text, close) + sizeof close - 1;
    }
    if (from == *data)
        return;
    text_append(&t, from, (size_t)(end - from));
    source_text(s, &t, data, size);
}
