/* SPDX-License-Identifier: Apache-2.0 */
/* Microfacets that reflect and refract, GGX and Beckmann: Walter, Marschner, Li and Torrance,
 * "Microfacet Models for Refraction through Rough Surfaces", EGSR 2007; Heitz, JCGT 3(2), 2014 and
 * 7(4), 2018. And their limits without a density. */
#include "lobe.h"
#include "microfacet.h"

static double square(double x) { return x * x; }

/* ---- reflectance ---------------------------------------------------------------------------- */

/* ct: the cosine on the far side. */
static double dielectric_between(double eta, double c, double ct)
{
    if (!(eta > 0))
        return 1;
    double rs = (c - eta * ct) / (c + eta * ct), rp = (eta * c - ct) / (eta * c + ct);
    return (rs * rs + rp * rp) / 2;
}

static double dielectric(double eta, double c)
{
    double s2 = (1 - c * c) / (eta * eta);
    return s2 >= 1 ? 1 : dielectric_between(eta, c, sqrt(1 - s2));
}

struct vec3 fresnel_at(const struct fresnel *f, double c)
{
    switch (f->kind) {
    case FRESNEL_DIELECTRIC:
        return gray(dielectric(f->eta, c));
    case FRESNEL_CONDUCTOR: {
        const struct bsdf metal = {.eta = f->a, .k = f->b};
        return conductor_fresnel(&metal, c);
    }
    case FRESNEL_SCHLICK:
        return add(f->a, scale(pow(fmax(0, 1 - (c + f->moved)), f->exponent), sub(f->b, f->a)));
    case FRESNEL_ONE:
        break;
    }
    return gray(1);
}

struct vec3 fresnel_passed(const struct fresnel *f, double c)
{
    return sub(gray(1 + f->passed_moved), fresnel_at(f, c));
}

/* The same at a facet: c = <wo, h>, d = <wi, h>. Section 21 has |d| for the far cosine, not the root.
 * For directions of length one it is the same number. But wo is as a renderer has it, whose length
 * is off by a few roundings, more with each refraction: near the critical angle the root makes
 * thousands of times that of it, and |d| does not. */
static struct vec3 facet_passed(const struct fresnel *f, double c, double d)
{
    if (f->kind != FRESNEL_DIELECTRIC)
        return fresnel_passed(f, c);
    return gray(1 + f->passed_moved - dielectric_between(f->eta, c, fabs(d)));
}

/* ---- distributions -------------------------------------------------------------------------- */

static double facet_d(const struct lobe *l, struct vec3 h)
{
    double q = square(h.x / l->ax) + square(h.y / l->ay), z2 = h.z * h.z;
    if (l->beckmann)
        return exp(-q / z2) / (PI * l->ax * l->ay * z2 * z2);
    return 1 / (PI * l->ax * l->ay * square(q + z2));
}

static double facet_lambda(const struct lobe *l, struct vec3 w)
{
    double spread = square(l->ax * w.x) + square(l->ay * w.y);
    if (!l->beckmann)
        return (sqrt(1 + spread / (w.z * w.z)) - 1) / 2;
    double a = fabs(w.z) / sqrt(spread); /* infinite along the normal */
    return a >= 1.6 ? 0 : (1 - 1.259 * a + 0.396 * a * a) / (3.535 * a + 2.181 * a * a);
}

/* Density of h among those that sampling gives: GGX the visible ones, Beckmann all. */
static double facet_pdf(const struct lobe *l, struct vec3 h)
{
    double d = facet_d(l, h);
    if (l->beckmann)
        return d * h.z;
    return d * dot(l->wo, h) / ((1 + facet_lambda(l, l->wo)) * l->wo.z);
}

static struct vec3 facet_normal(const struct lobe *l, double u, double v)
{
    if (!l->beckmann)
        return ggx_sample(l->ax, l->ay, l->wo, u, v);
    double k = sqrt(-log(1 - u)), phi = 2 * PI * v;
    return normalize(vec3(l->ax * k * cos(phi), l->ay * k * sin(phi), 1));
}

/* ---- lobes ---------------------------------------------------------------------------------- */

static double masked(const struct lobe *l, struct vec3 h, struct vec3 wi)
{
    return facet_d(l, h) / (1 + facet_lambda(l, l->wo) + facet_lambda(l, wi));
}

static struct vec3 refract_eval(const struct lobe *l, struct vec3 wi, double *pdf_w)
{
    struct vec3 h = normalize(add(l->wo, scale(l->eta, wi)));
    if (h.z < 0)
        h = negate(h);
    double c = dot(l->wo, h), d = dot(wi, h);
    if (!(c > 0 && d < 0))
        return gray(0);
    double j2 = square(c + l->eta * d);
    *pdf_w = facet_pdf(l, h) * l->eta * l->eta * -d / j2;
    double shape = masked(l, h, wi) * c * -d / (l->wo.z * fabs(wi.z) * j2);
    return scale(shape, facet_passed(&l->fresnel, c, d));
}

struct vec3 facet_eval(const struct lobe *l, struct vec3 wi, double *pdf_w)
{
    *pdf_w = 0;
    if (l->kind == LOBE_REFRACT)
        return refract_eval(l, wi, pdf_w);
    struct vec3 h = normalize(add(l->wo, wi));
    double c = dot(l->wo, h);
    *pdf_w = facet_pdf(l, h) / (4 * c);
    return scale(masked(l, h, wi) / (4 * l->wo.z * wi.z), fresnel_at(&l->fresnel, c));
}

/* wo refracted at a facet h. */
static bool refracted(double eta, struct vec3 wo, struct vec3 h, struct vec3 *wi)
{
    double c = dot(wo, h), i = 1 / eta, k = 1 - i * i * (1 - c * c);
    if (!(k > 0))
        return false;
    *wi = sub(scale(i * c - sqrt(k), h), scale(i, wo));
    return true;
}

bool facet_sample(const struct lobe *l, double u, double v, struct vec3 *wi)
{
    struct vec3 h = facet_normal(l, u, v);
    double c = dot(l->wo, h);
    if (!(c > 0))
        return false;
    if (l->kind == LOBE_REFRACT)
        return refracted(l->eta, l->wo, h, wi);
    *wi = sub(scale(2 * c, h), l->wo);
    return true;
}

bool delta_sample(const struct lobe *l, struct vec3 *wi, struct vec3 *weight)
{
    if (l->kind == LOBE_STRAIGHT) {
        *wi = negate(l->wo);
        *weight = gray(1);
        return true;
    }
    *wi = vec3(-l->wo.x, -l->wo.y, l->wo.z);
    *weight = fresnel_at(&l->fresnel, l->wo.z);
    if (l->kind == LOBE_REFLECT)
        return true;
    *weight = scale(1 / (l->eta * l->eta), fresnel_passed(&l->fresnel, l->wo.z));
    return refracted(l->eta, l->wo, vec3(0, 0, 1), wi);
}

/* ---- clearcoat ------------------------------------------------------------------------------ */

/* Burley, "Physically Based Shading at Disney", SIGGRAPH 2012 course, 5.6 and appendix B.2: GTR
 * with gamma 1. a2 = alpha^2. */
static double coat_d(double a2, double cosine)
{
    return (a2 - 1) / (PI * log(a2) * (1 + (a2 - 1) * cosine * cosine));
}

static double coat_g1(struct vec3 w)
{
    double tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z);
    return 1 / (1 + (sqrt(1 + 0.0625 * tan2) - 1) / 2);
}

struct vec3 coat_eval(const struct lobe *l, struct vec3 wi, double *pdf_w)
{
    struct vec3 h = normalize(add(l->wo, wi));
    double c = dot(l->wo, h), D = coat_d(square(l->shape), h.z);
    double F = 0.04 + 0.96 * pow(1 - clamp(c, 0, 1), 5);
    *pdf_w = D * h.z / (4 * c);
    return gray(F * D * coat_g1(l->wo) * coat_g1(wi) / (4 * l->wo.z * wi.z));
}

bool coat_sample(const struct lobe *l, double u, double v, struct vec3 *wi)
{
    double a2 = square(l->shape), phi = 2 * PI * v;
    double s2 = clamp((pow(a2, 1 - u) - a2) / (1 - a2), 0, 1), q = sqrt(s2);
    struct vec3 h = vec3(q * cos(phi), q * sin(phi), sqrt(1 - s2));
    double c = dot(l->wo, h);
    *wi = sub(scale(2 * c, h), l->wo);
    return c > 0;
}
