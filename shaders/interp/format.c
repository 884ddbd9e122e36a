/* SPDX-License-Identifier: Apache-2.0 */
/* format.c: what printf and its kin make of a format and values. */
#include "front/offers.h"
#include "interp.h"

#include <math.h>
#include <string.h>

/* The formats are made of conversions that asl_format_spec() has read: flags, a width, a precision,
 * one letter. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void put_int(struct text *out, const char *spec, size_t n, char letter, int32_t v)
{
    char f[64];
    if (letter == 'c') {
        (void)snprintf(f, sizeof f, "%%%.*s", (int)n, spec);
        text_printf(out, f, v & 127);
        return;
    }
    (void)snprintf(f, sizeof f, "%%%.*s", (int)n, spec);
    text_printf(out, f, v);
}

static void put_float(struct text *out, const char *spec, size_t n, float v)
{
    char f[64];
    if (isnan(v)) /* C may print its sign */
        v = NAN;
    (void)snprintf(f, sizeof f, "%%%.*s", (int)n, spec);
    text_printf(out, f, (double)v);
}

static void put_string(struct text *out, const char *spec, size_t n, const char *s)
{
    char f[64];
    if (n == 1) {
        text_puts(out, s);
        return;
    }
    (void)snprintf(f, sizeof f, "%%%.*s", (int)n, spec);
    text_printf(out, f, s);
}

/* The widths that a format may ask for are kept small: "%999999999d" is no way to use up memory. */
static bool too_wide(const char *spec, size_t n)
{
    unsigned digits = 0;
    for (size_t i = 0; i < n; i++) {
        digits = spec[i] >= '0' && spec[i] <= '9' ? digits + 1 : 0;
        if (digits > 4)
            return true;
    }
    return false;
}

static void put_value(struct asl_run *r, struct text *out, const char *spec, size_t n, char letter,
                      const struct asl_place *p)
{
    enum asl_base want = asl_format_wants(letter);
    for (size_t i = 0; i < p->n; i++) {
        if (i)
            text_puts(out, " ");
        enum asl_base have = asl_type_scalar(p->type, i);
        if (want == ASL_INT && have == ASL_INT) {
            put_int(out, spec, n, letter, p->v[i].i);
        } else if (want == ASL_FLOAT && have == ASL_FLOAT) {
            put_float(out, spec, n, p->v[i].f);
        } else if (want == ASL_STRING && have == ASL_STRING) {
            put_string(out, spec, n, p->v[i].s);
        } else if (want == ASL_STRING && have == ASL_CLOSURE) {
            asl_closure_print(p->v[i].c, out);
        } else {
            char buf[ASL_TYPE_TEXT_SIZE];
            asl_report(r, ASL_MSG_ERROR, "a format prints %%%c with a value of type %s", letter,
                       asl_type_text(p->type, buf, sizeof buf));
            return;
        }
    }
}

void asl_format(struct asl_run *r, const char *fmt, const struct asl_place *args, size_t count,
                struct text *out)
{
    size_t next = 0;
    for (const char *p = fmt; *p;) {
        size_t plain = strcspn(p, "%");
        text_append(out, p, plain);
        p += plain;
        if (!*p)
            break;
        char letter;
        size_t n = asl_format_spec(p + 1, &letter);
        if (n == 0 || too_wide(p + 1, n)) {
            asl_report(r, ASL_MSG_ERROR, "a format holds a conversion that does not exist: %.20s",
                       p);
            text_puts(out, "%");
            p++;
            continue;
        }
        if (letter == '%')
            text_puts(out, "%");
        else if (next >= count)
            asl_report(r, ASL_MSG_ERROR, "a format asks for more than the %zu values given", count);
        else
            put_value(r, out, p + 1, n, letter, &args[next++]);
        p += n + 1;
    }
}
