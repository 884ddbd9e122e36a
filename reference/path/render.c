/* SPDX-License-Identifier: Apache-2.0 */
#include "path.h"

#include <stdlib.h>
#include <string.h>

enum { TILE = 4 }; /* pixels a side */

/* What a pixel has gathered. */
struct pixel {
    uint32_t n;
    bool done; /* it stops here, whatever the job's number of samples */
    struct vec3 sum, albedo, normal;
    struct vec3 mean, squares; /* Welford: of the deviations from the mean */
    double Y, Y_squares;       /* the same of the luminance */
    double depth;
};

struct render {
    const struct reference *reference;
    const struct reference_job *job;
    struct reference_picture *picture;
    struct pixel *pixels;
    uint32_t x0, y0; /* where the picture lies in the whole one */
    uint32_t wanted; /* samples of a pixel at the end of this round */
    size_t tiles_x, tiles;
    atomic_size_t done;
    atomic_flag reporting; /* a thread is inside job->progress */
    atomic_bool cancelled;
    atomic_bool paused; /* for what is done so far to be kept */
    double start;
};

/* ---- one sample ----------------------------------------------------------------------- */

static void more_add(struct render *r, size_t at, enum pass pass, struct vec3 v)
{
    double *to = r->picture->more[pass];
    const double c[3] = {v.x, v.y, v.z};
    const unsigned channels = pass_infos[pass].channels;
    for (unsigned i = 0; to && i < channels && i < 3; i++)
        to[channels * at + i] += c[i];
}

/* Section 29's t and b at the first vertex. */
static void tangents(const struct first_vertex *first, struct vec3 *t, struct vec3 *b)
{
    struct vec3 n = first->normal;
    *t = sub(first->U, scale(dot(first->U, n), n));
    if (!(dot(*t, *t) > 0)) {
        struct frame f = frame_about(n);
        *t = f.s, *b = f.t;
        return;
    }
    *t = normalize(*t);
    *b = cross(n, *t);
    if (dot(*b, first->V) < 0)
        *b = negate(*b);
}

/* What the sample adds to the arrays that only some jobs ask for; log: its first two vertices. */
static void sample_passes(struct render *r, size_t at, uint32_t index, struct vec3 L,
                          const struct first_vertex *first, const struct path_log *log)
{
    const struct path_vertex *v = log->vertices;
    struct vec3 t, b;
    if (log->count == 0)
        return;
    struct vec3 direct = add(from_double(v[0].emitted), from_double(v[0].direct));
    if (log->count > 1)
        direct = add(direct, from_double(v[1].emitted));
    double k = clamp_factor(r->reference, L);
    if (isfinite(L.x) && isfinite(L.y) && isfinite(L.z))
        more_add(r, at, PASS_DIRECT, film_value(r->reference, scale(k, direct)));
    const bool vertex = v[0].material != UINT32_MAX;
    if (index == 0 && r->picture->more[PASS_MATERIAL])
        r->picture->more[PASS_MATERIAL][at] = vertex ? (double)v[0].material : -1;
    if (vertex)
        more_add(r, at, PASS_POSITION,
                 add(from_double(v[0].P), from_double(r->reference->scene->frame_origin)));
    if (!vertex || v[0].primitive == UINT32_MAX) /* a miss, or in a medium */
        return;
    tangents(first, &t, &b);
    more_add(r, at, PASS_TANGENT, t);
    more_add(r, at, PASS_BITANGENT, b);
    more_add(r, at, PASS_UV, vec3(v[0].uv[0], v[0].uv[1], 0));
    more_add(r, at, PASS_AO, gray(first->open));
}

/* A sample value as the film adds it up (section 9). */
static struct vec3 film_rounded(const struct reference *r, struct vec3 L)
{
    const double unit = r->film_limit * 0x1p-46; /* 2^-E */
    return vec3(rint(L.x / unit) * unit, rint(L.y / unit) * unit, rint(L.z / unit) * unit);
}

static void sample_add(struct pixel *p, struct vec3 L, const struct first_vertex *first)
{
    p->n++;
    p->sum = add(p->sum, L);
    struct vec3 before = sub(L, p->mean);
    p->mean = add(p->mean, scale(1.0 / p->n, before));
    p->squares = add(p->squares, mul(before, sub(L, p->mean)));
    double apart = luminance(L) - p->Y;
    p->Y += apart / p->n;
    p->Y_squares += apart * (luminance(L) - p->Y);
    p->albedo = add(p->albedo, first->albedo);
    p->normal = add(p->normal, first->normal);
    p->depth += first->depth;
}

/* Is the work to stop after this sample, for good or to be kept? */
static bool is_stopped(struct render *r)
{
    if (cancel_requested)
        atomic_store(&r->cancelled, true);
    else if (r->job->keep_due && r->job->keep_due(r->job->keep_ctx))
        atomic_store(&r->paused, true);
    return atomic_load(&r->cancelled) || atomic_load(&r->paused);
}

/* The next samples of one pixel, in order: the same sums whatever thread does it. */
static void render_pixel(struct render *r, struct shader_thread *shaders, uint32_t x, uint32_t y)
{
    const struct reference_job *job = r->job;
    const size_t at = (size_t)(y - r->y0) * r->picture->width + (x - r->x0);
    struct pixel *p = &r->pixels[at];
    for (uint32_t i = p->n; !p->done && i < r->wanted; i++) {
        if (i % 16 == 0 && is_stopped(r))
            return;
        struct first_vertex first = {0};
        struct path_vertex vertices[2] = {{0}};
        struct path_log log = {vertices, job->passes ? 2 : 0, 0, NULL};
        struct vec3 L =
            path_radiance(r->reference, job, shaders, x, y, job->sample_begin + i, &first, &log);
        if (job->passes)
            sample_passes(r, at, i, L, &first, &log);
        L = film_value(r->reference, L);
        sample_add(p, job->rounded ? film_rounded(r->reference, L) : L, &first);
    }
}

/* ---- rounds --------------------------------------------------------------------------- */

static void report(struct render *r, size_t done)
{
    if (!r->job->progress || atomic_flag_test_and_set(&r->reporting))
        return;
    double share = (double)done / (double)r->tiles;
    /* processors of a virtual machine may disagree about the time by more than a tile takes */
    double spent = fmax(0, clock_s() - r->start);
    r->job->progress(r->job->progress_ctx, share, spent * (1 / share - 1));
    atomic_flag_clear(&r->reporting);
}

static void render_tile(void *ctx, size_t tile, unsigned thread)
{
    (void)thread;
    struct render *r = ctx;
    uint32_t x0 = (uint32_t)(tile % r->tiles_x) * TILE, y0 = (uint32_t)(tile / r->tiles_x) * TILE;
    if (atomic_load(&r->cancelled) || atomic_load(&r->paused))
        return;
    struct shader_pool *pool = r->reference->shaders;
    struct shader_thread *shaders = shader_thread_take(pool);
    for (uint32_t y = y0; y < y0 + TILE && y < r->picture->height; y++) {
        for (uint32_t x = x0; x < x0 + TILE && x < r->picture->width; x++) {
            if (!atomic_load(&r->cancelled) && !atomic_load(&r->paused))
                render_pixel(r, shaders, r->x0 + x, r->y0 + y);
        }
    }
    shader_thread_give(pool, shaders);
    if ((pool->shaded && shader_pool_failed(pool, NULL)) ||
        texture_cache_fault(r->reference->scene->cache, NULL))
        atomic_store(&r->cancelled, true);
    report(r, atomic_fetch_add(&r->done, 1) + 1);
}

/* Section 29's error target: is the pixel good, given the picture's mean luminance? */
static bool pixel_good(const struct render *r, size_t at, double M)
{
    const struct pixel *p = &r->pixels[at];
    if (p->n < 2) /* cancelled */
        return false;
    double e = sqrt(p->Y_squares / (p->n - 1) / p->n);
    return e <= r->job->error_target * (p->Y + M) / 2;
}

/* Marks the pixels that stop after this round; false when none is left. */
static bool pixels_stop(struct render *r)
{
    const size_t w = r->picture->width, h = r->picture->height;
    bool left = false, *good = calloc(w * h, sizeof *good);
    double M = 0;
    if (!good) /* then nothing stops */
        return true;
    for (size_t i = 0; i < w * h; i++)
        M += r->pixels[i].Y / (double)(w * h);
    for (size_t i = 0; i < w * h; i++)
        good[i] = pixel_good(r, i, M);
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            bool all = true;
            for (size_t ny = y ? y - 1 : 0; ny <= y + 1 && ny < h; ny++)
                for (size_t nx = x ? x - 1 : 0; nx <= x + 1 && nx < w; nx++)
                    all &= good[ny * w + nx];
            r->pixels[y * w + x].done |= all;
            left |= !r->pixels[y * w + x].done;
        }
    free(good);
    return left;
}

/* Hands what there is to who keeps it; no thread is at work. */
static void state_keep(struct render *r, bool stopping)
{
    struct reference_state s = {.width = r->picture->width,
                                .height = r->picture->height,
                                .round = r->wanted,
                                .pixels = r->pixels,
                                .pixel_size = sizeof *r->pixels};
    for (int i = 0; i < PASS_COUNT; i++)
        s.more[i] = r->picture->more[i];
    if (r->job->keep && !shader_pool_failed(r->reference->shaders, NULL) &&
        !texture_cache_fault(r->reference->scene->cache, NULL))
        r->job->keep(r->job->keep_ctx, &s, stopping);
}

static void rounds_run(struct render *r)
{
    enum { FIRST_ROUND = 32 };
    const uint32_t all = r->job->sample_count;
    const bool stops = r->job->error_target > 0;
    r->wanted = stops && all > FIRST_ROUND ? FIRST_ROUND : all;
    if (stops && r->job->resumed)
        r->wanted = r->job->resumed->round;
    for (;;) {
        atomic_store(&r->done, 0);
        parallel_for(r->tiles, r->job->threads, render_tile, r);
        if (atomic_load(&r->cancelled))
            state_keep(r, true);
        if (!atomic_load(&r->cancelled) && atomic_load(&r->paused)) {
            state_keep(r, false);
            atomic_store(&r->paused, false);
            continue;
        }
        if (r->wanted == all || atomic_load(&r->cancelled) || !pixels_stop(r))
            return;
        r->wanted = r->wanted > all / 2 ? all : 2 * r->wanted;
    }
}

/* ---- the picture ---------------------------------------------------------------------- */

static enum status picture_init(struct reference_picture *p, const struct reference_job *job,
                                struct error *err)
{
    static const enum pass kept[] = {PASS_DIRECT, PASS_TANGENT, PASS_BITANGENT, PASS_POSITION,
                                     PASS_UV,     PASS_AO,      PASS_MATERIAL};
    const uint32_t width = job->crop[2] ? job->crop[2] : job->width;
    const uint32_t height = job->crop[2] ? job->crop[3] : job->height;
    size_t pixels = (size_t)width * height, more = 0;
    for (int i = 0; i < PASS_COUNT; i++)
        more += job->passes & 1u << i ? pass_infos[i].channels : 0;
    TRY(memory_plan(pixels * ((13 + more) * sizeof(double) + sizeof(struct pixel)), err,
                    "a picture of %ux%u pixels in double precision", width, height));
    *p = (struct reference_picture){.width = width,
                                    .height = height,
                                    .samples = job->sample_count,
                                    .beauty = calloc(pixels * 3, sizeof(double)),
                                    .variance = calloc(pixels * 3, sizeof(double)),
                                    .albedo = calloc(pixels * 3, sizeof(double)),
                                    .normal = calloc(pixels * 3, sizeof(double)),
                                    .depth = calloc(pixels, sizeof(double))};
    bool whole = p->beauty && p->variance && p->albedo && p->normal && p->depth;
    if (job->error_target > 0) {
        p->counts = calloc(pixels, sizeof *p->counts);
        whole &= p->counts != NULL;
    }
    unsigned wanted = job->passes;
    if (wanted & 1u << PASS_INDIRECT)
        wanted |= 1u << PASS_DIRECT;
    if (wanted & 1u << PASS_SHADER)
        wanted |= 1u << PASS_MATERIAL;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (!(wanted & 1u << kept[i]))
            continue;
        p->more[kept[i]] = calloc(pixels * pass_infos[kept[i]].channels, sizeof(double));
        whole &= p->more[kept[i]] != NULL;
    }
    if (whole)
        return STATUS_OK;
    reference_picture_free(p);
    return error_msg(err, STATUS_MEMORY, "no memory for a picture of %u x %u pixels", width,
                     height);
}

/* From what the pixels have gathered. */
static void picture_fill(const struct render *r)
{
    struct reference_picture *p = r->picture;
    for (size_t i = 0; i < (size_t)p->width * p->height; i++) {
        const struct pixel *from = &r->pixels[i];
        const double n = from->n;
        struct vec3 variance = n > 1 ? scale(1 / (n - 1), from->squares) : gray(0);
        to_double(vec3(from->sum.x / n, from->sum.y / n, from->sum.z / n), p->beauty + 3 * i);
        to_double(variance, p->variance + 3 * i);
        to_double(scale(1 / n, from->albedo), p->albedo + 3 * i);
        to_double(scale(1 / n, from->normal), p->normal + 3 * i);
        p->depth[i] = from->depth / n;
        if (p->counts)
            p->counts[i] = from->n;
        for (int pass = 0; pass < PASS_COUNT; pass++) {
            const unsigned channels = pass_infos[pass].channels;
            for (unsigned c = 0; p->more[pass] && pass != PASS_MATERIAL && c < channels; c++)
                p->more[pass][channels * i + c] /= n;
        }
    }
}

/* ---- what is kept of a picture -------------------------------------------------------- */

void reference_state_rgb(const struct reference_state *s, float *rgb)
{
    const struct pixel *pixels = s->pixels;
    for (size_t i = 0; i < (size_t)s->width * s->height; i++) {
        const struct vec3 sum = pixels[i].sum;
        const double n = pixels[i].n ? pixels[i].n : 1;
        rgb[3 * i] = (float)(sum.x / n);
        rgb[3 * i + 1] = (float)(sum.y / n);
        rgb[3 * i + 2] = (float)(sum.z / n);
    }
}

enum status reference_state_check(const struct reference_state *s, uint32_t spp, uint64_t *samples,
                                  struct error *err)
{
    const struct pixel *pixels = s->pixels;
    uint64_t total = 0;
    if (!pixels || s->pixel_size != sizeof *pixels)
        return error_msg(err, STATUS_MISMATCH, "a pixel of %zu bytes, expected %zu", s->pixel_size,
                         sizeof *pixels);
    for (size_t i = 0; i < (size_t)s->width * s->height; i++) {
        const struct vec3 sum = pixels[i].sum;
        if (pixels[i].n > spp)
            return error_msg(err, STATUS_RANGE,
                             "pixel (%zu, %zu) holds %u samples, which are more than %u",
                             i % s->width, i / s->width, pixels[i].n, spp);
        if (!(sum.x >= 0 && sum.y >= 0 && sum.z >= 0) || !isfinite(sum.x + sum.y + sum.z))
            return error_msg(err, STATUS_MISMATCH, "pixel (%zu, %zu) is no sum of samples",
                             i % s->width, i / s->width);
        total += pixels[i].n;
    }
    *samples = total;
    return STATUS_OK;
}

/* The picture and its pixels as they were. */
static enum status state_take(struct render *r, struct error *err)
{
    const struct reference_state *s = r->job->resumed;
    const size_t count = (size_t)r->picture->width * r->picture->height;
    struct error why = {0};
    uint64_t samples;
    bool fits = s->width == r->picture->width && s->height == r->picture->height &&
                (r->job->error_target <= 0 || (s->round && s->round <= r->job->sample_count));
    for (int i = 0; i < PASS_COUNT; i++)
        fits = fits && (!r->picture->more[i] || s->more[i]);
    if (!fits || reference_state_check(s, r->job->sample_count, &samples, &why) != STATUS_OK)
        return error_msg(err, STATUS_ARG, "what was kept is no part of the job%s%.200s",
                         fits ? ": " : "", why.msg);
    memcpy(r->pixels, s->pixels, count * sizeof *r->pixels);
    for (int i = 0; i < PASS_COUNT; i++)
        if (r->picture->more[i])
            memcpy(r->picture->more[i], s->more[i],
                   count * pass_infos[i].channels * sizeof(double));
    return STATUS_OK;
}

static enum status job_check(const struct reference_job *job, struct error *err)
{
    if (job->width == 0 || job->height == 0 || job->sample_count == 0 || job->max_depth == 0)
        return error_msg(err, STATUS_ARG,
                         "width, height, samples and depth must be positive, not %u, %u, %u, %u",
                         job->width, job->height, job->sample_count, job->max_depth);
    if ((uint64_t)job->crop[0] + job->crop[2] > job->width ||
        (uint64_t)job->crop[1] + job->crop[3] > job->height || (job->crop[2] && !job->crop[3]))
        return error_msg(err, STATUS_ARG, "a crop of %u x %u at (%u, %u) of %u x %u pixels",
                         job->crop[2], job->crop[3], job->crop[0], job->crop[1], job->width,
                         job->height);
    if (!(job->error_target >= 0))
        return error_msg(err, STATUS_ARG, "an error target of %g", job->error_target);
    if (job->sample_count > UINT32_MAX - job->sample_begin)
        return error_msg(err, STATUS_ARG, "sample numbers go to %u, not beyond", UINT32_MAX);
    return STATUS_OK;
}

enum status reference_render(const struct reference *r, const struct reference_job *job,
                             struct reference_picture *out, struct error *err)
{
    struct reference_picture picture;
    enum status status = job_check(job, err);
    if (status == STATUS_OK)
        status = picture_init(&picture, job, err);
    if (status != STATUS_OK)
        return status;
    struct render render = {
        .reference = r,
        .job = job,
        .picture = &picture,
        .pixels = calloc((size_t)picture.width * picture.height, sizeof *render.pixels),
        .x0 = job->crop[2] ? job->crop[0] : 0,
        .y0 = job->crop[2] ? job->crop[1] : 0,
        .tiles_x = ((size_t)picture.width + TILE - 1) / TILE,
        .reporting = ATOMIC_FLAG_INIT,
        .start = clock_s()};
    render.tiles = render.tiles_x * (((size_t)picture.height + TILE - 1) / TILE);
    if (!render.pixels) {
        reference_picture_free(&picture);
        return error_msg(err, STATUS_MEMORY, "no memory for a picture's pixels");
    }
    if (job->resumed && (status = state_take(&render, err)) != STATUS_OK) {
        free(render.pixels);
        reference_picture_free(&picture);
        return status;
    }
    rounds_run(&render);
    picture_fill(&render);
    free(render.pixels);
    if (shader_pool_failed(r->shaders, err)) {
        reference_picture_free(&picture);
        return r->shaders->status;
    }
    const enum status textures = texture_cache_fault(r->scene->cache, err);
    if (textures != STATUS_OK) {
        reference_picture_free(&picture);
        return textures;
    }
    if (atomic_load(&render.cancelled)) {
        reference_picture_free(&picture);
        return error_msg(err, STATUS_CANCELLED, "stopped on request while rendering");
    }
    *out = picture;
    return STATUS_OK;
}

void reference_picture_free(struct reference_picture *p)
{
    if (!p)
        return;
    free(p->beauty);
    free(p->variance);
    free(p->albedo);
    free(p->normal);
    free(p->depth);
    free(p->counts);
    for (int i = 0; i < PASS_COUNT; i++)
        free(p->more[i]);
    *p = (struct reference_picture){0};
}

/* ---- passes --------------------------------------------------------------------------- */

/* The values that a pass is made of; NULL if the picture was made without them. */
static const double *pass_source(const struct reference_picture *p, enum pass pass)
{
    const double *own[PASS_COUNT] = {[PASS_BEAUTY] = p->beauty,
                                     [PASS_VARIANCE] = p->variance,
                                     [PASS_ALBEDO] = p->albedo,
                                     [PASS_NORMAL] = p->normal,
                                     [PASS_DEPTH] = p->depth,
                                     [PASS_INDIRECT] = p->more[PASS_DIRECT],
                                     [PASS_SHADER] = p->more[PASS_MATERIAL]};
    return own[pass] ? own[pass] : p->more[pass];
}

/* Of any pass but the counts of samples. */
static double pass_value(const struct reference_picture *p, enum pass pass, double source, size_t i,
                         const uint32_t *shaders)
{
    if (pass == PASS_INDIRECT)
        return p->beauty[i] - source;
    if (pass == PASS_SHADER)
        return source < 0 ? -1 : (double)shaders[(size_t)source];
    return source;
}

enum status reference_passes(const struct reference *r, const struct reference_picture *p,
                             unsigned bits, struct passes *out, struct error *err)
{
    struct passes made;
    uint32_t *shaders = scene_shader_ids(r->scene);
    enum status status = shaders ? passes_init(&made, p->width, p->height, bits, err)
                                 : error_msg(err, STATUS_MEMORY, "no memory for the shaders");
    for (int pass = 0; status == STATUS_OK && pass < PASS_COUNT; pass++) {
        const size_t count = (size_t)p->width * p->height * pass_infos[pass].channels;
        const double *source = pass_source(p, (enum pass)pass);
        if (!made.values[pass])
            continue;
        if (!source && pass != PASS_SAMPLES) {
            status = error_msg(err, STATUS_ARG, "the picture was made without the pass %s",
                               pass_infos[pass].name);
            passes_free(&made);
            break;
        }
        for (size_t i = 0; i < count; i++)
            made.values[pass][i] =
                (float)(source      ? pass_value(p, (enum pass)pass, source[i], i, shaders)
                        : p->counts ? (double)p->counts[i]
                                    : (double)p->samples);
    }
    free(shaders);
    if (status == STATUS_OK)
        *out = made;
    return status;
}
