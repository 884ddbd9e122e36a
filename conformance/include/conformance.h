/* conformance: cases, verdicts, the runner. Judges devices against the reference, closed forms and each other. */
#ifndef ISOPHOTE_CONFORMANCE_H
#define ISOPHOTE_CONFORMANCE_H

#include "backends.h"
#include "reference.h"
#include "reports.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cases ------------------------------------------------------------------------------------ */

/* Names are `level.group.case`, stable over releases: they are keys. The tables of all levels together with lists/ *.txt
 * (versioned lists of names; a device is conformant when every case of `core` passes) are the suite. */
struct conform_case {
    const char *name;
    const char *level; /* "kernel", "image", "invariance" */
    const char *text;  /* what it asks, one line */
};
/* All cases: those of the tables, and the image cases of each scene given (paths; NULL and 0: the embedded library). */
enum status conform_cases(struct arena *a, const char *const *scenes, size_t scene_count, const struct conform_case **out,
                          size_t *count, struct error *err);

/* Result of one case on one device; strings live in the arena given to conform_run_case. */
struct conform_result {
    enum verdict verdict;
    const char *reason, *replay, *detail;
    double compile_s, run_s;
    struct image_record *images; /* pictures worth showing: picture, reference, difference */
    size_t image_count;
};
/* Runs one case in this process. Returns OK whenever a verdict was reached (ERROR included). */
enum status conform_run_case(struct arena *a, const char *name, const char *device, struct conform_result *out,
                             struct error *err);

struct conform_options {
    const char *const *devices;  /* ids; NULL: all found */
    size_t device_count;
    const char *const *levels;   /* NULL: all */
    size_t level_count;
    const char *const *scenes;   /* more scenes than the embedded ones */
    size_t scene_count;
    const char *list;            /* a list's name or file; NULL: "core" */
    const char *filter;          /* POSIX extended regular expression on names; NULL: all */
    uint32_t shard, shards;      /* 1-based; 0: no sharding */
    double compile_budget_s, run_budget_s; /* per case; 0: defaults (300, 120) */
    const char *journal;         /* path; NULL: beside the store */
    bool resume;                 /* skip what the journal has finished */
    const char *waivers;         /* path or NULL */
    const char *worker;          /* path of the program that runs `worker CASE DEVICE` (this executable) */
    struct store *store;         /* may be NULL */
    int64_t run;                 /* run id in the store */
    unsigned jobs;               /* worker processes at once; 0: 1 */
    void (*each)(void *ctx, size_t done, size_t total, const char *device, const struct conform_case *c,
                 const struct conform_result *r);
    void *each_ctx;
};
struct conform_summary {
    size_t count[VERDICT_COUNT];
    size_t total, waived, unexpected_pass;
};
/* One worker process a case, compile and run budgets apart: a crash, a hang or a memory blow-up costs one case (ERROR or FAIL with
 * what happened). Fails: ARG/TYPE for a bad filter or list, CANCELLED (the journal is kept). */
enum status conform_run(const struct conform_options *o, struct conform_summary *sum, struct error *err);

/* What the worker process does: runs the case, writes its result as one JSON document to `fd`. */
enum status conform_worker(const char *name, const char *device, int fd, struct error *err);

/* ---- judging one picture, used by bench too ------------------------------------------------------------ */

/* strict: compares bits with the native device's strict picture of the same job; device and fast: against the reference's truth
 * statistically, and lockstep for the first samples. The job's film is given. */
struct judgement {
    enum verdict verdict;
    char reason[512];
    double mse, relmse, psnr, ssim, flip; /* NaN where not computed */
    double worst_z, share_outliers;
};
enum status conform_judge(const struct scene *s, const char *device, const struct render_job *job, const struct film *film,
                          struct judgement *out, struct error *err);

/* First divergent sample, vertex and field between the reference and a device on the same random numbers, over all pixels and samples of the job
 * (cut at `max_samples`). *divergent 0: none beyond the stated error. text: one line naming x, y, sample, vertex, field and both values, and
 * whether the decision margin makes it benign. */
struct divergence {
    uint64_t compared, benign, divergent;
    uint32_t x, y, sample, vertex;
    char field[32];
    double reference_value, device_value, margin;
    char text[512];
};
enum status conform_lockstep(struct device *d, const struct scene *s, const struct render_job *job, uint64_t max_samples,
                             struct divergence *out, struct error *err);

#ifdef __cplusplus
}
#endif
#endif
