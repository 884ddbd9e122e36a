/* SPDX-License-Identifier: Apache-2.0 */
/* Rays that ask what is there (protocol section 30): of ambient occlusion, and of shaders. No
 * medium counts, and interfaces let them through. */
#ifndef K_RAYS_H
#define K_RAYS_H
#include "math/random.h"
#include "surface/surface.h"

#define K_PASSAGES 64u /* of interfaces, by one ray */

/* The closest surface along d with 0 < t < t_max; hit->t is the whole way. 0: there is none. */
K_FN int k_surface_along(const struct k_scene *sc, struct k_vec3 o, struct k_vec3 d, float t_max,
                         struct k_hit *hit, struct k_surface *s)
{
    float way = 0.0f;
    for (uint i = 0;; i++) {
        k_closest(sc, o, d, t_max, hit);
        if (hit->primitive == K_NONE)
            return 0;
        *s = k_surface_make(sc, hit, o, d);
        t_max = t_max - hit->t;
        way = way + hit->t;
        if (!K_HAS(MEDIA) || !sc->materials[s->material].interface_ || i == K_PASSAGES) {
            hit->t = way;
            return 1;
        }
        o = k_offset(s, v3_dot(s->Ng, d) > 0.0f ? s->Ng : v3_neg(s->Ng));
    }
}

/* Is there one? */
K_FN int k_blocked(const struct k_scene *sc, struct k_vec3 o, struct k_vec3 d, float t_max)
{
    struct k_hit hit;
    struct k_surface s;
    if (!K_HAS(MEDIA) || !sc->launch->media)
        return k_occluded(sc, o, d, t_max);
    return k_surface_along(sc, o, d, t_max, &hit, &s);
}

K_FN int k_is_direction(struct k_vec3 d)
{
    const float l = v3_dot(d, d);
    return (l > 0.0f) & k_finite(l);
}
/* That occlusion() asks with. */
K_FN uint k_ray_count(int samples)
{
    return (uint)(samples < 1 ? 1 : samples > 256 ? 256 : samples);
}

/* Is ray i of vertex k's occlusion blocked? From o, about n; rays that do not leave to the side of
 * `side` are. */
K_FN int k_occlusion_ray(const struct k_scene *sc, const struct k_stream *stream, uint k, uint i,
                         struct k_vec3 o, struct k_vec3 side, struct k_vec3 n, float t_max)
{
    const struct k_numbers u = k_block_at(stream, 0xC0000000u + 128u * k + (i >> 1));
    const int odd = (i & 1u) != 0u;
    const struct k_vec3 d = k_to_world(
        k_frame_about(n), k_sample_cosine(k_select(odd, u.u2, u.u0), k_select(odd, u.u3, u.u1)));
    return !(v3_dot(d, side) > 0.0f) || k_blocked(sc, o, d, t_max);
}

#endif
