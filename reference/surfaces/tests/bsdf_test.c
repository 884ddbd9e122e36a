/* SPDX-License-Identifier: Apache-2.0 */
/* Every BSDF: its sampler against its density (chi-square), its density against one (quadrature),
 * reciprocity, energy, weights, and Fresnel reflectances against published ones. The level 0.01 is
 * shared over the chi-square tests. */
#include "numbers/random.h"
#include "surfaces/bsdf.h"
#include "surfaces/microfacet.h"
#include "tests/test_scene.h"
#include "tests/test_statistics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SAMPLES = 100000 / TEST_THINNING };

static struct vec3 from_angles(double theta_degrees, double phi)
{
    double t = theta_degrees * PI / 180;
    return vec3(sin(t) * cos(phi), sin(t) * sin(phi), cos(t));
}

static struct bsdf conductor(double roughness)
{
    /* gold about 600, 550 and 450 nm */
    return (struct bsdf){.type = MATERIAL_ROUGH_CONDUCTOR,
                         .roughness = roughness,
                         .alpha = fmax(roughness * roughness, 0.001),
                         .eta = vec3(0.25, 0.42, 1.38),
                         .k = vec3(3.1, 2.36, 1.91)};
}

static struct bsdf principled(double roughness, double metallic)
{
    return (struct bsdf){.type = MATERIAL_PRINCIPLED,
                         .roughness = roughness,
                         .alpha = fmax(roughness * roughness, 0.001),
                         .metallic = metallic,
                         .specular = 0.5,
                         .base = vec3(0.8, 0.5, 0.2)};
}

static const double ROUGHNESS[] = {0.1, 0.3, 0.6, 1.0}, ANGLE[] = {0, 35, 70, 85};
enum { KINDS = 4, CHI_TESTS = 1 + 2 * KINDS * KINDS + KINDS * KINDS };
static const double LEVEL = 0.01 / CHI_TESTS;

struct view {
    struct bsdf b;
    struct vec3 wo;
};

static bool view_sample(const void *ctx, const double u[4], struct vec3 *w)
{
    const struct view *v = ctx;
    struct bsdf_sample s;
    if (!bsdf_sample(&v->b, v->wo, u, &s))
        return false;
    *w = s.wi;
    return true;
}

static double view_pdf(const void *ctx, struct vec3 w)
{
    const struct view *v = ctx;
    double pdf;
    bsdf_eval(&v->b, v->wo, w, &pdf);
    return pdf;
}

/* Where a lobe of this roughness has its cells: about the mirror direction, the denser the
 * smoother. */
static void check_view(const char *name, struct bsdf b, double angle)
{
    char what[96];
    struct view v = {b, from_angles(angle, 0.4)};
    const struct sampler s = {&v, view_sample, view_pdf};
    struct vec3 mirror = vec3(-v.wo.x, -v.wo.y, v.wo.z);
    double concentration = b.roughness < 0.2 ? 6 : b.roughness < 0.5 ? 3 : 2;
    snprintf(what, sizeof what, "%s roughness %g metallic %g at %g degrees", name, b.roughness,
             b.metallic, angle);
    test_sampler(what, &s, mirror, concentration, SAMPLES, LEVEL);
}

static void test_samplers(void **state)
{
    (void)state;
    check_view("diffuse",
               (struct bsdf){.type = MATERIAL_DIFFUSE, .base = gray(0.5), .roughness = 1}, 40);
    for (int r = 0; r < KINDS; r++) {
        for (int a = 0; a < KINDS; a++) {
            check_view("conductor", conductor(ROUGHNESS[r]), ANGLE[a]);
            check_view("principled", principled(ROUGHNESS[r], 0), ANGLE[a]);
            check_view("principled", principled(ROUGHNESS[r], 0.7), ANGLE[a]);
        }
    }
}

/* The density of visible normals, reflected: over the whole sphere, for microfacets also send light
 * below the horizon. */
static double facet_pdf(const void *ctx, struct vec3 w)
{
    const struct view *v = ctx;
    struct vec3 h = normalize(add(v->wo, w));
    return h.z > 0 && dot(h, v->wo) > 0 ? ggx_pdf(v->b.alpha, v->wo, h) : 0;
}

static void test_densities(void **state)
{
    (void)state;
    for (int r = 0; r < KINDS; r++) {
        for (int a = 0; a < KINDS; a++) {
            struct view v = {conductor(ROUGHNESS[r]), from_angles(ANGLE[a], 0.4)};
            const struct sampler s = {&v, NULL, facet_pdf};
            struct vec3 mirror = vec3(-v.wo.x, -v.wo.y, v.wo.z);
            double one = test_pdf_integral(&s, mirror, ROUGHNESS[r] < 0.2 ? 6 : 3);
            /* the quadrature's own error: largest where the density ends at h.z = 0 with a step, at
             * grazing angles */
            if (!(fabs(one - 1) < 2e-3))
                fail_msg("roughness %g at %g degrees: %.6f", ROUGHNESS[r], ANGLE[a], one);
        }
    }
}

static void near3(struct vec3 v, struct vec3 expected, double relative)
{
    near_relative(v.x, expected.x, relative);
    near_relative(v.y, expected.y, relative);
    near_relative(v.z, expected.z, relative);
}

static void test_reciprocity_and_weights(void **state)
{
    (void)state;
    const struct bsdf all[] = {{.type = MATERIAL_DIFFUSE, .base = vec3(0.1, 0.5, 0.9)},
                               conductor(0.1),
                               conductor(0.5),
                               principled(0.2, 0),
                               principled(0.7, 0.4),
                               principled(0.4, 1)};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        size_t compared = 0;
        for (uint32_t i = 0; i < 2000; i++) {
            double u[4], pdf, other;
            struct bsdf_sample s;
            test_numbers(5, i, u);
            struct vec3 wo = map_cosine(u[2], u[3]);
            if (!(wo.z > 1e-3) || !bsdf_sample(&all[k], wo, u, &s) || !(s.wi.z > 1e-3))
                continue;
            struct vec3 f = bsdf_eval(&all[k], wo, s.wi, &pdf);
            /* symmetric but for h's rounding, which the narrow lobe's slope makes 1e-15 / alpha^2
             */
            near3(bsdf_eval(&all[k], s.wi, wo, &other), f, 1e-9);
            near_relative(s.pdf_w, pdf, 1e-9);
            near3(s.weight, scale(s.wi.z / pdf, f), 1e-9);
            assert_false(s.delta);
            compared++;
        }
        assert_true(compared > 500);
    }
}

/* With no absorption (F = 1: eta 1, k 1e9) a rough mirror gives back less than it gets, and a
 * smooth one nearly all. Light sent by a sampler with weights w has the mean of w as its share. */
static void test_energy(void **state)
{
    (void)state;
    for (int r = 0; r < KINDS; r++) {
        for (int a = 0; a < KINDS; a++) {
            struct bsdf b = conductor(ROUGHNESS[r]);
            b.eta = gray(1);
            b.k = gray(1e9);
            double sum = 0;
            for (uint32_t i = 0; i < 20000; i++) {
                double u[4];
                struct bsdf_sample s;
                test_numbers(6, i, u);
                if (!bsdf_sample(&b, from_angles(ANGLE[a], 0), u, &s))
                    continue;
                assert_true(s.weight.x <= 1 + 1e-12); /* G2 <= G1 */
                sum += s.weight.x / 20000;
            }
            assert_true(sum > 0.3 && sum <= 1);
            if (ROUGHNESS[r] <= 0.1 && ANGLE[a] <= 70)
                assert_true(sum > 0.999);
        }
    }
}

/* Born and Wolf, Principles of Optics, section 14.2: reflectances at normal incidence of metals for
 * the sodium line, as measured by Drude (n, n kappa, per cent). */
static void test_metals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double n, k, percent;
    } metals[] = {{"sodium", 0.044, 2.42, 97}, {"silver", 0.20, 3.44, 94},
                  {"gold", 0.47, 2.83, 82},    {"copper", 0.62, 2.57, 73},
                  {"nickel", 1.58, 3.42, 66},  {"aluminium", 1.44, 5.23, 83}};
    for (size_t i = 0; i < sizeof metals / sizeof *metals; i++) {
        struct bsdf b = conductor(0.5);
        b.eta = gray(metals[i].n);
        b.k = gray(metals[i].k);
        double F = 100 * conductor_fresnel(&b, 1).x;
        if (!(fabs(F - metals[i].percent) <= 0.55)) /* printed as whole per cents */
            fail_msg("%s: %.2f%%, published %g%%", metals[i].name, F, metals[i].percent);
        assert_true(fabs(conductor_fresnel(&b, 0).x - 1) < 1e-12); /* grazing */
    }
}

/* Real arithmetic (Born and Wolf 14.2 (11)-(13), solved for u and v): independent of complex square
 * roots. */
static double fresnel_real(double n, double k, double c)
{
    double s2 = 1 - c * c, p = n * n - k * k - s2, q = sqrt(p * p + 4 * n * n * k * k);
    double u = sqrt((q + p) / 2), v = sqrt((q - p) / 2); /* n2 cos(theta_t) = u + i v */
    double rs = ((c - u) * (c - u) + v * v) / ((c + u) * (c + u) + v * v);
    double x = (n * n - k * k) * c, y = 2 * n * k * c;
    double rp = ((x - u) * (x - u) + (y - v) * (y - v)) / ((x + u) * (x + u) + (y + v) * (y + v));
    return (rs + rp) / 2;
}

static void test_metal_angles(void **state)
{
    (void)state;
    for (double c = 0.01; c <= 1; c += 0.01) {
        struct bsdf b = conductor(0.5);
        struct vec3 F = conductor_fresnel(&b, c);
        near_relative(F.x, fresnel_real(b.eta.x, b.k.x, c), 1e-12);
        near_relative(F.y, fresnel_real(b.eta.y, b.k.y, c), 1e-12);
        near_relative(F.z, fresnel_real(b.eta.z, b.k.z, c), 1e-12);
    }
}

/* The smooth dielectric's reflectance, from where the lobe choice switches. */
static double dielectric_reflectance(double ior, bool entering, double cosine)
{
    struct bsdf b = {.type = MATERIAL_DIELECTRIC, .ior = ior, .entering = entering};
    struct vec3 wo = vec3(sqrt(1 - cosine * cosine), 0, cosine);
    double low = 0, high = 1;
    for (int i = 0; i < 50; i++) {
        double u[3] = {(low + high) / 2, 0, 0};
        struct bsdf_sample s;
        if (!bsdf_sample(&b, wo, u, &s))
            fail();
        *(s.transmitted ? &high : &low) = u[0];
    }
    return low;
}

static void test_dielectric(void **state)
{
    (void)state;
    assert_true(fabs(dielectric_reflectance(1.5, true, 1) - 0.04) < 1e-12);
    assert_true(fabs(dielectric_reflectance(1.5, false, 1) - 0.04) < 1e-12);
    assert_true(fabs(dielectric_reflectance(1.333, true, 1) - 0.0204) < 5e-5); /* water */
    for (double degrees = 5; degrees < 90; degrees += 5) {
        /* Fresnel's own form: sines and tangents of the sum and difference of the angles */
        double ti = degrees * PI / 180, tt = asin(sin(ti) / 1.5);
        double rs = sin(ti - tt) / sin(ti + tt), rp = tan(ti - tt) / tan(ti + tt);
        double F = (rs * rs + rp * rp) / 2;
        assert_true(fabs(dielectric_reflectance(1.5, true, cos(ti)) - F) < 1e-9);
        /* the same angles from inside */
        assert_true(fabs(dielectric_reflectance(1.5, false, cos(tt)) - F) < 1e-9);
    }
    /* Beyond the critical angle of 41.81 degrees everything is reflected. */
    assert_true(dielectric_reflectance(1.5, false, cos(42 * PI / 180)) > 1 - 1e-14);
    /* Snell, and the radiance's 1/eta^2 which undoes itself on the way out. */
    struct bsdf in = {.type = MATERIAL_DIELECTRIC, .ior = 1.5, .entering = true}, out = in;
    out.entering = false;
    const double u[3] = {0.999999, 0, 0};
    struct bsdf_sample s, back;
    struct vec3 wo = from_angles(50, 1);
    assert_true(bsdf_sample(&in, wo, u, &s) && s.transmitted && s.delta);
    near_relative(sqrt(s.wi.x * s.wi.x + s.wi.y * s.wi.y), sin(50 * PI / 180) / 1.5, 1e-12);
    near_relative(length(s.wi), 1, 1e-12);
    near_relative(s.weight.x, 1 / 2.25, 1e-12);
    assert_true(bsdf_sample(&out, vec3(-s.wi.x, -s.wi.y, -s.wi.z), u, &back));
    near_relative(back.weight.x * s.weight.x, 1, 1e-12);
    near3(negate(back.wi), wo, 1e-12);
}

/* The principled BSDF against its formula written out once more for a few directions, as plain
 * arithmetic. */
static void test_principled_values(void **state)
{
    (void)state;
    struct bsdf b = principled(0.5, 0.25);
    struct vec3 wo = from_angles(30, 0), wi = from_angles(50, 2);
    struct vec3 h = normalize(add(wo, wi));
    double a2 = 0.25 * 0.25, cd = dot(wo, h), pdf;
    double D = a2 / (PI * pow(h.z * h.z * (a2 - 1) + 1, 2));
    double to = tan(30 * PI / 180), ti = tan(50 * PI / 180);
    double lo = (sqrt(1 + a2 * to * to) - 1) / 2, li = (sqrt(1 + a2 * ti * ti) - 1) / 2;
    double F0 = 0.75 * 0.04 + 0.25 * 0.8, F = F0 + (1 - F0) * pow(1 - cd, 5);
    double F90 = 0.5 + 2 * 0.5 * cd * cd;
    double diffuse =
        0.75 * 0.8 / PI * (1 + (F90 - 1) * pow(1 - wi.z, 5)) * (1 + (F90 - 1) * pow(1 - wo.z, 5));
    struct vec3 f = bsdf_eval(&b, wo, wi, &pdf);
    near_relative(f.x, diffuse + F * D / (1 + lo + li) / (4 * wo.z * wi.z), 1e-12);
    double Fx = F0 + (1 - F0) * pow(1 - wo.z, 5);
    double fy = 0.03 + 0.125, Fy = fy + (1 - fy) * pow(1 - wo.z, 5);
    double fz = 0.03 + 0.05, Fz = fz + (1 - fz) * pow(1 - wo.z, 5);
    double ws = 0.2126 * Fx + 0.7152 * Fy + 0.0722 * Fz;
    double wd = 0.75 * (0.2126 * 0.8 + 0.7152 * 0.5 + 0.0722 * 0.2), ps = ws / (ws + wd);
    near_relative(pdf, ps * D / (1 + lo) / (4 * wo.z) + (1 - ps) * wi.z / PI, 1e-12);
    /* nothing below the surface, nothing for delta lobes */
    near3(bsdf_eval(&b, wo, negate(wi), &pdf), gray(0), 0);
    assert_true(pdf == 0);
    b.type = MATERIAL_MIRROR;
    near3(bsdf_eval(&b, wo, wi, &pdf), gray(0), 0);
    assert_true(pdf == 0);
}

/* A material's inputs at a point: value times texel, clamped, and alpha = max(roughness^2, 0.001).
 */
static void test_inputs(void **state)
{
    (void)state;
    static float texels[2 * 3] = {0.25F, 0.5F, 2, 0.75F, 0.5F, 0.125F};
    struct scene *s = test_scene_new();
    struct texture t = {
        .image = {.width = 2, .height = 1, .channels = 3, .format = TEXEL_F32, .texels = texels},
        .filter = FILTER_NEAREST,
        .scale = {1, 1}};
    s->textures = &t;
    s->texture_count = 1;
    struct material m = {.type = MATERIAL_PRINCIPLED,
                         .base = {{0.5F, 1, 0.75F}, 0},
                         .roughness = {0.5F, 0, 0},
                         .metallic = {1, 0, 2},
                         .specular = {0.25F, -1, 0}};
    const double left[2] = {0.25, 0.5}, right[2] = {0.75, 0.5};
    struct bsdf b = bsdf_at(s, &m, left, true);
    near3(b.base, vec3(0.125, 0.5, 1), 0); /* 0.75 times 2 is clamped */
    near_relative(b.roughness, 0.125, 0);  /* channel 0 */
    near_relative(b.alpha, 0.015625, 0);
    near_relative(b.metallic, 1, 0); /* channel 2: 2, clamped */
    near_relative(b.specular, 0.25, 0);
    b = bsdf_at(s, &m, right, true);
    near3(b.base, vec3(0.375, 0.5, 0.09375), 0);
    near_relative(b.roughness, 0.375, 0);
    near_relative(b.metallic, 0.125, 0);
    m = (struct material){.type = MATERIAL_ROUGH_CONDUCTOR, .roughness = {0.0078125F, -1, 0}};
    near_relative(bsdf_at(s, &m, left, true).alpha, 0.001, 1e-15);
    m.roughness.value = 3;
    near_relative(bsdf_at(s, &m, left, true).alpha, 1, 0);
    test_scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samplers),
        cmocka_unit_test(test_densities),
        cmocka_unit_test(test_reciprocity_and_weights),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_metals),
        cmocka_unit_test(test_metal_angles),
        cmocka_unit_test(test_dielectric),
        cmocka_unit_test(test_principled_values),
        cmocka_unit_test(test_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
