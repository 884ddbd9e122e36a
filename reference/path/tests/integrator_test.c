/* SPDX-License-Identifier: Apache-2.0 */
/* The renderer against closed forms.
 *
 * Each picture is a mean with a standard error from its own variance pass; it must lie within LIMIT
 * standard errors of the closed form: normal tails beyond 4.5 are 7e-6, and there are fewer than 60
 * comparisons, so the whole file keeps the level 5e-4. Each also says how small its standard error
 * has to be, for a wide one would prove nothing. Views are so narrow that radiance does not change
 * over the picture. */
#include "numbers/random.h"
#include "path/path.h"
#include "surfaces/bsdf.h"
#include "tests/test_scene.h"
#include "tests/test_statistics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double LIMIT = 4.5;
enum { NO_ROULETTE = 100000 };

/* The scene's mean radiance is `expected`, known to a relative `power` at least: by `spp` samples, of
 * which TEST_THINNING leaves a part, that know less by its root. */
static void check(const char *what, const struct scene *s, uint32_t spp, uint32_t max_depth,
                  uint32_t rr_depth, double expected, double power)
{
    const struct reference_job job = {.width = 8,
                                      .height = 8,
                                      .sample_count = (spp + TEST_THINNING - 1) / TEST_THINNING,
                                      .max_depth = max_depth,
                                      .rr_depth = rr_depth,
                                      .seed = 20261121};
    struct reference_picture p = test_render(s, &job);
    double error, mean = picture_mean(&p, 1, &error);
    reference_picture_free(&p);
    print_message("%-46s %.6f +- %.6f, closed form %.6f\n", what, mean, error, expected);
    /* 1e-4: rays start delta = 2^-17 times the size of what they leave above it, here at most 5 *
     * 2^-17 = 4e-5, and lights are at least 1 away (or the gap does not enter), so that what a
     * point sees changes by 2 delta / distance at most. */
    if (!(fabs(mean - expected) <= LIMIT * error + 1e-4 * expected))
        fail_msg("%s: %.2f standard errors off", what, (mean - expected) / error);
    if (!(error <= power * expected * sqrt(TEST_THINNING)))
        fail_msg("%s: standard error %g is too large to tell", what, error);
}

static struct material emitting(double reflectance, double radiance)
{
    float r = (float)reflectance, L = (float)radiance;
    return (struct material){
        .base = {{r, r, r}, -1}, .emission = {L, L, L}, .emission_two_sided = true};
}

/* ---- furnaces ------------------------------------------------------------------------------- */

/* Inside a closed diffuse wall that emits Le everywhere, radiance is the same everywhere: L = Le +
 * rho L = Le/(1 - rho); with at most n vertices, Le (1 - rho^n)/(1 - rho). */
static void test_closed_furnace(void **state)
{
    (void)state;
    for (int box = 0; box < 2; box++) {
        struct scene *s = test_scene_new();
        uint32_t m = test_material(s, emitting(0.5, 0.25));
        if (box)
            test_box(s, m, vec3(0, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0), vec3(0, 0, 1));
        else
            test_sphere(s, m, vec3(0, 0, 0), 1);
        test_camera(s, vec3(0.3, -0.2, 0.1), vec3(0, 1, 0.3), vec3(0, 0, 1), 0.5);
        check(box ? "furnace in a box" : "furnace in a sphere", s, 256, 40, NO_ROULETTE, 0.5, 2e-3);
        check("  with roulette", s, 512, 40, 2, 0.5, 4e-3);
        check("  3 vertices", s, 256, 3, NO_ROULETTE, 0.25 * (1 + 0.5 + 0.25), 2e-3);
        check("  2 vertices", s, 256, 2, NO_ROULETTE, 0.25 * (1 + 0.5), 2e-3);
        check("  1 vertex", s, 16, 1, NO_ROULETTE, 0.25, 1e-9);
        test_scene_free(s);
    }
}

/* A convex body in an environment of radiance 1: diffuse gives rho, a mirror rho, clear glass 1. */
static void test_open_furnace(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    uint32_t m = test_diffuse(s, 0.3);
    test_sphere(s, m, vec3(0, 0, -3), 1);
    test_constant(s, 1);
    s->camera.tan_half_fov = 0.05;
    check("diffuse sphere in a constant environment", s, 1024, 2, NO_ROULETTE, 0.3, 2e-3);
    s->materials[m].type = MATERIAL_MIRROR;
    check("mirror", s, 4, 2, NO_ROULETTE, (double)0.3F, 1e-9);
    /* One path in 25^n stays inside n times: 60 vertices hold them all. */
    s->materials[m] = (struct material){.type = MATERIAL_DIELECTRIC, .ior = {1.5F, -1, 0}};
    check("glass", s, 64, 60, NO_ROULETTE, 1, 1e-9);
    check("glass with roulette", s, 4096, 60, 3, 1, 2e-3);
    test_scene_free(s);
}

/* Rough bodies: the directional albedo, int f cos dwi at the angle of view, by quadrature of f
 * (bsdf_test.c checks f). A disk is seen from one direction; the view is narrow. */
static void test_albedo(void **state)
{
    (void)state;
    struct material kinds[2] = {{.type = MATERIAL_ROUGH_CONDUCTOR,
                                 .roughness = {0.5F, -1, 0},
                                 .eta = {0.2F, 0.4F, 1.4F},
                                 .k = {3.1F, 2.4F, 1.9F}},
                                {.type = MATERIAL_PRINCIPLED,
                                 .base = {{0.8F, 0.5F, 0.2F}, -1},
                                 .roughness = {0.4F, -1, 0},
                                 .metallic = {0.25F, -1, 0},
                                 .specular = {0.5F, -1, 0}}};
    for (int kind = 0; kind < 2; kind++) {
        for (int tilt = 0; tilt < 2; tilt++) {
            struct scene *s = test_scene_new();
            uint32_t m = test_material(s, kinds[kind]);
            double angle = tilt ? 65 * PI / 180 : 10 * PI / 180;
            test_disk(s, m, vec3(0, 0, 0), vec3(0, 0, 1), 1);
            test_constant(s, 1);
            test_camera(s, scale(5, vec3(sin(angle), 0, cos(angle))), vec3(0, 0, 0), vec3(0, 1, 0),
                        1e-3);
            const double uv[2] = {0};
            struct bsdf b = bsdf_at(s, &s->materials[m], uv, true);
            struct vec3 wo = vec3(sin(angle), 0, cos(angle));
            double albedo = 0, pdf;
            enum { N = 800 };
            for (int j = 0; j < N; j++) {
                for (int i = 0; i < N; i++) {
                    double c = (j + 0.5) / N, phi = 2 * PI * (i + 0.5) / N, sn = sqrt(1 - c * c);
                    struct vec3 wi = vec3(sn * cos(phi), sn * sin(phi), c);
                    albedo += bsdf_eval(&b, wo, wi, &pdf).y * c * 2 * PI / N / N;
                }
            }
            check(kind ? "principled disk in a constant environment"
                       : "rough conductor in a constant environment",
                  s, 2048, 2, NO_ROULETTE, albedo, 2e-3);
            test_scene_free(s);
        }
    }
}

/* ---- direct light on a diffuse plane: textbook form factors --------------------------------- */

enum { PLANE_SPP = 4096 };
static const double RHO = 0.7F, LE = 3;

/* A white plane z = 0, seen at the origin. Radiance is rho E/pi; E = pi Le F, F the form factor
 * from the point to the light. */
static struct scene *plane_scene(uint32_t *light)
{
    struct scene *s = test_scene_new();
    uint32_t m = test_diffuse(s, RHO);
    *light = test_emitter(s, LE);
    test_quad(s, m, vec3(-5, -5, 0), vec3(10, 0, 0), vec3(0, 10, 0));
    test_camera(s, vec3(-4, 1, 0.5), vec3(0, 0, 0), vec3(0, 0, 1), 1e-4);
    return s;
}

static void check_plane(const char *what, struct scene *s, double factor)
{
    check(what, s, PLANE_SPP, 2, NO_ROULETTE, RHO * LE * factor, 2e-3);
    test_scene_free(s);
}

static void test_disk_light(void **state)
{
    (void)state;
    uint32_t light;
    struct scene *s = plane_scene(&light);
    /* parallel, its axis through the point: R^2/(R^2 + h^2) */
    test_disk(s, light, vec3(0, 0, 2), vec3(0, 0, -1), 1.5);
    check_plane("disk above", s, 2.25 / (2.25 + 4));
    /* parallel, its axis d away (Howell, Menguc, Siegel, B-13): (1 - (h^2 + d^2 - R^2)/sqrt((h^2 +
     * d^2 + R^2)^2 - 4 d^2 R^2))/2 */
    s = plane_scene(&light);
    test_disk(s, light, vec3(0, 3, 2), vec3(0, 0, -1), 1.5);
    double q = 4 + 9, k = sqrt((q + 2.25) * (q + 2.25) - 4 * 9 * 2.25);
    check_plane("disk aside", s, (1 - (q - 2.25) / k) / 2);
    /* its dark side down: nothing; both sides bright: the same as before */
    s = plane_scene(&light);
    test_disk(s, light, vec3(0, 0, 2), vec3(0, 0, 1), 1.5);
    check("disk upside down", s, 16, 2, NO_ROULETTE, 0, 1);
    s->materials[light].emission_two_sided = true;
    check_plane("disk upside down, two-sided", s, 2.25 / (2.25 + 4));
}

/* A sphere wholly above the plane: (r/D)^2 cos(theta). */
static void test_sphere_light(void **state)
{
    (void)state;
    uint32_t light;
    struct scene *s = plane_scene(&light);
    test_sphere(s, light, vec3(0, 0, 3), 1);
    check_plane("sphere above", s, 1.0 / 9);
    s = plane_scene(&light);
    test_sphere(s, light, vec3(2, 1, 2), 1);
    check_plane("sphere aside", s, 1.0 / 9 * 2 / 3);
    s = plane_scene(&light);
    test_sphere(s, light, vec3(0, 0, 1.01), 1); /* nearly touching: a cone of almost a half space */
    check_plane("sphere nearly touching", s, 1 / (1.01 * 1.01));
    s = plane_scene(&light);
    test_sphere(s, light, vec3(0, 0, 300), 1);
    check_plane("sphere far away", s, 1.0 / 90000);
}

/* A rectangle parallel to the plane, a corner above the point, sides w and l at height h: with X =
 * w/h, Y = l/h, (X/sqrt(1 + X^2) atan(Y/sqrt(1 + X^2)) + Y/sqrt(1 + Y^2) atan(X/sqrt(1 + Y^2)))/(2
 * pi) (Howell et al., B-3). */
static double corner_factor(double X, double Y)
{
    double x = sqrt(1 + X * X), y = sqrt(1 + Y * Y);
    return (X / x * atan(Y / x) + Y / y * atan(X / y)) / (2 * PI);
}

static void test_rectangle_light(void **state)
{
    (void)state;
    uint32_t light;
    struct scene *s = plane_scene(&light);
    test_quad(s, light, vec3(0, 0, 2), vec3(0, 1, 0), vec3(3, 0, 0));
    check_plane("rectangle, corner above", s, corner_factor(1.5, 0.5));
    s = plane_scene(&light);
    test_quad(s, light, vec3(-1, -1, 1), vec3(0, 2, 0), vec3(2, 0, 0));
    check_plane("square above", s, 4 * corner_factor(1, 1));
    s = plane_scene(&light); /* not above at all: a larger rectangle without a smaller one */
    test_quad(s, light, vec3(1, 0, 1), vec3(0, 1, 0), vec3(1, 0, 0));
    check_plane("rectangle aside", s, corner_factor(2, 1) - corner_factor(1, 1));
    s = plane_scene(&light); /* the same light in a room shared with the environment, which covers
                                the rest of the half space */
    test_quad(s, light, vec3(-1, -1, 1), vec3(0, 2, 0), vec3(2, 0, 0));
    test_constant(s, LE);
    check_plane("square and environment alike", s, 1);
}

/* The shading normal's cosine counts: vertex normals tilted by 20 degrees towards +x. */
static void test_shading_normal(void **state)
{
    (void)state;
    uint32_t light;
    struct scene *s = plane_scene(&light);
    s->N = arena_alloc(&s->arena, 6, sizeof *s->N, 0);
    double tilt = 20 * PI / 180;
    for (int i = 0; i < 6; i++) {
        s->N[i][0] = (float)sin(tilt);
        s->N[i][2] = (float)cos(tilt);
    }
    s->triangle_flags[0] = s->triangle_flags[1] = TRIANGLE_HAS_NORMALS;
    test_sphere(s, light, vec3(0, 0, 3), 1);
    /* seen from +x, whence the tilted normal can be seen */
    test_camera(s, vec3(4, 1, 0.5), vec3(0, 0, 0), vec3(0, 0, 1), 1e-4);
    check_plane("sphere above, tilted normals", s, cos(tilt) / 9);
}

/* ---- interreflection ------------------------------------------------------------------------ */

/* Concentric spheres, the inner one emits; radiosity has one unknown a sphere. All light of the
 * inner one reaches the outer (F12 = 1), which sees the inner by F21 = (r1/r2)^2 and itself by 1 -
 * F21: B1 = Le + rho1 B2,   B2 = rho2 (F21 B1 + (1 - F21) B2). */
static void test_enclosure(void **state)
{
    (void)state;
    const double rho1 = 0.4F, rho2 = 0.75, Le = 2, F21 = 0.25;
    /* B2 (1 - rho2 (1 - F21)) = rho2 F21 (Le + rho1 B2) */
    double B2 = rho2 * F21 * Le / (1 - rho2 * (1 - F21) - rho2 * F21 * rho1), B1 = Le + rho1 * B2;
    struct scene *s = test_scene_new();
    uint32_t inner = test_material(s, emitting(rho1, Le));
    s->materials[inner].emission_two_sided = false;
    uint32_t outer = test_diffuse(s, rho2);
    test_sphere(s, inner, vec3(0, 0, 0), 1);
    test_sphere(s, outer, vec3(0, 0, 0), 2);
    test_camera(s, vec3(0, 0, 1.5), vec3(0, 0, 0), vec3(0, 1, 0), 0.3);
    check("enclosure: inner sphere", s, 512, 40, NO_ROULETTE, B1, 2e-3);
    test_camera(s, vec3(0, 0, 1.5), vec3(0, 0.5, 2), vec3(0, 1, 0), 0.3);
    check("enclosure: outer sphere", s, 1024, 40, NO_ROULETTE, B2, 2e-3);
    check("enclosure: outer sphere, roulette", s, 1024, 40, 2, B2, 4e-3);
    /* the first terms alone: direct light; then one bounce more, which can only be off the outer
     * sphere, for the inner one is convex and sees none of its own light */
    double direct = rho2 * F21 * Le, once = direct + rho2 * (1 - F21) * direct;
    check("enclosure: direct light", s, 2048, 2, NO_ROULETTE, direct, 2e-3);
    check("enclosure: one bounce", s, 2048, 3, NO_ROULETTE, once, 2e-3);
    test_scene_free(s);
}

/* ---- MIS with an environment map ------------------------------------------------------------ */

enum { MAP_W = 16, MAP_H = 8 };

/* Bilinear lookup by the words of section 5.1, for texel centres at half-integers. */
static double map_value(const float *gray_map, double u, double v)
{
    double x = u * MAP_W - 0.5, y = v * MAP_H - 0.5, sum = 0;
    int x0 = (int)floor(x), y0 = (int)floor(y);
    for (int k = 0; k < 4; k++) {
        int right = x0 + k % 2, j = y0 + k / 2, i = (right + MAP_W) % MAP_W;
        double wx = 1 - fabs(x - right), wy = 1 - fabs(y - j);
        sum += wx * wy * (double)gray_map[(j < 0 ? 0 : j >= MAP_H ? MAP_H - 1 : j) * MAP_W + i];
    }
    return sum;
}

static void test_hot_texel(void **state)
{
    (void)state;
    float values[MAP_W * MAP_H], rgb[MAP_W * MAP_H * 3];
    for (int i = 0; i < MAP_W * MAP_H; i++)
        values[i] = 0.5F;
    values[1 * MAP_W + 3] = 2000; /* high in the sky */
    values[2 * MAP_W + 9] = 0;    /* shines by its neighbours' share */
    for (int i = 0; i < MAP_W * MAP_H * 3; i++)
        rgb[i] = values[i / 3];
    const struct material kinds[3] = {{.type = MATERIAL_DIFFUSE, .base = {{0.6F, 0.6F, 0.6F}, -1}},
                                      {.type = MATERIAL_ROUGH_CONDUCTOR,
                                       .roughness = {0.45F, -1, 0},
                                       .eta = {0.2F, 0.4F, 1.4F},
                                       .k = {3.1F, 2.4F, 1.9F}},
                                      {.type = MATERIAL_PRINCIPLED,
                                       .base = {{0.8F, 0.5F, 0.2F}, -1},
                                       .roughness = {0.5F, -1, 0},
                                       .metallic = {0, -1, 0},
                                       .specular = {0.5F, -1, 0}}};
    for (int kind = 0; kind < 3; kind++) {
        struct scene *s = test_scene_new();
        uint32_t m = test_material(s, kinds[kind]);
        test_disk(s, m, vec3(0, 0, 0), vec3(0, 1, 0), 1); /* +y is up in the map */
        test_map(s, MAP_W, MAP_H, rgb);
        struct vec3 wo = normalize(vec3(-1, 0.9, 0.4));
        test_camera(s, scale(6, wo), vec3(0, 0, 0), vec3(0, 0, 1), 1e-4);
        const double uv[2] = {0};
        struct bsdf b = bsdf_at(s, &s->materials[m], uv, true);
        struct frame f = frame_about(vec3(0, 1, 0));
        double L = 0, pdf;
        enum {
            N = 96
        }; /* midpoints a texel and direction: the integrand is smooth in each quarter texel */
        for (int j = 0; j < N * MAP_H / 2; j++) {
            for (int i = 0; i < N * MAP_W; i++) {
                double u = (i + 0.5) / (N * MAP_W), v = (j + 0.5) / (N * MAP_H);
                double theta = PI * v, phi = 2 * PI * u;
                struct vec3 d = vec3(sin(theta) * sin(phi), cos(theta), -sin(theta) * cos(phi));
                L += bsdf_eval(&b, to_local(f, wo), to_local(f, d), &pdf).y * d.y *
                     map_value(values, u, v) * sin(theta) * 2 * PI * PI / (N * MAP_W * N * MAP_H);
            }
        }
        check(kind == 0   ? "hot texel on diffuse"
              : kind == 1 ? "hot texel on a conductor"
                          : "hot texel on principled",
              s, 8192, 2, NO_ROULETTE, L, 4e-3);
        test_scene_free(s);
    }
}

/* ---- what each depth shows, and what must be dark ------------------------------------------- */

static void test_depths(void **state)
{
    (void)state;
    struct scene *s = test_cornell();
    struct reference *r;
    assert_int_equal(reference_open(s, &r, NULL), STATUS_OK);
    struct reference_job job = {.width = 32, .height = 32, .rr_depth = NO_ROULETTE};
    bool deeper_is_brighter = false;
    for (uint32_t y = 0; y < 32; y++) {
        for (uint32_t x = 0; x < 32; x++) {
            double L[3], before = 0;
            for (job.max_depth = 1; job.max_depth <= 6; job.max_depth++) {
                struct path_vertex v[8];
                size_t n;
                reference_sample(r, &job, x, y, 0, L, v, 8, &n);
                assert_true(n >= 1 && n <= job.max_depth);
                /* one path gets longer: what it had stays, for random numbers belong to vertices */
                assert_true(L[0] >= before);
                deeper_is_brighter = deeper_is_brighter || (job.max_depth > 2 && L[0] > before);
                before = L[0];
                if (job.max_depth > 1)
                    continue;
                /* emission alone: the lamp's front, or nothing */
                bool lamp = v[0].event == EVENT_ABSORB && v[0].primitive < 2;
                assert_true(L[0] == (lamp ? (double)18.387F : 0));
                assert_true(v[0].light == NO_LIGHT);
            }
        }
    }
    assert_true(deeper_is_brighter);
    reference_close(r);
    test_scene_free(s);
}

/* Closed walls under a bright sky: not one sample gets light, wherever the box stands and however
 * large it is. */
static void test_no_leak(void **state)
{
    (void)state;
    const double places[] = {0, 1, 1000}, sizes[] = {0.01, 1, 100};
    for (int k = 0; k < 18; k++) {
        struct vec3 c = scale(places[k % 3], vec3(1, -0.7, 0.3));
        double size = sizes[k / 3 % 3];
        struct scene *s = test_scene_new();
        uint32_t m = test_diffuse(s, 0.9);
        double a = 0.3;
        if (k < 9)
            test_box(s, m, c, scale(size, vec3(cos(a), sin(a), 0)),
                     scale(size, vec3(-sin(a), cos(a), 0)), vec3(0, 0, size));
        else
            test_sphere(s, m, c, size);
        test_constant(s, 1e6);
        test_camera(s, add(c, scale(size, vec3(0.1, 0.2, 0.3))), c, vec3(0, 0, 1), 1);
        const struct reference_job job = {
            .width = 16, .height = 16, .sample_count = 64, .max_depth = 8, .rr_depth = NO_ROULETTE};
        struct reference_picture p = test_render(s, &job);
        for (size_t i = 0; i < (size_t)16 * 16 * 3; i++)
            if (p.beauty[i] != 0)
                fail_msg("size %g at %g: light leaks into pixel %zu", size, places[k % 3], i / 3);
        reference_picture_free(&p);
        test_scene_free(s);
    }
}

/* A lamp's back is dark, and a black wall stays black. */
static void test_dark_side(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    test_quad(s, test_emitter(s, 5), vec3(-9, -9, -2), vec3(0, 18, 0), vec3(18, 0, 0));
    check("a lamp's back", s, 4, 4, NO_ROULETTE, 0, 1);
    test_scene_free(s);
    s = test_scene_new();
    test_quad(s, test_emitter(s, 5), vec3(-9, -9, -2), vec3(18, 0, 0), vec3(0, 18, 0));
    check("a lamp's front", s, 4, 4, NO_ROULETTE, 5, 1e-9);
    test_scene_free(s);
}

/* A textured wall in a constant environment shows its texels. */
static void test_texture(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    static float texels[4 * 3] = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F, 1, 1, 1};
    s->textures = ARENA_NEW(&s->arena, struct texture);
    s->texture_count = 1;
    s->textures[0] = (struct texture){
        .image = {.width = 2, .height = 2, .channels = 3, .format = TEXEL_F32, .texels = texels},
        .filter = FILTER_NEAREST,
        .scale = {1, 1}};
    uint32_t m = test_material(s, (struct material){.base = {{0.5F, 0.5F, 0.5F}, 0}});
    test_disk(s, m, vec3(0, 0, -4), vec3(0, 0, 1), 4);
    test_constant(s, 1);
    /* upper left: u = 0.25, v = 0.75 in the disk's frame (x, y); the image's top left texel */
    test_camera(s, vec3(0, 0, 0), vec3(-2, 2, -4), vec3(0, 1, 0), 0.01);
    check("upper left texel", s, 1024, 2, NO_ROULETTE, 0.5 * (double)0.2F, 4e-3);
    test_camera(s, vec3(0, 0, 0), vec3(2, -2, -4), vec3(0, 1, 0), 0.01);
    check("lower right texel", s, 1024, 2, NO_ROULETTE, 0.5, 4e-3);
    test_scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_furnace), cmocka_unit_test(test_open_furnace),
        cmocka_unit_test(test_albedo),         cmocka_unit_test(test_disk_light),
        cmocka_unit_test(test_sphere_light),   cmocka_unit_test(test_rectangle_light),
        cmocka_unit_test(test_shading_normal), cmocka_unit_test(test_enclosure),
        cmocka_unit_test(test_hot_texel),      cmocka_unit_test(test_depths),
        cmocka_unit_test(test_no_leak),        cmocka_unit_test(test_dark_side),
        cmocka_unit_test(test_texture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
