/* isophote compare: two stores, and whether the new one is worse. */
#include "cli.h"

#include "reports.h"

int cmd_compare(int argc, char **argv)
{
    double threshold = 3;
    bool json = false;
    const struct option options[] = {
        {"--threshold", OPTION_DOUBLE, &threshold, "PERCENT",
         "changes of a rate below this do not count (default 3)", NULL},
        {"--json", OPTION_FLAG, &json, NULL, "one JSON document on standard output", NULL},
    };
    const struct command_line line = {
        .usage = "isophote compare OLD NEW [options]",
        .summary = "Compares two result stores: verdicts that changed, and rates that are faster, "
                   "slower, the same or\n"
                   "ambiguous by the intervals of their medians. Exit status 1 when the new store "
                   "is worse: a case\n"
                   "or row that passed and no longer does or is gone, or a rate that is slower; 0 "
                   "otherwise; 77 when\n"
                   "the two have nothing in common.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .min_args = 2,
        .max_args = 2,
        .examples = "  isophote compare last-week.sqlite out/results.sqlite --threshold 5\n",
    };
    size_t args;
    int status = options_parse(argc, argv, &line, &args);
    if (status >= 0)
        return status;
    struct error err = {0};
    struct store *stores[2] = {NULL, NULL};
    struct text text = {0};
    size_t findings = 0;
    enum status st = STATUS_OK;
    if (threshold < 0)
        st = error_msg(&err, STATUS_ARG, "--threshold: expected a number from 0, found %g",
                       threshold);
    for (int i = 0; i < 2 && !st; i++)
        st = store_open(argv[1 + i], true, &stores[i], &err);
    bool opened = !st;
    if (!st)
        st = report_compare(stores[0], stores[1], threshold / 100, json, &text, &findings, &err);
    store_close(stores[0]);
    store_close(stores[1]);
    if (st) {
        status = report_error(&err, opened);
    } else {
        status = findings ? EXIT_FINDING : EXIT_PASS;
        if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0) {
            error_msg(&err, STATUS_IO, "standard output could not be written");
            status = report_error(&err, false);
        }
    }
    text_free(&text);
    return status;
}
