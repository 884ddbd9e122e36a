/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum request_kind { REQUEST_RENDER, REQUEST_JUDGE, REQUEST_TILES, REQUEST_STATISTICS };
struct request {
    enum request_kind kind;
    struct settings set;
    uint64_t first; /* tile */
};
/* Before each answer: how it went. */
struct reply {
    enum status status;
    struct error error;
};

/* ---- bytes over the socket ------------------------------------------------------------------ */

static bool send_all(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static bool receive_all(int fd, void *data, size_t size)
{
    char *p = data;
    while (size) {
        ssize_t n = recv(fd, p, size, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static bool answer(int fd, enum status status, const struct error *error, const void *data,
                   size_t size)
{
    struct reply r = {.status = status};
    if (status)
        r.error = *error;
    return send_all(fd, &r, sizeof r) && (status || send_all(fd, data, size));
}

/* ---- the child -------------------------------------------------------------------------- */

static void child_loop(int fd, const struct worker_work *work)
{
    union {
        struct worker_ready ready;
        struct worker_render render;
        struct judgement judgement;
        struct worker_tiles tiles;
        struct worker_statistics statistics;
    } out;
    struct error error = {0};
    memset(&out, 0, sizeof out);
    enum status st = work->setup(work->ctx, &out.ready, &error);
    if (!send_all(fd, &out.ready, sizeof out.ready) || !answer(fd, st, &error, NULL, 0) || st)
        return;
    struct request q;
    while (receive_all(fd, &q, sizeof q)) {
        error = (struct error){0};
        memset(&out, 0, sizeof out);
        bool sent;
        if (q.kind == REQUEST_RENDER) {
            st = work->render(work->ctx, &q.set, &out.render, &error);
            sent = answer(fd, st, &error, &out.render, sizeof out.render);
        } else if (q.kind == REQUEST_TILES) {
            st = work->tiles ? work->tiles(work->ctx, q.first, &out.tiles, &error) : STATUS_OK;
            sent = answer(fd, st, &error, &out.tiles, sizeof out.tiles);
        } else if (q.kind == REQUEST_STATISTICS) {
            st = work->statistics ? work->statistics(work->ctx, &q.set, &out.statistics, &error)
                                  : STATUS_OK;
            sent = answer(fd, st, &error, &out.statistics, sizeof out.statistics);
        } else {
            st = work->judge(work->ctx, &q.set, &out.judgement, &error);
            sent = answer(fd, st, &error, &out.judgement, sizeof out.judgement);
        }
        if (!sent)
            return;
    }
}

/* A process group of its own (its compilers end with it), its output kept, its end tied to ours. */
static void child_prepare(int output, int inputs, int guard, pid_t parent)
{
    setpgid(0, 0);
    guard_group_begin(guard);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    inputs_watch(inputs);
}

static enum status fork_with_socket(struct worker *w, int *child_end, struct error *err)
{
    int fds[2];
    int output = memfd_create("isophote-worker", MFD_CLOEXEC),
        inputs = memfd_create("isophote-inputs", MFD_CLOEXEC);
    const char *failed = NULL;
    if (output < 0 || inputs < 0 || fcntl(inputs, F_SETFL, O_APPEND) != 0)
        failed = "memfd_create";
    else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        failed = "socketpair";
    if (failed) {
        enum status st = error_msg(err, STATUS_IO, "%s: %s", failed, strerror(errno));
        close(output);
        close(inputs);
        return st;
    }
    pid_t parent = getpid();
    const int guard = guard_group();
    fflush(NULL); /* or the child would write it once more */
    pid_t pid = fork();
    if (pid < 0) {
        enum status st = error_msg(err, STATUS_MEMORY, "fork: %s", strerror(errno));
        close(output);
        close(inputs);
        close(fds[0]);
        close(fds[1]);
        guard_group_gone(guard);
        return st;
    }
    if (pid == 0) {
        child_prepare(output, inputs, guard, parent);
        close(fds[0]);
    } else {
        setpgid(pid, pid); /* whoever is first */
        close(fds[1]);
    }
    *child_end = fds[1];
    *w = (struct worker){
        .pid = pid, .socket = fds[0], .output = output, .inputs = inputs, .guard = guard};
    return STATUS_OK;
}

/* ---- the parent ------------------------------------------------------------------------- */

static void output_tail(int fd, char *buf, size_t size)
{
    off_t end = lseek(fd, 0, SEEK_END);
    off_t from = end > (off_t)(size - 1) ? end - (off_t)(size - 1) : 0;
    ssize_t n = end > 0 ? pread(fd, buf, size - 1, from) : 0;
    buf[n > 0 ? n : 0] = '\0';
    for (char *c = buf; *c; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' ';
    for (size_t len = strlen(buf); len && buf[len - 1] == ' ';)
        buf[--len] = '\0';
}

/* Reaps and says how it ended. The process was ended by us when `why` is given. */
static enum status bury(struct worker *w, enum status status, const char *why, struct error *err)
{
    int code = 0;
    char tail[300], how[128];
    if (why)
        kill(-w->pid, SIGKILL);
    while (waitpid(w->pid, &code, 0) < 0 && errno == EINTR)
        ;
    kill(-w->pid, SIGKILL); /* what it had started */
    guard_group_gone(w->guard);
    guard_end_of(w->pid);
    output_tail(w->output, tail, sizeof tail);
    if (why)
        snprintf(how, sizeof how, "%s", why);
    else if (WIFSIGNALED(code))
        snprintf(how, sizeof how, "the worker process was killed by signal %d (%s)", WTERMSIG(code),
                 strsignal(WTERMSIG(code)));
    else
        snprintf(how, sizeof how, "the worker process ended with status %d", WEXITSTATUS(code));
    close(w->socket);
    close(w->output);
    close(w->inputs);
    *w = (struct worker){0};
    return error_msg(err, status, "%s%s%s", how, tail[0] ? "; it printed: " : "", tail);
}

static enum status wait_answer(struct worker *w, double timeout_s, struct error *err)
{
    double start = clock_s();
    for (;;) {
        struct pollfd p = {.fd = w->socket, .events = POLLIN};
        int n = poll(&p, 1, 100);
        if (n > 0)
            return STATUS_OK;
        if (cancel_requested)
            return bury(w, STATUS_CANCELLED, "stopped on request", err);
        double spent = clock_s() - start;
        if (spent > timeout_s) {
            char why[96];
            snprintf(why, sizeof why, "the worker said nothing for %.3g s and was ended", spent);
            return bury(w, STATUS_TIMEOUT, why, err);
        }
    }
}

static enum status get_answer(struct worker *w, double timeout_s, void *data, size_t size,
                              bool *died, struct error *err)
{
    struct reply r;
    *died = true;
    enum status st = wait_answer(w, timeout_s, err);
    if (st)
        return st;
    if (!receive_all(w->socket, &r, sizeof r) ||
        (r.status == STATUS_OK && !receive_all(w->socket, data, size)))
        return bury(w, STATUS_DEVICE, NULL, err);
    *died = false;
    if (r.status && err)
        *err = r.error;
    return r.status;
}

enum status worker_start(struct worker *w, const struct worker_work *work, double timeout_s,
                         struct arena *a, const char **inputs, struct worker_ready *ready,
                         struct error *err)
{
    int child_end;
    bool died;
    struct worker_ready got;
    enum status st = fork_with_socket(w, &child_end, err);
    if (st)
        return st;
    if (w->pid == 0) {
        child_loop(child_end, work);
        if (work->end)
            work->end(work->ctx);
        _exit(0);
    }
    st = wait_answer(w, timeout_s, err);
    if (st)
        return st;
    *inputs = inputs_told(a, w->inputs);
    if (!receive_all(w->socket, &got, sizeof got))
        return bury(w, STATUS_DEVICE, NULL, err);
    *ready = got;
    st = get_answer(w, timeout_s, &got, 0, &died, err);
    if (st && !died)
        worker_stop(w);
    return st;
}

static enum status ask(struct worker *w, const struct request *q, double timeout_s, void *out,
                       size_t size, bool *died, struct error *err)
{
    *died = true;
    if (!send_all(w->socket, q, sizeof *q))
        return bury(w, STATUS_DEVICE, NULL, err);
    return get_answer(w, timeout_s, out, size, died, err);
}

enum status worker_render(struct worker *w, const struct settings *set, double timeout_s,
                          struct worker_render *out, bool *died, struct error *err)
{
    struct worker_render got;
    enum status st =
        ask(w, &(struct request){REQUEST_RENDER, *set, 0}, timeout_s, &got, sizeof got, died, err);
    if (st == STATUS_OK)
        *out = got;
    return st;
}

enum status worker_judge(struct worker *w, const struct settings *set, double timeout_s,
                         struct judgement *out, bool *died, struct error *err)
{
    struct judgement got;
    enum status st =
        ask(w, &(struct request){REQUEST_JUDGE, *set, 0}, timeout_s, &got, sizeof got, died, err);
    if (st == STATUS_OK)
        *out = got;
    return st;
}

enum status worker_statistics(struct worker *w, const struct settings *set, double timeout_s,
                              struct arena *a, const char **json, bool *died, struct error *err)
{
    struct worker_statistics got = {0};
    *json = NULL;
    TRY(ask(w, &(struct request){REQUEST_STATISTICS, *set, 0}, timeout_s, &got, sizeof got, died,
            err));
    if (got.json[0] && !(*json = arena_strdup(a, got.json)))
        return error_msg(err, STATUS_MEMORY, "out of memory for statistics");
    return STATUS_OK;
}

enum status worker_tiles(struct worker *w, double timeout_s, struct arena *a, const char **job,
                         const struct sum **sums, size_t *count, bool *died, struct error *err)
{
    struct worker_tiles got = {0};
    struct sum *all = NULL;
    *sums = NULL;
    for (uint64_t first = 0; first == 0 || first < got.total; first += WORKER_TILES) {
        const struct request q = {.kind = REQUEST_TILES, .first = first};
        TRY(ask(w, &q, timeout_s, &got, sizeof got, died, err));
        if (got.total == 0 || got.total > FILM_TILES_MOST)
            return STATUS_OK;
        if (!all) {
            all = ARENA_ARRAY(a, struct sum, got.total);
            *job = arena_strdup(a, got.job);
        }
        if (!all || !*job)
            return error_msg(err, STATUS_MEMORY, "out of memory for the sums of a picture");
        const uint64_t left = got.total - first;
        memcpy(all + first, got.sums, (left < WORKER_TILES ? left : WORKER_TILES) * sizeof *all);
    }
    *sums = all;
    *count = got.total;
    return STATUS_OK;
}

void worker_stop(struct worker *w)
{
    if (w->pid <= 0)
        return;
    shutdown(w->socket, SHUT_RDWR);
    struct pollfd p = {.fd = w->socket, .events = POLLIN};
    int code;
    /* Up to five seconds to end in order: drivers keep caches. */
    for (int i = 0; i < 500 && !(cancel_requested && i >= 20); i++) {
        pid_t n = waitpid(w->pid, &code, WNOHANG);
        if (n == w->pid || (n < 0 && errno == ECHILD)) {
            w->pid = -w->pid;
            break;
        }
        poll(&p, 0, 10);
    }
    if (w->pid > 0) {
        (void)bury(w, STATUS_OK, "did not end", NULL);
        return;
    }
    kill(w->pid, SIGKILL); /* its group, if anything is left of it */
    guard_group_gone(w->guard);
    guard_end_of(-w->pid);
    close(w->socket);
    close(w->output);
    close(w->inputs);
    *w = (struct worker){0};
}

enum status process_call(enum status (*f)(void *ctx, void *result, size_t size, struct error *err),
                         void *ctx, void *result, size_t size, double timeout_s, struct error *err)
{
    struct worker w;
    int child_end;
    bool died;
    void *got = malloc(size);
    if (!got)
        return error_msg(err, STATUS_MEMORY, "out of memory");
    enum status st = fork_with_socket(&w, &child_end, err);
    if (st) {
        free(got);
        return st;
    }
    if (w.pid == 0) {
        struct error error = {0};
        memset(got, 0, size);
        st = f(ctx, got, size, &error);
        (void)answer(child_end, st, &error, got, size);
        _exit(0);
    }
    st = get_answer(&w, timeout_s, got, size, &died, err);
    if (!died)
        worker_stop(&w);
    if (st == STATUS_OK)
        memcpy(result, got, size);
    free(got);
    return st;
}
