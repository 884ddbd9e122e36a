/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the Level Zero driver in software: what its handles point to. The real loader loads
 * it when ZE_ENABLE_ALT_DRIVERS names it; the executor (executor.h) does the work. */
#ifndef ISOPHOTE_ZE_DRIVER_H
#define ISOPHOTE_ZE_DRIVER_H

#include "executor.h"

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>
#include <pthread.h>

/* One driver, one device, one executor a process; every entry holds the lock. */
struct driver {
    pthread_mutex_t lock;
    struct soft_device *executor; /* NULL before zeInit */
    struct queue *queues;
};
extern struct driver soft_driver;
static inline void driver_unlock(const int *unused)
{
    (void)unused;
    pthread_mutex_unlock(&soft_driver.lock);
}
#define LOCKED                                                                                     \
    __attribute__((cleanup(driver_unlock), unused)) const int locked =                             \
        pthread_mutex_lock(&soft_driver.lock)

/* $ISOPHOTE_SOFT_ZE_FAULT: this misbehaviour is wanted (docs/contributor/software_devices.md). */
bool driver_wish(const char *name);
/* It is "NAME:N", and this is the Nth time that this is asked with this counter, from 1. */
bool driver_drops(const char *name, unsigned *asked);
/* What the executor says, as Level Zero's codes. */
ze_result_t result_of(enum status s);
/* Any check of the set is asked for. */
static inline bool driver_checks(unsigned set)
{
    return (soft_device_checks(soft_driver.executor) & set) != 0;
}

struct context {
    int unused;
};

/* ---- modules and kernels (ze_module.c) ------------------------------------------------------ */

struct module {
    struct soft_module *code;
    size_t users;   /* kernels, and launches in command lists */
    bool destroyed; /* by the program, while there were users */
};
struct kernel {
    struct module *module;
    const struct soft_kernel *code;
    uint32_t group[3];
    struct value {
        unsigned char *data; /* NULL: never set, or work-group memory */
        size_t size;         /* 0: never set */
    } * values;
};
void module_release(struct module *m); /* one user less */

/* ---- events, lists, queues (ze_queue.c) ----------------------------------------------------- */

struct event_pool {
    uint32_t count, live;
    bool timestamps;
};
enum { TIMESTAMP_BITS = 48 }; /* valid ones; they count nanoseconds */
struct event {
    struct event_pool *pool;
    enum { EVENT_CLEAR, EVENT_QUEUED, EVENT_BY_HOST } state;
    struct soft_point point; /* EVENT_QUEUED: when it is signalled */
};
struct fence {
    struct queue *queue;
    bool used, queued; /* handed to an execution; all of that is queued in the executor */
    struct soft_point point;
};

struct op { /* a command of a list */
    enum { OP_NOTHING, OP_BARRIER, OP_COPY, OP_FILL, OP_LAUNCH, OP_RESET } kind;
    struct event *signal;
    struct event **waits;
    uint32_t wait_count;
    void *to;
    const void *from;
    size_t bytes, pattern_size;
    unsigned char *pattern;
    struct event *reset;
    struct module *module;
    struct soft_launch launch; /* values and their data are the op's own */
};
struct list {
    struct op *ops;
    size_t count, capacity;
    bool closed;
    size_t submitted;        /* executions that are not wholly queued in the executor */
    struct soft_point point; /* the end of the last execution */
    struct queue *immediate; /* an immediate list's own queue, else NULL */
    bool synchronous;        /* immediate: every append waits */
};
struct submission { /* an execution that waits for its turn */
    struct submission *next;
    struct list *list;
    size_t at; /* the next op */
    struct fence *fence;
};
enum { QUEUE_STREAMS = 32 };
struct queue {
    struct queue *next;
    /* Commands between two barriers are ordered by events alone: each gets a stream of its own, as
     * far as streams go. */
    struct soft_stream *streams[QUEUE_STREAMS], *joins;
    size_t next_stream;
    struct soft_point barrier;             /* everything later comes after it */
    struct soft_point open[QUEUE_STREAMS]; /* by stream: its last command since the barrier */
    struct submission *backlog;
    ze_result_t failed; /* a command that the executor refused */
    bool synchronous;
};

/* ---- tables (ze_tables.c takes these) ------------------------------------------------------- */

void driver_table(ze_driver_dditable_t *t);
void device_table(ze_device_dditable_t *t);
void context_table(ze_context_dditable_t *t);
void memory_table(ze_mem_dditable_t *t);
void module_table(ze_module_dditable_t *t);
void build_log_table(ze_module_build_log_dditable_t *t);
void kernel_table(ze_kernel_dditable_t *t);
void queue_table(ze_command_queue_dditable_t *t);
void list_table(ze_command_list_dditable_t *t);
void event_pool_table(ze_event_pool_dditable_t *t);
void event_table(ze_event_dditable_t *t);
void fence_table(ze_fence_dditable_t *t);

#endif
