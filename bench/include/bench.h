/* SPDX-License-Identifier: Apache-2.0 */
/* bench: timing that can be trusted. No verdict, no timing: the picture of the timed runs is
 * judged, outputs are poisoned before each.
 *
 * Devices run in worker processes, forked from this one: one for each scene, device, mode and tree.
 * A crash or a hang costs one row. The caller must not have opened a device or started threads
 * before (a driver's threads do not survive a fork). docs/reference/benchmarks.md is the method in
 * full. */
#ifndef ISOPHOTE_BENCH_H
#define ISOPHOTE_BENCH_H

#include "conformance.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_REPETITIONS_MOST = 500 }; /* that count in a row */
/* Noise (interquartile range over the median) above which a row says so in words. */
#define BENCH_NOISE_BOUND 0.05

/* One thing to time. */
struct bench_subject {
    const char *scene_path, *device;
    struct render_job job; /* width and height 0: the scene's; sample_count 0: the scene's spp;
                              max_depth 0, rr_depth 0 likewise */
    bool seed_given;       /* false: the scene's seed */
};

struct bench_options {
    uint32_t warmup;                           /* repetitions not counted; 0 means 1 */
    uint32_t min_repetitions, max_repetitions; /* 0: 5 and 15; BENCH_REPETITIONS_MOST at most */
    double
        budget_s; /* per subject; 0: 20, and it does not end a row below a min_repetitions that is
                        given */
    double precision; /* stop when the relative half interval is below; 0: 0.02 */
    double compile_timeout_s, run_timeout_s; /* a worker that is silent for longer is ended: set-up
                                                and judging (0: 600), one repetition (0: 300) */
    bool judge;          /* false only for timing without ranking: rows then carry verdict ERROR */
    bool statistics;     /* rows' details have what device_statistics says */
    const char *program; /* for the command of each row; NULL: "isophote" */
    /* parts of every row's identity; NULL: rows have none, and sweeps resume by settings alone */
    const struct identity *program_identity, *environment;
    struct store *store; /* may be NULL */
    int64_t run;
    /* each finished row; its strings live until the call returns */
    void (*each)(void *ctx, const struct bench_record *row);
    void (*progress)(void *ctx, const char *what, double share);
    void *ctx;
};

/* Interleaves the subjects' repetitions (A B C A B C ...) so that drift hits all alike; at most 16
 * subjects of one call stand in one round, in the order given. Every row is reported through each()
 * and stored; a subject that fails becomes a row with verdict and reason. The devices met are
 * stored once. Fails only for the whole: CANCELLED (rows with enough repetitions are kept), MEMORY,
 * a scene that cannot be read (PARSE, TYPE, RANGE, IO), and what the store says. */
enum status bench_run(const struct bench_subject *subjects, size_t count,
                      const struct bench_options *o, struct error *err);

/* What devices_list or device_find (wanted) would say, asked in a process of its own, so that this
 * one stays without drivers. wanted NULL: all. */
enum status bench_devices(struct arena *a, const char *const *wanted, size_t wanted_count,
                          struct device_info **out, size_t *count, struct error *err);

/* The settings as the command line takes them: "--mode strict --bvh auto --work-group 8x4", and
 * " --width 64 ..." of the job itself. */
void settings_options(const struct settings *set, struct text *out);
void job_options(const struct render_job *job, struct text *out);

/* A device as the store keeps it: *out points into *d, and its detail (limits, features) into the
 * arena. NULL when out of memory. */
const char *device_record_fill(struct arena *a, const struct device_info *d,
                               struct device_record *out);

/* ---- statistics (closed forms: in statistics.c) --------------------------------------------- */

struct bench_stats {
    double median, low, high; /* distribution-free interval of the median (order statistics), >= 95%
                                 where n allows it */
    double confidence; /* what the interval really holds: 1 - 2^(1-n) for n < 6, 0 for n = 1 */
    double iqr;        /* between the quartiles, linear between order statistics */
};
/* n >= 1, all finite; sorts a copy. Fails: ARG, MEMORY. */
enum status bench_statistics(const double *x, size_t n, struct bench_stats *out, struct error *err);
enum bench_relation { BENCH_FASTER, BENCH_SLOWER, BENCH_SAME, BENCH_AMBIGUOUS };
/* Two sets of rates: FASTER/SLOWER when the intervals are apart by more than threshold, SAME when
 * both lie inside it, else AMBIGUOUS. (rate_compare of reports.h.) */
enum bench_relation bench_compare(const struct bench_stats *a, const struct bench_stats *b,
                                  double threshold);

/* ---- sweeps --------------------------------------------------------------------------------- */

/* One of axis_table (axes.c), which has the values it takes and those it has without any; of
 * work-group: all powers of two in both directions up to the picture's size, those beyond the
 * device's limit included (they show as refused), and some odd shapes. A value that the device
 * refuses is a row (SKIP with the reason). */
struct sweep_axis {
    const char *name;
    const char *const *values; /* NULL: the axis' default values for the device */
    size_t count;
};
enum sweep_strategy { SWEEP_FULL, SWEEP_RANDOM, SWEEP_HALVING };
struct sweep_options {
    struct bench_options bench; /* budget_s 0: 3; min and max repetitions 0: 3 and 7 */
    const struct sweep_axis *axes;
    size_t axis_count;
    /* "items<=256", "items>=32", "x>=y", "y>=x", "square", "divides-tile", "divides-picture":
     * settings that break one are left out */
    const char *const *constraints;
    size_t constraint_count;
    enum sweep_strategy strategy;
    uint32_t random_count; /* SWEEP_RANDOM: settings tried for each scene, device, mode and tree */
    uint64_t random_seed;
    bool resume; /* rows that the store already has for `run` are not timed again */
};
/* All combinations, each a bench row. Afterwards *best (arena text; may be NULL) says for each
 * scene and device the settings tied with the best within noise, and what one setting for all
 * scenes would lose. Fails like bench_run; ARG/TYPE for a bad axis, value or constraint. */
enum status sweep_run(const struct bench_subject *subjects, size_t count,
                      const struct sweep_options *o, struct arena *a, const char **best,
                      struct error *err);
/* Checks axes and constraints without running anything. */
enum status sweep_check(const struct sweep_options *o, struct error *err);

/* ---- kinds of numbers ----------------------------------------------------------------------- */

/* The axis number-format: one picture for each scene and kind of number, by number_formats, a
 * tracer of spheres, boxes and media that is installed with the program and runs on this
 * processor, by linear search; each against the same paths in double. */
extern const char number_formats_usual[]; /* names, parted by commas */
struct number_format_options {
    const char *formats;         /* names, parted by commas; NULL: number_formats_usual */
    uint32_t width, height, spp; /* not 0 */
    uint32_t max_depth;          /* 0: the scene's */
    uint64_t seed;               /* where it is given; else the scene's */
    bool seed_given;
    const char *program; /* for the command of each row; NULL: "isophote" */
    struct store *store; /* may be NULL */
    int64_t run;
    /* each finished row; its strings live until the call returns */
    void (*each)(void *ctx, const struct number_format_record *row);
    void (*progress)(void *ctx, const char *what, double share); /* may be NULL */
    void *ctx;
};
struct number_format_end {
    size_t measured, broken; /* rows with figures; those whose process failed */
};
/* Each row is stored and told. A format or scene that cannot be is a row with the reason. Fails
 * only for the whole: TYPE for a name that is no format or a width out of range, with its column;
 * PARSE for a scene that cannot be read; MISSING without the tool, CANCELLED, MEMORY, and what the store says. */
enum status number_formats_run(const char *const *scenes, size_t count,
                               const struct number_format_options *o, struct number_format_end *end,
                               struct error *err);
/* Checks names without running anything. */
enum status number_formats_check(const char *formats, struct error *err);

/* JSON object: host name hash, cpu model, cores, clock governor, memory, os, kernel, compiler,
 * versions of libraries, load, temperature and throttling where the system tells. In the arena;
 * NULL when out of memory. */
const char *environment_json(struct arena *a);

#ifdef __cplusplus
}
#endif
#endif
