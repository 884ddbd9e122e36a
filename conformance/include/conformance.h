/* SPDX-License-Identifier: Apache-2.0 */
/* conformance: cases, verdicts, the runner. Judges devices against the reference, closed forms and
 * each other. */
#ifndef ISOPHOTE_CONFORMANCE_H
#define ISOPHOTE_CONFORMANCE_H

#include "backends.h"
#include "reference.h"
#include "reports.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- identities --------------------------------------------------------------------------- */

/* A device, d NULL when it cannot be described; and the files that a case or a render read, by what
 * inputs_watch told. Files are named from the scene's folder, from the program's ("isophote:") or
 * from that of fetched data ("data:"), so that the same files are the same on every machine;
 * others by their whole path. scene_path, a file of the list at any rate, may be NULL. NULL: error
 * (MEMORY, PARSE, TYPE). */
const struct identity *identity_of_device(struct arena *a, const char *id,
                                          const struct device_info *d, struct error *err);
const struct identity *identity_of_inputs(struct arena *a, const char *scene_path,
                                          const char *lines, size_t size, struct error *err);

/* ---- cases --------------------------------------------------------------------------- */

/* Names are `level.group.case`, stable over releases: they are keys. The tables of all levels
 * together with lists/ *.txt (versioned lists of names; a device is conformant when every case of
 * `core` passes) are the suite. */
struct conform_case {
    const char *name;
    const char *level; /* "kernel", "image", "invariance", "shader" */
    const char *text;  /* what it asks, one line */
    const char *scene; /* path of the scene or shader it is about, NULL if none or its own */
    bool listed;       /* of conform_select: the list has it; else the user named its scene */
};
/* All cases: those of the tables, and the scene cases of every scene of the library, of scenes/real
 * and of the paths given. A scene outside the library whose name is taken gets "name-2". Sorted by
 * level, group, then table and scene order. */
enum status conform_cases(struct arena *a, const char *const *scenes, size_t scene_count,
                          const struct conform_case **out, size_t *count, struct error *err);

/* The shaders that `path` names: itself when it ends with .asl or .osl, else those in that folder
 * and below; count 0 for other paths. Put among the scenes given to conform_cases and conform_run,
 * each becomes cases of the level `shader`. */
enum status conform_shaders(struct arena *a, const char *path, const char *const **out,
                            size_t *count, struct error *err);

/* What the first `programs` generated programs cover, as a table: construct, programs. */
enum status conform_shader_coverage(uint32_t programs, struct text *out, struct error *err);

/* The text of the scene that the case image.random.SEED-NUMBER judges; word: "SEED-NUMBER". Its
 * pictures have their whole paths. Fails: ARG. */
enum status conform_random_scene(const char *word, struct text *out, struct error *err);

/* Result of one case on one device; strings live in the arena given to conform_run_case. */
struct conform_result {
    enum verdict verdict;
    const char *reason, *replay, *detail;
    double compile_s, run_s;
    struct image_record *images; /* pictures worth showing: picture, reference, difference */
    size_t image_count;
    struct film_record *films; /* judged bit for bit: name and identity are the runner's */
    size_t film_count;
    const struct identity *identity; /* what it depends on; NULL from conform_run_case */
    /* of conform_run's results alone: */
    struct outcome outcome;            /* what it comes to */
    enum rerun rerun;                  /* of several runs: whether their verdicts agree */
    const struct conform_result *runs; /* all of them, in their order; of one run NULL and 0 */
    size_t run_count;
    const char
        *shared; /* the case that lost its worker on this device meanwhile or next, or NULL */
    bool sick;   /* of a device whose canary went wrong: it is run again by resume */
};
/* The members (verdict, reason, replay, detail, compile_s, run_s, images; and where they say
 * something: rerun, runs, shared, sick) into an object that is open in w. */
void conform_result_write(struct json_writer *w, const struct conform_result *r, bool with_images);

/* Runs one case in this process; `scene` as in struct conform_case. Returns OK whenever a verdict
 * was reached (ERROR included). Fails: TYPE when there is no such case. */
enum status conform_run_case(struct arena *a, const char *name, const char *scene,
                             const char *device, struct conform_result *out, struct error *err);

/* What conform_run would run, in order: list, levels and filter applied, shard too. Also what
 * `--list` prints. The order is that of worth. */
struct conform_options;
enum status conform_select(struct arena *a, const struct conform_options *o,
                           const struct conform_case **out, size_t *count, struct error *err);
/* The hash of the names of these cases, whatever their order; listed: which count, NULL: all.
 * Fails: MEMORY. */
enum status conform_list_hash(const struct conform_case *cases, const bool *listed, size_t n,
                              char hash[33], struct error *err);
/* What was asked for, for a run's record: a JSON object with the list, the hash of its names, how
 * many cases it has, how many are selected, and the levels, filter, shard and scenes given. In the
 * arena. */
enum status conform_selection(struct arena *a, const struct conform_options *o, const char **json,
                              struct error *err);

/* ---- what cases are worth ------------------------------------------------------------------- */

/* lists/worth.json: which of the mutants of one run (docs/explanation/detection_power.md) each case
 * noticed, and in which order cases find most of them in the first seconds; conform_select gives
 * cases in it. lists/kept.json: why others are in the list. In the arena. Fails: MISSING, IO, PARSE,
 * TYPE, MEMORY. */
struct worth;
enum status worth_read(struct arena *a, const struct worth **out, struct error *err);
struct case_worth {
    bool known;       /* the file has the case */
    double seconds;   /* that it took there, of the text without an edit */
    uint32_t mutants; /* live ones; it was asked of so many, noticed so many, and so many alone: */
    uint32_t asked, noticed, alone;
    const char *kept; /* alone is 0: why it is in the list; NULL: no reason is given */
};
struct case_worth worth_of(const struct worth *w, const char *name);
/* What cases with these names notice together of the mutants that the order was not made from
 * (every second one), with the interval of the share at 95 %. */
struct worth_share {
    size_t noticed, mutants;
    double interval[2];
};
void worth_share(const struct worth *w, const char *const *names, size_t count,
                 struct worth_share *out);

/* How cases are run. Zeroed: as the list means them. */
struct case_settings {
    bool from_scratch; /* known answers are not believed: they are held against what is found */
    enum exec_model model;
};
struct conform_options {
    const char *const *devices; /* ids; at least one */
    size_t device_count;
    const char *const *levels; /* NULL: all */
    size_t level_count;
    const char *const *scenes; /* more scenes than the embedded ones */
    size_t scene_count;
    const char *list;  /* a list's name or file, or "all"; NULL: "core" */
    uint32_t programs; /* generated programs of the level shader: the first ones are run, whatever
                          the list says; 0: the list's */
    uint32_t random_scenes; /* the first ones that the generator makes of random_seed; above 0 and
                               without a list: these alone */
    uint64_t random_seed;
    uint32_t
        searches; /* above 0: as many scenes and as many grids of random_seed, which mutants are
                          asked that no case noticed: these alone */
    struct case_settings cases;
    const char *challenge;  /* 32 to 64 digits, lower case: cases of scenes that it decides; NULL:
                              none */
    const char *filter;     /* POSIX extended regular expression on names; NULL: all */
    uint32_t shard, shards; /* 1-based; 0: no sharding */
    double compile_budget_s, run_budget_s; /* per case; 0: defaults (300, 120) */
    double inactive_s; /* a worker that does nothing for as long is ended; 0: none */
    uint32_t reruns;   /* a FAIL or ERROR that is not waived is run as often again */
    /* a device is asked for its canary before and after its cases, after each ERROR and when as
     * long went by; 0: never. Results are told once the next canary is right */
    double canary_s;
    uint64_t memory_limit; /* bytes resident per worker; 0: three quarters of the machine, shared by
                              the jobs */
    const char *journal;   /* path; NULL: none */
    bool resume;           /* take from the journal what has the same identity now */
    /* parts of every case's identity: of the kind "program", NULL: the worker's bytes alone; and
     * of the kind "environment", NULL: as it is now */
    const struct identity *program, *environment;
    const char *waivers;   /* path or NULL; docs/reference/conformance.md */
    const char *skips;     /* path or NULL; then a SKIP that it does not expect is a finding */
    const char *worker;    /* program run as `PROGRAM worker --fd N CASE DEVICE [--scene PATH]` */
    struct store *store;   /* may be NULL */
    int64_t run;           /* run id in the store */
    unsigned jobs;         /* worker processes at once; 0: 1 */
    unsigned worker_cases; /* of a device with a driver, in one worker after another at most, while
                              none fails; 0: 1 */
    bool by_case;          /* a case on all devices, then the next; else device after device */
    double deadline;       /* by clock_s: what is not done by then is left out; 0: none */
    /* What it is handed is the run's: it lasts until the call returns. */
    void (*each)(void *ctx, size_t done, size_t total, const char *device,
                 const struct conform_case *c, const struct conform_result *r);
    /* Asked before a case runs; NULL: all do. A case that is not wanted has no result. */
    bool (*wanted)(void *ctx, const char *device, const struct conform_case *c);
    /* Cases begin in the order of what it gives, and equal ones as they would without it; NULL: none
     * goes first. Asked once for each, before any runs. */
    double (*turn)(void *ctx, const char *device, const struct conform_case *c);
    /* a case of the journal is run again: the first parts that differ; may be NULL */
    void (*again)(void *ctx, const char *device, const struct conform_case *c, const char *why);
    /* all is read and there is something to run: a store's run may begin; may be NULL */
    enum status (*begin)(void *ctx, struct error *err);
    void *each_ctx; /* of all five */
};
struct conform_summary {
    size_t count[VERDICT_COUNT];
    size_t total, waived, unexpected_pass;
    struct outcome_sum outcomes;
    size_t unexpected_skip; /* SKIPs that the list given does not expect; 0 without a list */
    size_t flaky;           /* of total: runs of one case had different verdicts */
    size_t canaries;        /* known answers that were right */
    size_t sick;            /* devices whose canary went wrong: their cases since are ERRORs */
    size_t wrong_canaries;  /* devices that had another answer from the start, each time the same */
    size_t resumed;         /* of total: taken from the journal */
    size_t again;           /* of total: in the journal with another identity */
    size_t expired_waivers; /* in the file, past their date, so not applied */
};
/* One worker process a case, compile and run budgets apart: a crash, a hang or a memory blow-up
 * costs one case (ERROR with what happened), which is run again as told. Fails: ARG/TYPE for a bad
 * filter, list, waivers or skips file or journal, CANCELLED (workers are ended, the journal is
 * kept). A verdict is in the journal (synced) before `each` hears of it. */
enum status conform_run(const struct conform_options *o, struct conform_summary *sum,
                        struct error *err);

/* The best seconds of a list on the devices of o, from now on. Cases that would not end in time, as
 * this run's own times say, are left out, and what runs at the end is ended: the deadline is set,
 * and devices take turns. In the arena, as long as o. */
struct budget;
enum status budget_open(struct arena *a, double seconds, struct conform_options *o,
                        struct budget **out, struct error *err);
bool budget_allows(const struct budget *b,
                   const struct conform_case *c); /* is there time for it? */
void budget_note(struct budget *b, const char *device, const struct conform_case *c,
                 const struct conform_result *r);
/* For each device what was judged and what share of mutants that notices: as lines, or an object.
 * Never that the device conforms. */
void budget_text(const struct budget *b, struct text *out);
void budget_json(const struct budget *b, struct json_writer *w);

/* What the worker process does: runs the case; to `fd` go JSON lines, one for each change of phase,
 * for each file of a scene or shader that it reads, and for the result. stays: then it runs the
 * cases that standard input names, a line {"case":NAME,"scene":PATH} each, to its end; each opens
 * the device anew, but the driver stays as it is. */
enum status conform_worker(const char *name, const char *scene, const char *device,
                           const struct case_settings *settings, int fd, bool stays,
                           struct error *err);

/* By reports.h's table: FAIL and ERROR less the waived ones, and SKIPs that were not expected. */
size_t conform_findings(const struct conform_summary *sum);

/* ---- the sums of a film's tiles: what of a picture goes into an archive ---------------- */

enum { TILE_SIDE = 16, FILM_TILES_MOST = 1 << 16 /* of a row's picture; larger ones have none */ };
uint64_t tile_count(uint32_t width, uint32_t height);
/* The tile's place in a picture: x, y, width, height. False behind the last. */
bool tile_place(uint32_t width, uint32_t height, uint64_t tile, uint32_t place[4]);
/* Of a part of a film, which lies at `place` of the whole picture: pixels from (left, top) on. */
enum status tile_sum(const struct film *f, uint32_t left, uint32_t top, const uint32_t place[4],
                     struct sum *out, struct error *err);
/* What determines the bits of a strict film of a scene, as compact JSON in the arena. */
const char *film_job_text(struct arena *a, const struct render_job *job, int32_t exponent);
/* Back from it, in mode strict, the exponent left aside. Fails: PARSE, TYPE, MEMORY. */
enum status film_job_read(const char *text, struct render_job *out, struct error *err);
/* All but name, device and identity: of sums that are there (job or sums NULL: MEMORY), or of a
 * film. In the arena. Fails: MEMORY. */
enum status film_record_close(struct arena *a, const char *job, const struct sum *sums,
                              size_t count, struct film_record *out, struct error *err);
enum status film_record_fill(struct arena *a, const struct render_job *job, const struct film *film,
                             struct film_record *out, struct error *err);

/* ---- audit ---------------------------------------------------------------------------- */

/* Is it 16 to 32 bytes in hexadecimal digits? A copy in lower case, in the arena. Fails: ARG. */
enum status conform_challenge(struct arena *a, const char *text, const char **out,
                              struct error *err);
/* The seed of scenes at random that the challenge decides. */
uint64_t conform_challenge_seed(const char *challenge);

struct audit_options {
    const char *device;          /* what renders again */
    uint64_t tiles;              /* how many are drawn; UINT64_MAX: all */
    uint32_t cases;              /* how many PASSes are run again */
    const char *challenge;       /* that the run had to answer; NULL: none was given */
    struct sum seed;             /* of the draw */
    bool seed_was_given;         /* so somebody could foresee the draw */
    const char *waivers, *skips; /* paths: those that the auditor accepts; NULL: any */
    const struct identity *program, *environment;
    const char *worker, *scratch; /* a folder of the caller's */
};
struct audit_line {
    const char *check, *text; /* "program", "tiles" ... */
    struct audit_line *next;
};
struct audit {
    struct audit_line *findings, *notes;
    size_t finding_count;
    const char *unit; /* "cases"; of bench and sweep "rows" */
    size_t cases, passed, failed, skipped, waived;
    size_t pictures, unpictured;   /* PASSes with tiles that can be rendered here; the others */
    uint64_t tiles, drawn, wrong;  /* of those pictures; rendered again; with other bits */
    size_t rerun, rerun_elsewhere; /* cases; of these, on another device than they passed on */
};
/* Holds what an archive of a run of conform, bench or sweep says (its results in a store of their own) against itself, against this
 * program and against tiles and cases that are rendered and run again. Findings are no failure.
 * Fails: what the device says, MEMORY, CANCELLED. In the arena. */
enum status conform_audit(struct arena *a, const struct audit_options *o, const struct archive *in,
                          struct store *results, struct audit *out, struct error *err);
/* How likely none of `forged` tiles is among `drawn` of `tiles`, C(tiles - forged, drawn) /
 * C(tiles, drawn): the hypergeometric distribution at 0 (Feller: "An Introduction to Probability
 * Theory and Its Applications" I, 3rd edition, II.6). And the most tiles that can be forged so that
 * this is at least `level`. */
double audit_unseen(uint64_t tiles, uint64_t forged, uint64_t drawn);
uint64_t audit_forged_most(uint64_t tiles, uint64_t drawn, double level);

/* ---- judging one picture, used by bench too ------------------------------------------ */

/* strict: compares bits with the native device's strict picture of the same job. device and fast:
 * by statistics on the same random numbers: up to two million samples against the reference's
 * picture; beyond, all of them against native's strict picture, and the first ones, rendered on the
 * device again, against the reference's. device mode, and native itself: lockstep for the first
 * samples. fast, of a scene with a light tree and a clamp: the device renders the job once more
 * without the clamp, and that picture is judged, of the film only the counts, as the reason says.
 * The job's film is given. A right device's picture FAILs with probability 1e-5 at most,
 * however heavy the tails of its samples (docs/explanation/judging.md). */
struct judgement {
    enum verdict verdict;
    char reason[512];
    double mse, relmse, psnr, ssim, flip; /* NaN where not computed */
    double worst_z, share_outliers;
};
enum status conform_judge(const struct scene *s, const char *device, const struct render_job *job,
                          const struct film *film, struct judgement *out, struct error *err);

/* First divergent sample, vertex and field between the reference and a device on the same random
 * numbers, over the pixels and samples of the job (in the order of samples, then rows; at most
 * `max_samples`, evenly spread over the picture). The device has the scene and is built for
 * job->set.build.mode, which may not be MODE_FAST (ARG: nothing bounds its error).
 *
 * A sample agrees when its value is the reference's within 2^-16 and two quanta of the film. What
 * does not agree, and every 61st sample in any case, is traced and looked over vertex by vertex:
 * each step is asked of the reference again from the device's own state, so that the bounds
 * (bounds.h) are those of one step and do not grow along the path. A sample all of whose steps lie
 * within their bounds is benign: rounding alone explains it, be it by a flipped decision or by a
 * place where rounding grows. Any other is divergent. */
struct divergence {
    uint64_t compared;  /* samples */
    uint64_t stepped;   /* of these, looked over vertex by vertex */
    uint64_t benign;    /* of those, ones whose value did not agree, and rounding explains it */
    uint64_t flips;     /* decisions that fell otherwise within the bound */
    uint64_t divergent; /* the search ends at 32 */
    double worst;       /* the largest error over bound among the benign and agreeing ones */
    /* What none of this would have missed but once in 10^5 times: samples off by more than `off` of
     * their value that rounding does not explain, where they are more than this share of all. */
    double notices_off, notices_share;
    uint32_t x, y, sample,
        vertex; /* of the first divergent one; vertex 0: the film, after the path */
    char stage[16], field[32];
    char function[64]; /* "light/light.h k_light_sample_make": of device/, where to look first */
    double reference_value, device_value;
    double margin;  /* error over its bound */
    char text[768]; /* all of this in one line; "" when divergent is 0 */
};
enum status conform_lockstep(struct device *d, const struct scene *s, const struct render_job *job,
                             uint64_t max_samples, struct divergence *out, struct error *err);

/* One sample on both sides, for `replay`. Vertices in the arena. `check` as of steps: found, and
 * where. */
struct replay {
    struct path_vertex *reference, *device;
    size_t reference_count, device_count;
    double reference_L[3], device_L[3];
    bool divergent; /* a step that rounding does not explain */
    uint32_t vertex, flips;
    const char *stage, *field;
    double reference_value, device_value, margin;
    double worst;        /* largest error over bound when not divergent */
    const char *shaders; /* what shaders did on the reference, as text; "" without any */
};
enum status conform_replay(struct device *d, const struct scene *s, const struct render_job *job,
                           uint32_t x, uint32_t y, uint32_t sample, struct arena *a,
                           struct replay *out, struct error *err);

/* The command that replays a sample, as text in the arena. */
const char *conform_replay_command(struct arena *a, const char *scene_path, const char *device,
                                   const struct render_job *job, uint32_t x, uint32_t y,
                                   uint32_t sample);

#ifdef __cplusplus
}
#endif
#endif
