/* SPDX-License-Identifier: Apache-2.0 */
/* steps_list.c: light samples and scattering of lists of lobes, which shaders make too. */
#include "steps_look.h"
#include "vector.h"

bool runs_list(const struct steps *s, const struct path_vertex *v)
{
    const struct material *m = steps_material(s->scene, v->primitive);
    return m->shading || material_is_list(m) || s->scene->colors; /* which materials do not know */
}

/* The vertex as the device met it, for the reference to go on from. */
static struct reference_vertex vertex_of(const struct look *l, const struct path_vertex *v)
{
    struct reference_vertex r = {.x = l->x,
                                 .y = l->y,
                                 .sample = l->sample,
                                 .k = l->k,
                                 .primitive = v->primitive,
                                 .raytype = l->raytype,
                                 .t = v->t,
                                 .length = l->length};
    double n[3];
    primitive_normal(l->s->scene, v->primitive, v->P, n);
    double sign = vec_dot(n, v->Ng) < 0 ? -1 : 1;
    vec_copy(r.origin, v->origin);
    vec_copy(r.direction, v->direction);
    vec_copy(r.P, v->P);
    vec_scale(r.Ng, sign, v->Ng);
    vec_scale(r.Ns, sign, v->Ns);
    r.uv[0] = v->uv[0], r.uv[1] = v->uv[1];
    return r;
}

struct list_question {
    const struct look *l;
    struct reference_vertex vertex;
    const struct path_vertex *v;
    double light_pdf, Le[3];
    bool delta_light;
};
/* P 3, uv 2, direction 3, wi 3, u 3, what moves the globals of a shader, and its own roundings:
 * two runs each */
enum {
    LIST_POINT = 14,
    LIST_CONTRACT = LIST_POINT + REFERENCE_MOTIONS,
    LIST_INPUTS = LIST_CONTRACT + 8
};

/* How far a shader's globals are off, as shares of their sizes (enum reference_motion), by the
 * operations of protocol 18. d': the error of a camera ray's direction; ray: with that of its
 * origin over t besides (look_camera_ray).
 *
 *   changes of P       ray + 3      P' = d' t' - A, at the first hit: three roundings of |A|
 *     along the ray    ray + 8      t' = <A, Ng> / <d', Ng>: four roundings of either product, all
 *                                   over the cosine
 *     by a disk        8 + 3 + k    its frame has eight; w is a sum of k lengths times a quotient
 *   changes of I       d' + 1       I' = d' - d
 *   changes of u, v    16 + 2 * 8   two products of three terms each, a difference, and det's,
 *                                   which cancels as a c / det says; the tangents twice
 *   tangents           8
 *   N                  4            what a shader's first product does to it
 *   rays start         16 + 3       a hit's position (bounds.c); P's share of a hit is not enough,
 *                                   since told of far from the scene's frame P is rounded by more:
 *                                   P - O, or the offset; mindist times d, added
 *   rays turn          8            to unit length
 *
 * asked: the shader asks for rays. */
static void globals_steps(const struct look *l, const struct path_vertex *v, bool asked,
                          double step[LOBE_ALIGN])
{
    const struct arithmetic *a = &l->s->arithmetic;
    double of_P = roundings(a, 8 + 3 + l->k, 2, 1), of_ray = 0, of_I = 0;
    if (l->k == 1) {
        double u[4], o[3], d[3], bound_o, bound_d;
        look_numbers(l, 0, u);
        look_camera_ray(l, u, o, d, &bound_o, &bound_d);
        double ray = bound_d + bound_o / v->t;
        of_P = fmax(of_P, ray + 3 * ULP);
        of_ray = ray + roundings(a, 8, 1, 0);
        of_I = bound_d + ULP;
    }
    for (int i = 0; i < LOBE_ALIGN; i++)
        step[i] = i < GLOBAL_RAY_CHANGES  ? of_P
                  : i < GLOBAL_I_CHANGES  ? of_ray
                  : i < GLOBAL_UV_CHANGES ? of_I
                  : i < GLOBAL_TANGENTS   ? roundings(a, 16 + 2 * 8, 1, 0)
                  : i < GLOBAL_NORMAL     ? roundings(a, 8, 1, 1)
                  : i < GLOBAL_RAY_START  ? 4 * ULP
                  : !asked                ? 0
                  : i < GLOBAL_RAY_TURN   ? (16 + 3) * ULP
                                          : roundings(a, 8, 1, 1);
}

/* The same of what lobes are made of:
 *
 *   ALIGN   16  s = X - <X, n> n, to unit length: the product has three roundings, n's length four
 *               and a half, which counts twice, n's parts one each, its share and the difference
 *               one each
 *   COSINE  8   h's length four and a half, the product three
 *   PASSED  12  Schlick's: a difference, a product, a sum; a dielectric's rs: two of its numerator,
 *               two of its divisor, the quotient, and its square has them twice; the difference */
static void lobes_steps(const struct arithmetic *a, double step[REFERENCE_MOTIONS])
{
    for (int i = LOBE_ALIGN; i < REFERENCE_MOTIONS; i++)
        step[i] = i < LOBE_COSINE   ? roundings(a, 16, 2, 2)
                  : i < LOBE_PASSED ? roundings(a, 8, 1, 1)
                                    : roundings(a, 12, 2, 1);
}

static void list_ask(const struct list_question *q, const double *in, bool has_wi, bool has_u,
                     struct reference_scattered *out)
{
    struct reference_vertex v = q->vertex;
    const struct reference_job job = {
        .width = q->l->s->job.width, .height = q->l->s->job.height, .seed = q->l->s->job.seed};
    double wi[3], u[3];
    v.moved = in + LIST_POINT;
    for (uint32_t i = LIST_CONTRACT; i < LIST_INPUTS; i++)
        if (in[i] != 0)
            v.contract = 2 * (i - LIST_CONTRACT) + (in[i] > 0 ? 1 : 2);
    vec_copy(v.P, in);
    v.uv[0] = in[3], v.uv[1] = in[4];
    vec_copy(v.direction, in + 5);
    vec_copy(wi, in + 8);
    if (has_wi)
        vec_normalize(wi);
    for (int i = 0; i < 3; i++)
        u[i] = fmin(fmax(in[11 + i], 0), 1 - 0x1p-53);
    reference_scatter(q->l->s->reference, &job, &v, has_wi ? wi : NULL, has_u ? u : NULL, out);
}

static struct list_question list_question_of(const struct look *l, const struct path_vertex *v,
                                             const double wi[3], const double u[3],
                                             double in[LIST_INPUTS], double step[LIST_INPUTS])
{
    const struct arithmetic *a = &l->s->arithmetic;
    const struct list_question q = {.l = l, .vertex = vertex_of(l, v), .v = v};
    double extent = fmax(vec_max_abs(v->P), 0x1p-20);
    for (int i = 0; i < 3; i++) {
        in[i] = v->P[i], step[i] = 4 * ULP * extent;
        /* a rotation of 8 u; and 9 u along it: the lengths of two rounded unit vectors and their
         * product's three roundings. Nobody normalises them again: 1 - c^2 shows it */
        in[5 + i] = v->direction[i], step[5 + i] = (8 + 9) * ULP;
        in[8 + i] = wi ? wi[i] : 0, step[8 + i] = wi ? 8 * ULP : 0;
        in[11 + i] = u ? u[i] : 0, step[11 + i] = u ? 4 * ULP : 0;
    }
    for (int i = LIST_POINT; i < LIST_INPUTS; i++)
        in[i] = 0, step[i] = 0;
    for (int i = 0; i < 2; i++)
        in[3 + i] = v->uv[i];
    lobes_steps(a, step + LIST_POINT);
    if (steps_material(l->s->scene, v->primitive)->shading) {
        struct reference_scattered r;
        list_ask(&q, in, false, false, &r);
        globals_steps(l, v, r.asked, step + LIST_POINT);
        /* in strict mode shaders' operations have the interpreter's bits */
        for (int i = LIST_CONTRACT; i < LIST_INPUTS && l->s->job.set.build.mode != MODE_STRICT; i++)
            step[i] = 1;
    }
    if (u) {
        step[11] = roundings(a, 32, 2, 0); /* the sum and the quotient of the choice */
        step[12] = root_step(a);
    }
    material_texture_steps(l->s->scene, steps_material(l->s->scene, v->primitive), v->uv, step + 3);
    return q;
}

/* out: emitted 3, through. */
static int ask_list(void *ctx, const double *in, double *out)
{
    struct reference_scattered r;
    list_ask(ctx, in, false, false, &r);
    vec_copy(out, r.emitted);
    out[3] = r.through;
    return r.lit;
}

/* Relative, of a list's f, density and weight: eight lobes of bsdf_roundings at most, whose powers,
 * exponentials and logarithms are within 16 ulp (shaders/front/builtins.def), twice. */
static double list_roundings(const struct steps *s)
{
    return bsdf_roundings(&s->arithmetic) + roundings(&s->arithmetic, 8 * 4 + 2 * 32, 10, 6);
}

void list_glow_add(const struct look *l, const struct path_vertex *v, double L[3], double bound[3])
{
    double in[LIST_INPUTS], step[LIST_INPUTS];
    struct list_question q = list_question_of(l, v, NULL, NULL, in, step);
    struct answer a;
    answer_spread(ask_list, &q, in, step, LIST_INPUTS, 4, &a);
    for (int c = 0; c < 3; c++) {
        double glow = v->beta[c] * a.value[c];
        L[c] += glow;
        bound[c] += v->beta[c] * a.spread[c] + list_roundings(l->s) * fabs(glow);
    }
}

/* Relative error of the density of normals of a list whose sharpest lobe has this alpha, at wi:
 *
 *   D's own roundings
 *   dh = 8 u / |wo + wi|         of h (struct ggx_bounds); refracted directions have h along
 *                                wo + eta wi, which is no shorter than 1/4 unless the two sides
 *                                are nearly alike
 *     4 dh / alpha               moves ln D of GGX, at most
 *     (2 tan / alpha^2) dh       that of Beckmann's, Ward's and Phong's, with tan at most 4 alpha:
 *                                beyond, D is 10^-7 of its peak. So 8 dh / alpha for all
 *   F                            of what is reflected */
static double list_density(const struct look *l, const struct path_vertex *v, const double wi[3],
                           const struct reference_scattered *r)
{
    const struct arithmetic *a = &l->s->arithmetic;
    const bool through = vec_dot(wi, v->Ng) < 0;
    double h[3], wo[3], F = 0;
    if (r->least >= 1)
        return 0;
    vec_scale(wo, -1, v->direction);
    vec_madd(h, wo, 1, wi);
    if (!through && r->nearest > 0)
        F = facet_reflectance(a, r->nearest, wo, wi);
    double size = through ? 0.25 : vec_length(h);
    return fmin(1, roundings(a, 32, 5, 4) + 8 * 8 * ULP / (size * r->least) + F);
}

/* ggx_bounds.faint of a list, at wi. */
static double list_faint(const struct look *l, const struct path_vertex *v, const double wi[3],
                         const struct reference_scattered *r)
{
    const struct arithmetic *a = &l->s->arithmetic;
    double wo[3];
    vec_scale(wo, -1, v->direction);
    if (vec_dot(wi, v->Ng) < 0)
        return 0;
    double faint = r->nearest > 0 ? faint_weight(a, r->nearest, wo, wi) : 0;
    for (uint32_t i = 0; i < r->metals; i++)
        faint = fmax(faint, conductor_reflectance(a, r->metal[i].eta, r->metal[i].k, wo, wi) /
                                LEAST_SHARE);
    return faint;
}

/* Absolute error of a sampled h: ggx_bounds.half where h is farthest from the normal. */
static double list_half(const struct look *l, double least)
{
    return least >= 1 ? 0 : roundings(&l->s->arithmetic, 8, 3, 5) / least;
}

/* ---- light samples -------------------------------------------------------------------- */

/* out: contribution of the light sample, unless it is blocked, 3, and with the density in the place
 * of f 3. */
static int ask_list_direct(void *ctx, const double *in, double *out)
{
    const struct list_question *q = ctx;
    struct reference_scattered r;
    list_ask(q, in, true, false, &r);
    double w = q->delta_light ? 1 : steps_mis_weight(q->l->s, q->light_pdf, r.pdf_w);
    for (int c = 0; c < 3; c++) {
        out[c] = q->v->beta[c] * r.F[c] * q->Le[c] * w / q->light_pdf;
        out[3 + c] = q->v->beta[c] * r.pdf_w * q->Le[c] * w / q->light_pdf;
    }
    return 0;
}

/* Which side did the device take its light sample on, where rounding leaves open whether u < t? What
 * reached it came from its own side. Else the chance of the side, which is in the density, tells: a
 * sample of the surroundings may well point to the other one, and then brings nothing. It says what
 * t the device had, which must be within the bound of t, and on the side of u that it took. */
static bool sampled_below(const struct look *l, const struct path_vertex *v, double u, double t,
                          double t_bound, bool below)
{
    if (v->visible || vec_max(v->direct) > 0)
        return vec_dot(v->light_wi, v->Ng) < 0;
    double from[3], side[3], amiss[2];
    for (int i = 0; i < 2; i++) {
        vec_scale(side, i ? -1 : 1, v->Ng);
        vec_madd(from, v->P, 0x1p-19 * look_extent(l, v), side);
        const double chance = v->light_pdf_w / light_density_from(l, from, side);
        const double own = i ? chance : 1 - chance;
        amiss[i] = fmax(fabs(own - t) - t_bound, 0) + fmax(i ? u - own : own - u, 0);
    }
    if (amiss[0] != amiss[1])
        return amiss[1] < amiss[0];
    /* either may be: the one to which the direction does not point brings nothing */
    return fabs(vec_dot(v->light_wi, v->Ng)) > 8 * ULP ? vec_dot(v->light_wi, v->Ng) > 0 : below;
}

/* The light sample of a list: the side that its number chooses, the light, then f. */
bool list_direct_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    double u[4], in[LIST_INPUTS], step[LIST_INPUTS], side[3], from[3], bound[3];
    struct answer through, a, direct;
    struct reference_scattered r;
    look_numbers(l, 2 * l->k - 1, u);
    struct list_question q = list_question_of(l, v, NULL, NULL, in, step);
    answer_spread(ask_list, &q, in, step, LIST_INPUTS, 4, &through);
    if (through.code == 0) {
        const double none[3] = {0};
        return look_vector_differs_by(l, "light", "direct", none, v->direct, 1e-36);
    }
    double t = through.value[3], t_bound = through.spread[3] + list_roundings(s);
    bool lit = v->light != UINT32_MAX && v->light_pdf_w > 0, below = u[3] < t;
    if (lit && fabs(u[3] - t) <= t_bound && sampled_below(l, v, u[3], t, t_bound, below) != below) {
        below = !below;
        l->report->flips++;
        l->report->flip_margin = fmax(l->report->flip_margin, fabs(u[3] - t) / t_bound);
    }
    double chance = below ? t : 1 - t;
    vec_scale(side, below ? -1 : 1, v->Ng);
    double extent = look_extent(l, v);
    vec_madd(from, v->P, 0x1p-19 * extent, side);
    enum light_sample light = light_sample_look(
        l, v, from, side, extent, chance, t_bound,
        light_roundings(&s->arithmetic) + choice_roundings(&s->arithmetic, s->scene), &a);
    if (light != LIGHT_THERE)
        return light == LIGHT_DIFFERS;

    q = list_question_of(l, v, v->light_wi, NULL, in, step);
    q.light_pdf = v->light_pdf_w;
    q.delta_light = steps_is_delta_light(s, v->light);
    vec_copy(q.Le, &a.value[5]);
    answer_spread(ask_list_direct, &q, in, step, LIST_INPUTS, 6, &direct);
    list_ask(&q, in, true, false, &r);
    light_bounds(s, v, from, &a, &direct, list_roundings(s) + list_density(l, v, v->light_wi, &r),
                 bound);
    const double faint = list_faint(l, v, v->light_wi, &r);
    for (int c = 0; c < 3; c++)
        bound[c] += faint * direct.value[3 + c];
    return contribution_differs(l, v, from, &direct, bound, vec_dot(v->light_wi, side), a.value[4],
                                a.spread[4]);
}

/* ---- scattering ----------------------------------------------------------------------- */

/* out: unused 3, weight 3 and density of a direction, through. */
static int ask_list_weight(void *ctx, const double *in, double *out)
{
    struct reference_scattered r;
    list_ask(ctx, in, true, false, &r);
    out[0] = out[1] = out[2] = 0;
    for (int c = 0; c < 3; c++)
        out[3 + c] = r.pdf_w > 0 ? r.F[c] / r.pdf_w : 0;
    out[6] = r.pdf_w;
    out[7] = r.through;
    return 0;
}

/* What a lobe of a list does is said by these bits; 0: the path ends. Two deltas, or a delta and
 * another lobe, may go to one side, where rounding decides which was chosen: pdf_w and q are then
 * not of one piece, and q is no matter of spread. The kind of ray stands above them. */
enum { LIST_REFLECTED = 1, LIST_THROUGH = 2, LIST_DELTA = 4, LIST_SEEN = 7, LIST_KIND = 3 };

static int list_code(bool through, bool delta)
{
    return (through ? LIST_THROUGH : LIST_REFLECTED) | (delta ? LIST_DELTA : 0);
}

/* out: wi 3, weight 3, pdf, side. */
static int ask_list_scatter(void *ctx, const double *in, double *out)
{
    const struct list_question *q = ctx;
    struct reference_scattered r;
    list_ask(q, in, false, true, &r);
    double next[3];
    vec_copy(out, r.wi);
    vec_copy(out + 3, r.weight);
    out[6] = r.pdf_w;
    out[7] = vec_dot(r.wi, q->v->Ng);
    for (int c = 0; c < 3; c++)
        next[c] = q->v->beta[c] * r.weight[c];
    if (!r.ok || !(vec_max(next) > 0))
        return 0;
    return list_code(out[7] < 0, r.delta) | (int)(r.raytype << LIST_KIND);
}

bool list_scatter_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    double u[4], in[LIST_INPUTS], step[LIST_INPUTS], bound[3];
    struct answer a;
    struct reference_scattered r;
    look_numbers(l, 2 * l->k, u);
    struct list_question q = list_question_of(l, v, NULL, u, in, step);
    answer_spread(ask_list_scatter, &q, in, step, LIST_INPUTS, 8, &a);
    bool differs;
    const bool ends = v->event == EVENT_ABSORB;
    int code = ends ? 0 : list_code(scatter_code(v) == 2, !(v->pdf_w > 0));
    if (answer_nearest(&a, code, ends ? -1 : LIST_SEEN, v->wi, 8))
        code = a.code;
    else
        a.code &= LIST_SEEN;
    if (!scatter_goes_on(l, v, code, &a, 8, &differs))
        return differs;
    list_ask(&q, in, false, true, &r);
    double half = list_half(l, r.least);
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[i] + (direction_roundings(&s->arithmetic) + 2 * half) *
                                     (scatter_code(v) == 2 ? r.index : 1);
    if (look_vector_differs(l, "shader", "wi", "xyz", a.value, v->wi, bound))
        return true;
    double relative = list_roundings(s), faint = 0, q_of_side = 1, q_error = 0;
    if (!(code & LIST_DELTA)) { /* f and density of the device's own direction */
        faint = list_faint(l, v, v->wi, &r);
        relative += list_density(l, v, v->wi, &r);
        q = list_question_of(l, v, v->wi, NULL, in, step);
        answer_spread(ask_list_weight, &q, in, step, LIST_INPUTS, 8, &a);
        /* the chance of a side is the whole list's, whichever lobe was chosen */
        if (a.value[7] > 0 || a.spread[7] > 0) {
            q_of_side =
                fmax(code & LIST_THROUGH ? a.value[7] : 1 - a.value[7], fmax(a.spread[7] / 2, ULP));
            q_error = (a.spread[7] + list_roundings(s)) / q_of_side;
        }
    }
    if (scatter_weight_differs(l, v, &a, relative, 0, faint))
        return true;
    l->raytype = (uint32_t)code >> LIST_KIND; /* of the ray that goes on: this vertex is done */
    l->pdf_prev = v->pdf_w / q_of_side;
    l->pdf_prev_error = q_error;
    return false;
}

void follow_raytype(struct look *l, const struct path_vertex *v)
{
    double u[4], in[LIST_INPUTS], step[LIST_INPUTS];
    struct reference_scattered r;
    look_numbers(l, 2 * l->k, u);
    struct list_question q = list_question_of(l, v, NULL, u, in, step);
    list_ask(&q, in, false, true, &r);
    l->raytype = r.ok ? r.raytype : l->raytype;
}
