/* SPDX-License-Identifier: Apache-2.0 */
/* Materials that nobody chose: parameters drawn at random, one in four from its extremes, seen from
 * random sides, at random angles, through reference_scatter alone. Of each: samples against the
 * density (chi-square, the level 0.01 shared over all of them), the density's integral, the weight
 * of a sample against the evaluation of its direction, reciprocity and energy. */
#include "tests/test_scene.h"
#include "tests/test_statistics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MATERIALS = 240, SAMPLES = 20000, PAIRS = 400 / TEST_THINNING };
enum { CHI_TESTS = 3 * MATERIALS }; /* at most: a wide one, or two narrow ones, from either side */

/* ---- drawing -------------------------------------------------------------------------------- */

struct drawn {
    struct text json;
    bool entering;   /* seen from the side of Ng */
    double cosine;   /* of wo */
    double ior;      /* 1: light that goes through does not change its radiance */
    bool reciprocal; /* no layer whose share hangs on wo alone */
    double most;     /* of a channel's albedo; infinite: the model adds layers (section 21) */
    double sines;    /* added to `most`, times the sine of wo (Oren and Nayar) */
};

struct dice {
    uint32_t next;
};

static double roll(struct dice *d)
{
    double u[4];
    test_numbers(61, d->next++, u);
    return u[0];
}

/* Of [low, high]; one in four is of `extremes` (three of them). */
static double draw(struct dice *d, double low, double high, const double *extremes)
{
    double u = roll(d), v = roll(d);
    return u < 0.25 ? extremes[(int)(3 * v)] : low + (high - low) * v;
}

static const double SHARES[3] = {0, 1, 1e-4}, INDICES[3] = {1, 1.0001, 3},
                    FAR_INDICES[3] = {0.1, 10, 1.001}, METAL[3] = {0.001, 1, 100};

static double share(struct dice *d) { return draw(d, 0, 1, SHARES); }

static double index_of_glass(struct dice *d)
{
    return roll(d) < 0.25 ? draw(d, 0.1, 10, FAR_INDICES) : draw(d, 1, 3, INDICES);
}

/* One input a call: arguments have no order, and each draw is the next. Returns what the scene
 * holds of it. */
static double put(struct text *t, const char *name, double value)
{
    char number[32];
    snprintf(number, sizeof number, "%.9g", value);
    text_printf(t, ", \"%s\": %s", name, number);
    return (double)strtof(number, NULL);
}

static double put_share(struct text *t, const char *name, struct dice *d)
{
    return put(t, name, share(d));
}

/* There half of the time. */
static double put_extra(struct text *t, const char *name, struct dice *d)
{
    return put(t, name, roll(d) < 0.5 ? share(d) : 0);
}

static void put_color(struct text *t, const char *name, struct dice *d, double low, double high,
                      const double *extremes)
{
    text_printf(t, ", \"%s\": [", name);
    for (int c = 0; c < 3; c++)
        text_printf(t, "%s%.9g", c ? ", " : "", draw(d, low, high, extremes));
    text_puts(t, "]");
}

static const char *const METALS[] = {"aluminium", "chromium", "cobalt",    "copper", "gold",
                                     "iron",      "nickel",   "palladium", "silver", "titanium"};

static void draw_conductor(struct dice *d, struct text *t)
{
    text_puts(t, "\"type\": \"rough_conductor\"");
    if (roll(d) < 0.5) {
        text_printf(t, ", \"metal\": \"%s\"", METALS[(int)(10 * roll(d))]);
    } else {
        put_color(t, "eta", d, 0.05, 5, METAL);
        put_color(t, "k", d, 0, 8, METAL);
    }
    put_share(t, "roughness", d);
    put_extra(t, "anisotropy", d);
    put_share(t, "rotation", d);
}

static void draw_principled(struct dice *d, struct text *t, struct drawn *out)
{
    text_puts(t, "\"type\": \"principled\"");
    put_color(t, "base_color", d, 0, 1, SHARES);
    out->ior = put(t, "ior", index_of_glass(d));
    put_share(t, "roughness", d);
    put_share(t, "specular", d);
    bool conserves = put_share(t, "metallic", d) == 1;
    conserves |= put_extra(t, "transmission", d) == 1;
    put_extra(t, "specular_tint", d);
    put_extra(t, "anisotropy", d);
    put_extra(t, "rotation", d);
    if (roll(d) < 0.3) { /* layers (section 28): their shares hang on wo alone */
        put_share(t, "coat", d);
        put_share(t, "coat_roughness", d);
        put_share(t, "specular_weight", d);
        put_color(t, "fuzz", d, 0, 1, SHARES);
        put_share(t, "fuzz_roughness", d);
        text_printf(t, ", \"thin\": %s", roll(d) < 0.5 ? "true" : "false");
        out->reciprocal = conserves = false;
    } else {
        conserves &= put_extra(t, "sheen", d) == 0;
        conserves &= put_extra(t, "clearcoat", d) == 0;
        conserves &= put_extra(t, "subsurface", d) == 0;
        put_share(t, "sheen_tint", d);
        put_share(t, "clearcoat_gloss", d);
    }
    out->most = conserves ? 1 : INFINITY;
}

/* What opacity o leaves goes straight on. */
static void fade(struct drawn *m, double o)
{
    if (m->most < INFINITY)
        m->most = o * m->most + (1 - o);
    m->sines *= o;
}

static void draw_material(struct dice *d, struct drawn *out)
{
    struct text t = {0};
    static const double lows[3] = {1, 0.5, 0.02};
    *out = (struct drawn){.ior = 1, .reciprocal = true, .most = 1};
    double kind = roll(d);
    if (kind < 0.05) {
        text_printf(&t, "\"type\": \"diffuse\", \"reflectance\": %.9g", share(d));
    } else if (kind < 0.12) {
        double sigma = 90 * share(d), s2 = sigma * sigma * (PI / 180) * (PI / 180);
        text_printf(&t, "\"type\": \"oren_nayar\", \"reflectance\": 1, \"sigma\": %.9g", sigma);
        /* its term in b is at most (b/pi) sin(wo) tan(wi): pi/2 under the cosine */
        out->most = 1 - 0.5 * s2 / (s2 + 0.33);
        out->sines = 0.225 * s2 / (s2 + 0.09);
    } else if (kind < 0.18) {
        text_printf(&t, "\"type\": \"sheen\", \"reflectance\": 1, \"roughness\": %.9g", share(d));
    } else if (kind < 0.36) {
        draw_conductor(d, &t);
    } else if (kind < 0.56) {
        text_puts(&t, "\"type\": \"rough_dielectric\"");
        put_share(&t, "roughness", d);
        out->ior = put(&t, "ior", index_of_glass(d));
    } else if (kind < 0.59) {
        text_puts(&t, "\"type\": \"dielectric\"");
        out->ior = put(&t, "ior", index_of_glass(d));
    } else if (kind < 0.62) {
        text_puts(&t, "\"type\": \"thin_dielectric\"");
        put(&t, "ior", index_of_glass(d));
    } else {
        draw_principled(d, &t, out);
    }
    if (roll(d) < 0.1)
        fade(out, put_share(&t, "opacity", d));
    out->json = t;
    out->entering = roll(d) < 0.6;
    out->cosine = draw(d, 0.1, 1, lows);
    /* straight on, refraction and what an opacity lets through are not told apart (test_energy) */
    if (out->ior != 1 && out->cosine == 1)
        out->cosine = 0.999;
}

/* ---- asking --------------------------------------------------------------------------------- */

static struct drawn drawn[MATERIALS];
static struct scene *scene;
static struct reference *reference;

static int open_materials(void **state)
{
    (void)state;
    struct text materials = {0}, objects = {0}, all = {0};
    struct dice d = {0};
    struct error err;
    for (int i = 0; i < MATERIALS; i++) {
        draw_material(&d, &drawn[i]);
        text_printf(&materials, "%s\"m%d\": {%s}", i ? ", " : "", i, drawn[i].json.data);
        text_printf(&objects,
                    "%s{\"type\": \"disk\", \"center\": [%d, 0, 0], \"material\": \"m%d\"}",
                    i ? ", " : "", 3 * i, i);
    }
    text_printf(&all,
                "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 5], \"target\": [0, 0, 0], "
                "\"fov\": 60}, \"materials\": {%s}, \"objects\": [%s]}",
                materials.data, objects.data);
    enum status status =
        scene_load_memory(SOURCE_DIR "/random.json", all.data, all.len, &scene, &err);
    if (status != STATUS_OK)
        print_error("%s\n", err.msg);
    else
        reference = test_open(scene);
    text_free(&materials);
    text_free(&objects);
    text_free(&all);
    return status != STATUS_OK;
}

static int close_materials(void **state)
{
    (void)state;
    reference_close(reference);
    scene_free(scene);
    for (int i = 0; i < MATERIALS; i++)
        text_free(&drawn[i].json);
    return 0;
}

/* Material i at the middle of its disk, whose normal is +z; wo on either side. */
static void ask(int i, struct vec3 wo, const struct vec3 *wi, const double *u,
                struct reference_scattered *out)
{
    static const struct reference_job job = {.width = 8, .height = 8, .sample_count = 1};
    struct reference_vertex v = {.k = 1, .primitive = (uint32_t)i, .t = 1, .length = 1};
    double w[3];
    v.P[0] = 3 * i, v.Ng[2] = v.Ns[2] = 1, v.uv[0] = v.uv[1] = 0.5;
    to_double(add(from_double(v.P), wo), v.origin);
    to_double(negate(wo), v.direction);
    if (wi)
        to_double(*wi, w);
    reference_scatter(reference, &job, &v, wi ? w : NULL, u, out);
}

static struct vec3 upwards(double cosine, double phi)
{
    double s = sqrt(1 - cosine * cosine);
    return vec3(s * cos(phi), s * sin(phi), cosine);
}

static struct vec3 view_of(int i)
{
    double z = drawn[i].cosine;
    return upwards(drawn[i].entering ? z : -z, 0.4 + i);
}

/* ---- samplers ------------------------------------------------------------------------------- */

struct view {
    int material;
    struct vec3 wo;
    double side; /* only directions with wi.z of this sign; 0: all */
};

static bool on_side(const struct view *v, struct vec3 w) { return !(w.z * v->side < 0); }

/* Delta lobes have no density: for the test their samples are those that fail. */
static bool view_sample(const void *ctx, const double u[4], struct vec3 *w)
{
    const struct view *v = ctx;
    struct reference_scattered s;
    ask(v->material, v->wo, NULL, u, &s);
    *w = from_double(s.wi);
    return s.ok && !s.delta && on_side(v, *w);
}

static double view_pdf(const void *ctx, struct vec3 w)
{
    const struct view *v = ctx;
    struct reference_scattered s;
    if (!on_side(v, w))
        return 0;
    ask(v->material, v->wo, &w, NULL, &s);
    return s.pdf_w;
}

/* wo, refracted where it can be: the middle of what goes through. */
static struct vec3 through(struct vec3 wo, double eta)
{
    double x = -wo.x / eta, y = -wo.y / eta, z2 = 1 - x * x - y * y;
    return z2 > 0 ? vec3(x, y, copysign(sqrt(z2), -wo.z)) : vec3(0, 0, copysign(1, -wo.z));
}

/* Does it have a density on either side of the surface? */
static void find_densities(int i, struct vec3 wo, bool *reflects, bool *transmits)
{
    struct reference_scattered s;
    *reflects = *transmits = false;
    for (uint32_t k = 0; k < 400; k++) {
        double u[4];
        test_numbers(62, k, u);
        ask(i, wo, NULL, u, &s);
        if (s.ok && !s.delta)
            *(s.wi[2] * wo.z > 0 ? reflects : transmits) = true;
    }
}

static void check_sampler(int i, struct vec3 wo, double side, struct vec3 axis,
                          double concentration)
{
    const struct view v = {i, wo, side};
    const struct sampler s = {&v, view_sample, view_pdf};
    struct text what = {0};
    text_printf(&what, "%s, wo.z = %g, about (%g, %g, %g)", drawn[i].json.data, wo.z, axis.x,
                axis.y, axis.z);
    test_sampler(what.data, &s, axis, concentration, SAMPLES, 0.01 / CHI_TESTS);
    text_free(&what);
}

/* The first row as wide as half of a lobe: 2 (1/16)^c = (width/2)^2 / 2. */
static double concentration(double width) { return fmax(1, 2 * log(4 / width) / log(16)); }

/* test_sampler also fails where the density integrates to more than one: its last cell then expects
 * nothing, and the others more than there are samples. */
static void test_samplers(void **state)
{
    (void)state;
    int tested = 0;
    for (int i = 0; i < MATERIALS; i += TEST_THINNING) {
        struct reference_scattered s;
        bool reflects, transmits;
        struct vec3 wo = view_of(i);
        ask(i, wo, NULL, NULL, &s);
        find_densities(i, wo, &reflects, &transmits);
        if (!reflects && !transmits)
            continue;
        tested++;
        double eta = drawn[i].entering ? drawn[i].ior : 1 / drawn[i].ior;
        /* facets of width alpha turn what they refract by |1 - 1/eta| as much */
        double refracts = s.least * fmin(1, fabs(1 - 1 / eta));
        if (s.least > 0.3 && !(transmits && refracts <= 0.1)) {
            /* cells whose edges run along the horizon, where densities end */
            check_sampler(i, wo, 0, vec3(0, 0, 1), 1);
            continue;
        }
        if (reflects)
            check_sampler(i, wo, wo.z, vec3(-wo.x, -wo.y, wo.z), concentration(s.least));
        if (transmits)
            check_sampler(i, wo, -wo.z, through(wo, eta), concentration(refracts));
    }
    assert_true(tested > MATERIALS / TEST_THINNING / 2);
}

/* ---- weights, reciprocity, energy ----------------------------------------------------------- */

static bool sane(const double v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]) && v[0] >= 0 && v[1] >= 0 &&
           v[2] >= 0;
}

static void fail_of(int i, struct vec3 wo, const double wi[3], const char *what, double found,
                    double expected)
{
    fail_msg("%s, wo (%.9g, %.9g, %.9g), wi (%.9g, %.9g, %.9g): %s %.12g, expected %.12g",
             drawn[i].json.data, wo.x, wo.y, wo.z, wi[0], wi[1], wi[2], what, found, expected);
}

/* Everywhere on the sphere, and where the samples are: finite, not negative; a sample's weight and
 * density are what evaluation says. */
static void test_weights(void **state)
{
    (void)state;
    for (int i = 0; i < MATERIALS; i++) {
        for (uint32_t k = 0; k < PAIRS; k++) {
            double u[4], v[4], z[3];
            struct reference_scattered s, e;
            test_numbers(63, k, u), test_numbers(64, k, v);
            if (k < 8) /* the numbers' own corners */
                for (int c = 0; c < 3; c++)
                    u[c] = k >> c & 1 ? 1 - 0x1p-24 : 0;
            struct vec3 wo = upwards(fmax(v[0], 1e-4), 6.3 * v[1]);
            wo.z = drawn[i].entering ? wo.z : -wo.z;
            struct vec3 anywhere = upwards(2 * v[2] - 1, 6.3 * v[3]);
            ask(i, wo, &anywhere, u, &s);
            to_double(anywhere, z);
            if (!sane(s.F) || !isfinite(s.pdf_w) || !(s.pdf_w >= 0))
                fail_of(i, wo, z, "f is", s.F[0], 0);
            if (!s.ok)
                continue;
            struct vec3 wi = from_double(s.wi);
            ask(i, wo, &wi, NULL, &e);
            if (!sane(s.weight) || !(fabs(length(wi) - 1) < 1e-9))
                fail_of(i, wo, s.wi, "the weight is", s.weight[0], 0);
            if (s.delta)
                continue;
            if (!(s.pdf_w > 0) || !(fabs(s.pdf_w - e.pdf_w) <= 1e-12 * e.pdf_w))
                fail_of(i, wo, s.wi, "density", s.pdf_w, e.pdf_w);
            for (int c = 0; c < 3; c++)
                if (!(fabs(s.weight[c] * e.pdf_w - e.F[c]) <= 1e-12 * e.F[c]))
                    fail_of(i, wo, s.wi, "weight", s.weight[c], e.F[c] / e.pdf_w);
        }
    }
}

/* What a facet's normal that is off by roundings does to f, relative: H = wo + eta wi is rounded,
 * and normalised; D's slope over its size is at most 4 / alpha, and f divides by |H|^2. */
static double facet_slack(struct vec3 wo, struct vec3 wi, double eta, double alpha)
{
    double size = length(add(wo, scale(eta, wi)));
    return 1e-12 + 64 * 0x1p-53 * (1 + eta) / (size * alpha);
}

/* f(wo, wi) = f(wi, wo) on one side; f(wo, wi) eta^2 = f(wi, wo) through a surface (Veach
 * 1997, 5.2), eta the index of wi's side over that of wo's. At directions that samples take. */
static void test_reciprocity(void **state)
{
    (void)state;
    unsigned reflected = 0, refracted = 0;
    for (int i = 0; i < MATERIALS; i++) {
        for (uint32_t k = 0; drawn[i].reciprocal && k < PAIRS; k++) {
            double u[4], v[4];
            struct reference_scattered s, forth, back;
            test_numbers(65, k, u), test_numbers(66, k, v);
            struct vec3 wo = upwards(0.01 + 0.99 * v[0], 6.3 * v[1]);
            wo.z = drawn[i].entering ? wo.z : -wo.z;
            ask(i, wo, NULL, u, &s);
            if (!s.ok || s.delta || !(fabs(s.wi[2]) > 0.01))
                continue;
            struct vec3 wi = from_double(s.wi);
            ask(i, wo, &wi, NULL, &forth);
            ask(i, wi, &wo, NULL, &back);
            bool crosses = wo.z * wi.z < 0;
            double eta = !crosses ? 1 : drawn[i].entering ? drawn[i].ior : 1 / drawn[i].ior;
            /* the two sides' evaluations each, and twice for the narrower one behind */
            double slack = 2 * facet_slack(wo, wi, eta, s.least);
            for (int c = 0; c < 3; c++) {
                double f = forth.F[c] / fabs(wi.z) * eta * eta, g = back.F[c] / fabs(wo.z);
                /* a reflectance of 0 is a square of roundings, times the facets' density */
                if (!(fabs(f - g) <= slack * (f + g) + 1e-28 * forth.pdf_w / fabs(wi.z)))
                    fail_of(i, wo, s.wi, "f there", f, g);
            }
            *(crosses ? &refracted : &reflected) += 1;
        }
    }
    assert_true(reflected > 15000 / TEST_THINNING && refracted > 3000 / TEST_THINNING);
}

/* The share of light that comes back and goes through, as the mean of samples: their weights;
 * through a refracting surface radiance is 1/eta^2 of what it was, power is not. */
static void test_energy(void **state)
{
    (void)state;
    enum { DRAWS = SAMPLES / TEST_THINNING };
    int bounded = 0;
    for (int i = 0; i < MATERIALS; i++) {
        struct vec3 wo = view_of(i);
        double sum[3] = {0}, squares[3] = {0}, most = drawn[i].most;
        double eta = drawn[i].entering ? drawn[i].ior : 1 / drawn[i].ior;
        if (most == INFINITY)
            continue;
        bounded++;
        most += drawn[i].sines * sqrt(1 - wo.z * wo.z);
        for (uint32_t k = 0; k < DRAWS; k++) {
            double u[4];
            struct reference_scattered s;
            test_numbers(67, k, u);
            ask(i, wo, NULL, u, &s);
            bool straight = length(add(wo, from_double(s.wi))) < 1e-9 && s.delta;
            for (int c = 0; s.ok && c < 3; c++) {
                double w = s.weight[c] * (s.wi[2] * wo.z < 0 && !straight ? eta * eta : 1);
                sum[c] += w / DRAWS, squares[c] += w * w / DRAWS;
            }
        }
        for (int c = 0; c < 3; c++) {
            double error = sqrt(fmax(0, squares[c] - sum[c] * sum[c]) / DRAWS);
            /* 4.9: one in a million, for a thousand channels */
            if (!(sum[c] <= most + 4.9 * error + 1e-9))
                fail_msg("%s, wo.z = %g: channel %d returns %.9g +- %.2g of at most %.9g",
                         drawn[i].json.data, wo.z, c, sum[c], error, most);
        }
    }
    assert_true(bounded > MATERIALS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samplers),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_reciprocity),
        cmocka_unit_test(test_energy),
    };
    return cmocka_run_group_tests(tests, open_materials, close_materials);
}
