/* SPDX-License-Identifier: Apache-2.0 */
/* Lights: where samples fall (chi-square), their densities against closed forms, and the density
 * that MIS uses against both. The level 0.01 is shared over the chi-square tests. */
#include "lights/light.h"
#include "numbers/random.h"
#include "path/path.h"
#include "tests/test_scene.h"
#include "tests/test_statistics.h"
#include "textures/texture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double LEVEL = 0.01 / 12;
enum { SAMPLES = 60000 };

static uint32_t two_sided(struct scene *s, double radiance)
{
    uint32_t m = test_emitter(s, radiance);
    s->materials[m].emission_two_sided = true;
    return m;
}

/* The density that a ray which meets the light along d would be told, and how far it runs. */
static double density_by_hit(const struct lights *l, struct vec3 P, struct vec3 d, double *t)
{
    struct ray ray = {P, d};
    struct probe probe = probe_make(ray);
    struct crossing c;
    double pdf, far = INFINITY;
    struct crossing best = {.primitive = NO_PRIMITIVE};
    for (size_t i = 0; i < scene_primitive_count(l->scene); i++) {
        if (primitive_hit(l->scene, (uint32_t)i, &probe, far, &c)) {
            best = c;
            far = c.t;
        }
    }
    if (best.primitive == NO_PRIMITIVE)
        return 0;
    struct hit h = hit_at(l->scene, &probe, &best);
    light_emission(l, &ray, gray(0), &h, &pdf);
    *t = h.t;
    return pdf;
}

/* Points of a light are uniform in area: cells of equal area by `cell`, whose number is `cells`. */
static void check_area(const char *what, const struct scene *s, struct vec3 P, double area,
                       size_t cells, size_t (*cell)(struct vec3 Q))
{
    struct lights l = test_lights(s);
    double *observed = calloc(cells, sizeof *observed), *expected = calloc(cells, sizeof *expected);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct light_sample sample;
        double u[4], t = 0;
        test_numbers(10, i, u);
        assert_true(light_sample(&l, P, gray(0), u, &sample));
        assert_int_equal(sample.light, 0);
        struct vec3 Q = add(P, scale(sample.distance, sample.wi));
        size_t at = cell(Q);
        assert_true(at < cells);
        observed[at]++;
        /* the density by area, 1/A, seen from P; and what a hit is told: to float32's normals of
         * disks */
        near_relative(density_by_hit(&l, P, sample.wi, &t), sample.pdf_w, 1e-5);
        near_relative(t, sample.distance, 1e-6);
        if (i == 0) /* an order of magnitude that no mistake of a factor survives */
            assert_true(sample.pdf_w >= sample.distance * sample.distance / area * (1 - 1e-9));
    }
    for (size_t i = 0; i < cells; i++)
        expected[i] = (double)SAMPLES / (double)cells;
    test_counts(what, observed, expected, cells, LEVEL);
    free(observed);
    free(expected);
    lights_release(&l);
}

static size_t triangle_cell(struct vec3 Q) /* (0,0,3) (2,0,3) (0,2,3): 64 cells */
{
    double x = 4 * Q.x, y = 4 * Q.y;
    int i = (int)fmin(7, x), j = (int)fmin(7, y);
    /* the corners (i, j) of small triangles below the diagonal, and the upper halves */
    bool upper = x - i + y - j > 1;
    size_t row = 0;
    for (int k = 0; k < j; k++)
        row += (size_t)(2 * (8 - k) - 1);
    return row + (size_t)(2 * i + upper);
}

static size_t disk_cell(struct vec3 Q) /* centre (0,0,3), radius 1.5 */
{
    size_t ring = (size_t)fmin(7, 8 * (Q.x * Q.x + Q.y * Q.y) / 2.25);
    return ring * 8 + (size_t)fmin(7, (atan2(Q.y, Q.x) + PI) / (2 * PI) * 8);
}

static size_t
sphere_cell(struct vec3 Q) /* centre (0,0,1), radius 2: equal slabs have equal area (Archimedes) */
{
    size_t slab = (size_t)fmin(7, 8 * ((Q.z - 1) / 2 + 1) / 2);
    return slab * 8 + (size_t)fmin(7, (atan2(Q.y, Q.x) + PI) / (2 * PI) * 8);
}

static void test_areas(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    test_triangle(s, two_sided(s, 5), vec3(0, 0, 3), vec3(2, 0, 3), vec3(0, 2, 3));
    check_area("triangle light", s, vec3(0.2, 0.3, 0), 2, 64, triangle_cell);
    test_scene_free(s);

    s = test_scene_new();
    test_disk(s, test_emitter(s, 5), vec3(0, 0, 3), vec3(0, 0, -1), 1.5);
    check_area("disk light", s, vec3(1, -0.3, 0), PI * 2.25, 64, disk_cell);
    test_scene_free(s);

    s = test_scene_new();
    test_sphere(s, two_sided(s, 5), vec3(0, 0, 1), 2);
    check_area("sphere light from inside", s, vec3(0.5, -0.3, 0), 16 * PI, 64, sphere_cell);
    test_scene_free(s);
}

/* The closed form: dist^2 / (A cos). */
static void test_area_density(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    test_triangle(s, test_emitter(s, 5), vec3(0, 0, 3), vec3(0, 2, 3), vec3(2, 0, 3));
    struct lights l = test_lights(s);
    struct light_sample sample;
    const double u[3] = {0.3, 0.6, 0.2};
    assert_true(light_sample(&l, vec3(0, 0, 0), gray(0), u, &sample));
    double cosine = 3 / sample.distance;
    near_relative(sample.pdf_w, sample.distance * sample.distance / (2 * cosine), 1e-12);
    near_relative(sample.wi.z, cosine, 1e-12);
    near_relative(sample.Le.y, 5, 0);
    assert_false(
        light_sample(&l, vec3(0, 0, 6), gray(0), u, &sample)); /* behind a one-sided light */
    assert_int_equal(sample.light, 0);
    lights_release(&l);
    test_scene_free(s);
}

/* From outside: uniform over the cone, whatever the distance. */
static void test_cones(void **state)
{
    (void)state;
    const double distances[] = {1.001, 1.2, 3, 1000};
    for (int k = 0; k < 4; k++) {
        struct scene *s = test_scene_new();
        test_sphere(s, test_emitter(s, 5), vec3(0, 0, 0), 1);
        struct lights l = test_lights(s);
        struct vec3 axis = normalize(vec3(0.3, -0.8, 0.5)), P = scale(-distances[k], axis);
        struct frame f = frame_about(axis);
        double sine = 1 / distances[k],
               m = 1 - sqrt((1 - sine) * (1 + sine)); /* 1 - cos theta_max */
        if (sine < 1e-2)
            m = sine * sine / 2 * (1 + sine * sine / 4);
        double observed[64] = {0}, expected[64];
        for (uint32_t i = 0; i < SAMPLES; i++) {
            struct light_sample sample;
            double u[4], t = 0;
            test_numbers(11, i, u);
            assert_true(light_sample(&l, P, gray(0), u, &sample));
            near_relative(sample.pdf_w, 1 / (2 * PI * m), 1e-9);
            struct vec3 w = to_local(f, sample.wi);
            double s2 = w.x * w.x + w.y * w.y, below = s2 / (1 + sqrt(1 - s2));
            size_t ring = (size_t)fmin(7, 8 * below / m);
            observed[ring * 8 + (size_t)fmin(7, (atan2(w.y, w.x) + PI) / (2 * PI) * 8)]++;
            /* the shadow ray ends on the sphere: the rim's square root turns 1e-16 into 1e-8 of the
             * distance */
            struct vec3 Q = add(P, scale(sample.distance, sample.wi));
            assert_true(fabs(length(Q) - 1) < 1e-7 * distances[k]);
            if (u[1] < 0.999) {
                near_relative(density_by_hit(&l, P, sample.wi, &t), sample.pdf_w, 1e-9);
                near_relative(t, sample.distance, 1e-6);
            }
        }
        for (int i = 0; i < 64; i++)
            expected[i] = SAMPLES / 64.0;
        test_counts("cone", observed, expected, 64, LEVEL);
        lights_release(&l);
        test_scene_free(s);
    }
}

/* Lights are chosen by luminance, area and sides; the environment gets one half. */
static void test_choice(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    uint32_t blue = test_material(s, (struct material){.emission = {0, 0, 3}});
    uint32_t dark = test_diffuse(s, 0.5);
    test_triangle(s, test_emitter(s, 4), vec3(0, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0)); /* 4 x 1/2 */
    test_triangle(s, dark, vec3(0, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0));
    test_triangle(s, two_sided(s, 4), vec3(5, 0, 0), vec3(7, 0, 0), vec3(5, 1, 0)); /* 4 x 1 x 2 */
    test_triangle(s, test_emitter(s, 9), vec3(5, 0, 0), vec3(5, 0, 0), vec3(5, 1, 0)); /* no area */
    test_sphere(s, blue, vec3(0, 0, 9), 2);                              /* 0.0722 x 3 x 16 pi */
    test_disk(s, test_emitter(s, 1), vec3(0, 0, 20), vec3(0, 0, -1), 1); /* pi */
    const double w[5] = {2, 8, 0, 0.0722 * 3 * 16 * PI, PI}, total = 10 + w[3] + w[4];
    for (int with_env = 0; with_env < 2; with_env++) {
        if (with_env)
            test_constant(s, 0.25);
        struct lights l = test_lights(s);
        assert_int_equal(l.area_count, 5);
        near_relative(l.p_env + 1, with_env ? 1.5 : 1, 0);
        double observed[6] = {0}, expected[6] = {0};
        for (uint32_t i = 0; i < SAMPLES; i++) {
            struct light_sample sample;
            double u[4];
            test_numbers(12, i, u);
            light_sample(&l, vec3(0.1, 0.2, 3), gray(0), u, &sample);
            observed[sample.light]++;
        }
        for (int i = 0; i < 5; i++)
            expected[i] = SAMPLES * (1 - l.p_env) * w[i] / total;
        expected[5] = SAMPLES * l.p_env;
        assert_true(observed[2] == 0);
        test_counts("light choice", observed, expected, 6, LEVEL);
        lights_release(&l);
    }
    test_scene_free(s);
}

/* ---- the environment ------------------------------------------------------------------------ */

enum { WIDTH = 16, HEIGHT = 8 };

static void hot_map(float rgb[WIDTH * HEIGHT * 3])
{
    for (uint32_t i = 0; i < WIDTH * HEIGHT * 3; i++) {
        double u[4];
        test_numbers(20, i, u);
        rgb[i] = (float)(0.1 + u[0]);
    }
    for (int c = 0; c < 3; c++) {
        rgb[(2 * WIDTH + 5) * 3 + c] = 400;
        rgb[(6 * WIDTH + 11) * 3 + c] = 0;
    }
    rgb[(4 * WIDTH + 0) * 3] = 30; /* at the seam */
}

static void rotate(struct scene *s)
{
    /* rows: an orthonormal basis that is not the identity, exact in float32 */
    const float m[9] = {0, 0.6F, 0.8F, 1, 0, 0, 0, 0.8F, -0.6F};
    memcpy(s->environment.to_local, m, sizeof m);
}

static void test_map_samples(void **state)
{
    (void)state;
    float rgb[WIDTH * HEIGHT * 3];
    hot_map(rgb);
    struct scene *s = test_scene_new();
    test_map(s, WIDTH, HEIGHT, rgb);
    rotate(s);
    struct lights l = test_lights(s);
    near_relative(l.p_env, 1, 0);
    /* The weight is the mean of the bilinear lookup's luminance over the texel times the sine at
     * its middle. The lookup is bilinear in each quarter, where its mean is its value in the
     * middle. Luminance may be taken first: it is linear. */
    double weight[WIDTH * HEIGHT] = {0}, total = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int column = i % WIDTH, row = i / WIDTH;
        for (int quarter = 0; quarter < 4; quarter++) {
            int right = quarter % 2, lower = quarter / 2;
            struct vec3 c = image_bilinear(&s->environment.map, WRAP_REPEAT, WRAP_CLAMP,
                                           column + 0.25 + 0.5 * right, row + 0.25 + 0.5 * lower);
            weight[i] += (0.2126 * c.x + 0.7152 * c.y + 0.0722 * c.z) / 4;
        }
        weight[i] *= sin(PI * (row + 0.5) / HEIGHT);
        total += weight[i];
    }
    /* each texel in four quarters: uniform in the map's coordinates within it */
    enum { CELLS = WIDTH * HEIGHT * 4 };
    double observed[CELLS] = {0}, expected[CELLS];
    size_t compared = 0;
    for (uint32_t i = 0; i < 4 * SAMPLES; i++) {
        struct light_sample sample;
        double u[4], pdf;
        test_numbers(21, i, u);
        assert_true(light_sample(&l, vec3(0, 0, 0), gray(0), u, &sample));
        assert_true(isinf(sample.distance) && sample.light == 0);
        near_relative(length(sample.wi), 1, 1e-6);
        const struct vec3 d = sample.wi;
        struct vec3 local = vec3(0.6 * d.y + 0.8 * d.z, d.x, 0.8 * d.y - 0.6 * d.z);
        double x = atan2(local.x, -local.z) / (2 * PI), y = acos(clamp(local.y, -1, 1)) / PI;
        x = 2 * WIDTH * (x < 0 ? x + 1 : x);
        y *= 2 * HEIGHT;
        observed[(int)fmin(y, 2 * HEIGHT - 1) * 2 * WIDTH + (int)fmin(x, 2 * WIDTH - 1)]++;
        /* away from texel borders, the density and radiance of that direction are the sample's */
        if (fabs(x / 2 - round(x / 2)) > 1e-3 && fabs(y / 2 - round(y / 2)) > 1e-3) {
            struct vec3 L = light_environment(&l, d, &pdf);
            near_relative(pdf, sample.pdf_w, 1e-5);
            near_relative(L.x, sample.Le.x,
                          1e-4); /* steps of 400 between texels, moved by the rotation's float32 */
            compared++;
        }
    }
    assert_true(compared > SAMPLES);
    for (int i = 0; i < CELLS; i++) {
        int texel = i / (4 * WIDTH) * WIDTH + i % (2 * WIDTH) / 2;
        expected[i] = 4 * SAMPLES * weight[texel] / total / 4;
    }
    test_counts("environment map", observed, expected, CELLS, LEVEL);
    lights_release(&l);
    test_scene_free(s);
}

/* A mirrored map is the map of the picture with its columns the other way round: the same radiance
 * and density of every direction, and samples that are that map's. */
static void test_mirrored(void **state)
{
    (void)state;
    float rgb[WIDTH * HEIGHT * 3], flipped[WIDTH * HEIGHT * 3];
    hot_map(rgb);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        memcpy(flipped + 3 * i, rgb + 3 * (i / WIDTH * WIDTH + WIDTH - 1 - i % WIDTH), 12);
    struct scene *s = test_scene_new(), *f = test_scene_new();
    test_map(s, WIDTH, HEIGHT, rgb);
    test_map(f, WIDTH, HEIGHT, flipped);
    rotate(s);
    rotate(f);
    for (int j = 0; j < 3; j++)
        s->environment.to_local[j] = -s->environment.to_local[j];
    struct lights mirrored = test_lights(s), other = test_lights(f);
    double unlike = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct light_sample sample;
        double u[4], pdf, want;
        test_numbers(23, i, u);
        struct vec3 d = map_sphere(u[0], u[1]);
        struct vec3 L = light_environment(&mirrored, d, &pdf),
                    M = light_environment(&other, d, &want);
        near_relative(pdf, want, 1e-9);
        near_relative(L.x, M.x, 1e-9);
        unlike += fabs(L.x - light_environment(&other, vec3(d.x, -d.y, d.z), &want).x);
        assert_true(light_sample(&mirrored, vec3(0, 0, 0), gray(0), u, &sample));
        near_relative(light_environment(&other, sample.wi, &want).x, sample.Le.x, 1e-4);
        near_relative(want, sample.pdf_w, 1e-5);
    }
    assert_true(unlike > 0); /* the picture is not its own mirror image */
    lights_release(&mirrored);
    lights_release(&other);
    test_scene_free(s);
    test_scene_free(f);
}

static void test_map_density(void **state)
{
    (void)state;
    float rgb[WIDTH * HEIGHT * 3];
    hot_map(rgb);
    struct scene *s = test_scene_new();
    test_map(s, WIDTH, HEIGHT, rgb);
    struct lights l = test_lights(s);
    /* the integral over directions, by the midpoint rule in (u, v): d omega = 2 pi^2 sin(pi v) du
     * dv. Texels hold whole cells, and the density times the sine is constant in each, so the rule
     * is exact. */
    double sum = 0;
    enum { N = 4 };
    for (int j = 0; j < N * HEIGHT; j++) {
        for (int i = 0; i < N * WIDTH; i++) {
            double v = (j + 0.5) / (N * HEIGHT), phi = 2 * PI * (i + 0.5) / (N * WIDTH), pdf;
            struct vec3 d = vec3(sin(PI * v) * sin(phi), cos(PI * v), -sin(PI * v) * cos(phi));
            light_environment(&l, d, &pdf);
            sum += pdf * 2 * PI * PI * sin(PI * v) / (N * HEIGHT * N * WIDTH);
        }
    }
    near_relative(sum, 1, 1e-12);
    lights_release(&l);
    test_scene_free(s);
}

/* Which way is up, where the seam is. */
static void test_map_directions(void **state)
{
    (void)state;
    float rgb[4 * 2 * 3];
    for (int i = 0; i < 8; i++)
        rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = (float)(i + 1);
    struct scene *s = test_scene_new();
    test_map(s, 4, 2, rgb);
    s->environment.radiance[1] = 2;
    struct lights l = test_lights(s);
    double pdf;
    /* texel centres: u = (i + 1/2)/4, so phi = 45 degrees + 90 i from -z towards +x; v = 1/4: 45
     * degrees from +y */
    const double r = sqrt(0.5);
    struct vec3 L = light_environment(&l, vec3(0.5, r, -0.5), &pdf);
    near_relative(L.x, 1, 1e-9);
    near_relative(L.y, 2, 1e-9);
    near_relative(light_environment(&l, vec3(0.5, r, 0.5), &pdf).x, 2, 1e-9);
    near_relative(light_environment(&l, vec3(-0.5, r, 0.5), &pdf).x, 3, 1e-9);
    near_relative(light_environment(&l, vec3(-0.5, -r, -0.5), &pdf).x, 8, 1e-9);
    /* straight up: between all four of the top row in u, clamped in v; on -z: the seam, halfway
     * down */
    near_relative(light_environment(&l, vec3(0, r, -r), &pdf).x, 2.5, 1e-9);
    near_relative(light_environment(&l, vec3(0, 0, -1), &pdf).x, (1 + 4 + 5 + 8) / 4.0, 1e-9);
    lights_release(&l);
    test_scene_free(s);
}

static void test_no_light(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    const float black[6] = {0};
    const double u[3] = {0, 0, 0};
    struct light_sample sample;
    double pdf;
    for (int i = 0; i < 2; i++) {
        struct lights l = test_lights(s);
        assert_false(light_sample(&l, vec3(0, 0, 0), gray(0), u, &sample));
        assert_true(sample.light == NO_LIGHT);
        assert_true(is_zero(light_environment(&l, vec3(0, 0, 1), &pdf)) && pdf == 0);
        lights_release(&l);
        test_map(s, 2, 1, black);
    }
    test_scene_free(s);
}

/* The functions of the public header say the same, from a point offset along Ng. */
static void test_public(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    test_sphere(s, test_emitter(s, 5), vec3(0, 0, 4), 1);
    test_constant(s, 2);
    struct reference *r;
    assert_int_equal(reference_open(s, &r, NULL), STATUS_OK);
    const double P[3] = {0, 0, 0}, Ng[3] = {0, 0, 1}, u[3] = {0.75, 0.3, 0.6}, up[3] = {0, 0, 1};
    double wi[3], distance, pdf, Le[3];
    uint32_t light;
    assert_true(reference_light_sample(r, P, Ng, u, &light, wi, &distance, &pdf, Le));
    assert_int_equal(light, 0);
    near_relative(pdf, 0.5 / (2 * PI * (1 - sqrt(15) / 4)), 1e-9);
    near_relative(Le[1], 5, 0);
    const double env[3] = {0.25, 0.3, 0.6};
    assert_true(reference_light_sample(r, P, Ng, env, &light, wi, &distance, &pdf, Le));
    assert_int_equal(light, 1);
    assert_true(isinf(distance));
    near_relative(pdf, 0.5 / (4 * PI), 1e-12);
    reference_environment(r, up, Le, &pdf);
    near_relative(Le[2], 2, 0);
    near_relative(pdf, 0.5 / (4 * PI), 1e-12);
    reference_close(r);
    test_scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_areas),       cmocka_unit_test(test_area_density),
        cmocka_unit_test(test_cones),       cmocka_unit_test(test_choice),
        cmocka_unit_test(test_map_samples), cmocka_unit_test(test_mirrored),
        cmocka_unit_test(test_map_density), cmocka_unit_test(test_map_directions),
        cmocka_unit_test(test_no_light),    cmocka_unit_test(test_public),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
