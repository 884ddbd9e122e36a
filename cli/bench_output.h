/* What bench and sweep share: rows for people and for programs, the run in the store, exit
 * statuses. */
#ifndef ISOPHOTE_CLI_BENCH_OUTPUT_H
#define ISOPHOTE_CLI_BENCH_OUTPUT_H

#include "bench.h"
#include "cli.h"

/* Options that both have; the numbers are the texts of their defaults. */
// clang-format off
#define TIMING_OPTIONS(store, bench, least, most, seconds, row)                                              \
    {"--store", OPTION_STRING, (store), "FILE",                                                              \
     "adds the rows to this result store; made if it is not there", NULL},                                   \
    {"--repetitions", OPTION_UINT, &(bench)->min_repetitions, "N",                                           \
     "at least so many timed repetitions (default " least ")", NULL},                                        \
    {"--max-repetitions", OPTION_UINT, &(bench)->max_repetitions, "N",                                       \
     "and at most so many (default " most ")", NULL},                                                        \
    {"--budget", OPTION_DOUBLE, &(bench)->budget_s, "S",                                                     \
     "seconds for the repetitions of one " row " (default " seconds ")", NULL},                              \
    {"--precision", OPTION_DOUBLE, &(bench)->precision, "R",                                                 \
     "stop when half the interval is below this share of the median (default 0.02)", NULL},                  \
    {"--timeout", OPTION_DOUBLE, &(bench)->run_timeout_s, "S",                                               \
     "a repetition that takes longer is an ERROR (default 300)", NULL}
// clang-format on

/* Opens the store (NULL: none) and adds a run of `kind`, or takes up the newest one of that kind
 * with `resume`; starts the document; sets each, progress, ctx, store, run and program of the
 * options and calls `work`; ends the document (with what `work` gives as the key "best" unless
 * NULL) and closes the store. The exit status. */
int bench_output_run(const char *kind, const char *store, bool resume, bool json,
                     struct bench_options *options,
                     enum status (*work)(void *ctx, const char **best, struct error *err),
                     void *ctx);

/* Scenes by name or path (none given: `defaults`, ending with NULL) times devices (none given: all
 * found). Fails: MISSING (a device, *device_step; or a scene), IO, TYPE, MEMORY. */
enum status bench_subjects(struct arena *a, char **names, size_t name_count,
                           const char *const *defaults, const struct render_options *r,
                           struct bench_subject **out, size_t *count, bool *device_step,
                           struct error *err);

#endif
