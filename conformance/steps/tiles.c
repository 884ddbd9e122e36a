/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

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

/* More than an audit renders is no job. */
enum status film_job_read(const char *text, struct render_job *out, struct error *err)
{
    static const struct {
        const char *key;
        int64_t least, most;
    } rows[] = {{"width", 1, 32768},     {"height", 1, 32768},      {"sample_begin", 0, 1 << 30},
                {"samples", 1, 1 << 20}, {"max_depth", 1, 1 << 16}, {"rr_depth", 0, UINT32_MAX}};
    enum { ROWS = sizeof rows / sizeof *rows };
    struct arena a = {0};
    const struct json *root, *v;
    int64_t n[ROWS] = {0};
    enum status st = json_parse(&a, "job", text, strlen(text), &root, err);
    for (int i = 0; st == STATUS_OK && i < ROWS; i++) {
        v = json_get(root, rows[i].key);
        if (!v || v->type != JSON_NUMBER || !v->is_integer || v->integer < rows[i].least ||
            v->integer > rows[i].most)
            st = json_error(err, "job", v ? v : root, STATUS_TYPE,
                            "expected \"%s\", a number from %lld to %lld", rows[i].key,
                            (long long)rows[i].least, (long long)rows[i].most);
        else
            n[i] = v->integer;
    }
    v = st == STATUS_OK ? json_get(root, "seed") : NULL;
    if (st == STATUS_OK && (!v || v->type != JSON_STRING))
        st = json_error(err, "job", v ? v : root, STATUS_TYPE, "expected \"seed\", a string");
    if (st == STATUS_OK) {
        *out = (struct render_job){.width = (uint32_t)n[0],
                                   .height = (uint32_t)n[1],
                                   .sample_begin = (uint32_t)n[2],
                                   .sample_count = (uint32_t)n[3],
                                   .max_depth = (uint32_t)n[4],
                                   .rr_depth = (uint32_t)n[5],
                                   .seed = strtoull(v->string, NULL, 10)};
        out->set.build.mode = MODE_STRICT;
    }
    arena_free(&a);
    return st;
}

enum status film_record_close(struct arena *a, const char *job, const struct sum *sums,
                              size_t count, struct film_record *out, struct error *err)
{
    char *root = arena_alloc(a, 65, 1, 1);
    if (!root || !job || !sums)
        return error_msg(err, STATUS_MEMORY, "out of memory for the sums of a film");
    film_root(job, TILE_SIDE, sums, count, root);
    *out = (struct film_record){.job = job,
                                .tile = TILE_SIDE,
                                .root = root,
                                .sums = sums,
                                .sums_size = count * sizeof *sums};
    return STATUS_OK;
}

uint64_t tile_count(uint32_t width, uint32_t height)
{
    return (((uint64_t)width + TILE_SIDE - 1) / TILE_SIDE) *
           (((uint64_t)height + TILE_SIDE - 1) / TILE_SIDE);
}

enum status film_record_fill(struct arena *a, const struct render_job *job, const struct film *film,
                             struct film_record *out, struct error *err)
{
    uint32_t place[4];
    const size_t count = tile_count(film->width, film->height);
    struct sum *sums = ARENA_ARRAY(a, struct sum, count);
    for (size_t i = 0; sums && tile_place(film->width, film->height, i, place); i++)
        TRY(tile_sum(film, place[0], place[1], place, &sums[i], err));
    return film_record_close(a, film_job_text(a, job, film->exponent), sums, count, out, err);
}
