/* ir_test.c: the engine `ir` against the reference interpreter: every program of shaders/tests/ and
 * shaders/library/, and groups, at every level of optimisation, baked or not: the same bits, the
 * same messages in the same order, the same end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "shaders.h"

/* ---- what a run showed ------------------------------------------------------------------------
 */

struct shown { /* everything that a run over the points gave, as text */
    struct text text;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct shown *s = ctx;
    text_printf(&s->text, "message %d to '%s': %s\n", kind, to, text);
}

static bool on_space(void *ctx, const char *space, float m[16])
{
    (void)ctx;
    static const float shifted[16] = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1};
    for (size_t i = 0; i < 16; i++)
        m[i] = strcmp(space, "object") == 0 ? shifted[i] : i % 5 == 0;
    return strcmp(space, "object") == 0 || strcmp(space, "world") == 0 ||
           strcmp(space, "shader") == 0;
}

static bool on_attribute(void *ctx, const char *object, const char *name, int index,
                         struct asl_type type, union asl_slot *v)
{
    (void)ctx;
    if (strcmp(name, "answer") == 0 && type.base == ASL_INT && !*object && index == -1)
        v[0].i = 42;
    else if (strcmp(name, "answer") == 0 && type.base == ASL_FLOAT && strcmp(object, "earth") == 0)
        v[0].f = (float)index + 0.5f;
    else
        return false;
    return true;
}

/* Parameters named user_... have data of the point. */
static bool on_userdata(void *ctx, const char *name, struct asl_type type, union asl_slot *v)
{
    (void)ctx;
    size_t n = asl_type_slots(type);
    if (strncmp(name, "user_", 5) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (asl_type_scalar(type, i) == ASL_STRING)
            v[i].s = "user data";
        else if (asl_type_scalar(type, i) == ASL_INT)
            v[i].i = (int32_t)i + 7;
        else
            v[i].f = v[n + i].f = v[2 * n + i].f = (float)i + 0.25f;
    }
    return true;
}

static void show_value(struct shown *s, struct asl_type t, const union asl_slot *v)
{
    for (size_t i = 0; i < asl_type_slots(t); i++) {
        if (asl_type_scalar(t, i) == ASL_STRING) {
            text_printf(&s->text, " \"%s\"", v[i].s);
        } else if (asl_type_scalar(t, i) == ASL_CLOSURE) {
            text_puts(&s->text, " ");
            asl_closure_print(v[i].c, &s->text);
        } else {
            text_printf(&s->text, " %08x", (unsigned)v[i].i);
        }
    }
}

/* ---- engines ----------------------------------------------------------------------------------
 */

struct engine {
    struct asl_context *tree;
    struct asl_code_context *ir;
};

static enum status engine_run(struct engine *e, const struct asl_globals *g, struct error *err)
{
    return e->tree ? asl_context_run(e->tree, g, err) : asl_code_context_run(e->ir, g, err);
}

static const union asl_slot *engine_value(struct engine *e, const char *name, struct asl_type *t,
                                          bool *ran)
{
    return e->tree ? asl_context_value(e->tree, name, t, ran)
                   : asl_code_context_value(e->ir, name, t, ran);
}

static float noise(uint32_t *seed) /* in -2..2, with some whole numbers and zeros */
{
    *seed = *seed * 1664525u + 1013904223u;
    uint32_t h = *seed >> 8;
    if (h % 11 == 0)
        return 0;
    if (h % 7 == 0)
        return (float)(h / 7 % 5) - 2;
    return (float)(h & 0xffff) / 16384.0f - 2;
}

static void random_point(uint32_t *seed, struct asl_globals *g)
{
    *g = (struct asl_globals){0};
    struct asl_dual3 *triples[] = {&g->P, &g->I, &g->N, &g->Ps};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 3; k++) {
            triples[i]->v[k] = noise(seed);
            triples[i]->dx[k] = noise(seed) / 64;
            triples[i]->dy[k] = noise(seed) / 64;
        }
    for (size_t k = 0; k < 3; k++) {
        g->Ng[k] = noise(seed);
        g->dPdu[k] = noise(seed);
        g->dPdv[k] = noise(seed);
        g->dPdtime[k] = noise(seed);
        g->dPdz[k] = noise(seed);
    }
    g->u = (struct asl_dual){noise(seed), noise(seed) / 64, 0};
    g->v = (struct asl_dual){noise(seed), 0, noise(seed) / 64};
    g->time = noise(seed);
    g->dtime = 0.25f;
    g->surfacearea = 1.5f;
    g->backfacing = noise(seed) > 1;
    g->flip_handedness = noise(seed) > 1;
    g->raytype = noise(seed) > 0 ? asl_raytype_bit("camera") : asl_raytype_bit("glossy");
}

static void grid_point(int i, struct asl_globals *g)
{
    const float step = 0.25f;
    *g = (struct asl_globals){.u = {(float)(i % 5) * step, step, 0},
                              .v = {(float)(i / 5) * step, 0, step},
                              .surfacearea = 1};
    g->P = (struct asl_dual3){{g->u.v, g->v.v, 1}, {step, 0, 0}, {0, step, 0}};
    g->N.v[2] = g->Ng[2] = g->dPdu[0] = g->dPdv[1] = 1;
    g->raytype = asl_raytype_bit("camera");
}

static void run_points(struct engine *e, const struct asl_group *g, struct shown *s)
{
    uint32_t seed = 12345;
    for (int i = 0; i < 25 + 15; i++) {
        struct asl_globals at;
        struct error err = {0};
        if (i < 25)
            grid_point(i, &at);
        else
            random_point(&seed, &at);
        text_printf(&s->text, "point %d\n", i);
        enum status st = engine_run(e, &at, &err);
        if (st != STATUS_OK) {
            text_printf(&s->text, "failed %s: %s\n", status_name(st), err.msg);
            continue;
        }
        for (size_t l = 0; l < asl_group_layers(g); l++) {
            const struct asl_shader_info *info = asl_group_layer_shader(g, l);
            for (size_t p = 0; p < info->param_count; p++) {
                if (!info->params[p].output)
                    continue;
                char name[300];
                struct asl_type t;
                bool ran;
                (void)snprintf(name, sizeof name, "%s.%s", asl_group_layer_name(g, l),
                               info->params[p].name);
                const union asl_slot *v = engine_value(e, name, &t, &ran);
                text_printf(&s->text, "%s:%s", name, ran ? "" : " not run");
                if (v)
                    show_value(s, t, v);
                text_puts(&s->text, "\n");
            }
        }
        static const char *const globals[] = {"P", "N", "Ci"};
        for (size_t k = 0; k < 3; k++) {
            struct asl_type t;
            const union asl_slot *v = engine_value(e, globals[k], &t, NULL);
            text_puts(&s->text, globals[k]);
            show_value(s, t, v);
            text_puts(&s->text, "\n");
        }
    }
}

static unsigned failures;

/* ---- comparing --------------------------------------------------------------------------------
 */

static void first_difference(const char *what, const char *a, const char *b)
{
    size_t line = 0;
    while (*a && *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || strncmp(a, b, n) != 0)
            break;
        a += n + (a[n] == '\n');
        b += m + (b[m] == '\n');
        line++;
    }
    print_error("%s: line %zu of what the runs showed\n    interp: %.*s\n    ir:     %.*s\n", what,
                line, (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
    failures++;
}

static const struct asl_services services = {NULL, on_message, on_space, on_attribute, on_userdata};

/* What the text form makes of the code: read back it prints alike. */
static struct asl_code *through_text(struct arena *a, const char *name, const struct asl_code *code)
{
    struct text one = {0}, two = {0};
    struct error err = {0};
    struct asl_code *back = NULL;
    asl_code_print(code, &one);
    enum status s = asl_code_read(a, "text", one.data, one.len, &back, &err);
    if (s != STATUS_OK) {
        print_error("%s: text:%u:%u: %s\n", name, err.line, err.col, err.msg);
        failures++;
    } else {
        asl_code_print(back, &two);
        if (strcmp(one.data, two.data) != 0)
            first_difference(name, one.data, two.data);
    }
    text_free(&one);
    text_free(&two);
    return back;
}

static void compare(const char *what, const struct asl_group *g, uint64_t budget)
{
    struct error err = {0};
    struct asl_context_options o = {.services = services, .step_budget = budget};
    struct shown tree = {0};
    struct engine e = {0};
    o.services.ctx = &tree;
    assert_int_equal(asl_context_new(g, &o, &e.tree, &err), STATUS_OK);
    run_points(&e, g, &tree);
    asl_context_free(e.tree);
    e.tree = NULL;
    for (int way = 0; way < 6; way++) {
        struct arena a = {0};
        struct asl_code *code = NULL;
        struct shown ir = {0};
        char name[4200];
        struct asl_lower_options opt = {.level = way / 2, .bake = way % 2 != 0};
        (void)snprintf(name, sizeof name, "%s, -O%d%s", what, opt.level, opt.bake ? ", baked" : "");
        enum status s = asl_lower(&a, g, &opt, &code, &err);
        if (s != STATUS_OK) {
            print_error("%s: %s\n", name, err.msg);
            failures++;
            arena_free(&a);
            continue;
        }
        s = asl_code_verify(code, &err);
        if (s != STATUS_OK)
            print_error("%s: %u: %s\n", name, err.line, err.msg);
        failures += s != STATUS_OK;
        struct asl_code *back = through_text(&a, name, code);
        if (opt.bake && back)
            code = back;
        o.services.ctx = &ir;
        assert_int_equal(asl_code_context_new(code, &o, &e.ir, &err), STATUS_OK);
        run_points(&e, g, &ir);
        asl_code_context_free(e.ir);
        if (strcmp(tree.text.data, ir.text.data) != 0)
            first_difference(name, tree.text.data, ir.text.data);
        text_free(&ir.text);
        arena_free(&a);
    }
    text_free(&tree.text);
}

/* A program of shaders/tests names its parameters and budget in comments: golden_test.c. */
static void directives(const char *text, struct asl_group *g, uint64_t *budget)
{
    struct error err = {0};
    for (const char *p = text; (p = strstr(p, "//! ")) != NULL;) {
        char line[500];
        size_t n = strcspn(p, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)n, p + 4 < p + n ? p + 4 : p);
        line[strcspn(line, "\n")] = 0;
        p += n;
        if (strncmp(line, "budget ", 7) == 0)
            *budget = strtoull(line + 7, NULL, 10);
        char *value = strncmp(line, "param ", 6) == 0 ? strchr(line + 6, ' ') : NULL;
        if (value) {
            *value = 0;
            assert_int_equal(asl_group_param(g, NULL, line + 6, value + 1, &err), STATUS_OK);
        }
    }
}

static bool check_file(const char *path)
{
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err = {0};
    const struct asl_program *p = NULL;
    struct asl_group *g;
    char *text;
    size_t size;
    uint64_t budget = 1000000;
    assert_int_equal(file_read(&a, path, 0, &text, &size, &err), STATUS_OK);
    bool runs = asl_compile(&a, path, text, size, NULL, &diags, &p, &err) == STATUS_OK &&
                asl_program_shaders(p) > 0;
    if (runs) {
        assert_int_equal(asl_group_new(&a, "test", &g, &err), STATUS_OK);
        directives(text, g, &budget);
        assert_int_equal(asl_group_layer(g, p, NULL, "layer", NULL, &err), STATUS_OK);
        assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
        compare(path, g, budget);
    }
    arena_free(&a);
    return runs;
}

static unsigned check_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    unsigned count = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        size_t n = strlen(e->d_name);
        char path[4096];
        if (n < 5 || strcmp(e->d_name + n - 4, ".asl") != 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        count += check_file(path);
    }
    (void)closedir(dir);
    return count;
}

static void tests_agree(void **state)
{
    (void)state;
    failures = 0;
    assert_true(check_folder(SOURCE_DIR "/shaders/tests") >= 20);
    assert_int_equal(failures, 0);
}

static void library_agrees(void **state)
{
    (void)state;
    failures = 0;
    assert_true(check_folder(SOURCE_DIR "/shaders/library") >= 40);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tests_agree),
                                       cmocka_unit_test(library_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
