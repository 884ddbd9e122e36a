/* SPDX-License-Identifier: Apache-2.0 */
/* isophote report: what a store holds, as one file. */
#include "cli.h"

#include <string.h>

#include "reports.h"

enum { FORMAT_JUNIT = REPORT_CSV + 1 };

static const struct {
    const char *name, *extension;
    int format;
} formats[] = {
    {"html", ".html", REPORT_HTML},       {"html", ".htm", REPORT_HTML},
    {"markdown", ".md", REPORT_MARKDOWN}, {"csv", ".csv", REPORT_CSV},
    {"junit", ".xml", FORMAT_JUNIT},
};

/* By its name, or by the file's extension when no name was given; -1 if there is none. */
static int format_find(const char *name, const char *path)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (name ? strcmp(name, formats[i].name) == 0 : path_ends(path, formats[i].extension))
            return formats[i].format;
    return -1;
}

struct report_command {
    struct option_list stores, tables, pages;
    const char *out, *format;
    bool all_runs;
};

static int run(void *settings, const struct arguments *args)
{
    const struct report_command *c = settings;
    struct error err = {0};
    (void)args;
    if (!c->stores.count || !c->out) {
        error_msg(&err, STATUS_ARG, "report needs --store FILE and -o FILE");
        return report_error(&err, false);
    }
    int format = format_find(c->format, c->out);
    if (format < 0) {
        error_msg(&err, STATUS_ARG,
                  "cannot tell the format of '%s': expected html, markdown, csv or junit, by its "
                  "extension or --format",
                  c->out);
        return report_error(&err, false);
    }
    if (format == FORMAT_JUNIT && c->stores.count > 1) {
        error_msg(&err, STATUS_ARG, "JUnit XML is of one run, so of one --store");
        return report_error(&err, false);
    }
    if (format != REPORT_HTML && (c->tables.count || c->pages.count)) {
        error_msg(&err, STATUS_ARG, "%s needs HTML: other formats hold the store alone",
                  c->tables.count ? "--table" : "--page");
        return report_error(&err, false);
    }
    const struct report_extras extras = {c->tables.items, c->tables.count, c->pages.items,
                                         c->pages.count};
    struct arena a = {0};
    struct store **stores = ARENA_ARRAY(&a, struct store *, c->stores.count);
    enum status st = stores ? STATUS_OK : error_msg(&err, STATUS_MEMORY, "out of memory");
    size_t opened = 0;
    for (; !st && opened < c->stores.count; opened += !st)
        st = store_open(c->stores.items[opened], true, &stores[opened], &err);
    if (!st)
        st = format == FORMAT_JUNIT ? store_junit(stores[0], 0, c->out, &err)
                                    : report_write_with(stores, opened, (enum report_format)format,
                                                        c->all_runs, &extras, c->out, &err);
    while (opened > 0)
        store_close(stores[--opened]);
    arena_free(&a);
    return st ? report_error(&err, false) : EXIT_PASS;
}

#define AT(member) offsetof(struct report_command, member)
static const struct option options[] = {
    {"--store", OPTION_LIST, AT(stores), "FILE",
     .help = "a result store to read; may be repeated, the newest result of each case stands",
     .reads = true},
    {"-o", OPTION_STRING, AT(out), "FILE", .help = "the file to write",
     .writes = FILE_REPORT | FILE_JUNIT},
    {"--format", OPTION_WORD, AT(format), "NAME", .help = "of the file",
     .otherwise = "by the extension of -o: .html .md .csv .xml",
     .words = "html markdown csv junit"},
    {"--table", OPTION_LIST, AT(tables), "FILE",
     .help = "a table that tools/experiments wrote (NAME.json), for HTML; may be repeated",
     .reads = true},
    {"--page", OPTION_LIST, AT(pages), "FILE",
     .help = "a page for developers of the suite, of tools/coverage -o or tools/mutants_page -o, "
             "for HTML; may be repeated",
     .reads = true},
    {"--all-runs", OPTION_FLAG, AT(all_runs),
     .help = "older drivers and compilers too, as columns of their own"},
};
const struct command command_report = {
    .name = "report",
    .group = "results",
    .line = "make one HTML, Markdown or CSV file of a result store",
    .usage = "isophote report --store FILE -o report.html [options]",
    .summary = "Makes one file of a result store: an HTML report without links to outside, "
               "Markdown, CSV, or JUnit XML of the last conformance run. Each case and each "
               "benchmark row appears with its newest result, from runs with the newest driver "
               "and compiler of its device.",
    .examples = "isophote report --store out/results.sqlite -o out/report.html",
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct report_command),
    .run = run,
};
