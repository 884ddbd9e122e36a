/* SPDX-License-Identifier: Apache-2.0 */
#include "media.h"

#include <stdlib.h>

enum { PASSAGES = MEDIA_PARTS - 1 };

bool media_used(const struct scene *s)
{
    bool used = false;
    for (size_t i = 0; i < s->material_count; i++)
        used = used || s->materials[i].medium.present || s->materials[i].interface;
    return used;
}

/* ---- where a path is ------------------------------------------------------------------------ */

/* Without its entry i. */
static void list_remove(struct media_list *list, unsigned i)
{
    list->count--;
    for (; i < list->count; i++)
        list->material[i] = list->material[i + 1];
}

void media_cross(struct media_list *list, const struct scene *s, uint32_t material, bool enters)
{
    if (!s->materials[material].medium.present)
        return;
    if (enters) {
        if (list->count == MEDIA_NESTED)
            list_remove(list, 0);
        list->material[list->count++] = material;
        return;
    }
    for (unsigned i = list->count; i-- > 0;) {
        if (list->material[i] == material) {
            list_remove(list, i);
            return;
        }
    }
}

const struct medium *media_innermost(const struct media_list *list, const struct scene *s,
                                     uint32_t *material)
{
    if (list->count == 0)
        return NULL;
    *material = list->material[list->count - 1];
    return &s->materials[*material].medium;
}

/* The number of a material's medium: they are counted from 1. */
static uint32_t medium_number(const struct scene *s, uint32_t material)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i <= material; i++)
        n += s->materials[i].medium.present;
    return n;
}

uint32_t media_pack(const struct media_list *list, const struct scene *s)
{
    uint32_t packed = 0;
    for (unsigned i = 0; i < list->count; i++)
        packed = packed << 8 | medium_number(s, list->material[i]);
    return packed;
}

struct media_list media_unpack(uint32_t packed, const struct scene *s)
{
    struct media_list list = {.count = 0};
    for (int at = 24; at >= 0; at -= 8)
        for (uint32_t i = 0; i < s->material_count && (packed >> at & 0xFF); i++)
            if (s->materials[i].medium.present && medium_number(s, i) == (packed >> at & 0xFF))
                list.material[list.count++] = i;
    return list;
}

/* Van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", IEEE TBME 30(2), 1983. */
static double solid_angle(struct vec3 a, struct vec3 b, struct vec3 c)
{
    double la = length(a), lb = length(b), lc = length(c);
    return 2 * atan2(dot(a, cross(b, c)),
                     la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

struct box {
    struct vec3 lower, upper;
};
static const struct box nowhere = {{INFINITY, INFINITY, INFINITY},
                                   {-INFINITY, -INFINITY, -INFINITY}};

static void box_add(struct box *b, struct vec3 p)
{
    b->lower = vec3(fmin(b->lower.x, p.x), fmin(b->lower.y, p.y), fmin(b->lower.z, p.z));
    b->upper = vec3(fmax(b->upper.x, p.x), fmax(b->upper.y, p.y), fmax(b->upper.z, p.z));
}

static bool box_contains(const struct box *b, struct vec3 p)
{
    return p.x >= b->lower.x && p.x <= b->upper.x && p.y >= b->lower.y && p.y <= b->upper.y &&
           p.z >= b->lower.z && p.z <= b->upper.z;
}

/* Around the prototype's triangles of the material, where they are stored. */
static struct box prototype_box(const struct scene *s, const struct prototype *p, uint32_t material)
{
    struct box b = nowhere;
    for (uint32_t i = p->first; i < p->first + p->count; i++)
        for (int k = 0; k < 3; k++)
            if (s->primitive_material[i + s->sphere_count + s->disk_count] == material)
                box_add(&b, from_float(s->P[s->triangles[i][k]]));
    return b;
}

/* What an instance adds to the winding about O, and its box to *all; own: its prototype's box. */
static double instance_winding(const struct scene *s, const struct instance *n, uint32_t material,
                               const struct box *own, struct vec3 O, struct box *all)
{
    struct box moved = nowhere;
    double w = 0;
    for (int i = 0; i < 8; i++) {
        struct vec3 p = {i & 1 ? own->upper.x : own->lower.x, i & 2 ? own->upper.y : own->lower.y,
                         i & 4 ? own->upper.z : own->lower.z};
        struct vec3 shift = {(double)n->to_world[0][3], (double)n->to_world[1][3],
                             (double)n->to_world[2][3]};
        struct vec3 turned = {dot(from_float(n->to_world[0]), p),
                              dot(from_float(n->to_world[1]), p),
                              dot(from_float(n->to_world[2]), p)};
        box_add(&moved, add(turned, shift));
    }
    box_add(all, moved.lower);
    box_add(all, moved.upper);
    for (uint32_t i = 0; box_contains(&moved, O) && i < s->prototypes[n->prototype].count; i++) {
        struct vec3 v[3];
        if (scene_material_of(s, n->first_id + i) != material)
            continue;
        triangle_vertices(s, n->first_id + i, v);
        w += solid_angle(sub(v[0], O), sub(v[1], O), sub(v[2], O)) / (4 * PI);
    }
    return w;
}

static double instances_winding(const struct scene *s, uint32_t material, struct vec3 O,
                                struct box *all)
{
    double w = 0;
    for (uint32_t p = 0; p < s->prototype_count; p++) {
        struct box own = prototype_box(s, &s->prototypes[p], material);
        for (size_t i = 0; own.lower.x <= own.upper.x && i < s->instance_count; i++)
            if (s->instances[i].prototype == p)
                w += instance_winding(s, &s->instances[i], material, &own, O, all);
    }
    return w;
}

/* How often the surfaces of a material go around O, and the volume of the box about them. */
static double winding(const struct scene *s, uint32_t material, struct vec3 O, double *volume)
{
    struct box all = nowhere;
    double w = instances_winding(s, material, O, &all);
    for (size_t i = 0; i < s->triangle_count + s->sphere_count; i++) {
        struct vec3 v[3];
        if (s->primitive_material[i] != material)
            continue;
        if (i < s->triangle_count) {
            triangle_vertices(s, (uint32_t)i, v);
            w += solid_angle(sub(v[0], O), sub(v[1], O), sub(v[2], O)) / (4 * PI);
        } else {
            const struct sphere *sphere = &s->spheres[i - s->triangle_count];
            struct vec3 c = from_float(sphere->center);
            double r = (double)sphere->radius;
            w += length(sub(O, c)) < r;
            v[0] = v[2] = sub(c, gray(r));
            v[1] = add(c, gray(r));
        }
        for (int k = 0; k < 3; k++)
            box_add(&all, v[k]);
    }
    struct vec3 d = sub(all.upper, all.lower);
    *volume = d.x * d.y * d.z;
    return w;
}

struct containing {
    double volume;
    uint32_t material;
};

static int larger_first(const void *a, const void *b)
{
    const struct containing *p = a, *q = b;
    if (p->volume != q->volume)
        return p->volume > q->volume ? -1 : 1;
    return p->material < q->material ? -1 : p->material > q->material;
}

struct media_list media_at_camera(const struct scene *s)
{
    struct containing found[MEDIA_MAX];
    struct media_list list = {.count = 0};
    size_t count = 0;
    for (uint32_t i = 0; i < s->material_count; i++) {
        double volume;
        if (s->materials[i].medium.present && count < MEDIA_MAX &&
            winding(s, i, from_double(s->camera.origin), &volume) > 0.5)
            found[count++] = (struct containing){volume, i};
    }
    qsort(found, count, sizeof *found, larger_first);
    for (size_t i = 0; i < count; i++)
        media_cross(&list, s, found[i].material, true);
    return list;
}

/* ---- flying --------------------------------------------------------------------------------- */

/* Extinction where the path is. */
static double density(const struct media_list *list, const struct scene *s)
{
    uint32_t material;
    const struct medium *m = media_innermost(list, s, &material);
    return m ? (double)m->density : 0;
}

/* Depth of absorption after `way` more where the path is. */
static struct vec3 absorbed(struct vec3 depth, const struct media_list *list, const struct scene *s,
                            double way)
{
    uint32_t material;
    const struct medium *m = media_innermost(list, s, &material);
    return m ? add(depth, scale(way, from_float(m->absorption))) : depth;
}

static struct vec3 attenuation(struct vec3 depth)
{
    return vec3(exp(-depth.x), exp(-depth.y), exp(-depth.z));
}

/* Past the interface that was hit along d: where the ray goes on. */
static struct vec3 pass(const struct scene *s, const struct hit *hit, struct vec3 d,
                        struct media_list *list)
{
    bool enters = !(dot(hit->Ng, d) > 0);
    media_cross(list, s, scene_material_of(s, hit->primitive), enters);
    return offset_point(hit->P, hit->extent, enters ? negate(hit->Ng) : hit->Ng);
}

static bool is_interface(const struct scene *s, const struct hit *hit)
{
    return s->materials[scene_material_of(s, hit->primitive)].interface;
}

static void part_add(struct media_parts *parts, const struct scene *s,
                     const struct media_list *list, struct vec3 o, const struct hit *hit)
{
    uint32_t material;
    if (parts)
        parts->part[parts->count++] =
            (struct media_part){o, *hit, media_innermost(list, s, &material)};
}

struct flight media_fly(const struct scene *s, const struct candidates *c, const struct ray *ray,
                        double u, struct media_list *list, struct media_parts *parts)
{
    double tau = -log(1 - u), way = 0;
    struct vec3 depth = gray(0);
    struct ray r = *ray;
    for (int i = 0;; i++) {
        struct probe probe = probe_make(r);
        struct crossing crossing;
        bool met = candidates_closest(c, &probe, INFINITY, &crossing);
        double sigma = density(list, s);
        if (sigma > 0 && (!met || tau / sigma < crossing.t)) {
            double step = tau / sigma;
            struct hit at = {.primitive = NO_PRIMITIVE, .t = way + step};
            at.P = add(r.o, scale(step, r.d));
            part_add(parts, s, list, r.o, &(struct hit){.primitive = NO_PRIMITIVE, .t = step});
            return (struct flight){FLIGHT_MEDIUM, at, attenuation(absorbed(depth, list, s, step))};
        }
        if (!met) {
            part_add(parts, s, list, r.o, &(struct hit){.primitive = NO_PRIMITIVE});
            return (struct flight){.end = FLIGHT_MISS, .transmittance = attenuation(depth)};
        }
        struct hit hit = hit_at(s, &probe, &crossing);
        part_add(parts, s, list, r.o, &hit);
        depth = absorbed(depth, list, s, hit.t);
        if (sigma > 0)
            tau = fmax(0, tau - sigma * hit.t);
        way += hit.t;
        hit.t = way;
        if (!is_interface(s, &hit) || i == PASSAGES)
            return (struct flight){FLIGHT_SURFACE, hit, attenuation(depth)};
        r.o = pass(s, &hit, r.d, list);
    }
}

struct vec3 media_visible(const struct scene *s, const struct candidates *c, struct ray ray,
                          double distance, struct media_list list, struct media_parts *parts)
{
    double tau = 0, t_max = 0.9999 * distance;
    struct vec3 depth = gray(0);
    for (int i = 0;; i++) {
        struct probe probe = probe_make(ray);
        struct crossing crossing;
        double sigma = density(&list, s);
        if (!candidates_closest(c, &probe, t_max, &crossing)) {
            part_add(parts, s, &list, ray.o,
                     &(struct hit){.primitive = NO_PRIMITIVE, .t = distance});
            if (isfinite(distance))
                depth = absorbed(depth, &list, s, distance);
            return attenuation(add(gray(sigma > 0 ? tau + sigma * distance : tau), depth));
        }
        struct hit hit = hit_at(s, &probe, &crossing);
        part_add(parts, s, &list, ray.o, &hit);
        if (!is_interface(s, &hit) || i == PASSAGES)
            return gray(0);
        tau += sigma * hit.t;
        depth = absorbed(depth, &list, s, hit.t);
        distance -= hit.t;
        t_max -= hit.t;
        ray.o = pass(s, &hit, ray.d, &list);
    }
}

/* ---- scattering ----------------------------------------------------------------------------- */

double phase_eval(double g, double c)
{
    double D = 1 + g * g - 2 * g * c;
    return (1 - g * g) / (4 * PI * D * sqrt(D));
}

struct vec3 phase_sample(double g, struct vec3 d, double u, double v, double *pdf_w)
{
    double c = 1 - 2 * u;
    if (g != 0) {
        double q = (1 - g * g) / (1 - g + 2 * g * u);
        c = clamp((1 + g * g - q * q) / (2 * g), -1, 1);
    }
    double r = sqrt(fmax(0, 1 - c * c)), phi = 2 * PI * v;
    *pdf_w = phase_eval(g, c);
    return to_world(frame_about(d), vec3(r * cos(phi), r * sin(phi), c));
}
