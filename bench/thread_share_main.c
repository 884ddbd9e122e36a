/* SPDX-License-Identifier: Apache-2.0 */
/* thread_share: what the threads of this machine share, for whoever asks why N threads are less than
 * N times as fast. On 1, 2, 4 ... threads, each bound to a processor: additions that wait for each
 * other, one a cycle, which tells the clock; and additions that do not, which tell how many units a
 * thread has. Where the latter fall and the former do not, two threads share a core, whatever the
 * system says of its topology. No memory is touched. Mean, least and most of the threads, in
 * additions a nanosecond. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 256, CHAINS = 8, TURNS = 100000 };
static const double seconds = 0.5;

struct thread {
    pthread_t id;
    int processor, chains;
    atomic_int *go;
    double rate;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* An addition that no compiler leaves out or joins with another. */
#define ADD(x)                                                                                     \
    (x)++;                                                                                         \
    __asm__ volatile("" : "+r"(x))

static void one_chain(void)
{
    uint64_t a = 0;
    for (int i = 0; i < TURNS; i++) {
        ADD(a);
        ADD(a);
        ADD(a);
        ADD(a);
        ADD(a);
        ADD(a);
        ADD(a);
        ADD(a);
    }
}
static void many_chains(void)
{
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (int i = 0; i < TURNS; i++) {
        ADD(a);
        ADD(b);
        ADD(c);
        ADD(d);
        ADD(e);
        ADD(f);
        ADD(g);
        ADD(h);
    }
}

static void *count(void *of)
{
    struct thread *t = of;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(t->processor, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    while (!atomic_load(t->go))
        ;
    const double begin = now();
    double done = 0, end = begin;
    for (; end - begin < seconds; end = now(), done += (double)TURNS * CHAINS) {
        if (t->chains > 1)
            many_chains();
        else
            one_chain();
    }
    t->rate = 1e-9 * done / (end - begin);
    return NULL;
}

static int measure(int threads, int chains)
{
    static struct thread all[THREADS];
    atomic_int go = 0;
    double sum = 0, least = 1e9, most = 0;
    for (int i = 0; i < threads; i++) {
        all[i] = (struct thread){.processor = i, .chains = chains, .go = &go};
        if (pthread_create(&all[i].id, NULL, count, &all[i]) != 0) {
            perror("thread_share");
            return 1;
        }
    }
    atomic_store(&go, 1);
    for (int i = 0; i < threads; i++) {
        pthread_join(all[i].id, NULL);
        sum += all[i].rate;
        least = all[i].rate < least ? all[i].rate : least;
        most = all[i].rate > most ? all[i].rate : most;
    }
    printf("%3d threads, %s: %.2f (%.2f to %.2f)\n", threads,
           chains > 1 ? "eight chains" : "one chain   ", sum / threads, least, most);
    return 0;
}

int main(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (int chains = 1; chains <= CHAINS; chains += CHAINS - 1)
        for (int n = 1; n <= processors && n <= THREADS; n *= 2)
            if (measure(n, chains))
                return 1;
    return 0;
}
