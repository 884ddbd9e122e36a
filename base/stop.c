/* SPDX-License-Identifier: Apache-2.0 */
/* How a program ends on a signal or when its time is up: first it is asked to, by cancel_requested;
 * what has not ended a little later is ended. Compilers and drivers that run in this process do not
 * look at cancel_requested, and some work is long between two looks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base.h"
#include "files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_MS = 700, LIMIT_STATUS = 1 };

atomic_int cancel_requested;

static pid_t owner;
static double limit_s, limit_end; /* 0: none; by clock_s */
static char limit_text[96];
static volatile sig_atomic_t limit_passed;

static void timer_set(double seconds)
{
    struct itimerval t = {.it_value = {.tv_sec = (time_t)seconds}};
    t.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - (double)t.it_value.tv_sec));
    if (!t.it_value.tv_sec && !t.it_value.tv_usec)
        t.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &t, NULL);
}

static _Noreturn void end_now(int number)
{
    if (number == SIGALRM) {
        ssize_t n = write(STDERR_FILENO, limit_text, strlen(limit_text));
        (void)n;
    }
    guard_clear_now();
    _Exit(number == SIGALRM ? LIMIT_STATUS : 128 + number);
}

static void on_signal(int number)
{
    const int first = cancel_requested, e = errno;
    if (getpid() != owner) { /* a process that was forked ends as any does */
        signal(number, SIG_DFL);
        raise(number);
    } else if (number == SIGALRM && first) {
        end_now(first);
    } else if (first) {
        end_now(number);
    } else if (number != SIGALRM || (limit_s > 0 && clock_s() >= limit_end - 1e-3)) {
        limit_passed = number == SIGALRM;
        cancel_requested = number;
        timer_set(GRACE_MS / 1e3);
    }
    errno = e;
}

void stop_begin(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    struct sigaction act = {.sa_handler = on_signal}, before;
    sigset_t open;
    sigemptyset(&open);
    owner = getpid();
    guard_begin();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaddset(&open, numbers[i]);
        if (numbers[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
            before.sa_handler == SIG_IGN)
            continue; /* of nohup */
        sigaction(numbers[i], &act, NULL);
    }
    sigprocmask(SIG_UNBLOCK, &open, NULL);
}

void stop_after(double seconds)
{
    static const double longest = 1e8;
    if (!(seconds > 0) || seconds > longest)
        return;
    (void)snprintf(limit_text, sizeof limit_text,
                   "isophote: the limit of %.6g s passed, and what ran was ended\n", seconds);
    limit_end = clock_s() + seconds;
    limit_s = seconds;
    timer_set(seconds);
}

double stop_limit(void) { return limit_passed ? limit_s : 0; }
