/* SPDX-License-Identifier: Apache-2.0 */
/* witness_test.c: the witness of every step, for every program of shaders/tests/ and
 * shaders/library/, passes its check; a changed one does not. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "shaders.h"

static bool make(struct arena *a, const char *path, const char *source, struct text *out)
{
    struct error err = {0};
    struct asl_diags diags = {0};
    const struct asl_program *p = NULL;
    struct asl_code *code = NULL;
    const struct asl_lower_options opt = {.level = 2, .bake = true, .witness = out};
    if (asl_compile(a, path, source, source ? strlen(source) : 0, NULL, &diags, &p, &err) !=
            STATUS_OK ||
        asl_program_shaders(p) == 0)
        return false;
    assert_int_equal(asl_object_lower(a, p, &opt, &code, &err), STATUS_OK);
    return true;
}

static unsigned check_folder(const char *folder, unsigned *bad)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    unsigned count = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        size_t n = strlen(e->d_name), steps = 0, facts = 0;
        char path[4096];
        struct arena a = {0};
        struct text t = {0};
        struct error err = {0};
        if (n < 5 || strcmp(e->d_name + n - 4, ".asl") != 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (make(&a, path, NULL, &t)) {
            enum status s = asl_witness_check("witness", t.data, t.len, &steps, &facts, &err);
            if (s != STATUS_OK || steps < 3 || facts < 2) {
                print_error("%s: line %u: %s (%zu steps, %zu facts)\n", path, err.line, err.msg,
                            steps, facts);
                (*bad)++;
            }
            count++;
        }
        text_free(&t);
        arena_free(&a);
    }
    (void)closedir(dir);
    return count;
}

static void witnesses_hold(void **state)
{
    (void)state;
    unsigned bad = 0;
    assert_true(check_folder(SOURCE_DIR "/shaders/library", &bad) >= 40);
    assert_true(check_folder(SOURCE_DIR "/shaders/tests", &bad) >= 20);
    assert_int_equal(bad, 0);
}

static const char program[] =
    "shader t(float k = 2, int n = 3, output float f = 0, output color c = 0) {\n"
    "  float a[3] = {1, k, 3}; f = u * 1 + sin(k) / 4; int i = (int)(u * 4) * 8;\n"
    "  if (n > 2) f += a[i] * a[1]; else f = noise(\"cell\", P);\n"
    "  f += u * v + sqrt(u * v) + sqrt(v * u + u * v); c = Dx(P) * f + (f > 0 ? 1 : k - 2);\n"
    "  c += (k > 1 ? u : v) * (u * 1); printf(\"%g\\n\", f); }\n";

/* The text with the first line that begins so, after `after`, changed by `change`. */
static char *altered(struct arena *a, const char *text, const char *rule, const char *from,
                     const char *to)
{
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1) {
        char line[400];
        size_t n = strcspn(p, "\n");
        if (n >= sizeof line)
            continue;
        memcpy(line, p, n);
        line[n] = 0;
        const char *at = strstr(line, rule) ? strstr(line, from) : NULL;
        if (!at)
            continue;
        size_t before = (size_t)(p - text) + (size_t)(at - line);
        return arena_printf(a, "%.*s%s%s", (int)before, text, to, text + before + strlen(from));
    }
    return NULL;
}

static void changed_witnesses_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *from, *to, *message;
    } bad[] = {
        {"isophote-witness", "1", "2", "isophote-witness 1"},
        {"step lower", "lower", "upper", "step lower"},
        {"step forward", "forward", "sideways", "forward, dead or outward"},
        {" binary *", "binary", "trinary", "no such rule"},
        {" fold", "fold", "fould", "no such rule"},
        {" fold", "fold", "identity", NULL}, /* the same replay: holds */
        {" foldcall", "foldcall", "fold", "does not hold"},
        {" common", "common", "forward", "was no load"},
        {"put v", " forward", " common", "not the same work"},
        {" identity", "identity", "inside", "was no index"},
        {" unused", "gone", "done", "expected def, put, gone or move"},
        {"def v1 ", "def v1 ", "def v100000 ", "nothing says what v1 stands for"},
        {"gone v", "gone v", "gone v9", "vanished without a word"},
    };
    struct arena a = {0};
    struct text t = {0};
    struct error err = {0};
    assert_true(make(&a, "t.asl", program, &t));
    const char *whole = t.data ? t.data : "";
    enum status s = asl_witness_check("witness", whole, t.len, NULL, NULL, &err);
    if (s != STATUS_OK)
        print_error("%u: %s\n%s", err.line, err.msg, whole);
    assert_int_equal(s, STATUS_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = altered(&a, whole, bad[i].rule, bad[i].from, bad[i].to);
        if (!text) {
            print_error("no line with '%s'\n", bad[i].rule);
            fail();
            return;
        }
        err = (struct error){0};
        s = asl_witness_check("witness", text, strlen(text), NULL, NULL, &err);
        if (bad[i].message ? s != STATUS_TYPE : s != STATUS_OK)
            print_error("'%s' for '%s' in '%s': %s: %s\n", bad[i].to, bad[i].from, bad[i].rule,
                        status_name(s), err.msg);
        assert_int_equal(s, bad[i].message ? STATUS_TYPE : STATUS_OK);
        if (bad[i].message && !strstr(err.msg, bad[i].message))
            print_error("'%s' for '%s': %s\n", bad[i].to, bad[i].from, err.msg);
        if (bad[i].message)
            assert_non_null(strstr(err.msg, bad[i].message));
    }
    text_free(&t);
    arena_free(&a);
}

/* Another operand of any operation of the last step's result, calls included, is refused. */
static const char calling[] =
    "shader t(output float f = 0, output color c = 0) {\n"
    "  f = sin(u * 3) + noise(P * 2) * cos(v); c = color(noise(u, v), f * u, pow(u, v) - f); }\n";

static void every_operand_counts(void **state)
{
    (void)state;
    struct arena a = {0};
    struct text t = {0};
    unsigned tried = 0, calls = 0, taken = 0;
    assert_true(make(&a, "t.asl", calling, &t));
    const char *whole = t.data ? t.data : "", *p = whole;
    for (const char *step = whole; (step = strstr(step, "\nstep ")) != NULL; step++)
        p = step + 1;
    for (; *p; p += strcspn(p, "\n") + 1) {
        const char *end = p + strcspn(p, "\n"), *equals = strstr(p, " = "), *last = NULL;
        if (!equals || equals > end)
            continue;
        for (const char *v = equals; v + 2 < end && *v != '@'; v++)
            if (v[0] == ' ' && v[1] == 'v' && v[2] >= '0' && v[2] <= '9')
                last = v + 2;
        if (!last)
            continue;
        char *rest;
        const unsigned long was = strtoul(last, &rest, 10);
        const char *other =
            arena_printf(&a, "%.*s%lu%s", (int)(last - whole), whole, was ? was - 1 : 1, rest);
        if (asl_witness_check("witness", other, strlen(other), NULL, NULL, NULL) == STATUS_OK) {
            print_error("accepted: %.*s\n", (int)(end - p), p);
            taken++;
        }
        tried++;
        calls += strncmp(equals, " = call ", 8) == 0;
    }
    assert_int_equal(taken, 0);
    if (tried < 12 || calls < 4)
        fail_msg("%u operations tried, %u calls", tried, calls);
    text_free(&t);
    arena_free(&a);
}

static const char looping[] =
    "shader t(int m = 3, string s = \"cell\", output float f = 0) {\n"
    "  float a = v, b[3] = {u, v, 1}; int k = (int)(u * 2); string n = u > 0.5 ? s : \"perlin\";\n"
    "  for (int i = 0; i < m; i++) {\n"
    "    f += sin(u) * i + sqrt(a) + b[k] + (float)noise(n, P); a += tan(v) * i; } }\n";

/* The text with the first line that has the word, in the last step outward, right in front of the
 * line that has `place`; and with the fact that its value moved. */
static char *carried(struct arena *a, const char *text, const char *word, const char *place,
                     bool told)
{
    const char *step = NULL;
    for (const char *s = text; (s = strstr(s, "step outward\nlayer 0\n")) != NULL; s++)
        step = s + strlen("step outward\nlayer 0\n");
    const char *to = step ? strstr(step, place) : NULL,
               *loop = step ? strstr(step, "loop 0") : NULL,
               *line = loop ? strstr(loop, word) : NULL;
    if (!to || !line)
        return NULL;
    while (to[-1] != '\n')
        to--;
    while (line[-1] != '\n')
        line--;
    const char *end = line + strcspn(line, "\n") + 1, *name = line + strspn(line, " ");
    const int digits = (int)strcspn(name, ":");
    return arena_printf(a, "%.*s%s%.*s%s%.*s%.*s%.*s%s", (int)(step - text), text,
                        told ? "move " : "", told ? digits : 0, name, told ? " outward\n" : "",
                        (int)(to - step), step, (int)(end - line), line, (int)(line - to), to, end);
}

/* What a step moves must have stood in a loop, do nothing else, and read nothing that it writes. */
static void unfit_moves_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *word, *place;
        bool told;
        const char *message;
    } bad[] = {
        {" = load 16[0]", "loop 0", true, "writes what it reads"}, /* a */
        {" = load 16[0]", "loop 0", false, "changed"},
        {" = index", "loop 0", true, "index may not"},
        {" = call noise", "loop 0", true, "does more than give a value"},
        {" = load 16[0]", "store 15[0]", true, "not to the front of a loop"},
    };
    struct arena a = {0};
    struct text t = {0};
    struct error err = {0};
    assert_true(make(&a, "t.asl", looping, &t));
    const char *whole = t.data ? t.data : "";
    if (asl_witness_check("witness", whole, t.len, NULL, NULL, &err))
        fail_msg("%u: %s\n%s", err.line, err.msg, whole);
    unsigned moves = 0;
    for (const char *p = whole; (p = strstr(p, "\nmove v")) != NULL; p++, moves++) {
        const char *next = p + 1 + strcspn(p + 1, "\n"); /* each has to be told */
        char *text = arena_printf(&a, "%.*s%s", (int)(p - whole), whole, next);
        assert_int_equal(asl_witness_check("witness", text, strlen(text), NULL, NULL, &err),
                         STATUS_TYPE);
    }
    assert_true(moves >= 4);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *text = carried(&a, whole, bad[i].word, bad[i].place, bad[i].told);
        if (!text) {
            fail_msg("no line with '%s'\n%s", bad[i].word, whole);
            return;
        }
        err = (struct error){0};
        const enum status s = asl_witness_check("witness", text, strlen(text), NULL, NULL, &err);
        if (s != STATUS_TYPE || !strstr(err.msg, bad[i].message))
            fail_msg("'%s': %s: %s\n%s", bad[i].word, status_name(s), err.msg, text);
    }
    text_free(&t);
    arena_free(&a);
}

/* One line less, or one result changed: each such text is refused. */
static void every_line_counts(void **state)
{
    (void)state;
    struct arena a = {0};
    struct text t = {0};
    struct error err = {0};
    unsigned tried = 0, changed = 0;
    assert_true(make(&a, "t.asl", program, &t));
    const char *whole = t.data ? t.data : "";
    for (const char *p = whole; *p; p += strcspn(p, "\n") + 1) {
        bool fact =
            strncmp(p, "def ", 4) == 0 || strncmp(p, "put ", 4) == 0 || strncmp(p, "gone ", 5) == 0;
        size_t n = strcspn(p, "\n") + 1;
        if (!fact)
            continue;
        char *text = arena_printf(&a, "%.*s%s", (int)(p - whole), whole, p + n);
        enum status s = asl_witness_check("w", text, strlen(text), NULL, NULL, &err);
        if (s == STATUS_OK) /* a new value that went in the same step leaves no trace */
            print_message("not missed: %.*s", (int)n, p);
        tried++;
        changed += s == STATUS_TYPE;
    }
    assert_true(tried > 100);
    assert_true(changed >= tried - tried / 50);
    text_free(&t);
    arena_free(&a);
}

/* The rules that a witness may name: the manual's table has just these. */
static void manual_carries_the_rules(void **state)
{
    (void)state;
    static const struct {
        const char *name, *fact, *check, *meaning;
    } rules[] = {
#define RULE(name, fact, check, meaning) {name, #fact, #check, meaning},
#include "prove/witness.def"
#undef RULE
    };
    struct arena a = {0};
    struct error err = {0};
    struct text table = {0};
    char *manual;
    size_t size;
    assert_int_equal(file_read(&a, SOURCE_DIR "/docs/reference/asl_ir.md", 0, &manual, &size, &err),
                     STATUS_OK);
    text_puts(&table, "<!-- rules -->\n| rule | fact | replayed by | what happened |\n"
                      "|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char row[256];
        (void)snprintf(row, sizeof row, "%s | %s", rules[i].fact,
                       strcmp(rules[i].check, "NONE") == 0 ? "FORM" : rules[i].check);
        for (char *p = row; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        text_printf(&table, "| `%s` | %s | %s |\n", rules[i].name, row, rules[i].meaning);
    }
    text_puts(&table, "<!-- rules: end -->");
    if (!strstr(manual, table.data))
        print_error("docs/reference/asl_ir.md: its table of rules should be\n%s\n", table.data);
    assert_non_null(strstr(manual, table.data));
    text_free(&table);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(witnesses_hold),
                                       cmocka_unit_test(manual_carries_the_rules),
                                       cmocka_unit_test(changed_witnesses_are_refused),
                                       cmocka_unit_test(unfit_moves_are_refused),
                                       cmocka_unit_test(every_operand_counts),
                                       cmocka_unit_test(every_line_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
