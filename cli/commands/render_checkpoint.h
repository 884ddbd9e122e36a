/* SPDX-License-Identifier: Apache-2.0 */
/* What `render` keeps of a picture that is not finished: the checkpoint, from which it goes on bit
 * by bit, and the picture so far, to be looked at. */
#ifndef ISOPHOTE_RENDER_CHECKPOINT_H
#define ISOPHOTE_RENDER_CHECKPOINT_H

#include "cli.h"
#include "reference.h"

struct checkpoint {
    /* Set by who renders. */
    const char *path;                          /* NULL: nothing is kept */
    double interval_s, update_s;               /* update_s 0: the picture so far is not written */
    const struct identity *identity;           /* of all that the bits so far depend on */
    uint32_t width, height, spp;               /* of the picture */
    int32_t exponent;                          /* of its film */
    void *ctx;                                 /* of these two: */
    void (*said)(void *ctx, struct text *out); /* what shaders said so far; NULL: nothing */
    enum status (*picture)(void *ctx, const float *rgb, double samples, struct error *err);

    /* What was taken up. */
    bool resumed;
    uint64_t samples; /* of all pixels */
    const int64_t *sums;
    struct passes_state passes; /* bits 0: none */
    struct reference_state state;
    const char *texts; /* what shaders had said; NULL: nothing */

    /* Its own. */
    struct arena arena;
    const struct film *film; /* while passes are made */
    double next_save, next_update;
    double share; /* of the samples, in what was written last */
    bool written; /* by this process */
    bool other;   /* what stood there was not taken up */
    bool said_save, said_update, said_kept;
};

/* Before the first sample. resume: what stands there is taken up. Nothing is wrong with its being
 * absent. Fails: IO, PARSE, TYPE (of another render: says what differs), RANGE, MEMORY. */
enum status checkpoint_open(struct checkpoint *c, bool resume, struct error *err);
/* Time for a save or a picture? Asked by any thread. c is a struct checkpoint, here and below. */
bool checkpoint_due(void *c);
/* Callbacks of render_keeper and reference_job. */
void checkpoint_film(void *c, const struct film *so_far, bool stopping);
void checkpoint_passes(void *c, const struct passes_state *so_far, bool stopping);
void checkpoint_state(void *c, const struct reference_state *so_far, bool stopping);
/* The picture is written: there is nothing to go on from. */
void checkpoint_remove(struct checkpoint *c);
/* Makes room on a disk that is full: the file's bytes, which checkpoint_put_back writes again.
 * NULL: there is no room to be made. */
void *checkpoint_set_aside(struct checkpoint *c, size_t *size);
void checkpoint_put_back(struct checkpoint *c, void *bytes, size_t size); /* frees them */
/* Of a render that ends early: says what is kept, and how to go on. Once. */
void checkpoint_say(struct checkpoint *c);
void checkpoint_close(struct checkpoint *c);

#endif
