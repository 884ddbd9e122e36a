/* SPDX-License-Identifier: Apache-2.0 */
/* The scenes of scenes/real: without their data MISSING, with the command that gets it; with it
 * (SKIP, 77, otherwise) each loads, and files on which Assimp itself crashes are errors. */
#include "import/import.h"
#include "scenes.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const packages[] = {"glmark2-data", "blender-data", "assimp-testmodels"};
static struct arena arena;
static char data[2048];

/* Calls check for every scene of scenes/real. */
static size_t each_scene(void (*check)(const char *path))
{
    const char *const *paths;
    size_t count, found = 0;
    struct error err = {0};
    assert_int_equal(scene_library(&arena, true, &paths, &count, &err), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        if (strstr(paths[i], "/real/")) {
            check(paths[i]);
            found++;
        }
    return found;
}

static void expect_missing(const char *path)
{
    struct scene *s;
    struct error err = {0};
    if (scene_load(path, &s, &err) != STATUS_MISSING)
        fail_msg("%s: %s: %s", path, status_name(err.code), err.msg);
    static const char fetch[] = "/scenes/real/fetch' ";
    const char *command = strstr(err.msg, fetch);
    assert_non_null(command);
    bool known = false;
    for (size_t i = 0; i < 3; i++)
        known |= strcmp(command + sizeof fetch - 1, packages[i]) == 0;
    assert_true(known);
}

static void test_absent(void **state)
{
    (void)state;
    char dir[] = "/tmp/isophote-no-data-XXXXXX";
    const char *before = getenv("ISOPHOTE_DATA");
    before = before ? arena_strdup(&arena, before) : NULL;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(setenv("ISOPHOTE_DATA", dir, 1), 0);
    size_t n = each_scene(expect_missing);
    assert_true(n >= 9);
    assert_int_equal(before ? setenv("ISOPHOTE_DATA", before, 1) : unsetenv("ISOPHOTE_DATA"), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void expect_loads(const char *path)
{
    struct scene *s;
    struct error err = {0};
    if (scene_load(path, &s, &err) != STATUS_OK)
        fail_msg("%s: %s: %s", path, status_name(err.code), err.msg);
    assert_true(s->triangle_count > 1000);
    assert_int_equal(s->environment.type, ENVIRONMENT_MAP);
    scene_free(s);
}

static void test_present(void **state)
{
    (void)state;
    assert_true(each_scene(expect_loads) >= 9);
}

/* Assimp 5.2.5 reads past the end of these. */
static void test_importer_crashes(void **state)
{
    (void)state;
    static const char *const files[] = {"RAW/WithTexture.raw", "RAW/WithColor.raw"};
    for (size_t i = 0; i < 2; i++) {
        char path[4096];
        struct model m = {0};
        struct error err = {0};
        snprintf(path, sizeof path, "%s/assimp-testmodels/usr/share/assimp/models/%s", data,
                 files[i]);
        enum status s = model_import(path, MODEL_WHOLE, &m, &err);
        if (s == STATUS_OK) { /* a newer Assimp that was mended */
            model_close(&m);
            continue;
        }
        assert_int_equal(s, STATUS_PARSE);
        assert_non_null(strstr(err.msg, files[i]));
    }
}

static bool data_is_here(void)
{
    const char *dir = getenv("ISOPHOTE_DATA");
    struct error err;
    if (dir && *dir)
        snprintf(data, sizeof data, "%s", dir);
    else if (cache_dir("data", data, sizeof data, &err) != STATUS_OK)
        return false;
    for (size_t i = 0; i < 3; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", data, packages[i]);
        if (access(path, F_OK) != 0) {
            printf("SKIP: %s is not here: get it with: scenes/real/fetch\n", path);
            return false;
        }
    }
    return true;
}

int main(void)
{
    const struct CMUnitTest always[] = {cmocka_unit_test(test_absent)};
    const struct CMUnitTest with_data[] = {cmocka_unit_test(test_present),
                                           cmocka_unit_test(test_importer_crashes)};
    int failed = cmocka_run_group_tests(always, NULL, NULL);
    bool skip = !data_is_here();
    if (!skip)
        failed += cmocka_run_group_tests(with_data, NULL, NULL);
    arena_free(&arena);
    return failed ? 1 : skip ? 77 : 0;
}
