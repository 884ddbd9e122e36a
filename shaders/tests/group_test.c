/* SPDX-License-Identifier: Apache-2.0 */
/* group_test.c: networks, the program's public face, and that the manual carries the table of
 * builtins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shaders.h"

struct net {
    struct arena arena;
    struct asl_group *g;
    struct asl_context *cx;
    struct text said;
};

static void on_message(void *ctx, enum asl_message kind, const char *to, const char *text)
{
    struct net *n = ctx;
    (void)to;
    text_printf(&n->said, "%s%s",
                kind == ASL_MSG_ERROR     ? "E:"
                : kind == ASL_MSG_WARNING ? "W:"
                                          : "",
                text);
}

static bool on_userdata(void *ctx, const char *name, struct asl_type type, union asl_slot *v)
{
    (void)ctx;
    if (strcmp(name, "s") != 0 || type.base != ASL_FLOAT)
        return false;
    v[0].f = 7;
    v[1].f = 2;
    v[2].f = 3;
    return true;
}

static const struct asl_program *compile(struct net *n, const char *source)
{
    struct asl_diags diags = {0};
    struct error err = {0};
    const struct asl_program *p = NULL;
    enum status s =
        asl_compile(&n->arena, "net.asl", source, strlen(source), NULL, &diags, &p, &err);
    if (s != STATUS_OK)
        print_error("%s\n", err.msg);
    assert_int_equal(s, STATUS_OK);
    return p;
}

static void begin(struct net *n)
{
    struct error err = {0};
    *n = (struct net){0};
    assert_int_equal(asl_group_new(&n->arena, "net", &n->g, &err), STATUS_OK);
}

static void layer(struct net *n, const char *name, const char *source)
{
    struct error err = {0};
    assert_int_equal(asl_group_layer(n->g, compile(n, source), NULL, name, NULL, &err), STATUS_OK);
}

static void param(struct net *n, const char *name, const char *value)
{
    struct error err = {0};
    assert_int_equal(asl_group_param(n->g, NULL, name, value, &err), STATUS_OK);
}

static void join(struct net *n, const char *a, const char *x, const char *b, const char *y)
{
    struct error err = {0};
    enum status s = asl_group_connect(n->g, a, x, b, y, &err);
    if (s != STATUS_OK)
        print_error("%s\n", err.msg);
    assert_int_equal(s, STATUS_OK);
}

static void run(struct net *n, float u, float v)
{
    struct error err = {0};
    struct asl_globals g = {
        .u = {u, 0.5f, 0}, .v = {v, 0, 0.25f}, .raytype = asl_raytype_bit("camera")};
    g.N.v[2] = 1;
    text_free(&n->said);
    if (!n->cx) {
        struct asl_context_options o = {0};
        o.services.ctx = n;
        o.services.message = on_message;
        o.services.userdata = on_userdata;
        assert_int_equal(asl_group_finish(n->g, &err), STATUS_OK);
        assert_int_equal(asl_context_new(n->g, &o, &n->cx, &err), STATUS_OK);
    }
    assert_int_equal(asl_context_run(n->cx, &g, &err), STATUS_OK);
}

static void expect(struct net *n, const char *name, size_t slot, float want)
{
    const union asl_slot *v = asl_context_value(n->cx, name, NULL, NULL);
    assert_non_null(v);
    assert_true(v[slot].f == want);
}

static void end(struct net *n)
{
    asl_context_free(n->cx);
    text_free(&n->said);
    arena_free(&n->arena);
}

static const char source_a[] = "shader a(float k = 1, output float x = 0, output color c = 0) { "
                               "printf(\"a \"); x = k * u; c = color(x, 2, 3); }";
static const char source_b[] =
    "shader b(float x = 5, int use = 1, output float y = 0) { printf(\"b \"); if (use) y = x + 1; "
    "else y = -1; printf(\"b2 \"); }";

/* A layer runs when its value is first read, once, and not at all when nothing reads it. */
static void layers_run_when_pulled(void **state)
{
    (void)state;
    struct net n;
    begin(&n);
    param(&n, "k", "4.0");
    layer(&n, "A", source_a);
    param(&n, "use", "1");
    layer(&n, "B", source_b);
    join(&n, "A", "x", "B", "x");
    run(&n, 0.5f, 0);
    assert_string_equal(n.said.data, "b a b2 ");
    expect(&n, "y", 0, 3);
    expect(&n, "A.c", 1, 2);
    struct error err = {0};
    assert_int_equal(asl_group_reparam(n.g, "B", NULL, "use", "0", &err), STATUS_OK);
    run(&n, 0.5f, 0);
    assert_string_equal(n.said.data, "b b2 ");
    expect(&n, "y", 0, -1);
    bool ran = true;
    assert_null(asl_context_value(n.cx, "A.x", NULL, &ran));
    assert_false(ran);
    end(&n);
}

static void a_layer_runs_once(void **state)
{
    (void)state;
    struct net n;
    begin(&n);
    layer(&n, "A", source_a);
    layer(&n, "B", source_b);
    layer(&n, "C",
          "shader c(float p = 0, float q = 0, color r = 9, output float z = 0) { z = p + q + r[1] "
          "+ p; }");
    join(&n, "A", "x", "B", "x");
    join(&n, "A", "x", "C", "p");
    join(&n, "B", "y", "C", "q");
    join(&n, "A", "c[2]", "C", "r[1]");
    run(&n, 2, 0);
    assert_string_equal(n.said.data, "a b b2 ");
    expect(&n, "z", 0, 2 + 3 + 3 + 2);
    expect(&n, "C.r", 0, 9); /* the other components keep the default */
    end(&n);
}

static void values_convert(void **state)
{
    (void)state;
    struct net n;
    begin(&n);
    layer(&n, "A",
          "shader a(output int i = 3, output float f = 0.5, output vector v = 0, output string s = "
          "\"\", output closure color k = 0, output float w[2] = {1, 2}) { v = vector(1, 2, 3); s "
          "= \"text\"; k = diffuse(N); }");
    layer(&n, "B",
          "shader b(float f = 0, color c = 0, point p = 0, string s = \"\", closure color k = 0, "
          "float w[2] = {0, 0}, float e = 0) { printf(\"%g %g %g %s %s %g %g\", f, c, p, s, k, w, "
          "e); }");
    join(&n, "A", "i", "B", "f");
    join(&n, "A", "f", "B", "c");
    join(&n, "A", "v", "B", "p");
    join(&n, "A", "s", "B", "s");
    join(&n, "A", "k", "B", "k");
    join(&n, "A", "w", "B", "w");
    join(&n, "A", "w[1]", "B", "e");
    run(&n, 0, 0);
    assert_string_equal(
        n.said.data,
        "3 0.5 0.5 0.5 1 2 3 text (1, 1, 1) * diffuse ((0, 0, 1), \"label\", \"\") 1 2 2");
    end(&n);
}

/* Dx of a connected value needs derivatives in the layer before it, and in the one before that. */
static void derivatives_cross_connections(void **state)
{
    (void)state;
    struct net n;
    begin(&n);
    layer(&n, "A", "shader a(output float x = 0) { float t = u * u; x = t + v; }");
    layer(&n, "B", "shader b(float x = 0, output color y = 0) { y = color(3 * x, x * x, 1); }");
    layer(&n, "C",
          "shader c(color y = 0, float s = 0 [[ int lockgeom = 0 ]], output float d[4] = {0}) { "
          "d[0] = Dx(y)[0]; d[1] = Dy(y[1]); d[2] = s; d[3] = Dy(s); }");
    join(&n, "A", "x", "B", "x");
    join(&n, "B", "y", "C", "y");
    run(&n, 2, 1); /* x = 5, x' = (2*2*0.5, 0.25) */
    expect(&n, "d", 0, 6);
    expect(&n, "d", 1, 2 * 5 * 0.25f);
    expect(&n, "d", 2, 7);
    expect(&n, "d", 3, 3);
    end(&n);
}

static const struct asl_program *find(void *ctx, const char *name, struct error *err)
{
    if (strcmp(name, "a") == 0)
        return compile(ctx, source_a);
    if (strcmp(name, "b") == 0)
        return compile(ctx, source_b);
    error_msg(err, STATUS_MISSING, "no shader '%s'", name);
    return NULL;
}

/* Fields of structs are connected and set one by one; structs of two programs are one type when
 * they look alike. */
static void parts_of_structs(void **state)
{
    (void)state;
    struct net n;
    struct error err = {0};
    begin(&n);
    layer(&n, "a",
          "struct in { float s; color c[2]; }; struct out { int k; in i; };\n"
          "shader a(output out o = { 1, { 2, { color(3), color(4) } } })"
          "{ o.k = 10; o.i.s = u; o.i.c[1] = color(5, 6, 7); }");
    param(&n, "q.i.s", "2.5");
    param(&n, "q.i.c[1]", "1,2,3");
    param(&n, "r.c[0][2]", "9");
    layer(&n, "b",
          "struct in { float s; color c[2]; }; struct out { int k; in i; };\n"
          "shader b(out p = { 0, { 0, { 0, 0 } } }, out q = { 1, { 2, { 3, 4 } } }, "
          "in r = { 20, { 21, 22 } }, output float y[8] = { 0 })"
          "{ y[0] = p.k + p.i.c[1][2]; y[1] = q.i.s; y[2] = q.k; y[3] = q.i.c[1][0];"
          "  y[4] = r.s; y[5] = r.c[0][1]; y[6] = r.c[1][2]; y[7] = r.c[0][2]; }");
    join(&n, "a", "o", "b", "p");
    join(&n, "a", "o.k", "b", "q.k");
    join(&n, "a", "o.i.s", "b", "r.s");
    join(&n, "a", "o.i.c[1][2]", "b", "r.c[1][2]");
    join(&n, "a", "o.i.c[1]", "b", "q.i.c[1]");
    run(&n, 0.75f, 0);
    static const float want[8] = {17, 2.5f, 10, 5, 0.75f, 21, 7, 9};
    for (size_t i = 0; i < 8; i++)
        expect(&n, "b.y", i, want[i]);
    assert_int_not_equal(asl_group_connect(n.g, "a", "o.i.x", "b", "r.s", &err), STATUS_OK);
    assert_non_null(strstr(err.msg, "has no part '.x'"));
    assert_int_not_equal(asl_group_connect(n.g, "a", "o.i", "b", "q", &err), STATUS_OK);
    assert_non_null(strstr(err.msg, "cannot connect"));
    end(&n);
}

/* A parameter T x[] is as long as the group makes it, by a value or by a connection. */
static void arrays_of_any_length(void **state)
{
    (void)state;
    struct net n;
    struct error err = {0};
    struct asl_type floats = {.base = ASL_FLOAT, .array = -1};
    begin(&n);
    layer(&n, "a", "shader a(output float o[4] = { 1, 2, 3, 4 }) { o[3] = u; }");
    assert_int_equal(asl_group_param(n.g, &floats, "p", "5 6 7", &err), STATUS_OK);
    param(&n, "s", "one two");
    param(&n, "f", "8,9");
    layer(
        &n, "b",
        "float sum(float x[]) { float t = 0; for (int i = 0; i < arraylength(x); i++) t += x[i];"
        " return t; }\n"
        "shader b(float p[] = { 0 }, float q[] = { 1, 1, 1, 1, 1 }, color r[] = { 3, 4 }, "
        "string s[] = { \"\" }, float f[3] = { 0, 0, 0 }, output float y[7] = { 0 })"
        "{ y[0] = sum(p); y[1] = arraylength(p); y[2] = sum(q); y[3] = arraylength(q);"
        "  y[4] = arraylength(r); y[5] = arraylength(s) + strlen(s[1]); y[6] = arraylength(f); }");
    join(&n, "a", "o", "b", "q");
    run(&n, 10, 0);
    static const float want[7] = {18, 3, 16, 4, 2, 5, 3};
    for (size_t i = 0; i < 7; i++)
        expect(&n, "b.y", i, want[i]);
    end(&n);
}

static void text_form(void **state)
{
    (void)state;
    struct net n;
    struct error err = {0};
    struct text warnings = {0};
    begin(&n);
    const char *text =
        "param float k 2.5 ; # a comment\nparam string nothing \"a b\" ;\nshader a first ;\n"
        "param int use 1;shader b second ;\nconnect first.x second.x ;\n";
    assert_int_equal(asl_group_parse(n.g, "net", text, find, &n, &warnings, &err), STATUS_OK);
    assert_non_null(strstr(warnings.data, "no parameter 'nothing'"));
    text_free(&warnings);
    run(&n, 2, 0);
    expect(&n, "second.y", 0, 6);
    assert_int_equal(asl_group_layers(n.g), 2);
    assert_string_equal(asl_group_layer_name(n.g, 1), "second");
    end(&n);
    begin(&n);
    assert_int_equal(
        asl_group_parse(n.g, "net", "shader a ; shader b second;", find, &n, NULL, &err),
        STATUS_OK);
    assert_int_equal(asl_group_layers(n.g), 2);
    assert_string_equal(asl_group_layer_name(n.g, 1), "second");
    end(&n);
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {"shader ;", "a shader's name"},
        {"shader nosuch l ;", "no shader 'nosuch'"},
        {"param flaot x 1 ;", "'flaot' is no type"},
        {"shader a l ; shader a l ;", "two layers are named 'l'"},
        {"shader a l ; connect l.x m.y ;", "there is no layer 'm'"},
        {"shader a l ; shader b m ; connect l.q m.x ;", "layer 'l' has no parameter 'q'"},
        {"shader a l ; shader b m ; connect m.y l.k ;", "must stand before"},
        {"shader a l ; shader b m ; connect l.k m.x ;", "is not an output"},
        {"shader a l ; shader b m ; connect l.c m.x ;", "cannot connect color"},
        {"shader a l ; shader b m ; connect l.c[3] m.x ;", "has no part '[3]'"},
        {"param float k abc ; shader a l ;", "expected a value of type float"},
        {"param string k abc ; shader a l ;", "it cannot be set to string"},
        {"bogus ;", "expected 'param', 'shader' or 'connect'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin(&n);
        err = (struct error){0};
        assert_int_not_equal(asl_group_parse(n.g, "net", bad[i].text, find, &n, NULL, &err),
                             STATUS_OK);
        if (!strstr(err.msg, bad[i].expected))
            print_error("%s: %s\n", bad[i].text, err.msg);
        assert_non_null(strstr(err.msg, bad[i].expected));
        end(&n);
    }
}

static void messages_pass(void **state)
{
    (void)state;
    struct net n;
    begin(&n);
    layer(&n, "A",
          "shader a(output float x = 0) { setmessage(\"m\", 3.5); setmessage(\"late\", 9.5); x = "
          "isconnected(x); }");
    layer(
        &n, "B",
        "shader b(float x = 0, output float y = 0) { float m = 0; int before = "
        "getmessage(\"late\", m); float z = x; int after = getmessage(\"late\", m); y = (before + "
        "after) * 100 + getmessage(\"m\", m) * 10 + m + z * 1000 + isconnected(x) * 10000; }");
    join(&n, "A", "x", "B", "x");
    run(&n, 0, 0);
    expect(&n, "y", 0, 12013.5f);
    run(&n, 0, 0); /* messages do not outlive the point */
    expect(&n, "y", 0, 12013.5f);
    end(&n);
}

/* Functions see the parameter itself that they are handed, and fields of it. */
static void connections_are_seen_in_functions(void **state)
{
    (void)state;
    struct net n;
    begin(&n);
    layer(&n, "A",
          "struct two { float x; float y; }; shader a(output two s = {1, 2}) { s.x = 3; }");
    layer(&n, "B",
          "struct two { float x; float y; };\n"
          "float seen(float x) { return isconnected(x); }\n"
          "float field(two t) { return isconnected(t.y) + 10 * isconnected(t); }\n"
          "shader b(two s = {0, 0}, float k = 0, float g = 0 [[ int interpolated = 1 ]], output "
          "float o = 0, output float kept = 0) { float local = 0; o = field(s) + 100 * seen(s.x) + "
          "1000 * seen(k) + 10000 * seen(local) + 100000 * isconnected(o) + 1000000 * "
          "isconnected(kept) + 1e7 * isconnected(g); }");
    join(&n, "A", "s", "B", "s");
    asl_group_output(n.g, "B.kept");
    asl_group_output(n.g, "A.o"); /* there is none */
    asl_group_userdata_isconnected(n.g);
    run(&n, 0, 0);
    expect(&n, "o", 0, 12000111.0f);
    end(&n);
}

/* Entries run alone and in their order; the others only when they are pulled. */
static void entries_take_the_last_layers_place(void **state)
{
    (void)state;
    static const char *const source =
        "shader l(string name = \"\", float in = 0, output float out = 0) { printf(\"%s\", name); "
        "out = in; printf(\"%g\", out); }";
    struct net n;
    struct error err = {0};
    begin(&n);
    static const char *const names[] = {"A", "B", "C", "D"};
    for (int i = 0; i < 4; i++) {
        param(&n, "name", names[i]);
        layer(&n, names[i], source);
    }
    join(&n, "A", "out", "C", "in");
    assert_int_equal(asl_group_entry(n.g, "C", &err), STATUS_OK);
    assert_int_equal(asl_group_entry(n.g, "B", &err), STATUS_OK);
    assert_int_equal(asl_group_entry(n.g, "A", &err), STATUS_OK);
    assert_int_equal(asl_group_entry(n.g, "C", &err), STATUS_OK);
    assert_int_equal(asl_group_entry(n.g, "E", &err), STATUS_MISSING);
    run(&n, 0, 0);
    assert_string_equal(n.said.data, "CA00B0");
    end(&n);
}

static void connections_can_be_refused(void **state)
{
    (void)state;
    struct net n;
    struct error err = {0};
    begin(&n);
    layer(&n, "A", "shader a(output float x = 0) { x = 1; }");
    layer(&n, "B",
          "shader b(float x = 0 [[ int allowconnect = 0 ]], float y = 0 [[ int allowconnect = 1 ]])"
          " { printf(\"%g %g\", x, y); }");
    assert_int_equal(asl_group_connect(n.g, "A", "x", "B", "x", &err), STATUS_ARG);
    assert_non_null(strstr(err.msg, "B.x"));
    join(&n, "A", "x", "B", "y");
    run(&n, 0, 0);
    assert_string_equal(n.said.data, "0 1");
    end(&n);
}

static void exit_ends_one_layer(void **state)
{
    (void)state;
    struct net n;
    begin(&n);
    layer(&n, "A",
          "void stop() { exit(); } shader a(output float x = 1) { x = 2; stop(); x = 3; }");
    layer(&n, "B", "shader b(float x = 0, output float y = 0) { y = 10 * x; }");
    join(&n, "A", "x", "B", "x");
    run(&n, 0, 0);
    expect(&n, "y", 0, 20);
    end(&n);
}

static void parameters_are_described(void **state)
{
    (void)state;
    struct net n;
    begin(&n);
    const struct asl_program *p =
        compile(&n, "surface s [[ string help = \"a shader\", int n = -3 ]] (float a = 2.5 [[ "
                    "float min = 0, float max = 1 ]], color c = color(1, 2, 3), string t = \"x\", "
                    "float k = u, output color o = 0, int w[] = {1, 2, 3}) { o = a; }");
    const struct asl_shader_info *s = asl_program_shader(p, 0);
    assert_int_equal(asl_program_shaders(p), 1);
    assert_string_equal(s->name, "s");
    assert_int_equal(s->kind, ASL_SURFACE);
    assert_string_equal(s->metadata->value->s, "a shader");
    assert_int_equal(s->metadata->next->value->i, -3);
    assert_int_equal(s->param_count, 6);
    assert_true(s->params[0].constant && s->params[0].default_value->f == 2.5f);
    assert_string_equal(s->params[0].metadata->next->name, "max");
    assert_true(s->params[1].default_value[2].f == 3);
    assert_true(!s->params[3].constant && s->params[4].output);
    assert_int_equal(s->params[5].type.array, 3);
    end(&n);
}

/* What the preprocessor prints compiles to the same tree. */
static void preprocessed_text_is_the_program(void **state)
{
    (void)state;
    static const char *const files[] = {"preprocess_run", "struct_run", "strings", "functions",
                                        "maths"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct arena a = {0};
        struct asl_diags diags = {0};
        struct error err = {0};
        struct text text = {0}, one = {0}, two = {0};
        const struct asl_program *p, *q;
        char *path = arena_printf(&a, "%s/shaders/tests/%s.asl", SOURCE_DIR, files[i]);
        assert_int_equal(asl_compile(&a, path, NULL, 0, NULL, &diags, &p, &err), STATUS_OK);
        assert_int_equal(asl_preprocess(&a, path, NULL, 0, NULL, &diags, &text, &err), STATUS_OK);
        assert_int_equal(asl_compile(&a, "again.asl", text.data, text.len, NULL, &diags, &q, &err),
                         STATUS_OK);
        asl_program_dump(p, true, &one);
        asl_program_dump(q, true, &two);
        assert_string_equal(one.data, two.data);
        text_free(&text);
        text_free(&one);
        text_free(&two);
        arena_free(&a);
    }
}

static void manual_carries_the_builtins(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct text table = {0};
    char *manual;
    size_t size;
    assert_int_equal(file_read(&a, SOURCE_DIR "/docs/reference/asl.md", 0, &manual, &size, &err),
                     STATUS_OK);
    asl_builtins_print(&table);
    assert_true(table.len > 5000);
    if (!strstr(manual, table.data))
        print_error(
            "docs/reference/asl.md: put the output of 'isophote aslc --builtins' between the marks "
            "of section 20\n");
    assert_non_null(strstr(manual, table.data));
    text_free(&table);
    arena_free(&a);
}

static void limits_are_errors(void **state)
{
    (void)state;
    struct net n;
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    struct asl_options opt = {.max_bytes = 1 << 20};
    begin(&n);
    static const char bomb[] =
        "#define A x x x x x x x x\n#define B A A A A A A A A\n#define C B B B B B B B B\n#define "
        "D C C C C C C C C\n#define E D D D D D D D D\nshader s() { E }";
    assert_int_equal(asl_compile(&n.arena, "bomb", bomb, strlen(bomb), &opt, &diags, &p, &err),
                     STATUS_LIMIT);
    assert_null(p);
    size_t deep = 200000;
    char *text = malloc(2 * deep + 100), *t = text;
    assert_non_null(text);
    t += sprintf(t, "shader s() { float x = ");
    memset(t, '(', deep);
    t += deep;
    *t++ = '1';
    memset(t, ')', deep);
    t += deep;
    (void)sprintf(t, "; }");
    assert_int_equal(asl_compile(&n.arena, "deep", text, strlen(text), NULL, &diags, &p, &err),
                     STATUS_TYPE);
    assert_non_null(strstr(err.msg, "nests deeper"));
    free(text);
    assert_int_equal(asl_compile(&n.arena, "/nonexistent/x.asl", NULL, 0, NULL, &diags, &p, &err),
                     STATUS_MISSING);
    layer(&n, "A",
          "shader a(output string s = \"x\") { for (int i = 0; i < 60; i++) s = concat(s, s); }");
    assert_int_equal(asl_group_finish(n.g, &err), STATUS_OK);
    struct asl_context_options o = {.max_bytes = 1 << 20};
    assert_int_equal(asl_context_new(n.g, &o, &n.cx, &err), STATUS_OK);
    struct asl_globals g = {0};
    assert_int_equal(asl_context_run(n.cx, &g, &err), STATUS_MEMORY);
    assert_int_equal(asl_context_run(n.cx, &g, &err),
                     STATUS_MEMORY); /* and the context can go on */
    end(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_run_when_pulled),
        cmocka_unit_test(a_layer_runs_once),
        cmocka_unit_test(values_convert),
        cmocka_unit_test(derivatives_cross_connections),
        cmocka_unit_test(parts_of_structs),
        cmocka_unit_test(arrays_of_any_length),
        cmocka_unit_test(text_form),
        cmocka_unit_test(messages_pass),
        cmocka_unit_test(connections_are_seen_in_functions),
        cmocka_unit_test(entries_take_the_last_layers_place),
        cmocka_unit_test(connections_can_be_refused),
        cmocka_unit_test(exit_ends_one_layer),
        cmocka_unit_test(parameters_are_described),
        cmocka_unit_test(preprocessed_text_is_the_program),
        cmocka_unit_test(manual_carries_the_builtins),
        cmocka_unit_test(limits_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
