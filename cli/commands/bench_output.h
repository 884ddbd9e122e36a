/* SPDX-License-Identifier: Apache-2.0 */
/* What bench and sweep share: rows for people and for programs, the run in the store, exit
 * statuses. */
#ifndef ISOPHOTE_CLI_BENCH_OUTPUT_H
#define ISOPHOTE_CLI_BENCH_OUTPUT_H

#include "bench.h"
#include "cli.h"

/* What both are told; their settings start with it. */
struct timing_options {
    struct render_options common;
    const char *store;
    struct bench_options bench;
};
/* The rows for it; the numbers are the texts of their defaults. */
// clang-format off
#define TIMING_OPTIONS(least, most, seconds, row)                                                             \
    {"--store", OPTION_STRING, offsetof(struct timing_options, store), "FILE",                                \
     .help = "adds the rows to this result store; made if it is not there", .writes = FILE_STORE},            \
    {"--repetitions", OPTION_UINT, offsetof(struct timing_options, bench.min_repetitions), "N",               \
     .help = "at least so many timed repetitions", .otherwise = (least)},                                     \
    {"--max-repetitions", OPTION_UINT, offsetof(struct timing_options, bench.max_repetitions), "N",           \
     .help = "and at most so many", .otherwise = (most)},                                                     \
    {"--budget", OPTION_ABOVE_ZERO, offsetof(struct timing_options, bench.budget_s), "S",                      \
     .help = "seconds for the repetitions of one " row "; without it --repetitions hold however long they take", .otherwise = (seconds)},                              \
    {"--precision", OPTION_ABOVE_ZERO, offsetof(struct timing_options, bench.precision), "R",                  \
     .help = "stop when half the interval is below this share of the median", .otherwise = "0.02"},           \
    {"--run-budget", OPTION_ABOVE_ZERO, offsetof(struct timing_options, bench.run_timeout_s), "S",             \
     .help = "a repetition that takes longer is an ERROR", .otherwise = "300"}
// clang-format on

/* Opens the store (NULL: none) and adds a run of `kind`, or takes up the newest one of that kind
 * with `resume`; starts the document; sets each, progress, ctx, store, run and program of the
 * options and calls `work`; ends the document (with what `work` gives as the key "best" unless
 * NULL) and closes the store. The exit status. */
int bench_output_run(const char *kind, const char *store, bool resume, bool json,
                     struct bench_options *options,
                     enum status (*work)(void *ctx, const char **best, struct error *err),
                     void *ctx);

/* The same for rows of kinds of numbers, as a run of kind `number-format`, which no sweep resumes; sets store, run, each, progress, ctx
 * and program. */
int formats_output_run(const char *const *scenes, size_t count, const char *store, bool json,
                       struct number_format_options *options);

/* Paths of scenes by name or path (none given: `defaults`, ending with NULL), which can be read.
 * Fails: MISSING, IO, TYPE, MEMORY. */
enum status bench_scenes(struct arena *a, char **names, size_t name_count,
                         const char *const *defaults, const char ***out, size_t *count,
                         struct error *err);
/* Those times devices (none given: all
 * found). Fails: MISSING (a device, *device_step; or a scene), IO, TYPE, MEMORY. */
enum status bench_subjects(struct arena *a, char **names, size_t name_count,
                           const char *const *defaults, const struct render_options *r,
                           struct bench_subject **out, size_t *count, bool *device_step,
                           struct error *err);

#endif
