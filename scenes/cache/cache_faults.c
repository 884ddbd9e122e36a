/* SPDX-License-Identifier: Apache-2.0 */
/* Who reads a texel that is not there is held by SIGSEGV. Its handler writes down the place, posts a
 * semaphore, and waits for another. POSIX names sem_wait not among what a handler may call; but this
 * signal is made by the thread's own read, in code that holds no lock, and glibc's takes none. Files
 * are read by threads of the cache, which may call what they like. */
#include "cache.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { WATCHED = 64, QUESTIONS = 1024 };

/* Written under `registering`, read by the handler at any time: size is written last, and 0 first.
 */
static struct watched {
    _Atomic uintptr_t base;
    _Atomic uint64_t size;
    struct texture_cache *_Atomic cache;
    atomic_uint view;
} watched[WATCHED];

enum question_state { QUESTION_FREE, QUESTION_TAKEN, QUESTION_ASKED, QUESTION_READ };
static struct question {
    atomic_int state;
    struct texture_cache *cache;
    uint64_t at;
    unsigned view;
    sem_t answered;
} questions[QUESTIONS];

static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;
static sem_t asked;             /* as often as there are questions that no thread has seen */
static struct sigaction before; /* what SIGSEGV did */
static pid_t owner;             /* whose the threads are: a forked child has none of them */

static void sem_wait_for(sem_t *s)
{
    while (sem_wait(s) != 0 && errno == EINTR)
        ;
}

/* False: the address is nobody's. */
static bool ask(uintptr_t address)
{
    for (size_t i = 0; i < WATCHED; i++) {
        const uint64_t size = atomic_load(&watched[i].size);
        const uintptr_t base = atomic_load(&watched[i].base);
        if (size == 0 || address < base || address - base >= size)
            continue;
        struct texture_cache *c = atomic_load(&watched[i].cache);
        const unsigned view = atomic_load(&watched[i].view);
        if (owner != getpid())
            return false;
        for (size_t k = address >> 12;; k++) {
            struct question *q = &questions[k % QUESTIONS];
            int want = QUESTION_FREE;
            if (!atomic_compare_exchange_strong(&q->state, &want, QUESTION_TAKEN)) {
                if (k % QUESTIONS == 0)
                    sched_yield();
                continue;
            }
            q->cache = c;
            q->at = address - base;
            q->view = view;
            atomic_store(&q->state, QUESTION_ASKED);
            sem_post(&asked);
            sem_wait_for(&q->answered);
            atomic_store(&q->state, QUESTION_FREE);
            return true;
        }
    }
    return false;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const int kept = errno;
    const bool ours = info->si_code > 0 && ask((uintptr_t)info->si_addr);
    errno = kept;
    if (ours)
        return;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        sigaction(number, &before, NULL); /* the same fault comes again, and ends the process */
}

static void serve(struct question *q, unsigned worker)
{
    cache_bring(q->cache, worker, q->view, q->at);
    sem_post(&q->answered);
}

static void *work(void *number)
{
    const unsigned worker = (unsigned)(uintptr_t)number;
    for (;;) {
        sem_wait_for(&asked);
        for (size_t i = 0;; i = (i + 1) % QUESTIONS) { /* one is there for each post */
            int want = QUESTION_ASKED;
            if (atomic_compare_exchange_strong(&questions[i].state, &want, QUESTION_READ)) {
                serve(&questions[i], worker);
                break;
            }
        }
    }
    return NULL;
}

/* They live as long as the process. Signals are for other threads. */
static unsigned workers_start(void)
{
    const unsigned wanted = parallel_threads();
    sigset_t all, was;
    unsigned n = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    while (n < wanted && n < CACHE_WORKERS) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)n) != 0)
            break;
        pthread_detach(thread);
        n++;
    }
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return n;
}

/* Others may have put theirs in our place since the last time; ours comes first then, too. */
static bool handle_faults(void)
{
    struct sigaction now, ours = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    if (sigaction(SIGSEGV, NULL, &now) != 0)
        return false;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
        return true;
    sigemptyset(&ours.sa_mask);
    ours.sa_sigaction = on_fault;
    before = now;
    return sigaction(SIGSEGV, &ours, NULL) == 0;
}

static bool start(void)
{
    if (owner == getpid())
        return true;
    if (owner != 0) /* the child of one that had it */
        return false;
    if (sem_init(&asked, 0, 0) != 0)
        return false;
    for (size_t i = 0; i < QUESTIONS; i++)
        if (sem_init(&questions[i].answered, 0, 0) != 0)
            return false;
    if (workers_start() == 0)
        return false;
    owner = getpid();
    return true;
}

bool cache_watch(struct texture_cache *c, unsigned view, char *base, uint64_t size)
{
    bool done = false;
    pthread_mutex_lock(&registering);
    if (start() && handle_faults())
        for (size_t i = 0; i < WATCHED && !done; i++)
            if (atomic_load(&watched[i].size) == 0) {
                atomic_store(&watched[i].base, (uintptr_t)base);
                atomic_store(&watched[i].cache, c);
                atomic_store(&watched[i].view, view);
                atomic_store(&watched[i].size, size);
                done = true;
            }
    pthread_mutex_unlock(&registering);
    return done;
}

void cache_unwatch(const char *base)
{
    pthread_mutex_lock(&registering);
    for (size_t i = 0; i < WATCHED; i++)
        if (atomic_load(&watched[i].size) && atomic_load(&watched[i].base) == (uintptr_t)base)
            atomic_store(&watched[i].size, 0);
    pthread_mutex_unlock(&registering);
}
