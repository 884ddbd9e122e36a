/* SPDX-License-Identifier: Apache-2.0 */
/* Light choice, sampling and densities (protocol sections 5 and 24). */
#ifndef K_LIGHT_H
#define K_LIGHT_H
#include "light/environment.h"
#include "light/light_wide.h"

struct k_light_sample {
    int ok;
    int delta;  /* no surface: pdf_w is the probability of the choice, the MIS weight is 1 */
    uint light; /* K_NONE: none chosen */
    struct k_vec3 wi, Le;
    float distance; /* K_INF for the environment */
    float pdf_w;
};

/* a^2 / (a^2 + b^2), or a / (a + b) by the balance heuristic; a > 0 */
K_FN float k_mis(const struct k_scene *sc, float a, float b)
{
    float q = b / a;
    if (K_HAS(BALANCE) && sc->launch->balance)
        return 1.0f / (1.0f + q);
    return 1.0f / (1.0f + q * q);
}

K_FN int k_emission_varies(K_GLOBAL const struct k_material *m)
{
    return K_HAS(TEXTURED_LIGHTS) && m->emission_texture != 0;
}
/* What the material emits at (u, v), from a side that does. */
K_FN struct k_vec3 k_emission(const struct k_scene *sc, K_GLOBAL const struct k_material *m,
                              float u, float v)
{
    struct k_vec3 Le = v3_load(m->emission);
    if (k_emission_varies(m)) {
        Le = v3_mul(Le, k_color_lookup(sc, m->emission_texture - 1u, u, v));
        Le = v3(k_max(Le.x, 0.0f), k_max(Le.y, 0.0f), k_max(Le.z, 0.0f));
    }
    return Le;
}

/* Side that the light shows to a ray along d: the cosine, or 0 if that side does not emit. */
K_FN float k_light_cosine(uint two_sided, struct k_vec3 ng, struct k_vec3 d)
{
    float c = -v3_dot(d, ng);
    if (two_sided)
        c = K_ABS(c);
    return k_max(c, 0.0f);
}

/* density: of the choice, per unit of area. The caller fills in Le. */
K_FN struct k_light_sample k_light_from_area(uint two_sided, float density, struct k_vec3 p,
                                             struct k_vec3 q, struct k_vec3 ng, uint light)
{
    struct k_light_sample s;
    struct k_vec3 D = v3_sub(q, p);
    float dist2 = v3_dot(D, D);
    s.ok = 0;
    s.delta = 0;
    s.light = light;
    s.Le = v3(0.0f, 0.0f, 0.0f);
    s.wi = s.Le;
    s.distance = 0.0f;
    s.pdf_w = 0.0f;
    if (!(dist2 > 0.0f))
        return s;
    s.distance = K_SQRT(dist2);
    s.wi = v3_scale(D, 1.0f / s.distance);
    float c = k_light_cosine(two_sided, ng, s.wi);
    if (c > 0.0f) {
        s.ok = 1;
        s.pdf_w = (density * dist2) / c;
    }
    return s;
}

/* A triangle that emits. */
struct k_lamp {
    struct k_triangle t;
    struct k_vec3 ng, Le;
    uint two_sided;
    float density; /* of the choice, per unit of area */
};
K_FN struct k_lamp k_lamp_load(const struct k_scene *sc, K_GLOBAL const struct k_material *m,
                               uint id, float density)
{
    struct k_lamp a;
    a.t = k_triangle_load(sc, id);
    a.ng = v3_normalize(v3_cross(v3_sub(a.t.v1, a.t.v0), v3_sub(a.t.v2, a.t.v0)));
    a.Le = v3_load(m->emission);
    a.two_sided = m->two_sided;
    a.density = density;
    return a;
}
/* *b1, *b2: the weights of the point. */
K_FN struct k_light_sample k_light_from_lamp(const struct k_lamp *a, struct k_vec3 p, float u,
                                             float v, uint light, float *b1, float *b2)
{
    float q = K_SQRT(u);
    *b1 = 1.0f - q;
    *b2 = v * q;
    struct k_vec3 at =
        v3_madd(v3_madd(v3_scale(a->t.v0, (1.0f - *b1) - *b2), a->t.v1, *b1), a->t.v2, *b2);
    struct k_light_sample s = k_light_from_area(a->two_sided, a->density, p, at, a->ng, light);
    s.Le = a->Le;
    return s;
}

#ifdef K_LANES
/* Where lanes are paths each takes its word of all lights: to look one up would take it a load of
 * its own. words: [K_LAMP_WORDS][K_LIGHTS_ABREAST]. */
K_FN float k_lamp_word(const float *words, uint word, uint light)
{
    float x = 0.0f;
    _Pragma("clang loop unroll(full)") for (uint i = 0; i < K_LIGHTS_ABREAST; i++)
    {
        x = k_select(light == i, words[K_LIGHTS_ABREAST * word + i], x);
    }
    return x;
}
K_FN struct k_vec3 k_lamp_words(const float *words, uint word, uint light)
{
    return v3(k_lamp_word(words, word, light), k_lamp_word(words, word + 1u, light),
              k_lamp_word(words, word + 2u, light));
}
K_FN struct k_lamp k_lamp_of(const float *words, uint light)
{
    struct k_lamp a;
    a.t.v0 = k_lamp_words(words, 0, light);
    a.t.v1 = k_lamp_words(words, 3, light);
    a.t.v2 = k_lamp_words(words, 6, light);
    a.ng = k_lamp_words(words, 9, light);
    a.Le = k_lamp_words(words, 12, light);
    a.two_sided = k_lamp_word(words, 15, light) != 0.0f;
    a.density = k_lamp_word(words, 16, light);
    return a;
}
#endif

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
K_FN float k_sphere_chance(float density, float radius)
{
    return density * ((4.0f * K_PI) * (radius * radius));
}

/* (u, v) of the triangle's point with these weights (section 13). */
K_FN void k_triangle_uv(const struct k_scene *sc, uint id, float b0, float b1, float b2, float *u,
                        float *v)
{
    *u = b1;
    *v = b2;
    if (!(k_triangle_flags(sc, id) & 2u))
        return;
    K_GLOBAL const uint *i = sc->triangles + 3 * (size_t)id;
    K_GLOBAL const float *t0 = sc->uvs + 2 * (size_t)i[0], *t1 = sc->uvs + 2 * (size_t)i[1],
                         *t2 = sc->uvs + 2 * (size_t)i[2];
    *u = (t0[0] * b0 + t1[0] * b1) + t2[0] * b2;
    *v = (t0[1] * b0 + t1[1] * b1) + t2[1] * b2;
}

K_NOINLINE struct k_light_sample k_light_from_sphere(const struct k_scene *sc,
                                                     K_GLOBAL const struct k_material *m,
                                                     float density, uint index, struct k_vec3 p,
                                                     float u, float v, uint light)
{
    struct k_vec3 c = v3_load(sc->spheres[index].center);
    float radius = sc->spheres[index].radius;
    float cm = k_sphere_cone(p, c, radius);
    struct k_light_sample s;
    float tu, tv;
    if (cm == 0.0f) {
        struct k_vec3 n = k_sample_sphere(u, v);
        s = k_light_from_area(m->two_sided, density, p, v3_madd(c, n, radius), n, light);
        s.Le = v3_load(m->emission);
        if (k_emission_varies(m)) {
            k_sphere_uv(n, &tu, &tv);
            s.Le = k_emission(sc, m, tu, tv);
        }
        return s;
    }
    struct k_vec3 D = v3_sub(c, p);
    float dc2 = v3_dot(D, D), dc = K_SQRT(dc2);
    float w = u * cm;
    float sin2 = w * (2.0f - w), sine = K_SQRT(sin2), cosine = 1.0f - w;
    float sp, cp;
    k_sincos(K_TWO_PI * v, &sp, &cp);
    s.wi = k_to_world(k_frame_about(v3_scale(D, 1.0f / dc)), v3(sine * cp, sine * sp, cosine));
    s.distance = dc * cosine - K_SQRT(k_max(0.0f, radius * radius - dc2 * sin2));
    s.pdf_w = k_sphere_chance(density, radius) / (K_TWO_PI * cm);
    s.Le = v3_load(m->emission);
    if (k_emission_varies(m)) {
        k_sphere_uv(v3_normalize(v3_sub(v3_madd(p, s.wi, s.distance), c)), &tu, &tv);
        s.Le = k_emission(sc, m, tu, tv);
    }
    s.delta = 0;
    s.light = light;
    s.ok = s.pdf_w > 0.0f;
    return s;
}

/* Sample of a light without a surface that has been chosen with that probability. */
K_FN struct k_light_sample k_light_from_delta(const struct k_scene *sc, uint place, float chance,
                                              struct k_vec3 p, uint light)
{
    K_GLOBAL const struct k_delta_light *x = sc->delta_lights + place;
    struct k_light_sample s;
    s.ok = 1;
    s.delta = 1;
    s.light = light;
    s.pdf_w = chance;
    s.Le = v3_load(x->intensity);
    if (x->type == K_LIGHT_DIRECTIONAL) {
        s.wi = v3_neg(v3_load(x->direction));
        s.distance = K_INF;
        return s;
    }
    struct k_vec3 V = v3_sub(v3_load(x->position), p);
    float d2 = v3_dot(V, V), share = 1.0f;
    s.wi = v3(0.0f, 0.0f, 0.0f);
    s.distance = K_SQRT(d2);
    s.ok = d2 > 0.0f;
    if (!s.ok)
        return s;
    s.wi = v3_scale(V, 1.0f / s.distance);
    if (x->type == K_LIGHT_SPOT) {
        float c = -v3_dot(s.wi, v3_load(x->direction));
        float t = k_clamp01((c - x->cos_outer) * x->falloff);
        share = (t * t) * (3.0f - 2.0f * t);
        s.ok = share > 0.0f;
    }
    s.Le = v3_scale(s.Le, share / d2);
    return s;
}

/* Least i with C_i > u; if rounding leaves none, the last light with a weight. */
K_FN uint k_search_light(const struct k_scene *sc, float u)
{
    uint at = 0;
#ifdef K_LANES /* of all, as they are at hand; C grows */
    _Pragma("clang loop unroll(full)") for (uint i = 0; i + 1u < K_LIGHTS_ABREAST; i++) at +=
        sc->lamps_cdf[i] <= u;
#else
    uint n = sc->launch->light_last + 1;
    while (n > 1) {
        uint half_n = n >> 1;
        at += sc->lights[at + half_n - 1].cdf > u ? 0u : half_n;
        n -= half_n;
    }
#endif
    return at;
}

/* The choice among all lights but the environment by u: the light, K_NONE for none. *by_tree: the
 * chance of its descent, negative where it was chosen by power. */
K_FN uint k_light_choose(const struct k_scene *sc, struct k_vec3 p, struct k_vec3 g, float u,
                         float *by_tree)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    *by_tree = -1.0f;
    if (K_HAS(LIGHT_TREE) && L->light_tree != 0) {
        if (!(u < L->p_direct)) {
            u = (u - L->p_direct) / (1.0f - L->p_direct);
#if K_HAS_WIDE_LIGHTS
            return k_light_wide_choose(sc, p, g, u, by_tree);
#else
            return k_light_tree_choose(sc, p, g, u, by_tree);
#endif
        }
        u = u / L->p_direct;
    }
    return L->light_last == K_NONE ? K_NONE : k_search_light(sc, u);
}

/* D of section 15 for an area light that was chosen so. */
K_FN float k_light_share(const struct k_scene *sc, K_GLOBAL const struct k_material *m, uint light,
                         float by_tree)
{
    if (K_HAS(LIGHT_TREE) && sc->launch->light_tree != 0)
        return (sc->launch->tree_chance * by_tree) * sc->light_extras[light].per_area;
    if (k_emission_varies(m))
        return sc->light_extras[light].density;
    return m->light_density;
}

/* From p, which is offset to the side of g (0: no surface), with numbers choice, u, v. */
K_INLINE struct k_light_sample k_light_sample_make(const struct k_scene *sc, struct k_vec3 p,
                                                   struct k_vec3 g, float choice, float u, float v)
{
    K_GLOBAL const struct k_launch *L = sc->launch;
    struct k_light_sample s;
    s.ok = 0;
    s.delta = 0;
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
    float by_tree;
    uint light = k_light_choose(sc, p, g, (choice - L->p_env) / (1.0f - L->p_env), &by_tree);
    if (light == K_NONE)
        return s;
#ifdef K_LANES
    float b1, b2;
    const struct k_lamp lamp = k_lamp_of(sc->lamps, light);
    return k_light_from_lamp(&lamp, p, u, v, light, &b1, &b2);
#else
    uint id = sc->lights[light].primitive;
    if (K_HAS(LIGHTS) && id & K_DELTA_LIGHT) {
        id = id & ~K_DELTA_LIGHT;
        return k_light_from_delta(
            sc, id, by_tree < 0.0f ? sc->delta_lights[id].chance : L->tree_chance * by_tree, p,
            light);
    }
    K_GLOBAL const struct k_material *m = sc->materials + sc->primitive_materials[id];
    float density = k_light_share(sc, m, light, by_tree);
    float tu = 0.0f, tv = 0.0f; /* where the texture is looked up */
    if (!K_HAS(ROUND) || id < L->triangle_count) {
        const struct k_lamp lamp = k_lamp_load(sc, m, id, density);
        float b1, b2;
        s = k_light_from_lamp(&lamp, p, u, v, light, &b1, &b2);
        if (K_HAS(TEXTURED_LIGHTS))
            k_triangle_uv(sc, id, (1.0f - b1) - b2, b1, b2, &tu, &tv);
    } else {
        id -= L->triangle_count;
        if (id < L->sphere_count)
            return k_light_from_sphere(sc, m, density, id, p, u, v, light);
        id -= L->sphere_count;
        struct k_vec3 c = v3_load(sc->disks[id].center), n = v3_load(sc->disks[id].normal);
        struct k_frame f = k_frame_about(n);
        float x, y, radius = sc->disks[id].radius;
        k_sample_disk(u, v, &x, &y);
        s = k_light_from_area(m->two_sided, density, p,
                              v3_madd(v3_madd(c, f.s, radius * x), f.t, radius * y), n, light);
        tu = 0.5f + 0.5f * x;
        tv = 0.5f + 0.5f * y;
    }
    s.Le = k_emission(sc, m, tu, tv);
    return s;
#endif
}

/* The area light that is this primitive. */
K_FN uint k_light_of(const struct k_scene *sc, uint id)
{
    uint at = 0, n = sc->launch->area_light_count;
    while (n > 1) {
        uint half_n = n >> 1;
        at += sc->lights[at + half_n - 1].primitive >= id ? 0u : half_n;
        n -= half_n;
    }
    return at;
}

/* D of section 15 for the emitter hit by a ray from o, which is offset to the side of g. */
K_FN float k_light_share_of_hit(const struct k_scene *sc, K_GLOBAL const struct k_material *m,
                                uint id, struct k_vec3 o, struct k_vec3 g)
{
    if (!(K_HAS(LIGHT_TREE) || K_HAS(TEXTURED_LIGHTS)))
        return m->light_density;
    float by_tree = -1.0f;
    uint light = k_light_of(sc, id);
    if (K_HAS(LIGHT_TREE) && sc->launch->light_tree != 0) {
        uint place = sc->light_extras[light].place;
#if K_HAS_WIDE_LIGHTS
        by_tree = place == K_NONE ? 0.0f : k_light_wide_chance(sc, place, o, g);
#else
        by_tree = place == K_NONE ? 0.0f : k_light_tree_chance(sc, place, o, g);
#endif
    }
    return k_light_share(sc, m, light, by_tree);
}

/* Density with which light sampling at o, offset to the side of g, would have found the emitter hit
 * at distance t with cosine c > 0. */
K_FN float k_light_density(const struct k_scene *sc, K_GLOBAL const struct k_material *m, uint id,
                           struct k_vec3 o, struct k_vec3 g, float t, float c)
{
    uint i = id - sc->launch->triangle_count;
    float density = k_light_share_of_hit(sc, m, id, o, g);
    if (K_HAS(ROUND) && id >= sc->launch->triangle_count && i < sc->launch->sphere_count) {
        float radius = sc->spheres[i].radius;
        float cm = k_sphere_cone(o, v3_load(sc->spheres[i].center), radius);
        if (cm > 0.0f)
            return k_sphere_chance(density, radius) / (K_TWO_PI * cm);
    }
    return (density * (t * t)) / c;
}

#endif
