/* isophote render: one scene on one device (or the reference) into one image file. */
#include "cli.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char progress_text[] = "rendering";

struct render_command {
    struct render_options common;
    const char *out;
    double exposure, timeout_s;
};

/* What a render leaves behind for its summary. */
struct render_summary {
    const char *scene, *device, *mode, *out;
    const struct render_job *job;
    uint32_t width, height; /* of the picture: the job's, or its crop's */
    double mean[3], render_s;
    bool on_device;
    char film_hash[33];
    uint64_t flagged;
    size_t dropped; /* triangles of the scene */
    struct load_times load;
    struct build_info build;
    struct render_times times;
    const struct scene_times *scene_times;
};

static bool has_suffix(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && strcmp(s + n - m, suffix) == 0;
}

static enum status check_out(const char *out, struct error *err)
{
    if (has_suffix(out, ".exr") || has_suffix(out, ".png") || has_suffix(out, ".pfm"))
        return STATUS_OK;
    return error_msg(err, STATUS_ARG, "-o %s: expected a name that ends in .exr, .png or .pfm",
                     out);
}

static float *to_float(const double *v, size_t n)
{
    float *f = malloc((n ? n : 1) * sizeof *f);
    for (size_t i = 0; f && i < n; i++)
        f[i] = (float)v[i];
    return f;
}

static void mean_of(const float *rgb, size_t pixels, double mean[3])
{
    mean[0] = mean[1] = mean[2] = 0;
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++)
            // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): film_rgb filled it
            mean[c] += rgb[3 * i + (size_t)c] / (double)pixels;
}

static enum status write_picture(const struct render_command *cmd, const struct render_summary *sum,
                                 const float *rgb, const struct reference_picture *extra,
                                 struct error *err)
{
    uint32_t w = sum->width, h = sum->height;
    if (!has_suffix(cmd->out, ".exr"))
        return image_write(cmd->out, w, h, rgb, cmd->exposure, err);
    size_t n = (size_t)w * h;
    struct image_channel channels[13] = {{"R", rgb, 3}, {"G", rgb + 1, 3}, {"B", rgb + 2, 3}};
    size_t count = 3;
    float *albedo = NULL, *normal = NULL, *depth = NULL, *variance = NULL;
    if (extra) {
        albedo = to_float(extra->albedo, 3 * n);
        normal = to_float(extra->normal, 3 * n);
        depth = to_float(extra->depth, n);
        variance = to_float(extra->variance, 3 * n);
        if (!albedo || !normal || !depth || !variance) {
            free(albedo), free(normal), free(depth), free(variance);
            return error_msg(err, STATUS_MEMORY, "out of memory for the passes of a %ux%u picture",
                             w, h);
        }
        const struct image_channel more[] = {
            {"albedo.R", albedo, 3},         {"albedo.G", albedo + 1, 3},
            {"albedo.B", albedo + 2, 3},     {"normal.X", normal, 3},
            {"normal.Y", normal + 1, 3},     {"normal.Z", normal + 2, 3},
            {"depth.Z", depth, 1},           {"variance.R", variance, 3},
            {"variance.G", variance + 1, 3}, {"variance.B", variance + 2, 3}};
        memcpy(channels + count, more, sizeof more);
        count += sizeof more / sizeof *more;
    }
    char spp[16], seed[24];
    snprintf(spp, sizeof spp, "%u", sum->job->sample_count);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)sum->job->seed);
    const char *const attributes[] = {"isophote.scene",
                                      sum->scene,
                                      "isophote.device",
                                      sum->device,
                                      "isophote.mode",
                                      sum->mode,
                                      "isophote.spp",
                                      spp,
                                      "isophote.seed",
                                      seed,
                                      "isophote.command",
                                      command_line_text(),
                                      NULL};
    enum status s = image_write_exr(cmd->out, w, h, channels, count, attributes, err);
    free(albedo), free(normal), free(depth), free(variance);
    return s;
}

static bool summary_json(const struct render_summary *r)
{
    struct json_writer w = {.pretty = true};
    double samples = (double)r->width * r->height * r->job->sample_count;
    json_begin_object(&w);
    json_key_string(&w, "scene", r->scene);
    json_key_string(&w, "device", r->device);
    json_key_string(&w, "mode", r->mode);
    json_key_integer(&w, "width", r->width);
    json_key_integer(&w, "height", r->height);
    json_key_integer(&w, "spp", r->job->sample_count);
    json_key_integer(&w, "max_depth", r->job->max_depth);
    json_key_integer(&w, "seed", (int64_t)r->job->seed);
    json_key_string(&w, "out", r->out);
    json_key_integer(&w, "dropped_degenerate", (int64_t)r->dropped);
    json_key(&w, "mean_radiance");
    json_begin_array(&w);
    for (int c = 0; c < 3; c++)
        json_number(&w, r->mean[c]);
    json_end_array(&w);
    if (r->on_device) {
        json_key_string(&w, "film_hash", r->film_hash);
        json_key_integer(&w, "flagged_samples", (int64_t)r->flagged);
        json_key_pair(&w, "work_group", r->times.work_group[0], r->times.work_group[1]);
        json_key_pair(&w, "tile", r->times.tile[0], r->times.tile[1]);
        json_key_integer(&w, "batch", r->times.batch);
        json_key_integer(&w, "launches", r->times.launches);
        json_key_string(&w, "bvh", bvh_kind_name(r->times.bvh));
        json_key_integer(&w, "bvh_bytes", (int64_t)r->load.bvh_bytes);
        json_key_number(&w, "sah_cost", r->load.sah_cost);
    }
    json_key_number(&w, "samples_per_s", r->render_s > 0 ? samples / r->render_s : 0);
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
    if (r->on_device) {
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
           r->render_s > 0 ? samples / r->render_s / 1e6 : 0);
    printf("mean radiance %.5g %.5g %.5g", r->mean[0], r->mean[1], r->mean[2]);
    if (r->on_device)
        printf("; film %s", r->film_hash);
    printf("\n");
    if (r->dropped)
        printf("%zu triangles without an area or with a vertex that is not finite were left out\n",
               r->dropped);
    if (r->flagged)
        printf("%llu samples were clamped or not finite\n", (unsigned long long)r->flagged);
    if (r->out)
        printf("wrote %s\n", r->out);
    return fflush(stdout) == 0;
}

static enum status render_on_reference(struct render_command *cmd, const struct scene *scene,
                                       const struct render_job *job, struct render_summary *sum,
                                       struct error *err)
{
    struct reference *r;
    enum status s = reference_open(scene, &r, err);
    if (s != STATUS_OK)
        return s;
    const struct reference_job rj = {
        .width = job->width,
        .height = job->height,
        .crop = {job->crop[0], job->crop[1], job->crop[2], job->crop[3]},
        .sample_begin = job->sample_begin,
        .sample_count = job->sample_count,
        .max_depth = job->max_depth,
        .rr_depth = job->rr_depth,
        .seed = job->seed,
        .threads = job->launch.threads,
        .progress = progress_callback,
        .progress_ctx = progress_text};
    struct reference_picture picture = {0};
    double start = clock_s();
    s = reference_render(r, &rj, &picture, err);
    sum->render_s = clock_s() - start;
    sum->load.bvh_build_s = reference_build_s(r);
    progress_end();
    if (s == STATUS_OK) {
        size_t n = (size_t)sum->width * sum->height;
        float *rgb = to_float(picture.beauty, 3 * n);
        if (!rgb) {
            s = error_msg(err, STATUS_MEMORY, "out of memory for a %ux%u picture", sum->width,
                          sum->height);
        } else {
            mean_of(rgb, n, sum->mean);
            if (cmd->out)
                s = write_picture(cmd, sum, rgb, &picture, err);
            free(rgb);
        }
    }
    struct text said = {0};
    reference_messages(r, &said);
    if (said.data)
        (void)fprintf(stderr, "shaders report:\n%s", said.data);
    text_free(&said);
    reference_picture_free(&picture);
    reference_close(r);
    return s;
}

/* *device_step is left true when what failed is the device, not the input or the output. */
static enum status render_on_device(struct render_command *cmd, const char *id,
                                    const struct scene *scene, struct render_job *job,
                                    struct render_summary *sum, bool *device_step,
                                    struct error *err)
{
    struct device *d = NULL;
    struct film film = {0};
    float *rgb = NULL;
    *device_step = true;
    job->timeout_s = cmd->timeout_s;
    job->progress = progress_callback;
    job->progress_ctx = progress_text;
    enum status s = film_init(&film, sum->width, sum->height, film_exponent(scene), err);
    if (s != STATUS_OK)
        goto done;
    if ((s = device_open(id, &d, err)) != STATUS_OK)
        goto done;
    if ((s = device_load(d, scene, job->launch.bvh, &sum->load, err)) != STATUS_OK)
        goto done;
    if ((s = device_build(d, &job->launch, &sum->build, err)) != STATUS_OK)
        goto done;
    s = device_render(d, job, &film, false, &sum->times, err);
    progress_end();
    if (s != STATUS_OK)
        goto done;
    sum->render_s = sum->times.render_s;
    if ((s = film_check(&film, job->sample_count, &sum->flagged, err)) != STATUS_OK)
        goto done;
    film_hash(&film, sum->film_hash);
    *device_step = false;
    size_t n = (size_t)sum->width * sum->height;
    rgb = malloc(3 * n * sizeof *rgb);
    if (!rgb) {
        s = error_msg(err, STATUS_MEMORY, "out of memory for a %ux%u picture", sum->width,
                      sum->height);
        goto done;
    }
    film_rgb(&film, rgb);
    mean_of(rgb, n, sum->mean);
    if (cmd->out)
        s = write_picture(cmd, sum, rgb, NULL, err);
done:
    free(rgb);
    film_free(&film);
    device_close(d);
    return s;
}

int cmd_render(int argc, char **argv)
{
    struct render_command cmd = {.exposure = 1};
    render_options_init(&cmd.common);
    const struct option options[] = {
        {"-o", OPTION_STRING, &cmd.out, "FILE",
         "where the picture goes: .exr, .pfm (linear) or .png (sRGB)", NULL},
        {"--exposure", OPTION_DOUBLE, &cmd.exposure, "F", "factor on radiance in a PNG (default 1)",
         NULL},
        {"--timeout", OPTION_DOUBLE, &cmd.timeout_s, "S",
         "give up after so many seconds of rendering", NULL},
    };
    const struct command_line line = {
        .usage = "isophote render SCENE [options]",
        .summary = "Renders a scene (a file, or a name of the library such as cornell) on one "
                   "device, `native` if none is named.\n"
                   "The reference also writes albedo, normal, depth and variance into an EXR.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = cmd.common.table,
        .common_count = cmd.common.count,
        .min_args = 1,
        .max_args = 1,
        .examples = "  isophote render cornell --spp 64 -o cornell.png\n"
                    "  isophote render scene.json --device opencl:0 --mode fast --work-group 8x8 "
                    "-o out.exr\n",
    };
    size_t args;
    int status = options_parse(argc, argv, &line, &args);
    if (status >= 0)
        return status;

    struct arena a = {0};
    struct error err = {0};
    struct scene *scene = NULL;
    const char *path = NULL;
    bool device_step = false;
    enum status s = STATUS_OK;
    if (cmd.common.devices.count > 1)
        s = error_msg(
            &err, STATUS_ARG,
            "render takes one --device; compare devices with `isophote conform` or `bench`");
    if (s == STATUS_OK && cmd.out)
        s = check_out(cmd.out, &err);
    if (s == STATUS_OK)
        s = scene_resolve(&a, argv[1], &path, &err);
    if (s == STATUS_OK)
        s = scene_load(path, &scene, &err);
    if (s == STATUS_OK) {
        const char *device = cmd.common.devices.count ? cmd.common.devices.items[0] : "native";
        struct render_job job;
        render_job_fill(&cmd.common, scene, &job);
        uint32_t crop[4];
        scene_crop(scene, job.width, job.height, crop);
        if (scene->crop[2])
            memcpy(job.crop, crop, sizeof crop);
        struct render_summary sum = {.scene = scene->name,
                                     .width = crop[2],
                                     .height = crop[3],
                                     .device = device,
                                     .out = cmd.out,
                                     .job = &job,
                                     .mode = math_mode_name(job.launch.mode),
                                     .dropped = scene->dropped_degenerate,
                                     .scene_times = &scene->times};
        if (strcmp(device, "reference") == 0) {
            sum.mode = "reference";
            s = render_on_reference(&cmd, scene, &job, &sum, &err);
        } else {
            sum.on_device = true;
            s = render_on_device(&cmd, device, scene, &job, &sum, &device_step, &err);
        }
        if (s == STATUS_OK && !(cmd.common.json ? summary_json(&sum) : summary_text(&sum)))
            status = EXIT_BAD_INPUT;
    }
    if (s != STATUS_OK)
        status = report_error(&err, device_step);
    scene_free(scene);
    arena_free(&a);
    free(cmd.common.devices.items);
    return status < 0 ? EXIT_PASS : status;
}
