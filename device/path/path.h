/* The path (protocol sections 6 and 8). */
#ifndef K_PATH_H
#define K_PATH_H
#include "light/light.h"
#include "path/scatter.h"
#include "scene/camera.h"
#include "surface/surface.h"

K_FN void k_store3(K_GLOBAL float *to, struct k_vec3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

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

/* To the next vertex: 0 when the path ends there. Where `rec` is not 0 the vertex is written to it.
 */
K_FN int k_walk_step(const struct k_scene *sc, struct k_stream *stream, struct k_walk *w,
                     K_GLOBAL struct k_vertex *rec)
{
    K_GLOBAL const struct k_launch *launch = sc->launch;
    const uint k = ++w->k, max_depth = FAULT_EXTRA_BOUNCE(launch->max_depth);
    const struct k_vec3 o = w->o, d = w->d;
    const float pdf_prev = w->pdf_prev;
    struct k_hit hit;
    struct k_surface s;
    int inside = 0; /* a medium */
    if (K_HAS(MEDIA))
        inside = k_media_fly(sc, stream, k, o, d, &w->media, &hit, &s, &w->beta);
    else
        k_closest(sc, o, d, K_INF, &hit);
    const int missed = (hit.primitive == K_NONE) & !inside;
    if (rec) {
        for (uint i = 0; i < K_VERTEX_WORDS; i++)
            ((K_GLOBAL uint *)rec)[i] = 0;
        rec->k = k;
        rec->event = missed ? K_EVENT_MISS : K_EVENT_ABSORB;
        rec->primitive = hit.primitive;
        rec->material = K_NONE;
        rec->media = w->media;
        k_store3(rec->origin, o);
        k_store3(rec->direction, d);
        k_store3(rec->beta, w->beta);
        rec->light = K_NONE;
    }
    if (missed) {
        if (launch->env_type != 0) {
            float pdf_env;
            struct k_vec3 Le = k_env_eval(sc, d, &pdf_env);
            float mis = pdf_prev < 0.0f ? 1.0f : k_mis(sc, pdf_prev, pdf_env);
            struct k_vec3 part = v3_scale(v3_mul(w->beta, Le), mis);
            w->L = v3_add(w->L, part);
            if (rec)
                k_store3(rec->emitted, part);
        }
        return 0;
    }
    if (!K_HAS(MEDIA))
        s = k_surface_make(sc, &hit, o, d);
    K_GLOBAL const struct k_material *m = sc->materials + s.material;
    if (!inside & (m->emits != 0u)) {
        float c = k_light_cosine(m, s.Ng, d);
        if (c > 0.0f) {
            float mis = pdf_prev < 0.0f
                            ? 1.0f
                            : k_mis(sc, pdf_prev,
                                    k_light_density(sc, m, hit.primitive, o, w->side, hit.t, c));
            struct k_vec3 part = v3_scale(v3_mul(w->beta, k_emission(sc, m, s.u, s.v)), mis);
            w->L = v3_add(w->L, part);
            if (rec)
                k_store3(rec->emitted, part);
        }
    }
    const int mapped = !inside & (m->normal_map >= 0);
    struct k_vec3 M = s.Ns;
    if (K_HAS(NORMAL_MAPS) && mapped)
        M = k_mapped_normal(sc, &hit, &s, m->normal_map, m->normal_scale);
    const int coat_mapped = !inside & (m->layered != 0u) & (m->coat_normal_map >= 0);
    struct k_vec3 coat = s.Ns;
    if (K_HAS(LAYERS) && K_HAS(NORMAL_MAPS) && coat_mapped)
        coat = k_mapped_normal(sc, &hit, &s, m->coat_normal_map, m->coat_normal_scale);
    /* Normals to wo's side. */
    struct k_vec3 wo = v3_neg(d);
    int behind = v3_dot(s.Ng, wo) < 0.0f;
    int facing = v3_dot(s.Ng, wo) > 0.0f;
    int entering = !behind;
    uint turn = FAULT_FLIPPED_NORMAL(behind) ? 0x80000000u : 0u;
    s.Ng = v3_flip(s.Ng, turn);
    s.Ns = v3_flip(s.Ns, turn);
    if (!(v3_dot(s.Ns, wo) > 0.0f))
        s.Ns = s.Ng;
    s.coat = s.Ns;
    if (K_HAS(LAYERS) && K_HAS(NORMAL_MAPS) && coat_mapped)
        s.coat = k_valid_normal(v3_flip(coat, turn), s.Ng, wo);
    if (K_HAS(NORMAL_MAPS) && mapped)
        s.Ns = k_valid_normal(v3_flip(M, turn), s.Ng, wo);
    if (rec) {
        rec->material = s.material;
        rec->t = hit.t;
        k_store3(rec->P, s.P);
        k_store3(rec->Ng, s.Ng);
        k_store3(rec->Ns, s.Ns);
        rec->uv[0] = s.u;
        rec->uv[1] = s.v;
    }
    const int shaded = (!inside) & k_is_shaded(sc, s.material);
    if (k >= max_depth && !shaded && !rec)
        return 0;
    if (K_HAS(MEDIA) && !inside && m->interface_) /* one passage too many */
        return 0;
    struct k_scatter scatter;
    w->length = w->length + hit.t;
#if K_MAY_HAVE(SHADERS)
    if (K_HAS(SHADERS) && shaded) {
        struct k_arrival from = k_arrival_make(sc, stream, d, k, hit.t, w->length, w->raytype);
        scatter.listed = 1;
        scatter.inside = 0;
        k_lobes_start(&scatter.list, s.Ns, s.Ng, wo);
        w->failed = k_shade_surface(sc, &from, &hit, &s, !facing, behind, &scatter.list);
        if (w->failed) {
            w->L = v3(K_AS_FLOAT(0x7FC00000u), 0.0f, 0.0f);
            return 0;
        }
        k_lobes_finish(&scatter.list);
        struct k_vec3 part = v3_mul(w->beta, scatter.list.emitted);
        w->L = v3_add(w->L, part);
        if (rec)
            k_store3(rec->emitted,
                     v3_add(v3(rec->emitted[0], rec->emitted[1], rec->emitted[2]), part));
    } else
#endif
    {
        if (inside)
            k_scatter_in_medium(sc, w->media, d, &scatter);
        else
            k_scatter_make(sc, &s, wo, entering, &scatter);
    }
    if (rec)
        k_store3(rec->albedo, k_scatter_albedo(&scatter));
    if (rec && !inside) {
        struct k_vec3 U, V;
        k_surface_axes(sc, &hit, v3_flip(s.Ng, turn), &U, &V);
        k_store3(rec->normal, k_scatter_normal(&scatter, s.Ns));
        k_store3(rec->dPdu, U);
        k_store3(rec->dPdv, V);
    }
    if (k >= max_depth)
        return 0;
    if (k_scatter_lit(&scatter)) {
        struct k_numbers u = k_block(stream, 2 * k - 1);
        float q;
        struct k_vec3 side = k_scatter_side(&scatter, s.Ng, u.u3, &q);
        struct k_vec3 from = inside ? s.P : k_offset(&s, side);
        struct k_light_sample ls = k_light_sample_make(sc, from, side, u.u0, u.u1, u.u2);
        ls.pdf_w = ls.pdf_w * q;
        if (rec)
            rec->light = ls.light;
        if (rec && ls.ok) {
            k_store3(rec->light_wi, ls.wi);
            rec->light_pdf_w = ls.pdf_w;
        }
        if (ls.ok && (inside | (v3_dot(ls.wi, side) > 0.0f))) {
            float pdf_bsdf;
            struct k_vec3 fc = v3_mul(k_scatter_eval(&scatter, ls.wi, &pdf_bsdf), ls.Le);
            if (v3_max(fc) > 0.0f) {
                float t_max = ls.distance * 0.9999f;
                struct k_vec3 V = v3(1.0f, 1.0f, 1.0f);
                int seen;
                if (K_HAS(MEDIA)) {
                    uint media = w->media;
                    if (v3_dot(side, s.Ng) < 0.0f)
                        media = k_media_cross(media, m->medium, entering);
                    V = k_media_visible(sc, from, ls.wi, ls.distance, FAULT_MISSED_SHADOW(t_max),
                                        media);
                    seen = v3_max(V) > 0.0f;
                } else {
                    seen = !k_occluded(sc, from, ls.wi, FAULT_MISSED_SHADOW(t_max));
                }
                if (seen) {
                    float mis =
                        ls.delta ? 1.0f : FAULT_WRONG_MIS_WEIGHT(k_mis(sc, ls.pdf_w, pdf_bsdf));
                    float share = FAULT_DOUBLED_LIGHT(mis / ls.pdf_w);
                    struct k_vec3 part = v3_mul(w->beta, fc);
                    part = K_HAS(MEDIA) ? v3_mul(part, v3_scale(V, share)) : v3_scale(part, share);
                    w->L = v3_add(w->L, part);
                    if (rec) {
                        rec->visible = 1;
                        k_store3(rec->direct, part);
                    }
                }
            }
        }
    }
    struct k_numbers u = k_block(stream, 2 * k);
    struct k_scattered next = k_scatter_sample(&scatter, s.Ng, u.u0, u.u1, u.u2);
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
    if (k >= launch->rr_depth) {
        float q = k_min(0.95f, v3_max(w->beta));
        if (u.u3 >= q) {
            if (rec)
                rec->event = K_EVENT_ROULETTE;
            return 0;
        }
        w->beta = v3_scale(w->beta, 1.0f / FAULT_ROULETTE_UNCOMPENSATED(q));
    }
    w->side = next.through ? v3_neg(s.Ng) : s.Ng;
    w->o = inside ? s.P : k_offset(&s, w->side);
    if (K_HAS(MEDIA) && next.through)
        w->media = k_media_cross(w->media, m->medium, entering);
    w->d = next.wi;
    w->raytype = next.ray ? next.ray : w->raytype;
    w->pdf_prev = next.delta ? -1.0f : next.pdf_w / next.q;
    return 1;
}

/* One sample: its radiance before the film. Where `record` is not 0, each vertex is written to it
 * (at most `capacity`) and *vertices counts them. */
K_FN struct k_vec3 k_path_result(const struct k_scene *sc, const struct k_stream *stream,
                                 struct k_vec3 L)
{
    L = k_sample_clamp(sc, L);
    return v3(FAULT_FLUSHED_TAIL(L.x, stream->x + 977u * stream->y + 7919u * stream->sample), L.y,
              L.z);
}
K_FN struct k_vec3 k_path(const struct k_scene *sc, struct k_stream *stream,
                          K_GLOBAL struct k_vertex *record, uint capacity, uint *vertices)
{
    struct k_walk w = k_walk_start(sc, stream);
    while (k_walk_step(sc, stream, &w,
                       record && w.k < capacity ? record + w.k : (K_GLOBAL struct k_vertex *)0))
        ;
    *vertices = w.k;
    return k_path_result(sc, stream, w.L);
}

#endif
