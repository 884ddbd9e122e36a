/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 28: from a material to lobes. */
#include "shading.h"
#include "textures/texture.h"

struct inputs inputs_at(const struct scene *s, const struct material *m, const struct hit *hit,
                        struct vec3 tint, bool backfacing)
{
    const double *uv = hit->uv;
    struct bsdf bsdf = bsdf_at(s, m, uv, !backfacing);
    bsdf.base = mul(bsdf.base, tint);
    const struct material_layers *y = &m->layers;
    struct layer_inputs layers = {.present = y->present && m->type == MATERIAL_PRINCIPLED};
    if (layers.present)
        layers =
            (struct layer_inputs){.present = true,
                                  .thin = y->thin,
                                  .specular_color = unbounded_color_at(s, &y->specular_color, uv),
                                  .specular_weight = scalar_at(s, &y->specular_weight, uv, 0, 1),
                                  .coat = scalar_at(s, &y->coat, uv, 0, 1),
                                  .coat_roughness = scalar_at(s, &y->coat_roughness, uv, 0, 1),
                                  .fuzz = color_at(s, &y->fuzz, uv),
                                  .fuzz_roughness = scalar_at(s, &y->fuzz_roughness, uv, 0, 1)};
    return (struct inputs){.layers = layers,
                           .bsdf = bsdf,
                           .color = mul(color_at(s, &m->base, uv), tint),
                           .roughness = scalar_at(s, &m->roughness, uv, 0, 1),
                           .specular_tint = scalar_at(s, &m->specular_tint, uv, 0, 1),
                           .anisotropy = scalar_at(s, &m->anisotropy, uv, 0, 1),
                           .rotation = scalar_at(s, &m->rotation, uv, 0, 1),
                           .sheen = scalar_at(s, &m->sheen, uv, 0, 1),
                           .sheen_tint = scalar_at(s, &m->sheen_tint, uv, 0, 1),
                           .clearcoat = scalar_at(s, &m->clearcoat, uv, 0, 1),
                           .clearcoat_gloss = scalar_at(s, &m->clearcoat_gloss, uv, 0, 1),
                           .transmission = scalar_at(s, &m->transmission, uv, 0, 1),
                           .subsurface = scalar_at(s, &m->subsurface, uv, 0, 1),
                           .ior = scalar_at(s, &m->ior, uv, 0.1, 10),
                           .sigma = scalar_at(s, &m->sigma, uv, 0, PI / 2),
                           .backfacing = backfacing};
}

/* Where its lobes go. */
struct place {
    const struct inputs *in;
    struct vec3 weight;
    struct placing at;
    struct lobes *out;
};

static struct lobe *place(const struct place *p, enum lobe_kind kind, struct vec3 weight)
{
    return lobes_add(p->out, kind, mul(p->weight, weight), p->at.n, p->at.N);
}

static double relative_index(const struct inputs *in)
{
    return in->backfacing ? 1 / in->ior : in->ior;
}

static void add_base(const struct place *p)
{
    struct lobe *l = place(p, LOBE_BASE, gray(1));
    if (l)
        l->base = p->in->bsdf;
}

static void add_conductor(const struct place *p)
{
    const struct inputs *in = p->in;
    if (in->anisotropy == 0) {
        add_base(p);
        return;
    }
    struct lobe *l = place(p, LOBE_REFLECT, gray(1));
    if (!l)
        return;
    facet_spread(in->roughness, in->anisotropy, &l->ax, &l->ay);
    lobe_brush(l, p->at.U, in->rotation);
    l->fresnel = (struct fresnel){.kind = FRESNEL_CONDUCTOR, .a = in->bsdf.eta, .b = in->bsdf.k};
}

static double coat_reflectance(double c) { return 0.04 + 0.96 * pow(clamp(1 - c, 0, 1), 5); }

/* Section 28, Layers: the coat over the fuzz over Burley's model, each taking from what is below.
 */
static void add_layered(const struct place *p, const struct principled *burley)
{
    const struct layer_inputs *y = &p->in->layers;
    struct principled below = *burley;
    struct vec3 wo = p->out->wo;
    struct vec3 nc = dot(y->coat_normal, wo) > 0 ? y->coat_normal : p->at.N;
    double Fc = coat_reflectance(dot(nc, wo)), under = 1 - y->coat * Fc;
    double r = fmax(y->fuzz_roughness * y->fuzz_roughness, 0.25);
    double E = sheen_albedo(r, dot(p->at.N, wo));
    below.specular_color = y->specular_color;
    below.specular_weight = y->specular_weight;
    below.thin_ior = y->thin ? p->in->ior : 0;
    struct vec3 w = scale(under, p->weight);
    lobes_add_principled(p->out, scale(1 - max3(y->fuzz) * E, w), &p->at, &below);
    struct lobe *l = lobes_add(p->out, LOBE_SHEEN, mul(w, y->fuzz), p->at.n, p->at.N);
    if (l)
        l->shape = r;
    l = lobes_add(p->out, LOBE_REFLECT, scale(y->coat, p->weight), nc, p->at.N);
    if (!l)
        return;
    facet_spread(y->coat_roughness, 0, &l->ax, &l->ay);
    l->fresnel =
        (struct fresnel){.kind = FRESNEL_SCHLICK, .a = gray(0.04), .b = gray(1), .exponent = 5};
}

static void add_principled(const struct place *p)
{
    const struct inputs *in = p->in;
    const struct principled all = {.base = in->color,
                                   .metallic = in->bsdf.metallic,
                                   .roughness = in->roughness,
                                   .specular = in->bsdf.specular,
                                   .specular_tint = in->specular_tint,
                                   .anisotropy = in->anisotropy,
                                   .rotation = in->rotation,
                                   .sheen = in->sheen,
                                   .sheen_tint = in->sheen_tint,
                                   .clearcoat = in->clearcoat,
                                   .clearcoat_gloss = in->clearcoat_gloss,
                                   .transmission = in->transmission,
                                   .subsurface = in->subsurface,
                                   .eta = relative_index(in),
                                   .behind = in->backfacing,
                                   .specular_color = gray(1),
                                   .specular_weight = 1};
    if (in->layers.present)
        add_layered(p, &all);
    else
        lobes_add_principled(p->out, p->weight, &p->at, &all);
}

static void add_rough_dielectric(const struct place *p)
{
    double eta = relative_index(p->in), alpha = p->in->roughness * p->in->roughness;
    const struct fresnel fresnel = {.kind = FRESNEL_DIELECTRIC, .eta = eta};
    struct lobe *l = place(p, LOBE_REFLECT, gray(1));
    if (!l)
        return;
    l->ax = l->ay = alpha < 0.001 ? 0 : alpha;
    l->fresnel = fresnel;
    l = place(p, fabs(eta - 1) < 0.0001 ? LOBE_STRAIGHT : LOBE_REFRACT, gray(1));
    l->ax = l->ay = alpha < 0.001 ? 0 : alpha;
    l->fresnel = fresnel;
    l->eta = eta;
}

static void add_thin_dielectric(const struct place *p)
{
    const struct fresnel face = {.kind = FRESNEL_DIELECTRIC, .eta = p->in->ior};
    double F = fresnel_at(&face, dot(p->out->wo, p->at.N)).x, R = 2 * F / (1 + F);
    (void)place(p, LOBE_REFLECT, gray(R)); /* zeroed: delta, reflectance 1 */
    (void)place(p, LOBE_STRAIGHT, gray(1 - R));
}

static void add_shaped(const struct place *p, enum lobe_kind kind, double shape)
{
    struct lobe *l = place(p, kind, p->in->color);
    if (l)
        l->shape = shape;
}

void lobes_of_inputs(const struct inputs *in, struct vec3 weight, const struct placing *at,
                     struct lobes *out)
{
    const struct place p = {in, weight, *at, out};
    switch (in->bsdf.type) {
    case MATERIAL_ROUGH_CONDUCTOR:
        add_conductor(&p);
        break;
    case MATERIAL_PRINCIPLED:
        add_principled(&p);
        break;
    case MATERIAL_OREN_NAYAR:
        add_shaped(&p, LOBE_OREN_NAYAR, in->sigma);
        break;
    case MATERIAL_ROUGH_DIELECTRIC:
        add_rough_dielectric(&p);
        break;
    case MATERIAL_THIN_DIELECTRIC:
        add_thin_dielectric(&p);
        break;
    case MATERIAL_SHEEN:
        add_shaped(&p, LOBE_SHEEN, fmax(in->roughness, 0.25));
        break;
    default:
        add_base(&p);
        break;
    }
    lobes_add(out, LOBE_STRAIGHT, sub(gray(1), weight), at->N, at->N);
}

void lobes_of_material(const struct scene *s, const struct material *m, const struct hit *hit,
                       struct vec3 tint, struct vec3 coat_normal, struct vec3 U, bool backfacing,
                       struct lobes *out)
{
    struct inputs in = inputs_at(s, m, hit, tint, backfacing);
    in.layers.coat_normal = coat_normal;
    const struct placing at = {hit->Ns, hit->Ns, U};
    double opacity = m->alpha_mode == ALPHA_BLEND ? scalar_at(s, &m->opacity, hit->uv, 0, 1) : 1;
    lobes_of_inputs(&in, gray(opacity), &at, out);
}
