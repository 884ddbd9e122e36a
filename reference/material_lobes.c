/* Protocol section 28: from a material to lobes. */
#include "shading.h"
#include "texture.h"

/* A material at a point. */
struct point {
    const struct scene *s;
    const struct material *m;
    const double *uv;
    struct lobes *out;
    struct placing at;
    bool backfacing;
    double opacity;
};

static double number(const struct point *p, const struct scalar_input *in)
{
    return scalar_at(p->s, in, p->uv, 0, 1);
}

static struct lobe *place(const struct point *p, enum lobe_kind kind, struct vec3 weight)
{
    return lobes_add(p->out, kind, scale(p->opacity, weight), p->at.n, p->at.N);
}

static double relative_index(const struct point *p)
{
    double ior = scalar_at(p->s, &p->m->ior, p->uv, 0.1, 10);
    return p->backfacing ? 1 / ior : ior;
}

static void add_base(const struct point *p)
{
    struct lobe *l = place(p, LOBE_BASE, gray(1));
    if (l)
        l->base = bsdf_at(p->s, p->m, p->uv, !p->backfacing);
}

static void add_conductor(const struct point *p)
{
    double anisotropy = number(p, &p->m->anisotropy);
    if (anisotropy == 0) {
        add_base(p);
        return;
    }
    struct lobe *l = place(p, LOBE_REFLECT, gray(1));
    if (!l)
        return;
    facet_spread(number(p, &p->m->roughness), anisotropy, &l->ax, &l->ay);
    lobe_brush(l, p->at.U, number(p, &p->m->rotation));
    l->fresnel = (struct fresnel){
        .kind = FRESNEL_CONDUCTOR, .a = from_float(p->m->eta), .b = from_float(p->m->k)};
}

static void add_principled(const struct point *p)
{
    const struct material *m = p->m;
    const struct principled all = {.base = color_at(p->s, &m->base, p->uv),
                                   .metallic = number(p, &m->metallic),
                                   .roughness = number(p, &m->roughness),
                                   .specular = number(p, &m->specular),
                                   .specular_tint = number(p, &m->specular_tint),
                                   .anisotropy = number(p, &m->anisotropy),
                                   .rotation = number(p, &m->rotation),
                                   .sheen = number(p, &m->sheen),
                                   .sheen_tint = number(p, &m->sheen_tint),
                                   .clearcoat = number(p, &m->clearcoat),
                                   .clearcoat_gloss = number(p, &m->clearcoat_gloss),
                                   .transmission = number(p, &m->transmission),
                                   .eta = relative_index(p)};
    lobes_add_principled(p->out, gray(p->opacity), &p->at, &all);
}

static void add_rough_dielectric(const struct point *p)
{
    double eta = relative_index(p), r = number(p, &p->m->roughness), alpha = r * r;
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

static void add_thin_dielectric(const struct point *p)
{
    const struct fresnel face = {.kind = FRESNEL_DIELECTRIC,
                                 .eta = scalar_at(p->s, &p->m->ior, p->uv, 0.1, 10)};
    double F = fresnel_at(&face, dot(p->out->wo, p->at.N)).x, R = 2 * F / (1 + F);
    (void)place(p, LOBE_REFLECT, gray(R)); /* zeroed: delta, reflectance 1 */
    (void)place(p, LOBE_STRAIGHT, gray(1 - R));
}

static void add_shaped(const struct point *p, enum lobe_kind kind, double shape)
{
    struct lobe *l = place(p, kind, color_at(p->s, &p->m->base, p->uv));
    if (l)
        l->shape = shape;
}

void lobes_of_material(const struct scene *s, const struct material *m, const struct hit *hit,
                       struct vec3 U, bool backfacing, struct lobes *out)
{
    struct point p = {s, m, hit->uv, out, {hit->Ns, hit->Ns, U}, backfacing, 1};
    if (m->alpha_mode == ALPHA_BLEND)
        p.opacity = number(&p, &m->opacity);
    switch (m->type) {
    case MATERIAL_ROUGH_CONDUCTOR:
        add_conductor(&p);
        break;
    case MATERIAL_PRINCIPLED:
        add_principled(&p);
        break;
    case MATERIAL_OREN_NAYAR:
        add_shaped(&p, LOBE_OREN_NAYAR, scalar_at(s, &m->sigma, hit->uv, 0, PI / 2));
        break;
    case MATERIAL_ROUGH_DIELECTRIC:
        add_rough_dielectric(&p);
        break;
    case MATERIAL_THIN_DIELECTRIC:
        add_thin_dielectric(&p);
        break;
    case MATERIAL_SHEEN:
        add_shaped(&p, LOBE_SHEEN, scalar_at(s, &m->roughness, hit->uv, 0.25, 1));
        break;
    default:
        add_base(&p);
        break;
    }
    lobes_add(out, LOBE_STRAIGHT, gray(1 - p.opacity), hit->Ns, hit->Ns);
}
