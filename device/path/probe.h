/* SPDX-License-Identifier: Apache-2.0 */
/* Single parts of the kernel, one row of words a work-item (enum probe of backends.h). */
#ifndef K_PROBE_H
#define K_PROBE_H
#include "path/path.h"

#define K_IN_F(i)     K_AS_FLOAT(in[i])
#define K_IN3(i)      v3(K_IN_F(i), K_IN_F((i) + 1), K_IN_F((i) + 2))
#define K_OUT_F(i, x) out[i] = K_AS_UINT(x)
#define K_OUT3(i, v)                                                                               \
    do {                                                                                           \
        K_OUT_F(i, (v).x);                                                                         \
        K_OUT_F((i) + 1, (v).y);                                                                   \
        K_OUT_F((i) + 2, (v).z);                                                                   \
    } while (0)

K_FN float k_probe_lane(k_f8 a)
{
    float lanes[8] __attribute__((aligned(32)));
    f8_store(a, lanes);
    return lanes[3];
}
K_FN float k_probe_math(uint function, float x, float y)
{
    float s, c;
    switch (function) {
    case 0:
        return x + y;
    case 1:
        return x - y;
    case 2:
        return x * y;
    case 3:
        return x / y;
    case 4:
        return K_SQRT(x);
    case 5:
        return x * y + x;
    case 6:
        return K_FLOOR(x);
    case 7:
        k_sincos(x, &s, &c);
        return s;
    case 8:
        k_sincos(x, &s, &c);
        return c;
    case 9:
        return k_atan2(x, y);
    case 10:
        return k_acos(x);
    case 11:
        return v3_dot(v3(x, y, x), v3(y, y, y));
    case 12:
        return v3_cross(v3(x, y, x), v3(y, y, x)).z;
    case 13:
        return v3_madd(v3(x, y, x), v3(y, x, y), y).z;
    default:
        return k_probe_lane(f8_add(f8_mul(f8_splat(x), f8_splat(y)), f8_splat(x)));
    }
}

/* PROBE_HIT */
K_FN void k_hit_item(const struct k_scene *sc, K_GLOBAL const uint *in_rows,
                     K_GLOBAL uint *out_rows, uint row)
{
    K_GLOBAL const uint *in = in_rows + 8 * (size_t)row;
    K_GLOBAL uint *out = out_rows + 5 * (size_t)row;
    struct k_vec3 o = K_IN3(0), d = K_IN3(3);
    float t_max = K_IN_F(6);
    struct k_hit hit;
    uint any;
    if (in[7]) {
        struct k_ray r = k_ray_make(o, d);
        hit = k_best_finish(k_brute_force(sc, &r, t_max));
        any = hit.primitive != K_NONE;
    } else {
        k_closest(sc, o, d, t_max, &hit);
        any = (uint)k_occluded(sc, o, d, t_max);
    }
    out[0] = hit.primitive;
    K_OUT_F(1, hit.t);
    K_OUT_F(2, hit.b1);
    K_OUT_F(3, hit.b2);
    out[4] = any;
}

/* A material at the origin of a plane whose normal is z and whose u runs along x: local directions
 * are those of the world. */
K_FN void k_probe_scatter(const struct k_scene *sc, uint material, float u, float v, int entering,
                          struct k_vec3 wo, struct k_scatter *x)
{
    struct k_surface s;
    s.P = v3(0.0f, 0.0f, 0.0f);
    s.Ng = v3(0.0f, 0.0f, 1.0f);
    s.Ns = s.Ng;
    s.u = u;
    s.v = v;
    s.extent = 0.0f;
    s.material = material;
    s.along = v3(1.0f, 0.0f, 0.0f);
    s.color = v3(1.0f, 1.0f, 1.0f);
    s.coat = s.Ns;
    k_scatter_make(sc, &s, wo, entering, x);
}
K_FN struct k_bsdf_sample k_probe_sample(const struct k_scatter *x, float choice, float u, float v)
{
    if (k_is_listed(x))
        return k_lobes_sample(&x->list, choice, u, v);
    return k_bsdf_sample_make(&x->b, x->wo, choice, u, v);
}
/* f without the cosine. */
K_FN struct k_vec3 k_probe_eval(const struct k_scatter *x, struct k_vec3 wi, float *pdf_w)
{
    if (k_is_listed(x)) {
        struct k_vec3 F = k_lobes_eval(&x->list, wi, pdf_w);
        return v3_scale(F, wi.z == 0.0f ? 0.0f : 1.0f / K_ABS(wi.z));
    }
    return k_bsdf_eval(&x->b, x->wo, wi, pdf_w);
}

/* The probes that need no scene. */
K_FN void k_arithmetic_item(K_GLOBAL const struct k_launch *launch, K_GLOBAL const uint *in_rows,
                            K_GLOBAL uint *out_rows, uint row)
{
    if (launch->probe == 0) { /* PROBE_RNG */
        K_GLOBAL const uint *in = in_rows + 6 * (size_t)row;
        K_GLOBAL uint *out = out_rows + 4 * (size_t)row;
        struct k_words w = k_philox(in[0], in[1], in[2], in[3], in[4], in[5]);
        for (int i = 0; i < 4; i++)
            out[i] = w.w[i];
    } else { /* PROBE_MATH */
        K_GLOBAL const uint *in = in_rows + 3 * (size_t)row;
        K_GLOBAL uint *out = out_rows + (size_t)row;
        K_OUT_F(0, k_probe_math(in[0], K_IN_F(1), K_IN_F(2)));
    }
}

/* The probes of a scene that follow no ray. */
K_FN void k_probe_item(const struct k_scene *sc, K_GLOBAL const uint *in_rows,
                       K_GLOBAL uint *out_rows, uint row)
{
    switch (sc->launch->probe) {
    case 3: { /* PROBE_BSDF_SAMPLE */
        K_GLOBAL const uint *in = in_rows + 10 * (size_t)row;
        K_GLOBAL uint *out = out_rows + 9 * (size_t)row;
        struct k_scatter x;
        k_probe_scatter(sc, in[0], K_IN_F(1), K_IN_F(2), in[3] != 0, K_IN3(4), &x);
        struct k_bsdf_sample s = k_probe_sample(&x, K_IN_F(7), K_IN_F(8), K_IN_F(9));
        out[0] = (uint)s.ok;
        out[1] = (uint)s.delta;
        K_OUT3(2, s.wi);
        K_OUT3(5, s.weight);
        K_OUT_F(8, s.pdf_w);
        break;
    }
    case 4: { /* PROBE_BSDF_EVAL */
        K_GLOBAL const uint *in = in_rows + 9 * (size_t)row;
        K_GLOBAL uint *out = out_rows + 4 * (size_t)row;
        struct k_scatter x;
        k_probe_scatter(sc, in[0], K_IN_F(1), K_IN_F(2), 1, K_IN3(3), &x);
        float pdf_w;
        struct k_vec3 f = k_probe_eval(&x, K_IN3(6), &pdf_w);
        K_OUT3(0, f);
        K_OUT_F(3, pdf_w);
        break;
    }
    case 5: { /* PROBE_LIGHT */
        K_GLOBAL const uint *in = in_rows + 9 * (size_t)row;
        K_GLOBAL uint *out = out_rows + 10 * (size_t)row;
        struct k_surface at;
        at.P = K_IN3(0);
        at.extent = 0.0f;
        const struct k_vec3 n = K_IN3(3);
        struct k_light_sample s =
            k_light_sample_make(sc, k_offset(&at, n), n, K_IN_F(6), K_IN_F(7), K_IN_F(8));
        out[0] = (uint)(s.ok && (k_is_black(n) || v3_dot(s.wi, n) > 0.0f));
        out[1] = s.light;
        K_OUT3(2, s.wi);
        K_OUT_F(5, s.distance);
        K_OUT_F(6, s.pdf_w);
        K_OUT3(7, s.Le);
        break;
    }
    case 6: { /* PROBE_TEXTURE */
        K_GLOBAL const uint *in = in_rows + 3 * (size_t)row;
        K_GLOBAL uint *out = out_rows + 3 * (size_t)row;
        struct k_vec3 c = k_texture_lookup(sc, in[0], K_IN_F(1), K_IN_F(2));
        K_OUT3(0, c);
        break;
    }
    default: { /* PROBE_ENVIRONMENT */
        K_GLOBAL const uint *in = in_rows + 3 * (size_t)row;
        K_GLOBAL uint *out = out_rows + 4 * (size_t)row;
        float pdf_w;
        struct k_vec3 l = k_env_eval(sc, K_IN3(0), &pdf_w);
        K_OUT3(0, l);
        K_OUT_F(3, pdf_w);
        break;
    }
    }
}

#endif
