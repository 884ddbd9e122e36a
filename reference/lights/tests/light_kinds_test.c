/* SPDX-License-Identifier: Apache-2.0 */
/* Lights of protocol section 24 against closed forms and quadrature: points, spots, directional
 * lights, textured emission; and the light tree: its probabilities against counts, its pictures
 * against the choice by power. The level 0.01 is shared over the chi-square tests. */
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

static const double LEVEL = 0.01 / 8;
static const double RHO = 0.7F;
enum { NO_ROULETTE = 1000 };

static void add_light(struct scene *s, struct light l)
{
    struct light *all = ARENA_ARRAY(&s->arena, struct light, s->light_count + 1);
    assert_non_null(all);
    if (s->light_count)
        memcpy(all, s->lights, s->light_count * sizeof *all);
    all[s->light_count++] = l;
    s->lights = all;
}

/* The mean radiance of a tiny picture of the plane z = 0 about the origin, and its standard error.
 */
static double plane_radiance(const struct scene *s, uint32_t spp, uint32_t max_depth, double *se)
{
    const struct reference_job job = {.width = 4,
                                      .height = 4,
                                      .sample_count = spp,
                                      .max_depth = max_depth,
                                      .rr_depth = NO_ROULETTE,
                                      .seed = 3};
    struct reference_picture p = test_render(s, &job);
    double mean = picture_mean(&p, 1, se);
    reference_picture_free(&p);
    return mean;
}

static struct scene *plane_scene(void)
{
    struct scene *s = test_scene_new();
    test_quad(s, test_diffuse(s, RHO), vec3(-5, -5, 0), vec3(10, 0, 0), vec3(0, 10, 0));
    test_camera(s, vec3(-4, 1, 0.5), vec3(0, 0, 0), vec3(0, 0, 1), 1e-5);
    for (int i = 0; i < 3; i++) {
        s->bounds_min[i] = i == 2 ? 0 : -5;
        s->bounds_max[i] = i == 2 ? 0 : 5;
    }
    return s;
}

/* No noise: one light, no choice. The picture shows 1e-4 of the plane about the origin. */
static void check_plane(struct scene *s, double radiance)
{
    double se, mean = plane_radiance(s, 8, 3, &se);
    near_relative(mean, radiance, 2e-4);
    test_scene_free(s);
}

/* rho/pi I cos/d^2; a shadow; from below. */
static void test_point(void **state)
{
    (void)state;
    struct light point = {.type = LIGHT_POINT, .position = {1, 0, 2}, .intensity = {9, 6, 3}};
    struct scene *s = plane_scene();
    add_light(s, point);
    check_plane(s, RHO / PI * 6 * (2 / sqrt(5)) / 5);
    s = plane_scene();
    test_disk(s, test_diffuse(s, 0), vec3(0.5, 0, 1), vec3(0, 0, 1), 0.1);
    add_light(s, point);
    check_plane(s, 0);
    s = plane_scene();
    point.position[2] = -2;
    add_light(s, point);
    check_plane(s, 0);
}

/* Two points and a lamp: the sum, whatever is chosen how. */
static void test_sum(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct scene *s = plane_scene();
        add_light(
            s, (struct light){.type = LIGHT_POINT, .position = {1, 0, 2}, .intensity = {6, 6, 6}});
        add_light(
            s, (struct light){.type = LIGHT_POINT, .position = {0, -3, 1}, .intensity = {9, 9, 9}});
        add_light(s, (struct light){.type = LIGHT_DIRECTIONAL,
                                    .direction = {0, 0.6F, -0.8F},
                                    .intensity = {0.5F, 0.5F, 0.5F}});
        test_sphere(s, test_emitter(s, 3), vec3(0, 0, 3), 1);
        if (kind & 1)
            s->light_choice = LIGHT_CHOICE_TREE;
        if (kind & 2)
            s->mis = MIS_BALANCE;
        double E = 6 * (2 / sqrt(5)) / 5 + 9 * (1 / sqrt(10)) / 10 + 0.5 * 0.8 + 3 * PI / 9;
        double se, mean = plane_radiance(s, 4096, 2, &se);
        if (!(fabs(mean - RHO / PI * E) < 4 * se + 2e-4 * mean && se < 0.01 * mean))
            fail_msg("kind %d: %.9g +- %.2g, expected %.9g", kind, mean, se, RHO / PI * E);
        test_scene_free(s);
    }
}

/* The profile: full inside, 0 outside, half way in the cosine half of it; and by distance. */
static void test_spot(void **state)
{
    (void)state;
    const double outer = 40 * PI / 180, inner = 20 * PI / 180;
    for (int k = 0; k <= 8; k++) {
        /* the light at height 2 above the origin, tilted so that the origin is at angle a */
        double a = k * 5 * PI / 180 + (k == 8 ? 1e-3 : 0);
        double t = fmin(fmax((cos(a) - cos(outer)) / (cos(inner) - cos(outer)), 0), 1);
        struct scene *s = plane_scene();
        add_light(s, (struct light){.type = LIGHT_SPOT,
                                    .position = {0, 0, 2},
                                    .direction = {(float)sin(a), 0, -(float)cos(a)},
                                    .intensity = {5, 5, 5},
                                    .angle = outer,
                                    .inner_angle = inner});
        check_plane(s, RHO / PI * 5 / 4 * t * t * (3 - 2 * t));
    }
    for (int k = 0; k < 2; k++) { /* no room between the cones: a hard edge */
        double a = k ? outer + 1e-3 : outer - 1e-3;
        struct scene *s = plane_scene();
        s->light_choice = LIGHT_CHOICE_TREE;
        add_light(s, (struct light){.type = LIGHT_SPOT,
                                    .position = {0, 0, 2},
                                    .direction = {(float)sin(a), 0, -(float)cos(a)},
                                    .intensity = {5, 5, 5},
                                    .angle = outer,
                                    .inner_angle = outer});
        check_plane(s, k ? 0 : RHO / PI * 5 / 4);
    }
}

static void test_directional(void **state)
{
    (void)state;
    struct scene *s = plane_scene();
    add_light(s, (struct light){.type = LIGHT_DIRECTIONAL,
                                .direction = {0.6F, 0, -0.8F},
                                .intensity = {1, 7, 1}});
    check_plane(s, RHO / PI * 7 * 0.8);
}

/* Weights are power over pi: a sphere so small that it is a point has the point's. */
static void test_weights(void **state)
{
    (void)state;
    struct scene *s = plane_scene();
    double r = 1e-3, L = 5 / (PI * r * r); /* intensity 5 in all directions */
    test_sphere(s, test_emitter(s, L), vec3(0, 0, 2), r);
    add_light(s,
              (struct light){.type = LIGHT_POINT, .position = {0, 0, 2}, .intensity = {5, 5, 5}});
    const double outer = 1.0, inner = 0.4;
    add_light(s, (struct light){.type = LIGHT_SPOT,
                                .direction = {0, 0, 1},
                                .intensity = {5, 5, 5},
                                .angle = outer,
                                .inner_angle = inner});
    add_light(s, (struct light){
                     .type = LIGHT_DIRECTIONAL, .direction = {0, 0, 1}, .intensity = {2, 2, 2}});
    struct lights l = test_lights(s);
    near_relative(l.weights[0], l.weights[1], 1e-5);
    double flux = 0; /* of the spot, by quadrature of its profile over the cosine */
    enum { N = 20000 };
    for (int i = 0; i < N; i++) {
        double c = cos(outer) + (1 - cos(outer)) * (i + 0.5) / N;
        double t = fmin((c - cos(outer)) / (cos(inner) - cos(outer)), 1);
        flux += 2 * PI * 5 * t * t * (3 - 2 * t) * (1 - cos(outer)) / N;
    }
    near_relative(l.weights[2], flux / PI, 1e-6);
    near_relative(l.weights[3], 2 * (10 * 10 + 10 * 10) / 4.0, 1e-12); /* E R^2, R = 10 sqrt(2)/2 */
    lights_release(&l);
    test_scene_free(s);
}

/* ---- textured emission ---------------------------------------------------------------------- */

enum { SIDE = 4 };

static void add_texture(struct scene *s, enum texture_filter filter)
{
    float *texels = ARENA_ARRAY(&s->arena, float, 3 * SIDE * SIDE);
    s->textures = ARENA_ARRAY(&s->arena, struct texture, 1);
    s->texture_count = 1;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        double u[4];
        test_numbers(77, i, u);
        for (int c = 0; c < 3; c++) /* some dark, some bright, one negative */
            texels[3 * i + (uint32_t)c] = (float)(i == 5 ? -1 : u[0] < 0.3 ? 0 : 6 * u[1]);
    }
    s->textures[0] = (struct texture){.name = "t",
                                      .image = {SIDE, SIDE, 3, TEXEL_F32, false, texels},
                                      .wrap_u = WRAP_CLAMP,
                                      .wrap_v = WRAP_CLAMP,
                                      .filter = filter,
                                      .scale = {1, 1}};
}

static void quad_uv(struct scene *s, uint32_t first)
{
    static const float corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    s->UV = arena_alloc(&s->arena, s->vertex_count, sizeof *s->UV, 0);
    assert_non_null(s->UV);
    for (uint32_t t = first; t < first + 2; t++) {
        s->triangle_flags[t] |= TRIANGLE_HAS_UV;
        for (int k = 0; k < 3; k++) { /* by the vertex' place in the quad [-1, 1]^2, x and y */
            uint32_t v = s->triangles[t][k];
            int i = s->P[v][0] < 0 ? (s->P[v][1] < 0 ? 0 : 3) : (s->P[v][1] < 0 ? 1 : 2);
            memcpy(s->UV[v], corner[i], sizeof corner[i]);
        }
    }
}

/* A square lamp [-1, 1]^2 at height 1 that faces down; the irradiance below by quadrature. */
static void test_textured_quad(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct scene *s = plane_scene();
        uint32_t lamp = test_emitter(s, 2);
        add_texture(s, kind & 1 ? FILTER_NEAREST : FILTER_BILINEAR);
        s->materials[lamp].emission_texture = 1;
        test_quad(s, lamp, vec3(-1, -1, 1), vec3(0, 2, 0), vec3(2, 0, 0));
        quad_uv(s, 2);
        if (kind & 2)
            s->light_choice = LIGHT_CHOICE_TREE;
        double E = 0, mean = 0;
        enum { N = 400 };
        for (int j = 0; j < N; j++) {
            for (int i = 0; i < N; i++) {
                double uv[2] = {(i + 0.5) / N, (j + 0.5) / N};
                double x = 2 * uv[0] - 1, y = 2 * uv[1] - 1, d2 = x * x + y * y + 1;
                double L = 2 * fmax(texture_lookup(&s->textures[0], uv).y, 0);
                E += L / (d2 * d2) * 4 / N / N;
                mean += L / N / N;
            }
        }
        double se, radiance = plane_radiance(s, 8192, 2, &se);
        if (!(fabs(radiance - RHO / PI * E) < 4 * se + 5e-4 * radiance && se < 0.01 * radiance))
            fail_msg("kind %d: %.9g +- %.2g, expected %.9g", kind, radiance, se, RHO / PI * E);
        /* both triangles' means make the square's; 4 + 1 texels over 4 rows leave a few percent */
        struct lights l = test_lights(s);
        near_relative((l.weights[0] + l.weights[1]) / (4 * mean), 1, 0.1);
        lights_release(&l);
        test_scene_free(s);
    }
}

/* Emission that the quadrature cannot see: p_i = 0, and hits bring all of it. */
static void test_unseen_emission(void **state)
{
    (void)state;
    struct scene *s = plane_scene();
    uint32_t lamp = test_emitter(s, 3);
    add_texture(s, FILTER_NEAREST);
    s->materials[lamp].emission_texture = 1;
    float *texels = s->textures[0].image.texels;
    for (int i = 0; i < SIDE * SIDE * 3; i++)
        texels[i] = 0;
    test_sphere(s, lamp, vec3(0, 0, 3), 1);
    struct lights l = test_lights(s);
    assert_true(l.weights[0] == 0);
    lights_release(&l);
    double se;
    assert_true(plane_radiance(s, 16, 2, &se) == 0);
    test_scene_free(s);
}

/* ---- the tree ------------------------------------------------------------------------------- */

/* Lamps of all kinds, some of them on top of each other, of very different powers. */
static struct scene *tree_scene(uint32_t lamps, bool environment)
{
    struct scene *s = plane_scene();
    uint32_t kinds[4] = {test_emitter(s, 1), test_emitter(s, 8), test_emitter(s, 0.1),
                         test_emitter(s, 3)};
    s->materials[kinds[1]].emission_two_sided = true;
    double u[4], w[4], v[4];
    for (uint32_t i = 0; i < lamps; i++) {
        test_numbers(90, i, u);
        test_numbers(91, i, w);
        test_numbers(92, i, v);
        struct vec3 P = vec3(8 * u[0] - 4, 8 * u[1] - 4, 0.3 + 2 * u[2]);
        if (i % 7 == 3)
            P = vec3(1, 1, 1); /* many in one place */
        struct vec3 e = vec3(0.2 * w[0] - 0.1, 0.2 * w[1] - 0.1, 0.2 * w[2] - 0.1);
        struct vec3 f = vec3(0.2 * v[0] - 0.1, 0.2 * v[1] - 0.1, 0.2 * v[2] - 0.1);
        test_triangle(s, kinds[i % 4], P, add(P, e), add(P, f));
    }
    for (uint32_t i = 0; i < lamps / 4; i++) {
        test_numbers(93, i, u);
        test_numbers(94, i, w);
        struct vec3 P = vec3(8 * u[0] - 4, 8 * u[1] - 4, 0.3 + 2 * u[2]);
        if (i % 2)
            test_sphere(s, kinds[i % 3], P, 0.02 + 0.1 * u[3]);
        float I = (float)(0.1 + w[3]);
        struct vec3 a = normalize(vec3(w[0] - 0.5, w[1] - 0.5, -w[2] - 0.1));
        add_light(s, (struct light){.type = i % 3 ? LIGHT_SPOT : LIGHT_POINT,
                                    .position = {(float)P.y, (float)P.x, (float)P.z},
                                    .direction = {(float)a.x, (float)a.y, (float)a.z},
                                    .intensity = {I, I, I},
                                    .angle = 0.3 + w[0],
                                    .inner_angle = 0.3 * w[1]});
    }
    add_light(s, (struct light){.type = LIGHT_DIRECTIONAL,
                                .direction = {0, 0, -1},
                                .intensity = {0.2F, 0.2F, 0.2F}});
    if (environment)
        test_constant(s, 0.3);
    s->light_choice = LIGHT_CHOICE_TREE;
    return s;
}

/* Can area light i send anything to P, to the side of g? All of it is behind, or looks away. */
static bool area_reaches(const struct lights *l, uint32_t i, struct vec3 P, struct vec3 g)
{
    struct vec3 v[3];
    if (l->primitives[i] >= l->scene->triangle_count)
        return false; /* spheres: not asked */
    triangle_vertices(l->scene, l->primitives[i], v);
    struct vec3 n = normalize(cross(sub(v[1], v[0]), sub(v[2], v[0])));
    uint32_t material = l->scene->primitive_material[l->primitives[i]];
    bool lit = l->scene->materials[material].emission_two_sided || dot(sub(P, v[0]), n) > 1e-6;
    bool seen = is_zero(g);
    for (int k = 0; k < 3; k++)
        seen |= dot(sub(v[k], P), g) > 1e-6;
    return lit && seen;
}

static bool point_reaches(const struct light *light, struct vec3 P, struct vec3 g)
{
    struct vec3 wi = normalize(sub(from_float(light->position), P));
    bool lit = light->type == LIGHT_POINT ||
               -dot(wi, from_float(light->direction)) > cos(light->angle) + 1e-6;
    return lit && (is_zero(g) || dot(wi, g) > 1e-6);
}

/* From any point to any side: the chances add up to one at most (a descent may find that nothing
 * can be sent), and a light that has none can send nothing: the bounds lose no light. */
static void test_tree_chances(void **state)
{
    (void)state;
    double most = 0;
    uint32_t without = 0;
    struct scene *s = tree_scene(200, true);
    struct lights l = test_lights(s);
    assert_int_equal(l.tree.node_count % 2, 1);
    for (uint32_t k = 0; k < 400; k++) {
        double u[4], w[4], sum = l.p_env;
        test_numbers(95, k, u);
        test_numbers(96, k, w);
        struct vec3 P = vec3(8 * u[0] - 4, 8 * u[1] - 4, 3 * u[2]);
        struct vec3 g = k % 5 ? normalize(vec3(w[0] - 0.5, w[1] - 0.5, w[2] - 0.5)) : gray(0);
        for (uint32_t i = 0; i < l.count; i++) {
            double chance = light_chance(&l, i, P, g);
            sum += chance;
            if (chance > 0)
                continue;
            without++;
            assert_true(chance == 0);
            assert_false(i < l.area_count ? area_reaches(&l, i, P, g)
                                          : point_reaches(&s->lights[i - l.area_count], P, g));
        }
        assert_true(sum > 0.75 - 1e-9 && sum < 1 + 1e-9); /* environment and directional */
        most = fmax(most, sum);
    }
    assert_true(most > 0.99);
    assert_true(without > 1000); /* bounds that never say no prove nothing */
    lights_release(&l);
    test_scene_free(s);
}

/* Choices fall as the chances say; the sample's own density and the one that a hit is told agree.
 */
static void test_tree_choices(void **state)
{
    (void)state;
    enum { SAMPLES = 200000 };
    struct scene *s = tree_scene(100, true);
    struct lights l = test_lights(s);
    const struct vec3 points[3] = {{0.3, -0.2, 0}, {1, 1, 0.999}, {-3.5, 2, 1}};
    for (int k = 0; k < 3; k++) {
        struct vec3 g = k == 2 ? gray(0) : vec3(0, 0, 1);
        double *observed = calloc(l.count + 2, sizeof *observed);
        double *expected = calloc(l.count + 2, sizeof *expected);
        for (uint32_t i = 0; i < SAMPLES; i++) {
            double u[4];
            struct light_sample sample;
            test_numbers(97, i, u);
            light_sample(&l, points[k], g, u, &sample);
            observed[sample.light == NO_LIGHT ? l.count + 1 : sample.light]++;
        }
        double sum = expected[l.count] = SAMPLES * l.p_env;
        for (uint32_t i = 0; i < l.count; i++)
            sum += expected[i] = SAMPLES * light_chance(&l, i, points[k], g);
        expected[l.count + 1] = fmax(SAMPLES - sum, 0);
        test_counts("tree", observed, expected, l.count + 2, LEVEL);
        free(observed);
        free(expected);
    }
    lights_release(&l);
    test_scene_free(s);
}

/* The same picture by the tree and by power, in the mean; with less noise. Hits of lamps take part:
 * the floor is glossy. */
static void test_tree_picture(void **state)
{
    (void)state;
    double mean[4], se[4];
    for (int kind = 0; kind < 4; kind++) {
        struct scene *s = tree_scene(400, false);
        s->materials[0] = (struct material){.type = MATERIAL_ROUGH_CONDUCTOR,
                                            .roughness = {0.6F, -1, 0},
                                            .eta = {0.2F, 0.4F, 1.4F},
                                            .k = {3.1F, 2.4F, 1.9F}};
        s->light_choice = kind & 1 ? LIGHT_CHOICE_TREE : LIGHT_CHOICE_POWER;
        s->mis = kind & 2 ? MIS_BALANCE : MIS_POWER;
        s->camera.tan_half_fov = 0.5;
        mean[kind] = plane_radiance(s, 8192, 3, &se[kind]);
        test_scene_free(s);
    }
    for (int kind = 1; kind < 4; kind++)
        if (!(fabs(mean[kind] - mean[0]) < 4 * hypot(se[kind], se[0])))
            fail_msg("kind %d: %.9g +- %.2g, by power %.9g +- %.2g", kind, mean[kind], se[kind],
                     mean[0], se[0]);
    assert_true(se[0] < 0.05 * mean[0]);
    assert_true(se[1] < se[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_point),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_spot),
        cmocka_unit_test(test_directional),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_textured_quad),
        cmocka_unit_test(test_unseen_emission),
        cmocka_unit_test(test_tree_chances),
        cmocka_unit_test(test_tree_choices),
        cmocka_unit_test(test_tree_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
