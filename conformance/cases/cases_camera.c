/* SPDX-License-Identifier: Apache-2.0 */
/* image.camera.TYPE: each type of camera with each filter, aperture and the clamp, in scenes made
 * here: strict bits are native's, and every sample is in step with the reference. */
#include "answers.h"
#include "cases_image.h"
#include "steps/offers.h"

#include <string.h>

enum { WIDTH = 48, SPP = 2 };

/* A room of balls at several distances with small lamps; the clamp cuts the lamps. The screen is
 * not there for what comes from behind it, as the camera's rays do; it shadows the balls. */
static const char room[] =
    "\"render\": {\"max_depth\": 3, \"clamp\": 3, \"mis\": \"balance\"}, \"materials\": {"
    "\"screen\": {\"type\": \"diffuse\", \"reflectance\": 0.4, \"sides\": \"single\"},"
    "\"floor\": {\"type\": \"diffuse\", \"reflectance\": [0.5, 0.6, 0.7]},"
    "\"ball\": {\"type\": \"diffuse\", \"reflectance\": [0.8, 0.3, 0.1]},"
    "\"lamp\": {\"type\": \"diffuse\", \"reflectance\": 0, \"emission\": [20, 16, 9]}},"
    "\"objects\": [{\"type\": \"rectangle\", \"material\": \"floor\", \"transform\": [{\"scale\": "
    "9}, {\"rotate\": {\"axis\": [1, 0, 0], \"angle\": -90}}, {\"translate\": [0, -1, 0]}]},"
    "{\"type\": \"rectangle\", \"material\": \"screen\", \"transform\": [{\"rotate\": {\"axis\": "
    "[0, 1, 0], "
    "\"angle\": 180}}, {\"translate\": [1, 1.2, 2]}]},"
    "{\"type\": \"sphere\", \"material\": \"ball\", \"center\": [0, 0, 0]},"
    "{\"type\": \"sphere\", \"material\": \"ball\", \"center\": [2, -0.2, -3]},"
    "{\"type\": \"sphere\", \"material\": \"lamp\", \"center\": [-2, 1, -4], \"radius\": 0.2},"
    "{\"type\": \"sphere\", \"material\": \"lamp\", \"center\": [3, 3, 3], \"radius\": 0.5}],"
    "\"environment\": {\"radiance\": [0.1, 0.12, 0.2]}}";

static const char *const filters[] = {"", "{\"type\": \"box\", \"radius\": 1.25}",
                                      "{\"type\": \"tent\"}", "{\"type\": \"gaussian\"}",
                                      "{\"type\": \"blackman-harris\", \"radius\": 2}"};

/* Keys of the camera besides its place. */
struct camera_kind {
    const char *name, *lenses[5];
};
#define LENS "\"lens_radius\": 0.3, \"focus_distance\": 4, "
static const struct camera_kind kinds[] = {
    {"perspective",
     {"", LENS, LENS "\"blades\": 3, ", LENS "\"blades\": 7, \"blade_rotation\": 20, ",
      LENS "\"anamorphic\": 1.8, "}},
    {"orthographic",
     {"\"height\": 5, ", "\"height\": 5, " LENS "\"blades\": 5, \"anamorphic\": 0.5, ",
      "\"height\": 6, \"fov_axis\": \"x\", "}},
    {"equirectangular", {""}},
};

static enum status camera_scene(struct run_context *c, const struct camera_kind *kind,
                                const char *lens, const char *filter, struct error *err)
{
    struct text t = {0};
    text_printf(&t,
                "{\"isophote\": 1, \"film\": {\"width\": 64, \"height\": 48%s%s}, \"camera\": "
                "{\"type\": \"%s\", %s\"origin\": [0.3, 1, 5], \"target\": [0, 0, 0]}, %s",
                *filter ? ", \"filter\": " : "", filter, kind->name, lens, room);
    scene_free(c->scene);
    c->scene = NULL;
    enum status s =
        t.failed ? error_msg(err, STATUS_MEMORY, "out of memory for a scene")
                 : scene_load_memory("camera of the case.json", t.data, t.len, &c->scene, err);
    text_free(&t);
    return s;
}

/* What is done with one scene; *failed when the case has its verdict. */
typedef enum status (*camera_work)(struct run_context *c, const char *what, bool *failed,
                                   struct error *err);

static enum status camera_ready(struct run_context *c, struct render_job *job, struct error *err)
{
    enum status s = case_ready(c, MODE_STRICT, BVH_AUTO, err);
    if (s == STATUS_OK)
        judge_job(c->scene, WIDTH, SPP, MODE_STRICT, job);
    return s;
}

static enum status camera_note(struct run_context *c, const char *what, bool *failed,
                               struct error *err)
{
    struct render_job job;
    struct film film;
    char hash[33];
    (void)failed;
    TRY(camera_ready(c, &job, err));
    TRY(judge_render(c->device, c->scene, &job, &film, err));
    film_hash(&film, hash);
    film_free(&film);
    answer_note(c, what, strlen(what), hash, sizeof hash);
    return answer_note_records(c, &job, err);
}

static enum status camera_check(struct run_context *c, const char *what, bool *failed,
                                struct error *err)
{
    struct render_job job;
    const struct film *native;
    struct film film;
    struct bit_difference b;
    struct divergence d;
    enum status s = camera_ready(c, &job, err);
    if (s != STATUS_OK)
        return s;
    if ((s = judge_native(c->scene, &job, &native, err)) != STATUS_OK ||
        (s = judge_render(c->device, c->scene, &job, &film, err)) != STATUS_OK)
        return s;
    bool differ = judge_bits(&film, native, &b);
    film_free(&film);
    s = differ ? judge_cause(c->device, c->scene, &job, b.x, b.y, &d, err)
               : conform_lockstep(c->device, c->scene, &job, UINT64_MAX, &d, err);
    if (s != STATUS_OK)
        return s;
    c->compared += d.compared;
    *failed = differ || d.divergent;
    if (*failed)
        case_divergence(c, &job, &d);
    if (differ)
        return case_fail(
            c, "%s: %zu pixels differ from native's; first (%u,%u): %.9g, native %.9g; %s", what,
            b.pixels, b.x, b.y, b.a, b.b, d.text);
    return d.divergent ? case_fail(c, "%s: %s", what, d.text) : STATUS_OK;
}

static enum status each_camera(struct run_context *c, const struct camera_kind *kind,
                               camera_work work, size_t *tried, bool *ended, struct error *err)
{
    for (size_t i = 0; i < 5 && kind->lenses[i]; i++)
        for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
            char what[256];
            snprintf(what, sizeof what, "camera {%s} filter %s", kind->lenses[i],
                     *filters[f] ? filters[f] : "none");
            enum status s = camera_scene(c, kind, kind->lenses[i], filters[f], err);
            if (s == STATUS_OK)
                s = work(c, what, ended, err);
            if (s != STATUS_OK || *ended)
                return s;
            ++*tried;
        }
    return STATUS_OK;
}

enum status image_camera(struct run_context *c, struct error *err)
{
    const char *name = strrchr(c->name, '.') + 1;
    const struct camera_kind *kind = kinds;
    while (strcmp(kind->name, name) != 0)
        kind++;
    size_t noted = 0, tried = 0;
    bool failed = false;
    TRY(each_camera(c, kind, camera_note, &noted, &failed, err));
    if (answer_given(c, noted * WIDTH * WIDTH * 3 / 4 * SPP))
        return STATUS_OK;
    TRY(each_camera(c, kind, camera_check, &tried, &failed, err));
    if (failed)
        return STATUS_OK;
    return case_pass(c, "%zu cameras: strict bits are native's, all samples in step", tried);
}
