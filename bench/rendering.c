/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker process does for a device: loads, builds, renders with poisoned outputs, checks,
 * judges. */
#include <string.h>

#include "worker.h"

struct rendering {
    const struct bench_subject *subject;
    struct scene *scene;
    struct device *device;
    struct film film;
    struct meters *meters;
    struct sensors *sensors;
    struct render_job job;
    uint64_t peak_bytes; /* before any judging, which needs memory of its own */
};

static void job_complete(const struct bench_subject *subject, const struct scene *s,
                         struct render_job *job)
{
    *job = subject->job;
    scene_picture_size(s, &job->width, &job->height);
    job->sample_count = job->sample_count ? job->sample_count : s->spp;
    job->max_depth = job->max_depth ? job->max_depth : s->max_depth;
    job->rr_depth = job->rr_depth ? job->rr_depth : s->rr_depth;
    job->seed = subject->seed_given ? job->seed : s->seed;
    job->progress = NULL;
    job->progress_ctx = NULL;
}

static enum status rendering_setup(void *ctx, struct worker_ready *out, struct error *err)
{
    struct rendering *r = ctx;
    double start = clock_s();
    enum status st = scene_load(r->subject->scene_path, &r->scene, err);
    if (st)
        return st;
    job_complete(r->subject, r->scene, &r->job);
    out->has_job = true;
    out->job = r->job;
    out->scene = r->scene->times;
    snprintf(out->scene_name, sizeof out->scene_name, "%s", r->scene->name);
    out->triangles = scene_effective_triangles(r->scene);
    out->primitives = scene_effective_count(r->scene);
    sensors_prepare();
    st = device_open(r->subject->device, &r->device, err);
    if (st)
        return st;
    out->has_device = true;
    out->device = *device_describe(r->device);
    device_bake(r->device, r->job.set.load.bake);
    device_model(r->device, r->job.set.build.model);
    st = device_load(r->device, r->scene, r->job.set.load.bvh, &out->load, err);
    if (!st)
        st = device_build(r->device, &r->job.set.build, &out->build, err);
    if (!st)
        st = film_init(&r->film, r->job.width, r->job.height, film_exponent(r->scene), err);
    if (st)
        return st;
    out->setup_s = clock_s() - start;
    r->meters = meters_open(&out->device, &out->absence);
    r->sensors = sensors_open(&out->device, &out->sensor);
    if (!r->meters || !r->sensors)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    return STATUS_OK;
}

static enum status rendering_render(void *ctx, const struct settings *set,
                                    struct worker_render *out, struct error *err)
{
    struct rendering *r = ctx;
    struct render_job job = r->job;
    job.set = *set;
    film_clear(&r->film);
    sensors_begin(r->sensors);
    meters_begin(r->meters);
    double start = clock_s();
    enum status st = device_render(r->device, &job, &r->film, true, &out->times, err);
    out->wall_s = clock_s() - start;
    meters_end(r->meters, &out->meters);
    sensors_end(r->sensors, &out->sensors);
    if (st)
        return st;
    st = film_check(&r->film, job.sample_count, &out->flagged, err);
    if (st)
        return st;
    film_hash(&r->film, out->hash);
    if (r->peak_bytes == 0)
        r->peak_bytes = memory_peak();
    out->peak_bytes = r->peak_bytes;
    return STATUS_OK;
}

static enum status rendering_judge(void *ctx, const struct settings *set, struct judgement *out,
                                   struct error *err)
{
    struct rendering *r = ctx;
    struct render_job job = r->job;
    job.set = *set;
    TRY(conform_judge(r->scene, device_describe(r->device)->id, &job, &r->film, out, err));
    return texture_cache_fault(r->scene->cache, err);
}

static enum status rendering_tiles(void *ctx, uint64_t first, struct worker_tiles *out,
                                   struct error *err)
{
    struct rendering *r = ctx;
    struct arena a = {0};
    uint32_t place[4];
    const char *job = film_job_text(&a, &r->job, r->film.exponent);
    enum status st = job ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for a job");
    if (st == STATUS_OK)
        snprintf(out->job, sizeof out->job, "%s", job);
    out->total = tile_count(r->film.width, r->film.height);
    for (uint64_t i = 0; st == STATUS_OK && i < WORKER_TILES &&
                         tile_place(r->film.width, r->film.height, first + i, place);
         i++)
        st = tile_sum(&r->film, place[0], place[1], place, &out->sums[i], err);
    arena_free(&a);
    return st;
}

/* As an object, for no more than so many bytes. */
static bool statistics_text(const struct render_statistics *s, const struct scene *scene,
                            double samples, char *out, size_t size)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    render_statistics_write(&w, s, scene, samples);
    json_end_object(&w);
    const bool fits = !w.out.failed && w.out.len < size;
    if (fits)
        memcpy(out, w.out.data, w.out.len + 1);
    text_free(&w.out);
    return fits;
}

static enum status rendering_statistics(void *ctx, const struct settings *set,
                                        struct worker_statistics *out, struct error *err)
{
    struct rendering *r = ctx;
    struct render_job job = r->job;
    struct render_statistics s;
    job.set = *set;
    TRY(device_statistics(r->device, &job, &s, err));
    const double samples = (double)job.width * job.height * job.sample_count;
    if (!statistics_text(&s, r->scene, samples, out->json, sizeof out->json) &&
        !statistics_text(&s, NULL, samples, out->json, sizeof out->json))
        out->json[0] = '\0';
    render_statistics_free(&s);
    return device_build(r->device, &r->job.set.build, NULL, err); /* what is timed */
}

static void rendering_end(void *ctx)
{
    struct rendering *r = ctx;
    sensors_close(r->sensors);
    meters_close(r->meters);
    film_free(&r->film);
    device_close(r->device);
    scene_free(r->scene);
}

struct worker_work rendering_work(struct arena *a, const struct bench_subject *subject)
{
    struct worker_work w = {.setup = rendering_setup,
                            .render = rendering_render,
                            .judge = rendering_judge,
                            .end = rendering_end,
                            .tiles = rendering_tiles,
                            .statistics = rendering_statistics};
    struct rendering *r = ARENA_NEW(a, struct rendering);
    if (r)
        r->subject = subject;
    w.ctx = r;
    return w;
}

/* ---- the devices there are -------------------------------------------------------------- */

enum { DEVICES_MAX = 64 };
struct found {
    size_t count;
    struct device_info devices[DEVICES_MAX];
};
struct wanted {
    const char *const *names;
    size_t count;
};

static enum status devices_ask(void *ctx, void *result, size_t size, struct error *err)
{
    const struct wanted *w = ctx;
    struct found *f = result;
    struct arena a = {0};
    struct device_info *list = NULL;
    const char *const *problems;
    size_t n = 0, problem_count;
    enum status st = STATUS_OK;
    (void)size;
    if (w->names) {
        for (n = 0; n < w->count && n < DEVICES_MAX && !st; n++)
            st = device_find(w->names[n], &f->devices[n], err);
    } else {
        st = devices_list(&a, false, &list, &n, &problems, &problem_count, err);
        n = n < DEVICES_MAX ? n : DEVICES_MAX;
        for (size_t i = 0; i < n && !st; i++)
            f->devices[i] = list[i];
    }
    f->count = n;
    arena_free(&a);
    return st;
}

enum status bench_devices(struct arena *a, const char *const *wanted, size_t wanted_count,
                          struct device_info **out, size_t *count, struct error *err)
{
    struct wanted w = {wanted, wanted_count};
    struct found *f = ARENA_NEW(a, struct found);
    if (!f)
        return error_msg(err, STATUS_MEMORY, "out of memory for a list of devices");
    enum status st = process_call(devices_ask, &w, f, sizeof *f, 120, err);
    if (st)
        return st;
    *out = f->devices;
    *count = f->count;
    return STATUS_OK;
}
