/* SPDX-License-Identifier: Apache-2.0 */
#include "rays.h"

#include <math.h>

enum { PASSAGES = 64 };
static const uint32_t OCCLUSION_BLOCKS = 0xC0000000;

bool surface_along(const struct scene *s, const struct candidates *c, struct ray ray, double t_max,
                   struct hit *out)
{
    double way = 0;
    for (int i = 0;; i++) {
        struct probe probe = probe_make(ray);
        struct crossing crossing;
        if (!candidates_closest(c, &probe, t_max, &crossing))
            return false;
        *out = hit_at(s, &probe, &crossing);
        way += out->t;
        t_max -= out->t;
        out->t = way;
        if (!s->materials[scene_material_of(s, out->primitive)].interface || i == PASSAGES)
            return true;
        bool leaves = dot(out->Ng, ray.d) > 0;
        ray.o = offset_point(out->P, out->extent, leaves ? out->Ng : negate(out->Ng));
    }
}

/* The direction of ray i about n: two of the four numbers of a block. */
static struct vec3 occlusion_direction(const struct random_place *p, uint32_t i, struct vec3 n)
{
    double u[4];
    random_block(p->seed, p->x, p->y, p->sample, OCCLUSION_BLOCKS + 128 * p->k + i / 2, u);
    return to_world(frame_about(n), map_cosine(u[i % 2 * 2], u[i % 2 * 2 + 1]));
}

double occlusion(const struct scene *s, const struct candidates *c,
                 const struct random_place *place, struct vec3 origin, struct vec3 side,
                 struct vec3 n, uint32_t count, double t_max)
{
    uint32_t blocked = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct ray ray = {origin, occlusion_direction(place, i, n)};
        struct hit hit;
        blocked += !(dot(ray.d, side) > 0) || surface_along(s, c, ray, t_max, &hit);
    }
    return (double)blocked / count;
}
