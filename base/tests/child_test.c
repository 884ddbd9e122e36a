/* SPDX-License-Identifier: Apache-2.0 */
/* Children: what they say, how they end, that nothing of them is left; and a process that is told
 * to stop. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void nap(double seconds)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))},
              NULL);
}

static enum status shell(const char *script, const char *folder, char *out, size_t size, int *code,
                         struct error *err)
{
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)script, NULL};
    return child_run(argv, folder, out, size, code, err);
}

static void test_words_and_ends(void **state)
{
    (void)state;
    char out[8];
    int code = -99;
    struct error err = {0};
    assert_int_equal(shell("echo one; echo two >&2; exit 3", NULL, out, sizeof out, &code, &err),
                     STATUS_OK);
    assert_int_equal(code, 3);
    assert_string_equal(out, "one\ntwo"); /* cut */
    assert_int_equal(shell("kill -SEGV $$", NULL, out, sizeof out, &code, &err), STATUS_OK);
    assert_int_equal(code, -SIGSEGV);
    assert_int_equal(shell("cat; test -z \"$(cat)\"", NULL, out, sizeof out, &code, &err),
                     STATUS_OK); /* nothing to read */
    assert_int_equal(code, 0);
    char *const argv[] = {(char *)"no-such-program-here", NULL};
    assert_int_equal(child_run(argv, NULL, out, sizeof out, &code, &err), STATUS_MISSING);
    assert_non_null(strstr(err.msg, "no-such-program-here does not start: No such file"));
}

static void test_folder(void **state)
{
    (void)state;
    char out[256];
    int code = -99;
    setenv("TMPDIR", "/tmp", 1);
    assert_int_equal(shell("printf %s \"$TMPDIR\"", "/nowhere/x", out, sizeof out, &code, NULL),
                     STATUS_OK);
    assert_string_equal(out, "/nowhere/x");
    assert_int_equal(shell("printf %s \"$TMPDIR\"", NULL, out, sizeof out, &code, NULL), STATUS_OK);
    assert_string_equal(out, "/tmp");
}

/* A process that ended, or that only waits for its parent to look. */
static bool is_gone(int pid)
{
    char path[64], line[512] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return true;
    char *got = fgets(line, sizeof line, f);
    (void)fclose(f);
    const char *end = got ? strrchr(line, ')') : NULL;
    return end && end[2] == 'Z';
}

static bool soon_gone(int pid)
{
    for (int i = 0; i < 200 && !is_gone(pid); i++)
        nap(0.01);
    return is_gone(pid);
}

/* What a child leaves running ends with it. */
static void test_grandchild(void **state)
{
    (void)state;
    char out[64];
    int code = -99;
    assert_int_equal(
        shell("sleep 60 >/dev/null 2>&1 & echo $!", NULL, out, sizeof out, &code, NULL), STATUS_OK);
    assert_int_equal(code, 0);
    int pid = (int)strtol(out, NULL, 10);
    assert_true(pid > 1);
    assert_true(soon_gone(pid));
}

static void cancel(int number) { cancel_requested = number; }

static void test_cancelled(void **state)
{
    (void)state;
    char out[64];
    int code = -99;
    struct error err = {0};
    struct sigaction act = {.sa_handler = cancel};
    sigaction(SIGALRM, &act, NULL);
    alarm(1);
    double start = clock_s();
    assert_int_equal(shell("sleep 60", NULL, out, sizeof out, &code, &err), STATUS_CANCELLED);
    assert_true(clock_s() - start < 10);
    assert_non_null(strstr(err.msg, "stopped while sh ran"));
    assert_int_equal(code, -99);
    cancel_requested = 0;
    signal(SIGALRM, SIG_DFL);
}

/* ---- a process that stops ------------------------------------------------------------------- */

/* A program of its own: notes a folder, tells its name, and does as `how` says. */
static _Noreturn void program(int tell, const char *how)
{
    char folder[3072] = "";
    stop_begin();
    if (strcmp(how, "limit") == 0)
        stop_after(0.05);
    if (scratch_make(folder, sizeof folder, NULL) != STATUS_OK ||
        write(tell, folder, strlen(folder) + 1) < 0)
        _exit(90);
    if (strcmp(how, "ends") == 0) {
        scratch_remove(folder);
        exit(cancel_requested ? 91 : 7);
    }
    while (strcmp(how, "obeys") != 0 || !cancel_requested)
        nap(0.01);
    scratch_remove(folder);
    exit(cancel_requested == SIGTERM ? 8 : 92);
}

/* Starts it, sends the signals, and gives its status as waitpid does; the folder is gone then. */
static int ending(const char *how, int first, int second)
{
    int ends[2], status = 0;
    char folder[3072] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGHUP, SIG_DFL); /* who runs the tests may leave it ignored, as nohup does */
        program(ends[1], how);
    }
    assert_true(read(ends[0], folder, sizeof folder) > 1);
    if (first)
        kill(pid, first);
    if (second) {
        nap(0.05);
        kill(pid, second);
    }
    double start = clock_s();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(clock_s() - start < 5);
    struct stat st;
    for (int i = 0; i < 200 && stat(folder, &st) == 0; i++) /* after SIGKILL: the guardian's turn */
        nap(0.01);
    assert_int_not_equal(stat(folder, &st), 0);
    close(ends[0]);
    close(ends[1]);
    return status;
}

static void test_stops(void **state)
{
    (void)state;
    int s = ending("ends", 0, 0);
    assert_true(WIFEXITED(s) && WEXITSTATUS(s) == 7);
    s = ending("obeys", SIGTERM, 0);
    assert_true(WIFEXITED(s) && WEXITSTATUS(s) == 8);
    s = ending("deaf", SIGTERM, 0); /* after 0.7 s */
    assert_true(WIFEXITED(s) && WEXITSTATUS(s) == 128 + SIGTERM);
    s = ending("deaf", SIGTERM, SIGINT); /* the second: at once */
    assert_true(WIFEXITED(s) && WEXITSTATUS(s) == 128 + SIGINT);
    s = ending("deaf", SIGALRM, SIGHUP); /* nobody set a limit */
    assert_true(WIFEXITED(s) && WEXITSTATUS(s) == 128 + SIGHUP);
    s = ending("limit", 0, 0);
    assert_true(WIFEXITED(s) && WEXITSTATUS(s) == 1);
    s = ending("deaf", SIGKILL, 0);
    assert_true(WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_and_ends), cmocka_unit_test(test_folder),
        cmocka_unit_test(test_grandchild),     cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
