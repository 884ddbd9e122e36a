/* SPDX-License-Identifier: Apache-2.0 */
/* Identities and their keys; what is told of files that are read; the table of variables. */
#include "base.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct identity *device(struct arena *a, const char *compiler, const char *driver)
{
    struct identity *id = identity_new(a, "device");
    identity_add(id, "name", "a card");
    identity_add(id, "driver", driver);
    identity_add(id, "compiler", compiler);
    return identity_close(id, NULL);
}

static const struct identity *of_case(struct arena *a, const struct identity *dev,
                                      const char *texture)
{
    struct identity *files = identity_new(a, "inputs"), *id = identity_new(a, "case");
    identity_add(files, "scene.json", "00112233445566778899aabbccddeeff");
    identity_add(files, "wood.png", texture);
    identity_add_of(id, dev);
    identity_add(id, "case", "image.strict.wood");
    identity_add_of(id, identity_close(files, NULL));
    return identity_close(id, NULL);
}

static void differs(const struct identity *before, const struct identity *after, const char *want)
{
    struct text t = {0};
    identity_difference(before, after, &t);
    assert_string_equal(t.data, want);
    text_free(&t);
}

/* What was written nested comes back, whatever is known; what was edited does not. */
static void comes_back_from_what_was_written(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const struct identity *id = of_case(&a, device(&a, "gcc 12", "7"), "b"), *back = NULL;
    const char *text = identity_text(&a, id);
    const struct json *root;
    assert_int_equal(json_parse(&a, "t", text, strlen(text), &root, &err), STATUS_OK);
    assert_int_equal(identity_back(&a, "t", "case", root, &back, &err), STATUS_OK);
    assert_string_equal(back->key, id->key);
    assert_string_equal(identity_text(&a, back), text);
    differs(back, of_case(&a, device(&a, "gcc 13", "7"), "b"),
            "device compiler was gcc 12, is gcc 13");
    for (size_t i = 0, n = strlen(text); i < n; i++) { /* another letter or digit anywhere */
        char *edited = arena_strdup(&a, text);
        if (text[i] < '0' || (text[i] > '9' && text[i] < 'a'))
            continue;
        edited[i] = text[i] == '1' ? '2' : '1';
        back = NULL;
        if (json_parse(&a, "t", edited, n, &root, NULL) == STATUS_OK)
            assert_int_not_equal(identity_back(&a, "t", "case", root, &back, &err), STATUS_OK);
        assert_null(back);
    }
    static const char *const bad[] = {"[]", "{}", "{\"key\": 1}", "{\"a\": \"b\"}",
                                      "{\"key\": \"\", \"x\": 1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(json_parse(&a, "t", bad[i], strlen(bad[i]), &root, NULL), STATUS_OK);
        assert_int_equal(identity_back(&a, "t", "case", root, &back, NULL), STATUS_TYPE);
    }
    arena_free(&a);
}

static void key_is_of_all_parts(void **state)
{
    (void)state;
    struct arena a = {0};
    static const char bytes[] = "device\0name\0a card\0driver\0007\0compiler\0gcc 12";
    char hex[33];
    hash_bytes(bytes, sizeof bytes, hex);
    const struct identity *gcc = device(&a, "gcc 12", "7");
    assert_string_equal(gcc->key, hex); /* as base.h says it is made */
    assert_string_equal(device(&a, "gcc 12", "7")->key, gcc->key);
    assert_string_not_equal(device(&a, "gcc 13", "7")->key, gcc->key);
    assert_string_not_equal(device(&a, "gcc 12", "")->key, gcc->key);
    const struct identity *outer = of_case(&a, gcc, "a");
    assert_string_not_equal(outer->key, of_case(&a, device(&a, "gcc 13", "7"), "a")->key);
    assert_string_not_equal(outer->key, of_case(&a, gcc, "b")->key);
    arena_free(&a);
}

static void differences_name_the_part(void **state)
{
    (void)state;
    struct arena a = {0};
    const struct identity *gcc = device(&a, "gcc 12.2.0", "7"),
                          *clang = device(&a, "clang 15.0.6", "7");
    differs(of_case(&a, gcc, "a"), of_case(&a, clang, "a"),
            "device compiler was gcc 12.2.0, is clang 15.0.6");
    differs(of_case(&a, gcc, "ffffffffffffffffffffffffffffffff"),
            of_case(&a, gcc, "0123456789abcdef0123456789abcdef"),
            "inputs wood.png was ffffffff, is 01234567");
    differs(gcc, device(&a, "gcc 12.2.0", NULL), "driver was 7, is not there");
    differs(device(&a, NULL, "7"), gcc, "compiler was not there, is gcc 12.2.0");
    differs(gcc, gcc, "nothing differs");
    struct identity *many = identity_new(&a, "inputs"), *none = identity_new(&a, "inputs");
    for (int i = 0; i < 5; i++)
        identity_add(many, arena_printf(&a, "f%d", i), "x");
    differs(identity_close(many, NULL), identity_close(none, NULL),
            "f0 was x, is not there; f1 was x, is not there; f2 was x, is not there; and 2 more");
    arena_free(&a);
}

static void parts_are_read_back(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const struct identity *dev = device(&a, "gcc \"12\"", "7"), *c = of_case(&a, dev, "a"), *got;
    struct json_writer w = {0}, nested = {0};
    const struct json *parts;
    identity_parts_write(&w, c);
    assert_int_equal(json_parse(&a, "t", w.out.data, w.out.len, &parts, &err), STATUS_OK);
    assert_int_equal(identity_read(&a, "t", "case", c->key, parts, &dev, 1, &got, &err), STATUS_OK);
    assert_string_equal(got->key, c->key);
    assert_ptr_equal(got->parts[0].of, dev); /* known */
    assert_null(got->parts[2].of);           /* not known: its key remains */
    assert_int_equal(identity_read(&a, "t", "case", dev->key, parts, &dev, 1, &got, &err),
                     STATUS_TYPE); /* a key of other parts */
    identity_write(&nested, c);
    assert_non_null(strstr(nested.out.data, "\"device\":{\"key\":"));
    assert_non_null(strstr(nested.out.data, "\"compiler\":\"gcc \\\"12\\\"\""));
    text_free(&w.out);
    text_free(&nested.out);
    arena_free(&a);
}

/* Told by this process, by one that it forked, and for what is not there. */
static void files_are_told_as_they_are_read(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    char dir[] = "/tmp/isophote-identity-XXXXXX", lines[8192], hex[33], *data;
    struct input_file *list;
    size_t size, n;
    int ends[2];
    assert_non_null(mkdtemp(dir));
    const char *one = arena_printf(&a, "%s/one \"1\"", dir), *two = arena_printf(&a, "%s/two", dir),
               *gone = arena_printf(&a, "%s/gone", dir);
    assert_int_equal(file_write(one, "first", 5, &err), STATUS_OK);
    assert_int_equal(file_write(two, "second", 6, &err), STATUS_OK);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(input_file_read(&a, one, 0, &data, &size, &err),
                     STATUS_OK); /* not watched yet */
    inputs_watch(ends[1]);
    assert_int_equal(input_file_read(&a, one, 0, &data, &size, &err), STATUS_OK);
    assert_int_equal(input_file_read(&a, one, 0, &data, &size, &err), STATUS_OK);
    assert_int_equal(input_file_read(&a, gone, 0, &data, &size, &err), STATUS_MISSING);
    assert_true(input_file_there(one) && !input_file_there(gone));
    pid_t child = fork();
    if (child == 0) {
        struct arena b = {0};
        _exit(input_file_read(&b, two, 0, &data, &size, NULL) == STATUS_OK ? 0 : 1);
    }
    int ended = 1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    inputs_watch(-1);
    assert_int_equal(input_file_read(&a, two, 0, &data, &size, &err), STATUS_OK); /* no longer */
    close(ends[1]);
    ssize_t got = read(ends[0], lines, sizeof lines);
    close(ends[0]);
    assert_true(got > 0);
    assert_int_equal(inputs_list(&a, lines, (size_t)got, &list, &n, &err), STATUS_OK);
    assert_int_equal(n, 3);
    assert_string_equal(list[0].path, gone);
    assert_string_equal(list[0].hash, "");
    assert_string_equal(list[1].path, one);
    hash_bytes("first", 5, hex);
    assert_string_equal(list[1].hash, hex);
    input_file_hash(one, hex);
    assert_string_equal(list[1].hash, hex);
    assert_string_equal(list[2].path, two);
    /* a file that is read twice, with a change between */
    static const char twice[] =
        "{\"input\":\"f\",\"hash\":\"a\"}\n{\"input\":\"f\",\"hash\":\"b\"}\n";
    assert_int_equal(inputs_list(&a, twice, sizeof twice - 1, &list, &n, &err), STATUS_OK);
    assert_int_equal(n, 1);
    assert_true(strcmp(list[0].hash, "a") != 0 && strcmp(list[0].hash, "b") != 0);
    static const char bad[] = "{\"input\":\"f\"}\n";
    assert_int_equal(inputs_list(&a, bad, sizeof bad - 1, &list, &n, &err), STATUS_TYPE);
    unlink(one);
    unlink(two);
    rmdir(dir);
    arena_free(&a);
}

static void variables_that_decide_are_parts(void **state)
{
    (void)state;
    struct arena a = {0};
    static const struct {
        const char *name;
        bool part;
    } rows[] = {{"ISOPHOTE_CC", true},
                {"ISOPHOTE_CFLAGS", true},
                {"POCL_WORK_GROUP_METHOD", true},
                {"CUDA_LAUNCH_BLOCKING", true},
                {"HSA_OVERRIDE_GFX_VERSION", true},
                {"ZE_AFFINITY_MASK", true},
                {"CL_CONFIG_CPU_FORCE_MAX_WORK_GROUP_SIZE", true},
                {"OCL_ICD_VENDORS", true},
                {"HIP_VISIBLE_DEVICES", true},
                {"LD_PRELOAD", true},
                {"ISOPHOTE_CACHE", false},
                {"ISOPHOTE_TRUTHS", false},
                {"ISOPHOTE_TRUTHS_MIB", false},
                {"POCL_CACHE_DIR", false},
                {"CUDA_CACHE_PATH", false},
                {"EDITOR", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsetenv(rows[i].name);
        const struct identity *without = identity_environment(&a, NULL);
        if (strcmp(rows[i].name, "LD_PRELOAD") == 0)
            setenv(rows[i].name, "", 1); /* set, and it says nothing */
        else
            setenv(rows[i].name, "v", 1);
        const struct identity *with = identity_environment(&a, NULL);
        bool part = strcmp(with->key, without->key) != 0;
        if (part != (rows[i].part && strcmp(rows[i].name, "LD_PRELOAD") != 0))
            fail_msg("%s", rows[i].name);
        unsetenv(rows[i].name);
    }
    const char *pattern, *reason;
    bool decisive, preload = false;
    for (size_t i = 0; variable_row_at(i, &pattern, &decisive, &reason); i++) {
        assert_true(strlen(reason) > 10);
        preload = preload || (decisive && fnmatch(pattern, "LD_PRELOAD", 0) == 0);
    }
    assert_true(preload);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_is_of_all_parts),
        cmocka_unit_test(comes_back_from_what_was_written),
        cmocka_unit_test(differences_name_the_part),
        cmocka_unit_test(parts_are_read_back),
        cmocka_unit_test(files_are_told_as_they_are_read),
        cmocka_unit_test(variables_that_decide_are_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
