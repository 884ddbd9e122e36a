/* SPDX-License-Identifier: Apache-2.0 */
/* conform_run: every selected case on every device, each in a worker process of its own. */
#include "conformance.h"
#include "identity.h"
#include "journal.h"
#include "process.h"
#include "skips.h"
#include "waivers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One case on one device. */
struct task {
    const struct conform_case *test;
    const char *device;
};

struct slot {
    struct process process;
    const struct task *task;
    bool busy;
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
    struct process_limits limits;
    struct slot *slots;
    unsigned jobs;
};

static uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)4 << 30;
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
    if (!r->tasks || !r->infos)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", r->task_count);
    struct task *t = r->tasks;
    for (size_t d = 0; d < o->device_count; d++)
        for (size_t c = 0; c < r->case_count; c++)
            *t++ = (struct task){&r->cases[c], o->devices[d]};
    return STATUS_OK;
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
        .memory = o->memory_limit ? o->memory_limit : machine_memory() / 4 * 3 / r->jobs};
    r->slots = ARENA_ARRAY(&r->arena, struct slot, r->jobs);
    if (!r->slots)
        return error_msg(err, STATUS_MEMORY, "out of memory for the workers");
    return o->begin ? o->begin(o->each_ctx, err) : STATUS_OK;
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

/* A result enters the journal (unless it comes from there), the store, the sums, and is told. */
static enum status finish_task(struct run *r, const struct task *t, struct conform_result *result,
                               bool resumed, struct error *err)
{
    const struct conform_options *o = r->o;
    enum status s = STATUS_OK;
    struct arena a = {0};
    if (r->journal && !resumed)
        s = journal_add(r->journal, t->test->name, t->device, result, err);
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
                                       .listed = t->test->listed};
    told.outcome = outcome_of_case(&record);
    outcome_add(&r->sum->outcomes, &told.outcome);
    if (s == STATUS_OK && o->store) {
        s = store_add_identity(o->store, o->run, told.identity, err);
        if (s == STATUS_OK)
            s = store_add_case(o->store, o->run, &record, err);
        for (size_t i = 0; s == STATUS_OK && i < told.image_count; i++) {
            struct image_record image = told.images[i];
            image.identity = told.identity->key;
            s = store_add_image(o->store, o->run, &image, err);
        }
    }
    r->done++;
    r->sum->count[told.verdict]++;
    r->sum->total++;
    r->sum->waived += waived;
    r->sum->resumed += resumed;
    if (s == STATUS_OK && o->each)
        o->each(o->each_ctx, r->done, r->task_count, t->device, t->test, &told);
    arena_free(&a);
    return s;
}

static const struct identity *case_identity(const struct run *r, struct arena *a,
                                            const struct task *t, const struct identity *inputs,
                                            struct error *err)
{
    return identity_of_case(a, r->program, r->environment, r->devices[device_index(r, t)],
                            t->test->name, inputs, r->o->from_scratch, err);
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

/* The journal's result with the identity that the case has now, if there is one; else, if there is
 * another, what differs is told. */
static enum status journal_take(struct run *r, struct arena *a, const struct task *t,
                                const struct conform_result **out, struct error *err)
{
    const struct identity *newest = NULL, *now_newest = NULL;
    *out = NULL;
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
            *out = &e->result;
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

static enum status start_next(struct run *r, struct slot *slot, struct error *err)
{
    const struct task *t = &r->tasks[r->next++];
    if (r->o->wanted && !r->o->wanted(r->o->each_ctx, t->device, t->test)) {
        r->done++;
        return STATUS_OK;
    }
    if (r->journal && r->o->resume) {
        struct arena a = {0};
        const struct conform_result *known;
        enum status s = journal_take(r, &a, t, &known, err);
        if (s == STATUS_OK && known) {
            struct conform_result copy = *known;
            s = finish_task(r, t, &copy, true, err);
        }
        arena_free(&a);
        if (s != STATUS_OK || known)
            return s;
    }
    const char *argv[] = {r->o->worker,  "worker",  "--fd", "@fd",
                          t->test->name, t->device, NULL, /* up to three options */
                          NULL,          NULL,      NULL};
    size_t n = 6;
    if (t->test->scene) {
        argv[n++] = "--scene";
        argv[n++] = t->test->scene;
    }
    if (r->o->from_scratch)
        argv[n] = "--from-scratch";
    enum status s = process_start(&slot->process, argv, err);
    if (s == STATUS_OK) {
        slot->task = t;
        slot->busy = true;
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

static enum status run_tasks(struct run *r, struct error *err)
{
    enum status s = STATUS_OK;
    while (s == STATUS_OK && r->done < r->task_count) {
        if (cancel_requested)
            return error_msg(err, STATUS_CANCELLED, "interrupted after %zu of %zu cases", r->done,
                             r->task_count);
        for (unsigned i = 0; i < r->jobs && s == STATUS_OK; i++)
            while (!r->slots[i].busy && r->next < r->task_count && s == STATUS_OK)
                s = start_next(r, &r->slots[i], err);
        if (s != STATUS_OK || r->done == r->task_count)
            break;
        struct arena a = {0};
        wait_for_news(r, &a);
        for (unsigned i = 0; i < r->jobs && s == STATUS_OK; i++) {
            struct slot *slot = &r->slots[i];
            if (!slot->busy || !process_step(&slot->process, &r->limits))
                continue;
            if (cancel_requested)
                break; /* its end may be our user's Ctrl-C: it runs again on resume */
            struct conform_result result;
            process_result(&slot->process, &a, &result);
            s = identify_result(r, &a, slot->task, &slot->process.inputs, &result, err);
            process_close(&slot->process);
            slot->busy = false;
            if (s == STATUS_OK)
                s = finish_task(r, slot->task, &result, false, err);
        }
        arena_free(&a);
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
            if (r.slots[i].busy)
                process_close(&r.slots[i].process);
    }
    journal_close(r.journal);
    arena_free(&r.arena);
    if (s == STATUS_OK || s == STATUS_CANCELLED)
        *sum = total;
    return s;
}

size_t conform_findings(const struct conform_summary *sum) { return sum->outcomes.findings; }
