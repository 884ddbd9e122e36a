/* SPDX-License-Identifier: Apache-2.0 */
/* Media against closed forms and quadrature (protocol section 27). Each comparison with a mean is a
 * test at 4.5 standard errors: wrong once in 150,000 if all is right. */
#include "path/media.h"
#include "tests/test_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double LEVEL = 4.5;

static uint32_t medium_of(struct scene *s, double density, double albedo, double g)
{
    float a = (float)albedo;
    return test_material(s, (struct material){.type = MATERIAL_DIFFUSE,
                                              .base = {{0}, -1},
                                              .interface = true,
                                              .medium = {.present = true,
                                                         .density = (float)density,
                                                         .albedo = {a, a, a},
                                                         .g = (float)g}});
}

/* Mean and standard error of the one pixel, seen along -z without a field of view. */
static double look(const struct scene *s, uint32_t samples, uint32_t max_depth, double *error)
{
    const struct reference_job job = {.width = 1,
                                      .height = 1,
                                      .sample_count = samples,
                                      .max_depth = max_depth,
                                      .rr_depth = max_depth,
                                      .seed = 7};
    struct reference_picture p = test_render(s, &job);
    double mean = picture_mean(&p, 0, error);
    reference_picture_free(&p);
    return mean;
}

static void expect(const struct scene *s, uint32_t samples, uint32_t max_depth, double want)
{
    double error, mean = look(s, samples, max_depth, &error);
    if (!(fabs(mean - want) <= LEVEL * error + 1e-12))
        fail_msg("mean %.6f, expected %.6f: %.1f standard errors of %.6f", mean, want,
                 fabs(mean - want) / error, error);
}

static struct scene *view_from(double z)
{
    struct scene *s = test_scene_new();
    test_camera(s, vec3(0, 0, z), vec3(0, 0, z - 1), vec3(0, 1, 0), 1e-6);
    return s;
}

/* Beer and Lambert: exp(-tau) of what is behind, through a box, spheres in one another, and from
 * inside. */
static void test_absorption(void **state)
{
    (void)state;
    struct scene *s = view_from(5);
    test_constant(s, 2);
    uint32_t m = medium_of(s, 0.7, 0, 0);
    test_box(s, m, vec3(0, 0, 0), vec3(3, 0, 0), vec3(0, 3, 0), vec3(0, 0, 0.9));
    expect(s, 100000, 5, 2 * exp(-0.7 * 1.8));
    test_scene_free(s);

    for (int inside = 0; inside < 3; inside++) { /* of none, one, both */
        static const double z[3] = {5, 1.5, 0.25};
        static const double thick[3] = {4 - 1, 1 + 1.5, 1.5}, dense[3] = {1, 1, 0.75};
        s = view_from(z[inside]);
        test_constant(s, 2);
        test_sphere(s, medium_of(s, 0.3, 0, 0), vec3(0, 0, 0), 2);
        test_sphere(s, medium_of(s, 1.2, 0, 0), vec3(0, 0, 0), 0.5);
        expect(s, 100000, 5, 2 * exp(-0.3 * thick[inside] - 1.2 * dense[inside]));
        test_scene_free(s);
    }
}

/* Absorption by channel: exp(-a t), without noise; beside extinction the product of both. The
 * floor's light goes the way twice: the camera's, then the shadow ray's. */
static void test_colored(void **state)
{
    (void)state;
    static const float a[3] = {0.25F, 1, 3};
    struct scene *s = view_from(5);
    test_constant(s, 2);
    uint32_t m = medium_of(s, 0, 0, 0);
    memcpy(s->materials[m].medium.absorption, a, sizeof a);
    test_box(s, m, vec3(0, 0, 0), vec3(3, 0, 0), vec3(0, 3, 0), vec3(0, 0, 0.9));
    const struct reference_job job = {
        .width = 1, .height = 1, .sample_count = 64, .max_depth = 5, .rr_depth = 5, .seed = 7};
    struct reference_picture p = test_render(s, &job);
    for (int c = 0; c < 3; c++) {
        double error, mean = picture_mean(&p, c, &error);
        /* a passage loses the offset: 2^-17 of the box's largest coordinate, 3 */
        double want = 2 * exp(-1.8 * (double)a[c]);
        assert_true(fabs(mean - want) < want * (2 * 3 * 0x1p-17 * (double)a[c] + 1e-6));
    }
    reference_picture_free(&p);
    test_scene_free(s);

    s = view_from(5);
    test_constant(s, 2);
    m = medium_of(s, 0.5, 0, 0);
    memcpy(s->materials[m].medium.absorption, (float[3]){0.75F, 0.75F, 0.75F}, sizeof a);
    test_box(s, m, vec3(0, 0, 0), vec3(3, 0, 0), vec3(0, 3, 0), vec3(0, 0, 0.9));
    expect(s, 100000, 5, 2 * exp(-1.8 * (0.75 + 0.5)));
    test_scene_free(s);

    /* as test_shadow_rays, colour in place of density */
    const double r = 0.02, h = 4, thick = 1.2, L = 50000;
    s = test_scene_new();
    test_camera(s, vec3(0, 3, 0), vec3(0, 0, 0), vec3(0, 0, 1), 1e-6);
    uint32_t floor = test_diffuse(s, 0.5), lamp = test_emitter(s, L);
    m = medium_of(s, 0, 0, 0);
    memcpy(s->materials[m].medium.absorption, (float[3]){0.9F, 0.9F, 0.9F}, sizeof a);
    test_quad(s, floor, vec3(-1, 0, 1), vec3(2, 0, 0), vec3(0, 0, -2));
    test_box(s, m, vec3(0, 1, 0), vec3(2, 0, 0), vec3(0, thick / 2, 0), vec3(0, 0, 2));
    test_disk(s, lamp, vec3(0, h, 0), vec3(0, -1, 0), r);
    double want = 0.5 * L * r * r / (r * r + h * h) * exp(-2 * 0.9 * thick);
    /* four passages lose the offset: 2^-17 of the largest coordinate, 2 */
    double error, mean = look(s, 20000, 2, &error);
    double bias = want * 0.9 * (thick * r * r / (2 * h * h) + 4 * 2 * 0x1p-17);
    if (!(fabs(mean - want) <= LEVEL * error + bias))
        fail_msg("%.6f, expected %.6f within %g standard errors of %.6f", mean, want, LEVEL, error);
    test_scene_free(s);
}

/* Glass of index 1 is an interface that is a vertex: what is inside it is the same. */
static void test_inside_dielectric(void **state)
{
    (void)state;
    struct scene *s = view_from(5);
    test_constant(s, 1);
    struct material glass = s->materials[medium_of(s, 0.8, 0, 0)];
    glass.type = MATERIAL_DIELECTRIC;
    glass.interface = false;
    glass.ior = (struct scalar_input){1, -1, 0};
    test_sphere(s, test_material(s, glass), vec3(0, 0, 0), 1);
    expect(s, 100000, 5, exp(-0.8 * 2));
    test_scene_free(s);
}

/* Nothing is lost where albedo is 1: what is as bright as its surroundings cannot be seen. */
static void test_furnace(void **state)
{
    (void)state;
    static const double gs[] = {0, 0.7, -0.5};
    for (int i = 0; i < 3; i++) {
        struct scene *s = view_from(3);
        test_constant(s, 1);
        test_sphere(s, medium_of(s, 1.5, 1, gs[i]), vec3(0.3, 0, 0), 1);
        test_sphere(s, medium_of(s, 6, 1, -gs[i]), vec3(0.3, 0, 0), 0.5);
        double error, mean = look(s, 40000, 4000, &error);
        if (!(fabs(mean - 1) <= LEVEL * error && error < 0.01))
            fail_msg("g %g: %.5f, expected 1 within %g standard errors of %.5f", gs[i], mean, LEVEL,
                     error);
        test_scene_free(s);
    }
}

/* Way out of a sphere of radius R from the point x along the axis, at cosine c to it. */
static double way_out(double R, double x, double c)
{
    return -x * c + sqrt(fmax(0, R * R - x * x * (1 - c * c)));
}

/* Light from everywhere that is scattered once in a sphere and leaves along a diameter, by the
 * midpoint rule: sigma albedo times the integral over t of exp(-sigma t) times that over c of
 * 2 pi p(c) exp(-sigma s). */
static double scattered_once(double sigma, double albedo, double g, double R)
{
    enum { STEPS = 1000 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        double t = 2 * R * (i + 0.5) / STEPS, inner = 0;
        for (int j = 0; j < STEPS; j++) {
            double c = -1 + 2 * (j + 0.5) / STEPS;
            double D = 1 + g * g - 2 * g * c, p = (1 - g * g) / (4 * PI * pow(D, 1.5));
            inner += p * exp(-sigma * way_out(R, t - R, c));
        }
        sum += exp(-sigma * t) * inner * (2.0 / STEPS) * 2 * PI;
    }
    return sigma * albedo * sum * (2 * R / STEPS);
}

static void test_single_scattering(void **state)
{
    (void)state;
    static const double gs[] = {0, 0.6, -0.8};
    for (int i = 0; i < 3; i++) {
        struct scene *s = view_from(4);
        test_constant(s, 1);
        test_sphere(s, medium_of(s, 1.1, 0.75, gs[i]), vec3(0, 0, 0), 1);
        expect(s, 200000, 2, exp(-2.2) + scattered_once(1.1, 0.75, gs[i], 1));
        test_scene_free(s);
    }
}

/* A small lamp over a floor, seen through a slab: the shadow ray's share. A disk of radius a at
 * height h over the point gives E = pi L a^2 / (a^2 + h^2) without the slab; its rays are within
 * a / h of upright, so that exp(-tau / cos) differs from exp(-tau) by less than tau (a/h)^2 / 2. */
static void test_shadow_rays(void **state)
{
    (void)state;
    const double a = 0.02, h = 4, sigma = 0.9, thick = 1.2, L = 50000;
    struct scene *s = test_scene_new();
    test_camera(s, vec3(0, 3, 0), vec3(0, 0, 0), vec3(0, 0, 1), 1e-6);
    uint32_t floor = test_diffuse(s, 0.5), lamp = test_emitter(s, L);
    uint32_t m = medium_of(s, sigma, 0, 0);
    test_quad(s, floor, vec3(-1, 0, 1), vec3(2, 0, 0), vec3(0, 0, -2));
    test_box(s, m, vec3(0, 3.5 - 0.02, 0), vec3(2, 0, 0), vec3(0, 0.04 / 2, 0), vec3(0, 0, 2));
    test_box(s, m, vec3(0, 1, 0), vec3(2, 0, 0), vec3(0, (thick - 0.04) / 2, 0), vec3(0, 0, 2));
    test_disk(s, lamp, vec3(0, h, 0), vec3(0, -1, 0), a);
    double tau = sigma * thick, seen = exp(-sigma * (thick - 0.04)); /* the camera's own way */
    double want = seen * 0.5 * L * a * a / (a * a + h * h) * exp(-tau);
    double error, mean = look(s, 200000, 2, &error);
    if (!(fabs(mean - want) <= LEVEL * error + want * tau * a * a / (2 * h * h)))
        fail_msg("%.6f, expected %.6f within %g standard errors of %.6f", mean, want, LEVEL, error);
    test_scene_free(s);
}

/* A medium that is entered and never left, as where bodies share a face: it absorbs on the way to
 * what is there and not on the way to infinity, for light samples as for paths. A floor below a
 * small pane under a white sky. */
static void test_never_left(void **state)
{
    (void)state;
    static const float a[3] = {0, 0.5F, 2};
    struct scene *s = test_scene_new();
    test_camera(s, vec3(0, 3, 0), vec3(0, 0, 0), vec3(0, 0, 1), 1e-6);
    uint32_t floor = test_diffuse(s, 0.5), m = medium_of(s, 0, 0, 0);
    memcpy(s->materials[m].medium.absorption, a, sizeof a);
    test_quad(s, floor, vec3(-1, 0, 1), vec3(2, 0, 0), vec3(0, 0, -2));
    test_quad(s, m, vec3(-0.01, 1, 0.01), vec3(0.02, 0, 0), vec3(0, 0, -0.02));
    test_constant(s, 1);
    const struct reference_job job = {
        .width = 1, .height = 1, .sample_count = 10000, .max_depth = 2, .rr_depth = 2, .seed = 7};
    struct reference_picture p = test_render(s, &job);
    for (int c = 0; c < 3; c++) {
        double error, want = 0.5 * exp(-(double)a[c]), mean = picture_mean(&p, c, &error);
        /* what goes through the pane, 0.02^2 over pi of the light, is absorbed once more */
        double bias = want * (0.02 * 0.02 / 3 + (double)a[c] * 0x1p-16);
        if (!(fabs(mean - want) <= LEVEL * error + bias + 1e-9))
            fail_msg("%d: %.6f, expected %.6f, %g", c, mean, want, error);
    }
    reference_picture_free(&p);
    test_scene_free(s);
}

/* 64 interfaces are passed, the next absorbs. */
static void test_passages(void **state)
{
    (void)state;
    for (int shells = 64; shells <= 65; shells++) {
        struct scene *s = view_from(0);
        test_constant(s, 1);
        uint32_t shell = test_material(s, (struct material){.base = {{0}, -1}, .interface = true});
        for (int i = 1; i <= shells; i++)
            test_sphere(s, shell, vec3(0, 0, 0), i);
        double error;
        assert_true(look(s, 16, 3, &error) == (shells == 64 ? 1 : 0));
        test_scene_free(s);
    }
}

/* Of five media the outermost is forgotten, and each is left once. */
static void test_lists(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    uint32_t m[5], last;
    struct media_list list = {.count = 0};
    for (int i = 0; i < 5; i++) {
        m[i] = medium_of(s, i + 1, 0, 0);
        media_cross(&list, s, m[i], true);
    }
    assert_int_equal(list.count, 4);
    media_cross(&list, s, m[0], false); /* not there any more */
    assert_int_equal(list.count, 4);
    media_cross(&list, s, m[2], false); /* from between */
    assert_true(media_innermost(&list, s, &last)->density == 5 && last == m[4]);
    media_cross(&list, s, m[4], false);
    assert_true(media_innermost(&list, s, &last)->density == 4);
    media_cross(&list, s, m[3], false);
    assert_true(media_innermost(&list, s, &last)->density == 2);
    media_cross(&list, s, m[1], false);
    assert_null(media_innermost(&list, s, &last));
    test_scene_free(s);
}

/* The density of sampled directions is that of the function, and integrates to 1: by moments. The
 * mean cosine is g. */
static void test_phase(void **state)
{
    (void)state;
    static const double gs[] = {0, 0.3, -0.9, 0.99};
    for (int i = 0; i < 4; i++) {
        enum { N = 1000 };
        double mean = 0, whole = 0;
        struct vec3 d = normalize(vec3(0.3, -0.8, 0.4));
        for (int j = 0; j < N; j++) {
            double pdf;
            struct vec3 wi =
                phase_sample(gs[i], d, (j + 0.5) / N, (j * 0.618) - floor(j * 0.618), &pdf);
            mean += dot(wi, d) / N;
            assert_true(fabs(pdf - phase_eval(gs[i], dot(wi, d))) < 1e-9 * pdf);
        }
        for (int j = 0; j < 2000000; j++)
            whole += 2 * PI * phase_eval(gs[i], -1 + (j + 0.5) * 1e-6) * 1e-6;
        assert_true(fabs(mean - gs[i]) < 1e-3);
        assert_true(fabs(whole - 1) < 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absorption),
        cmocka_unit_test(test_inside_dielectric),
        cmocka_unit_test(test_colored),
        cmocka_unit_test(test_furnace),
        cmocka_unit_test(test_single_scattering),
        cmocka_unit_test(test_shadow_rays),
        cmocka_unit_test(test_never_left),
        cmocka_unit_test(test_passages),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
