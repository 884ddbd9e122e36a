/* SPDX-License-Identifier: Apache-2.0 */
/* The principled BSDF: a GGX lobe with Schlick's Fresnel over Burley's diffuse ("Physically Based
 * Shading at Disney", SIGGRAPH 2012 course). */
#include "bsdf.h"
#include "microfacet.h"
#include "numbers/offers.h"

static struct vec3 normal_reflectance(const struct bsdf *b)
{
    return lerp(gray(0.08 * b->specular), b->base, b->metallic);
}

static struct vec3 schlick(struct vec3 F0, double cosine)
{
    return add(F0, scale(pow(1 - clamp(cosine, 0, 1), 5), sub(gray(1), F0)));
}

/* Probability of choosing the specular lobe. */
static double specular_share(const struct bsdf *b, struct vec3 wo)
{
    double ws = luminance(schlick(normal_reflectance(b), wo.z));
    double wd = (1 - b->metallic) * luminance(b->base);
    return wd == 0 ? 1 : clamp(ws / (ws + wd), 0.1, 0.9);
}

static struct vec3 burley(const struct bsdf *b, struct vec3 wo, struct vec3 wi, double cd)
{
    double rise = 0.5 + 2 * b->roughness * cd * cd - 1; /* F90 - 1 */
    double shape = (1 + rise * pow(1 - wi.z, 5)) * (1 + rise * pow(1 - wo.z, 5));
    return scale((1 - b->metallic) / PI * shape, b->base);
}

struct vec3 principled_eval(const struct bsdf *b, struct vec3 wo, struct vec3 wi, double *pdf_w)
{
    struct vec3 h = normalize(add(wo, wi));
    double cd = dot(wo, h);
    double ps = specular_share(b, wo);
    *pdf_w = ps * ggx_pdf(b->alpha, wo, h) + (1 - ps) * wi.z / PI;
    double shape = ggx_d(b->alpha, h) * ggx_g2(b->alpha, wo, wi) / (4 * wo.z * wi.z);
    return add(scale(shape, schlick(normal_reflectance(b), cd)), burley(b, wo, wi, cd));
}

void principled_sample(const struct bsdf *b, struct vec3 wo, const double u[3],
                       struct bsdf_sample *out)
{
    out->glossy = u[0] < specular_share(b, wo);
    if (out->glossy)
        out->wi = reflect(wo, ggx_sample(b->alpha, b->alpha, wo, u[1], u[2]));
    else
        out->wi = map_cosine(u[1], u[2]);
    if (!(out->wi.z > 0))
        return;
    struct vec3 f = principled_eval(b, wo, out->wi, &out->pdf_w);
    out->weight = scale(out->wi.z / out->pdf_w, f);
}
