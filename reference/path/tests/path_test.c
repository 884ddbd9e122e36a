/* SPDX-License-Identifier: Apache-2.0 */
/* Two vertices of many paths worked out again from the text of the protocol, number by number:
 * which random numbers go where, what MIS weighs with what, where rays start. Statistics cannot see
 * these (any weights that sum to one are unbiased).
 *
 * The scene is a diffuse plane z = 0 under a sphere light and a constant sky, chosen so that
 * everything has a short closed form. */
#include "numbers/random.h"
#include "tests/test_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double RHO = 0.75, LE = 4, SKY = 0.5, RADIUS = 1;
static const double EXTENT = 8; /* largest coordinate of the plane's triangles */
enum { SEED = 77, W = 16, H = 12 };

static void near(const char *what, double v, double expected)
{
    if (!(fabs(v - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%s: %.15g, expected %.15g", what, v, expected);
}

static void near3(const char *what, const double v[3], struct vec3 expected)
{
    near(what, v[0], expected.x);
    near(what, v[1], expected.y);
    near(what, v[2], expected.z);
}

static struct vec3 light_center(void) { return vec3(1, 0.5, 3); }

/* Density of the light sampling: half for the sky, half for the sphere. */
static double sphere_density(struct vec3 from)
{
    struct vec3 D = sub(light_center(), from);
    double cosine = sqrt(1 - RADIUS * RADIUS / dot(D, D));
    return 0.5 / (2 * PI * (1 - cosine));
}

static double power(double a, double b) { return a * a / (a * a + b * b); }

static bool meets_light(struct vec3 o, struct vec3 d)
{
    struct vec3 f = sub(light_center(), o);
    double along = dot(f, d);
    return along > 0 && dot(f, f) - along * along < RADIUS * RADIUS;
}

struct expected_light {
    uint32_t light, visible;
    struct vec3 wi;
    double pdf, direct;
};

/* Section 5 for this scene; P' as given, the plane's normal is +z. */
static struct expected_light expect_light(struct vec3 from, const double u[4])
{
    struct expected_light e = {0};
    if (u[0] < 0.5) { /* the sky is the last light, index 1 */
        double z = 1 - 2 * u[1], r = sqrt(1 - z * z);
        e.light = 1;
        e.wi = vec3(r * cos(2 * PI * u[2]), r * sin(2 * PI * u[2]), z);
        e.pdf = 0.5 / (4 * PI);
        e.visible = z > 0 && !meets_light(from, e.wi);
    } else {
        struct vec3 D = sub(light_center(), from), n = normalize(D);
        double cm = 1 - sqrt(1 - RADIUS * RADIUS / dot(D, D)), c = 1 - u[1] * cm,
               s = sqrt(1 - c * c), phi = 2 * PI * u[2];
        /* section 6's frame, n.z > 0 here */
        double a = -1 / (1 + n.z), b = n.x * n.y * a;
        struct vec3 S = vec3(1 + n.x * n.x * a, b, -n.x), T = vec3(b, 1 + n.y * n.y * a, -n.y);
        e.wi = add(add(scale(s * cos(phi), S), scale(s * sin(phi), T)), scale(c, n));
        e.pdf = sphere_density(from);
        e.visible = e.wi.z > 0;
    }
    if (e.visible)
        e.direct = RHO / PI * e.wi.z * (e.light ? SKY : LE) / e.pdf * power(e.pdf, e.wi.z / PI);
    return e;
}

static struct scene *plane(void)
{
    struct scene *s = test_scene_new();
    test_quad(s, test_diffuse(s, RHO), vec3(-EXTENT, -EXTENT, 0), vec3(2 * EXTENT, 0, 0),
              vec3(0, 2 * EXTENT, 0));
    test_sphere(s, test_emitter(s, LE), light_center(), RADIUS);
    test_constant(s, SKY);
    test_camera(s, vec3(0, -3, 2), vec3(0, 0, 0), vec3(0, 0, 1), 0.4);
    s->camera.lens_radius = 0.1;
    s->camera.focus_distance = 3;
    return s;
}

static void test_two_vertices(void **state)
{
    (void)state;
    struct scene *s = plane();
    struct reference *r;
    assert_int_equal(reference_open(s, &r, NULL), STATUS_OK);
    const struct reference_job job = {
        .width = W, .height = H, .max_depth = 2, .rr_depth = 9, .seed = SEED};
    size_t sky = 0, lamp = 0, sampled_lamp = 0, sampled_sky = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t x = i % W, y = i / W % H, sample = i / 7;
        struct path_vertex v[2];
        size_t n;
        double L[3], u[4];
        reference_sample(r, &job, x, y, sample, L, v, 2, &n);
        if (v[0].primitive > 1)
            continue; /* not the plane */

        random_block(SEED, x, y, sample, 0, u);
        const struct camera *c = &s->camera;
        double a = (2 * (x + u[0]) / W - 1) * 0.4 * W / H, b = (1 - 2 * (y + u[1]) / H) * 0.4;
        struct vec3 f = from_double(c->forward),
                    d = normalize(
                        add(f, add(scale(a, from_double(c->right)), scale(b, from_double(c->up)))));
        double lx, ly;
        map_disk(u[2], u[3], &lx, &ly);
        struct vec3 o = add(vec3(0, -3, 2), add(scale(0.1 * lx, from_double(c->right)),
                                                scale(0.1 * ly, from_double(c->up))));
        d = normalize(sub(add(vec3(0, -3, 2), scale(3 / dot(d, f), d)), o));
        near3("origin", v[0].origin, o);
        near3("direction", v[0].direction, d);
        double t = -o.z / d.z;
        struct vec3 P = add(o, scale(t, d));
        near("t", v[0].t, t);
        near3("P", v[0].P, P);
        near3("Ng", v[0].Ng, vec3(0, 0, 1));
        /* the plane goes through 0, so H = 0; or as far as the camera is, if that is less */
        double E = fmin(EXTENT, fmax(fabs(o.x), fmax(fabs(o.y), fabs(o.z))) + t);
        struct vec3 start = vec3(P.x, P.y, E * 0x1p-19);

        random_block(SEED, x, y, sample, 1, u);
        struct expected_light e = expect_light(start, u);
        assert_int_equal(v[0].light, e.light);
        assert_int_equal(v[0].visible, e.visible);
        near3("light_wi", v[0].light_wi, e.wi);
        near("light_pdf_w", v[0].light_pdf_w, e.pdf);
        near("direct", v[0].direct[1], e.direct);
        *(e.light ? &sampled_sky : &sampled_lamp) += 1;

        random_block(SEED, x, y, sample, 2, u);
        struct vec3 wi = map_cosine(u[1], u[2]); /* the plane's frame is the world's */
        near3("wi", v[0].wi, wi);
        near("pdf_w", v[0].pdf_w, wi.z / PI);
        near3("weight", v[0].weight, gray(RHO));

        assert_int_equal(n, 2);
        near3("second origin", v[1].origin, start);
        near3("beta", v[1].beta, gray(RHO));
        bool on_lamp = meets_light(start, wi);
        assert_int_equal(v[1].event, on_lamp ? EVENT_ABSORB : EVENT_MISS);
        double weight = power(wi.z / PI, on_lamp ? sphere_density(start) : 0.5 / (4 * PI));
        double emitted = RHO * (on_lamp ? LE : SKY) * weight;
        near("emitted", v[1].emitted[2], emitted);
        near("L", L[0], e.direct + emitted);
        *(on_lamp ? &lamp : &sky) += 1;
    }
    assert_true(sky > 1000 && lamp > 100 && sampled_lamp > 1000 && sampled_sky > 1000);
    reference_close(r);
    test_scene_free(s);
}

/* Roulette at vertex k = rr_depth and not before: block 2k's last number against min(0.95,
 * max3(beta)). */
static void test_roulette(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    uint32_t m = test_material(s, (struct material){.base = {{0.6F, 0.7F, 0.3F}, -1}});
    test_sphere(s, m, vec3(0, 0, 0), 1); /* closed: every path goes on until roulette */
    struct reference *r;
    assert_int_equal(reference_open(s, &r, NULL), STATUS_OK);
    for (uint32_t rr = 1; rr <= 4; rr++) {
        const struct reference_job job = {
            .width = W, .height = H, .max_depth = 12, .rr_depth = rr, .seed = SEED};
        size_t ended = 0;
        for (uint32_t i = 0; i < 1000; i++) {
            struct path_vertex v[12];
            double L[3], u[4];
            size_t n;
            reference_sample(r, &job, i % W, 3, i, L, v, 12, &n);
            struct vec3 beta = gray(1), rho = vec3((double)0.6F, (double)0.7F, (double)0.3F);
            for (uint32_t k = 1; k <= n; k++) {
                near3("beta", v[k - 1].beta, beta);
                if (k == 12)
                    break;
                beta = mul(beta, rho);
                double q = fmin(0.95, beta.y);
                random_block(SEED, i % W, 3, i, 2 * k, u);
                bool ends = k >= rr && u[3] >= q;
                assert_int_equal(v[k - 1].event, ends ? EVENT_ROULETTE : EVENT_SCATTER);
                assert_true(!ends || k == n);
                ended += ends;
                if (k >= rr)
                    beta = scale(1 / q, beta);
            }
        }
        assert_true(ended > 500);
    }
    reference_close(r);
    test_scene_free(s);
}

/* Rays leave on the side that the lobe goes to: above for reflection, below for refraction. */
static void test_sides(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    uint32_t m =
        test_material(s, (struct material){.type = MATERIAL_DIELECTRIC, .ior = {1.5F, -1, 0}});
    test_quad(s, m, vec3(-4, -4, 0), vec3(8, 0, 0), vec3(0, 8, 0));
    test_camera(s, vec3(0, -2, 1), vec3(0, 0, 0), vec3(0, 0, 1), 0.2);
    struct reference *r;
    assert_int_equal(reference_open(s, &r, NULL), STATUS_OK);
    const struct reference_job job = {
        .width = W, .height = H, .max_depth = 3, .rr_depth = 9, .seed = SEED};
    size_t through = 0, back = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        struct path_vertex v[3];
        double L[3];
        size_t n;
        reference_sample(r, &job, i % W, i % H, i, L, v, 3, &n);
        assert_int_equal(n, 2);
        bool refracted = v[0].wi[2] < 0;
        /* from (0, -2, 1): the least of the quad's size and of the ray's numbers */
        double E = fmin(4, 2 + v[0].t);
        near("origin", v[1].origin[2] * 0x1p19, (refracted ? -1 : 1) * E);
        near("weight", v[0].weight[0], refracted ? 1 / 2.25 : 1);
        assert_true(v[0].pdf_w == 0 && v[0].light == UINT32_MAX && v[1].event == EVENT_MISS);
        double sine_in = hypot(v[0].direction[0], v[0].direction[1]),
               sine_out = hypot(v[0].wi[0], v[0].wi[1]);
        near("Snell", sine_out, refracted ? sine_in / 1.5 : sine_in);
        *(refracted ? &through : &back) += 1;
    }
    assert_true(through > 1000 && back > 50);
    reference_close(r);
    test_scene_free(s);
}

/* Section 6: normals turn to the viewer's side, and a shading normal that still looks away gives
 * way to the geometric one. */
static void test_normals(void **state)
{
    (void)state;
    struct scene *s = test_scene_new();
    test_quad(s, test_diffuse(s, 0.5), vec3(-4, -4, 0), vec3(8, 0, 0), vec3(0, 8, 0));
    s->N = arena_alloc(&s->arena, 6, sizeof *s->N, 0);
    for (int i = 0; i < 6; i++) { /* tilted by 70 degrees towards +x */
        s->N[i][0] = (float)sin(70 * PI / 180);
        s->N[i][2] = (float)cos(70 * PI / 180);
    }
    s->triangle_flags[0] = s->triangle_flags[1] = TRIANGLE_HAS_NORMALS;
    struct vec3 tilted = normalize(from_float(s->N[0]));
    const struct {
        struct vec3 eye, Ng, Ns;
    } views[] = {
        {vec3(2, 0, 1), vec3(0, 0, 1), tilted},            /* both look at the eye */
        {vec3(-4, 0, 1), vec3(0, 0, 1), vec3(0, 0, 1)},    /* the shading normal looks away */
        {vec3(-2, 0, -1), vec3(0, 0, -1), negate(tilted)}, /* from below: both turned */
        {vec3(4, 0, -1), vec3(0, 0, -1), vec3(0, 0, -1)},
    };
    const struct reference_job job = {.width = 1, .height = 1, .max_depth = 1, .rr_depth = 9};
    for (int i = 0; i < 4; i++) {
        test_camera(s, views[i].eye, vec3(0.1, 0, 0), vec3(0, 1, 0), 0.01);
        struct reference *r;
        struct path_vertex v;
        double L[3];
        size_t n;
        assert_int_equal(reference_open(s, &r, NULL), STATUS_OK);
        reference_sample(r, &job, 0, 0, 0, L, &v, 1, &n);
        assert_int_equal(n, 1);
        near3("Ng", v.Ng, views[i].Ng);
        near3("Ns", v.Ns, views[i].Ns);
        reference_close(r);
    }
    test_scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_vertices),
        cmocka_unit_test(test_roulette),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_normals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
