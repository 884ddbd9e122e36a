/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of conformance/: what a case is given, and the tables of cases. */
#ifndef CONFORMANCE_CASE_H
#define CONFORMANCE_CASE_H

#include "conformance.h"

/* One case on one device while it runs. */
struct run_context {
    struct arena *arena;
    const char *name, *device_id;
    const char *scene_path;            /* of a scene case */
    struct scene *scene;               /* by case_scene; freed by the frame */
    struct device *device;             /* by case_device; closed by the frame */
    const struct device_info *info;    /* of device */
    struct reference *reference;       /* by case_reference; closed by the frame */
    uint64_t compared;                 /* numbers, bits, pixels: a PASS needs some */
    struct conform_result *result;     /* a case sets verdict, reason, replay, detail, images */
    enum math_mode mode;               /* that the kernel is built for */
    bool from_scratch;                 /* known answers are not looked at */
    enum exec_model model;             /* that kernels are built for */
    struct hash *asked, *given_so_far; /* answers.h */
    char inputs[33], given[33];        /* their hashes, and how the verdict was come by: */
    const char *answer;                /* "known", "ignored" ...; NULL: no such case */
    int report;                        /* pipe for phase changes; -1: none */
    double phase_start;
    bool compiling;
};

/* A case sets the verdict through case_pass or case_fail and returns OK, or fails with an error:
 * UNSUPPORTED and MISSING become SKIP, MISMATCH and BUILD become FAIL, all else ERROR. */
typedef enum status (*case_function)(struct run_context *c, struct error *err);

struct case_row {
    const char *name; /* whole name; for scene cases what stands before ".SCENE" */
    const char *text;
    case_function run;
};
struct case_table {
    const struct case_row *rows;
    size_t count;
};
/* Tables by level; scene tables are run for each scene. */
extern const struct case_table kernel_cases, kernel_scene_cases, image_cases, image_scene_cases,
    invariance_cases, invariance_scene_cases;
#define CASE_TABLE(rows)                                                                           \
    {                                                                                              \
        rows, sizeof(rows) / sizeof *(rows)                                                        \
    }

/* Asked of devices between cases, and in no list. */
extern const struct case_row canary_case;
/* The case has its verdict: a strict PASS must have given what is known, and the detail tells which
 * way the verdict was come by. */
void case_answer_close(struct run_context *c);

/* Does it make a driver compile several programs, or large ones, that no other case needs? */
bool case_is_long(const char *name);
/* The row of a case's name, NULL if there is none. */
const struct case_row *suite_row(const char *name);

/* ---- what cases use ------------------------------------------------------------------ */

/* The device, opened once. */
enum status case_device(struct run_context *c, struct error *err);
/* The scene of the case (or a named library scene), read once. */
enum status case_scene(struct run_context *c, struct error *err);
enum status case_library_scene(struct run_context *c, const char *name, struct error *err);
enum status case_reference(struct run_context *c, struct error *err);
/* Device open, scene loaded on it, kernel built for `mode`: the compile budget runs meanwhile. */
enum status case_ready(struct run_context *c, enum math_mode mode, enum bvh_kind bvh,
                       struct error *err);
/* The same for a case that only probes: the kernel is built before the scene is loaded, so that of
 * the program for this scene only the part with the probes is compiled, when the first one runs. */
enum status case_ready_to_probe(struct run_context *c, enum math_mode mode, enum bvh_kind bvh,
                                struct error *err);
/* The scene that t says, in place of the one before; frees t. */
enum status case_materials(struct run_context *c, struct text *t, struct error *err);
/* Phases for the budgets. */
void case_compiling(struct run_context *c, bool compiling);

enum status case_pass(struct run_context *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
enum status case_fail(struct run_context *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
enum status case_skip(struct run_context *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The film goes into the result, by the sums of its tiles. */
enum status case_film(struct run_context *c, const struct render_job *job, const struct film *film,
                      struct error *err);
/* The scene and the job of a case whose film is kept; *scene NULL for other cases. */
enum status case_picture(const char *name, const char *scene_path, struct scene **scene,
                         struct render_job *job, struct error *err);
void case_strict_job(const struct scene *s, struct render_job *job);
/* The detail and the replay command of a case that went in step with the reference. */
void case_divergence(struct run_context *c, const struct render_job *job,
                     const struct divergence *d);

/* challenge.c: image.challenge.HEX.N, scenes that nobody knows before the challenge is given. */
enum { CHALLENGE_CASES = 4 };
enum status challenge_scene(const char *name, struct scene **scene, struct render_job *job,
                            struct error *err);
const struct case_row *challenge_row(const char *name); /* NULL: another case */
bool challenge_has(const char *challenge, const char *name);

/* Takes the writer's text as the case's detail. */
void case_detail(struct run_context *c, struct json_writer *w);
/* The native device's id or another one to hold bits against; true if `id` is the native one. */
bool is_native(const char *id);
/* On a mutant: whether something shows is asked a thousand times, and never made small. */
bool case_of_mutant(const struct run_context *c);

/* pictures.c: for the report, what a device rendered, what it should have, and how they differ.
 * Adds to c->result: the device's picture, the reference's, the signed difference in false colour
 * (blue: too dark, white: equal, red: too bright; full colour at the mean luminance of the
 * reference), and, with variance (of the difference's mean, per pixel and channel), the
 * significance map (|d| over its standard deviation: black 0, yellow 3, white 6 and beyond). With
 * no reference: the device's picture alone. All
 * [h][w][3]. Pictures share one exposure: the reference's mean luminance is shown as 0.18. */
enum status pictures_add(struct run_context *c, const char *mode, uint32_t width, uint32_t height,
                         const double *image, const double *reference, const double *variance,
                         struct error *err);

#endif
