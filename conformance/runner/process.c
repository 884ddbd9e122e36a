/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "process.h"
#include "result_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORT_LIMIT ((size_t)64 << 20)

static const char *const worker_phase_names[WORKER_PHASES] = {"run", "compile"};

static const struct process NO_PROCESS = {
    .pid = -1, .report = -1, .output = -1, .request = -1, .guard = -1};

static bool set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* What a child is to become, and what it needs for that. */
struct becoming {
    const char *const *argv;
    int report, output, request; /* its ends */
};

static int become_worker(void *what)
{
    const struct becoming *b = what;
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    int adj = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (adj >= 0) { /* when memory runs out all the same, the worker goes first */
        ssize_t n = write(adj, "900", 3);
        (void)n;
        close(adj);
    }
    const int input = b->request >= 0 ? b->request : open("/dev/null", O_RDONLY);
    if (input < 0 || dup2(input, 0) < 0 || dup2(b->output, 1) < 0 || dup2(b->output, 2) < 0)
        return 127;
    fcntl(b->report, F_SETFD, 0);
    execv(b->argv[0], (char *const *)b->argv); /* execv does not change them */
    static const char text[] = "cannot execute the worker program\n";
    ssize_t n = write(2, text, sizeof text - 1);
    (void)n;
    return 127;
}

enum status process_start(struct process *p, const char *const *argv, bool stays, struct error *err)
{
    enum { MAX_ARGS = 16 };
    const char *args[MAX_ARGS] = {0};
    char number[16];
    enum { PIPES = 3 };
    int pipes[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int *report = pipes[0], *output = pipes[1], *request = pipes[2];
    *p = NO_PROCESS;
    if (pipe2(report, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0 ||
        (stays && pipe2(request, O_CLOEXEC) != 0) || !set_nonblocking(report[0]) ||
        !set_nonblocking(output[0]))
        goto failed;
    snprintf(number, sizeof number, "%d", report[1]);
    for (int i = 0; i < MAX_ARGS - 1 && argv[i]; i++)
        args[i] = strcmp(argv[i], "@fd") == 0 ? number : argv[i];
    struct becoming b = {args, report[1], output[1], request[0]};
    p->pid = child_spawn(become_worker, &b, &p->guard);
    if (p->pid < 0)
        goto failed;
    close(report[1]);
    close(output[1]);
    if (stays)
        close(request[0]);
    p->report = report[0];
    p->output = output[0];
    p->request = request[1];
    p->phase = WORKER_RUN;
    p->phase_start = p->active = p->looked = clock_s();
    return STATUS_OK;
failed:
    error_msg(err, STATUS_IO, "cannot start a worker process: %s", strerror(errno));
    p->guard = -1;
    for (int i = 0; i < 2 * PIPES; i++)
        if (pipes[i / 2][i % 2] >= 0)
            close(pipes[i / 2][i % 2]);
    return STATUS_IO;
}

void process_kill(struct process *p, const char *why)
{
    if (!p->killed[0])
        snprintf(p->killed, sizeof p->killed, "%s", why);
    if (p->pid > 0)
        kill(-p->pid, SIGKILL);
}

static void change_phase(struct process *p, enum process_phase phase)
{
    double now = clock_s();
    p->spent[p->phase] += now - p->phase_start;
    p->phase = phase;
    p->phase_start = now;
}

/* A finished line of the report. */
static void read_report_line(struct process *p, const char *line, size_t len, size_t offset)
{
    struct arena a = {0};
    const struct json *o, *v;
    bool good =
        json_parse(&a, "worker", line, len, &o, NULL) == STATUS_OK && o->type == JSON_OBJECT;
    if (good && (v = json_get(o, "phase")) && v->type == JSON_STRING) {
        int phase = 0;
        while (phase < WORKER_PHASES && strcmp(v->string, worker_phase_names[phase]) != 0)
            phase++;
        good = phase < WORKER_PHASES;
        if (good)
            change_phase(p, (enum process_phase)phase);
    } else if (good && (v = json_get(o, "input")) && v->type == JSON_STRING &&
               (v = json_get(o, "hash")) && v->type == JSON_STRING && strlen(v->string) <= 32) {
        text_append(&p->inputs, line, len + 1);
    } else if (good && json_get(o, "result") && !p->result) {
        p->result = offset + 1;
    } else {
        good = false;
    }
    if (!good && !p->junk[0])
        snprintf(p->junk, sizeof p->junk, "%.*s", (int)(len < 100 ? len : 100), line);
    arena_free(&a);
}

static void read_report(struct process *p)
{
    char buf[65536];
    for (;;) {
        ssize_t n = read(p->report, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        if (n == 0) {
            close(p->report);
            p->report = -1;
            break;
        }
        p->active = clock_s();
        if (p->lines.len + (size_t)n > REPORT_LIMIT || p->lines.failed) {
            process_kill(p, "the worker's report is longer than 64 MiB");
            p->lines.len = p->scanned;
            continue;
        }
        text_append(&p->lines, buf, (size_t)n);
    }
    for (char *end; p->lines.data && p->scanned < p->lines.len &&
                    (end = memchr(p->lines.data + p->scanned, '\n', p->lines.len - p->scanned));) {
        char *line = p->lines.data + p->scanned;
        size_t offset = p->scanned;
        p->scanned += (size_t)(end - line) + 1;
        read_report_line(p, line, (size_t)(end - line), offset);
    }
}

/* Keeps the last bytes only. */
static void read_output(struct process *p)
{
    char buf[4096];
    for (;;) {
        ssize_t n = read(p->output, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        if (n == 0) {
            close(p->output);
            p->output = -1;
            return;
        }
        p->active = clock_s();
        size_t add = (size_t)n < sizeof p->tail ? (size_t)n : sizeof p->tail;
        size_t keep = p->tail_len + add > sizeof p->tail ? sizeof p->tail - add : p->tail_len;
        memmove(p->tail, p->tail + p->tail_len - keep, keep);
        memcpy(p->tail + keep, buf + (size_t)n - add, add);
        p->tail_len = keep + add;
    }
}

/* Resident bytes of the worker; 0 if unknown. What it started (a compiler) is short-lived and not
 * counted. */
static uint64_t resident_bytes(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "re");
    char line[256] = "", *end = line;
    if (f) {
        if (fgets(line, sizeof line, f))
            strtoull(line, &end, 10); /* the size; resident pages come second */
        fclose(f);
    }
    return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A process as /proc/PID/stat has it (proc(5)): the fields behind the program's name. */
struct stat_of {
    pid_t pid, parent, group;
    uint64_t ticks; /* of processor time that it and its children that have ended used */
    bool ours;
};

static bool process_stat(const char *pid, struct stat_of *out)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f)
        fclose(f);
    line[n] = '\0';
    *out = (struct stat_of){.pid = (pid_t)strtol(pid, NULL, 10)};
    char *at = strrchr(line, ')');
    for (int field = 2; at && field <= 17; field++) {
        at = strchr(at + 1, ' ');
        if (at && field + 1 == 4)
            out->parent = (pid_t)strtol(at, NULL, 10);
        if (at && field + 1 == 5)
            out->group = (pid_t)strtol(at, NULL, 10);
        if (at && field + 1 >= 14)
            out->ticks += strtoull(at, NULL, 10);
    }
    return at != NULL;
}

/* Has the process a thread that runs, or is ready to and waits for a processor? Its state is behind
 * its name. */
static bool process_ready(pid_t pid)
{
    char path[80];
    bool ready = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && !ready && (e = readdir(d));) {
        char line[128] = "";
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", (int)pid, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
        const char *at = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        ready = at && strncmp(at, ") R", 3) == 0;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return ready;
}

/* All processes of this machine; to be freed. NULL: none, or out of memory. */
static struct stat_of *processes_list(size_t *count)
{
    struct stat_of *all = NULL, one;
    size_t room = 0;
    *count = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] < '1' || e->d_name[0] > '9' || !process_stat(e->d_name, &one))
            continue;
        if (*count == room) {
            room = room ? 2 * room : 256;
            struct stat_of *more = realloc(all, room * sizeof *all);
            if (!more)
                break;
            all = more;
        }
        all[(*count)++] = one;
    }
    if (d)
        closedir(d);
    return all;
}

/* Of the worker, its group, and what these started: compilers have groups of their own. */
static uint64_t family_ticks(pid_t leader, bool *ready)
{
    size_t n;
    uint64_t sum = 0;
    struct stat_of *all = processes_list(&n);
    *ready = false;
    if (!all)
        return 0;
    for (size_t i = 0; i < n; i++)
        all[i].ours = all[i].group == leader;
    for (bool more = true; more;) { /* few are ours: so their children are looked for */
        more = false;
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; all[k].ours && i < n; i++)
                if (!all[i].ours && all[i].parent == all[k].pid)
                    all[i].ours = more = true;
    }
    for (size_t i = 0; i < n; i++) {
        sum += all[i].ours ? all[i].ticks : 0;
        *ready = *ready || (all[i].ours && process_ready(all[i].pid));
    }
    free(all);
    return sum;
}

/* A worker that waits for its device uses a little time too: less than a hundredth of a processor
 * is no progress. One that is ready, on a machine with other work, is not stuck. */
static void watch_activity(struct process *p, double limit)
{
    const double now = clock_s(), every = limit / 4 < 1 ? limit / 4 : 1;
    if (limit <= 0 || now - p->looked < every)
        return;
    bool ready;
    const uint64_t ticks = family_ticks(p->pid, &ready);
    const double used = (double)(ticks - p->ticks) / (double)sysconf(_SC_CLK_TCK);
    if (ready || ticks < p->ticks || used > 0.01 * (now - p->looked))
        p->active = now;
    p->ticks = ticks;
    p->looked = now;
    if (now - p->active > limit) {
        char why[256];
        snprintf(why, sizeof why,
                 "no progress: for %g s it said nothing and used no processor time, in phase %s",
                 limit, worker_phase_names[p->phase]);
        process_kill(p, why);
    }
}

static void apply_limits(struct process *p, const struct process_limits *limits)
{
    char why[256];
    double budget = p->phase == WORKER_COMPILE ? limits->compile_s : limits->run_s;
    if (p->spent[p->phase] + clock_s() - p->phase_start > budget) {
        snprintf(why, sizeof why, "hung or too slow: the %s budget of %g s ran out",
                 worker_phase_names[p->phase], budget);
        process_kill(p, why);
    }
    uint64_t resident = resident_bytes(p->pid);
    if (limits->memory && resident > limits->memory) {
        snprintf(why, sizeof why, "memory blow-up: %.0f MiB resident, the limit is %.0f MiB",
                 (double)resident / 1048576, (double)limits->memory / 1048576);
        process_kill(p, why);
    }
}

/* Whether it has ended; it is not reaped, so its number and its group's cannot have been reused. */
static bool ended(const struct process *p, siginfo_t *info)
{
    *info = (siginfo_t){0};
    return waitid(P_PID, (id_t)p->pid, info, WEXITED | WNOHANG | WNOWAIT) == 0 && info->si_pid != 0;
}

bool process_waits(const struct process *p)
{
    siginfo_t info;
    return p->request >= 0 && p->result && !p->killed[0] && !p->junk[0] && !ended(p, &info);
}

bool process_ask(struct process *p, const char *line, bool last)
{
    if (!process_waits(p) || p->scanned != p->lines.len ||
        !write_full(p->request, line, strlen(line)))
        return false;
    if (last) {
        close(p->request);
        p->request = -1;
    }
    text_free(&p->lines);
    text_free(&p->inputs);
    p->scanned = p->result = p->tail_len = 0;
    memset(p->spent, 0, sizeof p->spent);
    p->phase = WORKER_RUN;
    p->phase_start = p->active = p->looked = clock_s();
    return true;
}

bool process_step(struct process *p, const struct process_limits *limits)
{
    if (p->report >= 0)
        read_report(p);
    if (p->output >= 0)
        read_output(p);
    if (!p->killed[0])
        apply_limits(p, limits);
    if (!p->killed[0])
        watch_activity(p, limits->inactive_s);
    siginfo_t info;
    if (p->junk[0] && p->request >= 0) { /* it is not asked again, and ends */
        close(p->request);
        p->request = -1;
    }
    if (!ended(p, &info)) {
        if (!process_waits(p))
            return false;
        change_phase(p, p->phase);
        return true;
    }
    /* End what it left behind, which would hold the pipes open. */
    kill(-p->pid, SIGKILL);
    change_phase(p, p->phase);
    if (p->report >= 0)
        read_report(p);
    if (p->output >= 0)
        read_output(p);
    return true;
}

/* The last line that the worker printed, for the reason. */
static const char *last_words(struct process *p, struct arena *a)
{
    size_t end = p->tail_len;
    while (end && (p->tail[end - 1] == '\n' || p->tail[end - 1] == '\r'))
        end--;
    size_t start = end;
    while (start && p->tail[start - 1] != '\n')
        start--;
    if (end - start > 300)
        start = end - 300;
    return end > start ? arena_printf(a, "; it said: %.*s", (int)(end - start), p->tail + start)
                       : "";
}

static const char *signal_text(int sig)
{
    static const struct {
        int number;
        const char *text;
    } known[] = {
        {SIGSEGV, "SIGSEGV (segmentation fault)"},
        {SIGABRT, "SIGABRT (abort)"},
        {SIGFPE, "SIGFPE (arithmetic exception)"},
        {SIGILL, "SIGILL (illegal instruction)"},
        {SIGBUS, "SIGBUS (bus error)"},
        {SIGTRAP, "SIGTRAP (trap)"},
        {SIGKILL, "SIGKILL (killed from outside, as the kernel does when memory runs out)"},
        {SIGTERM, "SIGTERM (ended from outside)"},
        {SIGINT, "SIGINT (interrupted)"},
        {SIGPIPE, "SIGPIPE (broken pipe)"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == sig)
            return known[i].text;
    return NULL;
}

void process_result(struct process *p, struct arena *a, struct conform_result *out)
{
    struct conform_result r = {.verdict = VERDICT_ERROR};
    siginfo_t info;
    const bool waits = process_waits(p);
    if (!ended(p, &info) && waits)
        info.si_code = CLD_EXITED; /* it has answered, as by its end */
    const char *phase = worker_phase_names[p->phase], *words = last_words(p, a);
    p->lost = p->killed[0] || info.si_code != CLD_EXITED || info.si_status != 0;
    bool signalled = info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
    if (p->killed[0]) {
        r.reason = arena_printf(a, "%s%s", p->killed, words);
    } else if (signalled) {
        const char *name = signal_text(info.si_status);
        r.reason = name
                       ? arena_printf(a, "the worker crashed: %s in phase %s%s", name, phase, words)
                       : arena_printf(a, "the worker crashed: signal %d in phase %s%s",
                                      info.si_status, phase, words);
    } else if (info.si_code != CLD_EXITED || info.si_status != 0) {
        r.reason = arena_printf(a, "the worker ended with status %d in phase %s%s", info.si_status,
                                phase, words);
    } else if (p->junk[0]) {
        r.reason = arena_printf(a, "the worker wrote what is not a report: \"%s\"", p->junk);
    } else if (!p->result) {
        r.reason = arena_printf(a, "the worker ended without a result%s", words);
    } else {
        const struct json *o;
        struct error e = {0};
        const char *line = p->lines.data + p->result - 1;
        const char *end = strchr(line, '\n');
        enum status s = json_parse(a, "worker", line, (size_t)(end - line), &o, &e);
        if (s == STATUS_OK)
            s = result_read(a, "worker", json_get(o, "result"), &r, &e);
        if (s != STATUS_OK) {
            r = (struct conform_result){.verdict = VERDICT_ERROR};
            r.reason = arena_printf(a, "the worker's result cannot be read: %s", e.msg);
        }
    }
    if (r.compile_s == 0 && r.run_s == 0) {
        r.compile_s = p->spent[WORKER_COMPILE];
        r.run_s = p->spent[WORKER_RUN];
    }
    if (!r.reason && r.verdict == VERDICT_ERROR)
        r.reason = "out of memory";
    *out = r;
}

void process_close(struct process *p, bool waits)
{
    if (p->pid > 0) {
        kill(-p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, waits ? 0 : WNOHANG) < 0 && errno == EINTR)
            ;
        guard_group_gone(p->guard);
    }
    if (p->report >= 0)
        close(p->report);
    if (p->output >= 0)
        close(p->output);
    if (p->request >= 0)
        close(p->request);
    text_free(&p->lines);
    text_free(&p->inputs);
    *p = NO_PROCESS;
}
