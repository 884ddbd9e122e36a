/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c: what a kernel that counts keeps behind a film (K_TALLY_* of device/launch.h). */
#include "layout/layout.h"

#include <stdlib.h>

static size_t level_words(const struct tiled_level *t)
{
    return ((size_t)t->width * t->height * t->texel_bytes + 3) / 4;
}

/* Words of the bits for all levels of a buffer. */
static size_t tile_words(const struct tiled_level *list, size_t count)
{
    size_t end = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].first + level_words(&list[i]) > end)
            end = list[i].first + level_words(&list[i]);
    return (end + 31) / 32;
}

static size_t numbers(const struct layout *l)
{
    return K_TALLY_MATERIALS + (size_t)2 * K_HIT_KINDS * l->material_count;
}
static size_t shading_tiles(const struct layout *l)
{
    return tile_words(l->shaders.levels, l->shaders.level_count);
}

size_t tally_words(const struct layout *l)
{
    return numbers(l) + shading_tiles(l) + tile_words(l->images, l->texture_count);
}

void tally_place(const struct layout *l, struct k_launch *launch)
{
    launch->tally_shading = (uint32_t)numbers(l);
    launch->tally_texels = (uint32_t)(numbers(l) + shading_tiles(l));
}

static uint64_t number_sum(uint32_t *const *films, size_t film_count, size_t at)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < film_count; i++)
        sum += films[i][at] + ((uint64_t)films[i][at + 1] << 32);
    return sum;
}

static uint32_t part(uint32_t tile, uint32_t side)
{
    const uint32_t left = side - tile * K_TILE_SIDE;
    return left < K_TILE_SIDE ? left : K_TILE_SIDE;
}

static void tiles_add(const uint32_t *bits, const struct tiled_level *t, struct tile_counts *out)
{
    const uint32_t across = (t->width + K_TILE_SIDE - 1) / K_TILE_SIDE,
                   down = (t->height + K_TILE_SIDE - 1) / K_TILE_SIDE;
    for (uint32_t j = 0; j < down; j++)
        for (uint32_t i = 0; i < across; i++) {
            const size_t bit = t->first + (size_t)j * across + i;
            const uint64_t bytes =
                (uint64_t)part(i, t->width) * part(j, t->height) * t->texel_bytes;
            const bool read = bits[bit / 32] >> (bit % 32) & 1u;
            out->tiles++;
            out->bytes += bytes;
            out->tiles_read += read;
            out->bytes_read += read ? bytes : 0;
        }
}

enum status tally_read(const struct layout *l, uint32_t *const *films, size_t film_count,
                       struct shading_counts *out, struct error *err)
{
    struct k_launch at;
    struct shader_hits *hits = calloc(l->material_count + 1u, sizeof *hits);
    if (!hits)
        return error_msg(err, STATUS_MEMORY, "out of memory for the hits of shaders");
    tally_place(l, &at);
    for (size_t i = 1; i < film_count; i++)
        for (size_t w = at.tally_shading; w < tally_words(l); w++)
            films[0][w] |= films[i][w];
    *out =
        (struct shading_counts){.texture_queries = number_sum(films, film_count, K_TALLY_QUERIES),
                                .image_lookups = number_sum(films, film_count, K_TALLY_LOOKUPS),
                                .material_count = l->material_count,
                                .hits = hits};
    for (size_t i = 0; i < l->material_count; i++) {
        uint64_t *to[K_HIT_KINDS] = {
            [K_HIT_COMBINED] = &hits[i].combined,
            [K_HIT_FIRST] = &hits[i].first,
            [K_HIT_OTHER_SHADER] = &hits[i].other_shader,
            [K_HIT_OTHER_PLACE] = &hits[i].other_parameters,
        };
        for (size_t k = 0; k < K_HIT_KINDS; k++)
            *to[k] = number_sum(films, film_count, K_TALLY_MATERIALS + 2 * (K_HIT_KINDS * i + k));
    }
    for (size_t i = 0; i < l->shaders.level_count; i++)
        tiles_add(films[0] + at.tally_shading, &l->shaders.levels[i], &out->shader_tiles);
    for (size_t i = 0; i < l->texture_count; i++)
        tiles_add(films[0] + at.tally_texels, &l->images[i], &out->image_tiles);
    return STATUS_OK;
}
