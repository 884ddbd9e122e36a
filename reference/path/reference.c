/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing, and the single parts that the header offers. */
#include "reference.h"

#include "path.h"

#include <stdlib.h>

enum status reference_open(const struct scene *s, struct reference **out, struct error *err)
{
    struct reference *r = calloc(1, sizeof *r);
    if (!r)
        return error_msg(err, STATUS_MEMORY, "no memory for the reference");
    r->scene = s;
    film_filter_make(s, &r->filter);
    r->film_limit = ldexp(1, 46 - film_exponent(s));
    r->media = media_used(s);
    r->camera_media = media_at_camera(s);
    r->shaders = shader_pool_open(s);
    enum status status = r->shaders ? lights_prepare(s, &r->lights, err)
                                    : error_msg(err, STATUS_MEMORY, "no memory for the reference");
    if (status == STATUS_OK) {
        double start = clock_s();
        status = candidates_open(s, &r->candidates, err);
        r->build_s = clock_s() - start;
        r->shaders->candidates = r->candidates;
    }
    if (status != STATUS_OK) {
        reference_close(r);
        return status;
    }
    *out = r;
    return STATUS_OK;
}

void reference_close(struct reference *r)
{
    if (!r)
        return;
    candidates_close(r->candidates);
    shader_pool_close(r->shaders);
    lights_release(&r->lights);
    free(r);
}

double reference_build_s(const struct reference *r) { return r->build_s; }

static void sample(const struct reference *r, const struct reference_job *job, uint32_t x,
                   uint32_t y, uint32_t index, double L[3], struct path_log *log)
{
    struct first_vertex first = {0};
    struct shader_thread *shaders = shader_thread_take(r->shaders);
    to_double(film_value(r, path_radiance(r, job, shaders, x, y, index, &first, log)), L);
    shader_thread_give(r->shaders, shaders);
}

void reference_sample(const struct reference *r, const struct reference_job *job, uint32_t x,
                      uint32_t y, uint32_t index, double L[3], struct path_vertex *vertices,
                      size_t capacity, size_t *count)
{
    struct path_log log = {vertices, vertices ? capacity : 0, 0, NULL};
    sample(r, job, x, y, index, L, &log);
    if (count)
        *count = log.count;
}

enum status reference_sample_shaders(const struct reference *r, const struct reference_job *job,
                                     uint32_t x, uint32_t y, uint32_t index, struct text *out,
                                     struct error *err)
{
    double L[3];
    struct path_log log = {.shading = out};
    if (!r->shaders->shaded)
        return STATUS_OK;
    sample(r, job, x, y, index, L, &log);
    return shader_pool_failed(r->shaders, err) ? r->shaders->status : STATUS_OK;
}

void reference_messages(const struct reference *r, struct text *out)
{
    asl_sayings_print(&r->shaders->said, out);
}

void reference_camera_ray(const struct reference *r, uint32_t width, uint32_t height, uint32_t x,
                          uint32_t y, const double u[4], double o[3], double d[3])
{
    double at[2];
    film_position(&r->filter, x, y, u, at);
    struct ray ray = camera_ray(&r->scene->camera, width, height, at, u + 2);
    to_double(ray.o, o), to_double(ray.d, d);
}

static void hit_report(const struct reference *r, const struct probe *p, bool found,
                       const struct crossing *c, struct reference_hit *out)
{
    *out = (struct reference_hit){.primitive = NO_PRIMITIVE};
    if (!found)
        return;
    struct hit h = hit_at(r->scene, p, c);
    out->primitive = h.primitive;
    out->t = h.t;
    out->uv[0] = h.uv[0], out->uv[1] = h.uv[1];
    to_double(h.P, out->P), to_double(h.Ng, out->Ng), to_double(h.Ns, out->Ns);
    to_double(h.of_vertices, out->of_vertices);
}

void reference_hit_brute(const struct reference *r, const double o[3], const double d[3],
                         double t_max, struct reference_hit *out)
{
    struct probe p = probe_make((struct ray){from_double(o), from_double(d)});
    struct crossing best = {0}, c;
    bool found = false;
    for (size_t i = 0; i < scene_effective_count(r->scene); i++) {
        if (primitive_hit(r->scene, (uint32_t)i, &p, found ? best.t : t_max, &c)) {
            best = c;
            found = true;
        }
    }
    hit_report(r, &p, found, &best, out);
}

void reference_hit_closest(const struct reference *r, const double o[3], const double d[3],
                           double t_max, struct reference_hit *out)
{
    struct probe p = probe_make((struct ray){from_double(o), from_double(d)});
    struct crossing best = {0};
    bool found = candidates_closest(r->candidates, &p, t_max, &best);
    hit_report(r, &p, found, &best, out);
}

void reference_hit_next(const struct reference *r, const double o[3], const double d[3],
                        const struct reference_hit *last, double t_max, struct reference_hit *out)
{
    struct probe p = probe_make((struct ray){from_double(o), from_double(d)});
    const struct crossing after = {.primitive = last->primitive, .t = last->t};
    struct crossing best = {0};
    bool found = candidates_next(r->candidates, &p, &after, t_max, &best);
    hit_report(r, &p, found, &best, out);
}

bool reference_mapped_normal(const struct reference *r, uint32_t primitive, const double o[3],
                             const double d[3], const double moved[8], bool other, double Ns[3])
{
    struct probe p = probe_make((struct ray){from_double(o), from_double(d)});
    struct crossing c;
    if (!primitive_hit(r->scene, primitive, &p, INFINITY, &c))
        return false;
    struct hit hit = hit_at(r->scene, &p, &c);
    hit.uv[0] += moved[0], hit.uv[1] += moved[1];
    if (other) {
        bool flat = is_zero(sub(hit.Ns, hit.Ng));
        hit.normal = flat ? hit.of_vertices : hit.Ng;
        hit.Ns = normalize(hit.normal);
    }
    hit.normal = add(hit.normal, from_double(moved + 2));
    hit.tangent = add(hit.tangent, from_double(moved + 5));
    to_double(surface_mapped_normal(r->scene, &hit, negate(p.ray.d)), Ns);
    return true;
}

/* The material on the plane z = 0 about the origin, with u along x and v along y, seen from wo. */
static void probe_surface(const struct reference *r, uint32_t material, const double uv[2],
                          bool entering, struct vec3 wo, struct surface *out)
{
    struct hit hit = {.Ng = vec3(0, 0, 1), .Ns = vec3(0, 0, 1), .uv = {uv[0], uv[1]}};
    struct shader_thread *shaders = shader_thread_take(r->shaders);
    surface_probe(shaders, r->scene, &r->lights.environment, material, entering, wo, &hit, out);
    shader_thread_give(r->shaders, shaders);
}

void reference_bsdf_eval(const struct reference *r, uint32_t material, const double uv[2],
                         const double wo[3], const double wi[3], double f[3], double *pdf_w)
{
    struct surface at;
    probe_surface(r, material, uv, true, from_double(wo), &at);
    struct vec3 F = lobes_eval(&at.lobes, from_double(wi), pdf_w);
    to_double(is_zero(F) ? F : scale(1 / fabs(wi[2]), F), f);
}

bool reference_bsdf_sample(const struct reference *r, uint32_t material, const double uv[2],
                           bool entering, const double wo[3], const double u[3], double wi[3],
                           double weight[3], double *pdf_w, bool *delta)
{
    struct surface at;
    struct lobes_sample s;
    probe_surface(r, material, uv, entering, from_double(wo), &at);
    if (!lobes_sample(&at.lobes, u, &s))
        return false;
    to_double(s.wi, wi);
    to_double(s.weight, weight);
    *pdf_w = s.pdf_w;
    *delta = s.delta;
    return true;
}

/* ---- media ---------------------------------------------------------------------------------- */

uint32_t reference_camera_media(const struct reference *r)
{
    return media_pack(&r->camera_media, r->scene);
}

uint32_t reference_media_cross(const struct reference *r, uint32_t media, uint32_t material,
                               bool enters)
{
    struct media_list list = media_unpack(media, r->scene);
    media_cross(&list, r->scene, material, enters);
    return media_pack(&list, r->scene);
}

static void way_report(const struct media_parts *parts, struct reference_way *out)
{
    out->count = parts->count;
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct media_part *p = &parts->part[i];
        out->part[i].primitive = p->hit.primitive;
        out->part[i].t = p->hit.t;
        out->part[i].density = p->medium ? (double)p->medium->density : 0;
        to_double(p->o, out->part[i].o);
        to_double(p->hit.P, out->part[i].P), to_double(p->hit.Ng, out->part[i].Ng);
        to_double(p->medium ? from_float(p->medium->absorption) : gray(0), out->part[i].absorption);
    }
}

static void way_end(const struct hit *h, struct reference_hit *out)
{
    *out = (struct reference_hit){.primitive = h->primitive, .t = h->t, .uv = {h->uv[0], h->uv[1]}};
    to_double(h->P, out->P), to_double(h->Ng, out->Ng), to_double(h->Ns, out->Ns);
    to_double(h->of_vertices, out->of_vertices);
}

void reference_fly(const struct reference *r, const double o[3], const double d[3], double u,
                   uint32_t media, struct reference_way *out)
{
    struct media_list list = media_unpack(media, r->scene);
    struct media_parts parts = {.count = 0};
    struct ray ray = {from_double(o), from_double(d)};
    struct flight f = media_fly(r->scene, r->candidates, &ray, u, &list, &parts);
    *out = (struct reference_way){.hit.primitive = NO_PRIMITIVE, .material = UINT32_MAX};
    way_report(&parts, out);
    if (f.end != FLIGHT_MISS)
        way_end(&f.hit, &out->hit);
    if (f.end == FLIGHT_MEDIUM)
        (void)media_innermost(&list, r->scene, &out->material);
    if (f.end == FLIGHT_SURFACE)
        out->material = scene_material_of(r->scene, f.hit.primitive);
    out->media = media_pack(&list, r->scene);
    to_double(f.transmittance, out->left);
}

void reference_see(const struct reference *r, const double o[3], const double d[3], double distance,
                   uint32_t media, struct reference_way *out)
{
    struct media_list list = media_unpack(media, r->scene);
    struct media_parts parts = {.count = 0};
    struct ray ray = {from_double(o), from_double(d)};
    struct vec3 V = media_visible(r->scene, r->candidates, ray, distance, list, &parts);
    *out = (struct reference_way){.material = UINT32_MAX};
    way_report(&parts, out);
    way_end(&parts.part[parts.count - 1].hit, &out->hit);
    to_double(V, out->left);
}

void reference_phase(const struct reference *r, uint32_t material, const double d[3],
                     const double wi[3], const double u[3], struct reference_scattered *out)
{
    const struct medium *m = &r->scene->materials[material].medium;
    *out = (struct reference_scattered){.lit = true, .ok = true, .q = 1, .least = 1};
    if (wi) {
        out->pdf_w = phase_eval((double)m->g, dot(from_double(d), from_double(wi)));
        to_double(scale(out->pdf_w, from_float(m->albedo)), out->F);
    }
    if (u) {
        to_double(phase_sample((double)m->g, from_double(d), u[1], u[2], &out->pdf_w), out->wi);
        to_double(from_float(m->albedo), out->weight);
    }
}

bool reference_light_sample(const struct reference *r, const double P[3], const double Ng[3],
                            const double u[3], uint32_t *light, double wi[3], double *distance,
                            double *pdf_w, double Le[3])
{
    struct light_sample sample;
    struct vec3 from = offset_point(from_double(P), 0, from_double(Ng));
    if (!light_sample(&r->lights, from, from_double(Ng), u, &sample))
        return false;
    *light = sample.light;
    *distance = sample.distance;
    *pdf_w = sample.pdf_w;
    to_double(sample.wi, wi);
    to_double(sample.Le, Le);
    return true;
}

double reference_light_chance(const struct reference *r, uint32_t light, const double P[3],
                              const double side[3])
{
    return light_chance(&r->lights, light, from_double(P), from_double(side));
}

void reference_light_chance_wide(const struct reference *r, uint32_t light, const double P[3],
                                 const double side[3], unsigned width, double slack,
                                 double chance[2])
{
    light_chance_wide(&r->lights, light, from_double(P), from_double(side), width, slack, chance);
}

void reference_environment(const struct reference *r, const double d[3], double L[3], double *pdf_w)
{
    to_double(light_environment(&r->lights, from_double(d), pdf_w), L);
}
