/* SPDX-License-Identifier: Apache-2.0 */
/* Trials: one setting of one subject, timed repetition by repetition, and the row it becomes. */
#ifndef ISOPHOTE_BENCH_TRIAL_H
#define ISOPHOTE_BENCH_TRIAL_H

#include "worker.h"

enum { REPETITIONS_MAX = 1000 }; /* made, with those that are left out */

/* Options with every default filled in. */
struct bench_limits {
    uint32_t warmup, min_repetitions, max_repetitions;
    bool least_holds; /* min_repetitions was asked for, and no budget was */
    double budget_s, precision, compile_timeout_s, run_timeout_s;
    bool keeps_films;
};
void bench_limits_fill(const struct bench_options *o, struct bench_limits *out);

/* A picture that was judged. */
struct judged {
    char hash[33];
    struct judgement judgement;
    struct film_record film; /* of a strict one that passed and is to be stored; sums NULL: none */
    struct judged *next;
};

/* One scene on one device in one mode with one tree: a worker, started again when it died. */
struct lane {
    const struct bench_subject *subject;
    struct worker_work work;
    struct worker worker;
    struct worker_ready ready;
    const char *inputs; /* lines that tell of the files that the worker read; NULL: not known */
    bool failed;        /* cannot be started: verdict and reason say why */
    enum verdict verdict;
    char reason[1200];
    struct judged *judged;
    unsigned deaths;
};

enum trial_state { TRIAL_RUNNING, TRIAL_DONE, TRIAL_WRITTEN };

struct trial {
    struct lane *lane;
    struct settings set;
    enum trial_state state;
    enum verdict verdict;
    char reason[1200];
    uint32_t warmed;
    double first_launch_s; /* in the first repetition that the worker made of this setting */
    size_t n;              /* repetitions timed, with those that are left out */
    struct repetition {
        double render_s, device_s, launch_setup_s, readback_s, wall_s;
        struct meter_reading meters;
        struct sensor_reading sensors;
    } * repetitions;
    double spent_s;
    struct worker_render last;
    struct judgement judgement;
    char hash[33];           /* of the judged picture */
    bool varies;             /* repetitions gave different bits (never in strict mode) */
    const char *stopped;     /* "precision", "repetitions", "budget", "interrupted", "eliminated" */
    struct bench_stats rate; /* once it is done and passed */
    const char *statistics;  /* an object; NULL: none were asked for or are to be had */
};

/* Where rows go. */
struct row_sink {
    struct arena *a; /* of the rows' strings */
    const struct bench_options *o;
    struct bench_limits limits;
    const char **devices; /* ids stored already */
    size_t device_count;
    struct film_record *films; /* stored already: settings give one picture */
    size_t film_count;
    void (*keep)(void *ctx, const struct bench_record *row); /* for sweeps; may be NULL */
    void *keep_ctx;
};

/* Starts the lane's worker if it does not run. False when it cannot be: lane->verdict and reason.
 * Fails: CANCELLED, MEMORY. */
enum status lane_start(struct lane *l, struct arena *a, const struct bench_limits *limits, bool *up,
                       struct error *err);
void lane_stop(struct lane *l);

/* One repetition, and the judgement when its picture is new. Whatever goes wrong is in the trial;
 * fails: CANCELLED, MEMORY. */
enum status trial_step(struct trial *t, struct arena *a, const struct bench_limits *limits,
                       bool judge, struct error *err);
/* Sets state to DONE when it has enough: precision, repetitions or budget. */
void trial_decide(struct trial *t, const struct bench_limits *limits);
/* The repetitions that figures are made of, and what their clocks were. Throttled ones never count.
 * Free ones and those at a cap are not mixed: the more frequent kind counts, free ones at a tie. */
size_t trial_counted(const struct trial *t, const struct repetition *out[REPETITIONS_MAX],
                     enum clocks *kind);
/* All reasons for which clocks were held down in its repetitions. */
uint32_t trial_reasons(const struct trial *t);
/* The picture of a trial that was judged; NULL: it was not. */
const struct judged *trial_judged(const struct trial *t);
/* The current median rate and interval; false when no repetition counts. */
bool trial_rate(const struct trial *t, struct bench_stats *out);

/* The execution model and what was asked of the program, as records and reports name it:
 * "megakernel", "megakernel, code path llvm, registers 48, cache l1". */
enum { PROGRAM_NAME_SIZE = 96 };
/* model: the one that ran, which a setting may leave to the device; AUTO: none did. */
void program_name(const struct settings *set, enum exec_model model, char name[PROGRAM_NAME_SIZE]);

/* What a row of the lane with these settings depends on; *out NULL when the options have no program
 * or the lane has no device. Fails: MEMORY, PARSE, TYPE. */
enum status row_identity(struct arena *a, const struct lane *l, const struct settings *set,
                         const struct bench_options *o, const struct identity **out,
                         struct error *err);

/* Makes the record, hands it to each() and the store. Fails: MEMORY, and what the store says. */
enum status trial_write(struct trial *t, struct row_sink *sink, struct error *err);

/* Rounds over the trials until all are done (or `rounds` of them were made, if not 0); writes those
 * that are done. After CANCELLED the trials with enough repetitions are written. */
enum status trials_run(struct trial **trials, size_t count, size_t rounds, struct row_sink *sink,
                       struct error *err);

/* Verdict for a failure of set-up or of a launch. */
enum verdict verdict_of_failure(enum status st);

#endif
