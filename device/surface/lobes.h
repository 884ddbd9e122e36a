/* SPDX-License-Identifier: Apache-2.0 */
/* A list of lobes as one BSDF (protocol section 20). Whoever fills a list calls k_lobes_start, then
 * k_lobes_add for each lobe, in order, then k_lobes_finish; directions here are in world space. */
#ifndef K_LOBES_H
#define K_LOBES_H
#include "surface/lobe.h"

#ifndef K_LOBES_MAX
#define K_LOBES_MAX 8u /* that are kept; less where the host knows that no list is longer */
#endif

struct k_lobes {
    struct k_lobe lobe[K_LOBES_MAX];
    uint count;
    struct k_vec3 N, Ng, wo; /* both normals on wo's side */
    /* Section 22: Le, and the weight of the surroundings that is yet to be in it. */
    struct k_vec3 emitted, background;
    float S;                        /* sum of c_i */
    float reflecting, transmitting; /* P_r, P_t */
};

K_FN void k_lobes_start(struct k_lobes *l, struct k_vec3 N, struct k_vec3 Ng, struct k_vec3 wo)
{
    l->count = 0;
    l->N = N;
    l->Ng = Ng;
    l->wo = wo;
    l->emitted = v3(0.0f, 0.0f, 0.0f);
    l->background = l->emitted;
    l->S = 0.0f;
    l->reflecting = 0.0f;
    l->transmitting = 0.0f;
}
/* The lobe, its kind, weight and frame set, for the caller to set the rest; 0 when its weight is 0
 * or the list is full. */
K_CALL struct k_lobe *k_lobes_add(struct k_lobes *l, uint kind, struct k_vec3 weight,
                                  struct k_vec3 n)
{
    weight = k_weight(weight);
    if (k_is_black(weight) || l->count == K_LOBES_MAX)
        return (struct k_lobe *)0;
    struct k_lobe *lobe = &l->lobe[l->count++];
    lobe->kind = kind;
    lobe->weight = weight;
    lobe->frame = k_frame_about(k_lobe_normal(n, l->N, l->wo));
    lobe->fresnel = K_FRESNEL_ONE;
    lobe->beckmann = 0;
    lobe->ax = 0.0f;
    lobe->ay = 0.0f;
    lobe->shape = 0.0f;
    lobe->eta = 1.0f;
    lobe->exponent = 0.0f;
    lobe->a = v3(0.0f, 0.0f, 0.0f);
    lobe->b = lobe->a;
    lobe->c = 0.0f;
    return lobe;
}
K_FN void k_lobes_add_base(struct k_lobes *l, struct k_vec3 weight, struct k_vec3 n,
                           const struct k_bsdf *b)
{
    struct k_lobe *lobe = k_lobes_add(l, K_LOBE_BASE, weight, n);
    if (lobe)
        k_lobe_set_base(lobe, b);
}

K_FN struct k_vec3 k_lobes_estimate(const struct k_lobes *l, uint i)
{
    return k_lobe_estimate(&l->lobe[i], v3_dot(l->wo, l->lobe[i].frame.n));
}
/* Y of section 5: black to the eye is not black to a channel. */
K_FN float k_lobes_luminance(struct k_vec3 c)
{
    float Y = v3_luminance(c);
    return Y > 0.0f ? Y : v3_max(c) / 3.0f;
}
K_CALL void k_lobes_finish(struct k_lobes *l)
{
    for (uint i = 0; i < l->count; i++) {
        struct k_lobe *lobe = &l->lobe[i];
        struct k_vec3 e = k_lobes_estimate(l, i);
        int delta = k_lobe_is_delta(lobe);
        float m = delta ? 0.0f : 0.05f;
        lobe->c = k_lobes_luminance(
            v3_mul(lobe->weight, v3(k_max(e.x, m), k_max(e.y, m), k_max(e.z, m))));
        l->S = l->S + lobe->c;
        if (delta)
            continue;
        if (k_lobe_transmits(lobe))
            l->transmitting = l->transmitting + lobe->c;
        else
            l->reflecting = l->reflecting + lobe->c;
    }
    if (!(l->S > 0.0f))
        l->count = 0;
}

/* p_i */
K_FN float k_lobes_chance(const struct k_lobes *l, uint i)
{
    return l->count == 1u ? 1.0f : l->lobe[i].c / l->S;
}

/* ---- light samples -------------------------------------------------------------------------- */

/* Has it a lobe that light samples can reach? */
K_FN int k_lobes_lit(const struct k_lobes *l)
{
    return l->count != 0u && (l->reflecting > 0.0f || l->transmitting > 0.0f);
}
/* The chance that a light sample goes to -Ng, and q of either side. */
K_FN float k_lobes_through(const struct k_lobes *l)
{
    return l->transmitting > 0.0f ? l->transmitting / (l->reflecting + l->transmitting) : 0.0f;
}
K_FN float k_lobes_side_chance(const struct k_lobes *l, int through)
{
    float t = k_lobes_through(l);
    return through ? t : 1.0f - t;
}

/* ---- the three views ------------------------------------------------------------------------ */

/* Sum of w_i f_i |cos|, and the density of wi. */
K_CALL struct k_vec3 k_lobes_eval(const struct k_lobes *l, struct k_vec3 wi, float *pdf_w)
{
    struct k_vec3 F = v3(0.0f, 0.0f, 0.0f);
    float side = v3_dot(wi, l->Ng), sum = 0.0f;
    for (uint i = 0; i < l->count; i++) {
        const struct k_lobe *lobe = &l->lobe[i];
        int through = k_lobe_transmits(lobe);
        if (k_lobe_is_delta(lobe) || (through ? !(side < 0.0f) : !(side > 0.0f)))
            continue;
        struct k_vec3 wo = k_to_local(lobe->frame, l->wo), w = k_to_local(lobe->frame, wi);
        if (!(wo.z > 0.0f) || (through ? !(w.z < 0.0f) : !(w.z > 0.0f)))
            continue;
        float pdf;
        struct k_vec3 f = k_lobe_eval(lobe, wo, w, &pdf);
        F = v3_add(F, v3_mul(lobe->weight, v3_scale(f, K_ABS(w.z))));
        sum = sum + k_lobes_chance(l, i) * pdf;
    }
    *pdf_w = sum;
    return F;
}

/* A direction by the numbers choice, u, v. wi is in world space; weight is f |cos| / pdf_w. */
K_CALL struct k_bsdf_sample k_lobes_sample(const struct k_lobes *l, float choice, float u, float v)
{
    struct k_bsdf_sample s;
    float before = 0.0f, target = choice * l->S, C_prev = 0.0f;
    uint i = 0;
    s.ok = 0;
    if (l->count == 0u)
        return s;
    if (l->count > 1u) {
        uint last = 0;
        for (i = 0; i < l->count; i++) {
            float c = l->lobe[i].c;
            if (!(c > 0.0f))
                continue;
            last = i;
            C_prev = before;
            before = before + c;
            if (before > target)
                break;
        }
        i = last;
        choice = k_min(k_max((target - C_prev) / l->lobe[i].c, 0.0f), 0x1.fffffep-1f);
    }
    const struct k_lobe *lobe = &l->lobe[i];
    struct k_vec3 wo = k_to_local(lobe->frame, l->wo);
    s = k_lobe_sample(lobe, wo, choice, u, v);
    int through = lobe->kind == K_LOBE_BASE ? s.wi.z < 0.0f : k_lobe_transmits(lobe);
    if (!s.ok || !(wo.z > 0.0f) || (through ? !(s.wi.z < 0.0f) : !(s.wi.z > 0.0f)))
        s.ok = 0;
    s.wi = lobe->kind == K_LOBE_STRAIGHT ? v3_neg(l->wo) : k_to_world(lobe->frame, s.wi);
    float side = v3_dot(s.wi, l->Ng);
    if (!s.ok || (through ? !(side < 0.0f) : !(side > 0.0f))) {
        s.ok = 0;
        return s;
    }
    float p = k_lobes_chance(l, i);
    if (s.delta) {
        struct k_vec3 w = v3_mul(lobe->weight, s.weight);
        s.weight = v3(w.x / p, w.y / p, w.z / p);
        s.pdf_w = 0.0f;
        return s;
    }
    struct k_vec3 F = k_lobes_eval(l, s.wi, &s.pdf_w);
    s.ok = s.pdf_w > 0.0f;
    s.weight = v3(F.x / s.pdf_w, F.y / s.pdf_w, F.z / s.pdf_w);
    return s;
}

/* ---- auxiliary passes ----------------------------------------------------------------------- */

K_FN struct k_vec3 k_lobes_albedo(const struct k_lobes *l)
{
    struct k_vec3 a = v3(0.0f, 0.0f, 0.0f);
    for (uint i = 0; i < l->count; i++)
        a = v3_add(a, v3_mul(l->lobe[i].weight, k_lobes_estimate(l, i)));
    return v3(k_clamp01(a.x), k_clamp01(a.y), k_clamp01(a.z));
}
K_FN struct k_vec3 k_lobes_normal(const struct k_lobes *l)
{
    return l->count ? l->lobe[0].frame.n : l->N;
}

#endif
