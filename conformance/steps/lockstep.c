/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_search and conform_replay: a device and the reference on the same random numbers. */
#include "blame.h"
#include "conformance.h"
#include "judge.h"
#include "steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VERTICES = 256, EVERY = 61, MAX_DIVERGENT = 32 };

static const double AGREES = 0x1p-16;

/* Outside strict the kernel that renders and the one that records may be rounded apart (other
 * contractions of one source). Both then round the reference's path, each for itself, and a path
 * that makes much of a rounding makes as much of either's. Where their errors are independent and
 * of one size, the quotient of one and the other follows Cauchy's law, so that the two are more
 * than FOLLOWS times the recorded one's error apart in 2/(pi FOLLOWS) = 4% of such samples.
 * Measured on an H100, 1143 samples of the library and of three scenes made at random: 5% by 16, 17% by 4 (the law: 16%), 32% by 2
 * (32%). */
static const double FOLLOWS = 16;

/* What is left are those, and paths that fall otherwise. Measured with every step within its
 * bounds, FOLLOWS not counted: none to 0.3% of the samples of the real scenes, most on glass (soft
 * HIP, clang 15), 4.3% of two scenes made at random (H100). A film that is wrong is so in more of them, and
 * strict compares its bits. */
static const double UNLIKE_SHARE = 0.01;
enum { UNLIKE_LEAST = 3 };

struct lockstep {
    struct device *device;
    const struct scene *scene;
    struct reference *reference;
    struct steps *steps;
    struct render_job job;
    struct reference_job reference_job;
    struct film film;        /* one sample a pixel */
    double (*L)[3];          /* the reference's, by pixel */
    uint32_t stride, sample; /* every stride-th pixel is looked at */
    struct path_vertex *vertices;
    struct divergence *out;
    uint64_t unlike; /* samples whose film is not the recorded path's value; the first of them */
    struct step_report first_unlike;
    size_t first_pixel;
    uint32_t first_sample;
};

static void reference_row(void *ctx, size_t row, unsigned thread)
{
    struct lockstep *l = ctx;
    (void)thread;
    uint32_t w = l->job.width;
    for (size_t i = row * w; i < (row + 1) * w; i++)
        if (i % l->stride == 0)
            reference_sample(l->reference, &l->reference_job, (uint32_t)(i % w), (uint32_t)row,
                             l->sample, l->L[i], NULL, 0, NULL);
}

/* How far apart the worst channel is, which goes to *channel; NaN counts as farthest. */
static double farthest(const double a[3], const double b[3], int *channel)
{
    double worst = 0;
    for (int c = 0; c < 3; c++) {
        double d = fabs(a[c] - b[c]);
        if (!(d <= worst) && !isnan(worst)) {
            worst = d;
            *channel = c;
        }
    }
    return worst;
}

/* Farther than `relative` of the largest channel and `quanta` film units? */
static bool apart(const double a[3], const double b[3], double relative, double quanta,
                  int32_t exponent, int *channel)
{
    double scale = fmax(fmax(fabs(a[0]), fabs(a[1])), fabs(a[2]));
    double bound = relative * scale + ldexp(quanta, -exponent);
    return !(farthest(a, b, channel) <= bound);
}

static const char *component(char c)
{
    static const char names[][3] = {".x", ".y", ".z", ".r", ".g", ".b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][1] == c)
            return names[i];
    return "";
}

/* The film's value of a sample that the steps gave L. */
static void film_value_of(const double L[3], int32_t exponent, double out[3])
{
    double limit = ldexp(1, 46 - exponent);
    bool finite = isfinite(L[0]) && isfinite(L[1]) && isfinite(L[2]);
    for (int c = 0; c < 3; c++)
        out[c] = finite ? fmin(fmax(L[c], 0), limit) : 0;
}

bool film_is_unlike(const double film[3], const double path[3], const double reference[3],
                    int32_t exponent, int *channel)
{
    double recorded[3], right[3];
    int other = 0;
    film_value_of(path, exponent, recorded);
    film_value_of(reference, exponent, right);
    return apart(recorded, film, AGREES, 2, exponent, channel) &&
           apart(right, film, AGREES, 2, exponent, &other) &&
           !(farthest(film, recorded, &other) <= FOLLOWS * farthest(recorded, right, &other));
}

static void record(struct lockstep *l, size_t pixel, const struct step_report *r)
{
    struct divergence *d = l->out;
    if (d->divergent++)
        return;
    d->x = (uint32_t)(pixel % l->job.width);
    d->y = (uint32_t)(pixel / l->job.width);
    d->sample = l->sample;
    d->vertex = r->k;
    d->reference_value = r->reference;
    d->device_value = r->device;
    d->margin = r->margin;
    snprintf(d->stage, sizeof d->stage, "%s", r->stage);
    snprintf(d->field, sizeof d->field, "%s%s", r->field, component(r->component));
    snprintf(d->function, sizeof d->function, "%s", blame_function(r->stage, r->field));
    /* where several devices render together, the one that is wrong */
    const char *device = device_describe(l->device)->id, *owner = device_row_owner(l->device, d->y);
    char of[80] = "", times[64] = "not to be had by rounding";
    if (strcmp(owner, device) != 0)
        snprintf(of, sizeof of, " of %s", owner);
    if (isfinite(r->margin))
        snprintf(times, sizeof times, "%.3g times the rounding bound", r->margin);
    if (r->k)
        snprintf(
            d->text, sizeof d->text,
            "pixel (%u,%u) sample %u%s, vertex %u: %s.%s is %.9g, the reference has %.9g from the "
            "same state: %s",
            d->x, d->y, d->sample, of, r->k, r->stage, d->field, r->device, r->reference, times);
    else
        snprintf(
            d->text, sizeof d->text,
            "pixel (%u,%u) sample %u%s: the film holds %s = %.9g where the path's own value is "
            "%.9g",
            d->x, d->y, d->sample, of, d->field, r->device, r->reference);
}

/* Traces one sample on the device and looks it over. */
static enum status look_over(struct lockstep *l, size_t pixel, const double film_L[3], bool agrees,
                             struct error *err)
{
    uint32_t x = (uint32_t)(pixel % l->job.width), y = (uint32_t)(pixel / l->job.width);
    double L[3], expected[3];
    size_t count = 0;
    struct step_report r;
    int channel = 0;
    enum status s = device_trace(l->device, &l->job, x, y, l->sample, L, l->vertices, MAX_VERTICES,
                                 &count, err);
    if (s != STATUS_OK)
        return s;
    steps_check(l->steps, x, y, l->sample, l->vertices, count, L, &r);
    l->out->stepped++;
    if (r.found) {
        record(l, pixel, &r);
        return STATUS_OK;
    }
    film_value_of(L, l->film.exponent, expected);
    /* strict fixes the bits of both; elsewhere the recording kernel may round another way */
    bool strict = l->job.set.build.mode == MODE_STRICT;
    if (strict ? apart(expected, film_L, 0, 0.5, l->film.exponent, &channel)
               : film_is_unlike(film_L, L, l->L[pixel], l->film.exponent, &channel)) {
        r.stage = "film";
        r.field = "L";
        r.component = "rgb"[channel];
        r.k = 0;
        r.reference = expected[channel];
        r.device = film_L[channel];
        r.margin = INFINITY;
        if (strict) {
            record(l, pixel, &r);
        } else if (l->unlike++ == 0) {
            l->first_unlike = r;
            l->first_pixel = pixel;
            l->first_sample = l->sample;
        }
        return STATUS_OK;
    }
    l->out->flips += r.flips;
    l->out->benign += !agrees;
    l->out->worst = fmax(l->out->worst, r.worst);
    return STATUS_OK;
}

static enum status compare_sample(struct lockstep *l, struct error *err)
{
    size_t pixels = (size_t)l->job.width * l->job.height;
    double unit = ldexp(1, -l->film.exponent);
    film_clear(&l->film);
    l->job.sample_begin = l->sample;
    l->job.sample_count = 1;
    enum status s = device_render(l->device, &l->job, &l->film, true, NULL, err);
    if (s != STATUS_OK || (s = film_check(&l->film, 1, NULL, err)) != STATUS_OK)
        return s;
    parallel_for(l->job.height, 0, reference_row, l);
    for (size_t i = 0; i < pixels && l->out->divergent < MAX_DIVERGENT && s == STATUS_OK;
         i += l->stride) {
        double L[3];
        int channel;
        for (int c = 0; c < 3; c++)
            L[c] = (double)l->film.sums[4 * i + (size_t)c] * unit;
        bool agrees = !apart(l->L[i], L, AGREES, 2, l->film.exponent, &channel);
        if (!agrees || l->out->compared % EVERY == 0)
            s = look_over(l, i, L, agrees, err);
        l->out->compared++;
        if (cancel_requested)
            return error_msg(err, STATUS_CANCELLED, "stopped");
    }
    return s;
}

/* n samples miss what is wrong in a share s of all with probability (1 - s)^n. Outside strict the
 * film alone may be wrong in UNLIKE_SHARE of them, or in UNLIKE_LEAST. */
static void notices(const struct render_job *job, struct divergence *d)
{
    const double n = (double)d->compared, missed = -expm1(log(JUDGE_LEVEL) / n);
    const double forgiven = fmax(UNLIKE_SHARE, (UNLIKE_LEAST + 1) / n);
    d->notices_off = AGREES;
    d->notices_share =
        job->set.build.mode == MODE_STRICT ? missed : fmin(fmax(missed, forgiven), 1);
}

enum status lockstep_search(struct device *d, const struct scene *s, const struct render_job *job,
                            uint64_t max_samples, struct divergence *out, struct error *err)
{
    struct divergence found = {0};
    struct lockstep l = {.device = d, .scene = s, .job = *job, .out = &found};
    size_t pixels = (size_t)job->width * job->height;
    if (job->set.build.mode == MODE_FAST || max_samples == 0)
        return error_msg(err, STATUS_ARG, "lockstep needs mode strict or device and some samples");
    l.reference_job = reference_job_of(job);
    uint64_t rounds = job->sample_count;
    l.stride = 1;
    if (pixels * rounds > max_samples) { /* all pixels of fewer samples, or some pixels of one */
        rounds = max_samples / pixels;
        l.stride = rounds ? 1 : (uint32_t)((pixels + max_samples - 1) / max_samples);
        rounds = rounds ? rounds : 1;
    }
    l.L = calloc(pixels, sizeof *l.L);
    l.vertices = calloc(MAX_VERTICES, sizeof *l.vertices);
    enum status status =
        l.L && l.vertices ? film_init(&l.film, job->width, job->height, film_exponent(s), err)
                          : error_msg(err, STATUS_MEMORY, "out of memory for %zu pixels", pixels);
    if (status == STATUS_OK)
        status = reference_open(s, &l.reference, err);
    if (status == STATUS_OK)
        status = steps_open(s, l.reference, device_describe(d), &l.job, &l.steps, err);
    for (uint64_t i = 0; status == STATUS_OK && i < rounds && found.divergent < MAX_DIVERGENT;
         i++) {
        l.sample = job->sample_begin + (uint32_t)i;
        status = compare_sample(&l, err);
    }
    if (l.unlike > UNLIKE_LEAST && (double)l.unlike > UNLIKE_SHARE * (double)found.compared) {
        l.sample = l.first_sample;
        record(&l, l.first_pixel, &l.first_unlike);
    }
    if (found.compared > 0)
        notices(job, &found);
    steps_close(l.steps);
    reference_close(l.reference);
    film_free(&l.film);
    free(l.vertices);
    free(l.L);
    if (status == STATUS_OK)
        *out = found;
    return status;
}

static void add_doubles(struct hash *h, const double *v, size_t n)
{
    hash_add(h, v, n * sizeof *v);
}

/* Number by number: a struct has holes. */
static void add_vertex(struct hash *h, const struct path_vertex *v)
{
    const uint32_t words[] = {v->k,     v->event, v->primitive, v->material,
                              v->media, v->light, v->visible};
    const double numbers[] = {v->t, v->light_pdf_w, v->pdf_w};
    hash_add(h, words, sizeof words);
    add_doubles(h, numbers, 3);
    add_doubles(h, v->origin, 3);
    add_doubles(h, v->direction, 3);
    add_doubles(h, v->P, 3);
    add_doubles(h, v->Ng, 3);
    add_doubles(h, v->Ns, 3);
    add_doubles(h, v->uv, 2);
    add_doubles(h, v->beta, 3);
    add_doubles(h, v->emitted, 3);
    add_doubles(h, v->light_wi, 3);
    add_doubles(h, v->direct, 3);
    add_doubles(h, v->wi, 3);
    add_doubles(h, v->weight, 3);
}

/* The records of every EVERY-th sample from *count on, which goes on by the picture's pixels. */
static enum status add_records(struct hash *h, struct device *d, const struct render_job *job,
                               struct path_vertex *vertices, uint64_t *count, struct error *err)
{
    const size_t pixels = (size_t)job->width * job->height;
    for (size_t i = 0; i < pixels; i++) {
        double L[3];
        size_t n = 0;
        if ((*count)++ % EVERY)
            continue;
        TRY(device_trace(d, job, (uint32_t)(i % job->width), (uint32_t)(i / job->width),
                         job->sample_begin, L, vertices, MAX_VERTICES, &n, err));
        add_doubles(h, L, 3);
        hash_add(h, &n, sizeof n);
        for (size_t k = 0; k < n; k++)
            add_vertex(h, &vertices[k]);
        if (cancel_requested)
            return error_msg(err, STATUS_CANCELLED, "stopped");
    }
    return STATUS_OK;
}

enum status judge_records(struct device *d, const struct scene *s, const struct render_job *job,
                          char hex[33], struct error *err)
{
    struct render_job one = *job;
    struct path_vertex *vertices = calloc(MAX_VERTICES, sizeof *vertices);
    struct hash *h = vertices ? hash_open() : NULL;
    uint64_t count = 0;
    enum status st = h ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for records");
    one.sample_count = 1;
    for (uint32_t i = 0; st == STATUS_OK && i < job->sample_count; i++) {
        struct film film;
        char film_hex[33];
        one.sample_begin = job->sample_begin + i;
        if ((st = judge_render(d, s, &one, &film, err)) != STATUS_OK)
            break;
        film_hash(&film, film_hex);
        film_free(&film);
        hash_add(h, film_hex, sizeof film_hex);
        st = add_records(h, d, &one, vertices, &count, err);
    }
    hash_close(h, hex);
    free(vertices);
    return st;
}

enum status conform_replay(struct device *d, const struct scene *s, const struct render_job *job,
                           uint32_t x, uint32_t y, uint32_t sample, struct arena *a,
                           struct replay *out, struct error *err)
{
    struct replay r = {.reference = ARENA_ARRAY(a, struct path_vertex, MAX_VERTICES),
                       .device = ARENA_ARRAY(a, struct path_vertex, MAX_VERTICES)};
    struct reference *reference = NULL;
    struct steps *steps = NULL;
    if (!r.reference || !r.device)
        return error_msg(err, STATUS_MEMORY, "out of memory for the vertices");
    enum status status = reference_open(s, &reference, err);
    if (status != STATUS_OK)
        return status;
    const struct reference_job rj = reference_job_of(job);
    reference_sample(reference, &rj, x, y, sample, r.reference_L, r.reference, MAX_VERTICES,
                     &r.reference_count);
    struct text shaders = {0};
    status = reference_sample_shaders(reference, &rj, x, y, sample, &shaders, err);
    r.shaders = arena_strdup(a, shaders.data ? shaders.data : "");
    text_free(&shaders);
    if (status == STATUS_OK && !r.shaders)
        status = error_msg(err, STATUS_MEMORY, "out of memory for what the shaders did");
    if (status == STATUS_OK && d) {
        status = device_trace(d, job, x, y, sample, r.device_L, r.device, MAX_VERTICES,
                              &r.device_count, err);
        if (status == STATUS_OK)
            status = steps_open(s, reference, device_describe(d), job, &steps, err);
    }
    if (status == STATUS_OK && d) {
        struct step_report report;
        char *field;
        steps_check(steps, x, y, sample, r.device, r.device_count, r.device_L, &report);
        field = arena_printf(a, "%s%s", report.field, component(report.component));
        r.divergent = report.found;
        r.vertex = report.k;
        r.flips = report.flips;
        r.stage = report.stage;
        r.field = field ? field : report.field;
        r.reference_value = report.reference;
        r.device_value = report.device;
        r.margin = report.margin;
        r.worst = report.worst;
    }
    steps_close(steps);
    reference_close(reference);
    if (status == STATUS_OK)
        *out = r;
    return status;
}

const char *conform_replay_command(struct arena *a, const char *scene_path, const char *device,
                                   const struct render_job *job, uint32_t x, uint32_t y,
                                   uint32_t sample)
{
    const char *bvh = job->set.load.bvh == BVH_AUTO
                          ? ""
                          : arena_printf(a, " --bvh %s", bvh_kind_name(job->set.load.bvh));
    const char *path = shell_word(a, scene_path), *id = shell_word(a, device);
    if (!path || !id)
        return NULL;
    return arena_printf(
        a,
        "isophote replay %s --device %s --pixel %u,%u --sample %u --mode %s --width "
        "%u --height %u --max-depth %u --rr-depth %u --seed %llu%s",
        path, id, x, y, sample, math_mode_name(job->set.build.mode), job->width, job->height,
        job->max_depth, job->rr_depth, (unsigned long long)job->seed, bvh ? bvh : "");
}
