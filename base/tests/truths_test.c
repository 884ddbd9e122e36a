/* SPDX-License-Identifier: Apache-2.0 */
/* Truths: kept where we say, within a limit, found on another machine's copy, damage noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

enum { BIG = 300 << 10 }; /* three of them are less than a MiB, four are more */

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/isophote-truths-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    unsetenv("ISOPHOTE_TRUTHS_MIB");
    return setenv("ISOPHOTE_TRUTHS", folder, 1);
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); // NOLINT(cert-env33-c): a name we made
}

static void key_of(unsigned i, char key[33]) { hash_bytes(&i, sizeof i, key); }

static void write_one(unsigned i, size_t size)
{
    char key[33], *data = malloc(size);
    assert_non_null(data);
    memset(data, (int)i, size);
    key_of(i, key);
    truths_write(key, data, size);
    free(data);
}

static bool kept(unsigned i, size_t size)
{
    struct arena a = {0};
    char key[33];
    const void *data;
    size_t n;
    key_of(i, key);
    const bool found = truths_read(&a, key, &data, &n);
    if (found) {
        assert_int_equal(n, size);
        assert_int_equal(((const unsigned char *)data)[n - 1], i);
    }
    arena_free(&a);
    return found;
}

static void path_of(unsigned i, char path[256])
{
    char key[33];
    key_of(i, key);
    snprintf(path, 256, "%s/%s.truth", folder, key);
}

/* As if it was last used so long ago. */
static void used_before(unsigned i, time_t seconds)
{
    char path[256];
    path_of(i, path);
    const struct timespec times[2] = {{.tv_sec = 1000000000 - seconds},
                                      {.tv_sec = 1000000000 - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void lies_where_it_is_told(void **state)
{
    (void)state;
    char path[256], dir[256], cache[128];
    write_one(1, 10);
    path_of(1, path);
    assert_int_equal(access(path, R_OK), 0);
    assert_true(kept(1, 10));
    assert_int_equal(truths_dir(dir, sizeof dir, NULL), STATUS_OK);
    assert_string_equal(dir, folder);
    /* without the variable it is a folder of the cache */
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("ISOPHOTE_CACHE", cache, 1);
    setenv("ISOPHOTE_TRUTHS", "", 1);
    assert_false(kept(1, 10));
    assert_int_equal(truths_dir(dir, sizeof dir, NULL), STATUS_OK);
    assert_int_equal(strncmp(dir, cache, strlen(cache)), 0);
    assert_string_equal(dir + strlen(cache), "/truth");
    setenv("ISOPHOTE_TRUTHS", folder, 1);
}

static void a_copy_is_as_good(void **state)
{
    (void)state;
    char command[512], copy[128];
    write_one(2, 100);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    snprintf(command, sizeof command, "mkdir %s && cp %s/*.truth %s", copy, folder, copy);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): names we made
    setenv("ISOPHOTE_TRUTHS", copy, 1);
    assert_true(kept(2, 100));
    assert_int_equal(chmod(copy, 0777), 0); /* anybody could have put it there */
    assert_false(kept(2, 100));
    setenv("ISOPHOTE_TRUTHS", folder, 1);
}

static void another_name_is_no_truth(void **state)
{
    (void)state;
    char from[256], to[256];
    write_one(3, 100);
    path_of(3, from);
    path_of(4, to);
    assert_int_equal(rename(from, to), 0);
    assert_false(kept(3, 100));
    assert_false(kept(4, 100));
}

static void what_was_used_longest_ago_goes(void **state)
{
    (void)state;
    char other[128];
    snprintf(other, sizeof other, "%s/notes.txt", folder);
    assert_int_equal(file_write(other, "mine", 4, NULL), STATUS_OK);
    setenv("ISOPHOTE_TRUTHS_MIB", "1", 1);
    for (unsigned i = 10; i < 13; i++) {
        write_one(i, BIG);
        used_before(i, 100 - (time_t)i);
    }
    assert_true(kept(10, BIG)); /* it is the newest now */
    write_one(13, BIG);
    assert_true(kept(10, BIG));
    assert_false(kept(11, BIG));
    assert_true(kept(12, BIG));
    assert_true(kept(13, BIG));
    assert_int_equal(access(other, R_OK), 0); /* what is no truth is not ours to remove */
    write_one(14, 2 << 20);                   /* more than all may be: not kept, and nothing goes */
    assert_false(kept(14, 2 << 20));
    assert_true(kept(12, BIG));
    setenv("ISOPHOTE_TRUTHS_MIB", "0", 1);
    write_one(15, 1);
    assert_false(kept(15, 1));
    setenv("ISOPHOTE_TRUTHS_MIB", "much", 1); /* no number: the default */
    write_one(15, 1);
    assert_true(kept(15, 1));
    unsetenv("ISOPHOTE_TRUTHS_MIB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_where_it_is_told),
        cmocka_unit_test(a_copy_is_as_good),
        cmocka_unit_test(another_name_is_no_truth),
        cmocka_unit_test(what_was_used_longest_ago_goes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
