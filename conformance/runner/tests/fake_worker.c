/* SPDX-License-Identifier: Apache-2.0 */
/* A worker for runner_test: behaves as the device's name says, so that the runner can be seen to
 * survive it. Called as the real one: PROGRAM worker --fd N CASE DEVICE [--scene PATH] [--stay].
 * Appends "CASE DEVICE" to $FAKE_LOG, with --stay its number too: of a worker that stays, names
 * say how it ends. A device "script:CASES/CANARIES" plays what is written. */
#define _GNU_SOURCE /* sched_setaffinity */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

static void say(int fd, const char *text)
{
    ssize_t n = write(fd, text, strlen(text));
    (void)n;
}

static void sleep_s(double s)
{
    struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
    nanosleep(&t, NULL);
}

static const char pass[] =
    "{\"result\":{\"verdict\":\"PASS\",\"reason\":\"fine\",\"compile_s\":0.25,"
    "\"run_s\":0.5}}\n";

/* Tells of a file as the real worker does that reads it; the hash is "" when it is not there. */
static void tell(int fd, const char *path)
{
    static char data[4096];
    char hex[33] = "", line[8192];
    FILE *f = fopen(path, "rb");
    if (f) {
        XXH128_canonical_t c;
        XXH128_canonicalFromHash(&c, XXH3_128bits(data, fread(data, 1, sizeof data, f)));
        for (int i = 0; i < 16; i++)
            snprintf(hex + 2 * i, 3, "%02x", c.digest[i]);
        fclose(f);
    }
    snprintf(line, sizeof line, "{\"input\":\"%s\",\"hash\":\"%s\"}\n", path, hex);
    say(fd, line);
}

/* The scene, and the picture beside it, "resumed.png". */
static void tell_scene(int fd, const char *scene)
{
    char picture[4096];
    const char *slash = strrchr(scene, '/');
    snprintf(picture, sizeof picture, "%.*sresumed.png", slash ? (int)(slash + 1 - scene) : 0,
             scene);
    tell(fd, scene);
    tell(fd, picture);
}

/* Adds a line to the log; how many of its kind, canaries or cases, stood there before. One worker at a
 * time, or two that begin together would take the same turn. */
static unsigned log_add(const char *name, const char *device)
{
    const char *log = getenv("FAKE_LOG");
    const bool canary = strcmp(name, "canary") == 0;
    char line[512];
    unsigned n = 0;
    FILE *f = log ? fopen(log, "a+") : NULL;
    if (!f)
        return 0;
    (void)flock(fileno(f), LOCK_EX);
    rewind(f);
    while (fgets(line, sizeof line, f))
        n += (strncmp(line, "canary ", 7) == 0) == canary;
    fprintf(f, "%s %s\n", name, device);
    fclose(f);
    return n;
}

/* Behaves for each case that is asked, and in the end. */
static int stay(const char *how, const char *name, const char *device, int fd)
{
    char line[4096], numbered[4096];
    for (unsigned cases = 1;; cases++) {
        snprintf(numbered, sizeof numbered, "%.1000s %ld", name, (long)getpid());
        log_add(numbered, device);
        if (strcmp(how, "third-crashes") == 0 && cases == 3)
            raise(SIGSEGV);
        if (strcmp(how, "third-hangs") == 0 && cases == 3)
            pause();
        const char *text = pass;
        if (strcmp(how, "third-fails") == 0 && cases == 3)
            text = "{\"result\":{\"verdict\":\"FAIL\",\"reason\":\"pixel\",\"compile_s\":0,"
                   "\"run_s\":0.1}}\n";
        if (strcmp(how, "says-more") == 0)
            text = "{\"result\":{\"verdict\":\"PASS\",\"reason\":\"fine\",\"compile_s\":0,"
                   "\"run_s\":0.1}}\nand another thing\n";
        say(fd, text);
        if (!fgets(line, sizeof line, stdin))
            break;
        const char *at = strstr(line, "\"case\":\"");
        if (!at)
            return 9;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 8, "\""), at + 8);
        name = line;
    }
    if (strcmp(how, "crashes-at-its-end") == 0)
        raise(SIGSEGV);
    return 0;
}

/* "CASES/CANARIES": a letter for each run in its turn, the last one for all that follow. */
static void play(const char *script, bool canary, int fd)
{
    const char *slash = strchr(script, '/');
    const char *part = canary && slash ? slash + 1 : canary ? "R" : script;
    const size_t n = strcspn(part, "/");
    const unsigned turn = log_add(canary ? "canary" : "case", script); /* before it may die */
    const char letter = n ? part[turn < n ? turn : n - 1] : 'R';
    switch (letter) {
    case 'f':
        sleep_s(0.03); /* fall through */
    case 'F':
        say(fd, "{\"result\":{\"verdict\":\"FAIL\",\"reason\":\"pixel (1,2)\",\"compile_s\":0,"
                "\"run_s\":0.1}}\n");
        break;
    case 'G':
        say(fd, "{\"result\":{\"verdict\":\"FAIL\",\"reason\":\"pixel (3,4)\",\"compile_s\":0,"
                "\"run_s\":0.1}}\n");
        break;
    case 'S':
        say(fd, "{\"result\":{\"verdict\":\"SKIP\",\"reason\":\"sleeps\",\"compile_s\":0,"
                "\"run_s\":0}}\n");
        break;
    case 'E':
        say(fd, "{\"result\":{\"verdict\":\"ERROR\",\"reason\":\"lost\",\"compile_s\":0,"
                "\"run_s\":0}}\n");
        break;
    case 'c':
        sleep_s(0.15); /* fall through */
    case 'C':
        raise(SIGSEGV);
        break;
    case 'p':
        sleep_s(0.4); /* fall through */
    case 'P':
        say(fd, pass);
        break;
    case 'R':
        say(fd, "{\"result\":{\"verdict\":\"PASS\",\"reason\":\"film a\",\"compile_s\":0,"
                "\"run_s\":0}}\n");
        break;
    case 'W':
    case 'V':
        say(fd, letter == 'W'
                    ? "{\"result\":{\"verdict\":\"FAIL\",\"reason\":\"film b\",\"compile_s\":0,"
                      "\"run_s\":0}}\n"
                    : "{\"result\":{\"verdict\":\"FAIL\",\"reason\":\"film c\",\"compile_s\":0,"
                      "\"run_s\":0}}\n");
        break;
    default:
        break;
    }
}

/* On the first processor, and there when nobody else wants it. */
static void stand_back(void)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof first, &first);
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
}

static void behave(const char *how, int fd, const char *scene)
{
    if (strcmp(how, "segv") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(how, "abort") == 0) {
        fprintf(stderr, "driver: internal error 42\n");
        abort();
    } else if (strcmp(how, "hang") == 0) {
        for (;;)
            pause();
    } else if (strcmp(how, "hang-compile") == 0) {
        say(fd, "{\"phase\":\"compile\"}\n");
        for (;;)
            pause();
    } else if (strcmp(how, "slow-compile") == 0) {
        say(fd, "{\"phase\":\"compile\"}\n");
        sleep_s(1.2);
        say(fd, "{\"phase\":\"run\"}\n");
        say(fd, pass);
    } else if (strcmp(how, "memory") == 0) {
        for (size_t i = 0; i < 4096; i++) { /* 4 GiB at most, if nobody stops it */
            char *p = malloc((size_t)1 << 20);
            if (p)
                memset(p, 1, (size_t)1 << 20);
            if (i % 16 == 0)
                sleep_s(0.002);
        }
    } else if (strcmp(how, "junk") == 0) {
        say(fd, "Segmentation fault? no: hello\n");
        say(fd, pass);
    } else if (strcmp(how, "torn") == 0) {
        say(fd, "{\"result\":{\"verdict\":\"PASS\",");
    } else if (strcmp(how, "twice") == 0) {
        say(fd, pass);
        say(fd, pass);
    } else if (strcmp(how, "bad-verdict") == 0) {
        say(fd, "{\"result\":{\"verdict\":\"GOOD\",\"compile_s\":0,\"run_s\":0}}\n");
    } else if (strcmp(how, "flood") == 0) {
        static char line[65536];
        memset(line, 'x', sizeof line - 1);
        for (int i = 0; i < 1100; i++)
            say(fd, line);
        say(fd, "\n");
    } else if (strcmp(how, "status") == 0) {
        fprintf(stderr, "first\nlast words\n");
        exit(3);
    } else if (strcmp(how, "crash-after") == 0) {
        say(fd, pass);
        raise(SIGSEGV);
    } else if (strcmp(how, "grandchild") == 0) {
        if (fork() == 0)
            for (;;)
                pause(); /* keeps both pipes open */
        say(fd, pass);
    } else if (strcmp(how, "fail") == 0) {
        say(fd,
            "{\"result\":{\"verdict\":\"FAIL\",\"reason\":\"pixel (1,2)\",\"replay\":\"isophote "
            "replay\",\"compile_s\":0,\"run_s\":0.1,\"images\":[{\"scene\":\"s\",\"device\":\"d\","
            "\"mode\":\"strict\",\"kind\":\"difference\",\"width\":2,\"height\":1,\"png\":"
            "\"AAEC\",\"caption\":\"c\"}]}}\n");
    } else if (strcmp(how, "skip") == 0) {
        say(fd,
            "{\"result\":{\"verdict\":\"SKIP\",\"reason\":\"the device sleeps\",\"compile_s\":0,"
            "\"run_s\":0}}\n");
    } else if (strcmp(how, "slow") == 0) {
        sleep_s(0.02);
        say(fd, pass);
    } else if (strcmp(how, "reads") == 0) {
        tell_scene(fd, scene);
        say(fd, pass);
    } else if (strcmp(how, "reads-and-dies") == 0) {
        tell_scene(fd, scene);
        raise(SIGSEGV);
    } else if (strcmp(how, "busy") == 0) {
        for (const clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;)
            ;
        say(fd, pass);
    } else if (strcmp(how, "compiles") == 0) { /* in a child that leads a group, as compilers do */
        const pid_t child = fork();
        if (child == 0) {
            setpgid(0, 0);
            for (const clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;)
                ;
            _exit(0);
        }
        waitpid(child, NULL, 0);
        say(fd, pass);
    } else if (strcmp(how, "starved") == 0) { /* some work, on a processor that others have */
        stand_back();
        for (const clock_t end = clock() + CLOCKS_PER_SEC / 50; clock() < end;)
            ;
        say(fd, pass);
    } else if (strcmp(how, "pass") == 0) {
        say(fd, pass);
    }
}

int main(int argc, char **argv)
{
    if (argc < 6 || strcmp(argv[1], "worker") != 0 || strcmp(argv[2], "--fd") != 0)
        return 9;
    const char *how = strchr(argv[5], ':');
    if (strncmp(argv[5], "script:", 7) == 0) {
        play(argv[5] + 7, strcmp(argv[4], "canary") == 0, atoi(argv[3]));
        return 0;
    }
    for (int i = 6; i < argc; i++)
        if (strcmp(argv[i], "--stay") == 0)
            return stay(how ? how + 1 : "", argv[4], argv[5], atoi(argv[3]));
    behave(how ? how + 1 : "", atoi(argv[3]), argc > 7 ? argv[7] : "");
    log_add(argv[4], argv[5]); /* written when the case is done */
    return 0;
}
