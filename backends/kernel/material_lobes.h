/* Materials as lists of lobes (protocol section 28), and `principled` of section 21, which closures
 * share. */
#ifndef K_MATERIAL_LOBES_H
#define K_MATERIAL_LOBES_H
#include "lobes.h"
#include "surface.h"

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
        clearcoat, clearcoat_gloss, transmission;
    float eta; /* the far side's index over the near one's */
};

K_FN int k_principled_is_plain(const struct k_principled *p)
{
    return p->specular_tint == 0.0f && p->anisotropy == 0.0f && p->sheen == 0.0f &&
           p->clearcoat == 0.0f && p->transmission * (1.0f - p->metallic) == 0.0f;
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
K_FN void k_add_principled_facets(struct k_lobes *l, uint kind, struct k_vec3 weight,
                                  struct k_vec3 n, struct k_vec3 U, const struct k_principled *p,
                                  struct k_vec3 F0, int dielectric)
{
    struct k_lobe *lobe = k_lobes_add(l, kind, weight, n);
    if (!lobe)
        return;
    if (dielectric)
        k_lobe_set_dielectric(lobe, p->eta);
    else
        k_lobe_set_schlick(lobe, F0, v3(1.0f, 1.0f, 1.0f), 5.0f);
    k_lobe_brush(lobe, p->roughness, p->anisotropy, p->rotation, U);
    if (kind == K_LOBE_REFRACT)
        k_lobe_set_refraction(lobe, p->eta);
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
    struct k_vec3 F0 = k_lerp3(d, p->base, m);
    struct k_vec3 root = v3(K_SQRT(p->base.x), K_SQRT(p->base.y), K_SQRT(p->base.z));
    struct k_vec3 through = v3_scale(w, t);
    struct k_lobe *lobe;
    k_add_principled_facets(l, K_LOBE_REFLECT, v3_scale(w, 1.0f - t), n, U, p, F0, 0);
    lobe = k_lobes_add(l, K_LOBE_BURLEY, v3_mul(v3_scale(w, (1.0f - t) * (1.0f - m)), p->base), n);
    if (lobe)
        lobe->shape = p->roughness;
    k_add_principled_facets(l, K_LOBE_REFLECT, through, n, U, p, F0, 1);
    k_add_principled_facets(l, K_LOBE_REFRACT, v3_mul(through, root), n, U, p, F0, 1);
    lobe = k_lobes_add(l, K_LOBE_COAT, v3_scale(w, 0.25f * p->clearcoat), n);
    if (lobe)
        lobe->shape = 0.1f + (0.001f - 0.1f) * p->clearcoat_gloss;
    (void)k_lobes_add(l, K_LOBE_VELVET,
                      v3_mul(v3_scale(w, p->sheen * (1.0f - m)), k_tinted(tint, p->sheen_tint)), n);
}

/* ---- the other types ------------------------------------------------------------------------ */

/* A material at a point. */
struct k_place {
    const struct k_scene *sc;
    K_GLOBAL const struct k_material *m;
    const struct k_surface *s;
    int entering;
    float opacity;
};

K_FN float k_unit_input(const struct k_place *p, K_GLOBAL const struct k_scalar *in)
{
    return k_clamp01(k_scalar_input(p->sc, in, p->s->u, p->s->v));
}
K_FN float k_ior_input(const struct k_place *p)
{
    return k_min(k_max(k_scalar_input(p->sc, &p->m->ior, p->s->u, p->s->v), 0.1f), 10.0f);
}
K_FN float k_eta_input(const struct k_place *p)
{
    float ior = k_ior_input(p);
    return p->entering ? ior : 1.0f / ior;
}
K_FN struct k_vec3 k_gray(float x) { return v3(x, x, x); }

K_FN void k_place_base(const struct k_place *p, uint type, struct k_lobes *l)
{
    struct k_bsdf b = k_bsdf_make(p->sc, p->m, type, p->s->u, p->s->v, p->entering);
    if (type == K_MATERIAL_DIELECTRIC)
        b.ior = k_ior_input(p);
    k_lobes_add_base(l, k_gray(p->opacity), p->s->Ns, &b);
}
K_FN void k_place_conductor(const struct k_place *p, struct k_lobes *l)
{
    float anisotropy = k_unit_input(p, &p->m->anisotropy);
    if (anisotropy == 0.0f) {
        k_place_base(p, K_MATERIAL_CONDUCTOR, l);
        return;
    }
    struct k_lobe *lobe = k_lobes_add(l, K_LOBE_REFLECT, k_gray(p->opacity), p->s->Ns);
    if (!lobe)
        return;
    k_lobe_set_conductor(lobe, v3_load(p->m->eta), v3_load(p->m->k));
    k_lobe_brush(lobe, k_unit_input(p, &p->m->roughness), anisotropy,
                 k_unit_input(p, &p->m->rotation), p->s->along);
}
K_FN void k_place_principled(const struct k_place *p, struct k_lobes *l)
{
    struct k_principled x;
    x.base = k_base_color(p->sc, p->m, p->s->u, p->s->v);
    x.metallic = k_unit_input(p, &p->m->metallic);
    x.roughness = k_unit_input(p, &p->m->roughness);
    x.specular = k_unit_input(p, &p->m->specular);
    x.specular_tint = k_unit_input(p, &p->m->specular_tint);
    x.anisotropy = k_unit_input(p, &p->m->anisotropy);
    x.rotation = k_unit_input(p, &p->m->rotation);
    x.sheen = k_unit_input(p, &p->m->sheen);
    x.sheen_tint = k_unit_input(p, &p->m->sheen_tint);
    x.clearcoat = k_unit_input(p, &p->m->clearcoat);
    x.clearcoat_gloss = k_unit_input(p, &p->m->clearcoat_gloss);
    x.transmission = k_unit_input(p, &p->m->transmission);
    x.eta = k_eta_input(p);
    k_add_principled(l, k_gray(p->opacity), p->s->Ns, p->s->along, &x);
}
K_FN void k_place_rough_dielectric(const struct k_place *p, struct k_lobes *l)
{
    const struct k_vec3 none = k_gray(0.0f), w = k_gray(p->opacity);
    float eta = k_eta_input(p), r = k_unit_input(p, &p->m->roughness), alpha = r * r;
    for (uint kind = K_LOBE_REFLECT; kind <= K_LOBE_REFRACT; kind++) {
        struct k_lobe *lobe = k_lobes_add(l, kind, w, p->s->Ns);
        if (!lobe)
            return;
        k_lobe_set_dielectric(lobe, eta);
        k_lobe_set_facets(lobe, none, alpha, alpha, 0);
        if (kind == K_LOBE_REFRACT)
            k_lobe_set_refraction(lobe, eta);
    }
}
K_FN void k_place_thin_dielectric(const struct k_place *p, struct k_lobes *l)
{
    float F = k_fresnel_dielectric(k_ior_input(p), v3_dot(l->wo, p->s->Ns));
    float R = (2.0f * F) / (1.0f + F);
    (void)k_lobes_add(l, K_LOBE_REFLECT, k_gray(R * p->opacity), p->s->Ns);
    (void)k_lobes_add(l, K_LOBE_STRAIGHT, k_gray((1.0f - R) * p->opacity), p->s->Ns);
}
K_FN void k_place_shaped(const struct k_place *p, uint kind, float shape, struct k_lobes *l)
{
    struct k_vec3 w = v3_scale(k_base_color(p->sc, p->m, p->s->u, p->s->v), p->opacity);
    struct k_lobe *lobe = k_lobes_add(l, kind, w, p->s->Ns);
    if (lobe)
        lobe->shape = shape;
}

/* Adds the material's lobes to a list that was started; s has its normals turned. */
K_FN void k_material_lobes(const struct k_scene *sc, const struct k_surface *s, int entering,
                           struct k_lobes *l)
{
    struct k_place p;
    p.sc = sc;
    p.m = sc->materials + s->material;
    p.s = s;
    p.entering = entering;
    p.opacity = 1.0f;
    p.opacity = k_unit_input(&p, &p.m->opacity);
    uint type = p.m->type - K_MATERIAL_LISTED;
    switch (type) {
    case K_MATERIAL_CONDUCTOR:
        k_place_conductor(&p, l);
        break;
    case K_MATERIAL_PRINCIPLED:
        k_place_principled(&p, l);
        break;
    case K_MATERIAL_OREN_NAYAR:
        k_place_shaped(&p, K_LOBE_OREN_NAYAR,
                       k_min(k_max(k_scalar_input(sc, &p.m->sigma, s->u, s->v), 0.0f), K_HALF_PI),
                       l);
        break;
    case K_MATERIAL_ROUGH_DIELECTRIC:
        k_place_rough_dielectric(&p, l);
        break;
    case K_MATERIAL_THIN_DIELECTRIC:
        k_place_thin_dielectric(&p, l);
        break;
    case K_MATERIAL_SHEEN:
        k_place_shaped(&p, K_LOBE_SHEEN, k_max(k_unit_input(&p, &p.m->roughness), 0.25f), l);
        break;
    default:
        k_place_base(&p, type, l);
        break;
    }
    (void)k_lobes_add(l, K_LOBE_STRAIGHT, k_gray(1.0f - p.opacity), s->Ns);
}

#endif
