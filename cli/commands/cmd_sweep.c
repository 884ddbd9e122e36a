/* SPDX-License-Identifier: Apache-2.0 */
/* isophote sweep: which launch settings are best, scene by scene and device by device. */
#include <stdlib.h>
#include <string.h>

#include "bench_output.h"

struct sweep_command {
    struct timing_options timing;
    struct sweep_options sweep;
    const char *strategy;
    struct option_list axes, constraints;
};

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

/* ---- the axis number-format ---------------------------------------------------------------- */

static const char number_format[] = "number-format";

static bool is_number_format(const char *axis)
{
    const size_t n = sizeof number_format - 1;
    return strncmp(axis, number_format, n) == 0 && (axis[n] == '=' || axis[n] == 0);
}

/* What was asked for that its tracer does not have; NULL: nothing. */
static const char *beyond_formats(const struct sweep_command *c)
{
    const struct render_options *r = &c->timing.common;
    const struct bench_options *b = &c->timing.bench;
    const struct settings *set = &r->set;
    const struct launch_settings plain = {0};
    if (c->axes.count > 1)
        return "no other axis";
    if (c->constraints.count || strcmp(c->strategy, "full") != 0)
        return "no constraint and no strategy";
    if (c->sweep.resume)
        return "no --resume: it times each row anew";
    if (r->devices.count)
        return "no --device: it runs on this processor";
    if (r->mode_given)
        return "no --mode: the format is what rounds";
    if (set->load.bvh != BVH_AUTO && set->load.bvh != BVH_LINEAR)
        return "no tree: --bvh none";
    if (set->build.model != MODEL_AUTO || set->build.code != CODE_AUTO || set->build.registers ||
        set->build.cache != CACHE_AUTO || set->load.bake ||
        memcmp(&set->launch, &plain, sizeof plain) != 0)
        return "no kernel's settings";
    if (r->rr_given)
        return "no --rr-depth: its paths do not end by chance";
    if (b->min_repetitions || b->max_repetitions || b->budget_s > 0 || b->precision > 0 ||
        b->run_timeout_s > 0)
        return "one picture a row, so no repetitions and budgets";
    return NULL;
}

static int sweep_formats(const struct sweep_command *c, const struct arguments *args)
{
    static const char *const usual[] = {"cornell", NULL};
    const struct render_options *r = &c->timing.common;
    const char *equals = strchr(c->axes.items[0], '='), *what = beyond_formats(c), **scenes;
    struct number_format_options o = {.formats = equals ? equals + 1 : NULL,
                                      .width = r->width ? r->width : 64,
                                      .height = r->height ? r->height : 64,
                                      .spp = r->spp ? r->spp : 16,
                                      .max_depth = r->max_depth,
                                      .seed = r->seed,
                                      .seed_given = r->seed_given};
    struct arena a = {0};
    struct error err = {0};
    size_t count = 0;
    enum status st =
        what ? error_msg(&err, STATUS_ARG, "axis number-format: its tracer has %s", what)
             : number_formats_check(o.formats, &err);
    if (!st)
        st = bench_scenes(&a, args->words, args->count, usual, &scenes, &count, &err);
    int status = st ? report_error(&err, st == STATUS_MISSING || st == STATUS_UNSUPPORTED)
                    : formats_output_run(scenes, count, c->timing.store, r->json, &o);
    arena_free(&a);
    return status;
}

/* ---- all others ----------------------------------------------------------------------------- */

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

static int run(void *settings, const struct arguments *args)
{
    static const char *const scenes[] = {"cornell", NULL};
    struct sweep_command *c = settings;
    struct render_options *common = &c->timing.common;
    struct sweep_options *sweep = &c->sweep;
    for (size_t i = 0; i < c->axes.count; i++)
        if (is_number_format(c->axes.items[i]))
            return sweep_formats(c, args);
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
     .help =
         "work-group, tile, batch, mode, bvh, model, code-path, registers or cache, with values "
         "or the default ones; may be repeated. Or number-format, alone",
     .otherwise = "work-group",
     .words = "work-group tile batch mode bvh model code-path registers cache number-format"},
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
    .summary =
        "Times every combination of launch settings (default: work-group shapes from 1x1 up "
        "to the picture's size, on all devices found, scene cornell, mode fast, 256x256 "
        "pixels, 16 samples). A setting that a device refuses is a row with the reason; a "
        "crash or a hang costs its row alone.\n"
        "The axis number-format has a tracer of its own, on this processor: float32, float16, "
        "bfloat16, fixedM.N (M bits before the point, with the sign, and N after it), posit16 "
        "and more, each against double (scene cornell, 64x64 pixels, 16 samples).\n"
        "At the end it names the settings tied with the best within noise, and what one "
        "setting for all scenes would lose.",
    .examples = "isophote sweep cornell blob --device opencl:0 --axis work-group=1x1,2x2,4x4,8x8 "
                "--store out/results.sqlite\n"
                "isophote sweep --axis work-group --axis bvh=bvh2,bvh8 --strategy halving\n"
                "isophote sweep cornell --axis number-format=float16,bfloat16,fixed16.16 --store "
                "out/results.sqlite",
    .argument = "SCENE",
    .reads = true,
    COMMAND_OPTIONS(options),
    .common = true,
    .settings_size = sizeof(struct sweep_command),
    .max_args = SIZE_MAX,
    .run = run,
};
