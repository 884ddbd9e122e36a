#include "judge.h"
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
                               .launch = {.mode = mode}};
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

/* ---- strict: bits ------------------------------------------------------------------------------
 */

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
    own.launch = (struct launch_settings){.mode = MODE_STRICT};
    enum status st = device_open("native", &d, err);
    if (st == STATUS_OK)
        st = device_load(d, s, BVH_AUTO, NULL, err);
    if (st == STATUS_OK)
        st = device_build(d, &(struct launch_settings){.mode = MODE_STRICT}, NULL, err);
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

enum status judge_pair(const struct scene *s, const struct render_job *job, const struct film *film,
                       double systematic, uint64_t limit, struct pair_judgement *out,
                       struct error *err)
{
    struct pair_judgement p = {0};
    uint64_t pixels = (uint64_t)job->width * job->height;
    struct reference_job rj = {.width = job->width,
                               .height = job->height,
                               .sample_begin = job->sample_begin,
                               .sample_count = job->sample_count,
                               .max_depth = job->max_depth,
                               .rr_depth = job->rr_depth,
                               .seed = job->seed};
    p.paired = pixels * job->sample_count <= limit;
    if (!p.paired) {
        uint64_t spp = limit / pixels;
        rj.sample_begin = 0;
        rj.sample_count = (uint32_t)(spp < 4 ? 4 : spp);
        rj.seed = job->seed ^ UINT64_C(0x9e3779b97f4a7c15); /* samples of its own */
    }
    enum status st = reference_truth(s, &rj, &p.truth, NULL, err);
    if (st != STATUS_OK)
        return st;
    p.image = malloc(pixels * 3 * sizeof *p.image);
    if (!p.image) {
        pair_judgement_free(&p);
        return error_msg(err, STATUS_MEMORY, "out of memory for a picture");
    }
    metric_from_film(film, p.image);
    /* noise is the same on both sides of a pair and cancels; else both have the reference's
     * variance */
    const double *variance = p.paired ? NULL : p.truth.variance;
    const struct metric_estimate a = {p.image, variance, job->sample_count};
    const struct metric_estimate b = {p.truth.beauty, variance, rj.sample_count};
    const struct metric_pair pair = {job->width, job->height, p.image, p.truth.beauty};
    double mean = 0;
    for (size_t i = 0; i < 3 * pixels; i++)
        mean += p.truth.beauty[i] / (double)(3 * pixels);
    double exposure = mean > 0 ? 0.18 / mean : 1;
    st = metric_z(job->width, job->height, &a, &b, systematic, &p.z, err);
    if (st == STATUS_OK)
        st = metric_mse(&pair, &p.mse, err);
    if (st == STATUS_OK)
        st = metric_relmse(&pair, METRIC_RELMSE_EPSILON, &p.relmse, err);
    if (st == STATUS_OK)
        st = metric_psnr(&pair, exposure, &p.psnr, err);
    p.ssim = p.flip = NAN;
    if (st == STATUS_OK && job->width >= 11 && job->height >= 11)
        st = metric_ssim(&pair, exposure, &p.ssim, err);
    if (st == STATUS_OK && pixels <= 1u << 16) /* FLIP costs the most; larger pictures go without */
        st = metric_flip_ldr(&pair, exposure, METRIC_FLIP_PPD, &p.flip, NULL, err);
    if (st != STATUS_OK)
        pair_judgement_free(&p);
    else
        *out = p;
    return st;
}

void pair_judgement_free(struct pair_judgement *p)
{
    free(p->image);
    reference_picture_free(&p->truth);
    *p = (struct pair_judgement){0};
}

void pair_judgement_text(const struct pair_judgement *p, double systematic, char *buf, size_t size)
{
    char where[96];
    if (p->z.size)
        snprintf(where, sizeof where, "the %u x %u square at (%u,%u)", p->z.size, p->z.size, p->z.x,
                 p->z.y);
    else
        snprintf(where, sizeof where, "the whole picture");
    snprintf(buf, size,
             "p = %.2g against the reference on %s random numbers, worst z %.2f in %s, channel %c; "
             "relMSE %.3g (epsilon %g), mean difference %.3g %.3g %.3g, %.2g relative allowed",
             p->z.p, p->paired ? "the same" : "other", p->z.worst_z, where, "RGB"[p->z.channel % 3],
             p -> relmse, METRIC_RELMSE_EPSILON, p -> z.mean_difference[0], p->z.mean_difference[1],
             p->z.mean_difference[2], systematic);
}

/* ---- one picture, for bench ---------------------------------------------------------- */

enum { PAIR_LIMIT = 2000000, LOCKSTEP_SAMPLES = 4096 };

static enum status judge_bits_against_native(const struct scene *s, const struct render_job *job,
                                             const struct film *film, struct judgement *j,
                                             struct error *err)
{
    const struct film *native;
    struct bit_difference d;
    enum status st = judge_native(s, job, &native, err);
    if (st != STATUS_OK)
        return st;
    if (judge_bits(film, native, &d)) {
        j->verdict = VERDICT_FAIL;
        snprintf(
            j->reason, sizeof j->reason,
            "%zu pixels differ from native's strict picture; first (%u,%u) %s: %.9g, native %.9g",
            d.pixels, d.x, d.y,
            d.channel < 3 ? (const char *[]){"R", "G", "B"}[d.channel] : "count", d.a, d.b);
        return STATUS_OK;
    }
    j->verdict = VERDICT_PASS;
    snprintf(j->reason, sizeof j->reason, "bits equal to native's strict picture");
    return STATUS_OK;
}

/* The device once more, on the job's first samples: in step with the reference. */
static enum status judge_first_samples(const struct scene *s, const char *device,
                                       const struct render_job *job, struct judgement *j,
                                       struct error *err)
{
    struct device *d = NULL;
    struct divergence v;
    struct film film = {0};
    struct render_job first = *job;
    struct pair_judgement p = {0};
    first.progress = NULL;
    enum status st = device_open(device, &d, err);
    if (st == STATUS_OK)
        st = device_load(d, s, job->launch.bvh, NULL, err);
    if (st == STATUS_OK)
        st = device_build(d, &job->launch, NULL, err);
    const double systematic =
        job->launch.mode == MODE_FAST ? JUDGE_SYSTEMATIC_FAST : JUDGE_SYSTEMATIC_DEVICE;
    if (st == STATUS_OK && job->launch.mode != MODE_FAST && steps_follow(s)) {
        st = conform_lockstep(d, s, &first, LOCKSTEP_SAMPLES, &v, err);
        if (st == STATUS_OK && v.divergent) {
            j->verdict = VERDICT_FAIL;
            snprintf(j->reason, sizeof j->reason, "%s", v.text);
        }
    } else if (st == STATUS_OK) {
        first.sample_count = 1;
        st = judge_render(d, s, &first, &film, err);
        if (st == STATUS_OK)
            st = judge_pair(s, &first, &film, systematic, UINT64_MAX, &p, err);
        if (st == STATUS_OK && p.z.p < JUDGE_LEVEL) {
            j->verdict = VERDICT_FAIL;
            pair_judgement_text(&p, systematic, j->reason, sizeof j->reason);
        }
    }
    pair_judgement_free(&p);
    film_free(&film);
    device_close(d);
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
    if (job->launch.mode == MODE_STRICT) {
        st = judge_bits_against_native(s, job, film, &j, err);
        if (st == STATUS_OK && j.verdict == VERDICT_PASS && strcmp(device, "native") == 0)
            st = judge_first_samples(s, device, job, &j, err);
    } else {
        double systematic =
            job->launch.mode == MODE_DEVICE ? JUDGE_SYSTEMATIC_DEVICE : JUDGE_SYSTEMATIC_FAST;
        struct pair_judgement p = {0};
        st = judge_pair(s, job, film, systematic, PAIR_LIMIT, &p, err);
        if (st == STATUS_OK) {
            j.verdict = p.z.p < JUDGE_LEVEL ? VERDICT_FAIL : VERDICT_PASS;
            pair_judgement_text(&p, systematic, j.reason, sizeof j.reason);
            j.mse = p.mse;
            j.relmse = p.relmse;
            j.psnr = p.psnr;
            j.ssim = p.ssim;
            j.flip = p.flip;
            j.worst_z = p.z.worst_z;
            j.share_outliers = p.z.beyond3;
            pair_judgement_free(&p);
            if (j.verdict == VERDICT_PASS)
                st = judge_first_samples(s, device, job, &j, err);
        }
    }
    if (st == STATUS_OK)
        *out = j;
    return st;
}
