/* isophote bench: how fast, for pictures that were judged right. */
#include <stdlib.h>

#include "bench_output.h"

struct work {
    const struct bench_options *options;
    struct bench_subject *subjects;
    size_t count;
};

static enum status run_bench(void *ctx, const char **best, struct error *err)
{
    const struct work *w = ctx;
    (void)best;
    return bench_run(w->subjects, w->count, w->options, err);
}

int cmd_bench(int argc, char **argv)
{
    static const char *const scenes[] = {"cornell", "blob", "blobgloss", NULL};
    const char *store = NULL;
    struct bench_options bench = {.judge = true};
    bool unjudged = false;
    struct render_options common;
    render_options_init(&common);
    const struct option options[] = {
        TIMING_OPTIONS(&store, &bench, "5", "15", "20", "row"),
        {"--warmup", OPTION_UINT, &bench.warmup, "N",
         "repetitions that do not count, before (default 1)", NULL},
        {"--unjudged", OPTION_FLAG, &unjudged, NULL,
         "do not judge pictures: rows then carry no rate, only times in their detail", NULL},
    };
    const struct command_line line = {
        .usage = "isophote bench [SCENE]... [--device ID]... [options]",
        .summary =
            "Times devices on scenes (default: cornell, blob, blobgloss on all devices found, mode "
            "fast, the scene's\n"
            "size and samples). Outputs are poisoned before each repetition, the picture is "
            "judged, and a row whose\n"
            "picture is wrong or was not judged carries no rate. Repetitions of all rows are "
            "interleaved. Exit\n"
            "status 1 when a picture is wrong or could not be judged, 77 when no device could run.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = common.table,
        .common_count = common.count,
        .max_args = SIZE_MAX,
        .examples = "  isophote bench cornell --device native --mode fast --spp 64 --width 512 "
                    "--height 512 --json\n"
                    "  isophote bench --store out/results.sqlite\n",
    };
    size_t args;
    int status = options_parse(argc, argv, &line, &args);
    if (status >= 0) {
        free(common.devices.items);
        return status;
    }
    if (!common.mode_given)
        common.launch.mode = MODE_FAST;
    bench.judge = !unjudged;

    struct arena a = {0};
    struct error err = {0};
    struct work work = {.options = &bench};
    bool device_step = false;
    enum status st = bench_subjects(&a, argv + 1, args, scenes, &common, &work.subjects,
                                    &work.count, &device_step, &err);
    status = st ? report_error(&err, device_step)
                : bench_output_run("bench", store, false, common.json, &bench, run_bench, &work);
    arena_free(&a);
    free(common.devices.items);
    return status;
}
