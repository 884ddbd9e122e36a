/* SPDX-License-Identifier: Apache-2.0 */
/* isophote render: one scene on one device (or the reference) into one image file. */
#include "bench.h"
#include "cli.h"
#include "reference.h"
#include "render_checkpoint.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char progress_text[] = "rendering";

struct render_command {
    struct render_options common;
    const char *out, *preview, *pass_list, *light_choice, *mis, *checkpoint;
    double exposure, error_target, update_s, interval_s;
    bool resume, statistics;
    unsigned passes; /* to be written */
    enum tone tone;
};

/* What a render leaves behind for its summary. */
struct render_summary {
    const char *scene, *device, *mode, *out, *preview;
    const struct render_job *job;
    uint32_t width, height; /* of the picture: the job's, or its crop's */
    double mean[3], render_s, passes_s, denoise_s;
    double processor_s;  /* of this process, while a device rendered */
    double samples_mean; /* of a pixel; 0: all have the job's */
    double samples_kept; /* of a pixel, which a checkpoint had */
    bool on_device, statistics;
    char film_hash[33];
    uint64_t flagged;
    int64_t rays[3]; /* where they were counted: to the closest hit, to any; nodes */
    size_t dropped;  /* triangles of the scene */
    struct load_times load;
    struct build_info build;
    struct render_times times;
    struct render_statistics made; /* --statistics */
    const struct scene *picture_of;
    const struct scene_times *scene_times;
    struct arena *arena;
    const char *scene_path;
    int inputs;                     /* where the files that were read are told of */
    const struct device_info *info; /* NULL: the reference */
    const struct identity *identity;
};

static const char *device_of(const struct render_command *cmd)
{
    return cmd->common.devices.count ? cmd->common.devices.items[0] : "native";
}

static void mean_of(const float *rgb, size_t pixels, double mean[3])
{
    mean[0] = mean[1] = mean[2] = 0;
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++)
            // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): film_rgb filled it
            mean[c] += rgb[3 * i + (size_t)c] / (double)pixels;
}

static enum status check_files(const struct render_command *cmd, struct error *err)
{
    enum status s = STATUS_OK;
    if (cmd->out && !image_writes(cmd->out))
        return error_msg(err, STATUS_ARG, "-o %s: expected a name that ends in .exr, .png or .pfm",
                         cmd->out);
    if (cmd->preview && !path_ends(cmd->preview, ".png"))
        return error_msg(err, STATUS_ARG, "--preview %s: expected a name that ends in .png",
                         cmd->preview);
    if (cmd->out)
        s = output_check(cmd->out, err);
    if (s == STATUS_OK && cmd->preview)
        s = output_check(cmd->preview, err);
    if (s == STATUS_OK && cmd->checkpoint && strcmp(cmd->checkpoint, "none") != 0)
        s = output_check(cmd->checkpoint, err);
    return s;
}

/* Where the checkpoint is kept; NULL: nowhere. */
static const char *checkpoint_path(struct arena *a, const struct render_command *cmd)
{
    if (cmd->checkpoint)
        return strcmp(cmd->checkpoint, "none") == 0 || output_is_special(cmd->checkpoint)
                   ? NULL
                   : cmd->checkpoint;
    return cmd->out && !output_is_special(cmd->out) ? arena_printf(a, "%s.checkpoint", cmd->out)
                                                    : NULL;
}

/* What the options ask for that keep what there is. */
static enum status check_keeping(const struct render_command *cmd, struct error *err)
{
    const char *option = cmd->resume ? "--resume" : cmd->update_s > 0 ? "--update" : NULL;
    struct arena a = {0};
    const bool kept = checkpoint_path(&a, cmd) != NULL;
    arena_free(&a);
    if (cmd->common.set.build.count_rays && (option || cmd->checkpoint))
        return error_msg(err, STATUS_ARG, "--count-rays makes no picture to be kept: without %s",
                         option ? option : "--checkpoint");
    if (cmd->resume && !kept)
        return error_msg(err, STATUS_ARG,
                         "--resume needs --checkpoint FILE, or -o FILE beside which it lies");
    if (cmd->update_s > 0 && !cmd->out && !cmd->preview)
        return error_msg(err, STATUS_ARG, "--update needs -o or --preview");
    if (cmd->update_s > 0 && ((cmd->out && output_is_special(cmd->out)) ||
                              (cmd->preview && output_is_special(cmd->preview))))
        return error_msg(err, STATUS_ARG, "--update replaces a file, and %s is none",
                         cmd->out && output_is_special(cmd->out) ? cmd->out : cmd->preview);
    return STATUS_OK;
}

static enum status choose_passes(struct render_command *cmd, bool reference, struct error *err)
{
    const unsigned own = 1u << PASS_DENOISED | 1u << PASS_BEAUTY; /* of any picture */
    const bool exr = cmd->out && path_ends(cmd->out, ".exr");
    cmd->passes = 1u << PASS_BEAUTY;
    if (reference && exr)
        cmd->passes |=
            1u << PASS_ALBEDO | 1u << PASS_NORMAL | 1u << PASS_DEPTH | 1u << PASS_VARIANCE;
    if (!cmd->pass_list)
        return STATUS_OK;
    enum status s = passes_parse(cmd->pass_list, &cmd->passes, err);
    if (s == STATUS_OK && !exr && cmd->passes & ~own)
        s = error_msg(err, STATUS_ARG, "--passes needs -o with a name that ends in .exr");
    return s;
}

/* What the options ask for together. *absent: what is wrong is that Open Image Denoise is not here.
 */
static enum status check_command(struct render_command *cmd, bool *absent, struct error *err)
{
    const bool reference = strcmp(device_of(cmd), "reference") == 0;
    enum status s = check_files(cmd, err);
    if (s == STATUS_OK)
        s = check_keeping(cmd, err);
    if (s != STATUS_OK)
        return s;
    if (cmd->common.set.build.count_rays &&
        (reference || cmd->out || cmd->preview || cmd->pass_list))
        return error_msg(err, STATUS_ARG,
                         "--count-rays takes a device and gives no picture: without %s",
                         reference        ? "--device reference"
                         : cmd->out       ? "-o"
                         : cmd->pass_list ? "--passes"
                                          : "--preview");
    if (cmd->statistics && reference)
        return error_msg(err, STATUS_ARG,
                         "--statistics needs a device: the reference interprets shaders' sources");
    if (cmd->error_target > 0 && !reference)
        return error_msg(err, STATUS_ARG, "--error-target needs --device reference");
    s = choose_passes(cmd, reference, err);
    if (s == STATUS_OK && cmd->passes & 1u << PASS_DENOISED) {
        s = denoise_find(err);
        *absent = s != STATUS_OK;
    }
    return s;
}

/* The picture without its noise, when it was asked for; timed. */
static enum status denoise(const struct render_command *cmd, struct passes *p,
                           struct render_summary *sum, struct error *err)
{
    if (!(cmd->passes & 1u << PASS_DENOISED))
        return STATUS_OK;
    struct passes more;
    enum status s = passes_init(&more, p->width, p->height, 1u << PASS_DENOISED, err);
    if (s != STATUS_OK)
        return s;
    const double start = clock_s();
    p->values[PASS_DENOISED] = more.values[PASS_DENOISED];
    s = denoise_picture(p->width, p->height, p->values[PASS_BEAUTY], p->values[PASS_ALBEDO],
                        p->values[PASS_NORMAL], p->values[PASS_DENOISED], err);
    sum->denoise_s = clock_s() - start;
    return s;
}

/* What the picture depends on: now that it is made, all that it needed was read. */
static enum status picture_identify(const struct render_command *cmd, struct render_summary *sum,
                                    struct error *err)
{
    struct arena *a = sum->arena;
    struct text settings = {0};
    struct error e = {0};
    const char *lines = inputs_told(a, sum->inputs);
    const struct identity *device = identity_of_device(a, sum->info ? sum->info->id : sum->device,
                                                       sum->info, &e),
                          *inputs = lines ? identity_of_inputs(a, sum->scene_path, lines,
                                                               strlen(lines), &e)
                                          : NULL,
                          *program = identity_of_program(&e),
                          *environment = identity_of_environment(&e);
    settings_options(&sum->job->set, &settings);
    job_options(sum->job, &settings);
    const uint32_t *crop = sum->job->crop;
    if (crop[2])
        text_printf(&settings, ", part %u,%u %ux%u", crop[0], crop[1], crop[2], crop[3]);
    if (cmd->light_choice)
        text_printf(&settings, " --light-choice %s", cmd->light_choice);
    if (cmd->mis)
        text_printf(&settings, " --mis %s", cmd->mis);
    if (cmd->error_target > 0)
        text_printf(&settings, " --error-target %.17g", cmd->error_target);
    struct identity *id = identity_new(a, "render");
    identity_add_of(id, program);
    identity_add_of(id, device);
    identity_add_of(id, environment);
    identity_add(id, "settings", settings.failed ? NULL : settings.data);
    identity_add_of(id, inputs);
    text_free(&settings);
    if (!e.code)
        sum->identity = identity_close(id, &e);
    if (e.code && err)
        *err = e;
    return e.code;
}

/* What a picture's file says of it: names and values, ending with NULL. */
enum { ATTRIBUTES = 2 * 8 + 1 };
struct attributes {
    char spp[16], seed[24];
    const char *list[ATTRIBUTES];
};
static enum status attributes_fill(const struct render_summary *sum, struct attributes *out,
                                   struct error *err)
{
    const char *parts = identity_text(sum->arena, sum->identity);
    if (!parts)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", sum->out);
    snprintf(out->spp, sizeof out->spp, "%u", sum->job->sample_count);
    snprintf(out->seed, sizeof out->seed, "%llu", (unsigned long long)sum->job->seed);
    const char *const list[ATTRIBUTES] = {"isophote.scene",
                                          sum->scene,
                                          "isophote.device",
                                          sum->device,
                                          "isophote.mode",
                                          sum->mode,
                                          "isophote.spp",
                                          out->spp,
                                          "isophote.seed",
                                          out->seed,
                                          "isophote.command",
                                          command_line_text(),
                                          "isophote.identity",
                                          sum->identity->key,
                                          "isophote.parts",
                                          parts,
                                          NULL};
    memcpy((void *)out->list, (const void *)list, sizeof list);
    return STATUS_OK;
}

static enum status write_exr(const struct render_command *cmd, const struct attributes *t,
                             const struct passes *p, struct error *err)
{
    struct passes wanted = *p; /* denoising needs more than was asked for */
    for (int i = 0; i < PASS_COUNT; i++)
        if (!(cmd->passes & 1u << i))
            wanted.values[i] = NULL;
    return passes_write_exr(&wanted, cmd->out, t->list, err);
}

/* A PNG or PFM shows the picture, without its noise if that was asked for. */
static enum status write_picture(const struct render_command *cmd, const struct attributes *t,
                                 const char *path, const struct passes *p, struct error *err)
{
    const float *rgb = p->values[PASS_DENOISED] ? p->values[PASS_DENOISED] : p->values[PASS_BEAUTY];
    return image_write_with(path, p->width, p->height, rgb, cmd->tone, cmd->exposure, t->list, err);
}

static enum status write_all(const struct render_command *cmd, const struct attributes *t,
                             const struct passes *p, struct error *err)
{
    enum status s = STATUS_OK;
    if (cmd->preview)
        s = write_picture(cmd, t, cmd->preview, p, err);
    if (s == STATUS_OK && cmd->out)
        s = path_ends(cmd->out, ".exr") ? write_exr(cmd, t, p, err)
                                        : write_picture(cmd, t, cmd->out, p, err);
    return s;
}

/* From the passes to files and the summary; p has beauty, and what denoising needs. */
static enum status picture_finish(const struct render_command *cmd, struct passes *p,
                                  struct render_summary *sum, struct checkpoint *kept,
                                  struct error *err)
{
    mean_of(p->values[PASS_BEAUTY], (size_t)p->width * p->height, sum->mean);
    enum status s = denoise(cmd, p, sum, err);
    if (s == STATUS_OK)
        s = picture_identify(cmd, sum, err);
    struct attributes attributes;
    if (s == STATUS_OK)
        s = attributes_fill(sum, &attributes, err);
    if (s != STATUS_OK)
        return s;
    s = write_all(cmd, &attributes, p, err);
    if (s == STATUS_IO) { /* on a disk that is full the checkpoint may be what fills it */
        size_t size = 0;
        void *aside = checkpoint_set_aside(kept, &size);
        if (aside)
            s = write_all(cmd, &attributes, p, err);
        if (s == STATUS_OK)
            free(aside);
        else
            checkpoint_put_back(kept, aside, size);
    }
    if (s == STATUS_OK)
        checkpoint_remove(kept);
    return s;
}

/* What is to be computed for what is to be written. */
static unsigned passes_needed(const struct render_command *cmd)
{
    unsigned bits = cmd->passes | 1u << PASS_BEAUTY;
    if (bits & 1u << PASS_DENOISED)
        bits |= 1u << PASS_ALBEDO | 1u << PASS_NORMAL;
    return bits & ~(1u << PASS_DENOISED);
}

static void shading_json(struct json_writer *w, const struct render_summary *r)
{
    json_key(w, "shading");
    json_begin_object(w);
    shading_stats_write(w, &r->load.shading, r->made.counts.hits ? &r->made.counts : NULL);
    json_key_number(w, "load_s", r->scene_times->materials_s);
    json_key_number(w, "compile_s", r->build.compile_s);
    json_key_bool(w, "compile_cached", r->build.cached);
    json_end_object(w);
}

static double megabytes(uint64_t bytes) { return (double)bytes / 1e6; }

static void tiles_text(const char *what, uint64_t lookups, const struct tile_counts *t)
{
    printf("  %llu %s: %llu of %llu tiles of 64x64 texels, %.3g of %.3g MB\n",
           (unsigned long long)lookups, what, (unsigned long long)t->tiles_read,
           (unsigned long long)t->tiles, megabytes(t->bytes_read), megabytes(t->bytes));
}

static void hits_text(const char *name, const struct shader_hits *h)
{
    const uint64_t runs = shader_runs(h), hits = h->combined + runs;
    if (runs)
        printf("  %s: %llu hits, %llu combined, %llu rejected (%llu first, %llu other shader, %llu "
               "other parameters), %.3g in a run\n",
               name, (unsigned long long)hits, (unsigned long long)h->combined,
               (unsigned long long)runs, (unsigned long long)h->first,
               (unsigned long long)h->other_shader, (unsigned long long)h->other_parameters,
               (double)hits / (double)runs);
}

static void counts_text(const struct render_summary *r)
{
    const struct shading_counts *c = &r->made.counts;
    const struct shader_hits all = shader_hits_sum(c);
    if (r->made.why_no_counts[0]) {
        printf("counts: none: %s\n", r->made.why_no_counts);
        return;
    }
    printf("rays: %lld to the closest hit, %lld to any; %lld nodes\n", (long long)r->made.rays[0],
           (long long)r->made.rays[1], (long long)r->made.rays[2]);
    tiles_text("texture queries of shaders", c->texture_queries, &c->shader_tiles);
    tiles_text("lookups in images of materials", c->image_lookups, &c->image_tiles);
    hits_text("all shaders", &all);
    for (size_t i = 0; i < c->material_count && i < r->picture_of->material_count; i++)
        hits_text(r->picture_of->materials[i].name, &c->hits[i]);
}

static void stages_text(const struct render_summary *r)
{
    const struct stage_times *t = &r->made.stages;
    if (r->made.why_no_stages[0])
        printf("stages: none: %s\n", r->made.why_no_stages);
    else
        printf("stages, model separate: %.4g s tracing, %.4g s shading, %.4g s else; shading over "
               "tracing %.3g\n",
               stages_tracing_s(t), t->shade, stages_other_s(t),
               stages_tracing_s(t) > 0 ? t->shade / stages_tracing_s(t) : 0);
}

static void cache_text(const struct texture_cache_counts *c)
{
    const uint64_t read = c->tiles + c->tiles_again;
    if (c->limit)
        printf("texture cache: %llu tiles read, %llu of them again; %.4g MB of files; at most %.4g "
               "of %.4g MB of texels in memory, the limit is %.4g\n",
               (unsigned long long)read, (unsigned long long)c->tiles_again,
               megabytes(c->file_bytes), megabytes(c->peak_bytes), megabytes(c->texel_bytes),
               megabytes(c->limit));
}

static void shading_text(const struct render_summary *r)
{
    const struct shading_stats *s = &r->load.shading;
    if (s->groups == 0) {
        printf("shading: no material runs a shader\n");
        return;
    }
    printf("shading: %zu masters, %zu groups in %zu programs; %zu instances, of which %zu run and "
           "%zu are skipped\n",
           s->masters, s->groups, s->programs, s->instances, s->instances_run,
           s->instances - s->instances_run);
    printf("  %zu operations -> %zu, %zu symbols -> %zu, %zu with derivatives -> %zu\n",
           s->ops_before, s->ops_after, s->symbols_before, s->symbols_after, s->derivs_before,
           s->derivs_after);
    printf("  materials loaded in %.4f s, optimised in %.4f s, emitted in %.4f s; the kernel "
           "compiled in %.4f s%s\n",
           r->scene_times->materials_s, s->optimise_s, s->emit_s, r->build.compile_s,
           r->build.cached ? " (from the cache)" : "");
    printf("  %zu images of shaders with %zu levels, %zu of them from files, %llu bytes\n",
           s->images, s->image_levels, s->image_levels_given, (unsigned long long)s->image_bytes);
}

static void rays_json(struct json_writer *w, const struct render_summary *r, double samples)
{
    static const char *const names[] = {"closest", "any", "nodes"};
    json_key(w, "rays");
    json_begin_object(w);
    for (int i = 0; i < 3; i++)
        json_key_integer(w, names[i], r->rays[i]);
    json_key_number(w, "per_sample", (double)(r->rays[0] + r->rays[1]) / samples);
    json_end_object(w);
}

/* By this process: what the seconds are of. */
static double samples_made(const struct render_summary *r)
{
    return (double)r->width * r->height * (r->job->sample_count - r->samples_kept);
}

static bool summary_json(const struct render_summary *r)
{
    struct json_writer w = {.pretty = true};
    double samples = (double)r->width * r->height * r->job->sample_count, made = samples_made(r);
    json_begin_object(&w);
    json_key_string(&w, "scene", r->scene);
    json_key_string(&w, "device", r->device);
    json_key(&w, "identity");
    identity_write(&w, r->identity);
    json_key_string(&w, "mode", r->mode);
    json_key_integer(&w, "width", r->width);
    json_key_integer(&w, "height", r->height);
    json_key_integer(&w, "spp", r->job->sample_count);
    if (r->samples_mean > 0)
        json_key_number(&w, "spp_mean", r->samples_mean);
    if (r->samples_kept > 0)
        json_key_number(&w, "spp_resumed", r->samples_kept);
    json_key_integer(&w, "max_depth", r->job->max_depth);
    json_key_integer(&w, "seed", (int64_t)r->job->seed);
    json_key_string(&w, "out", r->out);
    json_key_string(&w, "preview", r->preview);
    json_key_integer(&w, "dropped_degenerate", (int64_t)r->dropped);
    if (r->job->set.build.count_rays) {
        rays_json(&w, r, samples);
    } else {
        json_key(&w, "mean_radiance");
        json_begin_array(&w);
        for (int c = 0; c < 3; c++)
            json_number(&w, r->mean[c]);
        json_end_array(&w);
    }
    if (r->on_device) {
        if (!r->job->set.build.count_rays)
            json_key_string(&w, "film_hash", r->film_hash);
        json_key_integer(&w, "flagged_samples", (int64_t)r->flagged);
        json_key_pair(&w, "work_group", r->times.work_group[0], r->times.work_group[1]);
        json_key_pair(&w, "tile", r->times.tile[0], r->times.tile[1]);
        json_key_integer(&w, "batch", r->times.batch);
        json_key_integer(&w, "launches", r->times.launches);
        json_key_string(&w, "bvh", bvh_kind_name(r->times.bvh));
        json_key_string(&w, "model", exec_model_name(r->build.model));
        json_key_integer(&w, "bvh_bytes", (int64_t)r->load.bvh_bytes);
        json_key_number(&w, "sah_cost", r->load.sah_cost);
        if (r->load.shading.groups)
            shading_json(&w, r);
        if (r->statistics) {
            json_key(&w, "statistics");
            json_begin_object(&w);
            render_statistics_write(&w, &r->made, r->picture_of, samples);
            json_end_object(&w);
        }
    }
    json_key_number(&w, "samples_per_s", r->render_s > 0 ? made / r->render_s : 0);
    json_key_integer(&w, "peak_host_bytes", (int64_t)memory_peak());
    json_key(&w, "phases");
    json_begin_object(&w);
    json_key_number(&w, "configuration_s", r->scene_times->configuration_s);
    json_key_number(&w, "textures_s", r->scene_times->textures_s);
    json_key_number(&w, "materials_s", r->scene_times->materials_s);
    json_key_number(&w, "objects_s", r->scene_times->objects_s);
    json_key_number(&w, "geometry_s", r->scene_times->geometry_s);
    json_key_number(&w, "bvh_s", r->load.bvh_build_s);
    if (r->on_device) {
        json_key_number(&w, "upload_s", r->load.upload_s);
        json_key_number(&w, "kernel_compile_s", r->build.compile_s);
        json_key_number(&w, "first_launch_s", r->times.first_launch_s);
        json_key_number(&w, "launch_setup_s", r->times.launch_setup_s);
    }
    json_key_number(&w, "render_s", r->render_s);
    if (r->passes_s > 0)
        json_key_number(&w, "passes_s", r->passes_s);
    if (r->denoise_s > 0)
        json_key_number(&w, "denoise_s", r->denoise_s);
    if (r->on_device) {
        json_key_number(&w, "processor_s", r->processor_s);
        if (r->times.device_s >= 0)
            json_key_number(&w, "device_s", r->times.device_s);
        json_key_number(&w, "readback_s", r->times.readback_s);
    }
    json_end_object(&w);
    json_end_object(&w);
    return json_print(&w);
}

static bool summary_text(const struct render_summary *r)
{
    double samples = (double)r->width * r->height * r->job->sample_count;
    printf("%s on %s, %s: %ux%u, %u spp in %.3f s, %.2f Msamples/s\n", r->scene, r->device, r->mode,
           r->width, r->height, r->job->sample_count, r->render_s,
           r->render_s > 0 ? samples_made(r) / r->render_s / 1e6 : 0);
    if (r->samples_kept > 0)
        printf("resumed: %.4g of %u samples a pixel were there\n", r->samples_kept,
               r->job->sample_count);
    if (r->samples_mean > 0)
        printf("%.1f samples a pixel on average, for the error target\n", r->samples_mean);
    if (r->passes_s > 0)
        printf("passes in %.3f s\n", r->passes_s);
    if (r->denoise_s > 0)
        printf("denoised in %.3f s\n", r->denoise_s);
    if (r->job->set.build.count_rays) {
        const double rays = (double)(r->rays[0] + r->rays[1]);
        printf("%.4g rays a sample: %.4g to the closest hit, %.4g to any; %.4g nodes a ray\n",
               rays / samples, (double)r->rays[0] / samples, (double)r->rays[1] / samples,
               rays > 0 ? (double)r->rays[2] / rays : 0);
    } else {
        printf("mean radiance %.5g %.5g %.5g", r->mean[0], r->mean[1], r->mean[2]);
        if (r->on_device)
            printf("; film %s", r->film_hash);
        printf("\n");
    }
    if (r->dropped)
        printf("%zu triangles without an area or with a vertex that is not finite were left out\n",
               r->dropped);
    if (r->flagged)
        printf("%llu samples were clamped or not finite\n", (unsigned long long)r->flagged);
    if (r->statistics) {
        shading_text(r);
        counts_text(r);
        stages_text(r);
        cache_text(&r->made.cache);
    }
    if (r->out)
        printf("wrote %s\n", r->out);
    if (r->preview)
        printf("wrote %s\n", r->preview);
    return fflush(stdout) == 0;
}

/* What shaders said, which it frees; lines that stand in `before` are no news. */
static void said_print(const char *before, struct text *said)
{
    struct text all = {0};
    if (before)
        text_puts(&all, before);
    for (const char *line = said->data ? said->data : ""; *line;) {
        size_t n = strcspn(line, "\n");
        const char *at = before;
        while (at && *at && !(strncmp(at, line, n) == 0 && at[n] == '\n'))
            at = at[strcspn(at, "\n")] ? at + strcspn(at, "\n") + 1 : NULL;
        if (!at || !*at)
            text_printf(&all, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    if (all.data)
        (void)fprintf(stderr, "shaders report:\n%s", all.data);
    text_free(&all);
    text_free(said);
}

/* ---- what is kept of a picture that is not finished ---- */

/* Of a render under way. */
struct under_way {
    const struct render_command *cmd;
    const struct render_summary *sum;
    struct device *device; /* NULL: the reference */
    const struct reference *reference;
};

static void under_way_said(void *ctx, struct text *out)
{
    const struct under_way *u = ctx;
    if (u->device)
        device_messages(u->device, out);
    else
        reference_messages(u->reference, out);
}

/* The picture so far, in the place of the one to come: its beauty alone. */
static enum status under_way_picture(void *ctx, const float *rgb, double samples, struct error *err)
{
    const struct under_way *u = ctx;
    const struct render_command *cmd = u->cmd;
    const struct render_summary *sum = u->sum;
    char unfinished[64];
    snprintf(unfinished, sizeof unfinished, "%.4g of %u samples a pixel", samples,
             sum->job->sample_count);
    const char *const attributes[] = {"isophote.scene",
                                      sum->scene,
                                      "isophote.device",
                                      sum->device,
                                      "isophote.mode",
                                      sum->mode,
                                      "isophote.unfinished",
                                      unfinished,
                                      "isophote.command",
                                      command_line_text(),
                                      NULL};
    const char *const paths[] = {cmd->preview, cmd->out};
    enum status s = STATUS_OK;
    for (int i = 0; i < 2 && s == STATUS_OK; i++)
        if (paths[i])
            s = image_write_with(paths[i], sum->width, sum->height, rgb, cmd->tone, cmd->exposure,
                                 attributes, err);
    return s;
}

/* The library's bits and the processor's, by which the reference's doubles may differ. */
static void processor_add(struct identity *id)
{
    struct device_info native;
    identity_add(id, "C library", gnu_get_libc_version());
    if (device_find("native", &native, NULL) == STATUS_OK)
        identity_add(id, "processor", native.name);
}

/* What the bits so far depend on. In strict mode no device does, unless its mistakes are on
 * purpose, nor do settings of the launch; more samples are the same ones and others. */
static const struct identity *checkpoint_identity(const struct render_command *cmd,
                                                  const struct render_summary *sum,
                                                  struct error *err)
{
    struct arena *a = sum->arena;
    const struct render_job *job = sum->job;
    const bool reference = !sum->info, strict = !reference && job->set.build.mode == MODE_STRICT;
    struct error e = {0};
    const char *lines = inputs_told(a, sum->inputs);
    struct identity *id = identity_new(a, "checkpoint");
    struct text settings = {0};
    identity_add_of(id, identity_of_program(&e));
    identity_add(id, "renderer", reference ? "reference" : "kernel");
    if (reference)
        processor_add(id);
    else
        identity_add(id, "mode", sum->mode);
    if (sum->info && (!strict || sum->info->test_only))
        identity_add_of(id, identity_of_device(a, sum->info->id, sum->info, &e));
    if (!strict)
        identity_add_of(id, identity_of_environment(&e));
    if (!strict && !reference)
        settings_options(&job->set, &settings);
    else if (job->set.load.bake)
        text_puts(&settings, "--bake");
    identity_add(id, "settings", settings.data);
    identity_add(id, "size", arena_printf(a, "%ux%u", job->width, job->height));
    if (job->crop[2])
        identity_add(
            id, "part",
            arena_printf(a, "%u,%u %ux%u", job->crop[0], job->crop[1], job->crop[2], job->crop[3]));
    identity_add(id, "max-depth", arena_printf(a, "%u", job->max_depth));
    identity_add(id, "rr-depth", arena_printf(a, "%u", job->rr_depth));
    identity_add(id, "seed", arena_printf(a, "%llu", (unsigned long long)job->seed));
    identity_add(id, "light-choice", cmd->light_choice);
    identity_add(id, "mis", cmd->mis);
    if (cmd->error_target > 0)
        identity_add(id, "error-target",
                     arena_printf(a, "%.17g, spp %u", cmd->error_target, job->sample_count));
    if (reference)
        identity_add(id, "passes", arena_printf(a, "%#x", passes_needed(cmd)));
    identity_add_of(id, lines ? identity_of_inputs(a, sum->scene_path, lines, strlen(lines), &e)
                              : NULL);
    const struct identity *closed = settings.failed || e.code ? NULL : identity_close(id, &e);
    text_free(&settings);
    if (!closed)
        error_msg(err, STATUS_MEMORY, "out of memory for an identity");
    if (e.code && err)
        *err = e;
    return closed;
}

static enum status keeping_begin(struct under_way *u, int32_t exponent, struct checkpoint *kept,
                                 struct error *err)
{
    const struct render_command *cmd = u->cmd;
    const struct render_summary *sum = u->sum;
    *kept = (struct checkpoint){.path = checkpoint_path(sum->arena, cmd),
                                .interval_s = cmd->interval_s,
                                .update_s = cmd->update_s,
                                .width = sum->width,
                                .height = sum->height,
                                .spp = sum->job->sample_count,
                                .exponent = exponent,
                                .ctx = u,
                                .said = under_way_said,
                                .picture = under_way_picture};
    if (kept->path && !(kept->identity = checkpoint_identity(cmd, sum, err)))
        return err->code;
    return checkpoint_open(kept, cmd->resume, err);
}

/* ---- the reference ---- */

static enum status render_on_reference(struct render_command *cmd, const struct scene *scene,
                                       const struct render_job *job, struct render_summary *sum,
                                       struct error *err)
{
    struct reference *r;
    enum status s = reference_open(scene, &r, err);
    if (s != STATUS_OK)
        return s;
    struct under_way u = {.cmd = cmd, .sum = sum, .reference = r};
    struct checkpoint kept = {0};
    if ((s = keeping_begin(&u, 0, &kept, err)) != STATUS_OK) {
        checkpoint_close(&kept);
        reference_close(r);
        return s;
    }
    const bool keeps = kept.path || kept.update_s > 0;
    sum->samples_kept = (double)kept.samples / ((double)sum->width * sum->height);
    const struct reference_job rj = {
        .width = job->width,
        .height = job->height,
        .crop = {job->crop[0], job->crop[1], job->crop[2], job->crop[3]},
        .sample_begin = job->sample_begin,
        .sample_count = job->sample_count,
        .max_depth = job->max_depth,
        .rr_depth = job->rr_depth,
        .seed = job->seed,
        .passes = passes_needed(cmd),
        .error_target = cmd->error_target,
        .threads = job->set.launch.threads,
        .progress = progress_callback,
        .progress_ctx = progress_text,
        .keep_due = keeps ? checkpoint_due : NULL,
        .keep = keeps ? checkpoint_state : NULL,
        .keep_ctx = &kept,
        .resumed = kept.resumed ? &kept.state : NULL};
    struct reference_picture picture = {0};
    struct passes passes = {0};
    double start = clock_s();
    s = reference_render(r, &rj, &picture, err);
    sum->render_s = clock_s() - start;
    sum->load.bvh_build_s = reference_build_s(r);
    progress_end();
    for (size_t i = 0; s == STATUS_OK && picture.counts && i < (size_t)sum->width * sum->height;
         i++)
        sum->samples_mean += picture.counts[i] / ((double)sum->width * sum->height);
    if (s == STATUS_OK)
        s = reference_passes(r, &picture, rj.passes, &passes, err);
    if (s == STATUS_OK)
        s = picture_finish(cmd, &passes, sum, &kept, err);
    if (s != STATUS_OK)
        checkpoint_say(&kept);
    passes_free(&passes);
    struct text said = {0};
    reference_messages(r, &said);
    said_print(kept.texts, &said);
    checkpoint_close(&kept);
    reference_picture_free(&picture);
    reference_close(r);
    return s;
}

/* ---- devices ---- */

/* The film's picture, and the passes that the device makes in a program of their own. */
static enum status device_picture(const struct render_command *cmd, struct device *d,
                                  const struct render_job *job, const struct film *film,
                                  struct passes *out, struct render_summary *sum, struct error *err)
{
    const unsigned beauty = 1u << PASS_BEAUTY, more = passes_needed(cmd) & ~beauty;
    struct passes made = {.width = film->width, .height = film->height}, own;
    enum status s = STATUS_OK;
    const double start = clock_s();
    if (more)
        s = device_passes(d, job, more, &made, err);
    progress_end();
    if (more)
        sum->passes_s = clock_s() - start;
    if (s == STATUS_OK &&
        (s = passes_init(&own, film->width, film->height, beauty, err)) != STATUS_OK)
        passes_free(&made);
    if (s != STATUS_OK)
        return s;
    made.values[PASS_BEAUTY] = own.values[PASS_BEAUTY];
    film_rgb(film, made.values[PASS_BEAUTY]);
    *out = made;
    return STATUS_OK;
}

/* The film, from where the checkpoint has it. */
static enum status device_film(struct device *d, struct render_job *job, struct checkpoint *kept,
                               struct film *film, struct render_summary *sum, struct error *err)
{
    const size_t pixels = (size_t)film->width * film->height;
    if (kept->resumed) {
        memcpy(film->sums, kept->sums, 4 * pixels * sizeof *film->sums);
        job->resumed = true;
        sum->samples_kept = (double)kept->samples / (double)pixels;
    }
    const double start = processor_s();
    enum status s = device_render(d, job, film, false, &sum->times, err);
    sum->processor_s = processor_s() - start;
    progress_end();
    if (s != STATUS_OK)
        return s;
    sum->render_s = sum->times.render_s;
    if ((s = film_check(film, job->sample_count, &sum->flagged, err)) != STATUS_OK)
        return s;
    for (size_t i = 0; job->set.build.count_rays && i < 4 * pixels; i++)
        if (i % 4 < 3)
            sum->rays[i % 4] += film->sums[i];
    film_hash(film, sum->film_hash);
    return STATUS_OK;
}

/* *device_step is left true when what failed is the device, not the input or the output. */
static enum status render_on_device(struct render_command *cmd, const char *id,
                                    const struct scene *scene, struct render_job *job,
                                    struct render_summary *sum, bool *device_step,
                                    struct error *err)
{
    struct device *d = NULL;
    struct film film = {0};
    struct passes passes = {0};
    struct checkpoint kept = {0};
    const struct render_keeper keeper = {&kept, checkpoint_due, checkpoint_film, checkpoint_passes};
    struct text said = {0};
    *device_step = true;
    job->progress = progress_callback;
    job->progress_ctx = progress_text;
    enum status s = film_init(&film, sum->width, sum->height, film_exponent(scene), err);
    if (s != STATUS_OK)
        goto done;
    if ((s = device_open(id, &d, err)) != STATUS_OK)
        goto done;
    sum->info = device_describe(d);
    device_bake(d, job->set.load.bake);
    device_model(d, job->set.build.model);
    if ((s = device_load(d, scene, job->set.load.bvh, &sum->load, err)) != STATUS_OK)
        goto done;
    struct under_way u = {.cmd = cmd, .sum = sum, .device = d};
    *device_step = false;
    if ((s = keeping_begin(&u, film.exponent, &kept, err)) != STATUS_OK)
        goto done;
    *device_step = true;
    if ((s = device_build(d, &job->set.build, &sum->build, err)) != STATUS_OK)
        goto done;
    if (kept.path || kept.update_s > 0)
        job->keeper = &keeper;
    s = device_film(d, job, &kept, &film, sum, err);
    device_messages(d, &said);
    said_print(kept.texts, &said);
    if (s != STATUS_OK)
        goto done;
    kept.film = &film;
    if (kept.passes.bits == (passes_needed(cmd) & ~(1u << PASS_BEAUTY)))
        job->passes_resumed = kept.passes.bits ? &kept.passes : NULL;
    s = device_picture(cmd, d, job, &film, &passes, sum, err);
    if (s != STATUS_OK)
        goto done;
    *device_step = false;
    s = picture_finish(cmd, &passes, sum, &kept, err);
    if (s == STATUS_OK && sum->statistics) {
        *device_step = true;
        job->keeper = NULL;
        s = device_statistics(d, job, &sum->made, err);
        progress_end();
    }
done:
    if (s != STATUS_OK)
        checkpoint_say(&kept);
    checkpoint_close(&kept);
    passes_free(&passes);
    film_free(&film);
    device_close(d);
    return s;
}

static int run(void *settings, const struct arguments *args)
{
    struct render_command *cmd = settings;
    struct arena a = {0};
    struct error err = {0};
    struct scene *scene = NULL;
    const char *path = NULL;
    bool device_step = false;
    int status = EXIT_PASS;
    enum status s = STATUS_OK;
    if (cmd->common.devices.count > 1)
        s = error_msg(
            &err, STATUS_ARG,
            "render takes one --device; compare devices with `isophote conform` or `bench`");
    if (s == STATUS_OK)
        s = check_command(cmd, &device_step, &err);
    if (s == STATUS_OK)
        s = scene_resolve(&a, args->words[0], &path, &err);
    const int inputs = inputs_open();
    if (s == STATUS_OK)
        s = scene_load(path, &scene, &err);
    if (s == STATUS_OK)
        warn_of_images(&scene->shader_images);
    if (s == STATUS_OK)
        s = scene_set_sampling(scene, cmd->light_choice, cmd->mis, &err);
    if (s == STATUS_OK) {
        const char *device = device_of(cmd);
        struct render_job job;
        render_job_fill(&cmd->common, scene, &job);
        uint32_t crop[4];
        scene_crop(scene, job.width, job.height, crop);
        if (scene->crop[2])
            memcpy(job.crop, crop, sizeof crop);
        struct render_summary sum = {.scene = scene->name,
                                     .width = crop[2],
                                     .height = crop[3],
                                     .device = device,
                                     .out = cmd->out,
                                     .preview = cmd->preview,
                                     .job = &job,
                                     .mode = math_mode_name(job.set.build.mode),
                                     .dropped = scene->dropped_degenerate,
                                     .scene_times = &scene->times,
                                     .picture_of = scene,
                                     .arena = &a,
                                     .scene_path = path,
                                     .inputs = inputs};
        if (strcmp(device, "reference") == 0) {
            sum.mode = "reference";
            s = render_on_reference(cmd, scene, &job, &sum, &err);
        } else {
            sum.on_device = true;
            sum.statistics = cmd->statistics;
            s = render_on_device(cmd, device, scene, &job, &sum, &device_step, &err);
        }
        if (s == STATUS_OK && !(cmd->common.json ? summary_json(&sum) : summary_text(&sum)))
            status = EXIT_BAD_INPUT;
        render_statistics_free(&sum.made);
    }
    if (s != STATUS_OK)
        status = report_error(&err, device_step);
    inputs_close(inputs);
    scene_free(scene);
    arena_free(&a);
    return status;
}

#define AT(member) offsetof(struct render_command, member)
static const struct option options[] = {
    {"-o", OPTION_STRING, AT(out), "FILE",
     .help = "where the picture goes: .exr, .pfm (linear) or .png (sRGB)", .writes = FILE_PICTURE},
    {"--passes", OPTION_STRING, AT(pass_list), "LIST",
     .help = "layers of the EXR: all, or some of beauty, direct, indirect, variance, albedo, "
             "normal, tangent, bitangent, depth, position, uv, ao, material, shader, samples and "
             "denoised, joined by commas"},
    {"--preview", OPTION_STRING, AT(preview), "FILE", .help = "a PNG beside -o's file",
     .writes = FILE_PICTURE},
    {"--exposure", OPTION_ABOVE_ZERO, AT(exposure), "F", .help = "factor on radiance in a PNG",
     .preset = "1"},
    {"--tone", OPTION_TONE, AT(tone), "CURVE", .help = "of a PNG; linear clips",
     .preset = "linear"},
    {"--error-target", OPTION_ABOVE_ZERO, AT(error_target), "E",
     .help = "reference only: pixels stop early at this relative error, 0.02 say (biased: "
             "docs/reference/protocol.md, section 29)"},
    {"--light-choice", OPTION_WORD, AT(light_choice), "WORD", .help = "how a light is chosen",
     .otherwise = "the scene's", .words = "power tree"},
    {"--mis", OPTION_WORD, AT(mis), "WORD", .help = "heuristic of multiple importance sampling",
     .otherwise = "the scene's", .words = "power balance"},
    {"--checkpoint", OPTION_STRING, AT(checkpoint), "FILE",
     .help = "where what is rendered is kept until the picture is finished; none: nowhere",
     .otherwise = "-o's name with .checkpoint", .writes = FILE_CHECKPOINT, .none = "none",
     .beside = "-o", .ending = ".checkpoint"},
    {"--checkpoint-interval", OPTION_FROM_ZERO, AT(interval_s), "S",
     .help = "seconds between two checkpoints, more where writing one takes a tenth of that",
     .preset = "5"},
    {"--resume", OPTION_FLAG, AT(resume), .help = "go on from the checkpoint, to the same picture"},
    {"--update", OPTION_ABOVE_ZERO, AT(update_s), "S",
     .help = "write the picture so far every S seconds to -o and --preview"},
    {"--count-rays", OPTION_FLAG, AT(common.set.build.count_rays),
     .help = "no picture: how many rays and nodes of the tree the samples take"},
    {"--statistics", OPTION_FLAG, AT(statistics),
     .help = "say what the scene's shaders came to, and render twice more, to count rays, hits and "
             "texture queries and to time tracing and shading"},
};
const struct command command_render = {
    .name = "render",
    .group = "pictures and verdicts",
    .line = "render one scene on one device",
    .usage = "isophote render SCENE [options]",
    .summary = "Renders a scene (a file, or a name of the library such as cornell) on one device, "
               "`native` if none is named.\n"
               "Without --passes the reference writes albedo, normal, depth and variance into an "
               "EXR too. The pass denoised needs Open Image Denoise; it is what a PNG then shows.",
    .examples = "isophote render cornell --spp 64 -o cornell.png\n"
                "isophote render scene.json --device opencl:0 --mode fast --work-group 8x8 -o "
                "out.exr\n"
                "isophote render bokeh-night --passes all,denoised -o night.exr --preview "
                "night.png --tone agx",
    .argument = "SCENE",
    .reads = true,
    COMMAND_OPTIONS(options),
    .common = true,
    .settings_size = sizeof(struct render_command),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
