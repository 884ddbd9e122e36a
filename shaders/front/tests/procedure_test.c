/* SPDX-License-Identifier: Apache-2.0 */
/* procedure_test.c: shaders in C99. The oracle is the compiler that compiles this test: it compiles
 * the same file, and each point must give the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shaders.h"

/* The procedures have no prototypes, and `odd` says what precedence makes of it. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wparentheses"
#include "../../library/rings.c" // NOLINT(bugprone-suspicious-include): the oracle compiles it here

/* What C has and a shader needs seldom: each statement tells two readings apart. */
#define ODD(...)                                                                                   \
    __VA_ARGS__                                                                                    \
    static const char odd_text[] = "#include \"procedure.h\"\n" #__VA_ARGS__;
// clang-format off
ODD(
static float twice(float x);
static void swap(float *a, float *b) { float t = *a; *a = *b; *b = t; }
static void bump(const procedure_point *g, float by, float *a) { (*a) += by * g->v; }
static void bump_more(const procedure_point *g, float *a) { bump(g, *a + 1.0f, a); ++*a; }
static float twice(float x) { return x * 2.0f; }
static color tint(color c, float k) { return (color){c.r * k, c.g * -k, c.b + k}; }
void odd(const procedure_point *g, int n DEFAULT(-3), vector side DEFAULT(1.0f, -2.0f, 0.5f),
         color *Cout, float *value, int *count)
{
    float u = g->u, output = 0.25f; /* u is a variable of ASL, output a word of it */
    float a[3] = {u, 2.0f, g->P.z}, P = a[1];
    color c = {u, 0.5f, side.y}, d;
    const int mask = 0x7f & ~8;
    vector noise = {1.0f, P, output,};
    swap(&u, &output);
    bump_more(g, &u);
    d = tint(c, twice(u) - -output);
    *value = u * *value + (float)n / 2 + (float)(n / 2) + noise.y * side.x;
    *value -= a[0] - a[2] * (u < 0.5f ? -1.0f : fabsf(d.g));
    for (int i = 0, j = 8; i < j; i++, --j) {
        if (i == 2) continue;
        *count += (i << 2 | j) ^ (mask & i + 5);
        do { (*count)--; } while (*count > 60 && *count % 7 != 1);
    }
    while (!(*count <= 50) || 0) *count -= 9;
    int whole = P * 3.7f, less = -9.9f * u;
    whole += u * 5.0f;
    less *= 0.75f;
    *count += whole - less + (whole % 5 ? 2 : -1) + !(u > 0.3f) + (u > 0.2f == P < 0.5f);
    *value += (whole > 1 ? 1 : 0.5f) + (less < 0 ? P : whole) / 3 + (3 / 2) * (u != 0.5f ? 2 : 7) / 4;
    *value += whole = 2.9f * u;
    *value += -whole / 2 + (less++, 7) / 2 + (1 << whole % 3 + 3) * 0.1f + (0x10 - 5) / 2;
    if (u) *count += 1; else if (!whole && P) *count -= 2;
    *count += (u && whole) | 4 >> (whole & 1) ^ ~less & 3;
    float chain = *value = whole = 6.7f; *value += chain + P;
    Cout->r = d.r; Cout->g = d.g + fmodf(-7.5f, 2.0f); *Cout = tint(*Cout, P);
}
)
// clang-format on

struct run {
    struct arena arena;
    struct asl_context *cx;
};

static void begin(struct run *r, const char *file, const char *text)
{
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *program = NULL;
    struct asl_group *g = NULL;
    static const struct asl_context_options none = {0};
    *r = (struct run){0};
    if (asl_compile(&r->arena, file, text, text ? strlen(text) : 0, NULL, &diags, &program, &err) ||
        asl_group_new(&r->arena, "g", &g, &err) ||
        asl_group_layer(g, program, asl_program_shader(program, 0)->name, "l", NULL, &err) ||
        asl_group_finish(g, &err) || asl_context_new(g, &none, &r->cx, &err))
        fail_msg("%s: line %u: %s", file, err.line, err.msg);
}

static void at_point(struct run *r, unsigned i, procedure_point *p)
{
    struct error err = {0};
    struct asl_globals g = {0};
    *p = (procedure_point){.u = (float)(i % 61) / 61.0f, .v = (float)(i % 17) * 0.37f - 2.0f};
    p->P = (point){(float)(i % 31) * 0.21f - 3.0f, (float)(i % 7) - 2.5f, (float)(i % 13) * 0.4f};
    g.u.v = p->u;
    g.v.v = p->v;
    g.P.v[0] = p->P.x;
    g.P.v[1] = p->P.y;
    g.P.v[2] = p->P.z;
    if (asl_context_run(r->cx, &g, &err))
        fail_msg("%s", err.msg);
}

static void same_bits(struct run *r, const char *name, const void *want, size_t count)
{
    const union asl_slot *v = asl_context_value(r->cx, name, NULL, NULL);
    assert_non_null(v);
    for (size_t k = 0; k < count; k++)
        assert_memory_equal(&v[k], (const char *)want + 4 * k, 4);
}

static void compiled_and_read_agree(void **state)
{
    (void)state;
    struct run r;
    begin(&r, SOURCE_DIR "/shaders/library/rings.c", NULL);
    for (unsigned i = 0; i < 3000; i++) {
        procedure_point p;
        color c, early = {0.75f, 0.5f, 0.28f}, late = {0.35f, 0.17f, 0.07f};
        float roughness;
        at_point(&r, i, &p);
        rings(&p, 6.0f, 0.3f, early, late, &c, &roughness);
        same_bits(&r, "Cout", &c, 3);
        same_bits(&r, "roughness", &roughness, 1);
    }
    asl_context_free(r.cx);
    arena_free(&r.arena);
}

static void odd_ways_agree(void **state)
{
    (void)state;
    struct run r;
    begin(&r, "odd.c", odd_text);
    for (unsigned i = 0; i < 3000; i++) {
        procedure_point p;
        color c = {0};
        vector side = {1.0f, -2.0f, 0.5f};
        float value = 0;
        int count = 0;
        at_point(&r, i, &p);
        odd(&p, -3, side, &c, &value, &count);
        same_bits(&r, "Cout", &c, 3);
        same_bits(&r, "value", &value, 1);
        same_bits(&r, "count", &count, 1);
    }
    asl_context_free(r.cx);
    arena_free(&r.arena);
}

#define BODY(text) "void s(const procedure_point *g, float x, float *y)\n{\n" text "\n}\n"
static const struct {
    const char *text;
    uint32_t line, col;
    const char *words;
} bad[] = {
    {"", 1, 1, "no procedure"},
    {"static float f(void) { return 1.0f; }", 1, 38, "no procedure"},
    {"float k = 1.0f;", 1, 1, "only functions"},
    {"float s(const procedure_point *g) { return 1.0f; }", 1, 1, "gives nothing back"},
    {"void s(float x) { }", 1, 7, "first parameter"},
    {"void s(procedure_point *g) { }", 1, 8, "pointer to const"},
    {"void s(const procedure_point *g, double x) { }", 1, 34, "type of a parameter"},
    {"void s(const procedure_point *g, float a[3]) { }", 1, 41, "arrays"},
    {"void s(const procedure_point *g, float **a) { }", 1, 41, "name of a parameter"},
    {"void s(const procedure_point *g, float u) { }", 1, 40, "ASL has this one"},
    {"void s(const procedure_point *g, color c DEFAULT(1.0f)) { }", 1, 54, "three of a triple"},
    {"void s(const procedure_point *g) { }\nvoid t(const procedure_point *g) { }", 2, 6, "second"},
    {"void s(const procedure_point *g)\n{\n", 2, 1, "does not end"},
    {"void s(const procedure_point *g", 1, 32, "expected ','"},
    {"void s(const procedure_point *g) asm", 1, 34, "expected '{'"},
    {"#include <stdio.h>\n" BODY(""), 1, 10, "cannot open"},
    {BODY("*y = 1.0;"), 3, 6, "double"},
    {BODY("*y = 010;"), 3, 6, "octal"},
    {BODY("*y = 0xffffffff;"), 3, 6, "no int"},
    {BODY("*y = 2147483648;"), 3, 6, "no int"},
    {BODY("system(\"true\");"), 3, 1, "no such function"},
    {BODY("*y = noise(x);"), 3, 6, "no such function"},
    {BODY("*y = trace(g->P, g->N);"), 3, 6, "no such function"},
    {BODY("asm(\"nop\");"), 3, 1, "no such function"},
    {BODY("*y = \"a\";"), 3, 6, "no strings"},
    {BODY("static float k; *y = k;"), 3, 1, "do not have"},
    {BODY("goto out;"), 3, 1, "do not have"},
    {BODY("float *p = y;"), 3, 7, "no pointers"},
    {BODY("y++;"), 3, 1, "a pointer is followed"},
    {BODY("y[1] = 0.0f;"), 3, 1, "a pointer is followed"},
    {BODY("*y++ = 0.0f;"), 3, 1, "cannot be followed"},
    {BODY("*(y + 1) = 0.0f;"), 3, 1, "cannot be followed"},
    {BODY("*x = 0.0f;"), 3, 1, "cannot be followed"},
    {BODY("*y = *&x;"), 3, 6, "cannot be followed"},
    {BODY("*y = g->Ci;"), 3, 9, "no such member"},
    {BODY("g->u = 1.0f;"), 3, 4, "const"},
    {BODY("g->P.x += 1.0f;"), 3, 4, "const"},
    {BODY("--g->v;"), 3, 6, "const"},
    {BODY("x = 1.0f;"), 3, 1, "x"},
    {BODY("*y = P;"), 3, 6, "P__c"},
    {BODY("*y = k__c;"), 3, 6, "__c"},
    {BODY("color c = {1.0f, 2.0f};"), 3, 22, "three values"},
    {BODY("*y = (x;"), 4, 1, "closes no bracket"},
    {BODY(")"), 3, 1, "closes no bracket"},
    {BODY("*y = 1.0f; }"), 4, 1, "only functions"},
    {"static float f(float a) { return f(a); }\n" BODY("*y = f(x);"), 1, 34, "f"},
    {"static void f(float *a, float b) { *a = b; }\n" BODY("f(y, *y);"), 4, 7, "passed by address"},
    {"static void f(float *a, float *b) { *a = *b; }\n" BODY("float k; f(&k, &k);"), 4, 17,
     "passed by address"},
    {"static void f(float *a, float b) { *a = b; }\n" BODY("float k; f(&k, (float)(k));"), 4, 24,
     "passed by address"},
    {"static void f(float *a) { *a = 1.0f; }\n" BODY("f(x);"), 4, 3, "expected the address"},
    {"static void f(float *a) { *a = 1.0f; }\n" BODY("color c; f(&c.r);"), 4, 12,
     "expected the address"},
    {"static float f(float a) { return a; }\n" BODY("*y = f(y);"), 4, 8, "a pointer is followed"},
};

static void what_is_no_procedure_is_refused_at_its_place(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena a = {0};
        struct error err = {0};
        struct asl_diags diags = {0};
        const struct asl_program *p = NULL;
        enum status s =
            asl_compile(&a, "bad.c", bad[i].text, strlen(bad[i].text), NULL, &diags, &p, &err);
        const struct asl_diag *d = diags.first;
        while (d && d->severity != ASL_ERROR)
            d = d->next;
        if (s == STATUS_OK || !d || d->pos.line != bad[i].line || d->pos.col != bad[i].col ||
            !strstr(d->text, bad[i].words)) {
            wrong++;
            print_error("%s\n    expected %u:%u: ...%s...\n    found    %u:%u: %s\n", bad[i].text,
                        bad[i].line, bad[i].col, bad[i].words, d ? d->pos.line : 0,
                        d ? d->pos.col : 0, d ? d->text : "no error");
        }
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

/* Every file that ends early, and every file that lacks one token, is refused or read: no harm. */
static void broken_files_do_no_harm(void **state)
{
    (void)state;
    char text[sizeof odd_text];
    for (size_t cut = 0; cut < 2 * sizeof odd_text; cut += 3) {
        size_t at = cut / 2, n = sizeof odd_text - 1;
        memcpy(text, odd_text, sizeof odd_text);
        if (cut % 2)
            n = at;
        else if (at < n)
            text[at] = "){;*&(,"[at % 7];
        struct arena a = {0};
        struct error err = {0};
        struct asl_diags diags = {0};
        const struct asl_program *p = NULL;
        enum status s = asl_compile(&a, "cut.c", text, n, NULL, &diags, &p, &err);
        assert_true((s == STATUS_OK) == (diags.errors == 0 && p));
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_and_read_agree),
        cmocka_unit_test(odd_ways_agree),
        cmocka_unit_test(what_is_no_procedure_is_refused_at_its_place),
        cmocka_unit_test(broken_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
