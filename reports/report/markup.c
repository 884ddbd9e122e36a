/* SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"

#include <math.h>
#include <string.h>

/* ---- escaping --------------------------------------------------------------------------- */

static bool xml_allows(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xfffe && c != 0xffff);
}

void markup_escape(struct text *t, const char *s)
{
    size_t n = s ? strlen(s) : 0;
    while (n) {
        uint32_t c = 0;
        size_t len = utf8_read(s, n, &c);
        const char *entity = len == 0 || !xml_allows(c) ? "\xef\xbf\xbd"
                             : c == '&'                 ? "&amp;"
                             : c == '<'                 ? "&lt;"
                             : c == '>'                 ? "&gt;"
                             : c == '"'                 ? "&quot;"
                             : c == '\''                ? "&#39;"
                                                        : NULL;
        if (entity)
            text_puts(t, entity);
        else
            text_append(t, s, len);
        s += len ? len : 1;
        n -= len ? len : 1;
    }
}

/* Formats one conversion that is not a string; spec is "%...x" alone. */
static void number_put(struct text *t, const char *spec, va_list *ap)
{
    char buf[64];
    size_t n = strlen(spec);
    char last = spec[n - 1];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (last == 'f' || last == 'g')
        snprintf(buf, sizeof buf, spec, va_arg(*ap, double));
    else if (strstr(spec, "zu"))
        snprintf(buf, sizeof buf, spec, va_arg(*ap, size_t));
    else if (strstr(spec, "ll"))
        snprintf(buf, sizeof buf, spec, va_arg(*ap, long long));
    else
        snprintf(buf, sizeof buf, spec, va_arg(*ap, int));
#pragma GCC diagnostic pop
    text_puts(t, buf);
}

void markup_printf(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    while (*fmt) {
        size_t plain = strcspn(fmt, "%");
        text_append(t, fmt, plain);
        fmt += plain;
        if (!*fmt)
            break;
        char spec[16];
        size_t n = 1 + strcspn(fmt + 1, "sdufg%!");
        if (!fmt[n] || n + 2 > sizeof spec) { /* not a conversion of ours: shown as it is */
            text_puts(t, fmt);
            break;
        }
        memcpy(spec, fmt, n + 1);
        spec[n + 1] = '\0';
        if (fmt[n] == 's') {
            markup_escape(t, va_arg(ap, const char *));
        } else if (fmt[n] == '!') {
            const char *raw = va_arg(ap, const char *);
            text_puts(t, raw ? raw : "");
        } else if (fmt[n] == '%') {
            text_puts(t, "%");
        } else {
            number_put(t, spec, &ap);
        }
        fmt += n + 1;
    }
    va_end(ap);
}

/* ---- numbers ---------------------------------------------------------------------------- */

/* Three significant digits without an exponent. */
static void three_digits(double v, char *buf, size_t size)
{
    int digits = v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
    snprintf(buf, size, "%.*f", digits, v);
}

struct unit {
    double size;
    const char *name;
};

static const char *with_unit(double v, const struct unit *units, size_t count, char buf[32])
{
    char number[24];
    size_t i = 0;
    while (i + 1 < count && v < 0.9995 * units[i].size)
        i++;
    three_digits(v / units[i].size, number, sizeof number);
    snprintf(buf, 32, "%s %s", number, units[i].name);
    return buf;
}

const char *rate_text(double samples_per_s, char buf[32])
{
    static const struct unit units[] = {{1e9, "G/s"}, {1e6, "M/s"}, {1e3, "k/s"}, {1, "/s"}};
    return with_unit(samples_per_s, units, 4, buf);
}

const char *seconds_text(double s, char buf[32])
{
    static const struct unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "\xc2\xb5s"}};
    if (s >= 99.95)
        snprintf(buf, 32, "%.0f s", s);
    else if (s >= 0)
        return with_unit(s, units, 3, buf);
    else
        snprintf(buf, 32, "-");
    return buf;
}

const char *bytes_text(double bytes, char buf[32])
{
    static const struct unit units[] = {
        {1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}};
    if (bytes < 1024) {
        snprintf(buf, 32, "%.0f B", bytes);
        return buf;
    }
    return with_unit(bytes, units, 4, buf);
}

const char *ratio_text(double r, char buf[32])
{
    three_digits(r, buf, 32);
    return buf;
}
