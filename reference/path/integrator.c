/* SPDX-License-Identifier: Apache-2.0 */
#include "path.h"

#include "numbers/offers.h"
#include "shading/shading.h"

static const double NO_PDF = -1; /* pdf_prev of camera rays and delta lobes */

/* Power heuristic with exponent 2 (Veach 1997, 9.2.4), or the balance heuristic; 1 if a is none. */
static double mis_weight(const struct reference *r, double a, double b)
{
    if (a == NO_PDF)
        return 1;
    double ratio = b / a;
    return 1 / (1 + (r->scene->mis == MIS_BALANCE ? ratio : ratio * ratio));
}

/* How much of the light from `distance` away arrives. */
static struct vec3 visible(const struct reference *r, struct ray ray, double distance,
                           const struct media_list *media)
{
    if (r->media)
        return media_visible(r->scene, r->candidates, ray, distance, *media, NULL);
    struct probe shadow = probe_make(ray);
    return gray(candidates_any(r->candidates, &shadow, 0.9999 * distance) ? 0 : 1);
}

/* Contribution of one light sample, before beta. */
static struct vec3 direct_light(const struct reference *r, const struct surface *at,
                                const struct media_list *media, const double u[4],
                                struct path_vertex *v)
{
    struct light_sample light;
    double q;
    bool through = lobes_side(&at->lobes, u[3], &q);
    struct vec3 side = through ? negate(at->hit.Ng) : at->hit.Ng;
    struct vec3 from = offset_point(at->hit.P, at->hit.extent, side);
    bool lit = light_sample(&r->lights, from, side, u, &light);
    v->light = light.light;
    if (!lit)
        return gray(0);
    light.pdf_w *= q;
    to_double(light.wi, v->light_wi);
    v->light_pdf_w = light.pdf_w;
    if (dot(light.wi, side) <= 0)
        return gray(0);

    double pdf_bsdf;
    struct vec3 F = lobes_eval(&at->lobes, light.wi, &pdf_bsdf);
    double weight = light.delta ? 1 : mis_weight(r, light.pdf_w, pdf_bsdf);
    double factor = weight / light.pdf_w;
    struct vec3 L = scale(factor, mul(F, light.Le));
    if (is_zero(L))
        return gray(0);
    struct media_list list = *media;
    if (through)
        media_cross(&list, r->scene, v->material, !at->backfacing);
    struct vec3 V = visible(r, (struct ray){from, light.wi}, light.distance, &list);
    v->visible = max3(V) > 0;
    return mul(V, L);
}

/* The same in a medium, where all directions count. */
static struct vec3 direct_in_medium(const struct reference *r, const struct medium *m,
                                    struct vec3 P, struct vec3 d, const struct media_list *media,
                                    const double u[4], struct path_vertex *v)
{
    struct light_sample light;
    bool lit = light_sample(&r->lights, P, gray(0), u, &light);
    v->light = light.light;
    if (!lit)
        return gray(0);
    to_double(light.wi, v->light_wi);
    v->light_pdf_w = light.pdf_w;
    double p = phase_eval((double)m->g, dot(d, light.wi));
    struct vec3 L = mul(scale(p, from_float(m->albedo)), light.Le);
    if (is_zero(L))
        return gray(0);
    struct vec3 V = visible(r, (struct ray){P, light.wi}, light.distance, media);
    v->visible = max3(V) > 0;
    double weight = light.delta ? 1 : mis_weight(r, light.pdf_w, p);
    return mul(scale(weight / light.pdf_w, V), L);
}

static const uint32_t CAMERA_RAY = 1; /* bits of asl_globals.raytype */

static uint32_t ray_type(enum ray_kind kind, uint32_t before)
{
    static const char *const names[] = {"", "diffuse", "glossy", "reflection", "refraction"};
    return kind == RAY_STRAIGHT ? before : asl_raytype_bit(names[kind]);
}

static void log_vertex(struct path_log *log, const struct path_vertex *v)
{
    if (log && log->count < log->capacity)
        log->vertices[log->count++] = *v;
}

/* The camera ray of a sample, with what shaders want to know of it. */
static struct arrival camera_arrival(const struct reference *r, const struct reference_job *job,
                                     uint32_t x, uint32_t y, uint32_t sample)
{
    const struct camera *c = &r->scene->camera;
    const uint32_t w = job->width, h = job->height;
    double u[4], at[2];
    random_block(job->seed, x, y, sample, 0, u);
    film_position(&r->filter, x, y, u, at);
    struct arrival from = {.ray = camera_ray(c, w, h, at, u + 2),
                           .raytype = CAMERA_RAY,
                           .place = {job->seed, x, y, sample, 1},
                           .width = w,
                           .height = h};
    if (r->shaders->shaded) {
        from.dx = camera_ray(c, w, h, (const double[2]){at[0] + 1, at[1]}, u + 2);
        from.dy = camera_ray(c, w, h, (const double[2]){at[0], at[1] + 1}, u + 2);
        from.pixel = camera_footprint(c, w, h);
    }
    return from;
}

/* A path on its way: the sample that it is of; its ray to the next vertex, with what shaders want to
 * know of it; its throughput, and what it has gathered. */
struct walk {
    const struct reference_job *job;
    uint32_t x, y, sample;
    struct arrival from;
    struct vec3 beta, L;
    struct vec3 side; /* the normal that the ray's origin was offset along; 0: none */
    struct media_list media;
    double pdf_prev;
};

static void walk_random(const struct walk *w, uint32_t block, double u[4])
{
    random_block(w->job->seed, w->x, w->y, w->sample, block, u);
}

static void first_vertex_set(const struct reference *r, const struct walk *w, const struct hit *hit,
                             const struct surface *at, struct first_vertex *out)
{
    const struct random_place place = {w->job->seed, w->x, w->y, w->sample, 1};
    *out = (struct first_vertex){
        .albedo = lobes_albedo(&at->lobes), .normal = at->normal, .depth = hit->t};
    surface_axes(r->scene, hit->primitive, hit->Ng, &out->U, &out->V);
    if (w->job->passes & 1u << PASS_AO)
        out->open = 1 - occlusion(r->scene, r->candidates, &place,
                                  offset_point(at->hit.P, at->hit.extent, at->hit.Ng), at->hit.Ng,
                                  at->normal, 1, (double)passes_ao_distance(r->scene), NULL);
}

/* What comes after the ray to vertex k. */
static struct flight fly(const struct reference *r, struct walk *w, uint32_t k)
{
    const struct ray *ray = &w->from.ray;
    if (r->media) {
        double u[4];
        walk_random(w, MORE_BLOCKS + 8 * k, u);
        return media_fly(r->scene, r->candidates, ray, u[0], &w->media, NULL);
    }
    struct probe probe = probe_make(*ray);
    struct crossing crossing;
    if (!candidates_closest(r->candidates, &probe, INFINITY, &crossing))
        return (struct flight){.end = FLIGHT_MISS, .transmittance = gray(1)};
    return (struct flight){FLIGHT_SURFACE, hit_at(r->scene, &probe, &crossing), gray(1)};
}

/* Does the path go on after vertex k? Its throughput then makes up for those that do not. */
static bool survives(struct walk *w, uint32_t k, double u)
{
    if (k < w->job->rr_depth)
        return true;
    double q = fmin(0.95, max3(w->beta));
    if (u >= q)
        return false;
    w->beta = scale(1 / q, w->beta);
    return true;
}

/* The end of a path that meets nothing. */
static void miss_vertex(const struct reference *r, struct walk *w, struct path_vertex *v)
{
    double pdf_light;
    struct vec3 Le = light_environment(&r->lights, w->from.ray.d, &pdf_light);
    struct vec3 emitted = scale(mis_weight(r, w->pdf_prev, pdf_light), mul(w->beta, Le));
    to_double(emitted, v->emitted);
    v->event = EVENT_MISS;
    w->L = add(w->L, emitted);
}

/* A vertex in a medium; true if the path goes on. */
static bool medium_vertex(const struct reference *r, struct walk *w, const struct hit *at,
                          struct path_vertex *v)
{
    const struct medium *m = media_innermost(&w->media, r->scene, &v->material);
    double u[4];
    w->from.length += at->t;
    v->t = at->t;
    to_double(at->P, v->P);
    v->event = EVENT_ABSORB;
    if (v->k == w->job->max_depth)
        return false;
    walk_random(w, 2 * v->k - 1, u);
    struct vec3 direct =
        mul(w->beta, direct_in_medium(r, m, at->P, w->from.ray.d, &w->media, u, v));
    to_double(direct, v->direct);
    w->L = add(w->L, direct);
    walk_random(w, 2 * v->k, u);
    struct vec3 weight = from_float(m->albedo), wi;
    if (is_zero(mul(w->beta, weight)))
        return false;
    w->beta = mul(w->beta, weight);
    wi = phase_sample((double)m->g, w->from.ray.d, u[1], u[2], &w->pdf_prev);
    to_double(wi, v->wi), to_double(weight, v->weight);
    v->pdf_w = w->pdf_prev;
    bool goes_on = survives(w, v->k, u[3]);
    v->event = goes_on ? EVENT_SCATTER : EVENT_ROULETTE;
    w->from.ray = (struct ray){at->P, wi};
    w->side = gray(0);
    return goes_on;
}

/* A vertex on a surface, up to what it emits. */
static void surface_vertex(const struct reference *r, struct walk *w, struct shader_thread *shaders,
                           const struct hit *hit, struct surface *at, struct text *shading,
                           struct path_vertex *v)
{
    double pdf_light;
    struct vec3 Le = light_emission(&r->lights, &w->from.ray, w->side, hit, &pdf_light);
    struct vec3 emitted = scale(mis_weight(r, w->pdf_prev, pdf_light), mul(w->beta, Le));
    w->L = add(w->L, emitted);

    w->from.k = v->k, w->from.length += hit->t;
    surface_shade(shaders, r->scene, &r->lights.environment, &w->from, hit, at, shading);
    struct vec3 glow = mul(w->beta, at->emitted);
    w->L = add(w->L, glow);
    emitted = add(emitted, glow);
    v->primitive = hit->primitive;
    v->material = scene_material_of(r->scene, hit->primitive);
    v->t = hit->t, v->uv[0] = hit->uv[0], v->uv[1] = hit->uv[1];
    to_double(hit->P, v->P), to_double(at->hit.Ng, v->Ng), to_double(at->normal, v->Ns);
    to_double(emitted, v->emitted);
    v->event = EVENT_ABSORB;
}

/* The light that is sent on from there, and the ray that leaves; true if the path goes on. */
static bool surface_scatter(const struct reference *r, struct walk *w, const struct hit *hit,
                            const struct surface *at, struct path_vertex *v)
{
    double u[4];
    if (v->k == w->job->max_depth || r->scene->materials[v->material].interface)
        return false;
    if (lobes_lit(&at->lobes)) {
        walk_random(w, 2 * v->k - 1, u);
        struct vec3 direct = mul(w->beta, direct_light(r, at, &w->media, u, v));
        to_double(direct, v->direct);
        w->L = add(w->L, direct);
    }
    struct lobes_sample next;
    walk_random(w, 2 * v->k, u);
    if (!lobes_sample(&at->lobes, u, &next) || is_zero(mul(w->beta, next.weight)))
        return false;
    w->beta = mul(w->beta, next.weight);
    to_double(next.wi, v->wi), to_double(next.weight, v->weight);
    v->pdf_w = next.pdf_w;
    v->event = EVENT_SCATTER;
    if (!survives(w, v->k, u[3])) {
        v->event = EVENT_ROULETTE;
        return false;
    }
    w->side = next.transmitted ? negate(at->hit.Ng) : at->hit.Ng;
    w->from.ray = (struct ray){offset_point(hit->P, hit->extent, w->side), next.wi};
    if (next.transmitted)
        media_cross(&w->media, r->scene, v->material, !at->backfacing);
    w->pdf_prev = next.delta ? NO_PDF : next.pdf_w / next.q;
    w->from.raytype = ray_type(next.ray, w->from.raytype);
    return true;
}

struct vec3 path_radiance(const struct reference *r, const struct reference_job *job,
                          struct shader_thread *shaders, uint32_t x, uint32_t y, uint32_t sample,
                          struct first_vertex *first, struct path_log *log)
{
    struct walk w = {.job = job,
                     .x = x,
                     .y = y,
                     .sample = sample,
                     .from = camera_arrival(r, job, x, y, sample),
                     .beta = gray(1),
                     .L = gray(0),
                     .side = gray(0),
                     .media = r->camera_media,
                     .pdf_prev = NO_PDF};
    bool goes_on = true;
    for (uint32_t k = 1; goes_on && k <= job->max_depth; k++) {
        struct path_vertex v = {
            .k = k, .primitive = NO_PRIMITIVE, .material = UINT32_MAX, .light = NO_LIGHT};
        to_double(w.from.ray.o, v.origin), to_double(w.from.ray.d, v.direction);

        struct flight flight = fly(r, &w, k);
        w.beta = mul(w.beta, flight.transmittance);
        if (log)
            v.media = media_pack(&w.media, r->scene);
        to_double(w.beta, v.beta);
        const struct hit *hit = &flight.hit;
        if (flight.end == FLIGHT_MISS) {
            miss_vertex(r, &w, &v);
            goes_on = false;
        } else if (flight.end == FLIGHT_MEDIUM) {
            goes_on = medium_vertex(r, &w, hit, &v);
            if (k == 1)
                *first = (struct first_vertex){
                    .albedo = from_float(r->scene->materials[v.material].medium.albedo),
                    .depth = hit->t};
        } else {
            struct surface at;
            surface_vertex(r, &w, shaders, hit, &at, log ? log->shading : NULL, &v);
            if (k == 1)
                first_vertex_set(r, &w, hit, &at, first);
            goes_on = surface_scatter(r, &w, hit, &at, &v);
        }
        log_vertex(log, &v);
    }
    return w.L;
}

double clamp_factor(const struct reference *r, struct vec3 L)
{
    double largest = max3(L), most = (double)r->scene->clamp;
    return most > 0 && largest > most ? most / largest : 1;
}

struct vec3 film_value(const struct reference *r, struct vec3 L)
{
    L = scale(clamp_factor(r, L), L);
    if (!isfinite(L.x) || !isfinite(L.y) || !isfinite(L.z))
        return gray(0);
    return vec3(clamp(L.x, 0, r->film_limit), clamp(L.y, 0, r->film_limit),
                clamp(L.z, 0, r->film_limit));
}

/* ---- one vertex by itself ------------------------------------------------------------------- */

static double least_alpha(const struct lobes *l)
{
    double least = 1;
    for (unsigned i = 0; i < l->count; i++) {
        const struct lobe *x = &l->lobe[i];
        bool base = x->kind == LOBE_BASE && (x->base.type == MATERIAL_ROUGH_CONDUCTOR ||
                                             x->base.type == MATERIAL_PRINCIPLED);
        if (!x->delta)
            least = fmin(least, base ? x->base.alpha : x->ax > 0 ? fmin(x->ax, x->ay) : 1);
    }
    return least;
}

static double largest_index(const struct lobes *l)
{
    double largest = 1;
    for (unsigned i = 0; i < l->count; i++)
        if (l->lobe[i].kind == LOBE_REFRACT)
            largest = fmax(largest, fmax(l->lobe[i].eta, 1 / l->lobe[i].eta));
    return largest;
}

static double nearest_index(const struct lobes *l)
{
    double nearest = 0;
    for (unsigned i = 0; i < l->count; i++) {
        const struct fresnel *f = &l->lobe[i].fresnel;
        if (f->kind == FRESNEL_DIELECTRIC &&
            (nearest == 0 || fabs(log(f->eta)) < fabs(log(nearest))))
            nearest = f->eta;
    }
    return nearest;
}

static void add_metals(const struct lobes *l, struct reference_scattered *out)
{
    for (unsigned i = 0; i < l->count; i++) {
        const struct lobe *x = &l->lobe[i];
        bool base = x->kind == LOBE_BASE && x->base.type == MATERIAL_ROUGH_CONDUCTOR;
        if (!base && x->fresnel.kind != FRESNEL_CONDUCTOR)
            continue;
        to_double(base ? x->base.eta : x->fresnel.a, out->metal[out->metals].eta);
        to_double(base ? x->base.k : x->fresnel.b, out->metal[out->metals++].k);
    }
}

/* Ns of a vertex whose material has a normal map is what the map made of it; the coat's normal,
 * which has a map of its own or none, is made anew of the ray's hit, as is E, which shaders' rays
 * ask for. */
static void arrive_mapped(const struct scene *s, const struct reference_vertex *v, struct hit *hit,
                          struct arrival *from)
{
    const struct material *m = &s->materials[scene_material_of(s, v->primitive)];
    const bool mapped = m->normal_map.present || m->layers.coat_normal_map.present;
    if (!mapped && !m->shading)
        return;
    struct probe p = probe_make((struct ray){from_double(v->origin), from_double(v->direction)});
    struct crossing c = {.primitive = v->primitive, .t = v->t};
    struct hit own = *hit;
    if (!is_triangle(s, v->primitive) || primitive_hit(s, v->primitive, &p, INFINITY, &c))
        own = hit_at(s, &p, &c);
    hit->extent = own.extent;
    if (!mapped)
        return;
    own.uv[0] = v->uv[0], own.uv[1] = v->uv[1];
    from->mapped = true;
    from->coat_normal = surface_coat_normal(s, &own, negate(p.ray.d));
}

/* Of all that the surface depends on; a direction and numbers are asked of the surface. */
static void scatter_key(const struct reference_job *job, const struct reference_vertex *v,
                        char key[33])
{
    const uint32_t words[] = {job->width, job->height,  v->x,       v->y,       v->sample,
                              v->k,       v->primitive, v->raytype, v->contract};
    const double numbers[] = {v->length, v->t, v->uv[0], v->uv[1]};
    struct hash *h = hash_open();
    hash_add(h, words, sizeof words);
    hash_add(h, &job->seed, sizeof job->seed);
    hash_add(h, numbers, sizeof numbers);
    hash_add(h, v->origin, sizeof v->origin);
    hash_add(h, v->direction, sizeof v->direction);
    hash_add(h, v->P, sizeof v->P);
    hash_add(h, v->Ng, sizeof v->Ng);
    hash_add(h, v->Ns, sizeof v->Ns);
    if (v->moved)
        hash_add(h, v->moved, REFERENCE_MOTIONS * sizeof *v->moved);
    hash_close(h, key);
}

void reference_scatter(const struct reference *r, const struct reference_job *job,
                       const struct reference_vertex *v, const double wi[3], const double u[3],
                       struct reference_scattered *out)
{
    struct arrival from = camera_arrival(r, job, v->x, v->y, v->sample);
    struct hit hit = {.primitive = v->primitive,
                      .t = v->t,
                      .P = from_double(v->P),
                      .Ng = from_double(v->Ng),
                      .Ns = from_double(v->Ns),
                      .uv = {v->uv[0], v->uv[1]}};
    struct shader_thread *shaders = shader_thread_take(r->shaders);
    struct surface at;
    struct lobes_sample s;
    char key[33];
    arrive_mapped(r->scene, v, &hit, &from);
    from.ray = (struct ray){from_double(v->origin), from_double(v->direction)};
    from.k = v->k, from.length = v->length, from.raytype = v->raytype;
    from.moved = v->moved, from.contract = v->contract;
    scatter_key(job, v, key);
    surface_shade_again(shaders, r->scene, &r->lights.environment, &from, &hit, key, &at);
    shader_thread_give(r->shaders, shaders);
    *out = (struct reference_scattered){.lit = lobes_lit(&at.lobes),
                                        .least = least_alpha(&at.lobes),
                                        .index = largest_index(&at.lobes),
                                        .nearest = nearest_index(&at.lobes)};
    add_metals(&at.lobes, out);
    to_double(at.emitted, out->emitted);
    out->asked = at.asked;
    if (out->lit)
        (void)lobes_side(&at.lobes, -1, &out->through); /* that number goes through */
    if (wi)
        to_double(lobes_eval(&at.lobes, from_double(wi), &out->pdf_w), out->F);
    if (!u || !lobes_sample(&at.lobes, u, &s))
        return;
    out->ok = true;
    out->delta = s.delta;
    out->q = s.q;
    out->pdf_w = s.pdf_w;
    out->raytype = ray_type(s.ray, v->raytype);
    to_double(s.wi, out->wi), to_double(s.weight, out->weight);
}
