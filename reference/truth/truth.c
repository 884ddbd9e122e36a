/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures kept in files (base.h's truths), so that a scene is rendered once.
 *
 * What is kept: a header (struct truth_header), then beauty, variance, albedo, normal (3 doubles a
 * pixel each) and depth as they lie in memory. Little-endian; what is not exactly that, or what
 * another job wrote, is rendered anew. */
#include "truth.h"
#include "reference.h"

#include <stdlib.h>
#include <string.h>

static const char TRUTH_VERSION[] = "isophote truth 3"; /* of the file's format */

struct truth_header {
    char version[32];
    char key[32];
    uint32_t width, height;
    uint64_t samples;
};
_Static_assert(sizeof(struct truth_header) == 80, "a file format");
_Static_assert(sizeof TRUTH_VERSION <= sizeof((struct truth_header *)0)->version, "it fits");

static void truth_key(const struct scene *s, const struct reference_job *job, char hex[33])
{
    struct { /* no padding: its bytes are hashed */
        char version[32], sources[40], scene[40];
        uint64_t width, height, begin, count, max_depth, rr_depth, seed, rounded;
    } all = {.width = job->width,
             .height = job->height,
             .begin = job->sample_begin,
             .count = job->sample_count,
             .max_depth = job->max_depth,
             .rr_depth = job->rr_depth,
             .seed = job->seed,
             .rounded = job->rounded};
    memcpy(all.version, TRUTH_VERSION, sizeof TRUTH_VERSION);
    memcpy(all.sources, reference_sources, sizeof reference_sources);
    memcpy(all.scene, s->hash, sizeof s->hash);
    hash_bytes(&all, sizeof all, hex);
}

/* The parts of a picture in file order. */
struct part {
    double **values;
    size_t count;
};
enum { PARTS = 5 };
static size_t picture_parts(struct reference_picture *p, struct part parts[PARTS])
{
    size_t pixels = (size_t)p->width * p->height;
    const struct part all[PARTS] = {{&p->beauty, 3 * pixels},
                                    {&p->variance, 3 * pixels},
                                    {&p->albedo, 3 * pixels},
                                    {&p->normal, 3 * pixels},
                                    {&p->depth, pixels}};
    memcpy(parts, all, sizeof all);
    return 13 * pixels * sizeof(double);
}

static struct truth_header truth_header(const struct reference_job *job, const char *key)
{
    struct truth_header h = {
        .width = job->width, .height = job->height, .samples = job->sample_count};
    memcpy(h.version, TRUTH_VERSION, sizeof TRUTH_VERSION);
    memcpy(h.key, key, sizeof h.key);
    return h;
}

/* false: absent, damaged, or not this job's; then *out is untouched. */
static bool truth_read(const struct reference_job *job, const char *key,
                       struct reference_picture *out)
{
    struct arena arena = {0};
    struct reference_picture p = {
        .width = job->width, .height = job->height, .samples = job->sample_count};
    struct part parts[PARTS];
    size_t size = sizeof(struct truth_header) + picture_parts(&p, parts), read;
    struct truth_header expected = truth_header(job, key);
    const void *data;
    bool good = truths_read(&arena, key, &data, &read) && read == size &&
                memcmp(data, &expected, sizeof expected) == 0;
    const char *at = good ? (const char *)data + sizeof expected : NULL;
    for (int i = 0; good && i < PARTS; i++) {
        *parts[i].values = malloc(parts[i].count * sizeof(double));
        good = *parts[i].values != NULL;
        if (good)
            memcpy(*parts[i].values, at, parts[i].count * sizeof(double));
        at += parts[i].count * sizeof(double);
    }
    arena_free(&arena);
    if (good)
        *out = p;
    else
        reference_picture_free(&p);
    return good;
}

static void truth_write(const struct reference_job *job, const char *key,
                        struct reference_picture *p)
{
    struct part parts[PARTS];
    size_t size = sizeof(struct truth_header) + picture_parts(p, parts);
    struct truth_header header = truth_header(job, key);
    char *data = malloc(size), *at = data;
    if (!data)
        return;
    memcpy(at, &header, sizeof header);
    at += sizeof header;
    for (int i = 0; i < PARTS; i++) {
        memcpy(at, *parts[i].values, parts[i].count * sizeof(double));
        at += parts[i].count * sizeof(double);
    }
    truths_write(key, data, size);
    free(data);
}

enum status reference_truth(const struct scene *s, const struct reference_job *job,
                            struct reference_picture *out, bool *cached, struct error *err)
{
    char key[33];
    if (job->crop[2] || job->error_target > 0 || job->passes)
        return error_msg(err, STATUS_ARG,
                         "ground truths are whole pictures, unbiased, without further passes");
    truth_key(s, job, key);
    struct reference_picture picture;
    bool hit = truth_read(job, key, &picture);
    if (!hit) {
        struct reference *r;
        enum status status = reference_open(s, &r, err);
        if (status != STATUS_OK)
            return status;
        status = reference_render(r, job, &picture, err);
        reference_close(r);
        if (status != STATUS_OK)
            return status;
        truth_write(job, key, &picture);
    }
    *out = picture;
    if (cached)
        *cached = hit;
    return STATUS_OK;
}
