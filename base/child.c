/* SPDX-License-Identifier: Apache-2.0 */
/* Programs run as children: compilers mostly, which may crash and must not take this process along,
 * and which end with it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2, execvpe */
#endif
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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

/* Between fork and exec: only calls that are safe there. A compiler starts others: a group of their
 * own, so that they can be ended together. */
static _Noreturn void child_become(char *const argv[], char *const environment[], int out,
                                   int failed, int slot, pid_t parent)
{
    setpgid(0, 0);
    guard_group_begin(slot);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0 && dup2(null, 0) >= 0 && dup2(out, 1) >= 0 && dup2(out, 2) >= 0)
        execvpe(argv[0], argv, environment);
    int e = errno;
    ssize_t n = write(failed, &e, sizeof e);
    (void)n;
    _exit(127);
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

static enum status child_do(char *const argv[], char *const environment[], char *out, size_t size,
                            int *exit_code, struct error *err)
{
    int said[2], failed[2], e = 0;
    if (pipe2(said, O_CLOEXEC) != 0)
        return error_msg(err, STATUS_IO, "no pipe for %s: %s", argv[0], strerror(errno));
    if (pipe2(failed, O_CLOEXEC) != 0) {
        e = errno;
        close(said[0]);
        close(said[1]);
        return error_msg(err, STATUS_IO, "no pipe for %s: %s", argv[0], strerror(e));
    }
    const int slot = guard_group();
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        child_become(argv, environment, said[1], failed[1], slot, parent);
    if (pid < 0)
        e = errno;
    else
        setpgid(pid, pid); /* both sides do it: whoever comes first */
    close(said[1]);
    close(failed[1]);
    int status = 0;
    if (pid > 0) {
        ssize_t n;
        while ((n = read(failed[0], &e, sizeof e)) < 0 && errno == EINTR)
            ;
        e = n == sizeof e ? e : 0;
        child_hear(pid, said[0], out, size);
        status = child_reap(pid, slot);
    } else {
        guard_group_gone(slot);
    }
    close(said[0]);
    close(failed[0]);
    if (e)
        return error_msg(err, STATUS_MISSING, "%s does not start: %s", argv[0], strerror(e));
    if (cancel_requested)
        return error_msg(err, STATUS_CANCELLED, "stopped while %s ran", argv[0]);
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return STATUS_OK;
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
