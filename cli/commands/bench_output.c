/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_output.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct bench_output {
    struct arena arena;
    bool json;
    struct json_writer writer; /* an open document with an open array of rows */
    size_t count[VERDICT_COUNT];
    struct store *store;
    struct run_record run;
};

/* ---- the run ---------------------------------------------------------------------------- */

static enum status run_resume(struct bench_output *o, const char *kind, bool *found,
                              struct error *err)
{
    struct run_record *runs;
    size_t n;
    enum status st = store_runs(o->store, &o->arena, &runs, &n, err);
    *found = false;
    for (size_t i = n; i-- > 0 && !st && !*found;)
        if (strcmp(runs[i].kind, kind) == 0) {
            o->run = runs[i];
            *found = true;
        }
    /* what it has counts in the exit status as if it had just been timed */
    struct bench_record *rows;
    if (!st && *found)
        st = store_bench_rows(o->store, &o->arena, o->run.id, &rows, &n, err);
    for (size_t i = 0; *found && i < n && !st; i++)
        o->count[rows[i].verdict]++;
    return st;
}

static enum status output_open(struct bench_output *o, const char *kind, const char *store,
                               bool resume, bool json, struct error *err)
{
    enum status st = STATUS_OK;
    bool found = false;
    *o = (struct bench_output){.json = json, .writer = {.pretty = true}};
    if (store) {
        char when[32];
        st = store_open(store, false, &o->store, err);
        if (!st && resume)
            st = run_resume(o, kind, &found, err);
        if (!st && !found) {
            clock_utc(when);
            o->run = (struct run_record){.kind = kind,
                                         .started_utc = when,
                                         .command = command_line_text(),
                                         .environment = environment_json(&o->arena)};
            st = store_add_run(o->store, &o->run, err);
            o->run.started_utc = NULL; /* `when` ends here */
        }
        if (st) {
            store_close(o->store);
            arena_free(&o->arena);
            return st;
        }
    }
    if (json) {
        json_begin_object(&o->writer);
        json_key_string(&o->writer, "command", command_line_text());
        json_key(&o->writer, "rows");
        json_begin_array(&o->writer);
    }
    return STATUS_OK;
}

/* ---- rows ------------------------------------------------------------------------------- */

static void row_print(const struct bench_record *r)
{
    printf("%-5s %s on %s, %s", verdict_name(r->verdict), r->scene, r->device, r->mode);
    if (r->bvh)
        printf(", %s", r->bvh);
    if (r->work_group[0])
        printf(", work-group %ux%u", r->work_group[0], r->work_group[1]);
    if (r->tile[0])
        printf(", tile %ux%u", r->tile[0], r->tile[1]);
    if (r->batch)
        printf(", batch %u", r->batch);
    if (r->verdict == VERDICT_PASS)
        printf(": %.4g Msamples/s [%.4g, %.4g], noise %.1f%%, %u repetitions%s%s\n",
               r->samples_per_s / 1e6, r->interval[0] / 1e6, r->interval[1] / 1e6, 100 * r->noise,
               r->repetitions, r->notes ? "; " : "", r->notes ? r->notes : "");
    else
        printf(": %.300s%s\n", r->reason,
               strlen(r->reason) > 300 ? " ..." : ""); /* all of it is in the store and in JSON */
    fflush(stdout);
}

static void each_row(void *ctx, const struct bench_record *r)
{
    struct bench_output *o = ctx;
    o->count[r->verdict]++;
    progress_end();
    if (o->json)
        bench_record_json(&o->writer, r);
    else
        row_print(r);
}

static void show_progress(void *ctx, const char *what, double share)
{
    (void)ctx;
    progress_show(what, share, -1);
}

static void output_connect(struct bench_output *o, struct bench_options *options)
{
    options->program = "isophote";
    options->program_identity = identity_of_program(NULL);
    options->environment = identity_of_environment(NULL);
    options->store = o->store;
    options->run = o->run.id;
    options->each = each_row;
    options->progress = show_progress;
    options->ctx = o;
}

/* A wrong or unjudged picture is a finding; nothing but refusals means that nothing ran. */
static int exit_status(const struct bench_output *o)
{
    if (o->count[VERDICT_FAIL] || o->count[VERDICT_ERROR])
        return EXIT_FINDING;
    return o->count[VERDICT_PASS] ? EXIT_PASS : EXIT_NOTHING_RAN;
}

static int output_close(struct bench_output *o, const char *best, enum status st,
                        const struct error *err)
{
    progress_end();
    int status = exit_status(o);
    if (o->json) {
        json_end_array(&o->writer);
        if (best)
            json_key_string(&o->writer, "best", best);
        json_end_object(&o->writer);
        if (st && st != STATUS_CANCELLED)
            text_free(&o->writer.out); /* no half document */
        else if (!json_print(&o->writer))
            status = EXIT_BAD_INPUT;
    } else if (best && best[0]) {
        printf("\n%s", best);
    }
    if (st)
        status = report_error(err, false);
    store_close(o->store);
    arena_free(&o->arena);
    return status;
}

static enum status timing_check(const struct bench_options *o, struct error *err)
{
    if (o->max_repetitions && o->min_repetitions > o->max_repetitions)
        return error_msg(err, STATUS_ARG, "--repetitions %u: more than --max-repetitions %u",
                         o->min_repetitions, o->max_repetitions);
    if (o->min_repetitions > BENCH_REPETITIONS_MOST)
        return error_msg(err, STATUS_ARG, "--repetitions %u: a row has at most %d",
                         o->min_repetitions, BENCH_REPETITIONS_MOST);
    if (o->max_repetitions > BENCH_REPETITIONS_MOST)
        return error_msg(err, STATUS_ARG, "--max-repetitions %u: a row has at most %d",
                         o->max_repetitions, BENCH_REPETITIONS_MOST);
    return STATUS_OK;
}

int bench_output_run(const char *kind, const char *store, bool resume, bool json,
                     struct bench_options *options,
                     enum status (*work)(void *ctx, const char **best, struct error *err),
                     void *ctx)
{
    struct bench_output o;
    struct error err = {0};
    const char *best = NULL;
    enum status st = timing_check(options, &err);
    if (st == STATUS_OK)
        st = output_open(&o, kind, store, resume, json, &err);
    if (st)
        return report_error(&err, false);
    output_connect(&o, options);
    st = work(ctx, &best, &err);
    return output_close(&o, best, st, &err);
}

/* ---- kinds of numbers ----------------------------------------------------------------------- */

static void each_format(void *ctx, const struct number_format_record *r)
{
    struct bench_output *o = ctx;
    progress_end();
    if (o->json)
        number_format_record_json(&o->writer, r);
    else if (r->reason)
        printf("%-5s %s in %s: %s\n", verdict_name(VERDICT_SKIP), r->scene, r->format, r->reason);
    else
        printf("%s in %s, %s: relMSE %.2g, RMSE %.2g, %.3g us a sample, %.3g times double's\n",
               r->scene, r->format, r->how, r->relmse, r->rmse, r->us_per_sample, r->times_double);
    fflush(stdout);
}

int formats_output_run(const char *const *scenes, size_t count, const char *store, bool json,
                       struct number_format_options *options)
{
    struct bench_output o;
    struct error err = {0};
    struct number_format_end end;
    enum status st = output_open(&o, "number-format", store, false, json, &err);
    if (st)
        return report_error(&err, false);
    options->program = "isophote";
    options->store = o.store;
    options->run = o.run.id;
    options->each = each_format;
    options->progress = show_progress;
    options->ctx = &o;
    st = number_formats_run(scenes, count, options, &end, &err);
    o.count[VERDICT_ERROR] = end.broken;
    o.count[VERDICT_PASS] = end.measured; /* of the exit status alone: nothing is judged */
    return output_close(&o, NULL, st, &err);
}

/* ---- subjects --------------------------------------------------------------------------- */

enum status bench_scenes(struct arena *a, char **names, size_t name_count,
                         const char *const *defaults, const char ***out, size_t *count,
                         struct error *err)
{
    size_t n = name_count;
    while (name_count == 0 && defaults[n])
        n++;
    const char **paths = ARENA_ARRAY(a, const char *, n);
    if (!paths)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < n; i++) {
        TRY(scene_resolve(a, name_count ? names[i] : defaults[i], &paths[i], err));
        if (access(paths[i], R_OK) != 0) /* else each of its rows would be a SKIP */
            return error_msg(err, STATUS_IO, "cannot open %s: %s", paths[i], strerror(errno));
    }
    *out = paths;
    *count = n;
    return STATUS_OK;
}

enum status bench_subjects(struct arena *a, char **names, size_t name_count,
                           const char *const *defaults, const struct render_options *r,
                           struct bench_subject **out, size_t *count, bool *device_step,
                           struct error *err)
{
    struct device_info *devices;
    size_t device_count, scene_count;
    const char **scenes;
    enum status st = bench_devices(a, r->devices.count ? r->devices.items : NULL, r->devices.count,
                                   &devices, &device_count, err);
    if (st == STATUS_OK && device_count == 0)
        st = error_msg(err, STATUS_MISSING,
                       "no device was found; `isophote doctor` says what is missing");
    *device_step = st != STATUS_OK;
    if (st)
        return st;
    for (size_t i = 0; i < r->devices.count && i < device_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(devices[k].id, devices[i].id) == 0)
                return device_twice(r->devices.items[k], r->devices.items[i], devices[i].id, err);
    TRY(bench_scenes(a, names, name_count, defaults, &scenes, &scene_count, err));
    struct bench_subject *list = ARENA_ARRAY(a, struct bench_subject, scene_count * device_count);
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < scene_count; i++)
        for (size_t k = 0; k < device_count; k++)
            list[i * device_count + k] = (struct bench_subject){
                .scene_path = scenes[i],
                .device = devices[k].id,
                .seed_given = r->seed_given,
                .job = {.width = r->width,
                        .height = r->height,
                        .sample_count = r->spp,
                        .max_depth = r->max_depth,
                        .rr_depth = r->rr_given ? r->rr_depth : 0,
                        .seed = r->seed,
                        .set = r->set},
            };
    *out = list;
    *count = scene_count * device_count;
    return STATUS_OK;
}
