/* SPDX-License-Identifier: Apache-2.0 */
/* steps_light.c: the light sample of any vertex. */
#include "steps_look.h"
#include "vector.h"

#include <string.h>

struct light_question {
    const struct steps *s;
    double Ng[3];
};

/* in: point that the sample starts from (3), u (3); out: wi 3, pdf, distance, Le 3. Code: -1 none,
 * else 2 light + lit. */
static int ask_light(void *ctx, const double *in, double *out)
{
    const struct light_question *q = ctx;
    uint32_t light = UINT32_MAX;
    double P[3], u[3], e = fmax(vec_max_abs(in), 0x1p-20);
    for (int i = 0; i < 3; i++)
        u[i] = fmin(fmax(in[3 + i], 0), 1 - 0x1p-53);
    /* the question moves its point off the surface by itself: undo that */
    vec_madd(P, in, -0x1p-19 * e, q->Ng);
    bool lit = reference_light_sample(q->s->reference, P, q->Ng, u, &light, out, &out[4], &out[3],
                                      &out[5]);
    if (!lit)
        return -1;
    return (int)(2 * light + 1);
}

double look_extent(const struct look *l, const struct path_vertex *v)
{
    return offset_extent(l->s->scene, v->primitive, l->leg_o, v->direction, l->leg_t, v->P);
}

/* Does the lamp itself reach before the end of its shadow ray, by what rounding does to where it is
 * met? On a thin triangle seen edge-on that is more than the 10^-4 of its length by which the ray
 * ends sooner. By its plane: the point sampled may lie on the very edge. */
static bool lamp_reaches(const struct look *l, const struct path_vertex *v, const double from[3],
                         double t_max)
{
    const struct steps *s = l->s;
    double t, P[3], n[3];
    struct hit_bounds b;
    if (v->light >= s->area_lights ||
        !primitive_carrier(s->scene, s->emitters[v->light], from, v->light_wi, &t))
        return false;
    vec_madd(P, from, t, v->light_wi);
    primitive_normal(s->scene, s->emitters[v->light], P, n);
    hit_bounds(&s->arithmetic, s->scene, s->emitters[v->light], from, v->light_wi, t, P, n, &b);
    return t - b.t <= t_max;
}

static bool shadow_differs(struct look *l, const struct path_vertex *v, const double from[3],
                           double distance)
{
    struct reference_hit h;
    double t_max = 0.9999 * distance, side[3];
    vec_scale(side, vec_dot(v->light_wi, v->Ng) < 0 ? -1 : 1, v->Ng);
    reference_hit_closest(l->s->reference, from, v->light_wi, t_max, &h);
    bool clear = h.primitive == UINT32_MAX;
    l->report->compared++;
    if (clear == (v->visible != 0))
        return false;
    if (clear && lamp_reaches(l, v, from, t_max)) {
        l->report->flips++;
        return false;
    }
    double margin =
        margin_visible(&l->s->arithmetic, l->s->scene, l->s->reference, from, v->light_wi, t_max,
                       side, 0x1p-19 * look_extent(l, v), !v->visible, &h);
    return look_flip_differs(l, "shadow", "visible", clear, v->visible, margin);
}

/* What the rounded direction of a light sample does to the radiance in it: map coordinates of the
 * environment, texture coordinates of an emitter, the edge of a spot. a: what ask_light said. */
static void radiance_spread(const struct steps *s, const struct path_vertex *v,
                            const double from[3], struct answer *a)
{
    double spread[4] = {0};
    if (isinf(a->value[4]))
        environment_spread(&s->arithmetic, s->reference, v->light_wi, spread);
    else if (v->light < s->area_lights)
        emission_spread(&s->arithmetic, s->scene, s->emitters[v->light], from, v->light_wi,
                        a->value[4], spread);
    else if (steps_is_delta_light(s, v->light))
        spot_spread(&s->arithmetic, &s->scene->lights[v->light - s->area_lights], v->light_wi,
                    a->value[4], spread);
    for (int c = 0; c < 3; c++)
        a->spread[5 + c] += spread[c];
}

/* What rounding does to the density of a sample of an emitter's area, which has the emitter's cosine
 * below: seen edge-on it is all of it. (The steps of `from` in a->spread do not tell: one of them may
 * lie past the cosine's zero.) a: what ask_light said, from there. */
static double density_spread(const struct steps *s, uint32_t light, const double from[3],
                             const struct answer *a)
{
    if (light >= s->area_lights || sphere_of(s->scene, s->emitters[light]))
        return 0;
    double cosine, error = emitter_cosine_error(&s->arithmetic, s->scene, s->emitters[light], from,
                                                a->value, a->value[4], &cosine);
    return cosine > error ? a->value[3] * error / (cosine - error) : INFINITY;
}

double light_density_from(const struct look *l, const double from[3], const double normal[3])
{
    struct light_question q = {.s = l->s};
    double u[4], in[6], out[8] = {0};
    look_numbers(l, 2 * l->k - 1, u);
    vec_copy(q.Ng, normal);
    vec_copy(in, from);
    vec_copy(in + 3, u);
    return ask_light(&q, in, out) < 0 ? 0 : out[3];
}

enum light_sample light_sample_look(struct look *l, const struct path_vertex *v,
                                    const double from[3], const double normal[3], double extent,
                                    double chance, double chance_bound, double relative,
                                    struct answer *a)
{
    const double none[3] = {0};
    struct light_question q = {.s = l->s};
    double u[4], in[6], step[6], bound[3];
    look_numbers(l, 2 * l->k - 1, u);
    vec_copy(q.Ng, normal);
    for (int i = 0; i < 3; i++) {
        in[i] = from[i], step[i] = 4 * ULP * extent;
        in[3 + i] = u[i], step[3 + i] = 4 * ULP;
    }
    answer_spread(ask_light, &q, in, step, 6, 8, a);
    int code = v->light != UINT32_MAX && v->light_pdf_w > 0 ? (int)(2 * v->light + 1) : -1;
    if (!answer_allows(a, code, 8)) {
        look_differs(l, "light", "light", 0, a->code < 0 ? -1 : a->code / 2, look_id(v->light),
                     INFINITY);
        return LIGHT_DIFFERS;
    }
    l->report->compared++;
    if (code < 0)
        return look_vector_differs_by(l, "light", "direct", none, v->direct, 1e-36) ? LIGHT_DIFFERS
                                                                                    : LIGHT_NONE;
    const double pdf = a->value[3] * chance,
                 spread = a->spread[3] + density_spread(l->s, v->light, from, a);
    for (int i = 0; i < 3; i++)
        bound[i] = a->spread[i] + roundings(&l->s->arithmetic, 32, 1, 1);
    return look_vector_differs(l, "light", "light_wi", "xyz", a->value, v->light_wi, bound) ||
                   look_scalar_differs(l, "light", "light_pdf_w", pdf, v->light_pdf_w,
                                       spread * chance + relative * pdf +
                                           a->value[3] * chance_bound)
               ? LIGHT_DIFFERS
               : LIGHT_THERE;
}

void light_bounds(const struct steps *s, const struct path_vertex *v, const double from[3],
                  struct answer *a, const struct answer *direct, double relative, double bound[3])
{
    radiance_spread(s, v, from, a);
    for (int c = 0; c < 3; c++) {
        double le = a->value[5 + c] > 0 ? a->spread[5 + c] / a->value[5 + c] : 0;
        bound[c] = direct->spread[c] + (relative + le) * fabs(direct->value[c]) + 1e-36;
    }
}

uint32_t look_media_beyond(const struct look *l, const struct path_vertex *v)
{
    double n[3];
    primitive_normal(l->s->scene, v->primitive, v->P, n);
    return reference_media_cross(l->s->reference, v->media, v->material, vec_dot(n, v->Ng) > 0);
}

uint32_t look_media_after(const struct look *l, const struct path_vertex *v)
{
    bool through = v->primitive != UINT32_MAX && vec_dot(v->wi, v->Ng) < 0;
    return through ? look_media_beyond(l, v) : v->media;
}

struct light_way_question {
    const struct look *l;
    const struct path_vertex *v;
    const struct answer *direct;
    const double *bound, *from;
    double distance, off, side[3], rise; /* off: bound of the distance */
    uint32_t media;
    struct reference_way way;
    double expected[3], room[3];
};

/* Does what arrives along q->way agree? */
static bool light_arrives(struct light_way_question *q)
{
    bool agrees = true;
    struct way_errors e = way_errors_of(q->l->s, &q->way, q->v->light_wi);
    /* the last part ends at the light: a point of it and its difference to P are eight roundings */
    const uint32_t last = q->way.count - 1;
    const double end = q->off + 8 * ULP * e.size;
    e.tau += q->way.part[last].density * end;
    for (int c = 0; c < 3; c++) {
        double V = q->way.left[c];
        e.A[c] += q->way.part[last].absorption[c] * end;
        q->expected[c] = q->direct->value[c] * V;
        q->room[c] = q->bound[c] * V + fabs(q->expected[c]) * (e.tau + e.A[c] + 32 * ULP) + 1e-36;
        agrees &= fabs(q->expected[c] - q->v->direct[c]) <= q->room[c];
    }
    return agrees;
}

/* Does what arrives through media along that ray? */
static bool light_way_agrees(void *ctx, const double from[3], double stretch)
{
    struct light_way_question *q = ctx;
    double moved[3];
    (void)stretch;
    vec_madd(moved, from, -1, q->from);
    if (q->rise > 0 && vec_dot(moved, q->side) <= -q->rise / 2)
        return false; /* as margin_visible has it */
    reference_see(q->l->s->reference, from, q->v->light_wi, q->distance, q->media, &q->way);
    return light_arrives(q);
}

static bool other_light_way_agrees(void *ctx, const struct reference_way *other)
{
    struct light_way_question *q = ctx;
    q->way = *other;
    return light_arrives(q);
}

/* Does it by a way that meets another of two faces in one plane? */
static bool arrives_otherwise(const struct light_way_question *q)
{
    struct light_way_question other = *q;
    const struct tied_ways ways = {.s = q->l->s,
                                   .d = q->v->light_wi,
                                   .media = q->media,
                                   .sees = true,
                                   .distance = q->distance,
                                   .agrees = other_light_way_agrees,
                                   .ctx = &other};
    return look_tied_ways(&ways, &q->way);
}

/* The light sample in a scene with media: how much of it arrives. */
static bool light_way_differs(struct look *l, const struct path_vertex *v, const double from[3],
                              const struct answer *direct, const double bound[3], double distance,
                              double off)
{
    struct light_way_question q = {.l = l,
                                   .v = v,
                                   .direct = direct,
                                   .bound = bound,
                                   .from = from,
                                   .distance = distance,
                                   .off = off,
                                   .media = v->media};
    double expected[3], room[3];
    if (v->primitive != UINT32_MAX) {
        bool through = vec_dot(v->light_wi, v->Ng) < 0;
        vec_scale(q.side, through ? -1 : 1, v->Ng);
        q.rise = 0x1p-19 * look_extent(l, v);
        if (through)
            q.media = look_media_beyond(l, v);
    }
    bool agrees = light_way_agrees(&q, from, 0);
    vec_copy(expected, q.expected), vec_copy(room, q.room);
    if (agrees)
        return look_vector_differs(l, "shader", "direct", "rgb", expected, v->direct, room);
    if (arrives_otherwise(&q)) {
        l->report->flips++;
        return false;
    }
    struct way_errors e = way_errors_of(l->s, &q.way, v->light_wi);
    bool clear = vec_max(q.way.left) > 0;
    double margin =
        way_margin(from, v->light_wi, 16 * ULP * e.size * q.way.count, light_way_agrees, &q);
    if (clear && v->visible && !(margin <= 1))
        return look_vector_differs(l, "shader", "direct", "rgb", expected, v->direct, room);
    return look_flip_differs(l, "shadow", "visible", clear, v->visible, margin);
}

bool contribution_differs(struct look *l, const struct path_vertex *v, const double from[3],
                          struct answer *direct, const double bound[3], double height,
                          double distance, double off)
{
    bool something = false, nothing = true;
    for (int c = 0; c < 3; c++) {
        nothing &= direct->value[c] <= bound[c];
        something |= direct->value[c] > bound[c] * 2;
    }
    if (fabs(height) <= 8 * ULP && !(vec_max(v->direct) > 0))
        return false;
    if (height < -8 * ULP || !something) {
        if (height < -8 * ULP)
            memset(direct->value, 0, sizeof direct->value);
        if (!v->visible && nothing)
            return false;
    } else if (!l->s->media && shadow_differs(l, v, from, distance)) {
        return true;
    }
    if (l->s->media)
        return light_way_differs(l, v, from, direct, bound, distance, off);
    if (!v->visible)
        memset(direct->value, 0, sizeof direct->value);
    return look_vector_differs(l, "shader", "direct", "rgb", direct->value, v->direct, bound);
}
