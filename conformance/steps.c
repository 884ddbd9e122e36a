#include "steps.h"
#include "bounds.h"
#include "margins.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

struct steps {
    const struct scene *scene;
    const struct reference *reference;
    struct render_job job;
    struct arithmetic arithmetic;
    uint32_t area_lights;
    uint32_t *area_light; /* by primitive of the world: its index as a light */
    uint32_t *emitters;   /* by light: its primitive */
    bool shaded;          /* some material runs a shader: the kind of ray matters */
    bool media;           /* some material has a medium or is an interface */
};

static const struct material *material_of(const struct scene *s, uint32_t primitive)
{
    return &s->materials[scene_material_of(s, primitive)];
}

enum status steps_open(const struct scene *s, const struct reference *r,
                       const struct device_info *device, const struct render_job *job,
                       struct steps **out, struct error *err)
{
    struct steps *n = calloc(1, sizeof *n);
    if (!n)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    n->scene = s;
    n->reference = r;
    n->job = *job;
    n->arithmetic = arithmetic_of(device, job->launch.mode);
    for (size_t i = 0; i < s->material_count; i++) {
        n->shaded |= s->materials[i].shading != NULL;
        n->media |= s->materials[i].medium.present || s->materials[i].interface;
    }
    n->area_light = calloc(scene_primitive_count(s) + 1, sizeof *n->area_light);
    n->emitters = calloc(scene_primitive_count(s) + 1, sizeof *n->emitters);
    if (!n->area_light || !n->emitters) {
        steps_close(n);
        return error_msg(err, STATUS_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < scene_primitive_count(s); i++) {
        n->area_light[i] = n->area_lights;
        if (material_emits(material_of(s, (uint32_t)i)))
            n->emitters[n->area_lights++] = (uint32_t)i;
    }
    *out = n;
    return STATUS_OK;
}

void steps_close(struct steps *s)
{
    if (s) {
        free(s->area_light);
        free(s->emitters);
    }
    free(s);
}

/* Is that light without a surface? */
static bool is_delta_light(const struct steps *s, uint32_t light)
{
    return light >= s->area_lights && light - s->area_lights < s->scene->light_count;
}

static double mis_weight(const struct steps *s, double a, double b)
{
    double ratio = b / a;
    return 1 / (1 + (s->scene->mis == MIS_BALANCE ? ratio : ratio * ratio));
}

/* ---- saying what differs ------------------------------------------------------------- */

/* One path being looked over. */
struct look {
    const struct steps *s;
    uint32_t x, y, sample, k;
    struct step_report *report;
    double pdf_prev; /* of the ray that arrives, for MIS; 0: none */
    double length;   /* sum of t over the vertices up to this one */
    uint32_t raytype;
    double leg_o[3], leg_t; /* the last part of the way to this vertex */
    /* in scenes with media, of the path on its way to this vertex: */
    uint32_t media;
    double beta[3], beta_bound[3]; /* before anything absorbs */
};

static void numbers(const struct look *l, uint32_t block, double u[4])
{
    const uint32_t counter[4] = {l->x, l->y, l->sample, block};
    const uint32_t key[2] = {(uint32_t)l->s->job.seed, (uint32_t)(l->s->job.seed >> 32)};
    uint32_t words[4];
    philox4x32(counter, key, words);
    for (int i = 0; i < 4; i++)
        u[i] = u01(words[i]);
}

static bool differs(struct look *l, const char *stage, const char *field, char component,
                    double reference, double device, double margin)
{
    struct step_report *r = l->report;
    r->compared++;
    if (!(margin <= r->worst)) {
        r->worst = margin;
        r->worst_field = field;
    }
    if (margin <= 1)
        return false;
    r->found = true;
    r->k = l->k;
    r->stage = stage;
    r->field = field;
    r->component = component;
    r->reference = reference;
    r->device = device;
    r->margin = margin;
    return true;
}

/* True when the numbers are further apart than the bound. NaN always is. */
static bool scalar_differs(struct look *l, const char *stage, const char *field, double reference,
                           double device, double bound)
{
    double apart = fabs(reference - device);
    double margin = reference == device ? 0 : apart / bound;
    return differs(l, stage, field, 0, reference, device, isnan(margin) ? INFINITY : margin);
}

static bool vector_differs(struct look *l, const char *stage, const char *field, const char *names,
                           const double reference[3], const double device[3], const double bound[3])
{
    double worst = 0;
    int at = 0;
    for (int i = 0; i < 3; i++) {
        double margin = reference[i] == device[i] ? 0 : fabs(reference[i] - device[i]) / bound[i];
        if (isnan(margin))
            margin = INFINITY;
        if (margin > worst) {
            worst = margin;
            at = i;
        }
    }
    return differs(l, stage, field, names[at], reference[at], device[at], worst);
}

static bool vector_differs_by(struct look *l, const char *stage, const char *field,
                              const double reference[3], const double device[3], double bound)
{
    const double b[3] = {bound, bound, bound};
    return vector_differs(l, stage, field, "xyz", reference, device, b);
}

/* A decision that fell otherwise: benign when the margin is at most 1. */
static bool flip_differs(struct look *l, const char *stage, const char *field, double reference,
                         double device, double margin)
{
    if (differs(l, stage, field, 0, reference, device, margin))
        return true;
    l->report->flips++;
    l->report->flip_margin = fmax(l->report->flip_margin, margin);
    return false;
}

/* An id as a number to print: -1 for none. */
static double id_number(uint32_t id) { return id == UINT32_MAX ? -1 : (double)id; }

/* ---- camera -------------------------------------------------------------------------- */

/* The protocol's camera ray for four numbers and what rounding may do to it. Perspective: px = x +
 * u0 is rounded to u W (by a filter of radius r to u (W + 8 r)); times tan_x 2/W: 2 u tan (16 u tan
 * r/W); sums of three products with rounded basis vectors, a normalisation. Orthographic: the same
 * across the film. Equirectangular: an angle to 2 pi by four roundings, sine and cosine to 2 ulp. A
 * polygon's edge is 2 pi/n long, and where on it by n times three roundings: 20 u, in place of the
 * disk's. */
static void camera_ray(const struct look *l, const double u[4], double o[3], double d[3],
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
        numbers(&other, 0, u);
        camera_ray(l, u, o, d, &bound_o, &bound_d);
        vec_madd(apart, d, -1, v->direction);
        if (i != 8 && vec_max_abs(apart) <= bound_d)
            return true;
    }
    return false;
}

static bool camera_differs(struct look *l, const struct path_vertex *v)
{
    double u[4], d[3], o[3], bound_o, bound_d;
    numbers(l, 0, u);
    camera_ray(l, u, o, d, &bound_o, &bound_d);
    if (!vector_differs_by(l, "camera", "origin", o, v->origin, bound_o) &&
        !vector_differs_by(l, "camera", "direction", d, v->direction, bound_d))
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

struct normal_question {
    const struct look *l;
    const struct path_vertex *v;
};

/* in: direction 3, and what moves uv 2, N 3, T 3; out: Ns 3. */
static int ask_normal(void *ctx, const double *in, double *out)
{
    const struct normal_question *q = ctx;
    return reference_mapped_normal(q->l->s->reference, q->v->primitive, q->l->leg_o, in, in + 3,
                                   out);
}

/* A mapped normal's bounds: the reference is asked again with what it is made of moved by its
 * error: the direction by its roundings, uv and normals by the hit's bounds, tangents (interpolated
 * as normals are) and the texel's place too. It ends with a normalisation; bending adds two. */
static bool mapped_normal_differs(struct look *l, const struct path_vertex *v,
                                  const struct hit_bounds *b)
{
    const struct steps *s = l->s;
    struct normal_question q = {l, v};
    struct answer a;
    double in[11] = {0}, step[11], bound[3];
    vec_copy(in, v->direction);
    for (int i = 0; i < 3; i++) {
        step[i] = 4 * ULP;
        step[5 + i] = step[8 + i] = b->Ns + b->Ng + 16 * ULP;
    }
    texture_steps(&s->scene->textures[material_of(s->scene, v->primitive)->normal_map.texture],
                  v->uv, step + 3);
    for (int i = 0; i < 2; i++)
        step[3 + i] += b->uv[i];
    answer_spread(ask_normal, &q, in, step, 11, 3, &a);
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[i] + roundings(&s->arithmetic, 32, 3, 3);
    return a.code && vector_differs(l, "surface", "Ns", "xyz", a.value, v->Ns, bound);
}

static bool uv_differs(struct look *l, const double ref[2], const double dev[2],
                       const double bound[2], bool round)
{
    double u = dev[0];
    if (round && fabs(u - ref[0]) > 0.5) /* a sphere's u turns around */
        u += u < ref[0] ? 1 : -1;
    return scalar_differs(l, "surface", "u", ref[0], u, bound[0]) ||
           scalar_differs(l, "surface", "v", ref[1], dev[1], bound[1]);
}

/* What was met, where the reference met the same primitive. blur: how far the ray itself is off
 * across its direction; ahead: what rounding did to t before its last part. */
static bool surface_differs(struct look *l, const struct path_vertex *v,
                            const struct reference_hit *ref, double blur, double ahead)
{
    const struct steps *s = l->s;
    struct hit_bounds b;
    if (v->material != scene_material_of(s->scene, v->primitive))
        return differs(l, "surface", "material", 0, scene_material_of(s->scene, v->primitive),
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
    bool mapped = material_of(s->scene, v->primitive)->normal_map.present;
    double Ng[3], Ns[3];
    vec_copy(Ng, ref->Ng);
    vec_copy(Ns, ref->Ns);
    if (vec_dot(Ng, Ns) < 0 && !round && fabs(vec_dot(Ng, Ns)) > b.Ns)
        vec_scale(Ns, -1, Ns);
    turn(v, &b, Ng, Ns);
    return scalar_differs(l, "traversal", "t", ref->t, v->t, b.t) ||
           vector_differs_by(l, "surface", "P", ref->P, v->P, b.P) ||
           vector_differs_by(l, "surface", "Ng", Ng, v->Ng, b.Ng) ||
           (mapped ? mapped_normal_differs(l, v, &b)
                   : vector_differs_by(l, "surface", "Ns", Ns, v->Ns, b.Ns)) ||
           uv_differs(l, ref->uv, v->uv, b.uv, round);
}

static bool hit_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    struct reference_hit ref;
    vec_copy(l->leg_o, v->origin);
    l->leg_t = v->t;
    reference_hit_closest(s->reference, v->origin, v->direction, INFINITY, &ref);
    if (ref.primitive != v->primitive) {
        double margin = margin_hit(&s->arithmetic, s->scene, s->reference, v->origin, v->direction,
                                   INFINITY, v->primitive, &ref);
        return flip_differs(l, "traversal", "primitive", id_number(ref.primitive),
                            id_number(v->primitive), margin);
    }
    l->report->compared++;
    return ref.primitive != UINT32_MAX && surface_differs(l, v, &ref, 0, 0);
}

/* ---- ways through media -------------------------------------------------------------- */

/* What rounding does to a way, part after part: each hit is off as any is (hit_bounds), and the
 * parts after it start there. */
struct way_errors {
    double position; /* of the ray across itself, where the last part starts */
    double t;        /* of the whole way but for the last part's own hit */
    double tau;      /* of the depth of scattering, and of absorption: */
    double A[3];
    double size; /* of coordinates, times what instances make of them */
};

static struct way_errors way_errors_of(const struct steps *s, const struct reference_way *w,
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

/* Asks `agrees` of the ray moved by nothing, then by up to 4096 units across and along itself, and
 * of numbers moved as much: the first size that agrees, INFINITY if none. */
static double way_margin(const double o[3], const double d[3], double unit,
                         bool (*agrees)(void *ctx, const double from[3], double stretch), void *ctx)
{
    double frame[3][3], from[3];
    vec_frame(d, frame);
    if (agrees(ctx, o, 0))
        return 0;
    for (double size = 0.25; size <= 4096; size *= 4)
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
    struct reference_way way;
};

/* stretch: of the depth that u stands for. */
static bool flight_agrees(void *ctx, const double from[3], double stretch)
{
    struct flight_question *q = ctx;
    double u = -expm1((1 + stretch) * log1p(-q->u));
    reference_fly(q->l->s->reference, from, q->v->direction, u, q->l->media, &q->way);
    return q->way.hit.primitive == q->v->primitive && q->way.media == q->v->media &&
           (q->v->primitive != UINT32_MAX || q->way.material == q->v->material);
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
    return scalar_differs(l, "traversal", "t", w->hit.t, v->t, e->t + t + 1e-36) ||
           vector_differs_by(l, "surface", "P", w->hit.P, v->P,
                             e->position + t + 4 * ULP * (vec_max_abs(w->hit.P) + l->leg_t) +
                                 1e-36) ||
           vector_differs_by(l, "surface", "Ng", none, v->Ng, 1e-36) ||
           vector_differs_by(l, "light", "emitted", none, v->emitted, 1e-36);
}

static bool flight_differs(struct look *l, const struct path_vertex *v)
{
    struct flight_question q = {.l = l, .v = v};
    double u[4], beta[3], bound[3];
    numbers(l, 0x80000000u + 8 * l->k, u);
    q.u = u[0];
    if (!flight_agrees(&q, v->origin, 0)) {
        double id = q.way.hit.primitive == UINT32_MAX && q.way.material != UINT32_MAX
                        ? -2
                        : id_number(q.way.hit.primitive);
        bool media = q.way.hit.primitive == v->primitive && q.way.media != v->media;
        double here = q.way.media;
        struct way_errors e = way_errors_of(l->s, &q.way, v->direction);
        double margin =
            way_margin(v->origin, v->direction, 16 * ULP * e.size * q.way.count, flight_agrees, &q);
        if (media ? flip_differs(l, "traversal", "media", here, v->media, margin)
                  : flip_differs(l, "traversal", "primitive", id, id_number(v->primitive), margin))
            return true;
        vec_copy(l->leg_o, q.way.part[q.way.count - 1].o);
        l->leg_t = q.way.part[q.way.count - 1].t;
        return false;
    }
    l->report->compared++;
    const struct way_errors e = way_errors_of(l->s, &q.way, v->direction);
    vec_copy(l->leg_o, q.way.part[q.way.count - 1].o);
    l->leg_t = q.way.part[q.way.count - 1].t;
    for (int c = 0; c < 3; c++) { /* exp is good to four units */
        beta[c] = l->beta[c] * q.way.left[c];
        bound[c] = l->beta_bound[c] * q.way.left[c] +
                   fabs(beta[c]) * (e.A[c] + (q.way.left[c] < 1 ? 16 * ULP : 0)) + 1e-36;
    }
    if (vector_differs(l, "path", "beta", "rgb", beta, v->beta, bound))
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
    const struct material *m = material_of(s->scene, v->primitive);
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

static bool runs_list(const struct steps *s, const struct path_vertex *v)
{
    const struct material *m = material_of(s->scene, v->primitive);
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
    LIST_CONTRACT = LIST_POINT + GLOBAL_MOTIONS,
    LIST_INPUTS = LIST_CONTRACT + 8
};

/* How far a shader's globals are off, as shares of their sizes (enum reference_global).
 * k = 1: P' = d' t' - A by three roundings of |A| and the errors of the camera's rays (camera_ray);
 * along d' that of t' = <A, Ng> / <d', Ng>, where either product is off by four roundings more, all
 * over the cosine. I' = d' - d is off as d' is, and by a rounding. A disk: w is a sum of k lengths
 * times a quotient, k + 3 roundings, the frame has eight. u' and v': two products of three terms
 * each, a difference, and det's, which cancels as a c / det says; and twice the eight of the
 * tangents. N: what a shader's first product does to it. */
static void globals_steps(const struct look *l, const struct path_vertex *v,
                          double step[GLOBAL_MOTIONS])
{
    const struct arithmetic *a = &l->s->arithmetic;
    double of_P = roundings(a, 8 + 3 + l->k, 2, 1), of_ray = 0, of_I = 0;
    if (l->k == 1) {
        double u[4], o[3], d[3], bound_o, bound_d;
        numbers(l, 0, u);
        camera_ray(l, u, o, d, &bound_o, &bound_d);
        double ray = bound_d + bound_o / v->t;
        of_P = fmax(of_P, ray + 3 * ULP);
        of_ray = ray + roundings(a, 8, 1, 0);
        of_I = bound_d + ULP;
    }
    for (int i = 0; i < GLOBAL_MOTIONS; i++)
        step[i] = i < GLOBAL_RAY_CHANGES  ? of_P
                  : i < GLOBAL_I_CHANGES  ? of_ray
                  : i < GLOBAL_UV_CHANGES ? of_I
                  : i < GLOBAL_TANGENTS   ? roundings(a, 16 + 2 * 8, 1, 0)
                  : i < GLOBAL_NORMAL     ? roundings(a, 8, 1, 1)
                                          : 4 * ULP;
}

static struct list_question list_question_of(const struct look *l, const struct path_vertex *v,
                                             const double wi[3], const double u[3],
                                             double in[LIST_INPUTS], double step[LIST_INPUTS])
{
    const struct arithmetic *a = &l->s->arithmetic;
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
    if (material_of(l->s->scene, v->primitive)->shading) {
        globals_steps(l, v, step + LIST_POINT);
        /* in strict mode shaders' operations have the interpreter's bits */
        for (int i = LIST_CONTRACT; i < LIST_INPUTS && l->s->job.launch.mode != MODE_STRICT; i++)
            step[i] = 1;
    }
    if (u) {
        step[11] = roundings(a, 32, 2, 0); /* the sum and the quotient of the choice */
        step[12] = root_step(a);
    }
    for (int i = 0; i < 2; i++)
        in[3 + i] = v->uv[i];
    material_texture_steps(l->s->scene, material_of(l->s->scene, v->primitive), v->uv, step + 3);
    return (struct list_question){.l = l, .vertex = vertex_of(l, v), .v = v};
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
 * exponentials and logarithms are within 16 ulp (shaders/builtins.def), twice. */
static double list_roundings(const struct steps *s)
{
    return bsdf_roundings(&s->arithmetic) + roundings(&s->arithmetic, 8 * 4 + 2 * 32, 10, 6);
}

/* Relative error of the density of normals of a list whose sharpest lobe has this alpha, at wi:
 * beside D's own roundings, those of h. dh = 8 u / |wo + wi| (struct ggx_bounds); ln D of GGX moves
 * by 4 dh / alpha at most, that of Beckmann's, Ward's and Phong's by (2 tan / alpha^2) dh, with tan
 * at most 4 alpha: beyond, D is 10^-7 of its peak. Refracted directions have h along wo + eta wi,
 * which is no shorter than 1/4 unless the two sides are nearly alike. */
static double list_density(const struct look *l, const struct path_vertex *v, const double wi[3],
                           double least)
{
    double h[3];
    if (least >= 1)
        return 0;
    vec_madd(h, wi, -1, v->direction);
    double size = vec_dot(wi, v->Ng) < 0 ? 0.25 : vec_length(h);
    return fmin(1, roundings(&l->s->arithmetic, 32, 5, 4) + 8 * 8 * ULP / (size * least));
}

/* Absolute error of a sampled h: ggx_bounds.half where h is farthest from the normal. */
static double list_half(const struct look *l, double least)
{
    return least >= 1 ? 0 : roundings(&l->s->arithmetic, 8, 3, 5) / least;
}

static bool emission_differs(struct look *l, const struct path_vertex *v,
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
        const struct material *m = material_of(s->scene, v->primitive);
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
        w = mis_weight(s, l->pdf_prev, pdf);
    double w_error = fmin(1, 2 * w * (1 - w) * relative + roundings(&s->arithmetic, 8, 2, 0) * w);
    if (relative > 0.5) /* the density is not known to a factor: any weight */
        w_error = 1;
    for (int c = 0; c < 3; c++) {
        double part = v->beta[c] * L[c];
        L[c] = part * w;
        bound[c] = fabs(part) * (16 * ULP * w + w_error) + v->beta[c] * room[c] * w + 1e-36;
    }
    if (v->primitive != UINT32_MAX && material_of(s->scene, v->primitive)->shading) {
        double in[LIST_INPUTS], step[LIST_INPUTS];
        struct list_question q = list_question_of(l, v, NULL, NULL, in, step);
        struct answer a;
        answer_spread(ask_list, &q, in, step, LIST_INPUTS, 4, &a);
        for (int c = 0; c < 3; c++) {
            double glow = v->beta[c] * a.value[c];
            L[c] += glow;
            bound[c] += v->beta[c] * a.spread[c] + list_roundings(s) * fabs(glow);
        }
    }
    return vector_differs(l, "light", "emitted", "rgb", L, v->emitted, bound);
}

/* ---- light that is sampled ----------------------------------------------------------- */

struct light_question {
    const struct steps *s;
    double Ng[3], u[3];
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

/* in: wo 3, wi 3 (local), uv 2; out: contribution of the light sample 3. */
static int ask_direct(void *ctx, const double *in, double *out)
{
    const struct bsdf_question *q = ctx;
    double wo[3], wi[3], f[3], pdf;
    normalized(wo, in);
    normalized(wi, in + 3);
    out[0] = out[1] = out[2] = 0;
    if (!(wi[2] > 0) || !(wo[2] > 0))
        return 0;
    reference_bsdf_eval(q->s->reference, q->v->material, in + 6, wo, wi, f, &pdf);
    double w = q->delta_light ? 1 : mis_weight(q->s, q->light_pdf, pdf);
    for (int c = 0; c < 3; c++)
        out[c] = q->v->beta[c] * f[c] * wi[2] * q->Le[c] * w / q->light_pdf;
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
    material_texture_steps(s->scene, material_of(s->scene, v->primitive), v->uv, uv);
}

/* offset_extent at a vertex of the path. */
static double vertex_extent(const struct look *l, const struct path_vertex *v)
{
    return offset_extent(l->s->scene, v->primitive, l->leg_o, v->direction, l->leg_t, v->P);
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
    double margin =
        margin_visible(&l->s->arithmetic, l->s->scene, l->s->reference, from, v->light_wi, t_max,
                       side, 0x1p-19 * vertex_extent(l, v), !v->visible, &h);
    return flip_differs(l, "shadow", "visible", clear, v->visible, margin);
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
    else if (is_delta_light(s, v->light))
        spot_spread(&s->arithmetic, &s->scene->lights[v->light - s->area_lights], v->light_wi,
                    a->value[4], spread);
    for (int c = 0; c < 3; c++)
        a->spread[5 + c] += spread[c];
}

/* Where the path is beyond the surface of that vertex. */
static uint32_t media_beyond(const struct look *l, const struct path_vertex *v)
{
    double n[3];
    primitive_normal(l->s->scene, v->primitive, v->P, n);
    return reference_media_cross(l->s->reference, v->media, v->material, vec_dot(n, v->Ng) > 0);
}

struct light_way_question {
    const struct look *l;
    const struct path_vertex *v;
    const struct answer *direct;
    const double *bound, *from;
    double distance, side[3], rise;
    uint32_t media;
    struct reference_way way;
    double expected[3], room[3];
};

/* Does what arrives through media along that ray agree? */
static bool light_way_agrees(void *ctx, const double from[3], double stretch)
{
    struct light_way_question *q = ctx;
    double moved[3];
    bool agrees = true;
    (void)stretch;
    vec_madd(moved, from, -1, q->from);
    if (q->rise > 0 && vec_dot(moved, q->side) <= -q->rise / 2)
        return false; /* as margin_visible has it */
    reference_see(q->l->s->reference, from, q->v->light_wi, q->distance, q->media, &q->way);
    struct way_errors e = way_errors_of(q->l->s, &q->way, q->v->light_wi);
    for (int c = 0; c < 3; c++) {
        double V = q->way.left[c];
        q->expected[c] = q->direct->value[c] * V;
        q->room[c] = q->bound[c] * V + fabs(q->expected[c]) * (e.tau + e.A[c] + 32 * ULP) + 1e-36;
        agrees &= fabs(q->expected[c] - q->v->direct[c]) <= q->room[c];
    }
    return agrees;
}

/* The light sample in a scene with media: how much of it arrives. */
static bool light_way_differs(struct look *l, const struct path_vertex *v, const double from[3],
                              const struct answer *direct, const double bound[3], double distance)
{
    struct light_way_question q = {.l = l,
                                   .v = v,
                                   .direct = direct,
                                   .bound = bound,
                                   .from = from,
                                   .distance = distance,
                                   .media = v->media};
    double expected[3], room[3];
    if (v->primitive != UINT32_MAX) {
        bool through = vec_dot(v->light_wi, v->Ng) < 0;
        vec_scale(q.side, through ? -1 : 1, v->Ng);
        q.rise = 0x1p-19 * vertex_extent(l, v);
        if (through)
            q.media = media_beyond(l, v);
    }
    bool agrees = light_way_agrees(&q, from, 0);
    vec_copy(expected, q.expected), vec_copy(room, q.room);
    if (agrees)
        return vector_differs(l, "shader", "direct", "rgb", expected, v->direct, room);
    struct way_errors e = way_errors_of(l->s, &q.way, v->light_wi);
    bool clear = vec_max(q.way.left) > 0;
    double margin =
        way_margin(from, v->light_wi, 16 * ULP * e.size * q.way.count, light_way_agrees, &q);
    if (clear && v->visible && !(margin <= 1))
        return vector_differs(l, "shader", "direct", "rgb", expected, v->direct, room);
    return flip_differs(l, "shadow", "visible", clear, v->visible, margin);
}

/* The shadow ray and what a light sample adds. direct: in the open; height: of the sample above the
 * surface, on the side that counts; distance: to the light. */
static bool contribution_differs(struct look *l, const struct path_vertex *v, const double from[3],
                                 struct answer *direct, const double bound[3], double height,
                                 double distance)
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
        return light_way_differs(l, v, from, direct, bound, distance);
    if (!v->visible)
        memset(direct->value, 0, sizeof direct->value);
    return vector_differs(l, "shader", "direct", "rgb", direct->value, v->direct, bound);
}

static bool direct_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    double u[4], from[3], in[8], step[8], wo[3];
    numbers(l, 2 * l->k - 1, u);
    double extent = vertex_extent(l, v);
    vec_madd(from, v->P, 0x1p-19 * extent, v->Ng);
    struct light_question q = {.s = s};
    struct answer a;
    vec_copy(q.Ng, v->Ng);
    for (int i = 0; i < 3; i++) {
        in[i] = from[i];
        step[i] = 4 * ULP * extent;
        in[3 + i] = u[i];
        step[3 + i] = 4 * ULP;
    }
    answer_spread(ask_light, &q, in, step, 6, 8, &a);
    int code = v->light != UINT32_MAX && v->light_pdf_w > 0 ? (int)(2 * v->light + 1) : -1;
    if (!answer_allows(&a, code, 8))
        return differs(l, "light", "light", 0, a.code < 0 ? -1 : a.code / 2, id_number(v->light),
                       INFINITY);
    l->report->compared++;
    if (code < 0) {
        const double none[3] = {0};
        return vector_differs_by(l, "light", "direct", none, v->direct, 1e-36);
    }
    double bound[3], pdf_bound = a.spread[3] + (light_roundings(&s->arithmetic) +
                                                choice_roundings(&s->arithmetic, s->scene)) *
                                                   a.value[3];
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[i] + roundings(&s->arithmetic, 32, 1, 1);
    if (vector_differs(l, "light", "light_wi", "xyz", a.value, v->light_wi, bound) ||
        scalar_differs(l, "light", "light_pdf_w", a.value[3], v->light_pdf_w, pdf_bound))
        return true;

    struct bsdf_question b;
    struct answer direct;
    double side = vec_dot(v->light_wi, v->Ng), wi[3];
    question_of(&b, s, v, true, wo);
    b.light_pdf = v->light_pdf_w;
    b.delta_light = is_delta_light(s, v->light);
    vec_copy(b.Le, &a.value[5]);
    vec_to_local(wi, b.frame, v->light_wi);
    for (int i = 0; i < 3; i++) {
        in[i] = wo[i];
        in[3 + i] = wi[i];
    }
    in[6] = v->uv[0], in[7] = v->uv[1];
    steps_of(s, v, step, step + 6);
    steps_of(s, v, step + 3, step + 6);
    answer_spread(ask_direct, &b, in, step, 8, 3, &direct);
    struct ggx_bounds ggx =
        ggx_bounds(&s->arithmetic, material_alpha(s->scene, v->material, v->uv), wo, wi);
    radiance_spread(s, v, from, &a);
    for (int c = 0; c < 3; c++) {
        double le = b.Le[c] > 0 ? a.spread[5 + c] / b.Le[c] : 0;
        bound[c] = direct.spread[c] +
                   (bsdf_roundings(&s->arithmetic) + ggx.density + le) * fabs(direct.value[c]) +
                   1e-36;
    }
    return contribution_differs(l, v, from, &direct, bound, side, a.value[4]);
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

static bool scatter_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    double u[4], wo[3], in[8], step[8], bound[3];
    struct bsdf_question q;
    struct answer a;
    numbers(l, 2 * l->k, u);
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
    bool ended = v->event == EVENT_ABSORB;
    int code = ended ? 0 : vec_dot(v->wi, v->Ng) < 0 ? 2 : 1;
    double unsure = fabs(a.value[7]); /* the side of Ng that wi lies on */
    if (!answer_allows(&a, code, 8)) {
        if (ended || a.code == 0)
            return flip_differs(l, "shader", "event", a.code == 0 ? EVENT_ABSORB : EVENT_SCATTER,
                                v->event,
                                unsure > 0 ? unsure / (a.spread[7] + 32 * ULP) : INFINITY);
        return differs(l, "shader", "lobe", 0, a.code, code, INFINITY);
    }
    l->report->compared++;
    if (ended)
        return false;
    double wi_local[3];
    vec_to_local(wi_local, q.frame, v->wi);
    struct ggx_bounds ggx =
        scatter_bounds(&s->arithmetic, s->scene, v->material, v->uv, q.entering, wo, wi_local);
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[i] + direction_roundings(&s->arithmetic) + 2 * ggx.half;
    if (vector_differs(l, "shader", "wi", "xyz", a.value, v->wi, bound))
        return true;
    double relative = bsdf_roundings(&s->arithmetic) + ggx.sampled_density;
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[3 + i] + relative * fabs(a.value[3 + i]) + 1e-36;
    if (vector_differs(l, "shader", "weight", "rgb", &a.value[3], v->weight, bound))
        return true;
    return scalar_differs(l, "shader", "pdf_w", a.value[6], v->pdf_w,
                          a.spread[6] + relative * a.value[6] + 1e-36);
}

/* ---- lists of lobes ------------------------------------------------------------------ */

/* out: contribution of the light sample, unless it is blocked, 3. */
static int ask_list_direct(void *ctx, const double *in, double *out)
{
    const struct list_question *q = ctx;
    struct reference_scattered r;
    list_ask(q, in, true, false, &r);
    double w = q->delta_light ? 1 : mis_weight(q->l->s, q->light_pdf, r.pdf_w);
    for (int c = 0; c < 3; c++)
        out[c] = q->v->beta[c] * r.F[c] * q->Le[c] * w / q->light_pdf;
    return 0;
}

/* The light sample of a list: the side that its number chooses, the light, then f. */
static bool list_direct_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    double u[4], in[LIST_INPUTS], step[LIST_INPUTS], side[3], from[3], at[6], at_step[6];
    struct answer through, a, direct;
    struct reference_scattered r;
    numbers(l, 2 * l->k - 1, u);
    struct list_question q = list_question_of(l, v, NULL, NULL, in, step);
    answer_spread(ask_list, &q, in, step, LIST_INPUTS, 4, &through);
    if (through.code == 0) {
        const double none[3] = {0};
        return vector_differs_by(l, "light", "direct", none, v->direct, 1e-36);
    }
    double t = through.value[3], t_bound = through.spread[3] + list_roundings(s);
    bool lit = v->light != UINT32_MAX && v->light_pdf_w > 0, below = u[3] < t;
    if (lit && below != (vec_dot(v->light_wi, v->Ng) < 0) && fabs(u[3] - t) <= t_bound) {
        below = !below;
        l->report->flips++;
        l->report->flip_margin = fmax(l->report->flip_margin, fabs(u[3] - t) / t_bound);
    }
    double chance = below ? t : 1 - t;
    vec_scale(side, below ? -1 : 1, v->Ng);
    double extent = vertex_extent(l, v);
    vec_madd(from, v->P, 0x1p-19 * extent, side);
    struct light_question question = {.s = s};
    vec_copy(question.Ng, side);
    for (int i = 0; i < 3; i++) {
        at[i] = from[i], at_step[i] = 4 * ULP * extent;
        at[3 + i] = u[i], at_step[3 + i] = 4 * ULP;
    }
    answer_spread(ask_light, &question, at, at_step, 6, 8, &a);
    int code = lit ? (int)(2 * v->light + 1) : -1;
    if (!answer_allows(&a, code, 8))
        return differs(l, "light", "light", 0, a.code < 0 ? -1 : a.code / 2, id_number(v->light),
                       INFINITY);
    l->report->compared++;
    if (code < 0) {
        const double none[3] = {0};
        return vector_differs_by(l, "light", "direct", none, v->direct, 1e-36);
    }
    double bound[3], pdf = a.value[3] * chance;
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[i] + roundings(&s->arithmetic, 32, 1, 1);
    if (vector_differs(l, "light", "light_wi", "xyz", a.value, v->light_wi, bound) ||
        scalar_differs(l, "light", "light_pdf_w", pdf, v->light_pdf_w,
                       a.spread[3] * chance + light_roundings(&s->arithmetic) * pdf +
                           a.value[3] * t_bound))
        return true;

    q = list_question_of(l, v, v->light_wi, NULL, in, step);
    q.light_pdf = v->light_pdf_w;
    q.delta_light = is_delta_light(s, v->light);
    vec_copy(q.Le, &a.value[5]);
    answer_spread(ask_list_direct, &q, in, step, LIST_INPUTS, 3, &direct);
    list_ask(&q, in, true, false, &r);
    radiance_spread(s, v, from, &a);
    double density = list_density(l, v, v->light_wi, r.least);
    for (int c = 0; c < 3; c++) {
        double le = q.Le[c] > 0 ? a.spread[5 + c] / q.Le[c] : 0;
        bound[c] =
            direct.spread[c] + (list_roundings(s) + density + le) * fabs(direct.value[c]) + 1e-36;
    }
    return contribution_differs(l, v, from, &direct, bound, vec_dot(v->light_wi, side), a.value[4]);
}

/* out: unused 3, weight 3 and density of a direction. */
static int ask_list_weight(void *ctx, const double *in, double *out)
{
    struct reference_scattered r;
    list_ask(ctx, in, true, false, &r);
    out[0] = out[1] = out[2] = 0;
    for (int c = 0; c < 3; c++)
        out[3 + c] = r.pdf_w > 0 ? r.F[c] / r.pdf_w : 0;
    out[6] = r.pdf_w;
    return 0;
}

/* out: wi 3, weight 3, pdf, side, q. Code 0: the path ends, 1: reflected, 2: through. */
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
    out[8] = r.q;
    for (int c = 0; c < 3; c++)
        next[c] = q->v->beta[c] * r.weight[c];
    if (!r.ok || !(vec_max(next) > 0))
        return 0;
    return out[7] < 0 ? 2 : 1;
}

static bool list_scatter_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    double u[4], in[LIST_INPUTS], step[LIST_INPUTS], bound[3];
    struct answer a;
    struct reference_scattered r;
    numbers(l, 2 * l->k, u);
    struct list_question q = list_question_of(l, v, NULL, u, in, step);
    answer_spread(ask_list_scatter, &q, in, step, LIST_INPUTS, 9, &a);
    bool ended = v->event == EVENT_ABSORB;
    int code = ended ? 0 : vec_dot(v->wi, v->Ng) < 0 ? 2 : 1;
    double unsure = fabs(a.value[7]);
    if (!answer_allows(&a, code, 9)) {
        if (ended || a.code == 0)
            return flip_differs(l, "shader", "event", a.code == 0 ? EVENT_ABSORB : EVENT_SCATTER,
                                v->event,
                                unsure > 0 ? unsure / (a.spread[7] + 32 * ULP) : INFINITY);
        return differs(l, "shader", "lobe", 0, a.code, code, INFINITY);
    }
    l->report->compared++;
    if (ended)
        return false;
    list_ask(&q, in, false, true, &r);
    double half = list_half(l, r.least);
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[i] +
                   (direction_roundings(&s->arithmetic) + 2 * half) * (code == 2 ? r.index : 1);
    if (vector_differs(l, "shader", "wi", "xyz", a.value, v->wi, bound))
        return true;
    double relative = list_roundings(s), q_of_side = a.value[8] > 0 ? a.value[8] : 1;
    if (!r.delta) { /* f and density of the device's own direction */
        relative += list_density(l, v, v->wi, r.least);
        q = list_question_of(l, v, v->wi, NULL, in, step);
        answer_spread(ask_list_weight, &q, in, step, LIST_INPUTS, 7, &a);
    }
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[3 + i] + relative * fabs(a.value[3 + i]) + 1e-36;
    if (vector_differs(l, "shader", "weight", "rgb", &a.value[3], v->weight, bound) ||
        scalar_differs(l, "shader", "pdf_w", a.value[6], v->pdf_w,
                       a.spread[6] + relative * a.value[6] + 1e-36))
        return true;
    l->pdf_prev = v->pdf_w / q_of_side;
    return false;
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
    double w = q->delta_light ? 1 : mis_weight(q->l->s, q->light_pdf, r.pdf_w);
    for (int c = 0; c < 3; c++)
        out[c] = v->beta[c] * r.F[c] * q->Le[c] * w / q->light_pdf;
    return 0;
}

static bool medium_direct_differs(struct look *l, const struct path_vertex *v)
{
    const struct steps *s = l->s;
    const double none[3] = {0};
    struct light_question question = {.s = s};
    struct answer a, direct;
    double u[4], at[6], at_step[6], bound[3];
    numbers(l, 2 * l->k - 1, u);
    for (int i = 0; i < 3; i++) {
        at[i] = v->P[i], at_step[i] = 4 * ULP * fmax(vec_max_abs(v->P), 0x1p-20);
        at[3 + i] = u[i], at_step[3 + i] = 4 * ULP;
    }
    answer_spread(ask_light, &question, at, at_step, 6, 8, &a);
    int code = v->light != UINT32_MAX && v->light_pdf_w > 0 ? (int)(2 * v->light + 1) : -1;
    if (!answer_allows(&a, code, 8))
        return differs(l, "light", "light", 0, a.code < 0 ? -1 : a.code / 2, id_number(v->light),
                       INFINITY);
    l->report->compared++;
    if (code < 0)
        return vector_differs_by(l, "light", "direct", none, v->direct, 1e-36);
    for (int i = 0; i < 3; i++)
        bound[i] = a.spread[i] + roundings(&s->arithmetic, 32, 1, 1);
    if (vector_differs(l, "light", "light_wi", "xyz", a.value, v->light_wi, bound) ||
        scalar_differs(l, "light", "light_pdf_w", a.value[3], v->light_pdf_w,
                       a.spread[3] + (light_roundings(&s->arithmetic) +
                                      choice_roundings(&s->arithmetic, s->scene)) *
                                         a.value[3]))
        return true;
    struct phase_question q = {
        .l = l, .v = v, .light_pdf = v->light_pdf_w, .delta_light = is_delta_light(s, v->light)};
    const double step[3] = {8 * ULP, 8 * ULP, 8 * ULP};
    vec_copy(q.Le, &a.value[5]);
    answer_spread(ask_phase_direct, &q, v->light_wi, step, 3, 3, &direct);
    radiance_spread(s, v, v->P, &a);
    for (int c = 0; c < 3; c++) {
        double le = q.Le[c] > 0 ? a.spread[5 + c] / q.Le[c] : 0;
        bound[c] =
            direct.spread[c] +
            (2 * phase_roundings(l, v, v->light_wi) + 32 * ULP + le) * fabs(direct.value[c]) +
            1e-36;
    }
    return contribution_differs(l, v, v->P, &direct, bound, 1, a.value[4]);
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
static bool medium_scatter_differs(struct look *l, const struct path_vertex *v)
{
    const struct medium *m = &l->s->scene->materials[v->material].medium;
    const struct arithmetic *arithmetic = &l->s->arithmetic;
    struct phase_question q = {.l = l, .v = v};
    struct reference_scattered r;
    struct answer a;
    double u[4], albedo[3], next[3], g = fabs((double)m->g);
    numbers(l, 2 * l->k, u);
    reference_phase(l->s->reference, v->material, v->direction, NULL, u, &r);
    vec_copy(albedo, r.weight);
    for (int c = 0; c < 3; c++)
        next[c] = v->beta[c] * albedo[c];
    bool ended = v->event == EVENT_ABSORB, ends = !(vec_max(next) > 0);
    if (ended != ends)
        return vec_max(next) > 1e-36 &&
               differs(l, "shader", "event", 0, ends ? EVENT_ABSORB : EVENT_SCATTER, v->event,
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
    if (vector_differs(l, "shader", "wi", "xyz", a.value, v->wi, bound) ||
        vector_differs_by(l, "shader", "weight", albedo, v->weight, 1e-36))
        return true;
    reference_phase(l->s->reference, v->material, v->direction, v->wi, NULL, &r);
    return scalar_differs(l, "shader", "pdf_w", r.pdf_w, v->pdf_w,
                          phase_roundings(l, v, v->wi) * r.pdf_w);
}

/* What kind of ray goes on, by the reference: devices do not say. */
static void follow_raytype(struct look *l, const struct path_vertex *v)
{
    double u[4], in[LIST_INPUTS], step[LIST_INPUTS];
    struct reference_scattered r;
    numbers(l, 2 * l->k, u);
    struct list_question q = list_question_of(l, v, NULL, u, in, step);
    list_ask(&q, in, false, true, &r);
    l->raytype = r.ok ? r.raytype : l->raytype;
}

/* Roulette by the device's own throughput; *q is 1 before rr_depth. */
static bool roulette_differs(struct look *l, const struct path_vertex *v, double *q)
{
    double u[4], beta[3];
    *q = 1;
    if (l->k < l->s->job.rr_depth) {
        if (v->event == EVENT_ROULETTE)
            return differs(l, "roulette", "event", 0, EVENT_SCATTER, v->event, INFINITY);
        return false;
    }
    numbers(l, 2 * l->k, u);
    for (int c = 0; c < 3; c++)
        beta[c] = v->beta[c] * v->weight[c];
    *q = fmin(0.95, vec_max(beta));
    bool ends = u[3] >= *q;
    l->report->compared++;
    if (ends == (v->event == EVENT_ROULETTE))
        return false;
    return flip_differs(l, "roulette", "event", ends ? EVENT_ROULETTE : EVENT_SCATTER, v->event,
                        fabs(u[3] - *q) / (4 * ULP * *q));
}

/* The ray that leaves v is the one that arrives at the next vertex, and so is the throughput. */
static bool hand_over_differs(struct look *l, const struct path_vertex *v,
                              const struct path_vertex *next, double q)
{
    double o[3], beta[3], bound[3], extent = 0, side = vec_dot(v->wi, v->Ng) < 0 ? -1 : 1;
    bool surface = v->primitive != UINT32_MAX;
    if (surface)
        extent = vertex_extent(l, v);
    vec_madd(o, v->P, side * 0x1p-19 * extent, v->Ng);
    /* one value written twice; outside strict a compiler may compute it twice, contracted in two
     * ways */
    double wi_bound =
        l->s->job.launch.mode == MODE_STRICT ? 1e-300 : roundings(&l->s->arithmetic, 32, 1, 1);
    for (int c = 0; c < 3; c++) {
        beta[c] = v->beta[c] * v->weight[c] / q;
        bound[c] = roundings(&l->s->arithmetic, 8, 1, 0) * fabs(beta[c]) + 1e-36;
    }
    if (l->s->media) { /* what absorbs on the way comes first */
        vec_copy(l->beta, beta);
        vec_copy(l->beta_bound, bound);
        l->media = surface && side < 0 ? media_beyond(l, v) : v->media;
    }
    return vector_differs_by(l, "path", "origin", o, next->origin, 2 * ULP * extent + 1e-300) ||
           vector_differs_by(l, "path", "direction", v->wi, next->direction, wi_bound) ||
           (!l->s->media && vector_differs(l, "roulette", "beta", "rgb", beta, next->beta, bound));
}

static bool is_delta(enum material_type t)
{
    return t == MATERIAL_MIRROR || t == MATERIAL_DIELECTRIC;
}

static bool vertex_differs(struct look *l, const struct path_vertex *v, size_t i, size_t count)
{
    const uint32_t max_depth = l->s->job.max_depth;
    double q;
    const bool inside = v->primitive == UINT32_MAX && v->material != UINT32_MAX;
    const bool missed = v->primitive == UINT32_MAX && !inside;
    l->length += missed ? 0 : v->t;
    if (v->k != l->k || l->k > max_depth)
        return differs(l, "path", "length", 0, fmin(l->k, max_depth), v->k, INFINITY);
    if (i == 0 && camera_differs(l, v))
        return true;
    if (v->primitive != UINT32_MAX && v->primitive >= scene_effective_count(l->s->scene))
        return differs(l, "traversal", "primitive", 0, -1, v->primitive, INFINITY);
    if (l->s->media ? flight_differs(l, v) : hit_differs(l, v))
        return true;
    if (!inside && emission_differs(l, v, i ? v - 1 : NULL))
        return true;
    bool last = i + 1 == count;
    if (missed || l->k == max_depth ||
        (!inside && material_of(l->s->scene, v->primitive)->interface)) {
        uint32_t event = missed ? EVENT_MISS : EVENT_ABSORB;
        return v->event != event && differs(l, "path", "event", 0, event, v->event, INFINITY);
    }
    bool list = !inside && runs_list(l->s, v);
    l->pdf_prev = v->pdf_w;
    if (inside && (medium_direct_differs(l, v) || medium_scatter_differs(l, v)))
        return true;
    if (list && (list_direct_differs(l, v) || list_scatter_differs(l, v)))
        return true;
    if (!list && !inside && !is_delta(material_of(l->s->scene, v->primitive)->type) &&
        direct_differs(l, v))
        return true;
    if (!list && !inside && scatter_differs(l, v))
        return true;
    if (l->s->shaded && !inside)
        follow_raytype(l, v);
    if (v->event == EVENT_ABSORB)
        return !last && differs(l, "path", "length", 0, l->k, (double)count, INFINITY);
    if (roulette_differs(l, v, &q))
        return true;
    if (v->event == EVENT_ROULETTE || last)
        return last == (v->event == EVENT_SCATTER) &&
               differs(l, "path", "length", 0, l->k + (v->event == EVENT_SCATTER), (double)count,
                       INFINITY);
    return hand_over_differs(l, v, v + 1, q);
}

void steps_check(const struct steps *s, uint32_t x, uint32_t y, uint32_t sample,
                 const struct path_vertex *vertices, size_t count, const double L[3],
                 struct step_report *out)
{
    struct step_report report = {.worst_field = "", .stage = "", .field = ""};
    struct look l = {.s = s,
                     .x = x,
                     .y = y,
                     .sample = sample,
                     .report = &report,
                     .raytype = 1 /* camera */,
                     .media = reference_camera_media(s->reference),
                     .beta = {1, 1, 1}};
    double sum[3] = {0}, size[3] = {0}, bound[3];
    for (size_t i = 0; i < count; i++) {
        l.k = (uint32_t)i + 1;
        if (vertex_differs(&l, &vertices[i], i, count)) {
            *out = report;
            return;
        }
        for (int c = 0; c < 3; c++) {
            sum[c] += vertices[i].emitted[c] + vertices[i].direct[c];
            size[c] += fabs(vertices[i].emitted[c]) + fabs(vertices[i].direct[c]);
        }
    }
    if (count == 0)
        differs(&l, "path", "length", 0, 1, 0, INFINITY);
    for (int c = 0; c < 3; c++)
        bound[c] = (double)(2 * count + 2) * ULP * size[c] + 1e-36;
    double most = (double)s->scene->clamp, largest = vec_max(sum);
    if (most > 0 && largest * (1 + 16 * ULP) > most) { /* the scene's clamp: no channel moves more
                                                          than all of them did, and two roundings */
        double room = bound[0] + bound[1] + bound[2] + roundings(&s->arithmetic, 4, 1, 0) * most;
        for (int c = 0; c < 3; c++) {
            bound[c] = room;
            sum[c] *= fmin(1, most / largest);
        }
    }
    if (!report.found)
        vector_differs(&l, "sum", "L", "rgb", sum, L, bound);
    *out = report;
}
