#include "light.h"

#include "random.h"

#include <stdlib.h>

static const struct material *material_of(const struct scene *s, uint32_t primitive)
{
    return &s->materials[scene_material_of(s, primitive)];
}

static double triangle_area(const struct scene *s, uint32_t triangle)
{
    struct vec3 v[3];
    triangle_vertices(s, triangle, v);
    return length(cross(sub(v[1], v[0]), sub(v[2], v[0]))) / 2;
}

static const struct sphere *sphere_of(const struct scene *s, uint32_t primitive)
{
    size_t i = (size_t)primitive - s->triangle_count; /* wraps around for triangles */
    return primitive >= s->triangle_count && i < s->sphere_count ? &s->spheres[i] : NULL;
}

static double primitive_area(const struct scene *s, uint32_t primitive)
{
    if (primitive < s->triangle_count)
        return triangle_area(s, primitive);
    const struct sphere *sphere = sphere_of(s, primitive);
    if (sphere)
        return 4 * PI * (double)sphere->radius * (double)sphere->radius;
    double r = (double)s->disks[primitive - s->triangle_count - s->sphere_count].radius;
    return PI * r * r;
}

/* Y(Le) times the number of sides it leaves from. */
static double material_power(const struct material *m)
{
    return light_luminance(from_float(m->emission)) * (m->emission_two_sided ? 2 : 1);
}

enum status lights_prepare(const struct scene *s, struct lights *out, struct error *err)
{
    struct lights l = {.scene = s};
    size_t primitives = scene_primitive_count(s), count = 0;
    for (size_t i = 0; i < primitives; i++)
        count += !is_zero(from_float(material_of(s, (uint32_t)i)->emission));
    l.primitives = malloc((count + 1) * sizeof *l.primitives);
    l.sums = calloc(count + 1, sizeof *l.sums);
    if (!l.primitives || !l.sums) {
        lights_release(&l);
        return error_msg(err, STATUS_MEMORY, "no memory for a table of %zu lights", count);
    }
    enum status status = environment_prepare(&s->environment, &l.environment, err);
    if (status != STATUS_OK) {
        lights_release(&l);
        return status;
    }
    for (size_t i = 0; i < primitives; i++) {
        const struct material *m = material_of(s, (uint32_t)i);
        if (is_zero(from_float(m->emission)))
            continue;
        double w = material_power(m) * primitive_area(s, (uint32_t)i);
        l.primitives[l.area_count] = (uint32_t)i;
        l.sums[l.area_count + 1] = l.sums[l.area_count] + w;
        l.area_count++;
    }
    if (l.environment.is_light)
        l.p_env = l.sums[l.area_count] > 0 ? 0.5 : 1;
    *out = l;
    return STATUS_OK;
}

void lights_release(struct lights *l)
{
    free(l->primitives);
    free(l->sums);
    environment_release(&l->environment);
    *l = (struct lights){0};
}

/* The least i with C_i > u. There is one, with a weight: u has 24 bits, so that u times the total
 * stays below it in double. */
static uint32_t choose_area_light(const struct lights *l, double u)
{
    double target = u * l->sums[l->area_count];
    uint32_t low = 0, high = l->area_count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->sums[middle + 1] > target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static struct vec3 sphere_normal(const struct sphere *sphere, struct vec3 Q)
{
    return normalize(sub(Q, from_float(sphere->center)));
}

/* The geometric normal that the light shines along, at a point of it. */
static struct vec3 light_normal(const struct scene *s, uint32_t primitive, struct vec3 Q)
{
    if (primitive < s->triangle_count) {
        struct vec3 v[3];
        triangle_vertices(s, primitive, v);
        return normalize(cross(sub(v[1], v[0]), sub(v[2], v[0])));
    }
    const struct sphere *sphere = sphere_of(s, primitive);
    if (sphere)
        return sphere_normal(sphere, Q);
    return from_float(s->disks[primitive - s->triangle_count - s->sphere_count].normal);
}

static struct vec3 point_on(const struct scene *s, uint32_t primitive, double u, double v)
{
    if (primitive < s->triangle_count) {
        struct vec3 p[3];
        double b[3];
        triangle_vertices(s, primitive, p);
        map_triangle(u, v, b);
        return add(add(scale(b[0], p[0]), scale(b[1], p[1])), scale(b[2], p[2]));
    }
    const struct sphere *sphere = sphere_of(s, primitive);
    if (sphere)
        return add(from_float(sphere->center), scale((double)sphere->radius, map_sphere(u, v)));
    const struct disk *disk = &s->disks[primitive - s->triangle_count - s->sphere_count];
    struct frame f = frame_about(from_float(disk->normal));
    double x, y;
    map_disk(u, v, &x, &y);
    struct vec3 offset = add(scale(x, f.s), scale(y, f.t));
    return add(from_float(disk->center), scale((double)disk->radius, offset));
}

/* A sphere seen from P outside: the cone it fills. */
struct cone {
    struct vec3 axis;
    double distance2, radius2;
    double one_minus_cos; /* of the half angle */
};
static bool sphere_cone(const struct sphere *sphere, struct vec3 P, struct cone *cone)
{
    struct vec3 D = sub(from_float(sphere->center), P);
    double r2 = (double)sphere->radius * (double)sphere->radius, d2 = dot(D, D);
    if (!(d2 > 1.0001 * r2))
        return false;
    double s2 = r2 / d2;
    *cone = (struct cone){normalize(D), d2, r2, s2 / (1 + sqrt(1 - s2))};
    return true;
}

static void sample_cone(const struct cone *cone, double u, double v, struct vec3 *wi,
                        double *distance)
{
    double w = u * cone->one_minus_cos; /* 1 - cos theta */
    double sine = sqrt(w * (2 - w)), cosine = 1 - w, phi = 2 * PI * v;
    *wi = to_world(frame_about(cone->axis), vec3(sine * cos(phi), sine * sin(phi), cosine));
    double m = sqrt(cone->distance2) * cosine;
    *distance = m - sqrt(fmax(0, cone->radius2 - cone->distance2 * sine * sine));
}

static bool sample_area(const struct scene *s, uint32_t primitive, struct vec3 P, double u,
                        double v, struct vec3 *wi, double *distance, double *pdf_w)
{
    struct vec3 Q = point_on(s, primitive, u, v), D = sub(Q, P);
    *distance = length(D);
    *wi = scale(1 / *distance, D);
    double cosine = -dot(*wi, light_normal(s, primitive, Q));
    if (material_of(s, primitive)->emission_two_sided)
        cosine = fabs(cosine);
    if (!(cosine > 0))
        return false;
    *pdf_w = dot(D, D) / (primitive_area(s, primitive) * cosine);
    return true;
}

bool light_sample(const struct lights *l, struct vec3 P, const double u[3],
                  struct light_sample *out)
{
    *out = (struct light_sample){.light = NO_LIGHT};
    if (u[0] < l->p_env) {
        out->light = l->area_count;
        out->distance = INFINITY;
        bool lit = environment_sample(&l->scene->environment, &l->environment, u[1], u[2], &out->wi,
                                      &out->pdf_w, &out->Le);
        out->pdf_w *= l->p_env;
        return lit;
    }
    double total = l->sums[l->area_count];
    if (!(total > 0))
        return false;
    uint32_t i = choose_area_light(l, (u[0] - l->p_env) / (1 - l->p_env));
    uint32_t primitive = l->primitives[i];
    const struct sphere *sphere = sphere_of(l->scene, primitive);
    struct cone cone;
    out->light = i;
    out->Le = from_float(material_of(l->scene, primitive)->emission);
    if (sphere && sphere_cone(sphere, P, &cone)) {
        sample_cone(&cone, u[1], u[2], &out->wi, &out->distance);
        out->pdf_w = 1 / (2 * PI * cone.one_minus_cos);
    } else if (!sample_area(l->scene, primitive, P, u[1], u[2], &out->wi, &out->distance,
                            &out->pdf_w)) {
        return false;
    }
    out->pdf_w *= (1 - l->p_env) * (l->sums[i + 1] - l->sums[i]) / total;
    return true;
}

struct vec3 light_emission(const struct lights *l, const struct ray *ray, const struct hit *h,
                           double *pdf_w)
{
    const struct material *m = material_of(l->scene, h->primitive);
    *pdf_w = 0;
    double cosine = -dot(ray->d, h->Ng);
    if (m->emission_two_sided)
        cosine = fabs(cosine);
    struct vec3 Le = from_float(m->emission);
    if (is_zero(Le) || !(cosine > 0))
        return gray(0);

    double total = l->sums[l->area_count];
    if (!(total > 0))
        return Le;
    double share = (1 - l->p_env) * material_power(m) / total; /* p_i / A_i */
    const struct sphere *sphere = sphere_of(l->scene, h->primitive);
    struct cone cone;
    if (sphere && sphere_cone(sphere, ray->o, &cone))
        *pdf_w = share * primitive_area(l->scene, h->primitive) / (2 * PI * cone.one_minus_cos);
    else
        *pdf_w = share * h->t * h->t / cosine;
    return Le;
}

struct vec3 light_environment(const struct lights *l, struct vec3 d, double *pdf_w)
{
    struct vec3 L = environment_radiance(&l->scene->environment, &l->environment, d, pdf_w);
    *pdf_w *= l->p_env;
    return L;
}
