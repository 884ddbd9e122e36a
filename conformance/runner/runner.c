/* conform_run: every selected case on every device, each in a worker process of its own. */
#include "conformance.h"
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
    const char *scene_hash;
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
    struct device_info *infos; /* by device, for waivers; id "" when not asked for */
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

/* Identity of what decides verdicts: the worker program's bytes. */
static enum status program_identity(const char *path, char hex[33], struct error *err)
{
    FILE *f = fopen(path, "rbe");
    struct hash *h = f ? hash_open() : NULL;
    static char buf[65536];
    size_t n;
    if (!h) {
        if (f)
            fclose(f);
        return error_msg(err, STATUS_MISSING, "the worker program %s cannot be read: %s", path,
                         strerror(errno));
    }
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        hash_add(h, buf, n);
    bool bad = ferror(f) != 0;
    fclose(f);
    hash_close(h, hex);
    return bad ? error_msg(err, STATUS_IO, "the worker program %s cannot be read", path)
               : STATUS_OK;
}

/* Of the scene file itself; a file that cannot be read is the case's affair. */
static const char *scene_hash(struct arena *a, const char *path)
{
    char *data, hex[33];
    size_t size;
    struct arena tmp = {0};
    const char *out = "";
    if (path && file_read(&tmp, path, 0, &data, &size, NULL) == STATUS_OK) {
        hash_bytes(data, size, hex);
        out = arena_strdup(a, hex);
    }
    arena_free(&tmp);
    return out;
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
    const char **hashes = ARENA_ARRAY(&r->arena, const char *, r->case_count);
    if (!r->tasks || !r->infos || !hashes)
        return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", r->task_count);
    for (size_t i = 0; i < r->case_count; i++) {
        const char *scene = r->cases[i].scene;
        hashes[i] = NULL; /* scenes recur: hash each once */
        for (size_t k = i; scene && k-- > 0 && !hashes[i];)
            if (r->cases[k].scene && strcmp(r->cases[k].scene, scene) == 0)
                hashes[i] = hashes[k];
        if (!hashes[i])
            hashes[i] = scene_hash(&r->arena, scene);
        if (!hashes[i])
            return error_msg(err, STATUS_MEMORY, "out of memory for %zu cases", r->task_count);
    }
    struct task *t = r->tasks;
    for (size_t d = 0; d < o->device_count; d++)
        for (size_t c = 0; c < r->case_count; c++)
            *t++ = (struct task){&r->cases[c], o->devices[d], hashes[c]};
    return STATUS_OK;
}

static enum status prepare(struct run *r, struct error *err)
{
    const struct conform_options *o = r->o;
    char today[32], identity[33];
    enum status s;
    if (!o->worker || o->device_count == 0)
        return error_msg(err, STATUS_ARG, "a conformance run needs devices and a worker program");
    if ((s = plan(r, err)) != STATUS_OK ||
        (s = program_identity(o->worker, identity, err)) != STATUS_OK)
        return s;
    clock_utc(today);
    today[10] = 0;
    if (o->waivers) {
        if ((s = waivers_read(&r->arena, o->waivers, today, &r->waivers, err)) != STATUS_OK)
            return s;
        r->sum->expired_waivers = r->waivers.expired;
        for (size_t d = 0; d < o->device_count;
             d++) /* an unknown device has neither name nor driver */
            device_find(o->devices[d], &r->infos[d], NULL);
    }
    if (o->skips) {
        if ((s = skips_read(&r->arena, o->skips, &r->skips, err)) != STATUS_OK)
            return s;
        r->skipped = ARENA_ARRAY(&r->arena, size_t, r->skips.count * o->device_count + 1);
        if (!r->skipped)
            return error_msg(err, STATUS_MEMORY, "out of memory for %zu skips", r->skips.count);
    }
    if (o->journal &&
        (s = journal_open(o->journal, identity, o->resume, &r->journal, err)) != STATUS_OK)
        return s;
    r->jobs = o->jobs ? o->jobs : 1;
    if (r->jobs > r->task_count)
        r->jobs = r->task_count ? (unsigned)r->task_count : 1;
    r->limits = (struct process_limits){
        .compile_s = o->compile_budget_s > 0 ? o->compile_budget_s : 300,
        .run_s = o->run_budget_s > 0 ? o->run_budget_s : 120,
        .memory = o->memory_limit ? o->memory_limit : machine_memory() / 4 * 3 / r->jobs};
    r->slots = ARENA_ARRAY(&r->arena, struct slot, r->jobs);
    return r->slots ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for the workers");
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
        s = journal_add(r->journal, t->test->name, t->device, t->scene_hash, result, err);
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
    if (objection) {
        told.reason = arena_printf(&a, "%s [%s]", reason, objection);
        r->sum->unexpected_skip++;
    }
    if (s == STATUS_OK && o->store) {
        const struct case_record record = {.name = t->test->name,
                                           .device = t->device,
                                           .verdict = told.verdict,
                                           .reason = told.reason,
                                           .replay = told.replay,
                                           .detail = told.detail,
                                           .compile_s = told.compile_s,
                                           .run_s = told.run_s,
                                           .waived = waived};
        s = store_add_case(o->store, o->run, &record, err);
        for (size_t i = 0; s == STATUS_OK && i < told.image_count; i++)
            s = store_add_image(o->store, o->run, &told.images[i], err);
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

static enum status start_next(struct run *r, struct slot *slot, struct error *err)
{
    const struct task *t = &r->tasks[r->next++];
    if (r->o->wanted && !r->o->wanted(r->o->each_ctx, t->device, t->test)) {
        r->done++;
        return STATUS_OK;
    }
    if (r->journal) {
        const struct conform_result *known =
            journal_find(r->journal, t->test->name, t->device, t->scene_hash);
        if (known) {
            struct conform_result copy = *known;
            return finish_task(r, t, &copy, true, err);
        }
    }
    const char *const argv[] = {r->o->worker,
                                "worker",
                                "--fd",
                                "@fd",
                                t->test->name,
                                t->device,
                                t->test->scene ? "--scene" : NULL,
                                t->test->scene,
                                NULL};
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
            process_close(&slot->process);
            slot->busy = false;
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

size_t conform_findings(const struct conform_summary *sum)
{
    return sum->count[VERDICT_FAIL] + sum->count[VERDICT_ERROR] - sum->waived +
           sum->unexpected_skip;
}
