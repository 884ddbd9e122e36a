/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

static const struct json *parse(struct arena *a, const char *text)
{
    const struct json *root = NULL;
    struct error err = {0};
    enum status s = json_parse(a, "t.json", text, strlen(text), &root, &err);
    if (s != STATUS_OK)
        print_error("%u:%u %s\n", err.line, err.col, err.msg);
    assert_int_equal(s, STATUS_OK);
    return root;
}

/* ---- values --------------------------------------------------------------------------------- */

static void values(void **state)
{
    (void)state;
    struct arena a = {0};
    const struct json *v = parse(
        &a, "{\"n\":null,\"t\":true,\"f\":false,\"s\":\"x\",\"a\":[1,[2],{}],\"o\":{\"k\":-1.5}}");
    assert_int_equal(v->type, JSON_OBJECT);
    assert_int_equal(v->count, 6);
    assert_null(v->parent);
    assert_null(v->key);
    static const char *const order[] = {"n", "t", "f", "s", "a", "o"};
    const struct json *c = v->first;
    for (unsigned i = 0; i < 6; i++, c = c->next) {
        assert_string_equal(c->key, order[i]);
        assert_int_equal(c->index, i);
        assert_ptr_equal(c->parent, v);
        assert_ptr_equal(json_get(v, order[i]), c);
    }
    assert_null(c);
    assert_null(json_get(v, "missing"));
    assert_int_equal(json_get(v, "n")->type, JSON_NULL);
    assert_true(json_get(v, "t")->boolean);
    assert_false(json_get(v, "f")->boolean);
    assert_string_equal(json_get(v, "s")->string, "x");
    const struct json *arr = json_get(v, "a");
    assert_int_equal(arr->count, 3);
    assert_null(arr->first->key);
    assert_int_equal(arr->first->integer, 1);
    assert_int_equal(arr->first->next->first->integer, 2);
    assert_int_equal(arr->first->next->next->count, 0);
    assert_null(json_get(arr, "n")); /* no object */
    assert_true(json_get(json_get(v, "o"), "k")->number == -1.5);
    assert_string_equal(json_type_name(JSON_OBJECT), "an object");
    assert_int_equal(parse(&a, "7")->integer, 7); /* a number may end the text */
    assert_string_equal(parse(&a, " \"x\" ")->string, "x");
    assert_int_equal(parse(&a, "\xef\xbb\xbf[]")->type, JSON_ARRAY);
    arena_free(&a);
}

static void numbers(void **state)
{
    (void)state;
    struct arena a = {0};
    static const struct {
        const char *text;
        double number;
        bool is_integer;
        int64_t integer;
    } rows[] = {
        {"0", 0, true, 0},
        {"-0", -0.0, true, 0},
        {"9223372036854775807", 0x1p63, true, INT64_MAX},
        {"-9223372036854775808", -0x1p63, true, INT64_MIN},
        {"9223372036854775808", 0x1p63, false, 0},
        {"1.0", 1, false, 0},
        {"1e3", 1000, false, 0},
        {"1E+3", 1000, false, 0},
        {"0.1", 0.1, false, 0},
        {"2.2250738585072011e-308", 2.2250738585072011e-308, false, 0},
        {"4.9406564584124654e-324", 0x1p-1074, false, 0},
        {"1e-999", 0, false, 0},
        {"1.7976931348623157e308", 0x1.fffffffffffffp1023, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct json *v = parse(&a, rows[i].text);
        assert_int_equal(v->type, JSON_NUMBER);
        assert_memory_equal(&v->number, &rows[i].number, sizeof v->number);
        assert_int_equal(v->is_integer, rows[i].is_integer);
        assert_int_equal(v->integer, rows[i].integer);
    }
    char longest[2000]; /* a third in 1,990 digits */
    memset(longest, '3', sizeof longest);
    memcpy(longest, "0.", 2);
    longest[1992] = '\0';
    assert_true(parse(&a, longest)->number == 1.0 / 3.0);
    arena_free(&a);
}

static void strings(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_string_equal(parse(&a, "\"\"")->string, "");
    assert_string_equal(parse(&a, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")->string, "\"\\/\b\f\n\r\t");
    assert_string_equal(parse(&a, "\"\\u00e9\\u20AC\\ud83d\\uDE00\"")->string,
                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_string_equal(parse(&a, "\"\xc3\xa9\xf0\x9f\x98\x80\"")->string,
                        "\xc3\xa9\xf0\x9f\x98\x80");
    arena_free(&a);
}

/* ---- places --------------------------------------------------------------------------------- */

static void assert_at(const struct json *v, uint32_t line, uint32_t col)
{
    assert_int_equal(v->line, line);
    assert_int_equal(v->col, col);
}

static void places(void **state)
{
    (void)state;
    struct arena a = {0};
    /* Escapes and characters of several bytes before a value; a column is a character. */
    const struct json *v =
        parse(&a, "{\"\\u00e9\\n\":1, \"\xc3\xa9\": \"\xf0\x9f\x98\x80\\\"\", \"z\" :\ttrue}");
    assert_at(v, 1, 1);
    assert_at(v->first, 1, 13);
    assert_at(v->first->next, 1, 21);
    assert_at(v->first->next->next, 1, 34);
    /* All three line ends. */
    v = parse(&a, "[\r\n  1,\n  [2,\r 3 ,\"x\"],\r\n\r\nnull , 4e1\n]");
    assert_at(v, 1, 1);
    const struct json *c = v->first;
    assert_at(c, 2, 3);
    c = c->next;
    assert_at(c, 3, 3);
    assert_at(c->first, 3, 4);
    assert_at(c->first->next, 4, 2);
    assert_at(c->first->next->next, 4, 5);
    c = c->next;
    assert_at(c, 6, 1);
    assert_at(c->next, 6, 8);
    assert_at(parse(&a, "\n\n  12"), 3, 3);
    assert_at(parse(&a, "\xef\xbb\xbf 5"), 1, 2);
    /* Closing brackets move the cursor too. */
    v = parse(&a, "[[],{},[[]],5]");
    assert_at(v->first->next, 1, 5);
    assert_at(v->first->next->next, 1, 8);
    assert_at(v->first->next->next->next, 1, 13);
    arena_free(&a);
}

static void paths(void **state)
{
    (void)state;
    struct arena a = {0};
    char buf[256], small[8];
    const struct json *v = parse(&a, "{\"materials\":{\"red\":{\"texture\":[0,1,{\"file\":3}]}}}");
    json_path(v, buf, sizeof buf);
    assert_string_equal(buf, "");
    const struct json *t = json_get(json_get(json_get(v, "materials"), "red"), "texture");
    const struct json *file = json_get(t->first->next->next, "file");
    json_path(file, buf, sizeof buf);
    assert_string_equal(buf, "materials.red.texture[2].file");
    json_path(file, small, sizeof small);
    assert_string_equal(small, "materia");
    v = parse(&a, "[[5]]");
    json_path(v->first->first, buf, sizeof buf);
    assert_string_equal(buf, "[0][0]");

    struct error err = {0};
    assert_int_equal(json_error(&err, "s.json", file, STATUS_TYPE, "expected %s", "a string"),
                     STATUS_TYPE);
    error_format(&err, buf, sizeof buf);
    assert_string_equal(buf,
                        "s.json:1:45: error: expected a string (at materials.red.texture[2].file)");
    assert_int_equal(json_error(NULL, "s.json", file, STATUS_TYPE, "x"), STATUS_TYPE);
    arena_free(&a);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t line, col;
        const char *says;
    } rows[] = {
        {"", 1, 1, "premature EOF"},
        {" \n ", 2, 2, "premature EOF"},
        {"{", 1, 2, "premature EOF"},
        {"[1,\n2", 2, 2, "premature EOF"},
        {"\"abc", 1, 1, "premature EOF"},
        {"[1,]", 1, 4, "unallowed token"},
        {"{\"a\":1,}", 1, 8, "invalid object key"},
        {"{a:1}", 1, 2, "invalid"},
        {"{,", 1, 2, "invalid object key"},
        {"[ ,1]", 1, 3, "unallowed token"},
        {"[1,,2]", 1, 4, "unallowed token"},
        {"{\"a\"::1}", 1, 6, "unallowed token"},
        {"{\"a\": ,}", 1, 7, "unallowed token"},
        {" : ", 1, 2, "unallowed token"},
        {"[1:2]", 1, 3, "after array element"},
        {"{\"a\",1}", 1, 5, "object key and value must be separated"},
        {"[\v1]", 1, 2, "control character U+000B"},
        {"[1]\n\f", 2, 1, "control character U+000C"},
        {"[1 2]", 1, 4, "after array element"},
        {"[01]", 1, 3, "after array element"},
        {"[1.]", 1, 2, "malformed number"},
        {"[+1]", 1, 2, "invalid char"},
        {"[NaN]", 1, 2, "invalid char"},
        {"[nul]", 1, 2, "invalid string in json text"},
        {"{}{}", 1, 3, "trailing garbage"},
        {"{} x", 1, 4, "trailing garbage"},
        {"[1] // no", 1, 5, "trailing garbage"},
        {"{\"a\" 1}", 1, 6, "object key and value must be separated"},
        {"['a']", 1, 2, "invalid char"},
        {"[\n\t\"a\nb\"]", 2, 2, "invalid character inside string"},
        {"[\"\\x\"]", 1, 2, "'\\' occurs before a character"},
        {"[\"\\u12G4\"]", 1, 2, "invalid (non-hex) character"},
        {"[\"a\\u0000b\"]", 1, 4, "U+0000"},
        {"[\"\\ud800\"]", 1, 3, "surrogate"},
        {"[\"\xc3\xa9\\udc00\"]", 1, 4, "surrogate"},
        {"[\"\\ud800\\u0041\"]", 1, 3, "surrogate"},
        {"[\"a\xff\"]", 1, 4, "UTF-8"},
        {"[\"\xc0\x80\"]", 1, 3, "UTF-8"},         /* overlong NUL */
        {"[\"\xed\xa0\x80\"]", 1, 3, "UTF-8"},     /* surrogate */
        {"[\"\xf4\x90\x80\x80\"]", 1, 3, "UTF-8"}, /* above U+10FFFF */
        {"[\"\xe2\x82\"]", 1, 3, "UTF-8"},         /* cut short */
        {"{\"a\\ud800\":1}", 1, 4, "surrogate"},
        {"[1,\n 1e999]", 2, 2, "larger than a double"},
        {"[-1e999]", 1, 2, "larger than a double"},
        {"{\"a\":1,\n \"b\":2, \"a\":3}", 2, 9, "\"a\" stands twice"},
        {"{\"a\":1, \"\\u0061\":3}", 1, 9, "\"a\" stands twice"},
        {"{\"o\":{\"k\":[],\"k\":{}}}", 1, 14, "\"k\" stands twice"},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct json mark, *root = &mark;
        struct error err = {0};
        enum status s = json_parse(&a, "t.json", rows[i].text, strlen(rows[i].text), &root, &err);
        if (s != STATUS_PARSE || err.line != rows[i].line || err.col != rows[i].col ||
            !strstr(err.msg, rows[i].says))
            fail_msg("%s: %s %u:%u %s", rows[i].text, status_name(s), err.line, err.col, err.msg);
        assert_string_equal(err.file, "t.json");
        assert_ptr_equal(root, &mark);
        assert_int_equal(json_parse(&a, "t.json", rows[i].text, strlen(rows[i].text), &root, NULL),
                         STATUS_PARSE);
    }
    struct error err = {0};
    const struct json *root = NULL;
    assert_int_equal(json_parse(&a, "t", "[\0]", 3, &root, &err), STATUS_PARSE);
    assert_int_equal(err.col, 2);
    assert_int_equal(json_parse(&a, "t", "{\"o\":{\"k\":1,\"k\":2}}", 20, &root, &err),
                     STATUS_PARSE);
    assert_string_equal(err.path, "o");
    assert_int_equal(json_parse(&a, "t", "[", (size_t)2 << 30, &root, &err), STATUS_LIMIT);
    arena_free(&a);
}

static void depth(void **state)
{
    (void)state;
    struct arena a = {0};
    for (size_t levels = 256; levels <= 257; levels++) {
        char text[600];
        memset(text, '[', levels);
        memset(text + levels, ']', levels);
        text[2 * levels] = '\0';
        struct error err = {0};
        const struct json *root = NULL;
        enum status s = json_parse(&a, "deep", text, strlen(text), &root, &err);
        assert_int_equal(s, levels == 256 ? STATUS_OK : STATUS_LIMIT);
        if (s == STATUS_OK) {
            while (root->first)
                root = root->first;
            char path[2048];
            json_path(root, path, sizeof path);
            assert_int_equal(strlen(path), 3 * 255);
        } else {
            assert_int_equal(err.col, 257);
        }
    }
    arena_free(&a);
}

/* A hundred thousand members and duplicates among them: time must stay near linear. */
static void many_members(void **state)
{
    (void)state;
    struct text t = {0};
    struct arena a = {0};
    const struct json *root = NULL;
    struct error err = {0};
    text_puts(&t, "{");
    for (int i = 0; i < 100000; i++)
        text_printf(&t, "\"key%d\":{\"key%d\":0},", i, i);
    size_t cut = t.len;
    text_puts(&t, "\"last\":0}");
    double start = clock_s();
    assert_int_equal(json_parse(&a, "m", t.data, t.len, &root, &err), STATUS_OK);
    assert_int_equal(root->count, 100001);
    t.len = cut;
    text_puts(&t, "\"key77\":0}");
    assert_int_equal(json_parse(&a, "m", t.data, t.len, &root, &err), STATUS_PARSE);
    assert_int_equal(err.col, cut + 1);
    assert_true(clock_s() - start < 10); /* quadratic: minutes */
    struct arena small = {.limit = 1 << 20};
    assert_int_equal(json_parse(&small, "m", t.data, t.len, &root, &err), STATUS_MEMORY);
    arena_free(&small);
    arena_free(&a);
    text_free(&t);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_document(struct json_writer *w)
{
    json_begin_object(w);
    json_key_string(w, "name", "a\"b\\c\n\t\r\x01\xc3\xa9\xff/");
    json_key(w, "list");
    json_begin_array(w);
    json_integer(w, 1);
    json_number(w, 0.5);
    json_null(w);
    json_string(w, NULL);
    json_end_array(w);
    json_key(w, "rows");
    json_begin_array(w);
    json_begin_object(w);
    json_end_object(w);
    json_begin_object(w);
    json_key_bool(w, "yes", true);
    json_key_integer(w, "min", INT64_MIN);
    json_end_object(w);
    json_integer(w, 3);
    json_end_array(w);
    json_key_number(w, "nan", NAN);
    json_key_number(w, "inf", -INFINITY);
    json_key(w, "empty");
    json_begin_array(w);
    json_end_array(w);
    json_end_object(w);
}

static void writes(void **state)
{
    (void)state;
    struct json_writer w = {0};
    write_document(&w);
    assert_string_equal(w.out.data,
                        "{\"name\":\"a\\\"b\\\\c\\n\\t\\r\\u0001\xc3\xa9\xef\xbf\xbd/\","
                        "\"list\":[1,0.5,null,null],\"rows\":[{},{\"yes\":true,\"min\":"
                        "-9223372036854775808},3],\"nan\":null,\"inf\":null,\"empty\":[]}");
    text_free(&w.out);
    struct json_writer p = {.pretty = true};
    write_document(&p);
    assert_string_equal(p.out.data,
                        "{\n  \"name\": \"a\\\"b\\\\c\\n\\t\\r\\u0001\xc3\xa9\xef\xbf\xbd/\",\n"
                        "  \"list\": [1, 0.5, null, null],\n  \"rows\": [\n    {},\n    {\n"
                        "      \"yes\": true,\n      \"min\": -9223372036854775808\n    },\n"
                        "    3\n  ],\n  \"nan\": null,\n  \"inf\": null,\n  \"empty\": []\n}");
    struct arena a = {0};
    assert_int_equal(parse(&a, p.out.data)->count, 6);
    arena_free(&a);
    text_free(&p.out);
}

/* Random bit patterns, and doubles near powers of ten, where short forms are tight. */
static void numbers_round_trip(void **state)
{
    (void)state;
    struct arena a = {0};
    for (uint32_t i = 0; i < 30000; i++) {
        uint32_t r[4];
        philox4x32((uint32_t[4]){i, 0, 0, 0}, (uint32_t[2]){2026, 11}, r);
        uint64_t bits = (uint64_t)r[0] << 32 | r[1];
        double v;
        memcpy(&v, &bits, sizeof v);
        if (i % 3 == 1)
            v = nextafter(pow(10, (int)(r[2] % 600) - 300), i % 2 ? INFINITY : 0);
        else if (i % 3 == 2)
            v = (double)(int32_t)r[2] / 1000;
        if (!isfinite(v))
            continue;
        struct json_writer w = {0};
        json_number(&w, v);
        const struct json *back = parse(&a, w.out.data);
        assert_memory_equal(&back->number, &v, sizeof v);
        text_free(&w.out);
        if (i % 1000 == 0)
            arena_free(&a);
    }
    static const struct {
        double v;
        const char *text;
    } rows[] = {{0.1, "0.1"},
                {-0.0, "-0"},
                {100000, "100000"},
                {1e300, "1e+300"},
                {1.0 / 3, "0.3333333333333333"},
                {5e-324, "4.94065645841247e-324"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct json_writer w = {0};
        json_number(&w, rows[i].v);
        assert_string_equal(w.out.data, rows[i].text);
        text_free(&w.out);
    }
    arena_free(&a);
}

static void pairs_and_copies(void **state)
{
    (void)state;
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_pair(&w, "size", 7, 2.5);
    json_end_object(&w);
    assert_string_equal(w.out.data, "{\"size\":[7,2.5]}");
    text_free(&w.out);

    /* 2^53 + 1 is no double; -0 is no integer */
    const char text[] =
        "{\"a\":[1,-0,9007199254740993,{\"b\":null}],\"c\":true,\"d\":\"x\\ny\",\"e\":{},\"f\":[]}";
    struct arena a = {0};
    const struct json *root;
    assert_int_equal(json_parse(&a, "text", text, sizeof text - 1, &root, NULL), STATUS_OK);
    w = (struct json_writer){0};
    json_copy(&w, root);
    assert_string_equal(w.out.data, text);
    text_free(&w.out);
    arena_free(&a);
}

static void too_deep_to_write(void **state)
{
    (void)state;
    struct json_writer w = {0};
    for (int i = 0; i < 65; i++)
        json_begin_array(&w);
    json_integer(&w, 1);
    for (int i = 0; i < 65; i++)
        json_end_array(&w);
    assert_true(w.out.failed);
    text_free(&w.out);
}

/* German numbers have a comma. */
static void any_locale(void **state)
{
    (void)state;
    char folder[] = "/tmp/isophote-locale-XXXXXX", command[256];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             folder, folder);
    bool made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    const char *got = made ? setlocale(LC_ALL, "de_DE.UTF-8") : NULL;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    if (!made)
        skip(); /* Debian's package `locales` is not here */
    assert_non_null(got);
    char buf[32];
    snprintf(buf, sizeof buf, "%.1f", 1.5);
    assert_string_equal(buf, "1,5");
    struct arena a = {0};
    assert_true(parse(&a, "1.5")->number == 1.5);
    struct json_writer w = {0};
    json_number(&w, 1.5);
    assert_string_equal(w.out.data, "1.5");
    text_free(&w.out);
    snprintf(buf, sizeof buf, "%.1f", 1.5);
    assert_string_equal(buf, "1,5"); /* the caller's locale is as it was */
    setlocale(LC_ALL, "C");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(numbers),
        cmocka_unit_test(strings),
        cmocka_unit_test(places),
        cmocka_unit_test(paths),
        cmocka_unit_test(refusals),
        cmocka_unit_test(depth),
        cmocka_unit_test(many_members),
        cmocka_unit_test(writes),
        cmocka_unit_test(numbers_round_trip),
        cmocka_unit_test(pairs_and_copies),
        cmocka_unit_test(too_deep_to_write),
        cmocka_unit_test(any_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
