/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of timed pictures on one that is too large for the reference, of a scene whose samples
 * have no variance: lamps without size, close to walls; in mode device, where lights are chosen
 * with strict's chances. Right pictures pass; a bias of 1%, a faulty square and a fault that native
 * does not share are found. Where faces lie on one another what else there is is judged. */
#include "conformance.h"
#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 2.1 million samples: just beyond what the reference renders in full. */
enum { SIDE = 128, SPP = 128, SQUARE = 16 };
/* A sanitizer's run leaves out what is of one kind with another. */
enum { EVERY = TEST_THINNING == 1 };

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
    assert_int_equal(device_build(d, &b->job.set.build, NULL, &err), STATUS_OK);
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
                                 .set.build = {.mode = MODE_DEVICE}};
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
    if (EVERY)
        assert_int_equal(verdict_on(*state, "native", 0, 0, SIDE, 1.01, reason), VERDICT_FAIL);
    assert_int_equal(verdict_on(*state, "native", 0, 0, SIDE, 0.99, reason), VERDICT_FAIL);
    assert_non_null(strstr(reason, "native's strict picture"));
}

static void test_square(void **state)
{
    char reason[512];
    if (EVERY)
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

/* Two faces in one plane, dark and bright: rounding has its ways to choose, and the film's differ
 * from the reference's by more than chance does. What else is in the picture is still judged. */
static const char coplanar[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 4], \"target\": [0, 0, 0], \"fov\": 60},"
    "\"render\": {\"max_depth\": 2}, \"materials\": {\"dark\": {\"type\": \"diffuse\","
    "\"reflectance\": 0.2}, \"bright\": {\"type\": \"diffuse\", \"reflectance\": 0.9}},"
    "\"objects\": [{\"type\": \"rectangle\", \"material\": \"dark\", \"transform\": [{\"rotate\":"
    "{\"axis\": [1, 2, 3], \"angle\": 33}}, {\"translate\": [0.123, 0.077, -0.3]}]},"
    "{\"type\": \"mesh\", \"vertices\": [[-1, -0.3, 0], [0.9, -1, 0], [0.7, 1, 0]], \"triangles\":"
    "[[0, 1, 2]], \"material\": \"bright\", \"transform\": [{\"rotate\": {\"axis\": [1, 2, 3],"
    "\"angle\": 33}}, {\"translate\": [0.123, 0.077, -0.3]}]}, {\"type\": \"rectangle\","
    "\"material\": \"bright\", \"transform\": [{\"translate\": [0, 0, -1]}, {\"scale\": 5}]}],"
    "\"environment\": {\"radiance\": 1}}";

static void test_coplanar(void **state)
{
    const struct bed *b = *state;
    char reason[512];
    struct error err = {0};
    for (int fast = 0; fast < (EVERY ? 2 : 1); fast++) {
        struct bed tied = {.job = b->job};
        if (scene_load_memory("tied.json", coplanar, strlen(coplanar), &tied.scene, &err) !=
            STATUS_OK)
            fail_msg("%s", err.msg);
        tied.job.sample_count = 8;
        tied.job.max_depth = tied.scene->max_depth;
        tied.job.set.build.mode = fast ? MODE_FAST : MODE_DEVICE;
        film_of(&tied);
        if (verdict_on(&tied, "native", 0, 0, SIDE, 1, reason) != VERDICT_PASS)
            fail_msg("%s", reason);
        assert_true(fast || strstr(reason, "left out")); /* else the scene tests nothing */
        assert_int_equal(verdict_on(&tied, "native", 0, 0, SIDE, 1.01, reason), VERDICT_FAIL);
        film_free(&tied.film);
        scene_free(tied.scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),  cmocka_unit_test(test_bias),
        cmocka_unit_test(test_square), cmocka_unit_test(test_first_samples),
        cmocka_unit_test(test_dim),    cmocka_unit_test(test_coplanar),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
