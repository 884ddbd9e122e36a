/* SPDX-License-Identifier: Apache-2.0 */
#include "bsdf.h"

#include "textures/texture.h"

struct bsdf bsdf_at(const struct scene *s, const struct material *m, const double uv[2],
                    bool entering)
{
    struct bsdf b = {.type = m->type, .entering = entering};
    switch (m->type) {
    case MATERIAL_DIFFUSE:
    case MATERIAL_MIRROR:
        b.base = color_at(s, &m->base, uv);
        break;
    case MATERIAL_ROUGH_CONDUCTOR:
        b.roughness = scalar_at(s, &m->roughness, uv, 0, 1);
        b.eta = from_float(m->eta);
        b.k = from_float(m->k);
        break;
    case MATERIAL_DIELECTRIC:
        b.ior = scalar_at(s, &m->ior, uv, 0.1, 10);
        break;
    case MATERIAL_PRINCIPLED:
        b.base = color_at(s, &m->base, uv);
        b.roughness = scalar_at(s, &m->roughness, uv, 0, 1);
        b.metallic = scalar_at(s, &m->metallic, uv, 0, 1);
        b.specular = scalar_at(s, &m->specular, uv, 0, 1);
        break;
    default:
        break;
    }
    b.alpha = fmax(b.roughness * b.roughness, 0.001);
    return b;
}

bool bsdf_is_delta(const struct bsdf *b)
{
    return b->type == MATERIAL_MIRROR || b->type == MATERIAL_DIELECTRIC;
}

struct vec3 bsdf_eval(const struct bsdf *b, struct vec3 wo, struct vec3 wi, double *pdf_w)
{
    *pdf_w = 0;
    if (!(wi.z > 0 && wo.z > 0))
        return gray(0);
    switch (b->type) {
    case MATERIAL_DIFFUSE:
        return diffuse_eval(b, wi, pdf_w);
    case MATERIAL_ROUGH_CONDUCTOR:
        return conductor_eval(b, wo, wi, pdf_w);
    case MATERIAL_PRINCIPLED:
        return principled_eval(b, wo, wi, pdf_w);
    default:
        break;
    }
    return gray(0);
}

bool bsdf_sample(const struct bsdf *b, struct vec3 wo, const double u[3], struct bsdf_sample *out)
{
    *out = (struct bsdf_sample){0};
    switch (b->type) {
    case MATERIAL_DIFFUSE:
        diffuse_sample(b, u, out);
        break;
    case MATERIAL_MIRROR:
        mirror_sample(b, wo, out);
        break;
    case MATERIAL_ROUGH_CONDUCTOR:
        conductor_sample(b, wo, u, out);
        break;
    case MATERIAL_DIELECTRIC:
        dielectric_sample(b, wo, u, out);
        break;
    case MATERIAL_PRINCIPLED:
        principled_sample(b, wo, u, out);
        break;
    default:
        break;
    }
    return out->transmitted ? out->wi.z < 0 : out->wi.z > 0;
}

struct vec3 bsdf_albedo(const struct bsdf *b)
{
    if (b->type == MATERIAL_DIELECTRIC)
        return gray(1);
    return b->type == MATERIAL_ROUGH_CONDUCTOR ? conductor_fresnel(b, 1) : b->base;
}
