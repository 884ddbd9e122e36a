/* SPDX-License-Identifier: Apache-2.0 */
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
#include "tests/test_world.h"

/* ---- what a run showed ---------------------------------------------------------------------- */

struct shown { /* everything that a run over the points gave, as text */
    struct text text;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct shown *s = ctx;
    text_printf(&s->text, "message %d to '%s': %s\n", kind, to, text);
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

/* ---- engines -------------------------------------------------------------------------------- */

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

/* ---- comparing ------------------------------------------------------------------------------ */

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

static const struct asl_services services = {.message = on_message,
                                             .space = test_space,
                                             .attribute = test_attribute,
                                             .trace = test_trace,
                                             .occlusion = test_occlusion,
                                             .userdata = on_userdata};

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

/* ---- groups --------------------------------------------------------------------------------- */

/* Shaders that groups are made of, by name. */
static const struct {
    const char *name, *text;
} sources[] = {
    {"wave",
     "shader wave(float k = 1, output float x = 0, output color c = 0, output point p = P) {"
     " x = sin(k * u) + v; c = color(u, v, x * k); p = P * k; printf(\"wave %g\\n\", k); }"},
    {"use", "shader use(float x = 0.5, color c = color(u, 0, v), point p = N, int on = 1,"
            " output color out = 0, output int how = isconnected(x)) {"
            " if (on && u > 0.3) { out = c * x; } else { out = Dx(c) + x; }"
            " if (v > 0.4) out += color(p[0], Dy(p)[1], length(p)); }"},
    {"edge", "shader edge(float x = 0, output float w = 0) {"
             " w = filterwidth(x) + aastep(0.2, x); }"},
    {"moved", "shader moved(float amount = 0.1, output float z = 0) {"
              " P = P + amount * N * u; N = normalize(calculatenormal(P)); z = P[2] + Dx(P[0]);"
              " setmessage(\"moved\", z); Ci = diffuse(N) * u; }"},
    {"after",
     "shader after(float z = 0, output float r = 0, output vector d = 0) {"
     " d = Dx(P); r = z; float m = 0; if (getmessage(\"moved\", m)) r += m;"
     " string s; if (getmessage(\"moved\", s)) r += 1; Ci += emission() * color(r, 0, 1); }"},
    {"parts", "struct pair { float a; string s; color c; };"
              "shader parts(output float f = 1, output color c = color(1, 2, 3),"
              " output float arr[3] = {1, 2, 3}, output string s = \"hello\","
              " output pair q = {1, \"two\", color(3)}) {"
              " f = u; c = color(u, v, 1); arr[1] = u * 2; s = u > 0.5 ? \"big\" : \"small\";"
              " q.a = v; q.s = concat(s, \"!\"); }"},
    {"takes", "struct pair { float a; string s; color c; };"
              "shader takes(color c = 0.25, float arr[3] = {7, 8, 9}, string s = \"none\","
              " pair q = {0, \"\", color(0)}, point p = 0, output float sum = 0) {"
              " sum = c[0] + c[1] * c[2] + arr[0] + arr[(int)(u * 5)] + q.a + p[1];"
              " printf(\"%s %s %g %g\\n\", s, q.s, sum, c); if (u > 0.6) exit(); sum += 1; }"},
    {"asks", "shader asks(float user_f = 3 [[int lockgeom = 0]], color user_c = color(u) "
             "[[int lockgeom = 0]], string user_s = \"own\" [[int lockgeom = 0]],"
             " float not_user = u * 2 [[int lockgeom = 0]], int user_i[2] = {1, 2} "
             "[[int lockgeom = 0]], output float r = 0) {"
             " r = user_f + Dx(user_c)[1] + not_user + user_i[1] + isconstant(user_f);"
             " printf(\"%s\\n\", user_s); }"},
    {"kept",
     "shader kept(float a = 2, float b = a * 3 + u, color c = color(a, b, 1), int n = 3,"
     " string s = concat(\"p\", \"q\"), output float x = a, output color y = c) {"
     " for (int i = 0; i < n; ++i) { x += b; y[i % 3] += x; } printf(\"%s %g\\n\", s, x); }"},
    {"rays", "shader rays(output int r = 0) { r = raytype(\"camera\") + 2 * raytype(\"glossy\")"
             " + 4 * iscameraray() + 8 * backfacing(); if (raytype(\"shadow\")) r = -1; }"},
    {"twice", "shader twice(float x = 0, output float y = 0) { for (int i = 0; i < 3; ++i)"
              " { if (i == 1) y += x; if (u > 0.5) continue; y += 2 * x; } }"},
    {"around", "shader around(float z = 0, output point a = 0, output point b = 0)"
               " { a = P; float q = z; b = P + q; a += P * 2; }"},
    {"dear", "shader dear(output float n = 0) { for (int i = 0; i < 20; ++i)"
             " n += noise(\"perlin\", P * i) / (i + 1); }"},
    {"choose", "shader choose(float a = 0, float b = 0, int first = 1, output float r = 0)"
               " { r = first ? a : b; }"},
};

// clang-format off
static const char *const groups[] = {
    "shader wave a ; shader use b ; connect a.x b.x ;",
    "shader wave a ; shader use b ; connect a.x b.x ; connect a.c b.c ; connect a.p b.p ;",
    "shader wave a ; shader use b ; connect a.x b.c[1] ; connect a.c[2] b.x ; connect a.c b.p ;",
    "shader wave a ; shader edge b ; connect a.x b.x ;",
    "shader wave a ; shader edge b ; shader use c ; connect a.x b.x ; connect b.w c.x ; connect a.c c.c ;",
    "shader moved a ; shader after b ; connect a.z b.z ;",
    "shader after a ; shader moved b ; shader after c ; connect b.z c.z ; connect a.r b.amount ;",
    "shader moved a ; shader around b ; connect a.z b.z ;",
    "shader parts a ; shader takes b ; connect a.c b.c ; connect a.arr b.arr ; connect a.s b.s ; ",
    "shader parts a ; shader takes b ; connect a.f b.c ; connect a.f b.arr[2] ; connect a.c[1] b.p ;",
    "shader asks a ;",
    "param float user_f 8 ; param float not_user 4 ; shader asks a ;",
    "param float a 5 ; shader kept a ;",
    "param float b 0.25 ; param int n 7 ; param string s \"set\" ; shader kept a ;",
    "param color c 4 5 6 ; shader kept a ; shader use b ; connect a.x b.x ; connect a.y b.c ;",
    "shader rays a ;",
    "shader wave a ; shader twice b ; connect a.x b.x ;",
    "shader dear a ; shader wave b ; param int first 0 ; shader choose c ; connect a.n c.a ; connect b.x c.b ;",
};
// clang-format on

static const struct asl_program *find_source(void *ctx, const char *name, struct error *err)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct asl_diags diags = {0};
        const struct asl_program *p = NULL;
        if (strcmp(sources[i].name, name) == 0 &&
            asl_compile(ctx, name, sources[i].text, strlen(sources[i].text), NULL, &diags, &p,
                        err) == STATUS_OK)
            return p;
    }
    print_error("no shader '%s', or it is wrong: %s\n", name, err->msg);
    return NULL;
}

static struct asl_group *group_of(struct arena *a, const char *text)
{
    struct asl_group *g = NULL;
    struct error err = {0};
    assert_int_equal(asl_group_new(a, "group", &g, &err), STATUS_OK);
    enum status s = asl_group_parse(g, "group", text, find_source, a, NULL, &err);
    if (s != STATUS_OK)
        print_error("%s\n    %s\n", text, err.msg);
    assert_int_equal(s, STATUS_OK);
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    return g;
}

static void groups_agree(void **state)
{
    (void)state;
    failures = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct arena a = {0};
        compare(groups[i], group_of(&a, groups[i]), 100000);
        arena_free(&a);
    }
    assert_int_equal(failures, 0);
}

/* The argument area follows asl_group_reparam without lowering again. */
static void arguments_change(void **state)
{
    (void)state;
    static const struct {
        const char *layer, *name, *value;
    } changes[] = {{"a", "a", "0.75"}, {"a", "n", "2"},         {"a", "b", "9"},
                   {"a", "s", "new"},  {"a", "c", "0.1 0.2 3"}, {"b", "on", "0"}};
    struct arena a = {0};
    struct error err = {0};
    struct asl_code *code = NULL;
    struct asl_group *g = group_of(&a, "shader kept a ; shader use b ; connect a.x b.x ;");
    const struct asl_lower_options opt = {.level = 2};
    assert_int_equal(asl_lower(&a, g, &opt, &code, &err), STATUS_OK);
    failures = 0;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct shown tree = {0}, ir = {0};
        struct engine e = {0};
        struct asl_context_options o = {.services = services};
        assert_int_equal(
            asl_group_reparam(g, changes[i].layer, NULL, changes[i].name, changes[i].value, &err),
            STATUS_OK);
        o.services.ctx = &tree;
        assert_int_equal(asl_context_new(g, &o, &e.tree, &err), STATUS_OK);
        run_points(&e, g, &tree);
        asl_context_free(e.tree);
        e.tree = NULL;
        o.services.ctx = &ir;
        assert_int_equal(asl_code_context_new(code, &o, &e.ir, &err), STATUS_OK);
        asl_code_args_fill(code, g, asl_code_context_args(e.ir));
        run_points(&e, g, &ir);
        asl_code_context_free(e.ir);
        if (strcmp(tree.text.data, ir.text.data) != 0)
            first_difference(changes[i].name, tree.text.data, ir.text.data);
        text_free(&tree.text);
        text_free(&ir.text);
    }
    arena_free(&a);
    assert_int_equal(failures, 0);
}

/* What is not asked for is not computed: the dear layer, its connection, its parameters. */
static void dead_layers_go(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct asl_code *code = NULL;
    static const char *const outputs[] = {"c.r", NULL};
    struct asl_group *g = group_of(&a, groups[sizeof groups / sizeof *groups - 1]);
    const struct asl_lower_options baked = {.level = 2, .bake = true, .outputs = outputs},
                                   open = {.level = 2, .outputs = outputs};
    assert_int_equal(asl_lower(&a, g, &baked, &code, &err), STATUS_OK);
    struct asl_code_stats s = asl_code_stats(code, SIZE_MAX);
    assert_int_equal(s.layers_before, 3);
    assert_int_equal(s.layers_after, 2);
    assert_int_equal(asl_code_stats(code, 0).ops_after, 0);
    assert_true(s.ops_after < s.ops_before / 4);
    assert_int_equal(asl_lower(&a, g, &open, &code, &err), STATUS_OK); /* the choice may change */
    assert_int_equal(asl_code_stats(code, SIZE_MAX).layers_after, 3);
    static const char *const bad[] = {"c.nothing", NULL};
    const struct asl_lower_options wrong = {.outputs = bad};
    assert_int_equal(asl_lower(&a, g, &wrong, &code, &err), STATUS_MISSING);
    arena_free(&a);
}

/* Only what a derivative is asked of keeps derivatives. */
static void derivatives_are_kept_where_asked(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    /* loops of unknown length keep both sums in cells */
    static const char *const forms[] = {"x", "Dx(x)"};
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        struct asl_diags diags = {0};
        const struct asl_program *p = NULL;
        struct asl_group *g = NULL;
        struct asl_code *code = NULL;
        (void)snprintf(
            text, sizeof text,
            "shader s(int n = 3, output float r = 0) { float x = u, y = v;"
            "for (int i = 0; i < n; i++) { x = x * u + 1; y = y * v + 1; } r = %s + y; }",
            forms[i]);
        assert_int_equal(asl_compile(&a, "s", text, strlen(text), NULL, &diags, &p, &err),
                         STATUS_OK);
        assert_int_equal(asl_group_new(&a, "g", &g, &err), STATUS_OK);
        assert_int_equal(asl_group_layer(g, p, NULL, "l", NULL, &err), STATUS_OK);
        assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
        static const char *const outputs[] = {"r", NULL};
        const struct asl_lower_options o = {.level = 2, .outputs = outputs};
        assert_int_equal(asl_lower(&a, g, &o, &code, &err), STATUS_OK);
        const struct asl_code_stats s = asl_code_stats(code, SIZE_MAX);
        print_message("%s: %zu of %zu symbols keep derivatives\n", forms[i], s.derivs_after,
                      s.symbols_after);
        if (i == 0)
            assert_int_equal(s.derivs_after, 0);
        else /* x, and the global u */
            assert_true(s.derivs_after >= 1 && s.derivs_after <= 2);
        assert_true(s.derivs_after < s.symbols_after && s.derivs_after <= s.derivs_before);
    }
    arena_free(&a);
}

/* A made-up material of a production: layers with forty features each, of which what the artist set
 * leaves a few, chained; some layers feed nothing. */
static void a_large_group_shrinks(void **state)
{
    (void)state;
    enum { FEATURES = 40, LAYERS = 40, DEAD = 8 };
    struct arena a = {0};
    struct error err = {0};
    struct text t = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    struct asl_code *code = NULL;
    struct asl_group *g = NULL;
    text_puts(&t, "shader uber(color base = 0");
    for (int k = 0; k < FEATURES; k++)
        text_printf(&t, ", float amount%d = 0, float scale%d = %d, color tint%d = %g", k, k, k + 1,
                    k, 1.0 / (k + 1));
    text_puts(&t, ", output color result = 0)\n{\n    color c = base;\n");
    for (int k = 0; k < FEATURES; k++)
        text_printf(&t,
                    "    if (amount%d > 0) {\n"
                    "        color n = noise(P * scale%d) * tint%d, s = sin(c * scale%d + n);\n"
                    "        float w = smoothstep(0, 1, luminance(n)) * amount%d;\n"
                    "        c = mix(c, s * s + n / (1 + scale%d), w);\n"
                    "        if (max(c[0], c[1]) > %d) c = c / (1 + abs(c));\n    }\n",
                    k, k, k, k, k, k, k + 1);
    text_puts(&t, "    result = c * 0 + c;\n}\n");
    assert_int_equal(asl_compile(&a, "uber", t.data, t.len, NULL, &diags, &p, &err), STATUS_OK);
    assert_int_equal(asl_group_new(&a, "large", &g, &err), STATUS_OK);
    for (int l = 0; l < LAYERS; l++) {
        char name[16], before[16], amount[16];
        (void)snprintf(name, sizeof name, "l%d", l);
        (void)snprintf(before, sizeof before, "l%d", l - 1);
        (void)snprintf(amount, sizeof amount, "amount%d", l % FEATURES);
        assert_int_equal(asl_group_param(g, NULL, amount, "0.5", &err), STATUS_OK);
        assert_int_equal(asl_group_layer(g, p, NULL, name, NULL, &err), STATUS_OK);
        if (l > 0 && l != LAYERS - DEAD) /* those before it feed nothing */
            assert_int_equal(asl_group_connect(g, before, "result", name, "base", &err), STATUS_OK);
    }
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    const struct asl_lower_options baked = {.level = 2, .bake = true};
    static const char *const outputs[] = {"result", NULL};
    struct asl_lower_options asked = baked;
    asked.outputs = outputs;
    assert_int_equal(asl_lower(&a, g, &asked, &code, &err), STATUS_OK);
    const struct asl_code_stats s = asl_code_stats(code, SIZE_MAX);
    print_message("%zu operations, %zu after; %zu symbols, %zu after; %zu layers, %zu after\n",
                  s.ops_before, s.ops_after, s.symbols_before, s.symbols_after, s.layers_before,
                  s.layers_after);
    assert_true(s.ops_before >= 100000);
    assert_true(s.ops_after * 20 <= s.ops_before);
    assert_int_equal(s.layers_before, LAYERS);
    assert_int_equal(s.layers_after, DEAD);
    failures = 0;
    compare("large", g, 1000000);
    assert_int_equal(failures, 0);
    text_free(&t);
    arena_free(&a);
}

/* Rays' types that are known fold away the branches that ask for them. */
static void known_rays_fold(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct asl_code *code = NULL;
    struct asl_group *g = group_of(&a, "shader rays a ;");
    const struct asl_lower_options opt = {
        .level = 2, .raytype_known = ~0u, .raytype = asl_raytype_bit("shadow")};
    assert_int_equal(asl_lower(&a, g, &opt, &code, &err), STATUS_OK);
    assert_int_equal(asl_code_stats(code, 0).ops_after, 1); /* r = -1 */
    arena_free(&a);
}

static void too_much_code_is_refused(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct asl_code *code = NULL;
    struct text t = {0};
    text_puts(&t, "float f0(float x) { return x * x + sin(x); }\n");
    for (int i = 1; i < 30; i++)
        text_printf(&t, "float f%d(float x) { return f%d(x) + f%d(x + 1); }\n", i, i - 1, i - 1);
    text_puts(&t, "shader bomb(output float x = 0) { x = f29(u); }\n");
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    struct asl_group *g = NULL;
    assert_int_equal(asl_compile(&a, "bomb", t.data, t.len, NULL, &diags, &p, &err), STATUS_OK);
    assert_int_equal(asl_group_new(&a, "bomb", &g, &err), STATUS_OK);
    assert_int_equal(asl_group_layer(g, p, NULL, "l", NULL, &err), STATUS_OK);
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    const struct asl_lower_options opt = {.max_ops = 100000};
    assert_int_equal(asl_lower(&a, g, &opt, &code, &err), STATUS_LIMIT);
    assert_non_null(strstr(err.msg, "operations once its functions are inlined"));
    text_free(&t);
    arena_free(&a);
}

/* Each mistake in a text that was right gives its line, and never a crash. */
static void bad_text_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *what, *with, *message;
        enum status status;
    } bad[] = {
        {"isophote-ir 1", "isophote-ir 2", "version", STATUS_PARSE},
        {"fmul v", "fmux v", "an operation", STATUS_PARSE},
        {":f = fadd", ":i = fadd", "type i, f is needed", STATUS_TYPE},
        {"entries 0", "entries 7", "layer 7", STATUS_TYPE},
        {"load 4[0]", "load 4[3]", "past the 3 slots", STATUS_TYPE},
        {"load 4[0]", "load 99[0]", "a cell", STATUS_PARSE},
        {"limit 3", "limit 0", "limit 0", STATUS_TYPE},
        {"call noise#", "call nose#", "the name of a function", STATUS_PARSE},
        {"call noise#", "call noise#999", "an overload", STATUS_PARSE},
        {"call noise#", "call spline#", "takes 6 arguments", STATUS_TYPE},
        {"  break 0", "  break 5", "number of a loop", STATUS_PARSE},
        {"  break 0", "  return\n  break 0", "behind", STATUS_TYPE},
        {"type color", "type colour", "a type", STATUS_PARSE},
        {"= const 0.5", "= const half", "a number", STATUS_PARSE},
        {"runs\n", "walks\n", "dead", STATUS_PARSE},
        {"(3)", "(9)", "past the", STATUS_TYPE},
    };
    static const char source[] =
        "shader t(float k = 0.5, output color c = 0, output float f = 0) { float a[3] = {1, 2, k};"
        " for (int i = 0; i < 9; ++i) { if (u * i > 3) break; f += a[i] * 0.5 + u; }"
        " c = noise(P * f); }";
    struct arena a = {0};
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    struct asl_group *g = NULL;
    struct asl_code *code = NULL;
    struct text t = {0};
    assert_int_equal(asl_compile(&a, "t", source, sizeof source - 1, NULL, &diags, &p, &err),
                     STATUS_OK);
    assert_int_equal(asl_group_new(&a, "t", &g, &err), STATUS_OK);
    assert_int_equal(asl_group_layer(g, p, NULL, "l", NULL, &err), STATUS_OK);
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    const struct asl_lower_options opt = {.level = 1};
    assert_int_equal(asl_lower(&a, g, &opt, &code, &err), STATUS_OK);
    asl_code_print(code, &t);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = strstr(t.data, bad[i].what);
        struct asl_code *back = NULL;
        if (!at)
            print_error("'%s' is not in the text\n%s", bad[i].what, t.data);
        assert_non_null(at);
        char *text = arena_printf(&a, "%.*s%s%s", (int)(at - t.data), t.data, bad[i].with,
                                  at + strlen(bad[i].what));
        err = (struct error){0};
        enum status s = asl_code_read(&a, "bad", text, strlen(text), &back, &err);
        if (s != bad[i].status || !strstr(err.msg, bad[i].message))
            print_error("'%s' for '%s': %s: %s\n", bad[i].with, bad[i].what, status_name(s),
                        err.msg);
        assert_int_equal(s, bad[i].status);
        assert_non_null(strstr(err.msg, bad[i].message));
        assert_string_equal(err.file, "bad");
    }
    for (size_t n = 0; n < t.len; n += 7) { /* cut short anywhere */
        struct asl_code *back = NULL;
        if (asl_code_read(&a, "cut", t.data, n, &back, &err) == STATUS_OK)
            assert_true(n + 3 >= t.len);
    }
    text_free(&t);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tests_agree),
                                       cmocka_unit_test(library_agrees),
                                       cmocka_unit_test(groups_agree),
                                       cmocka_unit_test(arguments_change),
                                       cmocka_unit_test(dead_layers_go),
                                       cmocka_unit_test(a_large_group_shrinks),
                                       cmocka_unit_test(derivatives_are_kept_where_asked),
                                       cmocka_unit_test(known_rays_fold),
                                       cmocka_unit_test(too_much_code_is_refused),
                                       cmocka_unit_test(bad_text_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
