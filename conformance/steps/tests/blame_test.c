/* SPDX-License-Identifier: Apache-2.0 */
/* A mistake in a function of a stage, made by an edit of it, is told as that stage's. */
#include "backends.h"
#include "steps/offers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void mutant_id(const char *function, const char *was, const char *now, char id[32])
{
    struct arena a = {0};
    struct mutant m = {0};
    size_t n, k = 0;
    assert_int_equal(mutants_count(&n, NULL), STATUS_OK);
    for (; k < n; k++) {
        assert_int_equal(mutant_find(&a, k, &m, NULL), STATUS_OK);
        if (strcmp(m.function, function) == 0 && strcmp(m.was, was) == 0 && strcmp(m.now, now) == 0)
            break;
    }
    arena_free(&a);
    if (k == n)
        fail_msg("no edit of %s: %s", function, was);
    snprintf(id, 32, "mutant:%zu", k);
}

static void test_stages(void **state)
{
    (void)state;
    static const struct {
        const char *function, *was, *now, *stage, *named;
    } rows[] = {
        /* a light sample that is in shadow, and one of which the material sends nothing on, leave
         * the same record */
        {"k_stage_shadow", "(!(v3_max(V) > 0.0f))", "(1)", "shadow", "trace/traverse.h k_occluded"},
        {"k_bsdf_eval", ">", "<=", "shader", "path/scatter.h k_scatter_eval"},
        /* and so do one of a wrong weight, and one of a wrong material */
        {"k_stage_light", "/", "*", "light", "path/stages.h k_stage_light"},
        /* in the record, and not in the sum */
        {"k_stage_emission", "w->L = v3_add(w->L, part);", ";", "light",
         "path/stages.h k_stage_emission"},
        {"k_roulette", ">=", "<", "roulette", "path/stages.h k_roulette"},
    };
    struct scene *s = NULL;
    struct error err = {0};
    const struct film *native;
    struct render_job job;
    assert_int_equal(scene_load(SOURCE_DIR "/scenes/library/cornell.json", &s, &err), STATUS_OK);
    judge_job(s, 24, 2, MODE_STRICT, &job);
    job.rr_depth = 2;
    assert_int_equal(judge_native(s, &job, &native, &err), STATUS_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[32];
        struct device *d = NULL;
        struct film film;
        struct bit_difference b;
        struct divergence found;
        mutant_id(rows[i].function, rows[i].was, rows[i].now, id);
        assert_int_equal(device_open(id, &d, &err), STATUS_OK);
        assert_int_equal(device_load(d, s, BVH_AUTO, NULL, &err), STATUS_OK);
        assert_int_equal(device_build(d, &job.set.build, NULL, &err), STATUS_OK);
        assert_int_equal(judge_render(d, s, &job, &film, &err), STATUS_OK);
        if (!judge_bits(&film, native, &b))
            fail_msg("%s, an edit of %s, shows in no pixel", id, rows[i].function);
        film_free(&film);
        assert_int_equal(judge_cause(d, s, &job, b.x, b.y, &found, &err), STATUS_OK);
        if (strcmp(found.stage, rows[i].stage) != 0 || strcmp(found.function, rows[i].named) != 0)
            fail_msg("%s, an edit of %s: %s", id, rows[i].function, found.text);
        assert_non_null(strstr(found.text, rows[i].named));
        device_close(d);
    }
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
