/* SPDX-License-Identifier: Apache-2.0 */
/* bad_input_test.c: sources that nobody should write: each gives an error that says what and where,
 * soon, whatever its size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "shaders.h"

struct outcome {
    struct arena arena;
    enum status status;
    struct error err;
    struct asl_diags diags;
    const struct asl_program *program;
};

static void compile(struct outcome *o, const char *file, const char *text, size_t size)
{
    *o = (struct outcome){0};
    o->status = asl_compile(&o->arena, file, text, size, NULL, &o->diags, &o->program, &o->err);
}

/* Refused, with an error at `line` (0: anywhere) that has these words. */
static void refused(const char *what, const char *text, size_t size, uint32_t line,
                    const char *words)
{
    struct outcome o;
    double begin = clock_s();
    compile(&o, "bad.asl", text, size);
    double seconds = clock_s() - begin;
    bool found = (!line || o.err.line == line) && strstr(o.err.msg, words);
    for (const struct asl_diag *d = o.diags.first; d && !found; d = d->next)
        found =
            d->severity == ASL_ERROR && (!line || d->pos.line == line) && strstr(d->text, words);
    if (o.status == STATUS_OK || !found)
        print_error("%s: status %s, line %u: %s\n    expected line %u: ...%s...\n", what,
                    status_name(o.status), o.err.line, o.err.msg, line, words);
    assert_int_not_equal(o.status, STATUS_OK);
    assert_true(found);
    assert_true(seconds < 20); /* a token of 10 MB takes a fraction of a second */
    arena_free(&o.arena);
}

/* before, `middle` n times, after */
static struct text repeated(const char *before, const char *middle, size_t n, const char *after)
{
    struct text t = {0};
    text_puts(&t, before);
    for (size_t i = 0; i < n; i++)
        text_puts(&t, middle);
    text_puts(&t, after);
    assert_false(t.failed);
    return t;
}

static void refused_repeated(const char *what, const char *before, const char *middle, size_t n,
                             const char *after, const char *words)
{
    struct text t = repeated(before, middle, n, after);
    refused(what, t.data, t.len, 0, words);
    text_free(&t);
}

enum { MILLION = 1000000 };

static void nesting_is_limited(void **state)
{
    (void)state;
    refused_repeated("parentheses", "shader s() { int x = ", "(", MILLION, "1;}", "deep");
    refused_repeated("blocks", "shader s() ", "{", MILLION, "", "deep");
    refused_repeated("unary operators", "shader s() { int x = ", "- ", MILLION, "1;}", "deep");
    refused_repeated("casts", "shader s() { int x = ", "(int)", MILLION, "1;}", "deep");
    refused_repeated("calls", "shader s() { float x = ", "sin(", MILLION, "1;}", "deep");
    refused_repeated("lists", "shader s() { float x[2] = ", "{", MILLION, "1;}", "deep");
    refused_repeated("subscripts", "shader s() { int a[2]; int x = ", "a[", MILLION, "1;}", "deep");
    refused_repeated("statements", "shader s() { ", "if (u) ", MILLION, ";}", "deep");
    refused_repeated("choices", "shader s() { int x = ", "u ? 1 : ", MILLION, "1;}", "deep");
    refused_repeated("assignments", "shader s() { int x; ", "x = ", MILLION, "1;}", "deep");
    refused_repeated("operators in a row", "shader s() { int x = 1", "+ 1", MILLION, ";}", "deep");
    refused_repeated("conditions of #if", "#if ", "(", MILLION, "1\n#endif\n", "");
    refused_repeated("macro arguments", "#define F(x) x\nint y = ", "F(", MILLION, "1", "");
    refused_repeated("conditionals", "", "#if 1\n", 100000, "", "does not end");
}

static void large_tokens_are_taken_or_refused(void **state)
{
    (void)state;
    const size_t ten = (size_t)10 << 20;
    char *name = malloc(ten + 1);
    assert_non_null(name);
    memset(name, 'a', ten);
    name[ten] = 0;
    struct outcome o;
    struct text t = repeated("shader s(output float x = 0) { float ", name, 1, " = 1; x = ");
    text_puts(&t, name);
    text_puts(&t, "; }");
    compile(&o, "name.asl", t.data, t.len); /* no limit of length */
    assert_int_equal(o.status, STATUS_OK);
    arena_free(&o.arena);
    t.len = 0;
    text_printf(&t, "shader s(output string x = \"%s\") { }", name);
    compile(&o, "string.asl", t.data, t.len);
    assert_int_equal(o.status, STATUS_OK);
    arena_free(&o.arena);
    memset(name, '9', ten);
    t.len = 0;
    text_printf(&t, "shader s() { int x = %s; }", name);
    refused("a number of 10 MB", t.data, t.len, 1, "");
    t.len = 0;
    text_printf(&t, "shader s() {\n string x = \"%s;\n }", name);
    refused("a string that does not end", t.data, t.len, 2, "");
    t.len = 0;
    text_printf(&t, "shader s() {\n /* %s }", name);
    refused("a comment that does not end", t.data, t.len, 2, "comment");
    text_free(&t);
    free(name);
}

static void junk_is_refused(void **state)
{
    (void)state;
    unsigned char junk[4096];
    for (uint32_t seed = 0; seed < 64; seed++) {
        const uint32_t key[2] = {seed, 5};
        for (uint32_t i = 0; i < sizeof junk / 16; i++) {
            const uint32_t counter[4] = {i};
            uint32_t word[4];
            philox4x32(counter, key, word);
            memcpy(junk + 16 * (size_t)i, word, 16);
        }
        struct outcome o;
        struct text shown = {0};
        compile(&o, "junk.asl", (const char *)junk, sizeof junk);
        assert_int_not_equal(o.status, STATUS_OK);
        assert_true(o.err.line > 0);
        asl_diags_print(&o.diags, &shown); /* every message can be shown */
        assert_true(shown.len > 0);
        text_free(&shown);
        arena_free(&o.arena);
    }
    refused("a zero byte", "shader s() {\n \0 }", 17, 2, "0");
}

static void cycles_are_refused(void **state)
{
    (void)state;
    char dir[] = "/tmp/isophote-bad-XXXXXX", path[64], other[64];
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/a.asl", dir);
    (void)snprintf(other, sizeof other, "%s/b.h", dir);
    static const char a[] = "\n#include \"b.h\"\nshader s() { }\n", b[] = "#include \"a.asl\"\n";
    assert_int_equal(file_write(path, a, sizeof a - 1, NULL), STATUS_OK);
    assert_int_equal(file_write(other, b, sizeof b - 1, NULL), STATUS_OK);
    struct outcome o;
    compile(&o, path, NULL, 0);
    assert_int_not_equal(o.status, STATUS_OK);
    if (!strstr(o.err.msg, "include"))
        print_error("%s\n", o.err.msg);
    assert_non_null(strstr(o.err.msg, "include"));
    arena_free(&o.arena);
    (void)unlink(path);
    (void)unlink(other);
    (void)rmdir(dir);
    static const char itself[] = "int f(int x)\n{\n return f(x - 1); }\nshader s() { f(1); }";
    refused("recursion", itself, sizeof itself - 1, 3, "itself");
    static const char nested[] =
        "int f(int x)\n{\n int g(int y) { return f(y); }\n return g(x);\n}\n";
    refused("recursion through a nested function", nested, sizeof nested - 1, 3, "itself");
    refused("a struct in itself", "struct S {\n S x; };", 19, 2, "");
    refused("a file that is not there", "#include \"no-such-file.h\"\n", 26, 1, "no-such-file.h");
}

static void sizes_are_limited(void **state)
{
    (void)state;
    static const char huge[] = "shader s() {\n float x[99999999];\n}";
    refused("a huge array", huge, sizeof huge - 1, 2, "");
    static const char above[] = "shader s() {\n float x[16385];\n}";
    refused("an array of one element too many", above, sizeof above - 1, 2, "16384 elements");
    static const char wide[] = "shader s() {\n matrix m[1025];\n}";
    refused("an array of matrices", wide, sizeof wide - 1, 2, "16400 numbers");
    static const char inner[] = "struct S { float x[16384]; };\nshader s() {\n S a[2];\n}";
    refused("an array of structs", inner, sizeof inner - 1, 3, "32768 numbers");
    static const char zero[] = "shader s() {\n float x[0];\n}";
    refused("an empty array", zero, sizeof zero - 1, 2, "");
    struct text t = repeated("", "#define A0 x\n", 1, "");
    for (int i = 1; i < 64; i++) /* 2^63 tokens */
        text_printf(&t, "#define A%d A%d A%d\n", i, i - 1, i - 1);
    text_puts(&t, "A63\n");
    struct outcome o;
    const struct asl_options opt = {.max_bytes = (size_t)64 << 20};
    o = (struct outcome){0};
    o.status =
        asl_compile(&o.arena, "macros.asl", t.data, t.len, &opt, &o.diags, &o.program, &o.err);
    assert_true(o.status == STATUS_LIMIT || o.status == STATUS_MEMORY || o.status == STATUS_TYPE);
    arena_free(&o.arena);
    text_free(&t);
}

/* Runs the shader at one point; its status, and the error. */
static enum status run(const char *text, uint64_t budget, size_t bytes, struct error *err)
{
    struct outcome o;
    struct asl_group *g = NULL;
    struct asl_context *cx = NULL;
    const struct asl_context_options opt = {.step_budget = budget, .max_bytes = bytes};
    const struct asl_globals state = {.u = {0.5f, 0, 0}};
    compile(&o, "run.asl", text, strlen(text));
    assert_int_equal(o.status, STATUS_OK);
    assert_int_equal(asl_group_new(&o.arena, "g", &g, err), STATUS_OK);
    assert_int_equal(asl_group_layer(g, o.program, NULL, "layer", NULL, err), STATUS_OK);
    assert_int_equal(asl_group_finish(g, err), STATUS_OK);
    enum status st = asl_context_new(g, &opt, &cx, err);
    if (st == STATUS_OK)
        st = asl_context_run(cx, &state, err);
    asl_context_free(cx);
    arena_free(&o.arena);
    return st;
}

static void runs_end(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(run("shader s() {\n while (1)\n ;\n}", 100000, 0, &err), STATUS_TIMEOUT);
    assert_true(err.line >= 2 && err.line <= 3);
    assert_int_equal(run("shader s() {\n for (;;) { int x = 1; }\n}", 100000, 0, &err),
                     STATUS_TIMEOUT);
    assert_int_equal(err.line, 2);
    assert_int_equal(run("shader s() {\n string x = \"ab\";\n while (1)\n x = concat(x, x);\n}", 0,
                         (size_t)8 << 20, &err),
                     STATUS_MEMORY);
    assert_int_equal(err.line, 4);
    /* an array as large as the language allows */
    assert_int_equal(
        run("shader s(output float y = 0) {\n float x[16384];\n y = x[9]; }", 0, 0, &err),
        STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_is_limited), cmocka_unit_test(large_tokens_are_taken_or_refused),
        cmocka_unit_test(junk_is_refused),    cmocka_unit_test(cycles_are_refused),
        cmocka_unit_test(sizes_are_limited),  cmocka_unit_test(runs_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
