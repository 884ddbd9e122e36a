/* SPDX-License-Identifier: Apache-2.0 */
/* The Level Zero driver in software: events, fences, command lists, queues.
 *
 * Order, as the specification has it: commands of a queue begin in order and end in any order;
 * barriers and events are what later commands may rely on. Work is queued in the executor when its
 * events are at least on their way, and runs when the host waits. */
#include "ze_driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- queues: order -------------------------------------------------------------------------- */

/* The stream of the next command, which comes after the last barrier. */
static struct soft_stream *stream_next(struct queue *q, size_t *index)
{
    *index = q->next_stream++ % QUEUE_STREAMS;
    struct soft_stream *s = q->streams[*index];
    soft_stream_after(s, q->barrier);
    return s;
}

/* Everything so far. */
static struct soft_point queue_join(struct queue *q)
{
    soft_stream_after(q->joins, q->barrier);
    for (size_t i = 0; i < QUEUE_STREAMS; i++)
        soft_stream_after(q->joins, q->open[i]);
    return soft_stream_point(q->joins);
}

static void queue_barrier(struct queue *q, const struct op *op)
{
    if (op->wait_count == 0) {
        q->barrier = queue_join(q);
        memset(q->open, 0, sizeof q->open);
        return;
    }
    size_t index; /* with events it waits for them alone */
    struct soft_stream *s = stream_next(q, &index);
    for (uint32_t i = 0; i < op->wait_count; i++)
        soft_stream_after(s, op->waits[i]->point);
    q->barrier = q->open[index] = soft_stream_point(s);
}

static void event_queue(struct event *e, struct soft_point p)
{
    if (!e)
        return;
    e->state = EVENT_QUEUED;
    e->point = p;
}

/* Times of a kernel go into its event, where those of the kernel before it may still be read. */
static void times_check(const struct event *e)
{
    if (e && e->pool->timestamps && e->state != EVENT_CLEAR && driver_checks(SOFT_WAITS))
        soft_finding_add(soft_driver.executor, SOFT_WAITS,
                         "an event that keeps a kernel's times is used again before it was reset");
}

static bool op_ready(const struct op *op)
{
    for (uint32_t i = 0; i < op->wait_count; i++)
        if (op->waits[i]->state == EVENT_CLEAR)
            return false;
    return true;
}

/* Hands one command to the executor. */
static enum status op_queue(struct queue *q, const struct op *op)
{
    if (op->kind == OP_BARRIER) {
        queue_barrier(q, op);
        event_queue(op->signal, q->barrier);
        return STATUS_OK;
    }
    size_t index;
    struct soft_stream *s = stream_next(q, &index);
    enum status st = STATUS_OK;
    for (uint32_t i = 0; i < op->wait_count; i++)
        soft_stream_after(s, op->waits[i]->point);
    if (op->kind == OP_COPY)
        st = soft_copy(s, op->to, op->from, op->bytes, NULL);
    else if (op->kind == OP_FILL)
        st = soft_fill(s, op->to, op->pattern, op->pattern_size, op->bytes, NULL);
    else if (op->kind == OP_LAUNCH) {
        times_check(op->signal);
        st = soft_launch(s, &op->launch, NULL);
    } else if (op->kind == OP_RESET)
        op->reset->state = EVENT_CLEAR;
    q->open[index] = soft_stream_point(s);
    event_queue(op->signal, q->open[index]);
    return st;
}

/* The first submission as far as its events let it; true when something was queued. */
static bool submission_advance(struct queue *q)
{
    struct submission *s = q->backlog;
    bool moved = false;
    if (!s)
        return false;
    while (s->at < s->list->count && op_ready(&s->list->ops[s->at])) {
        enum status st = op_queue(q, &s->list->ops[s->at++]);
        if (st != STATUS_OK && q->failed == ZE_RESULT_SUCCESS)
            q->failed = result_of(st);
        moved = true;
    }
    if (s->at < s->list->count)
        return moved;
    s->list->point = queue_join(q);
    s->list->submitted--;
    if (s->fence) {
        s->fence->point = s->list->point;
        s->fence->queued = true;
    }
    q->backlog = s->next;
    free(s);
    return true;
}

/* Events of one queue may let others go on. */
static void queues_advance(void)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (struct queue *q = soft_driver.queues; q; q = q->next)
            while (submission_advance(q))
                moved = true;
    }
}

/* The host waits for something that nothing will ever bring. */
static ze_result_t stuck(const char *what, uint64_t timeout)
{
    if (timeout != UINT64_MAX)
        return ZE_RESULT_NOT_READY;
    soft_finding_add(soft_driver.executor, SOFT_WAITS,
                     "the host waits for %s, which nothing that is queued will signal", what);
    return ZE_RESULT_ERROR_DEVICE_LOST;
}

static ze_result_t point_wait(struct soft_point p)
{
    struct error err;
    return result_of(soft_wait(soft_driver.executor, p, &err));
}

/* ---- queues: the interface ------------------------------------------------------------------ */

static void queue_free(struct queue *q)
{
    for (struct queue **at = &soft_driver.queues; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            break;
        }
    for (size_t i = 0; i < QUEUE_STREAMS; i++)
        soft_stream_close(q->streams[i]);
    soft_stream_close(q->joins);
    while (q->backlog) {
        struct submission *s = q->backlog;
        q->backlog = s->next;
        s->list->submitted--;
        free(s);
    }
    free(q);
}

static ze_result_t queue_make(ze_command_queue_mode_t mode, struct queue **out)
{
    struct queue *q = calloc(1, sizeof *q);
    enum status s = q ? STATUS_OK : STATUS_MEMORY;
    for (size_t i = 0; s == STATUS_OK && i < QUEUE_STREAMS; i++)
        s = soft_stream_open(soft_driver.executor, &q->streams[i], NULL);
    if (s == STATUS_OK)
        s = soft_stream_open(soft_driver.executor, &q->joins, NULL);
    if (s != STATUS_OK) {
        if (q)
            queue_free(q);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    q->synchronous = mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    q->next = soft_driver.queues;
    soft_driver.queues = q;
    *out = q;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL queue_create(ze_context_handle_t context, ze_device_handle_t device,
                                           const ze_command_queue_desc_t *desc,
                                           ze_command_queue_handle_t *out)
{
    (void)context, (void)device;
    LOCKED;
    if (desc->ordinal != 0)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return queue_make(desc->mode, (struct queue **)out);
}

static ze_result_t ZE_APICALL queue_destroy(ze_command_queue_handle_t handle)
{
    LOCKED;
    struct queue *q = (struct queue *)handle;
    bool known = soft_host_knows(soft_driver.executor, q->barrier) && !q->backlog;
    for (size_t i = 0; i < QUEUE_STREAMS; i++)
        known &= soft_host_knows(soft_driver.executor, q->open[i]);
    if (driver_checks(SOFT_WAITS) && !known)
        soft_finding_add(soft_driver.executor, SOFT_WAITS,
                         "a command queue is destroyed before the host waited for its work");
    queue_free(q);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t queue_wait(struct queue *q, uint64_t timeout)
{
    queues_advance();
    if (q->backlog)
        return stuck("a queue that waits for an event", timeout);
    ze_result_t code = point_wait(queue_join(q));
    if (code == ZE_RESULT_SUCCESS)
        code = q->failed;
    q->failed = ZE_RESULT_SUCCESS;
    return code;
}

/* As if the program had not called: "wait:N". */
static bool wait_dropped(void)
{
    static unsigned waits;
    return driver_drops("wait", &waits);
}

static ze_result_t ZE_APICALL queue_synchronize(ze_command_queue_handle_t handle, uint64_t timeout)
{
    LOCKED;
    return wait_dropped() ? ZE_RESULT_SUCCESS : queue_wait((struct queue *)handle, timeout);
}

static ze_result_t submit(struct queue *q, struct list *l, struct fence *fence)
{
    struct submission *s = calloc(1, sizeof *s), **at = &q->backlog;
    if (!s)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    s->list = l;
    s->fence = fence;
    l->submitted++;
    while (*at)
        at = &(*at)->next;
    *at = s;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL queue_execute(ze_command_queue_handle_t handle, uint32_t count,
                                            ze_command_list_handle_t *lists,
                                            ze_fence_handle_t fence_handle)
{
    LOCKED;
    struct queue *q = (struct queue *)handle;
    struct fence *fence = (struct fence *)fence_handle;
    ze_result_t code = ZE_RESULT_SUCCESS;
    if (count == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    for (uint32_t i = 0; i < count; i++)
        if (!((struct list *)lists[i])->closed)
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (fence && fence->used && driver_checks(SOFT_WAITS))
        soft_finding_add(soft_driver.executor, SOFT_WAITS,
                         "a fence is used again before it was reset");
    for (uint32_t i = 0; i < count && code == ZE_RESULT_SUCCESS; i++)
        code = submit(q, (struct list *)lists[i], i + 1 == count ? fence : NULL);
    if (fence) {
        fence->used = true;
        fence->queued = false;
    }
    queues_advance();
    return code == ZE_RESULT_SUCCESS && q->synchronous ? queue_wait(q, UINT64_MAX) : code;
}

void queue_table(ze_command_queue_dditable_t *t)
{
    t->pfnCreate = queue_create;
    t->pfnDestroy = queue_destroy;
    t->pfnExecuteCommandLists = queue_execute;
    t->pfnSynchronize = queue_synchronize;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void op_free(struct op *op)
{
    for (size_t i = 0; op->launch.values && i < op->launch.kernel->argument_count; i++)
        free((void *)op->launch.values[i].data);
    free((void *)op->launch.values);
    free(op->waits);
    free(op->pattern);
    if (op->module)
        module_release(op->module);
}

static void ops_free(struct list *l)
{
    for (size_t i = 0; i < l->count; i++)
        op_free(&l->ops[i]);
    l->count = 0;
}

static void list_use_check(const struct list *l, const char *what)
{
    if (driver_checks(SOFT_WAITS) &&
        (l->submitted || !soft_host_knows(soft_driver.executor, l->point)))
        soft_finding_add(soft_driver.executor, SOFT_WAITS,
                         "a command list is %s before the host waited for its execution", what);
}

/* Waits for what still needs the list's commands. */
static void list_finish(struct list *l)
{
    for (struct queue *q = soft_driver.queues; l->submitted && q; q = q->next)
        for (struct submission **at = &q->backlog; *at;) {
            struct submission *s = *at;
            if (s->list != l) {
                at = &s->next;
                continue;
            }
            *at = s->next; /* it waits for an event: what is left of it is lost */
            l->submitted--;
            free(s);
        }
}

/* Takes the op over; an immediate list runs it. */
static ze_result_t op_append(struct list *l, struct op op, ze_event_handle_t signal,
                             uint32_t wait_count, ze_event_handle_t *waits)
{
    ze_result_t code = ZE_RESULT_SUCCESS;
    if (l->closed)
        code = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (code == ZE_RESULT_SUCCESS && l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 16;
        struct op *grown = realloc(l->ops, capacity * sizeof *grown);
        if (grown) {
            l->ops = grown;
            l->capacity = capacity;
        } else {
            code = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    op.signal = (struct event *)signal;
    if (code == ZE_RESULT_SUCCESS && wait_count) {
        op.waits = calloc(wait_count, sizeof(struct event *));
        if (!op.waits)
            code = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        for (uint32_t i = 0; op.waits && i < wait_count; i++)
            op.waits[i] = (struct event *)waits[i];
        op.wait_count = op.waits ? wait_count : 0;
    }
    if (code != ZE_RESULT_SUCCESS) {
        op_free(&op);
        return code;
    }
    l->ops[l->count++] = op;
    if (!l->immediate)
        return ZE_RESULT_SUCCESS;
    if (!l->submitted) {
        code = submit(l->immediate, l, NULL);
        l->immediate->backlog->at = l->count - 1;
    }
    queues_advance();
    return code == ZE_RESULT_SUCCESS && l->synchronous ? queue_wait(l->immediate, UINT64_MAX)
                                                       : code;
}

static ze_result_t ZE_APICALL list_create(ze_context_handle_t context, ze_device_handle_t device,
                                          const ze_command_list_desc_t *desc,
                                          ze_command_list_handle_t *out)
{
    (void)context, (void)device;
    LOCKED;
    if (desc->commandQueueGroupOrdinal != 0)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    struct list *l = calloc(1, sizeof *l);
    if (!l)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *out = (ze_command_list_handle_t)l;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL list_create_immediate(ze_context_handle_t context,
                                                    ze_device_handle_t device,
                                                    const ze_command_queue_desc_t *desc,
                                                    ze_command_list_handle_t *out)
{
    (void)context, (void)device;
    LOCKED;
    struct list *l = calloc(1, sizeof *l);
    ze_result_t code =
        l ? queue_make(desc->mode, &l->immediate) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (code != ZE_RESULT_SUCCESS) {
        free(l);
        return code;
    }
    l->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    *out = (ze_command_list_handle_t)l;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL list_destroy(ze_command_list_handle_t handle)
{
    LOCKED;
    struct list *l = (struct list *)handle;
    list_use_check(l, "destroyed");
    list_finish(l);
    if (l->immediate)
        queue_free(l->immediate);
    ops_free(l);
    free(l->ops);
    free(l);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL list_close(ze_command_list_handle_t handle)
{
    LOCKED;
    struct list *l = (struct list *)handle;
    if (l->immediate)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    l->closed = true;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL list_reset(ze_command_list_handle_t handle)
{
    LOCKED;
    struct list *l = (struct list *)handle;
    list_use_check(l, "reset");
    list_finish(l);
    ops_free(l);
    l->closed = false;
    return ZE_RESULT_SUCCESS;
}

/* ---- appending ------------------------------------------------------------------------------ */

static ze_result_t ZE_APICALL append_barrier(ze_command_list_handle_t list,
                                             ze_event_handle_t signal, uint32_t wait_count,
                                             ze_event_handle_t *waits)
{
    LOCKED;
    static unsigned barriers; /* "barrier:N": as if the program had not called */
    if (driver_drops("barrier", &barriers))
        return ZE_RESULT_SUCCESS;
    return op_append((struct list *)list, (struct op){.kind = OP_BARRIER}, signal, wait_count,
                     waits);
}

static ze_result_t ZE_APICALL append_copy(ze_command_list_handle_t list, void *to, const void *from,
                                          size_t bytes, ze_event_handle_t signal,
                                          uint32_t wait_count, ze_event_handle_t *waits)
{
    LOCKED;
    return op_append((struct list *)list,
                     (struct op){.kind = OP_COPY, .to = to, .from = from, .bytes = bytes}, signal,
                     wait_count, waits);
}

static ze_result_t ZE_APICALL append_fill(ze_command_list_handle_t list, void *to,
                                          const void *pattern, size_t pattern_size, size_t bytes,
                                          ze_event_handle_t signal, uint32_t wait_count,
                                          ze_event_handle_t *waits)
{
    LOCKED;
    if (pattern_size == 0 || pattern_size > 128 || (pattern_size & (pattern_size - 1)) != 0 ||
        bytes % pattern_size != 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    unsigned char *copy = malloc(pattern_size);
    if (!copy)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(copy, pattern, pattern_size);
    return op_append((struct list *)list,
                     (struct op){.kind = OP_FILL,
                                 .to = to,
                                 .pattern = copy,
                                 .pattern_size = pattern_size,
                                 .bytes = bytes},
                     signal, wait_count, waits);
}

/* The kernel's arguments as they are now. */
static ze_result_t values_copy(const struct kernel *k, struct soft_value **out)
{
    size_t count = k->code->argument_count;
    struct soft_value *values = calloc(count + 1, sizeof *values);
    bool failed = !values;
    for (size_t i = 0; !failed && i < count; i++) {
        const struct value *v = &k->values[i];
        values[i].size = v->size;
        if (!v->data)
            continue;
        void *copy = malloc(v->size);
        failed = !copy;
        if (copy)
            memcpy(copy, v->data, v->size);
        values[i].data = copy;
    }
    for (size_t i = 0; failed && values && i < count; i++)
        free((void *)values[i].data);
    if (failed) {
        free(values);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out = values;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t arguments_check(const struct kernel *k)
{
    for (size_t i = 0; i < k->code->argument_count; i++)
        if (k->values[i].size == 0) {
            if (driver_checks(SOFT_ARGUMENTS))
                soft_finding_add(soft_driver.executor, SOFT_ARGUMENTS,
                                 "argument %zu of %s was never set", i, k->code->name);
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL append_launch(ze_command_list_handle_t list,
                                            ze_kernel_handle_t handle,
                                            const ze_group_count_t *groups,
                                            ze_event_handle_t signal, uint32_t wait_count,
                                            ze_event_handle_t *waits)
{
    LOCKED;
    struct kernel *k = (struct kernel *)handle;
    struct soft_value *values = NULL;
    ze_result_t code = arguments_check(k);
    if (code == ZE_RESULT_SUCCESS)
        code = values_copy(k, &values);
    if (code != ZE_RESULT_SUCCESS)
        return code;
    struct op op = {
        .kind = OP_LAUNCH,
        .module = k->module,
        .launch = {.module = k->module->code,
                   .kernel = k->code,
                   .groups = {groups->groupCountX, groups->groupCountY, groups->groupCountZ},
                   .group = {k->group[0], k->group[1], k->group[2]},
                   .values = values}};
    k->module->users++;
    return op_append((struct list *)list, op, signal, wait_count, waits);
}

static ze_result_t ZE_APICALL append_signal(ze_command_list_handle_t list, ze_event_handle_t event)
{
    LOCKED;
    return op_append((struct list *)list, (struct op){.kind = OP_NOTHING}, event, 0, NULL);
}
static ze_result_t ZE_APICALL append_wait(ze_command_list_handle_t list, uint32_t count,
                                          ze_event_handle_t *events)
{
    LOCKED; /* later commands wait for the events: that is a barrier of theirs */
    return op_append((struct list *)list, (struct op){.kind = OP_BARRIER}, NULL, count, events);
}
static ze_result_t ZE_APICALL append_event_reset(ze_command_list_handle_t list,
                                                 ze_event_handle_t event)
{
    LOCKED;
    return op_append((struct list *)list,
                     (struct op){.kind = OP_RESET, .reset = (struct event *)event}, NULL, 0, NULL);
}

void list_table(ze_command_list_dditable_t *t)
{
    t->pfnCreate = list_create;
    t->pfnCreateImmediate = list_create_immediate;
    t->pfnDestroy = list_destroy;
    t->pfnClose = list_close;
    t->pfnReset = list_reset;
    t->pfnAppendBarrier = append_barrier;
    t->pfnAppendMemoryCopy = append_copy;
    t->pfnAppendMemoryFill = append_fill;
    t->pfnAppendLaunchKernel = append_launch;
    t->pfnAppendSignalEvent = append_signal;
    t->pfnAppendWaitOnEvents = append_wait;
    t->pfnAppendEventReset = append_event_reset;
}

/* ---- events --------------------------------------------------------------------------------- */

static ze_result_t ZE_APICALL pool_create(ze_context_handle_t context,
                                          const ze_event_pool_desc_t *desc, uint32_t device_count,
                                          ze_device_handle_t *devices, ze_event_pool_handle_t *out)
{
    (void)context, (void)device_count, (void)devices;
    struct event_pool *p = calloc(1, sizeof *p);
    if (!p)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    p->count = desc->count;
    p->timestamps = (desc->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP) != 0;
    *out = (ze_event_pool_handle_t)p;
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL pool_destroy(ze_event_pool_handle_t handle)
{
    LOCKED;
    struct event_pool *p = (struct event_pool *)handle;
    if (p->live && driver_checks(SOFT_FREED))
        soft_finding_add(soft_driver.executor, SOFT_FREED,
                         "an event pool is destroyed while %u of its events live", p->live);
    free(p);
    return ZE_RESULT_SUCCESS;
}

void event_pool_table(ze_event_pool_dditable_t *t)
{
    t->pfnCreate = pool_create;
    t->pfnDestroy = pool_destroy;
}

static void event_use_check(const struct event *e, const char *what)
{
    if (e->state == EVENT_QUEUED && driver_checks(SOFT_WAITS) &&
        !soft_host_knows(soft_driver.executor, e->point))
        soft_finding_add(soft_driver.executor, SOFT_WAITS,
                         "an event is %s before the host waited for what signals it", what);
}

static ze_result_t ZE_APICALL event_create(ze_event_pool_handle_t pool, const ze_event_desc_t *desc,
                                           ze_event_handle_t *out)
{
    LOCKED;
    struct event_pool *p = (struct event_pool *)pool;
    if (desc->index >= p->count)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    struct event *e = calloc(1, sizeof *e);
    if (!e)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    e->pool = p;
    p->live++;
    *out = (ze_event_handle_t)e;
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL event_destroy(ze_event_handle_t handle)
{
    LOCKED;
    struct event *e = (struct event *)handle;
    event_use_check(e, "destroyed");
    e->pool->live--;
    free(e);
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL event_host_signal(ze_event_handle_t handle)
{
    LOCKED;
    struct event *e = (struct event *)handle;
    e->state = EVENT_BY_HOST;
    e->point = (struct soft_point){0};
    queues_advance();
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL event_host_reset(ze_event_handle_t handle)
{
    LOCKED;
    struct event *e = (struct event *)handle;
    event_use_check(e, "reset");
    e->state = EVENT_CLEAR;
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL event_synchronize(ze_event_handle_t handle, uint64_t timeout)
{
    LOCKED;
    const struct event *e = (const struct event *)handle;
    queues_advance();
    if (e->state == EVENT_CLEAR)
        return stuck("an event", timeout);
    return point_wait(e->point);
}
static ze_result_t ZE_APICALL event_status(ze_event_handle_t handle)
{
    LOCKED;
    const struct event *e = (const struct event *)handle;
    queues_advance();
    return e->state == EVENT_CLEAR ? ZE_RESULT_NOT_READY : point_wait(e->point);
}
static ze_result_t ZE_APICALL event_timestamp(ze_event_handle_t handle,
                                              ze_kernel_timestamp_result_t *out)
{
    LOCKED;
    const struct event *e = (const struct event *)handle;
    uint64_t start, end;
    if (!e->pool->timestamps)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (e->state != EVENT_QUEUED || !soft_times(soft_driver.executor, e->point, NULL, &start, &end))
        return ZE_RESULT_NOT_READY;
    const uint64_t mask = (UINT64_C(1) << TIMESTAMP_BITS) - 1;
    out->global.kernelStart = out->context.kernelStart = start & mask;
    out->global.kernelEnd = out->context.kernelEnd = end & mask;
    return ZE_RESULT_SUCCESS;
}

void event_table(ze_event_dditable_t *t)
{
    t->pfnCreate = event_create;
    t->pfnDestroy = event_destroy;
    t->pfnHostSignal = event_host_signal;
    t->pfnHostReset = event_host_reset;
    t->pfnHostSynchronize = event_synchronize;
    t->pfnQueryStatus = event_status;
    t->pfnQueryKernelTimestamp = event_timestamp;
}

/* ---- fences --------------------------------------------------------------------------------- */

static ze_result_t ZE_APICALL fence_create(ze_command_queue_handle_t queue,
                                           const ze_fence_desc_t *desc, ze_fence_handle_t *out)
{
    struct fence *f = calloc(1, sizeof *f);
    if (!f)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    f->queue = (struct queue *)queue;
    f->queued = (desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0;
    *out = (ze_fence_handle_t)f;
    return ZE_RESULT_SUCCESS;
}
static ze_result_t ZE_APICALL fence_destroy(ze_fence_handle_t handle)
{
    LOCKED;
    struct fence *f = (struct fence *)handle;
    if (f->used && driver_checks(SOFT_WAITS) &&
        (!f->queued || !soft_host_knows(soft_driver.executor, f->point)))
        soft_finding_add(soft_driver.executor, SOFT_WAITS,
                         "a fence is destroyed before the host waited for it");
    free(f);
    return ZE_RESULT_SUCCESS;
}
static ze_result_t fence_wait(struct fence *f, uint64_t timeout)
{
    queues_advance();
    if (!f->queued)
        return stuck("a fence", timeout);
    ze_result_t code = point_wait(f->point);
    if (code == ZE_RESULT_SUCCESS) {
        code = f->queue->failed;
        f->queue->failed = ZE_RESULT_SUCCESS;
    }
    return code;
}
static ze_result_t ZE_APICALL fence_synchronize(ze_fence_handle_t handle, uint64_t timeout)
{
    LOCKED;
    return wait_dropped() ? ZE_RESULT_SUCCESS : fence_wait((struct fence *)handle, timeout);
}
static ze_result_t ZE_APICALL fence_status(ze_fence_handle_t handle)
{
    LOCKED;
    return fence_wait((struct fence *)handle, 0);
}
static ze_result_t ZE_APICALL fence_reset(ze_fence_handle_t handle)
{
    LOCKED;
    struct fence *f = (struct fence *)handle;
    f->used = f->queued = false;
    f->point = (struct soft_point){0};
    return ZE_RESULT_SUCCESS;
}

void fence_table(ze_fence_dditable_t *t)
{
    t->pfnCreate = fence_create;
    t->pfnDestroy = fence_destroy;
    t->pfnHostSynchronize = fence_synchronize;
    t->pfnQueryStatus = fence_status;
    t->pfnReset = fence_reset;
}
