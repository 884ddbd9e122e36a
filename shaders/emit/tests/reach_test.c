/* SPDX-License-Identifier: Apache-2.0 */
/* reach_test.c: every overload of every builtin is called by a surface, and becomes C and LLVM IR
 * for a renderer's kernel: with names that stand in the text, and with names that are chosen while
 * it runs. What is refused or asked of the host must be what BUILTIN_LIMIT of builtins.def, and so
 * docs/reference/asl.md, says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "front/asl.h"
#include "shaders.h"

/* ---- a surface that calls an overload -------------------------------------------------------- */

/* A name that means something to the builtin. */
static const char *name_of(const struct asl_builtin *b)
{
    static const struct {
        const char *builtin, *name;
    } names[] = {{"noise", "perlin"},         {"pnoise", "perlin"},        {"spline", "linear"},
                 {"splineinverse", "linear"}, {"transformc", "hsv"},       {"transform", "object"},
                 {"getmatrix", "object"},     {"displace", "object"},      {"bump", "object"},
                 {"transformu", "cm"},        {"gettextureinfo", "exists"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].builtin, b->name) == 0)
            return names[i].name;
    return "camera";
}

static void argument(struct text *t, const struct asl_builtin *b, const struct asl_overload *o,
                     uint32_t k, bool chosen)
{
    static const char *const values[] = {[ASL_INT] = "int(4 * u)",
                                         [ASL_FLOAT] = "u",
                                         [ASL_COLOR] = "color(u, v, u)",
                                         [ASL_POINT] = "P",
                                         [ASL_VECTOR] = "I",
                                         [ASL_NORMAL] = "N",
                                         [ASL_MATRIX] = "matrix(1 + u)",
                                         [ASL_CLOSURE] = "diffuse(N)"};
    const bool out = (o->outputs >> k) & 1;
    if (o->args[k].base == ASL_UNKNOWN && !out)
        text_puts(t, strcmp(b->name, "setmessage") == 0    ? "u"
                     : strcmp(b->name, "arraylength") == 0 ? "pa"
                                                           : "pf");
    else if (out || o->args[k].array)
        text_printf(t, "a%u", k);
    else if (o->args[k].base == ASL_STRING && chosen)
        text_puts(t, "chosen");
    else if (o->args[k].base == ASL_STRING)
        text_printf(t, "\"%s\"", name_of(b));
    else
        text_puts(t, values[o->args[k].base]);
}

static void use(struct text *t, struct asl_type type, const char *name)
{
    const char *at = type.array ? "[0]" : "";
    if (type.base == ASL_STRING)
        text_printf(t, "    if (%s%s == \"x\") sum += 1;\n", name, at);
    else if (type.base == ASL_MATRIX)
        text_printf(t, "    sum += %s[0][0];\n", name);
    else if (type.base == ASL_CLOSURE)
        text_printf(t, "    Ci += %s;\n", name);
    else if (type.base != ASL_VOID)
        text_printf(t, "    sum += %s%s;\n", name, at);
}

static void surface(struct text *t, const struct asl_builtin *b, const struct asl_overload *o,
                    bool chosen)
{
    char text[ASL_TYPE_TEXT_SIZE];
    text_printf(t,
                "surface s(float pf = 1, float pa[3] = { 1 })\n{\n    color sum = 0;\n"
                "    string chosen = u < 0.5 ? \"%s\" : \"other\";\n",
                name_of(b));
    for (uint32_t k = 0; k < o->count; k++) {
        struct asl_type type = o->args[k];
        const bool array = type.array != 0;
        if (!array && !((o->outputs >> k) & 1))
            continue;
        type.array = 0;
        type.base = type.base == ASL_UNKNOWN ? ASL_FLOAT : type.base;
        text_printf(t, "    %s a%u%s;\n", asl_type_text(type, text, sizeof text), k,
                    array ? "[8]" : "");
    }
    text_puts(t, "    ");
    if (o->ret.base != ASL_VOID)
        text_printf(t, "%s r = ", asl_type_text(o->ret, text, sizeof text));
    text_printf(t, "%s(", b->name);
    for (uint32_t k = 0; k < o->count; k++) {
        text_puts(t, k ? ", " : "");
        argument(t, b, o, k, chosen);
    }
    text_puts(t, ");\n");
    use(t, o->ret, "r");
    for (uint32_t k = 0; k < o->count; k++)
        if ((o->outputs >> k) & 1) {
            struct asl_type type = o->args[k];
            char name[8];
            type.base = type.base == ASL_UNKNOWN ? ASL_FLOAT : type.base;
            (void)snprintf(name, sizeof name, "a%u", k);
            use(t, type, name);
        }
    text_puts(t, "    Ci += sum * diffuse(N);\n}\n");
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

enum reach { RUNS, ASKS, REFUSED };

static bool has_reply(const struct asl_emitted *e)
{
    for (size_t i = 0; i < e->host_count; i++)
        if (e->hosts[i].reply)
            return true;
    return false;
}

static enum reach reach_of(const struct asl_builtin *b, const struct asl_overload *o, bool chosen)
{
    static const char *const outputs[] = {"Ci", NULL};
    struct arena a = {0};
    struct asl_diags diags = {0};
    struct error err = {0};
    struct text source = {0}, c = {0}, llvm = {0};
    const struct asl_program *p = NULL;
    struct asl_group *g = NULL;
    struct asl_code *code = NULL;
    struct asl_emitted one = {0}, two = {0};
    const struct asl_lower_options lower = {.bake_strings = true, .outputs = outputs};
    const struct asl_emit_options in_c = {.surface = true, .suffix = ""},
                                  in_llvm = {.surface = true, .suffix = "", .float_flags = ""};
    surface(&source, b, o, chosen);
    if (asl_compile(&a, "s.asl", source.data, source.len, NULL, &diags, &p, &err) != STATUS_OK)
        fail_msg("%s: %s\n%s", b->name, err.msg, source.data);
    assert_int_equal(asl_group_new(&a, "g", &g, &err), STATUS_OK);
    assert_int_equal(asl_group_layer(g, p, NULL, "s", NULL, &err), STATUS_OK);
    assert_int_equal(asl_group_finish(g, &err), STATUS_OK);
    assert_int_equal(asl_lower(&a, g, &lower, &code, &err), STATUS_OK);
    enum status st = asl_emit_c(&a, code, &in_c, &c, &one, &err);
    enum reach r = st == STATUS_UNSUPPORTED ? REFUSED : has_reply(&one) ? ASKS : RUNS;
    if (st != STATUS_OK && st != STATUS_UNSUPPORTED)
        fail_msg("%s: %s", b->name, err.msg);
    st = asl_emit_llvm(&a, code, &in_llvm, &llvm, &two, &err);
    const bool same = r == REFUSED ? st == STATUS_UNSUPPORTED
                                   : st == STATUS_OK && has_reply(&two) == has_reply(&one) &&
                                         two.message_words == one.message_words;
    if (!same)
        fail_msg("%s (%s): C and LLVM IR differ: %s\n%s", b->name, b->sigs, err.msg, source.data);
    text_free(&source);
    text_free(&c);
    text_free(&llvm);
    arena_free(&a);
    return r;
}

/* ---- the list -------------------------------------------------------------------------------- */

static bool is_listed(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = list; (p = strstr(p, name)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == 0 || p[n] == ' '))
            return true;
    return false;
}

static const struct {
    const char *functions;
    bool asks, chosen;
} limits[] = {
#define BUILTIN(id, name, sigs, deriv, ulp, text)
#define BUILTIN_LIMIT(functions, asks, chosen, what, why) {functions, asks, chosen},
#include "front/builtins.def"
#undef BUILTIN
#undef BUILTIN_DECLARED
#undef BUILTIN_INTERNAL
#undef BUILTIN_SECTION
};

static enum reach listed(const char *name, bool chosen)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (is_listed(limits[i].functions, name) && (chosen || !limits[i].chosen))
            return limits[i].asks ? ASKS : REFUSED;
    return RUNS;
}

static void each_builtin_reaches_the_kernel(void **state)
{
    (void)state;
    unsigned calls = 0, wrong = 0;
    for (size_t k = 0; asl_builtin_at(k); k++) {
        const struct asl_builtin *b = asl_builtin_at(k);
        enum reach found[2] = {RUNS, RUNS};
        if (b->declared || strcmp(b->name, "closure") == 0 || strcmp(b->deriv, "refused") == 0)
            continue;
        for (size_t i = 0; i < b->overload_count; i++)
            for (int chosen = 0; chosen < 2; chosen++, calls++) {
                const enum reach r = reach_of(b, &b->overloads[i], chosen);
                found[chosen] = r > found[chosen] ? r : found[chosen];
            }
        for (int chosen = 0; chosen < 2; chosen++)
            if (found[chosen] != listed(b->name, chosen)) {
                print_error("%s, %s: found %d, builtins.def says %d (0 runs, 1 asks, 2 refused)\n",
                            b->name, chosen ? "names chosen while it runs" : "names in the text",
                            found[chosen], listed(b->name, chosen));
                wrong++;
            }
    }
    assert_int_equal(wrong, 0);
    assert_true(calls > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_builtin_reaches_the_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
