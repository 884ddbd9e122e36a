/* SPDX-License-Identifier: Apache-2.0 */
/* library_test.c: every shader of shaders/library/ compiles without a word at -Wall and gives
 * finite numbers, and the same ones in every run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>

#include "shaders.h"

enum { GRID = 12 };

static unsigned messages;

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    (void)ctx;
    (void)to;
    if (kind != ASL_PRINT) {
        print_error("%s\n", text);
        messages++;
    }
}

static void run_point(struct asl_context *cx, int x, int y)
{
    struct error err = {0};
    const float step = 1.0f / (GRID - 1);
    struct asl_globals g = {
        .u = {(float)x * step, step, 0}, .v = {(float)y * step, 0, step}, .surfacearea = 1};
    g.P = (struct asl_dual3){{g.u.v, g.v.v, 1}, {step, 0, 0}, {0, step, 0}};
    g.N.v[2] = g.Ng[2] = g.dPdu[0] = g.dPdv[1] = 1;
    g.I.v[0] = 0.3f;
    g.I.v[2] = -1;
    assert_int_equal(asl_context_run(cx, &g, &err), STATUS_OK);
}

/* A hash of all numbers that the outputs hold over the grid. */
static uint32_t run_grid(struct asl_context *cx, const struct asl_shader_info *s, unsigned *numbers,
                         unsigned *varying)
{
    uint32_t h = 1;
    float first[64] = {0};
    *numbers = *varying = 0;
    for (int i = 0; i < GRID * GRID; i++) {
        unsigned k = 0;
        run_point(cx, i % GRID, i / GRID);
        for (size_t p = 0; p < s->param_count; p++) {
            struct asl_type t;
            if (!s->params[p].output)
                continue;
            const union asl_slot *v = asl_context_value(cx, s->params[p].name, &t, NULL);
            assert_non_null(v);
            for (size_t n = 0; n < asl_type_slots(t); n++) {
                if (asl_type_scalar(t, n) != ASL_FLOAT)
                    continue;
                if (!isfinite(v[n].f))
                    print_error("%s.%s is %g at point %d\n", s->name, s->params[p].name,
                                (double)v[n].f, i);
                assert_true(isfinite(v[n].f));
                uint32_t words[2] = {h};
                memcpy(&words[1], &v[n].f, sizeof(float));
                h = asl_hash_words(words, 2);
                (*numbers)++;
                if (i == 0 && k < 64)
                    first[k] = v[n].f;
                else if (k < 64 && first[k] != v[n].f)
                    (*varying)++;
                k++;
            }
        }
    }
    return h;
}

static void check(const char *path)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err = {0};
    struct asl_group *g;
    struct asl_context *one = NULL, *two = NULL;
    const struct asl_program *p;
    const struct asl_options opt = {.warn_all = true};
    enum status st = asl_compile(&a, path, NULL, 0, &opt, &diags, &p, &err);
    if (diags.first) {
        struct text t = {0};
        asl_diags_print(&diags, &t);
        print_error("%s", t.data);
        text_free(&t);
    }
    assert_int_equal(st, STATUS_OK);
    assert_null(diags.first);
    assert_int_equal(asl_group_new(&a, "library", &g, &err), STATUS_OK);
    assert_int_equal(asl_group_layer(g, p, NULL, "layer", NULL, &err), STATUS_OK);
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    struct asl_context_options o = {.step_budget = 1000000};
    o.services.message = on_message;
    assert_int_equal(asl_context_new(g, &o, &one, &err), STATUS_OK);
    assert_int_equal(asl_context_new(g, &o, &two, &err), STATUS_OK);
    unsigned numbers, varying;
    const struct asl_shader_info *s = asl_group_layer_shader(g, 0);
    uint32_t h = run_grid(one, s, &numbers, &varying);
    assert_int_equal(h, run_grid(one, s, &numbers, &varying)); /* nothing stays from run to run */
    assert_int_equal(h, run_grid(two, s, &numbers, &varying));
    if (numbers == 0) /* then it makes a closure */
        assert_non_null(asl_context_value(one, "Ci", NULL, NULL)->c);
    else if (strcmp(s->name, "spherelight") != 0)
        assert_true(varying > 0);
    asl_context_free(one);
    asl_context_free(two);
    arena_free(&a);
}

static void library_shaders_are_sound(void **state)
{
    (void)state;
    static const char folder[] = SOURCE_DIR "/shaders/library";
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    unsigned count = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 4, ".asl") != 0)
            continue;
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        check(path);
        count++;
    }
    (void)closedir(dir);
    print_message("%u shaders\n", count);
    assert_true(count >= 18);
    assert_int_equal(messages, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(library_shaders_are_sound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
