#include "path.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 4 }; /* pixels a side */

struct render {
    const struct reference *reference;
    const struct reference_job *job;
    struct reference_picture *picture;
    uint32_t x0, y0; /* where the picture lies in the whole one */
    size_t tiles_x, tiles;
    atomic_size_t done;
    atomic_flag reporting; /* a thread is inside job->progress */
    atomic_bool cancelled;
    double start;
};

/* All samples of one pixel, in order: the same sums whatever thread does it. */
static bool render_pixel(struct render *r, struct shader_thread *shaders, uint32_t x, uint32_t y)
{
    const struct reference_job *job = r->job;
    struct vec3 sum = gray(0), albedo = gray(0), normal = gray(0);
    struct vec3 mean = gray(0), squares = gray(0); /* Welford: of the deviations from the mean */
    double depth = 0;
    for (uint32_t i = 0; i < job->sample_count; i++) {
        if (i % 64 == 0 && cancel_requested)
            return false;
        struct first_vertex first = {0};
        struct vec3 L =
            path_radiance(r->reference, job, shaders, x, y, job->sample_begin + i, &first, NULL);
        L = film_value(r->reference, L);
        sum = add(sum, L);
        struct vec3 before = sub(L, mean);
        mean = add(mean, scale(1.0 / (i + 1.0), before));
        squares = add(squares, mul(before, sub(L, mean)));
        albedo = add(albedo, first.albedo);
        normal = add(normal, first.normal);
        depth += first.depth;
    }
    size_t at = (size_t)(y - r->y0) * r->picture->width + (x - r->x0);
    double n = job->sample_count;
    struct vec3 variance = n > 1 ? scale(1 / (n - 1), squares) : gray(0);
    struct reference_picture *p = r->picture;
    to_double(vec3(sum.x / n, sum.y / n, sum.z / n), p->beauty + 3 * at);
    to_double(variance, p->variance + 3 * at);
    to_double(scale(1 / n, albedo), p->albedo + 3 * at);
    to_double(scale(1 / n, normal), p->normal + 3 * at);
    p->depth[at] = depth / n;
    return true;
}

static void report(struct render *r, size_t done)
{
    if (!r->job->progress || atomic_flag_test_and_set(&r->reporting))
        return;
    double share = (double)done / (double)r->tiles;
    r->job->progress(r->job->progress_ctx, share, (clock_s() - r->start) * (1 / share - 1));
    atomic_flag_clear(&r->reporting);
}

static void render_tile(void *ctx, size_t tile, unsigned thread)
{
    (void)thread;
    struct render *r = ctx;
    uint32_t x0 = (uint32_t)(tile % r->tiles_x) * TILE, y0 = (uint32_t)(tile / r->tiles_x) * TILE;
    if (atomic_load(&r->cancelled))
        return;
    struct shader_pool *pool = r->reference->shaders;
    struct shader_thread *shaders = shader_thread_take(pool);
    for (uint32_t y = y0; y < y0 + TILE && y < r->picture->height; y++) {
        for (uint32_t x = x0; x < x0 + TILE && x < r->picture->width; x++) {
            if (!atomic_load(&r->cancelled) && !render_pixel(r, shaders, r->x0 + x, r->y0 + y))
                atomic_store(&r->cancelled, true);
        }
    }
    shader_thread_give(pool, shaders);
    if (pool->shaded && shader_pool_failed(pool, NULL))
        atomic_store(&r->cancelled, true);
    report(r, atomic_fetch_add(&r->done, 1) + 1);
}

static enum status picture_init(struct reference_picture *p, const struct reference_job *job,
                                struct error *err)
{
    const uint32_t width = job->crop[2] ? job->crop[2] : job->width;
    const uint32_t height = job->crop[2] ? job->crop[3] : job->height;
    size_t pixels = (size_t)width * height;
    *p = (struct reference_picture){.width = width,
                                    .height = height,
                                    .samples = job->sample_count,
                                    .beauty = calloc(pixels * 3, sizeof(double)),
                                    .variance = calloc(pixels * 3, sizeof(double)),
                                    .albedo = calloc(pixels * 3, sizeof(double)),
                                    .normal = calloc(pixels * 3, sizeof(double)),
                                    .depth = calloc(pixels, sizeof(double))};
    if (p->beauty && p->variance && p->albedo && p->normal && p->depth)
        return STATUS_OK;
    reference_picture_free(p);
    return error_msg(err, STATUS_MEMORY, "no memory for a picture of %u x %u pixels", width,
                     height);
}

enum status reference_render(const struct reference *r, const struct reference_job *job,
                             struct reference_picture *out, struct error *err)
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
    if (job->sample_count > UINT32_MAX - job->sample_begin)
        return error_msg(err, STATUS_ARG, "sample numbers go to %u, not beyond", UINT32_MAX);
    struct reference_picture picture;
    enum status status = picture_init(&picture, job, err);
    if (status != STATUS_OK)
        return status;
    struct render render = {.reference = r,
                            .job = job,
                            .picture = &picture,
                            .x0 = job->crop[2] ? job->crop[0] : 0,
                            .y0 = job->crop[2] ? job->crop[1] : 0,
                            .tiles_x = ((size_t)picture.width + TILE - 1) / TILE,
                            .reporting = ATOMIC_FLAG_INIT,
                            .start = clock_s()};
    render.tiles = render.tiles_x * (((size_t)picture.height + TILE - 1) / TILE);
    parallel_for(render.tiles, job->threads, render_tile, &render);
    if (shader_pool_failed(r->shaders, err)) {
        reference_picture_free(&picture);
        return r->shaders->status;
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
    *p = (struct reference_picture){0};
}
