/* Offsets at scale ratios of 10^4: no light gets into or out of a closed box, and no surface
 * shadows itself, in the reference and in the kernel (strict and device; fast is judged by
 * statistics alone). */
#include "backends.h"
#include "reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SIDE = 48, SPP = 64 };

static struct scene *scene_of(const char *format, ...)
{
    struct text t = {0};
    struct scene *s = NULL;
    struct error err = {0};
    char body[4000];
    va_list ap;
    va_start(ap, format);
    vsnprintf(body, sizeof body, format, ap);
    va_end(ap);
    text_printf(
        &t,
        "{\"isophote\": 1, \"materials\": {\"white\": {\"type\": \"diffuse\", "
        "\"reflectance\": 0.5}, \"lamp\": {\"type\": \"diffuse\", \"emission\": 1000}}, %s}",
        body);
    enum status status = scene_load_memory("scale.json", t.data, t.len, &s, &err);
    text_free(&t);
    if (status != STATUS_OK)
        fail_msg("%s at %s", err.msg, err.path);
    return s;
}

/* Red of each pixel by the reference; by the kernel in `mode`. */
static void render_reference(const struct scene *s, uint32_t max_depth, double *red)
{
    const struct reference_job job = {.width = SIDE,
                                      .height = SIDE,
                                      .sample_count = SPP,
                                      .max_depth = max_depth,
                                      .rr_depth = max_depth};
    struct reference *r;
    struct reference_picture p;
    struct error err = {0};
    assert_int_equal(reference_open(s, &r, &err), STATUS_OK);
    assert_int_equal(reference_render(r, &job, &p, &err), STATUS_OK);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        red[i] = p.beauty[3 * i];
    reference_picture_free(&p);
    reference_close(r);
}

static void render_kernel(const struct scene *s, uint32_t max_depth, enum math_mode mode,
                          double *red)
{
    const struct render_job job = {.width = SIDE,
                                   .height = SIDE,
                                   .sample_count = SPP,
                                   .max_depth = max_depth,
                                   .rr_depth = max_depth,
                                   .launch = {.mode = mode}};
    struct device *d;
    struct film f;
    struct error err = {0};
    assert_int_equal(device_open("native", &d, &err), STATUS_OK);
    assert_int_equal(device_load(d, s, BVH_AUTO, NULL, &err), STATUS_OK);
    assert_int_equal(device_build(d, &job.launch, NULL, &err), STATUS_OK);
    assert_int_equal(film_init(&f, SIDE, SIDE, film_exponent(s), &err), STATUS_OK);
    assert_int_equal(device_render(d, &job, &f, true, NULL, &err), STATUS_OK);
    float *rgb = malloc(sizeof *rgb * 3 * SIDE * SIDE);
    assert_non_null(rgb);
    film_rgb(&f, rgb);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        red[i] = (double)rgb[3 * i];
    free(rgb);
    film_free(&f);
    device_close(d);
}

/* Only strict promises that there is no gap between triangles: contracted, the two edge functions
 * of a shared edge may differ by a rounding, so a ray within 2^-23 of a triangle's width from an
 * edge can pass. Of SIDE * SIDE * SPP paths with 8 rays, 1.2 million, about 3 * 2 * 2^-23 each do:
 * 0.8 are expected, and more than this many come once in 10^6 tests (Poisson). */
enum { GAPS_CONTRACTED = 7 };

/* Every pixel by every renderer is `want` within `relative`, but for gaps in mode device where
 * triangles meet. */
static void expect_all(struct scene *s, uint32_t max_depth, double want, double relative,
                       bool triangles_meet)
{
    static const char *const names[] = {"reference", "strict", "device"};
    static double red[SIDE * SIDE];
    for (int k = 0; k < 3; k++) {
        if (k == 0)
            render_reference(s, max_depth, red);
        else
            render_kernel(s, max_depth, k == 1 ? MODE_STRICT : MODE_DEVICE, red);
        int gaps = k == 2 && triangles_meet ? GAPS_CONTRACTED : 0;
        for (int i = 0; i < SIDE * SIDE; i++)
            if (!(fabs(red[i] - want) <= relative * want) && gaps-- == 0)
                fail_msg("%s: pixel (%d, %d) is %.9g, expected %.9g", names[k], i % SIDE, i / SIDE,
                         red[i], want);
    }
    scene_free(s);
}

/* A unit box that floats a quarter above a ground of 20000, turned so that nothing is along an
 * axis: black inside under a bright sky, and black outside with a bright lamp inside. (Of the
 * ground only what is near: shadow rays end 10^-4 of their length before a light, section 5, so
 * that from 5000 away a lamp shines through walls half a unit from it, by 10^-12 of its light.) */
static void closed_boxes_are_closed(void **state)
{
    (void)state;
#define CLOSED                                                                                     \
    "{\"type\": \"box\", \"material\": \"white\", \"transform\": [{\"scale\": 0.5}, {\"rotate\": " \
    "{\"axis\": [1, 2, 3], \"angle\": 37}}]}, {\"type\": \"rectangle\", \"material\": \"white\", " \
    "\"transform\": [{\"scale\": 10000}, {\"rotate\": {\"axis\": [1, 0, 0], \"angle\": -90}}, "    \
    "{\"translate\": [0, -1.1, 0]}]}"
    expect_all(scene_of("\"camera\": {\"origin\": [0.1, 0, 0], \"target\": [0, 0.02, -1], \"fov\": "
                        "130}, \"environment\": {\"radiance\": 1}, \"objects\": [" CLOSED "]"),
               8, 0, 0, true);
    expect_all(
        scene_of("\"camera\": {\"origin\": [0, 1, 3], \"target\": [0, -0.3, 0], \"fov\": 40}, "
                 "\"objects\": [{\"type\": \"sphere\", \"radius\": 0.1, \"material\": "
                 "\"lamp\"}, " CLOSED "]"),
        2, 0, 0, true);
}

/* The sun at `degrees` above a plane gives rho E sin / pi to every sample: one that the plane hides
 * from itself would take 1 / SPP away. The plane is tilted, one triangle 40000 wide (between two,
 * contracted arithmetic loses a ray now and then: only strict promises that there is no gap), and
 * seen at up to 9000 from the origin. */
static void grazing_light_meets_no_specks(void **state)
{
    (void)state;
    static const double degrees[] = {0.5, 2, 30};
    static const double away[] = {0, 3000, 9000};
    for (int i = 0; i < 9; i++) {
        double a = degrees[i % 3] * M_PI / 180, tilt = 20 * M_PI / 180, x = away[i / 3];
        double n[3] = {-sin(tilt), cos(tilt), 0}, e[3] = {cos(tilt), sin(tilt), 0};
        double sun[3]; /* the way its light travels */
        for (int c = 0; c < 3; c++)
            sun[c] = -(sin(a) * n[c] + cos(a) * e[c]);
        expect_all(
            scene_of("\"camera\": {\"origin\": [%.9g, %.9g, 0.5], \"target\": [%.9g, %.9g, 0], "
                     "\"up\": [0, 0, 1], \"fov\": 40}, \"lights\": [{\"type\": \"directional\", "
                     "\"direction\": [%.12g, %.12g, %.12g], \"irradiance\": 3}], \"objects\": "
                     "[{\"type\": \"mesh\", \"material\": \"white\", \"vertices\": [[-20000, 0, "
                     "-10000], "
                     "[0, 0, 20000], [20000, 0, -10000]], \"triangles\": [[0, 1, 2]], "
                     "\"transform\": [{\"rotate\": {\"axis\": [0, 0, 1], \"angle\": 20}}]}]",
                     x * e[0] + 3 * n[0], x * e[1] + 3 * n[1], x * e[0], x * e[1], sun[0], sun[1],
                     sun[2]),
            2, 0.5 * 3 * sin(a) / M_PI, 2e-3,
            false); /* half of what one hidden sample takes; sin a is rounded to 2^-24 / a < 1e-5 */
    }
}

/* The same on a sphere of radius 10^4, seen from 3 above it: within 2 of the point below the normal
 * turns by 2e-4, which is 1.2% of 1 degree. */
static void grazing_light_on_a_large_sphere(void **state)
{
    (void)state;
    double a = 1 * M_PI / 180;
    expect_all(
        scene_of("\"camera\": {\"origin\": [0, 3, 0], \"target\": [0, 0, 0], \"up\": [0, 0, 1], "
                 "\"fov\": 40}, \"lights\": [{\"type\": \"directional\", \"direction\": [%.12g, "
                 "%.12g, 0], \"irradiance\": 3}], \"objects\": [{\"type\": \"sphere\", \"center\": "
                 "[0, -10000, 0], \"radius\": 10000, \"material\": \"white\"}]",
                 -cos(a), -sin(a)),
        2, 0.5 * 3 * sin(a) / M_PI, 0.0145, false); /* below 1 / SPP */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_boxes_are_closed),
        cmocka_unit_test(grazing_light_meets_no_specks),
        cmocka_unit_test(grazing_light_on_a_large_sphere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
