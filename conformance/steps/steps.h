/* SPDX-License-Identifier: Apache-2.0 */
/* One path of a device, looked over step by step: at each vertex the reference is asked for the
 * next quantity, starting from the device's own state, so that no error is carried on and a wrong
 * step is found where it happens. Bounds: bounds.h. */
#ifndef CONFORMANCE_STEPS_H
#define CONFORMANCE_STEPS_H

#include "backends.h"
#include "reference.h"

struct steps;
/* scene and reference must outlive it. The device's accuracy is what it promises for the job's
 * mode. */
enum status steps_open(const struct scene *s, const struct reference *r,
                       const struct device_info *device, const struct render_job *job,
                       struct steps **out, struct error *err);
void steps_close(struct steps *s); /* accepts NULL */

struct step_report {
    bool found;        /* a step that rounding does not explain */
    uint32_t k;        /* its vertex */
    const char *stage; /* "rng", "camera", "traversal", "surface", "light", "shadow", "shader",
                          "roulette", "path", "sum" */
    const char *field; /* "direction", "primitive" ... */
    char component;    /* 'x' 'y' 'z', 'r' 'g' 'b'; 0: a scalar */
    double reference, device;
    double margin;      /* distance over its bound: > 1 where found */
    uint32_t flips;     /* decisions that fell otherwise within the bound */
    double flip_margin; /* the largest of theirs */
    uint64_t compared;  /* numbers looked at */
    double worst;       /* the largest margin of all */
    const char *worst_field;
};
/* vertices and L as device_trace gives them. */
void steps_check(const struct steps *s, uint32_t x, uint32_t y, uint32_t sample,
                 const struct path_vertex *vertices, size_t count, const double L[3],
                 struct step_report *out);
/* Outside strict: is a film's value of one sample another than that of the recorded path, and not
 * by rounding? `path`: its L, whose steps are right; reference: the reference's own. exponent: of
 * the film's unit. *channel: the worst one. */
bool film_is_unlike(const double film[3], const double path[3], const double reference[3],
                    int32_t exponent, int *channel);
/* A path of the reference's: does it meet, anywhere, one of two faces so near to each other that
 * rounding decides which? Faces that are alike in all that counts do not. */
bool steps_tied(const struct steps *s, uint32_t x, uint32_t y, uint32_t sample,
                const struct path_vertex *vertices, size_t count);

#endif
