/* SPDX-License-Identifier: Apache-2.0 */
/* What random scenes have found, each as the small scene that showed it. */
#include "cases/scene_trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void judge(const char *scene, struct scene_found *f)
{
    struct scene_trial t = {.device_id = "native", .path = "found.json"};
    struct error err = {0};
    *f = (struct scene_found){0};
    if (device_open("native", &t.device, &err) != STATUS_OK ||
        scene_trial_run(&t, scene, strlen(scene), f, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    device_close(t.device);
}

static void holds(const char *scene)
{
    struct scene_found f;
    judge(scene, &f);
    if (f.found)
        fail_msg("%s: %s", f.kind, f.text);
    assert_true(f.compared > 1000 && f.relations >= 2);
}

/* Facets wider than 1 are clamped to 1, but their frame is the tangent's as if they were not: the
 * reference asked after the clamp whether they differ (protocol, section 20). */
static void tangents_of_wide_facets(void **state)
{
    (void)state;
    holds("{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 0], \"target\": [0, 0, 1]},"
          "\"materials\": {\"m\": {\"type\": \"shader\", \"source\": \"surface m() { Ci = "
          "conductor_bsdf(N, normalize(dPdu + N), 1.007, 1.011, color(0.2, 0.9, 1.4), "
          "color(3.9, 2.4, 2.2), \\\"beckmann\\\"); }\"}},"
          "\"objects\": [{\"type\": \"sphere\", \"material\": \"m\"}]}");
}

/* Where rounding leaves the side of a light sample open, the direction does not tell it: samples of
 * the surroundings point to either. The judge took the wrong one. */
static void sides_of_light_samples(void **state)
{
    (void)state;
    holds(
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 1, 0], \"target\": [0, 0, 1]},"
        "\"materials\": {\"m\": {\"type\": \"shader\", \"source\": \"surface m(output float t = 0, "
        "output float i = 0) { t = 0.9146; i = 1 + acos(clamp(N[1], -1, 1)) * 0.3; }\","
        "\"base\": {\"type\": \"principled\"}, \"drive\": {\"transmission\": \"t\", \"ior\": "
        "\"i\"}}}, \"objects\": [{\"type\": \"rectangle\", \"material\": \"m\", \"transform\": "
        "[{\"rotate\": {\"axis\": [1, 0, 0], \"angle\": -90}}]}],"
        "\"environment\": {\"radiance\": 1}}");
}

/* A lamp as thin as a wire, seen edge-on: float32 meets it further off than the 10^-4 of its length by
 * which a shadow ray ends before it. The judge took that for something in between. */
static void thin_lamps(void **state)
{
    (void)state;
    holds("{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, -0.7000000000000001], \"target\": [0, "
          "0, 0]}, \"materials\": {\"m1\": {\"type\": \"diffuse\", \"emission\": 1}, \"m5\": {\"typ"
          "e\": \"shader\", \"source\": \"surface m5(color tint = 0.8, float amount = 0.5, int turn"
          "s = 2) { color c = tint; float seen = 1; color found = 0; if (getattribute(\\\"nothing"
          "\\\", found)) c = found; for (int i = 0; i < turns; i++) seen *= 0.9; c *= seen; Ci = (u"
          " < amount ? phong(normalize(calculatenormal(P + 0.02 * sin(u * 30) * N)), 3) : principle"
          "d(faceforward(Ng, I), (mod(floor(P[0] * 2) + floor(P[2] * 2), 2) * color(0.9472, 1, 0.80"
          "7)), (pow(u, 2.2)), (exp(-4 * v * v)))); }\"}}, \"objects\": [{\"type\": \"rectangle\", "
          "\"material\": \"m1\", \"transform\": [{\"scale\": [0.0001, 1, 1]}, {\"translate\": [0, 0"
          ", 1]}]}, {\"type\": \"rectangle\", \"material\": \"m5\", \"transform\": [{\"translate\":"
          " [0, 0, 1.031]}]}]}");
}

/* What the reader refuses is found, and by its reason. */
static void refusals(void **state)
{
    (void)state;
    struct scene_found f;
    judge("{\"isophote\": 1, \"objects\": []}", &f);
    assert_true(f.found && strncmp(f.kind, "read: ", 6) == 0 && strstr(f.text, "camera"));
}

/* A file of a package that is not here is to be fetched: nothing is found. */
static void what_is_to_be_fetched(void **state)
{
    (void)state;
    static const char scene[] =
        "{\"isophote\": 1, \"camera\": {\"origin\": [0, 0, 0], \"target\": [0, 0, 1]}, "
        "\"environment\": {\"file\": \"data:no-such-package/a.exr\"}, \"objects\": []}";
    const struct scene_trial t = {.device_id = "native", .path = "found.json"};
    struct scene_found f;
    struct error err = {0};
    assert_int_equal(scene_trial_relations(&t, scene, strlen(scene), &f, &err), STATUS_MISSING);
    assert_false(f.found);
    assert_non_null(strstr(err.msg, "no-such-package"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tangents_of_wide_facets),
                                       cmocka_unit_test(sides_of_light_samples),
                                       cmocka_unit_test(thin_lamps), cmocka_unit_test(refusals),
                                       cmocka_unit_test(what_is_to_be_fetched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
