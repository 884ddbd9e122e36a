/* SPDX-License-Identifier: Apache-2.0 */
#include "rays.h"

#include <math.h>

enum { PASSAGES = 64 };
static const uint32_t OCCLUSION_BLOCKS = 0xC0000000;

/* The largest coordinate that goes into the test of this ray: of its start, and of what is met before
 * t_max, or stands so near either end that the offset of section 4 would not clear it. */
static double ray_reach(const struct scene *s, const struct candidates *c, struct ray ray,
                        double t_max)
{
    double most = max_abs(ray.o);
    for (int back = 0; back < 2; back++) {
        const struct probe probe = probe_make((struct ray){ray.o, back ? negate(ray.d) : ray.d});
        struct crossing crossing;
        if (!candidates_closest(c, &probe, INFINITY, &crossing))
            continue;
        const struct hit hit = hit_at(s, &probe, &crossing);
        const double size = fmax(max_abs(hit.P), hit.extent);
        if (hit.t < (back ? 0 : t_max) + 0x1p-19 * size)
            most = fmax(most, size);
    }
    return most;
}

/* Of the surfaces within `depth` of the closest one the last. */
static bool crossing_find(const struct candidates *c, const struct probe *probe, double t_max,
                          double depth, struct crossing *out)
{
    struct crossing next;
    if (!candidates_closest(c, probe, t_max, out))
        return false;
    const double end = fmin(t_max, out->t + depth);
    while (depth > 0 && candidates_next(c, probe, out, end, &next))
        *out = next;
    return true;
}

bool surface_along(const struct scene *s, const struct candidates *c, struct ray ray, double t_max,
                   const struct ray_motion *by, struct hit *out)
{
    double way = 0, depth = 0;
    if (by) {
        const bool shifts = max_abs(by->start) > 0 || by->depth > 0;
        const double reach = shifts ? ray_reach(s, c, ray, t_max) : 0;
        depth = reach * by->depth;
        ray = (struct ray){add(ray.o, scale(reach, by->start)), normalize(add(ray.d, by->turn))};
    }
    for (int i = 0;; i++) {
        struct probe probe = probe_make(ray);
        struct crossing crossing;
        if (!crossing_find(c, &probe, t_max, depth, &crossing))
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
                 struct vec3 n, uint32_t count, double t_max, const struct ray_motion *moved)
{
    uint32_t blocked = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct ray ray = {origin, occlusion_direction(place, i, n)};
        struct hit hit;
        const struct vec3 d = moved ? add(ray.d, moved->turn) : ray.d;
        blocked += !(dot(d, side) > 0) || surface_along(s, c, ray, t_max, moved, &hit);
    }
    return (double)blocked / count;
}
