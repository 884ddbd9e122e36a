/* SPDX-License-Identifier: Apache-2.0 */
/* Which media are about the camera, the largest first (protocol section 27): in the world and in
 * instances, of which only those count that stand there. */
#include "layout/layout.h"
#include "tests/test_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define INTERFACE(density)                                                                         \
    "{\"type\": \"interface\", \"medium\": {\"density\": " density ", \"albedo\": 0.5}}"
#define BOX(material, half)                                                                        \
    "{\"type\": \"box\", \"material\": \"" material "\", \"min\": [-" half ", -" half ", -" half   \
    "], \"max\": [" half ", " half ", " half "]}"
#define PLACED(group, x)                                                                           \
    "{\"type\": \"instance\", \"group\": \"" group "\", \"transform\": [{\"translate\": [" x       \
    ", 0, 0]}]}"

enum { HAZE = 1, MIST = 2, MURK = 3 }; /* numbers of media, in the order of their materials */

static const char materials[] = "\"haze\": " INTERFACE("0.1") ", \"mist\": " INTERFACE("0.2");
static const char more_materials[] =
    "\"murk\": " INTERFACE("0.3") ", \"wall\": {\"type\": \"diffuse\"}";
static const char hazy[] = BOX("haze", "1"), misty[] = BOX("mist", "2"), solid[] = BOX("wall", "4");

/* The camera stands in the middle. */
static uint32_t media_about(const char *objects)
{
    static const char form[] =
        "{\"isophote\": 1, \"environment\": {\"radiance\": 1}, \"instancing\": \"two-level\", "
        "\"camera\": {\"origin\": [0, 0, 0], \"target\": [0, 0, -1], \"fov\": 30}, "
        "\"materials\": {%s, %s}, \"objects\": [%s], "
        "\"groups\": {\"hazy\": [%s], \"misty\": [%s], \"solid\": [%s]}}";
    char text[4096];
    struct error err = {0};
    struct layout l;
    (void)snprintf(text, sizeof text, form, materials, more_materials, objects, hazy, misty, solid);
    struct scene *s = scene_from_text(text);
    must(layout_build(s, BVH_BINARY, SHADE_AREAS, false, &l, &err), &err);
    const uint32_t list = l.launch.camera_media;
    layout_free(&l);
    scene_free(s);
    return list;
}

static void media_of_the_world(void **state)
{
    (void)state;
    assert_int_equal(media_about(BOX("wall", "1")), 0);
    assert_int_equal(media_about(BOX("mist", "1")), MIST);
    /* innermost in the lowest byte, whatever their order in the scene */
    assert_int_equal(media_about(BOX("mist", "1") "," BOX("murk", "3")), MURK << 8 | MIST);
    assert_int_equal(media_about(BOX("murk", "3") "," BOX("mist", "1")), MURK << 8 | MIST);
    assert_int_equal(media_about(BOX("mist", "3") "," BOX("murk", "1")), MIST << 8 | MURK);
}

static void media_of_instances(void **state)
{
    (void)state;
    assert_int_equal(media_about(PLACED("hazy", "0")), HAZE);
    assert_int_equal(media_about(PLACED("hazy", "9")), 0);
    assert_int_equal(media_about(PLACED("solid", "0")), 0);
    /* of two groups, each by its own instances */
    assert_int_equal(media_about(PLACED("hazy", "0") "," PLACED("misty", "9")), HAZE);
    assert_int_equal(media_about(PLACED("hazy", "9") "," PLACED("misty", "0")), MIST);
    assert_int_equal(media_about(PLACED("hazy", "9") "," PLACED("misty", "-9")), 0);
    assert_int_equal(media_about(PLACED("hazy", "0") "," PLACED("misty", "0")), MIST << 8 | HAZE);
    /* of one group, one that is there among others */
    assert_int_equal(
        media_about(PLACED("hazy", "9") "," PLACED("hazy", "0.5") "," PLACED("hazy", "-9")), HAZE);
    /* and beside the world's */
    assert_int_equal(media_about(BOX("murk", "3") "," PLACED("hazy", "0")), MURK << 8 | HAZE);
    assert_int_equal(media_about(BOX("murk", "0.5") "," PLACED("hazy", "0")), HAZE << 8 | MURK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(media_of_the_world),
        cmocka_unit_test(media_of_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
