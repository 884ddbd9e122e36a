/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base.h"

static void numbers_have_their_low_byte_first(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x01, 0x02, 0xfe, 0xff};
    assert_int_equal(little16(bytes), 0x0201);
    assert_int_equal(little16(bytes + 2), 0xfffe);
    assert_int_equal(little32(bytes), 0xfffe0201);
}

static void hexadecimal_digits(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        const char *at = c ? strchr("0123456789abcdef", c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
        assert_int_equal(hex_digit((char)c), at ? at - strchr("0123456789abcdef", '0') : -1);
    }
}

static void base64_vectors(void **state) /* RFC 4648, section 10 */
{
    (void)state;
    static const char *const vectors[][2] = {{"", ""},
                                             {"f", "Zg=="},
                                             {"fo", "Zm8="},
                                             {"foo", "Zm9v"},
                                             {"foob", "Zm9vYg=="},
                                             {"fooba", "Zm9vYmE="},
                                             {"foobar", "Zm9vYmFy"},
                                             {"\xfb\xef\xff", "++//"}};
    struct arena a = {0};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct text t = {0};
        base64_write(&t, vectors[i][0], strlen(vectors[i][0]));
        assert_string_equal(t.data ? t.data : "", vectors[i][1]);
        text_free(&t);
        for (int lax = 0; lax < 2; lax++) {
            size_t n = 0;
            const uint8_t *back = base64_read(&a, vectors[i][1], lax, &n);
            assert_non_null(back);
            assert_int_equal(n, strlen(vectors[i][0]));
            assert_memory_equal(back, vectors[i][0], n);
        }
    }
    arena_free(&a);
}

static void base64_of_many_bytes(void **state)
{
    (void)state;
    uint8_t bytes[3000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 167 + i / 256);
    struct arena a = {0};
    for (size_t size = sizeof bytes - 3; size <= sizeof bytes; size++) {
        struct text t = {0};
        size_t n = 0;
        base64_write(&t, bytes, size);
        assert_int_equal(t.len, (size + 2) / 3 * 4);
        const uint8_t *back = base64_read(&a, t.data, false, &n);
        assert_non_null(back);
        assert_int_equal(n, size);
        assert_memory_equal(back, bytes, size);
        text_free(&t);
    }
    arena_free(&a);
}

static void what_is_not_base64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int lax; /* bytes that a lax reader makes of it; -1: refused */
    } rows[] = {{"Zg=", 1},   {"Z", 0},       {"Zg==Zg==", 1}, {"Z===", 0},
                {"=Zg=", 0},  {"Zm9v\n", -1}, {"Zm-v", 3},     {"Zm_v", 3},
                {"Zm9*", -1}, {"Zm9vYg", 4},  {"Zm9 vYg=", -1}};
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = 99;
        assert_null(base64_read(&a, rows[i].text, false, &n));
        assert_int_equal(n, 99);
        const uint8_t *out = base64_read(&a, rows[i].text, true, &n);
        assert_int_equal(out ? (int)n : -1, rows[i].lax);
    }
    arena_free(&a);
}

/* Every character comes back; every other sequence of up to four bytes is refused (RFC 3629). */
static void every_character(void **state)
{
    (void)state;
    size_t found = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        char s[4];
        uint32_t back = 0;
        size_t n = utf8_write(s, c);
        size_t read = utf8_read(s, n, &back);
        if (c >= 0xd800 && c < 0xe000) {
            assert_int_equal(read, 0);
            continue;
        }
        assert_int_equal(read, n);
        assert_int_equal(back, c);
        assert_int_equal(n > 1 ? utf8_read(s, n - 1, &back) : 0, 0); /* cut short */
        found += n > 1;
    }
    for (uint32_t lead = 0x80; lead < 0x100; lead++)
        for (uint32_t i = 0; i < 1U << 18; i++) {
            const char s[4] = {(char)lead, (char)(0x80 | (i >> 12)), (char)(0x80 | (i >> 6 & 63)),
                               (char)(0x80 | (i & 63))};
            size_t n = utf8_read(s, 4, NULL);
            /* a character of n bytes is met once for each of what may stand behind it */
            if (n && (i & ((1U << 6 * (4 - n)) - 1)) == 0)
                found--;
        }
    assert_int_equal(found, 0);
    assert_int_equal(utf8_read("\xc3(", 2, NULL), 0);
    assert_int_equal(utf8_read("\xe2\x82(", 3, NULL), 0);
}

static void cut_between_characters(void **state)
{
    (void)state;
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d";
    static const size_t whole[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
    for (size_t n = 0; n < sizeof text; n++)
        assert_int_equal(utf8_whole(text, n), whole[n]);
    assert_int_equal(utf8_whole("ab\xff", 3), 2);
    assert_int_equal(utf8_whole("\x80\x80\x80\x80", 4), 4); /* not cut: it never was UTF-8 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_their_low_byte_first),
        cmocka_unit_test(hexadecimal_digits),
        cmocka_unit_test(base64_vectors),
        cmocka_unit_test(base64_of_many_bytes),
        cmocka_unit_test(what_is_not_base64),
        cmocka_unit_test(every_character),
        cmocka_unit_test(cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
