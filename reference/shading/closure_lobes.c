/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol section 21: from a closure to lobes. */
#include "shading.h"

#include <string.h>

struct builder {
    struct lobes *lobes;
    struct vec3 N, U, background, emitted;
    bool backfacing;
};

/* A component being read. */
struct component {
    struct builder *b;
    struct vec3 weight;
    const struct asl_closure_arg *args;
    size_t count;
};

/* ---- arguments ------------------------------------------------------------------------------ */

static double number(const struct component *c, size_t i)
{
    const struct asl_closure_arg *a = &c->args[i];
    return a->type.base == ASL_INT ? a->value->i : (double)a->value->f;
}

static struct vec3 triple(const struct component *c, size_t i)
{
    const union asl_slot *v = c->args[i].value;
    if (c->args[i].type.base < ASL_COLOR || c->args[i].type.base > ASL_NORMAL)
        return gray(number(c, i));
    return vec3((double)v[0].f, (double)v[1].f, (double)v[2].f);
}

static double at_least_zero(double x) { return isfinite(x) && x > 0 ? x : 0; }

/* Albedos and tints. */
static struct vec3 colour(const struct component *c, size_t i)
{
    struct vec3 v = triple(c, i);
    return vec3(at_least_zero(v.x), at_least_zero(v.y), at_least_zero(v.z));
}

static const char *word(const struct component *c, size_t i) { return c->args[i].value->s; }

/* A number passed by name, kept in [low, high]. */
static double named(const struct component *c, const char *key, double otherwise, double low,
                    double high)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct asl_closure_arg *a = &c->args[i];
        if (a->key && strcmp(a->key, key) == 0 &&
            (a->type.base == ASL_INT || a->type.base == ASL_FLOAT))
            otherwise = number(c, i);
    }
    return isfinite(otherwise) ? clamp(otherwise, low, high) : low;
}

static double kept(double x, double low, double high)
{
    return isnan(x) ? low : clamp(x, low, high);
}

/* Of arguments that come by their places. */
static size_t fixed_count(const struct component *c)
{
    size_t fixed = 0;
    while (fixed < c->count && !c->args[fixed].key)
        fixed++;
    return fixed;
}

static struct lobe *add_lobe(const struct component *c, enum lobe_kind kind, struct vec3 weight,
                             struct vec3 n)
{
    return lobes_add(c->b->lobes, kind, weight, n, c->b->N);
}

/* ---- diffuse lobes -------------------------------------------------------------------------- */

static void do_lambert(const struct component *c)
{
    add_lobe(c, LOBE_LAMBERT, c->weight, triple(c, 0));
}

static void do_subsurface(const struct component *c)
{
    add_lobe(c, LOBE_LAMBERT, mul(c->weight, colour(c, 3)), c->b->N);
}

static void do_albedo_lambert(const struct component *c)
{
    add_lobe(c, LOBE_LAMBERT, mul(c->weight, colour(c, 1)), triple(c, 0));
}

static void shaped(const struct component *c, enum lobe_kind kind, struct vec3 weight, double shape)
{
    struct lobe *l = add_lobe(c, kind, weight, triple(c, 0));
    if (l)
        l->shape = shape;
}

static void do_oren_nayar(const struct component *c)
{
    shaped(c, LOBE_OREN_NAYAR, c->weight, kept(number(c, 1), 0, PI / 2));
}

static void do_oren_nayar_bsdf(const struct component *c)
{
    shaped(c, LOBE_OREN_NAYAR, mul(c->weight, colour(c, 1)), kept(number(c, 2), 0, PI / 2));
}

static void do_burley(const struct component *c)
{
    shaped(c, LOBE_BURLEY, mul(c->weight, colour(c, 1)), kept(number(c, 2), 0, 1));
}

static void do_sheen(const struct component *c)
{
    shaped(c, LOBE_SHEEN, mul(c->weight, colour(c, 1)), kept(number(c, 2), 0.25, 1));
}

static void do_phong(const struct component *c)
{
    shaped(c, LOBE_PHONG, c->weight, kept(number(c, 1), 0, 1e4));
}

static void do_translucent(const struct component *c)
{
    add_lobe(c, LOBE_TRANSLUCENT, c->weight, triple(c, 0));
}

static void do_translucent_bsdf(const struct component *c)
{
    add_lobe(c, LOBE_TRANSLUCENT, mul(c->weight, colour(c, 1)), triple(c, 0));
}

static void do_ward(const struct component *c)
{
    struct lobe *l = add_lobe(c, LOBE_WARD, c->weight, triple(c, 0));
    if (!l)
        return;
    l->ax = kept(number(c, 2), 0.001, 1);
    l->ay = kept(number(c, 3), 0.001, 1);
    if (number(c, 2) != number(c, 3))
        lobe_align(l, triple(c, 1));
}

/* ---- facets --------------------------------------------------------------------------------- */

struct facets {
    struct vec3 n, tangent;
    double ax, ay;
    bool beckmann;
};

static void set_facets(struct lobe *l, const struct facets *f)
{
    if (!l || !isfinite(f->ax) || !isfinite(f->ay) || fmax(f->ax, f->ay) < 0.001)
        return; /* delta */
    l->ax = clamp(f->ax, 0.001, 1);
    l->ay = clamp(f->ay, 0.001, 1);
    l->beckmann = f->beckmann;
    if (f->ax != f->ay)
        lobe_align(l, f->tangent);
}

static void add_reflection(const struct component *c, const struct facets *f,
                           const struct fresnel *fresnel, struct vec3 weight)
{
    struct lobe *l = add_lobe(c, LOBE_REFLECT, weight, f->n);
    if (!l)
        return;
    l->fresnel = *fresnel;
    set_facets(l, f);
}

static void add_refraction(const struct component *c, const struct facets *f,
                           const struct fresnel *fresnel, double eta, struct vec3 weight)
{
    bool straight = fabs(eta - 1) < 0.0001;
    struct lobe *l = add_lobe(c, straight ? LOBE_STRAIGHT : LOBE_REFRACT, weight, f->n);
    if (!l || straight)
        return;
    l->fresnel = *fresnel;
    l->eta = eta;
    set_facets(l, f);
}

static struct fresnel dielectric(double eta)
{
    return (struct fresnel){.kind = FRESNEL_DIELECTRIC, .eta = eta};
}

static double turned(const struct component *c, double ior)
{
    return c->b->backfacing ? 1 / ior : ior;
}

static bool is_beckmann(const char *name) { return strcmp(name, "beckmann") == 0; }

static void do_microfacet(const struct component *c)
{
    size_t fixed = fixed_count(c);
    bool anisotropic = fixed > 5;
    struct facets f = {.n = triple(c, 1), .beckmann = is_beckmann(word(c, 0))};
    f.tangent = anisotropic ? triple(c, 2) : gray(0);
    f.ax = number(c, anisotropic ? 3 : 2);
    f.ay = number(c, anisotropic ? 4 : 2);
    double eta = number(c, fixed - 2), refract = number(c, fixed - 1);
    struct fresnel fresnel = dielectric(eta);
    if (refract != 1)
        add_reflection(c, &f, &fresnel, c->weight);
    if (refract != 0)
        add_refraction(c, &f, &fresnel, eta, c->weight);
}

static void do_reflection(const struct component *c)
{
    struct facets f = {.n = triple(c, 0)};
    bool plain = c->count < 2 || c->args[1].key;
    struct fresnel fresnel = plain ? (struct fresnel){FRESNEL_ONE} : dielectric(number(c, 1));
    add_reflection(c, &f, &fresnel, c->weight);
}

static void do_refraction(const struct component *c)
{
    struct facets f = {.n = triple(c, 0)};
    struct fresnel fresnel = dielectric(number(c, 1));
    add_refraction(c, &f, &fresnel, number(c, 1), c->weight);
}

static void do_dielectric(const struct component *c)
{
    struct facets f = {triple(c, 0), triple(c, 1), number(c, 4), number(c, 5),
                       is_beckmann(word(c, 7))};
    double eta = turned(c, number(c, 6));
    struct fresnel fresnel = dielectric(eta);
    add_reflection(c, &f, &fresnel, mul(c->weight, colour(c, 2)));
    add_refraction(c, &f, &fresnel, eta, mul(c->weight, colour(c, 3)));
}

static struct vec3 kept3(struct vec3 v, double low, double high)
{
    return vec3(kept(v.x, low, high), kept(v.y, low, high), kept(v.z, low, high));
}

static void do_conductor(const struct component *c)
{
    struct facets f = {triple(c, 0), triple(c, 1), number(c, 2), number(c, 3),
                       is_beckmann(word(c, 6))};
    struct fresnel fresnel = {.kind = FRESNEL_CONDUCTOR,
                              .a = kept3(triple(c, 4), 0.001, 100),
                              .b = kept3(triple(c, 5), 0, 100)};
    add_reflection(c, &f, &fresnel, c->weight);
}

static void do_schlick(const struct component *c)
{
    struct facets f = {triple(c, 0), triple(c, 1), number(c, 4), number(c, 5),
                       is_beckmann(word(c, 9))};
    struct vec3 f0 = kept3(triple(c, 6), 0, 1);
    struct fresnel fresnel = {.kind = FRESNEL_SCHLICK,
                              .a = f0,
                              .b = kept3(triple(c, 7), 0, 1),
                              .exponent = kept(number(c, 8), 0, 100)};
    double r = sqrt(clamp(luminance(f0), 0, 0.99));
    add_reflection(c, &f, &fresnel, mul(c->weight, colour(c, 2)));
    add_refraction(c, &f, &fresnel, turned(c, (1 + r) / (1 - r)), mul(c->weight, colour(c, 3)));
}

static void do_principled(const struct component *c)
{
    const struct principled p = {.base = kept3(triple(c, 1), 0, 1),
                                 .metallic = kept(number(c, 2), 0, 1),
                                 .roughness = kept(number(c, 3), 0, 1),
                                 .specular = named(c, "specular", 0.5, 0, 1),
                                 .specular_tint = named(c, "specular_tint", 0, 0, 1),
                                 .anisotropy = named(c, "anisotropy", 0, 0, 1),
                                 .rotation = named(c, "rotation", 0, 0, 1),
                                 .sheen = named(c, "sheen", 0, 0, 1),
                                 .sheen_tint = named(c, "sheen_tint", 0.5, 0, 1),
                                 .clearcoat = named(c, "clearcoat", 0, 0, 1),
                                 .clearcoat_gloss = named(c, "clearcoat_gloss", 1, 0, 1),
                                 .transmission = named(c, "transmission", 0, 0, 1),
                                 .subsurface = named(c, "subsurface", 0, 0, 1),
                                 .eta = turned(c, named(c, "ior", 1.5, 0.1, 10)),
                                 .behind = c->b->backfacing,
                                 .specular_color = gray(1),
                                 .specular_weight = 1};
    const struct placing at = {triple(c, 0), c->b->N, c->b->U};
    lobes_add_principled(c->b->lobes, c->weight, &at, &p);
}

/* ---- components that prototypes declare ----------------------------------------------------- */

/* (N, a ...) and (N, T, ax, ay ...); *rest: what follows. */
static struct facets facets_at(const struct component *c, bool beckmann, size_t *rest)
{
    bool aniso = c->count > 1 && c->args[1].type.base != ASL_FLOAT;
    *rest = aniso ? 4 : 2;
    return (struct facets){.n = triple(c, 0),
                           .tangent = aniso ? triple(c, 1) : gray(0),
                           .ax = number(c, aniso ? 2 : 1),
                           .ay = number(c, aniso ? 3 : 1),
                           .beckmann = beckmann};
}

static void mirror_facets(const struct component *c, bool beckmann, bool has_eta)
{
    size_t rest;
    struct facets f = facets_at(c, beckmann, &rest);
    struct fresnel fresnel =
        has_eta ? dielectric(number(c, rest)) : (struct fresnel){.kind = FRESNEL_ONE};
    add_reflection(c, &f, &fresnel, c->weight);
}
static void do_ggx(const struct component *c) { mirror_facets(c, false, fixed_count(c) == 3); }
static void do_beckmann(const struct component *c) { mirror_facets(c, true, fixed_count(c) == 3); }
static void do_plain_ggx(const struct component *c) { mirror_facets(c, false, false); }
static void do_plain_beckmann(const struct component *c) { mirror_facets(c, true, false); }

static void clear_facets(const struct component *c, bool beckmann)
{
    size_t rest;
    struct facets f = facets_at(c, beckmann, &rest);
    struct fresnel none = {.kind = FRESNEL_SCHLICK, .exponent = 5};
    add_refraction(c, &f, &none, number(c, rest), c->weight);
}
static void do_ggx_refraction(const struct component *c) { clear_facets(c, false); }
static void do_beckmann_refraction(const struct component *c) { clear_facets(c, true); }

static struct fresnel schlick_from(struct vec3 f0)
{
    return (struct fresnel){
        .kind = FRESNEL_SCHLICK, .a = kept3(f0, 0, 1), .b = gray(1), .exponent = 5};
}

static void do_ggx_fresnel(const struct component *c)
{
    size_t rest;
    struct facets f = facets_at(c, false, &rest);
    struct fresnel fresnel = schlick_from(triple(c, rest + 2));
    add_reflection(c, &f, &fresnel, c->weight);
}

static void do_f82_tint(const struct component *c)
{
    struct facets f = {triple(c, 1), triple(c, 2), number(c, 3), number(c, 4),
                       is_beckmann(word(c, 0))};
    struct fresnel fresnel = schlick_from(triple(c, 5));
    add_reflection(c, &f, &fresnel, c->weight);
}

static void do_ggx_glass(const struct component *c)
{
    size_t rest;
    struct facets f = facets_at(c, false, &rest);
    double eta = number(c, rest);
    struct fresnel fresnel = dielectric(eta);
    bool tinted = fixed_count(c) > rest + 2;
    add_reflection(c, &f, &fresnel, tinted ? mul(c->weight, colour(c, rest + 2)) : c->weight);
    add_refraction(c, &f, &fresnel, eta, tinted ? mul(c->weight, colour(c, rest + 1)) : c->weight);
}

static void do_principled_diffuse(const struct component *c)
{
    shaped(c, LOBE_BURLEY, c->weight, kept(number(c, 1), 0, 1));
}
static void do_principled_sheen(const struct component *c)
{
    add_lobe(c, LOBE_VELVET, c->weight, triple(c, 0));
}
static void do_principled_clearcoat(const struct component *c)
{
    shaped(c, LOBE_COAT, scale(0.25 * kept(number(c, 1), 0, 1), c->weight),
           kept(number(c, 2), 0.001, 0.9));
}
static void do_cloth(const struct component *c)
{
    shaped(c, LOBE_SHEEN, c->weight, kept(number(c, 1), 0.25, 1));
}
static void do_bssrdf(const struct component *c)
{
    add_lobe(c, LOBE_LAMBERT, c->weight, triple(c, 1));
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void do_transparent(const struct component *c)
{
    add_lobe(c, LOBE_STRAIGHT, c->weight, c->b->N);
}

static void do_emission(const struct component *c)
{
    c->b->emitted = add(c->b->emitted, c->weight);
}

static void do_uniform_edf(const struct component *c)
{
    c->b->emitted = add(c->b->emitted, mul(c->weight, colour(c, 0)));
}

static void do_background(const struct component *c)
{
    c->b->emitted = add(c->b->emitted, mul(c->weight, c->b->background));
}

static void do_nothing(const struct component *c) { (void)c; }

static void walk(struct builder *b, const struct asl_closure *closure, struct vec3 weight);

static void do_layer(const struct component *c)
{
    struct builder *b = c->b;
    struct vec3 before = b->emitted, E = gray(0);
    unsigned first = b->lobes->count;
    b->emitted = gray(0);
    walk(b, c->args[0].value->c, gray(1));
    for (unsigned i = first; i < b->lobes->count; i++) {
        struct lobe *l = &b->lobes->lobe[i];
        E = add(E, mul(l->weight, lobe_estimate(l, b->lobes->wo)));
        l->weight = mul(c->weight, l->weight);
    }
    b->emitted = add(before, mul(c->weight, b->emitted));
    struct vec3 left = vec3(fmax(0, 1 - E.x), fmax(0, 1 - E.y), fmax(0, 1 - E.z));
    walk(b, c->args[1].value->c, mul(c->weight, left));
}

static const struct {
    const char *name;
    void (*make)(const struct component *c);
} components[] = {
    {"diffuse", do_lambert},
    {"subsurface", do_subsurface},
    {"subsurface_bssrdf", do_albedo_lambert},
    {"oren_nayar", do_oren_nayar},
    {"oren_nayar_diffuse_bsdf", do_oren_nayar_bsdf},
    {"burley_diffuse_bsdf", do_burley},
    {"sheen_bsdf", do_sheen},
    {"translucent", do_translucent},
    {"translucent_bsdf", do_translucent_bsdf},
    {"phong", do_phong},
    {"ward", do_ward},
    {"microfacet", do_microfacet},
    {"reflection", do_reflection},
    {"refraction", do_refraction},
    {"dielectric_bsdf", do_dielectric},
    {"conductor_bsdf", do_conductor},
    {"generalized_schlick_bsdf", do_schlick},
    {"principled", do_principled},
    {"transparent", do_transparent},
    {"transparent_bsdf", do_transparent},
    {"emission", do_emission},
    {"uniform_edf", do_uniform_edf},
    {"background", do_background},
    {"holdout", do_nothing},
    {"debug", do_nothing},
    {"layer", do_layer},
    {"microfacet_ggx", do_ggx},
    {"microfacet_beckmann", do_beckmann},
    {"microfacet_ggx_aniso", do_plain_ggx},
    {"microfacet_multi_ggx", do_plain_ggx},
    {"microfacet_multi_ggx_aniso", do_plain_ggx},
    {"microfacet_beckmann_aniso", do_plain_beckmann},
    {"ashikhmin_shirley", do_plain_beckmann},
    {"microfacet_ggx_refraction", do_ggx_refraction},
    {"microfacet_beckmann_refraction", do_beckmann_refraction},
    {"microfacet_ggx_fresnel", do_ggx_fresnel},
    {"microfacet_ggx_aniso_fresnel", do_ggx_fresnel},
    {"microfacet_multi_ggx_fresnel", do_ggx_fresnel},
    {"microfacet_multi_ggx_aniso_fresnel", do_ggx_fresnel},
    {"microfacet_f82_tint", do_f82_tint},
    {"microfacet_multi_ggx_glass", do_ggx_glass},
    {"microfacet_multi_ggx_glass_fresnel", do_ggx_glass},
    {"principled_diffuse", do_principled_diffuse},
    {"principled_sheen", do_principled_sheen},
    {"principled_clearcoat", do_principled_clearcoat},
    {"sheen", do_cloth},
    {"ashikhmin_velvet", do_cloth},
    {"bssrdf", do_bssrdf},
};

static void visit(void *ctx, const char *name, const float weight[3],
                  const struct asl_closure_arg *args, size_t count)
{
    struct vec3 w = from_float(weight);
    struct component c = {ctx, vec3(at_least_zero(w.x), at_least_zero(w.y), at_least_zero(w.z)),
                          args, count};
    for (size_t i = 0; i < sizeof components / sizeof *components && !is_zero(c.weight); i++) {
        if (strcmp(components[i].name, name) != 0)
            continue;
        components[i].make(&c);
        return;
    }
}

static void walk(struct builder *b, const struct asl_closure *closure, struct vec3 weight)
{
    const float start[3] = {(float)weight.x, (float)weight.y, (float)weight.z};
    asl_closure_visit(closure, start, visit, b);
}

struct vec3 lobes_of_closure(const struct asl_closure *Ci, struct vec3 N, struct vec3 U,
                             bool backfacing, struct vec3 background, struct lobes *out)
{
    struct builder b = {out, N, U, background, gray(0), backfacing};
    walk(&b, Ci, gray(1));
    return b.emitted;
}
