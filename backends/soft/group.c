/* SPDX-License-Identifier: Apache-2.0 */
/* Running a launch: work-groups over threads; the items of a group one after the other, or, where
 * the kernel has barriers, each on a stack of its own, in turns from barrier to barrier. */
#include "soft.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

_Thread_local struct worker *worker_self;

enum { FIBER_BARRIER_NONE = 0xFFFFFFFFu };
struct fiber {
    ucontext_t context, back;
    unsigned char *stack;
    struct private_memory private;
    uint32_t local[3], item;
    uint32_t barrier; /* the one it stands at */
    bool done;
    struct worker *worker;
};

/* ---- workers -------------------------------------------------------------------------------- */

static bool private_make(struct private_memory *p)
{
    p->bytes = pages_map(PRIVATE_BYTES);
    p->shadow = pages_map(PRIVATE_BYTES);
    p->used = PRIVATE_GAP;
    return p->bytes && p->shadow;
}
static void private_free(struct private_memory *p)
{
    pages_unmap(p->bytes, PRIVATE_BYTES);
    pages_unmap(p->shadow, PRIVATE_BYTES);
}

struct worker *workers_make(unsigned count, unsigned checks)
{
    struct worker *all = calloc(count, sizeof *all);
    for (unsigned i = 0; all && i < count; i++) {
        struct worker *w = &all[i];
        w->local_bytes = pages_map(SOFT_LOCAL_MAX);
        w->local_shadow = pages_map(SOFT_LOCAL_MAX);
        w->scratch = pages_map(SCRATCH_BYTES);
        if (checks & SOFT_RACES)
            w->local_cells = pages_map(SOFT_LOCAL_MAX / 4 * sizeof(struct cell));
        if (!w->local_bytes || !w->local_shadow || !w->scratch || !private_make(&w->own)) {
            workers_free(all, count);
            return NULL;
        }
    }
    return all;
}

static void fibers_free(struct worker *w)
{
    for (size_t i = 0; i < w->fiber_count; i++) {
        pages_unmap(w->fibers[i].stack, FIBER_STACK);
        private_free(&w->fibers[i].private);
    }
    free(w->fibers);
    w->fibers = NULL;
    w->fiber_count = 0;
}

void workers_free(struct worker *w, unsigned count)
{
    for (unsigned i = 0; w && i < count; i++) {
        fibers_free(&w[i]);
        pages_unmap(w[i].local_bytes, SOFT_LOCAL_MAX);
        pages_unmap(w[i].local_shadow, SOFT_LOCAL_MAX);
        pages_unmap(w[i].local_cells, SOFT_LOCAL_MAX / 4 * sizeof(struct cell));
        pages_unmap(w[i].scratch, SCRATCH_BYTES);
        private_free(&w[i].own);
        free(w[i].arguments);
    }
    free(w);
}

static bool fibers_make(struct worker *w, uint32_t count)
{
    if (w->fiber_count >= count)
        return true;
    fibers_free(w);
    w->fibers = calloc(count, sizeof *w->fibers);
    for (uint32_t i = 0; w->fibers && i < count; i++) {
        struct fiber *f = &w->fibers[i];
        w->fiber_count = i + 1;
        f->worker = w;
        f->stack = pages_map(FIBER_STACK);
        if (!f->stack || !private_make(&f->private))
            return false;
    }
    return w->fibers != NULL;
}

/* ---- one work-item -------------------------------------------------------------------------- */

static void item_place(const struct launch *l, uint32_t index, uint32_t local[3])
{
    local[0] = index % l->group[0];
    local[1] = index / l->group[0] % l->group[1];
    local[2] = index / l->group[0] / l->group[1];
}

static void item_run(struct worker *w)
{
    if (!setjmp(w->out))
        w->launch->entry(w->arguments);
    else
        w->private->used = PRIVATE_GAP;
}

bool launch_stops(struct launch *l)
{
    if (l->deadline_s > 0.0 && clock_s() > l->deadline_s && !atomic_exchange(&l->stop, true))
        soft_finding_add(l->device, SOFT_OVERRUN, "%s ran longer than its budget of %.3g s",
                         l->kernel->name, l->device->options.launch_budget_s);
    return l->stop;
}

static void group_run_plain(struct worker *w)
{
    struct launch *l = w->launch;
    w->private = &w->own;
    for (uint32_t i = 0; i < l->group_size && !launch_stops(l); i++) {
        item_place(l, i, w->local);
        w->item = w->group_index * l->group_size + i;
        item_run(w);
    }
}

/* ---- work-items that wait for each other ---------------------------------------------------- */

static void fiber_main(unsigned high, unsigned low)
{
    struct fiber *f = (struct fiber *)(((uintptr_t)high << 32) | low);
    item_run(f->worker);
    f->done = true;
    swapcontext(&f->context, &f->back);
}

static void fiber_start(struct fiber *f, struct launch *l, uint32_t index)
{
    struct worker *w = f->worker;
    item_place(l, index, f->local);
    f->item = w->group_index * l->group_size + index;
    f->done = false;
    f->barrier = FIBER_BARRIER_NONE;
    f->private.used = PRIVATE_GAP;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = FIBER_STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, (void (*)(void))fiber_main, 2, (unsigned)((uintptr_t)f >> 32),
                (unsigned)(uintptr_t)f);
}

/* Until its next barrier or its end. The jump buffer of item_run belongs to the fiber that set it
 * last, so it is kept with the turn. */
static void fiber_turn(struct worker *w, struct fiber *f, jmp_buf *kept)
{
    memcpy(w->local, f->local, sizeof w->local);
    w->item = f->item;
    w->private = &f->private;
    w->fiber = f;
    memcpy(&w->out, kept, sizeof(jmp_buf));
    swapcontext(&f->back, &f->context);
    memcpy(kept, &w->out, sizeof(jmp_buf));
    w->fiber = NULL;
}

void fiber_yield(struct worker *w, uint32_t barrier)
{
    struct fiber *f = w->fiber;
    f->barrier = barrier;
    swapcontext(&f->context, &f->back);
}

/* All items of the group stand at one barrier, or all are done; anything else is undefined. */
static bool round_check(struct worker *w, uint32_t *waiting)
{
    uint32_t count = w->launch->group_size, barrier = FIBER_BARRIER_NONE;
    bool same = true;
    *waiting = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (w->fibers[i].done)
            continue;
        same &= *waiting == 0 || w->fibers[i].barrier == barrier;
        barrier = w->fibers[i].barrier;
        (*waiting)++;
    }
    if (*waiting == 0 || (*waiting == count && same))
        return true;
    if (finding_is_new(w->launch->device, w->launch->module, UINT32_MAX, SOFT_RACES))
        soft_finding_add(w->launch->device, SOFT_RACES,
                         "%u of the %u items of a work-group of %s stand at a barrier that the "
                         "others do not reach",
                         *waiting, count, w->launch->kernel->name);
    return false;
}

static void group_run_fibers(struct worker *w)
{
    struct launch *l = w->launch;
    jmp_buf *kept = calloc(l->group_size, sizeof *kept);
    if (!kept || !fibers_make(w, l->group_size)) {
        soft_finding_add(l->device, SOFT_OVERRUN, "out of memory for the stacks of a work-group");
        l->stop = true;
        free(kept);
        return;
    }
    for (uint32_t i = 0; i < l->group_size; i++)
        fiber_start(&w->fibers[i], l, i);
    uint32_t waiting = l->group_size;
    while (waiting > 0 && !launch_stops(l)) {
        for (uint32_t i = 0; i < l->group_size; i++)
            if (!w->fibers[i].done)
                fiber_turn(w, &w->fibers[i], &kept[i]);
        w->epoch++;
        if (!round_check(w, &waiting))
            break;
    }
    free(kept);
}

/* ---- launches ------------------------------------------------------------------------------- */

/* Where this worker's arguments are: work-group memory is its own. */
static bool arguments_make(struct worker *w)
{
    const struct launch *l = w->launch;
    size_t n = l->kernel->argument_count, local = l->kernel->local_bytes + l->dynamic_local;
    void **grown = realloc(w->arguments, (2 * n + 1) * sizeof(void *));
    if (!grown)
        return false;
    w->arguments = grown;
    void **pointers = grown + n;
    if (w->local_shadow)
        memset(w->local_shadow, PRIVATE_NONE, SOFT_LOCAL_MAX);
    if (local)
        memset(w->local_shadow, PRIVATE_UNWRITTEN, local);
    for (size_t i = 0; i < n; i++) {
        w->arguments[i] = l->values + l->value_at[i];
        if (l->kernel->arguments[i].kind != SOFT_LOCAL)
            continue;
        local = (local + 15) & ~(size_t)15;
        pointers[i] = w->local_bytes + local;
        w->arguments[i] = &pointers[i];
        memset(w->local_shadow + local, PRIVATE_UNWRITTEN, l->local_sizes[i]);
        local += l->local_sizes[i];
    }
    if (w->local_cells && local)
        memset(w->local_cells, 0, (local + 3) / 4 * sizeof(struct cell));
    return true;
}

static void group_run(void *ctx, size_t index, unsigned thread)
{
    struct launch *l = ctx;
    struct worker *w = &l->device->workers[thread];
    if (l->stop)
        return;
    w->launch = l;
    w->group_index = (uint32_t)index;
    w->group[0] = (uint32_t)(index % l->groups[0]);
    w->group[1] = (uint32_t)(index / l->groups[0] % l->groups[1]);
    w->group[2] = (uint32_t)(index / l->groups[0] / l->groups[1]);
    w->epoch = 0;
    if (!arguments_make(w)) {
        l->stop = true;
        soft_finding_add(l->device, SOFT_OVERRUN, "out of memory for a launch's arguments");
        return;
    }
    worker_self = w;
    if (l->kernel->barriers)
        group_run_fibers(w);
    else
        group_run_plain(w);
    worker_self = NULL;
}

void launch_run(struct launch *l)
{
    struct soft_device *d = l->device;
    size_t groups = (size_t)l->groups[0] * l->groups[1] * l->groups[2];
    l->deadline_s = d->options.launch_budget_s > 0.0 ? clock_s() + d->options.launch_budget_s : 0.0;
    for (unsigned i = 0; i < d->worker_count; i++)
        d->workers[i].last = NULL;
    parallel_for(groups, d->worker_count, group_run, l);
}
