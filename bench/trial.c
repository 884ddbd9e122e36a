/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void bench_limits_fill(const struct bench_options *o, struct bench_limits *out)
{
    struct bench_limits l = {
        .warmup = o->warmup ? o->warmup : 1,
        .min_repetitions = o->min_repetitions ? o->min_repetitions : 5,
        .max_repetitions = o->max_repetitions ? o->max_repetitions : 15,
        .least_holds = o->min_repetitions && !(o->budget_s > 0),
        .budget_s = o->budget_s > 0 ? o->budget_s : 20,
        .precision = o->precision > 0 ? o->precision : 0.02,
        .compile_timeout_s = o->compile_timeout_s > 0 ? o->compile_timeout_s : 600,
        .run_timeout_s = o->run_timeout_s > 0 ? o->run_timeout_s : 300,
        .keeps_films = o->store != NULL,
    };
    if (l.max_repetitions < l.min_repetitions) { /* what was asked for holds */
        if (o->max_repetitions && !o->min_repetitions)
            l.min_repetitions = l.max_repetitions;
        else
            l.max_repetitions = l.min_repetitions;
    }
    if (l.max_repetitions > BENCH_REPETITIONS_MOST)
        l.max_repetitions = BENCH_REPETITIONS_MOST;
    if (l.min_repetitions > l.max_repetitions)
        l.min_repetitions = l.max_repetitions;
    *out = l;
}

enum verdict verdict_of_failure(enum status st)
{
    switch (st) {
    case STATUS_UNSUPPORTED:
    case STATUS_MISSING:
    case STATUS_LIMIT:
        return VERDICT_SKIP; /* this device cannot, and says why */
    case STATUS_MISMATCH:
        return VERDICT_FAIL; /* film_check: pixels without their samples */
    default:
        return VERDICT_ERROR;
    }
}

static bool is_whole(enum status st) { return st == STATUS_CANCELLED || st == STATUS_MEMORY; }

static void say(char *buf, size_t size, const struct error *e)
{
    if (e->file[0])
        error_format(e, buf, size);
    else
        snprintf(buf, size, "%s", e->msg);
}

/* In set-up these come from the scene, which is the user's. */
static bool is_bad_input(enum status st)
{
    return st == STATUS_PARSE || st == STATUS_TYPE || st == STATUS_RANGE || st == STATUS_IO ||
           st == STATUS_ARG;
}

/* ---- lanes ------------------------------------------------------------------------------ */

enum { DEATHS_MAX = 64 };

enum status lane_start(struct lane *l, struct arena *a, const struct bench_limits *limits, bool *up,
                       struct error *err)
{
    struct error e = {0};
    *up = l->worker.pid > 0;
    if (*up || l->failed)
        return STATUS_OK;
    enum status st =
        worker_start(&l->worker, &l->work, limits->compile_timeout_s, a, &l->inputs, &l->ready, &e);
    if (st == STATUS_OK) {
        *up = true;
        return STATUS_OK;
    }
    if (st == STATUS_CANCELLED || is_bad_input(st)) {
        if (err)
            *err = e;
        return st;
    }
    l->failed = true;
    l->verdict = verdict_of_failure(st);
    say(l->reason, sizeof l->reason, &e);
    return STATUS_OK;
}

void lane_stop(struct lane *l) { worker_stop(&l->worker); }

/* ---- one repetition --------------------------------------------------------------------- */

static void trial_end(struct trial *t, enum verdict v, const char *reason)
{
    t->state = TRIAL_DONE;
    t->verdict = v;
    t->n = 0; /* no verdict, no timing */
    snprintf(t->reason, sizeof t->reason, "%s", reason);
}

/* A failure of the worker's, or of the worker itself. */
static enum status trial_failed(struct trial *t, enum status st, bool died, const struct error *e,
                                struct error *err)
{
    char reason[sizeof t->reason];
    if (is_whole(st) && !(died && st == STATUS_MEMORY)) {
        if (err)
            *err = *e;
        return st;
    }
    say(reason, sizeof reason, e);
    trial_end(t, verdict_of_failure(st), reason);
    if (st == STATUS_DEVICE &&
        !died) { /* which may be lost to that process: the next has its own */
        lane_stop(t->lane);
        died = true;
    }
    if (died && ++t->lane->deaths > DEATHS_MAX) {
        t->lane->failed = true;
        t->lane->verdict = VERDICT_ERROR;
        snprintf(t->lane->reason, sizeof t->lane->reason, "the worker died %u times; last: %.900s",
                 t->lane->deaths, reason);
    }
    return STATUS_OK;
}

static const struct judged *judged_find(const struct lane *l, const char *hash)
{
    for (const struct judged *j = l->judged; j; j = j->next)
        if (strcmp(j->hash, hash) == 0)
            return j;
    return NULL;
}

const struct judged *trial_judged(const struct trial *t)
{
    return t->hash[0] ? judged_find(t->lane, t->hash) : NULL;
}

/* The sums of the tiles of the picture that the worker holds. */
static enum status film_take(struct trial *t, struct arena *a, const struct bench_limits *limits,
                             struct judged *j, bool *died, struct error *err)
{
    const char *job;
    const struct sum *sums;
    size_t count;
    if (!limits->keeps_films || t->set.build.mode != MODE_STRICT ||
        j->judgement.verdict != VERDICT_PASS)
        return STATUS_OK;
    TRY(worker_tiles(&t->lane->worker, limits->run_timeout_s, a, &job, &sums, &count, died, err));
    return sums ? film_record_close(a, job, sums, count, &j->film, err) : STATUS_OK;
}

/* Judges the picture that the worker holds, unless the same bits were judged before. */
static enum status picture_judge(struct trial *t, struct arena *a,
                                 const struct bench_limits *limits, const char *hash,
                                 struct error *err)
{
    struct error e = {0};
    bool died = false;
    const struct judged *known = judged_find(t->lane, hash);
    if (!known) {
        struct judged *j = ARENA_NEW(a, struct judged);
        if (!j)
            return error_msg(err, STATUS_MEMORY, "out of memory");
        enum status st = worker_judge(&t->lane->worker, &t->set, limits->compile_timeout_s,
                                      &j->judgement, &died, &e);
        if (st == STATUS_OK)
            st = film_take(t, a, limits, j, &died, &e);
        if (st == STATUS_MEMORY && !died)
            st = STATUS_INTERNAL; /* the worker ran out of it, not we */
        if (st)
            return trial_failed(t, st, died, &e, err);
        memcpy(j->hash, hash, sizeof j->hash);
        j->next = t->lane->judged;
        t->lane->judged = j;
        known = j;
    }
    t->judgement = known->judgement;
    if (known->judgement.verdict != VERDICT_PASS)
        trial_end(t, known->judgement.verdict, known->judgement.reason);
    return STATUS_OK;
}

/* The picture of this repetition: known and right, or judged now. */
static enum status picture_check(struct trial *t, struct arena *a,
                                 const struct bench_limits *limits, bool judge,
                                 const struct worker_render *r, struct error *err)
{
    if (t->hash[0] && strcmp(t->hash, r->hash) != 0) {
        if (t->set.build.mode == MODE_STRICT) {
            char reason[256];
            snprintf(
                reason, sizeof reason,
                "repetitions of the same job gave different bits in strict mode: film %s, then %s",
                t->hash, r->hash);
            trial_end(t, VERDICT_FAIL, reason);
            return STATUS_OK;
        }
        t->varies = true;
    } else if (t->hash[0]) {
        return STATUS_OK;
    }
    if (judge) {
        enum status st = picture_judge(t, a, limits, r->hash, err);
        if (st || t->state != TRIAL_RUNNING)
            return st;
    }
    memcpy(t->hash, r->hash, sizeof t->hash);
    return STATUS_OK;
}

/* With those that are left out. */
static size_t most_made(const struct bench_limits *limits)
{
    return 2 * (size_t)limits->max_repetitions;
}

enum status trial_step(struct trial *t, struct arena *a, const struct bench_limits *limits,
                       bool judge, struct error *err)
{
    struct error e = {0};
    bool up, died = false;
    if (!t->repetitions)
        t->repetitions = ARENA_ARRAY(a, struct repetition, most_made(limits));
    if (!t->repetitions)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    enum status st = lane_start(t->lane, a, limits, &up, err);
    if (st)
        return st;
    if (!up) {
        trial_end(t, t->lane->verdict, t->lane->reason);
        return STATUS_OK;
    }
    struct worker_render r;
    st = worker_render(&t->lane->worker, &t->set, limits->run_timeout_s, &r, &died, &e);
    if (st == STATUS_MEMORY && !died)
        st = STATUS_INTERNAL;
    if (st)
        return trial_failed(t, st, died, &e, err);
    t->last = r;
    t->first_launch_s = fmax(t->first_launch_s, r.times.first_launch_s);
    t->spent_s += r.wall_s;
    st = picture_check(t, a, limits, judge, &r, err);
    if (st || t->state != TRIAL_RUNNING)
        return st;
    if (t->warmed < limits->warmup) {
        t->warmed++;
        t->spent_s = 0; /* the budget is for what counts */
        return STATUS_OK;
    }
    t->repetitions[t->n++] = (struct repetition){.render_s = r.times.render_s,
                                                 .device_s = r.times.device_s,
                                                 .launch_setup_s = r.times.launch_setup_s,
                                                 .readback_s = r.times.readback_s,
                                                 .wall_s = r.wall_s,
                                                 .meters = r.meters,
                                                 .sensors = r.sensors};
    return STATUS_OK;
}

/* ---- enough? ---------------------------------------------------------------------------- */

size_t trial_counted(const struct trial *t, const struct repetition *out[REPETITIONS_MAX],
                     enum clocks *kind)
{
    size_t count[CLOCKS_THROTTLED + 1] = {0}, n = 0;
    for (size_t i = 0; i < t->n; i++)
        count[clocks_of(t->repetitions[i].sensors.reasons)]++;
    *kind = count[CLOCKS_CAPPED] > count[CLOCKS_FREE] ? CLOCKS_CAPPED : CLOCKS_FREE;
    for (size_t i = 0; i < t->n; i++)
        if (clocks_of(t->repetitions[i].sensors.reasons) == *kind)
            out[n++] = &t->repetitions[i];
    return n;
}

uint32_t trial_reasons(const struct trial *t)
{
    uint32_t reasons = 0;
    for (size_t i = 0; i < t->n; i++)
        reasons |= t->repetitions[i].sensors.reasons;
    return reasons;
}

bool trial_rate(const struct trial *t, struct bench_stats *out)
{
    const struct repetition *counted[REPETITIONS_MAX];
    enum clocks kind;
    const size_t n = trial_counted(t, counted, &kind);
    double rates[REPETITIONS_MAX];
    const struct render_job *job = &t->lane->ready.job;
    double samples = (double)job->width * job->height * job->sample_count;
    for (size_t i = 0; i < n; i++)
        rates[i] = samples / fmax(counted[i]->render_s, 1e-9);
    return n > 0 && bench_statistics(rates, n, out, NULL) == STATUS_OK;
}

/* So few that are left after others were left out give no rate. */
static uint32_t least_counted(const struct bench_limits *limits)
{
    return limits->min_repetitions < 3 ? limits->min_repetitions : 3;
}

static void end_throttled(struct trial *t, size_t counted)
{
    char causes[128];
    throttle_text(trial_reasons(t), causes, sizeof causes);
    t->state = TRIAL_DONE;
    t->verdict = VERDICT_ERROR;
    snprintf(
        t->reason, sizeof t->reason,
        "%zu of %zu repetitions were throttled (%s), and %s: no rate; cool the device, or give "
        "it more time with --budget and --max-repetitions",
        t->n - counted, t->n, causes, counted ? "too few are left" : "none is left");
}

void trial_decide(struct trial *t, const struct bench_limits *limits)
{
    const struct repetition *counted[REPETITIONS_MAX];
    enum clocks kind;
    struct bench_stats s;
    if (t->state != TRIAL_RUNNING || t->n == 0)
        return;
    const size_t n = trial_counted(t, counted, &kind);
    const bool rated = trial_rate(t, &s),
               precise = rated && s.confidence >= 0.95 &&
                         (s.high - s.low) / 2 <= limits->precision * s.median,
               spent = t->spent_s >= limits->budget_s &&
                       (n >= 3 || t->spent_s >= 3 * limits->budget_s) &&
                       (!limits->least_holds || t->n >= limits->min_repetitions);
    if (n >= limits->min_repetitions && precise)
        t->stopped = "precision";
    else if (n >= limits->max_repetitions || t->n >= most_made(limits))
        t->stopped = "repetitions";
    else if (spent)
        t->stopped = "budget";
    else
        return;
    if (n < t->n && n < least_counted(limits)) {
        end_throttled(t, n);
        return;
    }
    t->state = TRIAL_DONE;
    t->verdict = VERDICT_PASS;
}

/* ---- rounds --------------------------------------------------------------------------------- */

static void round_progress(struct trial *const *trials, size_t count, size_t i,
                           const struct row_sink *sink)
{
    const struct trial *t = trials[i];
    char what[256];
    double share = 0;
    if (!sink->o->progress)
        return;
    for (size_t k = 0; k < count; k++) {
        double by_time = trials[k]->spent_s / sink->limits.budget_s,
               by_count = (double)trials[k]->n / sink->limits.max_repetitions;
        share += trials[k]->state == TRIAL_RUNNING ? fmin(fmax(by_time, by_count), 0.99) : 1;
    }
    int n =
        snprintf(what, sizeof what, "%s on %s, %s",
                 t->lane->ready.has_job ? t->lane->ready.scene_name : t->lane->subject->scene_path,
                 t->lane->subject->device, math_mode_name(t->set.build.mode));
    if (t->set.launch.work_group[0] && n > 0 && (size_t)n < sizeof what)
        snprintf(what + n, sizeof what - (size_t)n, ", work-group %ux%u",
                 t->set.launch.work_group[0], t->set.launch.work_group[1]);
    sink->o->progress(sink->o->ctx, what, share / (double)count);
}

/* What was measured before a stop is kept when it is enough. */
static void round_interrupted(struct trial *const *trials, size_t count, struct row_sink *sink)
{
    for (size_t i = 0; i < count; i++) {
        struct trial *t = trials[i];
        const struct repetition *counted[REPETITIONS_MAX];
        enum clocks kind;
        if (t->state == TRIAL_RUNNING &&
            trial_counted(t, counted, &kind) >= sink->limits.min_repetitions) {
            t->state = TRIAL_DONE;
            t->verdict = VERDICT_PASS;
            t->stopped = "interrupted";
        }
        if (t->state == TRIAL_DONE)
            (void)trial_write(t, sink, NULL);
    }
}

/* What its row tells beside its times, for which the worker renders more. A worker that cannot
 * costs the row nothing. */
static enum status trial_statistics(struct trial *t, const struct row_sink *sink, struct error *err)
{
    struct error e = {0};
    bool died = false;
    const enum status st =
        worker_statistics(&t->lane->worker, &t->set, sink->limits.compile_timeout_s, sink->a,
                          &t->statistics, &died, &e);
    if (st == STATUS_OK || !is_whole(st) || (died && st == STATUS_MEMORY))
        return STATUS_OK;
    if (err)
        *err = e;
    return st;
}

enum status trials_run(struct trial **trials, size_t count, size_t rounds, struct row_sink *sink,
                       struct error *err)
{
    enum status st = STATUS_OK;
    for (size_t round = 0; !st && (rounds == 0 || round < rounds); round++) {
        size_t running = 0;
        for (size_t i = 0; i < count && !st; i++) {
            struct trial *t = trials[i];
            if (t->state != TRIAL_RUNNING)
                continue;
            round_progress(trials, count, i, sink);
            st = cancel_requested ? error_msg(err, STATUS_CANCELLED, "stopped on request")
                                  : trial_step(t, sink->a, &sink->limits, sink->o->judge, err);
            if (!st)
                trial_decide(t, &sink->limits);
            if (!st && sink->o->statistics && t->state == TRIAL_DONE && t->verdict == VERDICT_PASS)
                st = trial_statistics(t, sink, err);
            if (!st && t->state == TRIAL_DONE)
                st = trial_write(t, sink, err);
            running += t->state == TRIAL_RUNNING;
        }
        if (running == 0)
            break;
    }
    if (st == STATUS_CANCELLED)
        round_interrupted(trials, count, sink);
    return st;
}
