/* SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

/* A GPU is filled some times over, so that its last groups do not count; what a processor works at
 * stays in its caches. */
enum { GPU_PATHS = 1 << 22, CPU_PATHS = 1 << 16 };

uint32_t batch_slots(const struct device_info *info, const uint32_t tile[2], uint32_t samples,
                     uint32_t wanted)
{
    const uint64_t all = (uint64_t)tile[0] * tile[1] * samples,
                   room = info->global_bytes / 8 / (4 * (K_PATH_WORDS + K_PATH_QUEUES));
    uint64_t most = wanted ? wanted : info->kind == DEVICE_CPU ? CPU_PATHS : GPU_PATHS;
    most = room && room < most ? room : most;
    most = most < tile[0] ? tile[0] : most; /* a row */
    return (uint32_t)(all < most ? all : most);
}

size_t batch_pixels(uint32_t slots)
{
    const size_t words = K_BATCH_COUNTS + (K_PATH_WORDS + K_PATH_QUEUES) * (size_t)slots,
                 pixel_words = 4 * sizeof(int64_t) / sizeof(uint32_t);
    return (words + pixel_words - 1) / pixel_words;
}

struct k_launch batch_piece(const struct k_launch *launch)
{
    struct k_launch piece = *launch;
    const uint64_t pixels = (uint64_t)launch->tile_w * launch->tile_h;
    const uint32_t samples = (uint32_t)(launch->batch_slots / pixels);
    if (samples == 0) {
        piece.sample_count = 1;
        piece.tile_h = launch->batch_slots / launch->tile_w;
    } else if (samples < piece.sample_count) {
        piece.sample_count = samples;
    }
    return piece;
}

/* One stage; its seconds are added to *timed, where that is not NULL. */
static enum status stage_launch(const struct device *d, enum kernel_entry stage,
                                const struct k_launch *l, const uint32_t grid[2],
                                const uint32_t work_group[2], double *timed, struct error *err)
{
    const double start = clock_s();
    double unused;
    TRY(d->api->launch(d->backend, stage, l, grid, work_group, err));
    if (!timed)
        return STATUS_OK;
    TRY(d->api->finish(d->backend, &unused, err));
    *timed += clock_s() - start;
    return STATUS_OK;
}

enum status batch_launch(const struct device *d, const struct k_launch *piece,
                         const uint32_t grid[2], const uint32_t work_group[2],
                         struct stage_times *timed, struct error *err)
{
    struct k_launch l = *piece;
    double *const seconds[STAGE_TIMES_COUNT] = {
        timed ? &timed->start : NULL,   timed ? &timed->fly : NULL,   timed ? &timed->sort : NULL,
        timed ? &timed->occlude : NULL, timed ? &timed->shade : NULL, timed ? &timed->shadow : NULL,
        timed ? &timed->film : NULL};
    TRY(stage_launch(d, ENTRY_START, &l, grid, work_group, seconds[0], err));
    for (l.round = 1; l.round <= l.max_depth; l.round++)
        for (enum kernel_entry stage = ENTRY_FLY; stage <= ENTRY_SHADOW; stage++)
            if ((stage != ENTRY_SORT || l.queues) && (stage != ENTRY_OCCLUDE || l.occlusion_rays))
                TRY(stage_launch(d, stage, &l, grid, work_group, seconds[stage - ENTRY_START],
                                 err));
    return stage_launch(d, ENTRY_FILM, &l, grid, work_group, seconds[STAGE_TIMES_COUNT - 1], err);
}
