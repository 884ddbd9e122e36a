/* SPDX-License-Identifier: Apache-2.0 */
/* One lobe (protocol sections 20 and 21): a weighted BSDF about a normal of its own. eval, sample
 * and the reflectance estimate e stand together. */
#ifndef K_LOBE_H
#define K_LOBE_H
#include "math/exponential.h"
#include "surface/material.h"

/* Section 21's letters. */
#define K_LOBE_BASE        0u
#define K_LOBE_LAMBERT     1u  /* D */
#define K_LOBE_OREN_NAYAR  2u  /* O */
#define K_LOBE_BURLEY      3u  /* B */
#define K_LOBE_SHEEN       4u  /* H */
#define K_LOBE_TRANSLUCENT 5u  /* L */
#define K_LOBE_PHONG       6u  /* P */
#define K_LOBE_WARD        7u  /* W */
#define K_LOBE_REFLECT     8u  /* M */
#define K_LOBE_REFRACT     9u  /* T */
#define K_LOBE_STRAIGHT    10u /* X */
#define K_LOBE_COAT        11u /* C */
#define K_LOBE_VELVET      12u /* S */
#define K_LOBE_FLAT        13u /* K, which BURLEY brings */

/* Is it of this kind? Never where the scene has none of it. */
#define K_LOBE_IS(l, NAME) (K_HAS(NAME) && (l)->kind == K_LOBE_##NAME)

/* F of M and T. */
#define K_FRESNEL_ONE        0u
#define K_FRESNEL_DIELECTRIC 1u /* eta */
#define K_FRESNEL_CONDUCTOR  2u /* a + i b */
#define K_FRESNEL_SCHLICK    3u /* a at normal incidence, b at grazing, exponent */

/* Fields that a kind does not name are not read. A base keeps its inputs in fields of others: see
 * k_lobe_set_base. */
struct k_lobe {
    uint kind;
    struct k_vec3 weight;
    struct k_frame frame;
    float ax, ay; /* M, T, W; both 0: delta */
    float shape;  /* sigma of O, roughness of B, K and H, exponent of P: clamped; alpha of C */
    float eta;    /* T and dielectric F: far side over near one */
    int beckmann; /* M, T; else GGX */
    uint fresnel; /* M, T */
    struct k_vec3 a, b;
    float exponent; /* K: subsurface */
    float c;        /* section 20; by k_lobes_finish */
};

/* ---- making one ----------------------------------------------------------------------------- */

/* Negative channels and those that are not finite are 0. */
K_FN struct k_vec3 k_weight(struct k_vec3 w)
{
    return v3(k_finite(w.x) && w.x > 0.0f ? w.x : 0.0f, k_finite(w.y) && w.y > 0.0f ? w.y : 0.0f,
              k_finite(w.z) && w.z > 0.0f ? w.z : 0.0f);
}
K_FN int k_is_black(struct k_vec3 c) { return c.x == 0.0f && c.y == 0.0f && c.z == 0.0f; }
K_FN int k_finite3(struct k_vec3 v) { return k_finite(v.x) && k_finite(v.y) && k_finite(v.z); }

/* n normalised, or N where that will not do. */
K_FN struct k_vec3 k_lobe_normal(struct k_vec3 n, struct k_vec3 N, struct k_vec3 wo)
{
    n = v3_normalize(n);
    return k_finite3(n) && v3_dot(n, wo) > 0.0f ? n : N;
}
/* The frame's first axis along X, where X has a part across the normal. */
K_FN struct k_frame k_frame_along(struct k_frame f, struct k_vec3 X)
{
    struct k_vec3 s = v3_sub(X, v3_scale(f.n, v3_dot(X, f.n)));
    if (k_is_black(s))
        return f;
    s = v3_normalize(s);
    if (!k_finite3(s) || k_is_black(s))
        return f;
    f.s = s;
    f.t = v3_cross(f.n, s);
    return f;
}
/* Sets what M, T and W have: X may be 0. W: k_lobe_set_widths alone. */
K_FN void k_lobe_set_widths(struct k_lobe *l, struct k_vec3 X, float ax, float ay)
{
    l->ax = k_min(k_max(ax, 0.001f), 1.0f);
    l->ay = k_min(k_max(ay, 0.001f), 1.0f);
    if (ax != ay)
        l->frame = k_frame_along(l->frame, X);
}
K_CALL void k_lobe_set_facets(struct k_lobe *l, struct k_vec3 X, float ax, float ay, int beckmann)
{
    l->beckmann = beckmann;
    k_lobe_set_widths(l, X, ax, ay);
    if (!(k_finite(ax) && k_finite(ay)) || k_max(ax, ay) < 0.001f) {
        l->ax = 0.0f;
        l->ay = 0.0f;
    }
}
K_FN void k_lobe_set_dielectric(struct k_lobe *l, float eta)
{
    l->fresnel = K_FRESNEL_DIELECTRIC;
    l->eta = eta;
}
K_FN void k_lobe_set_conductor(struct k_lobe *l, struct k_vec3 eta, struct k_vec3 k)
{
    l->fresnel = K_FRESNEL_CONDUCTOR;
    l->a = eta;
    l->b = k;
}
K_FN void k_lobe_set_schlick(struct k_lobe *l, struct k_vec3 f0, struct k_vec3 f90, float exponent)
{
    l->fresnel = K_FRESNEL_SCHLICK;
    l->a = f0;
    l->b = f90;
    l->exponent = exponent;
}
/* Of T, once its eta is known: where both sides are alike, light goes straight on. */
K_FN void k_lobe_set_refraction(struct k_lobe *l, float eta)
{
    l->eta = eta;
    if (K_ABS(eta - 1.0f) < 0.0001f)
        l->kind = K_LOBE_STRAIGHT;
}

/* A material of section 7 as a lobe, and back. */
K_FN void k_lobe_set_base(struct k_lobe *l, const struct k_bsdf *b)
{
    l->fresnel = b->type;
    l->beckmann = b->entering;
    l->a = b->type == K_MATERIAL_CONDUCTOR ? b->eta : b->base;
    l->b = b->k;
    l->ax = b->alpha;
    l->shape = b->roughness;
    l->ay = b->metallic;
    l->exponent = b->specular;
    l->eta = b->ior;
}
K_FN struct k_bsdf k_lobe_base(const struct k_lobe *l)
{
    struct k_bsdf b;
    b.type = l->fresnel;
    b.entering = l->beckmann;
    b.base = l->a;
    b.eta = l->a;
    b.k = l->b;
    b.alpha = l->ax;
    b.roughness = l->shape;
    b.metallic = l->ay;
    b.specular = l->exponent;
    b.ior = l->eta;
    return b;
}

/* ---- what kind it is ------------------------------------------------------------------------ */

K_FN int k_lobe_is_delta(const struct k_lobe *l)
{
    if (l->kind == K_LOBE_BASE)
        return k_is_delta(l->fresnel);
    return l->kind == K_LOBE_STRAIGHT ||
           ((l->kind == K_LOBE_REFLECT || l->kind == K_LOBE_REFRACT) && l->ax == 0.0f);
}
/* Of a base that is a dielectric the sample tells. */
K_FN int k_lobe_transmits(const struct k_lobe *l)
{
    return l->kind == K_LOBE_TRANSLUCENT || l->kind == K_LOBE_REFRACT || l->kind == K_LOBE_STRAIGHT;
}
K_FN uint k_lobe_ray(const struct k_lobe *l)
{
    int delta = l->ax == 0.0f;
    switch (l->kind) {
    case K_LOBE_PHONG:
    case K_LOBE_WARD:
    case K_LOBE_COAT:
        return K_RAY_GLOSSY;
    case K_LOBE_REFLECT:
        return delta ? K_RAY_REFLECTION : K_RAY_GLOSSY;
    case K_LOBE_REFRACT:
        return delta ? K_RAY_REFRACTION : K_RAY_GLOSSY;
    case K_LOBE_STRAIGHT:
        return 0u;
    default:
        return K_RAY_DIFFUSE;
    }
}

/* ---- reflectance ---------------------------------------------------------------------------- */

/* Section 7's dielectric between the cosines c and ct of the two sides. */
K_FN float k_fresnel_between(float eta, float c, float ct)
{
    float rs = (c - eta * ct) / (c + eta * ct);
    float rp = (eta * c - ct) / (eta * c + ct);
    return 0.5f * (rs * rs + rp * rp);
}
/* The same at the cosine c; 1 for eta <= 0. */
K_FN float k_fresnel_dielectric(float eta, float c)
{
    float s2 = (1.0f - c * c) / (eta * eta);
    if (!(eta > 0.0f) || s2 >= 1.0f)
        return 1.0f;
    return k_fresnel_between(eta, c, K_SQRT(1.0f - s2));
}
K_FN struct k_vec3 k_lobe_fresnel(const struct k_lobe *l, float c)
{
    if (K_HAS(CONDUCTOR) && l->fresnel == K_FRESNEL_CONDUCTOR)
        return v3(k_fresnel_conductor(c, l->a.x, l->b.x), k_fresnel_conductor(c, l->a.y, l->b.y),
                  k_fresnel_conductor(c, l->a.z, l->b.z));
    if (l->fresnel == K_FRESNEL_SCHLICK) {
        float p = l->exponent == 5.0f ? k_schlick(c) : k_pow(k_max(0.0f, 1.0f - c), l->exponent);
        return k_lerp3(l->a, l->b, p);
    }
    float F = l->fresnel == K_FRESNEL_DIELECTRIC ? k_fresnel_dielectric(l->eta, c) : 1.0f;
    return v3(F, F, F);
}
K_FN struct k_vec3 k_lobe_transmittance(const struct k_lobe *l, float c)
{
    struct k_vec3 F = k_lobe_fresnel(l, c);
    return v3(1.0f - F.x, 1.0f - F.y, 1.0f - F.z);
}

/* ---- the estimate e ------------------------------------------------------------------------- */

K_FN float k_sheen_estimate(float r, float m)
{
    float p = ((((13.673f - 68.78018f * m) + 799.08825f * r) - (905.00061f * m) * r) +
               60.28956f * (m * m)) +
              1086.96473f * (r * r);
    float q = ((((1.0f + 61.57746f * m) + 442.78211f * r) + (2597.49308f * m) * r) +
               121.81241f * (m * m)) +
              3045.55075f * (r * r);
    return k_clamp01(p / q);
}
K_FN float k_coat_fresnel(float c) { return 0.04f + 0.96f * k_schlick(c); }
K_FN float k_velvet_estimate(float m)
{
    float q = k_clamp01(1.0f - m);
    return (0.0884f * (q * q)) * (0.4f + 0.6f * q);
}
/* wo_z: the cosine in the lobe's own frame. */
K_FN struct k_vec3 k_lobe_estimate(const struct k_lobe *l, float wo_z)
{
    float e = 1.0f;
    if (l->kind == K_LOBE_BASE) {
        struct k_bsdf b = k_lobe_base(l);
        return k_base_estimate(&b, wo_z);
    }
    if (K_LOBE_IS(l, REFLECT))
        return k_lobe_fresnel(l, wo_z);
    if (K_LOBE_IS(l, REFRACT))
        return k_lobe_transmittance(l, wo_z);
    if (K_LOBE_IS(l, SHEEN))
        e = k_sheen_estimate(l->shape, wo_z);
    if (K_LOBE_IS(l, COAT))
        e = k_coat_fresnel(wo_z);
    if (K_LOBE_IS(l, VELVET))
        e = k_velvet_estimate(wo_z);
    return v3(e, e, e);
}

/* ---- O, B, H, P, W -------------------------------------------------------------------------- */

K_FN float k_oren_nayar(float sigma, struct k_vec3 wo, struct k_vec3 wi)
{
    float s2 = sigma * sigma;
    float a = 1.0f - 0.5f * (s2 / (s2 + 0.33f)), b = 0.45f * (s2 / (s2 + 0.09f));
    float s = wo.x * wi.x + wo.y * wi.y;
    return K_INV_PI * (a + b * (k_max(0.0f, s) / k_max(wo.z, wi.z)));
}
K_FN float k_burley(float roughness, struct k_vec3 wo, struct k_vec3 wi)
{
    float c = v3_dot(wo, v3_normalize(v3_add(wo, wi)));
    float f90 = 0.5f + (2.0f * roughness) * (c * c);
    return K_INV_PI *
           ((1.0f + (f90 - 1.0f) * k_schlick(wi.z)) * (1.0f + (f90 - 1.0f) * k_schlick(wo.z)));
}
/* Towards light that Hanrahan and Krueger's skin would scatter, made flat. */
K_FN float k_flat(float roughness, float subsurface, struct k_vec3 wo, struct k_vec3 wi)
{
    float c = v3_dot(wo, v3_normalize(v3_add(wo, wi))), c2 = c * c;
    float f90 = 0.5f + (2.0f * roughness) * c2, s90 = roughness * c2;
    float Fi = k_schlick(wi.z), Fo = k_schlick(wo.z);
    float d = (1.0f + (f90 - 1.0f) * Fi) * (1.0f + (f90 - 1.0f) * Fo);
    float s = (1.0f + (s90 - 1.0f) * Fi) * (1.0f + (s90 - 1.0f) * Fo);
    float flat = 1.25f * (s * (1.0f / (wi.z + wo.z) - 0.5f) + 0.5f);
    return K_INV_PI * (d + (flat - d) * subsurface);
}
K_FN float k_sheen(float r, struct k_vec3 wo, struct k_vec3 wi)
{
    struct k_vec3 h = v3_normalize(v3_add(wo, wi));
    float i = 1.0f / r, g = K_SQRT(h.x * h.x + h.y * h.y);
    float d = ((2.0f + i) * k_pow(g, i)) / K_TWO_PI;
    return d / (4.0f * ((wo.z + wi.z) - wo.z * wi.z));
}
K_FN struct k_vec3 k_phong_axis(struct k_vec3 wo) { return v3(-wo.x, -wo.y, wo.z); }
K_FN float k_phong(float x, struct k_vec3 wo, struct k_vec3 wi, float *pdf_w)
{
    float c = v3_dot(k_phong_axis(wo), wi);
    *pdf_w = 0.0f;
    if (!(c > 0.0f))
        return 0.0f;
    float p = k_pow(c, x);
    *pdf_w = ((x + 1.0f) / K_TWO_PI) * p;
    return ((x + 2.0f) / K_TWO_PI) * p;
}
K_FN struct k_vec3 k_phong_sample(float x, struct k_vec3 wo, float u, float v)
{
    float c = k_pow(1.0f - u, 1.0f / (x + 1.0f)), q = K_SQRT(k_max(0.0f, 1.0f - c * c));
    float sine, cosine;
    k_sincos(K_TWO_PI * v, &sine, &cosine);
    return k_to_world(k_frame_about(k_phong_axis(wo)), v3(q * cosine, q * sine, c));
}
K_FN float k_ward(const struct k_lobe *l, struct k_vec3 wo, struct k_vec3 wi, float *pdf_w)
{
    struct k_vec3 H = v3_add(wo, wi), h = v3_normalize(H);
    float p = h.x / l->ax, q = h.y / l->ay, z2 = h.z * h.z, H2 = H.z * H.z;
    float x = k_exp(-((p * p + q * q) / z2));
    *pdf_w = x / ((((4.0f * K_PI) * l->ax) * l->ay) * (v3_dot(wo, h) * (z2 * h.z)));
    return (x / ((K_PI * l->ax) * l->ay)) * (v3_dot(H, H) / (H2 * H2));
}
/* A facet's normal by -log(1 - u): Ward's and Beckmann's. */
K_FN struct k_vec3 k_gaussian_normal(const struct k_lobe *l, float u, float v)
{
    float k = K_SQRT(-k_log(1.0f - u)), sine, cosine;
    k_sincos(K_TWO_PI * v, &sine, &cosine);
    return v3_normalize(v3(l->ax * (k * cosine), l->ay * (k * sine), 1.0f));
}

/* ---- C and S -------------------------------------------------------------------------------- */

K_FN float k_coat_g1(struct k_vec3 w)
{
    float tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z);
    return 1.0f / (1.0f + 0.5f * (K_SQRT(1.0f + 0.0625f * tan2) - 1.0f));
}
K_FN float k_coat(float alpha, struct k_vec3 wo, struct k_vec3 wi, float *pdf_w)
{
    struct k_vec3 h = v3_normalize(v3_add(wo, wi));
    float c = v3_dot(wo, h), a2 = alpha * alpha;
    float D = (a2 - 1.0f) / ((K_PI * k_log(a2)) * ((h.x * h.x + h.y * h.y) + a2 * (h.z * h.z)));
    *pdf_w = (D * h.z) / (4.0f * c);
    return k_coat_fresnel(c) * ((D * (k_coat_g1(wo) * k_coat_g1(wi))) / ((4.0f * wo.z) * wi.z));
}
K_FN int k_coat_sample(float alpha, struct k_vec3 wo, float u, float v, struct k_vec3 *wi)
{
    float a2 = alpha * alpha, sine, cosine;
    float s2 = k_clamp01((k_exp(k_log(a2) * (1.0f - u)) - a2) / (1.0f - a2)), q = K_SQRT(s2);
    k_sincos(K_TWO_PI * v, &sine, &cosine);
    struct k_vec3 h = v3(q * cosine, q * sine, K_SQRT(1.0f - s2));
    *wi = k_mirror_about(wo, h);
    return v3_dot(wo, h) > 0.0f;
}

/* ---- M and T -------------------------------------------------------------------------------- */

K_FN float k_facet_d(const struct k_lobe *l, struct k_vec3 h)
{
    float x = h.x / l->ax, y = h.y / l->ay, z2 = h.z * h.z;
    float area = (K_PI * l->ax) * l->ay;
    if (K_HAS(BECKMANN) && l->beckmann)
        return k_exp(-((x * x + y * y) / z2)) / (area * (z2 * z2));
    float q = (x * x + y * y) + z2;
    return 1.0f / (area * (q * q));
}
K_FN float k_facet_lambda(const struct k_lobe *l, struct k_vec3 w)
{
    float x = l->ax * w.x, y = l->ay * w.y;
    float spread = x * x + y * y;
    if (!(K_HAS(BECKMANN) && l->beckmann))
        return 0.5f * (K_SQRT(1.0f + spread / (w.z * w.z)) - 1.0f);
    float root = K_SQRT(spread);
    if (root == 0.0f)
        return 0.0f;
    float a = K_ABS(w.z) / root;
    if (a >= 1.6f)
        return 0.0f;
    return ((1.0f - 1.259f * a) + 0.396f * (a * a)) / (3.535f * a + 2.181f * (a * a));
}
/* f and density of M at wi, of T as well: h between them, c = <wo, h>. */
K_FN struct k_vec3 k_facet_eval(const struct k_lobe *l, struct k_vec3 wo, struct k_vec3 wi,
                                float *pdf_w)
{
    int transmits = K_LOBE_IS(l, REFRACT);
    struct k_vec3 h = v3_normalize(v3_madd(wo, wi, transmits ? l->eta : 1.0f));
    h = v3_flip(h, h.z < 0.0f ? 0x80000000u : 0u);
    float c = v3_dot(wo, h), d = v3_dot(wi, h);
    *pdf_w = 0.0f;
    if (transmits && !(c > 0.0f && d < 0.0f))
        return v3(0.0f, 0.0f, 0.0f);
    float D = k_facet_d(l, h), lo = k_facet_lambda(l, wo), li = k_facet_lambda(l, wi);
    float g1 = 1.0f / (1.0f + lo), g2 = 1.0f / ((1.0f + lo) + li);
    float ph = K_HAS(BECKMANN) && l->beckmann ? D * h.z : ((g1 * D) * c) / wo.z;
    if (!transmits) {
        *pdf_w = ph / (4.0f * c);
        return v3_scale(k_lobe_fresnel(l, c), (D * g2) / ((4.0f * wo.z) * wi.z));
    }
    float j = c + l->eta * d, ad = K_ABS(d);
    struct k_vec3 through = k_lobe_transmittance(l, c);
    if (l->fresnel == K_FRESNEL_DIELECTRIC) { /* ct is |d|, which the root loses near 0 */
        float t = l->eta > 0.0f ? 1.0f - k_fresnel_between(l->eta, c, ad) : 0.0f;
        through = v3(t, t, t);
    }
    *pdf_w = ph * (((l->eta * l->eta) * ad) / (j * j));
    return v3_scale(through, ((D * g2) * (c * ad)) / ((wo.z * K_ABS(wi.z)) * (j * j)));
}
/* wo refracted at a facet h: 0 on total reflection. */
K_FN int k_refract(float eta, struct k_vec3 wo, struct k_vec3 h, struct k_vec3 *wi)
{
    float c = v3_dot(wo, h), i = 1.0f / eta, k = 1.0f - (i * i) * (1.0f - c * c);
    if (!(k > 0.0f))
        return 0;
    *wi = v3_sub(v3_scale(h, i * c - K_SQRT(k)), v3_scale(wo, i));
    return 1;
}
K_FN int k_facet_sample(const struct k_lobe *l, struct k_vec3 wo, float u, float v,
                        struct k_vec3 *wi)
{
    struct k_vec3 h = K_HAS(BECKMANN) && l->beckmann ? k_gaussian_normal(l, u, v)
                                                     : k_ggx_sample(wo, l->ax, l->ay, u, v);
    if (!(v3_dot(wo, h) > 0.0f))
        return 0;
    if (K_LOBE_IS(l, REFRACT))
        return k_refract(l->eta, wo, h, wi);
    *wi = k_mirror_about(wo, h);
    return 1;
}

/* ---- one lobe, in its own frame ------------------------------------------------------------- */

/* f without the cosine, and the density, of a direction on the lobe's side: wo.z > 0, wi.z > 0 or,
 * when it transmits, < 0. Not for delta lobes. */
K_CALL struct k_vec3 k_lobe_eval(const struct k_lobe *l, struct k_vec3 wo, struct k_vec3 wi,
                                 float *pdf_w)
{
    float f = K_INV_PI;
    if (K_LOBE_IS(l, REFLECT) || K_LOBE_IS(l, REFRACT))
        return k_facet_eval(l, wo, wi, pdf_w);
    if (l->kind == K_LOBE_BASE) {
        struct k_bsdf b = k_lobe_base(l);
        return k_bsdf_eval(&b, wo, wi, pdf_w);
    }
    *pdf_w = k_cosine_pdf(K_ABS(wi.z));
    if (K_LOBE_IS(l, OREN_NAYAR))
        f = k_oren_nayar(l->shape, wo, wi);
    if (K_LOBE_IS(l, BURLEY))
        f = k_burley(l->shape, wo, wi);
    if (K_HAS(BURLEY) && l->kind == K_LOBE_FLAT)
        f = k_flat(l->shape, l->exponent, wo, wi);
    if (K_LOBE_IS(l, SHEEN)) {
        f = k_sheen(l->shape, wo, wi);
        *pdf_w = K_INV_2PI;
    }
    if (K_LOBE_IS(l, PHONG))
        f = k_phong(l->shape, wo, wi, pdf_w);
    if (K_LOBE_IS(l, WARD))
        f = k_ward(l, wo, wi, pdf_w);
    if (K_LOBE_IS(l, COAT))
        f = k_coat(l->shape, wo, wi, pdf_w);
    if (K_LOBE_IS(l, VELVET))
        f = k_schlick(v3_dot(wo, v3_normalize(v3_add(wo, wi))));
    return v3(f, f, f);
}

/* A direction by (u, v), and of delta lobes its weight r; choice is for a lobe that makes one of
 * its own. pdf_w is left to the list. */
K_CALL struct k_bsdf_sample k_lobe_sample(const struct k_lobe *l, struct k_vec3 wo, float choice,
                                          float u, float v)
{
    struct k_bsdf_sample s;
    if (l->kind == K_LOBE_BASE) {
        struct k_bsdf b = k_lobe_base(l);
        return k_bsdf_sample_make(&b, wo, choice, u, v);
    }
    s.ok = 1;
    s.delta = k_lobe_is_delta(l);
    s.ray = k_lobe_ray(l);
    s.weight = v3(1.0f, 1.0f, 1.0f);
    s.wi = v3(0.0f, 0.0f, 0.0f);
    s.pdf_w = 0.0f;
    if (l->kind == K_LOBE_STRAIGHT) {
        s.wi = v3_neg(wo);
    } else if (K_LOBE_IS(l, REFLECT) || K_LOBE_IS(l, REFRACT)) {
        if (!s.delta) {
            s.ok = k_facet_sample(l, wo, u, v, &s.wi);
        } else if (K_LOBE_IS(l, REFLECT)) {
            s.wi = v3(-wo.x, -wo.y, wo.z);
            s.weight = k_lobe_fresnel(l, wo.z);
        } else {
            float i = 1.0f / l->eta, s2 = (1.0f - wo.z * wo.z) / (l->eta * l->eta);
            s.ok = s2 < 1.0f;
            s.wi = v3(-wo.x * i, -wo.y * i, -K_SQRT(k_max(0.0f, 1.0f - s2)));
            s.weight = v3_scale(k_lobe_transmittance(l, wo.z), i * i);
        }
    } else if (K_LOBE_IS(l, SHEEN)) {
        float q = K_SQRT(k_max(0.0f, 1.0f - u * u)), sine, cosine;
        k_sincos(K_TWO_PI * v, &sine, &cosine);
        s.wi = v3(q * cosine, q * sine, u);
    } else if (K_LOBE_IS(l, PHONG)) {
        s.wi = k_phong_sample(l->shape, wo, u, v);
    } else if (K_LOBE_IS(l, COAT)) {
        s.ok = k_coat_sample(l->shape, wo, u, v, &s.wi);
    } else if (K_LOBE_IS(l, WARD)) {
        s.wi = k_mirror_about(wo, k_gaussian_normal(l, u, v));
    } else {
        s.wi = k_sample_cosine(u, v);
        if (l->kind == K_LOBE_TRANSLUCENT)
            s.wi.z = -s.wi.z;
    }
    return s;
}

#endif
