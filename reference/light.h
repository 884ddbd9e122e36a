/* Protocol section 5: the table of lights, choosing one, sampling a direction, and densities for
 * MIS. */
#ifndef REFERENCE_LIGHT_H
#define REFERENCE_LIGHT_H

#include "environment.h"
#include "hit.h"

#define NO_LIGHT UINT32_MAX

struct lights {
    const struct scene *scene;
    uint32_t *primitives; /* [area_count] emitting primitives, by id; heap */
    double *sums;         /* [area_count + 1] w_0 + ... + w_(i-1); heap */
    uint32_t area_count;  /* the environment light has this index */
    double p_env;         /* probability of choosing the environment */
    struct environment_table environment;
};
enum status lights_prepare(const struct scene *s, struct lights *out, struct error *err);
void lights_release(struct lights *l);

struct light_sample {
    uint32_t light; /* chosen; NO_LIGHT if there is none to choose */
    struct vec3 wi;
    double distance; /* infinite for the environment */
    double pdf_w;    /* per steradian, choice included */
    struct vec3 Le;  /* towards P; not yet tested for being visible */
};
/* From point P (already offset); u: choice, light, light. false: no contribution, only `light` is
 * set. */
bool light_sample(const struct lights *l, struct vec3 P, const double u[3],
                  struct light_sample *out);

/* Emission of the hit towards -d, 0 if it does not emit to this side; *pdf_w is the density with
 * which light sampling from ray's origin finds that direction. */
struct vec3 light_emission(const struct lights *l, const struct ray *ray, const struct hit *h,
                           double *pdf_w);

/* The environment along d, and its density, choice included. */
struct vec3 light_environment(const struct lights *l, struct vec3 d, double *pdf_w);

#endif
