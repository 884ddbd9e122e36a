/* SPDX-License-Identifier: Apache-2.0 */
/* BSDFs (protocol section 7), in the frame whose z is the shading normal. eval, pdf and sample of
 * one model stand together. */
#ifndef K_MATERIAL_H
#define K_MATERIAL_H
#include "math/random.h"
#include "scene/texture.h"

/* A material at one point: inputs looked up and clamped. */
struct k_bsdf {
    uint type;
    struct k_vec3 base;
    float alpha, roughness, metallic, specular, ior;
    struct k_vec3 eta, k;
    int entering; /* dielectric: wo is outside */
};

/* Bits of asl_globals.raytype: what a lobe makes of a ray. 0: it stays what it was. */
#define K_RAY_CAMERA     1u
#define K_RAY_REFLECTION 4u
#define K_RAY_REFRACTION 8u
#define K_RAY_DIFFUSE    16u
#define K_RAY_GLOSSY     32u

struct k_bsdf_sample {
    int ok, delta;
    uint ray; /* K_RAY_* that goes on */
    struct k_vec3 wi, weight;
    float pdf_w;
};

/* Is a type this one? Never where the scene has none of it. */
#define K_TYPE_IS(type, NAME) (K_HAS(NAME) && (type) == K_MATERIAL_##NAME)

K_FN int k_is_delta(uint type) { return type == K_MATERIAL_MIRROR || K_TYPE_IS(type, DIELECTRIC); }

K_FN struct k_vec3 k_base_color(const struct k_scene *sc, K_GLOBAL const struct k_material *m,
                                float u, float v)
{
    struct k_vec3 c = v3_load(m->base);
    if (K_HAS(TEXTURES) && m->base_texture >= 0)
        c = v3_mul(c, k_color_lookup(sc, (uint)m->base_texture, u, v));
    return v3(k_clamp01(c.x), k_clamp01(c.y), k_clamp01(c.z));
}

/* As a BSDF of section 7 of this type. */
K_FN struct k_bsdf k_bsdf_make(const struct k_scene *sc, K_GLOBAL const struct k_material *m,
                               uint type, float u, float v, int entering)
{
    struct k_bsdf b;
    b.type = type;
    b.base = k_base_color(sc, m, u, v);
    b.alpha = 0.0f;
    b.roughness = 0.0f;
    b.metallic = 0.0f;
    b.specular = m->specular.value;
    b.ior = m->ior.value;
    b.eta = v3(0.0f, 0.0f, 0.0f);
    b.k = b.eta;
    b.entering = entering;
    if (K_TYPE_IS(b.type, CONDUCTOR) || K_TYPE_IS(b.type, PRINCIPLED)) {
        b.roughness = k_clamp01(k_scalar_input(sc, &m->roughness, u, v));
        b.alpha = k_max(b.roughness * b.roughness, 0.001f);
    }
    if (K_TYPE_IS(b.type, CONDUCTOR)) {
        b.eta = v3_load(m->eta);
        b.k = v3_load(m->k);
    }
    if (K_TYPE_IS(b.type, PRINCIPLED))
        b.metallic = k_clamp01(k_scalar_input(sc, &m->metallic, u, v));
    return b;
}

/* ---- Fresnel
 * ------------------------------------------------------------------------------------- */

/* Unpolarised reflectance of a conductor with complex index eta + i k; c = cosine. */
K_FN float k_fresnel_conductor_inline(float c, float eta, float k)
{
    float c2 = c * c, s2 = 1.0f - c2;
    float eta2 = eta * eta, k2 = k * k;
    float t0 = (eta2 - k2) - s2;
    float ab = K_SQRT(t0 * t0 + (4.0f * eta2) * k2);
    float root = K_SQRT(0.5f * (ab + K_ABS(t0))); /* of a sum, where ab + t0 would cancel */
    float a = t0 < 0.0f ? (eta * k) / root : root;
    float t1 = ab + c2, t2 = (2.0f * a) * c;
    float rs = (t1 - t2) / (t1 + t2);
    float t3 = c2 * ab + s2 * s2, t4 = t2 * s2;
    float rp = rs * ((t3 - t4) / (t3 + t4));
    return 0.5f * (rs + rp);
}
#if K_APART
K_CALL float k_fresnel_conductor_apart(float c, float eta, float k)
{
    return k_fresnel_conductor_inline(c, eta, k);
}
#endif
/* Lists of lobes ask for it in some thirty places. */
K_FN float k_fresnel_conductor(float c, float eta, float k)
{
#if K_APART
    if (K_HAS(LOBES))
        return k_fresnel_conductor_apart(c, eta, k);
#endif
    return k_fresnel_conductor_inline(c, eta, k);
}

/* (1 - x)^5 with 1 - x held in [0, 1]. */
K_FN float k_schlick(float x)
{
    float m = k_clamp01(1.0f - x);
    float m2 = m * m;
    return (m2 * m2) * m;
}

/* ---- GGX, Smith's height-correlated masking
 * ---------------------------------------------------------- */

/* The square's base h.z^2 (alpha^2 - 1) + 1 written as a sum of positive terms, since |h| = 1. */
K_FN float k_ggx_d(struct k_vec3 h, float alpha)
{
    float a2 = alpha * alpha;
    float q = (h.x * h.x + h.y * h.y) + a2 * (h.z * h.z);
    return a2 / (K_PI * (q * q));
}
K_FN float k_ggx_lambda(struct k_vec3 w, float alpha)
{
    float tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z);
    return 0.5f * (K_SQRT(1.0f + (alpha * alpha) * tan2) - 1.0f);
}
/* Visible normal of an ellipsoid (Heitz, JCGT 2018). */
K_FN struct k_vec3 k_ggx_sample(struct k_vec3 wo, float ax, float ay, float u, float v)
{
    struct k_vec3 vh = v3_normalize(v3(ax * wo.x, ay * wo.y, wo.z));
    float len2 = vh.x * vh.x + vh.y * vh.y;
    struct k_vec3 t1 = v3(1.0f, 0.0f, 0.0f);
    if (len2 > 0.0f) {
        float inv = K_RSQRT(len2);
        t1 = v3(-vh.y * inv, vh.x * inv, 0.0f);
    }
    struct k_vec3 t2 = v3_cross(vh, t1);
    float r = K_SQRT(u), s, c;
    k_sincos(K_TWO_PI * v, &s, &c);
    float p1 = r * c, p2 = r * s;
    float h = 0.5f * (1.0f + vh.z);
    p2 = (1.0f - h) * K_SQRT(k_max(0.0f, 1.0f - p1 * p1)) + h * p2;
    float p3 = K_SQRT(k_max(0.0f, (1.0f - p1 * p1) - p2 * p2));
    struct k_vec3 n = v3_madd(v3_madd(v3_scale(t1, p1), t2, p2), vh, p3);
    return v3_normalize(v3(ax * n.x, ay * n.y, k_max(0.0f, n.z)));
}
/* 2 <wo, h> h - wo */
K_FN struct k_vec3 k_mirror_about(struct k_vec3 wo, struct k_vec3 h)
{
    return v3_sub(v3_scale(h, 2.0f * v3_dot(wo, h)), wo);
}

/* ---- models
 * -----------------------------------------------------------------------------------------------
 */

K_FN struct k_vec3 k_conductor_fresnel(const struct k_bsdf *b, float c)
{
    return v3(k_fresnel_conductor(c, b->eta.x, b->k.x), k_fresnel_conductor(c, b->eta.y, b->k.y),
              k_fresnel_conductor(c, b->eta.z, b->k.z));
}

/* F0 + (1 - F0) s */
K_FN struct k_vec3 k_schlick_mix(struct k_vec3 f0, float s)
{
    return v3(f0.x + (1.0f - f0.x) * s, f0.y + (1.0f - f0.y) * s, f0.z + (1.0f - f0.z) * s);
}
K_FN struct k_vec3 k_principled_f0(const struct k_bsdf *b)
{
    float d = 0.08f * b->specular;
    return k_lerp3(v3(d, d, d), b->base, b->metallic);
}
/* e of section 21, at the cosine c. */
K_FN struct k_vec3 k_base_estimate(const struct k_bsdf *b, float c)
{
    if (K_TYPE_IS(b->type, DIELECTRIC))
        return v3(1.0f, 1.0f, 1.0f);
    if (K_TYPE_IS(b->type, CONDUCTOR))
        return k_conductor_fresnel(b, c);
    if (!K_TYPE_IS(b->type, PRINCIPLED))
        return b->base;
    struct k_vec3 F = k_schlick_mix(k_principled_f0(b), k_schlick(c));
    F = v3_add(F, v3_scale(b->base, 1.0f - b->metallic));
    return v3(k_clamp01(F.x), k_clamp01(F.y), k_clamp01(F.z));
}
K_FN float k_principled_specular_chance(const struct k_bsdf *b, struct k_vec3 f0, float wo_z)
{
    float ws = v3_luminance(k_schlick_mix(f0, k_schlick(wo_z)));
    float wd = (1.0f - b->metallic) * v3_luminance(b->base);
    if (wd == 0.0f)
        return 1.0f;
    return k_min(k_max(ws / (ws + wd), 0.1f), 0.9f);
}

K_FN float k_cosine_pdf(float z) { return FAULT_WRONG_PDF(z * K_INV_PI); }

/* f and density of wi given wo; both z > 0; delta lobes give 0. */
K_FN struct k_vec3 k_bsdf_eval(const struct k_bsdf *b, struct k_vec3 wo, struct k_vec3 wi,
                               float *pdf_w)
{
    *pdf_w = 0.0f;
    if (!(wo.z > 0.0f && wi.z > 0.0f) || k_is_delta(b->type))
        return v3(0.0f, 0.0f, 0.0f);
    if (!(K_HAS(CONDUCTOR) || K_HAS(PRINCIPLED)) || b->type == K_MATERIAL_DIFFUSE) {
        *pdf_w = k_cosine_pdf(wi.z);
        return v3_scale(b->base, K_INV_PI);
    }
    struct k_vec3 h = v3_normalize(v3_add(wo, wi));
    float c = v3_dot(wo, h);
    float d = k_ggx_d(h, b->alpha);
    float lo = k_ggx_lambda(wo, b->alpha), li = k_ggx_lambda(wi, b->alpha);
    float g1 = 1.0f / (1.0f + lo), g2 = 1.0f / ((1.0f + lo) + li);
    float specular_pdf = (g1 * d) / (4.0f * wo.z);
    float common = (d * g2) / ((4.0f * wo.z) * wi.z);
    if (!K_HAS(PRINCIPLED) || K_TYPE_IS(b->type, CONDUCTOR)) {
        *pdf_w = specular_pdf;
        return v3_scale(k_conductor_fresnel(b, c), common);
    }
    struct k_vec3 f0 = k_principled_f0(b);
    struct k_vec3 specular = v3_scale(k_schlick_mix(f0, k_schlick(c)), common);
    float f90 = 0.5f + (2.0f * b->roughness) * (c * c);
    float burley =
        (1.0f + (f90 - 1.0f) * k_schlick(wi.z)) * (1.0f + (f90 - 1.0f) * k_schlick(wo.z));
    struct k_vec3 diffuse = v3_scale(b->base, ((1.0f - b->metallic) * K_INV_PI) * burley);
    float ps = k_principled_specular_chance(b, f0, wo.z);
    *pdf_w = ps * specular_pdf + (1.0f - ps) * k_cosine_pdf(wi.z);
    return v3_add(specular, diffuse);
}

K_FN struct k_bsdf_sample k_dielectric_sample(const struct k_bsdf *b, struct k_vec3 wo,
                                              float choice)
{
    struct k_bsdf_sample s;
    float eta = FAULT_WRONG_IOR(b->entering) ? b->ior : 1.0f / b->ior;
    float c = wo.z;
    float s2 = (1.0f - c * c) / (eta * eta);
    float ct = 0.0f, fresnel = 1.0f;
    if (s2 < 1.0f) {
        ct = K_SQRT(1.0f - s2);
        float rs = (c - eta * ct) / (c + eta * ct);
        float rp = (eta * c - ct) / (eta * c + ct);
        fresnel = 0.5f * (rs * rs + rp * rp);
    }
    s.delta = 1;
    s.ok = 1;
    s.pdf_w = 0.0f;
    if (s2 >= 1.0f || choice < fresnel) {
        s.ray = K_RAY_REFLECTION;
        s.wi = v3(-wo.x, -wo.y, wo.z);
        s.weight = v3(1.0f, 1.0f, 1.0f);
    } else {
        float inv = 1.0f / eta;
        s.ray = K_RAY_REFRACTION;
        s.wi = v3(-wo.x * inv, -wo.y * inv, -ct);
        s.weight = v3(inv * inv, inv * inv, inv * inv);
    }
    return s;
}

/* choice, u, v: the lobe and direction numbers. ok is 0 when wi.z <= 0 (for reflection) or the
 * density is 0. */
K_INLINE struct k_bsdf_sample k_bsdf_sample_make(const struct k_bsdf *b, struct k_vec3 wo,
                                                 float choice, float u, float v)
{
    struct k_bsdf_sample s;
    if (K_TYPE_IS(b->type, DIELECTRIC))
        return k_dielectric_sample(b, wo, choice);
    s.delta = 0;
    if (b->type == K_MATERIAL_MIRROR) {
        s.delta = 1;
        s.ok = wo.z > 0.0f;
        s.ray = K_RAY_REFLECTION;
        s.wi = v3(-wo.x, -wo.y, wo.z);
        s.weight = b->base;
        s.pdf_w = 0.0f;
        return s;
    }
    if (!(K_HAS(CONDUCTOR) || K_HAS(PRINCIPLED)) || b->type == K_MATERIAL_DIFFUSE) {
        s.ray = K_RAY_DIFFUSE;
        s.wi = k_sample_cosine(u, v);
        s.pdf_w = k_cosine_pdf(s.wi.z);
        s.weight = b->base;
        s.ok = s.wi.z > 0.0f;
        return s;
    }
    int specular = 1;
    if (b->type == K_MATERIAL_PRINCIPLED)
        specular = choice < k_principled_specular_chance(b, k_principled_f0(b), wo.z);
    s.ray = specular ? K_RAY_GLOSSY : K_RAY_DIFFUSE;
    s.wi = specular ? k_mirror_about(wo, k_ggx_sample(wo, b->alpha, b->alpha, u, v))
                    : k_sample_cosine(u, v);
    struct k_vec3 f = k_bsdf_eval(b, wo, s.wi, &s.pdf_w);
    s.ok = s.wi.z > 0.0f && s.pdf_w > 0.0f;
    s.weight = v3(0.0f, 0.0f, 0.0f);
    if (s.ok)
        s.weight = v3_scale(f, s.wi.z / s.pdf_w);
    return s;
}

#endif
