/* SPDX-License-Identifier: Apache-2.0 */
/* Level image: whole pictures of a scene. */
#include "cases_image.h"
#include "answers.h"
#include "case.h"
#include "steps/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- strict --------------------------------------------------------------------------------- */

void case_divergence(struct run_context *c, const struct render_job *job,
                     const struct divergence *d)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_integer(&w, "samples", (int64_t)d->compared);
    json_key_integer(&w, "stepped", (int64_t)d->stepped);
    json_key_integer(&w, "benign", (int64_t)d->benign);
    json_key_integer(&w, "flips", (int64_t)d->flips);
    json_key_integer(&w, "divergent", (int64_t)d->divergent);
    json_key_number(&w, "worst_error_over_bound", d->worst);
    json_key(&w, "notices_samples");
    json_begin_object(&w);
    json_key_number(&w, "level", JUDGE_LEVEL);
    json_key_number(&w, "off", d->notices_off);
    json_key_number(&w, "share", d->notices_share);
    json_end_object(&w);
    if (d->stage[0]) {
        json_key(&w, "first");
        json_begin_object(&w);
        json_key_integer(&w, "x", d->x);
        json_key_integer(&w, "y", d->y);
        json_key_integer(&w, "sample", d->sample);
        json_key_integer(&w, "vertex", d->vertex);
        json_key_string(&w, "stage", d->stage);
        json_key_string(&w, "field", d->field);
        json_key_string(&w, "function", d->function);
        json_key_number(&w, "reference", d->reference_value);
        json_key_number(&w, "device", d->device_value);
        json_key_number(&w, "margin", d->margin);
        json_end_object(&w);
    }
    json_end_object(&w);
    case_detail(c, &w);
    if (d->stage[0])
        c->result->replay =
            conform_replay_command(c->arena, c->scene->path, device_row_owner(c->device, d->y), job,
                                   d->x, d->y, d->sample);
}

/* Scenes mostly leave the roulette out and the seed at 0; jobs that compare the same random numbers
 * on both sides take both along. */
static void with_roulette(struct render_job *job)
{
    if (job->rr_depth >= job->max_depth)
        job->rr_depth = 2;
    job->seed ^= UINT64_C(0x5eed00000000);
}

/* In step with the reference: sets the verdict. */
static enum status lockstep(struct run_context *c, const struct render_job *job, uint64_t samples,
                            const char *also, struct error *err)
{
    struct divergence d;
    enum status s = conform_lockstep(c->device, c->scene, job, samples, &d, err);
    if (s != STATUS_OK)
        return s;
    c->compared += d.compared;
    case_divergence(c, job, &d);
    if (d.divergent)
        return case_fail(c, "%s%s%s", also, *also ? "; " : "", d.text);
    return case_pass(
        c,
        "%s%s%llu samples in step with the reference, %llu apart by rounding (%llu flipped "
        "decisions), worst step %.2f of its bound; at level %g it notices what is off by %.2g %% "
        "in %.3g %% of the samples",
        also, *also ? "; " : "", (unsigned long long)d.compared, (unsigned long long)d.benign,
        (unsigned long long)d.flips, d.worst, JUDGE_LEVEL, 100 * d.notices_off,
        100 * d.notices_share);
}

static void film_pictures(struct run_context *c, const char *mode, const struct film *a,
                          const struct film *b)
{
    size_t n = (size_t)a->width * a->height * 3;
    double *image = malloc(n * sizeof *image), *expected = malloc(n * sizeof *expected);
    if (image && expected) {
        metric_from_film(a, image);
        metric_from_film(b, expected);
        pictures_add(c, mode, a->width, a->height, image, expected, NULL, NULL);
    }
    free(image);
    free(expected);
}

/* "; made by faulty:x" for a row of a device made of several; else "". */
static const char *owner_said(const struct run_context *c, uint32_t y)
{
    const char *owner = device_row_owner(c->device, y);
    const char *said =
        strcmp(owner, c->device_id) ? arena_printf(c->arena, "; made by %s", owner) : NULL;
    return said ? said : "";
}

/* Bits differ: say where and why. */
static enum status bits_differ(struct run_context *c, const struct render_job *job,
                               const struct film *film, const struct film *native,
                               const struct bit_difference *b, const char *setting,
                               struct error *err)
{
    static const char *const channels[] = {"R", "G", "B", "sample count"};
    char also[512];
    struct film plain;
    struct bit_difference again;
    film_pictures(c, "strict", film, native);
    /* the default launch may be right where this one is not */
    struct render_job lock = *job;
    snprintf(also, sizeof also,
             "%zu of %zu pixels differ from native's strict picture%s%s; first (%u,%u) %s: %.9g, "
             "native %.9g%s",
             b->pixels, (size_t)job->width * job->height, *setting ? " with " : "", setting, b->x,
             b->y, channels[b->channel], b->a, b->b, owner_said(c, b->y));
    if (judge_render(c->device, c->scene, &lock, &plain, err) == STATUS_OK) {
        bool same = !judge_bits(plain.sums ? &plain : film, film, &again);
        film_free(&plain);
        if (!same)
            return case_fail(c, "%s; and two renders of one job differ", also);
    }
    struct divergence d;
    TRY(judge_cause(c->device, c->scene, job, b->x, b->y, &d, err));
    c->compared += d.compared;
    case_divergence(c, job, &d);
    return case_fail(c, "%s; %s", also, d.text);
}

static const struct {
    const char *text;
    enum bvh_kind bvh;
    struct launch_settings launch;
} strict_launches[] = {
    {"", BVH_AUTO, {.batch = 0}},
    {"work-group 7x3", BVH_AUTO, {.work_group = {7, 3}}},
    {"bvh2, tile 24x16 in shuffled order, one sample a launch",
     BVH_BINARY,
     {.tile = {24, 16}, .batch = 1, .tile_order = 2}},
    {"bvh8, tile 40x9 reversed", BVH_WIDE8, {.tile = {40, 9}, .tile_order = 1}},
};

enum { STRICT_LAUNCHES = sizeof strict_launches / sizeof *strict_launches };

/* The job in the i-th launch setting; *loaded is the tree that the device has. */
static enum status render_launch(struct run_context *c, size_t i, enum bvh_kind *loaded,
                                 struct render_job *job, struct film *film, struct error *err)
{
    job->set =
        (struct settings){.load.bvh = strict_launches[i].bvh, .launch = strict_launches[i].launch};
    job->set.build.mode = MODE_STRICT;
    if (job->set.load.bvh != *loaded)
        TRY(device_load(c->device, c->scene, job->set.load.bvh, NULL, err));
    *loaded = job->set.load.bvh;
    uint32_t most = 0;
    if (job->set.launch.work_group[0])
        TRY(device_group_most(c->device, &most, err));
    if (most < 21)
        job->set.launch.work_group[0] = job->set.launch.work_group[1] = 0;
    return judge_render(c->device, c->scene, job, film, err);
}

static enum status strict_pass(struct run_context *c, const struct render_job *job,
                               const char *what)
{
    return case_pass(c, "%ux%u, %u samples a pixel: %s in %d launch settings", job->width,
                     job->height, job->sample_count, what, (int)STRICT_LAUNCHES);
}

/* Every launch setting against the film's known hash; *wrong when one has another. */
static enum status strict_known(struct run_context *c, struct render_job job, const char *known,
                                enum bvh_kind *loaded, bool *wrong, struct error *err)
{
    for (size_t i = 0; i < STRICT_LAUNCHES; i++) {
        struct film film;
        TRY(render_launch(c, i, loaded, &job, &film, err));
        film_hash(&film, c->given);
        *wrong = strcmp(c->given, known) != 0;
        enum status s = i == 0 ? case_film(c, &job, &film, err) : STATUS_OK;
        film_free(&film);
        if (s != STATUS_OK || *wrong)
            return s;
        c->compared += (uint64_t)job.width * job.height;
    }
    return strict_pass(c, &job, "the known answer's bits");
}

void case_strict_job(const struct scene *s, struct render_job *job)
{
    judge_job(s, 83, 3, MODE_STRICT, job);
    with_roulette(job);
}

enum status case_picture(const char *name, const char *scene_path, struct scene **scene,
                         struct render_job *job, struct error *err)
{
    *scene = NULL;
    if (challenge_row(name))
        return challenge_scene(name, scene, job, err);
    if (strncmp(name, "image.strict.", 13) != 0 || !scene_path)
        return STATUS_OK;
    TRY(scene_load(scene_path, scene, err));
    case_strict_job(*scene, job);
    return STATUS_OK;
}

static enum status image_strict(struct run_context *c, struct error *err)
{
    struct render_job job;
    const struct film *native;
    enum bvh_kind loaded = BVH_AUTO;
    enum status s = case_ready(c, MODE_STRICT, BVH_AUTO, err);
    if (s != STATUS_OK)
        return s;
    case_strict_job(c->scene, &job);
    answer_inputs(c->scene, &job, c->inputs);
    const char *known = answer_known(c->name, c->inputs);
    c->answer = c->from_scratch ? "ignored" : known ? "known" : "none for these inputs";
    if (known && !c->from_scratch) {
        bool wrong = false;
        s = strict_known(c, job, known, &loaded, &wrong, err);
        if (s != STATUS_OK || !wrong)
            return s;
        c->compared = 0;
        c->answer = "another than known";
    }
    if ((s = judge_native(c->scene, &job, &native, err)) != STATUS_OK)
        return s;
    film_hash(native, c->given);
    for (size_t i = 0; i < STRICT_LAUNCHES; i++) {
        struct film film;
        struct bit_difference b;
        if ((s = render_launch(c, i, &loaded, &job, &film, err)) != STATUS_OK)
            return s;
        c->compared += (uint64_t)job.width * job.height;
        bool differ = judge_bits(&film, native, &b);
        if (differ || i == 0)
            s = case_film(c, &job, &film, err);
        if (differ && s == STATUS_OK)
            s = bits_differ(c, &job, &film, native, &b, strict_launches[i].text, err);
        film_free(&film);
        if (differ || s != STATUS_OK)
            return s;
    }
    if (!is_native(c->device_id))
        return strict_pass(c, &job, "bits equal to native's");
    /* native is what others are held against: it must itself be right */
    job.set = (struct settings){.build.mode = MODE_STRICT};
    if ((s = device_load(c->device, c->scene, BVH_AUTO, NULL, err)) != STATUS_OK)
        return s;
    return lockstep(c, &job, UINT64_MAX, "bits equal in all launch settings", err);
}

/* ---- device and fast ----------------------------------------------------------------- */

static enum status image_lockstep(struct run_context *c, struct error *err)
{
    struct render_job job;
    enum status s = case_ready(c, MODE_DEVICE, BVH_AUTO, err);
    if (s != STATUS_OK)
        return s;
    judge_job(c->scene, 72, 2, MODE_DEVICE, &job);
    with_roulette(&job);
    if ((s = answer_note_records(c, &job, err)) != STATUS_OK ||
        answer_given(c, (uint64_t)job.width * job.height * job.sample_count))
        return s;
    return lockstep(c, &job, UINT64_MAX, "", err);
}

static void notices_json(struct json_writer *w, const struct metric_power *p)
{
    if (!(p->level > 0))
        return;
    json_key(w, "notices");
    json_begin_object(w);
    json_key_number(w, "level", p->level);
    if (!isinf(p->radiance))
        json_key_number(w, "radiance", p->radiance);
    if (!isinf(p->pixels))
        json_key_number(w, "pixels", p->pixels);
    json_end_object(w);
}

static void pair_detail(struct run_context *c, const struct pair_judgement *p)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_number(&w, "p", p->z.p);
    json_key_number(&w, "worst_z", p->z.worst_z);
    json_key_number(&w, "mse", p->mse);
    json_key_number(&w, "relmse", p->relmse);
    json_key_number(&w, "relmse_epsilon", METRIC_RELMSE_EPSILON);
    json_key_number(&w, "psnr_db", p->psnr);
    json_key_number(&w, "ssim", p->ssim);
    json_key_number(&w, "flip", p->flip);
    notices_json(&w, &p->power);
    json_end_object(&w);
    case_detail(c, &w);
}

/* Of the rows of the worst square, the one that is farthest from the reference's. */
static uint32_t farthest_row(const struct render_job *job, const struct pair_judgement *p)
{
    double most = 0;
    uint32_t row = p->z.y;
    const uint32_t y1 = p->z.size ? p->z.y + p->z.size : job->height;
    for (uint32_t y = p->z.y; y < y1 && y < job->height; y++) {
        double sum = 0;
        for (uint32_t x = 0; x < job->width; x++) {
            size_t i = ((size_t)y * job->width + x) * 3 + p->z.channel;
            sum += fabs(p->image[i] - p->truth.beauty[i]);
        }
        if (sum > most)
            most = sum, row = y;
    }
    return row;
}

/* One picture; *p: its probability. The verdict is set, and pictures are made, where that is below
 * `level`; pictures in mode device anyway, if it is `shown`. */
static enum status compare_pairs(struct run_context *c, const struct render_job *job,
                                 const struct film *film, double systematic, double level,
                                 bool shown, double *p_found, struct error *err)
{
    struct pair_judgement p = {0};
    char text[512];
    enum status s = judge_pair(c->scene, job, film, systematic, &p, err);
    if (s == STATUS_OK && p.z.p < level)
        s = judge_pair_untied(c->device, c->scene, job, film, systematic, &p, err);
    if (s == STATUS_OK && p.z.p >= level)
        s = pair_judgement_power(job, systematic, level, &p, err);
    if (s != STATUS_OK) {
        pair_judgement_free(&p);
        return s;
    }
    c->compared += (uint64_t)job->width * job->height;
    pair_detail(c, &p);
    pair_judgement_text(&p, "the reference", systematic, text, sizeof text);
    const bool bad = p.z.p < level;
    if (bad)
        case_fail(c, "%s%s%s", shown ? "" : "paths of two edges: ", text,
                  owner_said(c, farthest_row(job, &p)));
    else if (2 * p.tied > p.samples) /* what is left is less than half of a picture */
        case_skip(c, "%s", text);
    else
        case_pass(c, "%s", text);
    if (bad || (shown && job->set.build.mode == MODE_DEVICE)) {
        /* of the difference's mean: noise cancels in pairs, so this shows how it compares with a
         * picture's own noise */
        for (size_t i = 0; i < (size_t)job->width * job->height * 3; i++)
            p.truth.variance[i] *= 2.0 / job->sample_count;
        s = pictures_add(c, math_mode_name(job->set.build.mode), job->width, job->height, p.image,
                         p.truth.beauty, p.truth.variance, err);
    }
    *p_found = p.z.p;
    pair_judgement_free(&p);
    return s;
}

static bool scatters_in_media(const struct scene *s)
{
    for (size_t i = 0; i < s->material_count; i++)
        if (s->materials[i].medium.density > 0)
            return true;
    return false;
}

/* Renders, and notes what it gave. */
static enum status render_noted(struct run_context *c, const struct render_job *job,
                                struct film *film, struct error *err)
{
    char inputs[33], hash[33];
    TRY(judge_render(c->device, c->scene, job, film, err));
    answer_inputs(c->scene, job, inputs);
    film_hash(film, hash);
    answer_note(c, inputs, sizeof inputs, hash, sizeof hash);
    return STATUS_OK;
}

/* What reports show of a picture that needs no judging. */
static void picture_alone(struct run_context *c, const struct film *film)
{
    double *image = malloc((size_t)film->width * film->height * 3 * sizeof *image);
    if (image) {
        metric_from_film(film, image);
        pictures_add(c, math_mode_name(c->mode), film->width, film->height, image, NULL, NULL,
                     NULL);
    }
    free(image);
}

/* A medium that is a little off moves where all its paths scatter, and what long ones bring then
 * differs by as much as two pictures' noise, which no pair cancels: so media are judged by paths of
 * two edges first, each picture at half the level. */
static enum status scene_pairs(struct run_context *c, enum math_mode mode, double systematic,
                               struct error *err)
{
    struct render_job jobs[2]; /* the last one is shown */
    struct film films[2] = {0};
    size_t count = 1;
    judge_without_clamp(c->scene, mode);
    enum status s = case_ready(c, mode, BVH_AUTO, err);
    if (s != STATUS_OK)
        return s;
    judge_job(c->scene, 128, 8, mode, &jobs[0]);
    if (mode == MODE_FAST)
        with_roulette(&jobs[0]);
    if (scatters_in_media(c->scene) && jobs[0].max_depth > 2) {
        jobs[count++] = jobs[0];
        jobs[0].max_depth = 2;
    }
    for (size_t i = 0; s == STATUS_OK && i < count; i++)
        s = render_noted(c, &jobs[i], &films[i], err);
    if (s == STATUS_OK && answer_given(c, count * jobs[0].width * (uint64_t)jobs[0].height)) {
        if (mode == MODE_DEVICE)
            picture_alone(c, &films[count - 1]);
    } else {
        const double level = JUDGE_LEVEL / (double)count;
        double p = 1;
        for (size_t i = 0; s == STATUS_OK && i < count && p >= level; i++) {
            if (count > 1) { /* who made which row is known of the last picture alone */
                film_free(&films[i]);
                s = judge_render(c->device, c->scene, &jobs[i], &films[i], err);
            }
            if (s == STATUS_OK)
                s = compare_pairs(c, &jobs[i], &films[i], systematic, level, i + 1 == count, &p,
                                  err);
        }
    }
    for (size_t i = 0; i < count; i++)
        film_free(&films[i]);
    return s;
}

static enum status image_device(struct run_context *c, struct error *err)
{
    TRY(case_scene(c, err));
    return scene_pairs(c, MODE_DEVICE, JUDGE_SYSTEMATIC_DEVICE, err);
}

static enum status image_fast(struct run_context *c, struct error *err)
{
    TRY(case_scene(c, err));
    return scene_pairs(c, MODE_FAST, JUDGE_SYSTEMATIC_FAST, err);
}

/* Paths that meet lamps which the tree does not know, and places in fog, which have no side. */
static enum status image_masks(struct run_context *c, struct error *err)
{
    enum { MASKS = 13 }; /* of image.dense, from 0 */
    TRY(dense_part_load(c, MASKS, err));
    return scene_pairs(c, MODE_FAST, JUDGE_SYSTEMATIC_FAST, err);
}

static const struct case_row scene_rows[] = {
    {"image.strict",
     "strict: the bits of native's picture, in several launch settings; native: in step with the "
     "reference",
     image_strict},
    {"image.lockstep",
     "device mode: sample by sample in step with the reference on the same random numbers",
     image_lockstep},
    {"image.device",
     "device mode: no difference from the reference beyond 2^-14, by statistics on pairs",
     image_device},
    {"image.fast",
     "fast mode: no difference from the reference beyond 2^-10, by statistics on pairs",
     image_fast},
    {"image.relations",
     "strict: what may be said otherwise makes the same picture: orders, sizes, mirrors, cuts",
     image_relations},
};
const struct case_table image_scene_cases = CASE_TABLE(scene_rows);

/* ---- closed forms -------------------------------------------------------------------- */

/* Radiance that leaves the point (x, 0, z) of the floor (or the scene as a whole). Sources: the
 * scenes' own "about". */
typedef double (*closed_form)(const struct scene *s, uint32_t max_depth, double x, double z);

static double furnace(const struct scene *s, uint32_t max_depth, double x, double z)
{
    (void)s, (void)max_depth, (void)x, (void)z;
    return 1;
}

/* Le (1 + rho + rho^2 + ...), as many terms as the path has edges. */
static double enclosure(const struct scene *s, uint32_t max_depth, double x, double z)
{
    (void)s, (void)x, (void)z;
    return 0.4 * (1 - pow(0.5, max_depth)) / (1 - 0.5);
}

/* Form factor of a sphere to a point that sees all of it: (r/d)^2 cos (Howell, catalogue of
 * configuration factors, B-1). */
static double direct_sphere(const struct scene *s, uint32_t max_depth, double x, double z)
{
    (void)s, (void)max_depth;
    double r = 0.5, h = 3, d = sqrt(x * x + z * z + h * h);
    return 0.5 * 8 * r * r * h / (d * d * d);
}

/* Of a parallel disk (Howell B-13). */
static double direct_disk(const struct scene *s, uint32_t max_depth, double x, double z)
{
    (void)s, (void)max_depth;
    double R2 = 0.75 * 0.75, h2 = 2.0 * 2.0, a2 = x * x + z * z, sum = h2 + a2 + R2;
    return 0.5 * 6 * 0.5 * (1 - (h2 + a2 - R2) / sqrt(sum * sum - 4 * a2 * R2));
}

/* Of a parallel rectangle, corner by corner (Howell B-3). */
static double corner(double a, double b)
{
    double p = sqrt(1 + a * a), q = sqrt(1 + b * b);
    return (a / p * atan(b / p) + b / q * atan(a / q)) / (2 * 3.14159265358979323846);
}
static double direct_rectangle(const struct scene *s, uint32_t max_depth, double x, double z)
{
    (void)s, (void)max_depth;
    double h = 1.5, x0 = (-1 - x) / h, x1 = (1 - x) / h, z0 = (-0.5 - z) / h, z1 = (0.5 - z) / h;
    return 0.5 * 5 * (corner(x1, z1) - corner(x0, z1) - corner(x1, z0) + corner(x0, z0));
}

/* Means over pixels: 4 x 4 Gauss points of the film each; the forms are smooth there. */
static void closed_picture(const struct scene *s, const struct render_job *job, closed_form form,
                           double *out)
{
    static const double node[] = {0.06943184420297371, 0.33000947820757187, 0.6699905217924281,
                                  0.9305681557970263};
    static const double weight[] = {0.17392742256872692, 0.32607257743127307, 0.32607257743127307,
                                    0.17392742256872692};
    const struct camera *c = &s->camera;
    double tan_x, tan_y;
    camera_tangents(c, job->width, job->height, &tan_x, &tan_y);
    for (uint32_t y = 0; y < job->height; y++)
        for (uint32_t x = 0; x < job->width; x++) {
            double sum = 0;
            for (int i = 0; i < 16; i++) {
                double a = (2 * (x + node[i % 4]) / job->width - 1) * tan_x;
                double b = (1 - 2 * (y + node[i / 4]) / job->height) * tan_y;
                double d[3];
                for (int k = 0; k < 3; k++)
                    d[k] = c->forward[k] + a * c->right[k] + b * c->up[k];
                double t = -c->origin[1] / d[1]; /* the floor is y = 0 */
                sum += weight[i % 4] * weight[i / 4] *
                       form(s, job->max_depth, c->origin[0] + t * d[0], c->origin[2] + t * d[2]);
            }
            for (int k = 0; k < 3; k++)
                out[((size_t)y * job->width + x) * 3 + (size_t)k] = sum;
        }
}

static enum status closed_verdict(struct run_context *c, const struct render_job *job,
                                  const double *image, const double *expected, struct error *err)
{
    const struct metric_estimate a = {image, NULL, job->sample_count},
                                 b = {expected, NULL, UINT32_MAX};
    struct metric_z z = {0};
    size_t n = (size_t)job->width * job->height * 3;
    double mean = 0;
    enum status s = metric_z(job->width, job->height, &a, &b, JUDGE_SYSTEMATIC_DEVICE, &z, err);
    if (s != STATUS_OK)
        return s;
    for (size_t i = 0; i < n; i++)
        mean += expected[i] / (double)n;
    c->compared += n / 3;
    bool bad = z.p < JUDGE_LEVEL;
    struct metric_power power = {0};
    if (!bad)
        TRY(metric_power(job->width, job->height, &a, &b, JUDGE_SYSTEMATIC_DEVICE, JUDGE_LEVEL,
                         &power, err));
    char notices[128];
    judge_power_text(&power, notices, sizeof notices);
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_number(&w, "p", z.p);
    notices_json(&w, &power);
    json_end_object(&w);
    case_detail(c, &w);
    (bad ? case_fail : case_pass)(
        c, "p = %.2g against the closed form, worst z %.2f; mean %.6g, difference %.3g %.3g %.3g%s",
        z.p, z.worst_z, mean, z.mean_difference[0], z.mean_difference[1], z.mean_difference[2],
        notices);
    return bad ? pictures_add(c, "device", job->width, job->height, image, expected, NULL, err)
               : STATUS_OK;
}

static enum status image_closed(struct run_context *c, closed_form form, struct error *err)
{
    struct render_job job;
    struct film film = {0};
    enum status s = case_library_scene(c, strrchr(c->name, '.') + 1, err);
    if (s != STATUS_OK || (s = case_ready(c, MODE_DEVICE, BVH_AUTO, err)) != STATUS_OK)
        return s;
    judge_job(c->scene, 48, 64, MODE_DEVICE, &job);
    size_t n = (size_t)job.width * job.height * 3;
    double *image = ARENA_ARRAY(c->arena, double, n), *expected = ARENA_ARRAY(c->arena, double, n);
    if (!image || !expected)
        return error_msg(err, STATUS_MEMORY, "out of memory for a picture");
    if ((s = judge_render(c->device, c->scene, &job, &film, err)) != STATUS_OK)
        return s;
    metric_from_film(&film, image);
    film_free(&film);
    closed_picture(c->scene, &job, form, expected);
    return closed_verdict(c, &job, image, expected, err);
}

#define CLOSED_CASE(form)                                                                          \
    static enum status image_##form(struct run_context *c, struct error *err)                      \
    {                                                                                              \
        return image_closed(c, form, err);                                                         \
    }
CLOSED_CASE(furnace)
CLOSED_CASE(enclosure)
CLOSED_CASE(direct_sphere)
CLOSED_CASE(direct_disk)
CLOSED_CASE(direct_rectangle)

static const struct case_row plain_rows[] = {
    {"image.closed.furnace", "a body in a uniform sky that sends out what it gets: 1 everywhere",
     image_furnace},
    {"image.closed.enclosure", "interreflection in a closed sphere: the geometric series",
     image_enclosure},
    {"image.closed.direct-sphere", "a floor lit by a sphere: its form factor", image_direct_sphere},
    {"image.closed.direct-disk", "a floor lit by a parallel disk: its form factor",
     image_direct_disk},
    {"image.closed.direct-rectangle", "a floor lit by a parallel rectangle: its form factor",
     image_direct_rectangle},
    {"image.passes", "strict: passes have the film's bits and the reference's values",
     image_passes},
    {"image.passes.dense",
     "the same of shaders and fog far from the origin: scenes/dense/occlusion.json", image_passes},
    {"image.masks.fast",
     "fast: masked lamps and fog where a tree chooses lights: scenes/dense/masks.json",
     image_masks},
    {"image.camera.perspective", "filters, apertures, clamp: strict bits and in step",
     image_camera},
    {"image.camera.orthographic", "the same for parallel rays", image_camera},
    {"image.camera.equirectangular", "the same for the whole sphere", image_camera},
    {"image.edges.1", "arguments of closures where they are cut off: scenes/dense/arguments.json",
     image_dense},
    {"image.edges.2", "lists of lobes that are full: scenes/dense/full.json", image_dense},
    {"image.edges.3", "look-ups by shaders at edges of texels: scenes/dense/lookups.json",
     image_dense},
    {"image.edges.4", "a scene at random, the same for all", image_dense},
    {"image.edges.5", "a scene at random, the same for all", image_dense},
    {"image.edges.6", "a scene at random, the same for all", image_dense},
    {"image.edges.7", "a scene at random, the same for all", image_dense},
    {"image.edges.8", "a scene at random, the same for all", image_dense},
    {"image.edges.9", "a scene at random, the same for all", image_dense},
    {"image.dense.1",
     "strict: every closure and pattern of shaders, a quarter of them: bits, and in step",
     image_dense},
    {"image.dense.2", "the next quarter", image_dense},
    {"image.dense.3", "the next quarter", image_dense},
    {"image.dense.4", "the last quarter", image_dense},
    {"image.dense.5", "what else the format and shaders can say: scenes/dense/everything.json",
     image_dense},
    {"image.dense.6", "and the rest: scenes/dense/more.json", image_dense},
    {"image.dense.7", "what getattribute() answers: scenes/dense/attributes.json", image_dense},
    {"image.dense.8",
     "materials on irregular triangles, lit by many lamps: "
     "scenes/dense/irregular.json",
     image_dense},
    {"image.dense.9", "long and odd footprints in textures: scenes/dense/footprints.json",
     image_dense},
    {"image.dense.10",
     "pictures of other kinds, and what the others leave out: scenes/dense/kinds.json",
     image_dense},
    {"image.dense.11", "triangles that shaders make: scenes/dense/procedures.json", image_dense},
    {"image.dense.12", "subimages of textures: scenes/dense/subimages.json", image_dense},
    {"image.dense.13", "what is not finite, nothing, full or dark: scenes/dense/limits.json",
     image_dense},
    {"image.dense.14", "masked lamps under a tree of lights, and more: scenes/dense/masks.json",
     image_dense},
    {"image.dense.15", "rays that shaders shoot at their limits: scenes/dense/rays.json",
     image_dense},
    {"image.dense.16",
     "builtins that no other scene calls, and media by shaders: scenes/dense/builtins.json",
     image_dense},
    {"image.dense.17",
     "interfaces, as many as a ray passes and more; instances far from their corners: "
     "scenes/dense/passages.json",
     image_dense},
    {"image.dense.18",
     "materials of one lobe, driven beyond their ranges by pictures: scenes/dense/plain.json",
     image_dense},
    {"image.dense.19",
     "slopes that shaders see, and suns beside a tree of lights: scenes/dense/slopes.json",
     image_dense},
};
const struct case_table image_cases = CASE_TABLE(plain_rows);
