/* SPDX-License-Identifier: Apache-2.0 */
/* Closures of shaders as lobes (protocol section 21). Emitted text walks Ci
 * (shaders/emit/emit_closure.c) and calls k_closure_NAME_COUNT for each component, w its weight,
 * strings as "is it beckmann". */
#ifndef K_CLOSURE_H
#define K_CLOSURE_H
#include "surface/lobes.h"
#include "surface/material_lobes.h"

/* Numbers of closures that wait to be walked; id < 0: what to do once a layer's upper part is. */
struct k_closure_item {
    int id;
    struct k_vec3 w;
};
struct k_closures {
    struct k_lobes *l;
    struct k_closure_item *stack;
    uint depth, capacity;
    int backfacing, failed;
    struct k_vec3 along; /* U of section 18; 0 on triangles without texture coordinates */
};

K_FN void k_closures_push(struct k_closures *c, int id, struct k_vec3 w)
{
    if (c->depth == c->capacity) {
        c->failed = 1;
        return;
    }
    c->stack[c->depth].id = id;
    c->stack[c->depth].w = w;
    c->depth++;
}
K_FN void k_closures_start(struct k_closures *c, struct k_closure_item *stack, uint capacity,
                           int root)
{
    c->stack = stack;
    c->capacity = capacity;
    c->depth = 0;
    c->failed = 0;
    k_closures_push(c, root, v3(1.0f, 1.0f, 1.0f));
}
/* layer(a, b): a from weight 1 first; then this, then b. */
K_CALL void k_closure_layer_2(struct k_closures *c, struct k_vec3 w, int a, int b)
{
    struct k_lobes *l = c->l;
    k_closures_push(c, b, w);
    k_closures_push(c, -1 - (int)l->count, l->emitted);
    k_closures_push(c, 0, l->background); /* only a place for it */
    k_closures_push(c, a, v3(1.0f, 1.0f, 1.0f));
    l->emitted = v3(0.0f, 0.0f, 0.0f);
    l->background = l->emitted;
}
K_CALL void k_closure_layer_end(struct k_closures *c, uint first, struct k_vec3 emitted,
                                struct k_vec3 background)
{
    struct k_lobes *l = c->l;
    struct k_closure_item *below = &c->stack[c->depth - 1];
    struct k_vec3 E = v3(0.0f, 0.0f, 0.0f), w = below->w;
    for (uint i = first; i < l->count; i++) {
        E = v3_add(E, v3_mul(l->lobe[i].weight, k_lobes_estimate(l, i)));
        l->lobe[i].weight = v3_mul(w, l->lobe[i].weight);
    }
    l->emitted = v3_add(emitted, v3_mul(w, l->emitted));
    l->background = v3_add(background, v3_mul(w, l->background));
    below->w =
        v3_mul(w, v3(k_max(0.0f, 1.0f - E.x), k_max(0.0f, 1.0f - E.y), k_max(0.0f, 1.0f - E.z)));
}
/* The next component, sum or product: 0 when all are done. */
K_FN int k_closures_pop(struct k_closures *c, int *id, struct k_vec3 *w)
{
    while (c->depth != 0u) {
        struct k_closure_item item = c->stack[--c->depth];
        if (item.id > 0) {
            *id = item.id;
            *w = item.w;
            return 1;
        }
        /* Nothing, or a place that keeps a layer's background, and the mark below it. */
        if (c->depth != 0u && c->stack[c->depth - 1].id < 0) {
            struct k_closure_item mark = c->stack[--c->depth];
            k_closure_layer_end(c, (uint)(-1 - mark.id), mark.w, item.w);
        }
    }
    return 0;
}
/* *w without negative channels; 0 when nothing is left of it. */
K_FN int k_closure_counts(struct k_vec3 *w)
{
    *w = k_weight(*w);
    return !k_is_black(*w);
}

/* ---- diffuse and rough ---------------------------------------------------------------------- */

K_CALL void k_closure_shaped(struct k_closures *c, uint kind, struct k_vec3 w, struct k_vec3 n,
                             struct k_vec3 albedo, float shape, float least, float most)
{
    struct k_lobe *lobe = k_lobes_add(c->l, kind, v3_mul(w, k_weight(albedo)), n);
    if (lobe)
        lobe->shape = k_min(k_max(shape, least), most);
}
K_FN void k_closure_diffuse_1(struct k_closures *c, struct k_vec3 w, struct k_vec3 n)
{
    k_lobes_add(c->l, K_LOBE_LAMBERT, w, n);
}
K_FN void k_closure_subsurface_4(struct k_closures *c, struct k_vec3 w, float eta, float g,
                                 struct k_vec3 mfp, struct k_vec3 albedo)
{
    (void)eta;
    (void)g;
    (void)mfp;
    k_closure_shaped(c, K_LOBE_LAMBERT, w, c->l->N, albedo, 0.0f, 0.0f, 0.0f);
}
K_FN void k_closure_subsurface_bssrdf_4(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                        struct k_vec3 albedo, struct k_vec3 radius, float g)
{
    (void)radius;
    (void)g;
    k_closure_shaped(c, K_LOBE_LAMBERT, w, n, albedo, 0.0f, 0.0f, 0.0f);
}
K_FN void k_closure_subsurface_bssrdf_5(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                        struct k_vec3 albedo, float depth, struct k_vec3 colour,
                                        float g)
{
    (void)depth;
    (void)colour;
    (void)g;
    k_closure_shaped(c, K_LOBE_LAMBERT, w, n, albedo, 0.0f, 0.0f, 0.0f);
}
#define K_ONE v3(1.0f, 1.0f, 1.0f)
K_FN void k_closure_oren_nayar_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                 float sigma)
{
    k_closure_shaped(c, K_LOBE_OREN_NAYAR, w, n, K_ONE, sigma, 0.0f, K_HALF_PI);
}
K_FN void k_closure_oren_nayar_diffuse_bsdf_3(struct k_closures *c, struct k_vec3 w,
                                              struct k_vec3 n, struct k_vec3 albedo,
                                              float roughness)
{
    k_closure_shaped(c, K_LOBE_OREN_NAYAR, w, n, albedo, roughness, 0.0f, K_HALF_PI);
}
K_FN void k_closure_burley_diffuse_bsdf_3(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                          struct k_vec3 albedo, float roughness)
{
    k_closure_shaped(c, K_LOBE_BURLEY, w, n, albedo, roughness, 0.0f, 1.0f);
}
K_FN void k_closure_sheen_bsdf_3(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                 struct k_vec3 albedo, float roughness)
{
    k_closure_shaped(c, K_LOBE_SHEEN, w, n, albedo, roughness, 0.25f, 1.0f);
}
K_FN void k_closure_translucent_1(struct k_closures *c, struct k_vec3 w, struct k_vec3 n)
{
    k_lobes_add(c->l, K_LOBE_TRANSLUCENT, w, n);
}
K_FN void k_closure_translucent_bsdf_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                       struct k_vec3 albedo)
{
    k_closure_shaped(c, K_LOBE_TRANSLUCENT, w, n, albedo, 0.0f, 0.0f, 0.0f);
}
K_FN void k_closure_phong_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n, float exponent)
{
    k_closure_shaped(c, K_LOBE_PHONG, w, n, K_ONE, exponent, 0.0f, 1e4f);
}
K_FN void k_closure_ward_4(struct k_closures *c, struct k_vec3 w, struct k_vec3 n, struct k_vec3 T,
                           float ax, float ay)
{
    struct k_lobe *lobe = k_lobes_add(c->l, K_LOBE_WARD, w, n);
    if (lobe)
        k_lobe_set_widths(lobe, T, ax, ay);
}

/* ---- microfacets ---------------------------------------------------------------------------- */

/* What M and T of one closure share. */
struct k_facets {
    struct k_vec3 n, T;
    float ax, ay;
    int beckmann;
};
K_FN struct k_facets k_facets_make(struct k_vec3 n, struct k_vec3 T, float ax, float ay,
                                   int beckmann)
{
    struct k_facets f;
    f.n = n;
    f.T = T;
    f.ax = ax;
    f.ay = ay;
    f.beckmann = beckmann;
    return f;
}
K_CALL struct k_lobe *k_facets_add(struct k_closures *c, uint kind, struct k_vec3 w,
                                   const struct k_facets *f)
{
    struct k_lobe *lobe = k_lobes_add(c->l, kind, w, f->n);
    if (lobe)
        k_lobe_set_facets(lobe, f->T, f->ax, f->ay, f->beckmann);
    return lobe;
}
K_CALL void k_facets_reflect(struct k_closures *c, struct k_vec3 w, const struct k_facets *f,
                             float eta)
{
    struct k_lobe *lobe = k_facets_add(c, K_LOBE_REFLECT, w, f);
    if (lobe)
        k_lobe_set_dielectric(lobe, eta);
}
K_CALL void k_facets_refract(struct k_closures *c, struct k_vec3 w, const struct k_facets *f,
                             float eta)
{
    struct k_lobe *lobe = k_facets_add(c, K_LOBE_REFRACT, w, f);
    if (!lobe)
        return;
    k_lobe_set_dielectric(lobe, eta);
    k_lobe_set_refraction(lobe, eta);
}
K_FN float k_closure_eta(const struct k_closures *c, float ior)
{
    return c->backfacing ? 1.0f / ior : ior;
}
K_FN struct k_vec3 k_clamp3(struct k_vec3 v, float least, float most)
{
    return v3(k_min(k_max(v.x, least), most), k_min(k_max(v.y, least), most),
              k_min(k_max(v.z, least), most));
}

K_CALL void k_closure_microfacet_7(struct k_closures *c, struct k_vec3 w, int beckmann,
                                   struct k_vec3 n, struct k_vec3 T, float ax, float ay, float eta,
                                   int refract)
{
    struct k_facets f = k_facets_make(n, T, ax, ay, beckmann);
    if (refract != 1)
        k_facets_reflect(c, w, &f, eta);
    if (refract != 0)
        k_facets_refract(c, w, &f, eta);
}
K_FN void k_closure_microfacet_5(struct k_closures *c, struct k_vec3 w, int beckmann,
                                 struct k_vec3 n, float a, float eta, int refract)
{
    k_closure_microfacet_7(c, w, beckmann, n, v3(0.0f, 0.0f, 0.0f), a, a, eta, refract);
}
K_FN void k_closure_reflection_1(struct k_closures *c, struct k_vec3 w, struct k_vec3 n)
{
    k_lobes_add(c->l, K_LOBE_REFLECT, w, n);
}
K_FN void k_closure_reflection_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n, float eta)
{
    struct k_facets f = k_facets_make(n, v3(0.0f, 0.0f, 0.0f), 0.0f, 0.0f, 0);
    k_facets_reflect(c, w, &f, eta);
}
K_FN void k_closure_refraction_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n, float eta)
{
    struct k_facets f = k_facets_make(n, v3(0.0f, 0.0f, 0.0f), 0.0f, 0.0f, 0);
    k_facets_refract(c, w, &f, eta);
}
K_CALL void k_closure_dielectric_bsdf_8(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                        struct k_vec3 T, struct k_vec3 rt, struct k_vec3 tt,
                                        float ax, float ay, float ior, int beckmann)
{
    struct k_facets f = k_facets_make(n, T, ax, ay, beckmann);
    float eta = k_closure_eta(c, ior);
    k_facets_reflect(c, v3_mul(w, k_weight(rt)), &f, eta);
    k_facets_refract(c, v3_mul(w, k_weight(tt)), &f, eta);
}
K_CALL void k_closure_conductor_bsdf_7(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                       struct k_vec3 T, float ax, float ay, struct k_vec3 eta,
                                       struct k_vec3 k, int beckmann)
{
    struct k_facets f = k_facets_make(n, T, ax, ay, beckmann);
    struct k_lobe *lobe = k_facets_add(c, K_LOBE_REFLECT, w, &f);
    if (lobe)
        k_lobe_set_conductor(lobe, k_clamp3(eta, 0.001f, 100.0f), k_clamp3(k, 0.0f, 100.0f));
}
K_CALL void k_closure_generalized_schlick_bsdf_10(struct k_closures *c, struct k_vec3 w,
                                                  struct k_vec3 n, struct k_vec3 T,
                                                  struct k_vec3 rt, struct k_vec3 tt, float ax,
                                                  float ay, struct k_vec3 f0, struct k_vec3 f90,
                                                  float exponent, int beckmann)
{
    struct k_facets f = k_facets_make(n, T, ax, ay, beckmann);
    f0 = k_clamp3(f0, 0.0f, 1.0f);
    f90 = k_clamp3(f90, 0.0f, 1.0f);
    exponent = k_min(k_max(exponent, 0.0f), 100.0f);
    float r = K_SQRT(k_min(k_max(k_lobes_luminance(f0), 0.0f), 0.99f));
    struct k_lobe *lobe = k_facets_add(c, K_LOBE_REFLECT, v3_mul(w, k_weight(rt)), &f);
    if (lobe)
        k_lobe_set_schlick(lobe, f0, f90, exponent);
    lobe = k_facets_add(c, K_LOBE_REFRACT, v3_mul(w, k_weight(tt)), &f);
    if (lobe) {
        k_lobe_set_schlick(lobe, f0, f90, exponent);
        k_lobe_set_refraction(lobe, k_closure_eta(c, (1.0f + r) / (1.0f - r)));
    }
}

/* ---- components that prototypes declare ----------------------------------------------------- */

K_FN struct k_facets k_facets_round(struct k_vec3 n, float a, int beckmann)
{
    return k_facets_make(n, v3(0.0f, 0.0f, 0.0f), a, a, beckmann);
}
/* T with F = 0: Schlick's curve from 0 to 0. */
K_CALL void k_facets_clear(struct k_closures *c, struct k_vec3 w, const struct k_facets *f,
                           float eta)
{
    struct k_lobe *lobe = k_facets_add(c, K_LOBE_REFRACT, w, f);
    if (!lobe)
        return;
    k_lobe_set_schlick(lobe, v3(0.0f, 0.0f, 0.0f), v3(0.0f, 0.0f, 0.0f), 5.0f);
    k_lobe_set_refraction(lobe, eta);
}
/* M whose F rises from f0 to 1. */
K_CALL void k_facets_schlick(struct k_closures *c, struct k_vec3 w, const struct k_facets *f,
                             struct k_vec3 f0)
{
    struct k_lobe *lobe = k_facets_add(c, K_LOBE_REFLECT, w, f);
    if (lobe)
        k_lobe_set_schlick(lobe, k_clamp3(f0, 0.0f, 1.0f), K_ONE, 5.0f);
}
K_FN void k_closure_microfacet_ggx_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                     float a)
{
    struct k_facets f = k_facets_round(n, a, 0);
    k_facets_add(c, K_LOBE_REFLECT, w, &f);
}
K_FN void k_closure_microfacet_ggx_3(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                     float a, float eta)
{
    struct k_facets f = k_facets_round(n, a, 0);
    k_facets_reflect(c, w, &f, eta);
}
K_FN void k_closure_microfacet_beckmann_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                          float a)
{
    struct k_facets f = k_facets_round(n, a, 1);
    k_facets_add(c, K_LOBE_REFLECT, w, &f);
}
K_FN void k_closure_microfacet_beckmann_3(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                          float a, float eta)
{
    struct k_facets f = k_facets_round(n, a, 1);
    k_facets_reflect(c, w, &f, eta);
}
K_FN void k_closure_microfacet_ggx_aniso_4(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                           struct k_vec3 T, float ax, float ay)
{
    struct k_facets f = k_facets_make(n, T, ax, ay, 0);
    k_facets_add(c, K_LOBE_REFLECT, w, &f);
}
K_FN void k_closure_microfacet_beckmann_aniso_4(struct k_closures *c, struct k_vec3 w,
                                                struct k_vec3 n, struct k_vec3 T, float ax,
                                                float ay)
{
    struct k_facets f = k_facets_make(n, T, ax, ay, 1);
    k_facets_add(c, K_LOBE_REFLECT, w, &f);
}
K_FN void k_closure_ashikhmin_shirley_4(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                        struct k_vec3 T, float ax, float ay)
{
    k_closure_microfacet_beckmann_aniso_4(c, w, n, T, ax, ay);
}
K_FN void k_closure_microfacet_multi_ggx_3(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                           float a, struct k_vec3 C)
{
    (void)C;
    k_closure_microfacet_ggx_2(c, w, n, a);
}
K_FN void k_closure_microfacet_multi_ggx_aniso_5(struct k_closures *c, struct k_vec3 w,
                                                 struct k_vec3 n, struct k_vec3 T, float ax,
                                                 float ay, struct k_vec3 C)
{
    (void)C;
    k_closure_microfacet_ggx_aniso_4(c, w, n, T, ax, ay);
}
K_FN void k_closure_microfacet_ggx_refraction_3(struct k_closures *c, struct k_vec3 w,
                                                struct k_vec3 n, float a, float eta)
{
    struct k_facets f = k_facets_round(n, a, 0);
    k_facets_clear(c, w, &f, eta);
}
K_FN void k_closure_microfacet_beckmann_refraction_3(struct k_closures *c, struct k_vec3 w,
                                                     struct k_vec3 n, float a, float eta)
{
    struct k_facets f = k_facets_round(n, a, 1);
    k_facets_clear(c, w, &f, eta);
}
K_FN void k_closure_microfacet_ggx_fresnel_5(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                             float a, float eta, struct k_vec3 C, struct k_vec3 f0)
{
    struct k_facets f = k_facets_round(n, a, 0);
    (void)eta;
    (void)C;
    k_facets_schlick(c, w, &f, f0);
}
K_FN void k_closure_microfacet_multi_ggx_fresnel_5(struct k_closures *c, struct k_vec3 w,
                                                   struct k_vec3 n, float a, float eta,
                                                   struct k_vec3 C, struct k_vec3 f0)
{
    k_closure_microfacet_ggx_fresnel_5(c, w, n, a, eta, C, f0);
}
K_FN void k_closure_microfacet_ggx_aniso_fresnel_7(struct k_closures *c, struct k_vec3 w,
                                                   struct k_vec3 n, struct k_vec3 T, float ax,
                                                   float ay, float eta, struct k_vec3 C,
                                                   struct k_vec3 f0)
{
    struct k_facets f = k_facets_make(n, T, ax, ay, 0);
    (void)eta;
    (void)C;
    k_facets_schlick(c, w, &f, f0);
}
K_FN void k_closure_microfacet_multi_ggx_aniso_fresnel_7(struct k_closures *c, struct k_vec3 w,
                                                         struct k_vec3 n, struct k_vec3 T, float ax,
                                                         float ay, float eta, struct k_vec3 C,
                                                         struct k_vec3 f0)
{
    k_closure_microfacet_ggx_aniso_fresnel_7(c, w, n, T, ax, ay, eta, C, f0);
}
K_FN void k_closure_microfacet_f82_tint_7(struct k_closures *c, struct k_vec3 w, int beckmann,
                                          struct k_vec3 n, struct k_vec3 T, float ax, float ay,
                                          struct k_vec3 f0, struct k_vec3 f82)
{
    struct k_facets f = k_facets_make(n, T, ax, ay, beckmann);
    (void)f82;
    k_facets_schlick(c, w, &f, f0);
}
K_FN void k_closure_microfacet_multi_ggx_glass_4(struct k_closures *c, struct k_vec3 w,
                                                 struct k_vec3 n, float a, float eta,
                                                 struct k_vec3 C)
{
    struct k_facets f = k_facets_round(n, a, 0);
    (void)C;
    k_facets_reflect(c, w, &f, eta);
    k_facets_refract(c, w, &f, eta);
}
K_FN void k_closure_microfacet_multi_ggx_glass_fresnel_5(struct k_closures *c, struct k_vec3 w,
                                                         struct k_vec3 n, float a, float eta,
                                                         struct k_vec3 C, struct k_vec3 c0)
{
    struct k_facets f = k_facets_round(n, a, 0);
    k_facets_reflect(c, v3_mul(w, k_weight(c0)), &f, eta);
    k_facets_refract(c, v3_mul(w, k_weight(C)), &f, eta);
}
K_FN void k_closure_principled_diffuse_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                         float roughness)
{
    k_closure_shaped(c, K_LOBE_BURLEY, w, n, K_ONE, roughness, 0.0f, 1.0f);
}
K_FN void k_closure_principled_sheen_1(struct k_closures *c, struct k_vec3 w, struct k_vec3 n)
{
    k_lobes_add(c->l, K_LOBE_VELVET, w, n);
}
K_FN void k_closure_principled_clearcoat_3(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                           float clearcoat, float a)
{
    w = v3_scale(w, 0.25f * k_clamp01(clearcoat));
    k_closure_shaped(c, K_LOBE_COAT, w, n, K_ONE, a, 0.001f, 0.9f);
}
K_FN void k_closure_sheen_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n, float roughness)
{
    k_closure_shaped(c, K_LOBE_SHEEN, w, n, K_ONE, roughness, 0.25f, 1.0f);
}
K_FN void k_closure_ashikhmin_velvet_2(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                       float sigma)
{
    k_closure_sheen_2(c, w, n, sigma);
}
K_FN void k_closure_bssrdf_4(struct k_closures *c, struct k_vec3 w, int unused, struct k_vec3 n,
                             struct k_vec3 radius, struct k_vec3 albedo)
{
    (void)unused;
    (void)radius;
    (void)albedo;
    k_lobes_add(c->l, K_LOBE_LAMBERT, w, n);
}

/* ---- principled ----------------------------------------------------------------------------- */

/* By name, as shaders give them (shaders/emit/emit_closure.c). */
struct k_principled_pairs {
    float specular, specular_tint, anisotropy, rotation, sheen, sheen_tint, clearcoat,
        clearcoat_gloss, transmission, subsurface, ior;
};
K_FN struct k_principled_pairs k_principled_defaults(void)
{
    struct k_principled_pairs p;
    p.specular = 0.5f;
    p.specular_tint = 0.0f;
    p.anisotropy = 0.0f;
    p.rotation = 0.0f;
    p.sheen = 0.0f;
    p.sheen_tint = 0.5f;
    p.clearcoat = 0.0f;
    p.clearcoat_gloss = 1.0f;
    p.transmission = 0.0f;
    p.subsurface = 0.0f;
    p.ior = 1.5f;
    return p;
}
K_CALL void k_closure_principled_4(struct k_closures *c, struct k_vec3 w, struct k_vec3 n,
                                   struct k_vec3 base, float metallic, float roughness,
                                   const struct k_principled_pairs *p)
{
    struct k_principled x;
    x.base = k_clamp3(base, 0.0f, 1.0f);
    x.metallic = k_clamp01(metallic);
    x.roughness = k_clamp01(roughness);
    x.specular = k_clamp01(p->specular);
    x.specular_tint = k_clamp01(p->specular_tint);
    x.anisotropy = k_clamp01(p->anisotropy);
    x.rotation = k_clamp01(p->rotation);
    x.sheen = k_clamp01(p->sheen);
    x.sheen_tint = k_clamp01(p->sheen_tint);
    x.clearcoat = k_clamp01(p->clearcoat);
    x.clearcoat_gloss = k_clamp01(p->clearcoat_gloss);
    x.transmission = k_clamp01(p->transmission);
    x.subsurface = k_clamp01(p->subsurface);
    x.eta = k_closure_eta(c, k_min(k_max(p->ior, 0.1f), 10.0f));
    x.behind = c->backfacing;
    k_principled_unlayered(&x);
    k_add_principled(c->l, w, n, c->along, &x);
}

/* ---- the rest ------------------------------------------------------------------------------- */

K_FN void k_closure_transparent_0(struct k_closures *c, struct k_vec3 w)
{
    k_lobes_add(c->l, K_LOBE_STRAIGHT, w, c->l->N);
}
K_FN void k_closure_transparent_bsdf_0(struct k_closures *c, struct k_vec3 w)
{
    k_lobes_add(c->l, K_LOBE_STRAIGHT, w, c->l->N);
}
K_FN void k_closure_emission_0(struct k_closures *c, struct k_vec3 w)
{
    c->l->emitted = v3_add(c->l->emitted, w);
}
K_FN void k_closure_uniform_edf_1(struct k_closures *c, struct k_vec3 w, struct k_vec3 emittance)
{
    c->l->emitted = v3_add(c->l->emitted, v3_mul(w, k_weight(emittance)));
}
K_FN void k_closure_background_0(struct k_closures *c, struct k_vec3 w)
{
    c->l->background = v3_add(c->l->background, w);
}
K_FN void k_closure_holdout_0(struct k_closures *c, struct k_vec3 w)
{
    (void)c;
    (void)w;
}
K_FN void k_closure_debug_1(struct k_closures *c, struct k_vec3 w, int unused)
{
    (void)c;
    (void)w;
    (void)unused;
}

#endif
