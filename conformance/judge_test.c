/* The judge of timed pictures on one that is too large for the reference, of a scene whose samples
 * have no variance: lamps without size, close to walls. Right pictures pass; a bias of 1%, a faulty
 * square and a fault that native does not share are found. */
#include "conformance.h"
#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 2.1 million samples: just beyond what the reference renders in full. */
enum { SIDE = 128, SPP = 128, SQUARE = 16 };

static const char lamps[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 2, 5], \"target\": [0, 0.5, 0], \"fov\": 40},"
    "\"render\": {\"max_depth\": 3, \"light_choice\": \"tree\"},"
    "\"materials\": {\"w\": {\"type\": \"diffuse\", \"reflectance\": 0.7}},"
    "\"objects\": [{\"type\": \"box\", \"material\": \"w\", \"min\": [-2, -0.1, -2], \"max\": [2, "
    "0, 2]},"
    "{\"type\": \"box\", \"material\": \"w\", \"min\": [-0.5, 0, -0.5], \"max\": [0.5, 1, 0.5]}],"
    "\"lights\": [{\"type\": \"point\", \"position\": [0.501, 0.4, 0], \"intensity\": 1},"
    "{\"type\": \"point\", \"position\": [0, 0.6, 0.503], \"intensity\": 1},"
    "{\"type\": \"point\", \"position\": [-1, 0.002, 1], \"intensity\": 1},"
    "{\"type\": \"point\", \"position\": [1, 1.5, 1.2], \"intensity\": 1}]}";

struct bed {
    struct scene *scene;
    struct render_job job;
    struct film film;
};

/* Native's picture of the job becomes b->film. */
static void film_of(struct bed *b)
{
    struct error err = {0};
    struct device *d = NULL;
    assert_int_equal(device_open("native", &d, &err), STATUS_OK);
    assert_int_equal(device_load(d, b->scene, BVH_AUTO, NULL, &err), STATUS_OK);
    assert_int_equal(device_build(d, &b->job.launch, NULL, &err), STATUS_OK);
    assert_int_equal(film_init(&b->film, SIDE, SIDE, film_exponent(b->scene), &err), STATUS_OK);
    assert_int_equal(device_render(d, &b->job, &b->film, true, NULL, &err), STATUS_OK);
    device_close(d);
}

static int set_up(void **state)
{
    struct bed *b = calloc(1, sizeof *b);
    struct error err = {0};
    assert_non_null(b);
    if (scene_load_memory("lamps.json", lamps, strlen(lamps), &b->scene, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    b->job = (struct render_job){.width = SIDE,
                                 .height = SIDE,
                                 .sample_count = SPP,
                                 .max_depth = b->scene->max_depth,
                                 .rr_depth = b->scene->rr_depth,
                                 .launch = {.mode = MODE_FAST}};
    film_of(b);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *b = *state;
    film_free(&b->film);
    scene_free(b->scene);
    free(b);
    return 0;
}

/* The verdict on the film with the pixels of the square at (x, y) times `factor`. */
static enum verdict verdict_on(const struct bed *b, const char *device, uint32_t x, uint32_t y,
                               uint32_t side, double factor, char reason[512])
{
    struct film f;
    struct judgement j;
    struct error err = {0};
    assert_int_equal(film_init(&f, SIDE, SIDE, b->film.exponent, &err), STATUS_OK);
    memcpy(f.sums, b->film.sums, sizeof *f.sums * 4 * SIDE * SIDE);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        for (uint32_t c = 0; c < 3 && i % SIDE - x < side && i / SIDE - y < side; c++)
            f.sums[4 * i + c] = (int64_t)((double)f.sums[4 * i + c] * factor);
    if (conform_judge(b->scene, device, &b->job, &f, &j, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    film_free(&f);
    memcpy(reason, j.reason, sizeof j.reason);
    return j.verdict;
}

static void test_right(void **state)
{
    char reason[512];
    if (verdict_on(*state, "native", 0, 0, SIDE, 1, reason) != VERDICT_PASS)
        fail_msg("%s", reason);
}

static void test_bias(void **state)
{
    char reason[512];
    assert_int_equal(verdict_on(*state, "native", 0, 0, SIDE, 1.01, reason), VERDICT_FAIL);
    assert_int_equal(verdict_on(*state, "native", 0, 0, SIDE, 0.99, reason), VERDICT_FAIL);
    assert_non_null(strstr(reason, "native's strict picture"));
}

static void test_square(void **state)
{
    char reason[512];
    assert_int_equal(verdict_on(*state, "native", 48, 64, SQUARE, 1.05, reason), VERDICT_FAIL);
    assert_int_equal(verdict_on(*state, "native", 48, 64, SQUARE, 0, reason), VERDICT_FAIL);
}

/* The same lamps and one inside the block, so bright that a sample of what is seen is a unit or two
 * of the film, or none: rounding to it takes the dim ones away, on both sides. A tenth more is
 * found. */
static void test_dim(void **state)
{
    const struct bed *b = *state;
    char text[sizeof lamps + 128], reason[512];
    struct error err = {0};
    struct bed dim = {.job = b->job};
    snprintf(text, sizeof text,
             "%.*s, {\"type\": \"point\", \"position\": [0, 0.5, 0], \"intensity\": 1e6}]}",
             (int)(sizeof lamps - 1 - strlen("]}")), lamps);
    if (scene_load_memory("dim.json", text, strlen(text), &dim.scene, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    dim.job.sample_count = 16;
    film_of(&dim);
    double mean = 0;
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        mean += (double)dim.film.sums[4 * i] / (16.0 * SIDE * SIDE);
    print_message("a sample is %.2f units\n", mean);
    assert_true(mean > 0.1 && mean < 10);
    if (verdict_on(&dim, "native", 0, 0, SIDE, 1, reason) != VERDICT_PASS)
        fail_msg("%s", reason);
    assert_int_equal(verdict_on(&dim, "native", 0, 0, SIDE, 1.1, reason), VERDICT_FAIL);
    film_free(&dim.film);
    scene_free(dim.scene);
}

/* A picture as native's, from a device that renders another when asked again. */
static void test_first_samples(void **state)
{
    char reason[512];
    assert_int_equal(verdict_on(*state, "faulty:lost-cosine", 0, 0, SIDE, 1, reason), VERDICT_FAIL);
    assert_non_null(strstr(reason, "first"));
}

/* Planes across two axes part these lights alike, and two of the weights are means over texels,
 * whose last bits the two sides do not share: the light tree must be the same one all the same. */
static void test_ties(void **state)
{
    static const char room[] =
        "{\"isophote\": 1, \"camera\": {\"origin\": [2.6, 2.6, 8.9], \"target\": [0, 0.6, 0], "
        "\"fov\": 28}, \"render\": {\"max_depth\": 2, \"light_choice\": \"tree\"}, \"textures\": "
        "{\"p\": {\"file\": \"%s/blocks.exr\", \"wrap\": \"mirror\", \"filter\": \"nearest\", "
        "\"rotation\": 139.5646, \"scale\": [2.1692, 8.7087], \"offset\": [0.6569, 0.6522]}, "
        "\"q\": {\"file\": \"%s/veins.jpg\", \"wrap\": [\"mirror\", \"clamp\"], "
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
    static const char textures[] = SOURCE_DIR "/scenes/library/textures";
    const struct bed *b = *state;
    char text[sizeof room + 2 * sizeof textures];
    struct error err = {0};
    struct scene *scene;
    struct device *d = NULL;
    struct divergence found;
    struct render_job job = b->job;
    snprintf(text, sizeof text, room, textures, textures);
    if (scene_load_memory("ties.json", text, strlen(text), &scene, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    job.width = job.height = 64;
    job.sample_count = 2;
    job.max_depth = 2;
    job.launch.mode = MODE_STRICT;
    assert_int_equal(device_open("native", &d, &err), STATUS_OK);
    assert_int_equal(device_load(d, scene, BVH_AUTO, NULL, &err), STATUS_OK);
    assert_int_equal(device_build(d, &job.launch, NULL, &err), STATUS_OK);
    assert_int_equal(conform_lockstep(d, scene, &job, UINT64_MAX, &found, &err), STATUS_OK);
    if (found.divergent)
        fail_msg("%s", found.text);
    assert_true(found.stepped > 100);
    device_close(d);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),  cmocka_unit_test(test_bias),
        cmocka_unit_test(test_square), cmocka_unit_test(test_first_samples),
        cmocka_unit_test(test_dim),    cmocka_unit_test(test_ties),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
