/* SPDX-License-Identifier: Apache-2.0 */
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

struct bench_command {
    struct timing_options timing;
    bool unjudged;
};

static int run(void *settings, const struct arguments *args)
{
    static const char *const scenes[] = {"cornell", "blob", "blobgloss", NULL};
    struct bench_command *c = settings;
    struct render_options *common = &c->timing.common;
    struct bench_options *bench = &c->timing.bench;
    if (!common->mode_given)
        common->set.build.mode = MODE_FAST;
    bench->judge = !c->unjudged;

    struct arena a = {0};
    struct error err = {0};
    struct work work = {.options = bench};
    bool device_step = false;
    enum status st = bench_subjects(&a, args->words, args->count, scenes, common, &work.subjects,
                                    &work.count, &device_step, &err);
    int status = st ? report_error(&err, device_step)
                    : bench_output_run("bench", c->timing.store, false, common->json, bench,
                                       run_bench, &work);
    arena_free(&a);
    return status;
}

#define AT(member) offsetof(struct bench_command, member)
static const struct option options[] = {
    TIMING_OPTIONS("5", "15", "20", "row"),
    {"--warmup", OPTION_UINT, AT(timing.bench.warmup), "N",
     .help = "repetitions that do not count, before", .otherwise = "1"},
    {"--statistics", OPTION_FLAG, AT(timing.bench.statistics),
     .help = "render each row twice more: rays, hits by shader and texture queries, and seconds of "
             "tracing and shading, in its detail"},
    {"--unjudged", OPTION_FLAG, AT(unjudged),
     .help = "do not judge pictures: rows then carry no rate, only times in their detail"},
};
const struct command command_bench = {
    .name = "bench",
    .group = "seconds",
    .line = "time devices on scenes, with judged pictures",
    .usage = "isophote bench [SCENE]... [--device ID]... [options]",
    .summary = "Times devices on scenes (default: cornell, blob, blobgloss on all devices found, "
               "mode fast, the scene's size and samples). Outputs are poisoned before each "
               "repetition, the picture is judged, and a row whose picture is wrong or was not "
               "judged carries no rate. Repetitions of all rows are interleaved.\n"
               "Exit status 1 when a picture is wrong or could not be judged, 77 when no device "
               "could run.",
    .examples = "isophote bench cornell --device native --mode fast --spp 64 --width 512 --height "
                "512 --json\n"
                "isophote bench --store out/results.sqlite",
    .argument = "SCENE",
    .reads = true,
    COMMAND_OPTIONS(options),
    .common = true,
    .settings_size = sizeof(struct bench_command),
    .max_args = SIZE_MAX,
    .run = run,
};
