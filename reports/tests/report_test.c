/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "markup_check.h"
#include "report/markup.h"
#include "sample_store.h"

static char folder[64];

static const char *in_folder(struct arena *a, const char *name)
{
    return arena_printf(a, "%s/%s", folder, name);
}

/* The folder's store, new. */
static struct store *empty_store(struct arena *a)
{
    struct error err = {0};
    struct store *s = NULL;
    (void)unlink(in_folder(a, "a.sqlite"));
    assert_int_equal(store_open(in_folder(a, "a.sqlite"), false, &s, &err), STATUS_OK);
    return s;
}

static int folder_make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/isophote-report-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
    (void)state;
    static const char *const names[] = {"a.sqlite", "b.sqlite", "p.html", "r.html",
                                        "r.md",     "r.csv",    "r.xml",  "t.html"};
    struct arena a = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlink(in_folder(&a, names[i]));
    arena_free(&a);
    return rmdir(folder);
}

static struct store *sample(struct arena *a, const char *name, double factor, unsigned broken)
{
    struct error err = {0};
    struct store *s = NULL;
    const char *path = in_folder(a, name);
    (void)unlink(path);
    assert_int_equal(store_open(path, false, &s, &err), STATUS_OK);
    assert_int_equal(sample_store_fill(s, factor, broken, &err), STATUS_OK);
    return s;
}

static char *written(struct arena *a, struct store *s, int format, const char *name)
{
    struct error err = {0};
    const char *path = in_folder(a, name);
    char *data;
    size_t size;
    if (format < 0)
        assert_int_equal(store_junit(s, 0, path, &err), STATUS_OK);
    else
        assert_int_equal(report_write(&s, 1, (enum report_format)format, true, path, &err),
                         STATUS_OK);
    assert_int_equal(file_read(a, path, 0, &data, &size, &err), STATUS_OK);
    assert_int_equal(strlen(data), size);
    return data;
}

/* What the report of the sample store says, in one of the formats. */
static char *sample_written(struct arena *a, int format, const char *name)
{
    struct store *s = sample(a, "a.sqlite", 1, 2);
    char *data = written(a, s, format, name);
    store_close(s);
    return data;
}

/* ---- HTML ----------------------------------------------------------------------------------- */

static void html_is_one_sound_file(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *html = sample_written(&a, REPORT_HTML, "r.html");
    struct markup_facts f;
    markup_check(html, &f);
    assert_string_equal(f.problem, "");
    assert_string_equal(f.outside, "");
    assert_int_equal(f.scripts, 1);
    assert_int_equal(f.links, 9 + 8 + 48 + 4 + 3); /* sections, pictures, cases, findings, runs */
    assert_int_equal(text_count(html, "://"), 0);
    assert_int_equal(text_count(html, sample_hostile), 0);
    assert_true(
        text_count(html, "&lt;script&gt;alert(&quot;x&quot; &amp; &#39;y&#39;)&lt;/script&gt;") >
        0);
    arena_free(&a);
}

/* Cells without their links. */
static const char *plain(struct arena *a, const char *html)
{
    char *out = arena_strdup(a, html), *to = out;
    for (const char *at = html; *at;) {
        if (strncmp(at, "<td", 3) != 0) {
            *to++ = *at++;
            continue;
        }
        const char *end = strchr(at, '>'), *id = strstr(at, " id=\"");
        const char *behind = id && id < end ? strchr(id + 5, '"') + 1 : at;
        for (; behind > at && at < id;)
            *to++ = *at++;
        for (at = behind; at <= end;)
            *to++ = *at++;
    }
    *to = '\0';
    return out;
}

static void html_shows_what_matters(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *html = plain(&a, sample_written(&a, REPORT_HTML, "r.html"));
    static const char *const wanted[] = {
        "<b>48 of 48 cases of core judged on 4 of 4 devices; not the whole list</b>",
        /* native, and others */
        "<b>1 device is conformant; 1 fails what waivers forgive; 1 fails; 1 could not be judged",
        "isophote replay image.strict.cornell --device opencl:0", /* how to see a failure */
        "the worker was killed by signal 11",                     /* an error is not hidden */
        /* a skip has its reason, once for all devices, and cases which of these skipped them */
        "the device lacks correctly rounded division",
        "<td>Intel(R) Xeon-class CPU, 2026.20.1.0, &lt;script&gt;",
        "<div class=\"note\">noisy &lt;i&gt; | &quot;so&quot; &amp; more</div></td>",
        "id=\"case:image.strict.cornell\"", "href=\"#case:image.strict.cornell\"", /* links */
        "<article class=\"finding\" id=\"finding:image.strict.cornell@2\">",
        "</td><td class=\"r\"><details><summary>", ": &lt;script&gt;alert(",
        "CL_INVALID_WORK_GROUP_SIZE", /* nor is a refused size */
        "455 of 460 timed settings gave the right picture; 128 settings were refused",
        "kernel compile",                                              /* phases */
        "isophote bench scenes/library/cornell.json --device",         /* the command of a number */
        "AMD EPYC 9B14",                                               /* environment and devices */
        "no rate: <span class=\"clip\" title=\"relmse 0.2 above 0.01", /* no verdict, no timing */
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(html, wanted[i]))
            fail_msg("%s is not in the report", wanted[i]);
    /* failures come before the devices and the matrix */
    assert_true(strstr(html, "id=\"findings\"") < strstr(html, "id=\"devices\""));
    /* units by the names of what was measured, and reasons in place of what was not */
    static const char *const measured[] = {
        "<h5>memory</h5>", "<td>1.50 GiB</td>", "<td>250 ms</td>", "<td>12.5 J</td>",
        "<td><span class=\"note\">absent: no counter</span></td>"};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        assert_non_null(strstr(html, measured[i]));
    /* rows of sweeps are in no table of rates, each other row in one; phases before the render
     * alone stand without it */
    assert_int_equal(text_count(html, "<h5>judgement</h5>"), 12);
    /* one best cell in each of the six maps */
    assert_int_equal(text_count(html, "\">&#9733;100</td>"), 6);
    /* eight pictures carry their bytes */
    assert_int_equal(text_count(html, "data:image/png;base64,iVBORw0KGgo"), 8);
    arena_free(&a);
}

/* ---- white furnaces ------------------------------------------------------------------------- */

static struct store *furnace_store(struct arena *a, const char *const *details, size_t count)
{
    struct error err = {0};
    struct store *s = NULL;
    (void)unlink(in_folder(a, "a.sqlite"));
    assert_int_equal(store_open(in_folder(a, "a.sqlite"), false, &s, &err), STATUS_OK);
    struct run_record run = {.kind = "conform", .started_utc = "2026-11-21T00:00:00Z"};
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        const char *id = arena_printf(a, "d%zu", i);
        struct device_record d = {.id = id, .api = "native", .name = "x", .kind = "cpu"};
        struct case_record c = {.name = "kernel.bsdf-furnace.white",
                                .device = id,
                                .verdict = VERDICT_PASS,
                                .detail = details[i]};
        assert_int_equal(store_add_device(s, run.id, &d, &err), STATUS_OK);
        assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
    }
    return s;
}

/* Two angles, three roughnesses: the chart is LEFT 52 to 1100, in panels 506 wide with gaps of 18,
 * from y = 26 (all is lost) to 228 (the largest gain, to the next quarter). */
static void html_plots_the_furnace(void **state)
{
    (void)state;
    static const char *const details[] = {
        "{\"furnace\":{\"roughness\":[0,0.5,1],\"degrees\":[0,60],\"materials\":["
        "{\"name\":\"<b>one\",\"returned\":[[1,0.75,0],[1.2,1,0.5]],"
        "\"reference\":[[1,0.75,0],[1.2,1,0.5]]},"
        "{\"name\":\"two\",\"returned\":[[0.5,0.5,0.5]]}]}}",
        "{\"furnace\":{\"roughness\":[0,1],\"degrees\":[0],\"materials\":["
        "{\"name\":\"one\",\"returned\":[[1,0.25]],\"reference\":[[1,0.25]]}]}}",
        "{\"furnace\":{\"roughness\":7,\"degrees\":[0],\"materials\":[]}}", /* not one */
        "{\"furnace\":{\"roughness\":[0],\"degrees\":[\"x\"],\"materials\":[3,{\"returned\":[4]}]}"
        "}",
    };
    static const char *const wanted[] = {
        "<a href=\"#furnace\">White furnace</a>",
        /* least -0.25: loss 0 at 228 - 0.2 * 202, 0.25 at 228 - 0.4 * 202, 1 at 26 */
        "<polyline class=\"l0\" points=\"52.0,187.6 305.0,147.2 558.0,26.0 \"/>",
        "<polyline class=\"l0\" points=\"576.0,219.9 829.0,187.6 1082.0,106.8 \"/>",
        "roughness 0.5: loses 25.00 %",
        "roughness 0: loses -20.00 %",
        "&lt;b&gt;one",
        "<td class=\"r\">0.750</td>",
        "<details><summary>x, d1 ", /* the second device, closed; without gains 0 is the floor */
        "<polyline class=\"l0\" points=\"52.0,228.0 1082.0,76.5 \"/>",
    };
    struct arena a = {0};
    struct store *s = furnace_store(&a, details, sizeof details / sizeof *details);
    const char *html = plain(&a, written(&a, s, REPORT_HTML, "r.html"));
    store_close(s);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(html, wanted[i]))
            fail_msg("%s is not in the report", wanted[i]);
    struct markup_facts f;
    markup_check(html, &f);
    assert_string_equal(f.problem, "");
    assert_int_equal(text_count(html, "<b>one"), 0);
    arena_free(&a);
}

/* Two panels 484 wide, with a gap of 40, five decades each, from y = 244 (no case) to 30 (all). */
static void html_plots_power(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"image.device.a", "{\"notices\":{\"level\":1e-5,\"radiance\":1e-2,\"pixels\":0.1}}"},
        {"image.device.b", "{\"notices\":{\"level\":5e-6,\"radiance\":1e-4}}"},
        {"image.fast.a", "{\"notices\":{\"level\":1e-5,\"radiance\":1e-3,\"pixels\":1}}"},
        {"image.fast.b", "{\"notices\":3}"}, /* not one */
        {"image", "{\"notices\":{\"level\":1e-5}}"},
    };
    static const char *const wanted[] = {
        "<a href=\"#power\">Power</a>",
        "<polyline class=\"l0\" points=\"52.0,244.0 148.8,244.0 148.8,137.0 342.4,137.0 342.4,30.0 "
        "536.0,30.0\"/>",
        "<polyline class=\"l0\" points=\"576.0,244.0 963.2,244.0 963.2,137.0 1060.0,137.0\"/>",
        "<polyline class=\"l1\" points=\"52.0,244.0 245.6,244.0 245.6,30.0 536.0,30.0\"/>",
        "<td>device</td><td class=\"r\">2</td><td class=\"r\">1e-05</td><td class=\"r\">0.01 "
        "%</td><td class=\"r\">1 %</td><td class=\"r\">10 %</td><td class=\"r\">none</td>",
        "<td>fast</td><td class=\"r\">1</td>",
    };
    struct arena a = {0};
    struct error err = {0};
    struct store *s = furnace_store(&a, NULL, 0);
    struct run_record run = {.kind = "conform", .started_utc = "2026-11-21T00:00:01Z"};
    struct device_record d = {.id = "d", .api = "native", .name = "x", .kind = "cpu"};
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    assert_int_equal(store_add_device(s, run.id, &d, &err), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct case_record c = {
            .name = cases[i][0], .device = "d", .verdict = VERDICT_PASS, .detail = cases[i][1]};
        assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
    }
    const char *html = plain(&a, written(&a, s, REPORT_HTML, "r.html"));
    store_close(s);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(html, wanted[i]))
            fail_msg("%s is not in the report: %s", wanted[i],
                     strstr(strstr(html, "id=\"power\""), "<tbody>"));
    struct markup_facts f;
    markup_check(html, &f);
    assert_string_equal(f.problem, "");
    arena_free(&a);
}

/* Tables of tools/experiments: published rows are marked, columns that nothing fills are left out,
 * and what is no table is refused with its place. */
static void html_shows_tables(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct store *s = empty_store(&a);
    const char *file = in_folder(&a, "t.json"), *to = in_folder(&a, "t.html");
    const struct report_extras extras = {.tables = &file, .table_count = 1};
    static const char good[] =
        "{\"title\": \"Figure <1>\", \"of\": \"A. Author\", \"headers\": [\"shader\", \"left\", "
        "\"reason\"], \"rows\": [{\"shader\": \"a.asl\", \"left\": 12}, {\"shader\": \"published: "
        "b\", \"left\": 0.5, \"reason\": \"\"}], \"differs\": \"All & more.\", "
        "\"plot\": {\"x\": \"bits\", \"y\": \"an <error>\", \"series\": [{\"name\": \"ours & "
        "all\", "
        "\"points\": [[1, 1], [10, 100], [100, 10000]]}, {\"name\": \"published: x\", \"points\": "
        "[[1, 100]]}, {\"name\": \"none\", \"points\": []}]}}";
    assert_int_equal(file_write(file, good, sizeof good - 1, &err), STATUS_OK);
    assert_int_equal(report_write_with(&s, 1, REPORT_HTML, false, &extras, to, &err), STATUS_OK);
    char *data;
    size_t size;
    assert_int_equal(file_read(&a, to, 0, &data, &size, &err), STATUS_OK);
    const char *html = plain(&a, data);
    static const char *const wanted[] = {
        "<h3>Figure &lt;1&gt;</h3>", "After A. Author. What differs: All &amp; more.",
        "<tr><th>shader</th><th>left</th></tr>", "<tr><td>a.asl</td><td class=\"r\">12</td></tr>",
        "<tr class=\"published\"><td>published: b</td><td class=\"r\">0.5</td></tr>",
        /* axes of 74 to 992 and 300 to 14, of two and four powers of ten */
        "<polyline class=\"l0\" points=\"74.0,300.0 533.0,157.0 992.0,14.0\"/>",
        "<polyline class=\"l1\" stroke-dasharray=\"5 4\" points=\"74.0,157.0\"/>",
        "an &lt;error&gt; over bits", "ours &amp; all</li>", ">1e+04</text>", ">10</text>"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(html, wanted[i]))
            fail_msg("%s is not in the report", wanted[i]);
    struct markup_facts f;
    markup_check(html, &f);
    assert_string_equal(f.problem, "");
    static const char *const bad[] = {
        "[]",
        "{\"title\": 3}",
        "{",
        "",
        "{\"title\": \"\", \"of\": \"\", \"differs\": \"\", \"headers\": [1], \"rows\": []}",
        "{\"title\": \"\", \"of\": \"\", \"differs\": \"\", \"headers\": [], \"rows\": [1]}",
        "{\"title\": \"\", \"of\": \"\", \"differs\": \"\", \"headers\": [], \"rows\": [], "
        "\"plot\": 1}",
        "{\"title\": \"\", \"of\": \"\", \"differs\": \"\", \"headers\": [], \"rows\": [], "
        "\"plot\": "
        "{\"x\": \"\", \"y\": \"\", \"series\": [{\"name\": \"\", \"points\": [[1, 0]]}]}}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(file_write(file, bad[i], strlen(bad[i]), &err), STATUS_OK);
        const enum status st = report_write_with(&s, 1, REPORT_HTML, false, &extras, to, &err);
        assert_true(st == STATUS_TYPE || st == STATUS_PARSE);
        assert_string_equal(err.file, file);
        assert_true(err.line >= 1);
    }
    (void)unlink(file);
    assert_int_equal(report_write_with(&s, 1, REPORT_HTML, false, &extras, to, &err),
                     STATUS_MISSING);
    store_close(s);
    arena_free(&a);
}

/* Pages of tools stand in frames, to the byte, by their titles; others are refused by name. */
static void html_shows_pages(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct store *s = empty_store(&a);
    const char *const files[] = {in_folder(&a, "p.html"), in_folder(&a, "q.html")},
                      *to = in_folder(&a, "r.html");
    const struct report_extras extras = {.pages = files, .page_count = 2};
    static const char first[] = "<!doctype html><meta charset=utf-8><title>Lines of \"device/\" & "
                                "more</title><a href='#x'>x</a><h2 id='x'>\xc3\xa9</h2>",
                      second[] = "<title>Mutants</title>";
    assert_int_equal(file_write(files[0], first, sizeof first - 1, &err), STATUS_OK);
    assert_int_equal(file_write(files[1], second, sizeof second - 1, &err), STATUS_OK);
    assert_int_equal(report_write_with(&s, 1, REPORT_HTML, false, &extras, to, &err), STATUS_OK);
    char *data;
    size_t size, got;
    assert_int_equal(file_read(&a, to, 0, &data, &size, &err), STATUS_OK);
    struct markup_facts f;
    markup_check(data, &f);
    assert_string_equal(f.problem, "");
    assert_non_null(strstr(data, "<a href=\"#pages\">For developers of the suite</a>"));
    assert_non_null(strstr(data, "<summary>Lines of &quot;device/&quot; &amp; more</summary>"));
    assert_non_null(strstr(data, "<summary>Mutants</summary>"));
    char *frame = strstr(data, "src=\"data:text/html;charset=utf-8;base64,");
    assert_non_null(frame);
    frame = strchr(frame, ',') + 1;
    *strchr(frame, '"') = 0;
    assert_memory_equal(base64_read(&a, frame, true, &got), first, sizeof first - 1);
    assert_int_equal(got, sizeof first - 1);
    static const char *const bad[] = {"", "no page", "<title></title>", "<title>never ended"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(file_write(files[1], bad[i], strlen(bad[i]), &err), STATUS_OK);
        assert_int_equal(report_write_with(&s, 1, REPORT_HTML, false, &extras, to, &err),
                         STATUS_PARSE);
        assert_non_null(strstr(err.msg, files[1]));
    }
    (void)unlink(files[1]);
    assert_int_equal(report_write_with(&s, 1, REPORT_HTML, false, &extras, to, &err),
                     STATUS_MISSING);
    store_close(s);
    arena_free(&a);
}

/* Kinds of numbers: the newest row of each host, scene, picture and format; errors and times over
 * bits. */
static void html_shows_number_formats(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct store *s = empty_store(&a);
    const struct number_format_record rows[] = {
        {"<box>",
         "float16",
         "emulated",
         16,
         8,
         8,
         4,
         6,
         NULL,
         {1, 0.5, 1},
         0.4,
         0.1,
         1e-2,
         9,
         10,
         "x"},
        {"<box>",
         "float16",
         "emulated",
         16,
         8,
         8,
         4,
         6,
         NULL,
         {1, 0.5, 1},
         0.5,
         0.1,
         1e-2,
         9,
         10,
         "x"},
        {"<box>",
         "float16-f16c",
         "an & instruction",
         16,
         8,
         8,
         4,
         6,
         NULL,
         {1, 0.5, 1},
         0.5,
         0.1,
         1e-2,
         4,
         5,
         "x"},
        {"<box>",
         "float32",
         "native",
         32,
         8,
         8,
         4,
         6,
         NULL,
         {1, 0.5, 1},
         0.5,
         1e-3,
         1e-4,
         1,
         1,
         "x"},
        {"<box>", "posit8", "a library", 8, 8, 8, 4, 0, "none <here>", {0}, 0, 0, 0, 0, 0, "x"},
    };
    static const char *const hosts[] = {"{\"host\":\"one\"}", "{\"host\":\"one\"}",
                                        "{\"host\":\"two\"}"};
    for (size_t i = 0; i < 3; i++) {
        struct run_record run = {.kind = "number-format",
                                 .started_utc = "2026-11-21T00:00:01Z",
                                 .environment = hosts[i]};
        assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
        for (size_t k = i == 0 ? 0 : 1; k < (i == 0 ? 1 : sizeof rows / sizeof *rows); k++)
            assert_int_equal(store_add_number_format(s, run.id, &rows[k], &err), STATUS_OK);
    }
    struct number_format_record bad = rows[0];
    bad.relmse = -1;
    assert_int_equal(store_add_number_format(s, 1, &bad, &err), STATUS_ARG);
    bad = rows[4];
    bad.rmse = 1;
    assert_int_equal(store_add_number_format(s, 1, &bad, &err), STATUS_ARG);
    bad = rows[0];
    bad.times_double = 1e308 * 10;
    assert_int_equal(store_add_number_format(s, 1, &bad, &err), STATUS_ARG);
    const char *html = plain(&a, written(&a, s, REPORT_HTML, "r.html"));
    const char *md = written(&a, s, REPORT_MARKDOWN, "r.md");
    store_close(s);
    static const char *const wanted[] = {
        "<a href=\"#formats\">Number formats</a>",
        "<tr><td>float16</td><td class=\"r\">emulated</td><td class=\"r\">&lt;box&gt;</td>",
        "<td class=\"r\">8x8, 4 spp</td><td class=\"r\">one</td><td class=\"r\">1</td>",
        "<td class=\"r\">two</td>", "<td class=\"r\">none &lt;here&gt;</td>",
        /* 16 and 32 bits, 1e-2 and 1e-4, on the axes of html_shows_tables; f16c has no line of its
           own */
        "<polyline class=\"l0\" points=\"74.0,14.0 992.0,300.0\"/>",
        "&lt;box&gt; 8x8, 4 spp: float</li>",
        "&lt;box&gt; 8x8, 4 spp: float, an &amp; instruction</li>"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(html, wanted[i]))
            fail_msg("%s is not in the report: %s", wanted[i], strstr(html, "id=\"formats\""));
    assert_null(strstr(html, "<td class=\"r\">1.25</td>")); /* the older row's 0.5 over 0.4 */
    assert_non_null(strstr(
        md, "| &lt;box> | 8x8, 4 spp | float16-f16c | an &amp; instruction | 0.1 | 0.01 | 5 |"));
    struct markup_facts f;
    markup_check(html, &f);
    assert_string_equal(f.problem, "");
    arena_free(&a);
}

/* The report of a run whose benches of "bricks", "plain" and "odd" told `details`. */
static const char *benches_report(struct arena *a, const char *const details[3])
{
    static const char *const scenes[] = {"bricks", "plain", "odd"};
    struct error err = {0};
    struct store *s = NULL;
    (void)unlink(in_folder(a, "a.sqlite"));
    assert_int_equal(store_open(in_folder(a, "a.sqlite"), false, &s, &err), STATUS_OK);
    struct run_record run = {.kind = "bench", .started_utc = "2026-11-21T00:00:01Z"};
    struct device_record d = {.id = "native", .api = "native", .name = "cores", .kind = "cpu"};
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    assert_int_equal(store_add_device(s, run.id, &d, &err), STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        struct bench_record b = {.scene = scenes[i],
                                 .device = "native",
                                 .mode = "fast",
                                 .width = 8,
                                 .height = 8,
                                 .spp = 1,
                                 .max_depth = 6,
                                 .verdict = VERDICT_PASS,
                                 .samples_per_s = 5e6,
                                 .interval = {5e6, 5e6},
                                 .detail = details[i]};
        assert_int_equal(store_add_bench(s, run.id, &b, &err), STATUS_OK);
    }
    const char *html = plain(a, written(a, s, REPORT_HTML, "r.html"));
    store_close(s);
    return html;
}

/* What scenes' shaders came to: of benches that tell it, and nothing of those that do not. */
static void html_shows_shading(void **state)
{
    (void)state;
    struct arena a = {0};
    static const char *const details[] = {
        "{\"build\":{\"from_cache\":true},\"shading\":{\"masters\":4,\"groups\":3,\"programs\":2,"
        "\"instances_run\":6,\"instances_skipped\":1,\"operations_before\":2990,"
        "\"operations_after\":1191,\"image_bytes\":512,\"optimise_s\":0.25}}",
        "{\"shading\":[1]}", "{\"build\":3,\"shading\":{\"masters\":\"<i>\",\"optimise_s\":-1}}"};
    const char *html = benches_report(&a, details);
    static const char *const wanted[] = {
        "<a href=\"#shading\">Shaders</a>",
        "<td class=\"r\">4</td><td class=\"r\">3</td><td class=\"r\">2</td><td class=\"r\">6</td>"
        "<td class=\"r\">1</td><td class=\"r\">2990 \xe2\x86\x92\xc2\xa0"
        "1191</td>"
        "<td class=\"r\"></td>", /* symbols are not told */
        "<td class=\"r\">512</td>", "<td class=\"r\"> (cache)</td>"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(html, wanted[i]))
            fail_msg("%s is not in the report: %s", wanted[i], strstr(html, "id=\"shading\""));
    const char *section = strstr(html, "<section id=\"shading\"");
    const char *end = section ? strstr(section, "</section>") : NULL;
    const char *plain_scene = section ? strstr(section, "<td>plain</td>") : NULL;
    assert_true(end && (!plain_scene || plain_scene > end));
    assert_null(strstr(html, "<i>"));
    struct markup_facts f;
    markup_check(html, &f);
    assert_string_equal(f.problem, "");
    arena_free(&a);
}

/* Rays, hits and seconds of stages, of benches that tell them. */
static void html_shows_statistics(void **state)
{
    (void)state;
    struct arena a = {0};
    static const char *const details[] = {
        "{\"statistics\":{\"rays\":{\"closest\":40,\"any\":12,\"per_sample\":2.5},\"hits\":{"
        "\"hits\":30,\"combined\":24,\"first\":4,\"other_shader\":2,\"other_parameters\":0,"
        "\"mean_run\":5.0},\"texture_queries\":77,\"stages\":{\"tracing_s\":0.5,"
        "\"shading_s\":1.25}}}",
        "{\"build\":{}}",
        "{\"statistics\":{\"rays\":[],\"hits\":{\"mean_run\":\"<i>\"},\"stages\":{"
        "\"tracing_s\":0,\"shading_s\":1}}}"};
    const char *html = benches_report(&a, details);
    static const char *const wanted[] = {
        "<a href=\"#statistics\">",
        "<td class=\"r\">40</td><td class=\"r\">12</td><td class=\"r\">2.5</td>"
        "<td class=\"r\">30</td><td class=\"r\">24</td>",
        "<td class=\"r\">77</td>", "<td class=\"r\">2.5</td></tr>"};
    const char *section = strstr(html, "<section id=\"statistics\"");
    const char *end = section ? strstr(section, "</section>") : NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(html, wanted[i]))
            fail_msg("%s is not in the report: %s", wanted[i], section);
    const char *plain_scene = section ? strstr(section, "<td>plain</td>") : NULL;
    assert_true(end && (!plain_scene || plain_scene > end));
    assert_null(strstr(html, "<i>"));
    struct markup_facts f;
    markup_check(html, &f);
    assert_string_equal(f.problem, "");
    arena_free(&a);
}

/* Registers and memory of kernels that were timed, and of code objects with no device. */
static void html_shows_kernels(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct store *s = empty_store(&a);
    struct run_record run = {.kind = "code-objects",
                             .started_utc = "2026-11-21T00:00:00Z",
                             .command = "tools/code-objects <x>"};
    struct device_record d = {.id = "offline", .api = "llvm", .name = "no device"};
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    assert_int_equal(store_add_device(s, run.id, &d, &err), STATUS_OK);
    static const char *const details[] = {
        "{\"vgprs\":134,\"agprs\":6,\"scratch_bytes\":3904,\"instructions\":53086}", "[3]", NULL};
    for (size_t i = 0; i < 3; i++) {
        struct case_record c = {.name =
                                    arena_printf(&a, "code-object.whole.gfx%zu.fast.k_render", i),
                                .device = "offline",
                                .verdict = i ? VERDICT_FAIL : VERDICT_PASS,
                                .detail = details[i]};
        assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
    }
    struct run_record bench = {.kind = "bench", .started_utc = "2026-11-21T00:00:01Z"};
    struct device_record gpu = {.id = "cuda:0", .api = "cuda", .name = "card", .kind = "gpu"};
    struct bench_record b = {.scene = "cornell",
                             .device = "cuda:0",
                             .mode = "fast",
                             .bvh = "bvh2",
                             .model = "megakernel, registers 56",
                             .width = 8,
                             .height = 8,
                             .spp = 1,
                             .max_depth = 6,
                             .verdict = VERDICT_PASS,
                             .samples_per_s = 5e6,
                             .interval = {5e6, 5e6},
                             .detail = "{\"build\":{\"registers\":56,\"stack_bytes\":1040}}"};
    assert_int_equal(store_add_run(s, &bench, &err), STATUS_OK);
    assert_int_equal(store_add_device(s, bench.id, &gpu, &err), STATUS_OK);
    assert_int_equal(store_add_bench(s, bench.id, &b, &err), STATUS_OK);
    const char *html = plain(&a, written(&a, s, REPORT_HTML, "r.html"));
    store_close(s);
    static const char *const wanted[] = {
        "<a href=\"#kernels\">Kernels</a>",
        "By tools/code-objects &lt;x&gt;, 2026-11-21T00:00:00Z",
        "<tr><td>whole.gfx0.fast.k_render</td>",
        "<td class=\"r\">134</td><td class=\"r\">6</td><td></td><td class=\"r\">3904</td>",
        "<td>megakernel, registers 56, bvh2</td><td class=\"r\">56</td>",
        "<td class=\"r\">1040</td><td></td>", /* no spills are told */
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(html, wanted[i]))
            fail_msg("%s is not in the report", wanted[i]);
    assert_null(strstr(html, "1 passed")); /* nothing was judged on a device */
    struct markup_facts f;
    markup_check(html, &f);
    assert_string_equal(f.problem, "");
    arena_free(&a);
}

static void html_of_an_empty_store(void **state)
{
    (void)state;
    struct arena a = {0};
    struct store *s = empty_store(&a);
    const char *html = written(&a, s, REPORT_HTML, "r.html");
    struct markup_facts f;
    markup_check(html, &f);
    assert_string_equal(f.problem, "");
    assert_non_null(strstr(html, "Nothing was judged and nothing was timed"));
    assert_null(strstr(html, "headline good"));
    store_close(s);
    arena_free(&a);
}

/* A right picture where it was timed is no conformance: only judged devices show PASS. */
static void timed_devices_are_not_called_judged(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct store *s;
    struct run_record run = {.kind = "bench", .started_utc = "2026-01-01T00:00:00Z"};
    struct device_record d = {.id = "x:0", .name = "X"};
    struct bench_record b = {.scene = "cornell",
                             .device = "x:0",
                             .mode = "fast",
                             .verdict = VERDICT_PASS,
                             .samples_per_s = 1e6,
                             .interval = {9e5, 1.1e6},
                             .repetitions = 5};
    s = empty_store(&a);
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    assert_int_equal(store_add_device(s, run.id, &d, &err), STATUS_OK);
    assert_int_equal(store_add_bench(s, run.id, &b, &err), STATUS_OK);
    const char *html = written(&a, s, REPORT_HTML, "r.html");
    assert_non_null(strstr(html, "timed only</span>"));
    assert_non_null(strstr(html, "no conformance case was run on it"));
    assert_null(strstr(html, ">PASS<"));
    store_close(s);
    arena_free(&a);
}

/* The checker itself must be able to fail. */
static void checker_sees_faults(void **state)
{
    (void)state;
    static const char *const bad[] = {"<p>",          "<p></b>",    "<p a=\"1\" a=\"2\"/>",
                                      "<p>a & b</p>", "<p a=b/>",   "<p onclick=\"x\"/>",
                                      "text",         "<p>\x01</p>"};
    struct markup_facts f;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        markup_check(bad[i], &f);
        assert_true(f.problem[0] != '\0');
    }
    static const char *const outside[] = {"<a href=\"http://x\"/>", "<img src=\"x.png\"/>",
                                          "<style>a{background:url(x)}</style>"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        markup_check(outside[i], &f);
        assert_true(f.outside[0] != '\0');
    }
    markup_check("<p a=\"&lt;\">x &amp; &#39;<b/></p>", &f);
    assert_string_equal(f.problem, "");
}

static void newest_driver_is_shown(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    struct store *s = empty_store(&a);
    static const char *const drivers[] = {"driver-one", "driver-two"};
    for (int i = 0; i < 2; i++) {
        struct run_record run = {.kind = "conform", .started_utc = "2026-01-01T00:00:00Z"};
        struct device_record d = {.id = "x:0", .name = "X", .driver = drivers[i]};
        struct case_record c = {.name = "kernel.rng.vectors",
                                .device = "x:0",
                                .verdict = i ? VERDICT_PASS : VERDICT_FAIL,
                                .reason = i ? "" : "old trouble"};
        assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
        assert_int_equal(store_add_device(s, run.id, &d, &err), STATUS_OK);
        assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
    }
    const char *path = in_folder(&a, "r.html");
    char *html;
    size_t size;
    assert_int_equal(report_write(&s, 1, REPORT_HTML, false, path, &err), STATUS_OK);
    assert_int_equal(file_read(&a, path, 0, &html, &size, &err), STATUS_OK);
    assert_null(strstr(html, "old trouble"));
    assert_null(strstr(html, "driver-one"));
    assert_non_null(
        strstr(html, "1 result with an older driver, version or compiler is not shown"));
    assert_int_equal(report_write(&s, 1, REPORT_HTML, true, path, &err), STATUS_OK);
    assert_int_equal(file_read(&a, path, 0, &html, &size, &err), STATUS_OK);
    assert_non_null(strstr(html, "old trouble"));
    assert_non_null(strstr(html, "X, driver-one"));
    assert_non_null(strstr(html, "X, driver-two"));
    store_close(s);
    arena_free(&a);
}

/* A store with one run: each device has one case. */
static struct store *store_of(struct arena *a, const char *name, const char *when,
                              const struct device_record *devices, size_t count,
                              enum verdict verdict, const char *reason, const char *selection,
                              const char *skip)
{
    struct error err = {0};
    struct store *s;
    (void)unlink(in_folder(a, name));
    assert_int_equal(store_open(in_folder(a, name), false, &s, &err), STATUS_OK);
    struct run_record run = {.kind = "conform", .started_utc = when, .selection = selection};
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        const struct case_record c = {.name = "image.strict.a",
                                      .device = devices[i].id,
                                      .verdict = verdict,
                                      .reason = reason,
                                      .listed = selection != NULL,
                                      .waived = skip && strcmp(skip, "waived") == 0,
                                      .skip = skip && strcmp(skip, "waived") == 0 ? NULL : skip};
        assert_int_equal(store_add_device(s, run.id, &devices[i], &err), STATUS_OK);
        assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
    }
    return s;
}

static void all_stores_are_shown(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    const struct device_record x[] = {{.id = "cuda:0", .name = "Card", .driver = "580"},
                                      {.id = "cuda:1", .name = "Card", .driver = "580"}},
                               y[] = {{.id = "cuda:0", .name = "Card", .driver = "580"},
                                      {.id = "opencl:0", .name = "Other", .driver = "3.1"}};
    /* the newer one is given first: the newest result stands all the same */
    struct store *stores[] = {store_of(&a, "b.sqlite", "2026-02-01T00:00:00Z", y, 2, VERDICT_PASS,
                                       "new and right", NULL, NULL),
                              store_of(&a, "a.sqlite", "2026-01-01T00:00:00Z", x, 2, VERDICT_FAIL,
                                       "old trouble", NULL, NULL)};
    const char *path = in_folder(&a, "r.html");
    char *html;
    size_t size;
    assert_int_equal(report_write(stores, 2, REPORT_HTML, false, path, &err), STATUS_OK);
    assert_int_equal(file_read(&a, path, 0, &html, &size, &err), STATUS_OK);
    assert_non_null(strstr(html, "Other, 3.1"));
    assert_non_null(strstr(html, "Card, 580, cuda:0")); /* two of one name and driver */
    assert_non_null(strstr(html, "Card, 580, cuda:1"));
    assert_int_equal(text_count(html, "<article class=\"finding\""), 1); /* cuda:1's alone */
    assert_non_null(strstr(html, "id=\"case:image.strict.a@1\""));
    assert_non_null(strstr(html, "1 case judged on 3 of 3 devices; of which list is not known"));
    store_close(stores[0]);
    store_close(stores[1]);
    arena_free(&a);
}

/* Who is on one silicon: processors of a host, cards of one UUID; no card without, no test device. */
static void apis_of_one_device_are_paired(void **state)
{
    (void)state;
    static const struct {
        const char *id, *api, *name, *kind, *uuid;
    } rows[] = {
        {"opencl:0", "opencl", "pthread-Some CPU", "cpu", ""},
        {"native", "native", "Some CPU", "cpu", ""},
        {"faulty:lost-cosine", "faulty", "mistake", "cpu", ""},
        {"cuda:0", "cuda", "Card", "gpu", "00112233-4455-6677-8899-aabbccddeeff"},
        {"opencl:1", "opencl", "Card", "gpu", "00112233-4455-6677-8899-aabbccddeeff"},
        {"cuda:1", "cuda", "Card", "gpu", "00112233-4455-6677-8899-aabbccddee00"},
        {"hip:0", "hip", "Card", "gpu", ""},
        {"hip:1", "hip", "Card", "gpu", ""},
    };
    struct arena a = {0};
    struct error err = {0};
    struct store *s;
    struct run_record run = {
        .kind = "bench", .started_utc = "2026-01-01T00:00:00Z", .environment = "{\"host\":\"h\"}"};
    s = empty_store(&a);
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct identity *id = identity_new(&a, "device");
        identity_add(id, "id", rows[i].id);
        identity_add(id, "uuid", rows[i].uuid);
        const struct identity *whole = identity_close(id, &err);
        const struct device_record d = {.id = rows[i].id,
                                        .api = rows[i].api,
                                        .name = rows[i].name,
                                        .driver = rows[i].id,
                                        .kind = rows[i].kind,
                                        .identity = whole->key};
        const struct bench_record b = {
            .scene = "cornell",
            .device = rows[i].id,
            .mode = "fast",
            .width = 8,
            .height = 8,
            .spp = 1,
            .max_depth = 6,
            .verdict = VERDICT_PASS,
            .samples_per_s = 1e6,
            .interval = {9e5, 1.1e6},
            .repetitions = 5,
            .phases = "{\"compile\":{\"median_s\":0.25},\"launch_setup\":{\"median_s\":2e-5}}"};
        assert_int_equal(store_add_identity(s, run.id, whole, &err), STATUS_OK);
        assert_int_equal(store_add_device(s, run.id, &d, &err), STATUS_OK);
        assert_int_equal(store_add_bench(s, run.id, &b, &err), STATUS_OK);
    }
    const char *html = plain(&a, written(&a, s, REPORT_HTML, "r.html")),
               *from = strstr(html, "<section id=\"apis\">");
    assert_non_null(from);
    const char *apis = arena_strndup(&a, from, (size_t)(strstr(from, "</section>") - from));
    assert_int_equal(text_count(apis, "<h3>"), 2);
    assert_non_null(strstr(apis, "<h3>Some CPU <span class=\"note\">processor of host h</span>"));
    assert_non_null(strstr(apis, "<h3>Card <span class=\"note\">UUID "
                                 "00112233-4455-6677-8899-aabbccddeeff</span>"));
    assert_int_equal(text_count(apis, "<b>1.00 M/s</b>"), 4);
    assert_int_equal(text_count(apis, "<td class=\"r\">250 ms</td>"), 4);
    assert_int_equal(text_count(apis, "<td class=\"r\">20.0 &#181;s</td>") +
                         text_count(apis, "<td class=\"r\">20.0 \xc2\xb5s</td>"),
                     4);
    assert_null(strstr(apis, "mistake"));
    assert_null(strstr(apis, "hip:"));
    assert_null(strstr(apis, "cuda:1"));
    store_close(s);
    arena_free(&a);
}

/* A copy of a store, changed: of one run in both, one verdict in each. */
static void copies_of_a_run_agree(void **state)
{
    (void)state;
    static const struct {
        const char *when;
        enum verdict verdict;
        bool agree;
    } rows[] = {
        {"2026-01-01T00:00:00Z", VERDICT_FAIL, true},
        {"2026-01-01T00:00:00Z", VERDICT_PASS, false},
        {"2026-01-01T00:00:01Z", VERDICT_PASS, true}, /* run again */
    };
    const struct device_record d = {.id = "native", .name = "CPU", .driver = "1"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct error err = {0};
        struct store *stores[] = {
            store_of(&a, "a.sqlite", "2026-01-01T00:00:00Z", &d, 1, VERDICT_FAIL, "so", NULL, NULL),
            store_of(&a, "b.sqlite", rows[i].when, &d, 1, rows[i].verdict, "so", NULL, NULL)};
        enum status st = report_write(stores, 2, REPORT_HTML, false, in_folder(&a, "r.html"), &err);
        assert_int_equal(st, rows[i].agree ? STATUS_OK : STATUS_MISMATCH);
        if (!rows[i].agree)
            assert_string_equal(err.msg, "the run that began at 2026-01-01T00:00:00Z is here "
                                         "twice, and its two records of image.strict.a differ: one "
                                         "of them was changed");
        store_close(stores[0]);
        store_close(stores[1]);
        arena_free(&a);
    }
}

/* Two halves of a list, each passed by a program. */
static void one_program_judges_the_list(void **state)
{
    (void)state;
    static const char two[] = "{\"list\":\"core\",\"hash\":\"h\",\"cases\":2}";
    static const struct {
        const char *kernel, *dirty, *build;
        bool one;
    } rows[] = {{"k", "no", "1", true},
                {"k", "no", "2", true}, /* built by somebody else of the same text */
                {"other", "no", "2", false},
                {"k", "yes", "2", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct error err = {0};
        const struct device_record d = {.id = "native", .name = "CPU", .driver = "1"};
        const char *const whens[] = {"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
                          *const names[] = {"image.strict.a", "image.strict.b"};
        struct store *s = empty_store(&a);
        for (int k = 0; k < 2; k++) {
            struct run_record run = {.kind = "conform", .started_utc = whens[k], .selection = two};
            struct identity *program = identity_new(&a, "program"), *id = identity_new(&a, "case");
            identity_add(program, "version", "1");
            identity_add(program, "commit", "c");
            identity_add(program, "dirty", rows[i].dirty);
            identity_add(program, "kernel", k ? rows[i].kernel : "k");
            identity_add(program, "protocol", "1");
            identity_add(program, "build", k ? rows[i].build : "1");
            identity_add_of(id, identity_close(program, &err));
            identity_add(id, "case", names[k]);
            const struct identity *whole = identity_close(id, &err);
            assert_non_null(whole);
            const struct case_record c = {.name = names[k],
                                          .device = d.id,
                                          .verdict = VERDICT_PASS,
                                          .reason = "so",
                                          .listed = true,
                                          .identity = whole->key};
            assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
            assert_int_equal(store_add_device(s, run.id, &d, &err), STATUS_OK);
            assert_int_equal(store_add_identity(s, run.id, whole, &err), STATUS_OK);
            assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
        }
        const char *html = written(&a, s, REPORT_HTML, "r.html");
        if ((strstr(html, "<b>1 device is conformant</b>") != NULL) != rows[i].one ||
            (strstr(html, "; not the whole list by one program</b>") == NULL) != rows[i].one)
            fail_msg("row %zu: %.400s", i, strstr(html, "<div class=\"headline"));
        store_close(s);
        arena_free(&a);
    }
}

/* A case's verdict in a run of its own, by a key. */
struct told {
    enum verdict verdict;
    const char *key, *when;
};

static struct store *store_told(struct arena *a, const char *name, const struct told *told,
                                size_t count)
{
    static const char one[] = "{\"list\":\"core\",\"hash\":\"h\",\"cases\":1}";
    struct error err = {0};
    struct store *s;
    (void)unlink(in_folder(a, name));
    assert_int_equal(store_open(in_folder(a, name), false, &s, &err), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        struct run_record run = {.kind = "conform", .started_utc = told[i].when, .selection = one};
        const struct device_record d = {.id = "native", .name = "CPU", .driver = "1"};
        const struct case_record c = {.name = "image.strict.a",
                                      .device = d.id,
                                      .verdict = told[i].verdict,
                                      .reason = "so",
                                      .listed = true,
                                      .run_s = (double)i,
                                      .identity = told[i].key};
        assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
        assert_int_equal(store_add_device(s, run.id, &d, &err), STATUS_OK);
        assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
    }
    return s;
}

/* Whoever runs again until it passes: the newest verdict stands, and an earlier one by its key is told. */
static void one_key_has_one_verdict(void **state)
{
    (void)state;
    static const char k[] = "0123456789abcdef0123456789abcdef",
                      other[] = "ffffffffffffffff0123456789abcdef";
    static const struct {
        struct told told[3];
        size_t count;
        bool conformant;
        const char *says;
    } rows[] = {
        {{{VERDICT_FAIL, k, "1"}, {VERDICT_PASS, k, "2"}},
         2,
         false,
         "FAIL in the run of 1, PASS in the run of 2, by one key: so"},
        {{{VERDICT_FAIL, k, "1"}, {VERDICT_PASS, other, "2"}},
         2,
         true,
         NULL}, /* something was changed */
        {{{VERDICT_FAIL, NULL, "1"}, {VERDICT_PASS, NULL, "2"}}, 2, true, NULL},
        {{{VERDICT_ERROR, k, "1"}, {VERDICT_PASS, k, "2"}},
         2,
         true,
         NULL}, /* it could not be judged */
        {{{VERDICT_FAIL, k, "1"}, {VERDICT_ERROR, k, "2"}, {VERDICT_PASS, k, "3"}},
         3,
         false,
         "FAIL in the run of 1, PASS in the run of 3, by one key: so"},
        {{{VERDICT_FAIL, k, "1"}, {VERDICT_PASS, other, "2"}, {VERDICT_PASS, k, "3"}},
         3,
         false,
         "FAIL in the run of 1, PASS in the run of 3, by one key: so"},
        {{{VERDICT_PASS, k, "1"}, {VERDICT_FAIL, k, "2"}},
         2,
         false,
         "PASS in the run of 1, FAIL in the run of 2, by one key: so"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct store *s = store_told(&a, "a.sqlite", rows[i].told, rows[i].count);
        const char *html = written(&a, s, REPORT_HTML, "r.html");
        if ((strstr(html, "<b>1 device is conformant</b>") != NULL) != rows[i].conformant ||
            (rows[i].says ? !strstr(html, rows[i].says) || !strstr(html, ", flaky")
                          : strstr(html, "by one key") != NULL))
            fail_msg("row %zu: %.600s", i, strstr(html, "<div class=\"headline"));
        store_close(s);
        arena_free(&a);
    }
}

/* A clock that was set back: of one store's runs the last stands, also beside another store. */
static void clocks_set_back_change_nothing(void **state)
{
    (void)state;
    static const struct told late[] = {{VERDICT_PASS, "a", "2026-01-03T00:00:00Z"},
                                       {VERDICT_FAIL, "b", "2026-01-01T00:00:00Z"}},
                             between[] = {{VERDICT_PASS, "c", "2026-01-02T00:00:00Z"}};
    struct arena a = {0};
    struct error err = {0};
    struct store *x = store_told(&a, "a.sqlite", late, 2),
                 *y = store_told(&a, "b.sqlite", between, 1);
    for (size_t count = 1; count <= 2; count++)
        for (int turned = 0; turned < (int)count; turned++) {
            struct store *stores[] = {turned ? y : x, turned ? x : y};
            const char *path = in_folder(&a, "r.html");
            char *html;
            size_t size;
            assert_int_equal(report_write(stores, count, REPORT_HTML, false, path, &err),
                             STATUS_OK);
            assert_int_equal(file_read(&a, path, 0, &html, &size, &err), STATUS_OK);
            assert_non_null(strstr(html, "<b>1 device fails</b>"));
        }
    store_close(x);
    store_close(y);
    arena_free(&a);
}

/* What the first sentence claims, by what was judged. */
static void conformant_is_said_of_a_whole_list(void **state)
{
    (void)state;
    static const char one[] = "{\"list\":\"core\",\"hash\":\"h\",\"cases\":1}",
                      two[] = "{\"list\":\"core\",\"hash\":\"h\",\"cases\":2}";
    static const struct {
        enum verdict verdict;
        const char *selection, *skip, *says;
        bool conformant;
    } rows[] = {
        {VERDICT_PASS, one, NULL, "<b>1 of 1 cases of core judged on 1 of 1 device</b>. ", true},
        {VERDICT_PASS, two, NULL,
         "<b>1 of 2 cases of core judged on 1 of 1 device; not the whole list</b>. <b>1 device "
         "passes all that was judged</b>",
         false},
        {VERDICT_FAIL, one, "waived",
         "<b>1 of 1 cases of core judged on 1 of 1 device</b>. <b>1 device fails what waivers "
         "forgive</b>",
         false},
        {VERDICT_ERROR, one, "waived", "<b>1 device fails what waivers forgive</b>", false},
        {VERDICT_FAIL, one, NULL, "judged on 1 of 1 device</b>. <b>1 device fails</b>", false},
        {VERDICT_SKIP, one, "expected", "<b>0 of 1 cases of core judged on 0 of 1 device", false},
        {VERDICT_SKIP, one, "unexpected", "<b>1 device fails</b>", false},
        {VERDICT_ERROR, one, NULL, "<b>1 device could not be judged in full</b>", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        const struct device_record d = {.id = "native", .name = "CPU", .driver = "1"};
        struct store *s = store_of(&a, "a.sqlite", "2026-01-01T00:00:00Z", &d, 1, rows[i].verdict,
                                   "so", rows[i].selection, rows[i].skip);
        const char *html = written(&a, s, REPORT_HTML, "r.html");
        if (!strstr(html, rows[i].says))
            fail_msg("row %zu: %.400s", i, strstr(html, "<div class=\"headline"));
        assert_int_equal(strstr(html, "conformant") != NULL, rows[i].conformant);
        store_close(s);
        arena_free(&a);
    }
}

/* ---- the other formats ------------------------------------------------------------------ */

/* The table, whole, against the rules that it has to keep. */
static void outcomes_agree(void **state)
{
    (void)state;
    size_t seen = 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        for (int waived = 0; waived < 2; waived++)
            for (int skip = 0; skip < 3; skip++)
                for (int rerun = 0; rerun < 3; rerun++, seen++) {
                    const struct outcome o = outcome_of((enum verdict)v, waived,
                                                        (enum skip_kind)skip, (enum rerun)rerun);
                    const bool failed = v == VERDICT_FAIL || v == VERDICT_ERROR,
                               flaky = rerun == RERUN_DIFFERED && !failed,
                               finding = (failed && !waived) ||
                                         (v == VERDICT_SKIP && skip == SKIP_UNEXPECTED) ||
                                         (flaky && !(waived && v == VERDICT_PASS));
                    /* findings are what is red everywhere */
                    assert_int_equal(o.counts == COUNTS_FINDING, finding);
                    assert_int_equal(o.junit == JUNIT_FAILURE || o.junit == JUNIT_ERROR, finding);
                    assert_int_equal(strcmp(o.html, "fail") == 0 || strcmp(o.html, "error") == 0,
                                     finding);
                    assert_int_equal(o.annotation && strcmp(o.annotation, "error") == 0, finding);
                    /* green is only what was judged and right each time */
                    assert_int_equal(o.counts == COUNTS_PASS, v == VERDICT_PASS && !flaky);
                    assert_int_equal(o.junit == JUNIT_PASSED, o.counts == COUNTS_PASS);
                    assert_int_equal(strcmp(o.word, "PASS") == 0, o.counts == COUNTS_PASS);
                    assert_int_equal(strcmp(o.html, "pass") == 0, o.counts == COUNTS_PASS);
                    assert_int_equal(o.judged, v == VERDICT_PASS || v == VERDICT_FAIL);
                    /* runs that differ are named so, unless they are known */
                    assert_int_equal(strcmp(o.word, "FLAKY") == 0,
                                     rerun == RERUN_DIFFERED && finding);
                    struct outcome_sum sum = {0};
                    outcome_add(&sum, &o);
                    assert_int_equal(outcome_end(&sum), finding                   ? RUN_FINDING
                                                        : o.counts == COUNTS_PASS ? RUN_GREEN
                                                                                  : RUN_NOTHING);
                }
    assert_int_equal(seen, 72);
    const struct outcome_sum none = {0};
    assert_int_equal(outcome_end(&none), RUN_NOTHING);
}

/* Each row that a store can hold, as a run of its own: JUnit and the exit status agree. */
static void junit_ends_as_the_run_does(void **state)
{
    (void)state;
    static const char *const skips[] = {NULL, "expected", "unexpected"};
    size_t count = 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        for (int waived = 0; waived < 2; waived++)
            for (int way = 0; way < (v == VERDICT_SKIP ? 9 : 3); way++) {
                const int skip = way / 3;
                struct arena a = {0};
                struct error err = {0};
                struct markup_facts f;
                char *path = arena_printf(&a, "%s/row.sqlite", folder);
                struct store *s;
                struct run_record run = {.kind = "conform"};
                struct case_record c = {.name = "image.strict.a",
                                        .device = "d",
                                        .verdict = (enum verdict)v,
                                        .reason = "so",
                                        .waived = waived,
                                        .skip = skips[skip],
                                        .rerun = rerun_name((enum rerun)(way % 3)),
                                        .identity = "00112233445566778899aabbccddeeff"};
                assert_int_equal(store_open(path, false, &s, &err), STATUS_OK);
                assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
                assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
                struct run_record empty = {.kind = "conform"};
                assert_int_equal(store_add_run(s, &empty, &err), STATUS_OK); /* hides nothing */
                const char *xml = written(&a, s, -1, "r.xml");
                markup_check(xml, &f);
                assert_string_equal(f.problem, "");
                struct outcome_sum sum = {0};
                const struct outcome o = outcome_of_case(&c);
                outcome_add(&sum, &o);
                const bool red = outcome_end(&sum) != RUN_GREEN; /* 77 is not green either */
                assert_int_equal(text_count(xml, "<failure ") + text_count(xml, "<error "), red);
                assert_int_equal(text_count(xml, " failures=\"1\"") / 2,
                                 text_count(xml, "<failure "));
                assert_non_null(strstr(xml, "<property name=\"identity\" "
                                            "value=\"00112233445566778899aabbccddeeff\"/>"));
                assert_non_null(strstr(xml, "name=\"image.strict.a\""));
                store_close(s);
                assert_int_equal(unlink(path), 0);
                arena_free(&a);
                count++;
            }
    assert_int_equal(count, 36);
}

static void junit_is_sound(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *xml = sample_written(&a, -1, "r.xml");
    struct markup_facts f;
    markup_check(xml, &f);
    assert_string_equal(f.problem, "");
    /* 4 devices x 48 cases less one that did not run; 2 failures; 1 error; 7 skips and a waived
     * failure */
    assert_non_null(strstr(xml, "<testsuites name=\"isophote conform\" tests=\"191\" "
                                "failures=\"2\" errors=\"1\" skipped=\"8\""));
    assert_int_equal(text_count(xml, "<testcase "), 191);
    assert_int_equal(text_count(xml, "<failure "), 2);
    assert_int_equal(text_count(xml, "<error "), 1);
    assert_int_equal(text_count(xml, "<skipped "), 8);
    assert_int_equal(text_count(xml, "<testsuite name="), 4);
    arena_free(&a);
}

/* Fields of each record of a CSV file, read as RFC 4180 says; false when records differ in their
 * number. */
static bool csv_even(const char *s, size_t *fields, size_t *records)
{
    size_t n = 1;
    *fields = *records = 0;
    for (bool quoted = false; *s; s++) {
        if (*s == '"')
            quoted = !quoted;
        else if (*s == ',' && !quoted)
            n++;
        else if (*s == '\r' && s[1] == '\n' && !quoted) {
            if (*records && n != *fields)
                return false;
            *fields = n;
            ++*records;
            n = 1;
            s++;
        }
    }
    return true;
}

static void csv_is_even(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *csv = sample_written(&a, REPORT_CSV, "r.csv");
    size_t fields, records;
    assert_true(csv_even(csv, &fields, &records));
    assert_int_equal(fields, 33);
    /* 191 cases, 12 rates, 2 scenes x 3 devices x 96 settings, and the head: 11 x 11 shapes less
     * those over 2^13 (28), plus 3 */
    assert_int_equal(records, 1 + 191 + 12 + 6 * (121 - 28 + 3));
    assert_non_null(strstr(csv, ",\"noisy <i> | \"\"so\"\" & more\"\r\n"));
    assert_non_null(strstr(csv, "\"<script>alert(\"\"x\"\" & 'y')</script>\""));
    arena_free(&a);
}

/* No cell is a formula to a spreadsheet, whoever gave the names. */
static void csv_has_no_formulas(void **state)
{
    (void)state;
    static const char *const names[] = {"=cmd|' /C calc'!A0", "+1",   "-2+3",
                                        "@SUM(A1)",           "\t=1", "\r=1"};
    enum { COUNT = sizeof names / sizeof *names };
    struct arena a = {0};
    struct error err = {0};
    struct store *s = empty_store(&a);
    struct run_record run = {.kind = "conform"};
    assert_int_equal(store_add_run(s, &run, &err), STATUS_OK);
    for (size_t i = 0; i < COUNT; i++) {
        struct case_record c = {
            .name = names[i], .device = "native", .reason = names[i], .replay = names[i]};
        assert_int_equal(store_add_case(s, run.id, &c, &err), STATUS_OK);
    }
    const char *csv = written(&a, s, REPORT_CSV, "r.csv");
    store_close(s);
    size_t fields, records;
    assert_true(csv_even(csv, &fields, &records));
    for (size_t i = 0; i < COUNT; i++) {
        char cell[64];
        snprintf(cell, sizeof cell, ",\"'%s\"", names[i]);
        assert_non_null(strstr(csv, cell));
        snprintf(cell, sizeof cell, ",%s", names[i]);
        assert_null(strstr(csv, cell));
        snprintf(cell, sizeof cell, "\"%s", names[i]);
        assert_null(strstr(csv, cell));
    }
    arena_free(&a);
}

static void markdown_escapes(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *md = sample_written(&a, REPORT_MARKDOWN, "r.md");
    assert_null(strstr(md, "<script>"));
    assert_non_null(strstr(md, "| 1.0\\|beta |"));
    assert_non_null(
        strstr(md, "| image.strict.cornell | pthread-AMD EPYC 9B14, PoCL 3.1 | FAIL |"));
    arena_free(&a);
}

/* ---- markup and numbers ----------------------------------------------------------------- */

static void escaping(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
        {"caf\xc3\xa9 \xe2\x98\x85 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x98\x85 \xf0\x9f\x98\x80"},
        {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},       /* overlong */
        {"\x01\x1b[0m", "\xef\xbf\xbd\xef\xbf\xbd[0m"}, /* control characters */
        {"\xef\xbf\xbe", "\xef\xbf\xbd"},               /* U+FFFE is not XML */
        {"tab\tline\n", "tab\tline\n"},
        {"\xe2\x98", "\xef\xbf\xbd\xef\xbf\xbd"}, /* cut short */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text t = {0};
        markup_escape(&t, rows[i].in);
        assert_string_equal(t.data, rows[i].out);
        text_free(&t);
    }
    struct text t = {0};
    markup_printf(&t, "<b c=\"%s\">%zu %d %.2f%% %!</b>", "<\">", (size_t)3, -4, 1.5, "<i/>");
    assert_string_equal(t.data, "<b c=\"&lt;&quot;&gt;\">3 -4 1.50% <i/></b>");
    text_free(&t);
}

static void numbers_read_well(void **state)
{
    (void)state;
    char b[32];
    assert_string_equal(rate_text(12345678, b), "12.3 M/s");
    assert_string_equal(rate_text(999.9e6, b), "1.00 G/s");
    assert_string_equal(rate_text(3.2, b), "3.20 /s");
    assert_string_equal(seconds_text(0.0123, b), "12.3 ms");
    assert_string_equal(seconds_text(138, b), "138 s");
    assert_string_equal(seconds_text(-1, b), "-");
    assert_string_equal(seconds_text(0, b), "0.00 \xc2\xb5s");
    assert_string_equal(bytes_text(512, b), "512 B");
    assert_string_equal(bytes_text(1.5 * 1073741824, b), "1.50 GiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checker_sees_faults),
        cmocka_unit_test(html_is_one_sound_file),
        cmocka_unit_test(html_shows_what_matters),
        cmocka_unit_test(html_plots_the_furnace),
        cmocka_unit_test(html_plots_power),
        cmocka_unit_test(html_shows_shading),
        cmocka_unit_test(html_shows_statistics),
        cmocka_unit_test(html_shows_tables),
        cmocka_unit_test(html_shows_pages),
        cmocka_unit_test(html_shows_number_formats),
        cmocka_unit_test(html_shows_kernels),
        cmocka_unit_test(html_of_an_empty_store),
        cmocka_unit_test(timed_devices_are_not_called_judged),
        cmocka_unit_test(newest_driver_is_shown),
        cmocka_unit_test(outcomes_agree),
        cmocka_unit_test(junit_ends_as_the_run_does),
        cmocka_unit_test(all_stores_are_shown),
        cmocka_unit_test(apis_of_one_device_are_paired),
        cmocka_unit_test(copies_of_a_run_agree),
        cmocka_unit_test(one_program_judges_the_list),
        cmocka_unit_test(one_key_has_one_verdict),
        cmocka_unit_test(clocks_set_back_change_nothing),
        cmocka_unit_test(conformant_is_said_of_a_whole_list),
        cmocka_unit_test(junit_is_sound),
        cmocka_unit_test(csv_is_even),
        cmocka_unit_test(csv_has_no_formulas),
        cmocka_unit_test(markdown_escapes),
        cmocka_unit_test(escaping),
        cmocka_unit_test(numbers_read_well),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
