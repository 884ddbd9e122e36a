/* SPDX-License-Identifier: Apache-2.0 */
/* Cameras, apertures and pixel filters of protocol section 23 against closed forms and quadrature;
 * hypotheses at level 0.01 shared over the tests that draw samples. */
#include "cameras/camera.h"
#include "cameras/film_filter.h"
#include "lights/environment.h"
#include "numbers/random.h"
#include "path/path.h"
#include "tests/test_scene.h"
#include "tests/test_statistics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double LEVEL = 0.01 / 8;
enum { SAMPLES = 200000 };

static void near_by(const char *what, double v, double expected, double bound)
{
    if (!(fabs(v - expected) <= bound))
        fail_msg("%s: %.15g, expected %.15g within %.3g", what, v, expected, bound);
}

/* ---- apertures ------------------------------------------------------------------------------- */

/* Of the regular n-gon with corners on the unit circle: area (n/2) sin(2 pi/n); second moment of
 * either axis over the area (2 + cos(2 pi/n))/12. */
static void test_polygon_moments(void **state)
{
    (void)state;
    static const uint32_t corners[] = {3, 4, 5, 6, 7, 9, 17, 32};
    for (size_t k = 0; k < sizeof corners / sizeof *corners; k++) {
        uint32_t n = corners[k];
        double rotation = 0.3 * (double)k, mean[2] = {0}, second[3] = {0};
        enum { GRID = 600 };
        /* the map of a regular grid of midpoints: a quadrature whose error falls as 1/GRID^2, from
         * the map's kinks; 4/GRID^2 bounds what is seen here with room */
        for (int i = 0; i < GRID * GRID; i++) {
            double x, y;
            map_polygon((i % GRID + 0.5) / GRID, ((double)(i / GRID) + 0.5) / GRID, n, rotation, &x,
                        &y);
            mean[0] += x, mean[1] += y;
            second[0] += x * x, second[1] += y * y, second[2] += x * y;
            for (uint32_t e = 0; e < n; e++) { /* inside of every edge */
                double phi = 2 * PI * (e + 0.5) / n + rotation;
                assert_true(x * cos(phi) + y * sin(phi) <= cos(PI / n) + 1e-14);
            }
        }
        double moment = (2 + cos(2 * PI / n)) / 12, count = (double)GRID * GRID;
        near_by("mean x", mean[0] / count, 0, 4.0 / GRID / GRID);
        near_by("mean y", mean[1] / count, 0, 4.0 / GRID / GRID);
        near_by("x x", second[0] / count, moment, 4.0 / GRID / GRID);
        near_by("y y", second[1] / count, moment, 4.0 / GRID / GRID);
        near_by("x y", second[2] / count, 0, 4.0 / GRID / GRID);
    }
}

/* Uniform: counts in a grid of squares that lie wholly inside, and the rest as one cell. */
static void test_polygon_is_uniform(void **state)
{
    (void)state;
    enum { SIDE = 12 };
    const uint32_t n = 5;
    double observed[SIDE * SIDE + 1] = {0}, expected[SIDE * SIDE + 1] = {0}, inside = 0;
    double area = 0.5 * n * sin(2 * PI / n), cell = 4.0 / SIDE / SIDE;
    for (int i = 0; i < SIDE * SIDE; i++) {
        bool whole = true;
        for (int c = 0; c < 4; c++) {
            double x = 2.0 * (i % SIDE + (c & 1)) / SIDE - 1,
                   y = 2.0 * (i / SIDE + (c >> 1)) / SIDE - 1;
            for (uint32_t e = 0; e < n; e++)
                whole &= x * cos(2 * PI * (e + 0.5) / n) + y * sin(2 * PI * (e + 0.5) / n) <=
                         cos(PI / n);
        }
        expected[i] = whole ? SAMPLES * cell / area : 0;
        inside += expected[i];
    }
    expected[SIDE * SIDE] = SAMPLES - inside;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double u[4], x, y;
        test_numbers(21, i, u);
        map_polygon(u[0], u[1], n, 0, &x, &y);
        int at = (int)((x + 1) / 2 * SIDE) + SIDE * (int)((y + 1) / 2 * SIDE);
        observed[expected[at] > 0 ? at : SIDE * SIDE]++;
    }
    test_counts("polygon", observed, expected, SIDE * SIDE + 1, LEVEL);
}

/* A lens point lies on the lens, squeezed across, and its ray meets the pinhole's at the plane of
 * focus: perspective and orthographic. */
static void test_lens(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    struct camera pin = s->camera; /* along -z, right is +x, up is +y */
    pin.tan_half_fov = 0.5;
    for (int type = CAMERA_PERSPECTIVE; type <= CAMERA_ORTHOGRAPHIC; type++) {
        pin.type = (enum camera_type)type;
        struct camera lens = pin;
        lens.lens_radius = 0.25, lens.focus_distance = 3;
        lens.blades = 6, lens.anamorphic = 2;
        double widest[2] = {0};
        for (uint32_t i = 0; i < 4000; i++) {
            double u[4];
            test_numbers(22, i, u);
            const double at[2] = {7 + u[0], 21 + u[1]};
            struct ray sharp = camera_ray(&pin, 30, 40, at, u + 2),
                       ray = camera_ray(&lens, 30, 40, at, u + 2);
            widest[0] = fmax(widest[0], ray.o.x - sharp.o.x);
            widest[1] = fmax(widest[1], ray.o.y - sharp.o.y);
            struct vec3 a = add(ray.o, scale(-3 / ray.d.z, ray.d)),
                        b = add(sharp.o, scale(-3 / sharp.d.z, sharp.d));
            near_by("focus", length(sub(a, b)), 0, 1e-12);
            near_by("|d|", length(ray.d), 1, 1e-14);
        }
        /* a hexagon with a corner to the right reaches 1 across and sqrt(3)/2 up */
        assert_true(widest[0] > 0.24 / 2 && widest[0] <= 0.25 / 2);
        assert_true(widest[1] > 0.24 * sqrt(0.75) && widest[1] <= 0.25 * sqrt(0.75) + 1e-15);
    }
    test_scene_free(s);
}

/* ---- cameras -------------------------------------------------------------------------------- */

/* Parallel rays from a film of the asked height (or width), square pixels. */
static void test_orthographic(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    struct camera *c = &s->camera;
    const double none[2] = {0};
    static const struct {
        enum fov_axis axis;
        double w, h; /* of the film in the world, height = 3 */
    } views[] = {{FOV_X, 3, 1.5}, {FOV_Y, 6, 3}, {FOV_SMALLER, 6, 3}, {FOV_LARGER, 3, 1.5}};
    c->type = CAMERA_ORTHOGRAPHIC;
    c->tan_half_fov = 1.5;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        c->fov_axis = views[i].axis;
        for (int k = 0; k < 25; k++) {
            const double at[2] = {10.0 * (k % 5), 5.0 * (double)(k / 5)};
            struct ray ray = camera_ray(c, 40, 20, at, none);
            near_by("x", ray.o.x, views[i].w * (at[0] / 40 - 0.5), 1e-14);
            near_by("y", ray.o.y, views[i].h * (0.5 - at[1] / 20), 1e-14);
            assert_true(ray.d.x == 0 && ray.d.y == 0 && ray.d.z == -1 && ray.o.z == 0);
        }
        struct camera_footprint f = camera_footprint(c, 40, 20);
        near_by("pixel", f.base, views[i].h / 20, 1e-15);
        assert_true(f.slope == 0);
    }
    test_scene_free(s);
}

/* What a camera along +z sees of an environment is the environment's image: texel centres. */
static void test_equirectangular(void **state)
{
    (void)state;
    enum { W = 16, H = 8 };
    struct scene *s = test_scene_new();
    float texels[W * H * 3];
    for (int i = 0; i < W * H * 3; i++)
        texels[i] = (float)(1 + (i * 37) % 101);
    s->environment = (struct environment){
        .type = ENVIRONMENT_MAP,
        .radiance = {1, 1, 1},
        .map = {.width = W, .height = H, .channels = 3, .format = TEXEL_F32, .texels = texels},
        .to_local = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    test_camera(s, vec3(2, 3, 4), vec3(2, 3, 5), vec3(0, 1, 0), 1);
    s->camera.type = CAMERA_EQUIRECTANGULAR;
    struct reference *r;
    struct error err = {0};
    if (reference_open(s, &r, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    const double none[2] = {0};
    for (int i = 0; i < W * H; i++) {
        struct ray ray = camera_ray(&s->camera, W, H,
                                    (const double[2]){i % W + 0.5, (double)(i / W) + 0.5}, none);
        double d[3], L[3], pdf;
        assert_true(ray.o.x == 2 && ray.o.y == 3 && ray.o.z == 4);
        near_by("|d|", length(ray.d), 1, 1e-15);
        to_double(ray.d, d);
        reference_environment(r, d, L, &pdf);
        for (int c = 0; c < 3; c++)
            near_by("texel", L[c], (double)texels[3 * i + c], 1e-9);
    }
    /* the middle, the upper edge, the right quarter, and on over the edges */
    struct ray ray = camera_ray(&s->camera, W, H, (const double[2]){W / 2.0, H / 2.0}, none);
    near_by("forward", ray.d.z, 1, 1e-15);
    ray = camera_ray(&s->camera, W, H, (const double[2]){3, 0}, none);
    near_by("up", ray.d.y, 1, 1e-15);
    ray = camera_ray(&s->camera, W, H, (const double[2]){0.75 * W, H / 2.0}, none);
    near_by("right", dot(ray.d, from_double(s->camera.right)), 1, 1e-15);
    ray = camera_ray(&s->camera, W, H, (const double[2]){3, -1}, none);
    struct ray over = camera_ray(&s->camera, W, H, (const double[2]){3 + W / 2.0, 1}, none);
    near_by("over the pole", length(sub(ray.d, over.d)), 0, 1e-14);
    reference_close(r);
    test_scene_free(s);
}

/* ---- filters -------------------------------------------------------------------------------- */

static double density(enum pixel_filter type, double t) /* not normalised; section 23's table */
{
    switch (type) {
    case PIXEL_BOX:
        return 1;
    case PIXEL_TENT:
        return 1 - fabs(t);
    case PIXEL_GAUSSIAN:
        return exp(-4.5 * t * t);
    case PIXEL_BLACKMAN_HARRIS:
        return 0.35875 + 0.48829 * cos(PI * t) + 0.14128 * cos(2 * PI * t) +
               0.01168 * cos(3 * PI * t);
    }
    return 0;
}

static double density_integral(enum pixel_filter type, double to) /* from -1, Simpson's rule */
{
    enum { STEPS = 2000 };
    double h = (to + 1) / STEPS, sum = density(type, -1) + density(type, to);
    for (int i = 1; i < STEPS; i++)
        sum += density(type, -1 + i * h) * (i % 2 ? 4 : 2);
    return sum * h / 3;
}

/* The distribution function at q(u) is u: exactly where q is a closed form or at the table's
 * places (Simpson's error is below 1e-9 here; the tent's kink costs 1e-7), within a cell of the
 * table elsewhere. q is odd about 1/2 and rises. */
static void test_filter_distribution(void **state)
{
    (void)state;
    for (int type = PIXEL_BOX; type <= PIXEL_BLACKMAN_HARRIS; type++) {
        struct scene s = {.filter = (enum pixel_filter)type, .filter_radius = 1.25};
        struct film_filter f;
        film_filter_make(&s, &f);
        assert_true(!f.standard);
        double total = density_integral(s.filter, 1), before = -1.1;
        for (int i = 0; i <= 4 * 256; i++) {
            double u = i / 1024.0, q = film_filter_map(&f, fmin(u, 1 - 0x1p-53));
            assert_true(q >= before && q >= -1 && q <= 1);
            near_by("distribution", density_integral(s.filter, q) / total, u, 1e-6);
            near_by("odd", film_filter_map(&f, fmin(1 - u, 1 - 0x1p-53)), -q, 1e-7);
            before = q;
        }
        for (int i = 0; i < 1000; i++) {
            double u = (i + 0.37) / 1000, q = film_filter_map(&f, u);
            near_by("between", density_integral(s.filter, q) / total, u, 1.0 / 1024);
        }
        double position[2];
        film_position(&f, 7, 9, (const double[2]){0, 0.5}, position);
        near_by("left", position[0], 7.5 - 1.25, 1e-14);
        near_by("middle", position[1], 9.5, 1e-14);
    }
    struct scene s = {0};
    struct film_filter f;
    double position[2];
    film_filter_make(&s, &f);
    film_position(&f, 7, 9, (const double[2]){0.25, 0.5}, position);
    assert_true(f.standard && position[0] == 7.25 && position[1] == 9.5);
}

/* Drawn positions follow the density: the quadrature of the density up to a position is uniform, in
 * 32 cells, whose edges the table holds exactly. */
static void test_filter_samples(void **state)
{
    (void)state;
    enum { CELLS = 32, FINE = 20000 };
    for (int type = PIXEL_BOX; type <= PIXEL_BLACKMAN_HARRIS; type++) {
        struct scene s = {.filter = (enum pixel_filter)type, .filter_radius = 2};
        struct film_filter f;
        film_filter_make(&s, &f);
        double observed[CELLS] = {0}, expected[CELLS], *sum = calloc(FINE + 1, sizeof *sum);
        assert_non_null(sum);
        for (int i = 0; i < FINE; i++) /* midpoints */
            sum[i + 1] = sum[i] + density(s.filter, 2 * (i + 0.5) / FINE - 1);
        for (int i = 0; i < CELLS; i++)
            expected[i] = SAMPLES / (double)CELLS;
        for (uint32_t i = 0; i < SAMPLES; i++) {
            double u[4], at[2];
            test_numbers(23, i, u);
            film_position(&f, 0, 0, u, at);
            double place = (at[i % 2] - 0.5 + 2) / 4 * FINE;
            int k = (int)fmin(floor(place), FINE - 1);
            double F = (sum[k] + (sum[k + 1] - sum[k]) * (place - k)) / sum[FINE];
            observed[(int)fmin(F * CELLS, CELLS - 1)]++;
        }
        free(sum);
        test_counts("filter", observed, expected, CELLS, LEVEL);
    }
}

/* ---- clamp ---------------------------------------------------------------------------------- */

static void test_clamp(void **state)
{
    (void)state;
    struct scene s = {.clamp = 2};
    struct reference r = {.scene = &s, .film_limit = 1e9};
    struct vec3 L = film_value(&r, vec3(8, 4, 1));
    assert_true(L.x == 2 && L.y == 1 && L.z == 0.25); /* keeps its hue */
    L = film_value(&r, vec3(2, 0.5, 1));
    assert_true(L.x == 2 && L.y == 0.5 && L.z == 1);
    L = film_value(&r, vec3(INFINITY, 1, 1));
    assert_true(is_zero(L));
    s.clamp = 0;
    L = film_value(&r, vec3(8, 4, 1));
    assert_true(L.x == 8 && L.y == 4 && L.z == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polygon_moments),
        cmocka_unit_test(test_polygon_is_uniform),
        cmocka_unit_test(test_lens),
        cmocka_unit_test(test_orthographic),
        cmocka_unit_test(test_equirectangular),
        cmocka_unit_test(test_filter_distribution),
        cmocka_unit_test(test_filter_samples),
        cmocka_unit_test(test_clamp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
