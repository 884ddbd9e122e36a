/* SPDX-License-Identifier: Apache-2.0 */
/* reports: the result store (one SQLite file) and what is made of it: HTML, Markdown, CSV, JSON
 * Lines, JUnit XML, comparisons. Knows the record format and nothing about who wrote a record. */
#ifndef ISOPHOTE_REPORTS_H
#define ISOPHOTE_REPORTS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- records ------------------------------------------------------------------------------- */

#define VERDICT_LIST(X)                                                                            \
    X(PASS, "judged, and right")                                                                   \
    X(FAIL, "judged, and wrong")                                                                   \
    X(SKIP, "not applicable here, for the reason given")                                           \
    X(ERROR, "could not be judged")
enum verdict {
#define X(name, text) VERDICT_##name,
    VERDICT_LIST(X)
#undef X
        VERDICT_COUNT
};
const char *verdict_name(enum verdict v); /* "PASS" */

/* Strings are borrowed for the time of the call; NULL is stored as NULL. */
struct run_record {
    int64_t id;       /* given by the store */
    const char *kind; /* "conform", "bench", "sweep", "number-format", "import" */
    const char *started_utc;
    const char *command;     /* the exact command line, shell-quoted */
    const char *environment; /* JSON object: host, cpu, os, compiler, clocks ... */
    const char *selection;   /* of conform: JSON object: list, its hash and cases, shard, filter */
};
/* What determines results: an identity of base.h, so that stores and what is made of them can say in
 * what two results differ. */
struct identity_record {
    const char *key, *kind;
    const char *parts; /* JSON object: name -> value; of an inner identity the value is its key */
};
struct device_record {
    const char *id, *api, *name, *vendor, *driver, *version, *compiler, *kind;
    const char *detail;   /* JSON: limits, features */
    const char *identity; /* key; NULL if not known, here and below */
};
struct case_record {
    const char *name;   /* "image.strict.cornell" */
    const char *device; /* device id */
    enum verdict verdict;
    const char *reason; /* one line: why SKIP, ERROR or FAIL; measured values of a PASS */
    const char *replay; /* the command that shows just this; NULL if none */
    const char *detail; /* JSON: metrics, first divergence ... */
    double compile_s, run_s;
    bool waived; /* a listed waiver applies */
    const char *identity;
    const char
        *skip;   /* of a SKIP, by a list of expected ones: "expected", "unexpected"; else NULL */
    bool listed; /* of the run's list; a scene that the user named is not */
    const char *rerun; /* of a case that was run several times: "agreed", "differed"; else NULL */
    const char *runs;  /* JSON array: verdict, reason, replay, detail and seconds of each run */
    const char
        *shared; /* the case that lost its worker on this device meanwhile or next, or NULL */
};
/* Phases of a session in their order (the sources' Table 5.1, widened): the keys of
 * bench_record.phases. */
#define PHASE_LIST(X)                                                                              \
    X(configuration, "configuration")                                                              \
    X(textures, "textures")                                                                        \
    X(materials, "materials")                                                                      \
    X(objects, "objects")                                                                          \
    X(geometry, "geometry")                                                                        \
    X(bvh, "BVH")                                                                                  \
    X(upload, "upload")                                                                            \
    X(compile, "kernel compile")                                                                   \
    X(first_launch, "first launch")                                                                \
    X(launch_setup, "launch set-up")                                                               \
    X(render, "render")                                                                            \
    X(readback, "read-back")
enum phase {
#define X(key, text) PHASE_##key,
    PHASE_LIST(X)
#undef X
        PHASE_COUNT
};
extern const struct phase_name {
    const char *key, *text;
} phase_names[PHASE_COUNT];

/* One row of bench or sweep: one scene, device, mode and setting. */
struct bench_record {
    const char *scene, *device, *mode;
    const char *bvh, *model;
    uint32_t width, height, spp, max_depth;
    uint32_t work_group[2], tile[2], batch;
    enum verdict
        verdict; /* of the picture of the timed runs; rows that are not PASS carry no timing */
    const char *reason;
    double samples_per_s; /* median; camera samples per second of the render phase; 0 unless PASS */
    double interval[2];   /* of the median, at the stated confidence */
    double noise;         /* relative: interquartile range over the median */
    uint32_t repetitions;
    const char *notes; /* what must be said beside the rate: noise, throttling; or NULL */
    /* JSON object: phase -> {"median_s", "interval", "device_s"}; docs/reference/store.md */
    const char *phases;
    const char
        *detail; /* JSON: every repetition's seconds, image metrics, memory, build info ... */
    const char *command; /* gives this row again */
    const char *identity;
};
#define IMAGE_KIND_LIST(X)                                                                         \
    X(PICTURE, "picture")                                                                          \
    X(REFERENCE, "reference")                                                                      \
    X(DIFFERENCE, "difference")                                                                    \
    X(SIGNIFICANCE, "significance")
enum image_kind {
#define X(name, text) IMAGE_##name,
    IMAGE_KIND_LIST(X)
#undef X
        IMAGE_KIND_COUNT
};
struct image_record {
    const char *scene, *device, *mode;
    enum image_kind kind;
    uint32_t width, height;
    const void *png;
    size_t png_size;
    const char *caption;
    const char *identity;
};

/* A film that was judged bit for bit, by the sums of its tiles (docs/reference/archive.md), so that
 * somebody else can render some of them again. */
struct film_record {
    const char *name, *device; /* of the case */
    const char *job;           /* JSON object: width, height, samples, seed ... */
    uint32_t tile;             /* pixels of a tile's side */
    const char *root;          /* film_root of the job and the sums */
    const void *sums;          /* one struct sum a tile */
    size_t sums_size;
    const char *identity;
};

/* A picture by a tracer that computes in one kind of numbers, against the same paths in double:
 * a row of `sweep --axis number-format`. Nothing is judged. */
struct number_format_record {
    const char *scene, *format; /* "cornell", "fixed16.16" */
    const char *how;            /* "emulated": what does its arithmetic */
    uint32_t bits, width, height, spp, max_depth;
    const char *reason;   /* why there is no picture; NULL: there is one, else all below are 0 */
    double mean[3];       /* R G B over the picture's pixels */
    double double_green;  /* of the picture in double, mean[1] */
    double rmse, relmse;  /* of the pixels; relmse: mean of (x - r)^2 / (r^2 + 0.01) */
    double us_per_sample; /* of the processor */
    double times_double;  /* that over double's, taken in one process */
    const char *command;  /* gives this row again */
};

/* The row as one JSON object, as `bench --json` prints it: the keys of JSON Lines, but pairs as
 * arrays (work_group, tile, interval), phases and detail nested, and samples_per_s null unless
 * PASS. */
void bench_record_json(struct json_writer *w, const struct bench_record *b);
void number_format_record_json(struct json_writer *w, const struct number_format_record *r);

/* ---- the store ------------------------------------------------------------------------------ */

struct store;
#define STORE_SCHEMA_VERSION 5
/* Opens or creates; read_only never creates. A store of an older schema is brought to ours, or, when
 * it is read only, read as one without what came later. Fails: MISSING, IO, TYPE (not a store), UNSUPPORTED (a
 * schema newer than ours, naming both). An open store must not be used on both sides of a fork. */
enum status store_open(const char *path, bool read_only, struct store **out, struct error *err);
void store_close(struct store *s); /* accepts NULL */
/* Each call is one transaction, so that an interrupted session keeps what it had. Safe for several
 * processes (busy waits). JSON fields are checked and kept in a compact form. Fails: ARG (a key
 * that is NULL, a number that is not finite, JSON that is not, a rate on a row that did not pass),
 * IO, TIMEOUT (another process held the store for a minute). */
enum status store_add_run(struct store *s, struct run_record *r,
                          struct error *err); /* sets r->id */
/* With the inner ones, each once for a run. */
enum status store_add_identity(struct store *s, int64_t run, const struct identity *id,
                               struct error *err);
enum status store_add_device(struct store *s, int64_t run, const struct device_record *d,
                             struct error *err);
enum status store_add_case(struct store *s, int64_t run, const struct case_record *c,
                           struct error *err);
enum status store_add_bench(struct store *s, int64_t run, const struct bench_record *b,
                            struct error *err);
enum status store_add_image(struct store *s, int64_t run, const struct image_record *i,
                            struct error *err);
enum status store_add_film(struct store *s, int64_t run, const struct film_record *f,
                           struct error *err);
enum status store_add_number_format(struct store *s, int64_t run,
                                    const struct number_format_record *r, struct error *err);
/* What is in it, in the order of adding; a run of 0 means all runs. Everything in the arena. */
enum status store_runs(struct store *s, struct arena *a, struct run_record **out, size_t *count,
                       struct error *err);
enum status store_devices(struct store *s, struct arena *a, int64_t run, struct device_record **out,
                          size_t *count, struct error *err);
enum status store_bench_rows(struct store *s, struct arena *a, int64_t run,
                             struct bench_record **out, size_t *count, struct error *err);
enum status store_cases(struct store *s, struct arena *a, int64_t run, struct case_record **out,
                        size_t *count, struct error *err);
enum status store_identities(struct store *s, struct arena *a, int64_t run,
                             struct identity_record **out, size_t *count, struct error *err);
enum status store_films(struct store *s, struct arena *a, int64_t run, struct film_record **out,
                        size_t *count, struct error *err);
/* JSON Lines, one record a line, with a type key (docs/reference/store.md). Runs are numbered 1, 2
 * ... in the lines, so that export, import into an empty store and export again give the same
 * bytes. Import adds them as new runs, all or nothing; `path` names the data in messages. */
enum status store_export(struct store *s, FILE *out, struct error *err);
enum status store_export_run(struct store *s, int64_t run, FILE *out, struct error *err);
enum status store_import(struct store *s, const char *path, const char *data, size_t size,
                         struct error *err);
/* JUnit XML of one run's cases (0: the last conform run). */
enum status store_junit(struct store *s, int64_t run, const char *path, struct error *err);

/* ---- sums and archives ---------------------------------------------------------------------- */

struct sum { /* SHA-256 */
    uint8_t bytes[32];
};
void sum_of(const void *data, size_t size, struct sum *out);
void sum_hex(const struct sum *s, char hex[65]);
/* RFC 9162, section 2.1.1: leaves and nodes are hashed with different first bytes. */
void sum_leaf(const void *data, size_t size, struct sum *out);
void sum_tree(const struct sum *leaves, size_t count, struct sum *out);
/* The root of a film: of its job's text, the tile's side, the count of tiles and their tree. */
void film_root(const char *job, uint32_t tile, const struct sum *sums, size_t count, char hex[65]);

/* What a reader takes, in bytes. */
#define ARCHIVE_MOST ((size_t)1 << 31)
/* One run, as `isophote submit` packs it: a tar file of exactly one form, so that the same run gives
 * the same bytes, with the length and sum of each member in its first (docs/reference/archive.md). */
#define ARCHIVE_MEMBER_LIST(X)                                                                     \
    X(RESULTS, "results.jsonl")                                                                    \
    X(ENVIRONMENT, "environment.json")                                                             \
    X(LIST, "list.txt")                                                                            \
    X(WAIVERS, "waivers.json")                                                                     \
    X(SKIPS, "skips.json")                                                                         \
    X(JOURNAL, "journal.jsonl")
enum archive_member {
#define X(id, name) ARCHIVE_##id,
    ARCHIVE_MEMBER_LIST(X)
#undef X
        ARCHIVE_COUNT
};
const char *archive_member_name(enum archive_member m);
struct archive {
    struct {
        const char *data; /* NULL: it has none */
        size_t size;
    } members[ARCHIVE_COUNT];
};
enum status archive_write(const struct archive *in, struct text *out, struct error *err);
/* Members point into data. Fails: PARSE, with the place, for what archive_write would not have
 * written; MISMATCH for a member that is not what the manifest says. */
enum status archive_read(struct arena *a, const char *path, const char *data, size_t size,
                         struct archive *out, struct error *err);

/* ---- what a verdict comes to --------------------------------------------------------------- */

/* One table (outcome.c) of verdict, waiver, expected skip and rerun, which everything that says how
 * a case ended asks: exit status, terminal, JUnit, report and annotations agree. */
enum skip_kind { SKIP_UNASKED, SKIP_EXPECTED, SKIP_UNEXPECTED }; /* unasked: there is no list */
enum rerun { RERUN_NONE, RERUN_AGREED, RERUN_DIFFERED }; /* verdicts of a case's several runs */
enum counts_as { COUNTS_PASS, COUNTS_FINDING, COUNTS_NEUTRAL };
enum junit_element { JUNIT_PASSED, JUNIT_SKIPPED, JUNIT_FAILURE, JUNIT_ERROR, JUNIT_COUNT };
struct outcome {
    enum counts_as counts; /* a finding makes the exit status 1 */
    bool judged;           /* an answer was compared; a run that judged nothing is not green */
    enum junit_element junit;
    const char *word;       /* on a terminal */
    const char *html;       /* class in the report */
    const char *annotation; /* "error", "notice"; NULL: none */
};
struct outcome outcome_of(enum verdict v, bool waived, enum skip_kind skip, enum rerun rerun);
struct outcome outcome_of_case(const struct case_record *c);
const char *rerun_name(enum rerun r); /* "agreed"; NULL of RERUN_NONE */
bool rerun_parse(const char *name, enum rerun *out);

struct outcome_sum {
    size_t total, findings, passed, judged;
    size_t junit[JUNIT_COUNT];
};
void outcome_add(struct outcome_sum *sum, const struct outcome *o);
/* Exit status 1, 0 and 77. Green is a run in which something passed: one whose findings are all
 * waived has shown nothing. */
enum run_end { RUN_FINDING, RUN_GREEN, RUN_NOTHING };
enum run_end outcome_end(const struct outcome_sum *sum);

/* ---- what people read ----------------------------------------------------------------------- */

enum report_format { REPORT_HTML, REPORT_MARKDOWN, REPORT_CSV };
/* Of all the stores together. HTML: one self-contained file, no outside links. Of each case and each benchmark row the newest
 * result is shown, per device and host, from runs with the device's newest driver and compiler;
 * with all_runs, older drivers and compilers stand beside as columns of their own. */
enum status report_write(struct store *const *stores, size_t count, enum report_format format,
                         bool all_runs, const char *path, struct error *err);
/* What HTML shows beside the stores. */
struct report_extras {
    const char *const *tables; /* files NAME.json of tools/experiments */
    size_t table_count;
    const char *const *pages; /* files of HTML that hold all that they show: of tools/coverage and
                                 tools/mutants_page. Each in a frame of its own, by its title */
    size_t page_count;
};
/* The same with them. Fails also: MISSING, PARSE, TYPE (with the place in a table's file), LIMIT
 * (a page of more than 64 MiB). */
enum status report_write_with(struct store *const *stores, size_t count, enum report_format format,
                              bool all_runs, const struct report_extras *extras, const char *path,
                              struct error *err);

/* What sweep rows say, for a terminal: for each scene, device and mode the best setting and those
 * tied with it within noise; for each device and mode with several scenes the one setting with the
 * largest geometric mean, and what each scene loses by it. In the arena. Fails: MEMORY. */
enum status report_tuning(struct arena *a, const struct bench_record *rows, size_t count,
                          const char **out, struct error *err);

/* Two rates by the intervals of their medians, a against b. With the ratio's bounds [a_low/b_high,
 * a_high/b_low]: FASTER above 1 + threshold, SLOWER below 1/(1 + threshold), SAME inside both, else
 * AMBIGUOUS: the data cannot tell. */
#define RATE_RELATION_LIST(X)                                                                      \
    X(FASTER, "faster")                                                                            \
    X(SLOWER, "slower")                                                                            \
    X(SAME, "same")                                                                                \
    X(AMBIGUOUS, "ambiguous")
enum rate_relation {
#define X(name, text) RATE_##name,
    RATE_RELATION_LIST(X)
#undef X
        RATE_RELATION_COUNT
};
const char *rate_relation_name(enum rate_relation r); /* "faster" */
enum rate_relation rate_compare(const double a[2], const double b[2], double threshold);

/* Old against new, the newest result of each key: verdict changes; speed faster, slower, same or
 * ambiguous by the intervals, with `threshold` (relative) the smallest change that counts. Text (or
 * one JSON document) into out; *findings counts regressions: a PASS that is no longer one (gone
 * ones too, unless the new store holds no run of that kind), and rates that are slower. MISSING
 * when nothing is in both. */
enum status report_compare(struct store *old_store, struct store *new_store, double threshold,
                           bool json, struct text *out, size_t *findings, struct error *err);

#ifdef __cplusplus
}
#endif
#endif
