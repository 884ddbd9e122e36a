/* SPDX-License-Identifier: Apache-2.0 */
/* scene_trial.h: one scene on one device by all that can be said of it without a picture to compare
 * with: it is read, bits, steps, relations. What a random scene goes through, and what the reducer
 * asks again. */
#ifndef CONFORMANCE_SCENE_TRIAL_H
#define CONFORMANCE_SCENE_TRIAL_H

#include "case.h"

struct scene_trial {
    struct device *device; /* open */
    const char *device_id;
    bool loose;       /* in step in mode device too */
    bool brief;       /* no relations; of other devices strict bits with their own tree alone */
    bool one_tree;    /* bits of the device's own choice of a tree alone */
    const char *only; /* stop after what is found by this name; NULL: all */
    const char *path; /* names the scene in messages; files stand beside it */
    uint32_t width, samples; /* of bits and steps; 0: as a scene of thousands is asked */
};
struct scene_found {
    bool found;
    char kind[64];   /* "read: no such ...", "bits", "steps: light", "relation: mirror" */
    char text[1024]; /* what is wrong, one line */
    uint64_t compared;
    unsigned relations;      /* that were looked at */
    bool strict;             /* false: the device cannot be strict */
    char why[256];           /* then: why */
    struct divergence cause; /* of other bits or steps: its stage; "" where it was not asked for */
};
/* The job that bits and steps are asked by. */
void scene_trial_job(const struct scene_trial *t, const struct scene *s, enum math_mode mode,
                     struct render_job *job);
/* Fails when it could not be judged, as a case does. */
enum status scene_trial_run(const struct scene_trial *t, const char *text, size_t size,
                            struct scene_found *out, struct error *err);
/* The relations alone. */
enum status scene_trial_relations(const struct scene_trial *t, const char *text, size_t size,
                                  struct scene_found *out, struct error *err);

#endif
