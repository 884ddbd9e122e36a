/* SPDX-License-Identifier: Apache-2.0 */
/* bi_string.c: strings, regular expressions, messages to the user. */
#include "interp.h"
#include "regex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void say(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                union asl_slot *out)
{
    enum asl_builtin_id id = e->builtin->id;
    size_t fmt = id == BI_FPRINTF;
    struct text t = {0};
    asl_format(r, args[fmt].v[0].s, args + fmt + 1, e->arg_count - fmt - 1, &t);
    if (t.failed) {
        text_free(&t);
        asl_run_fail(r, STATUS_MEMORY, e->at, "out of memory");
    }
    const char *s = asl_point_string(r, t.data ? t.data : "", t.len);
    text_free(&t);
    if (id == BI_FORMAT)
        out[0].s = s;
    else if (id == BI_PRINTF)
        asl_message(r, ASL_PRINT, "", s);
    else if (id == BI_FPRINTF)
        asl_message(r, ASL_FPRINT, args[0].v[0].s, s);
    else if (id == BI_ERROR || id == BI_WARNING)
        asl_report_text(r, id == BI_ERROR ? ASL_MSG_ERROR : ASL_MSG_WARNING, r->shader, s);
}

static const char *concat(struct asl_run *r, const struct asl_place *args, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += strlen(args[i].v[0].s);
    char *d = asl_point_alloc(r, n + 1, 1);
    size_t k = 0;
    for (size_t i = 0; i < count; i++) {
        size_t l = strlen(args[i].v[0].s);
        memcpy(d + k, args[i].v[0].s, l);
        k += l;
    }
    return d;
}

static int32_t to_int(const char *s)
{
    s += strspn(s, " \t\n\r\f\v");
    bool minus = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    int64_t v = 0;
    for (; *s >= '0' && *s <= '9'; s++)
        if (v < (int64_t)1 << 40)
            v = v * 10 + (*s - '0');
    if (minus)
        v = -v;
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

/* A decimal number only: no hexadecimal, no "inf" or "nan". */
static float to_float(const char *s)
{
    s += strspn(s, " \t\n\r\f\v");
    char buf[400];
    size_t n = 0, digits = 0;
    if (s[n] == '-' || s[n] == '+')
        n++;
    for (; (s[n] >= '0' && s[n] <= '9') || s[n] == '.'; n++) {
        if (s[n] == '.' && memchr(s, '.', n))
            break;
        digits += s[n] != '.';
    }
    if (!digits)
        return 0;
    if (s[n] == 'e' || s[n] == 'E') {
        size_t x = n + 1;
        if (s[x] == '-' || s[x] == '+')
            x++;
        if (s[x] >= '0' && s[x] <= '9') {
            while (s[x] >= '0' && s[x] <= '9')
                x++;
            n = x;
        }
    }
    if (n >= sizeof buf)
        n = sizeof buf - 1;
    memcpy(buf, s, n);
    buf[n] = 0;
    return strtof(buf, NULL);
}

static const char *substr(struct asl_run *r, const char *s, int32_t start, int32_t length)
{
    int64_t n = (int64_t)strlen(s), b = start;
    if (b < 0)
        b += n;
    b = b < 0 ? 0 : b > n ? n : b;
    int64_t l = length < 0 ? 0 : length;
    if (l > n - b)
        l = n - b;
    return asl_point_string(r, s + b, (size_t)l);
}

/* How many words split() may write: as many as the array holds, and as it was told. */
static size_t room(const struct asl_place *words, int32_t most)
{
    size_t n = most < 0 ? 0 : (size_t)most;
    return n < words->n ? n : words->n;
}

/* Words between separators. An empty separator is any run of white space, and blanks at both ends
 * do not count; else each separator ends a word, words may be empty, and an empty text has no
 * words. The last word that there is room for is the whole rest. */
static int32_t split(struct asl_run *r, const char *s, const struct asl_place *to, const char *sep,
                     size_t limit)
{
    size_t count = 0, seplen = strlen(sep);
    static const char blank[] = " \t\n\r\f\v";
    if (seplen == 0)
        s += strspn(s, blank);
    while (count < limit && *s) {
        size_t n = strlen(s), skip = 0;
        if (count + 1 < limit && seplen == 0) {
            n = strcspn(s, blank);
            skip = strspn(s + n, blank);
        } else if (count + 1 < limit) {
            const char *p = strstr(s, sep);
            if (p) {
                n = (size_t)(p - s);
                skip = seplen;
            }
        }
        to->v[count++].s = asl_point_string(r, s, n);
        s += n + skip;
        if (seplen && skip && !*s) /* a separator at the end: an empty last word */
            to->v[count++].s = "";
    }
    return (int32_t)count;
}

static int32_t regex(struct asl_run *r, const struct asl_expr *e, const struct asl_place *args)
{
    const char *s = args[0].v[0].s, *pattern = args[e->arg_count - 1].v[0].s;
    struct asl_place none = {0};
    const struct asl_place *to = e->arg_count == 3 ? &args[1] : &none;
    size_t room = (to->n + 1) / 2, groups = 0;
    int32_t(*spans)[2] = asl_point_alloc(r, room + 1, sizeof *spans);
    struct regex_why why;
    enum regex_result m =
        regex_run(pattern, s, e->builtin->id == BI_REGEX_MATCH, spans, room, &groups, &why);
    if (m == REGEX_BAD || m == REGEX_TOO_LONG)
        asl_report(r, ASL_MSG_ERROR, "regular expression \"%.200s\": %s", pattern, why.text);
    int32_t whole = (int32_t)strlen(s), beyond = (int32_t)strlen(pattern);
    for (size_t i = 0; i < to->n; i++) {
        bool group = m == REGEX_YES && i / 2 < groups;
        int32_t at = group ? spans[i / 2][i % 2] : beyond;
        to->v[i].i = at < 0 ? whole : at;
    }
    return m == REGEX_YES;
}

void asl_bi_string(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                   union asl_slot *out)
{
    const char *s = args[0].v[0].s;
    switch (e->builtin->id) {
    case BI_PRINTF:
    case BI_FORMAT:
    case BI_ERROR:
    case BI_WARNING:
    case BI_FPRINTF:
        say(r, e, args, out);
        break;
    case BI_CONCAT:
        out[0].s = concat(r, args, e->arg_count);
        break;
    case BI_STRLEN:
        out[0].i = (int32_t)strlen(s);
        break;
    case BI_STARTSWITH:
        out[0].i = strncmp(s, args[1].v[0].s, strlen(args[1].v[0].s)) == 0;
        break;
    case BI_ENDSWITH: {
        size_t a = strlen(s), b = strlen(args[1].v[0].s);
        out[0].i = b <= a && strcmp(s + a - b, args[1].v[0].s) == 0;
        break;
    }
    case BI_STOI:
        out[0].i = to_int(s);
        break;
    case BI_STOF:
        asl_dual_put(out, 1, asl_wants(r, e), 0, d_const(to_float(s)));
        break;
    case BI_SPLIT:
        out[0].i = split(r, s, &args[1], e->arg_count > 2 ? args[2].v[0].s : "",
                         room(&args[1], e->arg_count > 3 ? args[3].v[0].i : INT32_MAX));
        break;
    case BI_SUBSTR:
        out[0].s = substr(r, s, args[1].v[0].i, e->arg_count > 2 ? args[2].v[0].i : INT32_MAX);
        break;
    case BI_GETCHAR: {
        int32_t i = args[1].v[0].i;
        out[0].i = i >= 0 && (size_t)i < strlen(s) ? (unsigned char)s[i] : 0;
        break;
    }
    default:
        out[0].i = regex(r, e, args);
    }
}
