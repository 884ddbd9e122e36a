/* SPDX-License-Identifier: Apache-2.0 */
/* steps_ties.c: faces that lie on one another. Which of two a ray meets there is rounding's to
 * say, and devices round apart. */
#include "steps_look.h"
#include "vector.h"

/* Do both hits mean the same for a path, so that it does not matter which one is met? One material
 * that sends no light, the same normals and uv within twice their bounds, rays that leave from the
 * same place. Vertex colours are not looked at: no face with them is like another. */
static bool alike(const struct steps *s, const double o[3], const double d[3],
                  const struct reference_hit *a, const struct reference_hit *b,
                  const struct hit_bounds *bounds)
{
    const struct scene *scene = s->scene;
    double Ng[3], Ns[3];
    vec_madd(Ng, a->Ng, -1, b->Ng);
    vec_madd(Ns, a->Ns, -1, b->Ns);
    return !primitive_has_colors(scene, a->primitive) &&
           !primitive_has_colors(scene, b->primitive) &&
           scene_material_of(scene, a->primitive) == scene_material_of(scene, b->primitive) &&
           !material_emits(steps_material(scene, a->primitive)) &&
           vec_max_abs(Ng) <= 2 * bounds->Ng && vec_max_abs(Ns) <= 2 * bounds->Ns &&
           fabs(a->uv[0] - b->uv[0]) <= 2 * bounds->uv[0] &&
           fabs(a->uv[1] - b->uv[1]) <= 2 * bounds->uv[1] &&
           fabs(offset_extent(scene, a->primitive, o, d, a->t, a->P) -
                offset_extent(scene, b->primitive, o, d, b->t, b->P)) <= bounds->P;
}

/* Do they lie in one plane? Normals by their bounds, and by what rounding of its corners' places
 * turns a face. Where faces meet at an edge, depths that are near each other are no tie. */
static bool parallel(const struct steps *s, const struct reference_hit *a,
                     const struct reference_hit *b, const struct hit_bounds *bounds)
{
    double n[3],
        area = fmin(primitive_area(s->scene, a->primitive), primitive_area(s->scene, b->primitive));
    vec_cross(n, a->Ng, b->Ng);
    return vec_length(n) <= 2 * (bounds->Ng + bounds->position / sqrt(area));
}

bool look_tied_hit(const struct steps *s, const double o[3], const double d[3],
                   const struct reference_hit *first, struct reference_hit *other)
{
    struct hit_bounds b;
    if (other->primitive == UINT32_MAX)
        *other = *first;
    hit_bounds(&s->arithmetic, s->scene, first->primitive, o, d, first->t, first->P, first->Ng, &b);
    do { /* both depths are off by their bound */
        const struct reference_hit last = *other;
        reference_hit_next(s->reference, o, d, &last, first->t + 2 * b.t, other);
    } while (other->primitive != UINT32_MAX &&
             (!parallel(s, first, other, &b) || alike(s, o, d, first, other, &b)));
    return other->primitive != UINT32_MAX;
}

static bool ray_ties(const struct steps *s, const double o[3], const double d[3])
{
    struct reference_hit first, other = {.primitive = UINT32_MAX};
    reference_hit_closest(s->reference, o, d, INFINITY, &first);
    return first.primitive != UINT32_MAX && look_tied_hit(s, o, d, &first, &other);
}

static bool way_ties(const struct steps *s, const struct reference_way *w, const double d[3])
{
    bool ties = false;
    for (uint32_t i = 0; i < w->count && !ties; i++)
        ties = w->part[i].primitive != UINT32_MAX && ray_ties(s, w->part[i].o, d);
    return ties;
}

/* Of the light sample's way through media. */
static bool light_way_ties(const struct look *l, const struct path_vertex *v)
{
    double u[4], side[3] = {0}, P[3], wi[3], distance, pdf, Le[3];
    uint32_t light, media = v->media;
    struct reference_way way;
    if (v->light == UINT32_MAX || !(v->light_pdf_w > 0))
        return false;
    vec_copy(P, v->P);
    if (v->primitive != UINT32_MAX) {
        bool through = vec_dot(v->light_wi, v->Ng) < 0;
        vec_scale(side, through ? -1 : 1, v->Ng);
        if (through)
            media = look_media_beyond(l, v);
    }
    look_numbers(l, 2 * l->k - 1, u);
    if (!reference_light_sample(l->s->reference, P, side, u, &light, wi, &distance, &pdf, Le))
        return false;
    if (v->primitive != UINT32_MAX)
        vec_madd(P, P, 0x1p-19 * look_extent(l, v), side);
    reference_see(l->s->reference, P, v->light_wi, distance, media, &way);
    return way_ties(l->s, &way, v->light_wi);
}

/* ---- the other ways ------------------------------------------------------------------------- */

/* From the start of part i: what of the light is left there, how far that is, where the path is. */
static double way_before(const struct tied_ways *q, const struct reference_way *w, uint32_t i,
                         double left[3], double *tau, uint32_t *media)
{
    double t = 0, A[3] = {0};
    *tau = 0, *media = q->media;
    for (uint32_t k = 0; k <= i; k++) {
        t += w->part[k].t;
        *tau += w->part[k].density * w->part[k].t;
        for (int c = 0; c < 3; c++)
            A[c] += w->part[k].absorption[c] * w->part[k].t;
        if (k < i)
            *media = reference_media_cross(q->s->reference, *media,
                                           scene_material_of(q->s->scene, w->part[k].primitive),
                                           !(vec_dot(w->part[k].Ng, q->d) > 0));
    }
    for (int c = 0; c < 3; c++)
        left[c] = exp(-A[c] - (q->sees ? *tau : 0));
    return t;
}

/* w becomes the way that meets `other` at the end of its part i, and goes on as the reference does.
 */
static void meet_other(const struct tied_ways *q, uint32_t i, const struct reference_hit *other,
                       struct reference_way *w)
{
    const struct scene *scene = q->s->scene;
    const uint32_t material = scene_material_of(scene, other->primitive);
    struct reference_way rest;
    double left[3], tau, o[3];
    uint32_t media;
    w->part[i].primitive = other->primitive, w->part[i].t = other->t;
    vec_copy(w->part[i].P, other->P), vec_copy(w->part[i].Ng, other->Ng);
    const double t = way_before(q, w, i, left, &tau, &media);
    w->count = i + 1;
    w->hit = *other;
    w->hit.t = t;
    w->material = material, w->media = media;
    vec_scale(w->left, q->sees ? 0 : 1, left);
    if (!scene->materials[material].interface || w->count == REFERENCE_PARTS)
        return;
    const bool enters = !(vec_dot(other->Ng, q->d) > 0);
    media = reference_media_cross(q->s->reference, media, material, enters);
    vec_madd(o, other->P,
             (enters ? -0x1p-19 : 0x1p-19) *
                 offset_extent(scene, other->primitive, w->part[i].o, q->d, other->t, other->P),
             other->Ng);
    if (q->sees)
        reference_see(q->s->reference, o, q->d, q->distance - t, media, &rest);
    else
        reference_fly(q->s->reference, o, q->d, -expm1(fmin(0, tau - q->tau)), media, &rest);
    for (uint32_t k = 0; k < rest.count && w->count < REFERENCE_PARTS; k++)
        w->part[w->count++] = rest.part[k];
    w->hit = rest.hit;
    w->hit.t += t;
    w->material = rest.material, w->media = rest.media;
    for (int c = 0; c < 3; c++)
        w->left[c] = left[c] * rest.left[c];
}

/* Asks of w with another face at the end of part `from` or of a later one, of `more` at most. */
static bool ask_others(const struct tied_ways *q, const struct reference_way *w, uint32_t from,
                       unsigned more)
{
    for (uint32_t i = from; i < w->count; i++) {
        struct reference_hit first, other = {.primitive = UINT32_MAX};
        if (w->part[i].primitive == UINT32_MAX)
            continue;
        reference_hit_closest(q->s->reference, w->part[i].o, q->d, INFINITY, &first);
        while (first.primitive != UINT32_MAX &&
               look_tied_hit(q->s, w->part[i].o, q->d, &first, &other)) {
            struct reference_way way = *w;
            meet_other(q, i, &other, &way);
            if (q->agrees(q->ctx, &way) || (more > 1 && ask_others(q, &way, i + 1, more - 1)))
                return true;
        }
    }
    return false;
}

bool look_tied_ways(const struct tied_ways *q, const struct reference_way *w)
{
    enum { MOST = 4 }; /* ties on one way */
    return ask_others(q, w, 0, MOST);
}

/* ---- pictures ------------------------------------------------------------------------------- */

bool steps_tied(const struct steps *s, uint32_t x, uint32_t y, uint32_t sample,
                const struct path_vertex *vertices, size_t count)
{
    struct look l = {
        .s = s, .x = x, .y = y, .sample = sample, .media = reference_camera_media(s->reference)};
    bool ties = false;
    for (size_t i = 0; i < count && !ties; i++) {
        const struct path_vertex *v = &vertices[i];
        struct reference_way way;
        double u[4];
        l.k = (uint32_t)i + 1;
        if (!s->media) {
            ties = ray_ties(s, v->origin, v->direction);
            continue;
        }
        look_numbers(&l, LOOK_FLIGHT_BLOCK(l.k), u);
        reference_fly(s->reference, v->origin, v->direction, u[0], l.media, &way);
        vec_copy(l.leg_o, way.part[way.count - 1].o);
        l.leg_t = way.part[way.count - 1].t;
        ties = way_ties(s, &way, v->direction) || light_way_ties(&l, v);
        l.media = look_media_after(&l, v);
    }
    return ties;
}
