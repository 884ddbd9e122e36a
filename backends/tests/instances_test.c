/* SPDX-License-Identifier: Apache-2.0 */
/* More than 10^9 triangles in less than 1 GiB: scenes/large/blobs.json, whose thousand blobs are
 * one blob's triangles, stored once. Host memory here is the device's too. */
#include "test_scenes.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { IN = 8, OUT = 5 };

static uint32_t bits_of(double x)
{
    float f = (float)x;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static void a_thousand_blobs(void **state)
{
    (void)state;
    struct error err = {0};
    struct scene *s = NULL;
    must(scene_load(SOURCE_DIR "/scenes/large/blobs.json", &s, &err), &err);
    assert_int_equal(s->prototype_count, 1);
    assert_int_equal(s->instance_count, 1000);
    assert_true(scene_effective_triangles(s) > 1000000000);
    struct device *d = device_ready("native", s, BVH_WIDE8, MODE_STRICT);

    /* A blob's surface is between 0.48 and 0.63 from its middle (scenes/generate/blob.c). From 0.65
     * off it along a diagonal, where the next one is far, a ray to the middle meets this one. */
    uint32_t(*rows)[IN] = calloc(s->instance_count, sizeof *rows);
    uint32_t(*out)[OUT] = calloc(s->instance_count, sizeof *out);
    static const double diagonal = 0.57735026918962576, off = 0.65;
    for (size_t i = 0; i < s->instance_count; i++) {
        for (size_t c = 0; c < 3; c++) {
            double sign = i >> c & 1 ? -1 : 1;
            rows[i][c] = bits_of((double)s->instances[i].to_world[c][3] + sign * off * diagonal);
            rows[i][3 + c] = bits_of(-sign * diagonal);
        }
        rows[i][6] = 0x7F800000U;
    }
    must(device_probe(d, PROBE_HIT, rows[0], s->instance_count, out[0], &err), &err);
    for (size_t i = 0; i < s->instance_count; i++) {
        float t;
        memcpy(&t, &out[i][1], 4);
        assert_ptr_equal(scene_instance_of(s, out[i][0]), &s->instances[i]);
        assert_true((double)t > off - 0.63 && (double)t < off - 0.47);
        assert_int_equal(out[i][4], 1);
    }
    uint64_t peak = memory_peak();
    print_message("%zu triangles, peak %llu MiB\n", scene_effective_triangles(s),
                  (unsigned long long)(peak >> 20));
    assert_true(peak > 0);
#ifndef __SANITIZE_ADDRESS__ /* whose shadow and quarantine are most of LLVM's memory in here */
    assert_true(peak < (uint64_t)1 << 30);
#endif
    device_close(d);
    scene_free(s);
    free(rows);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_blobs),
    };
    return cmocka_run_group_tests_name("instances", tests, NULL, NULL);
}
