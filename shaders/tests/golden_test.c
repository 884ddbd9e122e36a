/* SPDX-License-Identifier: Apache-2.0 */
/* golden_test.c: runs every program of shaders/tests/. A program carries what must come of it in
 * its own comments:
 *
 *   //! warn-all, //! warn-error     options of the compile
 *   //! error L:C: text              a diagnostic at line L, column C whose text (with its hint,
 *                                    `text; hint`) contains `text`;
 * also warning, note. All diagnostics must be named, in order. A program with errors is not run.
 *   //! grid W H                     run it on a grid (default: one point at u = v = 0.5)
 *   //! param NAME VALUE             set a parameter
 *   //! budget N                     steps that one point may take
 *   //! fails NAME text              the run fails with that status and a text that contains `text`
 *   //! says error text              the run reports an error or warning that contains `text`; in
 * order, all named
 *   //> text                         a line of what it prints; all lines, in order
 *
 * Programs that expect nothing are an error of the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "shaders.h"
#include "test_world.h"

struct lines {
    char *items[4000];
    size_t count;
};

struct golden {
    struct arena arena;
    const char *path;
    struct asl_options opt;
    struct lines diags, prints, says, params;
    uint32_t width, height;
    uint64_t budget;
    char *fails;
    unsigned failures;
    struct text printed;
    struct lines said;
};

static void add(struct golden *g, struct lines *l, const char *s, size_t n)
{
    assert_true(l->count < sizeof l->items / sizeof *l->items);
    l->items[l->count++] = arena_strndup(&g->arena, s, n);
}

static void complain(struct golden *g, const char *what, const char *want, const char *have)
{
    g->failures++;
    print_error("%s: %s\n    expected: %s\n    found:    %s\n", g->path, what,
                want ? want : "(nothing)", have ? have : "(nothing)");
}

static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static void read_comment(struct golden *g, const char *s, size_t n)
{
    char *line = arena_strndup(&g->arena, s, n);
    if (starts(line, "//>")) {
        const char *t = line + 3 + (line[3] == ' ');
        add(g, &g->prints, t, strlen(t));
        return;
    }
    if (!starts(line, "//! "))
        return;
    const char *t = line + 4;
    if (starts(t, "error ") || starts(t, "warning ") || starts(t, "note "))
        add(g, &g->diags, t, strlen(t));
    else if (starts(t, "says "))
        add(g, &g->says, t + 5, strlen(t + 5));
    else if (starts(t, "param "))
        add(g, &g->params, t + 6, strlen(t + 6));
    else if (starts(t, "fails "))
        g->fails = arena_strdup(&g->arena, t + 6);
    else if (starts(t, "budget "))
        g->budget = strtoull(t + 7, NULL, 10);
    else if (starts(t, "grid ")) {
        char *end;
        g->width = (uint32_t)strtoul(t + 5, &end, 10);
        g->height = (uint32_t)strtoul(end, NULL, 10);
    } else if (strcmp(t, "warn-all") == 0)
        g->opt.warn_all = true;
    else if (strcmp(t, "warn-error") == 0)
        g->opt.warn_error = true;
    else
        complain(g, "unknown directive", "one of golden_test.c's", t);
}

static void check_diags(struct golden *g, const struct asl_diags *d)
{
    static const char *const names[] = {"note", "warning", "error"};
    size_t i = 0;
    for (const struct asl_diag *k = d->first; k; k = k->next, i++) {
        char have[1400], place[64];
        (void)snprintf(place, sizeof place, "%s %u:%u: ", names[k->severity], k->pos.line,
                       k->pos.col);
        (void)snprintf(have, sizeof have, "%s%s%s%s", place, k->text, k->hint ? "; " : "",
                       k->hint ? k->hint : "");
        const char *want = i < g->diags.count ? g->diags.items[i] : NULL;
        if (!want || !starts(want, place) || !strstr(have, want + strlen(place)))
            complain(g, "diagnostic", want, have);
    }
    for (; i < g->diags.count; i++)
        complain(g, "diagnostic", g->diags.items[i], NULL);
}

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct golden *g = ctx;
    if (kind == ASL_PRINT)
        text_puts(&g->printed, text);
    else if (kind == ASL_FPRINT)
        text_printf(&g->printed, "%s: %s", to, text);
    else {
        char *s =
            arena_printf(&g->arena, "%s %s", kind == ASL_MSG_ERROR ? "error" : "warning", text);
        add(g, &g->said, s, strlen(s));
    }
}

static void point(const struct golden *g, uint32_t x, uint32_t y, struct asl_globals *out)
{
    *out = (struct asl_globals){0};
    float du = g->width > 1 ? 1.0f / (float)(g->width - 1) : 1,
          dv = g->height > 1 ? 1.0f / (float)(g->height - 1) : 1;
    out->u = (struct asl_dual){g->width > 1 ? (float)x * du : 0.5f, du, 0};
    out->v = (struct asl_dual){g->height > 1 ? (float)y * dv : 0.5f, 0, dv};
    out->P.v[0] = out->u.v;
    out->P.v[1] = out->v.v;
    out->P.v[2] = 1;
    out->P.dx[0] = du;
    out->P.dy[1] = dv;
    out->N.v[2] = out->Ng[2] = 1;
    out->dPdu[0] = out->dPdv[1] = out->surfacearea = 1;
    out->raytype = asl_raytype_bit("camera");
}

static void run(struct golden *g, const struct asl_program *p)
{
    struct error err = {0};
    struct asl_group *group = NULL;
    struct asl_context *cx = NULL;
    struct text warnings = {0};
    enum status s = asl_group_new(&g->arena, "golden", &group, &err);
    for (size_t i = 0; s == STATUS_OK && i < g->params.count; i++) {
        char *name = g->params.items[i], *value = strchr(name, ' ');
        assert_non_null(value);
        *value = 0;
        s = asl_group_param(group, NULL, name, value + 1, &err);
    }
    if (s == STATUS_OK)
        s = asl_group_layer(group, p, NULL, "layer", &warnings, &err);
    if (s == STATUS_OK)
        s = asl_group_finish(group, &err);
    struct asl_context_options o = {.step_budget = g->budget};
    o.services = (struct asl_services){.ctx = g,
                                       .message = on_message,
                                       .space = test_space,
                                       .attribute = test_attribute,
                                       .trace = test_trace,
                                       .occlusion = test_occlusion};
    if (s == STATUS_OK)
        s = asl_context_new(group, &o, &cx, &err);
    for (uint32_t y = 0; s == STATUS_OK && y < g->height; y++) {
        for (uint32_t x = 0; s == STATUS_OK && x < g->width; x++) {
            struct asl_globals state;
            point(g, x, y, &state);
            s = asl_context_run(cx, &state, &err);
        }
    }
    asl_context_free(cx);
    text_free(&warnings);
    if (g->fails) {
        char *text = strchr(g->fails, ' ');
        if (text)
            *text++ = 0;
        if (strcmp(status_name(s), g->fails) != 0 || (text && !strstr(err.msg, text)))
            complain(g, "status of the run", g->fails, s == STATUS_OK ? "OK" : err.msg);
    } else if (s != STATUS_OK) {
        complain(g, "status of the run", "OK", err.msg);
    }
}

static void check_lines(struct golden *g)
{
    size_t i = 0;
    const char *p = g->printed.data ? g->printed.data : "";
    while (*p) {
        size_t n = strcspn(p, "\n");
        char *have = arena_strndup(&g->arena, p, n);
        if (i >= g->prints.count || strcmp(have, g->prints.items[i]) != 0)
            complain(g, "printed line", i < g->prints.count ? g->prints.items[i] : NULL, have);
        i++;
        p += n + (p[n] == '\n');
    }
    for (; i < g->prints.count; i++)
        complain(g, "printed line", g->prints.items[i], NULL);
    for (i = 0; i < g->said.count || i < g->says.count; i++) {
        const char *want = i < g->says.count ? g->says.items[i] : NULL;
        const char *have = i < g->said.count ? g->said.items[i] : NULL;
        if (!want || !have || !strstr(have, want))
            complain(g, "message", want, have);
    }
}

static unsigned check_file(const char *path)
{
    struct golden *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->path = path;
    g->width = g->height = 1;
    char *text;
    size_t size;
    struct error err = {0};
    assert_int_equal(file_read(&g->arena, path, 0, &text, &size, &err), STATUS_OK);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        const char *c = strstr(p, "//");
        for (; c && c < p + n; c = strstr(c + 2, "//")) {
            if (c[2] == '!' || c[2] == '>') {
                read_comment(g, c, (size_t)(p + n - c));
                break;
            }
        }
        p += n + (p[n] == '\n');
    }
    if (!g->diags.count && !g->prints.count && !g->fails)
        complain(g, "expectations", "some", NULL);
    struct asl_diags diags = {0};
    const struct asl_program *program = NULL;
    enum status s = asl_compile(&g->arena, path, text, size, &g->opt, &diags, &program, &err);
    if (s != STATUS_OK && s != STATUS_TYPE)
        complain(g, "status of the compile", "OK or TYPE", err.msg);
    check_diags(g, &diags);
    if (s == STATUS_OK) {
        run(g, program);
        check_lines(g);
    }
    unsigned failures = g->failures;
    text_free(&g->printed);
    arena_free(&g->arena);
    free(g);
    return failures;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void programs_give_what_they_say(void **state)
{
    (void)state;
    static const char folder[] = SOURCE_DIR "/shaders/tests";
    struct arena arena = {0};
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    char *names[2000];
    size_t count = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n > 4 && strcmp(e->d_name + n - 4, ".asl") == 0) {
            assert_true(count < sizeof names / sizeof *names);
            names[count++] = arena_printf(&arena, "%s/%s", folder, e->d_name);
        }
    }
    (void)closedir(dir);
    assert_true(count >= 10);
    qsort(names, count, sizeof *names, by_name);
    unsigned failures = 0;
    for (size_t i = 0; i < count; i++)
        failures += check_file(names[i]);
    print_message("%zu programs, %u failures\n", count, failures);
    arena_free(&arena);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_give_what_they_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
