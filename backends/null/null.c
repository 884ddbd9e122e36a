/* SPDX-License-Identifier: Apache-2.0 */
/* A device that computes nothing: every sample of every pixel is a quarter of the film's unit
 * radiance. It tests what stands around a device. */
#include "api/offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct backend {
    int64_t *film;
    size_t pixels;
};

static enum status enumerate(void (*found)(void *ctx, const struct device_info *),
                             void (*problem)(void *ctx, const char *text), void *ctx,
                             struct error *err)
{
    struct device_info d = {.id = "null",
                            .api = "null",
                            .name = "null device",
                            .vendor = "isophote",
                            .driver = "none",
                            .version = "1",
                            .compiler = "none",
                            .kind = DEVICE_OTHER,
                            .compute_units = 1,
                            .max_work_group = 1024,
                            .max_work_group_axis = {1024, 1024}};
    (void)problem;
    (void)err;
    found(ctx, &d);
    return STATUS_OK;
}

static enum status open(const struct device_info *info, struct backend **out, struct error *err)
{
    (void)info;
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return error_msg(err, STATUS_MEMORY, "out of memory for a device");
    *out = b;
    return STATUS_OK;
}

static void close(struct backend *b)
{
    if (b)
        free(b->film);
    free(b);
}

static enum bvh_kind preferred_bvh(const struct backend *b)
{
    (void)b;
    return BVH_BINARY;
}

static enum status upload(struct backend *b, const struct scene_buffers *buffers,
                          uint64_t *device_bytes, struct error *err)
{
    (void)b;
    (void)buffers;
    (void)err;
    *device_bytes = 0;
    return STATUS_OK;
}

static enum status build(struct backend *b, const struct program_request *request,
                         struct build_info *info, struct error *err)
{
    (void)b;
    if (request->mode == MODE_STRICT)
        return error_msg(
            err, STATUS_UNSUPPORTED,
            "the null device has no arithmetic: strict needs correctly rounded + - * / sqrt");
    snprintf(info->options, sizeof info->options, "none");
    return STATUS_OK;
}

static void request(struct backend *b, const struct program_request *request)
{
    (void)b;
    (void)request;
}

static enum status film_begin(struct backend *b, size_t pixels, bool poison, struct error *err)
{
    int64_t *film = malloc(pixels * 4 * sizeof *film);
    if (!film)
        return error_msg(err, STATUS_MEMORY, "out of memory for a film of %zu pixels", pixels);
    free(b->film);
    b->film = film;
    b->pixels = pixels;
    memset(film, poison ? 0xFF : 0, pixels * 4 * sizeof *film);
    return STATUS_OK;
}

static enum status launch(struct backend *b, enum kernel_entry entry, const struct k_launch *l,
                          const uint32_t grid[2], const uint32_t work_group[2], struct error *err)
{
    (void)entry;
    (void)grid;
    (void)work_group;
    (void)err;
    int64_t value =
        llrint(0.25 * (double)l->film_scale[0] * (double)l->film_scale[1]) * l->sample_count;
    for (uint32_t y = l->tile_y; y < l->tile_y + l->tile_h; y++) {
        for (uint32_t x = l->tile_x; x < l->tile_x + l->tile_w; x++) {
            int64_t *p = b->film + 4 * ((size_t)K_ROW(l, y) * l->width + x);
            for (int c = 0; c < 4; c++)
                p[c] = (l->accumulate ? p[c] : 0) + (c < 3 ? value : (int64_t)l->sample_count);
        }
    }
    return STATUS_OK;
}

static enum status finish(struct backend *b, double *device_s, struct error *err)
{
    (void)b;
    (void)err;
    *device_s = -1;
    return STATUS_OK;
}

static enum status film_read(struct backend *b, int64_t *sums, size_t pixels, struct error *err)
{
    (void)err;
    memcpy(sums, b->film, pixels * 4 * sizeof *sums);
    return STATUS_OK;
}

static enum status run_words(struct backend *b, enum kernel_entry entry, const struct k_launch *l,
                             const uint32_t *in, size_t in_words, uint32_t *out, size_t out_words,
                             size_t items, struct error *err)
{
    (void)b;
    (void)entry;
    (void)l;
    (void)in;
    (void)in_words;
    (void)out;
    (void)out_words;
    (void)items;
    return error_msg(err, STATUS_UNSUPPORTED,
                     "the null device runs no kernel: it has no probes and no traces");
}

static void defaults(const struct backend *b, struct launch_settings *s)
{
    (void)b;
    s->work_group[0] = 8;
    s->work_group[1] = 8;
}

const struct backend_api null_api = {
    .name = "null",
    .test_only = true,
    .enumerate = enumerate,
    .open = open,
    .close = close,
    .preferred_bvh = preferred_bvh,
    .upload = upload,
    .build = build,
    .request = request,
    .film_begin = film_begin,
    .launch = launch,
    .finish = finish,
    .film_read = film_read,
    .run_words = run_words,
    .defaults = defaults,
};
