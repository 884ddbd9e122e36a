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

int cmd_sweep(int argc, char **argv)
{
    static const char *const scenes[] = {"cornell", NULL};
    const char *store = NULL, *strategy = "full";
    struct option_list axes = {0}, constraints = {0};
    struct sweep_options sweep = {.bench = {.judge = true}, .random_seed = 1};
    struct render_options common;
    render_options_init(&common);
    const struct option options[] = {
        {"--axis", OPTION_LIST, &axes, "NAME[=V,V]",
         "work-group, tile, batch, mode, bvh, code-path, registers or cache, with values or the "
         "default ones (default: work-group)",
         NULL},
        {"--constraint", OPTION_LIST, &constraints, "RULE",
         "items<=N, items>=N, x>=y, y>=x, square, divides-tile or divides-picture", NULL},
        {"--strategy", OPTION_STRING, &strategy, "NAME",
         "full, halving, or random:N settings (default full)", NULL},
        {"--random-seed", OPTION_UINT64, &sweep.random_seed, "N", "of random:N (default 1)", NULL},
        {"--resume", OPTION_FLAG, &sweep.resume, NULL,
         "goes on with the newest sweep in the store: what it has is not timed again", NULL},
        TIMING_OPTIONS(&store, &sweep.bench, "3", "7", "3", "setting"),
    };
    const struct command_line line = {
        .usage = "isophote sweep [SCENE]... [--device ID]... [--axis NAME[=V,V...]]... [options]",
        .summary =
            "Times every combination of launch settings (default: work-group shapes from 1x1 up to "
            "the picture's size,\n"
            "on all devices found, scene cornell, mode fast, 256x256 pixels, 16 samples). A "
            "setting that a device\n"
            "refuses is a row with the reason; a crash or a hang costs its row alone. At the end "
            "it names the settings\n"
            "tied with the best within noise, and what one setting for all scenes would lose.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = common.table,
        .common_count = common.count,
        .max_args = SIZE_MAX,
        .examples = "  isophote sweep cornell blob --device opencl:0 --axis "
                    "work-group=1x1,2x2,4x4,8x8,16x16 --store out/results.sqlite\n"
                    "  isophote sweep --axis work-group --axis bvh=bvh2,bvh8 --strategy halving\n",
    };
    size_t args;
    int status = options_parse(argc, argv, &line, &args);
    if (status >= 0) {
        free(common.devices.items);
        free(axes.items);
        free(constraints.items);
        return status;
    }
    if (!common.mode_given)
        common.launch.mode = MODE_FAST;
    if (common.width == 0 && common.height == 0)
        common.width = common.height = 256;
    common.spp = common.spp ? common.spp : 16;

    struct arena a = {0};
    struct error err = {0};
    struct sweep_axis *list = ARENA_ARRAY(&a, struct sweep_axis, axes.count);
    enum status st = list ? strategy_parse(strategy, &sweep, &err)
                          : error_msg(&err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < axes.count && !st; i++)
        st = axis_parse(&a, axes.items[i], &list[i], &err);
    sweep.axes = list;
    sweep.axis_count = axes.count;
    sweep.constraints = constraints.items;
    sweep.constraint_count = constraints.count;
    if (!st && sweep.resume && !store)
        st = error_msg(&err, STATUS_ARG, "--resume needs --store FILE");
    if (!st)
        st = sweep_check(&sweep, &err);
    bool device_step = false;
    struct work work = {.options = &sweep, .arena = &a};
    if (!st)
        st = bench_subjects(&a, argv + 1, args, scenes, &common, &work.subjects, &work.count,
                            &device_step, &err);
    status = st ? report_error(&err, device_step)
                : bench_output_run("sweep", store, sweep.resume, common.json, &sweep.bench,
                                   run_sweep, &work);
    arena_free(&a);
    free(common.devices.items);
    free(axes.items);
    free(constraints.items);
    return status;
}
