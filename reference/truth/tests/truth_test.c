/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of ground truths: a miss, a hit, and every kind of damage. */
#include "tests/test_scene.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/isophote-truth-XXXXXX";

static const struct reference_job JOB = {
    .width = 9, .height = 5, .sample_count = 3, .max_depth = 4, .rr_depth = 4, .seed = 8};

static struct reference_picture truth(const struct scene *s, const struct reference_job *job,
                                      bool expect_cached)
{
    struct reference_picture p;
    struct error err = {0};
    bool cached;
    if (reference_truth(s, job, &p, &cached, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(cached, expect_cached);
    return p;
}

static void assert_truth(const struct scene *s, const struct reference_picture *expected,
                         bool expect_cached)
{
    struct reference_picture p = truth(s, &JOB, expect_cached);
    size_t n = (size_t)JOB.width * JOB.height * sizeof(double);
    assert_int_equal(p.width, JOB.width);
    assert_int_equal(p.height, JOB.height);
    assert_int_equal(p.samples, JOB.sample_count);
    assert_memory_equal(p.beauty, expected->beauty, 3 * n);
    assert_memory_equal(p.variance, expected->variance, 3 * n);
    assert_memory_equal(p.albedo, expected->albedo, 3 * n);
    assert_memory_equal(p.normal, expected->normal, 3 * n);
    assert_memory_equal(p.depth, expected->depth, n);
    reference_picture_free(&p);
}

/* Files in the cache; the last one's path into `path`. */
static int files(char *path, size_t size)
{
    char name[512];
    int count = 0;
    snprintf(name, sizeof name, "%s/truth", folder);
    DIR *d = opendir(name);
    if (!d)
        return 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        count++;
        snprintf(path, size, "%s/%s", name, e->d_name);
    }
    closedir(d);
    return count;
}

static void test_cache(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    char path[1024];
    assert_int_equal(files(path, sizeof path), 0);
    struct reference_picture first = test_render(s, &JOB);
    assert_truth(s, &first, false);
    assert_int_equal(files(path, sizeof path), 1);
    assert_truth(s, &first, true);

    struct arena arena = {0};
    char *good;
    size_t size;
    assert_int_equal(file_read(&arena, path, 0, &good, &size, NULL), STATUS_OK);
    char *bad = malloc(size + 1);
    assert_non_null(bad);
    /* one bit anywhere: in the header, in the values */
    for (size_t i = 0; i < 24; i++) {
        const size_t place = i < 12 ? i * 10 : (size - 1) * (i - 11) / 12;
        memcpy(bad, good, size);
        bad[place] = (char)(bad[place] ^ 1 << i % 8);
        assert_int_equal(file_write(path, bad, size, NULL), STATUS_OK);
        assert_truth(s, &first, false);
        assert_truth(s, &first, true); /* it was put right */
    }
    /* cut short, empty, and too long */
    const size_t sizes[] = {0, 10, size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(file_write(path, good, sizes[i], NULL), STATUS_OK);
        assert_truth(s, &first, false);
    }
    memcpy(bad, good, size);
    bad[size] = 0;
    assert_int_equal(file_write(path, bad, size + 1, NULL), STATUS_OK);
    assert_truth(s, &first, false);
    free(bad);
    arena_free(&arena);
    assert_int_equal(files(path, sizeof path), 1); /* nothing else was left there */
    reference_picture_free(&first);
    test_scene_free(s);
}

/* All that changes a picture is in the key; threads are not. */
static void test_keys(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    char path[1024];
    int before = files(path, sizeof path);
    for (int k = 0; k < 10; k++) {
        struct reference_job job = JOB;
        job.width += k == 0;
        job.height += k == 1;
        job.sample_begin += k == 2;
        job.sample_count += k == 3;
        job.max_depth += k == 4;
        job.rr_depth += k == 5;
        job.seed += k == 6;
        job.seed += k == 7 ? (uint64_t)1 << 40 : 0;
        s->hash[5] = k == 8 ? 'a' : '0';
        job.rounded = k == 9;
        struct reference_picture p = truth(s, &job, false);
        reference_picture_free(&p);
        job.threads = 1;
        p = truth(s, &job, true);
        reference_picture_free(&p);
    }
    assert_int_equal(files(path, sizeof path), before + 10);
    test_scene_free(s);
}

/* Without a folder for it the picture comes all the same; a cancelled render leaves nothing. */
static void test_no_cache(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference_job job = JOB;
    job.seed = 99;
    setenv("ISOPHOTE_CACHE", "/dev/null/nowhere", 1);
    for (int i = 0; i < 2; i++) {
        struct reference_picture p = truth(s, &job, false);
        reference_picture_free(&p);
    }
    setenv("ISOPHOTE_CACHE", folder, 1);
    char path[1024];
    int before = files(path, sizeof path);
    struct reference_picture p = {.width = 77};
    struct error err;
    bool cached = true;
    cancel_requested = 1;
    enum status status = reference_truth(s, &job, &p, &cached, &err);
    cancel_requested = 0;
    assert_int_equal(status, STATUS_CANCELLED);
    assert_true(p.width == 77 && cached);
    assert_int_equal(files(path, sizeof path), before);
    test_scene_free(s);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? setenv("ISOPHOTE_CACHE", folder, 1) : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[1024];
    while (files(path, sizeof path) > 0)
        unlink(path);
    snprintf(path, sizeof path, "%s/truth", folder);
    rmdir(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_no_cache),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
