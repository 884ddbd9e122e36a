/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 7. Directions are local: z is Ns. The three views of each BSDF stand in one
 * file: bsdf_diffuse.c, bsdf_delta.c (mirror, dielectric), bsdf_conductor.c, bsdf_principled.c. */
#ifndef REFERENCE_BSDF_H
#define REFERENCE_BSDF_H

#include "numbers/offers.h"
#include "scenes.h"

/* A material with its inputs looked up at one point. */
struct bsdf {
    enum material_type type;
    struct vec3 base; /* in [0, 1] */
    double alpha;     /* max(roughness^2, 0.001) */
    double roughness, metallic, specular;
    struct vec3 eta, k; /* rough conductor */
    double ior;         /* dielectric: inside over outside */
    bool entering;      /* dielectric: wo is outside */
};
struct bsdf bsdf_at(const struct scene *s, const struct material *m, const double uv[2],
                    bool entering);

bool bsdf_is_delta(const struct bsdf *b);

/* f, without the cosine, and the density of wi per steradian; both 0 for delta lobes and below the
 * surface. */
struct vec3 bsdf_eval(const struct bsdf *b, struct vec3 wo, struct vec3 wi, double *pdf_w);

struct bsdf_sample {
    struct vec3 wi;
    struct vec3 weight; /* f |cos| / pdf_w */
    double pdf_w;       /* 0: delta */
    bool delta, transmitted;
    bool glossy; /* not delta: by a microfacet lobe */
};
/* u: lobe choice, direction, direction. false: the sample fails. */
bool bsdf_sample(const struct bsdf *b, struct vec3 wo, const double u[3], struct bsdf_sample *out);

/* What the albedo pass shows. */
struct vec3 bsdf_albedo(const struct bsdf *b);

/* One kind each; wo.z > 0, and wi.z > 0 where it is given. */
struct vec3 diffuse_eval(const struct bsdf *b, struct vec3 wi, double *pdf_w);
void diffuse_sample(const struct bsdf *b, const double u[3], struct bsdf_sample *out);
void mirror_sample(const struct bsdf *b, struct vec3 wo, struct bsdf_sample *out);
void dielectric_sample(const struct bsdf *b, struct vec3 wo, const double u[3],
                       struct bsdf_sample *out);
struct vec3 conductor_eval(const struct bsdf *b, struct vec3 wo, struct vec3 wi, double *pdf_w);
void conductor_sample(const struct bsdf *b, struct vec3 wo, const double u[3],
                      struct bsdf_sample *out);
struct vec3 conductor_fresnel(const struct bsdf *b, double cosine);
struct vec3 principled_eval(const struct bsdf *b, struct vec3 wo, struct vec3 wi, double *pdf_w);
void principled_sample(const struct bsdf *b, struct vec3 wo, const double u[3],
                       struct bsdf_sample *out);

#endif
