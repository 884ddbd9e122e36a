/* SPDX-License-Identifier: Apache-2.0 */
/* isophote compare: two stores, and whether the new one is worse. */
#include "cli.h"

#include "reports.h"

struct compare_command {
    double threshold;
    bool json;
};

static int run(void *settings, const struct arguments *args)
{
    const struct compare_command *c = settings;
    struct error err = {0};
    struct store *stores[2] = {NULL, NULL};
    struct text text = {0};
    size_t findings = 0;
    enum status st = STATUS_OK;
    for (int i = 0; i < 2 && !st; i++)
        st = store_open(args->words[i], true, &stores[i], &err);
    bool opened = !st;
    if (!st)
        st = report_compare(stores[0], stores[1], c->threshold / 100, c->json, &text, &findings,
                            &err);
    store_close(stores[0]);
    store_close(stores[1]);
    int status;
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

#define AT(member) offsetof(struct compare_command, member)
static const struct option options[] = {
    {"--threshold", OPTION_FROM_ZERO, AT(threshold), "PERCENT",
     .help = "changes of a rate below this do not count", .preset = "3"},
    JSON_OPTION(AT(json)),
};
const struct command command_compare = {
    .name = "compare",
    .group = "results",
    .line = "compare two result stores: regressions and improvements",
    .usage = "isophote compare OLD NEW [options]",
    .summary = "Compares two result stores: verdicts that changed, and rates that are faster, "
               "slower, the same or ambiguous by the intervals of their medians.\n"
               "Exit status 1 when the new store is worse: a case or row that passed and no longer "
               "does or is gone, or a rate that is slower; 0 otherwise; 77 when the two have "
               "nothing in common.",
    .examples = "isophote compare last-week.sqlite out/results.sqlite --threshold 5",
    .argument = "FILE",
    .reads = true,
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct compare_command),
    .min_args = 2,
    .max_args = 2,
    .run = run,
};
