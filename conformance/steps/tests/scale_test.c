/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets at scale ratios of 10^4, and scenes far from the origin: no light gets into or out of a
 * closed box, and no surface shadows itself, in the reference and in the kernel (strict and device;
 * fast is judged by statistics alone). */
#include "backends.h"
#include "reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SIDE = 32, SPP = 64 / TEST_THINNING };

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
    text_printf(&t,
                "{\"isophote\": 1, \"materials\": {\"white\": {\"type\": \"diffuse\", "
                "\"reflectance\": 0.5}, \"lamp\": {\"type\": \"diffuse\", \"emission\": 1000}, "
                "\"fog\": {\"type\": \"interface\", \"medium\": {\"density\": 3, "
                "\"albedo\": 0.75}}}, %s}",
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
                                   .set.build = {.mode = mode}};
    struct device *d;
    struct film f;
    struct error err = {0};
    assert_int_equal(device_open("native", &d, &err), STATUS_OK);
    assert_int_equal(device_load(d, s, BVH_AUTO, NULL, &err), STATUS_OK);
    assert_int_equal(device_build(d, &job.set.build, NULL, &err), STATUS_OK);
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

/* Every pixel by every renderer is `want` within `relative`. */
static void expect_all(struct scene *s, uint32_t max_depth, double want, double relative)
{
    static const char *const names[] = {"reference", "strict", "device"};
    static double red[SIDE * SIDE];
    for (int k = 0; k < 3; k++) {
        if (k == 0)
            render_reference(s, max_depth, red);
        else
            render_kernel(s, max_depth, k == 1 ? MODE_STRICT : MODE_DEVICE, red);
        for (int i = 0; i < SIDE * SIDE; i++)
            if (!(fabs(red[i] - want) <= relative * want))
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
               8, 0, 0);
    expect_all(
        scene_of("\"camera\": {\"origin\": [0, 1, 3], \"target\": [0, -0.3, 0], \"fov\": 40}, "
                 "\"objects\": [{\"type\": \"sphere\", \"radius\": 0.1, \"material\": "
                 "\"lamp\"}, " CLOSED "]"),
        2, 0, 0);
}

/* The sun at `degrees` above a plane gives rho E sin / pi to every sample: one that the plane hides
 * from itself would take 1 / SPP away. The plane is tilted, one triangle 40000 wide, and seen at up
 * to 9000 from the origin. */
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
            2, 0.5 * 3 * sin(a) / M_PI,
            2e-3); /* half of what one hidden sample takes; sin a is rounded to 2^-24 / a < 1e-5 */
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
        2, 0.5 * 3 * sin(a) / M_PI, 0.0145); /* below 1 / SPP */
}

/* What stands on the ground, in a frame turned by `turn` degrees about z: lengths along the
 * ground's x, its normal and z. */
struct frame {
    double c, s;
};
static struct frame frame_turned(double turn)
{
    return (struct frame){cos(turn * M_PI / 180), sin(turn * M_PI / 180)};
}
/* Three texts of one point or direction, one after the other. */
static const char *at(struct frame f, double x, double y, double z)
{
    static char text[8][100];
    static int next;
    next = (next + 1) % 8;
    snprintf(text[next], sizeof text[next], "[%.12g, %.12g, %.12g]", f.c * x - f.s * y,
             f.s * x + f.c * y, z);
    return text[next];
}

/* A ground of two triangles, half its side `size`, as the instance of a small one or not. */
static const char *ground(double size, double turn, bool instance)
{
    static char text[600];
    snprintf(text, sizeof text,
             "{\"type\": \"%s\", %s \"transform\": [{\"scale\": %.9g}, {\"rotate\": {\"axis\": [1, "
             "0, 0], "
             "\"angle\": -90}}, {\"rotate\": {\"axis\": [0, 0, 1], \"angle\": %.9g}}]}",
             instance ? "instance" : "rectangle",
             instance ? "\"group\": \"square\"," : "\"material\": \"white\",", size, turn);
    return text;
}

/* A box of side 1 that is sunk into the ground throws its shadow from its very foot on: a strip
 * beside it, seen from above, is black on one side and rho E sin / pi on the other. Where the
 * ground runs along axes the strip begins 2 millionths from the box whatever the ground's size,
 * which is what float32 tells of a ray from 2 away. A tilted one of size e is itself only known to
 * 2^-24 e; there the point is known to 8 * 2^-24 e (protocol, section 13), and so far from the foot
 * it begins. */
static void shadows_begin_at_the_foot(void **state)
{
    (void)state;
    static const double sizes[] = {1, 100, 1e4, 1e6};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 12; k++) {
            bool lit = k % 2, instance = k / 2 % 2;
            double turn = k / 4 == 0 ? 0 : k / 4 == 1 ? 20 : 45;
            if (turn != 0 && sizes[i] > 1e4)
                continue; /* float32 does not know where such a ground is */
            double foot = turn == 0 ? 2e-6 : 2e-6 + 8 * 0x1p-24 * sizes[i] * (instance ? 2 : 1);
            struct frame f = frame_turned(turn);
            double width = foot / 2, x = 0.5 + foot + width / 2;
            if (!lit)
                x = -x;
            struct scene *s = scene_of(
                "\"camera\": {\"type\": \"orthographic\", \"height\": %.9g, \"origin\": %s, "
                "\"target\": %s, \"up\": [0, 0, 1]}, \"instancing\": \"two-level\", \"groups\": "
                "{\"square\": [{\"type\": \"rectangle\", \"material\": \"white\"}]}, \"lights\": "
                "[{\"type\": \"directional\", \"direction\": %s, \"irradiance\": 3}], \"objects\": "
                "[{\"type\": \"box\", \"material\": \"white\", \"transform\": [{\"scale\": 0.5}, "
                "{\"translate\": [0, 0.4, 0]}, {\"rotate\": {\"axis\": [0, 0, 1], \"angle\": "
                "%.9g}}]}, %s]",
                width, at(f, x, 2, 0.1), at(f, x, 0, 0.1), at(f, -1, -1, 0), turn,
                ground(sizes[i], turn, instance));
            print_message("ground %g, turned %g, %s, %s: %g from the foot\n", sizes[i], turn,
                          instance ? "instance" : "world", lit ? "lit" : "dark", foot);
            expect_all(s, 2, lit ? 0.5 * 3 * sqrt(0.5) / M_PI : 0, 1e-5);
        }
}

/* No light comes under a box that stands on the ground, or is sunk into it, or stands far from the
 * origin: seen from within, under a bright sky and above a lamp that lights the ground from below,
 * ground and walls are black; and so are the feet of its walls seen from outside when only that
 * lamp shines. The diagonal of the ground does not come near. */
static void no_light_comes_in_at_the_foot(void **state)
{
    (void)state;
    static const double sizes[] = {2, 1e4, 1e6};
    static const double sunk[] = {0, 0.25};
    for (int i = 0; i < 12; i++) {
        double size = sizes[i % 3], y = 0.5 - sunk[i / 3 % 2], z = 0.7;
        bool inside = i / 6;
        struct scene *s = scene_of(
            "\"camera\": {\"origin\": [%.9g, %.9g, %.9g], \"target\": [%.9g, 0.01, %.9g], \"fov\": "
            "%.9g}, %s \"objects\": [{\"type\": \"box\", \"material\": \"white\", \"transform\": "
            "[{\"scale\": 0.5}, {\"translate\": [0, %.9g, %.9g]}]}, {\"type\": \"sphere\", "
            "\"center\": "
            "[0.3, -3, 0.7], \"radius\": 0.5, \"material\": \"lamp\"}, %s]",
            inside ? 0.1 : 1.5, inside ? 0.2 : 0.3, z, inside ? 0.45 : 0.5, z, inside ? 130. : 1.,
            inside ? "\"environment\": {\"radiance\": 1}," : "", y, z, ground(size, 0, false));
        print_message("ground %g, %s\n", size, inside ? "inside" : "outside");
        expect_all(s, 4, 0, 0);
    }
}

/* So is a turned one that floats 9000 from the middle of a ground of 20000, where P is known to
 * half a thousandth: at its edges, where a wall could be on P's other side, P keeps its distance.
 */
static void closed_boxes_are_closed_far_out(void **state)
{
    (void)state;
    static const double turns[] = {37, 45};
    for (int i = 0; i < 2; i++)
        expect_all(
            scene_of(
                "\"camera\": {\"origin\": [9000.1, 2.1, 9000.1], \"target\": [8999, 1.8, "
                "8999.1], \"fov\": 110}, \"environment\": {\"radiance\": 1}, \"objects\": "
                "[{\"type\": \"box\", \"material\": \"white\", \"transform\": [{\"scale\": 0.5}, "
                "{\"rotate\": {\"axis\": [1, 2, 3], \"angle\": %g}}, {\"translate\": [9000, 2, "
                "9000]}]}, %s]",
                turns[i], ground(10000, 0, false)),
            8, 0, 0);
}

/* ---- far from the origin --------------------------------------------------------------------- */

/* A closed box with sides of 2 is black inside under a bright sky, wherever it stands: as a box, by
 * a transform, as an instance. Coordinates of 10^6 are known to 0.06 in float32. */
static void closed_boxes_are_closed_far_away(void **state)
{
    (void)state;
    static const double away[][3] = {{10000, 0, 0}, {-1e6, 3e5, 1e6}};
    for (int i = 0; i < 6; i++) {
        const double *c = away[i / 3];
        const int kind = i % 3;
        char box[600];
        if (kind == 0)
            snprintf(box, sizeof box,
                     "{\"type\": \"box\", \"material\": \"white\", \"min\": [%.9g, %.9g, %.9g], "
                     "\"max\": [%.9g, %.9g, %.9g]}",
                     c[0] - 1, c[1] - 1, c[2] - 1, c[0] + 1, c[1] + 1, c[2] + 1);
        else
            snprintf(box, sizeof box,
                     "{%s, \"transform\": [{\"rotate\": {\"axis\": [1, 2, 3], \"angle\": %d}}, "
                     "{\"translate\": [%.9g, %.9g, %.9g]}]}",
                     kind == 1 ? "\"type\": \"box\", \"material\": \"white\""
                               : "\"type\": \"instance\", \"group\": \"box\"",
                     kind == 1 ? 37 : 0, c[0], c[1], c[2]);
        print_message("a box at (%g, %g, %g), kind %d\n", c[0], c[1], c[2], kind);
        expect_all(
            scene_of("\"camera\": {\"origin\": [%.9g, %.9g, %.9g], \"target\": [%.9g, %.9g, %.9g], "
                     "\"fov\": 120}, \"environment\": {\"radiance\": 1}, \"instancing\": "
                     "\"two-level\", \"groups\": {\"box\": [{\"type\": \"box\", \"material\": "
                     "\"white\"}]}, \"objects\": [%s]",
                     c[0] + 0.25, c[1] + 0.25, c[2] + 0.125, c[0] - 1, c[1] - 0.5, c[2] - 1, box),
            8, 0, 0);
    }
}

/* One of each kind of object and of light without a surface, a lens, a medium; moved by c. */
static struct scene *scene_at(const double c[3])
{
    const double x = c[0], y = c[1], z = c[2];
    return scene_of(
        "\"camera\": {\"origin\": [%.17g, %.17g, %.17g], \"target\": [%.17g, %.17g, %.17g], "
        "\"fov\": "
        "60, \"lens_radius\": 0.125, \"focus_distance\": 3}, \"instancing\": \"two-level\", "
        "\"groups\": {\"pair\": [{\"type\": \"box\", \"material\": \"white\", \"transform\": "
        "[{\"scale\": 0.25}]}, {\"type\": \"rectangle\", \"material\": \"white\", \"transform\": "
        "[{\"scale\": 0.5}]}]}, \"lights\": [{\"type\": \"point\", \"position\": [%.17g, %.17g, "
        "%.17g], \"intensity\": 2}, {\"type\": \"spot\", \"position\": [%.17g, %.17g, %.17g], "
        "\"target\": [%.17g, %.17g, %.17g], \"angle\": 50, \"intensity\": 9}], \"objects\": "
        "[{\"type\": \"sphere\", \"material\": \"white\", \"center\": [%.17g, %.17g, %.17g], "
        "\"radius\": 0.5}, {\"type\": \"sphere\", \"material\": \"fog\", \"center\": [%.17g, "
        "%.17g, %.17g], \"radius\": 0.5}, {\"type\": \"disk\", \"material\": \"lamp\", \"center\": "
        "[%.17g, %.17g, %.17g], \"normal\": [0, -1, 0], \"radius\": 0.25}, {\"type\": "
        "\"instance\", "
        "\"group\": \"pair\", \"transform\": [{\"rotate\": {\"axis\": [1, 2, 3], \"angle\": 37}}, "
        "{\"translate\": [%.17g, %.17g, %.17g]}]}, {\"type\": \"instance\", \"group\": \"pair\", "
        "\"transform\": [{\"translate\": [%.17g, %.17g, %.17g]}]}, {\"type\": \"mesh\", "
        "\"material\": \"white\", \"vertices\": [[-2, 0, -2], [-2, 0, 2], [2, 0, 2], [2, 0, -2]], "
        "\"triangles\": [[0, 1, 2], [0, 2, 3]], \"transform\": [{\"translate\": [%.17g, %.17g, "
        "%.17g]}]}]",
        x, y, z + 4, x, y, z, x, y + 1, z + 2, x - 1, y + 2, z, x, y, z, x - 1, y, z, x + 1, y, z,
        x, y + 1.5, z, x, y - 0.5, z + 0.5, x, y + 0.5, z - 1, x, y - 1, z);
}

/* What is moved by numbers that float32 has no room for beside it is the same picture, bit for bit:
 * only where it lies, passes and shaders are told. */
static void a_scene_far_away_is_the_same_scene(void **state)
{
    (void)state;
    static const double places[][3] = {{0, 0, 0}, {0x1p20, -0x1p22, 0x1p12}};
    static double red[2][SIDE * SIDE];
    struct passes passes[2];
    for (int m = 0; m < 4; m++) {
        for (int k = 0; k < 2; k++) {
            struct scene *s = scene_at(places[k]);
            for (int c = 0; c < 3; c++)
                assert_true(s->frame_origin[c] == places[k][c]);
            if (m == 3)
                render_reference(s, 5, red[k]);
            else
                render_kernel(s, 5, (enum math_mode)m, red[k]);
            scene_free(s);
        }
        double mean = 0;
        for (int i = 0; i < SIDE * SIDE; i++)
            mean += red[0][i] / (SIDE * SIDE);
        assert_true(mean > 0.01);
        assert_memory_equal(red[0], red[1], sizeof red[0]);
    }
    const struct render_job job = {
        .width = SIDE, .height = SIDE, .sample_count = 4, .max_depth = 2, .rr_depth = 2};
    for (int k = 0; k < 2; k++) {
        struct scene *s = scene_at(places[k]);
        struct device *d;
        struct error err = {0};
        assert_int_equal(device_open("native", &d, &err), STATUS_OK);
        assert_int_equal(device_load(d, s, BVH_AUTO, NULL, &err), STATUS_OK);
        assert_int_equal(device_build(d, &job.set.build, NULL, &err), STATUS_OK);
        assert_int_equal(device_passes(d, &job, 1U << PASS_POSITION, &passes[k], &err), STATUS_OK);
        device_close(d);
        scene_free(s);
    }
    int met = 0; /* pixels whose four samples met something */
    for (int i = 0; i < SIDE * SIDE; i++) {
        const float *here = passes[0].values[PASS_POSITION] + 3 * (size_t)i;
        const float *there = passes[1].values[PASS_POSITION] + 3 * (size_t)i;
        if ((double)there[0] < 0.999 * places[1][0])
            continue;
        met++;
        for (int c = 0; c < 3; c++) /* half an ulp of P + O, and of the mean */
            assert_true(fabs((double)there[c] - places[1][c] - (double)here[c]) <=
                        0x1p-23 * fabs(places[1][c]));
    }
    assert_true(met > SIDE * SIDE / 8);
    passes_free(&passes[0]);
    passes_free(&passes[1]);
}

/* A shader's P is that of the file: it colours what it meets by P itself, here some 1024 away. */
static void shaders_see_the_files_coordinates(void **state)
{
    (void)state;
    static const double away = 1024;
    struct text t = {0};
    struct error err = {0};
    struct scene *s;
    text_printf(&t,
                "{\"isophote\": 1, \"camera\": {\"type\": \"orthographic\", \"height\": 2, "
                "\"origin\": [%g, 0, 5], \"target\": [%g, 0, 0]}, \"materials\": {\"m\": "
                "{\"type\": \"shader\", \"source\": \"shader place(output color c = 0) { c = "
                "P[0] - Ps[0] / 2; }\", \"base\": {\"type\": \"diffuse\", \"reflectance\": 0}, "
                "\"drive\": {\"emission\": \"c\"}}}, \"objects\": [{\"type\": \"rectangle\", "
                "\"material\": \"m\", \"transform\": [{\"translate\": [%g, 0, 0]}]}]}",
                away, away, away);
    if (scene_load_memory("place.json", t.data, t.len, &s, &err) != STATUS_OK)
        fail_msg("%s at %s", err.msg, err.path);
    text_free(&t);
    assert_true(s->frame_origin[0] == away);
    static double red[SIDE * SIDE];
    for (int k = 0; k < 2; k++) {
        if (k == 0)
            render_reference(s, 1, red);
        else
            render_kernel(s, 1, MODE_STRICT, red);
        for (int i = 0; i < SIDE * SIDE; i++) { /* the mean lies within the pixel */
            double x = away + (i % SIDE + 0.5) * 2 / SIDE - 1;
            assert_true(fabs(red[i] - x / 2) <= 0.5 / SIDE + 1e-3);
        }
    }
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_boxes_are_closed_far_out),
        cmocka_unit_test(closed_boxes_are_closed_far_away),
        cmocka_unit_test(a_scene_far_away_is_the_same_scene),
        cmocka_unit_test(shaders_see_the_files_coordinates),
        cmocka_unit_test(closed_boxes_are_closed),
        cmocka_unit_test(grazing_light_meets_no_specks),
        cmocka_unit_test(grazing_light_on_a_large_sphere),
        cmocka_unit_test(shadows_begin_at_the_foot),
        cmocka_unit_test(no_light_comes_in_at_the_foot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
