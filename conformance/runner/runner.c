/* SPDX-License-Identifier: Apache-2.0 */
/* conform_run: every selected case on every device, in worker processes. */
#include "attempts.h"
#include "canary.h"
#include "cases/case.h"
#include "conformance.h"
#include "identity.h"
#include "journal.h"
#include "process.h"
#include "skips.h"
#include "waivers.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One case on one device. */
struct task {
    const struct conform_case *test;
    const char *device;
    double turn;
    struct attempts attempts;
    const char *shared; /* the case that lost its worker beside or after this one */
    bool resumed;       /* all attempts are the journal's */
    struct task *next;  /* of the queue it stands in */
};
struct queue {
    struct task *first, *last;
};

struct slot {
    struct process process;
    struct task *task; /* NULL: a canary */
    size_t device;
    bool busy;
    bool waits;   /* its worker can be given another case of the device */
    unsigned ran; /* cases, by its worker */
};

struct run {
    const struct conform_options *o;
    struct conform_summary *sum;
    struct arena arena;
    struct journal *journal;
    struct waivers waivers;
    struct skips skips;
    size_t *skipped;           /* by device and row of skips */
    struct device_info *infos; /* by device, for waivers; zeroed when it cannot be described */
    const struct identity *program, *environment;
    const struct identity **devices; /* by device */
    struct input_hashes hashes;      /* of files that the journal names */
    const struct conform_case *cases;
    size_t case_count;
    struct task *tasks;
    size_t task_count, next, done;
    struct queue ready;      /* to be run, or run again, before the next one */
    struct queue *held;      /* by device: ended, and no canary was right since */
    struct canary *canaries; /* by device */
    struct process_limits limits, canary_limits; /* the latter: of one that answered before */
    struct slot *slots;
    unsigned jobs;
    bool over; /* the deadline has passed */
};

static uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)4 << 30;
}

/* By worth; but where cases run side by side the long ones begin first: one that begins last holds
 * up all slots. A budget takes the best ones first in any case. In the run's arena. */
static const size_t *order_of(struct run *r)
{
    const bool beside = r->o->jobs > 1 && !r->o->wanted;
    size_t *order = ARENA_ARRAY(&r->arena, size_t, r->case_count + 1), n = 0;
    for (int rest = 0; order && rest < 2; rest++)
        for (size_t c = 0; c < r->case_count; c++)
            if ((beside && case_is_long(r->cases[c].name)) != (rest == 1))
                order[n++] = c;
    return order;
}

static int by_turn(const void *a, const void *b)
{
    const struct task *x = *(const struct task *const *)a, *y = *(const struct task *const *)b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return x < y ? -1 : x > y;
}

static enum status sort_by_turn(struct run *r, struct error *err)
{
    const size_t n = r->task_count;
    struct task *sorted = ARENA_ARRAY(&r->arena, struct task, n);
    const struct task **by = ARENA_ARRAY(&r->arena, const struct task *, n);
    if (!sorted || !by)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", n);
    for (size_t i = 0; i < n; i++) {
        struct task *t = &r->tasks[i];
        t->turn = r->o->turn(r->o->each_ctx, t->device, t->test);
        by[i] = t;
    }
    qsort(by, n, sizeof *by, by_turn);
    for (size_t i = 0; i < n; i++)
        sorted[i] = *by[i];
    r->tasks = sorted;
    return STATUS_OK;
}

static enum status plan(struct run *r, struct error *err)
{
    const struct conform_options *o = r->o;
    enum status s = conform_select(&r->arena, o, &r->cases, &r->case_count, err);
    if (s != STATUS_OK)
        return s;
    r->task_count = r->case_count * o->device_count;
    r->tasks = ARENA_ARRAY(&r->arena, struct task, r->task_count);
    r->infos = ARENA_ARRAY(&r->arena, struct device_info, o->device_count);
    r->held = ARENA_ARRAY(&r->arena, struct queue, o->device_count);
    r->canaries = ARENA_ARRAY(&r->arena, struct canary, o->device_count);
    if (!r->tasks || !r->infos || !r->held || !r->canaries)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", r->task_count);
    const size_t *order = order_of(r);
    if (!order)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", r->task_count);
    for (size_t d = 0; d < o->device_count; d++)
        for (size_t c = 0; c < r->case_count; c++)
            r->tasks[o->by_case ? c * o->device_count + d : d * r->case_count + c] =
                (struct task){.test = &r->cases[order[c]], .device = o->devices[d]};
    return o->turn ? sort_by_turn(r, err) : STATUS_OK;
}

/* What is the same for all cases, and for all of a device. */
static enum status identify(struct run *r, struct error *err)
{
    const struct conform_options *o = r->o;
    struct arena *a = &r->arena;
    r->program = o->program ? o->program : identity_of_program_file(a, o->worker, err);
    if (!r->program)
        return err ? err->code : STATUS_MISSING;
    r->environment = o->environment ? o->environment : identity_environment(a, err);
    r->devices = ARENA_ARRAY(a, const struct identity *, o->device_count);
    if (!r->environment || !r->devices)
        return error_msg(err, STATUS_MEMORY, "out of memory for the devices");
    for (size_t d = 0; d < o->device_count; d++) {
        bool known = device_find(o->devices[d], &r->infos[d], NULL) == STATUS_OK;
        r->devices[d] = identity_of_device(a, o->devices[d], known ? &r->infos[d] : NULL, err);
        if (!r->devices[d])
            return STATUS_MEMORY;
    }
    return STATUS_OK;
}

static enum status prepare(struct run *r, struct error *err)
{
    const struct conform_options *o = r->o;
    char today[32];
    enum status s;
    if (!o->worker || o->device_count == 0)
        return error_msg(err, STATUS_ARG, "a conformance run needs devices and a worker program");
    if (access(o->worker, R_OK) != 0)
        return error_msg(err, STATUS_MISSING, "the worker program %s cannot be read: %s", o->worker,
                         strerror(errno));
    if ((s = plan(r, err)) != STATUS_OK || (s = identify(r, err)) != STATUS_OK)
        return s;
    clock_utc(today);
    today[10] = 0;
    if (o->waivers) {
        if ((s = waivers_read(&r->arena, o->waivers, today, &r->waivers, err)) != STATUS_OK)
            return s;
        r->sum->expired_waivers = r->waivers.expired;
    }
    if (o->skips) {
        if ((s = skips_read(&r->arena, o->skips, &r->skips, err)) != STATUS_OK)
            return s;
        r->skipped = ARENA_ARRAY(&r->arena, size_t, r->skips.count * o->device_count + 1);
        if (!r->skipped)
            return error_msg(err, STATUS_MEMORY, "out of memory for %zu skips", r->skips.count);
    }
    if (o->journal && (s = journal_open(o->journal, o->resume, &r->journal, err)) != STATUS_OK)
        return s;
    r->jobs = o->jobs ? o->jobs : 1;
    if (r->jobs > r->task_count)
        r->jobs = r->task_count ? (unsigned)r->task_count : 1;
    r->limits = (struct process_limits){
        .compile_s = o->compile_budget_s > 0 ? o->compile_budget_s : 300,
        .run_s = o->run_budget_s > 0 ? o->run_budget_s : 120,
        .memory = o->memory_limit ? o->memory_limit : machine_memory() / 4 * 3 / r->jobs,
        .inactive_s = o->inactive_s};
    r->canary_limits = r->limits;
    r->canary_limits.compile_s = fmin(r->limits.compile_s, 60);
    r->canary_limits.run_s = fmin(r->limits.run_s, 30);
    r->slots = ARENA_ARRAY(&r->arena, struct slot, r->jobs);
    if (!r->slots)
        return error_msg(err, STATUS_MEMORY, "out of memory for the workers");
    return o->begin ? o->begin(o->each_ctx, err) : STATUS_OK;
}

static void queue_add(struct queue *q, struct task *t)
{
    t->next = NULL;
    *(q->last ? &q->last->next : &q->first) = t;
    q->last = t;
}

/* Takes out the one that `before` stands before; NULL: the first. */
static struct task *queue_take(struct queue *q, struct task *before)
{
    struct task *t = before ? before->next : q->first;
    *(before ? &before->next : &q->first) = t->next;
    if (q->last == t)
        q->last = before;
    t->next = NULL;
    return t;
}

static size_t device_index(const struct run *r, const struct task *t)
{
    size_t d = 0;
    while (d + 1 < r->o->device_count && r->o->devices[d] != t->device)
        d++;
    return d;
}

/* What the list of expected SKIPs says against this one, as text in the arena; NULL: nothing. */
static const char *skip_objection(struct run *r, struct arena *a, const struct task *t,
                                  const char *reason)
{
    if (!r->o->skips)
        return NULL;
    const struct skip *k = skip_find(&r->skips, t->device, t->test->name, reason);
    if (!k)
        return arena_printf(a, "unexpected: not in %s", r->o->skips);
    size_t row = (size_t)(k - r->skips.list) + r->skips.count * device_index(r, t);
    if (k->at_most < 0 || ++r->skipped[row] <= (uint64_t)k->at_most)
        return NULL;
    return arena_printf(a, "unexpected: %s has at most %lld", r->o->skips, (long long)k->at_most);
}

static const struct waiver *waiver_of(const struct run *r, const struct task *t)
{
    const struct device_info *d = &r->infos[device_index(r, t)];
    return waiver_find(&r->waivers, t->device, d->name, d->driver, t->test->name);
}

/* The runs of a case as the store keeps them, in the arena; NULL: one run, or no memory. */
static const char *runs_text(struct arena *a, const struct conform_result *result)
{
    struct json_writer w = {0};
    if (result->rerun == RERUN_NONE)
        return NULL;
    json_begin_array(&w);
    for (size_t i = 0; i < result->run_count; i++) {
        json_begin_object(&w);
        conform_result_write(&w, &result->runs[i], false);
        json_end_object(&w);
    }
    json_end_array(&w);
    const char *text = w.out.failed ? NULL : arena_strdup(a, w.out.data);
    text_free(&w.out);
    return text;
}

/* A result enters the journal (unless it comes from there), the store, the sums, and is told. */
static enum status finish_result(struct run *r, const struct task *t, struct conform_result *result,
                                 bool noted, struct error *err)
{
    const struct conform_options *o = r->o;
    enum status s = STATUS_OK;
    struct arena a = {0};
    if (r->journal && !noted)
        s = journal_add(r->journal, t->test->name, t->device, 0, result, err);
    const struct waiver *w = waiver_of(r, t);
    bool failed = result->verdict == VERDICT_FAIL || result->verdict == VERDICT_ERROR;
    bool waived = w && failed;
    struct conform_result told = *result;
    if (w && (waived || result->verdict == VERDICT_PASS)) {
        told.reason = arena_printf(
            &a, waived ? "%s [waived until %s: %s]" : "%s [unexpected pass: waived until %s: %s]",
            result->reason ? result->reason : "", w->expires, w->reason);
        if (!waived)
            r->sum->unexpected_pass++;
    }
    const char *reason = result->reason ? result->reason : "";
    const char *objection =
        result->verdict == VERDICT_SKIP ? skip_objection(r, &a, t, reason) : NULL;
    const char *skipped = result->verdict != VERDICT_SKIP || !o->skips ? NULL
                          : objection                                  ? "unexpected"
                                                                       : "expected";
    if (objection) {
        told.reason = arena_printf(&a, "%s [%s]", reason, objection);
        r->sum->unexpected_skip++;
    }
    const struct case_record record = {.name = t->test->name,
                                       .device = t->device,
                                       .verdict = told.verdict,
                                       .reason = told.reason,
                                       .replay = told.replay,
                                       .detail = told.detail,
                                       .compile_s = told.compile_s,
                                       .run_s = told.run_s,
                                       .waived = waived || (w && result->verdict == VERDICT_PASS),
                                       .identity = told.identity->key,
                                       .skip = skipped,
                                       .listed = t->test->listed,
                                       .rerun = rerun_name(told.rerun),
                                       .runs = runs_text(&a, result),
                                       .shared = told.shared};
    told.outcome = outcome_of_case(&record);
    if (s == STATUS_OK && o->store) {
        s = store_add_identity(o->store, o->run, told.identity, err);
        if (s == STATUS_OK)
            s = store_add_case(o->store, o->run, &record, err);
        for (size_t i = 0; s == STATUS_OK && i < told.image_count; i++) {
            struct image_record image = told.images[i];
            image.identity = told.identity->key;
            s = store_add_image(o->store, o->run, &image, err);
        }
        for (size_t i = 0; s == STATUS_OK && i < told.film_count; i++) {
            struct film_record film = told.films[i];
            film.name = t->test->name;
            film.device = t->device;
            film.identity = told.identity->key;
            s = store_add_film(o->store, o->run, &film, err);
        }
    }
    if (s == STATUS_OK) { /* else it is not where it is kept, and was not done */
        r->done++;
        outcome_add(&r->sum->outcomes, &told.outcome);
        r->sum->count[told.verdict]++;
        r->sum->total++;
        r->sum->waived += waived;
        r->sum->resumed += t->resumed;
        r->sum->flaky += told.rerun == RERUN_DIFFERED;
        if (o->each)
            o->each(o->each_ctx, r->done, r->task_count, t->device, t->test, &told);
    }
    arena_free(&a);
    return s;
}

static const struct identity *case_identity(const struct run *r, struct arena *a,
                                            const struct task *t, const struct identity *inputs,
                                            struct error *err)
{
    return identity_of_case(a, r->program, r->environment, r->devices[device_index(r, t)],
                            t->test->name, inputs, &r->o->cases, err);
}

/* Sets the identity of a case that has just run, by the files that the worker told of. */
static enum status identify_result(const struct run *r, struct arena *a, const struct task *t,
                                   const struct text *told, struct conform_result *result,
                                   struct error *err)
{
    const struct identity *inputs = NULL;
    struct error e = {0};
    if (told->failed)
        return error_msg(err, STATUS_MEMORY, "out of memory for what a worker read");
    if (told->len || t->test->scene)
        inputs = identity_of_inputs(a, t->test->scene, told->data, told->len, &e);
    if (!e.code)
        result->identity = case_identity(r, a, t, inputs, &e);
    if (e.code && err)
        *err = e;
    return e.code;
}

/* ---- devices that something happened to ----------------------------------------------------- */

static bool may_share(const struct run *r, size_t a, size_t b)
{
    return a == b || devices_share(r->o->devices[a], &r->infos[a], r->o->devices[b], &r->infos[b]);
}

/* No case is started on the device before its canary was right again, nor on others that may be the
 * same card. */
static void doubt_devices(struct run *r, size_t device)
{
    for (size_t d = 0; d < r->o->device_count; d++)
        if (may_share(r, device, d))
            canary_doubt(&r->canaries[d]);
}

/* A worker was lost: what runs on its device now is marked, and what ended last there. */
static void mark_shared(struct run *r, const struct slot *lost)
{
    const char *name = lost->task->test->name;
    for (unsigned i = 0; i < r->jobs; i++)
        if (r->slots[i].busy && r->slots[i].task && may_share(r, lost->device, r->slots[i].device))
            r->slots[i].task->shared = name;
    for (size_t d = 0; d < r->o->device_count; d++)
        if (may_share(r, lost->device, d) && r->held[d].last)
            r->held[d].last->shared = name;
}

/* ---- from the last run of a case to its result --------------------------------------------- */

/* What all runs of a case say, its marks, and what became of its device. */
static enum status finish_task(struct run *r, struct task *t, bool noted, struct error *err)
{
    const struct canary *c = &r->canaries[device_index(r, t)];
    struct arena a = {0};
    struct conform_result result;
    bool good = attempts_result(&t->attempts, &a, &result);
    const char *reason = result.reason ? result.reason : "";
    if (good && t->shared && !result.shared) {
        result.shared = t->shared;
        reason = result.reason =
            arena_printf(&a, "%s [shared the device with a lost worker, of %s]", reason, t->shared);
    }
    if (good && c->health == HEALTH_SICK && !noted) {
        const bool counted = !verdict_failed(result.verdict);
        result.sick = true;
        result.reason =
            counted ? arena_printf(&a, "does not count: %s is sick: %s; the case said %s: %s",
                                   t->device, c->why, verdict_name(result.verdict), reason)
                    : arena_printf(&a, "%s [%s is sick: %s]", reason, t->device, c->why);
        result.verdict = counted ? VERDICT_ERROR : result.verdict;
    }
    enum status s = !good || !(result.reason || result.verdict == VERDICT_PASS)
                        ? error_msg(err, STATUS_MEMORY, "out of memory for a result")
                        : finish_result(r, t, &result, noted, err);
    attempts_free(&t->attempts);
    arena_free(&a);
    return s;
}

/* Cases that a sick device can no longer be asked. */
static enum status refuse_task(struct run *r, struct task *t, struct error *err)
{
    const struct canary *c = &r->canaries[device_index(r, t)];
    if (t->attempts.count)
        return finish_task(r, t, false, err);
    struct arena a = {0};
    struct conform_result result = {.verdict = VERDICT_ERROR, .sick = true};
    result.reason = arena_printf(&a, "not run: %s is sick: %s", t->device, c->why);
    enum status s = result.reason ? STATUS_OK : STATUS_MEMORY;
    if (s == STATUS_OK)
        s = identify_result(r, &a, t, &(struct text){0}, &result, err);
    if (s == STATUS_OK)
        s = finish_result(r, t, &result, false, err);
    arena_free(&a);
    return s;
}

static bool wants_rerun(const struct run *r, const struct task *t)
{
    const struct attempt *first = t->attempts.first;
    return first && verdict_failed(first->result.verdict) && t->attempts.count <= r->o->reruns &&
           !waiver_of(r, t);
}

/* After a run of the case: another one, or its device's next canary, or its end. */
static enum status advance_task(struct run *r, struct task *t, struct error *err)
{
    const size_t d = device_index(r, t);
    const bool sick = r->canaries[d].health == HEALTH_SICK;
    if (wants_rerun(r, t) && !sick)
        queue_add(&r->ready, t);
    else if (r->o->canary_s > 0 && !sick)
        queue_add(&r->held[d], t);
    else
        return finish_task(r, t, false, err);
    return STATUS_OK;
}

/* A worker ended. */
static enum status end_run(struct run *r, struct slot *slot, struct error *err)
{
    struct task *t = slot->task;
    struct attempt *a = calloc(1, sizeof *a);
    if (!a)
        return error_msg(err, STATUS_MEMORY, "out of memory for a result");
    process_result(&slot->process, &a->arena, &a->result);
    a->ended = clock_s();
    const bool lost = slot->process.lost;
    enum status s = identify_result(r, &a->arena, t, &slot->process.inputs, &a->result, err);
    slot->busy = false;
    slot->waits = !verdict_failed(a->result.verdict) && process_waits(&slot->process);
    if (!slot->waits)
        process_close(&slot->process, true);
    attempts_add(&t->attempts, a);
    t->resumed = false;
    if (lost)
        mark_shared(r, slot);
    if (s == STATUS_OK && a->result.verdict == VERDICT_ERROR)
        doubt_devices(r, slot->device);
    /* one that is not its case's end: kill -9 loses none */
    if (s == STATUS_OK && r->journal &&
        (wants_rerun(r, t) || t->attempts.count > 1 || r->o->canary_s > 0))
        s = journal_add(r->journal, t->test->name, t->device, (uint32_t)t->attempts.count,
                        &a->result, err);
    return s == STATUS_OK ? advance_task(r, t, err) : s;
}

/* ---- the journal ---------------------------------------------------------------------------- */

static enum status take_runs(struct task *t, const struct conform_result *r, struct error *err)
{
    const size_t n = r->run_count ? r->run_count : 1;
    for (size_t i = 0; i < n; i++) {
        struct attempt *a = attempt_of(r->run_count ? &r->runs[i] : r);
        if (!a)
            return error_msg(err, STATUS_MEMORY, "out of memory for a result");
        a->result.identity = r->identity;
        attempts_add(&t->attempts, a);
    }
    return STATUS_OK;
}

/* Runs of a case that had not come to its end: those of entry, which is one, and before it. */
static enum status take_open_runs(struct arena *a, struct task *t, const struct journal *j,
                                  const struct journal_entry *e, struct error *err)
{
    enum { RUNS_MAX = 4096 };
    const char *key = e->result.identity->key;
    const uint32_t count = e->run;
    if (count > RUNS_MAX)
        return STATUS_OK;
    const struct conform_result **runs = ARENA_ARRAY(a, const struct conform_result *, count);
    if (!runs)
        return error_msg(err, STATUS_MEMORY, "out of memory for the runs of %s", t->test->name);
    for (uint32_t run = count; run > 0; run--) {
        if (!e || e->run != run || strcmp(e->result.identity->key, key) != 0)
            return STATUS_OK; /* not all of them: they are made again */
        runs[run - 1] = &e->result;
        e = journal_find(j, t->test->name, t->device, e);
    }
    for (uint32_t run = 0; run < count; run++) {
        struct attempt *attempt = attempt_of(runs[run]);
        if (!attempt)
            return error_msg(err, STATUS_MEMORY, "out of memory for a result");
        attempts_add(&t->attempts, attempt);
    }
    return STATUS_OK;
}

/* The runs that the journal has of a case with the identity that it has now, if any; *whole: they
 * are its end. Else, if there is another identity, what differs is told. */
static enum status journal_take(struct run *r, struct arena *a, struct task *t, bool *whole,
                                struct error *err)
{
    const struct identity *newest = NULL, *now_newest = NULL;
    *whole = false;
    for (const struct journal_entry *e = NULL;
         (e = journal_find(r->journal, t->test->name, t->device, e)) != NULL;) {
        const struct identity *before = e->result.identity,
                              *inputs = identity_inner(before, "inputs"), *now;
        if (inputs &&
            !(inputs = identity_inputs_now(&r->arena, &r->hashes, t->test->scene, inputs, err)))
            return STATUS_MEMORY;
        if (!(now = case_identity(r, a, t, inputs, err)))
            return STATUS_MEMORY;
        if (strcmp(now->key, before->key) == 0) {
            t->resumed = true;
            if (e->run)
                return take_open_runs(a, t, r->journal, e, err);
            if (e->result.sick)
                return STATUS_OK; /* nothing of that time counts */
            TRY(take_runs(t, &e->result, err));
            t->shared = e->result.shared;
            *whole = !wants_rerun(r, t);
            return STATUS_OK;
        }
        if (!newest) {
            newest = before;
            now_newest = now;
        }
    }
    if (!newest)
        return STATUS_OK;
    struct text why = {0};
    identity_difference(newest, now_newest, &why);
    r->sum->again++;
    if (r->o->again && !why.failed)
        r->o->again(r->o->each_ctx, t->device, t->test, why.data);
    text_free(&why);
    return STATUS_OK;
}

/* ---- what is started next ------------------------------------------------------------------- */

static bool gated(const struct run *r, size_t device)
{
    return r->o->canary_s > 0 && r->canaries[device].health == HEALTH_UNKNOWN;
}

/* Nothing of the device runs or waits to. */
static bool device_idle(const struct run *r, size_t device)
{
    for (unsigned i = 0; i < r->jobs; i++)
        if (r->slots[i].busy && r->slots[i].device == device)
            return false;
    return r->next >= (r->o->by_case ? r->task_count : (device + 1) * r->case_count);
}

static bool device_wanted(const struct run *r, size_t device)
{
    for (const struct task *t = r->ready.first; t; t = t->next)
        if (device_index(r, t) == device)
            return true;
    return false;
}

/* Where a case may follow another in one worker: what a driver needs to start (half a second of
 * CUDA's, more beside others) is then spent once. Nothing is gained where no driver is. */
static bool worker_stays(const struct run *r, const struct task *t, size_t device)
{
    const struct device_info *d = &r->infos[device];
    return r->o->worker_cases > 1 && t && !t->attempts.count && !d->test_only &&
           strcmp(d->api, "native") != 0;
}

static void close_slot(struct slot *slot)
{
    if (slot->busy || slot->waits)
        process_close(&slot->process, !cancel_requested); /* who stops has a second */
    slot->busy = slot->waits = false;
}

/* A free slot; one whose worker waits for a case of the device, where there is one, else one
 * without a worker before one whose worker would have to end. NULL: none is free. */
static struct slot *free_slot(const struct run *r, size_t device, bool again)
{
    struct slot *best = NULL;
    int best_worth = 0;
    for (unsigned i = 0; i < r->jobs; i++) {
        struct slot *slot = &r->slots[i];
        const int worth = slot->busy                                       ? 0
                          : slot->waits && again && slot->device == device ? 3
                          : !slot->waits                                   ? 2
                                                                           : 1;
        if (worth > best_worth) {
            best_worth = worth;
            best = slot;
        }
    }
    return best;
}

/* Hands the case to the worker that waits in the slot. False: it cannot take it. */
static bool ask_again(const struct run *r, struct slot *slot, const struct task *t)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_string(&w, "case", t->test->name);
    if (t->test->scene)
        json_key_string(&w, "scene", t->test->scene);
    json_end_object(&w);
    text_puts(&w.out, "\n");
    const bool asked = !w.out.failed &&
                       process_ask(&slot->process, w.out.data, slot->ran + 1 >= r->o->worker_cases);
    text_free(&w.out);
    return asked;
}

static enum status start_worker(struct run *r, struct task *t, size_t device, struct error *err)
{
    const bool stays = worker_stays(r, t, device);
    struct slot *slot = free_slot(r, device, stays);
    if (slot->waits && slot->device == device && stays && ask_again(r, slot, t)) {
        slot->task = t;
        slot->busy = true;
        slot->waits = false;
        slot->ran++;
        return STATUS_OK;
    }
    if (slot->waits && !process_waits(&slot->process)) /* it was lost since its last answer */
        doubt_devices(r, slot->device);
    close_slot(slot);
    const char *argv[] = {r->o->worker,
                          "worker",
                          "--fd",
                          "@fd",
                          t ? t->test->name : "canary",
                          r->o->devices[device],
                          NULL, /* up to four options */
                          NULL,
                          NULL,
                          NULL,
                          NULL,
                          NULL,
                          NULL};
    size_t n = 6;
    if (t && t->test->scene) {
        argv[n++] = "--scene";
        argv[n++] = t->test->scene;
    }
    if (stays)
        argv[n++] = "--stay";
    if (t && r->o->cases.from_scratch)
        argv[n++] = "--from-scratch";
    if (t && r->o->cases.model != MODEL_AUTO) {
        argv[n++] = "--model";
        argv[n] = exec_model_name(r->o->cases.model);
    }
    TRY(process_start(&slot->process, argv, stays, err));
    slot->task = t;
    slot->device = device;
    slot->busy = true;
    slot->ran = 1;
    return STATUS_OK;
}

/* The first task of the queue that its device may run; sick devices' tasks end here. */
static enum status take_ready(struct run *r, struct task **out, struct error *err)
{
    *out = NULL;
    for (struct task *t = r->ready.first, *before = NULL, *next; t; t = next) {
        const size_t d = device_index(r, t);
        next = t->next;
        if (r->canaries[d].health == HEALTH_SICK) {
            queue_take(&r->ready, before);
            TRY(refuse_task(r, t, err));
        } else if (!gated(r, d)) {
            *out = queue_take(&r->ready, before);
            return STATUS_OK;
        } else {
            before = t;
        }
    }
    return STATUS_OK;
}

/* The next of the list: known by the journal, or into the queue. */
static enum status take_next(struct run *r, struct error *err)
{
    struct task *t = &r->tasks[r->next++];
    if (r->o->wanted && !r->o->wanted(r->o->each_ctx, t->device, t->test)) {
        r->done++;
        return STATUS_OK;
    }
    if (r->journal && r->o->resume) {
        struct arena a = {0};
        bool whole;
        enum status s = journal_take(r, &a, t, &whole, err);
        if (s == STATUS_OK && whole)
            s = finish_task(r, t, true, err);
        else if (s == STATUS_OK && t->attempts.count)
            s = advance_task(r, t, err);
        else if (s == STATUS_OK)
            queue_add(&r->ready, t);
        arena_free(&a);
        return s;
    }
    queue_add(&r->ready, t);
    return STATUS_OK;
}

/* Starts something, where a slot is free: a canary that is due, what waits, or the next of the list.
 * *started false: nothing can be started now. */
static enum status start_next(struct run *r, bool *started, struct error *err)
{
    *started = false;
    for (;;) {
        struct task *t;
        for (size_t d = 0; r->o->canary_s > 0 && d < r->o->device_count; d++) {
            struct canary *c = &r->canaries[d];
            const bool wanted = device_wanted(r, d);
            if (!canary_due(c, r->o->canary_s, r->held[d].first != NULL,
                            !wanted && device_idle(r, d), wanted))
                continue;
            TRY(start_worker(r, NULL, d, err));
            c->running = *started = true;
            c->started = clock_s();
            return STATUS_OK;
        }
        TRY(take_ready(r, &t, err));
        if (t) {
            *started = true;
            return start_worker(r, t, device_index(r, t), err);
        }
        if (r->next == r->task_count || r->ready.first)
            return STATUS_OK;
        TRY(take_next(r, err));
    }
}

/* A canary came back: what had ended before it was asked may be told. */
static enum status end_canary(struct run *r, struct slot *slot, struct error *err)
{
    struct arena a = {0};
    struct conform_result result;
    struct canary *c = &r->canaries[slot->device];
    struct queue *held = &r->held[slot->device];
    const bool answered = c->answered;
    enum status s = STATUS_OK;
    process_result(&slot->process, &a, &result);
    process_close(&slot->process, true);
    slot->busy = false;
    canary_take(c, &result);
    arena_free(&a);
    r->sum->sick += c->health == HEALTH_SICK;
    r->sum->canaries += c->health == HEALTH_WELL && c->known;
    r->sum->wrong_canaries += !answered && c->answered && !c->known;
    for (struct task *before = NULL, *t = held->first, *next; s == STATUS_OK && t; t = next) {
        next = t->next;
        if (c->health == HEALTH_SICK ||
            (c->health == HEALTH_WELL && t->attempts.last->ended <= c->started)) {
            queue_take(held, before);
            s = finish_task(r, t, false, err);
        } else {
            before = t;
        }
    }
    return s;
}

/* Waits for something to read, or 20 ms: then budgets and memory are looked at again. */
static void wait_for_news(const struct run *r, struct arena *a)
{
    struct pollfd *fds = ARENA_ARRAY(a, struct pollfd, 2 * (size_t)r->jobs);
    nfds_t n = 0;
    for (unsigned i = 0; fds && i < r->jobs; i++) {
        const struct process *p = &r->slots[i].process;
        if (!r->slots[i].busy)
            continue;
        if (p->report >= 0)
            fds[n++] = (struct pollfd){.fd = p->report, .events = POLLIN};
        if (p->output >= 0)
            fds[n++] = (struct pollfd){.fd = p->output, .events = POLLIN};
    }
    poll(fds, n, 20);
}

/* The time is over: what runs is ended without a result, what waits is left out. A case that has
 * failed and was to run again ends as it is. */
static enum status leave_rest(struct run *r, struct error *err)
{
    enum status s = STATUS_OK;
    r->over = true;
    r->done += r->task_count - r->next;
    r->next = r->task_count;
    for (unsigned i = 0; i < r->jobs; i++)
        if (r->slots[i].busy && r->slots[i].task) {
            close_slot(&r->slots[i]);
            queue_add(&r->ready, r->slots[i].task);
        }
    while (s == STATUS_OK && r->ready.first) {
        struct task *t = queue_take(&r->ready, NULL);
        if (!t->attempts.count)
            r->done++;
        else if (r->o->canary_s > 0)
            queue_add(&r->held[device_index(r, t)], t);
        else
            s = finish_task(r, t, false, err);
    }
    return s;
}

static enum status run_tasks(struct run *r, struct error *err)
{
    enum status s = STATUS_OK;
    while (s == STATUS_OK && r->done < r->task_count) {
        if (cancel_requested)
            return error_msg(err, STATUS_CANCELLED, "interrupted after %zu of %zu cases", r->done,
                             r->task_count);
        if (r->o->deadline > 0 && !r->over && clock_s() >= r->o->deadline)
            TRY(leave_rest(r, err));
        for (bool started = true; s == STATUS_OK && started && free_slot(r, 0, false);)
            s = start_next(r, &started, err);
        if (s != STATUS_OK || r->done == r->task_count)
            break;
        struct arena a = {0};
        wait_for_news(r, &a);
        arena_free(&a);
        for (unsigned i = 0; i < r->jobs && s == STATUS_OK; i++) {
            struct slot *slot = &r->slots[i];
            const struct process_limits *limits =
                slot->task || !r->canaries[slot->device].answered ? &r->limits : &r->canary_limits;
            if (!slot->busy || !process_step(&slot->process, limits))
                continue;
            if (cancel_requested)
                break; /* its end may be our user's Ctrl-C: it runs again on resume */
            s = slot->task ? end_run(r, slot, err) : end_canary(r, slot, err);
        }
    }
    return s;
}

enum status conform_run(const struct conform_options *o, struct conform_summary *sum,
                        struct error *err)
{
    struct conform_summary total = {0};
    struct run r = {.o = o, .sum = &total};
    enum status s = prepare(&r, err);
    if (s == STATUS_OK) {
        s = run_tasks(&r, err);
        for (unsigned i = 0; i < r.jobs; i++)
            close_slot(&r.slots[i]);
    }
    for (size_t i = 0; r.tasks && i < r.task_count; i++)
        attempts_free(&r.tasks[i].attempts);
    journal_close(r.journal);
    arena_free(&r.arena);
    *sum = total;
    return s;
}

size_t conform_findings(const struct conform_summary *sum) { return sum->outcomes.findings; }
