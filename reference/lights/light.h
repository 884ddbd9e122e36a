/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol sections 5 and 24: the table of lights, choosing one, sampling a direction, and
 * densities for MIS. */
#ifndef REFERENCE_LIGHT_H
#define REFERENCE_LIGHT_H

#include "environment.h"
#include "light_tree.h"
#include "trace/offers.h"

#define NO_LIGHT UINT32_MAX

struct lights {
    const struct scene *scene;
    uint32_t *primitives;       /* [area_count] emitting primitives, by id; heap */
    uint32_t area_count, count; /* area lights; with those that have no surface: the environment
                                   light has this index */
    double *weights;            /* [count]; heap */
    double *sums;               /* [count + 1] sums of those that are chosen by power alone; heap */
    double p_env;               /* probability of choosing the environment */
    double p_direct;            /* with a tree: of light i by power, among all others; 1 without */
    bool has_tree;
    struct light_tree tree;
    struct environment_table environment;
};
enum status lights_prepare(const struct scene *s, struct lights *out, struct error *err);
void lights_release(struct lights *l);

struct light_sample {
    uint32_t light; /* chosen; NO_LIGHT if there is none to choose */
    bool delta;     /* it has no surface: pdf_w is the probability of its choice */
    struct vec3 wi;
    double distance; /* infinite for the environment */
    double pdf_w;    /* per steradian, choice included */
    struct vec3 Le;  /* towards P; not yet tested for being visible */
};
/* From point P (already offset, to the side of g; 0: no surface); u: choice, light, light. false:
 * no contribution, only `light` is set. */
bool light_sample(const struct lights *l, struct vec3 P, struct vec3 g, const double u[3],
                  struct light_sample *out);
/* With what probability light i (not the environment) is chosen from there. */
double light_chance(const struct lights *l, uint32_t i, struct vec3 P, struct vec3 g);
/* The least and the greatest that it may be where the tree is gone down `width` nodes at a time, and
 * cosines and quotients are off by `slack`. */
void light_chance_wide(const struct lights *l, uint32_t i, struct vec3 P, struct vec3 g,
                       unsigned width, double slack, double chance[2]);

/* Emission of the hit towards -d, 0 if it does not emit to this side; *pdf_w is the density with
 * which light sampling from ray's origin, offset to the side of g, finds that direction. */
struct vec3 light_emission(const struct lights *l, const struct ray *ray, struct vec3 g,
                           const struct hit *h, double *pdf_w);

/* The environment along d, and its density, choice included. */
struct vec3 light_environment(const struct lights *l, struct vec3 d, double *pdf_w);

#endif
