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
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (name ? strcmp(name, formats[i].name) == 0
                 : dot && strcmp(dot, formats[i].extension) == 0)
            return formats[i].format;
    return -1;
}

int cmd_report(int argc, char **argv)
{
    const char *store_name = NULL, *out = NULL, *format_name = NULL;
    bool all_runs = false;
    const struct option options[] = {
        {"--store", OPTION_STRING, &store_name, "FILE", "the result store to read", NULL},
        {"-o", OPTION_STRING, &out, "FILE", "the file to write", NULL},
        {"--format", OPTION_STRING, &format_name, "NAME",
         "html, markdown, csv or junit (default: by the extension of -o: .html .md .csv .xml)",
         NULL},
        {"--all-runs", OPTION_FLAG, &all_runs, NULL,
         "older drivers and compilers too, as columns of their own", NULL},
    };
    const struct command_line line = {
        .usage = "isophote report --store FILE -o report.html [options]",
        .summary = "Makes one file of a result store: an HTML report without links to outside, "
                   "Markdown, CSV, or\n"
                   "JUnit XML of the last conformance run. Each case and each benchmark row "
                   "appears with its newest\n"
                   "result, from runs with the newest driver and compiler of its device.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .examples = "  isophote report --store out/results.sqlite -o out/report.html\n",
    };
    size_t args;
    int status = options_parse(argc, argv, &line, &args);
    if (status >= 0)
        return status;
    struct error err = {0};
    if (!store_name || !out) {
        error_msg(&err, STATUS_ARG, "report needs --store FILE and -o FILE");
        return report_error(&err, false);
    }
    int format = format_find(format_name, out);
    if (format < 0) {
        error_msg(&err, STATUS_ARG, "%s '%s': expected html, markdown, csv or junit",
                  format_name ? "unknown format" : "cannot tell the format of",
                  format_name ? format_name : out);
        return report_error(&err, false);
    }
    struct store *store;
    if (output_apart(out, store_name, &err) || store_open(store_name, true, &store, &err))
        return report_error(&err, false);
    enum status st = format == FORMAT_JUNIT
                         ? store_junit(store, 0, out, &err)
                         : report_write(store, (enum report_format)format, all_runs, out, &err);
    store_close(store);
    return st ? report_error(&err, false) : EXIT_PASS;
}
