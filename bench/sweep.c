/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_run: the settings of each lane, by a strategy, and what is best. */
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "trial.h"

enum { CHUNK = 16 }; /* settings whose repetitions go round together */

struct sweep {
    const struct sweep_options *o;
    struct arena *a;
    struct row_sink sink;
    struct bench_options options; /* with the sweep's own defaults */
    struct bench_record *rows;    /* heap; strings in the arena */
    size_t row_count, row_cap;
    bool no_memory;
    const struct bench_record *old; /* rows to resume from */
    bool *stale; /* by row of old: an ERROR, or of something else; it is timed again */
    size_t old_count;
};

static void row_keep(void *ctx, const struct bench_record *row)
{
    struct sweep *s = ctx;
    if (s->row_count == s->row_cap) {
        size_t cap = s->row_cap ? 2 * s->row_cap : 256;
        struct bench_record *more = realloc(s->rows, cap * sizeof *more);
        if (!more) {
            s->no_memory = true;
            return;
        }
        s->rows = more;
        s->row_cap = cap;
    }
    s->rows[s->row_count++] = *row;
}

static bool program_is(const struct bench_record *r, const struct lane *l,
                       const struct settings *set)
{
    char model[PROGRAM_NAME_SIZE];
    program_name(set, l->ready.build.model, model);
    return strcmp(r->model ? r->model : "", model) == 0;
}

/* Whether the store has this setting already: same job, device, mode and setting, and what came of
 * it. An ERROR is nothing: the device was too hot, or a process was ended. A tree that was left to
 * the device shows under its real name. */
static bool in_store(const struct sweep *s, const struct lane *l, const struct settings *set)
{
    const struct render_job *job = &l->ready.job;
    const struct identity *now = NULL;
    if (s->old_count && row_identity(s->a, l, set, &s->options, &now, NULL) != STATUS_OK)
        return false;
    for (size_t i = 0; i < s->old_count; i++) {
        const struct bench_record *r = &s->old[i];
        if (strcmp(r->scene, l->ready.scene_name) == 0 &&
            strcmp(r->device, l->ready.device.id) == 0 &&
            strcmp(r->mode, math_mode_name(set->build.mode)) == 0 && program_is(r, l, set) &&
            (set->load.bvh == BVH_AUTO ||
             strcmp(r->bvh ? r->bvh : "", bvh_kind_name(set->load.bvh)) == 0) &&
            r->width == job->width && r->height == job->height && r->spp == job->sample_count &&
            r->max_depth == job->max_depth &&
            memcmp(r->work_group, set->launch.work_group, sizeof r->work_group) == 0 &&
            memcmp(r->tile, set->launch.tile, sizeof r->tile) == 0 &&
            r->batch == set->launch.batch) {
            if (r->verdict != VERDICT_ERROR &&
                (!now || (r->identity && strcmp(r->identity, now->key) == 0)))
                return true;
            s->stale[i] = true;
        }
    }
    return false;
}

/* A random subset of n of the settings, in their order: the first n of a Fisher-Yates shuffle with
 * Philox. */
static enum status random_pick(struct sweep *s, struct settings *set, size_t *count,
                               struct error *err)
{
    size_t n = s->o->random_count, all = *count;
    if (s->o->strategy != SWEEP_RANDOM || n >= all)
        return STATUS_OK;
    size_t *order = ARENA_ARRAY(s->a, size_t, all);
    bool *taken = ARENA_ARRAY(s->a, bool, all);
    if (!order || !taken)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < all; i++)
        order[i] = i;
    for (size_t i = 0; i < n && i < all; i++) {
        uint32_t counter[4] = {(uint32_t)i, 0, 0, 0},
                 key[2] = {(uint32_t)s->o->random_seed, (uint32_t)(s->o->random_seed >> 32)},
                 word[4];
        philox4x32(counter, key, word);
        size_t j = i + word[0] % (all - i), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
        taken[order[i]] = true;
    }
    size_t kept = 0;
    for (size_t i = 0; i < all; i++)
        if (taken[i])
            set[kept++] = set[i];
    *count = kept;
    return STATUS_OK;
}

/* ---- strategies ----------------------------------------------------------------------------- */

static enum status run_full(struct sweep *s, struct trial **trials, size_t n, struct error *err)
{
    enum status st = STATUS_OK;
    for (size_t at = 0; at < n && !st; at += CHUNK)
        st = trials_run(trials + at, n - at < CHUNK ? n - at : CHUNK, 0, &s->sink, err);
    return st;
}

static int rate_order(const void *a, const void *b)
{
    struct bench_stats x = {0}, y = {0};
    (void)trial_rate(*(struct trial *const *)a, &x);
    (void)trial_rate(*(struct trial *const *)b, &y);
    return (x.median < y.median) - (x.median > y.median);
}

/* Moves the trials that still run to the front, the fastest first; their number. */
static size_t rank_running(struct trial **trials, size_t n)
{
    size_t running = 0;
    for (size_t i = 0; i < n; i++)
        if (trials[i]->state == TRIAL_RUNNING) {
            struct trial *swap = trials[running];
            trials[running++] = trials[i];
            trials[i] = swap;
        }
    if (running)
        qsort(trials, running, sizeof(struct trial *), rate_order);
    return running;
}

/* Successive halving (Jamieson and Talwalkar 2016): after two repetitions of all, then twice as
 * many more each time, the slower half goes, except what reaches the best one's interval. The rest
 * is timed like a full sweep. */
static enum status run_halving(struct sweep *s, struct trial **trials, size_t n, struct error *err)
{
    size_t rounds = s->sink.limits.warmup + 2;
    enum status st = trials_run(trials, n, rounds, &s->sink, err);
    size_t running = rank_running(trials, n);
    for (rounds = 2; running > 4 && !st; rounds *= 2) {
        struct bench_stats best, x;
        if (!trial_rate(trials[0], &best))
            break;
        for (size_t i = (running + 1) / 2; i < running && !st; i++) {
            if (!trial_rate(trials[i], &x) || x.high >= best.low)
                continue; /* throttled so far, or within reach */
            trials[i]->state = TRIAL_DONE;
            trials[i]->verdict = VERDICT_PASS;
            trials[i]->stopped = "eliminated";
            st = trial_write(trials[i], &s->sink, err);
        }
        if (!st)
            st = trials_run(trials, running, rounds, &s->sink, err);
        running = rank_running(trials, running);
    }
    return st ? st : trials_run(trials, running, 0, &s->sink, err);
}

/* ---- one lane --------------------------------------------------------------------------- */

/* A lane that cannot start is one row, without a setting. */
static enum status lane_refused(struct sweep *s, struct lane *l, struct error *err)
{
    struct trial t = {
        .lane = l, .set = l->subject->job.set, .state = TRIAL_DONE, .verdict = l->verdict};
    snprintf(t.reason, sizeof t.reason, "%s", l->reason);
    for (size_t i = 0; i < s->old_count; i++)
        if (strcmp(s->old[i].device, l->subject->device) == 0 && s->old[i].work_group[0] == 0 &&
            strcmp(s->old[i].mode, math_mode_name(t.set.build.mode)) == 0 &&
            program_is(&s->old[i], l, &t.set) &&
            strcmp(s->old[i].reason ? s->old[i].reason : "", t.reason) == 0)
            return STATUS_OK; /* said before */
    return trial_write(&t, &s->sink, err);
}

static enum status lane_sweep(struct sweep *s, const struct bench_subject *subject,
                              struct error *err)
{
    struct lane *l = ARENA_NEW(s->a, struct lane);
    if (!l)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    *l = (struct lane){.subject = subject, .work = rendering_work(s->a, subject)};
    bool up;
    enum status st = l->work.ctx ? lane_start(l, s->a, &s->sink.limits, &up, err)
                                 : error_msg(err, STATUS_MEMORY, "out of memory");
    if (st)
        return st;
    if (!up)
        return lane_refused(s, l, err);
    struct axis_context c = {.device = l->ready.device, .job = l->ready.job};
    struct settings *set;
    size_t n, left_out, kept = 0;
    st = axes_settings(s->a, s->o, &c, &set, &n, &left_out, err);
    if (!st)
        st = random_pick(s, set, &n, err);
    struct trial *trials = st ? NULL : ARENA_ARRAY(s->a, struct trial, n);
    struct trial **order = st ? NULL : ARENA_ARRAY(s->a, struct trial *, n);
    if (!st && (!trials || !order))
        st = error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < n && !st; i++)
        if (!in_store(s, l, &set[i])) {
            trials[kept] = (struct trial){.lane = l, .set = set[i]};
            order[kept] = &trials[kept];
            kept++;
        }
    if (!st)
        st = s->o->strategy == SWEEP_HALVING ? run_halving(s, order, kept, err)
                                             : run_full(s, order, kept, err);
    lane_stop(l);
    return st;
}

/* ---- the whole -------------------------------------------------------------------------- */

static enum status resume_load(struct sweep *s, struct error *err)
{
    struct bench_record *old;
    if (!s->o->resume || !s->o->bench.store)
        return STATUS_OK;
    enum status st =
        store_bench_rows(s->o->bench.store, s->a, s->o->bench.run, &old, &s->old_count, err);
    if (st)
        return st;
    s->old = old;
    s->stale = ARENA_ARRAY(s->a, bool, s->old_count);
    if (!s->stale)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < s->old_count; i++)
        row_keep(s, &old[i]);
    struct device_record *devices;
    size_t n;
    st = store_devices(s->o->bench.store, s->a, s->o->bench.run, &devices, &n, err);
    if (st)
        return st;
    s->sink.devices = ARENA_ARRAY(s->a, const char *, n);
    if (!s->sink.devices)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < n; i++)
        s->sink.devices[s->sink.device_count++] = devices[i].id;
    return STATUS_OK;
}

/* Rows of the store that were timed again; they are the first ones. */
static void rows_drop_stale(struct sweep *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->row_count; i++)
        if (i >= s->old_count || !s->stale[i])
            s->rows[kept++] = s->rows[i];
    s->row_count = kept;
}

static enum status subject_sweep(struct sweep *s, const struct bench_subject *subject,
                                 struct error *err)
{
    struct settings *lanes;
    size_t count;
    enum status st = axes_lanes(s->a, s->o, &subject->job.set, &lanes, &count, err);
    for (size_t i = 0; !st && i < count; i++) {
        struct bench_subject *own = ARENA_NEW(s->a, struct bench_subject);
        if (!own)
            return error_msg(err, STATUS_MEMORY, "out of memory");
        *own = *subject;
        own->job.set = lanes[i];
        st = lane_sweep(s, own, err);
    }
    return st;
}

enum status sweep_check(const struct sweep_options *o, struct error *err)
{
    return axes_check(o, err);
}

enum status sweep_run(const struct bench_subject *subjects, size_t count,
                      const struct sweep_options *o, struct arena *a, const char **best,
                      struct error *err)
{
    static const struct sweep_axis groups = {.name = "work-group"};
    struct sweep_options own = *o;
    struct arena work = {0};
    if (own.axis_count == 0) {
        own.axes = &groups;
        own.axis_count = 1;
    }
    struct sweep s = {.o = &own, .a = &work, .options = o->bench};
    if (!(s.options.budget_s > 0))
        s.options.budget_s = 3;
    s.options.min_repetitions = s.options.min_repetitions ? s.options.min_repetitions : 3;
    s.options.max_repetitions = s.options.max_repetitions ? s.options.max_repetitions : 7;
    if (o->bench.max_repetitions && !o->bench.min_repetitions &&
        s.options.min_repetitions > o->bench.max_repetitions)
        s.options.min_repetitions = o->bench.max_repetitions;
    s.sink = (struct row_sink){.a = &work, .o = &s.options, .keep = row_keep, .keep_ctx = &s};
    bench_limits_fill(&s.options, &s.sink.limits);
    s.sink.limits.least_holds = o->bench.min_repetitions && !(o->bench.budget_s > 0);
    enum status st = axes_check(&own, err);
    if (!st)
        st = resume_load(&s, err);
    for (size_t i = 0; i < count && !st; i++)
        st = subject_sweep(&s, &subjects[i], err);
    if (s.no_memory && !st)
        st = error_msg(err, STATUS_MEMORY, "out of memory for the rows of a sweep");
    rows_drop_stale(&s);
    if (best && (st == STATUS_OK || st == STATUS_CANCELLED) &&
        report_tuning(a, s.rows, s.row_count, best, NULL))
        *best = "";
    free(s.rows);
    arena_free(&work);
    return st;
}
