/* SPDX-License-Identifier: Apache-2.0 */
/* The canary: a small picture whose bits are known. It is no case of a list; the runner asks it of a
 * device before, between and after the cases (runner/canary.h). */
#include "case.h"
#include "steps/offers.h"

#include <string.h>

enum { CANARY_SIDE = 16, CANARY_SPP = 4 };
/* The film of this scene of the library in strict mode, on every device:
 *     isophote render cornell --width 16 --height 16 --spp 4 */
static const char canary_scene[] = "cornell";
static const char canary_film[] = "736e932e4bde834bd4f746ae55b059c3";

static enum status canary(struct run_context *c, struct error *err)
{
    struct film film = {0};
    char hex[33];
    enum math_mode mode = MODE_STRICT;
    TRY(case_library_scene(c, canary_scene, err));
    enum status s = case_ready(c, mode, BVH_AUTO, err);
    if (s == STATUS_UNSUPPORTED && c->device) {
        mode = MODE_DEVICE; /* whose bits are the device's own, and may not change */
        s = case_ready(c, mode, BVH_AUTO, err);
    }
    if (s != STATUS_OK)
        return s;
    struct render_job job;
    judge_job(c->scene, CANARY_SIDE, CANARY_SPP, mode, &job);
    job.width = job.height = CANARY_SIDE;
    TRY(judge_render(c->device, c->scene, &job, &film, err));
    c->compared += (uint64_t)job.width * job.height;
    film_hash(&film, hex);
    film_free(&film);
    if (mode == MODE_DEVICE)
        return case_pass(c, "film %s, in device mode", hex);
    return strcmp(hex, canary_film) == 0
               ? case_pass(c, "film %s", hex)
               : case_fail(c, "film %s, which should be %s", hex, canary_film);
}

const struct case_row canary_case = {"canary", "a small picture whose bits are known", canary};
