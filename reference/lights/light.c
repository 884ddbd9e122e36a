/* SPDX-License-Identifier: Apache-2.0 */
#include "light.h"

#include "numbers/offers.h"
#include "textures/texture.h"

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

/* ---- textured emission ---------------------------------------------------------------------- */

/* Le at uv, towards a side that emits. */
static struct vec3 emission_at(const struct scene *s, const struct material *m, const double uv[2])
{
    struct vec3 Le = from_float(m->emission);
    if (m->emission_texture) {
        Le = mul(Le, texture_lookup(&s->textures[m->emission_texture - 1], uv));
        Le = vec3(fmax(Le.x, 0), fmax(Le.y, 0), fmax(Le.z, 0));
    }
    return Le;
}

/* uv of a triangle's point; (b1, b2) when it has none. */
static void triangle_uv(const struct scene *s, uint32_t triangle, const double b[3], double uv[2])
{
    const uint32_t *v = s->triangles[triangle];
    bool has_uv = s->triangle_flags[triangle] & TRIANGLE_HAS_UV;
    for (int i = 0; i < 2; i++)
        uv[i] = has_uv ? b[0] * (double)s->UV[v[0]][i] + b[1] * (double)s->UV[v[1]][i] +
                             b[2] * (double)s->UV[v[2]][i]
                       : b[1 + i];
}

static void sphere_uv(struct vec3 n, double uv[2])
{
    double u = atan2(n.y, n.x) / (2 * PI);
    uv[0] = u < 0 ? u + 1 : u;
    uv[1] = 1 - acos(clamp(n.z, -1, 1)) / PI;
}

/* Rows of the triangle's quadrature: its longest edge in texels, from 1 to 32. */
static uint32_t triangle_rows(const struct scene *s, uint32_t triangle, const struct texture *t)
{
    double uv[3][2], longest = 0;
    for (int i = 0; i < 3; i++)
        triangle_uv(s, triangle, (double[3]){i == 0, i == 1, i == 2}, uv[i]);
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3;
        longest = fmax(longest, fabs(t->image.width * (double)t->scale[0] * (uv[k][0] - uv[i][0])));
        longest =
            fmax(longest, fabs(t->image.height * (double)t->scale[1] * (uv[k][1] - uv[i][1])));
    }
    return (uint32_t)clamp(ceil(longest), 1, 32);
}

static struct vec3 mean_of(struct vec3 sum, double count)
{
    return vec3(sum.x / count, sum.y / count, sum.z / count);
}

static struct vec3 triangle_mean(const struct scene *s, const struct material *m, uint32_t id)
{
    uint32_t n = triangle_rows(s, id, &s->textures[m->emission_texture - 1]);
    struct vec3 sum = gray(0);
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = 0; i + j < n; i++) {
            for (int down = 0; down < 2 && i + j + (uint32_t)down < n; down++) {
                double third = (1 + down) / 3.0, b[3], uv[2];
                b[1] = (i + third) / n;
                b[2] = (j + third) / n;
                b[0] = 1 - b[1] - b[2];
                triangle_uv(s, id, b, uv);
                sum = add(sum, emission_at(s, m, uv));
            }
        }
    }
    return mean_of(sum, (double)n * n);
}

static struct vec3 sphere_mean(const struct scene *s, const struct material *m)
{
    struct vec3 sum = gray(0);
    for (int j = 0; j < 32; j++) {
        for (int i = 0; i < 64; i++) {
            double uv[2] = {(i + 0.5) / 64, 1 - acos(1 - (j + 0.5) / 16) / PI};
            sum = add(sum, emission_at(s, m, uv));
        }
    }
    return mean_of(sum, 2048);
}

static struct vec3 disk_mean(const struct scene *s, const struct material *m)
{
    struct vec3 sum = gray(0);
    for (int j = 0; j < 32; j++) {
        for (int i = 0; i < 32; i++) {
            double x, y;
            map_disk((i + 0.5) / 32, (j + 0.5) / 32, &x, &y);
            sum = add(sum, emission_at(s, m, (double[2]){0.5 + 0.5 * x, 0.5 + 0.5 * y}));
        }
    }
    return mean_of(sum, 1024);
}

/* Le, or its mean over the primitive. */
static struct vec3 mean_emission(const struct scene *s, uint32_t primitive)
{
    const struct material *m = material_of(s, primitive);
    if (!m->emission_texture)
        return from_float(m->emission);
    if (primitive < s->triangle_count)
        return triangle_mean(s, m, primitive);
    return sphere_of(s, primitive) ? sphere_mean(s, m) : disk_mean(s, m);
}

/* ---- the table ------------------------------------------------------------------------------ */

static int sides_of(const struct material *m) { return m->emission_two_sided ? 2 : 1; }

static double area_weight(const struct scene *s, uint32_t primitive)
{
    if (material_of(s, primitive)->alpha_mode == ALPHA_MASK)
        return 0; /* section 26: found by hits alone */
    return light_luminance(mean_emission(s, primitive)) * primitive_area(s, primitive) *
           sides_of(material_of(s, primitive));
}

/* Power over pi. */
static double delta_weight(const struct scene *s, const struct light *l)
{
    double Y = light_luminance(from_float(l->intensity)), R = scene_radius(s);
    if (l->type == LIGHT_POINT)
        return 4 * Y;
    if (l->type == LIGHT_SPOT)
        return Y * ((1 - cos(l->angle)) + (1 - cos(l->inner_angle)));
    return Y * R * R;
}

static const struct light *delta_light(const struct lights *l, uint32_t i)
{
    return i < l->area_count ? NULL : &l->scene->lights[i - l->area_count];
}

/* Does it stand in the tree, if there is one? */
static bool is_finite(const struct lights *l, uint32_t i)
{
    const struct light *delta = delta_light(l, i);
    return !delta || delta->type != LIGHT_DIRECTIONAL;
}

static struct light_bounds bounds_of_point(const struct light *l)
{
    struct light_bounds b = {.lo = from_float(l->position), .cos_o = -1};
    b.hi = b.lo;
    if (l->type == LIGHT_SPOT) {
        b.axis = from_float(l->direction);
        b.cos_o = cos(l->inner_angle);
        b.cos_e = cos(l->angle - l->inner_angle) - 0x1p-16;
    }
    return b;
}

static struct light_bounds bounds_of_primitive(const struct scene *s, uint32_t id)
{
    struct light_bounds b = {.cos_o = -1};
    bool one_sided = !material_of(s, id)->emission_two_sided;
    if (id < s->triangle_count) {
        struct vec3 v[3];
        triangle_vertices(s, id, v);
        b.lo = vec3(fmin(fmin(v[0].x, v[1].x), v[2].x), fmin(fmin(v[0].y, v[1].y), v[2].y),
                    fmin(fmin(v[0].z, v[1].z), v[2].z));
        b.hi = vec3(fmax(fmax(v[0].x, v[1].x), v[2].x), fmax(fmax(v[0].y, v[1].y), v[2].y),
                    fmax(fmax(v[0].z, v[1].z), v[2].z));
        if (one_sided)
            b.axis = normalize(cross(sub(v[1], v[0]), sub(v[2], v[0])));
    } else {
        const struct sphere *sphere = sphere_of(s, id);
        const struct disk *disk =
            sphere ? NULL : &s->disks[id - s->triangle_count - s->sphere_count];
        struct vec3 c = from_float(sphere ? sphere->center : disk->center);
        struct vec3 r = gray((double)(sphere ? sphere->radius : disk->radius));
        b.lo = sub(c, r);
        b.hi = add(c, r);
        if (disk && one_sided)
            b.axis = from_float(disk->normal);
    }
    if (!is_zero(b.axis))
        b.cos_o = 1;
    return b;
}

static enum status plant_tree(struct lights *l, struct error *err)
{
    struct light_bounds *leaves = calloc((size_t)l->count + 1, sizeof *leaves);
    uint32_t *lights = calloc((size_t)l->count + 1, sizeof *lights);
    size_t n = 0;
    enum status status = STATUS_MEMORY;
    for (uint32_t i = 0; leaves && lights && i < l->count; i++) {
        if (!is_finite(l, i) || !(l->weights[i] > 0))
            continue;
        const struct light *delta = delta_light(l, i);
        leaves[n] =
            delta ? bounds_of_point(delta) : bounds_of_primitive(l->scene, l->primitives[i]);
        leaves[n].weight = l->weights[i];
        lights[n++] = i;
    }
    if (leaves && lights)
        status = light_tree_build(leaves, lights, n, l->count, &l->tree, err);
    else
        error_msg(err, status, "no memory for a tree of %u lights", l->count);
    free(leaves);
    free(lights);
    return status;
}

static void weigh_lights(struct lights *l)
{
    const struct scene *s = l->scene;
    size_t primitives = scene_primitive_count(s);
    for (size_t i = 0; i < primitives; i++) {
        if (!material_emits(material_of(s, (uint32_t)i)))
            continue;
        l->weights[l->area_count] = area_weight(s, (uint32_t)i);
        l->primitives[l->area_count++] = (uint32_t)i;
    }
    l->count = l->area_count;
    for (size_t i = 0; i < s->light_count; i++)
        l->weights[l->count++] = delta_weight(s, &s->lights[i]);
}

enum status lights_prepare(const struct scene *s, struct lights *out, struct error *err)
{
    struct lights l = {.scene = s, .p_direct = 1, .has_tree = s->light_choice == LIGHT_CHOICE_TREE};
    size_t primitives = scene_primitive_count(s), count = s->light_count;
    for (size_t i = 0; i < primitives; i++)
        count += material_emits(material_of(s, (uint32_t)i));
    l.primitives = malloc((count + 1) * sizeof *l.primitives);
    l.weights = calloc(count + 1, sizeof *l.weights);
    l.sums = calloc(count + 1, sizeof *l.sums);
    if (!l.primitives || !l.weights || !l.sums) {
        lights_release(&l);
        return error_msg(err, STATUS_MEMORY, "no memory for a table of %zu lights", count);
    }
    enum status status = environment_prepare(&s->environment, &l.environment, err);
    weigh_lights(&l);
    if (status == STATUS_OK && l.has_tree)
        status = plant_tree(&l, err);
    if (status != STATUS_OK) {
        lights_release(&l);
        return status;
    }
    for (uint32_t i = 0; i < l.count; i++)
        l.sums[i + 1] = l.sums[i] + (l.has_tree && is_finite(&l, i) ? 0 : l.weights[i]);
    bool some = l.sums[l.count] > 0;
    if (l.has_tree)
        l.p_direct = l.tree.node_count == 0 ? 1 : some ? 0.5 : 0;
    if (l.environment.is_light)
        l.p_env = some || l.tree.node_count > 0 ? 0.5 : 1;
    *out = l;
    return STATUS_OK;
}

void lights_release(struct lights *l)
{
    free(l->primitives);
    free(l->weights);
    free(l->sums);
    light_tree_free(&l->tree);
    environment_release(&l->environment);
    *l = (struct lights){0};
}

/* ---- choosing ------------------------------------------------------------------------------- */

/* The least i with C_i > u. There is one, with a weight: u has 24 bits, so that u times the total
 * stays below it in double. */
static uint32_t choose_by_power(const struct lights *l, double u)
{
    double target = u * l->sums[l->count];
    uint32_t low = 0, high = l->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->sums[middle + 1] > target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* One of all lights but the environment, with its probability among all. */
static uint32_t choose_light(const struct lights *l, struct vec3 P, struct vec3 g, double u,
                             double *chance)
{
    uint32_t i = NO_LIGHT;
    double total = l->sums[l->count];
    if (u < l->p_direct) {
        if (!(total > 0))
            return NO_LIGHT;
        i = choose_by_power(l, u / l->p_direct);
        *chance = (1 - l->p_env) * l->p_direct * l->weights[i] / total;
        return i;
    }
    if (!light_tree_choose(&l->tree, P, g, (u - l->p_direct) / (1 - l->p_direct), &i, chance))
        return NO_LIGHT;
    *chance *= (1 - l->p_env) * (1 - l->p_direct);
    return i;
}

double light_chance(const struct lights *l, uint32_t i, struct vec3 P, struct vec3 g)
{
    if (!(l->weights[i] > 0))
        return 0;
    if (l->has_tree && is_finite(l, i))
        return (1 - l->p_env) * (1 - l->p_direct) * light_tree_chance(&l->tree, P, g, i);
    return (1 - l->p_env) * l->p_direct * l->weights[i] / l->sums[l->count];
}

void light_chance_wide(const struct lights *l, uint32_t i, struct vec3 P, struct vec3 g,
                       unsigned width, double slack, double chance[2])
{
    chance[0] = chance[1] = light_chance(l, i, P, g);
    if (!(l->weights[i] > 0) || !l->has_tree || !is_finite(l, i))
        return;
    light_tree_chance_wide(&l->tree, P, g, i, width, slack, chance);
    for (int k = 0; k < 2; k++)
        chance[k] *= (1 - l->p_env) * (1 - l->p_direct);
}

static uint32_t area_light_of(const struct lights *l, uint32_t primitive)
{
    uint32_t low = 0, high = l->area_count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->primitives[middle] >= primitive)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- sampling ------------------------------------------------------------------------------- */

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

static struct vec3 point_on(const struct scene *s, uint32_t primitive, double u, double v,
                            double uv[2])
{
    if (primitive < s->triangle_count) {
        struct vec3 p[3];
        double b[3];
        triangle_vertices(s, primitive, p);
        map_triangle(u, v, b);
        triangle_uv(s, primitive, b, uv);
        return add(add(scale(b[0], p[0]), scale(b[1], p[1])), scale(b[2], p[2]));
    }
    const struct sphere *sphere = sphere_of(s, primitive);
    if (sphere) {
        struct vec3 n = map_sphere(u, v);
        sphere_uv(n, uv);
        return add(from_float(sphere->center), scale((double)sphere->radius, n));
    }
    const struct disk *disk = &s->disks[primitive - s->triangle_count - s->sphere_count];
    struct frame f = frame_about(from_float(disk->normal));
    double x, y;
    map_disk(u, v, &x, &y);
    uv[0] = 0.5 + 0.5 * x;
    uv[1] = 0.5 + 0.5 * y;
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
                        double v, double uv[2], struct light_sample *out)
{
    struct vec3 Q = point_on(s, primitive, u, v, uv), D = sub(Q, P);
    out->distance = length(D);
    out->wi = scale(1 / out->distance, D);
    double cosine = -dot(out->wi, light_normal(s, primitive, Q));
    if (material_of(s, primitive)->emission_two_sided)
        cosine = fabs(cosine);
    if (!(cosine > 0))
        return false;
    out->pdf_w = dot(D, D) / (primitive_area(s, primitive) * cosine);
    return true;
}

/* How much of a spot's intensity goes along wi, which points at the light. */
static double spot_share(const struct light *l, struct vec3 wi)
{
    double c = -dot(wi, from_float(l->direction)), edge = cos(l->angle);
    double t = clamp((c - edge) / fmax(cos(l->inner_angle) - edge, 1e-6), 0, 1);
    return t * t * (3 - 2 * t);
}

static bool sample_delta(const struct light *l, struct vec3 P, struct light_sample *out)
{
    struct vec3 I = from_float(l->intensity);
    out->delta = true;
    out->pdf_w = 1;
    if (l->type == LIGHT_DIRECTIONAL) {
        out->wi = negate(from_float(l->direction));
        out->distance = INFINITY;
        out->Le = I;
        return true;
    }
    struct vec3 D = sub(from_float(l->position), P);
    out->distance = length(D);
    if (!(out->distance > 0))
        return false;
    out->wi = scale(1 / out->distance, D);
    double share = l->type == LIGHT_SPOT ? spot_share(l, out->wi) : 1;
    out->Le = scale(share / dot(D, D), I);
    return share > 0;
}

bool light_sample(const struct lights *l, struct vec3 P, struct vec3 g, const double u[3],
                  struct light_sample *out)
{
    *out = (struct light_sample){.light = NO_LIGHT};
    if (u[0] < l->p_env) {
        out->light = l->count;
        out->distance = INFINITY;
        bool lit = environment_sample(&l->scene->environment, &l->environment, u[1], u[2], &out->wi,
                                      &out->pdf_w, &out->Le);
        out->pdf_w *= l->p_env;
        return lit;
    }
    double chance, uv[2];
    uint32_t i = choose_light(l, P, g, (u[0] - l->p_env) / (1 - l->p_env), &chance);
    out->light = i;
    if (i == NO_LIGHT)
        return false;
    if (i >= l->area_count) {
        if (!sample_delta(delta_light(l, i), P, out))
            return false;
        out->pdf_w *= chance;
        return true;
    }
    uint32_t primitive = l->primitives[i];
    const struct sphere *sphere = sphere_of(l->scene, primitive);
    struct cone cone;
    if (sphere && sphere_cone(sphere, P, &cone)) {
        sample_cone(&cone, u[1], u[2], &out->wi, &out->distance);
        out->pdf_w = 1 / (2 * PI * cone.one_minus_cos);
        sphere_uv(sphere_normal(sphere, add(P, scale(out->distance, out->wi))), uv);
    } else if (!sample_area(l->scene, primitive, P, u[1], u[2], uv, out)) {
        return false;
    }
    out->Le = emission_at(l->scene, material_of(l->scene, primitive), uv);
    out->pdf_w *= chance;
    return true;
}

struct vec3 light_emission(const struct lights *l, const struct ray *ray, struct vec3 g,
                           const struct hit *h, double *pdf_w)
{
    const struct material *m = material_of(l->scene, h->primitive);
    *pdf_w = 0;
    double cosine = -dot(ray->d, h->Ng);
    if (m->emission_two_sided)
        cosine = fabs(cosine);
    if (!material_emits(m) || !(cosine > 0))
        return gray(0);

    struct vec3 Le = emission_at(l->scene, m, h->uv);
    uint32_t i = area_light_of(l, h->primitive);
    double area = primitive_area(l->scene, h->primitive), chance = light_chance(l, i, ray->o, g);
    const struct sphere *sphere = sphere_of(l->scene, h->primitive);
    struct cone cone;
    if (!(chance > 0))
        *pdf_w = 0;
    else if (sphere && sphere_cone(sphere, ray->o, &cone))
        *pdf_w = chance / (2 * PI * cone.one_minus_cos);
    else
        *pdf_w = chance / area * h->t * h->t / cosine;
    return Le;
}

struct vec3 light_environment(const struct lights *l, struct vec3 d, double *pdf_w)
{
    struct vec3 L = environment_radiance(&l->scene->environment, &l->environment, d, pdf_w);
    *pdf_w *= l->p_env;
    return L;
}
