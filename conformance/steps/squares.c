/* SPDX-License-Identifier: Apache-2.0 */
/* judge_squares: a picture of more samples than can be made again in time, by squares of it drawn at
 * random, as many as the decision takes.
 *
 * Looks are taken at a growing number of squares. Each spends a share of the level, half of what is
 * left, so that by the union bound a right picture fails at any of them with no more than the level
 * in all (alpha spending: Lan and DeMets, "Discrete Sequential Boundaries for Clinical Trials",
 * Biometrika 70(3), 1983; no assumption on how looks depend on one another is needed). A look ends
 * the search with a PASS when it would have shown a systematic difference of twice what is allowed:
 * when DETECTED standard errors are no more than that (metrics.h on the power of metric_z). */
#include "judge.h"
#include "metrics/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* FIRST squares: of a picture that is wrong in one square of twenty all of them miss that with
 * probability 0.95^144 < 0.001. */
enum { SIDE = 32, PIXELS = SIDE * SIDE, FIRST = 144 };
static const double DETECTED = 5.5;

struct squares {
    const struct scene *scene;
    const struct film *film;
    struct render_job job; /* of native: strict */
    uint32_t origin[2];    /* of the film in the picture */
    uint32_t across, *order, count;
    struct device *native;    /* opened when a square is not kept */
    double *image, *expected; /* one square below the other, what lies outside the film is 0 */
    char key[33];
};

/* What the squares' bits depend on. */
static void squares_key(struct squares *q)
{
    const struct render_job *job = &q->job;
    char text[320];
    int n = snprintf(
        text, sizeof text, "isophote squares 1 %s %s %ux%u at %u %u of %ux%u %u+%u %u %u %llu",
        kernel_source_hash, q->scene->hash, q->film->width, q->film->height, q->origin[0],
        q->origin[1], job->width, job->height, job->sample_begin, job->sample_count, job->max_depth,
        job->rr_depth, (unsigned long long)job->seed);
    hash_bytes(text, (size_t)n, q->key);
}

/* All squares in an order that the key decides. */
static bool squares_shuffle(struct squares *q)
{
    char head[9] = {0};
    memcpy(head, q->key, 8);
    const uint32_t key[2] = {(uint32_t)strtoul(head, NULL, 16), 0x5c0a7e5};
    q->across = (q->film->width + SIDE - 1) / SIDE;
    q->count = q->across * ((q->film->height + SIDE - 1) / SIDE);
    q->order = calloc(q->count, sizeof *q->order);
    for (uint32_t i = 0; q->order && i < q->count; i++) {
        const uint32_t counter[4] = {i, 0, 0, 0};
        uint32_t w[4];
        philox4x32(counter, key, w);
        const uint32_t k = (uint32_t)((uint64_t)w[0] * (i + 1) >> 32);
        q->order[i] = q->order[k];
        q->order[k] = i;
    }
    return q->order != NULL;
}

struct rectangle {
    uint32_t x, y, width, height; /* in the film */
};

static struct rectangle square_at(const struct squares *q, uint32_t i)
{
    const uint32_t x = q->order[i] % q->across * SIDE, y = q->order[i] / q->across * SIDE;
    const uint32_t right = q->film->width - x, down = q->film->height - y;
    return (struct rectangle){x, y, right < SIDE ? right : SIDE, down < SIDE ? down : SIDE};
}

static enum status native_ready(struct squares *q, struct error *err)
{
    if (q->native)
        return STATUS_OK;
    TRY(device_open("native", &q->native, err));
    TRY(device_load(q->native, q->scene, BVH_AUTO, NULL, err));
    return device_build(q->native, &q->job.set.build, NULL, err);
}

/* Native's squares [begin, end): rows of SIDE pixels, four numbers each. */
static enum status render_squares(struct squares *q, uint32_t begin, uint32_t end, int64_t *sums,
                                  struct error *err)
{
    TRY(native_ready(q, err));
    for (uint32_t i = begin; i < end; i++) {
        const struct rectangle r = square_at(q, i);
        struct render_job part = q->job;
        struct film film;
        part.crop[0] = q->origin[0] + r.x;
        part.crop[1] = q->origin[1] + r.y;
        part.crop[2] = r.width;
        part.crop[3] = r.height;
        TRY(judge_render(q->native, q->scene, &part, &film, err));
        int64_t *square = sums + (size_t)(i - begin) * PIXELS * 4;
        for (uint32_t y = 0; y < r.height; y++)
            memcpy(square + (size_t)y * SIDE * 4, film.sums + (size_t)y * r.width * 4,
                   (size_t)r.width * 4 * sizeof *square);
        film_free(&film);
    }
    return STATUS_OK;
}

/* The same, from where they are kept or made now. The caller frees *out. */
static enum status native_squares(struct squares *q, uint32_t begin, uint32_t end, int64_t **out,
                                  struct error *err)
{
    const size_t size = (size_t)(end - begin) * PIXELS * 4 * sizeof(int64_t);
    char text[96], key[33];
    struct arena arena = {0};
    const void *kept;
    size_t kept_size;
    int n = snprintf(text, sizeof text, "%s %u to %u", q->key, begin, end);
    hash_bytes(text, (size_t)n, key);
    int64_t *sums = calloc(1, size);
    if (!sums)
        return error_msg(err, STATUS_MEMORY, "out of memory for squares of a film");
    enum status s = STATUS_OK;
    if (truths_read(&arena, key, &kept, &kept_size) && kept_size == size) {
        memcpy(sums, kept, size);
    } else {
        s = render_squares(q, begin, end, sums, err);
        if (s == STATUS_OK)
            truths_write(key, sums, size);
    }
    arena_free(&arena);
    if (s != STATUS_OK)
        free(sums);
    else
        *out = sums;
    return s;
}

static void sums_to_rgb(const int64_t *sums, int32_t exponent, double *rgb)
{
    const struct film one = {
        .width = 1, .height = 1, .exponent = exponent, .sums = (int64_t *)sums};
    metric_from_film(&one, rgb);
}

/* Squares [begin, end) of both sides below the others. */
static enum status add_squares(struct squares *q, uint32_t begin, uint32_t end, struct error *err)
{
    const size_t numbers = (size_t)end * PIXELS * 3;
    double *image = realloc(q->image, numbers * sizeof *image);
    q->image = image ? image : q->image;
    double *expected = realloc(q->expected, numbers * sizeof *expected);
    q->expected = expected ? expected : q->expected;
    int64_t *sums = NULL;
    if (!image || !expected)
        return error_msg(err, STATUS_MEMORY, "out of memory for %u squares of a film", end);
    TRY(native_squares(q, begin, end, &sums, err));
    for (uint32_t i = begin; i < end; i++) {
        const struct rectangle r = square_at(q, i);
        for (uint32_t k = 0; k < PIXELS; k++) {
            const uint32_t x = k % SIDE, y = k / SIDE;
            const size_t at = 3 * ((size_t)i * PIXELS + k);
            sums_to_rgb(sums + 4 * ((size_t)(i - begin) * PIXELS + k), q->film->exponent,
                        q->expected + at);
            memset(q->image + at, 0, 3 * sizeof(double));
            if (x < r.width && y < r.height)
                sums_to_rgb(q->film->sums + 4 * ((size_t)(r.y + y) * q->film->width + r.x + x),
                            q->film->exponent, q->image + at);
        }
    }
    free(sums);
    return STATUS_OK;
}

/* Would a systematic difference of twice the allowed one have shown in the first `n` squares? */
static bool shows_enough(const struct squares *q, uint32_t n, double systematic)
{
    for (int c = 0; c < 3; c++) {
        double squares = 0, means = 0;
        for (size_t i = (size_t)c; i < (size_t)n * PIXELS * 3; i += 3) {
            const double d = q->image[i] - q->expected[i];
            squares += d * d;
            means += fabs(q->image[i] + q->expected[i]) / 2;
        }
        if (DETECTED * sqrt(squares) > systematic * means)
            return false;
    }
    return true;
}

/* Where the worst set is in the picture; sets of several squares are nowhere. */
static void place(const struct squares *q, struct metric_z *z)
{
    if (z->size == 0 || z->size > SIDE) {
        z->x = z->y = z->size = 0;
        return;
    }
    const struct rectangle r = square_at(q, z->y / SIDE);
    z->x += q->origin[0] + r.x;
    z->y = q->origin[1] + r.y + z->y % SIDE;
}

static enum status look(struct squares *q, double systematic, double level,
                        struct square_judgement *out, struct error *err)
{
    uint32_t n = 0;
    double left = level;
    do {
        const uint32_t next = n == 0 ? FIRST : n > q->count / 2 ? q->count : 2 * n;
        const uint32_t end = next < q->count ? next : q->count;
        TRY(add_squares(q, n, end, err));
        n = end;
        out->looks++;
        out->level = n == q->count ? left : left / 2;
        left -= out->level;
        struct render_job sheet = q->job;
        sheet.width = SIDE;
        sheet.height = SIDE * n;
        TRY(judge_measure(&sheet, q->image, q->expected, systematic, &out->p, err));
    } while (out->p.z.p >= out->level && n < q->count && !shows_enough(q, n, systematic));
    place(q, &out->p.z);
    out->looked = n;
    out->squares = q->count;
    return STATUS_OK;
}

enum status judge_squares(const struct scene *s, const struct render_job *job,
                          const struct film *film, double systematic, double level,
                          struct square_judgement *out, struct error *err)
{
    const bool part = job->crop[2] > 0;
    struct squares q = {.scene = s,
                        .film = film,
                        .job = *job,
                        .origin = {part ? job->crop[0] : 0, part ? job->crop[1] : 0}};
    /* small groups: a square is to keep all threads busy */
    q.job.set = (struct settings){.build.mode = MODE_STRICT, .launch.work_group = {4, 4}};
    q.job.progress = NULL;
    struct square_judgement found = {0};
    squares_key(&q);
    enum status st = squares_shuffle(&q)
                         ? look(&q, systematic, level, &found, err)
                         : error_msg(err, STATUS_MEMORY, "out of memory for squares");
    device_close(q.native);
    free(q.order);
    free(q.image);
    free(q.expected);
    if (st == STATUS_OK)
        *out = found;
    return st;
}
