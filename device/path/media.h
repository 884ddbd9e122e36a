/* SPDX-License-Identifier: Apache-2.0 */
/* Homogeneous media (protocol section 27). */
#ifndef K_MEDIA_H
#define K_MEDIA_H
#include "math/exponential.h"
#include "surface/rays.h"

/* The media where a path is: their numbers, from 1, a byte each; the lowest is the last. */
K_FN uint k_media_cross(uint list, uint medium, int enter)
{
    if (medium == 0u)
        return list;
    if (enter)
        return list << 8 | medium;
    for (uint at = 0; at < 32u; at += 8u) {
        if (((list >> at) & 0xFFu) == medium)
            return (list & ((1u << at) - 1u)) | (((list >> at) >> 8) << at);
    }
    return list;
}
/* Extinction; 0 in vacuum. */
K_FN float k_media_density(const struct k_scene *sc, uint list)
{
    uint medium = list & 0xFFu;
    return medium ? FAULT_DENSER_MEDIUM(sc->media[medium - 1u].density) : 0.0f;
}

/* A medium's absorption over the way t, added to what was before. */
K_FN struct k_vec3 k_media_absorb(const struct k_scene *sc, uint list, struct k_vec3 before,
                                  float t)
{
    uint medium = list & 0xFFu;
    return medium ? v3_madd(before, v3_load(sc->media[medium - 1u].absorption), t) : before;
}
/* exp(-(tau + A)) by channel. */
K_FN struct k_vec3 k_media_left(float tau, struct k_vec3 A)
{
    return v3(k_exp(-(tau + A.x)), k_exp(-(tau + A.y)), k_exp(-(tau + A.z)));
}

K_FN struct k_vec3 k_media_dim(struct k_vec3 beta, struct k_vec3 A)
{
    return v3_max(A) > 0.0f ? v3_mul(beta, k_media_left(0.0f, A)) : beta;
}

/* Past the interface s, whose normals are as stored, along d: where the ray goes on. */
K_FN struct k_vec3 k_media_pass(const struct k_scene *sc, const struct k_surface *s,
                                struct k_vec3 d, uint *list)
{
    int behind = v3_dot(s->Ng, v3_neg(d)) < 0.0f;
    *list = k_media_cross(*list, sc->materials[s->material].medium, !behind);
    return k_offset(s, behind ? s->Ng : v3_neg(s->Ng));
}

/* The last part of a flight, from the border of a medium, or from the start. */
struct k_leg {
    struct k_vec3 o;
    float t;
};
/* Where a flight along d ended in the list's last medium, as a surface that has no normal. */
K_FN void k_media_point(const struct k_scene *sc, uint list, const struct k_leg *leg,
                        struct k_vec3 d, struct k_surface *s)
{
    s->P = v3_madd(leg->o, d, leg->t);
    s->material = sc->media[(list & 0xFFu) - 1u].material;
    s->Ng = s->Ns = v3(0.0f, 0.0f, 0.0f);
    s->u = s->v = s->extent = 0.0f;
}
/* The surface that it met, by its last leg. */
K_FN struct k_surface k_media_surface(const struct k_scene *sc, const struct k_hit *hit,
                                      const struct k_leg *leg, struct k_vec3 d)
{
    struct k_hit last = *hit;
    last.t = leg->t;
    return k_surface_make(sc, &last, leg->o, d);
}

/* From o to vertex k. hit->t is the whole way, *leg its last part. 1: it lies in a medium, and hit
 * has no primitive; else it is what was hit. beta loses what is absorbed. */
K_FN int k_media_fly(const struct k_scene *sc, const struct k_stream *stream, uint k,
                     struct k_vec3 o, struct k_vec3 d, uint *list, struct k_hit *hit,
                     struct k_leg *leg, struct k_vec3 *beta)
{
    float way = 0.0f, tau = -1.0f; /* tau: not drawn yet */
    struct k_vec3 A = v3(0.0f, 0.0f, 0.0f);
    for (uint i = 0;; i++) {
        k_closest(sc, o, d, K_INF, hit);
        float sigma = k_media_density(sc, *list);
        int some = sigma > 0.0f, met = hit->primitive != K_NONE;
        if (some && tau < 0.0f)
            tau = -k_log(1.0f - k_block_more(stream, k, 0).u0);
        float step = some ? tau / sigma : K_INF;
        if (some && (!met || step < hit->t)) {
            *beta = k_media_dim(*beta, k_media_absorb(sc, *list, A, step));
            leg->o = o;
            leg->t = step;
            hit->primitive = K_NONE;
            hit->t = way + step;
            return 1;
        }
        if (!met) {
            *beta = k_media_dim(*beta, A);
            return 0;
        }
        A = k_media_absorb(sc, *list, A, hit->t);
        leg->o = o;
        leg->t = hit->t;
        if (some)
            tau = k_max(0.0f, tau - sigma * hit->t);
        way = way + hit->t;
        hit->t = way;
        if (!sc->materials[k_hit_material(sc, hit)].interface_ || i == K_PASSAGES) {
            *beta = k_media_dim(*beta, A);
            return 0;
        }
        struct k_surface s = k_media_surface(sc, hit, leg, d);
        o = k_media_pass(sc, &s, d, list);
    }
}

/* How much of the light from `distance` away reaches o along -d; shadow rays run to t_max. */
K_FN struct k_vec3 k_media_visible(const struct k_scene *sc, struct k_vec3 o, struct k_vec3 d,
                                   float distance, float t_max, uint list)
{
    const struct k_vec3 none = v3(0.0f, 0.0f, 0.0f);
    struct k_vec3 A = none;
    float tau = 0.0f;
#ifndef K_CUDA /* whose programs have media where their scenes do; a processor's have all there is */
    if (!sc->launch->media)
        return k_occluded(sc, o, d, t_max) ? none : v3(1.0f, 1.0f, 1.0f);
#endif
    for (uint i = 0;; i++) {
        struct k_hit hit;
        k_closest(sc, o, d, t_max, &hit);
        float sigma = k_media_density(sc, list);
        if (hit.primitive == K_NONE) {
            if (sigma > 0.0f)
                tau = tau + sigma * distance;
            if (distance < 0x1p100f) /* 0 times infinity is no number */
                A = k_media_absorb(sc, list, A, distance);
            return k_media_left(tau, A);
        }
        struct k_surface s = k_surface_make(sc, &hit, o, d);
        if (!sc->materials[s.material].interface_ || i == K_PASSAGES)
            return none;
        if (sigma > 0.0f)
            tau = tau + sigma * hit.t;
        A = k_media_absorb(sc, list, A, hit.t);
        distance = distance - hit.t;
        t_max = t_max - hit.t;
        o = k_media_pass(sc, &s, d, &list);
    }
}

/* Henyey and Greenstein's phase function of c = <d, wi>. */
K_FN float k_phase(float g, float c)
{
    float D = (1.0f + g * g) - (2.0f * g) * c;
    return (0.25f * K_INV_PI) * ((1.0f - g * g) / (D * K_SQRT(D)));
}
K_FN struct k_vec3 k_phase_sample(float g, struct k_vec3 d, float u, float v, float *pdf_w)
{
    float c = 1.0f - 2.0f * u;
    if (g != 0.0f) {
        float q = (1.0f - g * g) / ((1.0f - g) + (2.0f * g) * u);
        c = k_min(k_max(((1.0f + g * g) - q * q) / (2.0f * g), -1.0f), 1.0f);
    }
    float sine, cosine, r = K_SQRT(k_max(0.0f, 1.0f - c * c));
    k_sincos(K_TWO_PI * v, &sine, &cosine);
    *pdf_w = k_phase(g, c);
    return k_to_world(k_frame_about(d), v3(r * cosine, r * sine, c));
}

#endif
