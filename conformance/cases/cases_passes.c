/* SPDX-License-Identifier: Apache-2.0 */
/* image.passes: what k_passes writes, in strict mode: its beauty has the film's bits, its direct
 * light those of a film of paths of two edges, a few passes alone are those of all, everything is
 * native's to the bit; and native's is the reference's but where a decision fell otherwise. */
#include "cases_image.h"
#include "steps/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const scenes[] = {"cornell", "textured", "glass"},
                         dense[] = "../dense/occlusion";
enum { SCENES = sizeof scenes / sizeof *scenes, WIDTH = 41, SPP = 3 };

/* Of the pixels of a pass this share may be farther from the reference than rounding takes them: a
 * sample whose ray, light or lobe falls otherwise is another sample. Lockstep shows that those are
 * benign; here they are few. */
static const double FLIP_SHARE = 0.01;

static size_t pass_floats(const struct passes *p, int pass)
{
    return (size_t)p->width * p->height * pass_infos[pass].channels;
}

/* The first value whose bits differ, as text, and its place; false if none does. */
static bool passes_differ(const struct passes *a, const struct passes *b, char *text, size_t size,
                          uint32_t place[2])
{
    for (int pass = 0; pass < PASS_COUNT; pass++) {
        const float *x = a->values[pass], *y = b->values[pass];
        for (size_t i = 0; x && y && i < pass_floats(a, pass); i++) {
            size_t pixel = i / pass_infos[pass].channels;
            if (memcmp(&x[i], &y[i], sizeof *x) == 0)
                continue;
            place[0] = (uint32_t)(pixel % a->width), place[1] = (uint32_t)(pixel / a->width);
            snprintf(text, size, "pass %s at (%zu,%zu): %.9g and %.9g", pass_infos[pass].name,
                     pixel % a->width, pixel / a->width, (double)x[i], (double)y[i]);
            return true;
        }
    }
    return false;
}

/* A film as the beauty, or the direct light, of passes. */
static enum status film_pass(const struct film *film, enum pass pass, struct passes *out,
                             struct error *err)
{
    enum status s = passes_init(out, film->width, film->height, 1u << pass, err);
    if (s == STATUS_OK)
        film_rgb(film, out->values[pass]);
    return s;
}

static enum status check_film(struct run_context *c, const struct render_job *job,
                              const struct passes *p, enum pass pass, bool *failed,
                              struct error *err)
{
    struct film film = {0};
    struct passes expected = {0};
    char text[256];
    uint32_t place[2];
    enum status s = judge_render(c->device, c->scene, job, &film, err);
    if (s == STATUS_OK)
        s = film_pass(&film, pass, &expected, err);
    if (s == STATUS_OK && passes_differ(p, &expected, text, sizeof text, place)) {
        *failed = true;
        s = case_fail(c, "%s: %s; the second is the film's of %u edges", c->scene->name, text,
                      job->max_depth);
    }
    passes_free(&expected);
    film_free(&film);
    return s;
}

static enum status native_passes(const struct scene *scene, const struct render_job *job,
                                 struct passes *out, struct error *err)
{
    struct device *d = NULL;
    enum status s = device_open("native", &d, err);
    if (s == STATUS_OK)
        s = device_load(d, scene, BVH_AUTO, NULL, err);
    if (s == STATUS_OK)
        s = device_build(d, &(struct build_settings){.mode = MODE_STRICT}, NULL, err);
    if (s == STATUS_OK)
        s = device_passes(d, job, PASSES_ALL, out, err);
    device_close(d);
    return s;
}

/* Other passes than native's: where the paths are native's, the passes alone are to blame. */
static enum status passes_blame(struct run_context *c, const struct render_job *job,
                                const char *what, const uint32_t place[2], struct error *err)
{
    struct divergence d;
    TRY(judge_cause(c->device, c->scene, job, place[0], place[1], &d, err));
    if (strcmp(d.stage, "film") == 0)
        divergence_blame(&d, "passes");
    c->compared += d.compared;
    case_divergence(c, job, &d);
    return case_fail(c, "%s: %s; the second is native's; %s", c->scene->name, what, d.text);
}

/* How many pixels of a pass are not the reference's within 2^-12 of its largest value. */
static size_t pixels_apart(const struct passes *a, const struct passes *b, int pass)
{
    const unsigned channels = pass_infos[pass].channels;
    const float *x = a->values[pass], *y = b->values[pass];
    size_t count = 0;
    double largest = 0;
    for (size_t i = 0; i < pass_floats(a, pass); i++)
        largest = fmax(largest, fabs((double)y[i]));
    for (size_t i = 0; i < (size_t)a->width * a->height; i++) {
        bool apart = false;
        for (unsigned k = 0; k < channels; k++)
            apart |= !(fabs((double)x[channels * i + k] - (double)y[channels * i + k]) <=
                       0x1p-12 * largest);
        count += apart;
    }
    return count;
}

/* A device that is asked for some passes alone leaves out the others' work: paths, and the rays of
 * occlusion. What it gives is the same. */
static enum status check_some(struct run_context *c, const struct render_job *job,
                              const struct passes *all, bool *failed, struct error *err)
{
    static const unsigned some[] = {1u << PASS_ALBEDO | 1u << PASS_NORMAL | 1u << PASS_DEPTH,
                                    1u << PASS_AO, 1u << PASS_DIRECT | 1u << PASS_UV};
    for (size_t i = 0; i < sizeof some / sizeof *some && !*failed; i++) {
        struct passes p = {0};
        char text[256];
        uint32_t place[2];
        enum status s = device_passes(c->device, job, some[i], &p, err);
        if (s == STATUS_OK && passes_differ(&p, all, text, sizeof text, place)) {
            *failed = true;
            s = case_fail(c, "%s: %s; the second is of all passes together", c->scene->name, text);
        }
        passes_free(&p);
        if (s != STATUS_OK)
            return s;
    }
    return STATUS_OK;
}

static enum status check_reference(struct run_context *c, const struct render_job *job,
                                   const struct passes *p, bool *failed, struct error *err)
{
    struct reference_job rj = reference_job_of(job);
    rj.passes = PASSES_ALL;
    struct reference_picture picture = {0};
    struct passes expected = {0};
    enum status s = case_reference(c, err);
    if (s == STATUS_OK)
        s = reference_render(c->reference, &rj, &picture, err);
    if (s == STATUS_OK)
        s = reference_passes(c->reference, &picture, PASSES_ALL, &expected, err);
    for (int pass = 0; s == STATUS_OK && !*failed && pass < PASS_COUNT; pass++) {
        if (!p->values[pass])
            continue;
        size_t apart = pixels_apart(p, &expected, pass);
        c->compared += (uint64_t)p->width * p->height;
        if ((double)apart > FLIP_SHARE * p->width * p->height) {
            *failed = true;
            s = case_fail(c, "%s: %zu of %u pixels of pass %s are not the reference's",
                          c->scene->name, apart, p->width * p->height, pass_infos[pass].name);
        }
    }
    passes_free(&expected);
    reference_picture_free(&picture);
    return s;
}

static enum status check_scene(struct run_context *c, const char *name, bool *failed,
                               struct error *err)
{
    struct render_job job, shallow;
    struct passes own = {0}, native = {0};
    uint32_t place[2];
    char text[256];
    enum status s = case_library_scene(c, name, err);
    if (s != STATUS_OK || (s = case_ready(c, MODE_STRICT, BVH_AUTO, err)) != STATUS_OK)
        return s;
    judge_job(c->scene, WIDTH, SPP, MODE_STRICT, &job);
    job.seed ^= UINT64_C(0x5eed00000007); /* scenes have 0: both words are read */
    shallow = job;
    shallow.max_depth = 2;
    case_compiling(c, true);
    s = device_passes(c->device, &job, PASSES_ALL, &own, err);
    if (s == STATUS_OK)
        s = native_passes(c->scene, &job, &native, err);
    case_compiling(c, false);
    if (s == STATUS_OK && passes_differ(&own, &native, text, sizeof text, place)) {
        *failed = true;
        s = passes_blame(c, &job, text, place, err);
    }
    if (s == STATUS_OK && !*failed)
        s = check_film(c, &job, &own, PASS_BEAUTY, failed, err);
    if (s == STATUS_OK && !*failed)
        s = check_film(c, &shallow, &own, PASS_DIRECT, failed, err);
    if (s == STATUS_OK && !*failed)
        s = check_some(c, &job, &own, failed, err);
    if (s == STATUS_OK && !*failed)
        s = check_reference(c, &job, &own, failed, err);
    passes_free(&own);
    passes_free(&native);
    return s;
}

enum status image_passes(struct run_context *c, struct error *err)
{
    const bool is_dense = strcmp(c->name, "image.passes.dense") == 0;
    const size_t count = is_dense ? 1 : SCENES;
    for (size_t i = 0; i < count; i++) {
        bool failed = false;
        enum status s = check_scene(c, is_dense ? dense : scenes[i], &failed, err);
        if (s != STATUS_OK || failed)
            return s;
    }
    return case_pass(c, "%zu scene%s: the film's bits, native's bits, the reference's values",
                     count, count == 1 ? "" : "s");
}
