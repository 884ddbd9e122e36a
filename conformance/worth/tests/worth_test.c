/* SPDX-License-Identifier: Apache-2.0 */
/* lists/worth.json and kept.json, and the order that they give. */
#include "conformance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void select_core(struct arena *a, const char *const *scenes, size_t scene_count,
                        const struct conform_case **out, size_t *count)
{
    struct error err = {0};
    const struct conform_options o = {.scenes = scenes, .scene_count = scene_count};
    assert_int_equal(conform_select(a, &o, out, count, &err), STATUS_OK);
}

/* A case of the core list finds what no other does, or there is a reason for it. */
static void test_each_case_has_a_reason(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const struct worth *w;
    const struct conform_case *cases;
    size_t count;
    assert_int_equal(worth_read(&a, &w, &err), STATUS_OK);
    select_core(&a, NULL, 0, &cases, &count);
    assert_true(count > 500);
    for (size_t i = 0; i < count; i++) {
        const struct case_worth of = worth_of(w, cases[i].name);
        if (of.known && !of.alone && !of.kept)
            fail_msg("%s notices nothing that others do not; kept.json has no reason for it",
                     cases[i].name);
        assert_true(of.alone <= of.noticed && of.noticed <= of.asked && of.asked <= of.mutants);
    }
    assert_false(worth_of(w, "image.strict.nobody").known);
    arena_free(&a);
}

static bool same_group(const char *a, const char *b)
{
    const size_t words = (size_t)(strchr(strchr(a, '.') + 1, '.') + 1 - a);
    return strncmp(a, b, words) == 0;
}

/* The file's order; what it does not know stands where the first of its group does. */
static void test_order(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const char *path, *scene = SOURCE_DIR "/scenes/dense/everything.json";
    const struct json *root, *at;
    const struct conform_case *cases;
    const struct worth *w;
    char *data;
    size_t size, count, i = 0, mine = 0;
    assert_int_equal(worth_read(&a, &w, &err), STATUS_OK);
    assert_int_equal(data_path(&a, "conformance/lists/worth.json", &path, &err), STATUS_OK);
    assert_int_equal(file_read(&a, path, 0, &data, &size, &err), STATUS_OK);
    assert_int_equal(json_parse(&a, path, data, size, &root, &err), STATUS_OK);
    at = json_get(root, "cases")->first;
    select_core(&a, &scene, 1, &cases, &count);
    for (i = 0; i < count; i++) {
        if (at && strcmp(json_get(at, "case")->string, cases[i].name) == 0) {
            at = at->next;
            continue;
        }
        assert_false(worth_of(w, cases[i].name).known);
        if (!strstr(cases[i].name, ".everything") || strstr(cases[i].name, "relations"))
            continue; /* newer than the file, or of a group that it has nothing of */
        mine++;
        for (size_t k = 0; k < i;
             k++) /* none of its group, but others that are new, stands before */
            if (same_group(cases[k].name, cases[i].name) && worth_of(w, cases[k].name).known) {
                size_t known = 0;
                for (size_t j = 0; j < k; j++)
                    known += same_group(cases[j].name, cases[i].name) &&
                             worth_of(w, cases[j].name).known;
                assert_int_equal(known, 0); /* at most the one whose place it shares */
            }
    }
    assert_null(at); /* each came, in its turn */
    assert_true(mine > 3);
    arena_free(&a);
}

/* Shares are of every second mutant, counted here by the digits of the file. */
static void test_share(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const char *path, *names[5];
    const struct worth *w;
    const struct json *root, *at;
    struct worth_share none, some, twice;
    char *data;
    size_t size, n = 0, noticed = 0;
    assert_int_equal(worth_read(&a, &w, &err), STATUS_OK);
    assert_int_equal(data_path(&a, "conformance/lists/worth.json", &path, &err), STATUS_OK);
    assert_int_equal(file_read(&a, path, 0, &data, &size, &err), STATUS_OK);
    assert_int_equal(json_parse(&a, path, data, size, &root, &err), STATUS_OK);
    const size_t mutants = (size_t)json_get(root, "mutants")->integer;
    at = json_get(root, "cases")->first;
    for (; n < 5; at = at->next)
        names[n++] = json_get(at, "case")->string;
    for (size_t m = 1; m < mutants; m += 2) {
        bool found = false;
        at = json_get(root, "cases")->first;
        for (size_t i = 0; i < n; i++, at = at->next) {
            const char digit[2] = {json_get(at, "notices")->string[m / 4], 0};
            found |= strtoul(digit, NULL, 16) >> m % 4 & 1;
        }
        noticed += found;
    }
    worth_share(w, NULL, 0, &none);
    worth_share(w, names, n, &some);
    names[4] = names[3];
    worth_share(w, names, 5, &twice);
    assert_int_equal(none.noticed, 0);
    assert_int_equal(some.mutants, mutants / 2);
    assert_int_equal(some.noticed, noticed);
    assert_true(noticed > 0 && twice.noticed <= some.noticed);
    const double share = (double)some.noticed / (double)some.mutants;
    assert_true(0 < some.interval[0] && some.interval[0] < share);
    assert_true(share <= some.interval[1] && some.interval[1] <= 1);
    arena_free(&a);
}

/* What a budget said of its cases holds when the run that made their names is gone. */
static void test_budget_outlives_its_run(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const char *const devices[] = {"native"};
    struct conform_options o = {.devices = devices, .device_count = 1};
    struct budget *b;
    struct json_writer w = {0};
    const struct json *told, *device;
    char name[64];
    const struct conform_case c = {.name = name};
    assert_int_equal(budget_open(&a, 60, &o, &b, &err), STATUS_OK);
    static const char *const judged[] = {"image.dense.4", "kernel.values.dense-8", "image.dense.5"};
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        assert_true((size_t)snprintf(name, sizeof name, "%s", judged[i]) < sizeof name);
        budget_note(b, devices[0], &c,
                    &(struct conform_result){.verdict = i == 2 ? VERDICT_SKIP : VERDICT_PASS});
    }
    memset(name, 'x', sizeof name - 1);
    budget_json(b, &w);
    assert_int_equal(json_parse(&a, "budget", w.out.data, w.out.len, &told, &err), STATUS_OK);
    device = json_get(told, "devices")->first;
    const struct worth *worth;
    struct worth_share share;
    assert_int_equal(worth_read(&a, &worth, &err), STATUS_OK);
    worth_share(worth, judged, 2, &share);
    assert_int_equal(json_get(device, "judged")->integer, 2); /* a SKIP has judged nothing */
    assert_true(share.noticed > 0);
    assert_int_equal(json_get(device, "noticed")->integer, share.noticed);
    text_free(&w.out);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_case_has_a_reason),
                                       cmocka_unit_test(test_order), cmocka_unit_test(test_share),
                                       cmocka_unit_test(test_budget_outlives_its_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
