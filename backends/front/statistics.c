/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c: a job once more, in a program that counts, and in one whose stages are timed. */
#include "device.h"

#include <stdlib.h>

struct shader_hits shader_hits_sum(const struct shading_counts *c)
{
    struct shader_hits sum = {0};
    for (size_t i = 0; i < c->material_count; i++) {
        sum.combined += c->hits[i].combined;
        sum.first += c->hits[i].first;
        sum.other_shader += c->hits[i].other_shader;
        sum.other_parameters += c->hits[i].other_parameters;
    }
    return sum;
}

void counts_free(struct shading_counts *c)
{
    free(c->hits);
    *c = (struct shading_counts){0};
}

const struct shading_counts *device_counts(const struct device *d)
{
    return d->counts.hits ? &d->counts : NULL;
}

/* A program that is not to be had is no failure: *why says what is missing. */
static enum status build_or_why(struct device *d, const struct build_settings *settings, char *why,
                                size_t size, struct error *err)
{
    struct error e = {0};
    const enum status st = device_build(d, settings, NULL, &e);
    if (st == STATUS_UNSUPPORTED || st == STATUS_MISSING || st == STATUS_BUILD) {
        (void)snprintf(why, size, "%.200s", e.msg);
        return STATUS_OK;
    }
    if (st && err)
        *err = e;
    return st;
}

static void rays_add(const struct film *film, int64_t rays[3])
{
    for (size_t i = 0; i < (size_t)film->width * film->height; i++)
        for (size_t c = 0; c < 3; c++)
            rays[c] += film->sums[4 * i + c];
}

static enum status count(struct device *d, struct render_job *job, struct film *film,
                         struct render_statistics *out, struct error *err)
{
    job->set.build.count_rays = true;
    job->set.build.model = MODEL_AUTO;
    TRY(build_or_why(d, &job->set.build, out->why_no_counts, sizeof out->why_no_counts, err));
    if (out->why_no_counts[0])
        return STATUS_OK;
    TRY(device_render(d, job, film, false, NULL, err));
    rays_add(film, out->rays);
    out->counts = d->counts; /* which are not the device's any more */
    d->counts = (struct shading_counts){0};
    return STATUS_OK;
}

static enum status time_stages(struct device *d, struct render_job *job, struct film *film,
                               struct render_statistics *out, struct error *err)
{
    struct render_times times = {0};
    job->set.build.count_rays = false;
    job->set.build.model = MODEL_SEPARATE;
    job->time_stages = true;
    TRY(build_or_why(d, &job->set.build, out->why_no_stages, sizeof out->why_no_stages, err));
    if (out->why_no_stages[0])
        return STATUS_OK;
    TRY(device_render(d, job, film, false, &times, err));
    out->stages = times.stages;
    out->stages_s = times.render_s;
    return STATUS_OK;
}

enum status device_statistics(struct device *d, const struct render_job *job,
                              struct render_statistics *out, struct error *err)
{
    struct render_job again = *job;
    struct render_statistics s = {0};
    texture_cache_count(d->layout.cache, &s.cache);
    struct film film = {0};
    uint32_t area[4];
    job_area(job, area);
    again.keeper = NULL;
    again.resumed = false;
    again.passes_resumed = NULL;
    enum status st = film_init(&film, area[2], area[3], d->exponent, err);
    if (st == STATUS_OK)
        st = count(d, &again, &film, &s, err);
    if (st == STATUS_OK)
        st = time_stages(d, &again, &film, &s, err);
    film_free(&film);
    if (st)
        render_statistics_free(&s);
    else
        *out = s;
    return st;
}

void render_statistics_free(struct render_statistics *s) { counts_free(&s->counts); }

/* ---- as JSON -------------------------------------------------------------------------------- */

static void hits_write(struct json_writer *w, const struct shader_hits *h)
{
    const uint64_t runs = shader_runs(h), all = h->combined + runs;
    json_key_integer(w, "hits", (int64_t)all);
    json_key_integer(w, "combined", (int64_t)h->combined);
    json_key_integer(w, "first", (int64_t)h->first);
    json_key_integer(w, "other_shader", (int64_t)h->other_shader);
    json_key_integer(w, "other_parameters", (int64_t)h->other_parameters);
    json_key_integer(w, "runs", (int64_t)runs);
    json_key_number(w, "mean_run", runs ? (double)all / (double)runs : 0);
}

static void tiles_write(struct json_writer *w, const char *key, const struct tile_counts *t)
{
    json_key(w, key);
    json_begin_object(w);
    json_key_integer(w, "tiles", (int64_t)t->tiles);
    json_key_integer(w, "tiles_read", (int64_t)t->tiles_read);
    json_key_integer(w, "bytes", (int64_t)t->bytes);
    json_key_integer(w, "bytes_read", (int64_t)t->bytes_read);
    json_end_object(w);
}

static void counts_write(struct json_writer *w, const struct render_statistics *r,
                         const struct scene *s, double samples)
{
    const struct shading_counts *c = &r->counts;
    const struct shader_hits all = shader_hits_sum(c);
    json_key(w, "rays");
    json_begin_object(w);
    json_key_integer(w, "closest", r->rays[0]);
    json_key_integer(w, "any", r->rays[1]);
    json_key_integer(w, "nodes", r->rays[2]);
    json_key_number(w, "per_sample", (double)(r->rays[0] + r->rays[1]) / samples);
    json_end_object(w);
    json_key_integer(w, "texture_queries", (int64_t)c->texture_queries);
    json_key_integer(w, "image_lookups", (int64_t)c->image_lookups);
    tiles_write(w, "shader_images", &c->shader_tiles);
    tiles_write(w, "material_images", &c->image_tiles);
    json_key(w, "hits");
    json_begin_object(w);
    hits_write(w, &all);
    json_end_object(w);
    json_key(w, "shaders");
    json_begin_array(w);
    for (size_t i = 0; s && i < c->material_count && i < s->material_count; i++) {
        if (!s->materials[i].shading)
            continue;
        json_begin_object(w);
        json_key_string(w, "material", s->materials[i].name);
        hits_write(w, &c->hits[i]);
        json_end_object(w);
    }
    json_end_array(w);
}

static void stages_write(struct json_writer *w, const struct render_statistics *r)
{
    const struct stage_times *t = &r->stages;
    json_key(w, "stages");
    json_begin_object(w);
    json_key_string(w, "model", exec_model_name(MODEL_SEPARATE));
    json_key_number(w, "render_s", r->stages_s);
    json_key_number(w, "tracing_s", stages_tracing_s(t));
    json_key_number(w, "shading_s", t->shade);
    json_key_number(w, "other_s", stages_other_s(t));
    json_key_number(w, "start_s", t->start);
    json_key_number(w, "fly_s", t->fly);
    json_key_number(w, "occlude_s", t->occlude);
    json_key_number(w, "shade_s", t->shade);
    json_key_number(w, "shadow_s", t->shadow);
    json_key_number(w, "film_s", t->film);
    json_end_object(w);
}

static void texture_cache_write(struct json_writer *w, const struct texture_cache_counts *c)
{
    json_key(w, "texture_cache");
    json_begin_object(w);
    json_key_integer(w, "limit_bytes", (int64_t)c->limit);
    json_key_integer(w, "peak_bytes", (int64_t)c->peak_bytes);
    json_key_integer(w, "texel_bytes", (int64_t)c->texel_bytes);
    json_key_integer(w, "file_bytes", (int64_t)c->file_bytes);
    json_key_integer(w, "tiles", (int64_t)c->tiles);
    json_key_integer(w, "tiles_again", (int64_t)c->tiles_again);
    json_end_object(w);
}

void render_statistics_write(struct json_writer *w, const struct render_statistics *r,
                             const struct scene *s, double samples)
{
    if (r->why_no_counts[0])
        json_key_string(w, "no_counts", r->why_no_counts);
    else
        counts_write(w, r, s, samples);
    if (r->why_no_stages[0])
        json_key_string(w, "no_stages", r->why_no_stages);
    else
        stages_write(w, r);
    if (r->cache.limit)
        texture_cache_write(w, &r->cache);
}
