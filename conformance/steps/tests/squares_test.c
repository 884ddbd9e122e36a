/* SPDX-License-Identifier: Apache-2.0 */
/* A picture judged by squares of it: few where that decides, more where noise hides the decision,
 * with shares of the level that are no more than the level; what is wrong is found, and where. */
#include "steps/judge.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* 16 x 15 squares, those at two edges cut. */
enum { WIDTH = 500, HEIGHT = 470, SQUARES = 16 * 15 };

static const double LEVEL = 1e-5, SYSTEMATIC = 0x1p-10;

static const char text[] =
    "{\"isophote\": 1, \"camera\": {\"origin\": [0, 2, 5], \"target\": [0, 0.5, 0], \"fov\": 40},"
    "\"render\": {\"max_depth\": 2}, \"environment\": {\"radiance\": 0.3},"
    "\"materials\": {\"w\": {\"type\": \"diffuse\", \"reflectance\": 0.7}},"
    "\"objects\": [{\"type\": \"box\", \"material\": \"w\", \"min\": [-2, -0.1, -2], \"max\": [2, "
    "0, 2]}, {\"type\": \"sphere\", \"material\": \"w\", \"center\": [0, 0.5, 0], \"radius\": "
    "0.5}]}";

static char folder[64];

struct bed {
    struct scene *scene;
    struct render_job job;
    struct film film; /* native's, strict */
};

static int set_up(void **state)
{
    struct bed *b = calloc(1, sizeof *b);
    const struct film *native;
    struct error err = {0};
    strcpy(folder, "/tmp/isophote-squares-test-XXXXXX");
    assert_non_null(b);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("ISOPHOTE_TRUTHS", folder, 1), 0);
    if (scene_load_memory("ball.json", text, strlen(text), &b->scene, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    b->job = (struct render_job){.width = WIDTH,
                                 .height = HEIGHT,
                                 .sample_count = 2,
                                 .max_depth = 2,
                                 .rr_depth = 2,
                                 .seed = 5,
                                 .set.build = {.mode = MODE_FAST}};
    if (judge_native(b->scene, &b->job, &native, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(film_init(&b->film, WIDTH, HEIGHT, native->exponent, &err), STATUS_OK);
    memcpy(b->film.sums, native->sums, sizeof *native->sums * 4 * WIDTH * HEIGHT);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *b = *state;
    char command[128];
    film_free(&b->film);
    scene_free(b->scene);
    free(b);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); // NOLINT(cert-env33-c): a name we made
}

/* What the film with each number of pixel i times factor(i) is judged. */
static struct square_judgement judged(const struct bed *b, double (*factor)(uint32_t x, uint32_t y))
{
    struct film f;
    struct square_judgement q;
    struct error err = {0};
    assert_int_equal(film_init(&f, WIDTH, HEIGHT, b->film.exponent, &err), STATUS_OK);
    memcpy(f.sums, b->film.sums, sizeof *f.sums * 4 * WIDTH * HEIGHT);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        for (uint32_t c = 0; c < 3; c++)
            f.sums[4 * i + c] = llrint((double)f.sums[4 * i + c] * factor(i % WIDTH, i / WIDTH));
    if (judge_squares(b->scene, &b->job, &f, SYSTEMATIC, LEVEL, &q, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    film_free(&f);
    assert_int_equal(q.squares, SQUARES);
    return q;
}

static double same(uint32_t x, uint32_t y) { return (void)x, (void)y, 1; }
/* Less than is allowed, and more. */
static double a_little(uint32_t x, uint32_t y) { return (void)x, (void)y, 1 + 0x1p-11; }
static double too_much(uint32_t x, uint32_t y) { return (void)x, (void)y, 1 + 0x1p-8; }
/* Right on the whole, but a tenth off at each pixel, to either side by a coin. */
static double noise(uint32_t x, uint32_t y)
{
    const uint32_t counter[4] = {x, y, 0, 0}, key[2] = {1, 2};
    uint32_t w[4];
    philox4x32(counter, key, w);
    return w[0] & 1 ? 1.1 : 0.9;
}
/* Wrong in a quarter of the picture. */
static double corner(uint32_t x, uint32_t y) { return x < 256 && y < 256 ? 1.02 : 1; }

static void few_squares_decide(void **state)
{
    struct square_judgement q = judged(*state, same);
    assert_int_equal(q.looked, 144);
    assert_int_equal(q.looks, 1);
    assert_true(q.p.z.p >= q.level && q.level == LEVEL / 2);
    q = judged(*state, a_little);
    assert_int_equal(q.looked, 144);
    assert_true(q.p.z.p >= q.level);
}

static void noise_takes_more(void **state)
{
    struct square_judgement q = judged(*state, noise);
    assert_int_equal(q.looked, SQUARES);
    assert_int_equal(q.looks, 2);
    assert_true(q.level == LEVEL / 2); /* what the first look left */
    assert_true(q.p.z.p >= q.level);
}

static void what_is_wrong_is_found(void **state)
{
    struct square_judgement q = judged(*state, too_much);
    assert_true(q.p.z.p < q.level);
    assert_int_equal(q.looks, 1);
    q = judged(*state, corner);
    assert_true(q.p.z.p < q.level);
    if (q.p.z.size) /* a place is one of the picture */
        assert_true(q.p.z.x < 256 && q.p.z.y < 256);
}

/* Which squares are looked at is the job's: another has others, and each its own in the store. */
static void squares_are_kept(void **state)
{
    struct bed *b = *state;
    struct square_judgement q;
    struct error err = {0};
    struct render_job other = b->job;
    struct film none;
    /* from the store: native is not asked, which has no such scene loaded now */
    q = judged(b, same);
    assert_true(q.p.z.p >= q.level);
    /* the same film is not that of another seed */
    other.seed++;
    if (judge_squares(b->scene, &other, &b->film, SYSTEMATIC, LEVEL, &q, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_true(q.p.mse > 0);
    /* a part of the picture is judged as that part */
    other = b->job;
    other.crop[0] = 100, other.crop[1] = 60, other.crop[2] = 70, other.crop[3] = 40;
    assert_int_equal(film_init(&none, 70, 40, b->film.exponent, &err), STATUS_OK);
    for (size_t y = 0; y < 40; y++)
        memcpy(none.sums + 4 * 70 * y, b->film.sums + 4 * (WIDTH * (60 + y) + 100),
               sizeof *none.sums * 4 * 70);
    if (judge_squares(b->scene, &other, &none, SYSTEMATIC, LEVEL, &q, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    assert_true(q.p.mse == 0);
    assert_int_equal(q.looked, 6);
    film_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_squares_decide),
        cmocka_unit_test(noise_takes_more),
        cmocka_unit_test(what_is_wrong_is_found),
        cmocka_unit_test(squares_are_kept),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
