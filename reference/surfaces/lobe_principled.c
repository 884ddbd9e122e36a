/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 21, `principled`: of closures and of materials. */
#include "lobe.h"

static struct vec3 tint_of(struct vec3 base)
{
    double y = luminance(base);
    return y > 0 ? scale(1 / y, base) : gray(1);
}

static struct vec3 towards(struct vec3 tint, double amount)
{
    return add(gray(1), scale(amount, sub(tint, gray(1))));
}

void facet_spread(double roughness, double anisotropy, double *ax, double *ay)
{
    double r2 = roughness * roughness, aspect = sqrt(1 - 0.9 * anisotropy);
    *ax = fmax(r2 / aspect, 0.001);
    *ay = fmax(r2 * aspect, 0.001);
}

static void add_facets(struct lobes *out, enum lobe_kind kind, struct vec3 weight,
                       const struct placing *at, const struct principled *p,
                       const struct fresnel *fresnel)
{
    struct lobe *l = lobes_add(out, kind, weight, at->n, at->N);
    if (!l)
        return;
    facet_spread(p->roughness, p->anisotropy, &l->ax, &l->ay);
    /* both sides of a surface that refracts have the same facets: from behind they turn the other
     * way */
    bool solid = p->transmission * (1 - p->metallic) != 0 && !(p->thin_ior > 0);
    lobe_brush(l, at->U, p->behind && solid ? -p->rotation : p->rotation);
    l->fresnel = *fresnel;
    l->eta = fresnel->eta;
}

static void add_plain(struct lobes *out, struct vec3 w, const struct placing *at,
                      const struct principled *p)
{
    struct lobe *l = lobes_add(out, LOBE_BASE, w, at->n, at->N);
    if (l)
        l->base = (struct bsdf){.type = MATERIAL_PRINCIPLED,
                                .base = p->base,
                                .metallic = p->metallic,
                                .roughness = p->roughness,
                                .alpha = fmax(p->roughness * p->roughness, 0.001),
                                .specular = p->specular};
}

/* The two lobes of a solid's surface. */
static void add_through(struct lobes *out, struct vec3 w, const struct placing *at,
                        const struct principled *p)
{
    const struct fresnel dielectric = {.kind = FRESNEL_DIELECTRIC, .eta = p->eta};
    struct vec3 root = vec3(sqrt(p->base.x), sqrt(p->base.y), sqrt(p->base.z));
    add_facets(out, LOBE_REFLECT, w, at, p, &dielectric);
    add_facets(out, fabs(p->eta - 1) < 0.0001 ? LOBE_STRAIGHT : LOBE_REFRACT, mul(w, root), at, p,
               &dielectric);
}

/* Those of a wall so thin that its faces are one (as thin_dielectric, with facets). */
static void add_pane(struct lobes *out, struct vec3 w, const struct placing *at,
                     const struct principled *p)
{
    const struct fresnel face = {.kind = FRESNEL_DIELECTRIC, .eta = p->thin_ior},
                         all = {.kind = FRESNEL_ONE};
    double F = fresnel_at(&face, dot(out->wo, at->N)).x, R = 2 * F / (1 + F);
    add_facets(out, LOBE_REFLECT, scale(R, w), at, p, &all);
    (void)lobes_add(out, LOBE_STRAIGHT, mul(scale(1 - R, w), p->base), at->n, at->N);
}

void lobes_add_principled(struct lobes *out, struct vec3 w, const struct placing *at,
                          const struct principled *p)
{
    double m = p->metallic, t = p->transmission * (1 - m);
    bool own_specular = p->specular_color.x != 1 || p->specular_color.y != 1 ||
                        p->specular_color.z != 1 || p->specular_weight != 1;
    if (p->specular_tint == 0 && p->anisotropy == 0 && p->sheen == 0 && p->clearcoat == 0 &&
        p->subsurface == 0 && t == 0 && !own_specular) {
        add_plain(out, w, at, p);
        return;
    }
    struct vec3 tint = tint_of(p->base);
    struct vec3 d =
        mul(scale(0.08 * p->specular, towards(tint, p->specular_tint)), p->specular_color);
    d = scale(p->specular_weight, vec3(fmin(d.x, 1), fmin(d.y, 1), fmin(d.z, 1)));
    const struct fresnel schlick = {.kind = FRESNEL_SCHLICK,
                                    .a = lerp(d, p->base, m),
                                    .b = lerp(gray(p->specular_weight), gray(1), m),
                                    .exponent = 5};
    add_facets(out, LOBE_REFLECT, scale(1 - t, w), at, p, &schlick);
    struct lobe *l = lobes_add(out, p->subsurface > 0 ? LOBE_FLAT : LOBE_BURLEY,
                               mul(scale((1 - t) * (1 - m), w), p->base), at->n, at->N);
    if (l) {
        l->shape = p->roughness;
        l->subsurface = p->subsurface;
    }
    if (p->thin_ior > 0)
        add_pane(out, scale(t, w), at, p);
    else
        add_through(out, scale(t, w), at, p);
    l = lobes_add(out, LOBE_COAT, scale(0.25 * p->clearcoat, w), at->n, at->N);
    if (l)
        l->shape = 0.1 + (0.001 - 0.1) * p->clearcoat_gloss;
    lobes_add(out, LOBE_VELVET, mul(scale(p->sheen * (1 - m), w), towards(tint, p->sheen_tint)),
              at->n, at->N);
}
