/* SPDX-License-Identifier: Apache-2.0 */
/* Hits that do not count and mapped normals (protocol section 26). */
#include "numbers/random.h"
#include "shading/shading.h"
#include "tests/test_scene.h"
#include "textures/texture.h"
#include "trace/hit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A texture of n x n texels of `channels` floats, nearest. */
static uint32_t texture_of(struct scene *s, uint32_t n, uint32_t channels, const float *texels)
{
    struct texture *all = ARENA_ARRAY(&s->arena, struct texture, s->texture_count + 1);
    float *copy = arena_alloc(&s->arena, (size_t)n * n * channels, sizeof *copy, 0);
    assert_true(all && copy);
    if (s->texture_count)
        memcpy(all, s->textures, s->texture_count * sizeof *all);
    memcpy(copy, texels, (size_t)n * n * channels * sizeof *copy);
    all[s->texture_count] = (struct texture){
        .name = "t", .image = {n, n, channels, TEXEL_F32, false, copy}, .filter = FILTER_NEAREST};
    all[s->texture_count].scale[0] = all[s->texture_count].scale[1] = 1;
    s->textures = all;
    return (uint32_t)s->texture_count++;
}

static uint32_t masked(struct scene *s, uint32_t texture, uint32_t channel)
{
    return test_material(s, (struct material){.base = {{0.5F, 0.5F, 0.5F}, -1},
                                              .opacity = {0.8F, (int32_t)texture, channel},
                                              .alpha_mode = ALPHA_MASK,
                                              .alpha_cutoff = 0.4F});
}

/* What brute force over the definition says, and Embree's candidates. */
static uint32_t first_hit(const struct reference *r, struct vec3 o, struct vec3 d, double *t)
{
    struct reference_hit brute, closest;
    double from[3], along[3];
    to_double(o, from), to_double(normalize(d), along);
    reference_hit_brute(r, from, along, INFINITY, &brute);
    reference_hit_closest(r, from, along, INFINITY, &closest);
    assert_int_equal(brute.primitive, closest.primitive);
    assert_true(brute.t == closest.t);
    *t = brute.t;
    return brute.primitive;
}

/* A square with a chequered mask before a wall: a ray meets the one or the other as its uv says. */
static void test_masks(void **state)
{
    (void)state;
    const float texels[4 * 4] = {1, 1, 1, 0.6F, 1, 1, 1, 0.4F, 1, 1, 1, 0.49F, 1, 1, 1, 0.51F};
    struct scene *s = test_scene_new();
    uint32_t cut = masked(s, texture_of(s, 2, 4, texels), 3), wall = test_diffuse(s, 0.5);
    test_triangle(s, cut, vec3(0, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0)); /* uv are the weights */
    test_quad(s, wall, vec3(-1, -1, -1), vec3(3, 0, 0), vec3(0, 3, 0));
    test_disk(s, cut, vec3(5, 0, 0), vec3(0, 0, 1), 1);
    struct reference *r;
    struct error err;
    assert_int_equal(reference_open(s, &r, &err), STATUS_OK);
    double t;
    unsigned seen[2] = {0, 0};
    for (int i = 0; i < 2000; i++) {
        double u[4];
        random_block(1, 0, 0, (uint32_t)i, 0, u);
        if (u[0] + u[1] >= 1)
            continue;
        /* texel (x, y) of row y from above: alpha 0.8 a >= 0.4 where a >= 0.5 */
        double a = (double)texels[4 * (2 * (u[1] < 0.5) + (u[0] >= 0.5)) + 3];
        bool hit = a >= 0.5;
        uint32_t id = first_hit(r, vec3(u[0], u[1], 2), vec3(0, 0, -1), &t);
        assert_int_equal(id == 0, hit);
        assert_true(t == (hit ? 2 : 3));
        seen[hit]++;
    }
    assert_true(seen[0] > 100 && seen[1] > 100);
    assert_int_equal(first_hit(r, vec3(4.5, 0.5, 2), vec3(0, 0, -1), &t), 3); /* disk, a = 0.6 */
    assert_int_equal(first_hit(r, vec3(5.5, 0.5, 2), vec3(0, 0, -1), &t), NO_PRIMITIVE);
    reference_close(r);
    test_scene_free(s);
}

/* A single-sided sphere from outside and, through nothing, from inside; a masked one shows the
 * inside of its far half where the near half is cut out. */
static void test_sides(void **state)
{
    (void)state;
    const float half[2 * 2] = {1, 0, 1, 0}; /* u < 1/2: y > 0 */
    struct scene *s = test_scene_new();
    struct material single = {.base = {{0.5F, 0.5F, 0.5F}, -1}, .single_sided = true};
    uint32_t one = test_material(s, single), cut = masked(s, texture_of(s, 2, 1, half), 0);
    test_triangle(s, one, vec3(10, 0, 0), vec3(11, 0, 0), vec3(10, 1, 0));
    test_sphere(s, one, vec3(0, 0, 0), 1);
    test_sphere(s, cut, vec3(5, 0, 0), 1);
    test_disk(s, one, vec3(20, 0, 0), vec3(0, 0, 1), 1);
    struct reference *r;
    struct error err;
    assert_int_equal(reference_open(s, &r, &err), STATUS_OK);
    double t;
    assert_int_equal(first_hit(r, vec3(0, 0, 3), vec3(0, 0, -1), &t), 1);
    assert_true(t == 2);
    assert_int_equal(first_hit(r, vec3(0, 0, 0), vec3(0, 0, -1), &t), NO_PRIMITIVE);
    assert_int_equal(first_hit(r, vec3(10.2, 0.2, 1), vec3(0, 0, -1), &t), 0);
    assert_int_equal(first_hit(r, vec3(10.2, 0.2, -1), vec3(0, 0, 1), &t), NO_PRIMITIVE);
    assert_int_equal(first_hit(r, vec3(20, 0, 1), vec3(0, 0, -1), &t), 3);
    assert_int_equal(first_hit(r, vec3(20, 0, -1), vec3(0, 0, 1), &t), NO_PRIMITIVE);
    assert_int_equal(first_hit(r, vec3(5, 3, 0), vec3(0, -1, 0), &t), 2); /* its solid half */
    assert_true(t == 2);
    assert_int_equal(first_hit(r, vec3(5, -3, 0), vec3(0, 1, 0), &t), 2); /* through the other */
    assert_true(t == 4);
    reference_close(r);
    test_scene_free(s);
}

/* Shadow rays: a floor lit by a constant sky under a canopy of which a quarter is leaf. Over a
 * point the mask is fine against the distance, so a quarter of the light is gone; here exactly: the
 * canopy is a sphere about the point whose mask is one quarter in u. */
static void test_mask_shadows(void **state)
{
    (void)state;
    const float quarter[4 * 4] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    struct scene *s = test_scene_new();
    test_camera(s, vec3(0, 0, 0.5), vec3(0, 0, 0), vec3(0, 1, 0), 1e-6);
    uint32_t floor = test_diffuse(s, 1), cut = masked(s, texture_of(s, 4, 1, quarter), 0);
    s->materials[cut].base.value[0] = 0;
    test_quad(s, floor, vec3(-9, -9, 0), vec3(18, 0, 0), vec3(0, 18, 0));
    test_sphere(s, cut, vec3(0, 0, 0), 2);
    test_constant(s, 1);
    const struct reference_job job = {
        .width = 1, .height = 1, .sample_count = 40000, .max_depth = 2, .rr_depth = 2, .seed = 3};
    struct reference_picture p = test_render(s, &job);
    double error, mean = picture_mean(&p, 0, &error);
    assert_true(fabs(mean - 0.75) < 4.5 * error && error < 0.01);
    reference_picture_free(&p);
    test_scene_free(s);
}

static uint32_t mapped(struct scene *s, enum material_type type, uint32_t texture, float scale)
{
    return test_material(s, (struct material){.type = type,
                                              .base = {{1, 1, 1}, -1},
                                              .normal_map = {true, texture, scale}});
}

/* The surface that a ray meets, shaded. */
static struct surface surface_of(const struct scene *s, uint32_t primitive, struct vec3 o,
                                 struct vec3 d)
{
    struct probe p = probe_make((struct ray){o, normalize(d)});
    struct crossing c;
    struct surface at;
    assert_true(primitive_hit(s, primitive, &p, INFINITY, &c));
    struct hit hit = hit_at(s, &p, &c);
    const struct arrival from = {.ray = p.ray, .k = 1};
    const struct environment_table none = {0};
    surface_shade(NULL, s, &none, &from, &hit, &at, NULL);
    return at;
}

static void expect_normal(struct vec3 n, double x, double y, double z)
{
    if (!(length(sub(n, normalize(vec3(x, y, z)))) < 1e-6))
        fail_msg("normal (%g, %g, %g), expected (%g, %g, %g)", n.x, n.y, n.z, x, y, z);
}

static void test_mapped_normals(void **state)
{
    (void)state;
    const float flat[3] = {0.5F, 0.5F, 1}, tilted[3] = {0.65F, 0.6F, 0.9F}; /* (.3, .2, .8) */
    struct scene *s = test_scene_new();
    uint32_t plain = mapped(s, MATERIAL_DIFFUSE, texture_of(s, 1, 3, flat), 1),
             tilt = mapped(s, MATERIAL_DIFFUSE, texture_of(s, 1, 3, tilted), 2);
    static float tangents[2][3][4];
    static uint32_t of[2] = {0, 1};
    for (int k = 0; k < 3; k++) {
        const float t[4] = {0, 1, 0, k ? 1 : -1}; /* the first corner's sign counts */
        memcpy(tangents[0][k], t, sizeof t);
        memcpy(tangents[1][k], t, sizeof t);
    }
    s->tangents = tangents;
    s->tangent_of = of;
    s->tangent_count = 2;
    test_triangle(s, tilt, vec3(0, 0, 0), vec3(1, 0, 0), vec3(0, 1, 0));
    test_triangle(s, plain, vec3(5, 0, 0), vec3(6, 0, 0), vec3(5, 1, 0));
    test_sphere(s, tilt, vec3(10, 0, 0), 1);
    test_disk(s, tilt, vec3(20, 0, 0), vec3(0, 0, -1), 1);
    /* T = y, B = -(z x y) = x: (.6 y + .4 x) + .8 z; from behind the whole is turned */
    expect_normal(surface_of(s, 0, vec3(.2, .2, 1), vec3(0, 0, -1)).normal, .4, .6, .8);
    expect_normal(surface_of(s, 0, vec3(.2, .2, -1), vec3(0, 0, 1)).normal, -.4, -.6, -.8);
    expect_normal(surface_of(s, 1, vec3(5.2, .2, 1), vec3(0, 0.3, -1)).normal, 0, 0, 1);
    /* on the sphere at +x: T = y, B = z */
    expect_normal(surface_of(s, 2, vec3(15, 0, 0), vec3(-1, 0, 0)).normal, .8, .6, .4);
    struct frame f = frame_about(vec3(0, 0, -1));
    struct vec3 want = add(add(scale(.6, f.s), scale(.4, f.t)), vec3(0, 0, -.8));
    expect_normal(surface_of(s, 3, vec3(20, 0, -2), vec3(0, 0, 1)).normal, want.x, want.y, want.z);
    test_scene_free(s);
}

/* Whatever the map says and from wherever one looks, what the mapped normal mirrors goes up; and
 * where it did already, nothing is bent. */
static void test_valid_normals(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    float texels[16 * 16 * 3];
    for (uint32_t i = 0; i < 256; i++) {
        double u[4];
        random_block(9, i, 0, 0, 0, u);
        for (int c = 0; c < 3; c++)
            texels[3 * i + (uint32_t)c] = (float)u[c]; /* also straight into the surface */
    }
    uint32_t noise = mapped(s, MATERIAL_MIRROR, texture_of(s, 16, 3, texels), 1.5F);
    test_sphere(s, noise, vec3(0, 0, 0), 1);
    unsigned bent = 0, kept = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        double u[4];
        random_block(9, i, 1, 0, 0, u);
        struct vec3 o = scale(1.5, map_sphere(u[0], u[1])),
                    to = scale(0.99, map_sphere(u[2], u[3]));
        struct surface at = surface_of(s, 0, o, sub(to, o));
        struct vec3 wo = at.lobes.wo, Ng = at.hit.Ng, n = at.normal;
        struct vec3 R = sub(scale(2 * dot(n, wo), n), wo);
        double least = fmin(0.9 * dot(Ng, wo), 0.01);
        assert_true(fabs(length(n) - 1) < 1e-12 && dot(n, wo) > 0);
        assert_true(dot(R, Ng) > 0.5 * least); /* the lifted direction is not longer than 2 */
        struct vec3 texel = texture_lookup(&s->textures[0], at.hit.uv);
        struct vec3 B = cross(at.hit.normal, at.hit.tangent);
        struct vec3 M = normalize(add(
            add(scale((2 * texel.x - 1) * 1.5, at.hit.tangent), scale((2 * texel.y - 1) * 1.5, B)),
            scale(2 * texel.z - 1, at.hit.normal)));
        bool valid = dot(M, wo) > 0 && dot(sub(scale(2 * dot(M, wo), M), wo), Ng) >= least + 1e-9;
        assert_true(!valid || length(sub(n, M)) < 1e-9);
        *(valid ? &kept : &bent) += 1;
        const double v[4] = {0.5, 0.5, 0.5, 0.5};
        struct lobes_sample next;
        assert_true(lobes_sample(&at.lobes, v, &next)); /* a mirror loses nothing */
    }
    assert_true(bent > 2000 && kept > 2000);
    test_scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks),         cmocka_unit_test(test_sides),
        cmocka_unit_test(test_mask_shadows),  cmocka_unit_test(test_mapped_normals),
        cmocka_unit_test(test_valid_normals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
