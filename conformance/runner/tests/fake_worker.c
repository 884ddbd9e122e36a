/* SPDX-License-Identifier: Apache-2.0 */
/* A worker for runner_test: behaves as the device's name says, so that the runner can be seen to
 * survive it. Called as the real one: PROGRAM worker --fd N CASE DEVICE [--scene PATH]. Appends
 * "CASE DEVICE" to $FAKE_LOG. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    } else if (strcmp(how, "pass") == 0) {
        say(fd, pass);
    }
}

int main(int argc, char **argv)
{
    if (argc < 6 || strcmp(argv[1], "worker") != 0 || strcmp(argv[2], "--fd") != 0)
        return 9;
    const char *log = getenv("FAKE_LOG"), *how = strchr(argv[5], ':');
    behave(how ? how + 1 : "", atoi(argv[3]), argc > 7 ? argv[7] : "");
    if (log) { /* written when the case is done */
        FILE *f = fopen(log, "a");
        if (f) {
            fprintf(f, "%s %s\n", argv[4], argv[5]);
            fclose(f);
        }
    }
    return 0;
}
