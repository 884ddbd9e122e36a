/* SPDX-License-Identifier: Apache-2.0 */
/* Right devices stay in step where rounding decides: native's strict bits, vertex by vertex, in
 * scenes that are all such places. */
#include "conformance.h"
#include "steps/steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define TEXTURES SOURCE_DIR "/scenes/library/textures"

enum { SIDE = TEST_THINNING > 1 ? 20 : 64 }; /* a tenth of the pixels */

struct bed {
    struct scene *scene;
    struct device *native;
    struct render_job job;
};

static struct bed bed_of(const char *scene_text, enum math_mode mode)
{
    struct bed b = {0};
    struct error err = {0};
    if (scene_load_memory("steps.json", scene_text, strlen(scene_text), &b.scene, &err) !=
        STATUS_OK)
        fail_msg("%s", err.msg);
    b.job = (struct render_job){.width = SIDE,
                                .height = SIDE,
                                .sample_count = 2,
                                .max_depth = b.scene->max_depth,
                                .rr_depth = b.scene->rr_depth,
                                .set.build = {.mode = mode}};
    assert_int_equal(device_open("native", &b.native, &err), STATUS_OK);
    assert_int_equal(device_load(b.native, b.scene, BVH_AUTO, NULL, &err), STATUS_OK);
    assert_int_equal(device_build(b.native, &b.job.set.build, NULL, &err), STATUS_OK);
    return b;
}

static void bed_free(struct bed *b)
{
    device_close(b->native);
    scene_free(b->scene);
}

/* What the search found, which is nothing. */
static struct divergence found_in_step(const char *scene_text, enum math_mode mode)
{
    struct error err = {0};
    struct bed b = bed_of(scene_text, mode);
    struct divergence found;
    assert_int_equal(conform_lockstep(b.native, b.scene, &b.job, UINT64_MAX, &found, &err),
                     STATUS_OK);
    if (found.divergent)
        fail_msg("%s", found.text);
    bed_free(&b);
    return found;
}

static void in_step(const char *scene_text)
{
    const struct divergence found = found_in_step(scene_text, MODE_STRICT);
    assert_true(found.stepped > 100 / TEST_THINNING);
    /* (1 - share)^samples is the level */
    assert_true(fabs(pow(1 - found.notices_share, (double)found.compared) / 1e-5 - 1) < 1e-6);
}

/* A device that has the scene `given` is not in step with the reference's, by what shaders emit. */
static void emits_otherwise(const char *given, const char *scene_text)
{
    struct error err = {0};
    struct divergence found;
    struct bed b = bed_of(scene_text, MODE_STRICT), other = bed_of(given, MODE_STRICT);
    assert_int_equal(conform_lockstep(other.native, b.scene, &b.job, UINT64_MAX, &found, &err),
                     STATUS_OK);
    assert_true(found.divergent > 0);
    assert_memory_equal(found.field, "emitted.", 8);
    bed_free(&other);
    bed_free(&b);
}

/* All light of the picture, of the first channel. */
static double light_of(const char *scene_text, enum math_mode mode)
{
    struct error err = {0};
    struct bed b = bed_of(scene_text, mode);
    struct film film = {0};
    double sum = 0;
    assert_int_equal(film_init(&film, SIDE, SIDE, film_exponent(b.scene), &err), STATUS_OK);
    assert_int_equal(device_render(b.native, &b.job, &film, true, NULL, &err), STATUS_OK);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        sum += (double)film.sums[4 * i];
    film_free(&film);
    bed_free(&b);
    return sum;
}

/* Planes across two axes part these lights alike, and two of the weights are means over texels,
 * whose last bits the two sides do not share: the light tree must be the same one all the same. */
static const char lights[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [2.6, 2.6, 8.9], \"target\": [0, 0.6, 0], "
    "\"fov\": 28}, \"render\": {\"max_depth\": 2, \"light_choice\": \"tree\"}, \"textures\": "
    "{\"p\": {\"file\": \"" TEXTURES
    "/blocks.exr\", \"wrap\": \"mirror\", \"filter\": \"nearest\", "
    "\"rotation\": 139.5646, \"scale\": [2.1692, 8.7087], \"offset\": [0.6569, 0.6522]}, "
    "\"q\": {\"file\": \"" TEXTURES "/veins.jpg\", \"wrap\": [\"mirror\", \"clamp\"], "
    "\"rotation\": -203.2246, \"scale\": [2.6179, 5.8592], \"offset\": [-0.9131, -0.0437]}}, "
    "\"materials\": {\"a\": {\"type\": \"diffuse\", \"emission\": {\"texture\": \"p\", "
    "\"scale\": [1.7493, 6.7253, 5.2196]}}, \"b\": {\"type\": \"diffuse\", \"emission\": "
    "{\"texture\": \"q\", \"scale\": [0.1103, 2.7247, 2.3492]}}, \"c\": {\"type\": "
    "\"diffuse\", \"emission\": [1.3784, 0.5697, 0.5494]}, \"d\": {\"type\": \"diffuse\", "
    "\"emission\": [5.7535, 14.8004, 4.5105]}}, \"objects\": [{\"type\": \"sphere\", "
    "\"center\": [-1.3447, 0.6506, -0.0975], \"radius\": 0.2328, \"material\": \"a\"}, "
    "{\"type\": \"disk\", \"center\": [-1.3819, 0.8597, 1.2431], \"normal\": [0.4438, "
    "-0.084, 0.8185], \"radius\": 0.3712, \"material\": \"b\"}, {\"type\": \"disk\", "
    "\"center\": [0.0374, 0.8795, -1.2293], \"normal\": [-0.2177, 0.683, 0.4235], "
    "\"radius\": 0.4082, \"material\": \"c\"}, {\"type\": \"mesh\", \"vertices\": "
    "[[-2.01486, 4.2035, 3.04182], [-2.87734, 4.2035, 2.44789], [-2.37814, 4.7709, 1.72298], "
    "[-1.51566, 4.7709, 2.31691]], \"triangles\": [[0, 1, 2], [0, 2, 3]], \"normals\": "
    "\"face\", \"material\": \"d\"}]}";

static void test_light_tree(void **state)
{
    (void)state;
    in_step(lights);
}

/* Throughput below float32's least number is nothing to a device, and a little to the reference. */
static const char dark[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 0], \"target\": [0, 0, 1], "
    "\"fov\": 60}, \"render\": {\"max_depth\": 12}, \"materials\": {\"dark\": {\"type\": "
    "\"oren_nayar\", \"reflectance\": 1e-15, \"sigma\": 20}}, \"objects\": [{\"type\": "
    "\"sphere\", \"radius\": 2, \"material\": \"dark\"}], \"environment\": "
    "{\"radiance\": 1}}";

static void test_underflow(void **state)
{
    (void)state;
    in_step(dark);
}

/* In mode device the film alone may be another in a hundredth of the samples. */
static void test_what_device_notices(void **state)
{
    (void)state;
    const struct divergence found = found_in_step(dark, MODE_DEVICE);
    const double level =
        1 - pow(1e-5, 1 / (double)found.compared); /* fewer tell no smaller share */
    assert_true(found.notices_share >= 0.01 && found.notices_share <= fmax(0.011, 1.001 * level));
}

/* A card's samples whose program that renders was rounded another way than the one that records:
 * as far apart as the recorded ones are from the reference. Without that, and far apart, it is the
 * film. The film's unit: 2^-40. */
static void test_films_that_follow(void **state)
{
    (void)state;
    static const double followed[][3] = {{0.0051578721, 0.0051567941, 0.00518359836},
                                         {0.490470797, 0.49040994, 0.490323534},
                                         {4.34021187, 4.33969116, 4.33912032},
                                         {0.00397155574, 0.0039700768, 0.00397121593},
                                         {0.00376913231, 0.00376979029, 0.00377005162}};
    static const struct {
        double film, path, reference;
        bool unlike;
    } bounds[] = {
        {1.001, 1, 1, true},           /* nothing in the path says why */
        {1.001, 1, 1.00007, false},    /* less than 16 times its error */
        {1.001, 1, 1.00006, true},     /* more */
        {1.001, 1, 1.001, false},      /* the reference's */
        {1 + 0x1p-17, 1, 1, false},    /* hardly another */
        {NAN, 1, 1, true},             /* no number */
        {0, NAN, 1, false},            /* a path that is no number leaves nothing in the film */
        {1, NAN, NAN, true},           /* it left something */
        {-1, -1, -1, true},            /* the film holds nothing negative */
        {0x1p20, 0x1p20, 0x1p20, true} /* nor more than 2^46 units */
    };
    int channel;
    for (size_t i = 0; i < sizeof followed / sizeof *followed; i++) {
        const double *f = followed[i];
        const double film[3] = {0, 0, f[0]}, path[3] = {0, 0, f[1]}, reference[3] = {0, 0, f[2]};
        assert_false(film_is_unlike(film, path, reference, 40, &channel));
        assert_true(film_is_unlike(film, path, path, 40, &channel));
        assert_int_equal(channel, 2);
    }
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const double film[3] = {bounds[i].film, 0, 0}, path[3] = {bounds[i].path, 0, 0},
                     reference[3] = {bounds[i].reference, 0, 0};
        assert_int_equal(film_is_unlike(film, path, reference, 40, &channel), bounds[i].unlike);
    }
}

/* Two faces in one plane, in a scene with media. */
static const char coplanar[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], "
    "\"fov\": 40}, \"render\": {\"max_depth\": 3}, \"materials\": {\"a\": {\"type\": "
    "\"diffuse\"}, \"b\": {\"type\": \"diffuse\", \"reflectance\": 0.2}, \"haze\": "
    "{\"type\": \"interface\", \"medium\": {\"absorption\": 0.1}}}, \"objects\": "
    "[{\"type\": \"sphere\", \"radius\": 0.3, \"center\": [1, 1, 1], \"material\": "
    "\"haze\"}, {\"type\": \"rectangle\", \"material\": \"a\", \"transform\": "
    "[{\"rotate\": {\"axis\": [1, 2, 3], \"angle\": 33}}, {\"translate\": [0.123, 0.077, "
    "-0.3]}]}, {\"type\": \"rectangle\", \"material\": \"b\", \"transform\": "
    "[{\"scale\": 0.7}, {\"rotate\": {\"axis\": [1, 2, 3], \"angle\": 33}}, "
    "{\"translate\": [0.123, 0.077, -0.3]}]}], \"environment\": {\"radiance\": 1}}";

static void test_coplanar_faces(void **state)
{
    (void)state;
    in_step(coplanar);
}

/* Two triangles back to back leave their corners the normal of a third, at right angles to them:
 * such a normal does not count, plain and under a normal map, whichever of the two rounding finds
 * nearer. */
#define BACK_TO_BACK(normals)                                                                      \
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], "                \
    "\"fov\": 40}, \"render\": {\"max_depth\": 2}, \"materials\": {\"a\": {\"type\": "             \
    "\"diffuse\"}}, \"objects\": [{\"type\": \"mesh\", \"vertices\": [[-1, 0, 0], [1, 0, "         \
    "0], [0, 1, 0], [0, 1, 1]], \"uv\": [[0, 0], [1, 0], [0, 1], [1, 1]], \"triangles\": "         \
    "[[0, 1, 2], [0, 2, 1], [0, 3, 2]], \"normals\": \"" normals "\", \"transform\": "             \
    "[{\"rotate\": {\"axis\": [1, 2, 3], \"angle\": 33}}, {\"translate\": [0.123, 0.077, "         \
    "-0.3]}], \"material\": \"a\"}], \"environment\": {\"radiance\": 1}}"
static const char back_to_back_mapped[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], "
    "\"fov\": 40}, \"render\": {\"max_depth\": 2}, \"materials\": {\"a\": {\"type\": "
    "\"diffuse\", \"normal_map\": {\"texture\": \"bumps\"}}}, \"objects\": [{\"type\": "
    "\"mesh\", \"vertices\": [[-1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1]], \"uv\": [[0, "
    "0], [1, 0], [0, 1], [1, 1]], \"triangles\": [[0, 1, 2], [0, 2, 1], [0, 3, 2]], "
    "\"normals\": \"smooth\", \"transform\": [{\"rotate\": {\"axis\": [1, 2, 3], "
    "\"angle\": 33}}, {\"translate\": [0.123, 0.077, -0.3]}], \"material\": \"a\"}], "
    "\"environment\": {\"radiance\": 1}, \"textures\": {\"bumps\": {\"file\": "
    "\"" TEXTURES "/bumps.png\", \"color_space\": \"linear\"}}}";

static void test_normals_at_right_angles(void **state)
{
    (void)state;
    in_step(BACK_TO_BACK("smooth"));
    in_step(back_to_back_mapped);
    for (int fast = 0; fast < 2; fast++) { /* so faces look as faces */
        const enum math_mode mode = fast ? MODE_FAST : MODE_STRICT;
        const double flat = light_of(BACK_TO_BACK("face"), mode);
        assert_true(flat > 0);
        assert_true(fabs(light_of(BACK_TO_BACK("smooth"), mode) - flat) <= 0x1p-10 * flat);
    }
}

/* Far from the origin the way to a light is off by what its ends are, and so is what a medium takes
 * on it. */
static const char far_away[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [30000, 2, 5], \"target\": [30000, 0, "
    "0], \"fov\": 40}, \"render\": {\"max_depth\": 2}, \"materials\": {\"a\": {\"type\": "
    "\"diffuse\"}, \"lamp\": {\"type\": \"diffuse\", \"reflectance\": 0, \"emission\": "
    "50}, \"haze\": {\"type\": \"interface\", \"medium\": {\"absorption\": 2.5}}}, "
    "\"objects\": [{\"type\": \"sphere\", \"center\": [30000, 0, 0], \"radius\": 20, "
    "\"material\": \"haze\"}, {\"type\": \"rectangle\", \"material\": \"a\", "
    "\"transform\": [{\"scale\": 4}, {\"rotate\": {\"axis\": [1, 0, 0], \"angle\": "
    "-90}}, {\"translate\": [30000, 0, 0]}]}, {\"type\": \"disk\", \"center\": [30000, "
    "3, 0.3], \"normal\": [0.2, -1, 0.1], \"radius\": 0.2, \"material\": \"lamp\"}]}";

static void test_way_to_a_light(void **state)
{
    (void)state;
    in_step(far_away);
}

/* Where two bodies share a face one of them is not left there, and its medium reaches the sky: a
 * cube and a pyramid in it, whose base is one of its faces. */
static const char never_left[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [2, 1, 6], \"target\": [0.4, 0, 0],"
    " \"fov\": 12}, \"render\": {\"max_depth\": 3}, \"materials\": {\"a\": "
    "{\"type\": \"diffuse\"}, \"haze\": {\"type\": \"interface\", \"medium\": "
    "{\"absorption\": [0, 0.5, 2]}}, \"mist\": {\"type\": \"interface\", "
    "\"medium\": {\"absorption\": [1, 0, 0.2]}}}, \"objects\": [{\"type\": "
    "\"mesh\", \"material\": \"haze\", \"vertices\": [[-1, -1, -1], [1, -1, -1], "
    "[1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], "
    "\"triangles\": [[1, 2, 6], [1, 6, 5], [0, 4, 7], [0, 7, 3], [4, 5, 6], [4, 6, "
    "7], [0, 3, 2], [0, 2, 1], [3, 7, 6], [3, 6, 2], [0, 1, 5], [0, 5, 4]]}, "
    "{\"type\": \"mesh\", \"material\": \"mist\", \"vertices\": [[1, -1, -1], [1, "
    "1, -1], [1, 1, 1], [1, -1, 1], [-0.9, 0, 0]], \"triangles\": [[0, 1, 2], [0, "
    "2, 3], [4, 1, 0], [4, 2, 1], [4, 3, 2], [4, 0, 3]]}, {\"type\": \"sphere\", "
    "\"center\": [0.4, 0, 0], \"radius\": 0.3, \"material\": \"a\"}], "
    "\"environment\": {\"radiance\": 1}}";

static void test_never_left(void **state)
{
    (void)state;
    in_step(never_left);
}

/* Boxes within each other share a side: whichever is met first there, the other one is not entered,
 * and the light takes another way to the same place. */
static const char shared_side[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0.3, 0.4, 5], \"target\": [0, 0, 0], \"fov\": 40},"
    "\"render\": {\"max_depth\": 4}, \"materials\": {\"floor\": {\"type\": \"diffuse\"}, \"a\": "
    "{\"type\": \"interface\", \"medium\": {\"absorption\": [0.2, 0.5, 0.9], \"density\": 0.3}}, "
    "\"b\": "
    "{\"type\": \"interface\", \"medium\": {\"absorption\": [0.9, 0.1, 0.3]}}}, \"objects\": "
    "[{\"type\": "
    "\"rectangle\", \"material\": \"floor\", \"transform\": [{\"scale\": 4}, {\"translate\": [0, "
    "0, "
    "-2]}]}, {\"type\": \"box\", \"material\": \"a\", \"min\": [-1, -1, -1], \"max\": [1, 1, 1], "
    "\"transform\": [{\"rotate\": {\"axis\": [1, 2, 3], \"angle\": 33}}, {\"translate\": [0.123, "
    "0.077, "
    "-0.3]}]}, {\"type\": \"box\", \"material\": \"b\", \"min\": [-0.6, -0.6, -0.2], \"max\": "
    "[0.6, 0.6, "
    "1], \"transform\": [{\"rotate\": {\"axis\": [1, 2, 3], \"angle\": 33}}, {\"translate\": "
    "[0.123, 0.077, "
    "-0.3]}]}], \"lights\": [{\"type\": \"point\", \"position\": [1, 2, 6], \"intensity\": 30}], "
    "\"environment\": {\"radiance\": 0.5}}";

static void test_shared_side(void **state)
{
    (void)state;
    in_step(shared_side);
}

/* A shader's conductor that next to nothing tells from air: F is little beside its roundings. */
static const char faint_conductor[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0.3, 2, 4], \"target\": [0, 0, 0], \"fov\": 40}, "
    "\"render\": {\"max_depth\": 3}, \"materials\": {\"m\": {\"type\": \"shader\", \"source\": "
    "\"surface t() { Ci = conductor_bsdf(N, dPdu, 0.2, 0.2, color(1, 1.00001, 1.0005), "
    "color(0.00001, 0.00001, 0), \\\"ggx\\\"); }\"}}, \"objects\": [{\"type\": \"rectangle\", "
    "\"material\": \"m\", \"transform\": [{\"scale\": 3}, {\"rotate\": {\"axis\": [1, 0, 0], "
    "\"angle\": -90}}]}, {\"type\": \"sphere\", \"radius\": 0.5, \"center\": [0, 0.5, 0], "
    "\"material\": \"m\"}], \"lights\": [{\"type\": \"point\", \"position\": [1, 2, 3], "
    "\"intensity\": 10}], \"environment\": {\"radiance\": 0.5}}";

static void test_faint_conductor(void **state)
{
    (void)state;
    in_step(faint_conductor);
}

/* What no one knows at a map's pole, the place in it, decides here which lobes there are, and so
 * which is chosen: the judge must follow the device to another lobe, delta or not, to the other side
 * with its light sample, and divide by the side's chance as it may have been. */
static void test_list_at_a_pole(void **state)
{
    (void)state;
    in_step(
        "{\"isophote\": 1, \"camera\": {\"origin\": [50, 0, 0], \"target\": [-49, -10, 30], "
        "\"fov\": "
        "12}, \"materials\": {\"m\": {\"type\": \"shader\", \"source\": \"surface m() { Ci = 0.4 * "
        "color(0.6155, 0, 0.3568) * sheen_bsdf(N, (color)environment(\\\"" TEXTURES
        "/blocks.exr\\\", N * 7), clamp(fabs(Dx(tan(u)) + Dy(asin(v))) * 9, 0, 1)) + 0.3 * "
        "layer(0.5 * generalized_schlick_bsdf(N, normalize(dPdu + N), color(0.4301, 1, 0.807), "
        "color(\\\"hsl\\\", u, 0.6, 0.5), 0.2637, 0.7334, color(1, 0, 0.9035), color(0, 0.7851, "
        "0.2287), 5, \\\"beckmann\\\"), translucent_bsdf(N, 0.5 + 0.5 * color(I))) + 0.2 * "
        "transparent_bsdf(); }\"}}, \"objects\": [{\"type\": \"rectangle\", \"material\": \"m\", "
        "\"transform\": [{\"scale\": 5}, {\"rotate\": {\"axis\": [1, 0, 0], \"angle\": -90}}, "
        "{\"translate\": [0, -1, 0]}, {\"scale\": 10}]}], \"environment\": {\"radiance\": [0, 0, "
        "1]}}");
}

/* A tangent that is the normal but for a thousandth: what is left of it, once its part along the normal
 * is taken away, is rounded by a thousand times as much, and wide facets turn with it. */
static void test_tangent_along_the_normal(void **state)
{
    (void)state;
    (void)found_in_step(
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0.003, 0], \"target\": [0, 0, 0.0003]}, "
        "\"materials\": {\"m\": {\"type\": \"shader\", \"source\": \"surface m() { Ci = "
        "generalized_schlick_bsdf(Ng, normalize(dPdu + N), color(1), color(0), 0.06379, "
        "acos(clamp(N[1], -1, 1)) * 0.3, color(0.09806, 0.9893, 0.2483), color(1), 3, "
        "\\\"beckmann\\\") + 0.1 * holdout(); }\"}}, \"objects\": [{\"type\": \"rectangle\", "
        "\"material\": \"m\", \"transform\": [{\"rotate\": {\"axis\": [1, 0, 0], \"angle\": "
        "-100}}, "
        "{\"scale\": 0.001}]}]}",
        MODE_DEVICE);
}

/* Schlick's F is 1 in one channel along the normal: of what passes, 1 - F, rounding leaves nothing. */
static void test_nothing_passes(void **state)
{
    (void)state;
    (void)found_in_step(
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, -4], \"target\": [0, 0, 0]}, "
        "\"materials\": {\"m\": {\"type\": \"shader\", \"source\": \"surface m() { Ci = "
        "0.6 * generalized_schlick_bsdf(N, normalize(dPdu + N), color(0), color(1), 0.6818, 1.15, "
        "color(0.6689, 1, 0.4972), color(0.3651, 0.2254, 0.3758), 5, \\\"beckmann\\\"); }\"}}, "
        "\"objects\": [{\"type\": \"box\", \"material\": \"m\", \"transform\": [{\"rotate\": "
        "{\"axis\": [1, 0, 0], \"angle\": 110}}, {\"translate\": [0, 2, 0]}]}]}",
        MODE_DEVICE);
}

/* Shaders' rays that start on a surface, but not at P: far from the origin P is told in steps of 2^-14
 * here, and rounding the hit's test decides on which side of the plane some of them are. A device
 * whose starts are one such step off is not in step. */
#define ALONG_A_PLANE(shift)                                                                       \
    "{\"isophote\": 1, \"camera\": {\"origin\": [1000.8, -298.15, 704.325], \"target\": "          \
    "[1000.5, -300.25, 700.125], \"fov\": 40}, \"render\": {\"max_depth\": 2}, \"materials\": "    \
    "{\"m\": {\"type\": \"shader\", \"source\": \"surface m() { point p = P + 0.05 * dPdu" shift   \
    "; float d = 0; int h = trace(p, -vector(Ng), \\\"maxdist\\\", 0.5); "                         \
    "getmessage(\\\"trace\\\", \\\"hitdist\\\", d); Ci = (color(0.3 * h, 0.5 * d, "                \
    "occlusion(p, N, \\\"samples\\\", 16)) + 0.1) * emission(); }\"}, \"a\": {\"type\": "          \
    "\"diffuse\"}}, \"objects\": [{\"type\": \"rectangle\", \"material\": \"m\", \"transform\": "  \
    "[{\"scale\": 1.3}, {\"rotate\": {\"axis\": [1, 0.3, 0.2], \"angle\": -71}}, {\"translate\": " \
    "[1000.623, -300.173, 699.825]}]}, {\"type\": \"sphere\", \"material\": \"a\", \"radius\": "   \
    "0.35, \"center\": [1000.7, -299.85, 699.825]}], \"environment\": {\"radiance\": 0.3}}"

static void test_rays_along_a_plane(void **state)
{
    (void)state;
    in_step(ALONG_A_PLANE(""));
    (void)found_in_step(ALONG_A_PLANE(""), MODE_DEVICE);
    emits_otherwise(ALONG_A_PLANE(" + vector(0, 1.0 / 16384, 0)"), ALONG_A_PLANE(""));
}

/* Over a floor whose shader asks what is above: an interface, and `gap` over it a roof of the same
 * corners in another order. Without a gap rounding says which of the two a ray meets, and behind the
 * interface it begins past both. */
#define UNDER_A_ROOF(faces)                                                                        \
    "{\"isophote\": 1, \"camera\": {\"origin\": [0.3, 0.35, 2.2], \"target\": [0, 0, 0], "         \
    "\"fov\": 12}, \"render\": {\"max_depth\": 2}, \"materials\": {\"m\": {\"type\": "             \
    "\"shader\", \"source\": \"surface m() { float x = 0; trace(P, vector(0.1, 1, 0.2)); "         \
    "getmessage(\\\"trace\\\", \\\"u\\\", x); Ci = (color(x, occlusion(\\\"samples\\\", 8), 0) "   \
    "+ 0.1) * emission(); }\"}, \"i\": {\"type\": \"interface\"}, \"r\": {\"type\": "              \
    "\"diffuse\"}}, \"objects\": [{\"type\": \"rectangle\", \"material\": \"m\", "                 \
    "\"transform\": [{\"rotate\": {\"axis\": [1, 0, 0], \"angle\": -90}}]}, " ROOF_OF(             \
        "i", "0", "[[0, 1, 2], [0, 2, 3]]") faces "], \"environment\": {\"radiance\": 0.3}}"
#define ROOF_OF(material, up, triangles)                                                           \
    "{\"type\": \"mesh\", \"material\": \"" material                                               \
    "\", \"vertices\": [[-1.1, 0.7, -1.3], [1.2, 0.9, "                                            \
    "-1.1], [1.3, 0.6, 1.2], [-1.2, 0.4, 1]], \"uv\": [[0, 0], [1, 0], [1, 1], [0, 1]], "          \
    "\"triangles\": " triangles ", \"transform\": [{\"translate\": [0, " up ", 0]}]}"
#define ROOF(gap) ", " ROOF_OF("r", gap, "[[2, 1, 0], [3, 2, 0]]")

static void test_rays_of_shaders_at_ties(void **state)
{
    (void)state;
    in_step(UNDER_A_ROOF(ROOF("0")));
    (void)found_in_step(UNDER_A_ROOF(ROOF("0")), MODE_DEVICE);
    emits_otherwise(UNDER_A_ROOF(""), UNDER_A_ROOF(ROOF("0.0001")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rays_of_shaders_at_ties),
        cmocka_unit_test(test_light_tree),
        cmocka_unit_test(test_underflow),
        cmocka_unit_test(test_what_device_notices),
        cmocka_unit_test(test_films_that_follow),
        cmocka_unit_test(test_coplanar_faces),
        cmocka_unit_test(test_normals_at_right_angles),
        cmocka_unit_test(test_way_to_a_light),
        cmocka_unit_test(test_never_left),
        cmocka_unit_test(test_shared_side),
        cmocka_unit_test(test_faint_conductor),
        cmocka_unit_test(test_list_at_a_pole),
        cmocka_unit_test(test_tangent_along_the_normal),
        cmocka_unit_test(test_nothing_passes),
        cmocka_unit_test(test_rays_along_a_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
