/* SPDX-License-Identifier: Apache-2.0 */
/* isophote sweep: which launch settings are best, scene by scene and device by device. */
#include <stdlib.h>
#include <string.h>

#include "bench_output.h"

/* "NAME=V1,V2,..." or "NAME" for the default values. */
static enum status axis_parse(struct arena *a, const char *text, struct sweep_axis *out,
                              struct error *err)
{
    const char *equals = strchr(text, '=');
    out->name = arena_strndup(a, text, equals ? (size_t)(equals - text) : strlen(text));
    if (!out->name)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    if (!equals)
        return STATUS_OK;
    size_t n = 1;
    for (const char *p = equals + 1; *p; p++)
        n += *p == ',';
    const char **values = ARENA_ARRAY(a, const char *, n);
    const char *p = equals + 1;
    for (size_t i = 0; i < n && values; i++) {
        size_t length = strcspn(p, ",");
        values[i] = arena_strndup(a, p, length);
        if (!values[i])
            return error_msg(err, STATUS_MEMORY, "out of memory");
        p += length + 1;
    }
    out->values = values;
    out->count = n;
    return values ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory");
}

static enum status strategy_parse(const char *text, struct sweep_options *o, struct error *err)
{
    if (strcmp(text, "full") == 0) {
        o->strategy = SWEEP_FULL;
        return STATUS_OK;
    }
    if (strcmp(text, "halving") == 0) {
        o->strategy = SWEEP_HALVING;
        return STATUS_OK;
    }
    char *end;
    unsigned long n = strncmp(text, "random:", 7) == 0 && text[7] >= '1' && text[7] <= '9'
                          ? strtoul(text + 7, &end, 10)
                          : 0;
    if (n == 0 || *end || n > 100000)
        return error_msg(err, STATUS_ARG, "--strategy '%s': expected full, halving or random:N",
                         text);
    o->strategy = SWEEP_RANDOM;
    o->random_count = (uint32_t)n;
    return STATUS_OK;
}

struct work {
    const struct sweep_options *options;
    struct bench_subject *subjects;
    size_t count;
    struct arena *arena; /* of the text of the best settings */
};

static enum status run_sweep(void *ctx, const char **best, struct error *err)
{
    const struct work *w = ctx;
    return sweep_run(w->subjects, w->count, w->options, w->arena, best, err);
}

struct sweep_command {
    struct timing_options timing;
    struct sweep_options sweep;
    const char *strategy;
    struct option_list axes, constraints;
};

static int run(void *settings, const struct arguments *args)
{
    static const char *const scenes[] = {"cornell", NULL};
    struct sweep_command *c = settings;
    struct render_options *common = &c->timing.common;
    struct sweep_options *sweep = &c->sweep;
    sweep->bench = c->timing.bench;
    sweep->bench.judge = true;
    if (!common->mode_given)
        common->set.build.mode = MODE_FAST;
    if (common->width == 0 && common->height == 0)
        common->width = common->height = 256;
    common->spp = common->spp ? common->spp : 16;

    struct arena a = {0};
    struct error err = {0};
    struct sweep_axis *list = ARENA_ARRAY(&a, struct sweep_axis, c->axes.count);
    enum status st = list ? strategy_parse(c->strategy, sweep, &err)
                          : error_msg(&err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < c->axes.count && !st; i++)
        st = axis_parse(&a, c->axes.items[i], &list[i], &err);
    sweep->axes = list;
    sweep->axis_count = c->axes.count;
    sweep->constraints = c->constraints.items;
    sweep->constraint_count = c->constraints.count;
    if (!st && sweep->resume && !c->timing.store)
        st = error_msg(&err, STATUS_ARG, "--resume needs --store FILE");
    if (!st)
        st = sweep_check(sweep, &err);
    bool device_step = false;
    struct work work = {.options = sweep, .arena = &a};
    if (!st)
        st = bench_subjects(&a, args->words, args->count, scenes, common, &work.subjects,
                            &work.count, &device_step, &err);
    int status = st ? report_error(&err, device_step)
                    : bench_output_run("sweep", c->timing.store, sweep->resume, common->json,
                                       &sweep->bench, run_sweep, &work);
    arena_free(&a);
    return status;
}

#define AT(member) offsetof(struct sweep_command, member)
static const struct option options[] = {
    {"--axis", OPTION_LIST, AT(axes), "NAME[=V,V]",
     .help = "work-group, tile, batch, mode, bvh, code-path, registers or cache, with values or "
             "the default ones; may be repeated",
     .otherwise = "work-group",
     .words = "work-group tile batch mode bvh code-path registers cache"},
    {"--constraint", OPTION_LIST, AT(constraints), "RULE",
     .help = "items<=N, items>=N, x>=y, y>=x, square, divides-tile or divides-picture; may be "
             "repeated"},
    {"--strategy", OPTION_STRING, AT(strategy), "NAME",
     .help = "full, halving, or random:N settings", .preset = "full",
     .words = "full halving random:"},
    {"--random-seed", OPTION_UINT64, AT(sweep.random_seed), "N", .help = "of random:N",
     .preset = "1"},
    {"--resume", OPTION_FLAG, AT(sweep.resume),
     .help =
         "goes on with the newest sweep in the store: settings that it has a row of are not timed "
         "again, but for ERRORs"},
    TIMING_OPTIONS("3", "7", "3", "setting"),
};
const struct command command_sweep = {
    .name = "sweep",
    .group = "seconds",
    .line = "time over work-group shapes and other launch settings",
    .usage = "isophote sweep [SCENE]... [--device ID]... [--axis NAME[=V,V...]]... [options]",
    .summary = "Times every combination of launch settings (default: work-group shapes from 1x1 up "
               "to the picture's size, on all devices found, scene cornell, mode fast, 256x256 "
               "pixels, 16 samples). A setting that a device refuses is a row with the reason; a "
               "crash or a hang costs its row alone.\n"
               "At the end it names the settings tied with the best within noise, and what one "
               "setting for all scenes would lose.",
    .examples = "isophote sweep cornell blob --device opencl:0 --axis work-group=1x1,2x2,4x4,8x8 "
                "--store out/results.sqlite\n"
                "isophote sweep --axis work-group --axis bvh=bvh2,bvh8 --strategy halving",
    .argument = "SCENE",
    .reads = true,
    COMMAND_OPTIONS(options),
    .common = true,
    .settings_size = sizeof(struct sweep_command),
    .max_args = SIZE_MAX,
    .run = run,
};
