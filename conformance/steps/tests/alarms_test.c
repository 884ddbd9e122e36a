/* SPDX-License-Identifier: Apache-2.0 */
/* How often an honest device is called wrong: native in modes device and fast against the reference,
 * a small picture for each seed.
 *
 *     alarms_test [RUNS [DEVICE]]
 */
#include "steps/offers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 16, SPP = 2, LEVELS = 3 };

static unsigned runs = 40;
static const char *device_id = "native";

/* Of `runs` honest runs, as many may have p below each of these as a binomial has with probability
 * 1 - 10^-6 at most; beside it, an error of twice what a run says that it notices is noticed by it. */
static const double levels[LEVELS] = {0.1, 0.01, JUDGE_LEVEL};

/* The least k with P(more than k of n) < 10^-6. */
static unsigned most_of(unsigned n, double p)
{
    double term = pow(1 - p, n), rest = 1 - term;
    unsigned k = 0;
    for (; rest >= 1e-6; k++) {
        term *= (n - k) * p / ((k + 1) * (1 - p));
        rest -= term;
    }
    return k;
}

struct bed {
    struct scene *scene;
    struct device *device;
    struct render_job job;
    double systematic;
};

static void open_bed(struct bed *b, const char *scene, enum math_mode mode)
{
    struct error err = {0};
    if (scene_load(scene, &b->scene, &err) != STATUS_OK ||
        device_open(device_id, &b->device, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    judge_without_clamp(b->scene, mode);
    judge_job(b->scene, SIDE, SPP, mode, &b->job);
    b->job.height = SIDE;
    b->systematic = mode == MODE_FAST ? JUDGE_SYSTEMATIC_FAST : JUDGE_SYSTEMATIC_DEVICE;
    if (device_load(b->device, b->scene, BVH_AUTO, NULL, &err) != STATUS_OK ||
        device_build(b->device, &b->job.set.build, NULL, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
}

/* p of one seed's picture. It is asked, too, whether what is said to be noticed is. */
static double run_of(struct bed *b, uint64_t seed)
{
    struct error err = {0};
    struct film film = {0};
    struct pair_judgement p = {0};
    b->job.seed = seed;
    if (judge_render(b->device, b->scene, &b->job, &film, &err) != STATUS_OK ||
        judge_pair(b->scene, &b->job, &film, b->systematic, &p, &err) != STATUS_OK ||
        pair_judgement_power(&b->job, b->systematic, JUDGE_LEVEL, &p, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    const double honest = p.z.p;
    if (p.image && p.power.radiance <= 0.5) {
        struct metric_z z;
        for (size_t i = 0; i < (size_t)3 * SIDE * SIDE; i++)
            p.image[i] *= 1 + p.power.radiance;
        const struct metric_estimate a = {p.image, NULL, SPP}, r = {p.truth.beauty, NULL, SPP};
        assert_int_equal(metric_z(SIDE, SIDE, &a, &r, b->systematic, &z, &err), STATUS_OK);
        assert_true(z.p < JUDGE_LEVEL * (1 + 1e-6));
    }
    film_free(&film);
    pair_judgement_free(&p);
    return honest;
}

static void honest_devices_pass(void **state)
{
    static const char *const scenes[] = {SOURCE_DIR "/scenes/library/cornell.json",
                                         SOURCE_DIR "/scenes/library/rough-glass.json"};
    (void)state;
    for (int fast = 0; fast < 2; fast++) {
        unsigned below[LEVELS] = {0};
        double least = 1;
        for (size_t s = 0; s < 2; s++) {
            struct bed b = {0};
            open_bed(&b, scenes[s], fast ? MODE_FAST : MODE_DEVICE);
            for (unsigned i = 0; i < runs / 2; i++) {
                const double p = run_of(&b, UINT64_C(0x616c61726d) + i);
                least = fmin(least, p);
                for (size_t k = 0; k < LEVELS; k++)
                    below[k] += p < levels[k];
            }
            device_close(b.device);
            scene_free(b.scene);
        }
        print_message("mode %s, %u runs: %u below 0.1, %u below 0.01, %u below %g; least p %.2g\n",
                      fast ? "fast" : "device", runs / 2 * 2, below[0], below[1], below[2],
                      JUDGE_LEVEL, least);
        for (size_t k = 0; k < LEVELS; k++)
            assert_true(below[k] <= most_of(runs / 2 * 2, levels[k]));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(honest_devices_pass)};
    if (argc > 1)
        runs = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        device_id = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
