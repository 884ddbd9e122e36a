/* SPDX-License-Identifier: Apache-2.0 */
/* How a vertex scatters: a material of section 7 on a path of its own, or a list of lobes (section
 * 20). */
#ifndef K_SCATTER_H
#define K_SCATTER_H
#include "path/media.h"
#include "surface/material.h"
#include "surface/surface.h"

struct k_scatter {
    struct k_bsdf b; /* where it is not listed */
    struct k_frame frame;
    struct k_vec3 wo; /* in the frame */
    int listed;
    struct k_lobes list;
    int inside; /* a medium, no surface */
    float g;
    struct k_vec3 albedo, d; /* d: of the ray that arrives */
};

K_FN int k_is_listed(const struct k_scatter *x) { return K_HAS(LOBES) && x->listed; }
K_FN int k_is_in_medium(const struct k_scatter *x) { return K_HAS(MEDIA) && x->inside; }

/* The medium whose number is the list's last. */
K_FN void k_scatter_in_medium(const struct k_scene *sc, uint list, struct k_vec3 d,
                              struct k_scatter *x)
{
    K_GLOBAL const struct k_medium *m = sc->media + ((list & 0xFFu) - 1u);
    x->inside = 1;
    x->listed = 0;
    x->g = m->g;
    x->albedo = v3_load(m->albedo);
    x->d = d;
}

/* Does its material run a shader? */
K_FN int k_is_shaded(const struct k_scene *sc, uint material)
{
    return K_HAS(SHADERS) && sc->materials[material].shader != 0u;
}

/* s: its normals turned to wo's side. */
K_FN void k_scatter_make(const struct k_scene *sc, const struct k_surface *s, struct k_vec3 wo,
                         int entering, struct k_scatter *x)
{
    K_GLOBAL const struct k_material *m = sc->materials + s->material;
    x->inside = 0;
    x->listed = K_HAS(LISTED) && m->type >= K_MATERIAL_LISTED;
    if (k_is_listed(x)) {
        k_lobes_start(&x->list, s->Ns, s->Ng, wo);
        k_material_lobes(sc, s, entering, &x->list);
        k_lobes_finish(&x->list);
        return;
    }
    x->b = k_bsdf_make(sc, m, m->type, s->u, s->v, entering);
    x->b.base = k_colored(s, x->b.base);
    x->frame = k_frame_about(s->Ns);
    x->wo = k_to_local(x->frame, wo);
}

/* What passes show (sections 20 and 29); N: the surface's Ns. */
K_FN struct k_vec3 k_scatter_albedo(const struct k_scatter *x)
{
    if (k_is_in_medium(x))
        return x->albedo;
    if (k_is_listed(x))
        return k_lobes_albedo(&x->list);
    return k_base_estimate(&x->b, x->wo.z);
}
K_FN struct k_vec3 k_scatter_normal(const struct k_scatter *x, struct k_vec3 N)
{
    return k_is_listed(x) ? k_lobes_normal(&x->list) : N;
}

/* Can light samples reach it? */
K_FN int k_scatter_lit(const struct k_scatter *x)
{
    if (k_is_listed(x))
        return k_lobes_lit(&x->list);
    return k_is_in_medium(x) || !k_is_delta(x->b.type);
}
/* Ng or -Ng: where the light sample that has the number u goes; *q: the chance of that. */
K_FN struct k_vec3 k_scatter_side(const struct k_scatter *x, struct k_vec3 Ng, float u, float *q)
{
    if (k_is_listed(x)) {
        int through = u < k_lobes_through(&x->list);
        *q = k_lobes_side_chance(&x->list, through);
        return v3_flip(Ng, through ? 0x80000000u : 0u);
    }
    *q = 1.0f;
    return Ng;
}
/* f |cos| and the density of the direction wi. */
K_FN struct k_vec3 k_scatter_eval(const struct k_scatter *x, struct k_vec3 wi, float *pdf_w)
{
    if (k_is_listed(x))
        return k_lobes_eval(&x->list, wi, pdf_w);
    if (k_is_in_medium(x)) {
        *pdf_w = k_phase(x->g, v3_dot(x->d, wi));
        return v3_scale(x->albedo, *pdf_w);
    }
    struct k_vec3 w = k_to_local(x->frame, wi);
    struct k_vec3 f = k_bsdf_eval(&x->b, x->wo, w, pdf_w);
    return v3_scale(f, FAULT_LOST_COSINE(w.z));
}

struct k_scattered {
    int ok, delta, through; /* through: it goes on from -Ng's side */
    uint ray;               /* K_RAY_* that goes on; 0: as it was */
    struct k_vec3 wi, weight;
    float pdf_w, q; /* q: the chance that a light sample takes that side */
};
K_FN struct k_scattered k_scatter_sample(const struct k_scatter *x, struct k_vec3 Ng, float choice,
                                         float u, float v)
{
    struct k_scattered r;
    struct k_bsdf_sample s;
    r.ok = 0;
    r.q = 1.0f;
    if (k_is_in_medium(x)) {
        r.ok = 1;
        r.delta = 0;
        r.through = 0;
        r.ray = 0;
        r.weight = x->albedo;
        r.wi = k_phase_sample(x->g, x->d, u, v, &r.pdf_w);
        return r;
    }
    if (k_is_listed(x)) {
        s = k_lobes_sample(&x->list, choice, u, v);
        if (!s.ok)
            return r;
        r.wi = s.wi;
        r.through = v3_dot(r.wi, Ng) < 0.0f;
        if (!s.delta)
            r.q = k_lobes_side_chance(&x->list, r.through);
    } else {
        s = k_bsdf_sample_make(&x->b, x->wo, choice, u, v);
        if (!s.ok)
            return r;
        r.wi = k_to_world(x->frame, s.wi);
        r.through = s.wi.z < 0.0f;
        float side = v3_dot(r.wi, Ng);
        if (r.through ? !(side < 0.0f) : !(side > 0.0f))
            return r;
    }
    r.ok = 1;
    r.delta = s.delta;
    r.ray = s.ray;
    r.weight = s.weight;
    r.pdf_w = s.pdf_w;
    return r;
}

#endif
