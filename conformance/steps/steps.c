/* SPDX-License-Identifier: Apache-2.0 */
#include "steps_look.h"
#include "vector.h"

#include <stdlib.h>

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
    n->arithmetic = arithmetic_of(device, job->set.build.mode);
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
        if (material_emits(steps_material(s, (uint32_t)i)))
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

bool steps_is_delta_light(const struct steps *s, uint32_t light)
{
    return light >= s->area_lights && light - s->area_lights < s->scene->light_count;
}

double steps_mis_weight(const struct steps *s, double a, double b)
{
    double ratio = b / a;
    return 1 / (1 + (s->scene->mis == MIS_BALANCE ? ratio : ratio * ratio));
}

/* ---- saying what differs ------------------------------------------------------------- */

void look_numbers(const struct look *l, uint32_t block, double u[4])
{
    const uint32_t counter[4] = {l->x, l->y, l->sample, block};
    const uint32_t key[2] = {(uint32_t)l->s->job.seed, (uint32_t)(l->s->job.seed >> 32)};
    uint32_t words[4];
    philox4x32(counter, key, words);
    for (int i = 0; i < 4; i++)
        u[i] = u01(words[i]);
}

bool look_differs(struct look *l, const char *stage, const char *field, char component,
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

bool look_scalar_differs(struct look *l, const char *stage, const char *field, double reference,
                         double device, double bound)
{
    double apart = fabs(reference - device);
    double margin = reference == device ? 0 : apart / bound;
    return look_differs(l, stage, field, 0, reference, device, isnan(margin) ? INFINITY : margin);
}

bool look_vector_differs(struct look *l, const char *stage, const char *field, const char *names,
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
    return look_differs(l, stage, field, names[at], reference[at], device[at], worst);
}

bool look_vector_differs_by(struct look *l, const char *stage, const char *field,
                            const double reference[3], const double device[3], double bound)
{
    const double b[3] = {bound, bound, bound};
    return look_vector_differs(l, stage, field, "xyz", reference, device, b);
}

bool look_flip_differs(struct look *l, const char *stage, const char *field, double reference,
                       double device, double margin)
{
    if (look_differs(l, stage, field, 0, reference, device, margin))
        return true;
    l->report->flips++;
    l->report->flip_margin = fmax(l->report->flip_margin, margin);
    return false;
}
/* ---- paths -------------------------------------------------------------------------- */

/* Roulette by the device's own throughput; *q is 1 before rr_depth. */
static bool roulette_differs(struct look *l, const struct path_vertex *v, double *q)
{
    double u[4], beta[3];
    *q = 1;
    if (l->k < l->s->job.rr_depth) {
        if (v->event == EVENT_ROULETTE)
            return look_differs(l, "roulette", "event", 0, EVENT_SCATTER, v->event, INFINITY);
        return false;
    }
    look_numbers(l, 2 * l->k, u);
    for (int c = 0; c < 3; c++)
        beta[c] = v->beta[c] * v->weight[c];
    *q = fmin(0.95, vec_max(beta));
    bool ends = u[3] >= *q;
    l->report->compared++;
    if (ends == (v->event == EVENT_ROULETTE))
        return false;
    return look_flip_differs(l, "roulette", "event", ends ? EVENT_ROULETTE : EVENT_SCATTER,
                             v->event, fabs(u[3] - *q) / (4 * ULP * *q));
}

/* The ray that leaves v is the one that arrives at the next vertex, and so is the throughput. */
static bool hand_over_differs(struct look *l, const struct path_vertex *v,
                              const struct path_vertex *next, double q)
{
    double o[3], beta[3], bound[3], extent = 0, side = vec_dot(v->wi, v->Ng) < 0 ? -1 : 1;
    bool surface = v->primitive != UINT32_MAX;
    if (surface)
        extent = look_extent(l, v);
    vec_madd(o, v->P, side * 0x1p-19 * extent, v->Ng);
    /* one value written twice; outside strict a compiler may compute it twice, contracted in two
     * ways */
    double wi_bound =
        l->s->job.set.build.mode == MODE_STRICT ? 1e-300 : roundings(&l->s->arithmetic, 32, 1, 1);
    for (int c = 0; c < 3; c++) {
        beta[c] = v->beta[c] * v->weight[c] / q;
        bound[c] = roundings(&l->s->arithmetic, 8, 1, 0) * fabs(beta[c]) + 1e-36;
    }
    if (l->s->media) { /* what absorbs on the way comes first */
        vec_copy(l->beta, beta);
        vec_copy(l->beta_bound, bound);
        l->media = look_media_after(l, v);
    }
    return look_vector_differs_by(l, surface ? "surface" : "path", surface ? "offset" : "origin", o,
                                  next->origin, 2 * ULP * extent + 1e-300) ||
           look_vector_differs_by(l, "path", "direction", v->wi, next->direction, wi_bound) ||
           (!l->s->media &&
            look_vector_differs(l, "roulette", "beta", "rgb", beta, next->beta, bound));
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
        return look_differs(l, "path", "length", 0, fmin(l->k, max_depth), v->k, INFINITY);
    if (i == 0 && camera_differs(l, v))
        return true;
    if (v->primitive != UINT32_MAX && v->primitive >= scene_effective_count(l->s->scene))
        return look_differs(l, "traversal", "primitive", 0, -1, v->primitive, INFINITY);
    if (l->s->media ? flight_differs(l, v) : hit_differs(l, v))
        return true;
    if (!inside && emission_differs(l, v, i ? v - 1 : NULL))
        return true;
    bool last = i + 1 == count;
    if (missed || l->k == max_depth ||
        (!inside && steps_material(l->s->scene, v->primitive)->interface)) {
        uint32_t event = missed ? EVENT_MISS : EVENT_ABSORB;
        return v->event != event && look_differs(l, "path", "event", 0, event, v->event, INFINITY);
    }
    bool list = !inside && runs_list(l->s, v);
    l->pdf_prev = v->pdf_w;
    l->pdf_prev_error = 0;
    if (inside && (medium_direct_differs(l, v) || medium_scatter_differs(l, v)))
        return true;
    if (list && (list_direct_differs(l, v) || list_scatter_differs(l, v)))
        return true;
    if (!list && !inside && !is_delta(steps_material(l->s->scene, v->primitive)->type) &&
        direct_differs(l, v))
        return true;
    if (!list && !inside && scatter_differs(l, v))
        return true;
    if (l->s->shaded && !inside && !list)
        follow_raytype(l, v);
    if (v->event == EVENT_ABSORB)
        return !last && look_differs(l, "path", "length", 0, l->k, (double)count, INFINITY);
    if (roulette_differs(l, v, &q))
        return true;
    if (v->event == EVENT_ROULETTE || last)
        return last == (v->event == EVENT_SCATTER) &&
               look_differs(l, "path", "length", 0, l->k + (v->event == EVENT_SCATTER),
                            (double)count, INFINITY);
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
        look_differs(&l, "path", "length", 0, 1, 0, INFINITY);
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
        look_vector_differs(&l, "sum", "L", "rgb", sum, L, bound);
    *out = report;
}
