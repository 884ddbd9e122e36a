/* SPDX-License-Identifier: Apache-2.0 */
#include "lobe.h"

static double finite_or_zero(double x) { return isfinite(x) && x > 0 ? x : 0; }

static bool usable(struct vec3 n, struct vec3 wo)
{
    return isfinite(n.x) && isfinite(n.y) && isfinite(n.z) && dot(n, wo) > 0;
}

struct lobe *lobes_add(struct lobes *l, enum lobe_kind kind, struct vec3 weight, struct vec3 n,
                       struct vec3 N)
{
    struct vec3 w =
        vec3(finite_or_zero(weight.x), finite_or_zero(weight.y), finite_or_zero(weight.z));
    if (is_zero(w))
        return NULL;
    if (l->count == LOBES_MAX) {
        l->dropped++;
        return NULL;
    }
    struct vec3 unit = normalize(n);
    struct lobe *lobe = &l->lobe[l->count++];
    *lobe = (struct lobe){.kind = kind,
                          .align_moved = l->moved ? from_double(l->moved + LOBE_ALIGN) : gray(0),
                          .weight = w,
                          .frame = frame_about(usable(unit, l->wo) ? unit : N)};
    return lobe;
}

void lobe_align(struct lobe *l, struct vec3 X)
{
    struct vec3 n = l->frame.n, along = scale(dot(X, n), n);
    struct vec3 s = normalize(add(sub(X, along), scale(sqrt(dot(X, X)), l->align_moved)));
    if (isfinite(s.x) && isfinite(s.y) && isfinite(s.z))
        l->frame = (struct frame){s, cross(n, s), n};
}

void lobe_brush(struct lobe *l, struct vec3 U, double rotation)
{
    if (l->ax == l->ay)
        return;
    lobe_align(l, U);
    struct vec3 s = l->frame.s, t = l->frame.t;
    double S = sin(2 * PI * rotation), C = cos(2 * PI * rotation);
    l->frame.s = add(scale(C, s), scale(S, t));
    l->frame.t = sub(scale(C, t), scale(S, s));
}

static bool is_facet(const struct lobe *l)
{
    return l->kind == LOBE_REFLECT || l->kind == LOBE_REFRACT;
}

static bool lobe_is_delta(const struct lobe *l)
{
    if (l->kind == LOBE_BASE)
        return bsdf_is_delta(&l->base);
    return l->kind == LOBE_STRAIGHT || (is_facet(l) && l->ax == 0);
}

static bool lobe_transmits(const struct lobe *l)
{
    return l->kind == LOBE_TRANSLUCENT || l->kind == LOBE_REFRACT || l->kind == LOBE_STRAIGHT;
}

static struct vec3 base_estimate(const struct bsdf *b, double cosine)
{
    if (b->type != MATERIAL_PRINCIPLED)
        return b->type == MATERIAL_ROUGH_CONDUCTOR ? conductor_fresnel(b, cosine) : bsdf_albedo(b);
    struct vec3 F0 = lerp(gray(0.08 * b->specular), b->base, b->metallic);
    struct vec3 F = add(F0, scale(pow(1 - clamp(cosine, 0, 1), 5), sub(gray(1), F0)));
    struct vec3 e = add(F, scale(1 - b->metallic, b->base));
    return vec3(clamp(e.x, 0, 1), clamp(e.y, 0, 1), clamp(e.z, 0, 1));
}

struct vec3 lobe_estimate(const struct lobe *l, struct vec3 wo)
{
    double c = dot(wo, l->frame.n);
    switch (l->kind) {
    case LOBE_BASE:
        return base_estimate(&l->base, c);
    case LOBE_SHEEN:
        return gray(sheen_albedo(l->shape, c));
    case LOBE_VELVET: {
        double q = clamp(1 - c, 0, 1);
        return gray(0.0884 * q * q * (0.4 + 0.6 * q));
    }
    case LOBE_COAT:
        return gray(0.04 + 0.96 * pow(1 - clamp(c, 0, 1), 5));
    case LOBE_REFLECT:
        return fresnel_at(&l->fresnel, c);
    case LOBE_REFRACT:
        return fresnel_passed(&l->fresnel, c);
    default:
        return gray(1);
    }
}

void lobes_finish(struct lobes *l)
{
    double sum = 0;
    for (unsigned i = 0; i < l->count; i++) {
        struct lobe *lobe = &l->lobe[i];
        if (l->moved) {
            lobe->fresnel.moved = l->moved[LOBE_COSINE];
            lobe->fresnel.passed_moved = l->moved[LOBE_PASSED];
        }
        lobe->wo = to_local(lobe->frame, l->wo);
        lobe->estimate = lobe_estimate(lobe, l->wo);
        lobe->delta = lobe_is_delta(lobe);
        lobe->transmits = lobe_transmits(lobe);
        double least = lobe->delta ? 0 : 0.05;
        struct vec3 e = lobe->estimate;
        lobe->p = light_luminance(
            mul(lobe->weight, vec3(fmax(e.x, least), fmax(e.y, least), fmax(e.z, least))));
        sum += lobe->p;
    }
    if (l->count > 1 && sum == 0)
        l->count = 0;
    l->moved = NULL;
    l->reflecting = l->transmitting = 0;
    for (unsigned i = 0; i < l->count; i++) {
        struct lobe *lobe = &l->lobe[i];
        lobe->p = l->count == 1 ? 1 : lobe->p / sum;
        if (!lobe->delta)
            *(lobe->transmits ? &l->transmitting : &l->reflecting) += lobe->p;
    }
}

bool lobes_lit(const struct lobes *l) { return l->reflecting > 0 || l->transmitting > 0; }

/* The probability that the light sample goes through the surface. */
static double through(const struct lobes *l)
{
    return l->transmitting > 0 ? l->transmitting / (l->reflecting + l->transmitting) : 0;
}

bool lobes_side(const struct lobes *l, double u, double *q)
{
    double t = through(l);
    *q = u < t ? t : 1 - t;
    return u < t;
}

/* f |cos| and the density of one lobe; 0 on the wrong side. */
static struct vec3 lobe_eval(const struct lobe *l, struct vec3 wi, bool below, double *pdf_w)
{
    *pdf_w = 0;
    if (l->delta || l->transmits != below || (l->transmits ? !(wi.z < 0) : !(wi.z > 0)))
        return gray(0);
    struct vec3 f;
    if (l->kind == LOBE_BASE)
        f = bsdf_eval(&l->base, l->wo, wi, pdf_w);
    else if (is_facet(l))
        f = facet_eval(l, wi, pdf_w);
    else if (l->kind == LOBE_COAT)
        f = coat_eval(l, wi, pdf_w);
    else
        f = rough_eval(l, wi, pdf_w);
    return scale(fabs(wi.z), f);
}

struct vec3 lobes_eval(const struct lobes *l, struct vec3 wi, double *pdf_w)
{
    struct vec3 F = gray(0);
    double side = dot(wi, l->Ng), pdf;
    *pdf_w = 0;
    for (unsigned i = 0; side != 0 && i < l->count; i++) {
        const struct lobe *lobe = &l->lobe[i];
        struct vec3 f = lobe_eval(lobe, to_local(lobe->frame, wi), side < 0, &pdf);
        F = add(F, mul(lobe->weight, f));
        *pdf_w += lobe->p * pdf;
    }
    return F;
}

/* The lobe that u chooses; *rest is a number for a choice of its own. */
static const struct lobe *choose(const struct lobes *l, double u, double *rest)
{
    *rest = u;
    if (l->count == 1)
        return &l->lobe[0];
    const struct lobe *last = NULL;
    double before = 0;
    for (unsigned i = 0; i < l->count; i++) {
        const struct lobe *lobe = &l->lobe[i];
        if (lobe->p == 0)
            continue;
        last = lobe;
        *rest = clamp((u - before) / lobe->p, 0, 1 - 0x1p-24);
        before += lobe->p;
        if (before > u)
            break;
    }
    return last;
}

static enum ray_kind base_ray(const struct bsdf_sample *s)
{
    if (s->delta)
        return s->transmitted ? RAY_REFRACTION : RAY_REFLECTION;
    return s->glossy ? RAY_GLOSSY : RAY_DIFFUSE;
}

static enum ray_kind lobe_ray(const struct lobe *l)
{
    switch (l->kind) {
    case LOBE_PHONG:
    case LOBE_WARD:
    case LOBE_COAT:
        return RAY_GLOSSY;
    case LOBE_REFLECT:
        return l->delta ? RAY_REFLECTION : RAY_GLOSSY;
    case LOBE_REFRACT:
        return l->delta ? RAY_REFRACTION : RAY_GLOSSY;
    case LOBE_STRAIGHT:
        return RAY_STRAIGHT;
    default:
        return RAY_DIFFUSE;
    }
}

/* A local direction of the lobe; of delta lobes also the weight. */
static bool lobe_sample(const struct lobe *l, double choice, const double u[3], struct vec3 *wi,
                        struct lobes_sample *out)
{
    out->ray = lobe_ray(l);
    out->delta = l->delta;
    out->transmitted = l->transmits;
    if (l->kind == LOBE_BASE) {
        struct bsdf_sample s;
        const double own[3] = {choice, u[1], u[2]};
        if (!bsdf_sample(&l->base, l->wo, own, &s))
            return false;
        *wi = s.wi;
        out->weight = s.weight;
        out->transmitted = s.transmitted;
        out->ray = base_ray(&s);
        return true;
    }
    if (l->delta)
        return delta_sample(l, wi, &out->weight);
    if (is_facet(l))
        return facet_sample(l, u[1], u[2], wi);
    if (l->kind == LOBE_COAT)
        return coat_sample(l, u[1], u[2], wi);
    *wi = rough_sample(l, u[1], u[2]);
    return true;
}

bool lobes_sample(const struct lobes *l, const double u[3], struct lobes_sample *out)
{
    double rest;
    *out = (struct lobes_sample){0};
    const struct lobe *lobe = l->count ? choose(l, u[0], &rest) : NULL;
    struct vec3 wi;
    if (!lobe || !lobe_sample(lobe, rest, u, &wi, out))
        return false;
    if (out->transmitted ? !(wi.z < 0) : !(wi.z > 0))
        return false;
    out->wi = lobe->kind == LOBE_STRAIGHT ? negate(l->wo) : to_world(lobe->frame, wi);
    double side = dot(out->wi, l->Ng);
    if (out->transmitted ? !(side < 0) : !(side > 0))
        return false;
    if (out->delta) {
        out->weight = scale(1 / lobe->p, mul(lobe->weight, out->weight));
        out->q = 1;
        return true;
    }
    struct vec3 F = lobes_eval(l, out->wi, &out->pdf_w);
    if (!(out->pdf_w > 0))
        return false;
    out->weight = scale(1 / out->pdf_w, F);
    out->q = out->transmitted ? through(l) : 1 - through(l);
    return true;
}

struct vec3 lobes_albedo(const struct lobes *l)
{
    struct vec3 a = gray(0);
    for (unsigned i = 0; i < l->count; i++)
        a = add(a, mul(l->lobe[i].weight, l->lobe[i].estimate));
    return vec3(clamp(a.x, 0, 1), clamp(a.y, 0, 1), clamp(a.z, 0, 1));
}
