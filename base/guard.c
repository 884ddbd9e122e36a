/* SPDX-License-Identifier: Apache-2.0 */
/* What a process would leave if it were killed now: temporary files and folders, and the groups of
 * what it has started. A second process, the guardian, sees it end and clears that away. What a
 * process cannot hinder (SIGKILL) it thus does not have to survive. Both look at one table in shared
 * memory, as do the processes that this one forks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* close_range */
#endif
#include "base.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 256 };
enum state { FREE, TAKEN, PATH, GROUP };
struct slot {
    atomic_int state;
    atomic_int owner; /* the process that noted it */
    atomic_int group; /* of GROUP; 0: not begun */
    char path[PATH_MAX];
};

static struct slot *slots; /* NULL: nobody guards */
static pid_t guarded, guardian;

/* ---- the table ------------------------------------------------------------------------------ */

static struct slot *slot_take(void)
{
    for (struct slot *s = slots; s && s < slots + SLOTS; s++) {
        int expected = FREE;
        if (!atomic_compare_exchange_strong(&s->state, &expected, TAKEN))
            continue;
        atomic_store(&s->owner, getpid());
        atomic_store(&s->group, 0);
        return s;
    }
    return NULL;
}

void guard_path(const char *path)
{
    size_t length = strlen(path);
    struct slot *s = length < sizeof s->path ? slot_take() : NULL;
    if (!s)
        return;
    memcpy(s->path, path, length + 1);
    atomic_store(&s->state, PATH);
}

void guard_path_gone(const char *path)
{
    for (struct slot *s = slots; s && s < slots + SLOTS; s++)
        if (atomic_load(&s->state) == PATH && strcmp(s->path, path) == 0)
            atomic_store(&s->state, FREE);
}

int guard_group(void)
{
    struct slot *s = slot_take();
    if (!s)
        return -1;
    atomic_store(&s->state, GROUP);
    return (int)(s - slots);
}

void guard_group_begin(int slot)
{
    if (slot >= 0)
        atomic_store(&slots[slot].group, getpid());
}

void guard_group_gone(int slot)
{
    if (slot >= 0)
        atomic_store(&slots[slot].state, FREE);
}

/* ---- clearing away -------------------------------------------------------------------------- */

/* owner 0: of all. */
static bool is_of(struct slot *s, enum state state, pid_t owner)
{
    return atomic_load(&s->state) == (int)state && (!owner || atomic_load(&s->owner) == owner);
}

static void groups_kill(pid_t owner)
{
    int killed[SLOTS], count = 0;
    for (struct slot *s = slots; s < slots + SLOTS; s++) {
        int group = is_of(s, GROUP, owner) ? atomic_load(&s->group) : 0;
        if (group > 1 && kill(-group, SIGKILL) == 0)
            killed[count++] = group;
    }
    /* They write no more once they are gone; one that nobody reaps stays as a number. */
    for (int naps = 0; naps < 25; naps++) {
        bool left = false;
        for (int i = 0; i < count; i++)
            left = left || kill(-killed[i], 0) == 0;
        if (!left)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

static void clear_away(pid_t owner)
{
    groups_kill(owner);
    for (struct slot *s = slots; s < slots + SLOTS; s++)
        if (is_of(s, PATH, owner)) {
            struct stat st;
            if (lstat(s->path, &st) == 0 && S_ISDIR(st.st_mode))
                scratch_remove(s->path);
            else
                (void)unlink(s->path);
            atomic_store(&s->state, FREE);
        } else if (is_of(s, GROUP, owner)) {
            atomic_store(&s->state, FREE);
        }
}

void guard_end_of(pid_t owner)
{
    if (slots && owner > 0)
        clear_away(owner);
}

/* ---- the guardian --------------------------------------------------------------------------- */

static void descriptors_close(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    if (close_range(3, ~0u, 0) != 0)
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
}

/* All signals are blocked. */
static _Noreturn void guardian_run(pid_t parent)
{
    sigset_t end;
    int number;
    sigemptyset(&end);
    sigaddset(&end, SIGUSR1);
    setsid(); /* what ends the group of the other does not end this one */
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    prctl(PR_SET_NAME, "isophote-guard");
    descriptors_close();
    if (getppid() == parent)
        sigwait(&end, &number);
    clear_away(0);
    _exit(0);
}

static void guardian_dismiss(void)
{
    if (guardian <= 0 || getpid() != guarded)
        return;
    kill(guardian, SIGKILL);
    while (waitpid(guardian, NULL, 0) < 0 && errno == EINTR)
        ;
    guardian = 0;
}

void guard_begin(void)
{
    void *shared = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (slots || shared == MAP_FAILED)
        return;
    sigset_t all, before;
    sigfillset(&all);
    slots = shared;
    guarded = getpid();
    sigprocmask(SIG_SETMASK, &all, &before);
    guardian = fork();
    if (guardian == 0)
        guardian_run(guarded);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (guardian > 0)
        atexit(guardian_dismiss);
}

void guard_clear_now(void)
{
    if (guardian <= 0 || getpid() != guarded || kill(guardian, SIGUSR1) != 0)
        return;
    for (int naps = 0; naps < 150 && waitpid(guardian, NULL, WNOHANG) == 0; naps++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}
