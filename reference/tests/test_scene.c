/* SPDX-License-Identifier: Apache-2.0 */
#include "test_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct scene *test_scene_new(void)
{
    struct scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->path = s->name = "test";
    memcpy(s->hash, "00000000000000000000000000000000", 33);
    s->materials = ARENA_ARRAY(&s->arena, struct material, TEST_MATERIALS);
    s->P = arena_alloc(&s->arena, (size_t)TEST_PRIMITIVES * 3, sizeof *s->P, 0);
    s->triangles = arena_alloc(&s->arena, TEST_PRIMITIVES, sizeof *s->triangles, 0);
    s->triangle_flags = ARENA_ARRAY(&s->arena, uint8_t, TEST_PRIMITIVES);
    s->spheres = ARENA_ARRAY(&s->arena, struct sphere, TEST_PRIMITIVES);
    s->disks = ARENA_ARRAY(&s->arena, struct disk, TEST_PRIMITIVES);
    s->primitive_material = ARENA_ARRAY(&s->arena, uint32_t, (size_t)TEST_PRIMITIVES * 3);
    assert_non_null(s->primitive_material);
    test_camera(s, vec3(0, 0, 0), vec3(0, 0, -1), vec3(0, 1, 0), 1);
    return s;
}

void test_scene_free(struct scene *s)
{
    if (!s)
        return;
    arena_free(&s->arena);
    free(s);
}

uint32_t test_material(struct scene *s, struct material m)
{
    assert_true(s->material_count < TEST_MATERIALS);
    s->materials[s->material_count] = m;
    return (uint32_t)s->material_count++;
}

static struct color_input color(double r, double g, double b)
{
    return (struct color_input){{(float)r, (float)g, (float)b}, -1};
}

uint32_t test_diffuse(struct scene *s, double reflectance)
{
    return test_material(s,
                         (struct material){.type = MATERIAL_DIFFUSE,
                                           .base = color(reflectance, reflectance, reflectance)});
}

uint32_t test_emitter(struct scene *s, double radiance)
{
    float L = (float)radiance;
    return test_material(
        s,
        (struct material){.type = MATERIAL_DIFFUSE, .base = color(0, 0, 0), .emission = {L, L, L}});
}

static void put(float out[3], struct vec3 v)
{
    out[0] = (float)v.x, out[1] = (float)v.y, out[2] = (float)v.z;
}

void test_triangle(struct scene *s, uint32_t material, struct vec3 a, struct vec3 b, struct vec3 c)
{
    assert_true(s->triangle_count < TEST_PRIMITIVES && s->sphere_count + s->disk_count == 0);
    uint32_t first = (uint32_t)s->vertex_count;
    put(s->P[first], a), put(s->P[first + 1], b), put(s->P[first + 2], c);
    for (uint32_t i = 0; i < 3; i++)
        s->triangles[s->triangle_count][i] = first + i;
    s->vertex_count += 3;
    s->primitive_material[s->triangle_count++] = material;
}

void test_quad(struct scene *s, uint32_t material, struct vec3 corner, struct vec3 e, struct vec3 f)
{
    struct vec3 far = add(add(corner, e), f);
    test_triangle(s, material, corner, add(corner, e), far);
    test_triangle(s, material, corner, far, add(corner, f));
}

void test_box(struct scene *s, uint32_t material, struct vec3 center, struct vec3 x, struct vec3 y,
              struct vec3 z)
{
    const struct vec3 axis[3] = {x, y, z};
    for (int i = 0; i < 3; i++) {
        struct vec3 n = axis[i], e = axis[(i + 1) % 3], f = axis[(i + 2) % 3];
        struct vec3 top = sub(sub(add(center, n), e), f), bottom = sub(sub(sub(center, n), e), f);
        test_quad(s, material, top, scale(2, e), scale(2, f));
        test_quad(s, material, bottom, scale(2, f), scale(2, e));
    }
}

void test_sphere(struct scene *s, uint32_t material, struct vec3 center, double radius)
{
    assert_true(s->sphere_count < TEST_PRIMITIVES && s->disk_count == 0);
    struct sphere *sphere = &s->spheres[s->sphere_count];
    put(sphere->center, center);
    sphere->radius = (float)radius;
    s->primitive_material[s->triangle_count + s->sphere_count++] = material;
}

void test_disk(struct scene *s, uint32_t material, struct vec3 center, struct vec3 normal,
               double radius)
{
    assert_true(s->disk_count < TEST_PRIMITIVES);
    struct disk *disk = &s->disks[s->disk_count];
    put(disk->center, center);
    put(disk->normal, normalize(normal));
    disk->radius = (float)radius;
    s->primitive_material[s->triangle_count + s->sphere_count + s->disk_count++] = material;
}

void test_constant(struct scene *s, double radiance)
{
    s->environment.type = ENVIRONMENT_CONSTANT;
    put(s->environment.radiance, gray(radiance));
}

void test_map(struct scene *s, uint32_t width, uint32_t height, const float *rgb)
{
    size_t n = (size_t)width * height * 3;
    struct environment *e = &s->environment;
    *e = (struct environment){.type = ENVIRONMENT_MAP, .radiance = {1, 1, 1}};
    e->to_local[0] = e->to_local[4] = e->to_local[8] = 1;
    e->map = (struct image){.width = width, .height = height, .channels = 3, .format = TEXEL_F32};
    e->map.texels = ARENA_ARRAY(&s->arena, float, n);
    assert_non_null(e->map.texels);
    memcpy(e->map.texels, rgb, n * sizeof *rgb);
}

void test_camera(struct scene *s, struct vec3 origin, struct vec3 target, struct vec3 up,
                 double tan_half_fov)
{
    struct vec3 forward = normalize(sub(target, origin)), right = normalize(cross(forward, up));
    s->camera = (struct camera){.tan_half_fov = tan_half_fov, .fov_axis = FOV_SMALLER};
    to_double(origin, s->camera.origin);
    to_double(forward, s->camera.forward);
    to_double(right, s->camera.right);
    to_double(cross(right, forward), s->camera.up);
}

struct scene *test_cornell(void)
{
    struct scene *s = test_scene_new();
    uint32_t white = test_material(s, (struct material){.base = color(.885809, .698859, .666422)});
    uint32_t green = test_material(s, (struct material){.base = color(.105421, .37798, .076425)});
    uint32_t red = test_material(s, (struct material){.base = color(.570068, .0430135, .0443706)});
    uint32_t lamp = test_material(s, (struct material){.base = color(.885809, .698859, .666422),
                                                       .emission = {18.387F, 13.9873F, 6.75357F}});
    const double deg = PI / 180;
    test_camera(s, vec3(0, 0, 3.9), vec3(0, 0, 0), vec3(0, 1, 0), tan(39.3077 / 2 * deg));
    test_quad(s, lamp, vec3(-.23, .99, -.18), vec3(.46, 0, 0), vec3(0, 0, .38));
    test_quad(s, white, vec3(-1, -1, 1), vec3(2, 0, 0), vec3(0, 0, -2)); /* floor */
    test_quad(s, white, vec3(-1, 1, -1), vec3(2, 0, 0), vec3(0, 0, 2));  /* ceiling */
    test_quad(s, white, vec3(-1, -1, -1), vec3(2, 0, 0), vec3(0, 2, 0)); /* back */
    test_quad(s, green, vec3(1, -1, 1), vec3(0, 0, -2), vec3(0, 2, 0));  /* right */
    test_quad(s, red, vec3(-1, -1, -1), vec3(0, 0, 2), vec3(0, 2, 0));   /* left */
    const struct {
        struct vec3 center, half;
        double turn;
    } box[2] = {{{.335, -.7, .38}, {.3, .3, .3}, -17}, {{-.33, -.4, -.28}, {.3, .61, .3}, 18.25}};
    for (int i = 0; i < 2; i++) {
        double c = cos(box[i].turn * deg), sn = sin(box[i].turn * deg);
        test_box(s, white, box[i].center, scale(box[i].half.x, vec3(c, 0, -sn)),
                 vec3(0, box[i].half.y, 0), scale(box[i].half.z, vec3(sn, 0, c)));
    }
    return s;
}

struct reference *test_open(const struct scene *s)
{
    struct reference *r = NULL;
    struct error err = {0};
    if (reference_open(s, &r, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    return r;
}

struct lights test_lights(const struct scene *s)
{
    struct lights l;
    struct error err = {0};
    if (lights_prepare(s, &l, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    return l;
}

struct reference_picture test_render(const struct scene *s, const struct reference_job *job)
{
    struct reference *r = test_open(s);
    struct reference_picture p;
    struct error err = {0};
    assert_int_equal(reference_render(r, job, &p, &err), STATUS_OK);
    reference_close(r);
    return p;
}

double picture_mean(const struct reference_picture *p, int channel, double *standard_error)
{
    size_t pixels = (size_t)p->width * p->height;
    double sum = 0, variance = 0;
    for (size_t i = 0; i < pixels; i++) {
        sum += p->beauty[3 * i + (size_t)channel];
        variance += p->variance[3 * i + (size_t)channel] / (double)p->samples;
    }
    if (standard_error)
        *standard_error = sqrt(variance) / (double)pixels;
    return sum / (double)pixels;
}

void near_relative(double v, double expected, double relative)
{
    if (!(fabs(v - expected) <= relative * fabs(expected)))
        fail_msg("%.15g, expected %.15g", v, expected);
}
