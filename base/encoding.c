/* SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <string.h>

/* ---- UTF-8 ---------------------------------------------------------------------------------- */

size_t utf8_read(const char *s, size_t n, uint32_t *c)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)s;
    size_t len = b[0] < 0x80 ? 1 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    uint32_t v = len == 1 ? b[0] : b[0] & (0x7fU >> len);
    if (len > n || (b[0] >= 0x80 && b[0] < 0xc0) || b[0] >= 0xf8)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (b[i] & 0x3fU);
    }
    if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 0;
    if (c)
        *c = v;
    return len;
}

size_t utf8_write(char to[4], uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((0xf0U << (4 - n)) | c);
    return n;
}

size_t utf8_whole(const char *s, size_t n)
{
    size_t i = n;
    while (i > 0 && n - i < 3 && ((unsigned char)s[i - 1] & 0xc0) == 0x80)
        i--;
    if (i > 0 && (unsigned char)s[i - 1] >= 0xc0 && utf8_read(s + i - 1, n - i + 1, NULL) == 0)
        return i - 1;
    return n;
}

/* ---- digits --------------------------------------------------------------------------------- */

int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(struct text *t, const void *data, size_t size)
{
    const uint8_t *p = data;
    char out[1024];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t n = size - i < 3 ? size - i : 3;
        uint32_t v = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                     (n > 2 ? (uint32_t)p[i + 2] : 0);
        out[used++] = base64_digits[v >> 18];
        out[used++] = base64_digits[v >> 12 & 63];
        out[used++] = n > 1 ? base64_digits[v >> 6 & 63] : '=';
        out[used++] = n > 2 ? base64_digits[v & 63] : '=';
        if (used == sizeof out) {
            text_append(t, out, used);
            used = 0;
        }
    }
    text_append(t, out, used);
}

/* 0..63; -1 for what is no digit. */
static int base64_digit(char c, bool lax)
{
    return c >= 'A' && c <= 'Z'            ? c - 'A'
           : c >= 'a' && c <= 'z'          ? c - 'a' + 26
           : c >= '0' && c <= '9'          ? c - '0' + 52
           : c == '+' || (lax && c == '-') ? 62
           : c == '/' || (lax && c == '_') ? 63
                                           : -1;
}

uint8_t *base64_read(struct arena *a, const char *s, bool lax, size_t *size)
{
    const size_t len = strlen(s), digits = strcspn(s, "="), pad = len - digits;
    if (!lax && (len % 4 != 0 || pad > 2 || strspn(s + digits, "=") != pad))
        return NULL;
    uint8_t *out = ARENA_ARRAY(a, uint8_t, digits / 4 * 3 + 3);
    uint32_t word = 0;
    size_t n = 0;
    for (size_t i = 0; out && i < digits; i++) {
        int digit = base64_digit(s[i], lax);
        if (digit < 0)
            return NULL;
        word = word << 6 | (uint32_t)digit;
        if (i % 4 != 0)
            out[n++] = (uint8_t)(word >> (6 - 2 * (i % 4)));
    }
    *size = n;
    return out;
}
