/* SPDX-License-Identifier: Apache-2.0 */
#include "tiles.h"

#include <stdlib.h>
#include <string.h>

bool tile_place(uint32_t width, uint32_t height, uint64_t tile, uint32_t place[4])
{
    const uint64_t across = ((uint64_t)width + TILE_SIDE - 1) / TILE_SIDE;
    const uint64_t y = across ? tile / across * TILE_SIDE : 0;
    if (!across || y >= height)
        return false;
    place[0] = (uint32_t)(tile % across * TILE_SIDE);
    place[1] = (uint32_t)y;
    place[2] = width - place[0] < TILE_SIDE ? width - place[0] : TILE_SIDE;
    place[3] = height - place[1] < TILE_SIDE ? height - place[1] : TILE_SIDE;
    return true;
}

static uint8_t *put(uint8_t *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (uint8_t)(v >> 8 * i);
    return at;
}

enum status tile_sum(const struct film *f, uint32_t left, uint32_t top, const uint32_t place[4],
                     struct sum *out, struct error *err)
{
    const size_t size = 20 + (size_t)place[2] * place[3] * 32;
    uint8_t *bytes = malloc(size), *at = bytes;
    if (!bytes)
        return error_msg(err, STATUS_MEMORY, "out of memory for a tile");
    for (int i = 0; i < 4; i++)
        at = put(at, place[i], 4);
    at = put(at, (uint32_t)f->exponent, 4);
    for (uint32_t y = 0; y < place[3]; y++)
        for (uint32_t x = 0; x < place[2]; x++)
            for (size_t c = 0; c < 4; c++)
                at = put(at, (uint64_t)f->sums[4 * ((size_t)(top + y) * f->width + left + x) + c],
                         8);
    sum_leaf(bytes, size, out);
    free(bytes);
    return STATUS_OK;
}

const char *film_job_text(struct arena *a, const struct render_job *job, int32_t exponent)
{
    return arena_printf(a,
                        "{\"width\":%u,\"height\":%u,\"sample_begin\":%u,\"samples\":%u,"
                        "\"max_depth\":%u,\"rr_depth\":%u,\"seed\":\"%llu\",\"exponent\":%d}",
                        job->width, job->height, job->sample_begin, job->sample_count,
                        job->max_depth, job->rr_depth, (unsigned long long)job->seed, exponent);
}

enum status film_record_fill(struct arena *a, const struct render_job *job, const struct film *film,
                             struct film_record *out, struct error *err)
{
    uint32_t place[4];
    size_t count = 0;
    while (tile_place(film->width, film->height, count, place))
        count++;
    struct sum *sums = ARENA_ARRAY(a, struct sum, count);
    char *root = arena_alloc(a, 65, 1, 1);
    const char *text = film_job_text(a, job, film->exponent);
    if (!sums || !root || !text)
        return error_msg(err, STATUS_MEMORY, "out of memory for the sums of a film");
    for (size_t i = 0; i < count; i++) {
        tile_place(film->width, film->height, i, place);
        TRY(tile_sum(film, place[0], place[1], place, &sums[i], err));
    }
    film_root(text, TILE_SIDE, sums, count, root);
    *out = (struct film_record){.job = text,
                                .tile = TILE_SIDE,
                                .root = root,
                                .sums = sums,
                                .sums_size = count * sizeof *sums};
    return STATUS_OK;
}
