/* SPDX-License-Identifier: Apache-2.0 */
/* device_passes: the passes of a job, a strip of pixels at a time. */
#include "device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP_PIXELS = 8192, RECORD_WORDS = 2 * K_VERTEX_WORDS };

/* One strip on its way: rows of the job's area. */
struct strip {
    uint32_t width, height;
    uint32_t *words; /* what k_passes writes: K_PASS_WORDS a pixel, then the records */
    int64_t (*sums)[K_PASS_SUMS];
    uint32_t *materials; /* of the first sample */
};

static enum status strip_init(struct strip *s, uint32_t width, uint32_t height, struct error *err)
{
    const size_t pixels = (size_t)width * height;
    *s = (struct strip){.width = width, .height = height};
    s->words = calloc(pixels * (K_PASS_WORDS + RECORD_WORDS), sizeof *s->words);
    s->sums = calloc(pixels, sizeof *s->sums);
    s->materials = calloc(pixels, sizeof *s->materials);
    if (s->words && s->sums && s->materials)
        return STATUS_OK;
    return error_msg(err, STATUS_MEMORY, "out of memory for the passes of %zu pixels", pixels);
}

static void strip_free(struct strip *s)
{
    free(s->words);
    free(s->sums);
    free(s->materials);
}

static void strip_add(struct strip *s, uint32_t rows, bool first)
{
    for (size_t i = 0; i < (size_t)s->width * rows; i++) {
        const uint32_t *w = s->words + i * K_PASS_WORDS;
        if (first)
            s->materials[i] = w[K_PASS_MATERIAL];
        for (size_t k = 0; k < K_PASS_SUMS; k++)
            s->sums[i][k] += (int64_t)((uint64_t)w[2 * k + 1] << 32 | w[2 * k]);
    }
}

/* ---- from sums to values ------------------------------------------------------------- */

struct scales {
    double n;
    int film, position; /* E and D */
    uint32_t materials; /* how many there are */
    const uint32_t *shaders;
};

/* (n Q - S^2) / (n (n - 1)) in units of the film, exactly up to the last division. */
static float variance_of(const int64_t *S, const int64_t *squares, const struct scales *to)
{
    const __int128 n = (__int128)to->n, hh = squares[0], hl = squares[1], ll = squares[2];
    __int128 Q = (hh << 46) + (hl << 24) + ll;
    double spread = (double)(n * Q - (__int128)*S * *S);
    return to->n > 1 ? (float)ldexp(spread / (to->n * (to->n - 1)), -2 * to->film) : 0;
}

static void means(float *out, const int64_t *sums, unsigned channels, int exponent, double n)
{
    for (unsigned c = 0; c < channels; c++)
        out[c] = (float)ldexp((double)sums[c] / n, -exponent);
}

static float id_of(enum pass pass, uint32_t material, const struct scales *to)
{
    if (material >= to->materials)
        return -1;
    return (float)(pass == PASS_SHADER ? to->shaders[material] : material);
}

static void pixel_fill(enum pass pass, const int64_t *sums, uint32_t material,
                       const struct scales *to, float *out)
{
    static const struct {
        unsigned at;
        int exponent; /* of passes whose unit is always the same */
    } rows[PASS_COUNT] = {
        [PASS_ALBEDO] = {K_PASS_ALBEDO, 30},   [PASS_NORMAL] = {K_PASS_NORMAL, 30},
        [PASS_TANGENT] = {K_PASS_TANGENT, 30}, [PASS_BITANGENT] = {K_PASS_BITANGENT, 30},
        [PASS_UV] = {K_PASS_UV, 24},           [PASS_AO] = {K_PASS_AO, 30}};
    switch (pass) {
    case PASS_BEAUTY:
        means(out, sums + K_PASS_BEAUTY, 3, to->film, to->n);
        break;
    case PASS_DIRECT:
        means(out, sums + K_PASS_DIRECT, 3, to->film, to->n);
        break;
    case PASS_INDIRECT:
        for (int c = 0; c < 3; c++) {
            int64_t rest = sums[K_PASS_BEAUTY + c] - sums[K_PASS_DIRECT + c];
            means(out + c, &rest, 1, to->film, to->n);
        }
        break;
    case PASS_VARIANCE:
        for (int c = 0; c < 3; c++)
            out[c] = variance_of(sums + K_PASS_BEAUTY + c, sums + K_PASS_SQUARES + 3 * c, to);
        break;
    case PASS_DEPTH:
        means(out, sums + K_PASS_DEPTH, 1, to->position, to->n);
        break;
    case PASS_POSITION:
        means(out, sums + K_PASS_POSITION, 3, to->position, to->n);
        break;
    case PASS_MATERIAL:
    case PASS_SHADER:
        *out = id_of(pass, material, to);
        break;
    case PASS_SAMPLES:
        *out = (float)to->n;
        break;
    case PASS_ALBEDO:
    case PASS_NORMAL:
    case PASS_TANGENT:
    case PASS_BITANGENT:
    case PASS_UV:
    case PASS_AO:
        means(out, sums + rows[pass].at, pass_infos[pass].channels, rows[pass].exponent, to->n);
        break;
    case PASS_DENOISED:
    case PASS_COUNT:
        break;
    }
}

static void strip_fill(const struct strip *s, uint32_t y0, uint32_t rows, const struct scales *to,
                       struct passes *out)
{
    for (int pass = 0; pass < PASS_COUNT; pass++) {
        const unsigned channels = pass_infos[pass].channels;
        float *values = out->values[pass];
        for (size_t i = 0; values && i < (size_t)s->width * rows; i++)
            pixel_fill((enum pass)pass, s->sums[i], s->materials[i], to,
                       values + ((size_t)y0 * s->width + i) * channels);
    }
}

/* ---- the job ------------------------------------------------------------------------- */

static enum status check_time(const struct render_job *job, double start, double share,
                              struct error *err)
{
    double spent = clock_s() - start;
    if (job->progress)
        job->progress(job->progress_ctx, share, share > 0 ? spent * (1 - share) / share : 0);
    if (share >= 1)
        return STATUS_OK;
    if (cancel_requested)
        return error_msg(err, STATUS_CANCELLED, "stopped after %.0f%% of the passes", 100 * share);
    if (job->timeout_s > 0 && spent > job->timeout_s)
        return error_msg(err, STATUS_TIMEOUT,
                         "%.3g s passed after %.0f%% of the passes; the limit is %.3g s", spent,
                         100 * share, job->timeout_s);
    return STATUS_OK;
}

/* A job's passes on their way. */
struct passes_run {
    struct device *d;
    const struct render_job *job;
    struct k_launch launch;
    struct passes_state state; /* what is done so far */
    struct strip strip;
    uint32_t batch; /* samples a pixel that are soon over; 0: not known */
};

static void passes_keep(const struct passes_run *r, bool stopping)
{
    const struct render_keeper *k = r->job->keeper;
    if (k && k->passes && (stopping || k->due(k->ctx)))
        k->passes(k->ctx, &r->state, stopping);
}

/* All samples of `rows` rows of pixels from launch's tile_y on, or those that are missing. */
static enum status strip_run(struct passes_run *r, uint32_t rows, struct error *err)
{
    struct device *d = r->d;
    const struct render_job *job = r->job;
    struct strip *s = &r->strip;
    struct k_launch *l = &r->launch;
    const size_t pixels = (size_t)s->width * rows;
    const size_t most = d->info.kind == DEVICE_CPU ? 1u << 18 : 1u << 24;
    uint32_t batch = pixels >= most ? 1 : (uint32_t)(most / pixels);
    const uint32_t longest = batch, unused = 0;
    enum status st = STATUS_OK;
    if (job->keeper && r->batch < batch) /* soon over: what is kept is kept in between */
        batch = r->batch ? r->batch : 1;
    if (r->state.strip_samples == 0)
        memset(s->sums, 0, pixels * sizeof *s->sums);
    r->state.sum_count = pixels * K_PASS_SUMS;
    r->state.material_count = pixels;
    l->tile_h = rows;
    l->rows = (uint32_t)pixels;
    for (uint32_t done = r->state.strip_samples; st == STATUS_OK && done < job->sample_count;) {
        const uint32_t left = job->sample_count - done, count = batch < left ? batch : left;
        const double start = clock_s();
        l->sample_begin = job->sample_begin + done;
        l->sample_count = count;
        st = d->api->run_words(d->backend, ENTRY_PASSES, l, &unused, 1, s->words,
                               pixels * (K_PASS_WORDS + RECORD_WORDS), pixels, err);
        if (st == STATUS_OK)
            st = texture_cache_fault(d->layout.cache, err);
        if (st == STATUS_OK && cancel_requested)
            st = error_msg(err, STATUS_CANCELLED, "stopped within the passes");
        if (st != STATUS_OK)
            break;
        strip_add(s, rows, done == 0);
        done += count;
        r->state.strip_samples = done;
        if (job->keeper) {
            const double next = count * 0.15 / fmax(clock_s() - start, 1e-6);
            batch = next < 1 ? 1 : next < longest ? (uint32_t)next : longest;
            r->batch = batch;
        }
        if (done < job->sample_count)
            passes_keep(r, false);
    }
    return st;
}

/* Takes over what was done before, if it is of this job. */
static enum status passes_resume(struct passes_run *r, uint32_t step, struct error *err)
{
    const struct passes_state *from = r->job->passes_resumed;
    struct passes_state *to = &r->state;
    const uint32_t width = to->values.width, height = to->values.height;
    if (!from)
        return STATUS_OK;
    const uint32_t left = from->rows < height ? height - from->rows : 0,
                   strip = step < left ? step : left;
    const size_t pixels = from->strip_samples ? (size_t)strip * width : 0;
    bool fits = from->bits == to->bits && from->values.width == width &&
                from->values.height == height && from->rows <= height &&
                (from->rows == height || from->rows % step == 0) &&
                from->strip_samples <= r->job->sample_count && (left || !from->strip_samples) &&
                from->sum_count == pixels * K_PASS_SUMS && from->material_count == pixels;
    for (int pass = 0; pass < PASS_COUNT; pass++)
        fits = fits && (!to->values.values[pass] || !from->rows || from->values.values[pass]);
    if (!fits)
        return error_msg(err, STATUS_ARG, "what was kept of passes is not of this job");
    for (int pass = 0; pass < PASS_COUNT; pass++)
        if (to->values.values[pass] && from->rows)
            memcpy(to->values.values[pass], from->values.values[pass],
                   sizeof(float) * pass_infos[pass].channels * from->rows * width);
    if (pixels) {
        memcpy(r->strip.sums, from->sums, from->sum_count * sizeof *from->sums);
        memcpy(r->strip.materials, from->materials, pixels * sizeof *from->materials);
    }
    to->rows = from->rows;
    to->strip_samples = from->strip_samples;
    return STATUS_OK;
}

/* Strip by strip, `step` rows each. */
static enum status passes_run(struct passes_run *r, uint32_t y0, uint32_t step, struct error *err)
{
    struct device *d = r->d;
    struct passes *made = &r->state.values;
    const struct scales to = {r->job->sample_count, d->exponent, d->position_exponent,
                              d->layout.material_count, d->shader_ids};
    const double start = clock_s();
    enum status st = passes_resume(r, step, err);
    r->state.sums = &r->strip.sums[0][0];
    r->state.materials = r->strip.materials;
    while (st == STATUS_OK && r->state.rows < made->height) {
        const uint32_t y = r->state.rows, rows = step < made->height - y ? step : made->height - y;
        r->launch.tile_y = y0 + y;
        st = strip_run(r, rows, err);
        if (st != STATUS_OK)
            break;
        strip_fill(&r->strip, y, rows, &to, made);
        r->state.rows = y + rows;
        r->state.strip_samples = 0;
        r->state.sum_count = r->state.material_count = 0;
        st = check_time(r->job, start, (double)(y + rows) / made->height, err);
        if (st == STATUS_OK && r->state.rows < made->height)
            passes_keep(r, false);
    }
    if (st == STATUS_CANCELLED || st == STATUS_TIMEOUT) {
        if (r->state.strip_samples == 0)
            r->state.sum_count = r->state.material_count = 0;
        passes_keep(r, true);
    }
    return st;
}

enum status device_passes(struct device *d, const struct render_job *job, unsigned bits,
                          struct passes *out, struct error *err)
{
    const unsigned radiance =
        1u << PASS_BEAUTY | 1u << PASS_DIRECT | 1u << PASS_INDIRECT | 1u << PASS_VARIANCE;
    if (!d || !job || !out || bits == 0 || bits & ~PASSES_ALL)
        return error_msg(err, STATUS_ARG, "device_passes needs a device, a job and passes");
    enum status st = device_job_check(d, job, err);
    if (st)
        return st;
    if (!d->shader_ids)
        return error_msg(err, STATUS_MEMORY, "out of memory for the shaders' numbers");
    if (job->sample_count == 0 || job->sample_count > FILM_SAMPLES_MAX)
        return error_msg(err, STATUS_ARG, "%u samples a pixel: 1 to %u in one job",
                         job->sample_count, FILM_SAMPLES_MAX);
    uint32_t area[4];
    job_area(job, area);
    const uint32_t step = area[2] >= STRIP_PIXELS ? 1 : STRIP_PIXELS / area[2];
    struct passes_run r = {.d = d, .job = job, .launch = device_launch(d, job)};
    r.launch.pass_scale = (float)ldexp(1, d->position_exponent);
    r.launch.pass_paths = (bits & radiance) != 0;
    r.launch.ao_distance = bits & 1u << PASS_AO ? d->ao_distance : 0;
    r.launch.tile_x = area[0];
    r.launch.tile_w = area[2];
    if (d->api->set_threads)
        d->api->set_threads(d->backend, job->set.launch.threads);
    r.state.bits = bits;
    if ((st = device_answer(d, job, err)))
        return st;
    if ((st = passes_init(&r.state.values, area[2], area[3], bits, err)))
        return st;
    st = strip_init(&r.strip, area[2], step < area[3] ? step : area[3], err);
    if (st == STATUS_OK)
        st = passes_run(&r, area[1], step, err);
    strip_free(&r.strip);
    if (st == STATUS_OK)
        *out = r.state.values;
    else
        passes_free(&r.state.values);
    return st;
}
