/* What bench and sweep share: rows for people and for programs, the run in the store, exit
 * statuses. */
#ifndef ISOPHOTE_CLI_BENCH_OUTPUT_H
#define ISOPHOTE_CLI_BENCH_OUTPUT_H

#include "bench.h"
#include "cli.h"

struct bench_output {
    struct arena arena;
    bool json;
    struct json_writer writer; /* an open document with an open array of rows */
    size_t count[VERDICT_COUNT];
    struct store *store;
    struct run_record run;
};

/* Opens the store (NULL: none) and adds a run of `kind`, or takes up the newest one of that kind
 * with `resume`. Starts the document. */
enum status bench_output_open(struct bench_output *o, const char *kind, const char *store,
                              bool resume, bool json, struct error *err);
/* Sets each, progress, ctx, store, run and program of the options. */
void bench_output_connect(struct bench_output *o, struct bench_options *options);
/* Ends the document (with `best` as the key "best" unless NULL), closes the store; the exit status.
 */
int bench_output_close(struct bench_output *o, const char *best, enum status st,
                       const struct error *err);

/* Scenes by name or path (none given: `defaults`, ending with NULL) times devices (none given: all
 * found). Fails: MISSING, TYPE, MEMORY. */
enum status bench_subjects(struct arena *a, char **names, size_t name_count,
                           const char *const *defaults, const struct render_options *r,
                           struct bench_subject **out, size_t *count, struct error *err);

#endif
