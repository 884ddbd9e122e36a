/* isophote bench: how fast, for pictures that were judged right. */
#include <stdlib.h>

#include "bench_output.h"

int cmd_bench(int argc, char **argv)
{
    static const char *const scenes[] = {"cornell", "blob", "blobgloss", NULL};
    const char *store = NULL;
    struct bench_options bench = {.judge = true};
    bool unjudged = false;
    struct render_options common;
    render_options_init(&common);
    const struct option options[] = {
        {"--store", OPTION_STRING, &store, "FILE",
         "adds the rows to this result store; made if it is not there", NULL},
        {"--repetitions", OPTION_UINT, &bench.min_repetitions, "N",
         "at least so many timed repetitions (default 5)", NULL},
        {"--max-repetitions", OPTION_UINT, &bench.max_repetitions, "N",
         "and at most so many (default 15)", NULL},
        {"--warmup", OPTION_UINT, &bench.warmup, "N",
         "repetitions that do not count, before (default 1)", NULL},
        {"--budget", OPTION_DOUBLE, &bench.budget_s, "S",
         "seconds for the repetitions of one row (default 20)", NULL},
        {"--precision", OPTION_DOUBLE, &bench.precision, "R",
         "stop when half the interval is below this share of the median (default 0.02)", NULL},
        {"--timeout", OPTION_DOUBLE, &bench.run_timeout_s, "S",
         "a repetition that takes longer is an ERROR (default 300)", NULL},
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
    struct bench_output out;
    struct bench_subject *subjects;
    size_t count;
    enum status st = bench_subjects(&a, argv + 1, args, scenes, &common, &subjects, &count, &err);
    if (st) {
        status = report_error(&err, st == STATUS_MISSING);
    } else if (bench_output_open(&out, "bench", store, false, common.json, &err)) {
        status = report_error(&err, false);
    } else {
        bench_output_connect(&out, &bench);
        st = bench_run(subjects, count, &bench, &err);
        status = bench_output_close(&out, NULL, st, &err);
    }
    arena_free(&a);
    free(common.devices.items);
    return status;
}
