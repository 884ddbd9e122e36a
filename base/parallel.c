/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "base.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS_MAX = 1024 };

static unsigned threads_allowed(void)
{
    /* More than CPU_SETSIZE processors need a set of our own size. */
    for (int cpus = 1024; cpus <= 1 << 16; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        size_t size = CPU_ALLOC_SIZE((size_t)cpus);
        int n = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (n > 0)
            return (unsigned)n;
    }
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

unsigned parallel_threads(void)
{
    const char *env = getenv("ISOPHOTE_THREADS");
    if (env && env[0]) {
        char *end;
        long n = strtol(env, &end, 10);
        if (*end == '\0' && n >= 1)
            return n < THREADS_MAX ? (unsigned)n : THREADS_MAX;
    }
    unsigned n = threads_allowed();
    return n < THREADS_MAX ? n : THREADS_MAX;
}

enum { STACK_BYTES = 64 << 20 }; /* taken as it is used */

void stacks_deepen(void)
{
    struct rlimit first; /* of the thread that runs main, while it grows */
    pthread_attr_t others;
    if (getrlimit(RLIMIT_STACK, &first) == 0 && first.rlim_cur < STACK_BYTES) {
        first.rlim_cur = first.rlim_max < STACK_BYTES ? first.rlim_max : STACK_BYTES;
        (void)setrlimit(RLIMIT_STACK, &first);
    }
    if (pthread_attr_init(&others) != 0)
        return;
    if (pthread_attr_setstacksize(&others, STACK_BYTES) == 0)
        (void)pthread_setattr_default_np(&others);
    pthread_attr_destroy(&others);
}

uint64_t stack_room(void)
{
    struct rlimit first;
    pthread_attr_t others;
    size_t bytes = 0;
    uint64_t room = getrlimit(RLIMIT_STACK, &first) == 0 ? first.rlim_cur : STACK_BYTES;
    if (pthread_getattr_default_np(&others) == 0) {
        if (pthread_attr_getstacksize(&others, &bytes) == 0 && bytes < room)
            room = bytes;
        pthread_attr_destroy(&others);
    }
    return room / 2;
}

struct loop {
    atomic_size_t next; /* the first index nobody has taken */
    size_t n, chunk;
    void (*body)(void *ctx, size_t i, unsigned thread);
    void *ctx;
};

struct worker {
    struct loop *loop;
    pthread_t thread;
    unsigned index;
};

static _Thread_local bool inside; /* this thread already runs some loop's body */

static void loop_run(struct loop *l, unsigned thread)
{
    inside = true;
    for (;;) {
        size_t begin = atomic_fetch_add(&l->next, l->chunk);
        if (begin >= l->n)
            break;
        size_t end = l->n - begin < l->chunk ? l->n : begin + l->chunk;
        for (size_t i = begin; i < end; i++)
            l->body(l->ctx, i, thread);
    }
    inside = false;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    loop_run(w->loop, w->index);
    return NULL;
}

/* Threads live for one call: nothing to tear down, and a process that forked has none missing. */
void parallel_for(size_t n, unsigned threads, void (*body)(void *ctx, size_t i, unsigned thread),
                  void *ctx)
{
    if (threads == 0)
        threads = parallel_threads();
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (threads > n)
        threads = (unsigned)n;
    if (threads <= 1 || inside) {
        for (size_t i = 0; i < n; i++)
            body(ctx, i, 0);
        return;
    }
    /* Chunks: small enough that the last ones balance uneven work, large enough that the counter is
     * not the bottleneck. The bound also keeps `next` from wrapping. */
    size_t chunk = n / ((size_t)threads * 64);
    chunk = chunk < 1 ? 1 : chunk > 4096 ? 4096 : chunk;
    struct loop loop = {.n = n, .chunk = chunk, .body = body, .ctx = ctx};
    atomic_init(&loop.next, 0);
    struct worker *workers = calloc(threads, sizeof *workers);
    unsigned started = 0;
    while (workers && started < threads - 1) {
        struct worker *w = &workers[started];
        w->loop = &loop;
        w->index = started + 1;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
            break; /* fewer threads do the same work */
        started++;
    }
    loop_run(&loop, 0);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
}

enum { PIECES = 256, PIECE_LEAST = 16384 };

struct sum {
    double (*part)(const void *ctx, size_t begin, size_t end);
    const void *ctx;
    size_t n, piece;
    double of[PIECES];
};

static void sum_piece(void *ctx, size_t i, unsigned thread)
{
    (void)thread;
    struct sum *s = ctx;
    const size_t begin = i * s->piece, left = s->n - begin;
    s->of[i] = s->part(s->ctx, begin, begin + (left < s->piece ? left : s->piece));
}

double parallel_sum(size_t n, double (*part)(const void *ctx, size_t begin, size_t end),
                    const void *ctx)
{
    struct sum s = {.part = part, .ctx = ctx, .n = n, .piece = n / PIECES + 1};
    s.piece = s.piece < PIECE_LEAST ? PIECE_LEAST : s.piece;
    const size_t pieces = (n + s.piece - 1) / s.piece;
    parallel_for(pieces, 0, sum_piece, &s);
    double sum = 0.0;
    for (size_t i = 0; i < pieces; i++)
        sum += s.of[i];
    return sum;
}
