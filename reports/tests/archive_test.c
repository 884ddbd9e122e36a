/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports.h"

/* The trees of the first n of eight inputs, as Certificate Transparency's own tests have them. */
static void trees_are_those_of_rfc_9162(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *root;
    } rows[] = {
        {"", 0, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
        {"\0", 1, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"},
        {"\x10", 1, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
        {"\x20\x21", 2, "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"},
        {"\x30\x31", 2, "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
        {"@ABC", 4, "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"},
        {"PQRSTUVW", 8, "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"},
        {"`abcdefghijklmno", 16,
         "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"},
    };
    struct sum leaves[8] = {0}, root;
    char hex[65];
    sum_tree(leaves, 0, &root);
    sum_hex(&root, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sum_leaf(rows[i].bytes, rows[i].size, &leaves[i]);
        sum_tree(leaves, i + 1, &root);
        sum_hex(&root, hex);
        assert_string_equal(hex, rows[i].root);
    }
}

static void archive_make(struct text *out)
{
    struct archive in = {0};
    in.members[ARCHIVE_RESULTS].data = "{}\n";
    in.members[ARCHIVE_RESULTS].size = 3;
    in.members[ARCHIVE_LIST].data = "kernel.rng\n";
    in.members[ARCHIVE_LIST].size = 11;
    in.members[ARCHIVE_SKIPS].data = "";
    assert_int_equal(archive_write(&in, out, NULL), STATUS_OK);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct arena a = {0};
    struct text t = {0};
    struct archive got;
    archive_make(&t);
    assert_int_equal(archive_read(&a, "x", t.data, t.len, &got, NULL), STATUS_OK);
    assert_int_equal(got.members[ARCHIVE_LIST].size, 11);
    assert_memory_equal(got.members[ARCHIVE_LIST].data, "kernel.rng\n", 11);
    assert_non_null(got.members[ARCHIVE_SKIPS].data);
    assert_null(got.members[ARCHIVE_WAIVERS].data);
    text_free(&t);
    arena_free(&a);
}

/* No other file is one: each byte counts, and each length. */
static void nothing_else_is_taken(void **state)
{
    (void)state;
    struct arena a = {0};
    struct text t = {0};
    struct archive got;
    archive_make(&t);
    for (size_t i = 0; i < t.len; i++)
        for (int bit = 0; bit < 8; bit++) {
            t.data[i] = (char)(t.data[i] ^ 1 << bit);
            assert_int_not_equal(archive_read(&a, "x", t.data, t.len, &got, NULL), STATUS_OK);
            t.data[i] = (char)(t.data[i] ^ 1 << bit);
            arena_free(&a);
        }
    for (size_t n = 0; n < t.len; n++)
        assert_int_equal(archive_read(&a, "x", t.data, n, &got, NULL), STATUS_PARSE);
    text_append(&t, "\0", 1);
    assert_int_equal(archive_read(&a, "x", t.data, t.len, &got, NULL), STATUS_PARSE);
    text_free(&t);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_those_of_rfc_9162),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(nothing_else_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
