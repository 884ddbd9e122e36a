/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2, sigabbrev_np */
#endif
#include "driver_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROBE_LIMIT_S = 60 };

static void no_device(void *ctx, const struct device_info *d) { (void)ctx, (void)d; }
static void no_problem(void *ctx, const char *text) { (void)ctx, (void)text; }

static _Noreturn void probe_run(const struct backend_api *api, int out, int guard, pid_t parent)
{
    struct error err;
    setpgid(0, 0);
    guard_group_begin(guard);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    api->enumerate(no_device, no_problem, NULL, &err);
    _exit(0);
}

/* The last line that has anything but spaces; cut to what a message can hold. */
static const char *last_line(char *text)
{
    size_t n = strlen(text);
    while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
        text[--n] = '\0';
    const char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

/* Keeps the end of what the child says until it closes its side; false: out of time. */
static bool child_listen(int in, char *text, size_t size)
{
    double end = clock_s() + PROBE_LIMIT_S;
    size_t used = 0;
    for (;;) {
        double left = end - clock_s();
        struct pollfd p = {.fd = in, .events = POLLIN};
        int ready = left > 0 && !cancel_requested ? poll(&p, 1, 50) : 0;
        if ((ready < 0 && errno == EINTR) || (ready == 0 && left > 0 && !cancel_requested))
            continue;
        if (ready <= 0)
            return false;
        if (used + 1 >= size) { /* the first half goes */
            used -= size / 2;
            memmove(text, text + size / 2, used);
        }
        ssize_t n = read(in, text + used, size - used - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
    return true;
}

bool driver_survives(const struct backend_api *api, char *why, size_t size)
{
    char said[1024] = "";
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return true; /* nobody to ask: as if there were no probe */
    const int guard = guard_group();
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        probe_run(api, ends[1], guard, parent);
    close(ends[1]);
    if (child < 0) {
        guard_group_gone(guard);
        close(ends[0]);
        return true;
    }
    bool ended = child_listen(ends[0], said, sizeof said);
    close(ends[0]);
    if (!ended)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    guard_group_gone(guard);
    if (ended && !WIFSIGNALED(status))
        return true;
    const char *words = last_line(said);
    if (ended)
        snprintf(why, size, "%s: its driver ends the process that asks for devices (SIG%s)%s%s",
                 api->name, sigabbrev_np(WTERMSIG(status)), *words ? ": " : "", words);
    else
        snprintf(why, size, "%s: its driver did not answer within %d s when asked for devices",
                 api->name, PROBE_LIMIT_S);
    return false;
}
