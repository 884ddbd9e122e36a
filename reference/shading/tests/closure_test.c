/* SPDX-License-Identifier: Apache-2.0 */
/* Closures and driven bases, through scenes that name shaders: samplers against densities
 * (chi-square), reciprocity, energy, the materials of section 7 as oracles of the closures that
 * mean the same, closed forms for light through and from surfaces, globals against the geometry,
 * and the same bits for any number of threads. The level 0.01 is shared over the chi-square tests.
 */
#include "path/path.h"
#include "tests/test_scene.h"
#include "tests/test_statistics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- scenes --------------------------------------------------------------------------------- */

/* camera: JSON after "camera":; materials and objects likewise; environment may be "". */
static struct scene *load(const char *camera, const char *materials, const char *objects,
                          const char *environment)
{
    struct text t = {0};
    struct error err;
    struct scene *s = NULL;
    text_printf(&t, "{\"isophote\": 1, \"camera\": %s, \"materials\": {%s}, \"objects\": [%s]%s%s}",
                camera, materials, objects, *environment ? ", \"environment\": " : "", environment);
    if (scene_load_memory("closure_test", t.data, t.len, &s, &err) != STATUS_OK) {
        char message[2048];
        error_format(&err, message, sizeof message);
        text_free(&t);
        fail_msg("%s", message);
    }
    text_free(&t);
    return s;
}

static const char CAMERA[] = "{\"origin\": [0, 0, 5], \"target\": [0, 0, 0], \"fov\": 90}";

/* A material whose shader is "Ci = closure;". */
static char *closure_material(const char *name, const char *closure, char *buf, size_t size)
{
    snprintf(buf, size,
             "\"%s\": {\"type\": \"shader\", \"source\": \"surface s() { vector X = vector(0.6, "
             "0.8, 0); float eta = backfacing() ? 1 / 1.5 : 1.5; Ci = %s; }\"}",
             name, closure);
    return buf;
}

/* One material on a sphere that nobody looks at. */
static struct scene *single(const char *material)
{
    return load(CAMERA, material, "{\"type\": \"sphere\", \"material\": \"m\"}", "");
}

/* ---- samplers ------------------------------------------------------------------------------- */

static const double UV[2] = {0.25, 0.5};

/* What a material's shader makes of a view, once. */
static struct lobes probed(const struct reference *r, struct vec3 wo)
{
    const struct hit hit = {.Ng = vec3(0, 0, 1), .Ns = vec3(0, 0, 1), .uv = {UV[0], UV[1]}};
    struct surface at;
    struct shader_thread *t = shader_thread_take(r->shaders);
    surface_probe(t, r->scene, &r->lights.environment, 0, true, wo, &hit, &at);
    shader_thread_give(r->shaders, t);
    return at.lobes;
}

static bool view_sample(const void *ctx, const double u[4], struct vec3 *w)
{
    struct lobes_sample s;
    if (!lobes_sample(ctx, u, &s))
        return false;
    *w = s.wi;
    return true;
}

static double view_pdf(const void *ctx, struct vec3 w)
{
    double pdf;
    (void)lobes_eval(ctx, w, &pdf);
    return pdf;
}

static const struct closure_case {
    const char *closure;
    double concentration; /* of the cells about `axis` */
    bool transmits;       /* the axis points through the surface */
    bool reciprocal;
    double energy; /* what the albedo may not pass */
} cases[] = {
    {"diffuse(N)", 1, false, true, 1},
    {"oren_nayar(N, 0.6)", 1, false, true, 1},
    {"translucent(N)", 1, true, false, 1},
    {"phong(N, 20)", 2, false, true, 1},
    {"ward(N, X, 0.2, 0.4)", 2, false, true, 1},
    {"microfacet(\"ggx\", N, 0.3, 1.5, 0)", 2, false, true, 1},
    {"microfacet(\"beckmann\", N, 0.3, 0, 0)", 2, false, true, 1},
    {"microfacet(\"ggx\", N, X, 0.2, 0.5, 0, 0)", 2, false, true, 1},
    {"microfacet(\"ggx\", N, 0.3, eta, 1)", 2, true, false, 1},
    {"microfacet(\"beckmann\", N, X, 0.4, 0.25, eta, 1)", 2, true, false, 1},
    {"microfacet(\"ggx\", N, 0.5, eta, 2)", 1, true, false, 1},
    {"oren_nayar_diffuse_bsdf(N, color(0.8, 0.5, 0.3), 0.5)", 1, false, true, 0.8},
    {"burley_diffuse_bsdf(N, color(0.5), 0.5)", 1, false, true, 1},
    {"sheen_bsdf(N, color(1), 0.3)", 1, false, true, 1},
    {"dielectric_bsdf(N, X, color(1), color(1), 0.3, 0.4, 1.5, \"ggx\")", 1, true, false, 1},
    {"conductor_bsdf(N, X, 0.3, 0.3, color(0.2), color(3), \"ggx\")", 2, false, true, 1},
    {"generalized_schlick_bsdf(N, X, color(1), color(0.9), 0.4, 0.4, color(0.04), color(1), 5, "
     "\"ggx\")",
     1, true, false, 1},
    {"principled(N, color(0.6, 0.4, 0.2), 0.3, 0.5)", 1, false, true, 1},
    {"principled(N, color(0.8), 0, 0.5, \"transmission\", 0.7, \"clearcoat\", 1, "
     "\"clearcoat_gloss\", 0, \"sheen\", 0.5)",
     1, false, false, 1.1},
    {"layer(dielectric_bsdf(N, X, color(1), color(0), 0.3, 0.3, 1.5, \"ggx\"), diffuse(N))", 1,
     false, false, 1.02},
    {"0.5 * diffuse(N) + 0.3 * translucent(normalize(N + 0.3 * X)) + 0.2 * phong(N, 30)", 1, false,
     false, 1},
};
enum { CASES = sizeof cases / sizeof *cases, SAMPLES = 40000 / TEST_THINNING };
static const double ANGLES[] = {15, 60};
enum { VIEWS = 2, CHI_TESTS = CASES * VIEWS };

static struct vec3 from_angles(double theta_degrees, double phi)
{
    double t = theta_degrees * PI / 180;
    return vec3(sin(t) * cos(phi), sin(t) * sin(phi), cos(t));
}

static struct scene *case_scene(const struct closure_case *c)
{
    char material[2048], escaped[1024];
    size_t n = 0;
    for (const char *p = c->closure; *p; p++) {
        if (*p == '"')
            escaped[n++] = '\\';
        escaped[n++] = *p;
    }
    escaped[n] = 0;
    return single(closure_material("m", escaped, material, sizeof material));
}

static void test_samplers(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        struct scene *s = case_scene(&cases[i]);
        struct reference *r = test_open(s);
        for (int a = 0; a < VIEWS; a++) {
            char what[256];
            struct vec3 wo = from_angles(ANGLES[a], 0.4);
            struct lobes lobes = probed(r, wo);
            struct vec3 axis = cases[i].transmits ? negate(wo) : vec3(-wo.x, -wo.y, wo.z);
            const struct sampler sampler = {&lobes, view_sample, view_pdf};
            snprintf(what, sizeof what, "%s at %g degrees", cases[i].closure, ANGLES[a]);
            test_sampler(what, &sampler, axis, cases[i].concentration, SAMPLES, 0.01 / CHI_TESTS);
        }
        reference_close(r);
        scene_free(s);
    }
}

/* f |cos| / pdf of a sample is what evaluation says, and its mean the albedo, which is bounded. */
static void test_weights_and_energy(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        struct scene *s = case_scene(&cases[i]);
        struct reference *r = test_open(s);
        for (int a = 0; a < VIEWS; a++) {
            struct vec3 wo = from_angles(ANGLES[a], 0.4), sum = gray(0), squares = gray(0);
            double o[3], wi[3], f[3], weight[3], pdf, again, u[4];
            bool delta;
            uint32_t n = 20000 / TEST_THINNING;
            to_double(wo, o);
            for (uint32_t k = 0; k < n; k++) {
                test_numbers(7, k, u);
                if (!reference_bsdf_sample(r, 0, UV, true, o, u, wi, weight, &pdf, &delta))
                    continue;
                reference_bsdf_eval(r, 0, UV, o, wi, f, &again);
                assert_false(delta);
                assert_true(fabs(again - pdf) <= 1e-9 * pdf);
                for (int c = 0; c < 3; c++)
                    if (!(fabs(f[c] * fabs(wi[2]) / pdf - weight[c]) <= 1e-9 * (1 + weight[c])))
                        fail_msg("%s: weight %g, evaluated %g", cases[i].closure, weight[c],
                                 f[c] * fabs(wi[2]) / pdf);
                struct vec3 w = from_double(weight);
                sum = add(sum, w);
                squares = add(squares, mul(w, w));
            }
            double mean = max3(sum) / n;
            double error = sqrt(fmax(0, max3(squares) / n - mean * mean) / n);
            if (mean - 4 * error > cases[i].energy)
                fail_msg("%s at %g degrees reflects %g +- %g", cases[i].closure, ANGLES[a], mean,
                         error);
            assert_true(mean > 0.02);
        }
        reference_close(r);
        scene_free(s);
    }
}

/* What Burley's diffuse term returns of white light to a view of cosine m, from its formula alone:
 *
 *     f    = (1 + a F(m'))(1 + a F(m)) / pi,   F(x) = (1 - x)^5
 *     a    = F_D90 - 1 = r (1 + c) - 1/2,      as 2 cos^2 theta_d = 1 + c
 *     c    = wi.wo = m m' + s s' cos phi
 *     k    = r (1 + m m') - 1/2                a's mean over phi
 *     k^2 + (r s s')^2 / 2                     a^2's mean
 *
 * What is left is a polynomial of m'. */
static double burley_albedo(double m, double r)
{
    enum { STEPS = 20000 };
    double sum = 0, away = pow(1 - m, 5);
    for (int i = 0; i < STEPS; i++) {
        double x = (i + 0.5) / STEPS, towards = pow(1 - x, 5), k = r * (1 + m * x) - 0.5;
        double squares = k * k + r * r * (1 - m * m) * (1 - x * x) / 2;
        sum += 2 * x * (1 + k * (towards + away) + squares * towards * away);
    }
    return sum / STEPS;
}

/* That Burley's model returns more than it gets is in what he published. */
static void test_burley_albedo(void **state)
{
    (void)state;
    /* the polynomial at the horizon, by hand */
    assert_true(fabs(burley_albedo(0, 1) - (1.5 + 5.0 / 84 - 1.0 / 504)) < 1e-6);
    static const double ROUGHNESS[] = {0, 0.5, 1}, DEGREES[] = {0, 60, 85};
    for (int i = 0; i < 9; i++) {
        char closure[64];
        snprintf(closure, sizeof closure, "burley_diffuse_bsdf(N, color(1), %g)", ROUGHNESS[i / 3]);
        const struct closure_case c = {.closure = closure};
        struct scene *s = case_scene(&c);
        struct reference *r = test_open(s);
        struct vec3 wo = from_angles(DEGREES[i % 3], 0.4);
        double o[3], wi[3], weight[3], pdf, u[4], sum = 0, squares = 0;
        bool delta;
        uint32_t n = 40000;
        to_double(wo, o);
        for (uint32_t k = 0; k < n; k++) {
            test_numbers(7, k, u);
            if (!reference_bsdf_sample(r, 0, UV, true, o, u, wi, weight, &pdf, &delta))
                continue;
            sum += weight[0];
            squares += weight[0] * weight[0];
        }
        double mean = sum / n, error = sqrt(fmax(0, squares / n - mean * mean) / n);
        if (!(fabs(mean - burley_albedo(wo.z, ROUGHNESS[i / 3])) <= 4 * error))
            fail_msg("%s at %g degrees: %g +- %g, by its formula %g", closure, DEGREES[i % 3], mean,
                     error, burley_albedo(wo.z, ROUGHNESS[i / 3]));
        reference_close(r);
        scene_free(s);
    }
}

static void test_reciprocity(void **state)
{
    (void)state;
    unsigned compared = 0;
    for (size_t i = 0; i < CASES; i++) {
        if (!cases[i].reciprocal)
            continue;
        struct scene *s = case_scene(&cases[i]);
        struct reference *r = test_open(s);
        for (uint32_t k = 0; k < 200; k++) {
            double u[4], a[3], b[3], f[3], g[3], pdf;
            test_numbers(11, k, u);
            to_double(from_angles(85 * u[0], 6 * u[1]), a);
            to_double(from_angles(85 * u[2], 6 * u[3]), b);
            reference_bsdf_eval(r, 0, UV, a, b, f, &pdf);
            reference_bsdf_eval(r, 0, UV, b, a, g, &pdf);
            for (int c = 0; c < 3; c++)
                if (!(fabs(f[c] - g[c]) <= 1e-9 * (f[c] + g[c])))
                    fail_msg("%s: %g one way, %g the other", cases[i].closure, f[c], g[c]);
            compared++;
        }
        reference_close(r);
        scene_free(s);
    }
    assert_true(compared > 1000);
}

/* Veach 1997, 5.2: f(wi -> wo)/n_o^2 = f(wo -> wi)/n_i^2. */
static void test_refraction_is_reciprocal(void **state)
{
    (void)state;
    static const struct closure_case rough = {
        .closure = "dielectric_bsdf(N, X, color(1), color(1), 0.4, 0.4, 1.5, \"ggx\")"};
    struct scene *s = case_scene(&rough);
    struct reference *r = test_open(s);
    unsigned seen = 0;
    for (uint32_t k = 0; k < 500; k++) {
        double u[4], wo[3], wi[3], weight[3], pdf, f[3];
        bool delta;
        test_numbers(13, k, u);
        to_double(from_angles(80 * u[3], 1), wo);
        if (!reference_bsdf_sample(r, 0, UV, true, wo, u, wi, weight, &pdf, &delta) || wi[2] > 0)
            continue;
        reference_bsdf_eval(r, 0, UV, wo, wi, f, &pdf);
        /* seen from inside, with z turned */
        struct vec3 from = vec3(wi[0], wi[1], -wi[2]), to = vec3(wo[0], wo[1], -wo[2]);
        struct fresnel fresnel = {.kind = FRESNEL_DIELECTRIC, .eta = 1 / 1.5};
        struct lobe inside = {.kind = LOBE_REFRACT,
                              .ax = (double)0.4F,
                              .ay = (double)0.4F,
                              .eta = 1 / 1.5,
                              .fresnel = fresnel,
                              .wo = from};
        struct vec3 g = facet_eval(&inside, to, &pdf);
        assert_true(fabs(g.x - 1.5 * 1.5 * f[0]) <= 1e-6 * g.x);
        seen++;
    }
    assert_true(seen > 100);
    reference_close(r);
    scene_free(s);
}

/* A renderer's directions are a few roundings longer or shorter than one. To a facet that light
 * grazes on its far side that may matter no more than the text of section 21 makes it: with
 * H = (1 + e) wo + eta wi, |H| >= 1/2 here, d = <wi, H>/|H| moves by 2 e at most, f has |d| twice,
 * in itself and in 1 - F, and its other factors move by a few e. By the root of 1 - (1 - c^2)/eta^2
 * it would be (c / (eta d))^2 e, which was told of an NVIDIA card as a FAIL. */
static void test_a_direction_that_is_too_long(void **state)
{
    (void)state;
    static const double etas[] = {0.4, 0.5, 1 / 1.5};
    const double e = 22 * 0x1p-24;
    for (size_t i = 0; i < sizeof etas / sizeof *etas; i++)
        for (double d = 0.01; d < 0.3; d *= 1.5) {
            const double eta = etas[i], s = sqrt(1 - d * d), c = sqrt(1 - eta * eta * s * s);
            const struct vec3 wo = vec3(eta * s, 0, c), wi = vec3(-s, 0, -d);
            const struct fresnel fresnel = {.kind = FRESNEL_DIELECTRIC, .eta = eta};
            struct lobe facet = {
                .kind = LOBE_REFRACT, .ax = 1, .ay = 1, .eta = eta, .fresnel = fresnel, .wo = wo};
            double pdf;
            const double f = facet_eval(&facet, wi, &pdf).x;
            facet.wo = scale(1 + e, wo);
            const double moved = facet_eval(&facet, wi, &pdf).x;
            assert_true(f > 0);
            assert_true(fabs(moved - f) <= (4 / d + 30) * e * f);
        }
}

/* ---- closures that mean what a material means ----------------------------------------------- */

static const struct equal {
    const char *closure, *material;
} equals[] = {
    {"0.5 * diffuse(N)", "{\"type\": \"diffuse\"}"},
    {"reflection(N)", "{\"type\": \"mirror\"}"},
    {"principled(N, color(0.5, 0.25, 0.125), 0.25, 0.5)",
     "{\"type\": \"principled\", \"base_color\": [0.5, 0.25, 0.125], \"metallic\": 0.25}"},
    {"conductor_bsdf(N, X, 0.25, 0.25, color(0.25, 0.5, 1.5), color(3, 2.5, 2), \\\"ggx\\\")",
     "{\"type\": \"rough_conductor\", \"eta\": [0.25, 0.5, 1.5], \"k\": [3, 2.5, 2], "
     "\"roughness\": 0.5}"},
};

static const struct reference_job SMALL = {
    .width = 24, .height = 24, .sample_count = 4, .max_depth = 6, .rr_depth = 3, .seed = 5};

/* The same random numbers make the same paths, but for the normal's rounding to float32. */
static void test_closures_equal_materials(void **state)
{
    (void)state;
    static const char objects[] =
        "{\"type\": \"box\", \"material\": \"m\", \"min\": [-2, -2, -1], \"max\": [2, 2, 0]}, "
        "{\"type\": \"box\", \"material\": \"m\", \"min\": [-2, 0, 0.5], \"max\": [-1, 2, 2]}, "
        "{\"type\": \"rectangle\", \"material\": \"lamp\", \"transform\": [{\"rotate\": {\"axis\": "
        "[1, 0, 0], \"angle\": 180}}, {\"translate\": [0, 0, 6]}]}";
    static const char lamp[] =
        ", \"lamp\": {\"type\": \"diffuse\", \"reflectance\": 0, \"emission\": 9}";
    for (size_t i = 0; i < sizeof equals / sizeof *equals; i++) {
        char materials[2][2048];
        closure_material("m", equals[i].closure, materials[0], sizeof materials[0]);
        snprintf(materials[1], sizeof materials[1], "\"m\": %s", equals[i].material);
        double mean[2] = {0, 0};
        struct reference_picture picture[2];
        for (int k = 0; k < 2; k++) {
            strcat(materials[k], lamp);
            struct scene *s = load(CAMERA, materials[k], objects, "{\"radiance\": 0.5}");
            struct reference *r = test_open(s);
            assert_int_equal(reference_render(r, &SMALL, &picture[k], NULL), STATUS_OK);
            reference_close(r);
            scene_free(s);
        }
        for (size_t p = 0; p < 3 * 24 * 24; p++) {
            double a = picture[0].beauty[p], b = picture[1].beauty[p];
            mean[0] += a, mean[1] += b;
            if (!(fabs(a - b) <= 1e-6 * (a + b)))
                fail_msg("%s: value %zu is %.9g, the material's %.9g", equals[i].closure, p, a, b);
        }
        assert_true(mean[1] > 0.1);
        reference_picture_free(&picture[0]);
        reference_picture_free(&picture[1]);
    }
}

static struct reference_picture drawn(const char *material)
{
    struct reference_picture picture;
    struct scene *s = load(CAMERA, material, "{\"type\": \"sphere\", \"material\": \"m\"}",
                           "{\"radiance\": 0.5}");
    struct reference *r = test_open(s);
    assert_int_equal(reference_render(r, &SMALL, &picture, NULL), STATUS_OK);
    reference_close(r);
    scene_free(s);
    return picture;
}

#define MATERIAL(inputs) "\"m\": {\"type\": " inputs "}"
#define DRIVEN(outputs, base, drive)                                                               \
    "\"m\": {\"type\": \"shader\", \"source\": \"shader s(" outputs                                \
    ") {}\", \"base\": {\"type\": " base "}, \"drive\": {" drive "}}"

/* Outputs that hold a material's own inputs change nothing. */
static void test_driven_equals_plain(void **state)
{
    (void)state;
    static const char *const materials[][2] = {
        {MATERIAL("\"principled\", \"base_color\": [0.5, 0.25, 0.125], \"metallic\": 0.25, "
                  "\"roughness\": 0.5"),
         DRIVEN("output color c = color(0.5, 0.25, 0.125), output float m = 0.25, "
                "output float r = 0.5",
                "\"principled\", \"roughness\": 1",
                "\"base_color\": \"c\", \"metallic\": \"m\", \"roughness\": \"r\"")},
#define BASE(material, outputs, base, drive) {MATERIAL(material), DRIVEN(outputs, base, drive)},
#include "driven_bases.def"
#undef BASE
    };
    for (size_t i = 0; i < sizeof materials / sizeof *materials; i++) {
        struct reference_picture a = drawn(materials[i][0]), b = drawn(materials[i][1]);
        if (memcmp(a.beauty, b.beauty, 3 * 24 * 24 * sizeof(double)) != 0)
            fail_msg("driven, it is another material than %s", materials[i][0]);
        assert_memory_equal(a.albedo, b.albedo, 3 * 24 * 24 * sizeof(double));
        reference_picture_free(&a);
        reference_picture_free(&b);
    }
}

/* ---- components that prototypes declare ----------------------------------------------------- */

/* The same random numbers make the same paths; what is computed in another order, or by a number of
 * the shader's, differs by float32's rounding. */
static void test_declared_components(void **state)
{
    (void)state;
#define BODY(prototype, closure)                                                                   \
    "\"m\": {\"type\": \"shader\", \"source\": \"" prototype                                       \
    "surface s() { vector X = vector(0.6, 0.8, 0); float r = sqrt(0.5), "                          \
    "ior = (1 + r) / (1 - r), eta = backfacing() ? 1 / ior : ior; Ci = " closure "; }\"}"
    static const char *const materials[][2] = {
#define DECLARED(prototype, closure, same)                                                         \
    {BODY("closure color " prototype " [[int builtin = 1]];\\n", closure), BODY("", same)},
#include "declared_closures.def"
#undef DECLARED
#undef BODY
    };
    for (size_t i = 0; i < sizeof materials / sizeof *materials; i++) {
        struct reference_picture a = drawn(materials[i][0]), b = drawn(materials[i][1]);
        double sum = 0;
        for (size_t p = 0; p < 3 * 24 * 24; p++) {
            sum += b.beauty[p];
            if (!(fabs(a.beauty[p] - b.beauty[p]) <= 1e-5 * (a.beauty[p] + b.beauty[p])))
                fail_msg("%s: value %zu is %.9g, expected %.9g", materials[i][0], p, a.beauty[p],
                         b.beauty[p]);
        }
        assert_true(sum > 1);
        reference_picture_free(&a);
        reference_picture_free(&b);
    }
}

/* ---- closed forms --------------------------------------------------------------------------- */

/* Mean over the picture, its standard error. */
static double mean_of(const char *materials, const char *objects, const char *environment,
                      const char *camera, const struct reference_job *job, double *error)
{
    struct scene *s = load(camera, materials, objects, environment);
    struct reference *r = test_open(s);
    struct reference_picture p;
    struct error err;
    if (reference_render(r, job, &p, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    double sum = 0, variance = 0;
    size_t n = (size_t)p.width * p.height;
    for (size_t i = 0; i < n; i++) {
        sum += p.beauty[3 * i];
        variance += p.variance[3 * i];
    }
    *error = sqrt(variance / (double)p.samples) / (double)n;
    reference_picture_free(&p);
    reference_close(r);
    scene_free(s);
    return sum / (double)n;
}

/* In a furnace whatever conserves energy is invisible. */
static void test_furnace(void **state)
{
    (void)state;
    static const char *const closures[] = {
        "transparent()",
        "reflection(N)",
        "refraction(N, eta) + reflection(N, eta)",
        "dielectric_bsdf(N, X, color(1), color(1), 0, 0, 1.5, \\\"ggx\\\")",
        "0.25 * transparent() + 0.75 * diffuse(N)",
        "0.5 * translucent(N) + 0.5 * diffuse(N)"};
    const struct reference_job job = {
        .width = 16, .height = 16, .sample_count = 64, .max_depth = 200, .rr_depth = 300};
    for (size_t i = 0; i < sizeof closures / sizeof *closures; i++) {
        char material[2048];
        double error, mean;
        closure_material("m", closures[i], material, sizeof material);
        mean = mean_of(material, "{\"type\": \"sphere\", \"material\": \"m\", \"radius\": 3}",
                       "{\"radiance\": 1}", CAMERA, &job, &error);
        if (!(fabs(mean - 1) <= 4 * error + 1e-4))
            fail_msg("%s: the furnace shows %.6g +- %.2g", closures[i], mean, error);
    }
}

/* The irradiance of a sphere that hangs h below (above) a point of a plane, L pi r^2/h^2 there
 * (Nusselt), seen through (on) the plane: both find it by light samples on the right side. */
static void test_light_through_a_surface(void **state)
{
    (void)state;
    static const char camera[] = "{\"origin\": [0, 0, 5], \"target\": [0, 0, 0], \"fov\": 0.01}";
    const struct reference_job job = {
        .width = 2, .height = 2, .sample_count = 4000, .max_depth = 2, .rr_depth = 9};
    for (int below = 0; below < 2; below++) {
        char materials[2048], objects[512];
        double error, mean, r = 0.25, h = 2, rho = below ? 0.25 : 0.5, L = 40;
        closure_material("m", "0.5 * diffuse(N) + 0.25 * translucent(N)", materials,
                         sizeof materials);
        strcat(materials,
               ", \"lamp\": {\"type\": \"diffuse\", \"reflectance\": 0, \"emission\": 40}");
        /* the lamp stands beside the view */
        double x = 1, d = sqrt(h * h + x * x);
        snprintf(objects, sizeof objects,
                 "{\"type\": \"rectangle\", \"material\": \"m\"}, {\"type\": \"sphere\", "
                 "\"material\": \"lamp\", \"center\": [%g, 0, %g], \"radius\": %g}",
                 x, below ? -h : h, r);
        mean = mean_of(materials, objects, "", camera, &job, &error);
        double expected = rho * L * r * r * h / (d * d * d);
        if (!(fabs(mean - expected) <= 4 * error))
            fail_msg("light %s the plane: %.6g +- %.2g, expected %.6g", below ? "below" : "above",
                     mean, error, expected);
        assert_true(error < 0.02 * expected);
    }
}

/* A closed box that glows and reflects: Le (1 - rho^D)/(1 - rho), whatever finds the light. */
static void test_enclosure_of_a_shader(void **state)
{
    (void)state;
    static const char camera[] = "{\"origin\": [0, 0, 0], \"target\": [0, 0, -1], \"fov\": 90}";
    const struct reference_job job = {
        .width = 8, .height = 8, .sample_count = 64, .max_depth = 6, .rr_depth = 9};
    char material[2048];
    double error, mean;
    closure_material("m", "0.5 * diffuse(N) + 0.4 * emission()", material, sizeof material);
    mean = mean_of(material, "{\"type\": \"box\", \"material\": \"m\"}", "", camera, &job, &error);
    assert_true(fabs(mean - 0.4 * (1 - pow(0.5, 6)) / 0.5) <= 4 * error + 1e-6);

    /* half of the light declared, so that light samples find it, half by the shader */
    char both[2048];
    snprintf(both, sizeof both, "%.*s, \"emission\": 0.2, \"emission_two_sided\": true}",
             (int)strlen(material) - 1, material);
    char *glow = strstr(both, "0.4 * emission");
    assert_non_null(glow);
    memcpy(glow, "0.2", 3);
    mean = mean_of(both, "{\"type\": \"box\", \"material\": \"m\"}", "", camera, &job, &error);
    assert_true(fabs(mean - 0.4 * (1 - pow(0.5, 6)) / 0.5) <= 4 * error + 1e-6);
    assert_true(error > 0); /* two ways of finding light, weighed */
}

static void test_opacity(void **state)
{
    (void)state;
    static const char material[] =
        "\"m\": {\"type\": \"shader\", \"source\": \"shader s(output float o = 0.3, output color e "
        "= 0.125) {}\", \"base\": {\"type\": \"diffuse\", \"reflectance\": 0}, \"drive\": "
        "{\"opacity\": \"o\", \"emission\": \"e\"}}";
    const struct reference_job job = {
        .width = 4, .height = 4, .sample_count = 64, .max_depth = 4, .rr_depth = 9};
    double error;
    double mean = mean_of(material,
                          "{\"type\": \"rectangle\", \"material\": \"m\", \"transform\": "
                          "[{\"scale\": 9}]}",
                          "{\"radiance\": 2}", CAMERA, &job, &error);
    assert_true(fabs(mean - (0.125 + 0.7 * 2)) <= 4 * error + 1e-6);
    /* background() shows the environment through what is opaque; what glows is not a light */
    char behind[1024];
    closure_material("m", "0.5 * background()", behind, sizeof behind);
    mean = mean_of(behind,
                   "{\"type\": \"rectangle\", \"material\": \"m\", \"transform\": [{\"scale\": "
                   "9}]}",
                   "{\"radiance\": 2}", CAMERA, &job, &error);
    assert_true(fabs(mean - 1) <= 1e-6);
}

/* ---- globals -------------------------------------------------------------------------------- */

/* The first vertex' emission of a shader that glows with an expression, at one pixel. */
static struct vec3 shown(const char *expression, const char *object, uint32_t x, uint32_t y,
                         struct path_vertex *v)
{
    char materials[1024];
    snprintf(
        materials, sizeof materials,
        "\"m\": {\"type\": \"shader\", \"emission_bound\": 100, \"source\": \"surface s() { Ci "
        "= color(0.5 + 0.01 * vector(%s)) * emission(); }\"}",
        expression);
    struct scene *s = load(CAMERA, materials, object, "");
    struct reference *r = test_open(s);
    const struct reference_job job = {
        .width = 64, .height = 64, .sample_count = 1, .max_depth = 1, .rr_depth = 9, .seed = 3};
    double L[3];
    size_t count;
    reference_sample(r, &job, x, y, 0, L, v, 1, &count);
    reference_close(r);
    scene_free(s);
    struct vec3 shift = gray(0.5);
    return scale(100, sub(from_double(L), shift));
}

static void assert_near(const char *what, struct vec3 found, struct vec3 expected, double within)
{
    if (!(max_abs(sub(found, expected)) <= within))
        fail_msg("%s: %.7g %.7g %.7g, expected %.7g %.7g %.7g", what, found.x, found.y, found.z,
                 expected.x, expected.y, expected.z);
}

static struct vec3 sphere_point(double u, double v)
{
    double phi = 2 * PI * u, theta = PI * (1 - v);
    return vec3(2 * sin(theta) * cos(phi), 2 * sin(theta) * sin(phi), 2 * cos(theta));
}

/* 1e-5: values come through 0.5 + 0.01 x in float32, whose rounding is 6e-8 * 100. */
static void test_globals(void **state)
{
    (void)state;
    static const char ball[] = "{\"type\": \"sphere\", \"material\": \"m\", \"radius\": 2}";
    static const char card[] =
        "{\"type\": \"rectangle\", \"material\": \"m\", \"transform\": [{\"scale\": [8, 6, 1]}]}";
    struct path_vertex v;
    for (uint32_t at = 24; at < 44; at += 7) {
        uint32_t x = at, y = 62 - at;
        struct vec3 P = shown("P", ball, x, y, &v), d = from_double(v.direction);
        double e = 1e-6, *uv = v.uv;
        assert_near("P", P, from_double(v.P), 2e-5);
        assert_near("I", shown("I", ball, x, y, &v), d, 2e-5);
        assert_near("N", shown("N", ball, x, y, &v), from_double(v.Ns), 2e-5);
        assert_near("u, v", shown("u, v, surfacearea() / 100", ball, x, y, &v),
                    vec3(uv[0], uv[1], 4 * PI * 4 / 100), 2e-5);
        struct vec3 du =
            scale(1 / (2 * e), sub(sphere_point(uv[0] + e, uv[1]), sphere_point(uv[0] - e, uv[1])));
        struct vec3 dv =
            scale(1 / (2 * e), sub(sphere_point(uv[0], uv[1] + e), sphere_point(uv[0], uv[1] - e)));
        assert_near("dPdu", shown("dPdu", ball, x, y, &v), du, 3e-5);
        assert_near("dPdv", shown("dPdv", ball, x, y, &v), dv, 3e-5);
        /* a pixel of the card, 5 away under a right angle of view: 10/64 */
        assert_near("Dx(P)", shown("Dx(P)", card, x, y, &v), vec3(10.0 / 64, 0, 0), 2e-5);
        assert_near("Dy(P)", shown("Dy(P)", card, x, y, &v), vec3(0, -10.0 / 64, 0), 2e-5);
        assert_near("Du, Dv", shown("Dx(u), Dy(v), Dx(v)", card, x, y, &v),
                    vec3(10.0 / 64 / 16, -10.0 / 64 / 12, 0), 2e-5);
        assert_near("dPdu", shown("dPdu", card, x, y, &v), vec3(16, 0, 0), 2e-5);
        assert_near("normal of the change", shown("normalize(calculatenormal(P))", card, x, y, &v),
                    vec3(0, 0, 1), 2e-5);
        assert_near("ray type",
                    shown("raytype(\\\"camera\\\"), iscameraray(), isdiffuseray()", card, x, y, &v),
                    vec3(1, 1, 0), 2e-5);
    }
    static const char back[] =
        "{\"type\": \"rectangle\", \"material\": \"m\", \"transform\": [{\"scale\": 9}, "
        "{\"rotate\": {\"axis\": [0, 1, 0], \"angle\": 180}}]}";
    assert_near("backfacing", shown("backfacing(), N.z, Ng.z", back, 30, 30, &v), gray(1), 2e-5);
}

/* ---- programs ------------------------------------------------------------------------------- */

static void test_layers_and_messages(void **state)
{
    (void)state;
    static const char materials[] =
        "\"m\": {\"type\": \"shader\", \"layers\": [{\"name\": \"a\", \"source\": \"shader a(float "
        "k = 1, output color c = 0) { c = k * color(0.25, 0.5, 1); }\", \"parameters\": {\"k\": "
        "0.5}}, {\"name\": \"b\", \"source\": \"shader b(color in = 0, output color out = 0) { out "
        "= in; warning(\\\"odd %g\\\", 3.0); }\"}], \"connections\": [[\"a.c\", \"b.in\"]], "
        "\"base\": {\"type\": \"diffuse\", \"reflectance\": 0}, \"drive\": {\"emission\": "
        "\"out\"}}";
    struct scene *s = load(CAMERA, materials, "{\"type\": \"sphere\", \"material\": \"m\"}", "");
    struct reference *r = test_open(s);
    struct reference_picture p;
    assert_int_equal(reference_render(r, &SMALL, &p, NULL), STATUS_OK);
    double *middle = p.beauty + 3 * (12 * 24 + 12);
    assert_near("layers", from_double(middle), vec3(0.125, 0.25, 0.5), 1e-7);
    struct text said = {0};
    reference_messages(r, &said);
    assert_string_equal(said.data, /* once, however many points and threads */
                        "material 'm', layer 'b', closure_test:source:1: warning: odd 3\n");
    text_free(&said);
    struct text told = {0};
    assert_int_equal(reference_sample_shaders(r, &SMALL, 12, 12, 0, &told, NULL), STATUS_OK);
    assert_non_null(strstr(told.data, "emission = b.out: 0.125 0.25 0.5"));
    text_free(&told);
    reference_picture_free(&p);
    reference_close(r);
    scene_free(s);
}

static void test_failing_shader(void **state)
{
    (void)state;
    struct scene *s = single("\"m\": {\"type\": \"shader\", \"source\": \"surface s() { int i = 0; "
                             "while (i < 2)\\n i = 0; Ci = diffuse(N); }\"}");
    struct reference *r = test_open(s);
    struct reference_picture p;
    struct error err = {0};
    assert_int_equal(reference_render(r, &SMALL, &p, &err), STATUS_TIMEOUT);
    assert_non_null(strstr(err.msg, "does a loop not end?"));
    assert_true(err.line == 1 || err.line == 2);
    reference_close(r);
    scene_free(s);
}

static void test_threads(void **state)
{
    (void)state;
    struct scene *s = load(
        CAMERA,
        "\"m\": {\"type\": \"shader\", \"source\": \"surface s() { float n = noise(P * 9); "
        "normal b = normalize(N + 0.2 * normal(snoise(P * 5))); Ci = n * diffuse(b) + (1 - n) * "
        "microfacet(\\\"ggx\\\", b, 0.3, 1.5, 2) + filterwidth(u) * emission(); }\"}",
        "{\"type\": \"sphere\", \"material\": \"m\", \"radius\": 2}", "{\"radiance\": 1}");
    struct reference_picture p[2];
    for (int k = 0; k < 2; k++) {
        struct reference *r = test_open(s);
        struct reference_job job = SMALL;
        job.threads = k ? 5 : 1;
        assert_int_equal(reference_render(r, &job, &p[k], NULL), STATUS_OK);
        double L[3], sum = 0;
        for (uint32_t i = 0; i < job.sample_count; i++) { /* replayed alone */
            reference_sample(r, &job, 11, 13, i, L, NULL, 0, NULL);
            sum += L[0];
        }
        assert_true(sum / job.sample_count == p[k].beauty[3 * (13 * 24 + 11)]);
        reference_close(r);
    }
    assert_memory_equal(p[0].beauty, p[1].beauty, 3 * 24 * 24 * sizeof(double));
    reference_picture_free(&p[0]);
    reference_picture_free(&p[1]);
    scene_free(s);
}

/* The fit that protocol section 21 names, against quadrature of the lobe. */
static void test_sheen_albedo(void **state)
{
    (void)state;
    double worst = 0;
    for (double roughness = 0.25; roughness <= 1; roughness += 0.25) {
        for (double m = 0.05; m <= 1; m += 0.19) {
            struct lobe l = {
                .kind = LOBE_SHEEN, .shape = roughness, .wo = vec3(sqrt(1 - m * m), 0, m)};
            double sum = 0, pdf;
            enum { N = 200 };
            for (int i = 0; i < N; i++)
                for (int k = 0; k < N; k++) {
                    double z = (i + 0.5) / N, phi = 2 * PI * (k + 0.5) / N, q = sqrt(1 - z * z);
                    sum += z * rough_eval(&l, vec3(q * cos(phi), q * sin(phi), z), &pdf).x;
                }
            sum *= 2 * PI / (N * N);
            worst = fmax(worst, fabs(sum - sheen_albedo(roughness, m)));
            assert_true(sum <= 1);
        }
    }
    assert_true(worst < 0.09);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samplers),
        cmocka_unit_test(test_weights_and_energy),
        cmocka_unit_test(test_burley_albedo),
        cmocka_unit_test(test_reciprocity),
        cmocka_unit_test(test_refraction_is_reciprocal),
        cmocka_unit_test(test_a_direction_that_is_too_long),
        cmocka_unit_test(test_closures_equal_materials),
        cmocka_unit_test(test_driven_equals_plain),
        cmocka_unit_test(test_declared_components),
        cmocka_unit_test(test_furnace),
        cmocka_unit_test(test_light_through_a_surface),
        cmocka_unit_test(test_enclosure_of_a_shader),
        cmocka_unit_test(test_opacity),
        cmocka_unit_test(test_globals),
        cmocka_unit_test(test_layers_and_messages),
        cmocka_unit_test(test_failing_shader),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_sheen_albedo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
