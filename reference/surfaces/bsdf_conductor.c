/* SPDX-License-Identifier: Apache-2.0 */
/* The rough conductor. */
#include "bsdf.h"
#include "microfacet.h"

#include <complex.h>

static double squared(double complex z) { return creal(z) * creal(z) + cimag(z) * cimag(z); }

/* Unpolarised reflectance at a boundary from index 1 to n = eta + i k (Born and Wolf, 14.2), c the
 * cosine of incidence:
 *
 *     q   = n cos(theta_t) = sqrt(n^2 - sin^2)
 *     r_s = (c - q) / (c + q)
 *     r_p = (n^2 c - q) / (n^2 c + q) */
static double fresnel(double eta, double k, double c)
{
    double complex n2 = CMPLX(eta * eta - k * k, 2 * eta * k);
    double complex q = csqrt(n2 - (1 - c * c));
    double rs = squared(c - q) / squared(c + q);
    double rp = squared(n2 * c - q) / squared(n2 * c + q);
    return (rs + rp) / 2;
}

struct vec3 conductor_fresnel(const struct bsdf *b, double cosine)
{
    double c = clamp(cosine, 0, 1);
    return vec3(fresnel(b->eta.x, b->k.x, c), fresnel(b->eta.y, b->k.y, c),
                fresnel(b->eta.z, b->k.z, c));
}

struct vec3 conductor_eval(const struct bsdf *b, struct vec3 wo, struct vec3 wi, double *pdf_w)
{
    struct vec3 h = normalize(add(wo, wi));
    *pdf_w = ggx_pdf(b->alpha, wo, h);
    double shape = ggx_d(b->alpha, h) * ggx_g2(b->alpha, wo, wi) / (4 * wo.z * wi.z);
    return scale(shape, conductor_fresnel(b, dot(wo, h)));
}

void conductor_sample(const struct bsdf *b, struct vec3 wo, const double u[3],
                      struct bsdf_sample *out)
{
    struct vec3 h = ggx_sample(b->alpha, b->alpha, wo, u[1], u[2]);
    out->wi = reflect(wo, h);
    out->glossy = true;
    if (!(out->wi.z > 0))
        return;
    out->pdf_w = ggx_pdf(b->alpha, wo, h);
    double masking = ggx_g2(b->alpha, wo, out->wi) / ggx_g1(b->alpha, wo);
    out->weight = scale(masking, conductor_fresnel(b, dot(wo, h)));
}
