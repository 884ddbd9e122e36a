/* SPDX-License-Identifier: Apache-2.0 */
/* GGX microfacets with Smith's height-correlated masking: Walter et al., EGSR 2007; Heitz, JCGT
 * 3(2), 2014. */
#ifndef REFERENCE_MICROFACET_H
#define REFERENCE_MICROFACET_H

#include "numbers/offers.h"

double ggx_d(double alpha, struct vec3 h);
double ggx_g1(double alpha, struct vec3 w);
double ggx_g2(double alpha, struct vec3 wo, struct vec3 wi);

/* A microfacet normal among those that wo sees, of roughness ax along x and ay along y: Heitz,
 * "Sampling the GGX Distribution of Visible Normals", JCGT 7(4), 2018. The density of the direction
 * reflected about it is ggx_pdf where ax = ay. */
struct vec3 ggx_sample(double ax, double ay, struct vec3 wo, double u, double v);
double ggx_pdf(double alpha, struct vec3 wo, struct vec3 h);

static inline struct vec3 reflect(struct vec3 wo, struct vec3 h)
{
    return sub(scale(2 * dot(wo, h), h), wo);
}

#endif
