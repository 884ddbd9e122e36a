/* SPDX-License-Identifier: Apache-2.0 */
#include "hit.h"

#include "textures/texture.h"

#include <stddef.h>

static double component(struct vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

struct probe probe_make(struct ray ray)
{
    struct vec3 d = ray.d;
    double ax = fabs(d.x), ay = fabs(d.y), az = fabs(d.z);
    struct probe p = {.ray = ray};
    p.kz = ax > ay ? (ax > az ? 0 : 2) : (ay > az ? 1 : 2);
    p.kx = (p.kz + 1) % 3;
    p.ky = (p.kx + 1) % 3;
    if (component(d, p.kz) < 0) { /* keeps the winding */
        int k = p.kx;
        p.kx = p.ky;
        p.ky = k;
    }
    p.sx = component(d, p.kx) / component(d, p.kz);
    p.sy = component(d, p.ky) / component(d, p.kz);
    p.sz = 1.0 / component(d, p.kz);
    return p;
}

/* ---- triangles and where they stand ---------------------------------------------------------- */

bool is_triangle(const struct scene *s, uint32_t id)
{
    return id < s->triangle_count || id >= scene_primitive_count(s);
}

struct triangle triangle_at(const struct scene *s, uint32_t id)
{
    struct triangle t;
    t.stored = scene_triangle_of(s, id, &t.instance);
    bool exchange = t.instance && instance_mirrors(t.instance);
    for (int i = 0; i < 3; i++)
        t.corner[i] = s->triangles[t.stored][exchange && i ? 3 - i : i];
    return t;
}

static struct vec3 row(const struct instance *n, int i) { return from_float(n->to_world[i]); }

static struct vec3 vertex_in_world(const struct instance *n, struct vec3 v)
{
    struct vec3 moved = {dot(row(n, 0), v), dot(row(n, 1), v), dot(row(n, 2), v)};
    return add(moved, vec3((double)n->to_world[0][3], (double)n->to_world[1][3],
                           (double)n->to_world[2][3]));
}

/* Turkowski, "Properties of Surface-Normal Transformations", 1990: by the cofactors, and the
 * determinant's sign. */
static struct vec3 normal_in_world(const struct instance *n, struct vec3 v)
{
    struct vec3 moved =
        vec3(dot(cross(row(n, 1), row(n, 2)), v), dot(cross(row(n, 2), row(n, 0)), v),
             dot(cross(row(n, 0), row(n, 1)), v));
    if (is_zero(moved))
        return moved;
    return scale(instance_mirrors(n) ? -1 : 1, normalize(moved));
}

/* As a direction along the surface, to unit length. */
static struct vec3 tangent_in_world(const struct instance *n, struct vec3 v)
{
    struct vec3 moved = vec3(dot(row(n, 0), v), dot(row(n, 1), v), dot(row(n, 2), v));
    return is_zero(moved) ? moved : normalize(moved);
}

void triangle_vertices(const struct scene *s, uint32_t id, struct vec3 v[3])
{
    struct triangle t = triangle_at(s, id);
    for (int i = 0; i < 3; i++) {
        v[i] = from_float(s->P[t.corner[i]]);
        if (t.instance)
            v[i] = vertex_in_world(t.instance, v[i]);
    }
}

/* ---- how exactly float32 knows a point (sections 4 and 25) ---------------------------------- */

/* By axis, the largest coordinate of the triangle; of an instance's, the terms that place it, and
 * what S of section 25 mixes in from the other axes. *blur: 1 + the largest S. */
static struct vec3 triangle_reach(const struct scene *s, const struct triangle *t,
                                  const struct vec3 v[3], double *blur)
{
    double reach[3] = {0}, mixed[3] = {0};
    *blur = 1;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3 && !t->instance; k++)
            reach[i] = fmax(reach[i], fabs(component(v[k], i)));
    if (!t->instance)
        return vec3(reach[0], reach[1], reach[2]);
    struct vec3 x = row(t->instance, 0), y = row(t->instance, 1), z = row(t->instance, 2);
    struct vec3 inverse[3] = {cross(y, z), cross(z, x), cross(x, y)}; /* columns, times det */
    double det = fabs(dot(x, inverse[0])), largest = 0;
    for (int i = 0; i < 3; i++) {
        struct vec3 m = row(t->instance, i);
        double sum = 0; /* row i of |M| |M^-1| */
        for (int k = 0; k < 3; k++) {
            sum += (fabs(m.x) * fabs(inverse[k].x) + fabs(m.y) * fabs(inverse[k].y) +
                    fabs(m.z) * fabs(inverse[k].z)) /
                   det;
            struct vec3 p = from_float(s->P[t->corner[k]]);
            reach[i] = fmax(reach[i], fabs(m.x * p.x) + fabs(m.y * p.y) + fabs(m.z * p.z) +
                                          fabs((double)t->instance->to_world[i][3]));
        }
        mixed[i] = fmax(0, sum - 1);
        *blur = fmax(*blur, 1 + mixed[i]);
        largest = fmax(largest, reach[i]);
    }
    return vec3(reach[0] + mixed[0] * largest, reach[1] + mixed[1] * largest,
                reach[2] + mixed[2] * largest);
}

/* E where `ray` meets a plane with normal n at t: e, or less if the ray tells more. */
static double plane_extent(const struct ray *ray, double t, double blur, struct vec3 n,
                           struct vec3 reach, double e)
{
    double c = fabs(dot(ray->d, n));
    double H = fabs(n.x) * reach.x + fabs(n.y) * reach.y + fabs(n.z) * reach.z;
    return c > 0 ? fmin(e, (max_abs(ray->o) + t) * blur + H / c) : e;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* a b - c d within 1.5 ulp, so that its sign is right: Kahan's use of fma. */
static double difference_of_products(double a, double b, double c, double d)
{
    double cd = c * d;
    double error = fma(-c, d, cd);
    return fma(a, b, -cd) + error;
}

/* Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection", JCGT 2(1), 2013. Where an edge
 * value rounds to zero they decide again in higher precision; so do we. */
static bool triangle_hit(const struct scene *s, uint32_t triangle, const struct probe *p,
                         double t_max, struct crossing *c)
{
    double x[3], y[3], z[3];
    struct vec3 corners[3];
    triangle_vertices(s, triangle, corners);
    for (int i = 0; i < 3; i++) {
        struct vec3 v = sub(corners[i], p->ray.o);
        double along = component(v, p->kz);
        x[i] = component(v, p->kx) - p->sx * along;
        y[i] = component(v, p->ky) - p->sy * along;
        z[i] = p->sz * along;
    }
    double u = x[2] * y[1] - y[2] * x[1];
    double v = x[0] * y[2] - y[0] * x[2];
    double w = x[1] * y[0] - y[1] * x[0];
    if (u == 0 || v == 0 || w == 0) {
        u = difference_of_products(x[2], y[1], y[2], x[1]);
        v = difference_of_products(x[0], y[2], y[0], x[2]);
        w = difference_of_products(x[1], y[0], y[1], x[0]);
    }
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0))
        return false;
    double det = u + v + w;
    if (det == 0)
        return false;
    double t = (u * z[0] + v * z[1] + w * z[2]) / det;
    if (!(t > 0 && t < t_max))
        return false;
    *c = (struct crossing){triangle, t, {u / det, v / det, w / det}};
    return true;
}

/* Both parameters, the lesser first. */
static bool sphere_hits(const struct sphere *sphere, const struct probe *p, double t[2])
{
    struct vec3 f = sub(p->ray.o, from_float(sphere->center));
    double r = (double)sphere->radius;
    double b = -dot(f, p->ray.d);
    struct vec3 l = add(f, scale(b, p->ray.d));
    double disc = r * r - dot(l, l);
    if (disc < 0)
        return false;
    double q = b < 0 ? b - sqrt(disc) : b + sqrt(disc);
    if (q == 0)
        return false;
    double t0 = (dot(f, f) - r * r) / q, t1 = q;
    t[0] = fmin(t0, t1);
    t[1] = fmax(t0, t1);
    return true;
}

static bool disk_hit(const struct disk *disk, const struct probe *p, double t_max, double *t)
{
    struct vec3 n = from_float(disk->normal), c = from_float(disk->center);
    double den = dot(p->ray.d, n);
    if (den == 0)
        return false;
    *t = dot(sub(c, p->ray.o), n) / den;
    if (!(*t > 0 && *t < t_max))
        return false;
    struct vec3 q = sub(add(p->ray.o, scale(*t, p->ray.d)), c);
    return dot(q, q) <= (double)disk->radius * (double)disk->radius;
}

/* Section 26: is the hit one that counts? */
static bool hit_counts(const struct scene *s, const struct probe *p, const struct crossing *c)
{
    const struct material *m = &s->materials[scene_material_of(s, c->primitive)];
    if (!m->single_sided && m->alpha_mode != ALPHA_MASK)
        return true;
    struct hit hit = hit_at(s, p, c);
    if (m->single_sided && !(dot(p->ray.d, hit.Ng) < 0))
        return false;
    if (m->alpha_mode != ALPHA_MASK)
        return true;
    double a = (double)m->opacity.value;
    if (m->opacity.texture >= 0)
        a *= texture_channel(&s->textures[m->opacity.texture], hit.uv, m->opacity.channel);
    return (float)a >= m->alpha_cutoff; /* in float32: cutoffs like 0.6 are texels, too */
}

static bool sphere_hit(const struct scene *s, uint32_t primitive, const struct probe *p,
                       double t_max, struct crossing *c)
{
    double t[2];
    if (!sphere_hits(&s->spheres[primitive - s->triangle_count], p, t))
        return false;
    for (int i = 0; i < 2; i++) {
        *c = (struct crossing){.primitive = primitive, .t = t[i]};
        if (t[i] > 0 && t[i] < t_max && hit_counts(s, p, c))
            return true;
    }
    return false;
}

bool primitive_hit(const struct scene *s, uint32_t primitive, const struct probe *p, double t_max,
                   struct crossing *c)
{
    if (is_triangle(s, primitive))
        return triangle_hit(s, primitive, p, t_max, c) && hit_counts(s, p, c);
    size_t i = primitive - s->triangle_count;
    if (i < s->sphere_count)
        return sphere_hit(s, primitive, p, t_max, c);
    double t;
    if (!disk_hit(&s->disks[i - s->sphere_count], p, t_max, &t))
        return false;
    *c = (struct crossing){.primitive = primitive, .t = t};
    return hit_counts(s, p, c);
}

static struct vec3 weigh(const double b[3], struct vec3 v0, struct vec3 v1, struct vec3 v2)
{
    return add(add(scale(b[0], v0), scale(b[1], v1)), scale(b[2], v2));
}

/* Section 4's offset: by its length, how far P counts as known. */
static double offset_length(struct vec3 P, double extent)
{
    return 0x1p-19 * fmax(max_abs(P), fmax(extent, 0x1p-20));
}

/* P, which has the weights b, moved to where it is twice the offset away from each edge, or has a
 * quarter of the weight there. */
static struct vec3 off_the_edges(struct vec3 P, const double b[3], const struct vec3 v[3],
                                 double extent)
{
    double area2 = length(cross(sub(v[1], v[0]), sub(v[2], v[0]))),
           margin = 2 * offset_length(P, extent);
    double kept[3], sum = 0;
    bool moved = false;
    for (int i = 0; i < 3; i++) {
        double height = area2 / length(sub(v[(i + 2) % 3], v[(i + 1) % 3]));
        double least = fmin(0.25, margin / height);
        kept[i] = fmax(b[i], least);
        sum += kept[i];
        moved = moved || b[i] < least;
    }
    if (!moved)
        return P;
    for (int i = 0; i < 3; i++)
        P = add(P, scale(kept[i] / sum - b[i], v[i]));
    return P;
}

static void triangle_fill(const struct scene *s, const struct probe *p, const struct crossing *c,
                          struct hit *h)
{
    const struct triangle at = triangle_at(s, c->primitive);
    const uint32_t *index = at.corner;
    unsigned flags = s->triangle_flags ? s->triangle_flags[at.stored] : 0;
    struct vec3 v[3];
    triangle_vertices(s, c->primitive, v);
    h->Ng = normalize(cross(sub(v[1], v[0]), sub(v[2], v[0])));
    h->P = weigh(c->b, v[0], v[1], v[2]);
    double blur;
    struct vec3 reach = triangle_reach(s, &at, v, &blur);
    h->extent = plane_extent(&p->ray, c->t, blur, h->Ng, reach, max_abs(reach));
    h->P = off_the_edges(h->P, c->b, v, h->extent);

    h->uv[0] = c->b[1];
    h->uv[1] = c->b[2];
    if ((flags & TRIANGLE_HAS_UV) && s->UV) {
        for (int a = 0; a < 2; a++)
            h->uv[a] = c->b[0] * (double)s->UV[index[0]][a] + c->b[1] * (double)s->UV[index[1]][a] +
                       c->b[2] * (double)s->UV[index[2]][a];
    }

    h->Ns = h->normal = h->Ng;
    if ((flags & TRIANGLE_HAS_NORMALS) && s->N) {
        struct vec3 N[3];
        for (int i = 0; i < 3; i++) {
            N[i] = from_float(s->N[index[i]]);
            if (at.instance)
                N[i] = normal_in_world(at.instance, N[i]);
        }
        struct vec3 n = weigh(c->b, N[0], N[1], N[2]);
        double side = dot(n, h->Ng);
        h->of_vertices = side < 0 ? negate(n) : n;
        if (side * side > 0x1p-20 * dot(n, n)) {
            h->normal = h->of_vertices;
            h->Ns = normalize(h->normal);
        }
    }
    if (s->tangents && s->tangent_of[at.stored] != UINT32_MAX) {
        const float(*t)[4] = s->tangents[s->tangent_of[at.stored]];
        struct vec3 T[3] = {from_float(t[0]), from_float(t[1]), from_float(t[2])};
        h->handedness = (double)t[0][3];
        for (int i = 0; i < 3 && at.instance; i++)
            T[i] = tangent_in_world(at.instance, T[i]);
        if (at.instance && instance_mirrors(at.instance)) {
            struct vec3 second = T[1];
            T[1] = T[2];
            T[2] = second;
            h->handedness = -h->handedness;
        }
        h->tangent = weigh(c->b, T[0], T[1], T[2]);
    }
}

static void sphere_fill(const struct sphere *sphere, const struct probe *p, struct hit *h)
{
    struct vec3 c = from_float(sphere->center);
    double r = (double)sphere->radius;
    struct vec3 n = normalize(sub(add(p->ray.o, scale(h->t, p->ray.d)), c));
    h->Ng = h->Ns = n;
    h->P = add(c, scale(r, n));
    h->extent = max_abs(c) + r;
    double u = atan2(n.y, n.x) / (2 * PI);
    h->uv[0] = u < 0 ? u + 1 : u;
    double g = sqrt(n.x * n.x + n.y * n.y);
    h->tangent = g > 0 ? vec3(-n.y / g, n.x / g, 0) : vec3(0, 1, 0);
    h->normal = n;
    h->handedness = 1;
    h->uv[1] = 1 - acos(clamp(n.z, -1, 1)) / PI;
}

static void disk_fill(const struct disk *disk, const struct probe *p, struct hit *h)
{
    struct vec3 c = from_float(disk->center), n = from_float(disk->normal);
    double r = (double)disk->radius;
    struct vec3 q = sub(add(p->ray.o, scale(h->t, p->ray.d)), c);
    struct frame f = frame_about(n);
    h->Ng = h->Ns = n;
    struct vec3 w = sub(q, scale(dot(q, n), n));
    h->P = add(c, w);
    struct vec3 reach = vec3(fabs(c.x) + fabs(w.x), fabs(c.y) + fabs(w.y), fabs(c.z) + fabs(w.z));
    h->extent = plane_extent(&p->ray, h->t, 1, n, reach, max_abs(c) + r);
    h->tangent = f.s;
    h->normal = n;
    h->handedness = 1;
    h->uv[0] = 0.5 + 0.5 * dot(q, f.s) / r;
    h->uv[1] = 0.5 + 0.5 * dot(q, f.t) / r;
}

struct hit hit_at(const struct scene *s, const struct probe *p, const struct crossing *c)
{
    struct hit h = {.primitive = c->primitive, .t = c->t};
    size_t i = c->primitive;
    if (is_triangle(s, c->primitive))
        triangle_fill(s, p, c, &h);
    else if (i - s->triangle_count < s->sphere_count)
        sphere_fill(&s->spheres[i - s->triangle_count], p, &h);
    else
        disk_fill(&s->disks[i - s->triangle_count - s->sphere_count], p, &h);
    return h;
}

struct vec3 offset_point(struct vec3 P, double extent, struct vec3 g)
{
    return add(P, scale(offset_length(P, extent), g));
}
