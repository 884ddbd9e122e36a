/* SPDX-License-Identifier: Apache-2.0 */
/* steps_arrival.c: what arrives at a vertex: the camera's ray, the hit or the flight, light that is
 * seen. */
#include "steps_look.h"
#include "vector.h"

#include <string.h>

/* ---- camera -------------------------------------------------------------------------- */

/* The protocol's camera ray for four numbers (sections 2, 14, 23) and what rounding may do to it:
 *
 *   px = x + u0                 u W, by a filter of radius r: u (W + 8 r)
 *     times tan_x 2/W           2 u tan, by the filter: 16 u tan r/W
 *   perspective, of d           sums of three products with rounded basis vectors, a normalisation
 *   orthographic, of o          the same, across the film
 *   equirectangular             an angle to 2 pi by four roundings; sine and cosine to 2 ulp
 *   a polygon's edge            2 pi/n long, and where on it by n times three roundings: 20 u, in
 *                               place of the disk's */
void look_camera_ray(const struct look *l, const double u[4], double o[3], double d[3],
                     double *bound_o, double *bound_d)
{
    const struct scene *scene = l->s->scene;
    const struct camera *c = &scene->camera;
    const struct arithmetic *a = &l->s->arithmetic;
    const uint32_t w = l->s->job.width, h = l->s->job.height;
    double tan_x, tan_y, filter = 64 * ULP * scene->filter_radius / fmin(w, h);
    camera_tangents(c, w, h, &tan_x, &tan_y);
    reference_camera_ray(l->s->reference, w, h, l->x, l->y, u, o, d);
    *bound_o = 4 * ULP * vec_max_abs(c->origin);
    *bound_d = (roundings(a, 32, 1, 1) + filter) * (1 + tan_x + tan_y);
    if (c->type == CAMERA_EQUIRECTANGULAR) {
        *bound_d = roundings(a, 96, 2, 1) + filter;
        return;
    }
    if (c->type == CAMERA_ORTHOGRAPHIC) {
        *bound_o += (roundings(a, 16, 1, 1) + filter) * (tan_x + tan_y);
        *bound_d = roundings(a, 8, 1, 1);
    }
    if (!(c->lens_radius > 0))
        return;
    /* the reference's ray goes on to the plane of focus */
    double F[3], radius = c->lens_radius / fmin(1, c->anamorphic > 0 ? c->anamorphic : 1);
    double far = c->focus_distance / vec_dot(d, c->forward);
    vec_madd(F, o, far, d);
    *bound_o += 4 * ULP * vec_max_abs(o) + roundings(a, c->blades ? 64 : 32, 1, 0) * radius;
    *bound_d += (roundings(a, 8, 1, 0) * (vec_max_abs(F) + vec_max_abs(o)) + 2 * *bound_o) / far;
}

/* Is the device's ray the right one for another sample's numbers, near this one's? Then the
 * generator's counter is to blame. */
static bool other_numbers(const struct look *l, const struct path_vertex *v)
{
    struct look other = *l;
    for (uint32_t i = 0; i < 17; i++) {
        double u[4], o[3], d[3], bound_o, bound_d, apart[3];
        other.sample = l->sample + i - 8;
        look_numbers(&other, 0, u);
        look_camera_ray(l, u, o, d, &bound_o, &bound_d);
        vec_madd(apart, d, -1, v->direction);
        if (i != 8 && vec_max_abs(apart) <= bound_d)
            return true;
    }
    return false;
}

bool camera_differs(struct look *l, const struct path_vertex *v)
{
    double u[4], d[3], o[3], bound_o, bound_d;
    look_numbers(l, 0, u);
    look_camera_ray(l, u, o, d, &bound_o, &bound_d);
    if (!look_vector_differs_by(l, "camera", "origin", o, v->origin, bound_o) &&
        !look_vector_differs_by(l, "camera", "direction", d, v->direction, bound_d))
        return false;
    if (other_numbers(l, v))
        l->report->stage = "rng";
    return true;
}

/* ---- traversal ----------------------------------------------------------------------- */

/* Turned to wo's side, as the device must have done; where rounding decides, as it did. */
static void turn(const struct path_vertex *v, const struct hit_bounds *b, double Ng[3],
                 double Ns[3])
{
    double wo[3];
    vec_scale(wo, -1, v->direction);
    double side = vec_dot(Ng, wo);
    bool negate = fabs(side) <= b->Ng + 8 * ULP ? vec_dot(Ng, v->Ng) < 0 : side < 0;
    if (negate) {
        vec_scale(Ng, -1, Ng);
        vec_scale(Ns, -1, Ns);
    }
    double shading = vec_dot(Ns, wo);
    if (fabs(shading) <= b->Ns + 8 * ULP) {
        double x[3], y[3];
        vec_madd(x, Ns, -1, v->Ns);
        vec_madd(y, Ng, -1, v->Ns);
        if (vec_length(y) < vec_length(x))
            vec_copy(Ns, Ng);
    } else if (shading <= 0) {
        vec_copy(Ns, Ng);
    }
}

/* Where the vertices' normal stands at the angle to the face from which on it does not count
 * (section 4), rounding decides. */
static bool normal_is_unsure(const struct reference_hit *ref, const struct hit_bounds *b)
{
    const double size = vec_length(ref->of_vertices);
    return size > 0 && fabs(vec_dot(ref->of_vertices, ref->Ng) / size - 0x1p-10) <= b->Ns + b->Ng;
}

/* Then Ns, or what the other normal gives, whichever the device has. */
static void either_normal(const struct path_vertex *v, const struct hit_bounds *b,
                          const struct reference_hit *ref, double Ns[3])
{
    double Ng[3], other[3], x[3], y[3];
    bool flat = memcmp(ref->Ns, ref->Ng, sizeof Ng) == 0;
    vec_copy(Ng, ref->Ng);
    vec_copy(other, flat ? ref->of_vertices : ref->Ng);
    vec_normalize(other);
    turn(v, b, Ng, other);
    vec_madd(x, Ns, -1, v->Ns);
    vec_madd(y, other, -1, v->Ns);
    if (vec_length(y) < vec_length(x))
        vec_copy(Ns, other);
}

struct normal_question {
    const struct look *l;
    const struct path_vertex *v;
    bool other;
};

/* in: direction 3, and what moves uv 2, N 3, T 3; out: Ns 3. */
static int ask_normal(void *ctx, const double *in, double *out)
{
    const struct normal_question *q = ctx;
    return reference_mapped_normal(q->l->s->reference, q->v->primitive, q->l->leg_o, in, in + 3,
                                   q->other, out);
}

/* A mapped normal's bounds: the reference is asked again with what it is made of moved by its
 * error: the direction by its roundings, uv and normals by the hit's bounds, tangents (interpolated
 * as normals are) and the texel's place too. It ends with a normalisation; bending adds two. */
static bool mapped_normal_differs(struct look *l, const struct path_vertex *v,
                                  const struct hit_bounds *b, bool unsure)
{
    const struct steps *s = l->s;
    struct normal_question q = {l, v, false};
    struct answer a;
    double in[11] = {0}, step[11], bound[3];
    vec_copy(in, v->direction);
    for (int i = 0; i < 3; i++) {
        step[i] = 4 * ULP;
        step[5 + i] = step[8 + i] = b->Ns + b->Ng + 16 * ULP;
    }
    texture_steps(&s->scene->textures[steps_material(s->scene, v->primitive)->normal_map.texture],
                  v->uv, step + 3);
    for (int i = 0; i < 2; i++)
        step[3 + i] += b->uv[i];
    for (;; q.other = true) { /* as it is, and by the other normal where that is unsure */
        bool near = true;
        answer_spread(ask_normal, &q, in, step, 11, 3, &a);
        for (int i = 0; i < 3; i++) {
            bound[i] = a.spread[i] + roundings(&s->arithmetic, 32, 3, 3);
            near &= fabs(a.value[i] - v->Ns[i]) <= bound[i];
        }
        if (near || !unsure || q.other)
            break;
    }
    return a.code && look_vector_differs(l, "surface", "Ns", "xyz", a.value, v->Ns, bound);
}

static bool uv_differs(struct look *l, const double ref[2], const double dev[2],
                       const double bound[2], bool round)
{
    double u = dev[0];
    if (round && fabs(u - ref[0]) > 0.5) /* a sphere's u turns around */
        u += u < ref[0] ? 1 : -1;
    return look_scalar_differs(l, "surface", "u", ref[0], u, bound[0]) ||
           look_scalar_differs(l, "surface", "v", ref[1], dev[1], bound[1]);
}

/* What was met, where the reference met the same primitive. blur: how far the ray itself is off
 * across its direction; ahead: what rounding did to t before its last part. */
static bool surface_differs(struct look *l, const struct path_vertex *v,
                            const struct reference_hit *ref, double blur, double ahead)
{
    const struct steps *s = l->s;
    struct hit_bounds b;
    if (v->material != scene_material_of(s->scene, v->primitive))
        return look_differs(l, "surface", "material", 0, scene_material_of(s->scene, v->primitive),
                            v->material, INFINITY);
    hit_bounds(&s->arithmetic, s->scene, v->primitive, l->leg_o, v->direction, l->leg_t, ref->P,
               ref->Ng, &b);
    bool round = v->primitive >= s->scene->triangle_count &&
                 v->primitive < s->scene->triangle_count + s->scene->sphere_count;
    if (blur > 0) {
        double more = 1 + blur / b.position;
        b.P *= more, b.t = b.t * more + ahead, b.Ns *= more;
        b.Ng *= round ? more : 1;
        b.uv[0] *= more, b.uv[1] *= more;
    }
    bool mapped = steps_material(s->scene, v->primitive)->normal_map.present;
    double Ng[3], Ns[3];
    vec_copy(Ng, ref->Ng);
    vec_copy(Ns, ref->Ns);
    turn(v, &b, Ng, Ns);
    const bool unsure = normal_is_unsure(ref, &b);
    if (unsure)
        either_normal(v, &b, ref, Ns);
    return look_scalar_differs(l, "traversal", "t", ref->t, v->t, b.t) ||
           look_vector_differs_by(l, "surface", "P", ref->P, v->P, b.P) ||
           look_vector_differs_by(l, "surface", "Ng", Ng, v->Ng, b.Ng) ||
           (mapped ? mapped_normal_differs(l, v, &b, unsure)
                   : look_vector_differs_by(l, "surface", "Ns", Ns, v->Ns, b.Ns)) ||
           uv_differs(l, ref->uv, v->uv, b.uv, round);
}

bool hit_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    struct reference_hit ref;
    vec_copy(l->leg_o, v->origin);
    l->leg_t = v->t;
    reference_hit_closest(s->reference, v->origin, v->direction, INFINITY, &ref);
    if (ref.primitive != v->primitive) {
        double margin = margin_hit(&s->arithmetic, s->scene, s->reference, v->origin, v->direction,
                                   INFINITY, v->primitive, &ref);
        return look_flip_differs(l, "traversal", "primitive", look_id(ref.primitive),
                                 look_id(v->primitive), margin);
    }
    l->report->compared++;
    return ref.primitive != UINT32_MAX && surface_differs(l, v, &ref, 0, 0);
}

/* ---- ways through media -------------------------------------------------------------- */

struct way_errors way_errors_of(const struct steps *s, const struct reference_way *w,
                                const double d[3])
{
    struct way_errors e = {.size = 0x1p-20};
    double whole = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        double t = isfinite(w->part[i].t) ? w->part[i].t : 0, off = 0;
        e.size = fmax(e.size, vec_max_abs(w->part[i].o) + t);
        if (w->part[i].primitive != UINT32_MAX) {
            struct hit_bounds b;
            hit_bounds(&s->arithmetic, s->scene, w->part[i].primitive, w->part[i].o, d, t,
                       w->part[i].P, w->part[i].Ng, &b);
            e.size = fmax(e.size, b.position / (16 * ULP));
            off = b.t + e.position / fmax(fabs(vec_dot(d, w->part[i].Ng)), 1e-6);
            if (i + 1 < w->count) {
                e.position += b.P;
                e.t += off;
            }
        }
        whole += t;
        e.tau += w->part[i].density * (off + 8 * ULP * t);
        for (int c = 0; c < 3; c++)
            e.A[c] += w->part[i].absorption[c] * (off + 8 * ULP * t);
    }
    e.t += 2 * ULP * w->count * whole;
    return e;
}

double way_margin(const double o[3], const double d[3], double unit,
                  bool (*agrees)(void *ctx, const double from[3], double stretch), void *ctx)
{
    double frame[3][3], from[3];
    vec_frame(d, frame);
    if (agrees(ctx, o, 0))
        return 0;
    for (double size = SHIFT_LEAST; size <= SHIFT_MOST; size = shift_larger(size))
        for (int i = 0; i < 3 * 19; i++) {
            int at = i % 19, along = i / 19 - 1;
            double phi = at * 0.39269908169872414, stretch = along * size * 16 * ULP;
            vec_copy(from, o);
            if (at < 16) {
                vec_madd(from, from, size * unit * cos(phi), frame[0]);
                vec_madd(from, from, size * unit * sin(phi), frame[1]);
            } else if (at < 18) {
                vec_madd(from, from, (at == 16 ? 1 : -1) * size * unit, d);
            }
            if (agrees(ctx, from, stretch))
                return size;
        }
    return INFINITY;
}

struct flight_question {
    const struct look *l;
    const struct path_vertex *v;
    double u;
    bool ties; /* those of faces that lie on one another count */
    struct reference_way way;
};

/* Do the device's face and the one that the way ends at lie so near that rounding may swap them? As
 * margin_hit has it. */
static bool tied(const struct flight_question *q)
{
    const struct steps *s = q->l->s;
    const uint32_t last = q->way.count - 1, other = q->v->primitive;
    const double *o = q->way.part[last].o, *d = q->v->direction;
    struct hit_bounds b;
    double t;
    if (other == UINT32_MAX || q->way.hit.primitive == UINT32_MAX ||
        !primitive_carrier(s->scene, other, o, d, &t))
        return false;
    hit_bounds(&s->arithmetic, s->scene, q->way.hit.primitive, o, d, q->way.part[last].t,
               q->way.part[last].P, q->way.part[last].Ng, &b);
    return fabs(t - q->way.part[last].t) <= 2 * b.t &&
           primitive_miss(s->scene, other, o, d) <= b.position;
}

/* Is the device where the way ends? */
static bool flight_ends(const struct flight_question *q)
{
    return (q->way.hit.primitive == q->v->primitive || (q->ties && tied(q))) &&
           q->way.media == q->v->media &&
           (q->v->primitive != UINT32_MAX || q->way.material == q->v->material);
}

/* stretch: of the depth that u stands for. */
static bool flight_agrees(void *ctx, const double from[3], double stretch)
{
    struct flight_question *q = ctx;
    double u = -expm1((1 + stretch) * log1p(-q->u));
    reference_fly(q->l->s->reference, from, q->v->direction, u, q->l->media, &q->way);
    return flight_ends(q);
}

/* The throughput where the way ends, and its bound: exp is good to four units. True if the device's
 * is within it. */
static bool flight_beta(const struct flight_question *q, double beta[3], double bound[3])
{
    const struct look *l = q->l;
    const struct way_errors e = way_errors_of(l->s, &q->way, q->v->direction);
    bool near = true;
    for (int c = 0; c < 3; c++) {
        const double left = q->way.left[c];
        beta[c] = l->beta[c] * left;
        bound[c] =
            l->beta_bound[c] * left + fabs(beta[c]) * (e.A[c] + (left < 1 ? 16 * ULP : 0)) + 1e-36;
        near &= fabs(beta[c] - q->v->beta[c]) <= bound[c];
    }
    return near;
}

static bool other_flight_agrees(void *ctx, const struct reference_way *other)
{
    struct flight_question *q = ctx;
    double beta[3], bound[3];
    q->way = *other;
    return flight_ends(q) && flight_beta(q, beta, bound);
}

/* Is the device on a way that meets another of two faces in one plane? Then q->way is that. */
static bool flies_otherwise(struct flight_question *q)
{
    struct flight_question other = *q;
    const struct tied_ways ways = {.s = q->l->s,
                                   .d = q->v->direction,
                                   .media = q->l->media,
                                   .tau = -log1p(-q->u),
                                   .agrees = other_flight_agrees,
                                   .ctx = &other};
    if (!look_tied_ways(&ways, &q->way))
        return false;
    q->way = other.way;
    return true;
}

/* A vertex in a medium: tau is off by its logarithm and a rounding for each part. */
static bool scattering_differs(struct look *l, const struct path_vertex *v,
                               const struct flight_question *q, const struct way_errors *e)
{
    const struct reference_way *w = &q->way;
    const struct arithmetic *a = &l->s->arithmetic;
    double tau = -log1p(-q->u), none[3] = {0};
    double t =
        (e->tau + roundings(a, 16 + 2 * w->count, 0, 0) * tau) / w->part[w->count - 1].density +
        roundings(a, 8, 1, 0) * l->leg_t;
    return look_scalar_differs(l, "traversal", "t", w->hit.t, v->t, e->t + t + 1e-36) ||
           look_vector_differs_by(l, "surface", "P", w->hit.P, v->P,
                                  e->position + t + 4 * ULP * (vec_max_abs(w->hit.P) + l->leg_t) +
                                      1e-36) ||
           look_vector_differs_by(l, "surface", "Ng", none, v->Ng, 1e-36) ||
           look_vector_differs_by(l, "light", "emitted", none, v->emitted, 1e-36);
}

bool flight_differs(struct look *l, const struct path_vertex *v)
{
    struct flight_question q = {.l = l, .v = v};
    double u[4], beta[3], bound[3];
    look_numbers(l, LOOK_FLIGHT_BLOCK(l->k), u);
    q.u = u[0];
    bool agrees = flight_agrees(&q, v->origin, 0);
    if ((!agrees || !flight_beta(&q, beta, bound)) && flies_otherwise(&q)) {
        agrees = true;
        l->report->flips++;
    }
    if (!agrees) {
        double id = q.way.hit.primitive == UINT32_MAX && q.way.material != UINT32_MAX
                        ? -2
                        : look_id(q.way.hit.primitive);
        bool media = q.way.hit.primitive == v->primitive && q.way.media != v->media;
        double here = q.way.media;
        struct way_errors e = way_errors_of(l->s, &q.way, v->direction);
        q.ties = true;
        double margin =
            way_margin(v->origin, v->direction, 16 * ULP * e.size * q.way.count, flight_agrees, &q);
        if (media
                ? look_flip_differs(l, "traversal", "media", here, v->media, margin)
                : look_flip_differs(l, "traversal", "primitive", id, look_id(v->primitive), margin))
            return true;
        vec_copy(l->leg_o, q.way.part[q.way.count - 1].o);
        l->leg_t = q.way.part[q.way.count - 1].t;
        return false;
    }
    l->report->compared++;
    const struct way_errors e = way_errors_of(l->s, &q.way, v->direction);
    vec_copy(l->leg_o, q.way.part[q.way.count - 1].o);
    l->leg_t = q.way.part[q.way.count - 1].t;
    flight_beta(&q, beta, bound);
    if (look_vector_differs(l, "path", "beta", "rgb", beta, v->beta, bound))
        return true;
    if (v->primitive != UINT32_MAX)
        return surface_differs(l, v, &q.way.hit, e.position, e.t);
    return v->material != UINT32_MAX && scattering_differs(l, v, &q, &e);
}

/* ---- light that is seen -------------------------------------------------------------- */

/* The probability of the emitter's choice from where the ray starts, for samples that the vertex
 * before would take to that side; *relative: its error. With a tree the reference is asked again
 * from points moved by their rounding. */
static double emitter_chance(const struct steps *s, const struct path_vertex *v,
                             const struct path_vertex *previous, double *relative)
{
    uint32_t light = s->area_light[v->primitive];
    double side[3], P[3];
    vec_scale(side, vec_dot(previous->wi, previous->Ng) < 0 ? -1 : 1, previous->Ng);
    double chance = reference_light_chance(s->reference, light, v->origin, side);
    *relative = 0;
    if (s->scene->light_choice != LIGHT_CHOICE_TREE || !(chance > 0))
        return chance;
    double spread = 0, step = 4 * ULP * fmax(vec_max_abs(v->origin), 0x1p-20);
    for (int i = 0; i < 3; i++) {
        double most = 0;
        for (int sign = -1; sign <= 1; sign += 2) {
            vec_copy(P, v->origin);
            P[i] += sign * step;
            most = fmax(most, fabs(reference_light_chance(s->reference, light, P, side) - chance));
        }
        spread += most;
    }
    *relative = spread / chance + choice_roundings(&s->arithmetic, s->scene);
    return chance;
}

/* Density of the emitter hit, of (t, cos, distance factor): section 5, last paragraph. *relative:
 * its error. */
static double emitter_pdf(const struct steps *s, const struct path_vertex *v,
                          const struct path_vertex *previous, double cosine, double cosine_error,
                          double *relative)
{
    const struct scene *scene = s->scene;
    double of_choice, chance = emitter_chance(s, v, previous, &of_choice);
    size_t i = v->primitive - scene->triangle_count;
    if (!(chance > 0))
        return 0;
    if (v->primitive >= scene->triangle_count && i < scene->sphere_count) {
        double D[3], r = (double)scene->spheres[i].radius;
        vec_load(D, scene->spheres[i].center);
        double S = vec_max_abs(D) + vec_max_abs(v->origin);
        vec_madd(D, D, -1, v->origin);
        double d2 = vec_dot(D, D), apart = d2 / (r * r);
        *relative = roundings(&s->arithmetic, 32, 3, 1) + of_choice +
                    8 * ULP * S / sqrt(d2) * (1 + 1 / fabs(apart - 1));
        if (apart > 1.0001) {
            double s2 = r * r / d2, cm = s2 / (1 + sqrt(1 - s2));
            return chance / (2 * 3.14159265358979323846 * cm);
        }
        if (fabs(apart - 1.0001) < 64 * ULP * (1 + S / r)) /* cone or area: rounding decides */
            *relative = INFINITY;
    }
    *relative = roundings(&s->arithmetic, 32, 2, 0) + of_choice + cosine_error / cosine;
    return chance / primitive_area(scene, v->primitive) * v->t * v->t / cosine;
}

/* Le at the vertex; room: its error. The texture is asked again from uv moved by the roundings of a
 * place in texels. */
static void emission_of(const struct steps *s, const struct path_vertex *v, double L[3],
                        double room[3])
{
    const struct material *m = steps_material(s->scene, v->primitive);
    vec_load(L, m->emission);
    if (!m->emission_texture)
        return;
    const struct texture *t = &s->scene->textures[m->emission_texture - 1];
    double texel[4], moved[4], step[2];
    texture_steps(t, v->uv, step);
    texture_value(t, v->uv, texel);
    for (int i = 0; i < 4; i++) {
        double uv[2] = {v->uv[0], v->uv[1]};
        uv[i / 2] += i % 2 ? -step[i / 2] : step[i / 2];
        texture_value(t, uv, moved);
        for (int c = 0; c < 3; c++)
            room[c] += L[c] * fabs(moved[c] - texel[c]);
    }
    for (int c = 0; c < 3; c++)
        L[c] = fmax(L[c] * texel[c], 0);
}

bool emission_differs(struct look *l, const struct path_vertex *v,
                      const struct path_vertex *previous)
{
    const struct steps *s = l->s;
    double L[3] = {0}, bound[3], pdf = 0, relative = 0, room[3] = {0};
    if (v->primitive == UINT32_MAX) {
        double spread[4];
        reference_environment(s->reference, v->direction, L, &pdf);
        environment_spread(&s->arithmetic, s->reference, v->direction, spread);
        vec_copy(room, spread);
        relative = spread[3] / fmax(pdf, 1e-300);
        relative += roundings(&s->arithmetic, 32, 2, 1);
    } else {
        const struct material *m = steps_material(s->scene, v->primitive);
        struct hit_bounds b;
        double cosine, cosine_error = 16 * ULP, n[3];
        if (!material_emits(m))
            goto compare;
        primitive_normal(s->scene, v->primitive, v->P, n);
        hit_bounds(&s->arithmetic, s->scene, v->primitive, v->origin, v->direction, v->t, v->P, n,
                   &b);
        cosine = -vec_dot(v->direction, n);
        cosine_error += b.Ng;
        if (m->emission_two_sided)
            cosine = fabs(cosine);
        if (fabs(cosine) <= cosine_error)
            return false; /* which side is seen is a matter of rounding, and the contribution's
                             weight too */
        if (cosine > 0) {
            emission_of(s, v, L, room);
            if (previous)
                pdf = emitter_pdf(s, v, previous, cosine, cosine_error, &relative);
        }
    }
compare:;
    double w = 1;
    if (previous && l->pdf_prev > 0)
        w = steps_mis_weight(s, l->pdf_prev, pdf);
    double w_error = fmin(1, 2 * w * (1 - w) * relative + roundings(&s->arithmetic, 8, 2, 0) * w);
    if (relative > 0.5) /* the density is not known to a factor: any weight */
        w_error = 1;
    if (l->pdf_prev_error > 0) { /* which may be as large as the density: no matter of slopes */
        const double e = l->pdf_prev_error;
        const double least = steps_mis_weight(s, l->pdf_prev / (1 + e), pdf);
        const double most = steps_mis_weight(s, l->pdf_prev / fmax(1 - e, 0), pdf);
        w_error = fmin(1, w_error + fmax(w - least, most - w));
    }
    for (int c = 0; c < 3; c++) {
        double part = v->beta[c] * L[c];
        L[c] = part * w;
        bound[c] = fabs(part) * (16 * ULP * w + w_error) + v->beta[c] * room[c] * w + 1e-36;
    }
    if (v->primitive != UINT32_MAX && steps_material(s->scene, v->primitive)->shading)
        list_glow_add(l, v, L, bound);
    return look_vector_differs(l, "light", "emitted", "rgb", L, v->emitted, bound);
}
