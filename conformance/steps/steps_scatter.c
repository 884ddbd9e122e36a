/* SPDX-License-Identifier: Apache-2.0 */
/* steps_scatter.c: light samples and scattering of materials of one lobe, and in media. */
#include "steps_look.h"
#include "vector.h"

#include <string.h>

/* ---- light samples -------------------------------------------------------------------- */

struct bsdf_question {
    const struct steps *s;
    const struct path_vertex *v;
    double frame[3][3], Ng[3];
    bool entering;
    bool delta_light;
    double light_pdf, Le[3];
};

static void normalized(double out[3], const double in[3])
{
    vec_copy(out, in);
    vec_normalize(out);
}

/* in: wo 3, wi 3 (local), uv 2; out: contribution of the light sample 3, and with the density in
 * the place of f 3. */
static int ask_direct(void *ctx, const double *in, double *out)
{
    const struct bsdf_question *q = ctx;
    double wo[3], wi[3], f[3], pdf;
    normalized(wo, in);
    normalized(wi, in + 3);
    memset(out, 0, 6 * sizeof *out);
    if (!(wi[2] > 0) || !(wo[2] > 0))
        return 0;
    reference_bsdf_eval(q->s->reference, q->v->material, in + 6, wo, wi, f, &pdf);
    double w = q->delta_light ? 1 : steps_mis_weight(q->s, q->light_pdf, pdf);
    for (int c = 0; c < 3; c++) {
        out[3 + c] = q->v->beta[c] * pdf * q->Le[c] * w / q->light_pdf;
        out[c] = q->v->beta[c] * f[c] * wi[2] * q->Le[c] * w / q->light_pdf;
    }
    return 0;
}

static void question_of(struct bsdf_question *q, const struct steps *s, const struct path_vertex *v,
                        bool entering, double wo[3])
{
    double back[3];
    *q = (struct bsdf_question){.s = s, .v = v, .entering = entering};
    vec_frame(v->Ns, q->frame);
    vec_copy(q->Ng, v->Ng);
    vec_scale(back, -1, v->direction);
    vec_to_local(wo, q->frame, back);
}

/* Steps of local directions and texture coordinates: a frame of rounded vectors, three products and
 * two sums. */
static void steps_of(const struct steps *s, const struct path_vertex *v, double direction[3],
                     double uv[2])
{
    for (int i = 0; i < 3; i++)
        direction[i] = 8 * ULP;
    material_texture_steps(s->scene, steps_material(s->scene, v->primitive), v->uv, uv);
}

bool direct_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    double from[3], in[8], step[8], wo[3], bound[3];
    double extent = look_extent(l, v);
    vec_madd(from, v->P, 0x1p-19 * extent, v->Ng);
    struct answer a;
    enum light_sample light = light_sample_look(
        l, v, from, v->Ng, extent, 1, 0,
        light_roundings(&s->arithmetic) + choice_roundings(&s->arithmetic, s->scene), &a);
    if (light != LIGHT_THERE)
        return light == LIGHT_DIFFERS;

    struct bsdf_question b;
    struct answer direct;
    double side = vec_dot(v->light_wi, v->Ng), wi[3];
    question_of(&b, s, v, true, wo);
    b.light_pdf = v->light_pdf_w;
    b.delta_light = steps_is_delta_light(s, v->light);
    vec_copy(b.Le, &a.value[5]);
    vec_to_local(wi, b.frame, v->light_wi);
    for (int i = 0; i < 3; i++) {
        in[i] = wo[i];
        in[3 + i] = wi[i];
    }
    in[6] = v->uv[0], in[7] = v->uv[1];
    steps_of(s, v, step, step + 6);
    steps_of(s, v, step + 3, step + 6);
    answer_spread(ask_direct, &b, in, step, 8, 6, &direct);
    struct ggx_bounds ggx =
        scatter_bounds(&s->arithmetic, s->scene, v->material, v->uv, true, wo, wi);
    light_bounds(s, v, from, &a, &direct, bsdf_roundings(&s->arithmetic) + ggx.density, bound);
    for (int c = 0; c < 3; c++)
        bound[c] += ggx.faint * direct.value[3 + c];
    return contribution_differs(l, v, from, &direct, bound, side, a.value[4], a.spread[4]);
}

/* ---- scattering ---------------------------------------------------------------------- */

/* in: wo 3 (local), u 3, uv 2; out: wi 3 (world), weight 3, pdf, side. Code 0: the path ends, 1:
 * reflected, 2: through. */
static int ask_scatter(void *ctx, const double *in, double *out)
{
    struct bsdf_question *q = ctx;
    double wo[3], wi[3], u[3];
    bool delta;
    normalized(wo, in);
    for (int i = 0; i < 3; i++)
        u[i] = fmin(fmax(in[3 + i], 0), 1 - 0x1p-53);
    if (!reference_bsdf_sample(q->s->reference, q->v->material, in + 6, q->entering, wo, u, wi,
                               out + 3, out + 6, &delta))
        return 0;
    vec_to_world(out, q->frame, wi);
    bool through = wi[2] < 0;
    double side = vec_dot(out, q->Ng);
    out[7] = side;
    if (through ? !(side < 0) : !(side > 0))
        return 0;
    double next[3];
    for (int c = 0; c < 3; c++)
        next[c] = q->v->beta[c] * out[3 + c];
    if (!(vec_max(next) > 0))
        return 0;
    return through ? 2 : 1;
}

static bool entering(const struct steps *s, const struct path_vertex *v)
{
    double n[3]; /* the stored normal shows which way; the device's own is already turned */
    primitive_normal(s->scene, v->primitive, v->P, n);
    return vec_dot(n, v->direction) < 0;
}

int scatter_code(const struct path_vertex *v)
{
    return v->event == EVENT_ABSORB ? 0 : vec_dot(v->wi, v->Ng) < 0 ? 2 : 1;
}

bool scatter_goes_on(struct look *l, const struct path_vertex *v, int code, struct answer *a,
                     size_t values, bool *differs)
{
    const double unsure = fabs(a->value[7]); /* the side of Ng that wi lies on */
    *differs = false;
    if (answer_allows(a, code, values)) {
        l->report->compared++;
        return code != 0;
    }
    /* what goes on is below float32, which may hold it for nothing */
    double most = 0;
    for (int c = 0; c < 3; c++)
        most = fmax(most, v->beta[c] * (code ? v->weight[c] : a->value[3 + c]));
    if ((code == 0 || a->code == 0) && most <= 1e-36)
        return false;
    *differs = code == 0 || a->code == 0
                   ? look_flip_differs(l, "shader", "event",
                                       a->code == 0 ? EVENT_ABSORB : EVENT_SCATTER, v->event,
                                       unsure > 0 ? unsure / (a->spread[7] + 32 * ULP) : INFINITY)
                   : look_differs(l, "shader", "lobe", 0, a->code, code, INFINITY);
    return false;
}

bool scatter_weight_differs(struct look *l, const struct path_vertex *v, const struct answer *a,
                            double relative, double grazing, double faint)
{
    double bound[3];
    /* roundings are of the exact answer to the moved inputs, which is up to a spread larger */
    for (int i = 0; i < 3; i++)
        bound[i] = a->spread[3 + i] +
                   (relative + grazing) * (fabs(a->value[3 + i]) + a->spread[3 + i]) + faint +
                   1e-36;
    return look_vector_differs(l, "shader", "weight", "rgb", &a->value[3], v->weight, bound) ||
           look_scalar_differs(l, "shader", "pdf_w", a->value[6], v->pdf_w,
                               a->spread[6] + relative * (a->value[6] + a->spread[6]) + 1e-36);
}

bool scatter_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    double u[4], wo[3], in[8], step[8], bound[3];
    struct bsdf_question q;
    struct answer a;
    look_numbers(l, 2 * l->k, u);
    question_of(&q, s, v, entering(s, v), wo);
    for (int i = 0; i < 3; i++) {
        in[i] = wo[i];
        in[3 + i] = u[i];
        step[3 + i] = 4 * ULP;
    }
    step[3] = roundings(&s->arithmetic, 16, 1, 0) +
              choice_step(&s->arithmetic, s->scene, v->material, v->uv, q.entering, wo[2]);
    step[4] = root_step(&s->arithmetic);
    in[6] = v->uv[0], in[7] = v->uv[1];
    steps_of(s, v, step, step + 6);
    answer_spread(ask_scatter, &q, in, step, 8, 8, &a);
    bool differs;
    if (!scatter_goes_on(l, v, scatter_code(v), &a, 8, &differs))
        return differs;
    double wi_local[3];
    vec_to_local(wi_local, q.frame, v->wi);
    struct ggx_bounds ggx =
        scatter_bounds(&s->arithmetic, s->scene, v->material, v->uv, q.entering, wo, wi_local);
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[i] + direction_roundings(&s->arithmetic) + 2 * ggx.half;
    if (look_vector_differs(l, "shader", "wi", "xyz", a.value, v->wi, bound))
        return true;
    return scatter_weight_differs(l, v, &a, bsdf_roundings(&s->arithmetic) + ggx.sampled_density,
                                  ggx.grazing, ggx.faint);
}

/* ---- in a medium --------------------------------------------------------------------- */

struct phase_question {
    const struct look *l;
    const struct path_vertex *v;
    double light_pdf, Le[3];
    bool delta_light;
};

/* Roundings of the phase function, relative: D = 1 + g^2 - 2 g c is a difference of terms up to 2,
 * with some 16 roundings of them and of the cosine, and stands there with the power 3/2. */
static double phase_roundings(const struct look *l, const struct path_vertex *v, const double wi[3])
{
    double g = (double)l->s->scene->materials[v->material].medium.g;
    double D = 1 + g * g - 2 * g * vec_dot(v->direction, wi);
    return roundings(&l->s->arithmetic, 16, 2, 1) +
           1.5 * 16 * ULP * 2 * fabs(g) / fmax(D, (1 - fabs(g)) * (1 - fabs(g)));
}

/* in: wi 3; out: contribution of the light sample in the open, 3. */
static int ask_phase_direct(void *ctx, const double *in, double *out)
{
    const struct phase_question *q = ctx;
    const struct path_vertex *v = q->v;
    double wi[3];
    struct reference_scattered r;
    normalized(wi, in);
    reference_phase(q->l->s->reference, v->material, v->direction, wi, NULL, &r);
    double w = q->delta_light ? 1 : steps_mis_weight(q->l->s, q->light_pdf, r.pdf_w);
    for (int c = 0; c < 3; c++)
        out[c] = v->beta[c] * r.F[c] * q->Le[c] * w / q->light_pdf;
    return 0;
}

bool medium_direct_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    const double none[3] = {0};
    struct answer a, direct;
    double bound[3];
    enum light_sample light = light_sample_look(
        l, v, v->P, none, fmax(vec_max_abs(v->P), 0x1p-20), 1, 0,
        light_roundings(&s->arithmetic) + choice_roundings(&s->arithmetic, s->scene), &a);
    if (light != LIGHT_THERE)
        return light == LIGHT_DIFFERS;
    struct phase_question q = {.l = l,
                               .v = v,
                               .light_pdf = v->light_pdf_w,
                               .delta_light = steps_is_delta_light(s, v->light)};
    const double step[3] = {8 * ULP, 8 * ULP, 8 * ULP};
    vec_copy(q.Le, &a.value[5]);
    answer_spread(ask_phase_direct, &q, v->light_wi, step, 3, 3, &direct);
    light_bounds(s, v, v->P, &a, &direct, 2 * phase_roundings(l, v, v->light_wi) + 32 * ULP, bound);
    return contribution_differs(l, v, v->P, &direct, bound, 1, a.value[4], a.spread[4]);
}

/* in: u1, u2; out: wi 3. */
static int ask_phase(void *ctx, const double *in, double *out)
{
    const struct phase_question *q = ctx;
    const double u[3] = {0, fmin(fmax(in[0], 0), 1 - 0x1p-53), in[1]};
    struct reference_scattered r;
    reference_phase(q->l->s->reference, q->v->material, q->v->direction, NULL, u, &r);
    vec_copy(out, r.wi);
    return 0;
}

/* The sampled cosine is (1 + g^2 - q^2) / (2 g): a difference of terms up to 4, over 2 |g|; its
 * sine follows it. */
bool medium_scatter_differs(struct look *l, const struct path_vertex *v)
{
    const struct medium *m = &l->s->scene->materials[v->material].medium;
    const struct arithmetic *arithmetic = &l->s->arithmetic;
    struct phase_question q = {.l = l, .v = v};
    struct reference_scattered r;
    struct answer a;
    double u[4], albedo[3], next[3], g = fabs((double)m->g);
    look_numbers(l, 2 * l->k, u);
    reference_phase(l->s->reference, v->material, v->direction, NULL, u, &r);
    vec_copy(albedo, r.weight);
    for (int c = 0; c < 3; c++)
        next[c] = v->beta[c] * albedo[c];
    bool ended = v->event == EVENT_ABSORB, ends = !(vec_max(next) > 0);
    if (ended != ends)
        return vec_max(next) > 1e-36 &&
               look_differs(l, "shader", "event", 0, ends ? EVENT_ABSORB : EVENT_SCATTER, v->event,
                            INFINITY);
    l->report->compared++;
    if (ended)
        return false;
    const double step[2] = {8 * ULP, 8 * ULP};
    answer_spread(ask_phase, &q, u + 1, step, 2, 3, &a);
    double c = vec_dot(v->direction, a.value);
    double off = roundings(arithmetic, 8, 2, 0) * (g > 0 ? fmax(1, 6 / (2 * g)) : 1);
    double sine = sqrt(fmax(0, 1 - c * c)),
           other = sqrt(fmax(0, 1 - (fabs(c) - off) * (fabs(c) - off)));
    double bound[3], room = off + fabs(other - sine) + direction_roundings(arithmetic);
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[i] + room;
    if (look_vector_differs(l, "shader", "wi", "xyz", a.value, v->wi, bound) ||
        look_vector_differs_by(l, "shader", "weight", albedo, v->weight, 1e-36))
        return true;
    /* The device's density is of the cosine that it sampled; directions that follow one another for
     * long drift off length one, by more than D = (1 - g)^2 bears, and their angle does not. */
    double d[3], wi[3];
    normalized(d, v->direction);
    normalized(wi, v->wi);
    reference_phase(l->s->reference, v->material, d, wi, NULL, &r);
    return look_scalar_differs(l, "shader", "pdf_w", r.pdf_w, v->pdf_w,
                               phase_roundings(l, v, v->wi) * r.pdf_w);
}
