/* Camera, surfaces and the path (protocol sections 2, 4, 6 and 8). */
#ifndef K_PATH_H
#define K_PATH_H
#include "light.h"
#include "material.h"
#include "traverse.h"

K_FN void k_camera_ray(K_GLOBAL const struct k_launch *L, struct k_stream *stream, struct k_vec3 *o,
                       struct k_vec3 *d)
{
    struct k_numbers u = k_block(stream, 0);
    float px = (float)stream->x + u.u0, py = (float)stream->y + u.u1;
    float a = ((2.0f * px) / (float)L->width - 1.0f) * L->tan_x;
    float b = (1.0f - (2.0f * py) / (float)L->height) * L->tan_y;
    struct k_vec3 right = v3_load(L->right), up = v3_load(L->up), forward = v3_load(L->forward);
    *o = v3_load(L->origin);
    *d = v3_normalize(v3_madd(v3_madd(forward, right, a), up, b));
    float radius = FAULT_IGNORED_LENS(L->lens_radius);
    if (radius > 0.0f) {
        float lx, ly;
        k_sample_disk(u.u2, u.u3, &lx, &ly);
        struct k_vec3 focus = v3_madd(*o, *d, L->focus_distance / v3_dot(*d, forward));
        *o = v3_madd(v3_madd(*o, right, radius * lx), up, radius * ly);
        *d = v3_normalize(v3_sub(focus, *o));
    }
}

/* Where a ray met a primitive. Ng, Ns: as stored, not yet turned. */
struct k_surface {
    struct k_vec3 P, Ng, Ns;
    float u, v;
    float extent; /* e of the offset rule */
    uint material;
};

K_FN void k_triangle_surface(const struct k_scene *sc, const struct k_hit *hit, struct k_surface *s)
{
    struct k_triangle tri = k_triangle_load(sc, hit->primitive);
    float b1 = hit->b1, b2 = hit->b2, b0 = (1.0f - b1) - b2;
    s->P = v3_madd(v3_madd(v3_scale(tri.v0, b0), tri.v1, b1), tri.v2, b2);
    s->Ng = v3_normalize(v3_cross(v3_sub(tri.v1, tri.v0), v3_sub(tri.v2, tri.v0)));
    s->Ns = s->Ng;
    s->u = b1;
    s->v = b2;
    s->extent = k_max(k_max(v3_max_abs(tri.v0), v3_max_abs(tri.v1)), v3_max_abs(tri.v2));
    uint flags = k_triangle_flags(sc, hit->primitive);
    if (flags == 0)
        return;
    K_GLOBAL const uint *i = sc->triangles + 3 * (size_t)hit->primitive;
    if (flags & 1u) {
        struct k_vec3 n = v3_madd(v3_madd(v3_scale(v3_load(sc->normals + 3 * (size_t)i[0]), b0),
                                          v3_load(sc->normals + 3 * (size_t)i[1]), b1),
                                  v3_load(sc->normals + 3 * (size_t)i[2]), b2);
        if (v3_dot(n, n) > 0.0f) {
            s->Ns = v3_normalize(n);
            if (v3_dot(s->Ns, s->Ng) < 0.0f)
                s->Ns = v3_neg(s->Ns);
        }
    }
    if (flags & 2u) {
        K_GLOBAL const float *t0 = sc->uvs + 2 * (size_t)i[0], *t1 = sc->uvs + 2 * (size_t)i[1],
                             *t2 = sc->uvs + 2 * (size_t)i[2];
        s->u = (t0[0] * b0 + t1[0] * b1) + t2[0] * b2;
        s->v = (t0[1] * b0 + t1[1] * b1) + t2[1] * b2;
    }
}

K_FN void k_round_surface(const struct k_scene *sc, const struct k_hit *hit, struct k_vec3 o,
                          struct k_vec3 d, struct k_surface *s)
{
    uint i = hit->primitive - sc->launch->triangle_count;
    if (i < sc->launch->sphere_count) {
        struct k_vec3 c = v3_load(sc->spheres[i].center);
        float r = sc->spheres[i].radius;
        struct k_vec3 n = v3_normalize(v3_sub(v3_madd(o, d, hit->t), c));
        s->Ng = n;
        s->Ns = n;
        s->P = v3_madd(c, n, r);
        float u = k_atan2(n.y, n.x) * K_INV_2PI;
        s->u = u < 0.0f ? u + 1.0f : u;
        s->v = 1.0f - k_acos(k_min(k_max(n.z, -1.0f), 1.0f)) * K_INV_PI;
        s->extent = v3_max_abs(c) + r;
        return;
    }
    i -= sc->launch->sphere_count;
    struct k_vec3 c = v3_load(sc->disks[i].center), n = v3_load(sc->disks[i].normal);
    float r = sc->disks[i].radius;
    struct k_vec3 q = v3_sub(v3_madd(o, d, hit->t), c);
    struct k_frame f = k_frame_about(n);
    s->P = v3_add(c, v3_sub(q, v3_scale(n, v3_dot(q, n))));
    s->Ng = n;
    s->Ns = n;
    s->u = 0.5f + (0.5f * v3_dot(q, f.s)) / r;
    s->v = 0.5f + (0.5f * v3_dot(q, f.t)) / r;
    s->extent = v3_max_abs(c) + r;
}

K_FN struct k_surface k_surface_make(const struct k_scene *sc, const struct k_hit *hit,
                                     struct k_vec3 o, struct k_vec3 d)
{
    struct k_surface s;
    if (hit->primitive < sc->launch->triangle_count)
        k_triangle_surface(sc, hit, &s);
    else
        k_round_surface(sc, hit, o, d, &s);
    s.material = sc->primitive_materials[hit->primitive];
    return s;
}

/* P moved off the surface to the side of g. */
K_FN struct k_vec3 k_offset(const struct k_surface *s, struct k_vec3 g)
{
    float delta = 0x1p-17f * k_max(v3_max_abs(s->P), k_max(s->extent, 0x1p-20f));
    return v3_madd(s->P, g, FAULT_NO_OFFSET(delta));
}

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
    float pdf_prev; /* negative: none */
    uint k;         /* vertices so far */
};

K_FN struct k_walk k_walk_start(const struct k_scene *sc, struct k_stream *stream)
{
    struct k_walk w;
    w.beta = v3(1.0f, 1.0f, 1.0f);
    w.L = v3(0.0f, 0.0f, 0.0f);
    w.pdf_prev = -1.0f;
    w.k = 0;
    k_stream_start(stream);
    k_camera_ray(sc->launch, stream, &w.o, &w.d);
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
    k_closest(sc, o, d, K_INF, &hit);
    if (rec) {
        for (uint i = 0; i < K_VERTEX_WORDS; i++)
            ((K_GLOBAL uint *)rec)[i] = 0;
        rec->k = k;
        rec->event = hit.primitive == K_NONE ? K_EVENT_MISS : K_EVENT_ABSORB;
        rec->primitive = hit.primitive;
        rec->material = K_NONE;
        k_store3(rec->origin, o);
        k_store3(rec->direction, d);
        k_store3(rec->beta, w->beta);
        rec->light = K_NONE;
    }
    if (hit.primitive == K_NONE) {
        if (launch->env_type != 0) {
            float pdf_env;
            struct k_vec3 Le = k_env_eval(sc, d, &pdf_env);
            float mis = pdf_prev < 0.0f ? 1.0f : k_power(pdf_prev, pdf_env);
            struct k_vec3 part = v3_scale(v3_mul(w->beta, Le), mis);
            w->L = v3_add(w->L, part);
            if (rec)
                k_store3(rec->emitted, part);
        }
        return 0;
    }
    struct k_surface s = k_surface_make(sc, &hit, o, d);
    K_GLOBAL const struct k_material *m = sc->materials + s.material;
    if (m->emits) {
        float c = k_light_cosine(m, s.Ng, d);
        if (c > 0.0f) {
            float mis = pdf_prev < 0.0f
                            ? 1.0f
                            : k_power(pdf_prev, k_light_density(sc, m, hit.primitive, o, hit.t, c));
            struct k_vec3 part = v3_scale(v3_mul(w->beta, v3_load(m->emission)), mis);
            w->L = v3_add(w->L, part);
            if (rec)
                k_store3(rec->emitted, part);
        }
    }
    /* Normals to wo's side. */
    struct k_vec3 wo = v3_neg(d);
    int behind = v3_dot(s.Ng, wo) < 0.0f;
    int entering = !behind;
    uint turn = FAULT_FLIPPED_NORMAL(behind) ? 0x80000000u : 0u;
    s.Ng = v3_flip(s.Ng, turn);
    s.Ns = v3_flip(s.Ns, turn);
    if (!(v3_dot(s.Ns, wo) > 0.0f))
        s.Ns = s.Ng;
    if (rec) {
        rec->material = s.material;
        rec->t = hit.t;
        k_store3(rec->P, s.P);
        k_store3(rec->Ng, s.Ng);
        k_store3(rec->Ns, s.Ns);
        rec->uv[0] = s.u;
        rec->uv[1] = s.v;
    }
    if (k >= max_depth)
        return 0;
    struct k_bsdf b = k_bsdf_make(sc, s.material, s.u, s.v, entering);
    struct k_frame frame = k_frame_about(s.Ns);
    struct k_vec3 wo_local = k_to_local(frame, wo);
    struct k_vec3 above = k_offset(&s, s.Ng);
    if (!k_is_delta(b.type)) {
        struct k_numbers u = k_block(stream, 2 * k - 1);
        struct k_light_sample ls = k_light_sample_make(sc, above, u.u0, u.u1, u.u2);
        if (rec)
            rec->light = ls.light;
        if (rec && ls.ok) {
            k_store3(rec->light_wi, ls.wi);
            rec->light_pdf_w = ls.pdf_w;
        }
        if (ls.ok && v3_dot(ls.wi, s.Ng) > 0.0f) {
            struct k_vec3 wi = k_to_local(frame, ls.wi);
            float pdf_bsdf;
            struct k_vec3 f = k_bsdf_eval(&b, wo_local, wi, &pdf_bsdf);
            struct k_vec3 fc = v3_mul(v3_scale(f, FAULT_LOST_COSINE(wi.z)), ls.Le);
            if (v3_max(fc) > 0.0f) {
                float t_max = ls.distance * 0.9999f;
                if (!k_occluded(sc, above, ls.wi, FAULT_MISSED_SHADOW(t_max))) {
                    float mis = FAULT_WRONG_MIS_WEIGHT(k_power(ls.pdf_w, pdf_bsdf));
                    struct k_vec3 part =
                        v3_scale(v3_mul(w->beta, fc), FAULT_DOUBLED_LIGHT(mis / ls.pdf_w));
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
    struct k_bsdf_sample bs = k_bsdf_sample_make(&b, wo_local, u.u0, u.u1, u.u2);
    if (!bs.ok)
        return 0;
    struct k_vec3 wi = k_to_world(frame, bs.wi);
    int through = bs.wi.z < 0.0f;
    float side = v3_dot(wi, s.Ng);
    if (through ? !(side < 0.0f) : !(side > 0.0f))
        return 0;
    w->beta = v3_mul(w->beta, bs.weight);
    if (!(v3_max(w->beta) > 0.0f))
        return 0;
    if (rec) {
        rec->event = K_EVENT_SCATTER;
        k_store3(rec->wi, wi);
        rec->pdf_w = bs.pdf_w;
        k_store3(rec->weight, bs.weight);
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
    w->o = through ? k_offset(&s, v3_neg(s.Ng)) : above;
    w->d = wi;
    w->pdf_prev = bs.delta ? -1.0f : bs.pdf_w;
    return 1;
}

/* One sample: its radiance before the film. Where `record` is not 0, each vertex is written to it
 * (at most `capacity`) and *vertices counts them. */
K_FN struct k_vec3 k_path_result(const struct k_stream *stream, struct k_vec3 L)
{
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
    return k_path_result(stream, w.L);
}

#endif
