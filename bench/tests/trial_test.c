/* SPDX-License-Identifier: Apache-2.0 */
/* Trials with workers that misbehave on purpose. The process, the socket and the schedule are the
 * real ones. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trial.h"

/* ---- a made-up device ----------------------------------------------------------------------- */

struct fake {
    enum status setup_fails;
    bool setup_aborts, no_joules;
    double slow; /* times as long */
    uint32_t crash_x, hang_x, refuse_x, wrong_x, short_x, lose_x,
        flaky_x; /* work-group x that does it; 0: none */
    const char *device;
    double noise;
    const uint32_t *reasons; /* of repetition after repetition, the warm-up first; then none */
    size_t reason_count;
    double throttled_slow; /* times as long where clocks are held down */
    uint32_t calls;        /* in the worker */
    uint32_t last_x;
    bool lost; /* likewise: nothing works after lose_x */
};

static enum status fake_setup(void *ctx, struct worker_ready *out, struct error *err)
{
    struct fake *f = ctx;
    if (f->setup_aborts) {
        fprintf(stderr, "driver: cannot map the aperture\n");
        abort();
    }
    if (f->setup_fails)
        return error_msg(err, f->setup_fails, "the device lacks a property");
    out->has_job = out->has_device = true;
    snprintf(out->scene_name, sizeof out->scene_name, "made-up");
    snprintf(out->device.id, sizeof out->device.id, "%s", f->device ? f->device : "fake");
    out->device.max_work_group = 64;
    out->job = (struct render_job){
        .width = 100, .height = 100, .sample_count = 10, .max_depth = 6, .rr_depth = 3, .seed = 7};
    out->triangles = 10;
    snprintf(out->sensor.name, sizeof out->sensor.name, "made-up sensors");
    out->load.device_bytes = 1000;
    out->load.bvh = BVH_WIDE8;
    if (f->no_joules)
        snprintf(out->absence.why[METER_DEVICE_MEMORY],
                 sizeof out->absence.why[METER_DEVICE_MEMORY], "no counter");
    return STATUS_OK;
}

/* Time falls with the width of the work-group; a little noise that depends on the call alone. */
static enum status fake_render(void *ctx, const struct settings *set, struct worker_render *out,
                               struct error *err)
{
    struct fake *f = ctx;
    uint32_t x = set->launch.work_group[0];
    f->calls++;
    f->last_x = x;
    f->lost = f->lost || (x && x == f->lose_x);
    if (f->lost)
        return error_msg(err, STATUS_DEVICE, "the device is lost after %u", f->lose_x);
    if (x && x == f->refuse_x)
        return error_msg(err, STATUS_UNSUPPORTED, "a work-group of %ux1: fake takes 64", x);
    if (x && x == f->short_x)
        return error_msg(err, STATUS_MISMATCH, "pixel (3,4) holds 9 samples, expected 10");
    if (x && x == f->crash_x) {
        printf("fatal: lost the ring\n");
        fflush(stdout);
        signal(SIGSEGV, SIG_DFL); /* cmocka has a handler of its own */
        raise(SIGSEGV);
    }
    if (x && x == f->hang_x)
        for (;;)
            pause();
    uint32_t counter[4] = {f->calls, x, 0, 0}, key[2] = {1, 2}, word[4];
    philox4x32(counter, key, word);
    double s = 0.1 / (x ? x : 1) * (1 + f->noise * (u01(word[0]) - 0.5));
    s *= f->slow > 0 ? f->slow : 1;
    const uint32_t reasons = f->calls <= f->reason_count ? f->reasons[f->calls - 1] : 0;
    s *= reasons && f->throttled_slow > 0 ? f->throttled_slow : 1;
    out->times = (struct render_times){.render_s = s,
                                       .device_s = 0.9 * s,
                                       .first_launch_s = f->calls == 1 ? 0.25 : 0,
                                       .launch_setup_s = 0.001,
                                       .readback_s = 0.002,
                                       .launches = 1,
                                       .work_group = {x ? x : 8, 1},
                                       .bvh = BVH_WIDE8};
    out->wall_s = s + 0.003;
    out->meters = (struct meter_reading){.joules = {40 * out->wall_s, f->no_joules ? -1 : 7},
                                         .device_used_bytes = f->no_joules ? 0 : 1 << 30};
    out->sensors = (struct sensor_reading){.reasons = reasons,
                                           .clock_samples = 2,
                                           .mean_mhz = reasons ? 900 : 1800,
                                           .least_mhz = reasons ? 850 : 1790,
                                           .has_celsius = true,
                                           .hottest_c = reasons ? 95 : 60 + f->calls};
    out->peak_bytes = 1 << 20;
    snprintf(out->hash, sizeof out->hash, "%s", x && x == f->wrong_x ? "bad" : "good");
    if (x && x == f->flaky_x && f->calls / 2 % 2)
        snprintf(out->hash, sizeof out->hash, "other");
    return STATUS_OK;
}

static enum status fake_judge(void *ctx, const struct settings *set, struct judgement *out,
                              struct error *err)
{
    struct fake *f = ctx;
    (void)set;
    (void)err;
    bool wrong = f->last_x && f->last_x == f->wrong_x;
    *out = (struct judgement){
        .verdict = wrong ? VERDICT_FAIL : VERDICT_PASS, .relmse = wrong ? 0.5 : 1e-4, .mse = NAN};
    snprintf(out->reason, sizeof out->reason, wrong ? "relmse 0.5 above 0.01" : "relmse 1e-4");
    return STATUS_OK;
}

static const struct bench_subject subject = {
    .scene_path = "some folder/made-up.json", .device = "fake", .job.set.build.mode = MODE_FAST};

static struct worker_work fake_work(struct fake *f)
{
    return (struct worker_work){
        .setup = fake_setup, .render = fake_render, .judge = fake_judge, .ctx = f};
}

/* ---- running trials --------------------------------------------------------------------- */

enum { ROWS_MAX = 16 };
struct bed {
    struct arena a;
    struct lane lane;
    struct trial trials[ROWS_MAX];
    struct trial *order[ROWS_MAX];
    struct bench_options options;
    struct row_sink sink;
    struct bench_record rows[ROWS_MAX];
    size_t row_count;
};

static void bed_keep(void *ctx, const struct bench_record *row)
{
    struct bed *b = ctx;
    b->rows[b->row_count++] = *row;
}

static enum status bed_run(struct bed *b, struct fake *f, enum math_mode mode, const uint32_t *xs,
                           size_t n, bool judge, struct error *err)
{
    memset(b, 0, sizeof *b);
    b->lane = (struct lane){.subject = &subject, .work = fake_work(f)};
    b->options = (struct bench_options){.judge = judge, .run_timeout_s = 1, .compile_timeout_s = 5};
    b->sink = (struct row_sink){.a = &b->a, .o = &b->options, .keep = bed_keep, .keep_ctx = b};
    bench_limits_fill(&b->options, &b->sink.limits);
    for (size_t i = 0; i < n; i++) {
        b->trials[i] = (struct trial){
            .lane = &b->lane,
            .set = {.build.mode = mode, .launch.work_group = {xs[i], xs[i] ? 1 : 0}}};
        b->order[i] = &b->trials[i];
    }
    enum status st = trials_run(b->order, n, 0, &b->sink, err);
    lane_stop(&b->lane);
    return st;
}

static const struct bench_record *row_of(const struct bed *b, uint32_t x)
{
    for (size_t i = 0; i < b->row_count; i++)
        if (b->rows[i].work_group[0] == x)
            return &b->rows[i];
    return NULL;
}

static const struct json *parse(struct arena *a, const char *text)
{
    const struct json *v;
    assert_non_null(text);
    assert_int_equal(json_parse(a, "row", text, strlen(text), &v, NULL), STATUS_OK);
    return v;
}

static void a_steady_device_is_timed(void **state)
{
    (void)state;
    static struct bed b;
    struct fake f = {.noise = 0.004};
    const uint32_t xs[] = {4};
    assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 1, true, NULL), STATUS_OK);
    assert_int_equal(b.row_count, 1);
    const struct bench_record *r = &b.rows[0];
    assert_int_equal(r->verdict, VERDICT_PASS);
    assert_string_equal(r->scene, "made-up");
    assert_string_equal(r->bvh, "bvh8");
    /* 100 x 100 x 10 samples in 0.1/4 s, within the noise of half 0.4% to each side */
    assert_true(fabs(r->samples_per_s / 4e6 - 1) < 0.0025);
    assert_true(r->interval[0] <= r->samples_per_s && r->samples_per_s <= r->interval[1]);
    assert_int_equal(r->repetitions, 6);           /* the least that holds 95% */
    assert_true(r->noise > 0 && r->noise < 0.004); /* relative */
    /* the warm-up is not of the budget */
    assert_true(fabs(b.trials[0].spent_s - 6 * 0.028) < 0.001);
    assert_string_equal(r->command,
                        "isophote bench 'some folder/made-up.json' --device fake --mode fast --bvh "
                        "auto --work-group 4x1 --width 100 --height 100 --spp 10 --max-depth 6 "
                        "--rr-depth 3 --seed 7");
    const struct json *phases = parse(&b.a, r->phases), *detail = parse(&b.a, r->detail);
    for (int p = 0; p < PHASE_COUNT; p++)
        assert_non_null(json_get(phases, phase_names[p].key));
    double render = json_get(json_get(phases, "render"), "median_s")->number,
           device = json_get(json_get(phases, "render"), "device_s")->number;
    assert_true(fabs(device / render - 0.9) < 0.003);
    assert_true(fabs(json_get(json_get(phases, "readback"), "median_s")->number - 0.002) < 1e-12);
    /* in the warm-up, which counts in no other phase */
    assert_true(json_get(json_get(phases, "first_launch"), "median_s")->number == 0.25);
    assert_int_equal(json_get(detail, "seconds")->count, 6);
    assert_string_equal(json_get(json_get(detail, "judgement"), "reason")->string, "relmse 1e-4");
    assert_null(json_get(json_get(detail, "judgement"), "mse")); /* not computed, not shown */
    assert_string_equal(json_get(detail, "stopped_by")->string, "precision");
    arena_free(&b.a);
}

/* Joules of whole repetitions; nothing where they are shorter than the counter can follow. */
static void energy_and_memory_are_measured_or_absent(void **state)
{
    (void)state;
    static struct bed b;
    struct fake f = {.noise = 0.004};
    const uint32_t xs[] = {4};
    assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 1, true, NULL), STATUS_OK);
    const struct json *detail = parse(&b.a, b.rows[0].detail);
    const struct json *host = json_get(json_get(detail, "energy"), "host"),
                      *device = json_get(json_get(detail, "energy"), "device"),
                      *memory = json_get(detail, "memory");
    assert_true(fabs(json_get(host, "median_j")->number - 40 * 0.028) < 0.005);
    assert_true(fabs(json_get(host, "watts")->number - 40) < 1e-9);
    assert_int_equal(json_get(host, "interval")->count, 2);
    assert_non_null(strstr(json_get(device, "absent")->string, "too short"));
    assert_int_equal((int)json_get(memory, "device_bytes")->number, 1000);
    assert_int_equal((int)json_get(memory, "device_peak_bytes")->number, 1000 + 100 * 100 * 32);
    assert_int_equal((int)json_get(memory, "device_in_use_bytes")->number, 1 << 30);
    arena_free(&b.a);
    f.slow = 12; /* 0.3 s: three updates */
    assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 1, true, NULL), STATUS_OK);
    device = json_get(json_get(parse(&b.a, b.rows[0].detail), "energy"), "device");
    assert_non_null(strstr(json_get(device, "absent")->string, "too short"));
    arena_free(&b.a);
    f.slow = 60;
    assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 1, true, NULL), STATUS_OK);
    device = json_get(json_get(parse(&b.a, b.rows[0].detail), "energy"), "device");
    assert_true(json_get(device, "median_j")->number == 7);
    arena_free(&b.a);
    f.no_joules = true;
    assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 1, true, NULL), STATUS_OK);
    detail = parse(&b.a, b.rows[0].detail);
    device = json_get(json_get(detail, "energy"), "device");
    assert_non_null(strstr(json_get(device, "absent")->string, "went away"));
    assert_string_equal(
        json_get(json_get(json_get(detail, "memory"), "device_in_use_bytes"), "absent")->string,
        "no counter");
    arena_free(&b.a);
}

static void noise_costs_repetitions(void **state)
{
    (void)state;
    static struct bed b;
    struct fake f = {.noise = 0.6};
    const uint32_t xs[] = {4};
    assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 1, true, NULL), STATUS_OK);
    assert_int_equal(b.rows[0].repetitions, 15);
    assert_true(b.rows[0].noise > 0.1);
    arena_free(&b.a);
}

/* One bad setting costs its own row, whatever it does. */
static void trouble_costs_one_row(void **state)
{
    (void)state;
    static struct bed b;
    struct fake f = {
        .crash_x = 2, .hang_x = 3, .refuse_x = 5, .wrong_x = 6, .short_x = 7, .lose_x = 9};
    const uint32_t xs[] = {9, 1, 2, 3, 4, 5, 6, 7, 8};
    assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 9, true, NULL), STATUS_OK);
    assert_int_equal(b.row_count, 9);
    static const struct {
        uint32_t x;
        enum verdict verdict;
        const char *says;
    } expected[] = {
        {1, VERDICT_PASS, "relmse"},        {2, VERDICT_ERROR, "killed by signal 11"},
        {3, VERDICT_ERROR, "said nothing"}, {4, VERDICT_PASS, "relmse"},
        {5, VERDICT_SKIP, "fake takes 64"}, {6, VERDICT_FAIL, "relmse 0.5 above"},
        {7, VERDICT_FAIL, "pixel (3,4)"},   {8, VERDICT_PASS, "relmse"},
        {9, VERDICT_ERROR, "is lost"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct bench_record *r = row_of(&b, expected[i].x);
        assert_non_null(r);
        assert_int_equal(r->verdict, expected[i].verdict);
        if (!strstr(r->reason, expected[i].says))
            fail_msg("row %u: %s", expected[i].x, r->reason);
        assert_string_equal(r->bvh, "bvh8"); /* of what was refused, too: it stands in one map */
        if (r->verdict != VERDICT_PASS) {    /* no verdict, no timing */
            assert_true(r->samples_per_s == 0 && r->interval[0] == 0 && r->interval[1] == 0 &&
                        r->repetitions == 0);
            assert_null(r->phases);
        } else {
            assert_true(r->repetitions >= 5);
        }
    }
    assert_non_null(strstr(row_of(&b, 2)->reason, "fatal: lost the ring"));
    arena_free(&b.a);
}

static void failures_have_verdicts(void **state)
{
    (void)state;
    static const enum status refusals[] = {STATUS_UNSUPPORTED, STATUS_MISSING, STATUS_LIMIT};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(verdict_of_failure(refusals[i]), VERDICT_SKIP);
    assert_int_equal(verdict_of_failure(STATUS_MISMATCH), VERDICT_FAIL);
    assert_int_equal(verdict_of_failure(STATUS_DEVICE), VERDICT_ERROR);
    assert_int_equal(verdict_of_failure(STATUS_TIMEOUT), VERDICT_ERROR);
}

/* The budget ends a row at three repetitions or more, unless one takes it all. */
static void budget_wants_three(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double spent_s;
        bool done;
    } rows[] = {{1, 1.5, false}, {2, 2.9, false}, {1, 3, true}, {3, 0.9, false}, {3, 1, true}};
    const struct bench_limits limits = {
        .min_repetitions = 5, .max_repetitions = 15, .budget_s = 1, .precision = 1e-9};
    struct repetition made[3] = {{.render_s = 1}, {.render_s = 2}, {.render_s = 4}};
    struct lane lane = {.ready.job = {.width = 1, .height = 1, .sample_count = 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trial t = {
            .lane = &lane, .repetitions = made, .n = rows[i].n, .spent_s = rows[i].spent_s};
        trial_decide(&t, &limits);
        assert_int_equal(t.state == TRIAL_DONE, rows[i].done);
        if (rows[i].done)
            assert_string_equal(t.stopped, "budget");
    }
}

/* ---- clocks that are held down ---------------------------------------------------------------- */

enum {
    HOT = 1 << THROTTLE_HEAT,
    BRAKED = 1 << THROTTLE_BRAKE,
    CAPPED = 1 << THROTTLE_POWER,
    CURRENT = 1 << THROTTLE_CURRENT
};

static const struct throttle_row {
    const char *reasons; /* a letter for each repetition, the warm-up's first */
    enum verdict verdict;
    uint32_t repetitions; /* that count */
    int made, left_out;   /* -1: nothing is said of throttling */
    const char *counted, *notes, *reason;
} throttle_rows[] = {
    {"......", VERDICT_PASS, 6, -1, -1, NULL, NULL, NULL},
    {"h......", VERDICT_PASS, 6, -1, -1, NULL, NULL, NULL}, /* a warm-up does not count anyway */
    {".h.hb...", VERDICT_PASS, 6, 9, 3, "free",
     "3 of 9 repetitions were throttled (too hot, power brake) and are left out", NULL},
    {".hhhhhhhhh...", VERDICT_PASS, 6, 15, 9, "free", "9 of 15 repetitions were throttled", NULL},
    {".hhhhhhhhhhhhhhhhhhhhhhhhhhhhhh", VERDICT_ERROR, 0, 30, 30, "free", NULL,
     "30 of 30 repetitions were throttled (too hot), and none is left: no rate"},
    {".hhhhhhhhhhhhhhhhhhhhhhhhhhhh..", VERDICT_ERROR, 2, 30, 28, "free", NULL,
     "28 of 30 repetitions were throttled (too hot), and too few are left"},
    {".pppppppppp", VERDICT_PASS, 6, 6, 0, "at a cap", "were at a cap (power cap)", NULL},
    {".pcpcpcp", VERDICT_PASS, 6, 6, 0, "at a cap", "were at a cap (power cap, current limit)",
     NULL},
    {".p..p....", VERDICT_PASS, 6, 8, 2, "free",
     "2 of 8 repetitions were throttled (power cap) and are left out", NULL},
    {"..ppppppppp", VERDICT_PASS, 6, 7, 1, "at a cap", "; others are left out", NULL},
    /* heat at a cap is heat */
    {".ppHpppp", VERDICT_PASS, 6, 7, 1, "at a cap", "others are left out", NULL},
};

static uint32_t reasons_of(char letter)
{
    return letter == 'h'   ? HOT
           : letter == 'b' ? BRAKED
           : letter == 'p' ? CAPPED
           : letter == 'c' ? CURRENT
           : letter == 'H' ? HOT | CAPPED
                           : 0;
}

/* A throttled repetition takes three times as long here: were it counted, the rate would show it. */
static void throttled_repetitions_are_left_out(void **state)
{
    (void)state;
    static struct bed b;
    for (size_t i = 0; i < sizeof throttle_rows / sizeof *throttle_rows; i++) {
        const struct throttle_row *row = &throttle_rows[i];
        uint32_t reasons[64] = {0};
        const bool capped = row->counted && strcmp(row->counted, "at a cap") == 0;
        struct fake f = {.noise = 0.004,
                         .reasons = reasons,
                         .reason_count = strlen(row->reasons),
                         .throttled_slow = 3};
        for (size_t k = 0; k < f.reason_count; k++)
            reasons[k] = reasons_of(row->reasons[k]);
        const uint32_t xs[] = {4};
        assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 1, true, NULL), STATUS_OK);
        const struct bench_record *r = &b.rows[0];
        const struct json *detail = parse(&b.a, r->detail),
                          *throttled = json_get(detail, "throttled");
        if (r->verdict != row->verdict || r->repetitions != row->repetitions)
            fail_msg("%s: %s %u: %s", row->reasons, verdict_name(r->verdict), r->repetitions,
                     r->reason);
        assert_int_equal(throttled == NULL, row->made < 0);
        if (throttled) {
            assert_int_equal((int)json_get(throttled, "made")->number, row->made);
            assert_int_equal((int)json_get(throttled, "left_out")->number, row->left_out);
            assert_string_equal(json_get(throttled, "counted")->string, row->counted);
        }
        if (row->notes ? !r->notes || !strstr(r->notes, row->notes) : r->notes != NULL)
            fail_msg("%s: notes %s", row->reasons, r->notes ? r->notes : "-");
        if (row->reason && !strstr(r->reason, row->reason))
            fail_msg("%s: %s", row->reasons, r->reason);
        if (row->verdict == VERDICT_PASS) {
            assert_true(fabs(r->samples_per_s / (capped ? 4e6 / 3 : 4e6) - 1) < 0.0025);
            assert_true(r->interval[1] / r->interval[0] < 1.005);
            assert_int_equal(json_get(detail, "seconds")->count, row->repetitions);
            const struct json *clocks = json_get(detail, "clocks");
            assert_string_equal(json_get(clocks, "source")->string, "made-up sensors");
            assert_true(json_get(clocks, "median_mhz")->number == (capped ? 900 : 1800));
            assert_true(json_get(clocks, "least_mhz")->number == (capped ? 850 : 1790));
            assert_true((json_get(clocks, "hottest_c")->number == 95) == capped);
        } else {
            assert_true(r->samples_per_s == 0 && r->interval[1] == 0);
            assert_null(r->phases);
            assert_null(json_get(detail, "seconds"));
        }
        arena_free(&b.a);
    }
}

/* ---- what is asked for holds, or is said ------------------------------------------------------- */

static void limits_that_contradict(void **state)
{
    (void)state;
    static const struct {
        uint32_t least, most;
        double budget_s;
        uint32_t is_least, is_most;
        bool holds;
    } rows[] = {{0, 0, 0, 5, 15, false},      {0, 3, 0, 3, 3, false},    {50, 0, 0, 50, 50, true},
                {50, 0, 1, 50, 50, false},    {7, 9, 0, 7, 9, true},     {0, 0, 1, 5, 15, false},
                {900, 0, 1, 500, 500, false}, {0, 900, 1, 5, 500, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench_limits l;
        const struct bench_options o = {.min_repetitions = rows[i].least,
                                        .max_repetitions = rows[i].most,
                                        .budget_s = rows[i].budget_s};
        bench_limits_fill(&o, &l);
        assert_int_equal(l.min_repetitions, rows[i].is_least);
        assert_int_equal(l.max_repetitions, rows[i].is_most);
        assert_int_equal(l.least_holds, rows[i].holds);
    }
    /* a budget that nobody asked for does not end a row below the repetitions asked for */
    struct repetition made[8] = {{.render_s = 1}, {.render_s = 2}, {.render_s = 4},
                                 {.render_s = 3}, {.render_s = 1}, {.render_s = 2},
                                 {.render_s = 4}, {.render_s = 3}};
    struct lane lane = {.ready.job = {.width = 1, .height = 1, .sample_count = 1}};
    struct bench_limits l = {.min_repetitions = 8,
                             .max_repetitions = 15,
                             .budget_s = 1,
                             .precision = 1e-9,
                             .least_holds = true};
    struct trial t = {.lane = &lane, .repetitions = made, .n = 7, .spent_s = 100};
    trial_decide(&t, &l);
    assert_int_equal(t.state, TRIAL_RUNNING);
    t.n = 8;
    trial_decide(&t, &l);
    assert_string_equal(t.stopped, "budget");
}

/* Beyond the bound noise is said in words, and so is a budget that came first. */
static void words_beside_a_rate(void **state)
{
    (void)state;
    static struct bed b;
    const uint32_t xs[] = {4};
    static const struct {
        double noise, slow;
        const char *says, *not ;
    } rows[] = {
        {0.6, 0, "noisy: the middle half of the repetitions differs by ", "budget"},
        {0.05, 0, NULL, NULL},
        {0.05, 400, "the budget of 20 s ended it after 3 of 5 repetitions: about 5", "noisy"}};
    for (size_t i = 0; i < 3; i++) {
        struct fake f = {.noise = rows[i].noise, .slow = rows[i].slow};
        assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 1, true, NULL), STATUS_OK);
        const char *notes = b.rows[0].notes;
        assert_int_equal(b.rows[0].verdict, VERDICT_PASS);
        assert_int_equal(b.rows[0].noise > BENCH_NOISE_BOUND, i == 0);
        if (rows[i].says ? !notes || !strstr(notes, rows[i].says) || strstr(notes, rows[i].not )
                         : notes != NULL)
            fail_msg("row %zu: %s", i, notes ? notes : "-");
        arena_free(&b.a);
    }
}

static void strict_wants_the_same_bits(void **state)
{
    (void)state;
    static struct bed b;
    struct fake f = {.flaky_x = 4};
    const uint32_t xs[] = {4, 8};
    assert_int_equal(bed_run(&b, &f, MODE_STRICT, xs, 2, true, NULL), STATUS_OK);
    assert_int_equal(row_of(&b, 4)->verdict, VERDICT_FAIL);
    assert_non_null(strstr(row_of(&b, 4)->reason, "different bits"));
    assert_int_equal(row_of(&b, 8)->verdict, VERDICT_PASS);
    arena_free(&b.a);
    /* elsewhere each picture is judged, and the row says that they vary */
    assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 2, true, NULL), STATUS_OK);
    assert_int_equal(row_of(&b, 4)->verdict, VERDICT_PASS);
    assert_non_null(strstr(row_of(&b, 4)->reason, "differed in bits"));
    arena_free(&b.a);
}

static void unjudged_rows_are_not_ranked(void **state)
{
    (void)state;
    static struct bed b;
    struct fake f = {0};
    const uint32_t xs[] = {4};
    assert_int_equal(bed_run(&b, &f, MODE_FAST, xs, 1, false, NULL), STATUS_OK);
    assert_int_equal(b.rows[0].verdict, VERDICT_ERROR);
    assert_true(b.rows[0].samples_per_s == 0);
    assert_true(json_get(parse(&b.a, b.rows[0].detail), "seconds")->count >= 5);
    arena_free(&b.a);
}

static void set_up_can_fail(void **state)
{
    (void)state;
    static struct bed b;
    struct error err = {0};
    struct fake refuses = {.setup_fails = STATUS_UNSUPPORTED}, dies = {.setup_aborts = true},
                bad = {.setup_fails = STATUS_PARSE};
    const uint32_t xs[] = {4, 8};
    assert_int_equal(bed_run(&b, &refuses, MODE_STRICT, xs, 2, true, NULL), STATUS_OK);
    assert_int_equal(b.row_count, 2);
    assert_int_equal(b.rows[0].verdict, VERDICT_SKIP);
    assert_string_equal(b.rows[1].reason, "the device lacks a property");
    assert_string_equal(b.rows[1].scene, "made-up"); /* from the path: the scene was never read */
    arena_free(&b.a);
    assert_int_equal(bed_run(&b, &dies, MODE_STRICT, xs, 1, true, NULL), STATUS_OK);
    assert_int_equal(b.rows[0].verdict, VERDICT_ERROR);
    assert_non_null(strstr(b.rows[0].reason, "signal 6"));
    assert_non_null(strstr(b.rows[0].reason, "cannot map the aperture"));
    arena_free(&b.a);
    /* what the user wrote is wrong: the whole stops */
    assert_int_equal(bed_run(&b, &bad, MODE_STRICT, xs, 1, true, &err), STATUS_PARSE);
    assert_int_equal(b.row_count, 0);
    arena_free(&b.a);
}

/* A stop keeps what has enough repetitions, in the store too. */
static void bed_stop(void *ctx, const char *what, double share)
{
    int *calls = ctx;
    (void)what;
    (void)share;
    if (++*calls == 14) /* two settings, six rounds each of warm-up and five, then once more */
        cancel_requested = 1;
}

static void a_stop_keeps_rows(void **state)
{
    (void)state;
    static struct bed b;
    struct fake f = {.noise = 0.5};
    int calls = 0;
    struct error err = {0};
    const uint32_t xs[] = {4, 8};
    char path[] = "/tmp/isophote-trial-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct store *store;
    struct run_record run = {.kind = "bench"};
    assert_int_equal(store_open(path, false, &store, &err), STATUS_OK);
    assert_int_equal(store_add_run(store, &run, &err), STATUS_OK);
    memset(&b, 0, sizeof b);
    b.lane = (struct lane){.subject = &subject, .work = fake_work(&f)};
    b.options = (struct bench_options){
        .judge = true, .progress = bed_stop, .ctx = &calls, .store = store, .run = run.id};
    b.sink = (struct row_sink){.a = &b.a, .o = &b.options};
    bench_limits_fill(&b.options, &b.sink.limits);
    for (size_t i = 0; i < 2; i++) {
        b.trials[i] = (struct trial){
            .lane = &b.lane, .set = {.build.mode = MODE_FAST, .launch.work_group = {xs[i], 1}}};
        b.order[i] = &b.trials[i];
    }
    assert_int_equal(trials_run(b.order, 2, 0, &b.sink, &err), STATUS_CANCELLED);
    cancel_requested = 0;
    lane_stop(&b.lane);
    struct bench_record *rows;
    struct device_record *devices;
    size_t n, device_count;
    assert_int_equal(store_bench_rows(store, &b.a, run.id, &rows, &n, &err), STATUS_OK);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].verdict, VERDICT_PASS);
    assert_true(rows[0].repetitions >= 5);
    assert_int_equal(store_devices(store, &b.a, run.id, &devices, &device_count, &err), STATUS_OK);
    assert_int_equal(device_count, 1);
    store_close(store);
    unlink(path);
    arena_free(&b.a);
}

static enum status add_one(void *ctx, void *result, size_t size, struct error *err)
{
    int value = *(int *)ctx + 1;
    if (value == 1)
        return error_msg(err, STATUS_DEVICE, "no");
    memcpy(result, &value, size);
    return STATUS_OK;
}

static void calls_in_a_process(void **state)
{
    (void)state;
    int in = 41, out = 0;
    struct error err = {0};
    assert_int_equal(process_call(add_one, &in, &out, sizeof out, 5, &err), STATUS_OK);
    assert_int_equal(out, 42);
    in = 0;
    assert_int_equal(process_call(add_one, &in, &out, sizeof out, 5, &err), STATUS_DEVICE);
    assert_string_equal(err.msg, "no");
    assert_int_equal(out, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_device_is_timed),
        cmocka_unit_test(energy_and_memory_are_measured_or_absent),
        cmocka_unit_test(noise_costs_repetitions),
        cmocka_unit_test(trouble_costs_one_row),
        cmocka_unit_test(failures_have_verdicts),
        cmocka_unit_test(budget_wants_three),
        cmocka_unit_test(throttled_repetitions_are_left_out),
        cmocka_unit_test(limits_that_contradict),
        cmocka_unit_test(words_beside_a_rate),
        cmocka_unit_test(strict_wants_the_same_bits),
        cmocka_unit_test(unjudged_rows_are_not_ranked),
        cmocka_unit_test(set_up_can_fail),
        cmocka_unit_test(a_stop_keeps_rows),
        cmocka_unit_test(calls_in_a_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
