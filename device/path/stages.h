/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of a path's vertex (protocol section 8). Each takes the path and the interaction that
 * it has come to by pointer, adds what it finds to the path's radiance and throughput, and returns
 * 0 where the path ends. Which stage follows which is said in path.h; none calls another.
 * Where `rec` is not 0, what a stage finds is written to it too. */
#ifndef K_STAGES_H
#define K_STAGES_H
#include "light/light.h"
#include "path/scatter.h"
#include "scene/camera.h"
#include "surface/surface.h"

/* A path between two vertices. */
struct k_walk {
    struct k_vec3 o, d; /* the ray to the next vertex */
    struct k_vec3 beta, L;
    struct k_vec3 side; /* the normal that o was offset along; 0: none. For the light tree */
    float pdf_prev;     /* negative: none */
    uint k;             /* vertices so far */
    uint media;         /* where it is */
    float length;       /* T of section 18 */
    uint raytype;
    uint failed; /* not 0: what k_shade returned; the path ended there */
};

/* Where light and matter meet: a point of a surface, or of a medium. How it scatters is a variable
 * of its own, and functions that are called get no address of this: it stays in registers. */
struct k_interaction {
    int inside; /* a medium: hit.t alone says something of hit */
    struct k_hit hit;
    struct k_surface s; /* normals as stored; from k_stage_face on, to wo's side */
    struct k_vec3 wo;
    int behind, facing; /* <Ng, wo> < 0, > 0, of the stored Ng */
    uint turn;          /* the sign bit where normals were turned */
    int shaded;         /* by ASL */
#if K_MAY_HAVE(RAYS)
    uint blocked; /* rays of its ambient occlusion; K_NONE: nobody asked before */
#endif
};

K_FN void k_store3(K_GLOBAL float *to, struct k_vec3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

/* The camera's ray (sections 2 and 23). */
K_FN struct k_walk k_walk_start(const struct k_scene *sc, struct k_stream *stream)
{
    struct k_walk w;
    w.beta = v3(1.0f, 1.0f, 1.0f);
    w.L = v3(0.0f, 0.0f, 0.0f);
    w.side = v3(0.0f, 0.0f, 0.0f);
    w.pdf_prev = -1.0f;
    w.k = 0;
    w.media = sc->launch->camera_media;
    w.length = 0.0f;
    w.raytype = K_RAY_CAMERA;
    w.failed = 0;
    k_stream_start(stream);
    k_camera_ray(sc, stream, &w.o, &w.d);
    return w;
}

/* The point where a flight ended: a surface, or in a medium. */
K_FN void k_stage_arrive(const struct k_scene *sc, const struct k_walk *w, const struct k_leg *leg,
                         struct k_interaction *x)
{
    if (!K_HAS(MEDIA))
        x->s = k_surface_make(sc, &x->hit, w->o, w->d);
    else if (x->inside)
        k_media_point(sc, w->media, leg, w->d, &x->s);
    else
        x->s = k_media_surface(sc, &x->hit, leg, w->d);
}

/* The flight to the next vertex: the closest hit (section 4), or a collision in a medium (section
 * 27). 0: nothing is met. */
K_FN int k_stage_fly(const struct k_scene *sc, const struct k_stream *stream, struct k_walk *w,
                     struct k_interaction *x, K_GLOBAL struct k_vertex *rec)
{
    w->k++;
    x->inside = 0;
    x->wo = v3_neg(w->d);
#if K_MAY_HAVE(RAYS)
    x->blocked = K_NONE;
#endif
    struct k_hit hit;
    struct k_leg leg;
    if (K_HAS(MEDIA))
        x->inside = k_media_fly(sc, stream, w->k, w->o, w->d, &w->media, &hit, &leg, &w->beta);
    else
        k_closest(sc, w->o, w->d, K_INF, &hit);
    x->hit = hit;
    const int missed = (x->hit.primitive == K_NONE) & !x->inside;
    if (rec) {
        for (uint i = 0; i < K_VERTEX_WORDS; i++)
            ((K_GLOBAL uint *)rec)[i] = 0;
        rec->k = w->k;
        rec->event = missed ? K_EVENT_MISS : K_EVENT_ABSORB;
        rec->primitive = x->hit.primitive;
        rec->material = K_NONE;
        rec->media = w->media;
        k_store3(rec->origin, w->o);
        k_store3(rec->direction, w->d);
        k_store3(rec->beta, w->beta);
        rec->light = K_NONE;
    }
    if (missed)
        return 0;
    k_stage_arrive(sc, w, &leg, x);
    return 1;
}

/* The environment, for a path that met nothing (section 5.1). */
K_FN void k_stage_environment(const struct k_scene *sc, struct k_walk *w,
                              K_GLOBAL struct k_vertex *rec)
{
    if (sc->launch->env_type == 0)
        return;
    float pdf_env;
    struct k_vec3 Le = k_env_eval(sc, w->d, &pdf_env);
    float mis = w->pdf_prev < 0.0f ? 1.0f : k_mis(sc, w->pdf_prev, pdf_env);
    struct k_vec3 part = v3_scale(v3_mul(w->beta, Le), mis);
    w->L = v3_add(w->L, part);
    if (rec)
        k_store3(rec->emitted, part);
}

/* What the surface that was met emits (sections 5, 8 and 24). */
K_FN void k_stage_emission(const struct k_scene *sc, struct k_walk *w,
                           const struct k_interaction *x, K_GLOBAL struct k_vertex *rec)
{
    K_GLOBAL const struct k_material *m = sc->materials + x->s.material;
    if (x->inside | (m->emits == 0u))
        return;
    float c = k_light_cosine(m->two_sided, x->s.Ng, w->d);
    if (!(c > 0.0f))
        return;
    float mis = 1.0f;
    if (!(w->pdf_prev < 0.0f))
        mis = k_mis(sc, w->pdf_prev,
                    k_light_density(sc, m, x->hit.primitive, w->o, w->side, x->hit.t, c));
    struct k_vec3 part = v3_scale(v3_mul(w->beta, k_emission(sc, m, x->s.u, x->s.v)), mis);
    w->L = v3_add(w->L, part);
    if (rec)
        k_store3(rec->emitted, part);
}

/* Normals to wo's side (section 6), mapped ones too (section 26). */
K_FN void k_stage_face(const struct k_scene *sc, struct k_interaction *x,
                       K_GLOBAL struct k_vertex *rec)
{
    K_GLOBAL const struct k_material *m = sc->materials + x->s.material;
    struct k_surface *s = &x->s;
    const struct k_vec3 wo = x->wo;
    const int mapped = !x->inside & (m->normal_map >= 0);
    struct k_vec3 M = s->Ns;
    if (K_HAS(NORMAL_MAPS) && mapped)
        M = k_mapped_normal(sc, &x->hit, s, m->normal_map, m->normal_scale);
    const int coat_mapped = !x->inside & (m->layered != 0u) & (m->coat_normal_map >= 0);
    struct k_vec3 coat = s->Ns;
    if (K_HAS(LAYERS) && K_HAS(NORMAL_MAPS) && coat_mapped)
        coat = k_mapped_normal(sc, &x->hit, s, m->coat_normal_map, m->coat_normal_scale);
    x->behind = v3_dot(s->Ng, wo) < 0.0f;
    x->facing = v3_dot(s->Ng, wo) > 0.0f;
    x->turn = FAULT_FLIPPED_NORMAL(x->behind) ? 0x80000000u : 0u;
    s->Ng = v3_flip(s->Ng, x->turn);
    s->Ns = v3_flip(s->Ns, x->turn);
    if (!(v3_dot(s->Ns, wo) > 0.0f))
        s->Ns = s->Ng;
    s->coat = s->Ns;
    if (K_HAS(LAYERS) && K_HAS(NORMAL_MAPS) && coat_mapped)
        s->coat = k_valid_normal(v3_flip(coat, x->turn), s->Ng, wo);
    if (K_HAS(NORMAL_MAPS) && mapped)
        s->Ns = k_valid_normal(v3_flip(M, x->turn), s->Ng, wo);
    if (rec) {
        rec->material = s->material;
        rec->t = x->hit.t;
        rec->extent = s->extent;
        k_store3(rec->P, s->P);
        k_store3(rec->Ng, s->Ng);
        k_store3(rec->Ns, s->Ns);
        rec->uv[0] = s->u;
        rec->uv[1] = s->v;
    }
}

#if K_RUNS_SHADERS
/* The surface's shader runs (sections 18 to 22): its closures become lobes, its emission is met. */
K_FN int k_shade_interaction(const struct k_scene *sc, struct k_stream *stream, struct k_walk *w,
                             const struct k_interaction *x, struct k_scatter *scatter,
                             K_GLOBAL struct k_vertex *rec)
{
    struct k_arrival from = k_arrival_make(sc, stream, w->d, w->k, x->hit.t, w->length, w->raytype);
#if K_MAY_HAVE(RAYS)
    from.blocked = x->blocked;
#endif
    scatter->listed = 1;
    scatter->inside = 0;
    k_lobes_start(&scatter->list, x->s.Ns, x->s.Ng, x->wo);
    w->failed = k_shade_surface(sc, &from, &x->hit, &x->s, !x->facing, x->behind, &scatter->list);
    if (w->failed) {
        w->L = v3(K_AS_FLOAT(0x7FC00000u), 0.0f, 0.0f);
        return 0;
    }
    k_lobes_finish(&scatter->list);
    struct k_vec3 part = v3_mul(w->beta, scatter->list.emitted);
    w->L = v3_add(w->L, part);
    if (rec)
        k_store3(rec->emitted, v3_add(v3_load(rec->emitted), part));
    return 1;
}
#endif

/* How light scatters there: by a shader, a material (sections 7 and 28) or a medium (section 27).
 */
K_FN int k_stage_material(const struct k_scene *sc, struct k_stream *stream, struct k_walk *w,
                          const struct k_interaction *x, struct k_scatter *scatter,
                          K_GLOBAL struct k_vertex *rec)
{
    w->length = w->length + x->hit.t;
#if K_RUNS_SHADERS
    if (K_HAS(SHADERS) && x->shaded) {
        if (!k_shade_interaction(sc, stream, w, x, scatter, rec))
            return 0;
    } else
#endif
    {
        (void)stream;
        if (x->inside)
            k_scatter_in_medium(sc, w->media, w->d, scatter);
        else
            k_scatter_make(sc, &x->s, x->wo, !x->behind, scatter);
    }
    if (rec)
        k_store3(rec->albedo, k_scatter_albedo(scatter));
    if (rec && !x->inside) {
        struct k_vec3 U, V;
        k_surface_axes(sc, &x->hit, v3_flip(x->s.Ng, x->turn), &U, &V);
        k_store3(rec->normal, k_scatter_normal(scatter, x->s.Ns));
        k_store3(rec->dPdu, U);
        k_store3(rec->dPdv, V);
    }
    return 1;
}

/* A light sample on its way: what it adds to the path's radiance if nothing is between. */
struct k_shadow_ray {
    int ok; /* 0: there is none */
    struct k_vec3 from, wi, part;
    float distance;
    uint media;  /* where it starts, if there are media; then */
    float share; /* is still to be multiplied with `part` and what is left by channel */
};

/* A light sample (next event estimation; sections 5, 8 and 24), without its shadow ray. */
K_FN void k_stage_light(const struct k_scene *sc, struct k_stream *stream, const struct k_walk *w,
                        const struct k_interaction *x, const struct k_scatter *scatter,
                        struct k_shadow_ray *ray, K_GLOBAL struct k_vertex *rec)
{
    ray->ok = 0;
    if (!k_scatter_lit(scatter))
        return;
    struct k_numbers u = k_block(stream, 2 * w->k - 1);
    float q;
    struct k_vec3 side = k_scatter_side(scatter, x->s.Ng, u.u3, &q);
    ray->from = x->inside ? x->s.P : k_offset(&x->s, side);
    struct k_light_sample ls = k_light_sample_make(sc, ray->from, side, u.u0, u.u1, u.u2);
    ls.pdf_w = ls.pdf_w * q;
    if (rec)
        rec->light = ls.light;
    if (rec && ls.ok) {
        k_store3(rec->light_wi, ls.wi);
        rec->light_pdf_w = ls.pdf_w;
    }
    if (!ls.ok || !(x->inside | (v3_dot(ls.wi, side) > 0.0f)))
        return;
    float pdf_bsdf;
    struct k_vec3 fc = v3_mul(k_scatter_eval(scatter, ls.wi, &pdf_bsdf), ls.Le);
    if (!(v3_max(fc) > 0.0f))
        return;
    float mis = ls.delta ? 1.0f : FAULT_WRONG_MIS_WEIGHT(k_mis(sc, ls.pdf_w, pdf_bsdf));
    ray->ok = 1;
    ray->wi = ls.wi;
    ray->distance = ls.distance;
    ray->share = FAULT_DOUBLED_LIGHT(mis / ls.pdf_w);
    ray->part = v3_mul(w->beta, fc);
    if (!K_HAS(MEDIA)) {
        ray->part = v3_scale(ray->part, ray->share);
        return;
    }
    ray->media = w->media;
    if (v3_dot(side, x->s.Ng) < 0.0f)
        ray->media = k_media_cross(ray->media, sc->materials[x->s.material].medium, !x->behind);
}

/* Its shadow ray: through media a share by channel is left (section 27). */
K_FN void k_stage_shadow(const struct k_scene *sc, struct k_vec3 *L, const struct k_shadow_ray *ray,
                         K_GLOBAL struct k_vertex *rec)
{
    const float t_max = FAULT_MISSED_SHADOW(ray->distance * 0.9999f);
    struct k_vec3 part = ray->part;
    if (K_HAS(MEDIA)) {
        struct k_vec3 V = k_media_visible(sc, ray->from, ray->wi, ray->distance, t_max, ray->media);
        if (!(v3_max(V) > 0.0f))
            return;
        part = v3_mul(part, v3_scale(V, ray->share));
    } else if (k_occluded(sc, ray->from, ray->wi, t_max)) {
        return;
    }
    *L = v3_add(*L, part);
    if (rec) {
        rec->visible = 1;
        k_store3(rec->direct, part);
    }
}

/* Russian roulette (section 8) with the number u. */
K_FN int k_roulette(const struct k_scene *sc, struct k_walk *w, float u,
                    K_GLOBAL struct k_vertex *rec)
{
    if (w->k < sc->launch->rr_depth)
        return 1;
    float q = k_min(0.95f, v3_max(w->beta));
    if (u >= q) {
        if (rec)
            rec->event = K_EVENT_ROULETTE;
        return 0;
    }
    w->beta = v3_scale(w->beta, 1.0f / FAULT_ROULETTE_UNCOMPENSATED(q));
    return 1;
}

/* The direction in which the path goes on (section 8); roulette; the ray that leaves. */
K_FN int k_stage_scatter(const struct k_scene *sc, struct k_stream *stream, struct k_walk *w,
                         const struct k_interaction *x, const struct k_scatter *scatter,
                         K_GLOBAL struct k_vertex *rec)
{
    struct k_numbers u = k_block(stream, 2 * w->k);
    struct k_scattered next = k_scatter_sample(scatter, x->s.Ng, u.u0, u.u1, u.u2);
    if (!next.ok)
        return 0;
    w->beta = v3_mul(w->beta, next.weight);
    if (!(v3_max(w->beta) > 0.0f))
        return 0;
    if (rec) {
        rec->event = K_EVENT_SCATTER;
        k_store3(rec->wi, next.wi);
        rec->pdf_w = next.pdf_w;
        k_store3(rec->weight, next.weight);
    }
    if (!k_roulette(sc, w, u.u3, rec))
        return 0;
    w->side = next.through ? v3_neg(x->s.Ng) : x->s.Ng;
    w->o = x->inside ? x->s.P : k_offset(&x->s, w->side);
    if (K_HAS(MEDIA) && next.through)
        w->media = k_media_cross(w->media, sc->materials[x->s.material].medium, !x->behind);
    w->d = next.wi;
    w->raytype = next.ray ? next.ray : w->raytype;
    w->pdf_prev = next.delta ? -1.0f : next.pdf_w / next.q;
    return 1;
}

#endif
