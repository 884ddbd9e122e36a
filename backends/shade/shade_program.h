/* SPDX-License-Identifier: Apache-2.0 */
/* shade_program.h: a group of shaders as a program for a device: lowered, emitted, with the words
 * that its entries read. What the engines of processors and of devices share. */
#ifndef ISOPHOTE_SHADE_PROGRAM_H
#define ISOPHOTE_SHADE_PROGRAM_H

#include "shade_engine.h"

/* device/portable.h */
extern const char portable_source[], portable_source_hash[33];
/* Says how many points a row of the processor has. */
extern const char shade_wide_preamble[];

/* struct a_launch of device/asl/point.h. */
struct shade_launch {
    uint32_t width, first, count;
    uint32_t vary, raytype, budget;
    uint32_t listed, log_words;
    float du, dv, px, py;
};

enum { SHADE_POINT_WORDS = 63, SHADE_GRID_PAD = 16 };

struct shade_program {
    struct arena arena;
    struct asl_code *code;
    struct asl_emitted emitted;
    struct text source;           /* all of it */
    size_t library;               /* bytes in front of the device library in it */
    char hash[33];                /* of the source */
    bool host;                    /* it has one, and its uniform words in the argument area */
    struct shade_strings strings; /* emitted ones, then those of the argument area */
};

/* Lowers and emits the group as it is now. wide, host: as asl_emit_options has them. */
enum status shade_program_make(const struct shade *s, bool wide, bool host,
                               struct shade_program *out, struct error *err);
/* The same as LLVM IR, for rows of 8 or 16 lanes (asl_emit_llvm). */
enum status shade_program_make_llvm(const struct shade *s, unsigned lanes,
                                    struct shade_program *out, struct error *err);
/* Are parameters constants of the program (all when baked, strings always)? Then it is made again
 * for each run. */
bool shade_program_bakes(const struct shade *s);
void shade_program_free(struct shade_program *p);

/* What a run reads: filled for the group's parameters and the points as they are now. */
struct shade_input {
    struct shade_launch launch;
    uint32_t *args;            /* at least one word */
    size_t arg_words, answers; /* answers: where those of asl_host_answers begin */
    size_t uniform;            /* where those of asl_emitted.uniform_words begin */
    size_t rows; /* the word that says where those of asl_host_row do; the next: where replies do */
    float *grid;
    size_t grid_floats;
    uint32_t *points; /* [count][SHADE_POINT_WORDS]; NULL for a grid */
    size_t point_words;
};
/* In the arena. */
enum status shade_input_make(const struct shade *s, struct shade_program *p,
                             const struct shade_points *points, struct arena *a,
                             struct shade_input *out, struct error *err);

/* One launch on a device: points [k->first, k->first + k->count) of the grid, or the k->count
 * points given; `iterations` times. out: k->count rows; failed, log: in and out (device/asl/entry.h).
 * *seconds is added to. */
struct shade_device_launch {
    const struct shade_launch *k;
    const uint32_t *args;
    size_t arg_words, uniform_words;
    const float *grid;
    size_t grid_floats;
    const uint32_t *points; /* NULL: of the grid */
    size_t point_words;
    uint32_t iterations;
    uint32_t *out, *failed, *log; /* failed: 2 words; log: k->log_words */
    size_t out_words;
    double *seconds;
};
typedef enum status shade_device_fn(void *ctx, const struct shade_device_launch *l,
                                    struct error *err);
/* A run of an engine whose device `launch` drives. */
enum status shade_device_run(struct shade *s, struct shade_program *p,
                             const struct shade_points *points, shade_device_fn *launch, void *ctx,
                             struct shade_result *out, struct error *err);

/* The error of a point whose loop number `failed` - 1 spent the budget. */
void shade_program_failure(const struct shade *s, const struct shade_program *p, uint32_t failed,
                           size_t point, struct shade_failure *out);

#endif
