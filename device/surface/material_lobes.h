/* SPDX-License-Identifier: Apache-2.0 */
/* Materials as lists of lobes (protocol section 28), and `principled` of section 21, which closures
 * share. */
#ifndef K_MATERIAL_LOBES_H
#define K_MATERIAL_LOBES_H
#include "surface/lobes.h"
#include "surface/surface.h"

/* ---- facets that are wider one way ---------------------------------------------------------- */

/* The frame along U, where that is a direction across n, and turned by `rotation` turns. */
K_FN struct k_frame k_frame_brushed(struct k_frame f, struct k_vec3 U, float rotation)
{
    float S, C;
    k_sincos(K_TWO_PI * rotation, &S, &C);
    f = k_frame_along(f, U);
    struct k_vec3 s = f.s, t = f.t;
    f.s = v3_madd(v3_scale(s, C), t, S);
    f.t = v3_madd(v3_scale(t, C), s, -S);
    return f;
}
K_FN void k_lobe_brush(struct k_lobe *l, float roughness, float anisotropy, float rotation,
                       struct k_vec3 U)
{
    float r2 = roughness * roughness, aspect = K_SQRT(1.0f - 0.9f * anisotropy);
    l->ax = k_max(r2 / aspect, 0.001f);
    l->ay = k_max(r2 * aspect, 0.001f);
    if (l->ax != l->ay)
        l->frame = k_frame_brushed(l->frame, U, rotation);
}

/* ---- principled ----------------------------------------------------------------------------- */

/* Everything within its bounds. */
struct k_principled {
    struct k_vec3 base;
    float metallic, roughness, specular, specular_tint, anisotropy, rotation, sheen, sheen_tint,
        clearcoat, clearcoat_gloss, transmission, subsurface;
    float eta;        /* the far side's index over the near one's */
    int behind;       /* seen from the side that Ng as stored does not point to */
    int own_specular; /* else the next two are 1 */
    struct k_vec3 specular_color;
    float specular_weight;
    float thin_ior; /* of a thin wall; 0: a solid */
};
/* For what has no layers. */
K_FN void k_principled_unlayered(struct k_principled *p)
{
    p->own_specular = 0;
    p->specular_color = v3(1.0f, 1.0f, 1.0f);
    p->specular_weight = 1.0f;
    p->thin_ior = 0.0f;
}

K_FN int k_principled_is_plain(const struct k_principled *p)
{
    if (K_HAS(LAYERS) && p->own_specular)
        return 0;
    if (!K_HAS(BURLEY))
        return 1;
    return p->specular_tint == 0.0f && p->anisotropy == 0.0f && p->sheen == 0.0f &&
           p->clearcoat == 0.0f && p->subsurface == 0.0f &&
           p->transmission * (1.0f - p->metallic) == 0.0f;
}
K_FN struct k_bsdf k_principled_base(const struct k_principled *p)
{
    struct k_bsdf b;
    b.type = K_MATERIAL_PRINCIPLED;
    b.base = p->base;
    b.metallic = p->metallic;
    b.roughness = p->roughness;
    b.alpha = k_max(p->roughness * p->roughness, 0.001f);
    b.specular = p->specular;
    b.ior = 1.5f;
    b.eta = v3(0.0f, 0.0f, 0.0f);
    b.k = b.eta;
    b.entering = 1;
    return b;
}
/* 1 + (tint - 1) amount */
K_FN struct k_vec3 k_tinted(struct k_vec3 tint, float amount)
{
    return v3(1.0f + (tint.x - 1.0f) * amount, 1.0f + (tint.y - 1.0f) * amount,
              1.0f + (tint.z - 1.0f) * amount);
}
K_FN struct k_vec3 k_tint_of(struct k_vec3 base)
{
    float Y = v3_luminance(base);
    return Y == 0.0f ? v3(1.0f, 1.0f, 1.0f) : v3(base.x / Y, base.y / Y, base.z / Y);
}
/* Both sides of a surface that refracts have the same facets: from behind they turn the other way.
 */
K_FN float k_principled_rotation(const struct k_principled *p)
{
    int solid =
        !(K_HAS(LAYERS) && p->thin_ior > 0.0f) && p->transmission * (1.0f - p->metallic) != 0.0f;
    return p->behind && solid ? -p->rotation : p->rotation;
}
K_FN void k_add_principled_facets(struct k_lobes *l, uint kind, struct k_vec3 weight,
                                  struct k_vec3 n, struct k_vec3 U, const struct k_principled *p,
                                  struct k_vec3 F0, struct k_vec3 F90, int dielectric)
{
    struct k_lobe *lobe = k_lobes_add(l, kind, weight, n);
    if (!lobe)
        return;
    if (dielectric)
        k_lobe_set_dielectric(lobe, p->eta);
    else
        k_lobe_set_schlick(lobe, F0, F90, 5.0f);
    k_lobe_brush(lobe, p->roughness, p->anisotropy, k_principled_rotation(p), U);
    if (kind == K_LOBE_REFRACT)
        k_lobe_set_refraction(lobe, p->eta);
}
/* What is let through, and what its faces reflect. */
K_FN void k_add_principled_through(struct k_lobes *l, struct k_vec3 w, struct k_vec3 n,
                                   struct k_vec3 U, const struct k_principled *p)
{
    const struct k_vec3 one = v3(1.0f, 1.0f, 1.0f);
    struct k_vec3 root = v3(K_SQRT(p->base.x), K_SQRT(p->base.y), K_SQRT(p->base.z));
    if (K_HAS(LAYERS) && p->thin_ior > 0.0f) {
        float F = k_fresnel_dielectric(p->thin_ior, v3_dot(l->wo, l->N));
        float R = (2.0f * F) / (1.0f + F);
        struct k_lobe *lobe = k_lobes_add(l, K_LOBE_REFLECT, v3_scale(w, R), n);
        if (lobe)
            k_lobe_brush(lobe, p->roughness, p->anisotropy, p->rotation, U);
        (void)k_lobes_add(l, K_LOBE_STRAIGHT, v3_mul(v3_scale(w, 1.0f - R), p->base), n);
        return;
    }
    k_add_principled_facets(l, K_LOBE_REFLECT, w, n, U, p, one, one, 1);
    k_add_principled_facets(l, K_LOBE_REFRACT, v3_mul(w, root), n, U, p, one, one, 1);
}
/* About n with weight w; U of section 18, 0 on triangles without texture coordinates. */
K_CALL void k_add_principled(struct k_lobes *l, struct k_vec3 w, struct k_vec3 n, struct k_vec3 U,
                             const struct k_principled *p)
{
    if (k_principled_is_plain(p)) {
        struct k_bsdf b = k_principled_base(p);
        k_lobes_add_base(l, w, n, &b);
        return;
    }
    float m = p->metallic, t = p->transmission * (1.0f - m), d0 = 0.08f * p->specular;
    struct k_vec3 tint = k_tint_of(p->base), d = k_tinted(tint, p->specular_tint);
    d = v3(k_min(d0 * d.x, 1.0f), k_min(d0 * d.y, 1.0f), k_min(d0 * d.z, 1.0f));
    struct k_vec3 F90 = v3(1.0f, 1.0f, 1.0f);
    if (K_HAS(LAYERS) && p->own_specular) {
        float W = p->specular_weight;
        struct k_vec3 s = k_tinted(tint, p->specular_tint);
        s = v3_mul(v3_scale(s, d0), p->specular_color);
        d = v3_scale(v3(k_min(s.x, 1.0f), k_min(s.y, 1.0f), k_min(s.z, 1.0f)), W);
        F90 = k_lerp3(v3(W, W, W), F90, m);
    }
    struct k_vec3 F0 = k_lerp3(d, p->base, m);
    struct k_lobe *lobe;
    k_add_principled_facets(l, K_LOBE_REFLECT, v3_scale(w, 1.0f - t), n, U, p, F0, F90, 0);
    lobe = k_lobes_add(l, p->subsurface == 0.0f ? K_LOBE_BURLEY : K_LOBE_FLAT,
                       v3_mul(v3_scale(w, (1.0f - t) * (1.0f - m)), p->base), n);
    if (lobe) {
        lobe->shape = p->roughness;
        lobe->exponent = p->subsurface;
    }
    if (K_HAS(REFRACT))
        k_add_principled_through(l, v3_scale(w, t), n, U, p);
    lobe = (struct k_lobe *)0;
    if (K_HAS(COAT))
        lobe = k_lobes_add(l, K_LOBE_COAT, v3_scale(w, 0.25f * p->clearcoat), n);
    if (lobe)
        lobe->shape = 0.1f + (0.001f - 0.1f) * p->clearcoat_gloss;
    if (K_HAS(VELVET))
        (void)k_lobes_add(l, K_LOBE_VELVET,
                          v3_mul(v3_scale(w, p->sheen * (1.0f - m)), k_tinted(tint, p->sheen_tint)),
                          n);
}

/* ---- inputs --------------------------------------------------------------------------------- */

/* A material's inputs at a point, within their bounds; what a type does not have stands at its
 * default and is not read. */
struct k_inputs {
    uint type;
    struct k_vec3 base, eta, k;
    float roughness, metallic, specular, specular_tint, anisotropy, rotation, sheen, sheen_tint,
        clearcoat, clearcoat_gloss, transmission, subsurface, ior, sigma;
    int entering;
    int layered, thin; /* not layered: the rest means nothing */
    struct k_vec3 specular_color, fuzz, coat_normal;
    float specular_weight, coat, coat_roughness, fuzz_roughness;
};

K_FN struct k_vec3 k_color_input(const struct k_scene *sc, K_GLOBAL const float *value,
                                 k_index texture, float u, float v)
{
    struct k_vec3 c = v3_load(value);
    if (texture >= 0)
        c = v3_mul(c, k_color_lookup(sc, (uint)texture, u, v));
    return v3(k_max(c.x, 0.0f), k_max(c.y, 0.0f), k_max(c.z, 0.0f));
}
K_FN void k_inputs_layers(const struct k_scene *sc, K_GLOBAL const struct k_material *m, float u,
                          float v, struct k_inputs *x)
{
    x->layered = m->layered != 0u;
    if (!x->layered)
        return;
    x->thin = m->thin != 0u;
    x->specular_color = k_color_input(sc, m->specular_color, m->specular_color_texture, u, v);
    x->fuzz = k_color_input(sc, m->fuzz, m->fuzz_texture, u, v);
    x->fuzz = v3(k_min(x->fuzz.x, 1.0f), k_min(x->fuzz.y, 1.0f), k_min(x->fuzz.z, 1.0f));
    x->specular_weight = k_clamp01(k_scalar_input(sc, &m->specular_weight, u, v));
    x->coat = k_clamp01(k_scalar_input(sc, &m->coat, u, v));
    x->coat_roughness = k_clamp01(k_scalar_input(sc, &m->coat_roughness, u, v));
    x->fuzz_roughness = k_clamp01(k_scalar_input(sc, &m->fuzz_roughness, u, v));
}

K_FN float k_clamp_ior(float ior) { return k_min(k_max(ior, 0.1f), 10.0f); }
K_FN float k_clamp_sigma(float sigma) { return k_min(k_max(sigma, 0.0f), K_HALF_PI); }
K_FN struct k_vec3 k_gray(float x) { return v3(x, x, x); }

K_FN struct k_inputs k_inputs_make(const struct k_scene *sc, K_GLOBAL const struct k_material *m,
                                   uint type, float u, float v, int entering)
{
    struct k_inputs x;
    x.type = type;
    x.entering = entering;
    x.base = k_base_color(sc, m, u, v);
    x.eta = v3_load(m->eta);
    x.k = v3_load(m->k);
#define K_UNIT_IF(has, name) x.name = (has) ? k_clamp01(k_scalar_input(sc, &m->name, u, v)) : 0.0f;
#define K_UNIT(name)         K_UNIT_IF(1, name)
    K_UNIT(roughness)
    K_UNIT(metallic)
    K_UNIT(specular)
    K_UNIT_IF(K_HAS(REFLECT), anisotropy)
    K_UNIT_IF(K_HAS(REFLECT), rotation)
    K_UNIT_IF(K_HAS(BURLEY), specular_tint)
    K_UNIT_IF(K_HAS(BURLEY), sheen)
    K_UNIT_IF(K_HAS(BURLEY), sheen_tint)
    K_UNIT_IF(K_HAS(BURLEY), clearcoat)
    K_UNIT_IF(K_HAS(BURLEY), clearcoat_gloss)
    K_UNIT_IF(K_HAS(BURLEY), transmission)
    K_UNIT_IF(K_HAS(BURLEY), subsurface)
#undef K_UNIT
#undef K_UNIT_IF
    x.ior = k_clamp_ior(k_scalar_input(sc, &m->ior, u, v));
    x.sigma = k_clamp_sigma(k_scalar_input(sc, &m->sigma, u, v));
    if (K_HAS(LAYERS))
        k_inputs_layers(sc, m, u, v, &x);
    return x;
}
/* As a BSDF of section 7. */
K_FN struct k_bsdf k_inputs_bsdf(const struct k_inputs *x)
{
    struct k_bsdf b;
    b.type = x->type;
    b.base = x->base;
    b.roughness = x->roughness;
    b.alpha = k_max(x->roughness * x->roughness, 0.001f);
    b.metallic = x->metallic;
    b.specular = x->specular;
    b.ior = x->ior;
    b.eta = x->eta;
    b.k = x->k;
    b.entering = x->entering;
    return b;
}
K_FN float k_inputs_eta(const struct k_inputs *x) { return x->entering ? x->ior : 1.0f / x->ior; }

/* ---- their lobes ---------------------------------------------------------------------------- */

/* Where a material's lobes go: about n, with weight w; U of section 18. */
struct k_place {
    struct k_lobes *l;
    struct k_vec3 w, n, U;
};

K_FN void k_place_base(const struct k_place *p, const struct k_inputs *x)
{
    struct k_bsdf b = k_inputs_bsdf(x);
    k_lobes_add_base(p->l, p->w, p->n, &b);
}
K_FN void k_place_conductor(const struct k_place *p, const struct k_inputs *x)
{
    if (!K_HAS(REFLECT) || x->anisotropy == 0.0f) {
        k_place_base(p, x);
        return;
    }
    struct k_lobe *lobe = k_lobes_add(p->l, K_LOBE_REFLECT, p->w, p->n);
    if (!lobe)
        return;
    k_lobe_set_conductor(lobe, x->eta, x->k);
    k_lobe_brush(lobe, x->roughness, x->anisotropy, x->rotation, p->U);
}
/* Section 28, Layers: the coat over the fuzz over Burley's model. */
K_FN void k_place_layers(const struct k_place *p, const struct k_inputs *x,
                         struct k_principled *below)
{
    const struct k_vec3 wo = p->l->wo, c = x->specular_color;
    struct k_vec3 nc = k_lobe_normal(x->coat_normal, p->l->N, wo);
    float Fc = 0.04f + 0.96f * k_schlick(v3_dot(wo, nc));
    float r = k_max(x->fuzz_roughness * x->fuzz_roughness, 0.25f);
    float E = k_sheen_estimate(r, v3_dot(wo, p->l->N));
    struct k_vec3 w = v3_scale(p->w, 1.0f - x->coat * Fc);
    below->specular_color = c;
    below->specular_weight = x->specular_weight;
    below->own_specular = c.x != 1.0f || c.y != 1.0f || c.z != 1.0f || x->specular_weight != 1.0f;
    below->thin_ior = x->thin ? x->ior : 0.0f;
    k_add_principled(p->l, v3_scale(w, 1.0f - v3_max(x->fuzz) * E), p->n, p->U, below);
    struct k_lobe *lobe = k_lobes_add(p->l, K_LOBE_SHEEN, v3_mul(w, x->fuzz), p->n);
    if (lobe)
        lobe->shape = r;
    lobe = k_lobes_add(p->l, K_LOBE_REFLECT, v3_scale(p->w, x->coat), nc);
    if (!lobe)
        return;
    k_lobe_set_schlick(lobe, k_gray(0.04f), k_gray(1.0f), 5.0f);
    k_lobe_brush(lobe, x->coat_roughness, 0.0f, 0.0f, p->U);
}
K_FN void k_place_principled(const struct k_place *p, const struct k_inputs *x)
{
    struct k_principled all;
    all.base = x->base;
    all.metallic = x->metallic;
    all.roughness = x->roughness;
    all.specular = x->specular;
    all.specular_tint = x->specular_tint;
    all.anisotropy = x->anisotropy;
    all.rotation = x->rotation;
    all.sheen = x->sheen;
    all.sheen_tint = x->sheen_tint;
    all.clearcoat = x->clearcoat;
    all.clearcoat_gloss = x->clearcoat_gloss;
    all.transmission = x->transmission;
    all.subsurface = x->subsurface;
    all.eta = k_inputs_eta(x);
    all.behind = !x->entering;
    k_principled_unlayered(&all);
    if (K_HAS(LAYERS) && x->layered) {
        k_place_layers(p, x, &all);
        return;
    }
    k_add_principled(p->l, p->w, p->n, p->U, &all);
}
K_FN void k_place_rough_dielectric(const struct k_place *p, const struct k_inputs *x)
{
    const struct k_vec3 none = k_gray(0.0f);
    float eta = k_inputs_eta(x), alpha = x->roughness * x->roughness;
    for (uint kind = K_LOBE_REFLECT; kind <= K_LOBE_REFRACT; kind++) {
        struct k_lobe *lobe = k_lobes_add(p->l, kind, p->w, p->n);
        if (!lobe)
            return;
        k_lobe_set_dielectric(lobe, eta);
        k_lobe_set_facets(lobe, none, alpha, alpha, 0);
        if (kind == K_LOBE_REFRACT)
            k_lobe_set_refraction(lobe, eta);
    }
}
K_FN void k_place_thin_dielectric(const struct k_place *p, const struct k_inputs *x)
{
    float F = k_fresnel_dielectric(x->ior, v3_dot(p->l->wo, p->l->N));
    float R = (2.0f * F) / (1.0f + F);
    (void)k_lobes_add(p->l, K_LOBE_REFLECT, v3_scale(p->w, R), p->n);
    (void)k_lobes_add(p->l, K_LOBE_STRAIGHT, v3_scale(p->w, 1.0f - R), p->n);
}
K_FN void k_place_shaped(const struct k_place *p, const struct k_inputs *x, uint kind, float shape)
{
    struct k_lobe *lobe = k_lobes_add(p->l, kind, v3_mul(x->base, p->w), p->n);
    if (lobe)
        lobe->shape = shape;
}

/* Adds the lobes that section 28 makes of the inputs. */
K_FN void k_inputs_lobes(const struct k_inputs *x, const struct k_place *p)
{
    if (K_TYPE_IS(x->type, CONDUCTOR))
        k_place_conductor(p, x);
    else if (K_TYPE_IS(x->type, PRINCIPLED))
        k_place_principled(p, x);
    else if (K_TYPE_IS(x->type, OREN_NAYAR))
        k_place_shaped(p, x, K_LOBE_OREN_NAYAR, x->sigma);
    else if (K_HAS(REFRACT) && x->type == K_MATERIAL_ROUGH_DIELECTRIC)
        k_place_rough_dielectric(p, x);
    else if (K_HAS(REFLECT) && x->type == K_MATERIAL_THIN_DIELECTRIC)
        k_place_thin_dielectric(p, x);
    else if (K_TYPE_IS(x->type, SHEEN))
        k_place_shaped(p, x, K_LOBE_SHEEN, k_max(x->roughness, 0.25f));
    else
        k_place_base(p, x);
}

/* Adds the material's lobes to a list that was started; s has its normals turned. */
K_FN void k_material_lobes(const struct k_scene *sc, const struct k_surface *s, int entering,
                           struct k_lobes *l)
{
    K_GLOBAL const struct k_material *m = sc->materials + s->material;
    float opacity = k_clamp01(k_scalar_input(sc, &m->opacity, s->u, s->v));
    struct k_inputs x = k_inputs_make(sc, m, m->type - K_MATERIAL_LISTED, s->u, s->v, entering);
    x.base = k_colored(s, x.base);
    x.coat_normal = s->coat;
    struct k_place p;
    p.l = l;
    p.w = k_gray(opacity);
    p.n = s->Ns;
    p.U = s->along;
    k_inputs_lobes(&x, &p);
    (void)k_lobes_add(l, K_LOBE_STRAIGHT, k_gray(1.0f - opacity), s->Ns);
}

#endif
