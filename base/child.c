/* SPDX-License-Identifier: Apache-2.0 */
/* Programs run as children: compilers mostly, which may crash and must not take this process along,
 * and which end with it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2, execvpe, clone */
#endif
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* This process' environment, with another TMPDIR; to be freed. NULL: out of memory. */
static char **environment_with(const char *folder)
{
    size_t n = 0, size = strlen(folder) + sizeof "TMPDIR=";
    while (environ[n])
        n++;
    char **all = malloc((n + 2) * sizeof *all + size), *own = (char *)(all + n + 2);
    if (!all)
        return NULL;
    (void)snprintf(own, size, "TMPDIR=%s", folder);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            all[count++] = environ[i];
    all[count++] = own;
    all[count] = NULL;
    return all;
}

/* Where a child's input comes from, and what it says goes to; closed by whoever opened it. */
struct ends {
    int in, out;  /* -1: ours */
    int terminal; /* whose foreground it has while it runs; -1: none */
};

/* By a process that may be in the background of the terminal. */
static void foreground_give(int terminal, pid_t group)
{
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    sigprocmask(SIG_BLOCK, &stop, &before);
    (void)tcsetpgrp(terminal, group);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* What a child is to become, and what it needs for that. */
struct becoming {
    char *const *argv, *const *environment;
    const struct ends *ends;
    int failed; /* the pipe that tells why it did not start */
};

static int child_become(void *what)
{
    const struct becoming *b = what;
    if (b->ends->terminal >= 0)
        foreground_give(b->ends->terminal, getpid());
    const int out = b->ends->out >= 0 ? b->ends->out : STDERR_FILENO;
    if ((b->ends->in < 0 || dup2(b->ends->in, 0) >= 0) && dup2(out, 1) >= 0 && dup2(out, 2) >= 0)
        execvpe(b->argv[0], b->argv, b->environment);
    int e = errno;
    ssize_t n = write(b->failed, &e, sizeof e);
    (void)n;
    return 127;
}

struct spawned {
    int (*become)(void *what);
    void *what;
    int slot;
    pid_t parent;
};

/* Until it is another program: only calls that are safe between fork and exec. A compiler starts
 * others: a group of their own, so that they can be ended together. Handlers of ours would find our
 * memory too. */
static int child_begin(void *what)
{
    const struct spawned *s = what;
    setpgid(0, 0);
    guard_group_begin(s->slot);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != s->parent)
        return 127;
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return s->become(s->what);
}

#ifdef __SANITIZE_THREAD__ /* which notes the calls of each thread: the child's would be ours */
static pid_t child_fork(struct spawned *s)
{
    const pid_t pid = fork();
    if (pid == 0)
        _exit(child_begin(s));
    return pid;
}
#else
static pid_t child_fork(struct spawned *s)
{
    enum { STACK = 256 << 10 };
    char *stack = malloc(STACK);
    if (!stack)
        return -1;
    char *top = stack + STACK;
    const pid_t pid =
        clone(child_begin, top - (uintptr_t)top % 16, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
    const int e = errno;
    free(stack);
    errno = e;
    return pid;
}
#endif

int child_spawn(int (*become)(void *what), void *what, int *slot)
{
    sigset_t all, before;
    *slot = guard_group();
    struct spawned s = {become, what, *slot, getpid()};
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const pid_t pid = child_fork(&s);
    const int e = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid > 0)
        setpgid(pid, pid); /* both sides do it: whoever comes first */
    else
        guard_group_gone(*slot);
    errno = e;
    return pid;
}

/* What the child says until it closes its side, or is ended since this process is to stop. */
static void child_hear(pid_t pid, int in, char *out, size_t size)
{
    size_t used = 0;
    char buf[4096];
    for (;;) {
        struct pollfd p = {.fd = in, .events = POLLIN};
        int ready = poll(&p, 1, 50);
        if (cancel_requested) { /* also if what got away from the group holds the other side open */
            kill(-pid, SIGKILL);
            break;
        }
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t n = ready < 0 ? -1 : read(in, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        size_t keep = (size_t)n < size - 1 - used ? (size_t)n : size - 1 - used;
        memcpy(out + used, buf, keep);
        used += keep;
    }
    out[used] = '\0';
}

/* Its group's number is its own until it is reaped: what it left running ends first. */
static int child_reap(pid_t pid, int slot)
{
    siginfo_t info;
    int status = 0;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        if (cancel_requested)
            kill(-pid, SIGKILL);
    kill(-pid, SIGKILL);
    guard_group_gone(slot);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Starts it: *pid, and *slot of the guard. */
static enum status child_start(char *const argv[], char *const environment[],
                               const struct ends *ends, pid_t *pid, int *slot, struct error *err)
{
    int failed[2], e = 0;
    if (pipe2(failed, O_CLOEXEC) != 0)
        return error_msg(err, STATUS_IO, "no pipe for %s: %s", argv[0], strerror(errno));
    struct becoming b = {argv, environment, ends, failed[1]};
    *pid = child_spawn(child_become, &b, slot);
    if (*pid < 0)
        e = errno;
    close(failed[1]);
    if (*pid > 0) {
        ssize_t n;
        while ((n = read(failed[0], &e, sizeof e)) < 0 && errno == EINTR)
            ;
        e = n == sizeof e ? e : 0;
        if (e)
            (void)child_reap(*pid, *slot);
    }
    close(failed[0]);
    return e ? error_msg(err, STATUS_MISSING, "%s does not start: %s", argv[0], strerror(e))
             : STATUS_OK;
}

static enum status child_ended(const char *program, int status, int *exit_code, struct error *err)
{
    if (cancel_requested)
        return error_msg(err, STATUS_CANCELLED, "stopped while %s ran", program);
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return STATUS_OK;
}

static enum status child_do(char *const argv[], char *const environment[], char *out, size_t size,
                            int *exit_code, struct error *err)
{
    int said[2], slot = -1;
    pid_t pid = -1;
    if (pipe2(said, O_CLOEXEC) != 0)
        return error_msg(err, STATUS_IO, "no pipe for %s: %s", argv[0], strerror(errno));
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    enum status s = null < 0 ? error_msg(err, STATUS_IO, "/dev/null: %s", strerror(errno))
                             : child_start(argv, environment, &(struct ends){null, said[1], -1},
                                           &pid, &slot, err);
    close(said[1]);
    if (s == STATUS_OK) {
        child_hear(pid, said[0], out, size);
        s = child_ended(argv[0], child_reap(pid, slot), exit_code, err);
    }
    close(said[0]);
    if (null >= 0)
        close(null);
    return s;
}

enum status child_run(char *const argv[], const char *folder, char *out, size_t size,
                      int *exit_code, struct error *err)
{
    char **environment = folder ? environment_with(folder) : environ;
    if (!environment)
        return error_msg(err, STATUS_MEMORY, "out of memory for %s", argv[0]);
    enum status s = child_do(argv, environment, out, size, exit_code, err);
    if (folder)
        free(environment);
    return s;
}

enum status child_run_on(char *const argv[], const char *in, const char *out, int *exit_code,
                         struct error *err)
{
    struct ends ends = {.in = -1, .out = -1, .terminal = -1};
    int slot = -1;
    pid_t pid = -1;
    if (in && (ends.in = open(in, O_RDONLY | O_CLOEXEC)) < 0)
        return error_msg(err, STATUS_IO, "%s: %s", in, strerror(errno));
    if (out && (ends.out = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0) {
        enum status s = error_msg(err, STATUS_IO, "%s: %s", out, strerror(errno));
        if (ends.in >= 0)
            close(ends.in);
        return s;
    }
    if (!in) { /* it may ask there only from its foreground, which is ours to give if we have it */
        ends.terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (ends.terminal >= 0 && tcgetpgrp(ends.terminal) != getpgrp()) {
            close(ends.terminal);
            ends.terminal = -1;
        }
    }
    enum status s = child_start(argv, environ, &ends, &pid, &slot, err);
    if (s == STATUS_OK) {
        siginfo_t info = {0};
        while (
            (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno == EINTR) &&
            info.si_pid == 0 && !cancel_requested)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        if (cancel_requested)
            kill(-pid, SIGKILL);
        s = child_ended(argv[0], child_reap(pid, slot), exit_code, err);
    }
    if (ends.terminal >= 0) {
        foreground_give(ends.terminal, getpgrp());
        close(ends.terminal);
    }
    if (ends.in >= 0)
        close(ends.in);
    if (ends.out >= 0)
        close(ends.out);
    return s;
}
