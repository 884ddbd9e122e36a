/* bench: timing that can be trusted. No verdict, no timing: the picture of the timed runs is judged, outputs are poisoned before each. */
#ifndef ISOPHOTE_BENCH_H
#define ISOPHOTE_BENCH_H

#include "conformance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One thing to time. */
struct bench_subject {
    const char *scene_path, *device;
    struct render_job job; /* width and height 0: the scene's; sample_count 0: the scene's spp; max_depth 0, rr_depth 0 likewise */
};

struct bench_options {
    uint32_t warmup;          /* repetitions not counted; 0 means 1 */
    uint32_t min_repetitions, max_repetitions; /* 0: 5 and 15 */
    double budget_s;          /* per subject; 0: 20 */
    double precision;         /* stop when the relative half interval is below; 0: 0.02 */
    bool judge;               /* false only for timing without ranking: rows then carry verdict ERROR */
    const char *program;      /* for the command of each row */
    struct store *store;
    int64_t run;
    /* each finished row */
    void (*each)(void *ctx, const struct bench_record *row);
    void (*progress)(void *ctx, const char *what, double share);
    void *ctx;
};

/* Interleaves the subjects' repetitions (A B C A B C ...) so that drift hits all alike. Every row is reported through each() and stored;
 * a subject that fails becomes a row with verdict and reason. Fails only for the whole: CANCELLED, MEMORY. */
enum status bench_run(const struct bench_subject *subjects, size_t count, const struct bench_options *o, struct error *err);

/* ---- statistics (closed forms: in statistics.c) -------------------------------------------------------- */

struct bench_stats {
    double median, low, high; /* distribution-free interval of the median (order statistics), >= 95% where n allows it */
    double confidence;        /* what the interval really holds */
    double iqr;
};
/* n >= 1; sorts a copy. */
enum status bench_statistics(const double *x, size_t n, struct bench_stats *out, struct error *err);
enum bench_relation { BENCH_FASTER, BENCH_SLOWER, BENCH_SAME, BENCH_AMBIGUOUS };
/* Two sets of rates: FASTER/SLOWER when the intervals are apart by more than threshold, SAME when both lie inside it, else AMBIGUOUS. */
enum bench_relation bench_compare(const struct bench_stats *a, const struct bench_stats *b, double threshold);

/* ---- sweeps --------------------------------------------------------------------------------------------- */

/* Axes: "work-group" (1x1 ...), "tile", "batch", "bvh", "mode". A value the device refuses is a row (SKIP with the reason). */
struct sweep_axis {
    const char *name;
    const char *const *values; /* NULL: the axis' default values for the device */
    size_t count;
};
struct sweep_options {
    struct bench_options bench;
    const struct sweep_axis *axes;
    size_t axis_count;
};
/* All combinations, each a bench row. Afterwards the set of settings tied with the best within noise, per scene and device, is said in
 * the rows' detail (key "tied") and in *best (arena text, one line per scene and device; may be NULL). */
enum status sweep_run(const struct bench_subject *subjects, size_t count, const struct sweep_options *o, struct arena *a,
                      const char **best, struct error *err);

/* JSON object: host name hash, cpu model, cores, clock governor, memory, os, kernel, compiler, versions of libraries, load, temperature and throttling where
 * the system tells. In the arena. */
const char *environment_json(struct arena *a);

#ifdef __cplusplus
}
#endif
#endif
