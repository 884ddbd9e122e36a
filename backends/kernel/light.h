/* Light choice, sampling and densities (protocol section 5). */
#ifndef K_LIGHT_H
#define K_LIGHT_H
#include "environment.h"

struct k_light_sample {
    int ok;
    uint light; /* K_NONE: none chosen */
    struct k_vec3 wi, Le;
    float distance; /* K_INF for the environment */
    float pdf_w;
};

/* a^2 / (a^2 + b^2), a > 0 */
K_FN float k_power(float a, float b)
{
    float r = b / a;
    return 1.0f / (1.0f + r * r);
}

/* Side that the light shows to a ray along d: the cosine, or 0 if that side does not emit. */
K_FN float k_light_cosine(K_GLOBAL const struct k_material *m, struct k_vec3 ng, struct k_vec3 d)
{
    float c = -v3_dot(d, ng);
    if (m->two_sided)
        c = K_ABS(c);
    return k_max(c, 0.0f);
}

K_FN struct k_light_sample k_light_from_area(K_GLOBAL const struct k_material *m, struct k_vec3 p,
                                             struct k_vec3 q, struct k_vec3 ng, uint light)
{
    struct k_light_sample s;
    struct k_vec3 D = v3_sub(q, p);
    float dist2 = v3_dot(D, D);
    s.ok = 0;
    s.light = light;
    s.Le = v3_load(m->emission);
    s.wi = v3(0.0f, 0.0f, 0.0f);
    s.distance = 0.0f;
    s.pdf_w = 0.0f;
    if (!(dist2 > 0.0f))
        return s;
    s.distance = K_SQRT(dist2);
    s.wi = v3_scale(D, 1.0f / s.distance);
    float c = k_light_cosine(m, ng, s.wi);
    if (c > 0.0f) {
        s.ok = 1;
        s.pdf_w = (m->light_density * dist2) / c;
    }
    return s;
}

/* A sphere seen from outside: 1 - cos of its half angle, or 0 when p is inside or nearly touches
 * it. */
K_FN float k_sphere_cone(struct k_vec3 p, struct k_vec3 c, float radius)
{
    struct k_vec3 D = v3_sub(c, p);
    float dc2 = v3_dot(D, D), r2 = radius * radius;
    if (!(dc2 > 1.0001f * r2))
        return 0.0f;
    float s2 = r2 / dc2;
    return s2 / (1.0f + K_SQRT(1.0f - s2));
}
/* Chance of choosing a sphere light: its density per area times 4 pi r^2. */
K_FN float k_sphere_chance(K_GLOBAL const struct k_material *m, float radius)
{
    return m->light_density * ((4.0f * K_PI) * (radius * radius));
}

K_NOINLINE struct k_light_sample k_light_from_sphere(const struct k_scene *sc,
                                                     K_GLOBAL const struct k_material *m,
                                                     uint index, struct k_vec3 p, float u, float v,
                                                     uint light)
{
    struct k_vec3 c = v3_load(sc->spheres[index].center);
    float radius = sc->spheres[index].radius;
    float cm = k_sphere_cone(p, c, radius);
    if (cm == 0.0f) {
        struct k_vec3 n = k_sample_sphere(u, v);
        return k_light_from_area(m, p, v3_madd(c, n, radius), n, light);
    }
    struct k_light_sample s;
    struct k_vec3 D = v3_sub(c, p);
    float dc2 = v3_dot(D, D), dc = K_SQRT(dc2);
    float w = u * cm;
    float sin2 = w * (2.0f - w), sine = K_SQRT(sin2), cosine = 1.0f - w;
    float sp, cp;
    k_sincos(K_TWO_PI * v, &sp, &cp);
    s.wi = k_to_world(k_frame_about(v3_scale(D, 1.0f / dc)), v3(sine * cp, sine * sp, cosine));
    s.distance = dc * cosine - K_SQRT(k_max(0.0f, radius * radius - dc2 * sin2));
    s.pdf_w = k_sphere_chance(m, radius) / (K_TWO_PI * cm);
    s.Le = v3_load(m->emission);
    s.light = light;
    s.ok = s.pdf_w > 0.0f;
    return s;
}

/* Least i with C_i > u; if rounding leaves none, the last light with a weight. */
K_FN uint k_search_light(const struct k_scene *sc, float u)
{
    uint at = 0, n = sc->launch->light_last + 1;
    while (n > 1) {
        uint half_n = n >> 1;
        at += sc->lights[at + half_n - 1].cdf > u ? 0u : half_n;
        n -= half_n;
    }
    return at;
}

/* From p (already offset), with numbers choice, u, v. */
K_INLINE struct k_light_sample k_light_sample_make(const struct k_scene *sc, struct k_vec3 p,
                                                   float choice, float u, float v)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    struct k_light_sample s;
    s.ok = 0;
    s.light = K_NONE;
    s.wi = v3(0.0f, 0.0f, 0.0f);
    s.Le = s.wi;
    s.distance = 0.0f;
    s.pdf_w = 0.0f;
    if (choice < L->p_env) {
        s.light = L->light_count;
        s.Le = k_env_sample(sc, u, v, &s.wi, &s.pdf_w);
        s.distance = K_INF;
        s.ok = s.pdf_w > 0.0f;
        return s;
    }
    if (L->light_last == K_NONE)
        return s;
    uint light = k_search_light(sc, (choice - L->p_env) / (1.0f - L->p_env));
    uint id = sc->lights[light].primitive;
    K_GLOBAL const struct k_material *m = sc->materials + sc->primitive_materials[id];
    if (id < L->triangle_count) {
        struct k_triangle t = k_triangle_load(sc, id);
        float q = K_SQRT(u);
        float b1 = 1.0f - q, b2 = v * q, b0 = (1.0f - b1) - b2;
        struct k_vec3 ng = v3_normalize(v3_cross(v3_sub(t.v1, t.v0), v3_sub(t.v2, t.v0)));
        return k_light_from_area(m, p, v3_madd(v3_madd(v3_scale(t.v0, b0), t.v1, b1), t.v2, b2), ng,
                                 light);
    }
    id -= L->triangle_count;
    if (id < L->sphere_count)
        return k_light_from_sphere(sc, m, id, p, u, v, light);
    id -= L->sphere_count;
    struct k_vec3 c = v3_load(sc->disks[id].center), n = v3_load(sc->disks[id].normal);
    struct k_frame f = k_frame_about(n);
    float x, y, radius = sc->disks[id].radius;
    k_sample_disk(u, v, &x, &y);
    return k_light_from_area(m, p, v3_madd(v3_madd(c, f.s, radius * x), f.t, radius * y), n, light);
}

/* Density with which light sampling at o would have found the emitter hit at distance t with cosine
 * c > 0. */
K_FN float k_light_density(const struct k_scene *sc, K_GLOBAL const struct k_material *m, uint id,
                           struct k_vec3 o, float t, float c)
{
    uint i = id - sc->launch->triangle_count;
    if (id >= sc->launch->triangle_count && i < sc->launch->sphere_count) {
        float radius = sc->spheres[i].radius;
        float cm = k_sphere_cone(o, v3_load(sc->spheres[i].center), radius);
        if (cm > 0.0f)
            return k_sphere_chance(m, radius) / (K_TWO_PI * cm);
    }
    return (m->light_density * (t * t)) / c;
}

#endif
