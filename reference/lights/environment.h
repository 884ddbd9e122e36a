/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 5.1. Densities here are without the probability of choosing the environment. */
#ifndef REFERENCE_ENVIRONMENT_H
#define REFERENCE_ENVIRONMENT_H

#include "numbers/offers.h"
#include "scenes.h"

/* What sampling a map needs; all NULL for a constant environment. */
struct environment_table {
    bool is_light;   /* its radiance is not zero everywhere */
    double total;    /* sum of all texels' weights */
    double *rows;    /* [height + 1] weight of the rows before row j; heap */
    double *columns; /* [height][width + 1] weight of the texels before i in row j; heap */
};
enum status environment_prepare(const struct environment *e, struct environment_table *out,
                                struct error *err);
void environment_release(struct environment_table *t);

/* Radiance along d and its density per steradian; both 0 where there is none. */
struct vec3 environment_radiance(const struct environment *e, const struct environment_table *t,
                                 struct vec3 d, double *pdf_w);

/* A direction, its density and radiance. false if it cannot contribute. */
bool environment_sample(const struct environment *e, const struct environment_table *t, double u,
                        double v, struct vec3 *d, double *pdf_w, struct vec3 *L);

#endif
