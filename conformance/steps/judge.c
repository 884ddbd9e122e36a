/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"
#include "metrics/offers.h"
#include "steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void judge_job(const struct scene *s, uint32_t width, uint32_t spp, enum math_mode mode,
               struct render_job *job)
{
    double height = s->width ? (double)width * s->height / s->width : width;
    height = fmin(fmax(height, 0.25 * width), 1.5 * width);
    *job = (struct render_job){.width = width,
                               .height = (uint32_t)(height + 0.5),
                               .sample_count = spp,
                               .max_depth = s->max_depth,
                               .rr_depth = s->rr_depth,
                               .seed = s->seed,
                               .set.build = {.mode = mode}};
}

bool judge_without_clamp(struct scene *s, enum math_mode mode)
{
    if (mode != MODE_FAST || s->light_choice != LIGHT_CHOICE_TREE || s->clamp <= 0)
        return false;
    s->clamp = 0;
    s->hash[0] = '-';
    return true;
}

enum status judge_render(struct device *d, const struct scene *s, const struct render_job *job,
                         struct film *film, struct error *err)
{
    struct film f = {0};
    const bool part = job->crop[2] > 0;
    enum status st = film_init(&f, part ? job->crop[2] : job->width,
                               part ? job->crop[3] : job->height, film_exponent(s), err);
    if (st == STATUS_OK)
        st = device_render(d, job, &f, true, NULL, err);
    if (st == STATUS_OK)
        st = film_check(&f, job->sample_count, NULL, err);
    if (st != STATUS_OK)
        film_free(&f);
    else
        *film = f;
    return st;
}

/* ---- strict: bits --------------------------------------------------------------------------- */

static bool same_picture(const struct render_job *a, const struct render_job *b)
{
    return a->width == b->width && a->height == b->height && a->sample_begin == b->sample_begin &&
           a->sample_count == b->sample_count && a->max_depth == b->max_depth &&
           a->rr_depth == b->rr_depth && a->seed == b->seed &&
           memcmp(a->crop, b->crop, sizeof a->crop) == 0;
}

enum status judge_native(const struct scene *s, const struct render_job *job,
                         const struct film **film, struct error *err)
{
    static struct {
        char scene[33];
        struct render_job job;
        struct film film;
    } kept;
    if (kept.film.sums && strcmp(kept.scene, s->hash) == 0 && same_picture(&kept.job, job)) {
        *film = &kept.film;
        return STATUS_OK;
    }
    struct device *d = NULL;
    struct film f = {0};
    struct render_job own = *job;
    own.set = (struct settings){.build.mode = MODE_STRICT};
    enum status st = device_open("native", &d, err);
    if (st == STATUS_OK)
        st = device_load(d, s, BVH_AUTO, NULL, err);
    if (st == STATUS_OK)
        st = device_build(d, &(struct build_settings){.mode = MODE_STRICT}, NULL, err);
    if (st == STATUS_OK)
        st = judge_render(d, s, &own, &f, err);
    device_close(d);
    if (st != STATUS_OK)
        return st;
    film_free(&kept.film);
    kept.film = f;
    kept.job = *job;
    memcpy(kept.scene, s->hash, sizeof kept.scene);
    *film = &kept.film;
    return STATUS_OK;
}

bool judge_bits(const struct film *a, const struct film *b, struct bit_difference *out)
{
    struct bit_difference d = {0};
    size_t pixels = (size_t)a->width * a->height;
    if (a->width != b->width || a->height != b->height || a->exponent != b->exponent) {
        d.pixels = pixels;
        *out = d;
        return true;
    }
    for (size_t i = 0; i < pixels; i++) {
        const int64_t *x = a->sums + 4 * i, *y = b->sums + 4 * i;
        if (memcmp(x, y, 4 * sizeof *x) == 0 || d.pixels++)
            continue;
        for (d.channel = 0; x[d.channel] == y[d.channel];)
            d.channel++;
        double unit = d.channel < 3 ? ldexp(1, -a->exponent) : 1;
        d.x = (uint32_t)(i % a->width);
        d.y = (uint32_t)(i / a->width);
        d.a = (double)x[d.channel] * unit;
        d.b = (double)y[d.channel] * unit;
    }
    *out = d;
    return d.pixels != 0;
}

/* ---- device and fast: pairs ---------------------------------------------------------- */

enum status judge_measure(const struct render_job *job, const double *image, const double *expected,
                          double systematic, struct pair_judgement *p, struct error *err)
{
    const uint64_t pixels = (uint64_t)job->width * job->height;
    const struct metric_estimate a = {image, NULL, job->sample_count};
    const struct metric_estimate b = {expected, NULL, job->sample_count};
    const struct metric_pair pair = {job->width, job->height, image, expected};
    double mean = 0;
    for (size_t i = 0; i < 3 * pixels; i++)
        mean += expected[i] / (double)(3 * pixels);
    double exposure = mean > 0 ? 0.18 / mean : 1;
    enum status st = metric_z(job->width, job->height, &a, &b, systematic, &p->z, err);
    if (st == STATUS_OK)
        st = metric_mse(&pair, &p->mse, err);
    if (st == STATUS_OK)
        st = metric_relmse(&pair, METRIC_RELMSE_EPSILON, &p->relmse, err);
    if (st == STATUS_OK)
        st = metric_psnr(&pair, exposure, &p->psnr, err);
    p->ssim = p->flip = NAN;
    if (st == STATUS_OK && job->width >= 11 && job->height >= 11)
        st = metric_ssim(&pair, exposure, &p->ssim, err);
    if (st == STATUS_OK && pixels <= 1u << 16) /* FLIP costs the most; larger pictures go without */
        st = metric_flip_ldr(&pair, exposure, METRIC_FLIP_PPD, &p->flip, NULL, err);
    return st;
}

static double *film_doubles(const struct film *film, struct error *err)
{
    double *rgb = malloc((size_t)film->width * film->height * 3 * sizeof *rgb);
    if (rgb)
        metric_from_film(film, rgb);
    else
        error_msg(err, STATUS_MEMORY, "out of memory for a picture");
    return rgb;
}

struct reference_job reference_job_of(const struct render_job *job)
{
    return (struct reference_job){.width = job->width,
                                  .height = job->height,
                                  .sample_begin = job->sample_begin,
                                  .sample_count = job->sample_count,
                                  .max_depth = job->max_depth,
                                  .rr_depth = job->rr_depth,
                                  .seed = job->seed};
}

enum status judge_pair(const struct scene *s, const struct render_job *job, const struct film *film,
                       double systematic, struct pair_judgement *out, struct error *err)
{
    struct pair_judgement p = {0};
    struct reference_job rj = reference_job_of(job);
    rj.rounded = true;
    enum status st = reference_truth(s, &rj, &p.truth, NULL, err);
    if (st != STATUS_OK)
        return st;
    p.image = film_doubles(film, err);
    st = p.image ? judge_measure(job, p.image, p.truth.beauty, systematic, &p, err) : STATUS_MEMORY;
    if (st != STATUS_OK)
        pair_judgement_free(&p);
    else
        *out = p;
    return st;
}

enum { TIE_VERTICES = 256 };

struct tie_search {
    const struct reference *reference;
    const struct steps *steps;
    struct reference_job job;
    double unit;                  /* of the film */
    struct path_vertex *vertices; /* TIE_VERTICES a thread */
    uint8_t *tied;                /* by sample, then pixel */
    double *beauty;               /* the reference's, of what does not tie */
};

static void search_row(void *ctx, size_t row, unsigned thread)
{
    const struct tie_search *t = ctx;
    const size_t pixels = (size_t)t->job.width * t->job.height;
    struct path_vertex *vertices = t->vertices + (size_t)thread * TIE_VERTICES;
    for (uint32_t x = 0; x < t->job.width && !cancel_requested; x++) {
        const size_t at = row * t->job.width + x;
        double sum[3] = {0}, L[3];
        for (uint32_t i = 0; i < t->job.sample_count; i++) {
            const uint32_t sample = t->job.sample_begin + i;
            size_t count;
            reference_sample(t->reference, &t->job, x, (uint32_t)row, sample, L, vertices,
                             TIE_VERTICES, &count);
            bool tied = steps_tied(t->steps, x, (uint32_t)row, sample, vertices, count);
            t->tied[i * pixels + at] = tied;
            for (int c = 0; c < 3; c++)
                sum[c] += tied ? 0 : rint(L[c] / t->unit) * t->unit;
        }
        for (int c = 0; c < 3; c++)
            t->beauty[3 * at + (size_t)c] = sum[c] / t->job.sample_count;
    }
}

/* The film without the samples that tie, which the device renders again, as doubles. */
static enum status without_ties(struct device *d, const struct scene *s,
                                const struct render_job *job, const struct film *film,
                                const struct tie_search *t, double *image, struct error *err)
{
    const size_t pixels = (size_t)job->width * job->height;
    struct render_job one = *job;
    struct film rest = *film, again = {0};
    enum status st = STATUS_OK;
    rest.sums = malloc(4 * pixels * sizeof *rest.sums);
    if (!rest.sums)
        return error_msg(err, STATUS_MEMORY, "out of memory for a film");
    memcpy(rest.sums, film->sums, 4 * pixels * sizeof *rest.sums);
    one.sample_count = 1;
    for (uint32_t i = 0; st == STATUS_OK && i < job->sample_count; i++) {
        const uint8_t *tied = t->tied + i * pixels;
        if (!memchr(tied, 1, pixels))
            continue;
        one.sample_begin = job->sample_begin + i;
        st = judge_render(d, s, &one, &again, err);
        for (size_t k = 0; st == STATUS_OK && k < pixels; k++)
            for (size_t c = 0; tied[k] && c < 3; c++)
                rest.sums[4 * k + c] -= again.sums[4 * k + c];
        film_free(&again);
    }
    if (st == STATUS_OK)
        metric_from_film(&rest, image);
    free(rest.sums);
    return st;
}

enum status judge_pair_untied(struct device *d, const struct scene *s, const struct render_job *job,
                              const struct film *film, double systematic, struct pair_judgement *p,
                              struct error *err)
{
    const size_t pixels = (size_t)job->width * job->height, samples = pixels * job->sample_count;
    const unsigned threads = parallel_threads();
    struct reference *reference = NULL;
    struct steps *steps = NULL;
    struct tie_search t = {.job = reference_job_of(job), .unit = ldexp(1, -film_exponent(s))};
    t.vertices = calloc((size_t)threads * TIE_VERTICES, sizeof *t.vertices);
    t.tied = calloc(samples, 1);
    t.beauty = calloc(3 * pixels, sizeof *t.beauty);
    enum status st = t.vertices && t.tied && t.beauty
                         ? reference_open(s, &reference, err)
                         : error_msg(err, STATUS_MEMORY, "out of memory for %zu samples", samples);
    if (st == STATUS_OK)
        st = steps_open(s, reference, device_describe(d), job, &steps, err);
    if (st == STATUS_OK) {
        t.reference = reference, t.steps = steps;
        parallel_for(job->height, threads, search_row, &t);
        p->samples = samples;
        for (size_t i = 0; i < samples; i++)
            p->tied += t.tied[i];
        if (cancel_requested)
            st = error_msg(err, STATUS_CANCELLED, "stopped");
    }
    if (st == STATUS_OK && p->tied) {
        memcpy(p->truth.beauty, t.beauty, 3 * pixels * sizeof *t.beauty);
        st = without_ties(d, s, job, film, &t, p->image, err);
        if (st == STATUS_OK)
            st = judge_measure(job, p->image, p->truth.beauty, systematic, p, err);
    }
    steps_close(steps);
    reference_close(reference);
    free(t.vertices);
    free(t.tied);
    free(t.beauty);
    return st;
}

enum status pair_judgement_power(const struct render_job *job, double systematic, double level,
                                 struct pair_judgement *p, struct error *err)
{
    const struct metric_estimate a = {p->image, NULL, job->sample_count};
    const struct metric_estimate b = {p->truth.beauty, NULL, job->sample_count};
    return metric_power(job->width, job->height, &a, &b, systematic, level, &p->power, err);
}

void judge_power_text(const struct metric_power *p, char *buf, size_t size)
{
    buf[0] = 0;
    if (!(p->level > 0))
        return;
    size_t n = (size_t)snprintf(buf, size, "; at level %g it notices ", p->level);
    n += (size_t)(isinf(p->radiance)
                      ? snprintf(buf + n, size - n, "no error of all light")
                      : snprintf(buf + n, size - n, "all light off by %.3g %%", 100 * p->radiance));
    if (!isinf(p->pixels))
        (void)snprintf(buf + n, size - n, ", or %.3g %% of the pixels black", 100 * p->pixels);
}

void pair_judgement_free(struct pair_judgement *p)
{
    free(p->image);
    reference_picture_free(&p->truth);
    *p = (struct pair_judgement){0};
}

void pair_judgement_text(const struct pair_judgement *p, const char *whom, double systematic,
                         char *buf, size_t size)
{
    char where[96], left_out[96] = "", power[128];
    judge_power_text(&p->power, power, sizeof power);
    if (p->tied)
        snprintf(left_out, sizeof left_out,
                 "; %llu of %llu samples left out, whose paths meet faces in one plane",
                 (unsigned long long)p->tied, (unsigned long long)p->samples);
    if (p->z.size)
        snprintf(where, sizeof where, "the %u x %u square at (%u,%u)", p->z.size, p->z.size, p->z.x,
                 p->z.y);
    else
        snprintf(where, sizeof where, "the whole picture");
    snprintf(buf, size,
             "p = %.2g against %s on the same random numbers, worst z %.2f in %s, channel %c; "
             "relMSE %.3g (epsilon %g), mean difference %.3g %.3g %.3g, %.2g relative allowed%s%s",
             p->z.p, whom, p->z.worst_z, where, "RGB"[p->z.channel % 3], p -> relmse,
             METRIC_RELMSE_EPSILON, p -> z.mean_difference[0], p->z.mean_difference[1],
             p->z.mean_difference[2], systematic, left_out, power);
}

/* ---- one picture, for bench ---------------------------------------------------------- */

enum { PAIR_LIMIT = 2000000, LOCKSTEP_SAMPLES = 4096 };

/* What the bits of a strict film depend on; its hash is kept under it. */
static void film_key(const struct scene *s, const struct render_job *job, char key[33])
{
    char text[320];
    int n = snprintf(text, sizeof text,
                     "isophote strict film 1 %s %s %ux%u crop %u %u %u %u %u+%u %u %u %llu",
                     kernel_source_hash, s->hash, job->width, job->height, job->crop[0],
                     job->crop[1], job->crop[2], job->crop[3], job->sample_begin, job->sample_count,
                     job->max_depth, job->rr_depth, (unsigned long long)job->seed);
    hash_bytes(text, (size_t)n, key);
}

static bool hash_kept(const char key[33], char hash[33])
{
    struct arena a = {0};
    const void *data;
    size_t size;
    const bool kept =
        truths_read(&a, key, &data, &size) && size == 33 && ((const char *)data)[32] == '\0';
    if (kept)
        memcpy(hash, data, 33);
    arena_free(&a);
    return kept;
}

static enum status judge_bits_against_native(const struct scene *s, const struct render_job *job,
                                             const struct film *film, struct judgement *j,
                                             struct error *err)
{
    const struct film *native = NULL;
    struct bit_difference d;
    char own[33], key[33], right[33];
    film_hash(film, own);
    film_key(s, job, key);
    if (!hash_kept(key, right) || strcmp(own, right) != 0) {
        enum status st = judge_native(s, job, &native, err);
        if (st != STATUS_OK)
            return st;
        film_hash(native, right);
        truths_write(key, right, sizeof right);
    }
    if (native && judge_bits(film, native, &d)) {
        j->verdict = VERDICT_FAIL;
        snprintf(
            j->reason, sizeof j->reason,
            "%zu pixels differ from native's strict picture; first (%u,%u) %s: %.9g, native %.9g",
            d.pixels, d.x, d.y,
            d.channel < 3 ? (const char *[]){"R", "G", "B"}[d.channel] : "count", d.a, d.b);
        return STATUS_OK;
    }
    j->verdict = VERDICT_PASS;
    snprintf(j->reason, sizeof j->reason, "bits equal to native's strict picture%s",
             native ? "" : ", by its kept hash");
    return STATUS_OK;
}

/* The device once more, ready for a job. */
static enum status device_again(const struct scene *s, const char *device,
                                const struct render_job *job, struct device **out,
                                struct error *err)
{
    struct device *d = NULL;
    enum status st = device_open(device, &d, err);
    if (st == STATUS_OK)
        st = device_load(d, s, job->set.load.bvh, NULL, err);
    if (st == STATUS_OK)
        st = device_build(d, &job->set.build, NULL, err);
    if (st != STATUS_OK)
        device_close(d);
    else
        *out = d;
    return st;
}

static enum status judge_in_step(const struct scene *s, const char *device,
                                 const struct render_job *job, struct judgement *j,
                                 struct error *err)
{
    struct device *d = NULL;
    struct divergence v;
    struct render_job first = *job;
    first.progress = NULL;
    enum status st = device_again(s, device, job, &d, err);
    if (st == STATUS_OK)
        st = conform_lockstep(d, s, &first, LOCKSTEP_SAMPLES, &v, err);
    if (st == STATUS_OK && v.divergent) {
        j->verdict = VERDICT_FAIL;
        snprintf(j->reason, sizeof j->reason, "%.500s", v.text);
    }
    device_close(d);
    return st;
}

static double systematic_of(enum math_mode mode)
{
    return mode == MODE_FAST ? JUDGE_SYSTEMATIC_FAST : JUDGE_SYSTEMATIC_DEVICE;
}

/* What was measured becomes the judgement, at `level`. */
static void judgement_of_pair(const struct pair_judgement *p, const char *whom, double systematic,
                              double level, struct judgement *j)
{
    j->verdict = p->z.p < level ? VERDICT_FAIL : VERDICT_PASS;
    pair_judgement_text(p, whom, systematic, j->reason, sizeof j->reason);
    j->mse = p->mse;
    j->relmse = p->relmse;
    j->psnr = p->psnr;
    j->ssim = p->ssim;
    j->flip = p->flip;
    j->worst_z = p->z.worst_z;
    j->share_outliers = p->z.beyond3;
}

/* The first `spp` samples, rendered on the device again, against the reference. A PASS leaves *j.
 * If that is a FAIL already, it stays, unless faces that lie on one another may have made it: then
 * what the other samples say is the judgement. May have: a smaller share of the samples than the
 * systematic difference does no more than that. */
static enum status judge_first_samples(const struct scene *s, const char *device,
                                       const struct render_job *job, uint32_t spp, double level,
                                       struct judgement *j, struct error *err)
{
    struct device *d = NULL;
    struct film film = {0};
    struct render_job first = *job;
    struct pair_judgement p = {0};
    struct judgement of_first;
    char whom[64];
    const double systematic = systematic_of(job->set.build.mode);
    const bool failed = j->verdict == VERDICT_FAIL;
    first.progress = NULL;
    first.sample_count = spp;
    enum status st = device_again(s, device, job, &d, err);
    if (st == STATUS_OK)
        st = judge_render(d, s, &first, &film, err);
    if (st == STATUS_OK)
        st = judge_pair(s, &first, &film, systematic, &p, err);
    if (st == STATUS_OK && (failed || p.z.p < level))
        st = judge_pair_untied(d, s, &first, &film, systematic, &p, err);
    if (st == STATUS_OK) {
        snprintf(whom, sizeof whom, "the reference (first %u samples a pixel)", spp);
        judgement_of_pair(&p, whom, systematic, level, &of_first);
        const double share = p.tied ? (double)p.tied / (double)p.samples : 0;
        if (failed ? share > systematic : of_first.verdict == VERDICT_FAIL)
            *j = of_first;
    }
    pair_judgement_free(&p);
    film_free(&film);
    device_close(d);
    return st;
}

static enum status judge_against_reference(const struct scene *s, const char *device,
                                           const struct render_job *job, const struct film *film,
                                           struct judgement *j, struct error *err)
{
    const double systematic = systematic_of(job->set.build.mode);
    struct pair_judgement p = {0};
    enum status st = judge_pair(s, job, film, systematic, &p, err);
    if (st == STATUS_OK)
        judgement_of_pair(&p, "the reference", systematic, JUDGE_LEVEL, j);
    if (st == STATUS_OK && j->verdict == VERDICT_FAIL) {
        struct device *d = NULL;
        struct render_job again = *job;
        again.progress = NULL;
        st = device_again(s, device, job, &d, err);
        if (st == STATUS_OK)
            st = judge_pair_untied(d, s, &again, film, systematic, &p, err);
        if (st == STATUS_OK)
            judgement_of_pair(&p, "the reference", systematic, JUDGE_LEVEL, j);
        device_close(d);
    }
    pair_judgement_free(&p);
    return st;
}

/* More samples than the reference renders in time: squares of native's strict picture of them all,
 * and the reference's picture of the first ones. Independent samples would not do: with heavy tails they differ by
 * more than any normal law allows, and pictures of unequal counts not even symmetrically. */
static enum status judge_against_native(const struct scene *s, const char *device,
                                        const struct render_job *job, const struct film *film,
                                        struct judgement *j, struct error *err)
{
    const double systematic = systematic_of(job->set.build.mode),
                 level = level_share(JUDGE_LEVEL, 2);
    const uint64_t pixels = (uint64_t)job->width * job->height;
    struct square_judgement q;
    char whom[96];
    TRY(judge_squares(s, job, film, systematic, level, &q, err));
    snprintf(whom, sizeof whom, "native's strict picture (%u of %u squares of it)", q.looked,
             q.squares);
    judgement_of_pair(&q.p, whom, systematic, q.level, j);
    uint32_t spp = (uint32_t)(PAIR_LIMIT / pixels);
    return judge_first_samples(s, device, job, spp ? spp : 1, level, j, err);
}

static enum status judge_film(const struct scene *s, const char *device,
                              const struct render_job *job, const struct film *film,
                              struct judgement *j, struct error *err)
{
    if (job->set.build.mode == MODE_STRICT)
        return judge_bits_against_native(s, job, film, j, err);
    if ((uint64_t)job->width * job->height * job->sample_count <= PAIR_LIMIT)
        return judge_against_reference(s, device, job, film, j, err);
    return judge_against_native(s, device, job, film, j, err);
}

/* The device's picture of the scene without its clamp, which s has no more. */
static enum status judge_unclamped(const struct scene *s, const char *device,
                                   const struct render_job *job, struct judgement *j,
                                   struct error *err)
{
    struct device *d = NULL;
    struct film film = {0};
    struct render_job again = *job;
    char reason[sizeof j->reason];
    again.progress = NULL;
    enum status st = device_again(s, device, job, &d, err);
    if (st == STATUS_OK)
        st = judge_render(d, s, &again, &film, err);
    device_close(d);
    if (st == STATUS_OK)
        st = judge_film(s, device, &again, &film, j, err);
    film_free(&film);
    if (st == STATUS_OK) {
        memcpy(reason, j->reason, sizeof reason);
        snprintf(j->reason, sizeof j->reason, "rendered again without the clamp: %.470s", reason);
    }
    return st;
}

enum status conform_judge(const struct scene *s, const char *device, const struct render_job *job,
                          const struct film *film, struct judgement *out, struct error *err)
{
    struct judgement j = {.mse = NAN,
                          .relmse = NAN,
                          .psnr = NAN,
                          .ssim = NAN,
                          .flip = NAN,
                          .worst_z = NAN,
                          .share_outliers = NAN};
    struct error why = {0};
    enum status st = film_check(film, job->sample_count, NULL, &why);
    if (st != STATUS_OK) {
        j.verdict = VERDICT_FAIL;
        snprintf(j.reason, sizeof j.reason, "%.500s", why.msg);
        *out = j;
        return STATUS_OK;
    }
    struct scene unclamped = *s;
    if (judge_without_clamp(&unclamped, job->set.build.mode))
        st = judge_unclamped(&unclamped, device, job, &j, err);
    else
        st = judge_film(s, device, job, film, &j, err);
    const bool strict = job->set.build.mode == MODE_STRICT;
    const bool step = strict ? strcmp(device, "native") == 0 : job->set.build.mode == MODE_DEVICE;
    if (st == STATUS_OK && j.verdict == VERDICT_PASS && step)
        st = judge_in_step(s, device, job, &j, err);
    if (st == STATUS_OK)
        *out = j;
    return st;
}
