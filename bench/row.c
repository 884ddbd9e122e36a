/* SPDX-License-Identifier: Apache-2.0 */
/* A trial as a row of the store: figures, phases, detail, and the command that gives it again. */
#include <math.h>
#include <string.h>

#include "trial.h"

/* ---- the command ------------------------------------------------------------------------ */

void program_name(const struct settings *set, enum exec_model model, char name[PROGRAM_NAME_SIZE])
{
    char registers[32] = "";
    if (set->build.registers)
        snprintf(registers, sizeof registers, ", registers %u", set->build.registers);
    snprintf(name, PROGRAM_NAME_SIZE, "%s%s%s%s%s%s%s",
             exec_model_name(model != MODEL_AUTO ? model : set->build.model),
             set->load.bake ? ", baked" : "", set->build.code ? ", code path " : "",
             set->build.code ? code_path_name(set->build.code) : "", registers,
             set->build.cache ? ", cache " : "",
             set->build.cache ? cache_preference_name(set->build.cache) : "");
}

void settings_options(const struct settings *set, struct text *out)
{
    text_printf(out, "--mode %s --bvh %s", math_mode_name(set->build.mode),
                bvh_kind_name(set->load.bvh));
    if (set->build.model != MODEL_AUTO)
        text_printf(out, " --model %s", exec_model_name(set->build.model));
    if (set->build.code != CODE_AUTO)
        text_printf(out, " --code-path %s", code_path_name(set->build.code));
    if (set->load.bake)
        text_puts(out, " --bake");
    if (set->build.registers)
        text_printf(out, " --registers %u", set->build.registers);
    if (set->build.cache != CACHE_AUTO)
        text_printf(out, " --cache %s", cache_preference_name(set->build.cache));
    if (set->launch.work_group[0])
        text_printf(out, " --work-group %ux%u", set->launch.work_group[0],
                    set->launch.work_group[1]);
    if (set->launch.tile[0])
        text_printf(out, " --tile %ux%u", set->launch.tile[0], set->launch.tile[1]);
    if (set->launch.batch)
        text_printf(out, " --batch %u", set->launch.batch);
    if (set->launch.paths)
        text_printf(out, " --paths %u", set->launch.paths);
    if (set->launch.tile_order)
        text_printf(out, " --tile-order %u", set->launch.tile_order);
    if (set->launch.threads)
        text_printf(out, " --threads %u", set->launch.threads);
}

void job_options(const struct render_job *job, struct text *out)
{
    text_printf(out, " --width %u --height %u --spp %u --max-depth %u --rr-depth %u --seed %llu",
                job->width, job->height, job->sample_count, job->max_depth, job->rr_depth,
                (unsigned long long)job->seed);
}

static const char *command_make(struct arena *a, const struct trial *t,
                                const struct bench_options *o)
{
    struct text c = {0};
    text_shell(&c, o->program ? o->program : "isophote");
    text_puts(&c, " bench ");
    text_shell(&c, t->lane->subject->scene_path);
    text_puts(&c, " --device ");
    text_shell(&c, t->lane->ready.has_device ? t->lane->ready.device.id : t->lane->subject->device);
    text_puts(&c, " ");
    settings_options(&t->set, &c);
    if (t->lane->ready.has_job)
        job_options(&t->lane->ready.job, &c);
    const char *s = c.failed ? NULL : arena_strdup(a, c.data);
    text_free(&c);
    return s;
}

/* ---- the identity ----------------------------------------------------------------------- */

enum status row_identity(struct arena *a, const struct lane *l, const struct settings *set,
                         const struct bench_options *o, const struct identity **out,
                         struct error *err)
{
    struct error e = {0};
    *out = NULL;
    if (!o->program_identity || !o->environment || !l->ready.has_device || !l->ready.has_job)
        return STATUS_OK;
    const struct identity *device = identity_of_device(a, l->ready.device.id, &l->ready.device, &e),
                          *inputs = identity_of_inputs(a, l->subject->scene_path,
                                                       l->inputs ? l->inputs : "",
                                                       l->inputs ? strlen(l->inputs) : 0, &e);
    struct text settings = {0};
    settings_options(set, &settings);
    job_options(&l->ready.job, &settings);
    struct identity *id = identity_new(a, "render");
    identity_add_of(id, o->program_identity);
    identity_add_of(id, device);
    identity_add_of(id, o->environment);
    identity_add(id, "settings", settings.failed ? NULL : settings.data);
    identity_add_of(id, inputs);
    text_free(&settings);
    if (!e.code)
        *out = identity_close(id, &e);
    if (e.code && err)
        *err = e;
    return e.code;
}

/* ---- phases ----------------------------------------------------------------------------- */

static void phase_once(struct json_writer *w, enum phase p, double seconds)
{
    json_key(w, phase_names[p].key);
    json_begin_object(w);
    json_key_number(w, "median_s", seconds);
    json_end_object(w);
}

static void phase_repeated(struct json_writer *w, enum phase p, const struct trial *t,
                           size_t offset, bool device)
{
    double x[REPETITIONS_MAX], d[REPETITIONS_MAX];
    struct bench_stats s;
    bool told = device;
    const struct repetition *counted[REPETITIONS_MAX];
    enum clocks kind;
    const size_t n = trial_counted(t, counted, &kind);
    for (size_t i = 0; i < n; i++) {
        memcpy(&x[i], (const char *)counted[i] + offset, sizeof x[i]);
        d[i] = counted[i]->device_s;
        told = told && d[i] >= 0;
    }
    if (bench_statistics(x, n, &s, NULL) != STATUS_OK)
        return;
    json_key(w, phase_names[p].key);
    json_begin_object(w);
    json_key_number(w, "median_s", s.median);
    json_key_pair(w, "interval", s.low, s.high);
    if (told && bench_statistics(d, n, &s, NULL) == STATUS_OK)
        json_key_number(w, "device_s", s.median);
    json_end_object(w);
}

static const char *writer_text(struct arena *a, struct json_writer *w)
{
    const char *s = w->out.failed ? NULL : arena_strdup(a, w->out.data);
    text_free(&w->out);
    return s;
}

static const char *phases_make(struct arena *a, const struct trial *t)
{
    const struct worker_ready *r = &t->lane->ready;
    struct json_writer w = {0};
    json_begin_object(&w);
    phase_once(&w, PHASE_configuration, r->scene.configuration_s);
    phase_once(&w, PHASE_textures, r->scene.textures_s);
    phase_once(&w, PHASE_materials, r->scene.materials_s);
    phase_once(&w, PHASE_objects, r->scene.objects_s);
    phase_once(&w, PHASE_geometry, r->scene.geometry_s);
    phase_once(&w, PHASE_bvh, r->load.bvh_build_s);
    phase_once(&w, PHASE_upload, r->load.upload_s);
    phase_once(&w, PHASE_compile, r->build.compile_s);
    phase_once(&w, PHASE_first_launch, t->first_launch_s);
    phase_repeated(&w, PHASE_launch_setup, t, offsetof(struct repetition, launch_setup_s), false);
    phase_repeated(&w, PHASE_render, t, offsetof(struct repetition, render_s), true);
    phase_repeated(&w, PHASE_readback, t, offsetof(struct repetition, readback_s), false);
    json_end_object(&w);
    return writer_text(a, &w);
}

/* ---- detail ----------------------------------------------------------------------------- */

static void detail_judgement(struct json_writer *w, const struct judgement *j)
{
    const struct {
        const char *key;
        double value;
    } rows[] = {{"mse", j->mse},
                {"relmse", j->relmse},
                {"psnr", j->psnr},
                {"ssim", j->ssim},
                {"flip", j->flip},
                {"worst_z", j->worst_z},
                {"share_outliers", j->share_outliers}};
    json_key(w, "judgement");
    json_begin_object(w);
    json_key_string(w, "verdict", verdict_name(j->verdict));
    json_key_string(w, "reason", j->reason);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (isfinite(rows[i].value))
            json_key_number(w, rows[i].key, rows[i].value);
    json_end_object(w);
}

static void detail_setup(struct json_writer *w, const struct worker_ready *r)
{
    json_key(w, "build");
    json_begin_object(w);
    json_key_string(w, "options", r->build.options);
    json_key_bool(w, "from_cache", r->build.cached);
    if (r->build.registers)
        json_key_integer(w, "registers", r->build.registers);
    if (r->build.stack_bytes)
        json_key_integer(w, "stack_bytes", r->build.stack_bytes);
    if (r->build.spill_bytes)
        json_key_integer(w, "spill_bytes", r->build.spill_bytes);
    json_end_object(w);
    json_key(w, "load");
    json_begin_object(w);
    json_key_integer(w, "triangles", (int64_t)r->triangles);
    json_key_integer(w, "primitives", (int64_t)r->primitives);
    json_key_number(w, "sah_cost", r->load.sah_cost);
    json_key_number(w, "first_sample_after_s", r->setup_s);
    json_end_object(w);
}

static void absent(struct json_writer *w, const char *why)
{
    json_begin_object(w);
    json_key_string(w, "absent", why);
    json_end_object(w);
}

/* The median of the repetitions' joules, where each could be measured and was long enough. */
static void detail_joules(struct json_writer *w, const struct trial *t, enum meter which)
{
    double joules[REPETITIONS_MAX], wall[REPETITIONS_MAX];
    struct bench_stats j, s;
    const char *why = t->lane->ready.absence.why[which];
    const struct repetition *counted[REPETITIONS_MAX];
    enum clocks kind;
    const size_t n = trial_counted(t, counted, &kind);
    for (size_t i = 0; i < n; i++) {
        joules[i] = counted[i]->meters.joules[which];
        wall[i] = counted[i]->wall_s;
        if (joules[i] < 0 && !why[0])
            why = "the counter went away, or went backwards, while it was measured";
    }
    if (why[0] || bench_statistics(joules, n, &j, NULL) || bench_statistics(wall, n, &s, NULL)) {
        absent(w, why);
        return;
    }
    if (s.median < METER_UPDATES_LEAST * meter_update_s[which]) {
        char text[192];
        snprintf(text, sizeof text,
                 "repetitions of %.3g s are too short for a counter that moves every %g s; more "
                 "--spp would make them %g s",
                 s.median, meter_update_s[which], METER_UPDATES_LEAST * meter_update_s[which]);
        absent(w, text);
        return;
    }
    json_begin_object(w);
    json_key_number(w, "median_j", j.median);
    json_key_pair(w, "interval", j.low, j.high);
    json_key_number(w, "watts", j.median / s.median);
    json_end_object(w);
}

static void detail_energy(struct json_writer *w, const struct trial *t)
{
    json_key(w, "energy");
    json_begin_object(w);
    json_key(w, "host");
    detail_joules(w, t, METER_HOST_ENERGY);
    json_key(w, "device");
    detail_joules(w, t, METER_DEVICE_ENERGY);
    json_end_object(w);
}

static void detail_memory(struct json_writer *w, const struct trial *t)
{
    const struct worker_ready *r = &t->lane->ready;
    json_key(w, "memory");
    json_begin_object(w);
    json_key_integer(w, "host_peak_bytes", (int64_t)t->last.peak_bytes);
    json_key_integer(w, "bvh_bytes", (int64_t)r->load.bvh_bytes);
    json_key_integer(w, "scene_bytes", (int64_t)r->load.scene_bytes);
    uint64_t film_bytes = 4 * sizeof(int64_t) * (uint64_t)r->job.width * r->job.height;
    json_key_integer(w, "device_bytes", (int64_t)r->load.device_bytes);
    json_key_integer(w, "device_peak_bytes", (int64_t)(r->load.device_bytes + film_bytes));
    json_key(w, "device_in_use_bytes");
    if (t->last.meters.device_used_bytes)
        json_integer(w, (int64_t)t->last.meters.device_used_bytes);
    else
        absent(w, r->absence.why[METER_DEVICE_MEMORY]);
    if (r->triangles)
        json_key_number(w, "host_peak_bytes_per_triangle",
                        (double)t->last.peak_bytes / (double)r->triangles);
    json_end_object(w);
}

static void detail_repetitions(struct json_writer *w, const struct trial *t, double confidence)
{
    const struct repetition *counted[REPETITIONS_MAX];
    enum clocks kind;
    const size_t n = trial_counted(t, counted, &kind);
    json_key(w, "seconds");
    json_begin_array(w);
    for (size_t i = 0; i < n; i++)
        json_number(w, counted[i]->render_s);
    json_end_array(w);
    json_key_number(w, "confidence", confidence);
    json_key_string(w, "stopped_by", t->stopped);
    json_key_integer(w, "warmup", t->warmed);
    json_key(w, "used");
    json_begin_object(w);
    const struct render_times *used = &t->last.times;
    json_key_integer(w, "launches", used->launches);
    json_key_pair(w, "work_group", used->work_group[0], used->work_group[1]);
    json_key_pair(w, "tile", used->tile[0], used->tile[1]);
    json_key_integer(w, "batch", used->batch);
    json_end_object(w);
}

/* Clocks and temperature of the repetitions that count. */
static void detail_clocks(struct json_writer *w, const struct trial *t)
{
    const struct sensor_source_told *source = &t->lane->ready.sensor;
    const struct repetition *counted[REPETITIONS_MAX];
    enum clocks kind;
    double mean[REPETITIONS_MAX], least = INFINITY, hottest = -INFINITY;
    size_t clocks = 0, n = trial_counted(t, counted, &kind);
    struct bench_stats s;
    for (size_t i = 0; i < n; i++) {
        const struct sensor_reading *r = &counted[i]->sensors;
        if (r->clock_samples) {
            mean[clocks++] = r->mean_mhz;
            least = fmin(least, r->least_mhz);
        }
        if (r->has_celsius)
            hottest = fmax(hottest, r->hottest_c);
    }
    json_key(w, "clocks");
    if (!source->name[0]) {
        absent(w, source->absent);
        return;
    }
    json_begin_object(w);
    json_key_string(w, "source", source->name);
    if (bench_statistics(mean, clocks, &s, NULL) == STATUS_OK) {
        json_key_number(w, "median_mhz", s.median);
        json_key_number(w, "least_mhz", least);
    }
    if (isfinite(hottest))
        json_key_number(w, "hottest_c", hottest);
    json_end_object(w);
}

/* The repetitions whose clocks were held down, whether they count or not. */
static void detail_throttled(struct json_writer *w, const struct trial *t)
{
    static const char *const kinds[] = {
        [CLOCKS_FREE] = "free", [CLOCKS_CAPPED] = "at a cap", [CLOCKS_THROTTLED] = "throttled"};
    const struct repetition *counted[REPETITIONS_MAX];
    enum clocks kind;
    const size_t n = trial_counted(t, counted, &kind);
    if (!trial_reasons(t))
        return;
    json_key(w, "throttled");
    json_begin_object(w);
    json_key_integer(w, "made", (int64_t)t->n);
    json_key_integer(w, "left_out", (int64_t)(t->n - n));
    json_key_string(w, "counted", kinds[kind]);
    json_key(w, "repetitions");
    json_begin_array(w);
    for (size_t i = 0; i < t->n; i++) {
        const struct repetition *r = &t->repetitions[i];
        const enum clocks its = clocks_of(r->sensors.reasons);
        char reasons[128];
        if (its == kind && its == CLOCKS_FREE)
            continue;
        throttle_text(r->sensors.reasons, reasons, sizeof reasons);
        json_begin_object(w);
        json_key_integer(w, "number", (int64_t)i + 1);
        json_key_string(w, "clocks", kinds[its]);
        json_key_string(w, "reasons", reasons);
        json_key_bool(w, "counts", its == kind);
        json_key_number(w, "seconds", r->render_s);
        if (r->sensors.clock_samples)
            json_key_number(w, "mean_mhz", r->sensors.mean_mhz);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void detail_statistics(struct json_writer *w, struct arena *a, const char *text)
{
    const struct json *v = NULL;
    if (!text || json_parse(a, "statistics", text, strlen(text), &v, NULL) != STATUS_OK)
        return;
    json_key(w, "statistics");
    json_copy(w, v);
}

static const char *detail_make(struct arena *a, const struct trial *t, bool judged,
                               double confidence)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    if (judged && t->judgement.reason[0])
        detail_judgement(&w, &t->judgement);
    if (t->hash[0]) {
        json_key_string(&w, "film", t->hash);
        json_key_bool(&w, "same_bits_each_time", !t->varies);
        json_key_integer(&w, "flagged_samples", (int64_t)t->last.flagged);
    }
    if (t->n && t->verdict == VERDICT_PASS) {
        detail_repetitions(&w, t, confidence);
        detail_energy(&w, t);
        detail_clocks(&w, t);
    }
    if (t->n)
        detail_throttled(&w, t);
    if (!t->lane->failed) {
        if (t->last.peak_bytes)
            detail_memory(&w, t);
        detail_setup(&w, &t->lane->ready);
        const struct shading_stats *shading = &t->lane->ready.load.shading;
        if (shading->groups) {
            json_key(&w, "shading");
            json_begin_object(&w);
            shading_stats_write(&w, shading, NULL);
            json_end_object(&w);
        }
        detail_statistics(&w, a, t->statistics);
    }
    json_end_object(&w);
    return writer_text(a, &w);
}

/* ---- notes ------------------------------------------------------------------------------ */

/* What must be said beside a rate. NULL: nothing, or no memory, which *failed tells. */
static const char *notes_make(struct arena *a, const struct trial *t, double noise,
                              const struct bench_limits *limits, bool *failed)
{
    const struct repetition *counted[REPETITIONS_MAX];
    enum clocks kind;
    const size_t n = trial_counted(t, counted, &kind), out = t->n - n;
    struct text text = {0};
    char reasons[128];
    throttle_text(trial_reasons(t), reasons, sizeof reasons);
    if (out && kind == CLOCKS_FREE)
        text_printf(&text, "%zu of %zu repetitions were throttled (%s) and are left out", out, t->n,
                    reasons);
    else if (kind == CLOCKS_CAPPED)
        text_printf(&text, "all repetitions that count were at a cap (%s)%s", reasons,
                    out ? "; others are left out" : "");
    if (noise > BENCH_NOISE_BOUND)
        text_printf(&text,
                    "%snoisy: the middle half of the repetitions differs by %.1f%%, more than "
                    "%.0f%%: trust the interval, and look for other load and changing clocks",
                    text.len ? "; " : "", 100 * noise, 100 * BENCH_NOISE_BOUND);
    if (n < limits->min_repetitions && strcmp(t->stopped, "budget") == 0)
        text_printf(&text,
                    "%sthe budget of %g s ended it after %zu of %u repetitions: about %.2g s "
                    "would do",
                    text.len ? "; " : "", limits->budget_s, n, limits->min_repetitions,
                    t->spent_s / (double)t->n * limits->min_repetitions);
    const char *notes = text.len && !text.failed ? arena_strdup(a, text.data) : NULL;
    *failed = text.failed || (text.len && !notes);
    text_free(&text);
    return notes;
}

/* ---- devices ---------------------------------------------------------------------------- */

const char *device_record_fill(struct arena *a, const struct device_info *d,
                               struct device_record *out)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_integer(&w, "compute_units", d->compute_units);
    if (d->clock_mhz) /* Intel's OpenCL does not tell */
        json_key_integer(&w, "clock_mhz", d->clock_mhz);
    json_key_integer(&w, "max_work_group", d->max_work_group);
    json_key_pair(&w, "max_work_group_axis", d->max_work_group_axis[0], d->max_work_group_axis[1]);
    json_key_integer(&w, "global_bytes", (int64_t)d->global_bytes);
    json_key_integer(&w, "max_alloc_bytes", (int64_t)d->max_alloc_bytes);
    json_key_bool(&w, "fp64", d->fp64);
    json_key_bool(&w, "subgroups", d->subgroups);
    json_key_bool(&w, "spirv", d->spirv);
    json_end_object(&w);
    *out = (struct device_record){.id = d->id,
                                  .api = d->api,
                                  .name = d->name,
                                  .vendor = d->vendor,
                                  .driver = d->driver,
                                  .version = d->version,
                                  .compiler = d->compiler,
                                  .kind = d->kind == DEVICE_CPU   ? "cpu"
                                          : d->kind == DEVICE_GPU ? "gpu"
                                                                  : "other"};
    out->detail = writer_text(a, &w);
    return out->detail;
}

static enum status device_store(struct row_sink *sink, const struct device_info *d,
                                struct error *err)
{
    for (size_t i = 0; i < sink->device_count; i++)
        if (strcmp(sink->devices[i], d->id) == 0)
            return STATUS_OK;
    struct device_record r;
    const char **longer = ARENA_ARRAY(sink->a, const char *, sink->device_count + 1);
    if (!longer || !device_record_fill(sink->a, d, &r))
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < sink->device_count; i++)
        longer[i] = sink->devices[i];
    longer[sink->device_count] = arena_strdup(sink->a, d->id);
    if (!longer[sink->device_count])
        return error_msg(err, STATUS_MEMORY, "out of memory");
    sink->devices = longer;
    sink->device_count++;
    if (sink->o->program_identity) {
        const struct identity *id = identity_of_device(sink->a, d->id, d, err);
        if (!id)
            return STATUS_MEMORY;
        TRY(store_add_identity(sink->o->store, sink->o->run, id, err));
        r.identity = id->key;
    }
    return store_add_device(sink->o->store, sink->o->run, &r, err);
}

/* ---- the row ---------------------------------------------------------------------------- */

static enum status row_make(struct trial *t, struct row_sink *sink, struct bench_record *out,
                            struct error *err)
{
    struct arena *a = sink->a;
    const struct lane *l = t->lane;
    const struct render_job *job = l->ready.has_job ? &l->ready.job : &l->subject->job;
    char model[PROGRAM_NAME_SIZE];
    program_name(&t->set, l->ready.build.model, model);
    struct bench_record r = {
        .scene = l->ready.has_job ? l->ready.scene_name : path_stem(a, l->subject->scene_path),
        .device = l->ready.has_device ? l->ready.device.id : l->subject->device,
        .mode = math_mode_name(t->set.build.mode),
        .bvh = bvh_kind_name(l->ready.load.bvh != BVH_AUTO ? l->ready.load.bvh : t->set.load.bvh),
        .model = arena_strdup(a, model),
        .width = job->width,
        .height = job->height,
        .spp = job->sample_count,
        .max_depth = job->max_depth,
        .work_group = {t->set.launch.work_group[0], t->set.launch.work_group[1]},
        .tile = {t->set.launch.tile[0], t->set.launch.tile[1]},
        .batch = t->set.launch.batch,
        .verdict = t->verdict,
        .command = command_make(a, t, sink->o),
    };
    double confidence = 0;
    const struct repetition *counted[REPETITIONS_MAX];
    enum clocks kind;
    bool failed = false;
    r.repetitions = (uint32_t)trial_counted(t, counted, &kind);
    if (t->verdict == VERDICT_PASS && !sink->o->judge) {
        r.verdict = VERDICT_ERROR;
        snprintf(t->reason, sizeof t->reason,
                 "the picture was not judged; the times are in the detail and cannot be ranked");
    } else if (t->verdict == VERDICT_PASS) {
        if (!trial_rate(t, &t->rate))
            return error_msg(err, STATUS_INTERNAL, "a row that passed has no time");
        r.samples_per_s = t->rate.median;
        r.interval[0] = t->rate.low;
        r.interval[1] = t->rate.high;
        r.noise = t->rate.iqr / t->rate.median;
        confidence = t->rate.confidence;
        r.notes = notes_make(a, t, r.noise, &sink->limits, &failed);
        snprintf(t->reason, sizeof t->reason, "%s%s", t->judgement.reason,
                 t->varies ? "; repetitions differed in bits, each picture was judged" : "");
    }
    r.reason = arena_strdup(a, t->reason);
    if (t->n && t->verdict == VERDICT_PASS) {
        r.phases = phases_make(a, t);
        if (!r.phases)
            return error_msg(err, STATUS_MEMORY, "out of memory for a row");
    }
    r.detail = detail_make(a, t, sink->o->judge, confidence);
    if (failed || !r.reason || !r.detail || !r.command || !r.scene || !r.model)
        return error_msg(err, STATUS_MEMORY, "out of memory for a row");
    *out = r;
    return STATUS_OK;
}

/* The sums of a strict row's picture, once for all settings that give it. */
static enum status film_store(struct row_sink *sink, const struct trial *t,
                              const struct bench_record *r, struct error *err)
{
    const struct judged *j = r->verdict == VERDICT_PASS ? trial_judged(t) : NULL;
    if (!j || !j->film.sums)
        return STATUS_OK;
    for (size_t i = 0; i < sink->film_count; i++)
        if (strcmp(sink->films[i].name, r->scene) == 0 &&
            strcmp(sink->films[i].device, r->device) == 0 &&
            strcmp(sink->films[i].root, j->film.root) == 0)
            return STATUS_OK;
    struct film_record *longer = ARENA_ARRAY(sink->a, struct film_record, sink->film_count + 1);
    struct film_record film = j->film;
    if (!longer)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < sink->film_count; i++)
        longer[i] = sink->films[i];
    film.name = r->scene;
    film.device = r->device;
    film.identity = r->identity;
    longer[sink->film_count] = film;
    sink->films = longer;
    sink->film_count++;
    return store_add_film(sink->o->store, sink->o->run, &film, err);
}

enum status trial_write(struct trial *t, struct row_sink *sink, struct error *err)
{
    struct bench_record r;
    const struct identity *id = NULL;
    enum status st = row_make(t, sink, &r, err);
    if (!st)
        st = row_identity(sink->a, t->lane, &t->set, sink->o, &id, err);
    if (st)
        return st;
    r.identity = id ? id->key : NULL;
    t->state = TRIAL_WRITTEN;
    if (sink->o->store) {
        if (t->lane->ready.has_device)
            st = device_store(sink, &t->lane->ready.device, err);
        if (!st && id)
            st = store_add_identity(sink->o->store, sink->o->run, id, err);
        if (!st)
            st = store_add_bench(sink->o->store, sink->o->run, &r, err);
        if (!st)
            st = film_store(sink, t, &r, err);
    }
    if (!st && sink->keep)
        sink->keep(sink->keep_ctx, &r);
    if (!st && sink->o->each)
        sink->o->each(sink->o->ctx, &r);
    return st;
}
