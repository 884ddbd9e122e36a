/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef ISOPHOTE_BASE_UTF8_H
#define ISOPHOTE_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at s, of which n >= 1 are there; 0 when it is not valid UTF-8. */
static inline size_t utf8_length(const char *s, size_t n)
{
    const unsigned char *b = (const unsigned char *)s;
    if (b[0] < 0x80)
        return 1;
    size_t len = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc2 || b[0] > 0xf4 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
        (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f))
        return 0;
    return len;
}

/* The length of s without a last character that was cut short. */
static inline size_t utf8_whole(const char *s, size_t n)
{
    size_t i = n;
    while (i > 0 && n - i < 3 && ((unsigned char)s[i - 1] & 0xc0) == 0x80)
        i--;
    if (i > 0 && (unsigned char)s[i - 1] >= 0xc0 && utf8_length(s + i - 1, n - i + 1) == 0)
        return i - 1;
    return n;
}

#endif
